// SPDX-License-Identifier: MIT-0
import java.io.IOException;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.*;
import java.util.stream.IntStream;

/** Experiments with known answers, for commands.md; many of them go wrong on purpose. */
class FaultyExperiments extends VirtualThreadsLab {
    static final Path BEGUN = Path.of("begun");
    static final AtomicInteger CALLS = new AtomicInteger();
    static final List<Experiment> LIST = List.of(
        odd("even", lab -> lab.measure("of two gauges", "ms", 2, () -> 40, () -> 20)),
        odd("begun", FaultyExperiments::begun),
        odd("after", FaultyExperiments::afterThat),
        odd("wrong", lab ->
            lab.time("sheep", 1, () -> Thread.sleep(1), () -> Lab.check("sheep", 3, 4))),
        odd("throws", lab -> {
            lab.measure("before", "things", Lab.UNKNOWN, () -> 6, () -> 3);
            throw new IllegalStateException("as asked");
        }),
        odd("throws-in-2", lab -> {
            if (starts() == 2) throw new IllegalStateException("as asked");
            afterThat(lab);
        }),
        odd("halts-in-2", lab -> {
            System.out.println("as asked");
            if (starts() == 2) Runtime.getRuntime().halt(3);
            afterThat(lab);
        }),
        odd("zero", lab -> lab.measure("a model", "ms", 0, () -> 1, () -> 1)),
        odd("exits", lab ->
            lab.time("a job", 1, () -> System.exit(0), () -> Thread.sleep(1))),
        odd("row-forever", lab -> {
            lab.measure("before", "ms", 1, () -> 1, () -> 1);
            lab.measure("of one", "ms", 1, () -> nap(1e9), () -> 1);
        }),
        odd("forever", lab -> lab.measure("of one", "ms", 1, () -> nap(1e9), () -> 1)),
        waits("sleep", () -> Thread.sleep(50)),
        waits("fails-first", () -> {
            if (CALLS.incrementAndGet() == 1) throw new IllegalStateException("as asked");
            Thread.sleep(50);
        }),
        waits("fails-last", () -> { // after the row and its warm-up, on both sides
            Thread.sleep(50);
            if (CALLS.incrementAndGet() > 81) throw new IllegalStateException("as asked");
        }),
        waits("cold", Cold::touch),
        waits("mixed", () -> {
            Thread.sleep(45);
            Lab.check("primes", 33_860, countPrimes(400_000));
        }),
        waits("deadlock", FaultyExperiments::deadlock),
        waits("fork", () -> IntStream.range(0, 4).parallel().forEach(i -> nap(10))),
        waits("pin", () -> pinned(20)),
        waits("slow", () -> pinned(1_300)),
        waits("nested", () -> Thread.startVirtualThread(() -> pinned(20)).join()),
        waits("part", () -> {
            Thread.currentThread().setName("caller@part");
            Thread.sleep(10);
            pinned(35);
        }),
        waits("monitor", () -> {
            synchronized (OWN.get()) {
                OWN.get().wait(50);
            }
        }),
        waits("computing", () -> Lab.check("primes", 33_860, countPrimes(400_000))));

    public static void main(String[] args) {
        System.exit(run(LIST, args));
    }

    static Experiment odd(String name, Body body) {
        return new Experiment(name, "an odd one", body);
    }

    static Experiment waits(String name, Job call) {
        return odd(name, lab -> lab.waiting(name, 1, call));
    }

    /** Each start of a JVM finds one line more in this file. */
    static void begun(Lab lab) throws Exception {
        Files.writeString(BEGUN, "begun\n", StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
        double n = starts();
        lab.measure("in starts", "ms", 10, () -> 10 * n, () -> n * n);
        ((FullReport) lab.report()).said.add("begun: this is start " + (int) n + ".");
    }

    static int starts() throws IOException { return Files.readAllLines(BEGUN).size(); }

    static void afterThat(Lab lab) throws IOException {
        double n = starts();
        lab.measure("after that", "things", 1, () -> n, () -> 2);
    }

    /** Pins its carrier up to JDK 23. */
    static void pinned(double ms) {
        synchronized (OWN.get()) {
            nap(ms);
        }
    }

    static class Cold {
        static { nap(1_000); }

        static void touch() { }
    }

    static final ReentrantLock LOCK = new ReentrantLock();

    /** Up to JDK 23, those who wait for the lock in a monitor keep their carriers. */
    static void deadlock() {
        if (CALLS.incrementAndGet() % 2 == 1) locked();
        else synchronized (new Object()) {
            locked();
        }
    }

    static void locked() {
        LOCK.lock();
        try {
            nap(2);
        } finally {
            LOCK.unlock();
        }
    }

    /** Naps for all of it, even if interrupted. */
    static double nap(double ms) {
        long end = System.nanoTime() + (long) (ms * 1e6);
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(end - System.nanoTime());
            Thread.interrupted(); // or it would spin
        }
        return ms;
    }
}
