# Records a service on JDK 21 twice, for five seconds each: source record.sh
command -v java21 > /dev/null || . ./jdks.sh
recorded() { # waits until the recording has ended and its file is complete
    while jcmd21 $process JFR.check | grep "name=$1 "; do sleep 1; done
}
rm -f first.jfr second.jfr
java21 Requests.java | ( # the service ends when these lines do
    read -r line || exit 0 # it did not start, and has said why
    echo "$line"
    process=$(printf '%s' "${line##* }" | tr -d '\r')
    {
        jcmd21 $process JFR.start name=first duration=5s filename=first.jfr
        recorded first
        jcmd21 $process JFR.start name=second duration=5s filename=second.jfr \
            'jdk.VirtualThreadPinned#threshold=1ms'
        recorded second
    } > jcmd.txt 2>&1
)
if [ -s first.jfr ] && [ -s second.jfr ]; then
    for name in first second; do
        count=$(jfr21 summary $name.jfr | awk '/VirtualThreadPinned/ { print $2 }')
        echo "$name.jfr: $count pinned waits"
        [ $name = second ] || [ "$count" -eq 0 ] ||
            echo "  (a busy machine made these last longer than they should)"
    done
    jfr21 print --stack-depth 20 --events VirtualThreadPinned second.jfr | sed -n 1,14p
    grep -A 4 VirtualThreadPinned "$JDK21/lib/jfr/default.jfc" | grep threshold
else
    echo "record.sh: no recordings: Requests.java didn't start, or else jcmd.txt says why." >&2
fi
