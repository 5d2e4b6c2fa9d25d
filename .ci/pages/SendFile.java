// SPDX-License-Identifier: MIT-0
import java.io.IOException;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.concurrent.*;

/**
 * How much of a file arrives that's sent into a SocketChannel, by one write, or by
 * FileChannel.transferTo?
 *
 *     java SendFile.java
 *
 * All sockets are in blocking mode, and the receiver begins late, so that the buffers are full.
 * By the javadoc of both methods, a socket may take less than there is in non-blocking mode. So
 * a loop around transferTo may end at 0; one that goes on gets there, but keeps its carrier.
 */
class SendFile {
    static final int SIZE = 8 << 20; // more than sockets buffer

    interface Send { long[] of(FileChannel file, SocketChannel socket) throws IOException; }

    public static void main(String[] args) throws Exception {
        Path file = Files.createTempFile("sent", "");
        Files.write(file, new byte[SIZE]);
        System.out.printf("JDK %s%n| Who connects | Who sends | One write sends "
            + "| A loop that ends at 0 sends | One that goes on gets 0 |%n"
            + "|:--|:--|--:|--:|--:|%n", Runtime.version());
        Thread.Builder platform = Thread.ofPlatform();
        Thread.Builder virtual = Thread.ofVirtual();
        row("platform", platform, "platform", platform, file);
        row("platform", platform, "virtual", virtual, file);
        row("virtual", virtual, "virtual", virtual, file);
        row("virtual", virtual, "platform", platform, file);
        Files.delete(file);
    }

    static void row(String connects, Thread.Builder first, String sends, Thread.Builder second,
            Path file) throws Exception {
        long[] written = arrive(first, second, file, SendFile::write);
        long[] ended = arrive(first, second, file, SendFile::endAtZero);
        long[] all = arrive(first, second, file, SendFile::goOn);
        System.out.printf("| %s thread | %s thread | %d%% | %d%% | %d times |%n", connects,
            sends, 100 * written[0] / SIZE, 100 * ended[0] / SIZE, all[1]);
    }

    /** Bytes that arrived, and how often transferTo gave 0. */
    static long[] arrive(Thread.Builder first, Thread.Builder second, Path path, Send send)
            throws Exception {
        var local = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (var server = ServerSocketChannel.open().bind(local);
                var socket = on(first, () -> SocketChannel.open(server.getLocalAddress()));
                var other = server.accept(); var file = FileChannel.open(path)) {
            var arrived = new FutureTask<>(() -> receive(other));
            Thread.ofPlatform().daemon().start(arrived);
            long[] sent = on(second, () -> send.of(file, socket));
            if (!socket.isBlocking()) throw new IllegalStateException("non-blocking");
            socket.shutdownOutput();
            if (arrived.get() != sent[0]) throw new IllegalStateException("lost on its way");
            return sent;
        }
    }

    static <T> T on(Thread.Builder builder, Callable<T> job) throws Exception {
        var task = new FutureTask<>(job);
        builder.start(task);
        return task.get();
    }

    static long receive(SocketChannel socket) throws Exception {
        Thread.sleep(200);
        var buffer = ByteBuffer.allocate(1 << 20);
        long bytes = 0;
        for (int some; (some = socket.read(buffer.clear())) > 0; ) bytes += some;
        return bytes;
    }

    static long[] write(FileChannel file, SocketChannel socket) throws IOException {
        var buffer = file.map(FileChannel.MapMode.READ_ONLY, 0, SIZE);
        return new long[] {socket.write(buffer), 0};
    }

    static long[] endAtZero(FileChannel file, SocketChannel socket) throws IOException {
        long at = 0;
        for (long some; (some = file.transferTo(at, SIZE - at, socket)) > 0; ) at += some;
        return new long[] {at, 0};
    }

    static long[] goOn(FileChannel file, SocketChannel socket) throws IOException {
        long at = 0;
        long zeros = 0;
        while (at < SIZE) {
            long some = file.transferTo(at, SIZE - at, socket);
            if (some == 0) zeros++;
            at += some;
        }
        return new long[] {at, zeros};
    }
}
