// Options of method `dpboost` ([DPBOOST]) and the plan that they ask for: boosted trees under pure
// epsilon-DP, with splits by the exponential mechanism and Laplace noise on leaves. Everything here is
// public: it depends on the call and the column encodings, never on rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/feature.h"
#include "dataset/target.h"
#include "privacy/plan.h"

namespace dpboost {

// Which part of an ensemble's units a tree gets (the parts are disjoint and together all units).
enum class SubsetPart {
    kGeometric,  // tree k (from 0) gets the share eta (1 - eta)^k, scaled so that they sum to 1 (Alg 2)
    kHalving     // half of what the trees before it left; the last one gets all of that (baseline PARA)
};

// What a leaf releases.
enum class LeafReleasePart {
    kQuotient,  // its clipped value, with noise for the value's sensitivity (Alg 1)
    kSums       // gradient sum and count, with noise each: the noise of a value shrinks with the leaf's rows
};

// Bounds on leaf values.
enum class LeafClipPart {
    kNone,
    kGeometric  // g* (1 - eta)^k for tree k of its ensemble (Corollary 2)
};

struct PureOptions {
    Task task = Task::kRegression;
    uint32_t ensembles = 1;            // N_e, one after the other: 1 to 10000
    uint32_t trees_per_ensemble = 50;  // T_e, on disjoint subsets: 1 to 1000
    int depth = 6;                     // 1 to 10
    double learning_rate = 0.1;        // eta
    double l2 = 0.1;                   // lambda
    double gradient_bound = 1;         // g*: rows with a larger gradient sit out a tree (GDF)
    double leaf_share = 0.5;           // of a tree's epsilon; the levels of splits share the rest equally
    SubsetPart subsets = SubsetPart::kGeometric;
    LeafReleasePart leaves = LeafReleasePart::kQuotient;
    LeafClipPart leaf_clip = LeafClipPart::kGeometric;
    uint32_t candidate_count = 0;  // thresholds per ordered feature; 0: every edge of the public grid

    // The paper's settings.
    static PureOptions Defaults(Task task, double epsilon);
    // "pure_trees", and its variants in kPurePresets. Throws kInvalidParameter for another name.
    static PureOptions Preset(const std::string& name, Task task, double epsilon);

    // Throws kInvalidParameter that names the option and its range.
    void Check() const;

    uint32_t trees() const { return ensembles * trees_per_ensemble; }
    // The bound on the leaf values of tree k of an ensemble.
    double LeafBound(uint32_t k) const;
};

extern const char kPureLeavesMechanism[];
std::string PureSplitsMechanism(int level);

// Neighbours: add or remove one unit. Per ensemble every unit is in one subset, drawn without looking at rows
// (dpboost_subsets.h), so that the trees of an ensemble compose in parallel, and so do the nodes of a level;
// levels, leaves and ensembles compose one after the other ([DPBOOST] Thm 7, Thm 8). So there is one
// event per level and one for the leaves, `ensembles` times each.
//
// delta = 0 is the paper's pure DP. A delta above 0 is allowed: the same mechanisms, composed by their
// privacy loss. Throws what Check throws, kInvalidParameter without features, kLimitExceeded for too many
// candidates.
PlanRequest BuildPurePlan(const PureOptions& options, const std::vector<FeatureSpec>& features,
                          double epsilon, double delta = 0);

}  // namespace dpboost
