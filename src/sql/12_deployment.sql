
-- Which version of a model its name means. Rows are only added: the last one whose version is still there counts, so a
-- transaction's snapshot fixes the version, and nobody waits for anybody.
CREATE SEQUENCE dpboost.deployment_id_seq;
CREATE TABLE dpboost.deployment (
    deployment_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.deployment_id_seq'),
    name_id bigint NOT NULL,
    version int NOT NULL,
    deployed_by dpboost.role_ref NOT NULL,
    deployed_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
ALTER SEQUENCE dpboost.deployment_id_seq OWNED BY dpboost.deployment.deployment_id;
CREATE UNIQUE INDEX deployment_name ON dpboost.deployment (name_id, deployment_id);
COMMENT ON SEQUENCE dpboost.deployment_id_seq IS 'numbers the deployments';
COMMENT ON TABLE dpboost.deployment IS 'which version of a model went live, when, and by whom';
COMMENT ON COLUMN dpboost.deployment.deployment_id IS 'number of the deployment';
COMMENT ON COLUMN dpboost.deployment.name_id IS 'the model, see model_name';
COMMENT ON COLUMN dpboost.deployment.version IS 'the version that its name means from then on';
COMMENT ON COLUMN dpboost.deployment.deployed_by IS 'role that trained or deployed it';
COMMENT ON COLUMN dpboost.deployment.deployed_at IS 'when';
