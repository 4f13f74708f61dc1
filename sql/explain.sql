-- What a model says and why: contributions add up to the score, shapes and importances show bands and rows, and nobody
-- sees a model that is not his.
\set SHOW_CONTEXT never
-- messages name a model's owner: one name, whoever runs the tests
CREATE ROLE regress_explain_owner SUPERUSER;
SET SESSION AUTHORIZATION regress_explain_owner;
CREATE TABLE people (age int CHECK (age BETWEEN 0 AND 100), income float8 CHECK (income >= 0 AND income <= 100000),
                     sex text CHECK (sex IN ('F', 'M')), town text, smoker boolean, sick boolean, stay float8);
INSERT INTO people SELECT i * 7919 % 101, i * 104729 % 100000, CASE WHEN i % 2 = 0 THEN 'F' ELSE 'M' END,
    'town ' || i % 7, i % 5 = 0, i * 7919 % 101 > 50, (i * 7919 % 101) / 10.0 FROM generate_series(1, 3000) i;
INSERT INTO people SELECT NULL, NULL, NULL, NULL, NULL, i % 2 = 0, i % 10 FROM generate_series(1, 100) i;
SELECT dpboost_train('sick', '{"epsilon": 20}', sick, age, income, sex, town, smoker) ->> 'task' AS task FROM people;
SELECT dpboost_train('stay', '{"epsilon": 20, "target_range": [0, 10]}', stay, age, income, sex, town, smoker) ->> 'task' AS task FROM people;
SELECT dpboost_train('forest', '{"epsilon": 20, "method": "sbdt", "trees": 20, "depth": 5}', sick, age, income, sex, town, smoker) ->> 'task' AS task FROM people;
SELECT dpboost_train('line', '{"epsilon": 20, "method": "adassp", "target_range": [0, 10]}', stay, age, income, sex, town, smoker) ->> 'task' AS task FROM people;

-- the base value, then each feature as it was passed
SELECT feature, value, contribution IS NOT NULL AS tells, band_low <= contribution AND contribution <= band_high AS band, class
FROM dpboost_explain('sick', 70, 1234.5, 'F', 'town 3', true);
-- the sum is the score, bit for bit, for every row and method; columns, row and array alike
SELECT model, bool_and(score = ln(p / (1 - p)) OR abs(score - ln(p / (1 - p))) < 1e-9 * greatest(1, abs(score))) AS log_odds
FROM people t, (VALUES ('sick'), ('forest')) m (model),
    LATERAL (SELECT sum(contribution) AS score FROM dpboost_explain(model, t)) e, dpboost_predict(model, t) p GROUP BY 1 ORDER BY 1;
SELECT model, bool_and(abs(least(greatest(score, 0), 10) - p) < 1e-9) AS target_units
FROM people t, (VALUES ('stay'), ('line')) m (model),
    LATERAL (SELECT sum(contribution) AS score FROM dpboost_explain(model, t)) e, dpboost_predict(model, t) p GROUP BY 1 ORDER BY 1;
SELECT bool_and(a = b) AS any_order FROM people t,
    LATERAL (SELECT sum(contribution ORDER BY feature) AS a, sum(contribution ORDER BY feature DESC) AS b FROM dpboost_explain('forest', t)) e;
SELECT bool_and(c.contribution = r.contribution AND c.value IS NOT DISTINCT FROM r.value) AS columns_as_row
FROM people t, LATERAL dpboost_explain('sick', t) r, LATERAL dpboost_explain('sick', age, income, sex, town, smoker) c
WHERE c.feature = r.feature;
SELECT feature, value FROM dpboost_explain('sick', NULL::people);
SELECT count(*) AS in_the_list FROM (SELECT dpboost_explain('sick', t) FROM people t LIMIT 12) s;

-- shapes
SELECT count(*) AS cells, count(bin) AS bins, min(bin), max(bin), bool_and(band_low <= contribution AND contribution <= band_high) AS bands,
       abs(sum(rows) - 3100) < 500 AS rows, bool_or(enough_rows) AS enough, min(lower), max(upper)
FROM dpboost_shape('sick', 'age');
SELECT DISTINCT feature_name FROM dpboost_shape('sick') ORDER BY 1;
SELECT bin, label, lower, upper, enough_rows FROM dpboost_shape('sick', 'sex');
SELECT label, enough_rows FROM dpboost_shape('stay', 'age') WHERE bin IS NULL;
SELECT max(contribution) FILTER (WHERE upper > 80) > max(contribution) FILTER (WHERE upper < 30) AS learned,
       abs(sum(contribution * rows) / sum(rows)) < 1e-5 AS centred FROM dpboost_shape('sick', 'age');
SELECT count(band_low) AS bands, count(rows) AS rows, count(enough_rows) AS enough FROM dpboost_shape('forest');

-- importances
SELECT features, importance > 2 * noise AS matters, reference FROM dpboost_importance('sick') LIMIT 1;
SELECT abs(sum(share) - 1) < 1e-5 AS shares, bool_and(length(regexp_replace(share::numeric::text, '^0\.0*', '')) <= 6) AS six_digits, count(*) >= 5 AS all_there, min(importance) >= 0 AS positive FROM dpboost_importance('stay');
SELECT count(*) AS features, count(noise) AS noise, min(reference) AS reference, count(class) AS classes FROM dpboost_importance('forest');
SELECT count(*) AS features, count(DISTINCT reference) AS reference FROM dpboost_importance('line');
SELECT array_agg(importance) = (SELECT array_agg(importance) FROM dpboost_importance('forest')) AS the_same_again FROM dpboost_importance('forest');

-- interactions: none in a line; pure ones have no mean
SELECT count(*) FROM dpboost_interaction('line');
SELECT count(DISTINCT features) <= 10 AS pairs, min(cardinality(features)) = 2 AS two, count(rows) = 0 AS no_rows FROM dpboost_interaction('forest');
CREATE TABLE checkers (a float8 CHECK (a >= 0 AND a <= 1), b float8 CHECK (b >= 0 AND b <= 1), odd boolean);
INSERT INTO checkers SELECT a, b, (a > 0.5) <> (b > 0.5) FROM (SELECT (i * 7919 % 10007) / 10007.0, (i * 104729 % 9973) / 9973.0 FROM generate_series(1, 20000) i) s (a, b);
SELECT dpboost_train('board', '{"epsilon": 20, "depth": 2}', odd, a, b) ->> 'task' AS task FROM checkers;
SELECT DISTINCT features FROM dpboost_interaction('board');
SELECT abs(sum(contribution * rows)) / sum(rows) < 1e-6 AS pure, max(abs(contribution)) > 0.1 AS found FROM dpboost_interaction('board');
SELECT features, importance > noise AS matters FROM dpboost_importance('board') LIMIT 1;

-- what if: where the row is, it is the prediction
SELECT count(*) AS cells, bool_and(prediction BETWEEN 0 AND 1) AS probabilities FROM dpboost_what_if('sick', 'age', 70, 1234.5, 'F', 'town 3', true);
SELECT label, prediction = dpboost_predict('stay', 70, 1234.5, label, 'town 3', true) AS same FROM dpboost_what_if('stay', 'sex', 70, 1234.5, 'M', 'town 3', true);
SELECT bool_and(w.prediction = dpboost_predict('sick', t)) AS present FROM people t, LATERAL dpboost_what_if('sick', 'age', t) w
WHERE t.age >= w.lower AND t.age <= w.upper AND (t.age > w.lower OR w.lower = 0);

-- what is not there
SELECT * FROM dpboost_shape('sick', 'agee');
SELECT * FROM dpboost_shape('sick', 'nothing like it');
SELECT * FROM dpboost_shape('sick', '');
SELECT * FROM dpboost_what_if('sick', 'incom', 70, 1234.5, 'F', 'town 3', true);
SELECT * FROM dpboost_importance('sik');
SELECT * FROM dpboost_importance('sick@9');
SELECT * FROM dpboost_importance(NULL);
SELECT * FROM dpboost_shape(NULL);
SELECT * FROM dpboost_interaction('none of these');
SELECT * FROM dpboost_explain(NULL, 1);
SELECT * FROM dpboost_what_if('sick', NULL, 1);
SELECT * FROM dpboost_explain('sick', 70, 1234.5);
SELECT * FROM dpboost_explain('sick', 'x'::text, 1, 'F', 'town 3', true);

-- rights are those of dpboost_predict
CREATE ROLE regress_explain_reader;
SET ROLE regress_explain_reader;
SELECT * FROM dpboost_importance('regress_explain_owner.sick');
SELECT * FROM dpboost_shape('regress_explain_owner.sick', 'age');
SELECT * FROM dpboost_explain('regress_explain_owner.sick', 70, 1234.5, 'F', 'town 3', true);
SELECT * FROM dpboost_interaction('regress_explain_owner.sick');
SELECT * FROM dpboost_what_if('regress_explain_owner.sick', 'age', 70, 1234.5, 'F', 'town 3', true);
RESET ROLE;
SELECT dpboost_share('sick', 'regress_explain_reader');
SET ROLE regress_explain_reader;
SELECT count(*) >= 5 AS shared FROM dpboost_importance('regress_explain_owner.sick');
RESET ROLE;
SELECT dpboost_unshare('sick', 'regress_explain_reader');
DROP ROLE regress_explain_reader;

-- a model of format 1 has no reference: declared ranges stand in, and the results say so
SELECT dpboost_import('old', '\x6470626f6f7374780100000004000000555446380400000073626474000000000000f03f8dedb5a0f7c6b03ea50000006470626f6f73740a01000000000000000000000000000000000000444002a0860100020000000600000076697369747300050000000000000000000000000000000000344000010000000000001040000000000000104006000000736d6f6b657201020000000500000066616c73650400000074727565010100000002000000030000000400000005000000faffffff0000000000c65e07fd03a5e2bd0c6619770b81996c9992b7fc3da8eb025d6623138c190f12');
SELECT features, reference, noise FROM dpboost_importance('old');
SELECT count(*) AS cells, count(band_low) AS bands, count(rows) AS rows, count(enough_rows) AS enough FROM dpboost_shape('old');
SELECT feature, value, contribution IS NOT NULL AS tells, band_low FROM dpboost_explain('old', 3, true);
SELECT dpboost_report('old') LIKE '%>declared ranges, evenly: the training released no histograms<%' AS reported;
SELECT count(dpboost_drop_model(full_name)) FROM (SELECT DISTINCT full_name FROM dpboost_models) s;
DROP TABLE people, checkers;
RESET SESSION AUTHORIZATION;
DROP ROLE regress_explain_owner;
