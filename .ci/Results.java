// SPDX-License-Identifier: MIT-0
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;

/**
 * Runs the whole lab on several JDKs, one after the other, and puts the reports and what they
 * say side by side into results.md, and the table of JDK 25 into README.md:
 *
 *     java .ci/Results.java [java or home of a JDK ...]
 *
 * It runs at the top level, and takes JDK 21, 25 and 27 from sh .ci/java --list if no path is
 * given. It replaces what stands between its marks, and only once every report has come out
 * whole. Exit code 0: written; 1: a report or a mark is missing; 2: a JDK is missing.
 */
class Results {
    static final List<Integer> VERSIONS = List.of(21, 25, 27);
    static final int SHOWN = 25; // the JDK whose table README.md shows
    static final List<String> COLUMNS =
        List.of("Experiment", "Work", "Platform", "Virtual", "Ratio", "Predicted");

    public static void main(String[] args) throws Exception {
        try {
            run(new ArrayList<>(List.of(args)));
        } catch (NoSuchFileException e) {
            stop(1, "there is no " + e.getMessage() + ": run this at the top level");
        } catch (IllegalStateException e) {
            stop(1, e.getMessage());
        } catch (IllegalArgumentException e) {
            stop(2, e.getMessage());
        }
    }

    static void stop(int exitCode, String why) {
        System.err.println("Results: " + why);
        System.exit(exitCode);
    }

    static void run(List<String> words) throws Exception {
        var lab = new ArrayList<>(List.of("VirtualThreadsLab.java", "all", "--samples"));
        if (words.remove("--quick")) lab.add("--quick"); // to try this program, not to quote
        fillResults("", ""); // now, and not only after minutes of measuring
        fillReadme("");
        SortedMap<Integer, String> jdks = words.isEmpty() ? found() : given(words);
        SortedMap<Integer, String> reports = new TreeMap<>();
        for (int version : jdks.keySet()) {
            System.err.println("Results: JDK " + version + ", " + jdks.get(version));
            Process process = process(jdks.get(version), lab)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
            String report = output(process);
            reports.put(version, report);
            String flaw = flaw(process.waitFor(), report, reports.get(reports.firstKey()));
            if (flaw.isEmpty()) continue;
            System.out.print(report);
            throw new IllegalStateException("nothing is written, as on JDK " + version + flaw);
        }
        String results = fillResults(comparison(reports), blocks(reports, lab));
        String readme = fillReadme(firstFive(reports.get(SHOWN)));
        Files.writeString(Path.of("results.md"), results);
        Files.writeString(Path.of("README.md"), readme);
    }

    // ----------------------------------------------------------------- JDKs and processes
    static SortedMap<Integer, String> found() throws Exception {
        SortedMap<Integer, String> jdks = new TreeMap<>();
        Process list = process("sh", List.of(".ci/java", "--list"))
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        for (String java : output(list).lines().toList()) jdks.putIfAbsent(feature(java), java);
        jdks.keySet().retainAll(VERSIONS);
        for (int version : VERSIONS) {
            if (jdks.containsKey(version)) continue;
            throw new IllegalArgumentException("there is no JDK " + version + " to be found");
        }
        return jdks;
    }

    static SortedMap<Integer, String> given(List<String> paths) throws Exception {
        SortedMap<Integer, String> jdks = new TreeMap<>();
        for (String path : paths) {
            Path java = Path.of(path).toAbsolutePath();
            if (Files.isDirectory(java)) java = java.resolve("bin").resolve("java");
            int version = feature(java.toString());
            if (jdks.put(version, java.toString()) == null) continue;
            throw new IllegalArgumentException("there are two of JDK " + version);
        }
        if (jdks.containsKey(SHOWN)) return jdks;
        throw new IllegalArgumentException("README.md shows JDK " + SHOWN + ": give one, too");
    }

    /** Asks a java for its version, such as 21. */
    static int feature(String java) throws Exception {
        String said = "";
        try {
            said = output(process(java, List.of("-version")).redirectErrorStream(true).start());
        } catch (IOException e) {
            // It says nothing, as it could not be started.
        }
        Matcher version = Pattern.compile(" version \"(\\d{1,4})").matcher(said);
        if (version.find()) return Integer.parseInt(version.group(1));
        throw new IllegalArgumentException(java + " does not run as a java");
    }

    /** Prepares a process without options that the report would not show, and in UTF-8. */
    static ProcessBuilder process(String program, List<String> words) {
        List<String> command = new ArrayList<>(words);
        command.add(0, program);
        var builder = new ProcessBuilder(command);
        builder.environment().keySet()
            .removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        builder.environment().put("LC_ALL", "C.UTF-8");
        return builder;
    }

    static String output(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    // ---------------------------------------------------------------------------- reports
    /** Says why a report is not whole, or differs from the first in its rows; "" if neither. */
    static String flaw(int exitCode, String report, String first) {
        if (exitCode != 0) return " the exit code was " + exitCode;
        if (!report.startsWith("# VirtualThreadsLab\n")) return " the report has no title";
        if (report.contains("**Partial:**")) return " the report is partial";
        if (!report.contains("\n## Samples\n")) return " the report has no samples";
        if (!report.contains("×")) return " the report is not in UTF-8";
        List<String> table = table(report);
        if (table.size() < 3) return " the report has no table";
        for (String line : table) {
            if (cells(line).size() != COLUMNS.size()) return " a row is odd: " + line;
        }
        return names(report).equals(names(first)) ? "" : " the rows are not those of the first";
    }

    /** Returns the lines of a report's table: the header, the rule and the rows. */
    static List<String> table(String report) {
        List<String> table = new ArrayList<>();
        for (String line : report.split("\n")) {
            boolean inside = !table.isEmpty();
            if (inside ? line.startsWith("|") : cells(line).equals(COLUMNS)) table.add(line);
            else if (inside) break;
        }
        return table;
    }

    /** Returns the cells of a line without their padding; none if it has no bar. */
    static List<String> cells(String line) {
        List<String> cells = new ArrayList<>();
        for (String cell : line.split("\\|", -1)) cells.add(cell.strip());
        return cells.subList(1, Math.max(1, cells.size() - 1));
    }

    /** Returns the experiment and the work of each row. */
    static List<List<String>> names(String report) {
        List<List<String>> names = new ArrayList<>();
        for (String line : table(report)) names.add(cells(line).subList(0, 2));
        return names.subList(2, names.size());
    }

    /** Returns the header, the rule and the rows of the first five experiments. */
    static String firstFive(String report) {
        List<String> table = table(report);
        String text = table.get(0) + "\n" + table.get(1) + "\n";
        Set<String> experiments = new HashSet<>();
        for (String line : table.subList(2, table.size())) {
            experiments.add(cells(line).get(0));
            if (experiments.size() <= 5) text += line + "\n";
        }
        return text;
    }

    /** Puts the ratios side by side; where there is none, what the virtual side took. */
    static String comparison(SortedMap<Integer, String> reports) {
        String text = "| Experiment | Work |";
        for (int version : reports.keySet()) text += " JDK " + version + " |";
        text += "\n|---|---|" + "--:|".repeat(reports.size()) + "\n";
        List<List<String>> names = names(reports.get(reports.firstKey()));
        for (int row = 0; row < names.size(); row++) {
            text += "| " + String.join(" | ", names.get(row)) + " |";
            for (String report : reports.values()) {
                List<String> cells = cells(table(report).get(row + 2));
                text += " " + cells.get(4).replace("—", cells.get(3)) + " |";
            }
            text += "\n";
        }
        return text;
    }

    /** Returns the reports letter for letter, each in a block to unfold. */
    static String blocks(SortedMap<Integer, String> reports, List<String> lab) {
        List<String> blocks = new ArrayList<>();
        for (int version : reports.keySet()) {
            blocks.add("<details>\n<summary>JDK " + version + ": <code>java "
                + String.join(" ", lab) + "</code></summary>\n\n" + reports.get(version)
                + "\n</details>\n");
        }
        return String.join("\n", blocks);
    }

    // ------------------------------------------------------------------------------ files
    static String fillResults(String comparison, String reports) throws IOException {
        String text = Files.readString(Path.of("results.md"));
        text = fill("results.md", text, "comparison", comparison);
        return fill("results.md", text, "reports", reports);
    }

    static String fillReadme(String table) throws IOException {
        return fill("README.md", Files.readString(Path.of("README.md")), "table", table);
    }

    /** Replaces what stands between two marks, each on a line of its own, and nothing else. */
    static String fill(String file, String text, String name, String inside) {
        String open = "<!-- " + name + ": made by java .ci/Results.java -->";
        String close = "<!-- end of " + name + " -->";
        int from = lineAt(text, open, 0, file) + open.length();
        int to = lineAt(text, close, from, file + ", below the mark that it ends");
        return text.substring(0, from) + "\n\n" + inside + "\n" + text.substring(to);
    }

    static int lineAt(String text, String line, int from, String where) {
        int at = ("\n" + text + "\n").indexOf("\n" + line + "\n", from);
        if (at >= 0) return at;
        throw new IllegalStateException("the mark " + line + " is missing in " + where);
    }
}
