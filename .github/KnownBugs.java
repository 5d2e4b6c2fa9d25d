// SPDX-License-Identifier: MIT-0
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.management.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
import java.util.stream.*;

/**
 * Which known bugs of virtual threads does this JDK have, and which known limits?
 *
 *     java KnownBugs.java
 *     java KnownBugs.java JDK-8389310 init-lock
 *     java KnownBugs.java --help
 *
 * The first tries all rows, in one to two minutes, the second those named, each in a JVM of its
 * own, with the options of this one; the third lists them. Bugs that can't be tried here are
 * judged by the JDK's version. For a runtime without a compiler, compile elsewhere, by
 * javac --release 21 -d out KnownBugs.java; run java -cp out KnownBugs.
 *
 * A script reads the exit code, the first of these that's true, and the last line, which says
 * what decided:
 *
 *     2   nothing was tried
 *     14  standard output is full or closed
 *     10  an update of this release fixes a bug that's here, or may be here
 *     11  only a newer release fixes one
 *     12  some row can't tell
 *     13  no release or update that's out fixes what's here: a bug, or a known limit
 *     0   nothing is here
 *
 * 1 is what a java gives that doesn't get as far as this program.
 */
class KnownBugs {
    /** What a bug does, the worst first. */
    enum Harm {
        WRONG("Wrong result"), CRASH("Crash"), HANG("Hang"), LIMIT("Known limit");

        final String words;
        Harm(String words) { this.words = words; }
    }

    /** What was seen of a row. */
    enum Verdict {
        SEEN("seen", ""), NOT_SEEN("not seen", ""), CANT_TELL("can't tell", ""),
        NO_LUCK("not seen (takes luck)", ""), // and this JDK isn't known to have it
        NOT_NOW("not seen now, may be here", ", not seen now"), // but is known to
        MAY_BE("may be here", ", not tried"), NOT_HERE("not here", "");

        final String words;
        final String how; // it's known to be here
        Verdict(String words, String how) {
            this.words = words;
            this.how = how;
        }

        boolean isHere() { return this == SEEN || this == NOT_NOW || this == MAY_BE; }
    }

    /** What helps against what's here, the most urgent first. */
    enum Help {
        UPDATE(10, "an update of this release helps"),
        RELEASE(11, "only a newer release helps"),
        UNKNOWN(12, "some row can't tell"),
        NONE(13, "no update helps yet"),
        NOT_NEEDED(0, "nothing of this is here");

        final int code;
        final String words;
        Help(int code, String words) {
            this.code = code;
            this.words = words;
        }
    }

    /** The newest release, and when we last looked for fixes. */
    static final int NEWEST = 27;
    static final String LOOKED = "2026-11-28";

    /**
     * Releases that have a bug, "24 to 27", "25" or "from 24", and the first updates that fix
     * it, at most one a release, "25.0.3, 26.0.1".
     */
    record Span(String has, String fixed) {
        List<Runtime.Version> fixes() {
            return Stream.of(fixed.split(", ")).filter(update -> !update.isEmpty())
                .map(Runtime.Version::parse).toList();
        }

        /** Vendors may have fixed it in an earlier update, or have left a fix out. */
        boolean contains(Runtime.Version jdk) {
            String[] ends = has.replace("from ", "").split(" to ");
            int last = Integer.parseInt(ends[ends.length - 1]);
            return jdk.feature() >= Integer.parseInt(ends[0])
                && (has.startsWith("from ") || jdk.feature() <= last)
                && fixes().stream().noneMatch(fix -> fix.feature() == jdk.feature()
                    && jdk.compareToIgnoreOptional(fix) >= 0);
        }

        Help help(Runtime.Version jdk) {
            Help help = Help.NONE;
            for (Runtime.Version fix : fixes()) {
                if (fix.feature() == jdk.feature()) return Help.UPDATE;
                if (fix.feature() > jdk.feature() && fix.feature() <= NEWEST)
                    help = Help.RELEASE;
            }
            return help;
        }

        @Override public String toString() {
            if (fixed.isEmpty()) return "no fix yet (" + LOOKED + ")";
            boolean isOut = fixes().stream().anyMatch(fix -> fix.feature() <= NEWEST);
            return "fixed in " + fixed + (isOut ? "" : ", no update yet (" + LOOKED + ")");
        }
    }

    /** What takes luck is tried in several JVMs, until one shows it. */
    record Row(String id, Harm harm, String what, String when, Span span, int jvms,
               Callable<Boolean> sees) {
        boolean isTried() { return jvms > 0; }
        boolean takesLuck() { return jvms > 1; }
        String fix() { return harm == Harm.LIMIT && span.fixed.isEmpty() ? "" : "" + span; }
    }

    static Row bug(String id, Harm harm, String what, String when, String has, String fixed,
            int jvms, Callable<Boolean> sees) {
        return new Row(id, harm, what, when, new Span(has, fixed), jvms, sees);
    }

    static final List<Row> BUGS = List.of(
        bug("JDK-8389310", Harm.WRONG, "a wrong result in a catch",
            "if a class was loaded meanwhile", "21 to 27", "28", 1,
            KnownBugs::catchesInOldCode),
        bug("JDK-8390240", Harm.WRONG, "a wrong result in synchronized",
            "as a class is loaded", "24 to 27", "28", 3, KnownBugs::locksInOldCode),
        bug("JDK-8364343", Harm.CRASH, "a thread dump crashes the JVM",
            "while virtual threads move", "25", "26", 3, KnownBugs::diesOfDumps),
        bug("JDK-8392031", Harm.CRASH, "getThreadInfo crashes the JVM",
            "while virtual threads come and go", "21 to 27", "28", 8, KnownBugs::diesOfPolls),
        bug("JDK-8369019", Harm.HANG, "pinned threads wait for good",
            "after notifyAll, for another", "24 to 25", "26", 1, KnownBugs::notifiesAll),
        bug("JDK-8369227", Harm.HANG, "a woken thread stays parked",
            "as its timed wait ends", "25 to 26", "25.0.3, 26.0.1", 15,
            KnownBugs::staysParked),
        bug("JDK-8370887", Harm.HANG, "a timer is lost",
            "as another one is cancelled", "25", "25.0.3, 26", 2, KnownBugs::losesTimer),
        bug("JDK-8321270", Harm.HANG, "yield takes a permit",
            "so that park waits", "21", "21.0.4, 22", 1, KnownBugs::yieldTakesPermit));

    static Row limit(String id, String what, String when, String has, String fixed,
            Callable<Boolean> sees) {
        return bug(id, Harm.LIMIT, what, when, has, fixed, 1, sees);
    }

    static final List<Row> LIMITS = List.of(
        limit("half-write", "SocketChannel.write sends half",
            "if its buffers are full, in blocking mode", "from 21", "",
            () -> sendsLess(KnownBugs::write)),
        limit("half-file", "transferTo sends half a file",
            "for a loop that ends when it gives 0", "from 21", "",
            () -> sendsLess(KnownBugs::transfer)),
        limit("hand-off", "hand-overs starve all others",
            "if there's a pair per carrier", "from 21", "", KnownBugs::handOffsStarve),
        bug("yield", Harm.LIMIT, "yields starve others",
            "if as many yield as carriers", "from 21", "", 3, KnownBugs::yieldsStarve),
        limit("init-socket", "static {} waits for a socket",
            "whose poller has no carrier", "from 22", "", KnownBugs::initSocket),
        limit("init-monitor", "static {} waits for a monitor",
            "whose owner has no carrier", "from 24", "",
            () -> initializersHang(KnownBugs::restInMonitor)),
        limit("init-lock", "static {} waits for a lock",
            "whose owner has no carrier", "from 21", "",
            () -> initializersHang(KnownBugs::restWithLock)),
        limit("loader-lock", "class loader waits for a lock",
            "whose owner has no carrier", "from 21", "", KnownBugs::loaderLock),
        limit("lock-inside", "synchronized waits for a lock",
            "whose owner has no carrier", "21 to 23", "24", KnownBugs::lockInside));

    /** What hasn't been tried: the fix may have come before the update that's named. */
    static Row read(String id, Harm harm, String what, String when, String has, String fixed) {
        return bug(id, harm, what, when, has, fixed, 0, () -> false);
    }

    static final String WINDOWS = "on Windows";
    static final String ARM = "on Windows on ARM";
    static final List<Row> READ = List.of(
        read("JDK-8377715", Harm.WRONG, "out-of-date code runs",
            "if a thread resumes the slow way", "21 to 26", "27"),
        read("JDK-8323792", Harm.CRASH, "getThreadInfo crashes the JVM",
            "as threads end", "21 to 26", "21.0.12, 25.0.4, 26.0.2, 27"),
        read("JDK-8337331", Harm.CRASH, "an agent crashes the JVM",
            "as a pinned thread resumes", "21 to 23", "21.0.5, 24"),
        read("JDK-8329088", Harm.CRASH, "resuming crashes the JVM",
            "during a collection", "21 to 22", "21.0.5, 23"),
        read("JDK-8325469", Harm.CRASH, "resuming crashes the JVM",
            "in a loop that's just compiled", "21 to 22", "21.0.5, 23"),
        read("JDK-8343607", Harm.CRASH, "Shenandoah crashes the JVM",
            "as C2 compiles", "21 to 24", "21.0.10, 25"),
        read("JDK-8373630", Harm.CRASH, "threads crash or hang", ARM, "21 to 25", "25.0.3, 26"),
        read("JDK-8373120", Harm.HANG, "a thread stays BLOCKED",
            "after a timed Object.wait", "25 to 26", "25.0.4, 26.0.2"),
        read("JDK-8346175", Harm.HANG, "a lock's waiter isn't woken", "", "21", ""),
        read("JDK-8351933", Harm.HANG, "a ForkJoinPool stops",
            "after months", "21 to 24", "21.0.8, 24.0.2, 25"),
        read("JDK-8322846", Harm.HANG, "tracePinnedThreads hangs",
            "as a pinned thread is printed", "21", "21.0.4, 22"),
        read("JDK-8389671", Harm.HANG, "select leaves no carrier", WINDOWS, "25 to 27", "28"),
        read("JDK-8390031", Harm.HANG, "a debugger blocks a monitor",
            "if it suspends the next owner", "from 24", ""));

    static final List<Row> ROWS =
        Stream.of(BUGS, LIMITS, READ).flatMap(List::stream).toList();
    static final Runtime.Version JDK = Runtime.version();

    public static void main(String[] args) {
        List<String> words = List.of(args);
        if (words.size() == 3 && words.contains(CHILD)) child(words.get(1), words.get(2));
        if (words.contains("--help") || words.contains("-h")) help();
        for (String word : words) {
            if (ROWS.stream().noneMatch(row -> row.id.equals(word)))
                stop(2, "not understood: '" + word + "', try --help");
        }
        for (String module : List.of("java.management", "jdk.management")) {
            if (ModuleLayer.boot().findModule(module).isEmpty())
                stop(2, "this runtime lacks the module " + module);
        }
        try {
            System.exit(report(words).code);
        } catch (Throwable e) { // such as: no temporary folder
            stop(2, "" + e);
        }
    }

    static void stop(int code, String why) {
        System.err.println("KnownBugs: " + why);
        System.exit(code);
    }

    static void say(String format, Object... values) {
        System.out.printf(Locale.ROOT, format + "%n", values);
        if (System.out.checkError()) stop(14, "standard output is full or closed");
    }

    static void help() {
        say("java KnownBugs.java [ROW...]");
        list("Tried:", BUGS);
        list("Known limits, tried:", LIMITS);
        list("Not tried, but judged by this JDK's version. The fix came in the update named,"
            + " or earlier:", READ);
        say("%nThe exit code is the first of these that's true:");
        say("2   nothing was tried%n14  standard output is full or closed");
        for (Help help : Help.values()) say("%-3d %s", help.code, help.words);
        System.exit(0);
    }

    static void list(String title, List<Row> rows) {
        say("%n%s", title);
        for (Row row : rows) {
            List<String> said = List.of(row.what, row.when, row.span.has, row.fix());
            say("%-12s %s", row.id, said.stream().filter(words -> !words.isEmpty())
                .collect(Collectors.joining("; ")));
        }
    }

    // --------------------------------------------------------------------------- the report

    /** A verdict and, if there's one, its reason: "seen: a crash". */
    record Answer(Verdict verdict, String why) {
        static Answer of(String text) {
            String[] parts = (text + ": ").split(": ", 2);
            Verdict verdict = Stream.of(Verdict.values())
                .filter(one -> one.words.equals(parts[0])).findFirst().orElseThrow();
            return new Answer(verdict, parts[1].replaceFirst(": $", ""));
        }

        @Override public String toString() {
            return verdict.words + (why.isEmpty() ? "" : ": " + why);
        }
    }

    /** Prints the rows as they come, what kinds of bugs are here, and what decides. */
    static Help report(List<String> words) throws Exception {
        List<String> command = command();
        Answer nothing = answer(command, "");
        if (nothing.verdict == Verdict.CANT_TELL) nothing = answer(command, ""); // by bad luck
        if (nothing.verdict != Verdict.NOT_SEEN)
            stop(2, "a JVM with these options " + nothing);
        say("Java %s, %s, %s, processors: %d, %s", JDK, System.getProperty("java.vendor"),
            System.getProperty("os.name"), Runtime.getRuntime().availableProcessors(),
            java.time.LocalDate.now());
        List<Row> rows = new ArrayList<>(ROWS);
        rows.removeIf(row -> !words.isEmpty() && !words.contains(row.id));
        Map<Row, Answer> found = new LinkedHashMap<>();
        table("Bug", BUGS, rows, command, found);
        table("Known limit", LIMITS, rows, command, found);
        table("By version", READ, rows, command, found);
        say("");
        kinds(found);
        return decide(found);
    }

    static final String LINE = "| %-12s | %-28.28s | %-30s |";

    /** Its rows fit into 80 columns, so a long reason is cut; the lines below have it whole. */
    static void table(String kind, List<Row> some, List<Row> rows, List<String> command,
            Map<Row, Answer> found) {
        if (Collections.disjoint(some, rows)) return;
        say("%n" + LINE + "%n" + LINE, kind, "Here", "What happens", ":--", ":--", ":--");
        long tries = rows.stream().filter(Row::isTried).count(); // they're the first
        for (Row row : some) {
            if (!rows.contains(row)) continue;
            if (row.isTried())
                progress(rows.indexOf(row) + 1 + " of " + tries + ": " + row.id);
            Answer answer = row.isTried() ? look(command, row) : byVersion(row);
            if (row.isTried()) progress("");
            say(LINE, row.id, ("" + answer).replaceAll("[|\\s\\p{Cntrl}]+", " "), row.what);
            found.put(row, answer);
        }
    }

    /** A terminal's next line takes its place. */
    static void progress(String text) {
        System.err.printf("\r%-79.79s\r", text);
        System.err.flush();
    }

    /** What can't be told is tried once more: others may have been busy. */
    static Answer look(List<String> command, Row row) {
        var answer = new Answer(Verdict.NOT_SEEN, "");
        boolean again = true;
        for (int i = 0; i < row.jvms && answer.verdict == Verdict.NOT_SEEN; i++) {
            answer = ask(command, row.id);
            if (answer.verdict != Verdict.CANT_TELL || !again) continue;
            again = false;
            answer = ask(command, row.id);
        }
        if (answer.verdict != Verdict.NOT_SEEN || !row.takesLuck()) return answer;
        return new Answer(row.span.contains(JDK) ? Verdict.NOT_NOW : Verdict.NO_LUCK, "");
    }

    static Answer ask(List<String> command, String id) {
        try {
            return answer(command, id);
        } catch (Throwable e) { // a JVM doesn't start, if the JDK is just updated
            return new Answer(Verdict.CANT_TELL, "" + e);
        }
    }

    static Answer byVersion(Row row) {
        if (!row.span.contains(JDK)) return new Answer(Verdict.NOT_HERE, "");
        boolean isWindows = System.getProperty("os.name").startsWith("Windows");
        boolean isArm = System.getProperty("os.arch").equals("aarch64");
        if (row.when.startsWith(WINDOWS) && !isWindows || row.when.equals(ARM) && !isArm)
            return new Answer(Verdict.NOT_HERE, "only " + row.when);
        return new Answer(Verdict.MAY_BE, "");
    }

    /** A line for each kind, such as "Crash, not tried: JDK-8323792; fixed in 27". */
    static void kinds(Map<Row, Answer> found) {
        Map<String, List<String>> kinds = new LinkedHashMap<>();
        for (Harm harm : Harm.values()) {
            found.forEach((row, answer) -> {
                if (row.harm != harm || !answer.verdict.isHere()) return;
                String fix = row.fix().isEmpty() ? "" : "; " + row.fix();
                String kind = harm.words + answer.verdict.how + ": %s" + fix;
                kinds.computeIfAbsent(kind, first -> new ArrayList<>()).add(row.id);
            });
        }
        kinds.forEach((kind, ids) -> say(kind, String.join(", ", ids)));
        found.forEach((row, answer) -> {
            if (answer.verdict == Verdict.CANT_TELL) say("%s: %s", row.id, answer);
        });
    }

    /** The last line names the worst of those rows for which the exit code is true. */
    static Help decide(Map<Row, Answer> found) {
        Map<Help, List<Row>> rows = new EnumMap<>(Help.class);
        found.forEach((row, answer) -> {
            Help help = answer.verdict == Verdict.CANT_TELL ? Help.UNKNOWN
                : answer.verdict.isHere() ? row.span.help(JDK) : Help.NOT_NEEDED;
            rows.computeIfAbsent(help, first -> new ArrayList<>()).add(row);
        });
        Help help = Collections.min(rows.keySet());
        Harm worst = rows.get(help).stream().map(Row::harm).min(Harm::compareTo).get();
        String ids = help == Help.NOT_NEEDED ? "" : rows.get(help).stream()
            .filter(row -> row.harm == worst).map(Row::id)
            .collect(Collectors.joining(", ", ": ", ""));
        say("Exit code %d: %s%s; what to do: .github/field.md#on-the-newest-update",
            help.code, help.words, ids);
        return help;
    }

    // ----------------------------------------------------------------- a JVM for each row

    /** These open ports, leave files, or run commands. */
    static final String ONCE = "-(agentlib:jdwp|agentpath:.*jdwp|Xrunjdwp|Xlog|verbose"
        + "|Dcom.sun.management|XX:OnError|XX:OnOutOfMemoryError|XX:[+]HeapDump"
        + "|XX:StartFlightRecording|XX:ArchiveClassesAtExit|XX:[+]AutoCreate|XX:AOT).*";

    /** This JVM's options, except those that are meant for one JVM. */
    static List<String> command() throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.removeIf(option -> option.matches(ONCE));
        command.addAll(List.of("-XX:-CreateCoredumpOnCrash", "-XX:+ErrorFileToStdout",
            "-XX:CompileCommand=dontinline,KnownBugs::*", "-Dstdout.encoding=UTF-8",
            "-Djdk.virtualThreadScheduler.maxPoolSize=256",
            "-Djdk.virtualThreadScheduler.parallelism=" + CARRIERS, "-cp", classPath()));
        return command;
    }

    /** A source file's classes are in memory. In files, they needn't be compiled ten times. */
    static String classPath() throws Exception {
        if (KnownBugs.class.getClassLoader() == ClassLoader.getSystemClassLoader()) {
            return System.getProperty("java.class.path");
        }
        Path folder = Files.createTempDirectory("KnownBugs");
        folder.toFile().deleteOnExit();
        for (Class<?> one : KnownBugs.class.getNestMembers()) {
            Path file = folder.resolve(one.getName() + ".class");
            file.toFile().deleteOnExit();
            Files.write(file, bytes(one));
        }
        return "" + folder;
    }

    static byte[] bytes(Class<?> one) throws Exception {
        try (var in = one.getResourceAsStream("/" + one.getName() + ".class")) {
            return in.readAllBytes();
        }
    }

    /** What was on the stack proves which bug it is that crashed. Others prove nothing. */
    static final Map<String, String> CRASHES = Map.of(
        "JDK-8364343", "V .* GetThreadSnapshot\\w*Closure::.*",
        "JDK-8392031", "V .* ThreadSnapshot::initialize.*");

    /** The child's word, never its exit code, which means nothing: others end a JVM, too. */
    static Answer answer(List<String> command, String id) throws Exception {
        var builder = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true);
        builder.command().addAll(List.of("KnownBugs", CHILD, "" + CARRIERS, id));
        builder.environment().keySet().removeAll(List.of( // they're in the command
            "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        Process process = builder.start();
        CompletableFuture.delayedExecutor(100, TimeUnit.SECONDS)
            .execute(process.toHandle()::destroyForcibly);
        List<String> lines = process.inputReader(StandardCharsets.UTF_8).lines()
            .filter(line -> !line.isBlank()).toList();
        String last = lines.isEmpty() ? "exit code " + process.waitFor() : lines.getLast();
        for (String line : lines) {
            if (line.startsWith(SAYS)) return Answer.of(line.substring(SAYS.length()));
        }
        if (System.nanoTime() > end) return new Answer(Verdict.CANT_TELL, "too slow");
        if (!lines.contains(BEGUN))
            return new Answer(Verdict.CANT_TELL, "it doesn't start: " + last);
        if (lines.stream().noneMatch(line -> line.contains("A fatal error has been detected")))
            return new Answer(Verdict.CANT_TELL, "it ended: " + last);
        String crash = CRASHES.getOrDefault(id, "");
        boolean seen = lines.stream().anyMatch(line -> line.matches(crash));
        return seen ? new Answer(Verdict.SEEN, "a crash")
            : new Answer(Verdict.CANT_TELL, "another crash");
    }

    // ------------------------------------------------------------------------- in that JVM

    static final int CARRIERS = 2;
    static final String CHILD = "--child";
    static final String SAYS = "KnownBugs: ";
    static final String BEGUN = "KnownBugs has begun";

    /** Ends with its answer, or as its parent ends, which closes the input. */
    static void child(String carriers, String id) {
        Thread.ofPlatform().daemon().start(() -> {
            run(() -> System.in.read());
            Runtime.getRuntime().halt(2);
        });
        var answer = new Answer(Verdict.NOT_SEEN, "");
        try {
            countCarriers(Integer.parseInt(carriers));
            System.out.println(BEGUN);
            for (Row row : ROWS) {
                if (row.id.equals(id) && row.sees.call()) answer = new Answer(Verdict.SEEN, "");
            }
            if (failed != null) throw failed;
        } catch (Throwable e) {
            answer = new Answer(Verdict.CANT_TELL, switch (e) {
                case AssertionError x -> x.getMessage(); // needs Java 21 or newer: javac 17
                default -> "" + e; // to 20 stop at that line, and quote it
            });
        }
        System.out.println("\n" + SAYS + answer);
        Runtime.getRuntime().halt(0);
    }

    static void cantTellIf(boolean so, String why) { if (so) throw new AssertionError(why); }

    /**
     * Starts a thread per carrier that keeps it busy, and one that mustn't run. A carrier may
     * have been added just for a moment, so the number has to be right twice, and may be too
     * high twice.
     */
    static void countCarriers(int carriers) throws Exception {
        var running = new Semaphore(0);
        running.release(); // if a virtual thread loads the classes for it, it may add a carrier
        running.acquire();
        for (int right = 0, left = 3; right < 2; ) {
            List<Thread> threads = Stream.generate(() -> start(() -> {
                running.release();
                while (!go) Thread.onSpinWait();
            })).limit(carriers + 1).toList();
            boolean enough = running.tryAcquire(carriers, 10, TimeUnit.SECONDS);
            Thread.sleep(50);
            boolean tooMany = running.tryAcquire();
            if (tooMany) left--;
            cantTellIf(!enough || left == 0, "not " + carriers + " carriers");
            go = true;
            end(threads);
            go = false;
            running.drainPermits();
            right = tooMany ? 0 : right + 1;
        }
    }

    static String jcmd(String command, String... words) throws Exception {
        return "" + ManagementFactory.getPlatformMBeanServer().invoke(
            new javax.management.ObjectName("com.sun.management:type=DiagnosticCommand"),
            command, new Object[] {words}, new String[] {String[].class.getName()});
    }

    /** Calls until a compiler of that level has done it, or 10 s are over; says which. */
    static boolean warmUp(Job job, String method, String level) throws Exception {
        boolean compiled = false;
        String line = "\\d+ " + level + " 0 \\Q" + method + "(\\E.*"; // 0: in use
        for (long start = System.nanoTime(); !compiled && System.nanoTime() - start < 1e10; ) {
            for (int i = 0; i < 20_000; i++) job.run();
            compiled = jcmd("compilerCodelist").lines().anyMatch(one -> one.matches(line));
        }
        return compiled;
    }

    // ---------------------------------------------------------------- words of the programs

    static final ReentrantLock LOCK = new ReentrantLock();
    static volatile boolean go;
    static volatile Throwable failed; // of a job
    interface Job { void run() throws Exception; }

    static void run(Job job) {
        try {
            job.run();
        } catch (Throwable e) {
            failed = e;
        }
    }

    static Thread start(Job job) { return Thread.startVirtualThread(() -> run(job)); }

    /** False if none has ended for 60 waits: a JVM that's stopped for a while doesn't hang. */
    static boolean end(List<Thread> threads) throws InterruptedException {
        List<Thread> left = new ArrayList<>(threads);
        for (int waits = 0; !left.isEmpty() && waits < 60; waits++) {
            left.getFirst().join(100);
            if (left.removeIf(thread -> !thread.isAlive())) waits = 0;
        }
        return left.isEmpty();
    }

    static final Set<Thread.State> WAITS = EnumSet.of(Thread.State.WAITING,
        Thread.State.TIMED_WAITING, Thread.State.BLOCKED);

    /** Waits until all wait, and have done so for 200 ms. Returns how many wait. */
    static long settle(List<Thread> threads) throws InterruptedException {
        long waiting = 0;
        for (int looks = 0, still = 0; looks < 200 && still < 20 && failed == null; looks++) {
            Thread.sleep(10);
            waiting = threads.stream().filter(thread -> WAITS.contains(thread.getState()))
                .count();
            still = waiting == threads.size() ? still + 1 : 0;
        }
        return waiting;
    }

    static void rest() { while (!go) LockSupport.park(); }
    static synchronized void restInMonitor() { rest(); }
    static synchronized void restWithBoth() { restWithLock(); }

    /**
     * An owner, if there's one, rests without a carrier. Then as many as there are carriers
     * wait for it where they can't unmount. The owner is woken, and finds no carrier.
     */
    static boolean hangs(Job owner, Job waiter, Job wake) throws Exception {
        List<Thread> threads = new ArrayList<>();
        if (owner != null) threads.add(start(owner));
        cantTellIf(settle(threads) < threads.size(), "too slow");
        for (int i = 0; i < CARRIERS; i++) threads.add(start(waiter));
        long waiting = settle(threads);
        if (failed != null) throw new ExecutionException(failed);
        boolean allThere = threads.stream().allMatch(Thread::isAlive);
        go = true;
        if (owner != null) LockSupport.unpark(threads.getFirst());
        wake.run();
        boolean hangs = !end(threads);
        // if the owner keeps its carrier, as up to 23, only one of the others finds one
        boolean ready = allThere && waiting >= CARRIERS;
        cantTellIf(!hangs && !ready, "they don't wait, or too slow");
        return hangs;
    }

    static Job inside;
    static class Initialized { static { KnownBugs.run(inside); } }

    /** In a class initializer, threads are pinned. A hidden class is new each time. */
    static Job initializing(Job job) {
        inside = job;
        return () -> MethodHandles.lookup().defineHiddenClass(bytes(Initialized.class), true);
    }

    static void restWithLock() {
        LOCK.lock();
        rest();
        LOCK.unlock();
    }

    // ------------------------------------------------------------------------------ bugs

    static class Base { int answer() { return 1; } }
    static class Derived extends Base { @Override int answer() { return 2; } }
    static Base base = new Base();
    static int result;

    static boolean isWrong(List<Thread> threads, boolean compiled) throws InterruptedException {
        cantTellIf(!end(threads) || result == 0, "it hangs, or never ran");
        cantTellIf(!compiled && result == base.answer(), "not compiled");
        return result != base.answer();
    }

    static void fails() {
        rest();
        throw new IllegalStateException();
    }

    static void catches() {
        try {
            fails();
        } catch (IllegalStateException e) {
            result = base.answer();
        }
    }

    /**
     * While Base has no subclass, catches() is compiled so that it calls Base's method itself.
     * Derived makes that code invalid, but a thread that rests without a carrier isn't told; it
     * sees that if its call returns, and doesn't if its call throws.
     */
    static boolean catchesInOldCode() throws Exception {
        go = true;
        boolean compiled = warmUp(KnownBugs::catches, "KnownBugs.catches", "[14]");
        go = false;
        List<Thread> threads = List.of(start(KnownBugs::catches));
        cantTellIf(settle(threads) == 0, "too slow");
        base = new Derived();
        go = true;
        LockSupport.unpark(threads.getFirst());
        return isWrong(threads, compiled);
    }

    static synchronized void locks() { result = base.answer(); }

    /**
     * The same, but the thread waits for a monitor. It isn't told if all of its stack is
     * compiled, so 20,000 threads go first, all with one job: its class has code, too.
     */
    static boolean locksInOldCode() throws Exception {
        Job job = KnownBugs::locks;
        boolean compiled = warmUp(job, "KnownBugs.locks", "[14]")
            && warmUp(() -> start(job).join(), "java.lang.VirtualThread.run", "[1-4]");
        List<Thread> threads = new ArrayList<>();
        synchronized (KnownBugs.class) {
            threads.add(start(job));
            cantTellIf(settle(threads) == 0, "too slow");
            base = new Derived();
        }
        return isWrong(threads, compiled);
    }

    /** The JVM dies as it asks threads where they are. */
    static boolean diesOfDumps() throws Exception {
        for (int i = 0; i < 40; i++) {
            start(() -> {
                for (;; Thread.yield()) LockSupport.parkNanos(1_000);
            });
        }
        for (int i = 0; i < 100; i++) {
            String said = jcmd("threadDumpToFile", "-overwrite", "/dev/null");
            cantTellIf(!said.startsWith("Created"), said);
        }
        return false;
    }

    /**
     * The JVM dies as it asks a carrier what it waits for, if a virtual thread is mounted there
     * just then. Monitors ask so, as Micrometer's jvm.threads.states does. A JVM that dies
     * mostly does so in the first second.
     */
    static boolean diesOfPolls() throws Exception {
        var free = new Semaphore(5_000);
        Thread.ofPlatform().daemon().start(() -> {
            for (;;) {
                free.acquireUninterruptibly();
                start(() -> {
                    Thread.sleep(1);
                    free.release();
                });
            }
        });
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long polls = 0;
        for (long begin = System.nanoTime(); System.nanoTime() - begin < 1e9; polls++) {
            threads.getThreadInfo(threads.getAllThreadIds());
        }
        cantTellIf(polls < 1_000, "too slow");
        return false;
    }

    static synchronized void await() throws Exception { KnownBugs.class.wait(); }
    static synchronized void wakeAll() { KnownBugs.class.notifyAll(); }

    /** The first to wait is the next owner, and finds no carrier. */
    static boolean notifiesAll() throws Exception {
        return hangs(KnownBugs::await, initializing(KnownBugs::await), KnownBugs::wakeAll);
    }

    /**
     * A thread is woken 40 to 100 us after its timer was due, and waits again. It takes two
     * processors, and C2 mustn't have compiled it yet, so there are many JVMs with few rounds.
     */
    static boolean staysParked() throws Exception {
        cantTellIf(Runtime.getRuntime().availableProcessors() == 1, "one processor");
        cantTellIf((System.getProperty("java.vm.info") + jcmd("vmFlags"))
            .matches("(?s).*(interpreted|client|quick|AtLevel=[0-3]).*"), "lacks a compiler");
        long start = System.nanoTime();
        for (int i = 0; i < 1_000; i++) {
            long wait = 140_000 + i * 7_919 % 60_000; // 7,919 is prime: evenly spread
            long begin = System.nanoTime();
            var permit = new Semaphore(0);
            Thread thread = start(() -> {
                LockSupport.parkNanos(begin + 100_000 - System.nanoTime());
                permit.acquireUninterruptibly();
            });
            while (System.nanoTime() - begin < wait) Thread.onSpinWait();
            LockSupport.unpark(thread);
            LockSupport.parkNanos(100_000);
            permit.release();
            if (!end(List.of(thread))) return true;
        }
        cantTellIf(System.nanoTime() - start > 2_500_000_000L, "too slow"); // quiet: under 1 s
        return false;
    }

    /**
     * Timers are a heap, in which 1 to 4 are below 0, and 5 to 8 below 1. As 5 is cancelled, 9
     * takes its place: 3 s below an hour. It should move up, but doesn't, even when others end.
     */
    static boolean losesTimer() throws Exception {
        List<Thread> threads = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            boolean soon = List.of(0, 2, 3, 4, 9).contains(i);
            long ns = TimeUnit.SECONDS.toNanos(soon ? 3 : 3_600);
            if (i == 10) LockSupport.unpark(threads.get(5)); // cancels its timer
            else threads.add(start(() -> LockSupport.parkNanos(ns)));
            Thread.sleep(50); // until the heap has it
        }
        cantTellIf(System.nanoTime() - begin > 1_600_000_000L, "too slow"); // 1 s if prompt
        return !end(List.of(threads.get(9)));
    }

    static boolean yieldTakesPermit() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            Thread thread = start(() -> {
                LockSupport.unpark(Thread.currentThread());
                Thread.yield();
                LockSupport.park();
            });
            if (!end(List.of(thread))) return true;
        }
        return false;
    }

    // ------------------------------------------------------------------------ known limits

    static final int SENT = 8 << 20; // bytes; more than sockets buffer
    interface Send { long to(SocketChannel socket) throws IOException; }

    /** Whether a virtual thread sends less than all while, at first, nobody reads. */
    static boolean sendsLess(Send send) throws Exception {
        var local = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        var connected = new CountDownLatch(1); // a connect may wait, too
        try (var server = ServerSocketChannel.open().bind(local)) {
            var sent = new FutureTask<>(() -> {
                try (var socket = SocketChannel.open(server.getLocalAddress())) {
                    connected.countDown();
                    return send.to(socket);
                }
            });
            Thread sender = Thread.startVirtualThread(sent);
            try (var reader = server.accept()) {
                connected.await();
                boolean waits = settle(List.of(sender)) > 0; // who sends less has ended
                cantTellIf(!waits && !sent.isDone(), "too slow");
                cantTellIf(!waits && sent.get() == SENT, "the socket buffers all");
                var buffer = ByteBuffer.allocate(1 << 16);
                while (reader.read(buffer.clear()) >= 0) { }
            }
            return sent.get() < SENT;
        }
    }

    /** By its javadoc, it writes all. The JDK makes a virtual thread's socket non-blocking. */
    static long write(SocketChannel socket) throws IOException {
        return socket.write(ByteBuffer.allocate(SENT));
    }

    /** By its javadoc, it gives 0 only at the file's end, or in non-blocking mode. */
    static long transfer(SocketChannel socket) throws IOException {
        Path path = Files.createTempFile("KnownBugs", "");
        try (var file = FileChannel.open(path, StandardOpenOption.WRITE,
                StandardOpenOption.READ, StandardOpenOption.DELETE_ON_CLOSE)) {
            file.write(ByteBuffer.allocate(1), SENT - 1);
            long at = 0;
            for (long some; (some = file.transferTo(at, SENT - at, socket)) > 0; ) at += some;
            return at;
        }
    }

    static volatile long turns; // roughly: several threads count, without a lock

    /** Whether one of eight that platform threads start gets no turn beside these jobs. */
    static boolean starves(List<Job> jobs) throws Exception {
        jobs.forEach(KnownBugs::start);
        Thread.sleep(300);
        long before = turns;
        List<Thread> others = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            var starts = new FutureTask<>(() -> start(() -> { }));
            Thread.ofPlatform().start(starts);
            others.add(starts.get());
        }
        boolean starves = !end(others);
        cantTellIf(before < 1_000 || starves && turns - before < 1_000, "too slow");
        return starves;
    }

    static void handOver(Semaphore mine, Semaphore yours) throws InterruptedException {
        while (!go) {
            mine.acquire();
            yours.release();
            turns++;
        }
    }

    /**
     * A carrier runs its own queue before what platform threads submit. A thread that's woken
     * by another of the same carrier gets into that queue, so a pair keeps it from being empty,
     * though each of the two waits at every turn.
     */
    static boolean handOffsStarve() throws Exception {
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < CARRIERS; i++) {
            var ping = new Semaphore(1);
            var pong = new Semaphore(0);
            jobs.add(() -> handOver(ping, pong));
            jobs.add(() -> handOver(pong, ping));
        }
        return starves(jobs);
    }

    static void yields() {
        while (!go) {
            Thread.yield();
            turns++;
        }
    }

    /**
     * A thread that yields enters a shared queue if its carrier's own one is empty, to be fair
     * to what platform threads start (JDK-8296896, in 20). From 25 on, a carrier that finds
     * work in such a queue looks there again, so those in another one wait for good (loom#226;
     * JDK-8373118 is about that look). On 21, too, a carrier goes back to the queue in which it
     * found something. But a fresh JVM with two carriers has only two such queues, and two
     * loops use both. Once it has added a carrier, as it does for Object.wait, there are four,
     * and some others wait, if no third carrier happens to stay awake.
     */
    static boolean yieldsStarve() throws Exception {
        Job waits = () -> {
            synchronized (LOCK) {
                LOCK.wait(200);
            }
        };
        List<Thread> waiting = Stream.generate(() -> start(waits)).limit(CARRIERS).toList();
        cantTellIf(!end(waiting), "too slow");
        Thread.sleep(500); // until the added carrier is idle
        return starves(Collections.nCopies(CARRIERS, KnownBugs::yields));
    }

    /** Since 22, on Linux, virtual threads poll the sockets, and find no carrier. */
    static boolean initSocket() throws Exception {
        try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(10_000);
            Job reads = () -> {
                try (var socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    socket.getInputStream().read();
                }
            };
            return hangs(null, initializing(reads), () -> {
                for (int i = 0; i < CARRIERS; i++) server.accept().getOutputStream().write(1);
            });
        }
    }

    /** Since 24, the owner of a monitor rests without a carrier, as a lock's does. */
    static boolean initializersHang(Job rests) throws Exception {
        return hangs(rests, initializing(rests), () -> { });
    }

    /** It's the JVM that calls loadClass, so threads are pinned there. */
    static boolean loaderLock() throws Exception {
        class Loader extends ClassLoader {
            @Override public Class<?> loadClass(String name) throws ClassNotFoundException {
                restWithLock();
                return super.loadClass(name);
            }
        }
        Job loads = () -> Class.forName("java.lang.Object", false, new Loader());
        return hangs(KnownBugs::restWithLock, loads, () -> { });
    }

    /** Up to 23, threads in synchronized are pinned. */
    static boolean lockInside() throws Exception {
        return hangs(KnownBugs::restWithLock, KnownBugs::restWithBoth, () -> { });
    }
}
