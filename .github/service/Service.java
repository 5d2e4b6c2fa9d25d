// SPDX-License-Identifier: MIT-0
package lab;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Semaphore;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * The service that measure.sh measures. An order takes 25 ms in PostgreSQL, then waits for a
 * partner, without a connection meanwhile.
 */
@SpringBootApplication
@RestController
public class Service {
    private final JdbcClient database;
    private final RestClient partner;

    Service(JdbcClient database, RestClient.Builder partner, @Value("${partner}") String url) {
        this.database = database;
        this.partner = partner.baseUrl(url).build();
    }

    public static void main(String[] args) throws IOException {
        Ticker.start();
        var service = SpringApplication.run(Service.class, args);
        facts(service.getEnvironment().getRequiredProperty("facts", int.class));
    }

    @GetMapping("/order")
    String order() {
        String name = database.sql("SELECT 'a lamp' FROM pg_sleep(0.025)")
            .query(String.class).single();
        partner.get().uri("/").retrieve().toBodilessEntity();
        return name;
    }

    /** What to scrape: how late a tick was. */
    @Bean
    MeterBinder tick() {
        return registry -> Gauge.builder("ticker.worst", Ticker::worst).register(registry);
    }

    /** How late the ticker was in ms, then the heap in use in MB before and after a full
     * collection; on a port and a thread of its own, so it's told under any load. */
    static void facts(int port) throws IOException {
        var server = HttpServer.create(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", exchange -> {
            long before = heap();
            System.gc();
            byte[] text = (Ticker.worst() + " " + before + " " + heap()).getBytes();
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
        });
        server.start();
    }

    private static long heap() {
        return (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20;
    }
}

/** Lets in so many requests and turns the others away at once, but for the health checks. */
@Component
@Order(-101) // after the filter that counts requests, before Spring Security's (-100)
class Room extends OncePerRequestFilter {
    private final Semaphore room;

    Room(@Value("${room}") int room) {
        this.room = new Semaphore(room);
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return request.getServletPath().startsWith("/actuator/"); // without a context path
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response,
            FilterChain chain) throws IOException, ServletException {
        if (!room.tryAcquire()) {
            response.setStatus(503);
            return;
        }
        try {
            chain.doFilter(request, response);
        } finally {
            room.release();
        }
    }
}
