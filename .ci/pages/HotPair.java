// SPDX-License-Identifier: MIT-0
import com.sun.management.OperatingSystemMXBean;
import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.lang.management.ManagementFactory;
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.LockSupport;

/**
 * How late is a health check on virtual threads beside pairs of threads that hand rows over?
 * What helps? For three seconds, there's a check each 50 ms; after two, it gives up. Set
 * -Djdk.virtualThreadScheduler.parallelism, or there's a carrier for each processor. A CPU of
 * 100% is one processor.
 *
 *     java HotPair.java PAIRS KIND...
 */
class HotPair {
    static final OperatingSystemMXBean SYSTEM =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    static volatile boolean busy;

    public static void main(String[] args) throws Exception {
        int pairs = Integer.parseInt(args[0]);
        System.out.println("JDK " + System.getProperty("java.version") + ", carriers: "
            + Integer.getInteger("jdk.virtualThreadScheduler.parallelism",
                Runtime.getRuntime().availableProcessors())
            + ", pairs: " + pairs);
        var local = new InetSocketAddress("127.0.0.1", 0);
        var server = HttpServer.create(local, 0, "/health", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        URL health = URI.create("http:/" + server.getAddress() + "/health").toURL();
        for (int i = 0; i < 100; i++) check(health); // to warm up
        for (String kind : List.of(args).subList(1, args.length)) beside(kind, pairs, health);
        System.exit(0);
    }

    static void beside(String kind, int pairs, URL health) throws Exception {
        var rows = new LongAdder();
        List<Thread> threads = new ArrayList<>();
        busy = true;
        long start = System.nanoTime();
        long used = SYSTEM.getProcessCpuTime();
        for (int pair = 0; pair < pairs; pair++) threads.addAll(pair(kind, rows));
        Thread.sleep(300);
        List<Long> answers = new ArrayList<>();
        int unanswered = 0;
        while (System.nanoTime() - start < 3_000_000_000L) {
            long millis = check(health);
            if (millis < 0) unanswered++;
            else answers.add(millis);
            Thread.sleep(50);
        }
        busy = false;
        for (Thread thread : threads) {
            thread.interrupt(); // if it still waits
            thread.join();
        }
        long took = (System.nanoTime() - start) / 1_000_000;
        used = (SYSTEM.getProcessCpuTime() - used) / 1_000_000;
        Collections.sort(answers);
        String said = answers.isEmpty() ? "" : ", after " + answers.get(answers.size() / 2)
            + " ms (median), " + answers.get(answers.size() - 1) + " (worst)";
        System.out.printf("%-13s answered %2d of %2d%s; %d rows per ms, CPU %d%%%n", kind,
            answers.size(), answers.size() + unanswered, said, rows.sum() / took,
            100 * used / took);
    }

    /** In ms; -1: no answer. */
    static long check(URL health) throws IOException {
        long start = System.nanoTime();
        var call = (HttpURLConnection) health.openConnection();
        call.setReadTimeout(2_000);
        try {
            if (call.getResponseCode() != 200) throw new IllegalStateException();
        } catch (SocketTimeoutException e) {
            return -1;
        }
        return (System.nanoTime() - start) / 1_000_000;
    }

    interface Step { void run(int row) throws Exception; }

    static List<Thread> pair(String kind, LongAdder rows) throws IOException {
        var queue = new ArrayBlockingQueue<Integer>(100);
        var lists = new ArrayBlockingQueue<List<Integer>>(100);
        var source = kind.equals("socket") ? source() : null;
        Step put = switch (kind) {
            case "batches" -> row -> lists.put(Collections.nCopies(100, row));
            case "socket" -> row -> queue.put(source.read());
            case "computes" -> row -> {
                compute(1_000_000);
                queue.put(row);
            };
            default -> row -> {
                queue.put(row);
                if (row % 1_000 > 0) return;
                if (kind.equals("yield")) Thread.yield();
                if (kind.equals("sleep")) Thread.sleep(1);
                if (kind.equals("nano-sleep")) Thread.sleep(0, 1);
                if (kind.equals("park")) LockSupport.parkNanos(1);
                if (kind.equals("park-rarely") && row % 100_000 == 0) LockSupport.parkNanos(1);
            };
        };
        Step take = kind.equals("batches") ? row -> rows.add(lists.take().size())
            : row -> {
                queue.take();
                rows.increment();
            };
        return List.of(start(!kind.matches("platform-(put|both)"), put),
            start(!kind.matches("platform-(take|both)"), take));
    }

    static Thread start(boolean isVirtual, Step step) {
        return (isVirtual ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> {
            try {
                for (int row = 0; busy; row++) step.run(row);
            } catch (Exception e) {
                if (busy) e.printStackTrace();
            }
        });
    }

    /** What a platform thread writes to a socket, as fast as it can. */
    static InputStream source() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var in = new Socket(server.getInetAddress(), server.getLocalPort());
            var out = server.accept().getOutputStream();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (busy) out.write(new byte[8_192]);
                    out.close();
                } catch (IOException e) {
                    return; // the reader has gone
                }
            });
            return new BufferedInputStream(in.getInputStream());
        }
    }

    static void compute(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) Thread.onSpinWait();
    }
}
