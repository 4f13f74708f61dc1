-- An administrator's slip in dpboost's own tables: what cannot be counted is not drawn.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE TABLE hindered (x int CHECK (x BETWEEN 0 AND 100), y float8 CHECK (y BETWEEN 0 AND 10));
SELECT dpboost_protect('hindered', epsilon => 3);
CREATE VIEW state AS SELECT releases, epsilon_spent > 0 AS spent FROM dpboost_budgets WHERE relation = 'hindered'::regclass;
CREATE FUNCTION train() RETURNS boolean LANGUAGE sql AS
    $$SELECT dpboost_train_on('regress_hindered', 'hindered', 'y', epsilon => 0.1) IS NOT NULL$$;
SELECT train();
SELECT * FROM state;

-- a trigger that prevents a row from being written
CREATE FUNCTION prevent() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER prevent BEFORE INSERT ON dpboost.ledger FOR EACH ROW EXECUTE FUNCTION prevent();
SELECT train();
DROP TRIGGER prevent ON dpboost.ledger;
CREATE TRIGGER prevent BEFORE INSERT ON dpboost.charge FOR EACH ROW EXECUTE FUNCTION prevent();
SELECT train();
DROP TRIGGER prevent ON dpboost.charge;
VACUUM FULL dpboost.total; -- so that lines are few, which are written one by one
CREATE TRIGGER prevent BEFORE UPDATE ON dpboost.total FOR EACH ROW EXECUTE FUNCTION prevent();
SELECT train();
DROP TRIGGER prevent ON dpboost.total;
SELECT * FROM state;

-- an index that does not hold all rows any more
SET allow_system_table_mods = on;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'dpboost.protection_pkey'::regclass;
SELECT train();
REINDEX INDEX dpboost.protection_pkey;
SELECT train();

-- rows below the table
CREATE TABLE below () INHERITS (dpboost.protection);
SELECT train();
DROP TABLE below;
SELECT train();
SELECT * FROM state;
SELECT dpboost_verify() -> 'ok' AS ok;

DROP VIEW state;
SELECT dpboost_drop_model('regress_hindered');
DROP TABLE hindered;
DROP FUNCTION train(), prevent();
