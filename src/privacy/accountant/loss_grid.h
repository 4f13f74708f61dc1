// The privacy loss of one event on an equidistant grid, pessimistically: the pair of distributions that the
// grid describes dominates the event's, so that every bound computed from it is an upper bound.
#pragma once

#include <cstdint>
#include <vector>

#include "privacy/events.h"

namespace dpboost {

// The distribution of the privacy loss under the first of two neighbouring inputs.
struct LossGrid {
    double step = 0;
    int64_t first = 0;              // mass[i] sits at the loss (first + i) * step
    std::vector<double> mass;       // relatively accurate to relative_error
    double infinite_mass = 0;       // what was cut off at the top, counted as an infinite loss
    double relative_error = 1e-12;  // of every mass

    double Loss(std::size_t i) const { return static_cast<double>(first + static_cast<int64_t>(i)) * step; }
};

// Both directions: the unit is in the first input (removed by the neighbour), or only in the second (added).
struct LossGridPair {
    LossGrid remove;
    LossGrid add;
};

struct GridOptions {
    double step;     // of the grid
    double epsilon;  // where delta is of interest,
    double delta;    // its magnitude there,
    double uses;     // and how many events are composed in all: what matters less than 1e-8 delta is cut off
};

// One use of an event of each kind (its count is ignored); accountant/kinds.h says which is whose.
LossGridPair DiscretiseGaussian(const Event& event, const GridOptions& options);  // sampled or not
LossGridPair DiscretiseLaplace(const Event& event, const GridOptions& options);
LossGridPair DiscretiseBoundedRange(const Event& event,
                                    const GridOptions& options);  // the exponential mechanism
LossGridPair DiscretisePure(const Event& event, const GridOptions& options);
LossGridPair DiscretiseGdp(const Event& event, const GridOptions& options);

}  // namespace dpboost
