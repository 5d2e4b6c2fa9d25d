// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/** A health check on virtual threads, beside pairs of threads: one hands rows to the other. */
class HandOff {
    static final int CARRIERS = 2; // on any machine
    static volatile boolean busy;

    public static void main(String[] args) throws Exception {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "" + CARRIERS);
        int pairs = args.length > 0 ? Integer.parseInt(args[0]) : CARRIERS;
        System.out.println("JDK " + System.getProperty("java.version")
            + ", carriers: " + CARRIERS + ", pairs: " + pairs);
        var local = new InetSocketAddress("127.0.0.1", 0);
        var server = HttpServer.create(local, 0, "/health", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        URL health = URI.create("http:/" + server.getAddress() + "/health").toURL();
        check(health); // to warm up
        System.out.println("before: " + check(health));
        System.out.println("beside platform threads: "
            + beside(Executors.newCachedThreadPool(), pairs, health));
        System.out.println("beside virtual threads: "
            + beside(Executors.newVirtualThreadPerTaskExecutor(), pairs, health));
        System.out.println("after: " + check(health));
        System.exit(0);
    }

    static String beside(ExecutorService executor, int pairs, URL health) throws Exception {
        var put = new LongAdder();
        var taken = new LongAdder();
        long start = System.nanoTime();
        String answer;
        busy = true;
        try (executor) {
            for (int pair = 0; pair < pairs; pair++) {
                var queue = new ArrayBlockingQueue<Boolean>(100);
                executor.submit(() -> {
                    for (; busy; put.increment()) queue.put(true);
                    queue.put(false); // no more
                    return null;
                });
                executor.submit(() -> {
                    while (queue.take()) taken.increment();
                    return null;
                });
            }
            Thread.sleep(300);
            answer = check(health);
            busy = false;
        } // here close() waits for all threads
        if (put.sum() != taken.sum()) throw new AssertionError(put + ", not " + taken);
        long millis = (System.nanoTime() - start) / 1_000_000;
        return answer + ", " + taken.sum() / millis + " rows per ms";
    }

    static String check(URL health) throws IOException {
        long start = System.nanoTime();
        var call = (HttpURLConnection) health.openConnection();
        call.setReadTimeout(3_000);
        String answer;
        try {
            answer = "answer " + call.getResponseCode();
        } catch (SocketTimeoutException e) {
            answer = "no answer";
        }
        return answer + " after " + (System.nanoTime() - start) / 1_000_000 + " ms";
    }
}
