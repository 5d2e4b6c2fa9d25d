// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.math.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;
import java.util.function.Function;
import java.util.regex.*;
import java.util.stream.*;
import java.util.zip.CRC32;

/**
 * Makes what the documents quote, and checks that they still say it. A mark in a document is a
 * command; everything between it and the end mark is made from the files in .ci/runs:
 *
 *     <!-- about 25 sleep-wave -->  one ratio in round numbers: the median over five starts
 *     <!-- five 25 -->              the table of the five, from the start in the middle
 *     <!-- ratios 21 25 27 -->      every row: the median over the starts, and their range
 *     <!-- jmh 21 25 -->            ratios, the lab's and JMH's
 *     <!-- keeps 21 25 26 27 -->    which waits block a carrier, by .ci/Keeps.java
 *     <!-- block NAME: heading -->  what the sh blocks below a heading of the handout print
 *     <!-- shell NAME: command -->  what a command prints
 *     <!-- file PATH -->            a whole Java file
 *     <!-- end -->
 *
 * .github/post/post.md is .ci/post.md without its marks, and the pictures come from the same
 * files. It checks these, links, the code that the workshop quotes, its steps and its PDFs. It
 * doesn't read prose.
 *
 *     java .ci/Documents.java check         find what no kept file bears out
 *     java .ci/Documents.java fill          fill the marks, draw the pictures, write post.md
 *     java .ci/Documents.java run           make the kept files that are missing, and fill
 *     java .ci/Documents.java run --texts   remove the kept texts before that
 *     java .ci/Documents.java run --fresh   remove all kept files before that
 *
 * A kept text (.txt) begins with the command that made it; when the mark's command changes, run
 * makes the text again. Nothing else makes a kept file old: whoever changes code knows if it
 * alters words (--texts: minutes) or numbers (--fresh: more than an hour). If one of these is
 * interrupted, run makes the rest.
 */
class Documents {
    static final Path LAB = Path.of("VirtualThreadsLab.java");
    static final Path RUNS = Path.of(".ci/runs");
    static final Path DRAFT = Path.of(".ci/post.md");
    static final Path YOUR_CALL = Path.of(".github/your-call.md");
    static final Path FIVE_ROWS = Path.of(".github/five.svg");
    static final Path POST = Path.of(".github/post");
    static final Path PNG = POST.resolve("five.png");
    static final Path WORKSHOP = Path.of(".github/workshop");
    static final Path HANDOUT = WORKSHOP.resolve("handout.md");
    static final Path TRAINER = WORKSHOP.resolve("trainer.md");
    static final Path STEPS = WORKSHOP.resolve("steps");
    static final List<Path> PAGES = List.of(Path.of("README.md"), Path.of("results.md"),
        Path.of(".github/CONTRIBUTING.md"), Path.of(".github/blocking.md"), YOUR_CALL, DRAFT,
        WORKSHOP.resolve("prepare.md"), HANDOUT, WORKSHOP.resolve("takeaway.md"), TRAINER);
    static final List<String> FIVE =
        List.of("start-time", "sleep-wave", "cpu-primes", "pinning", "thread-count");
    static final List<String> DRAWN = List.of("21", "25", "27");
    static final Set<String> FAULTS = new HashSet<>();

    /** What is wrong with a file; its message begins with the file's name. */
    static class Fault extends RuntimeException {
        Fault(Object file, String why) { super(file + ": " + why); }
    }

    interface Step { void take() throws Exception; }

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.ROOT); // or the numbers would differ from place to place
        String word = String.join(" ", args);
        if (!Files.exists(LAB) || !word.matches("check|fill|run|run --texts|run --fresh")) {
            System.err.println("Documents: run it beside VirtualThreadsLab.java:"
                + " java .ci/Documents.java check|fill|run, or run --texts|--fresh");
            System.exit(2);
        }
        if (word.startsWith("run")) run(word);
        if (word.equals("check")) check();
        else fill();
        int faults = FAULTS.size();
        System.out.println((faults == 0 ? "no" : faults) + (faults < 2 ? " fault" : " faults"));
        System.exit(faults == 0 ? 0 : 1);
    }

    /** Takes the step; if it finds a fault, says so and goes on with the next one. */
    static void attempt(Step step) throws Exception {
        try {
            step.take();
        } catch (Fault fault) {
            report(fault);
        }
    }

    static void require(boolean fine, Object file, String why) {
        if (!fine) throw new Fault(file, why);
    }

    /** A fault that is found twice is said and counted once. */
    static void report(Fault fault) {
        if (FAULTS.add(fault.getMessage())) System.out.println(fault.getMessage());
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new Fault(file, "cannot be read: " + e);
        }
    }

    /** The files of a folder, in order; none if it is missing. */
    static List<Path> list(Path folder) {
        File[] files = folder.toFile().listFiles(File::isFile);
        return files == null ? List.of() : Stream.of(files).map(File::toPath).sorted().toList();
    }

    static List<MatchResult> find(String regex, String text) {
        return Pattern.compile(regex).matcher(text).results().toList();
    }

    /** The first group of each match. */
    static List<String> groups(String regex, String text) {
        return find(regex, text).stream().map(match -> match.group(1)).toList();
    }

    /** The first group of the first match; empty if there is none. */
    static String first(String regex, String text) {
        return groups(regex, text).stream().findFirst().orElse("");
    }

    // --------------------------------------------------------------------- marks
    static final String BEGIN = "<!-- (about|five|ratios|jmh|keeps|block|shell|file) ";
    static final String END = "<!-- end -->";

    /** A mark's begin is <!-- kind words -->; what it said stands between that and its end. */
    record Mark(Path page, String begin, String kind, String words, String said) {
        /** Such as "alone" of "alone: java Alone.java". */
        String name() { return words.split(":")[0]; }

        /** All of "21 25 27", and the first word of "25 sleep-wave". */
        List<String> jdks() { return List.of(words.split(kind.equals("about") ? " .*" : " ")); }
    }

    static List<Mark> marks(Path page) {
        String text = read(page);
        List<Mark> marks = find("(?s)(" + BEGIN + "(.*?)\\s*-->)(.*?)" + END, text).stream()
            .map(match -> new Mark(page, match.group(1), match.group(2), match.group(3),
                match.group(4))).toList();
        require(find(BEGIN + "|" + END, text).size() == 2 * marks.size(), page,
            "a mark without its end, or an end without its mark");
        return marks;
    }

    static void fill() throws Exception {
        make(Files::writeString);
        attempt(Documents::drawPng);
    }

    interface Use { void of(Path file, String text) throws Exception; }

    /** Makes each file that has marks or comes from the kept files: writes or compares it. */
    static void make(Use use) throws Exception {
        for (Path page : PAGES) attempt(() -> use.of(page,
            replaced(page, mark -> mark.begin() + made(mark) + END)));
        attempt(() -> use.of(POST.resolve("post.md"),
            replaced(DRAFT, mark -> mark.said().strip())));
        attempt(() -> use.of(FIVE_ROWS, picture(true)));
        attempt(() -> use.of(Path.of(".github/ratios.svg"), picture(false)));
    }

    /** A page with another text for each of its marks. */
    static String replaced(Path page, Function<Mark, String> by) {
        String text = read(page);
        for (Mark mark : marks(page)) {
            text = text.replace(mark.begin() + mark.said() + END, by.apply(mark));
        }
        return text;
    }

    /** What is to stand between a mark and its end: what it said, if there is a fault. */
    static String made(Mark mark) {
        try {
            for (Kept kept : files(mark)) {
                require(kept.current(), kept.file(),
                    "missing, or made by another command: java .ci/Documents.java run");
            }
            List<String> jdks = mark.jdks();
            String made = switch (mark.kind()) {
                case "about" -> about(jdks.getFirst(), mark.words().replaceFirst("\\d+ ", ""));
                case "five" -> five(jdks.getFirst() + "-all");
                case "ratios" -> ratios(jdks, false);
                case "jmh" -> ratios(jdks, true);
                case "keeps" -> keeps(jdks);
                case "file" -> "```java\n"
                    + read(Path.of(mark.words())).replaceFirst("^// SPDX.*\n", "") + "```";
                default -> output(files(mark).getFirst());
            };
            return mark.kind().equals("about") ? made : "\n\n" + made + "\n\n";
        } catch (Fault fault) {
            String what = mark.kind() + " " + mark.name() + ": ";
            report(new Fault(mark.page(), what + fault.getMessage()));
            return mark.said();
        }
    }

    // --------------------------------------------------------------------- what is made
    /** Two digits below 100, one from there on: 0.107 is 0.11×, 45.9 is 46×, 631 is 600×. */
    static String about(String jdk, String words) {
        List<String> medians = names(List.of(jdk)).stream()
            .filter(name -> name.replace(" | ", " ").contains(words))
            .map(name -> median(cells(jdk + "-all", name))).toList();
        require(medians.size() == 1 && medians.getFirst().endsWith("×"), RUNS,
            "not one ratio for: " + words);
        BigDecimal ratio = new BigDecimal(value(medians.getFirst()));
        BigDecimal round = ratio.round(new MathContext(ratio.doubleValue() < 99.5 ? 2 : 1));
        return "%,f".formatted(round).replaceFirst("\\.?0*$", "") + "×"; // 46.000000
    }

    /** Of the start whose ratios are the nearest to the medians over all starts. */
    static String five(String kind) {
        List<Row> middle = starts(kind).values().stream()
            .map(start -> start.stream().filter(row -> ofFive(row.name())).toList())
            .min(Comparator.comparingDouble(start -> start.stream().mapToDouble(row ->
                Math.abs(power(row.ratio()) - power(median(cells(kind, row.name())))))
            .sum())).orElseThrow();
        return table(1, "What | Platform | Virtual | Ratio", middle.stream().map(row ->
            String.join(" | ", row.name().replace(" | ", ": "), row.platform(), row.virtual(),
                row.ratio())).toList());
    }

    static boolean ofFive(String name) { return FIVE.contains(name.split(" ")[0]); }

    /** A table in Markdown; so many of its columns are aligned to the left. */
    static String table(int left, String head, List<String> rows) {
        int right = head.split(" \\| ").length - left;
        return "| " + head + " |\n|" + "---|".repeat(left) + "--:|".repeat(right) + "\n| "
            + String.join(" |\n| ", rows) + " |";
    }

    /** The medians and ranges over all starts; with JMH, only of the rows that it has, too. */
    static String ratios(List<String> jdks, boolean jmh) {
        Map<String, String> columns = new LinkedHashMap<>();
        for (String jdk : jdks) {
            columns.put(jdk + "-all", "JDK " + jdk + (jmh ? ": lab" : ""));
            if (jmh) columns.put(jdk + "-jmh", "JMH");
        }
        List<String> rows = new ArrayList<>();
        for (String name : names(jdks)) {
            if (jmh && !JMH.containsKey(name)) continue;
            String row = jmh ? name.replace(" |", ",") : name;
            for (String kind : columns.keySet()) row += " | " + spread(cells(kind, name));
            rows.add(row);
        }
        String head = jmh ? "Work" : "Experiment | Work";
        return table(jmh ? 1 : 2, head + " | " + String.join(" | ", columns.values()), rows);
    }

    static String keeps(List<String> jdks) {
        List<String> rows = new ArrayList<>();
        Path help = RUNS.resolve("keeps-" + jdks.getFirst() + ".txt");
        // The list of names in --help: "  loader        loads a class, ..."
        for (MatchResult wait : find("(?m)^  ([a-z][a-z-]*) {2,}([a-z].*)", read(help))) {
            String row = wait.group(2);
            for (String jdk : jdks) row += " | " + carrier(jdk, wait.group(1));
            rows.add(row);
        }
        String head = "The virtual thread | JDK " + String.join(" | JDK ", jdks);
        return table(1 + jdks.size(), head, rows);
    }

    /** What the heartbeat's sentence about a wait means for the carrier. */
    static String carrier(String jdk, String wait) {
        Path file = RUNS.resolve("keeps-" + jdk + ".txt");
        // "- loader: loader: pinned 20 times, ...", and the lines that go on with it
        String said = first("(?m)^- " + wait + ": [^:]*: (.*(?:\n  .*)*)", read(file))
            .replaceAll("\\s+", " ");
        require(said.matches("(pinned \\d|no carrier was free|a carrier was (always )?free).*"),
            file, wait + " tells nothing: " + said);
        if (said.startsWith("pinned")) return "**pinned**";
        boolean blocked = said.startsWith("no carrier");
        if (blocked) return said.contains("carrier computed") ? "busy" : "**blocked**";
        return said.contains("added carriers") ? "blocked, compensated" : "free";
    }

    /** What a command printed, but of each report only its rows and what is said of them. */
    static String output(Kept kept) {
        String text = read(kept.file()).substring(kept.head().length()).strip()
            // The head, down to the table: "- Java 25.0.5, Debian, G1 Young Generation"
            .replaceAll("(?ms)^## VirtualThreadsLab$.*?^- Java (\\d+).*?(?=^\\|)",
                "On JDK $1:\n")
            // Predictions, samples, and the chart with its notes, down to the last of them
            .replaceAll("(?ms)^### (?!What the).*?(?=^### |^- Other programs used )", "")
            .replaceAll("(?m)^- Other programs used .*\n?(  .*\n?)*", "")
            .replaceAll("(?m)^(### What the numbers say|\\|--.*)\n", "")
            .replaceAll("\n{3,}", "\n\n").stripTrailing();
        return "```text\n" + text + "\n```";
    }

    // --------------------------------------------------------------------- pictures
    static final String HEAD = """
        <svg xmlns="http://www.w3.org/2000/svg" width="440" height="%d"
          viewBox="0 0 440 %1$d" role="img">
        <title>Ratios, platform ÷ virtual, over five starts of each JDK</title>
        <style>
        svg { font: 14px sans-serif; }
        .page { fill: #ffffff; }
        text { fill: #1f2328; }
        text.dim { fill: #59636e; font-size: 12px; }
        .grid { stroke: #d1d9e0; }
        .one { stroke: #59636e; }
        .jdk0 { fill: #c2410c; stroke: #c2410c; }
        .jdk1 { fill: #1d4ed8; stroke: #1d4ed8; }
        .jdk2 { fill: #15803d; stroke: #15803d; }
        @media (prefers-color-scheme: dark) {
        .page { fill: #0d1117; }
        text { fill: #f0f6fc; }
        text.dim { fill: #a0a9b3; }
        .grid { stroke: #30363d; }
        .one { stroke: #a0a9b3; }
        .jdk0 { fill: #fb923c; stroke: #fb923c; }
        .jdk1 { fill: #60a5fa; stroke: #60a5fa; }
        .jdk2 { fill: #4ade80; stroke: #4ade80; }
        }
        </style>
        <rect class="page" width="100%%" height="100%%"/>
        """;
    static final String DOT = """
        <circle class="jdk%d" cx="%.1f" cy="%.1f" r="3.5"/>
        """;
    static final String LINE = """
        <line class="%s" stroke-width="%d" x1="%.1f" x2="%.1f" y1="%.0f" y2="%.0f"/>
        """;
    static final String TEXT = """
        <text x="%.1f" y="%.0f"%s>%s</text>
        """;
    static final String DIM = " class=\"dim\"";
    static final double LEFT = 166; // of the axis; the names stand before it

    /** Ratios on a logarithmic axis: a dot for the median, a line for the range. */
    static String picture(boolean five) {
        List<String> names = names(DRAWN).stream().filter(name -> !five || ofFive(name))
            .filter(name -> median(cells("25-all", name)).endsWith("×")).toList();
        DoubleSummaryStatistics powers = names.stream().flatMap(name -> DRAWN.stream()
            .flatMap(jdk -> cells(jdk + "-all", name).stream()))
            .mapToDouble(Documents::power).summaryStatistics();
        int least = (int) Math.floor(powers.getMin() + 0.05);
        int most = (int) Math.ceil(powers.getMax() - 0.05);
        double decade = 250.0 / (most - least);
        double one = LEFT - least * decade; // where 1× is
        int height = 84 + 32 * names.size();
        String svg = HEAD.formatted(height);
        for (int i = 0; i < DRAWN.size(); i++) {
            svg += DOT.formatted(i, LEFT + 14 + 88 * i, 19.0);
            svg += TEXT.formatted(LEFT + 24 + 88 * i, 24.0, "", "JDK " + DRAWN.get(i));
        }
        svg += TEXT.formatted(10.0, 24.0, "", "platform ÷ virtual");
        svg += TEXT.formatted(one - 10, 48.0, " text-anchor=\"end\"", "← platform better");
        svg += TEXT.formatted(one + 10, 48.0, "", "virtual better →");
        int step = most - least > 5 ? 2 : 1; // room for their numbers
        for (int power = least; power <= most; power++) {
            double x = one + power * decade;
            svg += LINE.formatted(power == 0 ? "one" : "grid", 1, x, x, 72.0, height - 8.0);
            if (power % step != 0) continue;
            String ratio = new BigDecimal("1E" + power).toPlainString(); // 0.01, 1, 1000
            svg += TEXT.formatted(x, 66.0, " text-anchor=\"middle\"" + DIM,
                ratio.replace("1000", "1,000") + "×");
        }
        double y = 92;
        for (String name : names) {
            svg += TEXT.formatted(10.0, y, "", name.split(" \\| ")[0]);
            svg += TEXT.formatted(10.0, y + 14, DIM, name.split(" \\| ")[1]);
            for (int i = 0; i < DRAWN.size(); i++) {
                List<String> cells = cells(DRAWN.get(i) + "-all", name);
                if (cells.isEmpty()) continue;
                double at = y - 6 + 8 * i;
                svg += LINE.formatted("jdk" + i, 3, one + decade * power(cells.getFirst()),
                    one + decade * power(cells.getLast()), at, at);
                svg += DOT.formatted(i, one + decade * power(median(cells)), at);
            }
            y += 32;
        }
        return svg + "</svg>\n";
    }

    static double power(String ratio) { return Math.log10(value(ratio)); }

    /** Draws five.svg as a PNG, for where an SVG is refused, and names the SVG in it. */
    static void drawPng() throws Exception {
        String hash = hash(FIVE_ROWS);
        if (holds(PNG, hash)) return;
        int code = new ProcessBuilder("sh", "-c", "rsvg-convert --zoom=2 --output=" + PNG
            + " --background-color=white " + FIVE_ROWS).inheritIO().start().waitFor();
        require(code == 0, PNG, "apt-get install librsvg2-bin, and fill again");
        byte[] png = Files.readAllBytes(PNG);
        byte[] note = ("tEXtSource\0" + hash).getBytes();
        CRC32 crc = new CRC32();
        crc.update(note);
        int end = png.length - 12; // of the last chunk, IEND: length, name and CRC
        Files.write(PNG, ByteBuffer.allocate(png.length + note.length + 8).put(png, 0, end)
            .putInt(note.length - 4).put(note).putInt((int) crc.getValue())
            .put(png, end, 12).array());
    }

    // --------------------------------------------------------------------- rows and cells
    /** A row of a kept file; its name is "pinning | 20 in class init". */
    record Row(String name, String platform, String virtual, String ratio) {
        /** The ratio; if there is none, what was measured of virtual threads. */
        String number() { return (ratio.equals("—") ? virtual : ratio).replace("~", ""); }
    }

    static final Map<Path, List<Row>> ROWS = new HashMap<>();
    static final Map<String, String> JMH = Map.of( // the lab's rows, on two processors
        "start-time | 100 threads", "startTime,100",
        "start-time | 1,000 threads", "startTime,1000",
        "start-time | 10,000 threads", "startTime,10000",
        "sleep-wave | 10,000 × 100 ms", "sleepWave,",
        "pinning | 20 in synchronized", "pinning,");

    /** The rows of each start of the lab, "25-all", or of each pass of JMH, "25-jmh". */
    static Map<Path, List<Row>> starts(String kind) {
        Map<Path, List<Row>> starts = new TreeMap<>();
        for (Path file : list(RUNS)) {
            if (!file.getFileName().toString().startsWith(kind + "-")) continue;
            starts.put(file, ROWS.computeIfAbsent(file,
                kind.endsWith("jmh") ? Documents::jmhRows : Documents::labRows));
        }
        return starts;
    }

    /** "| pinning      | 20 in class init    |  53.7 ms |   506 ms |   0.106× |  0.10× |" */
    static List<Row> labRows(Path file) {
        return groups("(?m)^(\\| [a-z].*)", read(file)).stream().map(line -> {
            String[] cells = line.split("\\s*\\|\\s*"); // the first one is empty
            require(cells.length == 7, file, "not six cells: " + line);
            return new Row(cells[1] + " | " + cells[2], cells[3], cells[4], cells[5]);
        }).toList();
    }

    /** "lab.LabBenchmark.startTime:p0.50","sample",1,24,8.5,NaN,"ms/op",platform,100 */
    static List<Row> jmhRows(Path file) {
        return JMH.entrySet().stream().map(row -> {
            String regex = row.getValue().replace(",",
                ":p0.50\",.*,([\\d.]+),NaN,\"ms/op\",(?:platform|virtual),") + "\\s";
            List<String> times = groups(regex, read(file)); // in this order
            String ratio = times.size() != 2 ? times.size() + " times, not two"
                : "%.3g×".formatted(value(times.get(0)) / value(times.get(1)));
            return new Row(row.getKey(), "", "", ratio);
        }).toList();
    }

    /** A row's number in each start, in ascending order; none if no start has one. */
    static List<String> cells(String kind, String name) {
        Map<Path, String> cells = new TreeMap<>();
        starts(kind).forEach((file, rows) -> cells.put(file, rows.stream()
            .filter(row -> row.name().equals(name)).map(Row::number).findFirst().orElse("—")));
        if (Set.copyOf(cells.values()).equals(Set.of("—"))) return List.of();
        boolean ratios = cells.values().stream().anyMatch(cell -> cell.endsWith("×"));
        cells.forEach((file, cell) -> require(value(cell) > 0 && cell.endsWith("×") == ratios,
            file, name + ": no number as in other starts: " + cell));
        return cells.values().stream().sorted(Comparator.comparingDouble(Documents::value))
            .toList();
    }

    /** The names of all rows, in the order of the reports. */
    static List<String> names(List<String> jdks) {
        return jdks.stream().flatMap(jdk -> starts(jdk + "-all").values().stream())
            .flatMap(List::stream).map(Row::name).distinct().toList();
    }

    /** The number in a cell, in ms if it is a time; NaN if there is none. */
    static double value(String cell) {
        String digits = cell.replaceAll("[~,×]| m?s$", "");
        if (!digits.matches("\\d*\\.?\\d+")) return Double.NaN;
        return Double.parseDouble(digits) * (cell.endsWith(" s") ? 1_000 : 1);
    }

    static String median(List<String> cells) {
        return cells.isEmpty() ? "—" : cells.get(cells.size() / 2);
    }

    /** 45.9× (44.5–46.9), or just 1.00× if all are alike. */
    static String spread(List<String> cells) {
        if (Set.copyOf(cells).size() < 2) return median(cells);
        String range = cells.getFirst() + "–" + cells.getLast();
        return median(cells) + " (" + range.replaceAll("[^\\d.,–]", "") + ")";
    }

    // --------------------------------------------------------------------- kept files
    static final List<String> MEASURED = List.of("all-1.md", "all-2.md", "all-3.md", "all-4.md",
        "all-5.md", "jmh-1.csv", "jmh-3.csv", "jmh-5.csv");

    /** A file in .ci/runs, and a mark that is made from it. */
    record Kept(String name, Mark mark) {
        Path file() { return RUNS.resolve(name); }

        /** Is it there, and if it's a text, made by the mark's command? */
        boolean current() { return Files.exists(file()) && read(file()).startsWith(head()); }

        /** How a text begins: with the command that made it. */
        String head() {
            if (!name.endsWith(".txt")) return "";
            return "$ " + command().strip().replace("\n", "\n$ ") + "\n";
        }

        /** What makes it, as lines of bash. */
        String command() {
            String words = mark.words().replaceFirst("^[^:]*:\\s*", "");
            String java = "\"$JDK" + first("(\\d+)", name) + "/bin/java\" ";
            return switch (mark.kind()) {
                case "shell" -> "source ./jdks.sh > /dev/null\n" + words;
                case "block" -> "source ./jdks.sh > /dev/null\n" + block(words);
                case "keeps" -> """
                    "$JDK21/bin/javac" -d out VirtualThreadsLab.java Keeps.java
                    %s-cp out Keeps --help
                    for name in $(sed -n 's/^ *add("\\([a-z-]*\\)".*/\\1/p' Keeps.java)
                    do %1$s-cp out Keeps --quick --runs 1 $name; done""".formatted(java);
                default -> name.endsWith(".md") ? java + "VirtualThreadsLab.java all --samples"
                    : "JAVA_HOME=\"$JDK21\" mvn -q -f \"$JMH\" package >&2\n" + java + "-jar"
                    + " \"$JMH/target/benchmarks.jar\" -rf csv -rff /dev/stdout -o /dev/null";
            };
        }
    }

    static List<Kept> files(Mark mark) {
        Stream<String> names = switch (mark.kind()) {
            case "file" -> Stream.of();
            case "block", "shell" -> Stream.of(mark.name() + ".txt");
            case "keeps" -> mark.jdks().stream().map(jdk -> "keeps-" + jdk + ".txt");
            default -> mark.jdks().stream().flatMap(jdk -> MEASURED.stream()
                .filter(name -> name.startsWith("all") || mark.kind().equals("jmh"))
                .map(name -> jdk + "-" + name));
        };
        return names.map(name -> new Kept(name, mark)).toList();
    }

    /** All files asked for: first, by start and JDK, what is measured in turns. */
    static Collection<Kept> wanted() throws Exception {
        Map<String, Kept> wanted = new TreeMap<>();
        for (Path page : PAGES) attempt(() -> marks(page).forEach(mark ->
            files(mark).forEach(kept -> wanted.put( // " 3 25 all" of 25-all-3
                kept.name().replaceAll("(\\d+)-(all|jmh)-(\\d)", " $3 $1 $2"), kept))));
        return wanted.values();
    }

    /** The sh blocks of the handout below the heading that has the words. */
    static String block(String words) {
        String section = first("(?ms)^##+ ([^\n]*" + Pattern.quote(words) + ".*?)(?:^##|\\z)",
            read(HANDOUT));
        String lines = String.join("", groups("(?ms)^```sh\n(.*?)^```", section));
        require(!lines.isEmpty(), HANDOUT, "no sh block below: " + words);
        return lines;
    }

    static void run(String word) throws Exception {
        for (Path file : list(RUNS)) {
            boolean text = file.toString().endsWith(".txt") && word.endsWith("--texts");
            if (text || word.endsWith("--fresh")) Files.delete(file);
        }
        for (Kept kept : wanted()) attempt(() -> keep(kept));
    }

    /** In bash: finds the JDKs, as $JDK25, and goes to a new folder that has the code. */
    static final String SETUP = """
        while read -r version java; do
            home=JDK$version
            [ -n "${!home:-}" ] || declare -x "$home=${java%/bin/java}"
        done <<< "$(sh .ci/java --list)"
        JMH=$PWD/.ci/jmh
        new=$(mktemp -d)
        trap 'rm -r "$new"' EXIT
        cp -r {.,.ci,.github/post,.github/workshop}/*.java .github/workshop/{*.sh,steps} "$new"
        cd "$new"
        """;

    /** Runs the command of a file that is missing or old, and keeps what it prints. */
    static void keep(Kept kept) throws Exception {
        if (kept.current()) return;
        System.out.println(kept.name());
        String mine = first("```java\n([^`]*class Mine[^`]*)```", read(YOUR_CALL));
        String setup = SETUP + "cat > Mine.java << 'END'\n" + mine + "END\n";
        boolean own = kept.mark().kind().equals("block"); // the handout has another Mine
        Path printed = Files.createTempFile("printed", ".txt");
        int exit = new ProcessBuilder("bash", "-euc", (own ? SETUP : setup) + kept.command())
            .redirectInput(new File("/dev/null")).redirectOutput(printed.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT).start().waitFor();
        String text = read(printed);
        Files.delete(printed);
        require(exit == 0, kept.file(), "exit code " + exit + " of: " + kept.command()
            + "\nIt printed:\n" + text);
        Files.writeString(kept.file(), kept.head() + text);
    }

    // --------------------------------------------------------------------- check
    static void check() throws Exception {
        List<Path> wanted = wanted().stream().map(Kept::file).toList();
        for (Path file : list(RUNS)) {
            if (!wanted.contains(file)) report(new Fault(file, "no mark asks for it"));
        }
        make((file, text) -> {
            if (!file.equals(DRAFT)) links(file, text); // its links are right for post.md
            same(file, text);
        });
        attempt(Documents::steps);
        attempt(Documents::quotes);
        attempt(() -> madeFrom(PNG, FIVE_ROWS));
        for (String name : List.of("handout", "takeaway", "trainer")) {
            Path text = WORKSHOP.resolve(name + ".md");
            attempt(() -> madeFrom(WORKSHOP.resolve(name + ".pdf"), text));
        }
        attempt(() -> {
            String names = first("(?m)^pictures=\"(.*)\"", read(WORKSHOP.resolve("print.sh")));
            madeFrom(WORKSHOP.resolve("pictures.pdf"), Stream.of(names.split(" "))
                .map(WORKSHOP::resolve).toArray(Path[]::new));
        });
    }

    static void same(Path file, String text) {
        String[] right = (text + "\nnothing more").split("\n");
        String[] lines = (read(file) + "\nnothing more").split("\n");
        int line = Arrays.mismatch(lines, right);
        if (line >= 0) throw new Fault(file, "line " + (line + 1) + " is stale:"
            + " java .ci/Documents.java fill\n    is:        " + lines[line]
            + "\n    should be: " + right[line]);
    }

    /** Do links lead to files and headings? "](file#heading)", "src="file"", "[JEP 444]: " */
    static void links(Path page, String text) {
        String regex = "(?m)(?:]\\(|src=\"|srcset=\"|^\\[[^]]+]: )([^()\\s\"]+)";
        for (String link : groups(regex, text)) {
            String[] target = link.split("#", 2);
            if (target[0].contains(":")) continue; // https://
            Path file = target[0].isEmpty() ? page : page.resolveSibling(target[0]);
            boolean there = Files.exists(file)
                && (target.length == 1 || anchors(read(file)).contains(target[1]));
            if (!there) report(new Fault(page, "leads nowhere: " + link));
        }
    }

    /** The anchors that GitHub gives to headings: "## What's new?" is #whats-new. */
    static List<String> anchors(String text) {
        String prose = text.replaceAll("(?ms)^```.*?^```", "");
        return groups("(?m)^#{1,6} +(.*)", prose).stream().map(heading -> heading.strip()
            .toLowerCase().replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-')).toList();
    }

    /** ShopN.java must be Shop.java after the steps 1 to N, and each step must fit. */
    static void steps() {
        String shop = read(WORKSHOP.resolve("Shop.java"));
        List<Path> steps = list(STEPS);
        for (int n = 1; n <= steps.size(); n++) {
            String patched = patched(shop, steps.get(n - 1));
            if (n > 3) continue; // each of these changes Shop3.java
            shop = patched;
            Path finished = WORKSHOP.resolve("Shop" + n + ".java");
            require(shop.equals(read(finished)), finished,
                "is not Shop.java after the steps 1 to " + n);
        }
    }

    /** A text after a patch; each of its hunks must fit in one place. */
    static String patched(String text, Path step) {
        for (String hunk : read(step).split("(?m)^@@.*\n")) {
            if (hunk.startsWith("---")) continue; // the files' names
            String before = hunk.replaceAll("(?m)^\\+.*\n", "").replaceAll("(?m)^[ -]", "");
            String after = hunk.replaceAll("(?m)^-.*\n", "").replaceAll("(?m)^[ +]", "");
            int at = text.indexOf(before);
            require(at >= 0 && at == text.lastIndexOf(before), step, "does not fit:\n" + hunk);
            text = text.replace(before, after);
        }
        return text;
    }

    /** What the handout quotes or changes must be in the files; so must the trainer's diffs. */
    static void quotes() {
        String code = read(LAB);
        for (Path folder : List.of(WORKSHOP, STEPS)) for (Path file : list(folder)) {
            if (file.toString().matches(".*\\.(java|sh|patch)")) code += read(file);
        }
        String handout = read(HANDOUT);
        List<String> quoted = new ArrayList<>(groups("(?m)^change '(.*?)' '", handout));
        quoted.addAll(groups("(?ms)^```(?:java|bash)\n(.*?)^```", handout));
        for (String line : String.join("\n", quoted).split("\n")) {
            boolean there = code.contains(line.replaceFirst(" +//.*", "").strip());
            if (!there) report(new Fault(HANDOUT, "is nowhere: " + line));
        }
        for (String diff : groups("(?ms)^```diff\n(.*?)^```", read(TRAINER))) {
            if (!code.contains(diff)) report(new Fault(TRAINER, "no such step:\n" + diff));
        }
    }

    static void madeFrom(Path made, Path... sources) throws Exception {
        String how = made.equals(PNG) ? "java .ci/Documents.java fill"
            : "sh .github/workshop/print.sh";
        require(holds(made, hash(sources)), made, "missing, or older than its source: " + how);
    }

    /** A PDF has the hash of its text among its keywords, and the PNG that of its picture. */
    static boolean holds(Path file, String hash) throws Exception {
        return Files.exists(file)
            && Files.readString(file, StandardCharsets.ISO_8859_1).contains(hash);
    }

    /** The name that git gives to a file with the text of these. */
    static String hash(Path... files) throws Exception {
        String text = Stream.of(files).map(Documents::read).collect(Collectors.joining());
        byte[] bytes = text.getBytes();
        MessageDigest sha = MessageDigest.getInstance("SHA-1");
        sha.update(("blob " + bytes.length + "\0").getBytes());
        return HexFormat.of().formatHex(sha.digest(bytes));
    }
}
