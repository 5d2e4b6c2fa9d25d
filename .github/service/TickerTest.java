// SPDX-License-Identifier: MIT-0
package lab;

import java.io.FileInputStream;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;
import javax.management.ObjectName;

/** How old the last tick gets while N virtual threads do something for two seconds, for ever if
 * it's a pipe: {@code TickerTest KIND N}. Then: how many platform threads there were meanwhile
 * and, from JDK 24 on, what the scheduler's bean said. */
class TickerTest {
    public static void main(String[] args) throws Exception {
        Runnable wait = switch (args[0]) {
            case "sleep" -> () -> sleep();
            case "pin" -> () -> {
                synchronized (new Object()) {
                    sleep();
                }
            };
            case "fifo" -> () -> {
                try (var pipe = new FileInputStream("/tmp/ticker.fifo")) {
                    pipe.read();
                } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            };
            case "initializer" -> () -> System.identityHashCode(Slow.VALUE);
            case "compute" -> () -> {
                for (long end = System.nanoTime() + 2_000_000_000; System.nanoTime() < end; ) {
                }
            };
            case "wait" -> () -> {
                var lock = new Object();
                synchronized (lock) {
                    try {
                        lock.wait(2_000);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
            default -> throw new IllegalArgumentException(args[0]);
        };
        if (args[0].equals("fifo")) {
            new ProcessBuilder("sh", "-c", "rm -f /tmp/ticker.fifo; mkfifo /tmp/ticker.fifo;"
                + " exec sleep 9 <> /tmp/ticker.fifo").start(); // nobody writes
            Thread.sleep(200);
        }
        Ticker.start();
        Thread.sleep(1_000);
        Ticker.worst();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) Thread.startVirtualThread(wait);
        Thread.sleep(1_000);
        String then = ManagementFactory.getThreadMXBean().getThreadCount() + " platform threads"
            + scheduler();
        Thread.sleep(3_000);
        System.out.println("JDK " + Runtime.version().feature() + ", " + args[1] + " in "
            + args[0] + ": last tick " + Ticker.worst() + " ms ago; " + then);
    }

    static void sleep() {
        long end = System.nanoTime() + 2_000_000_000;
        while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
    }

    static class Slow {
        static final Object VALUE = slow();

        static Object slow() {
            sleep();
            return new Object();
        }
    }

    static String scheduler() throws Exception {
        var text = new StringBuilder();
        var name = new ObjectName("jdk.management:type=VirtualThreadScheduler");
        var server = ManagementFactory.getPlatformMBeanServer();
        if (!server.isRegistered(name)) return "";
        for (String attribute : new String[] {"MountedVirtualThreadCount",
                "QueuedVirtualThreadCount", "PoolSize", "Parallelism"}) {
            text.append(", ").append(attribute).append(' ')
                .append(server.getAttribute(name, attribute));
        }
        return text.toString();
    }
}
