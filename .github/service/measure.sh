#!/bin/sh
# SPDX-License-Identifier: MIT-0
# Measures a service on Spring Boot, Tomcat, HikariCP and PostgreSQL, with three kinds of
# threads: a pool of 200, virtual threads, virtual threads with a semaphore.
#     sh measure.sh [home of a JDK]...      (without one: those of 21 and 25 that it finds)
# Needs Maven and PostgreSQL's server; PostgreSQL runs on a port and a folder of its own.
# The table goes to standard output, each measurement to target/raw.txt. To change:
: "${ROUNDS:=3}" "${SECONDS_EACH:=7}" "${RATES:=150 300 500}" "${ARMS:=pool virtual semaphore}"
: "${PARTNER_MS:=1000}" "${POOL:=200}" "${ROOM:=400}" "${PORT:=18080}" "${JVM:=-Xmx512m}"
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
    [ ! -f "${data-}/db/postmaster.pid" ] || postgres pg_ctl -D "$data/db" -m immediate stop
    wait
    [ -z "${data-}" ] || rm -rf "$data"
} >/dev/null 2>&1

# Runs one of PostgreSQL's programs, which refuse to run as root.
postgres() {
    program=$bin/$1
    shift
    if [ "$(id -u)" = 0 ]; then
        (cd / && su -s /bin/sh "$owner" -c 'exec "$0" "$@"' -- "$program" "$@")
    else
        "$program" "$@"
    fi
}

for number in "$ROUNDS" "$SECONDS_EACH" "$PARTNER_MS" "$POOL" "$ROOM" "$PORT" $RATES; do
    case $number in '' | 0* | *[!0-9]*) fail "'$number' is no number above 0" ;; esac
done
[ "$PORT" -le 65533 ] 2>/dev/null || fail "PORT: no three ports from '$PORT' on"
case $RATES in *[0-9]*) ;; *) fail "RATES: no number in '$RATES'" ;; esac
case $ARMS in *[a-z]*) ;; *) fail "ARMS: no arm in '$ARMS'" ;; esac
for arm in $ARMS; do
    case $arm in pool | virtual | semaphore) ;; *) fail "ARMS: no arm is called '$arm'" ;; esac
done
if [ $# = 0 ]; then
    for version in 21 25; do
        java=$(sh "$root/../../.ci/java" --list | sed -n "s/^$version //p" | head -n 1)
        [ -z "$java" ] || set -- "$@" "${java%/bin/java}"
    done
    [ $# != 0 ] || fail "found no JDK 21 or 25: name the home of a JDK"
fi
for jdk in "$@"; do
    [ -n "$jdk" ] && [ -x "$jdk/bin/javac" ] ||
        fail "no JDK in '$jdk': name a folder that has bin/javac"
    version=$("$jdk/bin/javac" -version 2>&1 | sed 's/^javac \([0-9]*\).*/\1/')
    [ "$version" -ge 21 ] 2>/dev/null || fail "$jdk is JDK $version: take 21 or newer"
done
newest=$(cd "$jdk" && pwd) # the last one: it makes the load
command -v mvn >/dev/null || fail "no mvn on the PATH: install Maven"
bin=$(command -v initdb) && bin=$(dirname "$(readlink -f "$bin")") ||
    bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$bin/postgres" ] || fail "no PostgreSQL server: install it, or put initdb on the PATH"
owner=$(id -un postgres 2>/dev/null || echo nobody)

trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$root/target"
"$newest/bin/javac" -d "$root/target" "$root/Load.java" || exit 2
"$newest/bin/java" -cp "$root/target" Load free "$PORT" $((PORT + 1)) $((PORT + 2)) || exit 2
mvn -q -B -f "$root/pom.xml" -Dmaven.compiler.fork=true \
    -Dmaven.compiler.executable="$newest/bin/javac" package >"$root/target/maven.log" 2>&1 ||
    fail "Maven couldn't build the service: read $root/target/maven.log"

data=$(mktemp -d) || fail "no temporary folder: set TMPDIR to one"
[ "$(id -u)" != 0 ] || chown "$owner" "$data"
postgres initdb -D "$data/db" -U lab -A trust >"$data/log" 2>&1 &&
    postgres pg_ctl -w -D "$data/db" -l "$data/db/log" -o "-p $((PORT + 2)) -k $data \
-c listen_addresses=127.0.0.1" start >>"$data/log" 2>&1 || {
    cat "$data/log" "$data/db/log" >"$root/target/postgres.log" 2>/dev/null
    fail "PostgreSQL didn't start: read $root/target/postgres.log"
}

# run ROUND JDK ARM: a fresh service, a warm-up, then each rate
run() {
    version=$("$2/bin/javac" -version 2>&1 | sed 's/^javac //')
    echo "round $1 of $ROUNDS: JDK $version, $3" >&2
    virtual=true
    room=1000000
    [ "$3" != pool ] || virtual=false
    [ "$3" != semaphore ] || room=$ROOM
    # shellcheck disable=SC2086 # the words of JVM
    "$2/bin/java" $JVM -jar "$root/target/service.jar" --server.port="$PORT" \
        --spring.threads.virtual.enabled=$virtual --server.tomcat.threads.max="$POOL" \
        --spring.datasource.url="jdbc:postgresql://localhost:$((PORT + 2))/postgres" \
        --spring.datasource.username=lab \
        --spring.datasource.hikari.connection-timeout=1000 \
        --spring.http.client.read-timeout=$((PARTNER_MS * 2))ms --room=$room \
        --partner="http://localhost:$((PORT + 1))" --spring.main.banner-mode=off \
        >"$root/target/service.log" 2>&1 &
    service=$!
    # shellcheck disable=SC2086 # the words of RATES
    "$newest/bin/java" -Xmx2g -Dsun.net.httpserver.maxIdleConnections=20000 \
        -cp "$root/target" Load run "$1 $version $3" "$PORT" "$PARTNER_MS" \
        $((PARTNER_MS * 3)) "$SECONDS_EACH" $RATES >>"$raw" 2>"$root/target/load.log" &
    load=$!
    wait $load || fail "the load failed: read load.log and service.log in $root/target"
    load=
    echo "    memory of the service: $(($(ps -o rss= -p $service) / 1024)) MB" >&2
    kill -9 $service # out of memory, it ignores SIGTERM
    wait $service 2>/dev/null # says nothing of the kill
    service=
}

raw=$root/target/raw.txt
echo "round JDK arm rate due refused failed p50 p99 most cpu late before after" >"$raw"
for round in $(seq "$ROUNDS"); do
    for arm in $ARMS; do
        for jdk in "$@"; do run "$round" "$jdk" "$arm"; done
    done
done
"$newest/bin/java" -cp "$root/target" Load table "$raw"
