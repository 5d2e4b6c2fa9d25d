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
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
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
    static long[] pids; // of the service and the database
    static HttpClient client;

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "free" -> free(args);
            case "run" -> {
                try {
                    run(args);
                } catch (Throwable e) {
                    e.printStackTrace();
                    System.exit(1); // the partner's server would live on
                }
            }
            case "table" -> table(args[1]);
        }
    }

    static void free(String[] ports) {
        for (int i = 1; i < ports.length; i++) {
            try {
                new ServerSocket(Integer.parseInt(ports[i]), 1, HERE).close();
            } catch (java.io.IOException e) {
                System.err.println("measure.sh: port " + ports[i]
                    + " is in use: set PORT to the first of four free ones");
                System.exit(2);
            }
        }
    }

    /** run NAME PORT PIDS PARTNER_MS SECONDS RATE... */
    static void run(String[] args) throws Exception {
        port = Integer.parseInt(args[2]);
        pids = Arrays.stream(args[3].split(",")).mapToLong(Long::parseLong).toArray();
        int slow = Integer.parseInt(args[4]);
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
        partnerMs = slow;
        for (int i = 6; i < args.length; i++) {
            if (i > 6) settle();
            int rate = Integer.parseInt(args[i]);
            String result = shoot(rate, Integer.parseInt(args[5]), 3 * slow);
            System.out.println(args[1] + " " + rate + " " + result);
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

    static HttpRequest get(int port, String path, int timeoutMs) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
            .timeout(Duration.ofMillis(timeoutMs)).build();
    }

    static boolean up() {
        try {
            facts();
            return true;
        } catch (Exception e) {
            return false;
        }
    }

    /** What the service says of itself, then what memory its process has, in MB. */
    static String facts() throws Exception {
        String said = client.send(get(port + 3, "/", 30_000), BodyHandlers.ofString()).body();
        var ps = new ProcessBuilder("ps", "-o", "rss=", "-p", "" + pids[0]).start();
        String kilobytes = new String(ps.getInputStream().readAllBytes()).trim();
        return said + " " + Long.parseLong(kilobytes) / 1_024;
    }

    /** How long the callers, the service and the database have used a processor, in ns. */
    static long used() {
        long nanos = cpu(ProcessHandle.current());
        for (long pid : pids) {
            var process = ProcessHandle.of(pid);
            if (process.isEmpty()) continue;
            nanos += cpu(process.get());
            nanos += process.get().descendants().mapToLong(Load::cpu).sum();
        }
        return nanos;
    }

    static long cpu(ProcessHandle process) {
        return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }

    /** Waits until the service has worked off what its callers no longer wait for. */
    static void settle() throws Exception {
        long start;
        do {
            Thread.sleep(500);
            start = System.nanoTime();
            client.send(get(port, "/order", 120_000), BodyHandlers.discarding());
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
        var wrong = new AtomicInteger();
        var inFlight = new AtomicInteger();
        int most = 0;
        var system = (com.sun.management.OperatingSystemMXBean)
            ManagementFactory.getOperatingSystemMXBean();
        var facts = new FutureTask<>(Load::facts);
        HttpRequest order = get(port, "/order", timeoutMs);
        double busy = system.getCpuLoad();
        double own = -used();
        long start = System.nanoTime() + 100_000_000;
        for (int i = 0; i < sent; i++) {
            int number = i;
            long due = start + 1_000_000_000L * i / rate;
            for (long now; (now = System.nanoTime()) < due; ) LockSupport.parkNanos(due - now);
            if (i == counted) {
                busy = system.getCpuLoad();
                own += used();
            }
            if (i == counted + rate * 3 / 2) Thread.ofVirtual().start(facts);
            most = Math.max(most, inFlight.incrementAndGet());
            client.sendAsync(order, BodyHandlers.ofString()).whenComplete((answer, error) -> {
                inFlight.decrementAndGet();
                int status = error != null ? 0 : answer.statusCode();
                if (status == 200 && !answer.body().equals("a lamp")) wrong.incrementAndGet();
                if (status == 200) micros[number] = (System.nanoTime() - due) / 1_000;
                else if (number < counted) (status == 503 ? refused : failed).incrementAndGet();
            });
        }
        while (inFlight.get() > 0) Thread.sleep(10);
        if (wrong.get() > 0) throw new IllegalStateException(wrong + " answers are wrong");
        long[] answered = Arrays.stream(micros, 0, counted).filter(m -> m > 0).sorted()
            .toArray();
        own /= seconds * 1e9 * system.getAvailableProcessors();
        return "%d %d %d %s %s %d %.0f %.0f %s".formatted(counted, refused.get(),
            failed.get(), percentile(answered, 50), percentile(answered, 99), most,
            busy * 100, Math.max(0, busy - own) * 100, facts.get());
    }

    static String percentile(long[] sorted, int percent) {
        if (sorted.length == 0) return "-";
        int index = (int) Math.ceil(sorted.length * percent / 100.0) - 1;
        return "" + Math.round(sorted[index] / 1_000.0);
    }

    /** Prints a row for each rate and arm: medians over the rounds, with their range. */
    static void table(String raw) throws Exception {
        var rows = new TreeMap<String, List<String[]>>();
        for (String line : Files.readAllLines(Path.of(raw))) {
            String[] word = line.split(" "); // as in measure.sh's first line of raw.txt
            if (word.length != 16 || word[0].equals("round")) continue;
            rows.computeIfAbsent("| %5s | %-11s |".formatted(word[3], word[2]),
                key -> new ArrayList<>()).add(word);
        }
        System.out.println("""
            | A second | Threads | p50, ms | p99, ms | Refused, % | Failed, % | In flight | \
            Heap, MB | Process, MB | Tick late, ms | Busy, % | Others, % |
            |--:|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|""");
        boolean holds = false;
        boolean noisy = false;
        for (var row : rows.entrySet()) {
            boolean doubt = median(values(row.getValue(), 11)) > 10;
            holds |= !doubt;
            noisy |= doubt;
            var text = new StringBuilder(row.getKey());
            for (int column : new int[] {7, 8, 5, 6, 9, 14, 15, 12, 10, 11}) {
                text.append(column == 11 && doubt ? " ~" : " ")
                    .append(range(values(row.getValue(), column))).append(" |");
            }
            System.out.println(text);
        }
        if (noisy) System.out.println("\n~: other programs were busy; don't quote this row.");
        System.exit(holds ? 0 : 1);
    }

    static double[] values(List<String[]> lines, int column) {
        boolean share = column == 5 || column == 6; // of those that were due
        return lines.stream().filter(word -> !word[column].equals("-"))
            .mapToDouble(word -> Double.parseDouble(word[column])
                * (share ? 100 / Double.parseDouble(word[4]) : 1))
            .sorted().toArray();
    }

    static double median(double[] sorted) {
        return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
    }

    static String range(double[] sorted) {
        if (sorted.length == 0) return "none";
        String text = "%,.0f".formatted(median(sorted));
        String low = "%,.0f".formatted(sorted[0]);
        String high = "%,.0f".formatted(sorted[sorted.length - 1]);
        return low.equals(high) ? text : "%s (%s–%s)".formatted(text, low, high);
    }
}
