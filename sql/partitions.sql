-- Partitions and inheritance: whichever way a row is read, and whatever an open transaction has done to the schema, the
-- caps of all tables that it belongs to are charged, and each table counts what was released of its rows.
\set VERBOSITY terse
\set train '{"method": "sbdt", "trees": 2, "subsample": 1}'
SET client_min_messages = warning;
CREATE ROLE regress_part_owner;
CREATE ROLE regress_part_child;
CREATE SCHEMA regress_part AUTHORIZATION regress_part_owner;
GRANT ALL ON SCHEMA regress_part TO regress_part_child;
SET search_path = regress_part, public;
CREATE DOMAIN digit AS int CHECK (VALUE BETWEEN 0 AND 9);
SET ROLE regress_part_owner;
CREATE TABLE year (k int, x digit, y boolean) PARTITION BY RANGE (k);
CREATE TABLE spring PARTITION OF year FOR VALUES FROM (0) TO (10);
CREATE TABLE summer PARTITION OF year FOR VALUES FROM (10) TO (20);
SELECT dpboost_protect('year', 1, 1e-6);

-- attack: detached in a transaction that is rolled back
BEGIN;
ALTER TABLE year DETACH PARTITION spring;
SELECT dpboost_train_on('regress_part', 'spring', 'y', epsilon => 5, features => '{x}', options => :'train');
ROLLBACK;
BEGIN;
ALTER TABLE year DETACH PARTITION spring;
SELECT dpboost_train_on('regress_part', 'spring', 'y', epsilon => 0.4, features => '{x}', options => :'train') ->> 'version';
ROLLBACK;
SELECT relation, releases FROM dpboost_budgets ORDER BY 1;
-- the parent's privacy unit holds there as well
SELECT dpboost_unprotect('year');
CREATE TABLE people (id int, x digit, y boolean) PARTITION BY RANGE (x);
CREATE TABLE people_0 PARTITION OF people FOR VALUES FROM (0) TO (9);
SELECT dpboost_protect('people', 1, 1e-6, 'id');
BEGIN;
ALTER TABLE people DETACH PARTITION people_0;
SELECT dpboost_train_on('regress_part', 'people_0', 'y', epsilon => 0.1, features => '{x}', options => :'train') ->> 'version';
ROLLBACK;
SELECT dpboost_protect('year', 1, 1e-6);

-- attack: detached for good, after a release of the whole
SELECT dpboost_train_on('regress_part', 'year', 'y', epsilon => 0.8, features => '{x}', options => :'train') ->> 'version';
ALTER TABLE year DETACH PARTITION summer;
SELECT dpboost_protect('summer', 1, 1e-6);
SELECT dpboost_train_on('regress_part', 'summer', 'y', epsilon => 0.8, features => '{x}', options => :'train');
SELECT relation, releases FROM dpboost_budgets WHERE relation::text ~ 'year|summer' ORDER BY 1;
-- attack: released first, attached then
CREATE TABLE autumn (LIKE summer INCLUDING ALL);
CREATE TABLE decade (k int, x digit, y boolean) PARTITION BY RANGE (k);
SELECT dpboost_protect('decade', 1, 1e-6);
SELECT dpboost_train_on('regress_part', 'autumn', 'y', epsilon => 0.8, features => '{x}', options => :'train') ->> 'version';
ALTER TABLE decade ATTACH PARTITION autumn FOR VALUES FROM (20) TO (30);
SELECT dpboost_train_on('regress_part', 'decade', 'y', epsilon => 0.8, features => '{x}', options => :'train');
SELECT relation, releases FROM dpboost_budgets WHERE relation = 'decade'::regclass;

-- attack: rows of the whole, which was released, moved into a partition that is made afterwards, with a cap of its own
CREATE TABLE annals (k int, x digit, y boolean) PARTITION BY LIST (k);
CREATE TABLE annals_rest PARTITION OF annals DEFAULT;
INSERT INTO annals SELECT i % 4, i % 10, i % 2 = 0 FROM generate_series(1, 40) i;
SELECT dpboost_train_on('regress_part', 'annals', 'y', epsilon => 0.8, features => '{x}', options => :'train') ->> 'version';
CREATE TEMP TABLE moved AS SELECT * FROM annals WHERE k = 1;
DELETE FROM annals WHERE k = 1;
CREATE TABLE annals_1 PARTITION OF annals FOR VALUES IN (1);
INSERT INTO annals SELECT * FROM moved;
DROP TABLE moved;
SELECT dpboost_protect('annals_1', 1, 1e-6);
SELECT relation, releases FROM dpboost_budgets WHERE relation = 'annals_1'::regclass;
SELECT dpboost_train_on('regress_part', 'annals_1', 'y', epsilon => 0.8, features => '{x}', options => :'train');

-- attack: the owner of a child alone lets it go, for the length of a transaction
CREATE TABLE parent (x digit, y boolean);
SELECT dpboost_protect('parent', 1, 1e-6);
CREATE TABLE child () INHERITS (parent);
RESET ROLE;
ALTER TABLE child OWNER TO regress_part_child;
SET ROLE regress_part_child;
BEGIN;
ALTER TABLE child NO INHERIT parent;
SELECT dpboost_train_on('regress_child', 'child', 'y', epsilon => 5, options => :'train');
ROLLBACK;
-- attack: through the other parent of a child
CREATE TABLE other (x digit, y boolean);
ALTER TABLE child INHERIT other;
SELECT dpboost_train_on('regress_child', 'other', 'y', epsilon => 5, options => :'train');
SELECT dpboost_train_on('regress_child', 'other', 'y', epsilon => 0.5, options => :'train') ->> 'version';
SET ROLE regress_part_owner;
SELECT relation, releases FROM dpboost_budgets WHERE relation = 'parent'::regclass;

RESET ROLE;
SELECT count(dpboost_drop_model(model)) > 0 AS dropped FROM (SELECT DISTINCT model FROM dpboost_models WHERE model LIKE 'regress\_%') m;
DROP SCHEMA regress_part CASCADE;
DROP ROLE regress_part_owner, regress_part_child;
