// SPDX-License-Identifier: MIT-0
import java.lang.invoke.MethodHandles;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/**
 * Which known bugs of virtual threads does this JDK have, and which deadlocks by design?
 *
 *     java KnownBugs.java
 *     java KnownBugs.java JDK-8389310 init-lock
 * The first tries all, in one to two minutes, the second the rows named, each in a JVM of its
 * own, with the options of this one. For a runtime without a compiler, compile elsewhere, by
 * javac --release 21 -d out KnownBugs.java, and run java -cp out KnownBugs.
 * Exit code 1: a bug was seen; 0: none was; 2: nothing was tried.
 */
class KnownBugs {
    /** What takes luck is tried in several JVMs, until one shows it. */
    record Bug(String id, String what, String has, String free, int seconds, int jvms,
               Callable<Boolean> sees) {
        boolean isByDesign() { return free.equals(BY_DESIGN); }
    }

    static final String BY_DESIGN = "-";
    static final List<Bug> BUGS = List.of(
        new Bug("JDK-8389310", "a wrong result in a catch, if a class was loaded meanwhile",
            "21 to 27", "no update yet, as of 2026-11-26", 60, 3, KnownBugs::catchesInOldCode),
        new Bug("JDK-8369019", "after notifyAll, pinned threads wait for an unmounted one",
            "24, 25", "26", 120, 1, KnownBugs::notifiesAll),
        new Bug("JDK-8369227", "a thread woken as its timed wait ends stays parked",
            "25 to 25.0.2, 26", "25.0.3, 26.0.1", 120, 15, KnownBugs::staysParked),
        new Bug("JDK-8370887", "a timer is lost as another one is cancelled",
            "25 to 25.0.2", "25.0.3, 26", 120, 1, KnownBugs::losesTimer),
        new Bug("JDK-8321270", "yield takes a permit, so that park waits",
            "21 to 21.0.2", "21.0.4", 120, 1, KnownBugs::yieldTakesPermit),
        new Bug("init-socket", "class initializers read sockets that nobody polls",
            "from 22", BY_DESIGN, 120, 1, KnownBugs::initSocket),
        new Bug("init-monitor", "class initializers wait for a monitor's owner",
            "from 24", BY_DESIGN, 120, 1, KnownBugs::initMonitor),
        new Bug("init-lock", "class initializers wait for a lock's owner",
            "21 to 27", BY_DESIGN, 120, 1, KnownBugs::initLock),
        new Bug("loader-lock", "class loaders wait for a lock's owner",
            "21 to 27", BY_DESIGN, 120, 1, KnownBugs::loaderLock),
        new Bug("lock-inside", "threads in synchronized wait for a lock's owner",
            "up to 23", BY_DESIGN, 120, 1, KnownBugs::lockInside));

    public static void main(String[] args) throws Exception {
        List<String> words = new ArrayList<>(List.of(args));
        if (words.contains("child")) answer(words.getLast());
        List<Bug> rows = new ArrayList<>(BUGS);
        rows.removeIf(bug -> !words.isEmpty() && !words.contains(bug.id));
        rows.forEach(bug -> words.remove(bug.id));
        int code = 2;
        try {
            if (words.isEmpty()) code = report(rows) ? 1 : 0;
            else System.err.println("KnownBugs: no such rows: " + words);
        } catch (java.io.IOException | LinkageError e) { // no temporary folder, a module less
            System.err.println("KnownBugs: " + e);
        }
        System.exit(code);
    }

    /** Prints the rows as they come; returns whether a bug was seen. */
    static boolean report(List<Bug> rows) throws Exception {
        List<String> command = command();
        System.out.printf("Java %s, %s, %s, processors: %d, %s%n", Runtime.version(),
            System.getProperty("java.vendor"), System.getProperty("os.name"),
            Runtime.getRuntime().availableProcessors(), java.time.LocalDate.now());
        boolean told = true;
        String last = "";
        String head = "";
        for (Bug bug : rows) {
            String before = head;
            head = bug.isByDesign() ? "By design" : "Bug";
            if (!head.equals(before)) {
                System.out.println();
                print(head, "What happens", "Here");
                print(":--", ":--", ":--");
            }
            System.err.println(rows.indexOf(bug) + 1 + " of " + rows.size() + ": " + bug.id);
            String here = here(bug, command);
            print(bug.id, bug.what + "; " + bug.has, here);
            told &= !here.startsWith("can't");
            if (bug.isByDesign() || !here.startsWith("seen")) continue;
            last += "Free of " + bug.id + ": " + bug.free + ". ";
        }
        String none = "No bug was seen" + (told ? "." : ", but some rows can't tell.");
        System.out.println("\n" + (last.isEmpty() ? none : last.strip()));
        return !last.isEmpty();
    }

    static void print(String bug, String what, String here) {
        System.out.printf("| %-12s | %-68s | %-30.30s |%n", bug, what, here);
    }

    // ----------------------------------------------------------------- a JVM for each row

    static final int SEEN = 3; // exit codes that a JVM has no use for
    static final int CANT_TELL = 4;

    /** A JVM with this one's options, but for ports, and two carriers: two threads pin all. */
    static List<String> command() throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(java.lang.management.ManagementFactory.getRuntimeMXBean()
            .getInputArguments());
        command.removeIf(option -> option.startsWith("-agentlib:jdwp")
            || option.startsWith("-Dcom.sun.management.jmxremote"));
        command.addAll(List.of("-Djdk.virtualThreadScheduler.parallelism=2",
            "-Djdk.virtualThreadScheduler.maxPoolSize=256"));
        command.addAll(List.of("-cp", classPath(), "KnownBugs", "child"));
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

    static String here(Bug bug, List<String> command) throws Exception {
        String here = "not seen";
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(bug.seconds);
        for (int i = 0; i < bug.jvms && here.equals("not seen"); i++) {
            var builder = new ProcessBuilder(new ArrayList<>(command));
            builder.command().add(bug.id);
            builder.environment().remove("JDK_JAVA_OPTIONS"); // they're in the command
            Process process = builder.redirectErrorStream(true).start();
            CompletableFuture.delayedExecutor(end - System.nanoTime(), TimeUnit.NANOSECONDS)
                .execute(process::destroyForcibly);
            List<String> said = process.inputReader().lines().toList();
            here = switch (process.waitFor()) {
                case 0 -> here;
                case SEEN -> "seen";
                case CANT_TELL -> "can't tell: " + said.getLast();
                case 134, 139 -> "seen: a crash"; // SIGABRT, SIGSEGV
                default -> "can't tell: " + (System.nanoTime() < end
                    ? "exit code " + process.exitValue() : "too slow");
            };
        }
        return here;
    }

    /** Ends the child with its answer, or as its parent ends, which closes the input. */
    static void answer(String id) {
        Thread.ofPlatform().daemon().start(() -> {
            run(() -> System.in.read());
            Runtime.getRuntime().halt(CANT_TELL);
        });
        int code = CANT_TELL;
        try {
            String kind = start(() -> { }).getClass().getSimpleName();
            cantTellIf(!kind.equals("VirtualThread"), "no carriers");
            for (Bug bug : BUGS) {
                if (bug.id.equals(id)) code = bug.sees.call() ? SEEN : 0;
            }
            if (failed != null) throw failed;
        } catch (Throwable e) {
            System.out.println(e.getMessage());
            code = CANT_TELL;
        }
        Runtime.getRuntime().halt(code);
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

    static void cantTellIf(boolean so, String why) {
        if (so) throw new IllegalStateException(why);
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

    /** Waits until the threads have waited for 200 ms. On some JDKs, one finds no carrier. */
    static void settle(List<Thread> threads) throws InterruptedException {
        for (int looks = 0, still = 0; looks < 200 && still < 20; looks++) {
            Thread.sleep(10);
            still = threads.stream().map(Thread::getState)
                .anyMatch(Thread.State.RUNNABLE::equals) ? 0 : still + 1;
        }
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
        settle(threads);
        go = true;
        LockSupport.unpark(threads.getFirst());
        wake.run();
        return !end(threads);
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

    static void fails() {
        rest();
        throw new IllegalStateException();
    }

    static int answer(Runnable call) {
        try {
            call.run();
            return 0;
        } catch (IllegalStateException e) {
            return base.answer();
        }
    }

    /**
     * While Base has no subclass, answer() is compiled so that it calls Base's method directly.
     * Derived makes that code invalid, but a thread that rests without a carrier isn't told; it
     * sees that if its call returns, and doesn't if its call throws. There are three kinds of
     * calls, or fails() would be inlined.
     */
    static boolean catchesInOldCode() throws Exception {
        cantTellIf(VM.contains("interpreted"), "interpreted");
        Runnable[] calls = {KnownBugs::fails, KnownBugs::fails, KnownBugs::fails};
        long begin = System.nanoTime();
        go = true;
        for (int i = 0; i < 600_000 || System.nanoTime() - begin < 500_000_000; i++) {
            answer(calls[i % 3]); // until it has surely been compiled
        }
        go = false;
        int[] result = new int[1];
        List<Thread> thread = List.of(start(() -> result[0] = answer(calls[0])));
        settle(thread);
        base = new Derived();
        go = true;
        LockSupport.unpark(thread.getFirst());
        cantTellIf(!end(thread), "it hangs");
        return result[0] != base.answer();
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
