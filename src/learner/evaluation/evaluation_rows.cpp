#include "learner/evaluation/evaluation_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "learner/evaluation/figures/confusion.h"
#include "learner/evaluation/figures/value_figures.h"
#include "learner/objective/objective.h"
#include "learner/rows/additive/basis.h"
#include "learner/rows/clip_norm.h"
#include "model/intervals.h"
#include "model/predictor.h"

namespace dpboost {
namespace {

constexpr size_t kRowsPerPoll = 512;

// Calls add(row, scores) for the rows of every unit, and end(rows of the unit) after each of them. The model's features
// are the columns from `first_column` on.
template <typename Add, typename End>
void ForEachUnit(const Model& model, size_t first_column, const Dataset& rows, Interrupt& interrupt,
                 const Add& add, const End& end) {
    Predictor predictor(model);
    std::vector<uint16_t> codes(rows.columns());
    std::vector<int64_t> scores(predictor.outputs());
    size_t done = 0;
    const auto each = [&](size_t row) {
        if (done++ % kRowsPerPoll == 0)
            interrupt.Poll();
        rows.CopyRow(row, codes.data());
        predictor.Scores(codes.data() + first_column, scores.data());
        add(row, scores);
    };
    for (size_t unit = 0; unit < rows.units(); unit++) {
        if (!rows.has_units()) {
            each(unit);
            end(1);
            continue;
        }
        const uint32_t first = rows.unit_begin()[unit], last = rows.unit_begin()[unit + 1];
        for (uint32_t k = first; k < last; k++)
            each(rows.unit_rows()[k]);
        end(last - first);
    }
}

// The mean over a unit's rows is what they add together; it begins anew. No longer than the longest of them, whatever they
// are, and rounding towards zero makes no entry larger.
void AddMean(size_t rows, std::vector<int64_t>& unit, std::vector<int64_t>& sums) {
    const auto shared = static_cast<int64_t>(rows);
    for (size_t i = 0; i < sums.size(); i++)
        sums[i] += unit[i] / shared;
    std::fill(unit.begin(), unit.end(), 0);
}

// Of a row's terms: those of full weight, and the others.
constexpr int64_t kFullSteps = kClipSteps;
constexpr auto kPartSteps = static_cast<int64_t>(kValueWeight * kClipSteps);
constexpr uint64_t kValueNormSquared = 2 * kFullSteps * kFullSteps + 5 * kPartSteps * kPartSteps;
constexpr uint64_t kBothNormSquared = kValueNormSquared + kFullSteps * kFullSteps;

int64_t ValueSteps(double term, int64_t bound) {
    return std::clamp(static_cast<int64_t>(term * kClipSteps), -bound, bound);  // towards zero
}

// A prediction on the label's scale.
double ScaledPrediction(const Model& model, int64_t score) {
    const TargetSpec& target = model.target();
    return 2 * (model.Respond(score) - target.lower()) / (target.upper() - target.lower()) - 1;
}

// Steps of one row's utility, at most kClipSteps in size.
int64_t UtilitySteps(const Model& model, const std::vector<int64_t>& scores, const TargetSpec& target,
                     float label) {
    if (model.target().task() == Task::kClasses)
        return std::max_element(scores.begin(), scores.end()) - scores.begin() ==
                       static_cast<ptrdiff_t>(label)
                   ? kClipSteps
                   : 0;
    const int64_t score = scores[0];
    if (model.target().task() == Task::kBinary)
        return (model.Respond(score) > 0.5) == (label > 0.5F) ? kClipSteps : 0;
    const double error = std::fabs(ScaledPrediction(model, score) - target.LinearLabel(label)) / kErrorClip;
    return -static_cast<int64_t>(std::clamp(error, 0.0, 1.0) * kClipSteps);
}

}  // namespace

double EvaluationStep() {
    return kClipSteps;
}

double ClassSensitivity() {
    return kClipSteps;
}

double ValueSensitivity() {
    return RootUp(kValueNormSquared);
}

RawSums ClassSums(const Model& model, const ScoreBins& bins, const Dataset& rows, Interrupt& interrupt) {
    std::vector<int64_t> sums(2 * bins.size()), unit(rows.has_units() ? sums.size() : 0);
    std::vector<int64_t>& row_sums = rows.has_units() ? unit : sums;
    ForEachUnit(
        model, 0, rows, interrupt,
        [&](size_t row, const std::vector<int64_t>& scores) {
            const ScorePlace place = bins.Place(scores[0], kClipSteps);
            const size_t cell = place.bin + (rows.Label(row) > 0.5F ? 0 : bins.size());
            row_sums[cell] += kClipSteps - place.part;
            if (place.part > 0)
                row_sums[cell + 1] += place.part;
        },
        [&](size_t unit_rows) {
            if (rows.has_units())
                AddMean(unit_rows, unit, sums);
        });
    return {std::move(sums), ClassSensitivity()};
}

double ValueAndResidualSensitivity() {
    return RootUp(kBothNormSquared);
}

namespace {

// Which bin of label - prediction.
size_t ResidualBin(const Model& model, int64_t score, float label) {
    const double rest = label - PredictedLabel(model, score);
    const double bin = std::floor((rest + 1) / 2 * kResidualBins);
    return static_cast<size_t>(std::clamp(bin, 0.0, kResidualBins - 1.0));
}

RawSums SumValues(const Model& model, const Dataset& rows, bool residuals, Interrupt& interrupt) {
    const uint64_t limit = residuals ? kBothNormSquared : kValueNormSquared;
    std::vector<int64_t> sums(kValueSums + (residuals ? kResidualBins : 0)), unit(sums.size());
    ForEachUnit(
        model, 0, rows, interrupt,
        [&](size_t row, const std::vector<int64_t>& scores) {
            const auto terms =
                ValueTerms(ScaledPrediction(model, scores[0]), rows.target().LinearLabel(rows.Label(row)));
            for (size_t i = 0; i < kValueSums; i++)
                unit[i] += ValueSteps(terms[i], i <= kSquareSum ? kFullSteps : kPartSteps);
            if (residuals)
                unit[kValueSums + ResidualBin(model, scores[0], rows.Label(row))] += kFullSteps;
        },
        [&](size_t unit_rows) { AddMean(unit_rows, unit, sums); });
    return {std::move(sums), RootUp(limit)};
}

}  // namespace

RawSums ValueSums(const Model& model, const Dataset& rows, Interrupt& interrupt) {
    return SumValues(model, rows, false, interrupt);
}

RawSums ValueAndResidualSums(const Model& model, const Dataset& rows, Interrupt& interrupt) {
    return SumValues(model, rows, true, interrupt);
}

double ConfusionSensitivity() {
    return RootUp(ClassNormSquared(kClipSteps));
}

RawSums ConfusionRows(const Model& model, const Dataset& rows, Interrupt& interrupt) {
    std::vector<int64_t> sums(ConfusionSums(model.outputs())), unit(rows.has_units() ? sums.size() : 0);
    std::vector<int64_t>& row_sums = rows.has_units() ? unit : sums;
    std::vector<double> probabilities(model.outputs());
    ForEachUnit(
        model, 0, rows, interrupt,
        [&](size_t row, const std::vector<int64_t>& scores) {
            Softmax(scores.data(), scores.size(), probabilities.data());
            AddClassRow(probabilities, static_cast<size_t>(rows.Label(row)), kClipSteps, &row_sums);
        },
        [&](size_t unit_rows) {
            if (rows.has_units())
                AddMean(unit_rows, unit, sums);
        });
    return {std::move(sums), ConfusionSensitivity()};
}

RawSums ChoiceUtilities(const std::vector<const Model*>& models, const Dataset& rows, Interrupt& interrupt) {
    std::vector<int64_t> utilities;
    size_t first_column = 0;
    for (const Model* model : models) {
        int64_t total = 0, unit = 0;
        ForEachUnit(
            *model, first_column, rows, interrupt,
            [&](size_t row, const std::vector<int64_t>& scores) {
                unit += UtilitySteps(*model, scores, rows.target(), rows.Label(row));
            },
            [&](size_t) {
                total += std::clamp<int64_t>(unit, -kClipSteps, kClipSteps);
                unit = 0;
            });
        utilities.push_back(total);
        first_column += model->features().size();
    }
    return {std::move(utilities), static_cast<double>(kClipSteps)};
}

}  // namespace dpboost
