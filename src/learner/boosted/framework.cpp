#include "learner/boosted/framework.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker_pool.h"
#include "learner/rows/boost_state.h"
#include "learner/tree/leaf_update.h"
#include "learner/tree/live_splits.h"
#include "learner/tree/split_candidates.h"
#include "learner/tree/split_search.h"
#include "mechanism/noisy_sum.h"

namespace dpboost {
namespace {

// One training: the parts, and the order in which they act.
class Boosting {
  public:
    Boosting(const Dataset& dataset, const FrameworkOptions& options, int32_t base,
             const DrawContext& context, const TrainingSettings& settings)
        : dataset_(dataset),
          options_(options),
          context_(context),
          pool_(settings.threads),
          state_(dataset, options, base, settings.simd, pool_),
          candidates_(dataset.features(), options.candidates, options.candidate_count),
          search_(dataset, options, pool_),
          update_(options),
          refined_(RefinedFeatures(dataset.features())) {}

    // Tree number `index`, with its leaf values.
    Tree Next(uint32_t index) {
        if (index % options_.batch_size() == 0) {
            state_.FinishBatch();
            state_.Evaluate(context_.interrupt);
        }
        if (options_.uses_sketch() && index < options_.sketch_rounds() && !refined_.empty())
            RefineBySketch();
        const std::vector<uint16_t> chosen = ChooseFeatures(
            options_.features, dataset_.columns(), options_.features_per_tree, index, context_.random);
        std::vector<NoisySide> noisy_leaves;
        Tree tree = Grow(chosen, &noisy_leaves);
        if (options_.candidates == CandidatePart::kIterativeHessian && !options_.uses_sketch() &&
            index < options_.sketch_rounds())
            RefineByHistogram(chosen);
        const bool last = index + 1 == options_.trees;
        if (!options_.leaves_from_structure() || (!last && options_.leaf != LeafPart::kAveraging))
            state_.AssignLeaves(tree, context_.interrupt);
        if (!options_.leaves_from_structure())
            noisy_leaves = ReleaseLeaves();
        tree.leaves = update_.Values(noisy_leaves);
        if (!last && options_.leaf != LeafPart::kAveraging)
            state_.AddLeaves(tree.leaves, context_.interrupt);
        return tree;
    }

  private:
    Tree Grow(const std::vector<uint16_t>& chosen, std::vector<NoisySide>* noisy_leaves) {
        switch (options_.structure) {
            case StructurePart::kTotallyRandom:
                return DrawRandomTree(candidates_, chosen, options_.depth, context_.random);
            case StructurePart::kExponential:
                return search_.GrowByExponential(candidates_, chosen, state_.gradients(), context_);
            default:
                return search_.GrowByHistogram(candidates_, chosen, state_.gradients(), state_.hessians(),
                                               context_, noisy_leaves);
        }
    }

    // The leaves' own release: one leaf-balanced Gaussian over both sums of every leaf ([SBDT] Thm 16).
    std::vector<NoisySide> ReleaseLeaves() {
        const size_t leaves = size_t{1} << options_.depth;
        const MechanismId id = context_.plan.Find(kLeavesMechanism);
        const SamplingRate rate = SamplingRate::FromProbability(context_.plan.SamplingRate(id));
        std::vector<int64_t> noisy_gradients(leaves), noisy_hessians(leaves);
        state_.SumLeaves(rate, context_.random, context_.interrupt)
            .Split(noisy_gradients.data(), noisy_hessians.data());
        AddGaussianNoise(context_.plan.Take(id), context_.noise, SumBlock{noisy_hessians.data(), leaves},
                         SumBlock{noisy_gradients.data(), leaves});
        const double hessian_unit = options_.hessian_clip / kClipSteps;
        const double gradient_unit = options_.gradient_clip / kClipSteps;
        const double hessian_sigma = context_.plan.ScaleInSteps(id, 0) * hessian_unit;
        const double gradient_sigma = context_.plan.ScaleInSteps(id, 1) * gradient_unit;
        std::vector<NoisySide> sides;
        for (size_t leaf = 0; leaf < leaves; leaf++)
            sides.push_back({static_cast<double>(noisy_gradients[leaf]) * gradient_unit,
                             static_cast<double>(noisy_hessians[leaf]) * hessian_unit,
                             gradient_sigma * gradient_sigma, hessian_sigma * hessian_sigma});
        return sides;
    }

    void RefineBySketch() {
        const std::vector<double> noisy =
            search_.SketchHessians(candidates_, refined_, state_.gradients(), state_.hessians(), context_);
        const MechanismId id = context_.plan.Find(kCandidatesMechanism);
        size_t first = 0;
        for (const uint16_t feature : refined_) {
            const size_t cells = candidates_.Cells(feature) - 1;
            RefineFeature(feature, noisy, first, context_.plan.ScaleInSteps(id, 0));
            first += cells;
        }
    }

    // Post-processing of the tree's first histogram ([FEDGBDT] Table 1: kappa_c = 0).
    void RefineByHistogram(const std::vector<uint16_t>& chosen) {
        const MechanismId id = context_.plan.Find(kHistogramsMechanism);
        size_t first = 0;
        for (const uint16_t feature : chosen) {
            const size_t cells = candidates_.Cells(feature);
            if (dataset_.features()[feature].ordered() && dataset_.features()[feature].bins() > 2)
                RefineFeature(feature, search_.root_hessians(), first, context_.plan.ScaleInSteps(id, 0));
            first += cells;
        }
    }

    void RefineFeature(uint16_t feature, const std::vector<double>& noisy, size_t first, double sigma) {
        const auto begin = noisy.begin() + static_cast<std::ptrdiff_t>(first);
        const auto cells = static_cast<std::ptrdiff_t>(candidates_.Cells(feature) - 1);
        candidates_.Refine(feature, std::vector<double>(begin, begin + cells), sigma);
    }

    const Dataset& dataset_;
    const FrameworkOptions& options_;
    const DrawContext context_;
    WorkerPool pool_;
    BoostState state_;
    SplitCandidates candidates_;
    SplitSearch search_;
    LeafUpdate update_;
    const std::vector<uint16_t> refined_;
};

// What rows start with: for averaging the label that centring takes off.
int32_t BaseScore(const Dataset& dataset, const FrameworkOptions& options, const DrawContext& context) {
    if (options.leaf == LeafPart::kAveraging)
        return options.task == Task::kBinary ? ToFixed(0.5) : 0;
    if (options.initial_share == 0)
        return 0;
    return DrawInitialScore(dataset, options.initial_score(), context.plan,
                            context.plan.Find(kInitialScoreMechanism), context.noise, context.interrupt);
}

}  // namespace

size_t FrameworkBytesPerRow(const FrameworkOptions& options) {
    return BoostState::BytesPerRow(options);
}

Model TrainFramework(const Dataset& dataset, const FrameworkOptions& options, Plan& plan, Random& random,
                     NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                     const TrainingSettings& settings) {
    options.Check();
    CheckInternal(options.task == dataset.target().task(),
                  "the options are for another task than the dataset");
    dataset.RequireMemory(dataset.rows() * FrameworkBytesPerRow(options) +
                          SplitSearch::Bytes(options, dataset.features()));
    const DrawContext context{plan, random, noise, interrupt};
    const int32_t base = BaseScore(dataset, options, context);
    const bool logistic = options.task == Task::kBinary && options.leaf != LeafPart::kAveraging;
    Model model(dataset.features(), dataset.target(), logistic ? Link::kLogistic : Link::kIdentity);
    if (options.leaf != LeafPart::kAveraging)
        model.AddToBase(base);
    Boosting boosting(dataset, options, base, context, settings);
    for (uint32_t index = 0; index < options.trees; index++) {
        model.AddTree(boosting.Next(index));
        progress.Report(index + 1, options.trees);
        interrupt.Poll();
    }
    return model;
}

}  // namespace dpboost
