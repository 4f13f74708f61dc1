
-- ---- every person's own budget --------------------------------------------------------------------------------------
-- For the owner of the relation or a superuser, who may see its rows anyway: what a person has spent follows from rows.

CREATE FUNCTION dpboost_unit_budget(relation regclass, unit text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_unit_budget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_unit_budget(regclass, text) IS
    'what one person has spent of its budget, for the owner of the rows: the answer to a data access request';

CREATE FUNCTION dpboost_forget_unit(relation regclass, unit text, tombstone boolean DEFAULT true) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_forget_unit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_forget_unit(regclass, text, boolean) IS
    'closes the account of a person whose rows are gone: a salted hash stays, used up, so that nobody starts anew under the same value; with tombstone => false nothing stays, and somebody would';

CREATE FUNCTION dpboost_merge_units(relation regclass, from_unit text, into_unit text) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_merge_units' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_merge_units(regclass, text, text) IS
    'two values have turned out to be one person: what both have spent is the second''s, and rows that still have the first value take part in nothing more';
