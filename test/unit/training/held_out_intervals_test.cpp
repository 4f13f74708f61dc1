// Intervals of a training with a hold-out: the people set aside say what predictions leave over, within the evaluation's one
// draw, and the training spends nothing on it.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learner/evaluation/evaluation_rows.h"
#include "model/intervals.h"
#include "support/audit/audit.h"
#include "support/exact_sums.h"
#include "support/training_call.h"

namespace dpboost {
namespace {

struct Trained {
    Model model;
    std::string plan;
    size_t draws;
};

Trained Train(const std::string& options) {
    TrainingCall call("{\"epsilon\": 20, \"bounds\": {\"x\": [0, 1]}, \"target_range\": [0, 10]" + options +
                      "}");
    call.Feature("x", ValueKind::kFloat8);
    const std::unique_ptr<TrainingCore> core = call.Begin();
    core->Calibrate({});
    ChaChaSource source(ChaChaSource::Seed{4});
    Random random(source);
    for (int i = 0; i < 10000; i++) {
        const double x = i / 10000.0, chance = static_cast<double>(random.Below(1000)) / 1000;
        AppendRow(*core, 3 + 4 * x + 2 * (chance - 0.5), {x});
    }
    ZeroNoise noise;
    Model model = TrainWithoutNoise(*core, noise);
    return {std::move(model), core->plan_bytes(), noise.gaussian_draws};
}

TEST(HeldOutIntervals, AreDrawnWithTheEvaluationAndCover) {
    const Trained with = Train(", \"holdout\": 0.3, \"intervals\": true");
    const Trained without = Train(", \"holdout\": 0.3");
    EXPECT_EQ(with.draws, without.draws + kResidualBins);
    ASSERT_TRUE(with.model.evidence().residuals.has_value());
    EXPECT_FALSE(without.model.evidence().residuals.has_value());
    const std::vector<float>& counts = with.model.evidence().residuals->counts;
    EXPECT_NEAR(std::accumulate(counts.begin(), counts.end(), 0.0), 7000, 400) << "in rows of the training";
    EXPECT_EQ(with.model.table(0), without.model.table(0)) << "the training is the same";
    const Intervals intervals(with.model);
    const uint16_t code = 127;
    const Intervals::Ends ends = intervals.Around(with.model.Score(&code), 0.9);
    EXPECT_NEAR(ends.lower, 5 - 0.9, 0.25);
    EXPECT_NEAR(ends.upper, 5 + 0.9, 0.25);
}

// What the proof says of one unit, whatever its rows.
TEST(HeldOutIntervals, SumsStayWithinTheirSensitivity) {
    NoInterrupt interrupt;
    const std::vector<FeatureSpec> features = {AuditColumn("a", 4)};
    Model model(features, TargetSpec::Regression(-1, 1), Link::kIdentity);
    model.AddTable(0, {ToFixed(-3), ToFixed(0.2), ToFixed(0.9), ToFixed(5), 0});
    for (const size_t rows : {1U, 2U, 40U})
        for (const float label : {-1.0F, -0.3F, 1.0F})
            for (uint16_t code = 0; code < 5; code++) {
                const std::vector<AuditRow> unit(rows, AuditRow{{code}, label, 1});
                const Dataset dataset = AuditTable(features, Task::kRegression, rows > 1, unit);
                double claimed = 0, squares = 0;
                for (const int64_t value :
                     ExactSums(ValueAndResidualSums(model, dataset, interrupt), &claimed))
                    squares += static_cast<double>(value) * static_cast<double>(value);
                EXPECT_LE(std::sqrt(squares), claimed * (1 + 1e-12));
                EXPECT_GT(std::sqrt(squares), 0.5 * claimed);
            }
}

}  // namespace
}  // namespace dpboost
