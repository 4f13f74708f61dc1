-- What accounts of persons must not tell, and what must not be missing in them.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA regress_leaks;
SET search_path = regress_leaks, public;
CREATE FUNCTION fill(of text, first int, persons int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (person int, age float8 CONSTRAINT within CHECK (age BETWEEN 0 AND 100),
                    ill boolean, rare boolean)', of);
    EXECUTE format('INSERT INTO %I SELECT i, i %% 90, i %% 2 = 0, false FROM generate_series(%s, %s) i', of, first,
                   first + persons - 1);
END$$;
CREATE FUNCTION train(relation regclass, epsilon float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text;
BEGIN
    PERFORM dpboost_train_on('regress_leaks_m', relation, 'ill', epsilon, features => '{age}');
    RETURN 'trained';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN message;
END$$;
CREATE FUNCTION part(relation regclass, unit text) RETURNS float8 LANGUAGE sql AS
    $$SELECT round((dpboost_unit_budget(relation, unit) ->> 'part_spent')::numeric, 3)$$;

-- Everybody sees how large dpboost's tables are and how many rows were written: a view over the table that selects nobody,
-- somebody, and somebody new leaves them alike.
SELECT fill('patients', 1, 300);
SELECT dpboost_protect('patients', 1, privacy_unit => 'person', accounting => 'unit');
CREATE VIEW rare AS SELECT person, age, ill FROM patients WHERE rare;
SELECT max(unit_state_id) AS state FROM dpboost.unit_state \gset
CREATE FUNCTION sizes(state bigint) RETURNS text LANGUAGE sql AS
    $$SELECT string_agg(concat_ws(' ', bucket, octet_length(keys), octet_length(spent)), ',' ORDER BY bucket)
      FROM dpboost.unit_bucket WHERE unit_state_id = state$$;
SELECT sizes(:state) AS opened \gset
SELECT train('rare', 0.1), sizes(:state) = :'opened' AS nobody;
UPDATE patients SET rare = true WHERE person = 7;
SELECT train('rare', 0.1), sizes(:state) = :'opened' AS one, part('patients', '7') > 0 AS charged;
SELECT train('rare', 0.1), sizes(:state) = :'opened' AS again;

-- A table that becomes part of another brings releases that are in nobody's account.
CREATE TABLE parts (person int, age float8 CONSTRAINT within CHECK (age BETWEEN 0 AND 100), ill boolean, rare boolean)
    PARTITION BY RANGE (person);
SELECT fill('part_1', 1, 99), fill('part_2', 100, 100), fill('part_3', 200, 100);
ALTER TABLE parts ATTACH PARTITION part_1 FOR VALUES FROM (1) TO (100);
SELECT dpboost_protect('part_1', 10, privacy_unit => 'person'), dpboost_protect('part_2', 10, privacy_unit => 'person');
SELECT train('part_1', 0.5), train('part_2', 5);
-- what counts when accounts are opened is in them
SELECT dpboost_protect('parts', 1, privacy_unit => 'person', accounting => 'unit');
SELECT part('parts', '7') > 0 AS counted, train('parts', 0.1), train('part_1', 0.1);
ALTER TABLE parts ATTACH PARTITION part_3 FOR VALUES FROM (200) TO (300);
SELECT train('parts', 0.1), part('parts', '250') > 0 AS charged;
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES FROM (100) TO (200);
SELECT train('parts', 0.1), train('part_1', 0.1), train('part_2', 0.1);
ALTER TABLE parts DETACH PARTITION part_2;
SELECT train('parts', 0.1);
-- nor does one that was away for a while
ALTER TABLE parts DETACH PARTITION part_1;
SELECT train('part_1', 5);
ALTER TABLE parts ATTACH PARTITION part_1 FOR VALUES FROM (1) TO (100);
SELECT train('parts', 0.1);
ALTER TABLE parts DETACH PARTITION part_1;
SELECT train('parts', 0.1);
-- and the same of a population's tables
SELECT dpboost_create_population('regress_leaks_all', 1);
CREATE TABLE whole (LIKE parts) PARTITION BY RANGE (person);
SELECT fill('other', 1, 50);
SELECT dpboost_protect('whole', population => 'regress_leaks_all', privacy_unit => 'person', accounting => 'unit');
SELECT dpboost_protect('other', population => 'regress_leaks_all', privacy_unit => 'person');
ALTER TABLE part_2 DROP CONSTRAINT within;
ALTER TABLE whole ATTACH PARTITION part_2 FOR VALUES FROM (100) TO (200);
SELECT train('other', 0.1);
ALTER TABLE whole DETACH PARTITION part_2;
SELECT train('other', 0.1);

-- When accounts are opened, row security hides nobody who has spent something.
CREATE ROLE regress_leaks_owner;
GRANT ALL ON SCHEMA regress_leaks TO regress_leaks_owner;
SELECT fill('hidden', 1, 20);
ALTER TABLE hidden OWNER TO regress_leaks_owner;
SET ROLE regress_leaks_owner;
SELECT dpboost_protect('hidden', 1, privacy_unit => 'person');
SELECT train('hidden', 0.5);
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
ALTER TABLE hidden FORCE ROW LEVEL SECURITY;
CREATE POLICY half ON hidden USING (person <= 10);
SELECT dpboost_protect('hidden', accounting => 'unit');
ALTER TABLE hidden NO FORCE ROW LEVEL SECURITY;
SELECT dpboost_protect('hidden', accounting => 'unit');
SELECT part('hidden', '5') > 0 AS seen, part('hidden', '15') = part('hidden', '5') AS unseen;
RESET ROLE;

-- Two records that were one person: rows that are still under the first have no account of their own again.
SELECT part('patients', '7') AS seven \gset
SELECT dpboost_merge_units('patients', '7', '8');
SELECT part('patients', '8') = :seven AS both, dpboost_unit_budget('patients', '7') -> 'forgotten' AS closed;
SELECT train('rare', 0.1), part('patients', '7') AS first, part('patients', '8') = :seven AS second;

-- Blanks at the end count in text and not in char(n): as the other everybody would have a new account.
CREATE TABLE codes AS SELECT 'p' || i || ' ' AS code, i % 90 AS age, i % 2 = 0 AS ill FROM generate_series(1, 20) i;
SELECT dpboost_set_domain('codes', 'age', 0, 100);
SELECT dpboost_protect('codes', 1, privacy_unit => 'code', accounting => 'unit');
SELECT train('codes', 0.5);
ALTER TABLE codes ALTER code TYPE char(20);
SELECT train('codes', 0.5);
ALTER TABLE codes ALTER code TYPE varchar(20) USING rpad(rtrim(code), length(rtrim(code)) + 1);
SELECT train('codes', 0.5), part('codes', 'p5 ') > 0.3 AS twice;

SELECT dpboost_drop_model(full_name) FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE model LIKE 'regress_leaks%') m;
DROP SCHEMA regress_leaks CASCADE;
SELECT dpboost_drop_population('regress_leaks_all');
DROP ROLE regress_leaks_owner;
