-- One model for each group of persons, charged as one: where the schema says that nobody is in two groups, and with groups that
-- are public whether rows have them or not.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA regress_groups;
SET search_path = regress_groups, public;
CREATE TABLE patients (patient_id int PRIMARY KEY, region text NOT NULL CHECK (region IN ('east', 'west', 'north')),
                       age float8 CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 100), UNIQUE (patient_id, region));
INSERT INTO patients SELECT i, CASE WHEN i % 3 = 0 THEN 'east' ELSE 'west' END, i % 100, CASE WHEN i % 3 = 0 THEN 20 ELSE 70 END
FROM generate_series(1, 3000) i;

-- rows are persons: any column makes groups; one release, one charge, three models, one of them of nobody
SELECT dpboost_protect('patients', 2, 1e-6);
SELECT r - 'remaining' - 'release_id' - 'owner' AS result, r ->> 'owner' = current_user AS own, (r -> 'remaining' -> 0 ->> 'part')::float8 BETWEEN 0.5 AND 0.8 AS charged_once
FROM (SELECT dpboost_train_groups('care', 'region', 'patients', 'cost', 1) AS r) t;
SELECT model, version, models, epsilon, delivered, kind FROM dpboost_ledger ORDER BY release_id DESC LIMIT 1;
SELECT count(*) FROM dpboost_ledger WHERE model LIKE 'care%';
SELECT model, version, live, target, release_id = max(release_id) OVER () AS one_release FROM dpboost_models WHERE model LIKE 'care%' ORDER BY model;
SELECT dpboost_predict('care_east', 50::float8) < 45 AS east, dpboost_predict('care_west', 50::float8) > 45 AS west,
       dpboost_predict('care_north', 50::float8) BETWEEN 0 AND 100 AS of_nobody;
SELECT region, avg(abs(dpboost_predict('care_' || region, age) - cost)) < 20 AS close FROM patients GROUP BY region ORDER BY region;
SELECT dpboost_predict('care', 50::float8);
-- the accountant agrees, and says it in words
SELECT (dpboost_verify(release_id) ->> 'ok')::boolean AS ok FROM dpboost_ledger ORDER BY release_id DESC LIMIT 1;
SELECT split_part(dpboost_statement(model => 'care_east'), '.', 1) AS statement;
-- versions are the groups' own, and never used twice
SELECT dpboost_train_on('care_east', 'patients', 'cost', 0.1) ->> 'version' AS version;
SELECT dpboost_train_groups('care', 'region', 'patients', 'cost', 0.1) -> 'models' AS models;
SELECT dpboost_drop_model('care_east');
SELECT dpboost_train_on('care_east', 'patients', 'cost', 0.05) ->> 'version' AS version;
-- what the next version of one of them may tell counts their release, also when the version before is gone
SELECT dpboost_update('care_west@2', 'patients', 0.05) ->> 'version' AS version;
SELECT (dpboost_to_xgboost('care_west') #>> '{learner,attributes,dpboost_epsilon}')::float8 BETWEEN 0.1 AND 0.2 AS both;
SELECT dpboost_drop_model('care_west@2');
SELECT (dpboost_to_xgboost('care_west') #>> '{learner,attributes,dpboost_epsilon}')::float8 > 1 AS all_before;
-- a budget that does not allow one does not allow all, and charges nothing
SELECT count(*) AS before FROM dpboost_ledger \gset
SELECT dpboost_train_groups('care', 'region', 'patients', 'cost', 3);
SELECT count(*) - :before AS charged FROM dpboost_ledger;

-- several rows of one person: the schema must say that they are in one group
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int, region text, age float8 CHECK (age BETWEEN 0 AND 100),
                     cost float8 CHECK (cost BETWEEN 0 AND 100), CHECK (region IN ('east', 'west', 'north')));
INSERT INTO visits SELECT p.patient_id * 2 + k, p.patient_id, p.region, p.age, p.cost FROM patients p, generate_series(0, 1) k;
SELECT dpboost_protect('visits', 20, 1e-6, privacy_unit => 'patient_id');
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
-- rows that a materialized view keeps, for later
UPDATE visits SET region = 'north' WHERE visit_id = 14;
CREATE MATERIALIZED VIEW old_visits AS SELECT patient_id, region, age, cost FROM visits;
SELECT dpboost_set_domain('old_visits', 'region', ARRAY['east', 'west', 'north']);
UPDATE visits SET region = 'west' WHERE visit_id = 14;
-- not by a foreign key of the person alone, nor one that need not hold yet, or holds at the end of a transaction only
ALTER TABLE visits ADD CONSTRAINT person FOREIGN KEY (patient_id) REFERENCES patients;
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
ALTER TABLE visits ADD CONSTRAINT home FOREIGN KEY (patient_id, region) REFERENCES patients (patient_id, region) NOT VALID;
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
ALTER TABLE visits DROP CONSTRAINT home;
ALTER TABLE visits ADD CONSTRAINT home FOREIGN KEY (patient_id, region) REFERENCES patients (patient_id, region) DEFERRABLE;
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
ALTER TABLE visits DROP CONSTRAINT home;
-- nor by one to a table in which a person may have several
CREATE TABLE homes (patient_id int, region text, UNIQUE (patient_id, region));
INSERT INTO homes SELECT patient_id, region FROM patients;
ALTER TABLE visits ADD CONSTRAINT home FOREIGN KEY (patient_id, region) REFERENCES homes (patient_id, region);
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
-- a partial index is none for all, a deferrable one none for now
CREATE UNIQUE INDEX ON homes (patient_id) WHERE patient_id > 0;
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
ALTER TABLE homes ADD UNIQUE (patient_id) DEFERRABLE;
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
ALTER TABLE visits DROP CONSTRAINT home;
-- nor where a person is unique in each partition
CREATE TABLE parted (patient_id int, region text, UNIQUE (patient_id, region)) PARTITION BY LIST (region);
CREATE TABLE parted_east PARTITION OF parted (UNIQUE (patient_id)) FOR VALUES IN ('east');
CREATE TABLE parted_others PARTITION OF parted (UNIQUE (patient_id)) DEFAULT;
INSERT INTO parted SELECT patient_id, region FROM patients;
ALTER TABLE visits ADD CONSTRAINT home FOREIGN KEY (patient_id, region) REFERENCES parted (patient_id, region);
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
ALTER TABLE visits DROP CONSTRAINT home;
DROP TABLE parted;
ALTER TABLE visits ADD CONSTRAINT home FOREIGN KEY (patient_id, region) REFERENCES homes (patient_id, region);
-- but so
CREATE UNIQUE INDEX ON homes (patient_id);
SELECT jsonb_array_length(dpboost_train_groups('trips', 'region', 'visits', 'cost', 1) -> 'models') AS models;
-- in the middle of a statement its foreign keys need not hold yet
CREATE FUNCTION train_now() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM dpboost_train_groups('trips', 'region', 'visits', 'cost', 1); RETURN NEW; END$$;
CREATE TRIGGER now BEFORE UPDATE ON visits FOR EACH ROW EXECUTE FUNCTION train_now();
UPDATE visits SET region = CASE WHEN visit_id % 2 = 0 THEN 'east' ELSE 'west' END WHERE patient_id = 7;
DROP TRIGGER now ON visits;
-- nor when a cascade from another table is still to be checked
CREATE TABLE kinds (kind int, region text, UNIQUE (kind, region));
INSERT INTO kinds VALUES (0, 'west'), (1, 'west');
ALTER TABLE visits ADD kind int CHECK (kind IN (0, 1));
UPDATE visits SET kind = visit_id % 2 WHERE patient_id = 7;
ALTER TABLE visits ADD CONSTRAINT kind FOREIGN KEY (kind, region) REFERENCES kinds (kind, region) ON UPDATE CASCADE;
CREATE TRIGGER now AFTER UPDATE ON kinds FOR EACH STATEMENT EXECUTE FUNCTION train_now();
UPDATE kinds SET region = 'east' WHERE kind = 0;
ALTER TABLE visits DROP COLUMN kind;
DROP TABLE kinds;
-- rows that are older than the key: of an old snapshot, or of a materialized view
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
ROLLBACK;
SELECT dpboost_train_groups('old', 'region', 'old_visits', 'cost', 1);
-- rows without a group, a person or a label are in no model
INSERT INTO visits VALUES (100001, 1, NULL, 50, 50), (100002, NULL, 'east', 50, 50), (100003, 3, 'east', 50, NULL);
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1) ->> 'task' AS task;
-- views show the same rows; one that makes its own regions does not
CREATE VIEW seen AS SELECT patient_id AS who, region AS place, age, cost FROM visits WHERE age > 10;
SELECT dpboost_train_groups('seen', 'place', 'seen', 'cost', 1) ->> 'task' AS task;
CREATE VIEW moved AS SELECT patient_id, CASE WHEN visit_id % 2 = 0 THEN 'east' ELSE 'west' END AS region, age, cost FROM visits;
SELECT dpboost_set_domain('moved', 'region', ARRAY['east', 'west']);
SELECT dpboost_train_groups('moved', 'region', 'moved', 'cost', 1);
-- inheritance children know nothing of their parent's keys
CREATE TABLE more_visits () INHERITS (visits);
SELECT dpboost_train_groups('trips', 'region', 'visits', 'cost', 1);
DROP TABLE more_visits;
-- texts that a collation calls equal are different groups
CREATE TABLE mixed (patient_id int, region text, cost float8 CHECK (cost BETWEEN 0 AND 100), age float8 CHECK (age BETWEEN 0 AND 100));
SELECT dpboost_set_domain('mixed', 'region', ARRAY['east', 'EAST']);
DO $$BEGIN
    CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    ALTER TABLE homes ALTER region TYPE text COLLATE caseless;
    ALTER TABLE mixed ADD FOREIGN KEY (patient_id, region) REFERENCES homes (patient_id, region);
EXCEPTION WHEN OTHERS THEN  -- a server without ICU, or one that refuses the key itself
    NULL;
END$$;
SELECT dpboost_protect('mixed', 20, 1e-6, privacy_unit => 'patient_id');
SELECT dpboost_train_groups('mixed', 'region', 'mixed', 'cost', 1);
-- and persons whom it calls equal, but their index does not, have several
CREATE TABLE coded (code text, region text CHECK (region IN ('east', 'west')), cost float8 CHECK (cost BETWEEN 0 AND 100), age float8 CHECK (age BETWEEN 0 AND 100));
DO $$BEGIN
    CREATE TABLE codes (code text COLLATE caseless, region text, UNIQUE (code, region));
    CREATE UNIQUE INDEX ON codes (code COLLATE "C");
    INSERT INTO codes VALUES ('a', 'east'), ('A', 'west');
    ALTER TABLE coded ADD FOREIGN KEY (code, region) REFERENCES codes (code, region);
EXCEPTION WHEN OTHERS THEN
    NULL;
END$$;
INSERT INTO coded VALUES ('a', 'east', 50, 50), ('a', 'west', 50, 50);
SELECT dpboost_protect('coded', 20, 1e-6, privacy_unit => 'code');
SELECT dpboost_train_groups('coded', 'region', 'coded', 'cost', 1);
-- a person's own row: the unit is unique
CREATE TABLE persons AS SELECT patient_id, region = 'east' AS eastern, age, cost FROM patients;
ALTER TABLE persons ADD CHECK (age BETWEEN 0 AND 100), ADD CHECK (cost BETWEEN 0 AND 100);
SELECT dpboost_protect('persons', 20, 1e-6, privacy_unit => 'patient_id');
SELECT dpboost_train_groups('own', 'eastern', 'persons', 'cost', 1);
ALTER TABLE persons ADD PRIMARY KEY (patient_id);
SELECT dpboost_train_groups('own', 'eastern', 'persons', 'cost', 1) -> 'models' AS models;

-- groups must be public, few, and names
CREATE TABLE loose (region text, code int, grade float8, age float8 CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 100),
                    dotted text CHECK (dotted IN ('a.b', 'c')));
SELECT dpboost_train_groups('bad', 'region', 'loose', 'cost', 1);
SELECT dpboost_train_groups('bad', 'code', 'loose', 'cost', 1);
SELECT dpboost_train_groups('bad', 'dotted', 'loose', 'cost', 1, features => '{age}');
SELECT dpboost_set_domain('loose', 'code', (SELECT array_agg(i::text) FROM generate_series(1, 65) i));
SELECT dpboost_train_groups('bad', 'code', 'loose', 'cost', 1, features => '{age}');
SELECT dpboost_set_domain('loose', 'code', ARRAY['1', '2']);
SELECT dpboost_train_groups('codes', 'code', 'loose', 'cost', 1, features => '{age}') -> 'models' AS of_no_rows;
SELECT dpboost_train_groups('bad', 'nowhere', 'loose', 'cost', 1);
SELECT dpboost_train_groups('bad', 'cost', 'loose', 'cost', 1);
SELECT dpboost_train_groups('bad', 'code', 'loose', 'cost', 1, features => '{age,code}');
SELECT dpboost_train_groups('bad', 'code', 'loose', 'cost', 1, features => '{age}', options => '{"holdout": 0.2}');
SELECT dpboost_train_groups('bad', 'code', 'loose', 'cost', 1, features => '{age}', options => '{"rows_hint": 10}');
SELECT dpboost_train_groups('bad', NULL, 'loose', 'cost', 1);
SELECT dpboost_train_groups('nobody.bad', 'code', 'loose', 'cost', 1, features => '{age}');
-- an aggregate is charged for each group: which groups there are, it learns from rows
SELECT count(DISTINCT r ->> 'release_id') AS charges
FROM (SELECT dpboost_train('each_' || region, '{"epsilon": 0.01}', cost, age) AS r FROM patients GROUP BY region) g;
-- every person's own budget is charged for one model at a time
CREATE TABLE accounts AS SELECT * FROM persons;
ALTER TABLE accounts ADD PRIMARY KEY (patient_id), ADD CHECK (age BETWEEN 0 AND 100), ADD CHECK (cost BETWEEN 0 AND 100);
SELECT dpboost_protect('accounts', 2, 1e-6, privacy_unit => 'patient_id', accounting => 'unit');
SELECT dpboost_train_groups('bad', 'eastern', 'accounts', 'cost', 1, features => '{age}');

-- with a budget and without SELECT
CREATE ROLE regress_groups_ana;
SELECT dpboost_set_budget('persons', 'regress_groups_ana', 1, 1e-6);
GRANT USAGE ON SCHEMA regress_groups TO regress_groups_ana;
SET ROLE regress_groups_ana;
SELECT dpboost_train_groups('mine', 'eastern', 'persons', 'cost', 0.5) ->> 'owner' AS owner;
SELECT model, models, privacy_unit FROM dpboost_ledger;
SELECT dpboost_train_groups('mine', 'eastern', 'persons', 'cost', 1);
RESET ROLE;

SELECT count(dpboost_drop_model(full_name || '@' || version)) > 0 AS dropped FROM dpboost_models
WHERE model ~ '^(care|trips|old|seen|own|codes|each|mine)_';
DROP SCHEMA regress_groups CASCADE;
DROP ROLE regress_groups_ana;
