// SPDX-License-Identifier: MIT-0
package lab;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * A virtual thread ticks every 10 ms, and a platform thread looks whether it still does. If the
 * host is busy or a GC stops everything, the looks are late, too: each counts as 10 ms only.
 *
 * <p>From JDK 24 on, it gives the service more carriers if told so, by a file in the folder for
 * temporary files: {@code echo 200 > /tmp/carriers-PID}. In a container, the PID is mostly 1.
 */
class Ticker {
    static final long LOOK = 10_000_000; // ns
    static final long ALARM = 1_000_000_000;
    static final String SCHEDULER = "jdk.management:type=VirtualThreadScheduler";
    static volatile long ticks;
    static volatile int alarms;
    static volatile long worst; // in ms, in these five minutes
    static volatile long before; // and in the five before
    static final Path TOLD = Path.of(System.getProperty("java.io.tmpdir"),
        "carriers-" + ProcessHandle.current().pid());

    static void start() {
        obey(); // in a hang, no class may be loaded
        carriers((int) ask("Parallelism")); // as many as there are
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
            if (looks % 100 == 0) obey(); // each second
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
        return ask("QueuedVirtualThreadCount");
    }

    private static long ask(String attribute) {
        try {
            return ((Number) ManagementFactory.getPlatformMBeanServer().getAttribute(
                new ObjectName(SCHEDULER), attribute)).longValue();
        } catch (JMException e) {
            return -1;
        }
    }

    /** Takes what the file says, once it says a number, and removes it. */
    private static void obey() {
        try {
            if (!Files.exists(TOLD)) return;
            String number = Files.readString(TOLD).strip();
            if (!number.matches("[1-9]\\d{0,4}")) return; // not yet written
            Files.delete(TOLD);
            say(carriers(Integer.parseInt(number)) ? "carriers now: " + number
                : "this JDK can't add carriers while it runs");
        } catch (IOException e) {
            say("" + e);
        }
    }

    private static boolean carriers(int number) {
        try {
            int threads = (int) ask("PoolSize");
            // The scheduler wakes one only if it's to have more than it has threads.
            if (ask("Parallelism") < number && number <= threads) set(threads + 1);
            set(number);
            return true;
        } catch (JMException e) {
            return false;
        }
    }

    private static void set(int number) throws JMException {
        ManagementFactory.getPlatformMBeanServer().setAttribute(new ObjectName(SCHEDULER),
            new Attribute("Parallelism", number));
    }
}
