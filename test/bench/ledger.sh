#!/bin/bash
# What the ledger costs, in a temporary cluster with fsync on: one charge and one delivery (each a background worker and a
# commit) with 10 and with 100,000 releases on the table behind them, and in a population that it shares with 199 others; and the view dpboost_budgets over 200 tables, 50 roles with a budget on
# each, and 400 releases of each table. Releases are copies that a superuser writes; the worker then makes the totals anew.
# Times are the least of REPEAT runs.
cd "$(dirname "$0")/../.."
. test/run/lib.sh

REPEAT=${REPEAT:-30}

install_privately
start_cluster bench "fsync = on" "max_worker_processes = 16"

run() { "$PGBIN/psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }

# least ROLE SQL: milliseconds of the fastest of REPEAT runs in one session, after one to warm up.
least() {
    {
        printf '%s\n\\timing on\n' "$2"
        for _ in $(seq "$REPEAT"); do printf '%s\n' "$2"; done
    } | run -U "$1" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | sort -n | head -1
}
calculate() { awk "BEGIN { printf \"$1\", $2 }"; }
line() { printf '%-64s %12s   %s\n' "$1" "$2" "${3:-}"; }

call() { printf "'%s', 'y', epsilon => 1e-4, options => '{\"method\": \"sbdt\", \"trees\": 1, \"depth\": 1, \"subsample\": 1}'" "$1"; }
run >/dev/null <<'SQL'
CREATE EXTENSION dpboost;
CREATE TABLE t (x float8 CHECK (x BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
SELECT dpboost_protect('t', 100, 1e-6);
CREATE ROLE ana LOGIN;
SELECT dpboost_set_budget('t', 'ana', 100, 1e-6);
-- What is copied: twenty trainings of different epsilon.
SELECT dpboost_train_on('pattern', 't', 'y', epsilon => 0.0001 * i) FROM generate_series(1, 20) i;
CREATE TABLE pattern AS SELECT row_number() OVER () - 1 AS n, * FROM dpboost.ledger;
-- As if so many releases of a table had been made, in turn by these roles.
CREATE PROCEDURE fill(target text, total bigint, roles text[]) LANGUAGE sql AS $$
    WITH copies AS (
        INSERT INTO dpboost.ledger (role, role_name, name_id, model, version, method, task, epsilon, delta, relations, plan, curve,
                                    pure_epsilon)
        SELECT r::dpboost.role_ref, r, p.name_id, p.model, p.version + i, p.method, p.task, p.epsilon, p.delta, p.relations, p.plan,
               p.curve, p.pure_epsilon
        FROM generate_series(1, total) i, LATERAL (SELECT roles[1 + i % cardinality(roles)]) f(r), pattern p WHERE p.n = i % 20
        RETURNING release_id, role, role_name)
    INSERT INTO dpboost.charge
    SELECT c.release_id, (SELECT relation_id FROM dpboost.relation_name WHERE relation_name = target), c.role, c.role_name, true
    FROM copies c;
$$;
SQL

line 'what' 'measured' 'target'
estimate=$(least ana "SELECT dpboost_estimate($(call t));")
few=$(least ana "SELECT dpboost_train_on('m', $(call t));")
line 'one charge and one delivery' "$(calculate '%.1f ms' "$few - $estimate")" '<= 2 x 15 ms'
run -c "CALL fill('t', 100000, '{ana}')" -c 'VACUUM ANALYZE dpboost.ledger, dpboost.charge'
run -c "SELECT dpboost_train_on('m', $(call t));" -c 'VACUUM dpboost.total' >/dev/null
many=$(least ana "SELECT dpboost_train_on('m', $(call t));")
line 'training with charge and delivery, 10 and 100,000 releases' "$(calculate '%.1f, %.1f ms' "$few, $many")"
line 'ratio of the two' "$(calculate '%.2f' "$many / $few")" '<= 1.5'
now=$(least ana "SELECT dpboost_estimate($(call t));")
line 'ratio of the estimates' "$(calculate '%.2f' "$now / $estimate")"

run >/dev/null <<'SQL'
SELECT dpboost_create_population('persons', 100);
SELECT dpboost_protect('t', population => 'persons');
DO $$BEGIN
    FOR i IN 1..199 LOOP
        EXECUTE format('CREATE TABLE p%s (LIKE t INCLUDING ALL)', i);
        PERFORM dpboost_protect(format('p%s', i)::regclass, population => 'persons');
    END LOOP;
END$$;
VACUUM ANALYZE;
SQL
shared=$(least postgres "SELECT dpboost_train_on('m', $(call p1));")
line 'training in a population of 200 tables with 100,000 releases' "$(calculate '%.1f ms' "$shared")"

run >/dev/null <<'SQL'
DO $$DECLARE
    roles text[] = (SELECT array_agg('r' || k) FROM generate_series(1, 50) k);
BEGIN
    FOR k IN 1..50 LOOP EXECUTE format('CREATE ROLE r%s LOGIN', k); END LOOP;
    FOR i IN 1..200 LOOP
        EXECUTE format('CREATE TABLE t%s (LIKE t INCLUDING ALL)', i);
        PERFORM dpboost_protect(format('t%s', i)::regclass, 5 + i % 7, 1e-6);
        PERFORM dpboost_set_budget(format('t%s', i)::regclass, format('r%s', k)::regrole, 1 + k % 5, 1e-6)
        FROM generate_series(1, 50) k;
        CALL fill(format('t%s', i), 400, roles);
    END LOOP;
END$$;
DELETE FROM pattern;
VACUUM ANALYZE;
SQL
run -c "SELECT dpboost_train_on('m', $(call t1));" -c 'VACUUM ANALYZE dpboost.total' >/dev/null
for role in postgres r1; do
    rows=$(run -U "$role" -c 'SELECT count(*) FROM dpboost_budgets')
    time=$(least "$role" 'SELECT count(*), sum(epsilon_spent) FROM dpboost_budgets;')
    line "dpboost_budgets, $rows rows of $role: part of 100 ms" "$(calculate '%.2f' "$time / 100")" '<= 1'
done
line 'running totals equal a full count' "$(run -c "SELECT dpboost_verify() -> 'ok'")" 'true'
