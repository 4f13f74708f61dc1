// The last draws of `auto`, by which predictions are right on average, or at a quantile, on the target's own scale.
#pragma once

#include "learner/auto/additive_stage.h"

namespace dpboost {

// What is to be left of the pool for them; public, or a function of released figures.
double LastFraction(const AdditiveStage& stage);
// Spends that, down to `leave`. Returns by what the logarithms of predictions were shifted (AdjustMean).
double DrawLast(const AdditiveStage& stage, const MeanLabel& mean, double fraction, double leave);

// What predictions leave over, where intervals are asked for: the last of all draws, it spends what is left.
ResidualHistogram DrawResiduals(const AdditiveStage& stage, double log_shift);

// What the model is to say about its loss.
LossNote NoteOf(const AdditiveStage& stage);

// Whether the base is a quantile, not a mean.
inline bool HasQuantileBase(ObjectiveKind objective) {
    return objective == ObjectiveKind::kHuber || objective == ObjectiveKind::kQuantile;
}

// Moves the base so that the part stage.quantile of the rows lies below their predictions, by a noisy histogram of what
// they leave over. At the start rows have no score yet: then it is the quantile of the labels. Spends `fraction` of the
// pool.
void MoveBaseToQuantile(const AdditiveStage& stage, double fraction);

// Of a logarithmic target: makes all scores logarithms of 1 + value - lower, and shifts them so that the mean prediction
// on the original scale is right: a mean of logarithms says nothing about that. Spends `fraction`, which may be 0.
// Returns the shift.
double AdjustMean(const AdditiveStage& stage, double fraction);

}  // namespace dpboost
