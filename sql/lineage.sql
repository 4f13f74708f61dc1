-- An update's model comes from several releases: what is said of it is what they cost together.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE TABLE regress_line (x float8 CHECK (x BETWEEN 0 AND 1), ill boolean);
INSERT INTO regress_line SELECT i / 100.0, i % 2 = 0 FROM generate_series(1, 100) i;
CREATE FUNCTION pg_temp.said(of text) RETURNS text LANGUAGE sql AS
    $$SELECT (dpboost_to_xgboost(of) #>> '{learner,attributes,dpboost_epsilon}')::numeric(9, 4) || ' | '
        || regexp_replace(dpboost_statement(of), '.*with (epsilon [^,.]*[.][0-9]*[^.]*)[.].*', '\1') || ' | '
        || (regexp_match(dpboost_report(of), '>(epsilon [0-9.]+)<'))[1] || ' | '
        || (regexp_match(dpboost_report(of), 'promise.{0,40}(\([0-9.]+, 1e-6\)-differential privacy[a-z0-9 ,]*)'))[1]$$;
SELECT dpboost_train_on('regress_line', 'regress_line', 'ill', 0.5) ->> 'version' AS version;
SELECT pg_temp.said('regress_line');
SELECT dpboost_update('regress_line', 'regress_line', 0.5) ->> 'version' AS version;
SELECT dpboost_update('regress_line', 'regress_line', 0.5) ->> 'version' AS version;
SELECT pg_temp.said('regress_line@2');
SELECT pg_temp.said('regress_line@3');
-- a training from the start has only its own
SELECT dpboost_train_on('regress_line', 'regress_line', 'ill', 0.5) ->> 'version' AS version;
SELECT dpboost_update('regress_line@4', 'regress_line', 0.5) ->> 'version' AS version;
SELECT pg_temp.said('regress_line@5');
-- where a version on the way was dropped, all before it count
SELECT dpboost_drop_model('regress_line@4');
SELECT (dpboost_to_xgboost('regress_line@5') #>> '{learner,attributes,dpboost_epsilon}')::float8 > 1 AS all_five;
-- and it goes along
SELECT dpboost_import('regress_line_copy', dpboost_export('regress_line@3'));
SELECT epsilon::numeric(9, 4) FROM dpboost_models WHERE model = 'regress_line_copy';
-- what was charged is each release's own
SELECT epsilon FROM dpboost_ledger WHERE model = 'regress_line' ORDER BY version;
SELECT dpboost_drop_model(m) FROM unnest('{regress_line,regress_line_copy}'::text[]) m;
DROP TABLE regress_line;
