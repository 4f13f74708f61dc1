// What `auto` must be able to learn from inputs that users will have, with the noise that it has. Generated tables,
// fixed seeds; the bounds are several standard errors away from what is reached.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/scoring.h"
#include "bench/synthetic.h"
#include "learner/auto/auto.h"
#include "model/predictor.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// AUC or RMSE on one fifth of the rows of models trained on the others, mean over trainings.
using Measure = double (*)(const std::vector<double>& predictions, const std::vector<double>& values);
double Score(const EncodedTable& table, double epsilon, int trainings, Measure measure = nullptr,
             const std::vector<NumberChange>& changes = {}) {
    if (measure == nullptr)
        measure = table.target.task() == Task::kBinary ? Auc : Rmse;
    std::vector<uint32_t> train, test;
    for (uint32_t row = 0; row < table.rows(); row++)
        (row % 5 == 0 ? test : train).push_back(row);
    const Dataset dataset = table.Build(train);
    double sum = 0;
    for (int k = 0; k < trainings; k++) {
        ChaChaSource source = TestSource(static_cast<unsigned char>(100 + k));
        Random random(source);
        ExactNoise noise(random);
        AutoOptions options;
        options.objective = DefaultObjective(table.target.task());
        options.changes = changes;
        const AutoLearner learner(options, table.target);
        Plan plan = PlanOf(learner, epsilon, 5e-8);
        Predictor predictor(TrainLearner(learner, dataset, plan, random, noise));
        std::vector<double> predictions, values;
        for (const uint32_t row : test) {
            predictions.push_back(predictor.Predict(table.Row(row)));
            values.push_back(table.values[row]);
        }
        sum += measure(predictions, values);
    }
    return sum / trainings;
}

// 40 near-copies of one column add up to a problem that is forty times as steep: momentum must not swing there.
TEST(AutoAccuracy, CopiesOfAColumnDoNoHarm) {
    const EncodedTable table = MakeSynthetic("hidden");
    EXPECT_LT(Score(table, 1, 5), 0.7);
    EXPECT_LT(Score(table, 3, 5), 0.7);
}

// Counts of which most are 0: more budget must not make ranks worse.
TEST(AutoAccuracy, CountsWithManyZerosGainByBudget) {
    const EncodedTable table = MakeSynthetic("counts");
    const double some = Score(table, 1, 5), much = Score(table, 4, 5);
    EXPECT_GT(some, 0.65);
    EXPECT_GT(much, some - 0.002);
}

// No single column says anything here.
TEST(AutoAccuracy, FindsProductsOfTwoAndThreeColumns) {
    EXPECT_GT(Score(MakeSynthetic("xor2"), 1, 3), 0.9);
    EXPECT_GT(Score(MakeSynthetic("xor3"), 1, 3), 0.85);
}

// Columns that are much alike and matter by pairs: straight lines on each of them would hide the pairs (MAGIC is like that).
// The query that tells is what makes the difference.
TEST(AutoAccuracy, PairsOfLikeColumnsAreNotHidden) {
    EncodedTable table;
    std::vector<Encoder> encoders;
    for (int j = 0; j < 8; j++) {
        NumericRange range;
        range.lower = -4;
        range.upper = 4;
        table.features.push_back(FeatureSpec::Numeric("x" + std::to_string(j), range));
        encoders.emplace_back(table.features.back());
    }
    Synthetic random(7);
    for (int row = 0; row < 20000; row++) {
        const double first = random.Normal(), second = random.Normal();
        for (int j = 0; j < 8; j++)
            table.codes.push_back(
                encoders[static_cast<size_t>(j)].Number((j < 4 ? first : second) + 0.5 * random.Normal()));
        table.values.push_back(first + second + 3 * first * second + random.Normal() > 0 ? 1 : 0);
    }
    const std::vector<NumberChange> without = {{"lead_most", 0}};
    EXPECT_GT(Score(table, 0.5, 3), Score(table, 0.5, 3, nullptr, without) + 0.001);
}

// A range that is a thousand times too wide costs next to nothing, where there is signal.
TEST(AutoAccuracy, AWideTargetRangeIsNarrowed) {
    EncodedTable table = MakeSynthetic("collinear");
    const double right = Score(table, 2, 3);
    table.target = TargetSpec::Regression(-10000, 10000);
    EXPECT_LT(Score(table, 2, 3), 1.1 * right);
}

// A hundred columns that say nothing are not believed.
TEST(AutoAccuracy, UselessColumnsAreNotBelieved) {
    const EncodedTable table = MakeSynthetic("useless");
    double positives = 0;
    for (const double value : table.values)
        positives += value / static_cast<double>(table.rows());
    const double base = -positives * std::log(positives) - (1 - positives) * std::log(1 - positives);
    for (const double epsilon : {0.5, 4.0})
        EXPECT_LT(Score(table, epsilon, 4, LogLoss), 1.03 * base) << epsilon;
}

}  // namespace
}  // namespace dpboost
