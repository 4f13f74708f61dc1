-- Nothing that a user says, or leaves out, is lost without a word.
SET client_min_messages = warning;
CREATE ROLE regress_loss_owner;
CREATE ROLE regress_loss_ana;
GRANT CREATE ON SCHEMA public TO regress_loss_owner;
SET ROLE regress_loss_owner;
CREATE TABLE losses (patient int, x float8 CHECK (x BETWEEN 0 AND 1), seen date, verdict text, y boolean);
INSERT INTO losses SELECT i, i % 10 / 10.0, '2020-01-01', CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END, i % 2 = 0 FROM generate_series(1, 300) i;

-- Limits that a call does not name stay as they are; delta has a default; Infinity takes the limit per training away.
SELECT dpboost_protect('losses', epsilon => 5, privacy_unit => 'patient');
SELECT dpboost_set_budget('losses', 'regress_loss_ana', epsilon => 1, delta => 1e-7, max_epsilon_per_train => 0.2);
CREATE VIEW limits AS SELECT grantee, epsilon, delta, max_epsilon_per_train, privacy_unit FROM dpboost_budgets WHERE relation = 'losses'::regclass ORDER BY grantee::text NULLS FIRST;
TABLE limits;
SELECT dpboost_set_budget('losses', 'regress_loss_ana', epsilon => 2);
TABLE limits;
SELECT dpboost_set_budget('losses', 'regress_loss_ana', max_epsilon_per_train => 'Infinity');
TABLE limits;
SELECT dpboost_set_budget('losses', 'regress_loss_ana', max_epsilon_per_train => 'NaN');
SELECT dpboost_set_budget('losses', 'regress_loss_ana', delta => 1e-5, max_epsilon_per_train => 0.5);
SELECT dpboost_protect('losses', epsilon => 6, delta => 1e-8);
SELECT dpboost_protect('losses', epsilon => 7);
TABLE limits;
-- What was revoked is nothing that could stay.
SELECT dpboost_revoke_budget('losses', 'regress_loss_ana');
SELECT dpboost_set_budget('losses', 'regress_loss_ana', delta => 1e-5);
SELECT dpboost_set_budget('losses', 'regress_loss_ana', epsilon => 1);
TABLE limits;

-- A wrong "positive" is told: the share of that class was released anyway.
CREATE TABLE spelled AS SELECT x, verdict FROM losses;
SELECT spelling, r -> 'base_rate' ? 'note' AS told, (r -> 'base_rate' ->> 'value')::float8 BETWEEN 0.2 AND 0.5 AS is_a_third
FROM (VALUES ('yes', 'loss_third'), ('Yes', 'loss_none')) AS v(spelling, model),
 LATERAL dpboost_train_on(model, 'spelled', 'verdict', 10, options => format('{"positive": "%s", "bounds": [0, 1]}', spelling)::jsonb) AS r;
SELECT dpboost_drop_model('loss_third'), dpboost_drop_model('loss_none');
-- In each group, and of several classes, also where a person has many rows.
CREATE TABLE spelled_by_person AS SELECT i % 10 / 10.0::float8 AS x, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END AS verdict,
    CASE i % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'green' ELSE 'blue' END AS colour, i % 300 AS person, i % 2 = 0 AS half
FROM generate_series(1, 3000) i;
CREATE TABLE spelled_by_group AS SELECT x, verdict, half FROM spelled_by_person;
SELECT dpboost_protect('spelled_by_person', 30, 1e-6, privacy_unit => 'person');
SELECT spelling, m ->> 'group' AS half, m -> 'base_rate' ->> 'note' AS note, abs((m -> 'base_rate' ->> 'value')::float8 - 1 / 3.0) < 0.2 AS is_a_third
FROM (VALUES ('yes'), ('Yes')) AS v(spelling),
 LATERAL dpboost_train_groups('loss_half', 'half', 'spelled_by_group', 'verdict', 3, options => format('{"positive": "%s", "bounds": [0, 1]}', spelling)::jsonb) AS r,
 LATERAL jsonb_array_elements(r -> 'models') m ORDER BY 1 DESC, 2;
SELECT method, r -> 'class_shares' ->> 'note' AS note, abs((r -> 'class_shares' -> 'values' ->> 'red')::float8 - 0.5) < 0.4 AS half_red,
    (r -> 'class_shares' -> 'values' ->> 'bleu')::float8 < 0.4 AS none_bleu, (r -> 'class_shares' ->> 'noise')::float8 < 0.1 AS clear
FROM (VALUES ('auto'), ('sbdt')) AS v(method),
 LATERAL dpboost_train_on('loss_classes', 'spelled_by_person', 'colour', 5, features => '{x}',
    options => jsonb_build_object('method', method, 'classes', '["red", "green", "bleu"]'::jsonb, 'bounds', '[0, 1]'::jsonb)) AS r;
-- Where nothing of it was released, that is told, once, until the levels are declared.
SELECT r -> 'base_rate' AS base_rate
FROM dpboost_train_on('loss_units', 'spelled_by_person', 'verdict', 0.5, features => '{x}', options => '{"positive": "Yes", "bounds": [0, 1]}') AS r;
SELECT r -> 'base_rate' IS NOT NULL AS told, r -> 'models' -> 0 -> 'base_rate' IS NOT NULL AS in_groups
FROM dpboost_train_groups('loss_half', 'half', 'spelled_by_group', 'verdict', 3, options => '{"positive": "Yes", "bounds": [0, 1], "class_weights": {"Yes": 3}}') AS r;
SELECT r -> 'class_shares' ->> 'note' AS note
FROM dpboost_train_on('loss_classes', 'spelled_by_person', 'colour', 0.5, features => '{x}',
    options => '{"classes": ["red", "green", "bleu"], "bounds": [0, 1], "class_weights": {"red": 3}}') AS r;
SELECT dpboost_set_domain('spelled_by_person', 'verdict', '{no,yes}'::text[]), dpboost_set_domain('spelled_by_person', 'colour', '{red,green,blue}'::text[]);
SELECT r ? 'base_rate' AS told
FROM dpboost_train_on('loss_units', 'spelled_by_person', 'verdict', 0.5, features => '{x}', options => '{"positive": "yes", "bounds": [0, 1]}') AS r;
SELECT dpboost_train_on('loss_units', 'spelled_by_person', 'verdict', 0.5, features => '{x}', options => '{"positive": "Yes", "bounds": [0, 1]}');
SELECT dpboost_train_on('loss_classes', 'spelled_by_person', 'colour', 0.5, features => '{x}', options => '{"classes": ["red", "green", "bleu"], "bounds": [0, 1]}');
SELECT dpboost_drop_model(m) FROM unnest('{loss_units,loss_half_false,loss_half_true,loss_classes}'::text[]) m;
DROP TABLE spelled, spelled_by_person, spelled_by_group;
-- NULL is an error wherever a value is needed.
SELECT dpboost_set_domain('losses', 'x', NULL, 1);
SELECT dpboost_set_domain('losses', 'verdict', NULL::text[]);
SELECT dpboost_revoke_budget('losses', NULL);
SELECT dpboost_unprotect(NULL);
SELECT dpboost_protect('losses', NULL);
SELECT dpboost_set_budget(NULL, 'regress_loss_ana', 1);
SELECT dpboost_share('m', NULL);
SELECT dpboost_unshare(NULL, 'regress_loss_ana');
SELECT dpboost_drop_model(NULL);
SELECT dpboost_verify(NULL);
SELECT dpboost_train_on('m', 'losses', 'y', NULL);
SELECT dpboost_train(NULL, '{"epsilon": 1}', y, x) FROM losses;


-- text without a list is hashed to as many buckets as the call says
CREATE TABLE texts AS SELECT 'word ' || i % 100 AS word, i % 2 = 0 AS y FROM generate_series(1, 300) i;
SELECT dpboost_train_on('loss_texts', 'texts', 'y', 1) ->> 'version' AS version;
SELECT dpboost_train_on('loss_texts', 'texts', 'y', 1, options => '{"hash_buckets": 32}') ->> 'version' AS version;
SELECT dpboost_train_on('loss_texts', 'texts', 'y', 1, options => '{"hash_buckets": 1}');
SELECT version, features FROM dpboost_models WHERE model = 'loss_texts' ORDER BY 1;
-- a literal that is no number is no missing value
SELECT dpboost_train_on('loss_x', 'losses', 'y', 0.1, features => '{x}') ->> 'version' AS version;
SELECT dpboost_predict('loss_x', 'half');
SELECT dpboost_predict('loss_x', '0.5') = dpboost_predict('loss_x', 0.5) AS same, dpboost_predict('loss_x', NULL) = dpboost_predict('loss_x', 'NaN') AS missing;
SELECT dpboost_predict('loss_x', 0.5, 0.6);
SELECT dpboost_predict('loss_x', ARRAY[0.5, 0.6]);
-- options by the names that other libraries give them
SELECT key, dpboost_estimate('losses', 'y', 1, features => '{x}', options => jsonb_build_object(key, 1)) FROM unnest('{weight}'::text[]) key;
SELECT dpboost_estimate('losses', 'y', 1, features => '{x}', options => '{"early_stopping_rounds": 10}');
SELECT dpboost_estimate('losses', 'y', 1, features => '{x}', options => '{"eta": 0.1}');
-- functions of an index that rely on search_path: the error says why
\set SHOW_CONTEXT errors
CREATE FUNCTION half(float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2';
CREATE FUNCTION quarter(float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN half(half($1)); END';
CREATE VIEW halves AS SELECT patient, x, quarter(x) AS q, y FROM losses;
SELECT dpboost_train_on('loss_h', 'halves', 'y', 0.1, features => '{x,q}', options => '{"bounds": {"q": [0, 1]}}');
\set SHOW_CONTEXT never

-- releases of a table stay in its owner's ledger when it is dropped, and when another takes its name
SELECT count(*) FROM dpboost_ledger WHERE 'public.texts' = ANY (relations);
DROP TABLE texts;
SELECT count(*), min(role) = 'regress_loss_owner' AS own FROM dpboost_ledger WHERE 'public.texts' = ANY (relations);
RESET ROLE;
CREATE TABLE regress_kept AS SELECT 0.5::float8 AS x, true AS y;
ALTER TABLE regress_kept OWNER TO regress_loss_owner;
SELECT dpboost_train_on('loss_kept', 'regress_kept', 'y', 1, options => '{"bounds": [0, 1]}') ->> 'version' AS version;
SET ROLE regress_loss_owner;
SELECT count(*) AS by_another FROM dpboost_ledger WHERE 'public.regress_kept' = ANY (relations);
DROP TABLE regress_kept;
SELECT count(*) AS still_there FROM dpboost_ledger WHERE 'public.regress_kept' = ANY (relations);
CREATE TABLE regress_kept (x int);
SELECT count(*) AS still_there FROM dpboost_ledger WHERE 'public.regress_kept' = ANY (relations);
SET ROLE regress_loss_ana;
SELECT count(*) AS of_others FROM dpboost_ledger WHERE 'public.regress_kept' = ANY (relations);
SET ROLE regress_loss_owner;
DROP TABLE regress_kept;
SELECT dpboost_drop_model('loss_x'), dpboost_drop_model('loss_texts');
DROP VIEW limits, halves;
DROP FUNCTION quarter, half;
DROP TABLE losses;
RESET ROLE;
SELECT dpboost_drop_model('loss_kept');
REVOKE CREATE ON SCHEMA public FROM regress_loss_owner;
DROP ROLE regress_loss_owner, regress_loss_ana;
