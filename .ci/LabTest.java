// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.math.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.TimeUnit;
import java.util.regex.*;
import javax.tools.*;

/**
 * Drives the lab as its users do, in child processes of the Java that runs this test:
 * java .ci/LabTest.java, from the top level. Words pick the tests whose names contain one.
 * It compiles on 17, to say there that it needs 21.
 */
public class LabTest {
    static final Path LAB = Path.of("VirtualThreadsLab.java").toAbsolutePath();
    static final int JDK = Runtime.version().feature();
    static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
    static final List<String> FIVE =
        List.of("start-time", "sleep-wave", "cpu-primes", "pinning", "thread-count");
    static final List<String> ENCORES =
        List.of("println", "http", "mixed", "capacity", "thread-local", "million",
            "time-sharing", "lost-lock");
    static final String[] COLUMNS =
        {"Experiment", "Work", "Platform", "Virtual", "Ratio", "Predicted"};
    static int passed;
    static int failed;
    static Path temp;

    interface Test { void run() throws Exception; }

    static final Map<String, Test> TESTS = new LinkedHashMap<>();

    public static void main(String[] words) throws Exception {
        if (JDK < 21) {
            System.err.println("LabTest: needs Java 21 or newer and this is " + JDK
                + "; try: sh .ci/java .ci/LabTest.java");
            System.exit(2);
        }
        temp = Files.createTempDirectory("lab test ");
        tests();
        for (Map.Entry<String, Test> test : TESTS.entrySet()) {
            if (words.length > 0 && Arrays.stream(words).noneMatch(test.getKey()::contains)) {
                continue;
            }
            long start = System.nanoTime();
            try {
                test.getValue().run();
                passed++;
                System.out.printf(Locale.ROOT, "passed: %s (%d s)%n", test.getKey(),
                    (System.nanoTime() - start) / 1_000_000_000);
            } catch (Skip skip) {
                System.out.println("skipped: " + test.getKey() + ", " + skip.getMessage());
            } catch (Exception | AssertionError e) {
                failed++;
                System.out.println("FAILED: " + test.getKey() + ": " + e);
                if (!(e instanceof AssertionError)) e.printStackTrace(System.out);
            }
        }
        try (var files = Files.walk(temp)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) Files.delete(file);
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    // --------------------------------------------------------------------------- the tests

    static void tests() {
        TESTS.put("source: compiles in silence for 21", LabTest::sourceCompiles);
        TESTS.put("source: narrow lines, no tabs, JDK imports only", LabTest::sourceLooks);
        TESTS.put("source: an older Java prints one error", LabTest::olderJava);
        TESTS.put("source: the shape of the file", LabTest::shape);
        TESTS.put("source: cut, it is a lab of the five", LabTest::cut);
        TESTS.put("files: four at the top level", LabTest::topLevel);
        TESTS.put("the checks of this test can fail", LabTest::checksCanFail);
        TESTS.put("help", LabTest::help);
        TESTS.put("usage errors", LabTest::usageErrors);
        TESTS.put("the five, in full, with samples", LabTest::theFive);
        TESTS.put("all, quick, with samples", LabTest::all);
        TESTS.put("names: any order, twice is once; --runs 1", LabTest::names);
        TESTS.put("predict", LabTest::predict);
        TESTS.put("processors: 1", () -> processors(1));
        TESTS.put("processors: 16", () -> processors(16));
        TESTS.put("processors: 64", () -> processors(64));
        TESTS.put("carriers: 1 by parallelism", () ->
            carriers(1, "-Djdk.virtualThreadScheduler.parallelism=1"));
        TESTS.put("carriers: 4 by parallelism", () ->
            carriers(4, "-Djdk.virtualThreadScheduler.parallelism=4"));
        for (String locale : List.of("de-DE", "tr-TR", "ar-EG", "hi-IN")) {
            TESTS.put("locale: " + locale, () -> locale(locale));
        }
        for (String charset : List.of("US-ASCII", "ISO-8859-1", "IBM437")) {
            TESTS.put("charset: " + charset, () -> charset(charset));
        }
        for (String flag : List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:+UseZGC", "-Xint",
                "-Xss256k")) {
            TESTS.put("runs with " + flag, () -> jvmFlag(flag));
        }
        TESTS.put("few threads allowed", LabTest::fewThreads);
        TESTS.put("few files allowed", LabTest::fewFiles);
        TESTS.put("no port to be had", LabTest::noPort);
        TESTS.put("a heap too small for a row", LabTest::smallHeap);
        TESTS.put("interrupted: SIGINT", () -> interrupted("INT"));
        TESTS.put("interrupted: SIGTERM", () -> interrupted("TERM"));
        TESTS.put("interrupted: no scratch file stays", LabTest::scratchFiles);
        TESTS.put("standard output is full", LabTest::fullOutput);
        TESTS.put("standard output goes away", LabTest::outputGoesAway);
        TESTS.put("no temporary folder", LabTest::noTemporaryFolder);
        TESTS.put("another file name, a folder with spaces", LabTest::pasted);
        TESTS.put("compiled, on the class path, few modules", LabTest::compiled);
        TESTS.put("a wrong answer costs its row", LabTest::wrongAnswer);
        TESTS.put("too many inside is a wrong answer", LabTest::tooManyInside);
        TESTS.put("a shot in eight that stops moves no sample", LabTest::stops);
        TESTS.put("an experiment that throws costs its rows", LabTest::throwing);
        TESTS.put("an exception without a message", LabTest::messageless);
        TESTS.put("a progress whose estimate has run out", LabTest::overdue);
        TESTS.put("time-sharing and lost-lock show their difference", LabTest::stuck);
        TESTS.put("mixed: a wave and a stream", LabTest::mixed);
        TESTS.put("results.md: today's rows, sound reports, the comparison", LabTest::results);
        TESTS.put("results.md: our ratios beside published numbers", LabTest::published);
        TESTS.put("README.md: the table, the names, the options", LabTest::readme);
        TESTS.put("README.md: its commands are understood", LabTest::commands);
        TESTS.put("README.md: the exercises find what they change", LabTest::exercises);
        TESTS.put(".ci/java takes the JDK that is wanted", LabTest::findsJdk);
    }

    static void sourceCompiles() throws Exception {
        compiles(LAB);
    }

    static void compiles(Path source) throws Exception {
        var out = new ByteArrayOutputStream();
        int code = ToolProvider.getSystemJavaCompiler().run(null, out, out, "--release", "21",
            "-Xlint:all", "-Werror", "-Xdoclint:all/protected", "-d",
            Files.createDirectories(temp.resolve("classes")).toString(), source.toString());
        equal("output of javac", "", out.toString());
        equal("exit code of javac", 0, code);
    }

    static void sourceLooks() throws Exception {
        List<String> lines = Files.readAllLines(LAB);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            yes("line " + (i + 1) + " has at most 96 characters", line.length() <= 96);
            yes("line " + (i + 1) + " has no tab", !line.contains("\t"));
            yes("line " + (i + 1) + " ends with no blank", !line.endsWith(" "));
            if (line.startsWith("import ")) {
                yes("line " + (i + 1) + " imports from the JDK", line.matches(
                    "import (static )?(java|jdk|com\\.sun\\.management)\\..*"));
            }
        }
        String source = Files.readString(LAB);
        yes("JBang's line", source.startsWith("//JAVA 21+\n"));
        yes("an SPDX line", source.contains("SPDX-License-Identifier: MIT-0"));
        equal("package declarations", false, source.contains("\npackage "));
        for (String name : names(true)) {
            yes(name + " has its comment", source.contains("     * " + name + ". "));
        }
        equal("Try: lines", FIVE.size() + ENCORES.size(), matches("\\* Try: ", source).size());
    }

    /** One sitting: the experiments first, the cut where it has to be, and no line too many. */
    static void shape() throws Exception {
        List<String> lines = Files.readAllLines(LAB);
        int cut = cutLine(lines);
        yes("600 lines to the cut, not " + cut, cut <= 600);
        yes("940 lines, not " + lines.size(), lines.size() <= 940);
        int last = 0;
        for (String name : names(true)) {
            int line = lines.indexOf(lines.stream().filter(l -> l.startsWith("     * " + name
                + ". ")).findFirst().orElseThrow());
            yes(name + " stands in the order in which it runs", line > last);
            equal(name + " stands below the cut", ENCORES.contains(name), line > cut);
            if (last == 0) yes("the first by line 60", line < 60);
            last = line;
        }
        int next = 0;
        for (String name : FIVE) { // a page has 60 lines and more
            int start = lines.indexOf(lines.stream().filter(l -> l.startsWith("     * " + name
                + ". ")).findFirst().orElseThrow());
            if (next > 0) yes("one page before " + name, start - next <= 66);
            next = start;
        }
        equal("top-level types", List.of("class VirtualThreadsLab {",
            "class Encores extends VirtualThreadsLab {"), lines.stream().filter(line ->
            line.matches("(public |final )*(class|record|interface|enum) .*")).toList());
    }

    /** The number of lines above the cut. */
    static int cutLine(List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith("// ----- Cut here")) return i;
        }
        throw new AssertionError("no cut");
    }

    /** Does what the comment at the cut says. */
    static void cut() throws Exception {
        List<String> lines = Files.readAllLines(LAB);
        List<String> kept = new ArrayList<>(lines.subList(0, cutLine(lines)));
        int all = kept.size();
        kept.removeIf(line -> line.contains("Encores"));
        equal("lines that name Encores", 1, all - kept.size());
        Path paste = Files.createDirectories(temp.resolve("cut")).resolve(LAB.getFileName());
        Files.write(paste, kept);
        compiles(paste);
        Run help = run(command(List.of(), paste.toString(), "--help"), "");
        equal("exit code", 0, help.code);
        for (String name : FIVE) yes("tells of " + name, help.out.contains("  " + name + " "));
        for (String name : ENCORES) equal("tells of " + name, false, help.out.contains(name));
        Run run = run(command(List.of(), paste.toString(), "--quick", "all"), "");
        equal("exit code", 0, run.code);
        equal("experiments", FIVE, experiments(sound(run)));
    }

    static void olderJava() throws Exception {
        var compiler = ToolProvider.getSystemJavaCompiler();
        var found = new DiagnosticCollector<JavaFileObject>();
        try (var files = compiler.getStandardFileManager(found, null, null)) {
            compiler.getTask(null, files, found, List.of("--release", "17", "-d",
                temp.toString()), null, files.getJavaFileObjects(LAB)).call();
        }
        var errors = found.getDiagnostics().stream()
            .filter(d -> d.getKind() == Diagnostic.Kind.ERROR).toList();
        equal("errors", 1, errors.size());
        String line = Files.readAllLines(LAB).get((int) errors.get(0).getLineNumber() - 1);
        yes("it quotes: " + line, line.contains("Java 21") && line.contains("README.md"));
    }

    static void topLevel() throws Exception {
        try (var files = Files.list(LAB.getParent())) {
            equal("files", List.of("LICENSE", "README.md", "VirtualThreadsLab.java",
                "results.md"), files.map(file -> file.getFileName().toString())
                .filter(name -> !name.startsWith(".")).sorted().toList());
        }
    }

    /** Deliberate faults: every one of them has to be noticed. */
    static void checksCanFail() throws Exception {
        String report = """
            # VirtualThreadsLab

            | Experiment   | Work                |      Platform |     Virtual |      Ratio | Predicted |
            |--------------|---------------------|--------------:|------------:|-----------:|----------:|
            | sleep-wave   | 1,000 × 50 ms       |        270 ms |     54.0 ms |      5.00× |        5× |
            | cpu-primes   | 8 × 9 primes        |       10.1 ms |     10.0 ms |      1.01× |        1× |

            ## What the numbers say

            - sleep-wave: this time virtual threads were 5.00× faster.
            - cpu-primes: no difference, as samples of both sides overlap.

            ## Samples

            ```
            sleep-wave, 1,000 × 50 ms, ms
              platform (280.11) 270.21 269.9 281
              virtual (60) 54.04 54.2
              54
            cpu-primes, 8 × 9 primes, ms
              platform (10) 10.1 10 10.2
              virtual (10) 9.99 10 10.3
            ```
            """;
        equal("complaints about a sound report", List.of(), recompute(report));
        for (String[] fault : new String[][] {{" 270 ms", " 271 ms"}, {"54.0 ms", "54.2 ms"},
                {" 5.00×", "    5×"}, {"269.9", "275.9"}, {"  54\n", "  55\n"},
                {" 5.00× |", "~5.00× |"}, {"(280.11) 270.21 269.9 281", "(1) 270 200 400"},
                {"no difference, as samples", "virtual threads were faster, as samples"},
                {"this time virtual threads were 5.00× faster", "no difference"},
                {"platform (10) 10.1 10 10.2", "platform (10) 10.1 10.1 10.4"}}) {
            yes("has: " + fault[0], report.contains(fault[0]));
            boolean last = fault[0].startsWith("platform (10)"); // it still overlaps: no fault
            equal("noticed: " + fault[1], !last,
                !recompute(report.replace(fault[0], fault[1])).isEmpty());
        }
        yes("noticed: no samples", !recompute(report.replace("  virtual", "  nobody")).isEmpty());
        fails(() -> header(report.replace("Predicted", "Guessed  ")));
        fails(() -> layout(report.replace("# V", "Note: # V")));
        fails(() -> layout(report + "x".repeat(101)));
        fails(() -> equal("one", 1, 2));
    }

    static void help() throws Exception {
        Run run = lab("--help");
        equal("exit code", 0, run.code);
        equal("standard error", "", run.err);
        for (String word : List.of("--quick", "--runs", "--samples", "--predict", "all")) {
            yes("tells of " + word, run.out.contains(word));
        }
        for (String name : names(true)) yes("tells of " + name, run.out.contains(name));
        yes("one screen", run.out.lines().count() <= 30);
        yes("no line over 100", run.out.lines().allMatch(line -> line.length() <= 100));
    }

    static void usageErrors() throws Exception {
        String[][] faults = {
            {"sleepwave", "--help"}, {"--quik", "--help"}, {"--runs=3", "--help"},
            {"-x", "--help"}, {"", "--help"}, {"a\nb", "--help"}, {"--runs", "1 to 100"},
            {"--runs 0", "1 to 100"}, {"--runs -1", "1 to 100"}, {"--runs 101", "1 to 100"},
            {"--runs many", "1 to 100"}, {"--runs 99999999999", "1 to 100"},
            {"--runs --quick", "1 to 100"}};
        for (String[] fault : faults) {
            Run run = lab(fault[0].isEmpty() ? new String[] {""} : fault[0].split(" "));
            equal("exit code of " + fault[0], 2, run.code);
            equal("standard output of " + fault[0], "", run.out);
            equal("lines on standard error of " + fault[0], 1L, run.err.lines().count());
            yes(run.err.strip() + " names " + fault[1], run.err.contains(fault[1]));
        }
    }

    static void theFive() throws Exception {
        Run run = lab("--samples");
        Map<String, Map<String, String>> table = sound(0, run);
        equal("experiments", FIVE, experiments(table));
        int processors = Runtime.getRuntime().availableProcessors();
        equal("rows", List.of("start-time|100 threads", "start-time|1,000 threads",
            "start-time|10,000 threads", "sleep-wave|10,000 × 100 ms",
            "cpu-primes|" + 4 * processors + " × 78,498 primes",
            "pinning|" + waiting(processors) + " in ReentrantLock",
            "pinning|" + waiting(processors) + " in synchronized",
            "pinning|" + waiting(processors) + " in class init",
            "thread-count|1,000, pool of 200", "thread-count|1,000, thread each"),
            List.copyOf(table.keySet()));
        five(run, table, processors);
        yes("sleep-wave far ahead", ratio(table.get("sleep-wave|10,000 × 100 ms")) > 5);
        equal("prediction", "50×", table.get("sleep-wave|10,000 × 100 ms").get("Predicted"));
        yes("10,000 starts are cheaper", ratio(table.get("start-time|10,000 threads")) > 2);
        long lines = run.out.substring(0, run.out.indexOf("## Samples")).lines().count();
        yes("about 50 lines, not " + lines, lines < 70);

        String[] steps = run.err.split("[\r\n]+");
        for (int i = 0; i < FIVE.size(); i++) {
            String start = "[" + (i + 1) + "/5] " + FIVE.get(i);
            for (String step : List.of("warm-up", "run 1 of 5", "run 5 of 5")) {
                yes(start + ", " + step, Arrays.stream(steps).anyMatch(line ->
                    line.startsWith(start) && line.contains(step)
                        && line.matches(".* \\d+ s(, about \\d+ s left)? *")));
            }
        }
        yes("the time left is told", Arrays.stream(steps).anyMatch(line ->
            line.startsWith("[1/5] start-time") && line.contains(" s left")));
        yes("progress fits 80 columns", Arrays.stream(steps).allMatch(s -> s.length() <= 80));
    }

    /** What holds for the five on any machine, whatever their sizes. */
    static void five(Run run, Map<String, Map<String, String>> table, int carriers) {
        double primes = ratio(row(table, "cpu-primes", "primes"));
        yes("processors decide over cpu-primes: " + primes, primes > 0.5 && primes < 2);
        String tasks = waiting(carriers) + " in ";
        double lock = virtual(row(table, "pinning", tasks + "ReentrantLock"));
        double monitor = virtual(row(table, "pinning", tasks + "synchronized"));
        double initializer = virtual(row(table, "pinning", tasks + "class init"));
        double slower = perCarrier(carriers) / 2.5;
        yes("an initializer pins", initializer > slower * lock);
        if (JDK < 24) {
            yes("a monitor pins", monitor > slower * lock);
            equal("prediction", table.get("pinning|" + tasks + "class init").get("Predicted"),
                row(table, "pinning", "synchronized").get("Predicted"));
        } else {
            yes("a monitor does not pin", initializer > slower * monitor);
            equal("prediction", "1×", row(table, "pinning", "synchronized").get("Predicted"));
        }
        String said = finding(run, "pinning");
        String all = waiting(carriers) + " pinned events";
        yes("no events: " + said, said.contains("in ReentrantLock (0 pinned events)"));
        yes("events: " + said, said.contains("in synchronized ("
            + (JDK < 24 ? all : "0 pinned events")));
        yes("events: " + said, said.contains("in class init (" + all));
        equal("a reason is named", JDK >= 24, said.contains("<clinit>"));
        threadCount(run, table);
    }

    static void threadCount(Run run, Map<String, Map<String, String>> table) {
        double b = platform(row(table, "thread-count", "pool of 200")) - 200;
        yes("some threads were live before", b >= 5);
        equal("a thread each", b + 1_000, platform(row(table, "thread-count", "each")));
        for (String way : List.of("pool of 200", "each")) {
            Map<String, String> row = row(table, "thread-count", way);
            yes("no thread more", Math.abs(virtual(row) - b) <= 2);
            near("as predicted", number(row.get("Predicted")), ratio(row), 1.25);
        }
        yes("a dump knows them", finding(run, "thread-count").contains("1,000 virtual threads"));
    }

    static void all() throws Exception {
        List<String> before = temporaryFiles();
        Run run = lab("all", "--quick", "--samples");
        Map<String, Map<String, String>> table = sound(0, run);
        equal("experiments", names(true), experiments(table));
        five(run, table, Runtime.getRuntime().availableProcessors());
        yes("http gains", ratio(row(table, "http", "50 ms")) > 1.5);
        yes("http answers sooner", ratio(row(table, "http", "latency")) > 1.5);
        equal("http prediction", "5×", row(table, "http", "50 ms").get("Predicted"));
        near("mixed is about equal", 1, ratio(row(table, "mixed", "tasks")), 3);
        near("capacity is equal", 1, ratio(row(table, "capacity", "by 20")), 1.5);
        yes("both reach the limit", finding(run, "capacity").startsWith(
            "at most 20 tasks were inside at once with the pool, 20 with the semaphore"));
        Map<String, String> cached = row(table, "thread-local", "tasks");
        equal("objects of the pool", "200 made", cached.get("Platform"));
        equal("objects of virtual threads", "2,000 made", cached.get("Virtual"));
        equal("their ratio", "0.100×", cached.get("Ratio"));
        yes("their bytes", finding(run, "thread-local").contains("1.64 MB")
            && finding(run, "thread-local").contains("16.4 MB"));
        for (String size : List.of("10,000", "100,000", "200,000")) {
            Map<String, String> row = table.get("million|" + size + " parked");
            equal("no platform side", "—", row.get("Platform"));
            yes("parked", virtual(row) > 0);
        }
        yes("weighed", finding(run, "million").matches(
            "each of 200,000 parked virtual threads took [0-9,.]+ bytes of the heap; .*"));
        yes("the reason", finding(run, "million").contains("no platform side, as"));
        equal("files left", before, temporaryFiles());
    }

    static List<String> temporaryFiles() throws IOException {
        return scratchFolders(Path.of(System.getProperty("java.io.tmpdir")));
    }

    static List<String> scratchFolders(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                .filter(name -> name.startsWith("VirtualThreadsLab")).sorted().toList();
        }
    }

    static void names() throws Exception {
        Run run = lab("thread-count", "--quick", "start-time", "thread-count", "--runs", "1");
        Map<String, Map<String, String>> table = sound(0, run);
        equal("experiments", List.of("thread-count", "start-time"), experiments(table));
        equal("no samples unasked", false, run.out.contains("## Samples"));
        yes("one run is no verdict", finding(run, "start-time").contains("cannot tell"));
        Run four = lab("start-time", "--quick", "--runs", "4", "--samples");
        for (List<Double> side : samples(four.out).values()) equal("samples", 5, side.size());
        sound(four);
    }

    static void predict() throws Exception {
        Run run = labWithInput("7.5\n\nmany\n0,1\n", "--predict", "--quick", "--runs", "1",
            "thread-count", "sleep-wave", "cpu-primes", "pinning");
        equal("exit code", 0, run.code);
        layout(run.out);
        Map<String, Map<String, String>> table = table(run.out);
        equal("columns", 7, table.values().iterator().next().size());
        equal("a number", "7.5×", row(table, "thread-count", "pool").get("You"));
        equal("skipped", "—", row(table, "thread-count", "each").get("You"));
        equal("nonsense", "—", row(table, "sleep-wave", "ms").get("You"));
        equal("a comma", "0,1×", row(table, "cpu-primes", "primes").get("You"));
        equal("end of input", "—", row(table, "pinning", "synch").get("You"));
        yes("the question and the sides", run.err.contains("10,000 tasks wait 100 ms each: "
            + "pool of 200, or virtual thread per task"));
        equal("a question for each row", 7, matches("Your ratio", run.err).size());
    }

    static void processors(int n) throws Exception {
        Run run = java(List.of("-XX:ActiveProcessorCount=" + n), "--quick", "cpu-primes",
            "pinning", "thread-count");
        Map<String, Map<String, String>> table = sound(0, run);
        yes("is said", run.out.contains(n == 1 ? "1 processor, 1 carrier, "
            : n + " processors, " + n + " carriers, "));
        row(table, "cpu-primes", 4 * n + " × 49,098 primes");
        near("prediction", 1.0 / perCarrier(n), number(table.get("pinning|" + waiting(n)
            + " in class init").get("Predicted")), 1.01);
        yes("events", finding(run, "pinning").contains("in class init (" + waiting(n)
            + " pinned event"));
        threadCount(run, table);
        double b = virtual(row(table, "thread-count", "each"));
        yes("every carrier is among " + b, b >= n + 3);
        for (String way : List.of("pool of 200", "each")) {
            Map<String, String> row = row(table, "thread-count", way);
            near("on the nose", number(row.get("Predicted")), ratio(row), 1.02);
        }
    }

    static void carriers(int n, String... flags) throws Exception {
        Run run = java(List.of(flags), "--quick", "cpu-primes", "pinning", "--samples");
        Map<String, Map<String, String>> table = sound(0, run);
        yes("is said", run.out.contains(" " + n + (n == 1 ? " carrier, " : " carriers, ")));
        int processors = Runtime.getRuntime().availableProcessors();
        near("prediction", Math.min(1, (double) n / processors),
            number(row(table, "cpu-primes", "primes").get("Predicted")), 1.01);
        row(table, "pinning", waiting(n) + " in class init");
    }

    static void locale(String tag) throws Exception {
        Locale locale = Locale.forLanguageTag(tag);
        Run run = java(List.of("-Duser.language=" + locale.getLanguage(),
            "-Duser.country=" + locale.getCountry()), "--quick", "sleep-wave", "thread-count",
            "--samples");
        Map<String, Map<String, String>> table = sound(0, run);
        yes("a comma for thousands", table.containsKey("sleep-wave|1,000 × 50 ms"));
        yes("no digits but 0 to 9", run.out.chars().noneMatch(c ->
            Character.isDigit(c) && c > '9'));
    }

    static void charset(String name) throws Exception {
        Run run = java(List.of("-Dstdout.encoding=" + name, "-Dstderr.encoding=" + name),
            "--quick", "sleep-wave", "start-time", "--runs", "2");
        equal("exit code", 0, run.code);
        yes("plain ASCII", run.out.chars().allMatch(c -> c < 128));
        yes("plain ASCII progress", run.err.chars().allMatch(c -> c < 128));
        yes("stand-ins", run.out.contains("| 1,000 x 50 ms ") && run.out.contains(" ####")
            && run.out.contains("tasks x wait / elapsed") && run.out.contains(" us "));
        layout(run.out);
        header(run.out);
    }

    static void jvmFlag(String flag) throws Exception {
        Run run = java(List.of(flag), "--quick", "start-time", "sleep-wave", "thread-count",
            "--samples");
        if (run.out.contains("Option") && run.code == 1 && !run.out.contains("# Virtual")) {
            throw new Skip("this JVM has no " + flag);
        }
        sound(0, run);
        yes("is said", run.out.contains(flag));
    }

    /** A limit on address space refuses threads with large stacks, to root as well. */
    static void fewThreads() throws Exception {
        needs("/bin/bash", "a shell with ulimit");
        if (!System.getProperty("os.name").equals("Linux")) throw new Skip("needs Linux");
        Run run = shell("ulimit -v 16000000; exec \"$0\" -Xlog:disable -Xmx256m "
            + "-XX:ReservedCodeCacheSize=64m -Xss100m " + UTF8
            + " VirtualThreadsLab.java --quick --samples sleep-wave thread-count start-time");
        Map<String, Map<String, String>> table = sound(1, run);
        for (String pair : List.of("sleep-wave/ms", "thread-count/pool", "thread-count/each")) {
            Map<String, String> row = row(table, pair.split("/")[0], pair.split("/")[1]);
            equal("refused", "—", row.get("Platform"));
            yes("measured", virtual(row) > 0);
        }
        yes("the rest goes on", ratio(row(table, "start-time", "100 ")) > 1);
        yes("says why", matches("unable to create native thread",
            run.out.replaceAll("\\s+", " ")).size() >= 3);
        equal("stack trace", false, run.err.contains("\tat "));
    }

    static void fewFiles() throws Exception {
        needs("/bin/bash", "a shell with ulimit");
        Run run = shell("ulimit -n 64; exec \"$0\" " + UTF8
            + " VirtualThreadsLab.java --quick http thread-local");
        equal("exit code", 1, run.code);
        layout(run.out);
        Map<String, Map<String, String>> table = table(run.out);
        equal("the rest goes on", "2,000 made", row(table, "thread-local", "").get("Virtual"));
        // Refused, cut off or left without an answer: the system decides which comes first.
        yes("says why", run.out.replaceAll("\\s+", " ").matches(
            ".*- http 200 × 50 ms, (platform|virtual): java\\.(io|net)\\.\\S*Exception.*"));
    }

    static void noPort() throws Exception {
        Run run = changed("java.net.InetAddress.getLoopbackAddress()",
            "java.net.InetAddress.getByName(\"192.0.2.1\")", "--quick", "http", "thread-local");
        equal("exit code", 1, run.code);
        layout(run.out);
        yes("says why", run.out.contains("- http: java.net.BindException"));
        equal("the rest goes on", "200 made",
            row(table(run.out), "thread-local", "").get("Platform"));
    }

    static void smallHeap() throws Exception {
        Run run = java(List.of("-Xmx64m"), "--quick", "million", "thread-local");
        Map<String, Map<String, String>> table = sound(1, run);
        yes("the small row", virtual(table.get("million|10,000 parked")) > 0);
        equal("the large row", "—", table.get("million|200,000 parked").get("Virtual"));
        yes("says why", matches("would need about [0-9,.]+ MB of heap", run.out).size() >= 1);
        equal("an error", false, (run.out + run.err).contains("OutOfMemory"));
        equal("the rest goes on", "200 made", row(table, "thread-local", "").get("Platform"));
    }

    static void interrupted(String signal) throws Exception {
        canSend(signal);
        Process process = start(command(List.of(), LAB.toString(), "--quick", "--runs", "40"));
        var progress = new StringBuilder();
        try (InputStream err = process.getErrorStream()) {
            for (int c = err.read(); c >= 0; c = err.read()) {
                progress.append((char) c);
                if (progress.indexOf("200 threads") >= 0) break;
            }
            new ProcessBuilder("/bin/kill", "-" + signal, "" + process.pid()).start().waitFor();
            String out = new String(process.getInputStream().readAllBytes(), "UTF-8");
            err.readAllBytes();
            yes("ends", process.waitFor(60, TimeUnit.SECONDS));
            yes("exit code " + process.exitValue(), process.exitValue() != 0);
            layout(out);
            yes("is marked", out.contains("**Partial:**"));
            Map<String, Map<String, String>> table = table(out);
            yes("the finished row", ratio(row(table, "start-time", "100 threads")) > 0);
            yes("not all rows", table.size() < 5);
        } finally {
            process.destroyForcibly();
        }
    }

    /** A background job of a shell without job control ignores SIGINT, and so do its children. */
    static void canSend(String signal) throws IOException {
        needs("/bin/kill", "signals");
        Path status = Path.of("/proc/self/status");
        if (!signal.equals("INT") || !Files.exists(status)) return;
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("SigIgn:") && (Long.parseUnsignedLong(
                    line.substring(7).strip(), 16) & 2) != 0) {
                throw new Skip("SIGINT is ignored here");
            }
        }
    }

    static void scratchFiles() throws Exception {
        canSend("TERM");
        Path folder = Files.createDirectories(temp.resolve("scratch files"));
        Process process = start(command(List.of("-Djava.io.tmpdir=" + folder), LAB.toString(),
            "--quick", "--runs", "100", "println"));
        var progress = new StringBuilder();
        try (InputStream err = process.getErrorStream()) {
            for (int c = err.read(); c >= 0; c = err.read()) {
                progress.append((char) c);
                if (progress.indexOf("run 2 of 100") >= 0) break;
            }
            equal("a scratch file", 1, scratchFolders(folder).size());
            new ProcessBuilder("/bin/kill", "-TERM", "" + process.pid()).start().waitFor();
            process.getInputStream().readAllBytes();
            yes("ends", process.waitFor(60, TimeUnit.SECONDS));
            equal("files that stay", List.of(), scratchFolders(folder));
        } finally {
            process.destroyForcibly();
        }
    }

    static void fullOutput() throws Exception {
        needs("/dev/full", "a full device");
        for (String words : List.of("--help", "--quick --runs 1 thread-count")) {
            Run run = shell("exec \"$0\" VirtualThreadsLab.java " + words + " > /dev/full");
            equal("exit code", 1, run.code);
            equal("stack trace", false, run.err.contains("\tat "));
        }
    }

    static void outputGoesAway() throws Exception {
        needs("/bin/bash", "a shell");
        Run run = shell("\"$0\" VirtualThreadsLab.java --quick --runs 1 thread-count | true");
        equal("stack trace", false, run.err.contains("\tat "));
    }

    static void noTemporaryFolder() throws Exception {
        Run run = java(List.of("-Djava.io.tmpdir=" + LAB.resolve("nowhere")), "--quick",
            "pinning", "thread-count", "println");
        Map<String, Map<String, String>> table = sound(1, run);
        equal("experiments", List.of("pinning", "thread-count"), experiments(table));
        yes("says why", run.out.contains("- println: java.nio.file."));
        yes("pinning is measured", ratio(row(table, "pinning", "class init")) > 0);
        yes("says so", finding(run, "pinning").contains("no Flight Recorder"));
        yes("says so", finding(run, "thread-count").contains("no thread dump"));
    }

    static void pasted() throws Exception {
        Path paste = temp.resolve("Paste.java");
        Files.copy(LAB, paste);
        Run run = run(command(List.of(), paste.toString(), "--quick", "pinning"), "");
        sound(0, run);
    }

    static void compiled() throws Exception {
        sourceCompiles();
        String classes = temp.resolve("classes").toString();
        Run run = run(command(List.of("-cp", classes), "VirtualThreadsLab", "--quick"), "");
        equal("exit code", 0, run.code);
        equal("experiments", FIVE, experiments(sound(run)));

        List<String> poor =
            List.of("--limit-modules", "java.base,java.management", "-cp", classes);
        run = run(command(poor, "VirtualThreadsLab", "--quick", "start-time", "sleep-wave",
            "cpu-primes", "pinning", "thread-count", "http"), "");
        Map<String, Map<String, String>> table = sound(1, run);
        yes("no JFR", finding(run, "pinning").contains("no Flight Recorder"));
        yes("no dump", finding(run, "thread-count").contains("no thread dump"));
        yes("no HTTP", run.out.contains("- http: java.lang.NoClassDefFoundError"));
        for (String name : FIVE) yes(name, ratio(row(table, name, "")) > 0);
    }

    static void wrongAnswer() throws Exception {
        Run run = changed("int primes = 1;", "int primes = 0;", "--quick", "cpu-primes",
            "thread-count");
        Map<String, Map<String, String>> table = sound(1, run);
        equal("no number", "—", row(table, "cpu-primes", "").get("Platform"));
        equal("no number", "—", row(table, "cpu-primes", "").get("Virtual"));
        yes("says why", matches("wrong answer: 49,097 primes to 600,000, not 49,098",
            run.out.replaceAll("\\s+", " ")).size() == 2);
        equal("no verdict", false, finding(run, "cpu-primes").contains("faster"));
        yes("the rest goes on", ratio(row(table, "thread-count", "pool")) > 1);
    }

    static void tooManyInside() throws Exception {
        Run run = changed("new Semaphore(limit)", "new Semaphore(limit + 1)", "--quick",
            "capacity");
        equal("exit code", 1, run.code);
        Map<String, String> row = row(table(run.out), "capacity", "");
        equal("no number", "—", row.get("Virtual"));
        yes("the pool is measured", platform(row) > 0);
        yes("says why", run.out.contains("wrong answer: 21 tasks inside at once, not 20"));
    }

    /** A mean of the shots would grow by a dozen milliseconds, which is many times a shot. */
    static void stops() throws Exception {
        String check = "check(\"lines in the file\", lines, Files.readAllLines(file).size());";
        Run run = changed(check, check + " if (Thread.currentThread().isVirtual()"
            + " && ThreadLocalRandom.current().nextInt(8) == 0) Thread.sleep(100);",
            "--runs", "3", "println");
        yes("no stop in the ratio", ratio(row(sound(0, run), "println", "")) > 0.25);
    }

    static void throwing() throws Exception {
        Run run = changed("int tasks = perCarrier() * CARRIERS;",
            "int tasks = perCarrier() / 0;", "--quick", "pinning", "thread-count");
        Map<String, Map<String, String>> table = sound(1, run);
        equal("experiments", List.of("thread-count"), experiments(table));
        yes("says why", run.out.contains("- pinning: java.lang.ArithmeticException: / by zero."));
        yes("the rest goes on", ratio(row(table, "thread-count", "pool")) > 1);
    }

    /** Neither a measured zero nor the end of the report, on whichever side. */
    static void messageless() throws Exception {
        String wait = "Work wait = () -> Thread.sleep(waitMs);";
        for (String error : List.of("OutOfMemoryError", "IllegalStateException")) {
            for (boolean virtual : List.of(true, false)) {
                Run run = changed(wait, "Work wait = () -> { if (Thread.currentThread()"
                    + ".isVirtual() == " + virtual + ") throw new " + error
                    + "(); Thread.sleep(waitMs); };", "--quick", "sleep-wave", "thread-count");
                Map<String, Map<String, String>> table = sound(1, run);
                Map<String, String> row = row(table, "sleep-wave", "");
                equal("no number", "—", row.get(virtual ? "Virtual" : "Platform"));
                yes("a number", number(row.get(virtual ? "Platform" : "Virtual")) > 0);
                yes("says why", run.out.contains((virtual ? "virtual" : "platform")
                    + ": java.lang." + error + "."));
                yes("the rest goes on", ratio(row(table, "thread-count", "pool")) > 1);
            }
        }
    }

    static void overdue() throws Exception {
        Run run = changed("int waitMs = size(100, 50);", "int waitMs = size(100, 1_000);",
            "--quick", "--runs", "2", "sleep-wave", "thread-count");
        equal("exit code", 0, run.code);
        String[] steps = run.err.split("[\r\n]+");
        yes("tells the time left at first", Arrays.stream(steps).anyMatch(line ->
            line.contains("sleep-wave") && line.contains("about")));
        yes("and not when it is over", Arrays.stream(steps).anyMatch(line ->
            line.contains("sleep-wave") && !line.contains("about")));
        yes("never says 0 s left of it", Arrays.stream(steps).noneMatch(line ->
            line.contains("sleep-wave") && line.contains(" 0 s left")));
    }

    /** The directions, with wide margins: the delay is far under what patience is. */
    static void stuck() throws Exception {
        Run run = lab("--quick", "--samples", "time-sharing", "lost-lock");
        Map<String, Map<String, String>> table = sound(0, run);
        yes("virtual threads do not share time", ratio(row(table, "time-sharing", "")) < 0.5);
        String lost = finding(run, "lost-lock");
        if (JDK < 24) {
            yes("the lock is lost", ratio(row(table, "lost-lock", "")) < 0.5);
            yes("and patience: " + lost, lost.matches(".* together 0 and [1-9]\\d* tasks lost.*"));
        } else {
            yes("nobody loses patience: " + lost, lost.contains("together 0 and 0 tasks lost"));
        }
    }

    static void mixed() throws Exception {
        Run run = lab("--runs", "3", "--samples", "mixed");
        equal("exit code", 0, run.code);
        Map<String, String> calls = row(sound(run), "mixed", "calls at once");
        yes("a wave against a stream: " + calls, ratio(calls) > 1.3);
        yes("predicted: " + calls, number(calls.get("Predicted")) >= 1);
    }

    static void results() throws Exception {
        String results = Files.readString(Path.of("results.md"));
        List<String> today = shape(lab("all", "--quick", "--runs", "1").out);
        Map<Integer, String> reports = reports();
        yes("JDK 21, 25 and 27", reports.keySet().containsAll(List.of(21, 25, 27)));
        List<String> comparison = new ArrayList<>();
        for (String report : reports.values()) {
            equal("rows", today, shape(report));
            equal("complaints", List.of(), recompute(report));
            int row = 0;
            for (Map<String, String> cells : table(report).values()) {
                if (comparison.size() == row) {
                    comparison.add("| " + cells.get("Experiment") + " | " + cells.get("Work") + " |");
                }
                comparison.set(row, comparison.get(row) + " "
                    + cells.get("Ratio").replace("—", cells.get("Virtual")) + " |");
                row++;
            }
        }
        List<String> rows = between(results, "comparison").lines()
            .filter(line -> line.startsWith("| ")).toList();
        equal("comparison", comparison, rows.subList(1, rows.size()));
    }

    /** The reports in results.md, by the JDK that each of them names. */
    static Map<Integer, String> reports() throws IOException {
        Map<Integer, String> reports = new TreeMap<>();
        String text = between(Files.readString(Path.of("results.md")), "reports");
        for (String block : text.split("<details>")) {
            int start = block.indexOf("# VirtualThreadsLab");
            if (start < 0) continue;
            String report = block.substring(start, block.indexOf("\n</details>"));
            Matcher version = Pattern.compile("(?m)^- Java (\\d+)").matcher(report);
            yes("a report names its Java", version.find());
            int jdk = Integer.parseInt(version.group(1));
            yes("its block is named JDK " + jdk, block.contains("<summary>JDK " + jdk + ":"));
            reports.put(jdk, report);
        }
        return reports;
    }

    /** What stands between two marks of .ci/Results.java. */
    static String between(String text, String name) {
        int start = text.indexOf("<!-- " + name + ": made by java .ci/Results.java -->");
        int end = text.indexOf("<!-- end of " + name + " -->");
        yes("the marks of " + name, start >= 0 && end > start);
        return text.substring(text.indexOf('\n', start), end);
    }

    static void published() throws Exception {
        List<String> ratios = table(reports().get(25)).values().stream()
            .map(row -> row.get("Ratio").replace("~", "")).toList();
        int checked = 0;
        int column = -1;
        for (String line : Files.readString(Path.of("results.md")).split("\n")) {
            List<String> cells = Arrays.asList(line.split(" *\\| *"));
            if (!line.startsWith("|")) column = -1;
            else if (cells.contains("Our ratio")) column = cells.indexOf("Our ratio");
            else if (column > 0 && cells.size() > column && !line.startsWith("|-")) {
                String ours = cells.get(column);
                if (ours.isEmpty()) continue;
                yes(ours + " stands in the JDK 25 report", ratios.contains(ours));
                checked++;
            }
        }
        yes("ratios: " + checked, checked >= 10);
    }

    /** The experiments and works of all tables with the lab's header, whatever the sizes. */
    static List<String> shape(String text) {
        List<String> rows = new ArrayList<>();
        boolean inside = false;
        for (String line : text.split("\n")) {
            String[] cells = line.split(" *\\| *");
            if (Arrays.equals(cells, header(cells))) inside = true;
            else if (!line.startsWith("|")) inside = false;
            else if (inside && !line.startsWith("|-")) {
                rows.add(cells[1] + "|" + cells[2].replaceAll("[0-9,]+", "N"));
            }
        }
        return rows;
    }

    static String[] header(String[] like) {
        String[] header = new String[COLUMNS.length + 1];
        header[0] = like.length > 0 ? like[0] : "";
        System.arraycopy(COLUMNS, 0, header, 1, COLUMNS.length);
        return header;
    }

    static void readme() throws Exception {
        String readme = Files.readString(Path.of("README.md"));
        List<String> rows = table(reports().get(25)).values().stream()
            .map(row -> String.join("|", row.values())).toList();
        equal("the table", rows.subList(0, 10), table(between(readme, "table")).values()
            .stream().map(row -> String.join("|", row.values())).toList());
        for (String name : names(true)) yes(name, readme.contains("`" + name + "`"));
        String shows = readme.substring(readme.indexOf("*What it shows.*"));
        shows = shows.substring(0, shows.indexOf("\n## "));
        String known = between(Files.readString(Path.of("results.md")), "comparison");
        for (String ratio : matches("[0-9.,]{3,}×", shows)) yes(ratio, known.contains(ratio));
        String options = "--[a-z]+(?=[ `])";
        String explained = readme.substring(readme.indexOf("| Option |"));
        explained = explained.substring(0, explained.indexOf("\n\n"));
        Set<String> told = new TreeSet<>(matches(options, lab("--help").out));
        told.add("--help");
        equal("options", told, new TreeSet<>(matches(options, explained)));
    }

    /** Every command that starts the lab, handed to the lab's own parser. */
    static void commands() throws Exception {
        sourceCompiles();
        List<String> lines = new ArrayList<>();
        Matcher command = Pattern.compile("java( \\d+)?( -\\S+)* (VirtualThreadsLab|Play)\\.java"
            + "([^`>|\n]*)").matcher(Files.readString(Path.of("README.md")));
        while (command.find()) {
            if (!command.group(4).contains("[")) lines.add(command.group(4).strip());
        }
        yes("commands: " + lines.size(), lines.size() >= 20);
        Path probe = temp.resolve("Probe.java");
        Files.writeString(probe, "class Probe { public static void main(String[] lines) {"
            + " for (String line : lines) { System.out.println(line);"
            + " VirtualThreadsLab.parse(new java.util.ArrayList<>(java.util.List.of("
            + "line.isEmpty() ? new String[0] : line.split(\" +\")))); } } }");
        String classes = temp.resolve("classes").toString();
        equal("exit code of javac", 0, ToolProvider.getSystemJavaCompiler().run(null, null, null,
            "-cp", classes, "-d", classes, probe.toString()));
        Run run = run(command(List.of("-cp", classes), "Probe", lines.toArray(new String[0])), "");
        equal("exit code, the last command was not understood: " + run.out + run.err, 0, run.code);
        equal("a word that is no name", 2,
            run(command(List.of("-cp", classes), "Probe", "no-such-name"), "").code);
    }

    /** Each change is to be found once in its method, and what comes of it compiles. */
    static void exercises() throws Exception {
        String readme = Files.readString(Path.of("README.md"));
        int exercises = matches("(?m)^### \\d+\\. ", readme).size();
        yes("at most ten exercises", exercises >= 8 && exercises <= 10);
        for (String part : List.of("Predict", "Run", "Takes", "Look at")) {
            equal(part, exercises, matches("\\*\\*" + part + "\\*\\*", readme).size());
        }
        equal("answers", exercises, matches("<details><summary>Answer", readme).size());
        equal("answers end", exercises, matches("</details>", readme).size());
        String source = Files.readString(LAB);
        Matcher change = Pattern.compile("in `(\\w+)`:\\s+`([^`]+)`\\s+to\\s+`([^`]+)`"
            + "(?:, and then to `([^`]+)`)?").matcher(readme);
        int changes = 0;
        while (change.find()) {
            Matcher method = Pattern.compile("(?s)\n    static [^\n;=]*\\b" + change.group(1)
                + "\\(.*?\n    }\n").matcher(source);
            yes("the method " + change.group(1), method.find());
            String body = method.group();
            equal(change.group(2) + " in " + change.group(1), 2,
                body.split(Pattern.quote(change.group(2)), -1).length);
            for (int i = 3; i <= 4 && change.group(i) != null; i++) {
                Path play = Files.createDirectories(temp.resolve("play")).resolve("Play.java");
                Files.writeString(play, source.replace(body,
                    body.replace(change.group(2), change.group(i))));
                compiles(play);
                changes++;
            }
        }
        yes("changes: " + changes, changes >= 6);
    }

    static void findsJdk() throws Exception {
        needs("/bin/sh", "a POSIX shell");
        Run list = run(List.of("/bin/sh", ".ci/java", "--list"), "");
        equal("exit code", 0, list.code);
        yes("a JDK", !list.out.isBlank());
        Run some = run(List.of("/bin/sh", ".ci/java", "-version"), "");
        equal("exit code", 0, some.code);
        Matcher version = Pattern.compile("version \"(\\d+)").matcher(some.err);
        yes("21 or newer", version.find() && Integer.parseInt(version.group(1)) >= 21);
        Run other = run(List.of("/bin/sh", ".ci/java", "99", "-version"), "");
        equal("exit code", 2, other.code);
        equal("lines", 1L, other.err.lines().count());
        yes("those that are there: " + other.err, other.err.contains(version.group(1)));

        String home = System.getProperty("java.home");
        String wanted = "JAVA_HOME='" + home + "' PATH=/usr/bin:/bin sh .ci/java ";
        for (String words : List.of("-version", JDK + " -version")) {
            Run ours = shell(wanted + words);
            equal("exit code", 0, ours.code);
            yes("takes " + JDK + ": " + ours.err, ours.err.contains("version \"" + JDK));
            yes("says so", ours.err.startsWith(".ci/java: JDK " + JDK + ", "));
        }
    }

    // ------------------------------------------------------------------ reading a report

    /** Checks the exit code and the whole of a report; returns its table. */
    static Map<String, Map<String, String>> sound(int code, Run run) {
        equal("exit code", code, run.code);
        return sound(run);
    }

    /** Checks the whole of a report and returns its table: rows by experiment and work. */
    static Map<String, Map<String, String>> sound(Run run) {
        layout(run.out);
        if (run.out.contains("## Samples")) {
            equal("complaints", List.of(), recompute(run.out));
        }
        Map<String, Map<String, String>> table = table(run.out);
        for (String name : experiments(table)) finding(run, name);
        yes("bars", matches("(?m)^.{35}(platform|virtual ) [█#]+ ", run.out).size() > 0);
        equal("ms without its zeros", List.of(), matches("\\| +\\d+(\\.\\d)? ms ", run.out)
            .stream().filter(cell -> cell.replaceAll("\\D", "").length() < 3).toList());
        return table;
    }

    static void layout(String report) {
        yes("starts with the title", report.startsWith("# VirtualThreadsLab\n"));
        for (String line : report.split("\n")) {
            yes("at most 100 columns: " + line, line.length() <= 100);
        }
    }

    static void header(String report) {
        equal("header", List.of(COLUMNS), report.lines().filter(line -> line.startsWith("| Exp"))
            .map(line -> List.of(line.substring(2, line.length() - 2).split(" *\\| *")))
            .findFirst().orElse(List.of()));
    }

    static Map<String, Map<String, String>> table(String report) {
        Map<String, Map<String, String>> table = new LinkedHashMap<>();
        String[] columns = null;
        for (String line : report.split("\n")) {
            if (!line.startsWith("| ")) continue;
            String[] cells = line.substring(2).split(" *\\| *");
            if (columns == null) {
                columns = cells;
                equal("header", List.of(COLUMNS), List.of(cells).subList(0, 6));
                continue;
            }
            Map<String, String> row = new LinkedHashMap<>();
            for (int i = 0; i < columns.length; i++) row.put(columns[i], cells[i].strip());
            table.put(cells[0] + "|" + cells[1], row);
        }
        yes("a table", columns != null);
        return table;
    }

    static List<String> experiments(Map<String, Map<String, String>> table) {
        return table.values().stream().map(row -> row.get("Experiment")).distinct().toList();
    }

    static Map<String, String> row(Map<String, Map<String, String>> table, String experiment,
            String work) {
        return table.values().stream().filter(row -> row.get("Experiment").equals(experiment)
            && row.get("Work").contains(work)).findFirst().orElseThrow(() ->
            new AssertionError("no row " + experiment + ", " + work + " in " + table.keySet()));
    }

    /** The samples behind each side, the discarded first run at the head. */
    static Map<String, List<Double>> samples(String report) {
        Map<String, List<Double>> samples = new TreeMap<>();
        String row = "";
        List<Double> side = null;
        int start = report.indexOf("```", report.indexOf("## Samples")) + 3;
        for (String line : report.substring(start, report.indexOf("```", start)).split("\n")) {
            Matcher head = Pattern.compile("(\\S+), (.*), (\\w+)").matcher(line);
            Matcher body = Pattern.compile("  (platform |virtual )?([-(). 0-9]+)").matcher(line);
            if (head.matches()) {
                row = head.group(1) + "|" + head.group(2) + "|" + head.group(3);
            } else if (body.matches()) {
                if (body.group(1) != null) {
                    side = new ArrayList<>();
                    samples.put(row + "|" + body.group(1).strip(), side);
                }
                for (String value : body.group(2).replaceAll("[()]", "").strip().split(" ")) {
                    side.add(Double.valueOf(value));
                }
            }
        }
        return samples;
    }

    /** Computes table and verdicts anew from the samples; returns what does not agree. */
    static List<String> recompute(String report) {
        List<String> complaints = new ArrayList<>();
        Map<String, List<Double>> samples = samples(report);
        table(report).forEach((key, row) -> {
            double[] medians = {Double.NaN, Double.NaN};
            List<List<Double>> sides = new ArrayList<>();
            boolean noisy = false;
            for (int i = 0; i < 2; i++) {
                String cell = row.get(i == 0 ? "Platform" : "Virtual");
                if (cell.equals("—")) continue;
                String unit = cell.substring(cell.indexOf(' ') + 1);
                List<Double> side =
                    samples.get(key + "|" + unit + "|" + (i == 0 ? "platform" : "virtual"));
                if (side == null) {
                    complaints.add(key + " has no samples");
                    continue;
                }
                List<Double> sorted = side.stream().skip(1).sorted().toList();
                sides.add(sorted);
                medians[i] = quantile(sorted, 2);
                noisy |= quantile(sorted, 3) - quantile(sorted, 1) > 0.2 * medians[i];
                if (!cell.equals((unit.equals("ms") ? three(medians[i]) : show(medians[i]))
                        + " " + unit)) {
                    complaints.add(key + ": " + cell + ", not " + medians[i]);
                }
            }
            double ratio = medians[0] / medians[1];
            String expected = (noisy ? "~" : "") + (Double.isNaN(ratio) ? "—" : three(ratio) + "×");
            if (!row.get("Ratio").equals(expected)) {
                complaints.add(key + ": " + row.get("Ratio") + ", not " + expected);
            }
            String said = verdict(report, key);
            if (sides.size() == 2 && said != null && sides.get(0).size() > 1) {
                boolean apart = quantile(sides.get(0), 0) > quantile(sides.get(1), 4)
                    || quantile(sides.get(1), 0) > quantile(sides.get(0), 4);
                boolean faster = apart && Math.abs(ratio - 1) >= 0.05;
                if (faster != said.contains("× faster")) complaints.add(key + ": " + said);
                if (!faster && !said.contains("no difference")) complaints.add(key + ": " + said);
            }
        });
        return complaints;
    }

    /** The sentence that judges this row, or null. */
    static String verdict(String report, String key) {
        String name = key.substring(0, key.indexOf('|'));
        boolean judged = List.of("sleep-wave", "cpu-primes", "println", "capacity").contains(name)
            || name.equals("http") && key.endsWith("ms") || key.matches("mixed.* tasks");
        int start = report.indexOf("## What the numbers say");
        return judged && start >= 0 && report.contains("- " + name + ": ")
            ? sentence(report, name) : null;
    }

    /** Sorted values: the least for 0, quartiles for 1 to 3, the greatest for 4. */
    static double quantile(List<Double> sorted, int quarter) {
        double place = quarter * (sorted.size() - 1) / 4.0;
        double low = sorted.get((int) place);
        return low + (place % 1) * (sorted.get((int) Math.ceil(place)) - low);
    }

    /** Three significant digits with their zeros, or all those of a large number. */
    static String three(double value) {
        var rounded = BigDecimal.valueOf(value).round(new MathContext(3));
        if (value >= 999.5) return show(Math.round(value));
        return rounded.setScale(3 - rounded.precision() + rounded.scale()).toPlainString();
    }

    /** A whole number as it is, with commas; anything else in three digits. */
    static String show(double value) {
        if (value % 1 != 0) return three(value);
        String digits = new BigDecimal(value).setScale(0, RoundingMode.HALF_UP).toString();
        return digits.replaceAll("(?<=\\d)(?=(\\d{3})+$)", ",");
    }

    /** What the report says of an experiment, in one line. */
    static String finding(Run run, String experiment) {
        return sentence(run.out, experiment);
    }

    static String sentence(String report, String experiment) {
        Matcher found = Pattern.compile("(?ms)^- " + experiment + ": (.*?)(?=^- |^$)").matcher(
            report.substring(report.indexOf("## What the numbers say")));
        yes("a sentence on " + experiment, found.find());
        return found.group(1).strip().replaceAll("\\s+", " ");
    }

    static double number(String cell) {
        return Double.parseDouble(cell.replaceAll("[^0-9.]", ""));
    }

    static double ratio(Map<String, String> row) {
        return number(row.get("Ratio"));
    }

    static double platform(Map<String, String> row) {
        return number(row.get("Platform"));
    }

    static double virtual(Map<String, String> row) {
        return number(row.get("Virtual"));
    }

    /** How many tasks pinning lets wait on a carrier. */
    static int perCarrier(int carriers) {
        return Math.max(3, Math.min(10, 100 / carriers));
    }

    static int waiting(int carriers) {
        return carriers * perCarrier(carriers);
    }

    static List<String> names(boolean encores) {
        List<String> names = new ArrayList<>(FIVE);
        if (encores) names.addAll(ENCORES);
        return names;
    }

    static List<String> matches(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(found -> found.group())
            .toList();
    }

    // ----------------------------------------------------------------------- running it

    static final String UTF8 = "-Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8";

    record Run(int code, String out, String err) { }

    static Run lab(String... words) throws Exception {
        return java(List.of(), words);
    }

    static Run labWithInput(String input, String... words) throws Exception {
        return run(command(List.of(), LAB.toString(), words), input);
    }

    static Run java(List<String> flags, String... words) throws Exception {
        return run(command(flags, LAB.toString(), words), "");
    }

    /** Runs the lab with one deliberate change to its source. */
    static Run changed(String from, String to, String... words) throws Exception {
        return changedIn(Files.readString(LAB), from, to, words);
    }

    static Run changedIn(String source, String from, String to, String... words)
            throws Exception {
        yes("the source has: " + from, source.contains(from));
        Path copy = Files.createTempDirectory(temp, "changed").resolve(LAB.getFileName());
        Files.writeString(copy, source.replace(from, to));
        return run(command(List.of(), copy.toString(), words), "");
    }

    static List<String> command(List<String> flags, String program, String... words) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(UTF8.split(" ")));
        command.addAll(flags);
        command.add(program);
        command.addAll(List.of(words));
        return command;
    }

    /** Runs a line of shell whose $0 is this java. */
    static Run shell(String line) throws Exception {
        return run(List.of("/bin/bash", "-c", line, command(List.of(), "").get(0)), "");
    }

    static Process start(List<String> command) throws IOException {
        var builder = new ProcessBuilder(command).directory(LAB.getParent().toFile());
        builder.environment().remove("JDK_JAVA_OPTIONS");
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        return builder.start();
    }

    static Run run(List<String> command, String input) throws Exception {
        Process process = start(command);
        var err = new ByteArrayOutputStream();
        var errors = new Thread(() -> {
            try {
                process.getErrorStream().transferTo(err);
            } catch (IOException e) {
                // the process ended
            }
        });
        errors.start();
        try (OutputStream in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // it ended before it read all
        }
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        errors.join();
        int code = process.waitFor();
        return new Run(code, out.replace("\r\n", "\n"), err.toString(StandardCharsets.UTF_8));
    }

    // -------------------------------------------------------------------------- asserting

    static class Skip extends RuntimeException {
        private static final long serialVersionUID = 1;

        Skip(String why) {
            super(why);
        }
    }

    static void needs(String file, String what) {
        if (WINDOWS || !Files.exists(Path.of(file))) {
            throw new Skip("this system has not " + what + " (" + file + ")");
        }
    }

    static void yes(String what, boolean holds) {
        if (!holds) throw new AssertionError(what);
    }

    static void equal(String what, Object expected, Object actual) {
        yes(what + ": " + actual + ", not " + expected, expected.equals(actual));
    }

    static void near(String what, double expected, double actual, double factor) {
        yes(what + ": " + actual + ", not about " + expected,
            actual < expected * factor && actual > expected / factor);
    }

    static void fails(Test test) throws Exception {
        try {
            test.run();
        } catch (AssertionError e) {
            return;
        }
        throw new AssertionError("a deliberate fault passed");
    }
}
