// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import java.net.*;
import java.net.http.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * 300 callers a second: an answer takes 1 s, and who has none after 3 s gives up.
 *
 *     java Rush.java          a pool of 200 threads with the usual queue, an unlimited one
 *     java Rush.java 500      a pool of 500
 *     java Rush.java 200 200  a pool of 200 with room for 200 in its queue; it refuses others
 */
class Rush {
    final HttpClient client = HttpClient.newHttpClient();
    final HttpRequest request;
    final AtomicInteger answered = new AtomicInteger(); // in this second
    final AtomicInteger gaveUp = new AtomicInteger();
    final Queue<String> failed = new ConcurrentLinkedQueue<>(); // in all, for other reasons
    boolean isLate; // has anybody given up?

    Rush(Executor threads) throws Exception {
        var local = new InetSocketAddress("127.0.0.1", 0);
        var server = HttpServer.create(local, 1_000, "/", exchange -> {
            LockSupport.parkNanos(1_000_000_000); // sleeps
            exchange.sendResponseHeaders(200, -1);
        });
        server.setExecutor(threads); // if it takes no more, the connection is closed
        server.start();
        // An address prints as /127.0.0.1:8080, with a slash of its own.
        request = HttpRequest.newBuilder(URI.create("http:/" + server.getAddress()))
            .timeout(Duration.ofSeconds(3))
            .POST(HttpRequest.BodyPublishers.noBody()).build(); // a GET is tried twice
    }

    void call() {
        client.sendAsync(request, HttpResponse.BodyHandlers.discarding())
            .whenComplete((answer, failure) -> {
                boolean late = ("" + failure).contains("HttpTimeoutException");
                boolean fine = failure == null && answer.statusCode() == 200;
                if (fine) answered.incrementAndGet();
                else if (late) gaveUp.incrementAndGet();
                else failed.add("" + (failure == null ? answer : failure));
            });
    }

    /** What came of the calls in the last second. */
    String line() {
        int yes = answered.getAndSet(0);
        int late = gaveUp.getAndSet(0);
        isLate |= late > 0;
        return "  %-6.6s%4d%7d".formatted("#".repeat((yes + 25) / 50), yes, late);
    }

    public static void main(String[] args) throws Exception {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 200;
        int room = args.length > 1 ? Integer.parseInt(args[1]) : Integer.MAX_VALUE;
        boolean mayRefuse = args.length > 1;
        // With its usual limit of 200, the server closes idle connections as calls come there.
        System.setProperty("sun.net.httpserver.maxIdleConnections", "10000");
        var warmUp = new Rush(Executors.newVirtualThreadPerTaskExecutor());
        for (int i = 0; i < 300; i++) warmUp.call();
        Thread.sleep(3_000);
        var refused = new AtomicInteger(); // by the pool, in this second
        var pool = new Rush(new ThreadPoolExecutor(size, size, 0, TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(room), (call, full) -> {
                refused.incrementAndGet();
                throw new RejectedExecutionException();
            }));
        var virtual = new Rush(Executors.newVirtualThreadPerTaskExecutor());
        String head = "  answered  gave up";
        String third = mayRefuse ? " refused" : "";
        System.out.printf("    %-" + (17 + third.length()) + "s  virtual threads%n",
            "pool of " + size + (mayRefuse ? ", queue of " + room : ""));
        System.out.println(" s" + head + third + head);
        int refusedInAll = 0;
        for (int second = 1; second <= 15; second++) {
            long start = System.nanoTime();
            for (int i = 0; i < 300; i++) {
                while (System.nanoTime() - start < i * 1e9 / 300) Thread.sleep(1);
                pool.call();
                virtual.call();
            }
            int no = refused.getAndSet(0);
            refusedInAll += no;
            System.out.printf("%2d%s%s%s%n", second, pool.line(),
                mayRefuse ? "%8d".formatted(no) : "", virtual.line());
        }
        if (virtual.isLate) System.out.println("can't tell: machine too busy");
        int others = pool.failed.size() + virtual.failed.size();
        others -= refusedInAll + refused.get(); // a call is refused before it fails
        if (others > 0) {
            pool.failed.addAll(virtual.failed);
            System.out.println("can't tell: " + others
                + " calls failed for other reasons, among " + new TreeSet<>(pool.failed));
        }
        System.exit(0);
    }
}
