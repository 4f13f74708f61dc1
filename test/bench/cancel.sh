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

# late KIND SETTINGS STATEMENT: the latest of CANCELS cancels, and how long the statement takes without.
late() {
    local kind whole=0 moments=() i worst
    for kind in "${KINDS[@]:-}"; do [[ "$1" == *"$kind"* ]] && whole=1; done
    [ "$whole" = 1 ] || return 0
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
VACUUM ANALYZE wide, persons, texts;
SELECT dpboost_protect('persons', 100, 1e-3, privacy_unit => 'id');
SELECT dpboost_train_on('auto', 'persons', 'c', 1, features => '{x1,x2}', options => '{"bounds": [0, 1]}');
SELECT dpboost_train_on('small', 'persons', 'c', 1, features => '{x1}', options => '{"bounds": [0, 1]}');
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
late 'dpboost_evaluate' '' "SELECT length(dpboost_evaluate('auto', 'persons', 'c', 0.02)::text);"
late 'dpboost_best' '' "SELECT dpboost_best('{auto,small}', 'persons', 'c', 0.02);"
late 'dpboost_predict, 1000 trees' '' "SELECT sum(dpboost_predict('trees', $columns)) FROM wide LIMIT 1;"
late 'dpboost_explain, auto' '' "SELECT count(e.contribution) FROM (SELECT * FROM persons LIMIT 50000) p, dpboost_explain('auto', x1, x2) e;"
late 'dpboost_explain, 1000 trees' '' "SELECT count(e.contribution) FROM (SELECT * FROM wide LIMIT 30) w, dpboost_explain('trees', $columns) e;"
late 'dpboost_report, 1000 trees' '' "SELECT length(dpboost_report('trees'));"
late 'dpboost_shape, dpboost_importance, 1000 trees' '' "SELECT count(*) FROM dpboost_shape('trees'), dpboost_importance('trees');"
late 'dpboost_to_xgboost, dpboost_to_sql, 1000 trees' '' "SELECT length(dpboost_to_xgboost('trees')::text), length(dpboost_to_sql('trees'));"
