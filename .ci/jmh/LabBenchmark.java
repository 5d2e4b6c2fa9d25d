// SPDX-License-Identifier: MIT-0
package lab;

import static java.util.concurrent.Executors.*;

import java.util.*;
import java.util.concurrent.*;
import org.openjdk.jmh.annotations.*;

/**
 * Does JMH read the same ratios as the lab? These are the loops of three of its experiments,
 * under their names. JMH starts a JVM for each row and each side, warms it up and times single
 * calls (sample mode). Its report has their median, p0.50.
 *
 *     mvn -q -f .ci/jmh/pom.xml package
 *     java -jar .ci/jmh/target/benchmarks.jar -rf csv -rff jmh.csv
 *
 * The second command takes about 70 seconds. An iteration makes at least one call, however
 * long: the pool of 200 gets three calls of 5 s.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 1, time = 2)
@Measurement(iterations = 3, time = 1)
@State(Scope.Benchmark)
public class LabBenchmark {
    interface Job { void run() throws Exception; }

    static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);

    @Param({"platform", "virtual"})
    public String side;

    /** Apart from side, as only startTime has sizes. */
    @State(Scope.Benchmark)
    public static class Size {
        @Param({"100", "1000", "10000"})
        public int threads;
    }

    @Benchmark
    public void startTime(Size size) throws Exception {
        startAll(platform() ? Thread.ofPlatform() : Thread.ofVirtual(), size.threads);
    }

    @Benchmark
    public void sleepWave() throws Exception {
        var executor = platform() ? newFixedThreadPool(200) : newVirtualThreadPerTaskExecutor();
        runAll(executor, 10_000, () -> Thread.sleep(100));
    }

    @Benchmark
    public void pinning() throws Exception {
        int tasks = 10 * Runtime.getRuntime().availableProcessors(); // the lab: 3 to 10
        var executor = platform() ? newThreadPerTaskExecutor(Thread::new)
            : newVirtualThreadPerTaskExecutor();
        runAll(executor, tasks, () -> {
            synchronized (OWN.get()) {
                Thread.sleep(50);
            }
        });
    }

    boolean platform() { return side.equals("platform"); }

    static void startAll(Thread.Builder builder, int threads) throws Exception {
        int mostPending = 1_000; // started, but not yet run
        var notRun = new CountDownLatch(threads);
        for (int notStarted = threads; notStarted > 0; notStarted--) {
            while (notRun.getCount() - notStarted >= mostPending) Thread.yield();
            builder.start(notRun::countDown);
        }
        notRun.await();
    }

    static void runAll(ExecutorService executor, int n, Job job) throws Exception {
        Callable<Void> task = () -> {
            job.run();
            return null;
        };
        try (executor) {
            var tasks = Collections.nCopies(n, task);
            for (var done : executor.invokeAll(tasks, 2, TimeUnit.MINUTES)) done.get();
        }
    }
}
