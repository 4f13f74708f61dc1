
-- ---- columns --------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost_columns(
    relation regclass, target name DEFAULT NULL, OUT column_name name, OUT type text, OUT role text, OUT usable boolean,
    OUT domain jsonb, OUT source text, OUT note text) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'dpboost_columns' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 20;
COMMENT ON FUNCTION dpboost_columns(regclass, name) IS
    'what a training on a relation would do with each column: its role (target, feature, privacy unit, primary key), whether it can be used, what is public about it as the option "bounds" takes it, where that stands, and what to do or to know; reads no row';
