# Finds JDK 21 and JDK 25, and names their programs: java21, javac21, jcmd21, jfr21, java25 ...
# Type this once in each new terminal (bash, zsh, or Git Bash on Windows):
#
#     source jdks.sh
#
# If it doesn't find one, say where it is, JDK21="/path/to/jdk 21", and source this file again.
# A JDK that isn't installed can also lie, unpacked, in the folder jdks beside this file.
# Every JVM is told that it has two processors, and so has two carriers. It's no cap: a pool of
# 200 platform threads still uses the whole machine.

jdk_home() { # version: prints the first home found of a JDK of that version
    find "$PWD/jdks" "$HOME/.jdks" "$HOME/.sdkman/candidates/java" \
        "$HOME/Library/Java/JavaVirtualMachines" \
        /Library/Java/JavaVirtualMachines /opt/homebrew/opt /usr/local/opt /usr/lib/jvm \
        "/c/Program Files/Java" "/c/Program Files/Eclipse Adoptium" \
        "/c/Program Files/Microsoft" "/c/Program Files/Zulu" "$HOME/scoop/apps" \
        -follow -maxdepth 6 -name release -type f 2>/dev/null |
        while IFS= read -r release; do
            home=$(dirname "$release")
            if grep -q "^JAVA_VERSION=\"$1[.\"]" "$release" &&
                ls "$home"/bin/javac* >/dev/null 2>&1
            then
                echo "$home"
                break
            fi
        done
}

jdk_run() { # home, version, program, arguments
    if [ -z "$1" ] || ! [ -d "$1/bin" ]; then
        echo "No JDK $2 found. Say which folder holds its bin: JDK$2=\"/path/to/jdk $2\"" >&2
        return 2
    fi
    program=$1/bin/$3
    shift 3
    "$program" "$@"
}

[ -n "${JDK21:-}" ] || JDK21=$(jdk_home 21)
[ -n "${JDK25:-}" ] || JDK25=$(jdk_home 25)

java21() { jdk_run "$JDK21" 21 java -XX:ActiveProcessorCount=2 "$@"; }
javac21() { jdk_run "$JDK21" 21 javac "$@"; }
jcmd21() { jdk_run "$JDK21" 21 jcmd "$@"; }
jfr21() { jdk_run "$JDK21" 21 jfr "$@"; }
java25() { jdk_run "$JDK25" 25 java -XX:ActiveProcessorCount=2 "$@"; }
jcmd25() { jdk_run "$JDK25" 25 jcmd "$@"; }
jfr25() { jdk_run "$JDK25" 25 jfr "$@"; }

jdk_check() { # version, home: prints the version found there, or what is wrong
    found=$(jdk_run "$2" "$1" java -version 2>&1 | head -n 1)
    echo "$found"
    case $found in
        *"\"$1"[.\"]* | "No JDK"*) ;;
        *) echo "That is no JDK $1. Say where one is: JDK$1=\"/path/to/jdk $1\"" >&2 ;;
    esac
    case $found in # 25.0.4 is the first update without JDK-8373120
        *'"25"'* | *'"25.0.'[1-3][.\"]*)
            echo "This update can hang (JDK-8373120). For today it will do; get the newest." >&2 ;;
    esac
}
jdk_check 21 "$JDK21"
jdk_check 25 "$JDK25"
for file in VirtualThreadsLab Rush Shop Shop1 Shop2 Shop3 KnownBugs Hundred HandOff Requests \
    Stuck Carriers CarrierCheck Mine
do
    [ -f "$file.java" ] || echo "$file.java is not in this folder." >&2
done
for file in look.sh record.sh; do
    [ -f "$file" ] || echo "$file is not in this folder." >&2
done
