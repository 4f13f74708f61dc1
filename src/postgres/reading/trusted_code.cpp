// Walks the query as it will be planned, and from each node to all that running it may call. Objects of the
// server itself (below FirstNormalObjectId) lead to nothing else than the server's own.
#include "postgres/reading/trusted_code.h"

#include "postgres/catalog/catalog.h"
#include "postgres/catalog/relations.h"

namespace dpboost {
namespace {

struct Reach {
    Oid relid;
    Oid owner;
    List* seen_types;     // by oid; those whose values are used
    List* seen_targets;   // those that values are converted to
    List* seen_families;  // of operators
};

bool Visit(Node* node, void* context);

bool IsBuiltIn(Oid object) {
    return object < FirstNormalObjectId;
}

// True at the first call for an object.
bool IsNew(List** seen, Oid object) {
    if (list_member_oid(*seen, object))
        return false;
    *seen = lappend_oid(*seen, object);
    return true;
}

// Whoever has the owner's rights can read the rows anyway; a superuser has everybody's.
bool IsTrusted(const Reach* reach, Oid role) {
    return role == BOOTSTRAP_SUPERUSERID || has_privs_of_role(role, reach->owner);
}

[[noreturn]] void Refuse(const Reach* reach, Oid role, const char* what) {
    const char* role_name = RoleName(role);
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
             errmsg("cannot train on %s with a privacy budget", DescribeRelation(reach->relid)),
             errdetail("It reaches %s of role \"%s\", which would see its rows.", what,
                       role_name == nullptr ? "?" : role_name),
             errhint("What its owner's view calls must be built in, the owner's own, or a superuser's.")));
    pg_unreachable();
}

// ---- functions and operators ----

void CheckFunction(Reach* reach, Oid function);

void CheckAggregate(Reach* reach, Oid aggregate) {
    HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "could not find aggregate %u", aggregate);
    const FormData_pg_aggregate form = *reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple));
    ReleaseSysCache(tuple);
    const Oid parts[] = {form.aggtransfn,
                         form.aggfinalfn,
                         form.aggcombinefn,
                         form.aggserialfn,
                         form.aggdeserialfn,
                         form.aggmtransfn,
                         form.aggminvtransfn,
                         form.aggmfinalfn,
                         OidIsValid(form.aggsortop) ? get_opcode(form.aggsortop) : InvalidOid};
    for (Oid part : parts)
        CheckFunction(reach, part);
}

void CheckFunction(Reach* reach, Oid function) {
    if (!OidIsValid(function))
        return;
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "could not find function %u", function);
    const Oid owner = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner;
    const bool is_aggregate = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prokind == PROKIND_AGGREGATE;
    ReleaseSysCache(tuple);
    if (!IsTrusted(reach, owner))
        Refuse(reach, owner, psprintf("function %s", format_procedure(function)));
    if (is_aggregate && !IsBuiltIn(function))
        CheckAggregate(reach, function);
}

bool CheckFunctionOfNode(Oid function, void* context) {
    CheckFunction(static_cast<Reach*>(context), function);
    return false;
}

// Functions by which an index, a sort, a hash or a partition compares values.
void CheckFamily(Reach* reach, Oid family) {
    if (IsBuiltIn(family) || !IsNew(&reach->seen_families, family))
        return;
    CatCList* members = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
    for (int i = 0; i < members->n_members; ++i)
        CheckFunction(reach,
                      reinterpret_cast<Form_pg_amproc>(GETSTRUCT(&members->members[i]->tuple))->amproc);
    ReleaseSysCacheList(members);
}

// The planner may put the negator or the commutator in an operator's place.
void CheckOperator(Reach* reach, Oid op) {
    if (!OidIsValid(op) || IsBuiltIn(op))
        return;
    for (Oid form : {op, get_negator(op), get_commutator(op)})
        if (OidIsValid(form))
            CheckFunction(reach, get_opcode(form));
    CatCList* members = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(op));
    for (int i = 0; i < members->n_members; ++i)
        CheckFamily(reach,
                    reinterpret_cast<Form_pg_amop>(GETSTRUCT(&members->members[i]->tuple))->amopfamily);
    ReleaseSysCacheList(members);
}

// ---- types ----

// The types that a type is made of, with `check` called for each.
void CheckParts(Reach* reach, Oid type, void (*check)(Reach*, Oid)) {
    const Oid element = get_element_type(type);
    if (OidIsValid(element))
        check(reach, element);
    switch (get_typtype(type)) {
        case TYPTYPE_DOMAIN:
            check(reach, getBaseType(type));
            break;
        case TYPTYPE_COMPOSITE: {
            TupleDesc fields = lookup_rowtype_tupdesc_copy(type, -1);
            for (int i = 0; i < fields->natts; ++i)
                if (!TupleDescAttr(fields, i)->attisdropped)
                    check(reach, TupleDescAttr(fields, i)->atttypid);
            break;
        }
        case TYPTYPE_RANGE: {
            HeapTuple tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
            if (!HeapTupleIsValid(tuple))
                elog(ERROR, "could not find range type %u", type);
            const FormData_pg_range form = *reinterpret_cast<Form_pg_range>(GETSTRUCT(tuple));
            ReleaseSysCache(tuple);
            CheckFunction(reach, form.rngcanonical);
            CheckFunction(reach, form.rngsubdiff);
            check(reach, form.rngsubtype);
            break;
        }
        default:
            check(reach, RangeOfMultirange(type));
    }
}

// Casts from the type: what turns values into JSON looks for them by itself.
void CheckCasts(Reach* reach, Oid type) {
    Relation catalog = table_open(CastRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_cast_castsource, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
    SysScanDesc scan = systable_beginscan(catalog, CastSourceTargetIndexId, true, nullptr, 1, &key);
    while (HeapTuple tuple = systable_getnext(scan))
        CheckFunction(reach, reinterpret_cast<Form_pg_cast>(GETSTRUCT(tuple))->castfunc);
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
}

// What compares, hashes or shows values of the type.
void CheckType(Reach* reach, Oid type) {
    if (!OidIsValid(type) || IsBuiltIn(type) || !IsNew(&reach->seen_types, type))
        return;
    check_stack_depth();
    TypeCacheEntry* entry = lookup_type_cache(
        type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC);
    CheckOperator(reach, entry->eq_opr);
    CheckOperator(reach, entry->lt_opr);
    CheckFunction(reach, entry->cmp_proc);
    CheckFunction(reach, entry->hash_proc);
    CheckCasts(reach, type);
    CheckParts(reach, type, CheckType);
}

// Its owner can give a domain another check at any moment, so it must be the right one.
void CheckDomain(Reach* reach, Oid domain) {
    HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(domain));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "could not find type %u", domain);
    const FormData_pg_type form = *reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
    ReleaseSysCache(tuple);
    if (!IsTrusted(reach, form.typowner))
        Refuse(reach, form.typowner, psprintf("domain %s", format_type_be_qualified(domain)));
    Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(domain));
    SysScanDesc scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, nullptr, 1, &key);
    while (HeapTuple constraint = systable_getnext(scan)) {
        bool is_null;
        const Datum bin =
            heap_getattr(constraint, Anum_pg_constraint_conbin, RelationGetDescr(catalog), &is_null);
        if (!is_null)
            Visit(static_cast<Node*>(stringToNode(TextDatumGetCString(bin))), reach);
    }
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
}

// What runs when a value is made of the type, out of text or of another type.
void CheckTarget(Reach* reach, Oid type) {
    if (!OidIsValid(type) || IsBuiltIn(type) || !IsNew(&reach->seen_targets, type))
        return;
    check_stack_depth();
    CheckType(reach, type);
    Oid input, io_parameter;
    if (get_typtype(type) != TYPTYPE_PSEUDO) {
        getTypeInputInfo(type, &input, &io_parameter);
        CheckFunction(reach, input);
    }
    // A domain over another one: both checks run.
    for (Oid domain = type; get_typtype(domain) == TYPTYPE_DOMAIN;) {
        CheckDomain(reach, domain);
        HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(domain));
        if (!HeapTupleIsValid(tuple))
            elog(ERROR, "could not find type %u", domain);
        domain = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typbasetype;
        ReleaseSysCache(tuple);
    }
    CheckParts(reach, type, CheckTarget);
}

void CheckTargets(Reach* reach, const List* types) {
    const ListCell* cell;
    foreach (cell, types)
        CheckTarget(reach, lfirst_oid(cell));
}

// ---- nodes ----

void CheckSort(Reach* reach, const SortGroupClause* clause) {
    CheckOperator(reach, clause->eqop);
    CheckOperator(reach, clause->sortop);
}

void CheckRowComparison(Reach* reach, const RowCompareExpr* comparison) {
    ListCell* cell;
    foreach (cell, comparison->opnos)
        CheckOperator(reach, lfirst_oid(cell));
    foreach (cell, comparison->opfamilies)
        CheckFamily(reach, lfirst_oid(cell));
}

// Nodes that make a value of a type, by a conversion or in a function that knows how.
void CheckConversion(Reach* reach, Node* node) {
    switch (nodeTag(node)) {
        case T_FuncExpr:
        case T_Aggref:
        case T_WindowFunc:
        case T_CoerceToDomain:
        case T_CoerceViaIO:
        case T_ArrayCoerceExpr:
        case T_ConvertRowtypeExpr:
            CheckTarget(reach, exprType(node));
            break;
        case T_RangeTblFunction:
            CheckTargets(reach, reinterpret_cast<RangeTblFunction*>(node)->funccoltypes);
            break;
        case T_TableFunc:
            CheckTargets(reach, reinterpret_cast<TableFunc*>(node)->coltypes);
            break;
        case T_Var:
        case T_Const:
        case T_MinMaxExpr:
        case T_ArrayExpr:
        case T_RowExpr:
            CheckType(reach, exprType(node));
            break;
        default:
            if (IsJsonConversion(node))
                CheckTarget(reach, exprType(node));
    }
}

void CheckOperators(Reach* reach, Node* node) {
    ListCell* cell;
    switch (nodeTag(node)) {
        case T_OpExpr:
        case T_DistinctExpr:
        case T_NullIfExpr:
            CheckOperator(reach, reinterpret_cast<OpExpr*>(node)->opno);
            break;
        case T_ScalarArrayOpExpr:
            CheckOperator(reach, reinterpret_cast<ScalarArrayOpExpr*>(node)->opno);
            break;
        case T_RowCompareExpr:
            CheckRowComparison(reach, reinterpret_cast<RowCompareExpr*>(node));
            break;
        case T_SortGroupClause:
            CheckSort(reach, reinterpret_cast<SortGroupClause*>(node));
            break;
        case T_SetOperationStmt:
            foreach (cell, reinterpret_cast<SetOperationStmt*>(node)->groupClauses)
                CheckSort(reach, static_cast<SortGroupClause*>(lfirst(cell)));
            break;
        case T_WindowClause:
            CheckFunction(reach, reinterpret_cast<WindowClause*>(node)->startInRangeFunc);
            CheckFunction(reach, reinterpret_cast<WindowClause*>(node)->endInRangeFunc);
            break;
        case T_TableSampleClause:
            CheckFunction(reach, reinterpret_cast<TableSampleClause*>(node)->tsmhandler);
            break;
        default:
            break;
    }
}

void CheckRowLocks(const Reach* reach, const Query* query) {
    if (query->rowMarks == NIL && !query->hasForUpdate)
        return;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot train on %s with a privacy budget", DescribeRelation(reach->relid)),
                    errdetail("It locks the rows that it selects, which others can see."),
                    errhint("Leave out FOR UPDATE or FOR SHARE.")));
}

bool Visit(Node* node, void* context) {
    auto* reach = static_cast<Reach*>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, Query)) {
        CheckRowLocks(reach, reinterpret_cast<Query*>(node));
        return WalkWholeQuery(reinterpret_cast<Query*>(node), Visit, context);
    }
    if (IsA(node, RangeTblEntry))
        return false;  // what it holds is visited by itself
    check_functions_in_node(node, CheckFunctionOfNode, reach);
    CheckOperators(reach, node);
    CheckConversion(reach, node);
    return WalkExpression(node, Visit, context);
}

}  // namespace

void CheckTrustedCode(Query* query, Oid relid, Oid owner) {
    Reach reach = {relid, owner, NIL, NIL, NIL};
    Visit(reinterpret_cast<Node*>(query), &reach);
}

}  // namespace dpboost
