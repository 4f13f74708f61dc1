-- The aggregate in parallel plans: workers read rows, the session's own process charges and trains. What a model says shows
-- that the rows of all processes are in it: each side of x is known to one end of the table, which one process reads alone.
\set SHOW_CONTEXT never
\set ward regress_parallel
\i sql/setup/ward.sql
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE FUNCTION steps(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Aggregate|Gather|Append' THEN RETURN NEXT ltrim(line, ' ->'); END IF;
    END LOOP;
END$$;
CREATE TABLE rows (id int, who int, x int CHECK (x BETWEEN 0 AND 3), site text CHECK (site IN ('a', 'b')), y boolean);
INSERT INTO rows SELECT i, i / 3, i * 4 / 60000, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END, i * 4 / 60000 IN (1, 3) FROM generate_series(0, 59999) i;
ANALYZE rows;
\set options '\'{"epsilon": 4, "delta": 1e-3}\''
CREATE FUNCTION says(model text) RETURNS text LANGUAGE sql
    RETURN (SELECT string_agg(round(dpboost_predict(model, x)::numeric)::text, ' ' ORDER BY x) FROM generate_series(0, 3) x);

-- columns, one array, a row of the table, a record that only its rows describe
SELECT steps($$SELECT dpboost_train('m', '{}', y, x) FROM rows$$);
SELECT dpboost_train('columns', :options, y, x) ->> 'features' AS features FROM rows;
SELECT dpboost_train('array', '{"epsilon": 4, "delta": 1e-3, "bounds": [[0, 3]]}', y, ARRAY[x::float8]) ->> 'features' AS features FROM rows;
SELECT steps($$SELECT dpboost_train('m', '{}', y, r) FROM rows r$$);
SELECT dpboost_train('row', :options, y, r) ->> 'features' AS features FROM (SELECT x, y FROM rows) r;
SELECT says('columns') AS columns, says('array') AS "array", says('row') AS "row";
-- where workers alone read
SET parallel_leader_participation = off;
SELECT dpboost_train('workers', :options, y, x) ->> 'features' AS features FROM rows;
SELECT says('workers');
RESET parallel_leader_participation;
-- a record that only its rows describe
CREATE FUNCTION pair(x int, site text) RETURNS record LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$BEGIN RETURN (x, site); END$$;
SELECT dpboost_train('record', '{"epsilon": 4, "delta": 1e-3, "bounds": {"f1": [0, 3]}}', y, pair(x, site)) ->> 'features' AS features FROM rows;
SELECT string_agg(round(dpboost_predict('record', ROW(x, 'a'))::numeric)::text, ' ' ORDER BY x) FROM generate_series(0, 3) x;
SELECT dpboost_train('record', '{"epsilon": 4, "delta": 1e-3, "bounds": {"f1": [0, 3]}}', y, r) ->> 'features' AS features FROM (SELECT y, ROW(x, site) AS r FROM rows OFFSET 0) s;
-- an array whose length only rows tell, and most of whose rows are NULL
CREATE TABLE lists AS SELECT i AS id, i < 5000 AS y, CASE WHEN i BETWEEN 15000 AND 15002 THEN ARRAY[0.5::float8, 0.5] END AS list FROM generate_series(1, 20000) i;
SELECT dpboost_train('late', '{"epsilon": 4, "delta": 1e-3, "bounds": [0, 1]}', y, list) ->> 'features' AS features FROM lists;
SELECT abs(dpboost_predict('late', ARRAY[NULL, NULL]::float8[]) - 0.25) < 0.05 AS all_rows_count;

-- weights go with their rows
CREATE TABLE weighted AS SELECT x, CASE WHEN id % 2 = 0 THEN 9 ELSE 1 END AS w, (id % 2 = 0)::int AS y FROM rows;
SELECT dpboost_train('weighted', '{"epsilon": 4, "delta": 1e-3, "weight": "w", "bounds": {"x": [0, 3], "w": [1, 9]}, "target_range": [0, 1]}', y, r) ->> 'features' AS features FROM weighted r;
SELECT dpboost_predict('weighted', 2) > 0.75 AS weighted_mean;  -- 0.5 without weights

-- groups: one model and one charge each
SELECT steps($$SELECT site, dpboost_train('m' || site, '{}', y, x) FROM rows GROUP BY site$$);
SELECT site, dpboost_train('site_' || site, :options, y, x) ->> 'model' AS model FROM rows GROUP BY site ORDER BY site;
SELECT says('site_a') AS a, says('site_b') AS b;
SELECT dpboost_train('same', :options, y, x) FROM rows GROUP BY site;

-- no row at all
SELECT steps($$SELECT dpboost_train('m', '{}', y, x) FROM rows WHERE id < 0$$);
SELECT dpboost_train('empty', :options, y, x) ->> 'features' AS features FROM rows WHERE id < 0;

-- persons of several rows, which several processes have read: what they add is bounded together
CREATE TABLE visits AS SELECT id / 3 AS who, x, y FROM rows;
SELECT dpboost_set_domain('visits', 'x', 0, 3);
ANALYZE visits;
SELECT dpboost_protect('visits', 100, 1e-3, 'who');
SELECT dpboost_train('units', :options, y, v) ->> 'features' AS features FROM visits v;
SELECT says('units');
SELECT privacy_unit, delivered FROM dpboost_ledger WHERE model = 'units';
SELECT dpboost_train('units', :options, y, x) FROM visits;
-- what is left decides, also between the groups of one query
SELECT dpboost_set_budget('visits', :'ana', 20, 1e-3);
GRANT SELECT ON visits TO :"ana";
SET ROLE :"ana";
SELECT steps($$SELECT x, dpboost_train('cap_' || x, '{}', y, v) FROM visits v GROUP BY x$$);
SELECT x, dpboost_train('cap_' || x, '{"epsilon": 8, "delta": 1e-3}', y, v) ->> 'model' FROM visits v GROUP BY x;
SELECT count(DISTINCT model) BETWEEN 1 AND 3 AS some_fit FROM dpboost_ledger WHERE model LIKE 'cap%';
RESET ROLE;
SET ROLE :"owner";
-- every person's own account
CREATE TABLE accounts AS SELECT id / 3 AS who, x, y FROM rows;
SELECT dpboost_set_domain('accounts', 'x', 0, 3);
ANALYZE accounts;
SELECT dpboost_protect('accounts', 100, 1e-3, 'who', accounting => 'unit');
SELECT dpboost_train('accounted', :options, y, a) ->> 'features' AS features FROM accounts a;
SELECT says('accounted');

-- relations that are joined or read through a view are judged and charged as ever
CREATE VIEW few AS SELECT x, y FROM rows WHERE id > 5;
SELECT dpboost_protect('rows', 100, 1e-3);
SELECT steps($$SELECT dpboost_train('m', '{}', y, x) FROM few$$);
SELECT dpboost_train('view', :options, y, x) ->> 'features' AS features FROM few;
SELECT dpboost_train('mixed', :options, a.y, a.x) FROM rows a JOIN rows b USING (id);
SELECT dpboost_train('limited', :options, y, x) FROM (SELECT y, x FROM rows ORDER BY id LIMIT 5) r;
SELECT dpboost_train('m' || site, :options, y, x) FROM rows GROUP BY site HAVING count(*) > (SELECT count(*) FROM visits) / 1e6;
SELECT dpboost_train('lookup', :options, y, x) FROM rows r WHERE y = (SELECT true FROM visits LIMIT 1);
SELECT relation, releases > 0 AS charged FROM dpboost_budgets WHERE grantee IS NULL AND relation IN ('rows'::regclass, 'visits', 'accounts') ORDER BY relation::text;

-- only the session's own process trains
ALTER TABLE rows SET (parallel_workers = 0);
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT dpboost_train('worker', :options, y, x) FROM rows;
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
ALTER TABLE rows RESET (parallel_workers);
CREATE TABLE parts (x int CHECK (x BETWEEN 0 AND 3), y boolean) PARTITION BY LIST (x);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES IN (0, 1);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES IN (2, 3);
INSERT INTO parts SELECT x, y FROM rows;
ANALYZE parts;
SELECT steps($$SELECT dpboost_train('m', '{}', y, x) FROM parts$$);
SELECT dpboost_train('parts', :options, y, x) ->> 'features' AS features FROM parts;
SELECT says('parts');
SET enable_partitionwise_aggregate = on;
SELECT dpboost_train('parts', :options, y, x) FROM parts;
RESET enable_partitionwise_aggregate;

-- what the executor passes between processes is nobody's to call
RESET ROLE;
SELECT p.proname, has_function_privilege(:'ana', p.oid, 'EXECUTE') AS may
FROM pg_proc p WHERE pronamespace = 'dpboost'::regnamespace AND proname LIKE 'train\_%' ORDER BY 1;
SET ROLE :"ana";
CREATE AGGREGATE pg_temp.taken(bytea) (SFUNC = dpboost.train_deserialize, STYPE = internal);
-- and the analyst who has SELECT trains in parallel like everybody
RESET ROLE;
SET ROLE :"owner";
GRANT SELECT ON parts TO :"ana";
SET ROLE :"ana";
SELECT dpboost_train('hers', :options, y, x) ->> 'owner' AS owner FROM parts;
-- predictions run in the workers
SELECT steps($$SELECT sum(dpboost_predict('hers', x)) FROM parts$$);
SELECT round((sum(dpboost_predict('hers', x)) / 600)::numeric) AS percent FROM parts;

RESET ROLE;
SET client_min_messages = warning;
SELECT count(dpboost_drop_model(owner || '.' || model)) > 5 AS dropped FROM (SELECT DISTINCT owner, model FROM dpboost_models WHERE owner IN (:'owner', :'ana')) m;
DROP SCHEMA :"ward" CASCADE;
DROP OWNED BY :"owner", :"ana";
DROP ROLE :"owner", :"ana";
