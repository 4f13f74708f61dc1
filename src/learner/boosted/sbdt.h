// S-BDT ([SBDT] Alg 2): an initial score, then random trees whose leaves are noisy Newton steps, one after
// the other. The number of trees, their structure and all messages are independent of rows; rows reach the
// model through the charges of the Plan only.
#pragma once

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/boosted/sbdt_options.h"
#include "learner/run.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"
#include "model/model.h"
#include "privacy/plan.h"

namespace dpboost {

// Bytes of trainer state per row, to be kept free next to the dataset (DatasetLimits::learner_bytes_per_row).
size_t SbdtBytesPerRow(const SbdtOptions& options);

// Trains with a plan of BuildSbdtPlan(options, ...), taking all of its charges. `random` chooses structures
// and samples; noise comes from `noise` alone. Reports rounds to `progress`, polls `interrupt` at least every
// few milliseconds.
//
// Neighbours: add or remove one unit of the dataset. What is released (the model) is post-processing of the
// plan's events: per tree one Poisson-sampled leaf-balanced Gaussian over sums to which each unit adds a
// vector within the bound (learner/leaf_sums.h), plus the initial score.
Model TrainSbdt(const Dataset& dataset, const SbdtOptions& options, Plan& plan, Random& random,
                NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                const TrainingSettings& settings = {});

}  // namespace dpboost
