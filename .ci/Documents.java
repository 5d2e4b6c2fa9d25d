// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.math.*;
import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;
import javax.tools.*;

/**
 * Checks the pages, makes the kept runs of .ci/runs anew, and draws the pictures:
 *
 *     java .ci/Documents.java                prints each fault as file:line: what is wrong
 *     java .ci/Documents.java run [NAME...]  runs the commands of these kept runs, or of all
 *     java .ci/Documents.java draw           needs rsvg-convert (apt-get install librsvg2-bin)
 */
class Documents {
    static final String POST = ".github/post/";
    static final String ROOM = ".github/workshop/";
    static final int WORDS = 16_000; // of all pages, at most
    static final String LINES = """
        130 README.md
        130 results.md
        300 .github/blocking.md .github/your-call.md
        150 .github/switch.md
        60 .github/service/measured.md
        150 .github/post/post.md
        60 .github/CONTRIBUTING.md
        330 .github/workshop/handout.md
        330 .github/workshop/trainer.md
        50 .github/workshop/takeaway.md
        80 .github/workshop/fast.md
        350 .ci/Documents.java
        """;

    private int faults;

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.ROOT); // or numbers would differ from place to place
        var documents = new Documents();
        switch (args.length == 0 ? "" : args[0]) {
            case "" -> documents.check();
            case "run" -> {
                args[0] = ".ci/rerun";
                documents.faults = new ProcessBuilder(args).inheritIO().start().waitFor();
            }
            case "draw" -> Picture.draw();
            default -> throw new IllegalArgumentException("neither run nor draw: " + args[0]);
        }
        System.exit(documents.faults == 0 ? 0 : 1);
    }

    void require(boolean fine, Text file, int line, String why) {
        if (fine) return;
        System.out.println(file.path() + ":" + line + ": " + why.replaceAll("\\s+", " "));
        faults++;
    }

    void check() throws Exception {
        List<Text> pages = Text.all(".github", ".md");
        pages.addAll(List.of(Text.of("README.md"), Text.of("results.md")));
        limits(pages);
        pages.forEach(this::links);
        programs(pages);
        numbers(pages);
        made();
        steps();
        if (faults == 0) System.out.println("no fault in " + pages.size() + " pages");
    }

    void limits(List<Text> pages) throws IOException {
        for (String limit : LINES.split("\n")) {
            String[] words = limit.split(" ");
            most(Integer.parseInt(words[0]), Stream.of(words).skip(1).map(Text::of).toList());
        }
        for (Text program : Text.all(POST, ".java")) most(35, List.of(program));
        most(1_650, Text.all(".ci", ".java").stream() // but not the benchmark, .ci/jmh/...
            .filter(file -> file.path().matches(".ci/[^/]*")).toList());
        int words = pages.stream().mapToInt(page -> page.text().split("\\s+").length).sum();
        require(words <= WORDS, pages.getLast(), 1, words + " words in all pages");
    }

    void most(int most, List<Text> files) {
        int lines = files.stream().mapToInt(file -> file.lines().size()).sum();
        require(lines <= most, files.getLast(), files.getLast().lines().size(),
            lines + " lines, over " + most + ", in " + files.stream().map(Text::path).toList());
    }

    /** "](file#heading)", "src="file"" and "[JEP 444]: file" lead to what is there. */
    void links(Text page) {
        String regex = "(?:]\\(|src=\"|^\\[[^]]+]: )([^()#\\s\"]*)#?([^()\\s\"]*)";
        for (int i = 1; i <= page.lines().size(); i++) {
            String line = page.prose().get(i - 1);
            require(!line.contains("<!--"), page, i, "a comment, <!--");
            for (MatchResult link : Text.find(regex, line)) {
                if (link.group(1).contains(":")) continue; // https:
                Path file = Path.of(page.path()).resolveSibling(link.group(1)).normalize();
                Text text = link.group(1).isEmpty() ? page : Text.of("" + file);
                boolean there = link.group(2).isEmpty() ? Files.exists(file)
                    : text.anchors().contains(link.group(2));
                require(there, page, i, "leads nowhere: " + link.group());
            }
        }
    }

    /** Programs of the post compile, and so does what a page shows as a whole program. */
    void programs(List<Text> pages) throws IOException {
        List<Text> programs = Text.all(POST, ".java");
        for (Text program : programs) compile(program, 0, program.text());
        for (Text page : pages) {
            for (MatchResult block : Text.find("(?ms)^```java\n(.*?)^```", page.text())) {
                String code = block.group(1);
                if (!code.contains("class ") || !code.contains(" main(")) continue;
                int before = (int) page.text().substring(0, block.start(1)).lines().count();
                compile(page, before, code);
                boolean shown = programs.stream().anyMatch(one -> one.text().endsWith(code));
                require(shown || !page.path().startsWith(POST), page, before, "in no program");
            }
        }
    }

    /** Compiles what stands behind so many lines of a file. */
    void compile(Text file, int before, String code) throws IOException {
        String name = Text.first("(?m)^(?:public |final )*class (\\w+)", code) + ".java";
        var uri = java.net.URI.create("string:///" + name);
        var source = new SimpleJavaFileObject(uri, JavaFileObject.Kind.SOURCE) {
            @Override public CharSequence getCharContent(boolean ignoreErrors) { return code; }
        };
        var said = new DiagnosticCollector<JavaFileObject>();
        var task = ToolProvider.getSystemJavaCompiler().getTask(null, null, said,
            List.of("--release", "21", "-sourcepath", "."), null, List.of(source));
        ((com.sun.source.util.JavacTask) task).analyze(); // writes no classes
        for (var one : said.getDiagnostics()) require(false, file,
            before + (int) Math.max(1, one.getLineNumber()), one.getMessage(null));
    }

    /** Ratios of three pages, and times and ranges of their tables, are of kept runs. */
    void numbers(List<Text> pages) throws IOException {
        List<Text> files = Text.all(".ci/runs", ".txt");
        for (Text run : files) require(run.text().startsWith("$ "), run, 1, "has no command");
        files.addAll(pages);
        List<Value> known = files.stream().flatMap(file -> Value.in(file).stream()).toList();
        for (String page : List.of("README.md", "results.md", POST + "post.md")) {
            for (Value value : Value.in(Text.of(page))) require(value.isOneOf(known),
                value.file(), value.line(), "in no kept run: " + value.text());
        }
    }

    /** Pictures and PDFs are of their sources, whose names in git they hold. */
    void made() throws Exception {
        Text five = Text.of(Picture.FIVE);
        require(five.text().equals(Picture.svg()), five, 1, "isn't of starts.txt");
        holds(Text.of(Picture.PNG), five.text());
        for (Text pdf : Text.all(ROOM, ".pdf")) {
            String page = Text.of(pdf.path().replace(".pdf", ".md")).text();
            holds(pdf, page.isEmpty() ? Text.of(ROOM + "mounted.svg").text()
                + Text.of(ROOM + "connections.svg").text() : page);
        }
    }

    void holds(Text made, String source) throws Exception {
        require(made.text().contains(hash(source)), made, 1, "is older than its source");
    }

    static String hash(String text) throws Exception {
        String blob = "blob " + text.getBytes().length + "\0" + text;
        byte[] sha = MessageDigest.getInstance("SHA-1").digest(blob.getBytes());
        return HexFormat.of().formatHex(sha);
    }

    /** ShopN.java is Shop.java after the steps 1 to N; later steps change the last of these. */
    void steps() throws IOException {
        String shop = Text.of(ROOM + "Shop.java").text();
        for (Text step : Text.all(ROOM, ".patch")) {
            String changed = shop;
            for (String hunk : step.text().split("(?m)^@@.*\n")) {
                if (hunk.startsWith("---")) continue; // the names of the files
                String before = hunk.replaceAll("(?m)^\\+.*\n|^[ -]", "");
                boolean once = changed.split(Pattern.quote(before), -1).length == 2;
                require(once, step, 1, "doesn't fit: " + before);
                changed = changed.replace(before, hunk.replaceAll("(?m)^-.*\n|^[ +]", ""));
            }
            Text done = Text.of(ROOM + "Shop" + step.name().charAt(0) + ".java");
            if (done.text().isEmpty()) continue;
            shop = changed;
            require(done.text().equals(shop), done, 1, "isn't Shop.java after " + step.name());
        }
    }
}

/** A file; an empty one if it isn't there. */
record Text(String path, String text) {
    static Text of(String path) {
        try {
            return new Text(path, new String(Files.readAllBytes(Path.of(path))));
        } catch (IOException e) {
            return new Text(path, "");
        }
    }

    /** Those below a folder whose names end so. */
    static List<Text> all(String folder, String end) throws IOException {
        try (var files = Files.walk(Path.of(folder))) {
            return new ArrayList<>(files.map(file -> file.toString().replace('\\', '/'))
                .filter(name -> name.endsWith(end)).sorted().map(Text::of).toList());
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

    static List<MatchResult> find(String regex, String text) {
        return Pattern.compile(regex).matcher(text).results().toList();
    }

    /** The first group of the first match. */
    static String first(String regex, String text) {
        return find(regex, text).stream().map(match -> match.group(1)).findFirst().orElse("");
    }
}

/** A ratio, a time or a range, "~179× (111–215)" or "5,075 ms", and where it stands. */
record Value(Text file, int line, String whole, String row, String jdk, String text) {
    static final String NUMBER = "<?(\\d+(?:,\\d{3})*(?:\\.\\d+)?)";
    static final String ANY = "(?<![\\w.,])~?N(?:×|\\s?[mµn]?s\\b)(?:\\s+\\(N–N\\))?"
        .replace("N", NUMBER) + "|N \\(N–N\\)".replace("N", NUMBER);

    /** Those of a file; in a table, what stands before them names the row. */
    static List<Value> in(Text file) {
        List<Value> values = new ArrayList<>();
        String[] lines = ("\n" + file.text().replaceAll("`[^`\n]*`", "") + "\n.").split("\n");
        String[] heads = {};
        for (int i = 1; i < lines.length - 1; i++) {
            boolean table = lines[i].startsWith("|");
            String[] cells = table ? lines[i].split("[ *]*\\|[ *]*")
                : new String[] {"", "", lines[i] + "\n" + lines[i + 1]};
            if (!table || !lines[i - 1].startsWith("|")) heads = cells;
            String row = table ? cells[1].replace(":", "") : null;
            String jdk = "";
            for (int k = 2; k < Math.min(cells.length, heads.length); k++) {
                if (table && heads[k].contains("JDK")) jdk = heads[k].replaceAll("\\D", "");
                if (heads[k].equals("Work")) row += " " + cells[k];
                else for (MatchResult one : Text.find(ANY, cells[k])) {
                    boolean here = one.start() < lines[i].length();
                    if (here) values.add(new Value(file, i, lines[i], row, jdk, one.group()));
                }
            }
        }
        return values;
    }

    /** Is it a known one, rounded, of a row of this name or of a file that its page names? */
    boolean isOneOf(List<Value> known) {
        var runs = known.stream().filter(one -> one.file.path().startsWith(".ci")).toList();
        boolean code = row == null && file.prose().get(line - 1).isEmpty();
        boolean output = code && text.endsWith("s") && !whole.contains("//");
        if (output) return runs.stream().anyMatch(one -> one.whole.equals(whole));
        if (whole.contains("](http") || row == null && !text.contains("×")) return true;
        List<Value> same = row == null ? List.of()
            : runs.stream().filter(one -> row.equals(one.row)).toList();
        return (same.isEmpty() ? known : same).stream().anyMatch(one -> isRounded(one)
            && (jdk.isEmpty() || jdk.equals(one.jdk)) && !file.equals(one.file)
            && (file.text() + "starts.txt").contains(one.file.name()));
    }

    boolean isRounded(Value exact) {
        List<BigDecimal> numbers = exact.numbers();
        return sign().equals(exact.sign()) && numbers().size() <= numbers.size()
            && IntStream.range(0, numbers().size()).allMatch(i -> IntStream.range(2, 9)
                .mapToObj(digits -> numbers.get(i).round(new MathContext(digits)))
                .anyMatch(rounded -> rounded.compareTo(numbers().get(i)) == 0));
    }

    String sign() { return text.replaceAll("[^~×s]", ""); }

    /** Its numbers, times in seconds. */
    List<BigDecimal> numbers() {
        int power = text.contains("ms") ? -3 : text.contains("µs") ? -6 : 0;
        return Text.find(NUMBER, text).stream().map(number -> new BigDecimal(number.group(1)
            .replace(",", "")).scaleByPowerOfTen(power)).toList();
    }
}

/** Draws a dot for each ratio side by side, and a line for its range, on a logarithmic axis. */
class Picture {
    static final String FIVE = ".github/five.svg";
    static final String PNG = ".github/post/five.png";
    static final String HEAD = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"440\" "
        + "height=\"%d\" viewBox=\"0 0 440 %1$d\" role=\"img\">\n%s";
    static final String DOT = "<circle class=\"jdk%d\" cx=\"%.1f\" cy=\"%d\" r=\"3.5\"/>\n";
    static final String LINE =
        "<path class=\"jdk%d\" stroke-width=\"3\" d=\"M%.1f %dH%.1f\"/>\n";
    static final String NAME = "<text x=\"10\" y=\"%d\">%s</text>\n"
        + "<text class=\"dim\" x=\"10\" y=\"%d\">%s</text>\n";
    static final int ONE = 276; // where 1× is
    static final int DECADE = 46; // from there to 10×

    static void draw() throws Exception {
        Files.writeString(Path.of(FIVE), svg());
        new ProcessBuilder("rsvg-convert", "--zoom=2", "--background-color=white",
            "--output=" + PNG, FIVE).inheritIO().start().waitFor();
        Files.writeString(Path.of(PNG), Documents.hash(Text.of(FIVE).text()),
            StandardOpenOption.APPEND); // behind the picture
    }

    /** The title, the style and the axis are the old one's, up to its rows: edit them there. */
    static String svg() {
        String frame = Text.first("(?s)(<title>.*<g>\n)", Text.of(FIVE).text());
        String starts = Text.of(".ci/runs/starts.txt").text();
        Text table = new Text("", Text.first("(?s)### Side by side\n\n(.*?)\n\n", starts));
        var rows = Value.in(table).stream().filter(value -> value.text().contains("×"))
            .filter(value ->
                value.row().matches("(start-time|sleep-wave|cpu-primes|pinning) .*"))
            .collect(Collectors.groupingBy(Value::row, LinkedHashMap::new,
                Collectors.toList()));
        String svg = HEAD.formatted(84 + 32 * rows.size(), frame);
        int y = 92;
        for (List<Value> row : rows.values()) {
            String[] name = row.getFirst().row().split(" ", 2);
            svg += NAME.formatted(y, name[0], y + 14, name[1]);
            for (Value value : row) {
                int jdk = List.of("21", "25", "27").indexOf(value.jdk());
                double[] x = value.numbers().stream().mapToDouble(number ->
                    ONE + DECADE * Math.log10(number.doubleValue())).toArray();
                int at = y - 6 + 8 * jdk;
                svg += LINE.formatted(jdk, x[x.length / 2], at, x[x.length - 1])
                    + DOT.formatted(jdk, x[0], at);
            }
            y += 32;
        }
        return svg + "</g>\n</svg>\n";
    }
}
