// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import java.net.*;
import java.net.http.*;
import java.time.Duration;
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
    final AtomicInteger refused = new AtomicInteger();
    int failed;

    Rush(Executor threads) throws Exception {
        var local = new InetSocketAddress("127.0.0.1", 0);
        var server = HttpServer.create(local, 1_000, "/", exchange -> {
            LockSupport.parkNanos(1_000_000_000); // sleeps
            exchange.sendResponseHeaders(200, -1);
        });
        server.setExecutor(threads); // if it takes no more, the connection is closed
        server.start();
        request = HttpRequest.newBuilder(URI.create("http:/" + server.getAddress()))
            .timeout(Duration.ofSeconds(3))
            .POST(HttpRequest.BodyPublishers.noBody()).build(); // a GET is tried twice
    }

    void call() {
        client.sendAsync(request, HttpResponse.BodyHandlers.discarding())
            .whenComplete((answer, failure) -> {
                boolean late = ("" + failure).contains("HttpTimeoutException");
                boolean fine = failure == null && answer.statusCode() == 200;
                (fine ? answered : late ? gaveUp : refused).incrementAndGet();
            });
    }

    /** What came of the calls in the last second. */
    String line(boolean mayRefuse) {
        int yes = answered.getAndSet(0);
        int late = gaveUp.getAndSet(0);
        int no = refused.getAndSet(0);
        failed += late + no;
        return "  %-6.6s%4d%7d".formatted("#".repeat((yes + 25) / 50), yes, late)
            + (mayRefuse ? "%8d".formatted(no) : "");
    }

    public static void main(String[] args) throws Exception {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 200;
        int room = args.length > 1 ? Integer.parseInt(args[1]) : Integer.MAX_VALUE;
        boolean mayRefuse = args.length > 1;
        var warmUp = new Rush(Executors.newVirtualThreadPerTaskExecutor());
        for (int i = 0; i < 300; i++) warmUp.call();
        Thread.sleep(3_000);
        var pool = new Rush(new ThreadPoolExecutor(size, size, 0, TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(room)));
        var virtual = new Rush(Executors.newVirtualThreadPerTaskExecutor());
        String head = "  answered  gave up";
        String refused = mayRefuse ? " refused" : "";
        System.out.printf("    %-" + (17 + refused.length()) + "s  virtual threads%n",
            "pool of " + size + (mayRefuse ? ", queue of " + room : ""));
        System.out.println(" s" + head + refused + head);
        for (int second = 1; second <= 15; second++) {
            long start = System.nanoTime();
            for (int i = 0; i < 300; i++) {
                while (System.nanoTime() - start < i * 1e9 / 300) Thread.sleep(1);
                pool.call();
                virtual.call();
            }
            System.out.printf("%2d%s%s%n", second, pool.line(mayRefuse),
                virtual.line(false));
        }
        if (virtual.failed > 0) System.out.println("can't tell: machine too busy");
        System.exit(0);
    }
}
