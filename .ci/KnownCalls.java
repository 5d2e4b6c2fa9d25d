// SPDX-License-Identifier: MIT-0
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.*;

/** Calls of which it's known what CarrierCheck has to say; for commands.md. Words name some. */
class KnownCalls {
    static final AtomicInteger CALLS = new AtomicInteger();
    static final AtomicInteger INSIDE = new AtomicInteger();
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();

    public static void main(String[] args) throws Exception {
        for (String name : args) CarrierCheck.ask(name, call(name));
        System.exit(0); // or the pool's threads live on
    }

    static CarrierCheck.Call call(String name) throws Exception {
        return switch (name) {
            case "pin" -> () -> pin(20);
            case "part" -> () -> {
                Thread.currentThread().setName("caller]/@part");
                nap(10);
                pin(35);
            };
            case "share" -> () -> {
                nap(0.1);
                pin(0.8);
            };
            case "one-of-ten" -> () -> {
                if (CALLS.incrementAndGet() % 10 == 0) pin(40);
                else nap(5);
            };
            case "six-of-ten" -> () -> {
                if (CALLS.incrementAndGet() % 10 < 6) pin(20);
                else nap(5);
            };
            case "parks" -> () -> {
                if (INSIDE.incrementAndGet() > 20) throw new IllegalStateException("too many");
                for (int i = 0; i < 200; i++) LockSupport.parkNanos(100_000);
                INSIDE.decrementAndGet();
            };
            case "nested" -> () -> Thread.startVirtualThread(() -> pin(20)).join();
            case "cold" -> Cold::touch;
            case "fails" -> () -> throwIt(new Exception("as\u0007asked\n" + "x".repeat(9_999)));
            case "fails-last" -> () -> {
                nap(5);
                if (CALLS.incrementAndGet() > 30) throwIt(new Throwable("as asked"));
            };
            case "long" -> () -> {
                if (CALLS.incrementAndGet() == 1)
                    BlockingCalls.inInitializer(() -> nap(12_000)).make();
            };
            case "init-socket" -> BlockingCalls.inInitializer(BlockingCalls::read);
            case "init-monitor" -> half(() -> {
                synchronized (MONITOR) {
                    nap(1);
                }
            });
            case "init-lock" -> half(KnownCalls::locked);
            case "loader-lock" -> () -> {
                if (isOdd()) locked();
                else Class.forName(BlockingCalls.PARKS, false,
                    new BlockingCalls.Fresh(KnownCalls::locked));
            };
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Every other call is made in a class initializer. */
    static CarrierCheck.Call half(CarrierCheck.Call call) {
        CarrierCheck.Call there = BlockingCalls.inInitializer(call);
        return () -> (isOdd() ? call : there).make();
    }

    static boolean isOdd() { return CALLS.incrementAndGet() % 2 == 1; }

    static void locked() {
        LOCK.lock();
        try {
            nap(1);
        } finally {
            LOCK.unlock();
        }
    }

    static class Cold {
        static { nap(2_000); }

        static void touch() { }
    }

    @SuppressWarnings("unchecked")
    static <T extends Throwable> void throwIt(Throwable thrown) throws T { throw (T) thrown; }

    /** Pins its carrier up to JDK 23. */
    static void pin(double ms) {
        synchronized (Thread.currentThread()) {
            nap(ms);
        }
    }

    static void nap(double ms) {
        long end = System.nanoTime() + (long) (ms * 1e6);
        while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
    }
}
