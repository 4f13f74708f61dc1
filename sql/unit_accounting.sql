-- Every person's own budget: each has the limit to itself, who has used it up is left out without a word, and the table
-- never runs dry. What a person has spent is for the owner of the rows alone.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE ROLE regress_unit_owner;
CREATE ROLE regress_unit_ana;
CREATE SCHEMA regress_unit;
GRANT ALL ON SCHEMA regress_unit TO regress_unit_owner;
GRANT USAGE ON SCHEMA regress_unit TO regress_unit_ana;
SET search_path = regress_unit, public;

CREATE FUNCTION fill(of text, persons int, kind text DEFAULT 'int') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (visit_id int PRIMARY KEY, patient_id %s, age float8 CHECK (age BETWEEN 0 AND 100),
                    cost float8 CHECK (cost BETWEEN 0 AND 1000))', of, kind);
    EXECUTE format('INSERT INTO %I SELECT i, i %% %s, i %% 90, i %% 900 FROM generate_series(1, 3 * %2$s) i', of, persons);
END$$;
-- What a training answers, but for its number; or its error.
CREATE FUNCTION train(relation regclass, epsilon float8, options jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text;
BEGIN
    RETURN dpboost_train_on('regress_unit_m', relation, 'cost', epsilon, features => '{age}', options => options)
        - '{version,release_id,active}'::text[];
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN message;
END$$;
CREATE FUNCTION part(relation regclass, unit text) RETURNS float8 LANGUAGE sql AS
    $$SELECT (dpboost_unit_budget(relation, unit) ->> 'part_spent')::float8$$;

SET ROLE regress_unit_owner;
SELECT fill('visits', 40);

-- what can be accounted by unit
SELECT dpboost_protect('visits', 1, privacy_unit => 'patient_id', accounting => 'person');
CREATE TABLE nameless (age float8);
SELECT dpboost_protect('nameless', 1, accounting => 'unit');
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TABLE moods (id mood PRIMARY KEY);
SELECT dpboost_protect('moods', 1, accounting => 'unit');
SELECT dpboost_unit_budget('visits', '1');
SELECT dpboost_protect('visits', 1, 1e-6, privacy_unit => 'patient_id', accounting => 'unit');
SELECT relation, epsilon, delta, accounting, privacy_unit, epsilon_remaining, part_remaining FROM dpboost_budgets;
-- a primary key of one column says who a person is
SELECT fill('rows', 5);
SELECT dpboost_protect('rows', 1, accounting => 'unit');
SELECT privacy_unit FROM dpboost_budgets WHERE relation = 'rows'::regclass;

-- accounts are parts of the limit: it stays as it is
SELECT dpboost_protect('visits', 2);
SELECT dpboost_protect('visits', privacy_unit => 'visit_id');
SELECT dpboost_protect('visits', accounting => 'release');
SELECT dpboost_unprotect('visits');
SELECT dpboost_protect('visits', 1);
SELECT accounting FROM dpboost_budgets WHERE relation = 'visits'::regclass;

-- a training charges everybody who has rows in it
SELECT dpboost_unit_budget('visits', '1');
SELECT train('visits', 0.5);
SELECT part('visits', '1') BETWEEN 0.25 AND 0.35 AS spent, part('visits', '1') = part('visits', '39') AS alike, part('visits', '40') AS stranger;
SELECT train('visits', 1.5);
SELECT dpboost_estimate('visits', 'cost', 0.5, features => '{age}') - 'trees' AS estimate;
SELECT dpboost_trainings_left('visits', 0.5);

-- 20 more go past the limit. All answer alike, nobody exceeds it, and who comes later has all of it.
INSERT INTO visits SELECT 1000 + i, 100 + i, i, i FROM generate_series(1, 5) i;
SELECT count(*), count(DISTINCT t), min(t) = train('visits', 0.5) AS same_as_ever
FROM (SELECT train('visits', 0.5) AS t FROM generate_series(1, 20)) s;
SELECT part('visits', '1') BETWEEN 0.7 AND 1 AS old, part('visits', '101') BETWEEN 0.7 AND 1 AS new, part('visits', '40') AS none;
-- what 22 releases add up to is nobody's loss: it is not shown, and the limit does not run out
SELECT epsilon, epsilon_spent, epsilon_spent_ever, part_remaining, releases FROM dpboost_budgets WHERE relation = 'visits'::regclass AND grantee IS NULL;
SELECT regexp_matches(dpboost_statement(relation => 'visits'), 'All trainings.*?delta [^,]*|So far[^\n]*', 'g');
SELECT dpboost_set_alert('visits', 0.5);
INSERT INTO visits VALUES (2000, 200, 1, 1);
SELECT train('visits', 0.5) LIKE '{%' AS trained, part('visits', '200') > 0 AS charged, part('visits', '200') < 0.5 AS once;
-- and so with a method that is charged by rounds, and an evaluation
SELECT train('visits', 0.5, '{"method": "sbdt", "trees": 10}') = train('visits', 0.5, '{"method": "sbdt", "trees": 10}') AS same;
INSERT INTO visits SELECT 3000 + i, 300 + i, i, i FROM generate_series(0, 9) i;
SELECT train('visits', 0.5, '{"method": "sbdt", "trees": 10}') LIKE '{%' AS trained,
       part('visits', '300') > 0 AS charged;
SELECT part('visits', '300') AS before \gset
SELECT dpboost_evaluate('regress_unit_m', 'visits', 'cost', 0.1) ->> 'task' AS task;
SELECT part('visits', '300') > :before AS charged;

-- how many take part can be bought
SELECT dpboost_train_on('regress_unit_m', 'visits', 'cost', 0.5, features => '{age}', options => '{"active_share": 0.1}')
    #>> '{active,persons}' IS NOT NULL AS counted;

-- for the owner alone
RESET ROLE;
SELECT dpboost_set_budget('regress_unit.visits', 'regress_unit_ana', 100);
SET ROLE regress_unit_ana;
SELECT train('visits', 0.5) LIKE '{%' AS trained;
SELECT dpboost_unit_budget('visits', '1');
SELECT dpboost_forget_unit('visits', '1');
SELECT dpboost_merge_units('visits', '1', '2');
SELECT count(*) FROM dpboost.unit_bucket;
SELECT count(*) FROM dpboost.unit_state;
SELECT epsilon_remaining IS NULL AS hidden FROM dpboost_budgets WHERE grantee IS NULL;
SET ROLE regress_unit_owner;

-- forgotten: used up for good, under the same value as well; without a tombstone a second life, and a second budget
INSERT INTO visits VALUES (4000, 400, 1, 1), (4001, 401, 1, 1), (4002, 402, 1, 1), (4003, 403, 1, 1);
SELECT train('visits', 0.5) LIKE '{%' AS trained;
DELETE FROM visits WHERE patient_id IN (400, 401);
SELECT dpboost_forget_unit('visits', '400'), dpboost_forget_unit('visits', '401', tombstone => false);
INSERT INTO visits VALUES (4000, 400, 1, 1), (4001, 401, 1, 1);
SELECT dpboost_unit_budget('visits', '400') -> 'forgotten' AS forgotten, part('visits', '400') AS spent, part('visits', '401') AS anew;
SELECT train('visits', 0.2) LIKE '{%' AS trained;
SELECT dpboost_unit_budget('visits', '400') -> 'forgotten' AS forgotten, part('visits', '401') > 0 AS charged;
BEGIN;
SELECT dpboost_forget_unit('visits', '402');
ROLLBACK;
SELECT dpboost_unit_budget('visits', '402') -> 'forgotten' AS forgotten;
-- merged: what both have spent
SELECT part('visits', '402') AS one, part('visits', '403') AS other \gset
SELECT dpboost_merge_units('visits', '402', '402');
SELECT dpboost_merge_units('visits', '402', '403');
SELECT part('visits', '402') AS closed, abs(part('visits', '403') - least(1, :one + :other)) < 1e-5 AS both;
SELECT dpboost_unit_budget('visits', 'one');

-- a type of the same kind has the same keys, another one would give everybody a new account
ALTER TABLE visits ALTER COLUMN patient_id TYPE bigint;
SELECT part('visits', '400') AS spent;
ALTER TABLE visits ALTER COLUMN patient_id TYPE text;
SELECT train('visits', 0.5);
SELECT dpboost_unit_budget('visits', '400');
ALTER TABLE visits ALTER COLUMN patient_id TYPE int USING patient_id::int;
SELECT part('visits', '400') AS spent;

-- accounts that are lost or damaged
RESET ROLE;
BEGIN;
DELETE FROM dpboost.unit_bucket;
SELECT train('visits', 0.5);
DELETE FROM dpboost.unit_state;
SELECT train('visits', 0.5);
ROLLBACK;
SET ROLE regress_unit_owner;
SELECT train('visits', 0.5) LIKE '{%' AS trained;

-- dropped and created anew, the table has the same accounts
SELECT fill('again', 10);
SELECT dpboost_protect('again', 1, privacy_unit => 'patient_id', accounting => 'unit');
SELECT train('again', 0.5) LIKE '{%' AS trained;
SELECT part('again', '1') AS before \gset
DROP TABLE again;
SELECT fill('again', 10);
SELECT part('again', '1') = :before AS same;

-- a limit with a history: who is present starts with what was spent, whoever comes later with nothing
SELECT fill('old', 20);
SELECT dpboost_protect('old', 1, privacy_unit => 'patient_id');
SELECT train('old', 0.5) LIKE '{%' AS trained;
SELECT dpboost_protect('old', accounting => 'unit');
SELECT part('old', '1') BETWEEN 0.1 AND 0.5 AS present, part('old', '1') = part('old', '19') AS alike, part('old', '20') AS later;
SELECT train('old', 0.9) LIKE '{%' AS trained, part('old', '1') < 0.5 AS could_not_pay;
-- everybody who is there, also under a collation that takes two of them for equal
SELECT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS icu \gset
SELECT fill('alike', 20, 'text');
UPDATE alike SET patient_id = 'a' WHERE patient_id = '1';
UPDATE alike SET patient_id = 'A' WHERE patient_id = '2';
SELECT dpboost_protect('alike', 1, privacy_unit => 'patient_id');
SELECT train('alike', 0.5) LIKE '{%' AS trained;
\if :icu
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER TABLE alike ALTER COLUMN patient_id TYPE text COLLATE no_case;
\endif
SELECT dpboost_protect('alike', accounting => 'unit');
SELECT part('alike', 'a') > 0 AS one, part('alike', 'A') > 0 AS other;
SELECT fill('older', 20);
SELECT dpboost_protect('older', 1, privacy_unit => 'patient_id');
SELECT train('older', 0.5) LIKE '{%' AS trained;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT dpboost_protect('older', accounting => 'unit');
ROLLBACK;

-- a population's tables share the accounts
SELECT dpboost_create_population('regress_unit_people', 1);
SELECT fill('stays', 10), fill('labs', 15), fill('texts', 5, 'text');
SELECT dpboost_protect('stays', population => 'regress_unit_people', privacy_unit => 'patient_id', accounting => 'unit');
SELECT dpboost_protect('labs', population => 'regress_unit_people', privacy_unit => 'patient_id');
SELECT dpboost_protect('texts', population => 'regress_unit_people', privacy_unit => 'patient_id');
SELECT train('stays', 0.4) LIKE '{%' AS trained;
SELECT part('stays', '1') = part('labs', '1') AS shared, part('labs', '12') AS stranger;
SELECT train('labs', 0.4) LIKE '{%' AS trained;
SELECT part('stays', '1') > part('labs', '12') AS in_both, part('labs', '12') > 0 AS in_one;
SELECT dpboost_alter_population('regress_unit_people', 2);
SELECT dpboost_unprotect('labs');
SELECT dpboost_protect('again', population => 'regress_unit_people');
SELECT dpboost_protect('old', population => 'regress_unit_people');
SELECT dpboost_protect('older', population => 'regress_unit_people');

-- one with a history is switched over as a whole; not while a table that has left could go on releasing
SELECT dpboost_create_population('regress_unit_all', 1);
SELECT fill('first', 10), fill('second', 20), fill('third', 5);
SELECT dpboost_protect(t, population => 'regress_unit_all', privacy_unit => 'patient_id') FROM unnest('{first,second,third}'::regclass[]) t;
SELECT train('first', 0.4) LIKE '{%' AS trained;
SELECT dpboost_unprotect('third');
SELECT dpboost_protect('first', accounting => 'unit');
DROP TABLE third;
SELECT dpboost_protect('first', accounting => 'unit');
SELECT part('first', '1') > 0 AS present, part('first', '1') = part('second', '15') AS present_elsewhere, part('second', '20') AS later;
SELECT relation, population, accounting FROM dpboost_budgets WHERE population = 'regress_unit_all';

-- an update is charged like a training: those who were there pay again while they can, and newcomers have all of theirs
SELECT fill('months', 20);
SELECT dpboost_protect('months', 1, privacy_unit => 'patient_id', accounting => 'unit');
SELECT dpboost_train_on('regress_unit_u', 'months', 'cost', 0.5, features => '{age}') ->> 'method' AS method;
SELECT part('months', '1') AS before \gset
INSERT INTO months SELECT 1000 + i, 100 + i, i, i FROM generate_series(1, 20) i;
SELECT dpboost_update('regress_unit_u', 'months', 0.5) ->> 'updates' AS updates;
SELECT round((part('months', '1') / :before)::numeric, 2) AS times, part('months', '101') = :before AS newcomer;
SELECT dpboost_update('regress_unit_u', 'months', 0.5) ->> 'updates' AS updates;
SELECT part('months', '1') AS before \gset
SELECT dpboost_update('regress_unit_u', 'months', 0.5) ->> 'updates' AS updates;
SELECT part('months', '1') = :before AS could_not_pay, part('months', '1') <= 1 AS within, part('months', '101') = :before AS could;

-- classes: sbdt gives back what was not lost; 1.42 of the whole, deviation .04
CREATE TABLE kinds AS SELECT i AS person, i % 50 AS age, substr('abc', i % 3 + 1, 1) AS kind FROM generate_series(1, 3000) i;
SELECT dpboost_set_domain('kinds', 'age', 0, 100);
SELECT dpboost_set_domain('kinds', 'kind', '{a,b,c}'::text[]);
SELECT dpboost_protect('kinds', 1, privacy_unit => 'person', accounting => 'unit');
SELECT dpboost_train_on('regress_unit_k', 'kinds', 'kind', 0.5, features => '{age}') ->> 'task' AS task;
SELECT part('kinds', '1') AS whole \gset
SELECT dpboost_train_on('regress_unit_k', 'kinds', 'kind', 0.5, features => '{age}',
    options => '{"method": "sbdt", "trees": 20, "gradient_clip": 1, "hessian_clip": 0.25, "subsample": 1}') ->> 'trees' AS trees;
SELECT part('kinds', '1') > :whole AS charged, part('kinds', '1') < 1.8 * :whole AS less_than_all;

-- through a view, and a query
CREATE VIEW of_visits AS SELECT age, cost, patient_id FROM again WHERE age < 50;
SELECT train('of_visits', 0.1) LIKE '{%' AS trained;
SELECT dpboost_train('regress_unit_q', '{"epsilon": 0.1, "bounds": {"visit_id": [0, 100]}}', a.cost, a) ->> 'task' AS task FROM again AS a;
-- not through one that has a privacy unit of its own: its persons are others
CREATE VIEW own_unit AS SELECT patient_id, avg(age) AS age, avg(cost) AS cost FROM again GROUP BY patient_id;
SELECT dpboost_protect('own_unit', 1, privacy_unit => 'patient_id');
SELECT dpboost_set_domain('own_unit', 'age', 0, 100), dpboost_set_domain('own_unit', 'cost', 0, 1000);
SELECT train('own_unit', 0.1);

RESET ROLE;
SELECT dpboost_drop_model(full_name) FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE model LIKE 'regress_unit%') m;
DROP SCHEMA regress_unit CASCADE;
SELECT dpboost_drop_population(p) FROM unnest('{regress_unit_people,regress_unit_all}'::name[]) p;
DROP OWNED BY regress_unit_owner, regress_unit_ana;
DROP ROLE regress_unit_owner, regress_unit_ana;
