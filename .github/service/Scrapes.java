// SPDX-License-Identifier: MIT-0
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Scrapes a service's metrics beside measure.sh, ten times a second, until nobody answers any
 * more. Has it died of a scrape, which asks for the states of all threads?
 *
 *     java Scrapes.java PORT
 */
class Scrapes {
    public static void main(String[] args) throws Exception {
        var client = HttpClient.newHttpClient();
        var scrape = HttpRequest.newBuilder(
            URI.create("http://localhost:" + args[0] + "/actuator/prometheus"))
            .timeout(Duration.ofSeconds(5)).build();
        int answered = 0;
        int states = 0;
        for (int silent = 0; silent < (answered == 0 ? 600 : 50); ) { // a minute, then 5 s
            try {
                var answer = client.send(scrape, HttpResponse.BodyHandlers.ofString());
                silent = 0;
                answered++;
                if (answer.body().contains("jvm_threads_states")) states++;
            } catch (java.io.IOException e) { // refused, or too late
                silent++;
            }
            Thread.sleep(100);
        }
        try (var files = Files.list(Path.of(""))) {
            long crashes = files.filter(file -> ("" + file).startsWith("hs_err")).count();
            System.out.printf("%,d scrapes answered, %,d with the states of threads: %s%n",
                answered, states, crashes == 0 ? "lived" : "died");
        }
    }
}
