
-- ---- train ----------------------------------------------------------------------------------------------------------
-- Everything that draws noise is VOLATILE and PARALLEL UNSAFE: each call is a release with a charge of its own, which is
-- committed before the first draw. The aggregate is the exception: parallel workers read rows, and pass them on to the
-- session's own process, which alone charges and draws. The functions below it take or give what is internal: only the
-- executor can call them, and only the aggregate's owner may.

CREATE FUNCTION dpboost.train_step(internal, text, jsonb, "any", VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'dpboost_train_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION dpboost.train_step(internal, text, jsonb, "any", VARIADIC "any") IS
    'takes one row into a training; internal to dpboost_train';

CREATE FUNCTION dpboost.train_final(internal) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_train_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost.train_final(internal) IS
    'charges, trains and releases a model; internal to dpboost_train';

CREATE FUNCTION dpboost.train_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'dpboost_train_combine' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.train_combine(internal, internal) IS
    'takes the rows that another process has read into a training; internal to dpboost_train';

CREATE FUNCTION dpboost.train_serialize(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dpboost_train_serialize' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.train_serialize(internal) IS
    'the rows that a process has read, for the one that trains; internal to dpboost_train';

CREATE FUNCTION dpboost.train_deserialize(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'dpboost_train_deserialize' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.train_deserialize(bytea, internal) IS
    'what train_serialize wrote; internal to dpboost_train';

REVOKE ALL ON FUNCTION dpboost.train_step(internal, text, jsonb, "any", VARIADIC "any"), dpboost.train_final(internal),
    dpboost.train_combine(internal, internal), dpboost.train_serialize(internal),
    dpboost.train_deserialize(bytea, internal) FROM PUBLIC;

-- The final function consumes the state, so PostgreSQL refuses OVER and shares no state between two calls.
CREATE AGGREGATE dpboost_train(model text, options jsonb, target "any", VARIADIC features "any") (
    SFUNC = dpboost.train_step,
    STYPE = internal,
    FINALFUNC = dpboost.train_final,
    FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dpboost.train_combine,
    SERIALFUNC = dpboost.train_serialize,
    DESERIALFUNC = dpboost.train_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE dpboost_train(text, jsonb, "any", VARIADIC "any") IS
    'trains a differentially private model on the rows of a query: features as columns, one array, or one row';

-- The same for engines that run an aggregate in parts on several servers: plain types, and a state that may travel as text.
-- Such an engine asks whether its user may call the functions below, so everybody may; they refuse to be called by hand.
CREATE TYPE dpboost.train_state;
COMMENT ON TYPE dpboost.train_state IS 'rows that a server has collected for a training; internal to dpboost_train_rows';

CREATE FUNCTION dpboost.train_state_in(cstring) RETURNS dpboost.train_state
    AS 'MODULE_PATHNAME', 'dpboost_train_state_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.train_state_in(cstring) IS 'input of dpboost.train_state';

CREATE FUNCTION dpboost.train_state_out(dpboost.train_state) RETURNS cstring
    AS 'MODULE_PATHNAME', 'dpboost_train_state_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.train_state_out(dpboost.train_state) IS 'output of dpboost.train_state';

CREATE TYPE dpboost.train_state (
    INPUT = dpboost.train_state_in, OUTPUT = dpboost.train_state_out, INTERNALLENGTH = VARIABLE, STORAGE = extended);

CREATE FUNCTION dpboost.train_rows_step(dpboost.train_state, text, jsonb, float8, float8[]) RETURNS dpboost.train_state
    AS 'MODULE_PATHNAME', 'dpboost_train_rows_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION dpboost.train_rows_step(dpboost.train_state, text, jsonb, float8, float8[]) IS
    'takes one row into a training; internal to dpboost_train_rows';

CREATE FUNCTION dpboost.train_rows_step(dpboost.train_state, text, jsonb, float8, float8[], text)
    RETURNS dpboost.train_state
    AS 'MODULE_PATHNAME', 'dpboost_train_rows_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION dpboost.train_rows_step(dpboost.train_state, text, jsonb, float8, float8[], text) IS
    'takes one row of a person into a training; internal to dpboost_train_rows';

CREATE FUNCTION dpboost.train_rows_combine(dpboost.train_state, dpboost.train_state) RETURNS dpboost.train_state
    AS 'MODULE_PATHNAME', 'dpboost_train_rows_combine' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION dpboost.train_rows_combine(dpboost.train_state, dpboost.train_state) IS
    'takes the rows that another server has collected into a training; internal to dpboost_train_rows';

CREATE FUNCTION dpboost.train_rows_final(dpboost.train_state) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_train_rows_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost.train_rows_final(dpboost.train_state) IS
    'charges, trains and releases a model; internal to dpboost_train_rows';

CREATE AGGREGATE dpboost_train_rows(model text, options jsonb, target float8, features float8[]) (
    SFUNC = dpboost.train_rows_step,
    STYPE = dpboost.train_state,
    FINALFUNC = dpboost.train_rows_final,
    FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dpboost.train_rows_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE dpboost_train_rows(text, jsonb, float8, float8[]) IS
    'trains like dpboost_train, with plain types, so that engines can run it in parts on several servers; charges the relation that the options name';

CREATE AGGREGATE dpboost_train_rows(model text, options jsonb, target float8, features float8[], unit text) (
    SFUNC = dpboost.train_rows_step,
    STYPE = dpboost.train_state,
    FINALFUNC = dpboost.train_rows_final,
    FINALFUNC_MODIFY = READ_WRITE,
    COMBINEFUNC = dpboost.train_rows_combine,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE dpboost_train_rows(text, jsonb, float8, float8[], text) IS
    'the same for a relation with a privacy unit, whose text comes last';

CREATE FUNCTION dpboost_train_on(
    model text, relation regclass, target name, epsilon float8, delta float8 DEFAULT NULL,
    features name[] DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_train_on' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_train_on(text, regclass, name, float8, float8, name[], jsonb) IS
    'trains a differentially private model on a table or view, with a privacy budget or SELECT on it';

CREATE FUNCTION dpboost_train_groups(
    model text, groups name, relation regclass, target name, epsilon float8, delta float8 DEFAULT NULL,
    features name[] DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_train_groups' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_train_groups(text, name, regclass, name, float8, float8, name[], jsonb) IS
    'trains a model for each public level of a column, charged as one: nobody may have rows in two groups, and the schema must say so';

CREATE FUNCTION dpboost_estimate(
    relation regclass, target name, epsilon float8, delta float8 DEFAULT NULL,
    features name[] DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_estimate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_estimate(regclass, name, float8, float8, name[], jsonb) IS
    'what dpboost_train_on would cost and leave; reads no row and charges nothing';

CREATE FUNCTION dpboost_update(
    model text, relation regclass, epsilon float8, delta float8 DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_update' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_update(text, regclass, float8, float8, jsonb) IS
    'trains the next version of a model of yours, which goes on from its live version, or from name@version, with the rows of today';

CREATE FUNCTION dpboost_estimate_update(
    model text, relation regclass, epsilon float8, delta float8 DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_estimate_update' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_estimate_update(text, regclass, float8, float8, jsonb) IS
    'what dpboost_update would cost and leave; reads no row and charges nothing';

-- ---- progress -------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost.running_trainings(
    OUT pid int, OUT role_id oid, OUT relation_id oid, OUT rounds_done bigint, OUT rounds_total bigint)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_running_trainings' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED ROWS 5;
COMMENT ON FUNCTION dpboost.running_trainings() IS 'trainings that run now in this database; see dpboost_progress';

CREATE VIEW dpboost_progress ( -- trainings that run now and are paid for, of roles whose activity the reader may see
    pid, -- process that trains
    role, -- role of the session that trains
    relation, -- relation that dpboost_train_on was called for; NULL for a query
    rounds_done, -- rounds done
    rounds_total) -- rounds planned; depends on the options alone
    AS
    SELECT pid, pg_catalog.pg_get_userbyid(role_id) AS role, relation_id::pg_catalog.regclass AS relation,
           rounds_done, rounds_total
    FROM dpboost.running_trainings();
GRANT SELECT ON dpboost_progress TO PUBLIC;

-- ---- methods --------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost.list_methods(
    OUT method text, OUT parts text, OUT paper text, OUT when_to_use text, OUT options jsonb)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_list_methods' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 12;
COMMENT ON FUNCTION dpboost.list_methods() IS 'values of the option "method"; see dpboost_methods';

CREATE VIEW dpboost_methods ( -- methods of training: what they are made of, where they come from, when to use them
    method, -- value of the option "method"
    parts, -- parts that it combines; each can be chosen by an option of its own
    paper, -- where it was published
    when_to_use, -- what it is good for
    options) -- its own options, with the values that they take and what they mean; others go with every method
    AS
    SELECT method, parts, paper, when_to_use, options FROM dpboost.list_methods();
GRANT SELECT ON dpboost_methods TO PUBLIC;
