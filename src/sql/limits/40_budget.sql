
-- ---- protect and budget ---------------------------------------------------------------------------------------------
-- For the owner of the relation or a superuser. They check that themselves, against the role that calls.

CREATE FUNCTION dpboost_protect(relation regclass, epsilon float8 DEFAULT NULL, delta float8 DEFAULT NULL,
                                privacy_unit name DEFAULT NULL, accept_earlier boolean DEFAULT false,
                                population name DEFAULT NULL, accounting text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_protect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_protect(regclass, float8, float8, name, boolean, name, text) IS
    'caps what all trainings on a relation together may reveal, past ones included, or all on the tables of its population; says which column is a person. What is not named stays as it is; a first delta is 1e-6. With accounting => ''unit'' every person has the limit to itself: who has used it up is left out, and trainings go on';

CREATE FUNCTION dpboost_unprotect(relation regclass) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_unprotect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_unprotect(regclass) IS
    'removes the cap, the privacy unit and all role budgets of a relation; what was spent stays in the ledger';

CREATE FUNCTION dpboost_set_domain(relation regclass, column_name name, lower "any", upper "any",
                                   scale text DEFAULT 'auto') RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_set_domain_range' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_set_domain(regclass, name, "any", "any", text) IS
    'declares the public range of a column, of a date or timestamp by such; scale is auto, linear or log';

CREATE FUNCTION dpboost_set_domain(relation regclass, column_name name, levels "any") RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_set_domain_levels' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_set_domain(regclass, name, "any") IS
    'declares the public list of values of a column, as an array; a list of integers makes an integer column one of codes';

CREATE FUNCTION dpboost_drop_domain(relation regclass, column_name name) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_drop_domain' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_drop_domain(regclass, name) IS
    'takes back what dpboost_set_domain declared; constraints and types still say what they say';

CREATE FUNCTION dpboost_set_budget(relation regclass, grantee regrole, epsilon float8 DEFAULT NULL,
                                   delta float8 DEFAULT NULL, max_epsilon_per_train float8 DEFAULT NULL,
                                   renew interval DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_set_budget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_set_budget(regclass, regrole, float8, float8, float8, interval) IS
    'lets a role train on a relation without SELECT, within a privacy budget: the first training may use all of it, several cost less than their sum. Limits that are not named stay; a first delta is 1e-6, max_epsilon_per_train => ''Infinity'' takes that limit away. With renew => ''1 month'' it is there again every month, within the cap; renew => ''0'' ends that';

CREATE FUNCTION dpboost_revoke_budget(relation regclass, grantee regrole) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_revoke_budget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_revoke_budget(regclass, regrole) IS
    'takes the budget of a role on a relation away; what was spent stays in the ledger';

-- Shows only what the calling role may see, so that anyone may call it.
CREATE FUNCTION dpboost.budgets(OUT relation regclass, OUT grantee regrole, OUT epsilon float8, OUT delta numeric,
                                OUT max_epsilon_per_train float8, OUT epsilon_spent float8,
                                OUT epsilon_spent_adaptive float8, OUT epsilon_remaining float8,
                                OUT part_remaining float8, OUT releases bigint, OUT privacy_unit name,
                                OUT earlier_releases bigint, OUT population name, OUT renew interval,
                                OUT renews_at timestamptz, OUT epsilon_spent_ever float8, OUT accounting text,
                                OUT trainings_left int) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_budget_rows' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost.budgets() IS 'rows of the view dpboost_budgets';

-- What is claimed and what is counted can be proven and counted again by everyone who may see it.
CREATE FUNCTION dpboost_verify(release_id bigint) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_verify_release' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_verify(bigint) IS
    'runs a release of dpboost_ledger through the accountant again: the epsilon it claims, the epsilon its events prove, and whether all agrees';

CREATE FUNCTION dpboost_verify() RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_verify_totals' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_verify() IS
    'counts the whole ledger again for every limit in dpboost_budgets, and lists those whose running totals differ';

-- A relation may have been renamed since it was last seen: when it is dropped, its last name is kept, so that one that is
-- created under that name inherits what was spent. The budgets of roles on it end with it.
CREATE FUNCTION dpboost.remember_dropped() RETURNS event_trigger
    AS 'MODULE_PATHNAME', 'dpboost_remember_dropped' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION dpboost.remember_dropped() IS 'keeps the last names of dropped relations and ends the budgets on them';
CREATE EVENT TRIGGER dpboost_remember_dropped ON sql_drop EXECUTE FUNCTION dpboost.remember_dropped();
COMMENT ON EVENT TRIGGER dpboost_remember_dropped IS 'what was spent on a dropped relation stays spent on its name';
