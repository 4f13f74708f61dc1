// Tries to falsify the privacy of trainings on several classes: of a row that is there or not, and of one that changes its
// class, which is two steps (it leaves, and comes back as another). The best test, of the likelihood ratio of everything a
// training of `auto` released, must not tell the tables apart better than mu-Gaussian-DP allows: 2 Phi(k mu / 2) - 1 at k
// steps; and it does at half the noise. Exact noise, fixed seeds; false-alarm rate below 1e-9 (Hoeffding). The same for
// the one vector of an evaluation.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "learner/auto/auto.h"
#include "learner/evaluation/evaluation.h"
#include "privacy/accountant/gdp.h"
#include "support/audit/advantage.h"
#include "support/audit/last_row.h"
#include "support/evaluated.h"
#include "support/statistics.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr int kTrainings = 4000;
constexpr double kEpsilon = 4;
constexpr double kDelta = 1e-6;

// 30 rows; the last one, with extreme codes, is of this class or not there.
Dataset Table(std::optional<float> last_class) {
    DataShape shape = SmallShape();
    shape.task = Task::kClasses;
    shape.classes = 3;
    return WithLastRow(shape, last_class);
}

double TrainingAdvantage(const Dataset& first, const Dataset& second, double noise_factor) {
    return Advantage(first, second, noise_factor, kTrainings,
                     [](const Dataset& table, Random& random, NoiseSource& noise) {
                         TrainWith(kAuto, table, kEpsilon, kDelta, {}, random, noise);
                     });
}

double Allowed(int steps) {
    return 1 - 2 * NormalUpperTail(steps * GdpMu(kEpsilon, kDelta) / 2);
}

// P(each of two means is off by more than t) <= 2 exp(-2 n t^2).
double Slack() {
    return 2 * std::sqrt((kLogFalseAlarm + std::log(4.0)) / (2 * kTrainings));
}

TEST(ClassesFalsification, ARowThatIsThereOrNot) {
    EXPECT_LE(TrainingAdvantage(Table(2.0F), Table({}), 1), Allowed(1) + Slack());
    EXPECT_GT(TrainingAdvantage(Table(2.0F), Table({}), 0.5), Allowed(1) + Slack());
}

TEST(ClassesFalsification, ARowThatChangesItsClass) {
    EXPECT_LE(TrainingAdvantage(Table(2.0F), Table(0.0F), 1), Allowed(2) + Slack());
    EXPECT_GT(TrainingAdvantage(Table(2.0F), Table(0.0F), 0.3), Allowed(2) + Slack());
}

// The model is public and the same; the row is taken for a wrong class with certainty, or is not there.
TEST(ClassesFalsification, AnEvaluation) {
    const Dataset with = Table(2.0F), without = Table({});
    Model model(with.features(), with.target(), Link::kSoftmax);
    model.AddToBase(0, ToFixed(20));
    const auto draw = [&](const Dataset& table, Random&, NoiseSource& noise) {
        Plan plan = EvaluationPlan(model.target(), kEpsilon, kDelta);
        Releaser releaser(plan, noise);
        NoInterrupt interrupt;
        Evaluate(model, 0, table, releaser, interrupt);
    };
    EXPECT_LE(Advantage(with, without, 1, kTrainings, draw), Allowed(1) + Slack());
    EXPECT_GT(Advantage(with, without, 0.5, kTrainings, draw), Allowed(1) + Slack());
}

}  // namespace
}  // namespace dpboost
