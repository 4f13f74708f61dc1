-- A row type that is altered in the middle of a statement: rows are never read by what the type was before.
\set SHOW_CONTEXT never
CREATE TABLE altered (a text, n bigint CHECK (n BETWEEN 0 AND 9));
SELECT dpboost_train('altered', '{"epsilon": 1, "trees": 2}', g % 2 = 0, s.a) ->> 'features' AS features
FROM generate_series(1, 100) g, LATERAL (SELECT 'v' || g % 3 AS a) s;

-- A plan that lives on sees the same value, in a column that has moved; then one of a type that the model cannot read.
-- Read as the text that it was, the number would be a pointer.
CREATE FUNCTION predict_in_between() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    x altered;
    predicted float8[];
    change text;
BEGIN
    x := ROW('v1', 1);
    FOREACH change IN ARRAY ARRAY['ADD b text', 'DROP a, ADD a text', 'ALTER a TYPE bigint USING 0'] LOOP
        predicted := predicted || dpboost_predict('altered', x);
        EXECUTE 'ALTER TABLE altered ' || change;
        EXECUTE CASE WHEN change ~ 'bigint' THEN $q$SELECT 1, NULL, 4702111234474967297$q$
                     WHEN change ~ 'DROP' THEN $q$SELECT 1, NULL, 'v1'$q$ ELSE $q$SELECT 'v1', 1, NULL$q$ END INTO x;
    END LOOP;
    ASSERT predicted[1] = predicted[2] AND predicted[2] = predicted[3];
    RETURN dpboost_predict('altered', x);
END$$;
SELECT predict_in_between();

-- The same while it trains: what changes no column is no reason to stop.
CREATE FUNCTION row_and_change(i int, at_five text) RETURNS altered LANGUAGE plpgsql AS $$
DECLARE x altered;
BEGIN
    IF i = 5 THEN
        EXECUTE 'ALTER TABLE altered ' || at_five;
    END IF;
    IF i < 5 OR at_five ~ 'fillfactor' THEN
        EXECUTE 'SELECT ''v'', 1' INTO x;
    ELSE
        EXECUTE 'SELECT 4702111234474967297, 1' INTO x;
    END IF;
    RETURN CASE WHEN i > 1 THEN x END;
END$$;
DROP FUNCTION predict_in_between();
CREATE FUNCTION train_in_between(at_five text, first int) RETURNS text LANGUAGE sql AS $$
SELECT dpboost_train('altered', '{"epsilon": 1, "trees": 2}', g % 2 = 0, row_and_change(g, at_five)) ->> 'features'
FROM generate_series(first, 10) g$$;
SELECT train_in_between('SET (fillfactor = 50)', 2);
SELECT train_in_between('ALTER a TYPE bigint USING 0', 2);
SELECT train_in_between('ALTER a TYPE bigint USING 0', 5);
-- The first rows are NULL.
SELECT dpboost_train('altered', '{"epsilon": 1, "trees": 2}', g % 2 = 0,
                     CASE WHEN g >= 5 THEN row_and_change(g, 'ALTER a TYPE bigint USING 0') END) ->> 'features'
FROM generate_series(1, 10) g;

SELECT dpboost_drop_model('altered');
DROP FUNCTION train_in_between, row_and_change;
DROP TABLE altered;
