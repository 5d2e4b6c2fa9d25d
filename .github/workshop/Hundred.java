// SPDX-License-Identifier: MIT-0
import java.util.concurrent.Executors;

/** One virtual thread prints where it runs, while 99 others sleep, or compute if asked to. */
class Hundred {
    public static void main(String[] args) {
        boolean compute = args.length > 0;
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            executor.submit(() -> nap(true));
            for (int i = 0; i < 99; i++) {
                executor.submit(() -> compute ? compute() : nap(false));
            }
        }
    }

    static int nap(boolean print) throws InterruptedException {
        long away = 0;
        for (int i = 0; i < 5; i++) {
            if (print) System.out.println("before  " + Thread.currentThread());
            long start = System.nanoTime();
            Thread.sleep(20);
            long ms = (System.nanoTime() - start) / 1_000_000;
            away += ms;
            String after = "after   " + Thread.currentThread() + "  " + ms + " ms";
            if (print) System.out.println(after);
        }
        if (print) System.out.println("away for " + away + " ms in all");
        return 0;
    }

    /** Computes for a fifth of a second by the clock, so a slow laptop takes no longer. */
    static int compute() {
        long end = System.nanoTime() + 200_000_000;
        int turns = 0;
        while (System.nanoTime() < end) {
            turns++;
        }
        return turns;
    }
}
