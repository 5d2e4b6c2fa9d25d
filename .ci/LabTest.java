// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.math.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.TimeUnit;
import java.util.regex.*;
import java.util.stream.*;
import javax.tools.*;

/**
 * Drives the lab as its users do, in child processes of the Java that runs this test:
 * java .ci/LabTest.java, from the top level. Words pick the tests whose names contain one.
 * It compiles on 17, to say there that it needs 21.
 */
public class LabTest {
    static final Path LAB = Path.of("VirtualThreadsLab.java").toAbsolutePath();
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final List<String> FIVE =
        List.of("start-time", "sleep-wave", "cpu-primes", "pinning", "thread-count");
    static final List<String> ENCORES = List.of("println", "http", "mixed", "capacity",
        "thread-local", "million", "time-sharing", "lost-lock");
    static final List<String> NAMES =
        Stream.of(FIVE, ENCORES).flatMap(List::stream).toList();
    static final String CACHE = // a row that looks the same on every machine
        "thread-local; 2,000 tasks; 200 made; 2,000 made; 0.100×; 0.100×";
    static final Map<String, Test> TESTS = new LinkedHashMap<>();
    static Path temp;

    interface Test { void run() throws Exception; }

    public static void main(String[] words) throws Exception {
        if (JDK < 21) {
            System.err.println("LabTest: needs Java 21 or newer and this is " + JDK
                + "; try: sh .ci/java .ci/LabTest.java");
            System.exit(2);
        }
        temp = Files.createTempDirectory("lab test ");
        tests();
        int passed = 0;
        int failed = 0;
        for (String name : TESTS.keySet()) {
            if (words.length > 0 && Stream.of(words).noneMatch(name::contains)) continue;
            long start = System.nanoTime();
            try {
                TESTS.get(name).run();
                passed++;
                System.out.printf(Locale.ROOT, "passed: %s (%.0f s)%n", name,
                    (System.nanoTime() - start) / 1e9);
            } catch (Skip skip) {
                System.out.println("skipped: " + name + ", " + skip.getMessage());
            } catch (Exception | AssertionError e) {
                failed++;
                System.out.println("FAILED: " + name + ": " + e);
                if (!(e instanceof AssertionError)) e.printStackTrace(System.out);
            }
        }
        try (var files = Files.walk(temp)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    static void tests() {
        TESTS.put("source: compiles in silence for 21", () -> compile(LAB));
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
        TESTS.put("names: any order, twice is once; the last --runs", LabTest::names);
        TESTS.put("predict", LabTest::predict);
        for (int n : List.of(1, 16, 64)) {
            TESTS.put("processors: " + n, () -> carriers("XX:ActiveProcessorCount", n, n));
        }
        for (int n : List.of(1, 4)) {
            TESTS.put("carriers: " + n, () ->
                carriers("Djdk.virtualThreadScheduler.parallelism", PROCESSORS, n));
        }
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
        TESTS.put("no port to be had", () -> fault("InetAddress.getLoopbackAddress()",
            "InetAddress.getByName(\"192.0.2.1\")", "http", "", "java.net.BindException"));
        TESTS.put("a heap too small for a row", LabTest::smallHeap);
        TESTS.put("interrupted: SIGINT", () -> interrupted("INT"));
        TESTS.put("interrupted: SIGTERM", () -> interrupted("TERM"));
        TESTS.put("interrupted: no scratch file stays", LabTest::scratchFiles);
        TESTS.put("standard output is full", LabTest::fullOutput);
        TESTS.put("standard output goes away", () -> equal("stack trace", false, shell("\"$0\""
            + " VirtualThreadsLab.java --quick thread-count | true").err.contains("\tat ")));
        TESTS.put("no temporary folder", LabTest::noTemporaryFolder);
        TESTS.put("another file name, a folder with spaces", () -> run(command(List.of(),
            Files.copy(LAB, temp.resolve("Paste.java")), "--quick", "pinning")).sound(0));
        TESTS.put("compiled, on the class path, few modules", LabTest::compiled);
        TESTS.put("a wrong answer costs its row", () -> fault("int primes = 1;",
            "int primes = 0;", "cpu-primes", "cpu-primes;.* primes; —; —; —; 1×",
            "platform: wrong answer: 33,859 primes to 400,000, not 33,860."));
        TESTS.put("too many inside is a wrong answer", () -> fault("new Semaphore(limit)",
            "new Semaphore(limit + 1)", "capacity", "capacity;.*; [0-9.]+ ms; —; —; 1×",
            "virtual: wrong answer: 21 tasks inside at once, not 20."));
        TESTS.put("a shot in eight that stops moves no sample", LabTest::stops);
        TESTS.put("an experiment that throws costs its rows", () -> fault(
            "int tasks = perCarrier() * CARRIERS;", "int tasks = perCarrier() / 0;", "pinning",
            "", "java.lang.ArithmeticException: / by zero."));
        for (String error : List.of("OutOfMemoryError", "IllegalStateException")) {
            TESTS.put("without a message: " + error, () -> messageless(error));
        }
        TESTS.put("a progress whose estimate has run out", LabTest::overdue);
        TESTS.put("time-sharing and lost-lock show their difference", LabTest::stuck);
        TESTS.put("mixed: a wave and a stream", () -> yes("a wave against a stream",
            lab("--runs", "3", "--samples", "mixed").sound(0).ratio("mixed", "calls") > 1.3));
        TESTS.put("results.md: today's rows, sound reports, the comparison", LabTest::results);
        TESTS.put("results.md: our ratios beside published numbers", LabTest::published);
        TESTS.put("README.md: the table, the names, the options", LabTest::readme);
        TESTS.put("README.md: its commands are understood", LabTest::commands);
        TESTS.put("README.md: the exercises find what they change", LabTest::exercises);
        TESTS.put(".ci/java takes the JDK that is wanted", LabTest::findsJdk);
    }

    // ----------------------------------------------------------------- the source, the files

    static void sourceLooks() throws Exception {
        String source = Files.readString(LAB);
        for (String line : source.split("\n")) {
            yes("at most 96 columns: " + line, line.getBytes(UTF_8).length <= 96);
            yes("neither a tab nor a blank at the end: " + line, !line.matches(".*\t.*|.* "));
            yes(line + " is of the JDK", !line.startsWith("import ")
                || line.matches("import (static )?(java|jdk|com\\.sun\\.management)\\..*"));
        }
        yes("JBang's line", source.startsWith("//JAVA 21+\n"));
        yes("an SPDX line", source.contains("SPDX-License-Identifier: MIT-0"));
        equal("package declarations", false, source.contains("\npackage "));
        equal("Try: lines", NAMES.size(), matches("\\* Try: ", source).size());
    }

    /** One sitting: the experiments first, the cut where it has to be, and no line too many. */
    static void shape() throws Exception {
        List<String> lines = Files.readAllLines(LAB);
        int cut = cutLine(lines);
        yes("600 lines to the cut, not " + cut, cut <= 600);
        yes("940 lines, not " + lines.size(), lines.size() <= 940);
        int last = 0;
        for (String name : NAMES) {
            int line = IntStream.range(0, lines.size()).filter(i ->
                lines.get(i).startsWith("     * " + name + ". ")).findFirst().orElse(-1);
            yes(name + " has its comment, in the order in which it runs", line > last);
            equal(name + " stands below the cut", ENCORES.contains(name), line > cut);
            yes("a page and no more before " + name, line < last + 66 || line > cut);
            if (last == 0) yes("the first by line 60", line < 60);
            last = line;
        }
        equal("top-level types", List.of("class VirtualThreadsLab {",
            "class Encores extends VirtualThreadsLab {"), lines.stream().filter(line ->
            line.matches("(public |final )*(class|record|interface|enum) .*")).toList());
    }

    /** Returns the number of lines above the cut. */
    static int cutLine(List<String> lines) {
        return IntStream.range(0, lines.size()).filter(i ->
            lines.get(i).startsWith("// ----- Cut here")).findFirst().orElseThrow();
    }

    /** Does what the comment at the cut says. */
    static void cut() throws Exception {
        List<String> lines = Files.readAllLines(LAB);
        List<String> kept = new ArrayList<>(lines.subList(0, cutLine(lines)));
        kept.removeIf(line -> line.contains("Encores"));
        equal("lines that name Encores", 1, cutLine(lines) - kept.size());
        Path paste = Files.createDirectories(temp.resolve("cut")).resolve(LAB.getFileName());
        Files.write(paste, kept);
        compile(paste);
        Run help = run(command(List.of(), paste, "--help")).exits(0);
        for (String name : NAMES) {
            equal("tells of " + name, FIVE.contains(name), help.out.contains("  " + name + " "));
        }
        Run all = run(command(List.of(), paste, "--quick", "all")).sound(0);
        equal("experiments", FIVE, all.experiments());
    }

    static void olderJava() throws Exception {
        String said = javac(LAB, temp, "--release", "17");
        equal("errors: " + said, 1, matches("(?m)^.*VirtualThreadsLab\\.java:\\d+: ", said).size());
        yes("says: " + said, said.matches("(?s).*Java 21 or newer: see README\\.md.*"));
        yes("in a few lines", said.lines().count() <= 6);
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

            ## At a glance

            ```
            sleep-wave   1,000 × 50 ms         platform █████ 270 ms
            ```

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
        new Run(0, report, "").sound(0);
        new Run(0, report.replace("10.1 10 10.2", "10.1 10.1 10.4"), "").sound(0);
        for (String[] fault : new String[][] {{" 270 ms", " 271 ms"}, {"54.0 ms", "54.2 ms"},
                {" 5.00×", "    5×"}, {"269.9", "275.9"}, {"  54\n", "  55\n"},
                {" 5.00× |", "~5.00× |"}, {"(280.11) 270.21 269.9 281", "(1) 270 200 400"},
                {"no difference, as samples", "virtual threads were faster, as samples"},
                {"this time virtual threads were 5.00× faster", "no difference"},
                {"time virtual threads", "time platform threads"}, {"█", "."},
                {"  virtual", "  nobody"}, {"Predicted", "Guessed  "}, {"# V", "Note: # V"},
                {"- cpu-primes", "- cpu"}, {"```\n", "x".repeat(101)}, {"270 ms", "27 ms"}}) {
            yes("has: " + fault[0], report.contains(fault[0]));
            fails(fault[1], () -> new Run(0, report.replace(fault[0], fault[1]), "").sound(0));
        }
        fails("an exit code", () -> new Run(1, report, "").sound(0));
        fails("an inequality", () -> equal("one", 1, 2));
    }

    // -------------------------------------------------------------------- the command line

    static void help() throws Exception {
        Run run = lab("--help").exits(0);
        equal("standard error", "", run.err);
        run.tells("--quick", "--runs", "--samples", "--predict", "all");
        run.tells(NAMES.toArray(String[]::new));
        yes("one screen", run.out.lines().count() <= 30);
        yes("no line over 100", run.out.lines().allMatch(line -> line.length() <= 100));
    }

    static void usageErrors() throws Exception {
        for (String words : List.of("sleepwave", "--quik", "--runs=3", "-x", "", "a\nb",
                "--runs", "--runs 0", "--runs -1", "--runs 101", "--runs many",
                "--runs 99999999999", "--runs --quick", "--runs 2 --runs 0")) {
            Run run = lab(words.split(" ")).exits(2);
            equal("standard output of " + words, "", run.out);
            equal("lines on standard error of " + words, 1L, run.err.lines().count());
            yes(words + " names what would do: " + run.err, run.err.contains(
                words.startsWith("--runs") && !words.contains("=") ? "1 to 100" : "--help"));
        }
    }

    static void names() throws Exception {
        Run run = lab("thread-count", "--runs", "7", "--quick", "start-time", "thread-count",
            "--runs", "1").sound(0);
        equal("experiments", List.of("thread-count", "start-time"), run.experiments());
        equal("no samples unasked", false, run.out.contains("## Samples"));
        yes("one run is no verdict", run.sentence("start-time").contains("cannot tell"));
        run = lab("start-time", "--quick", "--runs", "4", "--samples").sound(0);
        for (List<Double> side : samples(run.out).values()) equal("samples", 5, side.size());
    }

    static void predict() throws Exception {
        Run run = run(command(List.of(), LAB, "--predict", "--quick", "--runs", "1",
            "thread-count", "sleep-wave", "cpu-primes", "pinning"),
            "7.5\n\nmany\n0,1\n9876.543\n").sound(0);
        equal("a number, none, nonsense, a comma, a long one, the end of input",
            List.of("7.5", "—", "—", "0,1", "9876", "—", "—"),
            run.table().values().stream().map(row -> row.get("You")).toList());
        yes("the question and the sides", run.err.contains("10,000 tasks wait 100 ms each: "
            + "pool of 200, or virtual thread per task"));
        equal("a question for each row", 7, matches("Your ratio", run.err).size());
    }

    // --------------------------------------------------------------------- the experiments

    static void theFive() throws Exception {
        Run run = lab("--samples").sound(0);
        int waiting = PROCESSORS * perCarrier(PROCESSORS);
        equal("rows", List.of("start-time|100 threads", "start-time|1,000 threads",
            "start-time|10,000 threads", "sleep-wave|10,000 × 100 ms",
            "cpu-primes|" + 4 * PROCESSORS + " × 78,498 primes",
            "pinning|" + waiting + " in ReentrantLock", "pinning|" + waiting
            + " in synchronized", "pinning|" + waiting + " in class init",
            "thread-count|1,000, pool of 200", "thread-count|1,000, thread each"),
            List.copyOf(run.table().keySet()));
        five(run, PROCESSORS);
        yes("sleep-wave far ahead", run.ratio("sleep-wave", "100 ms") > 5);
        equal("prediction", "50×", run.cell("sleep-wave", "100 ms", "Predicted"));
        yes("10,000 starts are cheaper", run.ratio("start-time", "10,000") > 2);
        long lines = run.out.substring(0, run.out.indexOf("## Samples")).lines().count();
        yes("about 50 lines, not " + lines, lines < 70);
        for (int i = 0; i < FIVE.size(); i++) {
            String start = "\\[" + (i + 1) + "/5\\] " + FIVE.get(i) + " .*";
            for (String step : List.of("warm-up", "run 1 of 5", "run 5 of 5")) {
                yes(start + step, run.progress(start + step
                    + " .*\\d+ s(, about \\d+ s left)? *"));
            }
        }
        yes("the time left is told", run.progress("\\[1/5\\] start-time .* s left *"));
        equal("over 80 columns", false, run.progress(".{81,}"));
    }

    /** What holds for the five on any machine, whatever their sizes. */
    static void five(Run run, int carriers) {
        double primes = run.ratio("cpu-primes", "primes");
        yes("processors decide over cpu-primes: " + primes, primes > 0.5 && primes < 2);
        double lock = run.number("pinning", "ReentrantLock", "Virtual");
        double monitor = run.number("pinning", "synchronized", "Virtual");
        double initializer = run.number("pinning", "class init", "Virtual");
        double slower = perCarrier(carriers) / 2.5;
        yes("an initializer pins", initializer > slower * lock);
        if (JDK < 24) yes("a monitor pins", monitor > slower * lock);
        else yes("a monitor does not pin", initializer > slower * monitor);
        equal("prediction", JDK < 24 ? run.cell("pinning", "class init", "Predicted") : "1×",
            run.cell("pinning", "synchronized", "Predicted"));
        String all = carriers * perCarrier(carriers) + " pinned events";
        run.tells("in ReentrantLock (0 pinned events)", "in class init (" + all,
            "in synchronized (" + (JDK < 24 ? all : "0 pinned events"));
        equal("a reason is named", JDK >= 24, run.sentence("pinning").contains("<clinit>"));
        threadCount(run, 1.25);
    }

    static void threadCount(Run run, double factor) {
        double b = run.number("thread-count", "pool of 200", "Platform") - 200;
        yes("some threads were live before", b >= 5);
        equal("each", b + 1_000, run.number("thread-count", "each", "Platform"));
        for (String way : List.of("pool of 200", "each")) {
            double more = run.number("thread-count", way, "Virtual") - b;
            yes("no thread more", Math.abs(more) <= 2);
            near("as predicted", run.number("thread-count", way, "Predicted"),
                run.ratio("thread-count", way), factor);
        }
        yes("a dump", run.sentence("thread-count").contains("1,000 virtual threads"));
    }

    static Run all;

    /** Returns a quick run of all the experiments, the same one for every test. */
    static Run quickAll() throws Exception {
        if (all == null) all = lab("all", "--quick", "--samples").sound(0);
        return all;
    }

    static void all() throws Exception {
        Path folder = Path.of(System.getProperty("java.io.tmpdir"));
        List<String> before = scratchFolders(folder);
        Run run = quickAll();
        equal("experiments", NAMES, run.experiments());
        five(run, PROCESSORS);
        yes("http gains", run.ratio("http", "50 ms") > 1.5);
        yes("http answers sooner", run.ratio("http", "latency") > 1.5);
        run.shows("http; 200 × 50 ms; .* ms; .* ms; .*×; 5×");
        near("mixed is about equal", 1, run.ratio("mixed", "tasks"), 3);
        near("capacity is equal", 1, run.ratio("capacity", "by 20"), 1.5);
        run.tells("at most 20 tasks were inside at once with the pool, 20 with the semaphore");
        run.shows(CACHE);
        run.tells("made 1.64 MB of buffers for the pool, 16.4 MB for virtual threads");
        for (String size : List.of("10,000", "100,000", "200,000")) {
            run.shows("million; " + size + " parked; —; [0-9.,]+ ms; ~?—; —");
        }
        yes("weighed", run.sentence("million").matches("each of 200,000 parked virtual threads"
            + " took [0-9,.]+ bytes of the heap; there is no platform side, as .*"));
        equal("files left", before, scratchFolders(folder));
    }

    static List<String> scratchFolders(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                .filter(name -> name.startsWith("VirtualThreadsLab")).sorted().toList();
        }
    }

    /** The directions, with wide margins: the delay is far under what patience is. */
    static void stuck() throws Exception {
        Run run = lab("--quick", "--samples", "time-sharing", "lost-lock").sound(0);
        yes("virtual threads do not share time", run.ratio("time-sharing", "") < 0.5);
        String lost = run.sentence("lost-lock");
        if (JDK < 24) yes("the lock is lost", run.ratio("lost-lock", "") < 0.5);
        yes("patience: " + lost, lost.matches(".* together 0 and "
            + (JDK < 24 ? "[1-9]\\d*" : "0") + " tasks lost patience\\."));
    }

    // -------------------------------------------------------- other machines, other settings

    static void carriers(String option, int processors, int carriers) throws Exception {
        Run run = lab(List.of("-" + option + "=" + carriers), "--quick", "--samples",
            "cpu-primes", "pinning", "thread-count").sound(0);
        run.tells(processors == 1 ? " 1 processor, " : " " + processors + " processors, ",
            carriers == 1 ? " 1 carrier, " : " " + carriers + " carriers, ");
        near("prediction", Math.min(1, (double) carriers / processors),
            run.number("cpu-primes", 4 * processors + " × 33,860 primes", "Predicted"), 1.01);
        int waiting = carriers * perCarrier(carriers);
        near("prediction", 1.0 / perCarrier(carriers),
            run.number("pinning", waiting + " in class init", "Predicted"), 1.01);
        run.tells("in class init (" + waiting + " pinned event");
        threadCount(run, 1.02);
        double b = run.number("thread-count", "each", "Virtual");
        yes("every carrier is among " + b, b >= carriers + 3);
    }

    static void locale(String tag) throws Exception {
        Locale locale = Locale.forLanguageTag(tag);
        Run run = lab(List.of("-Duser.language=" + locale.getLanguage(),
            "-Duser.country=" + locale.getCountry()), "--quick", "sleep-wave", "thread-count",
            "--samples").sound(0);
        run.row("sleep-wave", "1,000 × 50 ms");
        equal("digits but 0 to 9", List.of(), matches("[^\\P{Nd}0-9]", run.out));
    }

    static void charset(String name) throws Exception {
        Run run = lab(List.of("-Dstdout.encoding=" + name, "-Dstderr.encoding=" + name),
            "--quick", "sleep-wave", "start-time", "--runs", "2").exits(0);
        equal("beyond ASCII", List.of(), matches("[^\\p{ASCII}]", run.out + run.err));
        run.tells("| 1,000 x 50 ms ", " ####", "tasks x wait / elapsed", " us ");
        run.layout();
    }

    static void jvmFlag(String flag) throws Exception {
        Run run = lab(List.of(flag), "--quick", "start-time", "sleep-wave", "thread-count",
            "--samples");
        if (run.code == 1 && run.out.contains("Option") && !run.out.contains("# Virtual")) {
            throw new Skip("this JVM has no " + flag);
        }
        run.sound(0).tells(flag);
    }

    /** A limit on address space refuses threads with large stacks, to root as well. */
    static void fewThreads() throws Exception {
        if (!System.getProperty("os.name").equals("Linux")) throw new Skip("needs Linux");
        Run run = shell("ulimit -v 16000000; exec \"$0\" -Xlog:disable -Xmx256m "
            + "-XX:ReservedCodeCacheSize=64m -Xss100m " + ENCODING
            + " VirtualThreadsLab.java --quick --samples sleep-wave thread-count start-time");
        run.sound(1);
        for (String row : List.of("sleep-wave", "thread-count;.*pool of 200", ".*thread each")) {
            run.shows(row + ".*; —; [0-9.]+ (ms|threads); —; .*");
        }
        yes("the rest goes on", run.ratio("start-time", "100 ") > 1);
        yes("says why", matches("unable to create native thread", run.flat()).size() >= 3);
        equal("stack trace", false, run.err.contains("\tat "));
    }

    static void fewFiles() throws Exception {
        Run run = shell("ulimit -n 64; exec \"$0\" " + ENCODING
            + " VirtualThreadsLab.java --quick http thread-local").exits(1);
        run.layout();
        run.shows(CACHE);
        // Refused, cut off or left without an answer: the system decides which comes first.
        yes("says why", run.flat().matches(
            ".*- http 200 × 50 ms, (platform|virtual): java\\.(io|net)\\.\\S*Exception.*"));
    }

    static void smallHeap() throws Exception {
        Run run = lab(List.of("-Xmx64m"), "--quick", "million", "thread-local").sound(1);
        run.shows("million; 10,000 parked; —; [0-9.]+ ms; ~?—; —");
        run.shows("million; 200,000 parked; —; —; —; —");
        yes("says why", run.flat().matches(".*would need about [0-9,.]+ MB of heap.*"));
        equal("an error", false, (run.out + run.err).contains("OutOfMemory"));
        run.shows(CACHE);
    }

    static void interrupted(String signal) throws Exception {
        Run run = interrupt(signal, "200 threads", () -> { }, List.of(), "--runs", "40");
        run.layout();
        yes("exit code " + run.code, run.code != 0);
        run.tells("**Partial:**");
        yes("the finished row", run.ratio("start-time", "100 threads") > 0);
        yes("not all rows", run.table().size() < 5);
    }

    static void scratchFiles() throws Exception {
        Path folder = Files.createDirectories(temp.resolve("scratch files"));
        interrupt("TERM", "run 2 of 99", () -> equal("folders", 1, scratchFolders(folder).size()),
            List.of("-Djava.io.tmpdir=" + folder), "--runs", "99", "println");
        equal("files that stay", List.of(), scratchFolders(folder));
    }

    /** Sends a signal as soon as the progress shows what is awaited and the test is done. */
    static Run interrupt(String signal, String awaited, Test test, List<String> flags,
            String... words) throws Exception {
        needs("/bin/kill");
        Path status = Path.of("/proc/self/status"); // a shell's background job ignores SIGINT
        if (signal.equals("INT") && Files.exists(status)) {
            String ignored = matches("SigIgn:\\s+\\w+", Files.readString(status)).get(0);
            long bits = Long.parseUnsignedLong(ignored.replaceFirst(".*\\s", ""), 16);
            if ((bits & 2) != 0) throw new Skip("SIGINT is ignored here");
        }
        List<String> command = command(flags, LAB, words);
        command.add("--quick");
        Path errors = Files.createTempFile(temp, "errors", "");
        Process process = start(command, Files.writeString(temp.resolve("input"), ""), errors);
        try {
            while (process.isAlive() && !Files.readString(errors).contains(awaited)) {
                Thread.sleep(20);
            }
            test.run();
            new ProcessBuilder("/bin/kill", "-" + signal, "" + process.pid()).start().waitFor();
            String out = new String(process.getInputStream().readAllBytes(), UTF_8);
            yes("ends", process.waitFor(60, TimeUnit.SECONDS));
            return new Run(process.exitValue(), out, Files.readString(errors));
        } finally {
            process.destroyForcibly();
        }
    }

    static void fullOutput() throws Exception {
        needs("/dev/full");
        for (String words : List.of("--help", "--quick --runs 1 thread-count")) {
            Run run = shell("exec \"$0\" VirtualThreadsLab.java " + words + " > /dev/full");
            equal("stack trace", false, run.exits(1).err.contains("\tat "));
        }
    }

    static void noTemporaryFolder() throws Exception {
        Run run = lab(List.of("-Djava.io.tmpdir=" + LAB.resolve("nowhere")), "--quick",
            "pinning", "thread-count", "println").sound(1);
        equal("experiments", List.of("pinning", "thread-count"), run.experiments());
        run.tells("- println: java.nio.file.", "no Flight Recorder", "no thread dump");
        yes("pinning is measured", run.ratio("pinning", "class init") > 0);
    }

    static void compiled() throws Exception {
        Path classes = compile(LAB);
        Run run = classPath(classes, List.of(), "VirtualThreadsLab", "--quick").sound(0);
        equal("experiments", FIVE, run.experiments());
        run = classPath(classes, List.of("--limit-modules", "java.base,java.management"),
            "VirtualThreadsLab", "--quick", "start-time", "sleep-wave", "cpu-primes",
            "pinning", "thread-count", "http").sound(1);
        run.tells("no Flight Recorder", "no thread dump", "- http: java.lang.NoClassDefFound");
        for (String name : FIVE) yes(name, run.ratio(name, "") > 0);
    }

    // -------------------------------------------------------------------- deliberate faults

    /** One change to the source costs a cell or an experiment; why is told, the rest goes on. */
    static void fault(String from, String to, String name, String row, String reason)
            throws Exception {
        Run run = changed(from, to, "--quick", name, "thread-local").sound(1);
        run.shows(CACHE);
        equal("its rows", !row.isEmpty(), run.experiments().contains(name));
        if (!row.isEmpty()) run.shows(row);
        run.tells("- " + name, reason);
        equal("a verdict", false, run.out.contains("faster"));
    }

    /** A mean of the shots would grow by a dozen milliseconds, which is many times a shot. */
    static void stops() throws Exception {
        String check = "check(\"lines in the file\", lines, Files.readAllLines(file).size());";
        Run run = changed(check, check + " if (Thread.currentThread().isVirtual()"
            + " && ThreadLocalRandom.current().nextInt(8) == 0) Thread.sleep(100);",
            "--runs", "3", "println").sound(0);
        yes("no stop in the ratio", run.ratio("println", "") > 0.25);
    }

    /** Neither a measured zero nor the end of the report, on whichever side. */
    static void messageless(String error) throws Exception {
        for (boolean virtual : List.of(true, false)) {
            fault("Work wait = () -> Thread.sleep(waitMs);", "Work wait = () -> { if (Thread"
                + ".currentThread().isVirtual() == " + virtual + ") throw new " + error
                + "(); Thread.sleep(waitMs); };", "sleep-wave", "sleep-wave;.*"
                + (virtual ? "; [0-9.]+ ms; —; —; 5×" : "; —; [0-9.]+ ms; —; 5×"),
                "java.lang." + error + ".");
        }
    }

    static void overdue() throws Exception {
        Run run = changed("int waitMs = size(100, 50);", "int waitMs = size(100, 1_000);",
            "--quick", "--runs", "2", "sleep-wave", "thread-count").sound(0);
        yes("tells the time left", run.progress(".*sleep-wave.* about .*"));
        yes("and not when it is over", run.progress(".*sleep-wave((?!about).)*"));
        equal("0 s left of it", false, run.progress(".*sleep-wave.* 0 s left.*"));
    }

    // ------------------------------------------------------------------------ the documents

    static void results() throws Exception {
        List<String> comparison = new ArrayList<>();
        yes("JDK 21, 25 and 27", reports().keySet().containsAll(List.of(21, 25, 27)));
        for (Run report : reports().values()) {
            report.sound(0);
            equal("rows", works(quickAll()), works(report));
            int i = 0;
            for (var row : report.table().values()) {
                if (comparison.size() == i) {
                    comparison.add("| " + row.get("Experiment") + " | " + row.get("Work") + " |");
                }
                comparison.set(i, comparison.get(i++) + " "
                    + row.get("Ratio").replace("—", row.get("Virtual")) + " |");
            }
        }
        equal("comparison", comparison, between("results.md", "comparison").lines()
            .filter(line -> line.startsWith("| ")).skip(1).toList());
    }

    /** The rows of a table, whatever their sizes. */
    static List<String> works(Run run) {
        return run.table().keySet().stream().map(row -> row.replaceAll("[0-9,]+", "N")).toList();
    }

    /** The reports in results.md, by the JDK that each of them names. */
    static Map<Integer, Run> reports() throws IOException {
        Map<Integer, Run> reports = new TreeMap<>();
        Matcher block = Pattern.compile("(?s)<summary>JDK (\\d+):.*?(# VirtualThreadsLab\n.*?)"
            + "\n</details>").matcher(between("results.md", "reports"));
        while (block.find()) {
            yes("it is of that JDK", block.group(2).contains("\n- Java " + block.group(1)));
            reports.put(Integer.valueOf(block.group(1)), new Run(0, block.group(2), ""));
        }
        return reports;
    }

    /** What stands in a file between two marks of .ci/Results.java. */
    static String between(String file, String name) throws IOException {
        String text = Files.readString(Path.of(file));
        int start = text.indexOf("<!-- " + name + ": made by java .ci/Results.java -->");
        int end = text.indexOf("<!-- end of " + name + " -->");
        yes("the marks of " + name, start >= 0 && end > start);
        return text.substring(text.indexOf('\n', start), end);
    }

    static void published() throws Exception {
        List<String> ratios = reports().get(25).table().values().stream()
            .map(row -> row.get("Ratio").replace("~", "")).toList();
        int checked = 0;
        int column = -1;
        for (String line : Files.readAllLines(Path.of("results.md"))) {
            List<String> cells = List.of(line.split(" *\\| *"));
            if (!line.startsWith("|")) column = -1;
            else if (cells.contains("Our ratio")) column = cells.indexOf("Our ratio");
            else if (column > 0 && !line.startsWith("|-") && cells.size() > column
                    && !cells.get(column).isEmpty()) {
                yes(cells + ": ours is of JDK 25", ratios.contains(cells.get(column)));
                checked++;
            }
        }
        yes("ratios: " + checked, checked >= 10);
    }

    static void readme() throws Exception {
        String readme = Files.readString(Path.of("README.md"));
        equal("the table", List.copyOf(reports().get(25).table().values()).subList(0, 10),
            List.copyOf(new Run(0, between("README.md", "table"), "").table().values()));
        for (String name : NAMES) yes(name, readme.contains("`" + name + "`"));
        String shows = readme.substring(readme.indexOf("*What it shows.*"));
        String known = between("results.md", "comparison");
        for (String ratio : matches("[0-9.,]{3,}×", shows.substring(0, shows.indexOf("\n## ")))) {
            yes(ratio + " is in the comparison", known.contains(ratio));
        }
        String explained = readme.substring(readme.indexOf("| Option |"));
        Set<String> told = new TreeSet<>(matches("--[a-z]+(?=[ `])", lab("--help").out));
        told.add("--help");
        equal("options", told, new TreeSet<>(matches("--[a-z]+(?=[ `])",
            explained.substring(0, explained.indexOf("\n\n")))));
    }

    /** Every command that starts the lab, handed to the lab's own parser. */
    static void commands() throws Exception {
        List<String> lines = new ArrayList<>();
        Matcher command = Pattern.compile("java( \\d+)?( -\\S+)* (VirtualThreadsLab|Play)\\.java"
            + "([^`>|\n]*)").matcher(Files.readString(Path.of("README.md")));
        while (command.find()) {
            if (!command.group(4).contains("[")) lines.add(command.group(4).strip());
        }
        yes("commands: " + lines.size(), lines.size() >= 20);
        Path classes = compile(LAB);
        Path probe = Files.writeString(temp.resolve("Probe.java"), """
            import java.util.*;
            class Probe {
                public static void main(String[] lines) {
                    for (String line : lines) {
                        System.out.println(line);
                        VirtualThreadsLab.parse(new ArrayList<>(
                            line.isEmpty() ? List.of() : List.of(line.split(" +"))));
                    }
                }
            }
            """);
        equal("output of javac", "", javac(probe, classes));
        classPath(classes, List.of(), "Probe", lines.toArray(String[]::new)).exits(0);
        classPath(classes, List.of(), "Probe", "no-such-name").exits(2);
    }

    /** Each change is to be found once in its method, and what comes of it compiles. */
    static void exercises() throws Exception {
        String readme = Files.readString(Path.of("README.md"));
        int exercises = matches("(?m)^### \\d+\\. ", readme).size();
        yes("eight to ten exercises", exercises >= 8 && exercises <= 10);
        for (String part : List.of("\\*\\*Predict\\*\\*", "\\*\\*Run\\*\\*", "\\*\\*Takes\\*\\*",
                "\\*\\*Look at\\*\\*", "<details><summary>Answer", "</details>")) {
            equal(part, exercises, matches(part, readme).size());
        }
        String source = Files.readString(LAB);
        Matcher change = Pattern.compile("in `(\\w+)`:\\s+`([^`]+)`\\s+to\\s+`([^`]+)`"
            + "(?:, and then to `([^`]+)`)?").matcher(readme);
        int changes = 0;
        while (change.find()) {
            Matcher method = Pattern.compile("(?s)\n    static [^\n;=]*\\b" + change.group(1)
                + "\\(.*?\n    }\n").matcher(source);
            yes("the method " + change.group(1), method.find());
            String body = method.group();
            equal(change.group(2) + " in " + change.group(1), 1,
                matches(Pattern.quote(change.group(2)), body).size());
            for (int i = 3; i <= 4 && change.group(i) != null; i++) {
                Path play = Files.createDirectories(temp.resolve("play")).resolve("Play.java");
                compile(Files.writeString(play, source.replace(body,
                    body.replace(change.group(2), change.group(i)))));
                changes++;
            }
        }
        yes("changes: " + changes, changes >= 6);
    }

    static void findsJdk() throws Exception {
        Run list = shell("sh .ci/java --list").exits(0);
        yes("a JDK", !list.out.isBlank());
        Run some = shell("sh .ci/java -version").exits(0);
        String version = matches("(?<=version \")\\d+", some.err).get(0);
        yes("21 or newer", Integer.parseInt(version) >= 21);
        Run other = shell("sh .ci/java 99 -version").exits(2);
        equal("lines", 1L, other.err.lines().count());
        yes("those that are there: " + other.err, other.err.contains(version));
        for (String words : List.of("-version", JDK + " -version")) {
            Run ours = shell("JAVA_HOME='" + System.getProperty("java.home")
                + "' PATH=/usr/bin:/bin sh .ci/java " + words).exits(0);
            yes("takes " + JDK + ": " + ours.err, ours.err.contains("version \"" + JDK));
            yes("says so", ours.err.startsWith(".ci/java: JDK " + JDK + ", "));
        }
    }

    // --------------------------------------------------------------------- reading a report

    /** What a command printed; where that is a report, its parts as readers find them. */
    record Run(int code, String out, String err) {
        Run exits(int expected) {
            equal("exit code (" + err.replaceAll("\\s+", " ") + ")", expected, code);
            return this;
        }

        /** Checks the exit code and the whole of a report, which has one row at least. */
        Run sound(int expected) {
            exits(expected);
            layout();
            if (out.contains("## Samples")) recompute(this);
            for (String name : experiments()) sentence(name);
            yes("bars", !matches("(?m)^.{35}(platform|virtual ) [█#]+ ", out).isEmpty());
            equal("ms without zeros", List.of(), matches("\\| +\\d(\\.?\\d)? ms ", out));
            return this;
        }

        void layout() {
            yes("starts with the title", out.startsWith("# VirtualThreadsLab\n"));
            for (String line : out.split("\n")) {
                yes("at most 100 columns: " + line, line.length() <= 100);
            }
            table();
        }

        /** The rows by experiment|work, each with its cells by column. */
        Map<String, Map<String, String>> table() {
            Map<String, Map<String, String>> table = new LinkedHashMap<>();
            List<String> columns = List.of();
            for (String line : out.split("\n")) {
                if (!line.startsWith("| ")) continue;
                List<String> cells = List.of(line.substring(2).strip().split(" *\\| *"));
                if (columns.isEmpty()) {
                    columns = cells;
                    equal("header", List.of("Experiment", "Work", "Platform", "Virtual", "Ratio",
                        "Predicted"), cells.subList(0, 6));
                    continue;
                }
                Map<String, String> row = new LinkedHashMap<>();
                for (int i = 0; i < cells.size(); i++) row.put(columns.get(i), cells.get(i));
                table.put(cells.get(0) + "|" + cells.get(1), row);
            }
            yes("a table", !columns.isEmpty());
            return table;
        }

        List<String> experiments() {
            return table().values().stream().map(row -> row.get("Experiment")).distinct().toList();
        }

        /** The first row of an experiment whose work contains the words. */
        Map<String, String> row(String experiment, String work) {
            return table().values().stream().filter(row -> row.get("Experiment")
                .equals(experiment) && row.get("Work").contains(work)).findFirst().orElseThrow(
                () -> new AssertionError("no row " + experiment + ", " + work + ": " + out));
        }

        /** Checks that a row looks so; its cells stand between semicolons. */
        void shows(String pattern) {
            yes("shows " + pattern + ", but: " + out, table().values().stream()
                .anyMatch(row -> String.join("; ", row.values()).matches(pattern)));
        }

        String cell(String experiment, String work, String column) {
            return row(experiment, work).get(column);
        }

        double number(String experiment, String work, String column) {
            return Double.parseDouble(cell(experiment, work, column).replaceAll("[^0-9.]", ""));
        }

        double ratio(String experiment, String work) {
            return number(experiment, work, "Ratio");
        }

        /** What the report says of an experiment, in one line. */
        String sentence(String experiment) {
            String said = out.substring(Math.max(0, out.indexOf("## What the numbers say")));
            var found = matches("(?ms)^- " + experiment + ": .*?(?=^- |^$)", said);
            equal("sentences on " + experiment, 1, found.size());
            return found.get(0).substring(experiment.length() + 4).strip().replaceAll("\\s+", " ");
        }

        String flat() {
            return out.replaceAll("\\s+", " ");
        }

        void tells(String... texts) {
            for (String text : texts) {
                yes("tells: " + text + ", but: " + out, (out + flat()).contains(text));
            }
        }

        boolean progress(String pattern) {
            return Stream.of(err.split("[\r\n]+")).anyMatch(line -> line.matches(pattern));
        }
    }

    /** The samples behind each side, by experiment|work|unit|side, the discarded one first. */
    static Map<String, List<Double>> samples(String report) {
        Map<String, List<Double>> samples = new LinkedHashMap<>();
        String row = "";
        List<Double> side = null;
        for (String line : report.substring(report.indexOf("## Samples")).split("\n")) {
            Matcher head = Pattern.compile("(\\S+), (.*), (\\w+)").matcher(line);
            Matcher body = Pattern.compile("  (platform |virtual )?([-(). 0-9]+)").matcher(line);
            if (head.matches()) row = head.replaceFirst("$1|$2|$3|");
            if (!body.matches()) continue;
            if (body.group(1) != null) {
                side = new ArrayList<>();
                samples.put(row + body.group(1).strip(), side);
            }
            for (String value : body.group(2).replaceAll("[()]", "").strip().split(" ")) {
                side.add(Double.valueOf(value));
            }
        }
        return samples;
    }

    /** Computes the medians, the ratio, the noise and the verdict anew from the samples. */
    static void recompute(Run report) {
        Map<String, List<Double>> samples = samples(report.out);
        report.table().forEach((key, row) -> {
            List<List<Double>> sides = new ArrayList<>();
            boolean noisy = false;
            for (String name : List.of("Platform", "Virtual")) {
                String cell = row.get(name);
                if (cell.equals("—")) continue;
                String unit = cell.substring(cell.indexOf(' ') + 1);
                var side = samples.get(key + "|" + unit + "|" + name.toLowerCase(Locale.ROOT));
                yes(key + " has samples", side != null);
                List<Double> sorted = side.stream().skip(1).sorted().toList();
                double median = quantile(sorted, 2);
                noisy |= quantile(sorted, 3) - quantile(sorted, 1) > 0.2 * median;
                equal(key, (unit.equals("ms") ? three(median) : show(median)) + " " + unit, cell);
                sides.add(sorted);
            }
            boolean pair = sides.size() == 2;
            double ratio = pair ? quantile(sides.get(0), 2) / quantile(sides.get(1), 2) : 0;
            equal("ratio of " + key, (noisy ? "~" : "") + (pair ? three(ratio) + "×" : "—"),
                row.get("Ratio"));
            String name = row.get("Experiment");
            boolean judged = List.of("sleep-wave", "cpu-primes", "println", "capacity")
                .contains(name) || key.matches("http.* ms|mixed.* tasks");
            if (!judged || !pair || sides.get(0).size() == 1) return;
            boolean apart = quantile(sides.get(0), 0) > quantile(sides.get(1), 4)
                || quantile(sides.get(1), 0) > quantile(sides.get(0), 4);
            String fast = ratio > 1 ? "virtual" : "platform";
            yes("the verdict on " + key, report.sentence(name).matches(
                apart && Math.abs(ratio - 1) >= 0.05 ? ".*" + fast + " threads were .*× faster.*"
                : ".*no difference.*"));
        });
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

    /** How many tasks pinning lets wait on a carrier. */
    static int perCarrier(int carriers) {
        return Math.max(3, Math.min(10, 100 / carriers));
    }

    static List<String> matches(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(MatchResult::group).toList();
    }

    // --------------------------------------------------------------------------- running it

    static final String ENCODING = "-Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8";

    static Run lab(String... words) throws Exception {
        return lab(List.of(), words);
    }

    static Run lab(List<String> flags, String... words) throws Exception {
        return run(command(flags, LAB, words));
    }

    /** Runs the lab with one deliberate change to its source. */
    static Run changed(String from, String to, String... words) throws Exception {
        String source = Files.readString(LAB);
        yes("the source has: " + from, source.contains(from));
        Path copy = Files.createTempDirectory(temp, "changed").resolve(LAB.getFileName());
        Files.writeString(copy, source.replace(from, to));
        return run(command(List.of(), copy, words));
    }

    static Run classPath(Path classes, List<String> flags, String main, String... words)
            throws Exception {
        List<String> all = new ArrayList<>(flags);
        all.addAll(List.of("-cp", classes.toString()));
        return run(command(all, Path.of(main), words));
    }

    /** Compiles without a word of javac; returns the folder of the classes. */
    static Path compile(Path source) throws Exception {
        Path classes = Files.createTempDirectory(temp, "classes");
        equal("output of javac", "", javac(source, classes, "--release", "21", "-Xlint:all",
            "-Werror", "-Xdoclint:all/protected"));
        return classes;
    }

    static String javac(Path source, Path classes, String... options) {
        var said = new ByteArrayOutputStream();
        List<String> words = new ArrayList<>(List.of(options));
        words.addAll(List.of("-cp", classes.toString(), "-d", classes.toString(), "" + source));
        int code = ToolProvider.getSystemJavaCompiler().run(null, said, said,
            words.toArray(String[]::new));
        equal("exit code of javac: " + said, code == 0, said.toString().isEmpty());
        return said.toString();
    }

    static List<String> command(List<String> flags, Path program, String... words) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(ENCODING.split(" ")));
        command.addAll(flags);
        command.add(program.toString());
        command.addAll(List.of(words));
        return command;
    }

    /** Runs a line of shell whose $0 is this java. */
    static Run shell(String line) throws Exception {
        needs("/bin/bash");
        return run(List.of("/bin/bash", "-c", line, command(List.of(), LAB).get(0)));
    }

    static Process start(List<String> command, Path input, Path errors) throws IOException {
        var builder = new ProcessBuilder(command).directory(LAB.getParent().toFile())
            .redirectInput(input.toFile()).redirectError(errors.toFile());
        builder.environment().keySet().removeAll(Set.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        return builder.start();
    }

    static Run run(List<String> command) throws Exception {
        return run(command, "");
    }

    static Run run(List<String> command, String input) throws Exception {
        Path in = Files.writeString(temp.resolve("input"), input);
        Path errors = Files.createTempFile(temp, "errors", "");
        Process process = start(command, in, errors);
        String out = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Run(process.waitFor(), out.replace("\r\n", "\n"), Files.readString(errors));
    }

    // ---------------------------------------------------------------------------- asserting

    static class Skip extends RuntimeException {
        private static final long serialVersionUID = 1;

        Skip(String why) {
            super(why);
        }
    }

    static void needs(String file) {
        if (!Files.exists(Path.of(file))) throw new Skip("this system has no " + file);
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

    static void fails(String fault, Test test) throws Exception {
        try {
            test.run();
        } catch (AssertionError e) {
            return;
        }
        throw new AssertionError("a deliberate fault passed: " + fault);
    }
}
