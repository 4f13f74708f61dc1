-- A table that has left its population still holds the same persons: what is released from it must protect them.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA regress_left;
SET search_path = regress_left, public;
CREATE TABLE visits (patient_id int, age float8 CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
INSERT INTO visits SELECT i % 50, i % 90, i % 900 FROM generate_series(1, 200) i;
CREATE TABLE labs AS TABLE visits;
ALTER TABLE labs ADD CHECK (age BETWEEN 0 AND 100), ADD CHECK (cost BETWEEN 0 AND 1000);
CREATE FUNCTION train(relation regclass) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dpboost_train_on('regress_left_m', relation, 'cost', 0.2, features => '{age}');
    RETURN 'trained';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLERRM;
END$$;
SELECT dpboost_create_population('regress_left', 5);
SELECT dpboost_protect('visits', population => 'regress_left', privacy_unit => 'patient_id');
SELECT dpboost_protect('labs', population => 'regress_left', privacy_unit => 'patient_id');
SELECT train('visits'), train('labs');
-- on its own again, and still counted; a training that protects single rows says nothing of a patient
SELECT dpboost_unprotect('visits');
SELECT train('labs');
SELECT train('visits');
SELECT train('labs');
SELECT releases FROM dpboost_budgets WHERE population = 'regress_left' AND relation IS NULL;
SELECT dpboost_protect('visits', population => 'regress_left', privacy_unit => 'patient_id');
SELECT dpboost_protect('visits', population => 'regress_left', privacy_unit => 'patient_id', accept_earlier => true);
SELECT train('labs');
SELECT dpboost_drop_model('regress_left_m');
DROP SCHEMA regress_left CASCADE;
SELECT dpboost_drop_population('regress_left');
