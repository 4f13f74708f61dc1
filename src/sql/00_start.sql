-- dpboost's install script. It is assembled from the numbered sections of src/sql, this one first.

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION dpboost" to load this file. \quit

-- ---- version --------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost_version() RETURNS text
    AS 'MODULE_PATHNAME', 'dpboost_version'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dpboost_version() IS 'version of the dpboost library that this server has loaded';
