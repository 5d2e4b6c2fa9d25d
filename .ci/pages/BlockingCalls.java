// SPDX-License-Identifier: MIT-0
import static java.nio.file.StandardOpenOption.*;
import static java.nio.file.StandardWatchEventKinds.*;

import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.*;
import java.util.zip.*;

/**
 * Which calls hold a virtual thread's carrier? These are the calls in the tables of
 * .github/blocking.md, which says what each does; nearly all take 50 ms. Words name some of
 * them, or "all" that need no options.
 *
 *     mkdir fifos; mkfifo fifos/{1..40}
 *     javac -d out .github/CarrierCheck.java .ci/pages/BlockingCalls.java
 *     java -cp out BlockingCalls loader map
 */
public class BlockingCalls {
    static final int FULL = 65_536; // bytes that a pipe of Linux takes
    static final int BIG = 256 * FULL; // bytes that take a disk some 10 ms
    static final Queue<File> FIFOS = new ConcurrentLinkedQueue<>(); // made beforehand
    static final String PARKS = Parks.class.getName();
    static final ThreadLocal<CarrierCheck.Call> CALL_THERE =
        ThreadLocal.withInitial(() -> BlockingCalls::park);
    static final String LOCKS = "perl -MFcntl -e 'open F, \"+<\", shift; fcntl F, F_SETLKW, "
        + "$_ = pack \"ssx4qqlx4\", F_WRLCK; $| = 1; print 1; select $n, $n, $n, 0.05' ";
    static final ExecutorService PLATFORM = Executors.newCachedThreadPool();
    static final List<Asked> CALLS = List.of(
        new Asked("parks", BlockingCalls::park),
        new Asked("tcp", BlockingCalls::read),
        new Asked("wait-for", () ->
            check("as exit code", 0, shell("sleep 0.1").waitFor())), // a fork takes some ms
        new Asked("pool", () ->
            PLATFORM.submit(Executors.callable(BlockingCalls::parkInside)).get()),
        new Asked("inside", BlockingCalls::parkInside),
        new Asked("map", () ->
            new ConcurrentHashMap<String, String>().computeIfAbsent("key", key -> {
                park();
                return "value";
            })),
        new Asked("enters", () -> enter(held())),
        new Asked("wait", BlockingCalls::await),
        new Asked("join", () -> Thread.ofPlatform().start(BlockingCalls::park).join()),
        new Asked("selector", BlockingCalls::select),
        new Asked("init", inInitializer(BlockingCalls::park)),
        new Asked("init-enters", () -> {
            Object monitor = held();
            inInitializer(() -> enter(monitor)).make();
        }),
        new Asked("init-wait", inInitializer(BlockingCalls::await)),
        new Asked("init-select", inInitializer(BlockingCalls::select)),
        new Asked("static-call", () ->
            begun(new Fresh(() -> { }).caller()).run()),
        new Asked("for-name", () -> Class.forName(PARKS, true,
            begun(new Fresh(() -> { }).caller()).getClass().getClassLoader())),
        new Asked("loader", () ->
            Class.forName(PARKS, false, new Fresh(BlockingCalls::park))),
        new Asked("stream", () -> fifo(fifo -> {
            try (var in = new FileInputStream(fifo)) {
                check("as the end", -1, in.read());
            }
        }, BlockingCalls::writeSlowly)),
        new Asked("files", () ->
            fifo(fifo -> Files.readAllBytes(fifo.toPath()), BlockingCalls::writeSlowly)),
        new Asked("full", () -> fifo(fifo -> {
            try (var out = new FileOutputStream(fifo)) {
                out.write(new byte[FULL + 1]);
            }
        }, fifo -> {
            try (var in = new BufferedInputStream(new FileInputStream(fifo))) {
                park();
                check("bytes", FULL + 1, in.readAllBytes().length);
            }
        })),
        new Asked("sync", () -> {
            Path file = Files.createTempFile("sync", "");
            Files.write(file, new byte[10 * FULL], SYNC, DELETE_ON_CLOSE);
        }),
        new Asked("from", () -> {
            try (var in = shell("sleep 0.05; echo x").getInputStream()) {
                check("as a byte", (int) 'x', in.read());
            }
        }),
        new Asked("to", () -> {
            try (var out = shell("sleep 0.05; cat > /dev/null").getOutputStream()) {
                out.write(new byte[FULL + 1]);
            }
        }),
        new Asked("start", () -> {
            for (int i = 0; i < 10; i++) shell("true");
        }),
        new Asked("lock", () -> {
            Path file = Files.createTempFile("lock", "");
            PLATFORM.submit(() -> shell(LOCKS + file).getInputStream().read()).get();
            try (var channel = FileChannel.open(file, WRITE, DELETE_ON_CLOSE)) {
                channel.lock();
            }
        }),
        new Asked("watch", () -> {
            try (var watch = FileSystems.getDefault().newWatchService()) {
                Path.of("").toAbsolutePath().register(watch, ENTRY_DELETE);
                watch.poll(50, TimeUnit.MILLISECONDS);
            }
        }),
        new Asked("yields", () -> forAWhile(Thread::yield)),
        new Asked("collects", () -> forAWhile(System::gc)),
        new Asked("computes", BlockingCalls::computes),
        new Asked("udp", BlockingCalls::receive),
        new Asked("unix", BlockingCalls::readUnix),
        new Asked("pipe", BlockingCalls::readPipe),
        new Asked("piped", BlockingCalls::readPiped),
        new Asked("jul", BlockingCalls::log),
        new Asked("gzip", BlockingCalls::unzip),
        new Asked("direct", BlockingCalls::readDirectly),
        new Asked("mapped", BlockingCalls::force));
    /** These need a command of their own, so "all" isn't for them. */
    static final List<Asked> MORE = List.of(
        new Asked("upcall", () -> // with -Djdk.reflect.useNativeAccessorOnly=true, native code
            BlockingCalls.class.getMethod("park").invoke(null)),
        new Asked("stdin", () -> // something has to write there each 50 ms
            check("as a byte", (int) '\n', System.in.read())),
        new Asked("dns", () -> { // if /etc/resolv.conf says: nameserver 127.0.0.1
            try {
                InetAddress.getByName("a" + System.nanoTime() + ".test.");
            } catch (UnknownHostException e) {
                return; // as answerNames says
            }
            throw new IllegalStateException("it is known");
        }));

    record Asked(String name, CarrierCheck.Call call) { }

    public static void main(String[] args) throws Exception {
        File[] fifos = new File("fifos").listFiles();
        if (fifos != null) FIFOS.addAll(List.of(fifos));
        List<String> names = List.of(args);
        if (names.contains("dns")) answerNames();
        for (Asked asked : CALLS) {
            if (names.contains("all") || names.contains(asked.name))
                CarrierCheck.ask(asked.name, asked.call);
        }
        for (Asked asked : MORE) {
            if (names.contains(asked.name)) CarrierCheck.ask(asked.name, asked.call);
        }
        System.exit(0); // or the pool's threads live on
    }

    static void check(String what, Object expected, Object actual) {
        if (!expected.equals(actual))
            throw new IllegalStateException(what + ": " + actual + ", not " + expected);
    }

    public static void park() {
        long end = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
    }

    /** Reads a TCP socket. */
    static void read() throws Exception {
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var socket = new Socket(server.getInetAddress(), server.getLocalPort());
                var other = server.accept()) {
            PLATFORM.submit(() -> {
                park();
                other.getOutputStream().write(1);
                return null;
            });
            check("as a byte", 1, socket.getInputStream().read());
        }
    }

    /** Lets a platform thread do that in 50 ms. */
    static void later(CarrierCheck.Call action) {
        PLATFORM.submit(() -> {
            park();
            action.make();
            return null;
        });
    }

    /** Receives a packet of UDP. */
    static void receive() throws Exception {
        var local = InetAddress.getLoopbackAddress();
        try (var socket = new DatagramSocket(0, local); var other = new DatagramSocket()) {
            var to = socket.getLocalSocketAddress();
            later(() -> other.send(new DatagramPacket(new byte[1], 1, to)));
            var packet = new DatagramPacket(new byte[9], 9);
            socket.receive(packet);
            check("bytes", 1, packet.getLength());
        }
    }

    /** Reads a Unix domain socket. */
    static void readUnix() throws Exception {
        Path file = Path.of(System.getProperty("java.io.tmpdir"), "unix" + System.nanoTime());
        var address = UnixDomainSocketAddress.of(file);
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            try (var socket = SocketChannel.open(address); var other = server.accept()) {
                later(() -> other.write(ByteBuffer.allocate(1)));
                check("bytes", 1, socket.read(ByteBuffer.allocate(9)));
            }
        } finally {
            Files.delete(file);
        }
    }

    /** Reads a pipe of java.nio. */
    static void readPipe() throws Exception {
        var pipe = Pipe.open();
        try (var in = pipe.source(); var out = pipe.sink()) {
            later(() -> out.write(ByteBuffer.allocate(1)));
            check("bytes", 1, in.read(ByteBuffer.allocate(9)));
        }
    }

    /** Reads a pipe of java.io, which is a buffer with a monitor. */
    static void readPiped() throws Exception {
        try (var in = new PipedInputStream(); var out = new PipedOutputStream(in)) {
            later(() -> {
                out.write(1);
                out.flush();
            });
            check("as a byte", 1, in.read());
        }
    }

    /** Logs by java.util.logging, to an output that takes 50 ms. */
    static void log() {
        var slow = new OutputStream() {
            @Override public void write(int sign) { }
            @Override public void write(byte[] bytes, int from, int length) { park(); }
        };
        var handler = new StreamHandler(slow, new SimpleFormatter());
        handler.publish(new LogRecord(Level.INFO, "a line"));
        handler.flush();
    }

    /** Unzips what comes from a TCP socket. */
    static void unzip() throws Exception {
        var zipped = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(zipped)) {
            out.write(1);
        }
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                var socket = new Socket(server.getInetAddress(), server.getLocalPort());
                var other = server.accept()) {
            later(() -> other.getOutputStream().write(zipped.toByteArray()));
            check("as a byte", 1, new GZIPInputStream(socket.getInputStream()).read());
        }
    }

    /** Reads a file past the system's cache. */
    static void readDirectly() throws Exception {
        Path file = bigFile();
        var direct = (OpenOption) Class.forName("com.sun.nio.file.ExtendedOpenOption")
            .getField("DIRECT").get(null); // javac warns of that class
        try (var in = FileChannel.open(file, READ, direct)) {
            var bytes = ByteBuffer.allocateDirect(BIG + 4_096).alignedSlice(4_096).limit(BIG);
            check("bytes", BIG, in.read(bytes));
        } finally {
            Files.delete(file);
        }
    }

    /** Changes a mapped file, and waits until it's on the disk. */
    static void force() throws Exception {
        Path file = bigFile();
        try (var out = FileChannel.open(file, READ, WRITE)) {
            var bytes = out.map(FileChannel.MapMode.READ_WRITE, 0, BIG);
            for (int i = 0; i < BIG; i += 4_096) bytes.put(i, (byte) 2);
            bytes.force();
        } finally {
            Files.delete(file);
        }
    }

    /** Made by a platform thread, as it's not the call that's asked about. */
    static Path bigFile() throws Exception {
        return PLATFORM.submit(() ->
            Files.write(Files.createTempFile("big", ""), new byte[BIG])).get();
    }

    static void computes() {
        long end = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < end) Thread.onSpinWait();
    }

    static void forAWhile(Runnable step) {
        long end = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < end) step.run();
    }

    /** Answers all who ask for names: there's no such name. It takes 50 ms. */
    static void answerNames() throws IOException {
        var socket = new DatagramSocket(53, InetAddress.getLoopbackAddress());
        PLATFORM.submit(() -> {
            while (true) {
                var query = new DatagramPacket(new byte[512], 512);
                socket.receive(query);
                PLATFORM.submit(() -> {
                    park();
                    query.getData()[2] |= (byte) 0x80; // it's an answer:
                    query.getData()[3] = 3; // no such name
                    socket.send(query);
                    return null;
                });
            }
        });
    }

    static void parkInside() {
        synchronized (Thread.currentThread()) {
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
        synchronized (Thread.currentThread()) {
            Thread.currentThread().wait(50);
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
    static CarrierCheck.Call inInitializer(CarrierCheck.Call call) {
        return () -> {
            CALL_THERE.set(call);
            new Fresh(() -> { }).caller().run();
        };
    }

    public static void initialize() {
        try {
            CALL_THERE.get().make();
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
        final Runnable meanwhile;

        Fresh(Runnable meanwhile) { this.meanwhile = meanwhile; }

        Runnable caller() throws Exception {
            return (Runnable) loadClass(Caller.class.getName()).getConstructor().newInstance();
        }

        @Override public Class<?> loadClass(String name) throws ClassNotFoundException {
            byte[] bytes = BYTES.get(name);
            if (bytes == null) return super.loadClass(name);
            meanwhile.run();
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : defineClass(name, bytes, 0, bytes.length);
        }
    }
}
