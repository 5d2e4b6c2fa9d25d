//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.management.*;
import java.math.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.stream.*;
import javax.management.*;

/**
 * Gives the same work to platform threads and to virtual threads, checks every answer and
 * prints one table of medians. It needs JDK 21 or newer and nothing else:
 *
 *     java VirtualThreadsLab.java
 *
 * platform thread   a thread of the operating system, such as new Thread(task).start() starts
 * virtual thread    a thread of the JVM; it leaves its carrier while it waits, unless pinned
 * carrier           a platform thread that runs virtual ones; by default one per processor,
 *                   but where some waits keep one, the scheduler adds others, up to 256
 * pinned            unable to leave its carrier, so that the carrier has to wait with it
 * ratio             platform ÷ virtual; above 1×, virtual threads need less
 *
 * The experiments are written in these words, which class Lab explains:
 * Job, Gauge                code to run; code to run that returns a number
 * size(full, quick)         the first number, or the second with --quick
 * runAll(executor, n, job)  runs the job n times, waits for the end, ends the executor
 * check(what, ...)          a wrong answer fails that side of the row
 * time(...), measure(...)   adds a row: work, unit (time: ms), predicted ratio, both sides
 * waiting(what, ms, ...)    adds a row; says whether tasks that wait so keep their carriers
 * say(...)                  adds a sentence to the report
 *
 * All rows of a report share one start of the JVM. Two starts may differ by more than the
 * samples of one do, so run the lab more than once before you quote it.
 */
class VirtualThreadsLab extends Lab { // for the names of Lab: a file cannot import itself
    static final List<Experiment> LIST = List.of(
        new Experiment("start-time", VirtualThreadsLab::startTime, "start and run threads"),
        new Experiment("sleep-wave", VirtualThreadsLab::sleepWave,
            "tasks wait: pool of 200, or virtual thread each"),
        new Experiment("cpu-primes", VirtualThreadsLab::cpuPrimes,
            "tasks compute: thread per processor, or virtual thread each"),
        new Experiment("pinning", VirtualThreadsLab::pinning,
            "tasks wait in a lock, a monitor, a class initializer"),
        new Experiment("thread-count", VirtualThreadsLab::threadCount,
            "live threads that ThreadMXBean sees while tasks wait"));

    public static void main(String[] args) {
        ENCORES.addAll(Encores.LIST); // the line to delete when you cut
        run(LIST, args);
    }

    /**
     * start-time. How long does it take to start n threads, until each of them has run?
     * Fair: both sides run the same loop; only the builder differs. At most 1,000 threads are
     * pending at a time, or some systems would run out of threads. All have run at the end.
     * Prediction: the operating system takes tens of microseconds or more for a thread. A
     * virtual thread is an object that is put into a queue, in about a microsecond or less.
     * Try: sizes = {1, 10, 100}. From how many threads on is the gap more than a millisecond?
     */
    static void startTime() throws Exception {
        int[] sizes = {100, size(1_000, 200), size(10_000, 500)};
        Row row = null;
        for (int threads : sizes) {
            row = time(text("%s threads", threads), UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
        }
        say("starting and running %s threads took %s µs per platform thread and %s µs per"
            + " virtual thread: %s", sizes[2], row.platform().median() * 1_000 / sizes[2],
            row.virtual().median() * 1_000 / sizes[2], row.compare("platform threads"));
    }

    static void startAll(Thread.Builder builder, int threads) throws Exception {
        int mostPending = 1_000; // started, but not yet run
        var notRun = new CountDownLatch(threads);
        for (int notStarted = threads; notStarted > 0; notStarted--) {
            while (notRun.getCount() - notStarted >= mostPending) Thread.yield();
            builder.start(notRun::countDown);
        }
        ended(notRun.await(PATIENCE, TimeUnit.SECONDS));
    }

    /**
     * sleep-wave. How long do 10,000 tasks take if each waits 100 ms and does nothing else?
     * Fair: the same tasks; only the executor differs. 200 threads is Tomcat's default pool.
     * Prediction: 200 threads need 50 waves of 100 ms for 10,000 tasks; virtual threads need
     * one, as all wait at once: 50×. Starting and waking threads adds to both sides.
     * Try: int pool = 1_000; How much of the ratio is left, and how many tasks wait at once?
     */
    static void sleepWave() throws Exception {
        int tasks = size(10_000, 1_000);
        int waitMs = size(100, 50);
        int pool = 200;
        double predicted = Math.ceilDiv(tasks, pool);
        Job wait = () -> Thread.sleep(waitMs);
        Row row = time(text("%s × %s ms", tasks, waitMs), predicted,
            () -> runAll(newFixedThreadPool(pool), tasks, wait),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));
        say("%s; at least %s tasks were waiting at once in the pool and %s on virtual threads"
            + " (Little's law: tasks × wait ÷ elapsed)",
            row.compare(text("the pool of %s", pool)),
            tasks * waitMs / row.platform().median(), tasks * waitMs / row.virtual().median());
    }

    /**
     * cpu-primes. Are tasks that only compute any faster on virtual threads?
     * Fair: the same tasks on one thread per processor, or on one virtual thread per task. Both
     * sides can use every processor, and nothing ever waits.
     * Prediction: 1×. A virtual thread computes on a carrier, which is a platform thread, and
     * there is one carrier per processor. Fewer carriers need more rounds: less than 1×.
     * Try: newFixedThreadPool(tasks). Do more threads than processors help?
     */
    static void cpuPrimes() throws Exception {
        int tasks = 4 * PROCESSORS;
        int limit = size(1_000_000, 400_000);
        int primes = size(78_498, 33_860);
        double predicted = Math.min(1, 4.0 / Math.ceilDiv(tasks, CARRIERS)); // rounds
        Job count = () -> check("primes", primes, countPrimes(limit));
        Row row = time(text("%s × %s primes", tasks, primes), predicted,
            () -> runAll(newFixedThreadPool(PROCESSORS), tasks, count),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, count));
        say("on %s and %s, %s", counted(PROCESSORS, "processor"), counted(CARRIERS, "carrier"),
            row.compare("platform threads"));
    }

    static int countPrimes(int limit) {
        int primes = 1; // 2, the only even one
        for (int n = 3; n <= limit; n += 2) {
            int factor = 3;
            while (factor * factor <= n && n % factor != 0) factor += 2;
            if (factor * factor > n) primes++;
        }
        return primes;
    }

    /**
     * pinning. Which waits keep a virtual thread on its carrier, so that the carrier waits too?
     * Fair: one thread per task on both sides, and one lock per task, so that none has to wait
     * for its lock. A single lock for all of them would measure contention.
     * Prediction: a ReentrantLock never pins: 1×. Up to JDK 23, parking inside synchronized
     * does, so k tasks per carrier (3 to 10) wait one after another: 1/k. From 24 on (JEP 491)
     * it does not: 1×. A class initializer is called by the VM; that pins on all so far: 1/k.
     * Try: synchronized (OWN) for synchronized (OWN.get()). What can still be told apart?
     */
    static void pinning() throws Exception {
        int waitMs = waitMs();
        double predictedMonitor = JDK < 24 ? 1.0 / perCarrier() : 1;
        double predictedInit = 1.0 / perCarrier();
        waiting("ReentrantLock", waitMs, 1, () -> {
            var own = new ReentrantLock();
            own.lock();
            try {
                Thread.sleep(waitMs);
            } finally {
                own.unlock();
            }
        });
        waiting("synchronized", waitMs, predictedMonitor, () -> {
            synchronized (OWN.get()) {
                Thread.sleep(waitMs);
            }
        });
        String file = "/" + Initializer.class.getName().replace('.', '/') + ".class";
        byte[] bytes = Initializer.class.getResourceAsStream(file).readAllBytes();
        waiting("class init", waitMs, predictedInit,
            () -> MethodHandles.lookup().defineHiddenClass(bytes, true));
    }

    static int waitMs() { return size(500, 150) / perCarrier(); }

    /** Every task defines this class anew, and so runs the initializer. */
    static class Initializer {
        static {
            long end = System.nanoTime() + waitMs() * 1_000_000L;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /**
     * thread-count. How many threads does ThreadMXBean see while 1,000 tasks wait?
     * Fair: the same tasks wait at the same gate. It opens when all that can start have come.
     * The bean counts platform threads: carriers, those of the JVM and, after pinning, those of
     * Flight Recorder and a timer. It counts neither those of the GC and the compilers nor any
     * virtual thread.
     * Prediction: where b threads were live before, a pool of 200 makes them b + 200, and one
     * platform thread per task b + 1,000. Virtual threads add none: the carriers are among b.
     * Try: int pool = 100; Which counts change?
     */
    static void threadCount() throws Exception {
        int tasks = size(1_000, 500);
        int pool = 200;
        var missing = new CountDownLatch(CARRIERS);
        long end = System.nanoTime() + 5_000_000_000L; // where the system refuses a carrier
        runAll(newVirtualThreadPerTaskExecutor(), CARRIERS, () -> {
            missing.countDown(); // each carrier runs one of these, so that all are live
            while (missing.getCount() > 0 && System.nanoTime() < end) Thread.onSpinWait();
        });
        double before = settledThreads();
        double predictedPool = (before + pool) / before;
        double predictedEach = (before + tasks) / before;
        question = text("%s tasks wait; %s threads were live before", tasks, before);
        Callable<Integer> count = ManagementFactory.getThreadMXBean()::getThreadCount;
        Gauge virtual = run -> atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, count);
        measure(text("%s, pool of %s", tasks, pool), "threads", predictedPool,
            run -> atGate(newFixedThreadPool(pool), tasks, pool, count), virtual);
        measure(text("%s, thread each", tasks), "threads", predictedEach,
            run -> atGate(newThreadPerTaskExecutor(Thread::new), tasks, tasks, count), virtual);
        say("while %s virtual threads waited, ThreadMXBean saw %s", tasks,
            atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, () -> text(
                "%s carriers, %s; %s", Evidence.carriers(),
                String.join(", ", Evidence.threads(false)), Evidence.dump())));
    }

    /** The last task that finds room asks the question; the others wait at the gate. */
    static <T> T atGate(ExecutorService executor, int tasks, int room, Callable<T> question)
            throws Exception {
        settledThreads();
        var coming = new AtomicInteger(room);
        var gate = new FutureTask<>(question);
        runAll(executor, tasks, () -> {
            if (coming.decrementAndGet() == 0) gate.run();
            gate.get();
        });
        return gate.get();
    }

    /** Waits until earlier threads have ended and the count is steady; returns the count. */
    static int settledThreads() throws InterruptedException {
        var threads = ManagementFactory.getThreadMXBean();
        int live = 0;
        for (int i = 0; i < 500 && live != threads.getThreadCount(); i++) {
            live = threads.getThreadCount();
            Thread.sleep(10);
        }
        return live;
    }
}

record Experiment(String name, Lab.Job body, String summary) { }

/**
 * The words that the experiments are written in, and how a row is measured. Read on in the
 * order that a sample takes: measure, read, sample, shots, Row, Report.
 */
class Lab {
    interface Job { void run() throws Exception; }
    interface Gauge { double read(int run) throws Exception; } // run 0 is the warm-up

    static final double UNKNOWN = Double.NaN;
    static final int PATIENCE = 120; // seconds: more than a slow machine takes for a job
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final int CARRIERS = Math.min( // see the javadoc of Thread
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));
    // A monitor of each thread's own. The compiler cannot prove that, and so keeps the lock.
    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);
    static final List<Experiment> ENCORES = new ArrayList<>(); // run when named, or with "all"

    static boolean quick, samples, predict;
    static int runs = 5;
    static Experiment current;
    static String question; // what --predict asks before a row
    private static boolean leftovers; // threads of a job that did not end

    /** Runs the experiments that are asked for, prints the report and ends the JVM. */
    static void run(List<Experiment> list, String[] args) {
        List<Experiment> all = Stream.concat(list.stream(), ENCORES.stream()).toList();
        List<String> words = new ArrayList<>(List.of(args));
        if (words.remove("--help") || words.remove("-h")) help(list);
        quick = words.remove("--quick");
        samples = words.remove("--samples");
        predict = words.remove("--predict");
        if (quick) runs = 4;
        int at = words.indexOf("--runs") + 1; // of the number
        if (at > 0 && at < words.size() && words.get(at).matches("[1-9]\\d?|100")) {
            runs = Integer.parseInt(words.remove(at));
            words.remove(at - 1);
        }
        List<String> typed = List.copyOf(words);
        boolean every = words.remove("all");
        if (words.isEmpty()) for (var one : every ? all : list) words.add(one.name());
        var chosen = all.stream()
            .filter(e -> words.removeIf(e.name()::equals) || every)
            .sorted(Comparator.comparing(e -> typed.indexOf(e.name()))).toList();
        if (!words.isEmpty()) refuse("not understood: " + String.join(" ", words));
        try {
            Class<?> kind = Thread.startVirtualThread(() -> { }).getClass();
            if (kind.getName().contains("Bound")) refuse("this JVM has no virtual threads");
        } catch (LinkageError e) { // its scheduler does not take the JVM's options
            refuse("this JVM cannot start virtual threads: " + Report.reason(e));
        }
        Report.begin(chosen);
        for (var experiment : chosen) {
            current = experiment;
            question = experiment.summary();
            attempt(experiment.name(), experiment.body());
        }
        Report.finish();
    }

    private static void refuse(String why) {
        System.err.println("VirtualThreadsLab: " + why.replaceAll("\\R", " ") + ", try --help");
        System.exit(2);
    }

    private static void help(List<Experiment> list) {
        String text = """
            java VirtualThreadsLab.java [option ...] [name ...]
              --quick     smaller sizes and 4 runs: ten seconds, not a minute, but noisier
              --runs N    N samples of each side, 1 to 100, instead of 5
              --samples   print every sample at the end of the report
              --predict   ask for your ratio before each row, and add it to the table
            Exit code 0: every row was measured; 1: one is missing or wrong, or the report
            could not be printed; 2: not understood. Without a name, these run:
            """;
        String line = "  %-12s  %s\n";
        for (var e : list) text += line.formatted(e.name(), e.summary());
        if (!ENCORES.isEmpty()) text += "With \"all\", these as well:\n";
        for (var e : ENCORES) text += line.formatted(e.name(), e.summary());
        Report.print(System.out, text);
        System.exit(System.out.checkError() ? 1 : 0);
    }

    static int size(int full, int quickly) { return quick ? quickly : full; }

    /** Adds a sentence to the report; %s writes a number as the table does. */
    static void say(String pattern, Object... values) {
        Report.sentences.add(current.name() + ": " + text(pattern, values));
    }

    static void check(String what, double expected, double actual) {
        if (actual != expected) throw new IllegalStateException(
            text("wrong answer: %s %s, not %s", actual, what, expected));
    }

    /** Runs the job n times and ends the executor; throws the first failure. */
    static void runAll(ExecutorService executor, int n, Job job) throws Exception {
        Callable<Void> task = () -> {
            job.run();
            return null;
        };
        try {
            List<Future<?>> tasks = new ArrayList<>();
            for (int i = 0; i < n; i++) tasks.add(executor.submit(task));
            long end = System.nanoTime() + PATIENCE * 1_000_000_000L;
            for (var done : tasks) done.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        } finally {
            end(executor);
        }
    }

    static void end(ExecutorService executor) throws InterruptedException {
        executor.shutdownNow();
        ended(executor.awaitTermination(10, TimeUnit.SECONDS));
    }

    /** Rows measured beside threads that are left over would be wrong: none follows. */
    static void ended(boolean ended) {
        leftovers |= !ended;
        if (ended) return;
        throw new IllegalStateException("its threads do not end, so the run ends here");
    }

    /** Runs the job. If it fails, the report says why, and all else goes on. */
    static boolean attempt(String what, Job job) {
        try {
            job.run();
            return true;
        } catch (Exception | Error e) {
            Report.failures.add(what + ": " + Report.reason(e));
            if (leftovers) Report.finish();
            return false;
        }
    }

    /** Adds a row of milliseconds. */
    static Row time(String work, double predicted, Job platform, Job virtual) {
        return measure(work, "ms", predicted,
            run -> sample(platform, run), run -> sample(virtual, run));
    }

    /**
     * Adds a row: the warm-up and then the samples, the sides strictly alternating. A side
     * that fails has no samples, and the report says why. No collection is forced here: G1
     * would give memory back, and the next samples would pay for touching it anew.
     */
    static Row measure(String work, String unit, double predicted, Gauge platform,
            Gauge virtual) {
        String name = current.name() + " " + work;
        String guess = platform == null ? "—" : Report.guess(name + ": " + question);
        Row row = new Row(current.name(), work, unit, predicted, guess,
            new Side(new ArrayList<>()), new Side(new ArrayList<>()));
        for (int run = 0; run <= runs; run++) {
            Report.progress(work, run);
            if (platform != null) read(row.platform(), platform, run, name + ", platform");
            read(row.virtual(), virtual, run, name + ", virtual");
        }
        Report.add(row);
        return row;
    }

    /** Adds a sample, unless one before it failed. */
    static void read(Side side, Gauge gauge, int run, String what) {
        if (side.samples().size() < run) return;
        Job read = () -> side.samples().add(fiveDigits(gauge.read(run)));
        if (!attempt(what, read)) side.samples().clear();
    }

    /**
     * Returns the milliseconds of one sample: the median of as many shots as fill 200 ms, so
     * a single one for a row of 200 ms or more, and the mean of two from 100 ms on. A single
     * short shot is at the mercy of the scheduler; one pause of 4 ms spoils a mean.
     */
    static double sample(Job job, int run) throws Exception {
        if (run > 0) return Side.quantile(shots(job, size(200, 40)), 0.5);
        List<Double> warmUp = shots(job, size(400, 40));
        if (Side.quantile(warmUp, 0.5) < 1) shots(job, size(800, 80)); // short ones need more
        return warmUp.getFirst(); // the cold start
    }

    /** Runs the job until the time is full; returns the milliseconds of each shot. */
    static List<Double> shots(Job job, double fillMs) throws Exception {
        List<Double> shots = new ArrayList<>();
        double elapsed = 0;
        long start = System.nanoTime();
        while (elapsed < fillMs) {
            job.run();
            double now = (System.nanoTime() - start) / 1e6;
            shots.add(now - elapsed);
            elapsed = now;
        }
        return shots;
    }

    // Fewer tasks on many carriers, or the cost of starting threads would hide the wait.
    static int perCarrier() { return Math.clamp(100 / CARRIERS, 3, size(10, 5)); }

    /**
     * Adds a row: some tasks per carrier wait for waitMs each, on a thread of their own.
     * Says whether virtual threads left their carriers meanwhile, or why that cannot be told.
     */
    static void waiting(String what, double waitMs, double predicted, Job task)
            throws Exception {
        int tasks = perCarrier() * CARRIERS;
        question = text("%s tasks per carrier each wait %s ms", perCarrier(), waitMs);
        int before = Math.max(CARRIERS, Evidence.carriers()); // added ones stay for a while
        Job virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
        Row row = time(tasks + " in " + what, predicted,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task), virtual);
        if (Double.isNaN(row.ratio())) return;
        int carriers = Evidence.carriers();
        double alone = Collections.min(shots(task, 1));
        double waits = row.platform().median() / waitMs; // one, if nothing else is the limit
        double atOnce = tasks * waitMs / row.virtual().median(); // Little's law
        boolean longer = row.ratio() < 0.5;
        List<String> pins = Evidence.pinned(virtual, waitMs / 2);
        String pinned = text("pinned: %s of %s waits", pins.size(), tasks);
        say("%s: %s", what, alone < 0.9 * waitMs
                ? text("cannot tell: a task took %s ms, not %s", alone, waitMs)
            : atOnce >= 2 * carriers
                ? text("not pinned: at least %s of %s tasks per carrier waited at once",
                    atOnce / CARRIERS, perCarrier())
            : waits >= 2 && !longer
                ? text("cannot tell: with a platform thread for each task it took %s waits, so"
                    + " something else is the limit, such as a pool or one lock (%s)", waits,
                    pinned)
            : pins.size() >= tasks / 2.0 ? pinned + pins.getFirst()
            : carriers > before ? text("carriers were kept, but the scheduler added %s"
                + " meanwhile", carriers - before)
            : longer ? "carriers were kept without an event, as by native code"
            : text("cannot tell: %s tasks waited at once, on %s carriers", atOnce, carriers));
    }

    /** Writes numbers as the table does, alike in every locale, in place of each %s. */
    static String text(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, Arrays.stream(values)
            .map(v -> v instanceof Number n ? number(n.doubleValue(), "") : v).toArray());
    }

    /** Three digits, two below 0.1, one below 0.001; all of a whole or a large number. */
    static String number(double value, String unit) {
        if (!Double.isFinite(value)) return "—";
        double size = Math.abs(value);
        if (size % 1 == 0 || size >= 999.5) return whole(value) + unit;
        int digits = size < 0.001 ? 1 : size < 0.1 ? 2 : 3;
        var rounded = BigDecimal.valueOf(value).round(new MathContext(digits));
        int zeros = digits - rounded.precision(); // of one half, for example
        return rounded.setScale(rounded.scale() + zeros).toPlainString() + unit;
    }

    static String whole(double value) { return String.format(Locale.ROOT, "%,.0f", value); }
    static String counted(int n, String what) { return n + " " + what + (n == 1 ? "" : "s"); }

    /** Rounds a sample as it is printed, so that the table can be recomputed from those. */
    static double fiveDigits(double value) {
        return new BigDecimal(value).round(new MathContext(5)).doubleValue();
    }
}

/** The samples of one side of a row. The first, its warm-up, does not count. */
record Side(List<Double> samples) {
    double at(double q) { return quantile(samples.stream().skip(1).toList(), q); }
    double median() { return at(0.5); }
    boolean noisy() { return at(0.75) - at(0.25) > 0.2 * median(); }

    static double quantile(List<Double> values, double q) {
        if (values.isEmpty()) return Lab.UNKNOWN;
        List<Double> sorted = values.stream().sorted().toList();
        double place = q * (sorted.size() - 1);
        double low = sorted.get((int) place);
        double high = sorted.get((int) Math.ceil(place));
        return low + (high - low) * (place % 1);
    }

    String digits() {
        return samples.stream().map(s -> BigDecimal.valueOf(s).stripTrailingZeros())
            .map(BigDecimal::toPlainString).collect(Collectors.joining(" "))
            .replaceFirst("\\S+", "($0)"); // the warm-up
    }
}

/** One row of the table. A ratio above 1 says that virtual threads need less. */
record Row(String experiment, String work, String unit, double predicted, String guess,
        Side platform, Side virtual) {
    double ratio() { return platform.median() / virtual.median(); }
    boolean noisy() { return ratio() > 0 && (platform.noisy() || virtual.noisy()); }
    String ratioCell() { return (noisy() ? "~" : "") + Lab.number(ratio(), "×"); }

    /** A median with its unit. Counts have none: the experiment says what is counted. */
    String cell(Side side) { return Lab.number(side.median(), unit.equals("ms") ? " ms" : ""); }

    String model() {
        if (Double.isNaN(predicted)) return "—";
        var digits = new BigDecimal(predicted).round(new MathContext(3)).stripTrailingZeros();
        return digits.toPlainString() + "×";
    }

    /** Compares the sides, from the lowest to the highest ratio that any two samples give. */
    String compare(String platformSide) {
        double least = platform.at(0) / virtual.at(1);
        double most = platform.at(1) / virtual.at(0);
        String range = least == most ? "one sample each" : "%s× to %s× from sample to sample";
        String took = "%s took %s× as long as %s (" + range + ")";
        if (Double.isNaN(ratio())) return "there is nothing to compare";
        if (least <= 1 && most >= 1 || least >= 0.95 && most <= 1.05) {
            return Lab.text("no difference was shown: " + range, least, most);
        }
        return ratio() > 1
            ? Lab.text(took, platformSide, ratio(), "virtual threads", least, most)
            : Lab.text(took, "virtual threads", 1 / ratio(), platformSide, 1 / most, 1 / least);
    }
}

/** What speaks besides the clock: Flight Recorder, thread names, a dump, processors' load. */
class Evidence {
    /**
     * Runs the job under Flight Recorder; returns the reason of each pinned wait of ms or more.
     * Up to JDK 23, the recorder gives no reason, and knows of parking only.
     */
    static List<String> pinned(Lab.Job job, double ms) {
        String name = "jdk.VirtualThreadPinned";
        var least = java.time.Duration.ofNanos((long) (ms * 1e6));
        List<String> reasons = new CopyOnWriteArrayList<>();
        try (var stream = new jdk.jfr.consumer.RecordingStream()) {
            stream.enable(name).withThreshold(least);
            stream.onEvent(name, event -> {
                if (event.getDuration().compareTo(least) < 0) return; // of another recording
                reasons.add(!event.hasField("pinnedReason") ? "" : ", `"
                    + event.getString("pinnedReason").replaceFirst("/0x[0-9a-f]+", "") + "`");
            });
            stream.startAsync();
            job.run();
            stream.stop(); // waits for the events
        } catch (Exception | LinkageError | VirtualMachineError e) { // the row is measured
            Lab.say("Flight Recorder counted nothing: %s", Report.reason(e));
        }
        return reasons;
    }

    /** The names of the threads that ThreadMXBean sees: of the carriers, or of the others. */
    static List<String> threads(boolean carriers) {
        var threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
            .filter(Objects::nonNull).map(ThreadInfo::getThreadName)
            .filter(name -> name.startsWith("ForkJoinPool-1-worker-") == carriers).toList();
    }

    static int carriers() { return threads(true).size(); }

    /** Says how many virtual threads a thread dump lists; ThreadMXBean knows none. */
    static String dump() {
        try {
            Path file = Files.createTempFile("threads", ".txt").toAbsolutePath();
            Files.delete(file); // the bean wants a new one
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpThreads(
                file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            int virtual = Files.readString(file).split("\" virtual").length - 1;
            Files.delete(file);
            return Lab.text("a thread dump also listed %s virtual ones", virtual);
        } catch (Exception | LinkageError e) {
            return "there was no thread dump: " + Report.reason(e);
        }
    }

    /** The share of the processors that others used since the last call; below 0: unknown. */
    static double others() {
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        double all = system.getCpuLoad();
        return all < 0 ? all : Math.max(0, all - system.getProcessCpuLoad());
    }
}

/** Prints what the run finds: rows as they come, and then what they say. */
class Report {
    static final List<String> sentences = new CopyOnWriteArrayList<>(); // read on Ctrl-C, too
    static final List<String> failures = new CopyOnWriteArrayList<>();
    private static final List<Row> rows = new CopyOnWriteArrayList<>();
    private static final String CLEAR = "\r" + " ".repeat(79) + "\r"; // removes progress
    private static final BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in));
    private static List<Experiment> chosen;
    private static boolean asks = Lab.predict; // until nobody answers
    private static boolean finished;

    /** Prints what is known before anything is measured. */
    static void begin(List<Experiment> experiments) {
        chosen = experiments;
        warnOnStandardError();
        Evidence.others(); // the next call tells what was used since this one
        var jvm = ManagementFactory.getRuntimeMXBean();
        var os = ManagementFactory.getOperatingSystemMXBean();
        String gc = ManagementFactory.getGarbageCollectorMXBeans().getFirst().getName();
        List<String> command = new ArrayList<>(jvm.getInputArguments());
        command.remove("--add-modules=ALL-DEFAULT"); // this and the class are the launcher's
        command.add(System.getProperty("sun.java.command", "").replaceFirst("^jdk\\S+ ", ""));
        put("# VirtualThreadsLab\n\n"
            + wrap(Lab.text("- Java %s, %s, %s, %s", Runtime.version(), jvm.getVmVendor(),
                jvm.getVmName(), gc.replaceFirst(" .*", "").replace("Copy", "Serial")))
            + wrap(Lab.text("- %s %s %s, %s%s, %s, heap up to %s MB", os.getName(),
                os.getVersion(), os.getArch(), processor(),
                Lab.counted(Lab.PROCESSORS, "processor"), Lab.counted(Lab.CARRIERS, "carrier"),
                Runtime.getRuntime().maxMemory() >> 20))
            + wrap(Lab.text("- %s, %s, `java %s`", java.time.LocalDate.now(),
                Lab.counted(Lab.runs, "run"), String.join(" ", command)))
            + "\n" + line("Experiment", "Work", "Platform", "Virtual", "Ratio", "Model", "You")
            + "|--------------|---------------------|---------:|---------:|---------:|-------:|"
            + (Lab.predict ? "--------:|\n" : "\n"));
        Runtime.getRuntime().addShutdownHook(new Thread(Report::rest));
    }

    /** The processor's model, where the system tells it in a file. */
    private static String processor() {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name")).findFirst()
                .map(line -> line.replaceFirst(".*: *", "") + ", ").orElse("");
        } catch (IOException | UncheckedIOException e) {
            return "";
        }
    }

    /** HotSpot warns on standard output, for instance of threads that the system refuses. */
    private static void warnOnStandardError() {
        var options = "" + ManagementFactory.getRuntimeMXBean().getInputArguments();
        String[][] calls = {{"output=stdout", "what=all=off"},
            {"output=stderr", "what=all=warning"}};
        if (options.contains("-Xlog") || options.contains("-verbose")) return;
        try {
            var bean = new ObjectName("com.sun.management:type=DiagnosticCommand");
            for (Object call : calls) ManagementFactory.getPlatformMBeanServer().invoke(bean,
                "vmLog", new Object[] {call}, new String[] {String[].class.getName()});
        } catch (JMException e) {
            // another JVM, which may warn elsewhere
        }
    }

    static void progress(String work, int run) {
        String step = run == 0 ? "warm-up" : "run " + run + " of " + Lab.runs;
        String line = "[%s/%s] %-12s %-19s  %s  %s s".formatted(chosen.indexOf(Lab.current) + 1,
            chosen.size(), Lab.current.name(), work, step,
            ManagementFactory.getRuntimeMXBean().getUptime() / 1_000);
        print(System.err, "\r%-79.79s".formatted(line));
    }

    /** Returns the ratio that the reader expects, as typed; "—" for none. */
    static String guess(String question) {
        String ratio = "(?=.{1,7}$)(?=[\\d.,]*[1-9])\\d+([.,]\\d+)?(/[1-9]\\d*)?[x×]?";
        String prompt = "\n" + wrap(question);
        try {
            while (asks && System.console() != null && input.ready()) input.readLine();
            for (int tries = 0; asks && tries < 3; tries++) {
                print(System.err, prompt + "Your ratio, platform ÷ virtual, such as 30 or 1/3"
                    + " (Enter to skip): ");
                String guess = input.readLine();
                if (guess == null) break;
                if (guess.isBlank()) return "—";
                if (guess.strip().matches(ratio)) return guess.strip();
                prompt = "";
            }
        } catch (IOException e) {
            // as at the end of the input
        }
        asks = false;
        return "—";
    }

    static void add(Row row) {
        rows.add(row);
        System.err.print(CLEAR);
        put(line(row.experiment(), row.work(), row.cell(row.platform()),
            row.cell(row.virtual()), row.ratioCell(), row.model(), row.guess()));
    }

    private static String line(Object... cells) {
        return "| %-12s | %-19s | %8s | %8s | %8s | %6s |".formatted(cells)
            + (Lab.predict ? " %7s |\n".formatted(cells[6]) : "\n");
    }

    /** Prints and flushes. If nobody can read it, there is no use in measuring on. */
    private static void put(String text) {
        print(System.out, text);
        if (!System.out.checkError()) return;
        System.err.println("VirtualThreadsLab: standard output cannot be written");
        Runtime.getRuntime().halt(1);
    }

    /** Ends the JVM, which prints the rest. */
    static void finish() {
        finished = true;
        System.exit(failures.isEmpty() ? 0 : 1);
    }

    /** Prints what comes after the rows when the JVM ends: by finish, a signal or a job. */
    private static void rest() {
        System.err.print(CLEAR);
        if (!finished) put("\n**Partial:** interrupted; these are the finished rows.\n");
        put("""

            Ratio is platform ÷ virtual: above 1×, virtual threads need less.
            Model is the ratio that plain arithmetic gives; — stands for none.
            ~ marks noise: a side's middle half of samples spans over 20 % of the median.
            """ + (failures.isEmpty() ? "" : "\n" + items(failures)) + "\n" + quiet()
            + "\n## What the numbers say\n\n" + items(sentences)
            + "\n## At a glance\n\n```text\n" + chart() + "```\n");
        if (Lab.samples) put("\n## Samples\n\nThe first of a side, in brackets, is its"
            + " discarded warm-up.\n\n```text\n" + samples() + "```\n");
        boolean signal = Thread.getAllStackTraces().keySet().stream()
            .anyMatch(thread -> thread.getName().startsWith("SIG"));
        if (!finished && !signal) Runtime.getRuntime().halt(1); // a job has called exit
    }

    private static String quiet() {
        long others = Math.round(100 * Evidence.others());
        long noisy = rows.stream().filter(Row::noisy).count();
        boolean half = noisy > 0 && 2 * noisy >= rows.size();
        return (others < 0 ? "What other programs used of the processors is not known."
                : "Other programs used " + others + " % of the processors.")
            + (half ? " " + noisy + " of " + rows.size() + " rows are noisy." : "")
            + (half || others > 10 ? "\nRun it again when the machine is quiet.\n" : "\n");
    }

    /** A line for each ratio on a logarithmic scale: seven columns for each power of ten. */
    private static String chart() {
        String chart = "%-33s".formatted("○ model") + "  < need more │ virtual need less >\n"
            + " ".repeat(33) + "0.01×  0.1×   1×     10×    100×   1,000×\n";
        for (Row row : rows) {
            if (Double.isNaN(row.ratio())) continue;
            int end = column(row.ratio());
            char[] line = " ".repeat(36).toCharArray();
            Arrays.fill(line, Math.min(end, 14), Math.max(end, 14) + 1, '█');
            line[14] = '│';
            if (row.ratio() < 0.01) line[0] = '<';
            if (row.ratio() > 1_000) line[35] = '>';
            if (!Double.isNaN(row.predicted())) line[column(row.predicted())] = '○';
            chart += "%-12s %-19s ".formatted(row.experiment(), row.work())
                + new String(line).stripTrailing() + " " + row.ratioCell() + "\n";
        }
        return chart;
    }

    private static int column(double ratio) {
        return Math.clamp(14 + Math.round(7 * Math.log10(ratio)), 0, 35);
    }

    private static String samples() {
        return rows.stream().map(row -> "%s, %s, %s\n  platform %s\n  virtual %s\n".formatted(
            row.experiment(), row.work(), row.unit(), row.platform().digits(),
            row.virtual().digits())).collect(Collectors.joining());
    }

    private static String items(List<String> texts) {
        return texts.stream().map(text -> wrap("- " + text + "."))
            .collect(Collectors.joining());
    }

    /** Breaks a line at spaces, so that none is longer than 80 characters. */
    private static String wrap(String line) {
        return line.replaceAll("\\R", " ").replaceAll("(.{1,78})( |$)|(.{78})", "$1$3\n  ")
            .stripTrailing() + "\n";
    }

    /** Describes an error and its causes in one line. An older javac stops here. */
    static String reason(Throwable error) {
        return switch (error) {
            case ExecutionException x -> reason(x.getCause()); // needs Java 21 or newer
            case IllegalStateException x -> "" + x.getMessage();
            case TimeoutException x -> "not done after " + Lab.PATIENCE + " s";
            default -> error + (error.getCause() == null ? ""
                : ", caused by " + reason(error.getCause()));
        };
    }

    /** Prints ASCII of the same width instead if the charset lacks one of these characters. */
    static void print(PrintStream out, String text) {
        String special = "×—÷µ█│○";
        boolean known = out.charset().newEncoder().canEncode(special);
        for (int i = 0; i < special.length() && !known; i++) {
            text = text.replace(special.charAt(i), "x-/u#|o".charAt(i));
        }
        out.print(text);
    }
}

// ----- Cut here: delete all from this line on, and the line in main that names Encores; a
// complete lab of the five is left. Those below run only when named, or with "all".
class Encores extends Lab { // for the names of Lab only
    static final List<Experiment> LIST = List.of(
        new Experiment("println", Encores::println, "one thread prints lines to a file"),
        new Experiment("http", Encores::http,
            "200 clients call twice: pool of 20, or virtual thread per call"),
        new Experiment("mixed", Encores::mixed, "tasks compute, then call a server"),
        new Experiment("capacity", Encores::capacity, "20 at once: pool, or semaphore"),
        new Experiment("thread-local", Encores::threadLocal,
            "objects that a cache makes: pool of 200, or virtual thread each"),
        new Experiment("million", Encores::million, "park a million virtual threads"),
        new Experiment("time-sharing", Encores::timeSharing, "short task behind long ones"),
        new Experiment("lost-lock", Encores::lostLock, "hand a lock down a line"));

    /**
     * println. Is one task, alone, any faster on a virtual thread?
     * Fair: the same lines and file, and the sides take turns, as the one that starts cold is
     * often slower. The lines in the file are counted afterwards, outside the time.
     * Prediction: 1×, as nothing waits while something else could run. On JDK 21 and 22 less:
     * there each write adjusts the scheduler's parallelism (JDK-8329593, fixed in 23).
     * Try: int lines = 10; Which side is faster now, and why?
     */
    static void println() throws Exception {
        int lines = 100_000;
        double predicted = JDK < 23 ? UNKNOWN : 1;
        Path file = Files.createTempFile("lines", ".txt");
        file.toFile().deleteOnExit();
        Row row = measure(text("%s lines", lines), "ms", predicted,
            run -> printLines(newThreadPerTaskExecutor(Thread::new), file, lines),
            run -> printLines(newVirtualThreadPerTaskExecutor(), file, lines));
        say("one task, alone: %s", row.compare("platform threads"));
    }

    static double printLines(ExecutorService executor, Path file, int lines) throws Exception {
        long start = System.nanoTime();
        runAll(executor, 1, () -> {
            try (var out = new PrintStream(new FileOutputStream(file.toFile()))) {
                for (int i = 0; i < lines; i++) out.println("line " + i);
                if (out.checkError()) throw new IOException("not all lines could be written");
            }
        });
        double elapsed = (System.nanoTime() - start) / 1e6;
        check("lines in the file", lines, Files.readAllLines(file).size());
        return elapsed;
    }

    /**
     * http. What does a server gain from one virtual thread per call, if its handler waits?
     * Fair: the same 200 clients make two calls each in turn; only the executors differ. It is
     * a closed loop: each client waits for its answer before it calls again.
     * Prediction: a pool of 20 answers 400 calls in 20 waves of 50 ms. Virtual threads with 200
     * calls in flight need 2: 10×, or less, as calls cost more than the waits. Most calls to
     * the pool find 180 others in line: the median latency is 10 waves, against one: 10× again.
     * Calls that come at a rate of their own would queue without an end, or not at all.
     * Try: int pool = 200; Is it the threads that are better, or their number?
     */
    static void http() throws Exception {
        int calls = size(400, 200);
        int pool = 20;
        int waitMs = 50;
        int waves = Math.max(2, Math.ceilDiv(calls, pool));
        double predicted = waves / 2.0;
        try (var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            Row row = time(text("%s × %s ms", calls, waitMs), predicted,
                () -> callTwice(pooled, calls / 2), () -> callTwice(virtual, calls / 2));
            measure("median latency", "ms", predicted,
                run -> pooled.latency(() -> callTwice(pooled, calls / 2)),
                run -> virtual.latency(() -> callTwice(virtual, calls / 2)));
            say("%s; beyond the waits of %s and %s ms that are predicted, the sides took %s and"
                + " %s ms", row.compare("the pool of " + pool), waves * waitMs, 2 * waitMs,
                row.platform().median() - waves * waitMs, row.virtual().median() - 2 * waitMs);
        }
    }

    static void callTwice(Server server, int clients) throws Exception {
        runAll(newVirtualThreadPerTaskExecutor(), clients, () -> {
            server.call();
            server.call();
        });
    }

    /**
     * mixed. Tasks compute, then call a server. How long does a call take, as its task sees it?
     * Fair: the same tasks, client and server, and one thread per task; the task calls itself.
     * Prediction: 1× for all tasks. But no virtual thread is interrupted for another: an answer
     * that has come waits until a computation ends, and at worst until all of them have. Of n
     * tasks per carrier, the one in the middle has (n - 1) ÷ 2 behind it: that is the model.
     * Platform threads share the processors: their calls take about as long as the server. One
     * computation is timed for the prediction, before the rows.
     * Try: int n = 30; and int fib = 832_040; With less to compute, how long does a call take?
     */
    static void mixed() throws Exception {
        int tasks = 10 * PROCESSORS;
        int waitMs = size(120, 60);
        int n = size(37, 34);
        int fib = size(24_157_817, 5_702_887);
        Job compute = () -> check("as a Fibonacci number", fib, fibonacci(n));
        double computeMs = sample(compute, 1);
        double behind = (Math.ceilDiv(tasks, CARRIERS) - 1) / 2.0 * computeMs;
        double predicted = Math.min(1, (double) CARRIERS / PROCESSORS);
        double predictedCall = quick ? UNKNOWN : waitMs / Math.max(waitMs, behind);
        question = text("%s tasks compute for %s ms, then call a server that waits %s ms:"
            + " platform thread each, or virtual thread each", tasks, computeMs, waitMs);
        try (var server = new Server(newFixedThreadPool(tasks), waitMs)) {
            Job task = () -> {
                compute.run();
                server.call();
            };
            Job platform = () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task);
            Job virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
            Row all = time(tasks + " tasks", predicted, platform, virtual);
            Row call = measure("median latency", "ms", predictedCall,
                run -> server.latency(platform), run -> server.latency(virtual));
            say("the server waits %s ms; a call took %s ms as a platform thread sees it, and %s"
                + " ms as a virtual thread does; for all tasks, %s", waitMs,
                call.platform().median(), call.virtual().median(),
                all.compare("platform threads"));
        }
    }

    static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

    /**
     * capacity. What limits a resource that takes 20 at once, if not the size of a pool?
     * Fair: the same tasks hold it for the same time; more than 20 inside is a wrong answer.
     * Prediction: 1×. Both sides need 50 waves: limit the resource, not the threads.
     * Try: new Semaphore(limit + 1). What does the lab say of that row?
     */
    static void capacity() throws Exception {
        int tasks = size(1_000, 200);
        int holdMs = 10;
        int limit = 20;
        double predicted = 1;
        var permits = new Semaphore(limit);
        var inside = new AtomicInteger();
        Job hold = () -> {
            int now = inside.incrementAndGet();
            try {
                Thread.sleep(holdMs);
            } finally {
                inside.decrementAndGet();
            }
            if (now > limit) check("tasks inside at once", limit, now);
        };
        Job gated = () -> {
            permits.acquire();
            try {
                hold.run();
            } finally {
                permits.release();
            }
        };
        Row row = time(text("%s × %s ms by %s", tasks, holdMs, limit), predicted,
            () -> runAll(newFixedThreadPool(limit), tasks, hold),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, gated));
        say("%s", row.compare("the pool"));
    }

    /**
     * thread-local. How many costly objects does a cache in a ThreadLocal make?
     * Fair: the same tasks use the same cache; only the executor differs.
     * Prediction: one per thread: 200 for the pool, 10,000 for virtual threads: 0.02×.
     * Try: int tasks = 200; Does the cache still save anything?
     */
    static void threadLocal() throws Exception {
        int tasks = size(10_000, 2_000);
        int pool = 200;
        double predicted = (double) pool / tasks;
        Row row = measure(text("%s tasks", tasks), "objects", predicted,
            run -> buffersMade(newFixedThreadPool(pool), tasks),
            run -> buffersMade(newVirtualThreadPerTaskExecutor(), tasks));
        say("in one run, the cache made %s MB of buffers for the pool and %s MB for virtual"
            + " threads", row.platform().median() * 8_192 / 1e6,
            row.virtual().median() * 8_192 / 1e6);
    }

    static double buffersMade(ExecutorService executor, int tasks) throws Exception {
        var made = new AtomicInteger();
        var cache = ThreadLocal.withInitial(() -> {
            made.incrementAndGet();
            return new byte[8_192];
        });
        runAll(executor, tasks, () -> check("bytes in a buffer", 8_192, cache.get().length));
        return made.get();
    }

    /**
     * million. How long does it take to park a million virtual threads, and what do they weigh?
     * There is no platform side: by default, a system stops far below a million (on Linux by
     * threads-max, pid_max or max_map_count). The weight is read off the heap after a full
     * collection, while the threads are parked, of compiled code; the first reading, which has
     * leftovers of earlier work in it, is the discarded warm-up.
     * Prediction: a few microseconds for each at most, as long as the heap has room; that time
     * has the growth of the heap and its collections in it. The weight grows with the stack.
     * Try: java -Xmx256m VirtualThreadsLab.java million. Which rows are still measured?
     */
    static void million() throws Exception {
        String collected = "nothing was measured";
        for (int n : new int[] {10_000, 100_000, size(1_000_000, 200_000)}) {
            long[] before = collections();
            long begun = System.nanoTime();
            Row row = measure(text("%s parked", n), "ms", UNKNOWN, null, run -> {
                if (run == 0) shots(() -> park(n, 0, () -> 0), size(800, 80));
                long start = System.nanoTime();
                return (park(n, 0, System::nanoTime) - start) / 1e6;
            });
            long[] after = collections();
            if (!Double.isNaN(row.virtual().median())) collected = text("of the %s ms in which"
                + " %s were parked again and again, the collector took %s, in %s collections",
                (System.nanoTime() - begun) / 1_000_000, n, after[1] - before[1],
                after[0] - before[0]);
        }
        int n = size(100_000, 20_000);
        Row shallow = measure("bytes, shallow", "bytes", UNKNOWN, null, run -> weigh(n, 0));
        Row deep = measure("bytes, 50 frames", "bytes", UNKNOWN, null, run -> weigh(n, 50));
        say("%s; each of %s parked virtual threads took %s bytes of the heap, and %s with 50"
            + " more frames on its stack", collected, n, shallow.virtual().median(),
            deep.virtual().median());
    }

    /** Returns the bytes of heap that each of n parked virtual threads takes. */
    static double weigh(int n, int frames) throws Exception {
        var heap = ManagementFactory.getMemoryMXBean();
        long[] earlier = collections();
        heap.gc();
        long before = heap.getHeapMemoryUsage().getUsed();
        long parked = park(n, frames, () -> {
            heap.gc();
            return heap.getHeapMemoryUsage().getUsed();
        });
        if (collections()[0] == earlier[0]) throw new IllegalStateException(
            "no collection is counted, so the heap cannot be weighed");
        return (parked - before) / (double) n;
    }

    /** Parks n virtual threads, asks the question while they are parked, and lets them go. */
    static <T> T park(int n, int frames, Callable<T> question) throws Exception {
        long most = Runtime.getRuntime().maxMemory() >> 20;
        long needed = (n * (2_000L + 120 * frames)) >> 20; // MB: more than twice their weight
        if (needed > most) throw new IllegalStateException(text(
            "needs about %s MB of heap, where the limit is %s MB", needed, most));
        var come = new CountDownLatch(n);
        var gone = new CountDownLatch(n);
        var gate = new Semaphore(0);
        try {
            for (int i = 0; i < n; i++) Thread.startVirtualThread(() -> {
                come.countDown();
                acquire(gate, frames);
                gone.countDown();
            });
            ended(come.await(PATIENCE, TimeUnit.SECONDS));
            return question.call();
        } finally {
            gate.release(n);
            gone.await(30, TimeUnit.SECONDS); // some may not have started
        }
    }

    static void acquire(Semaphore gate, int frames) {
        if (frames > 0) acquire(gate, frames - 1);
        else gate.acquireUninterruptibly();
    }

    /** How many collections there have been, and how many ms they took, by their beans. */
    static long[] collections() {
        long[] sum = new long[2];
        for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum[0] += collector.getCollectionCount();
            sum[1] += collector.getCollectionTime();
        }
        return sum;
    }

    /**
     * time-sharing. All processors compute. How long until a short task, started now, runs?
     * Fair: the same tasks, and one thread per task. All the long ones have begun before.
     * Prediction: the operating system gives a platform thread its slice within milliseconds. A
     * virtual one waits until a long task ends, so its delay is about the length of that: their
     * scheduler has no time sharing (JEP 444).
     * Try: int busy = Math.max(PROCESSORS, CARRIERS) - 1; What does one idle carrier change?
     */
    static void timeSharing() throws Exception {
        int busy = Math.max(PROCESSORS, CARRIERS);
        var seen = new AtomicReference<>("");
        Row row = measure("delay behind " + busy, "ms", UNKNOWN,
            run -> delay(newThreadPerTaskExecutor(Thread::new), busy, null),
            run -> delay(newVirtualThreadPerTaskExecutor(), busy, null));
        scheduler(); // the first question to a bean is slow, and the long tasks do not wait
        delay(newVirtualThreadPerTaskExecutor(), busy, seen);
        double longMs = shots(Encores::longTask, 1).getFirst();
        say("behind %s of %s ms each, a short task was delayed by %s ms as a platform thread"
            + " and by %s ms as a virtual thread%s", counted(busy, "long task"), longMs,
            row.platform().median(), row.virtual().median(), seen);
    }

    static void longTask() { check("as a Fibonacci number", 39_088_169, fibonacci(38)); }

    /** Returns the milliseconds until the short task runs; if it waits, asks the scheduler. */
    static double delay(ExecutorService executor, int busy, AtomicReference<String> seen)
            throws Exception {
        var begun = new CountDownLatch(busy);
        List<Future<?>> computing = new ArrayList<>();
        try {
            for (int i = 0; i < busy; i++) computing.add(executor.submit(() -> {
                begun.countDown();
                longTask();
            }));
            ended(begun.await(PATIENCE, TimeUnit.SECONDS));
            long start = System.nanoTime();
            var shortTask = executor.submit(() -> (System.nanoTime() - start) / 1e6);
            if (seen != null) Thread.sleep(20); // a carrier just woken would count as mounted
            if (seen != null && !shortTask.isDone()) seen.set(scheduler());
            for (var done : computing) done.get(PATIENCE, TimeUnit.SECONDS);
            return shortTask.get(PATIENCE, TimeUnit.SECONDS);
        } finally {
            end(executor);
        }
    }

    /** Says what the scheduler's own bean counts now; it came with JDK 24. */
    static String scheduler() {
        try {
            var bean = new ObjectName("jdk.management:type=VirtualThreadScheduler");
            var beans = ManagementFactory.getPlatformMBeanServer();
            int mounted = (int) beans.getAttribute(bean, "MountedVirtualThreadCount");
            return text("; while it waited, the scheduler's pool of %s had %s mounted and %s"
                + " queued", beans.getAttribute(bean, "PoolSize"),
                counted(mounted, "virtual thread"),
                beans.getAttribute(bean, "QueuedVirtualThreadCount"));
        } catch (JMException e) {
            return "";
        }
    }

    /**
     * lost-lock. One task waits for a ReentrantLock; behind it, one per carrier does so inside
     * its own synchronized block. How long after the lock's release are all of them done?
     * Fair: the same tasks in the same order, one thread per task, 500 ms of patience each.
     * Prediction: far less than a millisecond for each. But up to JDK 23 the monitors pin every
     * carrier: the first in line, whose turn it is, gets none until another one gives up.
     * Try: i < CARRIERS for i <= CARRIERS. How long does JDK 21 take with one waiter fewer?
     */
    static void lostLock() throws Exception {
        var platformLost = new AtomicInteger();
        var virtualLost = new AtomicInteger();
        Row row = measure((CARRIERS + 1) + " in line", "ms", UNKNOWN,
            run -> handOver(newThreadPerTaskExecutor(Thread::new), platformLost),
            run -> handOver(newVirtualThreadPerTaskExecutor(), virtualLost));
        say("after the release, all were done in %s ms as platform threads and in %s ms as"
            + " virtual threads; in all runs and the warm-up together, %s platform and %s"
            + " virtual waiters gave up", row.platform().median(), row.virtual().median(),
            platformLost, virtualLost);
    }

    static double handOver(ExecutorService executor, AtomicInteger lost) throws Exception {
        var lock = new ReentrantLock();
        Callable<Boolean> waiter = () -> {
            boolean mine = lock.tryLock(500, TimeUnit.MILLISECONDS);
            if (mine) lock.unlock();
            return mine;
        };
        Callable<Boolean> inMonitor = () -> {
            synchronized (OWN.get()) {
                return waiter.call();
            }
        };
        List<Future<Boolean>> waiting = new ArrayList<>();
        lock.lock();
        try {
            for (int i = 0; i <= CARRIERS; i++) {
                waiting.add(executor.submit(i == 0 ? waiter : inMonitor));
                for (int ms = 0; ms < 500 && lock.getQueueLength() <= i; ms++) Thread.sleep(1);
            }
            long released = System.nanoTime();
            lock.unlock();
            for (var mine : waiting) {
                if (!mine.get(PATIENCE, TimeUnit.SECONDS)) lost.incrementAndGet();
            }
            return (System.nanoTime() - released) / 1e6;
        } finally {
            end(executor);
        }
    }

    /** A real server on loopback, and its client; full names, as imports stay above the cut. */
    static class Server implements Closeable {
        private final com.sun.net.httpserver.HttpServer server;
        private final java.net.URL address;
        private final Queue<Double> latencies = new ConcurrentLinkedQueue<>();

        Server(ExecutorService executor, int waitMs) throws Exception {
            server = com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress(
                java.net.InetAddress.getLoopbackAddress(), 0), 1_000);
            server.setExecutor(executor);
            server.createContext("/", exchange -> {
                try (exchange) {
                    Thread.sleep(waitMs);
                    exchange.sendResponseHeaders(200, -1);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            try { // to have all threads now: one that is refused later would end the server
                if (executor instanceof ThreadPoolExecutor pool) pool.prestartAllCoreThreads();
                server.start();
            } catch (Error e) {
                close();
                throw e;
            }
            address = new java.net.URI("http", null, server.getAddress().getHostString(),
                server.getAddress().getPort(), "/", null, null).toURL();
        }

        /** Blocks its thread and needs no other; checks the status and keeps the latency. */
        void call() throws IOException {
            long start = System.nanoTime();
            var connection = (java.net.HttpURLConnection)
                address.openConnection(java.net.Proxy.NO_PROXY);
            connection.setConnectTimeout(60_000); // ms
            connection.setReadTimeout(60_000);
            check("as HTTP status", 200, connection.getResponseCode());
            latencies.add((System.nanoTime() - start) / 1e6);
        }

        /** Returns the median latency, in ms, of the calls that the job makes. */
        double latency(Job job) throws Exception {
            latencies.clear();
            job.run();
            return Side.quantile(List.copyOf(latencies), 0.5);
        }

        public void close() {
            server.stop(0);
            ((ExecutorService) server.getExecutor()).shutdownNow();
        }
    }
}
