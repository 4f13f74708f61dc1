#include "learner/boosted/framework_options.h"

#include <algorithm>

#include "base/error.h"

namespace dpboost {
namespace {

constexpr uint32_t kMaxTrees = 100000;
// Scores are 32-bit fixed-point numbers of 2^-20, below 2048; the rest is for the initial score and rounding.
constexpr double kMaxScore = 2000;

void CheckOption(bool valid, const char* name, const char* allowed) {
    if (!valid)
        throw Error(ErrorCode::kInvalidParameter, std::string("option \"") + name + "\" is out of range",
                    std::string("Allowed is ") + allowed + ".");
}

void CheckRanges(const FrameworkOptions& o) {
    CheckOption(o.trees >= 1 && o.trees <= kMaxTrees, "trees", "1 to 100000");
    CheckOption(o.depth >= 1 && o.depth <= 10, "depth", "1 to 10");
    CheckOption(o.candidate_count >= 1 && o.candidate_count <= 1024, "candidate_count", "1 to 1024");
    CheckOption(o.hessian_rounds >= 1 && o.hessian_rounds <= 1000, "hessian_rounds", "1 to 1000");
    CheckOption(o.features_per_tree >= 1 && o.features_per_tree <= kMaxFeatures, "features_per_tree",
                "1 to 65535");
    CheckOption(o.batch <= kMaxTrees, "batch", "0 (one update after all trees) to 100000");
    CheckOption(o.subsample > 0 && o.subsample <= 1, "subsample", "above 0 and at most 1");
    CheckOption(o.learning_rate > 0 && o.learning_rate <= o.batch_size(), "learning_rate",
                "above 0 and at most the number of trees per update");
    CheckOption(o.l2 >= 0 && o.l2 <= 1e6, "l2", "0 to 1000000");
    CheckOption(o.leaf_clip >= 1e-3 && o.leaf_clip <= 1000, "leaf_clip", "0.001 to 1000");
    CheckOption(o.gradient_clip >= 1e-3 && o.gradient_clip <= 10, "gradient_clip", "0.001 to 10");
    if (o.hessian_is_count())
        CheckOption(o.hessian_clip == 1, "hessian_clip", "1 where the Hessian is a count");
    else
        CheckOption(o.hessian_clip >= 1e-3 && o.hessian_clip <= 0.25, "hessian_clip",
                    "0.001 to 0.25, the largest Hessian of the logistic loss");
    CheckOption(o.hessian_share >= 0.001 && o.hessian_share <= 0.999, "hessian_share", "0.001 to 0.999");
    CheckOption(o.initial_share >= 0 && o.initial_share <= 0.9, "initial_share", "0 to 0.9");
    CheckOption(o.label_clip >= 1e-3 && o.label_clip <= 1, "label_clip", "0.001 to 1");
    CheckOption(o.sketch_share >= 0.001 && o.sketch_share <= 0.9, "sketch_share", "0.001 to 0.9");
    CheckOption(o.selection_share >= 0.001 && o.selection_share <= 0.99, "selection_share", "0.001 to 0.99");
}

// Averaging reads labels, not scores: there is nothing to start from, to update or to take steps in.
void CheckAveraging(const FrameworkOptions& o) {
    CheckOption(o.batch_size() >= o.trees, "batch", "0 for averaging leaves, which are not boosted");
    CheckOption(o.initial_share == 0, "initial_share", "0 for averaging leaves");
    CheckOption(o.learning_rate == 1, "learning_rate", "1 for averaging leaves");
    const double clip = o.task == Task::kBinary ? 0.5 : 1;
    CheckOption(o.gradient_clip == clip, "gradient_clip",
                o.task == Task::kBinary ? "0.5 for averaging leaves, the range of a centred label"
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

size_t FrameworkOptions::tree_features(size_t features_of_table) const {
    return features == FeaturePart::kAll ? features_of_table
                                         : std::min<size_t>(features_per_tree, features_of_table);
}

void FrameworkOptions::Check() const {
    CheckRanges(*this);
    if (leaf == LeafPart::kAveraging)
        CheckAveraging(*this);
    CheckProofs(*this);
    const double updates = static_cast<double>(trees) / batch_size();
    if (!(learning_rate * leaf_clip * updates <= kMaxScore))
        throw Error(ErrorCode::kInvalidParameter, "scores of the ensemble could become too large",
                    "The number of updates times \"learning_rate\" times \"leaf_clip\" must not exceed 2000.",
                    "Lower \"leaf_clip\" or \"learning_rate\".");
}

}  // namespace dpboost
