-- Nothing that a user says, or leaves out, is lost without a word.
SET client_min_messages = warning;
CREATE ROLE regress_loss_owner;
CREATE ROLE regress_loss_ana;
GRANT CREATE ON SCHEMA public TO regress_loss_owner;
SET ROLE regress_loss_owner;
CREATE TABLE losses (patient int, x float8 CHECK (x BETWEEN 0 AND 1), seen date, verdict text, y boolean);
INSERT INTO losses SELECT i, i % 10 / 10.0, '2020-01-01', CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END, i % 2 = 0 FROM generate_series(1, 300) i;

-- Limits that a call does not name stay as they are; delta has a default; Infinity takes the limit per training away.
SELECT dpboost_protect('losses', epsilon => 5, privacy_unit => 'patient');
SELECT dpboost_set_budget('losses', 'regress_loss_ana', epsilon => 1, delta => 1e-7, max_epsilon_per_train => 0.2);
CREATE VIEW limits AS SELECT grantee, epsilon, delta, max_epsilon_per_train, privacy_unit FROM dpboost_budgets WHERE relation = 'losses'::regclass ORDER BY grantee::text NULLS FIRST;
TABLE limits;
SELECT dpboost_set_budget('losses', 'regress_loss_ana', epsilon => 2);
TABLE limits;
SELECT dpboost_set_budget('losses', 'regress_loss_ana', max_epsilon_per_train => 'Infinity');
TABLE limits;
SELECT dpboost_set_budget('losses', 'regress_loss_ana', max_epsilon_per_train => 'NaN');
SELECT dpboost_set_budget('losses', 'regress_loss_ana', delta => 1e-5, max_epsilon_per_train => 0.5);
SELECT dpboost_protect('losses', epsilon => 6, delta => 1e-8);
SELECT dpboost_protect('losses', epsilon => 7);
TABLE limits;
-- What was revoked is nothing that could stay.
SELECT dpboost_revoke_budget('losses', 'regress_loss_ana');
SELECT dpboost_set_budget('losses', 'regress_loss_ana', delta => 1e-5);
SELECT dpboost_set_budget('losses', 'regress_loss_ana', epsilon => 1);
TABLE limits;

-- NULL is an error wherever a value is needed.
SELECT dpboost_set_domain('losses', 'x', NULL, 1);
SELECT dpboost_set_domain('losses', 'verdict', NULL::text[]);
SELECT dpboost_revoke_budget('losses', NULL);
SELECT dpboost_unprotect(NULL);
SELECT dpboost_protect('losses', NULL);
SELECT dpboost_set_budget(NULL, 'regress_loss_ana', 1);
SELECT dpboost_share('m', NULL);
SELECT dpboost_unshare(NULL, 'regress_loss_ana');
SELECT dpboost_drop_model(NULL);
SELECT dpboost_verify(NULL);
SELECT dpboost_train_on('m', 'losses', 'y', NULL);
SELECT dpboost_train(NULL, '{"epsilon": 1}', y, x) FROM losses;

DROP VIEW limits;
DROP TABLE losses;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM regress_loss_owner;
DROP ROLE regress_loss_owner, regress_loss_ana;
