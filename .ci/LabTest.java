// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;
import java.util.regex.*;
import java.util.stream.*;
import javax.tools.ToolProvider;

/**
 * Drives the lab as its users do, in processes of the Java that runs this test, and asks each
 * what it did. Run it at the top level; words pick the tests whose names contain one:
 *
 *     java .ci/LabTest.java
 *     java .ci/LabTest.java predict
 *
 * No test sets an upper limit on a time; each holds on one processor and a busy machine.
 */
class LabTest {
    static final Path LAB = Path.of("VirtualThreadsLab.java").toAbsolutePath();
    static final int JDK = Runtime.version().feature();
    static final int MINUTES = 4; // then a process counts as hung
    static final int HANDFUL = 6; // threads that other parts of a JVM may start meanwhile
    static final List<String> ALL = List.of("start-time", "sleep-wave", "cpu-primes", "pinning",
        "thread-count", "println", "http", "mixed", "capacity", "thread-local", "million",
        "time-sharing", "lost-lock");
    static final List<String> FIVE = ALL.subList(0, 5);
    static final String CUT = "// ----- Cut here";
    static final int LINES = 690; // of the source, to the cut
    static final String QUESTION = " (Enter skips)? "; // of --predict
    static final String BUSY = "the machine was too busy to tell if a carrier was free";
    static final String HEADER = """
        | Experiment   | Work                | Platform |  Virtual |    Ratio |  Model |
        |--------------|---------------------|---------:|---------:|---------:|-------:|
        """;
    static final String CACHE = // a row that looks the same on every machine
        "| thread-local | 2,000 tasks         |      200 |    2,000 |   0.100× | 0.100× |\n";
    static final List<String> JAVA = new ArrayList<>(List.of(
        "" + Path.of(System.getProperty("java.home"), "bin", "java"),
        "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8"));
    static final Map<String, Test> TESTS = new LinkedHashMap<>();
    static Path temp;
    static Path room; // the temporary folder of what is tested
    static Path classes; // of the lab as it is, and of Odd
    static Live last; // a failure shows it
    static boolean ended; // nothing else may start

    interface Test { void run() throws Exception; }

    static {
        TESTS.put("source: width, lines, silence", LabTest::source);
        TESTS.put("source: an older Java says what it needs", LabTest::olderJava);
        TESTS.put("source: cut, in a package, a lab of the five", LabTest::cut);
        TESTS.put("source: launched, in any folder, in Arabic, in ASCII", LabTest::launched);
        TESTS.put("command line", LabTest::commandLine);
        TESTS.put("usage errors", LabTest::usageErrors);
        TESTS.put("exact: what is known without a clock", LabTest::exact);
        TESTS.put("shots: how often, and their median; messages", LabTest::shots);
        TESTS.put("words: what they measure", LabTest::words);
        TESTS.put("cells, chart and samples", LabTest::cells);
        TESTS.put("both sides run the same tasks", LabTest::sides);
        TESTS.put("what others use leaves out the lab itself", () -> quiet("busy even"));
        TESTS.put("predict: rows as they are measured", LabTest::predict);
        TESTS.put("the five, in full", LabTest::theFive);
        TESTS.put("all, quick", LabTest::all);
        TESTS.put("1 processor, beside another recording", () ->
            machine(1, 1, "-XX:StartFlightRecording -Xlog:disable", "pinning cpu-primes"));
        TESTS.put("16 processors, 3 carriers", () -> machine(16, 3, "", "pinning cpu-primes"));
        TESTS.put("64 processors, thread-count alone", () -> machine(64, 64, "", ""));
        TESTS.put("starts: a median of each", LabTest::starts);
        TESTS.put("starts: one fails, or all are interrupted", LabTest::failedStarts);
        for (int carriers : new int[] {3, 16}) {
            TESTS.put("mixed: 8 processors, " + carriers + " carriers", () -> mixed(carriers));
        }
        TESTS.put("waiting: one's own call", LabTest::waiting);
        TESTS.put("waiting: no room, no run, no end", LabTest::hardWaits);
        TESTS.put("faults cost a cell or an experiment", LabTest::faults);
        TESTS.put("faults: one too many inside", LabTest::oneTooMany);
        TESTS.put("interrupted", LabTest::interrupted);
        TESTS.put("standard output is full, closed or goes away", LabTest::noOutput);
        TESTS.put("few threads", LabTest::fewThreads);
        TESTS.put("a small heap", LabTest::smallHeap);
        TESTS.put("documents", LabTest::documents);
        TESTS.put("documents: a fault of each kind", LabTest::plantedFaults);
        TESTS.put("documents: pictures", LabTest::pictures);
        TESTS.put("documents: programs of a post", LabTest::posted);
        TESTS.put("documents: your own call", LabTest::yourCall);
        TESTS.put(".ci/java takes the JDK that is wanted", LabTest::findsJdk);
        TESTS.put("these tests, interrupted", LabTest::leavesNothing);
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
        Runtime.getRuntime().addShutdownHook(new Thread(LabTest::clean));
        room = Files.createDirectory(temp.resolve("room"));
        JAVA.add("-Djava.io.tmpdir=" + room);
        int passed = 0;
        int failed = 0;
        for (String name : names) {
            last = null;
            empty(room); // what one test left is reported once
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
        int skipped = names.size() - passed - failed;
        System.out.println(passed + " passed, " + failed + " failed"
            + (skipped == 0 ? "" : ", " + skipped + " skipped"));
        System.exit(failed == 0 ? 0 : 1);
    }

    /** Ends what still runs and deletes the files, also when the tests are interrupted. */
    static synchronized void clean() {
        ended = true;
        try {
            if (last != null) last.stop();
            empty(temp);
            Files.delete(temp);
        } catch (Exception e) {
            System.err.println("LabTest: not all deleted in " + temp + ": " + e);
        }
    }

    static void empty(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            files.filter(file -> !file.equals(folder)).sorted(Comparator.reverseOrder())
                .forEach(file -> file.toFile().delete());
        }
    }

    /** What was wrong, and which line of this file says so. */
    static String where(Throwable e) {
        String what = e instanceof AssertionError ? e.getMessage() : "" + e;
        return Stream.of(e.getStackTrace()).filter(at -> at.getClassName().equals("LabTest"))
            .filter(at -> !List.of("yes", "equal", "near", "same").contains(at.getMethodName()))
            .findFirst().map(at -> what + " (line " + at.getLineNumber() + ")").orElse(what);
    }

    // --------------------------------------------------------------------------- the source

    static void source() throws Exception {
        classes();
        yes("the first experiment by line 70", above("* start-time. ").lines().count() <= 70);
        yes(LINES + " lines to the cut at most", above(CUT).lines().count() <= LINES);
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

    /** Cuts it by README's commands, in a folder with a blank in its name. */
    static void cut() throws Exception {
        Path folder = Files.createDirectories(temp.resolve("a cut"));
        Files.copy(LAB, folder.resolve(LAB.getFileName()));
        List<String> lines = matches("(?m)^    (mkdir five|sed .*)$",
            Files.readString(Path.of("README.md")));
        shell("cd '" + folder + "' && " + String.join(" && ", lines)).exits(0);
        Path five = compile("package com.x;\n" + Files.readString(
            folder.resolve("five").resolve(LAB.getFileName())));
        Run run = java("-cp " + five + " com.x.VirtualThreadsLab --quick --runs 1 all");
        equal("experiments", FIVE, run.exits(0).experiments());
        run.tells("## VirtualThreadsLab\n\n- Java ", "\n\n### What the numbers say\n\n- start",
            "\n- Ratio: platform ÷ virtual; above 1×, virtual threads need less.\n- ~: noisy");
        lab("--help").tells("--samples");
        yes("no options of what is cut", !java("-cp " + five + " com.x.VirtualThreadsLab -h")
            .exits(0).out.contains("--samples"));
    }

    static void launched() throws Exception {
        Path paste = Files.createDirectories(temp.resolve("a folder")).resolve("Paste.java");
        Files.copy(LAB, paste);
        Run run = shell("$JAVA -Duser.language=ar -Dstdout.encoding=US-ASCII"
            + " -Dstderr.encoding=US-ASCII '" + paste + "' thread-local --quick").report(0);
        run.tells(CACHE.replace('×', 'x'), "###| 0.100x", "Paste.java thread-local --quick`");
        yes("nothing became ?", !(run.out + run.err).contains("?"));
        shell("$JAVA -Xmx300m '" + paste + "' thread-local --quick --starts 1").report(0)
            .tells(CACHE, "heap: up to 300 MB", ", starts: 1, samples: 5, ");
        shell("$JAVA -Dfile.encoding=ISO-8859-1 '" + paste + "'")
            .refuses("its text is UTF-8: run it without -Dfile.encoding=ISO-8859-1");
    }

    // --------------------------------------------------------------------- the command line

    static void commandLine() throws Exception {
        Run help = lab("http --help --runs 0").exits(0).tells("--quick", "--runs", "--predict");
        for (String name : ALL) help.tells("\n  " + name + " ");
        equal("wide lines", List.of(), matches("(?m)^.{81,}", help.out));
        Run run = shell("JDK_JAVA_OPTIONS=-Xmx300m $JAVA"
            + " -Djdk.virtualThreadScheduler.maxPoolSize=1 VirtualThreadsLab --runs 9"
            + " thread-local start-time --runs 1 --quick thread-local --quick").report(0);
        run.tells(" -Xmx300m ", "heap: up to 300 MB", ", samples: 1, ", "carriers: 1, ", HEADER,
            "\n- --quick: smaller sizes, and so other models; pinning has 5 tasks per");
        equal("in this order", List.of("thread-local", "start-time"), run.experiments());
    }

    static void usageErrors() throws Exception {
        for (String words : List.of("a\nb", "--runs", "--runs 101", "--runs --quick",
                "--runs=3", "--runs 2 --runs x", "--starts", "--starts 0", "--starts x",
                "--java", "--java /dev/null", "--java " + LAB, "--java " + temp,
                "--starts 2 nobody")) {
            lab(words).refuses("");
        }
        lab("--runs 0").refuses("--runs takes a number from 1 to 100, not 0");
        lab("pining").refuses("'pining', did you mean pinning?");
        lab("--quik").refuses("'--quik', did you mean --quick?");
        lab("x --runs 100 --starts 100").refuses("'x', try --help");
        lab("pxning").refuses("'pxning', try --help");
        lab("--java none").refuses("--java none: Cannot run program");
        if (Files.isExecutable(Path.of("/bin/true"))) {
            lab("--java /bin/true").refuses("--java /bin/true is no JDK of 21 or newer");
            Path older = Files.writeString(temp.resolve("older"),
                "#!/bin/sh\necho java.base@20 jdk.compiler@20\n");
            older.toFile().setExecutable(true);
            lab("--java " + older).refuses("--java " + older + " is no JDK of 21 or newer");
        }
        shell("$JAVA VirtualThreadsLab ''").refuses("not understood: ''");
        for (String few : List.of("parallelism=0", "parallelism=-1")) {
            java("-Djdk.virtualThreadScheduler." + few + " VirtualThreadsLab").refuses("");
        }
        odd("twice").refuses("the name of an experiment is taken");
        odd("piped").refuses("or has a |: a|b");
        Run run = odd("--runs 1 even nonsense").exits(2);
        equal("finished rows", List.of("even"), run.experiments());
        run.tells("\n**Partial:** ");
    }

    // ---------------------------------------------------------------------- what is measured

    /** Odd asks the lab for answers that it knows, and prints those that differ. */
    static void exact() throws Exception {
        equal("answers that differ", "all asked", odd("exact").exits(0).out.strip());
    }

    /** Here the clock is a fake one: it shows what the jobs, or messages, say they took. */
    static void shots() throws Exception {
        String trip = "int turn = BALL.incrementAndGet();";
        Path faked = compile(edited("System.nanoTime()", "Fake.now",
            trip, trip + " Fake.now += 123;") + """
            class Fake extends Lab {
                static long now;
                static int shot;

                public static void main(String[] args) throws Exception {
                    for (double[] ms : new double[][] {{10, 30, 150}, {7}, {500}, {0.5}}) {
                        for (boolean few : new boolean[] {false, true}) {
                            quick = few;
                            System.out.println(took(ms, job -> sample(job)) + ", warm-up "
                                + took(ms, job -> warmUp(job)));
                        }
                    }
                    Machine.look();
                    System.out.println(PROCESSORS < 2 ? 123.0 : Machine.look().far());
                }

                interface Way { double of(Job job) throws Exception; }

                static String took(double[] ms, Way way) throws Exception {
                    shot = 0;
                    double took = way.of(() ->
                        now += (long) (1e6 * ms[shot++ % ms.length]));
                    return took + " of " + shot;
                }
            }
            """);
        same("median of how many shots", """
            30.0 of 3, warm-up 10.0 of 7
            10.0 of 1, warm-up 10.0 of 3
            7.0 of 29, warm-up 7.0 of 57
            7.0 of 3, warm-up 7.0 of 5
            500.0 of 1, warm-up 500.0 of 1
            500.0 of 1, warm-up 500.0 of 1
            0.5 of 399, warm-up 0.5 of 2398
            0.5 of 39, warm-up 0.5 of 478
            123.0
            """, java("-cp " + faked + " Fake").exits(0).out);
    }

    /** Odd uses each word of the lab where the answer is known, and says what came out. */
    static void words() throws Exception {
        Run run = java("-Djdk.virtualThreadScheduler.parallelism=1 Odd --runs 3 words starts"
            + " turns").report(0);
        run.tells("runAll ran 7 of 7 tasks", "startAll returned after 10 of 10 threads",
            "of 1,100 threads, 1,000 are pending at once", "each line is written at once",
            "ticks over 5 ms late are missed", "only parking is timed",
            "time-sharing: [long, long, short]",
            "the median latency is 30 ms", "a latency counts from its time",
            "10 calls at 100 a second for 100 ms", "no call is sent before it is due",
            "the last call is due after 90 ms", "10 calls are late",
            "- turns: [platform warms up, virtual warms up, virtual reads, platform reads,"
            + " platform reads, virtual reads, virtual reads, platform reads].");
        double bytes = number(matches("(?<=each weighs )[\\d,]+", run.out).get(0));
        yes("bytes of a thread beside a ballast, not " + bytes, bytes > 100 && bytes < 3_000);
    }

    /** The gauges of Odd return fixed numbers, so that every line is known. */
    static void cells() throws Exception {
        odd("--samples even cells").report(0).tells(HEADER + """
            | even         | of five             |  30.5 ms |  2.55 ms |   ~12.0× |    10× |
            | cells        | large               |   12,346 |    1,000 |    12.3× |      — |
            | cells        | small               | 0.067 ms |  72.2 ms |  <0.001× | 4e-04× |
            | cells        | long                |   20.3 s |   10.2 s |       2× |      — |
            | cells        | equal               |        7 |        7 |       1× |     1× |
            | cells        | half                |        5 |       10 |   0.500× | 0.333× |
            | cells        | little              |      106 |      100 |    1.06× |     1× |
            | cells        | less                |      104 |      100 |    1.04× | 1e+04× |
            | cells        | least               |    96 ms |   100 ms |   0.960× |     1× |
            | cells        | wide                |       40 |       20 |      ~2× |      — |
            | cells        | counts              |      200 |        1 |        — |      — |
            | cells        | one side            |        — | 1.23e+09 |        — |      — |
            """, """
                             platform better │ virtual better; █: a factor of 2
            even         of five                         │~~~~ ~12.0× (2.54–40.3)
            cells        large                           │████ 12.3× (12.3–12.3)
            cells        small                 ██████████│ <0.001× (<0.001–<0.001)
            cells        long                            │█ 2× (2–2)
            cells        equal                           │░ 1× (1–1)
            cells        half                           █│ 0.500× (0.500–0.500)
            cells        little                          │▏ 1.06× (1.06–1.06)
            cells        less                            │░ 1.04× (1.04–1.04)
            cells        least                          ░│ 0.960× (0.960–0.960)
            cells        wide                            │~ ~2× (0.500–8)
            ```
            """, "- even, of five, ms: platform (1000) 10.5 20.5 30.5 40.5 80.5; virtual"
            + " (1000) 1 2 2.5500 4 12\n",
            "- cells, one side, things: platform; virtual (12346");
        odd("--runs 3 even").report(0).tells("│~~~ ~10.3×\n"); // too few for an interval
        odd("--runs 1 even").report(0).tells("│░░░ 10.5×\n");
    }

    // ------------------------------------------------------------------- several starts

    /** What Odd reads depends on how often it has begun; the first time, it only asks. */
    static void starts() throws Exception {
        String begun = "-Dodd.begun=" + Files.createTempFile(temp, "begun", "") + " Odd";
        Live live = start(begun + " --starts 5 --predict --samples --runs 3 begun even");
        Run run = live.until(QUESTION, 1).type("5\n20\n\n").end().report(0);
        int asked = run.err.lastIndexOf(QUESTION);
        yes("asks before the starts", asked < run.err.indexOf("] start"));
        run.tells(", starts: 5, samples: 3, `java ", HEADER + """
            | begun        | in starts           |    40 ms |    16 ms |   ~2.50× |    10× |
            | begun        | after that          |        4 |        2 |      ~2× |     1× |
            | even         | of five             |  20.5 ms |     2 ms |    10.3× |    10× |
            """, """
            | begun        | after that          |      20× |       1× |      ~2× |    10× |
            | begun        | in starts           |       5× |      10× |   ~2.50× |     2× |

            ### What the last start's numbers say

            - begun: this is start 6.
            """, "- begun, in starts, ms: platform 20 30 40 50 60; virtual 4 9 16 25 36\n",
            "│~ ~2.50× (0.833–10)\n", "│███ 10.3× (10.3–10.3)\n", " over the starts.");
        String java = JAVA.get(0);
        run = java(begun + " --starts 2 --runs 1 --java " + java + " --java "
            + Path.of(java).getParent().getParent() + " begun").exits(0);
        run.tells(HEADER + """
            | begun        | in starts           |    90 ms |    81 ms |   ~1.11× |    10× |
            """, HEADER + """
            | begun        | in starts           |   100 ms |   100 ms |      ~1× |    10× |
            """, """
        | Experiment   | Work                |                JDK 21 |                JDK 21 |
        |--------------|---------------------|----------------------:|----------------------:|
        | begun        | in starts           |    ~1.11× (1.11–1.43) |          ~1× (1–1.25) |
        """.replace("JDK 21", "JDK " + JDK));
        quiet("--starts 1 busy even");
    }

    static void failedStarts() throws Exception {
        String start = "- start 2 of 3, JDK " + JDK + ": ";
        for (String how : List.of("false", "true")) {
            Run run = java("-Dodd.fails=2 -Dodd.halts=" + how + " -Dodd.begun="
                + Files.createTempFile(temp, "begun", "") + " Odd --starts 3 --runs 1 begun")
                .report(1);
            run.tells(how.equals("true") ? start + "exit code 3, about to fail\n"
                : start + "begun: java.lang.IllegalStateException: as asked at `Odd.");
            run.tells("| begun        | in starts           |    20 ms |");
            run.tells("| begun        | after that          |        3 |");
        }
        needs("/bin/sh"); // where a process can be asked to end
        Live live = start("Odd --starts 2 --runs 1 even forever").until("] forever", 1);
        List<ProcessHandle> started = live.process.descendants().toList();
        equal("processes", 1, started.size());
        Run run = live.kill().end().report(143).tells("\n**Partial:** interrupted");
        equal("finished rows", List.of("even"), run.experiments());
        ends(started);
        live = start("Odd --starts 2 --runs 1 forever").until("] forever", 1);
        started = live.process.descendants().toList();
        live.process.destroyForcibly();
        ends(started);
    }

    static void ends(List<ProcessHandle> processes) throws Exception {
        for (var process : processes) process.onExit().get(MINUTES, TimeUnit.MINUTES);
    }

    /** In place of the JDK's Executors; when one is closed, it tells what its tasks did. */
    static final String TOLD = """
        package told;

        import java.lang.reflect.*;
        import java.util.*;
        import java.util.concurrent.*;
        import java.util.concurrent.atomic.LongAdder;

        public class Executors {
            static final Map<String, LongAdder> DONE = new ConcurrentSkipListMap<>();

            public static void did(String what) {
                DONE.computeIfAbsent(what, key -> new LongAdder()).increment();
            }

            public static void tell() {
                System.err.println("\\ndid " + DONE);
                DONE.clear();
            }

            public static void sleep(long ms) throws InterruptedException {
                did(ms + " ms");
                Thread.sleep(ms);
            }

            public static void start(Thread.Builder builder, Runnable task) {
                Thread thread = builder.unstarted(task);
                did(thread.isVirtual() ? "virtual" : thread.isDaemon() ? "daemon" : "platform");
                thread.start();
            }

            public static ExecutorService newFixedThreadPool(int n) {
                return told("pool of " + n,
                    java.util.concurrent.Executors.newFixedThreadPool(n));
            }

            public static ExecutorService newVirtualThreadPerTaskExecutor() {
                return told("virtual",
                    java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor());
            }

            public static ExecutorService newThreadPerTaskExecutor(ThreadFactory factory) {
                return told("platform",
                    java.util.concurrent.Executors.newThreadPerTaskExecutor(factory));
            }

            static ExecutorService told(String on, ExecutorService real) {
                InvocationHandler telling = (proxy, method, words) -> {
                    String name = method.getName();
                    if (name.equals("toString")) return on;
                    if (name.equals("submit")) did(on);
                    if (name.equals("invokeAll")) ((List<?>) words[0]).forEach(task -> did(on));
                    Object result = method.invoke(real, words);
                    if (name.equals("close")) tell();
                    return result;
                };
                return (ExecutorService) Proxy.newProxyInstance(
                    Executors.class.getClassLoader(),
                    new Class<?>[] {ExecutorService.class}, telling);
            }
        }
        """;

    /** Compares what the two sides of each row did, and on what, in their order. */
    static void sides() throws Exception {
        Path telling = compile(edited("java.util.concurrent.Executors.*", "told.Executors.*",
            "builder.start(toRun::countDown)", "start(builder, toRun::countDown)",
            "toRun.await();", "toRun.await(); tell();",
            "try (exchange) {", "try (exchange) { did(\"served by \" + executor);",
            "Thread.sleep(waitMs", "sleep(waitMs", "Thread.sleep(holdMs", "sleep(holdMs",
            "from) throws IOException {", "from) throws IOException {"
                + " did(from == start ? \"from the start\" : \"from later\");",
            "int countPrimes(int limit) {",
            "int countPrimes(int limit) { did(\"primes to \" + limit);",
            "double ms = sample(compute);", "double ms = sample(compute); tell();",
            "check(\"as a Fibonacci number\", number, fibonacci(index));", "{"
                + " did(\"fibonacci \" + index); check(\"\", number, fibonacci(index)); };"),
            TOLD);
        Run run = java("-cp " + telling + " VirtualThreadsLab --quick --runs 1 all").exits(0);
        int cpus = run.count("processors");
        int tasks = run.perCarrier() * run.count("carriers");
        int busy = Math.max(cpus, run.count("carriers")) + 1; // and the short one
        Map<String, List<String>> sides = new LinkedHashMap<>(); // what platform, virtual did
        for (int threads : List.of(100, 200, 500)) {
            sides.put("start-time " + threads + " threads",
                List.of("platform=" + threads, "virtual=" + threads));
        }
        for (int pool : List.of(100, 200)) sides.put("sleep-wave 1,000, pool " + pool,
            List.of("20 ms=1000, pool of " + pool + "=1000", "20 ms=1000, virtual=1000"));
        String all = "=" + 4 * cpus;
        String primes = ", primes to 400000" + all;
        sides.put("cpu-primes " + 4 * cpus + " × 33,860 primes",
            List.of("pool of " + cpus + all + primes,
                "primes to 400000" + all + ", virtual" + all));
        String waits = 120 / run.perCarrier() + " ms=" + tasks + ", ";
        for (String what : List.of("ReentrantLock", "synchronized", "class init")) {
            String did = what.equals("class init") ? "" : waits;
            sides.put("pinning " + tasks + " in " + what,
                List.of(did + "platform=" + tasks, did + "virtual=" + tasks));
        }
        sides.put("thread-count 500, pool 200", List.of("pool of 200=500", "virtual=500"));
        sides.put("thread-count 500, thread each", List.of("platform=500", "virtual=500"));
        sides.put("println 100,000 lines", List.of("platform=1", "virtual=1"));
        for (int calls : List.of(160, 300)) {
            String did = "50 ms=" + calls + ", from later=" + (calls - 1)
                + ", from the start=1, served by %s=" + calls + ", virtual=" + calls;
            sides.put("http " + 2 * calls + " calls a second",
                List.of(did.formatted("pool of 20"), did.formatted("virtual")));
        }
        int mixed = 10 * cpus;
        all = "=" + mixed;
        for (String row : List.of(mixed + " tasks", "median answer", "median call")) {
            String did = "60 ms" + all + ", fibonacci 34" + all + ", from "
                + (row.equals("median answer") ? "the start" : "later") + all + ", ";
            String served = "served by pool of " + mixed + all;
            sides.put("mixed " + row, List.of(did + "platform" + all + ", " + served,
                did + served + ", virtual" + all));
        }
        sides.put("capacity 200 × 10 ms by 20",
            List.of("10 ms=200, pool of 20=200", "10 ms=200, virtual=200"));
        sides.put("thread-local 2,000 tasks", List.of("pool of 200=2000", "virtual=2000"));
        sides.put("time-sharing delay behind " + (busy - 1),
            List.of("platform=" + busy, "virtual=" + busy));
        int inLine = run.count("carriers") + 1;
        sides.put("lost-lock " + inLine + " in line",
            List.of("platform=" + inLine, "virtual=" + inLine));
        for (Row row : run.rows()) {
            if (row.experiment().equals("million")) continue; // it has one side only
            List<String> did = sides.remove(row.experiment() + " " + row.work());
            yes("somebody says what the sides of this row do: " + row, did != null);
            equal(row.experiment() + " " + row.work() + ", platform and virtual",
                List.of(did.get(0), did.get(1), did.get(0)), run.did(row));
        }
        equal("rows that are missing", Map.of(), sides);
    }

    /** Odd keeps all processors busy, and says which share of them it had. */
    static void quiet(String words) throws Exception {
        Run run = odd(words).report(0);
        double own = number(matches("(?<=own share: )\\S+", run.out).get(0));
        double others = number(matches("(?<=programs used up to )\\S+", run.out).get(0));
        yes("others used " + others + " %, where the lab used " + own + " %",
            others + own / 2 < 105);
        String told = matches("(?<=hypervisor )\\S+(?= %)", run.out).get(0);
        double stolen = told.equals("—") ? 0 : number(told);
        double most = Math.max(others, stolen);
        boolean disturbed = run.out.replaceAll("\\s+", " ").contains("disturbed 1 of 1 rows.");
        yes("disturbed if over a tenth, " + most, disturbed == most > 10 || most == 10);
        if (run.count("processors") < 2) yes("no message", !run.out.contains("A message"));
    }

    /** A row stands on standard output before the next question is answered. */
    static void predict() throws Exception {
        Live live = start("Odd --predict --runs 4 even cells");
        live.until(QUESTION, 1).type("50×\n").until(QUESTION, 2);
        yes("has its first row", Live.read(live.out).contains("| of five "));
        Run run = live.type("ten\n\u0007½\n1 / 1,000\n~20\n1:4\n0,5\n\n\n" + "9".repeat(40)
            + "x\n10 TIMES\n10X\n").end().report(0);
        yes("asks once more", run.err.contains("Not understood: ten\nHow many times as many"
            + " things with platform threads, such as 30 or 1/3 (Enter skips)? "));
        yes("skips", run.err.contains("Not understood, row skipped: ??\n"));
        yes("asks for times", run.err.contains("How many times as long with platform threads"));
        run.tells("| even         | of five             |  30.5 ms |  2.55 ms |   ~12.0× |"
            + "    10×", """

            ### Your predictions, the furthest first

            | Experiment   | Work                |      You |    Model |    Ratio | Off by |
            """, """
            | cells        | long                |      20× |        — |       2× |    10× |
            """, """
            | cells        | least               | 1.0e+40× |       1× |   0.960× | 1e+40× |
            """);
        equal("off by", List.of("1e+40×", "10×", "5×", "4.18×", "4×", "1.08×", "1×"),
            matches("(?m)[\\d.,+e]+×(?= \\|$)", run.after("### Your predictions")));
        run = shell("$JAVA Odd --predict --runs 1 cells <&-").report(0);
        yes("nobody answers", !run.out.contains("Your predictions"));
    }

    // ----------------------------------------------------------------------- the experiments

    static void theFive() throws Exception {
        Run run = lab("--samples --runs 1").report(0).tells(", samples: 1, ");
        equal("experiments", FIVE, run.experiments());
        equal("works", List.of("100 threads", "1,000 threads", "10,000 threads",
            "10,000, pool 200", "10,000, pool 1,000",
            4 * run.count("processors") + " × 78,498 primes"),
            run.column(Row::work).subList(0, 6));
        five(run);
        yes("10,000 starts are cheaper", number(run.row("start-time", "10,000").ratio()) > 2);
        for (int pool : List.of(200, 1_000)) {
            double ms = number(run.row("sleep-wave", "pool %,d".formatted(pool)).platform());
            double inPool = 1e6 / ms; // Little's law
            double least = run.out.contains("disturbed") ? 0.25 * pool : 0.5 * pool;
            yes("up to " + pool + " tasks wait in the pool, and not " + inPool,
                inPool > least && inPool < 1.01 * pool);
        }
    }

    /** Also checks what --predict asks, though nobody answers. */
    static void all() throws Exception {
        Run run = lab("all --quick --samples --runs 1 --predict").report(0).tells(CACHE);
        if (run.count("processors") > 1) run.tells("A message to another processor and back");
        five(run);
        yes("all of " + run.experiments(), run.experiments().containsAll(ALL));
        int tasks = run.perCarrier() * run.count("carriers");
        int processors = run.count("processors");
        for (String question : List.of("start-time 200 threads: start them and wait",
                "1,000 tasks sleep 20 ms each; a pool of 200 platform threads, or a virtual",
                4 * processors + " tasks count the primes up to 400,000; a pool of "
                + processors + " p", tasks + " tasks wait at once, " + run.perCarrier()
                + " per carrier; a platform thread each, or a virtual thread each.",
                "wait 50 ms and come at 600"
                + " a second for 500 ms; a pool of 20 ", "200 tasks hold something for 10")) {
            yes("asks: " + question, run.err.replaceAll("\\s+", " ").contains(question));
        }
        run.row("http", "320 ").models(1);
        run.row("http", "600 ").models(3.5);
        run.row("capacity", "").models(1);
        equal("println's model", JDK < 23 ? "—" : "1×", run.row("println", "").model());
        yes("http gains where calls queue", number(run.row("http", "600 ").ratio()) > 1.2);
        yes("no time sharing", number(run.row("time-sharing", "").ratio()) < 1);
        sentences(run);
        for (String work : List.of("10,000 parked", "200,000 parked", "shallow", "50 frames")) {
            Row row = run.row("million", work);
            equal(work, "— —", row.platform() + " " + row.ratio());
            yes(work, number(row.virtual()) > 0);
        }
    }

    /** What the encores say of their rows: each number belongs to its label. */
    static void sentences(Run run) {
        double any = Double.NaN;
        run.states("thread-local", "made # MB of buffers for the pool and # MB for virtual",
            200 * 8_192 / 1e6, 2_000 * 8_192 / 1e6);
        double shallow = number(run.row("million", "shallow").virtual());
        double frames = number(run.row("million", "50 frames").virtual()) - shallow;
        run.states("million", "each of # parked virtual threads took # bytes of the heap, and #"
            + " for each further frame of its stack.", 20_000, shallow, frames / 50);
        Row behind = run.row("time-sharing", "");
        run.states("time-sharing", "behind long tasks of # ms each, a short one was delayed"
            + " by # ms as a platform thread and by # ms as a virtual thread.", any,
            number(behind.platform()), number(behind.virtual()));
        Row lock = run.row("lost-lock", "");
        if (JDK < 24) yes("waiters wait for 500 ms: " + lock, number(lock.virtual()) > 400);
        run.states("lost-lock", "all were done in # ms as platform threads and in # ms as"
            + " virtual threads", number(lock.platform()), number(lock.virtual()));
        var lost = matches("(?<=warm-up, )\\d+ platform and \\d+(?= virtual waiters gave up)",
            run.said("lost-lock"));
        yes("none or some gave up, not " + lost,
            lost.get(0).matches(JDK > 23 ? "0 platform and 0" : "0 platform and [1-9]\\d*"));
    }

    /** What holds for the five on any machine, with wide margins. */
    static void five(Run run) {
        for (Row row : run.rows()) {
            if (!row.experiment().equals("start-time")) continue;
            double perMs = 1_000 / number(row.work());
            run.states("start-time", row.work() + ": # µs per platform thread, # µs per virtual"
                + " thread.", number(row.platform()) * perMs, number(row.virtual()) * perMs);
        }
        for (int pool : run.quick() ? List.of(100, 200) : List.of(200, 1_000)) {
            Row wave = run.row("sleep-wave", "pool %,d".formatted(pool));
            wave.models(run.quick() ? 1_000.0 / pool : 10_000.0 / pool);
            yes("all wait at once: " + wave, number(wave.ratio()) > 1.5);
            double waits = run.quick() ? 1_000 * 20 : 10_000 * 100; // Little's law
            run.states("sleep-wave", "at least # tasks were waiting at once in the pool of "
                + "%,d, and # on virtual threads".formatted(pool),
                waits / number(wave.platform()), waits / number(wave.virtual()));
        }
        double free = number(run.row("pinning", "ReentrantLock").virtual());
        double pinned = number(run.row("pinning", "class init").virtual());
        yes("pinned waits take longer", pinned > free * run.perCarrier() / 2.5);
        for (String what : List.of("ReentrantLock", "synchronized", "class init")) {
            double sleep = (run.quick() ? 120 : 500) / run.perCarrier();
            double waited = number(run.row("pinning", what).platform());
            yes(what + ": wait of " + sleep + " ms, not " + waited, waited > 0.98 * sleep);
            if (pins(what)) run.pinned(what, "VirtualThreadsLab");
            else run.free(what);
        }
        for (String what : List.of("ReentrantLock", "synchronized")) {
            double others = number(run.row("pinning", "class init").platform());
            double waited = number(run.row("pinning", what).platform());
            yes("nobody waits for somebody else's " + what + ": " + waited + " ms, where "
                + others + " are one's own", waited < 3 * others);
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
        for (Row row : run.rows()) {
            if (!row.experiment().equals("pinning")) continue;
            String what = row.work().replaceAll("\\d+ in ", "");
            row.models(pins(what) ? 1.0 / run.perCarrier() : 1);
        }
        for (String way : List.of("pool 200", "thread each")) {
            Row row = run.row("thread-count", way);
            int tasks = way.equals("pool 200") ? 200 : run.quick() ? 500 : 1_000;
            near(way + ", platform threads added", tasks, number(row.platform()), HANDFUL);
            near(way + ", virtual threads added", 0, number(row.virtual()), HANDFUL);
            equal(way + ", no ratio and no model", "— —", row.ratio() + " " + row.model());
        }
    }

    // -------------------------------------------------------- other machines, other settings

    static void machine(int processors, int carriers, String flags, String more)
            throws Exception {
        Run run = on(processors, carriers, flags + " VirtualThreadsLab --quick --runs 1"
            + " --samples thread-count " + more).report(0);
        counts(run);
    }

    static Run on(int processors, int carriers, String words) throws Exception {
        Run run = java("-XX:ActiveProcessorCount=" + processors
            + " -Djdk.virtualThreadScheduler.parallelism=" + carriers + " " + words);
        equal("processors", processors, run.count("processors"));
        equal("carriers", carriers, run.count("carriers"));
        return run;
    }

    /** Checks its models, with shorter computations and waits; a question tells the ms. */
    static void mixed(int carriers) throws Exception {
        Path shorter = compile(edited("size(37, 34)", "27", "size(24_157_817, 5_702_887)",
            "196_418", "size(120, 60)", "1"));
        Run run = on(8, carriers, "-cp " + shorter + " VirtualThreadsLab --quick --runs 1"
            + " --predict mixed").report(0);
        double ms = number(matches("(?<=80 tasks compute for )\\S+(?= ms)", run.err).get(0));
        double rounds = Math.ceil(80.0 / Math.min(8, carriers));
        run.row("mixed", "80 tasks").models((10 * ms + 1) / (rounds * ms + 1));
        equal("model of the answer", "—", run.row("mixed", "median answer").model());
        double behind = (Math.ceil(80.0 / carriers) - 1) / 2 * ms * Math.max(1, carriers / 8);
        Row call = run.row("mixed", "median call");
        if (JDK > 25) equal("model of the call", "—", call.model());
        else call.models(1 / Math.max(1, behind));
    }

    /** The heartbeat tells what each call does to two carriers on this JDK. */
    static void waiting() throws Exception {
        String two = "-Djdk.virtualThreadScheduler.parallelism=2 Odd --quick --runs 1 ";
        Run run = java(two + "sleep part cache two inside one short quarter fork computing"
            + " process monitor longest").report(0);
        for (String free : List.of("sleep", "two", "short", "fork")) run.free(free);
        for (String pinned : List.of("part", "cache", "inside", "quarter", "one")) {
            if (JDK < 24) run.pinned(pinned, "Odd");
            else run.free(pinned);
        }
        if (JDK < 24) run.pinned("longest", "Odd.longer");
        run.atOnce("sleep", 5, 10);
        run.atOnce("two", 1, 3);
        run.atOnce("inside", 1, 3);
        run.atOnce("one", 1, 2);
        if (JDK < 24) run.atOnce("cache", 1, 3);
        run.says("computing", "no carrier was free for", "; each carrier computed for ");
        if (run.tellable("computing")) {
            List<String> ms = matches("(?<= of |computed for )[\\d,.]+(?= ms)",
                run.said("computing"));
            yes("a carrier computes up to all the time: " + ms,
                number(ms.get(1)) <= 1.1 * number(ms.get(0)));
        }
        Run one = java("-Djdk.virtualThreadScheduler.parallelism=1 Odd --quick --runs 1"
            + " computing").report(0);
        boolean alone = one.tellable("computing") && !one.said("computing").contains("lost");
        if (alone) {
            List<String> ms = matches("(?<= of |computed for )[\\d,.]+(?= ms)",
                one.said("computing"));
            yes("one carrier computes all the time: " + ms,
                number(ms.get(1)) > 0.7 * number(ms.get(0)));
        }
        if (Files.exists(Path.of("/proc/self/schedstat"))) {
            Run crowd = java("-Djdk.virtualThreadScheduler.parallelism="
                + 2 * Runtime.getRuntime().availableProcessors()
                + " Odd --quick --runs 1 computing").report(0);
            if (crowd.tellable("computing")) crowd.says("computing", " ms and lost ");
        }
        run.free("monitor");
        boolean added = run.said("monitor").matches(".*added carriers in use: [\\d]+, of 254 at"
            + " most, mostly at `Odd\\.\\S*:\\d+`.*");
        if (run.tellable("monitor")) yes(run.said("monitor"), added == JDK < 24);
        run = java(two + "pin300 pin1000 pin2000 pin250000").report(0);
        for (String micros : List.of("300", "1000", "2000", "250000")) {
            if (JDK > 23) run.free("pin" + micros);
            else if (micros.equals("300")) run.says("pin300", "no carrier was free for");
            else run.pinned("pin" + micros, "Odd");
        }
        run = java(two + "some none").report(1);
        run.free("some").says("some", " calls failed; ");
        String failed = run.said("some");
        double[] calls = matches("[\\d,]+(?= of| calls failed)", failed).stream()
            .mapToDouble(LabTest::number).toArray();
        near("half of the calls fail: " + failed, 0.5, calls[0] / calls[1], 0.1);
        yes(run.said("none"), run.said("none").matches(".* ([\\d,]+) of \\1 calls failed\\."));
        needs("/usr/bin/mkfifo");
        run = java(two + "fifo").report(0);
        if (JDK > 23) run.says("fifo", "no carrier was free for", "ms, mostly at `Odd.");
        else run.free("fifo").says("fifo", "; added carriers in use: ", ", mostly at `Odd.");
    }

    /** Where Flight Recorder cannot write; outside run; and in a deadlock by pinning. */
    static void hardWaits() throws Exception {
        java("-Djava.io.tmpdir=none Odd --quick --runs 1 sleep").report(0).free("sleep")
            .says("sleep", "pinned waits not known: java.nio.file.");
        Run run = odd("alone").exits(0).free("a|b").tells(" in a b ", "- mine: a|b: ");
        yes("not partial", !run.out.contains("Partial"));
        Path stat = Files.writeString(temp.resolve("stat"), "cpu 1 2");
        Path hasty = compile(edited("2, TimeUnit.MINUTES", "1, TimeUnit.SECONDS",
            "\"/proc/stat\"", "\"" + stat.toString().replace('\\', '/') + "\""));
        run = java("-cp " + hasty + " Odd --quick --runs 1 asleep dead cells").report(1);
        equal("goes on", List.of("asleep", "dead", "cells"), run.experiments());
        run.tells("platform: not done in two minutes, and so cancelled", "hypervisor — %");
        Files.writeString(stat, "cpu 0 0 0 0 0 0 0 0 0 0\n");
        java("-Dodd.stat=" + stat + " -cp " + hasty + " Odd stolen").report(0)
            .tells("a hypervisor 20 %, and disturbed 1 of 1 rows. None of these holds.");
        run.free("asleep");
        if (JDK > 23) run.free("dead");
        else run.pinned("dead", "Odd");
        run = java("-XX:+UnlockExperimentalVMOptions -XX:-VMContinuations VirtualThreadsLab"
            + " --quick --runs 1 thread-local").report(0);
        run.tells("- This JVM has no carriers: each virtual thread is a platform thread",
            CACHE.replace("0.100× |\n", "     — |\n"));
    }

    // -------------------------------------------------------------------- deliberate faults

    /** The report says why, the rest is measured, and the exit code is 1. */
    static void faults() throws Exception {
        Run run = odd("--runs 3 --samples wrong error body late cells").report(1);
        run.tells("| late         | in sample 2         |        5 |        — |        — |");
        equal("wrong", "—", run.row("wrong", "").virtual());
        equal("error", "—", run.row("error", "").platform());
        yes("the rest", run.experiments().equals(List.of("wrong", "error", "late", "cells")));
        run.tells("virtual: wrong answer: 4 sheep, not 3.", "platform: dropped.",
            "virtual: java.lang.IllegalStateException: too late at `Odd.",
            "- body: java.lang.ArithmeticException: / by zero at `Odd.");
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

    /** What was measured before a signal, or before a call that exits, is printed. */
    static void interrupted() throws Exception {
        needs("/bin/sh"); // where a process can be asked to end
        Run run = start("Odd --runs 1 --samples even wrong sleep says forever")
            .until("[5/5]", 1).kill().end().report(143); // 128 + SIGTERM
        run.tells("""

            **Partial:** interrupted; these are the finished rows.
            No calls were looked into.

            - wrong sheep, virtual: wrong answer""", "- says: said before",
            "- even, of five, ms: platform (1000) 10.5; virtual (1000) 1\n");
        equal("finished rows", List.of("even", "wrong", "sleep"), run.experiments());
        run = start("Odd --runs 1 forever").until("[1/1]", 1).kill().end().exits(143);
        run.tells("|-------:|\n\n**Partial:** interrupted before the first row.\n");
        yes("no empty chart", !run.out.contains("At a glance"));
        run = odd("--runs 1 even exits cells").report(0).tells("\n**Partial:** interrupted");
        equal("finished rows", List.of("even"), run.experiments());
    }

    /** It ends before the last experiment, which waits for ever, and says why in one line. */
    static void noOutput() throws Exception {
        needs("/dev/full");
        for (String line : List.of("> /dev/full", ">&-", "| head -n 3; exit $PIPESTATUS")) {
            Run run = shell("$JAVA Odd --quick --runs 1 sleep two forever " + line).exits(1);
            equal("messages", 1, matches("(?m)^[^\\[\\s].*", run.err).size());
        }
        shell("$JAVA VirtualThreadsLab --help > /dev/full").exits(1);
        shell("$JAVA Odd says > /dev/full").exits(1); // it writes no row
        Run run = shell("ulimit -f 500; exec $JAVA VirtualThreadsLab --quick --runs 1 println");
        run.report(1).tells("cannot write; is the disk full?");
        java("-Djava.io.tmpdir=/none VirtualThreadsLab --quick --runs 1 println").exits(1)
            .tells("- println: java.nio.file.NoSuchFileException: /none/lines");
    }

    /**
     * A limit on address space refuses threads with large stacks, even for root. Then Flight
     * Recorder leaves a folder behind, so this test doesn't share the other tests' folder.
     */
    static void fewThreads() throws Exception {
        if (!System.getProperty("os.name").equals("Linux")) throw new Skip("needs Linux");
        Path other = Files.createTempDirectory(temp, "few");
        Run run = shell("ulimit -v 16000000; exec $JAVA -Xmx256m -Xss900m -XX:"
            + "ReservedCodeCacheSize=64m -Xlog:disable -Xlog:all=warning:stderr"
            + " -Djava.io.tmpdir=" + other + " VirtualThreadsLab --quick --runs 1"
            + " sleep-wave pinning thread-count").report(1);
        run.tells("unable to create native thread");
        equal("platform", Set.of("—"), Set.copyOf(run.column(Row::platform)));
        equal("rows", 7, run.rows().size());
        for (Row row : run.rows()) yes("" + row, number(row.virtual()) >= 0);
    }

    static void smallHeap() throws Exception {
        Run run = java("-Xmx256m VirtualThreadsLab --quick --runs 1 million thread-local");
        run.report(1).tells(CACHE, "\n- million 200,000 parked", "MB of heap");
        List<String> collected = matches("(?<=100,000 were parked again and again, collections"
            + " of the heap: )\\d+, which took [\\d,]+ ms", run.said("million"));
        double[] numbers = Stream.of(collected.get(0).split(", which took "))
            .mapToDouble(LabTest::number).toArray();
        yes("collected", numbers[0] > 0);
        yes("more ms than collections: " + collected, numbers[0] < numbers[1]);
        yes("room for some", number(run.row("million", "10,000 parked").virtual()) > 0);
        equal("no room", "—", run.row("million", "200,000 parked").virtual());
    }

    // ---------------------------------------------------------------------------- documents

    static void documents() throws Exception {
        equal("it says", "no fault", java(".ci/Documents.java check").exits(0).out.strip());
        Run run = shell("cd .ci && $JAVA Documents.java check; $JAVA LabTest.java");
        equal("lines from another folder", 2L, run.exits(2).err.lines().count());
    }

    /** Plants one fault at a time in a copy of the documents; each must be named. */
    static void plantedFaults() throws Exception {
        String end = "\\z"; // adds to the file
        String empty = "<!-- end -->";
        String runs = ".ci/runs/";
        String shop = ".github/workshop/";
        List<Path> steps = files(Path.of(shop, "steps"), ".patch");
        String step = "" + steps.getFirst();
        String last = "" + steps.getLast();
        String right = "    should be: ";
        String[][] faults = { // in this file, what is found becomes this; what is to be said
            {"README.md", empty, "9$0", "README.md: line # is stale"},
            {".ci/post.md", "```\n\n" + empty, "9$0", ".ci/post.md: line # is stale"},
            {".github/post/post.md", end, "9", ".github/post/post.md: line # is stale"},
            {".github/post/Waves.java", end, "//", ".ci/post.md: line # is stale"},
            {"README.md", end, "[a](none.md)", "README.md: leads nowhere: none.md"},
            {shop + "handout.md", end, "[a](none.md)", shop + "handout.md: leads nowhere: n"},
            {".ci/post.md", end, "[a](none.md)", ".github/post/post.md: leads nowhere: none"},
            {"README.md", end, "\n[a]: none.md", "README.md: leads nowhere: none.md"},
            {"README.md", end, "<img src=\"none.svg\">", "README.md: leads nowhere: none.svg"},
            {"README.md", end, "[a](#none)", "README.md: leads nowhere: #none"},
            {"README.md", end, "[a](results.md#none)", "README.md: leads nowhere: results.md#"},
            {"README.md", end, "<!-- five 25 -->", "README.md: a mark without its end"},
            {"README.md", end, empty, "README.md: a mark without its end, or an end without"},
            {"README.md", end, "<!-- about 25 none -->" + empty, "README.md: about 25 none: "
                + runs + "starts.md: not one ratio for: none"},
            {"README.md", end, "<!-- about 25 pinning -->" + empty, "README.md: about 25 "
                + "pinning: " + runs + "starts.md: not one ratio for: pinning"},
            {"README.md", end, "<!-- about 20 cpu-primes -->" + empty, "README.md: about 20 "},
            {"README.md", end, "<!-- five 20 -->" + empty, "README.md: five 20: " + runs},
            {"README.md", end, "<!-- file none -->" + empty, "README.md: file none: none: can"},
            {runs + "none.txt", end, "9", runs + "none.txt: no mark asks for it"},
            {runs + "starts.md", "", null, "README.md: five 25: " + runs + "starts.md: m"},
            {runs + "starts.md", "(Side by side\n\n.*\n.*\n\\| \\S+) +\\|", "$1", "README.md:"
                + " about 25 sleep-wave 10,000, pool 200: " + runs + "starts.md: cells are"},
            // A ratio on JDK 21, as a page rounds it; then one row of JDK 25, in its order
            {runs + "starts.md", "(in synchronized +\\| )[^|]*(\\|[^|]*\\|[^|]*\\|\n)",
                "$1~2,345× (9.96–12,345) $2",
                right + ".*about 21 in synchronized -->~2,300× \\(10–12,000\\)<"},
            {runs + "starts.md", "(?s)(- Java 25.*?1,000 threads +\\|)[^|]*\\|[^|]*\\|[^|]*"
                + "(.*?Side by side.*?1,000 threads +\\|[^|]*\\|)[^|]*", "$1 1 ms | 2 ms | 3× "
                + "$2 4× ", right + "\\| start-time: 1,000 threads \\| 4× \\| 1 ms \\| 2 ms "},
            {runs + "starts.md", "(?s)(- Java 25.*?in class init +\\|[^|]*\\|[^|]*\\| +)",
                "$1~", "README.md: line # is stale"}, // a noisy row isn't shown
            {runs + "starts.md", "(?s)A\\s+message\\s+to\\s+another.*", "A message to another"
                + " processor and back took 99999 ns at best; around 9 of 9 rows, it took.",
                right + "\\| start-time: 100 threads \\|[^|]*\\| — \\|"},
            {runs + "jmh-25.log", "(?s)(pinning\n)" // six iterations; the medians are 5 and 4
                + "(.*?trip: )\\S+( to \\S+ ns\n +p0.50:) +\\S+".repeat(6), "$1$2999$3 9$4999$5"
                + " 1$6999$7 5$8999$9 1$10999$11 8$12999$13 4", right
                + "\\| pinning: 20 in synchronized (\\|[^|]*){3}\\| (1.25×|—) \\|"},
            {runs + "keeps-27.txt", "(?m)^(- parks: [^:]*: ).*", "$1a carrier was free, with"
                + " added carriers", right + "\\| parks: .*\\| blocked, compensated \\|$"},
            {runs + "starts.md", end, "9", ".github/five.svg: missing, or older than its"},
            {runs + "jmh-21.log", "", null, "results.md: jmh 21 25: " + runs + "jmh-21.log: m"},
            {runs + "jmh-21.log", "\\$ .*mvn", "$0 -X", "results.md: jmh 21 25: " + runs},
            {runs + "jmh-25.log", "LabBenchmark.pinning", "LabBenchmark.no", "results.md: jmh "
                + "21 25: " + runs + "jmh-25.log: no iterations of pinning"},
            {runs + "mine.txt", "", null, ".github/your-call.md: shell mine: " + runs + "mine"},
            {runs + "mine.txt", "\\$ ", "$0\\$", ".github/your-call.md: shell mine: " + runs},
            {runs + "keeps-25.txt", "(?m)^(- [a-z]+: [a-z]+:) .*", "$1 a carrier", ".github/"
                + "blocking.md: keeps 21 25 26 27: " + runs + "keeps-25.txt: "},
            {shop + "handout.md", end, "\n```java\nnone;\n```\n", shop + "handout.md: is no"},
            {shop + "handout.md", end, "\nchange 'none;' 'a'", shop + "handout.md: is nowhere"},
            {shop + "handout.md", end, "9", shop + "handout.pdf: missing, or older than its"},
            {shop + "fast.md", end, "9", shop + "fast.pdf: missing, or older than its"},
            {shop + "trainer.md", end, "\n```diff\n-none;\n```\n", shop + "trainer.md: no s"},
            {shop + "trainer.md", end, "<!-- block predicted: none -->" + empty, shop
                + "trainer.md: block predicted: " + shop + "handout.md: no sh block below"},
            {shop + "trainer.pdf", "", null, shop + "trainer.pdf: missing, or older than its"},
            {shop + "mounted.svg", end, "\n", shop + "pictures.pdf: missing, or older than"},
            {shop + "Shop2.java", end, "//", shop + "Shop2.java: is not Shop.java after the"},
            {step, end, "@@ -1 +1 @@\n-none;\n+one;\n", step + ": does not fit"},
            {step, end, "@@ -1 +1 @@\n-}\n+};\n", step + ": does not fit"}, // in one place
            {last, end, "@@ -1 +1 @@\n-none;\n+one;\n", last + ": does not fit"},
            {".github/five.svg", end, "\n", ".github/post/five.png: missing, or older than"},
            {".github/ratios.svg", "[0-9a-f]{40}", "9", ".github/ratios.svg: missing, or o"},
        };
        Path program = Files.createTempDirectory(temp, "program");
        javac("-d", "" + program, ".ci/Documents.java");
        String check = "$JAVA -XX:TieredStopAtLevel=1 -cp '" + program + "' Documents check";
        equal("before any", "no fault", shell(check).exits(0).out.strip());
        List<Callable<Void>> halves = new ArrayList<>(); // each in a copy of its own, at once
        for (int half : new int[] {0, 1}) halves.add(() -> {
            Path copy = copied();
            for (int i = half; i < faults.length; i += 2) plant(copy, faults[i], check);
            return null;
        });
        try (var two = Executors.newFixedThreadPool(2)) {
            for (var half : two.invokeAll(halves)) half.get();
        }
    }

    static void plant(Path copy, String[] fault, String check) throws Exception {
        var bytes = java.nio.charset.StandardCharsets.ISO_8859_1; // keeps them as they are
        Path file = copy.resolve(fault[0]);
        byte[] before = Files.exists(file) ? Files.readAllBytes(file) : null;
        String text = before == null ? "" : new String(before, bytes);
        String wrong = fault[2] == null ? "" : text.replaceFirst(fault[1],
            new String(fault[2].getBytes(UTF_8), bytes));
        yes("changes " + String.join(", ", fault[0], fault[1]), !wrong.equals(text));
        if (fault[2] == null) Files.delete(file);
        else Files.write(file, wrong.getBytes(bytes));
        Run run = shell("cd '" + copy + "' && " + check);
        String said = run.out.replaceAll("line \\d+", "line #");
        yes(fault[0] + " has a fault; it's to say: " + fault[3] + ", not: " + said,
            !matches("(?m)^" + fault[3], said).isEmpty());
        run.exits(1);
        if (before == null) Files.delete(file);
        else Files.write(file, before);
    }

    /** A copy of all files that are the project's. */
    static Path copied() throws Exception {
        Path copy = Files.createTempDirectory(temp, "documents");
        try (var walk = Files.walk(Path.of(""))) {
            for (Path file : walk.filter(Files::isRegularFile).toList()) {
                if (("" + file).matches("\\.git[/\\\\].*|.*[/\\\\]target[/\\\\].*")) continue;
                Files.createDirectories(copy.resolve(file).getParent());
                Files.copy(file, copy.resolve(file));
            }
        }
        return copy;
    }

    /** A ratio of 1× (0.01–100) on JDK 21 is drawn below these numbers of the axis. */
    static void pictures() throws Exception {
        Path copy = copied();
        Path starts = copy.resolve(".ci/runs/starts.md");
        Files.writeString(starts, Files.readString(starts).replaceFirst(
            "(in class init +\\| )[^|]*(\\|[^|]*\\|[^|]*\\|\n)", "$11.00× (0.01–100) $2"));
        shell("cd '" + copy + "' && $JAVA .ci/Pictures.java"); // without rsvg, no PNG
        String svg = Files.readString(copy.resolve(".github/five.svg"));
        String row = svg.substring(svg.indexOf(">waiting in an initializer<"));
        for (String[] at : new String[][] {{"line", "x1", "0.01"}, {"line", "x2", "100"},
                {"circle", "cx", "1"}}) {
            equal("an initializer's " + at[1] + " on JDK 21, below " + at[2] + "×",
                matches("(?<= x=\")[^\"]+(?=\"[^>]*>" + at[2] + "×<)", svg),
                matches("(?<=<" + at[0] + " class=\"jdk0\".{0,99} " + at[1] + "=\")[^\"]+",
                    row).stream().limit(1).toList());
        }
    }

    /** Each runs alone, as in a post, but here with fewer rounds and tasks. */
    static void posted() throws Exception {
        List<Path> programs = files(Path.of(".github", "post"), ".java");
        yes("five programs or more: " + programs, programs.size() >= 5);
        for (Path program : programs) {
            Path folder = Files.createTempDirectory(temp, "post");
            Path file = Files.writeString(folder.resolve(program.getFileName()),
                Files.readString(program).replaceAll("(round <= )\\d", "$11")
                .replace("10_000", "1_000").replace("4 * cpus", "cpus"));
            Run run = start("" + file).end().exits(0).tells("JDK " + JDK);
            if (file.endsWith("Waves.java")) {
                yes("five waves of 100 ms in the pool", run.figure("pool of 200") > 490);
                yes("a wait of 100 ms", run.figure("virtual threads") > 98);
            } else if (file.endsWith("ThreadCount.java")) {
                double before = run.figure("virtual");
                near("pool", 200, run.figure("pool of 200") - before, HANDFUL);
                near("each", 1_000, run.figure("cached pool") - before, HANDFUL);
            } else if (file.endsWith("BothLocks.java")) {
                yes("a second in all", run.figure("one lock for all") > 980);
            }
        }
    }

    /** Its first block runs as it stands; the others compile, if they need only the JDK. */
    static void yourCall() throws Exception {
        String page = Files.readString(Path.of(".github", "your-call.md"));
        int compiled = 0;
        for (String code : matches("(?s)(?<=```java\n).*?(?=```)", page)) {
            if (code.contains("org.h2.") || code.contains("com.zaxxer.")) continue;
            boolean whole = code.contains("class Mine ");
            Path folder = Files.createTempDirectory(temp, "mine");
            Path file = Files.writeString(folder.resolve("Mine.java"), whole ? code
                : "class Mine extends VirtualThreadsLab {\n" + code + "}\n");
            javac("-d", "" + folder, "-cp", "" + classes(), "" + file);
            compiled++;
            if (!whole) continue;
            Run run = java("-cp " + folder + File.pathSeparator + classes()
                + " Mine --quick --runs 1").report(0);
            if (JDK < 24) run.pinned("slow loader", "Mine.load");
            else run.free("slow loader");
        }
        yes("Mine and others compile, not " + compiled, compiled > 1);
    }

    /** A signal in the middle of a test leaves no file and no process. */
    static void leavesNothing() throws Exception {
        needs("/bin/sh"); // where a process can be asked to end
        Live live = start(".ci/LabTest.java exact");
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
        while (live.process.descendants().findAny().isEmpty()) {
            yes("begins", live.process.isAlive() && System.nanoTime() < end);
            Thread.sleep(5);
        }
        List<ProcessHandle> tested = live.process.descendants().toList();
        live.kill().end().exits(143);
        for (var process : tested) yes("still runs: " + process.info(), !process.isAlive());
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
            double lastDigit = expected < 0.1 ? 0.001 : 0; // there, a cell has two digits
            near("model of " + this, expected, number(model), 0.01 * expected + lastDigit / 2);
        }
    }

    /** What a process did; if it printed a report, also the parts that readers find in it. */
    record Run(List<String> command, int code, String out, String err) {
        /** What it did; only the last lines of a long output. */
        String shortened() {
            String both = err.replaceAll("[\r\n]+\\s*", "\n") + "\n" + out;
            long more = both.lines().count() - 50;
            return "exit code " + code + ": " + String.join(" ", command) + "\n"
                + both.lines().skip(Math.max(0, more)).collect(Collectors.joining("\n"));
        }

        Run exits(int expected) {
            equal("exit code", expected, code);
            equal("left in the temporary folder", List.of(), List.of(room.toFile().list()));
            return this;
        }

        /** Checks that one line on standard error says why nothing was done. */
        void refuses(String why) {
            equal("standard output", "", exits(2).out);
            equal("lines on standard error", 1L, err.lines().count());
            yes("says: " + why + ", and not: " + err, err.contains(why));
        }

        /** Checks that the output has the texts, wherever its lines are broken. */
        Run tells(String... texts) {
            String both = out + out.replaceAll("\\s+", " ");
            for (String text : texts) {
                if (both.contains(text)) continue;
                for (String line : text.split("\n")) yes("tells: " + line, both.contains(line));
                throw new AssertionError("tells these lines together: " + text);
            }
            return this;
        }

        /** Checks the exit code and the layout. */
        Run report(int expected) {
            exits(expected);
            int at = 0;
            long ratios = rows().stream().filter(row -> number(row.ratio()) > 0).count();
            String chart = ratios == 0 ? "|" : "\n### At a glance\n\n```text\n";
            for (String part : List.of("## VirtualThreadsLab\n\n- Java ", "\n\n| Experiment ",
                    chart, "\n- Ratio: ", "\n- Model: ", "\n- Other programs used ")) {
                yes("in its place: " + part, out.indexOf(part, at) >= at);
                at = out.indexOf(part, at);
            }
            yes("nothing follows", !out.substring(at + 1).contains("\n-"));
            equal("wide lines", List.of(), matches("(?m)^(?!.* \\d{3} in).{81,}",
                out.replaceFirst("(?s)\n### Samples\n.*?\n### ", "")));
            equal("tables without a gap", out.contains("### Your predictions") ? 2 : 1,
                matches("(?m)(^\\|.*\n)+", out).size());
            if (ratios > 0) equal("lines of the chart", (int) ratios,
                matches("(?m)^[a-z\\d-]+ .*[│|].*[×x]", after("### At a glance")).size());
            String progress = err.replaceAll("\\[[0-9.,]+s]\\[warning].*", "");
            for (String line : matches("(?<=\r)\\[[^\r\n]*", progress)) {
                yes("progress: " + line, line.length() < 80 && line.matches("\\[\\d+/\\d+\\] "
                    + "\\S+ .*((warm-up|sample \\d+ of \\d+|heartbeat|begins)  \\d+ s *"
                    + "|.{9}\\S)"));
            }
            return this;
        }

        List<Row> rows() {
            String table = matches("(?m)(^\\|.*\n)+", out).get(0);
            return matches("(?m)^\\| (?!Experiment ).*", table).stream().map(Row::of).toList();
        }

        Row row(String experiment, String work) {
            return rows().stream().filter(row -> row.experiment.equals(experiment)
                && row.work.contains(work)).findFirst().orElseThrow(() -> new AssertionError(
                    "no row of " + experiment + " with " + work + " among " + rows()));
        }

        List<String> column(Function<Row, String> cell) {
            return rows().stream().map(cell).toList();
        }

        List<String> experiments() {
            return column(Row::experiment).stream().distinct().toList();
        }

        String after(String heading) {
            yes("has: " + heading, out.contains(heading));
            return out.substring(out.indexOf(heading));
        }

        /** What the report says of an experiment or of waits in something, in one line. */
        String said(String what) {
            return String.join(" ", matches("(?m)^- ([a-z-]+: )?" + what + ": .*(\n  .*)*",
                after("### What the numbers say"))).replaceAll("\\s+", " ");
        }

        void says(String what, String... facts) {
            String said = said(what);
            yes("says something of " + what, !said.isEmpty());
            if (!tellable(what)) return;
            for (String fact : facts) yes(fact + ", in: " + said, said.contains(fact));
        }

        /** Whether the heartbeat could tell; on a busy machine it may not, and that's said. */
        boolean tellable(String what) {
            boolean busy = said(what).contains(BUSY);
            if (busy) System.out.println("not tested, on a busy machine: " + what);
            return !busy;
        }

        Run free(String what) {
            if (!tellable(what)) return this;
            yes("a carrier was free in: " + said(what), said(what).contains("a carrier was "));
            List<String> pins = matches("pinned (once|\\d)", said(what));
            equal("pins in: " + said(what), List.of(), pins);
            return this;
        }

        void pinned(String what, String by) {
            yes("pinned in: " + said(what), said(what).matches(".* pinned (once|[\\d,]+ times),"
                + " longest at `" + by + "\\S*:\\d+`.*"));
            if (tellable(what)) says(what, "; no carrier was free for ");
        }

        /** Checks how many calls of ten were under way at once. */
        void atOnce(String what, int least, int most) {
            if (!tellable(what)) return;
            var found = matches("\\d+(?= of 10 calls (was|were) under)", said(what));
            double calls = found.isEmpty() ? 0 : number(found.get(0));
            yes(least + " to " + most + " at once, in: " + said(what),
                calls >= least && calls <= most);
        }

        /** What the samples of a row did, as the changed lab tells it; repetitions once. */
        List<String> did(Row row) {
            List<String> did = new ArrayList<>();
            for (String part : err.split("\r")) { // progress, or the end of a row
                String name = "] " + row.experiment + " " + row.work;
                if (part.contains("  heartbeat  ") || !part.contains(name)) continue;
                for (String what : matches("(?<=\ndid \\{).*(?=})", part)) {
                    if (did.isEmpty() || !did.getLast().equals(what)) did.add(what);
                }
            }
            return did;
        }

        /** Checks a sentence and the numbers in it, made of rounded cells; NaN fits any. */
        void states(String experiment, String form, double... values) {
            String regex = Stream.of(form.split("#", -1)).map(Pattern::quote)
                .collect(Collectors.joining("([\\d,]+(?:\\.\\d+)?)"));
            var found = Pattern.compile(regex).matcher(said(experiment));
            yes(form + ", in: " + said(experiment), found.find());
            for (int i = 0; i < values.length; i++) {
                double told = number(found.group(i + 1));
                double rounded = values[i] < 1 ? 0.06 : 0.012; // the row may have two digits
                yes("number " + (i + 1) + " in: " + found.group() + " is about " + values[i],
                    !(Math.abs(told / values[i] - 1) > rounded));
            }
        }

        /** The first number after these words. */
        double figure(String words) {
            var found = matches("(?<=\\b" + words + ":? )[\\d,]+", out); // pool of 200: 210
            yes("a number after: " + words, !found.isEmpty());
            return number(found.get(0));
        }

        /** How many of these there are, by the report's head. */
        int count(String what) {
            return Integer.parseInt(matches("(?<=" + what + ": )\\d+", out).get(0));
        }

        boolean quick() { return out.substring(0, out.indexOf("\n|")).contains("--quick"); }

        int perCarrier() { return Math.clamp(100 / count("carriers"), 3, quick() ? 5 : 10); }
    }

    /** The number in a cell, in ms if it's a time; or NaN. */
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

        /** Asks it to end. */
        Live kill() {
            process.destroy();
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

    static synchronized Live begin(List<String> command) throws Exception {
        yes("goes on", !ended);
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

    /** Starts this Java with words that blanks separate. */
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

    /** The source with changes, in pairs: what to find in it, and what to put there. */
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

    /** Compiles a lab without a warning, and Odd beside it; returns their folder. */
    static Path compile(String source, String... others) throws Exception {
        Path folder = Files.createTempDirectory(temp, "classes");
        for (String other : others) javac("-d", "" + folder,
            "" + Files.writeString(folder.resolve("Executors.java"), other));
        Path lab = Files.writeString(folder.resolve(LAB.getFileName()), source);
        javac("-d", "" + folder, "-cp", "" + folder, "--release", "21", "-Xlint:all", "-Werror",
            "-Xdoclint:all/protected", "" + lab);
        if (source.contains(CUT)) javac("-d", "" + folder, "-cp", "" + folder, ".ci/Odd.java");
        return folder;
    }

    /** The files of a folder, by their names. */
    static List<Path> files(Path folder, String ending) throws IOException {
        try (var files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
        }
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

    /** If the texts differ, it tells the first line that does. */
    static void same(String what, String expected, String actual) {
        List<String> lines = actual.lines().toList();
        int i = 0;
        for (String line : expected.lines().toList()) {
            equal(what + ", line " + (i + 1), line, i < lines.size() ? lines.get(i) : "none");
            i++;
        }
        equal(what + ", lines", i, lines.size());
    }

    static void near(String what, double expected, double actual, double apart) {
        yes(what + ": expected about " + expected + ", but was " + actual,
            Math.abs(expected - actual) <= apart);
    }
}
