// SPDX-License-Identifier: MIT-0
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.*;

/**
 * Does a call hold its carrier, the platform thread that runs its virtual thread? Then no other
 * virtual thread can run there. This asks about five calls of the JDK, on Java 21 or newer:
 *
 *     java CarrierCheck.java
 *
 * For yours, write CarrierCheck.ask("my call", () -> ...) in the main method of a class Mine
 * beside this file, and run `java -cp "lib/*" Mine.java`; on 21, compile both, and run Mine.
 *
 * The trick: the JVM gets only one carrier. While the call runs, ticks are started, one after
 * another: virtual threads that do nothing. If one is late, the carrier was held for so long.
 * Until it runs, looks find out by whom, as a busy machine makes ticks late, too.
 */
public class CarrierCheck {
    private static final String LINE = "| %-17s | %5s | %5s | %7s | %8s | %7s | %5s | %s |";
    private static final java.io.PrintStream OUT = System.out; // a call may set another one
    private static final List<String> NOTES = new ArrayList<>(); // for after the table
    private static ForkJoinPool scheduler; // of virtual threads
    private static double latest; // ms that a tick was late
    private static boolean failed;

    public interface Call { void make() throws Exception; }

    public static void main(String[] args) throws InterruptedException {
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
    public static void ask(String name, Call call) throws InterruptedException {
        if (scheduler == null) begin();
        Round first = new Round(call, 20, Thread.ofVirtual());
        print(name + ", first 20", first.callers, first, "");
        List<Caller> alone = new ArrayList<>();
        for (long start = System.nanoTime(); msSince(start) < 500; )
            alone.addAll(new Round(call, 1, Thread.ofVirtual()).callers);
        Round platform = new Round(call, 20, Thread.ofPlatform().daemon());
        print(name, alone, new Round(call, 20, Thread.ofVirtual()), text(platform.took));
    }

    private static void begin() throws InterruptedException {
        String parallelism = "jdk.virtualThreadScheduler.parallelism";
        System.getProperties().putIfAbsent(parallelism, "1"); // for the first virtual thread
        Thread.startVirtualThread(() -> { }).join();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getClass().getSimpleName().equals("CarrierThread"))
                scheduler = ((ForkJoinWorkerThread) thread).getPool();
        }
        if (scheduler == null || scheduler.getParallelism() != 1) {
            System.err.println("CarrierCheck: " + (scheduler == null ? "no carriers here"
                : "it needs a single carrier: run it with -D" + parallelism + "=1"));
            System.exit(2);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            NOTES.forEach(OUT::println);
            if (failed) Runtime.getRuntime().halt(1);
        }));
        OUT.printf("""
            ## CarrierCheck

            - Java %s, %s, one carrier; times of calls in ms, medians
            - Held: for so long, no other virtual thread could run; Longest: in the worst call
            - Platform, Virtual: twenty calls at once, on such threads; Added: carriers for them

            | Call              | Takes |  Held | Longest | Platform | Virtual | Added | Where |
            |---|--:|--:|--:|--:|--:|--:|---|
            """, Runtime.version(), System.getProperty("java.vendor"));
        ask("sleep", () -> Thread.sleep(50));
        if (latest > 2) NOTES.add("- Busy machine: a time may be wrong by " + text(latest));
    }

    private static void print(String name, List<Caller> some, Round atOnce, String platform) {
        double[] took = some.stream().mapToDouble(one ->
            one.state() == Future.State.SUCCESS ? one.resultNow() : 0).sorted().toArray();
        double[] held = some.stream().mapToDouble(one -> one.held).sorted().toArray();
        double longest = held[held.length - 1];
        int half = held.length / 2;
        List<Caller> all = Stream.concat(some.stream(), atOnce.callers.stream()).toList();
        Map<String, Long> places = all.stream().flatMap(one -> one.places.stream())
            .collect(Collectors.groupingBy(place -> place, Collectors.counting()));
        places.remove("not begun"); // or ended since
        boolean isFree = longest < 0.1 * took[0] && atOnce.added == 0;
        String where = isFree || places.isEmpty() ? ""
            : Collections.max(places.entrySet(), Map.Entry.comparingByValue()).getKey();
        String row = LINE.formatted(name, text(took[half]), text(held[half]), text(longest),
            platform, text(atOnce.took), atOnce.added, where);
        for (Caller one : all) {
            if (one.state() == Future.State.SUCCESS) continue;
            failed = true;
            where = "failed: " + ("" + one.exceptionNow()).replaceAll("[\\p{Cntrl}|]+", " ");
            row = LINE.formatted(name, "", "", "", "", "", "", where);
        }
        if (row.length() > 120) {
            row = row.substring(0, 116) + ".. |";
            NOTES.add("- %s: %.90s".formatted(name, where));
        }
        OUT.println(row);
    }

    private static String text(double ms) { // three digits
        int digits = ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : ms >= 0.9995 ? 2 : 3;
        return String.format(Locale.ROOT, "%,." + digits + "f", ms);
    }

    private static double msSince(long start) { return (System.nanoTime() - start) / 1e6; }

    /** Makes the call; its result is how many ms that took. */
    private static class Caller extends FutureTask<Double> {
        final List<String> places = new ArrayList<>(); // where it was, at each look
        Thread thread;
        double held; // ms

        Caller(Call call) {
            super(() -> {
                long start = System.nanoTime();
                call.make();
                return msSince(start);
            });
        }

        boolean isMounted() { // then its text ends like "]/runnable@ForkJoinPool-1-worker-1"
            String text = thread.toString();
            return text.indexOf('@', text.lastIndexOf("]/")) > 0;
        }

        /** The innermost frame outside the JDK, the next one of another class, and why. */
        String place() {
            List<StackTraceElement> stack = List.of(thread.getStackTrace());
            List<StackTraceElement> frames = stack.stream().takeWhile(frame ->
                !frame.getClassName().equals(Caller.class.getName())).toList();
            if (frames.isEmpty() || frames.equals(stack)) return "not begun"; // or it has ended
            Map<String, String> own = new LinkedHashMap<>(); // the innermost of each class
            for (StackTraceElement frame : frames) {
                if (("" + frame.getModuleName()).matches("(java|jdk)\\..*")) continue;
                own.putIfAbsent(frame.getClassName(), frame.getClassName()
                    .replaceFirst(".*\\.", "") + "." + frame.getMethodName()
                    .replaceAll("lambda\\$|\\$\\d+", "") + ":" + frame.getLineNumber());
            }
            String place = own.values().stream().limit(2).collect(Collectors.joining(" < "));
            if (place.isEmpty()) place = "" + frames.getLast(); // such as queue::take
            if (!isMounted()) return "waiting at " + place;
            if (thread.getState() == Thread.State.RUNNABLE) return "at " + place;
            if (("" + stack).contains("<clinit>")) place += " (class initializer)";
            else if (("" + stack).contains(".loadClass(")) place += " (class loader)";
            return "pinned at " + place;
        }
    }

    /** Calls at once, each on a thread of its own. */
    private static class Round {
        final List<Caller> callers = new ArrayList<>();
        final double took; // ms
        int added; // carriers
        private final List<Caller> left;
        private long progress = System.nanoTime(); // when the last call has ended
        private double late; // ms, of the last tick
        private List<Caller> others; // that are mounted beside it: on added carriers

        Round(Call call, int calls, Thread.Builder threads) throws InterruptedException {
            for (int i = 0; i < calls; i++) callers.add(new Caller(call));
            left = new ArrayList<>(callers);
            long start = System.nanoTime();
            for (Caller one : callers) one.thread = threads.start(one);
            while (!left.isEmpty()) {
                tick();
                LockSupport.parkNanos(200_000); // so that ticks don't take all the time
                stopIfStuck(start, "No call has ended");
            }
            took = msSince(start);
        }

        /** Starts a tick, and until it has run, looks who has the carrier. */
        private void tick() throws InterruptedException {
            long start = System.nanoTime();
            Thread tick = Thread.startVirtualThread(() -> {
                late = msSince(start);
                others = callers.stream().filter(Caller::isMounted).toList();
            });
            List<Caller> holders = List.of();
            double last = 0; // look
            while (!tick.join(java.time.Duration.ofNanos(300_000))) { // to wake takes 0.1 ms
                double now = msSince(start);
                holders = holders();
                for (Caller one : holders) {
                    one.held += (now - last) / holders.size();
                    one.places.add(one.place());
                }
                last = now;
                stopIfStuck(start, "No other virtual thread has run");
            }
            for (Caller one : holders) one.held += (late - last) / holders.size();
            latest = Math.max(latest, late);
            added = Math.max(added, others.size());
            others.forEach(one -> one.places.add(one.place()));
        }

        /** Those with the carrier; if another virtual thread has it, those that wait. */
        private List<Caller> holders() {
            List<Caller> mounted = callers.stream().filter(Caller::isMounted).toList();
            boolean another = mounted.isEmpty() && Thread.getAllStackTraces().values().stream()
                .anyMatch(stack -> Arrays.toString(stack).contains("runContinuation"));
            return another ? callers.stream().filter(one -> !one.isDone()).toList() : mounted;
        }

        /** Ends the JVM if that began long ago and no call has ended since: nothing else would. */
        private void stopIfStuck(long start, String what) {
            if (left.removeIf(Caller::isDone)) progress = System.nanoTime();
            if (Math.min(msSince(start), msSince(progress)) < 40_000) return; // a timeout is less
            NOTES.add("\n" + what + " for 40 s. Callers left:");
            left.stream().collect(Collectors.groupingBy(Caller::place, Collectors.counting()))
                .forEach((place, count) -> NOTES.add("- " + count + " " + place));
            NOTES.add("Try: java KnownBugs.java; early use; more carriers; -Djdk.pollerMode=1");
            NOTES.forEach(OUT::println);
            Runtime.getRuntime().halt(1); // a library's shutdown hook might hang, too
        }
    }
}
