-- Tables that differ in one row: what a caller sees may differ through noise only, so everything that carries no noise must
-- be the same: results, errors, notices, the length and the shape of the model, plans of queries.
CREATE SCHEMA regress_near;
SET search_path = regress_near, public;
CREATE TYPE color AS ENUM ('red', 'green');
CREATE TABLE people (
    id int, person int, age int, gain numeric, rate float8, word text, hue color, born date, cost float8, died boolean);
INSERT INTO people SELECT i, i % 20, i % 100, i, i / 100.0, 'w' || i % 3, 'red', '1950-01-01', i % 10, i % 2 = 0
    FROM generate_series(1, 100) i;
SELECT dpboost_protect('people', 100, 1e-6);
SELECT dpboost_set_domain('people', 'age', 0, 100), dpboost_set_domain('people', 'gain', 0, 1000, 'log'),
       dpboost_set_domain('people', 'rate', 0, 1), dpboost_set_domain('people', 'born', '1900-01-01', '2000-01-01'),
       dpboost_set_domain('people', 'cost', 0, 10), dpboost_set_domain('people', 'word', ARRAY['w0', 'w1', 'w2']);
CREATE TABLE neighbour (name text, row_added text);
INSERT INTO neighbour VALUES
    ('ordinary', $$1, 5, 50, 500, 0.5, 'w1', 'red', '1950-01-01', 5, true$$),
    ('someone new', $$1, 999999, 50, 500, 0.5, 'w1', 'red', '1950-01-01', 5, true$$),
    ('all NULL', $$NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL$$),
    ('no target', $$1, 5, 50, 500, 0.5, 'w1', 'red', '1950-01-01', NULL, NULL$$),
    ('NaN', $$1, 5, 50, 'NaN', 'NaN', 'w1', 'red', '1950-01-01', 'NaN', true$$),
    ('infinite', $$1, 5, 50, 'Infinity', '-Infinity', 'w1', 'red', 'infinity', 'Infinity', true$$),
    ('huge', $$1, 5, 2147483647, 1e300::numeric * 1e200::numeric, 1e308, 'w1', 'red', '5000-01-01', -1e308, true$$),
    ('unknown', $$1, 5, 50, 500, 0.5, 'never seen', 'green', '1950-01-01', 5, true$$),
    ('long', $$1, 5, 50, 500, 0.5, repeat('x', 100000), 'red', '1950-01-01', 5, true$$),
    ('empty', $$1, 5, 50, 500, 0.5, '', 'red', '1950-01-01', 5, false$$);

-- All that can be seen of a call, without its noise: the result, the stored model's shape, the plan with its row counts.
-- Not buffers, which count the ledger's pages and grow with every training; of those "reading" tells.
CREATE FUNCTION seen(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result jsonb;
    line text;
    seen text;
BEGIN
    EXECUTE 'SELECT ' || call INTO result;
    seen := result - '{version,release_id,remaining,base_rate}'::text[];
    SELECT concat_ws(' ', seen, method, task, options, features, length(content)) INTO STRICT seen
    FROM dpboost.model WHERE name = 'regress_near' ORDER BY version DESC LIMIT 1;
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS off, TIMING off, SUMMARY off, COSTS off) SELECT ' || call LOOP
        seen := concat_ws(' ', seen, line);
    END LOOP;
    RETURN seen;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END$$;

-- The neighbours at which a call can be told from the same call without the row; 'no error' if it works at all.
CREATE FUNCTION told_apart(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    without text := seen(call);
    added neighbour;
    other text;
BEGIN
    RETURN NEXT CASE WHEN without LIKE '{%' THEN 'no error' ELSE without END;
    FOR added IN SELECT * FROM neighbour LOOP
        EXECUTE format('INSERT INTO people VALUES (%s)', added.row_added);
        other := seen(call);
        IF other <> without THEN
            RETURN NEXT format('%s: %s instead of %s', added.name, other, without);
        END IF;
        DELETE FROM people WHERE ctid = (SELECT max(ctid) FROM people);
    END LOOP;
    IF (SELECT count(*) FROM people) NOT IN (0, 100) THEN
        RAISE EXCEPTION 'the test is wrong';
    END IF;
END$$;

\set on_table 'dpboost_train_on(''regress_near'', ''people'', '
SELECT told_apart(:'on_table' || $$'cost', 1, features => '{age,gain,rate,word,hue,born,died}', options => '{"method": "sbdt", "trees": 4}')$$);
SELECT told_apart(:'on_table' || $$'died', 1, features => '{age,gain,rate,word,hue,born}', options => '{"method": "sbdt", "trees": 4, "extra_rounds": 2}')$$);
SELECT told_apart(:'on_table' || $$'word', 1, features => '{age,gain}', options => '{"method": "sbdt", "trees": 4, "positive": "w1"}')$$);
-- per person
SELECT dpboost_protect('people', 100, 1e-6, 'person', accept_earlier => true);
SELECT told_apart(:'on_table' || $$'cost', 1, features => '{age,word}', options => '{"method": "sbdt", "trees": 4}')$$);
SELECT dpboost_unprotect('people');
-- an error is the same error with any row
SELECT told_apart(:'on_table' || $$'cost', 1, features => '{id}', options => '{"method": "sbdt"}')$$);
-- from an empty table to one person
DELETE FROM people;
SELECT told_apart(:'on_table' || $$'cost', 1, features => '{age,word}', options => '{"method": "sbdt", "trees": 4}')$$);

-- every method, on nothing and on all of these rows at once, by row and by person: no error, and the same answer
CREATE FUNCTION answers(unit name) RETURNS TABLE (method text, result jsonb) LANGUAGE plpgsql AS $$
DECLARE
    m text;
BEGIN
    PERFORM dpboost_protect('people', 100, 1e-6, unit, accept_earlier => true);
    FOR m IN SELECT dpboost_methods.method FROM dpboost_methods LOOP
        RETURN QUERY SELECT m, dpboost_train_on('regress_near', 'people', 'died', 1, 1e-6, '{age,gain,rate,word,hue,born}', s.options)
            - '{version,release_id,remaining,base_rate}'::text[]
        FROM (SELECT jsonb_build_object('method', m) || CASE
                  WHEN m LIKE 'adassp%' THEN '{"rounds": 3}'
                  WHEN m LIKE 'pure%' THEN '{"ensembles": 2, "trees_per_ensemble": 2, "depth": 2}'
                  ELSE '{"trees": 3, "depth": 2}' END::jsonb AS options) s;
    END LOOP;
END$$;
CREATE TABLE empty_answers AS SELECT * FROM answers(NULL) UNION ALL SELECT * FROM answers('person');
SELECT dpboost_unprotect('people');
DO $$ DECLARE added neighbour; BEGIN
    FOR added IN SELECT * FROM neighbour LOOP EXECUTE format('INSERT INTO people VALUES (%s)', added.row_added); END LOOP;
END $$;
CREATE TABLE odd_answers AS SELECT * FROM answers(NULL) UNION ALL SELECT * FROM answers('person');
SELECT count(*) FROM people;
SELECT count(*) = 2 * (SELECT count(*) FROM dpboost_methods) AS all_methods FROM odd_answers;
(TABLE empty_answers EXCEPT TABLE odd_answers) UNION ALL (TABLE odd_answers EXCEPT TABLE empty_answers);

SELECT dpboost_drop_model('regress_near');
SET client_min_messages = warning;
DROP SCHEMA regress_near CASCADE;
