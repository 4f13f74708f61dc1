// Takes a view's query apart. Plain select lists, WHERE, joins and further queries of the same kind are looked
// through, so that a column can be followed to its table; everything else encloses what it reads: it gives
// rows of its own, and an obstacle to what is behind it.
#include "postgres/catalog/view_sources.h"

#include "postgres/catalog/query_level.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

namespace {

QueryLevel* BuildLevel(RowSources* all, const Query* query, const QueryLevel* parent, RelationUse* view);

Oid ViewOf(const QueryLevel* level) {
    return level->view != nullptr ? level->view->relid : InvalidOid;
}

// ---- expressions ----

// Adds what subqueries in an expression read: any row of it may change any row of the result.
bool AddSubqueries(Node* node, void* context) {
    const auto* level = static_cast<const QueryLevel*>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, SubLink)) {
        const auto* link = reinterpret_cast<SubLink*>(node);
        const SourceMark mark = MarkSources(level->all);
        BuildLevel(level->all, reinterpret_cast<const Query*>(link->subselect), level, level->view);
        Enclose(level->all, mark, "a subquery in an expression", ViewOf(level));
        return AddSubqueries(link->testexpr, context);
    }
    if (IsA(node, Query))
        return false;
    return WalkExpression(node, AddSubqueries, context);
}

void AddExpression(const QueryLevel* level, const void* expression) {
    AddSubqueries(static_cast<Node*>(const_cast<void*>(expression)), const_cast<QueryLevel*>(level));
}

// ---- entries of the range table ----

const QueryLevel* AddView(RowSources* all, Oid relid, RelationUse* within, RelationUse** use) {
    *use = BeginView(all, relid, within);
    Query* query = ViewQuery(relid);
    AddSideEffect(all, reinterpret_cast<Node*>(query), *use);
    const QueryLevel* level = BuildLevel(all, query, nullptr, *use);
    EndView(all, *use);
    return level;
}

void AddRelationEntry(QueryLevel* level, const RangeTblEntry* entry, LevelEntry* added) {
    const SourceMark mark = MarkSources(level->all);
    const char kind = get_rel_relkind(entry->relid);
    if (kind == RELKIND_VIEW) {
        added->level = AddView(level->all, entry->relid, level->view, &added->use);
        return;
    }
    if (kind == RELKIND_MATVIEW)
        added->level = AddMaterializedView(level->all, entry->relid, level->view, &added->source);
    else
        added->source = AddRelation(level->all, entry->relid, entry->inh, level->view);
    added->use = static_cast<RelationUse*>(list_nth(level->all->uses, mark.use));
    AddExpression(level, entry->tablesample);
    if (entry->tablesample != nullptr)
        Obstruct(level->all, mark, "TABLESAMPLE", ViewOf(level));
}

// A common table expression is as good as a subquery in each of its places, unless it is about itself.
void AddCommonTable(QueryLevel* level, const RangeTblEntry* entry, LevelEntry* added) {
    const QueryLevel* home = level;
    for (Index up = entry->ctelevelsup; up > 0 && home != nullptr; --up)
        home = home->parent;
    ListCell* cell;
    foreach (cell, home != nullptr && !entry->self_reference ? home->query->cteList : NIL) {
        const auto* table = static_cast<const CommonTableExpr*>(lfirst(cell));
        if (strcmp(table->ctename, entry->ctename) != 0)
            continue;
        const SourceMark mark = MarkSources(level->all);
        added->level =
            BuildLevel(level->all, reinterpret_cast<const Query*>(table->ctequery), home, level->view);
        if (!table->cterecursive)
            return;
        Enclose(level->all, mark, "WITH RECURSIVE", ViewOf(level));
        added->level = nullptr;
    }
    added->source = AddOther(level->all, false, NIL);
}

bool IsSingleRow(const RangeTblEntry* entry) {
    if (entry->rtekind == RTE_VALUES)
        return list_length(entry->values_lists) == 1;
    if (entry->rtekind != RTE_FUNCTION || list_length(entry->functions) != 1)
        return entry->rtekind == RTE_RESULT;
    return !expression_returns_set(static_cast<RangeTblFunction*>(linitial(entry->functions))->funcexpr);
}

void AddEntry(QueryLevel* level, int index) {
    const auto* entry = rt_fetch(index, level->query->rtable);
    LevelEntry* added = &level->entries[index];
    switch (entry->rtekind) {
        case RTE_RELATION:
            AddRelationEntry(level, entry, added);
            return;
        case RTE_SUBQUERY:
            added->level = BuildLevel(level->all, entry->subquery, level, level->view);
            return;
        case RTE_CTE:
            AddCommonTable(level, entry, added);
            return;
        default:
            AddExpression(level, entry->functions);
            AddExpression(level, entry->values_lists);
            AddExpression(level, entry->tablefunc);
            if (!IsSingleRow(entry))
                added->source = AddOther(level->all, false, NIL);
    }
}

// ---- FROM ----

void AddFrom(QueryLevel* level, const Node* node);

// Where one side keeps its rows without a partner, the other's rows take away such rows: they change what is
// there without them. The condition says nothing about the side that is kept.
void AddJoin(QueryLevel* level, const JoinExpr* join) {
    RowSources* all = level->all;
    const SourceMark start = MarkSources(all);
    AddFrom(level, join->larg);
    if (join->jointype == JOIN_RIGHT || join->jointype == JOIN_FULL)
        Obstruct(all, start, "an outer join", ViewOf(level));
    const SourceMark middle = MarkSources(all);
    AddFrom(level, join->rarg);
    if (join->jointype == JOIN_LEFT || join->jointype == JOIN_FULL)
        Obstruct(all, middle, "an outer join", ViewOf(level));
    const int end = list_length(all->sources);
    if (join->jointype == JOIN_INNER)
        AddEqualities(level, join->quals, start.source, end);
    else if (join->jointype == JOIN_LEFT)
        AddEqualities(level, join->quals, middle.source, end);
    else if (join->jointype == JOIN_RIGHT)
        AddEqualities(level, join->quals, start.source, middle.source);
    AddExpression(level, join->quals);
}

void AddFrom(QueryLevel* level, const Node* node) {
    if (node == nullptr)
        return;
    if (IsA(node, RangeTblRef)) {
        AddEntry(level, reinterpret_cast<const RangeTblRef*>(node)->rtindex);
    } else if (IsA(node, JoinExpr)) {
        AddJoin(level, reinterpret_cast<const JoinExpr*>(node));
    } else if (IsA(node, SetOperationStmt)) {
        AddFrom(level, reinterpret_cast<const SetOperationStmt*>(node)->larg);
        AddFrom(level, reinterpret_cast<const SetOperationStmt*>(node)->rarg);
    } else {
        const auto* from = reinterpret_cast<const FromExpr*>(node);
        const SourceMark mark = MarkSources(level->all);
        ListCell* cell;
        foreach (cell, from->fromlist)
            AddFrom(level, static_cast<const Node*>(lfirst(cell)));
        AddEqualities(level, from->quals, mark.source, list_length(level->all->sources));
        AddExpression(level, from->quals);
    }
}

// ---- a query ----

// What in a query lets one row change others, or nullptr.
const char* ConstructOf(const Query* query) {
    if (query->commandType != CMD_SELECT)
        return "a data-modifying statement";
    if (query->setOperations != nullptr) {
        const SetOperation operation = reinterpret_cast<SetOperationStmt*>(query->setOperations)->op;
        return operation == SETOP_UNION ? "UNION" : operation == SETOP_EXCEPT ? "EXCEPT" : "INTERSECT";
    }
    if (query->hasWindowFuncs)
        return "a window function";
    if (query->hasAggs)
        return "an aggregate";
    if (query->groupClause != NIL || query->groupingSets != NIL || query->havingQual != nullptr)
        return "GROUP BY";
    if (query->distinctClause != NIL)
        return "DISTINCT";
    if (query->hasTargetSRFs)
        return "a set-returning function";
    if (query->limitCount != nullptr || query->limitOffset != nullptr)
        return "LIMIT or OFFSET";
    return query->rowMarks != NIL ? "FOR UPDATE" : nullptr;
}

// The columns by which the rows of a grouped query differ. False if that is not known.
bool KeyOfGroups(const Query* query, List** key) {
    List* clauses = query->distinctClause != NIL ? query->distinctClause : query->groupClause;
    *key = NIL;
    if (query->setOperations != nullptr || query->hasTargetSRFs || query->groupingSets != NIL ||
        (clauses == NIL && !query->hasAggs && query->havingQual == nullptr))
        return false;
    ListCell* cell;
    foreach (cell, clauses) {
        const auto* clause = static_cast<const SortGroupClause*>(lfirst(cell));
        const TargetEntry* target = get_sortgroupref_tle(clause->tleSortGroupRef, query->targetList);
        if (target->resjunk)
            return false;
        auto* column = static_cast<SourceKey*>(palloc(sizeof(SourceKey)));
        *column = {target->resno, clause->eqop, exprCollation(reinterpret_cast<Node*>(target->expr))};
        *key = lappend(*key, column);
    }
    return true;
}

QueryLevel* BuildLevel(RowSources* all, const Query* query, const QueryLevel* parent, RelationUse* view) {
    check_stack_depth();
    auto* level = static_cast<QueryLevel*>(palloc0(sizeof(QueryLevel)));
    const int count = list_length(query->rtable);
    *level = {all, query, parent, view, -1, nullptr};
    level->entries = static_cast<LevelEntry*>(palloc0(sizeof(LevelEntry) * (count + 1)));
    for (int i = 0; i <= count; ++i)
        level->entries[i].source = -1;
    const SourceMark mark = MarkSources(all);
    AddFrom(level, query->setOperations != nullptr ? query->setOperations
                                                   : reinterpret_cast<const Node*>(query->jointree));
    AddExpression(level, query->targetList);
    AddExpression(level, query->havingQual);
    AddExpression(level, query->limitCount);
    AddExpression(level, query->limitOffset);
    AddExpression(level, query->windowClause);
    const char* construct = ConstructOf(query);
    if (construct != nullptr) {
        List* key;
        const bool has_key = KeyOfGroups(query, &key);
        Enclose(all, mark, construct, ViewOf(level));
        level->enclosed = AddOther(all, has_key, key);
    }
    return level;
}

}  // namespace

const QueryLevel* AddMaterializedView(RowSources* all, Oid relid, RelationUse* within, int* source) {
    *source = AddRelation(all, relid, false, within);
    auto* use = static_cast<RelationUse*>(llast(all->uses));
    auto* inner = static_cast<RowSources*>(palloc0(sizeof(RowSources)));
    Query* query = ViewQuery(relid);
    AddSideEffect(inner, reinterpret_cast<Node*>(query), use);
    const QueryLevel* level = BuildLevel(inner, query, nullptr, use);
    ListCell* cell;
    foreach (cell, inner->uses) {
        auto* behind = static_cast<RelationUse*>(lfirst(cell));
        behind->obstacle = ObstacleTo(inner, behind, &behind->obstacle_view);
    }
    foreach (cell, inner->uses) {
        auto* behind = static_cast<RelationUse*>(lfirst(cell));
        behind->first = *source;
        behind->end = *source + 1;
        all->uses = lappend(all->uses, behind);
    }
    return level;
}

RelationShape* ShapeOfRelation(Oid relid) {
    auto* shape = static_cast<RelationShape*>(palloc0(sizeof(RelationShape)));
    const char kind = get_rel_relkind(relid);
    int source;
    if (kind == RELKIND_VIEW)
        shape->level = AddView(&shape->sources, relid, nullptr, &shape->use);
    else if (kind == RELKIND_MATVIEW)
        shape->level = AddMaterializedView(&shape->sources, relid, nullptr, &source);
    else
        AddRelation(&shape->sources, relid, true, nullptr);
    shape->use = static_cast<RelationUse*>(linitial(shape->sources.uses));
    return shape;
}

AttrNumber TraceColumn(const RelationShape* shape, AttrNumber column, const RelationUse* use) {
    return shape->use == use ? column : TraceLevel(shape->level, column, use);
}

}  // namespace dpboost
