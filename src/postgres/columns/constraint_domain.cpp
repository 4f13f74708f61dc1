// Reads public domains out of CHECK constraints. Conditions are followed through AND and OR to comparisons of
// the column with constants by built-in operators; everything else says nothing, so the result always
// contains all values that the constraints allow. Only built-in functions are run, to fold constants: a
// function of the table's owner must not run with the caller's rights.
#include "postgres/columns/constraint_domain.h"

namespace dpboost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The values that a condition leaves possible: a range for numbers, a list for texts. `all` says nothing.
struct Values {
    bool all;
    double lower;
    double upper;
    List* levels;  // of char*
};

// The column that is asked for: an attribute, or the VALUE of a domain type.
struct Subject {
    AttrNumber attnum;  // 0: the VALUE of a domain type
    Oid base_type;
    bool is_number;
    bool is_integer;
};

const Values kAll = {true, -kInfinity, kInfinity, NIL};
const Values kNothing = {false, kInfinity, -kInfinity, NIL};

bool IsText(Oid type) {
    return type == TEXTOID || type == VARCHAROID || type == BPCHAROID || type == NAMEOID;
}

bool IsInteger(Oid type) {
    return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID;
}

bool IsBuiltIn(Oid object) {
    return object < FirstNormalObjectId;
}

bool IsBuiltInImmutable(Oid function) {
    return IsBuiltIn(function) && func_volatile(function) == PROVOLATILE_IMMUTABLE;
}

// Whether there is anything in it but constants and what built-in immutable functions make of them.
bool HasVariable(Node* node, void* context) {
    (void)context;
    if (node == nullptr)
        return false;
    switch (nodeTag(node)) {
        case T_Const:
        case T_RelabelType:
        case T_ArrayExpr:
        case T_ArrayCoerceExpr:
        case T_CaseTestExpr:  // stands for an element inside the former
        case T_List:
            break;
        case T_FuncExpr:
            if (!IsBuiltInImmutable(reinterpret_cast<FuncExpr*>(node)->funcid))
                return true;
            break;
        case T_OpExpr:
            if (!IsBuiltInImmutable(get_opcode(reinterpret_cast<OpExpr*>(node)->opno)))
                return true;
            break;
        default:
            return true;
    }
    return WalkExpression(node, HasVariable, nullptr);
}

const Const* FoldConstant(Node* node) {
    if (HasVariable(node, nullptr))
        return nullptr;
    Node* folded = eval_const_expressions(nullptr, node);
    if (!IsA(folded, Const) || reinterpret_cast<Const*>(folded)->constisnull)
        return nullptr;
    return reinterpret_cast<Const*>(folded);
}

// Integers as wider numbers, character(n) as text: casts that the parser adds and that keep value and order.
bool IsWideningCast(const FuncExpr* call) {
    if (call->funcformat != COERCE_IMPLICIT_CAST || !IsBuiltIn(call->funcid) || list_length(call->args) != 1)
        return false;
    if (call->funcresulttype == TEXTOID)
        return exprType(static_cast<Node*>(linitial(call->args))) == BPCHAROID;
    return call->funcresulttype == INT4OID || call->funcresulttype == INT8OID ||
           call->funcresulttype == NUMERICOID || call->funcresulttype == FLOAT8OID;
}

// Whether the expression is the column itself, seen through casts that keep value and order.
bool IsSubject(Node* node, const Subject& subject) {
    for (;;) {
        if (node == nullptr)
            return false;
        if (IsA(node, RelabelType))
            node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
        else if (IsA(node, FuncExpr) && IsWideningCast(reinterpret_cast<FuncExpr*>(node)))
            node = static_cast<Node*>(linitial(reinterpret_cast<FuncExpr*>(node)->args));
        else if (IsA(node, CoerceToDomain))
            node = reinterpret_cast<Node*>(reinterpret_cast<CoerceToDomain*>(node)->arg);
        else
            break;
    }
    if (subject.attnum == 0)
        return IsA(node, CoerceToDomainValue);
    return IsA(node, Var) && reinterpret_cast<Var*>(node)->varattno == subject.attnum &&
           reinterpret_cast<Var*>(node)->varlevelsup == 0;
}

// The btree strategy of a built-in comparison, 0 for any other operator.
int Strategy(Oid operator_oid) {
    if (!IsBuiltIn(operator_oid))
        return 0;
    ListCell* cell;
    foreach (cell, OperatorMeanings(operator_oid)) {
        auto* meaning = static_cast<OperatorMeaning*>(lfirst(cell));
        if (IsBuiltIn(meaning->opfamily_id) && StrategyOf(meaning) <= BTMaxStrategyNumber)
            return StrategyOf(meaning);
    }
    return 0;
}

char* LevelText(Oid type, Datum value) {
    char* level = type == NAMEOID ? pstrdup(NameStr(*DatumGetName(value))) : TextDatumGetCString(value);
    for (size_t end = strlen(level); type == BPCHAROID && end > 0 && level[end - 1] == ' ';)
        level[--end] = '\0';
    return level;
}

List* AddLevel(List* levels, char* level) {
    ListCell* cell;
    foreach (cell, levels) {
        if (strcmp(static_cast<char*>(lfirst(cell)), level) == 0)
            return levels;
    }
    return lappend(levels, level);
}

// The values v with `v <strategy> constant`.
Values Compare(const Subject& subject, int strategy, Oid type, Datum constant) {
    if (!subject.is_number) {
        if (strategy != BTEqualStrategyNumber || !IsText(type))
            return kAll;
        return {false, 0, 0, list_make1(LevelText(type, constant))};
    }
    double number;
    if (!NumberOfDatum(type, constant, &number) || std::isnan(number))
        return kAll;
    const double step = subject.is_integer ? 1 : 0;
    switch (strategy) {
        case BTLessStrategyNumber:
            return {false, -kInfinity, subject.is_integer ? std::ceil(number) - step : number, NIL};
        case BTLessEqualStrategyNumber:
            return {false, -kInfinity, number, NIL};
        case BTEqualStrategyNumber:
            return {false, number, number, NIL};
        case BTGreaterEqualStrategyNumber:
            return {false, number, kInfinity, NIL};
        case BTGreaterStrategyNumber:
            return {false, subject.is_integer ? std::floor(number) + step : number, kInfinity, NIL};
        default:
            return kAll;
    }
}

Values Both(const Subject& subject, const Values& a, const Values& b) {
    if (a.all || b.all)
        return a.all ? b : a;
    if (subject.is_number)
        return {false, std::max(a.lower, b.lower), std::min(a.upper, b.upper), NIL};
    List* levels = NIL;
    ListCell *cell, *other;
    foreach (cell, a.levels) {
        foreach (other, b.levels) {
            if (strcmp(static_cast<char*>(lfirst(cell)), static_cast<char*>(lfirst(other))) == 0)
                levels = AddLevel(levels, static_cast<char*>(lfirst(cell)));
        }
    }
    return {false, 0, 0, levels};
}

Values Either(const Subject& subject, const Values& a, const Values& b) {
    if (a.all || b.all)
        return kAll;
    if (subject.is_number)
        return {false, std::min(a.lower, b.lower), std::max(a.upper, b.upper), NIL};
    List* levels = list_copy(a.levels);
    ListCell* cell;
    foreach (cell, b.levels)
        levels = AddLevel(levels, static_cast<char*>(lfirst(cell)));
    return {false, 0, 0, levels};
}

Values Analyze(Node* node, const Subject& subject);

Values AnalyzeOperator(const OpExpr* expression, const Subject& subject) {
    if (list_length(expression->args) != 2)
        return kAll;
    auto* left = static_cast<Node*>(linitial(expression->args));
    auto* right = static_cast<Node*>(lsecond(expression->args));
    Oid operator_oid = expression->opno;
    if (!IsSubject(left, subject)) {
        std::swap(left, right);
        operator_oid = get_commutator(operator_oid);
    }
    const int strategy = IsSubject(left, subject) && OidIsValid(operator_oid) ? Strategy(operator_oid) : 0;
    const Const* constant = strategy != 0 ? FoldConstant(right) : nullptr;
    if (constant == nullptr)
        return kAll;
    return Compare(subject, strategy, constant->consttype, constant->constvalue);
}

// column IN (...), that is column = ANY (array).
Values AnalyzeList(const ScalarArrayOpExpr* expression, const Subject& subject) {
    auto* left = static_cast<Node*>(linitial(expression->args));
    if (!expression->useOr || !IsSubject(left, subject) ||
        Strategy(expression->opno) != BTEqualStrategyNumber)
        return kAll;
    const Const* constant = FoldConstant(static_cast<Node*>(lsecond(expression->args)));
    const Oid type = constant != nullptr ? get_element_type(constant->consttype) : InvalidOid;
    if (!OidIsValid(type))
        return kAll;
    int16 length;
    bool by_value;
    char alignment;
    Datum* elements;
    bool* nulls;
    int count;
    get_typlenbyvalalign(type, &length, &by_value, &alignment);
    deconstruct_array(DatumGetArrayTypeP(constant->constvalue), type, length, by_value, alignment, &elements,
                      &nulls, &count);
    Values result = kNothing;
    for (int i = 0; i < count; ++i) {
        if (!nulls[i])
            result = Either(subject, result, Compare(subject, BTEqualStrategyNumber, type, elements[i]));
    }
    return result;
}

Values AnalyzeBool(const BoolExpr* expression, const Subject& subject) {
    if (expression->boolop == NOT_EXPR)
        return kAll;
    const bool is_and = expression->boolop == AND_EXPR;
    Values result = is_and ? kAll : kNothing;
    ListCell* cell;
    foreach (cell, expression->args) {
        const Values part = Analyze(static_cast<Node*>(lfirst(cell)), subject);
        result = is_and ? Both(subject, result, part) : Either(subject, result, part);
    }
    return result;
}

// A NULL is missing, whatever a constraint says: `IS NULL` adds no value.
Values Analyze(Node* node, const Subject& subject) {
    check_stack_depth();
    switch (nodeTag(node)) {
        case T_BoolExpr:
            return AnalyzeBool(reinterpret_cast<BoolExpr*>(node), subject);
        case T_OpExpr:
            return AnalyzeOperator(reinterpret_cast<OpExpr*>(node), subject);
        case T_ScalarArrayOpExpr:
            return AnalyzeList(reinterpret_cast<ScalarArrayOpExpr*>(node), subject);
        case T_NullTest: {
            auto* test = reinterpret_cast<NullTest*>(node);
            return test->nulltesttype == IS_NULL && IsSubject(reinterpret_cast<Node*>(test->arg), subject)
                       ? kNothing
                       : kAll;
        }
        default:
            return kAll;
    }
}

Values FromTable(Oid relid, const Subject& subject) {
    Values result = kAll;
    Relation relation = relation_open(relid, AccessShareLock);
    const TupleConstr* constraints = RelationGetDescr(relation)->constr;
    for (int i = 0; constraints != nullptr && i < constraints->num_check; ++i) {
        auto* condition = static_cast<Node*>(stringToNode(constraints->check[i].ccbin));
        result = Both(subject, result, Analyze(condition, subject));
    }
    relation_close(relation, NoLock);
    return result;
}

// What a domain type is built on.
Oid UnderlyingType(Oid type) {
    HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
    if (!HeapTupleIsValid(tuple))
        elog(ERROR, "cache lookup failed for type %u", type);
    const Oid base = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typbasetype;
    ReleaseSysCache(tuple);
    return base;
}

// The constraints of a domain type and of the domain types that it is built on.
Values FromDomainType(Oid type, Subject subject) {
    Values result = kAll;
    subject.attnum = 0;
    Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
    for (; get_typtype(type) == TYPTYPE_DOMAIN; type = UnderlyingType(type)) {
        ScanKeyData key;
        ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ,
                    ObjectIdGetDatum(type));
        SysScanDesc scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, nullptr, 1, &key);
        while (HeapTuple tuple = systable_getnext(scan)) {
            bool is_null;
            Datum binary =
                heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(catalog), &is_null);
            if (is_null)
                continue;
            auto* condition = static_cast<Node*>(stringToNode(TextDatumGetCString(binary)));
            result = Both(subject, result, Analyze(condition, subject));
        }
        systable_endscan(scan);
    }
    table_close(catalog, AccessShareLock);
    return result;
}

void SetLevels(ColumnDomain* domain, List* levels) {
    ListCell* cell;
    if (levels == NIL)
        return;
    domain->kind = DomainKind::kLevels;
    domain->levels = static_cast<char**>(palloc(sizeof(char*) * list_length(levels)));
    foreach (cell, levels)
        domain->levels[domain->level_count++] = static_cast<char*>(lfirst(cell));
}

// Labels in the order of the enum.
List* EnumLabels(Oid type) {
    List* labels = NIL;
    Relation catalog = table_open(EnumRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
    Relation index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
    SysScanDesc scan = systable_beginscan_ordered(catalog, index, nullptr, 1, &key);
    while (HeapTuple tuple = systable_getnext_ordered(scan, ForwardScanDirection))
        labels =
            lappend(labels, pstrdup(NameStr(reinterpret_cast<Form_pg_enum>(GETSTRUCT(tuple))->enumlabel)));
    systable_endscan_ordered(scan);
    index_close(index, AccessShareLock);
    table_close(catalog, AccessShareLock);
    return labels;
}

}  // namespace

void LoadSchemaDomain(Oid relid, AttrNumber attnum, ColumnDomain* domain) {
    const Oid type = get_atttype(relid, attnum);
    const Oid base_type = getBaseType(type);
    if (base_type == BOOLOID) {
        domain->kind = DomainKind::kBoolean;
        domain->source = DomainSource::kType;
        return;
    }
    if (get_typtype(base_type) == TYPTYPE_ENUM) {
        SetLevels(domain, EnumLabels(base_type));
        domain->source = DomainSource::kType;
        return;
    }
    const Subject subject = {attnum, base_type, HasNumber(base_type), IsInteger(base_type)};
    if (!subject.is_number && !IsText(base_type))
        return;
    const Values values = Both(subject, FromTable(relid, subject), FromDomainType(type, subject));
    if (values.all)
        return;
    domain->source = DomainSource::kConstraint;
    if (!subject.is_number) {
        SetLevels(domain, values.levels);
    } else if (std::isfinite(values.lower) && std::isfinite(values.upper) && values.lower < values.upper) {
        domain->kind = DomainKind::kRange;
        domain->lower = values.lower;
        domain->upper = values.upper;
    }
}

}  // namespace dpboost
