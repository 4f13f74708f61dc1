#include "learner/boosted/presets.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "learner/boosted/framework_options.h"

namespace dpboost {

const MethodPreset kFrameworkPresets[] = {
    {"dp_tr", "random splits, Newton leaves, uniform candidates, all features", "[FEDGBDT] 5.3.3",
     "a plain baseline of random trees"},
    {"dp_tr_ih", "random splits, Newton leaves, iterative Hessian, all features", "[FEDGBDT] 5.3.3",
     "skewed columns whose ranges are known only roughly, with interactions"},
    {"dp_tr_ih_ebm", "random splits, Newton leaves, iterative Hessian, one feature per tree",
     "[FEDGBDT] 5.3.3", "skewed columns; the model is additive and can be read"},
    {"dp_tr_batch", "random splits, Newton leaves, iterative Hessian, one feature per tree, batches",
     "[FEDGBDT] 5.2", "small epsilon, or few rounds over the data"},
    {"dp_ebm", "random splits, Newton leaves, uniform candidates, one feature per tree",
     "[FEDGBDT] 5.3.3 (DP-EBM Newton)", "additive models that can be read"},
    {"dp_rf", "random splits, averaging leaves, uniform candidates, all features, one batch",
     "[FEDGBDT] 5.3.2 (DP-RF)", "comparison with random forests"},
    {"dp_pr", "partially random splits, Newton leaves, uniform candidates, all features", "[FEDGBDT] 4.3.2",
     "comparison; between dp_tr and feverless"},
    {"feverless", "noisy histograms, Newton leaves, uniform candidates, all features",
     "[FEDGBDT] 5.3.2 (FEVERLESS)", "comparison with histogram methods"},
    {"dp_xgb", "exponential mechanism, Newton leaves, iterative Hessian, all features", "[DPXGB] (XGB_ada)",
     "few trees that shall show interactions"},
    {"dp_xgb_cyclic", "exponential mechanism, Newton leaves, uniform candidates, one feature per tree",
     "[DPXGB] (XGB_cyc)", "few, additive trees"},
};
const std::size_t kFrameworkPresetCount = sizeof(kFrameworkPresets) / sizeof(kFrameworkPresets[0]);

namespace {

// low at epsilon 0.1 and below, 1 at epsilon 1 and above, linear in log(epsilon) between.
double Ramp(double epsilon, double low) {
    const double position = epsilon > 0 ? 1 + std::log10(epsilon) : 0;
    return low + (1 - low) * std::clamp(position, 0.0, 1.0);
}

FrameworkOptions RandomTrees(bool iterative_hessian, bool one_feature) {
    FrameworkOptions o;
    o.structure = StructurePart::kTotallyRandom;
    o.candidates = iterative_hessian ? CandidatePart::kIterativeHessian : CandidatePart::kUniform;
    o.features = one_feature ? FeaturePart::kCyclic : FeaturePart::kAll;
    o.trees = 200;
    o.learning_rate = 0.15;
    o.gradient_clip = 0.7;
    o.sketch_share = 0.05;
    return o;
}

FrameworkOptions BatchedTrees() {
    FrameworkOptions o = RandomTrees(true, true);
    o.batch = 25;
    o.learning_rate = 2;  // of the mean of a batch: a step of 2 / m per feature and update
    return o;
}

FrameworkOptions RandomForest() {
    FrameworkOptions o = RandomTrees(false, false);
    o.leaf = LeafPart::kAveraging;
    o.trees = 300;
    return o;
}

FrameworkOptions Histograms(StructurePart structure) {
    FrameworkOptions o;
    o.structure = structure;
    o.trees = 25;
    o.learning_rate = structure == StructurePart::kNoisyHistogram ? 0.15 : 0.3;
    o.gradient_clip = 0.6;
    return o;
}

FrameworkOptions GreedyTrees(bool cyclic) {
    FrameworkOptions o;
    o.structure = StructurePart::kExponential;
    o.candidates = cyclic ? CandidatePart::kUniform : CandidatePart::kIterativeHessian;
    o.features = cyclic ? FeaturePart::kCyclic : FeaturePart::kAll;
    o.trees = 50;
    o.gradient_clip = 0.6;
    return o;
}

FrameworkOptions Parts(const std::string& name) {
    if (name == "dp_tr")
        return RandomTrees(false, false);
    if (name == "dp_tr_ih")
        return RandomTrees(true, false);
    if (name == "dp_tr_ih_ebm")
        return RandomTrees(true, true);
    if (name == "dp_tr_batch")
        return BatchedTrees();
    if (name == "dp_ebm")
        return RandomTrees(false, true);
    if (name == "dp_rf")
        return RandomForest();
    if (name == "dp_pr")
        return Histograms(StructurePart::kPartiallyRandom);
    if (name == "feverless")
        return Histograms(StructurePart::kNoisyHistogram);
    if (name == "dp_xgb")
        return GreedyTrees(false);
    if (name == "dp_xgb_cyclic")
        return GreedyTrees(true);
    if (name == "local_dp")
        throw Error(
            ErrorCode::kUnsupported, "the local baseline of the paper has no proof here",
            "Its users send noisy gradients together with the exact bins of their features and the fact "
            "that they exist; dpboost protects features and the number of rows too.");
    throw Error(ErrorCode::kInvalidParameter, "unknown method \"" + name + "\"");
}

}  // namespace

void FrameworkOptions::FitToParts() {
    if (leaf == LeafPart::kAveraging) {
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
    hessian_share = hessian_is_count() ? 0.2 : 1.0 / 17;
}

FrameworkOptions FrameworkOptions::Preset(const std::string& name, Task task, double epsilon) {
    FrameworkOptions options = Parts(name);
    options.task = task;
    options.trees = static_cast<uint32_t>(std::lround(options.trees * Ramp(epsilon, 0.5)));
    options.FitToParts();
    return options;
}

}  // namespace dpboost
