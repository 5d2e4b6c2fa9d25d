// SPDX-License-Identifier: MIT-0
package lab;

import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import javax.management.ObjectName;

/**
 * A virtual thread ticks every 10 ms, and a platform thread looks whether it still does. If the
 * host is busy or a GC stops everything, the looks are late, too: each counts as 10 ms only.
 */
class Ticker {
    static final long LOOK = 10_000_000; // ns
    static final long ALARM = 1_000_000_000;
    static volatile long ticks;
    static volatile int alarms;
    static volatile long worst; // in ms, in these five minutes
    static volatile long before; // and in the five before

    static void start() {
        queued(); // loads what it needs
        Thread.ofVirtual().start(() -> {
            for (; ; LockSupport.parkNanos(LOOK)) ticks++;
        });
        Thread.ofPlatform().daemon().start(Ticker::watch);
    }

    private static void watch() {
        long seen = 0;
        long late = 0; // in ns
        boolean told = false;
        for (int looks = 1; ; looks++) {
            LockSupport.parkNanos(LOOK);
            boolean ticked = ticks != seen;
            if (ticked && told) say("ticks again, after " + late / 1_000_000 + " ms");
            told &= !ticked;
            seen = ticks;
            late = ticked ? 0 : late + LOOK; // however long this look took
            worst = Math.max(worst, late / 1_000_000);
            if (late >= ALARM && !told && queued() != 0) {
                say("tick late: no carrier free for a second, queued " + queued());
                told = true;
                alarms++;
            }
            if (looks % 30_000 == 0) { // five minutes
                before = worst;
                worst = 0;
            }
        }
    }

    private static void say(String what) {
        System.err.println(Instant.now() + " " + what);
    }

    /** A gauge to scrape: how late a tick was, at worst, in the last five to ten minutes. */
    static long worst() {
        return Math.max(worst, before);
    }

    /** How many virtual threads wait for a carrier; -1 up to JDK 23, which doesn't tell. */
    static long queued() {
        try {
            return (long) ManagementFactory.getPlatformMBeanServer().getAttribute(
                new ObjectName("jdk.management:type=VirtualThreadScheduler"),
                "QueuedVirtualThreadCount");
        } catch (javax.management.JMException e) {
            return -1;
        }
    }
}
