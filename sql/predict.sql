-- dpboost_predict: columns, an array or a row give the same; what is missing or odd never fails.
\set SHOW_CONTEXT never
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TABLE things (
    a float8 CHECK (a >= 0 AND a <= 1), b int CHECK (b BETWEEN 0 AND 100), c text CHECK (c IN ('x', 'y')), d colour,
    e boolean, y float8, z boolean);
INSERT INTO things SELECT i / 500.0, i % 100, CASE WHEN i % 3 = 0 THEN 'x' ELSE 'y' END,
    CASE WHEN i % 2 = 0 THEN 'red' ELSE 'green' END::colour, i % 5 = 0, i / 50.0, i > 250 FROM generate_series(1, 500) i;
SELECT dpboost_train('reg', '{"epsilon": 50, "trees": 30, "target_range": [0, 10]}', y, a, b, c, d, e) ->> 'task' AS task FROM things;
SELECT dpboost_train('cls', '{"epsilon": 50, "trees": 30}', z, a, b, c, d, e) ->> 'task' AS task FROM things;

-- in range, never NULL, and it learned something
SELECT min(p) >= 0 AND max(p) <= 10 AS in_range, count(p) = 500 AS all_there, corr(p, y) > 0.3 AS learned
FROM (SELECT dpboost_predict('reg', a, b, c, d, e) AS p, y FROM things) s;
SELECT min(p) >= 0 AND max(p) <= 1 AS in_range, avg(p) FILTER (WHERE z) > avg(p) FILTER (WHERE NOT z) AS learned
FROM (SELECT dpboost_predict('cls', a, b, c, d, e) AS p, z FROM things) s;

-- a row by name, a record by name, ROW() by position
SELECT bool_and(dpboost_predict('reg', a, b, c, d, e) = dpboost_predict('reg', t)) AS whole_row,
       bool_and(dpboost_predict('reg', a, b, c, d, e) = dpboost_predict('reg', ROW(a, b, c, d, e))) AS row_constructor
FROM things t;
SELECT bool_and(dpboost_predict('reg', t.a, t.b, t.c, t.d, t.e) = dpboost_predict('reg', s)) AS record
FROM things t, LATERAL (SELECT t.e, t.d, t.c, 1 AS more, t.b, t.a) s;
SELECT dpboost_predict('reg', s) FROM (SELECT a, b, c, d FROM things LIMIT 1) s;
SELECT dpboost_predict('reg', ROW(1, 2));

-- a JSON object by name: jsonb, json, or a literal as drivers write it; also in the functions that explain
SELECT bool_and(dpboost_predict('reg', t) = dpboost_predict('reg', to_jsonb(t))) AS jsonb,
       bool_and(dpboost_predict('reg', t) = dpboost_predict('reg', to_json(t))) AS json FROM things t;
SELECT dpboost_predict('reg', '{"a": 0.5, "b": "7", "c": "x", "d": "red", "e": true, "more": []}')
     = dpboost_predict('reg', 0.5, 7, 'x'::text, 'red'::colour, true) AS literal;
SELECT dpboost_predict('reg', '{"a": null, "b": null, "c": null, "d": null, "e": null}'::jsonb) = dpboost_predict('reg', NULL::jsonb) AS missing;
SELECT dpboost_predict('reg', '{"a": 0.5, "b": 7, "c": "x", "d": "red"}'::jsonb);
SELECT dpboost_predict('reg', '{"a": [0.5], "b": 7, "c": "x", "d": "red", "e": true}'::jsonb);
SELECT dpboost_predict('reg', '{"a": "much", "b": 7, "c": "x", "d": "red", "e": true}'::jsonb);
SELECT dpboost_predict('reg', '[1, 2]'::jsonb);
SELECT dpboost_predict('reg', '{"a": 0.5');
SELECT count(*) > 0 AS explained FROM dpboost_explain('reg', '{"a": 0.5, "b": 7, "c": "x", "d": "red", "e": true}'::jsonb);
PREPARE object(jsonb) AS SELECT dpboost_predict('reg', $1) IS NOT NULL AS prepared;
EXECUTE object('{"a": 0.5, "b": 7, "c": "x", "d": "red", "e": true}');
DEALLOCATE object;

-- other types of the same kind
SELECT bool_and(dpboost_predict('reg', a, b, c, d, e) = dpboost_predict('reg', a::numeric, b::int8, c::varchar, d::text, e)) AS same FROM things;
SELECT dpboost_predict('reg', '0.5', '7', 'x', 'red', 'true') = dpboost_predict('reg', 0.5, 7, 'x'::text, 'red'::colour, true) AS literals;
SELECT dpboost_predict('reg', a, b, c, d) FROM things LIMIT 1;
SELECT dpboost_predict('reg', a, b, c, d, e, 1) FROM things LIMIT 1;
SELECT dpboost_predict('reg', c, b, c, d, e) FROM things LIMIT 1;
SELECT dpboost_predict('reg', a, b, b, d, e) FROM things LIMIT 1;
SELECT dpboost_predict('reg', now() - now(), b, c, d, e) FROM things LIMIT 1;

-- an array
SELECT dpboost_train('arr', '{"epsilon": 50, "trees": 30, "bounds": [[0, 1], [0, 100]], "target_range": [0, 10]}', y, ARRAY[a, b]) ->> 'task' AS task FROM things;
SELECT bool_and(dpboost_predict('arr', a, b) = dpboost_predict('arr', ARRAY[a, b]))
   AND bool_and(dpboost_predict('arr', a, b) = dpboost_predict('arr', VARIADIC ARRAY[a, b]::numeric[])) AS same FROM things;
SELECT dpboost_predict('arr', ARRAY[1, 2, 3]);
SELECT dpboost_predict('arr', ARRAY[ARRAY[1, 2], ARRAY[3, 4]]);
SELECT dpboost_predict('arr', ARRAY['a', 'b']);
SELECT dpboost_predict('arr', NULL::float8[]) = dpboost_predict('arr', ARRAY[NULL, NULL]::float8[]) AS missing;

-- NULL and odd values are missing or clamped, never an error
SELECT dpboost_predict('reg', NULL, NULL, NULL, NULL, NULL) = dpboost_predict('reg', 'NaN'::float8, NULL::int, 'unknown', NULL, NULL) AS missing;
SELECT dpboost_predict('reg', NULL::things) = dpboost_predict('reg', NULL, NULL, NULL, NULL, NULL) AS no_row;
SELECT dpboost_predict('reg', 'Infinity'::float8, 1e300, repeat('long', 10000), NULL, NULL) IS NOT NULL AS odd;
SELECT dpboost_predict('reg', 1e308::float8, -2147483648, 'x', 'red'::colour, true) = dpboost_predict('reg', 1.0, 0, 'x', 'red'::colour, true) AS clamped;
SELECT dpboost_predict(NULL, 1, 2) IS NULL AS no_model;

-- long texts, compressed or out of line, are read whole
CREATE TABLE texts AS SELECT i * 1.0 AS y, repeat('compressed', 1000) || i AS t FROM generate_series(1, 40) i;
ALTER TABLE texts ADD u text;
ALTER TABLE texts ALTER u SET STORAGE EXTERNAL;
UPDATE texts SET u = t || '';
SELECT dpboost_train('long', '{"epsilon": 50, "target_range": [0, 40]}', y, t) ->> 'task' AS task FROM texts;
SELECT max(pg_column_size(t)) < 1000 AS compressed, min(pg_column_size(u)) > 10000 AS out_of_line, count(DISTINCT dpboost_predict('long', t)) > 10 AS told_apart,
    bool_and(dpboost_predict('long', t) = dpboost_predict('long', left(t, 20000))) AS same,
    bool_and(dpboost_predict('long', u) = dpboost_predict('long', left(t, 20000))) AS same_out_of_line FROM texts;
DROP TABLE texts;
SELECT dpboost_drop_model('long');

-- names and versions
SELECT dpboost_predict('none', 1);
SELECT dpboost_predict('', 1);
SELECT dpboost_predict('reg@7', 1);
SELECT dpboost_predict('reg@x', 1);
SELECT dpboost_predict('reg@', 1);
SELECT dpboost_predict('reg@1', t) = dpboost_predict('reg', t) AS same FROM things t LIMIT 1;
CREATE TABLE before AS SELECT t.a, dpboost_predict('reg', t) AS p FROM things t;
SELECT dpboost_train('reg', '{"epsilon": 50, "trees": 30, "target_range": [0, 10]}', y, a, b, c, d, e) ->> 'version' AS version FROM things;
SELECT bool_and(dpboost_predict('reg@1', t) = p) AS old, bool_and(dpboost_predict('reg', t) = p) AS new FROM things t JOIN before USING (a);
SELECT count(DISTINCT dpboost_predict('reg@' || v, t)) AS versions FROM things t, generate_series(1, 2) v WHERE t.b = 50 AND t.a BETWEEN 0.4 AND 0.6;

-- a new version is used at once: in the same function, in a repeatable-read transaction
DO $$
DECLARE first float8; second float8; i int;
BEGIN
    FOR i IN 1..2 LOOP
        first := second;
        PERFORM dpboost_train('fresh', '{"epsilon": 20, "trees": 30, "target_range": [0, 10]}', y, a) FROM things;
        second := dpboost_predict('fresh', 0.5);
    END LOOP;
    RAISE NOTICE 'another model: %', first <> second;
END $$;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM things;
SELECT dpboost_train('snapshot', '{"epsilon": 1, "trees": 30, "target_range": [0, 10]}', y, a) ->> 'version' AS version FROM things;
SELECT dpboost_predict('snapshot', 0.5) IS NOT NULL AS found;
ROLLBACK;
SELECT dpboost_predict('snapshot', 0.5) IS NOT NULL AS found;

-- parallel workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT sum(dpboost_predict('reg@1', t)) FROM things t;
SELECT (SELECT sum(p) FROM before) = sum(dpboost_predict('reg@1', t)) AS same FROM things t;
RESET ALL;

-- who may use a model
CREATE ROLE regress_owner;
CREATE ROLE regress_friend;
CREATE ROLE regress_member IN ROLE regress_friend;
GRANT SELECT ON things TO regress_owner, regress_friend, regress_member;
SET ROLE regress_owner;
SELECT dpboost_train('mine', '{"epsilon": 1, "trees": 5}', z, a) ->> 'version' AS version FROM things;
SELECT dpboost_predict('mine', 0.5) IS NOT NULL AS owner;
SET ROLE regress_friend;
SELECT dpboost_predict('mine', 0.5);
SELECT dpboost_predict('regress_owner.mine', 0.5);
SELECT dpboost_train('regress_owner.mine', '{"epsilon": 1, "trees": 5}', z, a) FROM things;
SELECT dpboost_share('regress_owner.mine', 'regress_friend');
SELECT dpboost_drop_model('regress_owner.mine');
SELECT count(*) FROM dpboost_models;
RESET ROLE;
SELECT dpboost_predict('mine', 0.5) IS NOT NULL AS superuser;
SET ROLE regress_owner;
SELECT dpboost_share('mine', 'regress_friend');
SELECT dpboost_share('mine', 'regress_friend');
SELECT dpboost_share('mine@1', 'regress_friend');
SELECT dpboost_share('mine', 0);
SELECT dpboost_share('none', 'regress_friend');
SET ROLE regress_member;
SELECT dpboost_predict('mine', 0.5) IS NOT NULL AS member;
SELECT model, version, owner FROM dpboost_models;
SELECT dpboost_unshare('mine', 'regress_friend');
SET ROLE regress_owner;
SELECT dpboost_unshare('mine', 'regress_friend');
SET ROLE regress_member;
SELECT dpboost_predict('mine', 0.5);
SELECT * FROM dpboost.model;

-- rights are those of the query's role, not of an earlier one
SET ROLE regress_owner;
PREPARE guess AS SELECT dpboost_predict('mine', 0.5) IS NOT NULL AS found;
EXECUTE guess;
SET ROLE regress_friend;
EXECUTE guess;

-- dropping a version, and all
SET ROLE regress_owner;
SELECT dpboost_train('mine', '{"epsilon": 1, "trees": 5}', z, a) ->> 'version' AS version FROM things;
SELECT dpboost_drop_model('mine@1');
SELECT dpboost_predict('mine@1', 0.5);
SELECT dpboost_predict('mine@2', 0.5) = dpboost_predict('mine', 0.5) AS newest;
SELECT dpboost_drop_model('mine');
SELECT dpboost_predict('mine', 0.5);
EXECUTE guess;
SELECT dpboost_train('mine', '{"epsilon": 1, "trees": 5}', z, a) ->> 'version' AS never_used_again FROM things;
SELECT dpboost_drop_model('mine');
RESET ROLE;

SELECT count(dpboost_drop_model(full_name)) >= 5 AS dropped FROM (SELECT DISTINCT full_name FROM dpboost_models) s;
DROP TABLE things, before;
DROP TYPE colour;
DROP ROLE regress_member, regress_friend, regress_owner;
