#!/bin/bash
# What a training across three servers of this machine costs: microseconds of a round (sbdt with many trees of depth 6, 128 sums each,
# less the training alone), and seconds of `auto` across servers beside the slowest party's own training. Times are the least of
# REPEAT runs; the link is a socket here, so add rounds x RTT.
cd "$(dirname "$0")/../.."
. test/run/lib.sh

REPEAT=${REPEAT:-5}
ROWS=${ROWS:-20000}

install_privately

parties=(a b c)
declare -A host
at() { "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "${host[$1]}" -d "${3:-postgres}" -c "$2"; }
keys=
for party in "${parties[@]}"; do
    start_cluster "$party" "max_worker_processes = 16" >/dev/null
    host[$party]=$SCRATCH/$party
    at "$party" "CREATE EXTENSION dpboost;
        CREATE TABLE t (x1 float8 CHECK (x1 BETWEEN 0 AND 1), x2 float8 CHECK (x2 BETWEEN 0 AND 1), x3 float8 CHECK (x3 BETWEEN 0 AND 1),
                        x4 float8 CHECK (x4 BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
        INSERT INTO t SELECT random(), random(), random(), random(), random() FROM generate_series(1, $ROWS);" >/dev/null
    keys+="\"$party\": \"$(at "$party" 'SELECT dpboost_party_key()')\", "
done
keys="{${keys%, }}"
for party in "${parties[@]}"; do
    at "$party" "SELECT dpboost_create_federation('f', '$keys', relation => 't', myself => '$party')" >/dev/null
done
at a 'CREATE DATABASE hub'
at a 'CREATE EXTENSION dpboost; CREATE EXTENSION postgres_fdw' hub
for party in "${parties[@]}"; do
    at a "CREATE SERVER $party FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${host[$party]}', dbname 'postgres');
        CREATE USER MAPPING FOR postgres SERVER $party OPTIONS (user 'postgres')" hub
done
at a "SELECT dpboost_create_federation('f', '$keys', servers => '{\"a\": \"a\", \"b\": \"b\", \"c\": \"c\"}')" hub >/dev/null

# least PARTY DATABASE SQL: milliseconds of the fastest of REPEAT runs in one session, after one to warm up.
least() {
    {
        printf '%s\n\\timing on\n' "$3"
        for _ in $(seq "$REPEAT"); do printf '%s\n' "$3"; done
    } | "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "${host[$1]}" -d "$2" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | sort -n | head -1
}
sbdt() { printf '{"method": "sbdt", "trees": %s, "depth": 6, "subsample": 0.1}' "$1"; }
across() { printf "SELECT dpboost_train_across('m', 'f', 'y', epsilon => 1, options => '%s');" "$1"; }
alone() { printf "SELECT dpboost_train_on('m', 't', 'y', epsilon => 1, options => '%s');" "$1"; }
line() { printf '%-64s %12s   %s\n' "$1" "$2" "${3:-}"; }

few=$(least a hub "$(across "$(sbdt 100)")")
many=$(least a hub "$(across "$(sbdt 1100)")")
alone_few=$(least b postgres "$(alone "$(sbdt 100)")")
alone_many=$(least b postgres "$(alone "$(sbdt 1100)")")
line "a round of 128 sums, 3 parties" "$(awk "BEGIN { printf \"%.0f us\", $many - $few }")" "target 250 us; with the round's own work"
line "  the same round's work at one server alone" "$(awk "BEGIN { printf \"%.0f us\", $alone_many - $alone_few }")"
line "auto across 3 servers of $ROWS rows" "$(least a hub "$(across '{}')") ms"
line "auto at one of them" "$(least b postgres "$(alone '{}')") ms" "target: across <= 1.3 x this + rounds x RTT"
