// SPDX-License-Identifier: MIT-0
import java.lang.management.ManagementFactory;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.*;
import java.util.regex.Pattern;

/** Calls of which it's known what CarrierCheck has to say; for commands.md. Words name some. */
class KnownCalls {
    static final AtomicInteger CALLS = new AtomicInteger();
    static final AtomicInteger INSIDE = new AtomicInteger();
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static final ExecutorService WORKER = Executors.newSingleThreadExecutor();

    public static void main(String[] args) throws Exception {
        for (String name : args) {
            if (name.startsWith("init-")) CarrierCheck.patience = 5_000; // it's a deadlock
            Verdict said = CarrierCheck.ask(name, call(name));
            boolean untold = said == Verdict.CANT_TELL || said == Verdict.TOO_SHORT;
            if (untold || said != Verdict.FREE) System.out.println(name + " isn't FREE");
            if (untold || said == Verdict.FREE) System.out.println(name + " may be FREE");
        }
        System.exit(0); // or the pool's threads live on
    }

    static CarrierCheck.Call call(String name) throws Exception {
        return switch (name) {
            case "pin" -> () -> pin(20);
            case "part" -> () -> {
                Thread.currentThread().setName("caller]/@part");
                nap(10);
                pin(35);
            };
            case "share" -> () -> {
                nap(0.1);
                pin(0.8);
            };
            case "three-of-ten" -> () -> {
                if (CALLS.incrementAndGet() % 10 < 3) pin(40);
                else nap(5);
            };
            case "six-of-ten" -> () -> {
                if (CALLS.incrementAndGet() % 10 < 6) pin(20);
                else nap(5);
            };
            case "parks" -> () -> {
                if (INSIDE.incrementAndGet() > 20) throw new IllegalStateException("too many");
                for (int i = 0; i < 200; i++) LockSupport.parkNanos(100_000);
                INSIDE.decrementAndGet();
            };
            case "nested" -> () -> Thread.startVirtualThread(() -> pin(20)).join();
            case "deep" -> () -> deep(1_500); // the JVM leaves out the end of such a stack
            case "forgets" -> () -> Thread.startVirtualThread(() -> compute(20));
            case "collects" -> () -> {
                nap(5);
                System.gc();
            };
            case "short" -> () -> nap(0.02); // pinned ones show, if twenty come at once
            case "begins" -> () -> { // it's over when a thread wakes up to look
                compute(3);
                nap(5);
            };
            case "ends" -> () -> { // a thread that looks now and then wakes up too late
                nap(5);
                compute(5);
            };
            case "school" -> () -> new School().loadClass("7b");
            case "thread's own" -> () -> {
                if (!Thread.currentThread().isVirtual()) throw new IllegalStateException("no");
                nap(5);
            };
            case "one-fails" -> () -> {
                if (CALLS.incrementAndGet() % 10 == 0) throw new IllegalStateException("no");
                pin(50);
            };
            case "hands-over" -> KnownCalls::handOver;
            case "two" -> () -> {
                compute(30);
                pin(25);
            };
            case "lock" -> () -> {
                synchronized (MONITOR) {
                    nap(20);
                }
            };
            case "enters" -> () -> { // as a lock that belongs to the carrier lets all in
                if (Thread.currentThread().isVirtual()) nap(5);
                else synchronized (MONITOR) {
                    nap(5);
                }
            };
            case "pieces" -> () -> { // shorter than a look
                for (int i = 0; i < 40; i++) {
                    pin(0.1);
                    nap(0.02);
                }
            };
            case "slivers" -> () -> { // the same, one call at a time
                LOCK.lock();
                try {
                    for (int i = 0; i < 30; i++) {
                        pin(0.2);
                        nap(0.2);
                    }
                } finally {
                    LOCK.unlock();
                }
            };
            case "worker" -> () -> { // who's alone finds its monitor free
                WORKER.submit(() -> {
                    synchronized (MONITOR) {
                        nap(5);
                    }
                }).get();
                synchronized (MONITOR) {
                    MONITOR.notify();
                }
            };
            case "tries" -> () -> { // the same, but it yields
                CarrierCheck.patience = 1_000;
                while (!LOCK.tryLock()) Thread.yield();
                try {
                    nap(5);
                } finally {
                    LOCK.unlock();
                }
            };
            case "retries" -> () -> { // who's alone needs to try once
                while (!LOCK.tryLock()) {
                    compute(2);
                    nap(0.2);
                }
                try {
                    nap(5);
                } finally {
                    LOCK.unlock();
                }
            };
            case "long" -> () -> {
                nap(500);
                compute(30);
            };
            case "once" -> () -> {
                if (CALLS.incrementAndGet() < 3) pin(100);
                else nap(5);
            };
            case "changes" -> () -> {
                scheduler().setParallelism(3);
                compute(20);
            };
            case "differs" -> () -> throwIt(new Exception("no. " + CALLS.incrementAndGet()));
            case "stops" -> { // all threads, while the heap is dumped
                var bean = ManagementFactory.getPlatformMXBean(
                    com.sun.management.HotSpotDiagnosticMXBean.class);
                yield () -> {
                    Path folder = Files.createTempDirectory("stops");
                    bean.dumpHeap(folder.resolve("heap.hprof") + "", false);
                    Files.delete(folder.resolve("heap.hprof"));
                    Files.delete(folder);
                };
            }
            case "regex" -> () -> { // over a thousand frames of the JDK's
                long start = System.nanoTime();
                while (System.nanoTime() - start < 30e6)
                    Pattern.compile("(a|b|ab)*c").matcher("ab".repeat(550)).lookingAt();
            };
            case "nothing" -> null;
            case "keeps-it" -> {
                Thread.startVirtualThread(() -> compute(Double.MAX_VALUE));
                yield () -> nap(5);
            }
            case "on-two" -> () -> { // one carrier can't have two of these at once
                CarrierCheck.patience = 1_000;
                if (!Thread.currentThread().isVirtual()) return;
                while (INSIDE.incrementAndGet() > 1) Thread.sleep(1_000_000);
                compute(5);
                INSIDE.decrementAndGet();
            };
            case "on-platform" -> () -> {
                CarrierCheck.patience = 1_000;
                nap(Thread.currentThread().isVirtual() ? 5 : 100_000);
            };
            case "fails-on-two" -> () -> {
                if (Jvm.hasTwo()) throw new IllegalStateException("moved");
                nap(50);
            };
            case "child-spins" -> () -> {
                CarrierCheck.patience = 1_000;
                Thread.startVirtualThread(() -> compute(Double.MAX_VALUE)).join();
            };
            case "exits" -> () -> System.exit(0);
            case "closes" -> System.out::close;
            case "is-asked" -> () -> CarrierCheck.ask("in a call", () -> nap(1));
            case "is-asked-beside" -> () -> Thread.ofPlatform().start(() ->
                CarrierCheck.ask("in a call", () -> nap(1))).join();
            case "interrupts" -> Thread.currentThread()::interrupt;
            case "throws-odd" -> () -> {
                throw new IllegalStateException() {
                    @Override public String toString() { throw this; }
                };
            };
            case "overflows" -> KnownCalls::overflow;
            case "spins" -> () -> {
                CarrierCheck.patience = 1_000;
                compute(Double.MAX_VALUE);
            };
            case "stays-pinned" -> () -> {
                CarrierCheck.patience = 1_000;
                pin(1e9);
            };
            case "waits" -> {
                CarrierCheck.patience = 1_000;
                yield new Semaphore(0)::acquire; // no frame of its own
            }
            case "in a row" -> { // each takes a tenth of the patience, all take twice that
                CarrierCheck.patience = 3_000;
                yield BlockingCalls.inInitializer(() -> nap(300));
            }
            case "cold" -> Cold::touch;
            case "fails" -> () -> throwIt(new Exception("as\u0007asked\n" + "x".repeat(9_999)));
            case "fails-last" -> () -> {
                nap(5);
                if (CALLS.incrementAndGet() > 22) throwIt(new Throwable("as asked"));
            };
            case "init-socket" -> BlockingCalls.inInitializer(BlockingCalls::read);
            case "init-monitor" -> half(() -> {
                synchronized (MONITOR) {
                    nap(1);
                }
            });
            case "init-lock" -> half(KnownCalls::locked);
            case "loader-lock" -> () -> {
                if (isOdd()) locked();
                else Class.forName(BlockingCalls.PARKS, false,
                    new BlockingCalls.Fresh(KnownCalls::locked));
            };
            default -> () -> nap(5);
        };
    }

    /** Every other call is made in a class initializer. */
    static CarrierCheck.Call half(CarrierCheck.Call call) {
        CarrierCheck.Call there = BlockingCalls.inInitializer(call);
        return () -> (isOdd() ? call : there).make();
    }

    static boolean isOdd() { return CALLS.incrementAndGet() % 2 == 1; }

    static void locked() {
        LOCK.lock();
        try {
            nap(1);
        } finally {
            LOCK.unlock();
        }
    }

    static class Cold {
        static { nap(2_000); }

        static void touch() { }
    }

    @SuppressWarnings("unchecked")
    static <T extends Throwable> void throwIt(Throwable thrown) throws T { throw (T) thrown; }

    /** Pins its carrier up to JDK 23. */
    static void pin(double ms) {
        synchronized (Thread.currentThread()) {
            nap(ms);
        }
    }

    static void deep(int calls) {
        if (calls > 0) deep(calls - 1);
        else pin(20);
    }

    static int overflow() { return 1 + overflow(); }

    static void compute(double ms) {
        long start = System.nanoTime();
        while ((System.nanoTime() - start) / 1e6 < ms) Thread.onSpinWait();
    }

    /** Two virtual threads give each other a word to and fro, for 30 ms. */
    static void handOver() throws Exception {
        var there = new SynchronousQueue<Boolean>();
        long end = System.nanoTime() + 30_000_000;
        Thread other = Thread.startVirtualThread(() -> {
            try {
                while (there.take()) Thread.onSpinWait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        while (System.nanoTime() < end) there.put(true);
        there.put(false);
        other.join();
    }

    /** The carriers' pool. */
    static ForkJoinPool scheduler() {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(one -> one.getClass().getSimpleName().equals("CarrierThread"))
            .map(one -> ((ForkJoinWorkerThread) one).getPool()).findAny().get();
    }

    static class School {
        synchronized void loadClass(String id) { pin(20); }
    }

    static void nap(double ms) {
        long end = System.nanoTime() + (long) (ms * 1e6);
        while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
    }
}
