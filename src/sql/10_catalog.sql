
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
CREATE TABLE dpboost.relation_name (
    relation_id bigint NOT NULL,
    relation dpboost.relation_ref NOT NULL,
    schema_name name NOT NULL,
    relation_name name NOT NULL,
    owner dpboost.role_ref NOT NULL,
    relation_name_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.relation_name_id_seq')
);
ALTER SEQUENCE dpboost.relation_name_id_seq OWNED BY dpboost.relation_name.relation_name_id;
CREATE INDEX relation_name_oid ON dpboost.relation_name ((relation::oid));
CREATE INDEX relation_name_name ON dpboost.relation_name (schema_name, relation_name);
CREATE INDEX relation_name_relation ON dpboost.relation_name (relation_id);
COMMENT ON SEQUENCE dpboost.relation_id_seq IS 'numbers the relations that were protected or released from';
COMMENT ON SEQUENCE dpboost.relation_name_id_seq IS 'numbers the rows of relation_name';
COMMENT ON TABLE dpboost.relation_name IS 'every oid and name under which a relation was seen; spending belongs to its relation_id';
COMMENT ON COLUMN dpboost.relation_name.relation_id IS 'the identity that spending belongs to';
COMMENT ON COLUMN dpboost.relation_name.relation IS 'the relation';
COMMENT ON COLUMN dpboost.relation_name.schema_name IS 'schema in which it was seen';
COMMENT ON COLUMN dpboost.relation_name.relation_name IS 'name under which it was seen';
COMMENT ON COLUMN dpboost.relation_name.owner IS 'role that owned or dropped it then';
COMMENT ON COLUMN dpboost.relation_name.relation_name_id IS 'number of the row';

CREATE TABLE dpboost.protection (
    relation_id bigint PRIMARY KEY,
    epsilon float8 CHECK (epsilon > 0 AND epsilon < 'Infinity'),
    delta float8 CHECK (delta >= 0 AND delta < 1),
    rdp_order bigint CHECK (rdp_order > 1),
    population_id bigint,
    privacy_unit name,
    earlier_releases bigint NOT NULL DEFAULT 0,
    earlier_until bigint NOT NULL DEFAULT 0,
    set_by dpboost.role_ref NOT NULL,
    set_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    CHECK (pg_catalog.num_nulls(epsilon, delta, rdp_order) IN (0, 3)),
    CHECK (epsilon IS NOT NULL OR population_id IS NOT NULL)
);
COMMENT ON TABLE dpboost.protection IS 'caps: what all releases from a relation together may cost';
COMMENT ON COLUMN dpboost.protection.relation_id IS 'the relation, see relation_name';
COMMENT ON COLUMN dpboost.protection.epsilon IS 'limit; NULL: only that of its population';
COMMENT ON COLUMN dpboost.protection.delta IS 'limit';
COMMENT ON COLUMN dpboost.protection.population_id IS 'population to which the relation belongs; NULL: it is its own';
COMMENT ON COLUMN dpboost.protection.rdp_order IS 'Renyi order at which spending is counted, fixed when the limit was set';
COMMENT ON COLUMN dpboost.protection.privacy_unit IS 'column whose equal values are one person; NULL: a row is a person';
COMMENT ON COLUMN dpboost.protection.earlier_releases IS 'releases for another privacy unit that the owner has accepted';
COMMENT ON COLUMN dpboost.protection.earlier_until IS 'number of the last of them';
COMMENT ON COLUMN dpboost.protection.set_by IS 'role that set the limit';
COMMENT ON COLUMN dpboost.protection.set_at IS 'when';

-- An allowance is also a right to train without SELECT, so unlike spending it belongs to the very relation and role for
-- which it was granted: not to others that take their names later. A revoked one stays, because it still counts.
CREATE SEQUENCE dpboost.allowance_id_seq;
CREATE TABLE dpboost.allowance (
    relation dpboost.relation_ref NOT NULL,
    grantee dpboost.role_ref NOT NULL,
    epsilon float8 NOT NULL CHECK (epsilon > 0 AND epsilon < 'Infinity'),
    delta float8 NOT NULL CHECK (delta >= 0 AND delta < 1),
    rdp_order bigint NOT NULL CHECK (rdp_order > 1),
    max_epsilon_per_train float8 CHECK (max_epsilon_per_train > 0 AND max_epsilon_per_train < 'Infinity'),
    renew interval CHECK (renew > '0'),
    renew_from timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    revoked boolean NOT NULL DEFAULT false,
    set_by dpboost.role_ref NOT NULL,
    set_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    allowance_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.allowance_id_seq')
);
ALTER SEQUENCE dpboost.allowance_id_seq OWNED BY dpboost.allowance.allowance_id;
CREATE UNIQUE INDEX allowance_key ON dpboost.allowance ((relation::oid), (grantee::oid))
    WHERE relation::oid <> 0 AND grantee::oid <> 0;
COMMENT ON SEQUENCE dpboost.allowance_id_seq IS 'numbers the rows of allowance';
COMMENT ON TABLE dpboost.allowance IS 'budgets of roles on relations: a right to train without SELECT, and its limit';
COMMENT ON COLUMN dpboost.allowance.relation IS 'the relation';
COMMENT ON COLUMN dpboost.allowance.grantee IS 'the role; its members use it too';
COMMENT ON COLUMN dpboost.allowance.epsilon IS 'limit';
COMMENT ON COLUMN dpboost.allowance.delta IS 'limit';
COMMENT ON COLUMN dpboost.allowance.rdp_order IS 'Renyi order at which spending is counted, fixed when the limit was set';
COMMENT ON COLUMN dpboost.allowance.max_epsilon_per_train IS 'limit for a single training, or NULL';
COMMENT ON COLUMN dpboost.allowance.renew IS 'length of the windows of which only the present one counts; NULL: all counts';
COMMENT ON COLUMN dpboost.allowance.renew_from IS 'when the first window began';
COMMENT ON COLUMN dpboost.allowance.revoked IS 'gives no right any more, but still counts';
COMMENT ON COLUMN dpboost.allowance.set_by IS 'role that set the limit';
COMMENT ON COLUMN dpboost.allowance.set_at IS 'when';
COMMENT ON COLUMN dpboost.allowance.allowance_id IS 'number of the row';

CREATE SEQUENCE dpboost.column_domain_id_seq;
CREATE TABLE dpboost.column_domain (
    described dpboost.column_ref NOT NULL,
    lower float8,
    upper float8,
    scale text CHECK (scale IN ('auto', 'linear', 'log')),
    levels text[],
    CHECK ((lower IS NOT NULL AND upper > lower AND scale IS NOT NULL) <> (levels IS NOT NULL)),
    column_domain_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.column_domain_id_seq')
);
ALTER SEQUENCE dpboost.column_domain_id_seq OWNED BY dpboost.column_domain.column_domain_id;
CREATE UNIQUE INDEX column_domain_key ON dpboost.column_domain ((described::oid), (dpboost.column_ref_number(described)))
    WHERE described::oid <> 0;
COMMENT ON SEQUENCE dpboost.column_domain_id_seq IS 'numbers the rows of column_domain';
COMMENT ON TABLE dpboost.column_domain IS 'what the owner declared public about a column';
COMMENT ON COLUMN dpboost.column_domain.described IS 'the column';
COMMENT ON COLUMN dpboost.column_domain.lower IS 'smallest value of a range';
COMMENT ON COLUMN dpboost.column_domain.upper IS 'largest value of a range';
COMMENT ON COLUMN dpboost.column_domain.scale IS 'how the range is divided: auto, linear or log';
COMMENT ON COLUMN dpboost.column_domain.levels IS 'all values that the column may have';
COMMENT ON COLUMN dpboost.column_domain.column_domain_id IS 'number of the row';

-- A model's name belongs to the role that trained under it first: others have names of their own, so nobody can take or
-- hide one. A row stays when the models under it are dropped, so that no version is used twice.
CREATE SEQUENCE dpboost.model_name_id_seq;
CREATE TABLE dpboost.model_name (
    name_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.model_name_id_seq'),
    owner dpboost.role_ref NOT NULL,
    name text NOT NULL CHECK (name <> '' AND pg_catalog.translate(name, '.@"', '') = name),
    last_import int NOT NULL DEFAULT 0,
    description text,
    versions_before int NOT NULL DEFAULT 0
);
ALTER SEQUENCE dpboost.model_name_id_seq OWNED BY dpboost.model_name.name_id;
CREATE UNIQUE INDEX model_name_key ON dpboost.model_name (name, (owner::oid)) WHERE owner::oid <> 0;
CREATE INDEX model_name_name ON dpboost.model_name (name);
COMMENT ON SEQUENCE dpboost.model_name_id_seq IS 'numbers the names of models';
COMMENT ON TABLE dpboost.model_name IS 'names of models, each with the role that it belongs to';
COMMENT ON COLUMN dpboost.model_name.name_id IS 'number of the name';
COMMENT ON COLUMN dpboost.model_name.owner IS 'role that the name and its models belong to';
COMMENT ON COLUMN dpboost.model_name.name IS 'the name, without owner and version';
COMMENT ON COLUMN dpboost.model_name.last_import IS 'the last version that was imported under it; never used again';
COMMENT ON COLUMN dpboost.model_name.description IS 'what its owner says about it';
COMMENT ON COLUMN dpboost.model_name.versions_before IS
    'versions up to this one have been used under the full name by models that were given away';

-- Figures as people write them: six digits, rounded up.
CREATE FUNCTION dpboost.rounded_up(float8) RETURNS float8
    AS 'MODULE_PATHNAME', 'dpboost_rounded_up' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.rounded_up(float8) IS 'a figure to six digits, not below it';

CREATE SEQUENCE dpboost.release_id_seq;
CREATE TABLE dpboost.ledger (
    release_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.release_id_seq'),
    released_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    role dpboost.role_ref NOT NULL,
    role_name name NOT NULL,
    name_id bigint NOT NULL,
    model text NOT NULL,
    version int NOT NULL,
    method text NOT NULL,
    task text NOT NULL,
    epsilon float8 NOT NULL,
    delta float8 NOT NULL,
    privacy_unit name,
    relations text[] NOT NULL,
    plan bytea NOT NULL,
    curve float8[] NOT NULL CHECK (pg_catalog.array_length(curve, 1) = 64),
    pure_epsilon float8 NOT NULL,
    claim bytea NOT NULL DEFAULT '',
    noise_multiplier float8,
    calibrated_by text,
    kind text NOT NULL DEFAULT 'training' CHECK (kind IN ('training', 'evaluation', 'choice'))
);
ALTER TABLE dpboost.ledger ALTER COLUMN curve SET STORAGE PLAIN;
CREATE INDEX ledger_released_at ON dpboost.ledger (released_at);
CREATE INDEX ledger_model ON dpboost.ledger (name_id, version);
ALTER SEQUENCE dpboost.release_id_seq OWNED BY dpboost.ledger.release_id;
COMMENT ON SEQUENCE dpboost.release_id_seq IS 'numbers the releases';
COMMENT ON TABLE dpboost.ledger IS 'every release that was ever paid for; rows are added by the ledger worker and never changed';
COMMENT ON COLUMN dpboost.ledger.release_id IS 'number of the release';
COMMENT ON COLUMN dpboost.ledger.released_at IS 'when it was charged';
COMMENT ON COLUMN dpboost.ledger.role IS 'role that trained';
COMMENT ON COLUMN dpboost.ledger.role_name IS 'its name then';
COMMENT ON COLUMN dpboost.ledger.name_id IS 'name of the model with its owner, see model_name';
COMMENT ON COLUMN dpboost.ledger.model IS 'name of the model';
COMMENT ON COLUMN dpboost.ledger.version IS 'version of the model; never used again';
COMMENT ON COLUMN dpboost.ledger.method IS 'how it was trained';
COMMENT ON COLUMN dpboost.ledger.task IS 'regression or classification';
COMMENT ON COLUMN dpboost.ledger.epsilon IS 'privacy loss of this release alone';
COMMENT ON COLUMN dpboost.ledger.delta IS 'privacy loss of this release alone';
COMMENT ON COLUMN dpboost.ledger.privacy_unit IS 'column that identified a person; NULL: each row was one';
COMMENT ON COLUMN dpboost.ledger.relations IS 'names of the relations that were read';
COMMENT ON COLUMN dpboost.ledger.plan IS 'events of the training, from which the accountant can be run again';
COMMENT ON COLUMN dpboost.ledger.curve IS 'Renyi divergence at the 64 orders';
COMMENT ON COLUMN dpboost.ledger.pure_epsilon IS 'the same at order infinity: its epsilon at delta 0';
COMMENT ON COLUMN dpboost.ledger.noise_multiplier IS 'noise of its main mechanism, in sensitivities';
COMMENT ON COLUMN dpboost.ledger.calibrated_by IS 'the proof that set the noise: gdp, pld, rdp, pure, or budget';
COMMENT ON COLUMN dpboost.ledger.kind IS 'what was released: a training gives a model, an evaluation or a choice is about one';
COMMENT ON COLUMN dpboost.ledger.claim IS 'hash of a secret that the training alone knows, and without which its model is not taken';

-- A row is added in the commit of the model and stays when the model is dropped. A release without one has no model: it
-- trains still, or it was cancelled, failed or crashed after it was charged.
CREATE TABLE dpboost.delivery (
    release_id bigint PRIMARY KEY,
    delivered_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
COMMENT ON TABLE dpboost.delivery IS 'the releases whose model was stored; rows are added by the ledger worker and never changed';
COMMENT ON COLUMN dpboost.delivery.release_id IS 'the release';
COMMENT ON COLUMN dpboost.delivery.delivered_at IS 'when its model was stored';

-- What releases add up to, as the core counts it: curve, mu squared and events, rounded up.
CREATE FUNCTION dpboost.add_cost(spent bytea, plan bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dpboost_add_cost' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.add_cost(bytea, bytea) IS 'a sum of releases with one more; NULL is the empty sum';
CREATE AGGREGATE dpboost.spent(plan bytea) (SFUNC = dpboost.add_cost, STYPE = bytea);
COMMENT ON AGGREGATE dpboost.spent(bytea) IS 'what releases add up to, from the plans in the ledger';

CREATE SEQUENCE dpboost.charge_id_seq;
CREATE TABLE dpboost.charge (
    release_id bigint NOT NULL,
    relation_id bigint NOT NULL,
    role dpboost.role_ref NOT NULL,
    role_name name NOT NULL,
    direct boolean NOT NULL,
    privacy_unit name,
    charge_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.charge_id_seq')
);
ALTER SEQUENCE dpboost.charge_id_seq OWNED BY dpboost.charge.charge_id;
CREATE INDEX charge_relation ON dpboost.charge (relation_id, privacy_unit, release_id);
COMMENT ON SEQUENCE dpboost.charge_id_seq IS 'numbers the rows of charge';
CREATE INDEX charge_last ON dpboost.charge (relation_id, release_id);
CREATE INDEX charge_release ON dpboost.charge (release_id);
COMMENT ON TABLE dpboost.charge IS 'whom a release is charged to: the relations it read, the role and the groups it acted for';
COMMENT ON COLUMN dpboost.charge.release_id IS 'the release';
COMMENT ON COLUMN dpboost.charge.relation_id IS 'the relation, see relation_name';
COMMENT ON COLUMN dpboost.charge.role IS 'role that trained, or one with an allowance whose privileges it had';
COMMENT ON COLUMN dpboost.charge.role_name IS 'its name then';
COMMENT ON COLUMN dpboost.charge.direct IS 'the relation was read as a whole, not as a parent of a partition that was';
COMMENT ON COLUMN dpboost.charge.privacy_unit IS
    'column of the relation whose equal values were one person; NULL: each of its rows; empty: nobody, it was not read row by row';
COMMENT ON COLUMN dpboost.charge.charge_id IS 'number of the row';

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
CREATE TABLE dpboost.total (
    total_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.total_id_seq'),
    relation_ids bigint[] NOT NULL,
    direct_ids bigint[] NOT NULL,
    roles dpboost.role_ref[] NOT NULL,
    role_names name[] NOT NULL,
    first_release_id bigint NOT NULL,
    last_release_id bigint NOT NULL,
    spent bytea NOT NULL
) WITH (fillfactor = 40);
ALTER TABLE dpboost.total ALTER COLUMN spent SET STORAGE PLAIN;
CREATE INDEX total_relations ON dpboost.total USING gin (relation_ids);
ALTER SEQUENCE dpboost.total_id_seq OWNED BY dpboost.total.total_id;
COMMENT ON SEQUENCE dpboost.total_id_seq IS 'numbers the lines of totals';
COMMENT ON TABLE dpboost.total IS
    'what the ledger adds up to, one line for all releases that were charged alike; changed by the ledger worker only, in the commit of a charge';
COMMENT ON COLUMN dpboost.total.total_id IS 'number of the line';
COMMENT ON COLUMN dpboost.total.relation_ids IS 'the relations that its releases were charged to, see relation_name';
COMMENT ON COLUMN dpboost.total.direct_ids IS 'those of them that were read as a whole';
COMMENT ON COLUMN dpboost.total.roles IS 'the roles that they were charged to';
COMMENT ON COLUMN dpboost.total.role_names IS 'their names then';
COMMENT ON COLUMN dpboost.total.first_release_id IS 'its first release';
COMMENT ON COLUMN dpboost.total.last_release_id IS 'its last release';
COMMENT ON COLUMN dpboost.total.spent IS 'how many they are, their summed curves, mu squared and events, rounded up';

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
    release_id bigint UNIQUE,
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
CREATE TABLE dpboost.model_grant (
    name_id bigint NOT NULL,
    grantee dpboost.role_ref NOT NULL,
    granted_by dpboost.role_ref NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    model_grant_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.model_grant_id_seq')
);
ALTER SEQUENCE dpboost.model_grant_id_seq OWNED BY dpboost.model_grant.model_grant_id;
CREATE UNIQUE INDEX model_grant_key ON dpboost.model_grant (name_id, (grantee::oid)) WHERE grantee::oid <> 0;
COMMENT ON SEQUENCE dpboost.model_grant_id_seq IS 'numbers the rows of model_grant';
COMMENT ON TABLE dpboost.model_grant IS 'roles that may use a model of another role';
COMMENT ON COLUMN dpboost.model_grant.name_id IS 'the model, see model_name; all its versions are meant';
COMMENT ON COLUMN dpboost.model_grant.grantee IS 'role that may use it; its members may too';
COMMENT ON COLUMN dpboost.model_grant.granted_by IS 'role that shared it';
COMMENT ON COLUMN dpboost.model_grant.granted_at IS 'when';
COMMENT ON COLUMN dpboost.model_grant.model_grant_id IS 'number of the row';
