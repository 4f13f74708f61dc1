#include "learner/boosted/boosting.h"

#include <algorithm>
#include <utility>

#include "learner/objective/initial_score.h"
#include "learner/option_table.h"

namespace dpboost {

void BoostingOptions::CheckHessianClip(bool hessian_is_count) const {
    if (hessian_is_count && hessian_clip != 1)
        RefuseOption("hessian_clip", "1 where the Hessian is a count",
                     "It is a count for regression and for leaves that are means.");
    if (!hessian_is_count && hessian_clip > 0.25)
        RefuseOption("hessian_clip", "at most 0.25, the largest Hessian of the logistic loss");
}

MechanismRequest BoostingOptions::LeavesMechanism(const char* name) const {
    MechanismRequest request;
    request.name = name;
    request.kind = EventKind::kGaussian;
    request.count = trees;
    request.sampling_rate = subsample;
    request.rest = 1;
    request.dimensions = weights().Dimensions(kClipSteps, leaves(), outputs);
    return request;
}

BoostedRowsOptions BoostingOptions::RowsOptions(int32_t base) const {
    BoostedRowsOptions rows;
    rows.objective = objective;
    rows.gradient_clip = gradient_clip;
    rows.hessian_clip = hessian_clip;
    rows.hessian_share = hessian_share;
    rows.depth = depth;
    rows.base = base;
    return rows;
}

int32_t DrawStart(Run& run, const BoostingOptions& options) {
    return options.initial_share > 0 ? DrawInitialScore(run, options.objective, options.label_clip) : 0;
}

NoisySides ReleaseLeaves(Run& run, MechanismId id, BoostedRows& rows, int slot, GradientUnits units) {
    const SamplingRate rate = SamplingRate::FromProbability(run.releaser.plan().SamplingRate(id));
    RawGradientSums raw = rows.LeafSums(slot, rate, run.coins, run.interrupt);
    return {run.releaser.Release(id, std::move(raw.hessians), std::move(raw.gradients)), units};
}

std::vector<NoisySides> ReleaseTrees(Run& run, MechanismId id, BoostedRows& rows,
                                     const std::vector<Tree>& trees, GradientUnits units) {
    const SamplingRate rate = SamplingRate::FromProbability(run.releaser.plan().SamplingRate(id));
    const auto group = static_cast<std::size_t>(rows.trees_per_group());
    std::vector<RawPair> raw;
    for (std::size_t t = 0; t < trees.size(); t++) {
        const std::size_t slot = t % group;
        if (slot == 0)
            rows.Begin(trees.data() + t, static_cast<int>(std::min(group, trees.size() - t)), run.interrupt);
        RawGradientSums sums = rows.LeafSums(static_cast<int>(slot), rate, run.coins, run.interrupt);
        raw.push_back({std::move(sums.hessians), std::move(sums.gradients)});
    }
    std::vector<NoisySides> noisy;
    for (NoisyPair& pair : run.releaser.ReleaseAll(id, std::move(raw)))
        noisy.emplace_back(std::move(pair), units);
    return noisy;
}

// Leaf codes are kept of one group; those of the groups before are computed once more.
void AddTrees(Run& run, BoostedRows& rows, const std::vector<Tree>& trees) {
    const auto group = static_cast<std::size_t>(rows.trees_per_group());
    const std::size_t last = trees.empty() ? 0 : (trees.size() - 1) / group;
    for (std::size_t back = 0; back <= last; back++) {
        const std::size_t first = (last - back) * group, end = std::min(first + group, trees.size());
        if (back > 0)
            rows.Begin(trees.data() + first, static_cast<int>(end - first), run.interrupt);
        for (std::size_t t = first; t < end; t++)
            rows.SetLeaves(static_cast<int>(t - first), trees[t].leaves);
    }
}

}  // namespace dpboost
