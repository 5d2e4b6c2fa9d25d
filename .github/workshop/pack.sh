#!/bin/sh
# Makes workshop.zip, to send with prepare.md: what a participant needs, in one folder.
#     sh .github/workshop/pack.sh [ADDRESS]
# The project's address goes where prepare.md says README, as in print.sh. The zip's folder later
# is the whole project, so its pages have all that they name and link.
# On a stick, unpack JDKs into workshop/jdks: jdks.sh looks there, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
jar=$(command -v jar) || {
    java=$(sh "$here/../../.ci/java" --list | head -n 1 | cut -d ' ' -f 2-)
    jar=${java%java}jar
}
new=$(mktemp -d)
trap 'rm -r "$new"' EXIT
mkdir -p "$new/workshop/jdks" "$new/workshop/later"
cd "$here"
cp ../../VirtualThreadsLab.java ../*.java ../post/Rush.java ../post/HandOff.java \
    ../service/Carriers.java ./*.java jdks.sh look.sh record.sh "$new/workshop"
cp -R ../../README.md ../../results.md ../../LICENSE ../../VirtualThreadsLab.java ../../.ci ../../.github \
    "$new/workshop/later"
find "$new/workshop/later" -name target -prune -exec rm -r {} + # Maven's
sed "s|README, ___*|README, ${1:-____________________}|" prepare.md > "$new/workshop/prepare.txt"
echo "Unpack JDK 21 and JDK 25 here, each as a folder, if they are not installed." \
    > "$new/workshop/jdks/README.txt"
cd - > /dev/null
"$jar" --create --no-manifest --file workshop.zip -C "$new" workshop
echo "workshop.zip: $(du -k workshop.zip | cut -f 1) kB"
