// Tries to falsify the privacy of a whole training on neighbouring datasets: trains thousands of models with
// and without one unit and looks for a threshold of a released figure that tells them apart better than
// (epsilon, delta) allows. A training with half the noise must be caught, so that the test is known to be
// sharp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "learner/boosted/sbdt.h"
#include "mechanism/chacha_source.h"
#include "support/statistics.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr double kEpsilon = 0.5;
constexpr double kDelta = 0.1;
constexpr int kModels = 4000;

// Gaussian noise of half the charge's scale.
class HalvedNoise final : public NoiseSource {
  public:
    explicit HalvedNoise(Random& random) : random_(random) {}

  private:
    double Uniform() { return (static_cast<double>(random_.Next64() >> 11) + 0.5) / 9007199254740992.0; }
    void AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) override {
        for (std::size_t i = 0; i < n; i++) {
            const double z = std::sqrt(-2 * std::log(Uniform())) * std::cos(6.283185307179586 * Uniform());
            values[i] += static_cast<int64_t>(std::lround(0.5 * sigma.steps() * z));
        }
    }
    void AddLaplace(LaplaceScale, int64_t*, std::size_t) override {}
    std::size_t Select(SelectionScale, const int64_t*, std::size_t) override { return 0; }

    Random& random_;
};

// Twenty people with label 0 and code 0; the one who may be missing has label 1 and code 1, in `rows` rows.
Dataset People(bool with_one_more, int rows) {
    NumericRange range;
    range.scale = Scale::kLinear;
    range.bins = 2;
    DatasetBuilder builder({FeatureSpec::Numeric("x", range)}, TargetSpec::Regression(-1, 1), rows > 1);
    builder.Grow();
    for (int person = 0; person < 20; person++) {
        builder.SetCode(0, 0);
        builder.AppendRow(0, UnitKeyOf(int64_t{person}));
    }
    for (int row = 0; with_one_more && row < rows; row++) {
        builder.SetCode(0, 1);
        builder.AppendRow(1, UnitKeyOf(int64_t{20}));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

SbdtOptions TinyOptions() {
    SbdtOptions options(Task::kRegression, 0.1);
    options.trees = 2;
    options.depth = 1;
    options.learning_rate = 1;
    options.subsample = 1;
    options.gradient_clip = 0.5;
    options.hessian_share = 0.02;
    options.initial_share = 0.1;
    options.l2 = 10;
    options.leaf_clip = 100;
    return options;
}

// What the models say about code 1, sorted: the value that the missing person's gradient moves.
template <typename Noise>
std::vector<double> Released(const Dataset& dataset, unsigned char key) {
    const SbdtLearner learner(TinyOptions());
    ChaChaSource source(ChaChaSource::Seed{key, 99});
    Random random(source);
    Noise noise(random);
    std::vector<double> values;
    for (int i = 0; i < kModels; i++) {
        Plan plan = PlanOf(learner, kEpsilon, kDelta);
        const Model model = TrainLearner(learner, dataset, plan, random, noise);
        values.push_back(FromFixed(model.table(0)[1]));
    }
    std::sort(values.begin(), values.end());
    return values;
}

template <typename Noise>
double WorstExcess(int rows_of_the_one) {
    const std::vector<double> without = Released<Noise>(People(false, rows_of_the_one), 1);
    const std::vector<double> with = Released<Noise>(People(true, rows_of_the_one), 2);
    return std::max(ExcessOver(kEpsilon, without, with), ExcessOver(kEpsilon, with, without));
}

// Three tests of two distributions each: false-alarm rate below 1e-8 (seeds are fixed).
const double kAllowed = kDelta + (1 + std::exp(kEpsilon)) * DkwSlack(kModels);

TEST(LearnerFalsification, OneRowMoreOrLess) {
    EXPECT_LE(WorstExcess<ExactNoise>(1), kAllowed);
}

TEST(LearnerFalsification, OneUnitOfManyRowsMoreOrLess) {
    EXPECT_LE(WorstExcess<ExactNoise>(40), kAllowed);
}

TEST(LearnerFalsification, HalfTheNoiseIsCaught) {
    EXPECT_GT(WorstExcess<HalvedNoise>(1), kAllowed);
}

}  // namespace
}  // namespace dpboost
