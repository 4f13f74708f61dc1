// Gives each relation of a training its verdict: read row by row, vouched for by a view around it, or neither.
#include "postgres/ledger/inspection.h"

namespace dpboost {
namespace {

const UsePlace* PlaceOf(const Inspection* inspection, const RelationUse* use) {
    for (int i = 0; i < inspection->count; ++i) {
        if (inspection->places[i].use == use)
            return &inspection->places[i];
    }
    return nullptr;
}

// The outermost view around the use whose owner vouches for it.
const RelationUse* VoucherOf(const Inspection* inspection, const RelationUse* use) {
    const RelationUse* voucher = nullptr;
    for (const RelationUse* view = use->within; view != nullptr; view = view->within) {
        if (DeclaredUnit(inspection->limits, view->relid)[0] != '\0' &&
            PlaceOf(inspection, view)->obstacle == nullptr)
            voucher = view;
    }
    return voucher;
}

}  // namespace

bool IsView(Oid relid) {
    return get_rel_relkind(relid) == RELKIND_VIEW || get_rel_relkind(relid) == RELKIND_MATVIEW;
}

AttrNumber ColumnCount(Oid relid) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
    if (!HeapTupleIsValid(tuple))
        return 0;
    const AttrNumber count = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relnatts;
    ReleaseSysCache(tuple);
    return count;
}

const char* DeclaredUnit(const BudgetList* limits, Oid relid) {
    for (int i = 0; i < limits->count; ++i) {
        const BudgetState* limit = &limits->items[i];
        if (limit->relid == relid && limit->privacy_unit[0] != '\0')
            return limit->privacy_unit;
    }
    return "";
}

bool IsLimited(const BudgetList* limits, Oid relid) {
    for (int i = 0; i < limits->count; ++i) {
        if (limits->items[i].relid == relid)
            return true;
    }
    return false;
}

Verdict VerdictOn(const Inspection* inspection, Oid relid) {
    Verdict verdict = {};
    int places = 0;
    bool all_vouched = true;
    for (int i = 0; i < inspection->count; ++i) {
        const UsePlace* place = &inspection->places[i];
        if (!list_member_oid(place->family, relid))
            continue;
        const RelationUse* voucher = VoucherOf(inspection, place->use);
        all_vouched = all_vouched && voucher != nullptr && (places == 0 || voucher == verdict.voucher);
        verdict.place = place;
        verdict.voucher = voucher;
        ++places;
    }
    verdict.is_read = places > 0;
    if (!all_vouched)
        verdict.voucher = nullptr;
    if (places > 1)
        verdict.place = nullptr;
    return verdict;
}

bool IsRowByRow(const Verdict& verdict) {
    return verdict.place != nullptr && verdict.place->obstacle == nullptr;
}

bool IsHiddenView(const Inspection* inspection, const Verdict& verdict, Oid relid) {
    return !verdict.is_read && !OidIsValid(inspection->named) && IsView(relid);
}

ViewInPlan FindViewInPlan(const Inspection* inspection, Oid view) {
    ViewInPlan found = {ShapeOfRelation(view), nullptr, nullptr};
    ListCell* cell;
    foreach (cell, found.shape->sources.uses) {
        const auto* use = static_cast<const RelationUse*>(lfirst(cell));
        Oid unused;
        if (IsView(use->relid) || ObstacleTo(&found.shape->sources, use, &unused) != nullptr)
            continue;
        const Verdict verdict = VerdictOn(inspection, use->relid);
        if (IsRowByRow(verdict)) {
            found.in_view = use;
            found.in_plan = verdict.place->use;
        }
    }
    return found;
}

const char* ColumnOfView(const ViewInPlan& view, const char* table_column) {
    const Oid relid = view.shape->use->relid;
    for (AttrNumber column = 1; column <= ColumnCount(relid); ++column) {
        const AttrNumber traced = TraceColumn(view.shape, column, view.in_view);
        if (traced > 0 && strcmp(get_attname(view.in_view->relid, traced, false), table_column) == 0)
            return get_attname(relid, column, false);
    }
    return "";
}

const Inspection* Inspect(RelationSet* relations, const RowSources* sources, Oid named) {
    auto* inspection = static_cast<Inspection*>(palloc0(sizeof(Inspection)));
    const int count = list_length(sources->uses);
    *inspection = {relations, sources, named, LoadLimits(relations), count, nullptr};
    inspection->places = static_cast<UsePlace*>(palloc0(sizeof(UsePlace) * (count + 1)));
    for (int u = 0; u < count; ++u) {
        UsePlace* place = &inspection->places[u];
        place->use = static_cast<const RelationUse*>(list_nth(sources->uses, u));
        place->obstacle = ObstacleTo(sources, place->use, &place->obstacle_view);
        const RelationSet* family = FamilyOf(place->use->relid);
        for (int i = 0; i < family->count; ++i)
            place->family = lappend_oid(place->family, family->items[i].relid);
    }
    return inspection;
}

}  // namespace dpboost
