// "weight" and "class_weights": rows count as shares of the largest weight, never more; probabilities stay true.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "learner/rows/additive/basis_rows.h"
#include "support/exact_sums.h"
#include "support/training_call.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

TrainingCall Call(const std::string& options, ValueKind target = ValueKind::kFloat8) {
    TrainingCall call("{\"epsilon\": 20, \"bounds\": {\"x\": [0, 1], \"w\": [0, 4]}, " + options + "}");
    call.schema().target.kind = target;
    call.Feature("x", ValueKind::kFloat8).Feature("w", ValueKind::kFloat8);
    return call;
}

struct Row {
    double target, x, w;
};

Model Train(const TrainingCall& call, const std::vector<Row>& rows) {
    const std::unique_ptr<TrainingCore> core = call.Begin();
    core->Calibrate({});
    for (const Row& row : rows)
        AppendRow(*core, row.target, {row.x, row.w});
    ZeroNoise noise;
    return TrainWithoutNoise(*core, noise);
}

double PredictAt(const Model& model, double x) {
    const uint16_t codes[2] = {Encoder(model.features()[0]).Number(x), 0};  // the second if it is a feature
    return model.Predict(codes);
}

// Half of the rows say 0.4 and half say 0.6, everywhere; weights decide.
TEST(Weights, ANumberFollowsItsWeights) {
    std::vector<Row> rows;
    for (int i = 0; i < 8000; i++)
        rows.push_back({i % 2 == 0 ? 0.4 : 0.6, i / 8000.0, i % 2 == 0 ? 1.0 : 3.0});
    const Model model = Train(Call("\"weight\": \"w\", \"target_range\": [0, 1]"), rows);
    ASSERT_EQ(model.features().size(), 1u) << "the weight is no feature";
    EXPECT_EQ(model.features()[0].name(), "x");
    for (const double x : {0.1, 0.5, 0.9})
        EXPECT_NEAR(PredictAt(model, x), 0.55, 0.01);
}

TEST(Weights, MissingOnesCountNothingAndLargeOnesAreClamped) {
    std::vector<Row> rows;
    for (int i = 0; i < 9000; i++)
        rows.push_back({i % 3 == 0   ? 0.4
                        : i % 3 == 1 ? 1.0
                                     : 0.6,
                        i / 9000.0,
                        i % 3 == 0   ? 4.0
                        : i % 3 == 1 ? kMissing
                                     : 1e9});
    const Model model = Train(Call("\"weight\": \"w\", \"target_range\": [0, 1]"), rows);
    EXPECT_NEAR(PredictAt(model, 0.5), 0.5, 0.01);
}

TEST(Weights, ProbabilitiesStayTrueUnderClassWeights) {
    std::vector<Row> rows;
    ChaChaSource source = TestSource(31);
    Random random(source);
    for (int i = 0; i < 20000; i++)
        rows.push_back({random.Below(100) < 10 ? 1.0 : 0.0, i / 20000.0, 0.0});
    for (const char* weights : {"{\"1\": 9}", "{\"1\": 0.25}"}) {
        const Model model =
            Train(Call(std::string("\"task\": \"classification\", \"class_weights\": ") + weights), rows);
        for (const double x : {0.1, 0.5, 0.9})
            EXPECT_NEAR(PredictAt(model, x), 0.1, 0.015) << weights;
    }
}

// Proof in numbers: a row's part in any sum is its share of what it would be, rounded towards zero.
TEST(Weights, ARowAddsItsShareAndNoMore) {
    DataShape shape;
    shape.rows = 1;
    const Dataset full = RandomDataset(shape);
    NoInterrupt interrupt;
    for (const uint16_t weight : {uint16_t{0}, uint16_t{1}, uint16_t{5000}, kFullWeight, uint16_t{65535}}) {
        DatasetBuilder builder(full.features(), full.target(), false, {}, true);
        builder.Grow();
        for (size_t f = 0; f < full.columns(); f++)
            builder.SetCode(f, full.Code(0, f));
        builder.AppendRow(full.Label(0), {}, weight);
        const Dataset weighted = builder.Finish(interrupt);
        BasisRows rows(full, BestSimd(), interrupt), shares(weighted, BestSimd(), interrupt);
        Basis basis;
        basis.SetIntercept(kBasisOne);
        rows.SetBasis(basis);
        shares.SetBasis(basis);
        const auto objective = MakeObjective(ObjectiveKind::kLogistic, full.target(), 0.3, 1);
        const double share = std::min<double>(weight, kFullWeight) / kFullWeight;
        const auto expect_share = [&](const std::vector<int64_t>& of_full,
                                      const std::vector<int64_t>& of_share) {
            for (size_t i = 0; i < of_full.size(); i++) {
                EXPECT_NEAR(static_cast<double>(of_share[i]), share * static_cast<double>(of_full[i]),
                            kBasisOne);
                EXPECT_LE(std::abs(of_share[i]), std::abs(of_full[i]));
            }
        };
        expect_share(ExactSums(rows.GradientSums(*objective)), ExactSums(shares.GradientSums(*objective)));
        expect_share(ExactSums(rows.CountSums()), ExactSums(shares.CountSums()));
        expect_share(ExactSums(rows.LabelSums(*objective)), ExactSums(shares.LabelSums(*objective)));
        expect_share(ExactSums(rows.LabelCounts({0.5F})), ExactSums(shares.LabelCounts({0.5F})));
        expect_share(ExactSums(rows.RatioSums({1, 0}, {1, 0}, 6)),
                     ExactSums(shares.RatioSums({1, 0}, {1, 0}, 6)));
    }
}

std::string Refusal(const std::string& options) {
    try {
        Call(options).Begin();
    } catch (const Error& error) {
        return error.message();
    }
    return "";
}

TEST(Weights, Refusals) {
    EXPECT_EQ(Refusal("\"weight\": \"w\", \"target_range\": [0, 1]"), "");
    EXPECT_EQ(Refusal("\"weight\": \"v\", \"target_range\": [0, 1]"),
              "weight \"v\" is no column of this training");
    EXPECT_EQ(Refusal("\"weight\": 3, \"target_range\": [0, 1]"),
              "option \"weight\" must be the name of a column");
    EXPECT_EQ(Refusal("\"weight\": \"w\", \"target_range\": [0, 1], \"rows_hint\": 100"),
              "option \"rows_hint\" cannot be combined with weights");
    EXPECT_EQ(Refusal("\"weight\": \"w\", \"target_range\": [0, 1], \"method\": \"sbdt\""),
              "option \"weight\" is not used by method \"sbdt\"");
    EXPECT_EQ(Refusal("\"class_weights\": {\"1\": 2}, \"target_range\": [0, 1]"),
              "option \"class_weights\" is for classification only");
    EXPECT_EQ(Refusal("\"class_weights\": {\"2\": 2}, \"task\": \"classification\""),
              "option \"class_weights\" names \"2\", which is no class of the target");
    EXPECT_EQ(Refusal("\"class_weights\": {\"1\": 0}, \"task\": \"classification\""),
              "option \"class_weights\" must be an object of classes, each with a number above 0");
    EXPECT_EQ(Refusal("\"class_weights\": {\"1\": 2000}, \"task\": \"classification\""),
              "option \"class_weights\" must be within a factor of 1000");
}

}  // namespace
}  // namespace dpboost
