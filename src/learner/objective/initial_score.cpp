#include "learner/objective/initial_score.h"

#include <algorithm>
#include <cmath>

#include "learner/objective/objective.h"
#include "learner/rows/leaf_sums.h"
#include "mechanism/noisy_sum.h"

namespace dpboost {

const char kInitialScoreMechanism[] = "initial score";

namespace {

// Which part of the event pays for the count; the sum gets the rest. The error of the mean is least at |mean|
// / clip to 1, and means are mostly below half the clip bound.
constexpr double kCountWeight = 0.25;
// Log odds start within +-9.2.
constexpr double kMinProbability = 1e-4;

LeafWeights Weights() {
    return LeafWeights(kCountWeight);
}

// A label in steps of its clip bound, centred.
int32_t LabelSteps(float label, Task task, double label_clip) {
    const double centred = task == Task::kBinary ? 2.0 * label - 1.0 : label / label_clip;
    return static_cast<int32_t>(std::nearbyint(std::clamp(centred, -1.0, 1.0) * kClipSteps));
}

// The one "leaf" that holds all rows: Hessian = count, gradient = sum of labels.
LeafSums SumLabels(const Dataset& dataset, double label_clip, Interrupt& interrupt) {
    LeafSums sums(1);
    const Task task = dataset.target().task();
    if (!dataset.has_units()) {
        for (size_t block = 0; block < dataset.blocks(); block++) {
            const float* labels = dataset.Labels(block);
            int64_t raw_sum = 0;
            for (size_t i = 0; i < dataset.block_rows(block); i++)
                raw_sum += LabelSteps(labels[i], task, label_clip);
            sums.AddOne(0, raw_sum, static_cast<int64_t>(dataset.block_rows(block)) * kClipSteps);
            interrupt.Poll();
        }
        return sums;
    }
    UnitSum unit_sum(1, Weights());
    for (size_t unit = 0; unit < dataset.units(); unit++) {
        for (uint32_t k = dataset.unit_begin()[unit]; k < dataset.unit_begin()[unit + 1]; k++) {
            unit_sum.AddRow(0, LabelSteps(dataset.Label(dataset.unit_rows()[k]), task, label_clip),
                            kClipSteps);
            if (k % kBlockRows == 0)
                interrupt.Poll();
        }
        unit_sum.Clip(0);
        unit_sum.AddTo(&sums);
        unit_sum.Clear();
    }
    return sums;
}

}  // namespace

MechanismRequest InitialScoreRequest(const InitialScoreOptions& options) {
    MechanismRequest request;
    request.name = kInitialScoreMechanism;
    request.kind = EventKind::kGaussian;
    request.share = options.share;
    request.dimensions = {{static_cast<double>(kClipSteps), Weights().hessian_share(), 1},
                          {static_cast<double>(kClipSteps), Weights().gradient_share(), 1}};
    return request;
}

int32_t DrawInitialScore(const Dataset& dataset, const InitialScoreOptions& options, Plan& plan,
                         MechanismId id, NoiseSource& noise, Interrupt& interrupt) {
    int64_t noisy_sum = 0;
    int64_t noisy_count = 0;
    SumLabels(dataset, options.label_clip, interrupt).Split(&noisy_sum, &noisy_count);
    AddGaussianNoise(plan.Take(id), noise, SumBlock{&noisy_count, 1}, SumBlock{&noisy_sum, 1});

    // From here on only noisy figures. A count below its own noise is taken as that noise, and the quotient
    // is shrunk by what the noise of the sum makes of it.
    const double sigma_count = plan.ScaleInSteps(id, 0);
    const double sigma_sum = plan.ScaleInSteps(id, 1);
    const double count = std::max(static_cast<double>(noisy_count), sigma_count);
    const double mean = std::clamp(
        static_cast<double>(noisy_sum) * count / (count * count + sigma_sum * sigma_sum), -1.0, 1.0);
    if (dataset.target().task() == Task::kRegression)
        return ToFixed(mean * options.label_clip);
    const double p = std::clamp(0.5 + 0.5 * mean, kMinProbability, 1 - kMinProbability);
    return ToFixed(std::log(p / (1 - p)));
}

}  // namespace dpboost
