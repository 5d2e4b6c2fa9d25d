//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;

import com.sun.management.OperatingSystemMXBean;
import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.management.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.stream.*;
import jdk.jfr.consumer.*;

/**
 * Gives the same work to platform threads and to virtual threads, checks every answer and
 * prints one table of medians. It needs JDK 21 or newer and nothing else:
 *
 *     java VirtualThreadsLab.java
 *
 * platform thread   a thread of the operating system, such as new Thread(task).start() starts
 * virtual thread    a thread of the JVM; it leaves its carrier while it waits, unless pinned
 * carrier           a platform thread that runs virtual ones; by default one per processor
 * pinned            unable to leave its carrier, so that the carrier has to wait with it
 * ratio             platform ÷ virtual; above 1×, virtual threads need less
 *
 * The experiments are written in the words of class Lab below: size(full, quick) is the
 * second number with --quick; time and measure add a row: the work, the ratio that a model
 * predicts, and both sides; waiting adds one and says what the tasks did to their carriers;
 * say adds a sentence; check makes a wrong answer fail its side of the row. Before you quote a
 * number, run the lab again: two starts of a JVM can differ more than the samples of one do.
 */
class VirtualThreadsLab extends Lab { // for the names of Lab: a file cannot import itself
    static final List<Experiment> LIST = List.of(
        new Experiment("start-time", () -> startTime(), "start and run threads"),
        new Experiment("sleep-wave", () -> sleepWave(), "tasks wait: pool, or virtual each"),
        new Experiment("cpu-primes", () -> cpuPrimes(), "tasks compute: the same"),
        new Experiment("pinning", () -> pinning(), "wait in lock, monitor, initializer"),
        new Experiment("thread-count", () -> threadCount(), "threads that ThreadMXBean sees"));

    public static void main(String[] args) throws Exception { // for those who extend it
        ENCORES.addAll(Encores.LIST); // the line to delete when you cut
        run(LIST, args);
    }

    /**
     * start-time. How long does it take to start n threads, until each of them has run?
     * Fair: both sides run the same loop; only the builder differs. At most 1,000 threads are
     * pending at a time, or some systems would run out of threads. All have run at the end.
     * Prediction: the operating system takes tens of microseconds or more for a thread. A
     * virtual thread is an object that is put into a queue, in about a microsecond or less.
     * That holds for bursts, started by a thread that does nothing else, once warm.
     * Try: {1, 10, 100}. How much is left of the ratio for a thread that is started alone?
     */
    static void startTime() throws Exception {
        for (int threads : new int[] {100, size(1_000, 200), size(10_000, 500)}) {
            Row row = time(text("%s threads", threads), UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
            say("%s threads: %s µs per platform, %s µs per virtual thread", threads,
                row.platform() * 1_000 / threads, row.virtual() * 1_000 / threads);
        }
    }

    static void startAll(Thread.Builder builder, int threads) throws Exception {
        int mostPending = 1_000; // started, but not yet run
        var notRun = new CountDownLatch(threads);
        for (int notStarted = threads; notStarted > 0; notStarted--) {
            while (notRun.getCount() - notStarted >= mostPending) Thread.yield();
            builder.start(notRun::countDown);
        }
        notRun.await();
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
        say("at least %s tasks were waiting at once in the pool and %s on virtual threads"
            + " (Little's law: tasks × wait ÷ elapsed)",
            tasks * waitMs / row.platform(), tasks * waitMs / row.virtual());
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
        time(text("%s × %s primes", tasks, primes), predicted,
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
     * pinning. Which waits keep a virtual thread on its carrier, so that the carrier waits too?
     * Fair: one thread per task on both sides, and one lock per task, so that none has to wait
     * for its lock. A single lock for all of them would measure contention.
     * Prediction: a ReentrantLock never pins: 1×. Up to JDK 23, parking inside synchronized
     * does, so k tasks per carrier (3 to 10) wait one after another: 1/k. From 24 on (JEP 491)
     * it does not: 1×. A class initializer is called by the VM; that pins on all so far: 1/k.
     * Try: synchronized (OWN) for synchronized (OWN.get()). What can still be told apart?
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
        String file = "/" + Initializer.class.getName().replace('.', '/') + ".class";
        byte[] bytes = Initializer.class.getResourceAsStream(file).readAllBytes();
        waiting("class init", pinned,
            () -> MethodHandles.lookup().defineHiddenClass(bytes, true));
    }

    static int waitMs() { return size(500, 120) / perCarrier(); }

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
     * The bean counts platform threads: carriers, the JVM's and, after pinning, those of Flight
     * Recorder; but not those of the GC and the compilers, and no virtual thread.
     * Prediction: where b threads were live before, a pool of 200 makes them b + 200, and one
     * platform thread per task b + 1,000. Virtual threads add none: the carriers are among b.
     * Try: int pool = 100; Which counts change?
     */
    static void threadCount() throws Exception {
        int tasks = size(1_000, 500);
        int pool = 200;
        // Tasks that compute make every carrier live, so that all are among those before.
        runAll(newVirtualThreadPerTaskExecutor(), tasks, () -> countPrimes(10_000));
        Callable<Integer> count = ManagementFactory.getThreadMXBean()::getThreadCount;
        double before = atGate(newVirtualThreadPerTaskExecutor(), 1, 1, count);
        question = text("%s tasks wait; %s threads were live before", tasks, before);
        Gauge virtual = run -> atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, count);
        measure(text("%s, pool of %s", tasks, pool), "threads", (before + pool) / before,
            run -> atGate(newFixedThreadPool(pool), tasks, pool, count), virtual);
        measure(text("%s, thread each", tasks), "threads", (before + tasks) / before,
            run -> atGate(newThreadPerTaskExecutor(Thread::new), tasks, tasks, count), virtual);
        say("while %s virtual threads waited, ThreadMXBean saw %s", tasks,
            atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, () ->
                Evidence.threads(true).size() + " carriers, " + Evidence.threads(false).stream()
                .map(Thread::getName).sorted().collect(Collectors.joining(", "))));
    }

    /** The last task that finds room asks the question; the others wait at the gate. */
    static <T> T atGate(ExecutorService executor, int tasks, int room, Callable<T> question)
            throws Exception {
        var bean = ManagementFactory.getThreadMXBean();
        for (int live = 0; live != bean.getThreadCount(); Thread.sleep(20)) {
            live = bean.getThreadCount(); // steady once earlier threads have ended
        }
        var coming = new AtomicInteger(room);
        var gate = new FutureTask<>(question);
        runAll(executor, tasks, () -> {
            if (coming.decrementAndGet() == 0) gate.run();
            gate.get();
        });
        return gate.get();
    }
}

record Experiment(String name, Lab.Job body, String summary) { }

/** The words of the experiments, and how a row is measured: measure, read, sample, shots. */
class Lab {
    interface Job { void run() throws Exception; }
    interface Gauge { double read(int run) throws Exception; } // run 0 is the warm-up

    static final double UNKNOWN = Double.NaN;
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final int CARRIERS = Math.min( // see the javadoc of Thread
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));
    // A monitor of each thread's own. The compiler cannot prove that, and so keeps the lock.
    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);
    static final List<Experiment> ENCORES = new ArrayList<>(); // run when named, or with "all"

    static boolean quick;
    static int runs = 5;
    static String current = "mine"; // the name of the experiment; this one outside run
    static String place = "[1/1]"; // of the current experiment
    static String question = ""; // what --predict asks before a row

    /** Runs the experiments that are asked for, prints the report and ends the JVM. */
    static void run(List<Experiment> list, String[] args) {
        Map<String, Experiment> all = new LinkedHashMap<>();
        for (var one : Stream.concat(list.stream(), ENCORES.stream()).toList()) {
            boolean fits = !one.name().contains("|") && all.put(one.name(), one) == null;
            if (!fits) refuse("the name of an experiment is taken, or has a |: " + one.name());
        }
        List<String> words = new ArrayList<>(List.of(args));
        if (words.contains("--help") || words.contains("-h")) help(all, list.size());
        quick = words.remove("--quick");
        Report.samples = words.remove("--samples");
        Report.predict = words.remove("--predict");
        int at = words.indexOf("--runs") + 1; // of the number
        if (at > 0 && at < words.size() && words.get(at).matches("[1-9]\\d?|100")) {
            runs = Integer.parseInt(words.remove(at));
            words.remove(at - 1);
        }
        Set<Experiment> chosen = new LinkedHashSet<>(words.isEmpty() ? list : List.of());
        for (String word : words) {
            if (word.equals("all")) chosen.addAll(all.values());
            else if (all.containsKey(word)) chosen.add(all.get(word));
            else refuse("not understood: " + word + ", try --help");
        }
        Report.begin(PROCESSORS, CARRIERS, runs);
        int n = 0;
        for (var experiment : chosen) {
            current = experiment.name();
            place = "[%s/%s]".formatted(++n, chosen.size());
            question = experiment.summary();
            attempt(current, experiment.body());
        }
        Report.end(false);
        System.exit(Report.failures.isEmpty() ? 0 : 1);
    }

    private static void refuse(String why) {
        System.err.println("VirtualThreadsLab: " + why.replaceAll("\\R", " "));
        System.exit(2);
    }

    private static void help(Map<String, Experiment> all, int first) {
        String text = """
            java VirtualThreadsLab.java [option ...] [name ...]
              --quick     smaller sizes: ten seconds, not a minute, but noisier
              --runs N    N samples of each side, 1 to 100, instead of 5
              --samples   print every sample, too
              --predict   ask for your ratio before each row, and compare at the end
            Exit code 0: every row was measured; 1: one was not; 2: not understood.
            Without a name, the first %s of these run; with "all", every one:
            """.formatted(first);
        for (var e : all.values()) text += "  %-12s  %s\n".formatted(e.name(), e.summary());
        Report.put(text);
        System.exit(0);
    }

    static int size(int full, int quickly) { return quick ? quickly : full; }
    static String text(String form, Object... values) { return Report.text(form, values); }

    /** Adds a sentence to the report; like text, it writes a number as the table does. */
    static void say(String form, Object... values) {
        Report.sentences.append(Report.item(current + ": " + text(form, values) + "."));
    }

    static void check(String what, double expected, double actual) {
        if (actual != expected) throw new AssertionError(
            text("wrong answer: %s %s, not %s", actual, what, expected));
    }

    /** Runs the job n times, for two minutes at most; throws the first failure. */
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

    /** Runs the job. If it fails, the report says why, and all else goes on. */
    static void attempt(String what, Job job) {
        try {
            job.run();
        } catch (Exception | Error e) {
            Report.failures.add(Report.item(what + ": " + Report.reason(e) + "."));
        }
    }

    static Row time(String work, double model, Job platform, Job virtual) {
        return measure(work, "ms", model,
            run -> sample(platform, run), run -> sample(virtual, run));
    }

    /** Adds a row: a warm-up and then the samples, the sides in turns. */
    static Row measure(String work, String unit, double model, Gauge platform, Gauge virtual) {
        if (model <= 0) refuse("a ratio is above 0, and not " + model);
        Report.begin(PROCESSORS, CARRIERS, runs); // if it has not begun
        String name = current + " " + work;
        double guess = platform == null ? UNKNOWN : Report.guess(name + ": " + question);
        Row row = new Row(current, work.replaceAll("[|\\s]+", " "), unit, model, guess,
            new Side(new ArrayList<>()), new Side(new ArrayList<>()));
        // No System.gc(): G1 would give memory back, and samples would pay to touch it anew.
        for (int run = 0; run <= runs; run++) {
            Report.progress(place, name, run == 0 ? "warm-up" : "run " + run + " of " + runs);
            if (platform != null) read(row.platformSide(), platform, run, name + ", platform");
            read(row.virtualSide(), virtual, run, name + ", virtual");
        }
        Report.add(row);
        return row;
    }

    /** Adds a sample. A side that fails has none, and is not asked again. */
    static void read(Side side, Gauge gauge, int run, String what) {
        if (side.samples().size() < run) return;
        attempt(what, () -> side.samples().add(gauge.read(run)));
        if (side.samples().size() == run) side.samples().clear(); // it has failed
    }

    /** Returns the milliseconds of one sample: the median of the shots that fit into 200. */
    static double sample(Job job, int run) throws Exception {
        // A single shot is at the mercy of the scheduler; one pause of 4 ms spoils a mean.
        if (run > 0) return Side.median(shots(job, size(200, 20)));
        List<Double> warmUp = shots(job, size(400, 40));
        if (Side.median(warmUp) < 1) shots(job, size(800, 80)); // short ones need more
        return warmUp.getFirst(); // the cold start
    }

    /** Runs the job as often as fits, an odd number of times; returns the ms of each. */
    static List<Double> shots(Job job, double fitMs) throws Exception {
        List<Double> shots = new ArrayList<>();
        for (double ms = 0; shots.size() % 2 == 0 || ms + shots.getLast() < fitMs; ) {
            long start = System.nanoTime();
            job.run();
            shots.add((System.nanoTime() - start) / 1e6);
            ms += shots.getLast();
        }
        return shots;
    }

    // Fewer tasks on many carriers, or the cost of starting threads would hide the wait.
    static int perCarrier() { return Math.clamp(100 / CARRIERS, 3, size(10, 5)); }

    /** Adds a row of tasks that wait, and says for how long no carrier was free meanwhile. */
    static void waiting(String what, double model, Job task) throws Exception {
        int tasks = perCarrier() * CARRIERS;
        String work = tasks + " in " + what;
        question = text("%s tasks per carrier wait", perCarrier());
        Job platform = () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task);
        Job virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
        time(work, model, platform, virtual);
        String name = current + " " + work;
        Report.progress(place, name, "heartbeat");
        attempt(name + ", heartbeat", () -> {
            String facts = Evidence.kept(CARRIERS, () -> attempt(name + ", virtual", virtual));
            int added = Evidence.threads(true).size() - CARRIERS; // for half a minute or more
            if (added > 0) facts += text("; the scheduler has added %s so far", added);
            say("%s: %s", what, facts);
        });
    }
}

/** The samples of one side of a row. The first, its warm-up, does not count. */
record Side(List<Double> samples) {
    List<Double> counted() { return samples.stream().skip(1).toList(); }
    double at(double q) { return quantile(counted(), q); }
    double median() { return at(0.5); }
    boolean noisy() { return at(0.75) - at(0.25) > 0.2 * median(); }
    static double median(Collection<Double> values) { return quantile(values, 0.5); }

    public String toString() {
        return ("" + samples).replaceAll("[\\[\\],]", "").replaceFirst("\\S+", "($0)");
    }

    /** The value of the nearest rank: of an odd number, the median is the one in the middle. */
    static double quantile(Collection<Double> values, double q) {
        List<Double> sorted = values.stream().sorted().toList();
        if (sorted.isEmpty()) return Double.NaN;
        return sorted.get((int) Math.round(q * (sorted.size() - 1)));
    }
}

/** One row of the table. A ratio above 1 says that virtual threads need less. */
record Row(String experiment, String work, String unit, double model, double guess,
        Side platformSide, Side virtualSide) {
    double platform() { return platformSide.median(); }
    double virtual() { return virtualSide.median(); }
    double ratio() { return platform() / virtual(); }
    double missed() { return Math.max(guess / ratio(), ratio() / guess); }
    boolean noisy() { return ratio() > 0 && (platformSide.noisy() || virtualSide.noisy()); }
    String ratioCell() { return (noisy() ? "~" : "") + Report.number(ratio(), "×"); }

    /** The lowest and the highest ratio of the 95 % interval; NaN for few samples. */
    double[] range() {
        List<Double> ratios = new ArrayList<>();
        for (double p : platformSide.counted()) {
            for (double v : virtualSide.counted()) ratios.add(p / v);
        }
        Collections.sort(ratios);
        int pairs = ratios.size(); // of which Hodges and Lehmann leave out some at each end
        double spread = Math.sqrt(pairs * (2 * Math.sqrt(pairs) + 1) / 12);
        int out = (int) Math.floor(pairs / 2.0 - 1.96 * spread) - 1;
        if (out < 0) return new double[] {Double.NaN, Double.NaN};
        return new double[] {ratios.get(out), ratios.get(pairs - 1 - out)};
    }
}

/** What speaks besides the clock: the carriers, Flight Recorder, the processors' load. */
class Evidence {
    private static double[] ticks = new double[8]; // of the processors, the last one stolen

    /** The platform threads that are alive: the carriers, or the others. */
    static List<Thread> threads(boolean carriers) {
        return Thread.getAllStackTraces().keySet().stream().filter(thread ->
            thread.getClass().getSimpleName().equals("CarrierThread") == carriers).toList();
    }

    /** Says for how long the tasks left no carrier free, be they pinned, kept or computing. */
    static String kept(int carriers, Runnable tasks) throws Exception {
        var facts = new TreeMap<Double, String>(); // by the share of the time; noise adds to it
        long end = System.nanoTime() + 10_000_000_000L; // for long ones, one pass is enough
        String pinned;
        try {
            Files.write(Files.createTempFile("room", null), new byte[4 << 20],
                StandardOpenOption.DELETE_ON_CLOSE); // without it, recording ends the JVM
            pinned = pinned(carriers, tasks, facts);
        } catch (Exception | LinkageError | VirtualMachineError e) {
            pinned = "; pinned waits: not known";
        }
        for (int i = 0; i < 2 && System.nanoTime() < end; i++) {
            pass(carriers, tasks, facts);
        }
        return facts.firstEntry().getValue() + pinned;
    }

    /** Runs the tasks beside a virtual and a platform thread that tick each millisecond. */
    private static void pass(int carriers, Runnable tasks, Map<Double, String> facts)
            throws Exception {
        var done = new AtomicBoolean();
        var platform = newThreadPerTaskExecutor(Thread::new).submit(() -> missedMs(done));
        var virtual = newVirtualThreadPerTaskExecutor().submit(() -> missedMs(done));
        double before = computedMs();
        long start = System.nanoTime();
        tasks.run();
        double elapsed = (System.nanoTime() - start) / 1e6;
        double computed = (computedMs() - before) / carriers;
        done.set(true);
        // What both threads miss is for want of a processor, and not of a carrier.
        double silent = Math.clamp(virtual.get() - platform.get(), 0, elapsed);
        String fact = "no carrier was free for %s of %s ms";
        if (computed > 0.1 * silent) fact += "; each computed for %s ms";
        if (silent < 0.2 * elapsed) fact = "carriers were free for all but %s of %s ms";
        facts.put(silent / elapsed, Report.text(fact, silent, elapsed, computed));
    }

    private static double missedMs(AtomicBoolean done) {
        double missed = 0;
        for (long last = System.nanoTime(); !done.get(); ) {
            LockSupport.parkNanos(1_000_000);
            double late = (System.nanoTime() - last) / 1e6 - 1;
            last = System.nanoTime();
            if (late > 5) missed += late;
        }
        return missed;
    }

    private static double computedMs() {
        var bean = ManagementFactory.getThreadMXBean();
        double nanos = 0;
        for (var carrier : threads(true)) nanos += bean.getThreadCpuTime(carrier.threadId());
        return nanos / 1e6;
    }

    /** Says how many waits of a pass were pinned, and where the longest was. */
    private static String pinned(int carriers, Runnable tasks, Map<Double, String> facts)
            throws Exception {
        List<RecordedEvent> pins = new CopyOnWriteArrayList<>();
        try (var recording = new RecordingStream()) {
            recording.enable("jdk.VirtualThreadPinned").withStackTrace()
                .withThreshold(java.time.Duration.ofMillis(1));
            recording.onEvent("jdk.VirtualThreadPinned", pins::add);
            recording.setReuse(false);
            recording.startAsync();
            pass(carriers, tasks, facts);
            recording.stop(); // waits for the events
        }
        if (pins.isEmpty()) return "";
        var longest = Collections.max(pins, Comparator.comparing(RecordedEvent::getDuration));
        String where = Report.own(longest.getStackTrace().getFrames().stream().map(at ->
            at.getMethod().getType().getName() + "." + at.getMethod().getName() + ":"
            + at.getLineNumber()));
        String reason = "pinnedReason"; // from JDK 24 on
        if (longest.hasField(reason)) where += ", " + longest.getString(reason);
        return Report.text("; pinned waits: %s, the longest%s", pins.size(),
            where.replaceAll("[./+]0x\\w+", ""));
    }

    /** Says what others took of the processors since the last call. */
    static String quiet() {
        var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        double all = system.getCpuLoad(); // below 0: unknown
        double others = all < 0 ? Double.NaN : Math.max(0, all - system.getProcessCpuLoad());
        double[] before = ticks;
        ticks = new double[8];
        try (var stat = new Scanner(new File("/proc/stat")).skip("cpu")) { // Linux has it
            for (int i = 0; i < 8; i++) ticks[i] = Double.parseDouble(stat.next());
        } catch (FileNotFoundException e) {
            ticks[7] = Double.NaN;
        }
        double steal = (ticks[7] - before[7])
            / (DoubleStream.of(ticks).sum() - DoubleStream.of(before).sum());
        return Report.text("Other programs used %s %% of the processors, a hypervisor %s %%%s",
            Math.rint(100 * others), Math.rint(100 * steal), others > 0.1 || steal > 0.1
            ? "; a factor of three or more holds all the same, run it again for the rest" : "");
    }
}

/** Prints what the run finds: rows as they come, and then what they say. */
class Report {
    static boolean samples, predict;
    static final StringBuffer sentences = new StringBuffer(); // read on Ctrl-C, too
    static final Set<String> failures = new CopyOnWriteArraySet<>(); // each is told once
    private static final List<Row> rows = new CopyOnWriteArrayList<>();
    private static final PrintStream OUT = System.out; // whatever a call may set
    private static final Scanner KEYBOARD = new Scanner(System.in);
    private static final String CLEAR = "\r" + " ".repeat(79) + "\r"; // removes progress
    private static final String LINE = "| %-12s | %-19s | %8s | %8s | %8s | %6s |\n";
    private static final String RULE =
        "|--------------|---------------------|---------:|---------:|---------:|-------:|\n";
    private static Thread main; // since the report has begun
    private static boolean ended;

    static void begin(int processors, int carriers, int runs) {
        if (main != null) return;
        main = Thread.currentThread();
        Evidence.quiet(); // the next call tells what was used since this one
        var jvm = ManagementFactory.getRuntimeMXBean();
        var os = ManagementFactory.getOperatingSystemMXBean();
        var gc = ManagementFactory.getGarbageCollectorMXBeans().getFirst();
        List<String> command = new ArrayList<>(jvm.getInputArguments());
        command.remove("--add-modules=ALL-DEFAULT"); // this and the class are the launcher's
        command.add(System.getProperty("sun.java.command", "").replaceFirst("^jdk\\S+ ", ""));
        put("# VirtualThreadsLab\n\n"
            + item("Java " + Runtime.version() + ", " + jvm.getVmVendor() + ", " + gc.getName())
            + item(text("%s %s, processors: %s, carriers: %s, heap: up to %s MB", os.getName(),
                os.getArch(), processors, carriers, Runtime.getRuntime().maxMemory() >> 20))
            + item(text("%s, runs: %s, `java %s`", java.time.LocalDate.now(), runs,
                String.join(" ", command)))
            + "\n" + LINE.formatted("Experiment", "Work", "Platform", "Virtual", "Ratio",
                predict ? "You" : "Model") + RULE);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(main.isAlive())));
    }

    static void progress(String place, String row, String step) {
        long seconds = ManagementFactory.getRuntimeMXBean().getUptime() / 1_000;
        String line = "%s %s  %s  %s s".formatted(place, row, step, seconds);
        print(System.err, "\r%-79.79s".formatted(line));
    }

    /** Returns the ratio that the reader expects, such as 50×, ~20, 1:3, 1 / 10 or 0,5. */
    static double guess(String question) {
        if (!predict) return Double.NaN;
        print(System.err, CLEAR + "\n" + item(question)
            + "Your ratio, platform ÷ virtual, such as 30 or 1/3 (Enter to skip): ");
        String typed = KEYBOARD.hasNextLine() ? KEYBOARD.nextLine() : "";
        // 1,000 is a thousand, as in the table; any other comma is a decimal point.
        String plain = typed.replaceAll("(?<!\\b0),(?=\\d{3}\\b)", "").replace(',', '.')
            .replace("%", "/100").replaceAll("[^\\w.:/÷-]|x$|times", "");
        if (plain.matches("\\d*\\.?\\d+([/:÷]\\d*\\.?\\d+)?")) {
            String[] parts = (plain + "/1").split("[/:÷]");
            double ratio = Double.parseDouble(parts[0]) / Double.parseDouble(parts[1]);
            if (ratio > 0 && Double.isFinite(ratio)) return ratio;
        }
        if (!typed.isBlank()) print(System.err, "Not understood, row skipped: " + typed + "\n");
        return Double.NaN;
    }

    static void add(Row row) {
        rows.add(row);
        System.err.print(CLEAR);
        put(LINE.formatted(row.experiment(), row.work(), cell(row, row.platform()),
            cell(row, row.virtual()), row.ratioCell(),
            number(predict ? row.guess() : row.model(), "×")));
    }

    /** A median with its unit. Counts have none: the experiment says what is counted. */
    private static String cell(Row row, double value) {
        if (!row.unit().equals("ms")) return number(value, "");
        return value > 9_999 ? number(value / 1_000, " s") : number(value, " ms");
    }

    /** Prints and flushes. If nobody can read it, there is no use in measuring on. */
    static void put(String text) {
        print(OUT, text);
        if (!OUT.checkError()) return;
        System.err.println("VirtualThreadsLab: standard output cannot be written");
        Runtime.getRuntime().halt(1);
    }

    /** Prints what comes after the rows, once: at the end of the run, or by the hook. */
    static synchronized void end(boolean partial) {
        if (ended) return;
        ended = true;
        System.err.print(CLEAR);
        if (partial) put("\n**Partial:** interrupted; these are the finished rows.\n");
        if (!failures.isEmpty()) put("\n" + String.join("", failures));
        put(predictions());
        if (!sentences.isEmpty()) put("\n## What the numbers say\n\n" + sentences);
        if (samples) put("\n## Samples\n\nIn brackets: the warm-up, which does not count.\n\n");
        for (Row row : samples ? rows : List.<Row>of()) put(
            "- %s, %s, %s: platform %s; virtual %s\n".formatted(row.experiment(), row.work(),
                row.unit(), row.platformSide(), row.virtualSide()));
        put("\n## At a glance\n\n```text\n" + chart() + "```\n\n"
            + item("Ratio: platform ÷ virtual, with its 95 % interval (Hodges and Lehmann).")
            + item("Model: plain arithmetic. ░: not shown to differ from 1×. ~: noisy, as the"
                + " middle half of a side's samples spans over 20 % of their median.")
            + item(Evidence.quiet() + "."));
    }

    private static String predictions() {
        var guessed = rows.stream().filter(row -> row.missed() > 0)
            .sorted(Comparator.comparing(Row::missed).reversed()).toList();
        if (guessed.isEmpty()) return "";
        String text = "\n## Your predictions, the furthest first\n\n"
            + LINE.formatted("Experiment", "Work", "You", "Model", "Ratio", "Off by") + RULE;
        for (Row row : guessed) text += LINE.formatted(row.experiment(), row.work(),
            number(row.guess(), "×"), number(row.model(), "×"), row.ratioCell(),
            number(row.missed(), "×"));
        return text;
    }

    private static String chart() {
        String chart = " ".repeat(27) + "virtual need more │ need less; █ is a factor of 2\n";
        for (Row row : rows) {
            if (Double.isNaN(row.ratio())) continue;
            double[] range = row.range();
            boolean shown = range[0] > 1 && range[1] > 1.05 || range[1] < 1 && range[0] < 0.95;
            int twos = (int) Math.round(Math.log(row.ratio()) / Math.log(2));
            if (twos == 0 && !shown) twos = 1; // or it could not be seen
            String bar = (shown ? "█" : "░").repeat(Math.abs(twos));
            chart += "%-12s %-19s %12s│%s %s".formatted(row.experiment(), row.work(),
                twos < 0 ? bar : "", twos > 0 ? bar : "", row.ratioCell());
            chart += range[0] > 0 ? text(" (%s–%s)\n", range[0], range[1]) : "\n";
        }
        return chart;
    }

    /** Breaks the text of an item at spaces, so that no line is longer than 80 characters. */
    static String item(String text) {
        return ("- " + text).replaceAll("\\R", " ")
            .replaceAll("(.{1,78})( |$)|(.{78})", "$1$3\n  ").stripTrailing() + "\n";
    }

    /** Describes an error and its causes in one line. An older javac stops here. */
    static String reason(Throwable error) {
        return switch (error) {
            case ExecutionException x -> reason(x.getCause()); // needs Java 21 or newer
            case CancellationException x -> "not done in two minutes, and so cancelled";
            case AssertionError x -> x.getMessage();
            default -> error + own(Arrays.stream(error.getStackTrace()).map(Object::toString))
                + (error.getCause() == null ? "" : ", caused by " + reason(error.getCause()));
        };
    }

    /** Says which of the frames is the first that is not the JDK's. */
    static String own(Stream<String> frames) {
        return frames.filter(frame -> !frame.matches("(java|javax|jdk|sun)\\..*"))
            .findFirst().map(frame -> " in " + frame).orElse("");
    }

    /** Writes numbers as the table does, alike in every locale, in place of each %s. */
    static String text(String form, Object... values) {
        return String.format(Locale.ROOT, form, Arrays.stream(values)
            .map(v -> v instanceof Number n ? number(n.doubleValue(), "") : v).toArray());
    }

    /** Three digits, two below 0.1, one below 0.01; all of a whole or a large number. */
    static String number(double value, String unit) {
        if (!Double.isFinite(value)) return "—";
        double size = Math.abs(value);
        String format = size % 1 == 0 || size >= 999.5 ? "%,.0f"
            : size < 0.01 ? "%.1g" : size < 0.1 ? "%.2g" : "%.3g";
        return String.format(Locale.ROOT, format, value) + unit;
    }

    /** Prints ASCII instead if the charset lacks one of these characters. */
    static void print(PrintStream out, String text) {
        boolean known = out.charset().newEncoder().canEncode("×—–÷µ█░│");
        out.print(known ? text : text.replace('×', 'x').replace('—', '-').replace('–', '-')
            .replace('÷', '/').replace('µ', 'u').replace('█', '#').replace('░', '=')
            .replace('│', '|'));
    }
}

// ----- Cut here: delete all from this line on, and the line in main that names Encores; a
// complete lab of the five is left. Those below run only when named, or with "all".
class Encores extends Lab { // for the names of Lab only
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
     * println. Is one task, alone, any faster on a virtual thread?
     * Fair: the same lines and file, and the sides take turns, as the one that starts cold is
     * often slower. The file must have all of its bytes afterwards.
     * Prediction: 1×, as nothing waits while something else could run. On JDK 21 and 22 less:
     * there each write adjusts the scheduler's parallelism (JDK-8329593, fixed in 23).
     * Try: int lines = 10; Which side is faster now, and why?
     */
    static void println() throws Exception {
        int lines = 100_000;
        double predicted = JDK < 23 ? UNKNOWN : 1;
        var file = File.createTempFile("lines", ".txt");
        file.deleteOnExit();
        Job print = () -> printLines(file, lines);
        time(text("%s lines", lines), predicted,
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
        }
        check("bytes in the file", bytes, file.length());
    }

    /**
     * http. What does a service gain from one virtual thread per call, if its handler waits?
     * Fair: the same calls, due at the same times, whether or not others are answered yet; only
     * the executors differ. Latency counts from the moment when a call is due.
     * Prediction: a pool of 20 answers 400 calls of 50 ms a second. At 320 a second, none waits
     * for a thread: 1×. At 600, the line grows by half a second each second: after one second,
     * in the middle, a call takes 500 + 50 ms against 50: 11×. Real calls come in bunches, so
     * some have to wait even at 320.
     * Try: int pool = 40; What is left of the gain?
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
                question = text("the median latency of calls that wait %s ms and come at %s a"
                    + " second for %s ms: pool of %s, or virtual thread each", waitMs, rate,
                    lastMs, pool);
                measure(text("%s calls a second", rate), "ms", predicted,
                    run -> pooled.latency(() -> pooled.callAt(rate, lastMs)),
                    run -> virtual.latency(() -> virtual.callAt(rate, lastMs)));
            }
        }
    }

    /**
     * mixed. Tasks compute, then call a server. How long do all take, one task, and its call?
     * Fair: the same tasks, client and server, and one thread per task; the task calls itself.
     * Prediction: 1× for all, and at least that from submission to the median answer: tasks on
     * platform threads share the processors, and so end late together. But a virtual thread's
     * call takes longer, as its task sees it: nothing interrupts others that compute, so an
     * answer that has come waits for them, at worst for all. Of n tasks per carrier, the one in
     * the middle has (n - 1) ÷ 2 behind it: that is the model, up to JDK 25. From 26 on, the
     * scheduler takes an answered task sooner. A computation alone is timed before the rows.
     * Try: int n = 30; and int fib = 832_040; With less to compute, how long does a call take?
     */
    static void mixed() throws Exception {
        int tasks = 10 * PROCESSORS;
        int waitMs = size(120, 60);
        int n = size(37, 34);
        int fib = size(24_157_817, 5_702_887);
        Job compute = () -> check("as a Fibonacci number", fib, fibonacci(n));
        double ms = sample(compute, 1); // a computation alone
        double rounds = Math.ceilDiv(tasks, Math.min(CARRIERS, PROCESSORS));
        double each = ms * Math.max(1, (double) CARRIERS / PROCESSORS);
        double behind = (Math.ceilDiv(tasks, CARRIERS) - 1) / 2.0 * each;
        double predicted = (10 * ms + waitMs) / (rounds * ms + waitMs);
        double predictedCall = JDK > 25 ? UNKNOWN : waitMs / Math.max(waitMs, behind);
        question = text("%s tasks compute for %s ms, then call a server that waits %s ms:"
            + " platform thread each, or virtual thread each", tasks, ms, waitMs);
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
            time(tasks + " tasks", predicted, platform, virtual);
            measure("median answer", "ms", UNKNOWN,
                run -> server.latency(() ->
                    runAll(newThreadPerTaskExecutor(Thread::new), tasks, sinceStart)),
                run -> server.latency(() ->
                    runAll(newVirtualThreadPerTaskExecutor(), tasks, sinceStart)));
            measure("median call", "ms", predictedCall,
                run -> server.latency(platform), run -> server.latency(virtual));
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
        time(text("%s × %s ms by %s", tasks, holdMs, limit), predicted,
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
        Row row = measure(text("%s tasks", tasks), "objects", predicted,
            run -> buffersMade(newFixedThreadPool(pool), tasks),
            run -> buffersMade(newVirtualThreadPerTaskExecutor(), tasks));
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
     * There is no platform side: by default, a system stops far below a million (on Linux by
     * threads-max, pid_max or max_map_count). The weight is that of a thread and its stack, by
     * the heap after a full collection, while all are parked. The first reading, which has
     * leftovers of earlier work in it, is the discarded warm-up.
     * Prediction: a few microseconds for each at most, as long as the heap has room; that time
     * has the growth of the heap and its collections in it. The weight grows with the stack.
     * Its frames are small here, as the C2 compiler inlines them once warm: a frame of C1 or
     * of the interpreter takes several times as much.
     * Try: java -Xmx256m VirtualThreadsLab.java million. Which rows are still measured?
     */
    static void million() throws Exception {
        for (int n : new int[] {10_000, 100_000, size(1_000_000, 200_000)}) {
            long[] before = collections();
            measure(text("%s parked", n), "ms", UNKNOWN, null, run -> {
                if (run == 0) shots(() -> park(n, 0, () -> 0), size(800, 80));
                long start = System.nanoTime();
                return (park(n, 0, System::nanoTime) - start) / 1e6;
            });
            long[] after = collections();
            say("while %s were parked again and again, the heap was collected %s times, for %s"
                + " ms in all", n, after[0] - before[0], after[1] - before[1]);
        }
        int n = size(100_000, 20_000);
        int frames = 50;
        Row shallow = measure("bytes, shallow", "bytes", UNKNOWN, null, run -> weigh(n, 0));
        Row deep = measure(text("bytes, %s frames", frames), "bytes", UNKNOWN, null,
            run -> weigh(n, frames));
        say("each of %s parked virtual threads took %s bytes of the heap, and %s for each"
            + " further frame of its stack", n, shallow.virtual(),
            (deep.virtual() - shallow.virtual()) / frames);
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

    /** Parks n virtual threads, asks the question while they are parked, and lets them go. */
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
     * virtual one waits until a long task ends, so its delay is about the length of that: their
     * scheduler has no time sharing (JEP 444).
     * Try: int busy = Math.max(PROCESSORS, CARRIERS) - 1; What does one idle carrier change?
     */
    static void timeSharing() throws Exception {
        int busy = Math.max(PROCESSORS, CARRIERS);
        Row row = measure("delay behind " + busy, "ms", UNKNOWN,
            run -> delay(newThreadPerTaskExecutor(Thread::new), busy, null),
            run -> delay(newVirtualThreadPerTaskExecutor(), busy, null));
        var seen = new AtomicReference<>("");
        scheduler(); // the first question to a bean is slow, and the long tasks do not wait
        delay(newVirtualThreadPerTaskExecutor(), busy, seen);
        double longMs = shots(Encores::longTask, 1).getFirst();
        say("behind long tasks of %s ms each, a short one was delayed by %s ms as a platform"
            + " thread and by %s ms as a virtual thread%s", longMs, row.platform(),
            row.virtual(), seen);
    }

    static void longTask() { check("as a Fibonacci number", 39_088_169, fibonacci(38)); }

    /** Returns the milliseconds until the short task runs; if it waits, asks the scheduler. */
    static double delay(ExecutorService executor, int busy, AtomicReference<String> seen)
            throws Exception {
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
            if (seen != null) Thread.sleep(20); // a carrier just woken would count as mounted
            if (seen != null && !shortTask.isDone()) seen.set(scheduler());
            for (var done : computing) done.get();
            return shortTask.get();
        }
    }

    /** Says what the scheduler's own bean counts now; it came with JDK 24. */
    static String scheduler() {
        try {
            var bean = new javax.management.ObjectName(
                "jdk.management:type=VirtualThreadScheduler");
            var beans = ManagementFactory.getPlatformMBeanServer();
            return text("; while it waited, the scheduler's pool of %s had mounted %s, and %s"
                + " queued", beans.getAttribute(bean, "PoolSize"),
                beans.getAttribute(bean, "MountedVirtualThreadCount"),
                beans.getAttribute(bean, "QueuedVirtualThreadCount"));
        } catch (javax.management.JMException e) {
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
            // Now, as a thread that the system refuses later would end the server.
            if (executor instanceof ThreadPoolExecutor pool) pool.prestartAllCoreThreads();
            server.start();
            address = new java.net.URI("http", null, server.getAddress().getHostString(),
                server.getAddress().getPort(), "/", null, null).toURL();
        }

        /** Blocks its thread and needs no other; its latency counts from a time in ns. */
        void call(long from) throws IOException {
            var connection = (java.net.HttpURLConnection)
                address.openConnection(java.net.Proxy.NO_PROXY);
            connection.setConnectTimeout(60_000); // ms
            connection.setReadTimeout(60_000);
            check("as HTTP status", 200, connection.getResponseCode());
            latencies.add((System.nanoTime() - from) / 1e6);
        }

        /** Calls at a fixed rate, as clients do that do not know of each other. */
        void callAt(int perSecond, int lastMs) throws Exception {
            int calls = perSecond * lastMs / 1_000;
            var next = new AtomicInteger();
            var late = new AtomicInteger();
            runAll(newVirtualThreadPerTaskExecutor(), calls, () -> {
                long due = start + next.getAndIncrement() * 1_000_000_000L / perSecond;
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                if (System.nanoTime() - due > 20_000_000) late.incrementAndGet();
                call(due);
            });
            if (late.get() > calls / 10) throw new IllegalStateException(text(
                "%s of %s calls were sent more than 20 ms late", late, calls));
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
