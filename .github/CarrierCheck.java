// SPDX-License-Identifier: MIT-0
import java.lang.management.ManagementFactory;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.*;
import java.util.stream.*;
import javax.management.*;

/**
 * Does a call hold its carrier, the platform thread that runs its virtual thread? Then no other
 * virtual thread can run there. This asks about four calls of the JDK, on Java 21 or newer:
 *
 *     java CarrierCheck.java
 *
 * For yours, write CarrierCheck.ask("my call", () -> ...) in the main method of a class Mine
 * beside this file, and run `java -cp "lib/*" Mine.java`; on 21, compile both, and run Mine.
 * Exit code 0: all calls were made; 1: one failed, hung or ended the JVM; 2: none was asked.
 *
 * The trick: the JVM gets only one carrier. While the call runs, ticks are started, one after
 * another: virtual threads that do nothing. If one is late, looks find out who has the carrier.
 * A tick has a twin on a platform thread: if that one is late, too, it's the machine.
 */
public class CarrierCheck {
    private static final String LINE = "|%-7s|%-4s|%-24s|%5s|%5s|%5s|%8s|%7s|%5s|\n";
    private static final java.io.PrintStream OUT = System.out; // a call may set another one
    private static final Map<String, Double> PLACES = new HashMap<>(); // ms seen there, for a row
    private static final Set<String> NOTES = new CopyOnWriteArraySet<>(); // for after the table
    private static final ExecutorService TWIN = Executors.newSingleThreadExecutor(
        Thread.ofPlatform().daemon().factory());
    private static final Pattern FRAME = Pattern.compile( // outside the JDK
        "^(?:\\s*at )?(?!(?:java|jdk)\\.[^/(]*/)" // its modules
        + "[^(\\s]*?([^./(\\s]+\\.[^./(\\s]+)\\([^@)]*(:\\d+)\\)"); // X.method(X.java:1)
    private static final Pattern CARRIED = Pattern.compile("Carrying virtual thread #(\\d+)"
        + "(?:\n\t.*)*(?:\n   Mounted virtual.*((?:\n\t.*)*))?");
    static double patience = 40_000; // ms, then it hangs: a call's timeout is shorter
    private static ForkJoinPool scheduler; // of virtual threads
    private static String asked; // the call that's being made
    private static double worst; // ms that a twin was late
    private static boolean failed;

    public interface Call { void make() throws Exception; }

    public static void main(String[] args) {
        ask("map", () -> new ConcurrentHashMap<String, String>().computeIfAbsent("", key -> {
            LockSupport.parkNanos(50_000_000); // pinned up to 23, then free
            return key;
        }));
        ask("join", () -> Thread.ofPlatform().start(() -> LockSupport.parkNanos(50_000_000))
            .join()); // up to 23, 20 carriers are added; then free
        ask("process", () -> new ProcessBuilder("sleep", "0.05") // starting it blocks; then,
            .start().getInputStream().read()); // 20 carriers are added
        ask("compute", () -> new Random(1).ints(5_000_000).max()); // held
    }

    /** Asks about twenty cold calls at once, then one after another, then twenty warm ones. */
    public static void ask(String name, Call call) {
        if (Thread.currentThread().isVirtual()) refuse("ask on a platform thread, as main is");
        try {
            rows(name, call);
        } catch (Throwable e) { // no memory, no thread, or a call interrupts this one
            end(asked + ": " + reason(e));
        }
    }

    private static void begin() throws Exception {
        String parallelism = "jdk.virtualThreadScheduler.parallelism";
        System.getProperties().putIfAbsent(parallelism, "1"); // for the first virtual thread
        try {
            Thread.startVirtualThread(() -> { }).join();
            Round.dump(); // the first one is slow
        } catch (Exception | Error e) { // a wrong option, or an image that lacks a module
            refuse(e + ", " + e.getCause());
        }
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getClass().getSimpleName().equals("CarrierThread"))
                scheduler = ((ForkJoinWorkerThread) thread).getPool();
        }
        if (scheduler == null) refuse("no carriers here");
        if (scheduler.getParallelism() != 1)
            refuse("it needs a single carrier: run it with -D" + parallelism + "=1");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            boolean stopped = Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().startsWith("SIG")); // by Ctrl-C, say
            if (asked != null && !stopped) end(asked + ": it ended the JVM");
            printNotes();
        }));
        print("""
            ## CarrierCheck

            - Java %s, %s, one carrier; times in ms, medians of calls
            - Held: in a call, no other virtual thread could run; Share: in all of the time
            - cold: the first 20 calls at once; warm: one after another, then 20 at once
            - Platform, Virtual: those 20 on such threads; Added: carriers added for them

            |Verdict|When|Call                    |Takes| Held|Share|Platform|Virtual|Added|
            |-------|----|------------------------|----:|----:|----:|-------:|------:|----:|
            """.formatted(Runtime.version(), System.getProperty("java.vendor")));
        rows("sleep", () -> Thread.sleep(50));
    }

    private static synchronized void rows(String name, Call call) throws Exception {
        if (scheduler == null) begin();
        asked = name.replaceAll("[|\\s\\p{Cntrl}]+", " ");
        if (asked.length() > 24) asked = asked.substring(0, 22) + "..";
        Round first = Round.of(call, 20, Thread.ofVirtual());
        row("cold", List.of(first), first);
        PLACES.clear();
        List<Round> alone = new ArrayList<>();
        for (long start = System.nanoTime(); msSince(start) < 500; )
            alone.add(Round.of(call, 1, Thread.ofVirtual()));
        Round platform = Round.of(call, 20, Thread.ofPlatform().daemon());
        row("warm", alone, Round.of(call, 20, Thread.ofVirtual()), platform);
        PLACES.clear();
        asked = null;
    }

    /** Prints a row of these rounds, of twenty at once and, once warm, on platform threads. */
    private static void row(String when, List<Round> rounds, Round... atOnce) {
        Set<Caller> all = new LinkedHashSet<>();
        rounds.forEach(round -> all.addAll(round.callers));
        List<Caller> fine = all.stream().filter(Caller::isFine).toList();
        boolean works = !fine.isEmpty();
        for (Round round : atOnce) {
            works &= round.callers.stream().anyMatch(Caller::isFine);
            all.addAll(round.callers);
        }
        List<Caller> bad = all.stream().filter(one -> !one.isFine()).toList();
        if (!bad.isEmpty()) {
            failed = true;
            Caller one = bad.getFirst();
            NOTES.add("- " + asked + ": " + bad.size() + " of " + all.size() + " failed: "
                + (one.thread.isVirtual() ? "" : "on a platform thread, ")
                + reason(one.exceptionNow()));
        }
        String platform = atOnce.length > 1 ? text(atOnce[1].took) : "";
        if (!works) {
            print(LINE.formatted("failed", when, asked, "", "", "", platform, "", ""));
            return;
        }
        double takes = value(0.5, fine.stream().map(Caller::resultNow));
        double held = value(0.5, fine.stream().map(one -> one.held));
        double collected = value(0.5, rounds.stream().map(one ->
            one.collected / one.callers.size()));
        double allHeld = rounds.stream().mapToDouble(one -> one.held).sum();
        double allCollected = rounds.stream().mapToDouble(one -> one.collected).sum();
        double share = (allHeld + allCollected)
            / rounds.stream().mapToDouble(one -> one.whole).sum();
        double much = takes < 1 ? 0.3 : takes / 10; // a look takes 0.3 ms
        // What's twice as long as a twin was late isn't the machine's.
        List<Double> noise = rounds.stream().map(one -> 2 * one.noise).sorted().toList();
        List<Caller> holders = fine.stream().filter(one ->
            one.held > Math.max(much, noise.getLast())).toList();
        double part = when.equals("cold") ? 0 : 0.25; // at once, calls queue: the first tells
        boolean isShort = held < much && value(part, fine.stream().map(Caller::resultNow)) < 1;
        String verdict = isShort || share > 0.5 ? "?" : "free";
        String place = mostly("(?!compensated).*");
        String where = isShort ? "too short for a look: ask about a loop of a hundred"
            : share > 0.5 ? "each call held it shortly, all most of the time: " + place : "";
        int added = atOnce[0].added; // one or two may be for class files
        if (collected > Math.max(1, much) && 3 * allCollected > allHeld) {
            held += collected;
            verdict = "held";
            where = "by the garbage collector";
        } else if (added > holders.size() && held < takes / 2 && (added > 2 || share < 0.5)) {
            verdict = "adds";
            where = mostly("compensated.*");
        } else if (held > much || held > 1 && share > 0.5) { // calls may wait for each other
            verdict = place.startsWith("pinned") ? "pinned"
                : held < noise.get(noise.size() / 2) ? "?"
                : place.startsWith("another") ? "other" : "held";
            where = verdict.equals("?") ? "perhaps other programs, or " + place : place;
        } else if (value(0.5, rounds.stream().map(one -> one.lost / one.whole)) > 0.5) {
            verdict = "?";
            where = "all threads were late: other programs, or the JVM stood still";
        } else if (!holders.isEmpty()) {
            verdict = "some";
            where = holders.size() + " of " + fine.size() + " calls, up to "
                + text(value(1, holders.stream().map(one -> one.held))) + " ms: " + place;
        }
        if (!where.isEmpty()) NOTES.add("- " + asked + ": " + where);
        boolean isUnknown = held < much && (isShort || verdict.equals("?"));
        print(LINE.formatted(verdict, when, asked, text(takes), isUnknown ? "?" : text(held),
            Math.round(Math.min(100, 100 * share)) + "%", platform, text(atOnce[0].took),
            added));
    }

    // ------------------------------------------------------------------------- words

    private static double msSince(long start) { return (System.nanoTime() - start) / 1e6; }

    private static String reason(Throwable error) {
        try {
            String place = switch (error) { // javac 17 to 20 stop here, and quote this:
                case StackOverflowError e -> // needs Java 21 or newer
                    " at " + own(List.of(e.getStackTrace()));
                default -> "";
            };
            return "%.120s".formatted((error + place).replaceAll("[\\p{Cntrl}|]+", " "));
        } catch (Throwable e) { // a method of it may throw, too
            return error.getClass().getName();
        }
    }

    /** The place in which calls were seen for longest. */
    private static String mostly(String regex) {
        return PLACES.keySet().stream().filter(place -> place.matches(regex))
            .max(Comparator.comparing(PLACES::get)).orElse("not seen");
    }

    /** The innermost frames outside the JDK. */
    private static String own(Collection<?> stack) {
        return stack.stream().map(Object::toString)
            .takeWhile(frame -> !frame.contains("CarrierCheck$Caller"))
            .map(FRAME::matcher).filter(Matcher::find)
            .map(frame -> frame.group(1).replaceAll("lambda\\$|\\$\\d+", "") + frame.group(2))
            .distinct().limit(3).collect(Collectors.joining(" < "));
    }

    /** The value that this part of them doesn't exceed: half for the median. */
    private static double value(double part, Stream<Double> values) {
        List<Double> sorted = values.sorted().toList();
        return sorted.get((int) Math.min(part * sorted.size(), sorted.size() - 1));
    }

    private static String text(double ms) { // three digits
        int digits = ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : ms >= 0.9995 ? 2 : 3;
        return String.format(Locale.ROOT, "%." + digits + "f", ms);
    }

    private static void print(String text) {
        OUT.print(text);
        if (!OUT.checkError()) return;
        System.err.println("CarrierCheck: can't write standard output");
        Runtime.getRuntime().halt(1);
    }

    private static void printNotes() {
        if (worst > 2) NOTES.add("- Busy machine: a platform thread was " + text(worst)
            + " ms late; times may be wrong by that");
        if (!NOTES.isEmpty()) print("\n" + String.join("\n", NOTES) + "\n");
        if (failed) Runtime.getRuntime().halt(1);
    }

    /** Ends the JVM at once, as a library's shutdown hook might hang, too. */
    private static void end(String why) {
        failed = true;
        NOTES.add("- " + why);
        printNotes();
    }

    private static void refuse(String why) {
        synchronized (NOTES) { // all calls may get here
            System.err.println("CarrierCheck: " + why);
            Runtime.getRuntime().halt(2);
        }
    }

    // ------------------------------------------------------------------------- calls

    /** Makes the call; its result is how many ms that took. */
    static class Caller extends FutureTask<Double> {
        Thread thread;
        double held; // ms

        Caller(Call call) {
            super(() -> {
                long start = System.nanoTime();
                call.make();
                return msSince(start);
            });
        }

        boolean isFine() { return state() == State.SUCCESS; }

        void charge(String place, double ms) {
            PLACES.merge(place, ms, Double::sum);
            held += ms;
        }

        boolean isMounted() { // then its text ends like "]/runnable@ForkJoinPool-1-worker-1"
            String text = thread.toString();
            return thread.isVirtual() && text.indexOf('@', text.lastIndexOf("]/")) > 0;
        }

        /** What it does, and the innermost frames outside the JDK. */
        String place() {
            boolean isRunnable = thread.getState() == Thread.State.RUNNABLE;
            List<StackTraceElement> stack = List.of(thread.getStackTrace());
            List<StackTraceElement> frames = stack.stream().takeWhile(frame ->
                !frame.getClassName().equals(Caller.class.getName())).toList();
            boolean isIn = frames.size() < stack.size() || frames.size() > 1_000; // it's cut
            if (frames.isEmpty() || !isIn) return "not begun"; // or it has ended
            String place = own(frames);
            if (place.isEmpty()) place = "" + frames.getLast(); // such as queue::take
            if (!isMounted()) return "waiting at " + place;
            if (isRunnable) return "at " + place;
            String methods = frames.stream().map(StackTraceElement::getMethodName)
                .collect(Collectors.joining(" "));
            // Up to 23, a loader's own monitor pins, too, unless the JVM is its caller.
            boolean isNew = Runtime.version().feature() > 23;
            boolean loads = methods.contains(isNew ? "loadClass" : "loadClass forName0");
            return "pinned at " + place + (methods.contains("<clinit>") ? " (class initializer)"
                : loads ? " (class loader)" : "");
        }
    }

    /** Calls at once, each on a thread of its own, and ticks meanwhile. */
    static class Round {
        final List<Caller> callers = new ArrayList<>();
        final List<Caller> left = new ArrayList<>();
        Map<Caller, String> holders = Map.of(); // of the carrier, and where they are
        String another = ""; // virtual thread that has it
        double took; // ms until the last call had ended
        double whole; // ms until what calls have started had, too
        double held; // ms
        double collected; // ms in which all stood still for a garbage collection
        double lost; // ms in which ticks were late, and nobody was seen
        double noise; // ms that a twin was late
        int added; // carriers
        private long progress = System.nanoTime(); // when the last call has ended
        private double late; // ms, of the last tick
        private Map<Caller, String> beside; // it, on added carriers

        static Round of(Call call, int calls, Thread.Builder threads) throws Exception {
            Round round = new Round();
            for (int i = 0; i < calls; i++) round.callers.add(new Caller(call));
            round.left.addAll(round.callers);
            double before = collected();
            long start = System.nanoTime();
            for (Caller one : round.callers) one.thread = threads.start(one);
            while (!round.left.isEmpty()) {
                round.tick();
                LockSupport.parkNanos(200_000); // so that ticks don't take all the time
                round.stopIfStuck(start, "no call has ended");
            }
            round.took = msSince(start);
            // What calls have started may go on: it's theirs, not the next round's.
            for (int prompt = 0; prompt < 3 && msSince(start) < round.took + 10_000; )
                prompt = round.tick() > 1 ? 0 : prompt + 1;
            round.whole = msSince(start);
            round.collected = collected() - before;
            return round;
        }

        /** Starts a tick, and looks until it has run; returns how many ms it was held up. */
        private double tick() throws Exception {
            double heldBefore = held;
            double collectedBefore = collected();
            long start = System.nanoTime();
            Thread tick = Thread.startVirtualThread(() -> {
                late = msSince(start);
                beside = mounted();
            });
            Future<Double> twin = TWIN.submit(() -> msSince(start));
            double from = 0;
            while (!tick.join(java.time.Duration.ofNanos(300_000))) { // to wake takes 0.1 ms
                double now = msSince(start);
                look(tick.threadId());
                if (twin.isDone()) share(now - from); // else all threads are late
                from = now;
                stopIfStuck(start, "no other virtual thread has run");
            }
            share(late - from);
            holders = Map.of();
            another = "";
            added = Math.max(added, beside.size());
            beside.forEach((one, at) ->
                one.charge(at.replaceFirst("(pinned )?at", "compensated at"), 0));
            double uncharged = late - (held - heldBefore);
            if (uncharged > 1) lost += uncharged;
            if (collected() == collectedBefore) noise = Math.max(noise, twin.get());
            worst = Math.max(worst, noise);
            return held - heldBefore;
        }

        /** Charges calls that were mounted with a share each, or else each that's left with all. */
        void share(double ms) {
            if (holders.isEmpty() && another.isEmpty()) return; // it's the machine
            held += ms;
            holders.forEach((one, at) -> one.charge(at, ms / holders.size()));
            if (!holders.isEmpty()) return;
            for (Caller one : left.isEmpty() ? callers : left) one.charge(another, ms);
        }

        private static double collected() {
            return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(bean -> !bean.getName().endsWith("Cycles")) // these run beside
                .mapToDouble(bean -> bean.getCollectionTime()).sum();
        }

        private Map<Caller, String> mounted() {
            Map<Caller, String> mounted = new HashMap<>();
            for (Caller one : callers) {
                String place = one.isMounted() ? one.place() : "";
                if (place.matches("(at|pinned) .*") && one.isMounted()) mounted.put(one, place);
            }
            return mounted;
        }

        /** Finds who is mounted. If no call seems to be, the JVM says who and, from 24 on, where. */
        private void look(long tick) throws JMException {
            another = "";
            holders = mounted();
            if (!holders.isEmpty()) return;
            Matcher other = CARRIED.matcher(dump());
            if (!other.find() || other.group(1).equals("" + tick)
                || other.group().contains(".subPollerLoop(")) return; // the JDK's, for sockets
            String place = own(("" + other.group(2)).lines().toList());
            another = "another virtual thread" + (place.isEmpty() ? "" : ", at " + place);
            for (Caller one : callers) {
                if (!other.group(1).equals("" + one.thread.threadId())) continue;
                another = "";
                String at = own(List.of(one.thread.getStackTrace()));
                if (!at.isEmpty()) holders = Map.of(one, "at " + at); // else it's no longer there
            }
        }

        static String dump() throws JMException {
            return "" + ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "threadPrint",
                new Object[] {new String[0]}, new String[] {String[].class.getName()});
        }

        /** Ends the JVM if that began long ago and no call has ended since: nothing else would. */
        private void stopIfStuck(long start, String what) {
            if (left.removeIf(Caller::isDone)) progress = System.nanoTime();
            if (Math.min(msSince(start), msSince(progress)) < patience) return;
            String all = "";
            for (var place : left.stream().collect(Collectors.groupingBy(Caller::place,
                    TreeMap::new, Collectors.counting())).entrySet())
                all += "\n  - " + place.getValue() + " " + place.getKey();
            end(asked + ": " + what + " for " + text(patience / 1_000) + " s. Left:" + all
                + "\n- Try: " + (all.contains("(class") ? "use that class once at startup; "
                    + "-Djdk.pollerMode=1 if it's for sockets; java KnownBugs.java"
                : all.contains(" pinned at") ? "a newer JDK or library, or a ReentrantLock"
                : all.matches("(?s).*\\d at .*") ? "park, if it spins; else a platform thread"
                : "a timeout: it waits for another call, or for longer than that"));
        }
    }
}
