#include "learner/boosted/boosting.h"

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

}  // namespace dpboost
