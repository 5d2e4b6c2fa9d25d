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
    static final List<Experiment> FIVE = List.of(
        new Experiment("start-time", "start and run threads", VirtualThreadsLab::startTime),
        new Experiment("sleep-wave", "tasks that wait", VirtualThreadsLab::sleepWave),
        new Experiment("cpu-primes", "tasks that compute", VirtualThreadsLab::cpuPrimes),
        new Experiment("pinning", "waits that may pin", VirtualThreadsLab::pinning),
        new Experiment("thread-count", "live threads", VirtualThreadsLab::threadCount));

    public static void main(String[] args) throws Exception { // so that a subclass's may
        System.exit(run(FIVE, args));
    }

    /** Runs experiments of the list, as the words ask; returns the exit code. */
    static int run(List<Experiment> list, String... words) {
        return CommandLine.run(list, words);
    }

    /**
     * start-time. How long does it take to start n threads and wait until each has run?
     * Fair: both sides run the same loop; only the builder differs. It needs no brake, as each
     * start of a platform thread waits until the thread has begun, so few are ever pending.
     * Prediction: a platform thread takes tens of microseconds or more: the system makes it,
     * and the JVM waits until it has begun. A virtual thread is an object in a queue: about a
     * microsecond or less. This holds for bursts, once warm, while nothing else runs.
     * Try: {1, 10, 100}. How much of the ratio is left for a thread that is started alone?
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
        var toRun = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) builder.start(toRun::countDown);
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
            lab.time(Text.of("%s, pool %s", tasks, pool), Math.ceilDiv(tasks, pool),
                () -> Lab.runAll(newFixedThreadPool(pool), tasks, wait),
                () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));
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
        lab.time(Text.of("%s × %s primes", tasks, primes), predicted,
            () -> Lab.runAll(newFixedThreadPool(Lab.PROCESSORS), tasks, count),
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
        lab.waiting("class init", pinned, initializing(() -> {
            long end = System.nanoTime() + waitMs * 1_000_000L;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }));
    }

    /** Returns a job that does this in a class initializer, on each call in a new class. */
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
    // Each thread has its own monitor. The compiler cannot prove that, so it keeps the lock.
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
        int tasks = lab.size(1_000, 500);
        int pool = 200;
        Gauge virtual = () -> added(newVirtualThreadPerTaskExecutor(), tasks, tasks);
        lab.measure(Text.of("%s, pool %s", tasks, pool), Row.COUNT, Lab.UNKNOWN,
            () -> added(newFixedThreadPool(pool), tasks, pool), virtual);
        lab.measure(Text.of("%s, no pool", tasks), Row.COUNT, Lab.UNKNOWN,
            () -> added(newThreadPerTaskExecutor(Thread::new), tasks, tasks), virtual);
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
        var count = new CompletableFuture<Integer>();
        Lab.runAll(executor, tasks, () -> {
            if (toCome.decrementAndGet() == 0) count.complete(bean.getThreadCount());
            count.get(); // all wait until the last one has come and counted
        });
        return count.get() - before;
    }
}

interface Job { void call() throws Exception; }
interface Gauge { double read() throws Exception; }
interface Body { void measure(Lab lab) throws Exception; }
record Experiment(String name, String summary, Body body) { }

/** A row of the table: its samples, and of each start, which share of processors others had. */
record Row(String experiment, String work, String unit, double model, List<Double> platforms,
        List<Double> virtuals, List<Double> others) {
    static final String COUNT = ""; // the unit of a row without a ratio
    String name() { return experiment + " " + work; }
    double platform() { return median(platforms); }
    double virtual() { return median(virtuals); }
    double ratio() { return unit.equals(COUNT) ? Double.NaN : platform() / virtual(); }
    double low() { return ratios().min().orElse(Double.NaN); }
    double high() { return ratios().max().orElse(Double.NaN); }

    /** The ratios of pairs of samples, but for the extreme tenth at each end. */
    private DoubleStream ratios() {
        int pairs = ratio() > 0 ? platforms.size() : 0;
        return IntStream.range(0, pairs).mapToDouble(i -> platforms.get(i) / virtuals.get(i))
            .filter(Double::isFinite).sorted().skip(pairs / 10).limit(pairs - pairs / 10 * 2);
    }

    /** Of an even number, the mean of the two in the middle; of none, NaN. */
    static double median(Collection<Double> values) {
        List<Double> sorted = values.stream().filter(v -> !v.isNaN()).sorted().toList();
        int size = sorted.size();
        return size == 0 ? Double.NaN : (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
    }
}

/**
 * The words of an experiment. A row has samples of each side; a sample is the mean of shots; a
 * shot does the work once.
 */
record Lab(Report report, LongSupplier clock, boolean quick, int samples, Experiment current) {
    static final double UNKNOWN = Double.NaN;
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final int CARRIERS = Math.min( // see the javadoc of Thread
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));
    // Tasks per carrier: ten show a pin clearly, three still do; a hundred in all will do.
    static final int PER_CARRIER = Math.clamp(100 / Math.max(1, CARRIERS), 3, 10);

    /** Runs all experiments of the list; returns the exit code. */
    static int run(List<Experiment> list, String... words) {
        boolean quick = List.of(words).equals(List.of("--quick"));
        if (quick || words.length == 0)
            return run(list, new Report(), System::nanoTime, quick, 5);
        System.err.println("VirtualThreadsLab: not --quick: " + String.join(" ", words));
        return 2;
    }

    static int run(List<Experiment> plan, Report report, LongSupplier clock, boolean quick,
            int samples) {
        report.begin(report.facts(samples));
        for (Experiment one : plan) {
            report.place = "experiment " + (plan.indexOf(one) + 1) + " of " + plan.size();
            Lab lab = new Lab(report, clock, quick, samples, one);
            if (!report.closed) report.attempt(one.name(), () -> one.body().measure(lab));
        }
        report.end();
        return report.failed.isEmpty() && !report.closed ? 0 : 1;
    }

    int size(int full, int withQuick) { return quick ? withQuick : full; }

    /** Throws if the answer is wrong: with "sheep" for what, "wrong answer: 4 sheep, not 3". */
    static void check(String what, double expected, double actual) {
        if (actual != expected) throw new AssertionError(
            Text.of("wrong answer: %s %s, not %s", actual, what, expected));
    }

    /** Runs the job n times, and ends. Throws the first failure; gives up after two minutes. */
    static void runAll(ExecutorService executor, int n, Job job) throws Exception {
        Callable<Void> task = () -> {
            job.call();
            return null;
        };
        try {
            var tasks = Collections.nCopies(n, task);
            for (var done : executor.invokeAll(tasks, 2, TimeUnit.MINUTES)) done.get();
        } finally {
            executor.shutdown();
            executor.awaitTermination(2, TimeUnit.SECONDS); // for those that were cancelled
        }
    }

    /**
     * Adds a row, such as "20 in what": each task makes this call, on a thread of its own.
     * The model is the ratio that you expect, 1 if the call doesn't hold its carrier.
     */
    void waiting(String what, double model, Job call) {
        int tasks = PER_CARRIER * CARRIERS;
        Job seen = report.watch(current.name() + ": " + what, tasks, call);
        time(Text.of(tasks < 100 ? "%s in %s" : "%s, %s", tasks, what), model,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, seen),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, seen));
    }

    /** Adds a row of times in ms; see measure. */
    void time(String work, double model, Job platform, Job virtual) {
        int fitMs = size(200, 20);
        measure(work, "ms", model,
            () -> meanMs(platform, fitMs), () -> meanMs(virtual, fitMs));
    }

    record Side(String name, Gauge gauge, List<Double> samples) { }

    /** Adds a row of samples in that unit. A side whose gauge throws has no median. */
    void measure(String work, String unit, double model, Gauge platform, Gauge virtual) {
        String cell = work.replaceAll("[|\\s]+", " ");
        String name = current.name() + " " + cell;
        report.begins(name, unit, model, current.summary());
        Side one = new Side(name + ", platform", platform, new ArrayList<>());
        Side other = new Side(name + ", virtual", virtual, new ArrayList<>());
        List<Side> sides = new ArrayList<>(List.of(one, other)); // but for those that failed
        for (int i = 0; i <= samples; i++) {
            boolean warmUp = i == 0;
            report.show(name + (warmUp ? "  warm-up" : "  " + i + "/" + samples));
            for (Side side : List.copyOf(sides)) if (!report.attempt(side.name, () -> {
                if (warmUp) warmUp(side.gauge, unit.equals("ms"));
                else side.samples.add(side.gauge.read());
            })) sides.remove(side);
            Collections.reverse(sides); // who goes second may find a warmer machine
        }
        report.add(new Row(current.name(), cell, unit, model,
            sides.contains(one) ? one.samples : List.of(),
            sides.contains(other) ? other.samples : List.of(), List.of(report.others())));
    }

    /** Until C2 has seen enough of short work, or for two samples' time; a count needs one. */
    private void warmUp(Gauge gauge, boolean time) throws Exception {
        long start = clock.getAsLong();
        double ms = gauge.read();
        long enough = 1_000_000L * (ms < 1 ? size(1_000, 240) : size(400, 40));
        while (time && ms > 0 && clock.getAsLong() - start < enough) ms = gauge.read();
    }

    /** The mean ms of the shots that fit, at least one. If some are slow, a median may jump. */
    double meanMs(Job job, double fitMs) throws Exception {
        long start = clock.getAsLong();
        for (int shots = 1; ; shots++) {
            job.call();
            double ms = (clock.getAsLong() - start) / 1e6;
            if (ms + ms / shots >= fitMs) return ms / shots;
        }
    }
}

/** Prints the table row by row, and then what failed. */
class Report {
    static final String LINE = "| %-12s | %-19s | %8s | %8s | %8s | %6s |\n";
    static final String RULE =
        "|--------------|---------------------|---------:|---------:|---------:|-------:|\n";
    final List<Row> rows = new CopyOnWriteArrayList<>();
    final Set<String> failed = new CopyOnWriteArraySet<>(); // each is reported once
    private final PrintStream out = System.out; // even if a call sets another one
    String heading = ""; // comes with the first row
    String place = ""; // such as experiment 2 of 5
    private int shown; // characters of progress
    boolean closed; // nobody reads standard output

    void begin(List<String> facts) {
        heading = "## VirtualThreadsLab\n\n" + items(facts)
            + "\nRatio: platform ÷ virtual; above 1×, virtual threads need less.\n\n"
            + LINE.formatted("Experiment", "Work", "Platform", "Virtual", "Ratio", "Model")
            + RULE;
    }

    List<String> facts(int samples) {
        return List.of(
            "Java " + Runtime.version() + ", " + System.getProperty("java.vm.vendor"),
            Text.of("%s %s, processors: %s, carriers: %s, heap: up to %s MB, samples: %s",
                System.getProperty("os.name"), System.getProperty("os.arch"), Lab.PROCESSORS,
                Lab.CARRIERS, Runtime.getRuntime().maxMemory() >> 20, samples));
    }

    void begins(String row, String unit, double model, String summary) { }
    double others() { return Double.NaN; } // their share since then
    Job watch(String what, int tasks, Job call) { return call; }

    /** Says on standard error what is being done, until a row comes. */
    void show(String what) {
        clear();
        long uptime = ManagementFactory.getRuntimeMXBean().getUptime() / 1_000;
        String text = "%.79s".formatted(uptime + " s  " + place + "  " + what);
        Text.print(System.err, text + "\r");
        shown = text.length();
    }

    void clear() { System.err.print("\r" + " ".repeat(shown) + "\r"); }

    void add(Row row) {
        clear();
        rows.add(row);
        put(line(row));
    }

    String line(Row row) {
        return LINE.formatted(row.experiment(), row.work(), cell(row, row.platform()),
            cell(row, row.virtual()), ratio(row), Text.ratio(row.model(), 2));
    }

    /** A median. Only ms are written; the names of rows say any other unit. */
    static String cell(Row row, double value) {
        if (!row.unit().equals("ms")) return Text.number(value, "");
        return value > 9_999 ? Text.number(value / 1_000, " s") : Text.number(value, " ms");
    }

    /** Two digits, as no two machines agree on a third; one, if it's doubtful. */
    String ratio(Row row) {
        return (doubtful(row) ? "~" : "") + Text.ratio(row.ratio(), doubtful(row) ? 1 : 2);
    }

    boolean doubtful(Row row) { return row.high() > 1.5 * row.low(); }

    /** Runs the job. If it fails, the report says why, and everything else goes on. */
    boolean attempt(String what, Job job) {
        try {
            job.call();
            return true;
        } catch (Exception | Error e) {
            failed.add(what + ": " + reason(e) + ".");
            return false;
        }
    }

    String reason(Throwable error) { return Text.reason(error); }

    void end() {
        put("\n" + items(failed) + item("~: don't quote it: of its ratios, the"
            + " highest is over 1.5 times the lowest. Model: plain arithmetic."));
    }

    String item(String text) { return "- " + text.replaceAll("\\R", " ") + "\n"; }

    String items(Collection<String> texts) {
        return texts.stream().map(this::item).collect(Collectors.joining());
    }

    /** Prints and flushes. If nobody can read on, says so once. */
    void put(String text) {
        if (closed) return;
        Text.print(out, heading + text);
        heading = "";
        closed = out.checkError();
        if (closed) System.err.println("VirtualThreadsLab: standard output cannot be written");
    }
}

/** How numbers and errors are written. */
class Text {
    /** Prints; where the console's charset lacks a sign, in ASCII. */
    static void print(PrintStream console, String text) {
        boolean all = console.charset().newEncoder().canEncode("×÷µ—–█│");
        console.print(all ? text : text.replace('×', 'x').replace('÷', '/').replace('µ', 'u')
            .replace('—', '-').replace('–', '-').replace('█', '#').replace('│', '|'));
    }

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

    /** So many digits, and all of a whole one below ten: 450×, 45×, 1.0×, 1×, 0.10×. */
    static String ratio(double value, int digits) {
        if (!(value >= 0.001) || value % 1 == 0 && value < 10) return number(value, "×");
        double last = Math.pow(10, Math.ceil(Math.log10(value)) - digits); // digit's worth
        return last < 1 ? String.format(Locale.ROOT, "%." + digits + "g×", value)
            : number(Math.rint(value / last) * last, "×");
    }

    /** Describes an error and its causes in one line. */
    static String reason(Throwable error) {
        return switch (error) { // A javac before 21 stops here, and quotes the next line:
            case CancellationException x -> "not done in two minutes"; // needs Java 21 or newer
            case null -> "no reason is known";
            case ExecutionException x -> reason(x.getCause());
            case AssertionError x -> x.getMessage() == null ? "" + x : x.getMessage();
            default -> error
                + " at " + own(Stream.of(error.getStackTrace()).map(Object::toString))
                + (error.getCause() == null ? "" : ", caused by " + reason(error.getCause()));
        };
    }

    /** The first frame outside the JDK and the lab, such as `Mine.load:19`. */
    static String own(Stream<String> frames) {
        String theirs = "(java|javax|jdk|sun|com\\.sun)\\..*|(.*\\.)?(Lab|Heartbeat)[.$].*";
        return frames.filter(frame -> !frame.matches(theirs)).map(frame -> "`" + frame
            .replaceAll("[./+]0x\\w+", "").replaceAll("\\(.*?(:\\d+)?\\)", "$1") + "`")
            .findFirst().orElse("the JDK");
    }
}

// ----- Cut here: this line and all below it may go. What is left is a whole lab of the five:
//     sed '/^\/\/ ----- Cut/,$d; s/CommandLine.run/Lab.run/' VirtualThreadsLab.java

/** The words of a command: what runs, how often, and who tells of it. */
class CommandLine {
    private static final String HELP = """
        java VirtualThreadsLab.java [option ...] [name ...]
          --quick     smaller sizes: seconds, not a minute, but noisier
          --runs N    N samples of each side, 1 to 100, instead of 5
          --starts N  N fresh JVMs, 1 to 100; each gives one sample, its median
          --java P    run on the JDK in folder P; repeat it to compare JDKs side by side
          --samples   print every sample, too
          --predict   ask for your ratio before each row, and compare at the end
        Exit code 0: every row was measured; 1: one was not; 2: not understood.
        Without a name, the first %s of these run; with "all", every one:
        """;
    private final Set<Experiment> plan = new LinkedHashSet<>();
    private final List<String> javas = new ArrayList<>();
    private int samples = 5;
    private int starts = 1;

    /** Runs what the words ask for; the encores belong to the five. Returns the exit code. */
    static int run(List<Experiment> list, String... words) {
        return run(list, System::nanoTime, otherLoad(), words);
    }

    static int run(List<Experiment> list, LongSupplier clock, DoubleSupplier load,
            String... args) {
        List<String> words = List.of(args);
        List<Experiment> all = new ArrayList<>(list);
        if (list == VirtualThreadsLab.FIVE) all.addAll(Encores.LIST);
        if (words.contains("--help") || words.contains("-h")) {
            var report = new Report();
            report.put(HELP.formatted(list.size()) + all.stream().map(one -> "  %-12s  %s\n"
                .formatted(one.name(), one.summary())).collect(Collectors.joining()));
            return report.closed ? 1 : 0;
        }
        try {
            var line = new CommandLine();
            for (var rest = words.iterator(); rest.hasNext(); ) line.read(rest, all);
            if (line.plan.isEmpty()) line.plan.addAll(list);
            return line.run(clock, load, words);
        } catch (IllegalArgumentException e) {
            System.err.println("VirtualThreadsLab: " + e.getMessage().replaceAll("\\R", " "));
            return 2;
        }
    }

    /** Reads a word, and if it's an option, its value. */
    private void read(Iterator<String> words, List<Experiment> all) {
        String word = words.next();
        switch (word) {
            case "--samples", "--predict", "--quick" -> { }
            case "--java" -> {
                String home = value(word, words, ".+", "the folder of a JDK");
                require(release(home, "JAVA_VERSION").matches("(2[1-9]|[3-9]\\d)(\\..*)?"),
                    "--java " + home + " isn't the folder of a JDK of 21 or newer");
                javas.add(home);
            }
            case "--starts" -> starts = number(word, words);
            case "--runs" -> samples = number(word, words);
            default -> {
                Predicate<Experiment> named = one -> Set.of("all", one.name()).contains(word);
                require(all.stream().anyMatch(named), "not understood: '" + word
                    + "', try --help");
                all.stream().filter(named).forEach(plan::add);
            }
        }
    }

    private static int number(String option, Iterator<String> words) {
        return Integer.parseInt(
            value(option, words, "[1-9]\\d?|100", "a number from 1 to 100"));
    }

    private static String value(String option, Iterator<String> words, String form,
            String meaning) {
        String value = words.hasNext() ? words.next() : "";
        require(value.matches(form), option + " takes " + meaning);
        return value;
    }

    private static void require(boolean fine, String otherwise) {
        if (!fine) throw new IllegalArgumentException(otherwise);
    }

    /** The value of a key in the release file of the JDK in that folder, or "unknown". */
    static String release(String home, String key) {
        return lines(home + "/release").filter(line -> line.startsWith(key + "="))
            .map(line -> line.substring(key.length() + 1).replace("\"", ""))
            .findFirst().orElse("unknown");
    }

    /** The lines of a file; none if it can't be read. */
    private static Stream<String> lines(String file) {
        try (var text = new Scanner(new File(file)).useDelimiter("\\R")) {
            return text.tokens().toList().stream();
        } catch (IOException e) {
            return Stream.of();
        }
    }

    /** Gives the share of the processors that others had since the last time. */
    private static DoubleSupplier otherLoad() {
        var os = ManagementFactory.getPlatformMXBean(
            com.sun.management.OperatingSystemMXBean.class); // in a container, sees only that
        double[] last = {0, 0}; // ticks of all processors, and of idle ones and this JVM
        return () -> { // on Linux, the first line of this is: cpu user nice system idle ...
            var ticks = lines("/proc/stat").limit(1).flatMap(cpu -> Stream.of(cpu.split(" +")))
                .skip(1).limit(8).map(Double::valueOf).toList();
            if (ticks.isEmpty()) return Math.max(0, os.getCpuLoad() - os.getProcessCpuLoad());
            double all = ticks.stream().reduce(-last[0], Double::sum); // since then
            double free = ticks.get(3) + ticks.get(4) + os.getProcessCpuTime() / 1e7 - last[1];
            last[0] += all;
            last[1] += free;
            return all < 30 ? 0 : Math.clamp(1 - free / all, 0.0, 1.0);
        };
    }

    private int run(LongSupplier clock, DoubleSupplier load, List<String> words) {
        boolean child = Long.getLong(Child.PROPERTY) != null; // its words are its parent's
        boolean fresh = !child && (words.contains("--starts") || !javas.isEmpty());
        require(Lab.CARRIERS > 0, "there is no carrier");
        require(!fresh || !words.contains("--predict"),
            "--predict can't go with --starts or --java");
        if (fresh && javas.isEmpty()) javas.add(System.getProperty("java.home"));
        if (fresh) return new Starts(starts, javas.stream().map(home ->
            Starts.Jdk.of(home, starts, samples, words)).toList()).run();
        var report = child ? new Child(load) : new FullReport(load, words);
        Runtime.getRuntime().addShutdownHook(new Thread(report::interrupted));
        boolean quick = words.contains("--quick");
        int code = Lab.run(List.copyOf(plan), report, clock, quick, samples);
        require(report.refused.isEmpty(), report.refused);
        return code;
    }
}

/** Also asks for predictions, says what a call holds, and ends with a chart. */
class FullReport extends Report {
    private final DoubleSupplier load;
    final List<String> words;
    private final Scanner keyboard = new Scanner(System.in);
    private final Map<String, Double> guesses = new HashMap<>(); // by the name of a row
    final List<String> said = new CopyOnWriteArrayList<>(); // of calls
    private Call call; // of the row that's being measured
    boolean ended;
    String refused = ""; // why the rest can't run

    FullReport(DoubleSupplier load, List<String> words) {
        this.load = load;
        this.words = words;
    }

    @Override List<String> facts(int samples) {
        String command = "java " + String.join(" ", ManagementFactory.getRuntimeMXBean()
            .getInputArguments()) + " " + System.getProperty("sun.java.command");
        String plain = command.replaceAll("--add-modules=ALL-DEFAULT|jdk\\.compiler/\\S+", "");
        String date = java.time.LocalDate.now() + ", `" + plain.replaceAll(" +", " ") + "`";
        return Stream.concat(super.facts(samples).stream(), Stream.of(date)).toList();
    }

    @Override void begins(String row, String unit, double model, String summary) {
        if (model <= 0) refused = "model not above 0: " + row;
        closed |= model <= 0;
        if (closed) throw new IllegalStateException("nobody reads on");
        if (words.contains("--predict") && !unit.equals(Row.COUNT)) ask(row, summary);
        load.getAsDouble(); // the next one counts from here
    }

    /** Asks for the ratio that the reader expects of the row. */
    private void ask(String row, String summary) {
        clear();
        Text.print(System.err, item(row + " (" + summary
            + "): which ratio do you expect, such as 30 or 1/3 (Enter skips)?"));
        String typed = keyboard.hasNextLine() ? keyboard.nextLine() : "";
        double guess = understood(typed);
        if (guess > 0) guesses.put(row, guess);
        else if (!typed.isBlank()) System.err.print("Not understood, row skipped.\n");
    }

    /** The ratio in 30, 30×, 10 times, 0.5, 1/3 or 1:3; NaN if there's none. */
    static double understood(String typed) {
        String plain = typed.replaceAll("(?i)x|times|[^\\w.,/:%-]", ""); // a × may be garbled
        if (!plain.matches("(\\d*\\.?\\d+)([/:]\\d*\\.?\\d+)?")) return Double.NaN;
        String[] parts = (plain + "/1").split("[/:]");
        return Double.parseDouble(parts[0]) / Double.parseDouble(parts[1]);
    }

    @Override double others() { return load.getAsDouble(); }

    @Override Job watch(String what, int tasks, Job job) {
        show(what + ", the first call");
        call = new Call(what, tasks, job);
        attempt(what + ", the first call", () -> call.first = Heartbeat.of(job, 1));
        return call::make;
    }

    @Override String reason(Throwable error) {
        return call == null ? super.reason(error) : call.reason(error);
    }

    @Override void add(Row row) {
        synchronized (this) {
            if (!ended) super.add(row);
        }
        if (call != null) call.end(row, this);
        call = null;
    }

    @Override boolean doubtful(Row row) {
        return super.doubtful(row)
            || row.ratio() > 0 && row.unit().equals("ms") && Row.median(row.others()) > 0.1;
    }

    @Override void end() { finish(""); }
    void interrupted() { finish("\n**Partial:** interrupted in " + place + ".\n"); }

    /** Prints what comes after the rows, once. */
    synchronized void finish(String partial) {
        if (ended) return;
        ended = true;
        clear();
        if (!closed) put(ending(partial));
    }

    String ending(String partial) {
        String listed = words.contains("--samples") ? each(this::samples) : "";
        String bars = each(this::bar);
        return partial + section("", items(failed))
            + section("### Your predictions, the furthest first\n\n", predictions())
            + section("### How long a call holds its carrier, measured alone\n\n", items(said))
            + section("### Samples\n\n", listed)
            + section("### At a glance\n\n```text\n" + " ".repeat(29)
                + "platform better │ virtual better; █: a factor of 2\n", bars)
            + (bars.isEmpty() ? "" : "```\n") + section("", rows.isEmpty() ? "" : legend());
    }

    private static String section(String title, String text) {
        return text.isEmpty() ? "" : "\n" + title + text;
    }

    private String each(Function<Row, String> text) {
        return rows.stream().map(text).collect(Collectors.joining());
    }

    /** Says how to read what stands above, and what else the processors did. */
    private String legend() {
        double most = rows.stream().flatMap(row -> row.others().stream())
            .filter(share -> share >= 0).max(Double::compare).orElse(Double.NaN);
        return item("~: don't quote it: the range is over 1.5-fold, or the machine was busy.")
            + item("Model: plain arithmetic. In brackets: the lowest and the highest ratio.")
            + item(Text.of("Other programs and a hypervisor used up to %s %% of the"
                + " processors" + (most > 0.1 ? ": run it again on a quiet machine." : "."),
                Math.rint(100 * most)));
    }

    private String predictions() {
        return rows.stream().filter(row -> missed(row) > 0)
            .sorted(Comparator.comparing(this::missed).reversed())
            .map(row -> item(row.name() + ": you said " + Text.ratio(guesses.get(row.name()), 2)
                + ", it's " + ratio(row) + ": off by " + Text.ratio(missed(row), 2)))
            .collect(Collectors.joining());
    }

    /** By which factor the guess was off; NaN if there was none. */
    private double missed(Row row) {
        double off = guesses.getOrDefault(row.name(), Double.NaN) / row.ratio();
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
        double twos = Math.log(row.ratio()) / Math.log(2);
        String bar = (doubtful(row) ? "~" : "█").repeat((int) Math.round(Math.abs(twos)));
        return "%-12s %-19s %12s│%s %s\n".formatted(row.experiment(), row.work(),
            twos < 0 ? bar : "", twos < 0 ? "" : bar, withRange(row));
    }

    String withRange(Row row) {
        String range = Text.ratio(row.low(), 2) + "–" + Text.ratio(row.high(), 2);
        boolean same = range.matches("(.*)–\\1");
        return ratio(row) + (same ? "" : " (" + range.replace("×", "") + ")");
    }

    /** The ratios of all rows with their ranges, with a column for each report. */
    static String sideBySide(List<String> titles, List<FullReport> reports) {
        BiFunction<String, Stream<String>, String> line = (name, cells) -> cells
            .map("%21s |"::formatted).collect(Collectors.joining("", name, "\n"));
        var names = reports.stream().flatMap(report -> report.rows.stream().map(Row::name));
        return "\n### Side by side\n\n"
            + line.apply("| Experiment and work            |", titles.stream())
            + "|" + "-".repeat(32) + "|" + ("-".repeat(21) + ":|").repeat(titles.size()) + "\n"
            + names.distinct().map(name -> line.apply("| %-30s |".formatted(name),
                reports.stream().map(one -> one.ratio(name)))).collect(Collectors.joining());
    }

    private String ratio(String name) {
        return rows.stream().filter(row -> row.name().equals(name)).map(this::withRange)
            .findFirst().orElse("—");
    }

    /** A list item in lines of up to 80 characters, broken at spaces. */
    @Override String item(String text) {
        String line = "(.{1,78})( |$)"; // two spaces come before each but the first
        return super.item(text).strip().replaceAll(line, "$1\n  ").stripTrailing() + "\n";
    }
}

/** A call that all tasks of a row make at once, and what is found out about it. */
class Call {
    private final String what;
    private final int tasks;
    private final Job job;
    private final Set<Thread> callers = ConcurrentHashMap.newKeySet(); // in the call just now
    private final Thread measures = Thread.currentThread();
    private final Thread looks = Thread.ofPlatform().daemon().start(this::look);
    private volatile String verdict = "";
    private volatile long ended = System.nanoTime(); // a call
    Heartbeat first; // of a cold call: it may load classes, connect, or fill a pool

    Call(String what, int tasks, Job job) {
        this.what = what;
        this.tasks = tasks;
        this.job = job;
    }

    void make() throws Exception {
        callers.add(Thread.currentThread());
        try {
            job.call();
        } finally {
            callers.remove(Thread.currentThread());
            ended = System.nanoTime();
        }
    }

    /** If no virtual thread runs for ten seconds, says where callers are, and ends the side. */
    private void look() {
        try {
            do Thread.sleep(1_000);
            while (Thread.startVirtualThread(() -> { }).join(java.time.Duration.ofSeconds(10))
                || System.nanoTime() - ended < 10_000_000_000L);
            verdict = "no virtual thread has run for 10 s" + where();
            measures.interrupt();
            ForkJoinPool scheduler = Carriers.scheduler();
            scheduler.setParallelism(Lab.CARRIERS + tasks); // for those that only lack one
            scheduler.awaitQuiescence(1, TimeUnit.SECONDS); // it runs one, which wakes carriers
        } catch (InterruptedException e) { // the row has ended
        }
    }

    private String where() {
        List<String> places = callers.stream().map(Carriers::place).toList();
        String most = Carriers.most(places);
        return most.isEmpty() ? "" : ": " + Collections.frequency(places, most) + " of "
            + tasks + " callers at " + most;
    }

    String reason(Throwable error) {
        if (error instanceof InterruptedException && !verdict.isEmpty()) return verdict;
        boolean late = error instanceof CancellationException && !callers.isEmpty();
        return Text.reason(error) + (late ? where() : "");
    }

    /** After its row, the call is made alone, to say what it does to its carrier. */
    void end(Row row, FullReport report) {
        looks.interrupt();
        ForkJoinPool scheduler = Carriers.scheduler();
        if (!verdict.isEmpty()) // the dead keep their carriers
            scheduler.setParallelism(Lab.CARRIERS + scheduler.getActiveThreadCount());
        if (row.virtual() > 0) report.attempt(what + ", alone", () -> {
            int added = scheduler.getPoolSize() - Lab.CARRIERS;
            report.said.add(what + ": " + facts(first, Heartbeat.of(job, 1_000), added) + ".");
        });
    }

    static String facts(Heartbeat first, Heartbeat one, int added) {
        double call = one.call();
        if (call >= 1 && Double.isNaN(one.held())) return "its carrier couldn't be looked at";
        double held = one.held() > 0 ? one.held() : 0; // a short call may be over before a look
        String facts = Text.of("a call of %s ms held its carrier for %s", call,
            held >= 1 ? Text.number(held, " ms") : "under 1 ms");
        if (held >= 1 && one.computed() > 0.08 * call)
            facts += Text.of(", computing for %s ms", one.computed());
        boolean other = one.place().startsWith("or another ");
        if (held >= Math.max(1, 0.1 * call) && (other || one.computed() < held / 2))
            facts += one.place().isEmpty() ? "" : ", " + one.place();
        if (held >= 1 && one.compensated() && added > 0)
            facts += ", and the JVM added " + added + " carriers";
        double cold = first == null ? 0 : first.held();
        if (cold > 20 + 2 * held && cold > first.call() / 4)
            facts += Text.of("; the first call held it for %s of %s ms", cold, first.call());
        return facts;
    }
}

/**
 * How long does a call hold its carrier? The trick: let one virtual thread call, and look at it
 * several times a millisecond. If it's mounted, or waits while another is active, the call has
 * held a carrier since the last look. Times are in ms: medians; what calls compute is a mean.
 */
record Heartbeat(double call, double held, double computed, boolean compensated, String place) {
    /** Makes one call after another for 200 ms, at most so many. */
    static Heartbeat of(Job job, int most) throws Exception {
        Thread.startVirtualThread(() -> { }).join(); // now there is a carrier
        List<Double> took = new ArrayList<>();
        List<Double> held = new ArrayList<>(); // of calls that were looked at
        List<String> places = new ArrayList<>(); // of callers then
        ForkJoinPool scheduler = Carriers.scheduler();
        boolean carriers = scheduler != ForkJoinPool.commonPool(); // not on every JVM
        int idle = Integer.MAX_VALUE; // that many carriers are active anyway
        for (int i = 0; i < 10; i++) {
            Thread.sleep(5); // one may still be looking for work
            idle = Math.min(idle, scheduler.getActiveThreadCount());
        }
        int compensated = 0; // above 0 if mounted ones mostly don't count as active
        double computed = -Carriers.computedMs();
        long start = System.nanoTime();
        do {
            var call = new FutureTask<>(() -> {
                long from = System.nanoTime();
                job.call();
                return (System.nanoTime() - from) / 1e6;
            });
            Thread caller = Thread.startVirtualThread(call);
            long began = System.nanoTime();
            long last = began; // look
            boolean before = false; // did it hold one at the last look?
            double carried = 0; // ns
            while (!call.isDone()) {
                if (System.nanoTime() - start > 10_000_000_000L && call.cancel(true))
                    throw new AssertionError("a call takes over 10 s");
                LockSupport.parkNanos(200_000);
                long now = System.nanoTime();
                boolean mounted = caller.toString().matches("(?s).*]/.*@.*"); // its carrier
                boolean active = scheduler.getActiveThreadCount() > idle;
                boolean holds = mounted || active && caller.getState() != Thread.State.RUNNABLE;
                if (call.isDone()) break;
                // If nobody looked for long, it may have come back just now.
                if (holds) carried += before ? now - last : Math.min(now - last, 1e6);
                before = holds;
                if (mounted) compensated += active ? -1 : 1;
                if (holds && carried > 1e6 * places.size()) // a stack costs the caller time
                    places.add(Carriers.held(caller, mounted));
                last = now;
            }
            took.add(call.get());
            if (last > began && carriers) held.add(took.getLast() * carried / (last - began));
        } while (took.size() < most && System.nanoTime() - start < 200_000_000);
        computed = (computed + Carriers.computedMs()) / took.size(); // by other threads, too
        double ms = Math.min(Row.median(took), Row.median(held));
        return new Heartbeat(Row.median(took), ms, Math.min(computed, ms), compensated > 0,
            Carriers.most(places));
    }
}

/** Who carries virtual threads, and where these are. */
class Carriers {
    /** Carriers are of a class that the JDK doesn't export; but their pool is public. */
    static Stream<ForkJoinWorkerThread> all() {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getClass().getSimpleName().equals("CarrierThread"))
            .map(ForkJoinWorkerThread.class::cast);
    }

    /** The carriers' pool; if there are no carriers, any pool will do. */
    static ForkJoinPool scheduler() {
        return all().map(ForkJoinWorkerThread::getPool).findFirst()
            .orElseGet(ForkJoinPool::commonPool);
    }

    static double computedMs() {
        return all().mapToLong(carrier -> ManagementFactory.getThreadMXBean()
            .getThreadCpuTime(carrier.threadId())).sum() / 1e6;
    }

    static String place(Thread thread) {
        return Text.own(Stream.of(thread.getStackTrace()).map(Object::toString));
    }

    /** Where this one holds its carrier, or waits while another one does. */
    static String held(Thread one, boolean mounted) {
        if (!mounted) return "or another virtual thread did, while it waited at " + place(one);
        boolean waits = one.getState() != Thread.State.RUNNABLE; // then it's pinned
        return (waits ? "pinned at " : "at ") + place(one) + (waits && Lab.JDK >= 24
            ? " (in a class initializer, a class loader or native code)" : ""); // JEP 491
    }

    /** The most frequent place in somebody's own code; "" if there's none. */
    static String most(List<String> places) {
        return places.stream().filter(place -> place.contains("`")).max(
            Comparator.comparing(place -> Collections.frequency(places, place))).orElse("");
    }
}

/**
 * Starts the lab in fresh JVMs, one after another; several JDKs take turns. Two starts can
 * differ by more than the samples of one, so here a start gives one sample: its median.
 */
record Starts(int starts, List<Jdk> jdks) {
    /** A JDK, and by the name of each row, what its starts said of it. */
    record Jdk(String home, String name, FullReport report, Map<String, List<String[]>> said) {
        static Jdk of(String home, int starts, int samples, List<String> words) {
            String version = CommandLine.release(home, "JAVA_VERSION");
            String vendor = CommandLine.release(home, "IMPLEMENTOR");
            var report = new FullReport(() -> Double.NaN, words); // nothing is measured here
            List<String> facts = report.facts(samples);
            report.begin(List.of("Java " + version + ", " + vendor, facts.get(1),
                "starts: " + starts + ", " + facts.getLast()));
            return new Jdk(home, "JDK " + version, report, new LinkedHashMap<>());
        }
    }

    int run() {
        FullReport first = jdks.getFirst().report();
        Runtime.getRuntime().addShutdownHook(new Thread(() ->
            print("\n**Partial:** interrupted in " + first.place + ".\n")));
        first.put(""); // its heading: does anybody read it?
        for (int i = 1; i <= starts; i++) for (Jdk jdk : jdks) {
            first.place = "start " + i + " of " + starts + ", " + jdk.name();
            if (!first.closed) jdk.report().attempt(first.place, () -> start(jdk, first.place));
        }
        print("");
        boolean fine = jdks.stream().allMatch(jdk -> jdk.report().failed.isEmpty());
        return fine && !first.closed ? 0 : 1;
    }

    private void start(Jdk jdk, String name) throws Exception {
        System.err.println(name);
        var builder = new ProcessBuilder(Child.command(jdk.home(), jdk.report().words));
        List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS").forEach(builder.environment()::remove);
        Process child = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        boolean ended = child.inputReader(java.nio.charset.StandardCharsets.UTF_8).lines()
            .peek(line -> keep(jdk, line.split("\t", -1))).toList().contains("lab:end");
        int exit = child.waitFor();
        if (Set.of(129, 130, 143).contains(exit)) System.exit(exit); // as by Ctrl-C
        if (exit != 0 || !ended) throw new AssertionError("exit code " + exit
            + "; see standard error");
    }

    private synchronized void keep(Jdk jdk, String[] said) {
        switch (said[0]) { // other lines are what calls print
            case "lab:row" -> jdk.said().computeIfAbsent(said[1] + " " + said[2],
                row -> new ArrayList<>()).add(said);
            case "lab:end" -> jdk.report().said.clear(); // by the previous start
            case "lab:said" -> jdk.report().said.add("last start, " + said[1]);
        }
    }

    private synchronized void print(String partial) {
        FullReport first = jdks.getFirst().report();
        if (first.ended) return;
        for (Jdk jdk : jdks) {
            if (jdk.report() != first) first.put("\n");
            jdk.said().values().forEach(starts -> jdk.report().add(Child.row(starts)));
            jdk.report().finish(partial);
        }
        if (jdks.size() > 1) first.put(FullReport.sideBySide(
            jdks.stream().map(Jdk::name).toList(), jdks.stream().map(Jdk::report).toList()));
    }
}

/** A start. Its parent reads the lines of its standard output; tabs separate their parts. */
class Child extends FullReport {
    static final String PROPERTY = "lab.parent"; // the process that a start ends with

    Child(DoubleSupplier load) {
        super(load, List.of());
        ProcessHandle.of(Long.getLong(PROPERTY)).ifPresentOrElse(parent ->
            parent.onExit().thenRun(() -> System.exit(1)), () -> System.exit(1));
    }

    /** The command of this JVM, with all its options, for the JDK in that folder. */
    static List<String> command(String home, List<String> words) {
        List<String> command = new ArrayList<>(List.of(home + "/bin/java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.removeIf(option -> // its port is in use
            option.matches("-agentlib:jdwp.*|-Dcom\\.sun\\.management\\.jmxremote.*"));
        StackTraceElement[] stack = Thread.currentThread().getStackTrace();
        String main = stack[stack.length - 1].getClassName();
        command.addAll(List.of("-Dstdout.encoding=UTF-8",
            "-D" + PROPERTY + "=" + ProcessHandle.current().pid(),
            "--class-path=" + System.getProperty("java.class.path"),
            System.getProperty("jdk.launcher.sourcefile", main)));
        command.addAll(words);
        return command;
    }

    @Override String line(Row row) {
        Text.print(System.err, super.line(row));
        return Stream.of("\nlab:row", row.experiment(), row.work(), row.unit(), row.model(),
            row.platform(), row.virtual(), row.others().getFirst() + "\n")
            .map(Object::toString).collect(Collectors.joining("\t"));
    }

    /** A row, with a sample of each start. */
    static Row row(List<String[]> starts) {
        IntFunction<List<Double>> samples = part ->
            starts.stream().map(said -> Double.valueOf(said[part])).toList();
        String[] said = starts.getFirst();
        return new Row(said[1], said[2], said[3], Double.parseDouble(said[4]),
            samples.apply(5), samples.apply(6), samples.apply(7));
    }

    @Override String ending(String partial) {
        Text.print(System.err, items(failed) + items(said));
        if (!partial.isEmpty()) return "";
        return said.stream().map(what -> "lab:said\t" + what.replaceAll("\\s+", " ") + "\n")
            .collect(Collectors.joining("", "\nlab:end\n", ""));
    }
}

/** More experiments, and what only they use. */
class Encores {
    static final List<Experiment> LIST = List.of(
        new Experiment("println", "one thread prints lines to a file", Encores::println),
        new Experiment("http", "calls come at a fixed rate, pool or not", Encores::http),
        new Experiment("mixed", "tasks compute, then call a server", Encores::mixed),
        new Experiment("capacity", "20 at once: pool, or semaphore", Encores::capacity),
        new Experiment("thread-local", "objects in a cache, pool or not", Encores::threadLocal),
        new Experiment("million", "park a million virtual threads", Encores::million),
        new Experiment("time-sharing", "short task behind long ones", Encores::timeSharing));

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
            int bytes = "line 100000".length() + System.lineSeparator().length();
            Lab.check("bytes in the file", lines * bytes, file.length());
        };
        lab.time(Text.of("%s lines", lines), Lab.JDK < 23 ? Lab.UNKNOWN : 1,
            () -> Lab.runAll(newThreadPerTaskExecutor(Thread::new), 1, print),
            () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), 1, print));
    }

    /**
     * http. What does a service gain from one virtual thread per call, if its handler waits?
     * Fair: the same calls, due at the same times, whether or not others are answered yet; only
     * the executors differ. Latency counts from the moment when a call is due.
     * Prediction: a pool of 20 answers 400 calls of 50 ms a second. At 320, none waits for a
     * thread: 1×. At 600, the queue grows by half a second each second: after one, in the
     * middle, a call takes 500 + 50 ms against 50: 11×. Real calls come in bunches, and wait.
     * Try: int pool = 40; How much of the gain is left?
     */
    static void http(Lab lab) throws Exception {
        int pool = 20;
        int waitMs = 50;
        int lastMs = lab.size(2_000, 500);
        try (var pooled = new Server(newFixedThreadPool(pool), waitMs);
                var virtual = new Server(newVirtualThreadPerTaskExecutor(), waitMs)) {
            for (int rate : new int[] {320, 600}) { // calls a second
                double over = Math.max(0, rate * waitMs / 1_000.0 / pool - 1);
                lab.measure(rate + " calls a second", "ms", 1 + over * lastMs / 2 / waitMs,
                    () -> pooled.latency(() -> pooled.callAt(rate, lastMs)),
                    () -> virtual.latency(() -> virtual.callAt(rate, lastMs)));
            }
        }
    }

    /**
     * mixed. Tasks compute, then call a server. How long do all take? And the call of one?
     * Fair: the same tasks, client and server, and a thread per task that makes its own call.
     * Prediction: 1× for all. But a call seems to take longer: its virtual thread isn't resumed
     * until a carrier is free, and nothing interrupts what computes there. Of n tasks for each
     * carrier, the one in the middle has (n - 1) ÷ 2 behind it. From JDK 26 on, it may be
     * resumed sooner, as carriers change queues.
     * Try: int index = 30; int number = 832_040; How long is a call if tasks compute less?
     */
    static void mixed(Lab lab) throws Exception {
        int tasks = 10 * Lab.PROCESSORS;
        int index = lab.size(37, 34);
        int number = lab.size(24_157_817, 5_702_887);
        try (var server = new Server(newFixedThreadPool(tasks), lab.size(120, 60))) {
            Job task = () -> {
                Lab.check("as a Fibonacci number", number, fibonacci(index));
                server.call(System.nanoTime());
            };
            Job platform = () -> Lab.runAll(newThreadPerTaskExecutor(Thread::new), tasks, task);
            Job virtual = () -> Lab.runAll(newVirtualThreadPerTaskExecutor(), tasks, task);
            lab.time(tasks + " tasks", Lab.CARRIERS < Lab.PROCESSORS ? Lab.UNKNOWN : 1,
                platform, virtual);
            lab.measure("median call", "ms", Lab.UNKNOWN,
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
        lab.time(Text.of("%s × 10 ms by %s", tasks, limit), 1,
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
            () -> objectsMade(newFixedThreadPool(pool), tasks),
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
     * Prediction: under a kilobyte: a thread, a short stack and an entry in the JDK's list.
     * Try: park in a method that calls itself ten times. What does a deeper stack weigh?
     */
    static void million(Lab lab) throws Exception {
        int n = lab.size(1_000_000, 200_000);
        lab.measure("bytes of each", Row.COUNT, Lab.UNKNOWN, () -> Lab.UNKNOWN, () -> {
            double before = heapUsed();
            return park(n, () -> (heapUsed() - before) / n);
        });
    }

    static double heapUsed() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Starts n virtual threads that park, asks once all have got there, and lets them go. */
    static double park(int n, Gauge question) throws Exception {
        long most = Runtime.getRuntime().maxMemory() >> 20;
        long needed = n * 2_000L >> 20; // MB: more than twice their weight
        if (needed > most) throw new IllegalStateException(Text.of(
            "needs about %s MB of heap, where the limit is %s MB", needed, most));
        var come = new CountDownLatch(n);
        var open = new AtomicBoolean();
        var threads = new Thread[n];
        try {
            for (int i = 0; i < n; i++) threads[i] = Thread.startVirtualThread(() -> {
                come.countDown();
                while (!open.get()) LockSupport.park();
            });
            come.await();
            return question.read();
        } finally {
            open.set(true);
            for (Thread thread : threads) LockSupport.unpark(thread);
            for (Thread thread : threads) if (thread != null) thread.join();
        }
    }

    /**
     * time-sharing. All processors compute. How long until a short task, started now, runs?
     * Fair: the same tasks, one thread per task, and as many long ones as can run at once.
     * Prediction: the operating system gives a platform thread its slice within milliseconds. A
     * virtual one waits until a long task ends: its scheduler has no time sharing (JEP 444).
     * Try: in fibonacci, if (n == 20) Thread.yield(); On which JDK is the short task sooner?
     */
    static void timeSharing(Lab lab) throws Exception {
        lab.measure("ms until it runs", Row.COUNT, Lab.UNKNOWN,
            () -> delay(newThreadPerTaskExecutor(Thread::new), Lab.PROCESSORS),
            () -> delay(newVirtualThreadPerTaskExecutor(), Lab.CARRIERS));
    }

    /** Returns the milliseconds until the short task runs. */
    static double delay(ExecutorService executor, int busy) throws Exception {
        var begun = new CountDownLatch(busy);
        Runnable task = () -> {
            begun.countDown();
            Lab.check("as a Fibonacci number", 39_088_169, fibonacci(38));
        };
        try (executor) {
            var computing = Stream.generate(() -> executor.submit(task)).limit(busy).toList();
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
        private volatile long start; // of the job whose calls are timed
        final Queue<Double> latencies = new ConcurrentLinkedQueue<>();

        Server(ExecutorService executor, int waitMs) throws Exception {
            var local = new java.net.InetSocketAddress("127.0.0.1", 0);
            server = com.sun.net.httpserver.HttpServer.create(local, 1_000, "/", exchange -> {
                try (exchange) {
                    Thread.sleep(waitMs);
                    exchange.sendResponseHeaders(200, -1);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            server.setExecutor(executor);
            server.start();
            address = java.net.URI.create("http:/" + server.getAddress()).toURL();
        }

        /** Blocks its thread and needs no other. Its latency counts from this time, in ns. */
        void call(long from) throws IOException {
            var connection = (java.net.HttpURLConnection)
                address.openConnection(java.net.Proxy.NO_PROXY);
            connection.setReadTimeout(20_000); // ms
            Lab.check("as HTTP status", 200, connection.getResponseCode());
            latencies.add((System.nanoTime() - from) / 1e6);
        }

        /** Calls at a fixed rate, as independent clients do. */
        void callAt(int perSecond, int lastMs) throws Exception {
            var next = new AtomicInteger();
            Lab.runAll(newVirtualThreadPerTaskExecutor(), perSecond * lastMs / 1_000, () -> {
                long due = start + next.getAndIncrement() * 1_000_000_000L / perSecond;
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                call(due);
            });
        }

        /** Returns the median latency, in ms, of the calls that the job makes. */
        double latency(Job job) throws Exception {
            latencies.clear();
            start = System.nanoTime();
            job.call();
            return Row.median(latencies);
        }

        public void close() {
            server.stop(0);
            ((ExecutorService) server.getExecutor()).shutdownNow();
        }
    }
}
