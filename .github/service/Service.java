// SPDX-License-Identifier: MIT-0
package lab;

import java.util.concurrent.Semaphore;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

/**
 * The service that measure.sh measures. An order takes 25 ms in PostgreSQL, then waits for a
 * partner, without a connection meanwhile.
 */
@SpringBootApplication
@RestController
public class Service {
    private final JdbcClient database;
    private final RestClient partner;
    private final Semaphore room;

    Service(JdbcClient database, RestClient.Builder partner, @Value("${partner}") String url,
            @Value("${room}") int room) {
        this.database = database;
        this.partner = partner.baseUrl(url).build();
        this.room = new Semaphore(room);
        Ticker.start();
    }

    public static void main(String[] args) {
        SpringApplication.run(Service.class, args);
    }

    @GetMapping("/order")
    ResponseEntity<String> order() {
        if (!room.tryAcquire()) return ResponseEntity.status(503).body("full");
        try {
            String name = database.sql("SELECT 'a lamp' FROM pg_sleep(0.025)")
                .query(String.class).single();
            partner.get().uri("/").retrieve().toBodilessEntity();
            return ResponseEntity.ok(name);
        } finally {
            room.release();
        }
    }

    /** How late the ticker was in ms since the last call, then the heap in use in MB before
     * and after a full collection. */
    @GetMapping("/facts")
    String facts() {
        long late = Ticker.worst();
        long before = heap();
        System.gc();
        return late + " " + before + " " + heap();
    }

    private static long heap() {
        return (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20;
    }
}
