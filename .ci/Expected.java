// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.*;
import static java.util.concurrent.Executors.*;

import java.io.*;
import java.lang.management.ManagementFactory;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

/**
 * Runs the lab in this JVM, with a clock and gauges that say what is known, and compares whole
 * reports with the texts in .ci/expected. Its words name tests; "write" writes their texts
 * anew: read what git diff says of them before you commit. LabTest starts it on 2 processors
 * for all but rows and sides, and for these on others, too.
 */
class Expected {
    static final Path HOME = Path.of(".ci/expected");
    static final Map<String, Callable<String>> TESTS = new LinkedHashMap<>();
    static long now; // of the clock, in ns
    static double others; // what it seems to be

    public static void main(String[] words) throws Exception {
        String machine = "-" + Lab.PROCESSORS + "-" + Lab.CARRIERS;
        TESTS.put("plain", () -> run(plain()));
        TESTS.put("progress", () -> captured(false, () -> CommandLine.run(plain(),
            Expected::tick, () -> 0, "--runs", "2", "--quick"), "--quick"));
        TESTS.put("cells", () -> run(cells(), "all"));
        TESTS.put("failing", () -> run(failing()));
        TESTS.put("noisy-busy", () -> run(noisy()));
        TESTS.put("predictions", Expected::predictions);
        TESTS.put("samples", () -> run(plain(), "samples", "--samples", "--runs", "12")
            + run(plain(), "one", "--samples", "--runs", "2"));
        if (Files.exists(Path.of("/bin/sh"))) TESTS.put("starts", Expected::starts);
        TESTS.put("interrupted", () -> run(interrupted()));
        TESTS.put("help", () -> run(VirtualThreadsLab.FIVE, "--help"));
        TESTS.put("refused", Expected::refused);
        TESTS.put("order", () -> run(plain(), "one", "two", "--runs", "9", "one", "--runs", "1",
            "--quick", "--quick") + run(plain(), "samples", "all", "--runs", "100"));
        TESTS.put("cut", Expected::cut);
        TESTS.put("turns", Expected::turns);
        TESTS.put("calls", Expected::calls);
        TESTS.put("numbers", Expected::numbers);
        TESTS.put("waits", Expected::waits);
        TESTS.put("rows" + machine, Expected::rows);
        TESTS.put("sides" + machine, Expected::sides);
        List<String> wanted = new ArrayList<>(List.of(words));
        boolean write = wanted.remove("write");
        Set<String> unknown = new LinkedHashSet<>(wanted);
        unknown.removeIf(word -> TESTS.keySet().stream().anyMatch(name -> name.contains(word)));
        if (!unknown.isEmpty()) System.err.println("Expected: no such test: " + unknown);
        if (!unknown.isEmpty()) System.exit(2);
        for (String name : TESTS.keySet())
            if (wanted.isEmpty() || wanted.stream().anyMatch(name::contains)) is(name, write);
        System.exit(0);
    }

    /** Compares a text with the kept one, and tells the first line that differs. */
    static void is(String name, boolean write) throws Exception {
        long start = System.nanoTime();
        now = 0;
        others = 0;
        Path kept = HOME.resolve(name + ".txt");
        String is;
        try {
            is = TESTS.get(name).call();
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
        return captured(true,
            () -> CommandLine.run(list, Expected::tick, () -> others, words), words);
    }

    /** The clock goes on by 0.7 s whenever it's read: a warm-up of long work reads once. */
    static long tick() { return now += 700_000_000; }

    /** What is printed, without what differs by machine, day and place; then the exit code. */
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
            .replace("" + java.time.LocalDate.now(), "DATE")
            .replaceAll("(`Expected\\.)(lambda\\$)?(\\w+)[$\\d]*:\\d+", "$1$3:N");
        String said = err.toString(UTF_8).replaceAll("\\b\\d{1,3} s  ", "N s  ")
            .replaceAll("(\r+ *)+", "\n").replaceAll("Cannot run program.*", "Cannot run")
            .replaceAll("\\s*\n", "\n").strip();
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
            new Experiment("two", "two rows", lab -> {
                lab.measure("of five", "ms", 2.5, of(1_000, 42, 40, 38, 44, 36),
                    of(1_000, 16, 15, 17, 14.5, 16.5));
                lab.measure("a | bar\nand more", "ms", 1, () -> 40, () -> 16);
            }),
            one("one", lab -> lab.measure("of ten", "objects", 0.5,
                of(9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
                of(9, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24.5))),
            one("samples", lab -> lab.measure("many", "ms", Lab.UNKNOWN,
                of(1, 10, 500, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20), () -> 10)));
    }

    static List<Experiment> cells() {
        return List.of(one("cells", lab -> {
            lab.measure("large", "things", Lab.UNKNOWN, () -> 12_345.6, () -> 1_000);
            lab.measure("small", "ms", 0.02, () -> 0.0666, () -> 72.2);
            lab.measure("long", "ms", 999, () -> 20_334, () -> 10_167);
            lab.measure("nearly long", "ms", Lab.UNKNOWN, () -> 9_999, () -> 10_000);
            lab.measure("equal", "things", 1, () -> 7, () -> 7);
            lab.measure("half", "things", 1.0 / 3, () -> 5, () -> 10);
            lab.measure("just a block", "ms", 1, () -> 142, () -> 100);
            lab.measure("no block yet", "ms", 1, () -> 141, () -> 100);
            lab.measure("counts", Row.COUNT, Lab.UNKNOWN, () -> 200, () -> 1);
            lab.measure("one side", "ms", Lab.UNKNOWN, () -> Lab.UNKNOWN, () -> 1_234_567);
        }));
    }

    static List<Experiment> failing() {
        return List.of(
            one("warm-up", lab -> lab.measure("fails", "ms", 1, () -> {
                throw new IOException("no\nroom", new IllegalStateException("deeper"));
            }, () -> 16)),
            one("late", lab -> {
                var reads = new AtomicInteger();
                lab.measure("fails", "ms", 1, () -> 40, () -> {
                    Lab.check("sheep", 3, reads.incrementAndGet() == 3 ? 4 : 3);
                    return 16;
                });
                lab.measure("goes on", "ms", 1, () -> 40, () -> 16);
            }),
            one("tasks", lab -> lab.time("three", 1, () ->
                Lab.runAll(newThreadPerTaskExecutor(Thread::new), 3, () -> {
                    throw new AssertionError("dropped");
                }), () -> now += 5_000_000)),
            one("body", lab -> {
                throw new CancellationException();
            }),
            one("silent", lab -> lab.measure("errors", "ms", 1, () -> {
                throw new AssertionError();
            }, () -> {
                throw new ExecutionException(null);
            })),
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
            busy("ms", 0.1, 16),
            busy("ms", 0.11, 80),
            busy("objects", 0.2, 16),
            one("count", lab -> lab.measure("is never noisy", Row.COUNT, Lab.UNKNOWN,
                of(1, 10, 20, 30, 40, 50), () -> 2)),
            busy("ms", 0.294, 16),
            one("busy", lab -> lab.measure("one side", "ms", 1, () -> Lab.UNKNOWN, () -> {
                others = 0.5;
                return 16;
            })));
    }

    static Experiment busy(String unit, double share, double virtual) {
        return one("busy", lab -> lab.measure("others " + share, unit, 1, () -> 40, () -> {
            others = share; // while it reads
            return virtual;
        }));
    }

    static String predictions() throws Exception {
        InputStream real = System.in;
        System.setIn(new ByteArrayInputStream("5\nten\n\n1/4\n0\n".getBytes(UTF_8)));
        try {
            var list = Stream.of(plain(), cells()).flatMap(List::stream).toList();
            return captured(false, () -> CommandLine.run(list, Expected::tick,
                    () -> others, "--predict", "--runs", "1"), "--predict")
                + Stream.of("50×", "~20", "10 times", "10X", "1:4", "1/10", "0.5", ".5", "",
                    "ten", "0", "1/0", "1/2/3", "3..4", "50%", "10,5").map(text -> text + " = "
                    + FullReport.understood(text) + "\n").collect(Collectors.joining());
        } finally {
            System.setIn(real);
        }
    }

    static List<Experiment> interrupted() {
        return List.of(one("first", lab -> lab.measure("done", "ms", 1, () -> 40, () -> 16)),
            one("then", lab -> {
                FullReport report = (FullReport) lab.report();
                report.said.add("said before.");
                report.interrupted();
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
                    a line of a call's own

                    lab:row\teven\tfirst\tms\t2.5\t%s\t16.0\t%s
                    lab:row\teven\tcount\t\tNaN\t200.0\t%s\t0.0
                    """.formatted(40.0 + start, share, start % 2)
                    + (start < 3 || jdk < 25 ? ""
                        : "lab:row\tother\tfirst\tms\tNaN\tNaN\t7.0\t0.0\n")
                    + (fails ? "" : "lab:end\nlab:said\teven: start " + start + ".\n"));
            }
            Path bin = Files.createDirectories(home.resolve("jdk" + jdk).resolve("bin"));
            Files.writeString(bin.resolveSibling("release"),
                "IMPLEMENTOR=\"a vendor\"\nJAVA_VERSION=\"%s.0.4\"\n".formatted(jdk));
            Path java = Files.writeString(bin.resolve("java"), """
                #!/bin/sh
                cd '%s'
                echo >> count%2$s
                echo "$@" | sed 's/.*-Ds/-Ds/; s/h=[^ ]*/h=PATH/; s/t=[0-9]*/t=PID/' >> said%2$s
                n=$(grep -c '' count%2$s)
                cat %2$s-$n
                [ "${n}%2$s" != 225 ] || { echo it breaks; exit 25; }
                """.formatted(home, jdk));
            java.toFile().setExecutable(true);
            words.addAll(List.of("--java", "" + bin.getParent()));
        }
        var list = List.of(one("even", lab -> { }));
        String shown = "--starts 3 --runs 2 even --java jdk21 --java jdk25";
        String both = captured(false, () -> CommandLine.run(list, Expected::tick,
                () -> 0, words.toArray(String[]::new)), shown)
            + Files.readString(home.resolve("said25")).replace("" + home, "HOME");
        Files.delete(home.resolve("count21"));
        String one = captured(true, () -> CommandLine.run(list, Expected::tick, () -> 0,
            "--java", home + "/jdk21", "even"), "--java jdk21 even");
        try (var files = Files.walk(home)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
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
        return all + run(Stream.of(bad, plain()).flatMap(List::stream).toList(), "all")
            + run(Stream.of(plain(), bad, plain()).flatMap(List::stream).toList(), "all");
    }

    /** What is left without the lines below the cut. */
    static String cut() throws Exception {
        return captured(true, () -> Lab.run(Stream.of(plain(), failing())
                .flatMap(List::stream).toList(), new Report(), Expected::tick, false, 5))
            + captured(true, () -> Lab.run(plain(), "--quick", "x"));
    }

    /** Which side is read when, how often work of so many ms is done, and what is read. */
    static String turns() throws Exception {
        String all = "";
        for (double[] ms : new double[][] {{10, 30, 150}, {7}, {500}, {0.5}, {1}}) {
            for (boolean quick : new boolean[] {false, true}) {
                var did = new StringBuilder();
                var shots = new AtomicInteger();
                Report report = new Report() {
                    @Override boolean attempt(String side, Job job) {
                        did.append(side.contains("platform") ? " P" : " V");
                        shots.set(0);
                        return super.attempt(side, job) && did.append(shots) != null;
                    }

                    @Override void put(String text) { }
                };
                Job job = () -> now += (long) (ms[shots.getAndIncrement() % ms.length] * 1e6);
                Lab lab = new Lab(report, () -> now, quick, 3, one("turns", null));
                lab.time("a job", 1, job, () -> now += 20_000_000);
                all += Arrays.toString(ms) + (quick ? ", quick:" : ":") + did + ", samples "
                    + report.rows.getLast().platforms() + "\n";
            }
        }
        return all + limits() + "\n";
    }

    /** What runAll asks of an executor. */
    static String limits() throws Exception {
        List<String> asked = new ArrayList<>();
        Lab.runAll((ExecutorService) java.lang.reflect.Proxy.newProxyInstance(
            Expected.class.getClassLoader(), new Class<?>[] {ExecutorService.class},
            (proxy, method, args) -> {
                if (!method.getName().equals("invokeAll")) return asked.add(method.getName());
                asked.add(((Collection<?>) args[0]).size() + " tasks, " + args[1] + args[2]);
                return List.of();
            }), 7, () -> { });
        return "" + asked;
    }

    /** What is said of a call that was looked at: computing, cold and so on. */
    static String calls() {
        String all = "";
        double[][] looks = { // ms, held, computed; of the first call: ms, held
            {50, 0, 0, 51, 3}, {50, 0.99, 0, 51, 20.9}, {50, 1, 6, 51, 22},
            {50, 4, 1, 200, 40}, {50, 4, 1, 200, 51}, {50, 49.6, 0.5, 50, 50},
            {50, 49.6, 4.9, 50, 50}, {50, 49.6, 5.1, 50, 50}, {50, 49.6, 49, 50, 50},
            {50, 6, 2, 50, 50}, {50, 5, 2.6, 50, 50}, {0.08, 0.08, 0.08, 3_001, 3_000},
            {0.08, Double.NaN, 0.08, 3_001, 3_000}};
        for (double[] l : looks) {
            var first = new Heartbeat(l[3], l[4], 0, false, "");
            all += "%s:%n  %s%n  %s%n  %s%n".formatted(Arrays.toString(l),
                Call.facts(first, new Heartbeat(l[0], l[1], l[2], true, "at `here`"), 18),
                Call.facts(null, new Heartbeat(l[0], l[1], l[2], false, ""), 18),
                Call.facts(null, new Heartbeat(l[0], l[1], l[2], true, "or another `one`"), 0));
        }
        return all;
    }

    static String numbers() {
        return DoubleStream.of(0, 1, 0.96, 12.344, 999.4, 999.5, 12_345.6, 0.0999, 0.1, 0.0123,
                0.01, 0.0052, 0.001, 0.00099, Double.NaN, Double.POSITIVE_INFINITY, -3, -0.0001)
            .mapToObj(v -> v + " = " + Text.number(v, " u") + ", " + Text.ratio(v, 2) + ", "
                + Text.ratio(v, 1) + "\n").collect(Collectors.joining())
            + DoubleStream.of(45.3, 453, 9.96, 99.6, 0.996, 10, 100, 2, 2.5, 0.104, 0.95)
            .mapToObj(v -> v + " = " + Text.ratio(v, 2) + ", " + Text.ratio(v, 1) + "\n")
            .collect(Collectors.joining())
            + Row.median(List.of(9.0, 5.0, 1.0)) + " " + Row.median(List.of(4.0, 3.0, 2.0, 1.0))
            + " " + Row.median(List.of(2.0, Double.NaN)) + " " + Row.median(List.of()) + "\n"
            + Stream.of("java.A", "jdk.B", "com.sun.C", "sun.D", "Heartbeat.e(F.java:1)",
                "Lab.f(F.java:2)", "com.x.Lab$Side.g", "org.E.f(E.java:3)", "mine.Lab2.h:4")
            .map(frame -> Text.own(Stream.of(frame))).collect(Collectors.joining(" ")) + "\n"
            + Text.own(Stream.of("a.B$C/0x0000.<clinit>(B.java:5)", "d.E")) + "\n"
            + Carriers.most(List.of("the JDK", "the JDK", "`a`", "`b`", "`b`")) + "\n";
    }

    // --------------------------------------------------------------------- the experiments

    static List<Experiment> experiments() {
        return Stream.of(VirtualThreadsLab.FIVE, Encores.LIST).flatMap(List::stream).toList();
    }

    /** A report that lets no side be read, or does so in its own way. */
    static class Quiet extends Report {
        @Override boolean attempt(String side, Job job) { return false; }
        @Override void show(String what) { }
        @Override void put(String text) { }
    }

    /** All rows and their models, but for those whose models differ by JDK: see commands.md. */
    static String rows() throws Exception {
        StringBuilder all = new StringBuilder();
        for (boolean quick : new boolean[] {false, true}) for (Experiment one : experiments()) {
            Report report = new Quiet() {
                @Override Job watch(String what, int tasks, Job call) {
                    all.append(what + ", " + tasks + " tasks\n");
                    return call;
                }
            };
            one.body().measure(new Lab(report, Expected::tick, quick, 0, one));
            for (Row row : report.rows) {
                boolean differs = row.name().matches("println.*|.*synchronized|.*median call");
                all.append("%-12s %-19s %6s %s%n".formatted(row.experiment(), row.work(),
                    differs ? "by JDK" : Text.ratio(row.model(), 2), row.unit()));
            }
        }
        return all + "";
    }

    /** Which threads each side starts, and what they wait for, as Flight Recorder sees it. */
    static String sides() throws Exception {
        StringBuilder all = new StringBuilder();
        for (Experiment one : experiments()) {
            Report report = new Quiet() {
                @Override boolean attempt(String side, Job job) {
                    try (var recording = new Recording()) {
                        recording.enable("jdk.ThreadStart");
                        recording.enable("jdk.VirtualThreadStart");
                        recording.enable("jdk.ThreadSleep").withStackTrace().withoutThreshold();
                        recording.start();
                        var locks = new FutureTask<>(Expected::locks);
                        if (side.contains("pinning"))
                            Thread.ofPlatform().name("looks").start(locks);
                        job.call();
                        recording.stop();
                        Path file = Files.createTempFile("sides", ".jfr");
                        recording.dump(file);
                        all.append(side + ": " + did(file)
                            + (side.contains("pinning") ? locks.get() : "") + "\n");
                        return Files.deleteIfExists(file);
                    } catch (Exception e) {
                        throw new IllegalStateException(side, e);
                    }
                }
            };
            if (!one.name().equals("million")) // it has one side, and long ones
                one.body().measure(new Lab(report, () -> now += 2_000_000_000, true, 0, one));
        }
        return all + "";
    }

    /** What platform threads hold that sleep: of ten looks, the most. */
    static String locks() throws Exception {
        int monitors = 0;
        int locks = 0;
        for (int i = 0; i < 10; i++) {
            Thread.sleep(3);
            var bean = ManagementFactory.getThreadMXBean();
            var sleep = Stream.of(bean.dumpAllThreads(true, true)).filter(info ->
                info.getThreadName().startsWith("Thread-")).toList();
            monitors = Math.max(monitors, (int) sleep.stream().filter(info ->
                info.getLockedMonitors().length > 0).count());
            locks = Math.max(locks, (int) sleep.stream().filter(info ->
                info.getLockedSynchronizers().length > 0).count());
        }
        return (monitors > 1 ? " in monitors" : "") + (locks > 1 ? " with locks" : "");
    }

    /** By kind of thread, but for http's clients, which sleep until their calls are due. */
    static Map<String, Long> did(Path file) throws Exception {
        var did = RecordingFile.readAllEvents(file).stream().map(event -> {
            boolean platform = event.getEventType().getName().equals("jdk.ThreadStart");
            var thread = event.getThread(platform ? "thread" : "eventThread");
            boolean pooled = ("" + thread.getJavaName()).matches("(Thread|pool)-.*");
            if (!thread.isVirtual() && !pooled) return "others";
            String kind = thread.isVirtual() ? "virtual" : "platform";
            if (!event.hasField("time")) return kind;
            boolean client = event.getStackTrace() != null && event.getStackTrace().getFrames()
                .stream().anyMatch(frame -> frame.getMethod().getName().contains("callAt"));
            long ms = event.getLong("time") / 1_000_000;
            return client ? "client" : kind + " sleeps " + ms + " ms";
        }).collect(Collectors.groupingBy(what -> what, TreeMap::new, Collectors.counting()));
        if (did.remove("client") != null) did.remove("virtual");
        did.remove("others");
        return did;
    }

    /** What waits for what: all carriers are busy for 300 ms, so it shows. */
    static String waits() throws Exception {
        String all = "park waits until all have come: "
            + (Encores.park(10, sinceBusy()) > 290) + "\n";
        var sinceBusy = sinceBusy();
        double ms = Encores.delay(newVirtualThreadPerTaskExecutor(), Lab.CARRIERS);
        all += "a delay begins once all compute: " + (sinceBusy.read() - ms > 290) + "\n";
        try (var server = new Encores.Server(newFixedThreadPool(2), 5)) {
            server.latency(() -> server.callAt(100, 100));
            all += "latencies of the last job: " + server.latencies.size();
            sinceBusy();
            ms = server.latency(() -> server.callAt(100, 50));
            return all + ", then " + server.latencies.size() + ", from when calls are due: "
                + (ms > 200) + "\n";
        }
    }

    /** Keeps all carriers busy for 300 ms; the gauge says for how many ms it has. */
    static Gauge sinceBusy() throws Exception {
        long start = System.nanoTime();
        var begun = new CountDownLatch(Lab.CARRIERS);
        for (int i = 0; i < Lab.CARRIERS; i++) Thread.startVirtualThread(() -> {
            begun.countDown();
            while (System.nanoTime() - start < 300_000_000) Thread.onSpinWait();
        });
        begun.await();
        return () -> (System.nanoTime() - start) / 1e6;
    }
}
