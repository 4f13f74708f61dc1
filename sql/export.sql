-- Models for use elsewhere: as SQL, as XGBoost's JSON, as bytes. The expression gives what dpboost_predict gives.
\set SHOW_CONTEXT never
-- messages name a model's owner: one name, whoever runs the tests
CREATE ROLE regress_export_owner SUPERUSER;
SET SESSION AUTHORIZATION regress_export_owner;
CREATE TYPE tint AS ENUM ('red', 'green');
CREATE TABLE goods (
    a float8 CHECK (a BETWEEN 0 AND 1), b int CHECK (b BETWEEN 0 AND 100000), c text CHECK (c IN ('x', 'y''z', 'ä"')), d tint,
    e boolean, "f "" g" numeric CHECK ("f "" g" BETWEEN -5 AND 5), y float8, z boolean, n int);
INSERT INTO goods SELECT i / 1000.0, (i * 7919) % 100001, (ARRAY['x', 'y''z', 'ä"'])[1 + i % 3], (ARRAY['red', 'green'])[1 + i % 2]::tint,
    i % 5 = 0, (i % 100) / 10.0 - 5, i / 100.0, i > 500, i % 4 FROM generate_series(1, 1000) i;
-- rows to predict: the table's, values on edges, odd ones, missing ones
CREATE TABLE tried AS TABLE goods;
INSERT INTO tried SELECT (i % 255) / 254.0, i, 'x', 'red', true, i / 25.4 FROM generate_series(0, 254) i;
INSERT INTO tried VALUES (NULL, NULL, NULL, NULL, NULL, NULL), ('NaN', NULL, 'unknown', NULL, NULL, 'NaN'), ('Infinity', 2147483647, 'X', 'red', false, 1e9),
    ('-Infinity', -2147483648, '', 'green', NULL, -1e9), (-1e308, 5, 'x ', NULL, true, 0), (1e308, 5, 'y''z', NULL, true, 0);

CREATE FUNCTION small(method text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('method', method, 'epsilon', 20) || CASE
        WHEN method LIKE 'adassp%' THEN '{"rounds": 5}'
        WHEN method LIKE 'pure%' THEN '{"ensembles": 2, "trees_per_ensemble": 3, "depth": 2}'
        ELSE '{"trees": 12, "depth": 3}' END::jsonb $$;
SELECT count(*) AS models FROM dpboost_methods m,
    LATERAL (SELECT dpboost_train('c_' || m.method, small(m.method), z, a, b, c, d, e, "f "" g") FROM goods) c,
    LATERAL (SELECT dpboost_train('r_' || m.method, small(m.method) || '{"target_range": [2, 7]}' || CASE WHEN method LIKE 'adassp%' THEN '{"loss": "squared"}' ELSE '{}' END::jsonb,
                                  y, a, b, c, d, e, "f "" g") FROM goods) r;
SELECT dpboost_train('trees', '{"epsilon": 50, "method": "sbdt", "features": "any", "trees": 40, "depth": 4}', z, a, b, c, d, e, "f "" g") ->> 'task' AS task FROM goods;
SELECT dpboost_train('counts', '{"epsilon": 50, "objective": "poisson", "method": "sbdt", "trees": 10, "target_range": [0, 3]}', n, a, b, c, d, e, "f "" g") ->> 'task' AS task FROM goods;

-- how many of the rows get another prediction from the expression, by dialect
CREATE FUNCTION differ(model text, dialect text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE differing bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM tried t WHERE (%s) IS DISTINCT FROM dpboost_predict(%L, t)', dpboost_to_sql(model, dialect), model) INTO differing;
    RETURN differing;
END $$;
-- standard SQL compares text as its type does, and knows no enum or boolean
CREATE TABLE plain AS SELECT a, b, c, d::text AS d, e::text AS e, "f "" g" FROM tried;
CREATE FUNCTION differ_plain(model text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE differing bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM plain t WHERE (%s) IS DISTINCT FROM dpboost_predict(%L, t)', dpboost_to_sql(model, 'standard'), model) INTO differing;
    RETURN differing;
END $$;
SELECT model, differ(model, 'postgres'), differ_plain(model) FROM dpboost_models WHERE model LIKE 'c\_%' OR model LIKE 'r\_%' OR model IN ('trees', 'counts') ORDER BY model COLLATE "C";
-- without a row there is nothing to say, and the text alone is enough
SELECT dpboost_to_sql('trees') ~ '^1 / \(1 \+ exp\(-CAST\(' AS link, dpboost_to_sql('trees') = dpboost_to_sql('trees', 'postgres') AS default_dialect;

-- dates and times are taken as they are, infinite ones too
CREATE TABLE visits (born date CHECK (born BETWEEN '1930-01-01' AND '2020-12-31'), seen timestamptz CHECK (seen BETWEEN '2000-01-01Z' AND '2026-01-01Z'),
    left_at timestamp CHECK (left_at BETWEEN '1999-12-31' AND '2026-01-01'), y boolean);
INSERT INTO visits SELECT '1930-01-01'::date + i * 30, '2001-01-01Z'::timestamptz + i * interval '7 days 01:23:45.678901',
    '2001-01-01'::timestamp + i * interval '7 days 01:23:45.678901', i > 500 FROM generate_series(1, 1000) i;
SELECT dpboost_train_on('dated_' || m, 'visits', 'y', 30, 1e-6, options => jsonb_build_object('method', m)) ->> 'task' AS task FROM (VALUES ('auto'), ('sbdt')) v (m);
CREATE TABLE odd_visits AS TABLE visits;
INSERT INTO odd_visits VALUES (NULL, NULL, NULL), ('infinity', 'infinity', 'infinity'), ('-infinity', '-infinity', '-infinity'),
    ('4714-11-24 BC', '4714-11-24 00:00:00+00 BC', '4714-11-24 BC'), ('5874897-12-31', '294276-12-31 23:59:59.999999Z', '1999-12-31 23:59:59.999999');
SET jit = off;  -- compiling a thousand trees takes minutes
DO $$ DECLARE m text; differing bigint; BEGIN
    FOREACH m IN ARRAY '{dated_auto,dated_sbdt}'::text[] LOOP
        EXECUTE format('SELECT count(*) FROM odd_visits t WHERE (%s) IS DISTINCT FROM dpboost_predict(%L, t)', dpboost_to_sql(m), m) INTO differing;
        RAISE NOTICE '%: % differ', m, differing;
    END LOOP;
END $$;
SELECT features -> 0 ->> 'type' AS born, features -> 1 ->> 'type' AS seen, features -> 2 ->> 'type' AS left_at FROM dpboost_models WHERE model = 'dated_auto';
DROP TABLE visits, odd_visits;

-- XGBoost's JSON
SELECT j -> 'learner' -> 'objective' ->> 'name' AS objective, j -> 'learner' -> 'feature_names' ->> 5 AS name, j -> 'version' ->> 0 AS version,
       j -> 'learner' -> 'attributes' ->> 'dpboost_epsilon' AS epsilon, j -> 'learner' -> 'attributes' ->> 'dpboost_method' AS method,
       (j -> 'learner' -> 'attributes' ->> 'dpboost_features')::json -> 2 ->> 'levels' AS levels
FROM dpboost_to_xgboost('trees') j;
SELECT m.model, j -> 'learner' -> 'objective' ->> 'name' AS objective, json_array_length(j -> 'learner' -> 'gradient_booster' -> 'model' -> 'trees') > 1 AS has_trees
FROM (VALUES ('c_auto'), ('r_auto'), ('c_sbdt'), ('counts')) m (model), dpboost_to_xgboost(m.model) j;
SELECT dpboost_encode('trees', 0.5, 7, 'y''z', 'green'::tint, true, 1.25) AS columns,
       dpboost_encode('trees', ROW(0.5, 7, 'unknown'::text, NULL::tint, NULL::boolean, 'NaN'::numeric)) AS row,
       dpboost_encode('trees', NULL::goods) AS no_row, dpboost_encode(NULL, 1) AS no_model;
SELECT dpboost_encode('trees', 1);

-- bytes there and back
SELECT dpboost_import('twin', dpboost_export('trees'));
SELECT count(*) AS differ FROM tried t WHERE dpboost_predict('twin', t) <> dpboost_predict('trees', t);
SELECT t.method, t.task, t.epsilon, t.delta = o.delta AS delta, t.features = o.features AS features, t.options, t.release_id IS NULL AS imported, o.release_id IS NULL AS own
FROM dpboost_models t, dpboost_models o WHERE t.model = 'twin' AND o.model = 'trees';
SELECT dpboost_export('twin') = dpboost_export('trees') AS same;
SELECT count(*) FROM dpboost_ledger WHERE model = 'twin';
-- a version is never used twice, by either way
SELECT dpboost_import('twin', dpboost_export('trees'));
SELECT dpboost_drop_model('twin@2');
SELECT dpboost_train('twin', '{"epsilon": 1}', z, a) ->> 'version' AS version FROM goods;
SELECT dpboost_drop_model('twin');
SELECT dpboost_import('twin', dpboost_export('trees'));
SELECT version, release_id IS NULL AS imported FROM dpboost_models WHERE model = 'twin';
-- it stays when the transaction does not
BEGIN;
SELECT dpboost_import('kept', dpboost_export('trees'));
ROLLBACK;
SELECT version FROM dpboost_models WHERE model = 'kept';

-- what is refused
SELECT dpboost_to_sql('trees', 'postgresql');
SELECT dpboost_to_sql('none');
SELECT dpboost_to_xgboost('tree');
SELECT dpboost_to_xgboost('trees@9');
SELECT dpboost_train('hashed', '{"epsilon": 20, "trees": 5}', z, c || '') ->> 'task' AS task FROM goods;
SELECT dpboost_to_sql('hashed');
SELECT (dpboost_encode('hashed', 'x'::text))[1] BETWEEN 0 AND 511 AS bucket;
SELECT dpboost_import('bad', '');
SELECT dpboost_import('bad', substr(dpboost_export('trees'), 2));
SELECT dpboost_import('bad', set_byte(e, 40, get_byte(e, 40) # 1)) FROM dpboost_export('trees') e;
SELECT dpboost_import('bad@0', dpboost_export('trees'));
SELECT dpboost_import('nobody.bad', dpboost_export('trees'));
SELECT dpboost_import('bad', NULL);
SELECT dpboost_to_sql(NULL);
SELECT count(*) FROM dpboost_models WHERE model = 'bad';
-- under a version of another server, which is never used twice
SELECT dpboost_import('numbered@5', dpboost_export('trees'));
SELECT dpboost_import('numbered@5', dpboost_export('trees'));
SELECT dpboost_import('numbered@3', dpboost_export('trees'));
SELECT dpboost_import('numbered', dpboost_export('trees'));
SELECT model, version, live FROM dpboost_models WHERE model = 'numbered' ORDER BY version;
-- nor is there one after the last: nothing is charged for it
SELECT dpboost_import('last@2147483647', dpboost_export('trees'));
SELECT dpboost_import('last', dpboost_export('trees'));
SELECT count(*) AS releases FROM dpboost_ledger \gset before_
SELECT dpboost_train('last', '{"epsilon": 1, "bounds": [0, 1], "positive": true}', i > 5, i / 10.0) FROM generate_series(1, 10) i;
SELECT count(*) = :before_releases AS none FROM dpboost_ledger;
SELECT dpboost_drop_model('last');
SELECT dpboost_publish('numbered');
BEGIN READ ONLY;
SELECT dpboost_import('bad', dpboost_export('trees'));
ROLLBACK;

-- rights: the owner and those it was shared with
CREATE ROLE regress_export_ana;
CREATE ROLE regress_export_bob;
SET ROLE regress_export_bob;
SELECT dpboost_to_sql('trees');
SELECT dpboost_export('regress_export_owner.trees');
SELECT dpboost_to_xgboost('regress_export_owner.trees');
SELECT dpboost_encode('regress_export_owner.trees', 1);
SELECT dpboost_import('regress_export_owner.stolen', '');
RESET ROLE;
SELECT dpboost_share('trees', 'regress_export_bob');
SET ROLE regress_export_bob;
SELECT length(dpboost_to_sql('trees')) > 1000 AS sql, length(dpboost_to_xgboost('trees')::text) > 1000 AS xgboost;
SELECT dpboost_import('mine', dpboost_export('regress_export_owner.trees'));
SELECT owner, model FROM dpboost_models WHERE release_id IS NULL;
-- an import is no right to anything else
SELECT dpboost_train_on('more', 'goods', 'z', 1);
SELECT dpboost_share('mine', 'regress_export_ana');
SET ROLE regress_export_ana;
SELECT dpboost_predict('mine', 0.5, 7, 'x', 'red', true, 1.25) IS NOT NULL AS shared;
RESET ROLE;
SELECT dpboost_drop_model('regress_export_bob.mine'), dpboost_drop_model('twin'), dpboost_drop_model('kept');
SELECT dpboost_drop_model('numbered');
DROP ROLE regress_export_ana, regress_export_bob;
DROP FUNCTION differ, differ_plain, small;
DROP TABLE goods, tried, plain;
DROP TYPE tint;
SELECT count(dpboost_drop_model(full_name)) > 0 AS dropped FROM (SELECT DISTINCT full_name FROM dpboost_models) s;
RESET SESSION AUTHORIZATION;
DROP ROLE regress_export_owner;
