// Reads the plan's version of the call's expressions. There a column is a Var of the node below, but it still
// carries the place in the query that it stands for (varnosyn, varattnosyn), which is all we need: the name a
// user knows it by, and the relation whose declarations apply.
#include "postgres/train/aggregate/call_expressions.h"

#include "postgres/train/aggregate/call_names.h"

namespace dpboost {

namespace {

enum Argument { kModel, kOptions, kTarget, kFirstFeature };

Expr* ArgumentExpression(const Aggref* call, int argument) {
    return static_cast<TargetEntry*>(list_nth(call->args, argument))->expr;
}

// ---- constant arguments ----

bool IsGroupingColumn(const Agg* agg, const Var* var) {
    if (var->varno != OUTER_VAR || var->varlevelsup != 0)
        return false;
    for (int i = 0; i < agg->numCols; ++i)
        if (agg->grpColIdx[i] == var->varattno)
            return true;
    return false;
}

struct ConstantCheck {
    const AggState* state;
    bool varies;          // within a group
    bool reads_grouping;  // differs between groups
    bool arrives;         // as values of rows that another server sends
};

const RangeTblEntry* EntryOf(const AggState* state, const Var* var) {
    const List* range_table = state->ss.ps.state->es_range_table;
    if (var->varnosyn == 0 || static_cast<int>(var->varnosyn) > list_length(range_table))
        return nullptr;
    return static_cast<const RangeTblEntry*>(list_nth(range_table, var->varnosyn - 1));
}

// Where an engine sends the rows of a query from other servers, all that the call says are columns of its scan, which stands
// for a function. Whether they are the same in all rows is seen when rows come.
bool ComesFromFunction(const AggState* state, const Var* var) {
    const RangeTblEntry* entry = EntryOf(state, var);
    return entry != nullptr && entry->rtekind == RTE_FUNCTION && var->varlevelsup == 0;
}

bool FindVariation(Node* node, void* context) {
    auto* check = static_cast<ConstantCheck*>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, Var)) {
        const auto* agg = reinterpret_cast<const Agg*>(check->state->ss.ps.plan);
        const bool grouped =
            agg->groupingSets == NIL && IsGroupingColumn(agg, reinterpret_cast<const Var*>(node));
        const bool arrives = !grouped && ComesFromFunction(check->state, reinterpret_cast<const Var*>(node));
        check->reads_grouping |= grouped;
        check->arrives |= arrives;
        check->varies |= !grouped && !arrives;
        return false;
    }
    if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan)) {
        check->varies = true;
        return false;
    }
    return WalkExpression(node, FindVariation, context);
}

ConstantCheck CheckArgument(AggState* state, const Aggref* call, int argument, const char* what) {
    ConstantCheck check = {state, false, false, false};
    Node* expression = reinterpret_cast<Node*>(ArgumentExpression(call, argument));
    FindVariation(expression, &check);
    if (check.varies || contain_volatile_functions(expression))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("%s of dpboost_train must be the same for all rows of a group", what),
                        errdetail("Constants, parameters and expressions of the columns in a plain GROUP BY "
                                  "are.")));
    return check;
}

// ---- where a value comes from ----

// Removes casts that keep the value's meaning: relabelings, domains, collations and cast functions.
const Node* WithoutCasts(const Node* node) {
    for (;;) {
        if (IsA(node, RelabelType)) {
            node = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(node)->arg);
        } else if (IsA(node, CoerceToDomain)) {
            node = reinterpret_cast<const Node*>(reinterpret_cast<const CoerceToDomain*>(node)->arg);
        } else if (IsA(node, CollateExpr)) {
            node = reinterpret_cast<const Node*>(reinterpret_cast<const CollateExpr*>(node)->arg);
        } else if (IsA(node, FuncExpr) &&
                   reinterpret_cast<const FuncExpr*>(node)->funcformat != COERCE_EXPLICIT_CALL &&
                   list_length(reinterpret_cast<const FuncExpr*>(node)->args) >= 1) {
            node = static_cast<const Node*>(linitial(reinterpret_cast<const FuncExpr*>(node)->args));
        } else {
            return node;
        }
    }
}

// A numeric value keeps its range when it is cast to another numeric type; other casts change the meaning.
bool KeepsDomain(Oid from, Oid to) {
    ValueKind kind_from, kind_to;
    if (!ValueKindOf(from, &kind_from) || !ValueKindOf(to, &kind_to))
        return false;
    return (IsNumber(kind_from) && IsNumber(kind_to) && IsTime(kind_from) == IsTime(kind_to)) ||
           getBaseType(from) == getBaseType(to) || (!IsNumber(kind_from) && !IsNumber(kind_to));
}

SourceColumn DescribeExpression(const AggState* state, const Node* expression, int number) {
    SourceColumn column;
    memset(static_cast<void*>(&column), 0, sizeof column);
    column.name = number > 0 ? psprintf("f%d", number) : "target";
    column.type = exprType(expression);
    const Node* origin = WithoutCasts(expression);
    if (!IsA(origin, Var))
        return column;
    const Var* var = reinterpret_cast<const Var*>(origin);
    const RangeTblEntry* entry = EntryOf(state, var);
    if (entry == nullptr || var->varattnosyn <= 0 || var->varattnosyn > list_length(entry->eref->colnames))
        return column;
    column.name = strVal(list_nth(entry->eref->colnames, var->varattnosyn - 1));
    if (entry->rtekind == RTE_RELATION && KeepsDomain(var->vartype, column.type)) {
        column.relid = entry->relid;
        column.attnum = var->varattnosyn;
    }
    return column;
}

// Two features under one name could not be told apart by a row at prediction: the later one is numbered.
void MakeNamesUnique(SourceColumns* columns) {
    for (int i = 0; i < columns->count; ++i)
        for (int j = 0; j < i; ++j)
            if (strcmp(columns->columns[i].name, columns->columns[j].name) == 0) {
                columns->columns[i].name = psprintf("%s_%d", columns->columns[i].name, i + 1);
                j = -1;
            }
}

// ---- what the target reads ----

bool CollectVars(Node* node, void* context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Var)) {
        auto** vars = static_cast<List**>(context);
        *vars = lappend(*vars, node);
        return false;
    }
    return WalkExpression(node, CollectVars, context);
}

List* VarsOf(const Node* expression) {
    List* vars = NIL;
    CollectVars(const_cast<Node*>(expression), &vars);
    return vars;
}

bool ShareAVar(const List* a, const List* b) {
    ListCell *left, *right;
    foreach (left, a)
        foreach (right, b) {
            const Var* x = static_cast<const Var*>(lfirst(left));
            const Var* y = static_cast<const Var*>(lfirst(right));
            if (x->varno == y->varno && x->varattno == y->varattno)
                return true;
        }
    return false;
}

// Whether the target reads the column of the row that the whole-row Var stands for. A column seen through a
// join's alias is known by its name only.
bool TargetReadsColumn(const AggState* state, const List* target_vars, const Var* row, const char* name,
                       int attnum) {
    ListCell* cell;
    foreach (cell, target_vars) {
        const Var* var = static_cast<const Var*>(lfirst(cell));
        const RangeTblEntry* entry = EntryOf(state, var);
        if (entry == nullptr || var->varattnosyn <= 0)
            continue;
        if (var->varnosyn == row->varnosyn && var->varattnosyn == attnum)
            return true;
        if (entry->rtekind == RTE_JOIN && var->varattnosyn <= list_length(entry->eref->colnames) &&
            strcmp(strVal(list_nth(entry->eref->colnames, var->varattnosyn - 1)), name) == 0)
            return true;
    }
    return false;
}

// The name of a row's field: as its type says, as a subquery says, or none for ROW(...), whose fields are
// called f1, f2, ... Empty for a dropped column.
const char* FieldName(const RowExpr* row, TupleDesc descriptor, int field) {
    if (descriptor != nullptr) {
        const FormData_pg_attribute* attribute = TupleDescAttr(descriptor, field);
        return attribute->attisdropped ? "" : pstrdup(NameStr(attribute->attname));
    }
    const char* name = field < list_length(row->colnames) ? strVal(list_nth(row->colnames, field)) : "";
    return strcmp(name, psprintf("f%d", field + 1)) == 0 ? nullptr : name;
}

SourceColumns ColumnsOfRowExpression(const AggState* state, const RowExpr* row, const List* target_vars,
                                     const CallNames& names) {
    SourceColumns result = NumberedColumns(list_length(row->args), InvalidOid);
    TupleDesc descriptor =
        row->row_typeid == RECORDOID ? nullptr : lookup_rowtype_tupdesc(row->row_typeid, -1);
    const bool has_source_names = descriptor == nullptr && names.row_count == result.count;
    int kept = 0;
    for (int i = 0; i < result.count; ++i) {
        const Node* field = static_cast<const Node*>(list_nth(row->args, i));
        const char* name = FieldName(row, descriptor, i);
        if ((name != nullptr && name[0] == '\0') || ShareAVar(VarsOf(field), target_vars))
            continue;
        if (name == nullptr && has_source_names)
            name = names.row_names[i];
        result.columns[kept] = DescribeExpression(state, field, i + 1);
        if (name != nullptr)
            result.columns[kept].name = name;
        result.fields[kept++] = i;
    }
    if (descriptor != nullptr)
        ReleaseTupleDesc(descriptor);
    result.count = kept;
    MakeNamesUnique(&result);
    return result;
}

void ReadRow(AggState* state, const Aggref* call, const Node* row, const CallNames& names,
             CallExpressions* result) {
    const List* target_vars = VarsOf(reinterpret_cast<const Node*>(ArgumentExpression(call, kTarget)));
    result->shape = FeatureShape::kRow;
    result->row_type = getBaseType(exprType(row));
    result->row_type_known = true;
    if (IsA(row, RowExpr)) {
        result->features =
            ColumnsOfRowExpression(state, reinterpret_cast<const RowExpr*>(row), target_vars, names);
    } else if (result->row_type != RECORDOID) {
        TupleDesc descriptor = lookup_rowtype_tupdesc(result->row_type, -1);
        result->features = ColumnsOfRowType(descriptor, get_typ_typrelid(result->row_type));
        ReleaseTupleDesc(descriptor);
        LeaveOutTarget(state, call, &result->features);
    } else {
        result->row_type_known = false;
    }
}

// A model of the target by itself knows nothing else, and costs as much.
void RefuseTarget(const Aggref* call, int argument, const SourceColumn& feature) {
    const auto* target = reinterpret_cast<const Node*>(ArgumentExpression(call, kTarget));
    if (VarsOf(target) != NIL && equal(target, ArgumentExpression(call, argument)))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the target cannot be a feature"),
                        errdetail("Feature \"%s\" is the same expression.", feature.name)));
}

}  // namespace

bool CheckCallForm(AggState* state, const Aggref* call) {
    if (call->aggdistinct != NIL || call->aggorder != NIL)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("%s is not supported within a call of dpboost_train",
                               call->aggdistinct != NIL ? "DISTINCT" : "ORDER BY"),
                        errdetail("A training takes every row for itself, in any order."),
                        errhint("Use a subquery.")));
    const ConstantCheck name = CheckArgument(state, call, kModel, "the model name");
    const ConstantCheck options = CheckArgument(state, call, kOptions, "the options");
    if (reinterpret_cast<const Agg*>(state->ss.ps.plan)->numCols > 0 && !name.reads_grouping && !name.arrives)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the model name must differ between groups"),
                        errdetail("Every group trains a model of its own."),
                        errhint("Make the name from the columns in GROUP BY, for example 'sales_' || "
                                "region.")));
    return name.arrives || options.arrives;
}

CallExpressions ReadCallExpressions(AggState* state, const Aggref* call) {
    CallExpressions result;
    memset(static_cast<void*>(&result), 0, sizeof result);
    result.array_length = -1;
    result.target =
        DescribeExpression(state, reinterpret_cast<const Node*>(ArgumentExpression(call, kTarget)), 0);
    const CallNames names = FindCallNames(state->ss.ps.state->es_sourceText, call->location, "dpboost_train");
    const bool has_names = names.count == list_length(call->args);
    if (has_names && names.names[kTarget] != nullptr)
        result.target.name = names.names[kTarget];
    const int count = list_length(call->args) - kFirstFeature;
    const Node* first = reinterpret_cast<const Node*>(ArgumentExpression(call, kFirstFeature));
    const Oid first_type = exprType(first);
    if (count == 1 && type_is_rowtype(first_type)) {
        ReadRow(state, call, first, names, &result);
        return result;
    }
    if (count == 1 && OidIsValid(get_element_type(getBaseType(first_type)))) {
        result.shape = FeatureShape::kArray;
        result.element_type = get_element_type(getBaseType(first_type));
        const Node* array = WithoutCasts(first);
        if (IsA(array, ArrayExpr) && !reinterpret_cast<const ArrayExpr*>(array)->multidims)
            result.array_length = list_length(reinterpret_cast<const ArrayExpr*>(array)->elements);
        return result;
    }
    result.shape = FeatureShape::kColumns;
    result.features = NumberedColumns(count, InvalidOid);
    for (int i = 0; i < count; ++i) {
        SourceColumn* column = &result.features.columns[i];
        *column = DescribeExpression(
            state, reinterpret_cast<const Node*>(ArgumentExpression(call, kFirstFeature + i)), i + 1);
        if (has_names && names.names[kFirstFeature + i] != nullptr)
            column->name = names.names[kFirstFeature + i];
        RefuseTarget(call, kFirstFeature + i, *column);
    }
    MakeNamesUnique(&result.features);
    return result;
}

void LeaveOutTarget(AggState* state, const Aggref* call, SourceColumns* columns) {
    const Node* row = reinterpret_cast<const Node*>(ArgumentExpression(call, kFirstFeature));
    if (!IsA(row, Var) || reinterpret_cast<const Var*>(row)->varattnosyn != 0)
        return;  // of a row that is itself a column, fields have the numbers of other columns
    const List* target_vars = VarsOf(reinterpret_cast<const Node*>(ArgumentExpression(call, kTarget)));
    int kept = 0;
    for (int i = 0; i < columns->count; ++i) {
        if (TargetReadsColumn(state, target_vars, reinterpret_cast<const Var*>(row), columns->columns[i].name,
                              columns->fields[i] + 1))
            continue;
        columns->columns[kept] = columns->columns[i];
        columns->fields[kept++] = columns->fields[i];
    }
    columns->count = kept;
}

NullableDatum EvaluateArgument(AggState* state, const Aggref* call, int argument) {
    ExprState* expression = ExecInitExpr(ArgumentExpression(call, argument), &state->ss.ps);
    NullableDatum result;
    result.value = ExecEvalExpr(expression, state->ss.ps.ps_ExprContext, &result.isnull);
    return result;
}

}  // namespace dpboost
