// The score bins of a classifier's evaluation, and what the model says in each: all from the model and the noise, so
// that they are public and may be known before a row is read.
#pragma once

#include <cstdint>
#include <vector>

#include "learner/evaluation/reference_draws.h"
#include "model/model.h"

namespace dpboost {

// What rows of a bin contribute, by class.
struct ScoreBin {
    double lower;            // of the prediction
    double upper;            // of the prediction
    double predicted;        // mean of p
    double log_positive;     // mean of -log p over positive rows, at most kMaxLogLoss
    double log_negative;     // mean of -log(1 - p) over negative rows, likewise
    double square_positive;  // mean of (1 - p)^2 over positive rows
    double square_negative;  // mean of p^2 over negative rows
    // Standard deviations of these losses within the bin.
    double log_positive_spread;
    double log_negative_spread;
    double square_positive_spread;
    double square_negative_spread;
    // Mean and standard deviation of log p / (1 - p) over rows of either class.
    double odds_positive;
    double odds_negative;
    double odds_positive_spread;
    double odds_negative_spread;
    double order;     // by how much a positive row is above a negative one more often than every second time
    bool above_half;  // a row in it is predicted to be positive
};

// A score that stands for a part of a bin's rows.
struct ScoreNode {
    double odds;    // log p / (1 - p)
    double p;       // prediction
    double weight;  // draws of the reference; of a bin that it hardly reaches all are alike
};

// How densely rows of either class lie towards the upper end of a bin, as the slope of a log density over `odds` in
// addition to the reference and what the model says of it.
struct ScoreTilt {
    double positive = 0;
    double negative = 0;
};

constexpr double kMaxLogLoss = 16;

// The losses of one prediction, at most kMaxLogLoss.
double LogLoss(double probability);
double LogOdds(double probability);

class ScoreBins {
  public:
    static constexpr size_t kMinBins = 10;
    static constexpr size_t kMaxBins = 64;
    // Cuts at zero add one.
    static constexpr size_t kMaxCells = kMaxBins + 2;
    // Beyond the outer edges, where the reference does not reach, rows are taken to become fewer at this rate.
    static constexpr double kOuterDecay = 1 / 1.4;

    // How many bins noise allows: the smaller class decides. `nu`: rows over the standard deviation of a count's noise.
    static size_t CountFor(double nu, double mean_prediction);

    // Half of the edges are quantiles of the reference. Features of real rows agree more than independent ones do, so
    // real scores reach further: the other half lies evenly over 2.2 times the middle nine tenths. And one is where the
    // prediction passes 1/2, so that accuracy is exact.
    ScoreBins(const Model& model, const ReferenceDraws& reference, size_t count);

    size_t size() const { return bins_.size(); }
    // As the reference and the model's own probabilities have it.
    const std::vector<ScoreBin>& bins() const { return bins_; }
    // Ascending, at least one.
    const std::vector<ScoreNode>& nodes(size_t bin) const { return nodes_[bin]; }
    // Whether the reference reaches it; else nodes are an even grid.
    bool drawn(size_t bin) const { return drawn_[bin]; }
    // A bin with rows that lie otherwise.
    ScoreBin Tilted(size_t bin, const ScoreTilt& tilt) const;
    // Number of the bin of a score: that of the edges below it.
    size_t Find(int64_t score) const {
        size_t low = 0, high = edges_.size();
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (edges_[middle] < score)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

  private:
    std::vector<int64_t> edges_;
    std::vector<std::vector<ScoreNode>> nodes_;
    std::vector<bool> drawn_;
    std::vector<ScoreBin> bins_;
};

}  // namespace dpboost
