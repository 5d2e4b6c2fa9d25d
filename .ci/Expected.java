// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.*;
import static java.util.concurrent.Executors.*;

import java.io.*;
import java.lang.management.ManagementFactory;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;
import java.util.stream.*;
import jdk.jfr.Recording;
import jdk.jfr.consumer.*;

/**
 * Runs the lab in this JVM, with a clock and gauges whose numbers are known, and compares whole
 * reports with the texts in .ci/expected. Its words name tests. With "write", their texts are
 * written anew: read git diff before you commit. LabTest starts all tests with 2 processors and
 * 3 carriers, and rows with other numbers, too.
 */
class Expected {
    static final Map<String, Callable<String>> TESTS = new LinkedHashMap<>();
    static long now; // of the clock, in ns
    static double others; // the share of the processors that other programs seem to use

    public static void main(String[] words) throws Exception {
        String machine = "-" + Machine.PROCESSORS + "-" + Machine.CARRIERS;
        TESTS.put("plain", () -> run(plain()));
        TESTS.put("progress", () -> captured(false,
            () -> VirtualThreadsLab.run(plain(), "--runs", "2", "--quick"), "--quick"));
        TESTS.put("cells", () -> run(cells(), "all"));
        TESTS.put("failing", () -> run(failing()));
        TESTS.put("noisy-busy", () -> run(noisy(), "--samples"));
        TESTS.put("samples", () -> run(plain(), "samples", "--samples", "--runs", "12")
            + run(plain(), "one", "--samples", "--runs", "2"));
        if (Files.exists(Path.of("/bin/sh"))) TESTS.put("starts", Expected::starts);
        TESTS.put("interrupted", Expected::stopped);
        TESTS.put("help", () -> captured(true,
            () -> CommandLine.obey(VirtualThreadsLab.FIVE, Encores.LIST, "--help"), "--help"));
        TESTS.put("refused", Expected::refused);
        TESTS.put("order", () ->
            run(plain(), "one", "two", "--runs", "9", "one", "--runs", "1", "--quick",
                "--quick") + run(plain(), "samples", "all", "--runs", "100"));
        TESTS.put("turns", Expected::turns);
        TESTS.put("numbers", Expected::numbers);
        TESTS.put("ranges", Expected::ranges);
        TESTS.put("noise-of-launches", Expected::noise);
        TESTS.put("limits", Expected::limits);
        TESTS.put("unknown", Expected::unknown);
        TESTS.put("meanings", Expected::meanings);
        TESTS.put("rows" + machine, Expected::rows);
        TESTS.put("sides" + machine, Expected::sides);
        List<String> wanted = new ArrayList<>(List.of(words));
        boolean write = wanted.remove("write");
        for (String name : TESTS.keySet()) {
            boolean isWanted = wanted.isEmpty() || wanted.stream().anyMatch(name::contains);
            if (isWanted) test(name, write);
        }
        System.exit(0);
    }

    /** Compares a test's text with the kept one, and prints the first line that differs. */
    static void test(String name, boolean write) throws Exception {
        now = 0;
        others = 0;
        LongSupplier clock = Lab.clock;
        DoubleSupplier load = Machine.others;
        int patience = Lab.patience;
        Lab.clock = Expected::tick;
        Machine.others = () -> others;
        Path kept = Path.of(".ci/expected", name + ".txt");
        String text;
        try {
            text = TESTS.get(name).call();
        } catch (Exception | Error e) {
            System.out.println("FAILED: expected: " + name + ": " + e);
            e.printStackTrace(System.out);
            return;
        } finally {
            Lab.clock = clock;
            Machine.others = load;
            Lab.patience = patience;
        }
        if (write) Files.writeString(kept, text);
        List<String> lines = text.lines().toList();
        List<String> wanted = Files.exists(kept) ? Files.readAllLines(kept) : List.of();
        int at = Arrays.mismatch(lines.toArray(), wanted.toArray());
        if (at < 0) {
            System.out.println("passed: expected: " + name);
            return;
        }
        System.out.println("FAILED: expected: " + name + ": " + kept + ", line " + (at + 1)
            + ": expected: " + line(wanted, at) + ", but was: " + line(lines, at));
    }

    static String line(List<String> lines, int i) {
        return i < lines.size() ? lines.get(i) : "nothing";
    }

    // -------------------------------------------------------------------- running the lab

    static String run(List<Experiment> list, String... words) throws Exception {
        return captured(true, () -> VirtualThreadsLab.run(list, words), words);
    }

    /** Each look at the clock takes 0.7 s, so a warm-up of long work reads its gauge once. */
    static long tick() { return now += 700_000_000; }

    /**
     * What is printed, without what differs by machine, day and place, then the exit code.
     * Standard error is left out if asked, unless it's all there is.
     */
    static String captured(boolean outOnly, Callable<Integer> code, String... words)
            throws Exception {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        PrintStream realOut = System.out;
        PrintStream realErr = System.err;
        System.setOut(new PrintStream(out, true, UTF_8));
        System.setErr(new PrintStream(err, true, UTF_8));
        System.setProperty("sun.java.command",
            ("VirtualThreadsLab.java " + String.join(" ", words)).strip());
        var begun = java.time.LocalDate.now(); // it may end on another day
        int exit;
        try {
            exit = code.call();
        } finally {
            System.setOut(realOut);
            System.setErr(realErr);
        }
        String text = out.toString(UTF_8)
            .replace("" + Runtime.version(), "VERSION")
            .replace(System.getProperty("java.vm.vendor"), "VENDOR")
            .replace(System.getProperty("os.name") + " " + System.getProperty("os.arch"), "OS")
            .replace("" + begun, "DATE").replace("" + java.time.LocalDate.now(), "DATE")
            .replaceAll("( at (Expected|Lab)\\.)(lambda\\$)?([a-z]+)[^(]*[^)]*", "$1$4(N");
        String said = err.toString(UTF_8)
            .replaceAll("(\r *)+", "\n").replaceAll("\\s*\n", "\n").strip();
        if (!outOnly || text.isEmpty()) text += "standard error:\n" + said + "\n";
        return text + "exit code " + exit + "\n";
    }

    static Experiment odd(String name, Body body) {
        return new Experiment(name, "an odd one", body);
    }

    /** A gauge that reads these numbers in turn, the first in the warm-up. */
    static Gauge inTurns(double... numbers) {
        var next = new AtomicInteger();
        return () -> numbers[next.getAndIncrement() % numbers.length];
    }

    // ------------------------------------------------------------------------ the reports

    static List<Experiment> plain() {
        return List.of(
            new Experiment("two", "two rows", lab -> {
                lab.measure("of five", 2.5, inTurns(1_000, 42, 40, 38, 44, 36),
                    inTurns(1_000, 16, 15, 17, 14.5, 16.5));
                lab.measure("a | bar\nand more", 1, () -> 40, () -> 16);
            }),
            odd("one", lab -> lab.measure("of ten", 0.5,
                inTurns(9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
                inTurns(9, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24.5))),
            odd("samples", lab -> {
                lab.measure("many", Lab.UNKNOWN,
                    inTurns(1, 10, 500, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20),
                    () -> 10.123456);
                lab.measure("few", Lab.UNKNOWN, () -> 0.0791234, () -> 1);
            }));
    }

    static List<Experiment> cells() {
        return List.of(odd("cells", lab -> {
            lab.measure("small", 0.02, () -> 0.0666, () -> 72.2);
            lab.measure("long", 999, () -> 20_334, () -> 10_167);
            lab.measure("nearly long", Lab.UNKNOWN, () -> 9_999, () -> 10_000);
            lab.measure("equal", 1, () -> 7, () -> 7);
            lab.measure("half", 1.0 / 3, () -> 5, () -> 10);
            lab.measure("just a block", 1, () -> 142, () -> 100);
            lab.measure("no block yet", 1, () -> 141, () -> 100);
            lab.measure("nothing", 1, () -> 5, () -> 0);
            lab.measure("endless", 1, () -> Double.POSITIVE_INFINITY, () -> 5);
            lab.measure("less than nothing", 1, () -> -5, () -> 5);
            lab.measure("long range", 0.1, inTurns(1, 10, 25.1, 10, 10, 10), () -> 100);
            lab.measure("longest range", 0.1, inTurns(1, 5.5, 9.9, 7, 7, 7), () -> 100);
            lab.count("things", () -> 12_345.6, () -> 1);
            lab.count("one side", () -> Lab.UNKNOWN, () -> 1_234_567);
        }));
    }

    static List<Experiment> failing() {
        return List.of(
            odd("warm-up", lab -> lab.measure("fails", 1, () -> {
                throw new IOException("no\nroom \033[31m", new IllegalStateException("deeper"));
            }, () -> 16)),
            odd("late", lab -> {
                var reads = new AtomicInteger();
                lab.measure("fails", 1, () -> 40, () -> {
                    Lab.check("sheep", 3, reads.incrementAndGet() == 3 ? 4 : 3);
                    return 16;
                });
                lab.measure("has no model", 0, () -> 40, () -> 16);
                lab.measure("goes on", 1, () -> 40, () -> 16);
            }),
            odd("tasks", lab -> lab.time("three", 1, () ->
                Lab.runAll(newThreadPerTaskExecutor(Thread::new), 3, () -> {
                    throw new AssertionError("dropped");
                }), () -> now += 5_000_000)),
            odd("cancelled", lab -> lab.time("by the call", 1, () ->
                Lab.runAll(newThreadPerTaskExecutor(Thread::new), 1, () -> {
                    throw new CancellationException("a call's own");
                }), () -> now += 5_000_000)),
            odd("body", lab -> {
                throw new CancellationException();
            }),
            odd("silent", lab -> lab.measure("errors", 1, () -> {
                throw new AssertionError();
            }, () -> {
                throw new ExecutionException(null);
            })),
            odd("circle", lab -> {
                var one = new IllegalStateException("one");
                throw new IllegalStateException("two", one.initCause(new Error("three", one)));
            }),
            odd("odd", lab -> Expected.<RuntimeException>sneak(new Throwable("neither"))),
            odd("long", lab -> {
                throw new IllegalStateException("a long message ".repeat(10_000));
            }),
            odd("frames", lab -> Lab.runAll(newThreadPerTaskExecutor(Thread::new), 1,
                new java.util.concurrent.ArrayBlockingQueue<>(1)::remove)),
            odd("deep", lab -> List.of().getFirst()),
            odd("twice", lab -> {
                for (String name : List.of("a | row", "a row"))
                    lab.measure(name, 1, () -> 40, () -> 16);
            }));
    }

    @SuppressWarnings("unchecked")
    static <T extends Throwable> void sneak(Throwable error) throws T { throw (T) error; }

    static List<Experiment> noisy() {
        return List.of(
            odd("spread", lab -> lab.measure("just not", 1, inTurns(1, 10, 15, 10, 10, 10),
                () -> 10)),
            odd("noisy", lab -> lab.measure("one in five", 1,
                inTurns(1, 100, 151, 100, 100, 100), () -> 10)),
            odd("virtual", lab -> lab.measure("noisy", 1, () -> 10,
                inTurns(1, 100, 151, 100, 100, 100))),
            busy(0.1, 16),
            busy(0.11, 80),
            odd("count", lab ->
                lab.count("is never noisy", inTurns(1, 10, 20, 30, 40, 50), () -> {
                    others = 0.9; // nobody asks
                    return 2;
                })),
            busy(0.294, 16),
            odd("busy", lab -> lab.measure("one side", 1, () -> Lab.UNKNOWN, () -> {
                others = 0.5;
                return 16;
            })));
    }

    static Experiment busy(double share, double virtual) {
        return odd("busy", lab -> lab.measure("others " + share, 1, () -> 40, () -> {
            others = share; // while it reads
            return virtual;
        }));
    }

    /** As by Ctrl-C: prints what has been measured, and nothing after that. */
    static String stopped() throws Exception {
        return captured(false, () -> {
            var page = new Page(System.out, true);
            var results = new Results(page);
            page.begin(new Origin("" + Runtime.version(),
                System.getProperty("java.vm.vendor"), 0, 0, 5));
            return new Run(List.of(
                odd("first", lab -> lab.measure("done", 1, () -> 40, () -> 16)),
                odd("then", lab -> {
                    results.fail("something else.");
                    results.end(page, true);
                    lab.measure("not printed", 1, () -> 40, () -> 16);
                })), false, 5).perform(results);
        });
    }

    /** A bean that sees only this JVM's container, and one that sees others in one row. */
    static String unknown() throws Exception {
        var nowhere = List.of(odd("unknown", lab -> lab.measure("others", 1, () -> {
            others = Double.NaN;
            return 40;
        }, () -> 16)));
        var inOneRow = List.of(
            odd("counts", lab -> lab.count("things", () -> 4, () -> 2)),
            odd("unknown", lab -> lab.measure("others", 1, () -> 40, () -> 16)),
            busy(0.03, 16));
        return run(nowhere) + run(inOneRow);
    }

    /** Two JDKs take turns, and two launches of 25 fail; 21 alone; a launch without rows. */
    static String starts() throws Exception {
        Path home = Files.createTempDirectory("starts");
        List<String> words = new ArrayList<>(List.of("--starts", "3", "--runs", "2", "even"));
        for (int jdk : new int[] {21, 25}) {
            for (int start = 1; start <= 3; start++) {
                Files.writeString(home.resolve(jdk + "-" + start), sends(jdk, start));
            }
            words.addAll(List.of("--java", "" + fakeJdk(home, jdk)));
        }
        var list = List.of(odd("even", lab -> { }));
        String both = captured(false,
            () -> VirtualThreadsLab.run(list, words.toArray(String[]::new)),
            "--starts 3 --runs 2 even --java jdk21 --java jdk25");
        both += Files.readString(home.resolve("said25")).replace("" + home, "HOME");
        Files.delete(home.resolve("count21"));
        String jdk21 = home + "/jdk21";
        String one = captured(true,
            () -> VirtualThreadsLab.run(list, "--java", jdk21, "--samples", "even"),
            "--java jdk21 --samples even");
        Files.delete(home.resolve("21-1"));
        Files.delete(home.resolve("count21"));
        String none = captured(true,
            () -> VirtualThreadsLab.run(list, "--java", jdk21, "even"), "--java jdk21 even");
        try (var files = Files.walk(home)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
        return both + one + none;
    }

    /** A JDK whose java keeps its arguments, and prints what start number n is to send. */
    static Path fakeJdk(Path home, int jdk) throws Exception {
        Path folder = home.resolve("jdk" + jdk);
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Files.writeString(folder.resolve("release"),
            "IMPLEMENTOR=\"a vendor\"\nJAVA_VERSION=\"%s.0.4\"\n".formatted(jdk));
        Path java = Files.writeString(bin.resolve("java"), """
            #!/bin/sh
            cd '%s'
            echo >> count%2$s
            n=$(grep -c '' count%2$s)
            echo "$@" | sed 's/.*-Ds/-Ds/; s/h=[^ ]*/h=PATH/; s/t=[0-9]*/t=PID/
                s/n=[0-9a-f]*/n=TOKEN/' >> said%2$s
            token=$(echo "$@" | sed 's/.*-Dlab.token=//; s/ .*//')
            sed "s/TOKEN/$token/" %2$s-$n
            [ "${n}%2$s" != 225 ] || exit 25 # the second start of 25
            [ "${n}%2$s" != 325 ] || exit 7
            """.formatted(home, jdk));
        java.toFile().setExecutable(true);
        return folder;
    }

    /**
     * What a launch prints: rows, and lines of a call's own that look like them. Of the three
     * launches of 25, one is on a busy machine; their median isn't, so its rows aren't noisy.
     */
    static String sends(int jdk, int start) {
        double share = List.of(0.05, 0.2, 0.12).get(start - 1);
        if (jdk == 25) share = start == 2 ? 0.2 : 0;
        String rows = """
            - Failed: a line of a call's own.
            | even         | GET /a              |       7  |      12  |        1 |     3× |
            lab.row\teven\tfirst\ttrue\t2.5\t1.0\t1.0\t0.0
            row\teven\tfirst\ttrue\t2.5\t1.0\t1.0\t0.0
            0\trow\teven\tfirst\ttrue\t2.5\t1.0\t1.0\t0.0
            0\tend\t
            begins a line
            TOKEN\trow\teven\tfirst\ttrue\t2.5\t4%1$s.02\t16.0\t%2$s
            TOKEN\trow\teven\tlong\ttrue\tNaN\t10049.0\t0.079123\t%2$s
            TOKEN\trow\teven\tcount\tfalse\tNaN\t200.0\t%3$s.0\tNaN
            """.formatted(start, share, start % 2);
        String counts = start == 1 ? "NaN\tNaN" : "1000.0\t0.0"; // its first start fails
        rows += "TOKEN\trow\tlate\tcount\tfalse\tNaN\t" + counts + "\tNaN\n";
        if (jdk == 21) return rows + "TOKEN\tend\t\n";
        String failed = "TOKEN\tfailed\tlate count: as asked.\n";
        if (start == 1) return rows + failed + "TOKEN\tend\t\n";
        return rows + "TOKEN\trow\tother\tfirst\ttrue\tNaN\tNaN\t7.0\t0.0\n";
    }

    static String refused() throws Exception {
        String all = "";
        for (String words : List.of("none", "--quik", "two --quick x", "--runs", "--runs 0",
                "--runs 101", "--runs 1 --runs x", "--starts", "--starts 0", "--starts x",
                "--java", "--java /dev/null", "--java none", "--predict", "a\nb", "println",
                "twoo")) {
            all += words.replace("\n", "\\n") + "\n" + run(plain(), words.split(" "));
        }
        return all;
    }

    /** In which order sides are read, with how many shots of so many ms, and what is read. */
    static String turns() throws Exception {
        Lab.clock = () -> now;
        String all = "";
        for (double[] ms : new double[][] {{10, 30, 150}, {7}, {500}, {1_200}, {0.5}, {1}}) {
            for (boolean quick : new boolean[] {false, true}) {
                var did = new StringBuilder();
                var shots = new AtomicInteger();
                Job job = () -> now += (long) (ms[shots.getAndIncrement() % ms.length] * 1e6);
                var results = new Quiet() {
                    @Override boolean attempt(String side, Job read) {
                        shots.set(0);
                        boolean fine = super.attempt(side, read);
                        if (side.contains("platform")) did.append(" P").append(shots);
                        if (side.contains("virtual")) did.append(" V").append(shots);
                        return fine;
                    }
                };
                results.perform(odd("turns", lab -> lab.time("a job", 1, job,
                    () -> now += 20_000_000)), quick, 3);
                all += Arrays.toString(ms) + (quick ? ", quick:" : ":") + did + ", samples "
                    + results.rows.values().iterator().next().platforms() + "\n";
            }
        }
        return all;
    }

    /** What runAll asks of an executor: how long it waits, and for those it has cancelled. */
    static String limits() throws Exception {
        List<String> asked = new ArrayList<>();
        var executor = new ForkJoinPool(1) {
            @Override public <T> List<Future<T>> invokeAll(
                    Collection<? extends Callable<T>> tasks, long limit, TimeUnit unit) {
                asked.add("invokeAll of " + tasks.size() + " tasks, " + limit + unit);
                return List.of();
            }

            @Override public void shutdown() {
                asked.add("shutdown");
            }

            @Override public boolean awaitTermination(long limit, TimeUnit unit) {
                asked.add("awaitTermination " + limit + unit);
                return true;
            }
        };
        Lab.runAll(executor, 7, () -> { });
        return asked + "\n";
    }

    static String numbers() {
        return DoubleStream.of(0, 1, 0.96, 12.344, 999.4, 999.5, 12_345.6, 0.0999, 0.1, 0.0123,
                0.01, 0.0052, 0.001, 0.00099, Double.NaN, Double.POSITIVE_INFINITY, -3, -0.0001,
                45.3, 453, 9.96, 99.6, 0.996, 10, 100, 2, 2.5, 0.104, 0.95)
            .mapToObj(v -> v + " = " + Text.number(v, " u") + ", " + Text.ratio(v) + "\n")
            .collect(Collectors.joining())
            + Row.median(List.of(9.0, 5.0, 1.0)) + " " + Row.median(List.of(4.0, 3.0, 2.0, 1.0))
            + " " + Row.median(List.of(2.0, Double.NaN)) + " " + Row.median(List.of()) + "\n";
    }

    /** Good pairs have ratios of 1 to 1.2. A range of ten or more leaves the odd one out. */
    static String ranges() {
        String all = "";
        for (int good : new int[] {8, 9, 11}) {
            for (double odd : new double[] {50, 0.02}) {
                for (int gaps : new int[] {0, 1, 5}) all += range(good, odd, gaps);
            }
        }
        return all;
    }

    static String range(int good, double odd, int gaps) {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < good; i++) pairs.add(new Pair(1 + i / 50.0, 1));
        pairs.add(new Pair(odd, 1));
        for (int i = 0; i < gaps; i++) pairs.add(new Pair(Double.NaN, 1));
        pairs.add(new Pair(7, Double.NaN));
        Row row = new Row("ranges", "of odd ones", true, 1, pairs, List.of());
        return good + " and " + odd + ", " + gaps + " gaps: "
            + Text.ratio(row.lowest()) + " to " + Text.ratio(row.highest()) + "\n";
    }

    /** A row is noisy if most of its launches were on a busy machine. */
    static String noise() {
        String all = "";
        for (double[] shares : new double[][] {{0, 0.2, 0}, {0.2, 0.05, 0.12}, {0.09, 0.09, 1},
                {0.2}, {0}, {Double.NaN, 0.2, 0.2}, {Double.NaN}, {0, 0, 0.2, 0.2}}) {
            Row row = new Row("noise", "of launches", true, 1, List.of(), List.of());
            for (double share : shares) row = row.and(Wire.parsed(
                String.join("\t", "noise", "of launches", "true", "1", "5", "2", "" + share)));
            all += Arrays.toString(shares) + ": " + Page.ratio(row, true) + "\n";
        }
        return all;
    }

    // --------------------------------------------------------------------- the experiments

    static List<Experiment> experiments() {
        return Stream.of(VirtualThreadsLab.FIVE, Encores.LIST).flatMap(List::stream).toList();
    }

    /** Results that nobody reads. */
    static class Quiet extends Results {
        Quiet() { super(new Page(new PrintStream(OutputStream.nullOutputStream()), false)); }
        @Override void show(String what) { }

        void perform(Experiment one, boolean quick, int samples) {
            new Run(List.of(one), quick, samples).perform(this);
        }
    }

    /** The rows that an experiment defines. Each side's work is handed over, not done here. */
    static Collection<Row> rows(Experiment one, boolean quick, BiConsumer<String, Job> sides) {
        var results = new Quiet() {
            @Override boolean attempt(String side, Job job) {
                if (side.equals(one.name())) return super.attempt(side, job);
                sides.accept(side, job);
                return false;
            }
        };
        results.perform(one, quick, 0);
        return results.rows.values();
    }

    /** All rows and their models, but for those whose models differ by JDK: see commands.md. */
    static String rows() throws Exception {
        StringBuilder all = new StringBuilder();
        for (boolean quick : new boolean[] {false, true}) {
            for (Experiment one : experiments()) {
                for (Row row : rows(one, quick, (side, job) -> { })) all.append(line(row));
            }
        }
        return all + "";
    }

    static String line(Row row) {
        boolean differs = row.name().matches("println.*|.*synchronized|.*median call");
        String model = differs ? "by JDK" : Text.ratio(row.model());
        return "%-12s %-19s %6s %s%n".formatted(row.experiment(), row.work(), model,
            row.isTime() ? "ms" : "");
    }

    /** Which threads each side starts, and what they wait for, as Flight Recorder sees it. */
    static String sides() throws Exception {
        Lab.clock = () -> now += 2_000_000_000;
        StringBuilder all = new StringBuilder();
        for (Experiment one : experiments()) {
            if (one.name().equals("million")) continue; // it has one side, and takes long
            rows(one, true, (side, job) ->
                all.append(side + ": " + recorded(side, job) + "\n"));
        }
        return all + "";
    }

    static String recorded(String side, Job job) {
        boolean mayPin = side.contains("pinning");
        try (var recording = new Recording()) {
            recording.enable("jdk.ThreadStart");
            recording.enable("jdk.VirtualThreadStart");
            recording.enable("jdk.ThreadSleep").withStackTrace().withoutThreshold();
            recording.enable("jdk.FileWrite").withoutThreshold().with("throttle", "off");
            recording.start();
            var locks = new FutureTask<>(Expected::locks);
            if (mayPin) Thread.ofPlatform().name("looks").start(locks);
            job.call();
            recording.stop();
            // On a busy machine, a look may miss the 10 ms: so again, until it has seen them.
            while (mayPin && !locks.isDone()) job.call();
            Path file = Files.createTempFile("sides", ".jfr");
            recording.dump(file);
            String did = did(file) + (mayPin ? locks.get() : "");
            Files.delete(file);
            return did;
        } catch (Exception e) {
            throw new IllegalStateException(side, e);
        }
    }

    /** What platform threads hold while they sleep: looks until it sees two of them. */
    static String locks() throws Exception {
        for (int i = 0; i < 100; i++) {
            Thread.sleep(3);
            int monitors = 0;
            int locks = 0;
            for (var info : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
                if (!info.getThreadName().startsWith("Thread-")) continue;
                if (info.getLockedMonitors().length > 0) monitors++;
                if (info.getLockedSynchronizers().length > 0) locks++;
            }
            if (monitors > 1 || locks > 1) return monitors > 1 ? " in monitors" : " with locks";
        }
        return "";
    }

    /** How often threads did what, but for http's clients, which sleep until calls are due. */
    static Map<String, Long> did(Path file) throws Exception {
        var did = RecordingFile.readAllEvents(file).stream().map(Expected::what)
            .collect(Collectors.groupingBy(what -> what, TreeMap::new, Collectors.counting()));
        if (did.remove("client") != null) did.remove("virtual");
        did.remove("others");
        return did;
    }

    static String what(RecordedEvent event) {
        if (event.hasField("bytesWritten"))
            return event.getString("path").endsWith(".txt") ? "writes" : "others";
        boolean isPlatformStart = event.getEventType().getName().equals("jdk.ThreadStart");
        var thread = event.getThread(isPlatformStart ? "thread" : "eventThread");
        boolean isOfTask = ("" + thread.getJavaName()).matches("(Thread|pool)-.*");
        if (!thread.isVirtual() && !isOfTask) return "others";
        String kind = thread.isVirtual() ? "virtual" : "platform";
        if (!event.hasField("time")) return kind;
        boolean isClient = event.getStackTrace() != null && event.getStackTrace().getFrames()
            .stream().anyMatch(frame -> frame.getMethod().getName().contains("callAt"));
        if (isClient) return "client";
        return kind + " sleeps " + event.getLong("time") / 1_000_000 + " ms";
    }

    /** What experiments rely on. Where one has to wait, all carriers are busy for 300 ms. */
    static String meanings() throws Exception {
        String all = "";
        var sinceBusy = sinceBusy();
        VirtualThreadsLab.startAll(Thread.ofVirtual(), 10);
        all += "startAll waits until all have run: " + (sinceBusy.read() > 290) + "\n";
        all += "park waits until all have come: "
            + (Encores.park(10, sinceBusy()) > 290) + "\n";
        sinceBusy = sinceBusy();
        double ms = Encores.delay(newVirtualThreadPerTaskExecutor(), Machine.CARRIERS,
            0, Encores::compute);
        all += "a delay begins once all compute: " + (sinceBusy.read() - ms > 290) + "\n";
        sinceBusy = sinceBusy();
        ms = Encores.delay(newThreadPerTaskExecutor(Thread::new), 1, 300, () -> { });
        all += "a delay begins once they have settled: " + (sinceBusy.read() - ms > 290) + "\n";
        boolean waits = false; // a busy machine may not end threads for 20 ms
        for (int i = 0; i < 3 && !waits; i++) {
            var done = new Semaphore(0);
            for (int j = 0; j < 500; j++)
                Thread.ofPlatform().start(done::acquireUninterruptibly);
            done.release(500);
            waits = VirtualThreadsLab.added(newFixedThreadPool(10), 20, 10) > 0;
        }
        all += "threads of an earlier job don't count: " + waits + "\n";
        long before = collections();
        Encores.heapUsed();
        all += "garbage isn't part of the heap used: " + (collections() > before) + "\n";
        boolean rests = false; // a busy machine may not let this JVM compute for 20 ms
        for (int i = 0; i < 5 && !rests; i++) rests = rested() > 4;
        all += "a side doesn't begin while this JVM computes: " + rests + "\n";
        all += "reads for three samples of a second that compute, or wait, and for one: "
            + reads(3, 1_050) + ", " + reads(3, 0) + ", " + reads(1, 0) + "\n";
        return all + latencies() + "nothing is waited for without a limit: " + limited() + "\n";
    }

    /** Each short shot leaves threads that compute. How often have they ended, of nine? */
    static long rested() throws Exception {
        List<Thread> computing = new ArrayList<>();
        Gauge leaves = () -> {
            long end = System.nanoTime() + 50_000_000;
            computing.clear();
            for (int i = 0; i < 4; i++) { // so that a busy machine, too, lets one compute
                computing.add(Thread.ofPlatform().start(() -> {
                    while (System.nanoTime() < end) Thread.onSpinWait();
                }));
            }
            return 1;
        };
        Gauge ended = () -> computing.stream().anyMatch(Thread::isAlive) ? 100 : 200;
        var results = new Quiet();
        results.perform(odd("rested", lab -> lab.measure("it", 1, ended, leaves)), true, 9);
        return results.rows.values().iterator().next().platforms().stream()
            .filter(ms -> ms == 200).count();
    }

    /** How often is a gauge of a second read, warm-up included, if it computes for so long? */
    static int reads(int samples, int computeMs) throws Exception {
        var bean = ManagementFactory.getThreadMXBean();
        var reads = new AtomicInteger();
        Gauge gauge = () -> {
            long end = bean.getCurrentThreadCpuTime() + computeMs * 1_000_000L;
            while (bean.getCurrentThreadCpuTime() < end) Thread.onSpinWait();
            reads.getAndIncrement();
            return 1_010;
        };
        new Quiet().perform(odd("reads", lab -> lab.measure("it", 1, gauge, () -> 5)),
            true, samples);
        return reads.get();
    }

    /** What a server's latencies are: of how many calls, from when on, and their median. */
    static String latencies() throws Exception {
        try (var server = new Encores.Server(newFixedThreadPool(2), 5)) {
            server.latency(() -> server.callAt(1_000, 100)); // warms up
            long start = System.nanoTime();
            server.latency(() -> server.callAt(20, 500));
            long ns = System.nanoTime() - start;
            String all = "ten calls at 20 a second last 450 ms: " + (ns > 450_000_000) + "\n";
            all += "latencies of the last job: " + server.latencies.size();
            sinceBusy();
            double ms = server.latency(() -> server.callAt(100, 50));
            all += ", then " + server.latencies.size();
            all += ", from when calls are due: " + (ms > 200) + "\n";
            ms = server.latency(() -> server.latencies.addAll(List.of(1.0, 2.0, 30.0)));
            return all + "the median of latencies: " + ms + "\n";
        }
    }

    /** What fails in time while other threads hold all carriers for longer than the limit. */
    static String limited() throws Exception {
        Lab.patience = 1;
        var free = new AtomicBoolean();
        for (int i = 0; i < Machine.CARRIERS; i++) Thread.startVirtualThread(() -> {
            while (!free.get()) Thread.onSpinWait();
        });
        var results = new Quiet();
        results.attempt("startAll", () ->
            VirtualThreadsLab.startAll(Thread.ofVirtual(), 10));
        results.attempt("park", () -> Encores.park(2, () -> 1));
        results.attempt("delay", () -> Encores.delay(newVirtualThreadPerTaskExecutor(), 1,
            0, Encores::compute));
        results.attempt("runAll", () ->
            Lab.runAll(newVirtualThreadPerTaskExecutor(), 1, () -> { }));
        free.set(true);
        try (var server = new Encores.Server(newFixedThreadPool(1), 3_000)) {
            results.attempt("a server", () -> server.call(System.nanoTime()));
        }
        return "" + results.failures.stream()
            .map(why -> why.replaceFirst(" at .*", "")).toList();
    }

    static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .mapToLong(collector -> collector.getCollectionCount()).sum();
    }

    /** Keeps all carriers busy for 300 ms; the gauge says for how many ms it has. */
    static Gauge sinceBusy() throws Exception {
        long start = System.nanoTime();
        var begun = new CountDownLatch(Machine.CARRIERS);
        for (int i = 0; i < Machine.CARRIERS; i++) Thread.startVirtualThread(() -> {
            begun.countDown();
            while (System.nanoTime() - start < 300_000_000) Thread.onSpinWait();
        });
        begun.await();
        return () -> (System.nanoTime() - start) / 1e6;
    }
}
