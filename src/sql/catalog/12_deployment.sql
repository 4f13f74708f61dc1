
-- Which version of a model its name means. Rows are only added: the last one whose version is still there counts, so a
-- transaction's snapshot fixes the version, and nobody waits for anybody.
CREATE SEQUENCE dpboost.deployment_id_seq;
CREATE TABLE dpboost.deployment ( -- which version of a model went live, when, and by whom
    deployment_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.deployment_id_seq'), -- number of the deployment
    name_id bigint NOT NULL, -- the model, see model_name
    version int NOT NULL, -- the version that its name means from then on
    deployed_by dpboost.role_ref NOT NULL, -- role that trained or deployed it
    deployed_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp() -- when
);
ALTER SEQUENCE dpboost.deployment_id_seq OWNED BY dpboost.deployment.deployment_id;
CREATE UNIQUE INDEX deployment_name ON dpboost.deployment (name_id, deployment_id);
COMMENT ON SEQUENCE dpboost.deployment_id_seq IS 'numbers the deployments';
