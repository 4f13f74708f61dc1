-- The library, the control file and the installed objects agree on the version.
SELECT dpboost_version() = extversion AS same_version FROM pg_extension WHERE extname = 'dpboost';

-- it cannot be installed twice, nor moved
CREATE EXTENSION dpboost;
ALTER EXTENSION dpboost SET SCHEMA pg_temp;

-- settings: bounds are enforced, the prefix is ours, and only a superuser raises the memory limit
SHOW dpboost.threads;
SET dpboost.threads = 0;
\set VERBOSITY sqlstate
SET dpboost.max_memory = '1kB';
\set VERBOSITY default
SET dpboost.seed = 42;
CREATE ROLE regress_dpboost_user;
SET ROLE regress_dpboost_user;
SET dpboost.max_memory = '1TB';
SET dpboost.threads = 2;
RESET ROLE;
DROP ROLE regress_dpboost_user;
