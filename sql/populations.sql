-- One person in many tables: a population is one cap for all of them. What was spent on a table before it joined counts,
-- and nothing that its owner or anyone else does gives any of it back.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE ROLE regress_pop_owner;
CREATE ROLE regress_pop_ana;
CREATE ROLE regress_pop_other;
CREATE ROLE regress_pop_office;
CREATE SCHEMA regress_pop;
GRANT ALL ON SCHEMA regress_pop TO regress_pop_owner, regress_pop_other;
GRANT USAGE ON SCHEMA regress_pop TO regress_pop_ana;
SET search_path = regress_pop, public;

\i sql/setup/fill.sql
CREATE FUNCTION train(relation regclass, epsilon float8, method text DEFAULT 'auto') RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text;
BEGIN
    PERFORM dpboost_train_on('regress_pop_m', relation, 'cost', epsilon, features => '{age}',
                             options => jsonb_build_object('method', method, 'trees', 5));
    RETURN 'trained';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN message;
END$$;
CREATE VIEW spent AS SELECT population, relation, grantee, epsilon, delta, round(epsilon_spent::numeric, 3) AS spent,
    round(epsilon_remaining::numeric, 3) AS remaining, releases, privacy_unit, earlier_releases FROM dpboost_budgets;
GRANT SELECT ON spent TO PUBLIC;

SET ROLE regress_pop_owner;
SELECT fill('visits'), fill('labs'), fill('bills');

-- arguments and rights
SELECT dpboost_create_population(NULL, 1);
SELECT dpboost_create_population('', 1);
SELECT dpboost_create_population('patients', NULL);
SELECT dpboost_create_population('patients', 0);
SELECT dpboost_create_population('patients', 1, 0.5);
SELECT dpboost_protect('visits', population => 'patients');
SELECT dpboost_create_population('patients', 1);
SELECT dpboost_create_population('patients', 2);
SELECT dpboost_protect('visits');
SELECT dpboost_protect('visits', population => 'patients', privacy_unit => 'nobody');
SET ROLE regress_pop_other;
SELECT fill('others');
SELECT dpboost_protect('others', population => 'patients');
SELECT dpboost_protect('visits', population => 'patients');
SELECT dpboost_alter_population('patients', 100);
SELECT dpboost_drop_population('patients');
SELECT count(*) AS sees FROM dpboost_budgets;
SELECT count(*) AS sees FROM dpboost_populations;

-- one cap for all tables
SET ROLE regress_pop_owner;
SELECT dpboost_protect('visits', population => 'patients', privacy_unit => 'patient_id');
SELECT dpboost_protect('labs', population => 'patients', privacy_unit => 'patient_id');
SELECT dpboost_set_budget('visits', 'regress_pop_ana', 10);
SELECT dpboost_set_budget('labs', 'regress_pop_ana', 10);
SELECT population, relation, privacy_unit, belongs FROM dpboost_populations ORDER BY relation;
SET ROLE regress_pop_ana;
SELECT train('visits', 0.5), train('labs', 0.5);
SELECT * FROM spent ORDER BY population, relation::text NULLS FIRST, grantee;
SELECT train('visits', 0.7);
SELECT train('labs', 0.7);
SELECT dpboost_estimate('visits', 'cost', 0.1, features => '{age}') -> 'remaining' -> 0 ->> 'population' AS population;
SET ROLE regress_pop_owner;
SELECT train('visits', 0.7) AS the_owner_too;
SELECT dpboost_verify() -> 'ok' AS ok, dpboost_verify() -> 'limits' AS limits;

-- a release that reads two of the tables counts once: through a view that stands for both
CREATE VIEW both_tables AS SELECT v.visit_id, v.patient_id, v.age, l.cost FROM visits v JOIN labs l USING (visit_id, patient_id);
SELECT dpboost_protect('both_tables', population => 'patients', privacy_unit => 'patient_id');
SELECT releases FROM dpboost_budgets WHERE relation IS NULL;
SELECT dpboost_train_on('regress_pop_m', 'both_tables', 'cost', 0.1, features => '{age}',
                        options => '{"trees": 5, "target_range": [0, 1000], "bounds": {"age": [0, 100]}}') ->> 'epsilon' AS epsilon;
SELECT releases FROM dpboost_budgets WHERE relation IS NULL;

-- what a table has spent before it joins counts, for its own unit or accepted by name
SELECT train('bills', 0.4);
SELECT dpboost_protect('bills', population => 'patients', privacy_unit => 'patient_id');
SELECT dpboost_protect('bills', population => 'patients', privacy_unit => 'patient_id', accept_earlier => true);
SELECT releases, epsilon_spent > 0.8 AS more, earlier_releases FROM dpboost_budgets WHERE relation IS NULL;
SELECT dpboost_protect('others', population => 'patients');

-- a table is in one population; its own cap stays beside it
SELECT dpboost_create_population('clients', 5);
SELECT dpboost_protect('bills', population => 'clients');
SELECT dpboost_protect('bills', epsilon => 0.01);
SELECT train('bills', 0.05);
SELECT epsilon, population FROM dpboost_budgets WHERE relation = 'bills'::regclass;

-- attack: leave, train, come back
SELECT dpboost_alter_population('patients', 1.5);
SELECT releases FROM dpboost_budgets WHERE population = 'patients' AND relation IS NULL;
SELECT dpboost_unprotect('labs');
SELECT train('labs', 0.9) AS on_its_own;
SELECT population, relation, belongs FROM dpboost_populations ORDER BY relation;
SELECT releases, epsilon_remaining FROM dpboost_budgets WHERE population = 'patients' AND relation IS NULL;
SELECT train('visits', 0.2) AS others_pay_for_it;
SELECT dpboost_protect('labs', population => 'patients', privacy_unit => 'patient_id');

-- attack: drop the population, and create it again
SELECT dpboost_drop_population('patients');
SELECT dpboost_unprotect('visits'), dpboost_unprotect('bills'), dpboost_unprotect('both_tables');
SELECT dpboost_drop_population('patients');
SELECT dpboost_drop_population('patients');
SELECT count(*) AS shown FROM dpboost_budgets WHERE population = 'patients';
SELECT dpboost_create_population('patients', 1);
SELECT dpboost_protect('visits', population => 'patients', privacy_unit => 'patient_id');
SELECT releases, epsilon_remaining FROM dpboost_budgets WHERE population = 'patients' AND relation IS NULL;
SELECT train('visits', 0.01);
-- under another name: what its tables have spent comes with them
SELECT dpboost_unprotect('visits');
SELECT dpboost_create_population('people', 1);
SELECT dpboost_protect('visits', population => 'people', privacy_unit => 'patient_id');
SELECT releases > 0 AS counted FROM dpboost_budgets WHERE population = 'people' AND relation IS NULL;

-- attack: rename, drop and re-create, another schema
SELECT dpboost_alter_population('people', 3);
SELECT releases AS before FROM dpboost_budgets WHERE population = 'people' AND relation IS NULL \gset
ALTER TABLE visits RENAME TO old_visits;
SELECT fill('visits');
SELECT train('old_visits', 0.1);
SELECT releases - :before AS more FROM dpboost_budgets WHERE population = 'people' AND relation IS NULL;
DROP TABLE old_visits CASCADE;
DROP TABLE visits;
SELECT fill('old_visits');
SELECT relation, belongs FROM dpboost_populations WHERE population = 'people';
SELECT train('old_visits', 0.1) AS under_the_old_name;
SELECT releases - :before AS more FROM dpboost_budgets WHERE population = 'people' AND relation IS NULL;
SELECT train('old_visits', 2.99);

-- attack: the table's new owner, a member of the role that owned it
RESET ROLE;
GRANT regress_pop_owner TO regress_pop_other;
ALTER TABLE old_visits OWNER TO regress_pop_other;
SET ROLE regress_pop_other;
SELECT train('old_visits', 2.99);
RESET ROLE;
REVOKE regress_pop_owner FROM regress_pop_other;
SET ROLE regress_pop_other;
SELECT train('old_visits', 2.99);

-- attack: savepoints and rollback keep no charge back
RESET ROLE;
ALTER TABLE old_visits OWNER TO regress_pop_owner;
SET ROLE regress_pop_owner;
SELECT releases AS before FROM dpboost_budgets WHERE population = 'people' AND relation IS NULL \gset
BEGIN;
SAVEPOINT s;
SELECT train('old_visits', 0.1);
ROLLBACK TO s;
SELECT dpboost_unprotect('old_visits');
SELECT train('old_visits', 0.1);
ROLLBACK;
SELECT releases - :before AS more FROM dpboost_budgets WHERE population = 'people' AND relation IS NULL;

-- attack: a partition whose releases were for rows makes the whole population wait
CREATE TABLE parts (visit_id int, patient_id int, age float8 CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000))
    PARTITION BY RANGE (visit_id);
SELECT dpboost_protect('parts', population => 'people', privacy_unit => 'patient_id');
CREATE TABLE part (LIKE parts INCLUDING CONSTRAINTS);
SELECT train('part', 0.1);
ALTER TABLE parts ATTACH PARTITION part FOR VALUES FROM (1) TO (1000);
SELECT train('old_visits', 0.1);
SELECT dpboost_protect('parts', accept_earlier => true);
SELECT train('old_visits', 0.1), train('part', 0.1);

-- attack: the row of the population is gone
RESET ROLE;
BEGIN;
DELETE FROM dpboost.population WHERE name = 'people';
SET ROLE regress_pop_owner;
SELECT train('old_visits', 0.1);
SELECT count(*) FROM dpboost_budgets;
ROLLBACK;
DELETE FROM dpboost.population_member;
UPDATE dpboost.population_member SET population_id = 0;

-- other noise: both filters, in whatever order tables join
SET ROLE regress_pop_owner;
SELECT fill('a'), fill('b');
SELECT train('a', 0.2, 'dp_tr'), train('b', 0.2);
SELECT dpboost_create_population('mixed', 1);
SELECT dpboost_protect('b', population => 'mixed');
SELECT dpboost_protect('a', population => 'mixed');
SELECT train('a', 0.2, 'dp_tr'), train('b', 0.2);
SELECT releases, epsilon_spent < epsilon_spent_adaptive AS adaptive_is_more, part_remaining BETWEEN 0.1 AND 0.9 AS some_left
FROM dpboost_budgets WHERE population = 'mixed' AND relation IS NULL;
SELECT train('a', 0.8, 'dp_tr'), train('b', 0.8);
SELECT dpboost_verify() -> 'mismatches' AS mismatches;

-- a group of owners shares one through a role
RESET ROLE;
GRANT regress_pop_office TO regress_pop_owner, regress_pop_other;
SET ROLE regress_pop_office;
SELECT dpboost_create_population('common', 2);
SET ROLE regress_pop_owner;
SELECT fill('mine');
SELECT dpboost_protect('mine', population => 'common', privacy_unit => 'patient_id');
SET ROLE regress_pop_other;
SELECT dpboost_protect('others', population => 'common', privacy_unit => 'patient_id');
SELECT relation, belongs FROM dpboost_populations WHERE population = 'common' ORDER BY 1;

-- never over: trainings in any order, tables that leave and come back
SET ROLE regress_pop_owner;
SELECT fill('t1'), fill('t2'), fill('t3');
SELECT dpboost_create_population('any', 0.8);
SELECT dpboost_protect('t1', population => 'any'), dpboost_protect('t2', population => 'any');
CREATE TABLE seen (step int, what text, ok boolean);
DO $$
DECLARE
    tables text[] := '{t1,t2,t3}';
    chosen text;
    answer text;
    now_spent float8;
    before float8 := 0;
    count bigint;
    expected bigint;
BEGIN
    PERFORM setseed(0.42);
    FOR step IN 1 .. 40 LOOP
        chosen := tables[1 + floor(random() * 3)];
        IF step = 12 THEN
            PERFORM dpboost_unprotect('t2');
        ELSIF step = 20 THEN
            PERFORM dpboost_protect('t3', population => 'any');
        ELSIF step = 24 THEN
            PERFORM dpboost_protect('t2', population => 'any');
        END IF;
        SELECT epsilon_spent_adaptive, releases INTO before, expected FROM dpboost_budgets WHERE population = 'any' AND relation IS NULL;
        answer := train(chosen::regclass, 0.02 + 0.3 * random(), CASE WHEN random() < 0.3 THEN 'dp_tr' ELSE 'auto' END);
        SELECT epsilon_spent_adaptive, releases INTO now_spent, count FROM dpboost_budgets WHERE population = 'any' AND relation IS NULL;
        -- what was let through keeps to the cap, unless a table that is on its own went over it; what was refused costs nothing
        INSERT INTO seen VALUES (step, answer,
            CASE WHEN answer <> 'trained' THEN count = expected AND now_spent = before
                 WHEN EXISTS (SELECT FROM dpboost_populations p WHERE p.population = 'any' AND p.belongs AND p.relation = 'regress_pop.' || chosen)
                 THEN count = expected + 1 AND now_spent <= 0.8
                 ELSE count - expected IN (0, 1) AND now_spent >= before END);
    END LOOP;
END$$;
SELECT count(*) FILTER (WHERE NOT ok) AS wrong, count(*) FILTER (WHERE what = 'trained') BETWEEN 5 AND 39 AS some_trained,
       count(*) FILTER (WHERE what LIKE '%population "any"%') > 0 AS some_refused FROM seen;
SELECT step, what FROM seen WHERE NOT ok OR what NOT IN ('trained', 'privacy budget of population "any" is exhausted');
SELECT dpboost_verify() -> 'mismatches' AS mismatches;

SELECT dpboost_drop_model('regress_pop_m');
SET ROLE regress_pop_ana;
SELECT dpboost_drop_model('regress_pop_m');
RESET ROLE;
DROP SCHEMA regress_pop CASCADE;
-- no table is left in them; one that is created under its old name would still have their cap
SELECT dpboost_drop_population(name) FROM unnest('{patients,clients,people,mixed,common,any}'::name[]) name;
SELECT count(*) FROM dpboost_budgets WHERE population IS NOT NULL;
DROP OWNED BY regress_pop_owner, regress_pop_ana, regress_pop_other, regress_pop_office;
DROP ROLE regress_pop_owner, regress_pop_ana, regress_pop_other, regress_pop_office;
