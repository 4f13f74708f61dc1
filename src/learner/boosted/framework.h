// Trains any method of the framework: candidates, structure, leaves, update, tree by tree, each by the part
// that the options choose. Rows reach the model through the charges of the Plan only.
#pragma once

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/boosted/framework_options.h"
#include "learner/boosted/framework_plan.h"
#include "learner/boosted/sbdt.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"
#include "model/model.h"
#include "privacy/plan.h"

namespace dpboost {

// Bytes of trainer state per row, to be kept free next to the dataset (DatasetLimits::learner_bytes_per_row).
size_t FrameworkBytesPerRow(const FrameworkOptions& options);

// Trains with a plan of BuildFrameworkPlan(options, dataset.features(), ...), taking all of its charges.
// `random` chooses features, random splits, samples and the row that stands for a unit; noise comes from
// `noise` alone.
//
// Neighbours: add or remove one unit of the dataset. What is released (the model) is post-processing of the
// plan's events; each part states its sensitivity and charge (split_search.h, boost_state.h,
// initial_score.h).
Model TrainFramework(const Dataset& dataset, const FrameworkOptions& options, Plan& plan, Random& random,
                     NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                     const TrainingSettings& settings = {});

}  // namespace dpboost
