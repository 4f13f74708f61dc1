
-- ---- predict --------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost_predict(model text, VARIADIC features "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'dpboost_predict' LANGUAGE C STABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION dpboost_predict(text, VARIADIC "any") IS
    'predicted value, or probability of the positive class: features as columns, one array, or one row or JSON object by names; the model as name or owner.name, also with @version';

CREATE FUNCTION dpboost_predict_label(model text, VARIADIC features "any") RETURNS text
    AS 'MODULE_PATHNAME', 'dpboost_predict_label' LANGUAGE C STABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION dpboost_predict_label(text, VARIADIC "any") IS
    'the most likely class of a classifier; arguments as of dpboost_predict';

CREATE FUNCTION dpboost_predict_proba(model text, VARIADIC features "any") RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_predict_proba' LANGUAGE C STABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION dpboost_predict_proba(text, VARIADIC "any") IS
    'the probability of each class of a classifier, by its name; arguments as of dpboost_predict';

CREATE FUNCTION dpboost_predict_interval(model text, level float8, VARIADIC features "any") RETURNS float8[]
    AS 'MODULE_PATHNAME', 'dpboost_predict_interval' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION dpboost_predict_interval(text, float8, VARIADIC "any") IS
    'lower and upper end of where the target lies with probability level, of a model trained with {"intervals": true}; features as dpboost_predict takes them';
