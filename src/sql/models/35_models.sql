
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

CREATE FUNCTION dpboost_deploy(model text, version int) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_deploy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_deploy(text, int) IS
    'makes a version of a model of yours the one that its name means; an older one takes it back';

CREATE FUNCTION dpboost_set_owner(model text, new_owner regrole) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_set_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_set_owner(text, regrole) IS
    'gives a model of yours, with all versions and those it is shared with, to a role whose privileges you have; what dropped roles left is the database owner''s to give';

CREATE FUNCTION dpboost_describe(model text, description text) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_describe' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_describe(text, text) IS
    'says in words what a model of yours is, for dpboost_models; NULL takes it back';
