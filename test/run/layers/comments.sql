-- Everything a user can see has a COMMENT: one `ok` or `not ok` line per object of the extension.
CREATE EXTENSION IF NOT EXISTS dpboost;
WITH member AS (
    SELECT d.classid, d.objid, i.type, i.identity
    FROM pg_extension e
    JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e',
    LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) i
    WHERE e.extname = 'dpboost'
)
SELECT CASE WHEN coalesce(obj_description(objid, classid::regclass::name), '') <> '' THEN 'ok' ELSE 'not ok' END
       || format(' - %s %s has a comment', type, identity)
FROM member
WHERE classid <> 'pg_type'::regclass  -- a table's row type
ORDER BY 1;
