-- An estimate answers: whether a training fits, what would, and how many such are left. It charges nothing and reads no row.
SET client_min_messages = warning;
CREATE ROLE regress_est_ana;
CREATE TABLE regress_est AS SELECT i / 100.0::float8 AS x, i % 2 = 0 AS y FROM generate_series(1, 100) i;
SELECT dpboost_set_domain('regress_est', 'x', 0, 1);
SELECT dpboost_estimate('regress_est', 'y', 1);
SELECT dpboost_protect('regress_est', epsilon => 2);
SELECT dpboost_set_budget('regress_est', 'regress_est_ana', epsilon => 1);
GRANT USAGE ON SCHEMA public TO regress_est_ana;
SET ROLE regress_est_ana;
CREATE FUNCTION pg_temp.asked(epsilon float8, options jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
    $$SELECT dpboost_estimate('regress_est', 'y', epsilon, options => options) - '{task,method,delta,features,remaining}'::text[]$$;
SELECT pg_temp.asked(1), pg_temp.asked(0.1);
SELECT pg_temp.asked(1.5);
-- of several limits the tightest is told, so that who asks for what is left gets it
SELECT dpboost_train_on('est', 'regress_est', 'y', 50);
SELECT jsonb_pretty(dpboost_estimate('regress_est', 'y', 1.5) -> 'remaining');
-- what would fit does, and is what the training's own error says
SELECT dpboost_train_on('est', 'regress_est', 'y', 0.5) ->> 'version' AS version;
SELECT pg_temp.asked(0.9);
SELECT dpboost_train_on('est', 'regress_est', 'y', 0.9);
SELECT (pg_temp.asked((pg_temp.asked(0.9) ->> 'would_fit')::float8) -> 'fits')::boolean AS what_would_fit_fits;
SELECT (pg_temp.asked((pg_temp.asked(0.9) ->> 'would_fit')::float8 * 1.001) -> 'fits')::boolean AS and_not_more;
-- as many as it says are left, and then none
SELECT (pg_temp.asked(0.3) ->> 'trainings_left')::int AS left \gset
SELECT count(dpboost_train_on('est', 'regress_est', 'y', 0.3)) = :left AS so_many_fit FROM generate_series(1, :left);
SELECT pg_temp.asked(0.3) -> 'fits' AS fits, pg_temp.asked(0.3) -> 'trainings_left' AS trainings_left;
SELECT dpboost_train_on('est', 'regress_est', 'y', 0.3);
SELECT (pg_temp.asked(0.3, '{"method": "sbdt", "trees": 5}') -> 'fits')::boolean AS fits;
-- the limit for a single training
RESET ROLE;
SELECT dpboost_set_budget('regress_est', 'regress_est_ana', epsilon => 1.9, max_epsilon_per_train => 0.2);
SET ROLE regress_est_ana;
SELECT pg_temp.asked(0.3);
SELECT pg_temp.asked(0.2) -> 'fits' AS fits;
-- a cap for each person is told as it was set, and granted
RESET ROLE;
CREATE TABLE regress_est_units AS SELECT i AS person, i / 100.0::float8 AS x, i % 2 = 0 AS y FROM generate_series(1, 100) i;
SELECT dpboost_set_domain('regress_est_units', 'x', 0, 1);
SELECT dpboost_protect('regress_est_units', 1, privacy_unit => 'person', accounting => 'unit');
SELECT e -> 'would_fit' AS would_fit, dpboost_estimate('regress_est_units', 'y', (e ->> 'would_fit')::float8) -> 'fits' AS fits
FROM dpboost_estimate('regress_est_units', 'y', 2) e;
DROP TABLE regress_est_units;
SET ROLE regress_est_ana;
-- what is wrong with the call is an error still
SELECT dpboost_estimate('regress_est', 'z', 0.3);
SELECT dpboost_estimate('regress_est', 'y', 0.3, options => '{"method": "none"}');
RESET ROLE;
-- nothing left at all
SELECT dpboost_protect('regress_est', epsilon => 0.9);
SET ROLE regress_est_ana;
SELECT pg_temp.asked(0.3);
SELECT dpboost_train_on('est', 'regress_est', 'y', 0.3);
SELECT dpboost_drop_model('est');
DROP FUNCTION pg_temp.asked;
RESET ROLE;
DROP TABLE regress_est;
REVOKE USAGE ON SCHEMA public FROM regress_est_ana;
DROP ROLE regress_est_ana;
