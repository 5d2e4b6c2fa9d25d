// SPDX-License-Identifier: MIT-0
import java.lang.reflect.*;
import java.util.*;

/**
 * What CarrierCheck says of numbers, as a table. It takes no time, so each threshold has a line
 * on both sides. What a line doesn't name is as in FREE, the first one.
 */
class Verdicts {
    /** Times in ms; the verdict on warm calls. */
    static final String WARM = """
        takes 50                                               FREE
        calls 0                                                FAILED
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
        takes 3000, held 290, longest 2, busy 1                FREE

        held 7, noise 8, kind RUNS, busy 1                     CANT_TELL
        held 7, noise 6, kind RUNS, busy 1                     COMPUTES
        held 11, noise 12, kind RUNS, busy 1                   COMPUTES
        held 7, noise 8, kind WAITS                            PINNED

        takes 0.9, held 0.35, kind WAITS                       PINNED
        takes 0.9, held 0.25, kind WAITS                       TOO_SHORT
        takes 0.9                                              TOO_SHORT
        takes 1.1                                              FREE
        takes 1.8, crowd.share 0.6, kind WAITS                 PINNED
        takes 1.8, crowd.share 0.4, kind WAITS                 FREE
        takes 2.2, crowd.share 0.6, kind WAITS                 FREE
        takes 1.8, crowd.lost 0.35                             CANT_TELL
        takes 1.8, crowd.lost 0.25                             FREE
        takes 2.2, crowd.lost 0.35                             FREE

        crowd.added 5                                          ADDS
        crowd.added 4                                          FREE
        adding 3                                               ADDS
        adding 2                                               FREE
        crowd.added 20, held 5.5, kind WAITS                   PINNED

        lost 0.11                                              CANT_TELL
        lost 0.09                                              FREE
        most 11, share 0.11                                    SOME
        most 11, share 0.09, noise 6                           FREE
        most 11, share 0.09, noise 5                           SOME
        most 9, share 0.11                                     FREE
        takes 30, most 7, share 0.11                           SOME
        takes 30, most 5, share 0.11                           FREE
        maybe 5.5                                              CANT_TELL
        maybe 4.5                                              FREE
        stood 5.5                                              CANT_TELL
        stood 4.5                                              FREE
        takes 5, stood 2.2                                     CANT_TELL
        takes 5, stood 1.8                                     FREE
        sliced 11                                              COMPUTES
        sliced 9                                               FREE
        """;

    /** The verdict on the first twenty, of which held is the sum. */
    static final String COLD = """
        takes 50                                               FREE
        calls 0                                                FAILED
        changed 1                                              CANT_TELL
        crowd.added 5                                          ADDS
        crowd.added 4                                          FREE
        crowd.added 20, held 600, share 0.6, kind WAITS        PINNED
        crowd.added 20, held 400, share 0.6, kind WAITS        ADDS
        share 0.55, kind WAITS                                 PINNED
        share 0.45, kind WAITS                                 SOME
        share 0.25, kind WAITS                                 FREE
        held 110, longest 11, kind WAITS                       PINNED
        held 90, longest 11, kind WAITS                        FREE
        held 110, longest 9, kind WAITS                        FREE
        lost 0.35                                              CANT_TELL
        lost 0.25                                              FREE
        takes 0.9, share 0.45                                  TOO_SHORT
        """;

    /** The verdict on both, if warm calls are FREE. */
    static final String BOTH = """
        share 0.6, longest 60, kind WAITS                      ONCE
        share 0.6, longest 60, kind AWAITS_CLASS               ONCE
        share 0.6, longest 9, kind WAITS                       FREE
        share 0.6, longest 60, kind RUNS, busy 1               FREE
        crowd.added 20                                         ONCE
        lost 0.5                                               FREE
        """;

    static final Map<String, String> USUAL = Map.of("calls", "10", "holding", "10",
        "takes", "50", "crowd.took", "55", "platform", "55", "kind", "RUNS");

    public static void main(String[] args) throws Exception {
        Numbers free = numbers("takes 50");
        Numbers brief = numbers("takes 0.9");
        int wrong = 0;
        for (String line : WARM.lines().toList()) wrong += check(line, Verdict::of);
        for (String line : COLD.lines().toList()) wrong += check(line, Verdict::ofCold);
        for (String line : BOTH.lines().toList()) {
            wrong += check(line, cold -> Verdict.of(cold, free));
            wrong += check(line.replace("FREE", "TOO_SHORT"), cold -> Verdict.of(cold, brief));
        }
        wrong += check("share 0.6, longest 60, kind WAITS  SOME", cold ->
            Verdict.of(cold, numbers("most 11, share 0.11")));
        System.out.println(wrong + " wrong");
    }

    interface Judge { Verdict of(Numbers numbers) throws Exception; }

    static int check(String line, Judge judge) throws Exception {
        if (line.isBlank()) return 0;
        String[] words = line.strip().split(" {2,}");
        Verdict said = judge.of(numbers(words[0]));
        if (said.toString().equals(words[1])) return 0;
        System.out.println(line + ", but was " + said);
        return 1;
    }

    static Numbers numbers(String words) throws Exception {
        Map<String, String> values = new HashMap<>(USUAL);
        for (String word : words.split(", "))
            values.put(word.split(" ")[0], word.split(" ")[1]);
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
            String name = parts[i].getName();
            if (types[i].isRecord()) all[i] = record(types[i],
                name.equals("crowd") ? "crowd." : "", values);
            else all[i] = value(types[i], values.remove(prefix + name));
        }
        Constructor<?> constructor = type.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        return constructor.newInstance(all);
    }

    static Object value(Class<?> type, String text) {
        if (type == List.class) return List.of();
        if (type == Kind.class) return Kind.valueOf(text);
        if (type == boolean.class) return "1".equals(text);
        double number = text == null ? 0 : Double.parseDouble(text);
        if (type == int.class) return (int) number;
        return number;
    }
}
