// SPDX-License-Identifier: MIT-0
import java.io.IOException;
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.LockSupport;

/**
 * Whose turn is it on a carrier? .github/blocking.md has the answers.
 *
 *     java WhoRunsNext.java order      of threads that are ready, who runs first?
 *     java WhoRunsNext.java BESIDE...  how long does one wait beside others that are busy for a
 *                                      second?
 *     java WhoRunsNext.java monitors BESIDE...  how long, if it waits for a monitor? From 24 on
 *     java WhoRunsNext.java many BESIDE...  sixteen platform threads start one each: how many
 *                                      of these wait?
 *
 * BESIDE is nothing, hand-offs, yields, computing, or starts (of threads that are joined, one
 * by one); slices or pauses, two per carrier that compute for 0.1 ms, and then yield, or park
 * for a nanosecond; yields-later, once the JVM has added a carrier, or yields-after, 40 s
 * later, when that one has gone; or, from 24 on, notifies: hand-offs by Object.notify. There
 * are two carriers, or as many as -Djdk.virtualThreadScheduler.parallelism=N says; in order,
 * one.
 */
class WhoRunsNext {
    static final long BUSY = 1_000_000_000; // ns
    static final long LEAD = 250_000_000; // the busy ones have before anything happens
    static final int ROUNDS = 3;
    static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";
    static final List<String> EVENTS = List.of("woken by a virtual thread",
        "woken by a platform thread", "started by a virtual thread",
        "started by a platform thread", "its sleep ends", "its socket has data");
    static final List<String> MONITORS = List.of("gets a monitor from a virtual thread",
        "notified by a virtual thread");

    static int carriers;

    /** What a busy virtual thread shall do once, in between. */
    static final AtomicReference<Runnable> ERRAND = new AtomicReference<>();

    public static void main(String[] args) throws Exception {
        boolean isOrder = args[0].equals("order");
        carriers = isOrder ? 1 : Integer.getInteger(PARALLELISM, 2);
        System.setProperty(PARALLELISM, "" + carriers);
        if (List.of(args).contains("yields-later")) addCarrier();
        if (List.of(args).contains("yields-after")) {
            addCarrier();
            Thread.sleep(40_000);
        }
        System.out.println("JDK " + System.getProperty("java.version")
            + ", carriers: " + carriers);
        if (isOrder) {
            for (int round = 1; round <= ROUNDS; round++)
                System.out.println(String.join(", ", order()));
        } else if (args[0].equals("monitors")) {
            waits(MONITORS, List.of(args).subList(1, args.length));
        } else if (args[0].equals("many")) {
            many(List.of(args).subList(1, args.length));
        } else {
            waits(EVENTS, List.of(args));
        }
        System.exit(0);
    }

    /** Beside one that computes, others are started and woken. When it ends, who's next? */
    static List<String> order() throws Exception {
        List<String> ran = Collections.synchronizedList(new ArrayList<>());
        Thread woken = parked(() -> ran.add("woken by a virtual thread"));
        Thread woken2 = parked(() -> ran.add("another"));
        Thread wokenByMain = parked(() -> ran.add("woken by a platform thread"));
        var pair = new SocketPair();
        parked(pair, () -> ran.add("its socket has data"));
        long due = System.nanoTime() + LEAD;
        Thread.startVirtualThread(() -> {
            sleepUntil(due);
            ran.add("its sleep ends");
        });
        var mounted = new CountDownLatch(1);
        var others = new CountDownLatch(1);
        Thread.startVirtualThread(() -> {
            mounted.countDown();
            while (others.getCount() > 0) Thread.onSpinWait();
            Thread.startVirtualThread(() -> ran.add("started by a virtual thread"));
            LockSupport.unpark(woken);
            LockSupport.unpark(woken2);
        });
        mounted.await();
        Thread.startVirtualThread(() -> ran.add("started by a platform thread"));
        LockSupport.unpark(wokenByMain);
        pair.write();
        Thread.sleep(2 * LEAD / 1_000_000);
        others.countDown();
        while (ran.size() < 7) Thread.sleep(1);
        pair.close();
        return ran;
    }

    static void waits(List<String> events, List<String> besides) throws Exception {
        System.out.println("| late, ms | " + String.join(" | ", besides) + " |");
        System.out.println("|---|" + "--:|".repeat(besides.size()));
        for (String event : events) {
            var row = new StringBuilder("| " + event);
            for (String beside : besides) {
                var late = new double[ROUNDS];
                for (int round = 0; round < ROUNDS; round++) late[round] = late(event, beside);
                Arrays.sort(late);
                row.append(" | %.1f–%.1f".formatted(late[0], late[ROUNDS - 1]));
            }
            System.out.println(row + " |");
        }
    }

    static void many(List<String> besides) throws Exception {
        System.out.println("| of 16, wait | " + String.join(" | ", besides) + " |");
        System.out.println("|---|" + "--:|".repeat(besides.size()));
        for (int round = 1; round <= ROUNDS; round++) {
            var row = new StringBuilder("| round " + round);
            for (String beside : besides) row.append(" | " + waiting(beside));
            System.out.println(row + " |");
        }
    }

    static int waiting(String beside) throws Exception {
        List<Thread> busy = begin(beside, 3 * BUSY / 2);
        Thread.sleep(LEAD / 1_000_000);
        var ran = new AtomicInteger();
        for (int i = 0; i < 16; i++) {
            Thread starter = new Thread(() -> Thread.startVirtualThread(ran::incrementAndGet));
            starter.start();
            starter.join();
        }
        Thread.sleep(2 * LEAD / 1_000_000);
        int waiting = 16 - ran.get();
        boolean inTime = busy.stream().allMatch(Thread::isAlive);
        if (!inTime) throw new IllegalStateException("too slow");
        for (Thread each : busy) each.join();
        return waiting;
    }

    /** How many ms after that event does the virtual thread run that it's for? */
    static double late(String event, String beside) throws Exception {
        var ran = new CompletableFuture<Long>();
        var happened = new CompletableFuture<Long>();
        long due = System.nanoTime() + LEAD;
        var pair = new SocketPair();
        Runnable bring = bringer(event, due, pair, () -> ran.complete(System.nanoTime()));
        List<Thread> busy = begin(beside, BUSY);
        while (System.nanoTime() < due) Thread.sleep(1);
        Runnable cause = () -> {
            happened.complete(event.contains("sleep") ? due : System.nanoTime());
            bring.run();
        };
        if (!event.contains("virtual")) cause.run();
        else if (busy.isEmpty()) Thread.startVirtualThread(cause);
        else ERRAND.set(cause);
        double late = (ran.get() - happened.get()) / 1e6;
        for (Thread each : busy) each.join();
        pair.close();
        return late;
    }

    /** Lets a virtual thread wait for that event, then run; returns what brings it about. */
    static Runnable bringer(String event, long due, SocketPair pair, Runnable run)
            throws InterruptedException {
        switch (event) {
            case "started by a virtual thread", "started by a platform thread" -> {
                return Thread.ofVirtual().unstarted(run)::start;
            }
            case "its sleep ends" -> {
                Thread.startVirtualThread(() -> {
                    sleepUntil(due);
                    run.run();
                });
                return () -> { };
            }
            case "its socket has data" -> {
                parked(pair, run);
                return pair::write;
            }
            case "gets a monitor from a virtual thread" -> {
                return unlocker(new Object(), run);
            }
            case "notified by a virtual thread" -> {
                return notifier(new Object(), run);
            }
            default -> {
                Thread thread = parked(run);
                return () -> LockSupport.unpark(thread);
            }
        }
    }

    /** A virtual thread owns a monitor, another one waits for it; it leaves at once if told. */
    static Runnable unlocker(Object monitor, Runnable run) throws InterruptedException {
        Thread owner = until(Thread.State.WAITING, () -> {
            synchronized (monitor) { LockSupport.park(); }
        });
        until(Thread.State.BLOCKED, () -> {
            synchronized (monitor) { run.run(); }
        });
        return () -> LockSupport.unpark(owner);
    }

    static Runnable notifier(Object monitor, Runnable run) throws InterruptedException {
        until(Thread.State.WAITING, () -> {
            synchronized (monitor) { await(monitor); }
            run.run();
        });
        return () -> {
            synchronized (monitor) { monitor.notify(); }
        };
    }

    /** For each carrier a busy thread, or a pair; they end after so long. */
    static List<Thread> begin(String kind, long ns) {
        long end = System.nanoTime() + ns;
        List<Thread> threads = new ArrayList<>();
        for (int carrier = 0; carrier < carriers; carrier++) {
            switch (kind) {
                case "nothing" -> { }
                case "hand-offs" -> {
                    var there = new Semaphore(1);
                    var back = new Semaphore(0);
                    threads.add(hand(there, back, end));
                    threads.add(hand(back, there, end));
                }
                case "yields", "yields-later", "yields-after" ->
                    threads.add(Thread.startVirtualThread(() -> {
                        while (goesOn(end)) Thread.yield();
                    }));
                case "slices" -> threads.addAll(List.of(slices(end, Thread::yield),
                    slices(end, Thread::yield)));
                case "pauses" -> threads.addAll(List.of(
                    slices(end, () -> LockSupport.parkNanos(1)),
                    slices(end, () -> LockSupport.parkNanos(1))));
                case "starts" -> threads.add(Thread.startVirtualThread(() -> {
                    while (goesOn(end)) startAndJoin();
                }));
                case "notifies" -> {
                    var taker = new Taker(end);
                    threads.add(Thread.startVirtualThread(taker::take));
                    threads.add(Thread.startVirtualThread(taker::put));
                }
                case "computing" -> threads.add(Thread.startVirtualThread(() -> {
                    while (goesOn(end)) Thread.onSpinWait();
                }));
                default -> throw new IllegalArgumentException(kind);
            }
        }
        return threads;
    }

    /** It computes, and lets others go first each 0.1 ms. */
    static Thread slices(long end, Runnable cede) {
        return Thread.startVirtualThread(() -> {
            while (goesOn(end)) {
                long next = System.nanoTime() + 100_000;
                while (System.nanoTime() < next) Thread.onSpinWait();
                cede.run();
            }
        });
    }

    /** Up to 23, Object.wait blocks its carrier, and the JVM adds another one. */
    static void addCarrier() throws InterruptedException {
        var lock = new Object();
        List<Thread> waiting = new ArrayList<>();
        for (int carrier = 0; carrier < carriers; carrier++) {
            waiting.add(Thread.startVirtualThread(() -> {
                synchronized (lock) {
                    try {
                        lock.wait(LEAD / 1_000_000);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }));
        }
        for (Thread each : waiting) each.join();
    }

    static void startAndJoin() {
        try {
            Thread.startVirtualThread(() -> { }).join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static Thread hand(Semaphore from, Semaphore to, long end) {
        return Thread.startVirtualThread(() -> {
            boolean more;
            do {
                from.acquireUninterruptibly();
                more = goesOn(end);
                to.release();
            } while (more);
        });
    }

    static boolean goesOn(long end) {
        Runnable errand = ERRAND.get() == null ? null : ERRAND.getAndSet(null);
        if (errand != null) errand.run();
        return System.nanoTime() < end;
    }

    static Thread parked(Runnable then) throws InterruptedException {
        return until(Thread.State.WAITING, () -> {
            LockSupport.park();
            then.run();
        });
    }

    static Thread parked(SocketPair pair, Runnable then) throws InterruptedException {
        return until(Thread.State.WAITING, () -> {
            pair.read();
            then.run();
        });
    }

    /** Starts a virtual thread, and waits until it's in that state. */
    static Thread until(Thread.State state, Runnable task) throws InterruptedException {
        Thread thread = Thread.startVirtualThread(task);
        while (thread.getState() != state) Thread.sleep(1);
        return thread;
    }

    static void await(Object monitor) {
        try {
            monitor.wait();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A place for one row. Who puts and who takes notify each other, as in Java 1.0. */
    static class Taker {
        private final long end;
        private boolean isFull;

        Taker(long end) { this.end = end; }

        void put() {
            while (goesOn(end)) set(true);
            set(true);
        }

        void take() {
            while (goesOn(end)) set(false);
            set(false);
        }

        private synchronized void set(boolean full) {
            while (isFull == full && System.nanoTime() < end) WhoRunsNext.await(this);
            isFull = full;
            notify();
        }
    }

    static void sleepUntil(long due) {
        while (System.nanoTime() < due) LockSupport.parkNanos(due - System.nanoTime());
    }

    static class SocketPair {
        final Socket in;
        final Socket out;

        SocketPair() throws IOException {
            try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                in = new Socket(server.getInetAddress(), server.getLocalPort());
                out = server.accept();
            }
        }

        void read() {
            try {
                in.getInputStream().read();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        void write() {
            try {
                out.getOutputStream().write(1);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        void close() throws IOException {
            in.close();
            out.close();
        }
    }
}
