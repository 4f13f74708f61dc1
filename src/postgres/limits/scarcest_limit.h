// Which limit ends first on what a release read, for a reader who wants one figure: of those that he may see in the view
// dpboost_budgets, the one of which the least is left.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Plain data; texts are palloc'ed.
struct ScarcestLimit {
    const char* relation;  // null: the viewer sees none
    const char* role;      // null: the cap for everyone together
    double share;          // that is left of it
    double epsilon;        // the largest training that still fits
};

// Limits by which every person has an account do not run out, and are left out. What was spent of the others is not
// composed, which takes milliseconds for each: that is not asked here.
ScarcestLimit FindScarcest(Oid viewer, int64 release_id);

}  // namespace dpboost
