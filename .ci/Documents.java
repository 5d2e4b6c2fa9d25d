// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.math.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
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
 *     <!-- file PATH -->            a whole file
 *     <!-- end -->
 *
 * .github/post/post.md is .ci/post.md without its marks, and the pictures come from the same
 * files. It checks these, links, the code that the workshop quotes, its steps and its PDFs. It
 * doesn't read prose.
 *
 *     java .ci/Documents.java run      make what is missing or old (run --fresh: all), and fill
 *     java .ci/Documents.java fill     fill the marks, draw the pictures, write post.md
 *     java .ci/Documents.java check    find what no kept file bears out
 *     java .ci/Documents.java vouch    your change alters no number and no quoted line
 *
 * What is old? A kept file begins with a hash of the code that it comes from. For the reports
 * (.md) that is the experiments and how they are measured, without comments and sentences: a
 * new wording doesn't cost an hour. A kept text (.txt) quotes words, so it's made again, in
 * minutes, if any code changes that its command names; the same goes for JMH and its loops.
 */
class Documents {
    static final Path LAB = Path.of("VirtualThreadsLab.java");
    static final Path RUNS = Path.of(".ci", "runs");
    static final Path DRAFT = Path.of(".ci", "post.md");
    static final Path POST = Path.of(".github", "post");
    static final Path WORKSHOP = Path.of(".github", "workshop");
    static final Path YOUR_CALL = Path.of(".github", "your-call.md");
    static final Path ALL_ROWS = Path.of(".github", "ratios.svg");
    static final Path FIVE_ROWS = Path.of(".github", "five.svg");
    static final Path PNG = POST.resolve("five.png");
    static final List<Path> PAGES = List.of(Path.of("README.md"), Path.of("results.md"),
        Path.of(".github", "CONTRIBUTING.md"), Path.of(".github", "blocking.md"), YOUR_CALL,
        DRAFT, WORKSHOP.resolve("prepare.md"), WORKSHOP.resolve("handout.md"),
        WORKSHOP.resolve("takeaway.md"), WORKSHOP.resolve("trainer.md"));
    static final List<String> FIVE =
        List.of("start-time", "sleep-wave", "cpu-primes", "pinning", "thread-count");
    static final List<String> DRAWN = List.of("21", "25", "27");
    static final int STARTS = 5;
    static final String FILL = "java .ci/Documents.java fill";
    static final String RUN = "java .ci/Documents.java run";
    static int faults;

    /** What is wrong with a file; its message begins with the file's name. */
    static class Fault extends RuntimeException {
        Fault(Object file, String why) { super(file + ": " + why); }
    }

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.ROOT); // or the numbers would differ from place to place
        String word = String.join(" ", args);
        if (!Files.exists(LAB) || !word.matches("run|run --fresh|fill|check|vouch")) {
            System.err.println("Documents: run it beside VirtualThreadsLab.java:"
                + " java .ci/Documents.java run|fill|check|vouch, or run --fresh");
            System.exit(2);
        }
        if (word.startsWith("run")) run(word.endsWith("--fresh"));
        if (word.equals("vouch")) vouch();
        if (word.equals("check")) check();
        else fill();
        System.out.println((faults == 0 ? "no" : faults) + (faults < 2 ? " fault" : " faults"));
        System.exit(faults == 0 ? 0 : 1);
    }

    interface Step { void take() throws Exception; }

    /** Takes the step; if it finds a fault, says so and goes on with the next one. */
    static void attempt(Step step) throws Exception {
        try {
            step.take();
        } catch (Fault fault) {
            report(fault);
        }
    }

    static void report(Fault fault) {
        System.out.println(fault.getMessage());
        faults++;
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            throw new Fault(file, "is missing");
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
    /** <!-- kind words -->said<!-- end -->; said stands in the page from start to end. */
    record Mark(Path page, String kind, String words, String said, int start, int end) {
        /** Such as "shell alone" or "jmh 21 25". */
        String name() { return kind + " " + words.split(":")[0]; }
        /** The leading numbers: 21 and 25 of "jmh 21 25". */
        List<String> jdks() { return groups("\\b(\\d\\d)\\b(?= \\d\\d\\b|$| [a-z])", words); }
        boolean inLine() { return kind.equals("about"); }
    }

    static final String BEGIN = "<!-- (about|five|ratios|jmh|keeps|block|shell|file) ";
    static final String MARK =
        "(?s)" + BEGIN + "((?:(?!-->).)*?)\\s*-->((?:(?!<!-- ).)*)<!-- end -->";

    static List<Mark> marks(Path page) {
        String text = read(page);
        List<Mark> marks = find(MARK, text).stream().map(match -> new Mark(page, match.group(1),
            match.group(2), match.group(3), match.start(3), match.end(3))).toList();
        if (find(BEGIN, text).size() != marks.size()
                || find("<!-- end -->", text).size() != marks.size()) {
            throw new Fault(page, "a mark without its end, or an end without its mark");
        }
        return marks;
    }

    /** The marks of every page that can be read. */
    static Map<Path, List<Mark>> pages() throws Exception {
        Map<Path, List<Mark>> pages = new LinkedHashMap<>();
        for (Path page : PAGES) attempt(() -> pages.put(page, marks(page)));
        return pages;
    }

    static void fill() throws Exception {
        for (var page : pages().entrySet()) {
            StringBuilder text = new StringBuilder(read(page.getKey()));
            for (Mark mark : page.getValue().reversed()) { // from the end: positions stay
                attempt(() -> text.replace(mark.start(), mark.end(), made(mark)));
            }
            Files.writeString(page.getKey(), text);
        }
        attempt(() -> Files.writeString(POST.resolve("post.md"), post()));
        attempt(() -> Files.writeString(FIVE_ROWS, picture(true)));
        attempt(() -> Files.writeString(ALL_ROWS, picture(false)));
        attempt(Documents::drawPng);
    }

    /** The draft of a post without its marks, to be pasted as it is. */
    static String post() {
        StringBuilder text = new StringBuilder(read(DRAFT));
        for (Mark mark : marks(DRAFT).reversed()) {
            int start = text.lastIndexOf("<!-- ", mark.start());
            int end = mark.end() + "<!-- end -->".length();
            text.replace(start, end, mark.inLine() ? mark.said() : mark.said().strip());
        }
        return text.toString();
    }

    /** What is to stand between a mark and its end. */
    static String made(Mark mark) {
        try {
            for (String name : files(mark)) {
                String why = old(name, mark);
                if (!why.isEmpty()) throw new Fault(RUNS.resolve(name), why);
            }
            String made = content(mark).strip();
            return mark.inLine() ? made : "\n\n" + made + "\n\n";
        } catch (Fault e) {
            throw new Fault(mark.page(), mark.name() + ": " + e.getMessage());
        }
    }

    static String content(Mark mark) {
        List<String> jdks = mark.jdks();
        return switch (mark.kind()) {
            case "about" -> about(jdks.getFirst(), mark.words().substring(3));
            case "five" -> five(jdks.getFirst());
            case "ratios" -> ratios(jdks);
            case "jmh" -> jmh(jdks);
            case "keeps" -> keeps(jdks);
            case "file" -> quoted(Path.of(mark.words()));
            default -> output(body(files(mark).getFirst(), mark));
        };
    }

    // --------------------------------------------------------------------- what is made
    /** Two digits below 100, one from there on: 0.107 is 0.11×, 45.9 is 46×, 631 is 600×. */
    static String about(String jdk, String words) {
        List<String> rows = names(List.of(jdk)).stream()
            .filter(name -> name.replace(" | ", " ").contains(words)).toList();
        if (rows.size() != 1) throw new Fault(RUNS, rows.size() + " rows for: " + words);
        BigDecimal ratio = new BigDecimal(value(median(cells(jdk + "-all", rows.getFirst(),
            Row::ratio))));
        BigDecimal round = ratio.round(new MathContext(ratio.doubleValue() < 99.5 ? 2 : 1));
        return "%,f".formatted(round).replaceFirst("\\.?0*$", "") + "×"; // 46.000000
    }

    /** Of the start whose ratios are the nearest to the medians over all starts. */
    static String five(String jdk) {
        double least = Double.MAX_VALUE;
        List<Row> middle = List.of();
        for (List<Row> all : starts(jdk + "-all")) {
            List<Row> start = all.stream().filter(row -> ofFive(row.name())).toList();
            double apart = 0;
            for (Row row : start) {
                String typical = median(cells(jdk + "-all", row.name(), Row::ratio));
                apart += Math.abs(Math.log(value(row.ratio()) / value(typical)));
            }
            if (apart < least) {
                least = apart;
                middle = start;
            }
        }
        String text = "| What | Platform | Virtual | Ratio |\n|---|--:|--:|--:|\n";
        for (Row row : middle) {
            text += "| " + row.name().replace(" | ", ": ") + " | " + row.platform() + " | "
                + row.virtual() + " | " + row.ratio() + " |\n";
        }
        return text;
    }

    static boolean ofFive(String name) { return FIVE.contains(name.split(" \\| ")[0]); }

    static String ratios(List<String> jdks) {
        String text = "| Experiment | Work | JDK " + String.join(" | JDK ", jdks)
            + " |\n|---|---|" + "--:|".repeat(jdks.size()) + "\n";
        for (String name : names(jdks)) {
            text += "| " + name + " |";
            for (String jdk : jdks) {
                List<String> cells = cells(jdk + "-all", name, Row::ratio);
                if (cells.isEmpty()) cells = cells(jdk + "-all", name, Row::virtual);
                text += " " + spread(cells) + " |";
            }
            text += "\n";
        }
        return text;
    }

    static String jmh(List<String> jdks) {
        String text = "| Work |";
        for (String jdk : jdks) text += " JDK " + jdk + ": lab | JMH |";
        text += "\n|---|" + "--:|--:|".repeat(jdks.size()) + "\n";
        for (String name : names(jdks)) {
            if (!JMH.containsValue(name)) continue;
            text += "| " + name.replace(" |", ",") + " |";
            for (String jdk : jdks) {
                text += " " + spread(cells(jdk + "-all", name, Row::ratio)) + " | "
                    + spread(cells(jdk + "-jmh", name, Row::ratio)) + " |";
            }
            text += "\n";
        }
        return text;
    }

    static String keeps(List<String> jdks) {
        String text = "| The virtual thread | JDK " + String.join(" | JDK ", jdks)
            + " |\n|---|" + "---|".repeat(jdks.size()) + "\n";
        Path help = RUNS.resolve("keeps-" + jdks.getFirst() + ".txt");
        // The list of names in --help: "  loader        loads a class, ..."
        for (MatchResult wait : find("(?m)^  ([a-z][a-z-]*) {2,}([a-z].*)", read(help))) {
            text += "| " + wait.group(2) + " |";
            for (String jdk : jdks) {
                Path file = RUNS.resolve("keeps-" + jdk + ".txt");
                // "- loader: loader: pinned 20 times, ...", and the lines that go on with it
                String said = first("(?m)^- " + wait.group(1) + ": [^:]*: (.*(?:\n  .*)*)",
                    read(file)).replaceAll("\\s+", " ");
                String kept = kept(said);
                if (kept.isEmpty()) throw new Fault(file, wait.group(1) + ": " + said);
                text += " " + kept + " |";
            }
            text += "\n";
        }
        return text;
    }

    /** What the heartbeat's sentence means for the carrier; empty if it tells nothing. */
    static String kept(String said) {
        if (said.matches(".*(too busy|not known|failed).*")) return "";
        if (said.startsWith("pinned ")) return "**pinned**";
        boolean blocked = said.contains("no carrier was free");
        if (blocked) return said.contains("carrier computed") ? "busy" : "**blocked**";
        if (!said.matches("a carrier was (always )?free.*")) return "";
        return said.contains("added carriers") ? "blocked, compensated" : "free";
    }

    static String quoted(Path file) {
        String code = read(file).replaceFirst("^// SPDX.*\n", "");
        return "```" + (("" + file).endsWith(".sh") ? "bash" : "java") + "\n" + code + "```";
    }

    /** An output as it is, but of each report only its rows and what is said of them. */
    static String output(String printed) {
        StringBuilder text = new StringBuilder("```text\n");
        boolean shown = true;
        boolean last = false; // in the last item of a report
        for (String line : printed.strip().lines().toList()) {
            if (last && !line.startsWith("  ")) {
                shown = true;
                last = false;
            }
            if (line.startsWith("- Java ")) { // "- Java 25.0.5, Debian, G1 Young Generation"
                text.append("On JDK " + first("(\\d+)", line) + ":\n");
            }
            if (line.matches("## VirtualThreadsLab|### .*")) shown = false;
            if (line.contains("| Platform |")) shown = true;
            last |= line.startsWith("- Other programs used");
            boolean twice = line.isEmpty() && text.toString().endsWith("\n\n");
            if (shown && !line.startsWith("|--") && !twice) text.append(line).append("\n");
            if (line.startsWith("### What the numbers say")) shown = true;
        }
        return text.toString().stripTrailing() + "\n```";
    }

    // --------------------------------------------------------------------- pictures
    static final int WIDTH = 440;
    static final int LEFT = 166; // of the axis; the names stand before it
    static final int LINE = 32; // from row to row
    static final String STYLE = """
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
        """;

    /** Ratios on a logarithmic axis: a dot for the median, a line for the range. */
    static String picture(boolean five) {
        List<String> names = names(DRAWN).stream()
            .filter(name -> !cells("25-all", name, Row::ratio).isEmpty())
            .filter(name -> !five || ofFive(name)).toList();
        List<Double> all = new ArrayList<>();
        for (String jdk : DRAWN) for (String name : names) {
            for (String cell : cells(jdk + "-all", name, Row::ratio)) all.add(value(cell));
        }
        int least = (int) Math.floor(Math.log10(Collections.min(all)) + 0.05); // a power of 10
        int most = (int) Math.ceil(Math.log10(Collections.max(all)) - 0.05);
        double decade = (WIDTH - 24.0 - LEFT) / (most - least);
        double one = LEFT - least * decade; // where 1× is
        int height = 84 + LINE * names.size();
        StringBuilder svg = new StringBuilder("""
            <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"
              viewBox="0 0 %1$d %2$d" role="img">
            <title>Ratios, platform ÷ virtual, over five starts of each JDK</title>
            <style>
            %s</style>
            <rect class="page" width="100%%" height="100%%"/>
            """.formatted(WIDTH, height, STYLE));
        for (int i = 0; i < DRAWN.size(); i++) {
            svg.append(dot(LEFT + 14 + 88 * i, 19, i));
            svg.append(text(LEFT + 24 + 88 * i, 24, "", "JDK " + DRAWN.get(i)));
        }
        svg.append(text(10, 24, "", "platform ÷ virtual"));
        svg.append(text(one - 10, 48, "end", "← platform better"));
        svg.append(text(one + 10, 48, "", "virtual better →"));
        int step = most - least > 5 ? 2 : 1; // room for their numbers
        for (int power = least; power <= most; power++) {
            double x = one + power * decade;
            String ratio = new BigDecimal("1E" + power).toPlainString(); // 0.01, 1, 1000
            svg.append(line(power == 0 ? "one" : "grid", 1, x, x, 72, height - 8));
            if (power % step != 0) continue;
            svg.append(text(x, 66, "middle", ratio.replace("1000", "1,000") + "×"));
        }
        for (int row = 0; row < names.size(); row++) {
            double y = 92 + LINE * row;
            String[] name = names.get(row).split(" \\| ");
            svg.append(text(10, y, "", name[0])).append(text(10, y + 14, "dim", name[1]));
            for (int i = 0; i < DRAWN.size(); i++) {
                List<String> cells = cells(DRAWN.get(i) + "-all", names.get(row), Row::ratio);
                double from = one + decade * Math.log10(value(cells.getFirst()));
                double to = one + decade * Math.log10(value(cells.getLast()));
                double middle = one + decade * Math.log10(value(median(cells)));
                svg.append(line("jdk" + i, 3, from, to, y - 6 + 8 * i, y - 6 + 8 * i));
                svg.append(dot(middle, y - 6 + 8 * i, i));
            }
        }
        return svg.append("</svg>\n").toString();
    }

    static String line(String type, int width, double x1, double x2, double y1, double y2) {
        return ("<line class=\"%s\" stroke-width=\"%d\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\""
            + " y2=\"%.0f\"/>\n").formatted(type, width, x1, x2, y1, y2);
    }

    static String dot(double x, double y, int jdk) {
        return "<circle class=\"jdk%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n".formatted(jdk,
            x, y);
    }

    /** A text whose left end is at x; with "end" or "middle", that part of it. */
    static String text(double x, double y, String how, String text) {
        String anchor = how.matches("end|middle") ? " text-anchor=\"" + how + "\"" : "";
        String type = how.isEmpty() || how.equals("end") ? "" : " class=\"dim\"";
        return "<text x=\"%.1f\" y=\"%.0f\"%s%s>%s</text>\n".formatted(x, y, anchor, type,
            text);
    }

    /** Draws five.svg as a PNG, for where an SVG is refused, and names the SVG in it. */
    static void drawPng() throws Exception {
        if (holds(PNG, hash(Files.readAllBytes(FIVE_ROWS)))) return;
        try {
            Process drawing = new ProcessBuilder("rsvg-convert", "--zoom=2",
                "--background-color=white", "--output=" + PNG, "" + FIVE_ROWS).start();
            if (drawing.waitFor() != 0) throw new IOException("exit " + drawing.exitValue());
        } catch (IOException e) {
            throw new Fault(PNG, "apt-get install librsvg2-bin, and fill again: " + e);
        }
        byte[] png = Files.readAllBytes(PNG);
        byte[] note = ("tEXtSource\0" + hash(Files.readAllBytes(FIVE_ROWS))).getBytes();
        CRC32 crc = new CRC32();
        crc.update(note);
        int end = png.length - 12; // of the last chunk, IEND: length, name and CRC
        Files.write(PNG, ByteBuffer.allocate(png.length + note.length + 8).put(png, 0, end)
            .putInt(note.length - 4).put(note).putInt((int) crc.getValue())
            .put(png, end, 12).array());
    }

    // --------------------------------------------------------------------- rows and cells
    /** A row of a kept file; its name is "pinning | 20 in class init". */
    record Row(String file, String name, String platform, String virtual, String ratio) { }

    static final Map<String, List<List<Row>>> ROWS = new HashMap<>();
    static final Map<String, String> JMH = Map.of( // the lab's rows, on two processors
        "startTime100", "start-time | 100 threads",
        "startTime1000", "start-time | 1,000 threads",
        "startTime10000", "start-time | 10,000 threads",
        "sleepWave", "sleep-wave | 10,000 × 100 ms",
        "pinning", "pinning | 20 in synchronized");

    /** The rows of each start of the lab, "25-all", or of each pass of JMH, "25-jmh". */
    static List<List<Row>> starts(String kind) {
        return ROWS.computeIfAbsent(kind, prefix -> list(RUNS).stream()
            .filter(file -> file.getFileName().toString().startsWith(prefix + "-"))
            .map(file -> kind.endsWith("jmh") ? jmhRows(file) : table(file)).toList());
    }

    /** "| pinning      | 20 in class init    |  53.7 ms |   506 ms |   0.106× |  0.10× |" */
    static List<Row> table(Path file) {
        return read(file).lines().filter(line -> line.matches("\\| [a-z].*")).map(line -> {
            String[] cells = line.split("\\s*\\|\\s*"); // the first one is empty
            if (cells.length != 7) throw new Fault(file, "not six cells: " + line);
            String name = cells[1] + " | " + cells[2];
            return new Row("" + file, name, cells[3], cells[4], cells[5]);
        }).toList();
    }

    /** ...sleepWave:p0.50","sample",1,24,110.23,NaN,"ms/op",virtual,  after the platform's */
    static List<Row> jmhRows(Path file) {
        Map<String, Double> platform = new HashMap<>();
        List<Row> rows = new ArrayList<>();
        for (MatchResult found : find("(\\w+):p0.50\",\"sample\",\\d+,\\d+,([\\d.]+)"
                + ",NaN,\"ms/op\",(\\w+),(\\d*)", read(file))) {
            String name = JMH.get(found.group(1) + found.group(4));
            double time = Double.parseDouble(found.group(2));
            if (found.group(3).equals("platform")) platform.put(name, time);
            else rows.add(new Row("" + file, name, "", "",
                "%.3g×".formatted(platform.getOrDefault(name, Double.NaN) / time)));
        }
        return rows;
    }

    /** One cell of each start for a row, in ascending order; none if no start has a number. */
    static List<String> cells(String kind, String name, Function<Row, String> column) {
        List<String> cells = new ArrayList<>();
        List<String> without = new ArrayList<>();
        for (List<Row> start : starts(kind)) {
            String file = start.isEmpty() ? kind : start.getFirst().file();
            Row row = start.stream().filter(one -> one.name().equals(name)).findFirst()
                .orElse(new Row(file, name, "—", "—", "—"));
            String cell = column.apply(row).replace("~", "");
            if (cell.equals("—")) without.add(row.file());
            else cells.add(cell);
            if (!cell.equals("—") && !(value(cell) > 0)) {
                throw new Fault(row.file(), name + ": no number: " + cell);
            }
        }
        if (!cells.isEmpty() && !without.isEmpty()) {
            throw new Fault(without.getFirst(), name + ": no number, as other starts have");
        }
        cells.sort(Comparator.comparingDouble(Documents::value));
        return cells;
    }

    /** The names of all rows, in the order of the reports. */
    static Set<String> names(List<String> jdks) {
        Set<String> names = new LinkedHashSet<>();
        for (String jdk : jdks) for (List<Row> start : starts(jdk + "-all")) {
            start.forEach(row -> names.add(row.name()));
        }
        return names;
    }

    /** The number in a cell, in ms if it is a time; NaN if there is none. */
    static double value(String cell) {
        Matcher number = Pattern.compile("~?([\\d,]*\\.?\\d+)(| s| ms|×)").matcher(cell);
        if (!number.matches()) return Double.NaN;
        double value = Double.parseDouble(number.group(1).replace(",", ""));
        return number.group(2).equals(" s") ? value * 1_000 : value;
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
    /** The files in .ci/runs that a mark is made from. */
    static List<String> files(Mark mark) {
        if (mark.kind().equals("file")) return List.of();
        if (mark.kind().matches("shell|block")) {
            return List.of(mark.words().split(":")[0] + ".txt");
        }
        List<String> files = new ArrayList<>();
        for (String jdk : mark.jdks()) {
            if (mark.kind().equals("keeps")) {
                files.add("keeps-" + jdk + ".txt");
                continue;
            }
            boolean jmh = mark.kind().equals("jmh");
            for (int start = 1; start <= STARTS; start++) {
                files.add(jdk + "-all-" + start + ".md");
                if (jmh && start % 2 == 1) files.add(jdk + "-jmh-" + start + ".csv");
            }
        }
        if (files.isEmpty()) throw new Fault(mark.page(), "names no JDK: " + mark.name());
        return files;
    }

    /** All files asked for: first, by start and JDK, what is measured in turns. */
    static Map<String, Mark> wanted(Map<Path, List<Mark>> pages) throws Exception {
        Map<String, Mark> wanted = new TreeMap<>(Comparator.comparing(name ->
            name.replaceAll("(\\d+)-(all|jmh)-(\\d)", " $3 $1 $2"))); // 25-all-3 is " 3 25 all"
        for (List<Mark> marks : pages.values()) for (Mark mark : marks) {
            attempt(() -> files(mark).forEach(name -> wanted.put(name, mark)));
        }
        return wanted;
    }

    /** Why a kept file can't be used; empty if it can. */
    static String old(String name, Mark mark) {
        if (!Files.exists(RUNS.resolve(name))) return "not measured: " + RUN;
        String text = read(RUNS.resolve(name));
        String head = head(name, mark);
        if (text.startsWith(head)) return "";
        boolean same = text.startsWith(head.substring(head.indexOf("\n")), text.indexOf("\n"));
        return same ? "made by other code: " + RUN + ", or vouch"
            : "made by another command: " + RUN;
    }

    /** How a kept file begins: a hash of the code, and the command that made a text. */
    static String head(String name, Mark mark) {
        String command = command(name, mark);
        String code = name.endsWith(".md") ? measuring()
            : name.endsWith(".csv") ? read(Path.of(".ci", "jmh", "LabBenchmark.java"))
            : named(command, mark);
        byte[] essence = essence(code).replaceAll("\\s", "").getBytes(StandardCharsets.UTF_8);
        return "<!-- code " + hash(essence).substring(0, 12) + " -->\n" + (name.endsWith(".txt")
            ? "$ " + command.strip().replace("\n", "\n$ ") + "\n" : "");
    }

    static String body(String name, Mark mark) {
        return read(RUNS.resolve(name)).substring(head(name, mark).length());
    }

    /** Without comments: those of Java, and the lines that are one in a shell. */
    static String essence(String code) {
        return code.replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("//.*|(?m)^ *#.*", "");
    }

    /** What makes the numbers: the classes that don't only print, without what they say. */
    static String measuring() {
        String code = "";
        String lab = essence(read(LAB));
        for (MatchResult type : find("(?ms)^(?:class|record) (\\w+).*?^}", lab)) {
            if (!type.group(1).matches("Report|FullReport|Heartbeat")) code += type.group();
        }
        // A row's name has at most 19 characters; what is longer is a sentence or a question.
        return code.replaceAll("(?s)\"\"\".*?\"\"\"|\\bsay\\(.*?\\);", "")
            .replaceAll("\"\\s*\\+\\s*\"", "").replaceAll("\"[^\"\n]{20,}\"", "");
    }

    /** The code that a command names, and the code that this names, and so on. */
    static String named(String command, Mark mark) {
        Map<String, String> left = sources(mark);
        left.remove("jdks.sh"); // names all
        List<String> texts = new ArrayList<>(List.of(command.replace("Play", "" + LAB)));
        for (int i = 0; i < texts.size(); i++) { // it grows meanwhile
            for (String name : List.copyOf(left.keySet())) {
                String word = name.replaceAll("\\.java$|/.*", ""); // Mine, look.sh, steps
                if (find("\\b" + Pattern.quote(word) + "\\b", texts.get(i)).isEmpty()) continue;
                texts.add(essence(left.remove(name)));
            }
        }
        return String.join("\n", texts);
    }

    /** The files that a command finds in its folder. */
    static Map<String, String> sources(Mark mark) {
        Map<String, String> sources = new TreeMap<>();
        List<Path> files = new ArrayList<>(list(Path.of(".ci")));
        files.add(LAB);
        files.addAll(list(WORKSHOP));
        files.addAll(list(POST));
        for (Path file : files) {
            String name = "" + file.getFileName();
            if (name.matches(".*\\.(java|sh)")) sources.put(name, read(file));
        }
        for (Path step : list(WORKSHOP.resolve("steps"))) {
            sources.put("steps/" + step.getFileName(), read(step));
        }
        if (mark.kind().equals("block")) return sources; // the handout has its own Mine
        groups("(?ms)^```java\n(.*?)^```", read(YOUR_CALL)).stream()
            .filter(code -> code.contains("class Mine")).findFirst()
            .ifPresent(code -> sources.put("Mine.java", code));
        return sources;
    }

    // --------------------------------------------------------------------- run
    static void run(boolean fresh) throws Exception {
        Files.createDirectories(RUNS);
        Map<String, String> environment = new HashMap<>();
        Process jdks = new ProcessBuilder("sh", ".ci/java", "--list").start();
        for (String line : jdks.inputReader().lines().toList()) {
            String[] words = line.split(" ", 2); // 25 /usr/lib/jvm/java-25/bin/java
            environment.putIfAbsent("JDK" + words[0], words[1].replace("/bin/java", ""));
        }
        environment.put("JMH", "" + Path.of(".ci", "jmh").toAbsolutePath());
        var wanted = wanted(pages());
        for (Path file : list(RUNS)) {
            boolean asked = wanted.containsKey("" + file.getFileName());
            if (fresh && !asked) Files.delete(file);
        }
        for (var one : wanted.entrySet()) {
            attempt(() -> {
                boolean current = old(one.getKey(), one.getValue()).isEmpty();
                if (current && !fresh) return;
                System.out.println(one.getKey());
                keep(one.getKey(), one.getValue(), environment);
            });
        }
    }

    /** What makes a kept file, as lines of bash. */
    static String command(String name, Mark mark) {
        String words = mark.words().replaceFirst("^[^:]*:\\s*", "");
        String java = "\"$JDK" + first("(\\d+)", name) + "/bin/java\" ";
        return switch (mark.kind()) {
            case "shell" -> "source ./jdks.sh > /dev/null\n" + words;
            case "block" -> "source ./jdks.sh > /dev/null\n" + block(words);
            case "keeps" -> "\"$JDK21/bin/javac\" -d out VirtualThreadsLab.java Keeps.java\n"
                + java + "-cp out Keeps --help\n"
                + "for name in $(sed -n 's/^ *add(\"\\([a-z-]*\\)\".*/\\1/p' Keeps.java)\n"
                + "do " + java + "-cp out Keeps --quick --runs 1 $name; done";
            default -> name.endsWith(".md") ? java + "VirtualThreadsLab.java all --samples"
                : "JAVA_HOME=\"$JDK21\" mvn -q -f \"$JMH\" package >&2\n" + java
                + "-jar \"$JMH/target/benchmarks.jar\" -rf csv -rff /dev/stdout -o /dev/null";
        };
    }

    /** The sh blocks of the handout below the heading that has the words. */
    static String block(String words) {
        Path handout = WORKSHOP.resolve("handout.md");
        String section = first("(?ms)^##+ ([^\n]*" + Pattern.quote(words) + ".*?)(?:^##|\\z)",
            read(handout));
        String lines = String.join("", groups("(?ms)^```sh\n(.*?)^```", section));
        if (lines.isEmpty()) throw new Fault(handout, "no sh block below: " + words);
        return lines;
    }

    /** Runs the lines in a new folder that has the sources; keeps what they print. */
    static void keep(String name, Mark mark, Map<String, String> environment)
            throws Exception {
        Path folder = Files.createTempDirectory("documents");
        for (var source : sources(mark).entrySet()) {
            Path file = folder.resolve(source.getKey());
            Files.createDirectories(file.getParent());
            Files.writeString(file, source.getValue());
        }
        Path printed = folder.resolve("printed");
        Path errors = folder.resolve("errors");
        String lines = command(name, mark);
        var builder = new ProcessBuilder("bash", "-euc", lines).directory(folder.toFile())
            .redirectInput(new File("/dev/null")).redirectOutput(printed.toFile())
            .redirectError(errors.toFile());
        builder.environment().putAll(environment);
        int code = builder.start().waitFor();
        String output = read(printed);
        String said = output + read(errors);
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) Files.delete(file);
        }
        if (code != 0) throw new Fault(RUNS.resolve(name), "exit code " + code + " of: " + lines
            + "\nIt printed:\n" + said);
        Files.writeString(RUNS.resolve(name), head(name, mark) + output);
    }

    /** Takes the kept files for the code as it is, if they were made by the same commands. */
    static void vouch() throws Exception {
        for (var one : wanted(pages()).entrySet()) {
            attempt(() -> {
                Path file = RUNS.resolve(one.getKey());
                String text = read(file);
                String head = head(one.getKey(), one.getValue());
                text = head.split("\n")[0] + text.substring(text.indexOf("\n"));
                if (text.startsWith(head)) Files.writeString(file, text);
            });
        }
    }

    // --------------------------------------------------------------------- check
    static void check() throws Exception {
        var pages = pages();
        Set<String> wanted = wanted(pages).keySet();
        for (Path file : list(RUNS)) {
            boolean known = wanted.contains("" + file.getFileName());
            if (!known) report(new Fault(file, "no mark asks for it"));
        }
        for (var page : pages.entrySet()) {
            for (Mark mark : page.getValue()) {
                attempt(() -> same(page.getKey(), mark.name() + ": ", made(mark), mark.said()));
            }
            if (page.getKey() != DRAFT) links(page.getKey()); // those of post.md are checked
        }
        Path post = POST.resolve("post.md");
        attempt(() -> {
            same(post, "", post(), read(post));
            links(post);
        });
        attempt(() -> same(FIVE_ROWS, "", picture(true), read(FIVE_ROWS)));
        attempt(() -> same(ALL_ROWS, "", picture(false), read(ALL_ROWS)));
        attempt(() -> drawnFrom(PNG, FILL, FIVE_ROWS));
        steps();
        quotes();
        printed();
    }

    /** Shows the first line that differs. */
    static void same(Path file, String what, String expected, String actual) {
        if (expected.equals(actual)) return;
        List<String> right = expected.strip().lines().toList();
        List<String> wrong = actual.strip().lines().toList();
        int line = 0;
        while (line < Math.min(right.size(), wrong.size())
            && right.get(line).equals(wrong.get(line))) line++;
        throw new Fault(file, what + "stale: " + FILL + "\n    is:        "
            + (line < wrong.size() ? wrong.get(line) : "nothing more") + "\n    should be: "
            + (line < right.size() ? right.get(line) : "nothing more"));
    }

    /** Do links lead to files and headings? "](file#heading)", "src="file"", "[JEP 444]: " */
    static void links(Path page) {
        for (MatchResult link : find("(?m)(?:]\\(|src=\"|srcset=\"|^\\[[^]]+]: )([^()\\s\"]+)",
                read(page))) {
            String[] target = link.group(1).split("#", 2);
            if (target[0].contains(":")) continue; // https://
            Path file = target[0].isEmpty() ? page : page.resolveSibling(target[0]);
            boolean there = Files.exists(file);
            if (there && target.length == 2) there = anchors(read(file)).contains(target[1]);
            if (!there) report(new Fault(page, "leads nowhere: " + link.group(1)));
        }
    }

    /** The anchors that GitHub gives to headings: "## What's new?" is #whats-new. */
    static Set<String> anchors(String text) {
        String prose = text.replaceAll("(?ms)^```.*?^```", "");
        return groups("(?m)^#{1,6} +(.*)", prose).stream().map(heading -> heading.strip()
            .toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-'))
            .collect(Collectors.toSet());
    }

    /** ShopN.java must be Shop.java after the steps 1 to N, and each step must fit. */
    static void steps() throws Exception {
        List<Path> steps = list(WORKSHOP.resolve("steps"));
        attempt(() -> {
            String shop = read(WORKSHOP.resolve("Shop.java"));
            for (int n = 1; n <= 3; n++) {
                shop = patched(shop, steps.get(n - 1));
                Path finished = WORKSHOP.resolve("Shop" + n + ".java");
                if (!read(finished).equals(shop)) {
                    throw new Fault(finished, "is not Shop.java after the steps 1 to " + n);
                }
            }
            for (Path step : steps.subList(3, steps.size())) patched(shop, step);
        });
    }

    /** A text after a patch; each of its hunks must fit in one place. */
    static String patched(String text, Path step) {
        String patched = text;
        for (String hunk : read(step).split("(?m)^@@.*\n")) {
            if (hunk.startsWith("---")) continue; // the files' names
            String before = hunk.replaceAll("(?m)^\\+.*\n", "").replaceAll("(?m)^[ -]", "");
            String after = hunk.replaceAll("(?m)^-.*\n", "").replaceAll("(?m)^[ +]", "");
            int at = patched.indexOf(before);
            boolean fits = at >= 0 && at == patched.lastIndexOf(before);
            if (!fits) throw new Fault(step, "does not fit:\n" + hunk);
            patched = patched.substring(0, at) + after
                + patched.substring(at + before.length());
        }
        return patched;
    }

    /** What the handout quotes or changes must be in the files; so must the trainer's diffs. */
    static void quotes() throws Exception {
        Path handout = WORKSHOP.resolve("handout.md");
        Path trainer = WORKSHOP.resolve("trainer.md");
        attempt(() -> {
            String sources = read(LAB);
            for (Path file : list(WORKSHOP)) {
                if (("" + file).matches(".*\\.(java|sh)")) sources += read(file);
            }
            String text = read(handout);
            List<String> quoted = new ArrayList<>(groups("(?m)^change '(.*?)' '", text));
            quoted.addAll(groups("(?ms)^```(?:java|bash)\n(.*?)^```", text));
            for (String line : String.join("\n", quoted).split("\n")) {
                String code = line.replaceFirst(" +//.*", "").strip();
                if (!sources.contains(code)) throw new Fault(handout, "is nowhere: " + line);
            }
        });
        attempt(() -> {
            String patches = "";
            for (Path step : list(WORKSHOP.resolve("steps"))) patches += read(step);
            for (String diff : groups("(?ms)^```diff\n(.*?)^```", read(trainer))) {
                if (!patches.contains(diff)) throw new Fault(trainer, "no such step:\n" + diff);
            }
        });
    }

    /** A PDF names its text, as git does, in its keywords; the pictures are three. */
    static void printed() throws Exception {
        String print = "sh .github/workshop/print.sh";
        for (String name : List.of("handout", "takeaway", "trainer")) {
            attempt(() -> drawnFrom(WORKSHOP.resolve(name + ".pdf"), print,
                WORKSHOP.resolve(name + ".md")));
        }
        attempt(() -> {
            String names = first("(?m)^pictures=\"(.*)\"", read(WORKSHOP.resolve("print.sh")));
            drawnFrom(WORKSHOP.resolve("pictures.pdf"), print,
                Stream.of(names.split(" ")).map(WORKSHOP::resolve).toArray(Path[]::new));
        });
    }

    static void drawnFrom(Path made, String how, Path... from) throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (Path file : from) all.writeBytes(read(file).getBytes(StandardCharsets.UTF_8));
        boolean current = holds(made, hash(all.toByteArray()));
        if (!current) throw new Fault(made, "missing, or older than its source: " + how);
    }

    static boolean holds(Path file, String hash) throws IOException {
        return Files.exists(file)
            && Files.readString(file, StandardCharsets.ISO_8859_1).contains(hash);
    }

    /** The name that git gives to such a file. */
    static String hash(byte[] text) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-1");
            sha.update(("blob " + text.length + "\0").getBytes());
            return HexFormat.of().formatHex(sha.digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }
}
