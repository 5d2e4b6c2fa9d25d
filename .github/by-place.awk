# Where virtual threads had events, a line each: the event, and up to three frames outside the
# JDK, innermost first. Reads what jfr prints; see blocking.md.
#     jfr print --stack-depth 40 --events NAMES pins.jfr | awk -f by-place.awk |
#         sort | uniq -c | sort -rn
{ gsub(/\/0x[0-9a-f]+/, "") } # a hidden class's address, new each time
/^jdk/ { what = $1; virtual = 0; n = 0 }
/blockingOperation|pinnedReason/ { sub(/^ */, ""); what = what ", " $0 }
/eventThread.*virtual/ { virtual = 1 }
/ line: / && !/^ *(java|javax|jdk|sun)\./ && n++ < 3 { what = what " < " $1 ":" $NF }
/^}/ && virtual { print what }
