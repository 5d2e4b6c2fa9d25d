// SPDX-License-Identifier: MIT-0
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/** A service that answers twenty requests a second, until you press Ctrl-C. */
class Requests {
    public static void main(String[] args) throws Exception {
        System.out.println("JDK " + Runtime.version().feature() + ", process "
            + ProcessHandle.current().pid());
        var executor = Executors.newVirtualThreadPerTaskExecutor();
        while (!System.out.checkError()) { // record.sh closes this output when it is done
            for (int i = 0; i < 20; i++) {
                executor.submit(() -> answer(new Object()));
                Thread.sleep(50);
            }
            System.out.println("20 more requests");
        }
    }

    static Object answer(Object session) {
        synchronized (session) {
            LockSupport.parkNanos(5_000_000); // 5 ms, as a query might wait
            return session;
        }
    }
}
