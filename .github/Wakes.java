// SPDX-License-Identifier: MIT-0
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Does a virtual thread always wake up? Not on JDK 25 to 25.0.2, if it's woken just as a timed
 * wait ends (JDK-8369227), mostly in code not compiled yet: so in 15 JVMs, 1,000 times each.
 */
class Wakes {
    public static void main(String[] args) throws Exception {
        String java = ProcessHandle.current().info().command().get();
        String here = System.getProperty("jdk.launcher.sourcefile", "Wakes");
        String path = System.getProperty("java.class.path");
        var command = List.of(java, "-cp", path, here, "child");
        boolean woke = true;
        for (int i = 0; woke && args.length == 0 && i < 15; i++)
            woke = new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
        for (int i = 0; woke && args.length > 0 && i < 1_000; i++)
            woke = wakes(140_000 + i * 7_919 % 60_000);
        String said = woke ? ": 15,000 rounds woke" : ": a virtual thread never woke";
        if (woke == (args.length == 0)) System.out.println("JDK " + Runtime.version() + said);
        System.exit(woke ? 0 : 1);
    }

    // Wakes a thread after so many ns, as its wait of 100 µs ends; a permit ends the next.
    static boolean wakes(int ns) throws InterruptedException {
        long start = System.nanoTime();
        var permit = new Semaphore(0);
        Thread thread = Thread.startVirtualThread(() -> {
            LockSupport.parkNanos(start + 100_000 - System.nanoTime());
            permit.acquireUninterruptibly();
        });
        while (System.nanoTime() - start < ns) Thread.onSpinWait();
        LockSupport.unpark(thread);
        LockSupport.parkNanos(100_000);
        permit.release();
        return thread.join(java.time.Duration.ofSeconds(1));
    }
}
