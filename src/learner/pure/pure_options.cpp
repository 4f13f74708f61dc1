#include "learner/pure/pure_options.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "learner/pure/leaf.h"
#include "learner/tree/split_candidates.h"
#include "learner/tree/split_score.h"
#include "mechanism/exponential.h"

namespace dpboost {

const char kPureLeavesMechanism[] = "leaves";

namespace {

// Scores are 32-bit fixed-point numbers of 2^-20, below 2048.
constexpr double kMaxScore = 2000;

void CheckOption(bool valid, const char* name, const char* allowed) {
    if (!valid)
        throw Error(ErrorCode::kInvalidParameter, std::string("option \"") + name + "\" is out of range",
                    std::string("Allowed is ") + allowed + ".");
}

}  // namespace

std::string PureSplitsMechanism(int level) {
    return "splits of level " + std::to_string(level);
}

PureOptions PureOptions::Defaults(Task task, double) {
    PureOptions options;
    options.task = task;
    return options;
}

PureOptions PureOptions::Preset(const std::string& name, Task task, double epsilon) {
    PureOptions options = Defaults(task, epsilon);
    if (name == "pure_sums") {
        options.leaves = LeafReleasePart::kSums;
        options.leaf_clip = LeafClipPart::kNone;
        options.depth = 3;
        options.trees_per_ensemble = 10;
        options.learning_rate = 0.3;
        options.l2 = 5;
        options.leaf_share = 0.6;
    } else if (name == "pure_seq") {
        options.ensembles = 50;
        options.trees_per_ensemble = 1;
        options.leaf_clip = LeafClipPart::kNone;
    } else if (name == "pure_para") {
        options.subsets = SubsetPart::kHalving;
        options.leaf_clip = LeafClipPart::kNone;
    } else if (name != "pure_trees") {
        throw Error(ErrorCode::kInvalidParameter, "unknown method \"" + name + "\"");
    }
    return options;
}

void PureOptions::Check() const {
    CheckOption(ensembles >= 1 && ensembles <= 10000, "ensembles", "1 to 10000");
    CheckOption(trees_per_ensemble >= 1 && trees_per_ensemble <= 1000, "trees_per_ensemble", "1 to 1000");
    CheckOption(trees() <= 100000, "ensembles", "at most 100000 trees in all");
    CheckOption(depth >= 1 && depth <= 10, "depth", "1 to 10");
    CheckOption(learning_rate > 0 && learning_rate <= 1, "learning_rate", "above 0 and at most 1");
    CheckOption(l2 >= 0 && l2 <= 1e6, "l2", "0 to 1000000");
    CheckOption(gradient_bound >= 1e-3 && gradient_bound <= 10, "gradient_bound", "0.001 to 10");
    CheckOption(leaf_share >= 0.01 && leaf_share <= 0.99, "leaf_share", "0.01 to 0.99");
    CheckOption(candidate_count <= 65535, "candidate_count", "0 (every edge of the grid) to 65535");
    if (!(learning_rate * gradient_bound * trees() <= kMaxScore))
        throw Error(
            ErrorCode::kInvalidParameter, "scores of the ensemble could become too large",
            "The number of trees times \"learning_rate\" times \"gradient_bound\" must not exceed 2000.",
            "Lower \"learning_rate\" or the number of trees.");
}

double PureOptions::LeafBound(uint32_t k) const {
    if (leaf_clip == LeafClipPart::kNone)
        return gradient_bound;
    // Not below a thousandth: a bound of nothing would only make the lattice finer and finer.
    return gradient_bound * std::max(1e-3, std::pow(1 - learning_rate, static_cast<double>(k)));
}

PlanRequest BuildPurePlan(const PureOptions& options, const std::vector<FeatureSpec>& features,
                          double epsilon, double delta) {
    options.Check();
    if (features.empty())
        throw Error(ErrorCode::kInvalidParameter, "trees need at least one feature");
    const CandidatePart part =
        options.candidate_count == 0 ? CandidatePart::kWholeRange : CandidatePart::kUniform;
    size_t candidates = 0;
    for (const FeatureSpec& feature : features)
        candidates += SplitCandidates::MaxCells(feature, part, options.candidate_count);
    if (candidates > ExponentialSampler::kMaxCandidates)
        throw Error(ErrorCode::kLimitExceeded, "too many split candidates",
                    "The exponential mechanism chooses among at most 4194304.",
                    "Set \"candidate_count\", or use fewer features or levels.");
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    for (int level = 0; level < options.depth; level++) {
        MechanismRequest splits;
        splits.name = PureSplitsMechanism(level);
        splits.kind = EventKind::kExponential;
        splits.count = options.ensembles;
        splits.parts = uint64_t{options.trees_per_ensemble} << level;
        splits.rest = (1 - options.leaf_share) / options.depth;
        splits.dimensions = {{kUtilitySensitivity, 1, candidates}};
        request.mechanisms.push_back(std::move(splits));
    }
    MechanismRequest leaves;
    leaves.name = kPureLeavesMechanism;
    leaves.kind = EventKind::kLaplace;
    leaves.count = options.ensembles;
    leaves.parts = options.trees_per_ensemble;
    leaves.rest = options.leaf_share;
    leaves.dimensions = {{LeafRelease::Sensitivity(options), 1, LeafRelease::Sums(options)}};
    request.mechanisms.push_back(std::move(leaves));
    return request;
}

}  // namespace dpboost
