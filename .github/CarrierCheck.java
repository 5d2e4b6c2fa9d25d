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
 * A tick has a twin on a platform thread: if that one is late, too, it's the machine.
 */
public class CarrierCheck {
    private static final String LINE = "|%-7s|%-4s|%-24s|%5s|%5s|%5s|%8s|%7s|%5s|\n";
    private static final java.io.PrintStream OUT = System.out; // a call may set another one
    private static final Set<String> NOTES = new CopyOnWriteArraySet<>(); // for after the table
    private static final Map<String, Integer> FAILURES = new ConcurrentSkipListMap<>();
    private static final ExecutorService TWIN = Executors.newSingleThreadExecutor(
        Thread.ofPlatform().daemon().factory());
    private static final Pattern CARRIER = Pattern.compile("Carrying virtual thread #(\\d+)"
        + "(?:\n\t.*)*(?:\n   Mounted virtual.*((?:\n\t.*)*))?");
    static double patience = 40_000; // ms, then it hangs: a call's timeout is shorter
    private static ForkJoinPool scheduler; // of virtual threads
    private static String asked; // the call that's being made
    private static double worst; // ms that a twin was late

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
            asked = name.replaceAll("[|\\s\\p{Cntrl}]+", " ");
            if (asked.length() > 24) asked = asked.substring(0, 22) + "..";
            Round cold = new Round().make(call, 20, Thread.ofVirtual());
            row(cold, cold, cold);
            Round warm = new Round();
            for (long start = System.nanoTime(); msSince(start) < 500 // or it can't tell yet:
                || msSince(start) < 2_000 && median(warm.losses) > 0.1; )
                warm.make(call, 1, Thread.ofVirtual());
            Round platform = new Round().make(call, 20, Thread.ofPlatform().daemon());
            row(warm, new Round().make(call, 20, Thread.ofVirtual()), platform);
            asked = null;
        } catch (Throwable e) { // no memory, no thread, or a call interrupts this one
            fail(asked + ": " + reason(e));
        }
    }

    private static synchronized void begin() throws Exception {
        if (scheduler != null) return;
        String parallelism = "jdk.virtualThreadScheduler.parallelism";
        System.getProperties().putIfAbsent(parallelism, "1"); // for the first virtual thread
        try {
            Thread.startVirtualThread(() -> { }).join();
            new Round().look(); // the first one is slow
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
            if (asked != null) fail(asked + ": it ended the JVM, or somebody else did");
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

    /** Prints a row of a round; the others had twenty calls at once, virtual and platform. */
    private static void row(Round round, Round atOnce, Round platform) {
        boolean isCold = round == atOnce; // then calls wait for each other
        String when = isCold ? "cold" : "warm";
        if (Stream.of(round, atOnce, platform).anyMatch(one -> one.times.isEmpty())) {
            OUT.print(LINE.formatted("failed", when, asked, "", "", "", "", "", ""));
            return;
        }
        double takes = median(round.times);
        double held = median(round.holds) / round.callers.size();
        double share = round.holds.stream().mapToDouble(ms -> ms).sum() / round.whole;
        double much = takes < 1 ? 0.3 : takes / 10; // a look takes 0.3 ms
        double most = Collections.max(round.holds);
        double shortest = isCold ? Collections.min(round.times) : takes;
        String verdict = "free";
        String place = round.mostly("(?!compensated).*");
        if (atOnce.added > (isCold ? 2 : 0) && held < takes / 2) { // some are for class files
            verdict = "adds";
            place = atOnce.mostly("compensated.*");
        } else if (held < much && shortest < 1) {
            verdict = "?";
            place = "too short for a look: ask about a loop of a hundred";
        } else if (held > much || isCold && share > 0.5) {
            verdict = place.startsWith("pinned") ? "pinned"
                : place.startsWith("another") ? "other" : "held";
        } else if (median(round.losses) > (isCold ? 0.3 : 0.1)) {
            verdict = "?";
            place = "not seen, but ticks were late: other programs, or it yields";
        } else if (isCold ? share > 0.3
                : most > takes / 5 && (share > 0.1 || most > 2 * worst)) {
            verdict = "some";
            place = (isCold ? "in all " : "up to ") + text(most) + " ms: " + place;
        }
        if (!verdict.equals("free")) NOTES.add("- " + asked + ": " + place);
        OUT.print(LINE.formatted(verdict, when, asked, text(takes),
            verdict.equals("?") ? "?" : text(held), Math.round(100 * share) + "%",
            isCold ? "" : text(platform.took), text(atOnce.took), atOnce.added));
    }

    // ------------------------------------------------------------------------- words

    private static double msSince(long start) { return (System.nanoTime() - start) / 1e6; }

    private static String reason(Throwable error) {
        try {
            return switch (error) { // javac 17 to 20 stop here, and quote this:
                case StackOverflowError e -> // needs Java 21 or newer
                    e.getClass().getName() + " " + place(stack(e.getStackTrace()));
                default -> "%.120s".formatted(("" + error).replaceAll("[\\p{Cntrl}|]+", " "));
            };
        } catch (Throwable e) { // a method of it may throw, too
            return error.getClass().getName();
        }
    }

    private static String stack(StackTraceElement... frames) {
        return Stream.of(frames).map(Object::toString).collect(Collectors.joining("\n"));
    }

    /** The innermost frames outside the JDK, or the JDK's method that is the call, if any. */
    private static String place(String stack) {
        List<String> frames = stack.lines().map(line -> line.replaceFirst("^\\s*at ", ""))
            .takeWhile(line -> !line.contains("CarrierCheck$Round."))
            .filter(line -> line.matches("[^-]\\S*\\(.*") && !line.contains("$$Lambda"))
            .toList();
        String own = frames.stream().filter(frame -> frame.matches(".*:\\d+\\)")
            && !frame.matches("(java|jdk)\\..*|.*\\((java|jdk)\\..*")) // of its modules
            .map(frame -> frame.replaceAll(".*?([^./]+\\.[^./]+)\\(.*(:\\d+)\\)", "$1$2")
                .replaceAll("lambda\\$|\\$\\d+", ""))
            .distinct().limit(3).collect(Collectors.joining(" < "));
        return !own.isEmpty() ? "at " + own
            : frames.isEmpty() || !stack.contains("$Round.") ? "" : "at " + frames.getLast();
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().skip(values.size() / 2).findFirst().get();
    }

    private static String text(double ms) { // three digits
        int digits = ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : ms >= 0.9995 ? 2 : 3;
        return String.format(Locale.ROOT, "%." + digits + "f", ms);
    }

    private static void fail(String why) {
        FAILURES.put(why, 1);
        end();
    }

    private static void end() {
        FAILURES.forEach((why, times) ->
            NOTES.add("- " + why + (times > 1 ? " (" + times + " times)" : "")));
        if (worst > 2) NOTES.add("- Busy machine: a platform thread was " + text(worst)
            + " ms late; times may be wrong by that");
        if (!NOTES.isEmpty()) OUT.println("\n" + String.join("\n", NOTES));
        if (OUT.checkError()) System.err.println("CarrierCheck: can't write standard output");
        if (OUT.checkError() || !FAILURES.isEmpty())
            Runtime.getRuntime().halt(1); // at once: a library's shutdown hook might hang, too
    }

    private static void refuse(String why) {
        synchronized (NOTES) { // all calls may get here
            System.err.println("CarrierCheck: " + why);
            Runtime.getRuntime().halt(2);
        }
    }

    // ------------------------------------------------------------------------- calls

    private record Caller(Thread thread, FutureTask<Double> task) { }

    /** Calls one after another, or at once, and ticks meanwhile. */
    static class Round {
        final List<Double> times = new ArrayList<>(); // ms of calls
        final List<Double> holds = new ArrayList<>(); // ms that ticks were late, by one or all
        final List<Double> losses = new ArrayList<>(); // parts in which nobody was seen
        final Map<String, Double> places = new HashMap<>(); // ms that holders were there
        double took; // ms until the last call had ended
        double whole; // ms until what the calls had started had ended, too
        int added; // carriers
        private final Map<Long, Caller> callers = new HashMap<>(); // by their threads' ids
        private final List<Caller> left = new ArrayList<>();
        private Thread tick = Thread.currentThread(); // none yet
        private double late; // ms, of that tick
        double held; // ms, by these calls
        private double lost; // ms that ticks were late, and nobody was seen
        private double noise; // ms
        private double collected; // ms of garbage collections so far
        private long progress = System.nanoTime(); // when the last call ended

        Round make(Call call, int calls, Thread.Builder threads) throws Exception {
            callers.clear();
            for (int i = 0; i < calls; i++) {
                var task = new FutureTask<>(() -> {
                    long begun = System.nanoTime();
                    call.make();
                    return msSince(begun);
                });
                Thread thread = threads.unstarted(task);
                callers.put(thread.threadId(), new Caller(thread, task));
            }
            left.addAll(callers.values());
            held = 0;
            lost = 0;
            noise = 0;
            long start = System.nanoTime();
            for (Caller one : callers.values()) one.thread.start();
            while (!left.isEmpty()) {
                tick();
                LockSupport.parkNanos(200_000); // so that ticks don't take all the time
                stopIfStuck(start, "no call has ended");
            }
            took = msSince(start);
            // What calls have started may go on: it's theirs, not the next round's.
            for (int prompt = 0; prompt < 2 + calls && msSince(start) < took + 10_000; )
                prompt = tick() > 1 ? 0 : prompt + 1;
            whole += msSince(start);
            holds.add(held > 2 * noise ? held : 0); // else it may be the machine
            losses.add((held > 2 * noise ? lost : lost + held) / msSince(start));
            for (Caller one : callers.values()) {
                if (one.task.state() == Future.State.SUCCESS) times.add(one.task.resultNow());
                else FAILURES.merge(asked + (one.thread.isVirtual() ? ": failed: "
                    : ": failed on a platform thread: ") + reason(one.task.exceptionNow()), 1,
                    Integer::sum);
            }
            return this;
        }

        /** Starts a tick, and looks until it has run; returns how many ms it was held up. */
        private double tick() throws Exception {
            charge(Map.of(), 0); // what was collected before isn't this tick's
            double heldBefore = held;
            double collectedBefore = collected;
            long start = System.nanoTime();
            var task = new FutureTask<>(() -> {
                late = msSince(start);
                boolean isAlone = callers.size() == 1 || scheduler.getPoolSize() == 1;
                return isAlone ? Map.<Long, String>of() : look();
            });
            tick = Thread.ofVirtual().unstarted(task);
            tick.start();
            Future<Double> twin = TWIN.submit(() -> msSince(start));
            Map<Long, String> seen = Map.of();
            double from = 0;
            // A look takes 0.2 ms, and stops all threads: the later it is, the fewer looks.
            while (!tick.join(java.time.Duration.ofNanos(
                (long) Math.clamp(from * 1e6 / 4, 300_000, 3_000_000)))) {
                stopIfStuck(start, "no other virtual thread has run");
                seen = look();
                double now = msSince(start);
                if (twin.isDone() && seen.isEmpty()) continue; // the next had it meanwhile
                charge(twin.isDone() ? seen : Map.of(), now - from); // or all threads are late
                from = now;
            }
            charge(seen, late - from);
            added = Math.max(added, task.get().size());
            for (String at : task.get().values())
                places.merge(at.replaceFirst("(pinned )?(at|before)", "compensated $2"), 1.0,
                    Double::sum);
            double unseen = late - (held - heldBefore);
            if (unseen > 1) lost += unseen;
            noise = Math.max(noise, twin.get() - (collected - collectedBefore));
            worst = Math.max(worst, noise);
            return held - heldBefore;
        }

        /** Charges those who were seen, or the garbage collector if it ran meanwhile. */
        void charge(Map<Long, String> seen, double ms) {
            double before = collected;
            collected = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(bean -> !bean.getName().endsWith("Cycles")) // these run beside
                .mapToDouble(bean -> bean.getCollectionTime()).sum();
            Collection<String> holders = collected > before
                ? List.of("by the garbage collector") : seen.values();
            if (!holders.isEmpty()) held += ms;
            for (String at : holders) places.merge(at, ms, Double::sum);
        }

        /** Where mounted virtual threads are. The JVM says who and, from 24 on, where. */
        private Map<Long, String> look() throws Exception {
            Map<Long, String> seen = new HashMap<>();
            Matcher carrier = CARRIER.matcher("" + ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
                    "threadPrint", new Object[] {new String[0]},
                    new String[] {String[].class.getName()}));
            while (carrier.find()) {
                long id = Long.parseLong(carrier.group(1));
                Caller one = callers.get(id);
                String stack = carrier.group(2) != null ? carrier.group(2)
                    : one != null ? stack(one.thread.getStackTrace()) : "";
                String at = place(stack);
                if (stack.matches("(?s)\\s*(at )?\\S*VirtualThread\\.park(Nanos)?\\(.*"))
                    at = at.replaceFirst("at", "before"); // it has unmounted since, on 21
                if (id == tick.threadId() || stack.contains(".subPollerLoop(") // the JDK's
                    || one != null && at.isEmpty()) continue; // it begins, or has ended
                boolean waits = stack.matches("(?s).*\\.(parkOnCarrierThread|wait0)\\(.*")
                    || one != null && one.thread.getState() == Thread.State.BLOCKED;
                String place = stack.contains("<clinit>") ? at + " (class initializer)"
                    : stack.contains("forName0(") ? at + " (class loader)" : at;
                seen.put(id, one != null ? waits ? "pinned " + place : at
                    : "another virtual thread" + (at.isEmpty() ? "" : ", " + at));
            }
            return seen;
        }

        /** The place in which holders were for longest. */
        String mostly(String regex) {
            return places.keySet().stream().filter(place -> place.matches(regex))
                .max(Comparator.comparing(places::get)).orElse("not seen");
        }

        /** Ends the JVM if that began long ago, and no call has ended since. */
        private void stopIfStuck(long start, String what) throws Exception {
            if (left.removeIf(one -> one.task.isDone())) progress = System.nanoTime();
            if (Math.min(msSince(start), msSince(progress)) < patience) return;
            Map<Long, String> mounted = look();
            Map<String, Integer> counts = new TreeMap<>();
            for (Caller one : left) {
                String stack = stack(one.thread.getStackTrace());
                String at = stack.isEmpty() ? "not begun" : "waiting " + place(stack);
                counts.merge(mounted.getOrDefault(one.thread.threadId(), at), 1, Integer::sum);
            }
            String all = "";
            for (String at : counts.keySet()) all += "\n  - " + counts.get(at) + " " + at;
            fail(asked + ": " + what + " for " + text(patience / 1_000) + " s. Left:" + all
                + "\n- Try: " + (all.contains("(class") ? "use that class once at startup; "
                    + "-Djdk.pollerMode=1 if it's for sockets; java KnownBugs.java"
                : all.contains("pinned at") ? "a newer JDK or library, or a ReentrantLock"
                : all.matches("(?s).*\\d at .*") ? "park, if it spins; else a platform thread"
                : "a timeout: it waits for another call, or for longer than that"));
        }
    }
}
