// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.TimeUnit;
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
    static final List<String> FIVE =
        List.of("start-time", "sleep-wave", "cpu-primes", "pinning", "thread-count");
    static final List<String> ENCORES = List.of("println", "http", "mixed", "capacity",
        "thread-local", "million", "time-sharing", "lost-lock");
    static final String CUT = "// ----- Cut here";
    static final String QUESTION = ": an odd one"; // of Odd, with --predict
    static final String CACHE = // a row that looks the same on every machine
        "| thread-local | 2,000 tasks         |      200 |    2,000 |   0.100× |   0.1× |\n";
    static final List<String> JAVA = List.of(
        "" + Path.of(System.getProperty("java.home"), "bin", "java"),
        "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8");
    static final Map<String, Test> TESTS = new LinkedHashMap<>();
    static Path temp;
    static Path classes; // of the lab as it is, and of Odd
    static Live last; // to be shown by a failure

    interface Test { void run() throws Exception; }

    static {
        TESTS.put("source: width, lines, imports", LabTest::source);
        TESTS.put("source: compiles in silence", LabTest::classes);
        TESTS.put("source: an older Java says what it needs", LabTest::olderJava);
        TESTS.put("source: cut, it is a lab of the five", LabTest::cut);
        TESTS.put("source: inside a package", LabTest::inPackage);
        TESTS.put("source: launched, in any folder, under any name", LabTest::launched);
        TESTS.put("help", LabTest::help);
        TESTS.put("usage errors", LabTest::usageErrors);
        TESTS.put("JVM options: shown, or refused", LabTest::options);
        TESTS.put("names, in the order given", LabTest::names);
        TESTS.put("predict: rows as they are measured", LabTest::predict);
        TESTS.put("predict: no answer", LabTest::noAnswer);
        TESTS.put("cells follow from samples", LabTest::cells);
        TESTS.put("the five, in full", LabTest::theFive);
        TESTS.put("all, quick", LabTest::all);
        TESTS.put("1 processor, beside another recording", () ->
            machine(1, 1, "-XX:ActiveProcessorCount=1 -XX:StartFlightRecording -Xlog:disable"));
        TESTS.put("16 processors, 4 carriers", () -> machine(16, 4,
            "-XX:ActiveProcessorCount=16 -Djdk.virtualThreadScheduler.parallelism=4"));
        TESTS.put("64 processors", () -> machine(64, 64, "-XX:ActiveProcessorCount=64"));
        TESTS.put("locale: German, Latin 1", () -> locale("de", "ISO-8859-1"));
        TESTS.put("locale: Turkish, UTF-8", () -> locale("tr", "UTF-8"));
        TESTS.put("locale: Arabic, ASCII", () -> locale("ar", "US-ASCII"));
        TESTS.put("locale: Hindi, IBM437", () -> locale("hi", "IBM437"));
        TESTS.put("waiting: one's own call", LabTest::waiting);
        TESTS.put("waiting: a blocking read", LabTest::reading);
        TESTS.put("faults cost a cell or an experiment", LabTest::faults);
        TESTS.put("faults: one too many inside", LabTest::oneTooMany);
        TESTS.put("a job that never ends", LabTest::endless);
        TESTS.put("interrupted: INT", () -> interrupted("INT"));
        TESTS.put("interrupted: TERM", () -> interrupted("TERM"));
        TESTS.put("interrupted: KILL", () -> interrupted("KILL"));
        TESTS.put("interrupted: System.exit", LabTest::exits);
        TESTS.put("standard output is full, closed or goes away", LabTest::noOutput);
        TESTS.put("few threads", LabTest::fewThreads);
        TESTS.put("few files", LabTest::fewFiles);
        TESTS.put("a small heap", LabTest::smallHeap);
        TESTS.put("documents", LabTest::documents);
        TESTS.put("documents: README's programs", LabTest::programs);
        TESTS.put(".ci/java takes the JDK that is wanted", LabTest::findsJdk);
    }

    public static void main(String[] words) throws Exception {
        List<String> names = TESTS.keySet().stream().filter(name -> words.length == 0
            || Stream.of(words).anyMatch(name::contains)).toList();
        if (names.isEmpty()) {
            System.err.println("LabTest: no test is called " + String.join(" or ", words));
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
                long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
                System.out.println("passed: " + name + " (" + seconds + " s)");
            } catch (Skip skip) {
                System.out.println("skipped: " + name + ", " + skip.getMessage());
            } catch (Exception | AssertionError e) {
                failed++;
                System.out.println("FAILED: " + name);
                e.printStackTrace(System.out);
                if (last != null) System.out.print(last.stop().whole().indent(8));
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

    // --------------------------------------------------------------------------- the source

    static void source() throws Exception {
        String source = Files.readString(LAB);
        equal("imports beyond the JDK", List.of(),
            matches("(?m)^import (?!(static )?(javax?|jdk|com\\.sun)\\.).*", source));
        long first = source.substring(0, source.indexOf("* start-time. ")).lines().count();
        yes("the first experiment is on line " + first + ", not by 70", first <= 70);
        long lines = aboveCut().lines().count();
        yes(lines + " lines to the cut, not 840 at most", lines <= 840);
        String faults = "";
        for (Path file : List.of(LAB, Path.of(".ci/LabTest.java"))) {
            List<String> text = Files.readAllLines(file);
            for (int i = 0; i < text.size(); i++) {
                int width = text.get(i).codePointCount(0, text.get(i).length());
                if (width > 96) faults += file + ":" + (i + 1) + ": " + width + " characters\n";
            }
        }
        equal("lines of more than 96 characters", "", faults);
    }

    static String aboveCut() throws Exception {
        String source = Files.readString(LAB);
        return source.substring(0, source.indexOf(CUT));
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
        equal("lines to delete", 1, matches(line, aboveCut()).size());
        Path five = compile(aboveCut().replaceAll(line, ""));
        Run run = java("-cp " + five + " VirtualThreadsLab --quick --runs 1 all").sound(0);
        equal("experiments", FIVE, run.experiments());
    }

    static void inPackage() throws Exception {
        Path folder = compile("package com.x;\n" + Files.readString(LAB));
        Run run = java("-cp " + folder + " com.x.VirtualThreadsLab --quick --runs 1 pinning"
            + " thread-count").sound(0);
        equal("rows", 5, run.rows().size());
    }

    static void launched() throws Exception {
        Path paste = Files.createDirectories(temp.resolve("a folder")).resolve("Paste.java");
        Files.copy(LAB, paste);
        for (Path source : List.of(LAB, paste)) {
            List<String> command = new ArrayList<>(JAVA);
            command.addAll(List.of("-cp", ".", "" + source, "thread-local", "--quick"));
            begin(command).end().sound(0).tells(CACHE, ".java thread-local --quick`");
        }
    }

    // --------------------------------------------------------------------- the command line

    static void help() throws Exception {
        Run run = lab("--help").exits(0).tells("--quick", "--runs", "--samples", "--predict");
        for (String name : FIVE) run.tells(name);
        for (String name : ENCORES) run.tells(name);
        yes("24 lines", run.out.lines().count() <= 24);
        equal("wide lines", List.of(), matches("(?m)^.{81,}", run.out));
        for (String words : List.of("-h", "--help --runs 0", "http --help --quick")) {
            equal(words, run.out, lab(words).exits(0).out);
        }
    }

    static void usageErrors() throws Exception {
        for (String words : List.of("sleepwave", "--quik", "--runs=3", "a\nb", "--runs",
                "--runs 0", "--runs 101", "--runs --quick", "--runs 2 --runs 3")) {
            lab(words).refuses();
        }
    }

    static void options() throws Exception {
        for (String carriers : List.of("abc", "0")) {
            java("-Djdk.virtualThreadScheduler.parallelism=" + carriers + " VirtualThreadsLab")
                .refuses();
        }
        String none = "-XX:+UnlockExperimentalVMOptions -XX:-VMContinuations ";
        if (java(none + "-version").code == 0) java(none + "VirtualThreadsLab").refuses();
        String quick = " $JAVA VirtualThreadsLab --quick --runs 1 thread-local";
        shell("JDK_JAVA_OPTIONS=-Xmx300m" + quick).tells(" -Xmx300m ", "heap up to 300 MB");
    }

    static void names() throws Exception {
        Run run = lab("thread-local start-time --runs 1 --quick thread-local").sound(0);
        equal("experiments", List.of("thread-local", "start-time"), run.experiments());
        yes("no samples", !run.out.contains("## Samples"));
    }

    /** A row stands on standard output before the next question is answered. */
    static void predict() throws Exception {
        Live live = start("Odd --predict --runs 1 even cells");
        live.until(live.err, QUESTION, 1).type("50×\n").until(live.err, QUESTION, 2);
        yes("has its first row", live.sees(live.out, " 50× |", 1));
        live.type("ten\n1/10\n").until(live.err, QUESTION, 3);
        yes("has its second row", live.sees(live.out, " 1/10 |", 1));
        live.type("0,5\n").until(live.err, QUESTION, 4).type("\n");
        Run run = live.end().layout(0);
        equal("guesses", List.of("50×", "1/10", "0,5", "—", "—"), run.column("You"));
    }

    /** After three lines that are no ratio, or the end of the input, it asks no more. */
    static void noAnswer() throws Exception {
        String odd = "$JAVA Odd --predict --runs 1 cells ";
        for (String line : List.of("printf 'a\\nb\\n0/0\\n9\\n' | " + odd, odd, odd + "<&-")) {
            Run run = shell(line).layout(0);
            equal("guesses", List.of("—", "—", "—", "—"), run.column("You"));
            yes("asks no more", matches("Your ratio", run.err).size() <= 3);
        }
    }

    // ----------------------------------------------------------------------- the experiments

    /** The gauges of Odd return fixed numbers, so that the lines of the table are known. */
    static void cells() throws Exception {
        odd("--quick --samples even cells").sound(0).tells("""
            | even         | of four             |  30.5 ms |  2.55 ms |   ~12.0× |    10× |
            | cells        | large               |   12,346 |    1,000 |    12.3× |      — |
            | cells        | small               | 0.067 ms |  72.2 ms |  0.0009× |   0.1× |
            | cells        | equal               |        7 |        7 |       1× |     1× |
            | cells        | half                |        5 |       10 |   0.500× | 0.333× |
            """);
    }

    static void theFive() throws Exception {
        Run run = lab("--samples --runs 3").sound(0).tells(", 3 runs, ");
        equal("experiments", FIVE, run.experiments());
        five(run);
        yes("10,000 starts are cheaper", run.row("start-time", "10,000").value("Ratio") > 2);
        Row wave = run.row("sleep-wave", "");
        List<Double> pool = run.samples(wave, "platform");
        List<Double> virtual = run.samples(wave, "virtual");
        run.states("sleep-wave", quantile(pool, 0) / quantile(virtual, 4));
        run.states("sleep-wave", quantile(pool, 4) / quantile(virtual, 0));
    }

    static void all() throws Exception {
        Run run = lab("all --quick --samples").sound(0).tells(", 4 runs, ", CACHE);
        five(run);
        for (String name : ENCORES) yes(name, run.experiments().contains(name));
        run.row("http", "50 ms").models(5);
        run.row("http", "latency").models(5);
        run.row("capacity", "").models(1);
        yes("http gains", run.row("http", "50 ms").value("Ratio") > 1.2);
        yes("no time sharing", run.row("time-sharing", "").value("Ratio") < 1);
        if (JDK < 24) yes("the lock is lost", run.row("lost-lock", "").value("Ratio") < 1);
        for (String work : List.of("10,000 parked", "200,000 parked", "shallow", "50 frames")) {
            Row row = run.row("million", work);
            equal(work, "— —", row.cell("Platform") + " " + row.cell("Ratio"));
            yes(work, row.value("Virtual") > 0);
        }
    }

    /** What holds for the five on any machine, with wide margins. */
    static void five(Run run) {
        Row wave = run.row("sleep-wave", "");
        double waits = run.quick() ? 1_000 * 50 : 10_000 * 100;
        wave.models(run.quick() ? 5 : 50);
        yes("all wait at once", wave.value("Ratio") > 2);
        run.states("sleep-wave", wave.value("Ratio"));
        run.states("sleep-wave", waits / wave.value("Platform")); // Little's law
        run.states("sleep-wave", waits / wave.value("Virtual"));
        double free = run.row("pinning", "ReentrantLock").value("Virtual");
        double pinned = run.row("pinning", "class init").value("Virtual");
        yes("pinned waits take longer", pinned > free * run.perCarrier() / 2.5);
        for (String what : List.of("ReentrantLock", "synchronized", "class init")) {
            int waitMs = (run.quick() ? 150 : 500) / run.perCarrier();
            run.verdict(run.row("pinning", what), waitMs,
                pins(what) ? "pinned: " : "not pinned: ");
        }
        counts(run);
    }

    static boolean pins(String what) {
        return what.equals("class init") || what.equals("synchronized") && JDK < 24;
    }

    /** What follows from the numbers of processors, carriers and threads. */
    static void counts(Run run) {
        if (run.experiments().contains("cpu-primes")) {
            double rounds = Math.ceilDiv(4 * run.count("processor"), run.count("carrier"));
            run.row("cpu-primes", "").models(Math.min(1, 4 / rounds));
        }
        for (String what : List.of("ReentrantLock", "synchronized", "class init")) {
            run.row("pinning", what).models(pins(what) ? 1.0 / run.perCarrier() : 1);
        }
        String names = matches("(?<= carriers?, )[^;]*", run.said("thread-count")).get(0);
        yes("main is among " + names, names.contains("main"));
        int named = names.split(", ").length + run.count("carrier");
        for (String way : List.of("pool of 200", "thread each")) {
            Row row = run.row("thread-count", way);
            int tasks = way.equals("pool of 200") ? 200 : run.quick() ? 500 : 1_000;
            double before = row.value("Platform") - tasks;
            near(way + ", names", named, before, HANDFUL);
            near(way + ", virtual", row.value("Virtual"), before, HANDFUL);
            near(way + ", model", tasks / (row.value("Model") - 1), before, HANDFUL);
        }
    }

    // -------------------------------------------------------- other machines, other settings

    static void machine(int processors, int carriers, String flags) throws Exception {
        Run run = java(flags + " VirtualThreadsLab --quick --runs 1 --samples pinning"
            + " thread-count" + (processors < 64 ? " cpu-primes" : "")).sound(0);
        equal("processors", processors, run.count("processor"));
        equal("carriers", carriers, run.count("carrier"));
        counts(run);
    }

    static void locale(String language, String charset) throws Exception {
        String flags = "-Duser.language=" + language + " -Dstdout.encoding=" + charset
            + " -Dstderr.encoding=" + charset;
        Run run = java(flags + " VirtualThreadsLab --quick --runs 1 thread-local").sound(0);
        boolean signs = charset.equals("UTF-8");
        run.tells(signs ? CACHE : CACHE.replace('×', 'x'), signs ? " ÷ " : " / ");
        yes("in ASCII", signs || run.out.matches("\\p{ASCII}*"));
        equal("digits but 0 to 9", List.of(), matches("[^\\P{Nd}0-9]", run.out + run.err));
        java(flags + " Odd even state").tells("all is as it was", ", 5 runs, ");
    }

    /** Each wait gets the verdict that it deserves on this JDK. */
    static void waiting() throws Exception {
        Run run = odd("--quick --runs 1 sleep cache two one computing short monitor").sound(0);
        run.verdict(run.row("sleep", ""), 200, "not pinned: ");
        run.verdict(run.row("cache", ""), 200, JDK < 24 ? "pinned: " : "not pinned: ");
        run.verdict(run.row("two", ""), 50, "cannot tell: with a platform thread for each ");
        run.verdict(run.row("one", ""), 50, "cannot tell: with a platform thread for each ");
        run.verdict(run.row("computing", ""), 50, "cannot tell: ");
        run.verdict(run.row("short", ""), 50, "cannot tell: a task took ");
        run.verdict(run.row("monitor", ""), 200,
            JDK < 24 ? "carriers were kept, but the scheduler added " : "not pinned: ");
    }

    static void reading() throws Exception {
        needs("/usr/bin/mkfifo");
        Run run = odd("--quick --runs 1 fifo").sound(0);
        run.verdict(run.row("fifo", ""), 200, JDK < 24 ? "carriers were kept, but the scheduler"
            : "carriers were kept without an event");
    }

    // -------------------------------------------------------------------- deliberate faults

    /** Why is told, the rest is measured, and the exit code is 1. */
    static void faults() throws Exception {
        Run run = odd("--runs 3 --samples wrong error body late cells").sound(1);
        run.tells("| late         | in run 2            |        5 |        — |        — |");
        equal("wrong", "—", run.row("wrong", "").cell("Virtual"));
        equal("error", "—", run.row("error", "").cell("Platform"));
        yes("the rest", run.experiments().equals(List.of("wrong", "error", "late", "cells")));
        run.tells("wrong answer: 4 sheep, not 3", "AssertionError: dropped", "too late",
            "- body: java.lang.ArithmeticException: / by zero");
    }

    static void oneTooMany() throws Exception {
        Path broken = compile(edited("new Semaphore(limit)", "new Semaphore(limit + 1)"));
        Run run = java("-cp " + broken + " VirtualThreadsLab --quick --runs 1 capacity");
        equal("virtual", "—", run.sound(1).row("capacity", "").cell("Virtual"));
        run.tells("21 tasks inside at once, not 20");
    }

    /** It is cancelled; if its thread does not end, no row is measured beside it. */
    static void endless() throws Exception {
        Path hasty = compile(edited("PATIENCE = 120;", "PATIENCE = 1;",
            "awaitTermination(10,", "awaitTermination(1,"));
        Run run = java("-cp " + hasty + " Odd --runs 1 even asleep cells").sound(1);
        equal("goes on", List.of("even", "asleep", "cells"), run.experiments());
        run = java("-cp " + hasty + " Odd --runs 1 even stubborn cells").layout(1);
        run.tells("- stubborn ", "do not end");
        yes("ends there", !run.experiments().contains("cells"));
        yes("keeps the row before", run.experiments().contains("even"));
    }

    /** A signal ends the lab; what it has measured is there. */
    static void interrupted(String signal) throws Exception {
        needs("/bin/kill");
        Path status = Path.of("/proc/self/status"); // a shell's background job ignores INT
        if (signal.equals("INT") && Files.exists(status) && Files.readString(status)
            .matches("(?s).*SigIgn:\\s\\w+[2367abef]\\n.*")) throw new Skip("it is ignored");
        Live live = start("Odd --runs 1 even gate");
        live.until(live.err, "[2/2]", 1);
        new ProcessBuilder("/bin/kill", "-" + signal, "" + live.process.pid()).start();
        Run run = live.end();
        equal("finished rows", List.of("even"), run.experiments());
        yes("exit code " + run.code, run.code != 0);
        if (!signal.equals("KILL")) run.layout(run.code).tells("\n**Partial:** interrupted");
    }

    static void exits() throws Exception {
        Run run = odd("--runs 1 even exits cells").layout(1);
        equal("finished rows", List.of("even"), run.experiments());
    }

    /** It ends before the last experiment, which waits for ever, and says why in one line. */
    static void noOutput() throws Exception {
        needs("/dev/full");
        for (String line : List.of("> /dev/full", ">&-", "| head -n 3; exit $PIPESTATUS")) {
            Run run = shell("$JAVA Odd --quick --runs 1 sleep two gate " + line).exits(1);
            equal("lines on standard error", 1L, Stream.of(run.err.split("[\r\n]+"))
                .filter(said -> !said.isBlank() && !said.startsWith("[")).count());
        }
        shell("$JAVA VirtualThreadsLab --help > /dev/full").exits(1);
    }

    /** A limit on address space refuses threads with large stacks, to root as well. */
    static void fewThreads() throws Exception {
        if (!System.getProperty("os.name").equals("Linux")) throw new Skip("needs Linux");
        Run run = shell("ulimit -v 16000000; exec $JAVA -Xmx256m -Xss100m -XX:"
            + "ReservedCodeCacheSize=64m VirtualThreadsLab --quick --runs 1 sleep-wave "
            + "thread-count").layout(1).tells("unable to create native thread");
        equal("platform", List.of("—", "—", "—"), run.column("Platform"));
        for (Row row : run.rows()) yes("" + row, row.value("Virtual") > 0);
    }

    static void fewFiles() throws Exception {
        shell("ulimit -n 64; exec $JAVA VirtualThreadsLab --quick --runs 1 http thread-local")
            .layout(1).tells(CACHE, "\n- http ", "Exception");
    }

    static void smallHeap() throws Exception {
        Run run = java("-Xmx64m VirtualThreadsLab --quick --runs 1 million thread-local");
        run.layout(1).tells(CACHE, "\n- million 200,000 parked", "MB of heap");
        yes("room for some", run.row("million", "10,000 parked").value("Virtual") > 0);
        equal("no room", "—", run.row("million", "200,000 parked").cell("Virtual"));
    }

    // ---------------------------------------------------------------------------- documents

    static void documents() throws Exception {
        String out = java(".ci/Documents.java check").exits(0).out;
        yes(out, out.matches("(note: .*\\R)*no fault\\R"));
    }

    /** Smaller than on paper, each runs as README says: alone, or compiled beside the lab. */
    static void programs() throws Exception {
        List<String> names = new ArrayList<>();
        String readme = Files.readString(Path.of("README.md"));
        for (String code : matches("(?s)(?<=```java\n).*?(?=```)", readme)) {
            if (!code.contains(" main(")) continue;
            String name = matches("(?<=class )\\w+", code).get(0);
            Path folder = Files.createTempDirectory(temp, name);
            Path file = Files.writeString(folder.resolve(name + ".java"),
                code.replace("10_000", "1_000"));
            javac(folder, "-cp", "" + classes(), "" + file);
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

    /** A row of the table, by column. */
    record Row(Map<String, String> cells) {
        static Row of(String line) {
            String[] cells = line.substring(1).split("\\|");
            for (int i = 0; i < cells.length; i++) cells[i] = cells[i].strip();
            yes("widths of " + line, line.startsWith("| %-12s | %-19s | %8s | %8s | %8s | %6s |"
                .formatted((Object[]) cells)));
            Map<String, String> row = new LinkedHashMap<>();
            List<String> columns = List.of("Experiment", "Work", "Platform", "Virtual", "Ratio",
                "Model", "You");
            for (int i = 0; i < cells.length; i++) row.put(columns.get(i), cells[i]);
            return new Row(row);
        }

        String cell(String column) { return cells.get(column); }
        double value(String column) { return number(cell(column)); }
        String name() { return cell("Experiment") + ", " + cell("Work"); }

        void models(double expected) {
            near("model of " + name(), expected, value("Model"), 0.01 * expected);
        }
    }

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

        /** Checks the exit code and the layout, and the cells if their samples are there. */
        Run sound(int expected) {
            layout(expected);
            if (out.contains("\n## Samples\n")) rows().forEach(this::recompute);
            return this;
        }

        Run layout(int expected) {
            exits(expected);
            int at = 0;
            for (String part : List.of("# VirtualThreadsLab\n\n- Java ", "\n\n| Experiment ",
                    "\nRatio is ", "\nModel is ", "\n~ marks ", "\nOther programs used ",
                    "\n\n## What the numbers say\n\n", "\n\n## At a glance\n\n```text\n")) {
                yes("in its place: " + part, out.indexOf(part, at) >= at);
                at = out.indexOf(part, at);
            }
            String report = out.replaceFirst("(?s)\n## Samples\n.*", "");
            equal("wide lines", List.of(), matches("(?m)^(?!\\|).{81,}", report));
            equal("tables without a gap", 1, matches("(?m)(^\\|.*\n)+", out).size());
            long ratios = rows().stream().filter(row -> row.value("Ratio") > 0).count();
            int bars = matches("(?m)^[a-z-]+ .*[×x]$", report.substring(at)).size();
            equal("lines of the chart", ratios, (long) bars);
            String progress = err.replaceAll("\\[[0-9.,]+s]\\[warning].*", "");
            for (String line : matches("(?<=\r)\\[[^\r\n]*", progress)) {
                yes("progress: " + line, line.length() < 80 && line.matches(
                    "\\[\\d+/\\d+\\] \\S+ .* (warm-up|run \\d+ of \\d+) +\\d+ s *"));
            }
            return this;
        }

        List<Row> rows() {
            return matches("(?m)^\\| (?!Experiment ).*", out).stream().map(Row::of).toList();
        }

        Row row(String experiment, String work) {
            return rows().stream().filter(row -> row.cell("Experiment").equals(experiment)
                && row.cell("Work").contains(work)).findFirst().orElseThrow();
        }

        List<String> column(String name) {
            return rows().stream().map(row -> row.cell(name)).toList();
        }

        List<String> experiments() { return column("Experiment").stream().distinct().toList(); }

        /** What the report says of an experiment, in one line. */
        String said(String experiment) {
            String text = out.substring(out.indexOf("## What the numbers say"));
            return String.join(" ", matches("(?m)^- " + experiment + ": .*(\n  .*)*", text))
                .replaceAll("\\s+", " ");
        }

        /** Checks that a number is among what the report says of an experiment. */
        void states(String experiment, double value) {
            String said = said(experiment);
            yes("about " + value + " in: " + said, matches("\\d[\\d,.]*", said).stream()
                .anyMatch(number -> Math.abs(number(number) / value - 1) < 0.01));
        }

        /** How many of these the head tells of. */
        int count(String what) {
            return Integer.parseInt(matches("\\d+(?=\\s" + what + ")", out).get(0));
        }

        boolean quick() { return out.substring(0, out.indexOf("\n|")).contains("--quick"); }

        int perCarrier() { return Math.clamp(100 / count("carrier"), 3, quick() ? 5 : 10); }

        /** Checks what is said of how tasks wait; and how many at once, by Little's law. */
        void verdict(Row row, int waitMs, String verdict) {
            String what = row.cell("Work").replaceFirst("\\d+ in ", "");
            String said = said(row.cell("Experiment"));
            yes(what + ": " + verdict + ", in: " + said, said.contains(what + ": " + verdict));
            if (!verdict.startsWith("not")) return;
            states(row.cell("Experiment"), perCarrier() * waitMs / row.value("Virtual"));
        }

        /** The samples of a side in order of size, without the warm-up. */
        List<Double> samples(Row row, String side) {
            String text = out.substring(out.indexOf("\n## Samples\n"));
            String title = "\n" + Pattern.quote(row.name()) + ", \\w+\n";
            String lines = matches(title + "(  .*\n)*", text).get(0);
            return matches("(?<= " + side + " \\().*", lines.replaceAll("\n +(?=\\d)", " "))
                .stream()
                .flatMap(found -> Stream.of(found.split("\\)? ")).skip(1))
                .map(Double::valueOf).sorted().toList();
        }

        /** Computes the cells of a row anew from its samples. */
        void recompute(Row row) {
            List<Double> medians = new ArrayList<>();
            String mark = "";
            for (String side : List.of("Platform", "Virtual")) {
                List<Double> samples = samples(row, side.toLowerCase(Locale.ROOT));
                boolean none = row.cell(side).equals("—");
                equal("samples of " + row, none ? 0 : count("run"), samples.size());
                if (none) continue;
                double median = quantile(samples, 2);
                String unit = row.cell(side).endsWith(" ms") ? " ms" : "";
                shows(row, side, "", median, unit);
                if (quantile(samples, 3) - quantile(samples, 1) > 0.2 * median) mark = "~";
                medians.add(median);
            }
            if (medians.size() < 2) equal("" + row, "—", row.cell("Ratio"));
            else shows(row, "Ratio", mark, medians.get(0) / medians.get(1), "×");
        }

        static void shows(Row row, String column, String mark, double value, String unit) {
            List<String> cells = List.of(mark + cell(value) + unit,
                mark + cell(value * (1 - 1e-12)) + unit); // as 4.095 may be below its half
            yes(column + " of " + row + " is none of " + cells,
                cells.contains(row.cell(column)));
        }
    }

    /** Of sorted values: the least for 0, the quartiles for 1 to 3, the greatest for 4. */
    static double quantile(List<Double> sorted, int quarter) {
        double place = quarter * (sorted.size() - 1) / 4.0;
        double low = sorted.get((int) place);
        return low + (place % 1) * (sorted.get((int) Math.ceil(place)) - low);
    }

    /** A number as the table has it: three digits, fewer if small, all if large or whole. */
    static String cell(double value) {
        String format = value % 1 == 0 || value >= 999.5 ? "%,.0f"
            : value < 0.001 ? "%.1g" : value < 0.1 ? "%.2g" : "%.3g";
        return String.format(Locale.ROOT, format, value);
    }

    /** The number in a cell, or NaN. */
    static double number(String cell) {
        String digits = cell.replaceAll("[^0-9.]|\\.$", "");
        return digits.isEmpty() ? Double.NaN : Double.parseDouble(digits);
    }

    static List<String> matches(String pattern, String text) {
        var found = Pattern.compile(pattern).matcher(text).results();
        return found.map(MatchResult::group).toList();
    }

    // --------------------------------------------------------------------------- running it

    /** A process that runs; its outputs are files. */
    record Live(List<String> command, Process process, Path out, Path err) {
        boolean sees(Path output, String text, int times) throws IOException {
            return read(output).split(Pattern.quote(text), -1).length > times;
        }

        /** Waits until an output has a text so many times. */
        Live until(Path output, String text, int times) throws Exception {
            long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
            while (!sees(output, text, times)) {
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
        javac(folder, "--release", "21", "-Xlint:all", "-Werror", "-Xdoclint:all/protected",
            "" + lab);
        Path odd = Files.writeString(folder.resolve("Odd.java"), ODD);
        if (!source.startsWith("package ")) javac(folder, "-cp", "" + folder, "" + odd);
        return folder;
    }

    static void javac(Path folder, String... words) {
        var said = new ByteArrayOutputStream();
        List<String> all = new ArrayList<>(List.of("-d", "" + folder));
        all.addAll(List.of(words));
        ToolProvider.getSystemJavaCompiler().run(null, said, said, all.toArray(new String[0]));
        equal("output of javac", "", "" + said);
    }

    /** Experiments of one's own, beside the lab; most of them go wrong. */
    static final String ODD = """
        import static java.util.concurrent.Executors.*;
        import java.io.*;
        import java.util.*;
        import java.util.concurrent.*;
        import java.util.concurrent.locks.*;

        class Odd extends Lab {
            static final List<Experiment> LIST = new ArrayList<>();
            static final Semaphore TWO = new Semaphore(2);
            static final String BEFORE = state();

            static void add(String name, Job body) {
                LIST.add(new Experiment(name, body, "an odd one"));
            }

            static void waits(String name, int ms, Job job) {
                add(name, () -> waiting(name, ms, 1, job));
            }

            public static void main(String[] args) {
                waits("sleep", 200, () -> Thread.sleep(200));
                waits("cache", 200, () ->
                    new ConcurrentHashMap<Integer, Integer>().computeIfAbsent(200, Odd::nap));
                waits("two", 50, () -> {
                    TWO.acquire();
                    Thread.sleep(50);
                    TWO.release();
                });
                waits("one", 50, () -> { synchronized (TWO) { Thread.sleep(50); } });
                waits("computing", 50, () ->
                    check("primes", 78_498, VirtualThreadsLab.countPrimes(1_000_000)));
                waits("short", 50, () -> Thread.sleep(0, 100_000));
                waits("monitor", 200, () -> {
                    synchronized (OWN.get()) { OWN.get().wait(200); }
                });
                waits("fifo", 200, () -> {
                    File fifo = File.createTempFile("fifo", "");
                    String line = "rm $0; mkfifo $0; sleep 0.2 > $0 &";
                    new ProcessBuilder("sh", "-c", line, "" + fifo).start().waitFor();
                    try (var in = new FileInputStream(fifo)) { in.read(); }
                    fifo.delete();
                });

                add("even", () -> measure("of four", "ms", 10,
                    run -> new double[] {1_000, 10.5, 20.5, 40.5, 80.5}[run],
                    run -> new double[] {1_000, 1, 2, 3.1, 4}[run]));
                add("state", () ->
                    say(BEFORE.equals(state()) ? "all is as it was" : "it is changed"));
                add("wrong", () -> time("sheep", 1, () -> nap(1), () -> check("sheep", 3, 4)));
                add("error", () -> time("tasks", 1, () -> all(() -> {
                    throw new AssertionError("dropped");
                }), () -> nap(1)));
                add("body", () -> say("%s", 1 / (args.length - args.length)));
                add("late", () -> measure("in run 2", "things", 1, run -> 5, run -> {
                    if (run == 2) throw new IllegalStateException("too late");
                    return 4;
                }));
                add("gate", () -> measure("of one", "things", 1, run -> nap(MAX), run -> 1));
                add("asleep", () -> time("tasks", 1, () -> all(() -> Thread.sleep(MAX)),
                    () -> nap(1)));
                add("stubborn", () -> time("tasks", 1, () -> {
                    try { all(() -> nap(MAX)); } finally { all(() -> nap(1)); }
                }, () -> nap(1)));
                add("exits", () -> time("a job", 1, () -> System.exit(0), () -> nap(1)));
                add("cells", () -> {
                    measure("large", "things", UNKNOWN, run -> 12_345.6, run -> 1_000);
                    measure("small", "ms", 0.1, run -> 0.0666, run -> 72.2);
                    measure("equal", "things", 1, run -> 7, run -> 7);
                    measure("half", "things", 1.0 / 3, run -> 5, run -> 10);
                });
                run(LIST, args);
            }

            static final int MAX = Integer.MAX_VALUE;

            static void all(Job job) throws Exception {
                runAll(newThreadPerTaskExecutor(Thread::new), 3, job);
            }

            /** Nothing shortens it. */
            static int nap(int ms) {
                long end = System.nanoTime() + ms * 1_000_000L;
                while (System.nanoTime() < end) {
                    LockSupport.parkNanos(end - System.nanoTime());
                    Thread.interrupted(); // or it would spin
                }
                return ms;
            }

            static String state() {
                TimeZone.getDefault(); // which sets a property
                return Locale.getDefault() + " " + new TreeMap<>(System.getProperties());
            }
        }
        """;

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
