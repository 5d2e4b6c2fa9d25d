// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.*;
import java.util.stream.*;
import javax.tools.ToolProvider;

/**
 * Drives the lab as its users do, in processes of the Java that runs this test, and asks each
 * what it did. It runs at the top level; words pick the tests whose names contain one:
 *
 *     java .ci/LabTest.java
 *     java .ci/LabTest.java predict
 *
 * No test asks how long something took; each holds on one processor and on a busy machine.
 */
class LabTest {
    static final Path LAB = Path.of("VirtualThreadsLab.java").toAbsolutePath();
    static final int JDK = Runtime.version().feature();
    static final int MINUTES = 4; // after which a process is taken to hang
    static final int HANDFUL = 6; // threads that other parts of a JVM may start meanwhile
    static final List<String> ALL = List.of("start-time", "sleep-wave", "cpu-primes", "pinning",
        "thread-count", "println", "http", "mixed", "capacity", "thread-local", "million",
        "time-sharing", "lost-lock");
    static final List<String> FIVE = ALL.subList(0, 5);
    static final String CUT = "// ----- Cut here";
    static final String QUESTION = ": an odd one"; // of Odd, with --predict
    static final String CACHE = // a row that looks the same on every machine
        "| thread-local | 2,000 tasks         |      200 |    2,000 |   0.100× | 0.100× |\n";
    static final List<String> JAVA = List.of(
        "" + Path.of(System.getProperty("java.home"), "bin", "java"),
        "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8");
    static final Map<String, Test> TESTS = new LinkedHashMap<>();
    static Path temp;
    static Path classes; // of the lab as it is, and of Odd
    static Live last; // to be shown by a failure

    interface Test { void run() throws Exception; }

    static {
        TESTS.put("source: width, lines, silence", LabTest::source);
        TESTS.put("source: an older Java says what it needs", LabTest::olderJava);
        TESTS.put("source: cut, in a package, a lab of the five", LabTest::cut);
        TESTS.put("source: launched, in any folder, in Arabic, in ASCII", LabTest::launched);
        TESTS.put("command line", LabTest::commandLine);
        TESTS.put("usage errors", LabTest::usageErrors);
        TESTS.put("words: what they measure", LabTest::words);
        TESTS.put("cells, chart and samples", LabTest::cells);
        TESTS.put("both sides run the same tasks", LabTest::sides);
        TESTS.put("what others use leaves out the lab itself", LabTest::quiet);
        TESTS.put("predict: rows as they are measured", LabTest::predict);
        TESTS.put("the five, in full", LabTest::theFive);
        TESTS.put("all, quick", LabTest::all);
        TESTS.put("1 processor, beside another recording", () ->
            machine(1, 1, "-XX:ActiveProcessorCount=1 -XX:StartFlightRecording -Xlog:disable"));
        TESTS.put("16 processors, 4 carriers", () -> machine(16, 4,
            "-XX:ActiveProcessorCount=16 -Djdk.virtualThreadScheduler.parallelism=4"));
        TESTS.put("64 processors", () -> machine(64, 64, "-XX:ActiveProcessorCount=64"));
        TESTS.put("waiting: one's own call", LabTest::waiting);
        TESTS.put("waiting: no room, no run, no end", LabTest::hardWaits);
        TESTS.put("faults cost a cell or an experiment", LabTest::faults);
        TESTS.put("faults: one too many inside", LabTest::oneTooMany);
        TESTS.put("interrupted", LabTest::interrupted);
        TESTS.put("standard output is full, closed or goes away", LabTest::noOutput);
        TESTS.put("few threads", LabTest::fewThreads);
        TESTS.put("a small heap", LabTest::smallHeap);
        TESTS.put("pasted: prelude and experiment", LabTest::pasted);
        TESTS.put("documents", LabTest::documents);
        TESTS.put("documents: programs", LabTest::programs);
        TESTS.put(".ci/java takes the JDK that is wanted", LabTest::findsJdk);
    }

    public static void main(String[] words) throws Exception {
        List<String> names = TESTS.keySet().stream().filter(name -> words.length == 0
            || Stream.of(words).anyMatch(name::contains)).toList();
        if (names.isEmpty() || !Files.exists(LAB)) {
            System.err.println("LabTest: run it beside VirtualThreadsLab.java, without words"
                + " or with words that names of tests contain");
            System.exit(2);
        }
        temp = Files.createTempDirectory("lab-test");
        int passed = 0;
        int failed = 0;
        for (String name : names) {
            last = null;
            long start = System.nanoTime();
            try {
                TESTS.get(name).run();
                passed++;
                System.out.println("passed: " + name + " ("
                    + (System.nanoTime() - start) / 1_000_000_000 + " s)");
            } catch (Skip skip) {
                System.out.println("skipped: " + name + ", " + skip.getMessage());
            } catch (Exception | AssertionError e) {
                failed++;
                if (last != null) System.out.print(last.stop().shortened().indent(8));
                System.out.println("FAILED: " + name + ": " + where(e));
            }
        }
        try (var files = Files.walk(temp)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
        int skipped = names.size() - passed - failed;
        System.out.println(passed + " passed, " + failed + " failed"
            + (skipped == 0 ? "" : ", " + skipped + " skipped"));
        System.exit(failed == 0 ? 0 : 1);
    }

    /** What was wrong, and on which line of this file that is said. */
    static String where(Throwable e) {
        String what = e instanceof AssertionError ? e.getMessage() : "" + e;
        return Stream.of(e.getStackTrace()).filter(at -> at.getClassName().equals("LabTest"))
            .filter(at -> !List.of("yes", "equal", "near").contains(at.getMethodName()))
            .findFirst().map(at -> what + " (line " + at.getLineNumber() + ")").orElse(what);
    }

    // --------------------------------------------------------------------------- the source

    static void source() throws Exception {
        classes();
        yes("the first experiment by line 70", above("* start-time. ").lines().count() <= 70);
        yes("740 lines to the cut at most", above(CUT).lines().count() <= 740);
        for (String file : List.of("" + LAB, ".ci/LabTest.java", ".ci/Odd.java")) {
            equal("wide lines", List.of(), matches("(?m)^.{97,}",
                Files.readString(Path.of(file))));
        }
    }

    static String above(String mark) throws Exception {
        String source = Files.readString(LAB);
        return source.substring(0, source.indexOf(mark));
    }

    static void olderJava() throws Exception {
        String version = begin(List.of("java", "-version")).end().err;
        int feature = Integer.parseInt(matches("(?<= version \")\\d+", version).get(0));
        if (feature >= 21) throw new Skip("the one on the path is " + feature);
        String said = begin(List.of("java", "" + LAB)).end().exits(1).err;
        equal("errors", 1, matches("\\.java:\\d+: error", said).size());
        yes("the quoted line says so", matches(": error.*\n.*", said).get(0).contains("21"));
    }

    /** Does what the comment at the cut says. */
    static void cut() throws Exception {
        String line = "(?m)^.*Encores\\.LIST.*\n";
        equal("lines to delete", 1, matches(line, above(CUT)).size());
        Path five = compile("package com.x;\n" + above(CUT).replaceAll(line, ""));
        Run run = java("-cp " + five + " com.x.VirtualThreadsLab --quick --runs 1 all");
        equal("experiments", FIVE, run.report(0).experiments());
    }

    static void launched() throws Exception {
        Path paste = Files.createDirectories(temp.resolve("a folder")).resolve("Paste.java");
        Files.copy(LAB, paste);
        Run run = shell("$JAVA -Duser.language=ar -Dstdout.encoding=US-ASCII"
            + " -Dstderr.encoding=US-ASCII '" + paste + "' thread-local --quick").report(0);
        run.tells(CACHE.replace('×', 'x'), "###| 0.100x", "Paste.java thread-local --quick`");
        yes("nothing became ?", !(run.out + run.err).contains("?"));
    }

    // --------------------------------------------------------------------- the command line

    static void commandLine() throws Exception {
        Run help = lab("http --help --runs 0").exits(0).tells("--quick", "--runs", "--predict");
        for (String name : ALL) help.tells("\n  " + name + " ");
        equal("wide lines", List.of(), matches("(?m)^.{81,}", help.out));
        Run run = shell("JDK_JAVA_OPTIONS=-Xmx300m $JAVA VirtualThreadsLab thread-local"
            + " start-time --runs 1 --quick thread-local").report(0);
        run.tells(" -Xmx300m ", "heap: up to 300 MB", ", runs: 1, ");
        equal("in this order", List.of("thread-local", "start-time"), run.experiments());
    }

    static void usageErrors() throws Exception {
        for (String words : List.of("sleepwave", "--quik", "--runs=3", "a\nb", "--runs",
                "--runs 0", "--runs 101", "--runs --quick", "--runs 2 --runs 3")) {
            lab(words).refuses();
        }
        odd("twice").refuses();
        odd("piped").refuses();
        Run run = odd("--runs 1 even nonsense").exits(2);
        equal("finished rows", List.of("even"), run.experiments());
        run.tells("\n**Partial:** ");
    }

    // ---------------------------------------------------------------------- what is measured

    /** Odd uses each word with what is known beforehand, and says what came out. */
    static void words() throws Exception {
        Run run = java("-Djdk.virtualThreadScheduler.parallelism=1 Odd words starts").report(0);
        run.tells("runAll ran 7 of 7 tasks", "the sample is the second of three shots",
            "the latency is the median of five", "startAll returned after 10 of 10 threads");
        double bytes = number(matches("(?<=each weighs )[\\d,]+", run.out).get(0));
        yes("bytes of a thread beside a ballast, not " + bytes, bytes > 100 && bytes < 3_000);
    }

    /** The gauges of Odd return fixed numbers, so that every line is known. */
    static void cells() throws Exception {
        odd("--samples even cells").report(0).tells("""
            | even         | of five             |  30.5 ms |  2.55 ms |   ~12.0× |    10× |
            | cells        | large               |   12,346 |    1,000 |    12.3× |      — |
            | cells        | small               | 0.067 ms |  72.2 ms |  0.0009× | 0.100× |
            | cells        | long                |   20.3 s |   10.2 s |       2× |      — |
            | cells        | equal               |        7 |        7 |       1× |     1× |
            | cells        | half                |        5 |       10 |   0.500× | 0.333× |
            | cells        | wide                |       40 |       20 |      ~2× |      — |
            """, """
            even         of five                         │████ ~12.0× (2.54–40.3)
            cells        large                           │████ 12.3× (12.3–12.3)
            cells        small                 ██████████│ 0.0009× (0.0009–0.0009)
            cells        long                            │█ 2× (2–2)
            cells        equal                           │░ 1× (1–1)
            cells        half                           █│ 0.500× (0.500–0.500)
            cells        wide                            │░ ~2× (0.500–8)
            """, "- even, of five, ms: platform (1000.0) 10.5 20.5 30.5 40.5 80.5; virtual"
            + " (1000.0) 1.0 2.0 2.55 4.0 12.0\n");
        odd("--runs 3 even").report(0).tells("│░░░ ~10.3×\n"); // too few to show anything
    }

    /** The source is changed to say how many tasks run, and on what. */
    static void sides() throws Exception {
        Path telling = compile(edited("int n, Job job) throws Exception {\n", """
            int n, Job job) throws Exception {
                    System.err.println("\\nran " + n + (executor instanceof ThreadPoolExecutor p
                        ? " in a pool of " + p.getMaximumPoolSize()
                        : executor.submit(() -> Thread.currentThread().isVirtual()).get()
                        ? " on virtual threads" : " on platform threads"));
            """, "        var notRun = new", """
                    System.err.println("\\nran " + threads + " on " + (builder instanceof
                        Thread.Builder.OfVirtual ? "virtual threads" : "platform threads"));
                    var notRun = new"""));
        Run run = java("-cp " + telling + " VirtualThreadsLab --quick --runs 1 start-time"
            + " sleep-wave cpu-primes pinning thread-count println capacity thread-local")
            .exits(0);
        int processors = run.count("processors");
        int waiting = run.perCarrier() * run.count("carriers");
        run.runs("start-time 200 threads", 200, 0);
        run.runs("sleep-wave", 1_000, 200);
        run.runs("cpu-primes", 4 * processors, processors);
        run.runs("pinning " + waiting + " in synchronized", waiting, 0);
        run.runs("thread-count 500, pool of 200", 500, 200);
        run.runs("thread-count 500, thread each", 500, 0);
        run.runs("println", 1, 0);
        run.runs("capacity", 200, 20);
        run.runs("thread-local", 2_000, 200);
    }

    /** Odd keeps all processors busy, and says which share of them it had. */
    static void quiet() throws Exception {
        Run run = odd("busy").report(0);
        double own = number(matches("(?<=own share: )\\S+", run.out).get(0));
        double others = number(matches("(?<=programs used )\\S+", run.out).get(0));
        yes("others used " + others + " %, where the lab used " + own + " %",
            others + own / 2 < 105);
        double stolen = number("0" + matches("(?<=hypervisor )\\S+", run.out).get(0)); // or —
        double most = Math.max(others, stolen);
        boolean warned = run.out.replaceAll("\\s+", " ").contains("run it again for the rest");
        yes("warns above a tenth, at " + most, warned == most > 10 || most == 10);
    }

    /** A row stands on standard output before the next question is answered. */
    static void predict() throws Exception {
        Live live = start("Odd --predict --runs 4 even cells");
        live.until(QUESTION, 1).type("50×\n").until(QUESTION, 2);
        yes("has its first row", Live.read(live.out).contains(" 50× |"));
        Run run = live.type("ten\n1 / 1,000\n~20\n1:4\n0,5\n10 times\n").end().report(0);
        yes("says what it skips", run.err.contains("row skipped: ten\n"));
        equal("guesses", List.of("50×", "—", "0.001×", "20×", "0.250×", "0.500×", "10×"),
            run.column(Row::model));
        run.tells("\n## Your predictions, the furthest first\n", """
            | cells        | long                |      20× |        — |       2× |    10× |
            """);
        equal("off by", List.of("10×", "5×", "4.18×", "4×", "1.08×", "1×"),
            matches("(?m)[\\d.,]+×(?= \\|$)", run.after("## Your predictions")));
        run = shell("$JAVA Odd --predict --runs 1 cells <&-").report(0);
        equal("nobody answers", Set.of("—"), Set.copyOf(run.column(Row::model)));
    }

    // ----------------------------------------------------------------------- the experiments

    static void theFive() throws Exception {
        Run run = lab("--samples --runs 2").report(0).tells(", runs: 2, ");
        equal("experiments", FIVE, run.experiments());
        five(run);
        yes("10,000 starts are cheaper", number(run.row("start-time", "10,000").ratio()) > 2);
        double inPool = 1e6 / number(run.row("sleep-wave", "").platform()); // Little's law
        yes("the pool of 200 keeps up to 200 tasks waiting, not " + inPool,
            inPool > 120 && inPool < 201);
    }

    static void all() throws Exception {
        Run run = lab("all --quick --samples --runs 3").report(0).tells(", runs: 3, ", CACHE);
        five(run);
        yes("all of " + run.experiments(), run.experiments().containsAll(ALL));
        run.row("http", "320 ").models(1);
        run.row("http", "600 ").models(3.5);
        run.row("capacity", "").models(1);
        yes("http gains where calls queue", number(run.row("http", "600 ").ratio()) > 1.2);
        yes("no time sharing", number(run.row("time-sharing", "").ratio()) < 1);
        if (JDK < 24) yes("the lock is lost", number(run.row("lost-lock", "").ratio()) < 1);
        for (String work : List.of("10,000 parked", "200,000 parked", "shallow", "50 frames")) {
            Row row = run.row("million", work);
            equal(work, "— —", row.platform() + " " + row.ratio());
            yes(work, number(row.virtual()) > 0);
        }
        double frames = number(run.row("million", "50 frames").virtual())
            - number(run.row("million", "shallow").virtual());
        run.states("million", frames / 50);
    }

    /** What holds for the five on any machine, with wide margins. */
    static void five(Run run) {
        for (Row row : run.rows()) {
            if (!row.experiment().equals("start-time")) continue;
            double threads = number(row.work());
            run.states("start-time", number(row.platform()) * 1_000 / threads);
            run.states("start-time", number(row.virtual()) * 1_000 / threads);
        }
        Row wave = run.row("sleep-wave", "");
        double waits = run.quick() ? 1_000 * 50 : 10_000 * 100;
        wave.models(run.quick() ? 5 : 50);
        yes("all wait at once", number(wave.ratio()) > 2);
        run.states("sleep-wave", waits / number(wave.platform())); // Little's law
        run.states("sleep-wave", waits / number(wave.virtual()));
        double free = number(run.row("pinning", "ReentrantLock").virtual());
        double pinned = number(run.row("pinning", "class init").virtual());
        yes("pinned waits take longer", pinned > free * run.perCarrier() / 2.5);
        for (String what : List.of("ReentrantLock", "synchronized", "class init")) {
            if (pins(what)) run.says(what, "no carrier was free for", "pinned waits: ", ", the"
                + " longest in VirtualThreadsLab");
            else run.says(what, "carriers were free for all but");
        }
        counts(run);
    }

    static boolean pins(String what) {
        return what.equals("class init") || what.equals("synchronized") && JDK < 24;
    }

    /** What follows from the numbers of processors, carriers and threads. */
    static void counts(Run run) {
        if (run.experiments().contains("cpu-primes")) {
            double rounds = Math.ceilDiv(4 * run.count("processors"), run.count("carriers"));
            run.row("cpu-primes", "").models(Math.min(1, 4 / rounds));
        }
        for (String what : List.of("ReentrantLock", "synchronized", "class init")) {
            run.row("pinning", what).models(pins(what) ? 1.0 / run.perCarrier() : 1);
        }
        String names = matches("(?<= carriers, ).*", run.said("thread-count")).get(0);
        yes("main is among " + names, names.contains("main"));
        int named = names.split(", ").length + run.count("carriers");
        for (String way : List.of("pool of 200", "thread each")) {
            Row row = run.row("thread-count", way);
            int tasks = way.equals("pool of 200") ? 200 : run.quick() ? 500 : 1_000;
            double before = number(row.platform()) - tasks;
            near(way + ", names", named, before, HANDFUL);
            near(way + ", virtual", number(row.virtual()), before, HANDFUL);
            near(way + ", model", tasks / (number(row.model()) - 1), before, HANDFUL);
        }
    }

    // -------------------------------------------------------- other machines, other settings

    static void machine(int processors, int carriers, String flags) throws Exception {
        Run run = java(flags + " VirtualThreadsLab --quick --runs 1 --samples pinning"
            + " thread-count" + (processors < 64 ? " cpu-primes" : "")).report(0);
        equal("processors", processors, run.count("processors"));
        equal("carriers", carriers, run.count("carriers"));
        counts(run);
    }

    /** The heartbeat tells what each wait does to its carrier on this JDK. */
    static void waiting() throws Exception {
        Run run = odd("--quick --runs 1 sleep part cache two inside one short fork monitor"
            + " computing").report(0);
        for (String free : List.of("sleep", "two", "short", "fork")) {
            run.says(free, "carriers were free for all but");
            yes(free, !run.said(free).contains("pinned"));
        }
        for (String pinned : List.of("part", "cache", "inside", "one")) {
            if (JDK > 23) run.says(pinned, "carriers were free for all but");
            else run.says(pinned, "no carrier was free for", "pinned waits: ", ", the longest"
                + " in Odd");
        }
        run.says("computing", "no carrier was free for", "; each computed for ");
        run.says("monitor", "carriers were free for all but");
        boolean added = run.said("monitor").contains("the scheduler has added");
        yes(run.said("monitor"), added == JDK < 24);
        needs("/usr/bin/mkfifo");
        run = odd("--quick --runs 1 fifo").report(0);
        if (JDK > 23) run.says("fifo", "no carrier was free for");
        else run.says("fifo", "carriers were free for all but", "; the scheduler has added ");
        yes(run.said("fifo"), !run.said("fifo").contains("pinned"));
    }

    /** Where Flight Recorder cannot write; outside run; and in a deadlock by pinning. */
    static void hardWaits() throws Exception {
        java("-Djava.io.tmpdir=none Odd --quick --runs 1 sleep").report(0)
            .says("sleep", "carriers were free for all but", "; pinned waits: not known");
        Run run = odd("alone").exits(0).tells(" in a b ", "- mine: a|b: carriers were free");
        yes("not partial", !run.out.contains("Partial"));
        Path hasty = compile(edited("2, TimeUnit.MINUTES", "2, TimeUnit.SECONDS"));
        run = java("-cp " + hasty + " Odd --quick --runs 1 asleep dead cells").report(1);
        equal("goes on", List.of("asleep", "dead", "cells"), run.experiments());
        run.tells("platform: not done in two minutes, and so cancelled");
        run.says("asleep", "carriers were free for all but", " of 2,");
        if (JDK < 24) run.says("dead", "no carrier was free for", "pinned waits: ");
        else run.says("dead", "carriers were free for all but");
    }

    // -------------------------------------------------------------------- deliberate faults

    /** Why is told, the rest is measured, and the exit code is 1. */
    static void faults() throws Exception {
        Run run = odd("--runs 3 --samples wrong error body late cells").report(1);
        run.tells("| late         | in run 2            |        5 |        — |        — |");
        equal("wrong", "—", run.row("wrong", "").virtual());
        equal("error", "—", run.row("error", "").platform());
        yes("the rest", run.experiments().equals(List.of("wrong", "error", "late", "cells")));
        run.tells("virtual: wrong answer: 4 sheep, not 3.", "platform: dropped.",
            "virtual: java.lang.IllegalStateException: too late in Odd.",
            "- body: java.lang.ArithmeticException: / by zero in Odd.");
    }

    static void oneTooMany() throws Exception {
        Path broken = compile(edited("new Semaphore(limit)", "new Semaphore(limit + 1)"));
        Run run = java("-cp " + broken + " VirtualThreadsLab --quick --runs 1 capacity");
        equal("virtual", "—", run.report(1).row("capacity", "").virtual());
        run.tells("21 tasks inside at once, not 20");
        broken = compile(edited("permits.acquire();", ""));
        run = java("-cp " + broken + " VirtualThreadsLab --quick --runs 1 capacity").report(1);
        double most = number(matches("[\\d,]+(?= tasks inside)", run.out).get(0));
        yes("tells the most inside, not " + most, most > 30);
    }

    /** What was measured before a signal, or a call that exits, is there. */
    static void interrupted() throws Exception {
        needs("/bin/sh"); // where a process can be asked to end
        Live live = start("Odd --runs 1 even sleeps gate");
        live.until("[3/3]", 1).process.destroy();
        Run run = live.end().report(143); // 128 + SIGTERM
        run.tells("\n**Partial:** interrupted", "- sleeps: said before");
        equal("finished rows", List.of("even"), run.experiments());
        run = odd("--runs 1 even exits cells").report(0).tells("\n**Partial:** interrupted");
        equal("finished rows", List.of("even"), run.experiments());
    }

    /** It ends before the last experiment, which waits for ever, and says why in one line. */
    static void noOutput() throws Exception {
        needs("/dev/full");
        for (String line : List.of("> /dev/full", ">&-", "| head -n 3; exit $PIPESTATUS")) {
            Run run = shell("$JAVA Odd --quick --runs 1 sleep two gate " + line).exits(1);
            equal("messages", 1, matches("(?m)^[^\\[\\s].*", run.err).size());
        }
        shell("$JAVA VirtualThreadsLab --help > /dev/full").exits(1);
    }

    /** A limit on address space refuses threads with large stacks, to root as well. */
    static void fewThreads() throws Exception {
        if (!System.getProperty("os.name").equals("Linux")) throw new Skip("needs Linux");
        Run run = shell("ulimit -v 16000000; exec $JAVA -Xmx256m -Xss900m -XX:"
            + "ReservedCodeCacheSize=64m -Xlog:disable -Xlog:all=warning:stderr "
            + "VirtualThreadsLab --quick --runs 1 sleep-wave pinning thread-count").report(1);
        run.tells("unable to create native thread");
        equal("platform", Set.of("—"), Set.copyOf(run.column(Row::platform)));
        equal("rows", 6, run.rows().size());
        for (Row row : run.rows()) yes("" + row, number(row.virtual()) > 0);
    }

    static void smallHeap() throws Exception {
        Run run = java("-Xmx64m VirtualThreadsLab --quick --runs 1 million thread-local");
        run.report(1).tells(CACHE, "\n- million 200,000 parked", "MB of heap");
        yes("room for some", number(run.row("million", "10,000 parked").virtual()) > 0);
        equal("no room", "—", run.row("million", "200,000 parked").virtual());
    }

    // ---------------------------------------------------------------------------- documents

    /** README's prelude runs the experiments as they stand in the lab, in smaller sizes. */
    static void pasted() throws Exception {
        String source = Files.readString(LAB);
        String readme = Files.readString(Path.of("README.md"));
        String prelude = matches("(?s)(?<=```java\n)(?:(?!```).)*class Post \\{.*?(?=```)",
            readme).get(0).replace("return full;", "return quick;");
        for (String name : List.of("start-time", "sleep-wave", "cpu-primes", "capacity",
                "println")) {
            String experiment = matches("(?s)    /\\*\\*\n     \\* " + name
                + "\\. .*?(?=\n    /\\*\\*\n     \\* [a-z-]+\\. )", source).get(0);
            String method = matches("(?<=static void )\\w+(?=\\(\\))", experiment).get(0);
            Path folder = Files.createTempDirectory(temp, name);
            String post = prelude.replace("sleepWave();", method + "();");
            Path file = Files.writeString(folder.resolve("Post.java"),
                post.substring(0, post.lastIndexOf('}')) + experiment + "}\n");
            start("" + file).end().exits(0).tells("ratio");
        }
    }

    static void documents() throws Exception {
        equal("it says", "no fault", java(".ci/Documents.java check").exits(0).out.strip());
        Run run = shell("cd .ci && $JAVA Documents.java check; $JAVA LabTest.java");
        equal("lines from another folder", 2L, run.exits(2).err.lines().count());
    }

    /** Smaller than on paper, each runs as README says: alone, or compiled beside the lab. */
    static void programs() throws Exception {
        List<String> names = new ArrayList<>();
        String readme = Files.readString(Path.of("README.md"));
        for (String code : matches("(?s)(?<=```java\n).*?(?=```)", readme)) {
            if (!code.contains(" main(") || code.contains("class Post")) continue;
            String name = matches("(?<=class )\\w+", code).get(0);
            Path folder = Files.createTempDirectory(temp, name);
            Path file = Files.writeString(folder.resolve(name + ".java"),
                code.replace("10_000", "1_000"));
            javac("-d", "" + folder, "-cp", "" + classes(), "" + file);
            String path = folder + File.pathSeparator + classes();
            java("-cp " + path + " " + name + " --quick --runs 1").exits(0);
            names.add(name);
        }
        yes("among " + names, names.containsAll(List.of("Waves", "BothLocks", "Mine")));
    }

    static void findsJdk() throws Exception {
        String home = "JAVA_HOME='" + System.getProperty("java.home") + "' ";
        for (String wanted : List.of("", JDK + " ")) {
            String said = shell(home + "sh .ci/java " + wanted + "-version").exits(0).err;
            yes(said, said.startsWith(".ci/java: JDK " + JDK)
                && said.contains(" version \"" + JDK));
        }
        String list = shell(home + "sh .ci/java --list").exits(0).out;
        yes(list, list.matches("(\\d\\d /.*/java\n)+") && list.contains(JDK + " /"));
        yes("none", shell("sh .ci/java 99 -version").exits(2).err.contains("no JDK 99"));
    }

    // --------------------------------------------------------------------- reading a report

    record Row(String experiment, String work, String platform, String virtual, String ratio,
            String model) { // with --predict, model is You
        static Row of(String line) {
            String[] cells = line.split(" *\\| *");
            return new Row(cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]);
        }

        void models(double expected) {
            near("model of " + this, expected, number(model), 0.01 * expected);
        }
    }

    /** What a process did; where it printed a report, its parts as readers find them. */
    record Run(List<String> command, int code, String out, String err) {
        /** What it did; of long outputs, the last lines. */
        String shortened() {
            String both = err.replaceAll("[\r\n]+\\s*", "\n") + "\n" + out;
            long more = both.lines().count() - 50;
            return "exit code " + code + ": " + String.join(" ", command) + "\n"
                + both.lines().skip(Math.max(0, more)).collect(Collectors.joining("\n"));
        }

        Run exits(int expected) {
            equal("exit code", expected, code);
            return this;
        }

        /** Checks that one line on standard error says why nothing was done. */
        void refuses() {
            equal("standard output", "", exits(2).out);
            equal("lines on standard error", 1L, err.lines().count());
        }

        /** Checks that the output has the texts, wherever its lines are broken. */
        Run tells(String... texts) {
            String both = out + out.replaceAll("\\s+", " ");
            for (String text : texts) yes("tells: " + text, both.contains(text));
            return this;
        }

        /** Checks the exit code and the layout. */
        Run report(int expected) {
            exits(expected);
            int at = 0;
            for (String part : List.of("# VirtualThreadsLab\n\n- Java ", "\n\n| Experiment ",
                    "\n## At a glance\n\n```text\n", "\n- Ratio: ", "\n- Model: ",
                    "\n- Other programs used ")) {
                yes("in its place: " + part, out.indexOf(part, at) >= at);
                at = out.indexOf(part, at);
            }
            yes("nothing follows", out.substring(at).strip().lines().count() <= 3);
            equal("wide lines", List.of(), matches("(?m)^(?!.* \\d{3} in).{81,}",
                out.replaceFirst("(?s)\n## Samples\n.*?\n## ", "")));
            equal("tables without a gap", out.contains("## Your predictions") ? 2 : 1,
                matches("(?m)(^\\|.*\n)+", out).size());
            long ratios = rows().stream().filter(row -> number(row.ratio()) > 0).count();
            int bars = matches("(?m)^[a-z-]+ .*[│|].*[×x]", after("## At a glance")).size();
            equal("lines of the chart", ratios, (long) bars);
            String progress = err.replaceAll("\\[[0-9.,]+s]\\[warning].*", "");
            for (String line : matches("(?<=\r)\\[[^\r\n]*", progress)) {
                yes("progress: " + line, line.length() < 80 && line.matches(
                    "\\[\\d+/\\d+\\] \\S+ .* (warm-up|run \\d+ of \\d+|heartbeat) +\\d+ s *"));
            }
            return this;
        }

        List<Row> rows() {
            String table = matches("(?m)(^\\|.*\n)+", out).get(0);
            return matches("(?m)^\\| (?!Experiment ).*", table).stream().map(Row::of).toList();
        }

        Row row(String experiment, String work) {
            return rows().stream().filter(row -> row.experiment.equals(experiment)
                && row.work.contains(work)).findFirst().orElseThrow();
        }

        List<String> column(Function<Row, String> cell) {
            return rows().stream().map(cell).toList();
        }

        List<String> experiments() {
            return column(Row::experiment).stream().distinct().toList();
        }

        String after(String heading) { return out.substring(out.indexOf(heading)); }

        /** What the report says of an experiment or of waits in something, in one line. */
        String said(String what) {
            return String.join(" ", matches("(?m)^- ([a-z-]+: )?" + what + ": .*(\n  .*)*",
                after("## What the numbers say"))).replaceAll("\\s+", " ");
        }

        void says(String what, String... facts) {
            String said = said(what);
            for (String fact : facts) yes(fact + ", in: " + said, said.contains(fact));
        }

        /** Checks what a row ran, as a changed lab tells; a pool of 0 is none. */
        void runs(String row, int tasks, int pool) {
            Set<String> ran = new TreeSet<>();
            for (String part : err.split("\r(?=\\[\\d+/)")) {
                if (part.contains("] " + row)) ran.addAll(matches("(?<=\nran ).*", part));
            }
            String platform = pool == 0 ? " on platform threads" : " in a pool of " + pool;
            equal(row, Set.of(tasks + " on virtual threads", tasks + platform), ran);
        }

        /** Checks that a number, made of rounded cells, is among what is said. */
        void states(String experiment, double value) {
            String said = said(experiment);
            List<String> numbers = matches("\\d[\\d,.]*+(?! threads:)", said);
            yes("about " + value + " in: " + said, numbers.stream()
                .anyMatch(number -> Math.abs(number(number) / value - 1) < 0.06));
        }

        /** How many of these the head tells of. */
        int count(String what) {
            return Integer.parseInt(matches("(?<=" + what + ": )\\d+", out).get(0));
        }

        boolean quick() { return out.substring(0, out.indexOf("\n|")).contains("--quick"); }

        int perCarrier() { return Math.clamp(100 / count("carriers"), 3, quick() ? 5 : 10); }
    }

    /** The number in a cell, of a time in ms; or NaN. */
    static double number(String cell) {
        String digits = cell.replaceAll("[^0-9.]|\\.$", "");
        double number = digits.isEmpty() ? Double.NaN : Double.parseDouble(digits);
        return cell.endsWith(" s") ? 1_000 * number : number;
    }

    static List<String> matches(String pattern, String text) {
        var found = Pattern.compile(pattern).matcher(text).results();
        return found.map(MatchResult::group).toList();
    }

    // --------------------------------------------------------------------------- running it

    /** A process that runs; its outputs are files. */
    record Live(List<String> command, Process process, Path out, Path err) {
        /** Waits until standard error has a text so many times. */
        Live until(String text, int times) throws Exception {
            long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
            while (read(err).split(Pattern.quote(text), -1).length <= times) {
                yes("comes to " + text, process.isAlive() && System.nanoTime() < end);
                Thread.sleep(20);
            }
            return this;
        }

        Live type(String keys) throws IOException {
            process.getOutputStream().write(keys.getBytes(UTF_8));
            process.getOutputStream().flush();
            return this;
        }

        Run end() throws Exception {
            process.getOutputStream().close();
            yes("ends within minutes", process.waitFor(MINUTES, TimeUnit.MINUTES));
            return stop();
        }

        Run stop() throws Exception {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            return new Run(command, process.waitFor(), read(out), read(err));
        }

        static String read(Path file) throws IOException {
            return new String(Files.readAllBytes(file), UTF_8).replace("\r\n", "\n");
        }
    }

    static Live begin(List<String> command) throws Exception {
        Path out = Files.createTempFile(temp, "out", "");
        Path err = Files.createTempFile(temp, "err", "");
        var builder = new ProcessBuilder(command);
        var environment = builder.environment();
        environment.keySet().removeAll(Set.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        environment.put("JAVA", String.join(" ", JAVA));
        environment.put("CLASSPATH", "" + classes());
        var process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        last = new Live(command, process, out, err);
        return last;
    }

    /** Starts this Java with words, which blanks part. */
    static Live start(String words) throws Exception {
        List<String> command = new ArrayList<>(JAVA);
        command.addAll(List.of(words.split(" +")));
        return begin(command);
    }

    static Run java(String words) throws Exception { return start(words).end(); }
    static Run lab(String words) throws Exception { return java("VirtualThreadsLab " + words); }
    static Run odd(String words) throws Exception { return java("Odd " + words); }

    /** Runs a line of shell, in which $JAVA is this Java. */
    static Run shell(String line) throws Exception {
        needs("/bin/bash");
        return begin(List.of("/bin/bash", "-c", line)).end();
    }

    /** The source with changes: what is to be found in it, and what comes instead. */
    static String edited(String... changes) throws Exception {
        String source = Files.readString(LAB);
        for (int i = 0; i < changes.length; i += 2) {
            yes("the source has: " + changes[i], source.contains(changes[i]));
            source = source.replace(changes[i], changes[i + 1]);
        }
        return source;
    }

    static Path classes() throws Exception {
        if (classes == null) classes = compile(Files.readString(LAB));
        return classes;
    }

    /** Compiles a lab without a word of javac, and Odd beside it; returns their folder. */
    static Path compile(String source) throws Exception {
        Path folder = Files.createTempDirectory(temp, "classes");
        Path lab = Files.writeString(folder.resolve(LAB.getFileName()), source);
        javac("-d", "" + folder, "--release", "21", "-Xlint:all", "-Werror",
            "-Xdoclint:all/protected", "" + lab);
        if (source.contains(CUT)) javac("-d", "" + folder, "-cp", "" + folder, ".ci/Odd.java");
        return folder;
    }

    static void javac(String... words) {
        var said = new ByteArrayOutputStream();
        ToolProvider.getSystemJavaCompiler().run(null, said, said, words);
        equal("output of javac", "", "" + said);
    }

    // ---------------------------------------------------------------------------- asserting

    static class Skip extends RuntimeException {
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

    static void near(String what, double expected, double actual, double apart) {
        yes(what + ": expected about " + expected + ", but was " + actual,
            Math.abs(expected - actual) <= apart);
    }
}
