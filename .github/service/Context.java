// SPDX-License-Identifier: MIT-0
package context;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.integration.Slf4jThreadLocalAccessor;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.MDC;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Profile;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Component;

/**
 * Ten requests each call an {@code @Async} method. Does it see its caller's MDC, its trace (the
 * observation) and an InheritableThreadLocal? It needs no database:
 *
 *     mvn -q package
 *     java -Djarmode=tools -jar target/service.jar extract --destination target/service
 *     java -cp 'target/service/service.jar:target/service/lib/*' context.Context
 */
@SpringBootApplication
@EnableAsync
public class Context {
    static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>();

    public static void main(String[] args) throws Exception {
        ContextRegistry.getInstance().registerThreadLocalAccessor(
            new Slf4jThreadLocalAccessor());
        System.out.printf("JDK %s, Spring Boot %s%n%n"
            + "| `@Async` on | sees MDC | its trace | an InheritableThreadLocal |%n"
            + "|:--|--:|--:|--:|%n", Runtime.version().feature(),
            SpringBootVersion.getVersion());
        measure("a pool of 2", "spring.task.execution.pool.core-size=2");
        measure("virtual threads", "spring.threads.virtual.enabled=true");
        measure("virtual threads, propagate-context", "spring.threads.virtual.enabled=true",
            "spring.task.execution.propagate-context=true");
        measure("virtual threads, a decorator", "spring.threads.virtual.enabled=true",
            "spring.profiles.active=decorated");
        System.exit(0);
    }

    static void measure(String name, String... properties) throws Exception {
        var all = new ArrayList<>(List.of(properties));
        all.addAll(List.of("spring.main.banner-mode=off", "logging.level.root=error",
            "spring.datasource.url=jdbc:postgresql:none"));
        try (var context = new SpringApplicationBuilder(Context.class)
                .web(WebApplicationType.NONE).properties(all.toArray(String[]::new)).run()) {
            var registry = context.getBean(ObservationRegistry.class);
            var tasks = context.getBean(Tasks.class);
            var seen = new int[3];
            for (int i = 0; i < 10; i++) {
                String request = "request " + i;
                var sees = new CompletableFuture<List<Boolean>>();
                Thread.startVirtualThread(() -> {
                    MDC.put("request", request);
                    INHERITED.set(request);
                    Observation.createNotStarted(request, registry)
                        .observe(() -> tasks.look(request, sees));
                });
                for (int j = 0; j < 3; j++) if (sees.get().get(j)) seen[j]++;
            }
            System.out.printf("| %s | %d of 10 | %d of 10 | %d of 10 |%n", name, seen[0],
                seen[1], seen[2]);
        }
    }

    @Component
    static class Tasks {
        private final ObservationRegistry registry;

        Tasks(ObservationRegistry registry) {
            this.registry = registry;
        }

        @Async
        void look(String request, CompletableFuture<List<Boolean>> sees) {
            var trace = registry.getCurrentObservation();
            sees.complete(List.of(request.equals(MDC.get("request")),
                trace != null && request.equals(trace.getContextView().getName()),
                request.equals(INHERITED.get())));
        }
    }

    @Bean
    @Profile("decorated")
    ContextPropagatingTaskDecorator decorator() {
        return new ContextPropagatingTaskDecorator();
    }
}
