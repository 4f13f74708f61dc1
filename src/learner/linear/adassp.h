// Method `adassp` ([ADASSP] Alg 2): boosted linear models. X'X is released once, with it AdaSSP's
// ridge; every round releases X'g for the gradients at the current model and adds a ridge regression on them.
// The model is one additive table per feature, which is the linear model exactly, because features are codes.
#pragma once

#include <cstddef>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/linear/adassp_options.h"
#include "learner/run.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"
#include "model/model.h"
#include "privacy/plan.h"

namespace dpboost {

// Bytes of trainer state per row, to be kept free next to the dataset (DatasetLimits::learner_bytes_per_row).
std::size_t AdasspBytesPerRow(const AdasspOptions& options, std::size_t features, bool has_units);

// Trains with a plan of BuildAdasspPlan(options, dataset.features(), ...), taking all of its charges. Nothing
// is drawn from `random`: there is no sampling. Noise comes from `noise` alone.
//
// Neighbours: add or remove one unit of the dataset; sensitivities: adassp_design.h. The model is
// post-processing of the plan's events. Probabilities: of the squared loss (1 + score) / 2, of the logistic
// loss its own, of the hinge loss, which has none, the logistic function of twice the margin.
Model TrainAdassp(const Dataset& dataset, const AdasspOptions& options, Plan& plan, Random& random,
                  NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                  const TrainingSettings& settings = {});

}  // namespace dpboost
