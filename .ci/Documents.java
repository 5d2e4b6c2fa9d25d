// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/**
 * Makes what the documents quote, and checks that they still say it. A mark in a document is a
 * command; all between it and the end mark is made from the files in .ci/runs:
 *
 *     <!-- five 25 -->              the table of the five, from the start in the middle
 *     <!-- ratio 25 sleep-wave -->  one ratio, in a line: the median over the starts
 *     <!-- compare 21 25            chosen rows, as: words of the row | heading | why
 *     in synchronized | heading | why -->
 *     <!-- ratios 21 25 27 -->      every row: the median over the starts, and their range
 *     <!-- jmh 21 25 -->            times and ratios, the lab's and JMH's
 *     <!-- keeps 21 25 26 27 -->    which waits keep a carrier, by .ci/Keeps.java
 *     <!-- block NAME: heading -->  what the sh blocks below a heading of the handout print
 *     <!-- shell NAME: command -->  what a command prints
 *     <!-- end -->
 *
 * The picture .github/ratios.svg is made from the same files. It checks these, links, what the
 * handout quotes of code, and that each PDF is made from its text. It does not read prose.
 *
 *     java .ci/Documents.java run      make the missing files (run --fresh: all), then fill
 *     java .ci/Documents.java fill     fill the marks, draw the picture
 *     java .ci/Documents.java check    find what no kept file bears out
 */
class Documents {
    static final Path LAB = Path.of("VirtualThreadsLab.java");
    static final Path RUNS = Path.of(".ci", "runs");
    static final Path WORKSHOP = Path.of(".github", "workshop");
    static final Path PICTURE = Path.of(".github", "ratios.svg");
    static final List<Path> ALL = List.of(Path.of("README.md"), Path.of("results.md"),
        Path.of(".github", "CONTRIBUTING.md"), WORKSHOP.resolve("prepare.md"),
        WORKSHOP.resolve("handout.md"), WORKSHOP.resolve("takeaway.md"),
        WORKSHOP.resolve("trainer.md"));
    static final String MARK = "<!-- (five|ratio|compare|ratios|jmh|keeps|block|shell) ";
    static final String MADE =
        "(?s)" + MARK + "((?:(?!-->).)*?)\\s*-->((?:(?!<!-- ).)*)<!-- end -->";
    static final String FIVE = "start-time|sleep-wave|cpu-primes|pinning|thread-count";
    static final int STARTS = 5;
    static int faults;

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.ROOT); // or the picture would differ from place to place
        String word = String.join(" ", args);
        if (!Files.exists(LAB) || !word.matches("run|run --fresh|fill|check")) {
            System.err.println("Documents: run it beside VirtualThreadsLab.java:"
                + " java .ci/Documents.java run|fill|check, or run --fresh");
            System.exit(2);
        }
        if (word.startsWith("run")) run(word.endsWith("--fresh"));
        if (word.equals("fill")) fill();
        if (word.equals("check")) check();
        System.out.println((faults == 0 ? "no" : faults) + (faults < 2 ? " fault" : " faults"));
        System.exit(faults == 0 ? 0 : 1);
    }

    static void fill() throws IOException {
        for (Path document : ALL) {
            String text = Pattern.compile(MADE).matcher(read(document)).replaceAll(mark ->
                Matcher.quoteReplacement(mark.group().substring(0, mark.start(3) - mark.start())
                    + made(document, mark) + "<!-- end -->"));
            Files.writeString(document, text);
        }
        Files.writeString(PICTURE, picture());
    }

    static void fault(Path file, String what) {
        System.out.println(file + ": " + what);
        faults++;
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<MatchResult> find(String regex, String text) {
        return Pattern.compile(regex).matcher(text).results().toList();
    }

    /** The first group of each match. */
    static List<String> groups(String regex, String text) {
        return find(regex, text).stream().map(match -> match.group(1)).toList();
    }

    static String first(String regex, String text) {
        return groups(regex, text).stream().findFirst().orElse("");
    }

    // --------------------------------------------------------------------- what is made
    /** What is to stand after a mark: what stands there, if it cannot be made. */
    static String made(Path document, MatchResult mark) {
        try {
            if (!files(mark).stream().allMatch(name -> current(name, mark))) {
                throw new NoSuchElementException("not measured: java .ci/Documents.java run");
            }
            String content = content(mark).stripTrailing();
            return mark.group(1).equals("ratio") ? content : "\n\n" + content + "\n\n";
        } catch (NoSuchElementException e) {
            fault(document, e.getMessage() + ", for " + mark.group(1) + " " + mark.group(2));
            return mark.group(3);
        }
    }

    static String content(MatchResult mark) {
        List<String> lines = mark.group(2).lines().toList();
        List<String> words = List.of(lines.get(0).split(" "));
        String name = files(mark).get(0);
        return switch (mark.group(1)) {
            case "five" -> five(words.get(0));
            case "ratio" -> median(cells(words.get(0), "all", row(words.get(0),
                mark.group(2).substring(3)), RATIO));
            case "compare" -> compare(words, lines.subList(1, lines.size()));
            case "ratios" -> ratios(words);
            case "jmh" -> jmh(words);
            case "keeps" -> keeps(words);
            default -> output(read(RUNS.resolve(name)).substring(asked(name, mark).length()));
        };
    }

    /** Of the start whose ratios are the nearest to the medians over all starts. */
    static String five(String jdk) {
        double least = Double.MAX_VALUE;
        List<String[]> middle = List.of();
        for (String name : kept(jdk + "-all")) {
            List<String[]> rows = table(read(RUNS.resolve(name)))
                .filter(row -> row[1].matches(FIVE)).toList();
            double apart = 0;
            for (String[] row : rows) {
                String typical = median(cells(jdk, "all", row[1] + " | " + row[2], RATIO));
                apart += Math.abs(Math.log(number(row[RATIO]) / number(typical)));
            }
            if (apart < least) {
                least = apart;
                middle = rows;
            }
        }
        String text = "| What | Platform | Virtual | Ratio |\n|---|--:|--:|--:|\n";
        for (String[] row : middle) {
            String work = row[2].replace("tLock", "t&shy;Lock").replace("nized", "&shy;nized");
            text += "| " + row[1] + ": " + work + " | " + row[PLATFORM] + " | " + row[VIRTUAL]
                + " | " + row[RATIO] + " |\n"; // a phone breaks long words at &shy;
        }
        return text;
    }

    static String compare(List<String> jdks, List<String> lines) {
        String text = "| Work | JDK " + String.join(" | JDK ", jdks) + " | Why |\n|---|"
            + "--:|".repeat(jdks.size()) + "---|\n";
        for (String line : lines) {
            String[] parts = line.split("\\s*\\|\\s*", 3);
            List<List<String>> cells = new ArrayList<>();
            for (String jdk : jdks) cells.add(cells(jdk, "all", row(jdk, parts[0]), RATIO));
            List<String> a = cells.getFirst();
            List<String> b = cells.getLast();
            boolean overlap = number(a.getFirst()) <= number(b.getLast())
                && number(b.getFirst()) <= number(a.getLast());
            if (overlap != parts[2].startsWith("no change")) {
                throw new NoSuchElementException("the ranges " + (overlap ? "" : "do not ")
                    + "overlap: " + line);
            }
            text += "| " + parts[1] + " | " + cells.stream().map(Documents::spread)
                .collect(Collectors.joining(" | ")) + " | " + parts[2] + " |\n";
        }
        return text;
    }

    static String ratios(List<String> jdks) {
        String text = "| Experiment | Work | JDK " + String.join(" | JDK ", jdks)
            + " |\n|---|---|" + "--:|".repeat(jdks.size()) + "\n";
        for (String name : names(jdks)) {
            text += "| " + name + " |";
            for (String jdk : jdks) {
                List<String> cells = cells(jdk, "all", name, RATIO);
                if (cells.isEmpty()) cells = cells(jdk, "all", name, VIRTUAL);
                text += " " + spread(cells) + " |";
            }
            text += "\n";
        }
        return text;
    }

    static String jmh(List<String> jdks) {
        String text = "| Work | JDK | Platform: lab | JMH | Virtual: lab | JMH | Ratio: lab "
            + "| JMH |\n|---|" + "--:|".repeat(7) + "\n";
        for (String name : names(jdks)) for (String jdk : jdks) {
            if (cells(jdk, "jmh", name, RATIO).isEmpty()) continue;
            text += "| " + name.replace(" |", ",") + " | " + jdk + " |";
            for (int column : List.of(PLATFORM, VIRTUAL, RATIO)) {
                for (String kind : List.of("all", "jmh")) {
                    text += " " + spread(cells(jdk, kind, name, column)) + " |";
                }
            }
            text += "\n";
        }
        return text;
    }

    static String keeps(List<String> jdks) {
        String text = "| The virtual thread | JDK " + String.join(" | JDK ", jdks)
            + " |\n|---|" + "---|".repeat(jdks.size()) + "\n";
        String help = read(RUNS.resolve("keeps-" + jdks.getFirst() + ".txt")).split("\n#")[0];
        for (MatchResult wait : find("(?m)^  ([a-z][a-z-]*) +([a-z].*)", help)) {
            text += "| " + wait.group(2) + " |";
            for (String jdk : jdks) {
                String said = first("(?m)^- " + wait.group(1) + ": ((?:.*\n)(?:  .*\n)*)",
                    read(RUNS.resolve("keeps-" + jdk + ".txt"))).replaceAll("\\s+", " ");
                if (said.isEmpty()) throw new NoSuchElementException(wait.group());
                boolean free = said.contains("carriers were free");
                boolean added = said.contains("the scheduler has added");
                text += (free ? added ? " kept; others are added" : " free"
                    : said.contains("pinned waits: ") ? " **pinned**"
                    : said.contains("computed for") ? " busy" : " **kept**") + " |";
            }
            text += "\n";
        }
        return text;
    }

    /** An output as it is, but of reports only the rows and what is said of them. */
    static String output(String output) {
        String report = "(?ms)^# VirtualThreadsLab\n.*?^- Java (\\d+).*?(^\\|.*?)\n## At a"
            + " glance.*?^- Other programs used (?:.*?(?=\n\\S)|.*)";
        String text = Pattern.compile(report).matcher(output).replaceAll(part ->
            Matcher.quoteReplacement("On JDK " + part.group(1) + ":\n" + part.group(2)
                .replaceAll("\\|-.*\n|\n## What.*\n(?=\n)", "")));
        return "```text\n" + text.strip() + "\n```";
    }

    // --------------------------------------------------------------------- the picture
    /** Every ratio on a logarithmic axis: a dot for the median, a line for the range. */
    static String picture() {
        List<String> jdks = List.of("21", "25", "27");
        List<String> colors = List.of("#c2410c", "#1d4ed8", "#15803d");
        List<String> rows = names(jdks).stream().filter(name ->
            jdks.stream().anyMatch(jdk -> !cells(jdk, "all", name, RATIO).isEmpty())).toList();
        int height = 96 + 30 * rows.size();
        StringBuilder svg = new StringBuilder("""
            <svg xmlns="http://www.w3.org/2000/svg" width="440" viewBox="0 0 440 %d" role="img">
            <title>Ratios, platform ÷ virtual, over five starts of each JDK</title>
            <style>
            svg { font: 14px sans-serif; }
            text { fill: #222; } .dim { fill: #666; font-size: 12px; }
            </style>
            <rect width="440" height="%1$d" fill="#fff"/>
            """.formatted(height));
        for (int i = 0; i < jdks.size(); i++) {
            svg.append(dot(180 + 80 * i, 20, colors.get(i))).append(text(190 + 80 * i, 24,
                "JDK " + jdks.get(i), ""));
        }
        svg.append(text(10, 24, "platform ÷ virtual", ""));
        for (String ratio : List.of("0.0001", "0.01", "1", "100")) {
            double x = x(number(ratio));
            svg.append("<line stroke=\"%s\" x1=\"%.0f\" x2=\"%2$.0f\" y1=\"58\" y2=\"%d\"/>\n"
                .formatted(ratio.equals("1") ? "#888" : "#ddd", x, height - 10));
            svg.append(text(x, 50, ratio + "×", " text-anchor=\"middle\" class=\"dim\""));
        }
        for (int i = 0; i < rows.size(); i++) {
            double y = 78 + 30 * i;
            svg.append(text(10, y - 2, rows.get(i).split(" \\| ")[0], ""));
            svg.append(text(10, y + 11, rows.get(i).split(" \\| ")[1], " class=\"dim\""));
            for (int j = 0; j < jdks.size(); j++) {
                List<String> cells = cells(jdks.get(j), "all", rows.get(i), RATIO);
                if (cells.isEmpty()) continue;
                double line = y - 6 + 8 * j;
                svg.append(("<line stroke=\"%s\" stroke-width=\"3\" x1=\"%.1f\" x2=\"%.1f\""
                    + " y1=\"%.0f\" y2=\"%4$.0f\"/>\n").formatted(colors.get(j),
                    x(number(cells.getFirst())), x(number(cells.getLast())), line));
                svg.append(dot(x(number(median(cells))), line, colors.get(j)));
            }
        }
        return svg.append("</svg>\n").toString();
    }

    static double x(double ratio) { return 300 + 40 * Math.log10(ratio); }

    static String dot(double x, double y, String color) {
        return "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n".formatted(x, y, color);
    }

    static String text(double x, double y, String text, String more) {
        return "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n".formatted(x, y, more, text);
    }

    // --------------------------------------------------------------------- rows and cells
    static final int PLATFORM = 3; // columns
    static final int VIRTUAL = 4;
    static final int RATIO = 5;
    static final Map<String, List<String[]>> ROWS = new HashMap<>();
    static final Map<String, String> JMH = Map.of( // the lab's rows, on two processors
        "startTime100", "start-time | 100 threads",
        "startTime1000", "start-time | 1,000 threads",
        "startTime10000", "start-time | 10,000 threads",
        "sleepWave", "sleep-wave | 10,000 × 100 ms",
        "pinning", "pinning | 20 in ReentrantLock");

    /** The rows of a report's table, each as its cells; the first one is empty. */
    static Stream<String[]> table(String report) {
        return report.lines().filter(line -> line.matches("\\| [a-z].*"))
            .map(line -> line.split("\\s*\\|\\s*"));
    }

    /** JMH's medians as rows of the lab. Only startTime has another parameter than the side. */
    static Stream<String[]> jmhRows(String csv) {
        Map<String, Double> platform = new HashMap<>();
        List<String[]> rows = new ArrayList<>();
        for (MatchResult found : find("(\\w+):p0.50\",\"sample\",\\d+,\\d+,([\\d.]+)"
                + ",NaN,\"ms/op\",\\w+,(\\d*)", csv)) {
            String name = JMH.get(found.group(1) + found.group(3));
            double time = Double.parseDouble(found.group(2));
            Double other = platform.putIfAbsent(name, time); // the platform side comes first
            if (other == null) continue;
            rows.add(("| %s | %s ms | %s ms | %s×").formatted(name, digits(other), digits(time),
                digits(other / time)).split("\\s*\\|\\s*"));
        }
        return rows.stream();
    }

    /** Three digits, two below 0.1, as the lab writes them. */
    static String digits(double number) {
        return (number >= 999.5 ? "%,.0f" : number < 0.1 ? "%.2g" : "%.3g").formatted(number);
    }

    /** What the runs of the lab (all) or of JMH (jmh) have for a row, in ascending order. */
    static List<String> cells(String jdk, String kind, String name, int column) {
        List<String[]> rows = ROWS.computeIfAbsent(jdk + "-" + kind, runs -> kept(runs).stream()
            .map(file -> read(RUNS.resolve(file)))
            .flatMap(run -> kind.equals("jmh") ? jmhRows(run) : table(run)).toList());
        return rows.stream().filter(row -> name.equals(row[1] + " | " + row[2]))
            .map(row -> row[column].replace("~", "")).filter(cell -> cell.matches(".*\\d.*"))
            .sorted(Comparator.comparingDouble(Documents::number)).toList();
    }

    static Set<String> names(List<String> jdks) {
        Set<String> names = new LinkedHashSet<>();
        for (String jdk : jdks) for (String file : kept(jdk + "-all")) {
            table(read(RUNS.resolve(file))).forEach(row -> names.add(row[1] + " | " + row[2]));
        }
        return names;
    }

    /** The one row whose name has the words. */
    static String row(String jdk, String words) {
        List<String> rows = names(List.of(jdk)).stream()
            .filter(name -> name.replace(" | ", " ").contains(words)).toList();
        if (rows.size() != 1) throw new NoSuchElementException(rows.size() + " rows: " + words);
        return rows.get(0);
    }

    /** The number in a cell; in ms, if it is a time. */
    static double number(String cell) {
        double number = Double.parseDouble(cell.replaceAll("[^\\d.]", ""));
        return cell.endsWith(" s") ? number * 1_000 : number;
    }

    static String median(List<String> cells) {
        return cells.isEmpty() ? "—" : cells.get(cells.size() / 2);
    }

    static String spread(List<String> cells) {
        if (Set.copyOf(cells).size() < 2) return median(cells);
        String range = cells.getFirst() + "–" + cells.getLast();
        return median(cells) + " (" + range.replaceAll("[^\\d.,–]", "") + ")";
    }

    // --------------------------------------------------------------------- the kept files
    static List<String> kept(String prefix) {
        String[] names = RUNS.toFile().list((folder, name) -> name.startsWith(prefix));
        return names == null ? List.of() : Stream.of(names).sorted().toList();
    }

    /** The files that a mark is made from. */
    static List<String> files(MatchResult mark) {
        String kind = mark.group(1);
        String words = mark.group(2).lines().findFirst().orElse("");
        if (kind.matches("shell|block")) return List.of(words.split(":")[0] + ".txt");
        List<String> files = new ArrayList<>();
        for (String jdk : kind.equals("ratio") ? new String[] {words.split(" ")[0]}
                : words.split(" ")) {
            if (kind.equals("keeps")) files.add("keeps-" + jdk + ".txt");
            for (int start = 1; start <= STARTS && !kind.equals("keeps"); start++) {
                files.add(jdk + "-all-" + start + ".md");
                boolean jmh = kind.equals("jmh") && start % 2 == 1;
                if (jmh) files.add(jdk + "-jmh-" + start + ".csv");
            }
        }
        return files;
    }

    /** All files asked for: first, by start and JDK, what is measured in turns. */
    static Map<String, MatchResult> wanted() {
        Map<String, MatchResult> wanted = new TreeMap<>(Comparator.comparing(name ->
            name.replaceAll("(\\d+)-(all|jmh)-(\\d)", " $3 $1 $2")));
        for (Path document : ALL) {
            for (MatchResult mark : find(MADE, read(document))) {
                for (String file : files(mark)) wanted.put(file, mark);
            }
        }
        return wanted;
    }

    static void run(boolean fresh) throws Exception {
        Files.createDirectories(RUNS);
        Map<String, String> environment = new HashMap<>();
        Process list = new ProcessBuilder("sh", ".ci/java", "--list").start();
        for (String line : list.inputReader().lines().toList()) {
            String[] words = line.split(" ", 2);
            environment.putIfAbsent("JDK" + words[0], words[1].replace("/bin/java", ""));
        }
        Map<String, MatchResult> wanted = wanted();
        if (!fresh) wanted.entrySet().removeIf(one -> current(one.getKey(), one.getValue()));
        environment.put("JMH", "" + Path.of(".ci", "jmh").toAbsolutePath());
        for (var entry : wanted.entrySet()) {
            System.out.println(entry.getKey());
            keep(entry.getKey(), entry.getValue(), environment);
        }
        fill();
    }

    /** Is there such a file, and was it made by this very command? */
    static boolean current(String name, MatchResult mark) {
        return kept("").contains(name)
            && read(RUNS.resolve(name)).startsWith(asked(name, mark));
    }

    /** A text begins with what made it; a report says it by itself. */
    static String asked(String name, MatchResult mark) {
        return name.endsWith(".txt")
            ? "$ " + command(name, mark).strip().replace("\n", "\n$ ") + "\n" : "";
    }

    /** What makes a kept file, as lines of bash. */
    static String command(String name, MatchResult mark) {
        String words = mark.group(2).replaceFirst("^[^:]*:\\s*", "");
        String java = "\"$JDK" + first("(\\d+)", name) + "/bin/java\" ";
        return switch (mark.group(1)) {
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
        String section = first("(?ms)^##+ ([^\n]*" + Pattern.quote(words) + ".*?)(?:^##|\\z)",
            read(WORKSHOP.resolve("handout.md")));
        String lines = String.join("", groups("(?ms)^```sh\n(.*?)^```", section));
        if (lines.isEmpty()) throw new NoSuchElementException("no sh block below: " + words);
        return lines;
    }

    /** Runs the lines where the files of the workshop are; keeps what they print. */
    static void keep(String name, MatchResult mark, Map<String, String> environment)
            throws Exception {
        String lines = command(name, mark);
        Path folder = scratch(mark);
        Path made = folder.resolve("made");
        Path errors = folder.resolve("errors");
        var builder = new ProcessBuilder("bash", "-euc", lines).directory(folder.toFile())
            .redirectInput(new File("/dev/null")).redirectOutput(made.toFile())
            .redirectError(errors.toFile());
        builder.environment().putAll(environment);
        int code = builder.start().waitFor();
        if (code == 0) {
            Files.writeString(RUNS.resolve(name), asked(name, mark) + Files.readString(made));
        } else {
            Files.copy(errors, System.err);
            fault(RUNS.resolve(name), "exit code " + code + ": " + lines);
        }
    }

    /** A new folder with the lab, the workshop's files and, for shell, README's programs. */
    static Path scratch(MatchResult mark) throws Exception {
        Path folder = Files.createTempDirectory("documents");
        new ProcessBuilder("cp", "-R", "" + LAB, ".ci/Keeps.java", ".ci/Alone.java",
            WORKSHOP + "/.", "" + folder).start().waitFor();
        if (!mark.group(1).equals("shell")) return folder;
        for (String code : groups("(?ms)^```java\n(.*?)^```", read(ALL.getFirst()))) {
            String name = first("(?m)^class (\\w+)", code);
            if (!name.isEmpty()) Files.writeString(folder.resolve(name + ".java"), code);
        }
        return folder;
    }

    // --------------------------------------------------------------------- the check
    static void check() throws Exception {
        Set<String> wanted = wanted().keySet();
        for (String name : kept("")) {
            if (!wanted.contains(name)) fault(RUNS.resolve(name), "no mark asks for it");
        }
        for (Path document : ALL) {
            String text = read(document);
            List<MatchResult> marks = find(MADE, text);
            if (find(MARK, text).size() != marks.size()
                    || find("<!-- end -->", text).size() != marks.size()) {
                fault(document, "a mark without its end, or an end without its mark");
                continue;
            }
            for (MatchResult mark : marks) {
                if (made(document, mark).equals(mark.group(3))) continue;
                fault(document, "stale: " + mark.group(1) + " " + mark.group(2)
                    + ": java .ci/Documents.java fill");
            }
            links(document, text);
        }
        boolean drawn = Files.exists(PICTURE) && read(PICTURE).equals(picture());
        if (!drawn) fault(PICTURE, "stale: java .ci/Documents.java fill");
        quotes();
        for (String name : List.of("handout", "takeaway")) printed(name);
    }

    static void links(Path document, String text) {
        for (MatchResult link : find("(?m)(?:]\\(|src=\"|^\\[[^]]+]: )([^()\\s\"]+)", text)) {
            String[] target = link.group(1).split("#", 2);
            if (target[0].contains(":")) continue;
            Path file = target[0].isEmpty() ? document : document.resolveSibling(target[0]);
            boolean there = Files.exists(file);
            if (there && target.length == 2) there = anchors(read(file)).contains(target[1]);
            if (!there) fault(document, "leads nowhere: " + link.group(1));
        }
    }

    /** The anchors that GitHub gives to the headings. */
    static Set<String> anchors(String text) {
        String prose = text.replaceAll("(?ms)^```.*?^```", "");
        return groups("(?m)^#{1,6} +(.*)", prose).stream().map(heading -> heading.strip()
            .toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-'))
            .collect(Collectors.toSet());
    }

    /** What the handout quotes or changes must be in the files; so must the trainer's diffs. */
    static void quotes() {
        Path handout = WORKSHOP.resolve("handout.md");
        String text = read(handout);
        List<String> quoted = new ArrayList<>(groups("(?m)^change '(.*?)' '", text));
        quoted.addAll(groups("(?ms)^```(?:java|bash)\n(.*?)^```", text));
        String sources = read(LAB);
        for (String name : List.of("Shop.java", "look.sh", "record.sh")) {
            sources += read(WORKSHOP.resolve(name));
        }
        for (String line : String.join("\n", quoted).split("\n")) {
            String code = line.replaceFirst(" +//.*", "").strip();
            if (!sources.contains(code)) fault(handout, "not in what it quotes: " + line);
        }
        String patches = "";
        for (File step : WORKSHOP.resolve("steps").toFile().listFiles()) {
            patches += read(step.toPath());
        }
        Path trainer = WORKSHOP.resolve("trainer.md");
        for (String diff : groups("(?ms)^```diff\n(.*?)^```", read(trainer))) {
            if (!patches.contains(diff)) fault(trainer, "no such step: " + diff);
        }
    }

    /** A PDF names its text, as git does, in its keywords. */
    static void printed(String name) throws Exception {
        byte[] text = Files.readAllBytes(WORKSHOP.resolve(name + ".md"));
        MessageDigest sha = MessageDigest.getInstance("SHA-1");
        sha.update(("blob " + text.length + "\0").getBytes());
        String hash = HexFormat.of().formatHex(sha.digest(text));
        Path pdf = WORKSHOP.resolve(name + ".pdf");
        boolean made = Files.exists(pdf)
            && Files.readString(pdf, StandardCharsets.ISO_8859_1).contains(hash);
        if (!made) fault(pdf, "is not of its text: sh .github/workshop/print.sh");
    }
}
