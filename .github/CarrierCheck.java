// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.*;

/**
 * Does a call hold the carrier of its virtual thread? A carrier is a platform thread that runs
 * virtual ones, normally one per processor. While a call holds it, no other virtual thread can
 * run there. This asks about five calls of the JDK, on Java 21 or newer:
 *
 *     java CarrierCheck.java
 *
 * For yours, write CarrierCheck.ask("my call", () -> ...) in the main method of a class Mine
 * beside this file, and run `java -cp "lib/*" Mine.java`; on 21, compile both, and run Mine.
 * Don't make the call before: the first twenty are cold, and at once, as in production. If a
 * call fails or hangs, the exit code is 1. End with System.exit(0) if a library's threads stay.
 *
 * The trick: the JVM gets only one carrier. While the call runs, ticks are started, one after
 * another: virtual threads that do nothing. If the call leaves its carrier while it waits, each
 * tick runs at once. If not, the tick is late, by as long as the carrier was held. Until it
 * runs, looks find out who has the carrier, as a busy machine makes ticks late, too.
 */
public class CarrierCheck {
    private static final String LINE = "| %-17s | %5s | %5s | %7s | %8s | %7s | %5s | %s |%n";
    private static final PrintStream OUT = // that of System may become another one
        new PrintStream(new FileOutputStream(FileDescriptor.out), true);
    private static final List<String> NOTES = new ArrayList<>(); // what no row has room for
    private static final boolean NATIVE_PINS = Runtime.version().feature() >= 24; // alone
    private static ForkJoinPool scheduler; // of virtual threads
    private static double latest; // ms that a tick was late
    private static boolean failed;

    public interface Call { void make() throws Exception; }

    public static void main(String[] args) throws InterruptedException {
        ask("map", () -> new ConcurrentHashMap<String, String>().computeIfAbsent("", key -> {
            LockSupport.parkNanos(50_000_000); // pinned up to 23, then free
            return key;
        }));
        ask("loader", () -> Class.forName("CarrierCheck", false, new ClassLoader() {
            @Override public Class<?> loadClass(String name) {
                LockSupport.parkNanos(50_000_000); // pinned
                return CarrierCheck.class;
            }
        }));
        ask("process", () -> new ProcessBuilder("sleep", "0.05") // starting it blocks; then,
            .start().getInputStream().read()); // 20 carriers are added
        ask("compute", () -> { // held, at
            long end = System.nanoTime() + 50_000_000;
            while (System.nanoTime() < end) Thread.onSpinWait(); // no compiler removes it
        });
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
        String wanted = System.getProperty(parallelism, "1");
        System.setProperty(parallelism, "1"); // is read when the first virtual thread starts
        Thread.startVirtualThread(() -> { }).join();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getClass().getSimpleName().equals("CarrierThread"))
                scheduler = ((ForkJoinWorkerThread) thread).getPool();
        }
        if (scheduler == null || scheduler.getParallelism() != 1 || !wanted.equals("1")) {
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

            - Java %s, %s, one carrier; all times in ms
            - Takes: a call; Held: for so long, no other virtual thread could run; medians
            - Longest: the worst call's Held
            - Platform, Virtual: twenty calls at once, on such threads; Added: carriers for them
            - Where: the call's own code < who called it; pinned: it waits with its carrier;
              waiting: another virtual thread had it, such as one that the call started

            """ + LINE + "|---|--:|--:|--:|--:|--:|--:|---|%n", Runtime.version(),
            System.getProperty("java.vendor"), "Call", "Takes", "Held", "Longest", "Platform",
            "Virtual", "Added", "Where");
        ask("sleep", () -> Thread.sleep(50));
        if (latest > 2) NOTES.add("- Busy machine: a time may be wrong by " + text(latest));
    }

    private static void print(String name, List<Caller> some, Round warm, String platform) {
        double[] took = some.stream().mapToDouble(Caller::took).sorted().toArray();
        double[] held = some.stream().mapToDouble(one -> one.held).sorted().toArray();
        double longest = held[some.size() - 1];
        int half = some.size() / 2;
        Object[] cells = {name, text(took[half]), text(held[half]), text(longest), platform,
            text(warm.took), warm.added, ""};
        List<Caller> all = Stream.concat(some.stream(), warm.callers.stream()).toList();
        List<String> places = all.stream().flatMap(one -> one.places.stream()).toList();
        String where = longest < 0.1 * took[0] && warm.added == 0 ? ""
            : places.stream().max(Comparator.comparing(place ->
                Collections.frequency(places, place))).orElse("");
        for (Caller one : all) {
            if (one.state() == Future.State.SUCCESS) continue;
            failed = true;
            Arrays.fill(cells, 1, 7, "");
            where = "failed: " + ("" + one.exceptionNow()).replaceAll("[\\p{Cntrl}|]+", " ");
        }
        int room = 121 - LINE.formatted(cells).length();
        cells[7] = where.length() <= room ? where : where.substring(0, room - 2) + "..";
        if (where.length() > room) NOTES.add("- %s: %.90s".formatted(name, where));
        OUT.printf(LINE, cells);
    }

    /** Milliseconds, with three digits. */
    private static String text(double ms) {
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

        double took() { return state() == State.SUCCESS ? resultNow() : 0; }

        boolean isWaiting() { return !isDone() && thread.getStackTrace().length > 0; }

        /** Has it a carrier? Its text ends like "]/runnable@ForkJoinPool-1-worker-1" then. */
        boolean isMounted() {
            String text = thread.toString();
            return thread.isVirtual() && text.indexOf('@', text.lastIndexOf("]/")) > 0;
        }

        /** The innermost frame outside the JDK, the next one of another class, and why. */
        String place() {
            String own = "";
            String outer = "";
            String last = ""; // class
            for (StackTraceElement frame : thread.getStackTrace()) {
                String type = frame.getClassName();
                if (type.equals(Caller.class.getName())) break;
                outer += frame;
                if (("" + frame.getModuleName()).matches("(java|jdk)\\..*")
                    || type.equals(last) || own.contains(" < ")) continue;
                own += (own.isEmpty() ? "" : " < ") + type.replaceFirst(".*\\.", "") + "."
                    + frame.getMethodName().replaceAll("lambda\\$|\\$\\d+", "") + ":"
                    + frame.getLineNumber();
                last = type;
            }
            if (!isMounted()) return outer.isEmpty() ? "not begun" : "waiting at " + own;
            if (thread.getState() == Thread.State.RUNNABLE) return "at " + own;
            return "pinned at " + own + (outer.contains("<clinit>") ? " (class initializer)"
                : outer.contains(".loadClass(") ? " (class loader)"
                : NATIVE_PINS && outer.lastIndexOf("(Native") > outer.indexOf(")")
                ? " (native code)" : ""); // the innermost one only waits
        }
    }

    /** Calls at once, each on a thread of its own. */
    private static class Round {
        final List<Caller> callers = new ArrayList<>();
        final double took; // ms
        int added; // carriers
        private long done; // callers
        private long progress = System.nanoTime(); // when the last one was
        private boolean helped;

        Round(Call call, int calls, Thread.Builder threads) throws InterruptedException {
            int carriers = scheduler.getPoolSize();
            long start = System.nanoTime();
            for (int i = 0; i < calls; i++) callers.add(new Caller(call));
            for (Caller one : callers) one.thread = threads.start(one);
            for (; !isDone(); LockSupport.parkNanos(200_000)) tick(); // not all the time
            took = msSince(start);
            if (!helped) added = Math.max(added, scheduler.getPoolSize() - carriers);
        }

        private boolean isDone() {
            long now = callers.stream().filter(Caller::isDone).count();
            if (now > done) progress = System.nanoTime();
            done = now;
            if (msSince(progress) > 50_000) stop("No call has ended for 50 s: " + places());
            return done == callers.size();
        }

        private List<Caller> mounted() {
            return callers.stream().filter(Caller::isMounted).toList();
        }

        /** Starts a tick, and until it has run, looks who has the carrier. */
        private void tick() throws InterruptedException {
            long start = System.nanoTime();
            double[] late = new double[1];
            var tick = new FutureTask<>(() -> {
                late[0] = msSince(start);
                return mounted(); // on carriers that were added
            });
            Thread thread = Thread.startVirtualThread(tick);
            List<Caller> holders = List.of();
            double last = 0; // look; an idle carrier takes up to 0.1 ms to wake
            while (!thread.join(Duration.ofNanos(last < 2 ? 300_000 : 1_000_000))) {
                double now = msSince(start);
                holders = mounted();
                if (holders.isEmpty() && Thread.getAllStackTraces().values().stream().anyMatch(
                        stack -> Arrays.toString(stack).contains("runContinuation")))
                    holders = callers.stream().filter(Caller::isWaiting).toList(); // for it
                for (Caller one : holders) {
                    one.held += (now - last) / holders.size();
                    one.places.add(one.place());
                }
                last = now;
                if (now > 10_000 && !isDone() && msSince(progress) > 10_000 && !helped) help();
            }
            latest = Math.max(latest, late[0]);
            for (Caller one : holders) one.held += (late[0] - last) / holders.size();
            if (last > 0) return;
            added = Math.max(added, tick.resultNow().size());
            for (Caller one : tick.resultNow())
                if (one.isMounted()) one.places.add(one.place());
        }

        /** Callers that end as soon as there are more carriers have lacked one: a deadlock. */
        private void help() throws InterruptedException {
            helped = true;
            String places = places();
            List<Caller> pinned = mounted();
            scheduler.setParallelism(64);
            for (int i = 0; i < 50; i++) // each takes a task, which wakes a carrier
                Thread.ofPlatform().daemon().start(() ->
                    scheduler.awaitQuiescence(1, TimeUnit.SECONDS));
            Thread.sleep(500);
            scheduler.setParallelism(1);
            if (pinned.stream().anyMatch(Caller::isDone))
                stop("No virtual thread has run for 10 s: " + places + ".\nTry: java KnownBugs"
                    + ".java; use such classes at startup; more carriers; -Djdk.pollerMode=1");
        }

        private String places() {
            return "of 20 callers, " + callers.stream().filter(one -> !one.isDone())
                .collect(Collectors.groupingBy(Caller::place, Collectors.counting()))
                .entrySet().stream().map(place -> place.getValue() + " " + place.getKey())
                .sorted().collect(Collectors.joining(", "));
        }

        private static void stop(String what) {
            NOTES.forEach(OUT::println);
            OUT.println("\n" + what);
            Runtime.getRuntime().halt(1); // nothing else would end it
        }
    }
}
