// The link of a model as SQL: what stands around its score, and beyond which scores the prediction does not change.
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"

namespace dpboost {

// What stands before and behind an expression.
struct Around {
    std::string before;
    std::string after;

    Around Within(const Around& outer) const { return {outer.before + before, after + outer.after}; }
};

// The score in units of 1 goes through the link; beyond these scores the prediction does not change.
struct LinkRange {
    int64_t lower_score;
    int64_t upper_score;
    std::string lower;
    std::string upper;
};
LinkRange RangeOf(const Model& model);

// A whole number of 2^-20 as a number.
Around InUnits();
// And through the link.
Around LinkOf(const Model& model);
// Between two numbers, in PostgreSQL.
Around Limited(const std::string& lower, const std::string& upper);

}  // namespace dpboost
