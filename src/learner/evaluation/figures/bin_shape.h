// Where within its bin a row of either class lies. Counts do not say, but those of the neighbouring bins do: if a class
// becomes denser from bin to bin, it does so within them. And how far that may be wrong. Post-processing of noisy counts.
#pragma once

#include <vector>

#include "learner/evaluation/score_bins.h"

namespace dpboost {

// Noisy, one entry per score bin; each has independent noise of standard deviation sigma (0: exact counts).
struct ClassCounts {
    std::vector<double> positives;
    std::vector<double> negatives;
    double sigma = 0;
};

class BinShape {
  public:
    BinShape(const ScoreBins& bins, const ClassCounts& counts);

    std::vector<ScoreBin> Bins() const;

    // What bins cannot tell, one standard deviation of it in directions that have little to do with each other: rows of
    // both classes lie higher in every bin; positive ones higher and negative ones lower; both further out.
    static constexpr size_t kDoubts = 3;
    std::vector<ScoreBin> Doubted(size_t doubt) const;

  private:
    const ScoreBins& bins_;
    std::vector<ScoreTilt> tilts_;
    std::vector<ScoreTilt> doubts_;  // standard deviations
    double middle_ = 0;              // of all rows, in log odds
};

}  // namespace dpboost
