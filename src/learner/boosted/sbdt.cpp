#include "learner/boosted/sbdt.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker_pool.h"
#include "learner/objective/objective.h"
#include "learner/rows/ensemble_scores.h"
#include "learner/rows/leaf_sums.h"
#include "learner/rows/sampled_sums.h"
#include "learner/tree/leaf_values.h"
#include "learner/tree/random_structure.h"
#include "mechanism/noisy_sum.h"

namespace dpboost {
namespace {

std::optional<RenyiFilter> MakeFilter(const SbdtOptions& options, LeafWeights weights) {
    if (options.extra_rounds == 0)
        return std::nullopt;
    const uint32_t clip = kClipSteps;
    return RenyiFilter(options.trees, {clip, weights.hessian_share()}, {clip, weights.gradient_share()});
}

// The boosting loop. Only the sums in `sampled_sums` are raw; they go into noisy_* by way of a charge.
std::vector<Tree> Boost(const Dataset& dataset, const SbdtOptions& options, int32_t base, Plan& plan,
                        MechanismId id, Random& random, NoiseSource& noise, Interrupt& interrupt,
                        Progress& progress, const TrainingSettings& settings) {
    const LeafWeights weights(options.hessian_share);
    const size_t leaves = size_t{1} << options.depth;
    const uint64_t rounds = options.rounds();
    const std::unique_ptr<const Objective> objective = MakeObjective(
        DefaultObjective(options.task), dataset.target(), options.gradient_clip, options.hessian_clip);
    const std::optional<RenyiFilter> filter = MakeFilter(options, weights);
    const RandomStructure structure(dataset.features(), options.depth, options.features);
    WorkerPool pool(settings.threads);
    EnsembleScores scores(dataset, options.depth, base, settings.simd, pool);
    SampledSums sampled_sums(dataset, *objective, weights, leaves,
                             SamplingRate::FromProbability(plan.SamplingRate(id)),
                             filter ? &*filter : nullptr, settings.simd, pool);
    LeafValues leaf_values(options.leaf_values(), leaves, options.gradient_clip / kClipSteps,
                           options.hessian_clip / kClipSteps, plan.ScaleInSteps(id, 0));
    std::vector<Tree> trees;
    trees.reserve(rounds);
    std::vector<int64_t> noisy_gradients(leaves), noisy_hessians(leaves);

    const uint64_t group = static_cast<uint64_t>(scores.trees_per_group());
    for (uint64_t round = 0; round < rounds; round++) {
        const int slot = static_cast<int>(round % group);
        if (slot == 0) {
            const uint64_t count = std::min(group, rounds - round);
            for (uint64_t k = 0; k < count; k++)
                trees.push_back(structure.Draw(round + k, random));
            scores.BeginGroup(&trees[round], static_cast<int>(count), interrupt);
        }
        sampled_sums.Sum(scores, slot, random, interrupt)
            .Split(noisy_gradients.data(), noisy_hessians.data());
        AddGaussianNoise(plan.Take(id), noise, SumBlock{noisy_hessians.data(), leaves},
                         SumBlock{noisy_gradients.data(), leaves});
        leaf_values.Compute(noisy_gradients.data(), noisy_hessians.data(), &trees[round].leaves);
        scores.SetLeaves(slot, trees[round].leaves);
        progress.Report(round + 1, rounds);
        interrupt.Poll();
    }
    return trees;
}

}  // namespace

size_t SbdtBytesPerRow(const SbdtOptions& options) {
    return EnsembleScores::kBytesPerRow + (options.extra_rounds > 0 ? SampledSums::kFilterBytesPerUnit : 0);
}

Model TrainSbdt(const Dataset& dataset, const SbdtOptions& options, Plan& plan, Random& random,
                NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                const TrainingSettings& settings) {
    options.Check();
    CheckInternal(options.task == dataset.target().task(),
                  "the options are for another task than the dataset");
    dataset.RequireMemory(dataset.rows() * SbdtBytesPerRow(options));
    const bool binary = options.task == Task::kBinary;
    int32_t base = 0;
    if (options.initial_share > 0)
        base = DrawInitialScore(dataset, options.initial_score(), plan, plan.Find(kInitialScoreMechanism),
                                noise, interrupt);
    const MechanismId id = plan.Find(kTreesMechanism);
    CheckInternal(plan.Rounds(id) == options.rounds(), "the plan is for another number of trees");
    std::vector<Tree> trees =
        Boost(dataset, options, base, plan, id, random, noise, interrupt, progress, settings);
    Model model(dataset.features(), dataset.target(), binary ? Link::kLogistic : Link::kIdentity);
    model.AddToBase(base);
    for (Tree& tree : trees)
        model.AddTree(std::move(tree));
    return model;
}

}  // namespace dpboost
