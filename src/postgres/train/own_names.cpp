// Functions of a view get values that the caller may not see. No search_path keeps the session's temporary
// schema away from them (it is searched even if it is not listed), so the two do not go together. Plain tables
// and views of built-in functions are not concerned.
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/relations.h"
#include "postgres/reading/trusted_code.h"

namespace dpboost {
namespace {

// Built-in functions that run a query given as text (query_to_xml, ts_stat) are volatile.
bool MayLookUpNames(Oid function, void*) {
    return function >= FirstNormalObjectId || func_volatile(function) == PROVOLATILE_VOLATILE;
}

bool RunsFunctions(Node* node, void* context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        return WalkQuery(reinterpret_cast<Query*>(node), RunsFunctions, context);
    if (IsA(node, RangeTblEntry))
        return false;  // what it holds is visited by itself
    // A domain type may have a CHECK constraint that calls any function.
    if (IsA(node, CoerceToDomain) || check_functions_in_node(node, MayLookUpNames, nullptr))
        return true;
    return WalkExpression(node, RunsFunctions, context);
}

bool SessionHasTemporaryNames() {
    Oid schema, toast_schema;
    GetTempNamespaceState(&schema, &toast_schema);
    if (!OidIsValid(schema))
        return false;
    CatalogScope scope;
    CatalogBegin(&scope);
    const uint64 found = CatalogRead(
        "SELECT FROM pg_class WHERE relnamespace = $1 UNION ALL SELECT FROM pg_type WHERE typnamespace = $1",
        {OidOf(schema)}, 1);
    CatalogEnd(&scope);
    return found > 0;
}

}  // namespace

void CheckOwnNames(Query* query, Oid relid) {
    if (!RunsFunctions(reinterpret_cast<Node*>(query), nullptr) || !SessionHasTemporaryNames())
        return;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot train on %s in a session that has temporary tables or types",
                           DescribeRelation(relid)),
                    errdetail("It runs functions that might find them, and hand values to them."),
                    errhint("Run DISCARD TEMP first, or train in another session.")));
}

}  // namespace dpboost
