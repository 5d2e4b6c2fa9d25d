// SPDX-License-Identifier: MIT-0
import java.util.concurrent.CountDownLatch;

class StartTime {
    public static void main(String[] args) throws Exception {
        System.out.println("JDK " + System.getProperty("java.version")
            + ", processors: " + Runtime.getRuntime().availableProcessors());
        for (int round = 1; round <= 5; round++) { // the first is cold
            System.out.println("round " + round);
            System.out.printf("platform: %.1f µs each%n", micros(Thread.ofPlatform(), 10));
            System.out.printf("virtual: %.2f µs each%n", micros(Thread.ofVirtual(), 1_000));
        }
    }

    /** Starts 1,000 threads, waits until all have run, and does so for each burst. */
    static double micros(Thread.Builder kind, int bursts) throws Exception {
        long start = System.nanoTime();
        for (int burst = 0; burst < bursts; burst++) {
            var notRun = new CountDownLatch(1_000);
            for (int thread = 0; thread < 1_000; thread++) {
                kind.start(notRun::countDown);
            }
            notRun.await();
        }
        return (System.nanoTime() - start) / 1e3 / (bursts * 1_000);
    }
}
