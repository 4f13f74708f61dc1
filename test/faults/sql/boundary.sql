-- Whatever happens inside the core, the caller sees an ordinary error with the right SQLSTATE, and the session goes on.
-- Each fault is met in the middle of an aggregate over 100,000 rows.
CREATE EXTENSION dpboost_faults;
CREATE TABLE many AS SELECT i FROM generate_series(1, 100000) i;
VACUUM ANALYZE many;
\set SHOW_CONTEXT never

-- show an error's SQLSTATE and texts, but not the place in PostgreSQL's source
CREATE FUNCTION fault(kind text, fail_at bigint DEFAULT 50000) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text; message text; detail text; hint text;
BEGIN
    PERFORM dpboost_fault(kind, fail_at) FROM many;
    RETURN 'no error';
EXCEPTION WHEN OTHERS OR query_canceled THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' / ', state, message, nullif(detail, ''), nullif(hint, ''));
END $$;

-- nothing goes wrong
SELECT dpboost_fault('none', 0) FROM many;
SELECT dpboost_fault('none', 0) FROM many WHERE false;

-- C++ exceptions
SELECT fault('bad_alloc');
SELECT fault('huge_vector');
SELECT fault('runtime_error');
SELECT fault('unknown');
SELECT fault('unknown_object');

-- our own errors
SELECT fault(kind) FROM unnest('{invalid_parameter, undefined_object, wrong_type, unsupported, budget_exhausted,
    out_of_memory, limit_exceeded, corrupted, canceled, internal}'::text[]) kind;

-- a message that is too long is cut between characters
SELECT length(fault('long_message')), right(fault('long_message'), 3);

-- PostgreSQL errors inside the core pass unchanged, even if the core swallows them
SELECT fault('ereport');
SELECT fault('swallow');

-- cancellation: a signal, a timeout; the session goes on
SELECT fault('self_cancel');
SET statement_timeout = '100ms';
\set VERBOSITY sqlstate
SELECT dpboost_fault('wait', 50000) FROM many;
RESET statement_timeout;
SELECT count(*) FROM many;

-- at the first and at the last row, and in the second of two aggregates
SELECT fault('runtime_error', 1);
SELECT fault('runtime_error', 100000);
SELECT dpboost_fault('none', 0), dpboost_fault('unknown', 100) FROM many;

-- under GROUP BY every group has a state of its own, and all are freed
SELECT count(f) FROM (SELECT dpboost_fault('none', 0) f FROM many GROUP BY i % 50) g;

-- 1,000 errors of each kind leak nothing: each would lose at least 64 kB, or 1 MB with the state
CREATE FUNCTION growth_after_errors(kind text, errors int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before bigint;
BEGIN
    FOR i IN 1..50 LOOP  -- warm up: caches, the C++ runtime's own buffers
        PERFORM fault(kind, 100);
    END LOOP;
    before := dpboost_fault_resident_memory();
    FOR i IN 1..errors LOOP
        PERFORM fault(kind, 100);
    END LOOP;
    RETURN dpboost_fault_resident_memory() - before;
END $$;
SELECT kind, growth_after_errors(kind, 1000) < 1024 * 1024 AS grew_less_than_1_mb
FROM unnest('{bad_alloc, runtime_error, invalid_parameter, unknown, unknown_object, ereport, swallow,
    self_cancel}'::text[]) kind;

-- and the measurement sees a leak when there is one: an ereport past a live C++ object, which the boundary forbids (what the
-- groups above have freed, up to 50 MB, may be taken first)
SELECT growth_after_errors('leak', 2000) > 32 * 1024 * 1024 AS leak_is_seen;

DROP TABLE many;
