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

-- few lines are looked through, of many an index finds those that matter: a release goes into the line of the same tables and roles
CREATE TABLE few (LIKE a INCLUDING ALL);
ALTER TABLE few OWNER TO regress_count_owner;
CREATE FUNCTION lines() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(array_to_string(role_names, '+') || ' ' || (SELECT count(*) FROM dpboost.ledger l JOIN dpboost.charged c USING (release_id)
        WHERE (c.relation_ids, c.direct_ids, c.role_names) = (t.relation_ids, t.direct_ids, t.role_names)), ', ' ORDER BY role_names)
    FROM dpboost.total t WHERE relation_ids && (SELECT array_agg(relation_id) FROM dpboost.relation_name WHERE relation::oid = 'few'::regclass)
$$;
SET ROLE regress_count_owner;
SELECT dpboost_set_budget('few', r, 2, 1e-6) FROM unnest('{regress_count_ana,regress_count_rob}'::regrole[]) r;
RESET ROLE;
CREATE PROCEDURE in_turn() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..2 LOOP
        SET LOCAL ROLE regress_count_ana;
        PERFORM train('few', 0.01, 'auto');
        SET LOCAL ROLE regress_count_rob;
        PERFORM train('few', 0.01, 'auto');
        RESET ROLE;
        COMMIT;
    END LOOP;
END$$;
VACUUM FULL dpboost.total;
SELECT pg_relation_size('dpboost.total') <= 32 * 8192 AS few;
CALL in_turn();
SELECT lines();
SELECT grantee, releases FROM budgets WHERE relation = 'few'::regclass;
SET session_replication_role = replica;
INSERT INTO dpboost.total (relation_ids, direct_ids, roles, role_names, first_release_id, last_release_id, spent)
SELECT ARRAY[-i], '{}', '{}', '{}', 0, 0, convert_to(repeat('x', 900), 'UTF8') FROM generate_series(1, 300) i;
RESET session_replication_role;
SELECT pg_relation_size('dpboost.total') > 32 * 8192 AS many;
CALL in_turn();
SELECT lines();
SELECT grantee, releases FROM budgets WHERE relation = 'few'::regclass;
SELECT dpboost_verify() -> 'ok' AS ok;
SET session_replication_role = replica;
DELETE FROM dpboost.total WHERE relation_ids[1] < 0;
RESET session_replication_role;
VACUUM FULL dpboost.total;

SELECT count(dpboost_drop_model(owner || '.' || model)) > 0 FROM (SELECT DISTINCT owner, model FROM dpboost_models WHERE model = 'regress_count') m;
DROP SCHEMA regress_count CASCADE;
DROP ROLE regress_count_owner, regress_count_ana, regress_count_rob;
