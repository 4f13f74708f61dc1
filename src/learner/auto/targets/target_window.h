// Which bins of a noisy histogram of the target hold its rows. Post-processing: of noisy counts.
#pragma once

#include <cstddef>
#include <vector>

#include "learner/auto/schedule.h"

namespace dpboost {

// A noisy histogram of the target.
struct TargetCounts {
    std::vector<double> bins;
    std::vector<double> ends;  // ends[k] .. ends[k + 1] is bin k, of a range of -1 .. 1
    double sigma;              // of the noise of a bin
};

// From the first bin to behind the last one.
struct BinRun {
    size_t first;
    size_t end;
    bool empty() const { return end == first; }
};

// Those that surely hold rows and those near them that may; none where noise explains all.
BinRun HeldBins(const TargetCounts& counts, double rows, const AutoSchedule& schedule);

}  // namespace dpboost
