-- Is a model any good? Noisy figures are never printed: only what must hold of them.
CREATE ROLE regress_eva_owner;
CREATE ROLE regress_eva_ana;
CREATE ROLE regress_eva_other;
GRANT CREATE ON SCHEMA public TO regress_eva_owner;
SET ROLE regress_eva_owner;
CREATE TABLE eva (
    id int PRIMARY KEY,
    a float8 CHECK (a BETWEEN 0 AND 1),
    b int CHECK (b BETWEEN 0 AND 9),
    sex text CHECK (sex IN ('F', 'M')),
    ill boolean,
    cost float8 CHECK (cost BETWEEN 0 AND 100));
INSERT INTO eva SELECT i, u, i % 10, CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END, u * 10 + i % 10 + (i * 31 % 13 - 6) / 1.5 > 9, 50 * u + 4 * (i % 10)
FROM (SELECT i, (i * 7919 % 10007) / 10007.0 AS u FROM generate_series(1, 6000) AS i) AS s;
SELECT dpboost_protect('eva', 100, 1e-5);
SELECT dpboost_set_budget('eva', 'regress_eva_ana', 50, 1e-5, 40);
RESET ROLE;

-- ---- without SELECT ----
SET ROLE regress_eva_ana;
SELECT dpboost_train_on('eva_ill', 'eva', 'ill', 20, features => '{a, b, sex}') ->> 'task' AS task;
CREATE TEMP TABLE result AS SELECT dpboost_evaluate('eva_ill', 'eva', 'ill', 10) AS r;
SELECT r ->> 'model' AS model, r ->> 'owner' AS owner, r -> 'version' AS version, r ->> 'task' AS task,
       r -> 'epsilon' AS epsilon, r -> 'delta' AS delta, jsonb_array_length(r -> 'remaining') AS budgets
FROM result;
-- every figure with its interval, and near the truth
SELECT key, (value ->> 0)::float8 BETWEEN (value ->> 1)::float8 AND (value ->> 2)::float8 AS inside
FROM result, jsonb_each(r) WHERE jsonb_typeof(value) = 'array' AND key <> 'remaining' ORDER BY key;
SELECT (r -> 'auc' ->> 0)::float8 > 0.8 AS auc, (r -> 'accuracy' ->> 0)::float8 > 0.7 AS accuracy,
       abs((r -> 'rows' ->> 0)::float8 - 6000) < 100 AS rows, abs((r -> 'base_rate' ->> 0)::float8 - 0.5) < 0.1 AS base_rate
FROM result;
-- asking again costs nothing
SELECT e.kind, e.model, e.version, e.relations, e.metrics -> 'auc' = r -> 'auc' AS same, e.bins IS NOT NULL AS bins
FROM dpboost_evaluations e, result WHERE e.release_id = (r -> 'release_id')::bigint;
SELECT count(*) BETWEEN 10 AND 66 AS bins, min(lower) = 0 AS lowest, max(upper) = 1 AS highest,
       bool_and(predicted BETWEEN before AND 1) AS ordered, max(true_positive_rate) <= 1 AS rates,
       max(lift) > 1 AS lift
FROM (SELECT *, lag(predicted, 1, 0::float8) OVER (ORDER BY bin) AS before FROM dpboost_evaluation_bins('eva_ill')) b;
-- Bins lie one after the other, and what is predicted in one of them is so between the borders of its neighbours, whose rows count in part for it.
SELECT bool_and(lower = COALESCE(last_upper, 0) AND lower <= upper) AS without_gaps,
       bool_and(predicted BETWEEN COALESCE(last_lower, 0) AND COALESCE(next_upper, 1)) AS near
FROM (SELECT lower, upper, predicted, lag(upper) OVER w AS last_upper, lag(lower) OVER w AS last_lower, lead(upper) OVER w AS next_upper
      FROM dpboost_evaluation_bins('eva_ill') WINDOW w AS (ORDER BY bin)) b;
SELECT count(*) = (SELECT count(*) FROM dpboost_evaluation_bins('eva_ill')) AS same
FROM result, dpboost_evaluation_bins('eva_ill', (r -> 'release_id')::bigint);
SELECT count(*) FROM dpboost_evaluation_bins('eva_ill', 0);
SELECT kind, method, model, version, epsilon, delivered FROM dpboost_ledger WHERE role = 'regress_eva_ana' ORDER BY release_id;
DROP TABLE result;
-- a version of its own
SELECT dpboost_train_on('eva_ill', 'eva', 'ill', 1) -> 'version' AS version;
SELECT dpboost_evaluate('eva_ill@1', 'eva', 'ill', 1) -> 'version' AS version;
CREATE TEMP TABLE fewer AS SELECT true AS ill;
SELECT dpboost_evaluate('eva_ill@1', 'fewer', 'ill', 1) -> 'version' AS version;
DROP TABLE fewer;
SELECT dpboost_train_on('eva_ill', 'eva', 'ill', 1) -> 'version' AS version;
RESET ROLE;

-- ---- who may not ----
SET ROLE regress_eva_other;
SELECT dpboost_evaluate('regress_eva_ana.eva_ill', 'eva', 'ill', 1);
SELECT count(*) FROM dpboost_evaluations;
RESET ROLE;
SET ROLE regress_eva_ana;
SELECT dpboost_share('eva_ill', 'regress_eva_other');
RESET ROLE;
SET ROLE regress_eva_other;
SELECT dpboost_evaluate('regress_eva_ana.eva_ill', 'eva', 'ill', 1);
RESET ROLE;
SET ROLE regress_eva_owner;
SELECT count(*) > 0 AS owner_sees FROM dpboost_evaluations;
RESET ROLE;

-- ---- other relations, units ----
SET ROLE regress_eva_owner;
CREATE TABLE eva_later (person int, sex varchar(1), b smallint, a real, extra text, ill text);
INSERT INTO eva_later SELECT i / 5, CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END, i % 10, (i * 7919 % 10007) / 10007.0, 'x',
    CASE WHEN (i * 7919 % 10007) / 1000.7 + i % 10 + (i * 31 % 13 - 6) / 1.5 > 9 THEN 'yes' ELSE 'no' END
FROM generate_series(1, 2000) AS i;
INSERT INTO eva_later VALUES (NULL, 'F', 3, 0.5, 'x', 'yes'), (1, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE eva_few AS SELECT person, sex, b, ill FROM eva_later LIMIT 0;
SELECT dpboost_protect('eva_later', 50, 1e-5, 'person');
SELECT dpboost_set_budget('eva_later', 'regress_eva_ana', 20, 1e-5);
SELECT dpboost_set_budget('eva_few', 'regress_eva_ana', 20, 1e-5);
RESET ROLE;
SET ROLE regress_eva_ana;
SELECT dpboost_evaluate('eva_ill@1', 'eva_later', 'ill', 10);
SELECT (r -> 'auc' ->> 0)::float8 > 0.7 AS auc, (r -> 'rows' ->> 0)::float8 < 1500 AS counted_by_person
FROM dpboost_evaluate('eva_ill@1', 'eva_later', 'ill', 10, options => '{"positive": "yes", "rows_hint": 1000}') AS r;
SELECT privacy_unit FROM dpboost_ledger WHERE kind = 'evaluation' ORDER BY release_id DESC LIMIT 1;
-- the class that a training named is no number
RESET ROLE;
SET ROLE regress_eva_owner;
SELECT dpboost_set_domain('eva_later', 'b', 0, 9);
RESET ROLE;
SET ROLE regress_eva_ana;
SELECT dpboost_train_on('eva_text', 'eva_later', 'ill', 1, features => '{b}', options => '{"positive": "yes"}') ->> 'task' AS task;
SELECT dpboost_evaluate('eva_text', 'eva_later', 'a', 1);
SELECT dpboost_evaluate('eva_ill@1', 'eva_few', 'ill', 1, options => '{"positive": "yes"}');
-- nothing there: noise wins, and says so
RESET ROLE;
SET ROLE regress_eva_owner;
ALTER TABLE eva_few ADD a float8;
RESET ROLE;
SET ROLE regress_eva_ana;
SELECT r -> 'auc' AS auc, r -> 'calibration_slope' AS slope
FROM dpboost_evaluate('eva_ill@1', 'eva_few', 'ill', 0.1, options => '{"positive": "yes"}') AS r;
RESET ROLE;

-- ---- regression ----
SET ROLE regress_eva_ana;
SELECT dpboost_train_on('eva_cost', 'eva', 'cost', 5, features => '{a, b}') ->> 'task' AS task;
SELECT key, value ->> 0 IS NOT NULL AS known FROM dpboost_evaluate('eva_cost', 'eva', 'cost', 5) AS r, jsonb_each(r)
WHERE jsonb_typeof(value) = 'array' AND key <> 'remaining' ORDER BY key;
SELECT count(*) FROM dpboost_evaluation_bins('eva_cost');
SELECT dpboost_evaluate('eva_cost', 'eva', 'sex', 1);

-- ---- hold-out ----
CREATE TEMP TABLE held AS SELECT dpboost_train_on('eva_held', 'eva', 'ill', 5, options => '{"holdout": 0.3}') AS r;
SELECT (r -> 'evaluation' -> 'auc' ->> 0)::float8 > 0.7 AS auc,
       abs((r -> 'evaluation' -> 'rows' ->> 0)::float8 - 1800) < 300 AS rows FROM held;
SELECT e.kind, l.epsilon, e.metrics -> 'auc' = r -> 'evaluation' -> 'auc' AS same
FROM held, dpboost_evaluations e JOIN dpboost_ledger l USING (release_id) WHERE e.release_id = (r -> 'release_id')::bigint;
SELECT v -> 'ok' AS ok, v -> 'epsilon_claimed' AS claimed FROM held, dpboost_verify((r -> 'release_id')::bigint) AS v;
SELECT count(*) > 9 AS bins FROM dpboost_evaluation_bins('eva_held');
SELECT dpboost_report('eva_held') ~ 'AUC 0\.' AS figure, dpboost_report('eva_held') ~ 'ranking \(ROC\).*<path class="l".*calibration.*<circle' AS drawn,
       dpboost_report('eva_cost') ~ 'ranking' AS of_a_number;
-- Figures of which nothing is known, or of which an end is open.
RESET ROLE;
SET session_replication_role = replica;
UPDATE dpboost.evaluation SET result = result || '{"auc": [null, 0, 1], "brier": [0.1, null, 0.2], "calibration_slope": [1.5, 0.25, null], "log_loss": [null, null, null]}'
WHERE release_id = (SELECT (r -> 'release_id')::bigint FROM held);
RESET session_replication_role;
SET ROLE regress_eva_ana;
SELECT figure, position('>' || figure || '<' IN dpboost_report('eva_held')) > 0 AS shown
FROM unnest('{AUC not known,not known (0 to 1),0.1 (at most 0.2),1.5 (at least 0.25),not known (nothing bounds it)}'::text[]) AS figure;
DROP TABLE held;
SELECT dpboost_train_on('eva_held', 'eva', 'ill', 1, options => '{"holdout": 0.3, "method": "sbdt", "subsample": 0.5}');
SELECT dpboost_train_on('eva_held', 'eva', 'ill', 1, options => '{"holdout": 0.3, "method": "pure_trees"}');
SELECT dpboost_train_on('eva_held', 'eva', 'ill', 1, options => '{"holdout": 0.6}');
SELECT dpboost_train_on('eva_held', 'eva', 'ill', 1, options => '{"evaluate": 0.1}');

-- ---- what both cost ----
SELECT round((r -> 'with_evaluation' ->> 'epsilon')::numeric, 3) AS together
FROM dpboost_estimate('eva', 'ill', 1, 1e-6, options => '{"evaluate": 0.1}') AS r;
SELECT round((r -> 'with_evaluation' ->> 'epsilon')::numeric, 3) AS together
FROM dpboost_estimate('eva', 'ill', 0.5, 1e-6, options => '{"evaluate": 0.1}') AS r;

-- ---- choice ----
SELECT dpboost_train_on('eva_poor', 'eva', 'ill', 1, features => '{sex}') ->> 'task' AS task;
SELECT dpboost_best('{eva_poor, eva_ill@1}', 'eva', 'ill', 1) AS best;
SELECT kind, epsilon, delta FROM dpboost_ledger WHERE kind = 'choice';
SELECT metrics FROM dpboost_evaluations WHERE kind = 'choice';
SELECT dpboost_best('{eva_cost, eva_ill@1}', 'eva', 'ill', 1);
SELECT dpboost_best('{}', 'eva', 'ill', 1);
SELECT dpboost_best('{eva_ill,NULL}', 'eva', 'ill', 1);

-- ---- mistakes ----
SELECT dpboost_evaluate('nobody', 'eva', 'ill', 1);
SELECT dpboost_evaluate('eva_ill', 'eva', 'nothing', 1);
SELECT dpboost_evaluate('eva_ill', 'eva', 'b', 1);
SELECT dpboost_evaluate('eva_ill', 'eva', 'ill', 0);
SELECT dpboost_evaluate('eva_ill', 'eva', 'ill', 1, 0);
SELECT dpboost_evaluate('eva_ill', 'eva', 'ill', 1, options => '{"row_hint": 3}');
SELECT dpboost_evaluate('eva_ill', 'eva', 'ill', NULL);
SELECT dpboost_evaluate('eva_ill', 'eva', 'ill', 45);
SELECT dpboost_evaluate('eva_ill', 'eva', 'ill', 39);
BEGIN READ ONLY;
SELECT dpboost_evaluate('eva_ill', 'eva', 'ill', 1);
ROLLBACK;
RESET ROLE;

-- ---- exact, for those with SELECT ----
SELECT m -> 'auc' ->> 0 AS auc, m -> 'accuracy' ->> 0 AS accuracy, m -> 'rows' ->> 0 AS rows
FROM (SELECT dpboost_metrics(y, p) AS m
      FROM (VALUES (true, 0.8), (true, 0.4), (false, 0.4), (false, 0.3), (NULL, 0.1), (true, NULL)) AS v (y, p)) AS s;
SELECT m -> 'rmse' ->> 0 AS rmse, m -> 'mae' ->> 0 AS mae, m -> 'bias' ->> 0 AS bias, m -> 'r2' ->> 0 AS r2
FROM (SELECT dpboost_metrics(y, p) AS m FROM (VALUES (2, 1.0), (3, 5.0), (4, 4.0)) AS v (y, p)) AS s;
SELECT dpboost_metrics(y, 0.5) FROM (VALUES ('yes')) AS v (y);
SELECT dpboost_metrics(true, 0.5) IS NULL AS none WHERE false;
SELECT dpboost_metrics(true, p) FROM (VALUES (0.5), (37)) AS v (p);  -- what is no probability has no figures
SELECT abs((dpboost_metrics(ill, dpboost_predict('regress_eva_ana.eva_ill@1', a, b, sex)) -> 'auc' ->> 0)::float8
           - (SELECT (metrics -> 'auc' ->> 0)::float8 FROM dpboost_evaluations WHERE owner = 'regress_eva_ana' ORDER BY release_id LIMIT 1)) < 0.02 AS near
FROM eva;

SELECT count(dpboost_drop_model(full_name)) AS dropped FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE owner = 'regress_eva_ana') AS s;
DROP TABLE eva, eva_later, eva_few;
REVOKE CREATE ON SCHEMA public FROM regress_eva_owner;
DROP ROLE regress_eva_owner;
DROP ROLE regress_eva_ana;
DROP ROLE regress_eva_other;
