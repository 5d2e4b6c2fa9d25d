// SPDX-License-Identifier: MIT-0
package lab;

import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.locks.LockSupport;

/** A virtual thread ticks every 10 ms. A platform thread looks whether it still does: if not,
 * no carrier is free for it. A pause for the GC stops both, and doesn't count. */
class Ticker {
    static final LongAccumulator WORST = new LongAccumulator(Math::max, 0);
    static volatile long tick = System.nanoTime();

    static void start() {
        Thread.ofVirtual().start(() -> {
            for (; ; LockSupport.parkNanos(10_000_000)) tick = System.nanoTime();
        });
        Thread.ofPlatform().daemon().start(() -> {
            for (boolean late = false; ; ) {
                long start = System.nanoTime();
                LockSupport.parkNanos(10_000_000); // time enough to tick
                long ms = (start - tick) / 1_000_000;
                WORST.accumulate(ms);
                if (ms > 200 != late) {
                    late = !late;
                    System.err.println(late ? "no carrier free for 200 ms" : "carriers free");
                }
            }
        });
    }

    /** How old the last tick was in ms, at worst, since the last call: a gauge to scrape. */
    static long worst() {
        return WORST.getThenReset();
    }
}
