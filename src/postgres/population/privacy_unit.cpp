// Puts together what the schema says about the rows that are read (row_sources) and what owners have declared
// (budget): finds the one relation whose persons a training is about, or says why there is none.
#include "postgres/population/privacy_unit.h"

#include "postgres/ledger/inspection.h"
#include "postgres/population/earlier_units.h"

namespace dpboost {

namespace {

// ---- errors ----

const char* Subject(Oid view) {
    return OidIsValid(view) ? DescribeRelation(view) : "the query";
}

int HintToVouch(Oid view) {
    if (OidIsValid(view))
        return errhint("The owner of %s can vouch for it, by dpboost_protect with a privacy_unit of its own.",
                       DescribeRelation(view));
    return errhint(
        "Train with dpboost_train_on, on a view that its owner has protected with a privacy_unit of "
        "its own.");
}

[[noreturn]] void RaiseObstacle(Oid relid, Oid view, const char* how) {
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
         errmsg("%s reads %s %s", Subject(view), DescribeRelation(relid), how),
         errdetail("So a person's rows there may change or repeat others, and what is charged to %s would "
                   "not be what that person loses.",
                   DescribeRelation(relid)),
         HintToVouch(view)));
    pg_unreachable();
}

[[noreturn]] void RaiseTwo(const Inspection* inspection, const RelationUse* first,
                           const RelationUse* second) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%s reads %s and %s, which are both protected", Subject(inspection->named),
                           DescribeRelation(first->relid), DescribeRelation(second->relid)),
                    errdetail("A training bounds what the persons of one relation add to it."),
                    HintToVouch(inspection->named)));
    pg_unreachable();
}

[[noreturn]] void RaiseOtherUnit(Oid relid, const char* unit, Oid other_relid, const char* other_unit) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot protect \"%s\" of %s and \"%s\" of %s in one training", unit,
                           DescribeRelation(relid), other_unit, DescribeRelation(other_relid))));
    pg_unreachable();
}

// ---- finding ----

// The one protected relation so far, and whose unit it is.
struct Found {
    const RelationUse* use;
    const char* unit;  // a column of use->relid; nullptr: none declared
    Oid unit_relid;
};

// A view without a unit of its own is the same rows as the protected relation in it.
void AddProtected(const Inspection* inspection, Found* found, const RelationUse* use) {
    if (found->use == nullptr || IsWithin(use, found->use))
        found->use = use;
    else if (!IsWithin(found->use, use))
        RaiseTwo(inspection, found->use->first < use->first ? found->use : use,
                 found->use->first < use->first ? use : found->use);
}

void AddUnit(Found* found, Oid relid, const char* unit) {
    if (unit[0] == '\0')
        return;
    if (found->unit != nullptr && strcmp(found->unit, unit) != 0)
        RaiseOtherUnit(found->unit_relid, found->unit, relid, unit);
    found->unit = unit;
    found->unit_relid = relid;
}

void AddViewInPlan(const Inspection* inspection, Found* found, Oid view) {
    const ViewInPlan seen = FindViewInPlan(inspection, view);
    const char* unit = DeclaredUnit(inspection->limits, view);
    if (seen.in_plan == nullptr)
        RaiseObstacle(view, InvalidOid, "in a way that does not show whether it takes row by row");
    AddProtected(inspection, found, seen.in_plan);
    if (unit[0] == '\0')
        return;
    const AttrNumber column = TraceColumn(seen.shape, get_attnum(view, unit), seen.in_view);
    if (column == 0)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("\"%s\" of %s is not a column of %s, by whose rows a query is protected", unit,
                        DescribeRelation(view), DescribeRelation(seen.in_view->relid)),
                 errhint("Train on the view itself: dpboost_train_on(..., '%s', ...).", get_rel_name(view))));
    AddUnit(found, view, get_attname(seen.in_view->relid, column, false));
}

void AddLimited(const Inspection* inspection, Found* found, Oid relid) {
    const Verdict verdict = VerdictOn(inspection, relid);
    if (IsHiddenView(inspection, verdict, relid)) {
        AddViewInPlan(inspection, found, relid);
        return;
    }
    if (verdict.voucher != nullptr || (!verdict.is_read && !OidIsValid(inspection->named)))
        return;
    if (verdict.place == nullptr)
        RaiseObstacle(relid, inspection->named, verdict.is_read ? "more than once" : "outside of FROM");
    if (verdict.place->obstacle != nullptr)
        RaiseObstacle(relid, verdict.place->obstacle_view, psprintf("through %s", verdict.place->obstacle));
    AddProtected(inspection, found, verdict.place->use);
    AddUnit(found, relid, DeclaredUnit(inspection->limits, relid));
}

void Record(const Inspection* inspection, ReadRelation* relation, UnitTrace trace, const void* context) {
    const Verdict verdict = VerdictOn(inspection, relation->relid);
    const char* unit = DeclaredUnit(inspection->limits, relation->relid);
    relation->row_by_row = true;
    if (IsHiddenView(inspection, verdict, relation->relid)) {
        const ViewInPlan view = FindViewInPlan(inspection, relation->relid);
        relation->row_by_row = view.in_plan != nullptr;
        const AttrNumber column = view.in_plan == nullptr ? 0 : trace(context, view.in_plan);
        unit = column == 0 ? "" : ColumnOfView(view, get_attname(view.in_plan->relid, column, false));
    } else if (verdict.voucher != nullptr && IsLimited(inspection->limits, relation->relid)) {
        relation->vouched_by = verdict.voucher->relid;
    } else if (verdict.is_read || OidIsValid(inspection->named)) {
        relation->row_by_row = IsRowByRow(verdict);
        const AttrNumber column = relation->row_by_row ? trace(context, verdict.place->use) : 0;
        unit = column == 0 ? "" : get_attname(verdict.place->use->relid, column, false);
    }
    strlcpy(relation->unit, unit, NAMEDATALEN);
}

// ---- a relation by name ----

struct NamedColumn {
    const RelationShape* shape;
    AttrNumber column;  // 0: rows are persons
};

AttrNumber TraceNamed(const void* context, const RelationUse* use) {
    const auto* named = static_cast<const NamedColumn*>(context);
    return named->column == 0 ? 0 : TraceColumn(named->shape, named->column, use);
}

// A column that shows the unit, if possible under its own name.
AttrNumber FindUnitColumn(const RelationShape* shape, Oid named, const Persons& persons) {
    const char* unit = get_attname(persons.use->relid, persons.column, false);
    const AttrNumber same = get_attnum(named, unit);
    if (same > 0 && TraceColumn(shape, same, persons.use) == persons.column)
        return same;
    for (AttrNumber column = 1; column <= ColumnCount(named); ++column) {
        if (TraceColumn(shape, column, persons.use) == persons.column)
            return column;
    }
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s has no column that shows \"%s\" of %s", DescribeRelation(named), unit,
                           DescribeRelation(persons.use->relid)),
                    errdetail("By it %s tells persons apart. A column that only has its name is not enough.",
                              DescribeRelation(persons.use->relid)),
                    errhint("Add the column to %s, or protect it with a privacy_unit of its own.",
                            DescribeRelation(named))));
    pg_unreachable();
}

}  // namespace

Persons FindPersons(const Inspection* inspection) {
    Found found = {};
    // Views first: if one that should vouch for its tables is not read row by row, that is the reason to give.
    for (const bool views : {true, false}) {
        List* seen = NIL;
        for (int i = 0; i < inspection->limits->count; ++i) {
            const Oid relid = inspection->limits->items[i].relid;
            if (IsView(relid) == views && !list_member_oid(seen, relid))
                AddLimited(inspection, &found, relid);
            seen = lappend_oid(seen, relid);
        }
    }
    CheckEarlierUnits(inspection->relations, inspection->limits);
    if (found.use == nullptr || found.unit == nullptr)
        return {found.use, 0};
    const AttrNumber column = get_attnum(found.use->relid, found.unit);
    if (column <= 0)
        ereport(ERROR,
                (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                 errmsg("%s has no column \"%s\", by which %s tells persons apart",
                        DescribeRelation(found.use->relid), found.unit, DescribeRelation(found.unit_relid))));
    CheckUnitCollation(found.use->relid, column);
    return {found.use, column};
}

void RecordPersons(const Inspection* inspection, UnitTrace trace, const void* context) {
    for (int i = 0; i < inspection->relations->count; ++i)
        Record(inspection, &inspection->relations->items[i], trace, context);
}

char* UnitOfRelation(RelationSet* relations, Oid named) {
    const RelationShape* shape = ShapeOfRelation(named);
    const Inspection* inspection = Inspect(relations, &shape->sources, named);
    const Persons persons = FindPersons(inspection);
    NamedColumn unit = {shape, 0};
    if (persons.column != 0) {
        unit.column = FindUnitColumn(shape, named, persons);
        CheckUnitCollation(named, unit.column);
    }
    RecordPersons(inspection, TraceNamed, &unit);
    return unit.column == 0 ? nullptr : get_attname(named, unit.column, false);
}

// Values that a collation calls equal are one person; keys are bytes, so such a column would split people.
void CheckUnitCollation(Oid relid, AttrNumber column) {
    HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(column));
    if (!HeapTupleIsValid(tuple))
        return;
    const Oid collation = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attcollation;
    ReleaseSysCache(tuple);
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("privacy unit \"%s\" has a nondeterministic collation",
                               get_attname(relid, column, false)),
                        errdetail("Different texts that are equal under it would count as different people."),
                        errhint("Name a column with another collation, or with a number for each person.")));
}

const BudgetState* UnservedBudget(const BudgetList* budgets, const RelationSet* relations) {
    for (int b = 0; b < budgets->count; ++b) {
        const BudgetState* budget = &budgets->items[b];
        const ReadRelation* relation = nullptr;
        for (int i = 0; i < relations->count; ++i) {
            if (relations->items[i].relid == budget->relid)
                relation = &relations->items[i];
        }
        if (relation == nullptr || !relation->row_by_row ||
            (OidIsValid(relation->vouched_by) && DeclaredUnit(budgets, relation->vouched_by)[0] == '\0') ||
            (budget->privacy_unit[0] != '\0' && strcmp(budget->privacy_unit, relation->unit) != 0))
            return budget;
    }
    return nullptr;
}

}  // namespace dpboost
