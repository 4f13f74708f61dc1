-- Every method trains and predicts through both functions, is charged, and can be taken apart by options.
\set SHOW_CONTEXT never
CREATE TABLE cases (a float8 CHECK (a BETWEEN 0 AND 1), b int CHECK (b BETWEEN 0 AND 50), c text CHECK (c IN ('x', 'y', 'z')), y float8, z boolean);
INSERT INTO cases SELECT i / 400.0, i % 50, (ARRAY['x', 'y', 'z'])[1 + i % 3], i / 40.0, i > 200 FROM generate_series(1, 400) i;
SELECT dpboost_protect('cases', 90, 1e-3);
SELECT method FROM dpboost_methods;
-- what the options of a method are
SELECT o.* FROM dpboost_methods, jsonb_to_recordset(options) AS o (option text, "values" text, meaning text) WHERE method = 'auto';
SELECT count(*) FROM dpboost_methods, jsonb_to_recordset(options) AS o (option text, "values" text, meaning text)
WHERE option IS NULL OR "values" = '' OR meaning = '';
-- options that make each method small
CREATE FUNCTION small(method text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('method', method) || CASE
        WHEN method LIKE 'adassp%' THEN '{"rounds": 5}'
        WHEN method LIKE 'pure%' THEN '{"ensembles": 2, "trees_per_ensemble": 3, "depth": 2}'
        ELSE '{"trees": 6, "depth": 2}' END::jsonb $$;
SELECT count(*) FROM dpboost_methods WHERE parts = '' OR paper = '' OR when_to_use = '';
-- two losses are for two classes only
CREATE FUNCTION regression(method text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT CASE WHEN method LIKE 'adassp%' THEN '{"loss": "squared"}' ELSE '{}' END::jsonb $$;

SELECT method,
       (SELECT dpboost_train('c_' || m.method, small(m.method) || '{"epsilon": 2}', z, a, b, c) ->> 'task' FROM cases) AS task,
       dpboost_train_on('r_' || m.method, 'cases', 'y', 2, features => '{a,b,c}',
                        options => small(m.method) || '{"target_range": [0, 10]}' || regression(m.method)) ->> 'task' AS task
FROM dpboost_methods m;
SELECT method, (SELECT bool_and(dpboost_predict('c_' || m.method, a, b, c) BETWEEN 0 AND 1) FROM cases) AS probability,
       (SELECT bool_and(dpboost_predict('r_' || m.method, t) BETWEEN 0 AND 10) FROM cases t) AS in_range
FROM dpboost_methods m;
SELECT method, count(*), min(epsilon), max(epsilon) FROM dpboost_ledger WHERE 'public.cases' = ANY (relations) GROUP BY method ORDER BY method COLLATE "C";

-- parts
SELECT dpboost_train('parts', '{"epsilon": 2, "method": "dp_tr", "structure": "noisy_histogram", "leaf": "gradient", "hessian_clip": 1, "candidates": "log", "features": "cyclic", "features_per_tree": 2, "batch": 2, "candidate_count": 8, "trees": 4}', z, a, b, c) ->> 'method' AS method FROM cases;
SELECT dpboost_train('parts', '{"epsilon": 2, "method": "dp_xgb", "subsample": 0.5}', z, a, b, c) FROM cases;
SELECT dpboost_train('parts', '{"epsilon": 2, "method": "dp_tr", "extra_rounds": 5}', z, a, b, c) FROM cases;
SELECT dpboost_train('parts', '{"epsilon": 2, "structure": "exponential"}', z, a, b, c) FROM cases;
SELECT dpboost_train('parts', '{"epsilon": 2, "features": "all"}', z, a, b, c) FROM cases;
SELECT dpboost_train('parts', '{"epsilon": 2, "method": "dp_xbg"}', z, a, b, c) FROM cases;
SELECT dpboost_train('parts', '{"epsilon": 2, "method": "dp_tr", "leaf": "newtom"}', z, a, b, c) FROM cases;
SELECT dpboost_train('parts', '{"epsilon": 2, "method": "dp_tr", "features_per_tree": 2}', z, a, b, c) FROM cases;

-- pure differential privacy: delta is 0 unless given, and refused where noise is Gaussian
SELECT DISTINCT delta FROM dpboost_ledger WHERE method LIKE 'pure%';
SELECT dpboost_train('parts', small('pure_trees') || '{"epsilon": 2, "delta": 1e-6}', z, a, b, c) ->> 'delta' AS delta FROM cases;
SELECT dpboost_train('parts', '{"epsilon": 2, "delta": 0}', z, a, b, c) FROM cases;
SELECT dpboost_train('parts', small('adassp') || '{"epsilon": 2, "loss": "hinge", "target_range": [0, 10]}', y, a, b, c) FROM cases;
SELECT dpboost_train('parts', small('pure_trees') || '{"epsilon": 2, "subsample": 0.5}', z, a, b, c) FROM cases;
SELECT dpboost_train('parts', small('pure_trees') || '{"epsilon": 2, "bounds": "private"}', z, 1000 * a, b, c) FROM cases;

-- ranges that the training finds itself go with any method
SELECT method, (SELECT dpboost_train('p_' || m.method, small(m.method) || '{"epsilon": 2, "delta": 1e-6, "bounds": "private", "target_range": [0, 10]}' || regression(m.method),
                                     y, 1000 * a, b + 1, c) -> 'features' FROM cases) AS features
FROM dpboost_methods m;

SELECT count(dpboost_drop_model(full_name)) > 20 AS dropped FROM (SELECT DISTINCT full_name FROM dpboost_models) s;
SELECT dpboost_unprotect('cases');
DROP TABLE cases;
DROP FUNCTION small, regression;
