// SPDX-License-Identifier: MIT-0
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.*;
import java.util.regex.Pattern;
import java.util.stream.*;
import javax.management.ObjectName;

/**
 * Which known bugs of virtual threads does this JDK have, and which known limits?
 *
 *     java KnownBugs.java
 *     java KnownBugs.java JDK-8389310 init-lock
 *     java KnownBugs.java --help
 *
 * The first tries all rows, in one to two minutes, the second those named, each in a JVM of its
 * own, with the options of this one; the third lists them. For a runtime without a compiler,
 * compile elsewhere, by javac --release 21 -d out KnownBugs.java; run java -cp out KnownBugs.
 *
 * A script reads the last line, and the exit code:
 *
 *     1   a bug was seen that an update is free of; or standard output is full or closed
 *     3   else, some row can't tell
 *     4   else, what was seen is mended by no update: a wrong result, or a known limit
 *     0   nothing was seen, and every row could tell; what takes luck may be missed
 *     2   nothing was tried
 */
class KnownBugs {
    /** What takes luck is tried in several JVMs, until one shows it. */
    record Row(String id, String what, String when, String has, String free, int jvms,
               Callable<Boolean> sees) { }

    static final String NONE = "no update yet, as of 2026-11-26";
    static final List<Row> BUGS = List.of(
        new Row("JDK-8389310", "a wrong result in a catch", "if a class was loaded meanwhile",
            "21 to 27", NONE, 1, KnownBugs::catchesInOldCode),
        new Row("JDK-8390240", "a wrong result in synchronized", "if a class was loaded",
            "24 to 27", NONE, 1, KnownBugs::locksInOldCode),
        new Row("JDK-8364343", "a thread dump crashes the JVM", "while virtual threads move",
            "25", "mended in 26", 3, KnownBugs::diesOfDumps),
        new Row("JDK-8369019", "pinned threads hang", "after notifyAll, for an unmounted one",
            "24, 25", "mended in 26", 1, KnownBugs::notifiesAll),
        new Row("JDK-8369227", "a woken thread stays parked", "as its timed wait ends",
            "25 to 25.0.2, 26", "mended in 25.0.3, 26.0.1", 15, KnownBugs::staysParked),
        new Row("JDK-8370887", "a timer is lost", "as another one is cancelled",
            "25 to 25.0.2", "mended in 25.0.3, 26", 1, KnownBugs::losesTimer),
        new Row("JDK-8321270", "yield takes a permit", "so that park waits",
            "21 to 21.0.2", "mended in 21.0.4", 1, KnownBugs::yieldTakesPermit));

    static final String YIELD = "yield"; // on one carrier, all others on two
    static final String LIMIT = "a known limit";
    static final List<Row> LIMITS = List.of(
        new Row(YIELD, "what yielding threads starve", "on the only carrier", "from 25",
            LIMIT, 1, KnownBugs::yieldStarves),
        new Row("init-socket", "class initializers, sockets", "that nobody polls", "from 22",
            LIMIT, 1, KnownBugs::initSocket),
        new Row("init-monitor", "class initializers, a monitor", "and its owner", "from 24",
            LIMIT, 1, KnownBugs::initMonitor),
        new Row("init-lock", "class initializers, a lock", "and its owner", "21 to 27",
            LIMIT, 1, KnownBugs::initLock),
        new Row("loader-lock", "class loaders, a lock", "and its owner", "21 to 27",
            LIMIT, 1, KnownBugs::loaderLock),
        new Row("lock-inside", "a lock inside synchronized", "and its owner", "up to 23",
            LIMIT, 1, KnownBugs::lockInside));
    static final List<Row> ROWS = Stream.concat(BUGS.stream(), LIMITS.stream()).toList();

    public static void main(String[] args) throws Exception {
        List<String> words = List.of(args);
        if (words.size() == 3 && words.contains(CHILD)) {
            child(Integer.parseInt(words.get(1)), words.getLast());
        }
        if (words.equals(List.of("--help"))) help();
        for (String word : words) {
            if (ROWS.stream().noneMatch(row -> row.id.equals(word)))
                stop(2, "not understood: '" + word + "', try --help");
        }
        try {
            System.exit(report(words));
        } catch (java.io.IOException | LinkageError e) { // no temporary folder, a module less
            stop(2, "" + e);
        }
    }

    static void stop(int code, String why) {
        System.err.println("KnownBugs: " + why);
        System.exit(code);
    }

    static void say(String format, Object... values) {
        System.out.printf(Locale.ROOT, format + "%n", values);
        if (System.out.checkError()) stop(1, "standard output is full or closed");
    }

    static void help() {
        say("java KnownBugs.java [ROW...]%n");
        for (Row row : ROWS) {
            say("%-12s %s, %s; %s; %s", row.id, row.what, row.when, row.has, row.free);
        }
        System.exit(0);
    }

    // --------------------------------------------------------------------------- the report

    static final String LINE = "| %-12s | %-28.28s | %-30s |";
    static final Map<String, String> TOLD = new LinkedHashMap<>(); // rows, by what helps

    /** Prints the rows as they come, and the last line; returns the exit code. */
    static int report(List<String> words) throws Exception {
        List<String> command = command();
        String nothing = answer(command, "");
        if (!nothing.equals(NOT_SEEN)) stop(2, "a JVM with these options " + nothing);
        say("Java %s, %s, %s, processors: %d, %s", Runtime.version(),
            System.getProperty("java.vendor"), System.getProperty("os.name"),
            Runtime.getRuntime().availableProcessors(), java.time.LocalDate.now());
        List<Row> rows = new ArrayList<>(ROWS);
        rows.removeIf(row -> !words.isEmpty() && !words.contains(row.id));
        table("Bug", BUGS, rows, command);
        table("Known limit", LIMITS, rows, command);
        List<String> helps = new ArrayList<>(TOLD.keySet());
        helps.removeAll(List.of(NONE, LIMIT, CANT_TELL));
        List<String> parts = new ArrayList<>();
        if (helps.isEmpty()) parts.add("No bug was seen that an update mends");
        TOLD.forEach((help, ids) -> parts.add(ids + ": " + help));
        say("%n%s. What to do: .github/field.md#on-the-newest-update",
            String.join("; ", parts));
        if (!helps.isEmpty()) return 1;
        if (TOLD.containsKey(CANT_TELL)) return 3;
        return TOLD.isEmpty() ? 0 : 4;
    }

    /** Its rows fit into 80 columns. A reason that doesn't comes in full beside it. */
    static void table(String kind, List<Row> some, List<Row> rows, List<String> command)
            throws Exception {
        List<Row> wanted = new ArrayList<>(some);
        wanted.retainAll(rows);
        if (wanted.isEmpty()) return;
        say("%n" + LINE, kind, "Here", "What happens");
        say(LINE, ":--", ":--", ":--");
        for (Row row : wanted) {
            System.err.println(rows.indexOf(row) + 1 + " of " + rows.size() + ": " + row.id);
            String verdict = verdict(row, command);
            if (verdict.length() > 28) System.err.println(row.id + ": " + verdict);
            say(LINE, row.id, verdict.replaceAll("[|\\s\\p{Cntrl}]+", " "), row.what);
            String help = verdict.startsWith(CANT_TELL) ? CANT_TELL : row.free;
            if (!verdict.startsWith(NOT_SEEN)) TOLD.merge(help, row.id, (a, b) -> a + ", " + b);
        }
    }

    // ----------------------------------------------------------------- a JVM for each row

    static final String NOT_SEEN = "not seen";
    static final String CANT_TELL = "can't tell";

    /** This JVM's options, but for ports, and for what leaves files or calls for help. */
    static List<String> command() throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.removeIf(option -> option.startsWith("-agentlib:jdwp")
            || option.startsWith("-Xrunjdwp") || option.startsWith("-XX:OnError")
            || option.startsWith("-Dcom.sun.management"));
        command.addAll(List.of("-XX:-CreateCoredumpOnCrash", "-XX:+ErrorFileToStdout",
            "-XX:CompileCommand=dontinline,KnownBugs::*",
            "-Djdk.virtualThreadScheduler.maxPoolSize=256", "-cp", classPath()));
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

    static String verdict(Row row, List<String> command) throws Exception {
        String verdict = NOT_SEEN;
        for (int i = 0; i < row.jvms && verdict.equals(NOT_SEEN); i++) {
            verdict = answer(command, row.id);
        }
        boolean luck = row.jvms > 1 && verdict.equals(NOT_SEEN);
        return luck ? "not seen (takes luck)" : verdict;
    }

    /** The child's word, never its exit code, which means nothing: others end a JVM, too. */
    static String answer(List<String> command, String id) throws Exception {
        var builder = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true);
        String carriers = id.equals(YIELD) ? "1" : "2";
        builder.command().addAll(List.of("-Djdk.virtualThreadScheduler.parallelism=" + carriers,
            "KnownBugs", CHILD, carriers, id));
        builder.environment().keySet().removeAll(List.of( // they're in the command
            "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"));
        Process process = builder.start();
        var late = CompletableFuture.supplyAsync(process.toHandle()::destroyForcibly,
            CompletableFuture.delayedExecutor(100, TimeUnit.SECONDS));
        List<String> lines = process.inputReader().lines().filter(line -> !line.isBlank())
            .toList();
        String last = lines.isEmpty() ? "exit code " + process.waitFor() : lines.getLast();
        Files.deleteIfExists(dump(process.pid()));
        if (last.startsWith(SAYS)) return last.substring(SAYS.length());
        if (late.isDone()) return "can't tell: too slow";
        if (!lines.contains(BEGUN)) return "can't tell: it doesn't start: " + last;
        if (lines.stream().noneMatch(line -> line.contains("A fatal error has been detected")))
            return "can't tell: it ended: " + last;
        return lines.stream().anyMatch(line -> line.matches("V .*ThreadSnapshot.*"))
            ? "seen: a crash" : "can't tell: another crash"; // than that of JDK-8364343
    }

    /** Where a child of this number dumps its threads. It may die of that. */
    static Path dump(long pid) {
        return Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath()
            .resolve("KnownBugs" + pid);
    }

    // ------------------------------------------------------------------------- in that JVM

    static final String CHILD = "--child";
    static final String SAYS = "KnownBugs: ";
    static final String BEGUN = "KnownBugs has begun";

    /** Ends with its answer, or as its parent ends, which closes the input. */
    static void child(int carriers, String id) {
        Thread.ofPlatform().daemon().start(() -> {
            run(() -> System.in.read());
            Runtime.getRuntime().halt(2);
        });
        String answer = NOT_SEEN;
        try {
            countCarriers(carriers);
            System.out.println(BEGUN);
            for (Row row : ROWS) {
                if (row.id.equals(id) && row.sees.call()) answer = "seen";
            }
            if (failed != null) throw failed;
        } catch (Throwable e) {
            answer = "can't tell: " + switch (e) { // javac 17 to 20 stop here, and quote this:
                case AssertionError x -> x.getMessage(); // it needs Java 21 or newer
                default -> e;
            };
        }
        System.out.println("\n" + SAYS + answer);
        Runtime.getRuntime().halt(0);
    }

    static void cantTellIf(boolean so, String why) {
        if (so) throw new AssertionError(why);
    }

    /** By threads that keep them busy, one more than there should be. */
    static void countCarriers(int carriers) throws Exception {
        var running = new AtomicInteger();
        List<Thread> threads = Stream.generate(() -> start(() -> {
            running.incrementAndGet();
            while (!go) Thread.onSpinWait();
        })).limit(carriers + 1).toList();
        for (int i = 0; i < 1_000 && running.get() < carriers; i++) Thread.sleep(10);
        Thread.sleep(50);
        int counted = running.get();
        go = true;
        cantTellIf(!end(threads) || counted != carriers, "not " + carriers + " carriers");
        go = false;
    }

    /** Whether the JVM runs compiled code of all these methods. */
    static boolean areCompiled(String levels, String... methods) throws Exception {
        String code = "" + ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "compilerCodelist",
            new Object[0], new String[0]); // "267 4 0 KnownBugs.answer(": level 4, in use
        return Stream.of(methods).allMatch(method -> Pattern.compile(
            " " + levels + " 0 " + Pattern.quote(method + "(")).matcher(code).find());
    }

    /** Calls until the method runs as its last compiler has it; returns whether it does. */
    static boolean warmUp(Job job, String method) throws Exception {
        boolean compiled = false;
        for (int round = 0; round < 100 && !compiled; round++) {
            for (int i = 0; i < 30_000; i++) job.run();
            compiled = areCompiled("[14]", method);
        }
        return compiled;
    }

    // ---------------------------------------------------------------- words of the programs

    static final String VM = System.getProperty("java.vm.info");
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

    /**
     * Whether the threads end. If none does for a second, they have ten more, counted in waits
     * of 100 ms: a JVM that was stopped isn't taken for one that hangs.
     */
    static boolean end(List<Thread> threads) throws InterruptedException {
        List<Thread> left = new ArrayList<>(threads);
        for (int waits = 0; !left.isEmpty() && waits < 110; waits++) {
            left.getFirst().join(100);
            if (left.removeIf(thread -> !thread.isAlive())) waits = 0;
        }
        return left.isEmpty();
    }

    /** Waits until all wait, and have done so for 200 ms; returns whether they do. */
    static boolean settle(List<Thread> threads) throws InterruptedException {
        int still = 0;
        for (int looks = 0; looks < 200 && still < 20; looks++) {
            Thread.sleep(10);
            still = threads.stream().map(Thread::getState)
                .anyMatch(Thread.State.RUNNABLE::equals) ? 0 : still + 1;
        }
        return still == 20;
    }

    static void rest() { while (!go) LockSupport.park(); }

    /**
     * All deadlocks: an owner rests without a carrier. Then as many as there are carriers wait
     * for it where they can't unmount. The owner is woken, and finds no carrier.
     */
    static boolean hangs(Job owner, Job waiter, Job wake) throws Exception {
        List<Thread> threads = new ArrayList<>(List.of(start(owner)));
        settle(threads);
        threads.add(start(waiter));
        threads.add(start(waiter));
        boolean settled = settle(threads); // on some JDKs, one finds no carrier
        go = true;
        LockSupport.unpark(threads.getFirst());
        wake.run();
        boolean hangs = !end(threads);
        cantTellIf(!hangs && !settled, "too slow");
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

    /** The thread waits. Derived makes its code invalid. Does it go on in that code? */
    static boolean isWrong(List<Thread> thread, boolean compiled) throws InterruptedException {
        cantTellIf(!end(thread), "it hangs");
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
     * While Base has no subclass, catches() is compiled so that it calls Base's method directly.
     * Derived makes that code invalid, but a thread that rests without a carrier isn't told; it
     * sees that if its call returns, and doesn't if its call throws.
     */
    static boolean catchesInOldCode() throws Exception {
        go = true;
        boolean compiled = warmUp(KnownBugs::catches, "KnownBugs.catches");
        go = false;
        List<Thread> thread = List.of(start(KnownBugs::catches));
        cantTellIf(!settle(thread), "too slow");
        base = new Derived();
        go = true;
        LockSupport.unpark(thread.getFirst());
        return isWrong(thread, compiled);
    }

    static synchronized void locks() { result = base.answer(); }

    /**
     * The same, but the thread waits for a monitor. It isn't told if all of its stack is
     * compiled, so 20,000 threads go first, all with one job: its class has code, too.
     */
    static boolean locksInOldCode() throws Exception {
        Job job = KnownBugs::locks;
        boolean compiled = warmUp(job, "KnownBugs.locks");
        for (int round = 0; round < 10; round++) {
            cantTellIf(!end(Stream.generate(() -> start(job)).limit(2_000).toList()), "it hangs");
        }
        compiled &= areCompiled("[1-4]", "KnownBugs.run", "java.lang.VirtualThread.run",
            "jdk.internal.vm.Continuation.enter");
        List<Thread> thread = new ArrayList<>();
        synchronized (KnownBugs.class) {
            thread.add(start(job));
            cantTellIf(!settle(thread), "too slow");
            base = new Derived();
        }
        return isWrong(thread, compiled);
    }

    /** The JVM may die as it asks threads where they are. */
    static boolean diesOfDumps() throws Exception {
        var bean = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        for (int i = 0; i < 40; i++) {
            start(() -> {
                while (true) {
                    Thread.yield();
                    LockSupport.parkNanos(1_000);
                }
            });
        }
        Path file = dump(ProcessHandle.current().pid());
        long begin = System.nanoTime();
        int dumps = 0;
        while (System.nanoTime() - begin < 3_000_000_000L) {
            bean.dumpThreads("" + file, HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            Files.delete(file);
            dumps++;
        }
        cantTellIf(dumps < 10, "too slow");
        return false;
    }

    static synchronized void await() throws Exception { KnownBugs.class.wait(); }
    static synchronized void wakeAll() { KnownBugs.class.notifyAll(); }

    /** The first to wait is the next owner, and finds no carrier. */
    static boolean notifiesAll() throws Exception {
        return hangs(KnownBugs::await, initializing(KnownBugs::await), KnownBugs::wakeAll);
    }

    /**
     * A thread is woken just as its timer ends, and waits again. That takes two processors, and
     * code not compiled yet, so many JVMs with few rounds. A round wakes it 40 to 100 us after
     * its wait should have ended. With one compiler, or none, it's rarely seen.
     */
    static boolean staysParked() throws Exception {
        cantTellIf(Runtime.getRuntime().availableProcessors() == 1, "one processor");
        cantTellIf(VM.contains("interpreted"), "interpreted");
        cantTellIf(VM.contains("emulated-client"), "a single compiler"); // TieredStopAtLevel=1
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
     * takes its place: 3 s below an hour. It should move up, and doesn't. As 0, 2, 3 and 4 end,
     * later ones take their places, so that 9 stays where it is.
     */
    static boolean losesTimer() throws Exception {
        List<Thread> threads = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            boolean soon = List.of(0, 2, 3, 4, 9).contains(i);
            long ns = TimeUnit.SECONDS.toNanos(soon ? 3 : 3_600);
            if (i == 10) LockSupport.unpark(threads.get(5)); // cancels its timer
            else threads.add(start(() -> LockSupport.parkNanos(ns)));
            Thread.sleep(20); // until the heap has it
        }
        cantTellIf(System.nanoTime() - begin > 2_500_000_000L, "too slow");
        Thread.sleep(3_000);
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

    /** From 25 on, what a platform thread starts is in a queue that nobody looks at. */
    static boolean yieldStarves() throws Exception {
        start(() -> {
            while (!go) Thread.yield();
        });
        Thread.sleep(200);
        return !end(List.of(start(() -> go = true)));
    }

    /** Since 22, those that poll sockets are virtual threads, on Linux, and find no carrier. */
    static boolean initSocket() throws Exception {
        try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Job reads = () -> {
                try (var socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    socket.getInputStream().read();
                }
            };
            return hangs(() -> { }, initializing(reads), () -> {
                server.accept().getOutputStream().write(1);
                server.accept().getOutputStream().write(1);
            });
        }
    }

    static synchronized void restInMonitor() { rest(); }

    /** Since 24, the owner of a monitor rests without a carrier. */
    static boolean initMonitor() throws Exception {
        Job rests = KnownBugs::restInMonitor;
        return hangs(rests, initializing(rests), () -> { });
    }

    static boolean initLock() throws Exception {
        return hangs(KnownBugs::restWithLock, initializing(KnownBugs::restWithLock), () -> { });
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
        return hangs(KnownBugs::restWithLock, () -> {
            synchronized (new Object()) {
                restWithLock();
            }
        }, () -> { });
    }
}
