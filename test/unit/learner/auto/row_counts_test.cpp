// Counts of rows by label and by score, and cut gradients: against plain computations, and what one unit changes.
#include <gtest/gtest.h>

#include <cmath>

#include "learner/rows/additive/basis_rows.h"
#include "support/exact_sums.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

constexpr size_t kRows = 300;

DataShape Shape(Task task, size_t units) {
    DataShape shape;
    shape.task = task;
    shape.rows = kRows;
    shape.units = units;
    return shape;
}

double Distance(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    double sum = 0;
    for (size_t k = 0; k < a.size(); k++)
        sum += std::pow(static_cast<double>(a[k] - b[k]), 2);
    return std::sqrt(sum);
}

std::vector<int32_t> SomeTable(const Dataset& dataset) {
    std::vector<int32_t> table;
    for (uint32_t cell = 0; cell < dataset.features()[0].cells(); cell++)
        table.push_back(static_cast<int32_t>(cell % 5) * ToFixed(0.5) - ToFixed(1));
    return table;
}

const std::vector<int32_t> kScoreEdges = {ToFixed(-0.75), ToFixed(0.1), ToFixed(0.6)};
const std::vector<float> kLabelEdges = {-0.5F, 0.0F, 0.25F};

TEST(RowCounts, AreThoseOfTheRows) {
    NoInterrupt interrupt;
    const Dataset classes = RandomDataset(Shape(Task::kBinary, 0));
    BasisRows scored(classes, BestSimd(), interrupt);
    const std::vector<int32_t> table = SomeTable(classes);
    scored.AddTable(CodeView::Column(0, static_cast<uint32_t>(table.size())), table);
    const std::vector<int64_t> by_score = ExactSums(scored.ScoreCounts(kScoreEdges));
    const Dataset numbers = RandomDataset(Shape(Task::kRegression, 0));
    BasisRows labelled(numbers, BestSimd(), interrupt);
    const std::vector<int64_t> by_label = ExactSums(labelled.LabelCounts(kLabelEdges));
    labelled.SetLabelWindow(0.25, 0.5);
    const std::vector<int64_t> in_window = ExactSums(labelled.LabelCounts(kLabelEdges));

    std::vector<int64_t> scores(8, 0), labels(4, 0), window(4, 0);
    const auto cell = [](double value) { return value <= -0.5 ? 0 : value <= 0 ? 1 : value <= 0.25 ? 2 : 3; };
    const int64_t step = static_cast<int64_t>(scored.StepsPerOne());
    for (size_t row = 0; row < kRows; row++) {
        const int32_t score = table[classes.Code(row, 0)];
        const int interval = score <= kScoreEdges[0]   ? 0
                             : score <= kScoreEdges[1] ? 1
                             : score <= kScoreEdges[2] ? 2
                                                       : 3;
        scores[static_cast<size_t>(2 * interval) + (classes.Label(row) > 0.5F ? 1 : 0)] += step;
        const double label = numbers.Label(row);
        labels[static_cast<size_t>(cell(label))] += step;
        window[static_cast<size_t>(cell(std::fmin(1.0, std::fmax(-1.0, (label - 0.25) / 0.5))))] += step;
    }
    EXPECT_EQ(by_score, scores);
    EXPECT_EQ(by_label, labels);
    EXPECT_EQ(in_window, window);
}

// Whoever is left out, rows or units of several; and somebody takes it up entirely, or nearly.
TEST(RowCounts, OneUnitChangesThemByOneRow) {
    for (const size_t units : {size_t{0}, size_t{40}}) {
        NoInterrupt interrupt;
        const Dataset all = RandomDataset(Shape(Task::kBinary, units));
        const auto counts = [&](uint32_t left_out, double* sensitivity) {
            const Dataset dataset = WithoutUnit(all, units > 0, left_out);
            BasisRows rows(dataset, BestSimd(), interrupt);
            const std::vector<int32_t> table = SomeTable(all);
            rows.AddTable(CodeView::Column(0, static_cast<uint32_t>(table.size())), table);
            return ExactSums(rows.ScoreCounts(kScoreEdges), sensitivity);
        };
        double sensitivity = 0, largest = 0;
        const std::vector<int64_t> full = counts(UINT32_MAX, &sensitivity);
        for (uint32_t unit = 0; unit < all.units(); unit++)
            largest = std::max(largest, Distance(full, counts(unit, &sensitivity)));
        EXPECT_LE(largest, sensitivity);
        EXPECT_GT(largest, 0.95 * sensitivity);
    }
}

TEST(CutRows, NeverExceedTheirBound) {
    NoInterrupt interrupt;
    const Dataset all = RandomDataset(Shape(Task::kRegression, 0));
    Basis basis;
    for (uint32_t f = 0; f < 2; f++) {
        BasisBlock block;
        block.view = CodeView::Column(f, all.features()[f].cells());
        BasisColumn column;
        for (uint32_t cell = 0; cell < all.features()[f].cells(); cell++)
            column.values.push_back(static_cast<int32_t>(cell % 7) * 100 - 300);
        block.columns.push_back(column);
        basis.Add(std::move(block));
    }
    basis.SetIntercept(kBasisOne);
    const auto objective = MakeObjective(ObjectiveKind::kSquared, all.target(), 0.4, 1);
    const auto sums = [&](uint32_t left_out, double* sensitivity) {
        const Dataset dataset = WithoutUnit(all, false, left_out);
        BasisRows rows(dataset, BestSimd(), interrupt);
        rows.SetBasis(basis, basis.MaxNormSquared() / 8, LongRows::kCut);
        return ExactSums(rows.GradientSums(*objective), sensitivity);
    };
    double sensitivity = 0, largest = 0, untouched = 0;
    const std::vector<int64_t> full = sums(UINT32_MAX, &sensitivity);
    for (uint32_t unit = 0; unit < all.units(); unit++) {
        const double distance = Distance(full, sums(unit, &sensitivity));
        largest = std::max(largest, distance);
        untouched += distance < 0.9 * sensitivity ? 1 : 0;
    }
    EXPECT_LE(largest, sensitivity);
    EXPECT_GT(largest, 0.99 * sensitivity);
    EXPECT_GT(untouched, 0);
}

}  // namespace
}  // namespace dpboost
