// SPDX-License-Identifier: MIT-0
import static java.nio.file.StandardOpenOption.*;

import java.io.*;
import java.net.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;

/**
 * Which calls block a virtual thread's carrier? These are the calls in the tables of
 * .github/blocking.md; nearly all of them take 50 ms.
 *
 *     mkdir fifos; mkfifo fifos/{1..40}
 *     javac -d out VirtualThreadsLab.java .ci/BlockingCalls.java
 *     java -cp out BlockingCalls --quick --runs 1 loader
 */
public class BlockingCalls extends VirtualThreadsLab {
    static final int FULL = 65_536; // bytes that a pipe of Linux takes
    static final Queue<File> FIFOS = new ConcurrentLinkedQueue<>(); // made beforehand
    static final String PARKS = Parks.class.getName();
    static final ThreadLocal<Job> CALL_THERE =
        ThreadLocal.withInitial(() -> BlockingCalls::park);
    static final String LOCKS = "perl -MFcntl -e 'open F, \"+<\", shift; fcntl F, F_SETLKW, "
        + "$_ = pack \"ssx4qqlx4\", F_WRLCK; $| = 1; print 1; select $n, $n, $n, 0.05' ";
    static final ExecutorService PLATFORM = Executors.newCachedThreadPool();
    static final List<Experiment> CALLS = List.of(
        call("parks", "sleeps, waits for a lock or a queue", BlockingCalls::park),
        call("tcp", "reads a TCP socket", () -> {
            try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                    var socket = new Socket(server.getInetAddress(), server.getLocalPort());
                    var other = server.accept()) {
                PLATFORM.submit(() -> {
                    park();
                    other.getOutputStream().write(1);
                    return null;
                });
                Lab.check("as a byte", 1, socket.getInputStream().read());
            }
        }),
        call("wait-for", "Process.waitFor", () ->
            Lab.check("as exit code", 0, shell("sleep 0.05").waitFor())),
        call("pool", "waits for a platform thread that makes the call", () ->
            PLATFORM.submit(Executors.callable(BlockingCalls::parkInside)).get()),
        call("inside", "parks inside synchronized", BlockingCalls::parkInside),
        call("map", "ConcurrentHashMap.computeIfAbsent, and its function parks", () ->
            new ConcurrentHashMap<String, String>().computeIfAbsent("key", key -> {
                park();
                return "value";
            })),
        call("enters", "waits to enter synchronized", () -> enter(held())),
        call("wait", "Object.wait", BlockingCalls::await),
        call("join", "Thread.join of a platform thread",
            () -> Thread.ofPlatform().start(BlockingCalls::park).join()),
        call("selector", "Selector.select", BlockingCalls::select),
        call("init", "parks in a class initializer", inInitializer(BlockingCalls::park)),
        call("init-enters", "waits to enter synchronized there", () -> {
            Object monitor = held();
            inInitializer(() -> enter(monitor)).call();
        }),
        call("init-wait", "Object.wait there", inInitializer(BlockingCalls::await)),
        call("init-select", "Selector.select there", inInitializer(BlockingCalls::select)),
        call("static-call", "calls a class that another thread initializes", () ->
            begun(new Fresh(false).caller()).run()),
        call("for-name", "Class.forName of such a class", () -> Class.forName(PARKS, true,
            begun(new Fresh(false).caller()).getClass().getClassLoader())),
        call("loader", "loads a class, and its class loader parks", () ->
            Class.forName(PARKS, false, new Fresh(true))),
        call("stream", "FileInputStream.read of a FIFO", () -> fifo(fifo -> {
            try (var in = new FileInputStream(fifo)) {
                Lab.check("as the end", -1, in.read());
            }
        }, BlockingCalls::writeSlowly)),
        call("files", "Files.readAllBytes of a FIFO", () ->
            fifo(fifo -> Files.readAllBytes(fifo.toPath()), BlockingCalls::writeSlowly)),
        call("full", "FileOutputStream.write to a full FIFO", () -> fifo(fifo -> {
            try (var out = new FileOutputStream(fifo)) {
                out.write(new byte[FULL + 1]);
            }
        }, fifo -> {
            try (var in = new BufferedInputStream(new FileInputStream(fifo))) {
                park();
                Lab.check("bytes", FULL + 1, in.readAllBytes().length);
            }
        })),
        call("sync", "Files.write with SYNC", () -> {
            Path file = Files.createTempFile("sync", "");
            Files.write(file, new byte[10 * FULL], SYNC, DELETE_ON_CLOSE);
        }),
        call("from", "reads a process's output", () -> {
            try (var in = shell("sleep 0.05; echo x").getInputStream()) {
                Lab.check("as a byte", 'x', in.read());
            }
        }),
        call("to", "writes to a process's full input", () -> {
            try (var out = shell("sleep 0.05; cat > /dev/null").getOutputStream()) {
                out.write(new byte[FULL + 1]);
            }
        }),
        call("start", "ProcessBuilder.start, ten times", () -> {
            for (int i = 0; i < 10; i++) shell("true");
        }),
        call("lock", "FileChannel.lock; another process has the lock", () -> {
            Path file = Files.createTempFile("lock", "");
            PLATFORM.submit(() -> shell(LOCKS + file).getInputStream().read()).get();
            try (var channel = FileChannel.open(file, WRITE, DELETE_ON_CLOSE)) {
                channel.lock();
            }
        }),
        call("upcall", "invoke; native code with -Djdk.reflect.useNativeAccessorOnly=true",
            () -> BlockingCalls.class.getMethod("park").invoke(null)),
        call("computes", "computes", () -> Lab.check("primes", 33_860, countPrimes(400_000))));

    public static void main(String[] args) {
        File[] fifos = new File("fifos").listFiles();
        if (fifos != null) FIFOS.addAll(List.of(fifos));
        System.exit(run(CALLS, args));
    }

    static Experiment call(String name, String summary, Job call) {
        return new Experiment(name, summary, lab -> lab.waiting(name, 1, call));
    }

    public static void park() {
        long end = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
    }

    static void parkInside() {
        synchronized (OWN.get()) {
            park();
        }
    }

    /** An object whose monitor a platform thread has. */
    static Object held() throws InterruptedException {
        Object monitor = new Object();
        begun(() -> {
            synchronized (monitor) {
                park();
            }
        });
        return monitor;
    }

    static void enter(Object monitor) {
        synchronized (monitor) {
            monitor.notify();
        }
    }

    static void await() throws InterruptedException {
        synchronized (OWN.get()) {
            OWN.get().wait(50);
        }
    }

    static void select() throws IOException {
        try (var selector = Selector.open()) {
            selector.select(50);
        }
    }

    /** Lets a platform thread begin a job, and returns it. */
    static Runnable begun(Runnable job) throws InterruptedException {
        PLATFORM.submit(job);
        Thread.sleep(10);
        return job;
    }

    static Process shell(String command) throws IOException {
        return new ProcessBuilder("sh", "-c", command).start();
    }

    interface Use { void of(File file) throws Exception; }

    /** Uses a FIFO of that folder from here and from a platform thread. */
    static void fifo(Use here, Use there) throws Exception {
        File fifo = FIFOS.remove();
        var other = PLATFORM.submit(() -> {
            there.of(fifo);
            return null;
        });
        here.of(fifo);
        other.get();
        FIFOS.add(fifo);
    }

    static void writeSlowly(File fifo) throws IOException {
        var out = new FileOutputStream(fifo);
        park();
        out.close();
    }

    /** Makes that call in the initializer of Parks. */
    static Job inInitializer(Job call) {
        return () -> {
            CALL_THERE.set(call);
            new Fresh(false).caller().run();
        };
    }

    public static void initialize() {
        try {
            CALL_THERE.get().call();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static final Map<String, byte[]> BYTES = Map.of(
        PARKS, bytes(PARKS), Caller.class.getName(), bytes(Caller.class.getName()));

    static byte[] bytes(String name) {
        try (var in = BlockingCalls.class.getResourceAsStream("/" + name + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static class Caller implements Runnable {
        public void run() { Parks.touch(); }
    }

    public static class Parks {
        static void touch() { }

        static { initialize(); }
    }

    /** Loads these two anew, so that Parks isn't initialized yet. */
    static class Fresh extends ClassLoader {
        final boolean slow;

        Fresh(boolean slow) { this.slow = slow; }

        Runnable caller() throws Exception {
            return (Runnable) loadClass(Caller.class.getName()).getConstructor().newInstance();
        }

        @Override public Class<?> loadClass(String name) throws ClassNotFoundException {
            byte[] bytes = BYTES.get(name);
            if (bytes == null) return super.loadClass(name);
            if (slow) park();
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : defineClass(name, bytes, 0, bytes.length);
        }
    }
}
