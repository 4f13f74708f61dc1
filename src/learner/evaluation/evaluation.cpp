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

// The score bins of two classes; none of others.
std::optional<ScoreBins> BinsOf(const Model& model, double expected_rows, double share, const Plan& plan,
                                Interrupt& interrupt) {
    if (model.target().task() != Task::kBinary)
        return {};
    const ReferenceDraws reference(model, interrupt);
    if (expected_rows == 0)
        expected_rows = reference.rows() > 0 ? reference.rows() * share : kExpectedRows;
    const double multiplier = plan.NoiseMultiplier(plan.Find(kMechanism));
    return ScoreBins(model, reference, ScoreBins::CountFor(expected_rows / multiplier, reference.mean()));
}

RawSums SumsOf(const Model& model, const std::optional<ScoreBins>& bins, bool residuals, const Dataset& rows,
               Interrupt& interrupt) {
    if (model.target().task() == Task::kClasses)
        return ConfusionRows(model, rows, interrupt);
    if (bins)
        return ClassSums(model, *bins, rows, interrupt);
    return residuals ? ValueAndResidualSums(model, rows, interrupt) : ValueSums(model, rows, interrupt);
}

Evaluation OfTwoClasses(const ScoreBins& bins, const NoisySums& noisy) {
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

Evaluation OfValues(const Model& model, double share, bool residuals, const NoisySums& noisy) {
    ValueTotals totals;
    totals.sigma = noisy.sigma / EvaluationStep();
    for (size_t i = 0; i < kValueSums; i++)
        totals.sums[i] = static_cast<double>(noisy.values[i]) / EvaluationStep();
    Evaluation evaluation{ValueFigures(model.target(), totals), {}, {}};
    if (residuals)
        evaluation.residuals = Residuals(noisy, share);
    return evaluation;
}

Evaluation OfClasses(const NoisySums& noisy) {
    ClassTotals totals;
    totals.sigma = noisy.sigma / EvaluationStep();
    for (const int64_t value : noisy.values)
        totals.sums.push_back(static_cast<double>(value) / EvaluationStep());
    return {ConfusionFigures(totals), {}, ConfusionCounts(totals)};
}

Evaluation FiguresOf(const Model& model, const std::optional<ScoreBins>& bins, double share, bool residuals,
                     const NoisySums& noisy) {
    if (model.target().task() == Task::kClasses)
        return OfClasses(noisy);
    return bins ? OfTwoClasses(*bins, noisy) : OfValues(model, share, residuals, noisy);
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

EvaluationSums SumUp(const Model& model, double expected_rows, const Dataset& rows, const Plan& plan,
                     Interrupt& interrupt) {
    std::optional<ScoreBins> bins = BinsOf(model, expected_rows, 1, plan, interrupt);
    RawSums sums = SumsOf(model, bins, false, rows, interrupt);
    return {std::move(bins), std::move(sums)};
}

Evaluation Evaluate(const Model& model, EvaluationSums&& sums, Releaser& releaser) {
    const NoisySums noisy = releaser.Release(releaser.Find(kMechanism), std::move(sums.sums));
    return FiguresOf(model, sums.bins, 1, false, noisy);
}

Evaluation Evaluate(const Model& model, double expected_rows, const HeldOut& rows, double share,
                    Releaser& releaser, Interrupt& interrupt, bool residuals) {
    const std::optional<ScoreBins> bins = BinsOf(model, expected_rows, share, releaser.plan(), interrupt);
    const NoisySums noisy = releaser.Release(releaser.Find(kMechanism), rows.Sums([&](const Dataset& aside) {
        return SumsOf(model, bins, residuals, aside, interrupt);
    }));
    return FiguresOf(model, bins, share, residuals, noisy);
}

}  // namespace dpboost
