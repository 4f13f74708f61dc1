// Where within its bin a row of either class lies. Counts do not say, but those of the neighbouring bins do: if a class
// becomes denser from bin to bin, it does so within them. And how far that may be wrong. Post-processing of noisy counts.
#pragma once

#include <vector>

#include "learner/evaluation/figures/tilt_chain.h"
#include "learner/evaluation/score_bins.h"

namespace dpboost {

// Noisy, one entry per score bin; each has independent noise of standard deviation sigma (0: exact counts).
struct ClassCounts {
    std::vector<double> positives;
    std::vector<double> negatives;
    double sigma = 0;

    double Of(size_t bin, bool positive) const { return (positive ? positives : negatives)[bin]; }
};

class BinShape {
  public:
    BinShape(const ScoreBins& bins, const ClassCounts& counts);

    std::vector<ScoreBin> Bins() const;

    // A bin whose rows of one class lie further up (+1) or down (-1) by one standard deviation of what is not known.
    ScoreBin Doubted(size_t bin, bool positive, int direction) const;
    // The variance of a figure that changes by so much where a bin's rows of one class lie further up by that.
    double Variance(bool positive, const std::vector<double>& changes) const;

  private:
    ScoreTilt TiltOf(size_t bin) const;

    const ScoreBins& bins_;
    double spread_;  // of the scores, in log odds
    TiltChain positives_;
    TiltChain negatives_;
};

}  // namespace dpboost
