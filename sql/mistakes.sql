-- Mistakes of the first ten minutes, and what is answered: the name that was meant, all that is missing at once, what to
-- write instead. No row is read for any of it, and nothing is charged.
\set SHOW_CONTEXT never
CREATE ROLE regress_mis_own;
CREATE ROLE regress_mis_ana;
GRANT CREATE ON SCHEMA public TO regress_mis_own;
SET ROLE regress_mis_own;
CREATE TABLE regress_mis (id int PRIMARY KEY, age int CHECK (age BETWEEN 18 AND 90), sex text CHECK (sex IN ('F', 'M')),
    income float8, seen date, zip int, ill boolean, verdict text CHECK (verdict IN ('guilty', 'innocent', 'open')), note text);
INSERT INTO regress_mis SELECT i, 18 + i % 70, CASE WHEN i % 2 = 0 THEN 'F' ELSE 'M' END, i, date '2024-01-01' + i % 300, i % 5,
    i % 70 > 35, (ARRAY['guilty', 'innocent', 'open'])[1 + i % 3], (ARRAY['yes', 'no'])[1 + i % 2] FROM generate_series(1, 300) i;
SELECT dpboost_protect('regress_mis', 5);
SELECT dpboost_set_budget('regress_mis', 'regress_mis_ana', 3);
SET ROLE regress_mis_ana;

-- all columns that need a declaration, dates as dates; what dpboost_columns says of them
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1);
SELECT column_name, note FROM dpboost_columns('regress_mis', target => 'ill') WHERE NOT usable;
-- a range for all columns is one of numbers
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1, features => ARRAY['age', 'seen'], options => '{"bounds": [18, 90]}');

-- columns that are misspelt: also two letters that changed places
SELECT dpboost_train_on('risk', 'regress_mis', 'illl', 1);
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1, features => ARRAY['age', 'sxe']);
SELECT dpboost_train_groups('risk', 'sxe', 'regress_mis', 'ill', 1, features => ARRAY['age']);
SELECT dpboost_columns('regress_mis', target => 'lil');
-- columns among the options
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1, options => '{"features": ["age", "sex"]}');
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1, options => '{"columns": ["age", "sex"]}');
-- options: the list is that of the method
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1, options => '{"deplyo": false}');
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1, options => '{"method": "adassp", "trees_": 5}');

-- classes: "Yes" is not "yes"
SELECT dpboost_train_on('risk', 'regress_mis', 'sex', 1, features => ARRAY['age'], options => '{"positive": "f"}');
SELECT dpboost_train_on('risk', 'regress_mis', 'sex', 1, features => ARRAY['age'], options => '{"positive": "female"}');
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1, features => ARRAY['age'], options => '{"positive": "yes"}');
SELECT dpboost_train_on('risk', 'regress_mis', 'verdict', 1, features => ARRAY['age'], options => '{"classes": ["guilty", "inocent", "open"]}');
SELECT dpboost_train_on('risk', 'regress_mis', 'verdict', 1, features => ARRAY['age'], options => '{"class_weights": {"gulity": 2}}');
SELECT dpboost_train_on('risk', 'regress_mis', 'note', 1, features => ARRAY['age']);

-- models and populations of one's own; not those of others
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 0.5, features => ARRAY['age', 'sex']) ->> 'version' AS version;
SELECT dpboost_predict('rsik', 50, 'F');
SELECT dpboost_statement('rsik');
SELECT dpboost_evaluate('Risk', 'regress_mis', 'ill', 0.1);
SELECT dpboost_shape('risk', 'aeg');
SET ROLE regress_mis_own;
SELECT dpboost_predict('rsik', 50, 'F');
-- the target among the features, by name or over a query
SELECT dpboost_train_on('risk', 'regress_mis', 'ill', 1, features => ARRAY['age', 'ill']);
SELECT dpboost_train('risk', '{"epsilon": 1}', ill, age, ill) FROM regress_mis;
SELECT dpboost_train('risk', '{"epsilon": 1, "positive": "yes"}', CASE WHEN ill THEN 'yes' ELSE 'no' END, age, CASE WHEN ill THEN 'yes' ELSE 'no' END)
FROM (SELECT * FROM regress_mis ORDER BY id OFFSET 0) r;
SELECT dpboost_create_population('clinic', 3);
SELECT dpboost_protect('regress_mis', population => 'clinci', privacy_unit => 'id');
SELECT dpboost_protect('regress_mis', population => 'ward', privacy_unit => 'id');
SELECT dpboost_statement(population => 'clinci');
SET ROLE regress_mis_ana;
SELECT dpboost_statement(population => 'clinci');
SELECT dpboost_alter_population('clinci', 5);

-- a prediction without some features: all of them, and what was meant
SELECT dpboost_predict('risk', '{}'::jsonb);
SELECT dpboost_predict('risk', '{"Age": 50, "sex": "F"}'::jsonb);
SELECT dpboost_predict('risk', p) FROM (SELECT 50 AS age, 'F' AS sxe) p;
SELECT dpboost_predict('risk', p) FROM (SELECT 50 AS years) p;
SELECT dpboost_predict('risk', '{"age": 50, "sex": null, "more": 1}'::jsonb) BETWEEN 0 AND 1 AS predicted;

-- NULL is no schema
RESET ROLE;
SELECT dpboost_protect_schema(NULL, 1);
SELECT dpboost_set_schema_budget(NULL, 'regress_mis_ana', 1);
-- what one training at 0.5 has spent is 0.5, and deltas are as people write them
SELECT grantee, epsilon, delta, epsilon_spent, releases FROM dpboost_budgets WHERE relation = 'regress_mis'::regclass ORDER BY 2;
SELECT DISTINCT v.delta FROM (SELECT delta FROM dpboost_ledger WHERE model = 'risk' UNION ALL SELECT delta FROM dpboost_models WHERE model = 'risk'
    UNION ALL SELECT delta FROM dpboost_limit_history WHERE relation ~ 'regress_mis') v;

SELECT dpboost_drop_model('regress_mis_ana.risk');
SELECT dpboost_drop_population('clinic');
DROP TABLE regress_mis;
REVOKE CREATE ON SCHEMA public FROM regress_mis_own;
DROP ROLE regress_mis_own, regress_mis_ana;
