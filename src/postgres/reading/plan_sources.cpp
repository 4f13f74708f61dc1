// Takes a plan apart, from the input of the aggregate down to the scans. Nodes that are not known enclose what
// they read, so that whatever a later PostgreSQL adds is refused rather than overlooked.
#include "postgres/reading/plan_sources.h"

#include "postgres/catalog/relations.h"
#include "postgres/catalog/view_sources.h"
#include "postgres/reading/plan_columns.h"

namespace dpboost {
namespace {

void AddPlan(PlanSources* all, const Plan* plan);

void AddNode(PlanSources* all, const Plan* plan, int source, bool encloses, Oid relid,
             const QueryLevel* level) {
    auto* node = static_cast<PlanNode*>(palloc(sizeof(PlanNode)));
    *node = {plan, source, encloses, relid, level};
    all->nodes = lappend(all->nodes, node);
}

// The node gives rows of its own kind, made from what came since the mark.
void EncloseNode(PlanSources* all, const Plan* plan, SourceMark mark, const char* obstacle, bool has_key,
                 List* key) {
    Enclose(&all->rows, mark, obstacle, InvalidOid);
    AddNode(all, plan, AddOther(&all->rows, has_key, key), true, InvalidOid, nullptr);
}

// ---- scans ----

const RangeTblEntry* EntryAt(const PlanSources* all, Index index) {
    return static_cast<const RangeTblEntry*>(list_nth(all->statement->rtable, index - 1));
}

// A scan of a relation; of a partition it is a scan of the table whose partitions are being appended.
void AddScan(PlanSources* all, const Plan* plan, const char* obstacle) {
    const Oid relid = EntryAt(all, reinterpret_cast<const Scan*>(plan)->scanrelid)->relid;
    const SourceMark mark = MarkSources(&all->rows);
    const QueryLevel* level = nullptr;
    int source = all->appended;
    if (source < 0 && get_rel_relkind(relid) == RELKIND_MATVIEW)
        level = AddMaterializedView(&all->rows, relid, nullptr, &source);
    else if (source < 0)
        source = AddRelation(&all->rows, relid, false, nullptr);
    if (obstacle != nullptr)
        Obstruct(&all->rows, mark, obstacle, InvalidOid);
    AddNode(all, plan, source, false, relid, level);
}

// The rows of a common table expression. A second scan of it reads all of it a second time.
void AddCteScan(PlanSources* all, const CteScan* scan) {
    const Plan* plan = PlanOfCte(all, scan);
    const bool again = list_member_ptr(all->tables_seen, plan);
    const SourceMark mark = MarkSources(&all->rows);
    all->tables_seen = lappend(all->tables_seen, const_cast<Plan*>(plan));
    AddPlan(all, plan);
    if (again)
        EncloseNode(all, &scan->scan.plan, mark, "a WITH query that is read more than once", false, NIL);
}

// The table whose partitions or children a node appends; 0 if it appends anything else.
Oid AppendedRelation(const PlanSources* all, const Bitmapset* relids) {
    int index;
    if (!bms_get_singleton_member(relids, &index) || EntryAt(all, index)->rtekind != RTE_RELATION)
        return InvalidOid;
    return EntryAt(all, index)->relid;
}

void AddAppend(PlanSources* all, const Plan* plan, const List* plans, const Bitmapset* relids) {
    const SourceMark mark = MarkSources(&all->rows);
    const Oid relid = AppendedRelation(all, relids);
    const int outer = all->appended;
    ListCell* cell;
    if (OidIsValid(relid) && outer < 0)
        all->appended = AddRelation(&all->rows, relid, true, nullptr);
    foreach (cell, plans)
        AddPlan(all, static_cast<const Plan*>(lfirst(cell)));
    all->appended = outer;
    if (!OidIsValid(relid))
        EncloseNode(all, plan, mark, "UNION", false, NIL);
}

// ---- joins ----

void AddConditions(PlanSources* all, const Plan* plan, const List* conditions, int from, int to) {
    AddPlanEqualities(all, plan, conditions, from, to);
    AddSideEffect(&all->rows, reinterpret_cast<Node*>(const_cast<List*>(conditions)), nullptr);
}

void AddParameters(PlanSources* all, const NestLoop* join) {
    ListCell* cell;
    foreach (cell, join->nestParams) {
        auto* parameter = static_cast<PlanParameter*>(palloc(sizeof(PlanParameter)));
        const auto* given = static_cast<const NestLoopParam*>(lfirst(cell));
        *parameter = {given->paramno, &join->join.plan, reinterpret_cast<const Node*>(given->paramval)};
        all->parameters = lappend(all->parameters, parameter);
    }
}

void AddJoinConditions(PlanSources* all, const Join* join, int from, int to) {
    const Plan* plan = &join->plan;
    AddConditions(all, plan, join->joinqual, from, to);
    if (IsA(join, HashJoin))
        AddConditions(all, plan, reinterpret_cast<const HashJoin*>(join)->hashclauses, from, to);
    if (IsA(join, MergeJoin))
        AddConditions(all, plan, reinterpret_cast<const MergeJoin*>(join)->mergeclauses, from, to);
}

// As in view_sources; the planner adds joins that only ask whether there is a partner.
void AddJoin(PlanSources* all, const Join* join) {
    const JoinType type = join->jointype;
    const SourceMark start = MarkSources(&all->rows);
    AddPlan(all, outerPlan(join));
    if (type == JOIN_RIGHT || type == JOIN_FULL)
        Obstruct(&all->rows, start, "an outer join", InvalidOid);
    if (ReturnsInnerRowsOnly(type))
        Enclose(&all->rows, start, "a subquery in an expression", InvalidOid);
    const SourceMark middle = MarkSources(&all->rows);
    if (IsA(join, NestLoop))
        AddParameters(all, reinterpret_cast<const NestLoop*>(join));
    AddPlan(all, innerPlan(join));
    const int end = list_length(all->rows.sources);
    if (type == JOIN_INNER)
        AddJoinConditions(all, join, start.source, end);
    else if (type == JOIN_LEFT)
        AddJoinConditions(all, join, middle.source, end);
    else
        AddJoinConditions(all, join, start.source, type == JOIN_RIGHT ? middle.source : start.source);
    if (type == JOIN_LEFT || type == JOIN_FULL)
        Obstruct(&all->rows, middle, "an outer join", InvalidOid);
    else if (type == JOIN_SEMI || type == JOIN_ANTI)
        Enclose(&all->rows, middle, "a subquery in an expression", InvalidOid);
    else if (type != JOIN_INNER && type != JOIN_RIGHT && !ReturnsInnerRowsOnly(type))
        Obstruct(&all->rows, start, "an unknown kind of join", InvalidOid);
}

// ---- groups ----

// The columns of a node's result that hold columns of its input; false if one is missing.
bool KeyOfColumns(const Plan* plan, int count, const AttrNumber* columns, const Oid* operators,
                  const Oid* collations, List** key) {
    for (int i = 0; i < count; ++i) {
        AttrNumber found = 0;
        ListCell* cell;
        foreach (cell, plan->targetlist) {
            const auto* target = static_cast<const TargetEntry*>(lfirst(cell));
            const auto* var = reinterpret_cast<const Var*>(target->expr);
            if (IsA(var, Var) && var->varno == OUTER_VAR && var->varattno == columns[i])
                found = target->resno;
        }
        if (found == 0)
            return false;
        auto* column = static_cast<SourceKey*>(palloc(sizeof(SourceKey)));
        *column = {found, operators[i], collations[i]};
        *key = lappend(*key, column);
    }
    return true;
}

void AddGroups(PlanSources* all, const Plan* plan, const char* obstacle) {
    const SourceMark mark = MarkSources(&all->rows);
    List* key = NIL;
    bool has_key = false;
    AddPlan(all, outerPlan(plan));
    if (IsA(plan, Agg)) {
        const auto* agg = reinterpret_cast<const Agg*>(plan);
        has_key = agg->groupingSets == NIL && KeyOfColumns(plan, agg->numCols, agg->grpColIdx,
                                                           agg->grpOperators, agg->grpCollations, &key);
    } else if (IsA(plan, Group)) {
        const auto* group = reinterpret_cast<const Group*>(plan);
        has_key = KeyOfColumns(plan, group->numCols, group->grpColIdx, group->grpOperators,
                               group->grpCollations, &key);
    } else if (IsA(plan, Unique)) {
        const auto* unique = reinterpret_cast<const Unique*>(plan);
        has_key = KeyOfColumns(plan, unique->numCols, unique->uniqColIdx, unique->uniqOperators,
                               unique->uniqCollations, &key);
    }
    EncloseNode(all, plan, mark, obstacle, has_key, key);
}

// ---- a node ----

// What a node does to its input that is not row by row; nullptr: nothing of the kind.
const char* ConstructOf(const Plan* plan) {
    switch (nodeTag(plan)) {
        case T_Agg:
            return reinterpret_cast<const Agg*>(plan)->numCols > 0 ? "GROUP BY or DISTINCT" : "an aggregate";
        case T_Group:
            return "GROUP BY";
        case T_Unique:
            return "DISTINCT";
        case T_WindowAgg:
            return "a window function";
        case T_SetOp:
            return "INTERSECT or EXCEPT";
        case T_Limit:
            return "LIMIT or OFFSET";
        case T_LockRows:
            return "FOR UPDATE";
        case T_ProjectSet:
            return "a set-returning function";
        default:
            return nullptr;
    }
}

// Conditions that a scan takes from an index.
const List* IndexConditions(const Plan* plan) {
    if (IsA(plan, IndexScan))
        return reinterpret_cast<const IndexScan*>(plan)->indexqualorig;
    if (IsA(plan, IndexOnlyScan))
        return reinterpret_cast<const IndexOnlyScan*>(plan)->indexqual;
    return IsA(plan, BitmapHeapScan) ? reinterpret_cast<const BitmapHeapScan*>(plan)->bitmapqualorig : NIL;
}

bool IsRelationScan(const Plan* plan) {
    return IsA(plan, SeqScan) || IsA(plan, IndexScan) || IsA(plan, IndexOnlyScan) ||
           IsA(plan, BitmapHeapScan);
}

// Nodes that read relations or none; false: it is none of these.
bool AddLeaf(PlanSources* all, const Plan* plan) {
    switch (nodeTag(plan)) {
        case T_SampleScan:
            AddScan(all, plan, "TABLESAMPLE");
            return true;
        case T_ForeignScan:
            if (reinterpret_cast<const Scan*>(plan)->scanrelid == 0)
                return false;
            AddScan(all, plan, nullptr);
            return true;
        case T_FunctionScan:
        case T_ValuesScan:
        case T_TableFuncScan:
        case T_NamedTuplestoreScan:
        case T_WorkTableScan:
            AddNode(all, plan, AddOther(&all->rows, false, NIL), true, InvalidOid, nullptr);
            return true;
        default:
            if (IsRelationScan(plan))
                AddScan(all, plan, nullptr);
            return IsRelationScan(plan);
    }
}

// Nodes that have inputs of their own kind; false: it is none of these.
bool AddInner(PlanSources* all, const Plan* plan) {
    switch (nodeTag(plan)) {
        case T_NestLoop:
        case T_HashJoin:
        case T_MergeJoin:
            AddJoin(all, reinterpret_cast<const Join*>(plan));
            return true;
        case T_Append:
            AddAppend(all, plan, reinterpret_cast<const Append*>(plan)->appendplans,
                      reinterpret_cast<const Append*>(plan)->apprelids);
            return true;
        case T_MergeAppend:
            AddAppend(all, plan, reinterpret_cast<const MergeAppend*>(plan)->mergeplans,
                      reinterpret_cast<const MergeAppend*>(plan)->apprelids);
            return true;
        case T_SubqueryScan:
            AddPlan(all, reinterpret_cast<const SubqueryScan*>(plan)->subplan);
            return true;
        case T_CteScan:
            AddCteScan(all, reinterpret_cast<const CteScan*>(plan));
            return true;
        case T_Result:
            if (outerPlan(plan) != nullptr)
                AddPlan(all, outerPlan(plan));
            return true;
        default:
            if (PassesRowsOn(plan))
                AddPlan(all, outerPlan(plan));
            return PassesRowsOn(plan);
    }
}

// Nodes that read relations by other nodes only, or not at all.
bool ReadsNoRelation(const Plan* plan) {
    switch (nodeTag(plan)) {
        case T_NestLoop:
        case T_HashJoin:
        case T_MergeJoin:
        case T_Append:
        case T_MergeAppend:
        case T_SubqueryScan:
        case T_CteScan:
        case T_Result:
        case T_FunctionScan:
        case T_ValuesScan:
        case T_TableFuncScan:
        case T_NamedTuplestoreScan:
        case T_WorkTableScan:
        case T_RecursiveUnion:
        case T_ModifyTable:
        case T_BitmapIndexScan:
        case T_BitmapAnd:
        case T_BitmapOr:
            return true;
        default:
            return ConstructOf(plan) != nullptr || PassesRowsOn(plan);
    }
}

// RecursiveUnion, ModifyTable, CustomScan, a join on a foreign server, or one that we have never seen.
void AddUnknownNode(PlanSources* all, const Plan* plan) {
    const char* what = IsA(plan, ModifyTable)      ? "a data-modifying statement"
                       : IsA(plan, RecursiveUnion) ? "WITH RECURSIVE"
                                                   : "a step of its plan that may mix rows";
    const SourceMark mark = MarkSources(&all->rows);
    if (outerPlan(plan) != nullptr)
        AddPlan(all, outerPlan(plan));
    if (innerPlan(plan) != nullptr)
        AddPlan(all, innerPlan(plan));
    EncloseNode(all, plan, mark, what, false, NIL);
    AddUnknown(&all->rows, what);
    all->incomplete = all->incomplete || !ReadsNoRelation(plan);
}

void AddPlan(PlanSources* all, const Plan* plan) {
    check_stack_depth();
    const int first = all->appended >= 0 ? all->appended : list_length(all->rows.sources);
    const char* construct = ConstructOf(plan);
    if (construct != nullptr)
        AddGroups(all, plan, construct);
    else if (!AddLeaf(all, plan) && !AddInner(all, plan))
        AddUnknownNode(all, plan);
    const int end = list_length(all->rows.sources);
    AddConditions(all, plan, IndexConditions(plan), first, end);
    AddConditions(all, plan, plan->qual, first, end);
    AddSideEffect(&all->rows, reinterpret_cast<Node*>(plan->targetlist), nullptr);
}

// ---- what subqueries in expressions read ----

bool AddUnseenScans(PlanState* state, void* context) {
    auto* all = static_cast<PlanSources*>(context);
    const Plan* plan = state->plan;
    if (FindPlanNode(all, plan) == nullptr && !ReadsNoRelation(plan)) {
        const SourceMark mark = MarkSources(&all->rows);
        if (!AddLeaf(all, plan))
            all->incomplete = true;
        Enclose(&all->rows, mark, "a subquery in an expression", InvalidOid);
    }
    return WalkPlanState(state, AddUnseenScans, context);
}

// Something may be read of all relations of the statement that were not found yet.
void AddOtherRelations(PlanSources* all, const char* obstacle) {
    const SourceMark mark = MarkSources(&all->rows);
    ListCell* cell;
    foreach (cell, all->statement->rtable) {
        const auto* entry = static_cast<const RangeTblEntry*>(lfirst(cell));
        const char kind = entry->rtekind == RTE_RELATION ? get_rel_relkind(entry->relid) : RELKIND_VIEW;
        bool seen = kind == RELKIND_VIEW;
        ListCell* use;
        foreach (use, all->rows.uses)
            seen = seen || static_cast<const RelationUse*>(lfirst(use))->relid == entry->relid;
        if (!seen)
            AddRelation(&all->rows, entry->relid, true, nullptr);
    }
    Enclose(&all->rows, mark, obstacle, InvalidOid);
}

}  // namespace

PlanSources* SourcesOfAggregate(AggState* node, const Aggref* call, AggState* last, int gather_param) {
    auto* all = static_cast<PlanSources*>(palloc0(sizeof(PlanSources)));
    const Plan* agg = node->ss.ps.plan;
    all->statement = node->ss.ps.state->es_plannedstmt;
    all->aggregate = agg;
    all->appended = -1;
    AddPlan(all, outerPlan(agg));
    AddSideEffect(&all->rows, reinterpret_cast<Node*>(const_cast<Aggref*>(call)), nullptr);
    AddUnseenScans(last == nullptr ? &node->ss.ps : &last->ss.ps, all);
    if (all->incomplete)
        AddOtherRelations(all, "a step of its plan that may mix rows");
    if (last == nullptr)
        return all;
    Bitmapset* outer = bms_copy(agg->extParam);
    if (gather_param >= 0)
        outer = bms_del_member(outer, gather_param);
    if (!bms_is_empty(outer) || !bms_is_empty(last->ss.ps.plan->extParam))
        AddOtherRelations(all, "a value from the query around it");
    return all;
}

const RowSources* RowSourcesOf(const PlanSources* plan) {
    return &plan->rows;
}

}  // namespace dpboost
