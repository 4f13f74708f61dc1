// Who set which limit when. Written in the transaction that changes the limit, by the function that does it, and never
// changed afterwards. An administrator who writes into dpboost's tables by hand leaves no trace here.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

// What is not said stays 0, nullptr or empty.
struct LimitChange {
    const char* change;            // "protect", ...
    const ReadRelation* relation;  // nullptr: of a population as such
    ArrayType* relation_ids;
    int64 population_id;
    const char* population;
    Oid grantee;
    double epsilon;
    double delta;
    double max_epsilon_per_train;  // infinite: none
    const Interval* renew;
    const char* privacy_unit;
};

// Inside a catalog scope. `caller` is the role that called.
void RecordLimitChange(Oid caller, const LimitChange& change);

}  // namespace dpboost
