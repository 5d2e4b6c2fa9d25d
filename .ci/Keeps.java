// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.lang.invoke.MethodHandles;
import java.net.*;
import java.nio.channels.Selector;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;

/**
 * Which waits keep a virtual thread on its carrier? The waits of README's table, each of about
 * 50 ms. One start of the JVM for each, as the scheduler's added carriers stay for a while:
 *
 *     javac -d out VirtualThreadsLab.java .ci/Keeps.java
 *     java -cp out Keeps --quick --runs 1 loader
 */
class Keeps extends VirtualThreadsLab {
    static final List<Experiment> LIST = new ArrayList<>();

    public static void main(String[] args) {
        add("parks", "parks: sleeps, waits for a lock or a queue", Keeps::park);
        add("socket", "waits for a socket", Keeps::readSocket);
        add("selector", "is in `Selector.select`", () -> {
            try (var selector = Selector.open()) {
                selector.select(50);
            }
        });
        add("inside", "parks inside `synchronized`", () -> {
            synchronized (OWN.get()) {
                park();
            }
        });
        add("enters", "waits to enter `synchronized`", () -> {
            Object monitor = new Object();
            holding(() -> {
                synchronized (monitor) {
                    park();
                }
            });
            synchronized (monitor) {
                check("monitors", 1, 1);
            }
        });
        add("wait", "is in `Object.wait`", () -> {
            synchronized (OWN.get()) {
                OWN.get().wait(50);
            }
        });
        add("init", "parks in a class initializer",
            () -> MethodHandles.lookup().defineHiddenClass(bytes(), true));
        add("other-init", "waits for a class that another thread initializes", () -> {
            var lookup = MethodHandles.lookup().defineHiddenClass(bytes(), false);
            holding(() -> ensure(lookup));
            ensure(lookup);
        });
        add("loader", "loads a class, and its class loader parks", Keeps::load);
        add("file", "blocks in reading a file or a pipe", () -> {
            File fifo = File.createTempFile("fifo", "");
            String line = "rm $0; mkfifo $0; sleep 0.2 > $0 &";
            new ProcessBuilder("sh", "-c", line, "" + fifo).start().waitFor();
            try (var in = new FileInputStream(fifo)) {
                in.read();
            }
            fifo.delete();
        });
        add("sync", "writes a file synchronously, or forces it", () -> {
            File file = File.createTempFile("sync", "");
            try (var out = new RandomAccessFile(file, "rws")) {
                for (int i = 0; i < 50; i++) out.write(new byte[65_536]);
            }
            file.delete();
        });
        add("process", "reads `System.in` or a process's output", () ->
            new ProcessBuilder("sh", "-c", "sleep 0.1; echo x").start()
                .getInputStream().read());
        add("computes", "computes", () -> check("primes", 33_860, countPrimes(400_000)));
        run(LIST, args);
    }

    static void add(String name, String what, Job task) {
        LIST.add(new Experiment(name, () -> waiting(name, UNKNOWN, task), what));
    }

    static void park() {
        long end = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
    }

    /** Lets a platform thread begin with what will take it 50 ms. */
    static void holding(Runnable job) throws InterruptedException {
        Thread.ofPlatform().start(job);
        Thread.sleep(10);
    }

    static void readSocket() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var client = new Socket(server.getInetAddress(), server.getLocalPort())) {
            client.setSoTimeout(50);
            client.getInputStream().read();
        } catch (SocketTimeoutException e) {
            check("waits", 1, 1);
        }
    }

    static byte[] bytes() throws IOException {
        String file = Parks.class.getName().replace('.', '/') + ".class";
        try (var in = Keeps.class.getClassLoader().getResourceAsStream(file)) {
            return in.readAllBytes();
        }
    }

    static void ensure(MethodHandles.Lookup lookup) {
        try {
            lookup.ensureInitialized(lookup.lookupClass());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Class.forName calls the loader from within the JVM, as the use of a new class does. */
    static void load() {
        var loader = new ClassLoader() {
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                park();
                throw new ClassNotFoundException(name);
            }
        };
        try {
            Class.forName("NoSuchClass", false, loader);
            throw new AssertionError("the class exists");
        } catch (ClassNotFoundException e) {
            check("names", 0, "NoSuchClass".compareTo(e.getMessage()));
        }
    }

    /** Every task defines this class anew, and so runs the initializer. */
    static class Parks {
        static {
            long end = System.nanoTime() + 50_000_000;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
