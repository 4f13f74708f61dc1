// Method `pure_trees` and its variants ([DPBOOST]): boosted trees under pure epsilon-DP, with splits by the exponential
// mechanism and Laplace noise on leaves. Ensembles of trees one after the other, the trees of an ensemble on disjoint
// subsets of the units, each after filtering by gradient. Rows reach the model through the charges of the Plan only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/feature.h"
#include "dataset/target.h"
#include "learner/learner.h"
#include "learner/rows/leaf/leaf_lattice.h"
#include "learner/tree/split_candidates.h"

namespace dpboost {

// Which part of an ensemble's units a tree gets (the parts are disjoint and together all units).
enum class SubsetPart {
    kGeometric,  // tree k (from 0) gets the share eta (1 - eta)^k, scaled so that they sum to 1 (Alg 2)
    kHalving     // half of what the trees before it left; the last one gets all of that (baseline PARA)
};

// Bounds on leaf values.
enum class LeafClipPart {
    kNone,
    kGeometric  // g* (1 - eta)^k for tree k of its ensemble (Corollary 2)
};

// Everything here is public: it depends on the call and the column encodings, never on rows. The defaults are the paper's.
struct PureOptions {
    Task task = Task::kRegression;
    uint32_t ensembles = 1;            // N_e, one after the other
    uint32_t trees_per_ensemble = 50;  // T_e, on disjoint subsets
    int depth = 6;
    double learning_rate = 0.1;  // eta
    double l2 = 0.1;             // lambda
    double gradient_clip = 1;    // g*: rows with a larger gradient sit out a tree (GDF)
    double leaf_share = 0.5;     // of a tree's epsilon; the levels of splits share the rest equally
    SubsetPart subsets = SubsetPart::kGeometric;
    LeafReleasePart leaves = LeafReleasePart::kQuotient;
    LeafClipPart leaf_clip = LeafClipPart::kGeometric;
    uint32_t candidate_count = 0;  // thresholds per ordered feature; 0: every edge of the public grid

    // Throws kInvalidParameter for values that do not fit together.
    void Check() const;

    uint32_t trees() const { return ensembles * trees_per_ensemble; }
    CandidatePart candidates() const {
        return candidate_count == 0 ? CandidatePart::kWholeRange : CandidatePart::kUniform;
    }
    // What the leaves of tree k of an ensemble release.
    LeafLattice Leaves(uint32_t k) const;
    // The probability that a unit takes part in one of the trees 0 to k, times 2^32 (rows/subsets.h).
    std::vector<uint64_t> SubsetEnds() const;
};

extern const char kPureLeavesMechanism[];

// Neighbours: add or remove one unit. Per ensemble every unit is in one subset, drawn without looking at rows
// (rows/subsets.h), so that the trees of an ensemble compose in parallel, and so do the nodes of a level;
// levels, leaves and ensembles compose one after the other ([DPBOOST] Thm 7, Thm 8). So there is one
// event per level and one for the leaves, `ensembles` times each. The model is post-processing of them.
//
// delta = 0 is the paper's pure DP. A delta above 0 is allowed: the same mechanisms, composed by their privacy loss.
//
// The loss is the squared one; a binary target is -1 or 1, and its probability (1 + score) / 2.
class PureLearner final : public Learner {
  public:
    // Throws what Check throws, kInvalidParameter without features, kLimitExceeded for too many candidates.
    PureLearner(const PureOptions& options, const std::vector<FeatureSpec>& features);

    std::vector<MechanismRequest> Mechanisms() const override { return mechanisms_; }
    std::string main_mechanism() const override { return kPureLeavesMechanism; }
    Footprint footprint(bool has_units) const override;
    Link link() const override { return Link::kIdentity; }
    void Train(Run& run) const override;

  private:
    const PureOptions options_;
    std::vector<MechanismRequest> mechanisms_;
};

extern const MethodInfo kPureTrees;
extern const MethodInfo kPureSums;
extern const MethodInfo kPureSeq;
extern const MethodInfo kPurePara;

}  // namespace dpboost
