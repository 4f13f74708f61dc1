// A training's relations with their limits and the places at which they are read, and what follows from that
// for each of them. Internal to privacy_unit.
#pragma once

#include "postgres/catalog/view_sources.h"
#include "postgres/population/privacy_unit.h"

namespace dpboost {

// One of the places.
struct UsePlace {
    const RelationUse* use;
    List* family;  // oids of all relations of whose rows it reads some
    const char* obstacle;
    Oid obstacle_view;
};

struct Inspection {
    RelationSet* relations;
    const RowSources* sources;
    Oid named;
    const BudgetList* limits;
    int count;
    UsePlace* places;
};

struct Verdict {
    bool is_read;
    const UsePlace* place;       // the only one at which it is read; nullptr: there are several
    const RelationUse* voucher;  // the view that stands for it
};

// As seen from all places at which some of its rows are read.
Verdict VerdictOn(const Inspection* inspection, Oid relid);
bool IsRowByRow(const Verdict& verdict);

bool IsView(Oid relid);
AttrNumber ColumnCount(Oid relid);

// The unit that was declared for the relation itself; empty: none.
const char* DeclaredUnit(const BudgetList* limits, Oid relid);

// Whether the relation itself has a cap or an allowance.
bool IsLimited(const BudgetList* limits, Oid relid);

// A view that was read, but that the plan of a query does not show any more: only its tables are left.
bool IsHiddenView(const Inspection* inspection, const Verdict& verdict, Oid relid);

// A view by way of the one table that it shows row by row, and the query as well.
struct ViewInPlan {
    const RelationShape* shape;
    const RelationUse* in_view;
    const RelationUse* in_plan;  // nullptr: there is no such table
};

ViewInPlan FindViewInPlan(const Inspection* inspection, Oid view);

// The view's column that holds a column of the table, by name; empty: none.
const char* ColumnOfView(const ViewInPlan& view, const char* table_column);

}  // namespace dpboost
