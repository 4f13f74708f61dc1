-- Whose table is it? What was spent belongs to an identity that follows a table through renames, drops and restores; a name
-- that was left gives nobody else a hold on it.
\set VERBOSITY terse
\set train '{"method": "sbdt", "trees": 2, "subsample": 1}'
SET client_min_messages = warning;
CREATE ROLE regress_id_gone;
CREATE ROLE regress_id_own;
CREATE ROLE regress_id_eve;
CREATE SCHEMA regress_id;
GRANT ALL ON SCHEMA regress_id TO PUBLIC;
CREATE SCHEMA regress_id_2;
GRANT ALL ON SCHEMA regress_id_2 TO PUBLIC;
SET search_path = regress_id, public;
CREATE VIEW limits AS SELECT relation, grantee, epsilon, releases, privacy_unit FROM dpboost_budgets ORDER BY 1, 2;
GRANT SELECT ON limits TO PUBLIC;

-- attack: the name of a table whose first owner was dropped, after a rename or a move
SET ROLE regress_id_gone;
CREATE TABLE people (pid int, age int CHECK (age BETWEEN 0 AND 100), y boolean);
CREATE TABLE moved (LIKE people INCLUDING ALL);
SELECT dpboost_protect('people', 1, 1e-6, 'pid'), dpboost_protect('moved', 1, 1e-6, 'pid');
RESET ROLE;
REASSIGN OWNED BY regress_id_gone TO regress_id_own;
DROP OWNED BY regress_id_gone;
DROP ROLE regress_id_gone;
SET ROLE regress_id_own;
SELECT dpboost_train_on('regress_id', 'people', 'y', epsilon => 0.1, options => :'train') ->> 'version';
ALTER TABLE people RENAME TO people_2025;
ALTER TABLE moved SET SCHEMA regress_id_2;
SET ROLE regress_id_eve;
CREATE TABLE people (age int CHECK (age BETWEEN 0 AND 100), pid int, y boolean);
CREATE TABLE moved (LIKE people INCLUDING ALL);
SELECT * FROM limits;
SELECT dpboost_unprotect('people');
SELECT dpboost_unprotect('moved');
SELECT dpboost_protect('people', 100, 1e-3), dpboost_protect('moved', 100, 1e-3);
SELECT * FROM limits;
SELECT dpboost_train_on('regress_eve', 'people', 'y', epsilon => 5, features => '{age}', options => :'train') ->> 'version';
SELECT role, model FROM dpboost_ledger;
SET ROLE regress_id_own;
SELECT * FROM limits;
SELECT role, model FROM dpboost_ledger;

-- attack: the first owner, still there, takes the name that the table has left: it cannot touch the cap, only counts
SELECT dpboost_train_on('regress_id', 'people_2025', 'y', epsilon => 0.1, options => :'train') ->> 'version';
RESET ROLE;
ALTER TABLE people_2025 OWNER TO regress_id_eve;
DROP TABLE people, moved;
SET ROLE regress_id_eve;
ALTER TABLE people_2025 RENAME TO hers;
SET ROLE regress_id_own;
CREATE TABLE people_2025 (age int CHECK (age BETWEEN 0 AND 100), y boolean);
SELECT dpboost_unprotect('people_2025');
SELECT dpboost_protect('people_2025', 50, 1e-6);
SELECT dpboost_train_on('regress_id', 'people_2025', 'y', epsilon => 0.1, options => :'train') ->> 'version';
SELECT * FROM limits WHERE relation = 'people_2025'::regclass;
SET ROLE regress_id_eve;
SELECT * FROM limits;
-- attack: of two tables with one identity the owner gives one away; its new owner has no hold on the other's cap
SET ROLE regress_id_own;
CREATE TABLE both_1 (age int CHECK (age BETWEEN 0 AND 100), y boolean);
SELECT dpboost_protect('both_1', 1, 1e-6);
ALTER TABLE both_1 RENAME TO both_2;
CREATE TABLE both_1 (LIKE both_2 INCLUDING ALL);
SELECT dpboost_train_on('regress_id', 'both_1', 'y', epsilon => 0.1, options => :'train') ->> 'version';
RESET ROLE;
ALTER TABLE both_1 OWNER TO regress_id_eve;
SET ROLE regress_id_eve;
SELECT dpboost_unprotect('both_1');
SELECT dpboost_protect('both_1', 100, 1e-6);
SELECT * FROM limits WHERE relation = 'both_1'::regclass ORDER BY epsilon;
SET ROLE regress_id_own;
SELECT * FROM limits WHERE relation = 'both_2'::regclass;

-- attack: the table and its owner are both gone. Only an administrator takes over; a role of the same name still counts
RESET ROLE;
CREATE ROLE regress_id_gone;
SET ROLE regress_id_gone;
CREATE TABLE dead (age int CHECK (age BETWEEN 0 AND 100), y boolean);
SELECT dpboost_protect('dead', 3, 1e-6);
SELECT dpboost_train_on('regress_gone', 'dead', 'y', epsilon => 0.1, options => :'train') ->> 'version';
DROP TABLE dead;
RESET ROLE;
SELECT dpboost_drop_model('regress_gone');
DROP ROLE regress_id_gone;
SET ROLE regress_id_eve;
CREATE TABLE dead (age int CHECK (age BETWEEN 0 AND 100), y boolean);
SELECT * FROM limits WHERE relation = 'dead'::regclass;
SELECT dpboost_protect('dead', 100, 1e-6);
SELECT * FROM limits WHERE relation = 'dead'::regclass;
DROP TABLE dead;
RESET ROLE;
CREATE ROLE regress_id_gone;
SET ROLE regress_id_gone;
CREATE TABLE dead (age int CHECK (age BETWEEN 0 AND 100), y boolean);
SELECT * FROM limits WHERE relation = 'dead'::regclass;
SELECT dpboost_protect('dead', 100, 1e-6);
SELECT * FROM limits WHERE relation = 'dead'::regclass;
DROP TABLE dead;
RESET ROLE;
CREATE TABLE dead (age int CHECK (age BETWEEN 0 AND 100), y boolean);
SELECT * FROM limits WHERE relation = 'dead'::regclass ORDER BY epsilon;

-- a table that somebody else drops is its owner's still, also if dpboost never saw her own it
SET ROLE regress_id_gone;
CREATE TABLE handed (age int);
SELECT dpboost_protect('handed', 3, 1e-6);
RESET ROLE;
ALTER TABLE handed OWNER TO regress_id_own;
DROP TABLE handed;
SET ROLE regress_id_own;
CREATE TABLE handed (age int);
SELECT * FROM limits WHERE relation = 'handed'::regclass;
RESET ROLE;

-- attack: drops that are not called DROP TABLE, after a rename
CREATE ACCESS METHOD regress_id_heap TYPE TABLE HANDLER heap_tableam_handler;
CREATE COLLATION regress_id_c (locale = 'C');
CREATE TABLE by_method (age int CHECK (age BETWEEN 0 AND 100), y boolean) USING regress_id_heap;
CREATE VIEW by_collation AS SELECT age, y, 'a' < 'b' COLLATE regress_id_c AS b FROM by_method;
SELECT dpboost_protect('by_method', 1, 1e-6), dpboost_protect('by_collation', 1, 1e-6);
SELECT dpboost_set_budget('by_method', 'regress_id_eve', 1, 1e-6), dpboost_set_budget('by_collation', 'regress_id_eve', 1, 1e-6);
SELECT dpboost_train_on('regress_id_su', 'by_collation', 'y', epsilon => 0.9, features => '{age}', options => :'train') ->> 'version';
ALTER TABLE by_method RENAME TO by_method_2;
ALTER VIEW by_collation RENAME TO by_collation_2;
DROP COLLATION regress_id_c CASCADE;
DROP ACCESS METHOD regress_id_heap CASCADE;
CREATE TABLE by_method_2 (age int CHECK (age BETWEEN 0 AND 100), y boolean);
CREATE VIEW by_collation_2 AS SELECT age, y FROM by_method_2;
SELECT * FROM limits WHERE relation::text LIKE 'by%';
SELECT count(*) AS rights_left FROM dpboost.allowance WHERE relation::text LIKE '%by\_%' AND NOT revoked;
SELECT count(*) AS oids_left FROM dpboost.relation_name n WHERE relation::oid <> 0 AND NOT EXISTS (SELECT FROM pg_class WHERE oid = n.relation::oid);

-- a drop that does not concern dpboost writes nothing, so nothing can stop it
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'written'; END$$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON dpboost.relation_name FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON dpboost.allowance FOR EACH STATEMENT EXECUTE FUNCTION refuse();
CREATE TABLE unrelated (i int);
CREATE TEMP TABLE passing (i int);
DROP TABLE unrelated, passing;
DROP TRIGGER refuse ON dpboost.relation_name;
DROP TRIGGER refuse ON dpboost.allowance;

-- a role that was dropped leaves no right behind that its oid could give to another
CREATE ROLE regress_id_ana;
CREATE ROLE regress_id_bea;
CREATE TABLE visits (age int CHECK (age BETWEEN 0 AND 100), y boolean);
SELECT dpboost_set_budget('visits', 'regress_id_ana', 1, 1e-6);
DROP ROLE regress_id_ana;
SELECT dpboost_set_budget('visits', 'regress_id_bea', 1, 1e-6);
SELECT count(*) FROM dpboost.allowance WHERE relation::oid = 'visits'::regclass AND NOT revoked;
-- attack: roles are renamed so that one trains under the other's name: both pay, and nobody gets anything back
CREATE ROLE regress_id_sel;
GRANT SELECT ON visits TO regress_id_sel;
SELECT dpboost_set_budget('visits', 'regress_id_sel', 1, 1e-6);
ALTER ROLE regress_id_bea RENAME TO regress_id_away;
ALTER ROLE regress_id_sel RENAME TO regress_id_bea;
SET ROLE regress_id_bea;
SELECT dpboost_train_on('regress_sel', 'visits', 'y', epsilon => 0.5, options => :'train') ->> 'version';
RESET ROLE;
ALTER ROLE regress_id_bea RENAME TO regress_id_sel;
ALTER ROLE regress_id_away RENAME TO regress_id_bea;
SELECT grantee, releases FROM dpboost_budgets WHERE relation = 'visits'::regclass ORDER BY grantee::text;

SELECT count(dpboost_drop_model(model)) > 0 AS dropped FROM (SELECT DISTINCT model FROM dpboost_models WHERE model LIKE 'regress\_%') m;
DROP SCHEMA regress_id, regress_id_2 CASCADE;
DROP ROLE regress_id_gone, regress_id_own, regress_id_eve, regress_id_bea, regress_id_sel;
