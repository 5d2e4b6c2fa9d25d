// SPDX-License-Identifier: MIT-0
import java.util.concurrent.*;

class Waves {
    public static void main(String[] args) {
        System.out.println("JDK " + System.getProperty("java.version")
            + ", processors: " + Runtime.getRuntime().availableProcessors());
        for (int round = 1; round <= 2; round++) {
            System.out.println("round " + round);
            time("pool of 200", Executors.newFixedThreadPool(200));
            time("pool of 1000", Executors.newFixedThreadPool(1_000));
            time("10000 platform threads", Executors.newThreadPerTaskExecutor(Thread::new));
            time("virtual threads", Executors.newVirtualThreadPerTaskExecutor());
        }
    }

    static void time(String name, ExecutorService executor) {
        long start = System.nanoTime();
        try (executor) {
            for (int task = 0; task < 10_000; task++) {
                executor.submit(() -> {
                    Thread.sleep(100);
                    return null;
                });
            }
        } // here close() waits for all tasks
        long millis = (System.nanoTime() - start) / 1_000_000;
        System.out.println(name + ": " + millis + " ms");
    }
}
