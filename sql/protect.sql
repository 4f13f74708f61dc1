-- Owners protect their tables and give budgets: who may, what is checked, and what stays.
\set VERBOSITY terse
\set train '{"method": "sbdt", "trees": 4, "subsample": 1}'
CREATE ROLE regress_dpb_bob;
\set ward regress_dpb
\i sql/setup/ward.sql
CREATE TABLE visits (id int PRIMARY KEY, patient int, age int CHECK (age BETWEEN 0 AND 100),
                     cost float8 CHECK (cost >= 0 AND cost <= 1000));
INSERT INTO visits SELECT i, i % 50, i % 100, i % 1000 FROM generate_series(1, 500) i;

-- only the owner or a superuser
SET ROLE regress_dpb_bob;
SELECT dpboost_protect('visits', 1, 1e-6);
SELECT dpboost_unprotect('visits');
SELECT dpboost_set_budget('visits', 'regress_dpb_bob', 100, 1e-6);
SELECT dpboost_revoke_budget('visits', 'regress_dpb_ana');
SELECT dpboost_set_domain('visits', 'cost', 0, 1);
SELECT dpboost_set_domain('visits', 'cost', ARRAY['a']);
SELECT dpboost_protect('pg_authid', 1, 1e-6);

-- what is checked
SET ROLE regress_dpb_owner;
SELECT dpboost_protect('visits', 0, 1e-6);
SELECT dpboost_protect('visits', 'NaN', 1e-6);
SELECT dpboost_protect('visits', 'Infinity', 1e-6);
\set VERBOSITY default
SELECT dpboost_protect('visits', 1000000, 1e-6);  -- 1.000000 was meant: no limit that promises anything
SELECT dpboost_set_budget('visits', 'regress_dpb_ana', 100.5, 1e-6);
SELECT dpboost_create_population('everyone', 1e6);
\set VERBOSITY terse
SELECT dpboost_protect('visits', 1, -1e-6);
SELECT dpboost_protect('visits', 1, 0.01);
SELECT dpboost_protect('visits', 1, 'NaN');
SELECT dpboost_protect('visits', NULL, 1e-6);
SELECT dpboost_protect('visits', 1, 1e-6, 'nobody');
SELECT dpboost_protect('visits', 1, 1e-6, 'ctid');
SELECT dpboost_protect(0::oid::regclass, 1, 1e-6);
SELECT dpboost_protect('visits_pkey', 1, 1e-6);
SELECT dpboost_set_budget('visits', 0::oid::regrole, 1, 1e-6);
SELECT dpboost_set_budget('visits', NULL, 1, 1e-6);
SELECT dpboost_set_budget('visits', 'regress_dpb_ana', 1, 1e-6, 0);
SELECT dpboost_revoke_budget('visits', 'regress_dpb_ana');
SELECT dpboost_unprotect('visits');
RESET ROLE;
CREATE TEMP TABLE passing (a int);
SELECT dpboost_protect('passing', 1, 1e-6);
SELECT dpboost_protect('pg_class', 1, 1e-6);

-- a cap, a budget, and what the views show to whom
SET ROLE regress_dpb_owner;
SELECT dpboost_protect('visits', 1, 1e-6);
SELECT dpboost_set_budget('visits', 'regress_dpb_ana', 0.5, 1e-6, max_epsilon_per_train => 0.4);
SELECT relation, grantee, epsilon, delta, max_epsilon_per_train, epsilon_spent, part_remaining, releases
FROM dpboost_budgets ORDER BY grantee NULLS FIRST;
SET ROLE regress_dpb_ana;
SELECT relation, grantee, epsilon FROM dpboost_budgets ORDER BY grantee NULLS FIRST;
SELECT dpboost_train_on('regress_a', 'visits', 'cost', epsilon => 0.3, features => '{age}', options => :'train') ->> 'version';
SELECT count(*) FROM dpboost_ledger;
SELECT role, model, version, epsilon, relations FROM dpboost_ledger;
SET ROLE regress_dpb_bob;
SELECT count(*) FROM dpboost_budgets;
SELECT count(*) FROM dpboost_ledger;
SELECT count(*) FROM dpboost_models;
SET ROLE regress_dpb_owner;
SELECT role, model, version, epsilon, relations FROM dpboost_ledger;
SELECT count(*) FROM dpboost_models;

-- max_epsilon_per_train, also with a delta that makes epsilon look small
SET ROLE regress_dpb_ana;
SELECT dpboost_train_on('regress_a', 'visits', 'cost', epsilon => 0.45, features => '{age}', options => :'train');
SELECT dpboost_train_on('regress_a', 'visits', 'cost', epsilon => 0.4, delta => 1e-4, features => '{age}', options => :'train');

-- the allowance is gone before the cap is
SELECT dpboost_train_on('regress_a', 'visits', 'cost', epsilon => 0.3, features => '{age}', options => :'train') ->> 'version';
\set VERBOSITY default
SELECT dpboost_train_on('regress_a', 'visits', 'cost', epsilon => 0.3, features => '{age}', options => :'train') ->> 'version';
\set VERBOSITY terse

-- attack: granted again, protected again, unprotected: what was spent stays spent
SET ROLE regress_dpb_owner;
CREATE TEMP TABLE before AS SELECT grantee, epsilon_spent, releases FROM dpboost_budgets;
SELECT dpboost_revoke_budget('visits', 'regress_dpb_ana');
SELECT dpboost_set_budget('visits', 'regress_dpb_ana', 0.5, 1e-6);
SELECT dpboost_protect('visits', 1, 1e-6);
SELECT b.releases = a.releases AND b.epsilon_spent = a.epsilon_spent AS same
FROM dpboost_budgets b JOIN before a ON a.grantee IS NOT DISTINCT FROM b.grantee;
SELECT dpboost_unprotect('visits');
SELECT count(*) FROM dpboost_budgets;
SET ROLE regress_dpb_ana;
SELECT dpboost_train_on('regress_a', 'visits', 'cost', epsilon => 0.3, features => '{age}', options => :'train');
SET ROLE regress_dpb_owner;
SELECT dpboost_protect('visits', 1, 1e-6);
SELECT dpboost_set_budget('visits', 'regress_dpb_ana', 0.5, 1e-6);
SELECT b.releases = a.releases AND b.epsilon_spent = a.epsilon_spent AS same
FROM dpboost_budgets b JOIN before a ON a.grantee IS NOT DISTINCT FROM b.grantee;
SET ROLE regress_dpb_ana;
SELECT dpboost_train_on('regress_a', 'visits', 'cost', epsilon => 0.3, features => '{age}', options => :'train');

-- the owner and a superuser count against the cap as well
SET ROLE regress_dpb_owner;
SELECT dpboost_train_on('regress_o', 'visits', 'cost', epsilon => 0.5, features => '{age}', options => :'train') ->> 'version';
RESET ROLE;
SELECT dpboost_train_on('regress_s', 'visits', 'cost', epsilon => 0.9, features => '{age}', options => :'train');

-- attack: the cap is set lower than what was spent
SET ROLE regress_dpb_owner;
SELECT dpboost_protect('visits', 0.1, 1e-6);
SELECT part_remaining = 0 AND epsilon_remaining = 0 AS nothing_left FROM dpboost_budgets WHERE grantee IS NULL;
SELECT dpboost_train_on('regress_o', 'visits', 'cost', epsilon => 0.01, features => '{age}', options => :'train');

-- a release before the table was protected counts too
CREATE TABLE late (age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 10));
SELECT dpboost_train_on('regress_l', 'late', 'cost', epsilon => 0.9, options => :'train') ->> 'version';
SELECT dpboost_protect('late', 1, 1e-6);
SELECT dpboost_train_on('regress_l', 'late', 'cost', epsilon => 0.9, options => :'train');

-- the privacy unit is kept unless another is named; what was trained before without it must be accepted
SELECT dpboost_protect('late', 5, 1e-6, 'age');
SELECT dpboost_protect('late', 5, 1e-6, 'age', accept_earlier => NULL);
SELECT dpboost_protect('late', 5, 1e-6, 'age', accept_earlier => true);
SELECT dpboost_protect('late', 6, 1e-6);
SELECT epsilon, privacy_unit FROM dpboost_budgets WHERE relation = 'late'::regclass;
SELECT dpboost_train_on('regress_l', 'late', 'cost', epsilon => 0.1, features => '{age}', options => :'train');

RESET ROLE;
SELECT dpboost_drop_model(full_name) FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE model LIKE 'regress\_%') m ORDER BY full_name;
DROP SCHEMA regress_dpb CASCADE;
DROP TABLE passing, before;
DROP ROLE regress_dpb_owner, regress_dpb_ana, regress_dpb_bob;
