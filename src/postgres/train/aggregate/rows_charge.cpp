#include "postgres/train/aggregate/rows_charge.h"

#include "postgres/population/privacy_unit.h"
#include "postgres/reading/plan_sources.h"
#include "postgres/train/aggregate/call_site.h"
#include "postgres/train/json_reader.h"

namespace dpboost {
namespace {

constexpr int kUnitArgument = 4;

// ---- the relation ----

Oid NamedRelation(const RowsState* state) {
    const JsonValue* name = ReadJson(state->options)->Find("relation");
    if (name == nullptr || name->kind != JsonValue::kString)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the options do not name the relation whose rows these are"),
                        errdetail("dpboost_train_rows charges the relation that is named so."),
                        errhint("Add it, as in {\"relation\": \"visits\"}.")));
    return DatumGetObjectId(DirectFunctionCall1(regclassin, CStringGetDatum(name->text)));
}

void CheckMaySelect(Oid relid, Oid caller) {
    if (pg_class_aclcheck(relid, caller, ACL_SELECT) != ACLCHECK_OK &&
        pg_attribute_aclcheck_all(relid, caller, ACL_SELECT, ACLMASK_ALL) != ACLCHECK_OK)
        aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relid)), get_rel_name(relid));
}

bool Contains(const RelationSet* relations, Oid relid) {
    for (int i = 0; i < relations->count; ++i)
        if (relations->items[i].relid == relid)
            return true;
    return false;
}

// ---- the unit ----

// Of these a value has one text, on every server.
bool HasOneText(Oid type) {
    switch (getBaseType(type)) {
        case INT2OID:
        case INT4OID:
        case INT8OID:
        case TEXTOID:
        case VARCHAROID:
        case UUIDOID:
            return true;
        default:
            return type_is_enum(getBaseType(type));
    }
}

void CheckUnit(const RowsState* state, Oid relid, const char* unit) {
    if (unit == nullptr && state->has_units)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("%s has no privacy unit, but the call passes one", DescribeRelation(relid)),
                        errhint("Leave the last argument out, or let the owner declare a privacy_unit with "
                                "dpboost_protect.")));
    if (unit == nullptr)
        return;
    if (!state->has_units)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the call does not pass the privacy unit \"%s\"", unit),
                        errdetail("By it %s tells persons apart, whose rows must be counted together.",
                                  DescribeRelation(relid)),
                        errhint("Add %s::text as last argument.", quote_identifier(unit))));
    const Oid type = get_atttype(relid, get_attnum(relid, unit));
    if (!HasOneText(type))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("privacy unit \"%s\" has type %s, of which equal values may have different texts",
                        unit, format_type_be(type)),
                 errdetail("A person with two texts would be protected as two."),
                 errhint("Use dpboost_train_on.")));
}

// ---- the query ----

[[noreturn]] void RaiseOtherQuery(Oid relid, const char* what) {
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("the query does not show that it takes every row of %s once", DescribeRelation(relid)),
             errdetail("%s", what),
             errhint("Write it as SELECT dpboost_train_rows(...) FROM %s, with WHERE if needed, or use "
                     "dpboost_train_on.",
                     SqlNameOf(relid))));
    pg_unreachable();
}

// Of relations with limits, all that is read must be charged.
void CheckAllCharged(const RelationSet* read, const RelationSet* charged, Oid relid) {
    const BudgetList* limits = LoadLimits(read);
    for (int i = 0; i < limits->count; ++i)
        if (OidIsValid(limits->items[i].relid) && !Contains(charged, limits->items[i].relid))
            ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                            errmsg("the query reads %s, but names %s to be charged",
                                   DescribeRelation(limits->items[i].relid), DescribeRelation(relid)),
                            errhint("Name it in the option \"relation\".")));
}

// An engine's scan, and the relation with its partitions: nothing that could repeat or mix rows.
void CheckEngineQuery(const List* range_table, const RelationSet* charged, Oid relid) {
    int named = 0, functions = 0;
    ListCell* cell;
    foreach (cell, range_table) {
        const auto* entry = static_cast<const RangeTblEntry*>(lfirst(cell));
        if (entry->rtekind == RTE_FUNCTION) {
            ++functions;
        } else if (entry->rtekind == RTE_RELATION) {
            if (!Contains(charged, entry->relid))
                RaiseOtherQuery(relid, "It reads other relations too.");
            named += entry->relid == relid;
        } else if (entry->rtekind != RTE_RESULT && !IsGroupEntry(entry)) {
            RaiseOtherQuery(relid, "It has a join or a subquery, and another server runs it.");
        }
    }
    if (named != 1 || functions > 1)
        RaiseOtherQuery(relid, "It reads it more than once, or functions besides.");
}

// The text of a value is that value, see HasOneText.
const Node* WithoutTextCast(const Node* node) {
    if (IsA(node, CoerceViaIO))
        node = reinterpret_cast<const Node*>(reinterpret_cast<const CoerceViaIO*>(node)->arg);
    while (IsA(node, RelabelType))
        node = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(node)->arg);
    return node;
}

// The same judgement as on a query of dpboost_train.
void CheckOwnPlan(FunctionCallInfo fcinfo, RelationSet* read) {
    auto* last = reinterpret_cast<AggState*>(fcinfo->context);
    const CallSite site = FindCallSite(last, AggGetAggref(fcinfo));
    const PlanSources* plan = SourcesOfAggregate(site.node, site.call, last, site.gather_param);
    const Persons persons = FindPersons(Inspect(read, RowSourcesOf(plan), InvalidOid));
    if (persons.column == 0)
        return;
    const char* name = get_attname(persons.use->relid, persons.column, false);
    const Node* unit = nullptr;
    if (list_length(site.call->args) > kUnitArgument)
        unit = WithoutTextCast(reinterpret_cast<const Node*>(
            static_cast<const TargetEntry*>(list_nth(site.call->args, kUnitArgument))->expr));
    if (unit == nullptr || TraceExpression(plan, unit, -1, persons.use) != persons.column)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("the call does not pass the privacy unit \"%s\"", name),
                        errdetail("By it %s tells persons apart, whose rows must be counted together.",
                                  DescribeRelation(persons.use->relid)),
                        errhint("Pass %s::text as last argument.", quote_identifier(name))));
}

void CheckQuery(FunctionCallInfo fcinfo, Oid relid, const RelationSet* charged) {
    List* range_table = reinterpret_cast<AggState*>(fcinfo->context)->ss.ps.state->es_range_table;
    RelationSet* read = RelationsOfRangeTable(range_table);
    if (!Contains(read, relid))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("the query does not read %s, which it names to be charged", DescribeRelation(relid)),
                 errdetail("Only the server that has the relation itself trains on it, and not on one of "
                           "its parts.")));
    CheckAllCharged(read, charged, relid);
    if (CallsOwnAggregate(fcinfo))
        CheckOwnPlan(fcinfo, read);
    else if (IsGoverned(charged))
        CheckEngineQuery(range_table, charged, relid);
}

}  // namespace

bool CallsOwnAggregate(FunctionCallInfo fcinfo) {
    const Aggref* aggref = AggGetAggref(fcinfo);
    if (aggref == nullptr)
        return false;
    HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
    if (!HeapTupleIsValid(tuple))
        return false;
    const Oid final_function = reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple))->aggfinalfn;
    ReleaseSysCache(tuple);
    return final_function == fcinfo->flinfo->fn_oid;
}

void FindRowsCharge(FunctionCallInfo fcinfo, const RowsState* state, TrainingCall* call) {
    const Oid relid = NamedRelation(state);
    Relation relation = relation_open(relid, AccessShareLock);
    CheckMaySelect(relid, call->caller);
    RelationSet* charged = RelationsBehind(relid);
    const char* unit = UnitOfRelation(charged, relid);
    CheckUnit(state, relid, unit);
    CheckQuery(fcinfo, relid, charged);
    call->relations = charged;
    call->unit = unit;
    call->progress_relation = relid;
    relation_close(relation, NoLock);
}

}  // namespace dpboost
