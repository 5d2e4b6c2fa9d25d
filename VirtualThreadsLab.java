//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;

import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.function.*;
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
 */
class VirtualThreadsLab {
    static final List<Experiment> FIVE = List.of( // each with the number of its rows
        new Experiment("start-time", 3, "start and run threads", VirtualThreadsLab::startTime),
        new Experiment("sleep-wave", 2, "tasks that wait", VirtualThreadsLab::sleepWave),
        new Experiment("cpu-primes", 1, "tasks that compute", VirtualThreadsLab::cpuPrimes),
        new Experiment("pinning", 3, "waits that may pin", VirtualThreadsLab::pinning),
        new Experiment("thread-count", 2, "live threads", VirtualThreadsLab::threadCount));

    public static void main(String[] args) throws Exception { // so that a subclass's may
        System.exit(run(FIVE, args));
    }

    /** Runs experiments of the list, as the words ask; returns the exit code. */
    static int run(List<Experiment> list, String... args) { return More.run(list, args); }

    /**
     * start-time. How long does it take to start n threads and wait until each has run?
     * Fair: both sides run the same loop; only the builder differs. The loop waits once 1,000
     * threads have yet to run, or some systems would run out of threads.
     * Prediction: a platform thread takes tens of microseconds or more: the system makes it,
     * and the JVM waits until it has begun. A virtual thread is an object in a queue: about a
     * microsecond or less. This holds for bursts, once warm, while nothing else runs.
     * Try: {1, 10, 100}. How much of the ratio is left for a thread that is started alone?
     */
    static void startTime(Lab lab) {
        for (int threads : new int[] {100, lab.size(1_000, 200), lab.size(10_000, 500)}) {
            String work = Text.of(threads == 1 ? "%s thread" : "%s threads", threads);
            Row row = lab.time(work, Lab.UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
            lab.say("%s: %s µs per platform thread, %s µs per virtual thread", work,
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
    static void sleepWave(Lab lab) {
        int tasks = lab.size(10_000, 1_000);
        int waitMs = lab.size(100, 20);
        Job wait = () -> Thread.sleep(waitMs);
        for (int pool : new int[] {lab.size(200, 100), lab.size(1_000, 200)}) {
            Row row = lab.time(Text.of("%s, pool %s", tasks, pool), Math.ceilDiv(tasks, pool),
                () -> Lab.runAll(newFixedThreadPool(pool), tasks, wait),
                () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));
            lab.say("at least %s tasks were waiting at once in the pool of %s, and %s on"
                + " virtual threads", Math.rint(tasks * waitMs / row.platform()), pool,
                Math.rint(tasks * waitMs / row.virtual()));
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
    static void cpuPrimes(Lab lab) {
        int rounds = 4; // of tasks, if each processor has a thread
        int tasks = rounds * Lab.PROCESSORS;
        int limit = lab.size(1_000_000, 400_000);
        int primes = lab.size(78_498, 33_860);
        Job count = () -> Lab.check("primes", primes, countPrimes(limit));
        double predicted = Math.min(1, (double) rounds / Math.ceilDiv(tasks, Lab.CARRIERS));
        Row row = lab.time(Text.of("%s × %s primes", tasks, primes), predicted,
            () -> Lab.runAll(newFixedThreadPool(Lab.PROCESSORS), tasks, count),
            () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, count));
        lab.say("platform threads did %s tasks a second, virtual threads %s",
            tasks * 1_000 / row.platform(), tasks * 1_000 / row.virtual());
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
    static void pinning(Lab lab) throws Exception {
        double pinned = 1.0 / Lab.PER_CARRIER;
        int waitMs = lab.size(500, 150) / Lab.PER_CARRIER;
        lab.waiting("ReentrantLock", 1, () -> {
            var own = new ReentrantLock();
            own.lock();
            try {
                Thread.sleep(waitMs);
            } finally {
                own.unlock();
            }
        });
        lab.waiting("synchronized", Lab.JDK < 24 ? pinned : 1, () -> {
            synchronized (OWN.get()) {
                Thread.sleep(waitMs);
            }
        });
        // A class is initialized only once, so each task defines a hidden copy of this one.
        String file = "/" + Initializer.class.getName().replace('.', '/') + ".class";
        byte[] bytes = Initializer.class.getResourceAsStream(file).readAllBytes();
        lab.waiting("class init", pinned, () -> {
            INIT_MS.set(waitMs);
            MethodHandles.lookup().defineHiddenClass(bytes, true);
        });
    }

    static class Initializer {
        static {
            long end = System.nanoTime() + INIT_MS.get() * 1_000_000L;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    static final ThreadLocal<Integer> INIT_MS = new ThreadLocal<>(); // its argument
    // Each thread has its own monitor. The compiler cannot prove that, so it keeps the lock.
    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);

    /**
     * thread-count. How many more threads does ThreadMXBean see while 1,000 tasks wait?
     * Fair: the same tasks wait at the same gate. It opens once all that can start are there.
     * The bean counts platform threads, carriers as well, but no virtual ones.
     * Prediction: 200 for a pool of 200, 1,000 for a platform thread each, and 0 for virtual
     * threads, as the carriers were there before. A ratio of these would mean nothing.
     * Try: int pool = 100; Which counts change?
     */
    static void threadCount(Lab lab) throws Exception {
        int tasks = lab.size(1_000, 500);
        int pool = 200;
        // Tasks that compute start the carriers, so the count before includes them.
        Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, () -> countPrimes(10_000));
        Gauge virtual = () -> added(newVirtualThreadPerTaskExecutor(), tasks, tasks);
        Row pooled = lab.measure(Text.of("%s, pool %s", tasks, pool), Row.COUNT, Lab.UNKNOWN,
            () -> added(newFixedThreadPool(pool), tasks, pool), virtual);
        Row each = lab.measure(Text.of("%s, no pool", tasks), Row.COUNT, Lab.UNKNOWN,
            () -> added(newThreadPerTaskExecutor(Thread::new), tasks, tasks), virtual);
        lab.say("%s waiting tasks added %s threads in a pool, %s without one, and %s as virtual"
            + " threads", tasks, pooled.platform(), each.platform(), each.virtual());
    }

    /** Returns how many more threads are live while tasks wait, as many as have room. */
    static double added(ExecutorService executor, int tasks, int room) throws Exception {
        var bean = ManagementFactory.getThreadMXBean();
        int before;
        do { // until earlier threads have ended
            before = bean.getThreadCount();
            Thread.sleep(20);
        } while (before != bean.getThreadCount());
        var toCome = new AtomicInteger(room);
        var count = new FutureTask<>(bean::getThreadCount);
        Lab.runAll(executor, tasks, () -> {
            if (toCome.decrementAndGet() == 0) count.run(); // the last one to come counts
            count.get(); // and all wait for that
        });
        return count.get() - before;
    }
}

interface Job { void run() throws Exception; }
interface Gauge { double read() throws Exception; }
interface Body { void run(Lab lab) throws Exception; }

record Experiment(String name, int rows, String summary, Body body) {
    Experiment(String name, String summary, Body body) { this(name, 1, summary, body); }
}

/** One row of the table. It has its samples; what is printed is computed from them. */
record Row(String experiment, String work, String unit, double model, List<Double> platforms,
        List<Double> virtuals) {
    static final String COUNT = ""; // the unit of a row without a ratio

    String name() { return experiment + " " + work; }
    double platform() { return quantile(platforms, 0.5); }
    double virtual() { return quantile(virtuals, 0.5); }
    boolean compared() { return !unit.equals(COUNT); }

    double ratio() { return compared() ? platform() / virtual() : Double.NaN; }
    double low() { return quantile(ratios(), 0); }
    double high() { return quantile(ratios(), 1); }

    /** The ratio of each pair of samples, but for the extreme tenth at each end. */
    private List<Double> ratios() {
        int pairs = compared() ? Math.min(platforms.size(), virtuals.size()) : 0;
        List<Double> sorted = IntStream.range(0, pairs).mapToObj(i ->
            platforms.get(i) / virtuals.get(i)).filter(Double::isFinite).sorted().toList();
        int extreme = sorted.size() / 10;
        return sorted.subList(extreme, sorted.size() - extreme);
    }

    /** The value of the nearest rank: of an odd number, the median is the one in the middle. */
    static double quantile(Collection<Double> values, double q) {
        List<Double> sorted = values.stream().filter(v -> !v.isNaN()).sorted().toList();
        if (sorted.isEmpty()) return Double.NaN;
        return sorted.get((int) Math.round(q * (sorted.size() - 1)));
    }
}

/**
 * The words of an experiment: size(full, quick) is the second number with --quick; time,
 * measure and waiting add a row, say adds a sentence. A row has samples of each side; a sample
 * is the mean of shots. A shot does the work once.
 */
record Lab(Report report, LongSupplier clock, boolean quick, int runs, int rows,
        Experiment current) {
    static final double UNKNOWN = Double.NaN;
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final int CARRIERS = Math.min( // see the javadoc of Thread
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));
    // Tasks per carrier: ten show a pin clearly, three still do; a hundred in all will do.
    static final int PER_CARRIER = Math.clamp(100 / Math.max(1, CARRIERS), 3, 10);

    /** Runs the experiments that the words name, or all; returns the exit code. */
    static int run(List<Experiment> list, String... args) {
        List<String> words = new ArrayList<>(List.of(args));
        boolean quick = words.remove("--quick");
        boolean all = words.isEmpty();
        var plan = list.stream().filter(one -> all || words.remove(one.name())).toList();
        if (words.isEmpty()) return run(new Report(), System::nanoTime, quick, 5, plan);
        System.err.println("VirtualThreadsLab: neither --quick nor an experiment: " + words);
        return 2;
    }

    static int run(Report report, LongSupplier clock, boolean quick, int runs,
            List<Experiment> plan) {
        report.begin(report.head(runs));
        int rows = plan.stream().mapToInt(Experiment::rows).sum();
        for (Experiment one : plan) {
            Lab lab = new Lab(report, clock, quick, runs, rows, one);
            if (!report.closed) report.attempt(one.name(), () -> one.body().run(lab));
        }
        report.end();
        return report.failed.isEmpty() && !report.closed ? 0 : 1;
    }

    int size(int full, int quickly) { return quick ? quickly : full; }

    /** Adds a sentence to the report; it writes a number as the table does. */
    void say(String form, Object... values) {
        report.said.add(current.name() + ": " + Text.of(form, values) + ".");
    }

    /** Throws if the answer is wrong: with "sheep" for what, "wrong answer: 4 sheep, not 3". */
    static void check(String what, double expected, double actual) {
        if (actual != expected) throw new AssertionError(
            Text.of("wrong answer: %s %s, not %s", actual, what, expected));
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

    /**
     * Adds a row, such as "20 in what": each task makes this call, on a thread of its own.
     * The model is the ratio that you expect, 1 if the call doesn't block its carrier.
     */
    Row waiting(String what, double model, Job call) {
        int tasks = PER_CARRIER * CARRIERS;
        Row row = time(Text.of(tasks < 100 ? "%s in %s" : "%s, %s", tasks, what), model,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, call),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, call));
        if (row.virtual() > 0) report.waited(row, what, tasks, call);
        return row;
    }

    /** Adds a row of times in ms; see measure. */
    Row time(String work, double model, Job platform, Job virtual) {
        int fitMs = size(200, 20);
        return measure(work, "ms", model,
            () -> meanMs(platform, fitMs), () -> meanMs(virtual, fitMs));
    }

    /** Adds a row of samples in that unit. A side whose gauge throws has no median. */
    Row measure(String work, String unit, double model, Gauge platform, Gauge virtual) {
        Row row = new Row(current.name(), work.replaceAll("[|\\s]+", " "), unit, model,
            new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i <= runs; i++) { // 0 is the warm-up
            report.progress(this, row, i == 0 ? "warm-up" : i + "/" + runs);
            // Who goes second may find a warmer machine, so the sides take turns.
            for (int turn = i; turn < i + 2; turn++) {
                if (turn % 2 == 0) read(i, row, "platform", platform, row.platforms());
                else read(i, row, "virtual", virtual, row.virtuals());
            }
        }
        report.add(row);
        return row;
    }

    /** Adds a reading to a side, the warm-up's as well; if one fails, none is left. */
    private void read(int i, Row row, String name, Gauge gauge, List<Double> side) {
        if (i > 0 && side.isEmpty()) return; // it has failed before
        boolean done = report.attempt(row.name() + ", " + name, () ->
            side.add(i == 0 ? warmUp(gauge) : gauge.read()));
        if (!done) side.clear();
        else if (i == 1) side.removeFirst(); // the warm-up's
    }

    /** Reads for two samples' time, or if it's short work, until C2 has seen enough of it. */
    private double warmUp(Gauge gauge) throws Exception {
        for (long start = clock.getAsLong(); ; ) {
            double last = gauge.read(); // ms, but a count of 0 needs no more
            double enough = last < 1 ? size(1_000, 240) : size(400, 40);
            if (!(last > 0) || clock.getAsLong() - start >= enough * 1e6) return last;
        }
    }

    /** The mean ms of the shots that fit, at least one. If some are slow, a median may jump. */
    double meanMs(Job job, double fitMs) throws Exception {
        long start = clock.getAsLong();
        for (int shots = 1; ; shots++) {
            job.run();
            double ms = (clock.getAsLong() - start) / 1e6;
            if (ms + ms / shots >= fitMs) return ms / shots;
        }
    }
}

/** Prints the table row by row, and then what failed and what was said. */
class Report {
    static final String LINE = "| %-12s | %-19s | %8s | %8s | %8s | %6s |\n";
    static final String RULE =
        "|--------------|---------------------|---------:|---------:|---------:|-------:|\n";
    final List<Row> rows = new CopyOnWriteArrayList<>();
    final Set<String> failed = new CopyOnWriteArraySet<>(); // each is reported once
    final List<String> said = new CopyOnWriteArrayList<>();
    private final PrintStream out = System.out; // even if a call sets another one
    private String head = ""; // comes with the first row
    boolean closed; // nobody reads standard output

    void begin(List<String> lines) {
        head = "## VirtualThreadsLab\n\n" + items(lines)
            + "\nRatio: platform ÷ virtual; above 1×, virtual threads need less.\n\n"
            + LINE.formatted("Experiment", "Work", "Platform", "Virtual", "Ratio", "Model")
            + RULE;
    }

    List<String> head(int runs) {
        var gc = ManagementFactory.getGarbageCollectorMXBeans().getFirst();
        return List.of("Java %s, %s, %s".formatted(Runtime.version(),
                System.getProperty("java.vm.vendor"), gc.getName()),
            Text.of("%s %s, processors: %s, carriers: %s, heap: up to %s MB, samples: %s",
                System.getProperty("os.name"), System.getProperty("os.arch"), Lab.PROCESSORS,
                Lab.CARRIERS, Runtime.getRuntime().maxMemory() >> 20, runs));
    }

    /** Says on standard error what is being done; the next row overwrites it. */
    void progress(Lab lab, Row row, String step) {
        show("row %s of %s  %s".formatted(rows.size() + 1,
            Math.max(rows.size() + 1, lab.rows()), step), row.name());
    }

    void show(String place, String what) {
        System.err.print("\r%-79.79s\r".formatted("%s s  %s  %s".formatted(
            ManagementFactory.getRuntimeMXBean().getUptime() / 1_000, place, what)));
    }

    void add(Row row) {
        rows.add(row);
        put(line(row));
    }

    void waited(Row row, String what, int tasks, Job call) {
        said.add(Text.of("%s: %s took %s× as long on virtual threads.", row.experiment(), what,
            row.virtual() / row.platform()));
    }

    String line(Row row) {
        return LINE.formatted(row.experiment(), row.work(), cell(row, row.platform()),
            cell(row, row.virtual()), ratio(row), Text.number(row.model(), "×"));
    }

    /** A median. Only ms are written; the names of rows say any other unit. */
    static String cell(Row row, double value) {
        if (!row.unit().equals("ms")) return Text.number(value, "");
        return value > 9_999 ? Text.number(value / 1_000, " s") : Text.number(value, " ms");
    }

    String ratio(Row row) { return (noisy(row) ? "~" : "") + Text.number(row.ratio(), "×"); }
    boolean noisy(Row row) { return row.high() > 1.5 * row.low(); }

    /** Runs the job. If it fails, the report says why, and everything else goes on. */
    boolean attempt(String what, Job job) {
        try {
            job.run();
            return true;
        } catch (Exception | Error e) {
            failed.add(what + ": " + Text.reason(e) + ".");
            return false;
        }
    }

    void end() {
        put(section("", items(failed)) + section("### What the numbers say\n\n", items(said))
            + "\n" + item("~: don't quote it: of its ratios, the highest is over 1.5 times the"
                + " lowest. Model: plain arithmetic."));
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
        if (closed) return;
        out.print(head + text);
        head = "";
        closed = out.checkError();
        if (closed) System.err.println("VirtualThreadsLab: standard output cannot be written");
    }
}

/** How numbers and errors are written. */
class Text {
    /** Writes numbers as the table does, alike in every locale, in place of each %s. */
    static String of(String form, Object... values) {
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

// ----- Cut here: this line and all below it may go. What is left is a whole lab of the five:
//     sed '/^\/\/ ----- Cut/,$d; s/More.run/Lab.run/' VirtualThreadsLab.java
// Names below are in full, as imports stay above.

/** Reads the words of a command, and chooses what runs and which report tells of it. */
class More {
    private static final String HELP = """
        java VirtualThreadsLab.java [option ...] [name ...]
          --quick     smaller sizes: seconds, not a minute, but noisier
          --runs N    N samples of each side, 1 to 100, instead of 5
          --starts N  N fresh JVMs, 1 to 100; each gives one sample, its median
          --java P    run on that JDK; repeat it to compare JDKs side by side
          --samples   print every sample, too
          --predict   ask for your ratio before each row, and compare at the end
        Exit code 0: every row was measured; 1: one was not; 2: not understood.
        Without a name, the first %s of these run; with "all", every one:
        """;

    /** Runs what the words ask for; the encores belong to the five. Returns the exit code. */
    static int run(List<Experiment> list, String... args) {
        return run(list, System::nanoTime, new Others(), args);
    }

    static int run(List<Experiment> list, LongSupplier clock, DoubleSupplier others,
            String... args) {
        List<Experiment> all = new ArrayList<>(list);
        if (list == VirtualThreadsLab.FIVE) all.addAll(Encores.LIST);
        List<String> words = new ArrayList<>(List.of(args));
        if (words.contains("--help") || words.contains("-h")) {
            Report report = new Report();
            report.put(HELP.formatted(list.size()) + all.stream()
                .map(one -> "  %-12s  %s\n".formatted(one.name(), one.summary()))
                .collect(Collectors.joining()));
            return report.closed ? 1 : 0;
        }
        try {
            return run(all, list, words, clock, others);
        } catch (IllegalArgumentException e) {
            System.err.println("VirtualThreadsLab: " + e.getMessage().replaceAll("\\R", " "));
            return 2;
        }
    }

    private static int run(List<Experiment> all, List<Experiment> first, List<String> words,
            LongSupplier clock, DoubleSupplier others) {
        if (Lab.CARRIERS < 1) throw new IllegalArgumentException("there is no carrier");
        List<String> javas = values(words, "--java");
        boolean fresh = words.contains("--starts") || !javas.isEmpty();
        int starts = number(words, "--starts", 1);
        List<String> ofEachStart = List.copyOf(words);
        int runs = number(words, "--runs", 5);
        List<String> options = List.copyOf(words);
        words.removeAll(List.of("--quick", "--predict", "--samples"));
        Set<Experiment> plan = new LinkedHashSet<>(words.isEmpty() ? first : List.of());
        for (String word : words) {
            var named = all.stream().filter(one ->
                word.equals("all") || word.equals(one.name())).toList();
            if (named.isEmpty()) throw new IllegalArgumentException(
                "not understood: '" + word + "', try --help");
            plan.addAll(named);
        }
        if (fresh && options.contains("--predict")) throw new IllegalArgumentException(
            "--predict can't go with --starts or --java");
        boolean child = Boolean.getBoolean(Starts.CHILD);
        FullReport report = fresh ? new Starts(options, ofEachStart, javas, starts)
            : child ? new Starts.Child(others) : new FullReport(options, others);
        if (report instanceof Starts several) plan = several.plan();
        if (!child) Runtime.getRuntime().addShutdownHook(new Thread(report::interrupted));
        int code = Lab.run(report, clock, options.contains("--quick"), runs, List.copyOf(plan));
        return report.refused ? 2 : code;
    }

    private static int number(List<String> words, String option, int otherwise) {
        List<String> values = values(words, option);
        for (String value : values) if (!value.matches("[1-9]\\d?|100"))
            throw new IllegalArgumentException(option + " takes a number from 1 to 100");
        return values.isEmpty() ? otherwise : Integer.parseInt(values.getLast());
    }

    /** Takes an option out of the words, wherever it is, and returns the values after it. */
    private static List<String> values(List<String> words, String option) {
        List<String> values = new ArrayList<>();
        for (int at = words.indexOf(option); at >= 0; at = words.indexOf(option)) {
            words.remove(at);
            if (at == words.size()) throw new IllegalArgumentException(
                option + " needs a value after it");
            values.add(words.remove(at));
        }
        return values;
    }
}

/** The share of the processors that others and a hypervisor had since the last call. */
class Others implements DoubleSupplier {
    private double[] ticks = ticks();

    public double getAsDouble() {
        var system = ManagementFactory.getPlatformMXBean(
            com.sun.management.OperatingSystemMXBean.class);
        double all = system.getCpuLoad(); // below 0: unknown
        double others = all < 0 ? Double.NaN : Math.max(0, all - system.getProcessCpuLoad());
        double[] before = ticks;
        ticks = ticks();
        double stolen = stolen(before, ticks);
        return others + (stolen > 0 ? stolen : 0);
    }

    static double stolen(double[] before, double[] now) { // the eighth are a hypervisor's
        double all = DoubleStream.of(now).sum() - DoubleStream.of(before).sum();
        return (now[7] - before[7]) / all;
    }

    private static double[] ticks() {
        try (var words = new Scanner(new File("/proc/stat"))) { // cpu 4705 356 ...
            return words.tokens().skip(1).limit(8).mapToDouble(Double::parseDouble).toArray();
        } catch (IOException e) { // only Linux has it
            return DoubleStream.generate(() -> Double.NaN).limit(8).toArray();
        }
    }
}

/** Also asks for predictions, looks into calls, and ends with a chart; Ctrl-C ends it early. */
class FullReport extends Report {
    private static final String CLEAR = "\r" + " ".repeat(79) + "\r"; // removes progress
    private final List<String> options;
    private final DoubleSupplier others;
    private final Scanner keyboard = new Scanner(System.in);
    private final Map<Row, Double> guesses = new IdentityHashMap<>();
    final Map<Row, List<Double>> shares = new IdentityHashMap<>(); // that others had
    private final List<Runnable> waits = new ArrayList<>();
    private boolean ended;
    boolean refused;

    FullReport(List<String> options, DoubleSupplier others) {
        this.options = options;
        this.others = others;
    }

    @Override List<String> head(int runs) {
        String command = String.join(" ", ManagementFactory.getRuntimeMXBean()
            .getInputArguments()) + " " + System.getProperty("sun.java.command");
        String added = "--add-modules=ALL-DEFAULT|jdk\\.compiler/\\S+"; // by the launcher
        return Stream.concat(super.head(runs).stream(), Stream.of(java.time.LocalDate.now()
            + ", `java " + command.replaceAll(added, "").replaceAll(" +", " ").strip() + "`"))
            .toList();
    }

    @Override void progress(Lab lab, Row row, String step) {
        if (closed) throw new IllegalStateException("nobody reads the report");
        if (step.equals("warm-up")) first(row, lab.current().summary());
        super.progress(lab, row, step);
    }

    private void first(Row row, String summary) {
        if (row.model() <= 0) {
            refused = true;
            System.err.println(CLEAR + "VirtualThreadsLab: model not above 0: " + row.name());
            throw new IllegalArgumentException("model not above 0");
        }
        if (options.contains("--predict") && row.compared()) ask(row, summary);
        others.getAsDouble(); // the next one counts from here
    }

    /** Asks for the ratio that the reader expects of the row. */
    private void ask(Row row, String summary) {
        String much = row.unit().equals("ms") ? "long" : "many " + row.unit();
        System.err.print(CLEAR + item(row.name() + " (" + summary + "): how many times as "
            + much + " with platform threads, such as 30 or 1/3 (Enter skips)?"));
        String typed = keyboard.hasNextLine() ? keyboard.nextLine() : "";
        double guess = understood(typed);
        if (guess > 0) guesses.put(row, guess);
        else if (!typed.isBlank()) System.err.print("Not understood, row skipped.\n");
    }

    /** The ratio in 30, 30×, 10 times, 0.5, 1/3 or 1:3; NaN if there's none. */
    static double understood(String typed) {
        String plain = typed.replaceAll("(?i)x|times|[^\\w.,/:-]", ""); // a × may be garbled
        String number = "\\d*\\.?\\d+"; // 12, 1.5 or .5
        if (!plain.matches(number + "([/:]" + number + ")?")) return Double.NaN;
        String[] parts = (plain + "/1").split("[/:]");
        double ratio = Double.parseDouble(parts[0]) / Double.parseDouble(parts[1]);
        return Double.isFinite(ratio) ? ratio : Double.NaN;
    }

    @Override synchronized void add(Row row) {
        if (ended) return;
        shares.put(row, List.of(others.getAsDouble()));
        System.err.print(CLEAR);
        super.add(row);
    }

    @Override boolean noisy(Row row) {
        return super.noisy(row) || row.ratio() > 0 && busy(row) > 0.1;
    }

    private double busy(Row row) { return Row.quantile(shares.get(row), 0.5); }

    /** Keeps the call until the last row is there, as the threads of Flight Recorder stay. */
    @Override void waited(Row row, String what, int tasks, Job call) {
        waits.add(() -> attempt(row.name() + ", heartbeat", () -> {
            show("heartbeat", row.name());
            String facts = Heartbeat.facts(tasks, call);
            said.add(row.experiment() + ": " + what + ": " + facts + ".");
        }));
    }

    @Override void end() {
        for (Runnable wait : waits) if (!closed) wait.run();
        finish("");
    }

    void interrupted() {
        finish("\n**Partial:** interrupted; finished rows: " + rows.size() + ".\n");
    }

    /** Prints what comes after the rows, once. */
    private synchronized void finish(String partial) {
        if (ended) return;
        ended = true;
        System.err.print(CLEAR);
        if (refused && rows.isEmpty()) return;
        last(partial);
        if (!rows.isEmpty()) legend();
    }

    void last(String partial) {
        put(partial + section("", items(failed)) + rest("numbers", rows, said));
    }

    /** What follows a table. */
    String rest(String whose, List<Row> rows, List<String> said) {
        String listed = options.contains("--samples") ? each(rows, this::samples) : "";
        String bars = each(rows, this::bar);
        return section("### Your predictions, the furthest first\n\n", predictions())
            + section("### What the " + whose + " say\n\n", items(said))
            + section("### Samples\n\n", listed)
            + (bars.isEmpty() ? "" : "\n### At a glance\n\n```text\n"
                + "%45s│ virtual better; █: a factor of 2\n".formatted("platform better ")
                + bars + "```\n");
    }

    /** Says how to read what stands above, and what else the processors did. */
    void legend() {
        double most = shares.values().stream().flatMap(List::stream).mapToDouble(s -> s)
            .filter(share -> share >= 0).max().orElse(Double.NaN);
        boolean again = rows.stream().anyMatch(row -> busy(row) > 0.1);
        put("\n" + note(row -> row.low() < row.high(),
                "In brackets: the range of the ratios, but for the extreme tenth at each end.")
            + note(this::noisy, "~: don't quote it. The upper end is over 1.5 times the lower,"
                + " or others used over a tenth of the processors.")
            + note(row -> row.model() > 0, "Model: plain arithmetic.")
            + item(Text.of("Other programs and a hypervisor used up to %s %% of the"
                + " processors%s", Math.rint(100 * most),
                again ? ": run it again on a quiet machine." : ".")));
    }

    private String note(Predicate<Row> ofRow, String text) {
        return rows.stream().anyMatch(ofRow) ? item(text) : "";
    }

    static String each(List<Row> rows, Function<Row, String> text) {
        return rows.stream().map(text).collect(Collectors.joining());
    }

    private String predictions() {
        String lines = each(rows.stream().filter(row -> missed(row) > 0)
            .sorted(Comparator.comparing(this::missed).reversed()).toList(), row ->
                LINE.formatted(row.experiment(), row.work(), Text.number(guesses.get(row), "×"),
                    Text.number(row.model(), "×"), ratio(row), Text.number(missed(row), "×")));
        return lines.isEmpty() ? "" : LINE.formatted("Experiment", "Work", "You", "Model",
            "Ratio", "Off by") + RULE + lines;
    }

    /** By which factor the guess was off; NaN if there was none. */
    private double missed(Row row) {
        double off = guesses.getOrDefault(row, Double.NaN) / row.ratio();
        return Math.max(off, 1 / off);
    }

    private String samples(Row row) {
        Function<List<Double>, String> list = side -> side.stream()
            .map(sample -> " " + Text.number(sample, "")).collect(Collectors.joining());
        return item(row.name() + ": platform" + list.apply(row.platforms()) + "; virtual"
            + list.apply(row.virtuals()));
    }

    private String bar(Row row) {
        if (!(row.ratio() > 0)) return "";
        int twos = (int) Math.round(Math.abs(Math.log(row.ratio()) / Math.log(2)));
        String bar = (noisy(row) ? "~" : "█").repeat(twos);
        return "%-12s %-19s %12s│%s %s\n".formatted(row.experiment(), row.work(),
            row.ratio() < 1 ? bar : "", row.ratio() < 1 ? "" : bar, withRange(row));
    }

    String withRange(Row row) {
        String range = Text.of(" (%s–%s)", row.low(), row.high());
        return ratio(row) + (row.low() < row.high() ? range : "");
    }

    /** A list item in lines of up to 80 characters, broken at spaces. */
    @Override String item(String text) {
        String line = "(.{1,78})( |$)"; // two spaces come before each but the first
        line += "|(.{78})"; // a part of a word that is longer
        return super.item(text).strip().replaceAll(line, "$1$3\n  ").stripTrailing() + "\n";
    }
}

/**
 * While tasks make a call again and again, can another virtual thread run? One ticks beside
 * them each millisecond: a call that leaves its carrier lets it run; one that doesn't starves
 * it, however short the call, unless the JVM adds a carrier. A platform thread ticks, too: what
 * it misses is the machine's fault, not a carrier's. Flight Recorder names what pinned.
 */
class Heartbeat {
    private static final long PASS = 200_000_000; // ns; 200 ticks, and not long to wait for
    private static final int MOST_CARRIERS = Integer.getInteger(
        "jdk.virtualThreadScheduler.maxPoolSize", Math.max(256, Lab.CARRIERS));

    /** Says what pinned, and whether a carrier was free. */
    static String facts(int tasks, Job call) throws Exception {
        long end = System.nanoTime() + 10_000_000_000L; // for a call that takes very long
        List<Pass> passes = new ArrayList<>();
        String pins = recorded(() -> passes.add(pass(tasks, call)));
        // Recording disturbs, and so do other programs: of up to three, the best pass counts.
        while (passes.isEmpty() || passes.size() < 3 && !passes.getLast().clear()
                && System.nanoTime() < end) passes.add(pass(tasks, call));
        Pass best = Collections.min(passes, Comparator.comparing(Pass::disturbed)
            .thenComparing(Pass::blocked));
        String ofHidden = "[./+]0x\\w+"; // in the names of classes without one of their own
        return (pins + best.facts(pins.isEmpty())).replaceAll(ofHidden, "");
    }

    /** What two ticking threads missed, what a carrier computed, and where callers held one. */
    record Pass(double elapsed, double virtual, double platform, double computed,
            List<List<String>> looks) {
        /** For over a fifth of the pass, not even a platform thread could tick, or look. */
        boolean disturbed() { return platform > 0.2 * elapsed || looks.size() < 3; }

        /** The share of the time in which the calls left no carrier free. */
        double blocked() { return Math.clamp((virtual - platform) / elapsed, 0, 1); }

        /** In between, the call, the recording or other programs may be the cause. */
        boolean clear() { return !disturbed() && (blocked() < 0.01 || blocked() > 0.6); }

        String facts(boolean askWhere) {
            if (disturbed()) return "the machine was too busy to tell if a carrier was free";
            double ms = blocked() * elapsed;
            String facts = blocked() < 0.01 ? "a carrier was always free" : blocked() < 0.2
                ? Text.of("a carrier was free for %s of %s ms", elapsed - ms, elapsed)
                : Text.of("no carrier was free for %s of %s ms", ms, elapsed);
            if (computed > 0.1 * elapsed)
                facts += Text.of("; each carrier computed for %s ms", computed);
            var held = looks.stream().sorted(Comparator.comparing(List::size)).toList()
                .get(looks.size() / 2); // the median, as in one look hardly anybody may call
            int added = held.size() - Lab.CARRIERS;
            if (added > 0) facts += Text.of("; added carriers in use: %s, of %s at most", added,
                MOST_CARRIERS - Lab.CARRIERS);
            if (!askWhere || added <= 0 && blocked() < 0.2) return facts;
            return facts + held.stream()
                .max(Comparator.comparing(place -> Collections.frequency(held, place)))
                .map(place -> ", mostly at " + place).orElse("");
        }
    }

    /** Lets each task call until 200 ms are over, beside threads that tick and look. */
    private static Pass pass(int tasks, Job call) throws Exception {
        var done = new AtomicBoolean();
        Set<Thread> callers = ConcurrentHashMap.newKeySet();
        var platform = newThreadPerTaskExecutor(Thread::new).submit(() -> missedMs(done));
        var virtual = newVirtualThreadPerTaskExecutor().submit(() -> missedMs(done));
        var looks = newThreadPerTaskExecutor(Thread::new).submit(() -> looks(callers, done));
        double computed = computedMs();
        long start = System.nanoTime();
        try {
            Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, () -> {
                callers.add(Thread.currentThread());
                do call.run();
                while (System.nanoTime() - start < PASS);
            });
        } finally {
            done.set(true);
        }
        double elapsed = (System.nanoTime() - start) / 1e6;
        computed = (computedMs() - computed) / Lab.CARRIERS;
        return new Pass(elapsed, virtual.get(), platform.get(), computed, looks.get());
    }

    private static double missedMs(AtomicBoolean done) {
        double missed = 0;
        for (long last = System.nanoTime(), now; !done.get(); last = now) {
            LockSupport.parkNanos(1_000_000);
            now = System.nanoTime();
            double late = (now - last) / 1e6 - 1;
            if (late > 5) missed += late; // less is the timer's or the scheduler's doing
        }
        return missed;
    }

    /** Every 20 ms, says where each caller is that holds a carrier, and not for a moment. */
    private static List<List<String>> looks(Set<Thread> callers, AtomicBoolean done)
            throws Exception {
        List<List<String>> looks = new ArrayList<>();
        // Such as worker-1 in VirtualThread[#21]/runnable@worker-1; none if it isn't mounted.
        Function<Thread, String> carrier = thread -> ("" + thread).replaceFirst("[^@]*@?", "");
        for (Thread.sleep(20); !done.get(); Thread.sleep(20)) {
            var before = callers.stream().collect(Collectors.toMap(thread -> thread, carrier));
            before.values().removeIf(String::isEmpty);
            Thread.sleep(1);
            looks.add(before.keySet().stream()
                .filter(thread -> before.get(thread).equals(carrier.apply(thread)))
                .map(thread -> Text.own(Stream.of(thread.getStackTrace()).map(at ->
                    "%s.%s:%s".formatted(at.getClassName(), at.getMethodName(),
                        at.getLineNumber())))).toList());
        }
        return looks;
    }

    /** The time that the carriers have computed; the JDK doesn't export their class. */
    private static double computedMs() {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getClass().getSimpleName().equals("CarrierThread"))
            .mapToLong(carrier -> ManagementFactory.getThreadMXBean()
                .getThreadCpuTime(carrier.threadId())).sum() / 1e6;
    }

    /** Says how many waits of a pass were pinned, and where the longest was. */
    private static String recorded(Job pass) throws Exception {
        List<jdk.jfr.consumer.RecordedEvent> pins = new CopyOnWriteArrayList<>();
        try { // without this room on the disk, recording would end the JVM
            java.nio.file.Files.write(java.nio.file.Files.createTempFile("room", null),
                new byte[4 << 20], java.nio.file.StandardOpenOption.DELETE_ON_CLOSE);
            try (var recording = new jdk.jfr.consumer.RecordingStream()) {
                recording.enable("jdk.VirtualThreadPinned").withStackTrace()
                    .withThreshold(java.time.Duration.ofMillis(1)); // shorter ones are many
                recording.onEvent("jdk.VirtualThreadPinned", pins::add);
                recording.setReuse(false);
                recording.startAsync();
                pass.run();
                recording.stop(); // waits for the events
            }
        } catch (IOException | LinkageError | VirtualMachineError | IllegalStateException e) {
            return "pinned waits not known: " + e + "; ";
        }
        if (pins.isEmpty()) return "";
        var longest = Collections.max(pins, Comparator.comparing(pin -> pin.getDuration()));
        String where = Text.own(longest.getStackTrace().getFrames().stream().map(at ->
            "%s.%s:%s".formatted(at.getMethod().getType().getName(), at.getMethod().getName(),
                at.getLineNumber())));
        if (longest.hasField("pinnedReason")) // from JDK 24 on
            where += " (" + longest.getString("pinnedReason")
                .replaceFirst("VM call to .*", "in a class initializer")
                .replaceFirst("Waited for init.*", "another thread is initializing the class")
                .replaceFirst("Native.*", "native code or JVM code is on the stack") + ")";
        String times = pins.size() == 1 ? "once" : Text.of("%s times", pins.size());
        return "pinned " + times + ", longest at " + where + "; ";
    }
}

/**
 * Starts the lab in fresh JVMs, one after another; several JDKs take turns. Two starts can
 * differ by more than the samples of one, so here a start gives one sample: its median.
 */
class Starts extends FullReport {
    static final String CHILD = "lab.child"; // a property of each JVM that is started
    private final List<Jdk> jdks;
    private final List<String> words; // of each start
    private final int starts;

    /** A JDK, and what its starts have told; the sentences are the last start's. */
    private record Jdk(String java, String name, Set<String> head, List<Row> rows,
            List<String> said) { }

    Starts(List<String> options, List<String> words, List<String> javas, int starts) {
        super(options, () -> Double.NaN); // nothing is measured in this JVM
        this.words = words;
        this.starts = starts;
        var paths = javas.isEmpty() ? List.of(System.getProperty("java.home")) : javas;
        jdks = paths.stream().map(Starts::jdk).toList();
    }

    /** A JDK that can run the lab. */
    private static Jdk jdk(String path) {
        String java = new File(path).isDirectory() ? path + "/bin/java" : path;
        String modules = "";
        try {
            var process = new ProcessBuilder(java, "--list-modules").start();
            modules = process.inputReader().lines().limit(500).collect(Collectors.joining());
        } catch (IOException | UncheckedIOException e) {
            throw new IllegalArgumentException("--java " + java + ": " + e.getMessage());
        }
        String version = modules.replaceFirst(".*java\\.base@(\\d+).*jdk\\.compiler@.*", "$1");
        if (!version.matches("2[1-9]|[3-9]\\d")) throw new IllegalArgumentException(
            "--java " + java + " isn't a JDK of 21 or newer");
        return new Jdk(java, "JDK " + version, new LinkedHashSet<>(), new ArrayList<>(),
            new ArrayList<>());
    }

    Set<Experiment> plan() {
        Set<Experiment> plan = new LinkedHashSet<>();
        for (int i = 1; i <= starts; i++) {
            for (Jdk jdk : jdks) {
                String name = "start %s of %s, %s".formatted(i, starts, jdk.name());
                plan.add(new Experiment(name, "", lab -> start(jdk, name)));
            }
        }
        return plan;
    }

    private void start(Jdk jdk, String name) throws Exception {
        show(name, "begins");
        var builder = new ProcessBuilder(command(jdk.java())).redirectErrorStream(true);
        builder.environment().keySet() // its options are in the command
            .removeAll(Set.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        Process process = builder.start();
        StringJoiner lost = new StringJoiner(" ");
        boolean complete = false;
        for (String line : (Iterable<String>) process.inputReader(
                java.nio.charset.StandardCharsets.UTF_8).lines()::iterator) {
            String[] told = line.split("\t", -1);
            boolean known = line.matches("\t(head|progress|failed|row|end)(\t.*)?");
            if (known) take(jdk, name, told);
            else if (!line.isBlank() && lost.length() < 200) lost.add(line.strip());
            complete |= known && told[1].equals("end");
        }
        int exit = process.waitFor();
        if (complete) return;
        Thread.sleep(300); // Ctrl-C ends it, too, and then nothing is wrong
        failed.add(name + ": exit code " + exit + ", " + lost);
    }

    /** The command of this JVM, without its options of starts, for another one. */
    private List<String> command(String java) {
        List<String> command = new ArrayList<>(List.of(java));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-Dstdout.encoding=UTF-8", "-D" + CHILD + "=true"));
        String path = System.getProperty("java.class.path");
        String main = System.getProperty("sun.java.command").split(" ")[0];
        String source = System.getProperty("jdk.launcher.sourcefile", main);
        command.addAll(path.isEmpty() ? List.of(source) : List.of("-cp", path, source));
        command.addAll(words);
        return command;
    }

    /** Takes what a Child tells; rows of the same name become one. */
    private synchronized void take(Jdk jdk, String start, String[] told) {
        switch (told[1]) {
            case "head" -> jdk.head().add(told[2]);
            case "progress" -> show(start + "  " + told[2], told[3]);
            case "failed" -> failed.add(start + ": " + told[2]);
            case "row" -> {
                Row one = new Row(told[2], told[3], told[4], Double.parseDouble(told[5]),
                    new ArrayList<>(), new ArrayList<>());
                Row row = jdk.rows().stream().filter(other -> other.name().equals(one.name()))
                    .findFirst().orElse(one);
                if (row == one) {
                    jdk.rows().add(row);
                    rows.add(row);
                }
                row.platforms().add(Double.parseDouble(told[6]));
                row.virtuals().add(Double.parseDouble(told[7]));
                shares.computeIfAbsent(row, key -> new ArrayList<>())
                    .add(Double.parseDouble(told[8]));
            }
            default -> { // the end
                jdk.said().clear();
                jdk.said().addAll(List.of(told).subList(2, told.length));
            }
        }
    }

    @Override void begin(List<String> lines) { } // each table has lines of its own

    @Override synchronized void last(String partial) {
        for (Jdk jdk : jdks) {
            super.begin(Stream.concat(jdk.head().stream(),
                Stream.of("starts: " + starts + ", " + head(0).getLast())).toList());
            put(each(jdk.rows(), this::line)
                + rest("last start's numbers", jdk.rows(), jdk.said())
                + (jdks.size() > 1 ? "\n" : ""));
        }
        put((jdks.size() > 1 ? sideBySide() : "") + partial + section("", items(failed)));
    }

    /** The ratios of all rows with their ranges, and a column for each JDK. */
    private String sideBySide() {
        String form = "| %-30s |";
        String head = "### Side by side\n\n" + form.formatted("Experiment and work");
        String rule = "|--------------------------------|";
        Map<String, String> lines = new LinkedHashMap<>(); // by the names of the rows
        for (Row row : rows) lines.put(row.name(), form.formatted(row.name()));
        for (Jdk jdk : jdks) {
            head += "%21s |".formatted(jdk.name());
            rule += "---------------------:|";
            for (String name : lines.keySet()) lines.merge(name, "%21s |".formatted(
                jdk.rows().stream().filter(row -> row.name().equals(name)).findFirst()
                    .map(row -> row.ratio() > 0 ? withRange(row) : cell(row, row.virtual()))
                    .orElse("—")), String::concat);
        }
        return head + "\n" + rule + "\n" + String.join("\n", lines.values()) + "\n";
    }

    /** The report of a start: a line for each thing that happens, tabs between its parts. */
    static class Child extends FullReport {
        Child(DoubleSupplier others) {
            super(List.of(), others);
            Thread.ofPlatform().daemon().start(() -> {
                new Scanner(System.in).hasNextLine(); // waits until the parent has ended
                Runtime.getRuntime().halt(1);
            });
        }

        @Override void put(String text) { } // whoever reads the lines makes a report of them
        @Override void show(String place, String what) { tell("progress", place, what); }
        @Override void begin(List<String> lines) {
            for (String line : lines.subList(0, 2)) tell("head", line);
        }

        @Override void add(Row row) {
            super.add(row);
            tell("row", row.experiment(), row.work(), row.unit(), "" + row.model(),
                "" + row.platform(), "" + row.virtual(), "" + shares.get(row).getFirst());
        }

        @Override void last(String partial) {
            for (String what : failed) tell("failed", what);
            said.addFirst("end");
            tell(said.toArray(String[]::new));
        }

        private void tell(String... words) {
            super.put(Stream.of(words).map(word -> word.replaceAll("\\s+", " "))
                .collect(Collectors.joining("\t", "\n\t", "\n")));
        }
    }
}

/** More experiments, and what only they use. */
class Encores {
    static final List<Experiment> LIST = List.of(
        new Experiment("println", "one thread prints lines to a file", Encores::println),
        new Experiment("http", 2, "calls come at a fixed rate, pool or not", Encores::http),
        new Experiment("mixed", 3, "tasks compute, then call a server", Encores::mixed),
        new Experiment("capacity", "20 at once: pool, or semaphore", Encores::capacity),
        new Experiment("thread-local", "objects in a cache, pool or not", Encores::threadLocal),
        new Experiment("million", 5, "park a million virtual threads", Encores::million),
        new Experiment("time-sharing", "short task behind long ones", Encores::timeSharing));
    static final Gauge NO_SIDE = () -> Lab.UNKNOWN; // for a row of virtual threads only

    /**
     * println. Does a single printing task run faster on a virtual thread?
     * Fair: the same lines, and each is written at once, as by System.out. The sides take
     * turns, as a cold one is often slower. The file must have all of its bytes afterwards.
     * Prediction: 1×, as nothing waits while something else could run. On JDK 21 and 22 less:
     * there each write adjusts the scheduler's parallelism (JDK-8329593, fixed in 23).
     * Try: int lines = 10; Which side is faster now, and why?
     */
    static void println(Lab lab) throws Exception {
        int lines = 100_000;
        File file = java.nio.file.Files.createTempFile("lines", ".txt").toFile();
        file.deleteOnExit();
        Job print = () -> printLines(file, lines);
        lab.time(Text.of("%s lines", lines), Lab.JDK < 23 ? Lab.UNKNOWN : 1,
            () -> Lab.runAll(newThreadPerTaskExecutor(Thread::new), 1, print),
            () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), 1, print));
    }

    static void printLines(File file, int lines) throws Exception {
        long bytes = 0;
        try (var out = new PrintStream(new FileOutputStream(file))) {
            for (int i = 0; i < lines; i++) {
                String line = "line " + i;
                out.println(line);
                bytes += line.length() + System.lineSeparator().length();
            }
        }
        Lab.check("bytes in the file", bytes, file.length());
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
    static void http(Lab lab) throws Exception {
        int pool = 20;
        int waitMs = 50;
        int lastMs = lab.size(2_000, 500);
        double capacity = pool * 1_000.0 / waitMs; // calls a second
        try (var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            for (int rate : new int[] {320, 600}) {
                double predicted = 1 + Math.max(0, rate / capacity - 1) * lastMs / 2 / waitMs;
                lab.measure(Text.of("%s calls a second", rate), "ms", predicted,
                    () -> pooled.latency(() -> pooled.callAt(rate, lastMs)),
                    () -> virtual.latency(() -> virtual.callAt(rate, lastMs)));
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
     * behind it: that is the model. Which queue a carrier looks into next changed in JDK 26:
     * there, and with more than one carrier, it may be resumed sooner.
     * Try: int index = 30; int number = 832_040; How long is a call if tasks compute less?
     */
    static void mixed(Lab lab) throws Exception {
        int rounds = 10; // of computations, if each processor has a thread
        int tasks = rounds * Lab.PROCESSORS;
        int waitMs = lab.size(120, 60);
        int index = lab.size(37, 34);
        int number = lab.size(24_157_817, 5_702_887);
        Job compute = () -> Lab.check("as a Fibonacci number", number, fibonacci(index));
        double ms = lab.meanMs(compute, 200); // alone
        double roundsOfCarriers = Math.ceilDiv(tasks, Math.min(Lab.CARRIERS, Lab.PROCESSORS));
        double predicted = (rounds * ms + waitMs) / (roundsOfCarriers * ms + waitMs);
        double shared = ms * Math.max(1, (double) Lab.CARRIERS / Lab.PROCESSORS);
        double tasksBehind = (Math.ceilDiv(tasks, Lab.CARRIERS) - 1) / 2.0;
        double predictedCall = Lab.JDK > 25 && Lab.CARRIERS > 1 ? Lab.UNKNOWN
            : waitMs / Math.max(waitMs, tasksBehind * shared);
        try (var server = new Server(newFixedThreadPool(tasks), waitMs)) {
            Job sinceStart = () -> {
                compute.run();
                server.call(server.start);
            };
            Job alone = () -> {
                compute.run();
                server.call(System.nanoTime());
            };
            Function<Job, Job> platform = job -> () ->
                Lab.runAll(newThreadPerTaskExecutor(Thread::new), tasks, job);
            Function<Job, Job> virtual = job -> () ->
                Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, job);
            lab.time(tasks + " tasks", predicted, platform.apply(alone), virtual.apply(alone));
            lab.measure("median answer", "ms", Lab.UNKNOWN,
                () -> server.latency(platform.apply(sinceStart)),
                () -> server.latency(virtual.apply(sinceStart)));
            lab.measure("median call", "ms", predictedCall,
                () -> server.latency(platform.apply(alone)),
                () -> server.latency(virtual.apply(alone)));
        }
    }

    static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

    /**
     * capacity. What limits a resource that takes 20 at once, if not the size of a pool?
     * Fair: the same tasks hold it for the same time; more than 20 inside is a wrong answer.
     * Prediction: 1×. Both sides need 50 waves: limit the resource, not the threads.
     * Try: new Semaphore(limit + 1). What does the lab say about that row?
     */
    static void capacity(Lab lab) throws Exception {
        int tasks = lab.size(1_000, 200);
        int holdMs = 10;
        int limit = 20;
        var permits = new Semaphore(limit);
        var inside = new AtomicInteger();
        Job hold = () -> {
            int now = inside.incrementAndGet();
            try {
                Lab.check("tasks inside at once", Math.min(now, limit), now);
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
        lab.time(Text.of("%s × %s ms by %s", tasks, holdMs, limit), 1,
            () -> Lab.runAll(newFixedThreadPool(limit), tasks, hold),
            () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, gated));
    }

    /**
     * thread-local. How many costly objects does a cache in a ThreadLocal make?
     * Fair: the same tasks use the same cache; only the executor differs.
     * Prediction: one per thread: 200 for the pool, 10,000 for virtual threads: 0.02×.
     * Try: int tasks = 200; Does the cache still save anything?
     */
    static void threadLocal(Lab lab) throws Exception {
        int tasks = lab.size(10_000, 2_000);
        int pool = 200;
        lab.measure(Text.of("%s tasks", tasks), "objects", (double) pool / tasks,
            () -> buffersMade(newFixedThreadPool(pool), tasks),
            () -> buffersMade(newVirtualThreadPerTaskExecutor(), tasks));
    }

    static double buffersMade(ExecutorService executor, int tasks) throws Exception {
        var made = new AtomicInteger();
        var cache = ThreadLocal.withInitial(() -> {
            made.incrementAndGet();
            return new byte[8_192];
        });
        Lab.runAll(executor, tasks, () ->
            Lab.check("bytes in a buffer", 8_192, cache.get().length));
        return made.get();
    }

    /**
     * million. How long does it take to park a million virtual threads, and what do they weigh?
     * There is no platform side: a system's default limits are far below a million threads.
     * The weight is that of a thread, its stack and its entry in the JDK's list of threads: the
     * heap after a full collection, while all are parked.
     * Prediction: at most a few microseconds each, including the heap's growth and its
     * collections, as long as the heap has room. The weight grows with the stack.
     * Try: java -Xmx256m VirtualThreadsLab.java million. Which rows are still measured?
     */
    static void million(Lab lab) throws Exception {
        for (int n : new int[] {10_000, 100_000, lab.size(1_000_000, 200_000)})
            lab.measure(Text.of("%s parked", n), "ms", Lab.UNKNOWN, NO_SIDE,
                () -> parkedMs(n));
        int n = lab.size(100_000, 20_000);
        int frames = 50;
        Row shallow = lab.measure("bytes, shallow", Row.COUNT, Lab.UNKNOWN, NO_SIDE,
            () -> weigh(n, 0));
        Row deep = lab.measure(Text.of("bytes, %s frames", frames), Row.COUNT, Lab.UNKNOWN,
            NO_SIDE, () -> weigh(n, frames));
        lab.say("each of %s parked virtual threads took %s bytes of the heap, and %s for each"
            + " further frame of its stack", n, shallow.virtual(),
            (deep.virtual() - shallow.virtual()) / frames);
    }

    static double parkedMs(int n) throws Exception {
        long start = System.nanoTime();
        return (park(n, 0, System::nanoTime) - start) / 1e6;
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
        if (needed > most) throw new IllegalStateException(Text.of(
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

    /**
     * time-sharing. All processors compute. How long until a short task, started now, runs?
     * Fair: the same tasks, one thread per task, and as many long ones as can run at once.
     * Prediction: the operating system gives a platform thread its slice within milliseconds. A
     * virtual one waits until a long task ends, so its delay is about as long as that task: its
     * scheduler has no time sharing (JEP 444).
     * Try: in fibonacci, if (n == 20) Thread.yield(); On which JDK is the short task sooner?
     */
    static void timeSharing(Lab lab) throws Exception {
        Row row = lab.measure("ms until it runs", Row.COUNT, Lab.UNKNOWN,
            () -> delay(newThreadPerTaskExecutor(Thread::new), Lab.PROCESSORS),
            () -> delay(newVirtualThreadPerTaskExecutor(), Lab.CARRIERS));
        lab.say("behind long tasks of %s ms each, a short one was delayed by %s ms as a"
            + " platform thread and by %s ms as a virtual thread",
            lab.meanMs(Encores::longTask, 1), row.platform(), row.virtual());
    }

    static void longTask() { Lab.check("as a Fibonacci number", 39_088_169, fibonacci(38)); }

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

    /** A real server on loopback, and its client. */
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
            Lab.check("as HTTP status", 200, connection.getResponseCode());
            latencies.add((System.nanoTime() - from) / 1e6);
        }

        /** Calls at a fixed rate, as independent clients do. */
        void callAt(int perSecond, int lastMs) throws Exception {
            int calls = perSecond * lastMs / 1_000;
            var next = new AtomicInteger();
            Lab.runAll(newVirtualThreadPerTaskExecutor(), calls, () -> {
                long due = start + next.getAndIncrement() * 1_000_000_000L / perSecond;
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                call(due);
            });
        }

        /** Returns the median latency, in ms, of the calls that the job makes. */
        double latency(Job job) throws Exception {
            latencies.clear();
            start = System.nanoTime();
            job.run();
            return Row.quantile(latencies, 0.5);
        }

        public void close() {
            server.stop(0);
            ((ExecutorService) server.getExecutor()).shutdownNow();
        }
    }
}
