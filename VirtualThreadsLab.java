//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.newFixedThreadPool;
import static java.util.concurrent.Executors.newThreadPerTaskExecutor;
import static java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.math.BigDecimal;
import java.math.MathContext;
import java.net.*;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import jdk.jfr.consumer.RecordingStream;

/**
 * The same work on platform threads and on virtual threads: every answer checked, one table of
 * medians. Run it with: java VirtualThreadsLab.java
 * The experiments come first, each to be read by itself; what measures and reports comes below.
 */
class VirtualThreadsLab {

    public static void main(String[] args) {
        switch (understand(args)) {
            case String fault when !fault.isEmpty() -> { // Java 21 or newer: see README.md
                System.err.println("VirtualThreadsLab: " + fault);
                System.exit(2);
            }
            default -> System.exit(run());
        }
    }

    static final List<Experiment> EXPERIMENTS = List.of(
        new Experiment("start-time", 13, VirtualThreadsLab::startTime,
            "start n threads until each has run: platform threads, or virtual"),
        new Experiment("sleep-wave", 33, VirtualThreadsLab::sleepWave,
            "10,000 tasks wait 100 ms each: a pool of 200, or a virtual thread a task"),
        new Experiment("cpu-primes", 5, VirtualThreadsLab::cpuPrimes,
            "count primes, nothing waits: a thread a processor, or a virtual thread a task"),
        new Experiment("pinning", 14, VirtualThreadsLab::pinning,
            "wait in a lock, a monitor, an initializer: a platform or virtual thread a task"),
        new Experiment("thread-count", 3, VirtualThreadsLab::threadCount,
            "live threads while 1,000 tasks wait: platform threads, or virtual"),
        // The encores, which run only when they are named.
        new Experiment("println", 4, VirtualThreadsLab::println,
            "one thread prints 1,000 lines to a file: a platform thread, or a virtual one"),
        new Experiment("http", 15, VirtualThreadsLab::http,
            "1,000 HTTP calls wait 50 ms each: a server's pool of 50, or virtual threads"),
        new Experiment("mixed", 8, VirtualThreadsLab::mixed,
            "100 tasks compute, then call a server: a platform or virtual thread a task"),
        new Experiment("capacity", 7, VirtualThreadsLab::capacity,
            "20 of 1,000 tasks fit at once: a pool of 20, or virtual threads and a semaphore"),
        new Experiment("thread-local", 2, VirtualThreadsLab::threadLocal,
            "objects cached for 10,000 tasks: a pool of 200, or a virtual thread a task"),
        new Experiment("million", 14, VirtualThreadsLab::million,
            "start a million threads and park them all: virtual threads only"));

    // -------------------------------------------------------------------- the five experiments

    /**
     * start-time. How long does it take to start n threads, until each of them has run?
     * Fair: both sides run this one loop; only the builder differs. At most 1,000 threads are
     * started and have not yet run, so that no system runs out of threads.
     * Predict: the operating system makes a platform thread, in tens of microseconds; a virtual
     * thread is an object put into a queue, in about one.
     * Try: sizes = {1, 10, 100}. From how many threads on does the gap cost a millisecond?
     */
    static void startTime() throws Exception {
        int[] sizes = {100, size(1_000, 300), size(10_000, 1_000)};
        Row row = null;
        for (int threads : sizes) {
            row = time(number(threads) + " threads", UNKNOWN, threads,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
        }
        double each = 1_000.0 / sizes[2];
        say("one of " + number(sizes[2]) + " threads started and ran in "
            + number(row.platform.median() * each) + " µs as a platform thread, in "
            + number(row.virtual.median() * each) + " µs as a virtual one: " + verdict(row));
    }

    static int startAll(Thread.Builder builder, int threads) throws InterruptedException {
        var mark = new boolean[threads];
        var notYetRun = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            int id = i;
            while (i - (threads - notYetRun.getCount()) >= 1_000) Thread.yield();
            builder.start(() -> {
                mark[id] = true;
                notYetRun.countDown();
            });
        }
        notYetRun.await();
        int ran = 0;
        for (boolean marked : mark) if (marked) ran++;
        return ran;
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
        int waitMs = size(100, 50);
        int pool = 200;
        Task wait = id -> {
            Thread.sleep(waitMs);
            return id;
        };
        long sum = tasks * (tasks - 1L) / 2;

        Row row = time(number(tasks) + " × " + number(waitMs) + " ms",
            Math.ceilDiv(tasks, pool), sum,
            () -> sum(newFixedThreadPool(pool), tasks, wait),
            () -> sum(newVirtualThreadPerTaskExecutor(), tasks, wait));

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
     * Predict: 1×. A virtual thread computes on a carrier, which is a platform thread, and each
     * processor has one. With fewer carriers than processors: less.
     * Try: newFixedThreadPool(16 * PROCESSORS). More threads than processors: any faster?
     */
    static void cpuPrimes() throws Exception {
        int tasks = 4 * PROCESSORS;
        int limit = size(1_000_000, 300_000);
        int primes = size(78_498, 25_997);
        Task count = id -> {
            check("primes to " + number(limit), primes, countPrimes(limit));
            return 1;
        };

        Row row = time(number(tasks) + " × " + number(primes) + " primes",
            Math.min(1, (double) CARRIERS / PROCESSORS), tasks,
            () -> sum(newFixedThreadPool(PROCESSORS), tasks, count),
            () -> sum(newVirtualThreadPerTaskExecutor(), tasks, count));

        say(tasks + " tasks that only compute, " + PROCESSORS + " processors, " + CARRIERS
            + " carriers: " + verdict(row));
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
     * of a carrier wait one after the other: 0.1×; from JDK 24 on it does not (JEP 491): 1×. A
     * class initializer has a native frame below it and pins on every JDK: 0.1×.
     * Try: synchronized (monitors[0]). Now both sides crawl, and the ratio shows no pinning.
     */
    static void pinning() throws Exception {
        int perCarrier = Math.clamp(1_000 / CARRIERS, 1, 10);
        int tasks = perCarrier * CARRIERS;
        int waitMs = size(50, 10);
        var monitors = new Object[tasks];
        Arrays.setAll(monitors, id -> new Object());
        initializerMs = waitMs;
        byte[] bytes = Initializer.class
            .getResourceAsStream(Initializer.class.getName() + ".class").readAllBytes();

        Task lock = id -> {
            var own = new ReentrantLock();
            own.lock();
            try {
                Thread.sleep(waitMs);
            } finally {
                own.unlock();
            }
            return 1;
        };
        Task monitor = id -> {
            synchronized (monitors[id]) {
                Thread.sleep(waitMs);
            }
            return 1;
        };
        Task initializer = id -> {
            MethodHandles.lookup().defineHiddenClass(bytes, true); // a fresh class, initialized
            return 1;
        };

        double pinned = 1.0 / perCarrier;
        say("of its " + perCarrier + " tasks a carrier kept waiting at once "
            + pin("ReentrantLock", 1, tasks, waitMs, lock) + ", "
            + pin("synchronized", JDK < 24 ? pinned : 1, tasks, waitMs, monitor) + ", "
            + pin("class init", pinned, tasks, waitMs, initializer));
    }

    /** Adds a row; tells how many tasks a carrier kept waiting, and what JFR saw of it. */
    static String pin(String holding, double predicted, int tasks, int waitMs, Task task)
            throws Exception {
        Gauge virtual = () -> sum(newVirtualThreadPerTaskExecutor(), tasks, task);
        Row row = time(tasks + " in " + holding, predicted, tasks,
            () -> sum(newThreadPerTaskExecutor(Thread::new), tasks, task), virtual);
        double kept = tasks * waitMs / row.virtual.median() / CARRIERS;
        return number(Math.round(kept * 10) / 10.0) + " in " + holding + " ("
            + pinnedEvents(waitMs / 2, virtual) + ")";
    }

    static int initializerMs;

    /** Every task loads these bytes anew, and so runs the initializer. */
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
        Gauge peak = () -> threads().getPeakThreadCount();
        Gauge virtual = () -> gate(newVirtualThreadPerTaskExecutor(), tasks, tasks, peak);
        virtual.read(); // starts the carriers, so that they are among b
        double b = settledThreads();

        Row pooled = measure(number(tasks) + ", pool of " + pool, "threads", (b + pool) / b,
            () -> gate(newFixedThreadPool(pool), tasks, pool, peak), virtual);
        Row perTask = measure(number(tasks) + ", thread each", "threads", (b + tasks) / b,
            () -> gate(newThreadPerTaskExecutor(Thread::new), tasks, tasks, peak), virtual);

        String dump;
        try {
            dump = "a thread dump at that moment lists " + number(gate(
                newVirtualThreadPerTaskExecutor(), tasks, tasks,
                () -> virtualThreadsInDump())) + " virtual threads";
        } catch (Exception | LinkageError e) {
            dump = "no thread dump: " + why(e);
        }
        say("ThreadMXBean saw " + number(perTask.platform.median())
            + " threads with a platform thread per task, " + number(pooled.platform.median())
            + " with the pool, " + number(perTask.virtual.median()) + " with virtual threads; "
            + dump);
    }

    /** Lets the tasks wait at a gate, reads the gauge once it is full, and opens the gate. */
    static double gate(ExecutorService executor, int tasks, int room, Gauge whenFull)
            throws Exception {
        settledThreads();
        threads().resetPeakThreadCount();
        var waiting = new CountDownLatch(room);
        var open = new CountDownLatch(1);
        var passed = new AtomicInteger();
        double reading;
        try (executor) {
            try {
                for (int i = 0; i < tasks; i++) {
                    executor.submit(() -> {
                        waiting.countDown();
                        open.await();
                        return passed.incrementAndGet();
                    });
                }
                waiting.await();
                reading = whenFull.read();
            } finally {
                open.countDown();
            }
        }
        check("tasks through the gate", tasks, passed.get());
        return reading;
    }

    /** Waits until the threads of earlier work have died; returns how many are live then. */
    static int settledThreads() throws InterruptedException {
        int before;
        int now = threads().getThreadCount();
        do {
            before = now;
            Thread.sleep(10);
            now = threads().getThreadCount();
        } while (now != before);
        return now;
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
            try (var out = new PrintStream(Files.newOutputStream(file))) {
                for (int i = 0; i < lines; i++) out.println("line " + i);
            }
            return Files.readAllLines(file).size();
        };
        try {
            say("one task alone: " + verdict(time(number(lines) + " lines", 1, lines,
                () -> sum(newThreadPerTaskExecutor(Thread::new), 1, print),
                () -> sum(newVirtualThreadPerTaskExecutor(), 1, print))));
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /**
     * http. What does a server gain from a virtual thread per call, if its handler waits?
     * Fair: the same calls from one client to two servers that differ only in their executor.
     * Half of the calls are in flight at once; the warm-up opens the connections.
     * Predict: a pool of 50 answers 1,000 calls in 20 waves of 50 ms. Virtual threads with 500
     * calls in flight need 2 waves: 10×, and by Little's law as much in latency.
     * Try: pool = 500. Is it the threads that are better, or their number?
     */
    static void http() throws Exception {
        int calls = size(1_000, 400);
        int waitMs = 50;
        int pool = 50;
        double waves = calls / 2.0 / pool;
        try (var client = HttpClient.newHttpClient();
                var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            var ms = new double[calls];
            Row row = time(number(calls) + " × " + waitMs + " ms", waves, calls,
                () -> pooled.call(client, ms), () -> virtual.call(client, ms));
            measure("median latency", "ms", waves,
                () -> pooled.call(client, ms) == calls ? part(ms, 0.5) : UNKNOWN,
                () -> virtual.call(client, ms) == calls ? part(ms, 0.5) : UNKNOWN);
            double work = (double) calls * waitMs;
            say("the server kept " + number(work / row.platform.median()) + " calls waiting on "
                + "its pool of " + pool + ", " + number(work / row.virtual.median())
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
        int n = size(32, 27);
        int value = size(2_178_309, 196_418);
        try (var client = HttpClient.newHttpClient();
                var server = new Server(newFixedThreadPool(tasks), waitMs)) {
            Task task = id -> {
                check("fibonacci", value, fibonacci(n));
                return server.call(client);
            };
            Gauge platform = () -> sum(newThreadPerTaskExecutor(Thread::new), tasks, task);
            Gauge virtual = () -> sum(newVirtualThreadPerTaskExecutor(), tasks, task);
            Row row = time(tasks + " tasks", 1, tasks, platform, virtual);
            Row peak = measure("calls at once", "calls", UNKNOWN,
                () -> peak(server, platform), () -> peak(server, virtual));
            say("of " + tasks + " calls the server saw " + number(peak.platform.median())
                + " at once from platform threads, " + number(peak.virtual.median())
                + " from virtual threads; in time " + verdict(row));
        }
    }

    static int peak(Server server, Gauge calls) throws Exception {
        server.handlers.most.set(0);
        calls.read();
        return server.handlers.most.get();
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
        Row row = time(number(tasks) + " × " + holdMs + " ms, by 20", 1, tasks,
            () -> sum(newFixedThreadPool(limit), tasks, id -> pooled.visit(holdMs, limit)),
            () -> sum(newVirtualThreadPerTaskExecutor(), tasks, id -> {
                permits.acquire();
                try {
                    return permitted.visit(holdMs, limit);
                } finally {
                    permits.release();
                }
            }));
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
        Row row = measure(number(tasks) + " tasks", "made", (double) pool / tasks,
            () -> cached(newFixedThreadPool(pool), tasks),
            () -> cached(newVirtualThreadPerTaskExecutor(), tasks));
        double mb = CACHED_BYTES / 1e6;
        say("the cache made " + number(row.platform.median() * mb) + " MB of buffers for the "
            + "pool, " + number(row.virtual.median() * mb) + " MB for virtual threads");
    }

    static final int CACHED_BYTES = 8_192;

    static int cached(ExecutorService executor, int tasks) throws Exception {
        var made = new AtomicInteger();
        var cache = ThreadLocal.withInitial(() -> {
            made.incrementAndGet();
            return new byte[CACHED_BYTES];
        });
        check("bytes lent", (long) tasks * CACHED_BYTES,
            sum(executor, tasks, id -> cache.get().length));
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
        for (int threads : new int[] {10_000, 100_000, size(1_000_000, 200_000)}) {
            Row row = measure(number(threads) + " parked", "ms", UNKNOWN, () -> {
                throw new UnsupportedOperationException("not tried, its stacks alone ask for "
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
            System.gc();
            bytes[0] = (double) (jvm.totalMemory() - jvm.freeMemory() - used) / threads;
        } finally {
            gate.release(threads);
        }
        alive.await();
        return elapsed;
    }

    // ---------------------------------------------------------- what the experiments share

    interface Task { long run(int id) throws Exception; }

    interface Gauge { double read() throws Exception; }

    interface Body { void run() throws Exception; }

    static final double UNKNOWN = Double.NaN;
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    /** The platform threads that run virtual ones: see the javadoc of Thread. */
    static final int CARRIERS = Math.min(
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));

    static int size(int full, int small) { return quick ? small : full; }

    /** Runs tasks 0 to n - 1, waits for all of them and returns the sum of their results. */
    static long sum(ExecutorService executor, int n, Task task) throws Exception {
        List<Callable<Long>> tasks = new ArrayList<>(n);
        for (int i = 0; i < n; i++) {
            int id = i;
            tasks.add(() -> task.run(id));
        }
        long sum = 0;
        try (executor) {
            for (Future<Long> done : executor.invokeAll(tasks)) sum += done.get();
        }
        return sum;
    }

    static void check(String what, double expected, double actual) {
        if (actual != expected) {
            throw new IllegalStateException("wrong answer, " + what + ": " + number(actual)
                + " instead of " + number(expected));
        }
    }

    static ThreadMXBean threads() { return ManagementFactory.getThreadMXBean(); }

    /** A file for one experiment at a time, which deletes it. */
    static Path scratch() {
        return Path.of(System.getProperty("java.io.tmpdir"),
            "VirtualThreadsLab-" + ProcessHandle.current().pid() + ".txt").toAbsolutePath();
    }

    /** Does the work under Flight Recorder and tells how many waits kept their carrier. */
    static String pinnedEvents(int thresholdMs, Gauge work) throws Exception {
        var events = new AtomicInteger();
        var reasons = new ConcurrentSkipListSet<String>();
        try (var recording = new RecordingStream()) {
            recording.enable("jdk.VirtualThreadPinned")
                .withThreshold(Duration.ofMillis(thresholdMs));
            recording.onEvent("jdk.VirtualThreadPinned", event -> {
                events.incrementAndGet();
                if (event.hasField("pinnedReason")) { // from JDK 24 on
                    reasons.add(event.getString("pinnedReason").replaceAll("/0x\\w+", ""));
                }
            });
            recording.startAsync();
            work.read();
            recording.stop();
        } catch (RuntimeException | LinkageError e) {
            return "no Flight Recorder here: " + why(e);
        }
        return events + " pinned events" + (reasons.isEmpty() ? "" : ": " + reasons);
    }

    /** Counts the virtual threads in a thread dump; ThreadMXBean does not know them. */
    static int virtualThreadsInDump() throws IOException {
        Path file = scratch();
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(file.toString(), ThreadDumpFormat.TEXT_PLAIN);
            int virtual = 0;
            for (String line : Files.readAllLines(file)) {
                if (line.matches("#\\d+ \".*\" virtual.*")) virtual++;
            }
            return virtual;
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** Something that takes a limited number of visitors at once, and counts them. */
    static class Place {
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();

        int visit(int ms, int limit) throws InterruptedException {
            int now = inside.incrementAndGet();
            most.accumulateAndGet(now, Math::max);
            try {
                Thread.sleep(ms);
            } finally {
                inside.decrementAndGet();
            }
            check("inside at once, above " + limit, 0, Math.max(0, now - limit));
            return 1;
        }
    }

    /** A server on loopback whose handler waits and says "ok". */
    static class Server implements AutoCloseable {
        final Place handlers = new Place();
        final ExecutorService executor;
        final HttpServer server;
        final HttpRequest request;

        Server(ExecutorService executor, int waitMs) throws IOException {
            // Otherwise some answers wait 40 ms for an acknowledgement, and 200 connections
            // stay open at most.
            System.setProperty("sun.net.httpserver.nodelay", "true");
            System.setProperty("sun.net.httpserver.maxIdleConnections", "1000");
            this.executor = executor;
            var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            server = HttpServer.create(address, 1_000);
            server.createContext("/", exchange -> {
                try (exchange) {
                    handlers.visit(waitMs, Integer.MAX_VALUE);
                    exchange.sendResponseHeaders(200, 2);
                    exchange.getResponseBody().write(new byte[] {'o', 'k'});
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            server.setExecutor(executor);
            server.start();
            request = HttpRequest.newBuilder(URI.create("http://"
                + address.getAddress().getHostAddress() + ":" + server.getAddress().getPort()))
                .timeout(Duration.ofSeconds(10)).build();
        }

        int call(HttpClient client) throws Exception {
            var reply = client.send(request, BodyHandlers.ofString());
            if (reply.statusCode() == 200 && reply.body().equals("ok")) return 1;
            throw new IllegalStateException("wrong answer, " + reply + ": " + reply.body());
        }

        /** Makes a call for each place in ms, half of them at once, and times them there. */
        long call(HttpClient client, double[] ms) throws Exception {
            var permits = new Semaphore(ms.length / 2);
            return sum(newVirtualThreadPerTaskExecutor(), ms.length, id -> {
                permits.acquire();
                try {
                    long start = System.nanoTime();
                    int answers = call(client);
                    ms[id] = (System.nanoTime() - start) / 1e6;
                    return answers;
                } finally {
                    permits.release();
                }
            });
        }

        @Override
        public void close() {
            server.stop(0);
            executor.close();
        }
    }

    // -------------------------------------------------------------------------- measuring

    static final int PATIENCE_S = 120;
    static boolean warmingUp;

    record Experiment(String name, int seconds, Body body, String question) { }

    /** A line of the table. A ratio above 1 says that virtual threads do better. */
    record Row(String experiment, String work, String unit, double predicted,
            Side platform, Side virtual) {

        double ratio() {
            return platform.median() / virtual.median();
        }

        List<Side> sides() {
            return List.of(platform, virtual);
        }

        boolean noisy() {
            return platform.noisy() || virtual.noisy();
        }
    }

    /** One side of a row: its samples, or why there are none. */
    static class Side {
        final String name;
        final double[] samples = new double[runs];
        double discarded;
        String missing;
        boolean failed;

        Side(String name) {
            this.name = name;
        }

        void miss(String why) {
            missing = why;
            failed = true;
        }

        /** Keeps five digits, so that the table can be recomputed from what is printed. */
        void sample(int run, Gauge gauge) throws InterruptedException {
            if (missing != null) return;
            System.gc();
            threads().resetPeakThreadCount();
            try {
                double value = round(gauge.read(), 5);
                if (run == 0) discarded = value; else samples[run - 1] = value;
            } catch (InterruptedException e) {
                throw e;
            } catch (UnsupportedOperationException e) { // there is no such side
                missing = e.getMessage();
            } catch (Exception | Error e) {
                miss(why(e));
            }
        }

        double median() {
            return missing == null ? part(samples, 0.5) : UNKNOWN;
        }

        double least() {
            return part(samples, 0);
        }

        double most() {
            return part(samples, 1);
        }

        boolean noisy() {
            return missing == null && most() - least() > 0.3 * median();
        }
    }

    /** The value above that share of the others: 0 is the least, 0.5 the median, 1 the most. */
    static double part(double[] values, double share) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double place = share * (sorted.length - 1);
        return (sorted[(int) Math.floor(place)] + sorted[(int) Math.ceil(place)]) / 2;
    }

    /** Adds a row of milliseconds. What a side reads must be the answer, every time. */
    static Row time(String work, double predicted, double answer, Gauge platform, Gauge virtual)
            throws InterruptedException {
        return measure(work, "ms", predicted,
            () -> filled(answer, platform), () -> filled(answer, virtual));
    }

    /**
     * A sample is the mean of as many repetitions as fill 200 ms: one shot of something short
     * measures the mood of the scheduler. The warm-up goes on longer, and tells its first shot.
     */
    static double filled(double answer, Gauge side) throws Exception {
        long fill = size(200, 25) * 1_000_000L * (warmingUp ? 3 : 1);
        long start = System.nanoTime();
        long first = 0;
        long elapsed = 0;
        int repetitions = 0;
        while (elapsed < fill) {
            check("all that was done", answer, side.read());
            elapsed = System.nanoTime() - start;
            if (repetitions++ == 0) first = elapsed;
        }
        return (warmingUp ? first : elapsed / repetitions) / 1e6;
    }

    /** Adds a row: a discarded first run, then the samples; the sides in turn go first. */
    static Row measure(String work, String unit, double predicted, Gauge platform,
            Gauge virtual) throws InterruptedException {
        var row = new Row(current.name, work, unit, predicted, new Side("platform"),
            new Side("virtual"));
        currentWork = work;
        for (int run = 0; run <= runs; run++) {
            warmingUp = run == 0;
            progress(run == 0 ? "warm-up" : "run " + run + " of " + runs);
            if (run % 2 == 0) row.platform.sample(run, platform);
            row.virtual.sample(run, virtual);
            if (run % 2 == 1) row.platform.sample(run, platform);
        }
        progress("done");
        keep(row);
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

    /** Calls a side faster only where the samples of the two do not overlap. */
    static String verdict(Row row) {
        if (runs == 1) return "one run a side cannot tell which is faster";
        if (row.virtual.most() < row.platform.least()) {
            return "virtual threads were " + number(row.ratio()) + "× faster";
        }
        if (row.platform.most() < row.virtual.least()) {
            return "platform threads were " + number(1 / row.ratio()) + "× faster";
        }
        return "this run shows no difference";
    }

    // ---------------------------------------------------------------- running the experiments

    static boolean help;
    static boolean quick;
    static boolean everySample;
    static boolean predict;
    static int runs;
    static String[] words;
    static List<Experiment> chosen;

    static final long START = System.nanoTime();
    static Scanner input;
    static Experiment current;
    static String currentWork;
    static boolean asking;
    static long began;
    static volatile long lastSign;
    static volatile Thread worker;
    // What an interrupt may print at any moment; the methods that use it are synchronized.
    static final List<Row> rows = new ArrayList<>();
    static final Map<String, String> findings = new LinkedHashMap<>();
    static final Map<String, String> guesses = new HashMap<>();
    static boolean printed;
    static List<String> setting;

    /** Runs what was chosen and prints the report; returns the exit code. */
    static int run() {
        if (help) return print(help());
        setting = setting(); // first of all, while there are files and threads to be had
        Runtime.getRuntime().addShutdownHook(new Thread(() -> report(true)));
        keepHeapSize();
        input = new Scanner(System.in);
        asking = predict;
        for (Experiment experiment : chosen) {
            current = experiment;
            currentWork = "";
            if (asking) ask();
            conduct();
        }
        int code = report(false);
        for (Row row : rows) if (row.platform.failed || row.virtual.failed) code = 1;
        return code;
    }

    /** A heap that shrinks at every collection has to grow within the samples, unevenly. */
    static void keepHeapSize() {
        try {
            var jvm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            jvm.setVMOption("MaxHeapFreeRatio", "100");
            jvm.setVMOption("MinHeapFreeRatio", "100");
        } catch (RuntimeException | LinkageError e) {
            // Another JVM, or one without this module: the samples are noisier, and say so.
        }
    }

    /** Runs an experiment in a thread of its own, so that one that hangs can be given up. */
    static void conduct() {
        Experiment mine = current;
        began = System.nanoTime();
        worker = Thread.ofPlatform().daemon().unstarted(() -> {
            try {
                if (Thread.ofVirtual().unstarted(() -> { }).getClass().getName()
                        .contains("Bound")) {
                    throw new IllegalStateException("nothing to compare, in this JVM a virtual "
                        + "thread is bound to a platform thread");
                }
                mine.body.run();
            } catch (Throwable e) {
                if (Thread.currentThread() == worker) lose(why(e));
            }
        });
        progress("");
        try {
            worker.start();
            while (!worker.join(Duration.ofMillis(100))) {
                if (System.nanoTime() - lastSign > PATIENCE_S * 1e9) {
                    worker.interrupt();
                    worker = null; // whatever it still does is not kept
                    lose("given up, no end after " + PATIENCE_S + " s");
                    break;
                }
            }
        } catch (InterruptedException | OutOfMemoryError e) {
            lose(why(e));
        }
        System.err.println();
    }

    static synchronized void keep(Row row) {
        if (Thread.currentThread() != worker) throw new CancellationException();
        rows.add(row);
    }

    static synchronized void lose(String why) {
        var row = new Row(current.name, currentWork, "", UNKNOWN, new Side("platform"),
            new Side("virtual"));
        for (Side side : row.sides()) side.miss(why);
        rows.add(row);
        findings.put(current.name, "not measured, " + why + ".");
    }

    /** Adds the experiment's sentence, and which of its numbers are noisy or a surprise. */
    static synchronized void say(String sentence) {
        var doubts = new StringBuilder();
        for (Row row : rows) {
            if (!row.experiment.equals(current.name)) continue;
            if (row.platform.failed || row.virtual.failed) sentence = "a side is missing";
            for (Side side : row.sides()) {
                if (side.noisy()) {
                    doubts.append(" Noisy: " + row.work + ", " + side.name + " "
                        + number(side.least()) + " to " + number(side.most()) + " " + row.unit
                        + ".");
                }
            }
            if (runs == 1 || Double.isNaN(row.ratio())) continue;
            double off = (verdict(row).contains("faster") ? row.ratio() : 1) / row.predicted;
            if (off > 1.5 || off < 1 / 1.5) {
                doubts.append(" A surprise: " + row.work + ", " + number(row.predicted)
                    + "× was predicted.");
            }
        }
        findings.put(current.name, sentence + "." + doubts);
    }

    static void progress(String step) {
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
        for (int attempt = 1; attempt <= 2 && asking; attempt++) {
            String answer = input.hasNextLine() ? input.nextLine().strip() : null;
            asking = answer != null;
            if (!asking || answer.isEmpty()) return;
            if (answer.matches("\\d{1,5}([.,]\\d{1,5})?[x×]?")) {
                answer = answer.replaceAll("[x×]", "").replace(',', '.');
                guesses.put(current.name, times(Double.parseDouble(answer)));
                return;
            }
            System.err.print(attempt == 1 ? "Not a ratio. Once more: " : "Skipped.\n");
        }
    }

    // ------------------------------------------------------------------------- the report

    /** Prints the report, once; returns 1 where standard output does not take it, else 0. */
    static synchronized int report(boolean partial) {
        if (printed) return 0;
        printed = true;
        var out = new StringBuilder("# VirtualThreadsLab\n\n");
        if (partial) out.append("**Partial:** interrupted, these are the finished rows.\n\n");
        for (String line : setting) out.append(wrap("- " + line));
        out.append('\n').append(table());
        String notes = notes();
        if (!notes.isEmpty()) out.append('\n').append(notes);
        out.append("\n## What the numbers say\n\n");
        findings.forEach((name, text) -> out.append(wrap("- " + name + ": " + text)));
        out.append("\n## At a glance\n\n```\n");
        for (Row row : rows) out.append(bars(row));
        out.append("```\n");
        if (everySample) {
            out.append("\n## Samples\n\nThe discarded first run stands in brackets.\n\n```\n");
            for (Row row : rows) out.append(samples(row));
            out.append("```\n");
        }
        return print(out.toString());
    }

    static int print(String text) {
        System.out.print(plain(text, System.out.charset()));
        if (!System.out.checkError()) return 0;
        System.err.println("VirtualThreadsLab: standard output did not take the report");
        return 1;
    }

    static List<String> setting() {
        var command = new StringJoiner(" ", "`java ", "`");
        for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (!flag.equals("--add-modules=ALL-DEFAULT")) command.add(flag); // the launcher's
        }
        Object source = VirtualThreadsLab.class.getProtectionDomain().getCodeSource();
        command.add(String.valueOf(source).contains(".java") ? "VirtualThreadsLab.java"
            : "VirtualThreadsLab");
        for (String word : words) command.add(word);
        return List.of(
            "Java " + Runtime.version() + ", " + System.getProperty("java.vendor") + ", "
                + System.getProperty("java.vm.name"),
            System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                + System.getProperty("os.arch") + ", " + PROCESSORS + " processors, " + CARRIERS
                + " carriers, heap up to " + number(Runtime.getRuntime().maxMemory() >> 20)
                + " MB",
            OffsetDateTime.now().truncatedTo(ChronoUnit.MINUTES) + ", " + runs + " runs, "
                + command);
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
        return out.toString();
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
        var out = new StringBuilder(row.experiment + ", " + row.work + ", " + row.unit + "\n");
        for (Side side : row.sides()) {
            if (side.missing != null) continue;
            var line = new StringJoiner(" ").add("  " + side.name);
            line.add("(" + exact(side.discarded) + ")");
            for (double sample : side.samples) line.add(exact(sample));
            out.append(wrap(line.toString()));
        }
        return out.toString();
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

    /** Three significant digits below 1,000, whole from there on: 0.11, 39.2, 5,131. */
    static String number(double value) {
        if (Double.isNaN(value)) return "—";
        if (value >= 999.5) return String.format(Locale.ROOT, "%,.0f", value);
        return exact(round(value, 3));
    }

    static double round(double value, int digits) {
        return new BigDecimal(value).round(new MathContext(digits)).doubleValue();
    }

    static String exact(double value) {
        return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
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

    /** Takes in the words; returns what is wrong with them, in one line, or nothing. */
    static String understand(String[] args) {
        words = args;
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
                    if (named == null) return unknown(args[i]);
                    wanted.add(named);
                }
            }
        }
        if (runs == 0) runs = size(5, 3);
        chosen = List.copyOf(wanted.isEmpty() ? EXPERIMENTS.subList(0, 5) : wanted);
        return "";
    }

    /** Suggests the name that shares most pairs of letters with the word. */
    static String unknown(String word) {
        List<String> names = new ArrayList<>();
        for (String name : "--quick --runs --samples --predict all".split(" ")) names.add(name);
        for (Experiment e : EXPERIMENTS) names.add(e.name);
        String nearest = "--help";
        long most = 0;
        for (String name : names) {
            long shared = 0;
            for (int i = 2; i <= word.length(); i++) {
                if (name.contains(word.substring(i - 2, i))) shared++;
            }
            if (shared > most) nearest = name;
            most = Math.max(most, shared);
        }
        return "there is no " + word.replaceAll("\\s", " ") + "; did you mean " + nearest + "?";
    }

    static String help() {
        var out = new StringBuilder("""
            java VirtualThreadsLab.java [--quick] [--runs N] [--samples] [--predict] [name ...]

            Puts the same work to platform threads and to virtual threads, checks every answer
            and prints a table of medians. Experiments run in the order in which they are named:
            without a name the first five, with "all" every one.

            """);
        for (Experiment e : EXPERIMENTS) {
            out.append(String.format("  %-12s  %s\n", e.name, e.question));
        }
        return out.append("""

              --quick       smaller sizes and 3 runs, in seconds instead of about a minute
              --runs N      samples a side after a discarded first run, 1 to 100; otherwise 5
              --samples     print every sample
              --predict     be asked for a ratio before each experiment, and see it in the table

            The report goes to standard output, progress to standard error. Exit code 0: every
            row was measured; 1: a row is missing or wrong; 2: a word was not understood.
            """).toString();
    }
}
