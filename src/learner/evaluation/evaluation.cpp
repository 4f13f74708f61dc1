#include "learner/evaluation/evaluation.h"

#include "base/error.h"
#include "learner/evaluation/evaluation_rows.h"
#include "learner/evaluation/figures/confusion.h"
#include "learner/evaluation/figures/value_figures.h"
#include "learner/evaluation/held_out.h"

namespace dpboost {
namespace {

constexpr char kMechanism[] = "evaluation";
constexpr double kExpectedRows = 10000;

// `release(sum)` gives sum(dataset) away and has it back with noise.
template <typename Release>
Evaluation EvaluateClasses(const Model& model, double expected_rows, double share, double multiplier,
                           Interrupt& interrupt, const Release& release) {
    const ReferenceDraws reference(model, interrupt);
    if (expected_rows == 0)
        expected_rows = reference.rows() > 0 ? reference.rows() * share : kExpectedRows;
    const ScoreBins bins(model, reference, ScoreBins::CountFor(expected_rows / multiplier, reference.mean()));
    const NoisySums noisy =
        release([&](const Dataset& rows) { return ClassSums(model, bins, rows, interrupt); });
    ClassCounts counts;
    counts.sigma = noisy.sigma / EvaluationStep();
    for (size_t i = 0; i < noisy.values.size(); i++)
        (i < bins.size() ? counts.positives : counts.negatives)
            .push_back(static_cast<double>(noisy.values[i]) / EvaluationStep());
    return {ClassFigures(bins, counts), DrawnBins(bins.bins(), counts), {}};
}

// In rows of the training, of which those that were summed up are `share`.
ResidualHistogram Residuals(const NoisySums& noisy, double share) {
    ResidualHistogram histogram;
    histogram.lower = -1;
    histogram.upper = 1;
    const double unit = 1 / (EvaluationStep() * share);
    for (size_t k = kValueSums; k < noisy.values.size(); k++)
        histogram.counts.push_back(static_cast<float>(static_cast<double>(noisy.values[k]) * unit));
    histogram.count_sd = static_cast<float>(noisy.sigma * unit);
    return histogram;
}

template <typename Release>
Evaluation EvaluateValues(const Model& model, double share, bool residuals, Interrupt& interrupt,
                          const Release& release) {
    const NoisySums noisy = release([&](const Dataset& rows) {
        return residuals ? ValueAndResidualSums(model, rows, interrupt) : ValueSums(model, rows, interrupt);
    });
    ValueTotals totals;
    totals.sigma = noisy.sigma / EvaluationStep();
    for (size_t i = 0; i < kValueSums; i++)
        totals.sums[i] = static_cast<double>(noisy.values[i]) / EvaluationStep();
    Evaluation evaluation{ValueFigures(model.target(), totals), {}, {}};
    if (residuals)
        evaluation.residuals = Residuals(noisy, share);
    return evaluation;
}

template <typename Release>
Evaluation EvaluateConfusion(const Model& model, Interrupt& interrupt, const Release& release) {
    const NoisySums noisy =
        release([&](const Dataset& rows) { return ConfusionRows(model, rows, interrupt); });
    ClassTotals totals;
    totals.sigma = noisy.sigma / EvaluationStep();
    for (const int64_t value : noisy.values)
        totals.sums.push_back(static_cast<double>(value) / EvaluationStep());
    return {ConfusionFigures(totals), {}, ConfusionCounts(totals)};
}

template <typename Release>
Evaluation EvaluateBy(const Model& model, double expected_rows, double share, bool residuals,
                      const Releaser& releaser, Interrupt& interrupt, const Release& release) {
    if (model.target().task() == Task::kClasses)
        return EvaluateConfusion(model, interrupt, release);
    if (model.target().task() != Task::kBinary)
        return EvaluateValues(model, share, residuals, interrupt, release);
    const double multiplier = releaser.plan().NoiseMultiplier(releaser.Find(kMechanism));
    return EvaluateClasses(model, expected_rows, share, multiplier, interrupt, release);
}

}  // namespace

MechanismRequest EvaluationRequest(const TargetSpec& target, bool residuals) {
    MechanismRequest request;
    request.name = kMechanism;
    request.kind = EventKind::kGaussian;
    if (target.task() == Task::kClasses)
        request.dimensions = {{ConfusionSensitivity(), 1.0, ConfusionSums(target.classes().size())}};
    else if (target.task() == Task::kBinary)
        request.dimensions = {{ClassSensitivity(), 1.0, 2 * ScoreBins::kMaxCells}};
    else if (residuals)
        request.dimensions = {{ValueAndResidualSensitivity(), 1.0, kValueSums + kResidualBins}};
    else
        request.dimensions = {{ValueSensitivity(), 1.0, kValueSums}};
    return request;
}

Evaluation Evaluate(const Model& model, double expected_rows, const Dataset& rows, Releaser& releaser,
                    Interrupt& interrupt) {
    return EvaluateBy(model, expected_rows, 1, false, releaser, interrupt, [&](const auto& sum) {
        return releaser.Release(releaser.Find(kMechanism), sum(rows));
    });
}

Evaluation Evaluate(const Model& model, double expected_rows, const HeldOut& rows, double share,
                    Releaser& releaser, Interrupt& interrupt, bool residuals) {
    return EvaluateBy(model, expected_rows, share, residuals, releaser, interrupt, [&](const auto& sum) {
        return releaser.Release(releaser.Find(kMechanism), rows.Sums(sum));
    });
}

}  // namespace dpboost
