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
 * with --quick; time, measure and waiting add a row, say adds a sentence. Run the lab again
 * before you quote a number: two starts of a JVM can differ by more than the samples of one.
 */
class VirtualThreadsLab extends Lab { // for the names of Lab, which can't be imported
    static { report = new FullReport(); } // eight more experiments; goes with the cut

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
     * Fair: both sides run the same loop; only the builder differs. At most 1,000 threads are
     * pending at a time, or some systems would run out of threads. All have run at the end.
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
     * Prediction: 200 threads need 50 waves of 100 ms for 10,000 tasks. Virtual threads need
     * one, as all wait at once: 50×. Starting and waking threads adds to both sides.
     * Try: int pool = 1_000; How much of the ratio is left, and how many tasks wait at once?
     */
    static void sleepWave() throws Exception {
        int tasks = size(10_000, 1_000);
        int waitMs = size(100, 50);
        int pool = 200;
        double predicted = Math.ceilDiv(tasks, pool);
        Job wait = () -> Thread.sleep(waitMs);
        String question = text("%s tasks sleep %s ms each; " + POOL, tasks, waitMs, pool);
        Row row = time(text("%s × %s ms", tasks, waitMs), question, predicted,
            () -> runAll(newFixedThreadPool(pool), tasks, wait),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, wait));
        say("at least %s tasks were waiting at once in the pool and %s on virtual threads"
            + " (Little's law: tasks × wait ÷ elapsed)",
            tasks * waitMs / row.platform(), tasks * waitMs / row.virtual());
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
        int tasks = 4 * PROCESSORS;
        int limit = size(1_000_000, 400_000);
        int primes = size(78_498, 33_860);
        double predicted = Math.min(1, 4.0 / Math.ceilDiv(tasks, CARRIERS)); // rounds
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
        String file = "/" + Initializer.class.getName().replace('.', '/') + ".class";
        byte[] bytes = Initializer.class.getResourceAsStream(file).readAllBytes();
        waiting("class init", pinned,
            () -> MethodHandles.lookup().defineHiddenClass(bytes, true));
    }

    static int waitMs() { return size(500, 120) / perCarrier(); }

    /** Every task defines this class anew, and so runs its initializer. */
    static class Initializer {
        static {
            long end = System.nanoTime() + waitMs() * 1_000_000L;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /**
     * thread-count. How many threads does ThreadMXBean see while 1,000 tasks wait?
     * Fair: the same tasks wait at the same gate. It opens once all that can start are there.
     * The bean counts platform threads: carriers, the JVM's and, after pinning, those of Flight
     * Recorder; but no virtual threads, and none of the GC's or the compilers'.
     * Prediction: if b threads were live before, a pool of 200 makes that b + 200, and one
     * platform thread per task b + 1,000. Virtual threads add none: the carriers are among b.
     * Try: int pool = 100; Which counts change?
     */
    static void threadCount() throws Exception {
        int tasks = size(1_000, 500);
        int pool = 200;
        // Tasks that compute start the carriers, so the count before includes them.
        runAll(newVirtualThreadPerTaskExecutor(), tasks, () -> countPrimes(10_000));
        Callable<Integer> count = ManagementFactory.getThreadMXBean()::getThreadCount;
        double before = atGate(newVirtualThreadPerTaskExecutor(), 1, 1, count);
        String question = text("%s threads live, then %s tasks wait; ", before, tasks);
        Gauge virtual = i -> atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, count);
        measure(text("%s, pool of %s", tasks, pool), question + text(POOL, pool), "threads",
            (before + pool) / before,
            i -> atGate(newFixedThreadPool(pool), tasks, pool, count), virtual);
        measure(text("%s, thread each", tasks), question + EACH, "threads",
            (before + tasks) / before,
            i -> atGate(newThreadPerTaskExecutor(Thread::new), tasks, tasks, count), virtual);
        Callable<String> names = () -> otherThreads().stream().map(Thread::getName).sorted()
            .collect(Collectors.joining(", ", carriers().size() + " carriers, ", ""));
        say("while %s virtual threads waited, ThreadMXBean saw %s", tasks,
            atGate(newVirtualThreadPerTaskExecutor(), tasks, tasks, names));
    }

    /** The last task that finds room asks the question; the others wait at the gate. */
    static <T> T atGate(ExecutorService executor, int tasks, int room, Callable<T> question)
            throws Exception {
        var bean = ManagementFactory.getThreadMXBean();
        int live;
        do { // until earlier threads have ended
            live = bean.getThreadCount();
            Thread.sleep(20);
        } while (live != bean.getThreadCount());
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

/**
 * The words of the experiments, and how a row is measured: a run of the program adds rows, a
 * row has samples of each side, and a sample is the median of shots. A shot does the work once.
 */
class Lab {
    interface Job { void run() throws Exception; }
    interface Gauge { double read(int sample) throws Exception; } // sample 0 is the warm-up

    static final double UNKNOWN = Double.NaN;
    static final String POOL = "a pool of %s platform threads, or a virtual thread each";
    static final String EACH = "a platform thread each, or a virtual thread each";
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final int CARRIERS = Math.min( // see the javadoc of Thread
        Integer.getInteger("jdk.virtualThreadScheduler.parallelism", PROCESSORS),
        Integer.getInteger("jdk.virtualThreadScheduler.maxPoolSize", Integer.MAX_VALUE));
    // Each thread has its own monitor. The compiler cannot prove that, so it keeps the lock.
    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);

    static Report report = new Report();
    static boolean quick;
    static int samples = 5; // of each side of a row
    static String current = "mine"; // the experiment's name; "mine" if nobody has called run
    static String place = "[1/1]"; // of the current experiment

    /** Runs the experiments that the words ask for, prints the report and ends the JVM. */
    static void run(List<Experiment> list, String[] args) {
        if (CARRIERS < 1) refuse("jdk.virtualThreadScheduler.parallelism must be 1 or more");
        Map<String, Experiment> all = new LinkedHashMap<>();
        for (var one : Stream.concat(list.stream(), report.encores(list).stream()).toList()) {
            boolean fits = !one.name().contains("|") && all.put(one.name(), one) == null;
            if (!fits) refuse("the name of an experiment is taken, or has a |: " + one.name());
        }
        List<String> words = new ArrayList<>(List.of(args));
        String options = report.options(words);
        if (words.contains("--help") || words.contains("-h")) help(options, list.size(), all);
        int at = words.indexOf("--runs");
        if (at >= 0) {
            String number = at + 1 < words.size() ? words.get(at + 1) : "nothing";
            boolean allowed = number.matches("[1-9]\\d?|100"); // 1 to 99, or 100
            if (!allowed) refuse("--runs takes a number from 1 to 100, not " + number);
            samples = Integer.parseInt(number);
            words.subList(at, at + 2).clear();
        }
        quick = words.remove("--quick");
        Set<Experiment> chosen = new LinkedHashSet<>(words.isEmpty() ? list : List.of());
        for (String word : words) {
            if (word.equals("all")) chosen.addAll(all.values());
            else if (all.containsKey(word)) chosen.add(all.get(word));
            else refuse("not understood: " + word + ", try --help");
        }
        report.begin(PROCESSORS, CARRIERS, samples);
        int n = 0;
        for (var experiment : chosen) {
            n++;
            place = "[%s/%s]".formatted(n, chosen.size());
            current = experiment.name();
            attempt(current, experiment.body());
        }
        report.end();
        System.exit(report.failures.isEmpty() && !report.closed ? 0 : 1);
    }

    private static void refuse(String why) {
        System.err.println("VirtualThreadsLab: " + why.replaceAll("\\R", " "));
        System.exit(2);
    }

    private static void help(String options, int first, Map<String, Experiment> all) {
        String text = """
            java VirtualThreadsLab.java [option ...] [name ...]
              --quick     smaller sizes: ten seconds, not a minute, but noisier
              --runs N    N samples of each side, 1 to 100, instead of 5
            """ + options + """
            Exit code 0: every row was measured; 1: one was not; 2: not understood.
            Without a name, the first %s of these run; with "all", every one:
            """.formatted(first);
        for (var e : all.values()) text += "  %-12s  %s\n".formatted(e.name(), e.summary());
        report.put(text);
        System.exit(report.closed ? 1 : 0);
    }

    static int size(int full, int quickly) { return quick ? quickly : full; }
    static String text(String form, Object... values) { return Report.text(form, values); }

    /** Adds a sentence to the report; like text, it writes a number as the table does. */
    static void say(String form, Object... values) {
        report.sentences.add(Report.item(current + ": " + text(form, values) + "."));
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
    static void attempt(String what, Job job) {
        try {
            job.run();
        } catch (Exception | Error e) {
            report.failures.add(Report.item(what + ": " + Report.reason(e) + "."));
        }
    }

    /** The live carriers, by the name of their class, which the JDK does not export. */
    static List<Thread> carriers() { return platformThreads(true); }
    static List<Thread> otherThreads() { return platformThreads(false); }

    private static List<Thread> platformThreads(boolean carriers) {
        return Thread.getAllStackTraces().keySet().stream().filter(thread ->
            thread.getClass().getSimpleName().equals("CarrierThread") == carriers).toList();
    }

    /** Tasks per carrier: ten show a pin clearly, three still do; a hundred in all will do. */
    static int perCarrier() { return Math.clamp(100 / CARRIERS, 3, size(10, 5)); }

    /**
     * Adds a row, such as "20 in what": each task makes this call, on a thread of its own.
     * The model is the ratio that you expect, 1 if the call doesn't block its carrier.
     */
    static void waiting(String what, double model, Job call) throws Exception {
        int tasks = perCarrier() * CARRIERS;
        String work = text("%s in %s", tasks, what);
        String question = text("%s tasks wait at once, %s per carrier; " + EACH, tasks,
            perCarrier());
        time(work, question, model,
            () -> runAll(newThreadPerTaskExecutor(Thread::new), tasks, call),
            () -> runAll(newVirtualThreadPerTaskExecutor(), tasks, call));
        report.waited(place + " " + current + " " + work, what, tasks, call);
    }

    /** Adds a row of times in ms; see measure. */
    static Row time(String work, String question, double model, Job platform, Job virtual) {
        return measure(work, question, "ms", model,
            i -> sample(platform, i), i -> sample(virtual, i));
    }

    /**
     * Adds a row: a warm-up and then the samples, the sides in turns. A gauge returns a number
     * in that unit; null means no platform side. The question tells a reader what to guess.
     * A side whose gauge throws has no median; the row is printed anyway.
     */
    static Row measure(String work, String question, String unit, double model,
            Gauge platform, Gauge virtual) {
        if (model <= 0) refuse("a ratio is above 0, and not " + model);
        if (!report.begun) report.begin(PROCESSORS, CARRIERS, samples); // outside run
        String name = current + " " + work;
        if (platform != null) report.ask(name + ": " + question + "?");
        Row row = new Row(current, work.replaceAll("[|\\s]+", " "), unit, model,
            new Side(new ArrayList<>()), new Side(new ArrayList<>()));
        // No System.gc(): G1 would give memory back, and samples would pay to touch it anew.
        for (int i = 0; i <= samples; i++) {
            if (report.closed) System.exit(1); // nobody can read the row
            String step = i == 0 ? "warm-up" : "sample " + i + " of " + samples;
            report.progress(place + " " + name, step);
            addSample(row.platformSide(), platform, i, name + ", platform");
            addSample(row.virtualSide(), virtual, i, name + ", virtual");
        }
        report.add(row);
        return row;
    }

    /** A side that fails loses its samples, and gets no more. */
    private static void addSample(Side side, Gauge gauge, int i, String what) {
        if (gauge == null || side.samples().size() < i) return;
        attempt(what, () -> side.samples().add(gauge.read(i)));
        if (side.samples().size() == i) side.samples().clear(); // it has failed
    }

    /** Returns the milliseconds of one sample: the median of the shots that fit into 200. */
    static double sample(Job job, int i) throws Exception {
        // One shot is at the mercy of the scheduler; one pause of 4 ms spoils a mean.
        if (i > 0) return Side.median(shots(job, size(200, 20)));
        // Twice a sample's time warms up long work. Work under 1 ms is mostly the JVM's
        // own code; in so short a time, too few calls of it may come for the C2 compiler.
        List<Double> warmUp = shots(job, size(400, 40));
        if (Side.median(warmUp) < 1) shots(job, size(800, 80));
        return warmUp.getFirst(); // the cold start
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

/** The samples of one side of a row. The first, its warm-up, does not count. */
record Side(List<Double> samples) {
    List<Double> counted() { return samples.stream().skip(1).toList(); }
    double at(double q) { return quantile(counted(), q); }
    double median() { return at(0.5); }
    /** Beyond a fifth, the next run may well show another ratio. */
    boolean noisy() { return at(0.75) - at(0.25) > 0.2 * median(); }
    static double median(Collection<Double> values) { return quantile(values, 0.5); }

    /** The value of the nearest rank: of an odd number, the median is the one in the middle. */
    static double quantile(Collection<Double> values, double q) {
        List<Double> sorted = values.stream().sorted().toList();
        if (sorted.isEmpty()) return Double.NaN;
        return sorted.get((int) Math.round(q * (sorted.size() - 1)));
    }
}

/** One row of the table. A ratio above 1 says that virtual threads need less. */
record Row(String experiment, String work, String unit, double model,
        Side platformSide, Side virtualSide) {
    double platform() { return platformSide.median(); }
    double virtual() { return virtualSide.median(); }
    double ratio() { return platform() / virtual(); }
    boolean noisy() { return ratio() > 0 && (platformSide.noisy() || virtualSide.noisy()); }
    String ratioCell() { return (noisy() ? "~" : "") + Report.number(ratio(), "×"); }
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

    // What an extension adds. options takes its own out of the words, and returns its help.
    List<Experiment> encores(List<Experiment> list) { return List.of(); }
    String options(List<String> words) { return ""; }
    void ask(String question) { }
    void waited(String row, String what, int tasks, Lab.Job call) { }

    void begin(int processors, int carriers, int samples) {
        begun = true;
        var jvm = ManagementFactory.getRuntimeMXBean();
        var gc = ManagementFactory.getGarbageCollectorMXBeans().getFirst();
        List<String> command = new ArrayList<>(jvm.getInputArguments());
        command.remove("--add-modules=ALL-DEFAULT"); // this and the class are the launcher's
        command.add(System.getProperty("sun.java.command", "").replaceFirst("^jdk\\S+ ", ""));
        boolean mounts = Thread.ofVirtual().unstarted(() -> { }).getClass().getSimpleName()
            .equals("VirtualThread");
        put("## VirtualThreadsLab\n\n"
            + item("Java " + Runtime.version() + ", " + jvm.getVmVendor() + ", " + gc.getName())
            + item(text("%s %s, processors: %s, carriers: %s, heap: up to %s MB",
                System.getProperty("os.name"), System.getProperty("os.arch"),
                processors, carriers, Runtime.getRuntime().maxMemory() >> 20))
            + item(text("%s, samples: %s, `java %s`", java.time.LocalDate.now(), samples,
                String.join(" ", command)))
            + (mounts ? "" : item("This JVM has no carriers: each virtual thread is a platform"
                + " thread, and no model holds."))
            + "\n" + HEADER + RULE);
    }

    void progress(String row, String step) {
        String line = "%s  %s  %s s".formatted(row, step,
            ManagementFactory.getRuntimeMXBean().getUptime() / 1_000);
        print(System.err, "\r%-79.79s".formatted(line));
    }

    void add(Row row) {
        System.err.print(CLEAR);
        put(LINE.formatted(row.experiment(), row.work(), cell(row, row.platform()),
            cell(row, row.virtual()), row.ratioCell(), number(row.model(), "×")));
    }

    /** A median with its unit. Counts have none: the experiment says what is counted. */
    private static String cell(Row row, double value) {
        if (!row.unit().equals("ms")) return number(value, "");
        return value > 9_999 ? number(value / 1_000, " s") : number(value, " ms");
    }

    void end() { put(section("", failures) + section(SAID, sentences)); }

    static String section(String title, Collection<String> items) {
        return items.isEmpty() ? "" : "\n" + title + String.join("", items);
    }

    /** Prints and flushes. If nobody can read on, says so once. */
    void put(String text) {
        print(out, text);
        if (closed || !out.checkError()) return;
        closed = true;
        System.err.println("VirtualThreadsLab: standard output cannot be written");
    }

    /** Prints ASCII instead if the charset lacks one of these characters. */
    static void print(PrintStream out, String text) {
        boolean known = out.charset().newEncoder().canEncode("×—–÷µ█▏░│");
        out.print(known ? text : text.replace('×', 'x').replace('—', '-').replace('–', '-')
            .replace('÷', '/').replace('µ', 'u').replace('█', '#').replace('▏', '.')
            .replace('░', '=').replace('│', '|'));
    }

    /** Makes a list item of a text, with lines of up to 80 characters, broken at spaces. */
    static String item(String text) {
        String line = "(.{1,78})( |$)"; // "- " or two spaces stand before it
        String part = "(.{78})"; // of a word that is longer
        return ("- " + text).replaceAll("\\R", " ").replaceAll(line + "|" + part, "$1$3\n  ")
            .stripTrailing() + "\n";
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
}

// ----- Cut here: delete this line and all below it, and the line above that names FullReport.
// What is left is a whole lab of the five. Names below are in full, as imports stay above.

/** Also asks for predictions, looks into waits, and ends with samples and a chart. */
class FullReport extends Report {
    private static final Scanner KEYBOARD = new Scanner(System.in);
    private static final String GUESSED = "### Your predictions, the furthest first\n\n"
        + LINE.formatted("Experiment", "Work", "You", "Model", "Ratio", "Off by") + RULE;
    private final List<Row> rows = new CopyOnWriteArrayList<>(); // the hook reads them, too
    private final Map<Row, Double> guesses = new IdentityHashMap<>();
    private double guess = Double.NaN; // for the next row
    private boolean listSamples, predict, ended;
    private Thread main; // the one that began the report

    /** The encores belong to the five; a list of your own has none. */
    @Override List<Experiment> encores(List<Experiment> list) {
        return list == VirtualThreadsLab.LIST ? Encores.LIST : List.of();
    }

    @Override String options(List<String> words) {
        listSamples = words.remove("--samples");
        predict = words.remove("--predict");
        return "  --samples   print every sample, too\n"
            + "  --predict   ask for your ratio before each row, and compare at the end\n";
    }

    @Override void begin(int processors, int carriers, int samples) {
        main = Thread.currentThread();
        Heartbeat.quiet(); // the next call tells what was used since this one
        super.begin(processors, carriers, samples);
        Runtime.getRuntime().addShutdownHook(new Thread(this::end));
    }

    /** Asks for the ratio that the reader expects of the next row. */
    @Override void ask(String question) {
        if (!predict) return;
        print(System.err, CLEAR + "\n" + item(question)
            + "Platform ÷ virtual, such as 30 or 1/3 (Enter skips): ");
        String typed = KEYBOARD.hasNextLine() ? KEYBOARD.nextLine() : "";
        guess = understood(typed);
        boolean lost = Double.isNaN(guess) && !typed.isBlank();
        if (lost) print(System.err, "Not understood, row skipped: " + typed + "\n");
    }

    /** The ratio in 50×, ~20, 10 times, 5 %, 1:3, 1 / 10, 0,5 or 1,000; NaN if there's none. */
    static double understood(String typed) {
        String thousands = "(?<!\\b0),(?=\\d{3}\\b)"; // 1,000 as in the table, but not 0,125
        String plain = typed.replaceAll(thousands, "").replace(',', '.').replace("%", "/100")
            .replaceAll("x$|times", "").replaceAll("[^\\w.:/÷-]", ""); // 10x, 10 times; ~, ×
        String number = "\\d*\\.?\\d+"; // 12, 1.5 or .5
        if (!plain.matches(number + "([/:÷]" + number + ")?")) return Double.NaN; // 3 or 1:3
        String[] parts = (plain + "/1").split("[/:÷]");
        double ratio = Double.parseDouble(parts[0]) / Double.parseDouble(parts[1]);
        return ratio > 0 && Double.isFinite(ratio) ? ratio : Double.NaN;
    }

    @Override void add(Row row) {
        rows.add(row);
        guesses.put(row, guess);
        guess = Double.NaN;
        super.add(row);
    }

    /** Lets the tasks call again and again, and says what that did to their carriers. */
    @Override void waited(String row, String what, int tasks, Lab.Job call) {
        progress(row, "heartbeat");
        Lab.attempt(row + ", heartbeat", () ->
            Lab.say("%s: %s", what, Heartbeat.facts(tasks, call, row)));
    }

    /** Prints what comes after the rows, once: at the end of the run, or by the hook. */
    @Override synchronized void end() {
        if (ended) return;
        ended = true;
        System.err.print(CLEAR);
        boolean partial = main.isAlive() && main != Thread.currentThread();
        if (partial) put(rows.isEmpty() ? "\n**Partial:** interrupted before the first row.\n"
            : "\n**Partial:** interrupted; these are the finished rows.\n");
        put(section("", failures)
            + section(GUESSED, predictions())
            + section(SAID, sentences));
        if (partial && rows.isEmpty()) return;
        String note = "### Samples\n\nIn brackets: the warm-up, which does not count.\n\n";
        if (listSamples) put(section(note, rows.stream().map(FullReport::samples).toList()));
        put("\n### At a glance\n\n```text\n" + chart() + "```\n\n"
            + item("Ratio: platform ÷ virtual, with its 95 % interval (Hodges and Lehmann).")
            + item("Model: plain arithmetic. ~: noisy, the middle half of a side's samples"
                + " spans over 20 % of their median.")
            + item("▏: a small difference. ░: none shown, or all within 5 %, or noisy.")
            + item(Heartbeat.quiet() + "."));
    }

    private List<String> predictions() {
        return rows.stream().filter(row -> missed(row) > 0)
            .sorted(Comparator.comparing(this::missed).reversed())
            .map(row -> LINE.formatted(row.experiment(), row.work(),
                number(guesses.get(row), "×"), number(row.model(), "×"), row.ratioCell(),
                number(missed(row), "×"))).toList();
    }

    /** By which factor the guess was off; NaN if there was none. */
    private double missed(Row row) {
        double off = guesses.get(row) / row.ratio();
        return Math.max(off, 1 / off);
    }

    private static String samples(Row row) {
        return "- %s, %s, %s: platform%s; virtual%s\n".formatted(row.experiment(), row.work(),
            row.unit(), samples(row.platformSide()), samples(row.virtualSide()));
    }

    private static String samples(Side side) {
        var digits = new java.math.MathContext(5);
        String text = "";
        for (double sample : side.samples()) {
            String plain = new java.math.BigDecimal(sample).round(digits).toPlainString();
            text += text.isEmpty() ? " (" + plain + ")" : " " + plain;
        }
        return text;
    }

    private String chart() {
        String chart = "%45s│ virtual better; █: a factor of 2\n".formatted("platform better ");
        for (Row row : rows) {
            if (Double.isNaN(row.ratio())) continue;
            double[] range = range(row);
            boolean shown = range[0] > 1 && range[1] > 1.05 || range[1] < 1 && range[0] < 0.95;
            int twos = (int) Math.round(Math.abs(Math.log(row.ratio()) / Math.log(2)));
            String block = !shown || row.noisy() ? "░" : twos == 0 ? "▏" : "█";
            String bar = block.repeat(Math.max(1, twos)); // or it could not be seen
            chart += "%-12s %-19s %12s│%s %s".formatted(row.experiment(), row.work(),
                row.ratio() < 1 ? bar : "", row.ratio() < 1 ? "" : bar, row.ratioCell());
            chart += range[0] > 0 ? text(" (%s–%s)\n", range[0], range[1]) : "\n";
        }
        return chart;
    }

    /** The lowest and the highest ratio of the 95 % interval; NaN for few samples. */
    static double[] range(Row row) {
        List<Double> ratios = new ArrayList<>();
        for (double p : row.platformSide().counted()) {
            for (double v : row.virtualSide().counted()) ratios.add(p / v);
        }
        Collections.sort(ratios);
        int pairs = ratios.size(); // of which Hodges and Lehmann leave out some at each end
        double spread = Math.sqrt(pairs * (2 * Math.sqrt(pairs) + 1) / 12);
        int out = (int) Math.floor(pairs / 2.0 - 1.96 * spread) - 1;
        if (out < 0) return new double[] {Double.NaN, Double.NaN};
        return new double[] {ratios.get(out), ratios.get(pairs - 1 - out)};
    }
}

/**
 * While tasks make a call again and again, can another virtual thread run? A virtual thread
 * beside them ticks each millisecond. A call that leaves its carrier lets that thread run; one
 * that doesn't starves it, however short the call. A platform thread ticks, too: what it misses
 * is the machine's fault, not a carrier's. Flight Recorder names what pinned.
 */
class Heartbeat extends Lab { // for the names of Lab only
    private static final long PASS = 200_000_000; // ns; 200 ticks, and not long to wait for
    private static final double LATE = 5; // ms; less is the timer's or the scheduler's doing
    private static double[] ticks = new double[8]; // by kind, as in /proc/stat; [7]: stolen

    /** Says what pinned, whether a carrier was free, and how many calls were under way. */
    static String facts(int tasks, Job call, String row) throws Exception {
        double alone = alone(call);
        List<Pass> passes = new ArrayList<>();
        Job next = () -> passes.add(pass(tasks, call, row));
        long end = System.nanoTime() + 10_000_000_000L; // then one pass has to do
        String facts = pinned(next);
        // Recording disturbs, so another pass tells the rest, or up to five if it's not clear.
        while (passes.isEmpty() || System.nanoTime() < end && passes.size() < 6
                && (passes.size() == 1 || !passes.getLast().clear())) next.run();
        // Other programs can only add to what the virtual thread misses.
        Pass pass = passes.stream().skip(passes.size() > 1 ? 1 : 0)
            .min(Comparator.comparing(Pass::blocked)).get();
        if (pass.failed() == 0) return facts + pass.facts(tasks, alone);
        return text("%s of %s calls failed", pass.failed(), pass.calls())
            + (pass.failed() == pass.calls() ? "" : "; " + facts + pass.facts(tasks, alone));
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

    /** What two ticking threads missed while the tasks called; all times in ms. */
    record Pass(double elapsed, double virtual, double platform, double computed, int added,
            int calls, int failed) {
        /** For over a fifth of the pass, not even a platform thread could tick. */
        boolean disturbed() { return platform > 0.2 * elapsed; }

        /** The share of the time in which no carrier was free; more than 1 if disturbed. */
        double blocked() {
            return disturbed() ? 2 : Math.clamp((virtual - platform) / elapsed, 0, 1);
        }

        /** In between, the call or other programs may be the cause. */
        boolean clear() { return blocked() < 0.2 || blocked() > 0.6 && blocked() <= 1; }

        String facts(int tasks, double alone) {
            if (disturbed()) return "the machine was too busy to tell if a carrier was free";
            double ms = blocked() * elapsed;
            String facts = blocked() < 0.01 ? "a carrier was always free" : blocked() < 0.2
                ? text("a carrier was free for %s of %s ms", elapsed - ms, elapsed)
                : text("no carrier was free for %s of %s ms", ms, elapsed);
            if (computed > 0.1 * elapsed) {
                facts += text("; each carrier computed for %s ms", computed);
            }
            if (added > 0) facts += text("; added carriers in use: %s", added);
            // Calls that compute share processors, and a pause can be as long as a short call.
            boolean vague = computed > 0.5 * elapsed
                || alone < LATE && platform > 0.05 * elapsed;
            if (vague || Double.isNaN(alone)) return facts;
            double atOnce = Math.rint(calls * alone / elapsed); // Little's law
            return facts + text("; %s of %s calls %s under way at once",
                Math.clamp(atOnce, 1, tasks), tasks, atOnce > 1 ? "were" : "was");
        }
    }

    /** Lets each task call until 200 ms are over, beside two threads that tick. */
    private static Pass pass(int tasks, Job call, String row) throws Exception {
        var done = new AtomicBoolean();
        var calls = new AtomicInteger();
        var failed = new AtomicInteger();
        var platform = newThreadPerTaskExecutor(Thread::new).submit(() -> missedMs(done));
        var virtual = newVirtualThreadPerTaskExecutor().submit(() -> missedMs(done));
        var busy = newThreadPerTaskExecutor(Thread::new).submit(() -> busyCarriers());
        double before = computedMs();
        long start = System.nanoTime();
        attempt(row + ", virtual", () ->
            runAll(newVirtualThreadPerTaskExecutor(), tasks, () -> {
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
        double computed = (computedMs() - before) / CARRIERS;
        done.set(true);
        return new Pass(elapsed, virtual.get(), platform.get(), computed,
            busy.get() - CARRIERS, calls.get(), failed.get());
    }

    private static double missedMs(AtomicBoolean done) {
        double missed = 0;
        long last = System.nanoTime();
        while (!done.get()) {
            LockSupport.parkNanos(1_000_000);
            long now = System.nanoTime();
            double late = (now - last) / 1e6 - 1;
            if (late > LATE) missed += late;
            last = now;
        }
        return missed;
    }

    /** Counts the carriers that aren't waiting for work, in the middle of a pass. */
    private static int busyCarriers() throws Exception {
        TimeUnit.NANOSECONDS.sleep(PASS / 2);
        return (int) carriers().stream().map(Thread::getStackTrace).filter(frames ->
            Stream.of(frames).noneMatch(at -> at.getMethodName().equals("awaitWork"))).count();
    }

    private static double computedMs() {
        var bean = ManagementFactory.getThreadMXBean();
        double nanos = 0;
        for (var carrier : carriers()) nanos += bean.getThreadCpuTime(carrier.threadId());
        return nanos / 1e6;
    }

    /** Says how many waits of a pass were pinned, and where the longest was. */
    private static String pinned(Job pass) {
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
        String where = Report.own(longest.getStackTrace().getFrames().stream().map(at ->
            at.getMethod().getType().getName() + "." + at.getMethod().getName() + ":"
            + at.getLineNumber()));
        String reason = "pinnedReason"; // from JDK 24 on
        if (longest.hasField(reason)) where += " (`" + longest.getString(reason) + "`)";
        String hidden = "[./+]0x\\w+"; // Name/0x00007f: a class without a name of its own
        return text("pinned %s, longest at %s; ", pins.size() == 1 ? "once"
            : text("%s times", pins.size()), where.replaceAll(hidden, ""));
    }

    /** Says what others took of the processors since the last call. */
    static String quiet() {
        var system = ManagementFactory.getPlatformMXBean(
            com.sun.management.OperatingSystemMXBean.class);
        double all = system.getCpuLoad(); // below 0: unknown
        double others = all < 0 ? Double.NaN : Math.max(0, all - system.getProcessCpuLoad());
        double[] before = ticks;
        ticks = new double[8];
        try (var stat = new Scanner(new File("/proc/stat")).skip("cpu")) { // Linux has it
            for (int i = 0; i < 8; i++) ticks[i] = Double.parseDouble(stat.next());
        } catch (IOException | RuntimeException e) { // or some other /proc
            ticks[7] = Double.NaN;
        }
        double steal = (ticks[7] - before[7])
            / (DoubleStream.of(ticks).sum() - DoubleStream.of(before).sum());
        double most = DoubleStream.of(others, steal).filter(share -> share > 0).max().orElse(0);
        String advice = most > 0.5 ? "; the machine was too busy: do not use these numbers"
            : most > 0.1 ? "; only a factor of three or more means something: run it again for"
            + " smaller ones" : "";
        return text("Other programs used %s %% of the processors, a hypervisor %s %%",
            Math.rint(100 * others), Math.rint(100 * steal)) + advice;
    }
}

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
     * println. Does a single printing task run faster on a virtual thread?
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
                    i -> pooled.latency(() -> late.addAndGet(pooled.callAt(rate, lastMs))),
                    i -> virtual.latency(() -> late.addAndGet(virtual.callAt(rate, lastMs))));
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
     * behind it: that is the model up to JDK 25. On 27, some starts of a JVM resume it sooner.
     * Try: int index = 30; int number = 832_040; How long is a call if tasks compute less?
     */
    static void mixed() throws Exception {
        int tasks = 10 * PROCESSORS;
        int waitMs = size(120, 60);
        int index = size(37, 34);
        int number = size(24_157_817, 5_702_887);
        Job compute = () -> check("as a Fibonacci number", number, fibonacci(index));
        double ms = sample(compute, 1); // a computation alone
        double rounds = Math.ceilDiv(tasks, Math.min(CARRIERS, PROCESSORS));
        double each = ms * Math.max(1, (double) CARRIERS / PROCESSORS);
        double behind = (Math.ceilDiv(tasks, CARRIERS) - 1) / 2.0 * each;
        double predicted = (10 * ms + waitMs) / (rounds * ms + waitMs);
        double predictedCall = JDK > 25 ? UNKNOWN : waitMs / Math.max(waitMs, behind);
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
                i -> server.latency(() ->
                    runAll(newThreadPerTaskExecutor(Thread::new), tasks, sinceStart)),
                i -> server.latency(() ->
                    runAll(newVirtualThreadPerTaskExecutor(), tasks, sinceStart)));
            measure("median call", "as its task sees it; " + question, "ms", predictedCall,
                i -> server.latency(platform), i -> server.latency(virtual));
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
            i -> buffersMade(newFixedThreadPool(pool), tasks),
            i -> buffersMade(newVirtualThreadPerTaskExecutor(), tasks));
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
            measure(text("%s parked", n), "", "ms", UNKNOWN, null, i -> {
                if (i == 0) shots(() -> park(n, 0, () -> 0), size(800, 80));
                long start = System.nanoTime();
                return (park(n, 0, System::nanoTime) - start) / 1e6;
            });
            long[] after = collections();
            say("while %s were parked again and again, the heap was collected %s times, for %s"
                + " ms in all", n, after[0] - before[0], after[1] - before[1]);
        }
        int n = size(100_000, 20_000);
        int frames = 50;
        Row shallow = measure("bytes, shallow", "", "bytes", UNKNOWN, null, i -> weigh(n, 0));
        Row deep = measure(text("bytes, %s frames", frames), "", "bytes", UNKNOWN, null,
            i -> weigh(n, frames));
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
            i -> delay(newThreadPerTaskExecutor(Thread::new), busy, null),
            i -> delay(newVirtualThreadPerTaskExecutor(), busy, null));
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
            i -> handOver(newThreadPerTaskExecutor(Thread::new), platformLost),
            i -> handOver(newVirtualThreadPerTaskExecutor(), virtualLost));
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
            connection.setConnectTimeout(60_000); // ms
            connection.setReadTimeout(60_000);
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
