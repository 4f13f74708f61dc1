// Follows columns from a plan's node through the target lists of the nodes below it down to a scan, and finds
// in conditions which of them are equal to what.
#include "postgres/reading/plan_columns.h"

#include "postgres/catalog/view_sources.h"
#include "postgres/reading/plan_sources.h"

namespace dpboost {
namespace {

// An expression of a node, after all that only renames it: a column of `node`, if that is set.
struct PlanPlace {
    const Plan* plan;
    const Node* expression;
    const PlanNode* node;
    AttrNumber column;
};

const Node* TargetAt(const List* targets, AttrNumber column) {
    if (column <= 0 || column > list_length(targets))
        return nullptr;
    return reinterpret_cast<const Node*>(
        static_cast<const TargetEntry*>(list_nth(targets, column - 1))->expr);
}

// Of rows that are appended, those of the first input stand for all.
const Plan* FirstOf(const List* plans) {
    return plans == NIL ? nullptr : static_cast<const Plan*>(linitial(plans));
}

// The node whose columns a Var of `plan` shows; nullptr: the Var is of the relation that `plan` scans.
const Plan* InputOf(const PlanSources* all, const Plan* plan, const Var* var) {
    if (var->varno == INNER_VAR)
        return innerPlan(plan);
    if (IsA(plan, Append))
        return FirstOf(reinterpret_cast<const Append*>(plan)->appendplans);
    if (IsA(plan, MergeAppend))
        return FirstOf(reinterpret_cast<const MergeAppend*>(plan)->mergeplans);
    if (var->varno == OUTER_VAR)
        return outerPlan(plan);
    if (IsA(plan, SubqueryScan))
        return reinterpret_cast<const SubqueryScan*>(plan)->subplan;
    return IsA(plan, CteScan) ? PlanOfCte(all, reinterpret_cast<const CteScan*>(plan)) : nullptr;
}

const List* IndexTargets(const Plan* plan) {
    if (IsA(plan, IndexOnlyScan))
        return reinterpret_cast<const IndexOnlyScan*>(plan)->indextlist;
    return IsA(plan, ForeignScan) ? reinterpret_cast<const ForeignScan*>(plan)->fdw_scan_tlist : NIL;
}

const PlanParameter* FindParameter(const PlanSources* all, const Node* node) {
    const auto* param = reinterpret_cast<const Param*>(node);
    ListCell* cell;
    foreach (cell, param->paramkind == PARAM_EXEC ? all->parameters : NIL) {
        const auto* parameter = static_cast<const PlanParameter*>(lfirst(cell));
        if (parameter->id == param->paramid)
            return parameter;
    }
    return nullptr;
}

// One step down from a Var. False if it is a column of a node, or cannot be followed.
bool StepDown(const PlanSources* all, PlanPlace* place, const Var* var) {
    if (var->varno == INDEX_VAR) {
        place->expression = TargetAt(IndexTargets(place->plan), var->varattno);
        return true;
    }
    const Plan* input = InputOf(all, place->plan, var);
    const PlanNode* here = FindPlanNode(all, place->plan);
    const PlanNode* below = input == nullptr ? nullptr : FindPlanNode(all, input);
    if (input == nullptr || (below != nullptr && below->encloses)) {
        place->node = input == nullptr ? here : below;
        place->column = var->varattno;
        return false;
    }
    if (var->varattno <= 0)
        return false;
    place->expression = TargetAt(input->targetlist, var->varattno);
    place->plan = input;
    return true;
}

PlanPlace PlaceOf(const PlanSources* all, const Plan* plan, const Node* expression) {
    PlanPlace place = {plan, expression, nullptr, 0};
    for (;;) {
        const Node* node = place.expression;
        if (node == nullptr)
            return place;
        if (IsA(node, RelabelType)) {
            place.expression = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(node)->arg);
        } else if (IsA(node, PlaceHolderVar)) {
            place.expression =
                reinterpret_cast<const Node*>(reinterpret_cast<const PlaceHolderVar*>(node)->phexpr);
        } else if (IsA(node, Param) && FindParameter(all, node) != nullptr) {
            const PlanParameter* parameter = FindParameter(all, node);
            place.plan = parameter->join;
            place.expression = parameter->value;
        } else if (!IsA(node, Var) || !StepDown(all, &place, reinterpret_cast<const Var*>(node))) {
            return place;
        }
    }
}

// The column of the source's relation: that of a partition may have another number.
AttrNumber ColumnOfSource(const PlanSources* all, const PlanPlace& place) {
    const auto* source = static_cast<const RowSource*>(list_nth(all->rows.sources, place.node->source));
    if (place.node->encloses || place.column <= 0 || place.node->relid == source->relid)
        return place.column;
    const char* name = get_attname(place.node->relid, place.column, true);
    return name == nullptr ? 0 : get_attnum(source->relid, name);
}

// ---- what an expression depends on ----

struct Dependencies {
    const PlanSources* all;
    const Plan* plan;
    Bitmapset* sources;
    bool unknown;
};

bool FindDependencies(Node* node, void* context) {
    auto* found = static_cast<Dependencies*>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan)) {
        found->unknown = true;
        return true;
    }
    if (!IsA(node, Var) && !IsA(node, Param))
        return WalkExpression(node, FindDependencies, context);
    const PlanPlace place = PlaceOf(found->all, found->plan, node);
    if (place.node != nullptr) {
        found->sources = bms_add_member(found->sources, place.node->source);
    } else if (place.expression == nullptr || IsA(place.expression, Var)) {
        found->unknown = true;
    } else if (!IsA(place.expression, Param)) {  // that is left: the same for all rows
        const Plan* plan = found->plan;
        found->plan = place.plan;
        FindDependencies(const_cast<Node*>(place.expression), context);
        found->plan = plan;
    }
    return found->unknown;
}

void AddEquality(PlanSources* all, const Plan* plan, const OpExpr* condition, const Node* side,
                 const Node* other, int from, int to) {
    const PlanPlace place = PlaceOf(all, plan, side);
    if (place.node == nullptr || place.node->source < from || place.node->source >= to)
        return;
    Dependencies found = {all, plan, nullptr, false};
    FindDependencies(const_cast<Node*>(other), &found);
    const AttrNumber column = ColumnOfSource(all, place);
    if (column > 0 && !found.unknown && !contain_volatile_functions(const_cast<Node*>(other)))
        AddComparison(&all->rows, condition, place.node->source, column, found.sources);
}

}  // namespace

const Plan* PlanOfCte(const PlanSources* all, const CteScan* scan) {
    return static_cast<const Plan*>(list_nth(all->statement->subplans, scan->ctePlanId - 1));
}

const PlanNode* FindPlanNode(const PlanSources* all, const Plan* plan) {
    ListCell* cell;
    foreach (cell, all->nodes) {
        const auto* node = static_cast<const PlanNode*>(lfirst(cell));
        if (node->plan == plan)
            return node;
    }
    return nullptr;
}

void AddPlanEqualities(PlanSources* all, const Plan* plan, const List* conditions, int from, int to) {
    ListCell* cell;
    foreach (cell, conditions) {
        const auto* condition = static_cast<const Node*>(lfirst(cell));
        if (!IsA(condition, OpExpr) || list_length(reinterpret_cast<const OpExpr*>(condition)->args) != 2)
            continue;
        const auto* operation = reinterpret_cast<const OpExpr*>(condition);
        const auto* left = static_cast<const Node*>(linitial(operation->args));
        const auto* right = static_cast<const Node*>(lsecond(operation->args));
        AddEquality(all, plan, operation, left, right, from, to);
        AddEquality(all, plan, operation, right, left, from, to);
    }
}

// ---- expressions of the call ----

// A partition's row in the type of its parent: the same field of the row as it was.
static const Node* BeforeConversion(const Node* node, int* field) {
    while (node != nullptr && IsA(node, ConvertRowtypeExpr)) {
        const auto* conversion = reinterpret_cast<const ConvertRowtypeExpr*>(node);
        const auto* row = reinterpret_cast<const Node*>(conversion->arg);
        const char* name =
            get_attname(get_typ_typrelid(conversion->resulttype), static_cast<AttrNumber>(*field + 1), true);
        const Oid relid = get_typ_typrelid(exprType(row));
        if (name == nullptr || get_attnum(relid, name) <= 0)
            return nullptr;
        *field = get_attnum(relid, name) - 1;
        node = row;
    }
    return node;
}

// The field of a row, as a place; rows are followed as columns are.
static PlanPlace FieldOf(const PlanSources* all, const Node* expression, int field) {
    PlanPlace row = PlaceOf(all, all->aggregate, expression);
    const Node* node = row.expression;
    if (node != nullptr && IsA(node, ConvertRowtypeExpr)) {
        node = BeforeConversion(node, &field);
        row = PlaceOf(all, row.plan, node);
    }
    if (node != nullptr && IsA(node, RowExpr)) {
        const auto* fields = reinterpret_cast<const RowExpr*>(node)->args;
        return PlaceOf(
            all, row.plan,
            field < list_length(fields) ? static_cast<const Node*>(list_nth(fields, field)) : nullptr);
    }
    const bool is_row =
        node != nullptr && IsA(node, Var) && reinterpret_cast<const Var*>(node)->varattno == 0;
    const auto column = static_cast<AttrNumber>(field + 1);
    if (is_row && row.node != nullptr) {
        row.column = column;
        return row;
    }
    const Plan* input = is_row ? InputOf(all, row.plan, reinterpret_cast<const Var*>(node)) : nullptr;
    return PlaceOf(all, input, input == nullptr ? nullptr : TargetAt(input->targetlist, column));
}

AttrNumber TraceExpression(const PlanSources* all, const Node* expression, int field,
                           const RelationUse* use) {
    const PlanPlace place =
        field >= 0 ? FieldOf(all, expression, field) : PlaceOf(all, all->aggregate, expression);
    if (place.node == nullptr || place.node->encloses)
        return 0;
    const auto* source = static_cast<const RowSource*>(list_nth(all->rows.sources, place.node->source));
    const AttrNumber column = ColumnOfSource(all, place);
    if (use->first != place.node->source || column <= 0)
        return 0;
    if (use->relid == source->relid)
        return column;
    return place.node->level == nullptr ? 0 : TraceLevel(place.node->level, column, use);
}

}  // namespace dpboost
