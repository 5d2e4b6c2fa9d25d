# What virtual threads with a carrier do, a line each: the top frame, the first one outside the
# JDK and, if they wait for a lock, whose it is, and what that thread does. Reads JSON dumps of
# JDK 25 or newer; see blocking.md.
#     awk -f by-carrier.awk dump?.json | sort | uniq -c | sort -rn
function tell(    t, o) {
    for (t in mounted) {
        o = owner[lock[t]]
        print what[t] (o == "" || o == t ? "" : " for " lock[t] " of " (!(o in virtual) \
            ? "a platform" : o in mounted ? "a mounted" : "an unmounted") " thread: " what[o])
    }
    split("", mounted); split("", lock); split("", owner) # makes them empty
}
FNR == 1 { tell() }
{ gsub(/^ *|,$/, "") }
/^"tid"/ { t = $2; top = own = "" }
/^"virtual"/ { virtual[t] }
/^"(blockedOn|waitingOn|object)"/ { lock[t] = $2 }
/^"owner": "?[0-9]/ && !top { owner[lock[t]] = $2 } # after "object"; that of a container comes later
/^"[^"]*@[^"]*"$/ { owner[$0] = t } # in monitorsOwned
/^"[^"]*\(/ { if (!top) top = $0; if (!own && !/\//) own = $0; what[t] = top " " own }
/^"carrier"/ { mounted[t] }
END { tell() }
