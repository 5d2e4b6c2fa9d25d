// SPDX-License-Identifier: MIT-0
package lab;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.context.annotation.Profile;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Requests that load classes, only for Cold.java: with its profile. */
@RestController
@Profile("cold")
class Lazy {
    private final ClassLoader loader = Lazy.class.getClassLoader();
    private final List<String> files; // of libraries, as org/apache/catalina/Server.class

    Lazy() throws IOException {
        files = Arrays.stream(new PathMatchingResourcePatternResolver()
            .getResources("classpath*:org/**/*.class")).map(Object::toString)
            .map(file -> file.substring(file.lastIndexOf("!/") + 2, file.length() - 1))
            .toList();
    }

    /** Fifteen of them, by chance, each loaded as a class or, as one loads a template, read. */
    @GetMapping("/lazy")
    String lazy() throws IOException {
        for (int i = 0; i < 15; i++) {
            String file = files.get(ThreadLocalRandom.current().nextInt(files.size()));
            if (i % 2 == 0) {
                load(file.substring(0, file.lastIndexOf('.')).replace('/', '.'));
            } else {
                try (var template = loader.getResourceAsStream(file)) {
                    template.readAllBytes();
                }
            }
        }
        return "loaded";
    }

    private void load(String name) {
        try {
            Class.forName(name, false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            // it needs a library that isn't there
        }
    }
}
