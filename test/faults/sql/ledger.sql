-- The ledger worker against requests that are damaged, and against deliveries by someone who has not paid for them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpboost_faults;
CREATE ROLE regress_fault_payer;
CREATE ROLE regress_fault_thief;

-- a charge whose model is still to come, and its secret
WITH named AS (
    INSERT INTO dpboost.model_name (name, owner) VALUES ('regress_fault', 'regress_fault_payer') RETURNING name_id)
INSERT INTO dpboost.ledger (role, role_name, name_id, model, version, method, task, epsilon, delta, relations, plan, curve, pure_epsilon, claim)
SELECT 'regress_fault_payer', 'regress_fault_payer', name_id, 'regress_fault', 3, 'sbdt', 'regression', 0.5, 1e-6, '{}', '', array_fill(0, '{64}'), 0,
       sha256('sixteen bytes ok') FROM named
RETURNING release_id AS release \gset

SELECT kind, dpboost_fault_request(kind, :release, 'sixteen bytes ok', 'regress_fault_payer') AS outcome
FROM unnest('{short,magic,size,piece,piece before,work,charge,groups without models,too many groups,group piece}'::text[]) kind;

SELECT dpboost_fault_request('none', :release, 'sixteen bytes no', 'regress_fault_payer') AS wrong_secret;
SELECT dpboost_fault_request('none', :release, '', 'regress_fault_payer') AS no_secret;
SELECT dpboost_fault_request('none', :release, 'sixteen bytes ok', 'regress_fault_thief') AS other_role;
SELECT dpboost_fault_request('none', :release + 1000, 'sixteen bytes ok', 'regress_fault_payer') AS no_charge;
SELECT dpboost_fault_request('groups', :release, 'sixteen bytes ok', 'regress_fault_payer') AS not_paid_as_groups;
SELECT count(*) FROM dpboost.model WHERE name = 'regress_fault';

-- with it the model is taken, once, as what was charged
SELECT dpboost_fault_request('none', :release, 'sixteen bytes ok', 'regress_fault_payer') AS paid;
SELECT dpboost_fault_request('none', :release, 'sixteen bytes ok', 'regress_fault_payer') AS again;
SELECT full_name, version, method, task, epsilon, delta FROM dpboost_models WHERE model = 'regress_fault';
SELECT delivered FROM dpboost_ledger WHERE release_id = :release;

-- a worker that comes when its caller has gone ends by itself
SELECT dpboost_fault_late_worker() AS ended;
DELETE FROM dpboost.model WHERE name = 'regress_fault';
DROP ROLE regress_fault_payer, regress_fault_thief;
