#!/bin/bash
# What the ledger costs, in a temporary cluster with fsync on: one charge and one delivery (each a background worker and a
# commit), and the check of a budget with 0, 1,000 and 10,000 releases behind it. Times are the least of REPEAT runs.
cd "$(dirname "$0")/../.."
. test/run/lib.sh

REPEAT=${REPEAT:-30}

make_scratch
make_private_postgres
{ build all && build install; } >"$SCRATCH/build.log" 2>&1 || { cat "$SCRATCH/build.log" >&2; die "the build failed"; }
start_cluster bench "fsync = on" "max_worker_processes = 16"

run() { "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }

# least SQL: milliseconds of the fastest of REPEAT runs in one session, after one to warm up.
least() {
    {
        printf '%s\n\\timing on\n' "$1"
        for _ in $(seq "$REPEAT"); do printf '%s\n' "$1"; done
    } | run -U ana | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | sort -n | head -1
}
difference() { awk "BEGIN { printf \"%.1f ms\", $1 - $2 }"; }
line() { printf '%-52s %12s   %s\n' "$1" "$2" "${3:-}"; }

call="'t', 'y', epsilon => 1e-4, options => '{\"method\": \"sbdt\", \"trees\": 1, \"depth\": 1, \"subsample\": 1}'"
run >/dev/null <<'SQL'
CREATE EXTENSION dpboost;
CREATE TABLE t (x float8 CHECK (x BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
SELECT dpboost_protect('t', 100, 1e-6);
CREATE ROLE ana LOGIN;
SELECT dpboost_set_budget('t', 'ana', 100, 1e-6);
-- As if the first release had been made so many times.
CREATE PROCEDURE fill(total bigint) LANGUAGE sql AS $$
    WITH copies AS (
        INSERT INTO dpboost.ledger (role, role_name, name_id, model, version, method, task, epsilon, delta, relations, plan, curve, pure_epsilon)
        SELECT role, role_name, name_id, model, version + i, method, task, epsilon, delta, relations, plan, curve, pure_epsilon
        FROM (SELECT * FROM dpboost.ledger ORDER BY release_id LIMIT 1) l,
             generate_series((SELECT count(*) FROM dpboost.ledger) + 1, total) i
        RETURNING release_id)
    INSERT INTO dpboost.charge SELECT c.release_id, f.relation_id, f.role, f.role_name, f.direct
    FROM copies c, (SELECT * FROM dpboost.charge ORDER BY release_id LIMIT 1) f;
$$;
SQL
line 'what' 'measured' 'target'
estimate=$(least "SELECT dpboost_estimate($call);")
train=$(least "SELECT dpboost_train_on('m', $call);")
line 'one charge and one delivery' "$(difference "$train" "$estimate")" '<= 2 x 15 ms'
for releases in 1000 10000; do
    run -c "CALL fill($releases)" -c 'VACUUM ANALYZE dpboost.ledger, dpboost.charge'
    now=$(least "SELECT dpboost_estimate($call);")
    line "check of cap and allowance, $releases releases" "$(difference "$now" "$estimate")" \
        "$([ "$releases" = 1000 ] && echo '<= 5 ms')"
done
now=$(least "SELECT dpboost_train_on('m', $call);")
line 'one charge and one delivery, 10000 releases' "$(difference "$now" "$estimate")"
