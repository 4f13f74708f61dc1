-- A model's name belongs to its owner: nobody takes it, hides it or changes what it means to others.
\set SHOW_CONTEXT never
CREATE ROLE regress_ana;
CREATE ROLE regress_eve;
CREATE ROLE regress_app;
CREATE ROLE regress_team;
CREATE ROLE regress_bob IN ROLE regress_team;
CREATE ROLE regress_late NOINHERIT IN ROLE regress_team;
CREATE ROLE "Regress B.";
-- One learns yes, the other no: a prediction tells whose model it comes from.
CREATE FUNCTION train(name text, answer boolean) RETURNS text LANGUAGE sql AS $$
    SELECT (t ->> 'owner') || ' ' || (t ->> 'model') || ' ' || (t ->> 'version')
    FROM (SELECT dpboost_train(name, '{"epsilon": 20, "bounds": [0, 1]}', answer, 0.5::float8) AS t FROM generate_series(1, 200)) s $$;
CREATE FUNCTION answer(name text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN dpboost_predict(name, 0.5::float8) > 0.5 THEN 'yes' ELSE 'no' END $$;

-- eve comes first, and takes nothing away: each has her own
SET ROLE regress_eve;
SELECT train('risk', false);
SET ROLE regress_ana;
SELECT train('risk', true);
SELECT train('regress_ana.risk', true);
SELECT answer('risk') AS mine, answer('regress_ana.risk') AS in_full, answer('REGRESS_ANA.risk@1') AS with_version;
SELECT answer('risk@3');
SELECT answer('regress_ana.risk@3');
SELECT answer('regress_ana.none');
SELECT answer('regress_nobody.risk');

-- nobody uses, continues, shares or drops what is not hers
SELECT answer('regress_eve.risk');
SELECT train('regress_eve.risk', true);
SELECT dpboost_share('regress_eve.risk', 'regress_ana');
SELECT dpboost_drop_model('regress_eve.risk');

-- app: nothing was shared; one; two; one again
SET ROLE regress_app;
SELECT answer('risk');
SET ROLE regress_ana;
SELECT dpboost_share('risk', 'regress_app');
SET ROLE regress_app;
SELECT answer('risk') AS the_only_one, answer('risk@1') AS and_its_first;
SELECT dpboost_share('risk', 'regress_eve');
PREPARE asked AS SELECT answer('risk');
EXECUTE asked;
SET ROLE regress_eve;
SELECT dpboost_share('risk', 'regress_app');
SET ROLE regress_app;
SELECT answer('risk');
SELECT answer('risk@2');
EXECUTE asked;
SELECT dpboost_drop_model('risk');
\set VERBOSITY sqlstate
SELECT answer('risk');
SELECT answer('none');
SELECT answer('risk@');
SELECT answer('regress_team.risk@');
\set VERBOSITY default
SELECT answer('regress_ana.risk') AS ana, answer('regress_eve.risk') AS eve;
SELECT model, version, owner, full_name FROM dpboost_models ORDER BY full_name, version;
SET ROLE regress_eve;
SELECT dpboost_unshare('risk', 'regress_app');
SET ROLE regress_app;
EXECUTE asked;
SELECT answer('regress_eve.risk');

-- one's own comes first, whatever others share, and as soon as it is there
DO $$BEGIN
    RAISE NOTICE '% before', answer('risk');
    PERFORM train('risk', false);
    RAISE NOTICE '% after', answer('risk');
    PERFORM dpboost_drop_model('risk');
    RAISE NOTICE '% again', answer('risk');
END$$;

-- a role that one acts for: by its name; without it a training is one's own
SET ROLE regress_bob;
SELECT train('regress_team.plan', true);
SELECT answer('plan') AS the_only_one, answer('regress_team.plan') AS in_full;
SELECT train('plan', false);
SELECT answer('plan') AS mine, answer('regress_team.plan') AS theirs;
SELECT dpboost_drop_model('plan');
SELECT answer('plan') AS theirs;
SET ROLE regress_late;
SELECT train('regress_team.plan', false);
SELECT answer('regress_team.plan');
SET ROLE regress_team;
SELECT train('plan', false);
SELECT answer('plan@1') AS first, answer('plan') AS second;
SELECT role, owner, model, version FROM dpboost_ledger ORDER BY release_id;

-- how names are written
SET ROLE "Regress B.";
SELECT train('A name, with blanks', true), train('"Regress B.".b', true);
SELECT answer('A name, with blanks') AS alone, answer('"Regress B.".A name, with blanks@1') AS in_full, answer('"Regress B.".b') AS b;
SELECT full_name, answer(full_name), answer(full_name || '@' || version) FROM dpboost_models ORDER BY full_name COLLATE "C";
SELECT answer('Regress B..b');
SELECT answer('a name, with blanks');
SELECT train('sales.north', true);
SELECT train('St. Gallen', true);
SELECT train('Regress B..x', true);
SELECT train('"b"', true);
SELECT train('"Regress B.".x.y', true);
SELECT train('b@1', true);
SELECT train('!regress_ana.b', true);
SELECT train(repeat('x', 201), true);
SELECT train('', true);
SELECT train(repeat('x', 100) || '.b', true);
SELECT length(train(repeat('x', 200), true));
SELECT answer(repeat('y', 1000) || '.b');
SELECT dpboost_drop_model(repeat('x', 200)), dpboost_drop_model('"Regress B.".A name, with blanks'), dpboost_drop_model('b');

-- a role that is renamed takes its models along
RESET ROLE;
ALTER ROLE regress_eve RENAME TO regress_eva;
SELECT answer('regress_eva.risk');
SELECT answer('regress_eve.risk');
ALTER ROLE regress_eva RENAME TO regress_eve;

-- dropped and made again: the version goes on, and what was shared is not shared again
SET ROLE regress_ana;
SELECT dpboost_drop_model('risk');
SET ROLE regress_app;
EXECUTE asked;
SET ROLE regress_eve;
SELECT dpboost_share('risk', 'regress_app');
SET ROLE regress_app;
SELECT answer('regress_ana.risk');
SET ROLE regress_ana;
SELECT train('risk', true);
SET ROLE regress_app;
SELECT answer('regress_ana.risk');
SET ROLE regress_ana;
SELECT dpboost_share('risk', 'regress_app');

-- a role that is gone: those it shared with go on; superusers have the rest
SET ROLE regress_eve;
SELECT dpboost_unshare('risk', 'regress_app');
RESET ROLE;
DROP ROLE regress_ana;
SET ROLE regress_app;
SELECT answer('risk') AS alone, answer('regress_ana.risk') AS in_full, answer('!regress_ana.risk') AS as_dropped;
SELECT model, version, owner, full_name FROM dpboost_models;
SET ROLE regress_eve;
SELECT answer('regress_ana.risk');
SELECT dpboost_drop_model('!regress_ana.risk');

-- another role of that name has nothing of it, and uses no version again
RESET ROLE;
CREATE ROLE regress_ana;
SET ROLE regress_ana;
SELECT answer('risk');
SELECT answer('regress_ana.risk');
SELECT answer('!regress_ana.risk');
SELECT dpboost_drop_model('!regress_ana.risk');
SELECT count(*) FROM dpboost_models;
SELECT train('risk', false);
SET ROLE regress_app;
SELECT answer('regress_ana.risk');
SELECT answer('risk') AS what_was_shared;
RESET ROLE;
SELECT answer('risk');
SELECT answer('regress_ana.risk') AS living, answer('!regress_ana.risk') AS gone;
SELECT full_name, version FROM dpboost_models WHERE model = 'risk' ORDER BY full_name COLLATE "C";
DROP ROLE regress_ana;
SELECT answer('regress_ana.risk');
SELECT answer('regress_ana.risk@3') AS older, answer('!regress_ana.risk@4') AS newer;
SELECT dpboost_drop_model('!regress_ana.risk@4');
SELECT dpboost_drop_model('!regress_ana.risk');
SELECT answer('!regress_ana.risk');

-- Training over VALUES needs no right and leaves a model and an entry in the ledger: where that must not be, EXECUTE is taken away.
BEGIN;
REVOKE EXECUTE ON FUNCTION dpboost_train, dpboost_train_on FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dpboost_train, dpboost_train_on TO regress_team;
GRANT CREATE ON SCHEMA public TO regress_eve;
SET ROLE regress_eve;
CREATE TABLE own_table AS SELECT 0.5::float8 AS x, true AS y;
SAVEPOINT s;
SELECT train('filler', true);
ROLLBACK TO s;
SELECT dpboost_train_on('filler', 'own_table', 'y', 1, options => '{"bounds": [0, 1]}');
ROLLBACK TO s;
CREATE AGGREGATE own_train(text, jsonb, boolean, VARIADIC "any") (SFUNC = dpboost.train_step, STYPE = internal, FINALFUNC = dpboost.train_final);
ROLLBACK TO s;
SELECT answer('risk') AS still_predicts;
SET ROLE regress_bob;
SELECT train('filler', true);
SELECT dpboost_drop_model('filler');
ROLLBACK;

SELECT count(dpboost_drop_model(full_name)) FROM (SELECT DISTINCT full_name FROM dpboost_models WHERE owner LIKE 'regress\_%') s;
DROP FUNCTION train, answer;
DROP ROLE regress_eve, regress_app, regress_bob, regress_late, regress_team, "Regress B.";
