-- Fifty trainings at epsilon 0.1 fit into a budget of 1: they add up to less than 0.9, not to 5.
CREATE SCHEMA regress_fifty;
SET search_path = regress_fifty, public;
CREATE TABLE t (x float8 CHECK (x BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
INSERT INTO t SELECT i / 100.0, i / 100.0 FROM generate_series(1, 100) i;
SELECT dpboost_protect('t', 1, 1e-6);
DO $$BEGIN
    FOR n IN 1..50 LOOP
        PERFORM dpboost_train_on('regress_fifty', 't', 'y', epsilon => 0.1, delta => 1e-6,
                                 options => '{"method": "sbdt", "trees": 150, "subsample": 0.1}');
    END LOOP;
END$$;
SELECT releases, epsilon_spent BETWEEN 0.8 AND 0.9 AS spent_less_than_a_fifth, part_remaining > 0.1 AS room_left
FROM dpboost_budgets WHERE relation = 't'::regclass;
SELECT count(*) FROM dpboost_ledger WHERE model = 'regress_fifty';
SELECT dpboost_drop_model('regress_fifty');
DROP SCHEMA regress_fifty CASCADE;
