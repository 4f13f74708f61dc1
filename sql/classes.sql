-- More than two classes: text, enum and integer codes with a public list of levels.
\set SHOW_CONTEXT never
CREATE TYPE species AS ENUM ('setosa', 'versicolor', 'virginica');
CREATE TABLE flowers (id int, petal float8 CHECK (petal BETWEEN 0 AND 10), kind species, name text, code int);
INSERT INTO flowers
    SELECT i, i % 100 / 10.0, (enum_range(NULL::species))[1 + (i % 100) / 34],
           (ARRAY['setosa', 'versicolor', 'virginica'])[1 + (i % 100) / 34], 7 * (1 + (i % 100) / 34)
    FROM generate_series(1, 3000) i;

-- an enum is a list of levels
SELECT r ->> 'task' AS task, r ->> 'method' AS method
FROM (SELECT dpboost_train_on('by_enum', 'flowers', 'kind', 20, features => '{petal}') AS r) t;
SELECT kind, count(*) FILTER (WHERE dpboost_predict_label('by_enum', petal) = kind::text) > 0.8 * count(*) AS right
FROM flowers GROUP BY kind ORDER BY kind;
-- probabilities by label
SELECT array_agg(k ORDER BY k), bool_and(v BETWEEN 0 AND 1), abs(sum(v) - 1) < 1e-9
FROM (SELECT key AS k, value::float8 AS v FROM jsonb_each_text(dpboost_predict_proba('by_enum', 0.5::float8))) t;
SELECT count(*) FROM flowers
WHERE dpboost_predict_label('by_enum', flowers) <>
      (SELECT key FROM jsonb_each_text(dpboost_predict_proba('by_enum', flowers)) ORDER BY value::float8 DESC LIMIT 1);
-- one number would say little
SELECT dpboost_predict('by_enum', 0.5::float8);

-- text and integers, by "classes", by bounds, by a declared list
SELECT dpboost_train_on('by_text', 'flowers', 'name', 20, features => '{petal}',
                        options => '{"classes": ["setosa", "versicolor", "virginica"]}') ->> 'task' AS task;
SELECT dpboost_train_on('by_code', 'flowers', 'code', 20, features => '{petal}',
                        options => '{"classes": [7, 14, 21]}') ->> 'task' AS task;
SELECT dpboost_predict_label('by_code', 1::float8), dpboost_predict_label('by_text', 9::float8);
SELECT dpboost_train('by_query', '{"epsilon": 20, "classes": ["7", "14", "21"], "bounds": {"petal": [0, 10]}}', code, petal)
       ->> 'task' AS task FROM flowers;
SELECT dpboost_set_domain('flowers', 'code', ARRAY['7', '14', '21', '28']);
SELECT dpboost_train_on('by_domain', 'flowers', 'code', 20, features => '{petal}', options => '{"method": "sbdt"}')
       ->> 'method' AS method;
SELECT array_agg(k ORDER BY k) AS classes FROM jsonb_object_keys(dpboost_predict_proba('by_domain', 1::float8)) k;
-- rows of other classes, and of none, are left out
SELECT dpboost_train_on('fewer', 'flowers', 'name', 20, features => '{petal}',
                        options => '{"classes": ["setosa", "virginica", "other"]}') ->> 'task' AS task;

-- two classes have names too
SELECT dpboost_train_on('two', 'flowers', 'name', 20, features => '{petal}',
                        options => '{"positive": "setosa"}') ->> 'task' AS task;
SELECT dpboost_predict_label('two', 0.1::float8), dpboost_predict_label('two', 9::float8);
SELECT abs(dpboost_predict('two', 0.1::float8) - (dpboost_predict_proba('two', 0.1::float8) ->> 'setosa')::float8) < 1e-12
    AS same;
SELECT dpboost_predict_label('two', NULL::float8) IS NOT NULL, dpboost_predict_label(NULL, 1::float8) IS NULL;
SELECT dpboost_train_on('number', 'flowers', 'petal', 20, features => '{kind}') ->> 'task' AS task;
SELECT dpboost_predict_label('number', 'setosa'::text);
SELECT dpboost_predict_proba('number', 'setosa'::text);

-- explained, exported and reported like others, by class
SELECT class, abs(exp(score) / sum(exp(score)) OVER () - (dpboost_predict_proba('by_enum', 2.5::float8) ->> class)::float8) < 1e-9
       AS adds_up
FROM (SELECT class, sum(contribution) AS score FROM dpboost_explain('by_enum', 2.5::float8) GROUP BY class) t ORDER BY class;
SELECT DISTINCT class FROM dpboost_importance('by_enum') ORDER BY class;
SELECT (dpboost_to_xgboost('by_enum') -> 'learner' -> 'objective' ->> 'name') AS objective;
SELECT dpboost_to_sql('by_enum') LIKE '%versicolor%' AS by_name;
SELECT dpboost_report('by_enum') LIKE '%one of 3 classes%' AS says;

-- private evaluation
SELECT r ->> 'task' AS task, (r -> 'rows' ->> 0)::float8 BETWEEN 2900 AND 3100 AS rows,
       (r -> 'accuracy' ->> 0)::float8 > 0.8 AS accuracy, (r -> 'log_loss' ->> 0)::float8 < 1 AS log_loss,
       (r -> 'confusion' -> 'setosa' ->> 'setosa')::float8 > 800 AS right,
       (SELECT count(*) FROM jsonb_object_keys(r -> 'confusion')) AS classes
FROM (SELECT dpboost_evaluate('by_enum', 'flowers', 'kind', 20) AS r) t;
SELECT r -> 'evaluation' ? 'confusion' AS held_out
FROM (SELECT dpboost_train_on('held', 'flowers', 'kind', 20, features => '{petal}', options => '{"holdout": 0.3}') AS r) t;
SELECT count(*) FROM dpboost_evaluation_bins('by_enum');
SELECT dpboost_report('by_enum') ~ 'really.*<th class="r">setosa</th>.*rows' AS confusion;
SELECT dpboost_best(ARRAY['by_enum', 'held'], 'flowers', 'kind', 5) IN ('by_enum', 'held') AS one_of_them;
SELECT dpboost_evaluate('by_enum', 'flowers', 'petal', 1);

-- what cannot be
SELECT dpboost_train_on('bad', 'flowers', 'name', 1, features => '{petal}');
SELECT dpboost_train_on('bad', 'flowers', 'name', 1, options => '{"classes": ["a", "b"]}');
SELECT dpboost_train_on('bad', 'flowers', 'name', 1, options => '{"classes": ["a", "b", "a"]}');
SELECT dpboost_train_on('bad', 'flowers', 'name', 1, options => '{"classes": "a"}');
SELECT dpboost_train_on('bad', 'flowers', 'name', 1, options => '{"classes": ["a", "b", "c"], "positive": "a"}');
SELECT dpboost_train_on('bad', 'flowers', 'name', 1, options => '{"classes": ["a", "b", "c"], "task": "regression"}');
SELECT dpboost_train_on('bad', 'flowers', 'petal', 1, features => '{kind}', options => '{"classes": ["1", "2", "3"]}');
SELECT dpboost_train_on('bad', 'flowers', 'code', 1, features => '{petal}', options => '{"classes": ["7", "x", "y"]}');
SELECT dpboost_train_on('bad', 'flowers', 'kind', 1, features => '{petal}', options => '{"method": "dp_ebm"}');
SELECT dpboost_train_on('bad', 'flowers', 'kind', 1, features => '{petal}', options => '{"objective": "squared"}');
SELECT dpboost_set_domain('flowers', 'name', (SELECT array_agg('level ' || i) FROM generate_series(1, 65) i));
SELECT dpboost_train_on('bad', 'flowers', 'name', 1, features => '{petal}');
-- on a governed table the call may only narrow
CREATE TABLE garden AS SELECT petal, code FROM flowers;
SELECT dpboost_set_domain('garden', 'petal', 0, 10), dpboost_set_domain('garden', 'code', ARRAY['7', '14', '21', '28']);
SELECT dpboost_protect('garden', 10, 1e-5);
SELECT dpboost_train_on('bad', 'garden', 'code', 1, features => '{petal}', options => '{"classes": [7, 14, 22]}');
SELECT dpboost_train_on('narrow', 'garden', 'code', 1, features => '{petal}', options => '{"classes": [7, 14, 21]}')
       ->> 'task' AS task;

DROP TABLE flowers, garden;
DROP TYPE species;
SELECT dpboost_drop_model(m) FROM unnest(ARRAY['by_enum', 'by_text', 'by_code', 'by_query', 'by_domain', 'fewer', 'two',
                                               'number', 'held', 'narrow']) m;
