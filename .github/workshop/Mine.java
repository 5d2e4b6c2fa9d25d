// SPDX-License-Identifier: MIT-0
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

class Mine extends VirtualThreadsLab {
    static final ConcurrentHashMap<Object, Object> CACHE = new ConcurrentHashMap<>(100_000);

    public static void main(String[] args) {
        System.exit(run(List.of(new Experiment("mine", "a call of my own", lab ->
            lab.waiting("a cache", Lab.UNKNOWN,
                () -> CACHE.computeIfAbsent(new Object(), Mine::load)))), args));
    }

    static Object load(Object key) {
        LockSupport.parkNanos(50_000_000); // 50 ms, as a query might wait
        return key;
    }
}
