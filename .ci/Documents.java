// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.math.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/**
 * Makes what the documents quote, and checks that they still say it. A mark in a document is a
 * command; all between it and the end mark is made from the files in .ci/runs:
 *
 *     <!-- table 25 -->                the table of the five, from the first start on JDK 25
 *     <!-- chart 25 -->                its chart
 *     <!-- compare 21 25               chosen rows: the median over the starts of each JDK, of
 *     in synchronized | heading | why  the ratio or, after ", virtual", of the virtual side
 *     -->
 *     <!-- ratios 21 25 27 -->         every row: the median over the starts, and their range
 *     <!-- jmh 21 25 -->               times and ratios, the lab's and JMH's
 *     <!-- exercise 3 -->              what the sh blocks of exercise 3 in WORKSHOP.md printed
 *     <!-- shell NAME: command -->     what the command printed
 *     <!-- end -->
 *
 * After a line <!-- by hand --> a block of code is neither run nor looked up in the lab, and
 * the numbers of a paragraph or table are taken as they are.
 *
 *     java .ci/Documents.java run      make the missing files (run --fresh: all), then fill
 *     java .ci/Documents.java fill     fill the marks
 *     java .ci/Documents.java check    find what neither the lab nor a kept file bears out
 */
class Documents {
    static final Path LAB = Path.of("VirtualThreadsLab.java");
    static final Path RUNS = Path.of(".ci", "runs");
    static final Document README = Document.of("README.md");
    static final Document WORKSHOP = Document.of(".github/WORKSHOP.md");
    static final List<Document> ALL = List.of(README, Document.of("results.md"), WORKSHOP,
        Document.of(".github/CONTRIBUTING.md"));
    static final int STARTS = 5;
    static int faults;

    public static void main(String[] args) throws Exception {
        switch (String.join(" ", args)) {
            case "run" -> run(false);
            case "run --fresh" -> run(true);
            case "fill" -> fill();
            case "check" -> check();
            default -> {
                System.err.println("java .ci/Documents.java run|fill|check, or run --fresh");
                System.exit(2);
            }
        }
        System.out.println((faults == 0 ? "no" : faults) + (faults < 2 ? " fault" : " faults"));
        System.exit(faults == 0 ? 0 : 1);
    }

    static void fill() throws IOException {
        for (Document document : ALL) {
            StringBuilder text = new StringBuilder(document.text);
            for (MatchResult mark : document.parts("made").reversed()) {
                text.replace(mark.start("made"), mark.end("made"), document.made(mark));
            }
            Files.writeString(document.path, text);
        }
    }

    static void fault(Path file, int line, String what) {
        System.out.println(file + ":" + line + ": " + what);
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

    /** The first group of the first match. */
    static String first(String regex, String text) {
        return find(regex, text).stream().map(match -> match.group(1)).findFirst().orElse("");
    }

    // --------------------------------------------------------------------- the documents
    /** A text and its parts: what is made, blocks of code, what is typed by hand, and prose. */
    record Document(Path path, String text) {
        static final String MARK = "^<!-- (table|chart|compare|ratios|jmh|exercise|shell) ";
        static final String PARTS = "(?ms)"
            + MARK + "(?<words>.*?)\\s*-->\n(?<made>.*?)^<!-- end -->$"
            + "|(?<hand>^<!-- by hand -->\n+)?^ *```(?<language>\\w*)\n(?<code>.*?)^ *```$"
            + "|^<!-- by hand -->\n+(?<typed>.*?)(?=\n\n|\\z)"
            + "|^(?: {4}|\t)[^\n]*"; // indented code

        static Document of(String path) {
            return new Document(Path.of(path), read(Path.of(path)));
        }

        /** The parts that have such a group: made, code or typed. */
        List<MatchResult> parts(String group) {
            return find(PARTS, text).stream().filter(part -> part.group(group) != null)
                .toList();
        }

        /** The blocks of code in a language, without those after "by hand". */
        List<String> code(String language) {
            return parts("code").stream().filter(block -> block.group("hand") == null)
                .filter(block -> block.group("language").equals(language))
                .map(block -> block.group("code")).toList();
        }

        /** The text with spaces in place of all that is made, code or typed by hand. */
        String prose() {
            StringBuilder prose = new StringBuilder(text);
            for (MatchResult part : find(PARTS, text)) {
                int from = Math.max(part.start(), part.start("made")); // marks themselves stay
                String spaces = text.substring(from, part.end()).replaceAll(".", " ");
                prose.replace(from, part.end(), spaces);
            }
            return prose.toString();
        }

        void fault(int offset, String what) {
            long line = 1 + text.chars().limit(offset).filter(c -> c == '\n').count();
            Documents.fault(path, (int) line, what);
        }

        /** What is to stand below a mark: what stands there, if it cannot be made. */
        String made(MatchResult mark) {
            try {
                return "\n" + content(mark).stripTrailing() + "\n\n";
            } catch (NoSuchElementException e) {
                fault(mark.start(), e.getMessage());
                return mark.group("made");
            }
        }

        /** The sh blocks of an exercise. */
        String exercise(String number) {
            String section = first("(?ms)^### " + number + "\\. (.*?)(?:^###? |\\z)", text);
            if (section.isEmpty()) throw new NoSuchElementException("no exercise " + number);
            return String.join("", new Document(path, section).code("sh"));
        }

        /** The anchors that GitHub gives to the headings. */
        Set<String> anchors() {
            Set<String> anchors = new HashSet<>();
            for (MatchResult heading : find("(?m)^#{1,6} +(.*)", prose())) {
                String anchor = heading.group(1).strip().toLowerCase(Locale.ROOT)
                    .replaceAll("\\[(.*?)]\\(.*?\\)", "$1")
                    .replaceAll("[^\\p{L}\\p{M}\\p{N}\\p{Pc} -]", "").replace(' ', '-');
                String numbered = anchor;
                for (int n = 1; !anchors.add(numbered); n++) numbered = anchor + "-" + n;
            }
            return anchors;
        }
    }

    // --------------------------------------------------------------------- what is made
    static final String FIVE =
        "(\\| )?(start-time|sleep-wave|cpu-primes|pinning|thread-count) .*";
    static final String REPORT = "(?ms)^# VirtualThreadsLab$.*?"
        + "(?:^```$(?:\\s+## Samples$.*?^```$)?|(?=^# VirtualThreadsLab$)|\\z)";
    static final String CHART = "(?ms)^## At a glance\n+```text\n(.*?)^```";
    static final Map<String, List<String[]>> ROWS = new HashMap<>();
    static final int PLATFORM = 3; // columns
    static final int VIRTUAL = 4;
    static final int RATIO = 5;
    static final Map<String, String> JMH = Map.of( // the lab's rows, on two processors
        "startTime100", "start-time | 100 threads",
        "startTime1000", "start-time | 1,000 threads",
        "startTime10000", "start-time | 10,000 threads",
        "sleepWave", "sleep-wave | 10,000 × 100 ms",
        "pinning", "pinning | 20 in ReentrantLock");

    static String content(MatchResult mark) {
        if (!find("(?m)" + Document.MARK, mark.group("made")).isEmpty()) {
            throw new NoSuchElementException("a mark without its end");
        }
        List<String> files = files(mark);
        if (!kept().containsAll(files)) {
            throw new NoSuchElementException("not measured yet: java .ci/Documents.java run");
        }
        String first = read(RUNS.resolve(files.getFirst()));
        List<String> lines = mark.group("words").lines().toList();
        String[] jdks = lines.getFirst().split(" ");
        return switch (mark.group(1)) {
            case "table" -> five(table(first));
            case "chart" -> block(five(first(CHART, first).lines()));
            case "compare" -> compare(jdks, lines.subList(1, lines.size()));
            case "ratios" -> ratios(jdks) + links(files, ".md");
            case "jmh" -> jmh(jdks) + links(files, ".csv");
            default -> find(REPORT, first).isEmpty() ? block(first)
                : reports(first) + links(files, ".txt");
        };
    }

    static Stream<String> table(String report) {
        return report.lines().filter(line -> line.startsWith("|"));
    }

    /** The lines of the five in a table or chart, and those of no experiment. */
    static String five(Stream<String> lines) {
        return lines.filter(line -> line.matches(FIVE + "|(?!(\\| )?[a-z]).*"))
            .collect(Collectors.joining("\n"));
    }

    static String block(String text) {
        return "```text\n" + text.stripTrailing() + "\n```\n";
    }

    static String links(List<String> files, String suffix) {
        return files.stream().filter(file -> file.endsWith(suffix))
            .map(file -> "[" + file.replace(suffix, "") + "](.ci/runs/" + file + ")")
            .collect(Collectors.joining(", ", "\nWhole: ", "\n"));
    }

    /** The rows of all reports in an output, what they say of them, and what else there is. */
    static String reports(String output) {
        List<String> reports = find(REPORT, output).stream().map(MatchResult::group).toList();
        boolean one = reports.stream().map(Documents::command).distinct().count() == 1;
        String rows = "| Run | Experiment | Work | Platform | Virtual | Ratio | Model |\n"
            + "|---|---|---|--:|--:|--:|--:|\n";
        String items = "";
        for (String report : reports) {
            String run = first("- (Java \\d+)", report) + (one ? "" : ", " + command(report));
            String said = report.substring(report.lastIndexOf("\n|")).split("\n## At a")[0];
            for (String row : table(report).skip(2).toList()) {
                rows += "| " + run + " " + row + "\n";
            }
            for (MatchResult item : find("(?m)^- (.*(\n  .*)*)", said)) {
                items += "- " + run + ", " + item.group(1) + "\n";
            }
        }
        String rest = output.replaceAll(REPORT, "").strip();
        return rows + "\n" + items + (rest.isEmpty() ? "" : "\n" + block(rest));
    }

    static String command(String report) {
        return first("(`java [^`]*`)", report).replaceAll("\\s+", " ");
    }

    static String compare(String[] jdks, List<String> lines) {
        String text = "| Work | JDK " + String.join(" | JDK ", jdks) + " | Why |\n|---|"
            + "--:|".repeat(jdks.length) + "---|\n";
        for (String line : lines) {
            String[] parts = line.split("\\s*\\|\\s*", 3);
            String words = parts[0].replace(", virtual", "");
            List<String> names = names(jdks).stream()
                .filter(name -> name.replace(" | ", " ").contains(words)).toList();
            if (names.size() != 1 || parts.length != 3) {
                throw new NoSuchElementException(names.size() + " rows for: " + line);
            }
            int column = words.equals(parts[0]) ? RATIO : VIRTUAL;
            text += "| " + parts[1] + " | ";
            for (String jdk : jdks) {
                text += median(cells(jdk, "all", names.getFirst(), column)) + " | ";
            }
            text += parts[2] + " |\n";
        }
        return text;
    }

    static String ratios(String[] jdks) {
        String text = "| Experiment | Work | JDK " + String.join(" | JDK ", jdks)
            + " |\n|---|---|" + "--:|".repeat(jdks.length) + "\n";
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

    static String jmh(String[] jdks) {
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

    // --------------------------------------------------------------------- rows and cells
    /** JMH's medians as rows of the lab. Only startTime has another parameter than the side. */
    static Stream<String> jmhRows(String csv) {
        Map<String, Double> platform = new HashMap<>();
        List<String> rows = new ArrayList<>();
        for (MatchResult found : find("(\\w+):p0.50\",\"sample\",\\d+,\\d+,([\\d.]+)"
                + ",NaN,\"ms/op\",\\w+,(\\d*)", csv)) {
            String name = JMH.get(found.group(1) + found.group(3));
            double time = Double.parseDouble(found.group(2));
            if (platform.putIfAbsent(name, time) == null) continue; // that side comes first
            rows.add("| %s | %s ms | %s ms | %s× |".formatted(name, digits(platform.get(name)),
                digits(time), digits(platform.get(name) / time)));
        }
        return rows.stream();
    }

    /** Three digits, as the lab writes them. */
    static String digits(double number) {
        if (number >= 100) return String.format(Locale.ROOT, "%,.0f", number);
        return "" + new BigDecimal(number).round(new MathContext(number < 0.1 ? 2 : 3));
    }

    /** The rows of all runs of the lab (21-all) or of JMH (21-jmh), each as its cells. */
    static List<String[]> rows(String runs) {
        return ROWS.computeIfAbsent(runs, prefix -> kept().stream()
            .filter(name -> name.startsWith(prefix)).map(name -> read(RUNS.resolve(name)))
            .flatMap(run -> prefix.endsWith("jmh") ? jmhRows(run) : table(run).skip(2))
            .map(row -> row.split("\\s*\\|\\s*")).toList());
    }

    /** What the runs have in a column of a row, in ascending order. */
    static List<String> cells(String jdk, String kind, String name, int column) {
        return rows(jdk + "-" + kind).stream()
            .filter(row -> name.equals(row[1] + " | " + row[2]))
            .map(row -> row[column].replace("~", "")).filter(cell -> cell.matches(".*\\d.*"))
            .sorted(Comparator.comparingDouble(cell ->
                Double.parseDouble(cell.replaceAll("[^\\d.]", "")))).toList();
    }

    static Set<String> names(String[] jdks) {
        Set<String> names = new LinkedHashSet<>();
        for (String jdk : jdks) {
            for (String[] row : rows(jdk + "-all")) names.add(row[1] + " | " + row[2]);
        }
        return names;
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
    static final Map<String, String> JAVAS = new HashMap<>(); // by J21, J25 and so on

    static List<String> kept() {
        String[] names = RUNS.toFile().list();
        return names == null ? List.of() : Stream.of(names).sorted().toList();
    }

    /** The files that a mark is made from. */
    static List<String> files(MatchResult mark) {
        String kind = mark.group(1);
        String[] words = mark.group("words").lines().findFirst().orElse("").split(":? ");
        if (kind.equals("shell")) return List.of(words[0] + ".txt");
        if (kind.equals("exercise")) return List.of("exercise-" + words[0] + ".txt");
        if (kind.matches("table|chart")) return List.of(words[0] + "-all-1.md");
        List<String> files = new ArrayList<>();
        for (String jdk : words) for (int start = 1; start <= STARTS; start++) {
            files.add(jdk + "-all-" + start + ".md");
            boolean pass = kind.equals("jmh") && start % 2 == 1;
            if (pass) files.add(jdk + "-jmh-" + start + ".csv");
        }
        return files;
    }

    /** All files asked for: first, by start and JDK, what is measured in turns. */
    static Map<String, MatchResult> wanted() {
        Map<String, MatchResult> wanted = new TreeMap<>(Comparator.comparing(name ->
            name.replaceAll("(\\d+)-(all|jmh)-(\\d)", " $3 $1 $2")));
        for (Document document : ALL) for (MatchResult mark : document.parts("made")) {
            for (String file : files(mark)) wanted.put(file, mark);
        }
        return wanted;
    }

    static void run(boolean fresh) throws Exception {
        Files.createDirectories(RUNS);
        Process list = new ProcessBuilder("sh", ".ci/java", "--list").start();
        for (String line : list.inputReader().lines().toList()) {
            JAVAS.putIfAbsent("J" + line.split(" ")[0], line.split(" ", 2)[1]);
        }
        Map<String, MatchResult> wanted = wanted();
        if (!fresh) wanted.keySet().removeAll(kept());
        if (String.join(" ", wanted.keySet()).contains(".csv")) build();
        for (String name : wanted.keySet()) {
            System.out.println(name);
            try {
                keep(name, command(name, wanted.get(name)));
            } catch (IOException | NoSuchElementException e) {
                fault(RUNS.resolve(name), 1, e.getMessage());
            }
        }
        fill();
    }

    static void build() throws Exception {
        ProcessBuilder maven =
            new ProcessBuilder("mvn", "-q", "-f", ".ci/jmh/pom.xml", "package");
        maven.environment().put("JAVA_HOME", JAVAS.get("J21").replace("/bin/java", ""));
        maven.inheritIO().start().waitFor();
    }

    static List<String> command(String name, MatchResult mark) {
        String words = mark.group("words");
        String java = JAVAS.getOrDefault("J" + name.split("-")[0], "no such JDK");
        return switch (mark.group(1)) {
            case "exercise" -> List.of("bash", "-eu", "-c", WORKSHOP.exercise(words));
            case "shell" -> List.of("bash", "-eu", "-c", words.split(":", 2)[1]);
            default -> name.endsWith(".md") ? List.of(java, LAB.toString(), "all", "--samples")
                : List.of(java, "-jar", ".ci/jmh/target/benchmarks.jar",
                    "-rf", "csv", "-rff", "/dev/stdout", "-o", "/dev/null");
        };
    }

    /** Runs a command; what it prints is kept once it has ended well. */
    static void keep(String name, List<String> command) throws Exception {
        Path making = RUNS.resolve(name + ".making");
        Path errors = Files.createTempFile("errors", ".txt");
        errors.toFile().deleteOnExit();
        ProcessBuilder builder = new ProcessBuilder(command)
            .redirectOutput(making.toFile()).redirectError(errors.toFile());
        if (command.contains("bash")) builder.directory(scratch().toFile());
        builder.environment().putAll(JAVAS);
        Process process = builder.start();
        process.getOutputStream().close();
        if (process.waitFor() == 0) {
            Files.move(making, RUNS.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        } else {
            Files.copy(errors, System.err);
            String what = "exit code " + process.exitValue() + ": ";
            fault(making, 1, what + String.join(" ", command));
        }
    }

    /** A new folder with the lab and README's programs. */
    static Path scratch() throws IOException {
        Path folder = Files.createTempDirectory("documents");
        Files.copy(LAB, folder.resolve(LAB));
        for (String code : README.code("java")) {
            String name = first("(?m)^(?:public |final )*class (\\w+)", code);
            boolean program = !name.isEmpty() && code.contains(" main(");
            if (program) Files.writeString(folder.resolve(name + ".java"), code);
        }
        return folder;
    }

    // --------------------------------------------------------------------- the check
    static final String NUMBER = "(?<![\\w.,])\\d[\\d.,]*(?:×|\\s+(?:ms|µs|s|bytes)\\b)";

    static void check() throws Exception {
        String lab = read(LAB);
        StringBuilder sources = new StringBuilder(lab);
        Set<String> wanted = wanted().keySet();
        for (String name : kept()) {
            if (!wanted.contains(name)) fault(RUNS.resolve(name), 1, "no mark asks for it");
            if (!name.endsWith(".csv")) sources.append(read(RUNS.resolve(name)));
        }
        for (Document document : ALL) {
            for (MatchResult typed : document.parts("typed")) sources.append(typed.group());
            for (MatchResult mark : document.parts("made")) {
                if (mark.group(1).equals("jmh")) sources.append(mark.group("made"));
            }
        }
        Set<String> known = find(NUMBER, sources.toString()).stream()
            .map(Documents::spaced).collect(Collectors.toSet());
        Set<String> help = help();
        for (Document document : ALL) {
            marks(document);
            for (MatchResult number : find(NUMBER, document.prose())) {
                if (known.contains(spaced(number))) continue;
                document.fault(number.start(), "nobody measured " + spaced(number));
            }
            links(document);
            commands(document, help);
        }
        quotes(lab);
    }

    static void marks(Document document) {
        List<MatchResult> marks = document.parts("made");
        for (MatchResult half : find("(?m)" + Document.MARK + "|^<!-- end", document.prose())) {
            if (marks.stream().anyMatch(mark -> mark.start() == half.start())) continue;
            document.fault(half.start(), "a mark without its end, or an end without its mark");
        }
        for (MatchResult mark : marks) {
            char[] stands = mark.group("made").toCharArray();
            int at = Arrays.mismatch(stands, document.made(mark).toCharArray());
            if (at < 0) continue;
            document.fault(mark.start("made") + at, "stale: java .ci/Documents.java fill");
        }
    }

    static String spaced(MatchResult number) {
        return number.group().replaceAll("\\s+", " ");
    }

    static void links(Document document) {
        for (MatchResult link : find("(?m)(?:]\\(|^\\[[^]]+]: )([^()\\s]+)", document.text)) {
            String[] target = link.group(1).split("#", 2);
            if (target[0].contains(":")) continue;
            Path file = target[0].isEmpty() ? document.path
                : document.path.resolveSibling(target[0]).normalize();
            boolean there = Files.exists(file);
            if (there && target.length == 2 && file.toString().endsWith(".md")) {
                there = Document.of(file.toString()).anchors().contains(target[1]);
            }
            if (!there) document.fault(link.start(), "leads nowhere: " + link.group(1));
        }
    }

    /** The words after the name of the lab's file, or of a changed copy. */
    static void commands(Document document, Set<String> help) {
        String labs = "VirtualThreadsLab";
        for (MatchResult copy : find(labs + "\\.java(?: >)? (\\w+)\\.java", document.text)) {
            labs += "|" + copy.group(1);
        }
        for (MatchResult call : find("(?:java|J\\d\\d}?\"?) (?:[^\n|;&<>#`]* )?(?:" + labs
                + ")\\.java((?:\\\\\n|[^\n|;&<>#`])*)", document.text)) {
            for (String word : call.group(1).split("[^\\w$-]+")) {
                if (!word.matches("-*[a-z].*") || help.contains(word)) continue;
                document.fault(call.start(), "not in the lab's --help: " + word);
            }
        }
    }

    /** The lines of code that the handout quotes, and those that it changes with sed. */
    static void quotes(String lab) {
        List<String> lines = new ArrayList<>();
        for (String code : WORKSHOP.code("java")) lines.addAll(code.lines().toList());
        for (MatchResult sed : find("sed 's/([^/]+)/.*" + LAB, WORKSHOP.text)) {
            lines.add(sed.group(1));
        }
        for (String line : lines) {
            boolean known = lab.contains(line.strip());
            if (!known) WORKSHOP.fault(WORKSHOP.text.indexOf(line), "not in the lab: " + line);
        }
    }

    /** The lab's options and experiments; notes the experiments that no report has. */
    static Set<String> help() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(java, LAB.toString(), "--help")
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String help = String.join("\n", process.inputReader().lines().toList());
        String kept = "";
        for (String name : kept()) if (name.contains("-all-")) kept += read(RUNS.resolve(name));
        Set<String> words = new HashSet<>(Set.of("all", "experiment", "--help", "-h"));
        for (MatchResult option : find("--\\w+", help)) words.add(option.group());
        for (MatchResult line : find("(?m)^ +([a-z][a-z-]+) ", help)) {
            words.add(line.group(1));
            if (kept.isEmpty() || kept.contains("\n| " + line.group(1) + " ")) continue;
            System.out.println("note: no kept report has " + line.group(1));
        }
        return words;
    }
}
