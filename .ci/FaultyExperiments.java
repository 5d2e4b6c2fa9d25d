// SPDX-License-Identifier: MIT-0
import java.io.IOException;
import java.nio.file.*;
import java.util.*;

/** Experiments with known answers, for commands.md; many of them go wrong on purpose. */
class FaultyExperiments extends VirtualThreadsLab {
    static final Path BEGUN = Path.of("begun");
    static final List<Experiment> LIST = List.of(
        odd("even", lab -> lab.measure("of two gauges", 2, () -> 40, () -> 20)),
        odd("begun", FaultyExperiments::begun),
        odd("after", FaultyExperiments::afterThat),
        odd("wrong", lab ->
            lab.time("sheep", 1, () -> Thread.sleep(1), () -> Lab.check("sheep", 3, 4))),
        odd("throws", lab -> {
            lab.count("before", () -> 6, () -> 3);
            throw new IllegalStateException("as asked");
        }),
        odd("throws-in-2", lab -> {
            if (launch() == 2) throw new IllegalStateException("as asked");
            afterThat(lab);
        }),
        odd("halts-in-2", lab -> {
            System.out.println("as asked");
            if (launch() == 2) Runtime.getRuntime().halt(3);
            afterThat(lab);
        }),
        odd("late", lab -> lab.count("threads", FaultyExperiments::fromTwoOn, () -> {
            fromTwoOn();
            return 0;
        })),
        odd("prints", lab -> lab.count("rows", () -> print("%s"), () -> print("lab.row\t%s"))),
        odd("uneven", lab -> lab.measure("samples", 2, inTurns(9, 10, 40, 20),
            inTurns(9, 5, 20, 10))),
        odd("zero", lab -> lab.measure("a model", 0, () -> 1, () -> 1)),
        odd("exits", lab ->
            lab.time("a job", 1, () -> System.exit(0), () -> Thread.sleep(1))),
        odd("leaves", lab -> lab.count("an interrupt", () -> 1, () -> {
            System.setErr(null);
            System.setOut(null);
            Thread.currentThread().interrupt();
            return 2;
        })),
        odd("naps", lab -> {
            Thread.sleep(1);
            lab.count("in its body", () -> 1, () -> 2);
        }),
        odd("row-forever", lab -> {
            lab.measure("before", 1, () -> 1, () -> 1);
            forever(lab);
        }),
        odd("forever", FaultyExperiments::forever),
        odd("forever-in-3", lab -> {
            if (launch() == 3) forever(lab);
            else afterThat(lab);
        }),
        odd("lingers", lab -> {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    Thread.sleep(1_000);
                    Files.createFile(Path.of("lingered"));
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }));
            forever(lab);
        }),
        odd("stranger", lab -> { // keeps this JVM's output open
            var stranger = new ProcessBuilder("sleep", "300").inheritIO().start();
            Files.writeString(Path.of("stranger"), stranger.pid() + "\n",
                StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            afterThat(lab);
        }));

    public static void main(String[] args) {
        System.exit(run(LIST, args));
    }

    static Experiment odd(String name, Body body) {
        return new Experiment(name, "an odd one", body);
    }

    static void forever(Lab lab) {
        lab.time("of one", 1, () -> Thread.sleep(Long.MAX_VALUE), () -> { });
    }

    /** Counts this launch by a line in a file, on which its row depends. */
    static void begun(Lab lab) throws Exception {
        Files.writeString(BEGUN, "begun\n", StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
        double n = launch();
        lab.measure("in starts", 10, () -> 10 * n, () -> n * n);
    }

    /** A gauge that reads these in turn. The warm-up ends at 40 ms, so it reads the first. */
    static Gauge inTurns(double... numbers) {
        var next = Arrays.stream(numbers).iterator();
        return () -> {
            Thread.sleep(50);
            return next.next();
        };
    }

    /** Returns which launch this is, from 1 on. */
    static int launch() throws IOException { return Files.readAllLines(BEGUN).size(); }

    static void afterThat(Lab lab) throws IOException {
        double n = launch();
        lab.count("after that", () -> n, () -> 2);
    }

    /** A gauge that fails in the first launch. */
    static double fromTwoOn() throws IOException {
        if (launch() == 1) throw new IllegalStateException("as asked");
        return 1_000;
    }

    /** Prints what looks like rows, of a table and of a launch, and then half a line. */
    static double print(String form) {
        String row = "| GET /a | 200 | 7 | 12 | 1 | 3\u00d7 |";
        System.out.println(row + "\n" + row.replaceAll(" ?\\| ?", "\t") + "\n"
            + form.formatted("row\teven\tof two gauges\ttrue\t2.0\t1.0\t1.0\t0.0"));
        System.out.print(form.formatted("end\t"));
        return 7;
    }
}
