//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.math.BigDecimal;
import java.math.MathContext;
import java.net.*;
import java.net.http.*;
import java.nio.charset.Charset;
import java.nio.file.*;
import java.time.Duration;
import java.time.LocalDate;
import java.util.*;
import java.util.SequencedMap; // Java 21 or newer: see README.md
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** The five experiments and the encores come first, what measures and reports comes below. */
class VirtualThreadsLab {

    static final String HELP = /* Java 21 or newer: see README.md */ """
        java VirtualThreadsLab.java [--quick] [--runs N] [--samples] [--predict] [name ...]

        Puts the same work to platform threads and to virtual threads, checks every answer
        and prints a table of medians. Experiments run in the order in which they are named:
        without a name the first five, with "all" every one.

          --quick       smaller sizes and 3 runs, in seconds instead of about a minute
          --runs N      samples a side after a discarded first run, 1 to 100; otherwise 5
          --samples     print every sample
          --predict     be asked for a ratio before each experiment, and see it in the table

        The report goes to standard output, progress to standard error. Exit code 0: every
        row was measured; 1: a row is missing or wrong; 2: a word was not understood.

        """;

    static final List<Experiment> EXPERIMENTS = List.of(
        new Experiment("start-time", 13, VirtualThreadsLab::startTime,
            "start n threads until each has run: platform threads, or virtual"),
        new Experiment("sleep-wave", 33, VirtualThreadsLab::sleepWave,
            "10,000 tasks wait 100 ms each: a pool of 200, or a virtual thread a task"),
        new Experiment("cpu-primes", 5, VirtualThreadsLab::cpuPrimes,
            "count primes, nothing waits: a thread a processor, or a virtual thread a task"),
        new Experiment("pinning", 14, VirtualThreadsLab::pinning,
            "wait in a lock, a monitor, an initializer: a platform or virtual thread a task"),
        new Experiment("thread-count", 2, VirtualThreadsLab::threadCount,
            "live threads while 1,000 tasks wait: platform threads, or virtual"),
        // The encores, which run only when they are named.
        new Experiment("println", 4, VirtualThreadsLab::println,
            "one thread prints 1,000 lines to a file: a platform thread, or a virtual one"),
        new Experiment("http", 16, VirtualThreadsLab::http,
            "1,000 HTTP calls wait 50 ms each: a server's pool of 50, or virtual threads"),
        new Experiment("mixed", 14, VirtualThreadsLab::mixed,
            "100 tasks compute, then call a server: a platform or virtual thread a task"),
        new Experiment("capacity", 7, VirtualThreadsLab::capacity,
            "20 of 1,000 tasks fit at once: a pool of 20, or virtual threads and a semaphore"),
        new Experiment("thread-local", 2, VirtualThreadsLab::threadLocal,
            "objects cached for 10,000 tasks: a pool of 200, or a virtual thread a task"),
        new Experiment("million", 13, VirtualThreadsLab::million,
            "start a million threads and park them all: virtual threads only"));

    // -------------------------------------------------------------------- the five experiments

    /**
     * start-time. How long does it take to start n threads, until each of them has run?
     * Fair: both sides run this one loop; only the builder differs. At most 1,000 threads are
     * started and have not yet run, so that no system runs out of threads.
     * Predict: a platform thread is made by the operating system, in tens of microseconds, a
     * virtual one is an object put into a queue, in about one.
     * Try: sizes = {1, 10, 100}. From how many threads on does the gap cost a millisecond?
     */
    static void startTime() throws Exception {
        int[] sizes = {100, size(1_000, 200), size(10_000, 500)};
        Row row = null;
        for (int threads : sizes) {
            row = time(number(threads) + " threads", UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
        }
        double each = 1_000.0 / sizes[2];
        say("one of " + number(sizes[2]) + " threads started and ran in "
            + number(row.platform.median() * each) + " µs as a platform thread, in "
            + number(row.virtual.median() * each) + " µs as a virtual one: " + verdict(row));
    }

    static void startAll(Thread.Builder builder, int threads) throws InterruptedException {
        var ran = new AtomicInteger();
        var left = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            while (i - ran.get() >= 1_000) Thread.yield();
            builder.start(() -> {
                ran.incrementAndGet();
                left.countDown();
            });
        }
        left.await();
        check("threads that ran", threads, ran.get());
    }

    /**
     * sleep-wave. How long do 10,000 tasks take that each wait 100 ms and do nothing else?
     * Fair: the same tasks; only the executor differs. Many servers run on a pool of 200, and
     * the wait stands for a call to something slow.
     * Predict: 200 threads carry 10,000 tasks in 50 waves of 100 ms; on virtual threads all the
     * tasks wait at once. 50×, less what it costs to start and wake 10,000 threads.
     * Try: pool = 1_000. How much of the ratio is left, and what did the pool cost?
     */
    static void sleepWave() throws Exception {
        int tasks = size(10_000, 1_000);
        int waitMs = size(100, 30);
        int pool = 200;
        Task wait = id -> Thread.sleep(waitMs);

        Row row = time(number(tasks) + " × " + waitMs + " ms", Math.ceilDiv(tasks, pool),
            () -> runAll(newFixedThreadPool(pool), tasks, wait),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));

        double work = (double) tasks * waitMs;
        say("tasks × wait ÷ elapsed = tasks in flight (Little's law). The pool kept "
            + number(work / row.platform.median()) + " of its " + number(pool)
            + " threads waiting, virtual threads kept " + number(work / row.virtual.median())
            + " of " + number(tasks) + " tasks waiting: " + verdict(row));
    }

    /**
     * cpu-primes. Do tasks that only compute get any faster on virtual threads?
     * Fair: the same tasks on a thread per processor, or on a virtual thread per task. Both
     * sides can use every processor, and nothing ever waits.
     * Predict: 1×. A virtual thread computes on a carrier, which is a platform thread, and
     * every processor has one. With fewer carriers than processors: less.
     * Try: newFixedThreadPool(16 * PROCESSORS). More threads than processors: any faster?
     */
    static void cpuPrimes() throws Exception {
        int tasks = 4 * PROCESSORS;
        int limit = size(1_000_000, 600_000);
        int primes = size(78_498, 49_098);
        Task count = id -> check("primes to " + number(limit), primes, countPrimes(limit));

        Row row = time(tasks + " × " + number(primes) + " primes",
            Math.min(1, (double) CARRIERS / PROCESSORS),
            () -> runAll(newFixedThreadPool(PROCESSORS), tasks, count),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, count));

        say(tasks + " tasks that only compute, " + counted(PROCESSORS, "processor") + ", "
            + counted(CARRIERS, "carrier") + ": " + verdict(row));
    }

    static int countPrimes(int limit) {
        int primes = 1; // 2, the only even one
        for (int n = 3; n <= limit; n += 2) {
            int divisor = 3;
            while (divisor * divisor <= n && n % divisor != 0) divisor += 2;
            if (divisor * divisor > n) primes++;
        }
        return primes;
    }

    /**
     * pinning. What keeps a waiting virtual thread on its carrier, so that both have to wait?
     * Fair: a thread per task on both sides, and a lock per task. One lock for all measures
     * contention instead, and looks alike on every JDK. The monitors stand in an array, so that
     * the compiler cannot prove them private and drop them.
     * Predict: a ReentrantLock never pins: 1×. A monitor pins up to JDK 23, where the 10 tasks
     * of a carrier wait one after the other: 0.1×; from JDK 24 on (JEP 491) it does not: 1×.
     * A class initializer has a native frame below it and pins on every JDK: 0.1×.
     * Try: synchronized (monitors[0]). Now both sides crawl, and the ratio shows no pinning.
     */
    static void pinning() throws Exception {
        int perCarrier = Math.clamp(1_000 / CARRIERS, 1, 10);
        int tasks = perCarrier * CARRIERS;
        int waitMs = size(50, 10);
        initializerMs = waitMs;
        byte[] bytes = Initializer.class
            .getResourceAsStream(Initializer.class.getName() + ".class").readAllBytes();
        var monitors = new Object[tasks];
        Arrays.setAll(monitors, id -> new Object());

        Task lock = id -> {
            var own = new ReentrantLock();
            own.lock();
            try {
                Thread.sleep(waitMs);
            } finally {
                own.unlock();
            }
        };
        Task monitor = id -> {
            synchronized (monitors[id]) {
                Thread.sleep(waitMs);
            }
        };
        Task initializer = id -> MethodHandles.lookup().defineHiddenClass(bytes, true);

        double pinned = 1.0 / perCarrier;
        say("of its " + perCarrier + " tasks a carrier kept waiting at once "
            + pin("ReentrantLock", 1, tasks, waitMs, lock) + ", "
            + pin("synchronized", JDK < 24 ? pinned : 1, tasks, waitMs, monitor) + ", "
            + pin("class init", pinned, tasks, waitMs, initializer));
    }

    /** Adds a row; tells how many tasks a carrier kept waiting, and what JFR saw of it. */
    static String pin(String holding, double predicted, int tasks, int waitMs, Task task)
            throws Exception {
        Work virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
        Row row = time(tasks + " in " + holding, predicted,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task), virtual);
        double kept = tasks * waitMs / row.virtual.median() / CARRIERS;
        return number(Math.round(kept * 10) / 10.0) + " in " + holding + " ("
            + pinnedEvents(waitMs / 2, virtual) + ")";
    }

    static int initializerMs;

    /** Every task loads this class anew, and so runs the initializer. */
    static class Initializer {
        static {
            try {
                Thread.sleep(initializerMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * thread-count. How many threads does the operating system carry while 1,000 tasks wait?
     * Fair: the same tasks come to the same gate, which opens once as many wait as the side can
     * hold. ThreadMXBean counts live platform threads: carriers too, virtual threads never.
     * Predict: where b threads were live before, a pool of 200 makes them b + 200, and a
     * platform thread per task b + 1,000. Virtual threads add none: the carriers are among b.
     * Try: tasks = 500. Whose count moves, and whose does not?
     */
    static void threadCount() throws Exception {
        int tasks = 1_000;
        int pool = 200;
        var dump = new String[1];
        Work nothing = () -> { };
        Gauge virtual = () -> gate(newVirtualThreadPerTaskExecutor(), tasks, tasks, nothing);
        virtual.read(); // starts the carriers, so that they are among b
        double b = settledThreads();

        Row pooled = measure(number(tasks) + ", pool of " + pool, "threads", (b + pool) / b,
            () -> gate(newFixedThreadPool(pool), tasks, pool, nothing), virtual);
        Row perTask = measure(number(tasks) + ", thread each", "threads", (b + tasks) / b,
            () -> gate(newThreadPerTaskExecutor(Thread::new), tasks, tasks, nothing),
            () -> gate(newVirtualThreadPerTaskExecutor(), tasks, tasks,
                () -> { // once: it takes longer than the rest of a sample
                    if (!warmingUp && dump[0] == null) dump[0] = dump();
                }));
        say("ThreadMXBean saw " + number(perTask.platform.median())
            + " threads with a platform thread per task, " + number(pooled.platform.median())
            + " with the pool, " + number(perTask.virtual.median()) + " with virtual threads; "
            + dump[0]);
    }

    /** Returns the most threads that were live while the tasks came to wait at a gate. */
    static double gate(ExecutorService executor, int tasks, int room, Work whenFull)
            throws Exception {
        settledThreads();
        threads().resetPeakThreadCount();
        var coming = new CountDownLatch(room);
        var open = new CountDownLatch(1);
        var passed = new AtomicInteger();
        int peak;
        try (executor) {
            try {
                for (int i = 0; i < tasks; i++) {
                    executor.submit(() -> {
                        coming.countDown();
                        open.await();
                        return passed.incrementAndGet();
                    });
                }
                coming.await();
                peak = threads().getPeakThreadCount();
                whenFull.run();
            } finally {
                open.countDown();
            }
        }
        check("tasks through the gate", tasks, passed.get());
        return peak;
    }

    /** Waits until the threads of earlier work have died; returns how many are live then. */
    static int settledThreads() throws InterruptedException {
        for (int before = 0; ; Thread.sleep(5)) {
            int now = threads().getThreadCount();
            if (now == before) return now;
            before = now;
        }
    }

    // ------------------------------------------------------------ encores: run only when named

    /**
     * println. Is one task, alone, any faster on a virtual thread?
     * Fair: one thread prints the same lines to the same file, and the sides take turns at
     * going first: in a single cold shot whoever goes first is slower.
     * Predict: 1×. Nothing waits while something else could run.
     * Try: lines = 10. Now starting the thread is most of the work: which side gains?
     */
    static void println() throws Exception {
        int lines = 1_000;
        Path file = scratch();
        Task print = id -> {
            try (var out = new PrintStream(file.toFile())) {
                for (int i = 0; i < lines; i++) out.println("line " + i);
            }
            check("lines in the file", lines, Files.readAllLines(file).size());
        };
        try {
            say("one task alone: " + verdict(time(number(lines) + " lines", 1,
                () -> runAll(newThreadPerTaskExecutor(Thread::new), 1, print),
                () -> runAll(newVirtualThreadPerTaskExecutor(), 1, print))));
        } finally {
            file.toFile().delete();
        }
    }

    /**
     * http. What does a server gain from a virtual thread per call, if its handler waits?
     * Fair: the same calls from the same kind of client; the servers differ only in their
     * executor. Half of the calls are in flight at once; the warm-up opens the connections.
     * Predict: a pool of 50 answers 1,000 calls in 20 waves of 50 ms. Virtual threads with 500
     * calls in flight need 2 waves: 10×, and by Little's law as much in latency.
     * Try: pool = 500. Is it the threads that are better, or their number?
     */
    static void http() throws Exception {
        int calls = size(1_000, 400);
        int waitMs = 50;
        int pool = 50;
        double waves = calls / 2.0 / pool;
        try (var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            Row row = time(number(calls) + " × " + waitMs + " ms", waves,
                () -> pooled.latency(calls), () -> virtual.latency(calls));
            measure("median latency", "ms", waves,
                () -> pooled.latency(calls), () -> virtual.latency(calls));
            double work = (double) calls * waitMs;
            say("the server kept " + number(work / row.platform.median()) + " calls waiting on "
                + "its pool of " + number(pool) + ", " + number(work / row.virtual.median())
                + " on virtual threads: " + verdict(row));
        }
    }

    /**
     * mixed. What changes for tasks that first compute and then call a server?
     * Fair: the same tasks, client and server; a platform thread a task or a virtual one.
     * Predict: 1×, as the processors are the same. But platform threads share them in slices,
     * so that the computations end together and the calls come in one wave; virtual threads
     * compute one after the other, and the calls come in a stream.
     * Try: n = 25 and value = 75_025. With less to compute, what is left of the stream?
     */
    static void mixed() throws Exception {
        int tasks = 100;
        int waitMs = 100;
        int n = size(33, 28);
        int value = size(3_524_578, 317_811);
        try (var server = new Server(newFixedThreadPool(tasks), waitMs)) {
            Task task = id -> {
                check("fibonacci", value, fibonacci(n));
                server.call();
            };
            Work platform = () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task);
            Work virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
            Row row = time(tasks + " tasks", 1, platform, virtual);
            Row peak = measure("calls at once", "calls", UNKNOWN,
                () -> server.handlers.most(platform), () -> server.handlers.most(virtual));
            say("of " + tasks + " calls the server saw " + number(peak.platform.median())
                + " at once from platform threads, " + number(peak.virtual.median())
                + " from virtual threads; in time " + verdict(row));
        }
    }

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    /**
     * capacity. What limits a resource that takes 20 at once, if not the size of a pool?
     * Fair: the same tasks hold the resource for the same time; the limit is the pool's size on
     * one side and a semaphore on the other. More than 20 inside is a wrong answer.
     * Predict: 1×. Both sides need 50 waves: limit the resource, not the threads.
     * Try: permits = new Semaphore(limit + 1). The lab must call the answer wrong.
     */
    static void capacity() throws Exception {
        int tasks = size(1_000, 200);
        int holdMs = 10;
        int limit = 20;
        var permits = new Semaphore(limit);
        var pooled = new Place();
        var permitted = new Place();
        Row row = time(number(tasks) + " × " + holdMs + " ms, by " + limit, 1,
            () -> {
                runAll(newFixedThreadPool(limit), tasks, id -> pooled.visit(holdMs));
                check("most inside at once", limit, Math.max(limit, pooled.most));
            },
            () -> {
                runAll(newVirtualThreadPerTaskExecutor(), tasks, id -> {
                    permits.acquire();
                    try {
                        permitted.visit(holdMs);
                    } finally {
                        permits.release();
                    }
                });
                check("most inside at once", limit, Math.max(limit, permitted.most));
            });
        say("at most " + pooled.most + " tasks were inside with the pool, " + permitted.most
            + " with the semaphore: " + verdict(row));
    }

    /**
     * thread-local. How many costly objects does a cache in a ThreadLocal make?
     * Fair: the same tasks use the same cache; only the executor differs.
     * Predict: one per thread. 200 for the pool, which lends them to 10,000 tasks; 10,000 for
     * virtual threads, each used once: 0.02×.
     * Try: tasks = 200. When does such a cache lose nothing?
     */
    static void threadLocal() throws Exception {
        int tasks = size(10_000, 2_000);
        int pool = 200;
        int bytes = 8_192;
        Row row = measure(number(tasks) + " tasks", "made", (double) pool / tasks,
            () -> cached(newFixedThreadPool(pool), tasks, bytes),
            () -> cached(newVirtualThreadPerTaskExecutor(), tasks, bytes));
        say("the cache made " + number(row.platform.median() * bytes / 1e6)
            + " MB of buffers for the pool, " + number(row.virtual.median() * bytes / 1e6)
            + " MB for virtual threads");
    }

    static double cached(ExecutorService executor, int tasks, int bytes) throws Exception {
        var made = new AtomicInteger();
        var cache = ThreadLocal.withInitial(() -> {
            made.incrementAndGet();
            return new byte[bytes];
        });
        runAll(executor, tasks, id -> check("bytes lent", bytes, cache.get().length));
        return made.get();
    }

    /**
     * million. How long does it take to park a million virtual threads, and what do they weigh?
     * There is no platform side: its stacks alone would ask for a terabyte of address space.
     * Predict: ten times the threads, ten times the time, while the heap has room. A parked
     * thread is an object, and its stack is as deep as it needs to be.
     * Try: -Xmx256m. The largest row says that it does not fit, and costs no other.
     */
    static void million() throws Exception {
        var told = new StringJoiner(", ");
        var bytes = new double[1];
        for (int i = 0; i < 5; i++) park(10_000, bytes); // stacks are deeper until compiled
        for (int threads : new int[] {10_000, 100_000, size(1_000_000, 200_000)}) {
            Row row = measure(number(threads) + " parked", "ms", UNKNOWN, () -> {
                throw new IllegalStateException(ABSENT + ", its stacks alone ask for "
                    + number(threads / 1e3) + " GB");
            }, () -> park(threads, bytes));
            if (row.virtual.missing == null) {
                told.add(number(bytes[0]) + " bytes each of " + number(threads));
            }
        }
        say("on the heap, parked virtual threads took " + told);
    }

    /** Returns the milliseconds until all are parked, and in bytes[0] what one weighs. */
    static double park(int threads, double[] bytes) throws Exception {
        Runtime jvm = Runtime.getRuntime();
        System.gc();
        long used = jvm.totalMemory() - jvm.freeMemory();
        double wantMb = 2 * threads * bytes[0] / 1e6;
        double freeMb = (jvm.maxMemory() - used) / 1e6;
        if (wantMb > freeMb) {
            throw new IllegalStateException("would need about " + number(wantMb)
                + " MB of heap, " + number(freeMb) + " MB are left");
        }
        var awake = new CountDownLatch(threads);
        var alive = new CountDownLatch(threads);
        var gate = new Semaphore(0);
        double elapsed;
        try {
            long start = System.nanoTime();
            for (int i = 0; i < threads; i++) {
                Thread.startVirtualThread(() -> {
                    awake.countDown();
                    gate.acquireUninterruptibly();
                    alive.countDown();
                });
            }
            awake.await();
            elapsed = (System.nanoTime() - start) / 1e6;
            if (warmingUp || threads < 1_000_000) { // weighing a million takes seconds
                System.gc();
                bytes[0] = (double) (jvm.totalMemory() - jvm.freeMemory() - used) / threads;
            }
        } finally {
            gate.release(threads);
        }
        alive.await();
        return elapsed;
    }

    // ---------------------------------------------------------- what the experiments share

    interface Work { void run() throws Exception; }
    interface Task { void run(int id) throws Exception; }
    interface Gauge { double read() throws Exception; }

    static final double UNKNOWN = Double.NaN;
    static final String ABSENT = "not tried";
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    /** The platform threads that run virtual ones: see the javadoc of Thread. */
    static final int CARRIERS = Math.min(
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));

    static int size(int full, int small) { return quick ? small : full; }

    static ThreadMXBean threads() { return ManagementFactory.getThreadMXBean(); }

    /** Runs tasks 0 to n - 1, waits for them and checks that each was done once. */
    static void runAll(ExecutorService executor, int n, Task task) throws Exception {
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int id = i;
            tasks.add(() -> {
                task.run(id);
                return id;
            });
        }
        long sum = 0;
        try (executor) {
            for (Future<Integer> done : executor.invokeAll(tasks)) sum += done.get();
        }
        check("sum of the task ids", n * (n - 1L) / 2, sum);
    }

    static void check(String what, double expected, double actual) {
        if (actual != expected) {
            throw new IllegalStateException("wrong answer, " + what + ": " + number(actual)
                + " instead of " + number(expected));
        }
    }

    /** Does the work under Flight Recorder and tells how many waits kept their carrier. */
    static String pinnedEvents(int thresholdMs, Work work) {
        String pinned = "jdk.VirtualThreadPinned";
        Path file = scratch();
        int events = 0;
        Set<String> reasons = new TreeSet<>();
        try (var recording = new Recording()) {
            recording.enable(pinned).withThreshold(Duration.ofMillis(thresholdMs));
            recording.start();
            work.run();
            recording.stop();
            recording.dump(file);
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                events++;
                if (event.hasField("pinnedReason")) { // from JDK 24 on
                    reasons.add(event.getString("pinnedReason").replaceAll("/0x\\w+", ""));
                }
            }
        } catch (Exception | LinkageError e) {
            return "no Flight Recorder here: " + why(e);
        } finally {
            file.toFile().delete();
        }
        String told = String.join(", ", reasons);
        return events + " pinned events" + (told.isEmpty() ? "" : ": " + told);
    }

    /** Counts the virtual threads in a thread dump; ThreadMXBean does not know them. */
    static String dump() throws IOException {
        Path file = scratch();
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpThreads(
                file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            int virtual = 0;
            for (String line : Files.readAllLines(file)) {
                if (line.matches("#\\d+ \".*\" virtual.*")) virtual++;
            }
            return "a thread dump at that moment lists " + number(virtual) + " virtual threads";
        } catch (Exception | LinkageError e) {
            return "no thread dump: " + why(e);
        } finally {
            file.toFile().delete();
        }
    }

    /** A file for one experiment at a time, which deletes it. */
    static Path scratch() {
        return Path.of(System.getProperty("java.io.tmpdir"),
            "VirtualThreadsLab-" + ProcessHandle.current().pid() + ".txt").toAbsolutePath();
    }

    /** Counts its visitors, and the most that were inside at once. */
    static class Place {
        int inside, most;

        void visit(int ms) throws InterruptedException {
            count(1);
            try {
                Thread.sleep(ms);
            } finally {
                count(-1);
            }
        }

        synchronized void count(int change) {
            inside += change;
            most = Math.max(most, inside);
        }

        int most(Work work) throws Exception {
            most = 0;
            work.run();
            return most;
        }
    }

    /** A server on loopback whose handler waits and says "ok", and a client for it. */
    static class Server implements AutoCloseable {
        final Place handlers = new Place();
        final HttpClient client = HttpClient.newHttpClient();
        final ExecutorService executor;
        final HttpServer server;
        final HttpRequest request;

        Server(ExecutorService executor, int waitMs) throws IOException {
            // Otherwise some answers wait 40 ms for an acknowledgement, and 200 connections
            // stay open at most.
            System.setProperty("sun.net.httpserver.nodelay", "true");
            System.setProperty("sun.net.httpserver.maxIdleConnections", "1000");
            this.executor = executor;
            server = HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
            server.setExecutor(executor);
            server.createContext("/", exchange -> {
                try (exchange) {
                    handlers.visit(waitMs);
                    exchange.sendResponseHeaders(200, 2);
                    exchange.getResponseBody().write(new byte[] {'o', 'k'});
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            server.start();
            String url = server.getAddress().toString().replaceFirst(".*/", "http://");
            request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(10))
                .build();
        }

        void call() throws Exception {
            var reply = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (reply.statusCode() != 200 || !reply.body().equals("ok")) {
                throw new IllegalStateException("wrong answer, " + reply + ": " + reply.body());
            }
        }

        /** Makes so many calls, half of them at once; returns their median latency in ms. */
        double latency(int calls) throws Exception {
            var permits = new Semaphore(calls / 2);
            var ms = new double[calls];
            runAll(newVirtualThreadPerTaskExecutor(), calls, id -> {
                permits.acquire();
                try {
                    long start = System.nanoTime();
                    call();
                    ms[id] = (System.nanoTime() - start) / 1e6;
                } finally {
                    permits.release();
                }
            });
            return part(ms, 0.5);
        }

        @Override
        public void close() {
            server.stop(0);
            executor.close();
            client.close();
        }
    }

    // -------------------------------------------------------------------------- measuring

    record Experiment(String name, int seconds, Work body, String question) { }

    /** A line of the table. A ratio above 1 says that virtual threads do better. */
    record Row(String experiment, String work, String unit, double predicted,
            Side platform, Side virtual) {

        Row(String work, String unit, double predicted) {
            this(current.name, work, unit, predicted,
                new Side("platform"), new Side("virtual"));
        }

        List<Side> sides() { return List.of(platform, virtual); }
        double ratio() { return platform.median() / virtual.median(); }
        boolean noisy() { return platform.noisy() || virtual.noisy(); }
        boolean failed() { return platform.failed() || virtual.failed(); }
    }

    /** One side of a row: its samples, of which the first is discarded, or why it has none. */
    static class Side {
        final String name;
        final double[] samples = new double[runs + 1];
        String missing;

        Side(String name) { this.name = name; }

        /** Keeps five digits, so that the table can be recomputed from what is printed. */
        void sample(int run, Gauge gauge) {
            if (missing != null) return;
            threads().resetPeakThreadCount();
            try {
                samples[run] = Double.parseDouble(digits(gauge.read(), 5));
            } catch (Exception | Error e) {
                missing = why(e);
            }
        }

        double at(double share) {
            return missing == null ? part(Arrays.copyOfRange(samples, 1, runs + 1), share)
                : UNKNOWN;
        }

        double median() { return at(0.5); }
        boolean failed() { return missing != null && !missing.startsWith(ABSENT); }
        boolean noisy() { return at(1) - at(0) > 0.3 * median(); }
    }

    /** Sorts the values; returns the least for 0, the median for 0.5 and the most for 1. */
    static double part(double[] values, double share) {
        Arrays.sort(values);
        double place = share * (values.length - 1);
        return (values[(int) place] + values[(int) Math.ceil(place)]) / 2;
    }

    /** Adds a row of milliseconds: how long the work takes. */
    static Row time(String work, double predicted, Work platform, Work virtual) {
        return measure(work, "ms", predicted, () -> filled(platform), () -> filled(virtual));
    }

    /**
     * A sample is the median of as many shots as fill 200 ms. One shot of something short tells
     * the mood of the scheduler, and so does a mean: in it, one stop of 4 ms weighs as much as
     * twenty shots of 0.2 ms. The warm-up tells its first shot and goes on for longer; what
     * takes under 1 ms is compiled late and goes on until its experiment is 2 s old.
     */
    static double filled(Work work) throws Exception {
        double fillMs = warmingUp ? size(600, 40) : size(200, 40);
        List<Double> shots = new ArrayList<>();
        if (!warmingUp) System.gc();
        long start = System.nanoTime();
        long warm = warmingUp ? began + size(2_000, 1_300) * 1_000_000L : start;
        double gone = 0;
        while (gone < fillMs || gone < shots.size() && System.nanoTime() < warm) {
            work.run();
            double now = (System.nanoTime() - start) / 1e6;
            shots.add(now - gone);
            gone = now;
        }
        return warmingUp ? shots.getFirst()
            : part(shots.stream().mapToDouble(ms -> ms).toArray(), 0.5);
    }

    /**
     * Adds a row: a discarded first run, then the samples; the sides in turn go first. Platform
     * begins, so that most virtual samples follow a platform one: behind one of their own they
     * can find the scheduler as that left it, and take two thirds of the time, or twice it.
     */
    static Row measure(String work, String unit, double predicted, Gauge platform,
            Gauge virtual) {
        var row = new Row(work, unit, predicted);
        currentWork = work;
        for (int run = 0; run <= runs; run++) {
            warmingUp = run == 0;
            progress(warmingUp ? "warm-up" : "run " + run + " of " + runs);
            boolean platformFirst = warmingUp || run % 2 == 1;
            if (platformFirst) row.platform.sample(run, platform);
            row.virtual.sample(run, virtual);
            if (!platformFirst) row.platform.sample(run, platform);
        }
        progress("done");
        synchronized (VirtualThreadsLab.class) { // see rows
            rows.add(row);
        }
        return row;
    }

    static String why(Throwable e) {
        if (e instanceof ExecutionException) return why(e.getCause());
        if (e instanceof IllegalStateException) return e.getMessage();
        if (e instanceof OutOfMemoryError && e.getMessage().contains("native thread")) {
            return "the system refused thread " + (threads().getPeakThreadCount() + 1);
        }
        return e.toString();
    }

    /** Calls a side faster only where the samples do not overlap and the ratio is not 1×. */
    static String verdict(Row row) {
        double ratio = row.ratio();
        if (runs == 1) return "one run a side cannot tell which is faster";
        if (ratio > 1.005 && row.virtual.at(1) < row.platform.at(0)) {
            return "virtual threads were " + times(ratio) + " faster";
        }
        if (ratio < 0.995 && row.platform.at(1) < row.virtual.at(0)) {
            return "platform threads were " + times(1 / ratio) + " faster";
        }
        return "this run shows no difference";
    }

    // ---------------------------------------------------------------- running the experiments

    static final int PATIENCE_S = 120;
    static final long START = System.nanoTime();
    static boolean help, quick, everySample, predict, warmingUp, printed;
    static int runs;
    static List<Experiment> chosen;
    static Experiment current;
    static String currentWork, setting;
    static Scanner input;
    static long began;
    static volatile long lastSign;
    static volatile Thread worker;
    // What an interrupt may print at any moment; the methods that use it are synchronized.
    static final List<Row> rows = new ArrayList<>();
    static final SequencedMap<String, String> findings = new LinkedHashMap<>();
    static final Map<String, String> guesses = new HashMap<>();

    public static void main(String[] args) {
        String fault = understand(args);
        if (fault == null) System.exit(help ? help() : run());
        System.err.println("VirtualThreadsLab: " + fault);
        System.exit(2);
    }

    /** Runs what was chosen and prints the report; returns the exit code. */
    static int run() {
        setting = setting(); // first of all, while there are files and threads to be had
        Runtime.getRuntime().addShutdownHook(new Thread(() -> report(true)));
        try { // a heap that shrinks at every collection has to grow within the samples
            var jvm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            jvm.setVMOption("MaxHeapFreeRatio", "100");
            jvm.setVMOption("MinHeapFreeRatio", "100");
        } catch (RuntimeException | LinkageError e) {
            // Another JVM, or one without this module: the samples are noisier, and say so.
        }
        if (predict) input = new Scanner(System.in);
        for (Experiment experiment : chosen) {
            current = experiment;
            currentWork = "";
            if (input != null) ask();
            conduct();
        }
        return report(false);
    }

    /** Runs an experiment in a thread of its own, so that one that hangs can be given up. */
    static void conduct() {
        lastSign = began = System.nanoTime();
        worker = Thread.ofPlatform().daemon().unstarted(() -> {
            try {
                progress("");
                if (Thread.ofVirtual().unstarted(() -> { }).getClass().getName()
                        .contains("Bound")) {
                    throw new IllegalStateException("nothing to compare, in this JVM a virtual "
                        + "thread is bound to a platform thread");
                }
                current.body.run();
            } catch (Throwable e) {
                if (Thread.currentThread() == worker) lose(why(e));
            }
        });
        try {
            worker.start();
            while (!worker.join(Duration.ofMillis(100))
                && System.nanoTime() - lastSign < PATIENCE_S * 1e9) continue;
            if (worker.isAlive()) {
                worker.interrupt();
                worker = null; // whatever it still does is not kept
                lose("given up, no end after " + PATIENCE_S + " s");
            }
        } catch (InterruptedException | OutOfMemoryError e) {
            lose(why(e));
        }
        System.err.println();
    }

    static synchronized void lose(String why) {
        var row = new Row(currentWork, "", UNKNOWN);
        for (Side side : row.sides()) side.missing = why;
        rows.add(row);
        findings.put(current.name, "not measured, " + why + ".");
    }

    /** Adds the experiment's sentence, and which of its numbers are noisy or a surprise. */
    static synchronized void say(String sentence) {
        if (Thread.currentThread() != worker) return; // given up
        String doubts = "";
        for (Row row : rows) {
            if (!row.experiment.equals(current.name)) continue;
            if (row.failed()) sentence = "a side is missing";
            for (Side side : row.sides()) {
                if (side.noisy()) doubts += " Noisy: " + row.work + ", " + side.name + " "
                    + number(side.at(0)) + " to " + number(side.at(1)) + " " + row.unit + ".";
            }
            if (runs == 1 || Double.isNaN(row.ratio())) continue;
            double off = (verdict(row).contains("faster") ? row.ratio() : 1) / row.predicted;
            if (off > 1.5 || off < 1 / 1.5) doubts += " A surprise: " + row.work + ", "
                + times(row.predicted) + " was predicted.";
        }
        findings.put(current.name, sentence + "." + doubts);
    }

    static void progress(String step) {
        if (Thread.currentThread() != worker) throw new CancellationException("given up");
        lastSign = System.nanoTime();
        int place = chosen.indexOf(current) + 1;
        double share = (runs + 1) / 6.0 * size(100, 18) / 100;
        double left = Math.max(0, current.seconds * share - (lastSign - began) / 1e9);
        for (Experiment later : chosen.subList(place, chosen.size())) {
            left += later.seconds * share;
        }
        System.err.print(plain(String.format(Locale.ROOT,
            "\r[%d/%d] %-12s %-19s %-11s %3.0f s gone, about %.0f s left ", place,
            chosen.size(), current.name, currentWork, step, (lastSign - START) / 1e9, left),
            System.err.charset()));
        System.err.flush();
    }

    /** Asks for a prediction: once more after nonsense, and no more after the end of input. */
    static void ask() {
        System.err.print(plain("\n" + current.name + ": " + current.question
            + ".\nYour ratio, platform ÷ virtual, such as 10 or 0.5 (Enter to skip): ",
            System.err.charset()));
        for (String refusal : List.of("Not a ratio. Once more: ", "Skipped.\n")) {
            if (!input.hasNextLine()) {
                input = null;
                return;
            }
            String answer = input.nextLine().strip().replace(',', '.').replaceAll("[x×]$", "");
            if (answer.isEmpty()) return;
            if (answer.matches("\\d{1,5}([.]\\d{1,5})?")) {
                guesses.put(current.name, times(Double.parseDouble(answer)));
                return;
            }
            System.err.print(refusal);
        }
    }

    // ------------------------------------------------------------------------- the report

    /** Prints the report, once; returns the exit code: 1 where a row or the report is lost. */
    static synchronized int report(boolean partial) {
        if (printed) return 0;
        printed = true;
        var out = new StringBuilder("# VirtualThreadsLab\n\n");
        if (partial) out.append("**Partial:** interrupted, these are the finished rows.\n\n");
        out.append(setting).append('\n').append(table()).append(notes());
        out.append("\n## What the numbers say\n\n");
        findings.forEach((name, said) -> out.append(wrap("- " + name + ": " + said)));
        out.append("\n## At a glance\n\n```\n");
        for (Row row : rows) out.append(bars(row));
        out.append("```\n");
        if (everySample) {
            out.append("\n## Samples\n\nThe discarded first run stands in brackets.\n\n```\n");
            for (Row row : rows) out.append(samples(row));
            out.append("```\n");
        }
        int code = print(out.toString());
        for (Row row : rows) if (row.failed()) code = 1;
        return code;
    }

    static int print(String text) {
        System.out.print(plain(text, System.out.charset()));
        if (!System.out.checkError()) return 0;
        System.err.println("VirtualThreadsLab: standard output did not take the report");
        return 1;
    }

    static String setting() {
        var command = new StringJoiner(" ", "`java ", "`");
        for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (!flag.equals("--add-modules=ALL-DEFAULT")) command.add(flag); // the launcher's
        }
        command.add(System.getProperty("sun.java.command", "").replaceFirst("^jdk\\S+ ", ""));
        return wrap("- Java " + Runtime.version() + ", " + System.getProperty("java.vendor")
                + ", " + System.getProperty("java.vm.name"))
            + wrap("- " + System.getProperty("os.name") + " " + System.getProperty("os.version")
                + " " + System.getProperty("os.arch") + ", " + counted(PROCESSORS, "processor")
                + ", " + counted(CARRIERS, "carrier") + ", heap up to "
                + number(Runtime.getRuntime().maxMemory() >> 20) + " MB")
            + wrap("- " + LocalDate.now() + ", " + counted(runs, "run") + ", " + command);
    }

    /** The median table; scripts rely on its header. */
    static String table() {
        String line = "| %-12s | %-20s | %13s | %11s | %7s | %9s |"
            + (predict ? " %6s |\n" : "\n");
        var out = new StringBuilder(String.format(line,
            "Experiment", "Work", "Platform", "Virtual", "Ratio", "Predicted", "You"));
        out.append(String.format(line, "", "", ":", ":", ":", ":", ":")
            .replace(": |", " :|").replace(' ', '-'));
        for (Row row : rows) {
            out.append(String.format(line, row.experiment, row.work,
                amount(row.platform, row.unit), amount(row.virtual, row.unit),
                (row.noisy() ? "~" : "") + times(row.ratio()), times(row.predicted),
                guesses.getOrDefault(row.experiment, "—")));
        }
        return out.toString();
    }

    /** What a reader of the table has to know: why a side is missing, and what ~ means. */
    static String notes() {
        var out = new StringBuilder();
        boolean noisy = false;
        for (Row row : rows) {
            noisy |= row.noisy();
            for (Side side : row.sides()) {
                if (side.missing == null) continue;
                String line = row.experiment + " " + row.work + " " + side.name;
                out.append(wrap("- " + line.replace("  ", " ") + ": " + side.missing + "."));
            }
        }
        if (noisy) out.append("- ~ is a noisy row: its samples range over 30 % of a median.\n");
        return out.isEmpty() ? "" : "\n" + out;
    }

    static String bars(Row row) {
        double longest = 0;
        for (Side side : row.sides()) {
            if (side.missing == null) longest = Math.max(longest, side.median());
        }
        var out = new StringBuilder();
        String label = String.format("%-12s %s", row.experiment, row.work);
        for (Side side : row.sides()) {
            if (side.missing != null) continue;
            int length = (int) Math.max(1, Math.round(40 * side.median() / longest));
            out.append(String.format("%-34s %-8s %s %s\n", label, side.name,
                "█".repeat(length), amount(side, row.unit)));
            label = "";
        }
        return out.toString();
    }

    static String samples(Row row) {
        String out = row.experiment + ", " + row.work + ", " + row.unit + "\n";
        for (Side side : row.sides()) {
            if (side.missing != null) continue;
            String line = "  " + side.name + " (" + digits(side.samples[0], 5) + ")";
            for (int run = 1; run <= runs; run++) line += " " + digits(side.samples[run], 5);
            out += wrap(line);
        }
        return out;
    }

    /** Breaks a line at blanks where it would be longer than 100 characters. */
    static String wrap(String line) {
        return line.replaceAll("(.{1,97}(?= |$)|.{97}) ?", "$1\n  ").stripTrailing() + "\n";
    }

    static String amount(Side side, String unit) {
        return side.missing == null ? number(side.median()) + " " + unit : "—";
    }

    static String times(double ratio) {
        return Double.isNaN(ratio) ? "—" : number(ratio) + "×";
    }

    static String counted(int n, String what) { return n + " " + what + (n == 1 ? "" : "s"); }

    /** Three significant digits below 1,000, whole from there on: 0.11, 39.2, 5,131. */
    static String number(double value) {
        if (Double.isNaN(value)) return "—";
        return value < 999.5 ? digits(value, 3) : String.format(Locale.ROOT, "%,.0f", value);
    }

    static String digits(double value, int significant) {
        return new BigDecimal(value).round(new MathContext(significant)).stripTrailingZeros()
            .toPlainString();
    }

    /** Puts plain ASCII of the same width where a charset lacks a character of the lab's. */
    static String plain(String text, Charset charset) {
        String fancy = "×—÷█µ";
        if (charset.newEncoder().canEncode(fancy)) return text;
        for (int i = 0; i < fancy.length(); i++) {
            text = text.replace(fancy.charAt(i), "x-/#u".charAt(i));
        }
        return text;
    }

    // ------------------------------------------------------------------- the command line

    /** Takes in the words; returns what is wrong with them, in one line, or null. */
    static String understand(String[] args) {
        Set<Experiment> wanted = new LinkedHashSet<>();
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--help" -> help = true;
                case "--quick" -> quick = true;
                case "--samples" -> everySample = true;
                case "--predict" -> predict = true;
                case "all" -> wanted.addAll(EXPERIMENTS);
                case "--runs" -> {
                    String count = ++i < args.length ? args[i] : "nothing";
                    if (!count.matches("[1-9][0-9]?|100")) {
                        return "--runs takes a whole number from 1 to 100, not " + count;
                    }
                    runs = Integer.parseInt(count);
                }
                default -> {
                    Experiment named = null;
                    for (Experiment e : EXPERIMENTS) if (e.name.equals(args[i])) named = e;
                    if (named == null) {
                        return "there is no " + args[i].replaceAll("\\s", " ")
                            + "; did you mean " + nearest(args[i]) + "?";
                    }
                    wanted.add(named);
                }
            }
        }
        if (runs == 0) runs = size(5, 3);
        chosen = List.copyOf(wanted.isEmpty() ? EXPERIMENTS.subList(0, 5) : wanted);
        return null;
    }

    /** Names what shares most pairs of letters with the word. */
    static String nearest(String word) {
        String names = "--quick --runs --samples --predict all";
        for (Experiment e : EXPERIMENTS) names += " " + e.name;
        String nearest = "--help";
        int most = 0;
        for (String name : names.split(" ")) {
            int shared = 0;
            for (int i = 2; i <= word.length(); i++) {
                if (name.contains(word.substring(i - 2, i))) shared++;
            }
            if (shared > most) nearest = name;
            most = Math.max(most, shared);
        }
        return nearest;
    }

    static int help() {
        String list = "";
        for (Experiment e : EXPERIMENTS) {
            list += String.format("  %-12s  %s\n", e.name, e.question);
        }
        return print(HELP + list);
    }
}
