// SPDX-License-Identifier: MIT-0
package lab;

import static java.util.concurrent.Executors.*;

import java.util.*;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;
import org.openjdk.jmh.runner.*;
import org.openjdk.jmh.runner.options.*;

/**
 * Does JMH read the same ratios as the lab? It runs the lab's own startAll, runAll and
 * countPrimes, and main prints a table like the lab's, in about eight minutes:
 *
 *     mvn -q -f .ci/jmh package
 *     java -jar .ci/jmh/target/benchmarks.jar
 *
 * As in the lab with --starts, the sides of a row take turns, and each JVM gives one sample,
 * the median of its iterations. Each of these is the mean of the calls that fit into a second,
 * in startTime into 200 ms, but of one at least: a wave in the pool of 200 takes five seconds.
 * A side has five JVMs, and nine in startTime, whose times are bimodal.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 1, time = 1)
@Measurement(iterations = 1, time = 1)
@State(Scope.Benchmark)
public class LabBenchmark {
    @Param({"platform", "virtual"})
    public String side;

    /** Apart from side, as only startTime has sizes. */
    @State(Scope.Benchmark)
    public static class Size {
        @Param({"100", "1000", "10000"})
        public int threads;

        /**
         * Before each iteration, as in the lab, the other side starts its threads; but not with
         * -Dalone=true: in JVMs that have only virtual threads, these start more slowly. Then,
         * main measures nothing else.
         */
        @Setup(Level.Iteration)
        public void otherSide(LabBenchmark lab) throws Exception {
            if (Boolean.getBoolean("alone")) return;
            VirtualThreadsLab.startAll(
                lab.platform() ? Thread.ofVirtual() : Thread.ofPlatform(), threads);
        }
    }

    /** Only the platform side of sleepWave has a pool. */
    @State(Scope.Benchmark)
    public static class Pool {
        @Param({"200", "1000"})
        public int threads;
    }

    @Benchmark
    @Warmup(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
    @Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
    public void startTime(Size size) throws Exception {
        VirtualThreadsLab.startAll(platform() ? Thread.ofPlatform() : Thread.ofVirtual(),
            size.threads);
    }

    @Benchmark
    public void sleepWave(Pool pool) throws Exception {
        var executor = platform() ? newFixedThreadPool(pool.threads)
            : newVirtualThreadPerTaskExecutor();
        Lab.runAll(executor, 10_000, () -> Thread.sleep(100));
    }

    @Benchmark
    public void cpuPrimes() throws Exception {
        var executor = platform() ? newFixedThreadPool(Machine.PROCESSORS)
            : newVirtualThreadPerTaskExecutor();
        Lab.runAll(executor, 4 * Machine.PROCESSORS, () ->
            Lab.check("primes", 78_498, VirtualThreadsLab.countPrimes(1_000_000)));
    }

    @Benchmark
    public void pinning() throws Exception {
        var executor = platform() ? newThreadPerTaskExecutor(Thread::new)
            : newVirtualThreadPerTaskExecutor();
        Lab.runAll(executor, Machine.PER_CARRIER * Machine.CARRIERS, () -> {
            synchronized (VirtualThreadsLab.OWN.get()) {
                Thread.sleep(500 / Machine.PER_CARRIER);
            }
        });
    }

    boolean platform() { return side.equals("platform"); }

    public static void main(String[] args) throws RunnerException {
        boolean alone = Boolean.getBoolean("alone");
        System.out.printf("JMH on Java %s, five JVMs a side, nine in start-time%s%n%n"
            + "| Experiment   | Work                | Platform |  Virtual | %21s |%n"
            + "|--------------|---------------------|---------:|---------:|%s:|%n",
            Runtime.version(), alone ? ", each side alone" : "",
            "JDK " + Runtime.version().feature(), "-".repeat(22));
        print("start-time", "100 threads", "startTime", "threads", "100");
        print("start-time", "1,000 threads", "startTime", "threads", "1000");
        print("start-time", "10,000 threads", "startTime", "threads", "10000");
        if (alone) return; // the others have no such step
        print("sleep-wave", "10,000, pool 200", "sleepWave", "threads", "200");
        print("sleep-wave", "10,000, pool 1,000", "sleepWave", "threads", "1000");
        print("cpu-primes", 4 * Machine.PROCESSORS + " × 78,498 primes", "cpuPrimes");
        int waiters = Machine.PER_CARRIER * Machine.CARRIERS;
        print("pinning", waiters + " in synchronized", "pinning");
    }

    static void print(String experiment, String work, String method, String... param)
            throws RunnerException {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < (method.equals("startTime") ? 9 : 5); i++) {
            double platform = read("platform", method, param);
            pairs.add(new Pair(platform, read("virtual", method, param)));
        }
        Row row = new Row(experiment, work, true, Lab.UNKNOWN, pairs, List.of());
        System.out.printf("| %-12s | %-19s | %8s | %8s | %21s |%n", experiment, work,
            Text.number(row.platform(), " ms"), Text.number(row.virtual(), " ms"),
            Page.ratio(row, true));
    }

    /** The median of a JVM's iterations, in ms. */
    static double read(String side, String method, String... param) throws RunnerException {
        var options = new OptionsBuilder().verbosity(VerboseMode.SILENT)
            .include("LabBenchmark." + method).param("side", side);
        if (param.length > 0) options.param(param[0], param[1]);
        if (Machine.JDK > 22) // JMH itself uses Unsafe
            options.jvmArgsAppend("--sun-misc-unsafe-memory-access=allow");
        var jvm = new Runner(options.build()).runSingle().getAggregatedResult();
        return Row.median(jvm.getIterationResults().stream()
            .map(iteration -> iteration.getPrimaryResult().getScore()).toList());
    }
}
