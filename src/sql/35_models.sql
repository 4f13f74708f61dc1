
-- ---- models ---------------------------------------------------------------------------------------------------------

CREATE FUNCTION dpboost_share(model text, grantee regrole) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_share' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_share(text, regrole) IS 'lets a role predict with a model of yours';

CREATE FUNCTION dpboost_unshare(model text, grantee regrole) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_unshare' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_unshare(text, regrole) IS 'takes back what dpboost_share gave';

CREATE FUNCTION dpboost_drop_model(model text) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_drop_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_drop_model(text) IS
    'drops a model (name or owner.name) with all versions, or one as name@version; refunds no privacy';
