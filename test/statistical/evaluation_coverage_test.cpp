// Whether the intervals of an evaluation's figures hold the truth as often as they say, over evaluations of rows drawn anew:
// `utility_intervals` and `utility_value_intervals` ask the same of many more worlds. Fixed seeds.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/evaluated.h"
#include "support/zero_noise.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;

// How many of the intervals hold the figure of all rows. Of 1000 evaluations with a true coverage of .95 fewer than .92 are
// seen in 1 of 30,000 cases, of 400 in 1 of 250.
template <typename Rows>
void ExpectCoverage(const Model& model, size_t count, double epsilon, int runs, const Rows& rows_of,
                    const std::vector<Figure>& of_all) {
    std::map<std::string, double> truth;
    for (const Figure& figure : of_all)
        truth[figure.name] = *figure.value;
    truth["rows"] = static_cast<double>(count);
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
        EXPECT_GE(count_covered, 0.92 * runs) << name;
        EXPECT_LE(count_covered, 0.995 * runs) << name;
    }
}

template <typename Rows>
void ExpectCoverage(const Model& model, size_t count, double epsilon, int runs, const Rows& rows_of) {
    ExpectCoverage(model, count, epsilon, runs, rows_of, ExactFigures(model, rows_of(400000, 1)));
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
    // And a model that is far off, in ten bins.
    ExpectCoverage(model, 40000, 0.5, 400,
                   [&](size_t count, uint64_t seed) { return OtherRows(model, count, seed, 1.4, 1.5); });
}

// Classes by the first feature, which the model makes too much of.
TEST(EvaluationCoverage, OfSeveralClassesToo) {
    const std::vector<FeatureSpec> features = EvaluatedModel(Task::kBinary, Link::kLogistic).features();
    const TargetSpec target = TargetSpec::Classes({"a", "b", "c"});
    Model model(features, target, Link::kSoftmax);
    std::vector<int32_t> table(17 * 3);
    for (size_t code = 0; code < 16; code++)
        table[code * 3 + code / 6] = ToFixed(2.5);
    model.AddTable(0, table);
    const auto rows_of = [&](size_t count, uint64_t seed) {
        ChaChaSource source = AuditSource(seed, 79);
        Random random(source);
        std::vector<AuditRow> rows;
        for (size_t i = 0; i < count; i++) {
            const auto code = static_cast<uint16_t>(random.Below(16));
            const uint64_t truth = random.Below(3) > 0 ? code / 6 : random.Below(3);
            rows.push_back({{code, 0, 0}, static_cast<float>(truth), static_cast<int64_t>(i)});
        }
        return AuditTable(features, target, false, rows);
    };
    // Of rows without noise, as many as there are: what the figures are about.
    Plan plan = EvaluationPlan(target, 1, kDelta);
    ZeroNoise none;
    Releaser releaser(plan, none);
    NoInterrupt interrupt;
    ExpectCoverage(model, 3000, 0.5, 1000, rows_of,
                   Evaluate(model, 0, rows_of(400000, 1), releaser, interrupt).figures);
}

}  // namespace
}  // namespace dpboost
