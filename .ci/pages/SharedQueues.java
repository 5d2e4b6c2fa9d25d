// SPDX-License-Identifier: MIT-0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Beside a loop of Thread.yield() for each carrier, how many virtual threads wait until the
 * loops end? Sixteen platform threads start one each. .github/blocking.md says why.
 *
 *     java SharedQueues.java 3         on three carriers
 *     java SharedQueues.java 2 0       on two, once the JVM has added another
 *     java SharedQueues.java 2 40      the same, 40 s later, when that one has gone
 */
class SharedQueues {
    static final int STARTED = 16;
    static volatile boolean ends;

    public static void main(String[] args) throws Exception {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", args[0]);
        int carriers = Integer.parseInt(args[0]);
        String added = "";
        if (args.length > 1) {
            addCarrier(carriers);
            Thread.sleep(1_000 * Long.parseLong(args[1]));
            added = ", one more " + args[1] + " s before";
        }
        for (int i = 0; i < carriers; i++) {
            Thread.startVirtualThread(() -> {
                while (!ends) Thread.yield();
            });
        }
        Thread.sleep(250);
        var ran = new AtomicInteger();
        for (int i = 0; i < STARTED; i++) {
            Thread starts = new Thread(() -> Thread.startVirtualThread(ran::incrementAndGet));
            starts.start();
            starts.join();
        }
        Thread.sleep(500);
        System.out.printf("JDK %s, carriers: %d%s: %d of %d wait%n",
            System.getProperty("java.version"), carriers, added, STARTED - ran.get(), STARTED);
        ends = true;
        while (ran.get() < STARTED) Thread.sleep(1); // if one never ran, this would tell
    }

    /** Up to 23, Object.wait blocks its carrier, and the JVM adds another one. */
    static void addCarrier(int carriers) throws InterruptedException {
        var lock = new Object();
        List<Thread> waiting = new ArrayList<>();
        for (int i = 0; i < carriers; i++) {
            waiting.add(Thread.startVirtualThread(() -> {
                synchronized (lock) {
                    try {
                        lock.wait(100);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }));
        }
        for (Thread each : waiting) each.join();
    }
}
