// Decides by the schema alone whether a result is row by row over one of its sources: whether every other
// source has at most one row that goes with one of its rows. A source is settled if all columns of one of its
// unique keys are equal to expressions over settled sources; where that ends, all must be settled.
#include "postgres/catalog/row_sources.h"

#include "postgres/catalog/relations.h"

namespace dpboost {
namespace {

RowSource* SourceAt(const RowSources* all, int source) {
    return static_cast<RowSource*>(list_nth(all->sources, source));
}

// Equality under two collations is the same unless one of them calls different texts equal.
bool SameEquality(Oid collation, Oid other) {
    return collation == other || ((!OidIsValid(collation) || get_collation_isdeterministic(collation)) &&
                                  (!OidIsValid(other) || get_collation_isdeterministic(other)));
}

// Whether the equality holds for the source, given what is settled.
bool Applies(const SourceEquality* equality, int source, AttrNumber column, const Bitmapset* settled) {
    return equality->source == source && equality->column == column &&
           bms_is_subset(equality->depends_on, settled);
}

bool IndexColumnIsEqual(const RowSources* all, int source, Relation index, int column,
                        const Bitmapset* settled) {
    const AttrNumber attnum = index->rd_index->indkey.values[column];
    ListCell* cell;
    foreach (cell, all->equalities) {
        const auto* equality = static_cast<const SourceEquality*>(lfirst(cell));
        if (attnum > 0 && Applies(equality, source, attnum, settled) &&
            get_op_opfamily_strategy(equality->equality, index->rd_opfamily[column]) ==
                BTEqualStrategyNumber &&
            SameEquality(equality->collation, index->rd_indcollation[column]))
            return true;
    }
    return false;
}

// Rows that the snapshot of a transaction shows may be older than the index, and never have been unique.
bool HoldsForSnapshot(Relation index) {
    return !IsolationUsesXactSnapshot() ||
           !XidInMVCCSnapshot(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), GetTransactionSnapshot());
}

bool IndexSettles(const RowSources* all, int source, Oid index_id, const Bitmapset* settled) {
    Relation index = index_open(index_id, AccessShareLock);
    const Form_pg_index form = index->rd_index;
    bool settles = form->indisunique && form->indimmediate && form->indisvalid &&
                   index->rd_rel->relam == BTREE_AM_OID && RelationGetIndexPredicate(index) == NIL &&
                   HoldsForSnapshot(index);
    for (int i = 0; settles && i < form->indnkeyatts; ++i)
        settles = IndexColumnIsEqual(all, source, index, i, settled);
    index_close(index, NoLock);
    return settles;
}

// By a unique index of the relation. One of a parent says nothing about its inheritance children, but one of a
// partitioned table holds for all partitions.
bool RelationIsSettled(const RowSources* all, int source, const RowSource* row, const Bitmapset* settled) {
    Relation relation = try_relation_open(row->relid, AccessShareLock);
    if (relation == nullptr)
        return false;
    const char kind = relation->rd_rel->relkind;
    bool is_settled = false;
    if (kind == RELKIND_PARTITIONED_TABLE || !row->with_children || !has_subclass(row->relid)) {
        ListCell* cell;
        foreach (cell, RelationGetIndexList(relation))
            is_settled = is_settled || IndexSettles(all, source, lfirst_oid(cell), settled);
    }
    relation_close(relation, NoLock);
    return is_settled;
}

bool OtherIsSettled(const RowSources* all, int source, const RowSource* row, const Bitmapset* settled) {
    ListCell *key_cell, *cell;
    foreach (key_cell, row->key) {
        const auto* key = static_cast<const SourceKey*>(lfirst(key_cell));
        bool found = false;
        foreach (cell, all->equalities) {
            const auto* equality = static_cast<const SourceEquality*>(lfirst(cell));
            found = found || (Applies(equality, source, key->column, settled) &&
                              equality_ops_are_compatible(equality->equality, key->equality) &&
                              SameEquality(equality->collation, key->collation));
        }
        if (!found)
            return false;
    }
    return row->has_key;
}

bool IsSettled(const RowSources* all, int source, const Bitmapset* settled) {
    const RowSource* row = SourceAt(all, source);
    return OidIsValid(row->relid) ? RelationIsSettled(all, source, row, settled)
                                  : OtherIsSettled(all, source, row, settled);
}

// The first source that may have several rows for one of the use, or -1.
int Unsettled(const RowSources* all, const RelationUse* use) {
    const int count = list_length(all->sources);
    Bitmapset* settled = nullptr;
    for (int i = 0; i < count; ++i) {
        if ((i >= use->first && i < use->end) || !SourceAt(all, i)->joined)
            settled = bms_add_member(settled, i);
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < count; ++i) {
            if (bms_is_member(i, settled) || !IsSettled(all, i, settled))
                continue;
            settled = bms_add_member(settled, i);
            changed = true;
        }
    }
    for (int i = 0; i < count; ++i) {
        if (!bms_is_member(i, settled))
            return i;
    }
    return -1;
}

// A built-in function may keep something from one call to the next, as nextval() does; others are their
// owner's to answer for.
bool MayCountItsCalls(Oid function, void* context) {
    if (function >= FirstNormalObjectId || func_volatile(function) != PROVOLATILE_VOLATILE)
        return false;
    static const char* const kIndependent[] = {"random", "random_normal", "gen_random_uuid",
                                               "clock_timestamp", "timeofday"};
    const char* name = get_func_name(function);
    for (const char* independent : kIndependent) {
        if (strcmp(name, independent) == 0)
            return false;
    }
    *static_cast<const char**>(context) = psprintf("function %s()", name);
    return true;
}

bool FindSideEffect(Node* node, void* context) {
    if (node == nullptr)
        return false;
    if (IsA(node, Query))
        return WalkQuery(reinterpret_cast<Query*>(node), FindSideEffect, context);
    if (IsA(node, Var)) {
        const AttrNumber column = reinterpret_cast<Var*>(node)->varattno;
        if (column >= 0 || column == TableOidAttributeNumber)
            return false;
        *static_cast<const char**>(context) = "a system column";
        return true;
    }
    if (IsA(node, RangeTblEntry))
        return false;  // what it holds is visited by itself
    return check_functions_in_node(node, MayCountItsCalls, context) ||
           WalkExpression(node, FindSideEffect, context);
}

}  // namespace

SourceMark MarkSources(const RowSources* all) {
    return {list_length(all->sources), list_length(all->uses)};
}

static RelationUse* AddUse(RowSources* all, Oid relid, RelationUse* within) {
    auto* use = static_cast<RelationUse*>(palloc0(sizeof(RelationUse)));
    use->relid = relid;
    use->within = within;
    use->first = use->end = list_length(all->sources);
    all->uses = lappend(all->uses, use);
    return use;
}

static int AddSource(RowSources* all, const RowSource& source) {
    auto* copy = static_cast<RowSource*>(palloc(sizeof(RowSource)));
    *copy = source;
    all->sources = lappend(all->sources, copy);
    return list_length(all->sources) - 1;
}

int AddRelation(RowSources* all, Oid relid, bool with_children, RelationUse* within) {
    RelationUse* use = AddUse(all, relid, within);
    const int source = AddSource(all, {relid, with_children, true, false, NIL});
    use->end = source + 1;
    return source;
}

int AddOther(RowSources* all, bool has_key, List* key) {
    return AddSource(all, {InvalidOid, false, true, has_key, key});
}

RelationUse* BeginView(RowSources* all, Oid relid, RelationUse* within) {
    return AddUse(all, relid, within);
}

void EndView(RowSources* all, RelationUse* view) {
    view->end = list_length(all->sources);
}

void Obstruct(RowSources* all, SourceMark mark, const char* obstacle, Oid view) {
    for (int i = mark.use; i < list_length(all->uses); ++i) {
        auto* use = static_cast<RelationUse*>(list_nth(all->uses, i));
        if (use->obstacle != nullptr)
            continue;
        use->obstacle = obstacle;
        use->obstacle_view = view;
    }
}

void Enclose(RowSources* all, SourceMark mark, const char* obstacle, Oid view) {
    Obstruct(all, mark, obstacle, view);
    for (int i = mark.source; i < list_length(all->sources); ++i)
        SourceAt(all, i)->joined = false;
}

static void AddEffect(RowSources* all, const char* what, const RelationUse* view) {
    auto* effect = static_cast<SideEffect*>(palloc(sizeof(SideEffect)));
    *effect = {what, view};
    all->side_effects = lappend(all->side_effects, effect);
}

void AddSideEffect(RowSources* all, Node* node, const RelationUse* view) {
    const char* what = nullptr;
    FindSideEffect(node, &what);
    if (what != nullptr)
        AddEffect(all, what, view);
}

void AddUnknown(RowSources* all, const char* what) {
    AddEffect(all, what, nullptr);
}

void AddComparison(RowSources* all, const OpExpr* comparison, int source, AttrNumber column,
                   Bitmapset* depends_on) {
    if (bms_is_member(source, depends_on) || get_mergejoin_opfamilies(comparison->opno) == NIL)
        return;
    auto* equality = static_cast<SourceEquality*>(palloc(sizeof(SourceEquality)));
    *equality = {source, column, comparison->opno, comparison->inputcollid, depends_on};
    all->equalities = lappend(all->equalities, equality);
}

bool IsWithin(const RelationUse* use, const RelationUse* view) {
    while (use != nullptr && use != view)
        use = use->within;
    return use != nullptr;
}

const char* ObstacleTo(const RowSources* all, const RelationUse* use, Oid* view) {
    *view = use->obstacle_view;
    if (use->obstacle != nullptr)
        return use->obstacle;
    ListCell* cell;
    foreach (cell, all->side_effects) {
        const auto* effect = static_cast<const SideEffect*>(lfirst(cell));
        *view = effect->view != nullptr ? effect->view->relid : InvalidOid;
        if (!IsWithin(effect->view, use))
            return effect->what;
    }
    *view = use->within != nullptr ? use->within->relid : InvalidOid;
    const int unsettled = Unsettled(all, use);
    if (unsettled < 0)
        return nullptr;
    const RowSource* source = SourceAt(all, unsettled);
    return psprintf("a join to %s that is not on a unique key of it",
                    OidIsValid(source->relid) ? DescribeRelation(source->relid) : "a subquery or function");
}

}  // namespace dpboost
