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
 * virtual thread can run there. `java CarrierCheck.java`, on Java 21 or newer, asks about two
 * calls: one is pinned up to 23, one computes.
 *
 * For yours, write CarrierCheck.ask("my call", () -> ...) in the main method of a class Mine
 * onAdded this file, and run `java -cp "lib/*" Mine.java`; on 21, compile both, and run Mine.
 * Exit code 0: all calls were made; 1: one failed, hung or ended the JVM; 2: it couldn't ask.
 *
 * The trick: the JVM gets only one carrier. While the call runs, ticks are started one by one:
 * virtual threads that look at the clock. If one is late, a thread dump shows who's mounted; if
 * the platform thread that waits for it is late, too, it's the machine. What's computed between
 * ticks shows in the carrier's processor time. An instance is a round: one call or twenty.
 */
public class CarrierCheck {
    static final String ROW = "|%-7s|%-4s|%-24s|%5s|%5s|%5s|%8s|%7s|%5s|\n";
    static final java.io.PrintStream OUT = System.out; // a call may set another
    static final Map<String, Integer> NOTES = new ConcurrentSkipListMap<>(); // how often
    static final Map<String, Double> PLACES = new HashMap<>(); // ms that holders were there
    static final Pattern FRAME = Pattern.compile("[\\s\\[](?!java\\.|jdk\\.)[^\\s(]*?"
        + "([^\\s./(]+\\.[^\\s./(]+)\\((?!java\\.|jdk\\.)[^\\s)]*(:\\d+)\\)"); // not the JDK's
    static final Pattern CARRIER = Pattern.compile("\" #(\\d+) .*\n   Carrying virtual "
        + "thread #(?!\\1\n)(\\d+)(?:\n\t.*)*(?:\n   Mounted virtual.*((?:\n\t.*)*))?");
    static final Set<Long> TICKS = ConcurrentHashMap.newKeySet(); // their ids
    static double patience = 40_000; // ms without an end: it hangs
    static ForkJoinPool pool; // of carriers
    static ThreadGroup carriers;
    static String asked; // the call being made
    static boolean failed;
    static double worst; // ms that the asking thread was late

    public interface Call { void make() throws Exception; }

    public static void main(String[] args) {
        ask("vector", () -> new Vector<>(List.of(50_000_000)).forEach(LockSupport::parkNanos));
        ask("compute", () -> new Random(1).ints(5_000_000).max());
    }

    /** Asks about twenty cold calls at once, then about warm ones: one by one, then at once. */
    public static void ask(String name, Call call) {
        if (Thread.currentThread().isVirtual()) refuse("ask on a platform thread, as main is");
        try {
            begin();
            if (asked != null) refuse("ask about one call at a time");
            asked = "%.24s".formatted(name.replaceAll("[|\\s\\p{Cntrl}]+", " "));
            var cold = new CarrierCheck().make(call, 20, Thread.ofVirtual());
            row(List.of(cold), cold, cold);
            List<CarrierCheck> warm = new ArrayList<>();
            for (long start = System.nanoTime(); msSince(start) < 500; )
                warm.add(new CarrierCheck().make(call, 1, Thread.ofVirtual()));
            var platform = new CarrierCheck().make(call, 20, Thread.ofPlatform().daemon());
            row(warm, new CarrierCheck().make(call, 20, Thread.ofVirtual()), platform);
            asked = null;
        } catch (Throwable e) { // no memory, a wrong option, an interrupt
            if (carriers == null) refuse(e + ", " + e.getCause());
            fail("" + e);
            end();
        }
    }

    static synchronized void begin() throws Exception {
        if (carriers != null) return;
        String parallelism = "jdk.virtualThreadScheduler.parallelism";
        System.getProperties().putIfAbsent(parallelism, "1"); // for the first virtual thread
        Thread.startVirtualThread(() -> { }).join();
        new CarrierCheck().look(); // the first one is slow
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (!thread.getClass().getSimpleName().equals("CarrierThread")) continue;
            pool = ((ForkJoinWorkerThread) thread).getPool();
            carriers = thread.getThreadGroup();
        }
        if (carriers == null) refuse("no carriers here");
        if (pool.getParallelism() != 1)
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

    /** Prints a row of rounds; the others had twenty calls at once. Cold, all are one. */
    static void row(List<CarrierCheck> rounds, CarrierCheck atOnce, CarrierCheck platform) {
        boolean isCold = rounds.contains(atOnce); // then calls wait for each other
        String when = isCold ? "cold" : "warm";
        PLACES.putIfAbsent("held unseen", 0.0);
        String who = Collections.max(PLACES.entrySet(), Map.Entry.comparingByValue()).getKey();
        PLACES.clear();
        List<Double> times = rounds.stream().flatMap(one -> one.times.stream()).toList();
        if (times.isEmpty() || atOnce.times.isEmpty() || platform.times.isEmpty()) {
            OUT.print(ROW.formatted("failed", when, asked, "", "", "", "", "", ""));
            return;
        }
        double takes = median(times.stream());
        worst = rounds.stream().mapToDouble(one -> one.noise).reduce(worst, Math::max);
        double held = median(rounds.stream().map(one ->
            Math.max(one.held, one.collected) / one.callers.size()));
        double lost = median(rounds.stream().map(one -> (one.late - one.held) / one.whole));
        var holds = rounds.stream().mapToDouble(one -> one.held).summaryStatistics();
        double collected = rounds.stream().mapToDouble(one -> one.collected).sum();
        double most = Math.max(holds.getMax(), isCold ? collected : 0);
        if (2 * collected > holds.getSum()) who = "held by the garbage collector";
        double share = Math.max(holds.getSum(), collected)
            / rounds.stream().mapToDouble(one -> one.whole).sum();
        String note = "free";
        if (atOnce.added.size() > (isCold ? 2 : 0) && held < takes / 2) // 2: class loading
            note = "adds carriers " + atOnce.added.get(0).replaceFirst(".*?(?=at |in )", "");
        else if (held > (takes < 1 ? 0.3 : takes / 10) || share > 0.5 && (isCold || takes < 1))
            note = who;
        else if (takes < 1)
            note = "? too short for a look: ask about a loop of a hundred";
        else if (lost > (isCold ? 0.3 : 0.1))
            note = "? not seen, but ticks were late: other programs, or it yields";
        else if (isCold ? share > 0.3 : most > takes / 5 && (share > 0.1 || most > 2 * worst))
            note = "some " + (isCold ? "in all " : "up to ") + text(most) + " ms: " + who;
        String verdict = note.split(" ")[0];
        if (!verdict.equals("free")) NOTES.put(asked + ": " + note, 1);
        OUT.print(ROW.formatted(verdict, when, asked, text(takes),
            verdict.equals("?") ? "?" : text(held), Math.round(100 * share) + "%",
            isCold ? "" : text(platform.took), text(atOnce.took), atOnce.added.size()));
    }

    static double msSince(long start) { return (System.nanoTime() - start) / 1e6; }

    static double median(Stream<Double> values) {
        List<Double> sorted = values.sorted().toList();
        return sorted.get(sorted.size() / 2);
    }

    static String text(double ms) { // three digits
        int digits = ms < 0.9995 ? 3 : ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0;
        return String.format(Locale.ROOT, "%." + digits + "f", ms);
    }

    /** The innermost frames outside the JDK; nothing if that isn't in a call. */
    static String place(String stack) {
        String own = FRAME.matcher(stack.split("CarrierCheck\\.run\\(")[0]).results()
            .map(frame -> (frame.group(1) + frame.group(2)).replaceAll("lambda\\$|\\$\\d+", ""))
            .distinct().limit(3).collect(Collectors.joining(" < "));
        String at = !own.isEmpty() ? "at " + own
            : stack.contains("CarrierCheck.run(") ? "in the JDK" : "";
        return at + (stack.contains("<clinit>") ? " (class initializer)"
            : stack.contains("forName0(") ? " (class loader)" : "");
    }

    static void fail(String why) {
        failed = true;
        NOTES.merge(asked + ": " + why.replaceAll("[\\p{Cntrl}|]+", " "), 1, Integer::sum);
    }

    static void end() {
        if (worst > 2) NOTES.put("Busy machine: a platform thread was " + text(worst)
            + " ms late; times may be wrong by that", 1);
        OUT.println();
        NOTES.forEach((note, count) ->
            OUT.println("- " + note.strip() + (count > 1 ? " (" + count + " times)" : "")));
        if (OUT.checkError()) System.err.println("CarrierCheck: can't write standard output");
        if (OUT.checkError() || failed) Runtime.getRuntime().halt(1); // another hook may hang
    }

    static synchronized void refuse(String why) {
        System.err.println("CarrierCheck: " + why);
        Runtime.getRuntime().halt(2);
    }

    static double gcMs() { // of collections that stop all threads
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> !bean.getName().endsWith("Cycles")) // these are concurrent
            .mapToDouble(bean -> bean.getCollectionTime()).sum();
    }

    static double cpuMs() { // of the carriers
        Thread[] threads = new Thread[carriers.activeCount() + 9];
        return Stream.of(threads).limit(carriers.enumerate(threads)).mapToLong(one ->
            ManagementFactory.getThreadMXBean().getThreadCpuTime(one.threadId())).sum() / 1e6;
    }

    final Queue<Double> times = new ConcurrentLinkedQueue<>(); // ms of calls
    final Map<Long, Thread> callers = new HashMap<>(); // by their ids
    double held; // ms in which no other could run
    double collected; // ms of garbage collections
    double late; // ms that ticks were late, beyond 1 ms each
    double used; // ms of processor time when the last tick had ended
    double computed; // ms of it between ticks, unless one may yield
    double noise; // ms that the asking thread was late: it may be the machine
    double took; // ms until the last call had ended
    double whole; // ms until what they had started had ended, too
    List<String> added = List.of(); // carriers: where each was held
    volatile long progress = System.nanoTime(); // when the last call ended

    CarrierCheck make(Call call, int calls, Thread.Builder threads) throws Exception {
        for (int i = 0; i < calls; i++) {
            Thread caller = threads.unstarted(new FutureTask<>(() -> run(call), null));
            callers.put(caller.threadId(), caller);
        }
        collected = -gcMs();
        used = cpuMs();
        long start = System.nanoTime();
        for (Thread one : callers.values()) one.start();
        for (tick(); callers.values().stream().anyMatch(Thread::isAlive); tick())
            LockSupport.parkNanos(200_000); // or ticks take all the time
        took = msSince(start);
        // What calls have started is theirs, not the next round's.
        do LockSupport.parkNanos(200_000); // or ticks might overtake it for long
        while ((tick() > 1 || pool.hasQueuedSubmissions()) && msSince(start) < took + 10_000);
        whole = msSince(start);
        collected += gcMs();
        held = Math.max(held > 2 * noise ? held : 0, computed);
        return this;
    }

    void run(Call call) { // place cuts stacks at this name
        long start = System.nanoTime();
        try {
            call.make();
            times.add(msSince(start));
        } catch (Throwable e) {
            failed = true; // its toString may throw one, too
            fail("failed" + (Thread.currentThread().isVirtual() ? "" : " on a platform thread")
                + ": %.120s ".formatted(e) + place(Arrays.toString(e.getStackTrace())));
        }
        progress = System.nanoTime();
    }

    /** Starts a tick, looks until it has run, and returns how many ms late it was. */
    double tick() throws Exception {
        stopIfStuck();
        long start = System.nanoTime();
        var ran = new FutureTask<>(() -> {
            double delay = msSince(start);
            double ms = cpuMs() - used;
            if (ms > 0.5 && callers.values().stream().noneMatch(one ->
                one.getState() == Thread.State.RUNNABLE)) // it may yield
                computed += ms;
            Map<Long, String> onAdded = callers.size() == 1 ? Map.of() : look();
            if (onAdded.size() > added.size()) added = List.copyOf(onAdded.values());
            return delay;
        });
        Thread tick = Thread.ofVirtual().unstarted(ran);
        TICKS.add(tick.threadId());
        tick.start();
        Collection<String> seen = List.of();
        double pause = 0.3; // ms; a look takes 0.2, and stops all threads
        double looked = 0;
        for (; !tick.join(java.time.Duration.ofNanos((long) (1e6 * pause))); stopIfStuck()) {
            noise = Math.max(noise, msSince(start) - looked - pause); // or a collection
            seen = look().values();
            charge(seen, msSince(start) - looked);
            looked = msSince(start);
            pause = Math.clamp(looked / 4, 0.3, 3); // the later, the fewer looks
        }
        charge(seen, ran.get() - looked); // below 0 if it ran before the last look ended
        late += Math.max(0, ran.get() - 1);
        used = cpuMs();
        return ran.get();
    }

    void charge(Collection<String> seen, double ms) {
        if (!seen.isEmpty()) held += ms;
        for (String at : seen) PLACES.merge(at, ms, Double::sum);
    }

    /** By id, where mounted virtual threads are. Up to 23, the JVM says only who. */
    Map<Long, String> look() throws Exception {
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
                case Thread t -> (waits ? "pinned " : "held ") + at; // needs Java 21 or newer
            });
        }
        return seen;
    }

    /** Ends the JVM if no call has ended for too long. */
    void stopIfStuck() throws Exception {
        if (msSince(progress) < patience) return;
        Map<Long, String> mounted = look();
        fail("no call has ended for " + text(patience / 1_000) + " s");
        for (Thread one : callers.values())
            if (one.isAlive()) fail("still " + mounted.getOrDefault(one.threadId(),
                "waiting " + place(Arrays.toString(one.getStackTrace()))));
        end();
    }
}
