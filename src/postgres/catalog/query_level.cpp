// Follows columns through the aliases of joins, subqueries and views down to the sources of rows, and finds in
// conditions which of them are equal to what.
#include "postgres/catalog/query_level.h"

namespace dpboost {
namespace {

// ---- columns ----

// A column at some level; `var` is nullptr if it is an expression.
struct Place {
    const QueryLevel* level;
    const Var* var;
};

const Node* WithoutRelabeling(const Node* node) {
    while (node != nullptr && IsA(node, RelabelType))
        node = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(node)->arg);
    return node;
}

Place PlaceOf(const QueryLevel* level, const Node* node) {
    node = WithoutRelabeling(node);
    if (node == nullptr || !IsA(node, Var))
        return {level, nullptr};
    const auto* var = reinterpret_cast<const Var*>(node);
    for (Index up = var->varlevelsup; up > 0 && level != nullptr; --up)
        level = level->parent;
    if (level == nullptr)
        return {level, nullptr};
    const auto* entry = rt_fetch(var->varno, level->query->rtable);
    if (entry->rtekind == RTE_JOIN && var->varattno > 0)
        return PlaceOf(level, static_cast<const Node*>(list_nth(entry->joinaliasvars, var->varattno - 1)));
    return {level, var};
}

const Node* TargetOf(const QueryLevel* level, AttrNumber column) {
    if (column <= 0 || column > list_length(level->query->targetList))
        return nullptr;
    return reinterpret_cast<const Node*>(
        static_cast<const TargetEntry*>(list_nth(level->query->targetList, column - 1))->expr);
}

// The source whose column the expression is, and which; -1 if it is something else.
int SourceColumnOf(const QueryLevel* level, const Node* node, AttrNumber* column) {
    const Place place = PlaceOf(level, node);
    if (place.var == nullptr || place.var->varattno <= 0)
        return -1;
    const LevelEntry& entry = place.level->entries[place.var->varno];
    *column = place.var->varattno;
    if (entry.source >= 0)
        return entry.source;
    if (entry.level == nullptr)
        return -1;
    return entry.level->enclosed >= 0 ? entry.level->enclosed
                                      : SourceColumnOf(entry.level, TargetOf(entry.level, *column), column);
}

// ---- what an expression depends on ----

struct Dependencies {
    const QueryLevel* level;
    Bitmapset* sources;
    bool unknown;  // has a subquery, or is from a query further out
};

bool FindDependencies(Node* node, void* context);

void AddDependencies(Dependencies* found, const QueryLevel* level, const Node* node) {
    const QueryLevel* outer = found->level;
    found->level = level;
    FindDependencies(const_cast<Node*>(node), found);
    found->level = outer;
}

void AddVarDependencies(Dependencies* found, const Node* node) {
    const Place place = PlaceOf(found->level, node);
    if (place.level == nullptr) {
        found->unknown = true;
    } else if (place.var == nullptr) {  // an expression behind a join's alias
        const auto* alias = reinterpret_cast<const Var*>(node);
        const auto* entry = rt_fetch(alias->varno, place.level->query->rtable);
        AddDependencies(found, place.level,
                        static_cast<const Node*>(list_nth(entry->joinaliasvars, alias->varattno - 1)));
    } else {
        const LevelEntry& entry = place.level->entries[place.var->varno];
        if (entry.source >= 0)
            found->sources = bms_add_member(found->sources, entry.source);
        else if (entry.level != nullptr && entry.level->enclosed >= 0)
            found->sources = bms_add_member(found->sources, entry.level->enclosed);
        else if (entry.level != nullptr && place.var->varattno > 0)
            AddDependencies(found, entry.level, TargetOf(entry.level, place.var->varattno));
        else
            found->unknown = true;  // a whole row, or what a single row of constants holds
    }
}

bool FindDependencies(Node* node, void* context) {
    auto* found = static_cast<Dependencies*>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, Var)) {
        AddVarDependencies(found, node);
        return found->unknown;
    }
    if (IsA(node, SubLink)) {
        found->unknown = true;
        return true;
    }
    return WalkExpression(node, FindDependencies, context);
}

// ---- equalities ----

// `side` equals `other` in all rows that come out of the sources from..to.
void AddEquality(const QueryLevel* level, const OpExpr* condition, const Node* side, const Node* other,
                 int from, int to) {
    AttrNumber column = 0;
    const int source = SourceColumnOf(level, side, &column);
    if (source < from || source >= to)
        return;
    Dependencies found = {level, nullptr, false};
    FindDependencies(const_cast<Node*>(other), &found);
    if (!found.unknown && !contain_volatile_functions(const_cast<Node*>(other)))
        AddComparison(level->all, condition, source, column, found.sources);
}

}  // namespace

void AddEqualities(const QueryLevel* level, const Node* condition, int from, int to) {
    ListCell* cell;
    if (condition == nullptr)
        return;
    if (IsA(condition, List)) {
        foreach (cell, reinterpret_cast<const List*>(condition))
            AddEqualities(level, static_cast<const Node*>(lfirst(cell)), from, to);
    } else if (IsA(condition, BoolExpr) && reinterpret_cast<const BoolExpr*>(condition)->boolop == AND_EXPR) {
        foreach (cell, reinterpret_cast<const BoolExpr*>(condition)->args)
            AddEqualities(level, static_cast<const Node*>(lfirst(cell)), from, to);
    } else if (IsA(condition, OpExpr) && list_length(reinterpret_cast<const OpExpr*>(condition)->args) == 2) {
        const auto* operation = reinterpret_cast<const OpExpr*>(condition);
        const auto* left = static_cast<const Node*>(linitial(operation->args));
        const auto* right = static_cast<const Node*>(lsecond(operation->args));
        AddEquality(level, operation, left, right, from, to);
        AddEquality(level, operation, right, left, from, to);
    }
}

AttrNumber TraceLevel(const QueryLevel* level, AttrNumber column, const RelationUse* use) {
    while (level != nullptr && level->enclosed < 0) {
        const Place place = PlaceOf(level, TargetOf(level, column));
        if (place.var == nullptr || place.var->varattno <= 0)
            return 0;
        const LevelEntry& entry = place.level->entries[place.var->varno];
        column = place.var->varattno;
        if (entry.use == use)
            return column;
        level = entry.level;
    }
    return 0;
}

}  // namespace dpboost
