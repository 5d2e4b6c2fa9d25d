# Two recordings of a running service, five seconds each: source record.sh
java21 Service.java &
sleep 2
jcmd21 $(pid Service.java) JFR.start duration=5s filename=first.jfr > jcmd.txt
sleep 6
jcmd21 $(pid Service.java) JFR.start duration=5s filename=second.jfr \
    'jdk.VirtualThreadPinned#threshold=1ms' > jcmd.txt
sleep 6
for name in first second; do
    jfr21 summary $name.jfr | grep -E 'Event Type|VirtualThreadPinned'
done
jfr21 print --stack-depth 20 --events VirtualThreadPinned second.jfr |
    sed -n 1,14p
grep -A 4 VirtualThreadPinned "$JDK21/lib/jfr/default.jfc" | grep threshold
wait
