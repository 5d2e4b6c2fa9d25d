// SPDX-License-Identifier: MIT-0
import java.util.concurrent.*;

class Waves {
    public static void main(String[] args) {
        System.out.println("JDK " + System.getProperty("java.version")
            + ", processors: " + Runtime.getRuntime().availableProcessors());
        for (int warmUp = 1; warmUp <= 5; warmUp++) {
            millis(Executors.newThreadPerTaskExecutor(Thread::new));
            millis(Executors.newVirtualThreadPerTaskExecutor());
        }
        print("pool of 200", Executors.newFixedThreadPool(200));
        print("pool of 1000", Executors.newFixedThreadPool(1_000));
        print("10000 platform threads", Executors.newThreadPerTaskExecutor(Thread::new));
        print("virtual threads", Executors.newVirtualThreadPerTaskExecutor());
    }

    static void print(String name, ExecutorService executor) {
        System.out.println(name + ": " + millis(executor) + " ms");
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
