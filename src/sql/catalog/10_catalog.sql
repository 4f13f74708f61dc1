
-- ---- catalog --------------------------------------------------------------------------------------------------------
-- Nobody but the extension's owner reads or writes these tables directly: functions in C do it after their own checks,
-- and the views at the end show each role its rows. The ledger and its charges are written by the ledger worker only,
-- before anything is drawn; the model and its delivery later, in a commit of their own. Every table has a primary key:
-- without one PostgreSQL refuses UPDATE and DELETE, even of no rows, as soon as somebody creates a publication FOR ALL TABLES.

CREATE SCHEMA dpboost;
REVOKE ALL ON SCHEMA dpboost FROM PUBLIC;
COMMENT ON SCHEMA dpboost IS 'catalog of dpboost: budgets, ledger and models; use the functions and views dpboost_*';

-- A relation or a role is remembered by oid while it lives and dumped by the name that it has then, so that a restore
-- finds it again. One that is gone is written as !name, and never matches another object by oid.
CREATE TYPE dpboost.relation_ref;
CREATE FUNCTION dpboost.relation_ref_in(cstring) RETURNS dpboost.relation_ref
    AS 'MODULE_PATHNAME', 'dpboost_relation_ref_in' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dpboost.relation_ref_out(dpboost.relation_ref) RETURNS cstring
    AS 'MODULE_PATHNAME', 'dpboost_relation_ref_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE TYPE dpboost.relation_ref (
    INPUT = dpboost.relation_ref_in, OUTPUT = dpboost.relation_ref_out,
    INTERNALLENGTH = 132, ALIGNMENT = int4, STORAGE = plain);
CREATE FUNCTION dpboost.relation_ref_oid(dpboost.relation_ref) RETURNS oid
    AS 'MODULE_PATHNAME', 'dpboost_relation_ref_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (dpboost.relation_ref AS oid) WITH FUNCTION dpboost.relation_ref_oid(dpboost.relation_ref);

CREATE TYPE dpboost.role_ref;
CREATE FUNCTION dpboost.role_ref_in(cstring) RETURNS dpboost.role_ref
    AS 'MODULE_PATHNAME', 'dpboost_role_ref_in' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dpboost.role_ref_out(dpboost.role_ref) RETURNS cstring
    AS 'MODULE_PATHNAME', 'dpboost_role_ref_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE TYPE dpboost.role_ref (
    INPUT = dpboost.role_ref_in, OUTPUT = dpboost.role_ref_out,
    INTERNALLENGTH = 68, ALIGNMENT = int4, STORAGE = plain);
CREATE FUNCTION dpboost.role_ref_oid(dpboost.role_ref) RETURNS oid
    AS 'MODULE_PATHNAME', 'dpboost_role_ref_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (dpboost.role_ref AS oid) WITH FUNCTION dpboost.role_ref_oid(dpboost.role_ref);

-- The same for a column, by its relation and its number there: both outlive a new name.
CREATE TYPE dpboost.column_ref;
CREATE FUNCTION dpboost.column_ref_in(cstring) RETURNS dpboost.column_ref
    AS 'MODULE_PATHNAME', 'dpboost_column_ref_in' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION dpboost.column_ref_out(dpboost.column_ref) RETURNS cstring
    AS 'MODULE_PATHNAME', 'dpboost_column_ref_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE TYPE dpboost.column_ref (
    INPUT = dpboost.column_ref_in, OUTPUT = dpboost.column_ref_out,
    INTERNALLENGTH = 200, ALIGNMENT = int4, STORAGE = plain);
CREATE FUNCTION dpboost.column_ref_oid(dpboost.column_ref) RETURNS oid
    AS 'MODULE_PATHNAME', 'dpboost_column_ref_oid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (dpboost.column_ref AS oid) WITH FUNCTION dpboost.column_ref_oid(dpboost.column_ref);
CREATE FUNCTION dpboost.column_ref_number(dpboost.column_ref) RETURNS int
    AS 'MODULE_PATHNAME', 'dpboost_column_ref_number' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON TYPE dpboost.column_ref IS
    'a column by its relation''s oid and its number there, and by name; dumps as its present name, as !name when it is gone';
COMMENT ON FUNCTION dpboost.column_ref_in(cstring) IS 'I/O';
COMMENT ON FUNCTION dpboost.column_ref_out(dpboost.column_ref) IS 'I/O';
COMMENT ON FUNCTION dpboost.column_ref_oid(dpboost.column_ref) IS 'oid of the column''s relation, 0 if it was gone';
COMMENT ON FUNCTION dpboost.column_ref_number(dpboost.column_ref) IS 'number of the column in its relation, 0 if it was gone';
COMMENT ON CAST (dpboost.column_ref AS oid) IS 'oid of the column''s relation';

COMMENT ON TYPE dpboost.relation_ref IS 'a relation by oid and name; dumps as its present name, as !name when it is gone';
COMMENT ON TYPE dpboost.role_ref IS 'a role by oid and name; dumps as its present name, as !name when it is gone';
COMMENT ON FUNCTION dpboost.relation_ref_in(cstring) IS 'I/O';
COMMENT ON FUNCTION dpboost.relation_ref_out(dpboost.relation_ref) IS 'I/O';
COMMENT ON FUNCTION dpboost.relation_ref_oid(dpboost.relation_ref) IS 'oid under which the relation was remembered, 0 if it was gone';
COMMENT ON FUNCTION dpboost.role_ref_in(cstring) IS 'I/O';
COMMENT ON FUNCTION dpboost.role_ref_out(dpboost.role_ref) IS 'I/O';
COMMENT ON FUNCTION dpboost.role_ref_oid(dpboost.role_ref) IS 'oid under which the role was remembered, 0 if it was gone';
COMMENT ON CAST (dpboost.relation_ref AS oid) IS 'oid under which the relation was remembered';
COMMENT ON CAST (dpboost.role_ref AS oid) IS 'oid under which the role was remembered';

-- Identity. Spending belongs to a relation_id; every oid and every name under which the relation was seen leads to it,
-- so neither a rename nor DROP and CREATE under the old name starts from zero. One relation may have several. A name
-- leads to it only for the owner's own relations, and only while no other role's relation bears it: another role that
-- takes the name gets an identity of its own.
CREATE SEQUENCE dpboost.relation_id_seq;
CREATE SEQUENCE dpboost.relation_name_id_seq;
CREATE TABLE dpboost.relation_name ( -- every oid and name under which a relation was seen; spending belongs to its
    -- relation_id
    relation_id bigint NOT NULL, -- the identity that spending belongs to
    relation dpboost.relation_ref NOT NULL, -- the relation
    schema_name name NOT NULL, -- schema in which it was seen
    relation_name name NOT NULL, -- name under which it was seen
    owner dpboost.role_ref NOT NULL, -- role that owned or dropped it then
    relation_name_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.relation_name_id_seq') -- number of the row
);
ALTER SEQUENCE dpboost.relation_name_id_seq OWNED BY dpboost.relation_name.relation_name_id;
CREATE INDEX relation_name_oid ON dpboost.relation_name ((relation::oid));
CREATE INDEX relation_name_name ON dpboost.relation_name (schema_name, relation_name);
CREATE INDEX relation_name_relation ON dpboost.relation_name (relation_id);
COMMENT ON SEQUENCE dpboost.relation_id_seq IS 'numbers the relations that were protected or released from';
COMMENT ON SEQUENCE dpboost.relation_name_id_seq IS 'numbers the rows of relation_name';

CREATE TABLE dpboost.protection ( -- caps: what all releases from a relation together may cost
    relation_id bigint PRIMARY KEY, -- the relation, see relation_name
    epsilon float8 CHECK (epsilon > 0 AND epsilon < 'Infinity'), -- limit; NULL: only that of its population
    delta float8 CHECK (delta >= 0 AND delta < 1), -- limit
    rdp_order bigint CHECK (rdp_order > 1), -- Renyi order at which spending is counted, fixed when the limit was set
    population_id bigint, -- population to which the relation belongs; NULL: it is its own
    privacy_unit name, -- column whose equal values are one person; NULL: a row is a person
    earlier_releases bigint NOT NULL DEFAULT 0, -- releases for another privacy unit that the owner has accepted
    earlier_until bigint NOT NULL DEFAULT 0, -- number of the last of them
    set_by dpboost.role_ref NOT NULL, -- role that set the limit
    set_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- when
    unit_state_id bigint, -- where every person has an account, see unit_state; NULL: releases are counted
    CHECK (pg_catalog.num_nulls(epsilon, delta, rdp_order) IN (0, 3)),
    CHECK (epsilon IS NOT NULL OR population_id IS NOT NULL)
);

-- An allowance is also a right to train without SELECT, so unlike spending it belongs to the very relation and role for
-- which it was granted: not to others that take their names later. A revoked one stays, because it still counts.
CREATE SEQUENCE dpboost.allowance_id_seq;
CREATE TABLE dpboost.allowance ( -- budgets of roles on relations: a right to train without SELECT, and its limit
    relation dpboost.relation_ref NOT NULL, -- the relation
    grantee dpboost.role_ref NOT NULL, -- the role; its members use it too
    epsilon float8 NOT NULL CHECK (epsilon > 0 AND epsilon < 'Infinity'), -- limit
    delta float8 NOT NULL CHECK (delta >= 0 AND delta < 1), -- limit
    rdp_order bigint NOT NULL CHECK (rdp_order > 1), -- Renyi order at which spending is counted, fixed when the limit was
        -- set
    max_epsilon_per_train float8 CHECK (max_epsilon_per_train > 0 AND max_epsilon_per_train < 'Infinity'), -- limit for a
        -- single training, or NULL
    renew interval CHECK (renew > '0'), -- length of the windows of which only the present one counts; NULL: all counts
    renew_from timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), -- when the first window began
    revoked boolean NOT NULL DEFAULT false, -- gives no right any more, but still counts
    set_by dpboost.role_ref NOT NULL, -- role that set the limit
    set_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- when
    allowance_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.allowance_id_seq') -- number of the row
);
ALTER SEQUENCE dpboost.allowance_id_seq OWNED BY dpboost.allowance.allowance_id;
CREATE UNIQUE INDEX allowance_key ON dpboost.allowance ((relation::oid), (grantee::oid))
    WHERE relation::oid <> 0 AND grantee::oid <> 0;
COMMENT ON SEQUENCE dpboost.allowance_id_seq IS 'numbers the rows of allowance';

CREATE SEQUENCE dpboost.column_domain_id_seq;
CREATE TABLE dpboost.column_domain ( -- what the owner declared public about a column
    described dpboost.column_ref NOT NULL, -- the column
    lower float8, -- smallest value of a range
    upper float8, -- largest value of a range
    scale text CHECK (scale IN ('auto', 'linear', 'log')), -- how the range is divided: auto, linear or log
    levels text[], -- all values that the column may have
    CHECK ((lower IS NOT NULL AND upper > lower AND scale IS NOT NULL) <> (levels IS NOT NULL)),
    column_domain_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.column_domain_id_seq') -- number of the row
);
ALTER SEQUENCE dpboost.column_domain_id_seq OWNED BY dpboost.column_domain.column_domain_id;
CREATE UNIQUE INDEX column_domain_key ON dpboost.column_domain ((described::oid), (dpboost.column_ref_number(described)))
    WHERE described::oid <> 0;
COMMENT ON SEQUENCE dpboost.column_domain_id_seq IS 'numbers the rows of column_domain';

-- A model's name belongs to the role that trained under it first: others have names of their own, so nobody can take or
-- hide one. A row stays when the models under it are dropped, so that no version is used twice.
CREATE SEQUENCE dpboost.model_name_id_seq;
CREATE TABLE dpboost.model_name ( -- names of models, each with the role that it belongs to
    name_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.model_name_id_seq'), -- number of the name
    owner dpboost.role_ref NOT NULL, -- role that the name and its models belong to
    name text NOT NULL CHECK (name <> '' AND pg_catalog.translate(name, '.@"', '') = name), -- the name, without owner and
        -- version
    last_import int NOT NULL DEFAULT 0, -- the last version that was imported under it; never used again
    description text, -- what its owner says about it
    versions_before int NOT NULL DEFAULT 0 -- versions up to this one have been used under the full name by models that were
        -- given away
);
ALTER SEQUENCE dpboost.model_name_id_seq OWNED BY dpboost.model_name.name_id;
CREATE UNIQUE INDEX model_name_key ON dpboost.model_name (name, (owner::oid)) WHERE owner::oid <> 0;
CREATE INDEX model_name_name ON dpboost.model_name (name);
COMMENT ON SEQUENCE dpboost.model_name_id_seq IS 'numbers the names of models';

-- Figures as people write them: six digits, rounded up.
CREATE FUNCTION dpboost.rounded_up(float8) RETURNS float8
    AS 'MODULE_PATHNAME', 'dpboost_rounded_up' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.rounded_up(float8) IS 'a figure to six digits, not below it';

CREATE SEQUENCE dpboost.release_id_seq;
CREATE TABLE dpboost.ledger ( -- every release that was ever paid for; rows are added by the ledger worker and never changed
    release_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.release_id_seq'), -- number of the release
    released_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), -- when it was charged
    role dpboost.role_ref NOT NULL, -- role that trained
    role_name name NOT NULL, -- its name then
    name_id bigint NOT NULL, -- name of the model with its owner, see model_name
    model text NOT NULL, -- name of the model
    version int NOT NULL, -- version of the model; never used again
    method text NOT NULL, -- how it was trained
    task text NOT NULL, -- regression or classification
    epsilon float8 NOT NULL, -- privacy loss of this release alone
    delta float8 NOT NULL, -- privacy loss of this release alone
    privacy_unit name, -- column that identified a person; NULL: each row was one
    relations text[] NOT NULL, -- names of the relations that were read
    plan bytea NOT NULL, -- events of the training, from which the accountant can be run again
    curve float8[] NOT NULL CHECK (pg_catalog.array_length(curve, 1) = 64), -- Renyi divergence at the 64 orders
    pure_epsilon float8 NOT NULL, -- the same at order infinity: its epsilon at delta 0
    claim bytea NOT NULL DEFAULT '', -- hash of a secret that the training alone knows, and without which its model is not
        -- taken
    noise_multiplier float8, -- noise of its main mechanism, in sensitivities
    calibrated_by text, -- the proof that set the noise: gdp, pld, rdp, pure, or budget
    kind text NOT NULL DEFAULT 'training' CHECK (kind IN ('training', 'evaluation', 'choice')) -- what was released: a
        -- training gives a model, an evaluation or a choice is about one
);
ALTER TABLE dpboost.ledger ALTER COLUMN curve SET STORAGE PLAIN;
CREATE INDEX ledger_released_at ON dpboost.ledger (released_at);
CREATE INDEX ledger_model ON dpboost.ledger (name_id, version);
ALTER SEQUENCE dpboost.release_id_seq OWNED BY dpboost.ledger.release_id;
COMMENT ON SEQUENCE dpboost.release_id_seq IS 'numbers the releases';

-- Models on groups of persons none of whom is in two of them are one release: adding or removing a person changes one of
-- them. Its row in the ledger names what their names begin with.
CREATE TABLE dpboost.group_model ( -- the models of releases that have several; rows are added by the ledger worker, with the
    -- charge, and never changed
    release_id bigint NOT NULL, -- the release
    number int NOT NULL CHECK (number > 0), -- number of the group
    name_id bigint NOT NULL, -- name of the group's model with its owner, see model_name
    model text NOT NULL, -- name of the group's model
    version int NOT NULL, -- its version; never used again
    PRIMARY KEY (release_id, number)
);
CREATE INDEX group_model_model ON dpboost.group_model (name_id, version);
CREATE VIEW dpboost.used_version AS
    SELECT name_id, version FROM dpboost.ledger UNION ALL SELECT name_id, version FROM dpboost.group_model;
COMMENT ON VIEW dpboost.used_version IS 'versions of models that releases have used, and that none will use again';
COMMENT ON COLUMN dpboost.used_version.name_id IS 'name of the model with its owner, see model_name';
COMMENT ON COLUMN dpboost.used_version.version IS 'the version';

-- A row is added in the commit of the model and stays when the model is dropped. A release without one has no model: it
-- trains still, or it was cancelled, failed or crashed after it was charged.
CREATE TABLE dpboost.delivery ( -- the releases whose model was stored; rows are added by the ledger worker and never changed
    release_id bigint PRIMARY KEY, -- the release
    delivered_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp() -- when its model was stored
);

-- What releases add up to, as the core counts it: curve, mu squared and events, rounded up.
CREATE FUNCTION dpboost.add_cost(spent bytea, plan bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dpboost_add_cost' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.add_cost(bytea, bytea) IS 'a sum of releases with one more; NULL is the empty sum';
CREATE AGGREGATE dpboost.spent(plan bytea) (SFUNC = dpboost.add_cost, STYPE = bytea);
COMMENT ON AGGREGATE dpboost.spent(bytea) IS 'what releases add up to, from the plans in the ledger';

CREATE SEQUENCE dpboost.charge_id_seq;
CREATE TABLE dpboost.charge ( -- whom a release is charged to: the relations it read, the role and the groups it acted for
    release_id bigint NOT NULL, -- the release
    relation_id bigint NOT NULL, -- the relation, see relation_name
    role dpboost.role_ref NOT NULL, -- role that trained, or one with an allowance whose privileges it had
    role_name name NOT NULL, -- its name then
    direct boolean NOT NULL, -- the relation was read as a whole, not as a parent of a partition that was
    privacy_unit name, -- column of the relation whose equal values were one person; NULL: each of its rows; empty: nobody,
        -- it was not read row by row
    charge_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.charge_id_seq') -- number of the row
);
ALTER SEQUENCE dpboost.charge_id_seq OWNED BY dpboost.charge.charge_id;
CREATE INDEX charge_relation ON dpboost.charge (relation_id, privacy_unit, release_id);
COMMENT ON SEQUENCE dpboost.charge_id_seq IS 'numbers the rows of charge';
CREATE INDEX charge_last ON dpboost.charge (relation_id, release_id);
CREATE INDEX charge_release ON dpboost.charge (release_id);

-- Releases that were charged to the same relations and roles share a line of totals, so that nothing need add up the
-- ledger. Whom a release was charged to, as sets:
CREATE VIEW dpboost.charged AS
    SELECT c.release_id, pg_catalog.array_agg(DISTINCT c.relation_id) AS relation_ids,
           COALESCE(pg_catalog.array_agg(DISTINCT c.relation_id) FILTER (WHERE c.direct), '{}') AS direct_ids,
           pg_catalog.array_agg(DISTINCT c.role::oid) AS role_oids,
           pg_catalog.array_agg(DISTINCT c.role_name) AS role_names,
           (SELECT pg_catalog.array_agg(r.role) FROM (
                SELECT DISTINCT ON (o.role::oid) o.role FROM dpboost.charge o WHERE o.release_id = c.release_id
                ORDER BY o.role::oid) r) AS roles
    FROM dpboost.charge c GROUP BY c.release_id;
COMMENT ON VIEW dpboost.charged IS 'whom each release was charged to, as sets';
COMMENT ON COLUMN dpboost.charged.release_id IS 'the release';
COMMENT ON COLUMN dpboost.charged.relation_ids IS 'the relations, see relation_name';
COMMENT ON COLUMN dpboost.charged.direct_ids IS 'those of them that were read as a whole';
COMMENT ON COLUMN dpboost.charged.role_oids IS 'the roles';
COMMENT ON COLUMN dpboost.charged.role_names IS 'their names then';
COMMENT ON COLUMN dpboost.charged.roles IS 'the roles, in a form that a dump keeps';

CREATE SEQUENCE dpboost.total_id_seq;
CREATE TABLE dpboost.total ( -- what the ledger adds up to, one line for all releases that were charged alike; changed by the
    -- ledger worker only, in the commit of a charge
    total_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.total_id_seq'), -- number of the line
    relation_ids bigint[] NOT NULL, -- the relations that its releases were charged to, see relation_name
    direct_ids bigint[] NOT NULL, -- those of them that were read as a whole
    roles dpboost.role_ref[] NOT NULL, -- the roles that they were charged to
    role_names name[] NOT NULL, -- their names then
    first_release_id bigint NOT NULL, -- its first release
    last_release_id bigint NOT NULL, -- its last release
    spent bytea NOT NULL -- how many they are, their summed curves, mu squared and events, rounded up
) WITH (fillfactor = 40);
ALTER TABLE dpboost.total ALTER COLUMN spent SET STORAGE PLAIN;
CREATE INDEX total_relations ON dpboost.total USING gin (relation_ids);
ALTER SEQUENCE dpboost.total_id_seq OWNED BY dpboost.total.total_id;
COMMENT ON SEQUENCE dpboost.total_id_seq IS 'numbers the lines of totals';

-- Its lock makes charges follow one another. A table of its own, because vacuum never visits it and no role can lock it.
CREATE TABLE dpboost.charge_lock (id int PRIMARY KEY);
COMMENT ON TABLE dpboost.charge_lock IS 'never holds a row: the ledger worker locks it while it checks and charges';
COMMENT ON COLUMN dpboost.charge_lock.id IS 'not used';

CREATE SEQUENCE dpboost.model_id_seq;
CREATE TABLE dpboost.model (
    model_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.model_id_seq'),
    name_id bigint NOT NULL,
    name text NOT NULL,
    version int NOT NULL CHECK (version > 0),
    release_id bigint,
    method text NOT NULL,
    task text NOT NULL,
    epsilon float8 NOT NULL,
    delta float8 NOT NULL,
    options jsonb NOT NULL,
    features jsonb NOT NULL,
    content bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    target text NOT NULL DEFAULT '',
    positive text,
    UNIQUE (name_id, version)
);
ALTER TABLE dpboost.model ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX model_release ON dpboost.model (release_id);
ALTER SEQUENCE dpboost.model_id_seq OWNED BY dpboost.model.model_id;
COMMENT ON SEQUENCE dpboost.model_id_seq IS 'numbers the models';
COMMENT ON TABLE dpboost.model IS
    'models, written by the ledger worker: those trained here after their charge and never without it, and imported ones';
COMMENT ON COLUMN dpboost.model.model_id IS 'number of the model; a new one for every version';
COMMENT ON COLUMN dpboost.model.name_id IS 'its name with its owner, see model_name';
COMMENT ON COLUMN dpboost.model.name IS 'its name alone; never changes';
COMMENT ON COLUMN dpboost.model.version IS 'version';
COMMENT ON COLUMN dpboost.model.release_id IS
    'its charge in the ledger; NULL: imported, and what is said of its method, epsilon and delta was claimed elsewhere';
COMMENT ON COLUMN dpboost.model.method IS 'how it was trained';
COMMENT ON COLUMN dpboost.model.task IS 'regression or classification';
COMMENT ON COLUMN dpboost.model.epsilon IS 'privacy loss of its training';
COMMENT ON COLUMN dpboost.model.delta IS 'privacy loss of its training';
COMMENT ON COLUMN dpboost.model.options IS 'options of its training';
COMMENT ON COLUMN dpboost.model.features IS 'its features and their encodings';
COMMENT ON COLUMN dpboost.model.content IS 'the model, in dpboost''s own format';
COMMENT ON COLUMN dpboost.model.created_at IS 'when it was trained';
COMMENT ON COLUMN dpboost.model.target IS 'name of what it predicts';
COMMENT ON COLUMN dpboost.model.positive IS 'classification: the class whose probability it gives';

CREATE SEQUENCE dpboost.model_grant_id_seq;
CREATE TABLE dpboost.model_grant ( -- roles that may use a model of another role
    name_id bigint NOT NULL, -- the model, see model_name; all its versions are meant
    grantee dpboost.role_ref NOT NULL, -- role that may use it; its members may too
    granted_by dpboost.role_ref NOT NULL, -- role that shared it
    granted_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- when
    model_grant_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.model_grant_id_seq') -- number of the row
);
ALTER SEQUENCE dpboost.model_grant_id_seq OWNED BY dpboost.model_grant.model_grant_id;
CREATE UNIQUE INDEX model_grant_key ON dpboost.model_grant (name_id, (grantee::oid)) WHERE grantee::oid <> 0;
COMMENT ON SEQUENCE dpboost.model_grant_id_seq IS 'numbers the rows of model_grant';
