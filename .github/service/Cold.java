// SPDX-License-Identifier: MIT-0
import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;

/** Starts a service so many times, and sends it forty requests at once, up to five times. They
 * load classes, see Lazy.java. In how many starts are some never answered? Needs no database:
 * {@code java Cold.java 10 java -jar target/service.jar} */
class Cold {
    static final int PORT = 18_090;
    static final List<Callable<Integer>> VOLLEY = Collections.nCopies(40, Cold::ask);

    public static void main(String[] args) throws Exception {
        List<String> command = new ArrayList<>(List.of(args).subList(1, args.length));
        command.addAll(List.of("--spring.profiles.active=cold", "--server.port=" + PORT,
            "--spring.threads.virtual.enabled=true", "--room=1000", "--facts=0",
            "--partner=none", "--spring.datasource.url=jdbc:postgresql:none"));
        int starts = Integer.parseInt(args[0]);
        int hung = 0;
        for (int start = 1; start <= starts; start++) {
            Process service = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(new File("cold.log")).start();
            try (var callers = Executors.newFixedThreadPool(VOLLEY.size())) {
                awaitPort(service);
                int sent = 0;
                int answered = 0;
                while (answered == sent && sent < 5 * VOLLEY.size()) {
                    sent += VOLLEY.size();
                    for (var answer : callers.invokeAll(VOLLEY)) {
                        answered += answer.get();
                    }
                }
                System.out.println("start " + start + ": answered " + answered + " of " + sent);
                hung += answered < sent ? 1 : 0;
            } finally {
                service.destroyForcibly().waitFor();
            }
        }
        System.out.println("hung: " + hung + " of " + starts + " starts");
    }

    static void awaitPort(Process service) throws Exception {
        while (service.isAlive()) {
            try {
                new Socket("localhost", PORT).close();
                return;
            } catch (IOException e) {
                Thread.sleep(20);
            }
        }
        throw new IllegalStateException("the service has ended: read cold.log");
    }

    /** 1 for an answer, 0 for none. An error, such as a 500, is thrown. */
    static int ask() throws IOException {
        var request = URI.create("http://localhost:" + PORT + "/lazy").toURL().openConnection();
        request.setRequestProperty("Connection", "close"); // each caller's is a new one
        request.setReadTimeout(20_000); // beside load, an answer takes a few seconds
        try (var answer = request.getInputStream()) {
            answer.readAllBytes();
            return 1;
        } catch (SocketTimeoutException e) {
            return 0;
        }
    }
}
