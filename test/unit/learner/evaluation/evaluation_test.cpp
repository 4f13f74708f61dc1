// Private evaluation with zero noise against the exact figures, and the bounds that its charge relies on.
#include "learner/evaluation/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "learner/evaluation/evaluation_rows.h"
#include "learner/evaluation/exact_metrics.h"
#include "learner/evaluation/figures/class_figures.h"
#include "learner/evaluation/figures/value_figures.h"
#include "learner/evaluation/held_out.h"
#include "mechanism/chacha_source.h"
#include "support/audit/audit.h"
#include "support/evaluated.h"
#include "support/open_sums.h"
#include "support/zero_noise.h"

namespace dpboost {
namespace {

// Many bins, whatever noise would say.
constexpr double kManyRows = 1e7;

Evaluation Exactly(const Model& model, const Dataset& rows, double expected_rows = kManyRows) {
    Plan plan = EvaluationPlan(model.target(), 1, 1e-6);
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    NoInterrupt interrupt;
    return Evaluate(model, expected_rows, rows, releaser, interrupt);
}

TEST(Evaluation, WithoutNoiseAClassifiersFiguresAreTheExactOnes) {
    for (const Link link : {Link::kLogistic, Link::kIdentity}) {
        const Model model = EvaluatedModel(Task::kBinary, link);
        const Dataset rows = EvaluatedRows(model, 20000, 1);
        const Evaluation evaluation = Exactly(model, rows);
        const std::vector<Figure> exact = ExactFigures(model, rows);
        for (const char* name : {"rows", "auc", "log_loss", "accuracy", "brier", "base_rate"})
            EXPECT_NEAR(*Named(evaluation.figures, name).value, *Named(exact, name).value, 0.002) << name;
        EXPECT_NEAR(*Named(evaluation.figures, "calibration_slope").value,
                    *Named(exact, "calibration_slope").value, 0.03);
        EXPECT_NEAR(*Named(evaluation.figures, "accuracy").value, *Named(exact, "accuracy").value, 1e-8)
            << "the cut at 1/2 is between two knots";
    }
}

// Gaps between knots of 2^48 and more: a row's part of a bin times the lattice's steps needs more than 64 bits.
TEST(Evaluation, ARowAddsNoMoreThanItsChargeWhateverTheModel) {
    const std::vector<std::string> few{"0", "1", "2", "3", "4"};
    std::vector<std::string> many;
    for (int i = 0; i < 64; i++)
        many.push_back(std::to_string(i));
    Model model({FeatureSpec::Levels("a", few), FeatureSpec::Levels("b", many)}, TargetSpec::Binary(),
                Link::kLogistic);
    const auto add = [&](std::vector<int32_t> leaves, const std::vector<uint32_t>& set) {
        Tree tree = Tree::OfDepth(2);
        for (size_t node = 0; node < 3; node++) {
            Split& split = tree.splits[node];
            split.kind = SplitKind::kSubset;
            split.feature = node == 0 ? 0 : 1;
            split.subset = tree.AddSubset(model.features()[split.feature]);
            for (const uint32_t code : node == 0 ? std::vector<uint32_t>{0} : set)
                tree.AddToSubset(split.subset, code);
        }
        tree.leaves = std::move(leaves);
        model.AddTree(std::move(tree));
    };
    constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
    for (int i = 0; i < 98315; i++)
        add({-kMost, -kMost, 1, kMost}, {1, 2, 3, 4});
    add({0, 0, -(1 << 20), 0}, {0});
    NoInterrupt interrupt;
    const ScoreBins bins(model, ReferenceDraws(model, interrupt), ScoreBins::CountFor(0, 0.5));
    constexpr int64_t kOne = 65536;
    size_t between = 0;
    for (uint16_t a = 0; a < few.size(); a++)
        for (uint16_t b = 0; b < many.size(); b++) {
            const uint16_t codes[] = {a, b};
            const ScorePlace place = bins.Place(model.Score(codes), kOne);
            EXPECT_TRUE(place.part >= 0 && place.part <= kOne) << place.part;
            between += place.part > 0 ? 1 : 0;
        }
    EXPECT_GT(between, 0U) << "or nothing was tried";
}

TEST(Evaluation, WithoutNoiseARegressionsFiguresAreTheExactOnes) {
    const Model model = EvaluatedModel(Task::kRegression, Link::kIdentity);
    const Dataset rows = EvaluatedRows(model, 20000, 2);
    const Evaluation evaluation = Exactly(model, rows);
    const std::vector<Figure> exact = ExactFigures(model, rows);
    for (const char* name : {"rows", "rmse", "mae", "r2", "bias"})
        EXPECT_NEAR(*Named(evaluation.figures, name).value, *Named(exact, name).value, 0.002) << name;
}

TEST(Evaluation, ExactMetricsAreThoseOfTextbooks) {
    ExactClassMetrics classes;  // pairs: .8 and .4 above .3; .8 above .4's equal, half
    classes.Add(0.8, true);
    classes.Add(0.4, true);
    classes.Add(0.4, false);
    classes.Add(0.3, false);
    NoInterrupt interrupt;
    const std::vector<Figure> figures = classes.Figures(interrupt);
    EXPECT_DOUBLE_EQ(*Named(figures, "auc").value, 3.5 / 4);
    EXPECT_DOUBLE_EQ(*Named(figures, "accuracy").value, 0.75);
    EXPECT_DOUBLE_EQ(*Named(figures, "base_rate").value, 0.5);
    EXPECT_NEAR(*Named(figures, "brier").value, (0.04 + 0.36 + 0.16 + 0.09) / 4, 1e-12);
    EXPECT_NEAR(*Named(figures, "log_loss").value,
                -(std::log(0.8) + std::log(0.4) + std::log(0.6) + std::log(0.7)) / 4, 1e-12);
    ExactValueMetrics values;
    values.Add(1, 2);
    values.Add(5, 3);
    values.Add(4, 4);
    const std::vector<Figure> of_values = values.Figures();
    EXPECT_NEAR(*Named(of_values, "rmse").value, std::sqrt(5.0 / 3), 1e-12);
    EXPECT_NEAR(*Named(of_values, "mae").value, 1, 1e-12);
    EXPECT_NEAR(*Named(of_values, "bias").value, 1.0 / 3, 1e-12);
    EXPECT_NEAR(*Named(of_values, "r2").value, 1 - 5.0 / 2, 1e-12);
}

// Few bins, and rows that lie between knots otherwise than the reference and the model have it.
TEST(Evaluation, FewBinsTellWhereRowsLie) {
    Model model = EvaluatedModel(Task::kBinary, Link::kLogistic);
    model.AddToBase(ToFixed(-1));
    const Dataset rows = OtherRows(model, 200000, 1, 1.6, 1);
    const std::vector<Figure> exact = ExactFigures(model, rows);
    const std::vector<Figure> told = Exactly(model, rows, 10).figures;
    const auto expect_near = [&](const char* name, double far) {
        EXPECT_NEAR(*Named(told, name).value, *Named(exact, name).value, far) << name;
    };
    expect_near("auc", 0.002);
    expect_near("log_loss", 0.004);
    expect_near("brier", 0.002);
    expect_near("calibration_slope", 0.05);
}

TEST(Evaluation, ARowSharesOneStepBetweenTwoBins) {
    const Model model = EvaluatedModel(Task::kBinary, Link::kLogistic);
    NoInterrupt interrupt;
    const ScoreBins bins(model, ReferenceDraws(model, interrupt), ScoreBins::kMinBins);
    size_t last = 0;
    for (int64_t score = -ToFixed(9); score < ToFixed(9); score += 977) {
        const ScorePlace place = bins.Place(score, 65536);
        ASSERT_LT(place.bin + (place.part > 0), bins.size());
        ASSERT_GE(place.part, 0);
        ASSERT_LE(place.part, 65536);
        ASSERT_GE(place.bin, last);
        ASSERT_EQ(bins.above_half(place.bin), score > 0) << "accuracy is exact";
        ASSERT_EQ(bins.above_half(place.bin + (place.part > 0)), score > 0);
        last = place.bin;
    }
    EXPECT_EQ(last, bins.size() - 1) << "what is beyond counts for the last";
}

TEST(Evaluation, NobodyKnowsWhatNoiseHides) {
    const Model model = EvaluatedModel(Task::kBinary, Link::kLogistic);
    const Dataset rows = EvaluatedRows(model, 100, 3);
    Plan plan = EvaluationPlan(TargetSpec::Binary(), 0.01, 1e-6);  // sigma of some hundred rows
    ZeroNoise noise;
    Releaser releaser(plan, noise);
    NoInterrupt interrupt;
    const Evaluation evaluation = Evaluate(model, 0, rows, releaser, interrupt);
    const Figure& auc = Named(evaluation.figures, "auc");
    EXPECT_FALSE(auc.value.has_value());
    EXPECT_EQ(auc.lower, 0);
    EXPECT_EQ(auc.upper, 1);
    EXPECT_FALSE(Named(evaluation.figures, "accuracy").value.has_value());
    EXPECT_FALSE(evaluation.bins.front().observed.value.has_value());
}

// Noise may take a rate below 0 or above 1, by more than the interval is wide: that says nothing for certain.
TEST(Evaluation, BinsWhoseNoiseIsBeyondTheirRangeAreNoCertainty) {
    const std::vector<DrawnBin> drawn =
        DrawnBins({{0, 0.5, 0.2}, {0.5, 1, 0.8}}, {{-40, 440}, {440, -40}, 10});
    EXPECT_EQ(drawn[0].observed.value, 0);
    EXPECT_EQ(drawn[0].observed.lower, 0);
    EXPECT_GT(drawn[0].observed.upper, 0.04);
    EXPECT_EQ(drawn[1].observed.value, 1);
    EXPECT_LT(drawn[1].observed.lower, 0.96);
    EXPECT_EQ(drawn[1].observed.upper, 1);
}

TEST(Evaluation, BinsFollowFromTheModelAlone) {
    const Model model = EvaluatedModel(Task::kBinary, Link::kLogistic);
    const Evaluation some = Exactly(model, EvaluatedRows(model, 500, 4));
    const Evaluation none = Exactly(model, EvaluatedRows(model, 0, 5));
    ASSERT_EQ(some.bins.size(), none.bins.size());
    EXPECT_GE(some.bins.size(), ScoreBins::kMaxBins - 4);
    EXPECT_LE(some.bins.size(), ScoreBins::kMaxCells);
    for (size_t i = 0; i < some.bins.size(); i++) {
        EXPECT_EQ(some.bins[i].lower, none.bins[i].lower);
        EXPECT_EQ(some.bins[i].predicted, none.bins[i].predicted);
    }
    EXPECT_LE(Exactly(model, EvaluatedRows(model, 0, 5), 10).bins.size(), ScoreBins::kMinBins + 2);
    EXPECT_EQ(some.bins.front().true_positive_rate, 1);
    EXPECT_EQ(some.bins.front().lift, 1);
}

TEST(Evaluation, AModelThatSaysTheSameOfAllHasAnAucOfOneHalf) {
    Model model(EvaluatedModel(Task::kBinary, Link::kLogistic).features(), TargetSpec::Binary(),
                Link::kLogistic);
    model.AddToBase(ToFixed(-1));
    const Evaluation evaluation = Exactly(model, EvaluatedRows(model, 3000, 6));
    EXPECT_NEAR(*Named(evaluation.figures, "auc").value, 0.5, 1e-9);
    EXPECT_FALSE(Named(evaluation.figures, "calibration_slope").value.has_value());
}

TEST(Evaluation, AUnitCountsNoMoreThanOneRow) {
    const Model model = EvaluatedModel(Task::kBinary, Link::kLogistic);
    NoInterrupt interrupt;
    const ReferenceDraws reference(model, interrupt);
    const ScoreBins bins(model, reference, 64);
    for (const bool alike : {true, false}) {
        std::vector<AuditRow> rows;
        for (uint16_t i = 0; i < 50; i++)
            rows.push_back({{alike ? uint16_t{3} : static_cast<uint16_t>(i % 16), 0, 0},
                            alike ? 1.0F : i % 2 * 1.0F,
                            7});
        const Dataset unit = AuditTable(model.features(), Task::kBinary, true, rows);
        double norm = 0, rows_counted = 0;
        for (const int64_t sum : OpenSums(ClassSums(model, bins, unit, interrupt))) {
            norm += static_cast<double>(sum) * static_cast<double>(sum);
            rows_counted += static_cast<double>(sum) / EvaluationStep();
        }
        EXPECT_LE(std::sqrt(norm), ClassSensitivity());
        EXPECT_NEAR(rows_counted, 1, 0.01) << "a person counts once";
    }
    const Model values = EvaluatedModel(Task::kRegression, Link::kIdentity);
    const std::vector<AuditRow> extreme(50, AuditRow{{0, 0, 0}, 1, 7});
    double norm = 0;
    for (const int64_t sum : OpenSums(
             ValueSums(values, AuditTable(values.features(), Task::kRegression, true, extreme), interrupt)))
        norm += static_cast<double>(sum) * static_cast<double>(sum);
    EXPECT_LE(std::sqrt(norm), ValueSensitivity());
}

TEST(Evaluation, TermsOfARowStayWithinTheirBounds) {
    for (double prediction = -3; prediction <= 3; prediction += 0.01)
        for (double label = -1; label <= 1; label += 0.01) {
            double norm = 0;
            const auto terms = ValueTerms(prediction, label);
            for (size_t i = 0; i < kValueSums; i++) {
                ASSERT_LE(std::fabs(terms[i]), i <= kSquareSum ? 1 : kValueWeight);
                norm += terms[i] * terms[i];
            }
            ASSERT_LE(std::sqrt(norm), ValueSensitivity() / EvaluationStep() * (1 + 1e-4));
        }
    EXPECT_LT(ValueSensitivity() / EvaluationStep(), 2.12);
}

// A prediction that is the mean, of labels that lie far from it: nothing is explained.
TEST(Evaluation, LargeErrorsAreSeen) {
    for (const double sigma : {0.0, 10.0}) {
        ExactValueMetrics exact;
        ValueTotals totals{};
        totals.sigma = sigma;
        constexpr int kRows = 4000;
        for (int i = 0; i < kRows; i++) {
            const double label = -1 + 0.5 * (i % 5);  // -1, -1/2, 0, 1/2, 1
            exact.Add(-0.05, label);
            const auto terms = ValueTerms(-0.05, label);
            for (size_t k = 0; k < kValueSums; k++)
                totals.sums[k] += terms[k];
        }
        const std::vector<Figure> told = ValueFigures(TargetSpec::Regression(-1, 1), totals);
        const std::vector<Figure> truth = exact.Figures();
        for (const char* name : {"rmse", "mae", "r2", "bias"}) {
            EXPECT_LE(Named(told, name).lower, *Named(truth, name).value) << name;
            EXPECT_GE(Named(told, name).upper, *Named(truth, name).value) << name;
        }
        EXPECT_NEAR(*Named(told, "rmse").value, *Named(truth, "rmse").value, 0.01);
        EXPECT_LT(Named(told, "r2").lower, 0);
    }
}

// Of normal errors that say nothing about predictions the variance of R2 is 4 R2 (1 - R2)^2 / n.
TEST(Evaluation, WithoutNoiseAnIntervalOfR2IsTheClassicalOne) {
    std::mt19937_64 random(14);
    std::normal_distribution<double> normal;
    ValueTotals totals{};
    constexpr int kRows = 40000;
    for (int i = 0; i < kRows; i++) {
        const double prediction = 0.25 * normal(random);
        const auto terms = ValueTerms(prediction, prediction + 0.15 * normal(random));
        for (size_t k = 0; k < kValueSums; k++)
            totals.sums[k] += terms[k];
    }
    const Figure r2 = Named(ValueFigures(TargetSpec::Regression(-1, 1), totals), "r2");
    const double truth = 0.0625 / 0.085;
    EXPECT_NEAR(*r2.value, truth, 0.01);
    const double classical = 2 * std::sqrt(truth) * (1 - truth) / std::sqrt(kRows);
    EXPECT_NEAR((r2.upper - r2.lower) / (2 * kNormal95 * classical), 1, 0.06);
}

// The columns of the rows, and once more.
Dataset Twice(const Dataset& rows) {
    std::vector<FeatureSpec> features = rows.features();
    features.insert(features.end(), rows.features().begin(), rows.features().end());
    DatasetBuilder builder(features, rows.target(), false);
    for (size_t row = 0; row < rows.rows(); row++) {
        if (builder.Full())
            builder.Grow();
        for (size_t column = 0; column < features.size(); column++)
            builder.SetCode(column, rows.Code(row, column % rows.columns()));
        builder.AppendRow(rows.Label(row));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

TEST(Evaluation, AChoiceCountsWhatEachModelGetsRight) {
    const Model good = EvaluatedModel(Task::kBinary, Link::kLogistic);
    Model poor(good.features(), TargetSpec::Binary(), Link::kLogistic);
    poor.AddToBase(ToFixed(1));
    const Dataset rows = EvaluatedRows(good, 2000, 8);
    NoInterrupt interrupt;
    const std::vector<int64_t> utilities = OpenSums(ChoiceUtilities({&good, &poor}, Twice(rows), interrupt));
    const double right = *Named(ExactFigures(good, rows), "accuracy").value;
    EXPECT_NEAR(static_cast<double>(utilities[0]) / EvaluationStep(), right * 2000, 1e-6);
    EXPECT_NEAR(static_cast<double>(utilities[1]) / EvaluationStep(),
                *Named(ExactFigures(poor, rows), "base_rate").value * 2000, 1e-6);
    const std::vector<AuditRow> unit(50, AuditRow{{3, 0, 0}, 1, 7});
    const Dataset one = AuditTable(good.features(), Task::kBinary, true, unit);
    EXPECT_EQ(std::abs(OpenSums(ChoiceUtilities({&poor}, one, interrupt))[0]), 65536);
}

// ---- hold-out ----

TEST(HeldOut, AUnitIsOnOneSideOnly) {
    const Model model = EvaluatedModel(Task::kBinary, Link::kLogistic);
    for (const bool units : {true, false}) {
        std::vector<AuditRow> rows;  // the label and the codes tell which unit a row is of
        for (uint16_t unit = 0; unit < 256; unit++)
            for (int k = 0; k < (units ? 1 + unit % 5 : 1); k++)
                rows.push_back(
                    {{static_cast<uint16_t>(unit % 16), static_cast<uint16_t>(unit / 16), 0}, 1, unit});
        Dataset training = AuditTable(model.features(), Task::kBinary, units, rows);
        const size_t all = training.rows();
        ChaChaSource source = AuditSource(9, 1);
        Random random(source);
        PrivateRandom coins(random);
        NoInterrupt interrupt;
        const HeldOut held = HeldOut::Split(&training, 0.3, coins, {}, interrupt);
        std::multiset<int> aside, others;
        const auto collect = [](const Dataset& side, std::multiset<int>* out) {
            for (size_t row = 0; row < side.rows(); row++)
                out->insert(side.Code(row, 0) + 16 * side.Code(row, 1));
        };
        held.Sums([&](const Dataset& side) {
            collect(side, &aside);
            EXPECT_EQ(side.has_units(), units);
            return RawSums({0}, 1);
        });
        collect(training, &others);
        EXPECT_EQ(aside.size() + others.size(), all);
        const std::set<int> distinct(aside.begin(), aside.end());
        EXPECT_NEAR(static_cast<double>(distinct.size()) / 256, 0.3, 0.1);
        for (const int unit : distinct) {
            EXPECT_EQ(others.count(unit), 0u) << "unit " << unit << " is on both sides";
            EXPECT_EQ(aside.count(unit), units ? 1u + static_cast<size_t>(unit) % 5 : 1u);
        }
    }
}

}  // namespace
}  // namespace dpboost
