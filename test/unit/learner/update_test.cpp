// Learners that go on from a model: where rows start, what is averaged and faded, and what is not bought again.
#include <gtest/gtest.h>

#include <cmath>

#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "learner/rows/start_scores.h"
#include "model/scaled.h"
#include "privacy/accountant/gdp.h"
#include "support/continue_with.h"
#include "support/thrown.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

Dataset Rows(Task task = Task::kBinary, size_t rows = 700, unsigned char key = 1) {
    DataShape shape;
    shape.task = task;
    shape.rows = rows;
    shape.key = key;
    return RandomDataset(shape);
}

const std::vector<GivenOption> kFewTrees = {Given("trees", 16), Given("depth", 3), Given("subsample", 1)};

Model Exact(const MethodInfo& method, const Dataset& rows, const std::vector<GivenOption>& given,
            Random& random, double epsilon = 1) {
    ZeroNoise noise;
    return TrainWith(method, rows, epsilon, 1e-6, given, random, noise);
}

std::vector<int64_t> Scores(const Model& model, const Dataset& rows) {
    std::vector<int64_t> scores;
    std::vector<uint16_t> codes(rows.columns());
    for (size_t row = 0; row < rows.rows(); row++) {
        rows.CopyRow(row, codes.data());
        scores.push_back(model.Score(codes.data()));
    }
    return scores;
}

TEST(StartScoresTest, AreTheModels) {
    ChaChaSource source = TestSource(5);
    Random random(source);
    const Dataset rows = Rows();
    const Model model = Exact(kSbdt, rows, kFewTrees, random);
    const std::vector<int64_t> scores = Scores(model, rows);
    StartScores start(model, rows);
    for (size_t row = 0; row < rows.rows(); row++)
        ASSERT_EQ(*start.Of(row), scores[row]);
}

// A forged model may say anything; nothing overflows.
TEST(StartScoresTest, StayWithinBounds) {
    const Dataset rows = Rows();
    for (const int sign : {-1, 1}) {
        Model model(rows.features(), rows.target(), Link::kLogistic);
        model.AddToBase(sign * INT32_MAX);
        model.AddTable(0, std::vector<int32_t>(rows.features()[0].cells(), sign * INT32_MAX));
        StartScores start(model, rows);
        EXPECT_EQ(*start.Of(0), sign * kMostStart);
        for (const MethodInfo* method : {&kAuto, &kSbdt}) {
            ChaChaSource source = TestSource(5);
            Random random(source);
            ExactNoise noise(random);
            const Model next = ContinueWith(*method, rows, model, 1, 1e-6, {}, {}, random, noise);
            EXPECT_TRUE(std::isfinite(next.Predict(std::vector<uint16_t>(rows.columns(), 0).data())));
        }
    }
}

TEST(StartScoresTest, OfAnotherModelAreRefused) {
    const Dataset rows = Rows();
    const Model model({FeatureSpec::Boolean("b")}, rows.target(), Link::kLogistic);
    EXPECT_EQ(CodeOf([&] { StartScores(model, rows); }), ErrorCode::kInternal);
}

TEST(ScaledTest, MultipliesAllScores) {
    ChaChaSource source = TestSource(5);
    Random random(source);
    const Dataset rows = Rows();
    Model model = Exact(kSbdt, rows, kFewTrees, random);
    Evidence evidence;
    evidence.bands.resize(rows.features().size());
    evidence.bands[0].assign(rows.features()[0].cells(), 3.0F);
    model.SetEvidence(evidence);
    const std::vector<int64_t> before = Scores(model, rows), after = Scores(Scaled(model, 0.5, 0.5), rows),
                               faded = Scores(Scaled(model, 0.5, 1), rows),
                               bare = Scores(Scaled(model, 0, 1), rows);
    for (size_t row = 0; row < rows.rows(); row++) {
        EXPECT_NEAR(static_cast<double>(after[row]), static_cast<double>(before[row]) / 2, 40);
        EXPECT_NEAR(static_cast<double>(faded[row]), static_cast<double>(before[row] + model.base()) / 2, 40);
        EXPECT_EQ(bare[row], model.base());
    }
    EXPECT_EQ(Scaled(model, -0.5, 1).evidence().bands[0][0], 1.5F);
    EXPECT_EQ(Scaled(model, 1, 1).Serialize(), model.Serialize());
}

// Without noise and fading, 16 trees and 16 more are the 32 trees of one training, but for what leaves expect of noise.
TEST(ContinueTest, SbdtGoesOnWhereTheModelEnds) {
    const Dataset rows = Rows();
    ChaChaSource once = TestSource(5), twice = TestSource(5);
    Random all(once), parts(twice);
    std::vector<GivenOption> given = kFewTrees;
    const Model first = Exact(kSbdt, rows, given, parts, 100);
    const Continued continued{first, given, 1};
    const std::unique_ptr<Learner> learner =
        kSbdt.make(kSbdt, {rows.features(), rows.target(), 100, 1e-6, &continued}, given);
    Plan plan = PlanOf(*learner, 100, 1e-6);
    ZeroNoise noise;
    const Model next = ContinueLearner(*learner, rows, first, plan, parts, noise);
    given[0] = Given("trees", 32);
    const Model whole = Exact(kSbdt, rows, given, all, 100);
    const std::vector<int64_t> continued_scores = Scores(next, rows), scores = Scores(whole, rows);
    for (size_t row = 0; row < rows.rows(); row++)
        EXPECT_NEAR(FromFixed(continued_scores[row]), FromFixed(scores[row]), 0.01);
    EXPECT_NE(Scores(first, rows), scores);
}

// Of an update with all the weight on the model only the base moves; with none, it is another training.
TEST(ContinueTest, AutoAveragesAsItIsTold) {
    const Dataset rows = Rows(Task::kBinary, 3000);
    ChaChaSource source = TestSource(5);
    Random random(source);
    const Model first = Exact(kAuto, rows, {}, random);
    const auto update = [&](double weight) {
        const Continued continued{first, {}, weight};
        const std::unique_ptr<Learner> learner =
            kAuto.make(kAuto, {rows.features(), rows.target(), 1, 1e-6, &continued}, {});
        Plan plan = PlanOf(*learner, 1, 1e-6);
        ZeroNoise noise;
        return ContinueLearner(*learner, rows, first, plan, random, noise);
    };
    const std::vector<int64_t> before = Scores(first, rows), same = Scores(update(1), rows),
                               half = Scores(update(0.5), rows), other = Scores(update(0), rows);
    for (size_t row = 0; row < rows.rows(); row++) {
        EXPECT_NEAR(static_cast<double>(same[row] - same[0]), static_cast<double>(before[row] - before[0]),
                    100);
        const double between = 0.5 * static_cast<double>(before[row] - before[0] + other[row] - other[0]);
        EXPECT_NEAR(static_cast<double>(half[row] - half[0]), between, 0.3 * kFixedScale);
    }
    EXPECT_EQ(update(0.5).evidence().bands.size(), rows.features().size());
}

// A target that uses a hundredth of its range: labels are stretched to a window, the model is not.
TEST(ContinueTest, AutoKeepsTheScaleOfANarrowTarget) {
    DatasetBuilder builder({FeatureSpec::Levels("l", {"a", "b"})}, TargetSpec::Regression(0, 1000), false);
    for (int i = 0; i < 20000; i++) {
        if (builder.Full())
            builder.Grow();
        float label = 0;
        builder.target().Label(400 + 4 * (i % 2), &label);
        builder.SetCode(0, static_cast<uint16_t>(i % 2));
        builder.AppendRow(label);
    }
    NoInterrupt interrupt;
    const Dataset rows = builder.Finish(interrupt);
    ChaChaSource source = TestSource(5);
    Random random(source);
    ExactNoise noise(random);
    const Model first = TrainWith(kAuto, rows, 4, 1e-6, {}, random, noise);
    const Model next = ContinueWith(kAuto, rows, first, 4, 1e-6, {}, {}, random, noise);
    for (uint16_t code : {0, 1}) {
        EXPECT_NEAR(first.Predict(&code), 400 + 4 * code, 1);
        EXPECT_NEAR(next.Predict(&code), 400 + 4 * code, 1);
    }
}

// The world has turned round: today's rows are believed, not the model.
TEST(ContinueTest, AutoAsksWhetherTheModelStillHolds) {
    const auto rows_of = [](bool turned) {
        DatasetBuilder builder({FeatureSpec::Levels("l", {"a", "b"})}, TargetSpec::Binary(), false);
        for (int i = 0; i < 20000; i++) {
            if (builder.Full())
                builder.Grow();
            builder.SetCode(0, static_cast<uint16_t>(i % 2));
            builder.AppendRow((i % 10 < 8) == ((i % 2 == 1) != turned) ? 1.0F : 0.0F);
        }
        NoInterrupt interrupt;
        return builder.Finish(interrupt);
    };
    ChaChaSource source = TestSource(5);
    Random random(source);
    ExactNoise noise(random);
    const Model first = TrainWith(kAuto, rows_of(false), 2, 1e-6, {}, random, noise);
    const Model next = ContinueWith(kAuto, rows_of(true), first, 2, 1e-6, {}, {}, random, noise);
    const uint16_t a = 0, b = 1;
    EXPECT_LT(first.Predict(&a) + 0.3, first.Predict(&b));
    EXPECT_GT(next.Predict(&a), next.Predict(&b) + 0.3);
}

// By how much the log odds of the positive class have changed says how much of the model stays.
TEST(ContinueTest, SbdtForgetsAModelOfAnotherBaseRate) {
    SbdtOptions options(Task::kBinary, 1);
    options.FitToUpdate();
    const double weight = options.OldWeight(0, 0);
    EXPECT_GT(weight, 0.5);
    for (const int sign : {-1, 1}) {
        EXPECT_DOUBLE_EQ(options.OldWeight(0, ToFixed(sign * 0.6)), weight);
        EXPECT_NEAR(options.OldWeight(ToFixed(sign * 1.05), 0), weight / 2, 1e-3);
        EXPECT_EQ(options.OldWeight(ToFixed(-1), ToFixed(-1 + sign * 1.5)), 0);
    }
    EXPECT_EQ(options.OldWeight(INT32_MAX, INT32_MIN), 0);
    options.fades_with_base = false;  // the call has said how much
    EXPECT_DOUBLE_EQ(options.OldWeight(0, ToFixed(3)), weight);
    SbdtOptions regression(Task::kRegression, 1);
    regression.FitToUpdate();
    EXPECT_DOUBLE_EQ(regression.OldWeight(0, ToFixed(1)), weight);
}

// Nobody is left: an update is nothing but noise, and the model stays what it was.
TEST(ContinueTest, AutoKeepsTheModelWhereThereIsNothingNew) {
    const Dataset rows = Rows(Task::kBinary, 20000), none = Rows(Task::kBinary, 0);
    ChaChaSource source = TestSource(5);
    Random random(source);
    ExactNoise noise(random);
    Model first = TrainWith(kAuto, rows, 1, 1e-6, {}, random, noise);
    Evidence evidence = first.evidence();
    evidence.noise = NoiseKind::kGaussian;
    evidence.mu = GdpMu(1, 1e-6);
    first.SetEvidence(std::move(evidence));
    const std::vector<int64_t> before = Scores(first, rows);
    const std::vector<int64_t> after =
        Scores(ContinueWith(kAuto, none, first, 0.05, 1e-6, {}, {}, random, noise), rows);
    double moved = 0, spread = 0;
    for (size_t row = 1; row < rows.rows(); row++) {
        const auto old = static_cast<double>(before[row] - before[0]);
        const double change = static_cast<double>(after[row] - after[0]) - old;
        moved += change * change;
        spread += old * old;
    }
    EXPECT_LT(std::sqrt(moved / spread), 0.1);
}

}  // namespace
}  // namespace dpboost
