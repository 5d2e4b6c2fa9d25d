// SPDX-License-Identifier: MIT-0
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.TimeUnit;
import java.util.regex.*;
import javax.tools.*;

/**
 * Makes whatever the documents quote of a run, and checks that they still say it. It runs at
 * the top level, takes its JDKs from sh .ci/java --list, writes between marks only, and only
 * once everything has come out whole. First a class for each of the four words, then what
 * they are written in: Exercise, Command, Document, Report, Source, Run, Text.
 */
class Documents {
    static final List<String> WORDS = List.of("results", "exercises", "handout", "check");
    static final String USAGE = """
        java .ci/Documents.java WORD

          results [--starts N] [--from FOLDER] [--quick]
                      run all experiments on JDK 21, 25 and 27 in turns, N starts each (3),
                      and write results.md, and the table and chart of README.md; --from
                      goes on with the reports that an earlier run has kept, and --quick
                      is for trying, not for quoting
          exercises [N ...] [own]
                      do what the exercises of README.md say, and write what came out
          handout     print what a workshop gets on paper, in Markdown
          check       find what the documents say, and lab and reports do not

        Exit code 0: done; 1: faults, or nothing was written; 2: bad command line, no JDK.
        """;

    public static void main(String[] args) throws Exception {
        try {
            System.exit(run(new ArrayList<>(List.of(args))));
        } catch (Stop stop) {
            System.err.println("Documents: " + Text.line(stop.getMessage()));
            System.exit(stop.exitCode);
        } catch (IOException e) {
            System.err.println("Documents: " + Text.line("" + e));
            System.exit(1);
        }
    }

    static int run(List<String> words) throws Exception {
        boolean help = words.isEmpty() || words.contains("--help");
        String word = help ? "--help" : words.removeFirst();
        if (List.of("handout", "check").contains(word) && !words.isEmpty()) {
            throw new Stop(2, word + " takes no other word, such as " + words.getFirst());
        }
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, UTF_8);
        switch (word) {
            case "--help" -> out.print(USAGE);
            case "results" -> Results.make(words);
            case "exercises" -> Exercises.make(words);
            case "handout" -> out.print(Handout.text());
            case "check" -> {
                List<String> faults = new Check().faults();
                faults.forEach(out::println);
                return faults.isEmpty() ? 0 : 1;
            }
            default -> throw new Stop(2, "unknown: '" + word + "', try --help");
        }
        return 0;
    }
}

/** Ends the program with one line that says why, and an exit code. */
class Stop extends RuntimeException {
    private static final long serialVersionUID = 1;
    final int exitCode;

    Stop(int exitCode, String why) {
        super(why);
        this.exitCode = exitCode;
    }
}

// ----------------------------------------------------------------------------- results
/** Starts the lab several times on each JDK; writes its reports and what they say together. */
class Results {
    static final List<Integer> VERSIONS = List.of(21, 25, 27);
    static final int SHOWN = 25; // in README's table; also a plain java in exercises

    static void make(List<String> words) throws Exception {
        int starts = 3;
        Path folder = null;
        List<String> lab = new ArrayList<>(List.of("VirtualThreadsLab.java", "all"));
        for (var word = words.iterator(); word.hasNext();) {
            switch (word.next()) {
                case "--quick" -> lab.add("--quick");
                case "--starts" -> starts = starts(word.hasNext() ? word.next() : "nothing");
                case "--from" -> folder = folder(word.hasNext() ? word.next() : "");
                default -> throw new Stop(2, "results knows --starts, --from and --quick");
            }
        }
        lab.add("--samples");
        var results = new Document("results.md").writable("comparison", "reports");
        var readme = new Document("README.md").writable("table", "chart");
        if (folder == null) folder = Files.createTempDirectory("results");

        SortedMap<Integer, List<Report>> reports = collect(starts, folder, lab);
        Report shown = reports.get(SHOWN).getFirst();
        results.fill("comparison", comparison(reports));
        results.fill("reports", blocks(reports));
        readme.fill("table", table(shown));
        readme.fill("chart", chart(shown));
        Document.write(results, readme);
    }

    static int starts(String number) {
        if (number.matches("[3-9]|[1-9][0-9]")) return Integer.parseInt(number);
        throw new Stop(2, "--starts takes 3 to 99, not " + number);
    }

    static Path folder(String name) {
        if (!name.isEmpty() && Files.isDirectory(Path.of(name))) return Path.of(name);
        throw new Stop(2, "there is no folder '" + name + "'");
    }

    /** Reads the reports in the folder, and makes those that are missing, in turns. */
    static SortedMap<Integer, List<Report>> collect(int starts, Path folder, List<String> lab)
            throws IOException {
        Map<Path, Integer> files = new LinkedHashMap<>(); // and their JDKs
        for (int start = 1; start <= starts; start++) {
            for (int jdk : VERSIONS) files.put(folder.resolve(jdk + "-" + start + ".md"), jdk);
        }
        Map<Path, Integer> missing = new LinkedHashMap<>(files);
        missing.keySet().removeIf(Files::exists);
        for (int jdk : missing.values()) Run.java(jdk);
        Text.progress("the reports are kept in %s", folder);

        SortedMap<Integer, List<Report>> reports = new TreeMap<>();
        List<List<String>> works = null;
        long begun = System.nanoTime();
        int made = 0;
        for (Path file : files.keySet()) {
            int jdk = files.get(file);
            if (missing.containsKey(file)) {
                double minutes = (System.nanoTime() - begun) / 60e9;
                String time = made == 0 ? "" : String.format(Locale.ROOT,
                    ", %.0f min of about %.0f", minutes, minutes / made * missing.size());
                Text.progress("start %d of %d, JDK %d%s", ++made, missing.size(), jdk, time);
                measure(jdk, lab, file);
            }
            var report = new Report(Files.readString(file));
            if (works == null) works = report.works();
            String flaw = report.flaw();
            if (!report.text().contains("\n## Samples\n")) flaw = "it has no samples";
            if (!report.head().startsWith("- Java " + jdk)) flaw = "it is of another JDK";
            if (!report.works().equals(works)) flaw = "its rows are not those of the first";
            if (!flaw.isEmpty()) throw new Stop(1, "nothing is written: " + file + ": " + flaw);
            reports.computeIfAbsent(jdk, some -> new ArrayList<>()).add(report);
        }
        return reports;
    }

    static void measure(int jdk, List<String> lab, Path file) throws IOException {
        Run run = Run.java(jdk, Path.of(""), lab);
        boolean whole = run.exitCode() == 0;
        Path kept = whole ? file : file.resolveSibling("failed-" + file.getFileName());
        Files.writeString(kept, run.out());
        if (whole) return;
        throw new Stop(1, "nothing is written: " + kept + " has exit code " + run.exitCode()
            + "; to go on with the others: results --from " + file.getParent());
    }

    static String table(Report report) {
        return String.join("\n", report.ofTheFive(report.table()));
    }

    static String chart(Report report) {
        return "```text\n" + String.join("\n", report.ofTheFive(report.chart())) + "\n```";
    }

    /** Puts the JDKs side by side. */
    static String comparison(SortedMap<Integer, List<Report>> reports) {
        List<Report> first = reports.get(reports.firstKey());
        var text = new StringBuilder(Text.wrap("Each cell is the median over " + first.size()
            + " starts of that JDK, with their range in brackets where they differ: the ratio,"
            + " platform ÷ virtual, or where a row has none the virtual side's time. `~` marks"
            + " a row that was noisy in more than half of the starts.", "")
            + "\n| Experiment | Work |");
        for (int jdk : reports.keySet()) text.append(" JDK " + jdk + " |");
        text.append("\n|---|---|" + "--:|".repeat(reports.size()));
        List<List<String>> works = first.getFirst().works();
        for (int row = 0; row < works.size(); row++) {
            text.append("\n| " + String.join(" | ", works.get(row)) + " |");
            for (List<Report> starts : reports.values()) {
                text.append(" " + cell(starts, row) + " |");
            }
        }
        return text.toString();
    }

    /** Returns the median of a row over the starts, and their range: 264× (251–277). */
    static String cell(List<Report> starts, int row) {
        int noisy = 0;
        String unit = "";
        List<String> numbers = new ArrayList<>();
        for (Report report : starts) {
            String ratio = report.rows().get(row).get(4);
            String value = ratio.equals("—") ? report.rows().get(row).get(3) : ratio;
            if (value.startsWith("~")) noisy++;
            numbers.add(Text.find("[0-9][0-9.,]*", value));
            unit = value.replaceFirst("~?[0-9.,]+", "");
        }
        numbers.sort(Comparator.comparingDouble(Text::value));
        String low = numbers.getFirst();
        String high = numbers.getLast();
        String middle = numbers.get(numbers.size() / 2);
        if (numbers.size() % 2 == 0) {
            double below = Text.value(numbers.get(numbers.size() / 2 - 1));
            middle = Text.three((below + Text.value(middle)) / 2);
        }
        return (2 * noisy > starts.size() ? "~" : "") + middle + unit
            + (low.equals(high) ? "" : " (" + low + "–" + high + ")");
    }

    /** Returns each JDK's first report letter for letter, and head and table of its others. */
    static String blocks(SortedMap<Integer, List<Report>> reports) {
        List<String> blocks = new ArrayList<>();
        reports.forEach((jdk, starts) -> {
            for (Report report : starts) {
                boolean first = report == starts.getFirst();
                String command = Text.find("(?<=`)java [^`]*", Text.line(report.head()));
                blocks.add("<details>\n<summary>JDK " + jdk + ", start "
                    + (starts.indexOf(report) + 1) + " of " + starts.size() + ": "
                    + (first ? "<code>" + command + "</code>" : "head and table")
                    + "</summary>\n\n" + (first ? report.text().strip()
                    : report.head() + "\n" + String.join("\n", report.table()))
                    + "\n\n</details>");
            }
        });
        return String.join("\n\n", blocks);
    }

    /** Returns the reports that stand in results.md, by their JDK. */
    static SortedMap<Integer, List<Report>> kept(Document results) {
        SortedMap<Integer, List<Report>> reports = new TreeMap<>();
        for (MatchResult block : Text.all("(?s)<summary>JDK (\\d+), start .*?</summary>\n\n"
                + "(.*?\n)\n</details>", results.block("reports"))) {
            int jdk = Integer.parseInt(block.group(1));
            reports.computeIfAbsent(jdk, some -> new ArrayList<>())
                .add(new Report(block.group(2)));
        }
        if (reports.containsKey(SHOWN)) return reports;
        throw new Stop(1, "results.md has no report of JDK " + SHOWN);
    }
}

// --------------------------------------------------------------------------- exercises
/** Does what the exercises say, in a folder of its own, and writes what came out. */
class Exercises {
    static void make(List<String> words) throws Exception {
        var readme = new Document("README.md");
        var lab = new Source(new Document("VirtualThreadsLab.java").text);
        List<Exercise> chosen = new ArrayList<>(Exercise.all(readme));
        List<String> unknown = new ArrayList<>(words);
        unknown.remove("own");
        for (Exercise exercise : chosen) unknown.remove(exercise.id());
        if (!unknown.isEmpty()) throw new Stop(2, "README.md has no exercise " + unknown);
        chosen.removeIf(one -> one.steps().isEmpty());
        if (!words.isEmpty()) chosen.removeIf(one -> !words.contains(one.id()));
        for (Exercise exercise : chosen) {
            exercise.compile(lab);
            readme.writable(exercise.name());
            for (var step : exercise.steps()) Run.java(step.command().jdk());
        }
        boolean withOwn = words.isEmpty() ? readme.has("own") : words.contains("own");
        var own = withOwn ? new Own(readme, lab) : null;
        if (withOwn) for (int jdk : Own.VERSIONS) Run.java(jdk);

        Path folder = Files.createTempDirectory("exercises");
        try {
            for (Exercise exercise : chosen) {
                readme.fill(exercise.name(), done(exercise, lab, folder));
            }
            String lacking = withOwn ? own.fetch(folder) : "";
            if (withOwn && lacking.isEmpty()) readme.fill("own", own.table(folder));
            Document.write(readme);
            if (!lacking.isEmpty()) throw new Stop(1, "'own' is left as it was: " + lacking);
        } finally {
            Text.delete(folder);
        }
    }

    /** Does the steps of an exercise; returns a table of their rows, and their sentences. */
    static String done(Exercise exercise, Source lab, Path folder) throws Exception {
        boolean samples = exercise.steps().stream()
            .anyMatch(step -> step.command().words().contains("--samples"));
        List<String> rows = new ArrayList<>();
        List<String> told = new ArrayList<>();
        for (var step : exercise.steps()) {
            Command command = step.command();
            Files.writeString(folder.resolve(command.file()), exercise.source(step, lab));
            for (int time = 1; time <= step.times(); time++) {
                Text.progress("%s, step %d: %s", exercise.name(), step.number(), command);
                if (step.dumps()) return Dumps.table(command, folder);
                Run run = Run.java(command.jdk(), folder, command.toRun());
                var report = new Report(run.out());
                String flaw = command.isLab() ? report.flaw() : "";
                if (run.exitCode() != 0) flaw = "exit code " + run.exitCode();
                if (!flaw.isEmpty()) {
                    throw new Stop(1, "nothing is written, because of " + exercise.name()
                        + ", step " + step.number() + ": " + flaw);
                }
                String head = "- Step " + step.number() + " took " + run.seconds() + " s";
                if (!command.isLab()) {
                    told.add(head + ":\n\n  ```text\n" + run.out().indent(2) + "  ```\n");
                    continue;
                }
                for (List<String> row : report.rows()) {
                    rows.add("| " + step.number() + " | " + command.jdk() + " | "
                        + String.join(" | ", row) + " |"
                        + (samples ? " " + report.firstShots(row) + " |" : ""));
                }
                if (time > 1) continue;
                String tail = step.times() > 1 ? " each time." : ". " + report.sentences();
                told.add(Text.wrap(head + tail, "  "));
            }
        }
        if (rows.isEmpty()) return String.join("", told);
        String header = "| Step | JDK | " + String.join(" | ", Report.COLUMNS) + " |"
            + (samples ? " First shots |" : "") + "\n|--:|--:|---|---|--:|--:|--:|--:|"
            + (samples ? "--:|" : "") + "\n";
        return header + String.join("\n", rows) + "\n\n" + String.join("", told);
    }
}

/** The exercise in which jcmd lists the threads while the lab runs. */
class Dumps {
    static String table(Command command, Path folder) throws Exception {
        String java = Run.java(command.jdk());
        String jcmd = Path.of(java).resolveSibling("jcmd").toString();
        Path dump = folder.resolve("dump.json");
        List<Integer> pool = new ArrayList<>();
        int virtualSide = 0;
        int mostVirtual = 0;
        Process lab = Run.start(folder, java, command.toRun())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(folder.resolve("report.md").toFile()).start();
        while (!lab.waitFor(1, TimeUnit.SECONDS)) {
            Run listed = Run.of(Run.start(folder, jcmd, List.of("" + lab.pid(),
                "Thread.dump_to_file", "-overwrite", "-format=json", "" + dump)));
            if (listed.exitCode() != 0 || !Files.exists(dump)) continue; // too early, too late
            String text = Files.readString(dump);
            int threads = Text.all("\"tid\"", text).size();
            int virtual = Text.all("\"virtual\": true", text).size();
            if (virtual == 0) pool.add(threads);
            if (virtual <= mostVirtual) continue;
            mostVirtual = virtual;
            virtualSide = threads;
        }
        if (lab.exitValue() != 0 || pool.isEmpty() || mostVirtual == 0) {
            throw new Stop(1, "nothing is written, as jcmd did not see both sides of the lab");
        }
        int most = Collections.max(pool);
        pool.removeIf(threads -> 2 * threads < most); // before the pool was full
        int least = Collections.min(pool);
        return "| Meanwhile | Threads listed | of which virtual |\n|---|--:|--:|\n"
            + "| the pool works | " + (least < most ? Text.number(least) + "–" : "")
            + Text.number(most) + " | 0 |\n| virtual threads wait | "
            + Text.number(virtualSide) + " | " + Text.number(mostVirtual) + " |\n";
    }
}

/** The experiment of one's own, with each driver whose coordinates stand in its section. */
class Own {
    static final List<Integer> VERSIONS = List.of(21, 25);
    private final String source;
    private final Command command;
    private final List<String> coordinates;

    Own(Document readme, Source lab) throws IOException {
        readme.writable("own");
        String section = readme.section("own");
        String method = "";
        for (String block : Text.found("(?s)(?<=```java\n).*?(?=```)", section)) {
            if (block.contains("static void mine()")) method = block;
        }
        String line = Text.find("(?s)new Experiment\\(\"mine\",[^`]*?\\)(?=,?\\s*(`|\n))",
            section);
        coordinates = List.copyOf(new LinkedHashSet<>(
            Text.found("\\b[\\w.]+:[\\w-]+:\\d[\\w.]*\\w", section)));
        List<Command> commands = new ArrayList<>(Command.all(section));
        commands.removeIf(one -> !one.file().equals("Mine.java"));
        commands.removeIf(one -> !one.flags().contains("-cp"));
        String lacking = method.isEmpty() ? "a java block with static void mine()"
            : line.isEmpty() ? "a line new Experiment(\"mine\", ...) for the list"
            : coordinates.isEmpty() ? "the coordinates of a driver"
            : commands.isEmpty() ? "a command java -cp DRIVER.jar Mine.java mine" : "";
        if (!lacking.isEmpty()) throw new Stop(1, "the exercise 'own' lacks " + lacking);
        command = commands.getFirst();
        source = lab.withExperiment(method, line);
        String error = Source.compile("Mine.java", source, null);
        if (!error.isEmpty()) throw new Stop(1, "'own' does not compile: " + error);
    }

    /** Downloads the drivers; says what is missing. */
    String fetch(Path folder) {
        for (String coordinate : coordinates) {
            try {
                Run maven = Run.of(Run.start(folder, "mvn", List.of("-q", "dependency:copy",
                    "-Dartifact=" + coordinate, "-DoutputDirectory=" + folder)));
                if (maven.exitCode() != 0) return "mvn did not bring " + coordinate;
            } catch (Stop stop) {
                return stop.getMessage();
            }
        }
        return "";
    }

    String table(Path folder) throws IOException {
        Files.writeString(folder.resolve("Mine.java"), source);
        var text = new StringBuilder("| |");
        for (int jdk : VERSIONS) text.append(" JDK " + jdk + " |");
        text.append("\n|:--|" + "--:|".repeat(VERSIONS.size()) + "\n");
        for (String coordinate : coordinates) {
            String[] parts = coordinate.split(":");
            List<String> words = new ArrayList<>(command.toRun());
            words.set(words.indexOf("-cp") + 1, parts[1] + "-" + parts[2] + ".jar");
            text.append("| " + parts[1].toUpperCase(Locale.ROOT) + " " + parts[2] + " |");
            for (int jdk : VERSIONS) {
                Text.progress("own: %s on JDK %d", coordinate, jdk);
                Run run = Run.java(jdk, folder, words);
                var report = new Report(run.out());
                String events = Text.find("\\d+ pinned events?", report.sentences());
                if (run.exitCode() != 0 || !report.flaw().isEmpty() || events.isEmpty()) {
                    throw new Stop(1, "nothing is written, as " + coordinate + " on JDK " + jdk
                        + " gave no row with its pinned events: " + run.out());
                }
                text.append(" " + report.rows().getFirst().get(4) + ", " + events + " |");
            }
            text.append("\n");
        }
        return text.toString();
    }
}

// ----------------------------------------------------------------------------- handout
/** What a room gets on paper: no prediction, no answer. */
class Handout {
    static final String HEAD = """
        # VirtualThreadsLab: predict, measure, explain

        <style>@media print { pre, table { break-inside: avoid } h2, h3 { break-after: avoid }
        body { font-size: 10pt } pre { font-size: 8pt; margin: 4pt 0 }
        td, th { padding: 2pt 8pt; border: 1px solid } td:empty { width: 10em } }</style>

        For each row, write down the ratio that you expect, and why. Then measure. Where the
        two differ, explain it.

        ## The words

        ```text
        %s
        ```

        ## The command, and how to read its table

            java VirtualThreadsLab.java --predict

        runs the five experiments and asks for your ratio before each row. With names behind
        it, it runs only those. `--help` tells the rest.

        | Column | Content |
        |---|---|
        | Platform, Virtual | the median of the samples of each side |
        | Ratio | platform ÷ virtual: above 1×, virtual threads need less |
        | Predicted | the ratio that a simple model gives; `—` where there is none |
        | You | the ratio that you expected |

        `~` marks a noisy row. In the code below, `____` stands where the model's ratio would.
        Rows are named as on a machine with two processors; on others some numbers differ.

        """;

    static String text() {
        var lab = new Source(new Document("VirtualThreadsLab.java").text);
        var readme = new Document("README.md");
        Report report = Results.kept(new Document("results.md")).get(Results.SHOWN).getFirst();
        Set<String> encores = new LinkedHashSet<>(lab.experiments.keySet());
        Set<String> used = new HashSet<>();
        for (Exercise exercise : Exercise.all(readme)) {
            for (var step : exercise.steps()) used.addAll(step.command().words());
        }
        encores.retainAll(used);
        encores.removeAll(Set.copyOf(report.five()));
        Set<Source.Member> printed = new HashSet<>();
        return HEAD.formatted(lab.classComment()) + "## The five experiments\n\n"
            + experiments(report.five(), lab, report, printed)
            + "## More experiments, for the exercises\n\n"
            + experiments(encores, lab, report, printed) // whose sentences would say too much
                .replaceAll("(?s)\\bsay\\(\".*?\\);\n", "say(____);\n")
            + exercises(readme);
    }

    /** Returns each with its helpers and without its prediction, and a table to fill in. */
    static String experiments(Collection<String> names, Source lab, Report report,
            Set<Source.Member> printed) {
        var text = new StringBuilder();
        for (String name : names) {
            text.append("### " + name + "\n\n" + lab.toPredict(name, printed)
                + "| Row | My ratio | Measured | Why |\n|---|---|---|---|\n");
            for (List<String> work : report.works()) {
                if (work.get(0).equals(name)) text.append("| " + work.get(1) + " | | | |\n");
            }
            text.append("\n");
        }
        return text.toString();
    }

    static String exercises(Document readme) {
        String section = Text.find("(?ms)^## Exercises\n.*?(?=^## |\\z)", readme.text);
        if (section.isEmpty()) throw new Stop(1, "README.md has no section 'Exercises'");
        return section.replaceAll("(?s)<details>.*?</details>\n*", "")
            .replaceAll(Document.BLOCK, "");
    }
}

// ------------------------------------------------------------------------------- check
/** Finds what the documents say that neither the lab nor a report does. Measures nothing. */
class Check {
    final List<String> faults = new ArrayList<>();
    final Document readme = new Document("README.md");
    final Document results = new Document("results.md");
    final Document contributing = new Document(".github/CONTRIBUTING.md");
    final Document file = new Document("VirtualThreadsLab.java");
    final Source lab = new Source(file.text);
    final SortedMap<Integer, List<Report>> reports = Results.kept(results);
    final Report shown = reports.get(Results.SHOWN).getFirst();
    final NavigableMap<Integer, Integer> theirs = new TreeMap<>(); // from and to in results.md

    List<String> faults() throws Exception {
        reports.forEach(this::sound);
        same(readme, "table", Results.table(shown));
        same(readme, "chart", Results.chart(shown));
        same(results, "comparison", Results.comparison(reports));
        published();
        numbers();
        for (Exercise exercise : Exercise.all(readme)) exercise(exercise);
        own();
        commands();
        names();
        for (Document document : List.of(readme, results, contributing)) links(document);
        handout();
        return faults;
    }

    void fault(Document document, int at, String what) {
        int line = document.text.substring(0, Math.max(at, 0)).split("\n", -1).length;
        faults.add(document.name + ":" + line + ": " + Text.line(what));
    }

    /** Has the rows of all experiments, at least three starts, and medians of its samples. */
    void sound(int jdk, List<Report> starts) {
        int at = results.text.indexOf("<summary>JDK " + jdk + ", start ");
        if (starts.size() < 3) fault(results, at, "fewer than 3 starts of JDK " + jdk);
        if (!starts.getFirst().names().equals(List.copyOf(lab.experiments.keySet()))) {
            fault(results, at, "the experiments are not those of the lab");
        }
        for (Report report : starts) {
            if (!report.head().startsWith("- Java " + jdk)) fault(results, at, "not that JDK");
            if (!report.works().equals(shown.works())) fault(results, at, "rows differ");
        }
        for (String wrong : starts.getFirst().wrongRows()) fault(results, at, wrong);
    }

    void same(Document document, String block, String expected) {
        if (document.block(block).equals(expected.strip())) return;
        fault(document, document.text.indexOf("<!-- " + block + ":"),
            "the block '" + block + "' is not what the reports in results.md say");
    }

    /**
     * What stands under "Our ratio" is a cell of JDK 25, of the comparison or of the report.
     * What stands before it is of others.
     */
    void published() {
        Set<String> ours = new HashSet<>(Set.of(""));
        for (int row = 0; row < shown.rows().size(); row++) {
            ours.add(Results.cell(reports.get(Results.SHOWN), row).replace("~", ""));
            ours.add(shown.rows().get(row).get(4).replace("~", ""));
        }
        int column = -1;
        int checked = 0;
        for (MatchResult line : Text.all("(?m)^.*$", results.text)) {
            List<String> cells = Text.cells(line.group());
            if (column < 0 || cells.isEmpty()) column = cells.indexOf("Our ratio");
            else if (!cells.get(column).startsWith("--")) {
                checked++;
                String before = Text.find("^([^|]*\\|){" + (column + 2) + "}", line.group());
                theirs.put(line.start(), line.start() + before.length());
                if (ours.contains(cells.get(column).replace("~", ""))) continue;
                fault(results, line.start(), cells.get(column) + " is no ratio of JDK 25");
            }
        }
        if (checked == 0) fault(results, 0, "there is no table with a column 'Our ratio'");
    }

    /**
     * A number with its unit, or two that share it. Seconds count with decimals only: whole
     * ones tell how long a command takes.
     */
    static final String MEASURED = "(?<![\\w.,])(\\d[\\d.,]*)(?:(?:–| to )~?(\\d[\\d.,]*))?"
        + "(×|\\s(?:ms|µs|ns|bytes)\\b|(?<=\\.\\d{1,9})\\ss\\b)";

    /** Every ratio and time in prose stands in a report, in a block, or in the lab. */
    void numbers() {
        String quoted = file.text + readme.blocks() + results.blocks();
        for (List<Report> starts : reports.values()) quoted += starts.getFirst().firstShots();
        String range = "([\\d.,]+)( ms|×) \\(([\\d.,]+)–([\\d.,]+)\\)";
        quoted = quoted.replaceAll(range, "$1$2 $3$2 $4$2");
        Set<String> known = new HashSet<>(Set.of("1×"));
        for (MatchResult number : Text.all(MEASURED, quoted)) known.addAll(Text.both(number));
        for (String size : Text.found("(?<![\\w.])\\d[\\d_]*(?![\\w.])", file.text)) {
            known.add(Text.number(Text.value(size.replace("_", ""))) + " ms"); // such as 50
        }
        for (Document document : List.of(readme, results)) {
            for (MatchResult number : Text.all(MEASURED, document.prose())) {
                int at = number.start();
                var other = theirs.floorEntry(at);
                if (document == results && other != null && at < other.getValue()) continue;
                List<String> unknown = new ArrayList<>(Text.both(number));
                unknown.removeAll(known);
                for (String one : unknown) fault(document, at, "no report has " + one);
            }
        }
    }

    /** Its changes find their line, everything compiles, and its table is of its steps. */
    void exercise(Exercise exercise) throws IOException {
        try {
            exercise.compile(lab);
            if (exercise.steps().isEmpty()) return;
            Set<String> rows = new HashSet<>();
            for (String line : readme.block(exercise.name()).lines().toList()) {
                List<String> cells = Text.cells(line);
                if (cells.size() > 3) rows.add(String.join(", ", cells.subList(0, 3)));
            }
            for (String row : exercise.asksFor(lab.experiments.keySet(), shown.five())) {
                if (rows.contains(row)) continue;
                throw new Stop(1, exercise.name() + " has no row " + row);
            }
        } catch (Stop stop) {
            fault(readme, exercise.at(), stop.getMessage());
        }
    }

    void own() throws IOException {
        if (!readme.has("own")) return;
        try {
            new Own(readme, lab);
        } catch (Stop stop) {
            fault(readme, readme.text.indexOf("<!-- own:"), stop.getMessage());
        }
    }

    /** The lab understands the commands of the documents; --help tells README's options. */
    void commands() throws IOException {
        Path classes = Files.createTempDirectory("check");
        String error = Source.compile(file.name, file.text, classes);
        if (!error.isEmpty()) fault(file, 0, error);
        String tests = "" + Text.found("(?<=TESTS.put\\(\").*(?=\")", Files.readString(
            Path.of(".ci/LabTest.java")));
        Map<List<String>, String> answers = new HashMap<>();
        for (Document document : List.of(readme, results, contributing)) {
            for (Command command : Command.all(document.text)) {
                List<String> words = new ArrayList<>(command.words());
                if (command.file().equals("Mine.java")) words.remove("mine"); // see own()
                String answer = "";
                if (command.isLab()) {
                    answer = answers.computeIfAbsent(words, some -> refusal(classes, some));
                } else if (command.file().equals(".ci/Documents.java")) {
                    boolean known = words.isEmpty() || Documents.WORDS.contains(words.get(0));
                    if (!known) answer = "there is no such word";
                } else if (command.file().equals(".ci/LabTest.java")) {
                    for (String word : words) if (!tests.contains(word)) {
                        answer = "there is no such test";
                    }
                } else if (!Files.exists(Path.of(command.file()))
                        && !document.text.contains("class " + command.mainClass())) {
                    answer = "there is no such file";
                }
                if (!answer.isEmpty()) fault(document, command.at(), command + ": " + answer);
            }
        }
        Set<String> told = new TreeSet<>(List.of("--help"));
        told.addAll(Text.found("--[a-z]+", help(classes, List.of()).out()));
        String table = Text.find("(?s)\\| Option \\|.*?\n\n", readme.text);
        Set<String> explained = new TreeSet<>(Text.found("(?<=\n\\| `)--[a-z]+", table));
        if (!told.equals(explained)) fault(readme, readme.text.indexOf("| Option |"),
            "the options are " + explained + ", but --help tells " + told);
        Text.delete(classes);
    }

    /** Returns what the lab has against the words; --help keeps it from running anything. */
    static String refusal(Path classes, List<String> words) {
        Run run = help(classes, words);
        return run.exitCode() == 0 ? "" : run.out();
    }

    static Run help(Path classes, List<String> words) {
        List<String> all = new ArrayList<>(List.of("-cp", "" + classes, "VirtualThreadsLab"));
        all.addAll(words);
        all.add("--help");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return Run.of(Run.start(Path.of(""), java, all).redirectErrorStream(true));
    }

    /** README names all experiments, and what CONTRIBUTING names is there. */
    void names() {
        for (String name : lab.experiments.keySet()) {
            if (!readme.text.contains("`" + name + "`")) fault(readme, 0, "no word of " + name);
        }
        String code = file.text;
        for (String one : List.of("LabTest.java", "Documents.java", "java", "run")) {
            code += new Document(".ci/" + one).text;
        }
        String name = "(?<=`)([\\w./-]*\\w)(\\([^`]*\\))?(?=`)";
        for (MatchResult found : Text.all(name, contributing.text)) {
            String last = found.group(1).replaceFirst(".*\\.(?=\\w+$)", "");
            if (code.contains(last) || Files.exists(Path.of(found.group(1)))) continue;
            fault(contributing, found.start(), "there is no " + found.group(1));
        }
        for (String room : Text.found("(?m)(?<=^class )\\w+", file.text)) {
            if (contributing.text.contains("| `" + room + "` |")) continue;
            fault(contributing, 0, "no word of the room " + room);
        }
    }

    /** A link within the project leads to a file, and to a heading in it. */
    void links(Document document) {
        String link = "\\]\\((?!\\w+:)([^)#]*)(?:#([^)]*))?\\)";
        for (MatchResult found : Text.all(link, document.text)) {
            Path path = Path.of(document.name).resolveSibling(found.group(1)).normalize();
            if (found.group(1).isEmpty()) path = Path.of(document.name);
            String heading = found.group(2);
            if (!Files.exists(path)) fault(document, found.start(), "there is no " + path);
            else if (heading != null && !anchors(new Document("" + path)).contains(heading)) {
                fault(document, found.start(), path + " has no heading #" + heading);
            }
        }
    }

    /** Returns what the headings are called in links. */
    static List<String> anchors(Document document) {
        return Text.found("(?m)(?<=^#{1,6} ).*", document.text).stream()
            .map(heading -> heading.toLowerCase(Locale.ROOT))
            .map(heading -> heading.replaceAll("[^\\w -]", "").replace(' ', '-')).toList();
    }

    /** The handout gives away no prediction and no line of an answer. */
    void handout() {
        String handout = Handout.text();
        if (handout.contains("Prediction:")) fault(file, 0, "a prediction is in the handout");
        for (String line : Text.found("double predicted\\w* = (?!____;).*", handout)) {
            fault(file, file.text.indexOf(line), "the handout shows " + line);
        }
        String answers = readme.blocks()
            + String.join("\n", Text.found("(?s)<details>.*?</details>", readme.text));
        for (String line : answers.lines().map(String::strip).distinct().toList()) {
            boolean plain = line.length() < 25 || line.matches("[-|: ]*|</?details>.*");
            if (plain || !handout.contains(line)) continue;
            fault(readme, readme.text.indexOf(line), "the handout gives it away");
        }
    }
}

// ------------------------------------------------ what the four words are written in
/** An exercise of README.md: what stands under its heading, and the steps of its Do list. */
record Exercise(String id, int at, String text, List<Step> steps) {
    /** A command, the change (or none) to the copy that it runs, and how often it does. */
    record Step(int number, int times, Change change, Command command, boolean dumps) { }
    record Change(String method, String from, String to) { }

    static final List<String> TIMES = List.of("", "", "two", "three", "four", "five", "six",
        "seven", "eight", "nine", "ten");

    static final String LIST = "(?ms)^- \\*\\*Do\\*\\*.*?(?=^- \\*\\*|^<|\\z)";
    static final String ITEM = "(?ms)^ +(\\d+)\\. (.*?)(?=^ +\\d+\\. |\\z)";
    static final String CHANGE = "in `(\\w+)`: `([^`]+)` to `([^`]+)`";

    static List<Exercise> all(Document readme) {
        List<Exercise> all = new ArrayList<>();
        for (MatchResult found : Text.all("(?ms)^### (\\d+)\\. .*?(?=^##|\\z)", readme.text)) {
            var exercise = new Exercise(found.group(1), found.start(), found.group(),
                new ArrayList<>());
            String list = Text.find(LIST, exercise.text);
            for (MatchResult item : Text.all(ITEM, list)) {
                exercise.add(Integer.parseInt(item.group(1)), item.group(2));
            }
            all.add(exercise);
        }
        if (all.isEmpty()) throw new Stop(1, "README.md has no exercises: ### 1. Title");
        return all;
    }

    String name() { return "exercise " + id; }

    private void add(int number, String item) {
        Step last = steps.isEmpty() ? null : steps.getLast();
        if (last != null && item.startsWith("meanwhile, in a second terminal")) {
            steps.removeLast();
            steps.add(new Step(last.number, 1, last.change, last.command, true));
            return;
        }
        List<Command> commands = Command.all(item);
        if (commands.isEmpty()) return; // something that only the reader can do
        Command command = commands.getFirst();
        if (command.file().equals("Mine.java")) return; // see Own
        String where = name() + ", step " + number + ", ";
        if (commands.size() > 1) throw new Stop(1, where + "has more than one command");
        Change change = null;
        for (MatchResult found : Text.all(CHANGE, Text.line(item))) {
            change = new Change(found.group(1), found.group(2), found.group(3));
        }
        if (change == null && command.file().equals("Play.java")) {
            if (last == null) throw new Stop(1, where + "runs Play.java before any change");
            change = last.change;
        }
        int times = Math.max(1, TIMES.indexOf(Text.find("\\w+(?= times:)", item)));
        steps.add(new Step(number, times, change, command, false));
    }

    /** Returns the source that a step runs: the lab, a copy with the change, or the answer. */
    String source(Step step, Source lab) {
        if (step.command.file().equals("VirtualThreadsLab.java")) return lab.text;
        if (step.command.file().equals("Play.java")) {
            if (step.change == null) return lab.text;
            return lab.changed(step.change.method, step.change.from, step.change.to);
        }
        String type = "class " + step.command.mainClass();
        for (String block : Text.found("(?s)(?<=```java\n).*?(?=```)", text)) {
            if (block.contains(type)) return block;
        }
        throw new Stop(1, "there is no java block with " + type);
    }

    void compile(Source lab) throws IOException {
        for (Step step : steps) {
            String error = "";
            try {
                String source = source(step, lab);
                if (source.equals(lab.text)) continue;
                error = Source.compile(step.command.file(), source, null);
            } catch (Stop stop) {
                error = stop.getMessage();
            }
            if (error.isEmpty()) continue;
            throw new Stop(1, name() + ", step " + step.number + ": " + error);
        }
    }

    /** Returns step, JDK and experiment of each row that its table is to have. */
    List<String> asksFor(Set<String> experiments, List<String> five) {
        List<String> rows = new ArrayList<>();
        for (Step step : steps) {
            if (step.dumps || !step.command.isLab()) continue;
            List<String> names = new ArrayList<>(step.command.words());
            names.retainAll(experiments);
            for (String name : names.isEmpty() ? five : names) {
                rows.add(step.number + ", " + step.command.jdk() + ", " + name);
            }
        }
        return rows;
    }
}

/** A command that starts a Java file: its JDK, its flags, the file, and the words behind. */
record Command(int at, int jdk, List<String> flags, String file, List<String> words) {
    static final String CODE = // within a line, perhaps broken, or a line of its own
        "(?<!`)`(?!`)([^`]+)`|(?m:^ *((?:java|sh) [^`\n]*)$)";
    static final Pattern SHAPE = Pattern.compile("(?:java|sh \\.ci/java(?: (\\d+))?)"
        + "((?: -cp \\S+| -[DX]\\S+)*) ([\\w./]+\\.java)((?: [^\\s>|<;#]+)*).*");

    static List<Command> all(String text) {
        List<Command> commands = new ArrayList<>();
        for (MatchResult code : Text.all(CODE, text)) {
            String line = Text.line(code.group(1) != null ? code.group(1) : code.group(2));
            Matcher shape = SHAPE.matcher(line);
            if (!shape.matches() || line.contains("[")) continue; // no command, or its usage
            String version = shape.group(1) == null ? "" + Results.SHOWN : shape.group(1);
            commands.add(new Command(code.start(), Integer.parseInt(version),
                Text.words(shape.group(2)), shape.group(3), Text.words(shape.group(4))));
        }
        return commands;
    }

    String mainClass() { return file.replaceAll(".*/|\\.java$", ""); }

    /** Is it the lab, a changed copy of it, or its part above the cut? */
    boolean isLab() {
        return List.of("VirtualThreadsLab", "Play", "Mine", "Five").contains(mainClass());
    }

    /** Returns what stands behind java. Guesses are the reader's, so --predict is left out. */
    List<String> toRun() {
        List<String> all = new ArrayList<>(flags);
        all.add(file);
        all.addAll(words);
        all.remove("--predict");
        return all;
    }

    @Override
    public String toString() { return "java " + String.join(" ", toRun()); }
}

/** A file of the project, and its blocks, each between two marks on lines of their own. */
class Document {
    /** Written by this program, or measured once in the way that its first mark tells. */
    static final String BLOCK = "(?s)<!-- ([\\w ]+): [^>]+ -->\n.*?<!-- end of \\1 -->\n*";
    final String name;
    private final String before;
    String text;

    Document(String name) {
        this.name = name;
        try {
            before = Files.readString(Path.of(name));
        } catch (IOException e) {
            throw new Stop(1, "cannot read " + name + ", is this the top level?");
        }
        text = before;
    }

    static String open(String block) {
        return "<!-- " + block + ": made by java .ci/Documents.java -->\n";
    }

    static String close(String block) { return "<!-- end of " + block + " -->"; }

    boolean has(String block) { return text.contains(open(block)); }

    String block(String block) {
        int from = text.indexOf(open(block)) + open(block).length();
        int to = text.indexOf(close(block), from);
        if (has(block) && to >= 0) return text.substring(from, to).strip();
        String missing = has(block) ? close(block) : open(block);
        throw new Stop(1, name + " lacks the mark " + missing);
    }

    void fill(String block, String inside) {
        int from = text.indexOf(open(block)) + open(block).length();
        int to = text.indexOf(close(block), from);
        text = text.substring(0, from) + "\n" + inside.strip() + "\n\n" + text.substring(to);
    }

    /** Fails now, not after measuring, if a block is missing or the file cannot be written. */
    Document writable(String... blocks) {
        for (String block : blocks) block(block);
        if (Files.isWritable(Path.of(name))) return this;
        throw new Stop(1, name + " cannot be written");
    }

    /** Writes all of the documents or, where that fails, none. */
    static void write(Document... documents) throws IOException {
        try {
            for (Document one : documents) Files.writeString(Path.of(one.name), one.text);
        } catch (IOException e) {
            for (Document one : documents) Files.writeString(Path.of(one.name), one.before);
            throw e;
        }
    }

    /** Returns the section, from one ## to the next, that a block is in. */
    String section(String block) {
        for (String section : Text.found("(?ms)^## .*?(?=^## |\\z)", text)) {
            if (section.contains(open(block))) return section;
        }
        return "";
    }

    String blocks() { return String.join("\n", Text.found(BLOCK, text)); }

    /** Returns the text with blanks for blocks, and for what is in quotation marks: guesses. */
    String prose() {
        var prose = new StringBuilder(text);
        for (MatchResult other : Text.all(BLOCK + "|\"[^\"\n]*\"", text)) {
            String blanks = other.group().replaceAll("[^\n]", " ");
            prose.replace(other.start(), other.end(), blanks);
        }
        return prose.toString();
    }
}

/** A report of the lab, whole or its head and table only. */
record Report(String text) {
    static final List<String> COLUMNS =
        List.of("Experiment", "Work", "Platform", "Virtual", "Ratio", "Predicted");

    /** Says why the report is not whole; "" if it is. */
    String flaw() {
        if (!text.startsWith("# VirtualThreadsLab\n")) return "the report has no title";
        if (text.contains("**Partial:**")) return "the report is partial";
        if (!text.contains("×")) return "the report is not in UTF-8";
        if (rows().isEmpty()) return "the report has no rows";
        for (List<String> row : rows()) if (row.size() != 6) return "a row is odd: " + row;
        return chart().isEmpty() ? "the report is cut" : "";
    }

    /** The lines that say what ran it: Java, machine, date and command. */
    String head() { return Text.find("(?ms)^- Java .*?\n(?=\n)", text); }

    /** The header, the rule and the rows. */
    List<String> table() {
        return Text.find("(?m)^\\| Experiment .*\n(\\|.*\n)+", text).lines().toList();
    }

    List<List<String>> rows() { return table().stream().skip(2).map(Text::cells).toList(); }
    List<String> names() { return rows().stream().map(List::getFirst).distinct().toList(); }
    List<String> five() { return names().subList(0, Math.min(5, names().size())); }

    /** The experiment and the work of each row. */
    List<List<String>> works() {
        return rows().stream().map(row -> row.subList(0, 2)).toList();
    }

    List<String> chart() {
        String chart = Text.find("(?s)(?<=## At a glance\n\n```text\n).*?\n(?=```)", text);
        return chart.lines().toList();
    }

    /** Leaves out the lines that begin with another experiment than the first five. */
    List<String> ofTheFive(List<String> lines) {
        Set<String> others = new HashSet<>(names());
        five().forEach(others::remove);
        List<String> left = new ArrayList<>(lines);
        left.removeIf(line -> others.contains(Text.find("^(?:\\| )?([a-z-]+)", line)
            .replace("| ", "")));
        return left;
    }

    /** All sentences, in one line. */
    String sentences() {
        String said = Text.find("(?s)(?<=## What the numbers say\n\n).*?\n(?=\n)", text);
        return Text.line(said.replaceAll("(?m)^- ", ""));
    }

    /** The samples of both sides of a row, the discarded first; none where a side has none. */
    List<List<Double>> samples(List<String> row) {
        String head = Pattern.quote(row.get(0) + ", " + row.get(1) + ", ");
        String lines = Text.find("(?m)^" + head + "\\w+\n(  .*\n)+", text);
        List<List<Double>> sides = new ArrayList<>();
        for (String side : List.of("platform", "virtual")) {
            String numbers = Text.find("(?<=  " + side + " )[\\d.()\\s]+", lines);
            sides.add(Text.words(numbers.replaceAll("[()]", "")).stream()
                .map(Double::valueOf).toList());
        }
        return sides;
    }

    /** The ratio of the two that were discarded. */
    String firstShots(List<String> row) {
        List<List<Double>> sides = samples(row);
        if (sides.get(0).isEmpty() || sides.get(1).isEmpty()) return "—";
        return Text.three(sides.get(0).getFirst() / sides.get(1).getFirst()) + "×";
    }

    String firstShots() {
        var shots = new StringBuilder();
        for (List<String> row : rows()) {
            for (List<Double> side : samples(row)) {
                if (!side.isEmpty()) shots.append(" " + Text.three(side.getFirst()) + " ms");
            }
        }
        return shots.toString();
    }

    /** Computes medians, ratios and marks of noise anew from the samples. */
    List<String> wrongRows() {
        List<String> wrong = new ArrayList<>();
        for (List<String> row : rows()) {
            List<Double> medians = new ArrayList<>();
            boolean noisy = false;
            for (int side = 0; side < 2; side++) {
                var sorted = samples(row).get(side).stream().skip(1).sorted().toList();
                if (sorted.isEmpty()) continue;
                double median = Text.quantile(sorted, 0.5);
                double middle = Text.quantile(sorted, 0.75) - Text.quantile(sorted, 0.25);
                noisy |= middle > 0.2 * median;
                medians.add(median);
                String cell = row.get(2 + side);
                String number = cell.endsWith(" ms") ? Text.three(median) : Text.number(median);
                if (!cell.startsWith(number + " ")) wrong.add(row + ": samples give " + number);
            }
            String ratio = medians.size() < 2 ? "—" : (noisy ? "~" : "")
                + Text.three(medians.get(0) / medians.get(1)) + "×";
            if (!row.get(4).equals(ratio)) wrong.add(row + ": samples give " + ratio);
        }
        return wrong;
    }
}

/** The lab's source: its experiments, and the members of its classes. */
class Source {
    /** A member of a class, from the comment before it, and from its code, to its end. */
    record Member(String room, String name, boolean method, int from, int code, int to) { }

    final String text;
    final Map<String, String> experiments = new LinkedHashMap<>(); // and their methods
    private final List<Member> members = new ArrayList<>();

    Source(String text) {
        this.text = text;
        String entry = "new Experiment\\(\"([\\w-]+)\", \\d+, \\w+::(\\w+)";
        for (MatchResult one : Text.all(entry, text)) {
            experiments.put(one.group(1), one.group(2));
        }
        String room = "(?ms)^(?:class|record) (\\w+)[^{]*\\{(?! \\})[^\n]*\n(.*?)^\\}$";
        for (MatchResult one : Text.all(room, text)) {
            members(one.group(1), one.start(2), one.end(2));
        }
    }

    /** A member begins with code after four spaces, and ends with ";" or with its block. */
    private void members(String room, int from, int end) {
        int code = -1;
        boolean block = false;
        for (int at = from; at < end; at = text.indexOf('\n', at) + 1) {
            String line = text.substring(at, text.indexOf('\n', at));
            line = line.replaceFirst("\\s*//.*", "");
            if (code < 0 && line.matches(" {4}[^\\s/*].*")) code = at;
            if (code < 0) continue;
            block |= line.endsWith("{");
            if (!line.matches(block ? " {4}\\}.*" : ".*[;}]")) continue;
            int to = at + line.length();
            String head = text.substring(code, to).replaceAll("@\\w+\\s+|(?s)[;={].*", "");
            String type = Text.find("(?<= (class|record|interface) )\\w+", head);
            String name = type.isEmpty() ? Text.find("\\w+(?=\\s*(\\(|$))", head) : type;
            boolean method = type.isEmpty() && head.contains("(");
            members.add(new Member(room, name, method, from, code, to));
            from = to;
            code = -1;
            block = false;
        }
    }

    /** Returns the comment of the first class without its stars. */
    String classComment() {
        String comment = Text.find("(?s)(?<=/\\*\\*\n).*?(?=\n \\*/)", text);
        return comment.replaceAll("(?m)^ \\* ?", "");
    }

    /** Returns the text with a change that finds its place once in the method. */
    String changed(String method, String from, String to) {
        List<Integer> places = new ArrayList<>();
        for (Member member : members) {
            if (!member.method || !member.name.equals(method)) continue;
            int at = text.indexOf(from, member.code);
            for (; at >= 0 && at < member.to; at = text.indexOf(from, at + 1)) places.add(at);
        }
        if (places.size() == 1) {
            int at = places.getFirst();
            return text.substring(0, at) + to + text.substring(at + from.length());
        }
        throw new Stop(1, "`" + from + "` stands " + places.size() + " times in " + method);
    }

    /** Returns the text with a method behind those of the first class, and last in its list. */
    String withExperiment(String method, String line) {
        String room = members.isEmpty() ? "" : members.getFirst().room;
        int list = 0;
        int end = 0;
        for (Member member : members) {
            if (!member.room.equals(room)) break;
            end = member.to;
            if (member.name.equals("LIST")) list = member.to - ");".length();
        }
        if (list == 0) throw new Stop(1, "the lab's first class has no LIST");
        return text.substring(0, list) + ",\n        " + line + text.substring(list, end)
            + "\n\n" + method.indent(4) + text.substring(end);
    }

    /** Returns an experiment without its prediction, and those helpers not printed before. */
    String toPredict(String experiment, Set<Member> printed) {
        Member first = null;
        for (Member member : members) {
            String comment = text.substring(member.from, member.code);
            if (member.name.equals(experiments.get(experiment)) && comment.contains(" * "
                    + experiment + ". ") && comment.contains(" * Prediction: ")) first = member;
        }
        if (first == null) {
            throw new Stop(1, "the lab has no " + experiment + " with a prediction");
        }
        Set<Member> used = new LinkedHashSet<>(List.of(first));
        for (var queue = new ArrayDeque<>(used); !queue.isEmpty();) {
            Member user = queue.remove();
            for (Member member : members) {
                if (member.room.equals(first.room) && uses(user, member) && used.add(member)) {
                    queue.add(member);
                }
            }
        }
        used.removeAll(printed);
        printed.addAll(used);
        var code = new StringBuilder(); // in a block each, so that pages break between them
        for (Member one : used) code.append("```java\n" + toPredict(one) + "\n```\n\n");
        return code.toString();
    }

    /** Does a member name another one that is not an experiment? */
    private boolean uses(Member user, Member other) {
        if (other.name.isEmpty() || experiments.containsValue(other.name)) return false;
        String called = "\\b" + other.name + "\\(|::" + other.name + "\\b";
        return !Text.find(other.method ? called : "\\b" + other.name + "\\b",
            text.substring(user.code, user.to)).isEmpty();
    }

    private String toPredict(Member member) {
        return text.substring(member.from, member.to)
            .replaceAll("(?s)((?:double|String) predicted\\w* =)\\s.*?;", "$1 ____;")
            .replaceAll("(?ms)^ +\\* Prediction: .*?(?=^ +\\* [A-Z]\\w+: |^ +\\*/)", "")
            .replaceAll("(?m)^ *// ---.*\n", "")
            .replaceFirst("^\\s*\n", "").stripIndent().strip();
    }

    /** Compiles for 21; returns the first error, "" if there is none. */
    static String compile(String name, String text, Path classes) throws IOException {
        Path folder = classes != null ? classes : Files.createTempDirectory("compiled");
        var errors = new DiagnosticCollector<JavaFileObject>();
        List<String> options = List.of("--release", "21", "-proc:none", "-d", "" + folder);
        ToolProvider.getSystemJavaCompiler()
            .getTask(null, null, errors, options, null, List.of(file(name, text))).call();
        if (classes == null) Text.delete(folder);
        for (var error : errors.getDiagnostics()) {
            if (error.getKind() == Diagnostic.Kind.ERROR) {
                return "javac, line " + error.getLineNumber() + ": " + error.getMessage(null);
            }
        }
        return "";
    }

    private static JavaFileObject file(String name, String text) {
        URI uri = URI.create("string:///" + name);
        return new SimpleJavaFileObject(uri, JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignored) { return text; }
        };
    }
}

/** What a process did, and how processes are started. */
record Run(int exitCode, String out, long seconds) {
    private static final Map<Integer, String> JDKS = new HashMap<>();

    /** Returns the java of a version. */
    static String java(int jdk) {
        if (JDKS.isEmpty()) {
            Run list = of(start(Path.of(""), "sh", List.of(".ci/java", "--list")));
            for (MatchResult line : Text.all("(?m)^(\\d+) (.+)$", list.out)) {
                JDKS.putIfAbsent(Integer.valueOf(line.group(1)), line.group(2));
            }
        }
        if (JDKS.containsKey(jdk)) return JDKS.get(jdk);
        throw new Stop(2, "no JDK " + jdk + " found; sh .ci/java --list tells those that are");
    }

    static Run java(int jdk, Path folder, List<String> words) {
        var builder = start(folder, java(jdk), words);
        return of(builder.redirectError(ProcessBuilder.Redirect.INHERIT));
    }

    /** Prepares a process in UTF-8, and without options that a report would not show. */
    static ProcessBuilder start(Path folder, String program, List<String> words) {
        List<String> command = new ArrayList<>(words);
        command.addFirst(program);
        var builder = new ProcessBuilder(command).directory(folder.toAbsolutePath().toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().keySet()
            .removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        builder.environment().put("LC_ALL", "C.UTF-8");
        return builder;
    }

    static Run of(ProcessBuilder builder) {
        try {
            long start = System.nanoTime();
            Process process = builder.start();
            var end = new Thread(process::destroy);
            Runtime.getRuntime().addShutdownHook(end);
            String out = new String(process.getInputStream().readAllBytes(), UTF_8);
            int exitCode = process.waitFor();
            Runtime.getRuntime().removeShutdownHook(end);
            return new Run(exitCode, out, Math.round((System.nanoTime() - start) / 1e9));
        } catch (IOException | InterruptedException e) {
            throw new Stop(1, "cannot run " + builder.command().getFirst() + ": " + e);
        }
    }
}

/** Text, and numbers as the lab writes them. */
class Text {
    static List<MatchResult> all(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().toList();
    }

    static List<String> found(String pattern, String text) {
        return all(pattern, text).stream().map(MatchResult::group).toList();
    }

    /** Returns what is found first, or "". */
    static String find(String pattern, String text) {
        Matcher found = Pattern.compile(pattern).matcher(text);
        return found.find() ? found.group() : "";
    }

    static List<String> words(String text) {
        return text.isBlank() ? List.of() : List.of(text.strip().split("\\s+"));
    }

    static String line(String text) { return text.strip().replaceAll("\\s+", " "); }

    /** Returns the cells of a line of a table; none if it is none. */
    static List<String> cells(String line) {
        List<String> cells = new ArrayList<>();
        for (String cell : line.split("\\|", -1)) cells.add(cell.strip());
        return cells.subList(1, Math.max(1, cells.size() - 1));
    }

    /** Breaks a line at spaces, into lines of at most 118 characters. */
    static String wrap(String line, String indent) {
        return line.replaceAll("(.{1,116})( |$)", "$1\n" + indent).stripTrailing() + "\n";
    }

    static double value(String number) { return Double.parseDouble(number.replace(",", "")); }

    static String three(double value) {
        return String.format(Locale.ROOT, value < 999.5 ? "%.3g" : "%,.0f", value);
    }

    static String number(double value) {
        return value % 1 == 0 ? String.format(Locale.ROOT, "%,.0f", value) : three(value);
    }

    /** Returns what Check.MEASURED found: a number with its unit, or two. */
    static List<String> both(MatchResult found) {
        String unit = found.group(3).replaceAll("\\s", " ");
        return found.group(2) == null ? List.of(found.group(1) + unit)
            : List.of(found.group(1) + unit, found.group(2) + unit);
    }

    static double quantile(List<Double> sorted, double q) {
        double place = q * (sorted.size() - 1);
        double low = sorted.get((int) place);
        return low + (sorted.get((int) Math.ceil(place)) - low) * (place % 1);
    }

    static void progress(String format, Object... arguments) {
        System.err.println("Documents: " + String.format(Locale.ROOT, format, arguments));
    }

    static void delete(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            for (Path one : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(one);
        }
    }
}
