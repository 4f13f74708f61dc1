-- Trains with random options on pairs of tables that differ in one person, and compares all that the caller can see and
-- that carries no noise: results, errors, the model's shape, plans, counted rows and calls, locks, blocks. Needs the variables
-- `trainings` (how many) and `seed`; prints what could be told apart (three of them), and a last line for the machine. Nothing else may be
-- printed: a message during a training would be a difference, too.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpboost;
SET client_min_messages = notice;
CREATE ROLE near_owner;
CREATE ROLE near_ana;
CREATE SCHEMA near;
GRANT ALL ON SCHEMA near TO near_owner, near_ana;
SET search_path = near, public;
SET ROLE near_owner;
CREATE TYPE hue AS ENUM ('red', 'green', 'blue');
CREATE TABLE people_a (
    id serial, person bigint, age int, gain numeric, rate float8, word text, hue hue, born date, parts float8[], secret boolean,
    cost float8, died boolean);
CREATE INDEX people_a_secret ON people_a (id) WHERE secret;
CREATE TABLE people_b (LIKE people_a INCLUDING ALL);
CREATE TABLE patients_a (LIKE people_a INCLUDING ALL);
CREATE TABLE patients_b (LIKE people_a INCLUDING ALL);
CREATE TABLE members_a (LIKE people_a INCLUDING ALL);
CREATE TABLE members_b (LIKE people_a INCLUDING ALL);
CREATE FUNCTION clamped(x numeric) RETURNS numeric LANGUAGE plpgsql AS $$BEGIN RETURN least(greatest(x, 0), 1000); END$$;
CREATE VIEW view_a AS SELECT person, age, CASE WHEN secret THEN clamped(gain) END AS gain, rate, word, hue, born, parts, cost, died
    FROM people_a WHERE secret OR id % 2 = 0;
CREATE VIEW view_b AS SELECT person, age, CASE WHEN secret THEN clamped(gain) END AS gain, rate, word, hue, born, parts, cost, died
    FROM people_b WHERE secret OR id % 2 = 0;
CREATE TABLE pair (kind text, a regclass, b regclass, base_a regclass, base_b regclass);
INSERT INTO pair VALUES ('table', 'people_a', 'people_b', 'people_a', 'people_b'),
    ('per person', 'patients_a', 'patients_b', 'patients_a', 'patients_b'), ('view', 'view_a', 'view_b', 'people_a', 'people_b'),
    ('by account', 'members_a', 'members_b', 'members_a', 'members_b');
DO $$
DECLARE
    relation regclass;
BEGIN
    FOR relation IN SELECT a FROM pair UNION ALL SELECT b FROM pair LOOP
        IF relation::text LIKE 'patients%' THEN
            PERFORM dpboost_protect(relation, 100, 1e-3, 'person');
        ELSIF relation::text LIKE 'members%' THEN  -- some trainings, and everybody has used his up
            PERFORM dpboost_protect(relation, 30, 1e-3, 'person', accounting => 'unit');
        END IF;
        PERFORM dpboost_set_domain(relation, 'age', 0, 100), dpboost_set_domain(relation, 'gain', 0, 1000, 'log'),
                dpboost_set_domain(relation, 'born', '1900-01-01', '2000-01-01'), dpboost_set_domain(relation, 'cost', 0, 10),
                dpboost_set_domain(relation, 'word', ARRAY['w0', 'w1', 'w2']), dpboost_set_budget(relation, 'near_ana', 100, 1e-3);
    END LOOP;
END$$;
ALTER TABLE patients_a SET (parallel_workers = 1);
ALTER TABLE patients_b SET (parallel_workers = 1);
RESET ROLE;
-- Workers read these two, however few rows they have.
ALTER ROLE near_owner SET parallel_setup_cost = 0;
-- More than anybody can set: what is refused shows nothing. 'by account' has a limit that is used up.
UPDATE dpboost.protection SET epsilon = 1e6 WHERE epsilon = 100;
UPDATE dpboost.allowance SET epsilon = 1e6;

-- One row, of which every value may be odd.
CREATE TABLE odd AS SELECT
    ARRAY[NULL, 'NaN'::numeric, -1, 1e300::numeric * 1e200::numeric, 500] AS gain,
    ARRAY[NULL, 'NaN', 'Infinity', '-Infinity', -0.0, 1e308, 0.5]::float8[] AS rate,
    ARRAY[NULL, '', 'never seen', 'w1', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 6000) i)] AS word,
    ARRAY[NULL, 'infinity', '-infinity', '4000-01-01 BC', '1950-01-01']::date[] AS born,
    ARRAY[NULL, '{}', '{1}', '{{1,2},{3,4}}', '{NULL,NaN}', '{0.5,0.5}'] AS parts,
    ARRAY[NULL, 'NaN', 'Infinity', -1e308, 5]::float8[] AS cost;
CREATE FUNCTION any_of(anyarray) RETURNS anyelement LANGUAGE sql VOLATILE AS
$$SELECT $1[1 + floor(random() * cardinality($1))]$$;
CREATE FUNCTION add_rows(relation regclass, who bigint, count int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..count LOOP
        EXECUTE format('INSERT INTO %s (person, age, gain, rate, word, hue, born, parts, secret, cost, died)
            SELECT $1, (random() * 200 - 50)::int, near.any_of(gain), near.any_of(rate), near.any_of(word),
                   near.any_of(ARRAY[NULL, ''red'', ''green''])::near.hue, near.any_of(born), near.any_of(parts)::float8[],
                   random() < 0.7, near.any_of(cost), random() < 0.5 FROM near.odd', relation) USING who;
    END LOOP;
END$$;

-- Both tables with the same ordinary rows, and one of them with one more row or person; returns which, 1 or 2.
CREATE FUNCTION fill(p pair) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    larger int := any_of(ARRAY[1, 2]);
BEGIN
    EXECUTE format('TRUNCATE %s, %s', p.base_a, p.base_b);
    EXECUTE format('INSERT INTO %s (id, person, age, gain, rate, word, hue, born, parts, secret, cost, died)
        SELECT i, i %% 7, i %% 100, i, i / 100.0, ''w'' || i %% 3, ''red'', ''1950-01-01'', ARRAY[0.1, i / 50.0], i %% 5 = 0, i %% 10,
               i %% 2 = 0 FROM generate_series(1, %s) i', p.base_a, any_of(ARRAY[0, 1, 5, 40]));
    PERFORM add_rows(p.base_a, 3, (random() * 2)::int);
    EXECUTE format('INSERT INTO %s SELECT * FROM %s', p.base_b, p.base_a);
    PERFORM add_rows(CASE larger WHEN 1 THEN p.base_a ELSE p.base_b END, any_of(ARRAY[1000000, NULL]),
                     CASE WHEN p.kind IN ('per person', 'by account') THEN any_of(ARRAY[1, 3, 20]) ELSE 1 END);
    RETURN larger;
END$$;

-- The arguments of a call after the relation: most can be trained with, the others are refused alike.
CREATE FUNCTION random_call(p pair) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    method text := (SELECT any_of(array_agg(m.method)) FROM dpboost_methods m);
    target text := any_of(ARRAY['died', 'cost', 'word']);
    options jsonb := jsonb_build_object('method', method) || CASE
        WHEN method LIKE 'adassp%' THEN '{"rounds": 2}' WHEN method LIKE 'pure%' THEN '{"ensembles": 2, "trees_per_ensemble": 2, "depth": 2}'
        WHEN method = 'auto' THEN '{}' ELSE '{"trees": 2, "depth": 2}' END::jsonb;
    further text[] := ARRAY['{"depth": 3}', '{"subsample": 0.5}', '{"subsample": 1}', '{"bins": 5}', '{"l2": 2}', '{"leaf_clip": 0.5}',
        '{"gradient_clip": 0.5}', '{"initial_share": 0.1}', '{"extra_rounds": 2}', '{"learning_rate": 0.3}', '{"features": "cyclic"}',
        '{"bounds": {"rate": "private"}}', '{"candidates": "sketch"}', '{"structure": "greedy"}', '{"leaf": "newton"}', '{"batch": 2}',
        '{"rows_hint": 50}', '{"hessian_rounds": 2}', '{"loss": "logistic"}', '{"target_range": [1, 9]}', '{"trees": 0}', '{"treees": 1}'];
    columns text[] := ARRAY['age', 'gain', 'hue', 'born'];
BEGIN
    IF random() < 0.1 THEN
        columns := '{parts}';
        options := options || '{"bounds": [[0, 1], [0, 1]]}';
    ELSE
        columns := array_remove(columns || any_of(ARRAY['word', 'died', 'cost']), target);
        options := options || CASE WHEN random() < 0.3 THEN '{"bounds": {"rate": [0, 1]}}' ELSE '{}' END::jsonb;
        columns := CASE WHEN options ? 'bounds' THEN columns || 'rate'::text ELSE columns END;
    END IF;
    IF target = 'word' THEN
        options := options || '{"positive": "w1"}';
    END IF;
    FOR i IN 1..(random() * 1.6)::int LOOP
        options := options || any_of(further)::jsonb;
    END LOOP;
    RETURN format('%L, %s, features => %L, options => %L', target, any_of(ARRAY[0.1, 1, 20]), columns, options);
END$$;

-- What PostgreSQL has counted in this transaction for a table, its indexes and its TOAST table, and for the view's function.
CREATE FUNCTION counted(base regclass) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    WITH top AS (SELECT oid, reltoastrelid FROM pg_class WHERE oid = base),
         every AS (SELECT oid FROM top UNION SELECT reltoastrelid FROM top
                   UNION SELECT indexrelid FROM pg_index, top WHERE indrelid IN (top.oid, reltoastrelid))
    SELECT sum(pg_stat_get_xact_numscans(oid) + pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)
               + pg_stat_get_xact_blocks_fetched(oid))::bigint
           + coalesce(pg_stat_get_xact_function_calls('near.clamped'::regproc), 0) FROM every
$$;

-- All that can be seen of a call on one of the two. Blocks and bytes are kept apart, to be compared on average: the ledger's own
-- pages make the first differ a little, and random splits the size of some models.
CREATE TYPE sight AS (seen text, blocks bigint, bytes bigint);
CREATE FUNCTION look(relation regclass, base regclass, call text) RETURNS sight LANGUAGE plpgsql AS $$
DECLARE
    before bigint := counted(base);
    statement text := format('SELECT dpboost_train_on(''near'', %L, %s)', relation, call);
    result jsonb;
    plan jsonb;
    found sight;
    detail text;
    hint text;
    context text;
BEGIN
    BEGIN
        SET LOCAL ROLE near_ana;
        EXECUTE statement INTO result;
        -- Who reads a page full of old versions tidies it up, which is WAL of his; how full it is follows from how many have trained.
        RESET ROLE;
        PERFORM count(*) FROM dpboost.unit_state, dpboost.total;
        SET LOCAL ROLE near_ana;
        EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING off, SUMMARY off, COSTS off, FORMAT json) ' || statement INTO plan;
        plan := plan #> '{0,Plan}';
        found.blocks := (plan ->> 'Shared Hit Blocks')::bigint + (plan ->> 'Shared Read Blocks')::bigint;
        RESET ROLE;
        found.seen := concat_ws(' ', result - '{version,release_id,remaining,base_rate}'::text[], plan - '{Shared Hit Blocks,Shared Read Blocks,Shared Dirtied Blocks,Shared Written Blocks}'::text[],
            (SELECT concat_ws(' ', m.method, task, options, CASE WHEN call LIKE '%private%' THEN '(with noise)' ELSE features::text END) FROM dpboost.model m ORDER BY model_id DESC LIMIT 1));
        found.bytes := (SELECT length(content) FROM dpboost.model ORDER BY model_id DESC LIMIT 1);
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
        found.seen := concat_ws(' ', SQLSTATE, SQLERRM, detail, hint, context);
    END;
    RESET ROLE;
    found.seen := replace(replace(concat_ws(' ', found.seen, 'counted', counted(base) - before, 'locks', (SELECT count(*) FROM pg_locks
        WHERE pid = pg_backend_pid() AND pg_locks.relation IN (look.relation, base))), relation::text, 'RELATION'), base::text, 'BASE');
    RETURN found;
END$$;

-- Two trainings on each side; the order changes, so that what grows with every training falls on both sides alike.
CREATE TABLE difference (kind text, call text, a text, b text);
CREATE TABLE sighted (kind text, worked boolean, more_blocks bigint, more_bytes bigint);
CREATE PROCEDURE compare(pairs int) LANGUAGE plpgsql AS $$
DECLARE
    p pair;
    call text;
    larger int;
    side int;
    sides sight[];
BEGIN
    FOR i IN 1..pairs LOOP
        SELECT * INTO p FROM pair ORDER BY random() LIMIT 1;
        larger := fill(p);
        COMMIT;
        call := random_call(p);
        FOREACH side IN ARRAY CASE WHEN i % 2 = 0 THEN ARRAY[1, 2] ELSE ARRAY[2, 1] END LOOP
            sides[side] := look(CASE side WHEN 1 THEN p.a ELSE p.b END, CASE side WHEN 1 THEN p.base_a ELSE p.base_b END, call);
        END LOOP;
        INSERT INTO sighted VALUES (p.kind, sides[1].seen LIKE '{%',
            sides[larger].blocks - sides[3 - larger].blocks, sides[larger].bytes - sides[3 - larger].bytes);
        IF sides[1].seen IS DISTINCT FROM sides[2].seen OR abs(sides[2].blocks - sides[1].blocks) > 100 THEN
            INSERT INTO difference VALUES (p.kind, call, sides[1]::text, sides[2]::text);
        END IF;
        COMMIT;
    END LOOP;
END$$;

SELECT setseed(:seed) \g /dev/null
SET track_functions = 'all';
-- The first trainings fill the session's caches.
SELECT look(a, base_a, $$'died', 1, features => '{age}'$$), look(b, base_b, $$'died', 1, features => '{age}'$$) FROM pair \g /dev/null
CALL compare(:trainings / 4);
\pset format unaligned
\pset footer off
SELECT * FROM difference LIMIT 3;
CREATE FUNCTION mean(numeric[]) RETURNS text LANGUAGE sql AS
$$SELECT concat(round(avg(x), 2), ' +- ', round(stddev(x) / sqrt(count(x))::numeric, 2)) FROM unnest($1) x$$;
SELECT kind, count(*) AS pairs, count(*) FILTER (WHERE worked) AS trained, mean(array_agg(more_blocks)) AS more_blocks,
       mean(array_agg(more_bytes)) AS more_bytes FROM sighted GROUP BY kind ORDER BY kind;
\t on
SELECT format('%s pairs, %s trained, %s told apart', count(*), count(*) FILTER (WHERE worked), (SELECT count(*) FROM difference)) FROM sighted;
