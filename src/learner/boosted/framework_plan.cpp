#include "learner/boosted/framework_plan.h"

#include <utility>

#include "base/error.h"
#include "learner/objective/initial_score.h"
#include "learner/rows/node/node_sums.h"
#include "learner/tree/exponential_growth.h"

namespace dpboost {

const char kCandidatesMechanism[] = "split candidates";
const char kHistogramsMechanism[] = "histograms";
const char kLeavesMechanism[] = "leaves";

namespace {

std::size_t AllCells(const FrameworkOptions& options, const std::vector<FeatureSpec>& features) {
    return SplitCandidates::MaxCells(features, options.candidates, options.candidate_count);
}

MechanismRequest SketchMechanism(const FrameworkOptions& options, const std::vector<FeatureSpec>& features) {
    const std::vector<uint16_t> refined = RefinedFeatures(features);
    std::size_t cells = 0;
    for (const uint16_t feature : refined)
        cells += SplitCandidates::MaxCells(features[feature], options.candidates, options.candidate_count);
    MechanismRequest request;
    request.name = kCandidatesMechanism;
    request.count = options.sketch_rounds();
    request.rest = options.sketch_share;
    request.dimensions = {{NodeSums::HistogramSensitivity(refined.size()), 1, cells}};
    return request;
}

// As that of leaves, over the cells of all nodes of a level.
MechanismRequest HistogramsMechanism(const FrameworkOptions& options,
                                     const std::vector<FeatureSpec>& features) {
    const std::size_t nodes = std::size_t{1} << (options.depth - 1);
    const std::size_t cells = options.structure == StructurePart::kPartiallyRandom
                                  ? 2 * features.size()
                                  : AllCells(options, features);
    MechanismRequest request = options.LeavesMechanism(kHistogramsMechanism);
    request.count = uint64_t{options.trees} * options.histograms_per_tree();
    request.dimensions = options.weights().Dimensions(
        NodeSums::HistogramSensitivity(options.tree_features(features.size())), nodes * cells);
    return request;
}

}  // namespace

std::vector<uint16_t> RefinedFeatures(const std::vector<FeatureSpec>& features) {
    std::vector<uint16_t> refined;
    for (std::size_t i = 0; i < features.size(); i++) {
        if (features[i].ordered() && features[i].bins() > 2)
            refined.push_back(static_cast<uint16_t>(i));
    }
    return refined;
}

std::vector<MechanismRequest> FrameworkMechanisms(const FrameworkOptions& options,
                                                  const std::vector<FeatureSpec>& features) {
    if (features.empty())
        throw Error(ErrorCode::kInvalidParameter, "trees need at least one feature");
    std::vector<MechanismRequest> mechanisms;
    double rest = 1;
    if (options.initial_share > 0)
        mechanisms.push_back(InitialScoreRequest(options.initial_share));
    if (options.uses_sketch() && !RefinedFeatures(features).empty()) {
        mechanisms.push_back(SketchMechanism(options, features));
        rest -= options.sketch_share;
    }
    if (options.structure == StructurePart::kExponential) {
        for (MechanismRequest& level : SplitsMechanisms(
                 {options.depth, options.trees, 1, options.selection_share, AllCells(options, features)}))
            mechanisms.push_back(std::move(level));
        rest -= options.selection_share;
    }
    mechanisms.push_back(options.leaves_from_structure() ? HistogramsMechanism(options, features)
                                                         : options.LeavesMechanism(kLeavesMechanism));
    mechanisms.back().rest = rest;
    return mechanisms;
}

}  // namespace dpboost
