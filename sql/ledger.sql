-- What a training pays and what it gets: the charge is committed before anything is drawn, the model after it, and the
-- ledger says which charges have brought one.
SET client_min_messages = warning;
CREATE ROLE regress_payer;
CREATE ROLE regress_other;
CREATE TABLE paid (age int CHECK (age BETWEEN 0 AND 100), region text, ill boolean);
INSERT INTO paid SELECT i % 100, 'r' || i % 3, i % 7 = 0 FROM generate_series(1, 300) i;
SELECT dpboost_protect('paid', 5, 1e-6);
SELECT dpboost_set_budget('paid', 'regress_payer', 1, 1e-6);
SELECT coalesce(max(release_id), 0) AS last FROM dpboost_ledger \gset

-- the result names its entry in the ledger, and the entry is delivered
SET ROLE regress_payer;
SELECT dpboost_train_on('regress_paid', 'paid', 'ill', 0.1, features => '{age}') AS result \gset
SELECT release_id, model, version, delivered FROM dpboost_ledger WHERE release_id > :last \gset entry_
SELECT :'result'::jsonb ->> 'release_id' = :'entry_release_id' AS same_release, :'entry_model' AS model, :'entry_version' AS version, :'entry_delivered' AS delivered;
SELECT dpboost_estimate('paid', 'ill', 0.1, features => '{age}') ? 'release_id' AS estimated;

-- it stays delivered when the model is gone, and its version is not used again
SELECT dpboost_drop_model('regress_paid');
SELECT version, delivered FROM dpboost_ledger WHERE release_id > :last;
SELECT dpboost_train_on('regress_paid', 'paid', 'ill', 0.1, features => '{age}') ->> 'version' AS version;

-- a call that cannot be served is refused before it is charged, also where the reason is the calibrated noise
SELECT dpboost_train_on('regress_paid', 'paid', 'ill', 1e-12, 1e-15, features => '{age}');
SELECT dpboost_estimate('paid', 'ill', 1e-12, 1e-15, features => '{age}');
SELECT dpboost_train_on('regress_paid', 'paid', 'ill', 1e-12, 1e-15, features => '{age}', options => '{"method": "sbdt"}');
\set VERBOSITY terse
SELECT dpboost_train_on('regress_paid', 'paid', 'ill', 2, features => '{age}');
SELECT count(*) AS charged FROM dpboost_ledger WHERE release_id > :last;

-- every group pays for itself: what was delivered before a group that cannot pay stays, and that group has drawn nothing
RESET ROLE;
CREATE TABLE paid_by_region AS SELECT * FROM paid;
SELECT dpboost_protect('paid_by_region', 1, 1e-6);
SELECT dpboost_set_domain('paid_by_region', 'age', 0, 100);
SELECT coalesce(max(release_id), 0) AS last FROM dpboost_ledger \gset
SELECT region, dpboost_train('regress_paid_' || region, '{"epsilon": 0.8}', ill, age) FROM paid_by_region GROUP BY region ORDER BY region;
SELECT model, delivered FROM dpboost_ledger WHERE release_id > :last;
SELECT count(*) FROM dpboost_models WHERE model LIKE 'regress_paid_r%';
\set VERBOSITY default

-- nobody changes what was paid or delivered, and others do not see it
UPDATE dpboost.delivery SET release_id = release_id + 1;
DELETE FROM dpboost.delivery;
TRUNCATE dpboost.delivery;
SET ROLE regress_other;
SELECT count(*) FROM dpboost.delivery;
SELECT count(*) FROM dpboost_ledger;
RESET ROLE;
SELECT count(*) FROM dpboost.delivery d LEFT JOIN dpboost.ledger l USING (release_id) WHERE l.release_id IS NULL;
SELECT count(*) FROM dpboost.model m LEFT JOIN dpboost.delivery d USING (release_id) WHERE d.release_id IS NULL;

-- a wrapper that calls itself parallel safe does not make it so
SELECT coalesce(max(release_id), 0) AS last FROM dpboost_ledger \gset
CREATE FUNCTION train_in_parallel(i int) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
BEGIN
    RETURN dpboost_train_on('regress_parallel', 'paid', 'ill', 0.01, features => '{age}');
END $$;
ALTER TABLE paid SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
\set SHOW_CONTEXT never
SELECT count(train_in_parallel(age)) FROM paid;
SELECT count(*) AS charged FROM dpboost_ledger WHERE release_id > :last;

RESET ALL;
DROP FUNCTION train_in_parallel(int);
DROP TABLE paid, paid_by_region;
SELECT dpboost_drop_model(full_name) FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE model LIKE 'regress_paid%') m;
DROP ROLE regress_payer, regress_other;
