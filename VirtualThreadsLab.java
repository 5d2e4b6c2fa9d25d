//JAVA 21+
// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.management.*;
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
 * platform thread   a thread of the operating system, such as new Thread(task) starts
 * virtual thread    a thread of the JVM; while it waits, its stack is on the heap
 * carrier           a platform thread that runs virtual ones; as many as there are processors
 * pinned            of a virtual thread: it waits without leaving its carrier
 *
 * The experiments are written in these words:
 * Work, Gauge                something to run; something to run that returns a number
 * size(full, quick)          the first number, or the second with --quick
 * runAll(executor, n, task)  runs the task n times, waits for the end, closes the executor
 * check(what, ...)           a wrong answer fails that side of the row
 * time(...), measure(...)    adds a row: its name, unit (time: ms), predicted ratio and sides
 * say(...), verdict(row)     adds a sentence; tells which side of a row was faster, if any
 */
class VirtualThreadsLab {
    /**
     * start-time. How long does it take to start n threads, until each of them has run?
     * Fair: both sides run the same loop; only the builder differs. At most 1,000 threads are
     * still to run, so that no system runs out of them. await() returns when all have run.
     * Prediction: the operating system takes tens of microseconds or more for a thread. A
     * virtual thread is an object that is put into a queue, in a microsecond or less.
     * Try: sizes = {1, 10, 100}. From how many threads on is the gap more than a millisecond?
     */
    static void startTime() throws Exception {
        int[] sizes = {100, size(1_000, 200), size(10_000, 500)};
        Row row = null;
        for (int threads : sizes) {
            row = time(number(threads, " threads"), UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
        }
        say("to start and run %s threads took %s µs per platform thread, %s µs per virtual"
            + " one: %s", sizes[2], row.platform().median() * 1_000 / sizes[2],
            row.virtual().median() * 1_000 / sizes[2], verdict(row));
    }

    static void startAll(Thread.Builder builder, int threads) throws InterruptedException {
        var left = new CountDownLatch(threads);
        for (int started = 0; started < threads; started++) {
            while (started + left.getCount() - threads >= 1_000) Thread.yield();
            builder.start(left::countDown);
        }
        left.await();
    }

    /**
     * sleep-wave. How long do 10,000 tasks take if each waits 100 ms and does nothing else?
     * Fair: the same tasks; only the executor differs. Many servers run on a pool of 200.
     * Prediction: 200 threads need 50 waves of 100 ms for 10,000 tasks; on virtual threads all
     * the tasks wait at once. 50×, or less, as starting and waking threads takes time, too.
     * Try: pool = 1_000. How much of the ratio is left, and how many tasks wait at once?
     */
    static void sleepWave() throws Exception {
        int tasks = size(10_000, 1_000);
        int waitMs = size(100, 50);
        int pool = 200;
        Work wait = () -> Thread.sleep(waitMs);
        Row row = time(number(tasks, " × ") + waitMs + " ms", Math.ceilDiv(tasks, pool),
            () -> runAll(newFixedThreadPool(pool), tasks, wait),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));
        say("on average %s tasks were waiting in the pool of %s, and %s on virtual threads"
            + " (Little's law: tasks × wait ÷ elapsed = tasks in flight); %s",
            tasks * waitMs / row.platform().median(), pool,
            tasks * waitMs / row.virtual().median(), verdict(row));
    }

    /**
     * cpu-primes. Are tasks that only compute any faster on virtual threads?
     * Fair: the same tasks on one thread per processor, or on one virtual thread per task. Both
     * sides can use every processor, and nothing ever waits.
     * Prediction: 1×. A virtual thread computes on a carrier, which is a platform thread, and
     * there are as many carriers as processors. With fewer carriers: less than 1×.
     * Try: newFixedThreadPool(tasks). Do more threads than processors help?
     */
    static void cpuPrimes() throws Exception {
        int tasks = 4 * PROCESSORS;
        int limit = size(1_000_000, 400_000);
        int primes = size(78_498, 33_860);
        Work count = () -> check("primes to " + number(limit, ""), primes, countPrimes(limit));
        Row row = time(tasks + " × " + number(primes, " primes"),
            Math.min(1, (double) CARRIERS / PROCESSORS),
            () -> runAll(newFixedThreadPool(PROCESSORS), tasks, count),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, count));
        say("%s tasks only computed, on %s and %s: %s", tasks,
            counted(PROCESSORS, "processor"), counted(CARRIERS, "carrier"), verdict(row));
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
     * pinning. What keeps a waiting virtual thread on its carrier, so that both have to wait?
     * Fair: one thread per task on both sides, and one lock per task, so that none has to wait
     * for its lock. A single lock for all of them would measure contention.
     * Prediction: a ReentrantLock never pins: 1×. A monitor (synchronized) pins up to JDK 23,
     * so the n tasks of a carrier (3 to 10) wait in turn: 1/n. JEP 491 ended that in 24: 1×. A
     * class initializer has VM and native frames beneath it and pins on every JDK tried: 1/n.
     * Try: synchronized (OWN), one monitor for all. How do JDK 21 and 25 differ now?
     */
    static void pinning() throws Exception {
        byte[] bytes = Initializer.class
            .getResourceAsStream(Initializer.class.getName() + ".class").readAllBytes();
        Work lock = () -> {
            var own = new ReentrantLock();
            own.lock();
            try {
                Thread.sleep(pinnedMs());
            } finally {
                own.unlock();
            }
        };
        Work monitor = () -> {
            synchronized (OWN.get()) {
                Thread.sleep(pinnedMs());
            }
        };
        Work initializer = () -> MethodHandles.lookup().defineHiddenClass(bytes, true);
        say("of %s tasks per carrier, on average %s, %s and %s. Flight Recorder counted events"
            + " over %s ms, in runs of its own", perCarrier(), hold("ReentrantLock", 1, lock),
            hold("synchronized", JDK < 24 ? 1.0 / perCarrier() : 1, monitor),
            hold("class init", 1.0 / perCarrier(), initializer), pinnedMs() / 2);
    }

    /** Adds a row; says how many tasks per carrier waited at once, and how many were pinned. */
    static String hold(String what, double predicted, Work task) {
        int tasks = perCarrier() * CARRIERS;
        Work virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
        Row row = time(tasks + " in " + what, predicted,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task), virtual);
        double atOnce = perCarrier() * pinnedMs() / row.virtual().median(); // Little's law
        return number(atOnce, " waited at once in ") + what + " (" + pinned(virtual) + ")";
    }

    // Fewer tasks on many carriers, or starting platform threads would drown the wait.
    static int perCarrier() { return Math.clamp(100 / CARRIERS, 3, 10); }
    static int pinnedMs() { return size(500, 100) / perCarrier(); }

    /** A monitor for each thread, in a place where the compiler cannot optimize it away. */
    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);

    /** Every task defines this class anew, and so runs the initializer. */
    static class Initializer {
        static {
            long end = System.nanoTime() + pinnedMs() * 1_000_000L;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /**
     * thread-count. How many threads does ThreadMXBean see while 1,000 tasks wait?
     * Fair: the same tasks come to the same gate. It opens when as many wait there as have
     * room. ThreadMXBean counts the platform threads that the JVM shows: carriers too, but no
     * virtual threads and none of the JVM's own, such as those of the GC and the compilers.
     * Prediction: where b threads were live before, a pool of 200 makes them b + 200, and one
     * platform thread per task b + 1,000. Virtual threads add none: the carriers are among b.
     * Try: tasks = 500. Which counts move?
     */
    static void threadCount() throws Exception {
        int tasks = 1_000;
        int pool = 200;
        startCarriers();
        double b = settledThreads();
        Callable<Integer> peak = () -> threads().getPeakThreadCount();
        Gauge virtual = run -> atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, peak);
        Row pooled = measure(number(tasks, ", pool of ") + pool, "threads", (b + pool) / b,
            run -> atGate(newFixedThreadPool(pool), tasks, pool, peak), virtual);
        Row perTask = measure(number(tasks, ", thread each"), "threads", (b + tasks) / b,
            run -> atGate(newThreadPerTaskExecutor(Thread::new), tasks, tasks, peak), virtual);
        say("while %s tasks waited, ThreadMXBean saw %s threads with one thread per task, %s"
            + " with the pool and %s with virtual threads; %s", tasks,
            perTask.platform().median(), pooled.platform().median(), perTask.virtual().median(),
            atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, () -> dump()));
    }

    /** The last task that there is room for answers the question; all others wait for that. */
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
        long deadline = System.nanoTime() + 5_000_000_000L;
        runAll(newVirtualThreadPerTaskExecutor(), CARRIERS, () -> {
            begun.incrementAndGet();
            while (begun.get() < CARRIERS && System.nanoTime() < deadline) Thread.onSpinWait();
        });
    }

    /** Lets earlier threads die: waits until the number of live ones is steady; returns it. */
    static int settledThreads() throws InterruptedException {
        int live = 0;
        while (live != threads().getThreadCount()) {
            live = threads().getThreadCount();
            Thread.sleep(10);
        }
        return live;
    }

    // ---------------------------------------------------------- what the experiments share
    interface Work { void run() throws Exception; }
    interface Gauge { double read(int run) throws Exception; } // run 0 is the warm-up
    static final double UNKNOWN = Double.NaN;
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final int CARRIERS = // see the javadoc of Thread
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS);

    static int size(int full, int quick) { return options.quick ? quick : full; }
    static ThreadMXBean threads() { return ManagementFactory.getThreadMXBean(); }

    static void runAll(ExecutorService executor, int n, Work task) throws Exception {
        Callable<Void> call = () -> {
            task.run();
            return null;
        };
        try (executor) {
            for (var done : executor.invokeAll(Collections.nCopies(n, call))) done.get();
        }
    }

    static void check(String what, double expected, double actual) {
        if (actual != expected) throw new IllegalStateException("wrong answer: "
            + number(actual, " ") + what + ", not " + number(expected, ""));
    }

    /** Runs the work again; says how many waits Flight Recorder saw pinned, and the reason. */
    static String pinned(Work work) {
        try (var recording = new jdk.jfr.Recording()) {
            Path file = scratch();
            recording.enable("jdk.VirtualThreadPinned") // JDK 27 reports short ones, too
                .withThreshold(java.time.Duration.ofMillis(pinnedMs() / 2));
            recording.start();
            work.run();
            recording.dump(file);
            var events = jdk.jfr.consumer.RecordingFile.readAllEvents(file);
            String said = counted(events.size(), "pinned event");
            return JDK < 24 || events.isEmpty() ? said : said + ": `" + events.getFirst()
                .getString("pinnedReason").replaceFirst("/0x[0-9a-f]+", "") + "`"; // X/0x7f: X
        } catch (Exception | LinkageError e) {
            return "no Flight Recorder: " + e;
        }
    }

    /** Says how many virtual threads a thread dump lists; ThreadMXBean knows none. */
    static String dump() {
        try {
            Path file = scratch();
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpThreads(
                file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            int virtual = Files.readString(file).split("\" virtual").length - 1;
            return "a thread dump listed " + number(virtual, " virtual threads as well");
        } catch (Exception | LinkageError e) {
            return "no thread dump: " + e;
        }
    }

    /** Returns the path of a new file, which goes with its folder at the end or at Ctrl-C. */
    static Path scratch() throws IOException {
        Path folder = Files.createTempDirectory("VirtualThreadsLab").toAbsolutePath();
        folder.toFile().deleteOnExit();
        folder.resolve("scratch").toFile().deleteOnExit();
        return folder.resolve("scratch");
    }

    // -------------------------------------------------------------------------- measuring
    /** One side of a row: its samples, the first of them discarded; none if it failed. */
    record Side(String name, Gauge gauge, List<Double> samples) {
        double at(double share) { return quantile(samples.stream().skip(1).toList(), share); }
        double median() { return at(0.5); }
        boolean noisy() { return at(0.75) - at(0.25) > 0.2 * median(); }
    }

    /** One row of the table. A ratio above 1 says that virtual threads need less. */
    record Row(String work, String unit, double predicted, String guess, Side platform,
            Side virtual) {
        List<Side> sides() { return List.of(platform, virtual); }
        double ratio() { return platform.median() / virtual.median(); }
        boolean noisy() { return platform.noisy() || virtual.noisy(); }

        String amount(Side side) { // milliseconds are measured, everything else is counted
            return unit.equals("ms") ? three(side.median(), " ms")
                : number(side.median(), " " + unit);
        }
    }

    static double quantile(List<Double> values, double q) {
        if (values.isEmpty()) return UNKNOWN;
        List<Double> sorted = values.stream().sorted().toList();
        double place = q * (sorted.size() - 1);
        double low = sorted.get((int) place);
        return low + (sorted.get((int) Math.ceil(place)) - low) * (place - (int) place);
    }

    static Row time(String work, double predicted, Work platform, Work virtual) {
        return measure(work, "ms", predicted, r -> shots(platform, r), r -> shots(virtual, r));
    }

    /**
     * A shot runs the work once. A sample is the median of as many shots as fill 200 ms: one
     * short shot varies with the scheduler, and one pause of 4 ms would spoil a mean. The
     * warm-up is longer, above all for very short shots, and returns its first, the cold start.
     */
    static double shots(Work work, int run) throws Exception {
        double fillMs = run == 0 ? size(400, 40) : size(200, 40);
        double shortMs = run == 0 ? size(1_200, 200) : 0; // while shots take under 1 ms
        List<Double> shots = new ArrayList<>();
        double elapsed = 0;
        long start = System.nanoTime();
        while (elapsed < fillMs || (elapsed < shots.size() && elapsed < shortMs)) {
            work.run();
            double now = (System.nanoTime() - start) / 1e6;
            shots.add(now - elapsed);
            elapsed = now;
        }
        return run == 0 ? shots.getFirst() : quantile(shots, 0.5);
    }

    /** Adds a row: the warm-up and the samples, with the sides strictly in turns. */
    static Row measure(String work, String unit, double predicted, Gauge platform,
            Gauge virtual) {
        var row = new Row(work, unit, predicted, platform == null ? "—" : ask(work),
            new Side("platform", platform, new ArrayList<>()),
            new Side("virtual", virtual, new ArrayList<>()));
        for (int run = 0; run <= options.runs; run++) {
            progress(work, run == 0 ? "warm-up" : "run " + run + " of " + options.runs);
            for (Side side : row.sides()) {
                if (side.gauge == null || side.samples.size() < run) continue; // it failed
                try {
                    System.gc(); // here, and so less often inside a sample
                    side.samples.add(Double.valueOf("%.5g".formatted(side.gauge.read(run))));
                } catch (Exception | Error e) {
                    side.samples.clear();
                    fail(" " + work + ", " + side.name, e);
                }
            }
        }
        add(row);
        return row;
    }

    /** Says "faster" only where the samples do not overlap and the ratio is 5 % off 1×. */
    static String verdict(Row row) {
        Side fast = row.ratio() > 1 ? row.virtual : row.platform;
        Side slow = row.ratio() > 1 ? row.platform : row.virtual;
        if (Double.isNaN(row.ratio())) return "nothing to compare";
        if (options.runs == 1) return "one run cannot tell which is faster";
        if (fast.at(1) >= slow.at(0)) return "no difference, as samples of both sides overlap";
        if (Math.abs(row.ratio() - 1) < 0.05) return "no difference, as it is less than 5 %";
        return fast.name + " threads were " + three(slow.median() / fast.median(), "× faster");
    }

    // ------------------------------------------------------- the command line, and running
    record Experiment(String name, int seconds, Work body, String question) { }
    static final List<Experiment> ALL = new ArrayList<>(List.of(
        new Experiment("start-time", 16, VirtualThreadsLab::startTime, "start and run threads"),
        new Experiment("sleep-wave", 32, VirtualThreadsLab::sleepWave,
            "10,000 tasks wait 100 ms each: pool of 200, or virtual thread per task"),
        new Experiment("cpu-primes", 5, VirtualThreadsLab::cpuPrimes,
            "count primes: thread per processor, or virtual thread per task"),
        new Experiment("pinning", 14, VirtualThreadsLab::pinning,
            "wait in a lock, a monitor, a class initializer: thread per task"),
        new Experiment("thread-count", 2, VirtualThreadsLab::threadCount,
            "platform threads that the JVM shows (no GC, compiler) while 1,000 tasks wait")));
    static { ALL.addAll(Encores.LIST); } // the line to delete when you cut

    /** What was asked for. Guesses come from the input, which is null without --predict. */
    record Options(boolean quick, int runs, boolean samples, Scanner input,
            List<Experiment> chosen) { }

    static Options options;
    static Experiment current;
    static long began;

    public static void main(String[] args) {
        Locale.setDefault(Locale.ROOT); // numbers look the same everywhere
        if (List.of(args).contains("--help")) print(System.out, help());
        else run(args);
        System.exit(System.out.checkError() || !NOTES.isEmpty() ? 1 : 0);
    }

    static String help() {
        String help = """
            java VirtualThreadsLab.java [--quick] [--runs N] [--samples] [--predict] [name ...]

              --quick     smaller sizes and 3 runs: ten seconds instead of a minute, but noisier
              --runs N    N samples of each side, 1 to 100, instead of 5
              --samples   print every sample at the end of the report
              --predict   ask for your ratio before each row, and add it to the table

            Exit code 0: every row was measured; 1: a row is missing or wrong; 2: bad command
            line. Without a name the first five of these run, with "all" every one:
            """;
        for (var e : ALL) help += String.format("  %-12s  %s\n", e.name, e.question);
        return help;
    }

    static Options parse(List<String> words) {
        boolean quick = words.removeAll(Set.of("--quick"));
        boolean samples = words.removeAll(Set.of("--samples"));
        Scanner input = words.removeAll(Set.of("--predict")) ? new Scanner(System.in) : null;
        String runs = quick ? "3" : "5";
        for (int at = words.indexOf("--runs"); at >= 0; at = words.indexOf("--runs")) {
            words.remove(at);
            runs = at < words.size() ? words.remove(at) : "nothing"; // the last one counts
        }
        if (!runs.matches("[1-9][0-9]?|100")) refuse("--runs takes 1 to 100, not " + runs);
        List<String> names = ALL.stream().map(Experiment::name).toList();
        if (words.isEmpty()) words.addAll(names.subList(0, 5));
        if (words.removeAll(Set.of("all"))) words.addAll(names);
        for (String word : words) if (!names.contains(word)) refuse("unknown: '" + word + "'");
        return new Options(quick, Integer.parseInt(runs), samples, input,
            words.stream().distinct().map(word -> ALL.get(names.indexOf(word))).toList());
    }

    static void refuse(String why) {
        System.err.println("VirtualThreadsLab: " + why.replaceAll("\\R", " ") + ", try --help");
        System.exit(2);
    }

    static void run(String[] args) {
        options = parse(new ArrayList<>(List.of(args)));
        String setting = setting(args); // opens files; experiments may use them all up
        Runtime.getRuntime().addShutdownHook(new Thread(() -> report(setting, true)));
        for (var experiment : options.chosen) {
            current = experiment;
            began = System.nanoTime();
            try {
                experiment.body.run();
            } catch (Exception | Error e) {
                fail("", e);
            }
            print(System.err, "\n");
        }
        report(setting, false);
    }

    /** Tells the time left only while the experiment takes no longer than was estimated. */
    static void progress(String work, String step) {
        var chosen = options.chosen;
        int turn = chosen.indexOf(current) + 1;
        double share = (options.runs + 1) / 6.0 * size(100, 18) / 100; // of a full run of 5
        double left = current.seconds * share - (System.nanoTime() - began) / 1e9;
        String about = left < 0 ? "" : ", about %.0f s left";
        for (var e : chosen.subList(turn, chosen.size())) left += e.seconds * share;
        long seconds = ManagementFactory.getRuntimeMXBean().getUptime() / 1_000;
        print(System.err, String.format("\r[%d/%d] %-12s %-19s %-11s %3d s%-19s", turn,
            chosen.size(), current.name, work, step, seconds, about.formatted(left)));
    }

    /** Returns the ratio that the reader types, or a dash if it is left out or no number. */
    static String ask(String work) {
        if (options.input == null) return "—";
        print(System.err, "\n" + current.name + ", " + work + "\n(" + current.question
            + ")\nYour ratio, platform ÷ virtual, such as 50 or 0.5 (Enter to skip): ");
        String answer = options.input.hasNextLine() ? options.input.nextLine().strip() : "";
        return answer.matches("\\d{1,4}([.,]\\d{1,3})?") ? answer : "—";
    }

    // -------------------- the report: what is finished, so that an interrupt can print it
    static final StringBuilder TABLE = new StringBuilder();
    static final StringBuilder NOTES = new StringBuilder();
    static final StringBuilder SENTENCES = new StringBuilder("\n## What the numbers say\n\n");
    static final StringBuilder BARS = new StringBuilder("\n## At a glance\n\n```\n");
    static final StringBuilder SAMPLES = new StringBuilder();
    static boolean printed;

    static synchronized void add(Row row) {
        TABLE.append(line(current.name, row.work, row.amount(row.platform),
            row.amount(row.virtual), (row.noisy() ? "~" : "") + three(row.ratio(), "×"),
            number(row.predicted, "×"), row.guess));
        SAMPLES.append(current.name + ", " + row.work + ", " + row.unit + "\n");
        for (Side side : row.sides()) {
            if (side.samples.isEmpty()) continue;
            double share = side == row.platform ? row.ratio() : 1 / row.ratio();
            int length = share < 1 ? (int) Math.max(1, Math.round(40 * share)) : 40;
            BARS.append(String.format("%-12s %-21s %-8s %s %s\n", current.name, row.work,
                side.name, "█".repeat(length), row.amount(side)));
            String list = ("" + side.samples).replaceAll("\\.0\\b|[\\[\\],]", ""); // [2.0] to 2
            SAMPLES.append(wrap("  " + side.name + " " + list.replaceFirst("\\S+", "($0)")));
        }
    }

    static synchronized void say(String format, Object... args) {
        for (int i = 0; i < args.length; i++) {
            if (args[i] instanceof Number n) args[i] = number(n.doubleValue(), "");
        }
        SENTENCES.append(wrap("- " + current.name + ": " + format.formatted(args) + "."));
    }

    static synchronized void fail(String where, Throwable e) {
        Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
        String message = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
        NOTES.append(wrap("- " + current.name + where + ": " + switch (cause) {
            case IllegalStateException x -> message; // Java 21 or newer: see README.md
            default -> cause; // an older javac rejects the line above, and quotes it
        } + "."));
    }

    static synchronized void report(String setting, boolean partial) {
        if (printed) return;
        printed = true;
        if (partial) System.err.println(); // behind the progress
        String rule = line("", "", ":", ":", ":", ":", ":").replace(": |", " :|");
        String notes = NOTES + (TABLE.indexOf("~") < 0 ? "" : wrap("- ~ marks a noisy row: the"
            + " middle half of a side's samples covers over 20 % of their median."));
        String text = "# VirtualThreadsLab\n\n"
            + (partial ? "**Partial:** interrupted; these are the finished rows.\n\n" : "")
            + setting + "\n"
            + line("Experiment", "Work", "Platform", "Virtual", "Ratio", "Predicted", "You")
            + rule.replace(' ', '-') + TABLE + (notes.isEmpty() ? "" : "\n" + notes)
            + SENTENCES + BARS + "```\n";
        if (options.samples) text += "\n## Samples\n\nThe first, in brackets, is discarded.\n"
            + "\n```\n" + SAMPLES + "```\n";
        print(System.out, text);
    }

    static String setting(String[] args) {
        var jvm = ManagementFactory.getRuntimeMXBean();
        var os = ManagementFactory.getOperatingSystemMXBean();
        var collectors = ManagementFactory.getGarbageCollectorMXBeans().stream();
        String[] typed = ProcessHandle.current().info().arguments().orElse(args);
        return wrap("- Java " + Runtime.version() + ", " + jvm.getVmVendor() + ", "
                + jvm.getVmName() + ", " + collectors.map(gc -> gc.getName()).toList())
            + wrap("- " + os.getName() + " " + os.getVersion() + " " + os.getArch() + ", "
                + counted(PROCESSORS, "processor") + ", " + counted(CARRIERS, "carrier")
                + ", heap up to " + number(Runtime.getRuntime().maxMemory() >> 20, " MB"))
            + wrap("- " + java.time.LocalDate.now() + ", " + counted(options.runs, "run")
                + (typed == args ? ", words `" : ", `java ") + String.join(" ", typed) + "`");
    }

    /** A line of the table; scripts rely on its columns. The last is the reader's guess. */
    static String line(Object... cells) {
        String line = "| %-12s | %-20s | %13s | %11s | %9s | %9s |";
        return String.format(line + (options.input == null ? "\n" : " %4.4s |\n"), cells);
    }

    /** Breaks lines, so that none is over 100 characters, at a blank where there is one. */
    static String wrap(String line) {
        return line.replaceAll("\\R", " ").replaceAll("(.{1,97}(?= |$)|.{97}) ?", "$1\n  ")
            .stripTrailing() + "\n";
    }

    static String counted(int n, String what) { return n + " " + what + (n == 1 ? "" : "s"); }

    /** A whole number as it is, anything else with three digits. */
    static String number(double value, String unit) {
        return value % 1 == 0 ? String.format("%,.0f", value) + unit : three(value, unit);
    }

    /** Three significant digits, or all those of a large number: 0.110, 52.0, 5,131. */
    static String three(double value, String unit) {
        if (Double.isNaN(value)) return "—";
        return String.format(value < 999.5 ? "%.3g" : "%,.0f", value) + unit;
    }

    /** Prints plain ASCII of the same width where the charset lacks a character of these. */
    static void print(PrintStream out, String text) {
        if (out.charset().newEncoder().canEncode("×—÷█µ")) out.print(text);
        else out.print(text.replace('×', 'x').replace('—', '-').replace('÷', '/')
            .replace('█', '#').replace('µ', 'u'));
    }
}

// ----- Cut here: without the line that names Encores, and without this line and all below, the
// file is a complete lab of the five. Below are experiments that run when named, or with "all".
class Encores extends VirtualThreadsLab {
    static final List<Experiment> LIST = List.of(
        new Experiment("println", 4, Encores::println, "one thread prints 100,000 lines"),
        new Experiment("http", 15, Encores::http, "400 calls: pool of 20, or virtual threads"),
        new Experiment("mixed", 23, Encores::mixed, "tasks compute, then call a server"),
        new Experiment("capacity", 7, Encores::capacity, "20 at once: pool, or semaphore"),
        new Experiment("thread-local", 2, Encores::threadLocal, "objects a cache makes"),
        new Experiment("million", 18, Encores::million, "park a million virtual threads"),
        new Experiment("time-sharing", 3, Encores::timeSharing, "short task behind long ones"),
        new Experiment("lost-lock", 4, Encores::lostLock, "hand a lock to pinned waiters"));

    /**
     * println. Is one task, alone, any faster on a virtual thread?
     * Fair: the same lines and file; the sides take turns, as a cold first is usually slower.
     * Prediction: 1×, as nothing waits while something else could run. On JDK 21 and 22 less:
     * there each write adjusts the scheduler's parallelism (JDK-8329593, fixed in 23).
     * Try: lines = 10. Which side is faster now, and why?
     */
    static void println() throws Exception {
        int lines = 100_000;
        Path file = scratch();
        Work print = () -> {
            try (var out = new PrintStream(new FileOutputStream(file.toFile()))) {
                for (int i = 0; i < lines; i++) out.println("line " + i);
            }
            check("lines in the file", lines, Files.readAllLines(file).size());
        };
        say("one task, alone: %s", verdict(time(number(lines, " lines"), JDK < 23 ? UNKNOWN : 1,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), 1, print),
            () -> runAll(newVirtualThreadPerTaskExecutor(), 1, print))));
    }

    /**
     * http. What does a server gain from one virtual thread per call, if its handler waits?
     * Fair: the same 200 clients make two calls each in turn; only the executors differ.
     * Prediction: a pool of 20 answers 400 calls in 20 waves of 50 ms. Virtual threads with 200
     * calls in flight need 2: 10×. The median latency is that of a steady second call: 10×.
     * Try: pool = 200. Is it the threads that are better, or their number?
     */
    static void http() throws Exception {
        int calls = size(400, 200);
        int pool = 20;
        int waitMs = 50;
        double waves = calls / 2.0 / pool;
        try (var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            Row row = time(calls + " × " + waitMs + " ms", waves,
                () -> pooled.latency(calls), () -> virtual.latency(calls));
            measure("median latency", "ms", waves, run -> pooled.latency(calls),
                run -> virtual.latency(calls));
            say("on average %s calls were waiting in the server with its pool of %s, %s in the"
                + " one with virtual threads: %s", calls * waitMs / row.platform().median(),
                pool, calls * waitMs / row.virtual().median(), verdict(row));
        }
    }

    /**
     * mixed. What changes for tasks that first compute and then call a server?
     * Fair: the same tasks, client and server. The calls leave from a pool of platform threads:
     * virtual ones, such as the client's own on JDK 27, would have to queue for a carrier.
     * Prediction: 1× in time. But platform threads compute in slices and end together: one
     * wave of calls. A carrier ends task after task: wait ÷ compute calls each, rounded up.
     * Try: n = 25 and fib = 75_025. With less to compute, how many calls come at once?
     */
    static void mixed() throws Exception {
        int tasks = 10 * PROCESSORS;
        int waitMs = size(120, 40);
        int n = size(37, 33);
        int fib = size(24_157_817, 3_524_578);
        Work compute = () -> check("as a Fibonacci number", fib, fibonacci(n));
        double stream = CARRIERS * Math.ceil(waitMs / shots(compute, 1));
        try (var io = newCachedThreadPool();
                var server = new Server(newFixedThreadPool(tasks), waitMs)) {
            Work task = () -> {
                compute.run();
                io.submit(server::call).get();
            };
            Work platform = () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, task);
            Work virtual = () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
            Row row = time(tasks + " tasks", 1, platform, virtual);
            Row peak = measure("calls at once", "calls", Math.max(1, tasks / stream),
                run -> server.handlers.peak(platform), run -> server.handlers.peak(virtual));
            say("of %s calls the server saw at most %s at once from platform threads, %s from"
                + " virtual threads; in time, %s", tasks, peak.platform().median(),
                peak.virtual().median(), verdict(row));
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
        var pooled = new Place();
        var gated = new Place();
        Work gatedVisit = () -> {
            permits.acquire();
            try {
                gated.visit(holdMs, limit);
            } finally {
                permits.release();
            }
        };
        Row row = time(number(tasks, " × ") + holdMs + " ms by " + limit, 1,
            () -> runAll(newFixedThreadPool(limit), tasks, () -> pooled.visit(holdMs, limit)),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, gatedVisit));
        say("at most %s tasks were inside at once with the pool, %s with the semaphore: %s",
            pooled.most, gated.most, verdict(row));
    }

    /**
     * thread-local. How many costly objects does a cache in a ThreadLocal make?
     * Fair: the same tasks use the same cache; only the executor differs.
     * Prediction: one per thread: 200 for the pool, 10,000 for virtual threads: 0.02×.
     * Try: tasks = 200. Does the cache still save anything?
     */
    static void threadLocal() throws Exception {
        int tasks = size(10_000, 2_000);
        int pool = 200;
        Row row = measure(number(tasks, " tasks"), "made", (double) pool / tasks,
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
     * There is no platform side: its stacks alone would take a terabyte of address space.
     * Prediction: a few microseconds for each at most, as long as the heap has room.
     * Try: java -Xmx256m VirtualThreadsLab.java million. Which rows are still measured?
     */
    static void million() throws Exception {
        TreeMap<Integer, Double> bytes = new TreeMap<>(Map.of(10_000, 0.0));
        for (int i = 0; i < 5; i++) park(10_000, 0, bytes); // stacks are deeper until compiled
        for (int n : new int[] {10_000, 100_000, size(1_000_000, 200_000)}) {
            measure(number(n, " parked"), "ms", UNKNOWN, null, run -> park(n, run, bytes));
        }
        say("each of %s parked virtual threads took %s bytes of the heap; there is no platform"
            + " side, as a million stacks would take a terabyte of address space",
            bytes.lastKey(), bytes.lastEntry().getValue());
    }

    /** Returns the milliseconds until all have reached the gate; run 0 weighs them there. */
    static double park(int n, int run, TreeMap<Integer, Double> bytes) throws Exception {
        var heap = ManagementFactory.getMemoryMXBean();
        long used = heap.getHeapMemoryUsage().getUsed();
        double wantMb = 2 * n * bytes.lastEntry().getValue() / 1e6;
        double freeMb = (heap.getHeapMemoryUsage().getMax() - used) / 1e6;
        if (wantMb > freeMb) throw new IllegalStateException("would need about "
            + number(wantMb, " MB of heap, where ") + number(freeMb, " MB are left"));
        var awake = new CountDownLatch(n);
        var alive = new CountDownLatch(n);
        var gate = new Semaphore(0);
        long start = System.nanoTime();
        try {
            for (int i = 0; i < n; i++) Thread.startVirtualThread(() -> {
                awake.countDown();
                gate.acquireUninterruptibly();
                alive.countDown();
            });
            if (!awake.await(60, TimeUnit.SECONDS)) throw new TimeoutException();
            double elapsed = (System.nanoTime() - start) / 1e6;
            if (run > 0) return elapsed;
            heap.gc();
            bytes.put(n, (heap.getHeapMemoryUsage().getUsed() - used) / (double) n);
            return elapsed;
        } finally {
            gate.release(n);
            alive.await(60, TimeUnit.SECONDS); // not for ever: some may not have started
        }
    }

    /**
     * time-sharing. All processors compute. How long until a short task, started now, runs?
     * Fair: the same tasks, and one thread per task. All the long ones have begun before.
     * Prediction: the operating system gives a platform thread its slice within milliseconds. A
     * virtual one waits until a long task ends: their scheduler has no time sharing (JEP 444).
     * Try: busy - 1 long tasks. What does one idle carrier change?
     */
    static void timeSharing() throws Exception {
        int busy = Math.max(PROCESSORS, CARRIERS);
        Row row = measure("delay behind " + busy, "ms", UNKNOWN,
            run -> delay(newThreadPerTaskExecutor(Thread::new), busy),
            run -> delay(newVirtualThreadPerTaskExecutor(), busy));
        say("behind %s, a short one waited %s ms as a platform thread, %s ms as a virtual one",
            counted(busy, "long task"), row.platform().median(), row.virtual().median());
    }

    static double delay(ExecutorService executor, int busy) throws Exception {
        var begun = new CountDownLatch(busy);
        Callable<Integer> longTask = () -> {
            begun.countDown();
            return fibonacci(38); // takes 100 ms or more
        };
        List<Future<Integer>> computing = new ArrayList<>();
        try (executor) {
            for (int i = 0; i < busy; i++) computing.add(executor.submit(longTask));
            begun.await();
            long start = System.nanoTime();
            double delay = executor.submit(() -> (System.nanoTime() - start) / 1e6).get();
            for (var done : computing) check("as a Fibonacci number", 39_088_169, done.get());
            return delay;
        }
    }

    /**
     * lost-lock. A task waits for a ReentrantLock, then one task per carrier does so inside a
     * monitor of its own. How long after the lock's release until all of them are done?
     * Fair: the same tasks in the same order, one thread per task, 500 ms of patience each.
     * Prediction: about 0.1 ms for each. But up to JDK 23 the monitors pin every carrier: the
     * first in line, whose turn it is, gets none until another one gives up.
     * Try: i < CARRIERS, so one waiter fewer. How long does JDK 21 take now, and why?
     */
    static void lostLock() throws Exception {
        var platformLost = new AtomicInteger();
        var virtualLost = new AtomicInteger();
        Row row = measure((CARRIERS + 1) + " in line", "ms", UNKNOWN,
            run -> handOver(newThreadPerTaskExecutor(Thread::new), platformLost),
            run -> handOver(newVirtualThreadPerTaskExecutor(), virtualLost));
        say("after the release all were done in %s ms as platform threads, in %s ms as virtual"
            + " ones; in all runs together %s and %s tasks lost patience",
            row.platform().median(), row.virtual().median(), platformLost, virtualLost);
    }

    static double handOver(ExecutorService executor, AtomicInteger lost) throws Exception {
        var lock = new ReentrantLock();
        Callable<Boolean> waiter = () -> {
            if (lock.tryLock(500, TimeUnit.MILLISECONDS)) lock.unlock();
            else lost.incrementAndGet();
            return true;
        };
        Callable<Boolean> pinned = () -> {
            synchronized (OWN.get()) {
                return waiter.call();
            }
        };
        long released;
        lock.lock();
        try (executor) {
            for (int i = 0; i <= CARRIERS; i++) {
                executor.submit(i == 0 ? waiter : pinned);
                for (int ms = 0; ms < 500 && lock.getQueueLength() <= i; ms++) Thread.sleep(1);
            }
            released = System.nanoTime();
            lock.unlock();
        }
        return (System.nanoTime() - released) / 1e6;
    }

    static class Place {
        final AtomicInteger inside = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        void visit(int ms, int limit) throws InterruptedException {
            int now = inside.incrementAndGet();
            most.accumulateAndGet(now, Math::max);
            Thread.sleep(ms);
            inside.decrementAndGet();
            check("tasks inside at once", limit, Math.max(limit, now));
        }

        double peak(Work w) throws Exception {
            most.set(0);
            w.run();
            return most.get();
        }
    }

    static class Server implements Closeable {
        final Place handlers = new Place();
        final com.sun.net.httpserver.HttpServer server;
        final java.net.http.HttpClient client;

        Server(ExecutorService executor, int waitMs) throws IOException {
            String tcp = "jdk.internal.httpclient.tcp.selector";
            System.setProperty(tcp + ".useVirtualThreads", "never"); // see mixed
            client = java.net.http.HttpClient.newBuilder()
                .version(java.net.http.HttpClient.Version.HTTP_1_1).build();
            System.setProperty("sun.net.httpserver.nodelay", "true"); // or some lag by 40 ms
            server = com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress(
                java.net.InetAddress.getLoopbackAddress(), 0), 1_000);
            server.setExecutor(executor);
            server.createContext("/", call -> {
                try (call) {
                    handlers.visit(waitMs, Integer.MAX_VALUE);
                    call.sendResponseHeaders(200, -1);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            server.start();
        }

        int call() throws Exception {
            String url = server.getAddress().toString().replaceFirst(".*/", "http://");
            var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create(url));
            var reply = client.send(request.timeout(java.time.Duration.ofSeconds(10)).build(),
                java.net.http.HttpResponse.BodyHandlers.discarding());
            check("as HTTP status", 200, reply.statusCode());
            return reply.statusCode();
        }

        double latency(int calls) throws Exception {
            Queue<Double> latencies = new ConcurrentLinkedQueue<>();
            runAll(newVirtualThreadPerTaskExecutor(), calls / 2, () -> {
                for (int i = 0; i < 2; i++) {
                    long t = System.nanoTime();
                    call();
                    latencies.add((System.nanoTime() - t) / 1e6);
                }
            });
            return quantile(List.copyOf(latencies), 0.5);
        }

        public void close() {
            client.close();
            server.stop(0);
            ((ExecutorService) server.getExecutor()).close();
        }
    }
}
