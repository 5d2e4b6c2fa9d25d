// SPDX-License-Identifier: MIT-0
import java.lang.management.ManagementFactory;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.*;
import java.util.stream.*;
import javax.management.ObjectName;

/**
 * Does a call hold its carrier, the platform thread that runs its virtual thread? Then no other
 * virtual thread can run there. This asks about three calls of the JDK, on Java 21 or newer:
 *
 *     java CarrierCheck.java
 *
 * For yours, write CarrierCheck.ask("my call", () -> ...) in the main method of a class Mine
 * beside this file, and run `java -cp "lib/*" Mine.java`; on 21, compile both, and run Mine.
 * Exit code 0: all calls were made; 1: one failed, hung or ended the JVM; 2: none was asked.
 *
 * The trick: the JVM gets only one carrier. While the call runs, ticks are started, one after
 * another: virtual threads that do nothing. If one is late, a thread dump shows who's mounted.
 * What's computed between two ticks is told by the carrier's processor time. The thread that
 * looks is a platform thread: if it wakes up late, too, it's the machine.
 */
public class CarrierCheck {
    private static final String ROW = "|%-7s|%-4s|%-24s|%5s|%5s|%5s|%8s|%7s|%5s|\n";
    private static final java.io.PrintStream OUT = System.out; // a call may set another one
    private static final Map<String, Integer> NOTES = new ConcurrentSkipListMap<>(); // times
    static final Map<String, Double> PLACES = new HashMap<>(); // ms that holders were there
    private static final Pattern FRAME = Pattern.compile("[\\s\\[](?!java\\.|jdk\\.)[^\\s(]*?"
        + "([^\\s./(]+\\.[^\\s./(]+)\\((?!java\\.|jdk\\.)[^\\s)]*(:\\d+)\\)"); // not the JDK's
    private static final Pattern CARRIER = Pattern.compile("\" #(\\d+) .*\n   Carrying virtual "
        + "thread #(?!\\1\n)(\\d+)(?:\n\t.*)*(?:\n   Mounted virtual.*((?:\n\t.*)*))?");
    private static final Set<Long> TICKS = ConcurrentHashMap.newKeySet(); // their ids
    static double patience = 40_000; // ms, then it hangs: a call's timeout is shorter
    private static ForkJoinPool scheduler; // of virtual threads
    private static ThreadGroup carriers;
    private static String asked; // the call that's being made
    private static boolean failed;
    private static double worst; // ms that the asking thread was late

    public interface Call { void make() throws Exception; }

    public static void main(String[] args) {
        ask("map", () -> new ConcurrentHashMap<String, String>().computeIfAbsent("", key -> {
            LockSupport.parkNanos(50_000_000); // pinned up to 23, then free
            return key;
        }));
        ask("join", () -> Thread.ofPlatform().start(() -> LockSupport.parkNanos(50_000_000))
            .join()); // up to 23, 20 carriers are added; then free
        ask("compute", () -> new Random(1).ints(5_000_000).max()); // held
    }

    /** Asks about twenty cold calls at once, then one after another, then twenty warm ones. */
    public static void ask(String name, Call call) {
        if (Thread.currentThread().isVirtual()) refuse("ask on a platform thread, as main is");
        try {
            begin();
            if (asked != null) refuse("ask about one call at a time");
            asked = "%.24s".formatted(name.replaceAll("[|\\s\\p{Cntrl}]+", " "));
            Round cold = new Round().make(call, 20, Thread.ofVirtual());
            row(List.of(cold), cold, cold);
            List<Round> warm = new ArrayList<>();
            for (long start = System.nanoTime(); msSince(start) < 500; )
                warm.add(new Round().make(call, 1, Thread.ofVirtual()));
            Round platform = new Round().make(call, 20, Thread.ofPlatform().daemon());
            row(warm, new Round().make(call, 20, Thread.ofVirtual()), platform);
            asked = null;
        } catch (Throwable e) { // no memory, no thread, a wrong option, or an interrupt
            if (carriers == null) refuse(e + ", " + e.getCause());
            fail("" + e);
            end();
        }
    }

    private static synchronized void begin() throws Exception {
        if (carriers != null) return;
        String parallelism = "jdk.virtualThreadScheduler.parallelism";
        System.getProperties().putIfAbsent(parallelism, "1"); // for the first virtual thread
        Thread.startVirtualThread(() -> { }).join();
        new Round().look(); // the first one is slow
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (!thread.getClass().getSimpleName().equals("CarrierThread")) continue;
            scheduler = ((ForkJoinWorkerThread) thread).getPool();
            carriers = thread.getThreadGroup();
        }
        if (carriers == null) refuse("no carriers here");
        if (scheduler.getParallelism() != 1)
            refuse("it needs a single carrier: run it with -D" + parallelism + "=1");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            if (asked != null) fail("it ended the JVM, or somebody else did");
            end();
        }));
        OUT.print("""
            ## CarrierCheck

            - Java %s, %s, one carrier; times in ms
            - Held: in a call, no other virtual thread could run; Share: in all of the time
            - cold: the first 20 calls at once; warm: one after another, then 20 at once
            - Platform, Virtual: those 20 on such threads; Added: carriers added for them

            |Verdict|When|Call                    |Takes| Held|Share|Platform|Virtual|Added|
            |-------|----|------------------------|----:|----:|----:|-------:|------:|----:|
            """.formatted(Runtime.version(), System.getProperty("java.vendor")));
        ask("sleep", () -> Thread.sleep(50));
    }

    /** Prints a row of rounds; the others had twenty calls at once, virtual and platform. */
    private static void row(List<Round> rounds, Round atOnce, Round platform) {
        boolean isCold = rounds.contains(atOnce); // then calls wait for each other
        String when = isCold ? "cold" : "warm";
        String holder = mostly("(?!adds).*");
        String adder = mostly("adds.*");
        PLACES.clear();
        List<Double> times = rounds.stream().flatMap(one -> one.times.stream()).toList();
        if (times.isEmpty() || atOnce.times.isEmpty() || platform.times.isEmpty()) {
            OUT.print(ROW.formatted("failed", when, asked, "", "", "", "", "", ""));
            return;
        }
        double takes = median(times.stream());
        worst = rounds.stream().mapToDouble(one -> one.noise).reduce(worst, Math::max);
        double held = median(rounds.stream().map(one ->
            Math.max(one.held, one.stopped) / one.callers.size()));
        double lost = median(rounds.stream().map(one -> (one.late - one.held) / one.whole));
        var holds = rounds.stream().mapToDouble(one -> one.held).summaryStatistics();
        double most = holds.getMax();
        double stopped = rounds.stream().mapToDouble(one -> one.stopped).sum();
        if (2 * stopped > holds.getSum()) holder = "held by the garbage collector";
        double share = Math.max(holds.getSum(), stopped)
            / rounds.stream().mapToDouble(one -> one.whole).sum();
        boolean isHeld = held > (takes < 1 ? 0.3 : takes / 10); // a look takes 0.3 ms
        String note = "free";
        if (atOnce.added > (isCold ? 2 : 0) && held < takes / 2) // some are for class files
            note = adder;
        else if (isHeld || share > 0.5 && (isCold || takes < 1))
            note = holder;
        else if (takes < 1)
            note = "? too short for a look: ask about a loop of a hundred";
        else if (lost > (isCold ? 0.3 : 0.1))
            note = "? not seen, but ticks were late: other programs, or it yields";
        else if (isCold ? share > 0.3 : most > takes / 5 && (share > 0.1 || most > 2 * worst))
            note = "some " + (isCold ? "in all " : "up to ") + text(most) + " ms: " + holder;
        String verdict = note.split(" ")[0];
        if (!verdict.equals("free")) NOTES.put(asked + ": " + note.strip(), 1);
        OUT.print(ROW.formatted(verdict, when, asked, text(takes),
            verdict.equals("?") ? "?" : text(held), Math.round(100 * share) + "%",
            isCold ? "" : text(platform.took), text(atOnce.took), atOnce.added));
    }

    // ------------------------------------------------------------------------- words

    private static double msSince(long start) { return (System.nanoTime() - start) / 1e6; }

    private static double median(Stream<Double> values) {
        List<Double> sorted = values.sorted().toList();
        return sorted.get(sorted.size() / 2);
    }

    private static String text(double ms) { // three digits
        int digits = ms < 0.9995 ? 3 : ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0;
        return String.format(Locale.ROOT, "%." + digits + "f", ms);
    }

    private static String reason(Throwable error) {
        try {
            return "%.120s ".formatted(error) + place(Arrays.toString(error.getStackTrace()));
        } catch (Throwable e) { // a method of it may throw, too
            return error.getClass().getName();
        }
    }

    /** The innermost frames outside the JDK; nothing if that isn't in a call. */
    private static String place(String stack) {
        String own = FRAME.matcher(stack.split("CarrierCheck.Round\\.")[0]).results()
            .map(frame -> (frame.group(1) + frame.group(2)).replaceAll("lambda\\$|\\$\\d+", ""))
            .distinct().limit(3).collect(Collectors.joining(" < "));
        String at = !own.isEmpty() ? "at " + own
            : stack.contains("CarrierCheck$Round.") ? "in the JDK" : "";
        return at + (stack.contains("<clinit>") ? " (class initializer)"
            : stack.contains("forName0(") ? " (class loader)" : "");
    }

    /** The place in which holders were for longest. */
    static String mostly(String regex) {
        return PLACES.keySet().stream().filter(place -> place.matches(regex))
            .max(Comparator.comparing(PLACES::get)).orElse("held unseen");
    }

    private static void fail(String why) {
        failed = true;
        NOTES.merge(asked + ": " + why.replaceAll("[\\p{Cntrl}|]+", " ").strip(), 1,
            Integer::sum);
    }

    private static void end() {
        if (worst > 2) NOTES.put("Busy machine: a platform thread was " + text(worst)
            + " ms late; times may be wrong by that", 1);
        OUT.println();
        NOTES.forEach((note, times) ->
            OUT.println("- " + note + (times > 1 ? " (" + times + " times)" : "")));
        if (OUT.checkError()) System.err.println("CarrierCheck: can't write standard output");
        if (OUT.checkError() || failed)
            Runtime.getRuntime().halt(1); // at once: a library's shutdown hook might hang, too
    }

    private static synchronized void refuse(String why) {
        System.err.println("CarrierCheck: " + why);
        Runtime.getRuntime().halt(2);
    }

    // ------------------------------------------------------------------------- calls

    /** Returns how many ms garbage collections took that stop all threads. */
    private static double collected() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> !bean.getName().endsWith("Cycles")) // these run beside
            .mapToDouble(bean -> bean.getCollectionTime()).sum();
    }

    /** Returns the carriers' processor time in ms. */
    private static double used() {
        Thread[] threads = new Thread[carriers.activeCount() + 9];
        return Stream.of(threads).limit(carriers.enumerate(threads)).mapToLong(one ->
            ManagementFactory.getThreadMXBean().getThreadCpuTime(one.threadId())).sum() / 1e6;
    }

    /** Calls at once, and ticks meanwhile. */
    static class Round {
        final Queue<Double> times = new ConcurrentLinkedQueue<>(); // ms of calls
        final Map<Long, Thread> callers = new HashMap<>(); // by their ids
        double held; // ms that ticks were late while somebody was seen, or that was computed
        private double last; // ms that the last tick was late
        double late; // ms that ticks were late, but for one each
        private double used; // ms of carriers' processor time when the last tick had ended
        private double computed; // ms of it from there to the next tick
        double stopped; // ms of garbage collections
        private double noise; // ms that the asking thread was late: the machine is busy
        double took; // ms until the last call had ended
        double whole; // ms until what the calls had started had ended, too
        int added; // carriers
        private volatile long progress = System.nanoTime(); // when the last call ended

        Round make(Call call, int calls, Thread.Builder threads) throws Exception {
            for (int i = 0; i < calls; i++) {
                Thread caller = threads.unstarted(() -> {
                    long begun = System.nanoTime();
                    try {
                        call.make();
                        times.add(msSince(begun));
                    } catch (Throwable e) {
                        fail((Thread.currentThread().isVirtual() ? "failed: "
                            : "failed on a platform thread: ") + reason(e));
                    }
                    progress = System.nanoTime();
                });
                callers.put(caller.threadId(), caller);
            }
            double collected = collected();
            used = used();
            long start = System.nanoTime();
            for (Thread one : callers.values()) one.start();
            for (tick(); callers.values().stream().anyMatch(Thread::isAlive); stopIfStuck()) {
                LockSupport.parkNanos(200_000); // so that ticks don't take all the time
                tick();
            }
            took = msSince(start);
            // What calls have started may go on: it's theirs, not the next round's.
            do {
                LockSupport.parkNanos(200_000); // or ticks might overtake it for long
                tick();
            } while ((last > 1 || scheduler.hasQueuedSubmissions())
                && msSince(start) < took + 10_000);
            whole = msSince(start);
            if (held <= 2 * noise) held = 0; // it may be the machine
            held = Math.max(held, computed);
            stopped = collected() - collected;
            return this;
        }

        /** Starts a tick, and looks until it has run. */
        private void tick() throws Exception {
            long start = System.nanoTime();
            var ran = new FutureTask<Collection<String>>(() -> {
                last = msSince(start);
                double ms = used() - used;
                if (ms > 0.5 && callers.values().stream().noneMatch(one ->
                    one.getState() == Thread.State.RUNNABLE)) // or one yields
                    computed += ms;
                return callers.size() == 1 ? List.of() : look().values();
            });
            Thread tick = Thread.ofVirtual().unstarted(ran);
            TICKS.add(tick.threadId());
            tick.start();
            Collection<String> seen = List.of();
            double pause = 0.3; // ms; a look takes 0.2, and stops all threads
            double looked = 0;
            while (!tick.join(java.time.Duration.ofNanos((long) (1e6 * pause)))) {
                stopIfStuck();
                noise = Math.max(noise, msSince(start) - looked - pause); // or a collection
                seen = look().values();
                charge(seen, msSince(start) - looked);
                looked = msSince(start);
                pause = Math.clamp(looked / 4, 0.3, 3); // the later it is, the fewer looks
            }
            charge(seen, last - looked);
            added = Math.max(added, ran.get().size());
            for (String at : ran.get())
                PLACES.merge(at.replaceFirst("\\w+", "adds carriers"), 1.0, Double::sum);
            late += Math.max(0, last - 1);
            used = used();
        }

        void charge(Collection<String> seen, double ms) {
            if (!seen.isEmpty()) held += ms;
            for (String at : seen) PLACES.merge(at, ms, Double::sum);
        }

        /** Where mounted virtual threads are. The JVM says who and, from 24 on, where. */
        private Map<Long, String> look() throws Exception {
            Map<Long, String> seen = new HashMap<>();
            Matcher carrier = CARRIER.matcher("" + ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "threadPrint", new Object[] {new String[0]},
                    new String[] {String[].class.getName()}));
            while (carrier.find()) {
                long id = Long.parseLong(carrier.group(2));
                Thread one = callers.get(id);
                String stack = carrier.group(3) != null ? carrier.group(3)
                    : one != null ? Arrays.toString(one.getStackTrace()) : "";
                String at = place(stack);
                if (TICKS.contains(id) || stack.contains(".subPollerLoop(") // the JDK's
                    || one != null && at.isEmpty() // it begins, or has ended
                    || stack.matches("\\S*VirtualThread\\.park(Nanos)?\\(.*")) // or parked
                    continue;
                boolean waits = stack.matches("(?s).*\\.(parkOnCarrierThread|wait0)\\(.*")
                    || one != null && one.getState() == Thread.State.BLOCKED;
                seen.put(id, switch (one) {
                    case null -> "other virtual threads " + at;
                    case Thread caller -> // needs Java 21 or newer, and javac 17 quotes this
                        (waits ? "pinned " : "held ") + at;
                });
            }
            return seen;
        }

        /** Ends the JVM if no call has ended for too long. */
        private void stopIfStuck() throws Exception {
            if (msSince(progress) < patience) return;
            Map<Long, String> mounted = look();
            fail("no call has ended for " + text(patience / 1_000) + " s");
            for (Thread one : callers.values()) {
                if (!one.isAlive()) continue;
                String at = place(Arrays.toString(one.getStackTrace()));
                fail("still " + mounted.getOrDefault(one.threadId(),
                    at.isEmpty() ? "not begun" : "waiting " + at));
            }
            String all = String.join(" ", mounted.values());
            fail("try " + (all.contains("(class")
                ? "using that class at startup; java KnownBugs.java"
                : all.contains("pinned") ? "a newer JDK or library, or a ReentrantLock"
                : !all.isEmpty() ? "parking, if it spins; else a platform thread"
                : "a timeout: it waits for another call, or for longer than that"));
            end();
        }
    }
}
