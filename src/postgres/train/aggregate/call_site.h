// Where a call of the aggregate has its own arguments. Where one process reads all rows that is the node itself. Where
// several do, each has a partial node over its share of the rows, and the node that finishes only sees their states: the
// call is read from the partial node below it, which the leader of a parallel query has in its own plan.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

struct CallSite {
    AggState* node;
    const Aggref* call;
    bool partial;      // its state goes to another node, which trains
    int gather_param;  // the parameter by which a Gather above the node restarts it; -1: there is none
};

// Raises 0A000 if the plan has no partial node to be found, or if a parallel worker would have to train.
CallSite FindCallSite(AggState* node, const Aggref* call);

}  // namespace dpboost
