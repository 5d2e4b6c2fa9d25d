// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.lang.management.ManagementFactory;
import java.nio.file.*;
import java.time.Duration;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.*;
import jdk.jfr.consumer.RecordingFile;

/**
 * For .github/blocking.md: how many carriers the scheduler adds, how long they stay, and what a
 * recording costs:
 *
 *     java -Djdk.virtualThreadScheduler.parallelism=4 .ci/Blocks.java 2
 *     java -Djdk.virtualThreadScheduler.parallelism=4 .ci/Blocks.java idle
 *     java -Djdk.virtualThreadScheduler.parallelism=20 .ci/Blocks.java recording
 */
class Blocks {
    public static void main(String[] args) throws Exception {
        System.out.print("JDK " + Runtime.version().feature() + ", ");
        if (args[0].equals("recording")) {
            recording();
        } else if (args[0].equals("idle")) {
            idle();
        } else {
            compensation(Integer.parseInt(args[0]));
        }
        System.exit(0); // some tasks may still wait
    }

    /** While this many tasks are in Object.wait, how many others run at once in 2 s? */
    static void compensation(int waiting) throws Exception {
        for (int i = 0; i < waiting; i++) {
            Object own = new Object();
            Thread.startVirtualThread(() -> {
                synchronized (own) {
                    try {
                        own.wait();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
        }
        Thread.sleep(300);
        var running = new AtomicInteger();
        var most = new AtomicInteger();
        var done = new CountDownLatch(50);
        for (int i = 0; i < 50; i++) {
            Thread.startVirtualThread(() -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                spin(20);
                running.decrementAndGet();
                done.countDown();
            });
        }
        done.await(2, TimeUnit.SECONDS); // if no carrier is left, none begins
        int parallelism = Integer.getInteger("jdk.virtualThreadScheduler.parallelism",
            Runtime.getRuntime().availableProcessors());
        System.out.printf("parallelism %d, in Object.wait: %d, others at once: %d,"
            + " carriers: %d%n", parallelism, waiting, most.get(), carriers());
    }

    /** While six tasks read from processes, does another virtual thread still get a carrier? */
    static void idle() throws Exception {
        for (int i = 0; i < 6; i++) {
            Process process = new ProcessBuilder("sleep", "60").start();
            Thread.startVirtualThread(() -> {
                try {
                    process.getInputStream().read();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        System.out.printf("reads that block: 6%n");
        for (int seconds : new int[] {10, 40}) {
            Thread.sleep(seconds * 1_000);
            long carriers = carriers();
            var ran = new CountDownLatch(1);
            Thread.startVirtualThread(ran::countDown);
            System.out.printf("idle for %d s, carriers: %d, a new virtual thread %s%n", seconds,
                carriers, ran.await(5, TimeUnit.SECONDS) ? "ran" : "didn't run in 5 s");
        }
    }

    static void spin(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L;
        while (System.nanoTime() < end) Thread.onSpinWait();
    }

    static long carriers() {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getClass().getSimpleName().equals("CarrierThread"))
            .count();
    }

    /** What do 5,000 pins of 2 ms a second cost in three seconds, recorded and not? */
    static void recording() throws Exception {
        System.out.printf("5,000 pins of 2 ms a second, for 3 s:%n");
        for (int round = 0; round <= 3; round++) {
            String none = "not recorded: %,d ms of CPU%n".formatted(load());
            String some = recorded("threshold 20 ms", Duration.ofMillis(20));
            String all = recorded("threshold 1 ms", Duration.ofMillis(1));
            if (round > 0) System.out.print(none + some + all); // the first warms up
        }
    }

    static String recorded(String what, Duration threshold) throws Exception {
        Path file = Files.createTempFile("blocks", ".jfr");
        try (var recording = new Recording(Configuration.getConfiguration("default"))) {
            recording.enable("jdk.VirtualThreadPinned").withThreshold(threshold);
            recording.start();
            Thread.sleep(500);
            long ms = load();
            recording.stop();
            recording.dump(file);
            long pins = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().endsWith("ThreadPinned"))
                .count();
            return "%s: %,d ms of CPU, %,d events%n".formatted(what, ms, pins);
        } finally {
            Files.delete(file);
        }
    }

    /** Returns the milliseconds of CPU that the process takes for these pins. */
    static long load() throws Exception {
        var system = ManagementFactory.getPlatformMXBean(
            com.sun.management.OperatingSystemMXBean.class);
        long before = system.getProcessCpuTime();
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 1_500; i++) {
                for (int pin = 0; pin < 10; pin++) executor.submit(Blocks::pin);
                Thread.sleep(2);
            }
        }
        return (system.getProcessCpuTime() - before) / 1_000_000;
    }

    /** Parks for 2 ms while the JVM calls a class loader; that pins on every JDK so far. */
    static void pin() {
        var loader = new ClassLoader() {
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                long end = System.nanoTime() + 2_000_000;
                while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
                throw new ClassNotFoundException(name);
            }
        };
        try {
            Class.forName("NoSuchClass", false, loader);
        } catch (ClassNotFoundException e) {
            // as it must be
        }
    }
}
