
-- ---- predict --------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost_predict(model text, VARIADIC features "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'dpboost_predict' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION dpboost_predict(text, VARIADIC "any") IS
    'predicted value, or probability of the positive class: features as columns, one array, or one row by column names; the model as name or owner.name, also with @version';
