# Finds JDK 21 and JDK 25, and names their programs: java21, javac21, jcmd21, jfr21, java25 ...
# Type this once in each new terminal (bash, zsh, or Git Bash on Windows):
#
#     source jdks.sh
#
# If one is not found, say where it is: JDK21="/path/to/jdk-21", and source this file again.
# Every JVM sees two processors, as in a small container, so that the numbers on paper are yours.

jdk_home() { # the home of a JDK of that version
    find "$HOME/.jdks" "$HOME/.sdkman/candidates/java" "$HOME/Library/Java/JavaVirtualMachines" \
        /Library/Java/JavaVirtualMachines /opt/homebrew/opt /usr/local/opt /usr/lib/jvm \
        "/c/Program Files/Java" "/c/Program Files/Eclipse Adoptium" \
        "/c/Program Files/Microsoft" "/c/Program Files/Zulu" "$HOME/scoop/apps" \
        -follow -maxdepth 6 -name release -type f 2>/dev/null |
        while IFS= read -r release; do
            home=$(dirname "$release")
            if grep -q "^JAVA_VERSION=\"$1[.\"]" "$release" && ls "$home"/bin/javac* >/dev/null 2>&1
            then
                echo "$home"
                break
            fi
        done
}

jdk_run() { # home, version, program, arguments
    if ! [ -d "$1/bin" ]; then
        echo "There is no JDK $2 here. Say where it is: JDK$2=\"/path/to/jdk-$2\"" >&2
        return 2
    fi
    program=$1/bin/$3
    shift 3
    "$program" "$@"
}

: "${JDK21:=$(jdk_home 21)}" "${JDK25:=$(jdk_home 25)}"

java21() { jdk_run "$JDK21" 21 java -XX:ActiveProcessorCount=2 "$@"; }
javac21() { jdk_run "$JDK21" 21 javac "$@"; }
jcmd21() { jdk_run "$JDK21" 21 jcmd "$@"; }
jfr21() { jdk_run "$JDK21" 21 jfr "$@"; }
java25() { jdk_run "$JDK25" 25 java -XX:ActiveProcessorCount=2 "$@"; }
jcmd25() { jdk_run "$JDK25" 25 jcmd "$@"; }
jfr25() { jdk_run "$JDK25" 25 jfr "$@"; }

pid() { # of the program that runs this file: pid Shop.java
    found=$(jdk_run "${JDK25:-$JDK21}" 25 jcmd | awk -v file="$1" 'index($0, file) { print $1; exit }')
    [ -n "$found" ] || echo "$1 does not run. Start it in another terminal." >&2
    echo "$found"
}

# Makes Play.java, a changed copy of the lab: change 'int pool = 200;' 'int pool = 1_000;'
change() {
    if ! grep -qF "$1" VirtualThreadsLab.java; then
        echo "VirtualThreadsLab.java has no: $1" >&2
        return 2
    fi
    awk -v old="$1" -v new="$2" '{
        at = index($0, old)
        if (at) $0 = substr($0, 1, at - 1) new substr($0, at + length(old))
        print
    }' VirtualThreadsLab.java > Play.java
    echo "Play.java: $(grep -cF "$1" VirtualThreadsLab.java) lines changed" >&2
}

for program in java21 java25; do
    $program -version 2>&1 | head -n 1
done
for file in VirtualThreadsLab.java {Shop,Hundred,Service,Mine}.java {look,record}.sh; do
    [ -f "$file" ] || echo "$file is not in this folder."
done
