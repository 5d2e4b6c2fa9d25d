// SPDX-License-Identifier: MIT-0
import java.util.concurrent.locks.LockSupport;

/** A service that answers twenty requests a second, for 25 seconds. */
class Service {
    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 500; i++) {
            Thread.startVirtualThread(() -> answer(new Object()));
            Thread.sleep(50);
        }
    }

    static void answer(Object session) {
        synchronized (session) {
            LockSupport.parkNanos(15_000_000); // 15 ms, as a query might wait
        }
    }
}
