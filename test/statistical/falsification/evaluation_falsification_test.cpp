// Tries to falsify the privacy of an evaluation on two neighbouring tables: how well does the best test (of the likelihood
// ratio of the noisy sums) tell them apart? mu-Gaussian-DP allows a difference of at most 2 Phi(mu/2) - 1 between the
// probabilities of "ratio above 1" under the two tables. And whether the intervals of its figures hold as often as they
// say. Exact noise, fixed seeds; false-alarm rate of the first below 1e-9 (Hoeffding).
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "learner/evaluation/evaluation_rows.h"
#include "privacy/accountant/gdp.h"
#include "support/audit/transcript_noise.h"
#include "support/evaluated.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

constexpr int kDraws = 6000;
constexpr double kEpsilon = 2;
constexpr double kDelta = 1e-6;

// Ten rows, and the unit in question: one row in the bin of the highest scores, or fifty rows of one person there and
// elsewhere.
Dataset Table(const Model& model, bool with_unit, int unit_rows) {
    std::vector<AuditRow> rows;
    for (uint16_t i = 0; i < 10; i++)
        rows.push_back({{i, i, i}, i % 2 * 1.0F, i});
    for (int i = 0; with_unit && i < unit_rows; i++)
        rows.push_back({{15, static_cast<uint16_t>(i % 3), 15}, 1, 1 << 20});
    return AuditTable(model.features(), model.target().task(), true, rows);
}

// How often a release from `table` looks more like the larger one than like the smaller one.
double LooksLarger(const Model& model, const ScoreBins& bins, const Dataset& larger, const Dataset& smaller,
                   bool draw_from_larger, double factor, uint64_t seed) {
    NoInterrupt interrupt;
    const auto sums = [&](const Dataset& rows) {
        return model.target().task() == Task::kBinary ? ClassSums(model, bins, rows, interrupt)
                                                      : ValueSums(model, rows, interrupt);
    };
    ChaChaSource source = AuditSource(seed, 31);
    Random random(source);
    PlanRequest request;  // with charges for all draws: each is one evaluation
    request.epsilon = kEpsilon;
    request.delta = kDelta;
    request.mechanisms = {EvaluationRequest(model.target())};
    request.mechanisms[0].share = 1;
    request.mechanisms[0].parts = 2 * kDraws;
    Plan plan = Plan::Calibrate(request);
    int hits = 0;
    for (int i = 0; i < kDraws; i++) {
        Tape recorder(random, factor);
        Releaser(plan, recorder).Release(0, sums(draw_from_larger ? larger : smaller));
        ReplayingNoise replay(recorder.draws);
        Releaser(plan, replay).Release(0, sums(draw_from_larger ? smaller : larger));
        hits += (draw_from_larger ? replay.log_ratio : -replay.log_ratio) > 0 ? 1 : 0;
    }
    return static_cast<double>(hits) / kDraws;
}

double Advantage(Task task, int unit_rows, double factor) {
    const Model model = EvaluatedModel(task, task == Task::kBinary ? Link::kLogistic : Link::kIdentity);
    NoInterrupt interrupt;
    const ReferenceDraws reference(model, interrupt);
    const ScoreBins bins(model, reference, 64);
    const Dataset larger = Table(model, true, unit_rows), smaller = Table(model, false, unit_rows);
    return LooksLarger(model, bins, larger, smaller, true, factor, 1) -
           LooksLarger(model, bins, larger, smaller, false, factor, 2);
}

double Allowed() {
    return 1 - 2 * NormalUpperTail(GdpMu(kEpsilon, kDelta) / 2);
}

double Slack() {
    return 2 * std::sqrt((kLogFalseAlarm + std::log(4.0)) / (2 * kDraws));
}

TEST(EvaluationFalsification, ARowInAnExtremeBinCannotBeSeen) {
    EXPECT_LE(Advantage(Task::kBinary, 1, 1), Allowed() + Slack());
    EXPECT_GT(Advantage(Task::kBinary, 1, 0.5), Allowed() + Slack()) << "half the noise was not found out";
}

TEST(EvaluationFalsification, NorAUnitOfFiftyRows) {
    EXPECT_LE(Advantage(Task::kBinary, 50, 1), Allowed() + Slack());
    EXPECT_GT(Advantage(Task::kBinary, 50, 0.5), Allowed() + Slack()) << "half the noise was not found out";
}

TEST(EvaluationFalsification, NorAUnitOfARegression) {
    EXPECT_LE(Advantage(Task::kRegression, 50, 1), Allowed() + Slack());
    EXPECT_GT(Advantage(Task::kRegression, 50, 0.5), Allowed() + Slack())
        << "half the noise was not found out";
}

// How many of the intervals hold the figure of all rows, over evaluations of rows drawn anew. Of 1000 evaluations with a
// true coverage of .95 fewer than .92 are seen in 1 of 30,000 cases, of 400 in 1 of 250; seeds are fixed.
template <typename Rows>
void ExpectCoverage(const Model& model, size_t count, double epsilon, int runs, const Rows& rows_of,
                    double least = 0.92) {
    std::map<std::string, double> truth;
    for (const Figure& figure : ExactFigures(model, rows_of(400000, 1)))
        truth[figure.name] = *figure.value;
    std::map<std::string, int> covered;
    for (int run = 0; run < runs; run++) {
        ChaChaSource source = AuditSource(static_cast<uint64_t>(run), 32);
        Random random(source);
        ExactNoise noise(random);
        Plan plan = EvaluationPlan(model.target(), epsilon, kDelta);
        Releaser releaser(plan, noise);
        NoInterrupt interrupt;
        const Dataset rows = rows_of(count, 1000 + static_cast<uint64_t>(run));
        const auto expected = static_cast<double>(count);
        for (const Figure& figure : Evaluate(model, expected, rows, releaser, interrupt).figures)
            covered[figure.name] += figure.lower <= truth[figure.name] && truth[figure.name] <= figure.upper;
    }
    for (const auto& [name, count_covered] : covered) {
        if (name == "rows")
            continue;
        EXPECT_GE(count_covered, least * runs) << name;
        EXPECT_LE(count_covered, 0.995 * runs) << name;
    }
}

TEST(EvaluationCoverage, IntervalsHoldTheTruth) {
    const Model model = EvaluatedModel(Task::kBinary, Link::kLogistic);
    ExpectCoverage(model, 3000, 0.5, 1000,
                   [&](size_t count, uint64_t seed) { return EvaluatedRows(model, count, seed); });
}

TEST(EvaluationCoverage, OfARegressionToo) {
    const Model model = EvaluatedModel(Task::kRegression, Link::kIdentity);
    ExpectCoverage(model, 3000, 0.5, 1000,
                   [&](size_t count, uint64_t seed) { return EvaluatedRows(model, count, seed); });
}

// Few positives, so few bins, and probabilities that are not quite true.
TEST(EvaluationCoverage, OfARareClassToo) {
    Model model = EvaluatedModel(Task::kBinary, Link::kLogistic);
    model.AddToBase(ToFixed(-3.4));
    ExpectCoverage(model, 40000, 0.5, 400,
                   [&](size_t count, uint64_t seed) { return OtherRows(model, count, seed, 1.1, 0.3); });
    // And a model that is far off, in ten bins: there intervals hold less than they say.
    ExpectCoverage(
        model, 40000, 0.5, 400,
        [&](size_t count, uint64_t seed) { return OtherRows(model, count, seed, 1.4, 1.5); }, 0.83);
}

}  // namespace
}  // namespace dpboost
