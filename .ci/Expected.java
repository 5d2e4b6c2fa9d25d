// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.Executors.*;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

/**
 * Runs the lab in this JVM, with a clock and gauges that say what is known, and compares whole
 * reports with the texts in .ci/expected. LabTest starts it for two processors; "write" writes
 * the texts anew: read what git diff says of them before you commit.
 */
class Expected {
    static final Path HOME = Path.of(".ci/expected");
    static final int FAILS_AT = 3;
    static long now; // of the clock, in ns
    static double others; // what it seems to be
    static boolean write;

    interface Told { String get() throws Exception; }

    public static void main(String[] words) throws Exception {
        List<String> wanted = new ArrayList<>(List.of(words));
        write = wanted.remove("write");
        boolean all = wanted.isEmpty();
        if (all) {
            is("plain", () -> run(plain()));
            is("progress", () -> progress(plain()));
            is("cells", () -> run(cells(), "all"));
            is("failing", () -> run(failing()));
            is("noisy-busy", () -> run(noisy()));
            is("predictions", Expected::predictions);
            is("samples", () -> run(plain(), "samples", "--samples", "--runs", "12")
                + run(plain(), "one", "--samples", "--runs", "1"));
            if (Files.exists(Path.of("/bin/sh"))) is("starts", Expected::starts);
            is("interrupted", () -> run(interrupted()));
            is("help", () -> run(VirtualThreadsLab.FIVE, "--help"));
            is("refused", Expected::refused);
            is("order", Expected::order);
            is("cut", Expected::cut);
            is("shots", Expected::shots);
            is("heartbeat", Expected::heartbeat);
            is("numbers", Expected::numbers);
        }
        if (all || wanted.remove("rows")) is("rows-" + Lab.PROCESSORS + "-" + Lab.CARRIERS
            + (Lab.JDK > 25 ? "-26" : Lab.JDK > 23 ? "" : "-21"), Expected::rows);
        if (wanted.remove("sides")) {
            is("sides", Expected::sides);
            is("waits", Expected::waits);
        }
        System.exit(0);
    }

    /** Compares a text with the kept one, and tells the first line that differs. */
    static void is(String name, Told text) throws Exception {
        long start = System.nanoTime();
        now = 0;
        others = 0;
        Path kept = HOME.resolve(name + ".txt");
        String is;
        try {
            is = text.get();
        } catch (Exception | Error e) {
            System.out.println("FAILED: expected: " + name + ": " + e);
            e.printStackTrace(System.out);
            return;
        }
        if (write) Files.writeString(kept, is);
        List<String> lines = is.lines().toList();
        List<String> wanted = Files.exists(kept) ? Files.readAllLines(kept) : List.of();
        for (int i = 0; i < Math.max(lines.size(), wanted.size()); i++) {
            String line = i < lines.size() ? lines.get(i) : "nothing";
            String other = i < wanted.size() ? wanted.get(i) : "nothing";
            if (line.equals(other)) continue;
            System.out.println("FAILED: expected: " + name + ": " + kept + ", line " + (i + 1)
                + ": expected: " + other + ", but was: " + line);
            return;
        }
        System.out.println("passed: expected: " + name + " ("
            + (System.nanoTime() - start) / 1_000_000_000 + " s)");
    }

    // -------------------------------------------------------------------- running the lab

    static String run(List<Experiment> list, String... words) throws Exception {
        return captured(true, () -> More.run(list, Expected::tick, () -> others, words), words);
    }

    /** The clock goes on by 0.7 s whenever it's read: a warm-up of long work reads once. */
    static long tick() { return now += 700_000_000; }

    interface Code { int get() throws Exception; }

    /** What is printed, without what differs by machine, day and place; then the exit code. */
    static String captured(boolean outOnly, Code code, String... words) throws Exception {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        PrintStream realOut = System.out;
        PrintStream realErr = System.err;
        System.setOut(new PrintStream(out, true, UTF_8));
        System.setErr(new PrintStream(err, true, UTF_8));
        System.setProperty("sun.java.command",
            ("VirtualThreadsLab.java " + String.join(" ", words)).strip());
        int exit;
        try {
            exit = code.get();
        } finally {
            System.setOut(realOut);
            System.setErr(realErr);
        }
        String text = out.toString(UTF_8)
            .replace("" + Runtime.version(), "VERSION")
            .replace(System.getProperty("java.vm.vendor"), "VENDOR")
            .replace(java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
                .getFirst().getName(), "GC")
            .replace(System.getProperty("os.name") + " " + System.getProperty("os.arch"), "OS")
            .replace("" + java.time.LocalDate.now(), "DATE")
            .replaceAll("\\.java:\\d+", ".java:N").replaceAll("lambda\\$(\\w+)\\$\\d+", "$1");
        String said = err.toString(UTF_8).replaceAll("\\b\\d{1,3} s  ", "N s  ")
            .replace("\r" + " ".repeat(79) + "\r", "\n(cleared)\n").replace("\r", "\n")
            .replaceAll("Cannot run program.*", "Cannot run").replaceAll(" +\n", "\n")
            .replaceAll("\n+", "\n").strip();
        boolean told = !outOnly || text.isEmpty();
        return text + (told ? "standard error:\n" + said + "\n" : "")
            + "exit code " + exit + "\n";
    }

    static Experiment one(String name, Body body) {
        return new Experiment(name, "an odd one", body);
    }

    /** A gauge that reads these numbers in turn, the first in the warm-up. */
    static Gauge of(double... numbers) {
        var next = new AtomicInteger();
        return () -> numbers[next.getAndIncrement() % numbers.length];
    }

    // ------------------------------------------------------------------------ the reports

    static List<Experiment> plain() {
        return List.of(
            new Experiment("two", 2, "two rows", lab -> {
                Row row = lab.measure("of five", "ms", 2.5, of(1_000, 42, 40, 38, 44, 36),
                    of(1_000, 16, 15, 17, 14.5, 16.5));
                lab.measure("a | bar\nand more", "ms", 1, () -> 40, () -> 16);
                lab.say("%s, then %s and %s ms", "first", row.platform(), row.virtual());
            }),
            one("one", lab -> {
                lab.measure("of ten", "objects", 0.5,
                    of(9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
                    of(9, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24.5));
                lab.say("size %s", lab.size(1_000, 10));
            }),
            one("samples", lab -> lab.measure("many", "ms", Lab.UNKNOWN,
                of(1, 10, 500, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20), () -> 10)));
    }

    static String progress(List<Experiment> list) throws Exception {
        return captured(false, () -> More.run(list, Expected::tick, () -> 0, "--runs", "2",
            "--quick"), "--quick");
    }

    static List<Experiment> cells() {
        return List.of(one("cells", lab -> {
            lab.measure("large", "things", Lab.UNKNOWN, () -> 12_345.6, () -> 1_000);
            lab.measure("small", "ms", 0.02, () -> 0.0666, () -> 72.2);
            lab.measure("long", "ms", 9_999, () -> 20_334, () -> 10_167);
            lab.measure("nearly long", "ms", Lab.UNKNOWN, () -> 9_999, () -> 10_000);
            lab.measure("equal", "things", 1, () -> 7, () -> 7);
            lab.measure("half", "things", 1.0 / 3, () -> 5, () -> 10);
            lab.measure("just a block", "ms", 1, () -> 142, () -> 100);
            lab.measure("no block yet", "ms", 1, () -> 141, () -> 100);
            lab.measure("counts", Row.COUNT, Lab.UNKNOWN, () -> 200, () -> 1);
            lab.measure("one side", "ms", Lab.UNKNOWN, Encores.NO_SIDE, () -> 1_234_567);
        }));
    }

    static List<Experiment> failing() {
        return List.of(
            one("warm-up", lab -> lab.measure("fails", "ms", 1, () -> {
                throw new IOException("no\nroom", new IllegalStateException("deeper"));
            }, () -> 16)),
            new Experiment("late", 2, "", lab -> {
                var reads = new AtomicInteger();
                lab.measure("fails", "ms", 1, () -> 40, () -> {
                    Lab.check("sheep", 3, reads.incrementAndGet() == FAILS_AT ? 4 : 3);
                    return 16;
                });
                lab.measure("goes on", "ms", 1, () -> 40, () -> 16);
            }),
            one("tasks", lab -> lab.time("three", 1, () ->
                Lab.runAll(newThreadPerTaskExecutor(Thread::new), 3, () -> {
                    throw new AssertionError("dropped");
                }), () -> now += 5_000_000)),
            one("body", lab -> {
                lab.say("before, %s", 1);
                throw new CancellationException();
            }),
            one("deep", lab -> List.of().getFirst()));
    }

    static List<Experiment> noisy() {
        return List.of(
            one("spread", lab -> lab.measure("just not", "ms", 1, of(1, 10, 15, 10, 10, 10),
                () -> 10)),
            one("noisy", lab -> lab.measure("one in five", "ms", 1,
                of(1, 100, 151, 100, 100, 100), () -> 10)),
            one("virtual", lab -> lab.measure("noisy", "ms", 1, () -> 10,
                of(1, 100, 151, 100, 100, 100))),
            busy(0.1),
            busy(0.11),
            one("count", lab -> lab.measure("is never noisy", Row.COUNT, Lab.UNKNOWN,
                of(1, 10, 20, 30, 40, 50), () -> 2)),
            busy(0.294));
    }

    static Experiment busy(double share) {
        return one("busy", lab -> lab.measure("others " + share, "ms", 1, () -> 40, () -> {
            others = share; // while it reads
            return 16;
        }));
    }

    static String predictions() throws Exception {
        InputStream real = System.in;
        System.setIn(new ByteArrayInputStream("5\nten\n\n1/4\n".getBytes(UTF_8)));
        try {
            var list = Stream.of(plain(), cells()).flatMap(List::stream).toList();
            return captured(false, () -> More.run(list, Expected::tick, () -> others,
                    "--predict", "--runs", "1"), "--predict")
                + Stream.of("50×", "~20", "10 times", "10X", "1:4", "1/10", "0.5", ".5", "",
                    "ten", "0", "1/0", "1/2/3", "3..4").map(typed -> typed + " = "
                    + FullReport.understood(typed) + "\n").collect(Collectors.joining());
        } finally {
            System.setIn(real);
        }
    }

    static List<Experiment> interrupted() {
        return List.of(one("first", lab -> lab.measure("done", "ms", 1, () -> 40, () -> 16)),
            one("then", lab -> {
                lab.say("said before");
                ((FullReport) lab.report()).interrupted();
                lab.measure("not printed", "ms", 1, () -> 40, () -> 16);
            }));
    }

    /** Two JDKs, of which one is older, take turns; a start of the other one fails. */
    static String starts() throws Exception {
        Path home = Files.createTempDirectory("starts");
        List<String> words = new ArrayList<>(List.of("--starts", "3", "--runs", "2", "even"));
        for (int jdk : new int[] {21, 25}) {
            for (int start = 1; start <= 3; start++) {
                boolean fails = jdk == 25 && start == 2;
                double share = jdk == 25 ? 0 : List.of(0.05, 0.2, 0.12).get(start - 1);
                Files.writeString(home.resolve(jdk + "-" + start), """
                    a line of the JVM's own

                    \thead\tJava %1$s
                    \thead\tLinux, samples: 2
                    \tprogress\trow 1 of 2\teven first  1/2
                    \trow\teven\tfirst\tms\t2.5\t%2$s\t16.0\t%3$s
                    \trow\teven\tcount\t\tNaN\t200.0\t%4$s\t0.0
                    """.formatted(jdk, 40.0 + start, share, start % 2)
                    + (start < 3 || jdk < 25 ? ""
                        : "\trow\teven\tlast\tms\tNaN\tNaN\t7.0\t0.0\n")
                    + (fails ? "" : "\tfailed\teven, platform: why " + jdk + "\n")
                    + (fails ? "" : "\tend\teven: start " + start + ".\teven: and more.\n"));
            }
            Path java = Files.writeString(home.resolve("java" + jdk), """
                #!/bin/sh
                cd '%s'
                [ "$1" != --list-modules ] || exec echo java.base@%s jdk.compiler@%2$s
                echo >> count%2$s
                echo "$@" | sed 's/.*-Dstd/-Dstd/; s/-cp [^ ]*/-cp PATH/' >> said%2$s
                n=$(grep -c '' count%2$s)
                cat %2$s-$n
                [ "$n" != 2 ] || { echo it breaks >&2; exit %2$s; }
                """.formatted(home, jdk));
            java.toFile().setExecutable(true);
            words.addAll(List.of("--java", "" + java));
        }
        var list = List.of(one("even", lab -> { }));
        String shown = "--starts 3 --runs 2 even --java jdk21 --java jdk25";
        String both = captured(true, () -> More.run(list, Expected::tick, () -> 0,
            words.toArray(String[]::new)), shown)
            + "children: " + Files.readString(home.resolve("said25"));
        Files.delete(home.resolve("count21"));
        String one = captured(true, () -> More.run(list, Expected::tick, () -> 0, "--java",
            home + "/java21", "even"), "--java jdk21 even");
        for (File file : home.toFile().listFiles()) file.delete();
        Files.delete(home);
        return both + one;
    }

    static String refused() throws Exception {
        String all = "";
        for (String words : List.of("none", "--quik", "two --quick x", "--runs", "--runs 0",
                "--runs 101", "--runs 1 --runs x", "--starts", "--starts 0", "--starts x",
                "--java", "--java /dev/null", "--java none", "--predict --starts 2", "a\nb",
                "--predict --java /bin/true", "println")) {
            all += words.replace("\n", "\\n") + "\n" + run(plain(), words.split(" "));
        }
        List<Experiment> bad = List.of(one("bad", lab -> lab.measure("a row", "ms", 0, () -> 1,
            () -> 1)));
        return all + run(bad)
            + run(Stream.concat(plain().stream(), bad.stream()).toList(), "all");
    }

    static String order() throws Exception {
        return run(plain(), "one", "two", "--runs", "9", "one", "--runs", "1", "--quick",
                "--quick")
            + run(plain(), "samples", "all", "--runs", "100");
    }

    /** What is left without the lines below the cut. */
    static String cut() throws Exception {
        return captured(true, () -> Lab.run(new Report(), Expected::tick, false, 5,
                Stream.of(plain(), failing()).flatMap(List::stream).toList()))
            + captured(true, () -> Lab.run(plain(), "--quick", "x"));
    }

    /** How often work of so many ms is done in a warm-up and a sample, and what is read. */
    static String shots() throws Exception {
        String all = "";
        for (double[] ms : new double[][] {{10, 30, 150}, {7}, {500}, {0.5}, {1}}) {
            for (boolean quick : new boolean[] {false, true}) {
                var shots = new AtomicInteger();
                List<Integer> done = new ArrayList<>();
                Job job = () -> now += (long) (ms[shots.getAndIncrement() % ms.length] * 1e6);
                Report report = new Report() {
                    @Override void progress(Lab lab, Row row, String step) {
                        done.add(shots.getAndSet(0));
                    }

                    @Override void put(String text) { }
                };
                Lab lab = new Lab(report, () -> now, quick, 2, 1, one("shots", null));
                Row row = lab.time("a job", 1, job, () -> now += 20_000_000);
                all += "%s%s: shots %s and then %s, samples %s%n".formatted(Arrays.toString(ms),
                    quick ? ", quick" : "", done, shots, row.platforms());
            }
        }
        return all;
    }

    /** What is said of passes of 200 ms, and which of them are clear. */
    static String heartbeat() {
        String all = "";
        double[][] passes = { // virtual and platform ticks missed, computed, held, looks
            {0, 0, 0, 0, 9}, {30, 35, 0, 0, 9}, {1.9, 0, 0, 0, 9}, {2.1, 0, 0, 2, 9},
            {60, 40, 0, 0, 9}, {39, 0, 0, 0, 9}, {41, 0, 0, 1, 9}, {120, 0, 0, 2, 9},
            {121, 0, 0, 2, 9}, {201, 0, 0, 2, 9}, {199, 41, 0, 0, 9}, {0, 0, 20, 0, 9},
            {0, 0, 21, 2, 9}, {0, 0, 0, 3, 9}, {0, 0, 0, 10, 9}, {0, 0, 0, 0, 2},
            {0, 0, 0, 0, 3}};
        for (double[] p : passes) {
            List<List<String>> looks = new ArrayList<>();
            for (int i = 0; i < p[4]; i++) { // in a third of them, hardly anybody calls
                var held = new ArrayList<>(Collections.nCopies((int) p[3] - 1 < 0 ? 0
                    : (int) p[3] - 1, "`b`"));
                if (p[3] > 0) held.add("`a`");
                looks.add(i % 3 == 0 ? List.of() : held);
            }
            var pass = new Heartbeat.Pass(200, p[0], p[1], p[2], looks);
            all += "%s %s: %s, or %s%n".formatted(Arrays.toString(p), pass.clear(),
                pass.facts(true), pass.facts(false));
        }
        return all;
    }

    static String numbers() {
        return DoubleStream.of(0, 1, 0.96, 12.344, 999.4, 999.5, 12_345.6, 0.0999, 0.1, 0.0123,
                0.01, 0.0052, 0.001, 0.00099, Double.NaN, Double.POSITIVE_INFINITY, -3, -0.0001)
            .mapToObj(v -> v + " = " + Text.number(v, " u") + "\n")
            .collect(Collectors.joining())
            + Row.quantile(List.of(9.0, 5.0, 1.0), 0.5) + " "
            + Row.quantile(List.of(4.0, 3.0, 2.0, 1.0), 0.5) + " "
            + Row.quantile(List.of(2.0, Double.NaN), 0.5) + " "
            + Row.quantile(List.of(), 0.5) + "\n"
            + Text.own(Stream.of("java.A", "jdk.B", "javax.C", "sun.D", "org.E.f:1")) + " "
            + Text.own(Stream.of("java.A")) + "\n"
            + Others.stolen(new double[8], new double[] {1, 2, 3, 4, 5, 6, 9, 10}) + "\n";
    }

    // --------------------------------------------------------------------- the experiments

    static List<Experiment> experiments() {
        return Stream.of(VirtualThreadsLab.FIVE, Encores.LIST).flatMap(List::stream).toList();
    }

    /** All rows, models and sentences; in place of being measured, each side says a number. */
    static String rows() throws Exception {
        StringBuilder all = new StringBuilder();
        for (boolean quick : new boolean[] {false, true}) {
            for (Experiment one : experiments()) {
                Report report = new Report() {
                    @Override void progress(Lab lab, Row row, String step) {
                        row.platforms().add(40.0 + 100 * rows.size());
                        row.virtuals().add(16.0 + 100 * rows.size());
                    }

                    @Override boolean attempt(String what, Job job) { return true; }

                    @Override void add(Row row) {
                        rows.add(row);
                        all.append(line(row).replace("\n", " ") + row.unit() + "\n");
                    }

                    @Override void waited(Row row, String what, int tasks, Job call) {
                        all.append("waited: " + what + ", " + tasks + " tasks\n");
                    }
                };
                one.body().run(new Lab(report, Expected::tick, quick, 0, 0, one));
                report.said.forEach(said -> all.append("    " + said + "\n"));
                all.append("rows: " + one.rows() + ", " + report.rows.size() + "\n");
            }
        }
        return all + "";
    }

    /** Which threads each side starts, and how long they sleep, as Flight Recorder sees it. */
    static String sides() throws Exception {
        StringBuilder all = new StringBuilder();
        for (Experiment one : experiments()) {
            Report report = new Report() {
                @Override boolean attempt(String side, Job job) {
                    try (var recording = new Recording()) {
                        recording.enable("jdk.ThreadStart");
                        recording.enable("jdk.VirtualThreadStart");
                        for (String waits : WAITS) recording.enable(waits).withoutThreshold();
                        recording.start();
                        job.run();
                        recording.stop();
                        Path file = Files.createTempFile("sides", ".jfr");
                        recording.dump(file);
                        all.append(side + ": " + did(file) + "\n");
                        return Files.deleteIfExists(file);
                    } catch (Exception e) {
                        throw new IllegalStateException(side, e);
                    }
                }

                @Override void progress(Lab lab, Row row, String step) { }
                @Override void add(Row row) { }
                @Override void waited(Row row, String what, int tasks, Job call) { }
            };
            if (!one.name().equals("million")) // it has one side, and long ones
                one.body().run(new Lab(report, () -> now += 2_000_000_000, true, 0, 0, one));
        }
        return all + "";
    }

    /** What waits for what: told where all carriers are busy, so that it shows. */
    static String waits() throws Exception {
        Set<Thread> callers = ConcurrentHashMap.newKeySet();
        String facts = Heartbeat.facts(2, () -> {
            callers.add(Thread.currentThread());
            TimeUnit.NANOSECONDS.sleep(50_000_000 - System.nanoTime() % 50_000_000);
            if (callers.size() <= 4) compute(20); // in two passes, which isn't clear
        });
        String all = "passes of the heartbeat: " + callers.size() / 2 + ", and it tells of the "
            + (facts.contains("no carrier") ? "worst" : "best") + "\n";
        var builder = Thread.ofVirtual().name("virtual ", 0);
        var starting = newThreadPerTaskExecutor(Thread::new);
        busy(1_000);
        var started = starting.submit(() -> {
            VirtualThreadsLab.startAll(builder, 10);
            return true;
        });
        Thread.sleep(300);
        all += "started while none can run: up to " + builder.unstarted(() -> { }).getName()
            + ", and all run: " + started.get() + "\n";
        busy(500);
        all += "park waits until all have come: " + (Encores.parkedMs(10) > 100) + "\n";
        long start = System.nanoTime();
        double ms = Encores.parkedMs(100_000);
        all += "and not until they end: " + (ms < 0.97 * ms(start)) + "\n";
        busy(1_000);
        start = System.nanoTime();
        ms = Encores.delay(newVirtualThreadPerTaskExecutor(), Lab.CARRIERS);
        all += "a delay begins once all compute: " + (ms < 0.9 * ms(start)) + "\n";
        try (var server = new Encores.Server(newFixedThreadPool(2), 5)) {
            server.latency(() -> server.callAt(100, 100));
            busy(500);
            ms = server.latency(() -> server.callAt(100, 50));
            return all + "latencies of the last job: " + server.latencies.size()
                + ", from when its calls are due: " + (ms > 100) + "\n";
        }
    }

    static double ms(long since) { return (System.nanoTime() - since) / 1e6; }

    /** Keeps all carriers busy for so many ms. */
    static void busy(int ms) throws Exception {
        var begun = new CountDownLatch(Lab.CARRIERS);
        for (int i = 0; i < Lab.CARRIERS; i++) Thread.startVirtualThread(() -> {
            begun.countDown();
            compute(ms);
        });
        begun.await();
    }

    static void compute(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < end) Thread.onSpinWait();
    }

    static final List<String> WAITS =
        List.of("jdk.ThreadSleep", "jdk.ThreadPark", "jdk.JavaMonitorEnter");

    /** By kind of thread; of http's calls, which sleep until they are due, nearly all. */
    static Map<String, Long> did(Path file) throws Exception {
        var did = RecordingFile.readAllEvents(file).stream().map(event -> {
            boolean start = event.getEventType().getName().equals("jdk.ThreadStart");
            var thread = event.getThread(start ? "thread" : "eventThread");
            boolean pooled = ("" + thread.getJavaName()).matches("(Thread|pool)-.*");
            if (!thread.isVirtual() && !pooled) return "others";
            String kind = thread.isVirtual() ? "virtual" : "platform";
            if (event.hasField("time"))
                return kind + " sleeps " + event.getLong("time") / 1_000_000 + " ms";
            if (!WAITS.contains(event.getEventType().getName())) return kind;
            String stack = Stream.ofNullable(event.getStackTrace())
                .flatMap(trace -> trace.getFrames().stream())
                .map(frame -> frame.getMethod().getName()).collect(Collectors.joining(" "));
            boolean locks = stack.matches("(.* lock )?lambda.pinning.*");
            return locks ? kind + " waits for a lock" : "others";
        }).collect(Collectors.groupingBy(what -> what, TreeMap::new, Collectors.counting()));
        did.remove("others");
        if (did.size() > 9) {
            did.remove("virtual");
            did.values().removeIf(often -> often < 50);
            did.replaceAll((what, often) -> often / 10 * 10);
        }
        return did;
    }
}
