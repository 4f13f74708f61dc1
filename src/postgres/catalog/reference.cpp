// The types dpboost.relation_ref, role_ref and column_ref: a relation, a role or a column by its number, with the
// name under which it was remembered. They are written as the present name, so that a dump taken after a rename restores to
// the right object, and read without failing when there is no such object: then only the name is kept, marked
// with an exclamation mark, and no right follows from it.
#include "postgres/boundary/pg.h"
#include "postgres/catalog/catalog.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_relation_ref_in);
PG_FUNCTION_INFO_V1(dpboost_relation_ref_out);
PG_FUNCTION_INFO_V1(dpboost_relation_ref_oid);
PG_FUNCTION_INFO_V1(dpboost_role_ref_in);
PG_FUNCTION_INFO_V1(dpboost_role_ref_out);
PG_FUNCTION_INFO_V1(dpboost_role_ref_oid);
PG_FUNCTION_INFO_V1(dpboost_column_ref_in);
PG_FUNCTION_INFO_V1(dpboost_column_ref_out);
PG_FUNCTION_INFO_V1(dpboost_column_ref_oid);
PG_FUNCTION_INFO_V1(dpboost_column_ref_number);
}

namespace dpboost {
namespace {

constexpr char kGoneMark = '!';

struct RelationRefData {
    Oid relid;
    NameData schema_name;
    NameData relation_name;
};
static_assert(sizeof(RelationRefData) == 132, "INTERNALLENGTH in 10_catalog.sql");

struct RoleRefData {
    Oid role;
    NameData role_name;
};
static_assert(sizeof(RoleRefData) == 68, "INTERNALLENGTH in 10_catalog.sql");

struct ColumnRefData {
    Oid relid;
    int32 attnum;  // 0: the column was gone
    NameData schema_name;
    NameData relation_name;
    NameData column_name;
};
static_assert(sizeof(ColumnRefData) == 200, "INTERNALLENGTH in 10_catalog.sql");

ColumnRefData* GetColumnRef(FunctionCallInfo fcinfo) {
    return reinterpret_cast<ColumnRefData*>(PG_GETARG_POINTER(0));
}

RelationRefData* GetRelationRef(FunctionCallInfo fcinfo) {
    return reinterpret_cast<RelationRefData*>(PG_GETARG_POINTER(0));
}

RoleRefData* GetRoleRef(FunctionCallInfo fcinfo) {
    return reinterpret_cast<RoleRefData*>(PG_GETARG_POINTER(0));
}

Oid TypeInCatalog(const char* name) {
    Oid schema = get_namespace_oid("dpboost", false);
    Oid type =
        GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name), ObjectIdGetDatum(schema));
    if (!OidIsValid(type))
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("type \"dpboost.%s\" does not exist", name)));
    return type;
}

}  // namespace

Oid RelationRefType() {
    return TypeInCatalog("relation_ref");
}

Oid ColumnRefType() {
    return TypeInCatalog("column_ref");
}

Datum ColumnReference(Oid relid, AttrNumber attnum, const char* schema_name, const char* relation_name,
                      const char* column_name) {
    auto* ref = static_cast<ColumnRefData*>(palloc0(sizeof(ColumnRefData)));
    ref->relid = relid;
    ref->attnum = attnum;
    namestrcpy(&ref->schema_name, schema_name);
    namestrcpy(&ref->relation_name, relation_name);
    namestrcpy(&ref->column_name, column_name);
    return PointerGetDatum(ref);
}

Oid RoleRefType() {
    return TypeInCatalog("role_ref");
}

Datum RelationRef(Oid relid, const char* schema_name, const char* relation_name) {
    auto* ref = static_cast<RelationRefData*>(palloc0(sizeof(RelationRefData)));
    ref->relid = relid;
    namestrcpy(&ref->schema_name, schema_name);
    namestrcpy(&ref->relation_name, relation_name);
    return PointerGetDatum(ref);
}

bool HasRole(const ArrayType* roles, Oid role) {
    const auto* refs = reinterpret_cast<const RoleRefData*>(ARR_DATA_PTR(roles));
    const int count = ArrayGetNItems(ARR_NDIM(roles), ARR_DIMS(roles));
    for (int i = 0; i < count; ++i) {
        if (refs[i].role == role)
            return true;
    }
    return false;
}

Oid RoleAt(const ArrayType* roles, int i) {
    return reinterpret_cast<const RoleRefData*>(ARR_DATA_PTR(roles))[i].role;
}

Oid RememberedOid(Datum ref) {
    static_assert(offsetof(RelationRefData, relid) == 0 && offsetof(RoleRefData, role) == 0,
                  "the oid is first");
    return *reinterpret_cast<const Oid*>(DatumGetPointer(ref));
}

const char* RememberedRoleName(Datum role_ref) {
    return NameStr(reinterpret_cast<const RoleRefData*>(DatumGetPointer(role_ref))->role_name);
}

Datum RoleRef(Oid role, const char* role_name) {
    auto* ref = static_cast<RoleRefData*>(palloc0(sizeof(RoleRefData)));
    ref->role = role;
    namestrcpy(&ref->role_name, role_name);
    return PointerGetDatum(ref);
}

// The names of which the text of a reference consists, and whether it is marked as gone.
static List* ReadNames(const char* input, const char* type, int count, bool* gone) {
    *gone = input[0] == kGoneMark;
    List* names = textToQualifiedNameList(cstring_to_text(input + (*gone ? 1 : 0)));
    if (list_length(names) != count)
        ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                        errmsg("invalid input syntax for type dpboost.%s: \"%s\"", type, input)));
    return names;
}

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_relation_ref_in(PG_FUNCTION_ARGS) {
    bool gone;
    List* names = ReadNames(PG_GETARG_CSTRING(0), "relation_ref", 2, &gone);
    RangeVar* name = makeRangeVarFromNameList(names);
    Oid relid = gone ? InvalidOid : RangeVarGetRelid(name, NoLock, true);
    PG_RETURN_DATUM(RelationRef(relid, name->schemaname, name->relname));
}

Datum dpboost_relation_ref_out(PG_FUNCTION_ARGS) {
    const RelationRefData* ref = GetRelationRef(fcinfo);
    char* name = OidIsValid(ref->relid) ? get_rel_name(ref->relid) : nullptr;
    char* schema = name ? get_namespace_name(get_rel_namespace(ref->relid)) : nullptr;
    if (schema)
        PG_RETURN_CSTRING(quote_qualified_identifier(schema, name));
    PG_RETURN_CSTRING(
        psprintf("%c%s", kGoneMark,
                 quote_qualified_identifier(NameStr(ref->schema_name), NameStr(ref->relation_name))));
}

Datum dpboost_relation_ref_oid(PG_FUNCTION_ARGS) {
    PG_RETURN_OID(GetRelationRef(fcinfo)->relid);
}

Datum dpboost_role_ref_in(PG_FUNCTION_ARGS) {
    bool gone;
    List* names = ReadNames(PG_GETARG_CSTRING(0), "role_ref", 1, &gone);
    const char* name = strVal(linitial(names));
    PG_RETURN_DATUM(RoleRef(gone ? InvalidOid : get_role_oid(name, true), name));
}

Datum dpboost_role_ref_out(PG_FUNCTION_ARGS) {
    const RoleRefData* ref = GetRoleRef(fcinfo);
    const char* name = OidIsValid(ref->role) ? RoleName(ref->role) : nullptr;
    if (name)
        PG_RETURN_CSTRING(pstrdup(quote_identifier(name)));
    PG_RETURN_CSTRING(psprintf("%c%s", kGoneMark, quote_identifier(NameStr(ref->role_name))));
}

Datum dpboost_role_ref_oid(PG_FUNCTION_ARGS) {
    PG_RETURN_OID(GetRoleRef(fcinfo)->role);
}

Datum dpboost_column_ref_in(PG_FUNCTION_ARGS) {
    bool gone;
    List* names = ReadNames(PG_GETARG_CSTRING(0), "column_ref", 3, &gone);
    char* schema = strVal(linitial(names));
    char* relation = strVal(lsecond(names));
    char* column = strVal(lthird(names));
    Oid relid = gone ? InvalidOid : RangeVarGetRelid(makeRangeVar(schema, relation, -1), NoLock, true);
    const AttrNumber attnum = OidIsValid(relid) ? get_attnum(relid, column) : InvalidAttrNumber;
    if (attnum <= 0)
        relid = InvalidOid;
    PG_RETURN_DATUM(ColumnReference(relid, Max(attnum, 0), schema, relation, column));
}

Datum dpboost_column_ref_out(PG_FUNCTION_ARGS) {
    const ColumnRefData* ref = GetColumnRef(fcinfo);
    const auto attnum = static_cast<AttrNumber>(ref->attnum);
    char* name = OidIsValid(ref->relid) ? get_rel_name(ref->relid) : nullptr;
    char* schema = name ? get_namespace_name(get_rel_namespace(ref->relid)) : nullptr;
    char* column = schema ? get_attname(ref->relid, attnum, true) : nullptr;
    if (column && get_attnum(ref->relid, column) == attnum)  // not dropped
        PG_RETURN_CSTRING(
            psprintf("%s.%s", quote_qualified_identifier(schema, name), quote_identifier(column)));
    PG_RETURN_CSTRING(
        psprintf("%c%s.%s", kGoneMark,
                 quote_qualified_identifier(NameStr(ref->schema_name), NameStr(ref->relation_name)),
                 quote_identifier(NameStr(ref->column_name))));
}

Datum dpboost_column_ref_oid(PG_FUNCTION_ARGS) {
    PG_RETURN_OID(GetColumnRef(fcinfo)->relid);
}

Datum dpboost_column_ref_number(PG_FUNCTION_ARGS) {
    PG_RETURN_INT32(GetColumnRef(fcinfo)->attnum);
}
