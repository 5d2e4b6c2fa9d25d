// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;
import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/** Experiments for LabTest, with what is known beforehand; many of them go wrong. */
class Odd extends VirtualThreadsLab {
    static final List<Experiment> LIST = new ArrayList<>();
    static final int MAX = Integer.MAX_VALUE;
    static final Semaphore ONE = new Semaphore(1);
    static final Semaphore TWO = new Semaphore(2);
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
        waits("sleep", () -> Thread.sleep(50));
        waits("part", () -> {
            Thread.sleep(35);
            synchronized (OWN.get()) { Thread.sleep(15); }
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
            synchronized (OWN.get()) { Thread.sleep(20); }
            TWO.release();
        });
        waits("one", () -> { synchronized (TWO) { Thread.sleep(20); } });
        waits("short", () -> Thread.sleep(0, 100_000));
        waits("fork", () ->
            java.util.stream.IntStream.range(0, 4).parallel().forEach(i -> nap(10)));
        waits("monitor", () -> { synchronized (OWN.get()) { OWN.get().wait(200); } });
        waits("computing", () -> check("primes", 78_498, countPrimes(1_000_000)));
        waits("fifo", () -> {
            File fifo = File.createTempFile("fifo", "");
            String line = "rm $0; mkfifo $0; sleep 0.2 > $0 &";
            new ProcessBuilder("sh", "-c", line, "" + fifo).start().waitFor();
            try (var in = new FileInputStream(fifo)) { in.read(); }
            fifo.delete();
        });
        waits("asleep", () -> Thread.sleep(MAX));
        waits("dead", () -> { // the one who has the permit needs a carrier to give it
            synchronized (OWN.get()) { ONE.acquire(); }
            try { Thread.sleep(20); } finally { ONE.release(); }
        });
        add("nonsense", () -> waiting("sleep", -1, () -> Thread.sleep(1)));
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
        add("even", () -> measure("of five", "ms", 10,
            run -> new double[] {1_000, 10.5, 20.5, 30.5, 40.5, 80.5}[run % 6],
            run -> new double[] {1_000, 1, 2, 2.55, 4, 12}[run % 6]));
        add("cells", () -> {
            measure("large", "things", UNKNOWN, run -> 12_345.6, run -> 1_000);
            measure("small", "ms", 0.1, run -> 0.0666, run -> 72.2);
            measure("long", "ms", UNKNOWN, run -> 20_334, run -> 10_167);
            measure("equal", "things", 1, run -> 7, run -> 7);
            measure("half", "things", 1.0 / 3, run -> 5, run -> 10);
            measure("wide", "things", UNKNOWN,
                run -> new double[] {0, 10, 20, 40, 80, 160}[run % 6], run -> 20);
        });
        add("wrong", () -> time("sheep", 1, () -> nap(1), () -> check("sheep", 3, 4)));
        add("error", () -> time("tasks", 1, () ->
            runAll(newThreadPerTaskExecutor(Thread::new), 3, () -> {
                throw new AssertionError("dropped");
            }), () -> nap(1)));
        add("body", () -> say("%s", 1 / (args.length - args.length)));
        add("late", () -> measure("in run 2", "things", 1, run -> 5, run -> {
            if (run == 2) throw new IllegalStateException("too late");
            return 4;
        }));
        add("sleeps", () -> say("said before the signal"));
        add("gate", () -> measure("of one", "things", 1, run -> nap(MAX), run -> 1));
        add("exits", () -> time("a job", 1, () -> System.exit(0), () -> nap(1)));
        if (args[0].equals("twice")) add("cells", () -> { });
        if (args[0].equals("piped")) add("a|b", () -> { });
        run(LIST, args);
    }

    static void words() throws Exception {
        var ran = new AtomicInteger();
        runAll(newFixedThreadPool(2), 7, ran::incrementAndGet);
        say("runAll ran %s of 7 tasks", ran);
        int[] ms = {10, 30, 150};
        var shot = new AtomicInteger();
        double sample = sample(() -> Thread.sleep(ms[shot.getAndIncrement() % 3]), 1);
        say(sample > 20 && sample < 100 ? "the sample is the second of three shots"
            : "the sample, of shots of 10, 30 and 150 ms, is %s ms", sample);
        try (var server = new Encores.Server(newFixedThreadPool(1), 0)) {
            double latency = server.latency(() ->
                server.latencies.addAll(List.of(70.0, 10.0, 20.0, 30.0, 50.0)));
            say(latency == 30 ? "the latency is the median of five"
                : "the median latency of 10, 20, 30, 50 and 70 ms is %s", latency);
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
        startAll(Thread.ofVirtual(), 10); // which starts threads of the JVM, too
        hook.set(1);
        startAll(Thread.ofVirtual(), 10);
        hook.remove();
        say("startAll returned after %s of 10 threads", slow.get() ? 10 : 9);
    }

    /** Nothing shortens it. */
    static int nap(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
            Thread.interrupted(); // or it would spin
        }
        return ms;
    }
}
