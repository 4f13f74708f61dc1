// Gives each relation of a training its verdict: read row by row, vouched for by a view around it, or neither.
#include "postgres/ledger/reading.h"

namespace dpboost {
namespace {

const Place* PlaceOf(const Reading* reading, const RelationUse* use) {
    for (int i = 0; i < reading->count; ++i) {
        if (reading->places[i].use == use)
            return &reading->places[i];
    }
    return nullptr;
}

// The outermost view around the use whose owner vouches for it.
const RelationUse* VoucherOf(const Reading* reading, const RelationUse* use) {
    const RelationUse* voucher = nullptr;
    for (const RelationUse* view = use->within; view != nullptr; view = view->within) {
        if (DeclaredUnit(reading->limits, view->relid)[0] != '\0' &&
            PlaceOf(reading, view)->obstacle == nullptr)
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

Verdict VerdictOn(const Reading* reading, Oid relid) {
    Verdict verdict = {};
    int places = 0;
    bool all_vouched = true;
    for (int i = 0; i < reading->count; ++i) {
        const Place* place = &reading->places[i];
        if (!list_member_oid(place->family, relid))
            continue;
        const RelationUse* voucher = VoucherOf(reading, place->use);
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

bool IsHiddenView(const Reading* reading, const Verdict& verdict, Oid relid) {
    return !verdict.is_read && !OidIsValid(reading->named) && IsView(relid);
}

ViewInPlan FindViewInPlan(const Reading* reading, Oid view) {
    ViewInPlan found = {ShapeOfRelation(view), nullptr, nullptr};
    ListCell* cell;
    foreach (cell, found.shape->sources.uses) {
        const auto* use = static_cast<const RelationUse*>(lfirst(cell));
        Oid unused;
        if (IsView(use->relid) || ObstacleTo(&found.shape->sources, use, &unused) != nullptr)
            continue;
        const Verdict verdict = VerdictOn(reading, use->relid);
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

const Reading* MakeReading(RelationSet* relations, const RowSources* sources, Oid named) {
    auto* reading = static_cast<Reading*>(palloc0(sizeof(Reading)));
    const int count = list_length(sources->uses);
    *reading = {relations, sources, named, LoadLimits(relations), count, nullptr};
    reading->places = static_cast<Place*>(palloc0(sizeof(Place) * (count + 1)));
    for (int u = 0; u < count; ++u) {
        Place* place = &reading->places[u];
        place->use = static_cast<const RelationUse*>(list_nth(sources->uses, u));
        place->obstacle = ObstacleTo(sources, place->use, &place->obstacle_view);
        const RelationSet* family = FamilyOf(place->use->relid);
        for (int i = 0; i < family->count; ++i)
            place->family = lappend_oid(place->family, family->items[i].relid);
    }
    return reading;
}

}  // namespace dpboost
