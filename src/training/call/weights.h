// The options "weight" and "class_weights": how much rows count. A weight is a share of the largest one that is publicly
// possible, so it makes what a row adds to a sum smaller and never larger: sensitivities and charges stay as they are.
#pragma once

#include <vector>

#include "model/model.h"
#include "training/columns.h"
#include "training/row_buffer.h"

namespace dpboost {

// What the options say. The column of the weights is taken out of the features and their columns; it must have a public
// range from 0 or above. Throws Error(kInvalidParameter).
RowWeights TakeWeights(const TrainingOptions& options, const PublicColumn& target, const TargetRule& rule,
                       std::vector<PublicColumn>* columns, FeatureEncodings* features);

// A class whose rows counted w times as much seems to have w times the odds: this takes it away, so that probabilities
// are those of the rows as they are. Post-processing; for a model of log odds or of classes.
void CorrectBases(const RowWeights& weights, Model* model);

}  // namespace dpboost
