// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/**
 * Checks the pages:
 *
 *     java .ci/pages/Documents.java         prints each fault as file:line: what is wrong
 *     java .ci/pages/Documents.java limits  writes today's sizes; each may grow by a tenth
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
    static final Path LIMITS = Path.of(".ci/limits.txt");

    private int faults;
    private final Set<String> drawn = new HashSet<>();

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.ROOT); // or numbers would differ from place to place
        var documents = new Documents();
        switch (args.length == 0 ? "" : args[0]) {
            case "" -> documents.check();
            case "limits" -> Files.write(LIMITS, sizes().entrySet().stream()
                .map(size -> size.getValue() + " " + size.getKey()).toList());
            default -> throw new IllegalArgumentException("not one of these: " + args[0]);
        }
        System.exit(documents.faults == 0 ? 0 : 1);
    }

    void require(boolean fine, Page file, int line, String why) {
        if (fine) return;
        System.out.println(file.path() + ":" + line + ": " + why.replaceAll("\\s+", " "));
        faults++;
    }

    void check() throws Exception {
        List<Page> pages = pages();
        limits();
        pages.forEach(this::links);
        numbers(pages);
        pages.forEach(this::pictures);
        require(drawn.contains(FIVE), Page.of("README.md"), 1, "doesn't say how to draw " + FIVE);
        if (faults == 0) System.out.println("no fault in " + pages.size() + " pages");
    }

    /** Of what is read as a whole: lines of a file, of all tests, and words of all pages. */
    static Map<String, Integer> sizes() throws IOException {
        Map<String, Integer> sizes = new TreeMap<>();
        List<Page> read = pages();
        sizes.put("words of all pages", read.stream().mapToInt(page ->
            page.text().split("\\s+").length).sum());
        List<Page> tests = tests();
        sizes.put("lines of .ci/*.java", tests.stream().mapToInt(test ->
            test.lines().size()).sum());
        for (String program : List.of(LAB, ".github/CarrierCheck.java",
                ".github/KnownBugs.java")) read.add(Page.of(program));
        for (Page page : read) sizes.put("lines of " + page.path(), page.lines().size());
        return sizes;
    }

    static List<Page> pages() throws IOException {
        List<Page> pages = Page.all(".github", ".md");
        pages.addAll(List.of(Page.of("README.md"), Page.of("results.md")));
        return pages;
    }

    static List<Page> tests() throws IOException {
        return Page.all(".ci", ".java").stream()
            .filter(file -> file.path().matches(".ci/[^/]*")).toList(); // not jmh's
    }

    void limits() throws IOException {
        Map<String, Integer> sizes = sizes();
        for (String line : Files.readAllLines(LIMITS)) {
            String[] limit = line.split(" ", 2);
            int size = sizes.getOrDefault(limit[1], 0);
            require(size <= 1.1 * Integer.parseInt(limit[0]), Page.of(LIMITS.toString()), 1,
                size + " " + limit[1] + ", a tenth over " + limit[0]);
        }
        for (Page java : Stream.concat(tests().stream(), Stream.of(Page.of(LAB))).toList())
            for (MatchResult wide : Page.find(".{97,}", java.text()))
                require(false, java, java.line(wide.start()), "over 96 columns");
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

    /** Those below a folder whose names end so. */
    static List<Page> all(String folder, String end) throws IOException {
        try (var files = Files.walk(Path.of(folder))) {
            return new ArrayList<>(files.map(file -> file.toString().replace('\\', '/'))
                .filter(name -> name.endsWith(end)).sorted().map(Page::of).toList());
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
