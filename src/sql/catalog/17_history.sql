
-- ---- history and alerts ---------------------------------------------------------------------------------------------
-- Who set which limit when: a row for each call, written with it and never changed. Names are those of then.

CREATE SEQUENCE dpboost.limit_history_id_seq;
CREATE TABLE dpboost.limit_history ( -- every change of a limit; rows are never changed
    limit_history_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.limit_history_id_seq'), -- number of the change
    changed_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), -- when
    role_name name NOT NULL, -- role that made it
    session_name name NOT NULL, -- role that had logged in
    change text NOT NULL, -- the function that was called
    relation_ids bigint[] NOT NULL, -- the relation, see relation_name
    relation text, -- its name then
    population_id bigint, -- the population
    population name, -- its name then
    owner dpboost.role_ref NOT NULL, -- role that owned it then
    grantee dpboost.role_ref, -- role whose budget it was
    grantee_name name, -- its name then
    epsilon float8, -- limit from then on
    delta float8, -- limit from then on
    max_epsilon_per_train float8, -- limit for a single training from then on
    renew interval, -- after which time it renews from then on
    privacy_unit name -- who a person is from then on
);
ALTER SEQUENCE dpboost.limit_history_id_seq OWNED BY dpboost.limit_history.limit_history_id;
CREATE INDEX limit_history_relations ON dpboost.limit_history USING gin (relation_ids);
COMMENT ON SEQUENCE dpboost.limit_history_id_seq IS 'numbers the changes of limits';

-- An alert belongs to the very relation, role or population for which it was set, as an allowance does.
CREATE SEQUENCE dpboost.alert_id_seq;
CREATE TABLE dpboost.alert ( -- whom to tell that a budget runs out
    alert_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.alert_id_seq'), -- number of the alert
    relation dpboost.relation_ref, -- the relation
    population_id bigint, -- or the population
    grantee dpboost.role_ref, -- role whose budget is meant; NULL: the cap
    below float8 NOT NULL CHECK (below > 0 AND below <= 1), -- part of the limit below which it is raised
    set_by dpboost.role_ref NOT NULL, -- role that set it
    set_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- when
    CHECK (pg_catalog.num_nulls(relation, population_id) = 1)
);
ALTER SEQUENCE dpboost.alert_id_seq OWNED BY dpboost.alert.alert_id;
CREATE INDEX alert_relation ON dpboost.alert ((relation::oid));
COMMENT ON SEQUENCE dpboost.alert_id_seq IS 'numbers the alerts';

CREATE SEQUENCE dpboost.alert_raised_id_seq;
CREATE TABLE dpboost.alert_raised ( -- when alerts were raised; written by the ledger worker, in the commit of the charge
    alert_raised_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.alert_raised_id_seq'), -- number of the row
    alert_id bigint NOT NULL, -- the alert
    release_id bigint NOT NULL, -- the release that went below it
    raised_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp() -- when
);
ALTER SEQUENCE dpboost.alert_raised_id_seq OWNED BY dpboost.alert_raised.alert_raised_id;
CREATE INDEX alert_raised_alert ON dpboost.alert_raised (alert_id, alert_raised_id);
COMMENT ON SEQUENCE dpboost.alert_raised_id_seq IS 'numbers the rows of alert_raised';

CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.limit_history
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
COMMENT ON TRIGGER keep_ledger ON dpboost.limit_history IS 'the history of limits is append-only';
CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.alert_raised
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
COMMENT ON TRIGGER keep_ledger ON dpboost.alert_raised IS 'what was raised stays';
REVOKE ALL ON dpboost.limit_history, dpboost.alert, dpboost.alert_raised FROM PUBLIC;
REVOKE ALL ON SEQUENCE dpboost.limit_history_id_seq, dpboost.alert_id_seq, dpboost.alert_raised_id_seq FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dpboost.limit_history_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.limit_history', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.alert_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.alert', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.alert_raised_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.alert_raised', '');
