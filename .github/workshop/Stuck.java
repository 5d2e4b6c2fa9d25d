// SPDX-License-Identifier: MIT-0
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** It ticks for 3 s, and falls silent until it has enough carriers. Ctrl-C ends it, too. */
class Stuck {
    static final ReentrantLock CONFIG = new ReentrantLock();
    static volatile int ticks;

    /** Whoever calls it first runs its initializer, and is pinned in there. */
    static class Prices {
        static { readConfig(); }
        static void load() { }
    }

    static class Stock {
        static { readConfig(); }
        static void load() { }
    }

    static void readConfig() {
        CONFIG.lock();
        CONFIG.unlock();
    }

    public static void main(String[] args) throws Exception {
        System.out.println("JDK " + Runtime.version().feature() + ", process "
            + ProcessHandle.current().pid());
        Thread.startVirtualThread(Stuck::tick);
        Thread.ofPlatform().daemon().start(Stuck::watch);
        Thread.sleep(2_500);
        Thread.startVirtualThread(Stuck::writeConfig);
        Thread.sleep(100);
        Thread prices = Thread.startVirtualThread(Prices::load);
        Thread stock = Thread.startVirtualThread(Stock::load);
        prices.join();
        stock.join();
        System.out.println("      prices and stock are loaded");
        Thread.sleep(2_500);
    }

    /** Ten times a second. */
    static void tick() {
        for (; ; ticks++) LockSupport.parkNanos(100_000_000);
    }

    /** Owns the lock for half a second, unmounted; to give it back, it needs a carrier. */
    static void writeConfig() {
        CONFIG.lock();
        LockSupport.parkNanos(500_000_000); // as a slow disk
        CONFIG.unlock();
    }

    /** Says every second how often it has ticked; a platform thread, so it needs no carrier. */
    static void watch() {
        int seen = 0;
        for (int second = 1; ; second++) {
            LockSupport.parkNanos(1_000_000_000);
            int now = ticks;
            System.out.printf("%2d s  %s%n", second, now == seen ? "SILENCE" : "tick " + now);
            seen = now;
        }
    }
}
