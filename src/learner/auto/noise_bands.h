// How far noise alone moves what `auto` says. Noise enters a table through the pool's draws only, and each draw's is known:
// the stages report here how a draw's noise reaches the cells, and what adds up is stored with the model as standard
// deviations. Post-processing: public step sizes, released histograms and the plan's noise, never a row.
//
// That later steps see earlier noise, and take some of it back, is left out. To let each feature take back its own would
// be wrong: where features say the same, noise of one that another has answered stays. So these are upper estimates.
#pragma once

#include <cstddef>
#include <vector>

#include "dataset/feature.h"
#include "learner/auto/noisy_histogram.h"
#include "learner/rows/additive/basis.h"
#include "model/reference.h"

namespace dpboost {

// Variances of the centred tables: of a cell's entry minus the table's mean over the released histogram.
class NoiseBands {
  public:
    NoiseBands(const std::vector<FeatureSpec>& features, const MarginalCounts& counts, size_t outputs = 1);

    // Each leaf of a partition of the feature's cells moved by gains[leaf] times independent noise of this standard
    // deviation: a_l e_l. With P_l the reference's mass of leaf l, a cell of l then varies by
    // sd^2 (sum_m a_m^2 P_m^2 + a_l^2 (1 - 2 P_l)); a cell of no leaf by the sum alone.
    void AddLeaves(size_t feature, const BasisPartition& partition, const double* gains, double sd,
                   size_t output = 0);
    // Every coordinate k of a block on one feature moved by gains[k] times independent noise of this standard deviation,
    // as Basis::Expand adds it to a table.
    void AddBlock(size_t feature, const BasisBlock& block, const double* gains, double sd, size_t output = 0);

    // What was added since the last Commit is undone: its step was taken back. Else Commit keeps it.
    void TakeBack();
    void Commit();

    // Standard deviations per feature, cell and output, in units of the score, of what was committed; where scores are
    // multiplied by a factor in the end, of that.
    std::vector<std::vector<float>> Sds(double factor = 1) const;

  private:
    void AddPartition(size_t feature, const BasisPartition& partition, const double* gains, double on,
                      double off, double sd, size_t output);
    // values: per cell of the feature; their mean over the reference.
    double Mean(size_t feature, const double* values) const;

    const size_t outputs_;
    std::vector<std::vector<double>> masses_;  // per feature and cell, sum 1
    std::vector<std::vector<double>> variances_;
    std::vector<std::vector<double>> pending_;
};

// The noise of steps with momentum, as multiples of a coordinate's gain: each draw enters the step by its weight, every
// step moves the model, and what is left of a step enters the next one.
class StepNoise {
  public:
    // A draw whose noise has this standard deviation: step = momentum * step + weight * draw, and the model moves.
    void Move(double momentum, double weight, double sd);
    // The last step was taken back, and nothing is carried on.
    void TakeBack();
    // The next step carries nothing on.
    void Forget();
    // Of all that moved the model.
    double Sd() const;

  private:
    struct Draw {
        double sd;
        double in_step;
        double in_model;
    };
    std::vector<Draw> draws_;
};

// What the histograms say, as it is stored with a model.
Reference MakeReference(const MarginalCounts& counts);

}  // namespace dpboost
