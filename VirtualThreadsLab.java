//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;

import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.management.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.stream.*;

/**
 * Gives the same work to platform threads and to virtual threads, checks every answer and
 * prints one table of medians. It needs JDK 21 or newer and nothing else:
 *
 *     java VirtualThreadsLab.java
 *
 * platform thread   a thread of the operating system, such as new Thread(task).start() starts
 * virtual thread    a thread of the JVM; it leaves its carrier while it waits, unless pinned
 * carrier           a platform thread that runs virtual ones; by default one per processor
 * pinned            unable to leave its carrier, which has to wait with it
 * ratio             platform ÷ virtual; above 1×, virtual threads need less
 *
 * The experiments use the words of class Lab below: size(full, quick) is the second number
 * with --quick; time, measure and waiting add a row, say adds a sentence. Start the lab several
 * times before you quote a number: two starts of a JVM can differ by more than the samples of
 * one.
 */
class VirtualThreadsLab extends Lab { // so that an experiment can write time(…)
    static final List<Experiment> LIST = List.of(
        new Experiment("start-time", () -> startTime(), "start and run threads"),
        new Experiment("sleep-wave", () -> sleepWave(), "tasks wait: pool, or virtual each"),
        new Experiment("cpu-primes", () -> cpuPrimes(), "tasks compute: the same"),
        new Experiment("pinning", () -> pinning(), "wait in lock, monitor, initializer"),
        new Experiment("thread-count", () -> threadCount(), "threads that ThreadMXBean sees"));

    /** Runs the lab. It throws nothing; the clause lets the main of a subclass throw. */
    public static void main(String[] args) throws Exception {
        run(LIST, args);
    }

    /**
     * start-time. How long does it take to start n threads and wait until each has run?
     * Fair: both sides run the same loop; only the builder differs. The loop waits once 1,000
     * threads have yet to run, or some systems would run out of threads.
     * Prediction: the operating system takes tens of microseconds or more for a thread. A
     * virtual thread is an object in a queue: about a microsecond or less. This holds for
     * bursts, once warm, while nothing else runs.
     * Try: {1, 10, 100}. How much of the ratio is left for a thread that is started alone?
     */
    static void startTime() throws Exception {
        for (int threads : new int[] {100, size(1_000, 200), size(10_000, 500)}) {
            String work = text(threads == 1 ? "%s thread" : "%s threads", threads);
            Row row = time(work, "start them and wait until each has run; platform, or virtual",
                UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
            say("%s: %s µs per platform thread, %s µs per virtual thread", work,
                row.platform() * 1_000 / threads, row.virtual() * 1_000 / threads);
        }
    }

    static void startAll(Thread.Builder builder, int threads) throws Exception {
        int mostPending = 1_000; // started, but not yet run
        var toRun = new CountDownLatch(threads);
        for (int toStart = threads; toStart > 0; toStart--) {
            while (toRun.getCount() - toStart >= mostPending) Thread.yield();
            builder.start(toRun::countDown);
        }
        toRun.await();
    }

    /**
     * sleep-wave. How long do 10,000 tasks take if each waits 100 ms and does nothing else?
     * Fair: the same tasks; only the executor differs. 200 threads is Tomcat's default pool,
     * and the larger pool shows what the ratio depends on.
     * Prediction: 200 threads need 50 waves of 100 ms for 10,000 tasks, and 1,000 threads ten.
     * Virtual threads need one, as all wait at once: 50× and 10×. Starting and waking threads
     * adds to all sides.
     * Try: {tasks} for the pools. Who wins if every task can have a platform thread?
     */
    static void sleepWave() throws Exception {
        int tasks = size(10_000, 1_000);
        int waitMs = size(100, 20);
        Job wait = () -> Thread.sleep(waitMs);
        for (int pool : new int[] {size(200, 100), size(1_000, 200)}) {
            double waves = Math.ceilDiv(tasks, pool);
            String question = text("%s tasks sleep %s ms each; " + POOL, tasks, waitMs, pool);
            Row row = time(text("%s, pool %s", tasks, pool), question, waves,
                () -> runAll(newFixedThreadPool(pool), tasks, wait),
                () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));
            say("at least %s tasks were waiting at once in the pool of %s, and %s on virtual"
                + " threads (Little's law: tasks × wait ÷ elapsed)",
                tasks * waitMs / row.platform(), pool, tasks * waitMs / row.virtual());
        }
    }

    /**
     * cpu-primes. Are tasks that only compute any faster on virtual threads?
     * Fair: the same tasks on one thread per processor, or on a virtual thread each. Both sides
     * can use every processor, and nothing ever waits.
     * Prediction: 1×. A virtual thread computes on a carrier, which is a platform thread, and
     * there is one carrier per processor. Fewer carriers need more rounds: less than 1×.
     * Try: newFixedThreadPool(tasks). Do more threads than processors help?
     */
    static void cpuPrimes() throws Exception {
        int rounds = 4; // of tasks, if each processor has a thread
        int tasks = rounds * PROCESSORS;
        int limit = size(1_000_000, 400_000);
        int primes = size(78_498, 33_860);
        double predicted = Math.min(1, (double) rounds / Math.ceilDiv(tasks, CARRIERS));
        Job count = () -> check("primes", primes, countPrimes(limit));
        String question = text("%s tasks count the primes up to %s; " + POOL, tasks, limit,
            PROCESSORS);
        time(text("%s × %s primes", tasks, primes), question, predicted,
            () -> runAll(newFixedThreadPool(PROCESSORS), tasks, count),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, count));
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
     * pinning. Which waits pin a virtual thread to its carrier, so the carrier waits, too?
     * Fair: one thread per task on both sides, and one lock per task, so that nobody waits for
     * a lock. A single lock for all would measure contention.
     * Prediction: a ReentrantLock never pins: 1×. Up to JDK 23, parking inside synchronized
     * does, so k tasks per carrier (3 to 10) wait one after another: 1/k. From 24 on (JEP 491)
     * it doesn't: 1×. The VM itself calls a class initializer, and that has pinned so far: 1/k.
     * Try: synchronized (OWN) for synchronized (OWN.get()). Does the ratio still show a pin?
     */
    static void pinning() throws Exception {
        double pinned = 1.0 / perCarrier();
        waiting("ReentrantLock", 1, () -> {
            var own = new ReentrantLock();
            own.lock();
            try {
                Thread.sleep(waitMs());
            } finally {
                own.unlock();
            }
        });
        waiting("synchronized", JDK < 24 ? pinned : 1, () -> {
            synchronized (OWN.get()) {
                Thread.sleep(waitMs());
            }
        });
        // A class is initialized only once, so each task defines a hidden copy of this one.
        String file = "/" + Initializer.class.getName().replace('.', '/') + ".class";
        byte[] bytes = Initializer.class.getResourceAsStream(file).readAllBytes();
        waiting("class init", pinned,
            () -> MethodHandles.lookup().defineHiddenClass(bytes, true));
    }

    static class Initializer {
        static {
            long end = System.nanoTime() + waitMs() * 1_000_000L;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    static int waitMs() { return size(500, 120) / perCarrier(); }

    /**
     * thread-count. How many threads more does ThreadMXBean see while 1,000 tasks wait?
     * Fair: the same tasks wait at the same gate. It opens once all that can start are there.
     * The bean counts platform threads: carriers and the JVM's own, but no virtual threads, and
     * none of the GC's or the compilers'.
     * Prediction: 200 for a pool of 200, 1,000 for a platform thread each, and 0 for virtual
     * threads, as the carriers were there before. A ratio of these would mean nothing.
     * Try: int pool = 100; Which counts change?
     */
    static void threadCount() throws Exception {
        int tasks = size(1_000, 500);
        int pool = 200;
        // Tasks that compute start the carriers, so the count before includes them.
        runAll(newVirtualThreadPerTaskExecutor(), tasks, () -> countPrimes(10_000));
        Gauge virtual = () -> added(newVirtualThreadPerTaskExecutor(), tasks, tasks);
        measure(text("%s, pool %s", tasks, pool), NO_RATIO, "threads", UNKNOWN,
            () -> added(newFixedThreadPool(pool), tasks, pool), virtual);
        measure(text("%s, thread each", tasks), NO_RATIO, "threads", UNKNOWN,
            () -> added(newThreadPerTaskExecutor(Thread::new), tasks, tasks), virtual);
    }

    /** Returns how many threads more are live while tasks wait, as many as have room. */
    static double added(ExecutorService executor, int tasks, int room) throws Exception {
        var bean = ManagementFactory.getThreadMXBean();
        int before;
        do { // until earlier threads have ended
            before = bean.getThreadCount();
            Thread.sleep(20);
        } while (before != bean.getThreadCount());
        var toCome = new AtomicInteger(room);
        var count = new FutureTask<>(bean::getThreadCount);
        runAll(executor, tasks, () -> {
            if (toCome.decrementAndGet() == 0) count.run(); // the last one to come counts
            count.get(); // and all wait for that
        });
        return count.get() - before;
    }
}

record Experiment(String name, Lab.Job body, String summary) { }

/**
 * The words of the experiments, and how a row is measured: a run of the program adds rows, a
 * row has samples of each side, and a sample is the median of shots. A shot does the work once.
 */
class Lab {
    interface Job { void run() throws Exception; }

    /** Reads one sample. Its warm-up, which never counts, may be another one. */
    interface Gauge {
        double read() throws Exception;
        default double warmUp() throws Exception { return read(); }
    }

    static final double UNKNOWN = Double.NaN;
    static final Gauge NO_SIDE = () -> UNKNOWN; // for a row of virtual threads only
    static final String NO_RATIO = ""; // in place of a question: nobody has to guess
    static final String POOL = "a pool of %s platform threads, or a virtual thread each";
    static final String EACH = "a platform thread each, or a virtual thread each";
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final int CARRIERS = Math.min( // see the javadoc of Thread
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));
    // Each thread has its own monitor. The compiler cannot prove that, so it keeps the lock.
    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);

    static Report report = new FullReport(); // after the cut: new Report()
    static boolean quick;
    static int runs = 5; // samples of each side of a row
    static String current = "mine"; // the experiment's name; "mine" if nobody has called run
    static String place = "[1/1]"; // of the current experiment

    /** Runs the experiments that the words ask for, prints the report and ends the JVM. */
    static void run(List<Experiment> list, String[] args) { CommandLine.run(list, args); }

    static int size(int full, int quickly) { return quick ? quickly : full; }
    static String text(String form, Object... values) { return Text.text(form, values); }

    /** Adds a sentence to the report; like text, it writes a number as the table does. */
    static void say(String form, Object... values) {
        report.sentences.add(current + ": " + text(form, values) + ".");
    }

    /** Throws if the answer is wrong: with "sheep" for what, "wrong answer: 4 sheep, not 3". */
    static void check(String what, double expected, double actual) {
        if (actual != expected) throw new AssertionError(
            text("wrong answer: %s %s, not %s", actual, what, expected));
    }

    /**
     * Runs the job n times on the executor and closes it. Throws the first failure, or a
     * CancellationException after two minutes, once the jobs have answered an interrupt.
     */
    static void runAll(ExecutorService executor, int n, Job job) throws Exception {
        Callable<Void> task = () -> {
            job.run();
            return null;
        };
        try (executor) {
            var tasks = Collections.nCopies(n, task);
            for (var done : executor.invokeAll(tasks, 2, TimeUnit.MINUTES)) done.get();
        }
    }

    /** Runs the job. If it fails, the report says why, and everything else goes on. */
    static boolean attempt(String what, Job job) {
        try {
            job.run();
            return true;
        } catch (Exception | Error e) {
            report.fail(what + ": " + Text.reason(e) + ".");
            return false;
        }
    }

    /** Without continuations, a virtual thread is a platform thread in disguise. */
    static boolean mounts() {
        return Thread.ofVirtual().unstarted(() -> { }).getClass().getSimpleName()
            .equals("VirtualThread");
    }

    /** Tasks per carrier: ten show a pin clearly, three still do; a hundred in all will do. */
    static int perCarrier() { return Math.clamp(100 / CARRIERS, 3, size(10, 5)); }

    /**
     * Adds a row, such as "20 in what": each task makes this call, on a thread of its own.
     * The model is the ratio that you expect, 1 if the call doesn't block its carrier.
     */
    static void waiting(String what, double model, Job call) throws Exception {
        int tasks = perCarrier() * CARRIERS;
        String question = text("%s tasks wait at once, %s per carrier; " + EACH, tasks,
            perCarrier());
        Row row = time(text("%s in %s", tasks, what), question, model,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, call),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, call));
        report.waited(row, what, tasks, call);
        if (!CommandLine.running) CommandLine.runAll(report.followUps());
    }

    /** Adds a row of times in ms; see measure. */
    static Row time(String work, String question, double model, Job platform, Job virtual) {
        return measure(work, question, "ms", model, new Timed(platform), new Timed(virtual));
    }

    /** The milliseconds of a job. */
    record Timed(Job job) implements Gauge {
        public double read() throws Exception { return sample(job); }
        public double warmUp() throws Exception { return Lab.warmUp(job); }
    }

    /**
     * Adds a row: of each side a warm-up and then the samples, in that unit. The question tells
     * a reader what to guess. A side whose gauge throws has no median; the row is printed
     * anyway.
     */
    static Row measure(String work, String question, String unit, double model,
            Gauge platform, Gauge virtual) {
        if (model <= 0) CommandLine.refuse("a ratio is above 0, and not " + model);
        if (!report.begun) report.begin(); // outside run
        String name = work.replaceAll("[|\\s]+", " ");
        var sides = List.of(new Side(current + " " + name + ", platform", platform),
            new Side(current + " " + name + ", virtual", virtual));
        Row row = new Row(current, name, question, unit, mounts() ? model : UNKNOWN,
            sides.getFirst(), sides.getLast(), false);
        if (!report.ask(row)) return row;
        report.progress(place + " " + row.name(), "warm-up");
        for (Side side : sides) side.warmUp();
        // No System.gc(): G1 would give memory back, and samples would pay to touch it anew.
        for (int i = 1; i <= runs; i++) {
            if (report.closed) System.exit(1); // nobody can read the row
            report.progress(place + " " + row.name(), "sample " + i + " of " + runs);
            // Who goes second may find a warmer machine, so the sides take turns.
            for (Side side : i % 2 == 0 ? sides : sides.reversed()) side.sample();
        }
        report.add(row);
        return row;
    }

    /** Returns the milliseconds of one sample: the median of the shots that fit into 200. */
    static double sample(Job job) throws Exception {
        // One shot is at the mercy of the scheduler; one pause of 4 ms spoils a mean.
        return Side.median(shots(job, size(200, 20)));
    }

    /** Does the job for as long as it takes to warm up; returns the ms of the cold start. */
    static double warmUp(Job job) throws Exception {
        // Twice a sample's time warms up long work. Work under 1 ms is mostly the JVM's
        // own code; in so short a time, too few calls of it may come for the C2 compiler.
        List<Double> warmUp = shots(job, size(400, 40));
        if (Side.median(warmUp) < 1) shots(job, size(800, 200));
        return warmUp.getFirst();
    }

    /** Does the job as often as fits, but an odd number of times; returns the ms of each. */
    static List<Double> shots(Job job, double fitMs) throws Exception {
        List<Double> shots = new ArrayList<>();
        double ms = 0;
        do {
            long start = System.nanoTime();
            job.run();
            shots.add((System.nanoTime() - start) / 1e6);
            ms += shots.getLast();
        } while (shots.size() % 2 == 0 || ms + shots.getLast() < fitMs);
        return shots;
    }
}

/** One side of a row: what it reads, its warm-up, which does not count, and its samples. */
class Side {
    private final String name;
    private final Lab.Gauge gauge;
    final List<Double> samples = new CopyOnWriteArrayList<>();
    double warmUp = Lab.UNKNOWN;
    boolean failed;

    Side(String name, Lab.Gauge gauge) {
        this.name = name;
        this.gauge = gauge;
    }

    void warmUp() { failed = !Lab.attempt(name, () -> warmUp = gauge.warmUp()); }

    /** If it fails, the side loses its samples, and gets no more. */
    void sample() {
        if (failed) return;
        failed = !Lab.attempt(name, () -> add(gauge.read()));
        if (failed) samples.clear();
    }

    void add(double sample) { if (Double.isFinite(sample)) samples.add(sample); }

    double median() { return median(samples); }

    /** Beyond a fifth, the next run may well show another ratio. */
    boolean noisy() { return differ(0.25, 0.75); }

    /** Whether the values at these quantiles lie more than a fifth of the median apart. */
    boolean differ(double low, double high) {
        return quantile(samples, high) - quantile(samples, low) > 0.2 * median();
    }

    static double median(Collection<Double> values) { return quantile(values, 0.5); }

    /** The value of the nearest rank: of an odd number, the median is the one in the middle. */
    static double quantile(Collection<Double> values, double q) {
        List<Double> sorted = values.stream().filter(v -> !v.isNaN()).sorted().toList();
        if (sorted.isEmpty()) return Double.NaN;
        return sorted.get((int) Math.round(q * (sorted.size() - 1)));
    }
}

/**
 * One row of the table. A ratio above 1 says that virtual threads need less; without a question
 * there is none. A row is doubted if the ratio may be the machine's doing.
 */
record Row(String experiment, String work, String question, String unit, double model,
        Side platformSide, Side virtualSide, boolean doubted) {
    Row doubt() {
        return new Row(experiment, work, question, unit, model, platformSide, virtualSide,
            true);
    }

    String name() { return experiment + " " + work; }
    double platform() { return platformSide.median(); }
    double virtual() { return virtualSide.median(); }
    double ratio() { return question.isEmpty() ? Lab.UNKNOWN : platform() / virtual(); }
    boolean noisy() {
        return ratio() > 0 && (doubted || platformSide.noisy() || virtualSide.noisy());
    }
    String ratioCell() { return (noisy() ? "~" : "") + Text.fitted(ratio(), "×", 7); }
}

/** Prints the table row by row, and then what failed and what was said. */
class Report {
    static final String CLEAR = "\r" + " ".repeat(79) + "\r"; // removes progress
    static final String SAID = "### What the numbers say\n\n";
    static final String LINE = "| %-12s | %-19s | %8s | %8s | %8s | %6s |\n";
    static final String HEADER =
        LINE.formatted("Experiment", "Work", "Platform", "Virtual", "Ratio", "Model");
    static final String RULE =
        "|--------------|---------------------|---------:|---------:|---------:|-------:|\n";
    final Set<String> failures = new CopyOnWriteArraySet<>(); // each is reported once
    final List<String> sentences = new CopyOnWriteArrayList<>();
    private final PrintStream out = System.out; // even if a call sets another one
    boolean begun;
    boolean closed; // nobody reads standard output

    // What an extension of the report changes. with takes its options out of the words.
    Report with(List<String> words) { return this; }
    String options() { return ""; } // their lines in --help
    List<Experiment> encores(List<Experiment> list) { return List.of(); }
    List<Experiment> plan(List<Experiment> chosen) { return chosen; } // what is to be run
    List<Experiment> followUps() { return List.of(); } // and after the last row
    boolean ask(Row row) { return true; } // whether it's to be measured
    void waited(Row row, String what, int tasks, Lab.Job call) { }

    void begin() {
        begun = true;
        put(head(jvm()));
    }

    String head(List<String> jvm) {
        return "## VirtualThreadsLab\n\n" + items(jvm) + item(run()) + "\n" + HEADER + RULE;
    }

    /** The JVM and the machine, in two lines; and a third one if no virtual thread mounts. */
    static List<String> jvm() {
        var jvm = ManagementFactory.getRuntimeMXBean();
        var gc = ManagementFactory.getGarbageCollectorMXBeans().getFirst();
        List<String> lines = new ArrayList<>();
        lines.add("Java " + Runtime.version() + ", " + jvm.getVmVendor() + ", " + gc.getName());
        lines.add(Text.text("%s %s, processors: %s, carriers: %s, heap: up to %s MB",
            System.getProperty("os.name"), System.getProperty("os.arch"), Lab.PROCESSORS,
            Lab.CARRIERS, Runtime.getRuntime().maxMemory() >> 20));
        if (!Lab.mounts()) lines.add("This JVM has no carriers: each virtual thread is a"
            + " platform thread, so there are no models.");
        return lines;
    }

    /** The day, how much is measured, and the command without what the launcher adds. */
    String run() {
        List<String> command = new ArrayList<>(
            ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.remove("--add-modules=ALL-DEFAULT");
        command.add(System.getProperty("sun.java.command", "").replaceFirst("^jdk\\S+ ", ""));
        return "%s, samples: %s, `java %s`".formatted(java.time.LocalDate.now(), Lab.runs,
            String.join(" ", command));
    }

    void progress(String row, String step) {
        String line = "%s  %s  %s s".formatted(row, step,
            ManagementFactory.getRuntimeMXBean().getUptime() / 1_000);
        print(System.err, "\r%-79.79s".formatted(line));
    }

    void add(Row row) {
        System.err.print(CLEAR);
        put(line(row));
    }

    static String line(Row row) {
        return LINE.formatted(row.experiment(), row.work(), cell(row, row.platform()),
            cell(row, row.virtual()), row.ratioCell(), Text.fitted(row.model(), "×", 6));
    }

    /** A median with its unit. Counts have none: the experiment says what is counted. */
    static String cell(Row row, double value) {
        if (!row.unit().equals("ms")) return Text.fitted(value, "", 8);
        return value > 9_999 ? Text.fitted(value / 1_000, " s", 8)
            : Text.fitted(value, " ms", 8);
    }

    void fail(String what) { failures.add(what); }

    void end() {
        put(section("", items(failures)) + section(SAID, items(sentences)) + "\n"
            + item("Ratio: platform ÷ virtual; above 1×, virtual threads need less.")
            + item("~: noisy, run it again. Model: plain arithmetic."));
    }

    String item(String text) { return "- " + text.replaceAll("\\R", " ") + "\n"; }

    String items(Collection<String> texts) {
        return texts.stream().map(this::item).collect(Collectors.joining());
    }

    static String section(String title, String text) {
        return text.isEmpty() ? "" : "\n" + title + text;
    }

    /** Prints and flushes. If nobody can read on, says so once. */
    void put(String text) {
        print(out, text);
        if (closed || !out.checkError()) return;
        closed = true;
        System.err.println("VirtualThreadsLab: standard output cannot be written");
    }

    void print(PrintStream out, String text) { out.print(text); }
}

/** How numbers and errors are written. */
class Text {
    /** Writes numbers as the table does, alike in every locale, in place of each %s. */
    static String text(String form, Object... values) {
        return String.format(Locale.ROOT, form, Arrays.stream(values)
            .map(v -> v instanceof Number n ? number(n.doubleValue(), "") : v).toArray());
    }

    /** Three digits, two below 0.1, one below 0.01; all of a whole or a large number. */
    static String number(double value, String unit) {
        if (!Double.isFinite(value)) return "—";
        double size = Math.abs(value);
        if (size > 0 && size < 0.001) return "<0.001" + unit;
        String format = size % 1 == 0 || size >= 999.5 ? "%,.0f"
            : size < 0.01 ? "%.1g" : size < 0.1 ? "%.2g" : "%.3g";
        return String.format(Locale.ROOT, format, value) + unit;
    }

    /** The number in at most so many characters; if need be, as 1e+30. */
    static String fitted(double value, String unit, int width) {
        String text = number(value, unit);
        for (int digits = 2; digits >= 0 && text.length() > width; digits--) {
            text = String.format(Locale.ROOT, "%." + digits + "e", value) + unit;
        }
        return text;
    }

    /** Describes an error and its causes in one line. */
    static String reason(Throwable error) {
        return switch (error) { // A javac before 21 stops here, and quotes the next line:
            case ExecutionException x -> reason(x.getCause()); // needs Java 21 or newer
            case CancellationException x -> "not done in two minutes, and so cancelled";
            case AssertionError x -> x.getMessage();
            default -> error
                + " at " + own(Stream.of(error.getStackTrace()).map(Object::toString))
                + (error.getCause() == null ? "" : ", caused by " + reason(error.getCause()));
        };
    }

    /** The first frame that is not the JDK's. Markdown would take a bare <clinit> for HTML. */
    static String own(Stream<String> frames) {
        return frames.filter(frame -> !frame.matches("(java|javax|jdk|sun)\\..*")).findFirst()
            .map(frame -> "`" + frame + "`").orElse("code of the JDK");
    }
}

/** The words that a run takes, and what it does with them. */
class CommandLine {
    static boolean running; // or rows are added outside run

    static void run(List<Experiment> list, String[] args) {
        running = true;
        if ("×".length() > 1) refuse("its text is UTF-8: run it without -Dfile.encoding="
            + System.getProperty("file.encoding"));
        if (Lab.CARRIERS < 1) refuse("jdk.virtualThreadScheduler.parallelism is below 1");
        Map<String, Experiment> all = new LinkedHashMap<>();
        Stream.concat(list.stream(), Lab.report.encores(list).stream()).forEach(one -> {
            boolean taken = all.put(one.name(), one) != null;
            if (taken || one.name().contains("|")) {
                refuse("the name of an experiment is taken, or has a |: " + one.name());
            }
        });
        String help = help(list.size(), all.values());
        List<String> words = new ArrayList<>(List.of(args));
        if (words.contains("--help") || words.contains("-h")) {
            Lab.report.put(help);
            System.exit(Lab.report.closed ? 1 : 0);
        }
        Lab.report = Lab.report.with(words);
        Lab.quick = words.removeAll(List.of("--quick"));
        while (words.contains("--runs")) Lab.runs = number(words, "--runs");
        Set<Experiment> chosen = new LinkedHashSet<>(words.isEmpty() ? list : List.of());
        for (String word : words) {
            if (word.equals("all")) chosen.addAll(all.values());
            else if (all.containsKey(word)) chosen.add(all.get(word));
            else refuse("not understood: '" + word + "', " + advice(word, help));
        }
        Lab.report.begin();
        runAll(Lab.report.plan(List.copyOf(chosen)));
        runAll(Lab.report.followUps());
        Lab.report.end();
        System.exit(Lab.report.failures.isEmpty() && !Lab.report.closed ? 0 : 1);
    }

    static void runAll(List<Experiment> experiments) {
        int n = 0;
        for (var experiment : experiments) {
            n++;
            Lab.place = "[%s/%s]".formatted(n, experiments.size());
            Lab.current = experiment.name();
            Lab.attempt(Lab.current, experiment.body());
        }
    }

    /** Takes an option and the value after it out of the words. */
    static String value(List<String> words, String option) {
        int at = words.indexOf(option);
        words.remove(at);
        if (at == words.size()) refuse(option + " needs a value after it");
        return words.remove(at);
    }

    static int number(List<String> words, String option) {
        String value = value(words, option);
        boolean allowed = value.matches("[1-9]\\d?|100"); // 1 to 99, or 100
        if (!allowed) refuse(option + " takes a number from 1 to 100, not " + value);
        return Integer.parseInt(value);
    }

    static void refuse(String why) {
        System.err.println("VirtualThreadsLab: " + why.replaceAll("\\R", " "));
        System.exit(2);
    }

    /** Suggests what --help names that begins alike. */
    private static String advice(String word, String help) {
        if (word.length() < 3) return "try --help";
        return help.lines().map(line -> line.strip().split(" ")[0])
            .filter(name -> name.startsWith(word.substring(0, 3))).findFirst()
            .map(name -> "did you mean " + name + "?").orElse("try --help");
    }

    private static String help(int first, Collection<Experiment> all) {
        String text = """
            java VirtualThreadsLab.java [option ...] [name ...]
              --quick     smaller sizes: seconds, not a minute, but noisier
              --runs N    N samples of each side, 1 to 100, instead of 5
            """ + Lab.report.options() + """
            Exit code 0: every row was measured; 1: one was not; 2: not understood.
            Without a name, the first %s of these run; with "all", every one:
            """.formatted(first);
        for (var e : all) text += "  %-12s  %s\n".formatted(e.name(), e.summary());
        return text;
    }
}

// ----- Cut here: delete this line and all below it, and write Report for FullReport above.
// What is left is a whole lab of the five. Names below are in full, as imports stay above.

/** Also asks for predictions, keeps calls for the heartbeat, and ends with a chart. */
class FullReport extends Report {
    private static final Scanner KEYBOARD = new Scanner(System.in);
    private static final String GUESSED = "### Your predictions, the furthest first\n\n"
        + LINE.formatted("Experiment", "Work", "You", "Model", "Ratio", "Off by") + RULE;

    /** A row, and what the machine did while it was measured. */
    record Seen(Row row, Machine.State state) { }

    final List<Seen> seen = new CopyOnWriteArrayList<>(); // the hook reads it, too
    final Map<String, Double> guesses = new ConcurrentHashMap<>(); // by the name of the row
    private final Queue<Experiment> waits = new ConcurrentLinkedQueue<>();
    boolean listSamples;
    boolean predict;
    boolean ended;
    private Thread main; // the one that began the report

    @Override Report with(List<String> words) {
        listSamples = words.removeAll(List.of("--samples"));
        predict = words.removeAll(List.of("--predict"));
        if (System.getProperty(Starts.CHILD) != null) return new Starts.Child();
        boolean several = words.contains("--starts") || words.contains("--java");
        return several ? new Starts(this, words) : this;
    }

    @Override String options() {
        return """
              --starts N  N fresh JVMs, 1 to 100; each gives one sample, its median
              --java P    start that JDK; several of them: in turns, and side by side
              --samples   print every sample, too
              --predict   ask for your ratio before each row, and compare at the end
            """;
    }

    /** The encores belong to the five; a list of your own has none. */
    @Override List<Experiment> encores(List<Experiment> list) {
        return list == VirtualThreadsLab.LIST ? Encores.LIST : List.of();
    }

    @Override void begin() {
        main = Thread.currentThread();
        Machine.warmUp();
        new Seen(null, Machine.look()); // now, as later a file of classes may not open
        super.begin();
        Runtime.getRuntime().addShutdownHook(new Thread(this::end));
    }

    /** Asks for the ratio that the reader expects of the next row. */
    @Override boolean ask(Row row) {
        if (!predict || row.question().isEmpty()) return true;
        String much = row.unit().equals("ms") ? "long" : "many " + row.unit();
        print(System.err, CLEAR + "\n" + item(row.name() + ": " + row.question() + "."));
        for (String lost : List.of("Not understood: ", "Not understood, row skipped: ")) {
            print(System.err, "How many times as " + much + " with platform threads, such as 30"
                + " or 1/3 (Enter skips)? ");
            String typed = KEYBOARD.hasNextLine() ? KEYBOARD.nextLine().strip() : "";
            double guess = understood(typed);
            if (guess > 0) guesses.put(row.name(), guess);
            if (guess > 0 || typed.isEmpty()) break;
            String shown = typed.replaceAll("[^ -~]", "?").replaceAll("(.{20}).+", "$1...");
            print(System.err, lost + shown + "\n");
        }
        return true;
    }

    /** The ratio in 50×, ~20, 10 times, 5 %, 1:3, 1 / 10, 0,5 or 1,000; NaN if there's none. */
    static double understood(String typed) {
        String thousands = "(?<!\\b0),(?=\\d{3}\\b)"; // 1,000 as in the table, but not 0,125
        String plain = typed.replaceAll(thousands, "").replace(',', '.').replace("%", "/100")
            .replaceAll("[xX]$|times", "").replaceAll("[^\\w.:/÷-]", ""); // 10x; ~, ×
        String number = "\\d*\\.?\\d+"; // 12, 1.5 or .5
        if (!plain.matches(number + "([/:÷]" + number + ")?")) return Double.NaN; // 3 or 1:3
        String[] parts = (plain + "/1").split("[/:÷]");
        double ratio = Double.parseDouble(parts[0]) / Double.parseDouble(parts[1]);
        return ratio > 0 && Double.isFinite(ratio) ? ratio : Double.NaN;
    }

    @Override void add(Row row) {
        seen.add(judged(row, Machine.look()));
        super.add(seen.getLast().row());
    }

    /** Doubts the row if its ratio may be the machine's doing, as that of counts can't be. */
    static Seen judged(Row row, Machine.State state) {
        // Where the processors moved, a single sample that differs may tell of another state.
        boolean modes = state.moved()
            && (row.platformSide().differ(0, 1) || row.virtualSide().differ(0, 1));
        boolean doubted = modes || state.busy() && !farApart(row);
        return new Seen(doubted && row.unit().equals("ms") ? row.doubt() : row, state);
    }

    /** Beside eight busy processes, no interval of a ratio of 1 came near a factor of three. */
    static boolean farApart(Row row) {
        double[] range = range(row);
        return range[0] > 3 || range[1] < 1 / 3.0;
    }

    /** Keeps the call until the last row is there, as the threads of Flight Recorder stay. */
    @Override void waited(Row row, String what, int tasks, Lab.Job call) {
        waits.add(new Experiment(row.name() + ", heartbeat", () -> {
            progress(Lab.place + " " + row.name(), "heartbeat");
            Lab.current = row.experiment();
            try {
                Lab.say("%s: %s", what, Heartbeat.facts(tasks, call));
            } finally {
                waits.remove();
            }
        }, ""));
    }

    @Override List<Experiment> followUps() { return List.copyOf(waits); }

    /** Prints ASCII instead if the charset lacks one of these characters. */
    @Override void print(PrintStream out, String text) {
        boolean known = out.charset().newEncoder().canEncode("×—–÷µ█▏░│");
        super.print(out, known ? text : text.replace("×", "x").replace("—", "-")
            .replace("–", "-").replace("÷", "/").replace("µ", "u").replace("█", "#")
            .replace("▏", ".").replace("░", "=").replace("│", "|"));
    }

    /** A list item in lines of up to 80 characters, broken at spaces. */
    @Override String item(String text) {
        String line = "(.{1,78})( |$)"; // two spaces come before each but the first
        String part = "(.{78})"; // of a word that is longer
        return super.item(text).strip().replaceAll(line + "|" + part, "$1$3\n  ")
            .stripTrailing() + "\n";
    }

    boolean interrupted() { return main.isAlive() && main != Thread.currentThread(); }

    /** Prints what comes after the rows, once: at the end of the run, or by the hook. */
    @Override synchronized void end() {
        if (ended) return;
        ended = true;
        System.err.print(CLEAR);
        putBody(!interrupted() ? "" : "\n**Partial:** interrupted"
            + (seen.isEmpty() ? " before the first row.\n" : "; these are the finished rows.\n")
            + (waits.isEmpty() ? "" : "No calls were looked into.\n"));
        if (seen.isEmpty()) return;
        put("\n" + item("Ratio: platform ÷ virtual, with its interval of 95 % (Moses) "
                + over() + ".")
            + item("Model: plain arithmetic. ~: don't quote it. The middle half of a side's"
                + " samples spans over 20 % of their median, or it's the machine's doing.")
            + item("▏: a small difference. ░: none of over 5 % is shown.")
            + (Lab.quick ? item(Text.text("--quick: smaller sizes, and so other models;"
                + " pinning has %s tasks per carrier.", Lab.perCarrier())) : "")
            + item(Machine.words(seen)));
    }

    /** Prints all but the last lines. */
    void putBody(String partial) { put(partial + rest()); }

    String over() { return "of this start"; }

    /** What follows a table. */
    String rest() {
        String note = "### Samples\n\nIn brackets: the warm-up, which does not count.\n\n";
        return section("", items(failures))
            + section(GUESSED, predictions())
            + section(SAID, items(sentences))
            + (listSamples ? section(note, each(FullReport::samples)) : "")
            + section("### At a glance\n\n```text\n", chart());
    }

    String each(java.util.function.Function<Row, String> text) {
        return seen.stream().map(Seen::row).map(text).collect(Collectors.joining());
    }

    private String predictions() {
        return seen.stream().map(Seen::row).filter(row -> missed(row) > 0)
            .sorted(Comparator.comparing(this::missed).reversed())
            .map(row -> LINE.formatted(row.experiment(), row.work(),
                Text.fitted(guesses.get(row.name()), "×", 8), Text.fitted(row.model(), "×", 8),
                row.ratioCell(), Text.fitted(missed(row), "×", 6)))
            .collect(Collectors.joining());
    }

    /** By which factor the guess was off; NaN if there was none. */
    private double missed(Row row) {
        double off = guesses.getOrDefault(row.name(), Double.NaN) / row.ratio();
        return Math.max(off, 1 / off);
    }

    private static String samples(Row row) {
        return "- %s, %s, %s: platform%s; virtual%s\n".formatted(row.experiment(), row.work(),
            row.unit(), samples(row.platformSide()), samples(row.virtualSide()));
    }

    private static String samples(Side side) {
        String text = Double.isNaN(side.warmUp) ? "" : " (" + plain(side.warmUp) + ")";
        for (double sample : side.samples) text += " " + plain(sample);
        return text;
    }

    private static String plain(double sample) {
        return new java.math.BigDecimal(sample).round(new java.math.MathContext(5))
            .toPlainString();
    }

    private String chart() {
        String bars = each(FullReport::bar);
        return bars.isEmpty() ? "" : "%45s│ virtual better; █: a factor of 2\n"
            .formatted("platform better ") + bars + "```\n";
    }

    private static String bar(Row row) {
        if (!(row.ratio() > 0)) return "";
        double[] range = range(row);
        boolean shown = range[0] > 1.05 || range[1] < 0.95;
        int twos = (int) Math.round(Math.abs(Math.log(row.ratio()) / Math.log(2)));
        String block = row.noisy() ? "~" : !shown ? "░" : twos == 0 ? "▏" : "█";
        String bar = block.repeat(Math.max(1, twos)); // or it could not be seen
        String ends = range[0] > 0 ? Text.text(" (%s–%s)", range[0], range[1]) : "";
        return "%-12s %-19s %12s│%s %s%s\n".formatted(row.experiment(), row.work(),
            row.ratio() < 1 ? bar : "", row.ratio() < 1 ? "" : bar, row.ratioCell(), ends);
    }

    /** The lowest and the highest ratio of the 95 % interval; NaN for few samples. */
    static double[] range(Row row) {
        List<Double> ratios = new ArrayList<>();
        for (double p : row.platformSide().samples) {
            for (double v : row.virtualSide().samples) ratios.add(p / v);
        }
        Collections.sort(ratios);
        int pairs = ratios.size();
        int samples = row.platformSide().samples.size() + row.virtualSide().samples.size();
        double spread = Math.sqrt(pairs * (samples + 1) / 12.0);
        int leftOut = (int) Math.floor(pairs / 2.0 - 1.96 * spread) - 1; // at each end
        if (leftOut < 0) return new double[] {Double.NaN, Double.NaN};
        return new double[] {ratios.get(leftOut), ratios.get(pairs - 1 - leftOut)};
    }
}

/**
 * Starts the lab in fresh JVMs, one after another; several JDKs take turns. Two starts can
 * differ by more than the samples of one, so here a start gives one sample: its median.
 */
class Starts extends FullReport {
    static final String CHILD = "lab.child"; // a property of each JVM that is started
    private final List<Jdk> jdks = new ArrayList<>();
    private final List<String> words; // of each start
    private int starts = 1;
    private Jdk running;
    private Process process;

    /** A JDK, and what its starts have told. */
    record Jdk(String java, String name, Set<String> jvm, Map<String, Row> rows,
            Map<String, List<Machine.State>> states, FullReport report) { }

    Starts(FullReport options, List<String> words) {
        listSamples = options.listSamples;
        predict = options.predict;
        while (words.contains("--starts")) starts = CommandLine.number(words, "--starts");
        List<String> paths = new ArrayList<>();
        while (words.contains("--java")) paths.add(CommandLine.value(words, "--java"));
        if (paths.isEmpty()) paths.add(System.getProperty("java.home"));
        for (String path : paths) {
            String java = new File(path).isDirectory() ? path + "/bin/java" : path;
            jdks.add(new Jdk(java, "JDK " + feature(java), new LinkedHashSet<>(),
                new LinkedHashMap<>(), new HashMap<>(), new FullReport()));
        }
        this.words = List.copyOf(words);
    }

    /** The version of a JDK that can run the lab. */
    private static String feature(String java) {
        String modules = "";
        try {
            var process = new ProcessBuilder(java, "--list-modules").start();
            modules = process.inputReader().lines().limit(500).collect(Collectors.joining());
        } catch (IOException | UncheckedIOException e) {
            CommandLine.refuse("--java " + java + ": " + e.getMessage());
        }
        String version = modules.replaceFirst(".*java\\.base@(\\d+).*jdk\\.compiler@.*", "$1");
        boolean fits = version.matches("2[1-9]|[3-9]\\d");
        if (!fits) CommandLine.refuse("--java " + java + " is no JDK of 21 or newer");
        return version;
    }

    /** With --predict, the experiments come first, to ask; nothing is measured in this JVM. */
    @Override List<Experiment> plan(List<Experiment> chosen) {
        List<Experiment> plan = new ArrayList<>(predict ? chosen : List.of());
        for (int i = 1; i <= starts; i++) {
            for (Jdk jdk : jdks) plan.add(new Experiment(
                "start %s of %s, %s".formatted(i, starts, jdk.name()), () -> start(jdk), ""));
        }
        return plan;
    }

    @Override boolean ask(Row row) {
        super.ask(row);
        return false;
    }

    @Override void waited(Row row, String what, int tasks, Lab.Job call) { }

    @Override void fail(String what) {
        if (running == null) return; // while it asks; the starts will say the same
        super.fail(what);
        running.report().fail(what);
    }

    private void start(Jdk jdk) throws Exception {
        running = jdk;
        progress(Lab.place + " " + Lab.current, "begins");
        var builder = new ProcessBuilder(command(jdk.java())).redirectErrorStream(true);
        var environment = builder.environment().keySet(); // its options are in the command
        environment.removeAll(Set.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        process = builder.start();
        running.report().sentences.clear();
        List<String> others = new ArrayList<>();
        boolean complete = false;
        try (var lines = process.inputReader(java.nio.charset.StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] told = line.split("\t", -1);
                boolean known = told.length > 2 && told[0].isEmpty() && take(told);
                complete |= known && told[1].equals("end");
                if (!known && !line.isBlank()) others.add(line.strip());
            }
        }
        if (complete) return;
        String exit = Lab.current + ": exit code " + process.waitFor();
        Thread.sleep(300); // Ctrl-C ends it, too, and then nothing is wrong
        fail(Stream.concat(Stream.of(exit), others.stream().limit(3))
            .collect(Collectors.joining(", ")));
    }

    /** The command of this JVM, without --starts and --java, for another one. */
    private List<String> command(String java) {
        List<String> command = new ArrayList<>(List.of(java));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.remove("--add-modules=ALL-DEFAULT"); // the launcher adds it for a source file
        command.addAll(List.of("-Dstdout.encoding=UTF-8", "-D" + CHILD + "=true"));
        String path = System.getProperty("java.class.path");
        String main = System.getProperty("sun.java.command").split(" ")[0];
        String source = System.getProperty("jdk.launcher.sourcefile", main);
        if (main.endsWith(".jar")) command.addAll(List.of("-jar", path));
        else command.addAll(path.isEmpty() ? List.of(source) : List.of("-cp", path, source));
        command.addAll(words);
        return command;
    }

    /** Takes what a Child tells; false if it's something else. */
    private synchronized boolean take(String[] told) {
        switch (told[1]) {
            case "jvm" -> running.jvm().add(told[2]);
            case "progress" ->
                progress(Lab.place + " " + Lab.current + ": " + told[2], told[3]);
            case "row" -> {
                double[] numbers = Stream.of(told).skip(6).mapToDouble(Double::parseDouble)
                    .toArray();
                Row row = running.rows().computeIfAbsent(told[2] + " " + told[3], name ->
                    new Row(told[2], told[3], told[4], told[5], numbers[0],
                        new Side("", Lab.NO_SIDE), new Side("", Lab.NO_SIDE), false));
                row.platformSide().add(numbers[1]);
                row.virtualSide().add(numbers[2]);
                running.states().computeIfAbsent(row.name(), name -> new ArrayList<>())
                    .add(new Machine.State(numbers[3], numbers[4], numbers[5], numbers[6]));
            }
            case "failed" -> fail(Lab.current + ": " + told[2]);
            case "said" -> running.report().sentences.add(told[2]);
            default -> { return told[1].equals("end"); }
        }
        return true;
    }

    @Override String head(List<String> jvm) { return ""; } // it comes with each table
    @Override String over() { return "over the starts"; }
    @Override String run() {
        return super.run().replace(" samples", " starts: " + starts + ", samples");
    }

    @Override synchronized void end() {
        if (process != null) process.destroyForcibly();
        if (!ended) for (Jdk jdk : jdks) {
            for (Row row : jdk.rows().values()) jdk.report().seen.add(
                judged(row, Machine.State.of(jdk.states().get(row.name()), 0.5)));
            seen.addAll(jdk.report().seen);
        }
        super.end();
    }

    @Override void putBody(String partial) {
        for (Jdk jdk : jdks) {
            var report = jdk.report();
            report.guesses.putAll(guesses);
            report.listSamples = listSamples;
            put(super.head(List.copyOf(jdk.jvm())) + report.each(Report::line) + partial
                + report.rest().replace(SAID, SAID.replace("numbers", "last start's numbers"))
                + (jdk == jdks.getLast() ? "" : "\n"));
        }
        if (jdks.size() > 1) put(sideBySide());
    }

    /** The ratios of all rows, with a column for each JDK. */
    private String sideBySide() {
        String form = " %21s |";
        String head = "\n### Side by side\n\n| Experiment   | Work                |";
        String rule = "\n|--------------|---------------------|";
        Map<String, String> lines = new LinkedHashMap<>(); // by the names of the rows
        for (Jdk jdk : jdks) {
            head += form.formatted(jdk.name());
            rule += "----------------------:|";
            for (Row row : jdk.rows().values()) lines.putIfAbsent(row.name(),
                "\n| %-12s | %-19s |".formatted(row.experiment(), row.work()));
        }
        for (Jdk jdk : jdks) {
            var cells = jdk.report().seen.stream().map(Seen::row)
                .collect(Collectors.toMap(Row::name, Starts::cell));
            lines.replaceAll((name, line) ->
                line + form.formatted(cells.getOrDefault(name, "—")));
        }
        return head + rule + String.join("", lines.values()) + "\n";
    }

    /** The median ratio and its range over the starts; if there's none, the virtual side's. */
    private static String cell(Row row) {
        var platform = row.platformSide().samples;
        var virtual = row.virtualSide().samples;
        boolean ratio = row.ratio() > 0;
        int starts = ratio ? Math.min(platform.size(), virtual.size()) : virtual.size();
        var range = IntStream.range(0, starts).mapToDouble(i ->
            ratio ? platform.get(i) / virtual.get(i) : virtual.get(i)).summaryStatistics();
        String least = Text.text("%s", range.getMin());
        String most = Text.text("%s", range.getMax());
        return (ratio ? row.ratioCell() : cell(row, row.virtual()))
            + (least.equals(most) ? "" : " (" + least + "–" + most + ")");
    }

    /** The report of a start: a line for each thing that happens, tabs between its parts. */
    static class Child extends FullReport {
        Child() {
            Thread.ofPlatform().daemon().start(() -> {
                try (var in = System.in) {
                    in.transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                    // the same
                }
                Runtime.getRuntime().halt(1); // as the JVM that started this one has ended
            });
        }

        @Override void begin() {
            super.begin();
            for (String line : jvm()) tell("jvm", line);
        }

        @Override void put(String text) { } // whoever reads the lines makes a report of them
        @Override void progress(String row, String step) { tell("progress", row, step); }

        @Override void add(Row row) {
            var state = Machine.look();
            tell("row", row.experiment(), row.work(), row.question(), row.unit(),
                "" + row.model(), "" + row.platform(), "" + row.virtual(),
                "" + state.others(), "" + state.stolen(), "" + state.near(), "" + state.far());
        }

        @Override synchronized void end() {
            if (ended) return;
            ended = true;
            for (String what : failures) tell("failed", what);
            for (String what : sentences) tell("said", what);
            if (!interrupted()) tell("end", "of this start");
        }

        private void tell(String... words) {
            super.put(Stream.of(words).map(word -> word.replaceAll("\\s+", " "))
                .collect(Collectors.joining("\t", "\n\t", "\n")));
        }
    }
}

/** What else the machine did: what others used of it, and how far apart its processors were. */
class Machine {
    private static final AtomicInteger BALL = new AtomicInteger(); // odd: the partner has it
    private static final Thread PARTNER =
        Thread.ofPlatform().daemon().name("ball").start(Machine::partner);
    private static double[] ticks = new double[8]; // by kind, as in /proc/stat; [7]: stolen
    private static double trip = Double.NaN; // ns, at the last look
    private static long looked = System.nanoTime() - 1_000_000_000; // so the first look counts
    static boolean pair; // the machine has two processors, not two of many
    private static final double FAR = 2.5; // times near; looks alone differ by up to a half

    /** What happened between two looks: shares of the processors, and round trips in ns. */
    record State(double others, double stolen, double near, double far) {
        boolean busy() { return others > 0.1 || stolen > 0.1; }

        /** Were the processors near and far? Among many, they may have been two other ones. */
        boolean moved() { return pair && far > FAR * near; }

        /** All of them as one: the shares at this quantile, the nearest and the farthest. */
        static State of(List<State> states, double q) {
            return new State(Side.quantile(states.stream().map(State::others).toList(), q),
                Side.quantile(states.stream().map(State::stolen).toList(), q),
                Side.quantile(states.stream().map(State::near).toList(), 0),
                Side.quantile(states.stream().map(State::far).toList(), 1));
        }
    }

    /** Has the round trip compiled, so that the first look can be compared with later ones. */
    static void warmUp() { shortest(20, 100); }

    /** Says what has happened since the last look. */
    static State look() {
        double before = trip;
        trip = shortest(3, 20);
        double[] shares = {Double.NaN, Double.NaN};
        if (System.nanoTime() - looked > 500_000_000) { // the system counts in 10 ms
            shares = shares();
            looked = System.nanoTime();
        }
        return new State(shares[0], shares[1], Math.min(before, trip), Math.max(before, trip));
    }

    /** Returns what others and a hypervisor used of the processors since the last call. */
    private static double[] shares() {
        var system = ManagementFactory.getPlatformMXBean(
            com.sun.management.OperatingSystemMXBean.class);
        double all = system.getCpuLoad(); // below 0: unknown
        double others = all < 0 ? Double.NaN : Math.max(0, all - system.getProcessCpuLoad());
        double[] before = ticks;
        ticks = new double[8];
        try {
            String stat = java.nio.file.Files.readString(java.nio.file.Path.of("/proc/stat"));
            String[] words = stat.split("\\s+"); // cpu 4705 356 ...
            for (int i = 0; i < 8; i++) ticks[i] = Double.parseDouble(words[i + 1]);
            pair = stat.contains("\ncpu1 ") && !stat.contains("\ncpu2 ");
        } catch (IOException | RuntimeException e) { // only Linux has it
            ticks[7] = Double.NaN;
        }
        double passed = DoubleStream.of(ticks).sum() - DoubleStream.of(before).sum();
        return new double[] {others, (ticks[7] - before[7]) / passed};
    }

    /** Passes the ball back; a new thread each time might begin on the same processor. */
    private static void partner() {
        while (true) {
            int seen = BALL.get();
            if (seen == 0) LockSupport.park();
            else if (seen % 2 == 1) BALL.compareAndSet(seen, seen + 1);
            else Thread.onSpinWait();
        }
    }

    /** The ns of the shortest of so many round trips, or of fewer in mostMs; NaN if of none. */
    private static double shortest(int tries, int mostMs) {
        if (Lab.PROCESSORS < 2) return Double.NaN;
        BALL.set(2);
        LockSupport.unpark(PARTNER);
        // The partner may wait for this thread's processor until the system moves it.
        long end = System.nanoTime() + mostMs * 1_000_000L;
        double least = Double.POSITIVE_INFINITY;
        while (tries > 0 && System.nanoTime() < end) {
            double ns = roundTrip();
            least = Math.min(least, ns);
            if (Double.isFinite(ns)) tries--;
        }
        BALL.set(0);
        return Double.isFinite(least) ? least : Double.NaN;
    }

    /** The ns of a round trip in the shortest of 100 batches; infinite if one ran alone. */
    private static double roundTrip() {
        double least = Double.POSITIVE_INFINITY;
        for (int batch = 0; batch < 100; batch++) {
            long start = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                int turn = BALL.incrementAndGet();
                for (int spins = 0; BALL.get() == turn && spins < 10_000; spins++) {
                    Thread.onSpinWait();
                }
                if (BALL.compareAndSet(turn, turn + 1)) return Double.POSITIVE_INFINITY;
            }
            least = Math.min(least, (System.nanoTime() - start) / 20.0);
        }
        return least;
    }

    /** What the states say of the machine, and which of these rows still tell something. */
    static String words(List<FullReport.Seen> seen) {
        State all = State.of(seen.stream().map(FullReport.Seen::state).toList(), 1);
        String words = Text.text("Other programs used up to %s %% of the processors, a"
            + " hypervisor %s %%", Math.rint(100 * all.others()),
            Math.rint(100 * all.stolen()));
        var busy = seen.stream().filter(one -> one.state().busy()).map(FullReport.Seen::row)
            .toList();
        if (!busy.isEmpty()) words += Text.text(", and disturbed %s of %s rows. ", busy.size(),
            seen.size()) + busy.stream().filter(FullReport::farApart).map(Row::name)
            .reduce((a, b) -> a + ", " + b).map(names -> "These still tell which side is"
                + " better, by over a factor of three: " + names).orElse("None of these holds");
        if (Double.isNaN(all.near())) return words + ".";
        words += ". A message to another processor and back took ";
        long far = seen.stream().filter(one -> one.state().far() > FAR * all.near()).count();
        if (far == 0) return words + Text.text("%s ns.",
            Side.median(seen.stream().map(one -> one.state().near()).toList()));
        return words + Text.text("%s ns at best; around %s of %s rows, it took over 2.5 times"
            + " as long, up to %s ns.", all.near(), far, seen.size(), all.far());
    }
}

/**
 * While tasks make a call again and again, can another virtual thread run? A virtual thread
 * beside them ticks each millisecond. A call that leaves its carrier lets that thread run; one
 * that doesn't starves it, however short the call. A platform thread ticks, too: what it misses
 * is the machine's fault, not a carrier's. Flight Recorder names what pinned.
 */
class Heartbeat extends Lab { // so that it can write text(…) and runAll(…)
    private static final long PASS = 200_000_000; // ns; 200 ticks, and not long to wait for
    private static final int MOST_CARRIERS = Integer.getInteger(
        "jdk.virtualThreadScheduler.maxPoolSize", Math.max(256, CARRIERS));
    private static final double LATE = 5; // ms; less is the timer's or the scheduler's doing

    /** Says what pinned, whether a carrier was free, and how many calls were under way. */
    static String facts(int tasks, Job call) throws Exception {
        double alone = alone(call);
        long start = System.nanoTime();
        List<Pass> passes = new ArrayList<>();
        String pins = recorded(() -> passes.add(pass(tasks, call)));
        // Recording disturbs, so others tell the rest, unless a call takes very long.
        Pass least = passes.isEmpty() || System.nanoTime() - start < 10_000_000_000L
            ? leastBlocked(tasks, call) : passes.getFirst();
        String facts = pins + least.facts(tasks, alone, !pins.isEmpty());
        if (least.failed() == 0) return facts;
        return text("%s of %s calls failed", least.failed(), least.calls())
            + (least.failed() == least.calls() ? "" : "; " + facts);
    }

    /** Of up to five passes, as other programs can only add to what is missed. */
    private static Pass leastBlocked(int tasks, Job call) throws Exception {
        Pass least = pass(tasks, call);
        long start = System.nanoTime();
        for (int more = 0; more < 4 && !least.clear(); more++) {
            if (System.nanoTime() - start > 10_000_000_000L) break;
            least = least.orBetter(pass(tasks, call));
        }
        return least;
    }

    /** Returns the mean ms of a call by a platform thread alone; NaN if it fails. */
    private static double alone(Job call) {
        List<Double> shots = new ArrayList<>();
        try {
            runAll(newThreadPerTaskExecutor(Thread::new), 1, () ->
                shots.addAll(shots(call, 100)));
        } catch (Exception | Error e) {
            return UNKNOWN; // the row tells why
        }
        return shots.stream().mapToDouble(ms -> ms).average().orElse(UNKNOWN);
    }

    /**
     * What two ticking threads missed while the tasks called, what a carrier computed, and how
     * long it had work but no processor; all in ms.
     */
    record Pass(double elapsed, double virtual, double platform, double computed, double lost,
            List<String> held, int calls, int failed) {
        /** For over a fifth of the pass, not even a platform thread could tick. */
        boolean disturbed() { return platform > 0.2 * elapsed; }

        boolean computing() { return computed > 0.5 * (elapsed - lost); }

        /** The share of the time in which the calls left no carrier free. */
        double blocked() {
            double notTheirs = computing() ? platform : Math.max(platform, lost);
            return Math.clamp((virtual - notTheirs) / elapsed, 0, 1);
        }

        /** In between, the call or other programs may be the cause. */
        boolean clear() { return !disturbed() && (blocked() < 0.2 || blocked() > 0.6); }

        Pass orBetter(Pass next) {
            boolean less = next.blocked() < blocked() && !next.disturbed();
            return less || disturbed() ? next : this;
        }

        String facts(int tasks, double alone, boolean named) {
            if (disturbed()) return "the machine was too busy to tell if a carrier was free";
            double ms = blocked() * elapsed;
            String facts = blocked() < 0.01 ? "a carrier was always free" : blocked() < 0.2
                ? text("a carrier was free for %s of %s ms", elapsed - ms, elapsed)
                : text("no carrier was free for %s of %s ms", ms, elapsed);
            if (computed > 0.1 * elapsed) {
                facts += text("; each carrier computed for %s ms", computed)
                    + (lost > 0.1 * elapsed ? text(" and lost %s ms to others", lost) : "");
            }
            int added = held.size() - CARRIERS;
            if (added > 0) facts += text("; added carriers in use: %s, of %s at most", added,
                MOST_CARRIERS - CARRIERS);
            if (!named && (added > 0 || blocked() >= 0.2)) facts += held.stream()
                .max(Comparator.comparing(place -> Collections.frequency(held, place)))
                .map(place -> ", mostly at " + place).orElse("");
            // Calls that compute share processors, and a pause can be as long as a short call.
            boolean vague = computing() || alone < LATE && platform > 0.05 * elapsed;
            if (vague || Double.isNaN(alone)) return facts;
            double atOnce = Math.rint(calls * alone / elapsed); // Little's law
            return facts + text("; %s of %s calls %s under way at once",
                Math.clamp(atOnce, 1, tasks), tasks, atOnce > 1 ? "were" : "was");
        }
    }

    /** Lets each task call until 200 ms are over, beside two threads that tick. */
    private static Pass pass(int tasks, Job call) throws Exception {
        var done = new AtomicBoolean();
        var calls = new AtomicInteger();
        var failed = new AtomicInteger();
        Set<Thread> callers = ConcurrentHashMap.newKeySet();
        var platform = newThreadPerTaskExecutor(Thread::new).submit(() -> missedMs(done::get));
        var virtual = newVirtualThreadPerTaskExecutor().submit(() -> missedMs(done::get));
        var middle = newThreadPerTaskExecutor(Thread::new).submit(() -> held(callers));
        double computed = computedMs();
        double lost = lostMs();
        long start = System.nanoTime();
        attempt(current + ", heartbeat", () ->
            runAll(newVirtualThreadPerTaskExecutor(), tasks, () -> {
                callers.add(Thread.currentThread());
                do {
                    calls.incrementAndGet();
                    try {
                        call.run();
                    } catch (InterruptedException e) {
                        throw e; // two minutes are over
                    } catch (Exception | Error e) {
                        failed.incrementAndGet();
                    }
                } while (System.nanoTime() - start < PASS);
            }));
        double elapsed = (System.nanoTime() - start) / 1e6;
        computed = (computedMs() - computed) / CARRIERS;
        lost = (lostMs() - lost) / Math.max(CARRIERS, carriers().size()); // with added ones
        done.set(true);
        return new Pass(elapsed, virtual.get(), platform.get(), computed, lost,
            middle.get(), calls.get(), failed.get());
    }

    static double missedMs(Callable<Boolean> done) throws Exception {
        double missed = 0;
        long last = System.nanoTime();
        while (!done.call()) {
            LockSupport.parkNanos(1_000_000);
            long now = System.nanoTime();
            double late = (now - last) / 1e6 - 1;
            if (late > LATE) missed += late;
            last = now;
        }
        return missed;
    }

    /** In the middle of a pass, says where each caller is that is on a carrier. */
    private static List<String> held(Set<Thread> callers) throws Exception {
        TimeUnit.NANOSECONDS.sleep(PASS / 2);
        return callers.stream().filter(thread -> thread.toString().contains("@")) // its carrier
            .map(thread -> Text.own(Stream.of(thread.getStackTrace()).map(at ->
                at(at.getClassName(), at.getMethodName(), at.getLineNumber()))))
            .limit(carriers().size()).toList();
    }

    /** The live carriers, by the name of their class, which the JDK does not export. */
    private static List<Thread> carriers() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread ->
            thread.getClass().getSimpleName().equals("CarrierThread")).toList();
    }

    private static double computedMs() {
        var bean = ManagementFactory.getThreadMXBean();
        double nanos = 0;
        for (var carrier : carriers()) nanos += bean.getThreadCpuTime(carrier.threadId());
        return nanos / 1e6;
    }

    /** For how long carriers were ready, but others had the processors; 0 if not on Linux. */
    private static double lostMs() {
        double nanos = 0;
        File[] threads = new File("/proc/self/task").listFiles();
        for (File thread : threads == null ? new File[0] : threads) {
            try (var name = new Scanner(new File(thread, "comm"));
                    var times = new Scanner(new File(thread, "schedstat"))) {
                // JDK 27 leaves out the middle of a long name, where others cut its end.
                boolean carrier = name.nextLine().matches("ForkJoinPool-1-|ForkJoi[.]{2}.*");
                times.nextLong(); // on a processor
                if (carrier) nanos += times.nextLong();
            } catch (IOException | NoSuchElementException e) {
                // it has ended meanwhile
            }
        }
        return nanos / 1e6;
    }

    /** Says how many waits of a pass were pinned, and where the longest was. */
    private static String recorded(Job pass) {
        List<jdk.jfr.consumer.RecordedEvent> pins = new CopyOnWriteArrayList<>();
        try {
            java.nio.file.Files.write(java.nio.file.Files.createTempFile("room", null),
                new byte[4 << 20], // without this room, recording would end the JVM
                java.nio.file.StandardOpenOption.DELETE_ON_CLOSE);
            try (var recording = new jdk.jfr.consumer.RecordingStream()) {
                recording.enable("jdk.VirtualThreadPinned").withStackTrace()
                    .withThreshold(java.time.Duration.ofMillis(1)); // shorter ones are many
                recording.onEvent("jdk.VirtualThreadPinned", pins::add);
                recording.setReuse(false);
                recording.startAsync();
                pass.run();
                recording.stop(); // waits for the events
            }
        } catch (Exception | LinkageError | VirtualMachineError e) {
            return "pinned waits not known: " + e + "; ";
        }
        if (pins.isEmpty()) return "";
        var longest = Collections.max(pins, Comparator.comparing(pin -> pin.getDuration()));
        String where = Text.own(longest.getStackTrace().getFrames().stream().map(at ->
            at(at.getMethod().getType().getName(), at.getMethod().getName(),
                at.getLineNumber())));
        String reason = "pinnedReason"; // from JDK 24 on
        if (longest.hasField(reason)) where += " (" + why(longest.getString(reason)) + ")";
        String often = pins.size() == 1 ? "once" : text("%s times", pins.size());
        return text("pinned %s, longest at %s; ", often, where);
    }

    /** Leaves out Name/0x00007f, which a class without a name of its own has. */
    private static String at(String type, String method, int line) {
        return (type + "." + method + ":" + line).replaceAll("[./+]0x\\w+", "");
    }

    /** The JVM's reason in words; see post_vthread_pinned_event in its javaThread.cpp. */
    static String why(String reason) {
        return reason.startsWith("VM call to ") ? "in a class initializer"
            : reason.startsWith("Waited for init") ? "another thread initializes the class"
            : reason.startsWith("Native") ? "native code or the JVM's is on the stack"
            : reason.endsWith("failed (2)") ? "the JDK lets no thread leave there"
            : "`" + reason + "`";
    }
}

/** More experiments, and what only they use. */
class Encores extends Lab { // so that an experiment can write time(…)
    static final List<Experiment> LIST = List.of(
        new Experiment("println", Encores::println, "one thread prints lines to a file"),
        new Experiment("http", Encores::http,
            "calls come at a fixed rate: pool of 20, or virtual thread each"),
        new Experiment("mixed", Encores::mixed, "tasks compute, then call a server"),
        new Experiment("capacity", Encores::capacity, "20 at once: pool, or semaphore"),
        new Experiment("thread-local", Encores::threadLocal,
            "objects that a cache makes: pool of 200, or virtual thread each"),
        new Experiment("million", Encores::million, "park a million virtual threads"),
        new Experiment("time-sharing", Encores::timeSharing, "short task behind long ones"),
        new Experiment("lost-lock", Encores::lostLock, "hand a lock down a line"));

    /**
     * println. Does a single printing task run faster on a virtual thread?
     * Fair: the same lines, and each is written at once, as by System.out. The sides take
     * turns, as a cold one is often slower. The file must have all of its bytes afterwards.
     * Prediction: 1×, as nothing waits while something else could run. On JDK 21 and 22 less:
     * there each write adjusts the scheduler's parallelism (JDK-8329593, fixed in 23).
     * Try: int lines = 10; Which side is faster now, and why?
     */
    static void println() throws Exception {
        int lines = 100_000;
        double predicted = JDK < 23 ? UNKNOWN : 1;
        File file = java.nio.file.Files.createTempFile("lines", ".txt").toFile();
        file.deleteOnExit();
        Job print = () -> printLines(file, lines);
        time(text("%s lines", lines), "one thread prints them to a file; platform, or virtual",
            predicted,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), 1, print),
            () -> runAll(newVirtualThreadPerTaskExecutor(), 1, print));
    }

    static void printLines(File file, int lines) throws Exception {
        long bytes = 0;
        try (var out = new PrintStream(new FileOutputStream(file))) {
            for (int i = 0; i < lines; i++) {
                String line = "line " + i;
                out.println(line);
                bytes += line.length() + System.lineSeparator().length();
            }
            if (out.checkError()) throw new IOException("cannot write; is the disk full?");
        }
        check("bytes in the file", bytes, file.length());
    }

    /**
     * http. What does a service gain from one virtual thread per call, if its handler waits?
     * Fair: the same calls, due at the same times, whether or not others are answered yet; only
     * the executors differ. Latency counts from the moment when a call is due.
     * Prediction: a pool of 20 answers 400 calls of 50 ms a second. At 320 a second, none waits
     * for a thread: 1×. At 600, the queue grows by half a second each second: after one second,
     * in the middle, a call takes 500 + 50 ms against 50: 11×. Real calls come in bunches, so
     * some have to wait even at 320.
     * Try: int pool = 40; How much of the gain is left?
     */
    static void http() throws Exception {
        int pool = 20;
        int waitMs = 50;
        int lastMs = size(2_000, 500);
        double capacity = pool * 1_000.0 / waitMs; // calls a second
        try (var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            for (int rate : new int[] {320, 600}) {
                double lineMs = Math.max(0, rate / capacity - 1) * lastMs / 2;
                double predicted = (lineMs + waitMs) / waitMs;
                String question = text("the median latency of calls that wait %s ms and come at"
                    + " %s a second for %s ms; " + POOL, waitMs, rate, lastMs, pool);
                var late = new AtomicInteger();
                measure(text("%s calls a second", rate), question, "ms", predicted,
                    () -> pooled.latency(() -> late.addAndGet(pooled.callAt(rate, lastMs))),
                    () -> virtual.latency(() -> late.addAndGet(virtual.callAt(rate, lastMs))));
                if (late.get() > 0) say("%s calls a second: the lab sent %s calls more than 20"
                    + " ms late, which is part of their latency", rate, late);
            }
        }
    }

    /**
     * mixed. Tasks compute, then call a server. How long do all take? One task? Its call?
     * Fair: the same tasks, client and server, and a thread per task that makes its own call.
     * Prediction: 1× for all, and at least that from submission to the median answer: tasks on
     * platform threads share the processors, so they end late together. But a virtual thread
     * isn't resumed until a carrier is free, and nothing interrupts what computes there: its
     * call seems to take longer. Of n tasks per carrier, the one in the middle has (n - 1) ÷ 2
     * behind it: that is the model up to JDK 25, where all share one queue. From 26 on, there
     * are more, and it may be resumed sooner.
     * Try: int index = 30; int number = 832_040; How long is a call if tasks compute less?
     */
    static void mixed() throws Exception {
        int rounds = 10; // of computations, if each processor has a thread
        int tasks = rounds * PROCESSORS;
        int waitMs = size(120, 60);
        int index = size(37, 34);
        int number = size(24_157_817, 5_702_887);
        Job compute = () -> check("as a Fibonacci number", number, fibonacci(index));
        double ms = sample(compute); // alone
        double roundsOfCarriers = Math.ceilDiv(tasks, Math.min(CARRIERS, PROCESSORS));
        double predicted = (rounds * ms + waitMs) / (roundsOfCarriers * ms + waitMs);
        double shared = ms * Math.max(1, (double) CARRIERS / PROCESSORS);
        double tasksBehind = (Math.ceilDiv(tasks, CARRIERS) - 1) / 2.0;
        double predictedCall = JDK > 25 ? UNKNOWN
            : waitMs / Math.max(waitMs, tasksBehind * shared);
        String question = text("%s tasks compute for %s ms, then call a server that waits %s"
            + " ms; " + EACH, tasks, ms, waitMs);
        try (var server = new Server(newFixedThreadPool(tasks), waitMs)) {
            Job sinceStart = () -> {
                compute.run();
                server.call(server.start);
            };
            Job alone = () -> {
                compute.run();
                server.call(System.nanoTime());
            };
            Job platform = () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, alone);
            Job virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, alone);
            time(tasks + " tasks", question, predicted, platform, virtual);
            measure("median answer", "since the start; " + question, "ms", UNKNOWN,
                () -> server.latency(() ->
                    runAll(newThreadPerTaskExecutor(Thread::new), tasks, sinceStart)),
                () -> server.latency(() ->
                    runAll(newVirtualThreadPerTaskExecutor(), tasks, sinceStart)));
            measure("median call", "as its task sees it; " + question, "ms", predictedCall,
                () -> server.latency(platform), () -> server.latency(virtual));
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
        var most = new AtomicInteger(limit);
        Job hold = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            try {
                Thread.sleep(holdMs);
            } finally {
                inside.decrementAndGet();
            }
        };
        Job gated = () -> {
            permits.acquire();
            try {
                hold.run();
            } finally {
                permits.release();
            }
        };
        Job counted = () -> check("tasks inside at once", limit, most.getAndSet(limit));
        String question = text("%s tasks hold something for %s ms, %s at a time; a pool of"
            + " platform threads, or virtual threads and a semaphore", tasks, holdMs, limit);
        time(text("%s × %s ms by %s", tasks, holdMs, limit), question, predicted,
            () -> {
                runAll(newFixedThreadPool(limit), tasks, hold);
                counted.run();
            },
            () -> {
                runAll(newVirtualThreadPerTaskExecutor(), tasks, gated);
                counted.run();
            });
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
        String question = text("how many objects a ThreadLocal makes; " + POOL, pool);
        Row row = measure(text("%s tasks", tasks), question, "objects", predicted,
            () -> buffersMade(newFixedThreadPool(pool), tasks),
            () -> buffersMade(newVirtualThreadPerTaskExecutor(), tasks));
        say("in one run, the cache made %s MB of buffers for the pool and %s MB for virtual"
            + " threads", row.platform() * 8_192 / 1e6, row.virtual() * 8_192 / 1e6);
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
     * There is no platform side: a system's default limits are far below a million threads.
     * The weight is that of a thread, its stack and its entry in the JDK's list of threads: the
     * heap after a full collection, while all are parked. The first reading still includes
     * leftovers of earlier work, so it's the warm-up.
     * Prediction: at most a few microseconds each, including the heap's growth and its
     * collections, as long as the heap has room. The weight grows with the stack.
     * Try: java -Xmx256m VirtualThreadsLab.java million. Which rows are still measured?
     */
    static void million() throws Exception {
        for (int n : new int[] {10_000, 100_000, size(1_000_000, 200_000)}) {
            long[] before = collections();
            measure(text("%s parked", n), NO_RATIO, "ms", UNKNOWN, NO_SIDE, new Parked(n));
            long[] after = collections();
            say("while %s were parked again and again, collections of the heap: %s, which took"
                + " %s ms in all", n, after[0] - before[0], after[1] - before[1]);
        }
        int n = size(100_000, 20_000);
        int frames = 50;
        Row shallow = measure("bytes, shallow", NO_RATIO, "bytes", UNKNOWN, NO_SIDE,
            () -> weigh(n, 0));
        Row deep = measure(text("bytes, %s frames", frames), NO_RATIO, "bytes", UNKNOWN,
            NO_SIDE, () -> weigh(n, frames));
        say("each of %s parked virtual threads took %s bytes of the heap, and %s for each"
            + " further frame of its stack", n, shallow.virtual(),
            (deep.virtual() - shallow.virtual()) / frames);
    }

    /** The ms until n virtual threads have parked; it warms up by doing so again and again. */
    record Parked(int n) implements Gauge {
        public double read() throws Exception {
            long start = System.nanoTime();
            return (park(n, 0, System::nanoTime) - start) / 1e6;
        }

        public double warmUp() throws Exception {
            shots(() -> park(n, 0, () -> 0), size(800, 80));
            return read();
        }
    }

    /** Returns the bytes of heap that each of n parked virtual threads takes. */
    static double weigh(int n, int frames) throws Exception {
        var heap = ManagementFactory.getMemoryMXBean();
        heap.gc();
        long before = heap.getHeapMemoryUsage().getUsed();
        long parked = park(n, frames, () -> {
            heap.gc();
            return heap.getHeapMemoryUsage().getUsed();
        });
        return (parked - before) / (double) n;
    }

    /** Starts n virtual threads that park, asks once all have got there, and lets them go. */
    static <T> T park(int n, int frames, Callable<T> question) throws Exception {
        long most = Runtime.getRuntime().maxMemory() >> 20;
        long needed = (n * (2_000L + 120 * frames)) >> 20; // MB: more than twice their weight
        if (needed > most) throw new IllegalStateException(text(
            "needs about %s MB of heap, where the limit is %s MB", needed, most));
        var come = new CountDownLatch(n);
        var open = new AtomicBoolean();
        var threads = new Thread[n];
        try {
            for (int i = 0; i < n; i++) threads[i] = Thread.startVirtualThread(() -> {
                come.countDown();
                parkBelow(frames, open);
            });
            come.await();
            return question.call();
        } finally {
            open.set(true);
            for (Thread thread : threads) LockSupport.unpark(thread);
            for (Thread thread : threads) if (thread != null) thread.join();
        }
    }

    static void parkBelow(int frames, AtomicBoolean open) {
        if (frames > 0) parkBelow(frames - 1, open);
        else while (!open.get()) LockSupport.park();
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
     * virtual one waits until a long task ends, so its delay is about as long as that task: its
     * scheduler has no time sharing (JEP 444).
     * Try: in fibonacci, if (n == 20) Thread.yield(); On which JDK is the short task sooner?
     */
    static void timeSharing() throws Exception {
        int busy = Math.max(PROCESSORS, CARRIERS);
        String question = "how long until a short task begins, behind tasks that compute; "
            + EACH;
        Row row = measure("delay behind " + busy, question, "ms", UNKNOWN,
            () -> delay(newThreadPerTaskExecutor(Thread::new), busy),
            () -> delay(newVirtualThreadPerTaskExecutor(), busy));
        double longMs = shots(Encores::longTask, 1).getFirst();
        say("behind long tasks of %s ms each, a short one was delayed by %s ms as a platform"
            + " thread and by %s ms as a virtual thread", longMs, row.platform(),
            row.virtual());
    }

    static void longTask() { check("as a Fibonacci number", 39_088_169, fibonacci(38)); }

    /** Returns the milliseconds until the short task runs. */
    static double delay(ExecutorService executor, int busy) throws Exception {
        var begun = new CountDownLatch(busy);
        List<Future<?>> computing = new ArrayList<>();
        try (executor) {
            for (int i = 0; i < busy; i++) computing.add(executor.submit(() -> {
                begun.countDown();
                longTask();
            }));
            begun.await();
            long start = System.nanoTime();
            var shortTask = executor.submit(() -> (System.nanoTime() - start) / 1e6);
            for (var done : computing) done.get();
            return shortTask.get();
        }
    }

    /**
     * lost-lock. One task waits for a ReentrantLock; behind it, one per carrier does so inside
     * its own synchronized block. How long after the lock's release are all of them done?
     * Fair: the same tasks in the same order, a thread per task; each gives up after 500 ms.
     * Prediction: far less than a millisecond for each. But up to JDK 23 the monitors pin every
     * carrier. It's the turn of the first in line, but it gets none until another gives up.
     * Try: i < CARRIERS for i <= CARRIERS. How long does JDK 21 take with one waiter fewer?
     */
    static void lostLock() throws Exception {
        var platformLost = new AtomicInteger();
        var virtualLost = new AtomicInteger();
        Row row = measure((CARRIERS + 1) + " in line", "a lock is released; how long until each"
            + " had it; platform threads, or virtual threads", "ms", UNKNOWN,
            () -> handOver(newThreadPerTaskExecutor(Thread::new), platformLost),
            () -> handOver(newVirtualThreadPerTaskExecutor(), virtualLost));
        say("after the release, all were done in %s ms as platform threads and in %s ms as"
            + " virtual threads; in all samples and the warm-up, %s platform and %s"
            + " virtual waiters gave up", row.platform(), row.virtual(), platformLost,
            virtualLost);
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
        try (executor) {
            for (int i = 0; i <= CARRIERS; i++) {
                waiting.add(executor.submit(i == 0 ? waiter : inMonitor));
                for (int ms = 0; ms < 500 && lock.getQueueLength() <= i; ms++) Thread.sleep(1);
            }
            long released = System.nanoTime();
            lock.unlock();
            for (var mine : waiting) if (!mine.get()) lost.incrementAndGet();
            return (System.nanoTime() - released) / 1e6;
        }
    }

    /** A real server on loopback, and its client; full names, as imports stay above the cut. */
    static class Server implements Closeable {
        private final com.sun.net.httpserver.HttpServer server;
        private final java.net.URL address;
        final Queue<Double> latencies = new ConcurrentLinkedQueue<>();
        volatile long start; // of the job whose calls are timed

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
            // Now, because a thread that the system refused later would end the server.
            if (executor instanceof ThreadPoolExecutor pool) pool.prestartAllCoreThreads();
            server.start();
            address = new java.net.URI("http", null, server.getAddress().getHostString(),
                server.getAddress().getPort(), "/", null, null).toURL();
        }

        /** Blocks its thread and needs no other. Its latency counts from this time, in ns. */
        void call(long from) throws IOException {
            var connection = (java.net.HttpURLConnection)
                address.openConnection(java.net.Proxy.NO_PROXY);
            connection.setConnectTimeout(20_000); // ms
            connection.setReadTimeout(20_000);
            check("as HTTP status", 200, connection.getResponseCode());
            latencies.add((System.nanoTime() - from) / 1e6);
        }

        /** Calls at a fixed rate, as independent clients do; returns how many came late. */
        int callAt(int perSecond, int lastMs) throws Exception {
            int calls = perSecond * lastMs / 1_000;
            var next = new AtomicInteger();
            var late = new AtomicInteger();
            runAll(newVirtualThreadPerTaskExecutor(), calls, () -> {
                long due = start + next.getAndIncrement() * 1_000_000_000L / perSecond;
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                if (System.nanoTime() - due > 20_000_000) late.incrementAndGet();
                call(due);
            });
            return late.get();
        }

        /** Returns the median latency, in ms, of the calls that the job makes. */
        double latency(Job job) throws Exception {
            latencies.clear();
            start = System.nanoTime();
            job.run();
            return Side.median(latencies);
        }

        public void close() {
            server.stop(0);
            ((ExecutorService) server.getExecutor()).shutdownNow();
        }
    }
}
