-- A privacy unit declared or changed after releases that were counted for another one: refused unless the owner accepts them
-- by name, and then everyone sees how many they are.
SET client_min_messages = warning;
CREATE SCHEMA regress_unit;
SET search_path = regress_unit, public;
CREATE DOMAIN share AS float8 CHECK (VALUE BETWEEN 0 AND 1);
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int, doctor int, x share, y boolean);
CREATE TABLE doctors (id int PRIMARY KEY, age int);
CREATE VIEW caps AS SELECT relation, epsilon, releases, privacy_unit, earlier_releases FROM dpboost_budgets WHERE grantee IS NULL ORDER BY relation::text;
CREATE FUNCTION train(relation regclass) RETURNS text LANGUAGE sql AS
    $$SELECT dpboost_train_on('regress_unit', relation, 'y', epsilon => 0.1, features => '{x}',
                              options => '{"method": "sbdt", "trees": 2, "subsample": 1}') ->> 'version'$$;
SELECT train('visits');
-- rows, then persons
SELECT dpboost_protect('visits', 10, 1e-6);
SELECT dpboost_protect('visits', 10, 1e-6, 'patient_id');
TABLE caps;
SELECT dpboost_protect('visits', 10, 1e-6, 'patient_id', accept_earlier => true);
SELECT train('visits');
TABLE caps;
\set VERBOSITY terse
-- it stays shown, and need not be accepted again, while the unit stays
SELECT dpboost_protect('visits', 20, 1e-6);
SELECT dpboost_protect('visits', 30, 1e-6, 'patient_id');
TABLE caps;
-- another unit, and back
SELECT dpboost_protect('visits', 30, 1e-6, 'doctor');
SELECT dpboost_protect('visits', 30, 1e-6, 'doctor', true);
TABLE caps;
SELECT train('visits');
SELECT dpboost_protect('visits', 30, 1e-6, 'patient_id');
SELECT dpboost_protect('visits', 30, 1e-6, 'patient_id', true);
TABLE caps;
-- attack: unprotected, released by rows, protected again
SELECT dpboost_unprotect('visits');
SELECT train('visits');
SELECT dpboost_protect('visits', 30, 1e-6, 'patient_id');
-- a row belongs to one person: what was bounded for persons is bounded for rows
CREATE TABLE persons (id int, x share, y boolean);
SELECT dpboost_protect('persons', 10, 1e-6, 'id');
SELECT train('persons');
SELECT dpboost_unprotect('persons');
SELECT dpboost_protect('persons', 10, 1e-6);
-- attack: dropped and created again
DROP TABLE persons;
CREATE TABLE persons (id int, x share, y boolean);
SELECT train('persons');
SELECT dpboost_protect('persons', 10, 1e-6, 'id');
TABLE caps;

-- by way of views: the unit is that of the table's own column, whatever it is called there
CREATE TABLE stays (id int PRIMARY KEY, patient int, doctor int, x share, y boolean);
CREATE VIEW of_stays AS SELECT patient AS who, x, y FROM stays;
SELECT dpboost_protect('stays', 10, 1e-6, 'patient');
SELECT train('of_stays');
SELECT dpboost_protect('of_stays', 10, 1e-6, 'who');
SELECT train('of_stays');
SELECT dpboost_unprotect('stays');
SELECT dpboost_protect('stays', 10, 1e-6, 'patient');
TABLE caps;
-- a table that was only joined, or not read row by row, has bounded nobody: not even rows may be declared silently
CREATE VIEW joined AS SELECT s.patient, s.x, s.y FROM stays s JOIN doctors d ON d.id = s.doctor;
SELECT train('joined');
SELECT dpboost_protect('doctors', 10, 1e-6);
CREATE TABLE raw (id int, x share, y boolean);
CREATE VIEW parity AS SELECT id, x, count(*) OVER () % 2 = 0 AS y FROM raw;
SELECT train('parity');
SELECT dpboost_protect('raw', 10, 1e-6);
SELECT dpboost_protect('raw', 10, 1e-6, accept_earlier => true);
-- the aggregate the same: its query shows what it read row by row
CREATE TABLE cooked (id int, x share, y boolean);
SELECT dpboost_train('regress_unit', '{"epsilon": 0.1, "method": "sbdt", "trees": 2, "subsample": 1, "bounds": [0, 1]}', c.y, c.x) ->> 'version' FROM cooked c;
SELECT dpboost_protect('cooked', 10, 1e-6);
SELECT dpboost_unprotect('cooked');
SELECT dpboost_train('regress_unit', '{"epsilon": 0.1, "method": "sbdt", "trees": 2, "subsample": 1, "bounds": [0, 1]}', c.y, c.x) ->> 'version'
FROM (SELECT DISTINCT x, y FROM cooked) c;
SELECT dpboost_protect('cooked', 10, 1e-6);

-- attack: released by rows before it was attached to a table that is protected by persons
CREATE TABLE year (k int, id int, x share, y boolean) PARTITION BY RANGE (k);
CREATE TABLE spring (LIKE year);
SELECT dpboost_protect('year', 10, 1e-6, 'id');
SELECT train('spring');
ALTER TABLE year ATTACH PARTITION spring FOR VALUES FROM (0) TO (10);
\set VERBOSITY default
SELECT train('year');
\set VERBOSITY terse
SELECT train('spring');
SELECT dpboost_protect('year', 10, 1e-6);
SELECT dpboost_protect('year', 10, 1e-6, accept_earlier => true);
SELECT train('year');
TABLE caps;

SELECT dpboost_drop_model('regress_unit');
DROP SCHEMA regress_unit CASCADE;
