// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.*;
import java.io.IOException;
import java.net.*;
import java.time.Duration;
import java.util.concurrent.*;
import reactor.core.publisher.*;
import reactor.core.scheduler.Schedulers;

/**
 * Reports of what an interrupt leaves behind, on virtual threads and on platform threads; the
 * answers: .github/field.md. .ci/runs/interrupted.txt says where the libraries are from.
 *
 *     java -cp "out:lib/*" Interrupted vertx|reactor|reactor-many virtual|platform
 */
class Interrupted {
    static final int TASKS = 20;
    static boolean isVirtual;
    static volatile long late; // ns: of a virtual thread that sleeps 1 ms at a time, at worst

    public static void main(String[] args) throws Exception {
        isVirtual = args[1].equals("virtual");
        System.setProperty("reactor.schedulers.defaultBoundedElasticOnVirtualThreads",
            "" + isVirtual);
        Thread.startVirtualThread(Interrupted::tick);
        String said = switch (args[0]) {
            case "vertx" -> interruptedInAwait();
            case "reactor" -> fallsBack();
            case "reactor-many" -> many(100);
            default -> throw new IllegalArgumentException(args[0]);
        };
        System.out.printf("JDK %d, %s, %s: %s; a tick was late by %d ms at worst%n",
            Runtime.version().feature(), args[0], args[1], said, late / 1_000_000);
        System.exit(0);
    }

    static void tick() {
        for (long last = System.nanoTime(); ; last = System.nanoTime()) {
            sleep(1);
            late = Math.max(late, System.nanoTime() - last - 1_000_000);
        }
    }

    /** A task is interrupted as it awaits an answer, which then comes. Do other tasks run? */
    static String interruptedInAwait() throws Exception {
        Context context = verticle();
        Promise<String> answer = Promise.promise();
        var waiting = new CompletableFuture<Thread>();
        var ended = new CompletableFuture<Throwable>();
        context.runOnContext(nothing -> {
            waiting.complete(Thread.currentThread());
            try {
                if (isVirtual) answer.future().await();
                else answer.future().toCompletionStage().toCompletableFuture().get();
            } catch (Throwable e) {
                ended.complete(e);
            }
        });
        Thread thread = waiting.get();
        sleep(100);
        thread.interrupt();
        String said = ended.get().getClass().getSimpleName() + ", then " + ran(context);
        answer.complete("late");
        sleep(100);
        return said + " of " + TASKS + " tasks ran; after the answer, " + ran(context);
    }

    static Context verticle() throws Exception {
        var found = new CompletableFuture<Context>();
        var model = isVirtual ? ThreadingModel.VIRTUAL_THREAD : ThreadingModel.WORKER;
        Vertx.vertx().deployVerticle(new AbstractVerticle() {
            @Override public void start() { found.complete(context); }
        }, new DeploymentOptions().setThreadingModel(model));
        return found.get();
    }

    static long ran(Context context) throws InterruptedException {
        var left = new CountDownLatch(TASKS);
        for (int i = 0; i < TASKS; i++) context.runOnContext(nothing -> left.countDown());
        left.await(3, TimeUnit.SECONDS);
        return TASKS - left.getCount();
    }

    /** A call fails, so another server is asked, by whoever has seen that. */
    static String fallsBack() throws Exception {
        URL url = URI.create("http:/" + server() + "/").toURL();
        int answers = 0;
        Throwable why = null;
        for (int i = 0; i < TASKS; i++) {
            try {
                Mono.<String>fromCallable(() -> { throw new IOException("it's down"); })
                    .subscribeOn(Schedulers.boundedElastic())
                    .onErrorResume(e -> Mono.fromCallable(() -> ask(url))).block();
                answers++;
            } catch (RuntimeException e) {
                why = e.getCause();
            }
        }
        return answers + " of " + TASKS + " answers" + (why == null ? "" : ", " + why);
    }

    static SocketAddress server() throws IOException {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0, "/",
            exchange -> {
                sleep(20);
                exchange.sendResponseHeaders(200, 2);
                exchange.getResponseBody().write("ok".getBytes());
                exchange.close();
            });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        return server.getAddress();
    }

    static String ask(URL url) throws IOException {
        try (var in = url.openStream()) {
            return new String(in.readAllBytes());
        }
    }

    /** Tasks that sleep for 100 ms each, all at once. */
    static String many(int count) {
        long start = System.nanoTime();
        Flux.range(0, count).flatMap(i -> Mono.fromRunnable(() -> sleep(100))
            .subscribeOn(Schedulers.boundedElastic()), count).blockLast(Duration.ofMinutes(1));
        return count + " sleeps of 100 ms took "
            + (System.nanoTime() - start) / 1_000_000 + " ms";
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
