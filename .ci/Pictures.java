// SPDX-License-Identifier: MIT-0
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;
import javax.imageio.*;
import javax.imageio.metadata.IIOMetadataNode;

/**
 * Draws what the lab printed side by side, .ci/runs/starts.md: a dot for each ratio and a line
 * for its range over the starts, on a logarithmic axis.
 *
 *     apt-get install librsvg2-bin
 *     java .ci/Pictures.java
 *
 * .github/five.svg has the five, .github/ratios.svg every row with a ratio, and
 * .github/post/five.png is the first one for where an SVG is refused. Each names what it was
 * made from, by the hash that git would give to it; Documents.java looks for that.
 */
class Pictures {
    static final Path STARTS = Path.of(".ci/runs/starts.md");
    static final Path FIVE = Path.of(".github/five.svg");
    static final Path PNG = Path.of(".github/post/five.png");
    static final Map<String, String> PLAIN = Map.of( // the rows of the five, in plain words
        "start-time 100 threads", "starting 100 threads",
        "start-time 1,000 threads", "starting 1,000 threads",
        "start-time 10,000 threads", "starting 10,000 threads",
        "sleep-wave 10,000, pool 200", "10,000 sleeping tasks",
        "sleep-wave 10,000, pool 1,000", "the same, larger pool",
        "cpu-primes 8 × 78,498 primes", "8 computing tasks",
        "pinning 20 in ReentrantLock", "waiting in a lock",
        "pinning 20 in synchronized", "waiting in synchronized",
        "pinning 20 in class init", "waiting in an initializer");

    static final String HEAD = """
        <svg xmlns="http://www.w3.org/2000/svg" width="440" height="%d"
          viewBox="0 0 440 %1$d" role="img">
        <title>Ratios, platform ÷ virtual, over the starts of each JDK</title>
        <desc>Made from %s</desc>
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
    static final double LEFT = 184; // of the axis; the names stand before it

    /** A ratio and its range, as powers of ten. */
    record Ratio(double median, double least, double most) {
        /** Reads "~47.1× (45.6–47.4)"; of "200" and "—", which are no ratios, null. */
        static Ratio of(String cell) {
            if (!cell.contains("×")) return null;
            double[] powers = Pattern.compile("[\\d.]+").matcher(cell.replace(",", ""))
                .results().mapToDouble(n -> Math.log10(Double.parseDouble(n.group())))
                .toArray();
            return new Ratio(powers[0], powers[powers.length > 1 ? 1 : 0],
                powers[powers.length - 1]);
        }
    }

    record Row(String experiment, String work, List<Ratio> ratios) {
        String name() { return experiment + " " + work; }
        Stream<Ratio> known() { return ratios.stream().filter(Objects::nonNull); }
    }

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.ROOT);
        String[] parts = Files.readString(STARTS).split("\n### Side by side\n\n");
        List<List<String>> lines = parts[1].lines().takeWhile(line -> line.startsWith("|"))
            .map(line -> List.of(line.substring(2).split(" *\\| *"))).toList();
        List<String> jdks = lines.getFirst().subList(2, lines.getFirst().size());
        List<Row> rows = lines.stream().skip(2).map(cells ->
            new Row(cells.get(0), cells.get(1), cells.stream().skip(2).map(Ratio::of)
                .collect(Collectors.toList()))) // with nulls
            .filter(row -> row.known().count() > 0).toList();
        List<Row> five = rows.stream().filter(row -> PLAIN.containsKey(row.name())).toList();
        if (five.size() < PLAIN.size()) {
            System.err.println("Pictures: " + STARTS + " lacks some of: " + PLAIN.keySet());
            System.exit(1);
        }
        String source = hash(STARTS, Path.of(".ci/Pictures.java"));
        Files.writeString(FIVE, picture(jdks, five, source));
        Files.writeString(Path.of(".github/ratios.svg"), picture(jdks, rows, source));
        drawPng();
    }

    static String picture(List<String> jdks, List<Row> rows, String source) {
        int least = (int) Math.floor(0.05 + rows.stream().flatMap(Row::known)
            .mapToDouble(Ratio::least).min().getAsDouble());
        int most = (int) Math.ceil(-0.05 + rows.stream().flatMap(Row::known)
            .mapToDouble(Ratio::most).max().getAsDouble());
        double decade = 232.0 / (most - least);
        double one = LEFT - least * decade; // where 1× is
        int height = 84 + 32 * rows.size();
        String svg = HEAD.formatted(height, source);
        for (int i = 0; i < jdks.size(); i++) {
            svg += DOT.formatted(i, LEFT + 14 + 82 * i, 19.0);
            svg += TEXT.formatted(LEFT + 24 + 82 * i, 24.0, "", jdks.get(i));
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
        for (Row row : rows) {
            String plain = PLAIN.get(row.name());
            svg += TEXT.formatted(10.0, y, "", plain == null ? row.experiment() : plain);
            svg += TEXT.formatted(10.0, y + 14, DIM,
                plain == null ? row.work() : row.experiment());
            for (int i = 0; i < jdks.size(); i++) {
                Ratio ratio = row.ratios().get(i);
                if (ratio == null) continue;
                double at = y - 6 + 8 * i;
                svg += LINE.formatted("jdk" + i, 3, one + decade * ratio.least(),
                    one + decade * ratio.most(), at, at);
                svg += DOT.formatted(i, one + decade * ratio.median(), at);
            }
            y += 32;
        }
        return svg + "</svg>\n";
    }

    /** Draws five.svg as a PNG, and writes the hash of its source into its metadata. */
    static void drawPng() throws Exception {
        int code;
        try {
            code = new ProcessBuilder("rsvg-convert", "--zoom=2", "--background-color=white",
                "--output=" + PNG, "" + FIVE).inheritIO().start().waitFor();
        } catch (IOException e) {
            code = -1;
        }
        if (code != 0) {
            System.err.println("Pictures: no PNG; apt-get install librsvg2-bin, and again");
            System.exit(1);
        }
        var image = ImageIO.read(PNG.toFile());
        ImageWriter writer = ImageIO.getImageWritersByFormatName("png").next();
        var metadata = writer.getDefaultImageMetadata(new ImageTypeSpecifier(image), null);
        var text = new IIOMetadataNode("tEXtEntry");
        text.setAttribute("keyword", "Source");
        text.setAttribute("value", hash(FIVE));
        var texts = new IIOMetadataNode("tEXt");
        texts.appendChild(text);
        var root = new IIOMetadataNode("javax_imageio_png_1.0");
        root.appendChild(texts);
        metadata.mergeTree("javax_imageio_png_1.0", root);
        Files.delete(PNG); // or a longer one would keep its end
        try (var out = ImageIO.createImageOutputStream(PNG.toFile())) {
            writer.setOutput(out);
            writer.write(new IIOImage(image, null, metadata));
        }
    }

    /** The name that git gives to a file with the text of these. */
    static String hash(Path... files) throws Exception {
        String text = "";
        for (Path file : files) text += Files.readString(file);
        MessageDigest sha = MessageDigest.getInstance("SHA-1");
        sha.update(("blob " + text.getBytes().length + "\0").getBytes());
        return HexFormat.of().formatHex(sha.digest(text.getBytes()));
    }
}
