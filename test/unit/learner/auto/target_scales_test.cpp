// What `auto` predicts with the objectives "huber" and "quantile" and on a logarithmic scale, without noise.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "learner/auto/auto.h"
#include "learner/rows/additive/basis_rows.h"
#include "model/export/export_sql.h"
#include "model/export/export_xgboost.h"
#include "support/exact_sums.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// One column x in [0, 1); value(x, chance) with chance in (0, 1).
struct Drawn {
    Dataset rows;
    std::vector<double> values;
};
Drawn Draw(const TargetSpec& target, size_t rows, const std::function<double(double, double)>& value) {
    DataShape shape;
    shape.numeric = 1;
    shape.levels = 0;
    ChaChaSource source = TestSource(21);
    Random stream(source);
    PublicRandom random(stream);
    DatasetBuilder builder(TestFeatures(shape), target, false);
    std::vector<double> values;
    for (size_t row = 0; row < rows; row++) {
        if (builder.Full())
            builder.Grow();
        const uint16_t code = static_cast<uint16_t>(random.Below(254));
        builder.SetCode(0, code);
        values.push_back(value(code / 254.0, (static_cast<double>(random.Below(9999)) + 1) / 10000));
        float label = 0;
        target.Label(values.back(), &label);
        builder.AppendRow(label);
    }
    NoInterrupt interrupt;
    return {builder.Finish(interrupt), std::move(values)};
}

Model Train(const Dataset& rows, std::vector<GivenOption> given, double epsilon = 20) {
    ChaChaSource source = TestSource(5);
    Random random(source);
    ZeroNoise noise;
    return TrainWith(kAuto, rows, epsilon, 1e-6, given, random, noise);
}

double PartBelow(const Model& model, const Drawn& drawn, double from, double to) {
    double below = 0, all = 0;
    for (size_t row = 0; row < drawn.values.size(); row++) {
        const uint16_t code = drawn.rows.Code(row, 0);
        if (code < from * 254 || code >= to * 254)
            continue;
        below += drawn.values[row] < model.Predict(&code);
        all++;
    }
    return below / all;
}

// Exponential around a line: the mean, the median and the quantiles lie apart.
double Skewed(double x, double chance) {
    return 2 * x - 0.1 * std::log(chance);
}

TEST(TargetScales, QuantilesHoldTheirPartOfTheRows) {
    const Drawn drawn = Draw(TargetSpec::Regression(0, 4), 8000, Skewed);
    for (const double quantile : {0.1, 0.5, 0.9}) {
        const Model model = Train(drawn.rows, {Given("objective", "quantile"), Given("quantile", quantile)});
        EXPECT_NEAR(PartBelow(model, drawn, 0, 1), quantile, 0.015);
        for (const double from : {0.0, 0.5})
            EXPECT_NEAR(PartBelow(model, drawn, from, from + 0.5), quantile, 0.1) << from;
        ASSERT_EQ(model.loss().kind, LossKind::kQuantile);
        EXPECT_EQ(model.loss().parameters, std::vector<double>{quantile});
    }
}

TEST(TargetScales, HuberIgnoresHowFarOutliersAre) {
    const auto outliers = [](double x, double chance) {
        return chance > 0.9 ? 10 : x + 0.1 * (chance / 0.9 - 0.5);
    };
    const Drawn drawn = Draw(TargetSpec::Regression(0, 10), 8000, outliers);
    const Model huber = Train(drawn.rows, {Given("objective", "huber")});
    const Model squared = Train(drawn.rows, {});
    double huber_bias = 0, squared_bias = 0;
    for (uint16_t code = 0; code < 254; code++) {
        huber_bias += (huber.Predict(&code) - code / 254.0) / 254;
        squared_bias += (squared.Predict(&code) - code / 254.0) / 254;
    }
    EXPECT_GT(squared_bias, 0.4);  // towards the mean: a tenth of ten
    EXPECT_LT(std::fabs(huber_bias), 0.25);
    EXPECT_EQ(huber.loss().kind, LossKind::kHuber);
}

double MeanRatio(const Model& model, const Drawn& drawn) {
    double predicted = 0, all = 0;
    for (size_t row = 0; row < drawn.values.size(); row++) {
        const uint16_t code = drawn.rows.Code(row, 0);
        predicted += model.Predict(&code);
        all += drawn.values[row];
    }
    return predicted / all;
}

double Amount(double x, double chance) {
    return std::exp(3 + 4 * x) * std::exp(1.5 * (std::sqrt(-std::log(chance)) - 0.8));
}

TEST(TargetScales, LogarithmsPredictMeansOnTheOriginalScale) {
    const Drawn drawn = Draw(TargetSpec::Logarithmic(0, 1e6), 8000, Amount);
    const Model model = Train(drawn.rows, {});
    EXPECT_EQ(model.link(), Link::kLog);
    EXPECT_NEAR(MeanRatio(model, drawn), 1, 0.05);
    // A quantile needs no mean, and a median is far below it.
    const Model median = Train(drawn.rows, {Given("objective", "quantile"), Given("quantile", 0.5)});
    EXPECT_NEAR(PartBelow(median, drawn, 0, 1), 0.5, 0.015);
    EXPECT_GT(PartBelow(model, drawn, 0, 1), 0.55);
}

// Where the mean is made by many rows far above the middle, a single look, which counts none of them as more than a few
// times its prediction, finds three quarters of it.
TEST(TargetScales, MeansOfValuesThatSpanOrdersOfMagnitudeEvenly) {
    const auto even = [](double, double chance) { return std::exp(chance * std::log(3000)); };
    const Drawn drawn = Draw(TargetSpec::Logarithmic(0, 1e5), 8000, even);
    EXPECT_NEAR(MeanRatio(Train(drawn.rows, {}, 1), drawn), 1, 0.05);
    EXPECT_NEAR(MeanRatio(Train(drawn.rows, {}, 4), drawn), 1, 0.05);
}

TEST(TargetScales, LogarithmicModelsSurviveBytesAndExports) {
    const Drawn drawn = Draw(TargetSpec::Logarithmic(10, 1e6), 2000, Amount);
    const Model model = Model::Parse(Train(drawn.rows, {}).Serialize());
    EXPECT_TRUE(model.target().logarithmic());
    NoInterrupt interrupt;
    const std::string sql = ToSql(model, SqlDialect::kPostgres, interrupt);
    EXPECT_NE(sql.find(" + 9"), std::string::npos) << "exp(score) - 1 + lower";
    EXPECT_THROW(ToXgboost(model, {}, interrupt), Error);
}

void ExpectWithin(RawSums&& sums, double bound) {
    double claimed = 0, squares = 0;
    for (const int64_t value : ExactSums(std::move(sums), &claimed))
        squares += static_cast<double>(value) * static_cast<double>(value);
    EXPECT_LE(std::sqrt(squares), bound);
    EXPECT_NEAR(claimed, bound, bound * 1e-9);
}

// The proof's sentences about RatioSums and ResidualCounts: what one unit adds, exactly.
TEST(TargetScales, SumsStayWithinTheirSensitivity) {
    NoInterrupt interrupt;
    for (const bool units : {false, true}) {
        DataShape shape;
        shape.task = Task::kRegression;
        shape.amounts = true;
        shape.rows = units ? 40 : 1;
        shape.units = units ? 1 : 0;
        for (unsigned char key = 1; key < 30; key++) {
            shape.key = key;
            const Dataset dataset = RandomDataset(shape);
            for (const int shift : {0, 5}) {
                BasisRows rows(dataset, BestSimd(), interrupt, shift);
                rows.AddToBase(ToFixed(key % 3 - 1.0));
                ExpectWithin(rows.RatioSums({5, 5}, {4, key % 2 == 0 ? 5.0 : -2000.0}, 6),
                             rows.StepsPerOne());
                ExpectWithin(rows.ResidualCounts({-0.5F, 0, 0.5F}), rows.StepsPerOne());
            }
        }
    }
}

}  // namespace
}  // namespace dpboost
