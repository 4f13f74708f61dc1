
-- ---- history and alerts ---------------------------------------------------------------------------------------------
-- Who set which limit when: a row for each call, written with it and never changed. Names are those of then.

CREATE SEQUENCE dpboost.limit_history_id_seq;
CREATE TABLE dpboost.limit_history (
    limit_history_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.limit_history_id_seq'),
    changed_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    role_name name NOT NULL,
    session_name name NOT NULL,
    change text NOT NULL,
    relation_ids bigint[] NOT NULL,
    relation text,
    population_id bigint,
    population name,
    owner dpboost.role_ref NOT NULL,
    grantee dpboost.role_ref,
    grantee_name name,
    epsilon float8,
    delta float8,
    max_epsilon_per_train float8,
    renew interval,
    privacy_unit name
);
ALTER SEQUENCE dpboost.limit_history_id_seq OWNED BY dpboost.limit_history.limit_history_id;
CREATE INDEX limit_history_relations ON dpboost.limit_history USING gin (relation_ids);
COMMENT ON SEQUENCE dpboost.limit_history_id_seq IS 'numbers the changes of limits';
COMMENT ON TABLE dpboost.limit_history IS 'every change of a limit; rows are never changed';
COMMENT ON COLUMN dpboost.limit_history.limit_history_id IS 'number of the change';
COMMENT ON COLUMN dpboost.limit_history.changed_at IS 'when';
COMMENT ON COLUMN dpboost.limit_history.role_name IS 'role that made it';
COMMENT ON COLUMN dpboost.limit_history.session_name IS 'role that had logged in';
COMMENT ON COLUMN dpboost.limit_history.change IS 'the function that was called';
COMMENT ON COLUMN dpboost.limit_history.relation_ids IS 'the relation, see relation_name';
COMMENT ON COLUMN dpboost.limit_history.relation IS 'its name then';
COMMENT ON COLUMN dpboost.limit_history.population_id IS 'the population';
COMMENT ON COLUMN dpboost.limit_history.population IS 'its name then';
COMMENT ON COLUMN dpboost.limit_history.owner IS 'role that owned it then';
COMMENT ON COLUMN dpboost.limit_history.grantee IS 'role whose budget it was';
COMMENT ON COLUMN dpboost.limit_history.grantee_name IS 'its name then';
COMMENT ON COLUMN dpboost.limit_history.epsilon IS 'limit from then on';
COMMENT ON COLUMN dpboost.limit_history.delta IS 'limit from then on';
COMMENT ON COLUMN dpboost.limit_history.max_epsilon_per_train IS 'limit for a single training from then on';
COMMENT ON COLUMN dpboost.limit_history.renew IS 'after which time it renews from then on';
COMMENT ON COLUMN dpboost.limit_history.privacy_unit IS 'who a person is from then on';

-- An alert belongs to the very relation, role or population for which it was set, as an allowance does.
CREATE SEQUENCE dpboost.alert_id_seq;
CREATE TABLE dpboost.alert (
    alert_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.alert_id_seq'),
    relation dpboost.relation_ref,
    population_id bigint,
    grantee dpboost.role_ref,
    below float8 NOT NULL CHECK (below > 0 AND below <= 1),
    set_by dpboost.role_ref NOT NULL,
    set_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    CHECK (pg_catalog.num_nulls(relation, population_id) = 1)
);
ALTER SEQUENCE dpboost.alert_id_seq OWNED BY dpboost.alert.alert_id;
CREATE INDEX alert_relation ON dpboost.alert ((relation::oid));
COMMENT ON SEQUENCE dpboost.alert_id_seq IS 'numbers the alerts';
COMMENT ON TABLE dpboost.alert IS 'whom to tell that a budget runs out';
COMMENT ON COLUMN dpboost.alert.alert_id IS 'number of the alert';
COMMENT ON COLUMN dpboost.alert.relation IS 'the relation';
COMMENT ON COLUMN dpboost.alert.population_id IS 'or the population';
COMMENT ON COLUMN dpboost.alert.grantee IS 'role whose budget is meant; NULL: the cap';
COMMENT ON COLUMN dpboost.alert.below IS 'part of the limit below which it is raised';
COMMENT ON COLUMN dpboost.alert.set_by IS 'role that set it';
COMMENT ON COLUMN dpboost.alert.set_at IS 'when';

CREATE SEQUENCE dpboost.alert_raised_id_seq;
CREATE TABLE dpboost.alert_raised (
    alert_raised_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.alert_raised_id_seq'),
    alert_id bigint NOT NULL,
    release_id bigint NOT NULL,
    raised_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
ALTER SEQUENCE dpboost.alert_raised_id_seq OWNED BY dpboost.alert_raised.alert_raised_id;
CREATE INDEX alert_raised_alert ON dpboost.alert_raised (alert_id, alert_raised_id);
COMMENT ON SEQUENCE dpboost.alert_raised_id_seq IS 'numbers the rows of alert_raised';
COMMENT ON TABLE dpboost.alert_raised IS 'when alerts were raised; written by the ledger worker, in the commit of the charge';
COMMENT ON COLUMN dpboost.alert_raised.alert_raised_id IS 'number of the row';
COMMENT ON COLUMN dpboost.alert_raised.alert_id IS 'the alert';
COMMENT ON COLUMN dpboost.alert_raised.release_id IS 'the release that went below it';
COMMENT ON COLUMN dpboost.alert_raised.raised_at IS 'when';

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
