# Takes two kinds of dump while the shop runs on JDK 21: source look.sh
command -v java21 > /dev/null || . ./jdks.sh
rm -f print.txt dump.txt
java21 Shop.java | (
    read -r line || exit 0 # it did not start, and has said why
    echo "$line"
    process=$(printf '%s' "${line##* }" | tr -d '\r')
    until grep -s 'Shop\.answer' dump.txt | sed 1d | grep -q .; do # two are under way
        jcmd21 $process Thread.dump_to_file -overwrite dump.txt || break
    done > jcmd.txt 2>&1
    jcmd21 $process Thread.print > print.txt 2>> jcmd.txt
    cat
)
if grep -qs 'Shop\.answer' dump.txt && grep -qs 'Shop\.main' print.txt; then
    echo "print.txt and dump.txt are there."
else
    echo "look.sh: no dumps: Shop.java didn't start, or was done too soon; after step 1," \
        "it takes long enough." >&2
fi
