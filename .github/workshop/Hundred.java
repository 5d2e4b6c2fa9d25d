// SPDX-License-Identifier: MIT-0
import java.util.concurrent.Executors;

/** One virtual thread prints where it runs, and 99 others sleep; or, if asked, compute. */
class Hundred {
    public static void main(String[] args) {
        boolean compute = args.length > 0;
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            executor.submit(() -> nap(true));
            for (int i = 0; i < 99; i++) {
                executor.submit(() -> compute ? fibonacci(40) : nap(false));
            }
        }
    }

    static int nap(boolean print) throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            if (print) System.out.println("before  " + Thread.currentThread());
            long start = System.nanoTime();
            Thread.sleep(5);
            long ms = (System.nanoTime() - start) / 1_000_000;
            String after = "after   " + Thread.currentThread() + "  " + ms + " ms";
            if (print) System.out.println(after);
        }
        return 0;
    }

    static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
}
