#!/bin/bash
# What it costs that every person has an account, in a temporary cluster: bytes of UNITS accounts, seconds and WAL of a training that
# loads and charges them all, beside the same training on a table whose cap counts releases; and sbdt, which writes them twice.
# Times are of one run each, and mean something on an idle machine only; bytes and WAL are exact.
cd "$(dirname "$0")/../.."
. test/run/lib.sh

UNITS=${UNITS:-10000000}

install_privately
start_cluster bench "fsync = on" "max_worker_processes = 16" "max_wal_size = 8GB" "shared_buffers = 1GB" "checkpoint_timeout = 1h"

run() { "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }
line() { printf '%-52s %32s   %s\n' "$1" "$2" "${3:-}"; }

# measure LABEL SQL [TARGETS]: seconds and megabytes of WAL, and those just after a checkpoint, when PostgreSQL writes every page
# whole that is changed.
measure() {
    local first
    run -c CHECKPOINT
    once "$2"
    first=$megabytes
    once "$2"
    line "$1" "$(printf '%.2f s, %d MB (%d)' "$seconds" "$megabytes" "$first")" "${3:-}"
}
once() {
    local before start end
    before=$(run -c 'SELECT pg_current_wal_lsn()')
    start=$(date +%s.%N)
    run -c "$1" >/dev/null
    end=$(date +%s.%N)
    megabytes=$(run -c "SELECT round(pg_wal_lsn_diff(pg_current_wal_lsn(), '$before') / 1e6)")
    seconds=$(awk "BEGIN { print $end - $start }")
}
train() { printf "SET dpboost.ledger_timeout = '600s'; SET dpboost.max_memory = '4GB'; SELECT dpboost_train_on('m', '%s', 'y', epsilon => 0.01, options => '%s')" "$1" "$2"; }

run >/dev/null <<SQL
CREATE EXTENSION dpboost;
CREATE TABLE by_unit (id bigint, x float8 CHECK (x BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
INSERT INTO by_unit SELECT i, i % 100 / 100.0, i % 7 / 7.0 FROM generate_series(1, $UNITS) i;
CREATE TABLE by_release AS TABLE by_unit;
SELECT dpboost_set_domain('by_release', 'x', 0, 1), dpboost_set_domain('by_release', 'y', 0, 1);
SELECT dpboost_protect('by_unit', 1, privacy_unit => 'id', accounting => 'unit'), dpboost_protect('by_release', 1, privacy_unit => 'id');
VACUUM ANALYZE;
SQL
adassp='{"method": "adassp", "rounds": 1}'
sbdt='{"method": "sbdt", "trees": 2, "depth": 1, "extra_rounds": 2}'
line 'what' 'measured (WAL after a checkpoint)' 'target'
measure 'adassp, cap counts releases' "$(train by_release "$adassp")"
once "$(train by_unit "$adassp")"
line 'adassp, accounts are opened' "$(printf '%.2f s, %d MB' "$seconds" "$megabytes")"
measure 'adassp, accounts are charged' "$(train by_unit "$adassp")" 'first line + 3 s, 60 MB'
measure 'filtered sbdt, cap counts releases' "$(train by_release "$sbdt")"
measure 'filtered sbdt, accounts are charged and settled' "$(train by_unit "$sbdt")" 'line before + 3 s, 60 MB'
line 'bytes per account' "$(run -c "SELECT round(sum(length(keys) + length(spent)) / $UNITS.0, 2) FROM dpboost.unit_bucket")" '20'
line 'with its table and index' "$(run -c "SELECT round(pg_total_relation_size('dpboost.unit_bucket') / $UNITS.0, 1)")"
