// The DP initial score ([SBDT] Alg 3): the mean label, from a noisy count and a noisy sum that are released
// together in one full-batch Gaussian event. The paper's Laplace draws would compose less tightly with the
// trees.
#pragma once

#include <cstdint>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "dataset/target.h"
#include "mechanism/noise.h"
#include "privacy/plan.h"

namespace dpboost {

extern const char kInitialScoreMechanism[];

struct InitialScoreOptions {
    double share = 0;       // of mu(epsilon, delta)^2; 0 starts at zero
    double label_clip = 1;  // m*, regression only; the clip of a binary label is 1/2
};

// Neighbours: add or remove one unit. Sensitivity: a row adds kClipSteps to the count and, with its label
// centred (for {0, 1}: y - 1/2, half the sensitivity), at most kClipSteps to the sum; a unit with several
// rows is scaled down to the same weighted norm (learner/leaf_sums.h). Charge: one Gaussian event with the
// given share.
MechanismRequest InitialScoreRequest(const InitialScoreOptions& options);

// The score that all rows start with, in units of 2^-kFixedBits: the mean label, or its log odds for binary
// targets. Takes one charge of the mechanism. Finite and within the label's range whatever the noise.
int32_t DrawInitialScore(const Dataset& dataset, const InitialScoreOptions& options, Plan& plan,
                         MechanismId id, NoiseSource& noise, Interrupt& interrupt);

}  // namespace dpboost
