// What sbdt and the methods of the framework share: the options of an ensemble whose leaves are noisy sums of gradients
// and Hessians, its start, and the release of its leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/target.h"
#include "learner/rows/boosted_rows.h"
#include "learner/run.h"
#include "learner/tree/noisy_sides.h"
#include "privacy/plan.h"

namespace dpboost {

// Everything here is public: it depends on the call and the column encodings, never on rows.
struct BoostingOptions {
    Task task = Task::kBinary;
    uint32_t trees = 100;        // T
    int depth = 4;               // d
    double learning_rate = 0.3;  // eta
    double subsample = 1;        // gamma: a unit takes part in a release with this probability
    double gradient_clip = 1;    // g*
    double hessian_clip = 0.25;  // h*; 1 where the Hessian is a count
    double hessian_share = 0.5;  // r1 of a release of Hessians and gradients; the gradients get 1 - r1
    double initial_share = 0;    // of mu^2, for a DP initial score; 0: start at zero
    double label_clip = 1;       // m* of the initial score, regression only
    double l2 = 1;               // lambda
    double leaf_clip = 2;        // beta
    ObjectiveKind objective = ObjectiveKind::kSquared;
    std::size_t outputs = 1;  // K, the scores of a row

    std::size_t leaves() const { return std::size_t{1} << depth; }
    LeafWeights weights() const { return LeafWeights(hessian_share); }
    GradientUnits units() const { return {hessian_clip / kClipSteps, gradient_clip / kClipSteps}; }

    // Throws kInvalidParameter if the Hessian cannot be clipped there.
    void CheckHessianClip(bool hessian_is_count) const;

    // The leaf-balanced Gaussian of all leaves of a tree ([SBDT] Thm 16), once per tree.
    MechanismRequest LeavesMechanism(const char* name) const;

    // For the rows of the ensemble, that start with `base`.
    BoostedRowsOptions RowsOptions(int32_t base) const;
};

// The score that all rows start with, by the mechanism of initial_score.h if it has a share.
int32_t DrawStart(Run& run, const BoostingOptions& options);

// Releases the sums of the leaves of tree `slot` of the current group.
//
// Neighbours: add or remove one unit. Sensitivity: boosted_rows.h. Charge: one event of `id`, Poisson-sampled at the rate
// that the plan has for it ([SBDT] Thm 14, 16).
NoisySides ReleaseLeaves(Run& run, MechanismId id, BoostedRows& rows, int slot, GradientUnits units);

// The same of several trees that are all grown from the scores of now: an event each, with a sample each, drawn at once. The
// last of them are the current group then.
std::vector<NoisySides> ReleaseTrees(Run& run, MechanismId id, BoostedRows& rows,
                                     const std::vector<Tree>& trees, GradientUnits units);
// Adds these trees, which have got their leaves, to the scores.
void AddTrees(Run& run, BoostedRows& rows, const std::vector<Tree>& trees);

}  // namespace dpboost
