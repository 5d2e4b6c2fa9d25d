// SPDX-License-Identifier: MIT-0
package lab;

import static java.util.concurrent.Executors.*;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.*;

/**
 * Does JMH read the same ratios as the lab? It calls the lab's own startAll and runAll, as
 * three of the experiments do. JMH starts a JVM for each row and each side, warms it up and
 * times single calls (sample mode); a row's time is the median, p0.50.
 *
 *     mvn -q -f .ci/jmh/pom.xml package
 *     java -jar .ci/jmh/target/benchmarks.jar
 *
 * The second command takes about two minutes. An iteration makes at least one call, however
 * long: one wave in the pool of 200 takes 5 s. After each iteration, a line tells how long a
 * message to another processor and back took around it: start-time depends on that, so
 * iterations are compared with the lab only where both saw the same.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 1, time = 1)
@Measurement(iterations = 3, time = 1)
@State(Scope.Benchmark)
public class LabBenchmark {
    @Param({"platform", "virtual"})
    public String side;

    /** Apart from side, as only startTime has sizes. */
    @State(Scope.Benchmark)
    public static class Size {
        @Param({"100", "1000", "10000"})
        public int threads;
    }

    @Setup
    public void look() { Machine.look(); }

    @TearDown(Level.Iteration)
    public void lookAgain() {
        var state = Machine.look(); // what it was since the last look
        System.out.printf("%n# round trip: %.0f to %.0f ns%n", state.near(), state.far());
    }

    @Benchmark
    @Fork(3) // as starts of a JVM differ most
    public void startTime(Size size) throws Exception {
        VirtualThreadsLab.startAll(platform() ? Thread.ofPlatform() : Thread.ofVirtual(),
            size.threads);
    }

    @Benchmark
    public void sleepWave() throws Exception {
        var executor = platform() ? newFixedThreadPool(200) : newVirtualThreadPerTaskExecutor();
        Lab.runAll(executor, 10_000, () -> Thread.sleep(100));
    }

    @Benchmark
    public void pinning() throws Exception {
        var executor = platform() ? newThreadPerTaskExecutor(Thread::new)
            : newVirtualThreadPerTaskExecutor();
        Lab.runAll(executor, Lab.perCarrier() * Lab.CARRIERS, () -> {
            synchronized (Lab.OWN.get()) {
                Thread.sleep(50);
            }
        });
    }

    boolean platform() { return side.equals("platform"); }
}
