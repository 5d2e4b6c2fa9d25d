// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import java.io.OutputStream;
import java.net.*;
import java.net.http.*;
import java.nio.file.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/** Does a call hold its carrier? Put a call of yours in the place of the cache's. */
class Mine {
    static final ConcurrentHashMap<Object, Object> CACHE = new ConcurrentHashMap<>(100_000);

    public static void main(String[] args) throws Exception {
        CarrierCheck.ask("a cache", () -> CACHE.computeIfAbsent(new Object(), Mine::load));
        // CarrierCheck.ask("a login", () -> hash("secret"));
        // CarrierCheck.ask("a file", Mine::read);
        // CarrierCheck.ask("a name", Mine::find);
        // CarrierCheck.ask("a client", Mine::get);
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

    /** A file of 50 MB, whose bytes the system may still have in memory. */
    static void read() throws Exception {
        Path file = Path.of("mine.tmp");
        if (!Files.exists(file)) Files.write(file, new byte[50_000_000]);
        file.toFile().deleteOnExit();
        try (var in = Files.newInputStream(file)) {
            in.transferTo(OutputStream.nullOutputStream());
        }
    }

    /** A name that no server knows. */
    static void find() {
        try {
            InetAddress.getByName("a" + System.nanoTime() + ".invalid");
        } catch (UnknownHostException e) {
            return; // as it should be
        }
        throw new IllegalStateException("it's known");
    }

    static final HttpClient CLIENT = HttpClient.newHttpClient();
    static HttpServer server;

    /** Asks a server that takes 50 ms for its answer. */
    static void get() throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://localhost:" + port())).build();
        CLIENT.send(request, HttpResponse.BodyHandlers.discarding());
    }

    static synchronized int port() throws Exception {
        if (server == null) {
            server = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
            server.setExecutor(Executors.newCachedThreadPool());
            server.createContext("/", exchange -> {
                LockSupport.parkNanos(50_000_000);
                exchange.sendResponseHeaders(204, -1);
                exchange.close();
            });
            server.start();
        }
        return server.getAddress().getPort();
    }
}
