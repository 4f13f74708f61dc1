// The DP initial score ([SBDT] Alg 3): the mean label, from a noisy count and a noisy sum that are released
// together in one full-batch Gaussian event. The paper's Laplace draws would compose less tightly with the
// trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learner/objective/objective.h"
#include "privacy/plan.h"

namespace dpboost {

struct Run;

extern const char kInitialScoreMechanism[];

// One Gaussian event with the given share of mu(epsilon, delta)^2 (rows/label_sums.h has the sensitivity).
// Of several classes: a count of each, one vector of sensitivity one row.
MechanismRequest InitialScoreRequest(double share, std::size_t classes = 1);

// The score that all rows start with, in steps of 2^-kFixedBits: the mean label, its log odds for binary targets, or the
// logarithm of the mean count. Takes one charge of the mechanism. Finite and within the label's range whatever the noise. label_clip is m*,
// of regression only; the clip of a binary label is 1/2.
int32_t DrawInitialScore(Run& run, ObjectiveKind objective, double label_clip);

// Of several classes: the logarithm of how frequent each is, minus the mean of these.
std::vector<int32_t> DrawInitialClasses(Run& run);

}  // namespace dpboost
