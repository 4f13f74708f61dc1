#include "learner/boosted/framework_options.h"

#include <algorithm>

#include "base/error.h"
#include "learner/tree/tree_options.h"

namespace dpboost {
namespace {

// Averaging reads labels, not scores: there is nothing to start from, to update or to take steps in.
void CheckAveraging(const FrameworkOptions& o) {
    if (o.batch_size() < o.trees)
        RefuseOption("batch", "0 for averaging leaves, which are not boosted");
    if (o.initial_share != 0)
        RefuseOption("initial_share", "0 for averaging leaves");
    if (o.learning_rate != 1)
        RefuseOption("learning_rate", "1 for averaging leaves");
    if (o.gradient_clip != (o.task == Task::kBinary ? 0.5 : 1))
        RefuseOption("gradient_clip", o.task == Task::kBinary
                                          ? "0.5 for averaging leaves, the range of a centred label"
                                          : "1 for averaging leaves, the range of a label");
}

void CheckProofs(const FrameworkOptions& o) {
    if (o.structure == StructurePart::kExponential && o.subsample < 1)
        throw Error(
            ErrorCode::kUnsupported, "the exponential mechanism cannot be combined with Poisson subsampling",
            "Amplification by subsampling is proven for Gaussian noise: it needs the Renyi divergence of "
            "the mechanism exactly, and of the exponential mechanism only a bound is known.",
            "Set \"subsample\" to 1, or choose another structure.");
    if (o.uses_sketch() && o.structure == StructurePart::kExponential &&
        o.sketch_share + o.selection_share >= 1)
        throw Error(ErrorCode::kInvalidParameter,
                    "\"sketch_share\" and \"selection_share\" leave nothing for the leaves",
                    "Their sum must be below 1.");
}

}  // namespace

std::size_t FrameworkOptions::tree_features(std::size_t features_of_table) const {
    return features == FeaturePart::kAll ? features_of_table
                                         : std::min<std::size_t>(features_per_tree, features_of_table);
}

uint32_t FrameworkOptions::histograms_per_tree() const {
    const bool root_only = structure == StructurePart::kNoisyHistogram && one_feature_trees();
    return root_only ? 1 : static_cast<uint32_t>(depth);
}

void FrameworkOptions::FitToParts() {
    if (averages()) {
        gradient_clip = task == Task::kBinary ? 0.5 : 1;
        learning_rate = 1;
        batch = 0;
        initial_share = 0;
    } else if (task == Task::kRegression) {
        gradient_clip = 0.3;
        initial_share = 0.03;  // the mean label, which steps would take many trees to reach
    }
    leaf_clip = task == Task::kRegression ? 0.3 : 2;
    hessian_clip = hessian_is_count() ? 1 : 0.25;
    hessian_share = hessian_is_count() ? 0.2 : 1.0 / 17;  // 1/17: equal noise for both
}

void FrameworkOptions::Check() const {
    if (learning_rate > batch_size())
        RefuseOption("learning_rate", "at most the number of trees per update");
    CheckHessianClip(hessian_is_count());
    if (averages())
        CheckAveraging(*this);
    CheckProofs(*this);
    CheckLargestScore(learning_rate * leaf_clip * trees / batch_size(),
                      "The number of updates times \"learning_rate\" times \"leaf_clip\"");
}

}  // namespace dpboost
