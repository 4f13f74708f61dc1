-- A ledger that was damaged on disk or by an administrator: what cannot be read is not taken for nothing. Nothing is charged
-- or released until it is whole again; totals of one table do not concern another.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
\set train '{"method": "sbdt", "trees": 2, "subsample": 1}'
SET client_min_messages = warning;
CREATE SCHEMA regress_damage;
SET search_path = regress_damage, public;
CREATE TABLE a (x int CHECK (x BETWEEN 0 AND 9), y boolean);
CREATE TABLE b (LIKE a INCLUDING ALL);
SELECT dpboost_protect('a', 5, 1e-6), dpboost_protect('b', 5, 1e-6);
SELECT dpboost_train_on('regress_damage', r, 'y', epsilon => 0.1, options => :'train') IS NOT NULL FROM unnest('{a,b}'::regclass[]) r;
CREATE FUNCTION attempt(relation regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE before bigint = (SELECT count(*) FROM dpboost.ledger);
BEGIN
    PERFORM dpboost_train_on('regress_damage', relation, 'y', epsilon => 0.1, options => '{"method": "sbdt", "trees": 2, "subsample": 1}');
    RETURN 'trained';
EXCEPTION WHEN OTHERS THEN
    RETURN concat_ws(' ', SQLSTATE, SQLERRM) || CASE WHEN before = (SELECT count(*) FROM dpboost.ledger) THEN ', nothing charged' END;
END$$;
CREATE TEMP TABLE whole AS SELECT total_id, spent FROM dpboost.total;
CREATE TEMP TABLE ours AS SELECT total_id FROM dpboost.total WHERE relation_ids && ARRAY(
    SELECT relation_id FROM dpboost.relation_name WHERE relation::oid = 'a'::regclass);
SELECT count(*) FROM ours;

-- its totals: another byte, cut off, empty
SET session_replication_role = replica;
UPDATE dpboost.total SET spent = set_byte(spent, 20, get_byte(spent, 20) # 1) WHERE total_id IN (SELECT total_id FROM ours);
SELECT attempt('a'), attempt('b');
SELECT dpboost_verify() -> 'ok';
UPDATE dpboost.total SET spent = substr(spent, 1, 100) WHERE total_id IN (SELECT total_id FROM ours);
SELECT attempt('a');
UPDATE dpboost.total SET spent = '' WHERE total_id IN (SELECT total_id FROM ours);
SELECT attempt('a');
SELECT attempt('b');
UPDATE dpboost.total t SET spent = w.spent FROM whole w WHERE w.total_id = t.total_id AND t.total_id IN (SELECT total_id FROM ours);
SELECT attempt('a');
SELECT dpboost_verify() -> 'ok';

-- the ledger itself, with totals that have to be made anew of it
CREATE TEMP TABLE plans AS SELECT release_id, plan FROM dpboost.ledger;
UPDATE dpboost.ledger SET plan = set_byte(plan, 30, get_byte(plan, 30) # 255)
WHERE release_id = (SELECT max(release_id) FROM dpboost.charge JOIN dpboost.relation_name USING (relation_id) WHERE relation::oid = 'a'::regclass);
SELECT attempt('a');
DELETE FROM dpboost.total WHERE total_id IN (SELECT total_id FROM ours);
SELECT attempt('a');
UPDATE dpboost.ledger l SET plan = p.plan FROM plans p WHERE p.release_id = l.release_id AND p.plan <> l.plan;
SELECT attempt('a');
SELECT dpboost_verify() -> 'ok';
RESET session_replication_role;

SELECT dpboost_drop_model('regress_damage');
DROP SCHEMA regress_damage CASCADE;
