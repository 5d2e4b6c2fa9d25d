// SPDX-License-Identifier: MIT-0
import java.lang.management.ManagementFactory;
import java.util.concurrent.*;

class ThreadCount {
    public static void main(String[] args) throws Exception {
        System.out.println("JDK " + System.getProperty("java.version")
            + ", processors: " + Runtime.getRuntime().availableProcessors());
        for (int round = 1; round <= 3; round++) {
            count("virtual", 1_000, Executors.newVirtualThreadPerTaskExecutor());
            count("pool of 200", 200, Executors.newFixedThreadPool(200));
            count("cached pool", 1_000, Executors.newCachedThreadPool());
        }
    }

    static void count(String on, int room, ExecutorService executor) throws Exception {
        Thread.sleep(200); // earlier threads end meanwhile
        var coming = new CountDownLatch(room);
        var live = new CompletableFuture<Integer>();
        try (executor) {
            for (int task = 0; task < 1_000; task++) {
                executor.submit(() -> {
                    coming.countDown();
                    return live.get(10, TimeUnit.SECONDS);
                });
            }
            coming.await();
            live.complete(ManagementFactory.getThreadMXBean().getThreadCount());
            System.out.println(on + ": " + live.get() + " live threads");
        }
    }
}
