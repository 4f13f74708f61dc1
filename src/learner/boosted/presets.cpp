#include "learner/boosted/presets.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "learner/boosted/framework.h"
#include "learner/ramp.h"
#include "learner/tree/tree_options.h"

namespace dpboost {
namespace {

constexpr const char* kStructureWords[] = {"totally_random", "partially_random", "noisy_histogram",
                                           "exponential"};
constexpr const char* kLeafWords[] = {"averaging", "gradient", "newton"};
constexpr const char* kCandidateWords[] = {"uniform", "log", "iterative_hessian", "whole_range"};
constexpr const char* kFeatureWords[] = {"all", "cyclic", "subset"};

using O = FrameworkOptions;
constexpr OptionRow kRows[] = {
    Word<&O::structure>("structure", kStructureWords, "how a tree finds its splits"),
    Word<&O::leaf>("leaf", kLeafWords, "what a leaf holds"),
    Word<&O::candidates>("candidates", kCandidateWords, "where a numeric column may be cut"),
    Word<&O::features>("features", kFeatureWords, "features of a tree: all, some in turn, or some at random"),
    kTreesRow<O>,
    kDepthRow<O>,
    NumberAbove<&O::learning_rate, O>("learning_rate", 0, 100000, "step size; at most the trees of a batch"),
    kSubsampleRow<O>,
    kGradientClipRow<O>,
    kHessianClipRow<O>,
    kHessianShareRow<O>,
    kInitialShareRow<O>,
    kL2Row<O>,
    kLeafClipRow<O>,
    kCandidateCountRow<O>,
    Whole<&O::hessian_rounds>("hessian_rounds", 1, 1000,
                              "first trees after which \"iterative_hessian\" moves the cuts"),
    Whole<&O::features_per_tree>("features_per_tree", 1, kMaxFeatures,
                                 "features of a tree that may not use all"),
    Whole<&O::batch>("batch", 0, 100000, "trees per update of the scores; 0: one update, at the end"),
    Number<&O::sketch_share>("sketch_share", 0.001, 0.9, "share of the budget for moving the cuts"),
    Number<&O::selection_share>("selection_share", 0.001, 0.99, "share of the budget for choosing splits"),
};

constexpr char kFedGbdt[] =
    "Maddock, Cormode, Wang, Maple, Jha: Federated Boosted Decision Trees with Differential Privacy, 2022";
constexpr char kDpXgbPaper[] =
    "anonymous: Revisiting Differentially Private XGBoost: Are Random Decision Trees Really Better than "
    "Greedy Ones?, "
    "2023";

template <bool iterative_hessian, bool one_feature>
FrameworkOptions RandomTrees() {
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
    FrameworkOptions o = RandomTrees<true, true>();
    o.batch = 25;
    o.learning_rate = 2;  // of the mean of a batch: a step of 2 / m per feature and update
    return o;
}

FrameworkOptions RandomForest() {
    FrameworkOptions o = RandomTrees<false, false>();
    o.leaf = LeafPart::kAveraging;
    o.trees = 300;
    return o;
}

template <StructurePart structure>
FrameworkOptions Histograms() {
    FrameworkOptions o;
    o.structure = structure;
    o.trees = 25;
    o.learning_rate = structure == StructurePart::kNoisyHistogram ? 0.15 : 0.3;
    o.gradient_clip = 0.6;
    return o;
}

template <bool cyclic>
FrameworkOptions GreedyTrees() {
    FrameworkOptions o;
    o.structure = StructurePart::kExponential;
    o.candidates = cyclic ? CandidatePart::kUniform : CandidatePart::kIterativeHessian;
    o.features = cyclic ? FeaturePart::kCyclic : FeaturePart::kAll;
    o.trees = 50;
    o.gradient_clip = 0.6;
    return o;
}

// An option of a part that was not chosen would have no effect, and that should not go unnoticed.
void RefuseIdle(const std::vector<GivenOption>& given, const FrameworkOptions& o) {
    const struct {
        const char* key;
        bool used;
        const char* with;
    } rules[] = {
        {"features_per_tree", o.features != FeaturePart::kAll, "\"features\" is \"cyclic\" or \"subset\""},
        {"hessian_rounds", o.candidates == CandidatePart::kIterativeHessian,
         "\"candidates\" is \"iterative_hessian\""},
        {"sketch_share", o.uses_sketch(),
         "\"candidates\" is \"iterative_hessian\", and \"structure\" is not \"noisy_histogram\""},
        {"selection_share", o.structure == StructurePart::kExponential, "\"structure\" is \"exponential\""},
        {"candidate_count", o.candidates != CandidatePart::kWholeRange,
         "\"candidates\" is not \"whole_range\""},
    };
    for (const GivenOption& option : given)
        for (const auto& rule : rules)
            if (option.key == rule.key && !rule.used)
                throw Error(ErrorCode::kInvalidParameter,
                            "option " + Quoted(option.key) + " has no effect here",
                            std::string("It is used where ") + rule.with + ".");
}

// Parts first, then what follows from them, then the figures that were given.
template <FrameworkOptions (*preset)()>
std::unique_ptr<Learner> Make(const MethodInfo& method, const LearnerContext& context,
                              const std::vector<GivenOption>& given) {
    FrameworkOptions options = preset();
    options.task = context.target.task();
    options.trees = static_cast<uint32_t>(std::lround(options.trees * Ramp(context.epsilon, 0.1, 1, 0.5, 1)));
    method.options.ApplyWords(given, &options);
    RefuseIdle(given, options);
    options.FitToParts();
    method.options.ApplyNumbers(given, &options);
    return std::make_unique<FrameworkLearner>(options, context.features);
}

constexpr MethodInfo Method(const char* name, const char* parts, const char* paper, const char* when_to_use,
                            decltype(MethodInfo::make) make) {
    return {name, parts, paper, when_to_use, false, kRows, make};
}

}  // namespace

// [FEDGBDT] 5.3.3, but where something else is said.
constexpr MethodInfo kDpTr =
    Method("dp_tr", "random splits, Newton leaves, uniform candidates, all features", kFedGbdt,
           "a plain baseline of random trees", Make<RandomTrees<false, false>>);
constexpr MethodInfo kDpTrIh = Method(
    "dp_tr_ih", "random splits, Newton leaves, iterative Hessian, all features", kFedGbdt,
    "skewed columns whose ranges are known only roughly, with interactions", Make<RandomTrees<true, false>>);
constexpr MethodInfo kDpTrIhEbm =
    Method("dp_tr_ih_ebm", "random splits, Newton leaves, iterative Hessian, one feature per tree", kFedGbdt,
           "skewed columns; the model is additive and can be read", Make<RandomTrees<true, true>>);
// [FEDGBDT] 5.2
constexpr MethodInfo kDpTrBatch =
    Method("dp_tr_batch", "random splits, Newton leaves, iterative Hessian, one feature per tree, batches",
           kFedGbdt, "small epsilon, or few rounds over the data", Make<BatchedTrees>);
// DP-EBM Newton
constexpr MethodInfo kDpEbm =
    Method("dp_ebm", "random splits, Newton leaves, uniform candidates, one feature per tree", kFedGbdt,
           "additive models that can be read", Make<RandomTrees<false, true>>);
// [FEDGBDT] 5.3.2, DP-RF
constexpr MethodInfo kDpRf =
    Method("dp_rf", "random splits, averaging leaves, uniform candidates, all features, one batch", kFedGbdt,
           "comparison with random forests", Make<RandomForest>);
// [FEDGBDT] 4.3.2
constexpr MethodInfo kDpPr =
    Method("dp_pr", "partially random splits, Newton leaves, uniform candidates, all features", kFedGbdt,
           "comparison; between dp_tr and feverless", Make<Histograms<StructurePart::kPartiallyRandom>>);
// [FEDGBDT] 5.3.2, FEVERLESS
constexpr MethodInfo kFeverless =
    Method("feverless", "noisy histograms, Newton leaves, uniform candidates, all features", kFedGbdt,
           "comparison with histogram methods", Make<Histograms<StructurePart::kNoisyHistogram>>);
// [DPXGB], XGB_ada
constexpr MethodInfo kDpXgb =
    Method("dp_xgb", "exponential mechanism, Newton leaves, iterative Hessian, all features", kDpXgbPaper,
           "few trees that shall show interactions", Make<GreedyTrees<false>>);
// [DPXGB], XGB_cyc
constexpr MethodInfo kDpXgbCyclic =
    Method("dp_xgb_cyclic", "exponential mechanism, Newton leaves, uniform candidates, one feature per tree",
           kDpXgbPaper, "few, additive trees", Make<GreedyTrees<true>>);

}  // namespace dpboost
