-- What many tests begin with: an owner, a schema of hers that others may use, and an analyst. The test has \set ward, from
-- which their names follow, and goes on as the owner.
\set owner :ward _owner
\set ana :ward _ana
CREATE ROLE :"owner";
CREATE ROLE :"ana";
CREATE SCHEMA :"ward" AUTHORIZATION :"owner";
GRANT USAGE ON SCHEMA :"ward" TO PUBLIC;
SET search_path = :"ward", public;
SET ROLE :"owner";
