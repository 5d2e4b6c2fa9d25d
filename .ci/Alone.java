// SPDX-License-Identifier: MIT-0
import java.util.List;

/**
 * start-time in other ways, for results.md: few threads, and virtual threads with and without
 * platform threads in turns.
 *
 *     javac -d out VirtualThreadsLab.java .ci/Alone.java
 *     java -Djdk.virtualThreadScheduler.parallelism=1 -cp out Alone alone
 */
class Alone extends VirtualThreadsLab {
    public static void main(String[] args) {
        run(List.of(
            new Experiment("few", () -> turns(1, 10), "start few threads"),
            new Experiment("turns", () -> turns(1_000, 10_000), "start threads, in turns"),
            new Experiment("alone", () -> alone(1_000, 10_000), "start virtual threads only")),
            args);
    }

    static void turns(int... sizes) {
        for (int threads : sizes) {
            String work = text(threads == 1 ? "%s thread" : "%s threads", threads);
            time(work, "start them", UNKNOWN,
                () -> startAll(Thread.ofPlatform(), threads),
                () -> startAll(Thread.ofVirtual(), threads));
        }
    }

    static void alone(int... sizes) {
        for (int threads : sizes) {
            measure(text("%s threads", threads), "start them", "ms", UNKNOWN, null,
                i -> sample(() -> startAll(Thread.ofVirtual(), threads), i));
        }
    }
}
