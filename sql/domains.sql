-- What is public about a column: declared, or stated by the schema; never taken from rows.
\set VERBOSITY terse
CREATE SCHEMA regress_dom;
SET search_path = regress_dom, public;
CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE DOMAIN age AS int CHECK (VALUE BETWEEN 0 AND 120);
CREATE DOMAIN adult AS age CHECK (VALUE >= 18);
CREATE FUNCTION seven() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RAISE NOTICE 'ran'; RETURN 7; END$$;
CREATE TABLE t (
    target float8 CHECK (target >= 0 AND target <= 1),
    between_ints int CHECK (between_ints BETWEEN 1 AND 10),
    open_ints int CHECK (open_ints > 0 AND open_ints < 100),
    numbers numeric CHECK (numbers >= 0 AND numbers <= 1.5),
    turned float8 CHECK (-1 <= turned AND 1 >= turned),
    reals real CHECK (reals BETWEEN 0.5 AND 2.5),
    wide bigint CHECK (wide IN (1, 10000000000)),
    cast_up int CHECK (cast_up BETWEEN 0.5 AND 9.5),
    in_list text CHECK (in_list IN ('x', 'y', 'z')),
    in_varchar varchar(10) CHECK (in_varchar IN ('p', 'q')),
    any_char char(3) CHECK (any_char = ANY (ARRAY['ab', 'cd'])),
    either text CHECK (either = 'a' OR either = 'b' OR either IS NULL),
    narrowed text CHECK (narrowed IN ('a', 'b', 'c')) CHECK (narrowed IN ('b', 'c', 'd')),
    enum color,
    yes boolean,
    of_domain age,
    of_nested adult,
    null_or int CHECK (null_or IS NULL OR null_or IN (3, 5, 9)),
    excluded int CHECK (excluded <> 3 AND excluded BETWEEN 2 AND 5),
    day date CHECK (day BETWEEN '2000-01-01' AND '2000-01-31'),
    moment timestamp CHECK (moment >= '2000-01-01' AND moment < '2000-01-02'),
    one_sided int CHECK (one_sided > 0),
    own_function int CHECK (own_function > 0 AND own_function < seven()),
    other_column int CHECK (other_column >= 0 AND (other_column <= 10 OR one_sided > 5)),
    negated int CHECK (NOT (negated < 0 OR negated > 5)),
    no_constraint int,
    "declared" int CHECK ("declared" BETWEEN 0 AND 5)
);
-- values and statistics are there to be read, and must not be
INSERT INTO t (no_constraint) SELECT i FROM generate_series(1, 100) i;
ANALYZE t;
SELECT dpboost_set_domain('t', 'declared', 0, 50, 'log');

-- one training with each column shows the encoding that it got, or the refusal
CREATE FUNCTION encoding(relation regclass, name) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dpboost_train_on('regress_dom', relation, 'target', epsilon => 1, features => ARRAY[$2],
                             options => '{"method": "sbdt", "trees": 1, "subsample": 1}');
    RETURN (SELECT (features->0) - 'bins' - 'hash_buckets' FROM dpboost_models WHERE model = 'regress_dom' ORDER BY version DESC LIMIT 1);
EXCEPTION WHEN invalid_parameter_value THEN RETURN SQLERRM;
END$$;
SELECT attname, encoding('t', attname) FROM pg_attribute
WHERE attrelid = 't'::regclass AND attnum > 1 ORDER BY attnum;

-- a view shows the domain of the column behind it, not of an expression over it; its own declaration wins
CREATE VIEW v AS SELECT target, between_ints AS renamed, upper(in_list) AS computed, t."declared" FROM t;
CREATE VIEW w AS SELECT a.target, a.renamed, b.enum FROM v a JOIN t b ON false;
SELECT attname, encoding('v', attname) FROM pg_attribute WHERE attrelid = 'v'::regclass AND attnum > 1 ORDER BY attnum;
SELECT attname, encoding('w', attname) FROM pg_attribute WHERE attrelid = 'w'::regclass AND attnum > 1 ORDER BY attnum;
SELECT dpboost_set_domain('v', 'renamed', 2, 3);
SELECT encoding('v', 'renamed');
SELECT encoding('w', 'renamed');
-- a partition has the domain that was declared for its parent
CREATE TABLE parent (target float8 CHECK (target BETWEEN 0 AND 1), n int) PARTITION BY RANGE (target);
CREATE TABLE child PARTITION OF parent FOR VALUES FROM (0) TO (1);
SELECT dpboost_set_domain('parent', 'n', 1, 2);
SELECT encoding('child', 'n');

-- declared again, and bad declarations
SELECT dpboost_set_domain('t', 'in_list', ARRAY['k', 'l']);
SELECT encoding('t', 'in_list');
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT dpboost_set_domain('t', 'in_list', ARRAY['k', 'k']);
SELECT dpboost_set_domain('t', 'in_list', ARRAY['k', NULL]);
SELECT dpboost_set_domain('t', 'in_list', ARRAY[]::text[]);
SELECT dpboost_set_domain('t', 'in_list', ARRAY[['k', 'l'], ['m', 'n']]);
SELECT dpboost_set_domain('t', 'in_list', 0, 1);
SELECT dpboost_set_domain('t', 'between_ints', ARRAY['1']);
SELECT dpboost_set_domain('t', 'between_ints', 1, 1);
SELECT dpboost_set_domain('t', 'between_ints', 1, 'NaN');
SELECT dpboost_set_domain('t', 'between_ints', '-Infinity', 1);
SELECT dpboost_set_domain('t', 'between_ints', 1, 2, 'cubic');
SELECT dpboost_set_domain('t', 'in_list', (SELECT array_agg(i::text) FROM generate_series(1, 65535) i));
\set VERBOSITY terse
SELECT dpboost_set_domain('t', 'nowhere', 1, 2);
SELECT dpboost_set_domain('t', 'ctid', 1, 2);
SELECT dpboost_set_domain('t', 'yes', 0, 1);

SELECT dpboost_drop_model('regress_dom');
DROP SCHEMA regress_dom CASCADE;
