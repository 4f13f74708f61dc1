
-- ---- what keeps the catalog ----------------------------------------------------------------------------------------
-- Nobody changes the ledger or reads our tables, and dumps hold all of it.

-- What was spent stays spent, also by mistake of an administrator.
CREATE FUNCTION dpboost.keep_ledger() RETURNS trigger
    AS 'MODULE_PATHNAME', 'dpboost_keep_ledger' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION dpboost.keep_ledger() IS 'refuses changes to the ledger';
CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.ledger
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.charge
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.group_model
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
COMMENT ON TRIGGER keep_ledger ON dpboost.group_model IS 'the ledger is append-only';
CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.delivery
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.total
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger('but the ledger worker');
COMMENT ON TRIGGER keep_ledger ON dpboost.total IS 'only the ledger worker changes totals';
COMMENT ON TRIGGER keep_ledger ON dpboost.ledger IS 'the ledger is append-only';
COMMENT ON TRIGGER keep_ledger ON dpboost.charge IS 'the ledger is append-only';
COMMENT ON TRIGGER keep_ledger ON dpboost.delivery IS 'the ledger is append-only';

REVOKE ALL ON ALL TABLES IN SCHEMA dpboost FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA dpboost FROM PUBLIC;

SELECT pg_catalog.pg_extension_config_dump('dpboost.relation_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.relation_name_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.relation_name', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.protection', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.allowance_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.allowance', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.column_domain_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.column_domain', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.model_name_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.model_name', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.release_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.ledger', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.group_model', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.charge_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.charge', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.delivery', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.total_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.total', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.model_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.model', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.deployment_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.deployment', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.model_grant_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.model_grant', '');
