// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;
import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.stream.DoubleStream;

/** Experiments with known answers, for LabTest; many of them go wrong on purpose. */
class Odd extends VirtualThreadsLab {
    static final List<Experiment> LIST = new ArrayList<>();
    static final int MAX = Integer.MAX_VALUE;
    static final Semaphore ONE = new Semaphore(1);
    static final Semaphore TWO = new Semaphore(2);
    static final String WHAT = "an odd one"; // what --predict asks
    static final byte[] BALLAST = new byte[64 << 20];

    static void add(String name, Job body) {
        LIST.add(new Experiment(name, body, "an odd one"));
    }

    static void waits(String name, Job job) { add(name, () -> waiting(name, 1, job)); }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("alone")) {
            waiting("a|b", 1, () -> Thread.sleep(50));
            return;
        }
        if (args[0].equals("exact")) {
            exact();
            return;
        }
        waits("sleep", () -> Thread.sleep(50));
        waits("part", () -> {
            Thread.sleep(35);
            pinned(15_000);
        });
        waits("cache", () ->
            new ConcurrentHashMap<Integer, Integer>().computeIfAbsent(50, Odd::nap));
        waits("two", () -> {
            TWO.acquire();
            Thread.sleep(20);
            TWO.release();
        });
        waits("inside", () -> {
            TWO.acquire();
            pinned(20_000);
            TWO.release();
        });
        waits("one", () -> { synchronized (TWO) { Thread.sleep(20); } });
        waits("short", () -> Thread.sleep(0, 100_000));
        for (int micros : new int[] {300, 1_000, 2_000, 500_000}) {
            waits("pin" + micros, () -> pinned(micros));
        }
        var calls = new AtomicInteger();
        waits("quarter", () -> {
            if (calls.incrementAndGet() % 4 == 0) pinned(50_000);
            else Thread.sleep(1);
        });
        waits("some", () -> {
            Thread.sleep(30);
            check("odd", 0, calls.incrementAndGet() % 2);
        });
        waits("none", () -> check("ever right", 0, 1));
        waits("fork", () ->
            java.util.stream.IntStream.range(0, 4).parallel().forEach(i -> nap(10)));
        waits("monitor", () -> { synchronized (OWN.get()) { OWN.get().wait(200); } });
        waits("computing", () -> check("primes", 33_860, countPrimes(400_000)));
        waits("process", () ->
            new ProcessBuilder("sleep", "0.1").start().getInputStream().read());
        waits("fifo", () -> {
            File fifo = File.createTempFile("fifo", "");
            String line = "rm $0; mkfifo $0; sleep 0.2 > $0 &";
            new ProcessBuilder("sh", "-c", line, "" + fifo).start().waitFor();
            try (var in = new FileInputStream(fifo)) { in.read(); }
            fifo.delete();
        });
        waits("asleep", () -> Thread.sleep(MAX));
        waits("dead", () -> { // the task with the permit needs a carrier to release it
            synchronized (OWN.get()) { ONE.acquire(); }
            try { Thread.sleep(20); } finally { ONE.release(); }
        });
        add("nonsense", () -> waiting("sleep", -1, () -> Thread.sleep(1)));
        add("turns", () -> {
            List<String> turns = new ArrayList<>();
            measure("both sides", WHAT, "things", 1, i -> turn(turns, "platform " + i),
                i -> turn(turns, "virtual " + i));
            say("%s", turns);
        });
        add("words", Odd::words);
        add("starts", Odd::starts);
        add("busy", () -> {
            long end = System.nanoTime() + 2_000_000_000L;
            runAll(newFixedThreadPool(PROCESSORS), PROCESSORS, () -> {
                while (System.nanoTime() < end) countPrimes(10_000);
            });
            var me = ProcessHandle.current().info();
            double up = System.currentTimeMillis()
                - me.startInstant().get().toEpochMilli();
            say("own share: %s", me.totalCpuDuration().get().toMillis() * 100 / up
                / PROCESSORS);
        });
        add("even", () -> measure("of five", WHAT, "ms", 10,
            i -> new double[] {1_000, 10.5, 20.5, 30.5, 40.5, 80.5}[i % 6],
            i -> new double[] {1_000, 1, 2, 2.55, 4, 12}[i % 6]));
        add("cells", () -> {
            measure("large", WHAT, "things", UNKNOWN, i -> 12_345.6, i -> 1_000);
            measure("small", WHAT, "ms", 0.1, i -> 0.0666, i -> 72.2);
            measure("long", WHAT, "ms", UNKNOWN, i -> 20_334, i -> 10_167);
            measure("equal", WHAT, "things", 1, i -> 7, i -> 7);
            measure("half", WHAT, "things", 1.0 / 3, i -> 5, i -> 10);
            measure("little", WHAT, "things", 1, i -> 106, i -> 100);
            measure("less", WHAT, "things", 1, i -> 104, i -> 100);
            measure("wide", WHAT, "things", UNKNOWN,
                i -> new double[] {0, 10, 20, 40, 80, 160}[i % 6], i -> 20);
        });
        add("wrong", () -> time("sheep", WHAT, 1, () -> nap(1), () -> check("sheep", 3, 4)));
        add("error", () -> time("tasks", WHAT, 1, () ->
            runAll(newThreadPerTaskExecutor(Thread::new), 3, () -> {
                throw new AssertionError("dropped");
            }), () -> nap(1)));
        add("body", () -> say("%s", 1 / (args.length - args.length)));
        add("late", () -> measure("in sample 2", WHAT, "things", 1, i -> 5, i -> {
            if (i == 2) throw new IllegalStateException("too late");
            return 4;
        }));
        add("says", () -> say("said before the signal"));
        add("forever", () -> measure("of one", WHAT, "things", 1, i -> nap(MAX), i -> 1));
        add("exits", () -> time("a job", WHAT, 1, () -> System.exit(0), () -> nap(1)));
        if (args[0].equals("twice")) add("cells", () -> { });
        if (args[0].equals("piped")) add("a|b", () -> { });
        run(LIST, args);
    }

    static double turn(List<String> turns, String turn) {
        turns.add(turn);
        return 1;
    }

    /** Pins its carrier up to JDK 23. */
    static void pinned(long micros) {
        long end = System.nanoTime() + micros * 1_000;
        synchronized (OWN.get()) {
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /** Asks for answers that are known, and prints those that are wrong. */
    static void exact() {
        is("noisy, a fifth", false, row(side(50, 90, 100, 110, 200), side(1, 1, 1)).noisy());
        is("noisy, more", true, row(side(50, 90, 100, 111, 200), side(1, 1, 1)).noisy());
        is("noisy, virtual", true, row(side(1, 1, 1), side(50, 90, 100, 111, 200)).noisy());
        is("median of three", 5.0, Side.median(List.of(9.0, 5.0, 1.0)));
        is("median of four", 3.0, Side.median(List.of(4.0, 3.0, 2.0, 1.0)));
        is("median without the warm-up", 2.0, side(2, 1, 3).median());
        is("ratio", 0.25, row(side(1, 2, 3), side(7, 8, 9)).ratio());
        double[] p = {1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14, 1e16, 1e18};
        double[] v = {1, 0.5, 0.25, 0.125, 0.0625, 1e-2, 1e-2, 1e-2, 1e-2, 1e-2};
        is("interval of 3", "[NaN, NaN]", range(p, v, 3));
        is("interval of 4", "[1.0, 8000000.0]", range(p, v, 4));
        is("interval of 5", "[4.0, 4.0E8]", range(p, v, 5));
        is("interval of 10", "[80000.0, 1.0E16]", range(p, v, 10));
        for (String typed : List.of("50×=50", "~20=20", "10 times=10", "5 %=0.05", "1:4=0.25",
                "1 / 10=0.1", "0,5=0.5", "1,000=1000", "0,125=0.125", ".5=0.5", "30x=30",
                "3/1,000=0.003", "1÷8=0.125", "=NaN", "ten=NaN", "0=NaN", "-3=NaN", "1/0=NaN",
                "1/2/3=NaN")) {
            String[] parts = typed.split("=");
            double ratio = Double.parseDouble(parts[1]);
            is("understood " + parts[0], ratio, FullReport.understood(parts[0]));
        }
        String free = "a carrier was always free";
        String all = "; 10 of 10 calls were under way at once";
        pass(free + all, 0, 0, 0, 0, 40, 50);
        pass(free + all, 30, 35, 0, 0, 99, 50);
        pass(free + "; 2 of 10 calls were under way at once", 0, 0, 0, 0, 8, 50);
        pass(free + "; 1 of 10 calls was under way at once", 0, 0, 0, 0, 1, 1);
        pass(free, 0, 0, 0, 0, 40, Double.NaN);
        pass("a carrier was free for 180 of 200 ms" + all, 60, 40, 0, 0, 40, 50);
        pass("the machine was too busy to tell if a carrier was free", 199, 41, 0, 0, 40, 50);
        pass(free + all, 1, 0, 0, 0, 40, 50);
        pass("a carrier was free for 197 of 200 ms" + all, 3, 0, 0, 0, 40, 50);
        pass("a carrier was free for 161 of 200 ms" + all, 39, 0, 0, 0, 40, 50);
        pass("no carrier was free for 40 of 200 ms" + all, 40, 0, 0, 0, 40, 50);
        pass("no carrier was free for 200 of 200 ms" + all, 201, 0, 0, 0, 40, 50);
        pass(free + all, 0, 0, 20, 0, 40, 50);
        pass(free + "; each carrier computed for 21 ms" + all, 0, 0, 21, 0, 40, 50);
        pass(free + "; each carrier computed for 100 ms" + all, 0, 0, 100, 0, 40, 50);
        pass(free + "; each carrier computed for 101 ms", 0, 0, 101, 0, 40, 50);
        pass(free + "; added carriers in use: 8" + all, 0, 0, 0, 8, 40, 50);
        pass(free, 0, 11, 0, 0, 400, 4); // a pause may be as long as a call
        pass(free + "; 8 of 10 calls were under way at once", 0, 10, 0, 0, 400, 4);
        for (int missed : new int[] {0, 39, 40, 120, 121, 200}) {
            var pass = new Heartbeat.Pass(200, missed, 0, 0, 0, 40, 0);
            is("clear, of 200 missed " + missed, missed < 40 || missed > 120, pass.clear());
        }
        is("clear, disturbed", false, new Heartbeat.Pass(200, 0, 41, 0, 0, 40, 0).clear());
        System.out.println("all asked");
    }

    static void is(String what, Object expected, Object actual) {
        if (expected.equals(actual)) return;
        System.out.println(what + ": expected " + expected + ", but was " + actual);
    }

    /** For ten tasks, and a pass of 200 ms of which two threads missed a part. */
    static void pass(String expected, double virtual, double platform, double computed,
            int added, int calls, double alone) {
        var pass = new Heartbeat.Pass(200, virtual, platform, computed, added, calls, 0);
        is("" + pass, expected, pass.facts(10, alone));
    }

    static Side side(double... samples) {
        return new Side(DoubleStream.concat(DoubleStream.of(1e6), DoubleStream.of(samples))
            .boxed().toList()); // after a warm-up that would spoil everything
    }

    static Row row(Side platform, Side virtual) {
        return new Row("an", "odd one", "ms", 1, platform, virtual);
    }

    static String range(double[] platform, double[] virtual, int samples) {
        return Arrays.toString(FullReport.range(row(side(Arrays.copyOf(platform, samples)),
            side(Arrays.copyOf(virtual, samples)))));
    }

    static void words() throws Exception {
        var ran = new AtomicInteger();
        runAll(newFixedThreadPool(2), 7, ran::incrementAndGet);
        say("runAll ran %s of 7 tasks", ran);
        try (var server = new Encores.Server(newFixedThreadPool(20), 30)) {
            say("the median latency is %s ms", server.latency(() ->
                server.latencies.addAll(List.of(70.0, 10.0, 20.0, 30.0, 50.0))));
            server.call(System.nanoTime()); // loads classes
            long from = System.nanoTime() - 5_000_000_000L;
            double latency = server.latency(() -> server.call(from));
            double most = (System.nanoTime() - from) / 1e6;
            say(latency >= 5_000 && latency <= most ? "a latency counts from its time"
                : "a latency that counts from 5,000 ms ago is %s ms", latency);
            long start = System.nanoTime();
            double least = server.latency(() -> server.callAt(100, 100));
            say("%s calls at 100 a second for 100 ms", server.latencies.size());
            for (double one : server.latencies) least = Math.min(one, least);
            say(least >= 29.9 ? "no call is sent before it is due"
                : "a call that takes 30 ms has a latency of %s ms", least);
            double ms = (System.nanoTime() - start) / 1e6;
            say(ms >= 119.9 ? "the last call is due after 90 ms"
                : "ten calls of 30 ms, 10 ms apart, took %s ms", ms);
            server.start = System.nanoTime() - 1_000_000_000;
            say("%s calls are late", server.callAt(100, 100));
        }
        Encores.weigh(20_000, 0);
        say("beside %s MB, each weighs %s", BALLAST.length >> 20,
            Encores.weigh(20_000, 0));
    }

    /** Before the last of ten threads starts, a slow one takes the only carrier. */
    static void starts() throws Exception {
        var made = new AtomicInteger();
        var slow = new AtomicBoolean();
        var hook = new InheritableThreadLocal<Integer>() {
            protected Integer childValue(Integer value) {
                if (made.incrementAndGet() < 10) return value;
                Thread.ofVirtual().inheritInheritableThreadLocals(false).start(() -> {
                    for (int i = 0; i < 20; i++) countPrimes(100_000);
                    slow.set(true);
                });
                return value;
            }
        };
        startAll(Thread.ofVirtual(), 10); // this starts threads of the JVM, too
        hook.set(1);
        startAll(Thread.ofVirtual(), 10);
        hook.remove();
        say("startAll returned after %s of 10 threads", slow.get() ? 10 : 9);
    }

    /** Naps for all of it, even if interrupted. */
    static int nap(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
            Thread.interrupted(); // or it would spin
        }
        return ms;
    }
}
