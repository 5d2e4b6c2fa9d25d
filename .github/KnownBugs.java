// SPDX-License-Identifier: MIT-0
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.net.*;
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
        new Row("JDK-8390240", "a wrong result in synchronized", "as a class is loaded",
            "24 to 27", NONE, 3, KnownBugs::locksInOldCode),
        new Row("JDK-8364343", "a thread dump crashes the JVM", "while virtual threads move",
            "25", "mended in 26", 3, KnownBugs::diesOfDumps),
        new Row("JDK-8369019", "pinned threads wait for good", "after notifyAll, for another",
            "24, 25", "mended in 26", 1, KnownBugs::notifiesAll),
        new Row("JDK-8369227", "a woken thread stays parked", "as its timed wait ends",
            "25 to 25.0.2, 26", "mended in 25.0.3, 26.0.1", 15, KnownBugs::staysParked),
        new Row("JDK-8370887", "a timer is lost", "as another one is cancelled",
            "25 to 25.0.2", "mended in 25.0.3, 26", 2, KnownBugs::losesTimer),
        new Row("JDK-8321270", "yield takes a permit", "so that park waits",
            "21 to 21.0.2", "mended in 21.0.4", 1, KnownBugs::yieldTakesPermit));

    static final String LIMIT = "a known limit";
    static final List<Row> LIMITS = List.of(
        new Row("yield", "yielding threads starve others", "on the only carrier",
            "from 25", LIMIT, 1, KnownBugs::yieldStarves),
        new Row("init-socket", "static {} waits for a socket", "whose poller has no carrier",
            "from 22", LIMIT, 1, KnownBugs::initSocket),
        new Row("init-monitor", "static {} waits for a monitor", "whose owner has no carrier",
            "from 24", LIMIT, 1, () -> initializersHang(KnownBugs::restInMonitor)),
        new Row("init-lock", "static {} waits for a lock", "whose owner has no carrier",
            "21 to 27", LIMIT, 1, () -> initializersHang(KnownBugs::restWithLock)),
        new Row("loader-lock", "class loader waits for a lock", "whose owner has no carrier",
            "21 to 27", LIMIT, 1, KnownBugs::loaderLock),
        new Row("lock-inside", "synchronized waits for a lock", "whose owner has no carrier",
            "up to 23", LIMIT, 1, KnownBugs::lockInside));
    static final List<Row> ROWS = Stream.concat(BUGS.stream(), LIMITS.stream()).toList();

    public static void main(String[] args) throws Exception {
        List<String> words = List.of(args);
        if (words.size() == 3 && words.contains(CHILD)) child(words.get(1), words.get(2));
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
        if (!nothing.equals("not seen")) stop(2, "a JVM with these options " + nothing);
        say("Java %s, %s, %s, processors: %d, %s", Runtime.version(),
            System.getProperty("java.vendor"), System.getProperty("os.name"),
            Runtime.getRuntime().availableProcessors(), java.time.LocalDate.now());
        List<Row> rows = new ArrayList<>(ROWS);
        rows.removeIf(row -> !words.isEmpty() && !words.contains(row.id));
        table("Bug", BUGS, rows, command);
        table("Known limit", LIMITS, rows, command);
        List<String> helps = new ArrayList<>(TOLD.keySet());
        helps.removeAll(List.of(NONE, LIMIT, "can't tell"));
        String last = helps.isEmpty() ? "No bug was seen that an update mends; " : "";
        for (String help : TOLD.keySet()) last += TOLD.get(help) + ": " + help + "; ";
        say("%n%swhat to do: .github/field.md#on-the-newest-update", last);
        if (!helps.isEmpty()) return 1;
        if (TOLD.containsKey("can't tell")) return 3;
        return TOLD.isEmpty() ? 0 : 4;
    }

    /** Its rows fit into 80 columns. System.err has what's cut in full. */
    static void table(String kind, List<Row> some, List<Row> rows, List<String> command)
            throws Exception {
        if (Collections.disjoint(some, rows)) return;
        say("%n" + LINE + "%n" + LINE, kind, "Here", "What happens", ":--", ":--", ":--");
        for (Row row : some) {
            if (!rows.contains(row)) continue;
            System.err.println(rows.indexOf(row) + 1 + " of " + rows.size() + ": " + row.id);
            String verdict = "not seen";
            for (int i = 0; i < row.jvms && verdict.equals("not seen"); i++) {
                verdict = answer(command, row.id);
            }
            if (row.jvms > 1 && verdict.equals("not seen")) verdict += " (takes luck)";
            if (verdict.length() > 28) System.err.println(row.id + ": " + verdict);
            say(LINE, row.id, verdict.replaceAll("[|\\s\\p{Cntrl}]+", " "), row.what);
            if (verdict.startsWith("not seen")) continue;
            String help = verdict.startsWith("seen") ? row.free : "can't tell";
            TOLD.merge(help, row.id, (a, b) -> a + ", " + b);
        }
    }

    // ----------------------------------------------------------------- a JVM for each row

    /** This JVM's options, except those that open ports, leave files or run commands. */
    static List<String> command() throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.removeIf(option -> Stream.of("-agentlib:jdwp", "-Xrunjdwp", "-XX:OnError",
            "-Dcom.sun.management").anyMatch(option::startsWith));
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

    /** The child's word, never its exit code, which means nothing: others end a JVM, too. */
    static String answer(List<String> command, String id) throws Exception {
        var builder = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true);
        String carriers = id.equals("yield") ? "1" : "2";
        builder.command().addAll(List.of("-Djdk.virtualThreadScheduler.parallelism=" + carriers,
            "KnownBugs", CHILD, carriers, id));
        builder.environment().keySet().removeAll(List.of( // they're in the command
            "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        Process process = builder.start();
        CompletableFuture.delayedExecutor(100, TimeUnit.SECONDS)
            .execute(process.toHandle()::destroyForcibly);
        List<String> lines = process.inputReader().lines().filter(line -> !line.isBlank())
            .toList();
        String last = lines.isEmpty() ? "exit code " + process.waitFor() : lines.getLast();
        for (String line : lines) {
            if (line.startsWith(SAYS)) return line.substring(SAYS.length());
        }
        if (System.nanoTime() > end) return "can't tell: too slow";
        if (!lines.contains(BEGUN)) return "can't tell: it doesn't start: " + last;
        if (lines.stream().noneMatch(line -> line.contains("A fatal error has been detected")))
            return "can't tell: it ended: " + last;
        return lines.stream().anyMatch(line -> line.matches("V .*ThreadSnapshot.*"))
            ? "seen: a crash" : "can't tell: another crash"; // than that of JDK-8364343
    }

    // ------------------------------------------------------------------------- in that JVM

    static final String CHILD = "--child";
    static final String SAYS = "KnownBugs: ";
    static final String BEGUN = "KnownBugs has begun";

    /** Ends with its answer, or as its parent ends, which closes the input. */
    static void child(String carriers, String id) {
        Thread.ofPlatform().daemon().start(() -> {
            run(() -> System.in.read());
            Runtime.getRuntime().halt(2);
        });
        String answer = "not seen";
        try {
            countCarriers(Integer.parseInt(carriers));
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

    static void cantTellIf(boolean so, String why) { if (so) throw new AssertionError(why); }

    /** Starts a thread per carrier that keeps it busy, and one that mustn't run. */
    static void countCarriers(int carriers) throws Exception {
        var running = new Semaphore(0);
        running.release(); // or a thread loads classes for it, and a carrier may be added
        List<Thread> threads = Stream.generate(() -> start(() -> {
            running.release();
            while (!go) Thread.onSpinWait();
        })).limit(carriers + 1).toList();
        boolean enough = running.tryAcquire(carriers + 1, 10, TimeUnit.SECONDS);
        Thread.sleep(50);
        cantTellIf(!enough || running.tryAcquire(), "not " + carriers + " carriers");
        go = true;
        end(threads);
        go = false;
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

    /** False if none has ended for 90 waits: a JVM that's stopped for a while doesn't hang. */
    static boolean end(List<Thread> threads) throws InterruptedException {
        List<Thread> left = new ArrayList<>(threads);
        for (int waits = 0; !left.isEmpty() && waits < 90; waits++) {
            left.getFirst().join(100);
            if (left.removeIf(thread -> !thread.isAlive())) waits = 0;
        }
        return left.isEmpty();
    }

    /** Waits until all wait, and have done so for 200 ms. Returns how many wait. */
    static long settle(List<Thread> threads) throws InterruptedException {
        long waiting = 0;
        for (int looks = 0, still = 0; looks < 200 && still < 20; looks++) {
            Thread.sleep(10);
            waiting = threads.stream().filter(thread ->
                thread.getState() != Thread.State.RUNNABLE).count();
            still = waiting == threads.size() ? still + 1 : 0;
        }
        return waiting;
    }

    static void rest() { while (!go) LockSupport.park(); }
    static synchronized void restInMonitor() { rest(); }
    static synchronized void restWithBoth() { restWithLock(); }

    /**
     * An owner rests without a carrier. Then as many as there are carriers wait for it where
     * they can't unmount. The owner is woken, and finds no carrier.
     */
    static boolean hangs(Job owner, Job waiter, Job wake) throws Exception {
        List<Thread> threads = new ArrayList<>(List.of(start(owner)));
        cantTellIf(settle(threads) == 0, "too slow");
        threads.add(start(waiter));
        threads.add(start(waiter));
        long waiting = settle(threads); // on some JDKs, one finds no carrier
        go = true;
        LockSupport.unpark(threads.getFirst());
        wake.run();
        boolean hangs = !end(threads);
        cantTellIf(!hangs && waiting < 2, "too slow");
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

    static boolean isWrong(List<Thread> thread, boolean compiled) throws InterruptedException {
        cantTellIf(!end(thread) || result == 0, "it hangs, or never ran");
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
        List<Thread> thread = List.of(start(KnownBugs::catches));
        cantTellIf(settle(thread) == 0, "too slow");
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
        boolean compiled = warmUp(job, "KnownBugs.locks", "[14]")
            && warmUp(() -> start(job).join(), "java.lang.VirtualThread.run", "[1-4]");
        List<Thread> thread = new ArrayList<>();
        synchronized (KnownBugs.class) {
            thread.add(start(job));
            cantTellIf(settle(thread) == 0, "too slow");
            base = new Derived();
        }
        return isWrong(thread, compiled);
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

    static synchronized void await() throws Exception { KnownBugs.class.wait(); }
    static synchronized void wakeAll() { KnownBugs.class.notifyAll(); }

    /** The first to wait is the next owner, and finds no carrier. */
    static boolean notifiesAll() throws Exception {
        return hangs(KnownBugs::await, initializing(KnownBugs::await), KnownBugs::wakeAll);
    }

    /**
     * A thread is woken just as its timer ends, and waits again. That takes two processors, and
     * two compilers that haven't done it yet, so many JVMs with few rounds: 40 to 100 us late.
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
