-- See before you train: what is public about each column, what is missing, and how it is declared.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE ROLE regress_col_eve;
\set ward regress_col
\i sql/setup/ward.sql
CREATE TYPE hue AS ENUM ('red', 'green');
CREATE TABLE visits (
    visit_id int PRIMARY KEY, patient int, age int, weight numeric CHECK (weight BETWEEN 0 AND 300), branch int, ward text,
    seen date, at timestamptz, color hue, smoker boolean, stay interval, "it's" float8, ill boolean);
INSERT INTO visits SELECT i, i / 2, 20 + i % 60, 50 + i % 40, 1 + i % 3, CASE WHEN i % 2 = 0 THEN 'north' ELSE 'south' END,
    date '2020-01-01' + i, '2020-01-01', 'red', i % 3 = 0, '1 day', i / 1000.0, i % 2 = 0 FROM generate_series(1, 400) i;
SELECT dpboost_protect('visits', epsilon => 50, privacy_unit => 'patient');
SELECT dpboost_set_budget('visits', 'regress_col_ana', epsilon => 40);
SELECT * FROM dpboost_columns('visits', 'ill');

-- one error names all columns that lack a range, with the statements that declare them
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{age,branch,seen,ward,"it''s"}');
SELECT dpboost_train('m', '{"epsilon": 1}', ill, age, weight, branch) FROM (SELECT true AS ill, 1 AS age, 2 AS weight, 3 AS branch OFFSET 0) s;
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{age}');
CREATE TABLE odd (a interval, b uuid, c int, y boolean);
SELECT dpboost_train_on('m', 'odd', 'y', 1);
-- bounds for all numbers are not for dates
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{age,branch,seen,at}', options => '{"bounds": [0, 100]}');

-- ranges of numbers and of dates, by literals and by values; integer codes as levels
SELECT dpboost_set_domain('visits', 'age', 0, 120.5);
SELECT dpboost_set_domain('visits', 'it''s', '0', 1e0::real, 'log');
SELECT dpboost_set_domain('visits', 'seen', '2020-01-01', '2024-12-31');
SELECT dpboost_set_domain('visits', 'at', date '2020-01-01', '2024-12-31 12:00 UTC'::timestamptz);
SELECT dpboost_set_domain('visits', 'branch', ARRAY[1, 2, 3]);
SELECT dpboost_set_domain('visits', 'ward', '{north,south}');
SELECT column_name, role, usable, domain, source, note FROM dpboost_columns('visits') WHERE note IS NOT NULL OR domain IS NOT NULL;
-- refused declarations
SELECT dpboost_set_domain('visits', 'seen', 6940, 8766);
SELECT dpboost_set_domain('visits', 'seen', '2020-01-01', 'infinity');
SELECT dpboost_set_domain('visits', 'seen', '2024-01-01', '2020-01-01');
SELECT dpboost_set_domain('visits', 'seen', ARRAY['2020-01-01']);
SELECT dpboost_set_domain('visits', 'smoker', ARRAY['yes']);
SELECT dpboost_set_domain('visits', 'weight', ARRAY[1.5]);
SELECT dpboost_set_domain('visits', 'branch', ARRAY['one']);
SELECT dpboost_set_domain('visits', 'branch', ARRAY['1', '01']);
SELECT dpboost_set_domain('visits', 'branch', 7);
SELECT dpboost_set_domain('visits', 'ward', 'north');
SELECT dpboost_set_domain('visits', 'brunch', 1, 2);
SELECT dpboost_protect('visits', 50, privacy_unit => 'patent');

-- what was declared is what a model is trained with; codes are levels, and predict by number, text or row
SET ROLE regress_col_ana;
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{age,branch,seen,ward}') -> 'features' AS features;
SELECT jsonb_pretty(jsonb_agg(f - 'bins')) FROM dpboost_models, jsonb_array_elements(features) f WHERE model = 'm';
SELECT dpboost_predict('m', 30, 2, date '2020-06-01', 'north') = dpboost_predict('m', 30, '2', date '2020-06-01', 'north') AS same,
       dpboost_predict('m', 30, 2::bigint, date '2020-06-01', 'north') = dpboost_predict('m', 30, 2::smallint, date '2020-06-01', 'north') AS same_type,
       dpboost_predict('m', 30, 99, date '2020-06-01', 'north') = dpboost_predict('m', 30, NULL::int, date '2020-06-01', 'north') AS unknown_is_missing;
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{branch}', options => '{"bounds": {"branch": ["3", "1"]}}') ->> 'version' AS narrower;
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{branch}', options => '{"bounds": {"branch": ["3", "4"]}}');
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{branch}', options => '{"bounds": {"branch": [1, 2]}}');
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{age}', options => '{"bounds": {"age": ["20", "200"]}}');
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{age}', options => '{"bounds": {"age": ["20", "x"]}}');
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{seen}', options => '{"bounds": {"seen": ["2019-01-01", "2030-01-01"]}}');
SELECT dpboost_train_on('m', 'visits', 'ill', 1, features => '{at}', options => '{"bounds": {"at": ["1999-12-31 23:59:59 UTC", "2030-01-01 UTC"]}}');

-- a class that no row can have is refused
SELECT dpboost_train_on('m', 'visits', 'ward', 1, features => '{age}', options => '{"positive": "North"}');
SELECT dpboost_train_on('m', 'visits', 'branch', 1, features => '{age}', options => '{"positive": 7}');
SELECT dpboost_train_on('m', 'visits', 'weight', 1, features => '{age}', options => '{"positive": 301}');
SELECT dpboost_train_on('m', 'visits', 'branch', 1, features => '{age}', options => '{"positive": 2.0}') ->> 'task' AS task;
SELECT dpboost_train_on('m', 'visits', 'branch', 1, features => '{age}') ->> 'task' AS task;
SELECT dpboost_train_on('m', 'visits', 'ward', 1, features => '{age}');
SELECT dpboost_train_on('m', 'visits', 'il', 1);

-- who may train may see; others may not
SELECT count(*) FROM dpboost_columns('visits');
SET ROLE regress_col_eve;
SELECT count(*) FROM dpboost_columns('visits');
SET ROLE regress_col_owner;
SELECT dpboost_columns(NULL);
SELECT * FROM dpboost_columns('visits', 'il');

-- a domain follows its column through a new name, and not into another that takes the old one
ALTER TABLE visits RENAME COLUMN age TO years;
ALTER TABLE visits ADD COLUMN age int;
SELECT column_name, domain FROM dpboost_columns('visits') WHERE column_name IN ('age', 'years') ORDER BY 1;
-- views and partitions
CREATE VIEW young AS SELECT patient, years AS y, ward AS w, ill FROM visits WHERE years < 40;
SELECT dpboost_set_domain('young', 'w', ARRAY['north']);
SELECT column_name, role, domain, source FROM dpboost_columns('young', 'ill');
CREATE TABLE measures (day date, n int) PARTITION BY RANGE (day);
CREATE TABLE measures_old PARTITION OF measures FOR VALUES FROM ('2000-01-01') TO ('2010-01-01');
SELECT dpboost_set_domain('measures', 'n', 0, 9);
SELECT column_name, domain, source FROM dpboost_columns('measures_old');

-- and can be taken back
SELECT dpboost_drop_domain('visits', 'years');
SELECT dpboost_drop_domain('visits', 'years');
SELECT dpboost_drop_domain('visits', 'yeers');
SELECT usable, domain, note FROM dpboost_columns('visits') WHERE column_name = 'years';
SET ROLE regress_col_ana;
SELECT dpboost_drop_domain('visits', 'ward');
SELECT dpboost_drop_model('m');
RESET ROLE;
-- nothing stays of a table that is dropped
DROP SCHEMA regress_col CASCADE;
SELECT count(*) FROM dpboost.column_domain WHERE described::text LIKE '%regress_col%';
DROP ROLE regress_col_owner, regress_col_ana, regress_col_eve;
