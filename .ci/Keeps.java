// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.lang.invoke.MethodHandles;
import java.net.*;
import java.nio.channels.Selector;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;

/**
 * Which waits block a virtual thread's carrier? Each wait of the table in .github/blocking.md
 * takes about 50 ms here. Start a JVM for each, as carriers that the scheduler adds stay for a
 * while:
 *
 *     javac -d out VirtualThreadsLab.java .ci/Keeps.java
 *     java -cp out Keeps --quick --runs 1 loader
 */
class Keeps extends VirtualThreadsLab {
    static final List<Experiment> LIST = new ArrayList<>();
    static final ExecutorService PLATFORM = Executors.newFixedThreadPool(20);
    static final BlockingQueue<File> FIFOS = new LinkedBlockingQueue<>();

    public static void main(String[] args) throws IOException {
        byte[] parks = bytes(Parks.class); // read here, as that's a wait for a file
        byte[] caller = bytes(Caller.class);
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
            () -> MethodHandles.lookup().defineHiddenClass(parks, true));
        add("static-call", "calls a static method of a class that another thread initializes",
            () -> {
                Runnable call = callOfNew(parks, caller);
                holding(call);
                call.run();
            });
        add("for-name", "asks `Class.forName` for such a class", () -> {
            Runnable call = callOfNew(parks, caller);
            holding(call);
            Class.forName(Parks.class.getName(), true, call.getClass().getClassLoader());
        });
        add("loader", "loads a class, and its class loader parks", Keeps::load);
        add("file", "reads a pipe or a slow file", Keeps::readFifo);
        add("pool", "waits for a platform thread that reads it", () ->
            PLATFORM.submit(() -> {
                readFifo();
                return null;
            }).get());
        add("sync", "writes a file synchronously, or forces it", () -> {
            File file = File.createTempFile("sync", "");
            try (var out = new RandomAccessFile(file, "rws")) {
                for (int i = 0; i < 50; i++) out.write(new byte[65_536]);
            } finally {
                file.delete();
            }
        });
        add("process", "reads `System.in` or a process's output", () -> {
            var process = new ProcessBuilder("sh", "-c", "sleep 0.05; echo x").start();
            try (var in = process.getInputStream()) {
                check("as a byte", 'x', in.read());
            }
        });
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

    /** Lets a platform thread begin a job that takes 50 ms. */
    static void holding(Runnable job) throws InterruptedException {
        Thread.ofPlatform().start(job);
        Thread.sleep(10);
    }

    static void readSocket() throws IOException {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var client = new Socket(server.getInetAddress(), server.getLocalPort())) {
            client.setSoTimeout(50);
            client.getInputStream().read();
            throw new AssertionError("somebody wrote");
        } catch (SocketTimeoutException e) {
            check("waits", 1, 1);
        }
    }

    /** Reads a FIFO until its writer, a platform thread, closes it. */
    static void readFifo() throws Exception {
        File fifo = fifo();
        Thread writer = Thread.ofPlatform().start(() -> {
            try (var out = new FileOutputStream(fifo)) {
                park();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        try (var in = new FileInputStream(fifo)) {
            check("as the end", -1, in.read());
        }
        writer.join();
        FIFOS.add(fifo);
    }

    /** A FIFO that nobody uses. It makes a hundred at once: no call may start a process. */
    static synchronized File fifo() throws Exception {
        if (FIFOS.isEmpty()) {
            File folder = File.createTempFile("fifos", "");
            String line = "rm $0; mkdir $0; cd $0; mkfifo $(seq 100)";
            new ProcessBuilder("sh", "-c", line, "" + folder).start().waitFor();
            folder.deleteOnExit(); // the last one named is the first one deleted
            for (File fifo : folder.listFiles()) {
                fifo.deleteOnExit();
                FIFOS.add(fifo);
            }
        }
        return FIFOS.take();
    }

    static byte[] bytes(Class<?> type) throws IOException {
        String file = type.getName().replace('.', '/') + ".class";
        try (var in = Keeps.class.getClassLoader().getResourceAsStream(file)) {
            return in.readAllBytes();
        }
    }

    /** Loads both classes anew, so that Parks isn't initialized yet. */
    static Runnable callOfNew(byte[] parks, byte[] caller) throws Exception {
        var loader = new ClassLoader(Keeps.class.getClassLoader()) {
            Class<?> define(byte[] type) { return defineClass(null, type, 0, type.length); }
        };
        loader.define(parks);
        return (Runnable) loader.define(caller).getConstructor().newInstance();
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

    public static class Caller implements Runnable {
        public void run() { Parks.touch(); }
    }

    /** Every task defines this class anew, and so runs the initializer. */
    static class Parks {
        static void touch() { }

        static {
            long end = System.nanoTime() + 50_000_000;
            while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
        }
    }
}
