# Records a running service on JDK 21 twice, for five seconds each: source record.sh
command -v java21 > /dev/null || . ./jdks.sh
recorded() { # waits until that recording has ended and is in its file
    while jcmd21 $process JFR.check 2> /dev/null | grep -q "name=$1 "; do sleep 1; done
}
rm -f first.jfr second.jfr
java21 Service.java ${1:+"$1"} | ( # the service ends when these lines do
    read -r line || exit 0 # it did not start, and has said why
    echo "$line"
    process=$(printf '%s' "${line##* }" | tr -d '\r')
    jcmd21 $process JFR.start name=first duration=5s filename=first.jfr > jcmd.txt 2>&1
    recorded first
    jcmd21 $process JFR.start name=second duration=5s filename=second.jfr \
        'jdk.VirtualThreadPinned#threshold=1ms' >> jcmd.txt 2>&1
    recorded second
)
if [ -s first.jfr ] && [ -s second.jfr ]; then
    for name in first second; do
        jfr21 summary $name.jfr | awk -v name=$name '/VirtualThreadPinned/ { print name ".jfr: " $2 " pinned waits" }'
    done
    jfr21 print --stack-depth 20 --events VirtualThreadPinned second.jfr | sed -n 1,14p
    grep -A 4 VirtualThreadPinned "$JDK21/lib/jfr/default.jfc" | grep threshold
else
    echo "record.sh: no recording: the service did not start, or see jcmd.txt" >&2
fi
