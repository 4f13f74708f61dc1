-- The next version of a model goes on from one that is there, with the rows of today.
SET client_min_messages = warning;
CREATE ROLE regress_upd_ana;
CREATE ROLE regress_upd_bob;
CREATE TABLE regress_upd AS SELECT i AS id, i / 100.0::float8 AS x, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS kind, i % 2 = 0 AS ill, i / 10.0::float8 AS los, CASE WHEN i % 2 = 0 THEN 'yes' ELSE 'no' END AS verdict FROM generate_series(1, 100) i;
SELECT dpboost_set_domain('regress_upd', 'x', 0, 1);
SELECT dpboost_set_domain('regress_upd', 'kind', '{a,b}');
SELECT dpboost_set_domain('regress_upd', 'los', 0, 10);
SELECT dpboost_protect('regress_upd', epsilon => 20);
SELECT dpboost_set_budget('regress_upd', 'regress_upd_ana', epsilon => 18);
SET ROLE regress_upd_ana;
CREATE FUNCTION pg_temp.trained(model text, target name, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
    $$SELECT dpboost_train_on(model, 'regress_upd', target, 0.5, features => '{x,kind}', options => more) - '{remaining,release_id,base_rate}'::text[]$$;
CREATE FUNCTION pg_temp.updated(model text, more jsonb DEFAULT '{}', epsilon float8 DEFAULT 0.5) RETURNS jsonb LANGUAGE sql AS
    $$SELECT dpboost_update(model, 'regress_upd', epsilon, options => more) - '{remaining,release_id,base_rate}'::text[]$$;

-- both methods that can, both tasks, a text target
SELECT pg_temp.trained('upd', 'ill') ->> 'version' AS version;
SELECT pg_temp.updated('upd');
SELECT pg_temp.updated('upd') -> 'updates' AS updates;
SELECT pg_temp.trained('upd_los', 'los', '{"method": "sbdt", "trees": 6, "depth": 2}') ->> 'version' AS version;
SELECT pg_temp.updated('upd_los');
SELECT pg_temp.updated('upd_los', '{"trees": 4, "deploy": false}');
SELECT pg_temp.trained('upd_verdict', 'verdict', '{"positive": "yes"}') ->> 'version' AS version;
SELECT pg_temp.updated('upd_verdict', '{"old_weight": 0.5}') -> 'version' AS version;
SELECT model, version, live, method, target, positive, options FROM dpboost_models WHERE model LIKE 'upd%' ORDER BY model, version;
-- what was given to an update holds for it alone: options of the training stay those of the model
SELECT pg_temp.updated('upd_los@3') ->> 'trees' AS trees;
-- encodings are the model's, and the update predicts something else than its model
SELECT count(DISTINCT features) AS encodings FROM dpboost_models WHERE model = 'upd';
SELECT dpboost_predict('upd@1', 0.5, 'a') = dpboost_predict('upd@2', 0.5, 'a') AS same;
SELECT dpboost_predict('upd', 0.5, 'a') BETWEEN 0 AND 1 AS a_probability;
-- which version it goes on from: the live one, or the one that is named
SELECT dpboost_deploy('upd', 1);
SELECT pg_temp.updated('upd') -> 'updates' AS of_the_live_one;
SELECT pg_temp.updated('regress_upd_ana.upd@2') -> 'updates' AS of_the_one_named;
-- it is charged like a training
SELECT kind, model, version, method, epsilon, delivered FROM dpboost_ledger WHERE model = 'upd' ORDER BY release_id;
SELECT (dpboost_verify(max(release_id)) ->> 'ok')::boolean AS ok FROM dpboost_ledger WHERE model = 'upd';

-- an estimate charges nothing, and what does not fit is charged nothing
SELECT count(*) AS releases FROM dpboost_ledger \gset
SELECT dpboost_estimate_update('upd', 'regress_upd', 0.5) - '{remaining,trainings_left}'::text[];
SELECT dpboost_estimate_update('upd', 'regress_upd', 50) -> 'fits' AS fits;
SELECT dpboost_estimate_update('upd', 'regress_upd', 0.5, options => '{"evaluate": 0.1}') -> 'with_evaluation' -> 'evaluate' AS evaluate;
SELECT dpboost_update('upd', 'regress_upd', 50);
-- what the model has fixed
SELECT pg_temp.updated('upd', '{"bounds": {"x": [0, 0.5]}}');
SELECT pg_temp.updated('upd', '{"method": "sbdt"}');
SELECT pg_temp.updated('upd', '{"objective": "logistic"}');
SELECT pg_temp.updated('upd', '{"positive": "no"}');
-- other mistakes
SELECT pg_temp.updated('upd', '{"learning_rate": 0.1}');
SELECT pg_temp.updated('upd', '{"old_weight": 2}');
SELECT pg_temp.updated('upd', '{"epsilon": 1}');
SELECT pg_temp.updated('upd', '[]');
SELECT dpboost_update(NULL, 'regress_upd', 1);
SELECT dpboost_update('upd', 'regress_upd', NULL);
SELECT dpboost_update('upd', 'regress_upd', 1, options => NULL);
SELECT dpboost_update('upd', 'regress_upd', 0);
SELECT dpboost_update('none', 'regress_upd', 1);
SELECT dpboost_update('upd@9', 'regress_upd', 1);
SELECT dpboost_train_on('upd', 'regress_upd', 'ill', 0.5, features => '{x}', options => '{"old_weight": 0.5}');
-- methods that cannot
SELECT pg_temp.trained('upd_tr', 'ill', '{"method": "dp_tr", "trees": 2}') ->> 'version' AS version;
SELECT pg_temp.updated('upd_tr');
SELECT count(*) - :releases AS charged FROM dpboost_ledger;

-- rights: to the rows those of a training, to the model its owner's
SELECT dpboost_share('upd', 'regress_upd_bob');
RESET ROLE;
SELECT dpboost_set_budget('regress_upd', 'regress_upd_bob', epsilon => 1);
SET ROLE regress_upd_bob;
SELECT dpboost_update('regress_upd_ana.upd', 'regress_upd', 0.5);
SELECT dpboost_estimate_update('regress_upd_ana.upd', 'regress_upd', 0.5);
RESET ROLE;
SELECT dpboost_revoke_budget('regress_upd', 'regress_upd_ana');
SET ROLE regress_upd_ana;
SELECT dpboost_update('upd', 'regress_upd', 0.5);
RESET ROLE;
SELECT dpboost_set_budget('regress_upd', 'regress_upd_ana', epsilon => 18);

-- another table: columns by name and of a type that the model reads; no wider than its owner declared
CREATE TABLE regress_upd_next (kind text, x float8, ill boolean, more int);
INSERT INTO regress_upd_next SELECT 'a', i / 100.0, i % 2 = 0, i FROM generate_series(1, 100) i;
GRANT SELECT ON regress_upd_next TO regress_upd_ana;
SET ROLE regress_upd_ana;
SELECT dpboost_update('upd', 'regress_upd_next', 0.5) -> 'version' AS version;
RESET ROLE;
SELECT dpboost_set_domain('regress_upd_next', 'x', 0, 0.5);
SELECT dpboost_protect('regress_upd_next', epsilon => 5);
SET ROLE regress_upd_ana;
SELECT dpboost_update('upd', 'regress_upd_next', 0.5);
SELECT dpboost_update('upd_los', 'regress_upd_next', 0.5);
RESET ROLE;
SELECT dpboost_drop_domain('regress_upd_next', 'x');
SELECT dpboost_set_domain('regress_upd_next', 'kind', '{a}');
SET ROLE regress_upd_ana;
SELECT dpboost_update('upd', 'regress_upd_next', 0.5);
RESET ROLE;
ALTER TABLE regress_upd_next ALTER x TYPE text;
SET ROLE regress_upd_ana;
SELECT dpboost_update('upd', 'regress_upd_next', 0.5);
RESET ROLE;
ALTER TABLE regress_upd_next DROP x;
SET ROLE regress_upd_ana;
SELECT dpboost_update('upd', 'regress_upd_next', 0.5);
-- a privacy unit is no feature, also of a model that has it
RESET ROLE;
SELECT dpboost_protect('regress_upd', epsilon => 20, privacy_unit => 'kind', accept_earlier => true);
SET ROLE regress_upd_ana;
SELECT dpboost_update('upd', 'regress_upd', 0.5);

-- an imported model does not say which column it predicts
SELECT dpboost_import('upd_imported', dpboost_export('upd'));
SELECT dpboost_update('upd_imported', 'regress_upd', 0.5);

SELECT dpboost_drop_model(m) FROM unnest('{upd,upd_los,upd_verdict,upd_tr,upd_imported}'::text[]) m;
RESET ROLE;
DROP TABLE regress_upd, regress_upd_next;
DROP FUNCTION pg_temp.trained, pg_temp.updated;
DROP ROLE regress_upd_ana, regress_upd_bob;
