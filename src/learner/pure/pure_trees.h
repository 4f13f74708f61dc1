// Method `dpboost` ([DPBOOST] Alg 2): ensembles of trees one after the other, the trees of an
// ensemble on disjoint subsets of the units, each after filtering by gradient. Rows reach the model through
// the charges of the Plan only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/boosted/presets.h"
#include "learner/pure/pure_options.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"
#include "model/model.h"
#include "privacy/plan.h"

namespace dpboost {

// The presets of this file: PureOptions::Preset makes their options.
extern const MethodPreset kPurePresets[];
extern const std::size_t kPurePresetCount;

// Bytes of trainer state per row, to be kept free next to the dataset (DatasetLimits::learner_bytes_per_row).
std::size_t PureBytesPerRow(const PureOptions& options);

// Gradient-based data filtering (GDF): the rows whose gradient label - score is at most the bound, all three
// in units of 2^-kFixedBits, with the gradient in steps of bound / kClipSteps, at most kClipSteps in
// magnitude.
//
// It costs no privacy: whether a row takes part is a function of that row and of the trees released before,
// so adding or removing a row changes the filtered set by at most that row, and neighbours stay neighbours.
// The filter must not depend on other rows (a quantile of gradients would), and how many it drops is never
// shown. A row beyond the bound is left out of sum and count, rather than clipped, as Lemma 2 needs |G| <= n
// g*.
class GradientFilter {
  public:
    explicit GradientFilter(double bound);

    bool Passes(int64_t label_fixed, int64_t score_fixed) const {
        const int64_t gradient = label_fixed - score_fixed;
        return gradient <= bound_fixed_ && gradient >= -bound_fixed_;
    }
    int32_t Steps(int64_t label_fixed, int64_t score_fixed) const;

  private:
    int64_t bound_fixed_;
};

// Trains with a plan of BuildPurePlan(options, dataset.features(), ...), taking all of its charges.
// `random` draws subsets and the row that stands for a unit; noise comes from `noise` alone. The loss is the
// squared one; a binary target is -1 or 1, and its probability (1 + score) / 2.
//
// Neighbours: add or remove one unit of the dataset. The model is post-processing of the plan's events.
Model TrainPureTrees(const Dataset& dataset, const PureOptions& options, Plan& plan, Random& random,
                     NoiseSource& noise, Interrupt& interrupt, Progress& progress);

}  // namespace dpboost
