// Tries to falsify the privacy of adassp's parts on neighbouring datasets: draws the noisy sums of X'X and
// X'g thousands of times with and without the unit that moves them most, and looks along that direction for a
// threshold that tells the two apart better than (epsilon, delta) allows. Half the noise must be caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dataset/dataset.h"
#include "learner/linear/adassp.h"
#include "learner/rows/linear/linear_rows.h"
#include "mechanism/chacha_source.h"
#include "support/exact_sums.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

constexpr double kEpsilon = 0.5;
constexpr double kDelta = 0.1;
constexpr int kDraws = 8000;
// 1e-9 for each of the eight distributions drawn here: false-alarm rate below 1e-8.
const double kAllowed = kDelta + (1 + std::exp(kEpsilon)) * DkwSlack(kDraws);

// Thirty people with code 0; the one who may be missing has missing values and label 1, in `rows` rows.
Dataset People(bool with_one_more, int rows) {
    NumericRange range;
    range.bins = 4;
    range.scale = Scale::kLinear;
    DatasetBuilder builder({FeatureSpec::Numeric("x", range), FeatureSpec::Levels("l", {"a", "b"})},
                           TargetSpec::Binary(), true);
    builder.Grow();
    const auto append = [&](uint16_t code, float label, int64_t unit) {
        builder.SetCode(0, std::min<uint16_t>(code, 4));
        builder.SetCode(1, std::min<uint16_t>(code, 2));
        builder.AppendRow(label, UnitKeyOf(unit));
    };
    for (int person = 0; person < 30; person++)
        append(0, 0, person);
    for (int row = 0; with_one_more && row < rows; row++)
        append(9, 1, 30);
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

AdasspLearner LearnerFor(const Dataset& dataset) {
    AdasspOptions options;
    options.loss = ObjectiveKind::kHinge;
    options.rounds = 1;
    return AdasspLearner(options, dataset.features(), dataset.target());
}

RawSums SumsOf(const Dataset& dataset, const Design& design, bool products) {
    NoInterrupt interrupt;
    const auto objective = MakeObjective(ObjectiveKind::kHinge, dataset.target(), 1, 1);
    LinearRows rows(dataset, design, *objective, 1, BestSimd(), interrupt);
    if (products)
        return rows.Products();
    std::vector<std::vector<int32_t>> zeros;
    for (const FeatureSpec& feature : dataset.features())
        zeros.emplace_back(feature.cells(), 0);
    return rows.Gradients(0, zeros);
}

// The noisy sums along a direction, relative to where they are without the unit, sorted. Every draw is one
// whole (epsilon, delta) release.
std::vector<double> Released(const std::vector<int64_t>& raw, double sensitivity,
                             const std::vector<int64_t>& without, const std::vector<double>& direction,
                             MechanismRequest mechanism, double epsilon, unsigned char key) {
    ChaChaSource source(ChaChaSource::Seed{key, 101});
    Random random(source);
    ExactNoise noise(random);
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = kDelta;
    mechanism.count = 1;
    mechanism.parts = kDraws;  // only so that one plan has all the charges
    request.mechanisms = {mechanism};
    Plan plan = Plan::Calibrate(request);
    Releaser releaser(plan, noise);
    std::vector<double> values;
    for (int i = 0; i < kDraws; i++) {
        const std::vector<int64_t> noisy = releaser.Release(0, RawSums(raw, sensitivity)).values;
        double value = 0;
        for (size_t j = 0; j < noisy.size(); j++)
            value += direction[j] * static_cast<double>(noisy[j] - without[j]);
        values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    return values;
}

// With noise for `noise_epsilon`, tested at kEpsilon.
double WorstExcess(bool products, int rows, double noise_epsilon) {
    const Dataset without = People(false, rows), with = People(true, rows);
    const AdasspLearner learner = LearnerFor(without);
    const Design& design = learner.design();
    const std::vector<int64_t> raw_without = ExactSums(SumsOf(without, design, products));
    const std::vector<int64_t> raw_with = ExactSums(SumsOf(with, design, products));
    std::vector<double> direction;
    for (size_t j = 0; j < raw_with.size(); j++)
        direction.push_back(static_cast<double>(raw_with[j] - raw_without[j]));
    const MechanismRequest mechanism = learner.Mechanisms()[products ? 0 : 1];
    const double sensitivity = mechanism.dimensions[0].sensitivity;
    const std::vector<double> p =
        Released(raw_without, sensitivity, raw_without, direction, mechanism, noise_epsilon, 1);
    const std::vector<double> q =
        Released(raw_with, sensitivity, raw_without, direction, mechanism, noise_epsilon, 2);
    return std::max(ExcessOver(kEpsilon, p, q), ExcessOver(kEpsilon, q, p));
}

TEST(AdasspFalsification, ProductsHideAUnit) {
    EXPECT_LE(WorstExcess(true, 1, kEpsilon), kAllowed);
    EXPECT_LE(WorstExcess(true, 50, kEpsilon), kAllowed);
}

TEST(AdasspFalsification, GradientsHideAUnit) {
    EXPECT_LE(WorstExcess(false, 1, kEpsilon), kAllowed);
    EXPECT_LE(WorstExcess(false, 50, kEpsilon), kAllowed);
}

TEST(AdasspFalsification, HalfTheNoiseIsCaught) {
    // mu(1.65, 0.1) = 1.22 and mu(0.5, 0.1) = 0.64: noise 0.53 times what it should be.
    EXPECT_GT(WorstExcess(true, 1, 1.65), kAllowed);
    EXPECT_GT(WorstExcess(false, 1, 1.65), kAllowed);
}

}  // namespace
}  // namespace dpboost
