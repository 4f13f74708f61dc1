-- Prints everything that makes up the extension :extension, one line per fact, without object ids, so that two
-- installations can be compared with diff: definitions, columns, defaults, constraints, indexes, triggers, comments,
-- privileges, dumped configuration.
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET search_path = pg_catalog;

CREATE TEMP TABLE member AS
SELECT d.classid, d.objid, i.type, i.identity
FROM pg_extension e
JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e',
LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) i
WHERE e.extname = :'extension';

CREATE FUNCTION pg_temp.privileges(acl aclitem[], owner oid, kind "char") RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s may %s%s', coalesce(nullif(a.grantee, 0)::regrole::text, 'public'), a.privilege_type,
                             CASE WHEN a.is_grantable THEN ' and grant' END), ', '
                      ORDER BY a.grantee::regrole::text, a.privilege_type)
    FROM aclexplode(coalesce(acl, acldefault(kind, owner))) a $$;

SELECT fact FROM (
    SELECT format('%s %s', type, identity) AS fact FROM member
    UNION ALL
    SELECT format('%s %s: comment %L', type, identity, obj_description(objid, classid::regclass::name)) FROM member
    UNION ALL
    SELECT format('function %s: %s', identity, pg_get_functiondef(objid))
    FROM member JOIN pg_proc p ON p.oid = objid WHERE classid = 'pg_proc'::regclass AND p.prokind <> 'a'
    UNION ALL
    SELECT format('function %s: owner %s, %s', identity, p.proowner::regrole,
                  pg_temp.privileges(p.proacl, p.proowner, 'f'))
    FROM member JOIN pg_proc p ON p.oid = objid WHERE classid = 'pg_proc'::regclass
    UNION ALL
    SELECT format('aggregate %s: %s, parallel %s, volatile %s', identity,
                  to_jsonb(a) - 'aggfnoid', p.proparallel, p.provolatile)
    FROM member JOIN pg_proc p ON p.oid = objid JOIN pg_aggregate a ON a.aggfnoid = p.oid
    WHERE classid = 'pg_proc'::regclass
    UNION ALL
    SELECT format('schema %s: %s', identity, pg_temp.privileges(n.nspacl, n.nspowner, 'n'))
    FROM member JOIN pg_namespace n ON n.oid = objid WHERE classid = 'pg_namespace'::regclass
    UNION ALL
    SELECT format('relation %s: kind %s, owner %s, options %s, row security %s %s, dumped as %L, %s', identity,
                  c.relkind, c.relowner::regrole, c.reloptions, c.relrowsecurity, c.relforcerowsecurity,
                  (SELECT e.extcondition[array_position(e.extconfig, c.oid)] FROM pg_extension e
                   WHERE e.extname = :'extension'),
                  pg_temp.privileges(c.relacl, c.relowner, CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char"))
    FROM member JOIN pg_class c ON c.oid = objid WHERE classid = 'pg_class'::regclass
    UNION ALL
    SELECT format('view %s: %s', identity, pg_get_viewdef(objid))
    FROM member JOIN pg_class c ON c.oid = objid WHERE classid = 'pg_class'::regclass AND c.relkind IN ('v', 'm')
    UNION ALL
    SELECT format('sequence %s: %s', identity, to_jsonb(s) - 'seqrelid')
    FROM member JOIN pg_sequence s ON s.seqrelid = objid WHERE classid = 'pg_class'::regclass
    UNION ALL
    SELECT format('column %s.%s: %s %s default %L generated %L identity %L storage %s collation %s comment %L %s',
                  identity, a.attname, format_type(a.atttypid, a.atttypmod),
                  CASE WHEN a.attnotnull THEN 'not null' END, pg_get_expr(d.adbin, d.adrelid), a.attgenerated,
                  a.attidentity, a.attstorage, a.attcollation::regcollation,
                  col_description(objid, a.attnum), a.attacl)
    FROM member JOIN pg_attribute a ON a.attrelid = objid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE classid = 'pg_class'::regclass
    UNION ALL
    SELECT format('constraint %s on %s: %s', k.conname, identity, pg_get_constraintdef(k.oid))
    FROM member JOIN pg_constraint k ON k.conrelid = objid WHERE classid = 'pg_class'::regclass
    UNION ALL
    SELECT format('index on %s: %s', identity, pg_get_indexdef(x.indexrelid))
    FROM member JOIN pg_index x ON x.indrelid = objid WHERE classid = 'pg_class'::regclass
    UNION ALL
    SELECT format('trigger on %s: %s', identity, pg_get_triggerdef(t.oid))
    FROM member JOIN pg_trigger t ON t.tgrelid = objid AND NOT t.tgisinternal WHERE classid = 'pg_class'::regclass
    UNION ALL
    SELECT format('policy %s on %s: %s', p.polname, identity, (to_jsonb(p) - 'oid' - 'polrelid')
                  || jsonb_build_object('polqual', pg_get_expr(p.polqual, objid),
                                        'polwithcheck', pg_get_expr(p.polwithcheck, objid)))
    FROM member JOIN pg_policy p ON p.polrelid = objid WHERE classid = 'pg_class'::regclass
    UNION ALL
    SELECT format('rule on %s: %s', identity, pg_get_ruledef(r.oid))
    FROM member JOIN pg_rewrite r ON r.ev_class = objid WHERE classid = 'pg_class'::regclass
    UNION ALL
    SELECT format('type %s: %s', identity, pg_temp.privileges(t.typacl, t.typowner, 'T'))
    FROM member JOIN pg_type t ON t.oid = objid WHERE classid = 'pg_type'::regclass
) facts
ORDER BY fact COLLATE "C";
