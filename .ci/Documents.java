// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.math.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/**
 * Makes what the documents quote, and checks that they still say it. A mark in a document is a
 * command; everything between it and the end mark is made from the files in .ci/runs:
 *
 *     <!-- about 25 sleep-wave 10,000, pool 200 -->  a row's ratio and range, in round numbers
 *     <!-- five 25 -->              the five on that JDK, without rows that are too noisy
 *     <!-- ratios -->               every row, the JDKs side by side, as the lab printed it
 *     <!-- jmh 21 25 -->            ratios, the lab's and JMH's
 *     <!-- keeps 21 25 26 27 -->    which waits block a carrier, by .ci/Keeps.java
 *     <!-- block NAME: heading -->  what the sh blocks below a heading of the handout print
 *     <!-- shell NAME: command -->  what a command prints
 *     <!-- file PATH -->            a whole Java file
 *     <!-- end -->
 *
 * .github/post/post.md is .ci/post.md without its marks. It checks these, links, the code that
 * the workshop quotes, its steps, and whether pictures and PDFs are as new as their sources. It
 * doesn't read prose.
 *
 *     java .ci/Documents.java check         find what no kept file bears out
 *     java .ci/Documents.java fill          fill the marks, write post.md
 *     java .ci/Documents.java run           make the kept files that are missing, and fill
 *     java .ci/Documents.java run --texts   remove the kept texts before that
 *     java .ci/Documents.java run --fresh   remove all kept files before that
 *
 * A kept text (.txt, or .log of JMH) begins with the command that made it; when the mark's
 * command changes, run makes the text again. Nothing else makes a kept file old. If one of
 * these is interrupted, run makes the rest.
 */
class Documents {
    static final Path LAB = Path.of("VirtualThreadsLab.java");
    static final Path DRAFT = Path.of(".ci/post.md");
    static final Path POST = Path.of(".github/post/post.md"); // made from it

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.ROOT); // or the numbers would differ from place to place
        String word = String.join(" ", args);
        if (!Files.exists(LAB) || !word.matches("check|fill|run|run --texts|run --fresh")) {
            System.err.println("Documents: run it beside VirtualThreadsLab.java:"
                + " java .ci/Documents.java check|fill|run, or run --texts|--fresh");
            System.exit(2);
        }
        if (word.startsWith("run")) Kept.renew(word);
        Map<Path, String> right = right();
        if (word.equals("check")) check(right);
        else for (Path file : right.keySet()) Files.writeString(file, right.get(file));
        String faults = Fault.said == 1 ? "1 fault" : Fault.said + " faults";
        System.out.println(Fault.said == 0 ? "no fault" : faults);
        System.exit(Fault.said == 0 ? 0 : 1);
    }

    /** All that people write in Markdown. */
    static List<Path> pages() throws IOException {
        try (var top = Files.list(Path.of("")); var more = Files.walk(Path.of(".github"))) {
            return Stream.of(Stream.of(DRAFT), top, more).flatMap(files -> files).sorted()
                .filter(file -> file.toString().endsWith(".md") && !file.equals(POST)).toList();
        }
    }

    /** What each page is to say, and the post, which is made from one of them. */
    static Map<Path, String> right() throws Exception {
        Map<Path, String> right = new LinkedHashMap<>();
        for (Path page : pages()) {
            Fault.attempt(() -> {
                String text = Text.read(page);
                for (Mark mark : Mark.of(page, text)) {
                    text = mark.replaced(text, mark.begin() + mark.made() + Mark.END);
                }
                right.put(page, text);
            });
        }
        String post = right.get(DRAFT);
        if (post == null) return right;
        for (Mark mark : Mark.of(DRAFT, post)) {
            post = mark.replaced(post, mark.said().strip());
        }
        right.put(POST, post);
        return right;
    }

    static void check(Map<Path, String> right) throws Exception {
        for (Path file : Text.list(Kept.RUNS)) {
            boolean asked = Kept.ASKED.contains(file);
            if (!asked) Fault.report(new Fault(file, "no mark asks for it"));
        }
        for (Path file : right.keySet()) {
            if (!file.equals(DRAFT)) links(file, right.get(file)); // the draft's fit post.md
            Fault.attempt(() -> same(file, right.get(file)));
        }
        Fault.attempt(Workshop::steps);
        Fault.attempt(Workshop::quotes);
        Made.check();
    }

    static void same(Path file, String text) {
        String[] right = (text + "\nnothing more").split("\n");
        String[] lines = (Text.read(file) + "\nnothing more").split("\n");
        int line = Arrays.mismatch(lines, right);
        if (line >= 0) throw new Fault(file, "line " + (line + 1) + " is stale:"
            + " java .ci/Documents.java fill\n    is:        " + lines[line]
            + "\n    should be: " + right[line]);
    }

    /** Do links lead to files and headings? "](file#heading)", "src="file"", "[JEP 444]: " */
    static void links(Path page, String text) {
        String regex = "(?m)(?:]\\(|src=\"|^\\[[^]]+]: )([^()\\s\"]+)";
        for (String link : Text.groups(regex, text)) {
            String[] target = link.split("#", 2);
            if (target[0].contains(":")) continue; // https://
            Path file = target[0].isEmpty() ? page : page.resolveSibling(target[0]);
            boolean there = Files.exists(file) && (target.length == 1
                || anchors(Text.read(file)).contains(target[1]));
            if (!there) Fault.report(new Fault(page, "leads nowhere: " + link));
        }
    }

    /** The anchors that GitHub gives to headings: "## What's new?" is #whats-new. */
    static List<String> anchors(String text) {
        String prose = text.replaceAll("(?ms)^```.*?^```", "");
        return Text.groups("(?m)^#{1,6} +(.*)", prose).stream().map(heading -> heading.strip()
            .toLowerCase().replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-')).toList();
    }
}

/** What is wrong with a file; its message begins with the file's name. */
class Fault extends RuntimeException {
    static int said;

    interface Step { void take() throws Exception; }

    Fault(Object file, String why) { super(file + ": " + why); }

    static void require(boolean fine, Object file, String why) {
        if (!fine) throw new Fault(file, why);
    }

    /** Takes the step; if it finds a fault, says so and goes on with the next one. */
    static void attempt(Step step) throws Exception {
        try {
            step.take();
        } catch (Fault fault) {
            report(fault);
        }
    }

    static void report(Fault fault) {
        said++;
        System.out.println(fault.getMessage());
    }
}

/** Files, and what a regular expression finds in them. */
class Text {
    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new Fault(file, "cannot be read: " + e);
        }
    }

    /** The files in a folder, in order. */
    static List<Path> list(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
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

    /** A table in Markdown; so many of its columns are aligned to the left. */
    static String table(int left, String head, List<String> rows) {
        int right = head.split(" \\| ").length - left;
        return "| " + head + " |\n|" + "---|".repeat(left) + "--:|".repeat(right) + "\n| "
            + String.join(" |\n| ", rows) + " |";
    }
}

/** A mark's begin is <!-- kind words -->; what it said stands between that and its end. */
record Mark(Path page, String begin, String kind, String words, String said) {
    static final String BEGIN = "<!-- (about|five|ratios|jmh|keeps|block|shell|file) ";
    static final String END = "<!-- end -->";

    /** Such as "alone" of "alone: java Alone.java". */
    String name() { return words.split(":")[0]; }

    /** Such as 21 and 25 of "21 25". */
    List<String> jdks() { return List.of(words.split(" ")); }

    static List<Mark> of(Path page, String text) {
        List<Mark> marks = Text.find("(?s)(" + BEGIN + "(.*?)\\s*-->)(.*?)" + END, text)
            .stream().map(match -> new Mark(page, match.group(1), match.group(2),
                match.group(3), match.group(4))).toList();
        Fault.require(Text.find(BEGIN + "|" + END, text).size() == 2 * marks.size(), page,
            "a mark without its end, or an end without its mark");
        return marks;
    }

    /** The page's text, with another one in place of this mark. */
    String replaced(String text, String by) { return text.replace(begin + said + END, by); }

    /** What is to stand between a mark and its end: what it said, if there is a fault. */
    String made() throws Exception {
        try {
            for (Kept kept : Kept.of(this)) kept.need();
            String made = switch (kind) {
                case "about" -> Results.about(words);
                case "five" -> Results.five(words);
                case "ratios" -> Results.sideBySide();
                case "jmh" -> new Jmh().table(jdks());
                case "keeps" -> Printed.keeps(jdks());
                case "file" -> "```java\n"
                    + Text.read(Path.of(words)).replaceFirst("^// SPDX.*\n", "") + "```";
                default -> Printed.output(Kept.of(this).getFirst());
            };
            return kind.equals("about") ? made : "\n\n" + made + "\n\n";
        } catch (Fault fault) {
            Fault.report(new Fault(page, kind + " " + name() + ": " + fault.getMessage()));
            return said;
        }
    }
}

/** Tables of .ci/runs/starts.md, which the lab made: a report per JDK, and all side by side. */
class Results {
    static final Path STARTS = Kept.RUNS.resolve("starts.md");

    static String sideBySide() {
        return Text.first("(?s)\n### Side by side\n\n(\\|.*?)\n\n", Text.read(STARTS));
    }

    /** The cells below each head, by the name of their row: "pinning 20 in class init". */
    static Map<String, Map<String, String>> rows(String table) {
        Map<String, Map<String, String>> rows = new LinkedHashMap<>();
        List<String> heads = List.of();
        for (String line : Text.groups("(?m)^\\| (.*?) *\\|$", table)) {
            List<String> cells = List.of(line.split(" *\\| *"));
            if (heads.isEmpty()) heads = cells;
            Fault.require(cells.size() == heads.size(), STARTS, "cells are missing: " + line);
            Map<String, String> row = new HashMap<>();
            for (int i = 0; i < cells.size(); i++) row.put(heads.get(i), cells.get(i));
            rows.put(cells.get(0) + " " + cells.get(1), row);
        }
        return rows;
    }

    /** The cell of one JDK in the row that has these words. */
    static String cell(String jdk, String words) {
        List<String> cells = rows(sideBySide()).entrySet().stream()
            .filter(row -> row.getKey().contains(words))
            .map(row -> row.getValue().getOrDefault("JDK " + jdk, "—")).toList();
        Fault.require(cells.size() == 1 && cells.getFirst().contains("×"), STARTS,
            "not one ratio for: " + words);
        return cells.getFirst();
    }

    /** Two digits, or two places near 1: 0.105× (0.104–0.108) is 0.11× (0.10–0.11). */
    static String about(String words) {
        String exact = cell(words.split(" ")[0], words.replaceFirst("\\S+ ", ""));
        return Pattern.compile("[\\d.,]+").matcher(exact).replaceAll(found -> {
            double number = Double.parseDouble(found.group().replace(",", ""));
            return number > 0.95 && number < 2 ? "%.2f".formatted(number) : rounded(number, 2);
        }).replaceFirst("([\\d.,]+)× \\(\\1–\\1\\)", "$1×").replaceFirst("\\.0+×$", "×");
    }

    /** As a table for a narrow screen: the ratio first, with its range over the starts. */
    static String five(String jdk) {
        String code = Text.read(Documents.LAB).split("// ----- Cut here")[0];
        List<String> five = Text.groups("new Experiment\\(\"([a-z-]+)\"", code);
        String table = Text.first("(?s)\n- Java " + jdk + "\\b.*?\n(\\|.*?)\n\n",
            Text.read(STARTS));
        List<String> lines = new ArrayList<>();
        rows(table).forEach((name, row) -> {
            String ratio = row.get("Ratio");
            if (!five.contains(row.get("Experiment")) || ratio.startsWith("~")) return;
            if (ratio.contains("×")) ratio = cell(jdk, name);
            lines.add(String.join(" | ", row.get("Experiment") + ": " + row.get("Work"), ratio,
                row.get("Platform"), row.get("Virtual")));
        });
        Fault.require(!lines.isEmpty(), STARTS, "no report of JDK " + jdk);
        return Text.table(1, "What | Ratio | Platform | Virtual", lines);
    }

    static String rounded(double value, int digits) {
        BigDecimal round = BigDecimal.valueOf(value) // 0.105 as it's written
            .round(new MathContext(digits, RoundingMode.HALF_UP));
        return ("%,." + Math.max(0, round.scale()) + "f").formatted(round);
    }
}

/** The lab's ratios beside JMH's, while the processors were as far apart as in the lab. */
class Jmh {
    /** The lab's rows, and what JMH calls a side of them. */
    static final String[][] ROWS = {
        {"start-time 100 threads", "startTime (side = SIDE, threads = 100)"},
        {"start-time 1,000 threads", "startTime (side = SIDE, threads = 1000)"},
        {"start-time 10,000 threads", "startTime (side = SIDE, threads = 10000)"},
        {"sleep-wave 10,000, pool 200", "sleepWave (side = SIDE)"},
        {"pinning 20 in synchronized", "pinning (side = SIDE)"},
    };

    /** A test begins, or an iteration ends. */
    static final String LINES = "# Benchmark: lab.LabBenchmark.(.*)\n# Parameters: (.*)|"
        + "Iteration .*\n# round trip: (\\d+|NaN) to \\S+ ns\n *p0.50: *([\\d.]+) ns/op";

    final Map<String, List<Double>> times = new HashMap<>(); // that count, by JDK and test
    final double trip; // in the lab, in ns
    boolean far; // most of the lab's rows saw messages that took much longer
    int iterations;

    Jmh() {
        String lab = Text.read(Results.STARTS).replaceAll("\\s+", " ");
        String ns = Text.first("to another processor and back took ([\\d.]+) ns", lab);
        Fault.require(!ns.isEmpty(), Results.STARTS, "has no round trip");
        trip = Double.parseDouble(ns);
        for (MatchResult rows : Text.find("around (\\d+) of (\\d+) rows, it took", lab)) {
            far = 2 * Integer.parseInt(rows.group(1)) > Integer.parseInt(rows.group(2));
        }
    }

    static Path log(String jdk) { return Kept.RUNS.resolve("jmh-" + jdk + ".log"); }

    void read(String jdk) {
        List<Double> test = List.of();
        for (MatchResult found : Text.find(LINES, Text.read(log(jdk)))) {
            if (found.group(1) != null) {
                test = new ArrayList<>();
                times.put(jdk + " " + found.group(1) + " " + found.group(2), test);
            } else {
                iterations++;
                double near = Double.parseDouble(found.group(3)); // NaN: not known
                boolean counts = far ? near > 2.5 * trip : near <= 2.5 * trip;
                if (counts) test.add(Double.parseDouble(found.group(4)));
            }
        }
    }

    String table(List<String> jdks) {
        jdks.forEach(this::read);
        List<String> rows = new ArrayList<>();
        for (String[] row : ROWS) {
            String cells = row[0].replaceFirst(" ", ": ");
            for (String jdk : jdks) {
                cells += " | " + Results.cell(jdk, row[0]) + " | " + ratio(jdk, row[1]);
            }
            rows.add(cells);
        }
        String head = "Work | JDK " + String.join(": lab | JMH | JDK ", jdks) + ": lab | JMH";
        return Text.table(1, head, rows) + "\n\n" + """
            %d of JMH's %d iterations count: those in which a message is known to have taken
            %s 2.5 times as long as the lab's %.0f ns%s.""".formatted(
            times.values().stream().mapToInt(List::size).sum(), iterations,
            far ? "over" : "at most", trip, far ? " at best, as around most of its rows" : "");
    }

    String ratio(String jdk, String test) {
        double ratio = median(jdk, test, "platform") / median(jdk, test, "virtual");
        return Double.isNaN(ratio) ? "—" : Results.rounded(ratio, 3) + "×";
    }

    /** NaN if no iteration counts. */
    double median(String jdk, String test, String side) {
        List<Double> found = times.get(jdk + " " + test.replace("SIDE", side));
        Fault.require(found != null, log(jdk), "no iterations of " + test);
        found.sort(null);
        return found.isEmpty() ? Double.NaN : found.get(found.size() / 2);
    }
}

/** What kept texts say of waits, and how a page shows what a command printed. */
class Printed {
    static Path log(String jdk) { return Kept.RUNS.resolve("keeps-" + jdk + ".txt"); }

    static String keeps(List<String> jdks) {
        List<String> rows = new ArrayList<>();
        String help = Text.read(log(jdks.getFirst()));
        // The list of names in --help: "  loader        loads a class, ..."
        for (MatchResult wait : Text.find("(?m)^  ([a-z][a-z-]*) {2,}([a-z].*)", help)) {
            String row = wait.group(2);
            for (String jdk : jdks) row += " | " + carrier(jdk, wait.group(1));
            rows.add(row);
        }
        String head = "The virtual thread | JDK " + String.join(" | JDK ", jdks);
        return Text.table(1 + jdks.size(), head, rows);
    }

    /** What the heartbeat's sentence about a wait means for the carrier. */
    static String carrier(String jdk, String wait) {
        // "- loader: loader: pinned 20 times, ...", and the lines that go on with it
        String said = Text.first("(?m)^- " + wait + ": [^:]*: (.*(?:\n  .*)*)",
            Text.read(log(jdk))).replaceAll("\\s+", " ");
        Fault.require(said.matches("(pinned (once|\\d)|no carrier was free|"
            + "a carrier was (always )?free).*"), log(jdk), wait + " tells nothing: " + said);
        if (said.startsWith("pinned")) return "**pinned**";
        boolean blocked = said.startsWith("no carrier");
        if (blocked) return said.contains("carrier computed") ? "busy" : "**blocked**";
        return said.contains("added carriers") ? "blocked, compensated" : "free";
    }

    /** What a command printed, but of each report only its rows and what is said of them. */
    static String output(Kept kept) {
        String text = Text.read(kept.file()).substring(kept.head().length())
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
}

/** A file in .ci/runs, and a mark that is made from it. */
record Kept(String name, Mark mark) {
    static final Path RUNS = Path.of(".ci/runs");
    static final Set<Path> ASKED = new HashSet<>();
    static boolean renew;
    static final Path YOUR_CALL = Path.of(".github/your-call.md"); // has a class Mine

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

    static final String JMH = """
        JAVA_HOME="$JDK21" mvn -q -f "$JMH" package >&2
        %s-jar "$JMH/target/benchmarks.jar" 2> /dev/null |
            grep -E '^# (JMH v|VM v|Benchmark:|Param|round)|^Iteration|p0.50:'""";

    static List<Kept> of(Mark mark) {
        List<String> names = switch (mark.kind()) {
            case "file" -> List.of();
            case "block", "shell" -> List.of(mark.name() + ".txt");
            case "keeps" -> mark.jdks().stream().map("keeps-%s.txt"::formatted).toList();
            case "jmh" -> mark.jdks().stream().map("jmh-%s.log"::formatted).toList();
            default -> List.of("starts.md");
        };
        return names.stream().map(name -> new Kept(name, mark)).toList();
    }

    Path file() { return RUNS.resolve(name); }

    /** Is it there, and if it's a text, made by the mark's command? */
    boolean current() { return Files.exists(file()) && Text.read(file()).startsWith(head()); }

    /** How a text begins: with the command that made it. */
    String head() {
        String command = command().strip().replace("\n", "\n$ ");
        return name.endsWith(".md") ? "" : "$ " + command + "\n";
    }

    /** What makes it, as lines of bash. */
    String command() {
        String words = mark.words().replaceFirst("^[^:]*:\\s*", "");
        String java = "\"$JDK" + Text.first("(\\d+)", name) + "/bin/java\" ";
        return switch (mark.kind()) {
            case "shell" -> "source ./jdks.sh > /dev/null\n" + words;
            case "block" -> "source ./jdks.sh > /dev/null\n" + Workshop.block(words);
            case "keeps" -> """
                "$JDK21/bin/javac" -d out VirtualThreadsLab.java Keeps.java
                %s-cp out Keeps --help
                for name in $(sed -n 's/^ *add("\\([a-z-]*\\)".*/\\1/p' Keeps.java)
                do %1$s-cp out Keeps --quick --runs 1 $name; done""".formatted(java);
            default -> name.startsWith("jmh") ? JMH.formatted(java) : """
                for jdk in 21 25 27; do home=JDK$jdk; ln -s "${!home}" jdk$jdk; done
                jdk25/bin/java VirtualThreadsLab.java all --starts 5 --runs 1 --java jdk21 \
                --java jdk25 --java jdk27 --samples""";
        };
    }

    static void renew(String word) throws IOException {
        renew = true;
        for (Path file : Text.list(RUNS)) {
            boolean text = file.toString().endsWith(".txt") && word.endsWith("--texts");
            if (text || word.endsWith("--fresh")) Files.delete(file);
        }
    }

    /** Checks that it's there and current; run makes it before that. */
    void need() throws Exception {
        boolean first = ASKED.add(file());
        if (renew && first && !current()) make();
        Fault.require(current(), file(),
            "missing, or made by another command: java .ci/Documents.java run");
    }

    /** Runs the command, and keeps what it prints. */
    void make() throws Exception {
        System.out.println(name);
        String mine = Text.first("```java\n([^`]*class Mine[^`]*)```", Text.read(YOUR_CALL));
        String setup = SETUP + "cat > Mine.java << 'END'\n" + mine + "END\n";
        boolean own = mark.kind().equals("block"); // the handout has another Mine
        Process bash = new ProcessBuilder("bash", "-euc", (own ? SETUP : setup) + command())
            .redirectInput(new File("/dev/null"))
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String text = new String(bash.getInputStream().readAllBytes());
        Fault.require(bash.waitFor() == 0, file(), "exit code " + bash.exitValue() + " of: "
            + command() + "\nIt printed:\n" + text);
        Files.writeString(file(), head() + text);
    }
}

/** The workshop's steps, and the code that its pages quote. */
class Workshop {
    static final Path ROOM = Path.of(".github/workshop");
    static final Path HANDOUT = ROOM.resolve("handout.md");
    static final Path STEPS = ROOM.resolve("steps");

    /** The sh blocks of the handout below the heading that has the words. */
    static String block(String words) {
        String section = Text.first("(?ms)^##+ ([^\n]*" + Pattern.quote(words)
            + ".*?)(?:^##|\\z)", Text.read(HANDOUT));
        String lines = String.join("", Text.groups("(?ms)^```sh\n(.*?)^```", section));
        Fault.require(!lines.isEmpty(), HANDOUT, "no sh block below: " + words);
        return lines;
    }

    /** ShopN.java must be Shop.java after the steps 1 to N, and each step must fit. */
    static void steps() throws IOException {
        String shop = Text.read(ROOM.resolve("Shop.java"));
        int n = 0;
        for (Path step : Text.list(STEPS)) {
            String patched = patched(shop, step);
            if (++n > 3) continue; // each of these changes Shop3.java
            shop = patched;
            Path finished = ROOM.resolve("Shop" + n + ".java");
            Fault.require(shop.equals(Text.read(finished)), finished,
                "is not Shop.java after the steps 1 to " + n);
        }
    }

    /** A text after a patch; each of its hunks must fit in one place. */
    static String patched(String text, Path step) {
        for (String hunk : Text.read(step).split("(?m)^@@.*\n")) {
            if (hunk.startsWith("---")) continue; // the files' names
            String before = hunk.replaceAll("(?m)^\\+.*\n", "").replaceAll("(?m)^[ -]", "");
            String after = hunk.replaceAll("(?m)^-.*\n", "").replaceAll("(?m)^[ +]", "");
            int at = text.indexOf(before);
            Fault.require(at >= 0 && at == text.lastIndexOf(before), step,
                "does not fit:\n" + hunk);
            text = text.replace(before, after);
        }
        return text;
    }

    /** What the handout quotes or changes must be in the files; so must the trainer's diffs. */
    static void quotes() throws IOException {
        String code = Text.read(Documents.LAB);
        for (Path folder : List.of(ROOM, STEPS)) {
            for (Path file : Text.list(folder)) {
                if (file.toString().matches(".*\\.(java|sh|patch)")) code += Text.read(file);
            }
        }
        String handout = Text.read(HANDOUT);
        List<String> quoted = new ArrayList<>(Text.groups("(?m)^change '(.*?)' '", handout));
        quoted.addAll(Text.groups("(?ms)^```(?:java|bash)\n(.*?)^```", handout));
        for (String line : String.join("\n", quoted).split("\n")) {
            boolean there = code.contains(line.replaceFirst(" +//.*", "").strip());
            if (!there) Fault.report(new Fault(HANDOUT, "is nowhere: " + line));
        }
        Path trainer = ROOM.resolve("trainer.md");
        for (String diff : Text.groups("(?ms)^```diff\n(.*?)^```", Text.read(trainer))) {
            boolean there = code.contains(diff);
            if (!there) Fault.report(new Fault(trainer, "no such step:\n" + diff));
        }
    }
}

/** Pictures and PDFs: each holds the hash of what it was made from. */
class Made {
    static void check() throws Exception {
        String draw = "java .ci/Pictures.java";
        from(draw, ".github/five.svg", ".ci/runs/starts.md", ".ci/Pictures.java");
        from(draw, ".github/ratios.svg", ".ci/runs/starts.md", ".ci/Pictures.java");
        from(draw, ".github/post/five.png", ".github/five.svg");
        String room = ".github/workshop/";
        String print = "sh " + room + "print.sh";
        String script = Text.read(Path.of(room + "print.sh"));
        for (String text : Text.first("(?m)^for text in (.*); do", script).split(" ")) {
            from(print, room + text + ".pdf", room + text + ".md");
        }
        String pictures = Text.first("(?m)^pictures=\"(.*)\"", script);
        from(print, room + "pictures.pdf", pictures.replaceAll("\\S+", room + "$0").split(" "));
    }

    static void from(String command, String made, String... sources) throws Exception {
        Path file = Path.of(made);
        Fault.attempt(() -> Fault.require(Files.exists(file)
            && Files.readString(file, StandardCharsets.ISO_8859_1).contains(hash(sources)),
            made, "missing, or older than its source: " + command));
    }

    /** The name that git gives to a file with the text of these. */
    static String hash(String... files) throws Exception {
        String text = "";
        for (String file : files) text += Text.read(Path.of(file));
        MessageDigest sha = MessageDigest.getInstance("SHA-1");
        sha.update(("blob " + text.getBytes().length + "\0").getBytes());
        return HexFormat.of().formatHex(sha.digest(text.getBytes()));
    }
}
