// Ranges that a training finds itself: where they are, what they cost, and the memory that they take.
#include <gtest/gtest.h>

#include "support/training_call.h"
#include "training/training.h"

namespace dpboost {
namespace {

TrainingCall Call(const std::string& more) {
    TrainingCall call("{\"epsilon\": 2, \"method\": \"sbdt\", " + more + "}");
    call.schema().target.domain = Domain::Range("", 0, 10);
    return call;
}

TEST(TrainingRanges, FindsRangesAndEncodesByThem) {
    for (const bool units : {false, true}) {
        TrainingCall call = Call(
            "\"trees\": 2, \"subsample\": 1, \"bounds\": {\"x\": \"private\", \"n\": \"private\"}, \"bins\": "
            "8");
        call.Feature("x", ValueKind::kFloat8, Domain::Range("", 0, 1))
            .Feature("b", ValueKind::kBoolean)
            .Feature("n", ValueKind::kDate);
        call.schema().has_units = units;
        const auto training = call.Begin();
        training->Calibrate({});
        for (int i = 0; i < 4000; i++)
            AppendRow(*training, i % 10,
                      {17 + i % 70 + 0.5, static_cast<double>(i % 2), static_cast<double>(-i % 500)}, i);
        ZeroNoise noise;
        const Model model = TrainWithoutNoise(*training, noise);
        EXPECT_EQ(training->features_json(),
                  "[{\"name\": \"x\", \"lower\": 16, \"upper\": 128, \"bins\": 8}, {\"name\": \"b\", "
                  "\"levels\": [\"false\", "
                  "\"true\"]}, {\"name\": \"n\", \"type\": \"date\", \"lower\": \"1998-08-07\", \"upper\": "
                  "\"1999-12-24\", "
                  "\"bins\": 8}]");
        EXPECT_EQ(model.features()[0].upper(), 128);
        EXPECT_TRUE(model.features()[2].integer());
        EXPECT_FALSE(model.features()[0].integer());
    }
}

TEST(TrainingRanges, FindingRangesCostsAShareOfTheBudget) {
    const auto multiplier = [](const char* bounds) {
        TrainingCall call = Call(std::string("\"trees\": 20, \"bounds\": ") + bounds);
        call.Feature("x", ValueKind::kFloat8);
        const auto training = call.Begin();
        training->Calibrate({});
        return training->noise_multiplier();
    };
    EXPECT_GT(multiplier("\"private\""), 1.01 * multiplier("[0, 1]"));
}

// Recoding holds the rows twice for a moment, so fewer fit.
TEST(TrainingRanges, FindingRangesTakesMemory) {
    const auto rows_that_fit = [](const char* bounds) {
        TrainingCall call = Call(std::string("\"trees\": 2, \"bounds\": ") + bounds);
        for (int i = 0; i < 40; i++)
            call.Feature(("x" + std::to_string(i)).c_str(), ValueKind::kFloat8);
        call.schema().memory = 4 << 20;
        const auto training = call.Begin();
        int rows = 0;
        try {
            for (;; rows++)
                AppendRow(*training, 1, std::vector<double>(40, 0.5));
        } catch (const Error&) {
        }
        return rows;
    };
    EXPECT_LT(2 * rows_that_fit("\"private\""), rows_that_fit("[0, 1]"));
}

}  // namespace
}  // namespace dpboost
