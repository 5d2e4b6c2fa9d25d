// SPDX-License-Identifier: MIT-0
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/** Does a call hold its carrier? Put a call of yours in the place of the cache's. */
class Mine {
    static final ConcurrentHashMap<Object, Object> CACHE = new ConcurrentHashMap<>(100_000);

    public static void main(String[] args) throws Exception {
        CarrierCheck.ask("a cache", () -> CACHE.computeIfAbsent(new Object(), Mine::load));
        // CarrierCheck.ask("a login", () -> hash("secret"));
        // A query, on a connection for each caller; a block mustn't return anything:
        // CarrierCheck.ask("a query", () -> {
        //     try (var connection = java.sql.DriverManager.getConnection("jdbc:...");
        //             var statement = connection.createStatement()) {
        //         statement.execute("SELECT 1");
        //     }
        // });
        System.exit(0); // a library's threads may go on
    }

    static Object load(Object key) {
        LockSupport.parkNanos(50_000_000); // 50 ms, as a query might wait
        return key;
    }

    /** A password's hash, as each login computes it; a real salt is another one each time. */
    static Object hash(String password) throws Exception {
        var spec = new PBEKeySpec(password.toCharArray(), new byte[16], 100_000, 256);
        return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec);
    }
}
