
-- ---- export ---------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost_to_sql(model text, dialect text DEFAULT 'postgres') RETURNS text
    AS 'MODULE_PATHNAME', 'dpboost_to_sql' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION dpboost_to_sql(text, text) IS
    'the model as an SQL expression over columns named like its features, for this or (standard) another database; of several classes: a list of scores, one for each';

CREATE FUNCTION dpboost_to_xgboost(model text) RETURNS json
    AS 'MODULE_PATHNAME', 'dpboost_to_xgboost' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dpboost_to_xgboost(text) IS
    'the model as a file that XGBoost loads; dpboost_encode makes its input';

CREATE FUNCTION dpboost_encode(model text, VARIADIC features "any") RETURNS real[]
    AS 'MODULE_PATHNAME', 'dpboost_encode' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION dpboost_encode(text, VARIADIC "any") IS
    'a row as the model of dpboost_to_xgboost reads it: numbers, positions of levels, buckets of hashed text, NaN for missing; features as for dpboost_predict';

CREATE FUNCTION dpboost_export(model text) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dpboost_export' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dpboost_export(text) IS 'the model as bytes, for dpboost_import on another server';

CREATE FUNCTION dpboost_import(model text, content bytea) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_import' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_import(text, bytea) IS
    'stores what dpboost_export gave as a new version of a model of yours; not undone by ROLLBACK. It can predict and explain, is charged to nobody, and its privacy is a claim of who exported it. With name@version it becomes that version, unless one as high was used';

CREATE FUNCTION dpboost_publish(model text) RETURNS int
    AS 'MODULE_PATHNAME', 'dpboost_publish' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_publish(text) IS
    'brings a model of yours to the other servers of a Citus cluster, as it is live here, and shares it with the same roles; returns their number. Trainings do it by themselves';
