// One framework for boosted trees under differential privacy ([FEDGBDT], [DPXGB]): a method is
// a choice of parts, and FrameworkOptions is that choice. Everything here is public: it depends on the call and
// the column encodings, never on rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/feature.h"
#include "dataset/target.h"
#include "learner/objective/initial_score.h"
#include "privacy/plan.h"

namespace dpboost {

// How a tree finds its splits (C1 of [FEDGBDT]).
enum class StructurePart {
    kTotallyRandom,    // no row is looked at
    kPartiallyRandom,  // one random candidate per feature and node; noisy sums decide
    kNoisyHistogram,   // noisy histograms over all candidates; the best noisy score decides
    kExponential       // the exponential mechanism over all candidates of all features ([DPXGB] 4.2)
};

// What a leaf holds (C2).
enum class LeafPart {
    kAveraging,  // the mean label of the leaf; the ensemble is averaged, not boosted
    kGradient,   // the mean gradient
    kNewton      // gradient sum over Hessian sum
};

// Where ordered features may be cut (C3). Levels are always split one against the rest.
enum class CandidatePart {
    kUniform,           // equally far apart in the feature's range
    kLog,               // equally far apart in the magnitude of the distance to the range's lower end
    kIterativeHessian,  // uniform at first, then refined by noisy Hessian histograms
    kWholeRange         // between any two bins of the public grid
};

// Which features a tree may split on (A1).
enum class FeaturePart { kAll, kCyclic, kRandom };

struct FrameworkOptions {
    Task task = Task::kBinary;
    StructurePart structure = StructurePart::kTotallyRandom;
    LeafPart leaf = LeafPart::kNewton;
    CandidatePart candidates = CandidatePart::kUniform;
    FeaturePart features = FeaturePart::kAll;

    uint32_t trees = 100;            // T, 1 to 100000
    int depth = 4;                   // d, 1 to 10
    uint32_t candidate_count = 32;   // Q per ordered feature, 1 to 1024
    uint32_t hessian_rounds = 5;     // s of the iterative Hessian, 1 to 1000
    uint32_t features_per_tree = 1;  // k of cyclic and random features
    uint32_t batch = 1;              // B: scores are updated after so many trees; 0: once, at the end
    double subsample = 1;            // gamma: a unit takes part in a release with this probability
    double learning_rate = 0.3;      // eta; of a batch's mean, so it may be up to B
    double l2 = 1;                   // lambda
    double leaf_clip = 2;            // beta
    double gradient_clip = 1;        // g*
    double hessian_clip = 0.25;      // h*; 1 where the Hessian is a count
    double hessian_share =
        1.0 / 17;                  // r1: of a release of gradients and Hessians (1/17: equal noise for both)
    double initial_share = 0;      // of mu^2, for a DP initial score; 0: start at zero
    double label_clip = 1;         // of the initial score, regression only
    double sketch_share = 0.1;     // of the rest, for the histograms of the iterative Hessian
    double selection_share = 0.6;  // of the rest, for the exponential mechanism; leaves get what remains

    // The named combinations of the papers (presets.h lists them) with defaults for the task and epsilon.
    // Throws kInvalidParameter for an unknown name, kUnsupported for one that has no proof here.
    static FrameworkOptions Preset(const std::string& name, Task task, double epsilon);

    // Sets what follows from task and parts: clips, the Hessian's share, the start, and for averaging leaves
    // the one update. For callers that change a part of a preset, before they set figures.
    void FitToParts();

    // Throws kInvalidParameter for a value out of range, and kUnsupported for a combination of parts without
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
    bool one_feature_trees() const { return features != FeaturePart::kAll && features_per_tree == 1; }
    uint32_t batch_size() const { return batch == 0 ? trees : batch; }
    uint32_t sketch_rounds() const { return hessian_rounds < trees ? hessian_rounds : trees; }
    size_t tree_features(size_t features_of_table) const;
    InitialScoreOptions initial_score() const { return {initial_share, label_clip}; }
};

}  // namespace dpboost
