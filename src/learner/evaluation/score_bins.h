// The score bins of a classifier's evaluation, and what the model says in each: all from the model and the noise, so
// that they are public and may be known before a row is read.
//
// Bins have soft borders: each stands for a score, its knot, and a row between two knots counts in part for both, the
// nearer one more (linear interpolation). Sums over bins then tell the rows' mean score between knots, not only how many
// there are, so that any mean over rows of a smooth function of the score follows from them up to its curvature; hard
// borders would leave open where in a bin rows lie.
#pragma once

#include <cstdint>
#include <vector>

#include "learner/evaluation/reference_draws.h"
#include "model/model.h"

namespace dpboost {

struct ScoreBin {
    double lower;      // of the prediction: half-way to the knot before
    double upper;      // likewise
    double predicted;  // mean of p over the reference, as rows count for the bin
};

// What a row adds: one - part to a bin, and part to the next.
struct ScorePlace {
    size_t bin;
    int64_t part;
};

// A score that stands for a part of the rows between two knots.
struct ScoreNode {
    double odds;    // log p / (1 - p)
    double p;       // prediction
    double weight;  // how many rows are expected there, of all
    size_t bin;     // rows there count for this bin,
    double part;    // but this part of each for the next one
};

constexpr double kMaxLogLoss = 16;

// The losses of one prediction, at most kMaxLogLoss.
double LogLoss(double probability);
double LogOdds(double probability);

class ScoreBins {
  public:
    static constexpr size_t kMinBins = 9;
    static constexpr size_t kMaxBins = 64;
    // The score of 1/2 has two.
    static constexpr size_t kMaxCells = kMaxBins + 2;

    // How many bins noise allows: the smaller class decides. `nu`: rows over the standard deviation of a count's noise.
    static size_t CountFor(double nu, double mean_prediction);

    // How far knots reach, in parts of the middle nine tenths of the reference: features of real rows agree more than
    // independent ones do, so real scores reach further. The further, the more noise; so less far where bins are few.
    static constexpr double kReach = 2.2;
    static constexpr double kFarReach = 3;
    static double ReachOf(size_t count);

    // Nearly half of the knots are quantiles of the reference, the others lie evenly as far as knots reach: where knots are
    // few, wide gaps between those leave more open than anything else; a row beyond counts
    // as if it were at the last knot. Where the prediction passes 1/2 are two knots, one for either side, so that
    // accuracy is exact.
    ScoreBins(const Model& model, const ReferenceDraws& reference, size_t count);

    size_t size() const { return knots_.size(); }
    const std::vector<ScoreBin>& bins() const { return bins_; }
    // Whether the model can give scores below the first knot, or above the last: such rows count as if they were there.
    bool open_below() const { return open_below_; }
    bool open_above() const { return open_above_; }
    // Whether rows in it are predicted to be positive.
    bool above_half(size_t bin) const { return bin > half_; }
    // Ascending.
    const std::vector<ScoreNode>& nodes() const { return nodes_; }
    // Where a row of this score counts, of `one` in all; the part is rounded down.
    ScorePlace Place(int64_t score, int64_t one) const;

  private:
    void AddNodes(const Model& model, const ReferenceDraws& reference);

    std::vector<int64_t> knots_;
    bool open_below_ = false, open_above_ = false;
    size_t half_ = 0;  // the last bin whose rows are predicted to be negative
    std::vector<ScoreNode> nodes_;
    std::vector<ScoreBin> bins_;
};

}  // namespace dpboost
