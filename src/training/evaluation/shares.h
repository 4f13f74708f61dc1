// What a training's result says about the classes of its target: what it has released of them anyway, in figures, and in
// words where a class seems to be misspelt.
#pragma once

#include <string>

#include "learner/base_rate.h"
#include "training/columns.h"
#include "training/json.h"

namespace dpboost {

struct TargetShares {
    BaseRate base_rate;   // of two classes
    ClassShares classes;  // of several

    bool known() const { return base_rate.known || !classes.values.empty(); }
    // Adds "base_rate" or "class_shares". Where neither is known and nothing declares the classes, a sentence, which is the same
    // whatever the rows are.
    void Add(const TargetRule& target, JsonList* list) const;
};

}  // namespace dpboost
