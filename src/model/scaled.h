// A model whose scores are another's, made larger or smaller: how an update weighs and calibrates the model that it goes
// on from. Post-processing of a released model.
#pragma once

#include "model/model.h"

namespace dpboost {

// Tables and trees times `factor`, bases times `base_factor`; what is said about their noise follows. Both finite.
Model Scaled(const Model& model, double factor, double base_factor);

}  // namespace dpboost
