#!/bin/bash
# How late a cancel is at any moment of each kind of call, in a temporary cluster: each is run once, and then CANCELS times with a
# cancel at a random moment of it (the server's own statement_timeout); printed is the latest that the client had its answer.
# On a machine that does other work, what is printed is that work's time slice.
#   CANCELS=100 ROWS=1000000 test/bench/cancel.sh [KIND...]     all kinds, or those whose names contain a KIND
cd "$(dirname "$0")/../.."
. test/run/lib.sh

CANCELS=${CANCELS:-20}
ROWS=${ROWS:-300000}
KINDS=("$@")
install_privately
start_cluster bench "shared_buffers = 1GB" "jit = off" "max_wal_size = 4GB" "max_parallel_workers_per_gather = 0" "max_worker_processes = 16"

run() { "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }
line() { printf '%-64s %12s   %s\n' "$1" "$2" "${3:-}"; }
times() { sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'; }
RANDOM=${SEED:-1}

# wanted KIND: whether this one was asked for.
wanted() {
    local kind
    for kind in "${KINDS[@]:-}"; do [[ "$1" == *"$kind"* ]] && return; done
    return 1
}
# late KIND SETTINGS STATEMENT: the latest of CANCELS cancels, and how long the statement takes without.
late() {
    local whole moments=() i worst
    wanted "$1" || return 0
    whole=$(printf '%s\n\\timing on\n%s\n' "$2" "$3" | run | times | tail -1)
    [ -n "$whole" ] || die "$1 cannot be run"
    for i in $(seq "$CANCELS"); do moments+=("$(awk "BEGIN { print 1 + int($whole * $RANDOM / 32768) }")"); done
    worst=$({
        printf '%s\n' "$2"
        for i in "${moments[@]}"; do
            printf 'SET statement_timeout = %s;\n\\timing on\n%s\n\\timing off\nRESET statement_timeout;\n' "$i" "$3"
        done
    } | run -v ON_ERROR_STOP=0 2>/dev/null | times | paste - <(printf '%s\n' "${moments[@]}") |
        awk '{ late = $1 - $2; if (late > worst) worst = late } END { printf "%.0f", worst }')
    line "$1" "$worst ms" "<= 50 ms; whole $(printf '%.0f' "$whole") ms"
}

columns=$(seq -f 'f%g' -s ', ' 28)
run >/dev/null <<SQL
CREATE EXTENSION dpboost;
CREATE UNLOGGED TABLE wide AS SELECT i AS id, random() AS y, $(seq -f 'random() AS f%g' -s ', ' 28) FROM generate_series(1, $ROWS) i;
CREATE UNLOGGED TABLE persons AS SELECT id % ($ROWS / 3) AS id, y, f1 AS x1, f2 AS x2, f1 + f2 + f3 > 1.5 AS c FROM wide;
CREATE UNLOGGED TABLE texts AS SELECT md5((id % 500)::text) AS t1, md5((id % 70)::text) AS t2, f1, c FROM (SELECT id, f1, f1 > 0.4 AS c FROM wide) w;
CREATE UNLOGGED TABLE grouped AS SELECT 'g' || id % 8 AS g, y, $columns FROM wide;
VACUUM ANALYZE wide, persons, texts, grouped;
SELECT dpboost_set_domain('grouped', 'g', ARRAY['g0', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7']);
SELECT dpboost_protect('persons', 100, 1e-3, privacy_unit => 'id');
SELECT dpboost_train_on('auto', 'persons', 'c', 1, features => '{x1,x2}', options => '{"bounds": [0, 1]}');
SELECT dpboost_train_on('small', 'persons', 'c', 1, features => '{x1}', options => '{"bounds": [0, 1]}');
SELECT dpboost_train_on('updated', 'wide', 'y', 1, features => '{$columns}', options => '{"bounds": [0, 1], "target_range": [0, 1]}');
SELECT dpboost_train_on('updated_trees', 'wide', 'y', 1, features => '{$columns}', options => '{"method": "sbdt", "trees": 300, "bounds": [0, 1], "target_range": [0, 1]}');
SELECT dpboost_train_on('trees', 'wide', 'y', 1, features => '{$columns}', options => '{"method": "sbdt", "trees": 1000, "depth": 6, "subsample": 0.01, "bounds": [0, 1], "target_range": [0, 1]}');
SQL
ranges='"bounds": [0, 1], "target_range": [0, 1]'
two='SET max_parallel_workers_per_gather = 2; SET dpboost.threads = 2;'
train="SELECT length(dpboost_train_on('m', 'wide', 'y', 1, features => '{${columns// /}}', options => '{%s}')::text);"

line "what, $CANCELS cancels each, $ROWS rows" 'the latest' 'target'
late 'dpboost_train, auto' '' "SELECT length(dpboost_train('m', '{\"epsilon\": 1, $ranges}', y, $columns)::text) FROM wide;"
late 'dpboost_train, auto, workers and threads' "LOAD 'dpboost'; $two" "SELECT length(dpboost_train('m', '{\"epsilon\": 1, $ranges}', y, $columns)::text) FROM wide;"
late 'dpboost_train_on, auto' '' "$(printf "$train" "$ranges")"
late 'dpboost_train_on, auto, workers and threads' "LOAD 'dpboost'; $two" "$(printf "$train" "$ranges")"
late 'dpboost_train_on, private ranges' '' "$(printf "$train" '"bounds": "private", "target_range": [0, 1]')"
late 'dpboost_train_on, sbdt' '' "$(printf "$train" "\"method\": \"sbdt\", \"trees\": 300, $ranges")"
late 'dpboost_train_on, sbdt with a filter' '' "$(printf "$train" "\"method\": \"sbdt\", \"trees\": 100, \"extra_rounds\": 100, $ranges")"
late 'dpboost_train_on, adassp' '' "$(printf "$train" "\"method\": \"adassp\", $ranges")"
late 'dpboost_train_on, persons of three rows' '' "SELECT length(dpboost_train_on('m', 'persons', 'c', 0.02, features => '{x1,x2}', options => '{\"bounds\": [0, 1]}')::text);"
late 'dpboost_train_on, texts' '' "SELECT length(dpboost_train_on('m', 'texts', 'c', 1, options => '{\"bounds\": [0, 1]}')::text);"
late 'dpboost_estimate, 100,000 sampled trees' '' "SELECT dpboost_estimate('persons', 'c', 5, features => '{x1,x2}', options => '{\"method\": \"sbdt\", \"trees\": 100000, \"leaf_clip\": 0.05, \"depth\": 2, \"bounds\": [0, 1]}');"
late 'dpboost_update, auto' '' "SELECT length(dpboost_update('updated@1', 'wide', 1)::text);"
late 'dpboost_update, sbdt' '' "SELECT length(dpboost_update('updated_trees@1', 'wide', 1)::text);"
late 'dpboost_train_groups, auto, 8 groups' '' "SELECT length(dpboost_train_groups('m', 'g', 'grouped', 'y', 1, options => '{$ranges}')::text);"
late 'dpboost_train_groups, sbdt, 8 groups' '' "SELECT length(dpboost_train_groups('m', 'g', 'grouped', 'y', 1, options => '{\"method\": \"sbdt\", \"trees\": 100, $ranges}')::text);"
late 'dpboost_evaluate' '' "SELECT length(dpboost_evaluate('auto', 'persons', 'c', 0.02)::text);"
late 'dpboost_best' '' "SELECT dpboost_best('{auto,small}', 'persons', 'c', 0.02);"
late 'dpboost_predict, 1000 trees' '' "SELECT sum(dpboost_predict('trees', $columns)) FROM wide LIMIT 1;"
late 'dpboost_explain, auto' '' "SELECT count(e.contribution) FROM (SELECT * FROM persons LIMIT 50000) p, dpboost_explain('auto', x1, x2) e;"
late 'dpboost_explain, 1000 trees' '' "SELECT count(e.contribution) FROM (SELECT * FROM wide LIMIT 30) w, dpboost_explain('trees', $columns) e;"
late 'dpboost_report, 1000 trees' '' "SELECT length(dpboost_report('trees'));"
late 'dpboost_shape, dpboost_importance, 1000 trees' '' "SELECT count(*) FROM dpboost_shape('trees'), dpboost_importance('trees');"
late 'dpboost_to_xgboost, dpboost_to_sql, 1000 trees' '' "SELECT length(dpboost_to_xgboost('trees')::text), length(dpboost_to_sql('trees'));"

# Three servers, and the coordinator in a database of its own at the first. What a client waits for includes the parties, which
# the coordinator cancels.
wanted 'across servers' || exit 0
declare -A host=([a]=$PGHOST)
at() { run -h "${host[$1]}" -c "$2"; }
keys=
for party in a b c; do
    [ "$party" = a ] || start_cluster "$party" "jit = off" "max_worker_processes = 16"
    host[$party]=$PGHOST
    [ "$party" = a ] || at "$party" 'CREATE EXTENSION dpboost'
    at "$party" "CREATE UNLOGGED TABLE shared AS SELECT random() AS y, $(seq -f 'random() AS f%g' -s ', ' 28) FROM generate_series(1, $ROWS / 3)"
    at "$party" 'VACUUM ANALYZE shared'
    at "$party" "$(for column in y ${columns//,/}; do echo "SELECT dpboost_set_domain('shared', '$column', 0, 1);"; done)" >/dev/null
    keys+="\"$party\": \"$(at "$party" 'SELECT dpboost_party_key()')\", "
done
PGHOST=${host[a]}
keys="{${keys%, }}"
for party in a b c; do
    at "$party" "SELECT dpboost_create_federation('f', '$keys', relation => 'shared', myself => '$party')" >/dev/null
done
at a 'CREATE DATABASE hub'
export PGDATABASE=hub
run -c 'CREATE EXTENSION dpboost' -c 'CREATE EXTENSION postgres_fdw'
for party in a b c; do
    run -c "CREATE SERVER $party FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${host[$party]}', dbname 'postgres')" \
        -c "CREATE USER MAPPING FOR postgres SERVER $party OPTIONS (user 'postgres')"
done
run -c "SELECT dpboost_create_federation('f', '$keys', servers => '{\"a\": \"a\", \"b\": \"b\", \"c\": \"c\"}')" \
    -c "SELECT dpboost_train_across('known', 'f', 'y', epsilon => 1)" >/dev/null
late 'dpboost_train_across, auto, across servers' '' "SELECT length(dpboost_train_across('m', 'f', 'y', epsilon => 1)::text);"
late 'dpboost_train_across, sbdt, across servers' '' "SELECT length(dpboost_train_across('m', 'f', 'y', epsilon => 1, options => '{\"method\": \"sbdt\", \"trees\": 300}')::text);"
late 'dpboost_estimate_across, across servers' '' "SELECT dpboost_estimate_across('f', 'y', epsilon => 1);"
late 'dpboost_update_across, auto, across servers' '' "SELECT length(dpboost_update_across('known@1', 'f', epsilon => 1)::text);"
late 'dpboost_evaluate_across, across servers' '' "SELECT length(dpboost_evaluate_across('known@1', 'f', 'y', epsilon => 0.5)::text);"
