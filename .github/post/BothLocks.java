// SPDX-License-Identifier: MIT-0
import java.util.Arrays;
import java.util.concurrent.Executors;

class BothLocks {
    static final int CARRIERS = 2; // on any machine
    static final int TASKS = 10 * CARRIERS;

    public static void main(String[] args) {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "" + CARRIERS);
        System.out.println("JDK " + System.getProperty("java.version")
            + ", carriers: " + CARRIERS + ", tasks: " + TASKS);
        for (String kind : new String[] {"platform", "virtual"}) {
            millis(kind, false); // to warm up
            System.out.println(kind + ", a lock each: " + millis(kind, false) + " ms");
            System.out.println(kind + ", one for all: " + millis(kind, true) + " ms");
        }
    }

    static long millis(String kind, boolean oneForAll) {
        var locks = new Object[TASKS];
        Arrays.setAll(locks, i -> new Object());
        long start = System.nanoTime();
        try (var executor = kind.equals("virtual")
                ? Executors.newVirtualThreadPerTaskExecutor()
                : Executors.newFixedThreadPool(TASKS)) {
            for (int task = 0; task < TASKS; task++) {
                Object lock = locks[oneForAll ? 0 : task];
                executor.submit(() -> {
                    synchronized (lock) {
                        Thread.sleep(50);
                    }
                    return null;
                });
            }
        } // here close() waits for all tasks
        return (System.nanoTime() - start) / 1_000_000;
    }
}
