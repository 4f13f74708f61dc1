-- dpboost_report: a page about a model that shows each role what it may see anyway, and nothing of a row.
\set SHOW_CONTEXT never
-- what a page says, by what the reader may see
CREATE FUNCTION says(page text) RETURNS TABLE (sound boolean, script boolean, ledger boolean, tables boolean, unit boolean, budget boolean, verify boolean)
LANGUAGE sql AS $$
    SELECT page LIKE '<!DOCTYPE html>%</html>%' AND page LIKE '%default-src ''none''%', page LIKE '%<script%', page ~ 'Release [0-9]+ of the ledger',
           page LIKE '%public.cases_reported%', page LIKE '%all rows of one &quot;person&quot; are one person%', page LIKE '%Left of the budget%', page LIKE '%SELECT dpboost_verify(%'
$$;
CREATE ROLE regress_report_owner;
CREATE ROLE regress_report_ana;
CREATE ROLE regress_report_bob;
GRANT CREATE ON SCHEMA public TO regress_report_owner;
SET ROLE regress_report_owner;
CREATE TABLE cases_reported (
    person int, "a<b" float8 CHECK ("a<b" BETWEEN 0 AND 1), b text CHECK (b IN ('x', '<script>', 'z&')), y boolean, n float8 CHECK (n BETWEEN 0 AND 10),
    k text CHECK (k IN ('red', 'green', 'blue')));
INSERT INTO cases_reported SELECT i % 500, (i % 100) / 100.0, (ARRAY['x', '<script>', 'z&'])[1 + i % 3], i % 100 > 50, (i % 100) / 10.0, (ARRAY['red', 'green', 'blue'])[1 + i % 3]
FROM generate_series(1, 1000) i;
SELECT dpboost_protect('cases_reported', 9, 1e-5, privacy_unit => 'person');
SELECT dpboost_set_budget('cases_reported', 'regress_report_ana', 5, 1e-5);
SET ROLE regress_report_ana;
SELECT dpboost_train_on('seen', 'cases_reported', 'y', 2, features => '{a<b,b}') ->> 'task' AS task;
SELECT dpboost_train_on('number', 'cases_reported', 'n', 1, features => '{a<b,b}', options => '{"method": "sbdt", "trees": 10, "depth": 2}') ->> 'task' AS task;

SELECT * FROM says(dpboost_report('seen'));
SELECT dpboost_report('seen') LIKE '%&lt;script&gt;%' AS escaped, dpboost_report('seen') LIKE '%<h1><bdi>seen</bdi><span class="mute">@1</span></h1>%' AS title,
       dpboost_report('seen') = dpboost_report('seen@1') AS version, dpboost_report('seen') LIKE '%mu = %' AS gaussian, dpboost_report('number') LIKE '%Predicts <code>n</code>, a number from 0 to 10%' AS number,
       dpboost_report('seen') LIKE '%Predicts the probability that <code>y</code> is <code>true</code>.%' AS predicts;
-- shared: the model, but not the ledger, whose entry is Ana's and the owner's to see
SELECT dpboost_share('seen', 'regress_report_bob');
SET ROLE regress_report_bob;
SELECT * FROM says(dpboost_report('seen'));
SELECT dpboost_report('regress_report_ana.number');
SELECT dpboost_report('none');
SELECT dpboost_report('regress_report_ana.sen');
SELECT dpboost_report('seen@2');
SELECT dpboost_report(NULL);
-- an import says so
SELECT dpboost_import('copied', dpboost_export('seen'));
SELECT dpboost_report('copied') LIKE '%claims of who exported it%' AS claimed, dpboost_report('copied') LIKE '%of the ledger%' AS ledger;
SELECT * FROM says(dpboost_report('copied'));
SELECT dpboost_drop_model('copied');
-- it costs nothing and leaves nothing
RESET ROLE;
SELECT count(*) AS releases FROM dpboost_ledger WHERE 'public.cases_reported' = ANY (relations);
BEGIN READ ONLY;
SELECT length(dpboost_report('regress_report_ana.seen')) > 5000 AS page;
COMMIT;
DROP TABLE cases_reported;
SELECT dpboost_report('regress_report_ana.seen') LIKE '%</html>%' AS without_the_table;
SELECT dpboost_drop_model('regress_report_ana.seen'), dpboost_drop_model('regress_report_ana.number');
-- where every person has an account, nothing says what is left: it is nobody's to see, and the limit does not run out
CREATE TABLE counted (person int, a float8 CHECK (a BETWEEN 0 AND 1), y boolean);
INSERT INTO counted SELECT i % 500, (i % 100) / 100.0, i % 100 > 50 FROM generate_series(1, 1000) i;
SELECT dpboost_protect('counted', 3, 1e-5, privacy_unit => 'person', accounting => 'unit');
SELECT dpboost_train_on('counted', 'counted', 'y', 1, 1e-6, features => '{a}') ->> 'task' AS task;
SELECT ledger, budget FROM says(dpboost_report('counted'));
SELECT dpboost_drop_model('counted');
DROP TABLE counted;
-- dates are dates, in pages and labels
CREATE TABLE dated (d date CHECK (d BETWEEN '2015-01-01' AND '2026-01-01'), at timestamp CHECK (at BETWEEN '2020-01-01' AND '2024-01-01'), y boolean);
INSERT INTO dated SELECT date '2015-01-01' + i, timestamp '2020-01-01' + make_interval(hours => i * 7), i > 2000 FROM generate_series(1, 4000) i;
SELECT dpboost_train_on('dated', 'dated', 'y', 5, 1e-6) ->> 'task' AS task;
SELECT dpboost_report('dated') LIKE '%>2020<%' AS years, dpboost_report('dated') LIKE '%>6000<%' AS numbers;
SELECT min(label) FILTER (WHERE bin = 0) AS first, max(label) FILTER (WHERE bin IS NULL) AS missing FROM dpboost_shape('dated', 'd');
SELECT min(label) FILTER (WHERE bin = 0) AS first FROM dpboost_shape('dated', 'at');
SELECT label FROM dpboost_what_if('dated', 'd', date '2020-05-05', timestamp '2021-01-01') LIMIT 1;
SELECT label FROM dpboost_what_if('dated', 'd', 5000, 6e8) LIMIT 1;
SELECT dpboost_drop_model('dated');
DROP TABLE dated;
REVOKE CREATE ON SCHEMA public FROM regress_report_owner;
DROP FUNCTION says;
DROP ROLE regress_report_owner, regress_report_ana, regress_report_bob;
