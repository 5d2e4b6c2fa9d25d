// SPDX-License-Identifier: MIT-0
package limit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.stereotype.Component;

/**
 * Only two {@code @Async} tasks may work at once. Who waits, the caller or the task? And what
 * becomes of tasks that call {@code @Async} methods themselves? It tries five ways to limit
 * them, with calls that work for 200 ms; needs no database:
 *
 *     mvn -q package
 *     java -Djarmode=tools -jar target/service.jar extract --destination target/service
 *     java -cp 'target/service/service.jar:target/service/lib/*' limit.Limit
 */
@SpringBootApplication
@EnableAsync
public class Limit {
    static final List<Question> QUESTIONS = List.of(Limit::caller,
        calls -> nested(calls, false), calls -> nested(calls, true));
    static final String VIRTUAL = "spring.threads.virtual.enabled=true";
    static final String SIMPLE = "spring.task.execution.simple.";

    interface Question {
        String ask(Calls calls) throws InterruptedException;
    }

    public static void main(String[] args) throws Exception {
        System.out.printf("JDK %s, Spring Boot %s%n%n"
            + "| At most two | Caller waits, ms | Done of 8 | Nested | Nested, awaited |%n"
            + "|:--|--:|--:|:--|:--|%n", Runtime.version().feature(),
            SpringBootVersion.getVersion());
        measure("by default", "a pool of 2", "spring.task.execution.pool.core-size=2");
        measure("by default", "concurrency-limit", VIRTUAL, SIMPLE + "concurrency-limit=2");
        measure("by default", "concurrency-limit, reject", VIRTUAL,
            SIMPLE + "concurrency-limit=2", SIMPLE + "reject-tasks-when-limit-reached=true");
        measure("with a permit", "a semaphore, in the task", VIRTUAL);
        measure("on a pool of 2", "a pool of 2, a bean", VIRTUAL);
        System.exit(0);
    }

    static void measure(String how, String name, String... properties) throws Exception {
        var all = new ArrayList<>(List.of(properties));
        all.addAll(List.of("spring.main.banner-mode=off", "logging.level.root=error",
            "how=" + how, "spring.datasource.url=jdbc:postgresql:none"));
        var cells = new ArrayList<String>();
        for (Question question : QUESTIONS) { // a context each: one that hangs stays so
            try (var context = new SpringApplicationBuilder(Limit.class)
                    .web(WebApplicationType.NONE).properties(all.toArray(String[]::new))
                    .run()) {
                cells.add(question.ask(context.getBean(Calls.class)));
            }
        }
        System.out.println("| " + name + " | " + String.join(" | ", cells) + " |");
    }

    /** A request makes eight calls. How long does it take, and how many get done? */
    static String caller(Calls calls) throws InterruptedException {
        var done = new CountDownLatch(8);
        var rejected = new AtomicInteger();
        long start = System.nanoTime();
        Thread.startVirtualThread(() -> {
            for (int i = 0; i < 8; i++) {
                try {
                    calls.call(done::countDown);
                } catch (TaskRejectedException e) {
                    rejected.incrementAndGet();
                }
            }
        }).join();
        long ms = (System.nanoTime() - start) / 1_000_000;
        done.await(2, TimeUnit.SECONDS);
        return "%,d | %d".formatted(ms, 8 - done.getCount());
    }

    /** Two requests start a task each, which calls another one, and may wait for that. */
    static String nested(Calls calls, boolean awaits) throws InterruptedException {
        var done = new CountDownLatch(4);
        var rejected = new AtomicInteger();
        Runnable outer = () -> {
            var inner = new CompletableFuture<Void>();
            try {
                calls.call(() -> {
                    done.countDown();
                    inner.complete(null);
                });
                if (awaits) inner.join();
            } catch (TaskRejectedException e) {
                rejected.incrementAndGet();
            }
            done.countDown();
        };
        for (int i = 0; i < 2; i++) Thread.startVirtualThread(() -> calls.call(outer));
        boolean all = done.await(5, TimeUnit.SECONDS);
        if (!Thread.startVirtualThread(() -> { }).join(Duration.ofSeconds(1))) {
            return "no carrier is free"; // it isn't about the limit then
        }
        if (rejected.get() > 0) return rejected + " of 2 refused";
        return all ? "done" : "**hangs**";
    }

    /** What limits the calls? */
    @Component
    static class Calls {
        private final Tasks tasks;
        private final String how;

        Calls(Tasks tasks, @Value("${how}") String how) {
            this.tasks = tasks;
            this.how = how;
        }

        void call(Runnable then) {
            switch (how) {
                case "by default" -> tasks.work(then);
                case "with a permit" -> tasks.workWithPermit(then);
                default -> tasks.workOnPool(then);
            }
        }
    }

    @Component
    static class Tasks {
        private final Semaphore permits = new Semaphore(2);

        @Async
        void work(Runnable then) {
            sleep();
            then.run();
        }

        /** The permit is only for what's scarce, or what the task calls would wait for it. */
        @Async
        void workWithPermit(Runnable then) {
            permits.acquireUninterruptibly();
            try {
                sleep();
            } finally {
                permits.release();
            }
            then.run();
        }

        @Async("two")
        void workOnPool(Runnable then) {
            sleep();
            then.run();
        }
    }

    /** Only for {@code @Async("two")}: without defaultCandidate, it would be everybody's. */
    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor two(ThreadPoolTaskExecutorBuilder builder) {
        return builder.corePoolSize(2).build();
    }

    static void sleep() {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
