-- Privacy in words: of a model, of a table, a population, a role; to those who may see them.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SET intervalstyle = postgres;
CREATE ROLE regress_say_bob;
\set ward regress_say
\i sql/setup/ward.sql
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int, age float8 CHECK (age BETWEEN 0 AND 100), ill boolean);
INSERT INTO visits SELECT i, i % 50, i % 90, i % 3 = 0 FROM generate_series(1, 200) i;
CREATE TABLE labs (LIKE visits INCLUDING ALL);
SELECT dpboost_create_population('regress_say_people', 3);
SELECT dpboost_protect('visits', 2, privacy_unit => 'patient_id', population => 'regress_say_people');
SELECT dpboost_protect('labs', 4);
SELECT dpboost_set_budget('visits', 'regress_say_ana', 1.5), dpboost_set_budget('labs', 'regress_say_ana', 1);
SET ROLE regress_say_ana;
SELECT dpboost_train_on('said', 'visits', 'ill', 1, features => '{age}', options => '{"trees": 5}') ->> 'epsilon';
SELECT dpboost_statement('said');
SELECT dpboost_statement(role => 'regress_say_ana', relation => 'visits');
SELECT dpboost_statement(role => 'regress_say_ana');
SET ROLE regress_say_owner;
SELECT dpboost_set_budget('labs', 'regress_say_ana', renew => '1 month');
SELECT substring(dpboost_statement(role => 'regress_say_ana') FROM 'All trainings by role "regress_say_ana" on table "labs"[^\n]*|All of these[^\n]*');
SELECT substring(dpboost_statement(role => 'regress_say_ana') FROM 'All of these[^\n]*') AS with_the_cap;
-- over all time it is the cap that holds: e^4
SELECT substring(split_part(dpboost_statement(role => 'regress_say_ana', relation => 'labs'), E'\n\n', 2) FROM 'a factor of [0-9]+[.][0-9]+');
SELECT dpboost_statement(relation => 'visits');
SELECT dpboost_statement(population => 'regress_say_people');
-- a release, for who sees it in the ledger, and not the model
SELECT dpboost_statement('regress_say_ana.said');
SELECT split_part(dpboost_statement(release_id => release_id), E'\n', 1) FROM dpboost_ledger WHERE model = 'said';
-- another method: by all pairs that its curve proves; at most what its own pair says
SELECT dpboost_train_on('forest', 'labs', 'ill', 1, features => '{age}', options => '{"method": "sbdt", "trees": 20, "subsample": 0.2}') ->> 'epsilon';
SELECT substring(dpboost_statement('forest') FROM 'right in at most ([0-9.]+)')::float8 < 73.2 AS less_than_its_pair;
-- arguments and rights
SELECT dpboost_statement();
SELECT dpboost_statement('said', relation => 'visits');
SELECT dpboost_statement(relation => 'visits', population => 'regress_say_people');
SELECT dpboost_statement('nothing');
SELECT dpboost_statement(population => 'nobody');
SET ROLE regress_say_bob;
SELECT dpboost_statement('regress_say_ana.said');
SELECT dpboost_statement(release_id => 1);
SELECT dpboost_statement(relation => 'visits');
SELECT dpboost_statement(population => 'regress_say_people');
SELECT dpboost_statement(role => 'regress_say_ana');
RESET ROLE;
SELECT count(dpboost_drop_model(full_name)) FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE model IN ('said', 'forest')) m;
DROP SCHEMA regress_say CASCADE;
SELECT dpboost_drop_population('regress_say_people');
DROP OWNED BY regress_say_owner, regress_say_ana, regress_say_bob;
DROP ROLE regress_say_owner, regress_say_ana, regress_say_bob;
