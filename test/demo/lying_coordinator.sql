-- A coordinator who keeps to the protocol, by hand, until he has the first answers, and then adds up whom he likes. Takes the
-- variables charite, lmu, ukb (hosts), call and plan (what was announced for the last training).
\set QUIET on
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION dblink;
CREATE TEMP TABLE party (name text, host text);
INSERT INTO party VALUES ('charite', :'charite'), ('lmu', :'lmu'), ('ukb', :'ukb');
\o /dev/null
SELECT dblink_connect(name, format('host=%s dbname=postgres user=study', host)) FROM party;
SELECT dblink_exec(name, 'BEGIN ISOLATION LEVEL REPEATABLE READ') FROM party;
CREATE TEMP TABLE opening AS
    SELECT name, o FROM party, dblink(name, format('SELECT dpboost_party.open(%L, %L, %L)', 'cardio', :'call', :'plan')) AS t (o bytea);
SELECT * FROM party, dblink(name, format('SELECT dpboost_party.join(%L)', (SELECT array_agg(o) FROM opening)::text)) AS t (joined text);
SELECT * FROM party, dblink(name, 'SELECT dpboost_party.charge()') AS t (release_id bigint);
CREATE TEMP TABLE answer AS
    SELECT name, a FROM party, dblink(name, 'SELECT dpboost_party.round(1, NULL)') AS t (a bytea);
-- A masked sum: eight bytes behind a flag and a hash, little-endian; and a sum of such, modulo 2^64.
CREATE FUNCTION pg_temp.masked(bytea, int) RETURNS numeric LANGUAGE sql AS
    $$SELECT sum(get_byte($1, 33 + 8 * $2 + k) * trunc(256::numeric ^ k)) FROM generate_series(0, 7) k$$;
CREATE FUNCTION pg_temp.signed(numeric) RETURNS numeric LANGUAGE sql AS
    $$SELECT CASE WHEN x >= 9223372036854775808 THEN x - 18446744073709551616 ELSE x END FROM (SELECT mod($1, 18446744073709551616)) AS t (x)$$;
\o
SELECT i + 1 AS sum,
       pg_temp.signed(sum(pg_temp.masked(a, i))) AS "all three: a noisy total",
       pg_temp.signed(sum(pg_temp.masked(a, i)) FILTER (WHERE name <> 'ukb')) AS "without ukb: random bits",
       pg_temp.signed(sum(pg_temp.masked(a, i)) FILTER (WHERE name = 'ukb')) AS "ukb alone: random bits"
FROM answer, generate_series(0, 3) AS i GROUP BY i ORDER BY i;
\echo 'He asks ukb for the same answer again, to average its noise away:'
SELECT * FROM dblink('ukb', 'SELECT dpboost_party.round(1, NULL)') AS t (a bytea);
