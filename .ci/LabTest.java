// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.TimeUnit;
import java.util.regex.*;
import java.util.stream.*;
import javax.tools.*;

/**
 * Drives the lab as its users do, in processes of the Java that runs this test, and asks each
 * what it did. It runs at the top level; words pick the tests whose names contain one:
 *
 *     java .ci/LabTest.java
 *     java .ci/LabTest.java predict
 *
 * A failure names the lines of the check and shows the last process: its command, exit code and
 * both outputs. This file compiles on 17, to say there that it needs 21.
 */
public class LabTest {
    static final Path LAB = Path.of("VirtualThreadsLab.java").toAbsolutePath();
    static final int JDK = Runtime.version().feature();
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    static final boolean COMMAND = ProcessHandle.current().info().arguments().isPresent();
    static final int MINUTES = 4; // after which a process is taken to hang
    static final List<String> FIVE =
        List.of("start-time", "sleep-wave", "cpu-primes", "pinning", "thread-count");
    static final List<String> ENCORES = List.of("println", "http", "mixed", "capacity",
        "thread-local", "million", "time-sharing", "lost-lock");
    static final List<String> NAMES = Stream.of(FIVE, ENCORES).flatMap(List::stream).toList();
    static final String CACHE = // a row that looks the same on every machine
        "thread-local; 2,000 tasks; 200 made; 2,000 made; 0.100×; 0.100×";
    static final List<String> COLUMNS = List.of("Experiment", "Work", "Platform", "Virtual",
        "Ratio", "Predicted", "You");
    static final String CUT = "// ----- Cut here";
    static final String NO_THREAD = "unable to create native thread";
    static final Map<String, Test> TESTS = new LinkedHashMap<>();
    static Path temp;
    static Path classes; // of the lab as it is
    static Run last; // to be shown by a failure

    interface Test { void run() throws Exception; }

    static {
        TESTS.put("source: lines, imports, experiments", LabTest::source);
        TESTS.put("source: compiles in silence; an older Java says why not", LabTest::compiles);
        TESTS.put("source: cut, it is a lab of the five", LabTest::cut);
        TESTS.put("source: launched, under any name", LabTest::launched);
        TESTS.put("files: as .editorconfig says", LabTest::files);
        TESTS.put("the checks of this test can fail", LabTest::checksCanFail);
        TESTS.put("help", LabTest::help);
        TESTS.put("usage errors", LabTest::usageErrors);
        TESTS.put("names in any order, and the number of runs", LabTest::names);
        TESTS.put("predict: what people type, and when", LabTest::predict);
        TESTS.put("the five, in full", LabTest::theFive);
        TESTS.put("all, quick; mixed, time-sharing and lost-lock differ", LabTest::all);
        TESTS.put("1 processor, beside another recording", () -> machine(1, 1,
            "-XX:ActiveProcessorCount=1", "-Xlog:disable", "-XX:StartFlightRecording"));
        TESTS.put("16 processors, 4 carriers", () -> machine(16, 4,
            "-XX:ActiveProcessorCount=16", "-Djdk.virtualThreadScheduler.parallelism=4"));
        TESTS.put("64 processors", () -> machine(64, 64, "-XX:ActiveProcessorCount=64"));
        TESTS.put("1 carrier", () ->
            machine(PROCESSORS, 1, "-Djdk.virtualThreadScheduler.maxPoolSize=1"));
        TESTS.put("German, Latin 1, serial collector", () ->
            settings("de", "DE", "ISO-8859-1", "-XX:+UseSerialGC"));
        TESTS.put("Arabic, ASCII, 64 MB", () -> settings("ar", "EG", "US-ASCII", "-Xmx64m"));
        TESTS.put("Hindi, IBM437, ZGC", () -> settings("hi", "IN", "IBM437", "-XX:+UseZGC"));
        TESTS.put("Turkish, interpreted, small stacks", () ->
            settings("tr", "TR", "UTF-8", "-Xint", "-Xss256k"));
        TESTS.put("other code finds everything as it was", LabTest::untouched);
        TESTS.put("few modules", LabTest::fewModules);
        TESTS.put("few threads: little address space", LabTest::fewThreads);
        TESTS.put("few threads: ulimit", LabTest::fewProcesses);
        TESTS.put("few files", LabTest::fewFiles);
        TESTS.put("a small heap", LabTest::smallHeap);
        TESTS.put("no temporary folder", LabTest::noTemporaryFolder);
        TESTS.put("a temporary folder without room", LabTest::noRoom);
        TESTS.put("interrupted: SIGINT", () -> interrupted("INT"));
        TESTS.put("interrupted: SIGTERM", () -> interrupted("TERM"));
        TESTS.put("standard output is full, or goes away", LabTest::fullOutput);
        TESTS.put("faults cost a cell or an experiment", LabTest::faults);
        TESTS.put("faults of the other side, their causes, stops", LabTest::otherFaults);
        TESTS.put("an experiment of one's own", LabTest::ownExperiment);
        TESTS.put("documents: check finds no fault, handout no prediction", LabTest::documents);
        TESTS.put("documents: README.md's possible solution", LabTest::solution);
        TESTS.put(".ci/java takes the JDK that is wanted", LabTest::findsJdk);
    }

    public static void main(String[] words) throws Exception {
        if (JDK < 21) {
            System.err.println("LabTest: needs Java 21 or newer and this is " + JDK
                + "; try: sh .ci/java .ci/LabTest.java");
            System.exit(2);
        }
        temp = Files.createTempDirectory("lab-test");
        int passed = 0;
        int failed = 0;
        for (String name : TESTS.keySet()) {
            if (words.length > 0 && Stream.of(words).noneMatch(name::contains)) continue;
            long start = System.nanoTime();
            last = null;
            try {
                TESTS.get(name).run();
                passed++;
                System.out.printf(Locale.ROOT, "passed: %s (%.0f s)%n", name,
                    (System.nanoTime() - start) / 1e9);
            } catch (Skip skip) {
                System.out.println("skipped: " + name + ", " + skip.getMessage());
            } catch (Exception | AssertionError e) {
                failed++;
                System.out.println("FAILED: " + name + ", " + lines(e) + ": "
                    + (e instanceof AssertionError ? e.getMessage() : e));
                if (last != null) System.out.print(last.whole().indent(8));
            }
        }
        try (var files = Files.walk(temp)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    // ----------------------------------------------------------------- the source, the files

    static Path classes() throws Exception {
        if (classes == null) classes = compile(Files.readString(LAB));
        return classes;
    }

    static void source() throws Exception {
        String source = Files.readString(LAB);
        yes("JBang's line and the licence's",
            source.startsWith("//JAVA 21+\n// SPDX-License-Identifier: MIT-0\n"));
        equal("packages, and imports beyond the JDK", List.of(), matches("(?m)^package .*"
            + "|^import (?!(static )?(java|jdk|com\\.sun\\.management)\\.).*", source));
        source.lines().forEach(line ->
            yes("96 bytes: " + line, line.getBytes(UTF_8).length <= 96));
        yes("1,270 lines", source.lines().count() <= 1_270);
        yes("840 lines to the cut", aboveCut().lines().count() <= 840);
        // The part before the first experiment, and then one that begins with each comment.
        List<String> parts = List.of(source.split("\n     \\* (?=[a-z-]+\\. )"));
        equal("experiments, in the order in which they run", NAMES, parts.stream().skip(1)
            .map(part -> part.substring(0, part.indexOf('.'))).toList());
        yes("the cut is below the five", parts.get(FIVE.size()).contains(CUT));
        for (int i = 1; i < parts.size(); i++) {
            String name = NAMES.get(i - 1);
            yes("a page and no more before " + name,
                i > FIVE.size() || parts.get(i - 1).lines().count() < 70);
            String comment = parts.get(i).substring(0, parts.get(i).indexOf("*/"));
            for (String part : List.of("Fair: |There is no platform side", "Prediction: ",
                    "Try: ")) {
                equal(part + " of " + name, 1, matches("\\* (" + part + ")", comment).size());
            }
        }
    }

    static String aboveCut() throws Exception {
        String source = Files.readString(LAB);
        return source.substring(0, source.indexOf(CUT));
    }

    /** Does what the comment at the cut says. */
    static void cut() throws Exception {
        String encores = "(?m)^.*Encores.*\n";
        equal("lines that name Encores", 1, matches(encores, aboveCut()).size());
        List<String> five = List.of("-cp", "" + compile(aboveCut().replaceAll(encores, "")));
        equal("experiments", FIVE, lab(five, "--quick --runs 1 all").sound(0).experiments());
    }

    static void compiles() throws Exception {
        classes();
        String said = javac(LAB, temp, "--release", "17");
        equal("errors in " + said, 1, matches("VirtualThreadsLab\\.java:\\d+: ", said).size());
        yes("says: " + said, said.contains("Java 21 or newer") && said.lines().count() <= 6);
    }

    static void launched() throws Exception {
        java(List.of("" + LAB), "--quick --runs 1 thread-count").sound(0)
            .tells(COMMAND ? "`java " : "words `", "--quick --runs 1 thread-count`");
        Path paste = Files.createDirectories(temp.resolve("a folder")).resolve("Paste.java");
        java(List.of("" + Files.copy(LAB, paste)), "--quick --runs 1 pinning").sound(0)
            .tells((COMMAND ? "'" + paste + "' " : "") + "--quick --runs 1 pinning`");
    }

    /** What .editorconfig says holds, also where no editor has read it. */
    static void files() throws Exception {
        String config = Files.readString(Path.of(".editorconfig"));
        yes("the rules that are checked here", config.contains("\ncharset = utf-8\nend_of_line"
            + " = lf\ninsert_final_newline = true\ntrim_trailing_whitespace = true\n"));
        int width = Integer.parseInt(matches("(?<=\nmax_line_length = )\\d+", config).get(0));
        List<Path> files;
        try (var all = Files.walk(Path.of(""))) {
            files = all.filter(file -> file.toString().matches("(\\.ci|\\.github|[^.]).*"))
                .filter(Files::isRegularFile).sorted().toList();
        }
        equal("files at the top level",
            List.of("LICENSE", "README.md", "VirtualThreadsLab.java", "results.md"),
            files.stream().map(Path::toString).filter(file -> !file.startsWith(".")).toList());
        for (Path file : files) {
            String text = Files.readString(file);
            String wide = file.toString().endsWith(".java") ? "|^.{" + (width + 1) + ",}" : "";
            equal("tabs, blanks at the end, long lines in " + file, List.of(),
                matches("(?m)^.*[\t\r].*|^.* $" + wide, text));
            yes("an end to the last line of " + file, text.endsWith("\n"));
        }
    }

    /** Deliberate faults: every one of them has to be noticed. */
    static void checksCanFail() throws Exception {
        String report = """
            # VirtualThreadsLab

            - 2026-11-22, 4 runs, `java`

            | Experiment | Work          | Platform | Virtual | Ratio | Predicted |
            |------------|---------------|---------:|--------:|------:|----------:|
            | sleep-wave | 1,000 × 50 ms |   270 ms | 54.0 ms | 5.00× |        5× |
            | cpu-primes | 8 × 9 primes  |  10.1 ms | 10.0 ms | 1.01× |        1× |

            Ratio is platform ÷ virtual.

            ## What the numbers say

            - sleep-wave: the pool of 200 took 5.00× as long as virtual threads.
            - cpu-primes: no difference was shown, as samples of both sides overlap.

            ## At a glance

            ```text
                                              < they need more │ virtual threads need less >
                                              0.1×      1×        10×       100×      1,000×
            sleep-wave   1,000 × 50 ms                            │██████○ 5.00×
            cpu-primes   8 × 9 primes                             ○ 1.01×
            ```

            ## Samples

            ```text
            sleep-wave, 1,000 × 50 ms, ms
              platform (280.11) 270.21 269.9 281 270
              virtual (60) 54.04 54.2 54
              53.9
            cpu-primes, 8 × 9 primes, ms
              platform (10) 10.1 10 10.2 10.1
              virtual (10) 9.99 10 10.3 10
            ```
            """;
        new Run(List.of(), 0, report, "").sound(0);
        for (String[] fault : new String[][] {{"  270 ms", "  271 ms"}, {"54.0 ms", "54.2 ms"},
                {" 5.00× |", "    5× |"}, {"269.9", "275.9"}, {"  53.9\n", "  58\n"},
                {" 5.00× |", "~5.00× |"}, {"270.21 269.9 281 270\n", "270 100 440 270\n"},
                {"no difference was shown", "platform threads took 1.01× as long"},
                {"pool of 200 took 5.00×", "pool of 200 took ~5.00×"}, {"281 270\n", "281\n"},
                {", 4 runs", ", 5 runs"},
                {"took 5.00× as long as virtual threads", "no difference was shown"},
                {"│██████○", "│█████○"}, {"██○", "███"}, {"  ○ 1", "  │ 1"}, {"○ 1.0", "○ 2.0"},
                {"○ 1.01×\n", "1.01×\n"}, {"cpu-primes   8 × 9", "cpu-primes  8 × 9"},
                {"  virtual", "  nobody"}, {"Predicted", "Guessed  "}, {"# V", "Note: # V"},
                {"- cpu-primes", "- cpu"}, {"```\n", "x".repeat(101)}, {"|  10.1", "| 10.1"},
                {"virtual (10) 9.99 10 10.3 10\n", "virtual (10) 9.59 9.6 9.62 9.6\n"}}) {
            String wrong = report.replace(fault[0], fault[1]);
            yes("has: " + fault[0], !report.equals(wrong));
            fails(fault[1], () -> new Run(List.of(), 0, wrong, "").sound(0));
        }
        fails("an exit code", () -> new Run(List.of(), 1, report, "").sound(0));
        Run progress = new Run(List.of(), 0, report, "\r[1/1] pinning  run 1 of 4   3 s");
        fails("no total", () -> progress.sound(0));
        fails("an inequality", () -> equal("one", 1, 2));
    }

    // -------------------------------------------------------------------- the command line

    static void help() throws Exception {
        Run run = lab("--help").exits(0).tells(NAMES.toArray(String[]::new))
            .tells("--quick", "--runs", "--samples", "--predict", "all");
        equal("standard error", "", run.err);
        yes("one screen", run.out.lines().count() <= 30);
        equal("lines over 100", List.of(), matches("(?m)^.{101,}", run.out));
        equal("help among other words", run.out, lab("http --help --quick").exits(0).out);
    }

    static void usageErrors() throws Exception {
        for (String words : List.of("sleepwave", "--quik", "--runs=3", "-x", "a\nb", "",
                "--help --no", "--runs", "--runs 0", "--runs -1", "--runs 101", "--runs many",
                "--runs 99999999999", "--runs --quick", "--runs 2 --runs 3")) {
            lab(words).complains(words.matches("--runs( [^ ]+)?") ? "1 to 100" : "--help");
        }
        for (String carriers : List.of("0", "-1")) {
            lab(List.of("-Djdk.virtualThreadScheduler.parallelism=" + carriers), "pinning")
                .complains("need a carrier, not " + carriers);
        }
    }

    static void names() throws Exception {
        Run run = lab("thread-local start-time --runs 1 --quick thread-local").sound(0);
        equal("experiments", List.of("thread-local", "start-time"), run.lacks("## Samples")
            .experiments());
        yes("one run is no verdict", run.sentence("start-time").contains("fewer than 4 runs"));
        run = lab("thread-local cpu-primes --samples").sound(0).tells(", 5 runs, ");
        run.shows("thread-local; 10,000 tasks; 200 made; 10,000 made; 0.0200×; 0.0200×");
    }

    /**
     * A guess is shown as typed; what is none is asked again; who ends the input passes. What
     * was typed while a row is measured is no answer to the next question.
     */
    static void predict() throws Exception {
        List<Step> steps = Stream.of("50×\n", "50x\n", "1,000\n", "ten\n1/10\n", "0.125\r\n",
            "\n", "123456789\n0,5\n").map(keys -> type("Your ratio", keys))
            .collect(Collectors.toList());
        steps.add(1, type("run 1 of 4", "\n"));
        Run run = lab(List.of(), "--predict --quick cpu-primes start-time thread-count capacity"
            + " thread-local", steps.toArray(Step[]::new)).sound(0);
        run.tells("You the one that you expected");
        equal("guesses", List.of("50×", "50x", "1,000", "1/10", "0.125", "—", "0,5", "—"),
            run.column("You"));
        equal("questions", 8, matches("Your ratio", run.err).size());
        String asked = run.err.replaceAll("\\s+", " ");
        for (String row : run.table().keySet()) {
            yes("asks of " + row, asked.contains(row + ": "));
        }
        yes("the threads before",
            asked.matches(".*thread-count, [^:]*: [^:]*; \\d+ [^:]* before.*"));
    }

    // --------------------------------------------------------------------- the experiments

    static void theFive() throws Exception {
        Run run = lab("--runs 1 --samples").sound(0);
        String waiting = "pinning, " + PROCESSORS * perCarrier(PROCESSORS) + " in ";
        equal("rows", List.of("start-time, 100 threads", "start-time, 1,000 threads",
            "start-time, 10,000 threads", "sleep-wave, 10,000 × 100 ms",
            "cpu-primes, " + 4 * PROCESSORS + " × 78,498 primes", waiting + "ReentrantLock",
            waiting + "synchronized", waiting + "class init",
            "thread-count, 1,000, pool of 200", "thread-count, 1,000, thread each"),
            List.copyOf(run.table().keySet()));
        five(run);
        run.shows("sleep-wave; .*; 50×");
        yes("sleep-wave far ahead", run.ratio("sleep-wave", "100 ms") > 5);
        yes("10,000 starts are cheaper", run.ratio("start-time", "10,000") > 2);
        long lines = run.out.substring(0, run.out.indexOf("## Samples")).lines().count();
        yes("about 50 lines, not " + lines, lines < 70);
        run.progressed(FIVE, "warm-up");
        run.progressed(FIVE, "run 1 of 1");
    }

    /** What holds for the five on any machine, whatever their sizes. */
    static void five(Run run) {
        near("processors decide over cpu-primes", 1, run.ratio("cpu-primes", "primes"), 2);
        double lock = run.number("pinning", "ReentrantLock", "Virtual");
        double monitor = run.number("pinning", "synchronized", "Virtual");
        double initializer = run.number("pinning", "class init", "Virtual");
        double free = JDK < 24 ? lock : Math.max(lock, monitor);
        double pinned = JDK < 24 ? Math.min(monitor, initializer) : initializer;
        yes("pinned waits took " + pinned + " ms, others " + free,
            pinned > free * perCarrier(PROCESSORS) / 2.5);
        pins(run, PROCESSORS);
        threadCount(run, 1.25);
    }

    /** Predictions and Flight Recorder agree on which waits are pinned. */
    static void pins(Run run, int carriers) {
        int tasks = carriers * perCarrier(carriers);
        Map.of("ReentrantLock", false, "synchronized", JDK < 24, "class init", true).forEach(
                (what, pins) -> {
            near(what, pins ? 1.0 / perCarrier(carriers) : 1,
                run.number("pinning", tasks + " in " + what, "Predicted"), 1.01);
            run.tells("in " + what + " (" + (pins ? tasks : 0) + " pinned event");
        });
        equal("a reason is named", JDK >= 24, run.sentence("pinning").contains("<clinit>"));
    }

    static void threadCount(Run run, double factor) {
        double before = run.number("thread-count", "pool of 200", "Platform") - 200;
        yes("some threads were live before", before >= 5);
        int tasks = run.out.contains("--quick") ? 500 : 1_000;
        equal("each", before + tasks, run.number("thread-count", "each", "Platform"));
        for (String way : List.of("pool of 200", "each")) {
            double more = run.number("thread-count", way, "Virtual") - before;
            yes("no thread more", Math.abs(more) <= 2);
            near("as predicted", run.number("thread-count", way, "Predicted"),
                run.ratio("thread-count", way), factor);
        }
        yes("a dump", run.sentence("thread-count")
            .contains("listed " + show(tasks) + " virtual threads"));
    }

    static void all() throws Exception {
        Path folder = Path.of(System.getProperty("java.io.tmpdir"));
        Set<String> before = scratchFolders(folder);
        Run run = lab("all --quick --samples").sound(0).tells(", 4 runs, ");
        equal("files left", before, scratchFolders(folder));
        equal("experiments", NAMES, run.experiments());
        five(run);
        yes("http gains", run.ratio("http", "50 ms") > 1.5);
        yes("http answers sooner", run.ratio("http", "latency") > 1.5);
        run.shows("http; 200 × 50 ms; .* ms; .* ms; .*×; 5×");
        near("mixed is about equal", 1, run.ratio("mixed", "tasks"), 3);
        near("capacity is equal", 1, run.ratio("capacity", "by 20"), 1.5);
        run.tells("at most 20 tasks were inside at once with the pool, 20 with the semaphore",
            "made 1.64 MB of buffers for the pool, 16.4 MB for virtual threads");
        run.shows(CACHE);
        for (String size : List.of("10,000", "100,000", "200,000")) {
            run.shows("million; " + size + " parked; —; [0-9.,]+ ms; ~?—; —");
        }
        yes("weighed", run.sentence("million").matches(
            ".* ms in \\d+ collections?.* took [0-9,.]+ bytes of the heap.*"));
        run.progressed(NAMES, "run 4 of 4");
        // The directions, with wide margins: the delay is far under what patience is.
        yes("virtual threads do not share time", run.ratio("time-sharing", "") < 0.5);
        equal("the scheduler's own bean", JDK >= 24, run.sentence("time-sharing")
            .matches(".* " + PROCESSORS + " (virtual threads )?mounted and 1 queued.*"));
        if (JDK < 24) yes("the lock is lost", run.ratio("lost-lock", "") < 0.5);
        yes("patience", run.sentence("lost-lock").matches(".* 0 platform and "
            + (JDK < 24 ? "[1-9]\\d*" : "0") + " virtual waiters gave up\\."));
        run = lab("--runs 1 --samples mixed").sound(0);
        yes("a wave against a stream", run.ratio("mixed", "calls") > 1.3);
    }

    static Set<String> scratchFolders(Path folder) {
        return Set.of(folder.toFile().list((parent, name) ->
            name.startsWith("VirtualThreadsLab")));
    }

    // -------------------------------------------------------- other machines, other settings

    static void machine(int processors, int carriers, String... flags) throws Exception {
        Run run = lab(List.of(flags), "--quick --runs 1 --samples pinning thread-count"
            + (processors == 64 ? "" : " cpu-primes") + (carriers == 1 ? " mixed" : ""));
        run.sound(0).tells(processors == 1 ? " 1 processor" : " " + processors + " processors",
            carriers == 1 ? " 1 carrier, " : " " + carriers + " carriers, ");
        pins(run, carriers);
        threadCount(run, 1.02);
        double seen = run.number("thread-count", "each", "Virtual");
        yes("every carrier is among " + seen, seen >= carriers + 3);
        run.table().forEach((key, row) -> {
            if (!key.matches("cpu-primes.*|mixed.*tasks")) return;
            double share = Math.min(1, (double) carriers / processors);
            near(key, share, value(row.get("Predicted")), 1.01);
        });
    }

    static void settings(String language, String country, String charset, String... others)
            throws Exception {
        List<String> flags = new ArrayList<>(List.of(others));
        flags.addAll(List.of("-Dstdout.encoding=" + charset, "-Dstderr.encoding=" + charset,
            "-Duser.language=" + language, "-Duser.country=" + country));
        Run run = lab(flags, "--quick --samples start-time sleep-wave thread-count");
        if (run.out.contains("Option -XX:+Use")) throw new Skip("this JVM has no " + others[0]);
        run.sound(0).tells(COMMAND ? others : new String[0]);
        equal("in ASCII", !charset.equals("UTF-8"), run.out.matches("\\p{ASCII}*"));
        equal("digits but 0 to 9", List.of(), matches("[^\\P{Nd}0-9]", run.out + run.err));
        for (String sign : List.of(" 1,000 × 50 ms ", " │███", " ÷ elapsed", " µs ", " — ")) {
            yes(sign, run.flat().contains(run.sign(sign)));
        }
    }

    /** The lab changes nothing that other code, such as a driver, stands on. */
    static void untouched() throws Exception {
        equal("output of javac", "", javac(Files.writeString(temp.resolve("Probe.java"), """
            class Probe { // which begins with the class that must not need the others
                static final int ENCORES = Encores.LIST.size();

                static String state() {
                    java.util.TimeZone.getDefault(); // which sets a property
                    return java.util.Locale.getDefault()
                        + " " + new java.util.TreeMap<>(System.getProperties());
                }

                public static void main(String[] words) {
                    String before = state();
                    Runtime.getRuntime().addShutdownHook(new Thread(() ->
                        System.err.print(before.equals(state()) ? "as before" : state())));
                    VirtualThreadsLab.main(words);
                }
            }
            """), temp, "-cp", "" + classes()));
        String path = classes() + File.pathSeparator + temp;
        Run run = java(List.of("-Duser.language=tr", "-Duser.country=TR", "-cp", path, "Probe"),
            "--quick --runs 1 http thread-local");
        yes("locale and properties", run.sound(0).err.endsWith("as before"));
    }

    static void fewModules() throws Exception {
        Run run = lab(List.of("--limit-modules", "java.base,java.management"),
            "--quick --runs 1 " + String.join(" ", FIVE) + " time-sharing http").sound(1);
        for (String name : run.experiments()) yes(name, run.ratio(name, "") > 0);
        equal("experiments", 6, run.experiments().size());
        run.tells("Flight Recorder", "no thread dump", "- http: java.lang.NoClassDefFound");
    }

    /** A limit on address space refuses threads with large stacks, to root as well. */
    static void fewThreads() throws Exception {
        if (!System.getProperty("os.name").equals("Linux")) throw new Skip("needs Linux");
        Run run = shell("ulimit -v 16000000; exec $LAB -Xlog:disable -Xmx256m -Xss100m "
            + "-XX:ReservedCodeCacheSize=64m VirtualThreadsLab --quick --samples sleep-wave "
            + "thread-count start-time").sound(1).lacks("\tat ");
        for (String row : List.of("sleep-wave.*", ".*pool of 200", ".*thread each")) {
            run.shows(row + "; —; [0-9.]+ (ms|threads); —; .*");
        }
        yes("the rest goes on", run.ratio("start-time", "100 ") > 1);
        yes("says why", matches(NO_THREAD, run.flat()).size() >= 3);
    }

    /** Nothing waits for ever where a user may have few threads only. */
    static void fewProcesses() throws Exception {
        String user = "exec setpriv --reuid=4242 --regid=4242 --clear-groups --securebits="
            + "+no_setuid_fixup --inh-caps=+dac_read_search --ambient-caps=+dac_read_search ";
        if (shell(user + "true").code != 0) throw new Skip("needs root and setpriv");
        for (int limit : List.of(40, 50, 100)) {
            Run run = shell("export LAB; " + user + "/bin/bash -c 'ulimit -u " + limit
                + "; exec $LAB -cp " + impatient() + " -Xlog:disable VirtualThreadsLab --quick"
                + " --runs 1 http thread-local'").exits(1).layout();
            run.shows("thread-local; .*").tells(NO_THREAD);
            yes("http is measured or says why", run.experiments().contains("http")
                || run.failures("http").contains(NO_THREAD));
        }
    }

    /** Returns the classes of a lab whose waits give up sooner. */
    static Path impatient() throws Exception {
        return compile(edited("setReadTimeout(10_000)", "setReadTimeout(2_000)",
            "PATIENCE = 120", "PATIENCE = 5", "awaitTermination(10,", "awaitTermination(1,"));
    }

    static void fewFiles() throws Exception {
        Run run = shell("ulimit -n 64; exec $LAB -cp " + impatient() + " VirtualThreadsLab "
            + "--quick --runs 1 http thread-local").exits(1).layout();
        run.shows(CACHE);
        // Refused, cut off or left without an answer: the system decides which comes first.
        yes("says why", run.failures("http").matches(
            "(?s).*java\\.(io|net|util)\\.\\S*Exception.*"));
    }

    static void smallHeap() throws Exception {
        Run run = lab(List.of("-Xmx48m"), "--quick --runs 1 million thread-local").sound(1);
        run.shows("million; 10,000 parked; —; [0-9.]+ ms; —; —");
        run.shows("million; 200,000 parked; —; —; —; —");
        run.shows(CACHE).lacks("OutOfMemory");
        yes("says why", run.flat().matches(".* about [0-9,.]+ MB of heap, where .* 48 MB.*"));
        lab(List.of("-Xmx256m"), "--quick --runs 1 million").layout().lacks("OutOfMemory")
            .shows("million; 100,000 parked; —; [0-9.]+ ms; —; —");
        String tiny = JDK < 25 ? "-Xmx10m" : "-Xmx16m"; // in which the client may run out of it
        yes("ends", lab(List.of(tiny), "--quick --runs 1 http thread-local").layout().code < 2);
    }

    static void noTemporaryFolder() throws Exception {
        Run run = lab(List.of("-Djava.io.tmpdir=" + LAB.resolve("nowhere")),
            "--quick --runs 1 pinning thread-count println").sound(1);
        equal("experiments", List.of("pinning", "thread-count"), run.experiments());
        run.tells("- println: java.nio.file.", "Flight Recorder", "no thread dump");
        yes("pinning is measured", run.ratio("pinning", "class init") > 0);
    }

    /** It costs the evidence, not the rows. */
    static void noRoom() throws Exception {
        Path folder = Files.createDirectories(temp.resolve("no room"));
        Run mount = shell("mount -t tmpfs -o size=1m tmpfs '" + folder + "'");
        if (mount.code != 0) throw new Skip("needs the right to mount");
        try {
            Run run = lab(List.of("-Djava.io.tmpdir=" + folder),
                "--quick --runs 1 thread-local pinning thread-count").sound(0);
            equal("experiments", 3, run.experiments().size());
            run.tells("Flight Recorder", "no thread dump");
            equal("files that stay", Set.of(), scratchFolders(folder));
        } finally {
            new ProcessBuilder("umount", "" + folder).start().waitFor();
        }
    }

    /** A signal, once the second experiment is measured, ends the lab with what it has. */
    static void interrupted(String signal) throws Exception {
        needs("/bin/kill");
        Path status = Path.of("/proc/self/status"); // a shell's background job ignores SIGINT
        String ignored = !Files.exists(status) ? "0"
            : matches("(?<=SigIgn:\\s)\\w+", Files.readString(status)).get(0);
        boolean ignores = (Long.parseUnsignedLong(ignored, 16) & 2) != 0;
        if (ignores && signal.equals("INT")) throw new Skip("ignored here");
        Path folder = Files.createDirectories(temp.resolve(signal));
        long[] sent = {0};
        Step println = type("println", "");
        Step kill = new Step("run 2 of", process -> {
            equal("scratch folders", 1, scratchFolders(folder).size());
            sent[0] = System.nanoTime();
            new ProcessBuilder("/bin/kill", "-" + signal, "" + process.pid()).start().waitFor();
        });
        Run run = lab(List.of("-Djava.io.tmpdir=" + folder),
            "--quick --runs 99 thread-local println", println, kill).layout();
        yes("ends within seconds", System.nanoTime() - sent[0] < 20e9);
        yes("exit code " + run.code, run.code != 0);
        run.shows(CACHE).tells("**Partial:**");
        equal("the finished rows", List.of("thread-local"), run.experiments());
        equal("files that stay", Set.of(), scratchFolders(folder));
    }

    static void fullOutput() throws Exception {
        needs("/dev/full");
        shell("$LAB VirtualThreadsLab --help > /dev/full").exits(1).lacks("\tat ");
        String run = "$LAB VirtualThreadsLab --quick thread-local ";
        shell(run + "> /dev/full").exits(1).lacks("\tat ");
        shell(run + "| true").lacks("\tat ");
    }

    // -------------------------------------------------------------------- deliberate faults

    /** Each costs a cell or an experiment; why is told, and the rest goes on. */
    static void faults() throws Exception {
        Run run = changed("--quick cpu-primes capacity pinning http sleep-wave thread-local",
            "int primes = 1;", "int primes = 0;",
            "new Semaphore(limit)", "new Semaphore(limit + 1)",
            "int tasks = perCarrier() * CARRIERS;", "int tasks = 1 / (CARRIERS - CARRIERS);",
            "InetAddress.getLoopbackAddress()", "InetAddress.getByName(\"192.0.2.1\")",
            SLEEP, failing("", "OutOfMemoryError")).sound(1);
        run.shows("cpu-primes;.* primes; —; —; —; 1×");
        run.shows("capacity;.*; [0-9.]+ ms; —; —; 1×");
        run.shows("sleep-wave;.*; [0-9.]+ ms; —; —; 5×");
        run.shows(CACHE);
        equal("experiments", "[cpu-primes, capacity, sleep-wave, thread-local]",
            "" + run.experiments());
        run.tells("platform: wrong answer: 33,859 primes to 400,000, not 33,860.",
            "virtual: wrong answer: 21 tasks inside at once, not 20.", "java.net.BindException",
            "- pinning: java.lang.ArithmeticException: / by zero.",
            "- sleep-wave 1,000 × 50 ms, virtual: java.lang.OutOfMemoryError.");
        equal("verdicts", List.of(), matches("took .* as long", run.flat()));
    }

    static final String SLEEP = "Job wait = () -> Thread.sleep(waitMs);";

    /** Sleep-wave's job, which fails without a message on some threads. */
    static String failing(String where, String error) {
        return "Job wait = () -> { if (" + where + "Thread.currentThread().isVirtual())"
            + " throw new " + error + "(); Thread.sleep(waitMs); };";
    }

    /** And a mean of shots would be 15 ms ÷ 8 at the least; and a late progress goes on. */
    static void otherFaults() throws Exception {
        String lines = "int lines = 100_000;";
        String end = "        await(left);\n";
        Run run = changed("--quick --samples sleep-wave println start-time",
            SLEEP, failing("!", "IllegalStateException"),
            lines, lines + "if (lines > 0) throw new RuntimeException(\"It failed.\", new"
                + " IOException(\"It is full.\"));",
            "static void startAll(", "static int shots; static void startAll(",
            end, end + "if (++shots % 8 == 0 && builder instanceof Thread.Builder.OfVirtual)"
                + " Thread.sleep(15);\n",
            "\"start-time\", 15,", "\"start-time\", 0,",
            "\"sleep-wave\", 32,", "\"sleep-wave\", 0,").sound(1);
        run.shows("sleep-wave;.*; —; [0-9.]+ ms; —; 5×");
        run.tells("- sleep-wave 1,000 × 50 ms, platform: java.lang.IllegalStateException.");
        yes("its cause in the same line, with single stops", run.failures("println").matches(
            ".*RuntimeException: It failed[^.].*java\\.io\\.IOException: It is full\\."));
        yes("no stop in the median", run.number("start-time", "100 ", "Virtual") < 15.0 / 8);
        yes("later than estimated, and told", matches("\\d+ s of about \\d+", run.err).stream()
            .map(late -> late.split(" s of about ")).anyMatch(late ->
            Integer.parseInt(late[0]) > Integer.parseInt(late[1])));
    }

    /** As README says, but with a driver of our own, whose call waits inside synchronized. */
    static void ownExperiment() throws Exception {
        Path source = Files.writeString(temp.resolve("Driver.java"), """
            package driver;
            public record Driver(String url) implements AutoCloseable {
                public static Driver getConnection(String url) { return new Driver(url); }
                public Driver createStatement() { return this; }
                public synchronized void execute(String sql) throws Exception {
                    if (sql.startsWith("CALL")) Thread.sleep(50);
                }
                public void close() { }
            }
            """);
        equal("output of javac", "", javac(source, temp));
        String jar = "" + temp.resolve("driver.jar");
        equal("exit code of jar", 0, java.util.spi.ToolProvider.findFirst("jar").orElseThrow()
            .run(System.out, System.err, "--create", "--file", jar, "-C", "" + temp, "driver"));
        List<String> code = readme("## An experiment of your own");
        String method = code.get(0).replace("java.sql.DriverManager", "driver.Driver")
            .replace("say(\"%s; %s\",", "say(\"%s\", pinned(() -> { throw new IOException("
            + "\"Off.\"); }, 25));\n    say(\"%d calls: %s; %s\", calls,");
        String main = "));\n\n    public static void main";
        Path mine = Files.writeString(temp.resolve("Mine.java"), edited(
            main, main.replace("))", "),\n" + code.get(1) + ")"),
            "\n}\n\nrecord Experiment", method + "\n}\n\nrecord Experiment"));
        Run run = java(List.of("-cp", jar, "" + mine), "mine --quick").sound(0);
        int calls = 10 * PROCESSORS;
        String pins = (JDK < 24 ? calls : 0) + " pinned event";
        run.tells(calls + " calls: ", pins, "IOException: Off.").lacks("counted nothing");
        equal("pinned", JDK < 24, run.ratio("mine", "") < 0.4);
    }

    // ---------------------------------------------------------------------------- documents

    static void documents() throws Exception {
        equal("faults", "", java(List.of(".ci/Documents.java"), "check").out);
        last.exits(0);
        Run handout = java(List.of(".ci/Documents.java"), "handout").exits(0)
            .lacks("Prediction:");
        yes("five experiments", handout.out.length() > 5_000);
    }

    /** The blocks of Java in README, from a text on. */
    static List<String> readme(String start) throws Exception {
        String text = Files.readString(Path.of("README.md"));
        yes("README.md has: " + start, text.contains(start));
        return matches("(?s)(?<=```java\n).*?(?=```)", text.substring(text.indexOf(start)));
    }

    /** A virtual thread prints what carries it, before and after a sleep. */
    static void solution() throws Exception {
        String code = readme("<summary>Possible solution").get(0);
        String name = matches("(?<=class )\\w+", code).get(0);
        Path file = Files.writeString(temp.resolve(name + ".java"), code);
        Run run = java(List.of("" + file), "").exits(0);
        List<String> threads = matches("VirtualThread\\[#\\d+[^/]*", run.out);
        yes("before and after a sleep", threads.size() >= 2);
        equal("virtual threads that print", 1L, threads.stream().distinct().count());
    }

    static void findsJdk() throws Exception {
        List<String> list = shell("sh .ci/java --list").exits(0).out.lines().toList();
        for (String line : list) yes("VERSION PATH: " + line, line.matches("\\d\\d /.*/java"));
        List<String> versions = list.stream().map(line -> line.substring(0, 2)).toList();
        equal("newest first", versions,
            versions.stream().sorted(Comparator.reverseOrder()).toList());
        String home = "JAVA_HOME='" + System.getProperty("java.home") + "' ";
        String said = shell(home + "sh .ci/java -version").exits(0).err;
        yes("JAVA_HOME's", said.matches("(?s)\\.ci/java: JDK " + JDK + ", .*version \"" + JDK
            + ".*"));
        said = shell(home + "PATH=/usr/bin:/bin sh .ci/java " + JDK + " -version").exits(0).err;
        yes("the first of its version", said.replace(",", "").contains(
            "JDK " + list.get(versions.indexOf("" + JDK)) + "\n"));
        shell("sh .ci/java 99 -version").complains("no JDK 99", " " + versions.get(0));
    }

    // --------------------------------------------------------------------- reading a report

    /** What a process did; where it printed a report, its parts as readers find them. */
    record Run(List<String> command, int code, String out, String err) {
        String whole() {
            return "command: " + String.join(" ", command) + "\nexit code: " + code
                + "\nstandard output:\n" + out + "\nstandard error:\n"
                + err.replace('\r', '\n');
        }

        Run exits(int expected) {
            equal("exit code", expected, code);
            return this;
        }

        /** Checks that the output has the texts, wherever its lines are broken. */
        Run tells(String... texts) {
            for (String text : texts) yes("tells: " + text, (out + flat()).contains(text));
            return this;
        }

        /** Checks that one line on standard error has the texts, and nothing else was done. */
        void complains(String... texts) {
            equal("standard output", "", exits(2).out);
            equal("lines on standard error", 1L, err.lines().count());
            for (String text : texts) yes("complains: " + text, err.contains(text));
        }

        /** Checks that neither output has the text. */
        Run lacks(String text) {
            equal("has " + text, false, (out + err).contains(text));
            return this;
        }

        /** Checks that the progress came to a step of each of the experiments. */
        void progressed(List<String> names, String step) {
            for (String name : names) {
                String start = "[" + (names.indexOf(name) + 1) + "/" + names.size() + "] "
                    + name;
                yes("progress: " + start + ", " + step, Stream.of(err.split("[\r\n]+"))
                    .anyMatch(line -> line.startsWith(start) && line.contains(step)));
            }
        }

        String flat() { return out.replaceAll("\\s+", " "); }

        /** A text in the characters of this report, which may be ASCII. */
        String sign(String text) {
            String special = out.contains("÷") ? "" : "×x—-÷/µu█#│|○o";
            for (int i = 0; i < special.length(); i += 2) {
                text = text.replace(special.charAt(i), special.charAt(i + 1));
            }
            return text;
        }

        /** Checks the exit code and whatever of a report follows from its other parts. */
        Run sound(int expected) {
            exits(expected).layout();
            for (String name : experiments()) sentence(name);
            chart();
            if (out.contains("## Samples")) table().forEach(this::recompute);
            return this;
        }

        Run layout() {
            yes("starts with the title", out.startsWith("# VirtualThreadsLab\n"));
            equal("lines over 100 columns", List.of(), matches("(?m)^.{101,}", out));
            yes("columns", out.replace(" ", "").contains(
                "\n|Experiment|Work|Platform|Virtual|Ratio|Predicted|"));
            yes("rows", !table().isEmpty());
            equal("widths of the table", 1L, out.lines().filter(line -> line.startsWith("|"))
                .map(String::length).distinct().count());
            boolean marked = column("Ratio").toString().contains("~");
            equal("the note on ~", marked, out.contains("\n~ "));
            List<String> progress = matches( // up to what a JVM may say of a thread that died
                "(?m)^\\[\\d.*?(?=Exception in |$)", err.replace('\r', '\n'));
            for (String line : progress) {
                yes("progress, but: " + line, line.matches("\\[\\d+/\\d+\\] \\S+ .* (warm-up"
                    + "|run \\d+ of \\d+) +\\d+ s of about \\d+ *") && line.length() <= 80);
            }
            yes("one total", progress.stream().map(line ->
                line.replaceFirst(".* about ", "").strip()).distinct().count() <= 1);
            return this;
        }

        /** The rows by experiment and work, each with its cells by column. */
        Map<String, Map<String, String>> table() {
            Map<String, Map<String, String>> table = new LinkedHashMap<>();
            for (String line : matches("(?m)^\\| (?!Experiment ).*", out)) {
                String[] cells = line.substring(2).strip().split(" *\\| *");
                Map<String, String> row = new LinkedHashMap<>();
                for (int i = 0; i < cells.length; i++) row.put(COLUMNS.get(i), cells[i]);
                table.put(cells[0] + ", " + cells[1], row);
            }
            return table;
        }

        List<String> column(String name) {
            return table().values().stream().map(row -> row.get(name)).toList();
        }

        List<String> experiments() { return column("Experiment").stream().distinct().toList(); }

        /** Checks that a row looks so; its cells stand between semicolons. */
        Run shows(String pattern) {
            yes("a row as " + pattern, table().values().stream()
                .anyMatch(row -> String.join("; ", row.values()).matches(pattern)));
            return this;
        }

        /** A number in the first row of the experiment whose work contains the words. */
        double number(String experiment, String work, String column) {
            String found = table().keySet().stream().filter(key -> key.contains(sign(work))
                && key.startsWith(experiment + ", ")).findFirst().orElse("");
            yes("no row " + experiment + ", " + work, !found.isEmpty());
            return value(table().get(found).get(column));
        }

        double ratio(String name, String work) { return number(name, work, "Ratio"); }

        /** What the report says of an experiment. */
        String sentence(String experiment) { return items(1, experiment); }

        /** Why an experiment, or a side of a row, has failed. */
        String failures(String experiment) { return items(0, experiment); }

        /** The items on an experiment in a part of the report, in one line. */
        String items(int part, String experiment) {
            String text = out.split("## What the numbers say")[part];
            List<String> found = matches("(?m)^- " + experiment + "\\b.*(\n  .*)*", text);
            yes("part " + part + " tells of " + experiment, !found.isEmpty());
            return String.join(" ", found).replaceAll("\\s+", " ");
        }

        /** Draws every line of the chart anew from its row. */
        void chart() {
            List<String> lines = matches("(?s)(?<=## At a glance\n\n```text\n).*?(?=```)", out)
                .stream().flatMap(String::lines).skip(2).toList();
            List<Map<String, String>> rows = table().values().stream()
                .filter(row -> value(row.get("Ratio")) > 0).toList();
            equal("lines of the chart", rows.size(), lines.size());
            for (int i = 0; i < rows.size(); i++) {
                var row = rows.get(i); // whose three digits may leave a column open
                List<String> drawn = Stream.of(1.0, 0.995, 1.005).map(more -> drawn(row,
                    more * value(row.get("Ratio")))).toList();
                yes(lines.get(i) + " is one of " + drawn, drawn.contains(lines.get(i)));
            }
        }

        String drawn(Map<String, String> row, double ratio) {
            int bar = columns(ratio);
            double predicted = value(row.get("Predicted"));
            var line = new StringBuilder(" ".repeat(20 + Math.min(bar, 0))
                + "█".repeat(Math.abs(bar)) + " ".repeat(31 - Math.max(bar, 0)));
            line.insert(20, '│');
            if (ratio < 0.01) line.setCharAt(0, '<');
            if (ratio > 1_000) line.setCharAt(50, '>');
            if (predicted > 0) line.setCharAt(20 + columns(predicted), '○');
            return String.format("%-12s %-20s %s %s", row.get("Experiment"), row.get("Work"),
                sign(line.toString().stripTrailing()), row.get("Ratio"));
        }

        /** The samples of a side of a row in order of size, without the discarded one. */
        List<Double> samples(String row, String side) {
            String unbroken = out.replaceAll("\n  (?=\\d)", " ");
            String title = Pattern.quote("\n" + row + "\n");
            String lines = "" + matches(title + "(  .*\n)*", unbroken);
            List<String> found = matches("(?<=  " + side + " \\().*", lines);
            equal("lines of the " + side + " samples of " + row, 1, found.size());
            List<Double> samples = Stream.of(found.get(0).split("\\)? ")).skip(1)
                .map(Double::valueOf).sorted().toList();
            tells(", " + samples.size() + " run");
            return samples;
        }

        /** Computes medians, ratio, noise and verdict of a row anew from its samples. */
        void recompute(String key, Map<String, String> row) {
            List<List<Double>> sides = new ArrayList<>();
            boolean noisy = false;
            for (String side : List.of("Platform", "Virtual")) {
                String cell = row.get(side);
                if (cell.equals(sign("—"))) continue;
                String unit = cell.substring(cell.indexOf(' ') + 1);
                var samples = samples(key + ", " + unit, side.toLowerCase(Locale.ROOT));
                double median = quantile(samples, 2);
                noisy |= quantile(samples, 3) - quantile(samples, 1) > 0.2 * median;
                String number = unit.equals("ms") ? three(median) : show(median);
                equal(key, number + " " + unit, cell);
                sides.add(samples);
            }
            if (sides.size() < 2) {
                equal("ratio of " + key, sign("—"), row.get("Ratio"));
                return;
            }
            String mark = noisy ? "~" : "";
            double ratio = quantile(sides.get(0), 2) / quantile(sides.get(1), 2);
            equal("ratio of " + key, sign(mark + three(ratio) + "×"), row.get("Ratio"));
            if (!key.matches("(sleep|cpu|println|capacity).*|http.* ms|mixed.* tasks")) return;
            String verdict = verdict(sides, out.contains("--quick") ? 1.5 : 1.05, mark);
            yes("the verdict on " + key + ": " + verdict,
                sentence(row.get("Experiment")).contains(sign(verdict)));
        }
    }

    /** What may be said of two sides whose samples are as many times apart, or are not. */
    static String verdict(List<List<Double>> sides, double apart, String mark) {
        boolean up = quantile(sides.get(0), 2) > quantile(sides.get(1), 2);
        List<Double> slow = sides.get(up ? 0 : 1);
        List<Double> fast = sides.get(up ? 1 : 0);
        if (slow.size() < 4) return "fewer than 4 runs cannot tell";
        if (quantile(slow, 0) < apart * quantile(fast, 4)) {
            return mark.isEmpty() ? "no difference was shown" : "too noisy";
        }
        return (up ? "" : "virtual threads ") + "took " + mark + show(quantile(slow, 2)
            / quantile(fast, 2)) + "× as long as " + (up ? "virtual threads" : "");
    }

    /** Columns of the chart, ten for each power of ten: 30 to the right and 20 to the left. */
    static int columns(double ratio) {
        return (int) Math.max(-20, Math.min(30, Math.round(10 * Math.log10(ratio))));
    }

    /** The number in a cell, or NaN. */
    static double value(String cell) {
        String digits = cell.replaceAll("[^0-9.]", "");
        return digits.isEmpty() ? Double.NaN : Double.parseDouble(digits);
    }

    /** Sorted values: the least for 0, quartiles for 1 to 3, the greatest for 4. */
    static double quantile(List<Double> sorted, int quarter) {
        double place = quarter * (sorted.size() - 1) / 4.0;
        double low = sorted.get((int) place);
        return low + (place % 1) * (sorted.get((int) Math.ceil(place)) - low);
    }

    /** Three significant digits with their zeros, or all those of a large number. */
    static String three(double value) {
        return String.format(Locale.ROOT, value < 999.5 ? "%.3g" : "%,.0f", value);
    }

    /** A whole number as it is, with commas; anything else in three digits. */
    static String show(double value) {
        return value % 1 == 0 ? String.format(Locale.ROOT, "%,.0f", value) : three(value);
    }

    /** How many tasks pinning lets wait on a carrier. */
    static int perCarrier(int carriers) { return Math.max(3, Math.min(10, 100 / carriers)); }

    static List<String> matches(String pattern, String text) {
        var found = Pattern.compile(pattern).matcher(text).results();
        return found.map(MatchResult::group).toList();
    }

    // --------------------------------------------------------------------------- running it

    /** What to do with a process once a text stands on its standard error. */
    record Step(String awaited, Act act) {
        interface Act { void on(Process process) throws Exception; }
    }

    static Step type(String awaited, String keys) {
        return new Step(awaited, process -> {
            process.getOutputStream().write(keys.getBytes(UTF_8));
            process.getOutputStream().flush();
        });
    }

    /** Runs a command to its end, and takes the steps on the way. */
    static Run run(List<String> command, Step... steps) throws Exception {
        Path out = Files.createTempFile(temp, "out", "");
        Path errors = Files.createTempFile(temp, "errors", "");
        var builder = new ProcessBuilder(command);
        var environment = builder.environment();
        environment.keySet().removeAll(Set.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        environment.put("LAB", String.join(" ", JAVA) + " -cp " + classes);
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
        Process process = builder.redirectOutput(out.toFile()).redirectError(errors.toFile())
            .start();
        boolean ended;
        try {
            int from = 0;
            for (Step step : steps) {
                int at = -1;
                while (at < 0 && process.isAlive() && System.nanoTime() < end) {
                    Thread.sleep(20);
                    at = read(errors).indexOf(step.awaited, from);
                }
                if (at < 0) break;
                from = at + step.awaited.length();
                step.act.on(process);
            }
            process.getOutputStream().close();
            ended = process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        last = new Run(command, process.waitFor(), read(out), read(errors));
        yes("hung: ended by force after " + MINUTES + " minutes", ended);
        return last;
    }

    static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), UTF_8).replace("\r\n", "\n");
    }

    static final List<String> JAVA = List.of(
        "" + Path.of(System.getProperty("java.home"), "bin", "java"),
        "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8");

    /** Runs this Java with its arguments, and then words, which blanks part. */
    static Run java(List<String> arguments, String words, Step... steps) throws Exception {
        List<String> command = new ArrayList<>(JAVA);
        command.addAll(arguments);
        command.addAll(List.of(words.split(" ")));
        return run(command, steps);
    }

    static Run lab(String words) throws Exception { return lab(List.of(), words); }

    /** Runs the lab from its classes, unless the flags bring a class path of their own. */
    static Run lab(List<String> flags, String words, Step... steps) throws Exception {
        List<String> all = new ArrayList<>(List.of("-cp", "" + classes()));
        all.addAll(flags);
        all.add("VirtualThreadsLab");
        return java(all, words, steps);
    }

    /** Runs a line of shell, in which $LAB is this Java with the class path of the lab. */
    static Run shell(String line) throws Exception {
        needs("/bin/bash");
        classes();
        return run(List.of("/bin/bash", "-c", line));
    }

    /** Runs the lab with changes: what is to be found in the source, and what comes instead. */
    static Run changed(String words, String... changes) throws Exception {
        return lab(List.of("-cp", "" + compile(edited(changes))), words);
    }

    static String edited(String... changes) throws Exception {
        String source = Files.readString(LAB);
        for (int i = 0; i < changes.length; i += 2) {
            yes("the source has: " + changes[i], source.contains(changes[i]));
            source = source.replace(changes[i], changes[i + 1]);
        }
        return source;
    }

    /** Compiles a lab without a word of javac; returns the folder of the classes. */
    static Path compile(String source) throws Exception {
        Path folder = Files.createTempDirectory(temp, "classes");
        Path file = Files.writeString(folder.resolve(LAB.getFileName()), source);
        equal("output of javac", "", javac(file, folder, "--release", "21", "-Xlint:all",
            "-Werror", "-Xdoclint:all/protected"));
        return folder;
    }

    static String javac(Path source, Path folder, String... options) {
        var said = new ByteArrayOutputStream();
        List<String> words = new ArrayList<>(List.of(options));
        words.addAll(List.of("-d", folder.toString(), source.toString()));
        int code = ToolProvider.getSystemJavaCompiler().run(null, said, said,
            words.toArray(String[]::new));
        equal("exit code of javac: " + said, code == 0, said.toString().isEmpty());
        return said.toString();
    }

    // ---------------------------------------------------------------------------- asserting

    static class Skip extends RuntimeException {
        private static final long serialVersionUID = 1;

        Skip(String why) { super(why); }
    }

    static void needs(String file) {
        if (!Files.exists(Path.of(file))) throw new Skip("this system has no " + file);
    }

    static void yes(String what, boolean holds) {
        if (!holds) throw new AssertionError(what);
    }

    static void equal(String what, Object expected, Object actual) {
        yes(what + ": expected " + expected + ", but was " + actual, expected.equals(actual));
    }

    static void near(String what, double expected, double actual, double factor) {
        yes(what + ": expected about " + expected + ", but was " + actual,
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

    /** The lines of this file that led to a failure, its check first. */
    static String lines(Throwable e) {
        return "line " + Stream.of(e.getStackTrace())
            .filter(at -> "LabTest.java".equals(at.getFileName())
                && !List.of("yes", "equal", "near", "main").contains(at.getMethodName()))
            .map(at -> "" + at.getLineNumber()).collect(Collectors.joining(" from "));
    }
}
