-- A DBA's every day: watch everything without being superuser, see who changed which limit, renew budgets within a cap, be
-- told before one runs out, see how many trainings are left, and do it for a whole schema.
\set VERBOSITY terse
SET client_min_messages = warning;
SET intervalstyle = postgres;
CREATE ROLE regress_ops_owner;
CREATE ROLE regress_ops_ana;
CREATE ROLE regress_ops_bob;
CREATE ROLE regress_ops_auditor IN ROLE pg_monitor;
CREATE ROLE regress_ops_stats IN ROLE pg_read_all_stats;
CREATE SCHEMA regress_ops;
GRANT ALL ON SCHEMA regress_ops TO regress_ops_owner;
GRANT USAGE ON SCHEMA regress_ops TO regress_ops_ana, regress_ops_bob, regress_ops_auditor;
SET search_path = regress_ops, public;
\i sql/setup/fill.sql
CREATE FUNCTION train(relation regclass, epsilon float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text;
BEGIN
    PERFORM dpboost_train_on('regress_ops_m', relation, 'cost', epsilon, features => '{age}', options => '{"trees": 5}');
    RETURN 'trained';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN message;
END$$;

SET ROLE regress_ops_owner;
SELECT fill('visits'), fill('labs');
SELECT dpboost_protect('visits', 2, privacy_unit => 'patient_id');
SELECT dpboost_set_budget('visits', 'regress_ops_ana', 1);
SET ROLE regress_ops_ana;
SELECT train('visits', 0.1);

-- members of pg_monitor and pg_read_all_stats see all budgets and releases, and may check them, but train nothing
SET ROLE regress_ops_auditor;
SELECT relation, grantee, epsilon, releases FROM dpboost_budgets WHERE relation = 'visits'::regclass ORDER BY grantee NULLS FIRST;
SELECT count(*) FROM dpboost_ledger WHERE role = 'regress_ops_ana';
SELECT dpboost_verify(max(release_id)) -> 'ok' AS ok FROM dpboost_ledger WHERE role = 'regress_ops_ana';
SELECT dpboost_verify() -> 'ok' AS ok;
SELECT dpboost_trainings_left('visits', 0.1, role => 'regress_ops_ana') > 60 AS many;
SELECT train('visits', 0.1);
SELECT dpboost_protect('visits', 100);
SET ROLE regress_ops_stats;
SELECT count(*) FROM dpboost_ledger WHERE role = 'regress_ops_ana';
SELECT count(*) FROM dpboost_limit_history WHERE relation = 'regress_ops.visits';
SET ROLE regress_ops_bob;
SELECT count(*) FROM dpboost_ledger;
SELECT count(*) FROM dpboost_budgets;
SELECT count(*) FROM dpboost_limit_history;
SELECT dpboost_trainings_left('visits', 0.1);
SELECT dpboost_trainings_left('visits', 0.1, role => 'regress_ops_ana');

-- who set which limit when
SET ROLE regress_ops_owner;
SELECT dpboost_set_budget('visits', 'regress_ops_ana', 1.5, max_epsilon_per_train => 0.5);
SELECT dpboost_set_budget('visits', 'regress_ops_bob', 1);
SELECT dpboost_revoke_budget('visits', 'regress_ops_bob');
SELECT dpboost_protect('visits', 3);
BEGIN;
SELECT dpboost_protect('visits', 100);
ROLLBACK;
SELECT role, change, relation, grantee, epsilon, delta, max_epsilon_per_train, privacy_unit FROM dpboost_limit_history
WHERE relation = 'regress_ops.visits' ORDER BY change_id;
SELECT count(*) = count(DISTINCT change_id) AND min(changed_at) > now() - interval '1 hour' AS dated,
       bool_and(session_role = session_user) AS by_login FROM dpboost_limit_history WHERE relation = 'regress_ops.visits';
SET ROLE regress_ops_ana;
SELECT change, epsilon FROM dpboost_limit_history ORDER BY change_id;
RESET ROLE;
UPDATE dpboost.limit_history SET epsilon = 1;
DELETE FROM dpboost.limit_history;
TRUNCATE dpboost.limit_history;
SET ROLE regress_ops_owner;
SELECT dpboost_create_population('regress_ops_people', 2);
SELECT dpboost_protect('labs', population => 'regress_ops_people', privacy_unit => 'patient_id');
SELECT dpboost_alter_population('regress_ops_people', 3);
SELECT dpboost_unprotect('labs');
SELECT dpboost_drop_population('regress_ops_people');
SELECT change, relation, population, epsilon, privacy_unit FROM dpboost_limit_history
WHERE population = 'regress_ops_people' OR relation = 'regress_ops.labs' ORDER BY change_id;

-- budgets that renew, only under a cap
SELECT dpboost_set_budget('labs', 'regress_ops_ana', 0.2, renew => '1 month');
SELECT dpboost_protect('labs', 0.6);
SELECT dpboost_set_budget('labs', 'regress_ops_ana', 0.2, renew => '-1 month');
SELECT dpboost_set_budget('labs', 'regress_ops_ana', 0.2, renew => '1 minute');
SELECT dpboost_set_budget('labs', 'regress_ops_ana', 0.2, renew => '1 month -27 days');
SELECT dpboost_set_budget('labs', 'regress_ops_ana', 0.2, renew => '1 month');
SET ROLE regress_ops_ana;
SELECT train('labs', 0.15), train('labs', 0.15);
SELECT epsilon, releases, renew, renews_at > now() + interval '27 days' AND renews_at < now() + interval '32 days' AS next_month
FROM dpboost_budgets WHERE relation = 'labs'::regclass ORDER BY grantee NULLS FIRST;
-- a month goes by: the first window began earlier, and the releases were made in it
RESET ROLE;
UPDATE dpboost.allowance SET renew_from = renew_from - interval '1 month 1 day' WHERE relation::text = 'regress_ops.labs';
SET ROLE regress_ops_ana;
SELECT train('labs', 0.15) AS still_the_same_window;
RESET ROLE;
BEGIN;
ALTER TABLE dpboost.ledger DISABLE TRIGGER keep_ledger;
UPDATE dpboost.ledger SET released_at = released_at - interval '2 days' WHERE relations = '{regress_ops.labs}';
ALTER TABLE dpboost.ledger ENABLE TRIGGER keep_ledger;
COMMIT;
SET ROLE regress_ops_ana;
SELECT releases, epsilon_spent = 0 AS none, epsilon_spent_ever > 0.1 AS ever, part_remaining FROM dpboost_budgets WHERE relation = 'labs'::regclass AND grantee IS NOT NULL;
SELECT releases, epsilon_spent > 0.1 AS all_counts FROM dpboost_budgets WHERE relation = 'labs'::regclass AND grantee IS NULL;
SELECT train('labs', 0.15) AS next_window, train('labs', 0.15) AS used_up;
-- the cap counts every window: in the end it is what holds
RESET ROLE;
CREATE PROCEDURE month_passes() LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE dpboost.ledger DISABLE TRIGGER keep_ledger;
    UPDATE dpboost.ledger SET released_at = released_at - interval '32 days' WHERE relations = '{regress_ops.labs}';
    ALTER TABLE dpboost.ledger ENABLE TRIGGER keep_ledger;
    COMMIT;
END$$;
CREATE TABLE outcome (month int, answer text);
GRANT ALL ON outcome TO regress_ops_ana;
DO $$
BEGIN
    FOR month IN 1 .. 30 LOOP
        CALL month_passes();
        EXECUTE 'SET ROLE regress_ops_ana';
        INSERT INTO outcome VALUES (month, train('labs', 0.15));
        EXECUTE 'RESET ROLE';
        COMMIT;
    END LOOP;
END$$;
SELECT answer, count(*) BETWEEN 5 AND 25 AS often, min(month) > 5 OR answer = 'trained' AS at_the_end FROM outcome GROUP BY answer ORDER BY answer DESC;
SELECT epsilon_spent <= epsilon AS within, epsilon_spent_adaptive <= epsilon AS within_adaptive FROM dpboost_budgets WHERE relation = 'labs'::regclass AND grantee IS NULL;
SELECT dpboost_verify() -> 'ok' AS ok;
-- on a server with an earlier clock than the one that set the budget, all that was spent is in the first window
BEGIN;
UPDATE dpboost.allowance SET renew_from = now() + interval '1 year' WHERE relation::text = 'regress_ops.labs';
SELECT releases > 5 AS all_of_it, part_remaining FROM dpboost_budgets WHERE relation = 'labs'::regclass AND grantee IS NOT NULL;
ROLLBACK;
-- a clock that is set back opens no window again
BEGIN;
ALTER TABLE dpboost.ledger DISABLE TRIGGER keep_ledger;
UPDATE dpboost.ledger SET released_at = now() + interval '10 years' WHERE release_id = (SELECT max(release_id) FROM dpboost.ledger);
ALTER TABLE dpboost.ledger ENABLE TRIGGER keep_ledger;
COMMIT;
SET ROLE regress_ops_owner;
SELECT renews_at > now() + interval '9 years' AS ledger_time FROM dpboost_budgets WHERE relation = 'labs'::regclass AND grantee IS NOT NULL;
SELECT dpboost_protect('labs', 5);
SELECT train('labs', 0.01);
SELECT max(released_at) > now() + interval '9 years' AND count(*) FILTER (WHERE released_at > now() + interval '9 years') = 2 AS never_back FROM dpboost_ledger WHERE 'regress_ops.labs' = ANY (relations);
RESET ROLE;
BEGIN;
ALTER TABLE dpboost.ledger DISABLE TRIGGER keep_ledger;
UPDATE dpboost.ledger SET released_at = now() WHERE released_at > now();
ALTER TABLE dpboost.ledger ENABLE TRIGGER keep_ledger;
COMMIT;
SET ROLE regress_ops_owner;
-- renewal ends, and a cap that is taken away takes the budget with it
SELECT dpboost_set_budget('labs', 'regress_ops_ana', renew => '0');
SELECT renew, renews_at FROM dpboost_budgets WHERE relation = 'labs'::regclass AND grantee IS NOT NULL;
SELECT dpboost_set_budget('labs', 'regress_ops_ana', 1, renew => '1 month');
RESET ROLE;
BEGIN;
DELETE FROM dpboost.protection WHERE relation_id IN (SELECT relation_id FROM dpboost.relation_name WHERE relation_name = 'labs' AND schema_name = 'regress_ops');
SET ROLE regress_ops_ana;
SELECT train('labs', 0.01);
ROLLBACK;

-- alerts
SET ROLE regress_ops_owner;
SELECT fill('bills');
SELECT dpboost_protect('bills', 1), dpboost_set_budget('bills', 'regress_ops_ana', 0.5);
SELECT dpboost_set_alert('bills', 0);
SELECT dpboost_set_alert();
SELECT dpboost_set_alert(population => 'nobody');
SELECT dpboost_set_alert('bills', 0.9);
SELECT dpboost_set_alert('bills', 0.5, grantee => 'regress_ops_ana');
SELECT relation, grantee, part_remaining, raised_at, times FROM dpboost_alerts ORDER BY grantee NULLS FIRST;
SET ROLE regress_ops_ana;
SELECT dpboost_set_alert('bills', 0.5);
SELECT count(*) FROM dpboost_alerts;
SET client_min_messages = notice;
SELECT train('bills', 0.1);
SELECT train('bills', 0.4);
SELECT train('bills', 0.3);
SET client_min_messages = warning;
SET ROLE regress_ops_owner;
SELECT relation, grantee, part_remaining, raised_at IS NOT NULL AS raised, times FROM dpboost_alerts ORDER BY grantee NULLS FIRST;
SET client_min_messages = notice;
SELECT train('bills', 0.5);
SELECT train('bills', 0.05) AS told_once;
SET client_min_messages = warning;
SELECT relation, grantee, times FROM dpboost_alerts ORDER BY grantee NULLS FIRST;
-- a limit that is not there
SELECT dpboost_set_alert('bills', 0.5, grantee => 'regress_ops_bob');
BEGIN;
SELECT dpboost_unprotect('bills');
SELECT dpboost_set_alert('bills', 0.5);
ROLLBACK;
-- one that is set when less is left already is raised by the next training, once
SELECT dpboost_set_alert('bills', 0.85);
SET client_min_messages = notice;
SELECT train('bills', 0.02);
SELECT train('bills', 0.02) AS told_once;
SET client_min_messages = warning;
SELECT relation, grantee, times FROM dpboost_alerts ORDER BY grantee NULLS FIRST;
SELECT dpboost_drop_alert('bills'), dpboost_drop_alert('bills', grantee => 'regress_ops_ana');
SELECT dpboost_drop_alert('bills');
SELECT count(*) FROM dpboost_alerts;

-- how many more
SELECT dpboost_trainings_left('bills', 0.01) > 100 AS many, dpboost_trainings_left('bills', 0.9) AS none, dpboost_trainings_left('bills', 0);
SELECT dpboost_trainings_left('bills', 0.01) > 100 AS many, dpboost_trainings_left('bills', 0.9) AS none;
SELECT fill('fresh');
SELECT dpboost_trainings_left('fresh', 0.1) AS no_limit;
SELECT dpboost_protect('fresh', 1);
SELECT dpboost_trainings_left('fresh', 0.1) AS tenths, dpboost_trainings_left('fresh', 1) AS whole;
SELECT dpboost_set_budget('fresh', 'regress_ops_ana', 0.5, max_epsilon_per_train => 0.1);
SELECT dpboost_trainings_left('fresh', 0.1, role => 'regress_ops_ana') < 72 AS fewer, dpboost_trainings_left('fresh', 0.2, role => 'regress_ops_ana') AS too_large;
DO $$
DECLARE before int; answers text := '';
BEGIN
    PERFORM dpboost_protect('fresh', 0.3);
    before := dpboost_trainings_left('fresh', 0.1);
    FOR i IN 1 .. before + 1 LOOP answers := answers || left(train('fresh', 0.1), 1); END LOOP;
    RAISE WARNING 'as many as it said: %', answers = repeat('t', before) || 'p';
END$$;

-- a whole schema at once, or nothing of it
RESET ROLE;
CREATE SCHEMA regress_ops_all AUTHORIZATION regress_ops_owner;
SET ROLE regress_ops_owner;
SET search_path = regress_ops_all, regress_ops, public;
SELECT fill('one'), fill('two'), fill('three');
CREATE TABLE parted (patient_id int, age float8) PARTITION BY RANGE (patient_id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (10);
CREATE VIEW seen AS SELECT * FROM one;
SELECT dpboost_protect_schema('regress_ops_all', 2, privacy_unit => 'patient_id') AS tables;
SELECT dpboost_set_schema_budget('regress_ops_all', 'regress_ops_ana', 1, max_epsilon_per_train => 0.2, renew => '1 month') AS tables;
SELECT relation, grantee, epsilon, max_epsilon_per_train, renew, privacy_unit FROM dpboost_budgets WHERE relation::text ~ '^(one|two|three|parted)' ORDER BY 1, 2 NULLS FIRST;
-- what it replaces, it says; what stays as it was, it does not
SELECT dpboost_protect('two', 5, 1e-7);
SET client_min_messages = notice;
BEGIN;
SELECT dpboost_protect_schema('regress_ops_all', 2.5) AS tables;
SELECT dpboost_set_schema_budget('regress_ops_all', 'regress_ops_ana', 1.5) AS tables;
SELECT dpboost_set_schema_budget('regress_ops_all', 'regress_ops_ana', 1.5) AS tables;
ROLLBACK;
SET client_min_messages = warning;
CREATE TABLE without (x int);
SELECT dpboost_protect_schema('regress_ops_all', 3, privacy_unit => 'patient_id');
SELECT count(*) FILTER (WHERE epsilon = 3) AS changed FROM dpboost_budgets WHERE relation::text IN ('one', 'two', 'three', 'parted');
RESET ROLE;
SET ROLE regress_ops_bob;
SELECT dpboost_set_schema_budget('regress_ops_all', 'regress_ops_bob', 100);

-- settings are known to a session that has loaded the library
RESET ROLE;
\c -
LOAD 'dpboost';
ALTER SYSTEM SET dpboost.threads = 2;
ALTER SYSTEM RESET dpboost.threads;

SET client_min_messages = warning;
SELECT count(dpboost_drop_model(full_name)) FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE model = 'regress_ops_m') m;
DROP SCHEMA regress_ops CASCADE;
DROP SCHEMA regress_ops_all CASCADE;
DROP OWNED BY regress_ops_owner, regress_ops_ana, regress_ops_bob, regress_ops_auditor, regress_ops_stats;
DROP ROLE regress_ops_owner, regress_ops_ana, regress_ops_bob, regress_ops_auditor, regress_ops_stats;
