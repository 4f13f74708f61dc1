
-- ---- evaluate -------------------------------------------------------------------------------------------------------
-- What a model is worth, privately, for those who may not read the rows; and exactly, for those who may. An evaluation is
-- a release like a training: charged first, drawn once, its result committed.

CREATE TABLE dpboost.evaluation ( -- what evaluations found, of hold-outs too; rows are added by the ledger worker, with the
    -- delivery, and never changed
    release_id bigint PRIMARY KEY, -- its charge in the ledger; of a hold-out that of the training
    model_id bigint NOT NULL, -- the model, which may have been dropped since
    result jsonb NOT NULL -- figures with their intervals, and score bins; of a choice the name of a model
);
CREATE INDEX evaluation_model ON dpboost.evaluation (model_id);
CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.evaluation
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
COMMENT ON TRIGGER keep_ledger ON dpboost.evaluation IS 'the ledger is append-only';
REVOKE ALL ON dpboost.evaluation FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dpboost.evaluation', '');

CREATE FUNCTION dpboost_evaluate(
    model text, relation regclass, target name, epsilon float8, delta float8 DEFAULT NULL,
    options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_evaluate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_evaluate(text, regclass, name, float8, float8, jsonb) IS
    'how good a model is on a table or view, with a privacy budget or SELECT on it: figures with 95 % intervals, differentially private';

CREATE FUNCTION dpboost_best(models text[], relation regclass, target name, epsilon float8, options jsonb DEFAULT '{}')
    RETURNS text
    AS 'MODULE_PATHNAME', 'dpboost_best' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_best(text[], regclass, name, float8, jsonb) IS
    'one of several models that does well on a table or view, chosen with differential privacy';

CREATE FUNCTION dpboost.metrics_step(internal, "any", float8) RETURNS internal
    AS 'MODULE_PATHNAME', 'dpboost_metrics_step' LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost.metrics_step(internal, "any", float8) IS 'takes one row; internal to dpboost_metrics';
CREATE FUNCTION dpboost.metrics_final(internal) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_metrics_final' LANGUAGE C IMMUTABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost.metrics_final(internal) IS 'the figures; internal to dpboost_metrics';
CREATE AGGREGATE dpboost_metrics(target "any", prediction float8) (
    SFUNC = dpboost.metrics_step,
    STYPE = internal,
    FINALFUNC = dpboost.metrics_final,
    FINALFUNC_MODIFY = READ_WRITE,
    PARALLEL = UNSAFE
);
COMMENT ON AGGREGATE dpboost_metrics("any", float8) IS
    'exact figures of predictions, NOT private: a boolean target with probabilities, or a numeric one with values';

CREATE VIEW dpboost_evaluations ( -- what evaluations found: one's own, and all from one's own tables; reading it
    -- costs nothing
    release_id, -- number of the release
    model, -- name of the model
    version, -- version of the model
    owner, -- role that the model's name belongs to
    relations, -- relations that were read
    evaluated_at, -- when it was charged
    epsilon, -- privacy loss of the release
    delta, -- privacy loss of the release
    kind, -- evaluation; training: of the people that the training had set aside; choice: of one among models
    model_id, -- number of the model
    metrics, -- each figure as [value, lower, upper], the interval at 95 %; value null where noise wins
    bins) -- score bins of a classifier; dpboost_evaluation_bins shows them as rows
    WITH (security_barrier) AS
    SELECT e.release_id, l.model, l.version, l.owner, l.relations, l.released_at AS evaluated_at, l.epsilon, l.delta,
           l.kind, e.model_id, e.result - 'bins' - 'epsilon' - 'delta' AS metrics, e.result -> 'bins' AS bins
    FROM dpboost.evaluation e JOIN @extschema@.dpboost_ledger l USING (release_id);
GRANT SELECT ON dpboost_evaluations TO PUBLIC;

CREATE FUNCTION dpboost.model_id(model text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'dpboost_model_id' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost.model_id(text) IS 'number of the model that a name means for the caller';

-- Its body is parsed here, so that callers need no right to the schema of the catalog.
CREATE FUNCTION dpboost_evaluation_bins(
    model text, release_id bigint DEFAULT NULL, OUT bin int, OUT lower float8, OUT upper float8, OUT predicted float8,
    OUT observed float8, OUT low float8, OUT high float8, OUT rows float8, OUT true_positive_rate float8,
    OUT false_positive_rate float8, OUT lift float8) RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 64
BEGIN ATOMIC
    SELECT b.number::int, (b.value ->> 'lower')::float8, (b.value ->> 'upper')::float8,
           (b.value ->> 'predicted')::float8, (b.value ->> 'observed')::float8, (b.value ->> 'low')::float8,
           (b.value ->> 'high')::float8, (b.value ->> 'rows')::float8, (b.value ->> 'true_positive_rate')::float8,
           (b.value ->> 'false_positive_rate')::float8, (b.value ->> 'lift')::float8
    FROM (SELECT e.bins FROM @extschema@.dpboost_evaluations AS e
          WHERE e.model_id = dpboost.model_id($1) AND ($2 IS NULL OR e.release_id = $2) AND e.kind <> 'choice'
          ORDER BY e.release_id DESC LIMIT 1) AS last,
         pg_catalog.jsonb_array_elements(last.bins) WITH ORDINALITY AS b (value, number)
    ORDER BY b.number;
END;
COMMENT ON FUNCTION dpboost_evaluation_bins(text, bigint) IS
    'score bins of a classifier''s last evaluation, or of one: what to draw calibration, ROC and lift from; costs nothing';
