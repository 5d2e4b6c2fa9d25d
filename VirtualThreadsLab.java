//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;

import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.function.*;
import java.util.stream.*;

// The five experiments come first, and seven more come last (Encores). In between:
//     Row, Lab, Machine          what experiments use, and what they measure
//     Run, Results               a run in this JVM, and its rows
//     Report: Page, Wire         where rows go: to people, or from a launch to its parent
//     CommandLine                what the command asks for
//     Launches, Jdk              the fresh JVMs that it may launch
// A sample's way: a Gauge reads it, a Row keeps it, and Results hand the row to their Report.
// A Page prints it. A Wire sends it to the parent, whose Results join the rows of all launches
// before a Page prints them.

/**
 * Gives the same work to platform threads and to virtual threads, checks every answer and
 * prints one table of medians. It needs JDK 21 or newer and nothing else:
 *
 *     java VirtualThreadsLab.java
 *
 * platform thread   a thread of the operating system, such as new Thread(task).start() makes
 * virtual thread    a thread of the JVM; it leaves its carrier while it waits, unless pinned
 * carrier           a platform thread that runs virtual ones; usually one per processor
 * pinned            unable to leave its carrier, which has to wait with it
 */
class VirtualThreadsLab {
    static final List<Experiment> FIVE = List.of(
        new Experiment("start-time", "start and run threads", VirtualThreadsLab::startTime),
        new Experiment("sleep-wave", "tasks that wait", VirtualThreadsLab::sleepWave),
        new Experiment("cpu-primes", "tasks that compute", VirtualThreadsLab::cpuPrimes),
        new Experiment("pinning", "waits that may pin", VirtualThreadsLab::pinning),
        new Experiment("thread-count", "live threads", VirtualThreadsLab::threadCount));

    // Declared to throw, so that a subclass's main may throw, too.
    public static void main(String[] args) throws Exception {
        System.exit(CommandLine.obey(FIVE, Encores.LIST, args));
    }

    /** Runs this list, or what the words pick from it. Returns the exit code. */
    static int run(List<Experiment> list, String... words) {
        return CommandLine.obey(list, List.of(), words);
    }

    /**
     * start-time. How long does it take to start n threads and wait until each has run?
     * Fair: both sides run the same loop; only the builder differs.
     * Prediction: a platform thread takes tens of microseconds or more: the system makes it,
     * and the JVM waits until it has begun. A virtual thread is an object in a queue: about a
     * microsecond or less. This holds for bursts, once warm, while nothing else runs. The sides
     * share a JVM here; with a JVM for each side, ratios spread even more. Don't quote an exact
     * ratio.
     * Try: {1, 10, 100}. How much of the ratio is left for a single thread?
     */
    static void startTime(Lab lab) {
        for (int threads : new int[] {100, lab.size(1_000, 200), lab.size(10_000, 500)}) {
            String work = Text.of(threads == 1 ? "%s thread" : "%s threads", threads);
            lab.time(work, Lab.UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
        }
    }

    static void startAll(Thread.Builder builder, int threads) throws Exception {
        var notRun = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) builder.start(notRun::countDown);
        Lab.inTime(notRun.await(Lab.patience, TimeUnit.SECONDS));
    }

    /**
     * sleep-wave. How long do 10,000 tasks take if each waits 100 ms and does nothing else?
     * Fair: the same tasks; only the executor differs. 200 threads is Tomcat's default pool.
     * Prediction: 200 threads need 50 waves of 100 ms, 1,000 threads ten, and virtual threads
     * one: 50× and 10×. Starting and waking threads adds to all sides.
     * Try: {tasks} for the pools. Who wins if every task can have a platform thread?
     */
    static void sleepWave(Lab lab) {
        int tasks = lab.size(10_000, 500);
        int waitMs = lab.size(100, 15);
        Job wait = () -> Thread.sleep(waitMs);
        for (int pool : new int[] {lab.size(200, 50), lab.size(1_000, 100)}) {
            lab.time(Text.of("%s, pool %s", tasks, pool), Math.ceilDiv(tasks, pool),
                () -> Lab.runAll(newFixedThreadPool(pool), tasks, wait),
                () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));
        }
    }

    /**
     * cpu-primes. Are tasks that only compute any faster on virtual threads?
     * Fair: the same tasks on a thread per processor, or a virtual thread each; none waits.
     * Prediction: 1×. A virtual thread computes on a carrier, which is a platform thread, and
     * there is one carrier per processor. Fewer carriers need more rounds: less than 1×.
     * Try: newFixedThreadPool(tasks). Do more threads than processors help?
     */
    static void cpuPrimes(Lab lab) {
        int rounds = 4; // of tasks, if each processor has a thread
        int tasks = rounds * Machine.PROCESSORS;
        int limit = lab.size(1_000_000, 200_000);
        int primes = lab.size(78_498, 17_984);
        Job count = () -> Lab.check("primes", primes, countPrimes(limit));
        double predicted = Math.min(1, (double) rounds / Math.ceilDiv(tasks, Machine.CARRIERS));
        lab.time(Text.of("%s \u00d7 %s primes", tasks, primes), predicted,
            () -> Lab.runAll(newFixedThreadPool(Machine.PROCESSORS), tasks, count),
            () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, count));
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
     * it doesn't: 1×. The JVM calls a class initializer, and frames of the JVM pin: 1/k.
     * Try: synchronized (OWN) for synchronized (OWN.get()). Does the ratio still show a pin?
     */
    static void pinning(Lab lab) throws Exception {
        double pinned = 1.0 / Machine.PER_CARRIER;
        int waitMs = lab.size(500, 100) / Machine.PER_CARRIER;
        lab.waiting("ReentrantLock", 1, () -> {
            var own = new ReentrantLock();
            own.lock();
            try {
                Thread.sleep(waitMs);
            } finally {
                own.unlock();
            }
        });
        lab.waiting("synchronized", Machine.JDK < 24 ? pinned : 1, () -> {
            synchronized (OWN.get()) {
                Thread.sleep(waitMs);
            }
        });
        lab.waiting("class init", pinned, initializing(() -> {
            long end = System.nanoTime() + waitMs * 1_000_000L;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }));
    }

    /** Returns a job that runs this in a class initializer; each call takes a new class. */
    static Job initializing(Runnable inInitializer) throws IOException {
        String file = "/" + Initializer.class.getName().replace('.', '/') + ".class";
        byte[] bytes = Initializer.class.getResourceAsStream(file).readAllBytes();
        return () -> {
            IN_INITIALIZER.set(inInitializer);
            MethodHandles.lookup().defineHiddenClass(bytes, true);
        };
    }

    static class Initializer {
        static { IN_INITIALIZER.get().run(); }
    }

    static final ThreadLocal<Runnable> IN_INITIALIZER = new ThreadLocal<>();
    // Each thread has its own monitor. The compiler can't prove that, so it keeps the lock.
    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);

    /**
     * thread-count. How many more threads does ThreadMXBean see while 1,000 tasks wait?
     * Fair: the same tasks wait at the same gate. It opens once all that can start are there.
     * The bean counts platform threads, carriers as well, but no virtual ones.
     * Prediction: 200 for a pool of 200, 1,000 for a platform thread each, and 0 for virtual
     * threads: the warm-up has started the carriers. A ratio of these would mean nothing.
     * Try: int pool = 100; Which counts change?
     */
    static void threadCount(Lab lab) throws Exception {
        int tasks = lab.size(1_000, 300);
        int pool = 200;
        Gauge virtual = () -> added(newVirtualThreadPerTaskExecutor(), tasks, tasks);
        lab.count(Text.of("threads, pool %s", pool),
            () -> added(newFixedThreadPool(pool), tasks, Math.min(pool, tasks)), virtual);
        lab.count("threads, no pool",
            () -> added(newThreadPerTaskExecutor(Thread::new), tasks, tasks), virtual);
    }

    /** Returns how many more threads are live while all tasks that have room wait. */
    static double added(ExecutorService executor, int tasks, int room) throws Exception {
        var bean = ManagementFactory.getThreadMXBean();
        int before = -1;
        for (int i = 0; before != bean.getThreadCount() && i < 1_000; i++) {
            before = bean.getThreadCount();
            Thread.sleep(20); // earlier threads may be ending
        }
        var toCome = new AtomicInteger(room);
        var count = new CompletableFuture<Integer>();
        Lab.runAll(executor, tasks, () -> {
            if (toCome.decrementAndGet() == 0) count.complete(bean.getThreadCount());
            count.get(); // all wait until the last one has come and counted
        });
        return count.get() - before;
    }
}

// ------------------------------------------------------------------ what experiments use
// To add an experiment: write a method as in Encores, and list it there. To add a method
// that experiments may use: see Lab. What is printed: see Page; what a launch sends: see Wire.

interface Job { void call() throws Exception; } // work that is timed
interface Gauge { double read() throws Exception; } // takes a sample
interface Body { void run(Lab lab) throws Exception; } // adds the rows of an experiment
record Experiment(String name, String summary, Body body) { }

/** One sample of each side, in ms or a count; NaN if that side has failed. */
record Pair(double platform, double virtual) { }

/**
 * A row of the table: times in ms, or counts. The model is the predicted ratio, or NaN. Others
 * has the share of the processors that other programs used, 0 to 1, for each JVM of the row.
 */
record Row(String experiment, String work, boolean isTime, double model,
        List<Pair> pairs, List<Double> others) {
    Row {
        experiment = Text.cell(experiment);
        work = Text.cell(work);
    }

    String name() { return experiment + " " + work; }
    double platform() { return median(platforms()); }
    double virtual() { return median(virtuals()); }
    double lowest() { return ratios().min().orElse(Double.NaN); }
    double highest() { return ratios().max().orElse(Double.NaN); }
    boolean hasRatio() { return ratio() > 0; } // not for counts, nor if a side has failed
    double ratio() { return isTime && virtual() > 0 ? platform() / virtual() : Double.NaN; }

    /** The samples of platform threads, without those of a side that has failed. */
    List<Double> platforms() { return samples(pairs.stream().map(Pair::platform)); }
    List<Double> virtuals() { return samples(pairs.stream().map(Pair::virtual)); }

    private static List<Double> samples(Stream<Double> all) {
        return all.filter(sample -> !sample.isNaN()).toList();
    }

    /** Whether the range is too wide to be quoted, or the machine was too busy. */
    boolean isNoisy() {
        return hasRatio() && (highest() > 1.5 * lowest() || median(others) > 0.1);
    }

    /** The ratios of the pairs. Of ten or more, a tenth is cut at each end. */
    private DoubleStream ratios() {
        if (!hasRatio()) return DoubleStream.empty();
        double[] all = pairs.stream()
            .mapToDouble(pair -> pair.platform() / pair.virtual())
            .filter(Double::isFinite).sorted().toArray();
        int tenth = all.length / 10;
        return Arrays.stream(all, tenth, all.length - tenth);
    }

    /** The median of the finite values; of two in the middle, their mean; of none, NaN. */
    static double median(Collection<Double> values) {
        List<Double> sorted = values.stream().filter(Double::isFinite).sorted().toList();
        int size = sorted.size();
        if (size == 0) return Double.NaN;
        return (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
    }

    /** This row, with the pairs of a further launch. */
    Row and(Row other) {
        return new Row(experiment, work, isTime, model,
            Stream.of(pairs, other.pairs).flatMap(List::stream).toList(),
            Stream.of(others, other.others).flatMap(List::stream).toList());
    }
}

/**
 * What experiments use. A shot is one call of a job; a sample of time is the mean of its shots.
 * The place says where this experiment stands in its run, such as 2 of 5.
 */
record Lab(Results results, String experiment, String place, boolean quick, int samples) {
    static final double UNKNOWN = Double.NaN;
    static int patience = 120; // in seconds: how long the tasks of a sample may take
    static LongSupplier clock = System::nanoTime; // in ns; tests set another

    int size(int full, int withQuick) { return quick ? withQuick : full; }

    /** Throws an error such as "wrong answer: 4 sheep, not 3" if an answer is wrong. */
    static void check(String what, double expected, double actual) {
        if (actual == expected) return; // jobs call this: a right answer costs no text
        throw new AssertionError(
            Text.of("wrong answer: %s %s, not %s", actual, what, expected));
    }

    static void require(boolean fine, String otherwise) {
        if (!fine) throw new AssertionError(otherwise);
    }

    /** Throws unless what was waited for is done. */
    static void inTime(boolean done) {
        require(done, Text.of("not done in %s seconds", patience));
    }

    /** Calls the job n times, then shuts down. Throws if a call has failed, or is late. */
    static void runAll(ExecutorService executor, int n, Job job) throws Exception {
        Callable<Void> task = () -> {
            job.call();
            return null;
        };
        try {
            var tasks = Collections.nCopies(n, task);
            for (var done : executor.invokeAll(tasks, patience, TimeUnit.SECONDS)) {
                inTime(!done.isCancelled());
                done.get();
            }
        } finally {
            executor.shutdown();
            executor.awaitTermination(2, TimeUnit.SECONDS); // cancelled tasks take a moment
        }
    }

    /** Adds a row: several tasks per carrier make this call. Its model is 1 unless it pins. */
    void waiting(String what, double model, Job call) {
        int tasks = Machine.PER_CARRIER * Machine.CARRIERS;
        // A row's work has 19 columns: three digits leave no room for a word.
        String work = Text.of(tasks < 100 ? "%s in %s" : "%s, %s", tasks, what);
        time(work, model,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, call),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, call));
    }

    /** Adds a row: how many ms each side's job takes. */
    void time(String work, double model, Job platform, Job virtual) {
        measure(work, model, () -> meanMs(platform), () -> meanMs(virtual));
    }

    /** Adds a row of times that the gauges measure themselves, in ms. */
    void measure(String work, double model, Gauge platform, Gauge virtual) {
        add(work, true, model, platform, virtual);
    }

    /** Adds a row of numbers without a ratio; its name has to say what they count. */
    void count(String work, Gauge platform, Gauge virtual) {
        add(work, false, UNKNOWN, platform, virtual);
    }

    /** Takes the samples of both sides in turns, then adds their row. */
    private void add(String work, boolean isTime, double model, Gauge platform, Gauge virtual) {
        Row row = new Row(experiment, work, isTime, model, List.of(), List.of());
        if (model <= 0) results.fail(row.name() + ": a model has to be above 0.");
        require(!results.rows.containsKey(row.name()), "two rows named " + row.name());
        Side onPlatform = new Side(row.name() + ", platform", platform, isTime);
        Side onVirtual = new Side(row.name() + ", virtual", virtual, isTime);
        inTurn(row.name() + "  warm-up", onPlatform, onVirtual, this::warmUp);
        for (int i = 1; i <= samples; i++) {
            int wanted = i;
            // Whoever goes second may find a warmer machine, so they swap places.
            Side first = i % 2 == 1 ? onVirtual : onPlatform;
            Side second = first == onVirtual ? onPlatform : onVirtual;
            inTurn(row.name() + "  sample " + i + " of " + samples, first, second, side -> {
                if (side.samples.size() == wanted) return; // the warm-up was its first one
                double sample = side.gauge.read();
                side.samples.add(sample);
                side.rest(sample);
            });
        }
        var pairs = IntStream.range(0, samples)
            .mapToObj(i -> new Pair(onPlatform.sample(i), onVirtual.sample(i))).toList();
        // A count may end within a tick of 10 ms, for which the JDK would report 0 or 100%.
        List<Double> others = isTime ? List.of(Machine.others.getAsDouble()) : List.of();
        boolean isRead = results.add(new Row(experiment, work, isTime, model, pairs, others));
        require(isRead, "nobody reads on");
    }

    /** One side of a row. Once it has failed, it isn't read again, and has no samples. */
    private static class Side {
        final String name;
        final Gauge gauge;
        final boolean isTime;
        final List<Double> samples = new ArrayList<>();
        boolean failed;

        Side(String name, Gauge gauge, boolean isTime) {
            this.name = name;
            this.gauge = gauge;
            this.isTime = isTime;
        }

        /** C2 still compiles what short shots have made hot. The next side waits for that. */
        void rest(double sample) throws Exception {
            if (isTime && sample < 10) Machine.rest();
        }

        double sample(int i) { return failed ? Double.NaN : samples.get(i); }
    }

    private interface Step { void take(Side side) throws Exception; }

    private void inTurn(String progress, Side first, Side second, Step step) {
        results.show(progress + ", experiment " + place);
        for (Side side : List.of(first, second)) {
            if (side.failed) continue;
            side.failed = !results.attempt(side.name, () -> step.take(side));
        }
    }

    /**
     * Work below 1 ms goes on for a second, until C2 has compiled it; other work for 300 ms,
     * or once if that takes longer. A count is read once. A warm-up of over a second that keeps
     * no processor busy is the first of three samples or more: being cold hardly slows it.
     */
    private void warmUp(Side side) throws Exception {
        long start = clock.getAsLong();
        Duration before = Machine.processorTime();
        double ms = side.gauge.read();
        long computed = Machine.processorTime().minus(before).toMillis();
        long enough = 1_000_000L * (ms < 1 ? size(1_000, 100) : size(300, 30));
        while (side.isTime && ms > 0 && clock.getAsLong() - start < enough) {
            ms = side.gauge.read();
        }
        boolean counts = samples > 2 && side.isTime && ms > 1_000 && computed < ms;
        if (counts) side.samples.add(ms);
        side.rest(ms);
    }

    /**
     * Returns the mean, in ms, of the shots that fit into 200 ms, but of one at least. A median
     * of so few would jump from one of them to another.
     */
    private double meanMs(Job job) throws Exception {
        long start = clock.getAsLong();
        for (int shots = 1; ; shots++) {
            job.call();
            double ms = (clock.getAsLong() - start) / 1e6;
            boolean isFull = ms + ms / shots >= size(200, 20); // one more wouldn't fit
            if (isFull) return Math.rint(1e6 * ms / shots) / 1e6;
        }
    }
}

/** This machine, as this JVM sees it. */
class Machine {
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final String SCHEDULER = "jdk.virtualThreadScheduler.";
    // As Thread's javadoc has it. To the JDK, 010 is ten; to Integer.getInteger, it's eight.
    static final int CARRIERS = Math.min(
        Integer.parseInt(System.getProperty(SCHEDULER + "parallelism", "" + PROCESSORS)),
        Integer.parseInt(System.getProperty(SCHEDULER + "maxPoolSize", "32767")));
    // Tasks per carrier: a hundred in all, within these limits. Three still show a pin.
    static final int PER_CARRIER = Math.clamp(100 / CARRIERS, 3, 10);
    static DoubleSupplier others = Machine::othersLoad; // tests set another
    // A container's quota and weight, in cgroups v2 and v1: what these files hold by default.
    // If one holds something else, Java's bean sees only that container.
    private static final Map<String, String> NO_LIMIT = Map.of("cpu.max", "max",
        "cpu.weight", "100", "cpu/cpu.cfs_quota_us", "-1", "cpu/cpu.shares", "1024");

    /** Refuses a JVM whose options have left it without carriers, or without its beans. */
    static void require() {
        Thread thread = Thread.startVirtualThread(() -> { });
        boolean isBound = thread.getClass().getSimpleName().startsWith("Bound");
        Refused.unless(!isBound, "this JVM has no carriers"); // but platform threads
        ManagementFactory.getRuntimeMXBean(); // throws a LinkageError if there are no beans
    }

    /** What other programs have used since the last call: 0 to 1 of the processors, or NaN. */
    private static double othersLoad() {
        if (NO_LIMIT.keySet().stream().anyMatch(Machine::isLimit)) return Lab.UNKNOWN;
        try {
            var bean = ManagementFactory.getPlatformMXBean(
                com.sun.management.OperatingSystemMXBean.class);
            double all = bean.getCpuLoad(); // below 0: not known
            return all < 0 ? Lab.UNKNOWN
                : Math.max(0, all - Math.max(0, bean.getProcessCpuLoad()));
        } catch (LinkageError e) { // this image of Java lacks the module jdk.management
            return Lab.UNKNOWN;
        }
    }

    /**
     * Waits until this JVM rests, for a second at most. While a compiler has one of two
     * processors, platform threads may take several times as long to start.
     */
    static void rest() throws InterruptedException {
        for (int looks = 0; looks < 50; looks++) {
            Duration before = processorTime();
            Thread.sleep(20);
            if (processorTime().minus(before).toMillis() < 10) return; // Linux counts tens
        }
    }

    static Duration processorTime() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private static boolean isLimit(String file) {
        try (var content = new Scanner(new File("/sys/fs/cgroup/" + file))) {
            return content.hasNext() && !content.next().equals(NO_LIMIT.get(file));
        } catch (IOException e) { // no container, or not on Linux
            return false;
        }
    }
}

// ------------------------------------------------- a run in this JVM, and who is told of it
/** What is to be measured in this JVM. */
record Run(Collection<Experiment> plan, boolean quick, int samples) {
    /** Measures it all, or as much as a signal allows. Returns the exit code. */
    int perform(Results results) {
        Machine.others.getAsDouble(); // the first row's share counts from here
        Runtime.getRuntime().addShutdownHook(new Thread(() -> endEarly(results)));
        Report report = results.report;
        int number = 0;
        for (Experiment experiment : plan) {
            if (report.isClosed()) break;
            String name = experiment.name();
            String place = ++number + " of " + plan.size();
            var lab = new Lab(results, name, place, quick, samples);
            results.attempt(name, () -> experiment.body().run(lab));
        }
        results.end(report, false);
        return results.failures.isEmpty() && !report.isClosed() ? 0 : 1;
    }

    /** Runs if this JVM ends before its plan. Unless a signal ends it, the exit code is 1. */
    private static void endEarly(Results results) {
        if (!results.end(results.report, true)) return;
        boolean isSignal = Thread.getAllStackTraces().keySet().stream()
            .anyMatch(thread -> thread.getName().matches("SIG[A-Z]+ handler"));
        if (!isSignal) Runtime.getRuntime().halt(1);
    }
}

/** What was measured, and what failed: in this JVM, or in a JDK's launches. */
class Results {
    final Map<String, Row> rows = new LinkedHashMap<>(); // by their names
    final Set<String> failures = new CopyOnWriteArraySet<>(); // each is reported once
    final Report report; // gets rows and failures as they come
    volatile int completed; // launches that came to their end
    private final PrintStream console = System.err; // a call may set another
    private boolean ended; // from then on, nothing is added

    Results(Report report) { this.report = report; }

    /** Returns whether the job succeeds. If not, its failure is kept, and all else goes on. */
    boolean attempt(String what, Job job) {
        try {
            job.call();
            return true;
        } catch (Throwable e) { // a call may throw anything
            fail(what + ": " + Text.reason(e) + ".");
            return false;
        } finally {
            Thread.interrupted(); // a call may have left an interrupt for the next one
        }
    }

    synchronized void fail(String why) {
        if (failures.add(why)) report.failure(why);
    }

    /** Says on standard error what is being done; what comes next is written over it. */
    synchronized void show(String progress) {
        if (!ended) Text.print(console, "\r%-79.79s\r".formatted(progress));
    }

    /** Keeps a row; that of a further launch joins it. Returns whether anybody still reads. */
    synchronized boolean add(Row row) {
        if (ended) return false;
        show("");
        rows.merge(row.name(), row, Row::and);
        report.row(row);
        return !report.isClosed();
    }

    /**
     * Tells this report that the run has ended, unless a report was told before. Returns
     * whether it was told. A second caller waits until the first one's report is done, as the
     * JVM may end after that.
     */
    synchronized boolean end(Report told, boolean isEarly) {
        if (ended) return false;
        show("");
        ended = true;
        if (isEarly) failures.add("stopped before the end.");
        told.finish(this, isEarly);
        return true;
    }
}

/** Who is told of results: a page for people, or the JVM that has launched this one. */
interface Report {
    void row(Row row);
    void failure(String why);
    void finish(Results all, boolean isEarly);
    boolean isClosed(); // nobody reads it any more
}

/** Where rows come from: a JDK and its launches, or this JVM if there are none. */
record Origin(String java, String vendor, int launches, int completed, int samples) {
    /** Such as "starts: 5, ", or "starts: 4 of 5, ". */
    String starts() {
        if (launches == 0) return "";
        String of = completed < launches ? completed + " of " : "";
        return "starts: " + of + launches + ", ";
    }
}

/** A page of Markdown: a table row by row; what failed, a chart, and how to read them. */
record Page(PrintStream out, boolean listsSamples) implements Report {
    /** Prints what comes before the rows. */
    void begin(Origin from) {
        long heapMb = Runtime.getRuntime().maxMemory() >> 20;
        print("## VirtualThreadsLab\n\n" + items(Stream.of(
            "Java " + from.java() + ", " + from.vendor(),
            Text.of("%s %s, processors: %s, carriers: %s, heap: up to %s MB, samples: %s",
                System.getProperty("os.name"), System.getProperty("os.arch"),
                Machine.PROCESSORS, Machine.CARRIERS, heapMb, from.samples()),
            from.starts() + LocalDate.now() + ", `" + command() + "`")) + """

            Ratio: platform \u00f7 virtual; above 1\u00d7, virtual threads are faster.

            | Experiment   | Work                | Platform |  Virtual |    Ratio |  Model |
            |--------------|---------------------|---------:|---------:|---------:|-------:|
            """);
    }

    /** This command, with the options that change a result. Others may hold a secret. */
    private static String command() {
        String options = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(option -> option.matches("-(X|Djdk\\.(?!internal)).*"))
            .map(option -> option + " ").collect(Collectors.joining());
        String words = System.getProperty("sun.java.command")
            .replaceFirst("jdk\\.compiler/\\S+ ", ""); // the class that runs source files
        return "java " + options + words;
    }

    public void row(Row row) { print(line(row)); }

    public void failure(String why) { } // finish tells them all

    /** A row of the table. A wide ratio takes its columns from the model beside it. */
    private static String line(Row row) {
        String ratio = ratio(row, false);
        String model = Text.ratio(row.model());
        if (ratio.length() < 10) ratio += " ";
        if (ratio.length() < 11) model += " ";
        int modelWidth = Math.max(1, 18 - Math.max(10, ratio.length()));
        String form = "| %-12s | %-19s | %8s | %8s |%10s|%" + modelWidth + "s|\n";
        return form.formatted(
            row.experiment(), row.work(),
            cell(row, row.platform()), cell(row, row.virtual()), ratio, model);
    }

    /** A median: ms, or s if it's long. Any other unit stands in the row's name. */
    private static String cell(Row row, double value) {
        if (!row.isTime()) return Text.number(value, "");
        return value > 9_999 ? Text.number(value / 1e3, " s") : Text.number(value, " ms");
    }

    /** Such as 47x (46-48), but of a noisy row only the range, such as ~20-48x. */
    static String ratio(Row row, boolean withRange) {
        String range = DoubleStream.of(row.lowest(), row.highest()).mapToObj(Text::ratio)
            .distinct().collect(Collectors.joining("\u2013")).replace("\u00d7", "");
        if (row.isNoisy()) return "~" + range + "\u00d7";
        boolean addsRange = withRange && range.contains("\u2013"); // not one ratio alone
        return Text.ratio(row.ratio()) + (addsRange ? " (" + range + ")" : "");
    }

    public void finish(Results all, boolean isEarly) {
        Collection<Row> rows = all.rows.values();
        if (!all.failures.isEmpty())
            print("\n" + items(all.failures.stream().map("Failed: "::concat)));
        if (rows.isEmpty()) return;
        if (listsSamples)
            print("\n### Samples\n\n" + items(rows.stream().map(Page::samples)));
        String bars = rows.stream().filter(Row::hasRatio).map(Page::bar)
            .collect(Collectors.joining());
        if (!bars.isEmpty())
            print("\n### At a glance\n\n```text\n" + " ".repeat(29)
                + "platform better \u2502 virtual better; \u2588: a factor of 2\n"
                + bars + "```\n");
        print("""

            - ~: don't quote it. The range is over 1.5-fold, or other programs used
              over a tenth of the processors: close them, and run it again.
            - Model: the ratio that arithmetic predicts. In brackets: the lowest and
              the highest ratio; one sample: no range.
            """ + trimmed(rows) + others(rows));
    }

    private static String samples(Row row) {
        return row.name() + ": platform " + row.platforms() + "; virtual " + row.virtuals();
    }

    /** A line of the chart. To the right of the middle, virtual threads are faster. */
    private static String bar(Row row) {
        double doublings = Math.log(row.ratio()) / Math.log(2);
        int blocks = (int) Math.rint(Math.abs(doublings));
        String bar = (row.isNoisy() ? "~" : "\u2588").repeat(blocks);
        return "%-12s %-19s %12s\u2502%s %s\n".formatted(row.experiment(), row.work(),
            doublings < 0 ? bar : "", doublings < 0 ? "" : bar, ratio(row, true));
    }

    /** Says whether ranges leave samples out: see Row.ratios. */
    private static String trimmed(Collection<Row> rows) {
        boolean any = rows.stream().anyMatch(row -> row.hasRatio() && row.pairs().size() >= 10);
        return any ? "- Of ten ratios or more, brackets leave out a tenth at each end.\n" : "";
    }

    /** Says what others used at most, or that it isn't known; nothing if they used none. */
    private static String others(Collection<Row> rows) {
        double most = Math.rint(100 * rows.stream().flatMap(row -> row.others().stream())
            .filter(Double::isFinite).max(Double::compare).orElse(Double.NaN));
        if (most > 0)
            return Text.of("- Other programs used up to %s%% of the processors.\n", most);
        if (most == 0 || rows.stream().noneMatch(Row::isTime)) return "";
        return """
            - Other programs: not known here. In a container with a limit or a weight
              for its processors, Java sees only that container.
            """;
    }

    /** Prints the ratios of all rows, with a column for each JDK. */
    void sideBySide(List<Jdk> jdks) {
        print("\n### Side by side\n\n"
            + wideLine("Experiment and work", jdks.stream().map(jdk -> "JDK " + jdk.name()))
            + "|" + "-".repeat(32) + "|" + ("-".repeat(20) + ":|").repeat(jdks.size()) + "\n");
        var names = jdks.stream().flatMap(jdk -> jdk.results().rows.values().stream())
            .filter(Row::hasRatio).map(Row::name).distinct().toList();
        for (String name : names) {
            var rows = jdks.stream().map(jdk -> jdk.results().rows.get(name));
            print(wideLine(name, rows.map(row -> row == null ? "\u2014" : ratio(row, true))));
        }
    }

    private static String wideLine(String name, Stream<String> cells) {
        return cells.map(" %19s |"::formatted)
            .collect(Collectors.joining("", "| %-30s |".formatted(name), "\n"));
    }

    private static String items(Stream<String> texts) {
        return texts.map("- %s\n"::formatted).collect(Collectors.joining());
    }

    /** Prints, and returns whether that went well. The first time it doesn't, it says so. */
    boolean print(String text) {
        if (isClosed()) return false;
        Text.print(out, text);
        if (isClosed()) System.err.println("VirtualThreadsLab: can't write standard output");
        return !isClosed();
    }

    public boolean isClosed() { return out.checkError(); }
}

/** Sends what a launch is told to its parent. Each line begins with the parent's token. */
record Wire(String token, PrintStream out) implements Report {
    static final String PARENT = "lab.parent"; // its process ID; with it, the launch ends
    static final String TOKEN = "lab.token";

    /** The wire of this JVM, if it's a launch. From now on, it ends with its parent. */
    static Optional<Report> ofLaunch() {
        Optional.ofNullable(Long.getLong(PARENT)).flatMap(ProcessHandle::of)
            .ifPresent(parent -> parent.onExit().thenRun(() -> System.exit(1)));
        return Optional.ofNullable(System.getProperty(TOKEN))
            .map(token -> new Wire(token, System.out));
    }

    public void row(Row row) {
        send("row", String.join("\t", row.experiment(), row.work(), "" + row.isTime(),
            "" + row.model(), "" + row.platform(), "" + row.virtual(),
            "" + Row.median(row.others())));
    }

    public void failure(String why) { send("failed", why); }

    public void finish(Results all, boolean isEarly) {
        if (!isEarly) send("end", "");
    }

    private void send(String kind, String what) {
        // A line break comes first, as a call may have printed half a line.
        out.print("\n" + String.join("\t", token, kind, what) + "\n");
        out.flush();
    }

    public boolean isClosed() { return out.checkError(); }

    /** Reads a line of a launch. One that doesn't begin with the token comes from a call. */
    static void read(String line, String token, String launch, Results results) {
        String[] parts = line.split("\t", 3);
        if (!parts[0].equals(token)) return;
        switch (parts[1]) {
            case "row" -> results.add(parsed(parts[2]));
            case "failed" -> results.fail(launch + ": " + parts[2]);
            case "end" -> results.completed++;
        }
    }

    /** A row that a launch has sent. It has one pair: that launch's medians. */
    static Row parsed(String sent) {
        String[] parts = sent.split("\t");
        var pair = new Pair(Double.parseDouble(parts[4]), Double.parseDouble(parts[5]));
        var others = List.of(Double.valueOf(parts[6]));
        return new Row(parts[0], parts[1], Boolean.parseBoolean(parts[2]),
            Double.parseDouble(parts[3]), List.of(pair), others);
    }
}

/** How numbers and errors are written. Signs are escaped: the source's charset won't matter. */
class Text {
    private static final String SIGNS = "\u00d7\u00f7\u2014\u2013\u2588\u2502";
    private static final String IN_ASCII = "x/--#|";

    /** Prints. If the console's charset lacks a sign, all of them are in ASCII. */
    static void print(PrintStream console, String text) {
        boolean lacksSigns = !console.charset().newEncoder().canEncode(SIGNS);
        for (int i = 0; lacksSigns && i < SIGNS.length(); i++) {
            text = text.replace(SIGNS.charAt(i), IN_ASCII.charAt(i));
        }
        console.print(text);
    }

    /** Writes numbers as the table does, alike in every locale, in place of each %s. */
    static String of(String form, Object... values) {
        return String.format(Locale.ROOT, form, Arrays.stream(values)
            .map(v -> v instanceof Number n ? number(n.doubleValue(), "") : v).toArray());
    }

    /** Three digits, but two below 0.1, one below 0.01, and all of a whole or large number. */
    static String number(double value, String unit) {
        if (!Double.isFinite(value)) return "\u2014";
        double size = Math.abs(value);
        if (size > 0 && size < 0.001) return "<0.001" + unit;
        int digits = size < 0.01 ? 1 : size < 0.1 ? 2 : 3;
        String format = size >= 999.5 || size % 1 == 0 ? "%,.0f" : "%." + digits + "g";
        return String.format(Locale.ROOT, format, value) + unit;
    }

    /** Two digits, as no two machines agree on a third: 450x, 45x, 1.0x, 0.10x; but 1x. */
    static String ratio(double value) {
        if (!(value > 0) || Double.isInfinite(value)) return "\u2014";
        if (value < 0.001 || value % 1 == 0 && value < 10) return number(value, "\u00d7");
        double unit = Math.pow(10, Math.ceil(Math.log10(value)) - 2); // of the second digit
        if (unit < 1) return String.format(Locale.ROOT, "%.2g\u00d7", value);
        return number(Math.rint(value / unit) * unit, "\u00d7");
    }

    static String cell(String text) { return text.replaceAll("[|\\s\\p{Cntrl}]+", " "); }

    /** Why a call has failed, in one line: the error and its causes. */
    static String reason(Throwable error) {
        String all = Stream.iterate(error, Objects::nonNull, Throwable::getCause)
            .limit(9).distinct() // a cause may come round again
            .filter(one -> !(one instanceof ExecutionException) || one.getCause() == null)
            .map(Text::described).collect(Collectors.joining(", caused by "));
        return "%.500s".formatted(cell(all)); // one may be long
    }

    private static String described(Throwable one) {
        return switch (one) { // Java 17 to 20 can't compile this, and show the next line:
            case AssertionError x -> // needs Java 21 or newer
                Objects.toString(x.getMessage(), "" + x);
            case Refused x -> x.getMessage();
            default -> one + Stream.of(one.getStackTrace())
                .filter(frame -> frame.getModuleName() == null).limit(1) // not the JDK's
                .map(frame -> " at " + frame).collect(Collectors.joining());
        };
    }
}

// ----------------------------------------------------------- the command, and its JVMs
/** The words of a command: what is measured, how often, and on which JDKs. */
class CommandLine {
    private static final String HELP = """
        java VirtualThreadsLab.java [option ...] [name ...]
          --quick     smaller sizes, 3 samples: seconds, not a minute, but noisier
          --runs N    N samples of each side, 1 to 100, instead of 5
          --starts N  N fresh JVMs, 1 to 100; each gives one sample, its median
          --java P    run on the JDK in folder P; repeat it to compare JDKs side by side
          --samples   print every sample, too
        Exit code 0: every row was measured; 1: one was not; 2: not understood.
        If a call halts the JVM, the code is its own, and the table ends without notes.
        Without a name, the first %s of these run; with "all", every one:
        """;
    private static final List<String> OPTIONS =
        List.of("--quick", "--runs", "--starts", "--java", "--samples", "--help");
    final Set<Experiment> plan = new LinkedHashSet<>();
    final List<Jdk> jdks = new ArrayList<>();
    boolean quick;
    boolean listsSamples;
    int samples; // of each side, in a JVM
    int launches; // of each JDK; 0: measure in this JVM

    /** Does what the words ask for. Encores have to be named. Returns the exit code. */
    static int obey(List<Experiment> list, List<Experiment> encores, String... words) {
        List<Experiment> all = Stream.of(list, encores).flatMap(List::stream).toList();
        if (Stream.of(words).anyMatch(Set.of("--help", "-h")::contains)) {
            String names = all.stream()
                .map(one -> "  %-12s  %s\n".formatted(one.name(), one.summary()))
                .collect(Collectors.joining());
            String help = HELP.formatted(list.size()) + names;
            return new Page(System.out, false).print(help) ? 0 : 1;
        }
        var asked = new CommandLine();
        try {
            Machine.require();
            Iterator<String> rest = List.of(words).iterator();
            while (rest.hasNext()) asked.take(rest, all);
        } catch (Refused | LinkageError e) { // the JVM's options may cause a LinkageError
            System.err.println("VirtualThreadsLab: " + Text.reason(e));
            return 2;
        }
        if (asked.plan.isEmpty()) asked.plan.addAll(list);
        if (asked.samples == 0) asked.samples = asked.quick ? 3 : 5;
        return asked.run();
    }

    /** Takes the next word, and the number or folder that belongs to it. */
    private void take(Iterator<String> words, List<Experiment> all) {
        String word = words.next();
        switch (word) {
            case "--quick" -> quick = true;
            case "--samples" -> listsSamples = true;
            case "--runs" -> samples = upTo100(word, words);
            case "--starts" -> launches = upTo100(word, words);
            case "--java" -> jdks.add(Jdk.of(words.hasNext() ? words.next() : ""));
            case "all" -> plan.addAll(all);
            default -> plan.add(named(word, all));
        }
    }

    private static Experiment named(String word, List<Experiment> all) {
        return all.stream().filter(one -> one.name().equals(word)).findFirst()
            .orElseThrow(() -> new Refused(
                "not understood: '" + word + "'" + alike(word, all) + ", try --help"));
    }

    /** A known word that begins alike, as a question. */
    private static String alike(String word, List<Experiment> all) {
        String closest = "";
        int most = 2; // letters that are alike; two say nothing
        Stream<String> names = all.stream().map(Experiment::name);
        for (String known : Stream.concat(names, OPTIONS.stream()).toList()) {
            int alike = Arrays.mismatch(word.toCharArray(), known.toCharArray());
            if (alike <= most) continue;
            most = alike;
            closest = " (did you mean " + known + "?)";
        }
        return closest;
    }

    private static int upTo100(String word, Iterator<String> words) {
        String number = words.hasNext() ? words.next() : "";
        boolean fits = number.matches("[1-9]\\d?|100");
        Refused.unless(fits, word + " takes a number from 1 to 100");
        return Integer.parseInt(number);
    }

    /** Runs in this JVM, or in launches. A launch itself differs only in its report. */
    private int run() {
        var page = new Page(System.out, listsSamples);
        if (launches > 0 || !jdks.isEmpty()) {
            if (jdks.isEmpty()) jdks.add(Jdk.ofThisJvm());
            launches = Math.max(1, launches);
            return new Launches(this, page).run();
        }
        Optional<Report> wire = Wire.ofLaunch();
        var thisJvm = new Origin("" + Runtime.version(),
            System.getProperty("java.vm.vendor"), 0, 0, samples);
        if (wire.isEmpty()) page.begin(thisJvm);
        return new Run(plan, quick, samples).perform(new Results(wire.orElse(page)));
    }
}

/** What the words ask for can't be done, so nothing is measured. */
class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    Refused(String why) { super(why); }

    static void unless(boolean fine, String why) { if (!fine) throw new Refused(why); }
}

/**
 * Launches the lab in fresh JVMs, one after another; several JDKs take turns. As launches
 * can differ by more than the samples of one, each gives one sample: its median.
 */
class Launches {
    private final CommandLine asked;
    private final Page page;
    private final String token = Long.toHexString(new Random().nextLong());
    private final CompletableFuture<Void> printed = new CompletableFuture<>();
    private volatile Process child;
    private volatile int signal; // 0, or the exit code once somebody stops this

    Launches(CommandLine asked, Page page) {
        this.asked = asked;
        this.page = page;
    }

    int run() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::stop));
        for (int i = 1; i <= asked.launches; i++) {
            for (Jdk jdk : asked.jdks) {
                String name = "start " + i + " of " + asked.launches + ", JDK " + jdk.name();
                if (signal == 0) jdk.results().attempt(name, () -> launch(name, jdk));
            }
        }
        print();
        boolean failed = page.isClosed()
            || asked.jdks.stream().anyMatch(jdk -> !jdk.results().failures.isEmpty());
        return failed ? Math.max(signal, 1) : signal;
    }

    private synchronized void print() {
        if (printed.isDone()) return;
        System.err.println("\nThe medians of all starts:\n");
        for (Jdk jdk : asked.jdks) {
            Results results = jdk.results();
            if (jdk != asked.jdks.getFirst()) page.print("\n");
            var origin = new Origin(jdk.version(), jdk.vendor(), asked.launches,
                results.completed, asked.samples);
            if (!results.rows.isEmpty()) page.begin(origin);
            results.rows.values().forEach(page::row);
            results.end(page, signal > 0 && results.completed < asked.launches);
        }
        if (asked.jdks.size() > 1) page.sideBySide(asked.jdks);
        printed.complete(null);
    }

    /**
     * As this JVM ends, mostly by Ctrl-C: ends the launch, and waits until what it has sent
     * is printed. A launch that begins meanwhile is ended, too: this sets the signal before it
     * looks at the child, and launch() sets the child before it looks at the signal.
     */
    private void stop() {
        signal = 1;
        Process last = child;
        if (last != null) {
            // Process.destroy itself would close the streams that are still read.
            last.toHandle().destroy();
            last.onExit().completeOnTimeout(null, 5, TimeUnit.SECONDS).join();
            last.toHandle().destroyForcibly();
        }
        printed.completeOnTimeout(null, 10, TimeUnit.SECONDS).join();
        print(); // unless main has done it
    }

    private void launch(String name, Jdk jdk) throws Exception {
        System.err.println(name);
        Results results = jdk.results();
        var builder = new ProcessBuilder(command(jdk.folder()))
            .redirectError(ProcessBuilder.Redirect.INHERIT);
        // The options in these variables are part of the command already.
        builder.environment().keySet().removeAll(
            Set.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"));
        int before = results.completed;
        child = builder.start();
        if (signal != 0) child.toHandle().destroy();
        var lines = child.inputReader(StandardCharsets.UTF_8).lines();
        Thread reader = Thread.ofPlatform().daemon().start(() -> results.attempt(name,
            () -> lines.forEach(line -> Wire.read(line, token, name, results))));
        int exit = child.waitFor();
        reader.join(5_000); // a program that a call has started may keep the output open
        // By SIGHUP, SIGINT (Ctrl-C) or SIGTERM: then this ends as well.
        if (Set.of(129, 130, 143).contains(exit)) signal = exit;
        if (signal == 0 && results.completed == before)
            results.fail(name + ": stopped before the end, exit code " + exit + ".");
    }

    /** The command that has started this JVM, with its options, for this JDK. */
    private List<String> command(String folder) {
        List<String> command = new ArrayList<>(List.of(folder + "/bin/java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        // These two open ports, which only one JVM can have.
        command.removeIf(one -> one.matches("-.*jdwp.*|-Dcom.sun.management.*"));
        // The first frame of main's stack is in the class that was started: maybe a subclass.
        String main = List.of(new Throwable().getStackTrace()).getLast().getClassName();
        command.addAll(List.of("-Dstdout.encoding=UTF-8", "-D" + Wire.TOKEN + "=" + token,
            "-D" + Wire.PARENT + "=" + ProcessHandle.current().pid(),
            "--class-path=" + System.getProperty("java.class.path")));
        String source = System.getProperty("jdk.internal.javac.source"); // of java --source
        if (source != null) command.addAll(List.of("--source", source));
        command.add(System.getProperty("jdk.launcher.sourcefile", main));
        command.addAll(List.of("--runs", "" + asked.samples));
        if (asked.quick) command.add("--quick");
        for (Experiment one : asked.plan) command.add(one.name());
        return command;
    }
}

/** A JDK, and what its launches have measured: each gives every row a pair of samples. */
record Jdk(String folder, String name, String version, String vendor, Results results) {
    /** The JDK in this folder, with the names that its file "release" gives. */
    static Jdk of(String folder) {
        var release = new Properties();
        try (var file = new FileReader(folder + "/release")) {
            release.load(file);
        } catch (IOException | IllegalArgumentException e) { // then it has no version
        }
        release.replaceAll((key, quoted) -> quoted.toString().replace("\"", ""));
        String name = release.getProperty("JAVA_VERSION", "");
        boolean hasJava = Stream.of("/bin/java", "/bin/java.exe")
            .anyMatch(java -> new File(folder + java).canExecute());
        Refused.unless(hasJava && name.matches("(2[1-9]|[3-9]\\d)\\b.*"),
            "--java takes the folder of a JDK of 21 or newer, not '" + folder + "'");
        return new Jdk(folder, name, release.getProperty("JAVA_RUNTIME_VERSION", name),
            release.getProperty("IMPLEMENTOR", "unknown"), shown());
    }

    static Jdk ofThisJvm() {
        return new Jdk(System.getProperty("java.home"), System.getProperty("java.version"),
            "" + Runtime.version(), System.getProperty("java.vm.vendor"), shown());
    }

    /** Results that show their rows on standard error as they come. */
    private static Results shown() { return new Results(new Page(System.err, false)); }
}

// ---------------------------------------- seven more experiments, and what only they use
class Encores {
    static final List<Experiment> LIST = List.of(
        new Experiment("println", "one thread prints lines to a file", Encores::println),
        new Experiment("http", "calls come at a fixed rate, pool or not", Encores::http),
        new Experiment("mixed", "tasks compute, then call a server", Encores::mixed),
        new Experiment("capacity", "20 at once: pool, or semaphore", Encores::capacity),
        new Experiment("thread-local", "objects in a cache, pool or not", Encores::threadLocal),
        new Experiment("million", "park a million virtual threads", Encores::million),
        new Experiment("time-sharing", "short task beside busy ones", Encores::timeSharing));

    /**
     * println. Does a single printing task run faster on a virtual thread?
     * Fair: the same lines, each written at once, as by System.out, and none is missing.
     * Prediction: 1×, as nothing waits while something else could run. On JDK 21 and 22 less:
     * there each write adjusts the scheduler's parallelism (JDK-8329593, fixed in 23).
     * Try: int lines = 10; Which side is faster now, and why?
     */
    static void println(Lab lab) throws Exception {
        int lines = 100_000;
        File file = File.createTempFile("lines", ".txt");
        file.deleteOnExit();
        Job print = () -> {
            try (var out = new PrintStream(file)) {
                for (int i = 0; i < lines; i++) out.println("line " + (lines + i));
            }
            int bytes = ("line " + lines + System.lineSeparator()).length(); // in each line
            Lab.check("bytes in the file", lines * bytes, file.length());
        };
        lab.time(Text.of("%s lines", lines), Machine.JDK < 23 ? Lab.UNKNOWN : 1,
            () -> Lab.runAll(newThreadPerTaskExecutor(Thread::new), 1, print),
            () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), 1, print));
    }

    /**
     * http. What does a service gain from one virtual thread per call, if its handler waits?
     * Fair: the same calls, due at the same times, whether or not others are answered yet; only
     * the servers' executors differ. The callers are virtual threads on both sides. Latency
     * counts from the moment when a call is due.
     * Prediction: a pool of 20 answers 400 calls of 50 ms a second. At 320, none waits: 1×. At
     * 600, the queue grows by 0.5 s a second: halfway, a call takes 550 ms, not 50: 11×.
     * Try: int pool = 40; How much of the gain is left?
     */
    static void http(Lab lab) throws Exception {
        int pool = 20;
        int waitMs = 50;
        int lastMs = lab.size(2_000, 500);
        try (var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            for (int rate : new int[] {320, 600}) { // calls a second
                double overload = Math.max(0, rate * waitMs / 1_000.0 / pool - 1);
                double queuedMs = overload * lastMs / 2; // by the middle call
                lab.measure(rate + " calls a second", 1 + queuedMs / waitMs,
                    () -> pooled.latency(() -> pooled.callAt(rate, lastMs)),
                    () -> virtual.latency(() -> virtual.callAt(rate, lastMs)));
            }
        }
    }

    /**
     * mixed. Tasks compute, then call a server. How long do all take? And the call of one?
     * Fair: the same tasks, client and server, and a thread per task that makes its own call.
     * Prediction: 1× for all. But a call seems to take longer: its virtual thread isn't resumed
     * until a carrier is free, and nothing interrupts what computes there. From JDK 26 on, it
     * may be resumed sooner, as carriers change queues.
     * Try: int index = 30; int number = 832_040; How long is a call if tasks compute less?
     */
    static void mixed(Lab lab) throws Exception {
        int tasks = 10 * Machine.PROCESSORS;
        int index = lab.size(37, 34);
        int number = lab.size(24_157_817, 5_702_887);
        try (var server = new Server(newFixedThreadPool(tasks), lab.size(120, 60))) {
            Job task = () -> {
                Lab.check("as a Fibonacci number", number, fibonacci(index));
                server.call(System.nanoTime());
            };
            Job platform = () ->
                Lab.runAll(newThreadPerTaskExecutor(Thread::new), tasks, task);
            Job virtual = () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
            double model = Machine.CARRIERS < Machine.PROCESSORS ? Lab.UNKNOWN : 1;
            lab.time(tasks + " tasks", model, platform, virtual);
            lab.measure("median call", Lab.UNKNOWN,
                () -> server.latency(platform), () -> server.latency(virtual));
        }
    }

    static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

    /**
     * capacity. What limits a resource that takes 20 at once, if not the size of a pool?
     * Fair: the same tasks hold it for the same time; the 21st at once is a wrong answer.
     * Prediction: 1×. Both sides need 50 waves: limit the resource, not the threads.
     * Try: new Semaphore(limit + 1). What does the lab say about that row?
     */
    static void capacity(Lab lab) throws Exception {
        int tasks = lab.size(1_000, 200);
        int limit = 20;
        var inside = new AtomicInteger();
        Job hold = () -> {
            int now = inside.incrementAndGet();
            Thread.sleep(10);
            inside.decrementAndGet();
            Lab.check("tasks inside at once", Math.min(now, limit), now);
        };
        var permits = new Semaphore(limit);
        Job gated = () -> {
            permits.acquire();
            try {
                hold.call();
            } finally {
                permits.release();
            }
        };
        lab.time(Text.of("%s \u00d7 10 ms by %s", tasks, limit), 1,
            () -> Lab.runAll(newFixedThreadPool(limit), tasks, hold),
            () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, gated));
    }

    /**
     * thread-local. How many costly objects does a cache in a ThreadLocal make?
     * Fair: the same tasks use the same cache; only the executor differs.
     * Prediction: one per thread: 200 for the pool, 10,000 for virtual threads.
     * Try: int tasks = 200; Does the cache still save anything?
     */
    static void threadLocal(Lab lab) throws Exception {
        int tasks = lab.size(10_000, 2_000);
        lab.count("objects made",
            () -> objectsMade(newFixedThreadPool(200), tasks),
            () -> objectsMade(newVirtualThreadPerTaskExecutor(), tasks));
    }

    static double objectsMade(ExecutorService executor, int tasks) throws Exception {
        Set<Object> made = ConcurrentHashMap.newKeySet();
        var cache = ThreadLocal.withInitial(Object::new);
        Lab.runAll(executor, tasks, () -> made.add(cache.get()));
        return made.size();
    }

    /**
     * million. How many bytes of heap does each of a million parked virtual threads take?
     * There is no platform side: a system's default limits are far below a million threads.
     * Prediction: under a kilobyte: a thread, its task, a short stack, and its entries in the
     * JDK's list and in ours.
     * Try: park in a method that calls itself ten times. What does a deeper stack weigh?
     */
    static void million(Lab lab) throws Exception {
        long room = Runtime.getRuntime().maxMemory() / 2_000; // over twice what they take
        int n = (int) Math.min(lab.size(1_000_000, 200_000), room);
        lab.count("bytes of each", () -> Lab.UNKNOWN, () -> {
            double before = heapUsed();
            return park(n, () -> (heapUsed() - before) / n);
        });
    }

    static double heapUsed() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Starts n virtual threads that park, asks once all are there, and lets them go. */
    static double park(int n, Gauge question) throws Exception {
        var toCome = new CountDownLatch(n);
        var open = new AtomicBoolean();
        var threads = new Thread[n];
        try {
            for (int i = 0; i < n; i++) {
                threads[i] = Thread.startVirtualThread(() -> {
                    toCome.countDown();
                    while (!open.get()) LockSupport.park();
                });
            }
            Lab.inTime(toCome.await(Lab.patience, TimeUnit.SECONDS));
            return question.read();
        } finally {
            open.set(true);
            for (Thread thread : threads) LockSupport.unpark(thread);
            var limit = Duration.ofSeconds(Lab.patience);
            for (Thread thread : threads) Lab.inTime(thread == null || thread.join(limit));
        }
    }

    /**
     * time-sharing. Each carrier is in use: by a task that computes, or by a pair of threads
     * that hand something over. How long until a task that main starts now runs?
     * Fair: the same tasks, one thread each; as many long tasks, or pairs, as can run at once.
     * Prediction: the operating system gives a platform thread its slice within milliseconds. A
     * virtual one waits until a long task ends: its scheduler has no time sharing (JEP 444). Of
     * a pair, one thread always waits, and yet nobody else runs until the pairs end: a thread
     * that a virtual one wakes enters the queue of its carrier, which empties that first.
     * Try: Machine.CARRIERS - 1 pairs of virtual threads, if there are two carriers or more.
     * Who runs what main starts?
     */
    static void timeSharing(Lab lab) throws Exception {
        lab.count("ms until it runs",
            () -> delay(newThreadPerTaskExecutor(Thread::new), Machine.PROCESSORS,
                0, Encores::compute),
            () -> delay(newVirtualThreadPerTaskExecutor(), Machine.CARRIERS,
                0, Encores::compute));
        int ms = lab.size(1_000, 300);
        lab.count("ms beside hand-offs",
            () -> besidePairs(newThreadPerTaskExecutor(Thread::new), Machine.PROCESSORS, ms),
            () -> besidePairs(newVirtualThreadPerTaskExecutor(), Machine.CARRIERS, ms));
    }

    static void compute() { Lab.check("as a Fibonacci number", 39_088_169, fibonacci(38)); }

    /** Returns how many ms a short task waits. It starts settleMs after the last long one. */
    static double delay(ExecutorService executor, int busy, int settleMs, Job longTask)
            throws Exception {
        var begun = new CountDownLatch(busy);
        Callable<Void> task = () -> {
            begun.countDown();
            longTask.call();
            return null;
        };
        try {
            var running = Stream.generate(() -> executor.submit(task)).limit(busy).toList();
            Lab.inTime(begun.await(Lab.patience, TimeUnit.SECONDS));
            Thread.sleep(settleMs);
            long start = System.nanoTime();
            var shortTask = executor.submit(() -> (System.nanoTime() - start) / 1e6);
            for (var done : running) done.get(Lab.patience, TimeUnit.SECONDS);
            return shortTask.get(Lab.patience, TimeUnit.SECONDS);
        } finally {
            executor.shutdown();
            executor.awaitTermination(2, TimeUnit.SECONDS);
        }
    }

    /** The same beside pairs, which hand over for so many ms. Within 40, each has a carrier. */
    static double besidePairs(ExecutorService executor, int pairs, int ms) throws Exception {
        var turns = new AtomicInteger();
        double delay = delay(executor, pairs, 40,
            () -> turns.addAndGet(handOver(executor, ms)));
        Lab.require(turns.get() >= 1_000, Text.of("only %s hand-offs", turns));
        return delay;
    }

    /** A second thread takes what this one puts. The queue has one place, so both wait. */
    static int handOver(ExecutorService executor, int ms) throws Exception {
        long end = System.nanoTime() + ms * 1_000_000L;
        var queue = new ArrayBlockingQueue<Boolean>(1);
        var taken = executor.submit(() -> {
            int n = 0;
            while (queue.take()) n++;
            return n;
        });
        int put = 0;
        for (; System.nanoTime() < end; put++) queue.put(true);
        queue.put(false); // the last one
        Lab.check("taken", put, taken.get());
        return put;
    }

    /** A real server on loopback, and its client. */
    static class Server implements Closeable {
        private final com.sun.net.httpserver.HttpServer server;
        private final java.net.URL address;
        final Queue<Double> latencies = new ConcurrentLinkedQueue<>();

        Server(ExecutorService executor, int waitMs) throws Exception {
            var local = new java.net.InetSocketAddress("127.0.0.1", 0);
            server = com.sun.net.httpserver.HttpServer.create(local, 1_000, "/", exchange -> {
                try (exchange) {
                    Thread.sleep(waitMs);
                    exchange.sendResponseHeaders(200, -1);
                } catch (InterruptedException e) { // close() ends this wait
                }
            });
            server.setExecutor(executor);
            server.start();
            int port = server.getAddress().getPort();
            address = java.net.URI.create("http://127.0.0.1:" + port).toURL();
        }

        /** Blocks its thread, and needs no other one. Latency counts from this nanoTime. */
        void call(long from) throws IOException {
            var connection = (java.net.HttpURLConnection)
                address.openConnection(java.net.Proxy.NO_PROXY);
            connection.setReadTimeout(1_000 * Lab.patience); // ms
            Lab.check("as HTTP status", 200, connection.getResponseCode());
            latencies.add((System.nanoTime() - from) / 1e6);
        }

        /** Calls at a fixed rate, as independent clients do. */
        void callAt(int perSecond, int lastMs) throws Exception {
            var next = new AtomicInteger();
            long start = System.nanoTime();
            int calls = perSecond * lastMs / 1_000;
            Lab.runAll(newVirtualThreadPerTaskExecutor(), calls, () -> {
                long due = start + next.getAndIncrement() * 1_000_000_000L / perSecond;
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                call(due);
            });
        }

        /** Returns the median latency, in ms, of the calls that the job makes. */
        double latency(Job job) throws Exception {
            latencies.clear();
            job.call();
            return Row.median(latencies);
        }

        public void close() {
            server.stop(0);
            ((ExecutorService) server.getExecutor()).shutdownNow();
        }
    }
}
