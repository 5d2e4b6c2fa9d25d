// SPDX-License-Identifier: MIT-0
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class Waves {
    public static void main(String[] args) {
        System.out.println("JDK " + System.getProperty("java.version")
            + ", processors: " + Runtime.getRuntime().availableProcessors());
        for (int round = 1; round <= 3; round++) {
            long pool = millis(Executors.newFixedThreadPool(200));
            long virtual = millis(Executors.newVirtualThreadPerTaskExecutor());
            System.out.println("round " + round + ": pool of 200 "
                + pool + " ms, virtual threads " + virtual + " ms");
        }
    }

    static long millis(ExecutorService executor) {
        long start = System.nanoTime();
        try (executor) {
            for (int task = 0; task < 10_000; task++) {
                executor.submit(() -> {
                    Thread.sleep(100);
                    return null;
                });
            }
        } // here close() waits for all tasks
        return (System.nanoTime() - start) / 1_000_000;
    }
}
