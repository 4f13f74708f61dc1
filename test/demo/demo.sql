-- The story that `make demo` tells: a clinic, an analyst who may not look, and a budget that holds. Runs as superuser in
-- a fresh database; every statement below is what a user would type.
\set QUIET on
\set ON_ERROR_STOP on
\set VERBOSITY default
\set SHOW_CONTEXT never
\pset footer off
\pset null '-'
\pset linestyle unicode
\pset border 1
\timing off
SET client_min_messages = warning;

\echo
\echo '1. A clinic has a table about people'
\echo '------------------------------------'
CREATE EXTENSION dpboost;
CREATE ROLE clinic;
CREATE ROLE ana;
GRANT CREATE ON SCHEMA public TO clinic;
SET ROLE clinic;
CREATE TABLE patients (
    id             int PRIMARY KEY,
    age            int     CHECK (age BETWEEN 18 AND 100),
    sex            text    CHECK (sex IN ('F', 'M')),
    smoker         boolean,
    bmi            float8  CHECK (bmi BETWEEN 10 AND 60),
    blood_pressure float8,
    stroke         boolean
);
SELECT setseed(0.42) \g /dev/null
INSERT INTO patients
SELECT id, age, sex, smoker, bmi, pressure,
       random() < 1 / (1 + exp(-(-9.4 + 0.075 * age + 0.9 * smoker::int + 0.05 * (bmi - 26) + 0.018 * pressure)))
FROM (SELECT id, age, sex, smoker, bmi, 90 + age * 0.45 + (bmi - 26) * 0.8 + random() * 30 AS pressure
      FROM (SELECT id, 18 + (random() * 77)::int AS age, CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
                   random() < 0.25 AS smoker, 18 + random() * 10 + random() * 10 AS bmi
            FROM generate_series(1, 40000) id) a) b;
\set ECHO queries
SELECT count(*) AS patients, round(100 * avg(stroke::int), 1) AS percent_with_stroke FROM patients;
\set ECHO none

\echo
\echo '2. Its owner says what is public, and how much may ever be learned'
\echo '------------------------------------------------------------------'
\echo 'Ranges and lists in CHECK constraints are known already. One column has none; and analyst Ana gets a budget.'
\echo
\set ECHO queries
SELECT dpboost_set_domain('patients', 'blood_pressure', 60, 220);
SELECT dpboost_protect('patients', epsilon => 2, delta => 1e-6);
SELECT dpboost_set_budget('patients', 'ana', epsilon => 1, delta => 1e-6);
\set ECHO none

\echo
\echo '3. Ana cannot read a single row'
\echo '-------------------------------'
SET ROLE ana;
\set ON_ERROR_STOP off
\set ECHO queries
SELECT * FROM patients LIMIT 1;
\set ECHO none
\set ON_ERROR_STOP on

\echo
\echo '4. But she can ask what a model would cost, and train it'
\echo '--------------------------------------------------------'
\set ECHO queries
SELECT jsonb_pretty(dpboost_estimate('patients', 'stroke', epsilon => 0.5)) AS estimate;
SELECT jsonb_pretty(dpboost_train_on('stroke_risk', 'patients', 'stroke', epsilon => 0.5)) AS trained;
\set ECHO none

\echo
\echo '5. And predict, in plain SQL'
\echo '----------------------------'
\set ECHO queries
SELECT who, round(dpboost_predict('stroke_risk', p)::numeric, 3) AS risk
FROM (VALUES ('young, fit',     25, 'F', false, 21.0, 105.0),
             ('fifty, average', 50, 'M', false, 27.0, 130.0),
             ('fifty, smokes',  50, 'M', true,  27.0, 130.0),
             ('eighty, smokes', 80, 'M', true,  33.0, 150.0))
     AS p (who, age, sex, smoker, bmi, blood_pressure);
SELECT dpboost_share('stroke_risk', 'clinic');
\set ECHO none

\echo
\echo 'How good is it? The clinic may look at its own rows. AUC: 0.5 is guessing, 1 is perfect.'
\echo
SET ROLE clinic;
WITH scored AS (
    SELECT stroke, rank() OVER (ORDER BY dpboost_predict('stroke_risk', p)) AS position FROM patients p
)
SELECT round(((sum(position) FILTER (WHERE stroke) - count(*) FILTER (WHERE stroke) * (count(*) FILTER (WHERE stroke) + 1) / 2.0)
        / (count(*) FILTER (WHERE stroke) * count(*) FILTER (WHERE NOT stroke)))::numeric, 3) AS auc_of_private_model
FROM scored;

\echo
\echo '6. What was spent stays spent'
\echo '-----------------------------'
\echo 'Ana takes her second training back. The model is out, so the charge stays.'
\echo
SET ROLE ana;
\set ECHO queries
BEGIN;
SELECT dpboost_train_on('stroke_risk', 'patients', 'stroke', epsilon => 0.5) ->> 'version' AS version;
ROLLBACK;
SELECT relation, grantee, epsilon, round(epsilon_spent::numeric, 3) AS spent,
       round(epsilon_remaining::numeric, 3) AS remaining, releases
FROM dpboost_budgets ORDER BY grantee;
\set ECHO none

\echo
\echo '7. When the budget is gone, it is gone'
\echo '--------------------------------------'
\set ON_ERROR_STOP off
\set ECHO queries
SELECT dpboost_train_on('stroke_risk', 'patients', 'stroke', epsilon => 0.9) ->> 'version' AS version;
\set ECHO none
\set ON_ERROR_STOP on

\echo
\echo 'The owner sees every release in the ledger:'
\echo
SET ROLE clinic;
\set ECHO queries
SELECT release_id, role, model, version, method, epsilon, delta FROM dpboost_ledger ORDER BY release_id;
\set ECHO none
