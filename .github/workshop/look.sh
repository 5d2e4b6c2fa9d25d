# Two kinds of dump of the shop while it runs on JDK 21: source look.sh
java21 Shop.java &
sleep 3
jcmd21 $(pid Shop.java) Thread.print > print.txt
jcmd21 $(pid Shop.java) Thread.dump_to_file -overwrite dump.txt
wait
