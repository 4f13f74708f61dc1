#!/bin/bash
# What a training across three servers of this machine costs: microseconds of a round (sbdt with many trees of depth 6, 128 sums each),
# and milliseconds of `auto` across servers, also over links that take 1 and 50 ms there and back: a relay delays every byte, the
# network is not touched.
#
# The line that must hold: a training across servers takes at most 1.3 times the slowest party's own training, and its trips. Both
# are measured in the same situation: calls in a row, between which servers of a federation keep their ledger workers; and calls after
# a pause, when nobody has one. The slowest party's own training is that of three that begin at the same moment, since servers
# that train together share this machine's processors as well. With a processor each they would not: so the same stands there for a
# party that trains alone on the machine, in parentheses. Times are the least of REPEAT runs. A trip is one to all three parties at
# once, measured without a training.
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

# trip DELAY TIMES: milliseconds there and back, of a statement that does nothing, while the same goes to all three parties, as a step of
# a training does. The slowest.
trip() {
    local party
    echo 'SELECT' >"$SCRATCH/nothing.sql"
    for party in "${parties[@]}"; do
        "$PGBIN/pgbench" -n -c 1 -t "$2" -f "$SCRATCH/nothing.sql" -h "$(reach "$party" "$1")" -U postgres postgres 2>/dev/null |
            sed -n 's/^latency average = \([0-9.]*\) ms/\1/p' >"$SCRATCH/trip.$party" &
        pgbenches[$party]=$!
    done
    wait "${pgbenches[@]}"
    sort -n "$SCRATCH"/trip.* | tail -1
}
# reach PARTY DELAY: the folder of the socket by which a party is reached.
reach() { if [ "$2" = 0 ]; then echo "${host[$1]}"; else echo "$SCRATCH/link.$1.$2"; fi; }
declare -A pgbenches trainings took rtt
# after PAUSE SQL: what is timed, PAUSE seconds after what came before, and at a moment that all who do this have in common.
after() {
    printf '%s\n' '\timing off' "SELECT pg_sleep($1);" 'SELECT pg_sleep(0.25 - extract(epoch FROM clock_timestamp())::numeric % 0.25);' '\timing on' "$2"
}
# own PAUSE: milliseconds of the slowest party's own training, where all three begin at the same moment.
own() {
    local party
    for party in "${parties[@]}"; do
        runs "$party" postgres "$(after "$1" "$(alone t '{}')")" >"$SCRATCH/own.$party" &
        trainings[$party]=$!
    done
    wait "${trainings[@]}"
    paste "$SCRATCH"/own.* | awk 'NR > 1 { m = 0; for (i = 1; i <= NF; ++i) if ($i > m) m = $i; print m }' | sort -n | head -1
}
pause=0.7 # half a second after a call no server keeps a ledger worker for the next one
declare -A by_itself together
took[row]=$(least a hub "$(across t '{}')")
took[pause]=$(least a hub "$(after $pause "$(across t '{}')")")
by_itself[row]=$(least b postgres "$(alone t '{}')")
by_itself[pause]=$(least b postgres "$(after $pause "$(alone t '{}')")")
together[row]=$(own 0)
together[pause]=$(own $pause)
rtt[0]=$(trip 0 5000)
line "auto at the slowest of 3 servers of $ROWS rows, all at once" "${together[row]} ms" "after a pause ${together[pause]} ms"
line "(auto at one of them, alone on the machine)" "${by_itself[row]} ms" "after a pause ${by_itself[pause]} ms"

# One relay per party and delay.
"${CXX:-g++}" -std=c++17 -O2 -o "$SCRATCH/relay" test/bench/link/relay.cpp
for delay in 1 50; do
    for party in "${parties[@]}"; do
        link=$(reach "$party" $delay)
        mkdir "$link"
        start_beside "$SCRATCH/relay" "$link/.s.PGSQL.5432" "${host[$party]}/.s.PGSQL.5432" $delay
        while [ ! -S "$link/.s.PGSQL.5432" ]; do sleep 0.1; done
        at a "ALTER SERVER $party OPTIONS (SET host '$link')" hub
    done
    took[$delay]=$(REPEAT=$((delay == 1 ? REPEAT : 2)) least a hub "$(across t '{}')")
    rtt[$delay]=$(trip $delay $((1000 / delay)))
done
# trips: how many steps a training takes, as a party's log has them, on average of some: draws decide how many follow. The end of the
# transaction is one where another training follows at once, as here.
trips() {
    local from several=5
    at b "ALTER SYSTEM SET log_statement = 'all'"
    at b 'SELECT pg_reload_conf()' >/dev/null
    from=$(wc -l <"$SCRATCH/b/server.log")
    REPEAT=$((several - 1)) runs a hub "$(across t '{}')" >/dev/null
    tail -n "+$((from + 1))" "$SCRATCH/b/server.log" | grep -cE 'LOG:.*(dpboost_party|ROLLBACK)' | awk "{ printf \"%.1f\", \$1 / $several }"
}
for party in "${parties[@]}"; do at a "ALTER SERVER $party OPTIONS (SET host '${host[$party]}')" hub; done
trips=$(trips)
# verdict CALLS DELAY TOOK: both targets of calls in a row or after a pause, and whether they hold.
target() {
    awk "BEGIN { m = 1.3 * $1 + $trips * ${rtt[$2]}; printf \"%.1f %s\", m, $3 <= m ? \"holds\" : \"missed\" }"
}
verdict() { printf '%s' "1.3 x own + $trips x ${rtt[$2]} ms = $(target "${together[$1]}" "$2" "$3") (alone $(target "${by_itself[$1]}" "$2" "$3"))"; }
line "auto across 3 servers of $ROWS rows, after a pause, link of 0 ms" "${took[pause]} ms" "$(verdict pause 0 "${took[pause]}")"
took[0]=${took[row]}
for delay in 0 1 50; do
    line "auto across 3 servers of $ROWS rows, in a row, link of $delay ms" "${took[$delay]} ms" "$(verdict row $delay "${took[$delay]}")"
done
