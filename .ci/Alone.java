// SPDX-License-Identifier: MIT-0

/** What start-time reads of virtual threads if no platform threads are started in turns. */
class Alone extends VirtualThreadsLab {
    public static void main(String[] args) {
        for (int threads : new int[] {100, 1_000}) {
            measure(threads + " alone", "ms", UNKNOWN, null,
                run -> sample(() -> startAll(Thread.ofVirtual(), threads), run));
        }
    }
}
