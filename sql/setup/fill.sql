-- fill('visits') makes a table of visits: 200 of 50 patients.
CREATE FUNCTION fill(of text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (visit_id int PRIMARY KEY, patient_id int, age float8 CHECK (age BETWEEN 0 AND 100),
                    cost float8 CHECK (cost BETWEEN 0 AND 1000))', of);
    EXECUTE format('INSERT INTO %I SELECT i, i %% 50, i %% 90, i %% 900 FROM generate_series(1, 200) i', of);
END$$;
