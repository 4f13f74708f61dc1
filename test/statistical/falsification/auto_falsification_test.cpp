// Tries to falsify the privacy of whole trainings of `auto` on two neighbouring tables: how well does the
// best test (of the likelihood ratio of everything the training released) tell them apart? mu-Gaussian-DP
// allows a difference of at most 2 Phi(mu/2) - 1 between the probabilities of "ratio above 1" under the two
// tables. Exact noise, fixed seeds; false-alarm rate below 1e-9 (Hoeffding).
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "learner/auto/auto.h"
#include "privacy/accountant/gdp.h"
#include "support/audit/advantage.h"
#include "support/audit/last_row.h"
#include "support/statistics.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr int kTrainings = 4000;
constexpr double kEpsilon = 4;
constexpr double kDelta = 1e-6;

Model Train(const Dataset& dataset, Random& random, NoiseSource& noise) {
    const bool counts = dataset.target().task() == Task::kRegression;
    return TrainWith(kAuto, dataset, kEpsilon, kDelta, {Given("objective", counts ? "poisson" : "logistic")},
                     random, noise);
}

// 30 rows, and the same without the last one, whose label and codes are extreme.
Dataset Table(bool counts, bool with_last) {
    DataShape shape = SmallShape();
    shape.task = counts ? Task::kRegression : Task::kBinary;
    shape.counts = counts;
    return WithLastRow(shape, with_last ? std::optional<float>(1.0F) : std::nullopt);
}

double AdvantageOf(bool counts, double noise_factor) {
    return Advantage(Table(counts, true), Table(counts, false), noise_factor, kTrainings, Train);
}

double Allowed() {
    return 1 - 2 * NormalUpperTail(GdpMu(kEpsilon, kDelta) / 2);
}

// P(each of two means is off by more than t) <= 2 exp(-2 n t^2).
double Slack() {
    return 2 * std::sqrt((kLogFalseAlarm + std::log(4.0)) / (2 * kTrainings));
}

TEST(AutoFalsification, NeighboursCannotBeToldApartBetterThanClaimed) {
    EXPECT_LE(AdvantageOf(false, 1), Allowed() + Slack());
}

TEST(AutoFalsification, HalfTheNoiseIsFound) {
    EXPECT_GT(AdvantageOf(false, 0.5), Allowed() + Slack());
}

TEST(AutoFalsification, OfCountsTheyCannotEither) {
    EXPECT_LE(AdvantageOf(true, 1), Allowed() + Slack());
}

TEST(AutoFalsification, HalfTheNoiseOfCountsIsFound) {
    EXPECT_GT(AdvantageOf(true, 0.5), Allowed() + Slack());
}

}  // namespace
}  // namespace dpboost
