// SPDX-License-Identifier: MIT-0
package cancel;

import io.github.resilience4j.timelimiter.TimeLimiter;
import io.github.resilience4j.timelimiter.TimeLimiterConfig;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The database is slow, and callers give up after a second. Each 200 ms, one of twenty asks for
 * what takes eight seconds, by a pool of five connections. How many backends does the database
 * start for them, and how many work at once? It needs PostgreSQL:
 *
 *     mvn -q package
 *     java -Djarmode=tools -jar target/service.jar extract --destination target/service
 *     sh postgres.sh java -cp 'target/service/service.jar:target/service/lib/*' cancel.Cancel
 */
@SpringBootApplication
public class Cancel {
    static final Duration LIMIT = Duration.ofSeconds(1);
    static final String URL = "jdbc:postgresql://localhost:" + System.getenv("PGPORT")
        + "/postgres?user=lab&ApplicationName=";

    /** How a caller gives up: the call is a task of the executor. */
    interface GivesUp {
        void call(ExecutorService threads, Callable<?> query) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        System.out.printf("JDK %s, Spring Boot %s%n%n| Threads | After a second "
            + "| Gave up of 20 | Backends | At work at once |%n|:--|:--|--:|--:|--:|%n",
            Runtime.version().feature(), SpringBootVersion.getVersion());
        for (boolean virtual : new boolean[] {false, true}) {
            measure(virtual, "Future.cancel(true)", Cancel::cancels);
            measure(virtual, "a TimeLimiter", limiter(true));
            measure(virtual, "a TimeLimiter, cancelRunningFuture(false)", limiter(false));
            measure(virtual, "spring.jdbc.template.query-timeout=1s", Cancel::waits,
                "spring.jdbc.template.query-timeout=1s");
            measure(virtual, "PostgreSQL's statement_timeout=1000", Cancel::waits,
                "spring.datasource.hikari.data-source-properties.options="
                + "-c statement_timeout=1000");
            measure(virtual, "the driver's socketTimeout=1", Cancel::waits,
                "spring.datasource.hikari.data-source-properties.socketTimeout=1");
        }
        System.exit(0);
    }

    static void cancels(ExecutorService threads, Callable<?> query) throws Exception {
        Future<?> future = threads.submit(query);
        try {
            future.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } finally {
            future.cancel(true);
        }
    }

    static GivesUp limiter(boolean cancels) {
        var limiter = TimeLimiter.of(TimeLimiterConfig.custom().timeoutDuration(LIMIT)
            .cancelRunningFuture(cancels).build());
        return (threads, query) -> limiter.executeFutureSupplier(() -> threads.submit(query));
    }

    /** The driver or the database ends the query. */
    static void waits(ExecutorService threads, Callable<?> query) throws Exception {
        threads.submit(query).get();
    }

    static void measure(boolean virtual, String name, GivesUp how, String... properties)
            throws Exception {
        var all = new ArrayList<>(List.of(properties));
        String application = "lab" + System.nanoTime();
        all.addAll(List.of("spring.main.banner-mode=off", "logging.level.root=off",
            "spring.datasource.url=" + URL + application,
            "spring.datasource.hikari.maximum-pool-size=5", "partner=none", "room=1"));
        var said = new TreeMap<String, Integer>();
        var threads = virtual ? Executors.newVirtualThreadPerTaskExecutor()
            : Executors.newFixedThreadPool(20);
        try (var context = new SpringApplicationBuilder(Cancel.class)
                .web(WebApplicationType.NONE).properties(all.toArray(String[]::new)).run()) {
            JdbcClient database = context.getBean(JdbcClient.class);
            Callable<?> query = () -> {
                try {
                    return database.sql("SELECT pg_sleep(8)").query().singleValue();
                } catch (Exception e) {
                    synchronized (said) {
                        said.merge(messages(e), 1, Integer::sum);
                    }
                    throw e;
                }
            };
            var callers = new ArrayList<Future<Boolean>>();
            try (var many = Executors.newVirtualThreadPerTaskExecutor();
                    var backends = new Backends(application)) {
                for (int i = 0; i < 20; i++) {
                    callers.add(many.submit(() -> gaveUp(how, threads, query)));
                    for (int j = 0; j < 4; j++) backends.look();
                }
                for (var caller : callers) caller.get();
                long gaveUp = callers.stream().filter(caller -> caller.resultNow()).count();
                System.out.printf("| %s | %s | %d | %d | %d |%n", virtual ? "virtual"
                    : "platform", name, gaveUp, backends.seen.size(), backends.most);
            }
        }
        threads.shutdownNow();
        synchronized (said) {
            said.forEach((what, times) -> System.err.println(times + " × " + what));
        }
    }

    static boolean gaveUp(GivesUp how, ExecutorService threads, Callable<?> query)
            throws Exception {
        try {
            how.call(threads, query);
            return false;
        } catch (TimeoutException | ExecutionException e) {
            return true;
        }
    }

    /** Of an exception and its causes, as logs have them. */
    static String messages(Throwable e) {
        String message = e.getClass().getName() + ": " + e.getMessage();
        return e.getCause() == null ? message : message + " <- " + messages(e.getCause());
    }

    /** The database's processes that work for this pool. */
    static class Backends implements AutoCloseable {
        final Set<Integer> seen = new HashSet<>();
        int most;
        private final java.sql.Connection connection;
        private final String application;

        Backends(String application) throws java.sql.SQLException {
            this.application = application;
            connection = DriverManager.getConnection(URL + "looks");
        }

        /** Takes 50 ms. */
        void look() throws Exception {
            int working = 0;
            try (var call = connection.createStatement(); var rows = call.executeQuery(
                    "SELECT pid FROM pg_stat_activity WHERE state = 'active'"
                    + " AND application_name = '" + application + "'")) {
                for (; rows.next(); working++) seen.add(rows.getInt(1));
            }
            most = Math.max(most, working);
            Thread.sleep(50);
        }

        @Override
        public void close() throws java.sql.SQLException {
            connection.close();
        }
    }
}
