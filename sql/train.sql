-- The aggregate: what it returns, the ways to pass features, and the places of SQL in which it may stand.
\set SHOW_CONTEXT never
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN percent AS numeric CHECK (VALUE >= 0 AND VALUE <= 100);
CREATE TABLE people (
    id int PRIMARY KEY,
    age int CHECK (age >= 18 AND age <= 90),
    gone text,
    score percent,
    city text,
    mood mood,
    member boolean,
    joined date,
    seen timestamptz,
    income float8,
    sick boolean,
    verdict text CHECK (verdict IN ('yes', 'no'))
);
ALTER TABLE people DROP COLUMN gone;
INSERT INTO people
SELECT i, 18 + i % 70, i % 101, 'city ' || i % 7, (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood, i % 2 = 0,
       date '2020-01-01' + i, timestamptz '2020-01-01 UTC' + i * interval '1 day', i * 100, i % 5 = 0,
       CASE WHEN i % 4 = 0 THEN 'yes' ELSE 'no' END
FROM generate_series(1, 300) i;

-- the keys of the result
SELECT jsonb_object_keys(r) AS key
FROM (SELECT dpboost_train('keys', '{"epsilon": 0.5, "target_range": [0, 30000], "trees": 20}', income, age) AS r FROM people) s
ORDER BY 1;
SELECT r - '{owner,release_id}'::text[] AS result
FROM (SELECT dpboost_train('keys', '{"epsilon": 0.5, "target_range": [0, 30000], "trees": 20}', income, age) AS r FROM people) s;
SELECT noise_multiplier > 1 AS noisy, calibrated_by, epsilon FROM dpboost_ledger WHERE model = 'keys' ORDER BY release_id DESC LIMIT 1;

-- columns as they are: integers, domains, text, enums, booleans, dates
SELECT dpboost_train('all', '{"epsilon": 1, "trees": 10, "bounds": {"joined": ["2020-01-01", "2021-01-01"], "seen": ["2020-01-01 UTC", "2021-01-01 UTC"]}}',
                     sick, age, score, city, mood, member, joined, seen) -> 'features' AS features FROM people;
SELECT features FROM dpboost_models WHERE model = 'all';

-- targets: boolean, text and enum with a positive class, numbers
SELECT dpboost_train('t1', '{"epsilon": 1, "trees": 5}', sick, age) ->> 'task' FROM people;
SELECT dpboost_train('t2', '{"epsilon": 1, "trees": 5, "positive": "yes"}', verdict, age) ->> 'task' FROM people;
SELECT dpboost_train('t3', '{"epsilon": 1, "trees": 5, "positive": "happy"}', mood, age) ->> 'task' FROM people;
SELECT dpboost_train('t4', '{"epsilon": 1, "trees": 5, "positive": 20}', age, member) ->> 'task' FROM people;
SELECT dpboost_train('t5', '{"epsilon": 1, "trees": 5, "task": "regression"}', member, age) ->> 'task' FROM people;
SELECT dpboost_train('t6', '{"epsilon": 1, "trees": 5}', age, member) ->> 'task' FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5, "positive": "maybe"}', verdict, age) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5}', verdict, age) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5}', city, age) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5, "task": "regression"}', city, age) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5}', income, age) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5, "positive": "x"}', age, member) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5, "positive": "x"}', member, age) FROM people;

-- a column without a public range, a type that cannot be used
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5}', sick, income) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5}', sick, age, '{}'::jsonb) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "trees": 5}', '1 day'::interval, age) FROM people;
SELECT dpboost_train('t7', '{"epsilon": 1, "bounds": {"city": [0, 1]}}', sick, city) FROM people;

-- one array
SELECT dpboost_train('a1', '{"epsilon": 1, "trees": 5, "bounds": [0, 100]}', sick, ARRAY[age, score]) -> 'features' FROM people;
SELECT dpboost_train('a2', '{"epsilon": 1, "trees": 5, "bounds": [[0, 100], [0, 50]]}', sick, ARRAY[age, score]::float8[]) -> 'features' FROM people;
SELECT dpboost_train('a3', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', sick, VARIADIC ARRAY[age, 1, 2]) -> 'features' FROM people;
SELECT dpboost_train('a4', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', sick, a) -> 'features'
FROM (SELECT sick, CASE WHEN id > 20 THEN array_fill(0.5::float8, ARRAY[1500]) END AS a FROM people OFFSET 0) s;
SELECT dpboost_train('a5', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', sick, a) -> 'features'
FROM (SELECT sick, CASE WHEN id % 2 = 0 THEN ARRAY[1, 2] ELSE ARRAY[1, 2, 3] END AS a FROM people ORDER BY id OFFSET 0) s;
SELECT dpboost_train('a5', '{"epsilon": 1, "trees": 5, "bounds": [[0, 1], [0, 1]]}', sick, a) -> 'features'
FROM (SELECT sick, ARRAY[1, 2, 3] AS a FROM people OFFSET 0) s;
SELECT dpboost_train('a5', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', sick, ARRAY[ARRAY[age, age], ARRAY[age, age]]) FROM people;
SELECT dpboost_train('a5', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', sick, NULL::float8[]) FROM people;
SELECT dpboost_train('a5', '{"epsilon": 1, "trees": 5, "bounds": [[0, 1], [0, 1]]}', sick, NULL::float8[]) -> 'features' FROM people;
SELECT dpboost_train('a6', '{"epsilon": 1, "trees": 5}', sick, ARRAY[city, 'x']) -> 'features' FROM people;

-- one row: by name, without what the target reads; dropped columns are no columns
SELECT dpboost_set_domain('people', 'joined', '2020-01-01', '2021-01-01'), dpboost_set_domain('people', 'seen', '2020-01-01 UTC', '2021-01-01 UTC');
SELECT dpboost_train('r1', '{"epsilon": 1, "trees": 5, "bounds": [0, 30000]}', p.sick, p) -> 'features' FROM people p;
SELECT (SELECT string_agg(f ->> 'name', ' ') FROM jsonb_array_elements(features) f) FROM dpboost_models WHERE model = 'r1';
SELECT dpboost_train('r2', '{"epsilon": 1, "trees": 5, "bounds": [0, 30000], "target_range": [0, 1000]}', p.age + p.score, p) -> 'features' FROM people p;
SELECT (SELECT string_agg(f ->> 'name', ' ') FROM jsonb_array_elements(features) f) FROM dpboost_models WHERE model = 'r2';
SELECT dpboost_train('r3', '{"epsilon": 1, "trees": 5}', sick, ROW(age, city, 1 = 1)) -> 'features' FROM people;
SELECT (SELECT string_agg(f ->> 'name', ' ') FROM jsonb_array_elements(features) f) FROM dpboost_models WHERE model = 'r3';
SELECT dpboost_train('r4', '{"epsilon": 1, "trees": 5}', s.sick, s) -> 'features' FROM (SELECT age, sick, city FROM people) s;
SELECT dpboost_train('r5', '{"epsilon": 1, "trees": 5, "bounds": [0, 99]}', s.sick, s) -> 'features' FROM (SELECT age, sick, city FROM people OFFSET 0) s;
CREATE VIEW grown_ups AS SELECT age AS years, sick AS ill, city FROM people WHERE age > 20;
SELECT dpboost_train('r6', '{"epsilon": 1, "trees": 5}', g.ill, g) -> 'features' FROM grown_ups g;
SELECT (SELECT string_agg(f ->> 'name', ' ') FROM jsonb_array_elements(features) f) FROM dpboost_models WHERE model = 'r6';
SELECT dpboost_train('r7', '{"epsilon": 1, "trees": 5, "bounds": [0, 30000]}', sick, NULL::people) -> 'features' FROM people;
SELECT dpboost_drop_domain('people', 'joined'), dpboost_drop_domain('people', 'seen');
SELECT dpboost_train('r8', '{"epsilon": 1, "trees": 5, "bounds": {"weight": [0, 3]}}', p.sick, c) -> 'features' FROM people p JOIN (VALUES (true, 1), (false, 2)) c (member, weight) USING (member);

-- names as the call has them, also through a subquery or a cast
SELECT dpboost_train('n1', '{"epsilon": 1, "trees": 5, "bounds": {"earned": [0, 9], "years": [20, 80]}}', s.ill, s.years::float8, s.earned, s.years + 1, s.years)
    -> 'features' FROM (SELECT age AS years, sick AS ill, income AS earned FROM people) s;
SELECT dpboost_train('n1', '{"epsilon": 1, "trees": 5, "bounds": {"earned": [0, 9], "years": [20, 80], "f3": [0, 1]}}', s.ill, s.years::float8, s.earned, s.years + 1, s.years)
    -> 'features' FROM (SELECT age AS years, sick AS ill, income AS earned FROM people) s;
SELECT (SELECT string_agg(f ->> 'name', ' ') FROM jsonb_array_elements(features) f) FROM dpboost_models WHERE model = 'n1';

-- no rows, one row, one class, only NULLs, odd numbers: all train
SELECT dpboost_train('e1', '{"epsilon": 1, "trees": 5}', sick, age, city) ->> 'version' FROM people WHERE false;
SELECT dpboost_train('e2', '{"epsilon": 1, "trees": 5}', sick, age, city) ->> 'version' FROM people WHERE id = 1;
SELECT dpboost_train('e3', '{"epsilon": 1, "trees": 5}', sick, age, city) ->> 'version' FROM people WHERE sick;
SELECT dpboost_train('e4', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', NULL::boolean, NULL::float8) ->> 'version' FROM people;
SELECT dpboost_train('e5', '{"epsilon": 1, "trees": 5, "bounds": [0, 1], "target_range": [0, 1]}', v, -v, n) ->> 'version'
FROM (VALUES ('NaN'::float8, 'NaN'::numeric), ('Infinity', 'Infinity'), ('-Infinity', '1e400'), (1e308, '-1e131000'), (-1e308, 0), (NULL, NULL)) t (v, n);
SELECT dpboost_train('e6', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', sick, 0.5::float8) ->> 'version' FROM people;
SELECT dpboost_train('e7', '{"epsilon": 1, "trees": 5, "bounds": {"d": ["2020-01-01", "2021-01-01"]}}', true, d) ->> 'version'
FROM (VALUES ('infinity'::date), ('-infinity'), ('0044-03-15 BC'), ('5874897-12-31'), (NULL)) t (d);
SELECT dpboost_train('e8', '{"epsilon": 1, "trees": 5, "bounds": {"t": ["a", "b"]}}', true, t) ->> 'version'
FROM (VALUES ('a'), (''), (repeat('x', 100000)), (NULL)) t (t);
SELECT dpboost_train('e9', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', v > 0, v) ->> 'version' FROM (VALUES (0.5::float8)) t (v);

-- where it may stand
PREPARE training(text, jsonb) AS SELECT dpboost_train($1, $2, sick, age) ->> 'version' FROM people;
EXECUTE training('p1', '{"epsilon": 1, "trees": 5}');
EXECUTE training('p1', '{"epsilon": 1, "trees": 5}');
SET plan_cache_mode = force_generic_plan;
EXECUTE training('p1', '{"epsilon": 1, "trees": 5}');
RESET plan_cache_mode;
SELECT dpboost_train('f1', '{"epsilon": 1, "trees": 5}', sick, age) FILTER (WHERE age > 30) ->> 'version' FROM people;
SELECT city, dpboost_train('g_' || city, '{"epsilon": 1, "trees": 5}', sick, age) ->> 'model' AS model FROM people GROUP BY city ORDER BY city;
SELECT member, dpboost_train('g', '{"epsilon": 1, "trees": 5}', sick, age) FROM people GROUP BY member;
SELECT dpboost_train('g' || city, '{"epsilon": 1, "trees": 5}', sick, age) FROM people;
SELECT dpboost_train('g', jsonb_build_object('epsilon', age), sick, age) FROM people;
SELECT dpboost_train('g' || random(), '{"epsilon": 1, "trees": 5}', sick, age) FROM people;
SELECT dpboost_train('g' || city, '{"epsilon": 1, "trees": 5}', sick, age) FROM people GROUP BY ROLLUP (city);
SELECT city, dpboost_train('h_' || city, '{"epsilon": 1, "trees": 5}', sick, age) FILTER (WHERE city > 'city 5') ->> 'model' AS model FROM people GROUP BY city ORDER BY city;
SET enable_hashagg = off;
SELECT city, dpboost_train('h_' || city, '{"epsilon": 1, "trees": 5}', sick, age) FILTER (WHERE false) ->> 'version' AS version FROM people GROUP BY city ORDER BY city LIMIT 2;
RESET enable_hashagg;
-- groups that the plan scans again: the same models, trained and charged once
SET enable_sort = off;
SET enable_material = off;
SELECT i, (SELECT jsonb_agg(r -> 'version' ORDER BY r ->> 'model') FROM (
        SELECT dpboost_train('again_' || city, '{"epsilon": 1, "trees": 5}', sick, age) r FROM people GROUP BY city OFFSET 0) s WHERE i > 0) AS versions
FROM generate_series(1, 3) i;
RESET enable_sort;
RESET enable_material;
SELECT g, (SELECT dpboost_train('c' || g, '{"epsilon": 1, "trees": 5}', sick, age) ->> 'model' FROM people WHERE age > g) AS correlated FROM generate_series(1, 2) g;
SELECT dpboost_train('same', '{"epsilon": 1, "trees": 5}', sick, age) = dpboost_train('same', '{"epsilon": 1, "trees": 5}', sick, age) AS one_release FROM people;
SELECT dpboost_train((SELECT 'sub'), (SELECT '{"epsilon": 1, "trees": 5}'::jsonb), sick, age) ->> 'model' FROM people;
SELECT dpboost_train('w', '{"epsilon": 1, "trees": 5}', sick, age) OVER () FROM people;
SELECT dpboost_train('d', '{"epsilon": 1, "trees": 5}', sick, age ORDER BY age) FROM people;
SELECT dpboost_train(DISTINCT 'd', '{"epsilon": 1, "trees": 5}', sick, age) FROM people;
-- (with which error, depends on PostgreSQL's minor version)
DO $$ BEGIN PERFORM dpboost.train_step(NULL, 'm', '{}', 1, 2);
EXCEPTION WHEN undefined_function OR feature_not_supported THEN RAISE NOTICE 'refused'; END $$;
DO $$ BEGIN PERFORM dpboost.train_final(NULL);
EXCEPTION WHEN undefined_function OR feature_not_supported THEN RAISE NOTICE 'refused'; END $$;

DO $$
DECLARE result jsonb;
BEGIN
    FOR i IN 1..3 LOOP
        BEGIN
            SELECT dpboost_train('plpgsql', '{"epsilon": 1, "trees": 5}', sick, age) INTO result FROM people;
            RAISE EXCEPTION 'undo';
        EXCEPTION WHEN raise_exception THEN
            RAISE NOTICE 'version % is there in spite of the exception', result ->> 'version';
        END;
    END LOOP;
END $$;
SELECT version FROM dpboost_models WHERE model = 'plpgsql' ORDER BY 1;

-- 96 columns
DO $$
DECLARE result jsonb;
BEGIN
    EXECUTE 'SELECT dpboost_train(''wide'', ''{"epsilon": 1, "trees": 5, "bounds": [0, 1]}'', sick, '
        || (SELECT string_agg('0.5::float8', ', ') FROM generate_series(1, 96)) || ') FROM people' INTO result;
    RAISE NOTICE '% features', result -> 'features';
END $$;

-- more memory than allowed is an error, not a crash
SET dpboost.max_memory = '1MB';
SELECT dpboost_train('big', '{"epsilon": 1, "trees": 5, "bounds": [0, 1]}', true, 0.5::float8, 0.5::float8) FROM generate_series(1, 1000000);
RESET dpboost.max_memory;

SELECT count(dpboost_drop_model(full_name)) > 30 AS dropped FROM (SELECT DISTINCT full_name FROM dpboost_models) s;
DROP TABLE people CASCADE;
DROP TYPE mood;
DROP DOMAIN percent;
