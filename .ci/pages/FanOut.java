// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;

/**
 * Asks a server on virtual threads for its health, beside threads that start others and wait
 * for each: one for each of two carriers.
 *
 *     java FanOut.java start|future|invokeAll virtual|platform [THREADS]
 */
class FanOut {
    static volatile boolean busy = true;

    interface Step { void run() throws Exception; }

    public static void main(String[] args) throws Exception {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "2");
        int threads = args.length > 2 ? Integer.parseInt(args[2]) : 2;
        boolean isVirtual = args[1].equals("virtual");
        Thread.Builder kind = isVirtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        URL health = URI.create("http:/" + server() + "/health").toURL();
        check(health); // to warm up
        Step step = step(args[0], kind);
        var steps = new LongAdder();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) all.add(kind.start(() -> {
            try {
                for (; busy; steps.increment()) step.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }));
        Thread.sleep(300);
        String answer = check(health);
        busy = false;
        for (Thread one : all) one.join();
        System.out.printf("JDK %d, %s, %d %s threads: %s, %d steps; after: %s%n",
            Runtime.version().feature(), args[0], threads, args[1], answer, steps.sum(),
            check(health));
        System.exit(0);
    }

    static Step step(String name, Thread.Builder kind) {
        ExecutorService executor = Executors.newThreadPerTaskExecutor(kind.factory());
        return switch (name) {
            case "start" -> () -> kind.start(() -> { }).join();
            case "future" -> () -> CompletableFuture.supplyAsync(() -> 1, executor).get();
            case "invokeAll" -> () -> executor.invokeAll(List.of(() -> 1, () -> 2, () -> 3));
            default -> throw new IllegalArgumentException(name);
        };
    }

    static SocketAddress server() throws IOException {
        var here = new InetSocketAddress("127.0.0.1", 0);
        var server = HttpServer.create(here, 0, "/health", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        return server.getAddress();
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
