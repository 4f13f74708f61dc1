\echo Use "CREATE EXTENSION dpboost_faults" to load this file. \quit

CREATE FUNCTION dpboost_fault_accumulate(internal, kind text, fail_at bigint) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
CREATE FUNCTION dpboost_fault_finish(internal) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Reads its rows and fails in the way that is named at the row that is given.
CREATE AGGREGATE dpboost_fault(kind text, fail_at bigint) (
    SFUNC = dpboost_fault_accumulate, STYPE = internal, FINALFUNC = dpboost_fault_finish);

CREATE FUNCTION dpboost_fault_resident_memory() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;

-- Sends a request to the ledger worker, damaged in the way that is named, and says how it ended.
CREATE FUNCTION dpboost_fault_request(kind text, release_id bigint, claim bytea, caller regrole) RETURNS text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
-- Starts a ledger worker whose caller has gone; true when it has ended.
CREATE FUNCTION dpboost_fault_late_worker() RETURNS boolean AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
