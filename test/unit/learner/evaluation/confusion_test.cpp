// Evaluation of several classes: without noise it is exact, a unit adds no more than its bound, and noise is told.
#include "learner/evaluation/figures/confusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learner/evaluation/evaluation.h"
#include "learner/evaluation/evaluation_rows.h"
#include "model/predictor.h"
#include "support/evaluated.h"
#include "support/exact_sums.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

constexpr size_t kClasses = 4;

Dataset Rows(size_t rows, size_t units) {
    DataShape shape;
    shape.task = Task::kClasses;
    shape.classes = kClasses;
    shape.rows = rows;
    shape.units = units;
    return RandomDataset(shape);
}

// Scores that follow the first column, too sure of themselves here and there.
Model ModelOf(const Dataset& dataset) {
    Model model(dataset.features(), dataset.target(), Link::kSoftmax);
    const uint32_t cells = dataset.features()[0].cells();
    std::vector<int32_t> table(cells * kClasses, 0);
    for (uint32_t cell = 0; cell < cells; cell++)
        table[cell * kClasses + std::min<size_t>(kClasses - 1, cell * kClasses / cells)] =
            ToFixed(cell % 7 == 0 ? 12 : 1.5);
    model.AddTable(0, table);
    return model;
}

TEST(Confusion, WithoutNoiseFiguresAreTheExactOnes) {
    const Dataset rows = Rows(20000, 0);
    const Model model = ModelOf(rows);
    Plan plan = EvaluationPlan(model.target(), 1, 1e-6);
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    NoInterrupt interrupt;
    const Evaluation evaluation = Evaluate(model, 0, rows, releaser, interrupt);

    std::vector<double> counts(kClasses * kClasses, 0.0);
    double right = 0, loss = 0;
    Predictor predictor(model);
    for (size_t row = 0; row < rows.rows(); row++) {
        std::vector<uint16_t> codes(rows.columns());
        std::vector<int64_t> scores(kClasses);
        std::vector<double> p(kClasses);
        rows.CopyRow(row, codes.data());
        predictor.Scores(codes.data(), scores.data());
        Softmax(scores.data(), kClasses, p.data());
        const auto truth = static_cast<size_t>(rows.Label(row));
        const auto said = static_cast<size_t>(std::max_element(p.begin(), p.end()) - p.begin());
        counts[truth * kClasses + said]++;
        right += truth == said;
        loss += std::min(kMostLoss, -std::log(p[truth]));
    }
    const auto n = static_cast<double>(rows.rows());
    EXPECT_EQ(evaluation.confusion, counts);
    EXPECT_NEAR(*Named(evaluation.figures, "rows").value, n, 1e-6);
    EXPECT_NEAR(*Named(evaluation.figures, "accuracy").value, right / n, 1e-9);
    EXPECT_NEAR(*Named(evaluation.figures, "log_loss").value, loss / n, 1e-3);
    EXPECT_GT(Named(evaluation.figures, "accuracy").upper, right / n);
    EXPECT_LT(Named(evaluation.figures, "accuracy").lower, right / n);
}

// A row that the model is sure of and wrong about, or right, reaches the bound; nothing exceeds it.
TEST(Confusion, AUnitAddsNoMoreThanItsBound) {
    const double bound = ConfusionSensitivity();
    for (const size_t unit_rows : {1, 2, 50}) {
        double largest = 0;
        for (const float label : {0.0F, 1.0F}) {
            const std::vector<FeatureSpec> features = {FeatureSpec::Levels("x", {"a", "b"})};
            const TargetSpec target = TargetSpec::Classes({"a", "b", "c", "d"});
            DatasetBuilder builder(features, target, true);
            for (size_t row = 0; row < unit_rows; row++) {
                if (builder.Full())
                    builder.Grow();
                builder.SetCode(0, static_cast<uint16_t>(row % 2));
                builder.AppendRow(label, UnitKeyOf(1));
            }
            NoInterrupt interrupt;
            const Dataset dataset = builder.Finish(interrupt);
            Model model(features, target, Link::kSoftmax);
            model.AddToBase(0, ToFixed(30));
            double norm = 0;
            for (const int64_t sum : ExactSums(ConfusionRows(model, dataset, interrupt)))
                norm += static_cast<double>(sum) * static_cast<double>(sum);
            largest = std::max(largest, std::sqrt(norm));
        }
        EXPECT_LE(largest, bound) << unit_rows;
        EXPECT_GT(largest, 0.999 * bound) << unit_rows;
    }
}

TEST(Confusion, WhereNoiseWinsNothingIsKnown) {
    ClassTotals totals;
    totals.sums.assign(ConfusionSums(3), 1.0);
    totals.sigma = 100;
    const std::vector<Figure> figures = ConfusionFigures(totals);
    EXPECT_FALSE(Named(figures, "accuracy").value);
    EXPECT_FALSE(Named(figures, "log_loss").value);
    EXPECT_EQ(Named(figures, "log_loss").upper, kMostLoss);
}

}  // namespace
}  // namespace dpboost
