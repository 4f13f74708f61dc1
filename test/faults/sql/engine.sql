-- What carries rows from one process to another, damaged; and dpboost_train_rows inside an engine's own aggregate.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpboost_faults;
\set SHOW_CONTEXT never
CREATE TABLE visits (id int, who int, x int CHECK (x BETWEEN 0 AND 3), y boolean, list float8[]);
INSERT INTO visits SELECT i, i / 3, i % 4, i % 4 IN (1, 3), CASE WHEN i = 30 THEN '{0.5,0.5}'::float8[] END FROM generate_series(0, 99) i;
CREATE FUNCTION pair(x int, y boolean) RETURNS record LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN (x, y); END$$;

-- ---- partial states of dpboost_train: columns; an array whose length only rows tell; only targets, which wait for it; a record
CREATE FUNCTION call(name text, features text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT format('SELECT dpboost_fault_%s(''carried'', ''{"epsilon": 1, "delta": 1e-3, "bounds": %s}'', y, %s) FROM visits', name,
                  CASE features WHEN 'x' THEN '{}' WHEN 'list' THEN '[0, 1]' ELSE '{"f1": [0, 3]}' END, features)$$;
CREATE FUNCTION sent(features text, condition text) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE bytes bytea;
BEGIN
    EXECUTE call('sent', features) || ' WHERE ' || condition INTO bytes;
    RETURN bytes;
END$$;
CREATE FUNCTION taken(features text, bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE took text;
BEGIN
    PERFORM dpboost_fault_carry(bytes);
    EXECUTE call('took', features) || ' WHERE id = 0' INTO took;
    RETURN took;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate;
END$$;
CREATE TABLE states AS SELECT name, features, sent(features, condition) AS bytes FROM (VALUES
    ('columns', 'x', 'true'), ('array', 'list', 'true'), ('waiting', 'list', 'id < 9'), ('record', 'pair(x, y)', 'true')) s (name, features, condition);
SELECT name, taken(features, bytes) FROM states ORDER BY name;

-- cut at every place of the head, and behind it
SELECT DISTINCT name, taken(features, substr(bytes, 1, size)) FROM states, generate_series(0, length(bytes) - 1) size
WHERE size < 250 OR size > length(bytes) - 3 ORDER BY 1, 2;
SELECT name, taken(features, bytes || '\x00') FROM states ORDER BY name;

-- every byte of the head in turn, and several at once: refused, or what the bytes say now is a sound call
CREATE FUNCTION damaged(bytes bytea, trial int) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    head int := least(length(bytes), 250);
BEGIN
    IF trial < head THEN
        RETURN set_byte(bytes, trial, 255);
    END IF;
    FOR i IN 0 .. trial % 3 LOOP
        bytes := set_byte(bytes, (random() * (head - 1))::int, (random() * 255)::int);
    END LOOP;
    RETURN bytes;
END$$;
SELECT setseed(0.5);
CREATE TABLE outcomes AS SELECT name, trial, taken(features, damaged(bytes, trial)) AS outcome FROM states, generate_series(0, 399) trial;
SELECT DISTINCT name, outcome FROM outcomes WHERE outcome NOT IN ('true', 'XX001', '22023', '22P02', '42602', '42804') ORDER BY 1, 2;
SELECT name, count(*) FILTER (WHERE outcome = 'XX001') > 30 AS refused FROM outcomes GROUP BY name ORDER BY name;

-- ---- an engine: its plan only lists what it reads, so it must show that nothing repeats or mixes rows
CREATE TABLE other (id int, y int);
INSERT INTO other VALUES (0);
CREATE TABLE protected (id int);
INSERT INTO protected VALUES (0);
SELECT dpboost_protect('visits', 100, 1e-3, 'who');
SELECT dpboost_protect('protected', 100, 1e-3);
SELECT dpboost_fault_part('engine', '{"epsilon": 20, "delta": 1e-3, "bounds": [[0, 3]], "target_range": [0, 1], "relation": "visits"}',
                          y::int, ARRAY[x], who::text) AS part FROM visits \gset
SELECT dpboost_fault_engine(p) ->> 'features' AS features FROM unnest(ARRAY[:'part']::dpboost.train_state[]) p, visits WHERE id = 0;
SELECT relations, privacy_unit, delivered FROM dpboost_ledger WHERE model = 'engine';
SELECT dpboost_fault_engine(p) FROM unnest(ARRAY[:'part']::dpboost.train_state[]) p;
SELECT dpboost_fault_engine(p) FROM unnest(ARRAY[:'part']::dpboost.train_state[]) p, visits v, visits w WHERE v.id = 0 AND w.id = 0;
SELECT dpboost_fault_engine(p) FROM unnest(ARRAY[:'part']::dpboost.train_state[]) p, generate_series(1, 2), visits v WHERE id = 0;
SELECT dpboost_fault_engine(p) FROM unnest(ARRAY[:'part']::dpboost.train_state[]) p, visits v, other o WHERE v.id = 0;
SELECT dpboost_fault_engine(p) FROM unnest(ARRAY[:'part']::dpboost.train_state[]) p, visits v, protected o WHERE v.id = 0;
SELECT dpboost_fault_engine(p) FROM unnest(ARRAY[:'part']::dpboost.train_state[]) p, (SELECT * FROM visits OFFSET 0) v WHERE id = 0;
SELECT dpboost_fault_engine(p) FROM unnest(ARRAY[:'part']::dpboost.train_state[]) p LEFT JOIN visits v ON id = 0;
SELECT count(*) FROM dpboost_ledger WHERE model = 'engine';
-- groups: one model each
CREATE TABLE parts AS SELECT dpboost_fault_part('engine_' || id % 2, '{"epsilon": 1, "delta": 1e-6, "bounds": [[0, 3]], "target_range": [0, 1], "relation": "visits"}',
                                                y::int, ARRAY[x], who::text) AS part FROM visits GROUP BY id % 2;
SELECT array_agg(part)::text AS parts FROM parts \gset
SELECT dpboost_fault_engine(p) ->> 'features' AS features FROM unnest(:'parts'::dpboost.train_state[]) WITH ORDINALITY p (p, n), visits WHERE id = 0 GROUP BY n;
SELECT model, relations, delivered FROM dpboost_ledger WHERE model LIKE 'engine__' ORDER BY model;
-- who may not read the relation cannot train on rows that he brings
CREATE ROLE regress_fault_engine;
GRANT SELECT ON parts TO regress_fault_engine;
GRANT USAGE ON SCHEMA dpboost TO regress_fault_engine;
SET ROLE regress_fault_engine;
SELECT dpboost_fault_engine(part) FROM (SELECT * FROM parts LIMIT 1) p;
RESET ROLE;
SELECT dpboost_drop_model(model) FROM unnest('{engine,engine_0,engine_1}'::text[]) model;
DROP TABLE visits, other, protected, parts, states, outcomes;
DROP OWNED BY regress_fault_engine;
DROP ROLE regress_fault_engine;
