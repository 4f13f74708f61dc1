
-- ---- populations ----------------------------------------------------------------------------------------------------
-- Tables that hold the same persons, under one cap. A row of population_member stays when the table leaves: what is
-- released from it counts for good. A population that was dropped stays too, and comes back with all that was spent.

CREATE SEQUENCE dpboost.population_id_seq;
CREATE TABLE dpboost.population ( -- caps over several tables that hold the same persons
    population_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.population_id_seq'), -- number of the population
    name name NOT NULL CHECK (name <> ''), -- its name
    owner dpboost.role_ref NOT NULL, -- role that created it, and may add its tables
    epsilon float8 NOT NULL CHECK (epsilon > 0 AND epsilon < 'Infinity'), -- limit
    delta float8 NOT NULL CHECK (delta >= 0 AND delta < 1), -- limit
    rdp_order bigint NOT NULL CHECK (rdp_order > 1), -- Renyi order at which spending is counted, fixed when the limit was
        -- set
    dropped boolean NOT NULL DEFAULT false, -- it has no tables, and is shown no more
    set_by dpboost.role_ref NOT NULL, -- role that set the limit
    set_at timestamptz NOT NULL DEFAULT pg_catalog.now(), -- when
    unit_state_id bigint -- where every person has an account, see unit_state; NULL: releases are counted
);
ALTER SEQUENCE dpboost.population_id_seq OWNED BY dpboost.population.population_id;
CREATE UNIQUE INDEX population_name ON dpboost.population (name) WHERE NOT dropped;
COMMENT ON SEQUENCE dpboost.population_id_seq IS 'numbers the populations';

CREATE TABLE dpboost.population_member ( -- the tables that ever were in a population; rows are never changed
    population_id bigint NOT NULL, -- the population
    relation_id bigint NOT NULL, -- the table, see relation_name
    privacy_unit name NOT NULL, -- its privacy unit when it first joined, empty if each row is one: what a release must
        -- protect even after the table has left
    earlier_until bigint NOT NULL, -- releases up to this one were accepted then, whatever they protect
    joined_by dpboost.role_ref NOT NULL, -- role that added it first
    joined_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), -- when
    PRIMARY KEY (population_id, relation_id)
);

CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.population_member
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
COMMENT ON TRIGGER keep_ledger ON dpboost.population_member IS 'what counts once counts for good';
REVOKE ALL ON dpboost.population, dpboost.population_member FROM PUBLIC;
REVOKE ALL ON SEQUENCE dpboost.population_id_seq FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dpboost.population_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.population', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.population_member', '');
