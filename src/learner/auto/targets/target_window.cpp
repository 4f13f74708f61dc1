#include "learner/auto/targets/target_window.h"

#include <cmath>
#include <numeric>

#include "base/portable_math.h"

namespace dpboost {
namespace {

// The bins that surely hold rows, and what lies between them: the smallest of all aligned runs (halves of halves of all bins)
// whose count noise does not explain. There are fewer than 2 bins of them, and noise is above z sigmas with a probability of
// at most exp(-z^2 / 2) / 2: a run that holds nobody counts in no more than `false_finds` of all trainings.
class SureBins {
  public:
    SureBins(const TargetCounts& counts, double false_finds)
        : counts_(counts),
          sigmas_(std::sqrt(2 * portable::Log(static_cast<double>(counts.bins.size()) / false_finds))) {}

    BinRun Within(const BinRun& run) const {
        if (run.end - run.first > 1) {
            const size_t middle = run.first + (run.end - run.first) / 2;
            const BinRun left = Within({run.first, middle}), right = Within({middle, run.end});
            if (!left.empty() || !right.empty())
                return {left.empty() ? right.first : left.first, right.empty() ? left.end : right.end};
        }
        const auto begin = counts_.bins.begin();
        const double sum = std::accumulate(begin + static_cast<ptrdiff_t>(run.first),
                                           begin + static_cast<ptrdiff_t>(run.end), 0.0);
        const double noise = counts_.sigma * std::sqrt(static_cast<double>(run.end - run.first));
        return sum > sigmas_ * noise ? run : BinRun{run.first, run.first};
    }

  private:
    const TargetCounts& counts_;
    const double sigmas_;
};

// Further out by so much at the most, what may be rows is taken for rows: the sum of all bins from there on is above `most`
// by `sigmas` of its noise. Where that is wrong, the range is a few times too wide, which costs little.
BinRun Widened(const TargetCounts& counts, const BinRun& sure, double reach, double most, double sigmas) {
    const auto counts_as_rows = [&](double sum, size_t bins) {
        return sum > most + sigmas * counts.sigma * std::sqrt(static_cast<double>(bins));
    };
    BinRun wide = sure;
    size_t first = sure.first, end = sure.end;
    while (first > 0 && counts.ends[first - 1] >= counts.ends[sure.first] - reach)
        first--;
    while (end < counts.bins.size() && counts.ends[end + 1] <= counts.ends[sure.end] + reach)
        end++;
    double sum = 0;
    for (size_t bin = first; bin < sure.first && wide.first == sure.first; bin++) {
        sum += counts.bins[bin];
        if (counts_as_rows(sum, bin + 1 - first))
            wide.first = bin;
    }
    sum = 0;
    for (size_t bin = end; bin > sure.end && wide.end == sure.end; bin--) {
        sum += counts.bins[bin - 1];
        if (counts_as_rows(sum, end + 1 - bin))
            wide.end = bin;
    }
    return wide;
}

}  // namespace

BinRun HeldBins(const TargetCounts& counts, double rows, const AutoSchedule& schedule) {
    const BinRun sure = SureBins(counts, schedule.false_targets).Within({0, counts.bins.size()});
    if (sure.empty())
        return sure;
    const double reach = schedule.target_reach * (counts.ends[sure.end] - counts.ends[sure.first]);
    return Widened(counts, sure, reach, schedule.target_tail * rows, schedule.held_sigmas);
}

}  // namespace dpboost
