-- Models in operation: which version a name means, who owns it, and what it is.
SET client_min_messages = warning;
CREATE ROLE regress_dep_ana;
CREATE ROLE regress_dep_bob;
CREATE ROLE regress_dep_app;
CREATE TABLE regress_dep AS SELECT i / 100.0::float8 AS x, i % 2 = 0 AS ill, CASE WHEN i % 2 = 0 THEN 'yes' ELSE 'no' END AS verdict FROM generate_series(1, 100) i;
GRANT SELECT ON regress_dep TO regress_dep_ana, regress_dep_bob;
CREATE FUNCTION train(model text, more jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS
    $$SELECT r ->> 'version' || CASE WHEN (r -> 'live')::boolean THEN ' live' ELSE '' END
      FROM dpboost_train_on(model, 'regress_dep', 'ill', 1, features => '{x}', options => '{"method": "sbdt", "trees": 1, "subsample": 1, "bounds": [0, 1]}'::jsonb || more) r$$;
CREATE FUNCTION same(a text, b text) RETURNS boolean LANGUAGE sql AS $$SELECT dpboost_predict(a, 0.5) = dpboost_predict(b, 0.5)$$;
CREATE VIEW models AS SELECT model, version, live, target, positive, relations, description FROM dpboost_models WHERE model LIKE 'dep%' ORDER BY model, version;
GRANT SELECT ON models TO PUBLIC;
SET ROLE regress_dep_ana;

-- a version goes live at once, unless told not to
SELECT train('dep');
SELECT train('dep', '{"deploy": false}');
SELECT same('dep', 'dep@1') AS still_one, same('dep', 'dep@2') AS two;
SELECT train('dep');
SELECT same('dep', 'dep@3') AS now_three;
SELECT train('dep', '{"deploy": "no"}');
-- back and forth
SELECT dpboost_deploy('dep', 2);
SELECT same('dep', 'dep@2') AS now_two;
SELECT version, live FROM models;
SELECT dpboost_deploy('dep', 7);
SELECT dpboost_deploy('dep@1', 1);
SELECT dpboost_deploy('dep', NULL);
-- without its live version a model goes back to the one before, and with none it says so
SELECT dpboost_drop_model('dep@2');
SELECT same('dep', 'dep@3') AS back_to_three;
SELECT train('dep_staged', '{"deploy": false}');
SELECT dpboost_predict('dep_staged', 0.5);
SELECT dpboost_predict('dep_staged@1', 0.5) BETWEEN 0 AND 1 AS by_version;
SELECT dpboost_share('dep_staged', 'regress_dep_app');
SELECT dpboost_deploy('regress_dep_ana.dep_staged', 1);
SELECT dpboost_predict('dep_staged', 0.5) BETWEEN 0 AND 1 AS live;

-- what it is
SELECT dpboost_describe('dep_staged', 'who falls ill; asked for by the ward');
SELECT dpboost_train_on('dep_text', 'regress_dep', 'verdict', 1, features => '{x}', options => '{"bounds": [0, 1], "positive": "yes"}') ->> 'version' AS version;
SELECT dpboost_train('dep_query', '{"epsilon": 1, "bounds": [0, 1], "target_range": [0, 2]}', x * 2, x) ->> 'version' AS version FROM regress_dep;
SELECT * FROM models;
SELECT dpboost_describe('dep_staged', NULL);
SELECT description IS NULL AS taken_back FROM models WHERE model = 'dep_staged';

-- in a transaction with a snapshot, and between the fetches of a cursor, the version stays
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT same('dep', 'dep@3') AS three;
SELECT dpboost_deploy('dep', 1);
SELECT same('dep', 'dep@1') AS own_change;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT dpboost_predict('dep', x) = dpboost_predict('dep@3', x) AS three FROM regress_dep;
FETCH 1 FROM c;
SELECT dpboost_deploy('dep', 1);
FETCH 1 FROM c;
SELECT same('dep', 'dep@1') AS others_see_one;
ROLLBACK;
-- what one has just trained can be used, also where the snapshot is older
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM regress_dep;
SELECT train('dep_new');
SELECT dpboost_predict('dep_new', 0.5) BETWEEN 0 AND 1 AS found;
COMMIT;

-- owners
SET ROLE regress_dep_bob;
SELECT dpboost_deploy('regress_dep_ana.dep', 1);
SELECT dpboost_set_owner('regress_dep_ana.dep', 'regress_dep_bob');
SELECT dpboost_describe('regress_dep_ana.dep', 'mine');
SELECT train('dep_query');
SET ROLE regress_dep_ana;
SELECT dpboost_set_owner('dep', 'regress_dep_bob');
RESET ROLE;
GRANT regress_dep_bob TO regress_dep_ana;
SET ROLE regress_dep_ana;
SELECT dpboost_set_owner('dep_query', 'regress_dep_bob');
SELECT dpboost_set_owner('dep_staged', 'regress_dep_bob');
SELECT dpboost_set_owner('regress_dep_bob.dep_staged', NULL);
SET ROLE regress_dep_app;
SELECT dpboost_predict('regress_dep_bob.dep_staged', 0.5) BETWEEN 0 AND 1 AS still_shared;
SET ROLE regress_dep_bob;
SELECT train('dep_staged');
-- a full name with a version means one model for ever, also when the model was given away, and comes back
SET ROLE regress_dep_ana;
SELECT train('dep_staged');
SELECT dpboost_drop_model('regress_dep_ana.dep_staged');
SELECT dpboost_set_owner('regress_dep_bob.dep_staged', 'regress_dep_ana');
SELECT train('dep');
SELECT dpboost_set_owner('dep', 'regress_dep_bob');
SELECT dpboost_set_owner('regress_dep_bob.dep', 'regress_dep_ana');
SELECT train('dep');

-- a role that goes leaves its models; superusers and the database's owner give them to another
RESET ROLE;
REVOKE regress_dep_bob FROM regress_dep_ana;
REVOKE SELECT ON regress_dep FROM regress_dep_bob;
DROP ROLE regress_dep_bob;
SELECT owner, full_name, version, live FROM dpboost_models WHERE model LIKE 'dep%' AND owner LIKE '!%' ORDER BY 2, 3;
SELECT dpboost_set_owner('!regress_dep_bob.dep_staged', 'regress_dep_app');
CREATE ROLE regress_dep_dba;
SET ROLE regress_dep_dba;
SELECT count(*) FROM dpboost_models WHERE model LIKE 'dep%';
SELECT dpboost_set_owner('!regress_dep_bob.dep_query', 'regress_dep_dba');
RESET ROLE;
ALTER DATABASE :"DBNAME" OWNER TO regress_dep_dba;
SET ROLE regress_dep_dba;
SELECT full_name, version FROM dpboost_models WHERE model LIKE 'dep%';
SELECT dpboost_set_owner('!regress_dep_bob.dep_query', 'regress_dep_app');
SELECT dpboost_set_owner('!regress_dep_bob.dep_query', 'regress_dep_dba');
SELECT full_name, version, live FROM dpboost_models WHERE model LIKE 'dep%';
RESET ROLE;
ALTER DATABASE :"DBNAME" OWNER TO CURRENT_USER;
SET ROLE regress_dep_app;
SELECT dpboost_predict('dep_staged', 0.5) BETWEEN 0 AND 1 AS works;
SELECT train('dep_staged');
RESET ROLE;
GRANT SELECT ON regress_dep TO regress_dep_app;
SET ROLE regress_dep_app;
SELECT train('dep_staged');
RESET ROLE;
SELECT count(dpboost_drop_model(full_name)) FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE model LIKE 'dep%') m;
DROP VIEW models;
DROP FUNCTION train, same;
DROP TABLE regress_dep;
DROP ROLE regress_dep_ana, regress_dep_app, regress_dep_dba;
