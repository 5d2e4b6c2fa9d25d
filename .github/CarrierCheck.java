// SPDX-License-Identifier: MIT-0
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import java.util.function.*;
import java.util.regex.*;
import java.util.stream.*;
import javax.management.ObjectName;

// From top to bottom: CarrierCheck is what you call. It makes your call in Rounds. During
// a round, ticks test whether the carrier is free, and dumps of the Jvm show who's
// Mounted; a thread's Frames lead to its Place. A Tally is what one round measured.
// Numbers sum up the rounds, Signs say what these point to, a Judge gives the Verdict, an
// Answer puts it in words.

/**
 * Does a call hold its carrier, the platform thread that runs its virtual thread? Then no
 * other virtual thread can run there.
 *
 *     java CarrierCheck.java
 *     java CarrierCheck.java --help
 *
 * The first, on Java 21 or newer, asks about two calls: one is pinned up to 23, one
 * computes. For yours, write CarrierCheck.ask("my call", () -> ...) in the main method of
 * a class Mine beside this file, and run java -cp "lib/*" Mine.java; on 21, compile both,
 * and run Mine.
 *
 * A script reads the exit code, a test what ask returns:
 *
 *     0   all calls were made, as the last line says; without that line, one ended the JVM
 *     1   one failed, hung or ended the JVM, or standard output is full or closed
 *     2   it couldn't ask
 *
 * The trick: the JVM gets a single carrier. While a call runs, CarrierCheck starts one
 * tick after another, virtual threads that only look at the clock. If a tick runs late,
 * something held the carrier, and a thread dump shows what was mounted. If the platform
 * thread that waits for the tick wakes up late as well, the machine may be to blame.
 *
 * Some holds are too short to delay a tick. If the call computes, the carrier's processor
 * time gives them away; if it's pinned, dumps every 5 ms do. The last twenty calls get
 * two carriers, because some calls hang only there.
 */
public class CarrierCheck {
    static double patience = 40_000; // ms; if no call ends for that long, they hang
    private static final PrintStream OUT = System.out; // a call may replace it
    private static boolean begun;
    private static volatile String asked; // the call that's being made
    private static volatile boolean failed;
    private static double tickMs; // the processor time of a tick, measured beside a sleep

    /** The call to ask about. It's made dozens of times; a short one, thousands of times. */
    public interface Call {
        /**
         * Makes the call.
         * @throws Exception if the call fails; the answer counts failures
         */
        void make() throws Exception;
    }

    private CarrierCheck() { }

    /**
     * Asks about two calls.
     * @param args --help, or nothing
     */
    public static void main(String[] args) {
        if (List.of(args).equals(List.of("--help"))) {
            Stream.of(Verdict.values()).forEach(one ->
                OUT.println("%-11s%s".formatted(one.word(), one.meaning)));
            return;
        }
        if (args.length > 0) refuse("not understood: '" + args[0] + "', try --help");
        ask("a wait in Vector.forEach", () ->
            new Vector<>(List.of(50_000_000)).forEach(LockSupport::parkNanos));
        ask("a computation", () -> new Random(1).ints(5_000_000).max());
        say("\nHow to ask about a call of yours: .github/your-call.md\n");
    }

    /**
     * Makes twenty cold calls at once, then warm ones, and prints an answer. If a call
     * hangs, this ends the JVM with exit code 1. If it can't ask, it ends the JVM with
     * exit code 2: on a virtual thread, while another ask runs, or if the JVM has more
     * carriers than one.
     * @param name what to call it in the answer, which shows at most 30 characters
     * @param call the call to ask about
     * @return the verdict, for a test to check; a few calls may have failed all the same
     */
    public static Verdict ask(String name, Call call) {
        if (name == null || call == null) refuse("ask needs a name, and a call");
        if (Thread.currentThread().isVirtual()) refuse("ask on a platform thread, as main is");
        begin();
        name = name.replaceAll("[|\\s\\p{Cntrl}]+", " ").strip();
        claim(name.isEmpty() ? "a call" : "%.30s".formatted(name).strip());
        try {
            Answer answer = measure(asked, call);
            say(answer.text());
            failed |= answer.fails();
            asked = null;
            return answer.verdict();
        } catch (Stuck e) {
            stop(e.getMessage());
        } catch (Throwable e) { // no memory, an interrupt
            stop(": FAILED. It made CarrierCheck fail: " + Words.told(e));
        }
        return Verdict.FAILED; // stop() has ended the JVM
    }

    private static synchronized void claim(String name) {
        if (asked != null) refuse("ask about one call at a time");
        asked = name;
    }

    private static synchronized void begin() {
        if (begun) return;
        try {
            Jvm.begin();
            Runtime.getRuntime().addShutdownHook(new Thread(CarrierCheck::end));
            Answer control = measure("sleep", () -> Thread.sleep(50));
            tickMs = control.rounds().stream().filter(one -> one.isOfOne() && one.ticks > 0)
                .mapToDouble(one -> one.betweenTicks / one.ticks).min().orElse(0);
            say(Answer.title(Judge.of(control.warm())));
        } catch (Throwable e) { // an option may cause it
            // An if would do. But javac 17 to 20 reject the second case and print that
            // line, so its comment tells their users what's missing.
            refuse(switch (e.getCause()) {
                case null -> Words.told(e);
                case Throwable cause -> e + ", " + cause; // needs Java 21 or newer
            });
        }
        begun = true;
    }

    private static Answer measure(String name, Call call) throws Exception {
        Tally cold = Round.measure(call, Crowd.SIZE, Thread.ofVirtual());
        List<Tally> warm = new ArrayList<>();
        long start = System.nanoTime();
        do warm.add(Round.measure(call, 1, Thread.ofVirtual()));
        while (!isEnough(warm.size(), Round.msSince(start)));
        Tally platform = Round.measure(call, Crowd.SIZE, Thread.ofPlatform().daemon());
        Tally virtual = Round.measure(call, Crowd.SIZE, Thread.ofVirtual());
        Jvm.giveTwo(); // carriers, to see whether the calls still end, and without a failure
        Tally onTwo = Round.measure(call, Crowd.SIZE, Thread.ofVirtual());
        return new Answer(name, Numbers.of(List.of(cold), cold, null, tickMs),
            Numbers.of(warm, virtual, platform, tickMs),
            Stream.of(List.of(cold), warm, List.of(platform, virtual, onTwo))
                .flatMap(List::stream).toList());
    }

    /** A slow call is made eight times, too, unless that takes over 5 s. */
    private static boolean isEnough(int rounds, double ms) {
        return ms > 500 && (rounds >= 8 || ms > 5_000);
    }

    private static void say(String text) { OUT.print(text); }

    /** Prints why, and ends the JVM, as calls that hang would keep it alive. */
    private static void stop(String why) {
        failed = true;
        say("\n" + asked + why + "\n");
        asked = null;
        end();
    }

    /** Prints the last line as the JVM ends. The shutdown hook runs this, or stop() does. */
    private static void end() {
        if (asked != null) {
            failed = true;
            say("\n" + asked + ": FAILED. It ended the JVM, or somebody else did.\n");
        }
        say(failed ? "\nNot all calls were made.\n" : "\nAll calls were made.\n");
        if (OUT.checkError()) System.err.println("CarrierCheck: can't write standard output");
        if (OUT.checkError() || failed) Runtime.getRuntime().halt(1); // another hook may hang
    }

    private static synchronized void refuse(String why) {
        System.err.println("CarrierCheck: " + why);
        Runtime.getRuntime().halt(2);
    }
}

/** No call has ended for too long. The message lists the calls that are left, and where. */
class Stuck extends Exception {
    private static final long serialVersionUID = 1;

    Stuck(Map<Long, Thread> callers, Map<Long, Place> seen) {
        super(": HANGS. No call has ended for "
            + Words.number(CarrierCheck.patience / 1_000) + " s"
            + on(callers.values()) + ".\n" + left(callers, seen));
    }

    /** A hang on platform threads has nothing to do with carriers. */
    private static String on(Collection<Thread> callers) {
        if (callers.stream().noneMatch(Thread::isVirtual)) return ", on platform threads";
        return Jvm.hasTwo() ? ", on two carriers" : "";
    }

    private static String left(Map<Long, Thread> callers, Map<Long, Place> seen) {
        Map<String, Integer> left = new TreeMap<>();
        seen.forEach((id, place) -> {
            if (!callers.containsKey(id)) left.put("- Keeps the carrier, " + place.text(), 1);
        });
        for (Thread caller : callers.values()) {
            if (!caller.isAlive()) continue;
            Place place = seen.get(caller.threadId());
            left.merge(place == null ? "- Waits" + Round.where(caller.getStackTrace())
                : "- " + Words.stuck(place) + " at " + place.text(), 1, Integer::sum);
        }
        return left.entrySet().stream().map(one -> Words.wrap(one.getKey()
            + (one.getValue() > 1 ? " (" + one.getValue() + " calls)" : "")).strip())
            .collect(Collectors.joining("\n"));
    }
}

// ------------------------------------------------------------------------------ the JVM

/** This JVM, with its only carrier. */
class Jvm {
    static final int JDK = Runtime.version().feature();
    private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";
    private static ForkJoinPool pool; // of carriers
    private static ThreadGroup carriers;

    /** Gives the JVM one carrier; refuses a JVM that already has more, or none. */
    static void begin() throws Exception {
        System.getProperties().putIfAbsent(PARALLELISM, "1");
        boolean runs = Thread.startVirtualThread(() -> { }).join(Duration.ofSeconds(10));
        if (!runs) throw new Refused("no virtual thread runs: another one keeps the carrier");
        dump(); // the first one is slow
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (!thread.getClass().getSimpleName().equals("CarrierThread")) continue;
            pool = ((ForkJoinWorkerThread) thread).getPool();
            carriers = thread.getThreadGroup();
        }
        if (pool == null) throw new Refused("no carriers here");
        if (pool.getParallelism() != 1)
            throw new Refused("it needs a single carrier: run it with -D" + PARALLELISM + "=1");
    }

    /** It's printed without the name of its class. */
    static class Refused extends Exception {
        private static final long serialVersionUID = 1;
        Refused(String message) { super(message); }
        @Override public String toString() { return getMessage(); }
    }

    /** Goes back to one carrier. Returns whether a call, or giveTwo(), had changed that. */
    static boolean takeBack() {
        if (pool.getParallelism() == 1) return false;
        pool.setParallelism(1);
        return true;
    }

    /**
     * Gives the JVM two carriers until the round ends. A native lock belongs to the
     * thread that took it, which is the carrier. A virtual thread that goes on with
     * another carrier can't release it.
     */
    static void giveTwo() { pool.setParallelism(2); }

    static boolean hasTwo() { return pool.getParallelism() == 2; }

    /** Whether virtual threads wait for the carrier. */
    static boolean isBusy() { return pool.hasQueuedSubmissions(); }

    /** How long collections have stopped all threads, in ms. */
    static double gcMs() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> !bean.getName().endsWith("Cycles")) // they don't stop threads
            .mapToDouble(bean -> bean.getCollectionTime()).sum();
    }

    /** The carriers' processor time, in ms. */
    static double cpuMs() {
        Thread[] threads = new Thread[carriers.activeCount() + 9];
        int count = carriers.enumerate(threads);
        var bean = ManagementFactory.getThreadMXBean();
        return Stream.of(threads).limit(count)
            .mapToLong(one -> bean.getThreadCpuTime(one.threadId())).sum() / 1e6;
    }

    static String dump() throws Exception {
        return "" + ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "threadPrint",
            new Object[] {new String[0]}, new String[] {String[].class.getName()});
    }
}

/**
 * A virtual thread that a thread dump shows as mounted. Up to 23, a dump has only its id,
 * so the stack is the carrier's.
 */
record Mounted(long id, String stack, boolean hasOwnStack) {
    // 1: the carrier, 2: its thread, 3: the carrier's stack, 4: the thread's, from 24 on.
    // Up to 23, a carrier without a thread may carry "itself", which (?!\\1) leaves out.
    private static final Pattern CARRIER = Pattern.compile("\" #(\\d+) .*\n   Carrying virtual "
        + "thread #(?!\\1\n)(\\d+)((?:\n\t.*)*)(?:\n   Mounted virtual.*((?:\n\t.*)*))?");

    /** All in a dump, except the JDK's own threads that poll sockets. */
    static List<Mounted> all(String dump) {
        return CARRIER.matcher(dump).results().map(found -> {
            String own = found.group(4);
            return new Mounted(Long.parseLong(found.group(2)),
                own != null ? own : found.group(3), own != null);
        }).filter(one -> !one.stack.contains(".subPollerLoop(")).toList();
    }
}

/** A line of a stack: "at a.Pool.get(a.jar/Pool.java:7)", or as StackTraceElement prints it. */
record Frame(String type, String method, String line, boolean isJdk, boolean isNative) {
    private static final Pattern LINE =
        Pattern.compile("([^\\s(\\[]+)\\.([^\\s.(]+)\\(([^)\n]*)\\)");

    static List<Frame> all(String stack) {
        return LINE.matcher(stack).results().map(Frame::of).filter(Objects::nonNull).toList();
    }

    /** With hidden ones, such as those of lambdas. */
    static long count(String stack) { return LINE.matcher(stack).results().count(); }

    private static Frame of(MatchResult found) {
        String type = found.group(1);
        if (type.contains(".DowncallStub/0x")) // java.lang.foreign calls native code
            return new Frame("java.lang.foreign.Linker", "downcallHandle", "", true, true);
        if (type.contains("/0x")) return null; // a hidden class, such as a lambda's
        String file = found.group(3);
        boolean isJdk = (type + " " + file).matches("(java|jdk)\\.[^ ]*/.*|.* (java|jdk)\\..*");
        return new Frame(type.replaceFirst(".*/", ""), found.group(2),
            file.replaceFirst("^[^:]*:?", ""), isJdk,
            file.endsWith("Native Method"));
    }

    /** "Pool.get:7", without the package; a lambda has its method's name; the JDK, no line. */
    String text() {
        String name = (type.replaceFirst(".*\\.", "") + "." + method)
            .replaceAll("lambda\\$|\\$\\d+", "");
        return isJdk || line.isEmpty() ? name : name + ":" + line;
    }

    boolean is(String name) { return (type + "." + method).equals(name); }

    boolean parks() {
        return isJdk && type.endsWith("VirtualThread") && method.matches("park(Nanos)?");
    }

    /** The JVM itself may have called these methods. If so, the thread is pinned in them. */
    boolean loads() {
        return is("java.lang.Class.forName0") || is("java.lang.ClassLoader.loadClass");
    }
}

/** What keeps the carrier. */
enum Kind {
    WAITS, // a thread that waits, but can't unmount
    AWAITS_CLASS, // one that waits until another thread has initialized a class
    RUNS, // one that computes, or is in native code
    UNKNOWN, // a thread of which a dump shows no stack, up to JDK 23
    HANDS_OVER, // threads that take turns
    COLLECTS // the garbage collector
}

/** Where a mounted thread is. */
record Place(
        Kind kind,
        boolean isOther, // a thread that the call has started, or uses
        List<Frame> shown, // in the answer, innermost first
        Frame innermost, // of all, the JDK's as well
        String inside) { // an initializer, a class loader, a yield, or ""
    static final String CALL = "Round.call"; // the frames outside this one are ours
    static final String INITIALIZER = "the class initializer of ";
    static final String LOADER = "a class loader";
    static final String YIELD = "Thread.yield";
    private static final int DEEP = 1_000; // frames; a dump doesn't show more of a stack
    private static final Pattern AWAITED =
        Pattern.compile("waiting on the Class initialization monitor for (\\S+)");
    private static final Pattern WAIT = Pattern.compile("\\.(parkOnCarrierThread|wait0)\\(");

    /** Null if the caller isn't in its call, or is just about to unmount. */
    static Place of(Mounted mounted, Thread caller) {
        // From 24 on, the dump has its stack. Up to 23, a caller tells its own a moment
        // later, and where another thread is, nobody says.
        boolean isKnown = mounted.hasOwnStack() || caller != null;
        String stack = mounted.hasOwnStack() || caller == null ? mounted.stack()
            : Arrays.toString(caller.getStackTrace());
        List<Frame> all = Frame.all(stack);
        List<Frame> frames = all.stream().takeWhile(frame -> !frame.is(CALL)).toList();
        boolean isInCall = frames.size() < all.size() || Frame.count(stack) >= DEEP;
        if (caller != null && !isInCall) return null;
        if (frames.isEmpty() || frames.getFirst().parks()) return null;
        Matcher awaited = AWAITED.matcher(mounted.stack());
        if (awaited.find()) return new Place(Kind.AWAITS_CLASS, caller == null,
            isKnown ? shown(frames, true) : List.of(), null, awaited.group(1));
        if (!isKnown) return new Place(Kind.UNKNOWN, true, List.of(), null, "");
        boolean waits = WAIT.matcher(stack).find()
            || caller != null && caller.getState() == Thread.State.BLOCKED;
        return new Place(waits ? Kind.WAITS : Kind.RUNS, caller == null, shown(frames, waits),
            frames.getFirst(), inside(frames));
    }

    static Place of(Kind kind) { return new Place(kind, false, List.of(), null, ""); }

    /**
     * The frames outside the JDK, and the JDK methods that they call; the innermost JDK
     * method only if the thread waits there. A running thread is seen in whatever it
     * happens to call.
     */
    private static List<Frame> shown(List<Frame> frames, boolean waits) {
        List<Frame> shown = new ArrayList<>();
        for (int i = 0; i < frames.size(); i++) {
            boolean isOwn = !frames.get(i).isJdk();
            boolean isCalledByOwn = i + 1 == frames.size() || !frames.get(i + 1).isJdk();
            if (isOwn || isCalledByOwn && (waits || !shown.isEmpty()))
                shown.add(frames.get(i));
        }
        return shown;
    }

    private List<Frame> own() {
        return shown.stream().filter(frame -> !frame.isJdk()).toList();
    }

    /**
     * Code that the JVM itself calls is pinned, on every JDK. It's named with its first
     * user, which is the line that people can change.
     */
    private static String inside(List<Frame> frames) {
        for (int i = 0; i < frames.size(); i++) {
            Frame frame = frames.get(i);
            boolean initializes = frame.method().equals("<clinit>");
            if (!initializes && !frame.loads()) continue;
            String user = frames.stream().skip(i + 1)
                .filter(one -> !one.isJdk() && !one.method().equals("loadClass"))
                .findFirst().map(Frame::text).orElse("");
            String inside = initializes ? INITIALIZER + frame.type() : LOADER;
            String use = initializes ? ", first used at " : ", for a class that's used at ";
            return inside + (user.isEmpty() ? "" : use + user);
        }
        boolean yields = frames.stream().anyMatch(frame -> frame.is("java.lang.Thread.yield"));
        return yields ? YIELD : "";
    }

    /** Equal for all lines of a loop. */
    String key() {
        return kind + "" + isOther + inside
            + own().stream().limit(3).map(frame -> frame.type() + frame.method()).toList();
    }

    /** Whether it's the other place, but further in. Both are told as one. */
    boolean isBelow(Place other) {
        List<Frame> own = own();
        List<Frame> others = other.own();
        int start = own.size() - others.size();
        return kind == other.kind && start > 0 && isOther == other.isOther
            && others.equals(own.subList(start, own.size()));
    }

    /** Whether it surely keeps the carrier, and isn't just short of a processor. */
    boolean stays() { return kind != Kind.RUNS && kind != Kind.UNKNOWN; }

    /** Whether it keeps the carrier if more than one look shows it. */
    boolean mayStay() { return kind == Kind.UNKNOWN || isNative(); }
    boolean isNative() { return innermost != null && innermost.isNative(); }

    /** The innermost frames and the outermost ones: people look for their own among these. */
    String text() {
        List<String> names = shown.stream().map(Frame::text).distinct().toList();
        int size = names.size();
        String at = size <= 5 ? String.join(" < ", names)
            : String.join(" < ", names.subList(0, 2)) + " < ... < "
                + String.join(" < ", names.subList(size - 3, size));
        if (size == 0 && innermost != null) at = innermost.text() + ", in the JDK";
        if (!isOther) return at;
        return "in another virtual thread" + (at.isEmpty() ? "" : ", at " + at);
    }
}

// ------------------------------------------------------------------------------- a round

/** Makes some calls at once and, as long as they run, one tick after another. */
class Round {
    private static final double PIECE = 0.5; // ms of processor time; what's shorter is a slice
    static final double PAUSE = 0.3; // ms until a look, which stops all threads for 0.2
    private final CarrierCheck.Call call;
    private final Tally tally;
    private final Map<Long, Thread> callers = new HashMap<>(); // by their ids
    private final Set<Long> ticking = ConcurrentHashMap.newKeySet(); // ids of ticks
    private volatile long progress = System.nanoTime(); // when the last call ended
    private long start;
    private double cpuAtTick; // the carriers' processor time as the last tick had ended, in ms
    private double cpuSince; // what they used from then until the current tick ran, in ms
    private double lookAfter = 5; // ms; beside a single call, ticks rarely look
    private double glanceAfter = ThreadLocalRandom.current().nextDouble(5); // ms

    private Round(CarrierCheck.Call call, Tally tally) {
        this.call = call;
        this.tally = tally;
    }

    /** Makes calls, waits until no other thread wants to run, and says what it measured. */
    static Tally measure(CarrierCheck.Call call, int calls, Thread.Builder threads)
            throws Exception {
        var round = new Round(call, new Tally(calls));
        round.makeCallers(calls, threads);
        round.run();
        round.tally.sumUp();
        return round.tally;
    }

    private void makeCallers(int calls, Thread.Builder threads) {
        for (int i = 0; i < calls; i++) {
            Thread caller = threads.unstarted(new FutureTask<>(this::call, null));
            callers.put(caller.threadId(), caller);
        }
    }

    private void run() throws Exception {
        double collectedBefore = Jvm.gcMs();
        cpuAtTick = Jvm.cpuMs();
        start = System.nanoTime();
        callers.values().forEach(Thread::start);
        for (tick(); callers.values().stream().anyMatch(Thread::isAlive); tick()) {
            pause();
            glance();
        }
        tally.took = msSince(start);
        // Threads that the calls have started belong to this round, not to the next.
        double delay;
        do {
            pause();
            delay = tick();
        } while ((delay > 1 || Jvm.isBusy()) && msSince(start) < tally.took + 10_000);
        tally.whole = msSince(start);
        tally.collected = Jvm.gcMs() - collectedBefore;
        tally.changed = Jvm.takeBack();
    }

    static double msSince(long start) { return (System.nanoTime() - start) / 1e6; }

    /** Without it, ticks would use up the carrier, or overtake what calls have started. */
    private void pause() {
        long before = System.nanoTime();
        LockSupport.parkNanos(200_000);
        tally.stood = Math.max(tally.stood, msSince(before) - 0.2);
    }

    /**
     * A look that no tick has asked for. A call that holds the carrier often, but never
     * for long, makes no tick late enough for a look. The first one comes at random, so
     * that calls aren't always seen at the same line.
     */
    private void glance() throws Exception {
        if (!tally.isOfOne() || msSince(start) < glanceAfter) return;
        glanceAfter = msSince(start) + 5;
        tally.glances++;
        if (!see().mounted().isEmpty()) tally.mounted++;
    }

    private void call() { // Place.CALL is its name
        long start = System.nanoTime();
        try {
            call.make();
            tally.times.add(msSince(start));
        } catch (Throwable e) {
            tally.failures.merge(where(e), new Failure(Words.told(e), 1), Failure::and);
        }
        progress = System.nanoTime();
    }

    /** Failures from the same place are told as one, even if their texts differ. */
    private static String where(Throwable thrown) {
        String side = Thread.currentThread().isVirtual() ? "" : " on a platform thread";
        return thrown.getClass().getName() + side + where(thrown.getStackTrace());
    }

    static String where(StackTraceElement[] stack) {
        return Frame.all(Arrays.toString(stack)).stream()
            .takeWhile(frame -> !frame.is(Place.CALL)).filter(frame -> !frame.isJdk())
            .findFirst().map(frame -> " at " + frame.text()).orElse("");
    }

    /** Starts a tick, looks until it has run, and returns how many ms late it was. */
    private double tick() throws Exception {
        stopIfStuck();
        long begin = System.nanoTime();
        var ran = new FutureTask<>(() -> inTick(begin));
        Thread tick = Thread.ofVirtual().unstarted(ran);
        ticking.add(tick.threadId());
        tick.start();
        List<Look> looks = lookUntilEnd(tick, begin);
        double delay = ran.get();
        if (looks.isEmpty()) {
            if (cpuSince <= PIECE) tally.betweenTicks += cpuSince; // else it's in computed
            tally.ticks++;
        } else {
            tally.add(new Late(looks, delay, cpuSince, tally.isOfOne()));
        }
        tally.late += Math.max(0, delay - 1);
        tally.worst = Math.max(tally.worst, delay - 1);
        cpuAtTick = Jvm.cpuMs();
        // Neither the tick's delay nor its own look, which takes up to 1 ms, counts.
        tally.stood = Math.max(tally.stood, msSince(begin) - delay - 1);
        return delay;
    }

    private List<Look> lookUntilEnd(Thread tick, long begin) throws Exception {
        List<Look> looks = new ArrayList<>();
        double before = 0;
        double pause = PAUSE;
        for (; !tick.join(Duration.ofNanos((long) (1e6 * pause))); stopIfStuck()) {
            double woken = msSince(begin);
            tally.noise = Math.max(tally.noise, woken - before - pause); // or a collection
            Seen seen = see();
            before = msSince(begin);
            double cpu = Math.max(0, Jvm.cpuMs() - cpuAtTick);
            looks.add(new Look(before, before - woken, cpu, seen));
            pause = Math.clamp(before / 4, PAUSE, 3); // the later, the fewer looks
        }
        return looks;
    }

    /** What a tick does. It has the carrier, so whoever else is mounted has an added one. */
    private double inTick(long begin) throws Exception {
        double delay = msSince(begin);
        cpuSince = Math.max(0, Jvm.cpuMs() - cpuAtTick);
        if (cpuSince > PIECE) tally.computed += cpuSince;
        if (tally.isOfOne() && msSince(start) < lookAfter) return delay;
        lookAfter = msSince(start) + 5;
        Map<Long, Place> beside = see().places();
        tally.added = Math.max(tally.added, beside.size());
        for (Place place : beside.values())
            tally.addedFor.merge(place.key(), new Hold(place, 1), Hold::and); // a look, not ms
        return delay;
    }

    private Seen see() throws Exception {
        Map<Long, Place> places = new HashMap<>();
        Set<Long> mounted = new HashSet<>();
        for (Mounted one : Mounted.all(Jvm.dump())) {
            if (ticking.contains(one.id())) continue;
            Place place = Place.of(one, callers.get(one.id()));
            mounted.add(one.id());
            if (place != null) places.put(one.id(), place);
        }
        return new Seen(places, mounted);
    }

    /** Ends the round if no call has ended for too long. */
    private void stopIfStuck() throws Exception {
        if (msSince(progress) < CarrierCheck.patience) return;
        throw new Stuck(callers, see().places());
    }
}

/**
 * What a thread dump shows: which threads are mounted, except ticks, by their ids; and
 * where they are. A caller that isn't in its call has no place.
 */
record Seen(Map<Long, Place> places, Set<Long> mounted) { }

/** A look at a thread dump while a tick is late. */
record Look(
        double ms, // after the tick was started
        double stopMs, // for which the look stopped all threads
        double cpuMs, // of processor time that the carriers had used since the last tick
        Seen seen) { }

/** A place, and for how many ms a thread was there; on an added carrier, in how many looks. */
record Hold(Place place, double ms) {
    Hold and(Hold other) { return new Hold(place, ms + other.ms); }
}

/** How often calls have failed in the same way. */
record Failure(String text, int count) {
    Failure and(Failure other) { return new Failure(text, count + other.count); }
}

/**
 * Sums up the looks at one late tick. A thread that they show may just be short of a
 * processor, unless it waits, or has used processor time.
 */
class Late {
    final Map<String, Hold> holds = new LinkedHashMap<>(); // by a place's key
    double held; // ms; see Tally
    double still;
    double doubtful;
    double worked; // the part of held in which somebody used the processor

    /**
     * The tick ran after delay ms. Until then, the carriers used cpu ms of processor
     * time. A look counts for the time since the one before it; the last one, until the
     * tick ran.
     */
    Late(List<Look> looks, double delay, double cpu, boolean isOfOneCall) {
        boolean handsOver = isOfOneCall && comesBack(looks);
        double before = 0;
        double usedBefore = 0;
        for (Look look : looks) {
            boolean isLast = look == looks.getLast();
            double ms = (isLast ? delay : look.ms()) - before;
            double used = (isLast ? cpu : look.cpuMs()) - usedBefore;
            before = look.ms();
            usedBefore = look.cpuMs();
            Collection<Place> there = handsOver ? List.of(Place.of(Kind.HANDS_OVER))
                : look.seen().places().values();
            if (!there.isEmpty())
                count(there, ms, computes(used, ms, look.stopMs()), looks.size() == 1);
        }
    }

    /**
     * On a busy machine, a thread that computes gets a third of the time, so a quarter is
     * enough. The look's own time doesn't count, as it stops that thread, too.
     */
    private static boolean computes(double used, double ms, double stopMs) {
        double couldRun = Math.max(ms - stopMs, ms / 4); // a look may take nearly all of it
        return used > couldRun / 4;
    }

    /** A thread in native code that only one look shows may be short of a processor, too. */
    private void count(Collection<Place> there, double ms, boolean computes, boolean isOnce) {
        for (Place place : there)
            holds.merge(place.key(), new Hold(place, ms), Hold::and);
        if (computes) worked += ms;
        if (computes || there.stream().anyMatch(Place::stays)) held += ms;
        else if (!isOnce && there.stream().anyMatch(Place::mayStay)) still += ms;
        else doubtful += ms;
    }

    /** Whether a thread left the carrier to others and came back, all before the tick ran. */
    private static boolean comesBack(List<Look> looks) {
        Set<Long> gone = new HashSet<>();
        Set<Long> last = Set.of();
        for (Look look : looks) {
            Set<Long> mounted = look.seen().mounted();
            if (mounted.isEmpty()) continue;
            if (mounted.stream().anyMatch(gone::contains)) return true;
            gone.addAll(last);
            gone.removeAll(mounted);
            last = mounted;
        }
        return false;
    }
}

/**
 * What a round measured: numbers, no opinion. These are times in which
 *
 *     late      a tick was due, but hadn't run
 *     held      meanwhile, looks showed a thread that waits, or uses the processor: that's sure
 *     still     they showed it again, in native code: it's held, unless the machine is busy
 *     doubtful  they showed any other thread, which may just have been short of a processor
 *     lost      a tick was late, but the carrier wasn't held
 *     noise     the thread that looks woke up late for a look: the machine may be busy
 *     stood     it was late elsewhere, as if all threads had stood still
 *     unclear   the largest of lost, doubtful, noise and stood: one stop shows in all
 */
class Tally {
    // Of calls.
    private final int calls; // made at once
    final Queue<Double> times = new ConcurrentLinkedQueue<>(); // ms of calls
    final Map<String, Failure> failures = new ConcurrentSkipListMap<>(); // by where
    double took; // ms until the last call had ended
    double whole; // ms until nothing that they had started wanted to run
    boolean changed; // whether a call has changed the number of carriers

    // Of who held the carrier, or had an added one. Times in ms.
    final Map<String, Hold> holds = new LinkedHashMap<>(); // by a place's key
    double held;
    double still;
    double doubtful;
    double longest; // of these three together, while a single tick was late
    double worked; // the part of held in which somebody used the processor
    double computed; // processor time in pieces, see Round
    int added; // carriers that others had while a tick ran, at most
    final Map<String, Hold> addedFor = new HashMap<>(); // for whom; by a place's key

    int glances; // looks that no tick asked for
    int mounted; // those in which the call, or a thread that it uses, had the carrier

    // Of ticks.
    double late; // ms that ticks were late, beyond 1 ms each
    double worst; // the largest of these
    int ticks; // that weren't late
    double betweenTicks; // ms of processor time between these, in slices

    // Of the machine. Times in ms.
    double collected; // of garbage collections
    double noise; // the longest
    double stood; // the longest

    Tally(int calls) { this.calls = calls; }

    void add(Late late) {
        worked += late.worked;
        held += late.held;
        still += late.still;
        doubtful += late.doubtful;
        longest = Math.max(longest, late.held + late.still + late.doubtful);
        late.holds.forEach((key, hold) -> holds.merge(key, hold, Hold::and));
    }

    /** Decides on still, and adds what ticks didn't see. Called once, as the round ends. */
    void sumUp() {
        if (still > 2 * noise) held += still;
        else doubtful += still;
        double unseen = computed - held; // there was no look
        if (unseen > 0) holds.put("", new Hold(Place.of(Kind.RUNS), unseen));
        worked = Math.max(worked, computed);
        held = Math.max(held, computed);
    }

    boolean isOfOne() { return calls == 1; }
    int failed() { return failures.values().stream().mapToInt(Failure::count).sum(); }
    double lost() { return (late - held) / whole; }

    /** Beyond what ticks take themselves, tickMs each. */
    double beyondTicks(double tickMs) { return betweenTicks - ticks * tickMs; }

    /** Nobody runs during a collection, either. */
    double heldOrCollected() { return Math.max(held, collected); }
    double noiseOrStop() { return Math.max(noise, stood); }

    /** A stop of all threads may show in each of these. */
    double unclear() { return Math.max(noiseOrStop(), Math.max(late - held, doubtful)); }
}

// ----------------------------------------------------------------------------- a verdict

/**
 * Sums up rounds: those of one warm call each, or the round of the first twenty; and a
 * crowd, twenty calls at once. Times are in ms. See Tally for the words. A number is the
 * median of the rounds unless its comment says otherwise.
 */
record Numbers(Calls calls, Held held, Doubts doubts, Crowd crowd, Holders holders) {
    static Numbers of(List<Tally> rounds, Tally crowd, Tally platform, double tickMs) {
        return new Numbers(Calls.of(rounds, crowd, platform, tickMs), Held.of(rounds),
            Doubts.of(rounds), Crowd.of(crowd, tickMs), Holders.of(whoHeld(rounds, crowd)));
    }

    /** Who holds it shows in single calls, or in twenty at once if these hold it far longer. */
    private static List<Tally> whoHeld(List<Tally> rounds, Tally crowd) {
        double alone = sum(rounds, Tally::heldOrCollected) / rounds.size();
        double together = crowd.heldOrCollected() / Crowd.SIZE;
        boolean isSeen = count(rounds, round -> !round.holds.isEmpty()) > 0;
        return isSeen && together <= 2 * alone ? rounds : List.of(crowd);
    }

    static int count(List<Tally> rounds, Predicate<Tally> which) {
        return (int) rounds.stream().filter(which).count();
    }

    static double sum(List<Tally> rounds, ToDoubleFunction<Tally> what) {
        return rounds.stream().mapToDouble(what).sum();
    }

    static double median(List<Tally> rounds, ToDoubleFunction<Tally> what) {
        return median(rounds.stream().map(what::applyAsDouble));
    }

    static double median(Stream<Double> values) { return rank(values, 0.5); }

    static double rank(Stream<Double> values, double share) {
        List<Double> sorted = values.sorted().toList();
        return sorted.isEmpty() ? Double.NaN : sorted.get((int) (share * sorted.size()));
    }
}

/** How calls went, and how long they took. */
record Calls(
        int ended, // without a failure, of all rounds
        int failed, // of all rounds
        boolean changed, // whether one changed the number of carriers
        int adding, // rounds in which the JVM added a carrier
        double takes, // a call
        double sliced, // processor time in pieces too short to be seen
        double platform) { // until the last of twenty on platform threads had ended
    static Calls of(List<Tally> rounds, Tally crowd, Tally platform, double tickMs) {
        return new Calls(
            (int) Numbers.sum(rounds, round -> round.times.size()),
            (int) Numbers.sum(rounds, Tally::failed),
            crowd.changed || Numbers.count(rounds, round -> round.changed) > 0,
            Numbers.count(rounds, round -> round.added > 0),
            Numbers.median(rounds.stream().flatMap(round -> round.times.stream())),
            Numbers.median(rounds, round -> round.beyondTicks(tickMs)),
            platform == null ? Double.NaN : platform.took);
    }
}

/** For how long the carrier was held, or the garbage collector stopped all threads. */
record Held(
        double median,
        double most, // in any round
        double second, // the second largest
        double fifth, // at least so much in a fifth of the rounds
        double maybe, // held or doubtful
        double longest, // in one piece
        double share, // of all the time
        int holding) { // rounds without a failure that held it for long enough to be seen
    static Held of(List<Tally> rounds) {
        List<Double> held = rounds.stream().map(Tally::heldOrCollected)
            .sorted(Comparator.reverseOrder()).toList();
        return new Held(
            Numbers.median(held.stream()),
            held.getFirst(),
            held.size() > 1 ? held.get(1) : 0,
            held.get(held.size() / 5),
            Numbers.median(rounds, round -> round.heldOrCollected() + round.doubtful),
            Numbers.median(rounds, round -> round.longest),
            Numbers.sum(rounds, Tally::heldOrCollected)
                / Numbers.sum(rounds, round -> round.whole),
            Numbers.count(rounds, Held::isSeen));
    }

    private static boolean isSeen(Tally round) {
        return round.failed() == 0 && round.heldOrCollected() > Round.PAUSE;
    }
}

/** What may be the machine's, and not the call's. */
record Doubts(
        double lost, // a share of the time
        double noise, // the largest, or of stood
        double worst, // the largest delay of a tick, in any round
        double unclear, // at least so much in three quarters of the rounds
        double often) { // the share of glances in which somebody had the carrier
    private static final int FEW = 20; // glances; of fewer, a single one would say too much

    static Doubts of(List<Tally> rounds) {
        return new Doubts(
            Numbers.median(rounds, Tally::lost),
            most(rounds, Tally::noiseOrStop),
            most(rounds, round -> round.worst),
            Numbers.rank(rounds.stream().map(Tally::unclear), 0.25),
            Numbers.sum(rounds, round -> round.mounted)
                / Math.max(FEW, Numbers.sum(rounds, round -> round.glances)));
    }

    private static double most(List<Tally> rounds, ToDoubleFunction<Tally> what) {
        return rounds.stream().mapToDouble(what).max().orElseThrow();
    }
}

/** The round of twenty calls at once. */
record Crowd(
        double took, // until the last had ended
        double held,
        double longest, // in one piece
        double share, // of all the time, held
        double lost, // a share of took
        double noise, // or of stood
        double sliced, // processor time in pieces too short to be seen
        int added, // carriers
        int failed, // of the twenty
        boolean waits, // whoever held the carrier for longest
        double busy) { // the share of held in which somebody used the processor
    static final int SIZE = 20; // calls at once

    static Crowd of(Tally round, double tickMs) {
        double held = round.heldOrCollected();
        double lost = (round.late - round.held) / round.took; // not of what calls started
        Holders holders = Holders.of(List.of(round));
        return new Crowd(round.took, held, round.longest, held / round.whole, lost,
            round.noiseOrStop(), round.beyondTicks(tickMs), round.added, round.failed(),
            holders.waits(), holders.busy());
    }

    /** The ms of held for each call. */
    double each() { return held / SIZE; }
}

/** Who held the carrier, and who had an added one; whoever did so for longest comes first. */
record Holders(
        Kind kind, // of the place that the verdict is about
        boolean isOther, // of that place, too
        double busy, // the share of held in which somebody used the processor
        List<Hold> places,
        List<Hold> added) {
    static Holders of(List<Tally> rounds) {
        List<Hold> places = sorted(rounds, round -> round.holds);
        double held = Numbers.sum(rounds, round -> round.held);
        double worked = Numbers.sum(rounds, round -> round.worked);
        boolean collects = 2 * Numbers.sum(rounds, round -> round.collected) > held;
        Place most = collects ? Place.of(Kind.COLLECTS) : most(places);
        return new Holders(most.kind(), most.isOther(),
            worked / Math.max(held, 0.001), places, sorted(rounds, round -> round.addedFor));
    }

    /** The first. A hand-over is rarely seen, so for that, a quarter of the time is enough. */
    private static Place most(List<Hold> places) {
        double all = places.stream().mapToDouble(Hold::ms).sum();
        for (Hold one : places) {
            boolean handsOver = one.place().kind() == Kind.HANDS_OVER;
            if (handsOver && 4 * one.ms() > all) return one.place();
        }
        return places.isEmpty() ? Place.of(Kind.RUNS) : places.getFirst().place();
    }

    /** If so, it's sure: a thread that's just short of a processor doesn't wait. */
    boolean waits() { return kind == Kind.WAITS || kind == Kind.AWAITS_CLASS; }

    private static List<Hold> sorted(List<Tally> rounds,
            Function<Tally, Map<String, Hold>> what) {
        Map<String, Hold> all = new HashMap<>();
        for (Tally round : rounds)
            what.apply(round).forEach((key, hold) -> all.merge(key, hold, Hold::and));
        List<Hold> byWeight = new ArrayList<>(all.values());
        byWeight.sort(Comparator.comparingDouble(Holders::weight).reversed());
        List<Hold> sorted = new ArrayList<>();
        for (Hold hold : byWeight) {
            int same = 0; // the index of a place in the same call, further in
            while (same < sorted.size() && !sorted.get(same).place().isBelow(hold.place()))
                same++;
            if (same == sorted.size()) sorted.add(hold);
            else sorted.set(same, sorted.get(same).and(hold));
        }
        sorted.sort(Comparator.comparingDouble(Holders::weight).reversed());
        return sorted;
    }

    /** On 21, threads may wait for an initializer in which another is pinned: that's first. */
    private static double weight(Hold hold) {
        return hold.ms() * (hold.place().kind() == Kind.AWAITS_CLASS ? 0.8 : 1);
    }
}

/** What CarrierCheck says. Only FREE says that all is well. SOME to OTHER say what isn't. */
enum Verdict {
    FREE("other virtual threads run meanwhile", "Yes"),
    ONCE("its first calls hold their carrier, later ones don't, or are too short to tell",
        "Yes, once the first calls are over; but what's loaded anew may do it again"),
    SOME("some calls hold their carrier", "No, not as it is"),
    ADDS("it blocks its carrier, and the JVM adds another meanwhile: 256 at most",
        "Yes, with a limit on how many do at once"),
    PINNED("it waits, and can't unmount", "No, not as it is"),
    BLOCKED("it's in native code, or the JVM makes it wait", "No, not as it is"),
    COMPUTES("it uses the processor, and nobody takes its carrier from it",
        "Only if other virtual threads can wait meanwhile"),
    HANDS_OVER("virtual threads wake each other in turns, and others wait behind them",
        "No, not as it is"),
    COLLECTS("the garbage collector stops all threads, platform threads, too",
        "Only if other virtual threads can wait meanwhile"),
    OTHER("another virtual thread, which it starts or uses, holds the carrier",
        "No, not as it is"),
    TOO_SHORT("it takes under a millisecond: ask about a loop of a hundred of them", ""),
    CANT_TELL("the machine is busy, or no thread was seen that holds the carrier",
        "Not known"),
    FAILED("most calls failed, or none ended for 40 s (HANGS)", "");

    final String meaning;
    final String may; // answers "May virtual threads call it?", which people ask first

    Verdict(String meaning, String may) {
        this.meaning = meaning;
        this.may = may;
    }

    /** As answers have it. */
    String word() { return this == CANT_TELL ? "CAN'T TELL" : name().replace('_', ' '); }
}

/** Gives the verdict on numbers. */
class Judge {
    static final double WORKS = 0.25; // of held; somebody else may have held it for the rest

    /** The verdict on all calls. It's ONCE if only the first ones wait, as for a class. */
    static Verdict of(Numbers cold, Numbers warm) {
        Verdict later = of(warm);
        boolean mayBeOnce = later == Verdict.FREE || later == Verdict.TOO_SHORT;
        return mayBeOnce && FirstCalls.keepCarrier(cold) ? Verdict.ONCE : later;
    }

    /** The verdict on warm calls. */
    static Verdict of(Numbers it) {
        var signs = new Signs(it);
        // The order matters. First, what's sure,
        if (signs.fails()) return Verdict.FAILED;
        if (it.calls().changed()) return Verdict.CANT_TELL;
        if (signs.addsMostly()) return Verdict.ADDS;
        if (signs.holds()) return signs.mayBeNoise() ? Verdict.CANT_TELL : byHolder(it);
        if (signs.holdsInTurns()) {
            if (signs.metCollection()) return Verdict.TOO_SHORT;
            return signs.isSure() ? byHolder(it) : Verdict.CANT_TELL;
        }
        if (signs.adds()) return Verdict.ADDS;
        if (signs.isShort()) return Verdict.TOO_SHORT;
        if (signs.loses()) return Verdict.CANT_TELL;
        if (signs.holdsSome())
            return signs.someMayBeNoise() ? Verdict.CANT_TELL : Verdict.SOME;
        if (signs.holdsTogether()) return signs.isSure() ? byHolder(it) : Verdict.CANT_TELL;
        if (signs.collectsTogether()) return Verdict.CANT_TELL;
        // then what may be due to the call, or to the machine.
        if (signs.holdsOften() || signs.holdsOnce()) return Verdict.CANT_TELL;
        if (signs.mayHold() || signs.mayHoldOnce()) return Verdict.CANT_TELL;
        if (signs.mayHoldTogether()) return Verdict.CANT_TELL;
        if (signs.queues() || signs.losesTogether()) return Verdict.CANT_TELL;
        if (signs.entersTogether() || signs.standsStill()) return Verdict.CANT_TELL;
        if (signs.slices()) return signs.missesSlices() ? Verdict.CANT_TELL : Verdict.COMPUTES;
        if (signs.slicesTogether() || signs.maySlice()) return Verdict.CANT_TELL;
        // Only what shows none of these signs is FREE.
        return Verdict.FREE;
    }

    /** The verdict on who held the carrier the most. */
    static Verdict byHolder(Numbers it) {
        Holders holders = it.holders();
        if (holders.isOther()) return Verdict.OTHER;
        return switch (holders.kind()) {
            case WAITS -> Verdict.PINNED;
            case AWAITS_CLASS -> Verdict.BLOCKED;
            case HANDS_OVER -> Verdict.HANDS_OVER;
            case COLLECTS -> Verdict.COLLECTS;
            case RUNS, UNKNOWN -> holders.busy() > WORKS ? Verdict.COMPUTES : Verdict.BLOCKED;
        };
    }
}

/** Gives the verdict on the first twenty calls. Made at once, each waits for those before. */
class FirstCalls {
    private static final double COLD = 0.3; // of the time; cold code alone may take less

    static Verdict of(Numbers it) {
        var signs = new Signs(it);
        Held held = it.held();
        if (signs.fails()) return Verdict.FAILED;
        if (it.calls().changed()) return Verdict.CANT_TELL;
        double mean = held.median() / Crowd.SIZE; // there's but one round
        if (signs.adds() && mean < it.calls().takes() / 2) return Verdict.ADDS;
        boolean isLong = signs.holds(mean) && held.longest() > Signs.LONG;
        boolean isMost = held.share() > Signs.MOST;
        boolean isWait = waitLong(it) && held.share() > Signs.SHARE; // cold code doesn't wait
        if (isLong || isMost || isWait) return Judge.byHolder(it);
        if (signs.isShort()) return Verdict.TOO_SHORT;
        if (it.doubts().lost() > COLD) return Verdict.CANT_TELL;
        return held.share() > COLD ? Verdict.SOME : Verdict.FREE;
    }

    /** If so, it's worth a word even if later calls don't: it may be a deadlock one day. */
    static boolean keepCarrier(Numbers it) {
        Verdict first = of(it);
        boolean waits = EnumSet.of(Verdict.PINNED, Verdict.BLOCKED, Verdict.OTHER)
            .contains(first) && waitLong(it);
        return first == Verdict.ADDS || waits;
    }

    /** A wait for a class of the JDK may be longer, but comes only once. */
    private static boolean waitLong(Numbers it) {
        boolean isPinned = it.holders().kind() == Kind.WAITS;
        return it.holders().waits()
            && it.held().longest() > (isPinned ? Signs.LONG : 10 * Signs.LONG);
    }
}

/** What the numbers point to. Each threshold has its reason beside it. */
class Signs {
    private static final double SHORT = 1; // ms; there's no time for more than two looks
    private static final double BRIEF = 2; // ms; twenty at once show more than one alone
    private static final double SEEN = Round.PAUSE; // ms; a shorter hold gets no look
    static final double LONG = 10; // ms; others notice, such as a health check
    static final double NOISE = 2; // ms late; ticks are then too rare to see slices

    static final double SHARE = 0.1; // of a call; less can't be told from noise
    private static final double SLICED = 0.2; // of a call; what ticks use is an estimate

    static final double MOST = 0.5; // of the time; it's nearly 1 if each call holds it
    private static final double LOST = 0.1; // of the time; somebody unseen may have held it
    private static final double QUEUE = 0.3; // of the time; twenty FREE calls stay below

    private static final double OFTEN = 0.25; // of calls; fewer may just print something

    private final Calls calls;
    private final Held held;
    private final Crowd crowd;
    private final Doubts doubts;
    private final Holders holders;

    Signs(Numbers it) {
        calls = it.calls();
        held = it.held();
        crowd = it.crowd();
        doubts = it.doubts();
        holders = it.holders();
    }

    /** Most calls do, alone or at once. */
    boolean fails() { return failsAlone() || crowd.failed() > Crowd.SIZE / 2; }
    boolean failsAlone() { return calls.ended() == 0 || calls.failed() > calls.ended(); }

    // A call alone.

    boolean isShort() { return calls.takes() < SHORT; }
    private boolean isBrief() { return calls.takes() < BRIEF; }
    boolean holds() { return holds(held.median()); }
    boolean mayHold() { return holds(held.maybe()); }

    boolean holds(double ms) {
        if (isShort()) return ms > SEEN;
        boolean isLong = ms > LONG && held.longest() > LONG; // short ones may add up to it
        return isLong || ms > SHARE * calls.takes();
    }

    /** One call may meet cold code, which computes for a while: the second largest counts. */
    boolean holdsSome() {
        double most = mostOfSome();
        if (most <= 2 * SHARE * calls.takes() && most <= LONG) return false;
        boolean isOften = held.fifth() > 2 * SHARE * calls.takes(); // noise is rarer
        return holders.waits() || isOften || held.share() > SHARE
            || most > 2 * doubts.noise();
    }

    private double mostOfSome() {
        boolean isOneEnough = holders.waits() || held.most() > 5 * LONG; // it isn't cold code
        return isOneEnough ? held.most() : held.second();
    }

    /** CarrierCheck's own thread was late for longer than these calls held their carrier. */
    boolean someMayBeNoise() { return !holders.waits() && doubts.noise() > mostOfSome(); }

    /** Each hold is too short to delay a tick, but they add up. Slices explain themselves. */
    boolean holdsOften() {
        double waits = doubts.often() - used() / calls.takes(); // the part that isn't computed
        return !slices() && (waits > SHARE || doubts.often() > 2 * SHARE);
    }

    /** One call held it so long that others would notice. It may have been the machine. */
    boolean holdsOnce() { return held.most() > LONG && !holds(); }

    /** A tick was that late, and nobody knows why. A page of a file may have been read. */
    boolean mayHoldOnce() { return doubts.worst() > Math.max(LONG, 3 * doubts.noise()); }

    boolean slices() { return used() > SLICED * calls.takes(); }
    double used() { return calls.sliced() + held.median(); }

    /** Most of what a single call uses is in slices, so the answer tells the sum. */
    boolean isSliced() { return calls.sliced() > held.median() && !isOnlyTogether(); }

    // Twenty calls at once.

    boolean adds() {
        return calls.adding() > OFTEN * calls.ended() || crowd.added() >= OFTEN * Crowd.SIZE;
    }

    /** The JVM adds a carrier for most of the time; for the rest, the call computes. */
    boolean addsMostly() {
        return adds() && !isShort() && held.median() < MOST * calls.takes()
            && holders.kind() == Kind.RUNS && !holders.isOther();
    }

    /** Brief calls, twenty at once, have the carrier in turns. */
    boolean holdsInTurns() { return isBrief() && crowd.share() > MOST; }

    /** Brief calls, twenty at once, queue for the carrier, even if looks miss who has it. */
    boolean queues() { return isBrief() && crowd.share() + crowd.lost() > QUEUE; }

    /** Whoever holds it mostly computes. Twenty compute more slowly, so they have more time. */
    private boolean computes() { return !crowd.waits() && crowd.busy() > Judge.WORKS; }

    /** Twenty at once may wait for what a single call gets at once. A slow call is just one. */
    boolean holdsTogether() {
        if (holds() || holders.kind() == Kind.COLLECTS) return false; // others decide on these
        double limit = SHARE * calls.takes();
        if (computes()) { // slices have a verdict of their own
            double blocked = crowd.each() * (1 - crowd.busy());
            return blocked > limit || crowd.each() > 2 * limit && !slices();
        }
        // A tick waits for all twenty, so what's long may be many short ones.
        boolean isLongWait = crowd.waits() && crowd.longest() > LONG
            && crowd.each() > limit / 4;
        return isLongWait || crowd.each() > limit || crowd.share() > MOST;
    }

    /** A tick had to wait for longer than twenty calls may hold the carrier, one by one. */
    boolean mayHoldTogether() {
        double noise = Math.max(doubts.noise(), crowd.noise());
        double allowed = Crowd.SIZE * Math.min(LONG, SHARE * calls.takes());
        return !computes() && crowd.longest() > Math.max(allowed, 3 * noise);
    }

    /** Such long collections may hide who else holds the carrier. */
    boolean collectsTogether() {
        return holders.kind() == Kind.COLLECTS && crowd.each() > SHARE * calls.takes();
    }

    /** Twenty hold it for long, or in turns; one alone doesn't. The answer is about twenty. */
    boolean isOnlyTogether() { return !holds() && (holdsInTurns() || holdsTogether()); }

    /** A thread that's pinned often, but each time for less than a look, is rarely seen. */
    boolean losesTogether() {
        double each = crowd.lost() * crowd.took() / Crowd.SIZE;
        double limit = SHARE * calls.takes();
        boolean isBoth = each + crowd.each() > (computes() ? 2 : 1) * limit && !slices();
        return each > limit || isBoth;
    }

    /** Calls that try again and again compute only among others. Twenty compute more slowly. */
    boolean slicesTogether() {
        double each = (crowd.sliced() + crowd.held()) / Crowd.SIZE;
        return each > 2 * SLICED * calls.takes();
    }

    /**
     * A native lock lets in the thread that has it, the carrier, and so every virtual
     * thread there. They don't wait for each other, as platform threads do.
     */
    boolean entersTogether() {
        return calls.platform() > Math.max(10 * calls.takes(), 5 * LONG)
            && calls.platform() > 4 * crowd.took();
    }

    // The machine.

    /** Whoever held the carrier wasn't just short of a processor. */
    boolean isSure() {
        return holders.waits() || holders.kind() == Kind.COLLECTS
            || crowd.longest() > doubts.noise();
    }

    /** It's held for a short time, on a busy machine, by a thread that doesn't wait. */
    boolean mayBeNoise() {
        return !holders.waits() && doubts.noise() > held.median()
            && held.median() < 2 * SHARE * calls.takes();
    }

    /** A collection that just happened to come says nothing about calls this short. */
    boolean metCollection() { return isShort() && holders.kind() == Kind.COLLECTS; }

    boolean loses() { return doubts.lost() > LOST; }

    /** All threads stood still, due to the machine, or to what the call makes the JVM do. */
    boolean standsStill() {
        return doubts.unclear() > Math.max(NOISE, SHARE * calls.takes());
    }

    /** On a busy machine, ticks are too rare to tell what a brief call uses from their own. */
    boolean missesSlices() { return isBrief() && doubts.noise() > NOISE; }

    /** On a busy machine, there may be more slices than were seen. */
    boolean maySlice() { return used() > SHARE * calls.takes() && doubts.noise() > NOISE; }
}

// ------------------------------------------------------------------------- what's printed

/** What's said about a call: the verdict, details, then a table. */
record Answer(String name, Numbers cold, Numbers warm, List<Tally> rounds) {
    Verdict verdict() {
        return isRefused() ? Verdict.FAILED : Judge.of(cold, warm);
    }

    /** Native code may refuse to be called by another thread than the first. */
    private boolean isRefused() {
        if (new Signs(warm).fails()) return false;
        int onTwo = rounds.getLast().failed(); // the last round has two carriers
        // Half of the calls may have kept theirs, and half of the others had luck.
        return onTwo >= Crowd.SIZE / 4 + warm.crowd().failed();
    }

    boolean fails() { return rounds.stream().anyMatch(round -> !round.failures.isEmpty()); }

    static String title(Verdict control) {
        String jdk = "- Java " + Runtime.version() + ", " + System.getProperty("java.vendor");
        return "## CarrierCheck\n\n"
            + Words.wrap(jdk
                + "; a single carrier (the platform thread that runs virtual threads)")
            + Words.wrap(control == Verdict.FREE
                ? "- Self-test: a sleep of 50 ms is FREE, as it should be"
                : "- Busy machine: not even a sleep of 50 ms is FREE. Ask again, with nothing"
                    + " else running")
            + Words.wrap("- Only FREE says that all is well. In \"Where\", < means \"called"
                + " from\"")
            + Words.wrap("- Took: ms until all had ended. Held: ms in which no other virtual"
                + " thread could run. Longest: the longest of that without a gap, by one call"
                + " or by several. Added: carriers that the JVM added. ?: not known");
    }

    /** It begins with a blank line, as a call may have printed half a line. */
    String text() {
        Verdict verdict = verdict();
        var head = new Headline(verdict, isRefused(), cold, warm);
        List<String> lines = new ArrayList<>(List.of(name + ": " + head.text()));
        if (!head.may().isEmpty()) lines.add("- May virtual threads call it? " + head.may()
            + (fails() ? ", but some calls failed" : ""));
        lines.addAll(new Details(verdict, cold, warm).lines());
        lines.addAll(Details.failures(rounds));
        lines.addAll(Details.machine(verdict, warm));
        return "\n" + lines.stream().map(Words::wrap).collect(Collectors.joining())
            + (verdict == Verdict.FAILED ? "" : Table.text(cold, warm));
    }
}

/** The first lines of an answer. */
record Headline(Verdict verdict, boolean isRefused, Numbers cold, Numbers warm) {
    String may() {
        boolean isTold = verdict != Verdict.ONCE || Judge.of(warm) == Verdict.FREE;
        return isTold ? verdict.may
            : "Not its first calls. Later ones are too short to tell: ask about a loop of a"
                + " hundred of them";
    }

    String text() {
        return switch (verdict) {
            case FREE -> "FREE. Other virtual threads run meanwhile";
            case ONCE -> "ONCE. Its first twenty calls " + once()
                + (Judge.of(warm) == Verdict.FREE ? "; later ones are FREE"
                    : "; later ones are too short to tell");
            case SOME -> "SOME calls hold their carrier, one for "
                + Words.number(warm.held().most()) + " ms in all";
            case ADDS -> "ADDS a carrier, as it blocks its own";
            case PINNED, BLOCKED, HANDS_OVER -> verdict.word() + heldFor();
            case COMPUTES -> verdict.word() + computesFor();
            case COLLECTS -> verdict.word() + " garbage" + heldFor();
            case OTHER -> "OTHER threads hold its carrier" + heldFor();
            case TOO_SHORT -> verdict.word() + ". It takes "
                + Words.number(warm.calls().takes()) + " ms: ask about a loop of a hundred of"
                + " them";
            case CANT_TELL -> verdict.word() + doubt();
            case FAILED -> verdict.word() + ", in " + failed();
        };
    }

    private String failed() {
        if (isRefused) return "many calls on two carriers";
        if (cold.calls().ended() + warm.calls().ended() == 0) return "all calls";
        return new Signs(warm).failsAlone() ? "most calls" : "most of twenty calls at once";
    }

    private String once() {
        Verdict first = FirstCalls.of(cold);
        if (first == Verdict.ADDS) return "added " + Words.carriers(cold.crowd().added());
        return (first == Verdict.OTHER ? "had OTHER threads on their carrier" : "were " + first)
            + Words.howLong(cold.held().median(), cold.crowd().took());
    }

    private String heldFor() {
        Crowd crowd = warm.crowd();
        double held = warm.held().median();
        if (new Signs(warm).isOnlyTogether())
            return Words.howLong(crowd.held(), crowd.took()) + ", for twenty at once";
        int holding = warm.held().holding();
        int all = warm.calls().ended();
        return Words.howLong(held, warm.calls().takes())
            + (holding == all ? ", in each call" : ", in " + holding + " of " + all + " calls");
    }

    private String computesFor() {
        var signs = new Signs(warm);
        return signs.isSliced()
            ? Words.howLong(signs.used(), warm.calls().takes()) + ", in slices" : heldFor();
    }

    private String oneCall() {
        int calls = warm.calls().ended();
        return calls == 1 ? "The call, made alone," : "One call in " + calls;
    }

    /** The most telling reason. The judge asks in another order, and may have met another. */
    private String doubt() {
        var signs = new Signs(warm);
        Crowd crowd = warm.crowd();
        if (warm.calls().changed()) return ", as it changes the number of carriers";
        if (signs.entersTogether()) return ". Twenty at once take "
            + Words.number(warm.calls().platform()) + " ms on platform threads, and "
            + Words.number(crowd.took()) + " ms on virtual ones: native code may have a"
            + " lock that doesn't keep these apart";
        if (signs.slicesTogether()) return ". Twenty at once compute"
            + Words.howLong(crowd.sliced() + crowd.held(), crowd.took()) + ", in slices";
        if (signs.holdsOften()) return ". The carrier is held often, though never for long:"
            + " in " + Math.round(100 * warm.doubts().often()) + "% of looks";
        if (signs.holdsOnce()) return ". " + oneCall() + " held its carrier for "
            + Words.number(warm.held().most()) + " ms: ask again";
        if (signs.mayHoldOnce()) return ". " + oneCall() + " may have held its carrier for "
            + Words.number(warm.doubts().worst()) + " ms: ask again";
        if (signs.mayHoldTogether()) return ". Twenty at once may have held the carrier for "
            + Words.number(crowd.longest()) + " ms: ask again";
        if (warm.held().maybe() > warm.held().median())
            return ". It's held" + Words.howLong(warm.held().maybe(), warm.calls().takes())
                + ", or the machine is busy: ask again";
        return ". The machine is busy, or it isn't clear what holds the carrier: ask again,"
            + " with nothing else running";
    }
}

/** The lines of an answer below the first: where, why, what helps, what else was seen. */
class Details {
    private final Verdict verdict;
    private final Numbers cold;
    private final Numbers warm;
    private final List<String> lines = new ArrayList<>();

    Details(Verdict verdict, Numbers cold, Numbers warm) {
        this.verdict = verdict;
        this.cold = cold;
        this.warm = warm;
    }

    List<String> lines() {
        Verdict first = FirstCalls.of(cold);
        switch (verdict) {
            case FREE -> besides();
            case FAILED, TOO_SHORT -> { }
            case ONCE -> about(first, cold);
            default -> about(verdict, warm);
        }
        if (verdict != Verdict.ONCE) firstCalls(first);
        return lines;
    }

    /** What's worth a line even if the call is FREE: added carriers, one slow call, a queue. */
    private void besides() {
        Crowd crowd = warm.crowd();
        double takes = warm.calls().takes();
        double most = warm.held().most();
        if (crowd.added() > 0)
            lines.add("- The JVM added " + Words.carriers(crowd.added())
                + " for twenty calls at once, perhaps as something is printed");
        if (most > takes / 5)
            lines.add("- One call in " + warm.calls().ended() + " held its carrier for "
                + Words.number(most) + " ms, the others for less");
        double both = Math.min(crowd.took(), warm.calls().platform());
        if (crowd.share() > 0.3 || both < 10 * takes) return;
        lines.add("- Twenty at once take " + Math.round(both / takes) + " times as long, on"
            + " platform threads, too: that's a lock or a pool of yours, not the carrier");
    }

    /** Where, why, how many carriers it takes, and what helps. */
    private void about(Verdict said, Numbers it) {
        boolean adds = said == Verdict.ADDS;
        List<Hold> places = shown(adds ? it.holders().added() : it.holders().places());
        where(said, places);
        if (!adds && new Signs(it).adds())
            lines.add("- The JVM added " + Words.carriers(it.crowd().added())
                + " for twenty calls at once: some block theirs");
        if (said == Verdict.CANT_TELL) return;
        boolean isWarm = it == warm;
        if (adds && it.held().median() > 1)
            lines.add("- Even so, no other virtual thread ran" + Words.howLong(
                it.held().median(), isWarm ? it.calls().takes() : it.crowd().took()));
        double carriers = carriers(said, it);
        if (isWarm && carriers > 1 && said != Verdict.COLLECTS) // more carriers won't help
            lines.add("- A thousand such calls a second need " + (int) Math.ceil(carriers)
                + there(said, it));
        Verdict who = said == Verdict.SOME ? Judge.byHolder(it) : said;
        Stream<Place> named = places.isEmpty() ? Stream.of(Place.of(it.holders().kind()))
            : named(places).stream().map(Hold::place);
        lines.add("- What helps: " + named.map(place -> Words.help(who, place)).distinct()
            .collect(Collectors.joining("; and ")));
    }

    /** Those with a text. If only frames that aren't shown differ, it's one place. */
    private static List<Hold> shown(List<Hold> places) {
        Map<List<Object>, Hold> all = new LinkedHashMap<>();
        for (Hold hold : places) {
            Place place = hold.place();
            if (hold.ms() == 0 || place.text().isEmpty()) continue;
            var alike = List.<Object>of(
                place.text(), place.kind(), place.inside(), place.isNative());
            all.merge(alike, hold, Hold::and);
        }
        return List.copyOf(all.values());
    }

    /** How many there are, in this JVM as it is by default. */
    private static String there(Verdict said, Numbers it) {
        int processors = Runtime.getRuntime().availableProcessors();
        if (said == Verdict.ADDS) return " carriers; the JVM adds them, up to 256";
        return said == Verdict.COMPUTES && it.holders().busy() > 0.9
            ? " processors; there are " + processors
            : " carriers; by default, a JVM here has " + processors;
    }

    /** The first place, and at most two others with a fifth of the time. */
    private static List<Hold> named(List<Hold> places) {
        double all = places.stream().mapToDouble(Hold::ms).sum();
        return places.stream().limit(3)
            .filter(hold -> hold == places.getFirst() || hold.ms() >= all / 5).toList();
    }

    /** Where it's held, and why. */
    private void where(Verdict said, List<Hold> places) {
        double all = places.stream().mapToDouble(Hold::ms).sum();
        boolean hasOneReason = EnumSet.of(Verdict.ADDS, Verdict.HANDS_OVER, Verdict.COLLECTS)
            .contains(said);
        for (Hold hold : named(places)) {
            String share = hold.ms() > 0.9 * all || hasOneReason ? ""
                : " (" + Math.round(100 * hold.ms() / all) + "% of what's held)";
            String where = said == Verdict.CANT_TELL
                ? "- Seen on its carrier, perhaps by chance" : "- Where";
            lines.add(where + share + ": " + hold.place().text());
            if (hasOneReason || said == Verdict.CANT_TELL) continue;
            String why = "- Why: " + Words.why(said, hold.place());
            if (!lines.contains(why)) lines.add(why);
        }
        if (hasOneReason) lines.add("- Why: " + said.meaning);
    }

    /** How many a thousand calls a second would block, or make the JVM add. */
    private static double carriers(Verdict said, Numbers it) {
        var signs = new Signs(it);
        if (said != Verdict.COMPUTES && signs.adds()) return it.calls().takes();
        if (said == Verdict.COMPUTES && signs.isSliced()) return signs.used();
        return signs.isOnlyTogether() ? it.crowd().each() : it.held().median();
    }

    /** What only the first calls met. */
    private void firstCalls(Verdict first) {
        boolean keptIt = EnumSet.range(Verdict.SOME, Verdict.OTHER).contains(first);
        if (first == verdict || !keptIt) return;
        if (first == Verdict.ADDS) {
            lines.add("- The first twenty, at once, added "
                + Words.carriers(cold.crowd().added()));
            return;
        }
        List<Hold> places = cold.holders().places();
        double all = places.stream().mapToDouble(Hold::ms).sum();
        lines.add("- The first twenty, at once, held the carrier"
            + Words.howLong(cold.held().median(), cold.crowd().took())
            + shown(places).stream().filter(hold -> hold.ms() > all / 3).limit(2)
                .map(hold -> (hold.place().isOther() ? "; " : "; at ") + hold.place().text()
                    + ", " + Words.why(first, hold.place()))
                .distinct().collect(Collectors.joining()));
    }

    static List<String> failures(List<Tally> rounds) {
        Map<String, Failure> all = new TreeMap<>();
        for (Tally round : rounds) round.failures.forEach((where, failure) ->
            all.merge(where, failure, Failure::and));
        List<String> lines = new ArrayList<>();
        all.forEach((where, failure) -> lines.add("- Failed "
            + (failure.count() == 1 ? "once" : failure.count() + " times") + ": "
            + failure.text() + where.replaceFirst("^\\S+", "")));
        return lines;
    }

    static List<String> machine(Verdict verdict, Numbers warm) {
        double noise = warm.doubts().noise();
        if (noise <= Signs.NOISE) return List.of();
        // What's just short of a processor would look the same.
        boolean mayBeNoise = !warm.holders().waits()
            && EnumSet.of(Verdict.BLOCKED, Verdict.COMPUTES).contains(verdict)
            && noise > Math.max(warm.held().median(), warm.calls().sliced());
        return List.of("- Busy machine: CarrierCheck's own thread was " + Words.number(noise)
            + " ms late, so these times may be off" + (mayBeNoise ? ": ask again"
            : verdict == Verdict.FREE ? ". It's FREE all the same" : ""));
    }
}

/** The table below an answer. */
class Table {
    private static final String ROW = "|%-19s|%9s|%9s|%9s|%6s|\n";

    static String text(Numbers cold, Numbers warm) {
        Calls calls = warm.calls();
        Held held = warm.held();
        int added = 2 * calls.adding() > calls.ended() ? 1 : 0;
        return "\n" + ROW.formatted("ms", "Took", "Held", "Longest", "Added")
            + "|-------------------|--------:|--------:|--------:|-----:|\n"
            + row("20 at once, cold", cold.crowd())
            + row("a call, median", calls.takes(), held.median(), held.longest(), added)
            + row("20 at once, warm", warm.crowd())
            + ROW.formatted("20 platform threads", Words.number(calls.platform()), "", "", "");
    }

    private static String row(String what, Crowd crowd) {
        return row(what, crowd.took(), crowd.held(), crowd.longest(), crowd.added());
    }

    private static String row(String what, double took, double held, double longest,
            int added) {
        // No look has seen a hold that has no longest piece. What's beyond held isn't
        // sure.
        boolean isKnown = longest > 0 || held == 0;
        return ROW.formatted(what, Words.number(took), Words.number(held),
            isKnown ? Words.number(Math.min(longest, held)) : "?", added);
    }
}

/** How places, numbers and failures are put into words. */
class Words {
    private static final int WIDTH = 80;
    private static final String USE_EARLY = "use that class once before there are requests";

    /** What keeps the carrier there. */
    static String why(Verdict verdict, Place place) {
        return switch (place.kind()) {
            case AWAITS_CLASS -> "it waits until another thread has initialized "
                + place.inside();
            case WAITS -> !place.inside().isEmpty()
                ? "it waits in " + place.inside() + ". No thread can leave its carrier there"
                : Jvm.JDK < 24 ? "most likely, it waits inside synchronized. Up to JDK 23, a"
                    + " virtual thread can't leave its carrier there"
                : "it waits in Java code that native code has called. No thread can leave its"
                    + " carrier there";
            case HANDS_OVER, COLLECTS -> verdict.meaning; // these have no place
            case UNKNOWN -> "the call starts or uses that thread. Up to 23, the JVM doesn't say"
                + " where it is";
            case RUNS -> runs(verdict, place);
        };
    }

    private static String runs(Verdict verdict, Place place) {
        if (place.inside().equals(Place.YIELD))
            return "it yields again and again, and may get its carrier back before others do";
        String in = place.inside().isEmpty() ? "" : ", in " + place.inside();
        if (verdict == Verdict.COMPUTES)
            return "it computes, and the JVM doesn't preempt it" + in;
        return (place.isNative() ? "it's in native code, " + place.innermost().text()
            : "it computes, or the JVM makes it wait") + in;
    }

    /** What helps against a hold at that place, of a call with that verdict. */
    static String help(Verdict verdict, Place place) {
        return switch (verdict) {
            case ADDS -> "a semaphore that limits such calls, or platform threads for them";
            case HANDS_OVER -> "a platform thread for one of the two";
            case COLLECTS -> "less garbage, and no System.gc()";
            case OTHER -> "ask about what that thread does";
            default -> help(place, verdict == Verdict.COMPUTES);
        };
    }

    private static String help(Place place, boolean computes) {
        String inside = place.inside();
        if (place.kind() == Kind.AWAITS_CLASS) return USE_EARLY;
        if (inside.equals(Place.YIELD)) return "let it sleep, not yield";
        if (place.kind() == Kind.WAITS) {
            if (inside.startsWith(Place.INITIALIZER)) return USE_EARLY;
            if (inside.startsWith(Place.LOADER))
                return "load that class before there are requests";
            if (Jvm.JDK < 24) return "JDK 24 or newer, a newer library, or a ReentrantLock in"
                + " place of synchronized";
        }
        return "make the call on a platform thread"
            + (computes ? ", unless others can wait" : "");
    }

    /** Three digits. */
    static String number(double value) {
        if (Double.isNaN(value)) return "";
        int digits = value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }

    static String carriers(int count) {
        return count + (count == 1 ? " carrier" : " carriers");
    }

    /** Such as "for 46 of 50 ms"; or more, if what the call starts goes on after its end. */
    static String howLong(double ms, double of) {
        return " for " + (ms < 1.5 * of
            ? number(Math.min(ms, of)) + " of " + number(of) + " ms"
            : number(ms) + " ms, though it takes " + number(of) + " ms");
    }

    /** A failure, in one line. Its toString may fail, too. */
    static String told(Throwable thrown) {
        String text = thrown.getClass().getName();
        try {
            text = "" + thrown;
        } catch (Throwable e) {
            text += ", whose toString fails";
        }
        return "%.120s".formatted(text.replaceAll("[\\p{Cntrl}|]+", " ")).strip();
    }

    /** What a call that never ends is doing. */
    static String stuck(Place place) {
        return switch (place.kind()) {
            case WAITS -> "Pinned" + (place.inside().isEmpty() ? "" : " in " + place.inside()
                + ",");
            case AWAITS_CLASS -> "Waits until " + place.inside() + " is initialized,";
            default -> "Keeps the carrier";
        };
    }

    /** Breaks a line at blanks, so that it fits, and indents all but the first part. */
    static String wrap(String line) {
        StringBuilder text = new StringBuilder();
        String left = line.stripTrailing();
        while (left.length() > WIDTH) {
            int at = left.lastIndexOf(' ', WIDTH);
            if (at <= 2) break;
            text.append(left, 0, at).append('\n');
            left = "  " + left.substring(at + 1);
        }
        return text.append(left).append('\n').toString();
    }
}
