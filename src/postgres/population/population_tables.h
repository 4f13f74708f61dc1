// The tables of a population. They hold the same persons, so what is released from any of them counts against the
// population's one cap: whatever was charged to one of its tables, before it joined, since, and after it left. Nothing
// is ever taken off that list, so no join, leave, rename, drop or restore gives anything back.
//
// Why one more cap, and not the tables' own: neighbours are two databases of which one has one more person, in any
// number of the population's tables. Each release is a mechanism on all of them together, and what its charge says
// holds for such neighbours if it reads one of the tables row by row with that table's privacy unit, or is a view for
// whose unit its owner vouches (privacy_unit.h, checked as for a table's own cap). So the releases are one sequence, and
// the filter of privacy/budget.h over them is one (epsilon, delta) for the person, as for a single table. A release that
// reads several of the tables is one line of the totals, and is counted once.
//
// Of the filter's cases only (c) is used: its proof splits transcripts by which sum lasted, and does not ask what the
// first release was. So it holds in whatever order tables with a history join. (The first release of all is calibrated
// by (a) or (b); if it costs more than (c) allows, nothing follows it, and each of them proves it alone.) A table that
// joins brings what it has spent: that may be more than the cap, which then lets nothing more through.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/identity.h"
#include "postgres/limits/budget.h"

namespace dpboost {

// A table of a population as it is now, or the identity that is left of it.
struct PopulationTable {
    Oid relid;            // 0: there is no such relation now
    ArrayType* counted;   // identities, as Identity has them
    NameData unit;        // what its releases must protect: as declared now, or when it first joined
    int64 earlier_until;  // but for those up to this one
};

struct PopulationTables {
    int count;
    PopulationTable* items;
};

// Inside a catalog scope: all tables that ever were in a population.
PopulationTables FindPopulationTables(int64 population_id);

// Inside a catalog scope: adds to relations and identities one entry for each population in the list, which stands for
// all its tables, and makes that the position of its budgets.
void AddPopulations(BudgetList* budgets, const RelationSet** relations, const Identities** identities);

}  // namespace dpboost
