// Tries to falsify the privacy of an evaluation on two neighbouring tables: how well does the best test (of the likelihood
// ratio of the noisy sums) tell them apart? mu-Gaussian-DP allows a difference of at most 2 Phi(mu/2) - 1 between the
// probabilities of "ratio above 1" under the two tables. Exact noise, fixed seeds; false-alarm rate below 1e-9 (Hoeffding).
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

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

// Ten rows, and the unit in question: one row in the bin of the highest scores, or of a regression one whose label is as far as
// can be from what the model says; or fifty rows of one person there. They are alike: their mean shows most then.
Dataset Table(const Model& model, bool with_unit, int unit_rows) {
    std::vector<AuditRow> rows;
    for (uint16_t i = 0; i < 10; i++)
        rows.push_back({{i, i, i}, i % 2 * 1.0F, i});
    for (int i = 0; with_unit && i < unit_rows; i++)
        rows.push_back({model.target().task() == Task::kRegression ? std::vector<uint16_t>{0, 15, 0}
                                                                   : std::vector<uint16_t>{15, 0, 15},
                        1, 1 << 20});
    return AuditTable(model.features(), model.target(), true, rows);
}

// Of several classes: sure of the first, so that rows of the second are as wrong as can be.
Model ModelOf(Task task) {
    if (task != Task::kClasses)
        return EvaluatedModel(task, task == Task::kBinary ? Link::kLogistic : Link::kIdentity);
    Model model(EvaluatedModel(Task::kBinary, Link::kLogistic).features(),
                TargetSpec::Classes({"a", "b", "c"}), Link::kSoftmax);
    model.AddToBase(0, ToFixed(30));
    return model;
}

RawSums SumsOf(const Model& model, const ScoreBins* bins, const Dataset& rows) {
    NoInterrupt interrupt;
    if (model.target().task() == Task::kClasses)
        return ConfusionRows(model, rows, interrupt);
    return model.target().task() == Task::kBinary ? ClassSums(model, *bins, rows, interrupt)
                                                  : ValueSums(model, rows, interrupt);
}

// How often a release from `table` looks more like the larger one than like the smaller one.
double LooksLarger(const Model& model, const ScoreBins* bins, const Dataset& larger, const Dataset& smaller,
                   bool draw_from_larger, double factor, uint64_t seed) {
    const auto sums = [&](const Dataset& rows) { return SumsOf(model, bins, rows); };
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
    const Model model = ModelOf(task);
    std::optional<ScoreBins> bins;
    if (task == Task::kBinary) {
        NoInterrupt interrupt;
        const ReferenceDraws reference(model, interrupt);
        bins.emplace(model, reference, 64);
    }
    const Dataset larger = Table(model, true, unit_rows), smaller = Table(model, false, unit_rows);
    const ScoreBins* where = bins ? &*bins : nullptr;
    return LooksLarger(model, where, larger, smaller, true, factor, 1) -
           LooksLarger(model, where, larger, smaller, false, factor, 2);
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

TEST(EvaluationFalsification, NorARowOrAUnitOfSeveralClasses) {
    for (const int unit_rows : {1, 50}) {
        EXPECT_LE(Advantage(Task::kClasses, unit_rows, 1), Allowed() + Slack());
        EXPECT_GT(Advantage(Task::kClasses, unit_rows, 0.5), Allowed() + Slack())
            << "half the noise was not found out";
    }
}

}  // namespace
}  // namespace dpboost
