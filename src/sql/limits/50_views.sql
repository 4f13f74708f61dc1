
-- ---- views ----------------------------------------------------------------------------------------------------------
-- current_user is the role that reads the view. Members see what their roles see; superusers, and all who may watch the
-- server (members of pg_read_all_stats, as those of pg_monitor are), see all budgets and releases.

CREATE VIEW dpboost_budgets ( -- privacy budgets: limit, spent and remaining; own ones with their tables' caps, and
    -- all of one's own tables and populations
    relation, -- table or view; NULL: the cap of a population, for all its tables together
    grantee, -- role whose budget it is; NULL: the cap for everyone together
    epsilon, -- limit; it holds also for an analyst who chooses each training after seeing the last
    delta, -- limit; numeric, as other deltas here: 0.000001 rather than 1e-06
    max_epsilon_per_train, -- limit for a single training, or NULL
    epsilon_spent, -- what the releases so far add up to, at delta; proven for trainings that were all chosen before
    -- the first, not for an analyst who adapts
    epsilon_spent_adaptive, -- a limit at delta, about the smallest, that would have let them through; as a limit it
    -- holds for an analyst who adapts
    epsilon_remaining, -- the largest single training by the default method that still fits, at delta; holds for an
    -- analyst who adapts. Methods that sample rows, or have other than Gaussian noise, may get less
    part_remaining, -- part of the limit that is left, from 1 to 0; holds for an analyst who adapts
    releases, -- number of releases that count
    privacy_unit, -- column that identifies a person; NULL: each row is one, and for the cap of a population see
    -- dpboost_populations, where each table has its own
    earlier_releases, -- releases among these that were made for another privacy unit and that the owner has accepted
    -- as they are
    population, -- population to which the table belongs, or whose cap it is; NULL: the table is its own
    renew, -- after which time the budget renews; NULL: never
    renews_at, -- when it renews next; what is shown as spent and remaining is of the time until then
    epsilon_spent_ever, -- as epsilon_spent, and over all time for a budget that renews
    accounting, -- release: all releases together stay within the limit; unit: each person does, and what each has
    -- spent and has left is not shown
    trainings_left) -- how many more trainings of the default method fit into this limit alone, at its delta and at the epsilon
    -- that the setting dpboost.trainings_left_epsilon states (0.1); dpboost_trainings_left counts for all limits of a role
    WITH (security_barrier) AS
    SELECT * FROM dpboost.budgets();

CREATE VIEW dpboost_ledger ( -- releases: one's own, and all from one's own tables, also from those that were dropped
    release_id, -- number of the release
    released_at, -- when it was charged
    role, -- role that trained
    model, -- name of the model
    version, -- version of the model
    method, -- how it was trained
    task, -- regression or classification
    epsilon, -- privacy loss of this release alone
    delta, -- privacy loss of this release alone
    privacy_unit, -- column that identified a person; NULL: each row was one
    relations, -- relations that were read
    owner, -- role that the model's name belongs to; !name: one that was dropped
    delivered, -- whether its model or result was stored; false while it runs, and for good if it was cancelled or
    -- failed after the charge
    noise_multiplier, -- noise of its main mechanism, in units of what one person can change; comparable within a
    -- method only
    calibrated_by, -- what set the noise: gdp (Gaussian differential privacy), pld (privacy loss distributions), rdp
    -- (Renyi divergence), pure (delta 0), or budget: a limit asked for more noise than epsilon did
    kind, -- training, evaluation, or choice among models
    federation, -- of a training together with other servers: the federation, and hashes of its parties and of the
    -- session, the same at all of them
    models) -- of dpboost_train_groups: its models, each with its version; their names begin with that of "model"
    WITH (security_barrier) AS
    SELECT l.release_id, l.released_at, l.role_name AS role, l.model, l.version, l.method, l.task, dpboost.rounded_up(l.epsilon) AS epsilon,
           l.delta::numeric AS delta,
           l.privacy_unit, l.relations,
           coalesce((SELECT r.rolname FROM pg_catalog.pg_roles r WHERE r.oid = m.owner::oid)::text, m.owner::text) AS owner,
           EXISTS (SELECT FROM dpboost.delivery d WHERE d.release_id = l.release_id) AS delivered,
           dpboost.rounded_up(l.noise_multiplier) AS noise_multiplier, l.calibrated_by, l.kind,
           (SELECT pg_catalog.jsonb_build_object('federation', f.federation, 'session', f.session, 'roster', f.roster)
            FROM dpboost.federated_release f WHERE f.release_id = l.release_id) AS federation,
           (SELECT pg_catalog.array_agg(g.model || '@' || g.version ORDER BY g.number)
            FROM dpboost.group_model g WHERE g.release_id = l.release_id) AS models
    FROM dpboost.ledger l LEFT JOIN dpboost.model_name m USING (name_id)
    WHERE pg_catalog.pg_has_role(current_user, l.role::oid, 'USAGE')
       OR pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
       OR EXISTS (SELECT FROM dpboost.charge c
                  JOIN dpboost.relation_name n USING (relation_id)
                  JOIN pg_catalog.pg_class r ON r.oid = n.relation::oid
                  WHERE c.release_id = l.release_id AND pg_catalog.pg_has_role(current_user, r.relowner, 'USAGE'))
       OR EXISTS (SELECT FROM dpboost.charge c
                  JOIN dpboost.relation_name n USING (relation_id)
                  WHERE c.release_id = l.release_id AND n.relation::oid = 0
                    AND pg_catalog.pg_has_role(current_user, n.owner::oid, 'USAGE'));


CREATE VIEW dpboost_models ( -- models that one may use: one's own and those shared with one; the database's owner
    -- sees what dropped roles left
    model, -- name, without its owner
    version, -- version; dpboost_predict takes the live one unless told name@version
    owner, -- role that it belongs to; !name: one that was dropped
    method, -- how it was trained
    task, -- regression or classification
    epsilon, -- privacy loss of its training
    delta, -- privacy loss of its training
    features, -- its features and their encodings
    options, -- options of its training
    created_at, -- when it was trained
    full_name, -- owner.name, as everyone may write it; with @version for this one
    live, -- whether the name means this version
    target, -- name of what it predicts
    positive, -- classification: the class whose probability it gives
    relations, -- relations that it was trained on
    description, -- what its owner says about it, see dpboost_describe
    release_id) -- its charge in the ledger; NULL: imported, and its method, epsilon and delta are what its file
    -- claims
    WITH (security_barrier) AS
    SELECT n.name AS model, m.version,
           coalesce((SELECT r.rolname FROM pg_catalog.pg_roles r WHERE r.oid = n.owner::oid)::text, n.owner::text) AS owner,
           m.method, m.task, dpboost.rounded_up(m.epsilon) AS epsilon, m.delta::numeric AS delta, m.features, m.options, m.created_at,
           n.owner::text || '.' || n.name AS full_name,
           m.version = (SELECT d.version FROM dpboost.deployment d JOIN dpboost.model v USING (name_id, version)
                        WHERE d.name_id = n.name_id ORDER BY d.deployment_id DESC LIMIT 1) IS TRUE AS live,
           m.target, m.positive, l.relations, n.description, m.release_id
    FROM dpboost.model m JOIN dpboost.model_name n USING (name_id) LEFT JOIN dpboost.ledger l USING (release_id)
    WHERE pg_catalog.pg_has_role(current_user, n.owner::oid, 'USAGE')
       OR EXISTS (SELECT FROM dpboost.model_grant g
                  WHERE g.name_id = n.name_id AND pg_catalog.pg_has_role(current_user, g.grantee::oid, 'USAGE'))
       OR NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = n.owner::oid)
          AND pg_catalog.pg_has_role(current_user, 'pg_database_owner', 'USAGE');

GRANT SELECT ON dpboost_budgets, dpboost_ledger, dpboost_models TO PUBLIC;
