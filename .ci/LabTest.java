// SPDX-License-Identifier: MIT-0
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.*;
import java.util.stream.*;
import javax.tools.ToolProvider;

/**
 * Tests the lab on the Java that runs this: each section of commands.md is a test, and that
 * page says how to read it. Run this in the project's folder. Words pick the tests whose names
 * contain one of them, or after "not" all others. With "write", Expected's texts are written
 * anew.
 *
 *     java .ci/LabTest.java
 *     java .ci/LabTest.java starts console
 *     java .ci/LabTest.java not bugs deadlock
 *     java .ci/LabTest.java expected write
 *
 * No test sets an upper limit that a busy machine can break, except those that commands.md
 * names.
 */
class LabTest {
    static final int JDK = Runtime.version().feature();
    static final Path HOME = Path.of(System.getProperty("java.home"));
    static final String C1 = "-XX:TieredStopAtLevel=1"; // a compiler needn't be compiled well
    static final int MINUTES = 4; // a process that takes longer counts as hung
    static Path temp; // holds all that the tests make
    static Path room; // what is tested has its temporary files here, and has to delete them
    static Path classes;
    static String write = ""; // or "write", for Expected
    static Process process; // the current one, and what it prints
    static Path output;
    static Path errors;
    static int passed;
    static int failed;
    static volatile boolean stopped;
    static final Object START = new Object(); // locked while a process starts, and at the end

    interface Test { void run() throws Exception; }

    public static void main(String[] args) throws Exception {
        List<String> words = new ArrayList<>(List.of(args));
        if (words.remove("write")) write = "write";
        boolean allOthers = words.remove("not");
        Map<String, Test> tests = new LinkedHashMap<>();
        for (String section : read(Path.of(".ci/commands.md")).split("\n### ")) {
            String name = section.lines().findFirst().get();
            if (!name.startsWith("#")) tests.put(name, () -> section(section));
        }
        for (String word : words) {
            if (tests.keySet().stream().anyMatch(name -> name.contains(word))) continue;
            System.err.println("LabTest: no such test: " + word);
            System.exit(2);
        }
        if (!words.isEmpty()) {
            tests.keySet().removeIf(name ->
                words.stream().anyMatch(name::contains) == allOthers);
        }
        temp = Files.createTempDirectory("lab-test");
        Runtime.getRuntime().addShutdownHook(new Thread(LabTest::clean));
        prepare();
        run("lines fit as commands.md says", LabTest::language);
        run("compiled without a warning", LabTest::compile);
        if (failed == 0) tests.forEach(LabTest::run);
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    /** Makes the programs that commands.md lists, and on, which its conditions use. */
    static void prepare() throws IOException {
        room = Files.createDirectory(temp.resolve("room"));
        String shared = System.getenv("SHARED_CLASSES"); // .ci/run starts this a dozen times
        classes = shared == null ? temp.resolve("classes") : Path.of(shared, "" + JDK);
        Path bin = Files.createDirectory(temp.resolve("bin"));
        program(bin.resolve("java"), """
            exec '%s/bin/java' -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 \
            -Djava.io.tmpdir='%s' "$@"
            """.formatted(HOME, room));
        program(bin.resolve("faulty"), """
            exec java $C1 FaultyExperiments --quick --runs 1 "$@"
            """);
        program(bin.resolve("await"), """
            for i in $(seq 600); do grep -qs "$2" "$1" && exit; sleep 0.1; done
            echo "no $2 in $1" >&2
            exit 1
            """);
        program(bin.resolve("gone"), """
            for i in $(seq 600); do
                ps -o stat= -p "$1" | grep -q '^[^Z]' || exit 0
                sleep 0.1
            done
            echo "still there: $1" >&2
            exit 1
            """);
        program(bin.resolve("on"), """
            case " $* " in *" $JDK "*) exit 0 ;; esac
            test -z "$THREE"
            """);
        program(bin.resolve("in-cgroup"), """
            exec unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && cd /sys/fs/cgroup &&
                mkdir -p cpu && echo "$1" > "$0" && cd "$OLDPWD" && shift && exec "$@"' "$@"
            """);
        // Not beside that java, or .ci/java would take it for a JDK.
        Path tools = Files.createDirectory(temp.resolve("tools"));
        for (String tool : List.of("javac", "jar", "jcmd", "jfr")) {
            program(tools.resolve(tool), """
                exec '%s/bin/%s' -J%s "$@"
                """.formatted(HOME, tool, C1));
        }
    }

    static void program(Path file, String script) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + script);
        file.toFile().setExecutable(true);
    }

    static void compile() {
        if (Files.exists(classes)) throw new CancellationException("there are classes");
        var said = new ByteArrayOutputStream();
        var javac = ToolProvider.getSystemJavaCompiler();
        javac.run(null, said, said, "-d", "" + classes, "--release", "21", "-Werror",
            "-Xlint:all", "-Xdoclint:all/protected", "VirtualThreadsLab.java");
        javac.run(null, said, said, "-d", "" + classes, "--release", "21", "-Werror",
            "-Xlint:all,-auxiliaryclass", "-cp", "" + classes, ".ci/FaultyExperiments.java",
            ".ci/Expected.java", ".github/CarrierCheck.java", ".ci/pages/BlockingCalls.java",
            ".ci/KnownCalls.java", ".ci/Verdicts.java", ".github/KnownBugs.java");
        equal("output of javac", "", "" + said);
    }

    static void run(String name, Test test) {
        process = null;
        long start = System.nanoTime();
        try {
            test.run();
            equal("left in the temporary folder", "", String.join(" ", room.toFile().list()));
            passed++;
            System.out.println("passed: " + name + " ("
                + (System.nanoTime() - start) / 1_000_000_000 + " s)");
        } catch (CancellationException skip) {
            System.out.println("skipped: " + name + ": " + skip.getMessage());
        } catch (Exception | AssertionError e) {
            if (stopped) LockSupport.park(); // it's not the test's fault
            failed++;
            if (process != null) endAndShow();
            String why = e instanceof AssertionError ? e.getMessage() : "" + e;
            System.out.println("FAILED: " + name + ": " + why);
            for (File left : room.toFile().listFiles()) delete(left.toPath());
        }
    }

    /** Ends the current process, and shows the last lines that it has printed. */
    static void endAndShow() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        String told = read(errors).replaceAll("[\r\n]+\\s*", "\n");
        List<String> lines = (told + read(output)).lines().toList();
        for (String line : lines.subList(Math.max(0, lines.size() - 60), lines.size())) {
            System.out.println("        " + line);
        }
    }

    /** Lets nothing start any more, and ends what runs: often, as a shell may start more. */
    static void clean() {
        stopped = true;
        synchronized (START) {
            for (int i = 0; i < 10; i++) {
                ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
                LockSupport.parkNanos(10_000_000);
            }
            delete(temp);
        }
    }

    static void delete(Path folder) {
        try (var files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            System.err.println("LabTest: not deleted: " + e);
        }
    }

    // ------------------------------------------------------------------------------ commands

    /** Runs the commands of a section, and compares what each does with what follows it. */
    static void section(String text) throws Exception {
        Path folder = Files.createTempDirectory(temp, "here");
        List<String> commands = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        boolean answered = false; // the commands have lines, if only for other JDKs
        for (String line : (text + "\n    $ end").lines().toList()) {
            if (!line.startsWith("    ")) continue;
            String words = line.substring(4).replaceFirst("^(\\[[\\d-]+]|[$>?]) ", "");
            boolean isNext = line.startsWith("    $ ") && answered;
            if (isNext || line.startsWith("    ? ")) {
                for (String command : commands) check(command, folder, expected);
                commands.clear();
                expected.clear();
                answered = false;
            }
            if (line.startsWith("    $ ")) {
                commands.add(words);
            } else if (line.startsWith("    > ")) {
                commands.add(commands.removeLast() + "\n" + words);
            } else if (line.startsWith("    ? ")) {
                if (bash(words, folder) != 0)
                    throw new CancellationException("not here: " + words);
            } else {
                answered = true;
                if (isForThisJdk(line.strip())) expected.add(words);
            }
        }
    }

    static boolean isForThisJdk(String line) {
        var jdks = Pattern.compile("\\[(\\d+)-(\\d*)] .*").matcher(line);
        if (!jdks.matches()) return true;
        int last = jdks.group(2).isEmpty() ? JDK : Integer.parseInt(jdks.group(2));
        return Integer.parseInt(jdks.group(1)) <= JDK && JDK <= last;
    }

    /** Runs a command by bash; returns its exit code. */
    static int bash(String command, Path folder) throws Exception {
        if (!Files.exists(Path.of("/bin/bash"))) throw new CancellationException("no bash");
        output = Files.createTempFile(temp, "out", "");
        errors = Files.createTempFile(temp, "err", "");
        var builder = new ProcessBuilder("/bin/bash", "-c", command).directory(folder.toFile());
        var environment = builder.environment();
        environment.keySet().removeAll(Set.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"));
        environment.put("CLASSPATH", classes + ":.");
        environment.put("CLASSES", "" + classes);
        environment.put("TOP", "" + Path.of("").toAbsolutePath());
        environment.put("JDK", "" + JDK);
        environment.put("HOME_OF_JAVA", "" + HOME);
        environment.put("PATH", String.join(":", "" + temp.resolve("bin"),
            "" + temp.resolve("tools"), System.getenv("PATH")));
        environment.put("C1", C1);
        environment.put("WRITE", write);
        builder.redirectOutput(output.toFile()).redirectError(errors.toFile());
        synchronized (START) {
            process = builder.start();
        }
        process.getOutputStream().close();
        yes("ends: " + command, process.waitFor(MINUTES, TimeUnit.MINUTES));
        return process.exitValue();
    }

    // A table's head and ruler, which a test may leave out.
    static final String HEAD = "\\| (Experiment|Bug|Known limit|By version) .*";
    static final String RULER = "\\|( :-|--).*";

    /** Runs a command, and compares its exit code and what it prints with what's expected. */
    static void check(String command, Path folder, List<String> expected) throws Exception {
        int code = bash(command, folder);
        String printed = read(output);
        List<String> told = read(errors).lines().filter(line -> !line.isBlank()).toList();
        try {
            String exit = expected.stream().filter(line -> line.startsWith("exit "))
                .findFirst().orElse("exit 0");
            equal("it ends", exit, "exit " + code);
            if (code == 2) equal("printed", "", printed);
            if (code == 2) equal("lines on standard error", 1, told.size());
            for (String line : expected) {
                if (!line.startsWith("2> ")) continue;
                String error = line.substring(3);
                long times = told.stream().filter(actual -> fits(error, actual)).count();
                equal("times " + line, 1L, times);
            }
            equal("wide rows", List.of(), printed.lines().filter(line ->
                line.length() > 80 && line.matches("\\|.* m?s \\|.*|.*\u2502.*")).toList());
            var wanted = expected.stream().filter(line -> !line.matches("(exit|2>) .*"));
            boolean wantsHeads = expected.stream().anyMatch(line -> line.matches(RULER));
            var lines = printed.lines().filter(line ->
                wantsHeads || !line.matches(HEAD + "|" + RULER));
            compare(wanted.toList(), lines.toList());
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + ", after " + command);
        }
    }

    /** Each of the expected lines has to come, in this order; a table has no other rows. */
    static void compare(List<String> expected, List<String> lines) {
        int at = 0;
        boolean inTable = false;
        for (String wanted : expected) {
            boolean isRow = wanted.startsWith("|");
            while (!fits(wanted, line(lines, at))) {
                boolean skipsRow = line(lines, at).startsWith("|") && (isRow || inTable);
                boolean maySkip = at < lines.size() && !skipsRow && !(isRow && inTable);
                yes("expected " + wanted + ", but was " + line(lines, at), maySkip);
                at++;
            }
            at++;
            inTable = isRow;
        }
        yes("one row more: " + line(lines, at), !inTable || !line(lines, at).startsWith("|"));
    }

    static String line(List<String> lines, int i) {
        return i < lines.size() ? lines.get(i) : "the end";
    }

    /** Compares lines, or the cells of two rows. */
    static boolean fits(String wanted, String line) {
        if (!wanted.startsWith("|")) return like(wanted, line);
        String[] cells = line.split("\\|");
        String[] all = wanted.split("\\|");
        if (cells.length != all.length) return false;
        for (int i = 0; i < all.length; i++) {
            String cell = cells[i].strip();
            boolean asksForNoise = all[i].contains("~");
            if (!like(all[i].strip(), asksForNoise ? cell : plain(cell))) return false;
        }
        return true;
    }

    /** A cell without ~, a range as its lowest number, and seconds in ms. */
    static String plain(String cell) {
        return cell.replaceFirst("~(.*)[–-].*(.)", "$1$2").replace("~", "")
            .replaceFirst("(^[\\d.]+) s$", "$1e3 ms");
    }

    /** Compares texts: a * is anything, and 5..20 a number, with any unit if it's alone. */
    static boolean like(String wanted, String text) {
        String number = "(\\d[\\d.]*)\\.\\.(\\d[\\d.]*)?";
        String regex = Pattern.quote(wanted.replaceAll(number, "\0")).replace("*", "\\E.*\\Q")
            .replace("\0", "\\E([\\d.,]+(?:e3)?)\\Q") + (wanted.matches(number) ? "\\D*" : "");
        var actual = Pattern.compile(regex).matcher(text);
        if (!actual.matches()) return false;
        var ranges = Pattern.compile(number).matcher(wanted).results().toList();
        return IntStream.range(0, ranges.size()).allMatch(i -> {
            double value = Double.parseDouble(actual.group(i + 1).replace(",", ""));
            String most = ranges.get(i).group(2);
            return value >= 0.99 * Double.parseDouble(ranges.get(i).group(1))
                && (most == null || value <= Double.parseDouble(most));
        });
    }

    /** What commands.md says of its lines. */
    static void language() {
        for (String fits : List.of("| a | 5.. |=| a | 5 ms |", "| 5..20 |=| 20.0 ms |",
                "| 5.. |=| 4.96 ms |", "| 9000.. |=| 10.0 s |", "| 2,000 |=| 2,000 |",
                "| 2..3 |=|~2.4–9.9×|", "| 2× |=| ~2× |", "| ~1–2× |=| ~1–2× |",
                "- *, samples: 1=- b, samples: 1", "up to 11..97%=up to 50%", "| |=| |")) {
            String[] both = fits.split("=");
            yes("fits: " + fits, fits(both[0], both[1]));
        }
        for (String not : List.of("| a | 5.. |=| b | 5 ms |", "| 5..20 |=| 20.1 ms |",
                "| 5.. |=| 4.9 ms |", "| 9000.. |=| 8.9 s |", "| 2,000 |=| 2,001 |",
                "| 2..3 |=|~1.9–2.4×|", "| ~* |=| 2× |", "| * |=| a | b |", "ab=abc",
                "up to 11..97%=up to 98%", "| 5.. |=| — |", "a.c=abc", "| |=| 0 |",
                "| 5..20 |=| ? |")) {
            String[] both = not.split("=");
            yes("doesn't fit: " + not, !fits(both[0], both[1]));
        }
    }

    static void yes(String what, boolean holds) {
        if (!holds) throw new AssertionError(what);
    }

    static void equal(String what, Object expected, Object actual) {
        yes(what + ": expected " + expected + ", but was " + actual, expected.equals(actual));
    }

    static String read(Path file) {
        try {
            return Files.readString(file).replace("\r\n", "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
