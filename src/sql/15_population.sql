
-- ---- populations ----------------------------------------------------------------------------------------------------
-- Tables that hold the same persons, under one cap. A row of population_member stays when the table leaves: what is
-- released from it counts for good. A population that was dropped stays too, and comes back with all that was spent.

CREATE SEQUENCE dpboost.population_id_seq;
CREATE TABLE dpboost.population (
    population_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.population_id_seq'),
    name name NOT NULL CHECK (name <> ''),
    owner dpboost.role_ref NOT NULL,
    epsilon float8 NOT NULL CHECK (epsilon > 0 AND epsilon < 'Infinity'),
    delta float8 NOT NULL CHECK (delta >= 0 AND delta < 1),
    rdp_order bigint NOT NULL CHECK (rdp_order > 1),
    dropped boolean NOT NULL DEFAULT false,
    set_by dpboost.role_ref NOT NULL,
    set_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER SEQUENCE dpboost.population_id_seq OWNED BY dpboost.population.population_id;
CREATE UNIQUE INDEX population_name ON dpboost.population (name) WHERE NOT dropped;
COMMENT ON SEQUENCE dpboost.population_id_seq IS 'numbers the populations';
COMMENT ON TABLE dpboost.population IS 'caps over several tables that hold the same persons';
COMMENT ON COLUMN dpboost.population.population_id IS 'number of the population';
COMMENT ON COLUMN dpboost.population.name IS 'its name';
COMMENT ON COLUMN dpboost.population.owner IS 'role that created it, and may add its tables';
COMMENT ON COLUMN dpboost.population.epsilon IS 'limit';
COMMENT ON COLUMN dpboost.population.delta IS 'limit';
COMMENT ON COLUMN dpboost.population.rdp_order IS 'Renyi order at which spending is counted, fixed when the limit was set';
COMMENT ON COLUMN dpboost.population.dropped IS 'it has no tables, and is shown no more';
COMMENT ON COLUMN dpboost.population.set_by IS 'role that set the limit';
COMMENT ON COLUMN dpboost.population.set_at IS 'when';

CREATE TABLE dpboost.population_member (
    population_id bigint NOT NULL,
    relation_id bigint NOT NULL,
    privacy_unit name NOT NULL,
    earlier_until bigint NOT NULL,
    joined_by dpboost.role_ref NOT NULL,
    joined_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (population_id, relation_id)
);
COMMENT ON TABLE dpboost.population_member IS 'the tables that ever were in a population; rows are never changed';
COMMENT ON COLUMN dpboost.population_member.population_id IS 'the population';
COMMENT ON COLUMN dpboost.population_member.relation_id IS 'the table, see relation_name';
COMMENT ON COLUMN dpboost.population_member.privacy_unit IS 'its privacy unit when it first joined, empty if each row is one: what a release must protect even after the table has left';
COMMENT ON COLUMN dpboost.population_member.earlier_until IS 'releases up to this one were accepted then, whatever they protect';
COMMENT ON COLUMN dpboost.population_member.joined_by IS 'role that added it first';
COMMENT ON COLUMN dpboost.population_member.joined_at IS 'when';

CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.population_member
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
COMMENT ON TRIGGER keep_ledger ON dpboost.population_member IS 'what counts once counts for good';
REVOKE ALL ON dpboost.population, dpboost.population_member FROM PUBLIC;
REVOKE ALL ON SEQUENCE dpboost.population_id_seq FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dpboost.population_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.population', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.population_member', '');
