
-- ---- operations -----------------------------------------------------------------------------------------------------

CREATE VIEW dpboost_limit_history ( -- who set which limit when: of one's own tables, populations and budgets; never
    -- changed
    change_id, -- number of the change
    changed_at, -- when
    role, -- role that made it
    session_role, -- role that had logged in, before SET ROLE
    change, -- what was called: protect, unprotect, set_budget, revoke_budget, create_population, ...
    relation, -- table or view, by its name then
    population, -- population, by its name then
    grantee, -- role whose budget it was, by its name then
    epsilon, -- limit from then on; NULL: none
    delta, -- limit from then on
    max_epsilon_per_train, -- limit for a single training from then on; NULL: none
    renew, -- after which time the budget renews from then on; NULL: never
    privacy_unit) -- column that identifies a person from then on; NULL: each row is one
    WITH (security_barrier) AS
    SELECT h.limit_history_id AS change_id, h.changed_at, h.role_name AS role, h.session_name AS session_role, h.change,
           h.relation, h.population, h.grantee_name AS grantee, h.epsilon, h.delta::numeric AS delta, h.max_epsilon_per_train, h.renew,
           h.privacy_unit
    FROM dpboost.limit_history h
    WHERE pg_catalog.pg_has_role(current_user, h.owner::oid, 'USAGE')
       OR pg_catalog.pg_has_role(current_user, h.grantee::oid, 'USAGE')
       OR pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
       OR EXISTS (SELECT FROM dpboost.relation_name n JOIN pg_catalog.pg_class r ON r.oid = n.relation::oid
                  WHERE n.relation_id = ANY (h.relation_ids) AND pg_catalog.pg_has_role(current_user, r.relowner, 'USAGE'));

CREATE FUNCTION dpboost_set_alert(relation regclass DEFAULT NULL, part_remaining float8 DEFAULT 0.2,
                                  grantee regrole DEFAULT NULL, population name DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_set_alert' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_set_alert(regclass, float8, regrole, name) IS
    'tells when less than a part of a limit is left: a table''s or a population''s cap, or a role''s budget. NOTIFY dpboost_budget, a row in dpboost_alerts, and a notice for whoever trains';

CREATE FUNCTION dpboost_drop_alert(relation regclass DEFAULT NULL, grantee regrole DEFAULT NULL,
                                   population name DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_drop_alert' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_drop_alert(regclass, regrole, name) IS 'takes an alert of dpboost_set_alert away';

CREATE VIEW dpboost_alerts ( -- alerts on one's own tables and populations, and when they were raised
    relation, -- table or view; !name: one that was dropped
    population, -- or population
    grantee, -- role whose budget is meant; NULL: the cap
    part_remaining, -- part of the limit below which it is raised
    raised_at, -- when it was raised last; NULL: never
    release_id, -- the release that did it
    times) -- how often it was raised
    WITH (security_barrier) AS
    SELECT a.relation::text AS relation, q.name AS population, a.grantee::text AS grantee, a.below AS part_remaining,
           r.raised_at, r.release_id, r.times
    FROM dpboost.alert a LEFT JOIN dpboost.population q USING (population_id)
    LEFT JOIN LATERAL (SELECT max(e.raised_at) AS raised_at, max(e.release_id) AS release_id, count(*) AS times
                       FROM dpboost.alert_raised e WHERE e.alert_id = a.alert_id) r ON true
    WHERE pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
       OR pg_catalog.pg_has_role(current_user, q.owner::oid, 'USAGE')
       OR EXISTS (SELECT FROM pg_catalog.pg_class c
                  WHERE c.oid = a.relation::oid AND pg_catalog.pg_has_role(current_user, c.relowner, 'USAGE'));

CREATE FUNCTION dpboost_trainings_left(relation regclass, epsilon float8, delta float8 DEFAULT 1e-6,
                                       role regrole DEFAULT NULL) RETURNS int
    AS 'MODULE_PATHNAME', 'dpboost_trainings_left' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_trainings_left(regclass, float8, float8, regrole) IS
    'how many more trainings by the default method fit into all limits at once, one''s own or those of a role; at most 100000, NULL if there is no limit';

-- All or nothing: one table that the caller does not own, or that has no such column, and nothing is changed.
CREATE FUNCTION dpboost_protect_schema(schema regnamespace, epsilon float8 DEFAULT NULL, delta float8 DEFAULT NULL,
                                       privacy_unit name DEFAULT NULL, population name DEFAULT NULL) RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(@extschema@.dpboost_protect(c.oid, $2, $3, $4, false, $5)::text)
    FROM (SELECT oid, relname FROM pg_class WHERE relnamespace = $1 AND relkind IN ('r', 'p') AND NOT relispartition
          UNION ALL SELECT NULL, NULL WHERE $1 IS NULL -- an error, as for a single table
          ORDER BY relname) c $$;
COMMENT ON FUNCTION dpboost_protect_schema(regnamespace, float8, float8, name, name) IS
    'dpboost_protect for every table of a schema; returns how many. Partitions have their parent''s cap';

CREATE FUNCTION dpboost_set_schema_budget(schema regnamespace, grantee regrole, epsilon float8 DEFAULT NULL,
                                          delta float8 DEFAULT NULL, max_epsilon_per_train float8 DEFAULT NULL,
                                          renew interval DEFAULT NULL) RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(@extschema@.dpboost_set_budget(c.oid, $2, $3, $4, $5, $6)::text)
    FROM (SELECT oid, relname FROM pg_class WHERE relnamespace = $1 AND relkind IN ('r', 'p') AND NOT relispartition
          UNION ALL SELECT NULL, NULL WHERE $1 IS NULL -- an error, as for a single table
          ORDER BY relname) c $$;
COMMENT ON FUNCTION dpboost_set_schema_budget(regnamespace, regrole, float8, float8, float8, interval) IS
    'dpboost_set_budget for every table of a schema; returns how many';

CREATE FUNCTION dpboost_statement(model text DEFAULT NULL, relation regclass DEFAULT NULL, population name DEFAULT NULL,
                                  role regrole DEFAULT NULL, release_id bigint DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'dpboost_statement' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_statement(text, regclass, name, regrole, bigint) IS
    'privacy in words: what a model, a release of dpboost_ledger, or all that the limits of a table, a population or a role allow, may tell about a person';

GRANT SELECT ON dpboost_limit_history, dpboost_alerts TO PUBLIC;
