// SPDX-License-Identifier: MIT-0
import java.io.IOException;
import java.nio.charset.*;
import java.nio.file.*;
import java.util.*;
import java.util.function.Predicate;
import java.util.regex.*;

/**
 * Draws the ratios of a report, of one JDK or of several, as an SVG:
 *
 *     java VirtualThreadsLab.java --starts 5 > report.md
 *     java Chart.java report.md > chart.svg
 *     java Chart.java report.md sleep-wave pinning > chart.svg
 *
 * Names choose experiments. A - in place of the file is standard input. Reports that follow one
 * another, such as those of two machines, make one picture. For a PNG, open the SVG in a
 * browser and take a screenshot, or use librsvg:
 *
 *     rsvg-convert --width=1200 chart.svg --output=chart.png
 *
 * Exit code 0: it's drawn; 1: there's no report in the file; 2: not understood.
 */
class Chart {
    public static void main(String[] args) {
        Locale.setDefault(Locale.ROOT); // an SVG has a point in 0.5 wherever it's drawn
        if (args.length == 0) stop(2, "name the file of a report, or - for standard input");
        List<Measured> jdks = Measured.all(text(args[0]));
        if (jdks.isEmpty()) stop(1, "no report of VirtualThreadsLab in " + args[0]);
        if (jdks.size() > 5) stop(2, "has colors for five JDKs, not " + jdks.size());
        Set<String> rows = new LinkedHashSet<>(); // in the order of the reports
        for (Measured jdk : jdks) rows.addAll(jdk.ratios().keySet());
        List<String> names = List.of(args).subList(1, args.length);
        for (String name : names) {
            if (rows.stream().noneMatch(row -> Measured.experiment(row).equals(name)))
                stop(2, "no ratio of " + name + " in " + args[0]);
        }
        if (!names.isEmpty()) rows.removeIf(row -> !names.contains(Measured.experiment(row)));
        System.out.print(new Picture(jdks, rows).draw());
    }

    static void stop(int code, String why) {
        System.err.println("Chart: " + why);
        System.exit(code);
    }

    /** Reads UTF-8; UTF-16, which older PowerShells write; or what else this system uses. */
    static String text(String file) {
        byte[] bytes = {};
        try {
            bytes = file.equals("-") ? System.in.readAllBytes()
                : Files.readAllBytes(Path.of(file));
        } catch (IOException | InvalidPathException e) {
            stop(2, "can't read " + file + ": " + e);
        }
        boolean isWide = bytes.length > 1 && (bytes[0] & 0xff) >= 0xfe; // the mark of UTF-16
        if (isWide) return new String(bytes, StandardCharsets.UTF_16);
        String text = new String(bytes, StandardCharsets.UTF_8);
        return !text.contains("\ufffd") ? text
            : new String(bytes, Charset.forName(System.getProperty("native.encoding")));
    }
}

/** What one JDK measured, and where: a ratio for each row, such as "mixed median call". */
record Measured(String name, List<String> places, Map<String, Ratio> ratios) {
    /** The head of a JDK's report: "- Java 25.0.5+11, Azul Systems, Inc." */
    static final Pattern JAVA = Pattern.compile("- Java ([^+, ]+).*, .*");
    /**
     * The next two lines, up to what a reader wants to know: "- Linux amd64, processors: 8,
     * carriers: 8" and "- starts: 5, 2026-11-28".
     */
    static final Pattern PLACE = Pattern.compile(
        "- (.*(?:, carriers: \\d+(?=, )|\\d{4}-\\d\\d-\\d\\d(?=, `))).*");
    /**
     * A line of "At a glance": "sleep-wave   10,000, pool 200   │████ 46× (45–47)", or a noisy
     * one, "mixed   median call   ~~~│ ~0.38–0.79×". Groups: the experiment, its work, the
     * ratio, the range. If a console lacks the signs, it has |, #, - and x.
     */
    static final Pattern RATIO = Pattern.compile(
        "([^|\\s]\\S*) +(\\S.*?) +[~█#]*[│|][~█#]* ([~<]?\\d\\S*)[×x](?: \\((.*)\\))?");

    /** What a report calls its rows, and what a reader may. Any others keep their names. */
    static final String[][] NAMES = {
        {"start-time (.*)", "starting $1"},
        {"sleep-wave (.*), pool (.*)", "$1 waits, pool of $2"},
        {"cpu-primes .*", "tasks that compute"},
        {"pinning \\d+ in ReentrantLock", "waits in a ReentrantLock"},
        {"pinning \\d+ in synchronized", "waits in synchronized"},
        {"pinning \\d+ in class init", "waits in a class initializer"},
        {"println (.*)", "printing $1"},
        {"http (.*)", "$1"},
        {"mixed .* tasks", "tasks that compute, then call"},
        {"mixed median call", "a call after computing"},
        {"capacity (.*) by (.*)", "$1, $2 at once"}};

    static List<Measured> all(String text) {
        List<Measured> jdks = new ArrayList<>();
        Measured jdk = new Measured("none", new ArrayList<>(), new HashMap<>());
        for (String line : text.lines().toList()) {
            Matcher java = JAVA.matcher(line);
            Matcher place = PLACE.matcher(line);
            Matcher ratio = RATIO.matcher(line);
            if (java.matches()) {
                jdk = new Measured("JDK " + java.group(1), new ArrayList<>(),
                    new LinkedHashMap<>());
                jdks.add(jdk);
            } else if (place.matches()) {
                jdk.places.add(place.group(1));
            } else if (ratio.matches()) {
                jdk.ratios.put(ratio.group(1) + " " + ratio.group(2),
                    Ratio.of(ratio.group(3), ratio.group(4)));
            }
        }
        jdks.removeIf(one -> one.ratios.isEmpty());
        return jdks;
    }

    static String experiment(String row) { return row.split(" ")[0]; }

    static String forReaders(String row) {
        for (String[] name : NAMES) {
            if (row.matches(name[0])) return row.replaceFirst(name[0], name[1]);
        }
        return row;
    }
}

/** A ratio and its range. A noisy one is just a range, and so is its text. */
record Ratio(String text, double value, double low, double high) {
    static Ratio of(String text, String range) {
        double[] ends = numbers(range == null ? text : range);
        return new Ratio(text + "×", numbers(text)[0], ends[0], ends[ends.length - 1]);
    }

    private static double[] numbers(String text) {
        return Pattern.compile("\\d[\\d,.]*").matcher(text).results().mapToDouble(number ->
            Double.parseDouble(number.group().replace(",", ""))).toArray();
    }

    boolean isNoisy() { return text.startsWith("~"); }
}

/** Draws on a logarithmic axis: a bar begins at 1x, and a thin line is the range. */
class Picture {
    static final String STYLE = """
        <style>
        svg { font: 14px Arial, "Liberation Sans", sans-serif; }
        .title { font-weight: bold; }
        .small { font-size: 12px; paint-order: stroke; stroke-width: 3; }
        .before { text-anchor: end; }
        .centered { text-anchor: middle; }
        .bar { stroke-width: 7; stroke-opacity: 0.45; }
        .range { stroke-width: 2.5; }
        circle { stroke-width: 1.5; }
        .page, .noisy { fill: #ffffff; }
        text { fill: #1f2328; }
        .small { fill: #59636e; stroke: #ffffff; }
        .grid { stroke: #d1d9e0; }
        .one { stroke: #59636e; }
        .jdk0 { color: #d55e00; } .jdk1 { color: #0072b2; } .jdk2 { color: #009e73; }
        .jdk3 { color: #a0408b; } .jdk4 { color: #6e7781; }
        @media (prefers-color-scheme: dark) {
        .page, .noisy { fill: #0d1117; }
        text { fill: #f0f6fc; }
        .small { fill: #a0a9b3; stroke: #0d1117; }
        .grid { stroke: #30363d; }
        .one { stroke: #a0a9b3; }
        .jdk0 { color: #f5a13d; } .jdk1 { color: #56b4e9; } .jdk2 { color: #2fd6a5; }
        .jdk3 { color: #e39fd0; } .jdk4 { color: #c0c8d0; }
        }
        </style>
        """;
    static final int MARK = 5; // pixels: a shorter line is below its mark
    static final int DECADE = 70; // pixels from 1x to 10x
    static final int TOP = 92; // where the first row is
    static final int STEP = 12; // from one JDK to the next
    static final int GAP = 12; // between two rows

    private final List<Measured> jdks;
    private final Set<String> rows;
    private final StringBuilder svg = new StringBuilder();
    private int left; // where the axis begins, at 10 to the power of least
    private int least = -1; // both sides of 1x are there, even if one wins everywhere
    private int most = 1;

    Picture(List<Measured> jdks, Set<String> rows) {
        this.jdks = jdks;
        this.rows = rows;
        for (String row : rows) {
            left = Math.max(left, 50 + 7 * Measured.forReaders(row).length());
            for (Measured jdk : jdks) {
                Ratio ratio = jdk.ratios().get(row);
                if (ratio == null) continue;
                least = Math.min(least, (int) Math.floor(Math.log10(ratio.low())));
                most = Math.max(most, (int) Math.ceil(Math.log10(ratio.high())));
            }
        }
    }

    String draw() {
        int many = jdks.size();
        int bottom = TOP + rows.size() * (STEP * many + GAP) - 10;
        Set<String> notes = new LinkedHashSet<>();
        if (anyRatio(ratio -> x(ratio.high()) - x(ratio.value()) > MARK
                || x(ratio.value()) - x(ratio.low()) > MARK))
            notes.add("thin line: from the lowest ratio to the highest");
        if (anyRatio(Ratio::isNoisy)) notes.add("hollow or ~: too noisy to quote");
        for (Measured jdk : jdks)
            notes.add("VirtualThreadsLab, " + String.join(", ", jdk.places()));
        begin(bottom + 28 + 16 * notes.size());
        text(12, 24, "title", "Time on platform threads ÷ time on virtual threads");
        for (int i = 0; i < many; i++) {
            mark(18 + 122 * i, 44, i, "");
            text(28 + 122 * i, 49, "", jdks.get(i).name());
        }
        axis(bottom);
        int y = TOP;
        for (String row : rows) {
            text(12, y + STEP * (many - 1) / 2 + 5, "", Measured.forReaders(row));
            for (int i = 0; i < many; i++) {
                Ratio ratio = jdks.get(i).ratios().get(row);
                if (ratio != null) ratio(ratio, y + STEP * i, i);
            }
            y += STEP * many + GAP;
        }
        y = bottom + 22;
        for (String note : notes) text(12, y += 16, "small", note);
        return svg + "</svg>\n";
    }

    private boolean anyRatio(Predicate<Ratio> test) {
        return jdks.stream().flatMap(jdk -> rows.stream().map(jdk.ratios()::get))
            .anyMatch(ratio -> ratio != null && test.test(ratio));
    }

    private void begin(int height) {
        double legend = 20 + 122 * jdks.size();
        double width = Math.max(Math.max(500, legend), x(Math.pow(10, most)) + 60);
        add("<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%d' "
            + "viewBox='0 0 %1$.0f %2$d' role='img'>\n", width, height);
        add("<title>Ratios, platform ÷ virtual</title>\n%s", STYLE);
        add("<rect class='page' width='100%%' height='100%%'/>\n");
    }

    private void axis(int bottom) {
        text(x(1) - 8, 74, "small before", "← platform faster");
        text(x(1) + 8, 74, "small", "virtual faster →");
        for (int power = least; power <= most; power++) {
            double value = Math.pow(10, power);
            String label = power < 0 ? "%." + -power + "f×" : "%,.0f×";
            boolean isOne = power == 0;
            add("<path class='%s' d='M%.1f %dV%d'/>\n", isOne ? "one" : "grid", x(value),
                isOne ? 62 : TOP - 12, bottom);
            text(x(value), bottom + 16, "small centered", label.formatted(value));
        }
    }

    private void ratio(Ratio ratio, int y, int jdk) {
        double low = x(ratio.low());
        double high = x(ratio.high());
        line(x(1), x(ratio.value()), y, jdk, "bar");
        line(low, high, y, jdk, "range");
        if (ratio.isNoisy()) {
            mark(low, y, jdk, "noisy");
            mark(high, y, jdk, "noisy");
        } else {
            mark(x(ratio.value()), y, jdk, "");
        }
        if (ratio.high() < 1) text(low - 9, y + 4, "small before", ratio.text());
        else text(high + 9, y + 4, "small", ratio.text());
    }

    private double x(double ratio) { return left + (Math.log10(ratio) - least) * DECADE; }

    private void line(double from, double to, int y, int jdk, String kind) {
        add("<path class='jdk%d %s' stroke='currentColor' d='M%.1f %dH%.1f'/>\n", jdk, kind,
            from, y, to);
    }

    private void mark(double x, int y, int jdk, String kind) {
        add("<circle class='jdk%d %s' fill='currentColor' stroke='currentColor' cx='%.1f' "
            + "cy='%d' r='4'/>\n", jdk, kind, x, y);
    }

    private void text(double x, int y, String kind, String text) {
        add("<text class='%s' x='%.1f' y='%d'>%s</text>\n", kind, x, y,
            text.replace("&", "&amp;").replace("<", "&lt;"));
    }

    /** Adds only ASCII, so that no console's charset can spoil the file. */
    private void add(String format, Object... values) {
        format.formatted(values).codePoints().forEach(sign ->
            svg.append(sign < 128 ? Character.toString(sign) : "&#" + sign + ";"));
    }
}
