#!/bin/bash
# What a training across three servers of this machine costs: microseconds of a round (sbdt with many trees of depth 6, 128 sums each),
# milliseconds of `auto` across servers beside the slowest party's own training while the other parties train too (four servers
# share the machine's processors), also over links that take 1 and 50 ms there and back: a relay delays every byte, the network is not
# touched. Times are the least of REPEAT runs.
cd "$(dirname "$0")/../.."
. test/run/lib.sh

REPEAT=${REPEAT:-5}
ROWS=${ROWS:-20000}
FEW=1000  # rows that leave nothing but the exchange

install_privately

parties=(a b c)
declare -A host
at() { "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "${host[$1]}" -d "${3:-postgres}" -c "$2"; }
table() {
    echo "CREATE TABLE $1 (x1 float8 CHECK (x1 BETWEEN 0 AND 1), x2 float8 CHECK (x2 BETWEEN 0 AND 1), x3 float8 CHECK (x3 BETWEEN 0 AND 1),
                           x4 float8 CHECK (x4 BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
        INSERT INTO $1 SELECT random(), random(), random(), random(), random() FROM generate_series(1, $2); VACUUM ANALYZE $1"
}
keys=
for party in "${parties[@]}"; do
    start_cluster "$party" "max_worker_processes = 16" >/dev/null
    host[$party]=$SCRATCH/$party
    at "$party" "CREATE EXTENSION dpboost"
    printf '%s;\n' "$(table t "$ROWS")" "$(table small $FEW)" | "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "${host[$party]}"
    keys+="\"$party\": \"$(at "$party" 'SELECT dpboost_party_key()')\", "
done
keys="{${keys%, }}"
for party in "${parties[@]}"; do
    at "$party" "SELECT dpboost_create_federation('t', '$keys', relation => 't', myself => '$party');
        SELECT dpboost_create_federation('small', '$keys', relation => 'small', myself => '$party')" >/dev/null
done
at a 'CREATE DATABASE hub'
at a 'CREATE EXTENSION dpboost; CREATE EXTENSION postgres_fdw' hub
for party in "${parties[@]}"; do
    at a "CREATE SERVER $party FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${host[$party]}', dbname 'postgres');
        CREATE USER MAPPING FOR postgres SERVER $party OPTIONS (user 'postgres')" hub
done
servers='{"a": "a", "b": "b", "c": "c"}'
at a "SELECT dpboost_create_federation('t', '$keys', servers => '$servers'); SELECT dpboost_create_federation('small', '$keys', servers => '$servers')" hub >/dev/null

# runs PARTY DATABASE SQL: milliseconds of REPEAT runs in one session, after one to warm up.
runs() {
    {
        printf '%s\n\\timing on\n' "$3"
        for _ in $(seq "$REPEAT"); do printf '%s\n' "$3"; done
    } | "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "${host[$1]}" -d "$2" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
}
least() { runs "$@" | sort -n | head -1; }
sbdt() { printf '{"method": "sbdt", "trees": %s, "depth": 6, "subsample": 0.1}' "$1"; }
across() { printf "SELECT dpboost_train_across('m', '%s', 'y', epsilon => 1, options => '%s');" "$1" "$2"; }
alone() { printf "SELECT dpboost_train_on('m', '%s', 'y', epsilon => 1, options => '%s');" "$1" "$2"; }
line() { printf '%-64s %12s   %s\n' "$1" "$2" "${3:-}"; }
# Of a round: what 1,000 more of them take.
round() { awk "BEGIN { printf \"%.0f us\", $2 - $1 }"; }

line "a round of 128 sums, 3 parties of $FEW rows" \
    "$(round "$(least a hub "$(across small "$(sbdt 100)")")" "$(least a hub "$(across small "$(sbdt 1100)")")")" "target 250 us"
line "  the same round's work at one server alone" \
    "$(round "$(least b postgres "$(alone small "$(sbdt 100)")")" "$(least b postgres "$(alone small "$(sbdt 1100)")")")"
line "a round of 128 sums, 3 parties of $ROWS rows" \
    "$(round "$(least a hub "$(across t "$(sbdt 100)")")" "$(least a hub "$(across t "$(sbdt 1100)")")")"
line "  the same round's work at one server alone" \
    "$(round "$(least b postgres "$(alone t "$(sbdt 100)")")" "$(least b postgres "$(alone t "$(sbdt 1100)")")")"

# trip HOST TIMES: milliseconds there and back: a statement that does nothing.
trip() {
    echo 'SELECT' >"$SCRATCH/nothing.sql"
    "$PGBIN/pgbench" -n -M prepared -c 1 -t "$2" -f "$SCRATCH/nothing.sql" -h "$1" -U postgres postgres 2>/dev/null |
        sed -n 's/^latency average = \([0-9.]*\) ms/\1/p'
}
# own: milliseconds of the slowest party's own training, while all three train by themselves.
own() {
    local party
    for party in "${parties[@]}"; do runs "$party" postgres "$(alone t '{}')" >"$SCRATCH/own.$party" & done
    wait
    paste "$SCRATCH"/own.* | awk '{ m = 0; for (i = 1; i <= NF; ++i) if ($i > m) m = $i; print m }' | sort -n | head -1
}
declare -A took rtt
took[0]=$(least a hub "$(across t '{}')")
slowest=$(own)
rtt[0]=$(trip "${host[b]}" 5000)
line "auto at one of 3 servers of $ROWS rows, alone on the machine" "$(least b postgres "$(alone t '{}')") ms"
line "auto at the slowest of them, while all three train by themselves" "$slowest ms"

# One relay per party and delay.
for delay in 1 50; do
    for party in "${parties[@]}"; do
        link=$SCRATCH/link.$party.$delay
        mkdir "$link"
        start_beside perl test/bench/relay.pl "$link/.s.PGSQL.5432" "${host[$party]}/.s.PGSQL.5432" $delay
        while [ ! -S "$link/.s.PGSQL.5432" ]; do sleep 0.1; done
        at a "ALTER SERVER $party OPTIONS (SET host '$link')" hub
    done
    took[$delay]=$(REPEAT=2 least a hub "$(across t '{}')")
    rtt[$delay]=$(trip "$SCRATCH/link.b.$delay" $((1000 / delay)))
done
trips=$(awk "BEGIN { printf \"%.0f\", (${took[50]} - ${took[1]}) / (${rtt[50]} - ${rtt[1]}) }")
for delay in 0 1 50; do
    line "auto across 3 servers of $ROWS rows, link of $delay ms" "${took[$delay]} ms" \
        "$(awk "BEGIN { m = 1.3 * $slowest + $trips * ${rtt[$delay]}; t = ${took[$delay]};
            printf \"target %.1f: 1.3 x slowest + %d trips x %.3f ms; %s\", m, $trips, ${rtt[$delay]}, t <= m ? \"holds\" : \"missed\" }")"
done
