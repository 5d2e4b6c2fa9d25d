// SPDX-License-Identifier: MIT-0
package scrape;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;

/**
 * What does a scrape of Actuator's metrics ask of the JVM, and who answers it? It counts the
 * calls of ThreadMXBean with JFR, from JDK 25 on, and needs no database:
 *
 *     mvn -q package
 *     java -Djarmode=tools -jar target/service.jar extract --destination target/service
 *     java -cp 'target/service/service.jar:target/service/lib/*' scrape.Scrape
 */
@SpringBootApplication
public class Scrape {
    static final boolean COUNTS = Runtime.version().feature() >= 25;
    static final String BEAN = "sun.management.ThreadImpl";

    public static void main(String[] args) throws Exception {
        System.out.printf("JDK %s, Spring Boot %s%n", Runtime.version().feature(),
            SpringBootVersion.getVersion());
        measure("by default");
        measure("states off", "management.metrics.enable.jvm.threads.states=false",
            "management.endpoint.threaddump.access=none");
        System.exit(0);
    }

    /** A line of Ticker, as Service.java has it. */
    @Bean
    MeterBinder tick() {
        return registry -> Gauge.builder("ticker.worst", () -> 40).register(registry);
    }

    static void measure(String name, String... properties) throws Exception {
        var all = new ArrayList<>(List.of(properties));
        all.addAll(List.of("spring.main.banner-mode=off", "logging.level.root=error",
            "spring.threads.virtual.enabled=true", "server.port=0", "management.server.port=0",
            "management.endpoints.web.exposure.include=prometheus,threaddump",
            "spring.datasource.url=jdbc:postgresql:none"));
        try (var context = new SpringApplicationBuilder(Scrape.class)
                .properties(all.toArray(String[]::new)).run()) {
            String port = context.getEnvironment().getProperty("local.management.port");
            String actuator = "http://localhost:" + port + "/actuator/";
            System.out.println("\n" + name + ": its lines of threads");
            get(actuator + "prometheus").lines().map(line -> line.replaceAll("[{ ].*", ""))
                .filter(line -> line.matches("(jvm_threads|ticker).*"))
                .collect(Collectors.toCollection(TreeSet::new))
                .forEach(line -> System.out.println("  " + line));
            System.out.println("ten scrapes: " + calls(() -> {
                for (int i = 0; i < 10; i++) get(actuator + "prometheus");
            }));
            System.out.println("a threaddump: " + calls(() -> {
                System.out.println("threaddump says " + status(actuator + "threaddump"));
            }));
            blocked(actuator + "prometheus");
        }
    }

    interface Work {
        void run() throws Exception;
    }

    /** How often it calls the ThreadMXBean's methods that look at all threads. */
    static String calls(Work work) throws Exception {
        if (!COUNTS) {
            work.run();
            return "JDK " + Runtime.version().feature() + " can't count";
        }
        Path file = Files.createTempFile("scrape", ".jfr");
        try (var recording = new Recording()) {
            recording.enable("jdk.MethodTiming").with("filter",
                BEAN + "::getThreadInfo;" + BEAN + "::dumpAllThreads");
            recording.start();
            work.run();
            recording.stop();
            recording.dump(file);
        }
        String calls = RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getLong("invocations") > 0)
            .map(event -> event.getLong("invocations") + " × "
                + event.<RecordedMethod>getValue("method").getName())
            .distinct().sorted().collect(Collectors.joining(", "));
        Files.delete(file);
        return calls.isEmpty() ? "none" : calls;
    }

    /** While all carriers compute for two seconds, who answers? */
    static void blocked(String management) throws Exception {
        HttpServer own = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
        own.createContext("/", exchange -> { // on the server's one platform thread
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        own.start();
        int carriers = Runtime.getRuntime().availableProcessors();
        for (int i = 0; i < carriers; i++) {
            Thread.startVirtualThread(() -> {
                long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
                while (System.nanoTime() < end) Thread.onSpinWait();
            });
        }
        Thread.sleep(100);
        System.out.println("beside " + carriers + " virtual threads that compute for 2 s");
        System.out.printf("  a platform thread answers in %,d ms%n",
            ms(() -> get("http://localhost:" + own.getAddress().getPort())));
        System.out.printf("  the management port answers in %,d ms%n",
            ms(() -> get(management)));
        own.stop(0);
    }

    static long ms(Work work) throws Exception {
        long start = System.nanoTime();
        work.run();
        return (System.nanoTime() - start) / 1_000_000;
    }

    static String get(String url) throws IOException {
        try (var answer = URI.create(url).toURL().openStream()) {
            return new String(answer.readAllBytes());
        }
    }

    static int status(String url) throws IOException {
        return ((HttpURLConnection) URI.create(url).toURL().openConnection()).getResponseCode();
    }
}
