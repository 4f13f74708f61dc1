
-- ---- every person's own budget --------------------------------------------------------------------------------------
-- Where a limit is accounted by unit, every person has an account of what it has spent. Who has one, and what is in it,
-- follows from rows: no role reads these tables, no view shows them. Keys are salted hashes, apart from what was spent, so
-- that a charge does not write them again, and what is reserved is apart from both. Written by the ledger worker with a charge and with its result, and by the
-- owner's functions.

CREATE SEQUENCE dpboost.unit_state_id_seq;
CREATE TABLE dpboost.unit_state ( -- the persons of one limit that is accounted by unit
    unit_state_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.unit_state_id_seq'), -- number; the limit that has
        -- it names it
    generation bigint NOT NULL DEFAULT 0, -- counts the changes, so that nobody charges what he has not seen
    old_buckets int NOT NULL DEFAULT 0, -- how many buckets there are
    new_buckets int NOT NULL DEFAULT 0, -- and how many for accounts that are newer than those, numbered from 2^30
    units bigint NOT NULL DEFAULT 0, -- accounts in all of them: if some are lost, nothing is trained
    opened bigint NOT NULL DEFAULT 0, -- with those that were removed since
    moved bigint NOT NULL DEFAULT 0, -- what these were at most when the new ones moved to the old ones, with noise
    salt bytea NOT NULL CHECK (pg_catalog.length(salt) = 16), -- of the keys
    key_family "char" NOT NULL, -- kind of type that tells persons apart: another one would give everybody a new account
    earlier_ids bigint[] NOT NULL DEFAULT '{}', -- relations whose releases were counted when accounts were opened
    earlier_until bigint NOT NULL DEFAULT 0 -- the last release then
);
ALTER SEQUENCE dpboost.unit_state_id_seq OWNED BY dpboost.unit_state.unit_state_id;
COMMENT ON SEQUENCE dpboost.unit_state_id_seq IS 'numbers the rows of unit_state';

CREATE TABLE dpboost.unit_bucket ( -- accounts of persons, some thousands to a row
    unit_state_id bigint NOT NULL, -- whose they are
    bucket int NOT NULL, -- its place: keys ascend through the old ones, and through the new ones
    keys bytea NOT NULL, -- 16 bytes for each of 4096, ascending, the first of them by a bit or two; where there is nobody, bytes 0xff
    spent bytea NOT NULL, -- 4 bytes for each: what it has spent, in 2^-31 of the limit; above that: used up
    reserved bytea NOT NULL DEFAULT '', -- empty, or what a release has reserved that runs or broke off: 4 bytes for how
        -- much, then a bit for each that takes part
    PRIMARY KEY (unit_state_id, bucket)
);
ALTER TABLE dpboost.unit_bucket ALTER COLUMN keys SET STORAGE EXTERNAL, ALTER COLUMN spent SET STORAGE EXTERNAL,
    ALTER COLUMN reserved SET STORAGE PLAIN; -- nothing is compressed: how much is written must not tell what it is

REVOKE ALL ON dpboost.unit_state, dpboost.unit_bucket FROM PUBLIC;
REVOKE ALL ON SEQUENCE dpboost.unit_state_id_seq FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dpboost.unit_state_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.unit_state', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.unit_bucket', '');
