#!/bin/sh
# SPDX-License-Identifier: MIT-0
# Starts the service with a full semaphore, on Spring Boot 4.1 and 3.5, without a context path
# and under one. The liveness probe has to get through, and orders have to be turned away.
#     sh probe.sh HOME_OF_A_JDK
set -u
cd "$(dirname "$0")" && java=$(cd "${1-}" && pwd)/bin/java || exit 2
wrong=0

status() {
    curl -s -o /dev/null -w '%{http_code}' --path-as-is "http://localhost:18080$1"
}

for boot in 4.1 3.5; do
    mvn -q -B -P "$boot" -Dmaven.compiler.fork=true -Dmaven.compiler.executable="${java}c" \
        clean package || exit 2
    for path in '' /api; do
        "$java" -jar target/service.jar --server.port=18080 --facts=18083 --room=0 \
            --partner=http://localhost:18081 --server.servlet.context-path="$path" \
            --spring.threads.virtual.enabled=true \
            --spring.datasource.url=jdbc:postgresql://localhost:18082/postgres \
            --management.endpoint.health.probes.enabled=true >target/service.log 2>&1 &
        service=$!
        tries=0
        until [ "$(status "$path/order")" != 000 ] || [ $((tries += 1)) -gt 300 ]; do
            sleep 0.1
        done
        said="$(status "$path/actuator/health/liveness") $(status "$path/order")"
        said="$said $(status "$path/actuator/../order")"
        kill $service
        wait $service
        echo "Boot $boot, '$path': liveness, order, order by a detour: $said"
        [ "$said" = '200 503 503' ] || wrong=1
    done
done
exit $wrong
