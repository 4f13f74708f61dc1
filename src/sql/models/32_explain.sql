
-- ---- explain --------------------------------------------------------------------------------------------------------
-- What a model says, from the model alone: no row of the training is read and nothing is charged. Rights as
-- dpboost_predict. Contributions are in log odds for classifiers and in the target's units for regression.

CREATE FUNCTION dpboost_importance(model text, OUT features text[], OUT importance float8, OUT share float8,
                                   OUT noise float8, OUT reference text, OUT class text) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_importance' LANGUAGE C STABLE PARALLEL SAFE COST 1000 ROWS 20;
COMMENT ON FUNCTION dpboost_importance(text) IS
    'which features matter: mean absolute contribution, and what noise alone would give (below twice of it, it may be noise); features that act together as a group of their own';

CREATE FUNCTION dpboost_shape(model text, feature text DEFAULT NULL, OUT feature_name text, OUT bin integer, OUT label text,
                              OUT lower float8, OUT upper float8, OUT contribution float8, OUT band_low float8,
                              OUT band_high float8, OUT rows float8, OUT enough_rows boolean, OUT class text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_shape' LANGUAGE C STABLE PARALLEL SAFE COST 1000 ROWS 250;
COMMENT ON FUNCTION dpboost_shape(text, text) IS
    'how the contribution runs over the bins or levels of a feature (default: of each), how far noise may have moved it (95 %), and the noisy number of rows; where rows are not enough, little is known';

CREATE FUNCTION dpboost_interaction(model text, OUT features text[], OUT labels text[], OUT contribution float8,
                                    OUT rows float8, OUT class text) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_interaction' LANGUAGE C STABLE PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION dpboost_interaction(text) IS
    'what features do together beyond what each does by itself; no row where the model combines none';

CREATE FUNCTION dpboost_explain(model text, VARIADIC features "any", OUT feature text, OUT value text,
                                OUT contribution float8, OUT band_low float8, OUT band_high float8, OUT class text)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_explain' LANGUAGE C STABLE PARALLEL SAFE COST 1000 ROWS 20;
COMMENT ON FUNCTION dpboost_explain(text, VARIADIC "any") IS
    'why a row gets its prediction: the base value (feature NULL) and what each feature adds; the sum is the score, exactly. Arguments as dpboost_predict';

CREATE FUNCTION dpboost_what_if(model text, feature text, VARIADIC features "any", OUT label text, OUT lower float8,
                                OUT upper float8, OUT prediction float8, OUT class text) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_what_if' LANGUAGE C STABLE PARALLEL SAFE COST 1000 ROWS 250;
COMMENT ON FUNCTION dpboost_what_if(text, text, VARIADIC "any") IS
    'predictions for a row with one of its features moved over its bins or levels; arguments as dpboost_predict';
