-- Other targets than a mean: amounts on a logarithmic scale, quantiles, outliers, intervals; rows that count more or less;
-- curves that only rise or only fall.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE SCHEMA regress_targets;
SET search_path = regress_targets, public;
CREATE TABLE claims (id int PRIMARY KEY, age float8 CHECK (age BETWEEN 0 AND 100), kind text, region text CHECK (region IN ('n', 's')),
                     amount float8 CHECK (amount BETWEEN 0 AND 100000), cost float8 CHECK (cost BETWEEN 0 AND 100),
                     late boolean, exposure float8 CHECK (exposure BETWEEN 0 AND 4), weight_free float8);
-- amount: lognormal around exp(4 + age / 25); cost: age / 2 and an exponential beside it; late: a tenth
INSERT INTO claims
    SELECT i, i % 100, 'k' || i % 3, CASE WHEN i % 2 = 0 THEN 'n' ELSE 's' END,
           least(100000, exp(4 + (i % 100) / 25.0 + 2 * sin(i * 0.77) * cos(i * 1.31))), least(100, (i % 100) / 2.0 - 8 * ln((i % 997 + 1) / 998.0)),
           i % 10 = 0, CASE WHEN i % 7 = 0 THEN NULL WHEN i % 2 = 0 THEN 4 ELSE 1 END, 1
    FROM generate_series(1, 6000) i;
CREATE FUNCTION train(model text, target text, options jsonb, features name[] DEFAULT '{age}', epsilon float8 DEFAULT 20)
    RETURNS text LANGUAGE sql AS
    $$SELECT dpboost_train_on(model, 'claims', target::name, epsilon, features => features, options => options) ->> 'task'$$;

-- logarithmic: the mean on the target's own scale is right
SELECT train('amounts', 'amount', '{"target_scale": "log"}');
SELECT avg(dpboost_predict('amounts', age)) / avg(amount) BETWEEN 0.9 AND 1.1 AS mean,
       min(dpboost_predict('amounts', age)) >= 0 AS within FROM claims;
-- exported, explained, evaluated on that scale
SELECT bool_and(abs(p - q) <= 1e-6 * p) AS same FROM (SELECT dpboost_predict('amounts', 7::float8) AS p) a,
    LATERAL (SELECT (xpath('/row/q/text()', query_to_xml('SELECT ' || dpboost_to_sql('amounts') || ' AS q FROM (SELECT 7::float8 AS age) r',
                                                         false, true, '')))[1]::text::float8 AS q) b;
SELECT dpboost_to_xgboost('amounts');
SELECT r LIKE '%a number from 0 to 100k, learned on a logarithmic scale.%' AS says, r LIKE '%adds to the logarithm of 1 + prediction: +0.7 doubles 1 + prediction,%'
       AS doubles, r LIKE '%>intervals<%' AS intervals FROM dpboost_report('amounts') r;
SELECT bool_and(abs(c - ln(1 + p)) < 1e-9) AS adds_up FROM (SELECT age, dpboost_predict('amounts', age) AS p FROM claims LIMIT 200) t,
    LATERAL (SELECT sum(contribution) AS c FROM dpboost_explain('amounts', age)) e;
SELECT abs((dpboost_evaluate('amounts', 'claims', 'amount', 20) -> 'rmse' ->> 0)::float8 /
           (dpboost_metrics(amount, dpboost_predict('amounts', age)) -> 'rmse' ->> 0)::float8 - 1) < 0.1 AS rmse FROM claims;
SELECT train('bad', 'late', '{"target_scale": "log"}');
SELECT train('bad', 'amount', '{"target_scale": "log10"}');
SELECT train('bad', 'amount', '{"target_scale": "log", "objective": "poisson"}');
SELECT train('bad', 'amount', '{"target_scale": "log", "method": "sbdt"}');

-- quantiles, and what outliers do not move
SELECT train('upper', 'cost', '{"objective": "quantile", "quantile": 0.9}');
SELECT train('middle', 'cost', '{"objective": "quantile", "quantile": 0.5}');
SELECT train('robust', 'cost', '{"objective": "huber"}');
SELECT avg((cost < dpboost_predict('upper', age))::int) BETWEEN 0.86 AND 0.94 AS upper,
       avg((cost < dpboost_predict('middle', age))::int) BETWEEN 0.45 AND 0.55 AS middle,
       avg(dpboost_predict('robust', age)) < avg(cost) AS robust FROM claims;
SELECT dpboost_report('upper') LIKE '%below which 90 % of similar rows lie%' AS says;
SELECT dpboost_report('robust') LIKE '%a number from 0 to 100, where outliers count less than for a mean.%' AS says;
SELECT train('bad', 'cost', '{"objective": "quantile"}');
SELECT train('bad', 'cost', '{"quantile": 0.5}');
SELECT train('bad', 'cost', '{"objective": "quantile", "quantile": 1}');
SELECT train('bad', 'late', '{"objective": "huber"}');
SELECT train('bad', 'cost', '{"objective": "huber", "method": "sbdt"}');

-- intervals: what they should cover they do, within the range, also with a hold-out and on a logarithmic scale
SELECT train('spread', 'cost', '{"intervals": true}');
SELECT train('spread_held', 'cost', '{"intervals": true, "holdout": 0.3}');
SELECT train('spread_log', 'amount', '{"intervals": true, "target_scale": "log"}');
SELECT avg((cost BETWEEN a[1] AND a[2])::int) BETWEEN 0.87 AND 0.97 AS plain, avg((cost BETWEEN b[1] AND b[2])::int) BETWEEN 0.84 AND 0.98 AS held, -- .912, deviation .0084
       avg((amount BETWEEN c[1] AND c[2])::int) BETWEEN 0.87 AND 0.97 AS log, min(c[1]) >= 0 AND max(b[2]) <= 100 AS within,
       bool_and(a[1] <= dpboost_predict('spread', age) AND dpboost_predict('spread', age) <= a[2]) AS around
FROM claims, LATERAL (SELECT dpboost_predict_interval('spread', 0.9, age) AS a, dpboost_predict_interval('spread_held', 0.9, claims) AS b,
                             dpboost_predict_interval('spread_log', 0.9, age) AS c) i;
SELECT n[1] > w[1] AND n[2] < w[2] AS nested
FROM (SELECT dpboost_predict_interval('spread', 0.5, 30::float8) AS n, dpboost_predict_interval('spread', 0.95, 30::float8) AS w) t;
SELECT dpboost_predict_interval('spread', 0.9, NULL::float8) IS NOT NULL AS missing, dpboost_predict_interval(NULL, 0.9, 1::float8),
       dpboost_predict_interval('spread', NULL, 1::float8);
-- the report has an example, and an imported model the same intervals; the scale's name follows the range
SELECT dpboost_report('spread') ~ '>intervals</th><td>dpboost_predict_interval.* where the prediction is [0-9.]+, from [0-9.]+ to [0-9.]+<' AS says;
SELECT count(dpboost_import('spread_copy', dpboost_export('spread_log')));
SELECT bool_and(dpboost_predict_interval('spread_copy', 0.9, age) = dpboost_predict_interval('spread_log', 0.9, age)) AS same FROM claims;
SELECT train('above', 'amount', '{"target_scale": "log", "target_range": [-5.5, 100000]}');
SELECT dpboost_report('above') LIKE '%logarithm of prediction + 6.5: +0.7 doubles prediction + 6.5,%' AS says;
SELECT dpboost_predict_interval('spread', 1, 1::float8);
SELECT dpboost_predict_interval('spread', 'NaN', 1::float8);
SELECT dpboost_predict_interval('robust', 0.9, 1::float8);
SELECT train('bad', 'late', '{"intervals": true}');
SELECT train('bad', 'cost', '{"intervals": true, "objective": "poisson"}');
SELECT train('bad', 'cost', '{"intervals": 1}');

-- weights: a column with a public range; NULL counts nothing, and it is no feature
SELECT train('weighted', 'cost', '{"weight": "exposure"}');
SELECT dpboost_train_on('weighted_all', 'claims', 'cost', 20, options => '{"weight": "exposure", "bounds": {"weight_free": [0, 1]}}') ->> 'features'
       AS features;
SELECT abs(avg(dpboost_predict('weighted', age)) - sum(cost * exposure) / sum(exposure)) < 1 AS follows FROM claims;
SELECT bool_and(dpboost_predict('weighted_all', c) IS NOT NULL) AS by_row FROM (SELECT * FROM claims LIMIT 10) c;
SELECT dpboost_train('by_query', '{"epsilon": 20, "weight": "w", "bounds": {"age": [0, 100], "w": [1, 9]}, "target_range": [0, 100]}', cost, r)
       ->> 'features' AS features FROM (SELECT cost, age, 3 AS w FROM claims) q, LATERAL (SELECT q.age, q.w) r;
SELECT train('bad', 'cost', '{"weight": "weight_free"}');
SELECT train('bad', 'cost', '{"weight": "exposur"}');
SELECT train('bad', 'cost', '{"weight": "kind"}');
SELECT train('bad', 'cost', '{"weight": "cost"}');
SELECT train('bad', 'cost', '{"weight": "exposure", "bounds": {"exposure": [-1, 4]}}');
SELECT train('bad', 'cost', '{"weight": 4}');
SELECT train('bad', 'cost', '{"weight": "exposure"}', '{exposure}');
SELECT train('bad', 'cost', '{"weight": "exposure", "rows_hint": 6000}');
SELECT train('bad', 'cost', '{"weight": "exposure", "method": "adassp"}');
SELECT train('bad', 'cost', '{"sample_weight": "exposure"}');
-- of classes: probabilities stay true
SELECT train('rare', 'late', '{"class_weights": {"true": 9}}');
SELECT avg(dpboost_predict('rare', age)) BETWEEN 0.08 AND 0.12 AS true_share FROM claims;
SELECT train('kinds', 'kind', '{"classes": ["k0", "k1", "k2"], "class_weights": {"k1": 5, "k2": 0.5}}');
SELECT bool_and(p BETWEEN 0.28 AND 0.39) AS thirds
FROM (SELECT avg(value::float8) AS p FROM claims, LATERAL jsonb_each_text(dpboost_predict_proba('kinds', age)) GROUP BY key) t;
SELECT train('bad', 'late', '{"class_weights": {"maybe": 9}}');
SELECT train('bad', 'late', '{"class_weights": {"true": -1}}');
SELECT train('bad', 'late', '{"class_weights": {"true": 1e9}}');
SELECT train('bad', 'late', '{"class_weights": {}}');
SELECT train('bad', 'cost', '{"class_weights": {"1": 2}}');

-- monotone: whatever the data and the noise say
SELECT train('falling', 'cost', '{"monotone": {"age": -1}}', '{age, region}');
SELECT train('rising', 'late', '{"monotone": {"age": 1}}', '{age, region}', 0.1);
SELECT bool_and(f <= f_before) AS falls, bool_and(r >= r_before) AS rises
FROM (SELECT dpboost_predict('falling', a, 'n'::text) AS f, lag(dpboost_predict('falling', a, 'n'::text)) OVER (ORDER BY a) AS f_before,
             dpboost_predict('rising', a, 's'::text) AS r, lag(dpboost_predict('rising', a, 's'::text)) OVER (ORDER BY a) AS r_before
      FROM (SELECT x / 7.0::float8 AS a FROM generate_series(0, 700) x) g) t WHERE f_before IS NOT NULL;
SELECT train('bad', 'cost', '{"monotone": {"region": 1}}', '{age, region}');
SELECT train('bad', 'cost', '{"monotone": {"agee": 1}}');
SELECT train('bad', 'cost', '{"monotone": {"age": 2}}');
SELECT train('bad', 'cost', '{"monotone": "age"}');
SELECT train('bad', 'kind', '{"monotone": {"age": 1}, "classes": ["k0", "k1", "k2"]}');
SELECT train('bad', 'cost', '{"monotone": {"age": 1}, "method": "sbdt"}');

-- a next version is a training of its own
SELECT dpboost_update('falling', 'claims', 1);
SELECT dpboost_update('robust', 'claims', 1);

-- where a row is not a person, a person's rows together count no more; and where every person has an account, weights stay
-- with their rows when others are left out
CREATE TABLE visits AS SELECT id, id % 2000 AS person, age, cost, CASE WHEN id % 2000 < 1000 THEN 4.0 ELSE 0.0 END AS exposure FROM claims;
ALTER TABLE visits ADD CHECK (age BETWEEN 0 AND 100), ADD CHECK (cost BETWEEN 0 AND 100), ADD CHECK (exposure BETWEEN 0 AND 4);
UPDATE visits SET cost = CASE WHEN exposure = 0 THEN 90 ELSE 10 END;
SELECT dpboost_protect('visits', 20, 1e-6, privacy_unit => 'person', accounting => 'unit');
-- those up to 1499 pay, and are left out of the next
CREATE TABLE early AS SELECT * FROM visits WHERE person >= 1500;
DELETE FROM visits WHERE person >= 1500;
SELECT dpboost_train_on('first', 'visits', 'cost', 19, features => '{age}') ->> 'task' AS task;
INSERT INTO visits SELECT * FROM early;
INSERT INTO visits SELECT id + 10000, person + 10000, age, 30, 4 FROM early;
SELECT dpboost_train_on('second', 'visits', 'cost', 19, features => '{age}', options => '{"weight": "exposure"}') ->> 'task' AS task;
SELECT avg(dpboost_predict('second', a::float8)) BETWEEN 22 AND 38 AS of_the_others FROM generate_series(0, 99) a;

DROP SCHEMA regress_targets CASCADE;
SELECT count(dpboost_drop_model(m)) FROM unnest(ARRAY['amounts', 'upper', 'middle', 'robust', 'spread', 'spread_held', 'spread_log', 'spread_copy', 'above', 'weighted',
    'weighted_all', 'by_query', 'rare', 'kinds', 'falling', 'rising', 'first', 'second']) m;
