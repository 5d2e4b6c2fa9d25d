#!/bin/sh
# SPDX-License-Identifier: MIT-0
# Measures a service on Spring Boot, Tomcat, HikariCP and PostgreSQL, on a pool of threads and
# on virtual ones, each with and without a limit of requests.
#     sh measure.sh HOME_OF_A_JDK
# Needs Maven and PostgreSQL's server; PostgreSQL runs on a port and a folder of its own.
# The table goes to standard output, each measurement to target/raw.txt. To change:
: "${ARMS:=pool-200 pool-500 pool-500+400 virtual virtual+400}" "${RATES:=300 500}"
: "${ROUNDS:=1}" "${SECONDS_EACH:=60}" "${PARTNER_MS:=1000}" "${PORT:=18080}"
: "${JVM:=-Xmx512m}" "${BOOT:=4.1}" # or 3.5
: "${CONNECTION_MS:=1000}" # how long an order waits for a connection; Hikari's default: 30000
set -u
root=$(cd "$(dirname "$0")" && pwd)

fail() {
    echo "measure.sh: $*" >&2
    exit 2
}

stop() {
    trap '' HUP INT TERM
    [ -z "${load-}" ] || kill "$load" 2>/dev/null
    [ -z "${service-}" ] || kill -9 "$service" 2>/dev/null
    stop_postgres
    wait
} >/dev/null 2>&1

for number in "$ROUNDS" "$SECONDS_EACH" "$PARTNER_MS" "$PORT" "$CONNECTION_MS" $RATES; do
    case $number in '' | 0* | *[!0-9]*) fail "'$number' is no number above 0" ;; esac
done
jdk=${1-}
[ -x "$jdk/bin/javac" ] || fail "no JDK in '$jdk': name a folder that has bin/javac"
jdk=$(cd "$jdk" && pwd)
case $BOOT in
4.1) http=clients ;;
3.5) http=client ;;
*) fail "BOOT: '$BOOT' is neither 4.1 nor 3.5" ;;
esac
version=$("$jdk/bin/javac" -version 2>&1 | sed 's/^javac //')
[ "${version%%.*}" -ge 21 ] 2>/dev/null || fail "$jdk is JDK $version: take 21 or newer"
command -v mvn >/dev/null || fail "no mvn on the PATH: install Maven"
PGPORT=$((PORT + 2))
. "$root/postgres.sh"
find_postgres || fail "no PostgreSQL server: install it, or put initdb on the PATH"

trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$root/target"
"$jdk/bin/javac" -d "$root/target" "$root/Load.java" || exit 2
"$jdk/bin/java" -cp "$root/target" Load free \
    "$PORT" $((PORT + 1)) $((PORT + 2)) $((PORT + 3)) || exit 2
mvn -q -B -P "$BOOT" -f "$root/pom.xml" -Dmaven.compiler.fork=true \
    -Dmaven.compiler.executable="$jdk/bin/javac" package >"$root/target/maven.log" 2>&1 ||
    fail "Maven couldn't build the service: read $root/target/maven.log"

start_postgres || {
    cat "${data-}/log" "${data-}/db/log" >"$root/target/postgres.log" 2>/dev/null
    fail "PostgreSQL didn't start: read $root/target/postgres.log"
}

# run ROUND ARM: a fresh service, a warm-up, then each rate
run() {
    echo "round $1 of $ROUNDS: JDK $version, $2" >&2
    case $2 in
    pool-*[0-9]) threads=${2#pool-} virtual=false ;;
    virtual*) threads=200 virtual=true ;;
    *) fail "ARMS: '$2' is neither pool-N, virtual, nor one of them with +N" ;;
    esac
    case $2 in *+*) room=${2#*+} ;; *) room=1000000 ;; esac
    # shellcheck disable=SC2086 # the words of JVM
    "$jdk/bin/java" $JVM -jar "$root/target/service.jar" --server.port="$PORT" \
        --facts=$((PORT + 3)) --partner="http://localhost:$((PORT + 1))" --room="$room" \
        --spring.threads.virtual.enabled=$virtual --server.tomcat.threads.max="${threads%+*}" \
        --spring.datasource.url="jdbc:postgresql://localhost:$((PORT + 2))/postgres" \
        --spring.datasource.username=lab \
        --spring.datasource.hikari.connection-timeout="$CONNECTION_MS" \
        --spring.datasource.hikari.validation-timeout=500 \
        "--spring.http.$http.connect-timeout=1s" \
        "--spring.http.$http.read-timeout=$((PARTNER_MS * 2))ms" \
        --spring.main.banner-mode=off >"$root/target/service.log" 2>&1 &
    service=$!
    # shellcheck disable=SC2086 # the words of RATES
    "$jdk/bin/java" -Xmx2g -Dsun.net.httpserver.maxIdleConnections=20000 \
        -cp "$root/target" Load run "$1 $version $2" "$PORT" "$service,$database" \
        "$PARTNER_MS" "$SECONDS_EACH" $RATES >>"$raw" 2>"$root/target/load.log" &
    load=$!
    wait $load || fail "the load failed: read load.log and service.log in $root/target"
    load=
    kill -9 $service # out of memory, it ignores SIGTERM
    wait $service 2>/dev/null # says nothing of the kill
    service=
}

raw=$root/target/raw.txt
echo "round JDK arm rate due refused failed p50 p99 most busy others late before after \
process" >"$raw"
for round in $(seq "$ROUNDS"); do
    for arm in $ARMS; do run "$round" "$arm"; done
done
"$jdk/bin/java" -cp "$root/target" Load table "$raw"
