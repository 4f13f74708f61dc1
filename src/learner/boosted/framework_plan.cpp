#include "learner/boosted/framework_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "learner/objective/objective.h"
#include "learner/rows/leaf_sums.h"
#include "learner/tree/split_candidates.h"
#include "learner/tree/split_score.h"
#include "mechanism/exponential.h"

namespace dpboost {

const char kCandidatesMechanism[] = "split candidates";
const char kHistogramsMechanism[] = "histograms";
const char kLeavesMechanism[] = "leaves";

namespace {

// sqrt(k) S, rounded up: a row in one cell of each of k histograms.
double JointSensitivity(size_t features) {
    const double root =
        std::nextafter(std::sqrt(static_cast<double>(features)), std::numeric_limits<double>::infinity());
    return root * kClipSteps;
}

size_t AllCells(const FrameworkOptions& options, const std::vector<FeatureSpec>& features) {
    size_t cells = 0;
    for (const FeatureSpec& feature : features)
        cells += SplitCandidates::MaxCells(feature, options.candidates, options.candidate_count);
    return cells;
}

MechanismRequest Gaussian(const char* name, uint64_t count, double rest) {
    MechanismRequest request;
    request.name = name;
    request.kind = EventKind::kGaussian;
    request.count = count;
    request.rest = rest;
    return request;
}

// Hessian and gradient sums, leaf-balanced ([SBDT] Thm 16).
std::vector<Dimension> BalancedSums(const FrameworkOptions& options, double sensitivity, size_t sums) {
    const LeafWeights weights(options.hessian_share);
    return {{sensitivity, weights.hessian_share(), sums}, {sensitivity, weights.gradient_share(), sums}};
}

MechanismRequest SketchRequest(const FrameworkOptions& options, const std::vector<FeatureSpec>& features) {
    const std::vector<uint16_t> refined = RefinedFeatures(features);
    size_t cells = 0;
    for (const uint16_t feature : refined)
        cells += SplitCandidates::MaxCells(features[feature], options.candidates, options.candidate_count);
    MechanismRequest request = Gaussian(kCandidatesMechanism, options.sketch_rounds(), options.sketch_share);
    request.dimensions = {{JointSensitivity(refined.size()), 1, cells}};
    return request;
}

MechanismRequest SelectionRequest(const FrameworkOptions& options, int level, size_t candidates) {
    MechanismRequest request;
    request.name = SelectionMechanism(level);
    request.kind = EventKind::kExponential;
    request.count = options.trees;
    request.parts = uint64_t{1} << level;
    request.rest = options.selection_share / options.depth;
    request.dimensions = {{kUtilitySensitivity, 1, candidates}};
    return request;
}

MechanismRequest HistogramsRequest(const FrameworkOptions& options,
                                   const std::vector<FeatureSpec>& features) {
    const size_t nodes = size_t{1} << (options.depth - 1);
    const size_t cells = options.structure == StructurePart::kPartiallyRandom ? 2 * features.size()
                                                                              : AllCells(options, features);
    MechanismRequest request = Gaussian(kHistogramsMechanism, options.trees * HistogramsPerTree(options), 0);
    request.sampling_rate = options.subsample;
    request.dimensions =
        BalancedSums(options, JointSensitivity(options.tree_features(features.size())), nodes * cells);
    return request;
}

}  // namespace

std::string SelectionMechanism(int level) {
    return "splits of level " + std::to_string(level);
}

std::string MainMechanism(const FrameworkOptions& options) {
    return options.leaves_from_structure() ? kHistogramsMechanism : kLeavesMechanism;
}

std::vector<uint16_t> RefinedFeatures(const std::vector<FeatureSpec>& features) {
    std::vector<uint16_t> refined;
    for (size_t i = 0; i < features.size(); i++) {
        if (features[i].ordered() && features[i].bins() > 2)
            refined.push_back(static_cast<uint16_t>(i));
    }
    return refined;
}

uint64_t HistogramsPerTree(const FrameworkOptions& options) {
    const bool root_only = options.structure == StructurePart::kNoisyHistogram && options.one_feature_trees();
    return root_only ? 1 : static_cast<uint64_t>(options.depth);
}

PlanRequest BuildFrameworkPlan(const FrameworkOptions& options, const std::vector<FeatureSpec>& features,
                               double epsilon, double delta) {
    options.Check();
    if (features.empty())
        throw Error(ErrorCode::kInvalidParameter, "trees need at least one feature");
    if (!(delta > 0))
        throw Error(ErrorCode::kUnsupported, "this method needs a delta above 0",
                    "Its sums get Gaussian noise, which satisfies no pure differential privacy.",
                    "Give a delta such as 1e-6, or choose a method with Laplace noise, like \"pure_trees\".");
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    double rest = 1;
    if (options.initial_share > 0)
        request.mechanisms.push_back(InitialScoreRequest(options.initial_score()));
    if (options.uses_sketch() && !RefinedFeatures(features).empty()) {
        request.mechanisms.push_back(SketchRequest(options, features));
        rest -= options.sketch_share;
    }
    if (options.structure == StructurePart::kExponential) {
        if (AllCells(options, features) > ExponentialSampler::kMaxCandidates)
            throw Error(ErrorCode::kLimitExceeded, "too many split candidates",
                        "The exponential mechanism chooses among at most 4194304.",
                        "Lower \"candidate_count\", or use fewer features or levels.");
        for (int level = 0; level < options.depth; level++)
            request.mechanisms.push_back(SelectionRequest(options, level, AllCells(options, features)));
        rest -= options.selection_share;
    }
    if (options.leaves_from_structure()) {
        request.mechanisms.push_back(HistogramsRequest(options, features));
    } else {
        MechanismRequest leaves = Gaussian(kLeavesMechanism, options.trees, 0);
        leaves.sampling_rate = options.subsample;
        leaves.dimensions = BalancedSums(options, kClipSteps, size_t{1} << options.depth);
        request.mechanisms.push_back(std::move(leaves));
    }
    request.mechanisms.back().rest = rest;
    return request;
}

}  // namespace dpboost
