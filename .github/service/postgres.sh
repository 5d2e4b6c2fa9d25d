#!/bin/sh
# SPDX-License-Identifier: MIT-0
# Runs a command beside a PostgreSQL server in a folder and on a port of its own, PGPORT:
#     sh postgres.sh COMMAND...
# Another script can read it, by ".", for its functions start_postgres and stop_postgres.
: "${PGPORT:=18082}"

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

# find_postgres: is there one? Sets bin and owner.
find_postgres() {
    bin=$(command -v initdb) && bin=$(dirname "$(readlink -f "$bin")") ||
        bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    owner=$(id -un postgres 2>/dev/null || echo nobody)
    [ -x "$bin/postgres" ]
}

# start_postgres: sets data, its folder, and database, its process; what fails is in $data/log.
start_postgres() {
    data=$(mktemp -d) || return
    [ "$(id -u)" != 0 ] || chown "$owner" "$data"
    postgres initdb -D "$data/db" -U lab -A trust >"$data/log" 2>&1 &&
        postgres pg_ctl -w -D "$data/db" -l "$data/db/log" -o "-p $PGPORT -k $data \
-c listen_addresses=127.0.0.1" start >>"$data/log" 2>&1 &&
        database=$(head -n 1 "$data/db/postmaster.pid")
}

stop_postgres() {
    [ ! -f "${data-}/db/postmaster.pid" ] || postgres pg_ctl -D "$data/db" -m immediate stop
    [ -z "${data-}" ] || rm -rf "$data"
} >/dev/null 2>&1

case $0 in
*postgres.sh)
    find_postgres || {
        echo "postgres.sh: no PostgreSQL server: install it, or put initdb on the PATH" >&2
        exit 2
    }
    trap 'trap "" HUP INT TERM; stop_postgres' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    export PGPORT
    start_postgres || {
        cat "$data/log" "$data/db/log" >&2
        exit 2
    }
    "$@"
    ;;
esac
