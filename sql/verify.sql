-- Running totals equal a full count, whatever happens to relations, roles and limits; and releases can be proven again.
\set VERBOSITY terse
\set train '{"method": "sbdt", "trees": 4, "subsample": 1}'
\set sampled '{"method": "sbdt", "trees": 4, "subsample": 0.1}'
CREATE ROLE regress_ver_owner;
CREATE ROLE regress_ver_group;
CREATE ROLE regress_ver_ana IN ROLE regress_ver_group;
CREATE ROLE regress_ver_bob;
CREATE SCHEMA regress_ver AUTHORIZATION regress_ver_owner;
GRANT USAGE ON SCHEMA regress_ver TO PUBLIC;
SET search_path = regress_ver, public;
SET ROLE regress_ver_owner;
CREATE TABLE a (x int CHECK (x BETWEEN 0 AND 100), y float8 CHECK (y BETWEEN 0 AND 10));
CREATE TABLE b (LIKE a INCLUDING ALL);
CREATE VIEW v AS SELECT x, y FROM a;
-- a release from before the table was protected
SELECT dpboost_train_on('regress_ver_early', 'a', 'y', epsilon => 0.1, options => :'train') ->> 'version';
SELECT dpboost_protect(r, 10, 1e-6), dpboost_set_budget(r, 'regress_ver_ana', 3, 1e-6), dpboost_set_budget(r, 'regress_ver_group', 5, 1e-6)
FROM unnest('{a,b,v}'::regclass[]) r;
SET ROLE regress_ver_ana;
SELECT dpboost_train_on('regress_ver', r, 'y', epsilon => 0.1, options => o::jsonb) ->> 'version'
FROM unnest('{a,b,v}'::regclass[]) r, unnest(ARRAY[:'train', :'sampled', '{}']) o;
SET ROLE regress_ver_owner;
SELECT relation, grantee, releases FROM dpboost_budgets ORDER BY relation::text, grantee::text NULLS FIRST;
SELECT dpboost_verify();

-- every release that one sees can be proven again, and no other
SELECT count(*), bool_and((v ->> 'ok')::boolean) AS ok, bool_and((v ->> 'epsilon_claimed')::float8 = epsilon) AS claimed,
       bool_and((v ->> 'epsilon_proven')::float8 BETWEEN 0.9 * epsilon AND epsilon * 1.0001) AS proven
FROM (SELECT epsilon, dpboost_verify(release_id) AS v FROM dpboost_ledger) l;
SELECT release_id FROM dpboost_ledger LIMIT 1 \gset
SELECT array_agg(key ORDER BY key) FROM jsonb_each(dpboost_verify(:release_id));
SET ROLE regress_ver_ana;
SELECT dpboost_verify();
SELECT bool_and((dpboost_verify(release_id) ->> 'ok')::boolean) FROM dpboost_ledger;
SET ROLE regress_ver_bob;
SELECT dpboost_verify();
SELECT dpboost_verify(0);
DO $$BEGIN
    PERFORM dpboost_verify(release_id) FROM generate_series(1, 100000) release_id;
EXCEPTION WHEN undefined_object THEN
    RAISE NOTICE 'refused';
END$$;
SELECT dpboost_verify(NULL) IS NULL AS nothing;

-- rare sampling: what is shown as spent is what is proven, not less
SET ROLE regress_ver_owner;
CREATE TABLE rare (LIKE a INCLUDING ALL);
SELECT dpboost_protect('rare', 10, 1e-6);
SELECT dpboost_train_on('regress_ver_rare', 'rare', 'y', epsilon => 1,
                        options => '{"method": "sbdt", "subsample": 0.002, "trees": 20, "initial_share": 0}') ->> 'version';
SELECT round(epsilon_spent::numeric, 3) AS spent, round(epsilon_spent_adaptive::numeric, 3) AS adaptive
FROM dpboost_budgets WHERE relation = 'rare'::regclass;

-- a relation of two identities: what was charged to both counts once
SET ROLE regress_ver_owner;
DROP TABLE b;
ALTER TABLE a RENAME TO b;
SELECT relation, grantee, releases FROM dpboost_budgets WHERE relation = 'b'::regclass ORDER BY grantee::text NULLS FIRST;
SELECT dpboost_protect('b', 10, 1e-6);
SELECT dpboost_train_on('regress_ver_early', 'b', 'y', epsilon => 0.1, options => :'train') ->> 'version';
SELECT relation, grantee, releases FROM dpboost_budgets WHERE relation = 'b'::regclass ORDER BY grantee::text NULLS FIRST;
SELECT dpboost_verify();
-- limits raised and lowered, with other orders
SELECT dpboost_protect('b', 3, 1e-6);
SELECT dpboost_verify() -> 'ok' AS ok, epsilon_spent > 0.2 AND epsilon_spent < epsilon_spent_adaptive AS spent
FROM dpboost_budgets WHERE relation = 'b'::regclass AND grantee IS NULL;
SELECT dpboost_protect('b', 50, 1e-4), dpboost_set_budget('b', 'regress_ver_ana', 0.5, 0);
SELECT dpboost_verify();
-- partitions: once through the parent, once by itself
CREATE TABLE parts (x int CHECK (x BETWEEN 0 AND 100), y float8 CHECK (y BETWEEN 0 AND 10)) PARTITION BY RANGE (x);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (50);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (50) TO (101);
SELECT dpboost_train_on('regress_ver_p', 'parts', 'y', epsilon => 0.1, options => :'train') ->> 'version';
SELECT dpboost_protect('parts', 5, 1e-6), dpboost_protect('parts_low', 5, 1e-6);
SELECT dpboost_train_on('regress_ver_p', r, 'y', epsilon => 0.1, options => :'train') ->> 'version'
FROM unnest('{parts,parts_low,parts_high}'::regclass[]) r;
SELECT relation, releases FROM dpboost_budgets WHERE relation::text LIKE 'parts%' ORDER BY relation::text;
SELECT dpboost_verify();

-- the worker alone changes totals, in the commit of the charge
RESET ROLE;
SELECT max(last_release_id) = (SELECT max(release_id) FROM dpboost.charge) AS up_to_date FROM dpboost.total;
UPDATE dpboost.total SET spent = spent;
DELETE FROM dpboost.total;
TRUNCATE dpboost.total;
-- an administrator who damages one after all is told
SET session_replication_role = replica;
UPDATE dpboost.total SET spent = (SELECT dpboost.spent(plan) FROM dpboost.ledger WHERE model = 'regress_ver_early')
WHERE total_id = (SELECT min(total_id) FROM dpboost.total WHERE 'regress_ver_ana' = ANY (role_names));
SELECT dpboost_verify() -> 'ok' AS ok, jsonb_array_length(dpboost_verify() -> 'mismatches') > 0 AS told;
-- totals that are gone: counted from the ledger, and made anew by the next charge
DELETE FROM dpboost.total;
RESET session_replication_role;
SET ROLE regress_ver_owner;
SELECT relation, grantee, releases FROM dpboost_budgets ORDER BY relation::text, grantee::text NULLS FIRST;
SELECT dpboost_train_on('regress_ver_p', 'parts_high', 'y', epsilon => 0.1, options => :'train') ->> 'version';
RESET ROLE;
SELECT count(*) > 1 AS made_anew, max(last_release_id) = (SELECT max(release_id) FROM dpboost.charge) AS up_to_date FROM dpboost.total;
SET ROLE regress_ver_owner;
SELECT dpboost_verify();

-- a forged ledger
RESET ROLE;
SET session_replication_role = replica;
CREATE TEMP TABLE honest AS SELECT release_id, plan, epsilon, curve FROM dpboost.ledger WHERE model = 'regress_ver_p';
SELECT release_id, epsilon FROM dpboost.ledger WHERE model = 'regress_ver_p' AND version = 1 \gset
UPDATE dpboost.ledger SET epsilon = epsilon / 2 WHERE release_id = :release_id;
SELECT dpboost_verify(:release_id) - 'release_id' - 'epsilon_proven' AS forged;
UPDATE dpboost.ledger SET epsilon = :epsilon, curve = (SELECT array_agg(c / 2) FROM unnest(curve) c) WHERE release_id = :release_id;
SELECT dpboost_verify(:release_id) -> 'problem' AS forged;
UPDATE dpboost.ledger SET plan = set_byte(plan, 20, 7) WHERE release_id = :release_id;
SELECT dpboost_verify(:release_id) -> 'problem' AS forged;
UPDATE dpboost.ledger l SET plan = h.plan, epsilon = h.epsilon, curve = h.curve FROM honest h WHERE h.release_id = l.release_id;
SELECT dpboost_verify(:release_id) -> 'ok' AS honest;
RESET session_replication_role;

SELECT count(dpboost_drop_model(model)) > 0 AS dropped FROM (SELECT DISTINCT model FROM dpboost_models WHERE model LIKE 'regress\_%') m;
DROP TABLE honest;
DROP SCHEMA regress_ver CASCADE;
DROP ROLE regress_ver_owner, regress_ver_group, regress_ver_ana, regress_ver_bob;
