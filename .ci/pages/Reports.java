// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.net.*;
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.*;
import org.apache.commons.pool2.*;
import org.apache.commons.pool2.impl.*;
import zipkin2.reporter.brave.AsyncZipkinSpanHandler;
import zipkin2.reporter.urlconnection.URLConnectionSender;

/**
 * Calls from public reports; the answers: .github/field.md. Most take 50 ms. It takes names of
 * reports, each best in a JVM of its own.
 *
 *     mvn -q -f .ci/pages dependency:copy-dependencies -DoutputDirectory=$PWD/lib
 *     javac -proc:none -cp "lib/*" -d out .github/CarrierCheck.java .ci/pages/Reports.java
 *     java -cp "out:lib/*" Reports caffeine
 */
public class Reports {
    static final List<Report> REPORTS = List.of(
        new Report("sqlite", () -> {
            String url = "jdbc:sqlite:" + File.createTempFile("report", ".db");
            DriverManager.getConnection(url).createStatement().execute("BEGIN EXCLUSIVE");
            return () -> fails(() -> sql(url + "?busy_timeout=50", "BEGIN EXCLUSIVE"));
        }),
        new Report("h2", () -> () -> sql(
            "jdbc:h2:mem:;INIT=CREATE ALIAS SLEEP FOR 'java.lang.Thread.sleep(long)'",
            "CALL SLEEP(50)")),
        new Report("mysql", () -> {
            String url = "jdbc:mysql://127.0.0.1:" + silent() + "/?socketTimeout=50";
            return () -> fails(() -> sql(url, ""));
        }),
        new Report("sqlserver", () -> {
            String url = "jdbc:sqlserver://127.0.0.1:" + silent()
                + ";socketTimeout=50;connectRetryCount=0";
            return () -> fails(() -> sql(url, ""));
        }),
        new Report("oracle", () -> {
            System.setProperty("oracle.jdbc.ReadTimeout", "50");
            String url = "jdbc:oracle:thin:@127.0.0.1:" + silent() + "/x";
            return () -> fails(() -> sql(url, ""));
        }),
        new Report("hikari", () -> {
            System.setOut(new PrintStream(new OutputStream() { // for the log
                @Override public void write(int b) { LockSupport.parkNanos(10_000); }
            }));
            return () -> {
                org.slf4j.LoggerFactory.getLogger("orders").info("an order");
                if (ThreadLocalRandom.current().nextBoolean()) return;
                try (var pool = new com.zaxxer.hikari.HikariDataSource()) {
                    pool.setJdbcUrl("jdbc:h2:mem:hikari");
                    pool.getConnection();
                }
            };
        }),
        new Report("jetty", () -> {
            var client = new org.eclipse.jetty.client.HttpClient();
            client.setExecutor(new org.eclipse.jetty.util.thread.VirtualThreadPool());
            client.start();
            String url = "http://127.0.0.1:" + silent();
            return () -> fails(() ->
                client.newRequest(url).timeout(50, TimeUnit.MILLISECONDS).send());
        }),
        new Report("pool", () -> { // a cold one, of eight at most
            var pool = new GenericObjectPool<>(new BasePooledObjectFactory<Object>() {
                @Override public Object create() { return load(new Object()); }

                @Override public PooledObject<Object> wrap(Object one) {
                    return new DefaultPooledObject<>(one);
                }
            });
            return () -> pool.invalidateObject(pool.borrowObject());
        }),
        new Report("caffeine", () -> () -> com.github.benmanes.caffeine.cache.Caffeine
            .newBuilder().build().get("key", Reports::load)),
        new Report("guava", () -> () -> com.google.common.cache.CacheBuilder
            .newBuilder().build().get("key", () -> load("key"))),
        new Report("jackson", () -> () -> new ObjectMapper().setAnnotationIntrospector(
            new JacksonAnnotationIntrospector() {
                @Override public Object findDeserializer(Annotated type) {
                    load(type);
                    return null; // there's none
                }
            }).readValue("{}", Reports.class)),
        new Report("arc", () -> () ->
            new io.quarkus.arc.impl.LazyValue<>(() -> load("a bean")).get()),
        new Report("brave", () -> {
            zipkin2.reporter.BytesMessageSender sender =
                URLConnectionSender.create("http://127.0.0.1:1"); // refused
            var tracer = brave.Tracing.newBuilder()
                .addSpanHandler(AsyncZipkinSpanHandler.create(sender)).build().tracer();
            return () -> {
                for (int i = 0; i < 1_000; i++) {
                    tracer.newTrace().start().finish();
                    tracer.startScopedSpan("scoped").finish();
                }
            };
        }));

    static ServerSocket silent; // kept, or it would be closed

    record Report(String name, Callable<CarrierCheck.Call> prepared) { }

    public static void main(String[] args) throws Exception {
        if (!List.of(args).contains("hikari")) { // or Logback would print into the table
            System.setProperty("slf4j.provider",
                "org.slf4j.helpers.NOP_FallbackServiceProvider");
        }
        for (Report report : REPORTS) {
            if (List.of(args).contains(report.name))
                CarrierCheck.ask(report.name, report.prepared.call());
        }
        System.exit(0); // or threads of some libraries live on
    }

    static void fails(CarrierCheck.Call call) {
        try {
            call.make();
        } catch (Exception e) {
            return; // as it should
        }
        throw new IllegalStateException("it didn't fail");
    }

    static void sql(String url, String sql) throws Exception {
        try (var connection = DriverManager.getConnection(url)) {
            connection.createStatement().execute(sql);
        }
    }

    static Object load(Object key) {
        LockSupport.parkNanos(50_000_000);
        return key;
    }

    /** The port of a server that never answers, as nobody accepts. */
    static int silent() throws IOException {
        silent = new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress());
        return silent.getLocalPort();
    }
}
