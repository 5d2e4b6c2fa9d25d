// SPDX-License-Identifier: MIT-0
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/** A shop that answers 200 requests. For each, it asks a database and then a partner. */
class Shop {
    static final Database DATABASE = new Database();
    static final Semaphore PERMITS = new Semaphore(20);
    static final AtomicInteger BUFFERS = new AtomicInteger();
    static final ThreadLocal<StringBuilder> PAGE = ThreadLocal.withInitial(() -> {
        BUFFERS.incrementAndGet();
        return new StringBuilder(100_000);
    });

    public static void main(String[] args) throws Exception {
        System.out.println("JDK " + Runtime.version().feature() + ", process "
            + ProcessHandle.current().pid());
        List<Callable<String>> requests = new ArrayList<>();
        for (int i = 1; i <= 200; i++) {
            String customer = "customer " + i;
            requests.add(() -> answer(customer));
        }
        others(); // from here on
        long start = System.nanoTime();
        int failed = 0;
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (var answer : executor.invokeAll(requests, 30, TimeUnit.SECONDS)) {
                try {
                    answer.get();
                } catch (ExecutionException e) {
                    if (failed++ == 0) System.out.println("first failure: " + e.getCause());
                } catch (CancellationException e) {
                    if (failed++ == 0) System.out.println("first failure: 30 s are over");
                }
            }
        }
        long ms = (System.nanoTime() - start) / 1_000_000;
        long others = Math.round(100 * others());
        System.out.println(ms + " ms, " + failed + " of 200 failed, at most "
            + DATABASE.most + " in the database, " + BUFFERS + " buffers");
        if (others >= 20) System.out.println("busy machine: other programs used " + others
            + "% of it: trust the counts more than the ms");
    }

    /** Answers a customer; a session takes one request at a time. */
    static String answer(String customer) throws Exception {
        var session = new ReentrantLock();
        session.lock();
        try {
            PAGE.get().setLength(0);
            PERMITS.acquire();
            try {
                write(DATABASE.query(customer));
            } finally {
                PERMITS.release();
            }
            write(partner("a price for " + customer));
            return PAGE.get().toString();
        } finally {
            session.unlock();
        }
    }

    static void write(String text) {
        PAGE.get().append(text).append('\n');
    }

    /** Takes 100 ms for a call, and any number of calls at once. */
    static String partner(String question) throws InterruptedException {
        Thread.sleep(100);
        return question;
    }

    /** Takes 20 ms for a query, and 20 queries at once. One more is refused. */
    static class Database {
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();

        String query(String key) throws InterruptedException {
            int now = inside.incrementAndGet();
            try {
                if (now > 20) throw new IllegalStateException("too many connections");
                most.accumulateAndGet(now, Math::max);
                Thread.sleep(20);
                return key;
            } finally {
                inside.decrementAndGet();
            }
        }
    }

    /** The share of the processors that other programs have used since the last call. */
    static double others() {
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        return system.getCpuLoad() - system.getProcessCpuLoad();
    }
}
