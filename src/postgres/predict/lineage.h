// The releases that a model came from: an update's model is the result of its own and of those of the versions that it went
// on from, so what it may tell about a person who was in all of them is what they cost together.
#pragma once

#include "postgres/boundary/pg.h"
#include "privacy/cost.h"

namespace dpboost {

// Palloc'ed, the model's own release first.
struct Lineage {
    int count;
    const struct varlena** plans;
};

// Of the model that this release made. Where a version on the way was dropped, all before it count. Empty if the ledger
// does not know the release.
Lineage LineageOf(int64 release_id);

// Core side: what they cost together, at the delta of the model's own.
Cost CostOf(const Lineage& lineage);

// The same, of a model with this epsilon of its own, which stays as it is if that is all.
double LineageEpsilon(const Lineage& lineage, double own);

}  // namespace dpboost
