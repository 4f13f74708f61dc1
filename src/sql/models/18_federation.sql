
-- ---- federations ----------------------------------------------------------------------------------------------------
-- Servers that train together. A party's key pair stays in its database: it is in no dump, because a dump must not carry
-- secrets, and a database that was restored makes a new one, which the other parties must pin again.

CREATE TABLE dpboost.party_key (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one key
    seed bytea NOT NULL CHECK (pg_catalog.octet_length(seed) = 32), -- secret half of the key pair (Ed25519)
    made_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp() -- when
);
COMMENT ON TABLE dpboost.party_key IS 'the key by which this database signs when it trains together with others; never dumped';

CREATE SEQUENCE dpboost.federation_id_seq;
CREATE TABLE dpboost.federation (
    federation_id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dpboost.federation_id_seq'), -- number of the federation
    name name NOT NULL UNIQUE CHECK (name <> ''), -- its name, the same at all parties
    parties jsonb NOT NULL, -- keys of the parties by their names
    max_colluding int NOT NULL, -- how many parties may work together against the others
    parties_per_unit int NOT NULL, -- at how many parties one person may have rows
    myself text, -- this database's name among the parties; NULL: it is none
    relation dpboost.relation_ref, -- what it trains on as a party
    servers jsonb, -- foreign servers of the parties by their names; NULL: it coordinates nothing
    set_by dpboost.role_ref NOT NULL, -- role that created it
    set_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), -- when
    CHECK (pg_catalog.num_nulls(myself, relation) IN (0, 2))
);
ALTER SEQUENCE dpboost.federation_id_seq OWNED BY dpboost.federation.federation_id;
COMMENT ON SEQUENCE dpboost.federation_id_seq IS 'numbers the federations';
COMMENT ON TABLE dpboost.federation IS 'servers that train together: who they are, and what this one brings';

CREATE TABLE dpboost.federated_release (
    release_id bigint PRIMARY KEY, -- the release
    federation text NOT NULL, -- name of the federation
    roster text NOT NULL, -- hash of names, keys and figures of its parties
    session text NOT NULL -- hash that is the same at all servers that took part
);
COMMENT ON TABLE dpboost.federated_release IS 'releases that were made together with other servers; rows are added by the ledger worker and never changed';
CREATE TRIGGER keep_ledger BEFORE UPDATE OR DELETE OR TRUNCATE ON dpboost.federated_release
    FOR EACH STATEMENT EXECUTE FUNCTION dpboost.keep_ledger();
COMMENT ON TRIGGER keep_ledger ON dpboost.federated_release IS 'what was released stays on record';

REVOKE ALL ON dpboost.party_key, dpboost.federation, dpboost.federated_release FROM PUBLIC;
REVOKE ALL ON SEQUENCE dpboost.federation_id_seq FROM PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dpboost.federation_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.federation', '');
SELECT pg_catalog.pg_extension_config_dump('dpboost.federated_release', '');

CREATE FUNCTION dpboost_party_key() RETURNS text
    AS 'MODULE_PATHNAME', 'dpboost_party_key' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_party_key() IS
    'public half of the key by which this database signs when it trains together with others; the database''s owner makes it';

CREATE FUNCTION dpboost_create_federation(
    federation name, parties jsonb, relation regclass DEFAULT NULL, myself text DEFAULT NULL,
    max_colluding int DEFAULT 1, parties_per_unit int DEFAULT 1, servers jsonb DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_create_federation' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_create_federation(name, jsonb, regclass, text, int, int, jsonb) IS
    'names the servers that train together, with their keys, and the table that this one brings or the servers that it reaches';

CREATE FUNCTION dpboost_drop_federation(federation name) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_drop_federation' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_drop_federation(name) IS 'removes a federation here; what was charged stays';

CREATE FUNCTION dpboost_train_across(
    model text, federation name, target name, epsilon float8, delta float8 DEFAULT NULL,
    features name[] DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_train_across' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_train_across(text, name, name, float8, float8, name[], jsonb) IS
    'trains a differentially private model on the tables of all parties of a federation; no row and no exact sum leaves a party';

CREATE FUNCTION dpboost_update_across(
    model text, federation name, epsilon float8, delta float8 DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_update_across' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_update_across(text, name, float8, float8, jsonb) IS
    'trains the next version of a model of yours, which goes on from its live version, or from name@version, with the rows of all parties of a federation';

CREATE FUNCTION dpboost_evaluate_across(
    model text, federation name, target name, epsilon float8, delta float8 DEFAULT NULL,
    options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_evaluate_across' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_evaluate_across(text, name, name, float8, float8, jsonb) IS
    'how good a model is on the tables of all parties of a federation: figures with 95 % intervals, differentially private';

CREATE FUNCTION dpboost_estimate_across(
    federation name, target name, epsilon float8, delta float8 DEFAULT NULL,
    features name[] DEFAULT NULL, options jsonb DEFAULT '{}') RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_estimate_across' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_estimate_across(name, name, float8, float8, name[], jsonb) IS
    'what dpboost_train_across would cost and leave at each party; reads no row and charges nothing';

-- What a coordinator calls at the parties, in one transaction. Rights are those of dpboost_train_on. They are not in schema dpboost,
-- because a coordinator calls them by name: who may look names up beside the catalog's tables can PREPARE a statement on one of them,
-- which needs no right to the table and locks it, and so hold up every charge.
CREATE SCHEMA dpboost_party;
COMMENT ON SCHEMA dpboost_party IS 'what servers of a federation call at each other; not for people';
GRANT USAGE ON SCHEMA dpboost_party TO PUBLIC;
CREATE FUNCTION dpboost_party.describe(federation name, target name, features name[]) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dpboost_party_describe' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_party.describe(name, name, name[]) IS
    'what is public about the columns that this party brings; called by the coordinator of a federation';
CREATE FUNCTION dpboost_party.estimate(federation name, call bytea, plan bytea) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'dpboost_party_estimate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_party.estimate(name, bytea, bytea) IS
    'what a training would leave of this party''s budgets; called by the coordinator of a federation';
CREATE FUNCTION dpboost_party.open(federation name, call bytea, plan bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dpboost_party_open' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_party.open(name, bytea, bytea) IS
    'begins a training and signs for it; called by the coordinator of a federation';
CREATE FUNCTION dpboost_party.join(openings bytea[]) RETURNS void
    AS 'MODULE_PATHNAME', 'dpboost_party_join' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_party.join(bytea[]) IS
    'checks what all parties have signed, and reads the rows; called by the coordinator of a federation';
CREATE FUNCTION dpboost_party.charge() RETURNS bigint
    AS 'MODULE_PATHNAME', 'dpboost_party_charge' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_party.charge() IS
    'charges this party''s budgets with the whole training; called by the coordinator of a federation';
CREATE FUNCTION dpboost_party.round(event bigint, total bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'dpboost_party_round' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dpboost_party.round(bigint, bytea) IS
    'takes the last total and gives this party''s masked sums, once for each event; called by the coordinator of a federation';

CREATE VIEW dpboost_federations ( -- servers that train together, by federation and party
    federation, -- name of the federation, the same at all parties
    party, -- name of a party
    key, -- public half of its key; compare it with what dpboost_party_key() says there
    myself, -- whether that is this database
    relation, -- what this database trains on as a party
    server, -- foreign server by which the party is reached from here
    max_colluding, -- how many parties may work together against the others' persons
    parties_per_unit) -- at how many parties one person may have rows
    WITH (security_barrier) AS
    SELECT f.name AS federation, p.key AS party, p.value AS key,
           p.key = f.myself IS TRUE AS myself,
           CASE WHEN p.key = f.myself THEN f.relation::text END AS relation,
           f.servers ->> p.key AS server,
           f.max_colluding,
           f.parties_per_unit
    FROM dpboost.federation f CROSS JOIN LATERAL pg_catalog.jsonb_each_text(f.parties) p;
GRANT SELECT ON dpboost_federations TO PUBLIC;
