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
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.*;
import zipkin2.reporter.brave.AsyncZipkinSpanHandler;
import zipkin2.reporter.urlconnection.URLConnectionSender;

/**
 * Calls from public reports; the answers: .github/field.md, .ci/runs/reports-21.txt and -25.
 * Most take 50 ms. It takes names of reports, each best in a JVM of its own, or lists all.
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
            var log = (ch.qos.logback.classic.LoggerContext)
                org.slf4j.LoggerFactory.getILoggerFactory();
            log.reset();
            var encoder = new ch.qos.logback.classic.encoder.PatternLayoutEncoder();
            encoder.setContext(log);
            encoder.setPattern("%msg%n");
            encoder.start();
            var appender = new ch.qos.logback.core.OutputStreamAppender<
                ch.qos.logback.classic.spi.ILoggingEvent>();
            appender.setContext(log);
            appender.setEncoder(encoder);
            appender.setOutputStream(new OutputStream() {
                @Override public void write(int b) { LockSupport.parkNanos(10_000); }
            });
            appender.start();
            log.getLogger("ROOT").addAppender(appender);
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
        new Report("firebird", () -> {
            String url = "jdbc:firebirdsql://127.0.0.1:" + silent()
                + "/x?user=a&password=b&soTimeout=50";
            return () -> fails(() -> sql(url, ""));
        }),
        new Report("ldap", () -> {
            var where = new Hashtable<>(Map.of(
                "java.naming.factory.initial", "com.sun.jndi.ldap.LdapCtxFactory",
                "java.naming.provider.url", "ldap://127.0.0.1:" + silent(),
                "com.sun.jndi.ldap.connect.timeout", "50")); // for the login, too
            return () -> fails(() -> new javax.naming.directory.InitialDirContext(where));
        }),
        new Report("mail", () -> {
            var properties = new Properties();
            properties.put("mail.imap.timeout", "50");
            var session = jakarta.mail.Session.getInstance(properties);
            int port = silent();
            return () -> fails(() ->
                session.getStore("imap").connect("127.0.0.1", port, "a", "b"));
        }),
        new Report("kafka-poll", () -> {
            var free = new ConcurrentLinkedQueue<Consumer<byte[], byte[]>>();
            var config = Map.<String, Object>of("bootstrap.servers", "127.0.0.1:" + silent(),
                "group.id", "g");
            var bytes = new ByteArrayDeserializer();
            return () -> {
                var consumer = free.poll();
                if (consumer == null) {
                    consumer = new KafkaConsumer<>(config, bytes, bytes);
                    consumer.subscribe(List.of("orders"));
                }
                consumer.poll(java.time.Duration.ofMillis(50));
                free.add(consumer);
            };
        }),
        new Report("kafka-send", () -> {
            var bytes = new ByteArraySerializer();
            var producer = new KafkaProducer<>(Map.of("bootstrap.servers",
                "127.0.0.1:" + silent(), "max.block.ms", "50"), bytes, bytes);
            return () -> fails(() ->
                producer.send(new ProducerRecord<>("orders", new byte[1])).get());
        }),
        new Report("rabbit", () -> () -> {
            var frame = new com.rabbitmq.client.impl.Frame(3, 1);
            frame.getOutputStream().write(new byte[100]);
            frame.writeTo(new DataOutputStream(new BufferedOutputStream(new SlowStream(), 16)));
        }),
        new Report("c3p0", () -> {
            System.setProperty("com.mchange.v2.log.MLog", "com.mchange.v2.log.FallbackMLog");
            System.setProperty("com.mchange.v2.log.FallbackMLog.DEFAULT_CUTOFF_LEVEL", "OFF");
            var pool = new com.mchange.v2.c3p0.ComboPooledDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:c3p0;DB_CLOSE_DELAY=-1");
            pool.setInitialPoolSize(30);
            pool.setMinPoolSize(30);
            pool.setMaxPoolSize(60);
            pool.setConnectionCustomizerClassName(Customizer.class.getName());
            pool.getConnection().close();
            Thread.sleep(2_000);
            return () -> pool.getConnection().close();
        }),
        new Report("hibernate", () -> () -> new org.hibernate.id.enhanced.PooledLoOptimizer(
            Long.class, 50).generate(new org.hibernate.id.enhanced.AccessCallback() {
                @Override public org.hibernate.id.IntegralDataTypeHolder getNextValue() {
                    load("an id");
                    return org.hibernate.id.IdentifierGeneratorHelper
                        .getIntegralDataTypeHolder(Long.class).initialize(1);
                }

                @Override public String getTenantIdentifier() { return null; }
            })),
        new Report("log4j", () -> {
            var appender = org.apache.logging.log4j.core.appender.OutputStreamAppender
                .createAppender(org.apache.logging.log4j.core.layout.PatternLayout
                    .createDefaultLayout(), null, new SlowStream(), "slow", false, true);
            appender.start();
            return () -> appender.append(org.apache.logging.log4j.core.impl.Log4jLogEvent
                .newBuilder().setMessage(new org.apache.logging.log4j.message.SimpleMessage(
                    "an order")).build());
        }),
        new Report("elastic", () -> {
            var client = org.elasticsearch.client.RestClient.builder(
                new org.apache.http.HttpHost("127.0.0.1", slowServer("{}")))
                .setHttpClientConfigCallback(http -> http.setMaxConnTotal(100)
                    .setMaxConnPerRoute(100)).build();
            return () -> client.performRequest(
                new org.elasticsearch.client.Request("GET", "/"));
        }),
        new Report("netty", () -> () -> { // its event loop is a virtual thread
            var loops = new io.netty.channel.nio.NioEventLoopGroup(1,
                Executors.newVirtualThreadPerTaskExecutor());
            var done = new CountDownLatch(1);
            loops.schedule(done::countDown, 50, TimeUnit.MILLISECONDS);
            done.await();
            loops.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS);
        }),
        new Report("http-pool", () -> { // exhausted
            var pool = new org.apache.hc.client5.http.impl.io
                .PoolingHttpClientConnectionManager();
            pool.setMaxTotal(1);
            var route = new org.apache.hc.client5.http.HttpRoute(
                new org.apache.hc.core5.http.HttpHost("127.0.0.1", 1));
            var limit = org.apache.hc.core5.util.Timeout.ofMilliseconds(50);
            pool.lease("the only one", route, null).get(limit);
            return () -> fails(() -> pool.lease("another", route, null).get(limit));
        }),
        new Report("okhttp", () -> {
            var client = new okhttp3.OkHttpClient();
            var request = new okhttp3.Request.Builder()
                .url("http://127.0.0.1:" + slowServer("an order")).build();
            return () -> client.newCall(request).execute().close();
        }),
        new Report("kotlin", () -> () ->
            kotlin.LazyKt.lazy(() -> load("a value")).getValue()),
        new Report("dagger", () -> () -> dagger.internal.DoubleCheck.provider(
            (javax.inject.Provider<Object>) () -> load("a bean")).get()),
        new Report("jwks", () -> { // of Spring Security's OAuth, as each key expires at once
            var keys = new com.nimbusds.jose.jwk.source.RemoteJWKSet<>(
                URI.create("http://127.0.0.1:" + slowServer("{\"keys\":[]}")).toURL(), null,
                new com.nimbusds.jose.jwk.source.DefaultJWKSetCache(1, 1,
                    TimeUnit.MILLISECONDS));
            var all = new com.nimbusds.jose.jwk.JWKSelector(
                new com.nimbusds.jose.jwk.JWKMatcher.Builder().build());
            return () -> keys.get(all, null);
        }),
        new Report("ehcache", () -> {
            var cache = org.ehcache.config.builders.CacheManagerBuilder
                .newCacheManagerBuilder().build(true).createCache("orders",
                    org.ehcache.config.builders.CacheConfigurationBuilder
                        .newCacheConfigurationBuilder(Long.class, Object.class,
                            org.ehcache.config.builders.ResourcePoolsBuilder.heap(100))
                        .withLoaderWriter(new Loader()));
            return () -> cache.get(ThreadLocalRandom.current().nextLong());
        }),
        new Report("spring-cache", () -> {
            var cache = new org.springframework.cache.concurrent.ConcurrentMapCache("orders");
            return () -> cache.get(ThreadLocalRandom.current().nextLong(),
                () -> load("an order"));
        }),
        new Report("spring-call", () -> {
            var source = new org.springframework.jdbc.datasource.SimpleDriverDataSource(
                    new org.h2.Driver(), "jdbc:h2:mem:call;DB_CLOSE_DELAY=-1") {
                @Override public Connection getConnection() throws SQLException {
                    load("a connection");
                    return super.getConnection();
                }
            };
            return () -> new org.springframework.jdbc.core.simple.SimpleJdbcCall(source)
                .withProcedureName("any").compile();
        }),
        new Report("resilience", () -> {
            var registry = io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry
                .ofDefaults();
            return () -> registry.circuitBreaker("" + ThreadLocalRandom.current().nextLong(),
                () -> {
                    load("a configuration");
                    return io.github.resilience4j.circuitbreaker.CircuitBreakerConfig
                        .ofDefaults();
                });
        }),
        new Report("c3p0-pool", () -> { // exhausted
            System.setProperty("com.mchange.v2.log.MLog", "com.mchange.v2.log.FallbackMLog");
            System.setProperty("com.mchange.v2.log.FallbackMLog.DEFAULT_CUTOFF_LEVEL", "OFF");
            var pool = new com.mchange.v2.c3p0.ComboPooledDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:c3p0;DB_CLOSE_DELAY=-1");
            pool.setInitialPoolSize(1);
            pool.setMinPoolSize(1);
            pool.setMaxPoolSize(1);
            pool.getConnection().close();
            pool.setCheckoutTimeout(50); // begins a new pool
            taken = pool.getConnection();
            return () -> fails(() -> pool.getConnection());
        }),
        new Report("http4-pool", () -> { // exhausted
            var pool = new org.apache.http.impl.conn.PoolingHttpClientConnectionManager();
            pool.setMaxTotal(1);
            var route = new org.apache.http.conn.routing.HttpRoute(
                new org.apache.http.HttpHost("127.0.0.1", 1));
            pool.requestConnection(route, null).get(50, TimeUnit.MILLISECONDS);
            return () -> fails(() ->
                pool.requestConnection(route, null).get(50, TimeUnit.MILLISECONDS));
        }),
        new Report("druid", () -> { // exhausted
            var pool = new com.alibaba.druid.pool.DruidDataSource();
            pool.setUrl("jdbc:h2:mem:druid;DB_CLOSE_DELAY=-1");
            pool.setValidationQuery("SELECT 1");
            pool.setMaxActive(1);
            taken = pool.getConnection();
            pool.setMaxWait(50);
            return () -> fails(() -> pool.getConnection());
        }),
        new Report("agroal", () -> { // a cold one, of four at most
            var config = new io.agroal.api.configuration.supplier
                .AgroalDataSourceConfigurationSupplier();
            config.connectionPoolConfiguration().maxSize(4)
                .acquisitionTimeout(java.time.Duration.ofSeconds(20))
                .connectionFactoryConfiguration().jdbcUrl("jdbc:h2:mem:agroal")
                .connectionProviderClass(SlowDriver.class);
            var pool = io.agroal.api.AgroalDataSource.from(config);
            return () -> pool.getConnection().close();
        }),
        new Report("jgroups", () -> { // its selector on a virtual thread
            System.setProperty("jgroups.use.jdk_logger", "true"); // Log4j is slow at first
            var threads = new org.jgroups.util.DefaultThreadFactory("selector", true)
                .useVirtualThreads(true);
            var sockets = new org.jgroups.util.DefaultSocketFactory();
            var here = InetAddress.getLoopbackAddress();
            return () -> {
                try (var server = new org.jgroups.blocks.cs.NioServer(threads, sockets, here,
                        0, 0, null, 0, 0)) {
                    server.start();
                    load(server);
                }
            };
        }),
        new Report("lmdb", Reports::writer), // one writes, others wait until it's done
        new Report("lmdb-lock", () -> { // they wait in Java, but LMDB's lock is its thread's
            CarrierCheck.Call write = writer();
            var lock = new java.util.concurrent.locks.ReentrantLock();
            return () -> {
                lock.lock();
                try {
                    write.make();
                } finally {
                    lock.unlock();
                }
            };
        }),
        new Report("one-nio", () -> { // its Java sockets; Linux has native ones, too
            System.setProperty("os.arch", "another");
            var client = new one.nio.http.HttpClient(new one.nio.net.ConnectionString(
                "http://127.0.0.1:" + slowServer("an order") + "?clientMaxPoolSize=100"));
            return () -> client.get("/");
        }),
        new Report("mybatis", () -> { // callers wait until one has loaded what they look for
            var cache = new org.apache.ibatis.cache.decorators.BlockingCache(
                new org.apache.ibatis.cache.decorators.SynchronizedCache(
                    new org.apache.ibatis.cache.impl.PerpetualCache("orders")));
            return () -> {
                Object key = ThreadLocalRandom.current().nextInt(20);
                if (cache.getObject(key) == null) {
                    load(key);
                    cache.removeObject(key); // it's only unlocked
                }
            };
        }),
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
    static Connection taken; // the pool's only one

    /** Each write takes 50 ms. */
    static class SlowStream extends OutputStream {
        @Override public void write(int b) { load(b); }

        @Override public void write(byte[] bytes, int from, int length) { load(bytes); }
    }

    /** Each connection takes 50 ms to be given out. */
    public static class Customizer extends com.mchange.v2.c3p0.AbstractConnectionCustomizer {
        @Override public void onCheckOut(Connection connection, String token) { load(token); }
    }

    /** Each connection takes 50 ms to be opened. */
    public static class SlowDriver extends org.h2.Driver {
        @Override public Connection connect(String url, Properties properties)
                throws SQLException {
            Reports.load(url);
            return super.connect(url, properties);
        }
    }

    static class Loader
            implements org.ehcache.spi.loaderwriter.CacheLoaderWriter<Long, Object> {
        @Override public Object load(Long key) { return Reports.load(key); }

        @Override public void write(Long key, Object value) { }

        @Override public void delete(Long key) { }
    }

    record Report(String name, Callable<CarrierCheck.Call> prepared) { }

    public static void main(String[] args) throws Exception {
        if (!List.of(args).contains("hikari")) { // or Logback would print into the answer
            System.setProperty("slf4j.provider",
                "org.slf4j.helpers.NOP_FallbackServiceProvider");
        }
        if (args.length == 0) REPORTS.forEach(report -> System.out.println(report.name));
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

    /** A transaction of LMDB, in which a value is loaded. It doesn't wait for the disk. */
    static CarrierCheck.Call writer() throws IOException {
        var env = org.lmdbjava.Env.create(org.lmdbjava.ByteArrayProxy.PROXY_BA).open(
            java.nio.file.Files.createTempDirectory("report").toFile(),
            org.lmdbjava.EnvFlags.MDB_NOSYNC);
        var db = env.openDbi((byte[]) null);
        return () -> {
            try (var change = env.txnWrite()) {
                db.put(change, new byte[1], (byte[]) load(new byte[1]));
                change.commit();
            }
        };
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

    /** The port of a server that answers after 50 ms, on platform threads. */
    static int slowServer(String text) throws IOException {
        var server = com.sun.net.httpserver.HttpServer.create(
            new InetSocketAddress("127.0.0.1", 0), 1_000);
        server.setExecutor(Executors.newCachedThreadPool(
            task -> Thread.ofPlatform().daemon().unstarted(task)));
        server.createContext("/", exchange -> {
            load(text);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, text.length());
            exchange.getResponseBody().write(text.getBytes());
            exchange.close();
        });
        server.start();
        return server.getAddress().getPort();
    }

    /** The port of a server that never answers, as nobody accepts. */
    static int silent() throws IOException {
        silent = new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress());
        return silent.getLocalPort();
    }
}
