#include "learner/objective/initial_score.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/portable_math.h"
#include "learner/objective/objective.h"
#include "learner/rows/label_sums.h"
#include "learner/run.h"

namespace dpboost {

const char kInitialScoreMechanism[] = "initial score";

namespace {

// Log odds start within +-9.2.
constexpr double kMinProbability = 1e-4;

}  // namespace

MechanismRequest InitialScoreRequest(double share, std::size_t classes) {
    MechanismRequest request;
    request.name = kInitialScoreMechanism;
    request.kind = EventKind::kGaussian;
    request.share = share;
    if (classes > 1)
        request.dimensions = {{kClipSteps, 1, classes}};
    else
        request.dimensions = LabelWeights().Dimensions(kClipSteps, 1);
    return request;
}

int32_t DrawInitialScore(Run& run, ObjectiveKind objective, double label_clip) {
    const bool counts = objective == ObjectiveKind::kPoisson;
    RawGradientSums raw = LabelSums(run.rows, counts, label_clip, run.interrupt);
    const NoisyPair noisy = run.releaser.Release(run.releaser.Find(kInitialScoreMechanism),
                                                 std::move(raw.hessians), std::move(raw.gradients));
    // A count below its own noise is taken as that noise, and the quotient is shrunk by what the noise of the sum makes
    // of it.
    const double sigma = noisy.second.sigma;
    const double count = std::max(static_cast<double>(noisy.first.values[0]), noisy.first.sigma);
    const double mean = std::clamp(
        static_cast<double>(noisy.second.values[0]) * count / (count * count + sigma * sigma), -1.0, 1.0);
    if (counts)
        return ToFixed(
            MakeObjective(objective, run.model.target(), 1, 1)->StartScore({mean, 0, sigma / count}));
    if (run.model.target().task() == Task::kRegression)
        return ToFixed(mean * label_clip);
    run.base_rate =
        BaseRate::Of(static_cast<double>(noisy.first.values[0]) / kClipSteps, noisy.first.sigma / kClipSteps,
                     static_cast<double>(noisy.second.values[0]) / kClipSteps, sigma / kClipSteps);
    const double p = std::clamp(0.5 + 0.5 * mean, kMinProbability, 1 - kMinProbability);
    return ToFixed(portable::Log(p / (1 - p)));
}

std::vector<int32_t> DrawInitialClasses(Run& run) {
    const NoisySums noisy =
        run.releaser.Release(run.releaser.Find(kInitialScoreMechanism), ClassCounts(run.rows, run.interrupt));
    run.class_shares = ClassShares::Of(noisy.values, noisy.sigma, kClipSteps);
    // A class below its own noise is taken for that noise.
    const std::size_t classes = noisy.values.size();
    std::vector<double> counts;
    double total = 0, mean = 0;
    for (const int64_t value : noisy.values) {
        counts.push_back(std::max(static_cast<double>(value), noisy.sigma));
        total += counts.back();
    }
    for (double& count : counts) {
        count = portable::Log(std::max(count / total, kMinProbability));
        mean += count / static_cast<double>(classes);
    }
    std::vector<int32_t> scores;
    for (const double log : counts)
        scores.push_back(ToFixed(log - mean));
    return scores;
}

}  // namespace dpboost
