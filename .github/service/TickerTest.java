// SPDX-License-Identifier: MIT-0
package lab;

import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * What the ticker says on two carriers while N virtual threads do something for two seconds:
 * {@code TickerTest KIND N}. {@code beside N} blocks nothing, but N platform threads compute
 * for 20 s. {@code hold N} reads a pipe that nobody writes, for a minute. {@code throttled N}
 * blocks for 5 s, and the JVM stands still for 50 of every 100 ms, as under a quota.
 * {@code told N} blocks for 5 s, too, and after two, a file tells Ticker to add carriers.
 */
class TickerTest {
    public static void main(String[] args) throws Exception {
        System.getProperties().putIfAbsent("jdk.virtualThreadScheduler.parallelism", "2");
        int threads = Integer.parseInt(args[1]);
        int seconds = switch (args[0]) {
            case "beside" -> 20;
            case "hold" -> 60;
            case "throttled", "told" -> 7;
            default -> 4;
        };
        Path pipe = Files.createTempDirectory("ticker").resolve("pipe");
        Runnable work = switch (args[0]) {
            case "sleep" -> () -> sleep(2);
            case "pin" -> () -> {
                synchronized (new Object()) {
                    sleep(2);
                }
            };
            case "throttled", "told" -> () -> System.identityHashCode(Slower.VALUE);
            case "initializer" -> () -> System.identityHashCode(Slow.VALUE);
            case "pipe", "hold" -> () -> read(pipe);
            case "compute" -> () -> compute(2);
            case "wait" -> () -> await(new Object());
            case "beside" -> () -> compute(seconds);
            default -> throw new IllegalArgumentException(args[0]);
        };
        new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
        new ProcessBuilder("sh", "-c", "exec sleep " + (seconds + 5) + " <> " + pipe).start();
        if (args[0].equals("throttled")) {
            new ProcessBuilder("sh", "-c", "while kill -STOP $0; do sleep .05; kill -CONT $0; "
                + "sleep .05; done", "" + ProcessHandle.current().pid()).start();
        }
        Ticker.start();
        Thread.sleep(1_000);
        Ticker.worst = 0;
        for (int i = 0; i < threads; i++) {
            if (args[0].equals("beside")) Thread.ofPlatform().daemon().start(work);
            else Thread.startVirtualThread(work);
        }
        Thread.sleep(1_000);
        String then = ManagementFactory.getThreadMXBean().getThreadCount()
            + " platform threads, queued " + Ticker.queued();
        if (args[0].equals("told")) {
            Thread.sleep(1_000);
            Files.writeString(Ticker.TOLD, "40\n"); // as echo does
        }
        Thread.sleep(seconds * 1_000L - 1_000);
        System.out.printf("JDK %d, %s %d: late %,d ms at worst, alarms %d; after 1 s %s%n",
            Runtime.version().feature(), args[0], threads, Ticker.worst(), Ticker.alarms, then);
        Files.delete(pipe);
        Files.delete(pipe.getParent());
        System.exit(0);
    }

    static void sleep(int seconds) {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
    }

    static void compute(int seconds) {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) Thread.onSpinWait();
    }

    static void read(Path pipe) {
        try (var in = new FileInputStream(pipe.toFile())) {
            in.read();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    static void await(Object lock) {
        synchronized (lock) {
            try {
                lock.wait(2_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static class Slow {
        static final Object VALUE = slow(2);
    }

    static class Slower {
        static final Object VALUE = slow(5);
    }

    static Object slow(int seconds) {
        sleep(seconds);
        return new Object();
    }
}
