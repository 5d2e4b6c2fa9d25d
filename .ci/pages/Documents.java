// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/**
 * Checks the pages, and how wide and long the code is that people read:
 *
 *     java .ci/pages/Documents.java
 *
 * It prints each fault as file:line: what is wrong.
 */
class Documents {
    static final String LAB = "VirtualThreadsLab.java";
    static final String ROOM = ".github/workshop/";
    static final String RATIO = "(?<![\\w.,])~?(\\d[\\d.,]*)(?:×|\\s+times\\b)";
    /** A block of text, or the row of an experiment. */
    static final String QUOTE = "(?m)^```text\n(?s:.*?)^```"
        + "|^\\| (?:[^`\n]*×|(?:thread-count|thread-local|million|time-sharing) ).*";
    /** The command that draws a picture of a kept run. */
    static final String CHART = "java (\\S*Chart.java) (\\.ci/\\S+)(.*) > (\\S+\\.svg)";
    static final String FIVE = ".github/five.svg";
    /** The first line of a method, of a class at the top or of one inside of it. */
    static final Pattern METHOD =
        Pattern.compile("^((?: {4}){1,2})(?:[\\w.<>\\[\\], ?]+ )?\\w+\\(.*");

    private int faults;
    private final Set<String> drawn = new HashSet<>();

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.ROOT); // or numbers would differ from place to place
        var documents = new Documents();
        documents.check();
        System.exit(documents.faults == 0 ? 0 : 1);
    }

    void require(boolean fine, Page file, int line, String why) {
        if (fine) return;
        System.out.println(file.path() + ":" + line + ": " + why.replaceAll("\\s+", " "));
        faults++;
    }

    void check() throws Exception {
        List<Page> pages = pages();
        widths();
        pages.forEach(this::links);
        numbers(pages);
        pages.forEach(this::pictures);
        require(drawn.contains(FIVE), Page.of("README.md"), 1,
            "doesn't say how to draw " + FIVE);
        if (faults == 0) System.out.println("no fault in " + pages.size() + " pages");
    }

    static List<Page> pages() throws IOException {
        List<Page> pages = Page.all(".github", ".md");
        pages.addAll(List.of(Page.of("README.md"), Page.of("results.md")));
        return pages;
    }

    /**
     * Nobody likes to read what was squeezed to save lines, nor a method that's longer than a
     * page. No file has a limit on its lines.
     */
    void widths() throws IOException {
        List<Page> programs = new ArrayList<>(Page.all(".ci", ".java"));
        programs.addAll(Page.all(".github", ".java"));
        programs.add(Page.of(LAB));
        for (Page java : programs) {
            for (MatchResult wide : Page.find(".{97,}", java.text()))
                require(false, java, java.line(wide.start()), "over 96 columns");
        }
        for (String read : List.of(LAB, ".github/CarrierCheck.java",
                ".github/KnownBugs.java")) {
            Page java = Page.of(read);
            int lines = java.lines().size();
            long wide = java.lines().stream().filter(line -> line.length() > 90).count();
            require(12 * wide <= lines, java, 1, wide + " lines of over 90 columns");
            double mean = java.lines().stream().mapToInt(String::length).average().orElse(0);
            require(mean <= 47, java, 1, "%.1f characters a line".formatted(mean));
            methods(java);
        }
    }

    /** Methods have no blank lines, so what ends in one isn't a method. */
    void methods(Page java) {
        List<String> lines = java.lines();
        for (int first = 0; first < lines.size(); first++) {
            Matcher method = METHOD.matcher(lines.get(first));
            if (!method.matches()) continue;
            int last = first;
            while (!lines.get(last).startsWith(method.group(1) + "}")
                && !lines.get(last).isBlank() && last + 1 < lines.size()) last++;
            require(lines.get(last).isBlank() || last - first < 30, java, first + 1,
                "a method of over 30 lines");
        }
    }

    /** "](file#heading)", "src="file"" and "[JEP 444]: file" lead to what is there. */
    void links(Page page) {
        String regex =
            "(?:]\\(|src=\"|^\\[[^]]+]: )([^()#?\\s\"]*)(?:\\?raw=true)?#?([^()\\s\"]*)";
        for (int i = 1; i <= page.lines().size(); i++) {
            String line = page.prose().get(i - 1);
            for (MatchResult link : Page.find(regex, line)) {
                if (link.group(1).contains(":")) continue; // https:
                Path file = Path.of(page.path()).resolveSibling(link.group(1)).normalize();
                Page text = link.group(1).isEmpty() ? page : Page.of("" + file);
                boolean there = link.group(2).isEmpty() ? Files.exists(file)
                    : text.anchors().contains(link.group(2));
                require(there, page, i, "leads nowhere: " + link.group());
            }
        }
    }

    /** What a page quotes is in a kept run that it names, or in starts.txt. */
    void numbers(List<Page> pages) throws IOException {
        List<Page> runs = Page.all(".ci/runs", ".txt");
        for (Page run : runs) require(run.text().startsWith("$ "), run, 1, "has no command");
        for (Page page : pages) {
            if (page.path().startsWith(ROOM)) continue; // what is typed there is tested there
            String printed = squeeze(runs.stream().filter(run ->
                (page.text() + "starts.txt").contains(run.name())).toList().toString());
            for (MatchResult quote : Page.find(QUOTE, page.text())) {
                String said = quote.group().replaceAll("```(text)?|, [*]*JDK \\d+", "");
                if (page.path().equals("README.md")) // own names, ratios first, ms in the head
                    said = said.replaceFirst("^\\|[^|]*\\|([^|]*)\\|([^|]*)\\|([^|]*)\\|",
                        "$2ms$3ms$1");
                for (String part : said.split("\n\n|\n(?=- )|\\.\\.\\."))
                    require(printed.contains(squeeze(part)), page, page.line(quote.start()),
                        "in no kept run: " + part);
            }
            for (MatchResult ratio : Page.find(RATIO, page.text())) {
                String digits = ratio.group(1).replaceAll("^[0.]+|0+$|\\D", "");
                require(digits.length() < 3, page, page.line(ratio.start()),
                    "three digits: " + ratio.group());
                if (page.path().equals("README.md")) sentence(page, ratio);
            }
        }
    }

    /** A picture is what the command beside it draws. */
    void pictures(Page page) {
        for (MatchResult command : Page.find(CHART, page.text())) {
            String picture = command.group(4);
            List<String> words = new ArrayList<>(List.of(System.getProperty("java.home")
                + "/bin/java", command.group(1), command.group(2)));
            words.addAll(List.of(command.group(3).strip().split(" ")));
            try {
                var chart = new ProcessBuilder(words).redirectErrorStream(true).start();
                String svg = new String(chart.getInputStream().readAllBytes());
                require(svg.equals(Page.of(picture).text()), page, page.line(command.start()),
                    "doesn't draw " + picture);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            drawn.add(picture);
        }
    }

    /** Cells have a blank between them, so that a row's name may be one cell or two. */
    static String squeeze(String text) { return text.replaceAll("(?:[\\s|*]|&nbsp;)+", " "); }

    /** In README, a ratio in a sentence, or its inverse, is in the table or in few.txt. */
    void sentence(Page page, MatchResult ratio) {
        int line = page.line(ratio.start());
        String prose = page.prose().get(line - 1);
        if (prose.isEmpty() || prose.startsWith("|") || ratio.group().equals("1×")) return;
        boolean known = Stream.of(page, Page.of(".ci/runs/few.txt")).map(Page::lines)
            .flatMap(List::stream).filter(row -> row.startsWith("|"))
            .flatMap(row -> Page.find("([\\d.]+)×", row).stream())
            .map(cell -> Double.parseDouble(cell.group(1)))
            .anyMatch(value -> Stream.of(value, 1 / value).map("%.2g"::formatted)
                .anyMatch(ratio.group(1)::equals));
        require(known, page, line, "in no row: " + ratio.group());
    }
}

/** A file; an empty one if it isn't there. */
record Page(String path, String text) {
    static Page of(String path) {
        try {
            return new Page(path, new String(Files.readAllBytes(Path.of(path))));
        } catch (IOException e) {
            return new Page(path, "");
        }
    }

    /** Those below a folder whose names end so, but not what Maven makes. */
    static List<Page> all(String folder, String end) throws IOException {
        try (var files = Files.walk(Path.of(folder))) {
            return new ArrayList<>(files.map(file -> file.toString().replace('\\', '/'))
                .filter(name -> name.endsWith(end) && !name.contains("/target/"))
                .sorted().map(Page::of).toList());
        }
    }

    String name() { return path.replaceAll(".*/", ""); }
    List<String> lines() { return text.lines().toList(); }

    /** The lines; those of code are empty. */
    List<String> prose() {
        return Pattern.compile("(?ms)^ *```.*?^ *```").matcher(text).replaceAll(code ->
            code.group().replaceAll(".*", "")).lines().toList();
    }

    /** The anchors that GitHub gives to headings: "## What's new?" is #whats-new. */
    List<String> anchors() {
        return prose().stream().filter(line -> line.matches("#{1,6} .*")).map(line -> line
            .replaceFirst("#+ +", "").replaceAll("]\\([^)]*\\)", "").toLowerCase()
            .replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-')).toList();
    }

    int line(int at) { return text.substring(0, at).split("\n", -1).length; }

    static List<MatchResult> find(String regex, String text) {
        return Pattern.compile(regex).matcher(text).results().toList();
    }

    /** The first group of the first match. */
    static String first(String regex, String text) {
        return find(regex, text).stream().map(match -> match.group(1)).findFirst().orElse("");
    }
}
