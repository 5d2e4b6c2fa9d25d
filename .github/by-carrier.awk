# What virtual threads with a carrier do, a line each: the top frame, and the first one outside
# the JDK. Reads JSON dumps of JDK 25 or newer; see blocking.md.
#     awk -f by-carrier.awk dump?.json | sort | uniq -c | sort -rn
/"stack"/ { top = own = "" }
/^ *"[^"]*\(/ { sub(/^ */, ""); if (!top) top = $0; if (!own && !/\//) own = $0 }
/"carrier"/ { print top, own }
