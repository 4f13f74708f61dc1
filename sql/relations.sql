-- Relations of every kind and number behind a training: more than a list begins with, stored and foreign ones, and
-- tables whose persons are told apart in ways that do not go together.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE ROLE regress_rel_owner;
CREATE SCHEMA regress_rel AUTHORIZATION regress_rel_owner;
SET search_path = regress_rel, public;
CREATE FUNCTION try_training(relation regclass) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dpboost_estimate(relation, 'y', epsilon => 0.1, features => '{x}', options => '{"method": "sbdt", "trees": 2, "subsample": 1}');
    RETURN 'yes';
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END$$;

-- 40 partitions, each with a cap of its own: all of them are charged, and each can refuse
SET ROLE regress_rel_owner;
CREATE TABLE year (day int, person int, x int CHECK (x BETWEEN 0 AND 9), y boolean) PARTITION BY LIST (day);
DO $$ BEGIN FOR i IN 1..40 LOOP EXECUTE format('CREATE TABLE day_%s PARTITION OF year FOR VALUES IN (%s)', i, i); END LOOP; END $$;
INSERT INTO year SELECT i % 40 + 1, i / 2, i % 10, i % 2 = 0 FROM generate_series(1, 400) i;
SELECT count(dpboost_protect(format('day_%s', i)::regclass, CASE i WHEN 40 THEN 0.3 ELSE 5 END, 1e-6)) FROM generate_series(1, 40) i;
SELECT jsonb_array_length(dpboost_train_on('regress_rel', 'year', 'y', epsilon => 0.2, features => '{x}',
    options => '{"method": "sbdt", "trees": 2, "subsample": 1}') -> 'remaining');
SELECT count(*), min(releases), max(releases) FROM dpboost_budgets WHERE relation::text LIKE 'day_%';
SELECT dpboost_train_on('regress_rel', 'year', 'y', epsilon => 0.29, features => '{x}',
    options => '{"method": "sbdt", "trees": 2, "subsample": 1}');
SELECT dpboost_verify() -> 'ok';

-- a child whose persons have another column than its parent's, or one that the parent lacks
CREATE TABLE people (person int, house int, x int CHECK (x BETWEEN 0 AND 9), y boolean);
CREATE TABLE guests (badge int) INHERITS (people);
SELECT dpboost_protect('people', 5, 1e-6, 'person');
SELECT try_training('people');
SELECT dpboost_protect('guests', 5, 1e-6, 'house');
SELECT try_training('people');
SELECT dpboost_unprotect('people');
SELECT try_training('people');
SELECT dpboost_protect('guests', 5, 1e-6, 'badge');
SELECT try_training('people');
SELECT try_training('guests');

-- a view whose own persons are no column of the table below it, read by a query
CREATE TABLE visits (visit int PRIMARY KEY, patient int, x int CHECK (x BETWEEN 0 AND 9), y boolean);
INSERT INTO visits SELECT i, i / 3, i % 10, i % 2 = 0 FROM generate_series(1, 90) i;
SELECT dpboost_protect('visits', 5, 1e-6, 'patient');
CREATE VIEW families AS SELECT patient / 2 AS family, x, y FROM visits;
SELECT dpboost_protect('families', 5, 1e-6, 'family');
SELECT try_training('families');
SELECT dpboost_train('regress_rel', '{"epsilon": 0.1, "method": "sbdt", "trees": 2, "bounds": [0, 9]}', y, x) IS NOT NULL FROM families;

-- a stored copy inside a view is charged, and so is its table
CREATE MATERIALIZED VIEW stored AS SELECT patient, x, y FROM visits;
CREATE VIEW of_stored AS SELECT * FROM stored WHERE x > 0;
SELECT try_training('of_stored');
SELECT dpboost_train_on('regress_rel', 'of_stored', 'y', epsilon => 0.1, features => '{x}',
    options => '{"method": "sbdt", "trees": 2, "subsample": 1, "bounds": {"x": [0, 9]}}') ->> 'version' IS NOT NULL;
SELECT relations, privacy_unit FROM dpboost_ledger WHERE model = 'regress_rel' ORDER BY release_id DESC LIMIT 1;

-- columns that a join has merged
CREATE TABLE doctors (visit int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 99));
CREATE TABLE rooms (visit int PRIMARY KEY, room int);
CREATE VIEW merged AS SELECT patient, x, y FROM visits JOIN (doctors FULL JOIN rooms USING (visit)) USING (visit);
SELECT try_training('merged');
CREATE VIEW nested AS SELECT patient, x, y FROM (visits JOIN doctors USING (visit)) JOIN rooms USING (visit);
SELECT try_training('nested');
CREATE VIEW crossed AS SELECT patient, x, y FROM visits JOIN doctors ON doctors.visit = (SELECT max(visit) FROM rooms);
SELECT try_training('crossed');
CREATE VIEW whole AS SELECT patient, x, y FROM visits JOIN rooms ON rooms = ROW(visits.visit, 1)::rooms;
SELECT try_training('whole');
RESET ROLE;

-- a foreign table
CREATE EXTENSION file_fdw;
CREATE SERVER regress_rel_files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE far (patient int, x int, y boolean) SERVER regress_rel_files OPTIONS (program 'printf "1,2,t\n2,5,f\n"', format 'csv');
ALTER FOREIGN TABLE far ADD CHECK (x BETWEEN 0 AND 9);
SELECT dpboost_protect('far', 0.5, 1e-6, 'patient');
SELECT try_training('far');
SELECT dpboost_train_on('regress_rel_far', 'far', 'y', epsilon => 0.4, features => '{x}', options => '{"method": "sbdt", "trees": 2}') ->> 'version';
SELECT dpboost_train_on('regress_rel_far', 'far', 'y', epsilon => 0.4, features => '{x}', options => '{"method": "sbdt", "trees": 2}');

DROP FOREIGN TABLE far;
DROP SERVER regress_rel_files;
DROP EXTENSION file_fdw;
DROP SCHEMA regress_rel CASCADE;
DROP ROLE regress_rel_owner;
