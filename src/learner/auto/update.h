// What `auto` does otherwise when it goes on from a model: the model's histograms are not bought again, and what today's
// rows say is averaged with what the model says, each by the weight of its evidence. (To start the stages at the model's
// scores instead is worse: its noise stays, and theirs comes on top.)
#pragma once

#include <vector>

#include "learner/auto/additive_stage.h"
#include "model/model.h"

namespace dpboost {

// The histograms of a model's training, for as many rows as there are today.
//
// Neighbours: add or remove one unit. Sensitivity: a row adds one to one count, a unit is scaled down to the same. Charge:
// `fraction` of the pool. What the model's own training released is post-processed.
MarginalCounts CountsOfToday(const Reference& reference, const std::vector<FeatureSpec>& features,
                             double fraction, BasisRows& rows, Pool& pool);

// After DrawBase: how far the model still holds, as the slope of today's classes in its scores, in [0, 1]; 1 where it is
// not asked.
//
// Neighbours: add or remove one unit. Sensitivity: a row adds one to one count, a unit is scaled down to the same. Charge:
// the schedule's `old_trust` of the pool, if there is enough signal.
double OldTrust(const AdditiveStage& stage, const Model& model);

// After the stages: averages the tables, products and rows' scores with the model's, above their bases, and returns how much
// the model counts: `given`, unless that is below 0; else the share of its evidence, times how far it still holds. Noise
// in tables goes like 1 / (n mu), so the weights that leave the least of it are as (n mu)^2. No model counts more than
// twice what is new, however many updates made it: rows change. Unless what is new is hardly more than noise.
double BlendWith(const Model& model, double given, double trust, const AdditiveStage& stage);

// Bands of what was there before and of what was added: independent noise.
std::vector<std::vector<float>> JoinedBands(const std::vector<std::vector<float>>& before,
                                            std::vector<std::vector<float>> added);

}  // namespace dpboost
