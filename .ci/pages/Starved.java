// SPDX-License-Identifier: MIT-0
import com.softwaremill.jox.Channel;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.concurrent.*;
import org.apache.pekko.actor.*;
import org.apache.pekko.pattern.Patterns;
import org.pragmatica.lang.Promise;
import org.pragmatica.lang.io.TimeSpan;
import reactor.core.publisher.*;
import reactor.core.publisher.Sinks.*;

/**
 * Reports of threads that get no turn, with the libraries that they're about; the answers:
 * .github/blocking.md. There are two carriers; what's busy is so for three seconds.
 * .ci/runs/starved.txt says where the libraries are from.
 *
 *     java -cp "out:lib/*" Starved REPORT
 */
class Starved {
    static final int CARRIERS = 2;
    static final long START = System.nanoTime();
    static volatile boolean busy = true;

    public static void main(String[] args) throws Exception {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "" + CARRIERS);
        String said = switch (args[0]) {
            case "jox" -> besideChannels();
            case "reactor" -> emits(EmitFailureHandler.busyLooping(Duration.ofSeconds(3)));
            case "reactor-yields" -> emits(Starved::yields);
            case "pekko" -> besideActors("fork-join-executor { parallelism-max = 2 }");
            case "pekko-virtual" -> besideActors("executor = virtual-thread-executor");
            case "pragmatica" -> timesOut(false);
            case "pragmatica-busy" -> timesOut(true);
            default -> throw new IllegalArgumentException(args[0]);
        };
        System.out.printf("JDK %d, %s: %s%n", Runtime.version().feature(), args[0], said);
        System.exit(0);
    }

    /** A pair hands over by a channel of jox, for each carrier; does another thread run? */
    static String besideChannels() throws Exception {
        for (int i = 0; i < CARRIERS; i++) {
            Channel<Integer> channel = Channel.newBufferedDefaultChannel();
            start(() -> {
                while (busy) channel.send(1);
            });
            start(() -> {
                while (busy) channel.receive();
            });
        }
        Thread.sleep(500);
        long start = System.nanoTime();
        boolean ran = Thread.startVirtualThread(() -> { }).join(Duration.ofSeconds(3));
        return "another thread " + (ran ? "ran" : "hadn't run") + after(start);
    }

    /** While a subscriber sleeps inside of an emission, others try to emit, per carrier. */
    static String emits(EmitFailureHandler handler) throws Exception {
        var sink = Sinks.many().multicast().<Integer>onBackpressureBuffer();
        var slept = new CompletableFuture<String>();
        long start = System.nanoTime();
        sink.asFlux().subscribe(value -> {
            if (value > 0) return;
            sleep(300);
            slept.complete("300 ms of sleep ended" + after(start));
        });
        start(() -> sink.tryEmitNext(0));
        Thread.sleep(100);
        for (int i = 1; i <= CARRIERS; i++) {
            int value = i;
            start(() -> sink.emitNext(value, handler));
        }
        return slept.get();
    }

    /** What reactor-core#4322 suggests in place of the busy loop. */
    static boolean yields(SignalType signal, EmitResult result) {
        Thread.yield();
        return result == EmitResult.FAIL_NON_SERIALIZED && System.nanoTime() - START < 4e9;
    }

    /** Pairs of actors play ball; does a third answer? */
    static String besideActors(String dispatcher) throws Exception {
        var system = ActorSystem.create("a", ConfigFactory.parseString(
            "pekko { stdout-loglevel = ERROR, loglevel = ERROR, actor.default-dispatcher { "
            + dispatcher + " } }").withFallback(ConfigFactory.load()));
        for (int i = 0; i < CARRIERS; i++)
            system.actorOf(Props.create(Echo.class)).tell("ball", actor(system));
        Thread.sleep(500);
        long start = System.nanoTime();
        try {
            Patterns.ask(actor(system), "health", Duration.ofSeconds(3))
                .toCompletableFuture().get();
            return "an answer" + after(start);
        } catch (ExecutionException e) {
            return "no answer" + after(start) + ", " + e.getCause().getClass().getName();
        }
    }

    static ActorRef actor(ActorSystem system) {
        return system.actorOf(Props.create(Echo.class));
    }

    static class Echo extends AbstractActor {
        @Override public Receive createReceive() {
            return receiveBuilder().matchAny(said -> getSender().tell(said, getSelf()))
                .build();
        }
    }

    /** When does a timeout of 300 ms fire, beside a pair that hands over, per carrier? */
    static String timesOut(boolean isBusy) throws Exception {
        for (int i = 0; isBusy && i < CARRIERS; i++) {
            var queue = new ArrayBlockingQueue<Integer>(100);
            start(() -> {
                while (busy) queue.put(1);
            });
            start(() -> {
                while (busy) queue.take();
            });
        }
        Thread.ofPlatform().daemon().start(() -> {
            sleep(3_000);
            busy = false;
        });
        long start = System.nanoTime();
        Promise.promise().timeout(TimeSpan.timeSpan(300).millis()).await();
        return "a timeout of 300 ms fired" + after(start);
    }

    interface Step { void run() throws Exception; }

    static void start(Step step) {
        Thread.startVirtualThread(() -> {
            try {
                step.run();
            } catch (Exception e) {
                if (busy) System.err.println(e);
            }
        });
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static String after(long start) {
        return " after " + (System.nanoTime() - start) / 1_000_000 + " ms";
    }
}
