// What a call and its schema say before any row is read: options, target, features and the learner for them, of a training
// from the start or of one that goes on from a model.
#pragma once

#include <memory>
#include <optional>

#include "learner/learner.h"
#include "model/model.h"
#include "training/columns.h"
#include "training/options.h"

namespace dpboost {

struct TrainingSchema;

TrainingOptions OptionsOf(const TrainingSchema& schema);
// The model that an update goes on from. What it left over is no longer so.
std::optional<Model> ModelOf(const TrainingSchema& schema);
TargetRule TargetOf(const TrainingSchema& schema, const TrainingOptions& options);
FeatureEncodings FeaturesOf(const TrainingSchema& schema, const TrainingOptions& options);

// Whether what predictions leave over is asked for and people are set aside who can say it, at no cost.
bool HeldOutIntervals(const TrainingOptions& options);

// `model`: to go on from. Throws what the method refuses.
std::unique_ptr<Learner> MakeLearner(const TrainingOptions& options, const FeatureEncodings& features,
                                     const TargetRule& target, const MethodList& methods,
                                     const std::optional<Model>& model);

// What a training will need whatever its rows: refused here, before any row is read, and nowhere else.
void CheckFootprint(const Footprint& footprint, size_t memory);

}  // namespace dpboost
