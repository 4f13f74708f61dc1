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
\o /dev/null
SELECT dpboost_set_domain('patients', 'blood_pressure', 60, 220);
SELECT dpboost_protect('patients', epsilon => 2, delta => 1e-6);
SELECT dpboost_set_budget('patients', 'ana', epsilon => 1, delta => 1e-6);
\o
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
SELECT coalesce(budget ->> 'role', 'everyone together') AS budget_of, round((budget ->> 'epsilon')::numeric, 3) AS would_be_left
FROM dpboost_estimate('patients', 'stroke', epsilon => 0.5) e, jsonb_array_elements(e -> 'remaining') budget;
\pset format unaligned
\pset tuples_only on
SELECT jsonb_pretty(dpboost_train_on('stroke_risk', 'patients', 'stroke', epsilon => 0.5) - 'remaining');
\pset format aligned
\pset tuples_only off
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
\o /dev/null
SELECT dpboost_share('stroke_risk', 'clinic');
\o
\set ECHO none

\echo
\echo 'How good is it? The clinic may look at its own rows, and we know the formula that made them, which nothing can beat.'
\echo 'AUC: 0.5 is guessing, 1 is perfect.'
\echo
SET ROLE clinic;
CREATE FUNCTION pg_temp.auc(scores float8[], truth boolean[]) RETURNS numeric LANGUAGE sql AS $$
    SELECT round(((sum(place) FILTER (WHERE hit) - p * (p + 1) / 2) / (p * (count(*) - p)))::numeric, 3)
    FROM (SELECT rank() OVER (ORDER BY score) AS place, hit, count(*) FILTER (WHERE hit) OVER () AS p
          FROM unnest(scores, truth) AS u (score, hit)) ranked GROUP BY p $$;
SELECT pg_temp.auc(array_agg(dpboost_predict('ana.stroke_risk', p)), array_agg(stroke)) AS auc_of_private_model,
       pg_temp.auc(array_agg(0.075 * age + 0.9 * smoker::int + 0.05 * bmi + 0.018 * blood_pressure), array_agg(stroke))
           AS auc_of_true_formula
FROM patients p;

\if :{?report}
\echo
\echo 'What does it look at? One page says it: what matters, how each column moves the risk, and what noise hides.'
\echo
SET ROLE ana;
\pset format unaligned
\pset tuples_only on
\o :report
SELECT dpboost_report('stroke_risk');
\o
\pset format aligned
\pset tuples_only off
\echo The page, for any browser: :report
\endif

\echo
\echo '6. What was spent stays spent'
\echo '-----------------------------'
\echo 'Ana takes her second training back. The charge was committed before the first noise was drawn, and stays. (And two'
\echo 'trainings at 0.5 cost less than 1 together: the accountant composes them as tightly as the proofs allow.)'
\echo
SET ROLE ana;
\set ECHO queries
BEGIN;
SELECT dpboost_train_on('stroke_risk', 'patients', 'stroke', epsilon => 0.5) ->> 'version' AS version;
ROLLBACK;
SELECT relation, coalesce(grantee::text, 'everyone together') AS budget_of, epsilon AS cap, round(epsilon_spent::numeric, 3) AS spent,
       round(epsilon_remaining::numeric, 3) AS remaining, releases
FROM dpboost_budgets ORDER BY cap;
\set ECHO none

\echo
\echo '7. When the budget is gone, it is gone'
\echo '--------------------------------------'
\echo 'Ana spends what she has left, and asks for a little more.'
\echo
\set ON_ERROR_STOP off
\set ECHO queries
SELECT dpboost_train_on('stroke_risk', 'patients', 'stroke', epsilon_remaining) ->> 'version' AS version
FROM dpboost_budgets WHERE grantee = 'ana'::regrole;
SELECT dpboost_train_on('stroke_risk', 'patients', 'stroke', epsilon => 0.01) ->> 'version' AS version;
\set ECHO none
\set ON_ERROR_STOP on

\echo
\echo 'The owner sees every release in the ledger, and whether its model was delivered (a training that is cancelled stays charged):'
\echo
SET ROLE clinic;
\set ECHO queries
SELECT release_id, role, model, version, method, epsilon, delivered FROM dpboost_ledger ORDER BY release_id;
\set ECHO none
