// SPDX-License-Identifier: MIT-0
package shutdown;

import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Which requests and tasks does SIGTERM cost a service? It starts one on a pool, on virtual
 * threads, and on virtual threads with the properties that wait for tasks, and counts what has
 * begun and isn't done when the process has ended:
 *
 *     mvn -q package
 *     java -Djarmode=tools -jar target/service.jar extract --destination target/service
 *     java -cp 'target/service/service.jar:target/service/lib/*' shutdown.Shutdown
 */
@SpringBootApplication
@EnableAsync
@EnableScheduling
@RestController
public class Shutdown {
    static final String[] KINDS = {"request", "async", "fixedDelay", "fixedRate", "cron"};
    static final String VIRTUAL = "--spring.threads.virtual.enabled=true";
    static final String[] AWAIT = {
        "--spring.task.execution.shutdown.await-termination=true",
        "--spring.task.execution.shutdown.await-termination-period=30s",
        "--spring.task.scheduling.shutdown.await-termination=true",
        "--spring.task.scheduling.shutdown.await-termination-period=30s"};

    private final Tasks tasks;
    private final AtomicInteger orders = new AtomicInteger();

    Shutdown(Tasks tasks) {
        this.tasks = tasks;
    }

    /** Takes a second, as an order does; every tenth one leaves a task behind. */
    @GetMapping("/order")
    String order() throws InterruptedException {
        work("request", 1_000);
        if (orders.incrementAndGet() % 10 == 0) {
            tasks.async();
        }
        return "done";
    }

    static void work(String kind, int ms) throws InterruptedException {
        System.out.println("begun " + kind);
        Thread.sleep(ms);
        System.out.println("done " + kind);
    }

    /** All but one take longer than requests, so that they can't be done by chance. */
    @Component
    static class Tasks {
        @Async
        void async() throws InterruptedException {
            work("async", 4_000);
        }

        @Scheduled(fixedDelay = 100)
        void fixedDelay() throws InterruptedException {
            work("fixedDelay", 1_500); // the context waits for it, and others would end, too
        }

        @Scheduled(fixedRate = 1_000)
        void fixedRate() throws InterruptedException {
            work("fixedRate", 4_000);
        }

        @Scheduled(cron = "* * * * * *")
        void cron() throws InterruptedException {
            work("cron", 4_000);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            SpringApplication.run(Shutdown.class, args);
            return;
        }
        var awaited = new ArrayList<>(List.of(VIRTUAL));
        awaited.addAll(Arrays.asList(AWAIT));
        System.out.println("| Threads | " + String.join(" | ", KINDS) + " | Ended after, s |");
        System.out.println("|:--|" + "--:|".repeat(KINDS.length + 1));
        for (int run = 0; run < 3; run++) {
            measure("pool", List.of());
            measure("virtual", List.of(VIRTUAL));
            measure("virtual, awaited", awaited);
        }
        System.exit(0);
    }

    /** Four seconds of a hundred requests a second, then SIGTERM, then another second. */
    static void measure(String name, List<String> properties) throws Exception {
        int port;
        try (var socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        var command = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp", System.getProperty("java.class.path"), "shutdown.Shutdown",
            "--server.port=" + port, "--spring.datasource.url=jdbc:postgresql:none"));
        command.addAll(properties);
        Process service = new ProcessBuilder(command).redirectErrorStream(true).start();
        var begun = new TreeMap<String, Integer>();
        var done = new TreeMap<String, Integer>();
        var started = new CountDownLatch(1);
        Thread reader = Thread.ofPlatform().start(() -> service.inputReader().lines().forEach(
            line -> {
                String kind = line.substring(line.indexOf(' ') + 1);
                if (line.startsWith("begun ")) {
                    begun.merge(kind, 1, Integer::sum);
                } else if (line.startsWith("done ")) {
                    done.merge(kind, 1, Integer::sum);
                } else if (line.contains("Started Shutdown")) {
                    started.countDown();
                }
            }));
        if (!started.await(3, TimeUnit.MINUTES)) {
            service.destroyForcibly();
            throw new IllegalStateException("the service didn't start");
        }
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest order = HttpRequest.newBuilder(
            URI.create("http://localhost:" + port + "/order"))
            .timeout(Duration.ofMinutes(1)).build();
        var before = new ArrayList<CompletableFuture<HttpResponse<String>>>(); // SIGTERM
        long end = 0;
        for (int i = 0; i < 500; i++) {
            if (i == 400) {
                service.toHandle().destroy(); // SIGTERM; Process::destroy closes the pipe
                end = System.nanoTime();
            }
            var answer = client.sendAsync(order, BodyHandlers.ofString());
            if (i < 400) {
                before.add(answer);
            }
            Thread.sleep(10);
        }
        service.waitFor();
        double seconds = (System.nanoTime() - end) / 1e9;
        reader.join();
        long failed = before.stream().filter(answer -> answer.handle(
            (said, error) -> error != null || said.statusCode() != 200).join()).count();
        var row = new StringBuilder("| " + name);
        for (String kind : KINDS) {
            int all = kind.equals("request") ? before.size() : begun.getOrDefault(kind, 0);
            long lost = kind.equals("request") ? failed : all - done.getOrDefault(kind, 0);
            row.append(" | ").append(lost).append(" of ").append(all);
        }
        System.out.println(row.append(" | %.1f |".formatted(seconds)));
    }
}
