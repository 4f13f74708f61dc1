// The share of the positive class in a training's result: what was released anyway, and how far it can be trusted.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/training_call.h"

namespace dpboost {
namespace {

constexpr int kRows = 400;

TrainingCall CallOf(const std::string& method) {
    TrainingCall call("{\"epsilon\": 2, \"method\": \"" + method + "\"" +
                      (method == "pure_trees" ? "" : ", \"trees\": 2") + ", \"bounds\": {\"x\": [0, 1]}}");
    call.schema().target.kind = ValueKind::kBoolean;
    call.Feature("x", ValueKind::kFloat8);
    return call;
}

std::unique_ptr<TrainingCore> Ready(const std::string& method, int positives) {
    std::unique_ptr<TrainingCore> training = CallOf(method).Begin();
    training->Calibrate({});
    for (int i = 0; i < kRows; i++)
        AppendRow(*training, i < positives ? 1 : 0, {i % 7 / 7.0});
    return training;
}

std::string NoteOf(const std::string& method, int positives) {
    const auto training = Ready(method, positives);
    ZeroNoise noise;
    TrainWithoutNoise(*training, noise);
    const Json result(training->Describe({"m", "ana", 1, 1, nullptr, 0}));
    const JsonValue* rate = result->Find("base_rate");
    if (rate == nullptr)
        return "no rate";
    EXPECT_NEAR(rate->Find("value")->number, positives / static_cast<double>(kRows),
                rate->Find("noise")->number / 5)
        << method;
    return rate->Find("note") == nullptr ? "" : std::string(rate->Find("note")->view());
}

TEST(BaseRateTest, IsToldInWordsWhereItMayBeNoneOrAll) {
    for (const char* method : {"auto", "sbdt"}) {
        EXPECT_EQ(NoteOf(method, kRows / 2), "") << method;
        EXPECT_EQ(NoteOf(method, 0),
                  "Within its noise, no row has the positive class \"true\". Is it the right one?");
        EXPECT_EQ(NoteOf(method, kRows),
                  "Within its noise, every row has the positive class \"true\". Is it the right one?");
    }
}

TEST(BaseRateTest, IsLeftOutWhereNothingWasReleased) {
    EXPECT_EQ(NoteOf("pure_trees", 100), "no rate");
    TrainingCall call("{\"epsilon\": 2, \"bounds\": {\"x\": [0, 1]}, \"target_range\": [0, 1]}");
    const auto numbers = call.Feature("x", ValueKind::kFloat8).Begin();
    numbers->Calibrate({});
    AppendRow(*numbers, 0.5, {0.5});
    ZeroNoise noise;
    TrainWithoutNoise(*numbers, noise);
    EXPECT_EQ(Json(numbers->Describe({"m", "ana", 1, 1, nullptr, 0}))->Find("base_rate"), nullptr);
}

// A unit's labels and counts are scaled down together in `sbdt`, and not in `auto`.
TEST(BaseRateTest, OfPersonsWithSeveralRows) {
    for (const bool sbdt : {false, true}) {
        TrainingCall call = CallOf(sbdt ? "sbdt" : "auto");
        call.schema().has_units = true;
        const auto training = call.Begin();
        training->Calibrate({});
        for (int i = 0; i < kRows; i++)
            AppendRow(*training, i % 100 < 25 ? 1 : 0, {i % 7 / 7.0}, i % 100);
        ZeroNoise noise;
        TrainWithoutNoise(*training, noise);
        const Json result(training->Describe({"m", "ana", 1, 1, nullptr, 0}));
        ASSERT_EQ(result->Find("base_rate") != nullptr, sbdt);
        if (sbdt) {
            EXPECT_NEAR(result->Find("base_rate")->Find("value")->number, 0.25, 0.01);
        }
    }
}

// A misspelt class trains on nothing, and rows of the one that was meant are left out: the result says which.
TEST(BaseRateTest, OfSeveralClasses) {
    for (const char* method : {"auto", "sbdt"}) {
        for (const bool units : {false, true}) {
            TrainingCall call("{\"epsilon\": 2, \"method\": \"" + std::string(method) +
                              "\", \"trees\": 2, \"bounds\": {\"x\": [0, 1]}, "
                              "\"classes\": [\"red\", \"green\", \"bleu\"]}");
            call.schema().target.kind = ValueKind::kText;
            call.schema().has_units = units;
            const auto training = call.Feature("x", ValueKind::kFloat8).Begin();
            training->Calibrate({});
            for (int i = 0; i < 4 * kRows; i++)
                AppendRow(*training, i % 4 == 0 ? 1 : 0, {i % 7 / 7.0}, i);
            ZeroNoise noise;
            TrainWithoutNoise(*training, noise);
            const Json result(training->Describe({"m", "ana", 1, 1, nullptr, 0}));
            EXPECT_EQ(result->Find("base_rate"), nullptr);
            const JsonValue* shares = result->Find("class_shares");
            ASSERT_NE(shares, nullptr) << method;
            EXPECT_NEAR(shares->Find("values")->Find("red")->number, 0.75, 0.02);
            EXPECT_NEAR(shares->Find("values")->Find("bleu")->number, 0, 0.02);
            ASSERT_NE(shares->Find("note"), nullptr) << method;
            EXPECT_EQ(
                shares->Find("note")->view(),
                "Within its noise, no row has the class \"bleu\". Rows of classes that are not listed are "
                "left out. Is it spelt right?");
        }
    }
}

// The server that coordinates others has no rows, and does not know whether theirs are those of units.
TEST(BaseRateTest, IsLeftOutWhereServersTrainTogether) {
    TrainingCall call = CallOf("auto");
    call.schema().parties = NoiseParties{3, 1};
    const auto training = call.Begin();
    training->Calibrate({});
    for (int i = 0; i < kRows; i++)  // the others' sums stand for rows there
        AppendRow(*training, i % 4 == 0 ? 1 : 0, {i % 7 / 7.0});
    ZeroNoise noise;
    TrainWithoutNoise(*training, noise);
    EXPECT_EQ(Json(training->Describe({"m", "ana", 1, 1, nullptr, 0}))->Find("base_rate"), nullptr);
}

// Its noise is neither more nor less than it says: the mean square of 200 standardised errors is 1 within six standard
// deviations (0.1 each).
TEST(BaseRateTest, HasTheNoiseThatItSays) {
    constexpr int kTrainings = 200;
    for (const char* method : {"auto", "sbdt"}) {
        double squares = 0;
        for (int i = 0; i < kTrainings; i++) {
            const auto training = Ready(method, 100);
            NoInterrupt interrupt;
            NoProgress progress;
            ChaChaSource::Seed seed{static_cast<unsigned char>(i), static_cast<unsigned char>(i >> 8), 7};
            training->FinishRows(interrupt);
            training->Train(Cashier::Receipt(training->plan_bytes()), std::move(seed), interrupt, progress);
            const Json result(training->Describe({"m", "ana", 1, 1, nullptr, 0}));
            const JsonValue* rate = result->Find("base_rate");
            const double error = rate->Find("value")->number - 0.25;
            squares += std::pow(error / rate->Find("noise")->number, 2);
        }
        EXPECT_NEAR(squares / kTrainings, 1, 0.6) << method;
    }
}

}  // namespace
}  // namespace dpboost
