-- Options teach: an unknown key, a wrong type or a value out of range names the key and what is allowed.
\set SHOW_CONTEXT never
CREATE TABLE points (x float8, y float8, at date);
INSERT INTO points SELECT i / 100.0, i / 50.0, date '2000-01-01' + i FROM generate_series(1, 100) i;

CREATE FUNCTION train(options jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT dpboost_train('m', '{"epsilon": 1, "bounds": {"x": [0, 1]}, "target_range": [0, 2], "trees": 5}'::jsonb || options, y, x)
        ->> 'model' FROM points
$$;

-- epsilon is always explicit, delta is not
SELECT dpboost_train('m', '{}', y, x) FROM points;
SELECT dpboost_train('m', '[]', y, x) FROM points;
SELECT dpboost_train('m', '1', y, x) FROM points;
SELECT dpboost_train('m', NULL, y, x) FROM points;
SELECT dpboost_train(NULL, '{"epsilon": 1}', y, x) FROM points;
SELECT train('{"epsilon": "much"}');
SELECT train('{"epsilon": 0}');
SELECT train('{"epsilon": -1}');
SELECT train('{"epsilon": 1e400}');
SELECT train('{"delta": 0.01}');
SELECT train('{"delta": 0}');
SELECT train('{"delta": null}');

-- near misses
SELECT train('{"epsilom": 1}');
SELECT train('{"n_estimators": 10}');
SELECT train('{"method": "sbtd"}');
SELECT train('{"method": "dpboost"}');
SELECT train('{"task": "clasification"}');
SELECT train('{"features": "every"}');

-- types and ranges
SELECT train('{"trees": 0}');
SELECT train('{"trees": 2.5}');
SELECT train('{"trees": "10"}');
SELECT train('{"trees": 1000000}');
SELECT train('{"trees": 1001}');
SELECT train('{"depth": 99}');
SELECT train('{"method": "sbdt", "trees": 100000, "depth": 10, "learning_rate": 0.001}');
SELECT train('{"subsample": 0}');
SELECT train('{"subsample": 1.5}');
SELECT train('{"learning_rate": true}');
SELECT train('{"hessian_share": 1}');
SELECT train('{"bins": 1}');
SELECT train('{"hessian_clip": 0.5}');
SELECT train('{"leaf_clip": 1000}');

-- bounds
SELECT train('{"bounds": 3}');
SELECT train('{"bounds": {"x": 3}}');
SELECT train('{"bounds": {"x": [3]}}');
SELECT train('{"bounds": {"x": [1, 0]}}');
SELECT train('{"bounds": {"x": [0, 1, "cubic"]}}');
SELECT train('{"bounds": {"x": ["a", "b"]}}');
SELECT train('{"bounds": {"x": ["a", 1]}}');
SELECT train('{"bounds": {"x": ["a", "b", "a"]}}');
SELECT train('{"bounds": {"xx": [0, 1]}}');
SELECT train('{"bounds": {}}');
SELECT train('{"bounds": [[0, 1], [0, 1]]}');
SELECT train('{"target_range": [2, 0]}');
SELECT train('{"target_range": "wide"}');
SELECT train('{"positive": "yes"}');
SELECT train('{"target_range": null}');
SELECT dpboost_train('m', '{"epsilon": 1, "bounds": {"x": [0, 1]}}', y, x) FROM points;

-- more levels than a column can have are refused before they are looked at
SELECT train(jsonb_build_object('bounds', jsonb_build_array(jsonb_agg('level ' || i)))) FROM generate_series(1, 200000) i;

-- what is kept of the options, whichever way epsilon and delta were given
SELECT train('{"bounds": {"x": [0, 1, "linear"]}, "delta": 1e-5}');
SELECT options FROM dpboost_models WHERE model = 'm' ORDER BY version;
SELECT dpboost_train_on('d', 'points', 'y', 1, features => '{at}', options => '{"bounds": {"at": ["2000-01-01", "2000-12-31"]}, "target_range": [0, 2], "trees": 5}') ->> 'model';
SELECT options, features FROM dpboost_models WHERE model = 'd';

-- each of these trains
SELECT train('{}');
SELECT train('{"bounds": {"x": [0, 1, "log"]}}');
SELECT train('{"bounds": [0, 1]}');
SELECT train('{"bounds": [[0, 1]]}');
SELECT train('{"bounds": "private"}');
SELECT train('{"bounds": {"x": "private"}}');
SELECT train('{"method": "sbdt", "task": "regression", "depth": 3, "learning_rate": 0.2, "subsample": 0.5, "gradient_clip": 0.5, "hessian_clip": 1, "hessian_share": 0.3, "initial_share": 0.2, "l2": 1, "leaf_clip": 1, "features": "cyclic", "bins": 16, "extra_rounds": 5, "delta": 1e-5}');
SELECT train('{"initial_share": 0, "subsample": 1}');

-- nothing was released by a refused call
SELECT count(*) FROM dpboost_models WHERE model = 'm';

DROP FUNCTION train;
DROP TABLE points;
SELECT dpboost_drop_model('m'), dpboost_drop_model('d');
