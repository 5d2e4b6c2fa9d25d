// SPDX-License-Identifier: MIT-0
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** How long LockSupport.parkNanos(50 ms) takes, twice, on each kind of thread. */
class Park {
    interface Wait { void run() throws Exception; }

    public static void main(String[] args) throws Exception {
        System.out.println("Java " + Runtime.version() + ", ms of two parks of 50 ms");
        row("at first", () -> { });
        row("after a sleep", () -> Thread.sleep(10));
        row("after a park", () -> LockSupport.parkNanos(10_000_000));
    }

    static void row(String what, Wait before) throws Exception {
        StringBuilder row = new StringBuilder("%-14s".formatted(what));
        for (Thread.Builder threads : List.of(Thread.ofPlatform(), Thread.ofVirtual()))
            threads.start(() -> {
                try {
                    before.run();
                    row.append("%8.1f%6.1f".formatted(park(), park()));
                } catch (Exception e) {
                    row.append(e);
                }
            }).join();
        System.out.println(row);
    }

    static double park() {
        long start = System.nanoTime();
        LockSupport.parkNanos(50_000_000);
        return (System.nanoTime() - start) / 1e6;
    }
}
