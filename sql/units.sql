-- Privacy units of every type: equal values are one person, however they are written; different values are different people.
-- Tried with noise that is small beside 300 people: 300 rows say yes, 30 people say no. If the 300 are one person, no wins.
CREATE SCHEMA regress_units;
SET search_path = regress_units, public;
DO $$BEGIN EXECUTE (SELECT format('CREATE TYPE many AS ENUM (%s)', string_agg(quote_literal('e' || i), ', ')) FROM generate_series(1, 400) i); END$$;
CREATE DOMAIN person AS bigint CHECK (VALUE > 0);
-- Whether the model says yes when the unit of the i-th row that says yes is `unit` (an expression of i).
CREATE SEQUENCE cases;  -- a table of its own for each: its cap is for one training
CREATE FUNCTION says_yes(unit_type text, unit text, other text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE relation text := 'rows' || nextval('cases');
BEGIN
    EXECUTE format('CREATE TABLE %I (who %s, x int CHECK (x BETWEEN 0 AND 1), y boolean)', relation, unit_type);
    EXECUTE format('INSERT INTO %I SELECT %s, 0, true FROM generate_series(1, 300) i', relation, unit);
    EXECUTE format('INSERT INTO %I SELECT %s, 0, false FROM generate_series(301, 330) i', relation, other);
    EXECUTE format('INSERT INTO %I SELECT NULL, 0, true FROM generate_series(1, 1000)', relation);  -- nobody
    PERFORM dpboost_protect(relation::regclass, 100, 1e-3, 'who');
    PERFORM dpboost_train_on('regress_units', relation::regclass, 'y', 100, 1e-3, options => '{"method": "sbdt", "trees": 20, "depth": 1, "subsample": 1, "learning_rate": 0.5}');
    EXECUTE format('DROP TABLE %I', relation);
    RETURN dpboost_predict('regress_units', 0) > 0.5;
END$$;
SELECT name, NOT says_yes(type, one, many) AS equal_is_one, says_yes(type, many, many) AS different_are_many
FROM (VALUES
    ('smallint', 'smallint', '7', 'i'),
    ('int', 'int', '7', 'i'),
    ('int, negative', 'int', '-7', '-i'),
    ('bigint', 'bigint', '7e15', '1e15 + i'),
    ('bigint, high half', 'bigint', '7', '(i::bigint << 32)'),
    ('oid', 'oid', '7', 'i::oid'),
    ('numeric', 'numeric', '(''7.'' || repeat(''0'', i))::numeric', 'i + 0.5'),
    ('numeric, large', 'numeric', '(''7e20'')::numeric + (''0.'' || repeat(''0'', i))::numeric', '1e200 + i'),
    ('numeric, NaN', 'numeric', '''NaN''', 'i'),
    ('text', 'text', '''p''', '''p'' || i'),
    ('text, blanks count', 'text', '''p''', '''p'' || repeat('' '', i)'),
    ('text, empty', 'text', '''''', '''p'' || i'),
    ('text, long', 'text', 'repeat(''p'', 100000)', 'repeat(''p'', 3000) || i'),
    ('varchar(9)', 'varchar(9)', '''p''', '''p'' || i'),
    ('char(9)', 'char(9)', '''p''', '''p'' || i'),
    ('bpchar', 'bpchar', '''p'' || repeat('' '', i)', '''p'' || i'),
    ('name', 'name', '''p''', '''p'' || i'),
    ('uuid', 'uuid', 'md5(''7'')::uuid', 'md5(i::text)::uuid'),
    ('bytea', 'bytea', '''\x00''', 'decode(lpad(to_hex(i), 8, ''0''), ''hex'')'),
    ('bytea, zeros', 'bytea', '''\x''', 'decode(repeat(''00'', i), ''hex'')'),
    ('date', 'date', '''2000-01-01''', '''2000-01-01''::date - i'),
    ('enum', 'many', '''e7''', '(''e'' || i)::many'),
    ('domain', 'person', '7', 'i')) AS t (name, type, one, many);

-- what cannot tell people apart
CREATE TABLE others (f float8, t timestamptz, b boolean, j jsonb, a int[], i int, y boolean);
SELECT dpboost_set_domain('others', 'i', 0, 1);
CREATE FUNCTION refusal(unit name) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dpboost_protect('others', 10, 1e-6, unit);
    PERFORM dpboost_train_on('regress_units', 'others', 'y', 1, features => '{i}');
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN RETURN concat_ws(' ', SQLSTATE, SQLERRM);
END$$;
SELECT unit, refusal(unit) FROM unnest('{f,t,b,j,a}'::name[]) unit;

SELECT dpboost_drop_model('regress_units');
SET client_min_messages = warning;
DROP SCHEMA regress_units CASCADE;
