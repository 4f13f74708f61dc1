-- Names as people look for them: what \df shows is for users, results hold what a user can use, numbers are rounded as
-- people write them, and options under the names that other systems give them are answered.
\set SHOW_CONTEXT never
-- functions for users, all with the prefix; what is not for people is in schemas of its own
\a
SELECT string_agg(DISTINCT p.proname, ' ' ORDER BY p.proname) AS functions
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'dpboost'
WHERE p.pronamespace = e.extnamespace;
\a
SELECT n.nspname, count(*) > 0 AS functions FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname ~ '^dpboost' GROUP BY 1 ORDER BY 1;
-- who may call what servers call at each other may not look names up beside the catalog: a prepared statement locks its table,
-- before anybody asks for a right to it
CREATE ROLE regress_nam_ana;
SET ROLE regress_nam_ana;
SELECT dpboost_party.charge();
PREPARE hold AS UPDATE dpboost.charge_lock SET id = id;
RESET ROLE;

CREATE TABLE regress_nam (x float8 CHECK (x BETWEEN 0 AND 1), seen date CHECK (seen BETWEEN '2020-01-01' AND '2024-12-31'),
    at timestamp CHECK (at BETWEEN '2020-01-01' AND '2020-12-31 23:30'), y boolean);
INSERT INTO regress_nam SELECT i % 10 / 10.0, date '2020-01-01' + i, timestamp '2020-01-01' + i * interval '1 hour', i % 10 > 4
FROM generate_series(1, 1000) i;
SELECT dpboost_protect('regress_nam', 3);
CREATE TEMP TABLE result AS SELECT dpboost_train_on('named', 'regress_nam', 'y', 0.3) AS r;
INSERT INTO result SELECT dpboost_train_on('named_trees', 'regress_nam', 'y', 0.3, options => '{"method": "sbdt", "trees": 5}');
-- no trees, no key; nothing that only an accountant can read
SELECT r ->> 'method' AS method, r ->> 'trees' AS trees, string_agg(key, ' ' ORDER BY key) AS keys
FROM result, jsonb_object_keys(r) key GROUP BY r ORDER BY 1;
-- that is in the ledger
SELECT model, calibrated_by, noise_multiplier > 0 AS has_noise FROM dpboost_ledger WHERE model LIKE 'named%' ORDER BY 1;
-- "part", not "share", which is what models are
SELECT string_agg(key, ' ' ORDER BY key) AS left_keys FROM result, jsonb_object_keys(r -> 'remaining' -> 0) key WHERE r ->> 'model' = 'named';
SELECT string_agg(attname, ' ' ORDER BY attname) AS parts FROM pg_attribute
WHERE attrelid IN ('dpboost_budgets'::regclass, 'dpboost_alerts'::regclass) AND attname ~ 'part|share';
-- numbers have six digits at most, and dates are dates
SELECT bool_and(length(regexp_replace(v, '^0\.0*|\.', '', 'g')) <= 6) AS rounded
FROM (SELECT b ->> k AS v FROM result, jsonb_array_elements(r -> 'remaining') b, unnest('{part,epsilon}'::text[]) k
      UNION ALL SELECT unnest(ARRAY[epsilon_spent, epsilon_remaining, part_remaining])::text FROM dpboost_budgets WHERE relation = 'regress_nam'::regclass
      UNION ALL SELECT unnest(ARRAY[epsilon, noise_multiplier])::text FROM dpboost_ledger WHERE model LIKE 'named%') n;
SELECT options ->> 'epsilon' AS epsilon, options ->> 'delta' AS delta FROM dpboost_models WHERE model = 'named';
SELECT f ->> 'name' AS feature, f ->> 'lower' AS lower, f ->> 'upper' AS upper FROM dpboost_models, jsonb_array_elements(features) f
WHERE model = 'named';
SELECT dpboost_set_budget('regress_nam', 'regress_nam_ana', 0.5, max_epsilon_per_train => 0.2);
SET ROLE regress_nam_ana;
SELECT dpboost_train_on('too_much', 'regress_nam', 'y', 0.3);
RESET ROLE;
SELECT dpboost_protect('regress_nam', 3, delta => 1e-7);

-- how many more trainings each limit lets through, of the size that is stated
SELECT grantee, trainings_left, dpboost_trainings_left('regress_nam', 0.1, role => coalesce(grantee, CURRENT_USER::regrole)) AS of_all_limits
FROM dpboost_budgets WHERE relation = 'regress_nam'::regclass ORDER BY 1 NULLS FIRST;
SET dpboost.trainings_left_epsilon = 0.3;
SELECT grantee, trainings_left FROM dpboost_budgets WHERE relation = 'regress_nam'::regclass ORDER BY 1 NULLS FIRST;
SET dpboost.trainings_left_epsilon = 0;
RESET dpboost.trainings_left_epsilon;

-- what other systems call it
SELECT dpboost_estimate('regress_nam', 'y', 1, options => '{"n_estimators": 10}');
SELECT dpboost_estimate('regress_nam', 'y', 1, options => '{"max_depth": 3}');
SELECT dpboost_estimate('regress_nam', 'y', 1, options => '{"eta": 0.1}');
SELECT dpboost_estimate('regress_nam', 'y', 1, options => '{"eps": 1}');
SELECT dpboost_estimate('regress_nam', 'y', 1, options => '{"seed": 1}');
SELECT dpboost_estimate('regress_nam', 'y', 1, options => '{"early_stopping_rounds": 10}');
SELECT dpboost_estimate('regress_nam', 'y', 1, options => '{"sample_weight": "x"}');
SELECT dpboost_estimate('regress_nam', 'y', 1, options => '{"method": "xgboost"}');
-- a model of another column
SELECT dpboost_train('named_text', '{"epsilon": 0.1, "positive": "high"}', CASE WHEN y THEN 'high' ELSE 'low' END, x) ->> 'task' AS task FROM regress_nam;
SELECT dpboost_evaluate('named_text', 'regress_nam', 'y', 0.1);
-- numbers of things
SELECT dpboost_train('m', '{"epsilon": 1, "bounds": [[0, 1]]}', y, x, seen) FROM regress_nam;
SELECT dpboost_train('m', '{"epsilon": 1, "positive": ["a"]}', y, x) FROM regress_nam;
-- a transaction that may not write
BEGIN READ ONLY;
SELECT dpboost_protect('regress_nam', 4);
ROLLBACK;
BEGIN READ ONLY;
SELECT dpboost_share('named', 'regress_nam_ana');
ROLLBACK;
SELECT dpboost_drop_model(m) FROM unnest('{named,named_trees,named_text}'::text[]) m;
DROP TABLE regress_nam;
DROP ROLE regress_nam_ana;
