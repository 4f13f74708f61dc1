-- Federations: what an administrator can set up, and what is refused. Trainings across servers are in test/t/federation.pl.
CREATE TABLE visits (age int CHECK (age BETWEEN 0 AND 100), los float8 CHECK (los BETWEEN 0 AND 60));
CREATE ROLE regress_fed_ana;
-- one key for a database
SELECT dpboost_party_key() ~ '^dpbk1:[0-9a-f]{64}$' AS is_key, dpboost_party_key() = dpboost_party_key() AS stays;
SET ROLE regress_fed_ana;
SELECT dpboost_party_key() ~ '^dpbk1:' AS public_half;
TABLE dpboost.party_key;
RESET ROLE;
CREATE FUNCTION parties(more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS
    $$SELECT jsonb_build_object('me', dpboost_party_key(), 'you', 'dpbk1:' || repeat('ab', 32)) || more$$;
-- what makes no sense
SELECT dpboost_create_federation('f', parties());
SELECT dpboost_create_federation('f', parties(), relation => 'visits');
SELECT dpboost_create_federation('f', parties(), relation => 'visits', myself => 'nobody');
\set VERBOSITY terse
SELECT dpboost_create_federation('f', parties(), relation => 'visits', myself => 'you');
\set VERBOSITY default
SELECT dpboost_create_federation('f', parties('{"you": "dpbk1:12"}'), relation => 'visits', myself => 'me');
SELECT dpboost_create_federation('f', parties(jsonb_build_object('you', dpboost_party_key())), relation => 'visits', myself => 'me');
SELECT dpboost_create_federation('f', parties(), relation => 'visits', myself => 'me', max_colluding => 2);
SELECT dpboost_create_federation('f', parties(), relation => 'visits', myself => 'me', max_colluding => -1);
SELECT dpboost_create_federation('f', parties(), relation => 'visits', myself => 'me', parties_per_unit => 3);
SELECT dpboost_create_federation('f', '{}', servers => '{}');
SELECT dpboost_create_federation('f', parties(), servers => '{"me": "here"}');
SELECT dpboost_create_federation(NULL, parties());
SET ROLE regress_fed_ana;
SELECT dpboost_create_federation('f', parties(), servers => '{"me": "here", "you": "there"}');
SELECT dpboost_create_federation('f', parties(), relation => 'visits', myself => 'me');
SELECT dpboost_drop_federation('f');
RESET ROLE;
-- a party
SELECT dpboost_create_federation('f', parties(), relation => 'visits', myself => 'me');
SELECT dpboost_create_federation('f', parties(), relation => 'visits', myself => 'me');
SELECT federation, party, key = dpboost_party_key() AS my_key, myself, relation, server, max_colluding, parties_per_unit
FROM dpboost_federations ORDER BY party;
-- it is not reached from here
SELECT dpboost_train_across('los', 'f', 'los', epsilon => 1);
SELECT dpboost_train_across('los', 'nothing', 'los', epsilon => 1);
-- a model must be there to be evaluated or updated
SELECT dpboost_evaluate_across('nothing', 'f', 'los', epsilon => 1);
SELECT dpboost_update_across('nothing', 'f', epsilon => 1);
SELECT dpboost_evaluate_across('los', 'f', NULL, epsilon => 1);
SELECT dpboost_update_across(NULL, 'f', epsilon => 1);
-- party functions, by someone without rights, and out of order
SET ROLE regress_fed_ana;
SELECT dpboost_party.describe('f', 'los', NULL);
SELECT dpboost_party.open('f', '\x00', '\x00');
RESET ROLE;
SELECT length(dpboost_party.describe('f', 'los', NULL)) > 0 AS described;
SELECT dpboost_party.describe('f', 'nothing', NULL);
SELECT dpboost_party.join('{}');
SELECT dpboost_party.charge();
SELECT dpboost_party.round(1, NULL);
-- a server that is none of postgres_fdw, and one that is missing
CREATE FOREIGN DATA WRAPPER regress_fed_wrapper;
CREATE SERVER regress_fed_other FOREIGN DATA WRAPPER regress_fed_wrapper;
SELECT dpboost_create_federation('g', parties(), servers => '{"me": "regress_fed_other", "you": "regress_fed_none"}');
SELECT dpboost_train_across('los', 'g', 'los', epsilon => 1);
SELECT dpboost_drop_federation('g');
SELECT dpboost_create_federation('g', parties(), servers => '{"me": "regress_fed_none", "you": "regress_fed_none"}');
SELECT dpboost_estimate_across('g', 'los', epsilon => 1);
SELECT dpboost_drop_federation('g');
DROP TABLE visits;
SELECT dpboost_party.describe('f', 'los', NULL);
SELECT dpboost_drop_federation('f');
SELECT dpboost_drop_federation('f');
DROP FUNCTION parties(jsonb);
DROP SERVER regress_fed_other;
DROP FOREIGN DATA WRAPPER regress_fed_wrapper;
DROP ROLE regress_fed_ana;
