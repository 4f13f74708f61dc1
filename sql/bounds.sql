-- Ranges that a table's constraints give, written in every way: constants that operators and functions make, dates without
-- end, bounds that are none. What the table cannot hold is a range; what it can hold without end is not.
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA regress_bounds;
SET search_path = regress_bounds, public;
SET client_min_messages = warning;
-- Whether dpboost would train on a column with the check, and if not, why.
CREATE FUNCTION tried(type text, condition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE t (x %s CHECK (%s), y boolean)', type, condition);
    PERFORM dpboost_estimate('t', 'y', epsilon => 1, options => '{"method": "sbdt"}');
    DROP TABLE t;
    RETURN 'a range';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END$$;
SELECT type, condition, tried(type, condition) FROM (VALUES
    ('int', 'x >= -(5) AND x <= 2 * 10'),
    ('int', 'x BETWEEN abs(-3) AND 10 % 7 + 8'),
    ('float8', 'x >= 0 AND 1e3 >= x'),
    ('float8', 'x >= 0 AND x <= ''Infinity'''),
    ('float8', 'x >= 0 AND x <= ''NaN'''),
    ('float8', 'x >= random() AND x <= 1'),
    ('numeric', 'x >= 0 AND x <= 1e400'),
    ('numeric(5,2)', 'x BETWEEN 0 AND 99.5'),
    ('date', 'x BETWEEN ''2000-01-01'' AND ''2020-01-01''::date + 30'),
    ('date', 'x BETWEEN ''-infinity'' AND ''2020-01-01'''),
    ('date', 'x BETWEEN ''2000-01-01'' AND ''infinity'''),
    ('timestamp', 'x BETWEEN ''2000-01-01'' AND ''2020-01-01'''),
    ('timestamp', 'x BETWEEN ''-infinity'' AND ''2020-01-01'''),
    ('timestamptz', 'x BETWEEN ''2000-01-01 00:00+00'' AND ''infinity'''),
    ('smallint', 'x > 0 AND x < 5'),
    ('int', 'x = ANY (ARRAY[1, 2, 3 + 4])')) AS c (type, condition);
DROP SCHEMA regress_bounds CASCADE;
