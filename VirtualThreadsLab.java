//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.management.*;
import java.math.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/**
 * Gives the same work to platform threads and to virtual threads, checks every answer and
 * prints one table of medians. It needs JDK 21 or newer and nothing else:
 *
 *     java VirtualThreadsLab.java
 *
 * platform thread   a thread of the operating system, as new Thread(task).start() starts one
 * virtual thread    a thread of the JVM; it leaves its carrier while it waits, unless pinned
 * carrier           a platform thread that runs virtual ones; by default one per processor
 * pinned            unable to leave its carrier, so that the carrier has to wait with it
 * ratio             platform ÷ virtual; above 1×, virtual threads need less
 *
 * The experiments are written in these words, which class Lab explains:
 * Job, Gauge                code to run; code to run that returns a number
 * size(full, quick)         the first number, or the second with --quick
 * question(...)             what --predict asks before the rows that follow
 * runAll(executor, n, job)  runs the job n times, waits for the end, closes the executor
 * check(what, ...)          a wrong answer fails that side of the row
 * time(...), measure(...)   adds a row: name, unit (time: ms), predicted ratio, both sides
 * pinned(job, ms)           runs the job once more; counts its pinned waits of ms or more
 * say(...), verdict(row)    adds a sentence; tells which side of a row took longer, if one did
 *
 * All rows of a report share one start of the JVM. Two starts may differ by more than the
 * samples of one do, so run the lab more than once before you quote it.
 */
class VirtualThreadsLab extends Lab { // for the names of Lab only
    static final List<Experiment> LIST = List.of(
        new Experiment("start-time", 15, VirtualThreadsLab::startTime, "start and run threads"),
        new Experiment("sleep-wave", 32, VirtualThreadsLab::sleepWave,
            "tasks wait: pool of 200, or virtual thread each"),
        new Experiment("cpu-primes", 5, VirtualThreadsLab::cpuPrimes,
            "tasks compute: thread per processor, or virtual thread each"),
        new Experiment("pinning", 14, VirtualThreadsLab::pinning,
            "tasks wait in a lock, a monitor, a class initializer: thread each"),
        new Experiment("thread-count", 3, VirtualThreadsLab::threadCount,
            "live platform threads that the JVM shows (not GC, compiler) while tasks wait"));

    public static void main(String[] args) {
        List<Experiment> experiments = new ArrayList<>(LIST);
        experiments.addAll(Encores.LIST); // the line to delete when you cut
        run(new CommandLine(List.of(args), experiments));
    }

    /**
     * start-time. How long does it take to start n threads, until each of them has run?
     * Fair: both sides run the same loop; only the builder differs. At most 1,000 threads are
     * pending at a time, or some systems would run out. The latch opens when all have run.
     * Prediction: the operating system takes tens of microseconds or more for a thread. A
     * virtual thread is an object that is put into a queue, in about a microsecond or less.
     * Try: sizes = {1, 10, 100}. From how many threads on is the gap more than a millisecond?
     */
    static void startTime() throws Exception {
        int[] sizes = {100, size(1_000, 200), size(10_000, 500)};
        Row row = null;
        for (int threads : sizes) {
            row = time(number(threads) + " threads", UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
        }
        say("starting and running %s threads took %s µs per platform thread and %s µs per"
            + " virtual thread: %s", sizes[2], row.platform().median() * 1_000 / sizes[2],
            row.virtual().median() * 1_000 / sizes[2], verdict(row, "platform threads"));
    }

    static void startAll(Thread.Builder builder, int threads) throws Exception {
        var left = new CountDownLatch(threads);
        for (int started = 0; started < threads; started++) {
            while (started - (threads - left.getCount()) >= 1_000) Thread.yield(); // pending
            builder.start(left::countDown);
        }
        await(left);
    }

    /**
     * sleep-wave. How long do 10,000 tasks take if each waits 100 ms and does nothing else?
     * Fair: the same tasks; only the executor differs. 200 threads is Tomcat's default pool.
     * Prediction: 200 threads need 50 waves of 100 ms for 10,000 tasks; virtual threads need
     * one, as all wait at once. So 50×, or less: starting and waking threads takes time, too.
     * Try: int pool = 1_000; How much of the ratio is left, and how many tasks wait at once?
     */
    static void sleepWave() throws Exception {
        int tasks = size(10_000, 1_000);
        int waitMs = size(100, 50);
        int pool = 200;
        Job wait = () -> Thread.sleep(waitMs);
        double predicted = Math.ceilDiv(tasks, pool);
        question("%s tasks wait %s ms: pool of %s, or virtual thread each", tasks, waitMs,
            pool);
        Row row = time(number(tasks) + " × " + waitMs + " ms", predicted,
            () -> runAll(newFixedThreadPool(pool), tasks, wait),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));
        say("%s; on average, at least %s tasks were waiting at once in the pool and %s on"
            + " virtual threads (Little's law: tasks × wait ÷ elapsed = waiting at once)",
            verdict(row, "the pool of " + number(pool)),
            tasks * waitMs / row.platform().median(), tasks * waitMs / row.virtual().median());
    }

    /**
     * cpu-primes. Are tasks that only compute any faster on virtual threads?
     * Fair: the same tasks on one thread per processor, or on one virtual thread per task. Both
     * sides can use every processor, and nothing ever waits.
     * Prediction: 1×. A virtual thread computes on a carrier, which is a platform thread, and
     * there is one carrier per processor. With fewer carriers: less than 1×.
     * Try: newFixedThreadPool(tasks). Do more threads than processors help?
     */
    static void cpuPrimes() throws Exception {
        int tasks = 4 * PROCESSORS;
        int limit = size(1_000_000, 400_000);
        int primes = size(78_498, 33_860);
        Job count = () -> check("primes to " + number(limit), primes, countPrimes(limit));
        double predicted = Math.min(1, (double) CARRIERS / PROCESSORS);
        Row row = time(tasks + " × " + number(primes) + " primes", predicted,
            () -> runAll(newFixedThreadPool(PROCESSORS), tasks, count),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, count));
        say("%s tasks only computed, on %s and %s: %s", tasks,
            counted(PROCESSORS, "processor"), counted(CARRIERS, "carrier"),
            verdict(row, "platform threads"));
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
     * Until the wait ends, that carrier runs no other virtual thread.
     * Fair: one thread per task on both sides, and one lock per task, so that none has to wait
     * for its lock. A single lock for all of them would measure contention.
     * Prediction: a ReentrantLock never pins: 1×. Up to JDK 23, waiting inside synchronized
     * does, so n tasks per carrier (3 to 10) wait one after another: 1/n. Since 24 (JEP 491):
     * 1×. A class initializer is called by the VM and was pinned on every JDK tried: 1/n.
     * Try: synchronized (OWN) for synchronized (OWN.get()). Do JDK 21 and 25 still differ?
     */
    static void pinning() throws Exception {
        byte[] bytes = Initializer.class
            .getResourceAsStream(Initializer.class.getName() + ".class").readAllBytes();
        Job lock = () -> {
            var own = new ReentrantLock();
            own.lock();
            try {
                Thread.sleep(waitMs());
            } finally {
                own.unlock();
            }
        };
        Job monitor = () -> {
            synchronized (OWN.get()) {
                Thread.sleep(waitMs());
            }
        };
        Job initializer = () -> MethodHandles.lookup().defineHiddenClass(bytes, true);
        double predictedLock = 1;
        double predictedMonitor = JDK < 24 ? 1.0 / perCarrier() : 1;
        double predictedInit = 1.0 / perCarrier();
        String locked = waitIn("ReentrantLock", predictedLock, lock);
        String monitored = waitIn("synchronized", predictedMonitor, monitor);
        String initialized = waitIn("class init", predictedInit, initializer);
        say("each carrier had %s tasks; waiting at the same time were, on average, at least %s,"
            + " %s and %s; pinned events are waits of %s ms or more", perCarrier(), locked,
            monitored, initialized, waitMs() / 2.0);
    }

    /** Adds a row; says how many tasks per carrier waited at once, and how many were pinned. */
    static String waitIn(String what, double predicted, Job task) {
        int tasks = perCarrier() * CARRIERS;
        question("%s tasks per carrier each wait %s ms in %s: platform thread each, or virtual"
            + " thread each", perCarrier(), waitMs(), what);
        Job virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
        Row row = time(tasks + " in " + what, predicted,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task), virtual);
        double atOnce = perCarrier() * waitMs() / row.virtual().median(); // Little's law
        String pins = pinned(virtual, waitMs() / 2.0);
        return number(atOnce) + " in " + what + " (" + pins + ")";
    }

    // Fewer tasks on many carriers, or the cost of starting threads would hide the wait.
    static int perCarrier() { return Math.clamp(100 / CARRIERS, 3, 10); }
    static int waitMs() { return size(500, 100) / perCarrier(); }

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
     * ThreadMXBean counts the platform threads that the JVM shows: carriers and a few of the
     * JVM's own (Reference Handler, Finalizer, Signal Dispatcher), but neither those of the GC
     * and the compilers nor any virtual thread.
     * Prediction: where b threads were live before, a pool of 200 makes them b + 200, and one
     * platform thread per task b + 1,000. Virtual threads add none: the carriers are among b,
     * which the same bean counts.
     * Try: int pool = 100; Which counts change?
     */
    static void threadCount() throws Exception {
        int tasks = size(1_000, 500);
        int pool = 200;
        startCarriers();
        double before = settledThreads();
        Callable<Integer> peak = () -> threads().getPeakThreadCount();
        Gauge virtual = run -> atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, peak);
        double predictedPool = (before + pool) / before;
        double predictedEach = (before + tasks) / before;
        question("%s tasks wait; %s platform threads were live before", tasks, before);
        Row pooled = measure(number(tasks) + ", pool of " + pool, "threads", predictedPool,
            run -> atGate(newFixedThreadPool(pool), tasks, pool, peak), virtual);
        Row each = measure(number(tasks) + ", thread each", "threads", predictedEach,
            run -> atGate(newThreadPerTaskExecutor(Thread::new), tasks, tasks, peak), virtual);
        String dump = atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, Evidence::dump);
        say("while %s tasks waited, ThreadMXBean saw %s threads with one platform thread per"
            + " task, %s with the pool and %s with virtual threads; %s", tasks,
            each.platform().median(), pooled.platform().median(), each.virtual().median(),
            dump);
    }

    /** The last task that finds room asks the question; the others wait at the gate. */
    static <T> T atGate(ExecutorService executor, int tasks, int room, Callable<T> question)
            throws Exception {
        settledThreads();
        threads().resetPeakThreadCount();
        var coming = new AtomicInteger(room);
        var gate = new FutureTask<>(question);
        runAll(executor, tasks, () -> {
            if (coming.decrementAndGet() == 0) gate.run();
            gate.get();
        });
        return gate.get();
    }

    /** Runs one task per carrier; each spins until all have begun, so every carrier is live. */
    static void startCarriers() throws Exception {
        var begun = new AtomicInteger();
        long end = System.nanoTime() + 5_000_000_000L;
        runAll(newVirtualThreadPerTaskExecutor(), CARRIERS, () -> {
            begun.incrementAndGet();
            while (begun.get() < CARRIERS && System.nanoTime() < end) Thread.onSpinWait();
        });
    }

    /** Waits until earlier threads have ended and the count is steady; returns the count. */
    static int settledThreads() throws InterruptedException {
        int live = 0;
        for (int i = 0; i < 500 && live != threads().getThreadCount(); i++) {
            live = threads().getThreadCount();
            Thread.sleep(10);
        }
        return live;
    }

    static ThreadMXBean threads() { return ManagementFactory.getThreadMXBean(); }
}

record Experiment(String name, int seconds, Lab.Job body, String summary) { }

/**
 * The words that the experiments are written in, and how a row is measured. Read on in the
 * order that a sample takes: measure, sample, shots, Row, Report. All static state is here.
 */
class Lab extends Text { // and Text holds how numbers are written
    interface Job { void run() throws Exception; }
    interface Gauge { double read(int run) throws Exception; } // run 0 is the warm-up
    static final double UNKNOWN = Double.NaN;
    static final int PATIENCE = 120; // seconds: more than a slow machine takes for a job
    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new); // a monitor
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final int CARRIERS = Math.min( // see the javadoc of Thread
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));

    private static CommandLine asked;
    private static Report report;
    private static Experiment current;
    private static String question;

    /** Runs the experiments that were asked for, prints the report and ends the JVM. */
    static void run(CommandLine commandLine) {
        asked = commandLine;
        report = new Report(asked);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> report.print(true)));
        for (var experiment : asked.chosen) {
            current = experiment;
            question = experiment.summary();
            try {
                experiment.body().run();
            } catch (Exception | Error e) {
                report.fail(experiment.name(), e);
            }
            System.err.println();
        }
        report.print(false);
        System.exit(System.out.checkError() || report.failed() ? 1 : 0);
    }

    static int size(int full, int quick) { return asked.quick ? quick : full; }

    /** Replaces the summary as what --predict asks; %s stands for each of the numbers. */
    static void question(String text, Object... numbers) { question = fill(text, numbers); }

    /** Adds a sentence to the report; %s stands for each of the numbers. */
    static void say(String text, Object... numbers) {
        report.say(current.name(), fill(text, numbers));
    }

    static void check(String what, double expected, double actual) {
        if (actual != expected) throw new IllegalStateException("wrong answer: "
            + number(actual) + " " + what + ", not " + number(expected));
    }

    /** Runs the job n times and closes the executor; throws the first failure. */
    static void runAll(ExecutorService executor, int n, Job job) throws Exception {
        Callable<Void> task = () -> {
            job.run();
            return null;
        };
        try {
            var tasks = Collections.nCopies(n, task);
            for (var done : executor.invokeAll(tasks, PATIENCE, TimeUnit.SECONDS)) {
                if (done.isCancelled()) throw new TimeoutException("after " + PATIENCE + " s");
                done.get();
            }
        } finally { // close() would wait a day for a thread that cannot end
            executor.shutdownNow();
            executor.awaitTermination(10, TimeUnit.SECONDS);
        }
    }

    static void await(CountDownLatch latch) throws Exception {
        if (!latch.await(PATIENCE, TimeUnit.SECONDS)) {
            throw new TimeoutException("after " + PATIENCE + " s");
        }
    }

    /** Runs the job once more; says how many waits of ms or more were pinned, and why. */
    static String pinned(Job job, double ms) {
        try {
            return Evidence.pinned(job, ms);
        } catch (Exception | LinkageError e) {
            say("Flight Recorder counted nothing: %s", reason(e));
            return "pinned events not counted";
        }
    }

    /** Names a slower side only if its fastest sample is 5 % above the other's slowest. */
    static String verdict(Row row, String platformSide) {
        if (Double.isNaN(row.ratio())) return "there is nothing to compare";
        if (asked.runs < 4) return "fewer than 4 runs cannot tell which side takes longer";
        boolean up = row.ratio() > 1;
        Side slow = up ? row.platform() : row.virtual();
        Side fast = up ? row.virtual() : row.platform();
        int least = size(5, 50); // percent; --quick claims less
        if (slow.at(0) >= (1 + least / 100.0) * fast.at(1)) {
            String ratio = row.mark() + threeDigits(slow.median() / fast.median()) + "×";
            return up ? platformSide + " took " + ratio + " as long as virtual threads"
                : "virtual threads took " + ratio + " as long as " + platformSide;
        }
        if (row.noisy()) return "the row is too noisy (~) to tell which side takes longer";
        return "no difference was shown, as " + (slow.at(0) <= fast.at(1)
            ? "samples of both sides overlap" : "they are less than " + least + " % apart");
    }

    /** Adds a row of milliseconds. */
    static Row time(String work, double predicted, Job platform, Job virtual) {
        return measure(work, "ms", predicted,
            run -> sample(platform, run), run -> sample(virtual, run));
    }

    /**
     * Adds a row: the warm-up and then the samples, the sides strictly alternating. A side
     * that fails has no samples, and the report says why. No collection is forced: G1 would
     * give memory back, and the next samples would pay for touching it anew.
     */
    static Row measure(String work, String unit, double predicted, Gauge platform,
            Gauge virtual) {
        String name = current.name();
        String guess = platform == null ? "—" : asked.guess(name + ", " + work, question);
        Row row = new Row(name, work, unit, predicted, guess,
            new Side("platform", platform, new ArrayList<>()),
            new Side("virtual", virtual, new ArrayList<>()));
        for (int run = 0; run <= asked.runs; run++) {
            asked.progress(current, work, run);
            for (Side side : row.sides()) {
                if (side.gauge() == null || side.failedBefore(run)) continue;
                try {
                    side.samples().add(fiveDigits(side.gauge().read(run)));
                } catch (Exception | Error e) {
                    side.samples().clear();
                    report.fail(name + " " + work + ", " + side.name(), e);
                }
            }
        }
        report.add(row);
        return row;
    }

    /**
     * Returns the milliseconds of one sample: the median of as many shots as fill 200 ms. A
     * single short shot is at the mercy of the scheduler; one pause of 4 ms spoils a mean.
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
}

/** One side of a row. Its first sample does not count; a side that failed has none. */
record Side(String name, Lab.Gauge gauge, List<Double> samples) {
    double at(double q) { return quantile(samples.stream().skip(1).toList(), q); }
    double median() { return at(0.5); }
    boolean noisy() { return at(0.75) - at(0.25) > 0.2 * median(); }
    boolean failedBefore(int run) { return samples.size() < run; }

    static double quantile(List<Double> values, double q) {
        if (values.isEmpty()) return Lab.UNKNOWN;
        List<Double> sorted = values.stream().sorted().toList();
        double place = q * (sorted.size() - 1);
        double low = sorted.get((int) place);
        double high = sorted.get((int) Math.ceil(place));
        return low + (high - low) * (place % 1);
    }
}

/** One row of the table. A ratio above 1 says that virtual threads need less. */
record Row(String experiment, String work, String unit, double predicted, String guess,
        Side platform, Side virtual) {
    List<Side> sides() { return List.of(platform, virtual); }
    double ratio() { return platform.median() / virtual.median(); }
    String mark() { return noisy() ? "~" : ""; }
    boolean noisy() { return platform.noisy() || virtual.noisy(); }
}

/** Evidence besides the clock: Flight Recorder, and a thread dump. */
class Evidence extends Text {
    /** Counts parking while pinned, not blocking in native code. Throws without a recorder. */
    static String pinned(Lab.Job job, double ms) throws IOException {
        String name = "jdk.VirtualThreadPinned";
        var least = java.time.Duration.ofNanos((long) (ms * 1e6)); // JDK 27 adds shorter ones
        try (var recording = new jdk.jfr.Recording()) {
            Path file = scratch();
            recording.enable(name).withThreshold(least);
            recording.start();
            try {
                job.run();
            } catch (Exception | Error e) {
                return "the job failed under Flight Recorder: " + reason(e);
            }
            recording.dump(file);
            var pins = jdk.jfr.consumer.RecordingFile.readAllEvents(file);
            pins.removeIf(event -> !event.getEventType().getName().equals(name)
                || event.getDuration().compareTo(least) < 0); // of other recordings
            String said = counted(pins.size(), "pinned event");
            if (pins.isEmpty() || !pins.getFirst().hasField("pinnedReason")) return said;
            String reason = pins.getFirst().getString("pinnedReason");
            return said + ": `" + reason.replaceFirst("/0x[0-9a-f]+", "") + "`"; // X/0x7f: X
        }
    }

    /** Says how many virtual threads a thread dump lists; ThreadMXBean knows none. */
    static String dump() {
        try {
            Path file = scratch();
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpThreads(
                file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            var lines = Files.readAllLines(file);
            lines.removeIf(line -> !line.contains("\" virtual"));
            return "a thread dump also listed " + number(lines.size()) + " virtual threads";
        } catch (Exception | LinkageError e) {
            return "there was no thread dump: " + reason(e);
        }
    }

    /**
     * Returns a path where no file exists yet, as dumpThreads wants it, in a new folder. Both
     * are deleted at exit. Throws if the disk is full: Flight Recorder would end the JVM.
     */
    static Path scratch() throws IOException {
        Path folder = Files.createTempDirectory("VirtualThreadsLab").toAbsolutePath();
        folder.toFile().deleteOnExit();
        folder.resolve("scratch").toFile().deleteOnExit();
        long free = Files.getFileStore(folder).getUsableSpace() >> 20;
        if (free < 32) throw new IOException(folder.getParent() + " has " + free + " MB left");
        return folder.resolve("scratch");
    }
}

/** What was asked for on the command line, and what is said to the asker meanwhile. */
class CommandLine extends Text {
    final boolean quick, samples, predict;
    final int runs;
    final List<String> typed;
    final List<Experiment> chosen;
    private double thinking; // seconds spent on guesses, not shown as progress
    private boolean ahead; // answers come ahead of their questions, as from a file
    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));

    /** Ends the JVM if what was typed asks for help, or is not understood. */
    CommandLine(List<String> typed, List<Experiment> all) {
        this.typed = typed;
        List<String> words = new ArrayList<>(typed);
        boolean help = words.removeAll(Set.of("--help"));
        quick = words.removeAll(Set.of("--quick"));
        samples = words.removeAll(Set.of("--samples"));
        predict = words.removeAll(Set.of("--predict"));
        ahead = predict && System.console() == null;
        String number = quick ? "4" : "5";
        int at = words.indexOf("--runs"); // a second one is an unknown word
        if (at >= 0) {
            words.remove(at);
            number = at < words.size() ? words.remove(at) : "nothing";
        }
        if (!number.matches("[1-9][0-9]?|100")) refuse("--runs takes 1 to 100, not " + number);
        runs = Integer.parseInt(number);
        List<String> names = all.stream().map(Experiment::name).toList();
        if (words.isEmpty()) words.addAll(names.subList(0, 5));
        if (words.removeAll(Set.of("all"))) words.addAll(names);
        for (String word : words) if (!names.contains(word)) refuse("unknown: '" + word + "'");
        if (Lab.CARRIERS < 1) refuse("virtual threads need a carrier, not " + Lab.CARRIERS);
        chosen = words.stream().distinct().map(names::indexOf).map(all::get).toList();
        if (help) help(all);
    }

    static void refuse(String why) {
        System.err.println("VirtualThreadsLab: " + why.replaceAll("\\R", " ") + ", try --help");
        System.exit(2);
    }

    static void help(List<Experiment> all) {
        print(System.out, """
            java VirtualThreadsLab.java [--quick] [--runs N] [--samples] [--predict] [name ...]

              --quick     smaller sizes and 4 runs: ten seconds instead of a minute, but noisier
              --runs N    N samples of each side, 1 to 100, instead of 5
              --samples   print every sample at the end of the report
              --predict   ask for your ratio before each row, and add it to the table

            Without a name the first five experiments run; with "all", every one. Exit code 0:
            every row was measured; 1: a row is missing or wrong; 2: bad command line.

            """);
        for (var e : all) print(System.out, format("  %-12s  %s\n", e.name(), e.summary()));
        System.exit(System.out.checkError() ? 1 : 0);
    }

    void progress(Experiment current, String work, int run) {
        double share = (runs + 1) / 6.0 * (quick ? 0.18 : 1); // of a full run of five
        double about = 1 + share * chosen.stream().mapToInt(Experiment::seconds).sum();
        double seconds = ManagementFactory.getRuntimeMXBean().getUptime() / 1e3 - thinking;
        String step = run == 0 ? "warm-up" : "run " + run + " of " + runs;
        print(System.err, format("\r[%d/%d] %-12s  %-20s  %-13s  %3.0f s of about %.0f",
            chosen.indexOf(current) + 1, chosen.size(), current.name(), work, step, seconds,
            about));
    }

    /** Returns the ratio that the reader expects, as typed; "—" for none. */
    String guess(String row, String question) {
        if (!predict) return "—";
        long asked = System.nanoTime();
        String guess = "";
        String ratio = "(?=.{0,7}$)(\\d[\\d.,]*(/\\d+)?[x×]?)?"; // at most 7 characters
        try {
            while (!ahead && input.ready()) input.readLine(); // typed before the question
            print(System.err, "\n\n" + wrap(row + ": " + question)
                + "Your ratio, platform ÷ virtual, such as 30 or 0.3 (Enter to skip): ");
            guess = input.readLine();
            while (guess != null && !guess.matches(ratio)) {
                print(System.err, "A ratio such as 30, 0.3 or 1/3 (Enter to skip): ");
                guess = input.readLine();
            }
            ahead = input.ready();
        } catch (IOException e) {
            // as at the end of the input
        }
        thinking += (System.nanoTime() - asked) / 1e9;
        return guess == null || guess.isEmpty() ? "—" : guess;
    }
}

/** What the run has found: rows and sentences, kept as they are until they are printed. */
class Report extends Text {
    private final CommandLine asked;
    private final String head;
    private final List<Row> rows = new CopyOnWriteArrayList<>(); // an interrupt may read them
    private final List<String> sentences = new CopyOnWriteArrayList<>();
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private boolean printed;

    Report(CommandLine asked) {
        this.asked = asked;
        head = head(); // now, as it opens files, and experiments may use them all up
    }

    void add(Row row) { rows.add(row); }
    boolean failed() { return !failures.isEmpty(); }
    void fail(String where, Throwable e) { failures.add(where + ": " + reason(e)); }

    void say(String experiment, String sentence) {
        String said = experiment + ": " + sentence;
        if (!sentences.contains(said)) sentences.add(said);
    }

    synchronized void print(boolean partial) {
        if (printed) return;
        printed = true;
        if (partial) System.err.println(); // ends the line of progress
        String text = "# VirtualThreadsLab\n\n"
            + (partial ? "**Partial:** interrupted; these are the finished rows.\n\n" : "")
            + head + "\n" + table() + "\n" + notes()
            + "\n## What the numbers say\n\n" + items(sentences)
            + "\n## At a glance\n\n```text\n" + chart() + "```\n";
        if (asked.samples) text += "\n## Samples\n\nThe first, in brackets, is discarded.\n\n"
            + "```text\n" + samples() + "```\n";
        print(System.out, text);
    }

    private String head() {
        var jvm = ManagementFactory.getRuntimeMXBean();
        var os = ManagementFactory.getOperatingSystemMXBean();
        String collectors = "";
        for (var gc : ManagementFactory.getGarbageCollectorMXBeans()) {
            collectors += ", " + gc.getName();
        }
        boolean pretended = ("" + jvm.getInputArguments()).contains("ActiveProcessorCount");
        var arguments = ProcessHandle.current().info().arguments(); // none on Windows
        var words = new ArrayList<>(arguments.map(Arrays::asList).orElse(asked.typed));
        words.replaceAll(word -> word.matches("\\S+") ? word : "'" + word + "'");
        String command = arguments.isPresent() ? "`java " : "words `";
        return wrap("- Java " + Runtime.version() + ", " + jvm.getVmVendor() + ", "
                + jvm.getVmName() + collectors)
            + wrap("- " + os.getName() + " " + os.getVersion() + " " + os.getArch() + ", "
                + counted(Lab.PROCESSORS, "processor")
                + (pretended ? " (pretended: platform threads use all that there are), " : ", ")
                + counted(Lab.CARRIERS, "carrier") + ", heap up to "
                + number(Runtime.getRuntime().maxMemory() >> 20) + " MB")
            + wrap("- " + java.time.LocalDate.now() + ", " + counted(asked.runs, "run") + ", "
                + command + String.join(" ", words) + "`");
    }

    private String table() {
        List<List<String>> lines = new ArrayList<>();
        lines.add(List.of("Experiment", "Work", "Platform", "Virtual", "Ratio", "Predicted",
            "You"));
        for (Row row : rows) {
            double predicted = row.predicted();
            lines.add(List.of(row.experiment(), row.work(), amount(row, row.platform()),
                amount(row, row.virtual()), ratio(row),
                Double.isNaN(predicted) ? "—" : number(predicted) + "×", row.guess()));
        }
        String cells = "|";
        String rule = "|";
        int columns = asked.predict ? 7 : 6; // the format below ignores a cell too many
        for (int column = 0; column < columns; column++) {
            int width = 0;
            for (var line : lines) width = Math.max(width, line.get(column).length());
            cells += " %" + (column < 2 ? "-" : "") + width + "s |";
            rule += "-".repeat(width + 1) + (column < 2 ? "-|" : ":|");
        }
        String table = "";
        for (var line : lines) {
            table += format(cells, line.toArray()) + "\n";
            if (line == lines.getFirst()) table += rule + "\n";
        }
        return table;
    }

    /** A median with its unit: milliseconds are measured, everything else is counted. */
    private static String amount(Row row, Side side) {
        double median = side.median();
        if (Double.isNaN(median)) return "—";
        String value = row.unit().equals("ms") ? threeDigits(median) : number(median);
        return value + " " + row.unit();
    }

    private static String ratio(Row row) {
        return Double.isNaN(row.ratio()) ? "—" : row.mark() + threeDigits(row.ratio()) + "×";
    }

    private String notes() {
        String notes = "Ratio is platform ÷ virtual: above 1×, virtual threads need less.\n"
            + "Predicted is the ratio that a simple model gives"
            + (asked.predict ? ", You the one that you expected.\n" : ".\n");
        if (table().contains("~")) notes += "~ marks a noisy row: the middle half"
            + " of a side's samples covers over 20 % of their median.\n";
        return failures.isEmpty() ? notes : notes + "\n" + items(failures);
    }

    private static String items(List<String> texts) {
        String items = "";
        for (String text : texts) items += wrap("- " + text + (text.endsWith(".") ? "" : "."));
        return items;
    }

    /** A line for each ratio on a logarithmic scale: ten columns for each power of ten. */
    private String chart() {
        String label = "%-12s %-20s ";
        String blank = format(label, "", "");
        String chart = blank
            + "  < they need more  │  virtual threads need less >   ○ predicted\n" + blank
            + "0.01×     0.1×      1×        10×       100×      1,000×\n";
        for (Row row : rows) {
            if (Double.isNaN(row.ratio())) continue;
            int end = column(row.ratio());
            char[] line = " ".repeat(51).toCharArray();
            Arrays.fill(line, Math.min(end, 20), Math.max(end, 20) + 1, '█');
            line[20] = '│';
            if (row.ratio() < 0.01) line[0] = '<';
            if (row.ratio() > 1_000) line[50] = '>';
            if (!Double.isNaN(row.predicted())) line[column(row.predicted())] = '○';
            chart += format(label, row.experiment(), row.work())
                + new String(line).stripTrailing() + " " + ratio(row) + "\n";
        }
        return chart;
    }

    private static int column(double ratio) {
        return Math.clamp(20 + Math.round(10 * Math.log10(ratio)), 0, 50);
    }

    private String samples() {
        String text = "";
        for (Row row : rows) {
            text += row.experiment() + ", " + row.work() + ", " + row.unit() + "\n";
            for (Side side : row.sides()) {
                String values = "";
                for (double sample : side.samples()) {
                    var digits = BigDecimal.valueOf(sample).stripTrailingZeros();
                    values += " " + digits.toPlainString();
                }
                values = values.replaceFirst("\\S+", "($0)"); // the warm-up
                if (!values.isEmpty()) text += wrap("  " + side.name() + values);
            }
        }
        return text;
    }
}

/** How numbers and lines are written, the same in every locale. */
class Text {
    static String format(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }

    /** Puts the numbers, written as they are in the table, in place of each %s or %d. */
    static String fill(String text, Object... numbers) {
        var written = Arrays.stream(numbers)
            .map(n -> n instanceof Number x ? number(x.doubleValue()) : n);
        return format(text.replace("%d", "%s"), written.toArray());
    }

    static String counted(int n, String what) { return n + " " + what + (n == 1 ? "" : "s"); }

    /** A whole number as it is, anything else with three digits. */
    static String number(double value) {
        return value % 1 == 0 ? format("%,.0f", value) : threeDigits(value);
    }

    /** Three significant digits, or all those of a large number: 0.110, 52.0, 5,131. */
    static String threeDigits(double value) {
        if (Double.isNaN(value)) return "—";
        return format(value < 999.5 ? "%.3g" : "%,.0f", value);
    }

    /** Rounds a sample as it is printed, so that the table can be recomputed from those. */
    static double fiveDigits(double value) {
        return new BigDecimal(value).round(new MathContext(5)).doubleValue();
    }

    /** Breaks a line at spaces, so that none is longer than 100 characters. */
    static String wrap(String line) {
        return line.replaceAll("\\R", " ").replaceAll("(.{1,97})( |$)|(.{97})", "$1$3\n  ")
            .stripTrailing() + "\n";
    }

    /** Describes an error and its causes in one line. An older javac stops here. */
    static String reason(Throwable error) {
        String said = switch (error) {
            case ExecutionException x -> ""; // this file needs Java 21 or newer
            case IllegalStateException x -> Objects.requireNonNullElse(x.getMessage(), "" + x);
            default -> "" + error;
        };
        if (error.getCause() == null) return said;
        String cause = reason(error.getCause());
        return said.isEmpty() ? cause : said.replaceFirst("\\.$", "") + ", caused by " + cause;
    }

    /** Prints ASCII of the same width instead if the charset lacks one of these characters. */
    static void print(PrintStream out, String text) {
        String special = "×—÷µ█│○";
        String ascii = "x-/u#|o";
        boolean known = out.charset().newEncoder().canEncode(special);
        for (int i = 0; i < special.length() && !known; i++) {
            text = text.replace(special.charAt(i), ascii.charAt(i));
        }
        out.print(text);
    }
}

// ----- Cut here: delete all from this line on, and the line in main that names Encores; a
// complete lab of the five is left. Those below run only when named, or with "all".
class Encores extends Lab { // for the names of Lab only
    static final List<Experiment> LIST = List.of(
        new Experiment("println", 2, Encores::println, "one thread prints lines to a file"),
        new Experiment("http", 15, Encores::http, "400 calls: pool of 20, or virtual threads"),
        new Experiment("mixed", 23, Encores::mixed, "tasks compute, then call a server"),
        new Experiment("capacity", 7, Encores::capacity, "20 at once: pool, or semaphore"),
        new Experiment("thread-local", 1, Encores::threadLocal, "objects that a cache makes"),
        new Experiment("million", 15, Encores::million, "park a million virtual threads"),
        new Experiment("time-sharing", 3, Encores::timeSharing, "short task behind long ones"),
        new Experiment("lost-lock", 4, Encores::lostLock, "hand a lock down a line"));

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
        Path file = Evidence.scratch();
        double predicted = JDK < 23 ? UNKNOWN : 1;
        question("one task prints %s lines to a file", lines);
        Row row = measure(number(lines) + " lines", "ms", predicted,
            run -> printLines(newThreadPerTaskExecutor(Thread::new), file, lines),
            run -> printLines(newVirtualThreadPerTaskExecutor(), file, lines));
        say("one task, alone: %s", verdict(row, "platform threads"));
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
     * Fair: the same 200 clients make two calls each in turn; only the executors differ.
     * Prediction: a pool of 20 answers 400 calls in 20 waves of 50 ms. Virtual threads with 200
     * calls in flight need 2: 10×, or less, as calls cost more than the waits. Most calls to
     * the pool find a full line: the median latency is 10 waves, against one: 10× again.
     * Try: int pool = 200; Is it the threads that are better, or their number?
     */
    static void http() throws Exception {
        int calls = size(400, 200);
        int pool = 20;
        int waitMs = 50;
        int waves = Math.max(2, Math.ceilDiv(calls, pool));
        double predicted = waves / 2.0;
        question("%s clients call twice, a handler waits %s ms: pool of %s, or virtual thread"
            + " per call", calls / 2, waitMs, pool);
        try (var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            Row row = time(calls + " × " + waitMs + " ms", predicted,
                () -> pooled.callAll(calls), () -> virtual.callAll(calls));
            measure("median latency", "ms", predicted,
                run -> pooled.callAll(calls), run -> virtual.callAll(calls));
            say("%s; the sides took %s and %s ms more than the %s and %s ms of waiting that are"
                + " predicted", verdict(row, "the pool of " + pool),
                row.platform().median() - waves * waitMs, row.virtual().median() - 2 * waitMs,
                waves * waitMs, 2 * waitMs);
        }
    }

    /**
     * mixed. What changes for tasks that first compute and then call a server?
     * Fair: the same tasks, client and server. The calls leave from a pool of platform threads,
     * as virtual ones would have to queue for a carrier.
     * Prediction: 1× in time. But platform threads share the processors and finish together,
     * so all calls overlap. A carrier finishes task by task, so that of its calls only
     * wait ÷ compute, rounded up, overlap. One computation is timed for this, before the rows.
     * Try: int n = 25; and int fib = 75_025; With less to compute, how many calls overlap?
     */
    static void mixed() throws Exception {
        int tasks = 10 * PROCESSORS;
        int waitMs = size(120, 40);
        int n = size(37, 33);
        int fib = size(24_157_817, 3_524_578);
        Job compute = () -> check("as a Fibonacci number", fib, fibonacci(n));
        double computeMs = sample(compute, 1);
        double stream = CARRIERS * Math.ceil(waitMs / computeMs);
        double predicted = Math.min(1, (double) CARRIERS / PROCESSORS);
        boolean quick = size(0, 1) == 1; // whose ceiling would differ from run to run
        double predictedPeak = quick ? UNKNOWN : Math.max(1, tasks / stream);
        question("%s tasks compute for %s ms, then call a server that waits %s ms: platform"
            + " thread each, or virtual thread each", tasks, computeMs, waitMs);
        try (var server = new Server(newFixedThreadPool(tasks), waitMs);
                var callers = newCachedThreadPool()) {
            Job task = () -> {
                compute.run();
                check("as HTTP status", 200, callers.submit(server::call).get());
            };
            Job platform = () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task);
            Job virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
            Row row = time(tasks + " tasks", predicted, platform, virtual);
            Row peak = measure("calls at once", "calls", predictedPeak,
                run -> server.handlers.peak(platform), run -> server.handlers.peak(virtual));
            say("of %s calls the server saw at most %s at once from platform threads, %s from"
                + " virtual threads; in time, %s", tasks, peak.platform().median(),
                peak.virtual().median(), verdict(row, "platform threads"));
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
        var permits = new Semaphore(limit);
        var pooled = new Room();
        var gated = new Room();
        Job enterGated = () -> {
            permits.acquire();
            try {
                gated.enter(holdMs, limit);
            } finally {
                permits.release();
            }
        };
        double predicted = 1;
        Row row = time(number(tasks) + " × " + holdMs + " ms by " + limit, predicted,
            () -> runAll(newFixedThreadPool(limit), tasks, () -> pooled.enter(holdMs, limit)),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, enterGated));
        say("at most %s tasks were inside at once with the pool, %s with the semaphore: %s",
            pooled.most, gated.most, verdict(row, "the pool"));
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
        question("objects that a ThreadLocal makes: pool of %s, or virtual thread each", pool);
        Row row = measure(number(tasks) + " tasks", "made", predicted,
            run -> buffersMade(newFixedThreadPool(pool), tasks),
            run -> buffersMade(newVirtualThreadPerTaskExecutor(), tasks));
        say("the cache made %s MB of buffers for the pool, %s MB for virtual threads",
            row.platform().median() * 8_192 / 1e6, row.virtual().median() * 8_192 / 1e6);
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
     * threads-max, pid_max or max_map_count).
     * Prediction: a few microseconds for each at most, as long as the heap has room. The time
     * includes growing the heap, and collections: java -Xms3g shows how much that is.
     * Try: java -Xmx256m VirtualThreadsLab.java million. Which rows are still measured?
     */
    static void million() throws Exception {
        String collected = "no time was measured";
        for (int n : new int[] {10_000, 100_000, size(1_000_000, 200_000)}) {
            long[] before = collections();
            Row row = measure(number(n) + " parked", "ms", UNKNOWN, null, run -> {
                long start = System.nanoTime();
                return (park(n, System::nanoTime) - start) / 1e6;
            });
            long[] after = collections();
            List<Double> ms = row.virtual().samples();
            if (!ms.isEmpty()) collected = fill("of the %s ms that parking %s took %s times,"
                + " the collector had %s ms in %s collections",
                ms.stream().reduce(0.0, Double::sum), n, ms.size(), after[1] - before[1],
                after[0] - before[0]);
        }
        say("%s; each parked virtual thread took %s bytes of the heap. There is no platform"
            + " side, as a system refuses so many threads", collected, weigh(10_000));
    }

    /** Returns the bytes of heap that each of n parked virtual threads takes. */
    static double weigh(int n) throws Exception {
        var heap = ManagementFactory.getMemoryMXBean();
        long[] earlier = collections();
        heap.gc();
        long before = heap.getHeapMemoryUsage().getUsed();
        long parked = park(n, () -> {
            heap.gc();
            return heap.getHeapMemoryUsage().getUsed();
        });
        return collections()[0] == earlier[0] ? UNKNOWN : (parked - before) / (double) n;
    }

    /** Parks n virtual threads, asks the question while they are parked, and lets them go. */
    static <T> T park(int n, Callable<T> question) throws Exception {
        long most = Runtime.getRuntime().maxMemory() >> 20;
        long needed = (n * 2_000L) >> 20; // MB: about twice what they weigh
        if (needed > most) throw new IllegalStateException("needs about " + number(needed)
            + " MB of heap, where the limit is " + number(most) + " MB");
        var come = new CountDownLatch(n);
        var gone = new CountDownLatch(n);
        var gate = new Semaphore(0);
        try {
            for (int i = 0; i < n; i++) Thread.startVirtualThread(() -> {
                come.countDown();
                gate.acquireUninterruptibly();
                gone.countDown();
            });
            await(come);
            return question.call();
        } finally {
            gate.release(n);
            gone.await(30, TimeUnit.SECONDS); // some may not have started
        }
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
            run -> delay(newThreadPerTaskExecutor(Thread::new), busy, () -> { }),
            run -> delay(newVirtualThreadPerTaskExecutor(), busy, () -> { }));
        var seen = new AtomicReference<>("");
        scheduler(); // the first question to a bean is slow, and the long tasks do not wait
        delay(newVirtualThreadPerTaskExecutor(), busy, () -> seen.set(scheduler()));
        String predictedSo =
            row.virtual().median() >= 50 ? ", which is what a long one takes" : "";
        say("behind %s, a short one was delayed by %s ms as a platform thread and by %s ms as a"
            + " virtual thread%s%s", counted(busy, "long task"), row.platform().median(),
            row.virtual().median(), predictedSo, seen);
    }

    /** Says what the scheduler's own bean counts now; it came with JDK 24. */
    static String scheduler() {
        try {
            var bean = new javax.management.ObjectName(
                "jdk.management:type=VirtualThreadScheduler");
            var beans = ManagementFactory.getPlatformMBeanServer();
            int mounted = (int) beans.getAttribute(bean, "MountedVirtualThreadCount");
            return fill(". While it waited, the scheduler's pool of %s had %s mounted and %s"
                + " queued", beans.getAttribute(bean, "PoolSize"),
                counted(mounted, "virtual thread"),
                beans.getAttribute(bean, "QueuedVirtualThreadCount"));
        } catch (javax.management.JMException e) {
            return "";
        }
    }

    /** Returns the milliseconds until the short task runs. */
    static double delay(ExecutorService executor, int busy, Runnable meanwhile)
            throws Exception {
        var begun = new CountDownLatch(busy);
        Callable<Integer> longTask = () -> {
            begun.countDown();
            return fibonacci(38); // takes 100 ms or more
        };
        List<Future<Integer>> computing = new ArrayList<>();
        try (executor) {
            for (int i = 0; i < busy; i++) computing.add(executor.submit(longTask));
            await(begun);
            long start = System.nanoTime();
            var shortTask = executor.submit(() -> (System.nanoTime() - start) / 1e6);
            meanwhile.run();
            for (var done : computing) check("as a Fibonacci number", 39_088_169, done.get());
            return shortTask.get();
        }
    }

    /**
     * lost-lock. One task waits for a ReentrantLock; behind it, one per carrier does so inside
     * its own synchronized block. How long after the lock's release are all of them done?
     * Fair: the same tasks in the same order, one thread per task, 500 ms of patience each.
     * Prediction: about 0.1 ms for each. But up to JDK 23 the monitors pin every carrier: the
     * first in line, whose turn it is, gets none until another one gives up.
     * Try: i < CARRIERS for i <= CARRIERS. How long does JDK 21 take with one waiter fewer?
     */
    static void lostLock() throws Exception {
        var platformLost = new AtomicInteger();
        var virtualLost = new AtomicInteger();
        Row row = measure((CARRIERS + 1) + " in line", "ms", UNKNOWN,
            run -> handOver(newThreadPerTaskExecutor(Thread::new), platformLost),
            run -> handOver(newVirtualThreadPerTaskExecutor(), virtualLost));
        double platformMs = row.platform().median();
        double virtualMs = row.virtual().median();
        String took = platformMs < 1 && virtualMs < 1 ? "both sides were done in under 1 ms"
            : fill("all were done in %s ms as platform threads and in %s ms as virtual threads",
                platformMs, virtualMs);
        say("after the release, %s; in all runs together, %s platform and %s virtual waiters"
            + " gave up", took, platformLost, virtualLost);
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
        long released;
        lock.lock();
        try (executor) {
            for (int i = 0; i <= CARRIERS; i++) {
                waiting.add(executor.submit(i == 0 ? waiter : inMonitor));
                for (int ms = 0; ms < 500 && lock.getQueueLength() <= i; ms++) Thread.sleep(1);
            }
            released = System.nanoTime();
            lock.unlock();
        }
        double elapsed = (System.nanoTime() - released) / 1e6;
        for (var mine : waiting) if (!mine.get()) lost.incrementAndGet();
        return elapsed;
    }

    /** Counts who is inside. */
    static class Room {
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();

        void enter(int ms, int limit) throws InterruptedException {
            int now = inside.incrementAndGet();
            most.accumulateAndGet(now, Math::max);
            Thread.sleep(ms);
            inside.decrementAndGet();
            if (now > limit) check("tasks inside at once", limit, now);
        }

        double peak(Job job) throws Exception {
            most.set(0);
            job.run();
            return most.get();
        }
    }

    /** A real server on loopback, and its client; full names, as imports stay above the cut. */
    static class Server implements Closeable {
        final Room handlers = new Room();
        final com.sun.net.httpserver.HttpServer server;
        final java.net.URL address;

        Server(ExecutorService executor, int waitMs) throws Exception {
            // Now, as a thread that the system refuses later would end the server.
            if (executor instanceof ThreadPoolExecutor pool) pool.prestartAllCoreThreads();
            server = com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress(
                java.net.InetAddress.getLoopbackAddress(), 0), 1_000);
            server.setExecutor(executor);
            server.createContext("/", exchange -> {
                try (exchange) {
                    handlers.enter(waitMs, Integer.MAX_VALUE);
                    exchange.sendResponseHeaders(200, -1);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            server.start();
            address = new java.net.URI("http", null, server.getAddress().getHostString(),
                server.getAddress().getPort(), "/", null, null).toURL();
        }

        /** Returns the status of the reply. Blocks its thread, and needs no other. */
        int call() throws IOException {
            var connection = (java.net.HttpURLConnection)
                address.openConnection(java.net.Proxy.NO_PROXY);
            connection.setConnectTimeout(10_000); // ms
            connection.setReadTimeout(10_000);
            return connection.getResponseCode();
        }

        /** Makes the calls from half as many clients; returns the median latency, in ms. */
        double callAll(int calls) throws Exception {
            Queue<Double> latencies = new ConcurrentLinkedQueue<>();
            runAll(newVirtualThreadPerTaskExecutor(), calls / 2, () -> {
                for (int i = 0; i < 2; i++) {
                    long start = System.nanoTime();
                    check("as HTTP status", 200, call());
                    latencies.add((System.nanoTime() - start) / 1e6);
                }
            });
            return Side.quantile(List.copyOf(latencies), 0.5);
        }

        public void close() {
            server.stop(0);
            ((ExecutorService) server.getExecutor()).shutdownNow();
        }
    }
}
