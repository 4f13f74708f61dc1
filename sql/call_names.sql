-- Features of the aggregate are named by the columns of the call, in whatever statement it stands; a model that was trained
-- so can be asked with a row.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE SCHEMA regress_names;
SET search_path = regress_names, public;
CREATE TABLE people (age int, size float8, ill boolean);
INSERT INTO people SELECT i % 90, i % 2, i % 3 = 0 FROM generate_series(1, 100) i;
\set options '{"epsilon": 1, "method": "sbdt", "trees": 2, "subsample": 1, "bounds": [[0, 90], [0, 2]]}'
CREATE VIEW named AS SELECT model, version, (SELECT string_agg(f ->> 'name', ', ') FROM jsonb_array_elements(features) f) AS features
FROM dpboost_models WHERE model = 'regress_names';

SELECT dpboost_train('regress_names', :'options', ill, age, size) IS NOT NULL FROM people;
-- plans and results of other statements
EXPLAIN (COSTS OFF) SELECT dpboost_train('regress_names', :'options', ill, age, size) FROM people;
DO $$BEGIN EXECUTE 'EXPLAIN ANALYZE SELECT dpboost_train(''regress_names'', ''{"epsilon": 1, "method": "sbdt", "trees": 2,
    "subsample": 1, "bounds": [[0, 90], [0, 2]]}'', ill, p.age, people.size) FROM people JOIN people p USING (ill) WHERE false'; END$$;
CREATE TABLE result AS SELECT dpboost_train('regress_names', :'options', ill, age, size) IS NOT NULL FROM people;
SELECT dpboost_train('regress_names', :'options', ill, age::float8, size::numeric) IS NOT NULL INTO TEMP result_2 FROM people;
CREATE MATERIALIZED VIEW result_3 AS SELECT dpboost_train('regress_names', '{"epsilon": 1, "method": "sbdt", "trees": 2,
    "subsample": 1, "bounds": [[0, 90], [0, 2]]}', ill, age, size) IS NOT NULL FROM people;
BEGIN;
DECLARE c CURSOR FOR SELECT dpboost_train('regress_names', :'options', ill, age, size) IS NOT NULL FROM people;
FETCH c;
COMMIT;
COPY (SELECT dpboost_train('regress_names', :'options', ill, age, size) IS NOT NULL FROM people) TO STDOUT;
PREPARE p AS SELECT dpboost_train('regress_names', :'options', ill, age, size) IS NOT NULL FROM people;
EXECUTE p;
INSERT INTO result SELECT dpboost_train('regress_names', :'options', ill, age, size) IS NOT NULL FROM people;
WITH w AS (SELECT dpboost_train('regress_names', :'options', ill, age, size) r FROM people) SELECT r IS NOT NULL FROM w;
-- rows, and what has no name of its own
SELECT dpboost_train('regress_names', :'options', ill, (age, size)) IS NOT NULL FROM people;
SELECT dpboost_train('regress_names', :'options', ill, age + 1, size) IS NOT NULL FROM people;
-- a text that is no statement of SQL
DO $$DECLARE r jsonb; BEGIN
    r := (SELECT dpboost_train('regress_names', '{"epsilon": 1, "method": "sbdt", "trees": 2, "subsample": 1, "bounds": [[0, 90], [0, 2]]}',
        ill, age, size) FROM people);
END$$;
SELECT version, features FROM named ORDER BY version;

SELECT count(dpboost_drop_model('regress_names'));
DROP SCHEMA regress_names CASCADE;
