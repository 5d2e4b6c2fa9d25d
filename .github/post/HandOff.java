// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/**
 * Asks a server on virtual threads for its health, beside pairs of threads. In each pair, one
 * hands rows to the other.
 *
 *     java HandOff.java        a pair for each of two carriers
 *     java HandOff.java 1      one pair, so one of the two carriers has time for others
 *     java HandOff.java 1 1    one pair, and one carrier, as on one processor
 */
class HandOff {
    static volatile boolean busy;

    public static void main(String[] args) throws Exception {
        int pairs = args.length > 0 ? Integer.parseInt(args[0]) : 2;
        int carriers = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        // The JVM looks at this when it makes its first virtual thread, and never again.
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "" + carriers);
        System.out.println("JDK " + System.getProperty("java.version")
            + ", carriers: " + carriers + ", pairs: " + pairs);
        var local = new InetSocketAddress("127.0.0.1", 0);
        var server = HttpServer.create(local, 0, "/health", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        // An address prints as /127.0.0.1:8080, with a slash of its own.
        URL health = URI.create("http:/" + server.getAddress() + "/health").toURL();
        try {
            check(health); // to warm up
            System.out.println("before: " + check(health));
            System.out.println("beside platform threads: "
                + beside(Executors.newCachedThreadPool(), pairs, health));
            System.out.println("beside virtual threads: "
                + beside(Executors.newVirtualThreadPerTaskExecutor(), pairs, health));
            System.out.println("after: " + check(health));
        } finally {
            server.stop(0); // or its thread would keep the JVM alive
        }
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
            try {
                Thread.sleep(300);
                answer = check(health);
            } finally {
                busy = false; // or close() would wait for ever
            }
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
