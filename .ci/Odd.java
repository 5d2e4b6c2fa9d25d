// SPDX-License-Identifier: MIT-0
import static java.util.concurrent.Executors.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.function.*;
import java.util.stream.*;

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
        waits("longest", () -> {
            pinned(2_000);
            longer();
        });
        waits("one", () -> { synchronized (TWO) { Thread.sleep(20); } });
        waits("short", () -> Thread.sleep(0, 100_000));
        for (int micros : new int[] {300, 1_000, 2_000, 250_000}) {
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
            measure("both sides", WHAT, "things", 1, new Turn("platform", turns),
                new Turn("virtual", turns));
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
            list(1_000, 10.5, 20.5, 30.5, 40.5, 80.5), list(1_000, 1, 2, 2.55, 4, 12)));
        add("cells", () -> {
            measure("large", WHAT, "things", UNKNOWN, list(12_345.6), list(1_000));
            measure("small", WHAT, "ms", 0.0004, list(0.0666), list(72.2));
            measure("long", WHAT, "ms", UNKNOWN, list(20_334), list(10_167));
            measure("equal", WHAT, "things", 1, list(7), list(7));
            measure("half", WHAT, "things", 1.0 / 3, list(5), list(10));
            measure("little", WHAT, "things", 1, list(106), list(100));
            measure("less", WHAT, "things", 12_345, list(104), list(100));
            measure("least", WHAT, "ms", 1, list(96), list(100));
            measure("wide", WHAT, "things", UNKNOWN, list(0, 10, 20, 40, 80, 160), list(20));
            measure("counts", NO_RATIO, "things", UNKNOWN, list(200), list(1));
            measure("one side", NO_RATIO, "things", UNKNOWN, NO_SIDE, list(1_234_567_890));
        });
        add("begun", () -> { // each start of a JVM finds one line more
            double n = begun();
            measure("in starts", WHAT, "ms", 10, () -> 10 * n, () -> n * n);
            say("this is start %s", n);
            if (n == Integer.getInteger("odd.fails", 0)) fails();
            measure("after that", WHAT, "things", 1, () -> n, () -> 2);
        });
        add("wrong", () -> time("sheep", WHAT, 1, () -> nap(1), () -> check("sheep", 3, 4)));
        add("error", () -> time("tasks", WHAT, 1, () ->
            runAll(newThreadPerTaskExecutor(Thread::new), 3, () -> {
                throw new AssertionError("dropped");
            }), () -> nap(1)));
        add("body", () -> say("%s", 1 / (args.length - args.length)));
        add("late", () -> {
            var reads = new AtomicInteger();
            measure("in sample 2", WHAT, "things", 1, () -> 5, () -> {
                if (reads.incrementAndGet() == 3) throw new IllegalStateException("too late");
                return 4;
            });
        });
        add("says", () -> say("said before the signal"));
        add("stolen", () -> { // in a lab that reads this file in place of /proc/stat
            Path stat = Path.of(System.getProperty("odd.stat"));
            Files.writeString(stat, "cpu 10 10 10 45 0 0 5 20 0 0\n");
            nap(600);
            measure("from all", WHAT, "things", 1, list(1), list(1));
        });
        add("forever", () -> measure("of one", WHAT, "things", 1, () -> nap(MAX), () -> 1));
        add("exits", () -> time("a job", WHAT, 1, () -> System.exit(0), () -> nap(1)));
        if (args[0].equals("twice")) add("cells", () -> { });
        if (args[0].equals("piped")) add("a|b", () -> { });
        run(LIST, args);
    }

    record Turn(String side, List<String> turns) implements Gauge {
        public double warmUp() { return turn("warms up"); }
        public double read() { return turn("reads"); }

        double turn(String what) {
            turns.add(side + " " + what);
            return 1;
        }
    }

    /** A gauge that reads these numbers in turn, the first in the warm-up. */
    static Gauge list(double... numbers) {
        var next = new AtomicInteger();
        return () -> numbers[next.getAndIncrement() % numbers.length];
    }

    /** Notes in a file that a JVM was started; returns how many there are. */
    static double begun() throws Exception {
        Path file = Path.of(System.getProperty("odd.begun"));
        Files.writeString(file, "begun\n", StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
        return Files.readAllLines(file).size();
    }

    /** In the way that is asked for. */
    static void fails() {
        System.out.println("about to fail");
        if (Boolean.getBoolean("odd.halts")) Runtime.getRuntime().halt(3);
        throw new IllegalStateException("as asked");
    }

    /** Pins its carrier up to JDK 23. */
    static void pinned(long micros) {
        long end = System.nanoTime() + micros * 1_000;
        synchronized (OWN.get()) {
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    static void longer() throws Exception {
        synchronized (OWN.get()) {
            Thread.sleep(30);
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
        is("interval of 5 and 3", "[NaN, NaN]", interval(side(1, 2, 3, 4, 5), side(1, 1, 1)));
        is("interval of 5 and 4", "[1.0, 5.0]",
            interval(side(1, 2, 3, 4, 5), side(1, 1, 1, 1)));
        for (String shown : List.of("0=0", "1=1", "0.96=0.960", "12.344=12.3", "999.4=999",
                "999.5=1,000", "12345.6=12,346", "0.0999=0.10", "0.0123=0.012", "0.0052=0.005",
                "0.00099=<0.001", "NaN=—", "Infinity=—", "-3=-3")) {
            String[] parts = shown.split("=");
            is("number " + parts[0], parts[1], Text.number(Double.parseDouble(parts[0]), ""));
        }
        for (String shown : List.of("0.0004 6=4e-04×", "0.0004 7=<0.001×", "12345 6=1e+04×",
                "1e30 8=1.0e+30×", "9999 6=9,999×")) {
            String[] parts = shown.split("[ =]");
            is("fitted " + parts[0], parts[2], Text.fitted(Double.parseDouble(parts[0]), "×",
                Integer.parseInt(parts[1])));
        }
        for (String why : List.of("VM call to A.<clinit> on stack=in a class initializer",
                "Waited for initialization of A by another thread=another thread initializes"
                + " the class", "Native or VM frame on stack=native code or the JVM's is on the"
                + " stack", "Freeze or preempt failed (2)=the JDK lets no thread leave there",
                "Freeze or preempt failed (5)=`Freeze or preempt failed (5)`")) {
            String[] parts = why.split("=");
            is("why", parts[1], Heartbeat.why(parts[0]));
        }
        Row ms = row(side(1, 1, 1), side(1, 1, 1));
        is("9,999 ms", "9,999 ms", Report.cell(ms, 9_999));
        is("10 s", "10 s", Report.cell(ms, 10_000));
        passes();
        better();
        machine();
        System.out.println("all asked");
    }

    static void is(String what, Object expected, Object actual) {
        if (expected.equals(actual)) return;
        System.out.println(what + ": expected " + expected + ", but was " + actual);
    }

    /** What is said of ten tasks, and of passes of 200 ms. */
    static void passes() {
        String free = "a carrier was always free";
        String all = "; 10 of 10 calls were under way at once";
        pass("calls 40, alone 50", free + all);
        pass("virtual 30, platform 35, calls 99, alone 50", free + all);
        pass("calls 8, alone 50", free + "; 2 of 10 calls were under way at once");
        pass("calls 1, alone 1", free + "; 1 of 10 calls was under way at once");
        pass("calls 40", free);
        pass("virtual 60, platform 40, calls 40, alone 50",
            "a carrier was free for 180 of 200 ms" + all);
        pass("virtual 199, platform 41", BUSY);
        pass("virtual 1, calls 40, alone 50", free + all);
        pass("virtual 3, calls 40, alone 50", "a carrier was free for 197 of 200 ms" + all);
        pass("virtual 39, calls 40, alone 50", "a carrier was free for 161 of 200 ms" + all);
        pass("virtual 40, named 1, calls 40, alone 50",
            "no carrier was free for 40 of 200 ms" + all);
        pass("virtual 201, held 2", "no carrier was free for 200 of 200 ms, mostly at `b`");
        pass("virtual 190, lost 160, calls 40, alone 50",
            "a carrier was free for 170 of 200 ms" + all);
        pass("virtual 200, computed 100, lost 90, named 1", "no carrier was free for 200 of 200"
            + " ms; each carrier computed for 100 ms and lost 90 ms to others");
        pass("computed 20, calls 40, alone 50", free + all);
        pass("computed 21, calls 40, alone 50", free
            + "; each carrier computed for 21 ms" + all);
        pass("computed 100, calls 40, alone 50", free
            + "; each carrier computed for 100 ms" + all);
        pass("computed 101, calls 40, alone 50", free
            + "; each carrier computed for 101 ms");
        int most = 256 - CARRIERS;
        pass("held " + (CARRIERS + 8) + ", calls 40, alone 50", free
            + "; added carriers in use: 8, of " + most + " at most, mostly at `b`" + all);
        pass("platform 11, calls 400, alone 4", free); // a pause may be as long as a call
        pass("platform 10, calls 400, alone 4", free
            + "; 8 of 10 calls were under way at once");
        for (int missed : new int[] {0, 39, 40, 120, 121, 200}) {
            is("clear, of 200 missed " + missed, missed < 40 || missed > 120,
                of(Map.of("virtual", (double) missed)).clear());
        }
        is("clear, disturbed", false, of(Map.of("platform", 41.0)).clear());
        is("blocked, disturbed by half", 0.5,
            of(Map.of("virtual", 110.0, "platform", 10.0)).blocked());
    }

    static final String BUSY = "the machine was too busy to tell if a carrier was free";

    /** A pass is what its words say, and 0 ms or none of all else. */
    static void pass(String words, String expected) {
        Map<String, Double> given = Stream.of(words.split(", ")).map(word -> word.split(" "))
            .collect(Collectors.toMap(pair -> pair[0], pair -> Double.valueOf(pair[1])));
        is("a pass of 200 ms with " + words, expected, of(given).facts(10,
            given.getOrDefault("alone", Double.NaN), given.containsKey("named")));
    }

    /** Of two passes, the less blocked one tells, unless other programs disturbed it. */
    static void better() {
        var more = of(Map.of("virtual", 80.0));
        var less = of(Map.of("virtual", 60.0));
        var disturbed = of(Map.of("virtual", 90.0, "platform", 50.0));
        is("of more and less blocked", less, more.orBetter(less));
        is("of less and more blocked", less, less.orBetter(more));
        is("of more blocked and disturbed", more, more.orBetter(disturbed));
        is("of disturbed and more blocked", more, disturbed.orBetter(more));
    }

    static Heartbeat.Pass of(Map<String, Double> given) {
        Function<String, Double> ms = word -> given.getOrDefault(word, 0.0);
        List<String> held = Stream.generate(() -> "`b`").limit(ms.apply("held").intValue())
            .collect(Collectors.toList());
        if (!held.isEmpty()) held.set(0, "`a`");
        if (held.size() == 2) held.set(0, "`b`");
        return new Heartbeat.Pass(200, ms.apply("virtual"), ms.apply("platform"),
            ms.apply("computed"), ms.apply("lost"), held, ms.apply("calls").intValue(), 0);
    }

    /** What is said of a machine with two processors, and of the rows that it disturbed. */
    static void machine() {
        for (int i = 0; i < 3; i++) {
            var look = Machine.look();
            is("near is further than far", false, look.near() > look.far());
        }
        Machine.pair = true;
        Side ones = side(1, 1, 1, 1, 1);
        Row same = row(ones, side(1, 1, 1, 1, 1));
        Row far = row(side(4, 4, 4, 4, 4), ones);
        Row close = row(side(3, 3, 3, 3, 3), ones);
        Row less = row(side(1, 1, 1, 1, 1), side(4, 4, 4, 4, 4));
        var quiet = new Machine.State(0.1, 0.1, 50, 125);
        var busy = new Machine.State(0.11, 0, 50, 60);
        var stolen = new Machine.State(Double.NaN, 0.11, 50, 60);
        var moved = new Machine.State(0, Double.NaN, 50, 126);
        is("doubted if quiet", false, FullReport.judged(same, quiet).row().noisy());
        is("doubted if busy", true, FullReport.judged(same, busy).row().noisy());
        is("doubted if stolen", true, FullReport.judged(same, stolen).row().noisy());
        is("doubted if busy, 4×", false, FullReport.judged(far, busy).row().noisy());
        is("doubted if busy, 3×", true, FullReport.judged(close, busy).row().noisy());
        is("doubted if busy, 0.25×", false, FullReport.judged(less, busy).row().noisy());
        Row modes = row(ones, side(4, 4, 4, 4, 3.1));
        is("doubted if moved", true, FullReport.judged(modes, moved).row().noisy());
        is("doubted if a platform sample moved", true,
            FullReport.judged(row(side(4, 4, 4, 4, 3.1), ones), moved).row().noisy());
        is("doubted if not moved", false, FullReport.judged(modes, quiet).row().noisy());
        is("doubted if moved, but alike", false, FullReport.judged(far, moved).row().noisy());
        Machine.pair = false;
        is("doubted if one of many moved", false,
            FullReport.judged(modes, moved).row().noisy());
        var all = Machine.State.of(List.of(quiet, busy, stolen, moved), 1);
        is("all states", new Machine.State(0.11, 0.11, 50, 126), all);
        String used = "Other programs used up to ";
        is("said of a quiet one", used + "10 % of the processors, a hypervisor 10 %. A message"
            + " to another processor and back took 50 ns.", said(same, quiet));
        is("said of an unknown one", used + "0 % of the processors, a hypervisor — %.",
            said(same, new Machine.State(0, Double.NaN, Double.NaN, Double.NaN)));
        is("said of a busy one", used + "11 % of the processors, a hypervisor 0 %, and"
            + " disturbed 1 of 1 rows. None of these holds. A message to another processor and"
            + " back took 50 ns.", said(same, busy));
        is("said of one that moved, 4×", used + "11 % of the processors, a hypervisor 0 %, and"
            + " disturbed 1 of 2 rows. These still tell which side is better, by over a factor"
            + " of three: an odd one. A message to another processor and back took 50 ns"
            + " at best; around 1 of 2 rows, it took over 2.5 times as long, up to 126 ns.",
            Machine.words(List.of(new FullReport.Seen(far, busy),
                new FullReport.Seen(same, moved))));
    }

    static String said(Row row, Machine.State state) {
        return Machine.words(List.of(new FullReport.Seen(row, state)));
    }

    static Side side(double... samples) {
        Side side = new Side("odd", NO_SIDE);
        side.warmUp = 1e6; // it would spoil everything
        for (double sample : samples) side.add(sample);
        return side;
    }

    static Row row(Side platform, Side virtual) {
        return new Row("an", "odd one", WHAT, "ms", 1, platform, virtual, false);
    }

    static String range(double[] platform, double[] virtual, int samples) {
        return interval(side(Arrays.copyOf(platform, samples)),
            side(Arrays.copyOf(virtual, samples)));
    }

    static String interval(Side platform, Side virtual) {
        return Arrays.toString(FullReport.range(row(platform, virtual)));
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
        double before = writes();
        File lines = File.createTempFile("lines", "");
        Encores.printLines(lines, 1_000);
        lines.delete();
        double after = writes();
        say(after >= before + 1_000 || Double.isNaN(after) ? "each line is written at once"
            : "1,000 lines took %s writes", after - before);
        double little = 1e9;
        double much = 1e9;
        for (int i = 0; i < 30; i++) {
            little = Math.min(little, missed(3));
            much = Math.min(much, missed(6));
        }
        say(little == 0 && much > 29 && much < 33 ? "ticks over 5 ms late are missed"
            : "of ticks 3 and 6 ms late, %s and %s ms are missed", little, much);
        var made = new AtomicInteger();
        List<String> begun = new CopyOnWriteArrayList<>();
        Encores.delay(newThreadPerTaskExecutor(task -> {
            boolean first = made.incrementAndGet() <= 2;
            return new Thread(() -> {
                if (first) nap(50);
                begun.add(first ? "long" : "short");
                task.run();
            });
        }), 2);
        say("time-sharing: %s", begun);
        double timed = 1;
        for (int i = 0; i < 3; i++) {
            long start = System.nanoTime();
            double parked = new Encores.Parked(50_000).read();
            timed = Math.min(timed, parked * 1e6 / (System.nanoTime() - start));
        }
        say(timed < 0.9 ? "only parking is timed" : "timed: %s of a parking", timed);
        Encores.weigh(20_000, 0);
        say("beside %s MB, each weighs %s", BALLAST.length >> 20,
            Encores.weigh(20_000, 0));
    }

    /** How often this JVM has written to a file or a socket; Linux counts that. */
    static double writes() throws Exception {
        try (var io = new Scanner(new File("/proc/self/io"))) {
            return Double.parseDouble(io.findWithinHorizon("(?<=syscw: )\\d+", 0));
        } catch (FileNotFoundException e) {
            return Double.NaN;
        }
    }

    /** What five ticks miss that are late by so many ms. */
    static double missed(int ms) throws Exception {
        var left = new AtomicInteger(5);
        return Heartbeat.missedMs(() -> {
            if (left.get() > 0) nap(ms);
            return left.getAndDecrement() == 0;
        });
    }

    /** Counts the threads that inherit from the one that starts them. */
    static InheritableThreadLocal<Integer> counted(IntConsumer made) {
        var count = new AtomicInteger();
        return new InheritableThreadLocal<Integer>() {
            protected Integer childValue(Integer value) {
                made.accept(count.incrementAndGet());
                return value;
            }
        };
    }

    /** While a thread has the only carrier, others pend; the last of ten hasn't run then. */
    static void starts() throws Exception {
        startAll(Thread.ofVirtual(), 10); // this starts threads of the JVM, too
        var alone = Thread.ofVirtual().inheritInheritableThreadLocals(false);
        var slow = new AtomicBoolean();
        var last = counted(n -> {
            if (n == 10) alone.start(() -> {
                for (int i = 0; i < 20; i++) countPrimes(100_000);
                slow.set(true);
            });
        });
        last.set(1);
        startAll(Thread.ofVirtual(), 10);
        last.remove();
        say("startAll returned after %s of 10 threads", slow.get() ? 10 : 9);
        var made = new AtomicInteger();
        var pending = new AtomicInteger();
        var all = counted(made::set);
        all.set(1);
        alone.start(() -> {
            spin(5_000, () -> made.get() < 1_000);
            spin(300, () -> true); // would it start more?
            pending.set(made.get());
        });
        startAll(Thread.ofVirtual(), 1_100);
        all.remove();
        say("of 1,100 threads, %s are pending at once", pending);
    }

    static void spin(int ms, BooleanSupplier on) {
        long end = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < end && on.getAsBoolean()) Thread.onSpinWait();
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
