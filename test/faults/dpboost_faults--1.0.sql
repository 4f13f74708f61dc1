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

-- dpboost_train up to the bytes that a parallel worker sends; and from those given to dpboost_fault_carry on.
CREATE AGGREGATE dpboost_fault_sent(model text, options jsonb, target "any", VARIADIC features "any") (
    SFUNC = dpboost.train_step, STYPE = internal, FINALFUNC = dpboost.train_serialize);
CREATE FUNCTION dpboost_fault_carry(bytea) RETURNS void AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT;
CREATE FUNCTION dpboost_fault_take(internal, text, jsonb, "any", VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
CREATE FUNCTION dpboost_fault_taken(internal) RETURNS boolean AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
CREATE AGGREGATE dpboost_fault_took(model text, options jsonb, target "any", VARIADIC features "any") (
    SFUNC = dpboost_fault_take, STYPE = internal, FINALFUNC = dpboost_fault_taken);

-- An engine that ends dpboost_train_rows inside an aggregate of its own.
CREATE FUNCTION dpboost_fault_engine_final(dpboost.train_state) RETURNS jsonb AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE;
CREATE AGGREGATE dpboost_fault_engine(dpboost.train_state) (
    SFUNC = dpboost.train_rows_combine, STYPE = dpboost.train_state, FINALFUNC = dpboost_fault_engine_final,
    FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE dpboost_fault_part(model text, options jsonb, target float8, features float8[], unit text) (
    SFUNC = dpboost.train_rows_step, STYPE = dpboost.train_state);
