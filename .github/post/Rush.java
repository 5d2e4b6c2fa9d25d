// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import java.net.*;
import java.net.http.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;

/** 300 callers a second: an answer takes 1 s, and who has none after 3 s gives up. */
class Rush {
    final HttpClient client = HttpClient.newHttpClient();
    final AtomicInteger answered = new AtomicInteger();
    final AtomicInteger gaveUp = new AtomicInteger();
    final HttpRequest request;

    Rush(Executor threads) throws Exception {
        var local = new InetSocketAddress("127.0.0.1", 0);
        var server = HttpServer.create(local, 1_000, "/", exchange -> {
            java.util.concurrent.locks.LockSupport.parkNanos(1_000_000_000); // sleeps
            exchange.sendResponseHeaders(200, -1);
        });
        server.setExecutor(threads);
        server.start();
        request = HttpRequest.newBuilder(URI.create("http:/" + server.getAddress()))
            .timeout(java.time.Duration.ofSeconds(3)).build();
    }

    void call() {
        client.sendAsync(request, HttpResponse.BodyHandlers.discarding())
            .handle((answer, failure) -> failure == null && answer.statusCode() == 200)
            .thenAccept(fine -> (fine ? answered : gaveUp).incrementAndGet());
    }

    String bar() {
        int yes = answered.getAndSet(0);
        return "  %-16s%8d%8d".formatted("#".repeat((yes + 10) / 20), yes, gaveUp.get());
    }

    public static void main(String[] args) throws Exception {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 200;
        var warmUp = new Rush(Executors.newVirtualThreadPerTaskExecutor());
        for (int i = 0; i < 300; i++) warmUp.call();
        Thread.sleep(3_000);
        var pool = new Rush(Executors.newFixedThreadPool(size));
        var virtual = new Rush(Executors.newVirtualThreadPerTaskExecutor());
        String head = "  %-15s answered gave up";
        System.out.printf("    " + head + head + "%n",
            "pool of " + size, "virtual threads");
        for (int second = 1; second <= 15; second++) {
            long start = System.nanoTime();
            for (int i = 0; i < 300; i++) {
                while (System.nanoTime() - start < i * 1e9 / 300) Thread.sleep(1);
                pool.call();
                virtual.call();
            }
            System.out.printf("%2d s%s%s%n", second, pool.bar(), virtual.bar());
        }
        if (virtual.gaveUp.get() > 0) System.out.println("can't tell: machine too busy");
        System.exit(0);
    }
}
