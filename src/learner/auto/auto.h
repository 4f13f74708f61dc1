// `auto`, the default method: noisy histograms, an initial score, a linear stage, a query for interactions,
// one-feature trees (and, where the query found them, trees on two or three features) on the residual. No
// tuning: shares and step sizes follow from the noisy number of rows (auto_schedule.h).
#pragma once

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/auto/auto_options.h"
#include "learner/run.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"
#include "model/model.h"
#include "privacy/plan.h"

namespace dpboost {

// Bytes of trainer state per row, to be kept free next to the dataset.
size_t AutoBytesPerRow(bool has_units);

// Trains with a plan of BuildAutoPlan(options, ...), spending all of its pool. `random` chooses structures;
// noise comes from `noise` alone.
//
// Neighbours: add or remove one unit of the dataset. The model is post-processing of the pool's draws: sums
// over units of integer vectors, each unit's within the bound that its draw was charged for
// (learner/additive_rows.h). The exact number of rows enters nowhere else.
Model TrainAuto(const Dataset& dataset, const AutoOptions& options, Plan& plan, Random& random,
                NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                const TrainingSettings& settings = {});

}  // namespace dpboost
