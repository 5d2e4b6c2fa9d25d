// SPDX-License-Identifier: MIT-0
import java.lang.reflect.*;
import java.util.*;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What CarrierCheck says of numbers, as a table: each threshold has a line on both sides. What
 * a line doesn't name is as in FREE, the first one. Then what it says of dumps, and of looks at
 * them. Nothing here takes time, or luck. With a word, it prints whole answers.
 */
class Verdicts {
    /** Times in ms; the verdict on warm calls. */
    static final String WARM = """
        takes 50                                               FREE
        calls 0                                                FAILED
        calls 10, failed 11                                    FAILED
        calls 10, failed 9                                     FREE
        crowd.failed 11                                        FAILED
        crowd.failed 10                                        FREE
        changed 1, held 50, kind WAITS                         CANT_TELL

        held 5.5, kind WAITS                                   PINNED
        held 4.5, kind WAITS                                   FREE
        held 5.5, kind AWAITS_CLASS                            BLOCKED
        held 5.5, kind RUNS, busy 0.3                          COMPUTES
        held 5.5, kind RUNS, busy 0.2                          BLOCKED
        held 5.5, kind UNKNOWN, isOther 1                      OTHER
        held 5.5, kind WAITS, isOther 1                        OTHER
        held 5.5, kind HANDS_OVER                              HANDS_OVER
        held 5.5, kind COLLECTS                                COLLECTS

        takes 3000, held 290, longest 290, busy 1              COMPUTES
        takes 3000, held 11, longest 11, busy 1                COMPUTES
        takes 3000, held 9, longest 9, busy 1                  FREE
        takes 3000, held 290, most 290, longest 2, busy 1      SOME

        held 7, noise 8, kind RUNS, busy 1                     CANT_TELL
        held 7, noise 6, kind RUNS, busy 1                     COMPUTES
        held 11, noise 12, kind RUNS, busy 1                   COMPUTES
        held 7, noise 8, kind WAITS                            PINNED

        takes 0.9, held 0.35, kind WAITS                       PINNED
        takes 0.9, held 0.25, kind WAITS                       TOO_SHORT
        takes 0.9                                              TOO_SHORT
        takes 1.1                                              FREE
        takes 0.9, crowd.share 0.6, kind WAITS                 PINNED
        takes 0.9, crowd.share 0.6, kind COLLECTS              TOO_SHORT
        takes 1.1, crowd.share 0.6, kind COLLECTS              COLLECTS
        takes 1.8, crowd.share 0.6, kind WAITS                 PINNED
        takes 1.8, crowd.share 0.6, crowd.longest 5, noise 4   BLOCKED
        takes 1.8, crowd.share 0.6, crowd.longest 4, noise 5   CANT_TELL
        takes 1.8, crowd.share 0.35, kind WAITS                CANT_TELL
        takes 1.8, crowd.share 0.25, kind WAITS                FREE
        takes 1.8, crowd.share 0.2, crowd.lost 0.15, crowd.took 18   CANT_TELL
        takes 1.8, crowd.share 0.2, crowd.lost 0.05            FREE
        takes 2.2, crowd.share 0.2, crowd.lost 0.15, crowd.took 18   FREE
        takes 2.2, crowd.share 0.6, kind RUNS, busy 1          FREE
        takes 1.8, crowd.lost 0.35, crowd.took 10, platform 9  CANT_TELL
        takes 1.8, crowd.lost 0.25, crowd.took 10, platform 9  FREE
        takes 2.2, crowd.lost 0.35, crowd.took 10, platform 9  FREE

        crowd.share 0.55, kind WAITS                           PINNED
        crowd.share 0.45, kind WAITS                           FREE
        crowd.share 0.55, kind RUNS, busy 1                    FREE
        crowd.share 0.55, crowd.longest 9, kind RUNS           BLOCKED
        crowd.share 0.45, crowd.longest 9, kind RUNS           FREE
        crowd.held 110, crowd.longest 9, busy 0.2              BLOCKED
        crowd.held 110, crowd.longest 9, busy 0.3              FREE
        crowd.held 90, crowd.longest 9, busy 0.2               FREE
        crowd.held 110, crowd.longest 9, noise 10              CANT_TELL
        crowd.held 110, kind WAITS                             PINNED
        crowd.held 90, kind WAITS                              FREE
        crowd.held 110, held 4.5, kind WAITS                   PINNED
        crowd.held 110, kind WAITS, isOther 1                  OTHER
        crowd.held 210, crowd.longest 9, noise 8, busy 1       COMPUTES
        crowd.held 210, crowd.longest 9, noise 10, busy 1      CANT_TELL
        crowd.held 210, noise 10, kind WAITS                   PINNED
        crowd.held 190, crowd.longest 190, busy 1              FREE
        crowd.held 110, crowd.longest 99, kind COLLECTS        CANT_TELL
        crowd.held 90, crowd.longest 9, kind COLLECTS          FREE
        crowd.held 180, crowd.longest 9, busy 0.4              COMPUTES
        crowd.held 160, crowd.longest 9, busy 0.4              FREE
        crowd.longest 11, crowd.held 30, kind WAITS            PINNED
        crowd.longest 11, crowd.held 20, kind WAITS            FREE
        crowd.longest 9, crowd.held 30, kind WAITS             FREE
        crowd.longest 11, crowd.held 30, kind WAITS, crowd.waits 0, crowd.busy 1   FREE
        crowd.longest 11, crowd.held 30, busy 1, crowd.waits 1     COMPUTES
        crowd.longest 101                                      CANT_TELL
        crowd.longest 99                                       FREE
        takes 300, crowd.longest 201                           CANT_TELL
        takes 300, crowd.longest 199                           FREE
        crowd.longest 121, noise 40                            CANT_TELL
        crowd.longest 119, noise 40                            FREE
        crowd.longest 121, crowd.noise 40                      CANT_TELL
        crowd.longest 119, crowd.noise 40                      FREE
        crowd.longest 199, busy 1                              FREE
        crowd.held 110, kind WAITS, lost 0.11                  CANT_TELL
        platform 510                                           CANT_TELL
        platform 490                                           FREE
        platform 510, crowd.took 130                           FREE
        takes 2.5, platform 51, crowd.took 5                   CANT_TELL
        takes 2.5, platform 49, crowd.took 5                   FREE
        platform 510, held 5.5, kind WAITS                     PINNED
        crowd.sliced 390                                       FREE
        crowd.sliced 410                                       CANT_TELL
        crowd.sliced 250, crowd.held 180, busy 1               CANT_TELL
        crowd.lost 0.21, crowd.took 500                        CANT_TELL
        crowd.lost 0.19, crowd.took 500                        FREE
        crowd.lost 0.11, crowd.took 500, crowd.held 55         CANT_TELL
        crowd.lost 0.11, crowd.took 500, crowd.held 35         FREE
        crowd.lost 0.11, crowd.took 500, crowd.held 155, busy 1    CANT_TELL
        crowd.lost 0.11, crowd.took 500, crowd.held 135, busy 1    FREE
        crowd.held 110, kind WAITS, sliced 11                  PINNED
        crowd.held 210, crowd.longest 9, busy 1, sliced 11     COMPUTES

        crowd.added 5                                          ADDS
        crowd.added 4                                          FREE
        adding 3                                               ADDS
        adding 2                                               FREE
        crowd.added 20, held 5.5, kind WAITS                   PINNED
        crowd.added 20, held 24, kind RUNS, busy 1             ADDS
        crowd.added 20, held 26, kind RUNS, busy 1             COMPUTES
        crowd.added 20, held 7, noise 8, kind RUNS             ADDS
        crowd.added 20, held 24, kind RUNS, isOther 1          OTHER
        takes 0.9, crowd.added 20, held 0.35, kind RUNS, busy 1    COMPUTES
        takes 1.1, crowd.added 20, held 0.35, kind RUNS, busy 1    ADDS

        lost 0.11                                              CANT_TELL
        lost 0.09                                              FREE
        second 11, share 0.11                                  SOME
        second 11, share 0.09, noise 6                         FREE
        second 11, share 0.09, noise 5                         SOME
        second 9, share 0.11                                   FREE
        takes 30, second 7, share 0.11                         SOME
        takes 30, second 5, share 0.11                         FREE
        most 11, share 0.11, kind WAITS                        SOME
        most 9, share 0.11, kind WAITS                         FREE
        takes 20, most 9, noise 5, kind WAITS                  SOME
        takes 20, second 9, noise 5                            FREE
        takes 20, second 9, noise 5, fifth 4.1                 SOME
        takes 20, second 9, noise 8.9, fifth 4.1               SOME
        takes 20, second 9, noise 9.1, fifth 4.1               CANT_TELL
        takes 20, most 9, noise 9.1, kind WAITS                SOME
        takes 20, second 9, noise 5, fifth 3.9                 FREE
        most 40, second 9, share 0.11, kind RUNS               CANT_TELL
        most 11, second 9, kind RUNS                           CANT_TELL
        most 9, second 9, kind RUNS                            FREE
        most 60, second 9, share 0.11, kind RUNS               SOME
        maybe 5.5                                              CANT_TELL
        maybe 4.5                                              FREE
        worst 11                                               CANT_TELL
        worst 9                                                FREE
        worst 31, noise 10                                     CANT_TELL
        worst 29, noise 10                                     FREE
        unclear 5.5                                            CANT_TELL
        unclear 4.5                                            FREE
        often 0.21                                             CANT_TELL
        often 0.11                                             CANT_TELL
        often 0.09                                             FREE
        often 0.19, sliced 4.6                                 FREE
        often 0.19, sliced 4.4                                 CANT_TELL
        often 0.21, sliced 9                                   CANT_TELL
        often 0.21, sliced 11                                  COMPUTES
        takes 5, unclear 2.2                                   CANT_TELL
        takes 5, unclear 1.8                                   FREE
        sliced 11                                              COMPUTES
        sliced 9                                               FREE
        takes 1.8, sliced 0.5, noise 1.8                       COMPUTES
        takes 1.8, sliced 0.5, noise 2.2                       CANT_TELL
        takes 2.2, sliced 0.5, noise 2.2                       COMPUTES
        sliced 7, held 4                                       COMPUTES
        sliced 7, held 2                                       FREE
        sliced 4, held 2, noise 2.2                            CANT_TELL
        sliced 4, held 2, noise 1.8                            FREE
        sliced 2, held 2, noise 2.2                            FREE
        """;

    /** The verdict on the first twenty, of which held is the sum. */
    static final String COLD = """
        takes 50                                               FREE
        calls 0                                                FAILED
        calls 9, failed 11                                     FAILED
        changed 1                                              CANT_TELL
        crowd.added 5                                          ADDS
        crowd.added 4                                          FREE
        crowd.added 20, held 600, share 0.6, kind WAITS        PINNED
        crowd.added 20, held 400, share 0.6, kind WAITS        ADDS
        share 0.55, kind WAITS                                 PINNED
        share 0.45, kind WAITS                                 SOME
        share 0.15, longest 11, kind WAITS                     PINNED
        share 0.15, longest 9, kind WAITS                      FREE
        share 0.08, longest 11, kind WAITS                     FREE
        share 0.15, longest 110, kind AWAITS_CLASS             BLOCKED
        share 0.15, longest 90, kind AWAITS_CLASS              FREE
        share 0.25, kind WAITS                                 FREE
        held 110, longest 11, kind WAITS                       PINNED
        held 110, longest 11, kind RUNS                        BLOCKED
        held 90, longest 11, kind RUNS                         FREE
        held 110, longest 9, kind RUNS                         FREE
        lost 0.35                                              CANT_TELL
        lost 0.25                                              FREE
        takes 0.9, share 0.45                                  TOO_SHORT
        """;

    /** The verdict on both, if warm calls are FREE. */
    static final String BOTH = """
        share 0.6, longest 60, kind WAITS                      ONCE
        share 0.6, longest 110, kind AWAITS_CLASS              ONCE
        share 0.6, longest 90, kind AWAITS_CLASS               FREE
        share 0.6, longest 9, kind WAITS                       FREE
        share 0.6, longest 60, kind RUNS, busy 1               FREE
        crowd.added 20                                         ONCE
        lost 0.5                                               FREE
        """;

    /** What a dump says of a carrier: 21 has only its stack, 25 that of the mounted thread. */
    static final String DUMP_OF_21 = """
        "ForkJoinPool-1-worker-1" #20 [23601] daemon prio=5 cpu=0.49ms [0x00007f5416afe000]
           Carrying virtual thread #19
        \tat jdk.internal.vm.Continuation.run(java.base@21.0.13/Continuation.java:248)
        \t- waiting on the Class initialization monitor for P$Slow
        \tat java.lang.VirtualThread.runContinuation(java.base@21.0.13/VirtualThread.java:245)

        "ForkJoinPool-1-worker-2" #22 [23602] daemon prio=5 cpu=0.34ms [0x00007f5416bfe000]
           java.lang.Thread.State: TIMED_WAITING (parking)
        \tat jdk.internal.misc.Unsafe.park(java.base@21.0.13/Native Method)

        "ForkJoinPool-1-worker-3" #24 [23604] daemon prio=5 cpu=0.34ms [0x00007f5416bfe000]
           Carrying virtual thread #24
        \tat jdk.internal.vm.Continuation.run(java.base@21.0.13/Continuation.java:248)
        """;

    static final String DUMP_OF_25 = """
        "ForkJoinPool-1-worker-1" #24 [23649] daemon prio=5 cpu=0.63ms [0x00007fcfd4678000]
           Carrying virtual thread #23
        \tat jdk.internal.vm.Continuation.run(java.base@25.0.5.0.3/Continuation.java:251)
           Mounted virtual thread #23
        STACK
        \tat Round.call(CarrierCheck.java:9)
        \tat java.lang.VirtualThread.run(java.base@25.0.5.0.3/VirtualThread.java:460)

        "VM Thread" os_prio=0 cpu=0.89ms
        """;

    static final String PARKS = "at jdk.internal.misc.Unsafe.park(java.base@25/Native Method), "
        + "at java.lang.VirtualThread.parkOnCarrierThread(java.base@25/VirtualThread.java:8), "
        + "at java.lang.Thread.sleep(java.base@25/Thread.java:9)";

    /** Frames, innermost first; whether it's another thread's; the place. */
    static final String PLACES = """
        at a.b.Pool$1.lambda$get$0(Pool.java:7); own; RUNS Pool.get:7
        at a.Pool.get(lib.jar/Pool.java:7); other; RUNS in another virtual thread, at Pool.get:7
        at a.Pool.get(Unknown Source); own; RUNS Pool.get
        at a.Pool$$Lambda/0x0f.run(Unknown Source), at A.b(A.java:1); own; RUNS A.b:1
        at java.util.Vector.get(java.base@25/Vector.java:7); own; RUNS Vector.get, in the JDK
        at java.lang.VirtualThread.park(java.base@25/VirtualThread.java:7); own; null
        at java.lang.VirtualThread.parkNanos(java.base@25/VirtualThread.java:7); own; null
        PARKS, at A.b(A.java:1); own; WAITS Thread.sleep < A.b:1
        at java.lang.Object.wait0(java.base@25/Native Method), \
            at java.lang.Object.wait(java.base@25/Object.java:9), at A.b(A.java:1); own; \
            WAITS Object.wait < A.b:1
        PARKS, at A.c(A.java:3), at java.util.Map.b(java.base@25/Map.java:4), \
            at java.util.Map.a(java.base@25/Map.java:5), at A.b(A.java:1); own; \
            WAITS Thread.sleep < A.c:3 < Map.a < A.b:1
        at java.util.Map.b(java.base@25/Map.java:4), at A.c(A.java:3), \
            at java.util.Map.a(java.base@25/Map.java:5), at A.b(A.java:1); own; \
            RUNS A.c:3 < Map.a < A.b:1
        PARKS, at A.<clinit>(A.java:1), at A.b(A.java:2); own; \
            WAITS Thread.sleep < A.<clinit>:1 < A.b:2 \
            inside the class initializer of A, first used at A.b:2
        PARKS, at L.loadClass(A.java:1), at java.lang.Class.forName0(java.base@25/Native), \
            at java.lang.Class.forName(java.base@25/Class.java:6), \
            at A.b(A.java:2); own; WAITS Thread.sleep < L.loadClass:1 < Class.forName < A.b:2 \
            inside a class loader, for a class that's used at A.b:2
        PARKS, at java.lang.ClassLoader.loadClass(java.base@25/ClassLoader.java:1), \
            at A.b(A.java:2); own; \
            WAITS ClassLoader.loadClass < A.b:2 \
            inside a class loader, for a class that's used at A.b:2
        PARKS, at School.loadClass(A.java:1), at A.b(A.java:2); own; \
            WAITS Thread.sleep < School.loadClass:1 < A.b:2
        at java.lang.VirtualThread.tryYield(java.base@25/VirtualThread.java:4), \
            at java.lang.Thread.yield(java.base@25/Thread.java:5), at A.b(A.java:1); own; \
            RUNS A.b:1 inside Thread.yield
        at A.b(A.java:1), - waiting on the Class initialization monitor for p.Slow; own; \
            AWAITS_CLASS A.b:1 inside p.Slow
        at A.a(A.java:1), at A.b(A.java:2), at A.c(A.java:3), at A.d(A.java:4), \
            at A.e(A.java:5), at A.f(A.java:6); own; \
            RUNS A.a:1 < A.b:2 < ... < A.d:4 < A.e:5 < A.f:6
        at java.util.zip.Inflater.inflate(java.base@25/Native Method), at A.b(A.java:1); own; \
            RUNS A.b:1 native
        at jdk.internal.foreign.abi.DowncallStub/0x0f.invoke(java.base@25/Unknown Source), \
            at java.lang.invoke.LambdaForm$MH/0x0e.invoke(java.base@25/LambdaForm$MH), \
            at A.b(A.java:1); own; RUNS A.b:1 native
        """;

    /** Looks: ms, and who was where: a thread's number, and a letter as below; P parks. */
    static final String LOOKS = """
        0.3 1W, 0.8 1W; delay 1; held 1.0
        0.3 1W; delay 0.5; held 0.5
        0.3 1W, 0.8 1W; delay 0.7; held 0.7
        0.3 1R, 0.8 1R; delay 1; doubtful 1.0
        0.3 1R, 0.8 1R; delay 1, cpu 0.3; held 1.0, worked 1.0
        0.3 1R, 0.8 1R; delay 1, cpu 0.2; doubtful 1.0
        0.3 1R, 0.8 1R; delay 1, cpu 0.2, stop 0.15; held 1.0, worked 1.0
        0.3 1R, 0.8 1W; delay 1, cpu 0.1; held 0.7doubtful 0.3
        0.3 1R, 0.8 1R; delay 1, cpu 0.1, stop 0.5; held 1.0, worked 1.0
        0.3 1R, 0.8 1R; delay 1, cpu 0.05, stop 0.5; doubtful 1.0
        0.3 1N, 0.8 1N; delay 1; still 1.0
        0.3 1N; delay 1; doubtful 1.0
        0.3 1U, 0.8 1U; delay 1; still 1.0
        0.3 1P, 0.8 1W; delay 1; held 0.7
        0.3 1W, 0.8 1P; delay 1; held 0.3
        0.3 1W 2R, 0.8 1W 2R; delay 1; held 1.0
        0.3 1P, 0.8 2P, 1.3 1P; delay 2; held 2.0
        0.3 1P, 0.8 2P, 1.3 1P; delay 2, at once 1;
        0.3 1P, 0.8 2P, 1.3 3P; delay 2;
        0.3 1P, 0.8, 1.3 1P; delay 2;
        """;

    /** Answers: warm; cold; places of both, as somewhere's letters. */
    static final String ANSWERS = """
        ; ; R
        crowd.added 4; ; R
        adding 5, crowd.added 2; ; W
        platform 1000, crowd.took 1050; ; R
        platform 1000, crowd.took 290; ; R
        platform 1000, crowd.took 1050, crowd.share 0.4; ; R
        noise 2.2; lost 0.4; R
        held 50.4, longest 50.4, share 0.99, kind WAITS; share 0.9, kind WAITS; W
        held 12, holding 6, kind WAITS, crowd.added 20; ; C
        held 50, longest 70, kind AWAITS_CLASS, noise 60; ; I
        held 50, kind RUNS, busy 0.1, noise 60; ; N
        held 50, kind RUNS, busy 0.1, noise 40; ; N
        held 50, kind RUNS, busy 0.9; share 0.6, held 700, kind RUNS, busy 1; R
        held 50, kind RUNS, busy 0.9; share 0.6, held 700, kind WAITS; R W
        held 50, kind RUNS, busy 0.9; share 0.6, held 700, kind UNKNOWN; U
        takes 50, sliced 20, noise 12; ; R
        held 40, kind HANDS_OVER; ; R N
        held 50, kind RUNS, busy 0.9; ; Y
        held 45, kind COLLECTS; ; R
        held 20, takes 1.5, kind UNKNOWN, isOther 1; ; U
        held 74, kind WAITS; ; W
        held 76, kind WAITS; ; W
        held 77, kind WAITS; ; W W C
        most 41, share 0.2, kind WAITS; crowd.added 6; L
        most 41, second 31, share 0.2, holding 3, kind RUNS, busy 1; ; R
        most 14, second 2, holding 1; ; R
        takes 20, most 6, second 2, holding 1; ; R
        adding 10, crowd.added 20; ; W
        held 18.5, kind RUNS, busy 1, adding 10, crowd.added 20; ; W
        held 26, kind RUNS, busy 1, adding 10, crowd.added 20; ; R
        ; share 0.6, longest 60, held 60, kind WAITS; C
        takes 0.05; share 0.6, longest 160, held 160, kind AWAITS_CLASS; I
        takes 0.05; takes 0.05; R
        takes 1.8, crowd.share 0.7, crowd.held 14, crowd.took 20, kind WAITS; ; W
        held 4, crowd.held 700, crowd.took 740, crowd.longest 700, kind WAITS; ; W
        held 4, sliced 4.5, crowd.held 700, crowd.took 740, crowd.longest 60, busy 1; ; R
        maybe 8; ; R
        worst 16; ; R
        crowd.longest 160; ; R
        often 0.4; ; R
        lost 0.2; ; R
        changed 1; ; R
        platform 1010; ; R
        crowd.sliced 700, crowd.took 740; ; R
        calls 0; ; R
        calls 0; calls 0; R
        """;

    static final Map<String, String> USUAL = Map.of("calls", "10", "holding", "10",
        "takes", "50", "crowd.took", "55", "platform", "55", "kind", "RUNS");

    /** What the tables call some numbers. */
    static final Map<String, String> SHORT = Map.of("ended", "calls", "median", "held");

    public static void main(String[] args) throws Exception {
        if (args.length > 0) answers();
        else tables();
    }

    static void answers() throws Exception {
        for (String line : ANSWERS.lines().toList()) {
            String[] words = line.split("; ?");
            places = new ArrayList<>();
            for (String who : words[2].split(" "))
                places.add(new Hold(somewhere(who.charAt(0)), 50 - places.size()));
            System.out.println("\n# " + line);
            System.out.print(new Answer("a call", numbers("platform 0, held 0, " + words[1]),
                numbers(words[0]), List.of(empty())).text());
        }
        System.out.print(Answer.title(Verdict.FREE).replaceAll("Java .*;", "Java;"));
        System.out.print(Answer.title(Verdict.SOME).replaceAll("Java .*;", "Java;"));
    }

    static List<Hold> places = List.of();

    static void tables() throws Exception {
        Numbers free = numbers("takes 50");
        Numbers brief = numbers("takes 0.9");
        int wrong = 0;
        for (String line : WARM.lines().toList()) wrong += check(line, Judge::of);
        for (String line : COLD.lines().toList()) wrong += check(line, FirstCalls::of);
        for (String line : BOTH.lines().toList()) {
            wrong += check(line, cold -> Judge.of(cold, free));
            wrong += check(line.replace("FREE", "TOO_SHORT"), cold -> Judge.of(cold, brief));
        }
        wrong += check("share 0.6, longest 60, kind WAITS  SOME", cold ->
            Judge.of(cold, numbers("second 11, share 0.11")));
        for (String line : PLACES.replace("PARKS", PARKS).lines().toList())
            wrong += place(line);
        for (String line : LOOKS.lines().toList()) wrong += late(line);
        List<Mounted> old = Mounted.all(DUMP_OF_21);
        Mounted one = old.getFirst();
        Mounted other = new Mounted(1, "\tat A.b(A.java:1)", false);
        if (old.size() != 1 || one.id() != 19 || one.hasOwnStack()
            || Place.of(one, null).kind() != Kind.AWAITS_CLASS
            || Place.of(other, null).kind() != Kind.UNKNOWN)
            System.out.println(++wrong + ": " + old);
        String poller = "\tat sun.nio.ch.Poller.subPollerLoop(java.base@25/Poller.java:7)";
        wrong += same("pollers", "[]", "" + Mounted.all(DUMP_OF_25.replace("STACK", poller)));
        wrong += nested() + deep() + rounds() + stuck() + calls();
        System.out.println(wrong + " wrong");
        System.exit(0);
    }

    /** Whether the second place is just further out than the first, in the same call. */
    static int nested() {
        Frame a = new Frame("p.A", "a", "1", false, false);
        Frame b = new Frame("p.A", "b", "2", false, false);
        Place inner = new Place(Kind.WAITS, false, List.of(a, b), a, "");
        Place outer = new Place(Kind.WAITS, false, List.of(b), b, "");
        Place runs = new Place(Kind.RUNS, false, List.of(b), b, "");
        Place foreign = new Place(Kind.WAITS, true, List.of(b), b, "");
        Place elsewhere = new Place(Kind.WAITS, false, List.of(a), a, "");
        Tally both = empty();
        both.holds.put("1", new Hold(new Place(Kind.RUNS, false, List.of(a), a, ""), 110));
        both.holds.put("2", new Hold(inner, 100));
        both.holds.put("3", new Hold(outer, 90));
        return same("both are one", "[190.0, 110.0]", told(Holders.of(List.of(both)).places()))
            + same("nested", "[true, false, false, false, false, false]", "" + List.of(
            inner.isBelow(outer), outer.isBelow(inner), inner.isBelow(inner),
            inner.isBelow(runs), inner.isBelow(foreign), inner.isBelow(elsewhere)));
    }

    /** A dump ends after 1,000 frames, hidden ones too: who's that deep may be in the call. */
    static int deep() {
        String frames = "\n\tat A.b(A.java:1)".repeat(998);
        String hidden = "\n\tat A$$Lambda/0x0f.run(Unknown Source)";
        String said = "";
        for (String stack : List.of(frames + hidden, frames + hidden + hidden)) {
            Place place = Place.of(new Mounted(1, stack, true), new Thread(() -> { }));
            said += place == null ? "not in the call; " : place.text();
        }
        return same("deep", "not in the call; A.b:1", said);
    }

    /** A round makes as many calls as it's told, on the threads that it's told. */
    static int calls() throws Exception {
        Queue<Thread> callers = new ConcurrentLinkedQueue<>();
        CarrierCheck.Call call = () -> callers.add(Thread.currentThread());
        Tally virtual = Round.measure(call, 3, Thread.ofVirtual());
        Tally platform = Round.measure(call, 2, Thread.ofPlatform().daemon());
        return same("calls", "3 2, on virtual threads: 3", virtual.times.size() + " "
            + platform.times.size() + ", on virtual threads: "
            + callers.stream().filter(Thread::isVirtual).count());
    }

    /** Four warm rounds, in no order; a crowd; and one on platform threads, all made up. */
    static int rounds() throws Exception {
        Jvm.begin();
        List<Tally> warm = new ArrayList<>();
        for (int i : List.of(3, 1, 4, 2)) {
            Tally round = round(10 * i);
            round.held = i;
            round.doubtful = 2 * i;
            round.longest = i;
            round.worked = 0.5 * i;
            round.betweenTicks = i + 0.5;
            round.ticks = 10;
            round.glances = 10;
            round.mounted = i;
            round.late = 3 * i;
            round.worst = 1.5 * i;
            round.noise = i == 2 ? 9 : i;
            round.stood = i == 1 ? 0.5 : 0;
            round.added = i == 4 ? 1 : 0;
            round.holds.put("w", new Hold(somewhere('W'), i));
            round.holds.put("i", new Hold(somewhere('I'), 1.1 * i));
            round.addedFor.put("u", new Hold(somewhere('U'), 1));
            warm.add(round);
        }
        Tally crowd = round(30);
        crowd.held = 12;
        crowd.longest = 7;
        crowd.betweenTicks = 9;
        crowd.ticks = 10;
        crowd.late = 15;
        crowd.noise = 2;
        crowd.worked = 10;
        crowd.added = 3;
        crowd.holds.put("u", new Hold(somewhere('U'), 12));
        crowd.failures.put("one", new Failure("", 1));
        crowd.failures.put("two", new Failure("", 1));
        Tally platform = round(25);
        Numbers all = Numbers.of(warm, crowd, platform, 0.1);
        crowd.held = 99; // 5 of each call, in which single ones held 2.5
        String single = told(Numbers.of(warm, crowd, platform, 0.1).holders().places());
        crowd.held = 101;
        String together = told(Numbers.of(warm, crowd, platform, 0.1).holders().places());
        crowd.held = 12;
        crowd.changed = true;
        crowd.failures.remove("two");
        crowd.collected = 100;
        return same("all", "4 0 false 1 30.0 2.5 25.0 3.0 4.0 3.0 4.0 9.0 3.0 0.1 4 "
                + "0.2 9.0 6.0 6.0 0.3 30.0 12.0 7.0 0.4 0.1 2.0 8.0 3 2 "
                + "false 0.8 WAITS false 0.5 "
                + "[10.0, 11.0] [4.0]", told(all))
            + same("who holds", "[10.0, 11.0] [12.0]", single + " " + together)
            + same("none seen", "0 0 true 0 NaN 0.0 NaN 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0 0.0 "
                + "0.0 0.0 0.0 0.0 30.0 100.0 7.0 3.3 0.1 2.0 8.0 3 1 false 0.8 "
                + "COLLECTS false 0.8 [12.0] []",
                told(Numbers.of(List.of(empty()), crowd, null, 0.1)));
    }

    static Tally round(double took) {
        Tally round = empty();
        round.times.add(took);
        round.took = took;
        round.whole = took;
        return round;
    }

    static Tally empty() {
        Tally round = new Tally(1);
        round.whole = 10;
        return round;
    }

    static String told(Numbers all) throws Exception {
        List<String> words = new ArrayList<>();
        tell(all, words);
        return String.join(" ", words);
    }

    static void tell(Record record, List<String> words) throws Exception {
        for (RecordComponent part : record.getClass().getRecordComponents()) {
            part.getAccessor().setAccessible(true);
            switch (part.getAccessor().invoke(record)) {
                case Record inside -> tell(inside, words);
                case Double number -> words.add(number.isNaN() ? "NaN" : told(number));
                case List<?> some -> words.add(told(some));
                case Object other -> words.add("" + other);
            }
        }
    }

    static String told(List<?> holds) {
        return holds.stream().map(hold -> told(((Hold) hold).ms())).toList() + "";
    }

    static String told(double number) { return "" + Math.round(10 * number) / 10.0; }

    static int same(String what, String wanted, String said) {
        if (wanted.equals(said)) return 0;
        System.out.println(what + ": " + wanted + "\n but was " + said);
        return 1;
    }

    static int stuck() {
        Map<Long, Thread> callers = new HashMap<>();
        Map<Long, Place> seen = new HashMap<>(Map.of(0L, somewhere('U')));
        for (char what : "CIR-".toCharArray()) {
            Thread one = Thread.startVirtualThread(() -> {
                while (true) java.util.concurrent.locks.LockSupport.park();
            });
            callers.put(one.threadId(), one);
            if (what != '-') seen.put(one.threadId(), somewhere(what));
        }
        Thread ended = Thread.ofVirtual().unstarted(() -> { });
        callers.put(ended.threadId(), ended);
        seen.put(ended.threadId(), somewhere('W'));
        String said = new Stuck(callers, seen).getMessage().replaceAll(" at Verdicts.*", "");
        String twice = new Stuck(callers, Map.of()).getMessage();
        return same("stuck", """
            : HANGS. No call has ended for 40.0 s.
            - Keeps the carrier at A.b:1
            - Keeps the carrier, in another virtual thread
            - Pinned in the class initializer of p.A, first used at Main.main:7, at A.b:1
            - Waits
            - Waits until p.A is initialized, at A.b:1""", said)
            + (twice.matches("(?s).* Waits.* [(]4 calls[)]") ? 0
                : same("stuck, none seen", "4 calls", twice));
    }

    static int place(String line) {
        String[] words = line.replaceAll(" +", " ").split("; ");
        String stack = "\t" + words[0].replaceAll(", (at|-) ", "\n\t$1 ");
        Mounted one = Mounted.all(DUMP_OF_25.replace("STACK", stack)).getFirst();
        Place place = Place.of(one, words[1].equals("own") ? new Thread(() -> { }) : null);
        String said = place == null ? "null" : place.kind() + " " + place.text()
            + (place.inside().isEmpty() ? "" : " inside " + place.inside())
            + (place.isNative() && !place.stays() ? " native" : "");
        if (said.equals(words[2]) && one.id() == 23) return 0;
        System.out.println(line + ", but was " + said);
        return 1;
    }

    static int late(String line) {
        String[] words = line.split("; ?");
        Map<String, String> values = new HashMap<>();
        for (String word : words[1].split(", "))
            values.put(word.replaceAll(" [^ ]+$", ""), word.replaceAll(".* ", ""));
        double cpu = Double.parseDouble(values.getOrDefault("cpu", "0"));
        double stop = Double.parseDouble(values.getOrDefault("stop", "0"));
        List<Look> looks = new ArrayList<>();
        for (String look : words[0].split(", ")) {
            Map<Long, Place> seen = new HashMap<>();
            Set<Long> mounted = new HashSet<>();
            for (String who : look.replaceAll("^\\S+ ?", "").split(" ")) {
                if (who.isEmpty()) continue;
                long id = who.charAt(0);
                mounted.add(id);
                if (who.charAt(1) != 'P') seen.put(id, somewhere(who.charAt(1)));
            }
            double ms = Double.parseDouble(look.split(" ")[0]);
            looks.add(new Look(ms, stop, cpu * ms, new Seen(seen, mounted)));
        }
        double delay = Double.parseDouble(values.get("delay"));
        Late late = new Late(looks, delay, cpu, !values.containsKey("at once"));
        String said = part("held", late.held) + part("still", late.still)
            + part("doubtful", late.doubtful) + part(", worked", late.worked);
        if (said.equals(words.length < 3 ? "" : words[2])) return 0;
        System.out.println(line + " but was " + said);
        return 1;
    }

    static String part(String what, double ms) {
        return ms == 0 ? "" : what + " " + told(ms);
    }

    /**
     * W waits; C, too, in a class initializer, and L in a class loader. I waits until another
     * thread has initialized a class. N is in native code, R runs, Y yields, U isn't known.
     */
    static Place somewhere(char what) {
        Frame frame = new Frame("p.A", "b", "1", false, what == 'N');
        Kind kind = switch (what) {
            case 'W', 'C', 'L' -> Kind.WAITS;
            case 'I' -> Kind.AWAITS_CLASS;
            case 'U' -> Kind.UNKNOWN;
            default -> Kind.RUNS;
        };
        String inside = switch (what) {
            case 'C' -> "the class initializer of p.A, first used at Main.main:7";
            case 'L' -> "a class loader, for a class that's used at Main.main:8";
            case 'I' -> "p.A";
            case 'Y' -> Place.YIELD;
            default -> "";
        };
        return new Place(kind, what == 'U', what == 'U' ? List.of() : List.of(frame),
            what == 'U' ? null : frame, inside);
    }

    interface Rule { Verdict of(Numbers numbers) throws Exception; }

    static int check(String line, Rule rule) throws Exception {
        if (line.isBlank()) return 0;
        String[] words = line.strip().split(" {2,}");
        Verdict said = rule.of(numbers(words[0]));
        if (said.toString().equals(words[1])) return 0;
        System.out.println(line + ", but was " + said);
        return 1;
    }

    static Numbers numbers(String words) throws Exception {
        Map<String, String> values = new HashMap<>(USUAL);
        for (String word : words.split(", "))
            if (!word.isEmpty()) values.put(word.split(" ")[0], word.split(" ")[1]);
        // Mostly, twenty are held by whoever holds one.
        boolean waits = values.get("kind").matches("WAITS|AWAITS_CLASS");
        values.putIfAbsent("crowd.waits", waits ? "1" : "0");
        values.putIfAbsent("crowd.busy", values.getOrDefault("busy", "0"));
        Numbers made = (Numbers) record(Numbers.class, "", values);
        if (!values.isEmpty()) throw new IllegalArgumentException("left: " + values);
        return made;
    }

    /** A record of these values. A record inside has its parts' names, or "crowd.added". */
    static Object record(Class<?> type, String prefix, Map<String, String> values)
            throws Exception {
        RecordComponent[] parts = type.getRecordComponents();
        Object[] all = new Object[parts.length];
        Class<?>[] types = new Class<?>[parts.length];
        for (int i = 0; i < parts.length; i++) {
            types[i] = parts[i].getType();
            String name = SHORT.getOrDefault(parts[i].getName(), parts[i].getName());
            if (types[i].isRecord()) all[i] = record(types[i],
                name.equals("crowd") ? "crowd." : "", values);
            else all[i] = value(types[i], values.remove(prefix + name));
        }
        Constructor<?> constructor = type.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        return constructor.newInstance(all);
    }

    static Object value(Class<?> type, String text) {
        if (type == List.class) return places;
        if (type == Kind.class) return Kind.valueOf(text);
        if (type == boolean.class) return "1".equals(text);
        double number = text == null ? 0 : Double.parseDouble(text);
        if (type == int.class) return (int) number;
        return number;
    }
}
