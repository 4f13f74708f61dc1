-- What counts against a limit, when totals are lost, tables change families and roles change names.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE ROLE regress_count_bob;
\set ward regress_count
\i sql/setup/ward.sql
CREATE TABLE a (x int CHECK (x BETWEEN 0 AND 100), y float8 CHECK (y BETWEEN 0 AND 10));
SELECT dpboost_set_budget('a', 'regress_count_ana', 1, 1e-6);
GRANT SELECT ON a TO regress_count_bob;
CREATE FUNCTION train(relation regclass, epsilon float8, method text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dpboost_train_on('regress_count', relation, 'y', epsilon => epsilon,
                             options => jsonb_build_object('method', method) || CASE method WHEN 'auto' THEN '{}' ELSE '{"trees": 4, "subsample": 0.5}' END::jsonb);
    RETURN 'trained';
EXCEPTION WHEN configuration_limit_exceeded THEN
    RETURN sqlerrm;
END$$;
CREATE VIEW budgets AS
    SELECT relation, grantee, releases, round(epsilon_remaining::numeric, 2) AS remaining FROM dpboost_budgets
    ORDER BY relation::text, grantee::text NULLS FIRST;
GRANT SELECT ON budgets TO PUBLIC;

-- totals that were lost are missed by the next charge, also one of a role without a limit
SET ROLE regress_count_ana;
SELECT train('a', 0.9, 'auto');
SELECT train('a', 0.9, 'auto');
RESET ROLE;
SET session_replication_role = replica;
DELETE FROM dpboost.total;
RESET session_replication_role;
SET ROLE regress_count_bob;
SELECT train('a', 0.1, 'auto');
SET ROLE regress_count_owner;
SELECT * FROM budgets;
SELECT dpboost_verify();
SET ROLE regress_count_ana;
SELECT train('a', 0.9, 'auto');

-- a table that joins a family brings what it released, and never makes room
SET ROLE regress_count_owner;
CREATE TABLE q (LIKE a INCLUDING ALL);
CREATE TABLE p (LIKE a INCLUDING ALL);
SELECT train('q', 0.01, 'sbdt');
SELECT dpboost_protect('p', 1, 1e-6);
SELECT train('p', 0.88, 'auto');
SELECT train('p', 0.02, 'sbdt');
ALTER TABLE q INHERIT p;
SELECT train('p', 0.02, 'sbdt');
SELECT dpboost_verify();
ALTER TABLE q NO INHERIT p;
SELECT train('p', 0.02, 'sbdt');

-- a role that was dropped, made again, granted again and renamed keeps what was spent under either name
SELECT dpboost_set_budget('q', 'regress_count_bob', 1, 1e-6);
SET ROLE regress_count_bob;
SELECT train('q', 0.9, 'auto');
RESET ROLE;
DROP OWNED BY regress_count_bob;
DROP ROLE regress_count_bob;
CREATE ROLE regress_count_bob;
SET ROLE regress_count_owner;
SELECT dpboost_set_budget('q', 'regress_count_bob', 1, 1e-6);
RESET ROLE;
ALTER ROLE regress_count_bob RENAME TO regress_count_rob;
SET ROLE regress_count_owner;
SELECT * FROM budgets WHERE relation = 'q'::regclass;
SELECT dpboost_set_budget('q', 'regress_count_rob', 1, 1e-6);
SELECT * FROM budgets WHERE relation = 'q'::regclass;
SELECT dpboost_verify();
RESET ROLE;

SELECT count(dpboost_drop_model(owner || '.' || model)) > 0 FROM (SELECT DISTINCT owner, model FROM dpboost_models WHERE model = 'regress_count') m;
DROP SCHEMA regress_count CASCADE;
DROP ROLE regress_count_owner, regress_count_ana, regress_count_rob;
