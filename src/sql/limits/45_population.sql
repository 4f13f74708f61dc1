
-- ---- populations ----------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost_create_population(population name, epsilon float8, delta float8 DEFAULT 1e-6) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_create_population' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_create_population(name, float8, float8) IS
    'makes one cap for all tables that hold the same persons; dpboost_protect(table, population => name) adds them';

CREATE FUNCTION dpboost_alter_population(population name, epsilon float8, delta float8 DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_alter_population' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_alter_population(name, float8, float8) IS
    'changes the cap of a population; a delta that is not named stays';

CREATE FUNCTION dpboost_drop_population(population name) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_drop_population' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_drop_population(name) IS
    'removes a population without tables; what was spent stays, also for one that is created under its name again';

CREATE VIEW dpboost_populations ( -- tables of populations: of one's own populations, and one's own tables
    population, -- name; its cap is in dpboost_budgets
    owner, -- role that may add tables; !name: one that was dropped
    relation, -- table or view that is or was in it; !name: one that was dropped
    privacy_unit, -- its column that identifies a person; NULL: each row is one
    joined_at, -- when it was added
    belongs) -- whether its trainings need the population's budget; what it has spent counts either way
    WITH (security_barrier) AS
    SELECT q.name AS population,
           coalesce((SELECT r.rolname FROM pg_catalog.pg_roles r WHERE r.oid = q.owner::oid)::text, q.owner::text) AS owner,
           t.relation::text AS relation, p.privacy_unit, m.joined_at, p.population_id IS NOT NULL AS belongs
    FROM dpboost.population q JOIN dpboost.population_member m USING (population_id)
    LEFT JOIN dpboost.protection p ON p.population_id = m.population_id AND p.relation_id = m.relation_id
    CROSS JOIN LATERAL (SELECT n.relation FROM dpboost.relation_name n WHERE n.relation_id = m.relation_id
                        ORDER BY n.relation::oid = 0, n.relation_name_id DESC LIMIT 1) t
    WHERE NOT q.dropped
      AND (pg_catalog.pg_has_role(current_user, q.owner::oid, 'USAGE')
           OR pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
           OR EXISTS (SELECT FROM pg_catalog.pg_class c
                      WHERE c.oid = t.relation::oid AND pg_catalog.pg_has_role(current_user, c.relowner, 'USAGE')));
GRANT SELECT ON dpboost_populations TO PUBLIC;
