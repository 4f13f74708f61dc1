-- What an analyst may try with the privileges he has: each block is one attack.
\set VERBOSITY terse
\set train '{"method": "sbdt", "trees": 4, "subsample": 1}'
CREATE ROLE regress_att_owner;
CREATE ROLE regress_att_group;
CREATE ROLE regress_att_member IN ROLE regress_att_group;
CREATE ROLE regress_att_noinherit NOINHERIT IN ROLE regress_att_group;
CREATE ROLE regress_att_ana;
CREATE ROLE regress_att_eve;
CREATE SCHEMA regress_att AUTHORIZATION regress_att_owner;
GRANT USAGE ON SCHEMA regress_att TO PUBLIC;
CREATE SCHEMA regress_eve AUTHORIZATION regress_att_eve;
GRANT USAGE ON SCHEMA regress_eve TO PUBLIC;
SET search_path = regress_att, public;
SET ROLE regress_att_owner;
CREATE TABLE visits (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
INSERT INTO visits SELECT i, i % 100, i % 1000 FROM generate_series(1, 500) i;
SELECT dpboost_protect('visits', 5, 1e-6);
SELECT dpboost_set_budget('visits', 'regress_att_ana', 1, 1e-6);

-- attack: no budget and no SELECT
SET ROLE regress_att_eve;
SELECT dpboost_train_on('regress_att', 'visits', 'cost', epsilon => 0.1, options => :'train');
SELECT dpboost_estimate('visits', 'cost', epsilon => 0.1, options => :'train');
-- attack: a budget does not let the rows be read in other ways
SET ROLE regress_att_ana;
SELECT count(*) FROM visits;
SELECT dpboost_train('regress_att', '{"epsilon": 0.1}', cost, age) FROM visits;

-- attack: direct access to the catalog
SELECT count(*) FROM dpboost.ledger;
SELECT count(*) FROM dpboost.model;
UPDATE dpboost.protection SET epsilon = 1000;
DELETE FROM dpboost.charge;
INSERT INTO dpboost.allowance SELECT * FROM dpboost.allowance;
TRUNCATE dpboost.ledger;
BEGIN; LOCK TABLE dpboost.charge_lock; ROLLBACK;
SELECT nextval('dpboost.release_id_seq');
SELECT dpboost.relation_ref_in('regress_att.visits');
-- attack: internal functions (none writes; this one shows what the view shows)
SELECT count(*) FROM dpboost.budgets();
SELECT proname FROM pg_proc WHERE pronamespace = 'dpboost'::regnamespace ORDER BY 1;
-- attack: the worker's entry point as an SQL function
CREATE FUNCTION pg_temp.forge(internal) RETURNS void AS '$libdir/dpboost', 'dpboost_ledger_worker' LANGUAGE c;
RESET ROLE;
CREATE FUNCTION pg_temp.forge(internal) RETURNS void AS '$libdir/dpboost', 'dpboost_ledger_worker' LANGUAGE c;
-- attack, or mistake: an administrator edits the ledger
UPDATE dpboost.ledger SET epsilon = 0;
DELETE FROM dpboost.charge;
TRUNCATE dpboost.charge, dpboost.ledger;
-- attack: drop the extension
SET ROLE regress_att_ana;
DROP EXTENSION dpboost CASCADE;
ALTER EXTENSION dpboost ADD TABLE visits;

-- attack: a budget of a group: members spend the group's, NOINHERIT members only after SET ROLE
SET ROLE regress_att_owner;
SELECT dpboost_set_budget('visits', 'regress_att_group', 0.5, 1e-6);
SET ROLE regress_att_noinherit;
SELECT dpboost_train_on('regress_att_n', 'visits', 'cost', epsilon => 0.1, options => :'train');
SET ROLE regress_att_member;
SELECT dpboost_train_on('regress_att_m', 'visits', 'cost', epsilon => 0.4, options => :'train') ->> 'version';
SET ROLE regress_att_group;
SELECT releases FROM dpboost_budgets WHERE grantee = 'regress_att_group'::regrole;
SELECT dpboost_train_on('regress_att_g', 'visits', 'cost', epsilon => 0.4, options => :'train');
RESET ROLE;
REVOKE regress_att_group FROM regress_att_member;
SET ROLE regress_att_member;
SELECT dpboost_train_on('regress_att_m', 'visits', 'cost', epsilon => 0.01, options => :'train');

-- attack: a function of the owner counts as the owner, one of eve's as eve, whoever calls
SET ROLE regress_att_eve;
CREATE FUNCTION regress_eve.train() RETURNS text LANGUAGE sql SECURITY DEFINER AS
    $$SELECT dpboost_train_on('regress_att_e', 'regress_att.visits', 'cost', epsilon => 0.1) ->> 'version'$$;
SET ROLE regress_att_ana;
SELECT regress_eve.train();
SET ROLE regress_att_owner;
CREATE FUNCTION regress_att.train() RETURNS text LANGUAGE sql SECURITY DEFINER AS
    $$SELECT dpboost_train_on('regress_att_o', 'regress_att.visits', 'cost', epsilon => 0.1,
                              options => '{"method": "sbdt", "trees": 4, "subsample": 1}') ->> 'version'$$;
SET ROLE regress_att_eve;
SELECT regress_att.train();
SET ROLE regress_att_owner;
SELECT role FROM dpboost_ledger WHERE model = 'regress_att_o';

-- attack: someone else's model name
SET ROLE regress_att_ana;
SELECT dpboost_train_on('regress_att_owner.regress_att_o', 'visits', 'cost', epsilon => 0.1, options => :'train');
SELECT dpboost_train_on('regress_att_o@1', 'visits', 'cost', epsilon => 0.1, options => :'train');
SELECT dpboost_train_on('', 'visits', 'cost', epsilon => 0.1, options => :'train');

-- attack: a view of one's own over the protected table
SET ROLE regress_att_eve;
CREATE VIEW regress_eve.mine AS SELECT age, cost FROM regress_att.visits;
SELECT dpboost_set_budget('regress_eve.mine', 'regress_att_eve', 100, 1e-6);
SELECT dpboost_train_on('regress_att_e', 'regress_eve.mine', 'cost', epsilon => 0.1, options => :'train');
-- a view by the owner: its budget and its table's pay alike
SET ROLE regress_att_owner;
CREATE VIEW young AS SELECT age, cost FROM visits WHERE age < 30;
SELECT dpboost_set_budget('young', 'regress_att_eve', 3, 1e-6);
CREATE TEMP TABLE before AS SELECT releases FROM dpboost_budgets WHERE relation = 'visits'::regclass AND grantee IS NULL;
SET ROLE regress_att_eve;
SELECT dpboost_train_on('regress_att_y', 'young', 'cost', epsilon => 0.1, options => :'train') ->> 'version';
SET ROLE regress_att_owner;
SELECT relation, grantee, releases - CASE WHEN grantee IS NULL THEN (SELECT releases FROM before) ELSE 0 END AS charged
FROM dpboost_budgets WHERE (relation = 'visits'::regclass AND grantee IS NULL) OR relation = 'young'::regclass ORDER BY 1;

-- attack: a hostile search_path with operators and functions that look like the real ones
SET ROLE regress_att_eve;
CREATE FUNCTION regress_eve.le(float8, float8) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'owned'; RETURN true; END$$;
CREATE OPERATOR regress_eve.<= (LEFTARG = float8, RIGHTARG = float8, FUNCTION = regress_eve.le);
CREATE FUNCTION regress_eve.eq(oid, oid) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'owned'; RETURN true; END$$;
CREATE OPERATOR regress_eve.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = regress_eve.eq);
CREATE FUNCTION regress_eve.sum(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 0::float8';
CREATE FUNCTION regress_eve.unnest(anyarray) RETURNS SETOF anyelement LANGUAGE sql AS 'SELECT NULL LIMIT 0';
CREATE FUNCTION regress_eve.nextval(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
SET search_path = regress_eve, pg_catalog, public;
SELECT dpboost_train_on('regress_att_e', 'regress_att.visits', 'cost', epsilon => 0.1);
SET ROLE regress_att_ana;
SELECT dpboost_train_on('regress_att_a', 'regress_att.visits', 'cost', epsilon => 0.8,
                        options => '{"method": "sbdt", "trees": 4, "subsample": 1}') ->> 'version';
SELECT dpboost_train_on('regress_att_a', 'regress_att.visits', 'cost', epsilon => 0.8);
SELECT grantee, releases FROM public.dpboost_budgets WHERE grantee IS NOT NULL;
SET search_path = regress_att, public;
-- attack: temporary tables that look like the catalog
CREATE TEMP TABLE allowance (relation oid, grantee oid);
CREATE TEMP TABLE ledger (release_id bigint);
SELECT dpboost_train_on('regress_att_a', 'visits', 'cost', epsilon => 0.8, options => :'train');
DROP TABLE allowance, ledger;

-- attack: ALTER TABLE ... RENAME, then the old name for a new table: both keep what was spent
SET ROLE regress_att_owner;
ALTER TABLE visits RENAME TO visits_2;
SELECT releases > 0 AS still_counted FROM dpboost_budgets WHERE relation = 'visits_2'::regclass AND grantee = 'regress_att_ana'::regrole;
SET ROLE regress_att_ana;
SELECT dpboost_train_on('regress_att_a', 'visits_2', 'cost', epsilon => 0.8, options => :'train');
SET ROLE regress_att_owner;
CREATE TABLE visits (LIKE visits_2 INCLUDING ALL);
SELECT releases > 0 AS still_counted, epsilon FROM dpboost_budgets WHERE relation = 'visits'::regclass;
-- attack: drop and create under the same name: the cap and what was spent stay, the right of others does not
DROP VIEW young;
RESET ROLE;
DROP VIEW regress_eve.mine;
SET ROLE regress_att_owner;
DROP TABLE visits_2, visits;
CREATE TABLE visits_2 (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
SELECT grantee, epsilon, releases > 0 AS still_counted FROM dpboost_budgets WHERE relation = 'visits_2'::regclass;
SET ROLE regress_att_ana;
SELECT dpboost_train_on('regress_att_a', 'visits_2', 'cost', epsilon => 0.8, options => :'train');
SET ROLE regress_att_owner;
SELECT dpboost_set_budget('visits_2', 'regress_att_ana', 1, 1e-6);
SET ROLE regress_att_ana;
SELECT dpboost_train_on('regress_att_a', 'visits_2', 'cost', epsilon => 0.8, options => :'train');

-- attack: a dropped and re-added role has no rights left, and when it gets new ones its spending is still there
RESET ROLE;
SELECT dpboost_drop_model('regress_att_a');
DROP ROLE regress_att_ana;
CREATE ROLE regress_att_ana;
SET ROLE regress_att_ana;
SELECT dpboost_train_on('regress_att_a', 'visits_2', 'cost', epsilon => 0.1, options => :'train');
SELECT count(*) FROM dpboost_ledger;
SET ROLE regress_att_owner;
SELECT dpboost_set_budget('visits_2', 'regress_att_ana', 1, 1e-6);
SET ROLE regress_att_ana;
SELECT dpboost_train_on('regress_att_a', 'visits_2', 'cost', epsilon => 0.8, options => :'train');

-- attack: through a partition, or through the parent
SET ROLE regress_att_owner;
CREATE TABLE parts (age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000)) PARTITION BY RANGE (age);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (50);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (50) TO (101);
SELECT dpboost_protect('parts', 1, 1e-6);
SELECT dpboost_train_on('regress_att_p', 'parts_low', 'cost', epsilon => 0.9, options => :'train') ->> 'version';
SELECT dpboost_train_on('regress_att_p', 'parts_high', 'cost', epsilon => 0.9, options => :'train');
SELECT dpboost_train_on('regress_att_p', 'parts', 'cost', epsilon => 0.9, options => :'train');
SELECT dpboost_unprotect('parts');
SELECT dpboost_train_on('regress_att_p', 'parts', 'cost', epsilon => 0.9, options => :'train') ->> 'version';
SELECT dpboost_protect('parts_high', 1, 1e-6);
SELECT dpboost_train_on('regress_att_p', 'parts_high', 'cost', epsilon => 0.9, options => :'train');
SELECT dpboost_train_on('regress_att_p', 'parts', 'cost', epsilon => 0.9, options => :'train');
SELECT dpboost_train_on('regress_att_p', 'parts_low', 'cost', epsilon => 0.9, options => :'train') ->> 'version';

-- attack: the aggregate through a join, a CTE and a view charges the cap of what it reads
SELECT dpboost_protect('visits_2', 100, 1e-6);
CREATE TABLE ages (age int PRIMARY KEY);
CREATE VIEW v AS SELECT * FROM visits_2;
CREATE TEMP TABLE counted AS SELECT releases FROM dpboost_budgets WHERE relation = 'visits_2'::regclass AND grantee IS NULL;
WITH w AS (SELECT * FROM v) SELECT dpboost_train('regress_att_w', '{"epsilon": 0.1, "method": "sbdt", "trees": 4, "subsample": 1, "bounds": {"age": [0, 100]}, "target_range": [0, 1000]}', w.cost, w.age) ->> 'version' FROM w JOIN ages a ON a.age = w.age;
SELECT releases - (SELECT releases FROM counted) AS charged FROM dpboost_budgets WHERE relation = 'visits_2'::regclass AND grantee IS NULL;

-- attack: another role takes a name that was left: it gets no hold of the cap, and what it releases does not count
CREATE TABLE moved (age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
SELECT dpboost_protect('moved', 1, 1e-6);
SELECT dpboost_train_on('regress_att_moved', 'moved', 'cost', epsilon => 0.1, options => :'train') ->> 'version';
ALTER TABLE moved RENAME TO moved_2;
GRANT CREATE ON SCHEMA regress_att TO regress_att_eve;
SET ROLE regress_att_eve;
CREATE TABLE moved (age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
SELECT dpboost_unprotect('moved');
SELECT dpboost_protect('moved', 100, 1e-3);
SELECT dpboost_train_on('regress_att_eve', 'moved', 'cost', epsilon => 5, options => :'train') ->> 'version';
SELECT role FROM dpboost_ledger WHERE relations = '{regress_att.moved}';
SET ROLE regress_att_owner;
SELECT relation, epsilon, releases FROM dpboost_budgets WHERE relation = 'moved_2'::regclass;
-- and the same between DROP and CREATE
DROP TABLE moved_2;
SET ROLE regress_att_eve;
DROP TABLE moved;
CREATE TABLE moved_2 (age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
SELECT dpboost_unprotect('moved_2');
SELECT dpboost_train_on('regress_att_eve', 'moved_2', 'cost', epsilon => 5, options => :'train') ->> 'version';
ALTER TABLE moved_2 RENAME TO hers;
SET ROLE regress_att_owner;
CREATE TABLE moved_2 (age int);
CREATE TABLE moved (age int);
SELECT relation, epsilon, releases FROM dpboost_budgets WHERE relation IN ('moved'::regclass, 'moved_2'::regclass);
-- a table that changed hands keeps its cap when its new owner creates it again
CREATE TABLE given (age int);
SELECT dpboost_protect('given', 3, 1e-6);
RESET ROLE;
ALTER TABLE given OWNER TO regress_att_eve;
SET ROLE regress_att_eve;
DROP TABLE given;
CREATE TABLE given (age int);
SELECT relation, epsilon FROM dpboost_budgets WHERE relation = 'given'::regclass;

-- after all of that, the running totals of every limit equal a full count of the ledger
RESET ROLE;
SELECT dpboost_verify() -> 'ok' AS ok, (dpboost_verify() ->> 'limits')::int > 5 AS some;
SELECT count(dpboost_drop_model(full_name)) > 0 AS dropped FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE model LIKE 'regress\_%') m;
DROP SCHEMA regress_att, regress_eve CASCADE;
DROP TABLE before, counted;
DROP ROLE regress_att_owner, regress_att_group, regress_att_member, regress_att_noinherit, regress_att_ana, regress_att_eve;
