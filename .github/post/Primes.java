// SPDX-License-Identifier: MIT-0
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.IntStream;

class Primes {
    public static void main(String[] args) throws Exception {
        int cpus = Runtime.getRuntime().availableProcessors();
        System.out.println("JDK " + System.getProperty("java.version")
            + ", processors: " + cpus);
        List<Callable<Long>> tasks = Collections.nCopies(4 * cpus, () ->
            IntStream.range(2, 1_000_000).filter(Primes::isPrime).count());
        for (int round = 1; round <= 3; round++) {
            long pool = millis(Executors.newFixedThreadPool(cpus), tasks);
            long virtual = millis(Executors.newVirtualThreadPerTaskExecutor(), tasks);
            System.out.println("pool: " + pool + " ms");
            System.out.println("virtual threads: " + virtual + " ms");
        }
    }

    static long millis(ExecutorService pool, List<Callable<Long>> tasks) throws Exception {
        long start = System.nanoTime();
        try (pool) {
            for (var n : pool.invokeAll(tasks)) {
                if (n.get() != 78_498) throw new AssertionError(n.get());
            }
        }
        return (System.nanoTime() - start) / 1_000_000;
    }

    static boolean isPrime(int n) {
        for (int d = 2; d * d <= n; d++) {
            if (n % d == 0) return false;
        }
        return true;
    }
}
