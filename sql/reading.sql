-- How rows are read for someone who may not see them: her own rights inside functions, no code but the owner's and the
-- server's, the owner's settings, and nothing about rows in messages, counters, locks or errors.
\set SHOW_CONTEXT always
CREATE ROLE regress_read_owner;
CREATE ROLE regress_read_deputy IN ROLE regress_read_owner;
CREATE ROLE regress_read_ana;
CREATE ROLE regress_read_dev;
CREATE SCHEMA ward AUTHORIZATION regress_read_owner;
CREATE SCHEMA util AUTHORIZATION regress_read_dev;
GRANT USAGE ON SCHEMA ward, util TO PUBLIC;
GRANT CREATE ON SCHEMA ward TO regress_read_deputy;
SET ROLE regress_read_owner;
CREATE TABLE ward.people (id int, age int CHECK (age BETWEEN 0 AND 100), born text, code text, ill boolean);
INSERT INTO ward.people SELECT i, i % 100, format('%s/%s/1950', i % 28 + 1, i % 12 + 1), 'c' || i % 7, i % 3 = 0
FROM generate_series(1, 300) i;
CREATE VIEW ward.seen AS SELECT age AS x, ill FROM ward.people;
SELECT dpboost_set_domain('ward.seen', 'x', 0, 100), dpboost_set_budget('ward.seen', 'regress_read_ana', 100, 1e-6);
-- A training of the analyst on the view as it would be with other columns, and what comes of it.
RESET ROLE;
CREATE FUNCTION public.outcome(columns text, source text DEFAULT 'ward.people t', settings text DEFAULT 'SELECT') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    result text := 'trained';
BEGIN
    SET LOCAL ROLE regress_read_owner;
    EXECUTE format('CREATE OR REPLACE VIEW ward.seen AS SELECT %s FROM %s', columns, source);
    SET LOCAL ROLE regress_read_ana;
    EXECUTE settings;
    BEGIN
        PERFORM dpboost_train_on('regress_read', 'ward.seen', 'ill', 0.01,
                                 options => '{"method": "sbdt", "trees": 2, "subsample": 1}');
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
        result := concat_ws(': ', SQLSTATE, SQLERRM, nullif(detail, ''));
    END;
    RESET ROLE;
    RETURN result;
END$$;
\set train 'SELECT dpboost_train_on(''regress_read'', ''ward.seen'', ''ill'', 0.01, features => ''{x}'', options => ''{"method": "sbdt", "trees": 2, "subsample": 1}'') ->> ''model'' AS model;'

-- functions of a view run as its caller (the first one says so), who cannot become anybody else nor leave something behind
SET ROLE regress_read_owner;
CREATE FUNCTION ward.require(is_true boolean, x int) RETURNS int LANGUAGE plpgsql AS
$$BEGIN IF NOT is_true THEN RAISE 'not so'; END IF; RETURN x; END$$;
CREATE FUNCTION ward.rename_me(x int) RETURNS int LANGUAGE plpgsql AS $$BEGIN SET ROLE regress_read_owner; RETURN x; END$$;
CREATE FUNCTION ward.write(x int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
$$BEGIN INSERT INTO ward.people (id) VALUES (x); RETURN x; END$$;
CREATE FUNCTION ward.remember(x int) RETURNS int LANGUAGE plpgsql AS
$$BEGIN PERFORM set_config('regress.seen', 'seen', false); RETURN x; END$$;
CREATE SEQUENCE ward.counter;
GRANT USAGE ON SEQUENCE ward.counter TO PUBLIC;
RESET ROLE;
\t on
SELECT outcome('ward.require(current_user = ''regress_read_ana'', age) AS x, ill');
SELECT outcome('ward.rename_me(age) AS x, ill');
SELECT outcome('ward.write(age) AS x, ill');
SELECT outcome('nextval(''ward.counter'')::int AS x, ill');
SELECT outcome('ward.remember(age) AS x, ill');
SELECT current_setting('regress.seen', true) IS NULL OR current_setting('regress.seen') = '' AS nothing_left;
-- a function that she may not call
SET ROLE regress_read_owner;
CREATE FUNCTION ward.closed(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
REVOKE EXECUTE ON FUNCTION ward.closed FROM PUBLIC;
RESET ROLE;
SELECT outcome('ward.closed(age) AS x, ill');
-- a materialized view that was never filled
SET ROLE regress_read_owner;
CREATE MATERIALIZED VIEW ward.unfilled AS SELECT age AS x, ill FROM ward.people WITH NO DATA;
SELECT dpboost_set_domain('ward.unfilled', 'x', 0, 100), dpboost_set_budget('ward.unfilled', 'regress_read_ana', 10, 1e-6);
SET ROLE regress_read_ana;
SELECT dpboost_train_on('regress_read', 'ward.unfilled', 'ill', 0.01);
RESET ROLE;

-- code of others sees no row: functions
SET ROLE regress_read_dev;
CREATE TABLE util.stolen (x float8);
CREATE FUNCTION util.norm(x int) RETURNS int LANGUAGE plpgsql AS
$$BEGIN INSERT INTO util.stolen VALUES (x); EXECUTE 'ALTER ROLE regress_read_dev SUPERUSER'; RETURN x; END$$;
CREATE FUNCTION util.same(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT $1 = $2';
CREATE FUNCTION util.step(int, int) RETURNS int LANGUAGE sql AS 'SELECT $2';
CREATE OPERATOR util.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = util.same);
CREATE AGGREGATE util.last(int) (SFUNC = util.step, STYPE = int);
CREATE DOMAIN util.small AS int;
CREATE FUNCTION util.is_small(int) RETURNS boolean LANGUAGE sql AS 'SELECT true';
RESET ROLE;
SELECT outcome('util.norm(age) AS x, ill');
SELECT count(*) AS stolen, (SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_read_dev') AS superuser FROM util.stolen;
SELECT outcome('age AS x, ill', 'ward.people t WHERE util.norm(age) > 3');
SELECT outcome('age AS x, ill', 'ward.people t WHERE age = (SELECT max(util.norm(s.age)) FROM ward.people s)');
SELECT outcome('age AS x, ill', '(SELECT * FROM ward.people ORDER BY util.norm(age)) t');
SELECT outcome('age AS x, ill', 'ward.people t, LATERAL util.norm(t.age) n');
-- operators, aggregates, also those of the owner with a part that is not
SELECT outcome('age AS x, age OPERATOR(util.===) 1 AS ill');
SELECT outcome('util.last(age) AS x, ill', 'ward.people t GROUP BY id, ill');
SET ROLE regress_read_owner;
CREATE AGGREGATE ward.last(int) (SFUNC = util.step, STYPE = int);
CREATE OPERATOR ward.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = util.same);
RESET ROLE;
SELECT outcome('ward.last(age) AS x, ill', 'ward.people t GROUP BY id, ill');
SELECT outcome('max(age) AS x, ward.last(age) OVER () > 1 AS ill', 'ward.people t GROUP BY id, age');
SELECT outcome('age AS x, age OPERATOR(ward.===) 1 AS ill');
-- domains: hers, and the owner's with a check that is not; also inside arrays, rows and JSON
SET ROLE regress_read_owner;
CREATE DOMAIN ward.checked AS int CHECK (util.is_small(VALUE));
CREATE DOMAIN ward.nested AS ward.checked;
CREATE DOMAIN ward.fine AS int CHECK (VALUE < 1000);
CREATE TYPE ward.pair AS (a int, b util.small);
RESET ROLE;
SELECT outcome('age::util.small::int AS x, ill');
SELECT outcome('age::ward.checked::int AS x, ill');
SELECT outcome('age::ward.nested::int AS x, ill');
SELECT outcome('age::ward.fine::int AS x, ill');
SELECT outcome('(format(''{%s}'', age)::util.small[])[1]::int AS x, ill');
SELECT outcome('(ARRAY[age]::util.small[])[1]::int AS x, ill');
SELECT outcome('(json_populate_record(NULL::ward.pair, json_build_object(''b'', age))).b::int AS x, ill');
SELECT outcome('j.b::int AS x, ill', 'ward.people t, LATERAL json_to_record(json_build_object(''b'', t.age)) AS j(a int, b util.small)');
SELECT outcome('j.a AS x, ill', 'ward.people t, LATERAL json_to_record(json_build_object(''b'', t.age)) AS j(a int, b util.small)');
SELECT outcome('j.b::int AS x, ill', 'ward.people t, LATERAL xmltable(''/r'' PASSING xmlelement(name r, t.age) COLUMNS a int, b util.small PATH ''.'') AS j');
-- but a column that merely has her type is read as it is
SET ROLE regress_read_owner;
CREATE TABLE ward.typed AS SELECT age::util.small AS x, ill FROM ward.people;
SELECT dpboost_set_domain('ward.typed', 'x', 0, 100), dpboost_set_budget('ward.typed', 'regress_read_ana', 10, 1e-6);
SET ROLE regress_read_ana;
SELECT dpboost_train_on('regress_read', 'ward.typed', 'ill', 0.01, options => '{"method": "sbdt", "trees": 2, "subsample": 1}') ->> 'model' AS model;
RESET ROLE;
-- what sorts, groups, compares and casts: a superuser must have made these of her function
CREATE TYPE util.letter AS ENUM ('a', 'b');
CREATE FUNCTION util.before(util.letter, util.letter) RETURNS boolean LANGUAGE sql AS 'SELECT $1::text < $2::text';
CREATE FUNCTION util.compare(util.letter, util.letter) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE FUNCTION util.to_json(util.letter) RETURNS json LANGUAGE sql AS 'SELECT ''1''::json';
CREATE FUNCTION util.equal(util.letter, util.letter) RETURNS boolean LANGUAGE sql AS 'SELECT $1::text = $2::text';
CREATE OPERATOR util.<<< (LEFTARG = util.letter, RIGHTARG = util.letter, FUNCTION = util.before);
CREATE OPERATOR util.==== (LEFTARG = util.letter, RIGHTARG = util.letter, FUNCTION = util.equal);
CREATE OPERATOR CLASS util.letters FOR TYPE util.letter USING btree AS
    OPERATOR 1 util.<<<, OPERATOR 3 util.====, FUNCTION 1 util.compare(util.letter, util.letter);
SELECT outcome('age AS x, ill', '(SELECT age, ill FROM ward.people ORDER BY ''a''::util.letter USING OPERATOR(util.<<<)) t');
ALTER FUNCTION util.compare(util.letter, util.letter) OWNER TO regress_read_dev;
SELECT outcome('age AS x, ill', '(SELECT age, ill FROM ward.people ORDER BY ''a''::util.letter USING OPERATOR(util.<<<)) t');
SELECT outcome('age AS x, ill', '(SELECT age, ill, row_number() OVER (ORDER BY ''a''::util.letter USING OPERATOR(util.<<<)) AS n FROM ward.people) t');
SELECT outcome('age AS x, ''a''::util.letter OPERATOR(util.====) ''b'' AS ill');
ALTER FUNCTION util.compare(util.letter, util.letter) OWNER TO regress_read_owner;
CREATE CAST (util.letter AS json) WITH FUNCTION util.to_json(util.letter);
ALTER FUNCTION util.to_json(util.letter) OWNER TO regress_read_dev;
SELECT outcome('length(to_json(''a''::util.letter)::text) AS x, ill');
-- what is fine: the owner's, a superuser's, and those of someone who has the owner's rights anyway
CREATE FUNCTION util.by_superuser(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
SET ROLE regress_read_deputy;
CREATE FUNCTION ward.by_deputy(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
RESET ROLE;
SELECT outcome('util.by_superuser(age) AS x, ill'), outcome('ward.by_deputy(age) AS x, ill');
-- the estimate says it, too; and the owner herself, who can read the rows, may do as she likes
SET ROLE regress_read_owner;
CREATE OR REPLACE VIEW ward.seen AS SELECT util.is_small(age)::int AS x, ill FROM ward.people;
SELECT dpboost_train_on('regress_read_own', 'ward.seen', 'ill', 0.01, options => '{"method": "sbdt", "trees": 2, "subsample": 1}') ->> 'model' AS model;
SET ROLE regress_read_ana;
SELECT dpboost_estimate('ward.seen', 'ill', 0.01);
-- what locks rows
RESET ROLE;
SELECT outcome('age AS x, ill', 'ward.people t FOR UPDATE');
SELECT outcome('age AS x, ill', '(SELECT * FROM ward.people FOR SHARE) t');
-- a view that asks for its caller's rights gets them
SELECT current_setting('server_version_num')::int >= 150000 AS has_security_invoker \gset
SET ROLE regress_read_owner;
CREATE OR REPLACE VIEW ward.seen AS SELECT age AS x, ill FROM ward.people;
\if :has_security_invoker
ALTER VIEW ward.seen SET (security_invoker = true);
\else
REVOKE SELECT ON ward.people FROM regress_read_owner;
\endif
SET ROLE regress_read_ana;
:train
SET ROLE regress_read_owner;
\if :has_security_invoker
ALTER VIEW ward.seen RESET (security_invoker);
\else
GRANT SELECT ON ward.people TO regress_read_owner;
\endif

-- SERIALIZABLE would lock what is read, for all to see
SET ROLE regress_read_ana;
BEGIN ISOLATION LEVEL SERIALIZABLE;
:train
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
:train
COMMIT;

-- messages of any level, and whatever a function does about it
SET ROLE regress_read_owner;
CREATE FUNCTION ward.talk(x int) RETURNS int LANGUAGE plpgsql SET client_min_messages = debug5 AS
$$BEGIN RAISE INFO 'saw %', x; RAISE WARNING 'saw %', x; RAISE LOG 'saw %', x; RAISE DEBUG 'saw %', x; RETURN x; END$$;
CREATE OR REPLACE VIEW ward.seen AS SELECT ward.talk(age) AS x, ill FROM ward.people WHERE id < 3;
SET ROLE regress_read_ana;
SET client_min_messages = info;
:train
RESET client_min_messages;
-- errors, with what they quote; a cancel, with what was running
SET ROLE regress_read_owner;
CREATE FUNCTION ward.fail(x int, state text) RETURNS int LANGUAGE plpgsql AS
$$BEGIN RAISE 'it was %', x USING ERRCODE = state, DETAIL = x, HINT = x; END$$;
CREATE FUNCTION ward.sleep(x int) RETURNS int LANGUAGE plpgsql AS
$$BEGIN EXECUTE format('SELECT pg_sleep(60), %L', 'secret'); RETURN x; END$$;
RESET ROLE;
SELECT outcome(format('ward.fail(age, %L) AS x, ill', state)) FROM unnest('{22012,57014,53100,55P03,40P01,42501,54001}'::text[]) state;
SET ROLE regress_read_owner;
CREATE OR REPLACE VIEW ward.seen AS SELECT ward.sleep(age) AS x, ill FROM ward.people;
SET ROLE regress_read_ana;
SET statement_timeout = '300ms';
:train
RESET statement_timeout;
-- an operator that fails when the planner tries it on the commonest values
SET ROLE regress_read_owner;
CREATE FUNCTION ward.picky(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
$$BEGIN RAISE 'it was %', $1; END$$;
CREATE OPERATOR ward.=~ (LEFTARG = text, RIGHTARG = text, FUNCTION = ward.picky, RESTRICT = eqsel);
ANALYZE ward.people;
CREATE OR REPLACE VIEW ward.seen AS SELECT age AS x, ill FROM ward.people WHERE code OPERATOR(ward.=~) 'c9';
SET ROLE regress_read_ana;
:train

-- statistics: function calls, blocks, locks
SET ROLE regress_read_owner;
CREATE FUNCTION ward.called(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN x; END';
CREATE OR REPLACE VIEW ward.seen AS SELECT CASE WHEN id < 28 THEN ward.called(age) END AS x, ill FROM ward.people;
RESET ROLE;
BEGIN;
SET LOCAL track_functions = 'all';
SET ROLE regress_read_ana;
:train
SELECT funcname, calls FROM pg_stat_xact_user_functions WHERE schemaname = 'ward';
COMMIT;
SET ROLE regress_read_owner;
CREATE TABLE ward.wide (x int, ill boolean, filler text) WITH (fillfactor = 10);
INSERT INTO ward.wide SELECT i % 100, i % 2 = 0, repeat('x', 500) FROM generate_series(1, 3000) i;
SELECT dpboost_set_domain('ward.wide', 'x', 0, 100), dpboost_set_budget('ward.wide', 'regress_read_ana', 10, 1e-6);
-- Blocks that a statement has touched, by its own account.
RESET ROLE;
CREATE FUNCTION public.blocks(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT json) ' || statement INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END$$;
SELECT pg_relation_size('ward.wide') / 8192 > 2500 AS many_blocks;
SET ROLE regress_read_ana;
SELECT blocks($$SELECT dpboost_train_on('regress_read', 'ward.wide', 'ill', 0.01, features => '{x}', options => '{"method": "sbdt", "trees": 2, "subsample": 1}')$$) < 2000 AS not_counted;
-- a TOAST table is locked whether or not there is a long value
SET ROLE regress_read_owner;
CREATE FUNCTION ward.toast_is_locked(x int) RETURNS int LANGUAGE sql AS
$$SELECT ward.require(count(*) = 2, x) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation LEFT JOIN pg_index i ON i.indexrelid = c.oid
  WHERE l.pid = pg_backend_pid() AND (SELECT reltoastrelid FROM pg_class WHERE oid = 'ward.people'::regclass) IN (c.oid, i.indrelid)$$;
-- and what a function locks is not locked any more when the training is over
CREATE TABLE ward.other (x int);
CREATE FUNCTION ward.look(x int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN RETURN x + (SELECT count(*) FROM ward.other); END$$;
CREATE OR REPLACE VIEW ward.seen AS SELECT ward.look(ward.toast_is_locked(age)) AS x, ill FROM ward.people;
SET ROLE regress_read_ana;
BEGIN;
:train
SELECT relation::regclass FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('ward.other'::regclass, 'ward.people'::regclass);
COMMIT;
-- an estimate leaves no lock at all, nor does one that fails
BEGIN;
SELECT dpboost_estimate('ward.seen', 'ill', 0.01) ->> 'task' AS task;
SAVEPOINT s;
SELECT dpboost_estimate('ward.seen', 'ill', 0.01, features => '{y}');
ROLLBACK TO s;
SELECT count(*) AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation <> 'pg_locks'::regclass;
COMMIT;

-- settings: a view that its owner can read is read as she would
RESET ROLE;
ALTER ROLE regress_read_owner SET datestyle = 'ISO, DMY';
SELECT outcome('least(100, abs(extract(day FROM born::date)))::int AS x, ill', settings => 'SET LOCAL datestyle = ''ISO, MDY''');
SELECT outcome('ward.require(current_setting(''IntervalStyle'') = ''postgres'', age) AS x, ill', settings => 'SET LOCAL intervalstyle = ''sql_standard''');
SELECT outcome('ward.require(current_setting(''enable_seqscan'') = ''on'', age) AS x, ill', settings => 'SET LOCAL enable_seqscan = off');
SELECT outcome('ward.require(current_setting(''bytea_output'') = ''hex'', age) AS x, ill', settings => 'SET LOCAL bytea_output = ''escape''');
-- (what no library defines, a view sees if it asks)
SELECT outcome('ward.require(current_setting(''app.tenant'') = ''7'', age) AS x, ill', settings => 'SET LOCAL app.tenant = ''7''');
SELECT outcome('ward.require(current_setting(''work_mem'') = ''3MB'', age) AS x, ill', settings => 'SET LOCAL work_mem = ''1MB''');
ALTER ROLE regress_read_owner IN DATABASE contrib_regression SET work_mem = '3MB';
SELECT outcome('ward.require(current_setting(''work_mem'') = ''3MB'', age) AS x, ill', settings => 'SET LOCAL work_mem = ''1MB''');
SET ROLE regress_read_owner;
CREATE TABLE ward.twice (k int);
INSERT INTO ward.twice VALUES (1), (1);
GRANT SELECT ON ward.twice TO PUBLIC;
CREATE FUNCTION ward.first(x int) RETURNS int LANGUAGE plpgsql AS
$$DECLARE found_k int; BEGIN SELECT k INTO found_k FROM ward.twice; RETURN found_k; END$$;
RESET ROLE;
SELECT outcome('ward.first(age) AS x, ill', settings => 'SET LOCAL plpgsql.extra_errors = ''too_many_rows''');
-- also by a function's own settings, and in a session that has not loaded the library yet
SET ROLE regress_read_owner;
CREATE OR REPLACE VIEW ward.seen AS SELECT ward.first(age) AS x, ill FROM ward.people WHERE born::date IS NOT NULL;
SET ROLE regress_read_ana;
\c -
SET ROLE regress_read_ana;
SET plpgsql.extra_errors = 'too_many_rows';
SET datestyle = 'ISO, MDY';
:train
SHOW plpgsql.extra_errors;
SHOW datestyle;
RESET ROLE;

-- the stack: a value that is nested deep can be read or not, however deep the caller is
SET ROLE regress_read_owner;
CREATE FUNCTION ward.depth(value text) RETURNS int LANGUAGE plpgsql AS
$$BEGIN RETURN length(value::json::text) % 100; EXCEPTION WHEN OTHERS THEN RETURN NULL; END$$;
CREATE FUNCTION ward.strict_depth(value text) RETURNS int LANGUAGE sql AS 'SELECT length(value::json::text) % 100';
CREATE OR REPLACE VIEW ward.seen AS SELECT ward.depth(repeat('[', 3000) || repeat(']', 3000)) AS x, ill FROM ward.people WHERE id < 3;
RESET ROLE;
CREATE FUNCTION public.deep(levels int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF levels > 0 THEN RETURN deep(levels - 1); END IF;
    PERFORM dpboost_train_on('regress_read', 'ward.seen', 'ill', 0.01, options => '{"method": "sbdt", "trees": 2, "subsample": 1}');
    RETURN 'trained';
EXCEPTION WHEN OTHERS THEN RETURN concat_ws(' ', SQLSTATE, SQLERRM);
END$$;
SET ROLE regress_read_ana;
SELECT deep(0), deep(100);
SELECT deep(300);
SET ROLE regress_read_owner;
CREATE OR REPLACE VIEW ward.seen AS SELECT ward.strict_depth(repeat('[', 100000) || repeat(']', 100000)) AS x, ill FROM ward.people WHERE id < 3;
SET ROLE regress_read_ana;
SELECT deep(0), deep(100);
RESET ROLE;
-- the same at every depth of the value, from what fits easily to what does not fit at all
CREATE TABLE public.nested (levels int, shallow text, deep text);
GRANT INSERT ON public.nested TO regress_read_ana;
\set ECHO none
SELECT 'SET ROLE regress_read_owner',
       format('CREATE OR REPLACE VIEW ward.seen AS SELECT ward.strict_depth(repeat(''['', %s) || repeat('']'', %1$s)) AS x, ill FROM ward.people WHERE id < 3', n),
       'SET ROLE regress_read_ana', format('INSERT INTO public.nested SELECT %s, deep(0), deep(130)', n), 'RESET ROLE'
FROM generate_series(9000, 15800, 850) n \gexec
\set ECHO all
SELECT count(*) AS tried, count(*) FILTER (WHERE shallow <> deep) AS told_apart, count(DISTINCT shallow) AS outcomes FROM public.nested;
DROP TABLE public.nested;

SELECT dpboost_drop_model('regress_read'), dpboost_drop_model('regress_read_own');
DROP FUNCTION outcome, blocks, deep;
SET client_min_messages = warning;
DROP SCHEMA ward, util CASCADE;
DROP OWNED BY regress_read_owner;
DROP ROLE regress_read_owner, regress_read_deputy, regress_read_ana, regress_read_dev;
