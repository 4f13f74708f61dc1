// One framework for boosted trees under differential privacy ([FEDGBDT], [DPXGB]): a method is
// a choice of parts, and FrameworkOptions is that choice. Everything here is public: it depends on the call and
// the column encodings, never on rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "learner/boosted/boosting.h"
#include "learner/tree/leaf_values.h"
#include "learner/tree/split_candidates.h"

namespace dpboost {

// How a tree finds its splits (C1 of [FEDGBDT]).
enum class StructurePart {
    kTotallyRandom,    // no row is looked at
    kPartiallyRandom,  // one random candidate per feature and node; noisy sums decide
    kNoisyHistogram,   // noisy histograms over all candidates; the best noisy score decides
    kExponential       // the exponential mechanism over all candidates of all features ([DPXGB] 4.2)
};

// Which features a tree may split on (A1).
enum class FeaturePart { kAll, kCyclic, kSubset };

struct FrameworkOptions : BoostingOptions {
    StructurePart structure = StructurePart::kTotallyRandom;
    LeafPart leaf = LeafPart::kNewton;                   // C2
    CandidatePart candidates = CandidatePart::kUniform;  // C3
    FeaturePart features = FeaturePart::kAll;

    uint32_t candidate_count = 32;   // Q per ordered feature
    uint32_t hessian_rounds = 5;     // s of the iterative Hessian
    uint32_t features_per_tree = 1;  // k of cyclic features and of subsets
    uint32_t batch = 1;              // B: scores are updated after so many trees; 0: once, at the end
    double sketch_share = 0.1;       // of the rest, for the histograms of the iterative Hessian
    double selection_share = 0.6;    // of the rest, for the exponential mechanism; leaves get what remains

    // Sets what follows from task and parts: clips, the Hessian's share, the start, and for averaging leaves
    // the one update. learning_rate is of a batch's mean, so it may be up to B.
    void FitToParts();

    // Throws kInvalidParameter for values that do not fit together, and kUnsupported for a combination of parts without
    // a privacy proof; both say which and why.
    void Check() const;

    bool uses_sketch() const {
        return candidates == CandidatePart::kIterativeHessian && structure != StructurePart::kNoisyHistogram;
    }
    // Whether the leaves' sums are what the structure's last histograms say (kappa_w = 0 in the paper's Table
    // 1) instead of a release of their own.
    bool leaves_from_structure() const {
        return structure == StructurePart::kPartiallyRandom || structure == StructurePart::kNoisyHistogram;
    }
    bool hessian_is_count() const { return task == Task::kRegression || leaf != LeafPart::kNewton; }
    bool averages() const { return leaf == LeafPart::kAveraging; }
    bool one_feature_trees() const { return features != FeaturePart::kAll && features_per_tree == 1; }
    uint32_t batch_size() const { return batch == 0 ? trees : batch; }
    uint32_t sketch_rounds() const { return hessian_rounds < trees ? hessian_rounds : trees; }
    std::size_t tree_features(std::size_t features_of_table) const;
    // Histogram releases per tree of PR and Hist.
    uint32_t histograms_per_tree() const;
};

}  // namespace dpboost
