// Features along which predictions may only rise, or only fall. After every move a feature's table is replaced by the
// nearest one that does, over the released histogram: post-processing of released figures, so it costs no privacy.
// Missing values are exempt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/feature.h"
#include "learner/auto/noisy_histogram.h"
#include "learner/option_table.h"

namespace dpboost {

constexpr char kMonotoneForm[] = "an object of columns, each with 1 or -1";
constexpr char kMonotoneHelp[] =
    "columns along which predictions never fall (1) or never rise (-1); such columns do not interact";

// Per feature 1 (rising), -1 (falling) or 0, as the option "monotone" has it; empty if it was not given. Throws
// Error(kInvalidParameter) for what is no feature, has no order, or is neither 1 nor -1.
std::vector<int8_t> ReadMonotone(const std::vector<GivenOption>& given,
                                 const std::vector<FeatureSpec>& features);

class MonotoneRules {
  public:
    MonotoneRules() = default;
    // directions: of ReadMonotone; counts must outlive the object.
    MonotoneRules(const std::vector<int8_t>& directions, const MarginalCounts& counts)
        : directions_(directions), counts_(&counts) {}

    bool Constrains(size_t feature) const { return !directions_.empty() && directions_[feature] != 0; }

    // Changes the table of a constrained feature, whose missing cell is the last, to the nearest that is monotone (least
    // squares over the histogram, pool adjacent violators). Of its entries only neighbours are averaged: none is larger
    // or smaller than one was before, and doubles that ascend still do so as fixed-point numbers.
    void Project(size_t feature, std::vector<double>& table) const;

  private:
    std::vector<int8_t> directions_;
    const MarginalCounts* counts_ = nullptr;
};

}  // namespace dpboost
