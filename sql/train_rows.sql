-- The aggregate for engines that run it in parts on several servers: plain types, a relation that the options name, and a
-- state that travels as text. What a model says shows that the rows of all parts are in it, as in "parallel".
\set SHOW_CONTEXT never
\set ward regress_train_rows
\i sql/setup/ward.sql
CREATE TABLE rows (id int, who int, x float8, y float8);
INSERT INTO rows SELECT i, i / 3, i * 4 / 12000, (i * 4 / 12000 IN (1, 3))::int FROM generate_series(0, 11999) i;
ANALYZE rows;
\set options '\'{"epsilon": 20, "delta": 1e-3, "bounds": [[0, 3]], "target_range": [0, 1], "relation": "rows"}\''
CREATE FUNCTION says(model text) RETURNS text LANGUAGE sql
    RETURN (SELECT string_agg(round(dpboost_predict(model, x)::numeric)::text, ' ' ORDER BY x) FROM generate_series(0, 3) x);
CREATE FUNCTION steps(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Aggregate|Gather|Append' THEN RETURN NEXT ltrim(line, ' ->'); END IF;
    END LOOP;
END$$;

-- like dpboost_train; NULL is a missing feature, and rows without a target are skipped
SELECT dpboost_train_rows('plain', :options, y, ARRAY[x]) ->> 'features' AS features FROM rows;
SELECT says('plain');
SELECT dpboost_train_rows('nulls', :options, CASE WHEN id % 7 > 0 THEN y END, CASE WHEN id % 5 > 0 THEN ARRAY[x] WHEN id % 2 > 0 THEN ARRAY[NULL]::float8[] END)
    ->> 'features' AS features FROM rows;
SELECT says('nulls');
SELECT dpboost_train_rows('two', '{"epsilon": 20, "delta": 1e-3, "bounds": [[0, 1], [0, 3]], "target_range": [0, 1], "relation": "rows"}', y, ARRAY[NULL, x])
    ->> 'features' AS features FROM rows;
SELECT string_agg(round(dpboost_predict('two', ARRAY[0.5, x])::numeric)::text, ' ' ORDER BY x) FROM generate_series(0, 3) x;
-- no row: the call is in the plan
SELECT dpboost_train_rows('empty', :options, y, ARRAY[x]) ->> 'features' AS features FROM rows WHERE id < 0;
-- classes by number
SELECT dpboost_train_rows('binary', '{"epsilon": 20, "delta": 1e-3, "bounds": [[0, 3]], "positive": 1, "relation": "rows"}', y, ARRAY[x]) ->> 'task' AS task FROM rows;
SELECT says('binary');

-- parallel plans
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT steps($$SELECT dpboost_train_rows('m', '{}', y, ARRAY[x]) FROM rows$$);
SELECT dpboost_train_rows('parallel', :options, y, ARRAY[x]) ->> 'features' AS features FROM rows;
SELECT says('parallel');
SET parallel_leader_participation = off;
SELECT dpboost_train_rows('workers', :options, y, ARRAY[x]) ->> 'features' AS features FROM rows;
SELECT says('workers');
RESET parallel_leader_participation;
SELECT id % 2 AS half, dpboost_train_rows('half_' || id % 2, :options, y, ARRAY[x]) ->> 'model' AS model FROM rows GROUP BY 1 ORDER BY 1;
SELECT says('half_0') AS half_0, says('half_1') AS half_1;
SET max_parallel_workers_per_gather = 0;

-- what the call may be: constants that arrive as values are equal in all rows
SELECT dpboost_train_rows('m' || id % 2, :options, y, ARRAY[x]) FROM rows;
SELECT dpboost_train_rows('m', (:options)::jsonb || jsonb_build_object('epsilon', 1 + id % 2), y, ARRAY[x]) FROM rows;
SELECT dpboost_train_rows(NULL, :options, y, ARRAY[x]) FROM rows;
SELECT dpboost_train_rows('m', '{"epsilon": 1, "bounds": [[0, 3]], "target_range": [0, 1]}', y, ARRAY[x]) FROM rows;
SELECT dpboost_train_rows('m', '{"epsilon": 1, "target_range": [0, 1], "relation": "rows"}', y, ARRAY[x]) FROM rows;
SELECT dpboost_train_rows('m', '{"epsilon": 1, "bounds": [[0, 3]], "target_range": [0, 1], "relation": "nothing"}', y, ARRAY[x]) FROM rows;
SELECT dpboost_train_rows('m', '{"epsilon": 1, "bounds": [[0, 3]], "target_range": [0, 1], "relation": "pg_class"}', y, ARRAY[x]) FROM rows;
SELECT dpboost_train_rows('m', '[1]', y, ARRAY[x]) FROM rows;
SELECT dpboost_train_rows('m', :options, y, ARRAY[x, x]) FROM rows;
SELECT dpboost_train_rows('m', :options, y, ARRAY[ARRAY[x]]) FROM rows;
SELECT dpboost_train_rows('m', :options, y, ARRAY[x], who::text) FROM rows;
SELECT dpboost_train_rows('m', :options, y, ARRAY[x]) OVER () FROM rows;
SELECT dpboost.train_rows_step(NULL, 'm', :options, 1, ARRAY[1]);
SELECT dpboost.train_rows_combine(NULL, NULL);
SELECT dpboost.train_rows_final(NULL);

-- rights: who may not read the relation cannot charge it, whatever rows he has
SET ROLE :"ana";
SELECT dpboost_train_rows('m', :options, y, ARRAY[x]) FROM (VALUES (0::float8, 1::float8)) r (y, x);
RESET ROLE;
SET ROLE :"owner";

-- a protected relation: read row by row, with its unit, and nothing else that is protected
CREATE TABLE visits AS SELECT id / 3 AS who, id, x, y FROM rows;
CREATE TABLE other AS SELECT * FROM visits LIMIT 10;
SELECT dpboost_protect('visits', 100, 1e-3, 'who');
SELECT dpboost_protect('other', 100, 1e-3);
\set voptions '\'{"epsilon": 20, "delta": 1e-3, "bounds": [[0, 3]], "target_range": [0, 1], "relation": "visits"}\''
SELECT dpboost_train_rows('units', :voptions, y, ARRAY[x], who::text) ->> 'features' AS features FROM visits;
SELECT says('units');
SELECT relations, privacy_unit, delivered FROM dpboost_ledger WHERE model = 'units';
SELECT dpboost_train_rows('m', :voptions, y, ARRAY[x]) FROM visits;
SELECT dpboost_train_rows('m', :voptions, y, ARRAY[x], id::text) FROM visits;
SELECT dpboost_train_rows('m', :voptions, y, ARRAY[x], (who / 2)::text) FROM visits;
SELECT dpboost_train_rows('m', :voptions, y, ARRAY[x], who::text) FROM visits, generate_series(1, 2);
SELECT dpboost_train_rows('m', :options, y, ARRAY[x]) FROM visits;
SELECT dpboost_train_rows('m', :voptions, v.y, ARRAY[v.x], v.who::text) FROM visits v JOIN other USING (id);
-- a cap holds
SELECT (dpboost_train_rows('rest', jsonb_set(:voptions, '{epsilon}', '70'), y, ARRAY[x], who::text) -> 'release_id') IS NOT NULL AS trained FROM visits;
SELECT dpboost_train_rows('much', jsonb_set(:voptions, '{epsilon}', '70'), y, ARRAY[x], who::text) FROM visits;
-- units whose equal values have different texts, and accounts
CREATE TABLE numerics AS SELECT who::numeric, x, y FROM visits;
SELECT dpboost_protect('numerics', 100, 1e-3, 'who');
SELECT dpboost_train_rows('m', jsonb_set(:voptions, '{relation}', '"numerics"'), y, ARRAY[x], who::text) FROM numerics;
CREATE TABLE accounts AS SELECT who, x, y FROM visits;
SELECT dpboost_protect('accounts', 100, 1e-3, 'who', accounting => 'unit');
SELECT dpboost_train_rows('m', jsonb_set(:voptions, '{relation}', '"accounts"'), y, ARRAY[x], who::text) FROM accounts;
RESET ROLE;

-- an engine: several sessions collect, each the part that it has; texts go to one that has the relation, which combines them
CREATE AGGREGATE part(text, jsonb, float8, float8[]) (SFUNC = dpboost.train_rows_step, STYPE = dpboost.train_state);
CREATE AGGREGATE part(text, jsonb, float8, float8[], text) (SFUNC = dpboost.train_rows_step, STYPE = dpboost.train_state);
CREATE AGGREGATE whole(dpboost.train_state) (
    SFUNC = dpboost.train_rows_combine, STYPE = dpboost.train_state, FINALFUNC = dpboost.train_rows_final, FINALFUNC_MODIFY = READ_WRITE);
\c -
SET search_path = :"ward", public;
SELECT part('engine', :options, y, ARRAY[x]) AS part1 FROM rows WHERE x = 0 \gset
\c -
SET search_path = :"ward", public;
SELECT part('engine', :options, y, ARRAY[x]) AS part2 FROM rows WHERE x IN (1, 2) \gset
\c -
SET search_path = :"ward", public;
SELECT part('engine', :options, y, ARRAY[x]) AS part3 FROM rows WHERE x = 3 \gset
SELECT length(:'part1') < 3000 * 5 * 1.25 + 400 AS compact;  -- a row: a byte of x and four of the target
SELECT part('engine', :options, y, ARRAY[x]) IS NULL AS none FROM rows WHERE x = 4;
\c -
SET search_path = :"ward", public;
-- the relation must be there; that it is read, an engine's plan says by its list of relations
SELECT whole(p) FROM unnest(ARRAY[:'part1', :'part2', :'part3']::dpboost.train_state[]) p;
SELECT whole(p) ->> 'features' AS features FROM unnest(ARRAY[:'part1', :'part2', NULL, :'part3']::dpboost.train_state[]) p, rows WHERE id = 0;
SELECT says('engine');
SELECT relations, delivered FROM dpboost_ledger WHERE model = 'engine';
SELECT whole(p) FROM unnest(ARRAY[NULL, NULL]::dpboost.train_state[]) p, rows WHERE id = 0;
-- an aggregate of one's own around the functions is judged by its plan, too: that persons are bounded must show
SELECT part('persons', :voptions, y, ARRAY[x], who::text) AS part1 FROM visits WHERE id % 2 = 0 \gset
\c -
SET search_path = :"ward", public;
SELECT part('persons', :voptions, y, ARRAY[x], who::text) AS part2 FROM visits WHERE id % 2 = 1 \gset
SELECT whole(p) FROM unnest(ARRAY[:'part1', :'part2']::dpboost.train_state[]) p, visits WHERE id = 0;
SELECT whole(p) FROM unnest(ARRAY[:'part1', :'part2']::dpboost.train_state[]) p, visits v, visits w WHERE v.id = 0 AND w.id = 0;
SELECT whole(p) FROM unnest(ARRAY[:'part1', :'part2']::dpboost.train_state[]) p, visits, other WHERE visits.id = 0;
SELECT whole(:'part1'::dpboost.train_state) FROM visits WHERE id = 0;
-- parts of other calls, and of another encoding
SELECT part('another', :voptions, y, ARRAY[x], who::text) AS other FROM visits \gset
SELECT whole(p) FROM unnest(ARRAY[:'part1', :'other']::dpboost.train_state[]) p, visits WHERE id = 0;
SELECT part('persons', :voptions, y, ARRAY[x]) AS other FROM visits \gset
SELECT whole(p) FROM unnest(ARRAY[:'part1', :'other']::dpboost.train_state[]) p, visits WHERE id = 0;

-- damaged and forged states: refused, or rows within bounds; the server stays up, and nothing is trained before the end
SELECT 'rows'::dpboost.train_state;
SELECT ''::dpboost.train_state;
CREATE AGGREGATE merged(dpboost.train_state) (SFUNC = dpboost.train_rows_combine, STYPE = dpboost.train_state);
CREATE FUNCTION forge(state text, trials int) RETURNS TABLE (code text, few boolean) LANGUAGE plpgsql AS $$
DECLARE
    forged text;
    codes text[];
BEGIN
    PERFORM setseed(0.5);
    FOR i IN 1 .. trials LOOP
        forged := state;
        FOR j IN 1 .. 1 + i % 3 LOOP
            forged := overlay(forged PLACING chr(33 + (random() * 90)::int) FROM 1 + (random() * CASE WHEN i % 4 > 0 THEN 330 ELSE length(state) - 1 END)::int FOR 1);
        END LOOP;
        BEGIN
            PERFORM merged(p) FROM (VALUES (state::dpboost.train_state), (forged::dpboost.train_state)) v (p);
            codes := codes || '00000'::text;
        EXCEPTION WHEN OTHERS THEN
            codes := codes || sqlstate;
        END;
    END LOOP;
    RETURN QUERY SELECT c, count(*) < trials / 10 FROM unnest(codes) c GROUP BY c;
END$$;
SELECT part('forge', :options, y, ARRAY[x]) AS part1 FROM rows WHERE id < 100 \gset
SELECT code FROM forge(:'part1', 3000) WHERE code NOT IN ('00000', 'XX001', '22023', '22P02', '0A000', '21000');
SELECT count(*) > 1 AS refused FROM forge(:'part1', 1000) WHERE code <> '00000';
DROP SCHEMA :"ward" CASCADE;
DROP OWNED BY :"owner", :"ana";
DROP ROLE :"owner", :"ana";
