#!/bin/bash
# What large tables cost, in a temporary cluster: reading by parallel workers against reading alone (CPU of the session's own
# process) by the aggregate and by name, `auto` from SQL to model against a plain sum, memory, 1,500 columns, predictions by columns and
# by row, and cancels while noise is calibrated and of a whole training. Ratios of one run.
#   ROWS=10000000 test/bench/scale.sh     reads more rows
cd "$(dirname "$0")/../.."
. test/run/lib.sh

ROWS=${ROWS:-1000000}
# How many rows the session's own process gets to read, beside two workers on two processors, is chance.
RUNS=${RUNS:-7}
COLUMNS_READ=28
install_privately
start_cluster scale "shared_buffers = 1GB" "jit = off" "max_wal_size = 4GB" "max_parallel_workers_per_gather = 0"

run() { "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }
calculate() { awk "BEGIN { printf \"%.${2:-2}f\", $1 }"; }
line() { printf '%-64s %12s   %s\n' "$1" "$2" "${3:-}"; }
list() { seq -f "$1" -s "$2" "$COLUMNS_READ"; }

# measure SETTINGS STATEMENT: runs it in a session of its own, once to warm up and RUNS times; sets cpu and middle (seconds of the
# session's process alone, the least and the middle), all and wall (of it, its threads and all processes that it had started, and of
# the clock, the least) and rss (kB that it held at most, without shared memory).
cat >"$SCRATCH/ticks" <<'SH'
sleep 0.1   # until the processes that have ended are counted
echo "$1" $(awk '{print $1 / 1e7}' /proc/$PID/schedstat) $(cat /proc/$PID/stat /proc/$POSTMASTER/stat |
    awk 'NR == 1 {own = $14 + $15} NR == 2 {print own + $16 + $17}')
SH
measure() {
    run >"$SCRATCH/measured" <<SQL
$1
SELECT pg_backend_pid() AS pid \gset
\setenv PID :pid
\setenv POSTMASTER $(head -1 "$PGHOST/postmaster.pid")
$2
\! sleep 1
$(for _ in $(seq "$RUNS"); do
        printf '%s\n' "\\! sh $SCRATCH/ticks before; date +'begun %s%N'" "$2" "\\! date +'ended %s%N'; sh $SCRATCH/ticks after"
    done)
\! awk '/VmHWM/ {peak = \$2} /RssShmem|RssFile/ {shared += \$2} END {print "rss", peak - shared}' /proc/\$PID/status
SQL
    sorted() { awk "/^$1/ { a = $3 } /^$2/ { print ($3 - a) / $4 }" "$SCRATCH/measured" | sort -g; }
    cpu=$(sorted before after '$2' 100 | head -1)
    middle=$(sorted before after '$2' 100 | sed -n "$(((RUNS + 1) / 2))p")
    all=$(sorted before after '$3' 100 | head -1)
    wall=$(sorted begun ended '$2' 1e9 | head -1)
    rss=$(awk '/^rss/ {print $2}' "$SCRATCH/measured")
}

run -c 'CREATE EXTENSION dpboost'
run -c "CREATE UNLOGGED TABLE wide AS SELECT random() AS y, $(list 'random() AS f%g' ', ') FROM generate_series(1, $ROWS)" \
    -c 'VACUUM ANALYZE wide'
line "what, at $ROWS rows of $COLUMNS_READ numbers" 'measured' 'target'

# ---- reading --------------------------------------------------------------------------------------------------------
stump='"method": "sbdt", "trees": 1, "depth": 1, "subsample": 1, "initial_share": 0, "bounds": [0, 1], "target_range": [0, 1]'
train="SELECT length(dpboost_train('m', '{\"epsilon\": 1, $stump}', y, $(list 'f%g' ', '))::text) FROM wide;"
measure '' "SELECT sum($(list 'f%g' '+')) FROM wide;"
sum=$cpu
line 'sum of all columns, CPU' "$(calculate "$sum") s"
measure '' "$train"
alone=$middle
line 'reading alone, one stump, CPU' "$(calculate "$alone") s"
line '  memory per row beside the values' \
    "$(calculate "($rss * 1024 - 20e6) / $ROWS - 2 * $COLUMNS_READ" 1) B" '<= 32 B (2 per value)'
measure 'SET max_parallel_workers_per_gather = 2;' "$train"
line "reading by two workers, the session's own CPU" "$(calculate "$middle") s"
line '  against alone' "$(calculate "$middle / $alone")" '<= 0.6'
by_name="SELECT length(dpboost_train_on('m', 'wide', 'y', 1, options => '{$stump}')::text);"
measure '' "$by_name"
alone=$middle
line 'dpboost_train_on alone, CPU' "$(calculate "$alone") s"
line '  against the sum' "$(calculate "$cpu / $sum")" '<= 1.3'
measure 'SET max_parallel_workers_per_gather = 2;' "$by_name"
line "dpboost_train_on by two workers, the session's own CPU" "$(calculate "$middle") s"
line '  against alone' "$(calculate "$middle / $alone")" '<= 0.6'
line '  memory per row beside the values' \
    "$(calculate "($rss * 1024 - 20e6) / $ROWS - 2 * $COLUMNS_READ" 1) B" '<= 32 B (2 per value)'

# ---- auto -----------------------------------------------------------------------------------------------------------
auto="SELECT length(dpboost_train('m', '{\"epsilon\": 1, \"bounds\": [0, 1], \"target_range\": [0, 1]}', y, $(list 'f%g' ', '))::text) FROM wide;"
measure "LOAD 'dpboost';" "$auto"
one=$wall
line 'auto from SQL to model, one thread, elapsed' "$(calculate "$one") s"
measure "LOAD 'dpboost'; SET dpboost.threads = 2; SET max_parallel_workers_per_gather = 2;" "$auto"
line 'auto from SQL to model, two threads and workers, elapsed' "$(calculate "$wall") s"
line '  against the CPU of the sum' "$(calculate "$wall / $sum")" '<= 4'
line '  CPU of all threads and processes against the sum' "$(calculate "$all / $sum")" '<= 4'
line '  against one thread' "$(calculate "$one / $wall") x"
measure "LOAD 'dpboost'; SET dpboost.threads = 2; SET max_parallel_workers_per_gather = 2;" \
    "SELECT length(dpboost_train_on('m', 'wide', 'y', 1, options => '{\"bounds\": [0, 1], \"target_range\": [0, 1]}')::text);"
line 'dpboost_train_on the same way, elapsed' "$(calculate "$wall") s"
line '  CPU of all threads and processes against the sum' "$(calculate "$all / $sum")" '<= 4'

# ---- wide -----------------------------------------------------------------------------------------------------------
# As many columns as a row of PostgreSQL has room for; `auto` keeps tables and histograms of some 40 kB for each.
WIDE=1500
fewer=$((ROWS > 3000000 ? 60000 : ROWS / 50))
run -c "CREATE UNLOGGED TABLE wider ($(seq -f 'f%g real' -s ', ' $WIDE), y real)" \
    -c "INSERT INTO wider SELECT $(seq -f 'random() + 0 * %g' -s ', ' $WIDE), random() FROM generate_series(1, $fewer)" -c 'VACUUM ANALYZE wider' -c CHECKPOINT
ranges='"bounds": [0, 1], "target_range": [0, 1]'
for method in auto sbdt; do
    measure "LOAD 'dpboost';" "SELECT length(dpboost_train_on('w', 'wider', 'y', 1, options => '{\"method\": \"$method\", $ranges}')::text);"
    line "$fewer rows of $WIDE columns, $method, elapsed" "$(calculate "$wall") s"
    line '  memory, of which values a byte each' "$(calculate "$rss * 1024 / 1e6" 0) MB, $(calculate "$fewer * $WIDE / 1e6" 0) MB"
done
measure "LOAD 'dpboost';" "SELECT length(dpboost_train('w', '{\"epsilon\": 1, $ranges}', y, w)::text) FROM wider w;"
line '  auto over the row' "$(calculate "$wall") s"
measure '' "SELECT count(dpboost_predict('w', w)) FROM wider w;"
line '  predicted by row' "$(calculate "$wall / $fewer * 1e6" 1) us a row"

# ---- predictions ----------------------------------------------------------------------------------------------------
run -c "CREATE UNLOGGED TABLE people AS SELECT $(seq -f 'f%g' -s ', ' 14), f1 + f2 > f3 + 0.5 AS y FROM wide LIMIT 1000000" \
    -c 'VACUUM ANALYZE people' \
    -c "SELECT dpboost_train('p', '{\"epsilon\": 1, \"bounds\": [0, 1]}', y, $(seq -f 'f%g' -s ', ' 14)) FROM people" >/dev/null
count=$(run -c 'SELECT count(*) FROM people')
measure '' 'SELECT count(f1), count(f14) FROM people;'
scan=$cpu
measure '' "SELECT count(dpboost_predict('p', $(seq -f 'f%g' -s ', ' 14))) FROM people;"
line 'predict, auto, 14 columns, above the scan' "$(calculate "($cpu - $scan) / $count * 1e6") us a row" '<= 0.3 us'
measure '' "SELECT count(dpboost_predict('p', p)) FROM people p;"
line 'predict, auto, one row, above the scan' "$(calculate "($cpu - $scan) / $count * 1e6") us a row" '<= 0.5 us'
serial=$wall
measure 'SET max_parallel_workers_per_gather = 2;' "SELECT count(dpboost_predict('p', p)) FROM people p;"
line '  by two workers, elapsed against alone' "$(calculate "$serial / $wall") x"

# ---- cancel ---------------------------------------------------------------------------------------------------------
# Ten of them, each at another moment of a calibration that takes some tenths of a second.
worst=0
for i in $(seq 10); do
    took=$(run -v ON_ERROR_STOP=0 2>&1 <<SQL | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | head -1
SET statement_timeout = $((20 * i));
\timing on
SELECT dpboost_estimate('people', 'y', 5, options => '{"method": "sbdt", "trees": 10000, "depth": 2, "bounds": [0, 1]}');
SQL
    )
    late=$(calculate "$took - 20 * $i" 0)
    [ "$late" -gt "$worst" ] && worst=$late
done
line 'cancel while noise is calibrated, the latest of ten' "$worst ms" '<= 50 ms'
# And ten of a whole training by workers, from reading to the last round.
worst=0
for i in $(seq 10); do
    moment=$(calculate "$one * 1000 * $i / 12" 0)
    took=$(run -v ON_ERROR_STOP=0 2>&1 <<SQL | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | head -1
SET max_parallel_workers_per_gather = 2;
SET statement_timeout = $moment;
\timing on
SELECT dpboost_train_on('m', 'wide', 'y', 1, options => '{"bounds": [0, 1], "target_range": [0, 1]}');
SQL
    )
    late=$(calculate "$took - $moment" 0)
    [ "$late" -gt "$worst" ] && worst=$late
done
line 'cancel while auto reads and trains, the latest of ten' "$worst ms" '<= 50 ms'
