-- dpboost_train_on and dpboost_estimate: by name, without SELECT, nothing read but the declared columns.
\set SHOW_CONTEXT never
CREATE ROLE regress_dba;
CREATE ROLE regress_ana;
CREATE SCHEMA clinic AUTHORIZATION regress_dba;
GRANT USAGE ON SCHEMA clinic TO regress_ana;
SET ROLE regress_dba;
CREATE TABLE clinic."Visits" (
    id int PRIMARY KEY,
    patient int,
    age int CHECK (age BETWEEN 0 AND 120),
    dropped int,
    weight numeric,
    "home town" text,
    smoker boolean,
    history float8[],
    notes jsonb,
    cost float8 CHECK (cost >= 0 AND cost <= 1000),
    ill boolean);
ALTER TABLE clinic."Visits" DROP COLUMN dropped;
INSERT INTO clinic."Visits"
SELECT i, i / 3, i % 100, i % 150, 'town ' || i % 5, i % 2 = 0, ARRAY[i % 10, i % 20], '{}', i % 1000, i % 4 = 0
FROM generate_series(1, 600) i;

RESET ROLE;
CREATE FUNCTION sqlstate_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE statement; RETURN 'none'; EXCEPTION WHEN OTHERS THEN RETURN sqlstate || ' ' || sqlerrm; END $$;

-- an analyst without anything
SET ROLE regress_ana;
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, features => '{age}');
SELECT dpboost_estimate('clinic."Visits"', 'ill', 1, features => '{age}');

-- with a budget
SET ROLE regress_dba;
SELECT dpboost_protect('clinic."Visits"', 20, 1e-3);
SELECT dpboost_set_budget('clinic."Visits"', 'regress_ana', 10, 1e-4, max_epsilon_per_train => 5);
SET ROLE regress_ana;
SELECT count(*) FROM clinic."Visits";
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, features => '{age}', options => '{"trees": 10}')
    - '{remaining,release_id,base_rate}'::text[] AS result;
SELECT jsonb_object_keys(dpboost_estimate('clinic."Visits"', 'ill', 1, features => '{age}', options => '{"trees": 10}')) AS key ORDER BY 1;
SELECT dpboost_predict('v', 50) BETWEEN 0 AND 1 AS predicts;

-- an estimate charges nothing and says what a training then does
CREATE TEMP TABLE said AS
SELECT dpboost_estimate('clinic."Visits"', 'ill', 0.5, features => '{age}', options => '{"trees": 10}') AS estimate,
       (SELECT count(*) FROM dpboost_ledger) AS releases;
SELECT releases = (SELECT count(*) FROM dpboost_ledger) AS charged_nothing FROM said;
SELECT t - '{model,owner,version,release_id,live,base_rate}'::text[] = estimate - '{fits,trainings_left}'::text[] AS as_estimated
FROM said, dpboost_train_on('v', 'clinic."Visits"', 'ill', 0.5, features => '{age}', options => '{"trees": 10}') t;
DROP TABLE said;

-- default features: all but the target, the unit and the key
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 0.5);
SET ROLE regress_dba;
SELECT dpboost_set_domain('clinic."Visits"', 'patient', 0, 1000);
SELECT dpboost_set_domain('clinic."Visits"', 'weight', 0, 200);
ALTER TABLE clinic."Visits" DROP COLUMN notes;
CREATE TABLE clinic.arrays AS SELECT history, ill FROM clinic."Visits";
ALTER TABLE clinic."Visits" DROP COLUMN history;
SET ROLE regress_ana;
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 0.5, options => '{"trees": 10}') -> 'features' AS features;
SELECT (SELECT string_agg(f ->> 'name', ', ') FROM jsonb_array_elements(features) f) AS features
FROM dpboost_models WHERE model = 'v' ORDER BY version DESC LIMIT 1;

-- options may narrow what the owner declared, not widen it
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 0.1, features => '{age}', options => '{"bounds": {"age": [0, 200]}}');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'cost', 0.1, features => '{age}', options => '{"target_range": [0, 2000]}');
SELECT dpboost_estimate('clinic."Visits"', 'cost', 0.1, features => '{age}', options => '{"target_range": [0, 500], "bounds": {"age": [20, 60]}}') ->> 'task' AS task;
SELECT dpboost_estimate('clinic."Visits"', 'ill', 0.1, features => '{"home town"}', options => '{"bounds": {"home town": ["town 1", "town 2"]}}') ->> 'task' AS task;

-- arguments
SELECT dpboost_train_on(NULL, 'clinic."Visits"', 'ill', 1);
SELECT dpboost_train_on('v', NULL, 'ill', 1);
SELECT dpboost_train_on('v', 'clinic."Visits"', NULL, 1);
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', NULL);
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 'NaN');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, 0.1);
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, options => NULL);
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, options => '{"epsilon": 2}');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, options => '{"delta": 1e-6}');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'sick', 1);
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ctid', 1);
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, features => '{age,ill}');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, features => '{age,age}');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, features => '{age,NULL}');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, features => '{height}');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, features => '{........pg.dropped.4........}');
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 1, features => '{}');
SELECT dpboost_train_on('v@1', 'clinic."Visits"', 'ill', 1, features => '{age}');
SELECT dpboost_train_on('v', 'clinic."Visits_pkey"', 'ill', 1);
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 6, features => '{age}');

-- an array column: its length must be public, and a value of another length is no error
RESET ROLE;
INSERT INTO clinic.arrays VALUES (NULL, true), ('{1}', true), ('{{1,2},{3,4}}', true), ('{}', false);
SELECT dpboost_train_on('arrays', 'clinic.arrays', 'ill', 1, options => '{"trees": 5}');
SELECT dpboost_train_on('arrays', 'clinic.arrays', 'ill', 1, options => '{"trees": 5, "bounds": [[0, 10], [0, 20]]}') -> 'features' AS features;

-- privacy units: sampled and clipped per patient, who is never a feature
SET ROLE regress_dba;
CREATE TABLE clinic.stays (patient text, days int CHECK (days BETWEEN 0 AND 30), ill boolean);
INSERT INTO clinic.stays SELECT 'p' || i / 4, i % 30, i % 3 = 0 FROM generate_series(1, 400) i;
INSERT INTO clinic.stays VALUES (NULL, 3, true), (NULL, NULL, false);
SELECT dpboost_protect('clinic.stays', 10, 1e-4, privacy_unit => 'patient');
SELECT dpboost_set_budget('clinic.stays', 'regress_ana', 5, 1e-4);
SET ROLE regress_ana;
SELECT dpboost_train_on('stays', 'clinic.stays', 'ill', 1, options => '{"trees": 5}') -> 'features' AS features;
SELECT privacy_unit FROM dpboost_ledger WHERE model = 'stays';
SELECT dpboost_train_on('stays', 'clinic.stays', 'ill', 1, features => '{days,patient}');
SELECT dpboost_train_on('stays', 'clinic.stays', 'patient', 1, features => '{days}', options => '{"positive": "p1"}');
SET ROLE regress_dba;
SELECT dpboost_train('stays2', '{"epsilon": 1, "trees": 5}', s.ill, s) -> 'features' AS features FROM clinic.stays s;
SELECT dpboost_train('stays2', '{"epsilon": 1, "trees": 5}', ill, days) FROM clinic.stays;

-- a unit whose values can be equal and yet differ in bytes
CREATE COLLATION clinic.folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE clinic.folded (patient text COLLATE clinic.folded, days int CHECK (days BETWEEN 0 AND 30), ill boolean);
SELECT dpboost_protect('clinic.folded', 1, 1e-6, privacy_unit => 'patient');
SELECT dpboost_train_on('folded', 'clinic.folded', 'ill', 0.5);

-- a view: its owner's rights, not the caller's
CREATE VIEW clinic.young AS SELECT age AS years, ill FROM clinic."Visits" WHERE age < 40;
SELECT dpboost_set_budget('clinic.young', 'regress_ana', 3, 1e-4);
SET ROLE regress_ana;
SELECT dpboost_train_on('young', 'clinic.young', 'ill', 0.5, options => '{"trees": 5}') -> 'features' AS features;
SELECT relations FROM dpboost_ledger WHERE model = 'young';
RESET ROLE;
CREATE SCHEMA lab AUTHORIZATION regress_ana;
SET ROLE regress_ana;
CREATE VIEW lab.stolen AS SELECT * FROM clinic."Visits";
SELECT dpboost_train_on('stolen', 'lab.stolen', 'ill', 0.5, features => '{age}');

-- what the analyst's session sets does not reach the reading query
CREATE FUNCTION lab.spy(int, int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
CREATE OPERATOR lab.= (LEFTARG = int, RIGHTARG = int, FUNCTION = lab.spy);
SET search_path = lab, clinic, pg_catalog;
SELECT public.dpboost_train_on('v', 'clinic."Visits"', 'ill', 0.1, features => '{age}', options => '{"trees": 5}') ->> 'model' AS model;
RESET search_path;

-- a view that talks or fails on some row: the analyst hears nothing of what it says
SET ROLE regress_dba;
CREATE FUNCTION clinic.talk(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN $1; END $$;
CREATE VIEW clinic.talking AS SELECT clinic.talk(age) AS age, ill FROM clinic."Visits";
CREATE VIEW clinic.failing AS SELECT "home town"::int AS age, ill FROM clinic."Visits";
SELECT dpboost_set_budget('clinic.talking', 'regress_ana', 1, 1e-6), dpboost_set_budget('clinic.failing', 'regress_ana', 1, 1e-6);
SET ROLE regress_ana;
SELECT dpboost_train_on('talk', 'clinic.talking', 'ill', 0.1, options => '{"bounds": {"age": [0, 120]}, "trees": 5}') ->> 'model' AS model;
SELECT dpboost_train_on('fail', 'clinic.failing', 'ill', 0.1, options => '{"bounds": {"age": [0, 120]}, "trees": 5}');
SELECT count(*) FROM dpboost_ledger WHERE model = 'fail';
-- nor do the session's statistics count the rows
BEGIN;
SELECT sum(seq_tup_read) AS before FROM pg_stat_xact_all_tables WHERE schemaname = 'clinic' \gset
SELECT dpboost_train_on('talk', 'clinic.talking', 'ill', 0.1, options => '{"bounds": {"age": [0, 120]}, "trees": 5}') ->> 'model' AS model;
SELECT sum(seq_tup_read) - :before AS rows_counted FROM pg_stat_xact_all_tables WHERE schemaname = 'clinic';
COMMIT;
-- nor how long a value is
SET ROLE regress_dba;
CREATE VIEW clinic.long AS SELECT length(repeat('x', 2030 + age)::tsvector) AS words, ill FROM clinic."Visits";
SELECT dpboost_set_budget('clinic.long', 'regress_ana', 1, 1e-6);
SET ROLE regress_ana;
SELECT dpboost_train_on('fail', 'clinic.long', 'ill', 0.1, options => '{"bounds": {"words": [0, 120]}, "trees": 5}');
-- nor do its functions find her temporary tables: they run with the owner's rights, and so would what she put there
SET ROLE regress_dba;
CREATE FUNCTION clinic.looked_up(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT max(k) FROM lookup); END $$;
CREATE VIEW clinic.looking AS SELECT clinic.looked_up(age) AS k, ill FROM clinic."Visits";
CREATE VIEW clinic.asking AS SELECT length(query_to_xml('SELECT k FROM lookup', true, false, '')::text) AS k, ill FROM clinic."Visits";
SELECT dpboost_set_budget('clinic.looking', 'regress_ana', 1, 1e-6), dpboost_set_budget('clinic.asking', 'regress_ana', 1, 1e-6);
SET ROLE regress_ana;
CREATE FUNCTION lab.robbed() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE INFO 'running as %', current_user; RETURN 1; END $$;
CREATE TEMP VIEW lookup AS SELECT lab.robbed() AS k;
GRANT SELECT ON lookup TO PUBLIC;
SELECT dpboost_train_on('look', 'clinic.looking', 'ill', 0.1, options => '{"bounds": {"k": [0, 120]}, "trees": 5}');
SELECT dpboost_train_on('look', 'clinic.asking', 'ill', 0.1, options => '{"bounds": {"k": [0, 120]}, "trees": 5}');
SELECT dpboost_train_on('young', 'clinic.young', 'ill', 0.01, options => '{"trees": 5}') ->> 'model' AS model;
DROP VIEW lookup;
CREATE DOMAIN pg_temp.lookup AS int;
SELECT dpboost_train_on('look', 'clinic.looking', 'ill', 0.1, options => '{"bounds": {"k": [0, 120]}, "trees": 5}');
DISCARD TEMP;
SELECT dpboost_train_on('look', 'clinic.looking', 'ill', 0.1, options => '{"bounds": {"k": [0, 120]}, "trees": 5}');
-- nor how many rows there are, by filling the memory up to a point and then trying
RESET ROLE;
SET dpboost.max_memory = '1MB';
SET ROLE regress_ana;
SELECT count(model) AS groups FROM (SELECT dpboost_train('fill' || i % 5, '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', i % 2 = 0,
    CASE WHEN i = 200000 THEN (dpboost_train_on('full', 'clinic.talking', 'ill', 0.1, options => '{"bounds": {"age": [0, 120]}, "trees": 5}') ->> 'version')::int END)
    ->> 'model' AS model FROM generate_series(1, 200000) AS i GROUP BY i % 5) g;
RESET ROLE;
RESET dpboost.max_memory;

-- row security: an allowance reads all rows, and refuses where a forced policy would hide some
SET ROLE regress_dba;
ALTER TABLE clinic."Visits" ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON clinic."Visits" USING (id < 10);
SET ROLE regress_ana;
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 0.1, features => '{age}', options => '{"trees": 5}') ->> 'model' AS model;
SET ROLE regress_dba;
ALTER TABLE clinic."Visits" FORCE ROW LEVEL SECURITY;
SET ROLE regress_ana;
SELECT dpboost_train_on('v', 'clinic."Visits"', 'ill', 0.1, features => '{age}', options => '{"trees": 5}') ->> 'model' AS model;
RESET ROLE;

-- the budget ends
SET ROLE regress_ana;
SELECT dpboost_train_on('end', 'clinic.stays', 'ill', 4, options => '{"method": "sbdt", "trees": 5}') ->> 'version' AS version;
SELECT dpboost_train_on('end', 'clinic.stays', 'ill', 4, options => '{"method": "sbdt", "trees": 5}') ->> 'version' AS version;
SELECT sqlstate_of('SELECT dpboost_train_on(''end'', ''clinic.stays'', ''ill'', 4, options => ''{"method": "sbdt", "trees": 5}'')') AS sqlstate;
SELECT sqlstate_of('SELECT dpboost_estimate(''clinic.stays'', ''ill'', 4, options => ''{"method": "sbdt", "trees": 5}'')') AS sqlstate;
RESET ROLE;

SELECT count(dpboost_drop_model(full_name)) FROM (SELECT DISTINCT full_name FROM dpboost_models) s;
DROP FUNCTION sqlstate_of;
SET client_min_messages = warning;
DROP SCHEMA clinic, lab CASCADE;
DROP ROLE regress_ana, regress_dba;
