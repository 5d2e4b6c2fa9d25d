// SPDX-License-Identifier: MIT-0
import com.sun.net.httpserver.HttpServer;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The callers of the service, and its slow partner. Requests are due at a fixed rate, whether
 * or not earlier ones have been answered; latency counts from when a request is due.
 */
class Load {
    static final InetAddress HERE = InetAddress.getLoopbackAddress();
    static volatile int partnerMs = 100; // while warming up
    static int port;
    static HttpClient client;

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "free" -> free(args);
            case "run" -> run(args);
            case "table" -> table(args[1]);
        }
    }

    static void free(String[] ports) {
        for (int i = 1; i < ports.length; i++) {
            try (var socket = new ServerSocket(Integer.parseInt(ports[i]), 1, HERE)) {
            } catch (java.io.IOException e) {
                System.err.println("measure.sh: port " + ports[i]
                    + " is in use: set PORT to the first of three free ones");
                System.exit(2);
            }
        }
    }

    /** run NAME PORT PARTNER_MS TIMEOUT_MS SECONDS RATE... */
    static void run(String[] args) throws Exception {
        port = Integer.parseInt(args[2]);
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .executor(Executors.newVirtualThreadPerTaskExecutor()).build();
        partner(port + 1);
        long patience = System.nanoTime() + 60_000_000_000L;
        while (!up()) {
            if (System.nanoTime() > patience) throw new IllegalStateException("no service");
            Thread.sleep(100);
        }
        shoot(50, 2, 5_000);
        shoot(300, 2, 5_000);
        System.out.println(args[1] + " idle " + facts());
        partnerMs = Integer.parseInt(args[3]);
        for (int i = 6; i < args.length; i++) {
            int rate = Integer.parseInt(args[i]);
            System.out.println(args[1] + " " + rate + " "
                + shoot(rate, Integer.parseInt(args[5]), Integer.parseInt(args[4])));
            if (i < args.length - 1) settle();
        }
        System.exit(0);
    }

    static void partner(int port) throws Exception {
        var partner = HttpServer.create(new InetSocketAddress(HERE, port), 1_000);
        partner.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        partner.createContext("/", exchange -> {
            LockSupport.parkNanos(partnerMs * 1_000_000L);
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        partner.start();
    }

    static HttpRequest get(String path, int timeoutMs) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
            .timeout(Duration.ofMillis(timeoutMs)).build();
    }

    static boolean up() {
        try {
            return client.send(get("/facts", 5_000), BodyHandlers.discarding())
                .statusCode() == 200;
        } catch (Exception e) {
            return false;
        }
    }

    static String facts() throws Exception {
        return client.send(get("/facts", 120_000), BodyHandlers.ofString()).body();
    }

    /** Waits until the service has worked off what its callers no longer wait for. */
    static void settle() throws Exception {
        long start;
        do {
            Thread.sleep(500);
            start = System.nanoTime();
            client.send(get("/order", 120_000), BodyHandlers.discarding());
        } while (System.nanoTime() - start > (partnerMs + 300) * 1_000_000L);
    }

    /** Counts what is due in the given seconds. The load goes on for two more, so that the
     * facts are those of a service under load and their collection disturbs nothing. */
    static String shoot(int rate, int seconds, int timeoutMs) throws Exception {
        int counted = rate * seconds;
        int sent = rate * (seconds + 2);
        var micros = new long[sent]; // 0: not answered
        var refused = new AtomicInteger();
        var failed = new AtomicInteger();
        var inFlight = new AtomicInteger();
        int most = 0;
        var system = (com.sun.management.OperatingSystemMXBean)
            ManagementFactory.getOperatingSystemMXBean();
        var facts = new java.util.concurrent.FutureTask<>(Load::facts);
        double cpu = system.getCpuLoad();
        HttpRequest order = get("/order", timeoutMs);
        long start = System.nanoTime() + 100_000_000;
        for (int i = 0; i < sent; i++) {
            int number = i;
            long due = start + 1_000_000_000L * i / rate;
            for (long now; (now = System.nanoTime()) < due; ) LockSupport.parkNanos(due - now);
            if (i == counted) cpu = system.getCpuLoad();
            if (i == counted + rate * 3 / 2) Thread.ofVirtual().start(facts);
            most = Math.max(most, inFlight.incrementAndGet());
            client.sendAsync(order, BodyHandlers.discarding()).whenComplete((answer, error) -> {
                inFlight.decrementAndGet();
                int status = error != null ? 0 : answer.statusCode();
                if (status == 200) micros[number] = (System.nanoTime() - due) / 1_000;
                else if (number < counted) (status == 503 ? refused : failed).incrementAndGet();
            });
        }
        while (inFlight.get() > 0) Thread.sleep(10);
        long[] answered = Arrays.stream(micros, 0, counted).filter(m -> m > 0).sorted()
            .toArray();
        return "%d %d %d %s %s %d %.0f %s".formatted(counted, refused.get(), failed.get(),
            percentile(answered, 50), percentile(answered, 99), most, cpu * 100, facts.get());
    }

    static String percentile(long[] sorted, int percent) {
        if (sorted.length == 0) return "-";
        int index = (int) Math.ceil(sorted.length * percent / 100.0) - 1;
        return "" + Math.round(sorted[index] / 1_000.0);
    }

    /** Prints a row for each load, JDK and arm: medians over the rounds, with their range. */
    static void table(String raw) throws Exception {
        var rows = new LinkedHashMap<String, List<String[]>>();
        int cpu = 0;
        for (String line : Files.readAllLines(Path.of(raw))) {
            String[] word = line.split(" "); // round JDK arm rate, then what shoot() returns
            if (word.length != 14 || word[0].equals("round")) continue;
            String jdk = word[1].replaceAll("\\..*", "");
            rows.computeIfAbsent("| " + word[3] + " | " + word[2] + " | " + jdk + " |",
                key -> new ArrayList<>()).add(word);
            cpu = Math.max(cpu, Integer.parseInt(word[10]));
        }
        System.out.println("""
            | A second | Threads | JDK | p50, ms | p99, ms | Refused | Failed | In flight | \
            Heap, MB | Tick, ms |
            |--:|:--|--:|--:|--:|--:|--:|--:|--:|--:|""");
        rows.entrySet().stream()
            .sorted((a, b) -> rate(a.getKey()) - rate(b.getKey()))
            .forEach(row -> {
                var text = new StringBuilder(row.getKey());
                for (int column : new int[] {7, 8, 5, 6, 9, 13, 11}) {
                    text.append(' ').append(median(row.getValue(), column)).append(" |");
                }
                System.out.println(text);
            });
        System.out.println("\nThe processors were busy for at most " + cpu + " % of a load.");
    }

    static int rate(String key) {
        return Integer.parseInt(key.split(" ")[1]);
    }

    static String median(List<String[]> lines, int column) {
        double[] values = lines.stream().filter(word -> !word[column].equals("-"))
            .mapToDouble(word -> column == 5 || column == 6
                ? 100 * Double.parseDouble(word[column]) / Double.parseDouble(word[4])
                : Double.parseDouble(word[column]))
            .sorted().toArray();
        if (values.length == 0) return "—";
        String unit = column == 5 || column == 6 ? " %" : "";
        String text = "%,.0f%s".formatted(values[values.length / 2], unit);
        if (Math.round(values[0]) == Math.round(values[values.length - 1])) return text;
        return text + " (%,.0f–%,.0f)".formatted(values[0], values[values.length - 1]);
    }
}
