-- What users of the extension may name: functions, views and settings, one per line.
SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dpboost' WHERE p.pronamespace = e.extnamespace
UNION ALL
SELECT c.relname FROM pg_class c JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dpboost' WHERE c.relnamespace = e.extnamespace AND c.relkind = 'v'
UNION ALL
SELECT name FROM pg_settings WHERE name LIKE 'dpboost.%';
