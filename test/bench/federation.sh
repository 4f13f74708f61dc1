#!/bin/bash
# What a training across three servers of this machine costs: microseconds of a round (sbdt with many trees of depth 6, 128 sums each),
# and milliseconds of `auto` across servers, also over links that take 1 and 50 ms there and back: a relay delays every byte, the
# network is not touched.
#
# The line that must hold: a training across servers takes at most 1.3 times the slowest party's own training, and its trips. Both
# are measured in the same situation: calls in a row, between which servers of a federation keep their ledger workers; and calls after
# a pause, when nobody has one. Hospitals have a server each, and these four share one machine: so each gets a quarter of its
# processors, the coordinator's too, in both measurements (needs root and control groups), and trains no faster alone than together
# with others. Times of these are medians of REPEAT runs. Without such shares, which comes first: the least of REPEAT runs, beside the
# slowest of three trainings that begin at the same moment, and one alone on the machine. A trip is one to all three parties at once,
# measured without a training.
#
# On a machine that is itself a guest, its host may take the processors away for a while. What was measured then is measured again,
# whatever it was (see calm); how much was taken of what counts stands at the end.
cd "$(dirname "$0")/../.."
. test/run/lib.sh

REPEAT=${REPEAT:-5}
ROWS=${ROWS:-20000}
FEW=1000  # rows that leave nothing but the exchange

install_privately

parties=(a b c)
servers=(hub "${parties[@]}")
declare -A host
at() { "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "${host[$1]}" -d "${3:-postgres}" -c "$2"; }
table() {
    echo "CREATE TABLE $1 (x1 float8 CHECK (x1 BETWEEN 0 AND 1), x2 float8 CHECK (x2 BETWEEN 0 AND 1), x3 float8 CHECK (x3 BETWEEN 0 AND 1),
                           x4 float8 CHECK (x4 BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
        INSERT INTO $1 SELECT random(), random(), random(), random(), random() FROM generate_series(1, $2); VACUUM ANALYZE $1"
}
keys=
start_cluster hub "max_worker_processes = 16" >/dev/null
host[hub]=$SCRATCH/hub
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
at hub 'CREATE EXTENSION dpboost; CREATE EXTENSION postgres_fdw'
for party in "${parties[@]}"; do
    at hub "CREATE SERVER $party FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${host[$party]}', dbname 'postgres');
        CREATE USER MAPPING FOR postgres SERVER $party OPTIONS (user 'postgres')"
done
links='{"a": "a", "b": "b", "c": "c"}'
at hub "SELECT dpboost_create_federation('t', '$keys', servers => '$links'); SELECT dpboost_create_federation('small', '$keys', servers => '$links')" >/dev/null

# stolen: hundredths of seconds, of all processors together, that the host has given to others so far; and those that have passed.
stolen() { awk '/^cpu / { print $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' /proc/stat; }
# calm COMMAND...: what it prints in a run of which less than half a percent was taken away, or else in the calmest of eight.
calm() {
    local least=101 share before after
    for _ in $(seq 8); do
        before=$(stolen)
        "$@" >"$SCRATCH/calm.new" || return
        after=$(stolen)
        share=$(awk "BEGIN { split(\"$before $after\", t); printf \"%.2f\", 100 * (t[3] - t[1]) / (t[4] - t[2] + 1e-9) }")
        if awk "BEGIN { exit !($share < $least) }"; then
            least=$share
            mv "$SCRATCH/calm.new" "$SCRATCH/calm.best"
        fi
        awk "BEGIN { exit !($least < 0.5) }" && break
    done
    echo "$least" >>"$SCRATCH/taken"
    cat "$SCRATCH/calm.best"
}

# runs SERVER SQL: milliseconds of REPEAT runs in one session, after one to warm up.
runs() {
    {
        printf '%s\n\\timing on\n' "$2"
        for _ in $(seq "$REPEAT"); do printf '%s\n' "$2"; done
    } | "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "${host[$1]}" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -n "$REPEAT"
}
least() { calm runs "$@" | sort -n | head -1; }
median() { calm runs "$@" | sort -n | sed -n "$((REPEAT / 2 + 1))p"; }
sbdt() { printf '{"method": "sbdt", "trees": %s, "depth": 6, "subsample": 0.1}' "$1"; }
across() { printf "SELECT dpboost_train_across('m', '%s', 'y', epsilon => 1, options => '%s');" "$1" "$2"; }
alone() { printf "SELECT dpboost_train_on('m', '%s', 'y', epsilon => 1, options => '%s');" "$1" "$2"; }
line() { printf '%-64s %12s   %s\n' "$1" "$2" "${3:-}"; }
# Of a round: what 1,000 more of them take.
round() { awk "BEGIN { printf \"%.0f us\", $2 - $1 }"; }

line "a round of 128 sums, 3 parties of $FEW rows" \
    "$(round "$(least hub "$(across small "$(sbdt 100)")")" "$(least hub "$(across small "$(sbdt 1100)")")")" "target 250 us"
line "  the same round's work at one server alone" \
    "$(round "$(least b "$(alone small "$(sbdt 100)")")" "$(least b "$(alone small "$(sbdt 1100)")")")"
line "a round of 128 sums, 3 parties of $ROWS rows" \
    "$(round "$(least hub "$(across t "$(sbdt 100)")")" "$(least hub "$(across t "$(sbdt 1100)")")")"
line "  the same round's work at one server alone" \
    "$(round "$(least b "$(alone t "$(sbdt 100)")")" "$(least b "$(alone t "$(sbdt 1100)")")")"

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
declare -A pgbenches trainings rtt
# after PAUSE SQL: what is timed, PAUSE seconds after what came before, and at a moment that all who do this have in common.
after() {
    printf '%s\n' '\timing off' "SELECT pg_sleep($1);" 'SELECT pg_sleep(0.25 - extract(epoch FROM clock_timestamp())::numeric % 0.25);' '\timing on' "$2"
}
# own_at_once PAUSE: milliseconds of the slowest party's own training, where all three begin at the same moment; the least.
own_at_once() { calm own "$1" | head -1; }
# own PAUSE: all of them, ascending.
own() {
    local party
    for party in "${parties[@]}"; do
        runs "$party" "$(after "$1" "$(alone t '{}')")" >"$SCRATCH/own.$party" &
        trainings[$party]=$!
    done
    wait "${trainings[@]}"
    paste "$SCRATCH"/own.* | awk '{ m = 0; for (i = 1; i <= NF; ++i) if ($i > m) m = $i; print m }' | sort -n
}
# Half a second after a call no server keeps a ledger worker for the next one. With 0.8 all who wait for a quarter of a second after it wait
# for the same one, as long as what they do takes less than 0.2.
pause=0.8

# trips: how many steps a training takes, as a party's log has them, on average of some: draws decide how many follow. The end of the
# transaction is one where another training follows at once, as here.
trips() {
    local from several=5
    at b "ALTER SYSTEM SET log_statement = 'all'"
    at b 'SELECT pg_reload_conf()' >/dev/null
    from=$(wc -l <"$SCRATCH/b/server.log")
    REPEAT=$((several - 1)) runs hub "$(across t '{}')" >/dev/null
    tail -n "+$((from + 1))" "$SCRATCH/b/server.log" | grep -cE 'LOG:.*(dpboost_party|ROLLBACK)' | awk "{ printf \"%.1f\", \$1 / $several }"
    at b 'ALTER SYSTEM RESET log_statement'
    at b 'SELECT pg_reload_conf()' >/dev/null
}
# connect DELAY: from now on the coordinator reaches the parties by links that take so many milliseconds.
connect() {
    local party
    for party in "${parties[@]}"; do at hub "ALTER SERVER $party OPTIONS (SET host '$(reach "$party" "$1")')"; done
}
# One relay per party and delay.
"${CXX:-g++}" -std=c++17 -O2 -o "$SCRATCH/relay" test/bench/link/relay.cpp
for delay in 1 50; do
    for party in "${parties[@]}"; do
        link=$(reach "$party" $delay)
        mkdir "$link"
        start_beside "$SCRATCH/relay" "$link/.s.PGSQL.5432" "${host[$party]}/.s.PGSQL.5432" $delay
        while [ ! -S "$link/.s.PGSQL.5432" ]; do sleep 0.1; done
    done
done
trips=$(trips)
# verdict TOOK OWN RTT: the target, and whether it holds.
verdict() { awk "BEGIN { m = 1.3 * $2 + $trips * $3; printf \"1.3 x %.1f + $trips x %.3f ms = %.1f %s\", $2, $3, m, $1 <= m ? \"holds\" : \"missed\" }"; }

# measure HOW WHAT: all lines of `auto` across servers, by HOW (least or median) and with the slowest party's own training from WHAT.
measure() {
    local delay often took
    rtt[0]=$(calm trip 0 5000)
    took=$($1 hub "$(after $pause "$(across t '{}')")")
    line "auto across 3 servers of $ROWS rows, after a pause, link of 0 ms" "$took ms" "$(verdict "$took" "$($2 $pause)" "${rtt[0]}")"
    own_in_a_row=$($2 0)
    for delay in 0 1 50; do
        connect $delay
        often=$((delay == 50 ? 3 : REPEAT))
        took=$(REPEAT=$often $1 hub "$(across t '{}')")
        [ $delay = 0 ] || rtt[$delay]=$(calm trip $delay $((1000 / delay)))
        line "auto across 3 servers of $ROWS rows, in a row, link of $delay ms" "$took ms" "$(verdict "$took" "$own_in_a_row" "${rtt[$delay]}")"
    done
    connect 0
}
echo "Four servers together on $(nproc) processors; their own training: the slowest of three at once:"
measure least own_at_once
line "(auto at one of them, alone on the machine)" "$(least b "$(alone t '{}')") ms" "after a pause $(least b "$(after $pause "$(alone t '{}')")") ms"

# give_shares: a quarter of the machine's processors to each server, in slices of some milliseconds at the most.
give_shares() {
    local server group quota=$(($(nproc) * 500)) period=2000 process
    for server in "${servers[@]}"; do
        group=/sys/fs/cgroup/cpu/dpboost.$$.$server
        if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
            group=/sys/fs/cgroup/dpboost.$$.$server
            mkdir "$group" && echo "$quota $period" >"$group/cpu.max" || return 1
        else
            mkdir "$group" && echo $period >"$group/cpu.cfs_period_us" && echo $quota >"$group/cpu.cfs_quota_us" || return 1
        fi 2>/dev/null
        groups+=("$group")
        for process in $(head -1 "${host[$server]}/postmaster.pid") $(pgrep -P "$(head -1 "${host[$server]}/postmaster.pid")"); do
            echo "$process" >"$group/cgroup.procs" || return 1
        done
    done
}
# The groups go when their servers have gone.
take_shares() {
    local server
    for server in "${servers[@]}"; do stop_cluster "${host[$server]}"; done
    [ ${#groups[@]} -eq 0 ] || rmdir "${groups[@]}"
}
# own_alone PAUSE: that of the slower of two parties, one after the other.
own_alone() {
    local party
    for party in b c; do median $party "$(after "$1" "$(alone t '{}')")"; done | sort -n | tail -1
}
groups=()
if give_shares; then
    echo "A quarter of these processors for each server, the line that counts:"
    measure median own_alone
else
    echo "Processors could not be shared out (root and control groups do that): the line that counts is not measured."
fi
take_shares
sort -n "$SCRATCH/taken" | tail -1 | sed 's/.*/Of no measurement did the host take more than & % away./'
