# Two recordings of a running service, five seconds each: source record.sh
java21 Service.java &
sleep 2
jcmd21 $(pid Service.java) JFR.start duration=5s filename=first.jfr > jcmd.txt
sleep 6
jcmd21 $(pid Service.java) JFR.start duration=5s filename=second.jfr \
    'jdk.VirtualThreadPinned#threshold=1ms' > jcmd.txt
sleep 6
jfr21 summary first.jfr | grep VirtualThreadPinned
jfr21 summary second.jfr | grep VirtualThreadPinned
jfr21 print --stack-depth 20 --events VirtualThreadPinned second.jfr |
    sed -n 1,14p
wait
