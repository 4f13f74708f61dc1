// The Poisson loss: gradients and Hessians in multiples of the starting mean, their bounds, where it starts; and what
// `auto` makes of counts with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "model/predictor.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/objective/lattice.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

struct Rows {
    std::vector<int32_t> scores;
    std::vector<float> labels;
};

// Any score, dense around `start`, and the labels of any count.
Rows RandomRows(const TargetSpec& target, int32_t start) {
    ChaChaSource source = TestSource(5);
    Random random(source);
    Rows rows;
    for (int i = 0; i < 20003; i++) {
        const int64_t score = int64_t{static_cast<int32_t>(random.Next32()) >> random.Below(32)} + start;
        rows.scores.push_back(static_cast<int32_t>(std::clamp<int64_t>(score, INT32_MIN, INT32_MAX)));
        float label = 0;
        target.Label(
            target.lower() + static_cast<double>(random.Below(41)) / 40 * (target.upper() - target.lower()),
            &label);
        rows.labels.push_back(label);
    }
    for (const int32_t extreme : {0, start, start - 1, start + 1, INT32_MIN, INT32_MAX}) {
        rows.scores.push_back(extreme);
        rows.labels.push_back(-1.0F);
    }
    return rows;
}

struct Case {
    double lower, upper, mean, gradient_clip, hessian_clip;
};
const Case kCases[] = {{0, 40, 1, 1.5, 1},    {0, 40, 0.05, 20, 1},         {3, 40, 10, 0.6, 4},
                       {0, 1e6, 700, 0.5, 1}, {0, 1e6, 1e-6, 0.001, 0.001}, {0, 1, 0.9, 10, 1}};

TargetSpec TargetOf(const Case& c) {
    return TargetSpec::Regression(c.lower, c.upper);
}

std::unique_ptr<const Objective> ObjectiveOf(const Case& c, int32_t start) {
    return MakeObjective(ObjectiveKind::kPoisson, TargetOf(c), c.gradient_clip, c.hessian_clip, start);
}

TEST(Poisson, IsWithinOneStepOfTheExactValue) {
    for (const Case& c : kCases) {
        const TargetSpec target = TargetOf(c);
        const int32_t start = ToFixed(std::log(c.mean));
        const auto objective = ObjectiveOf(c, start);
        const Rows rows = RandomRows(target, start);
        const Lattice got = Evaluate(*objective, Simd::kPortable, rows.scores, rows.labels);
        const double mean = std::exp(FromFixed(start));
        for (size_t i = 0; i < rows.scores.size(); i++) {
            const double count =
                target.lower() + (target.upper() - target.lower()) * (1 + rows.labels[i]) / 2;
            const double rate = std::exp(FromFixed(rows.scores[i])) / mean;
            const double g = std::clamp(count / mean - rate, -c.gradient_clip, c.gradient_clip);
            const double h = std::min(rate, c.hessian_clip);
            // A float has 24 bits: of the count, and of the score in the exponent.
            const double relative =
                3e-7 * (2 + std::fabs(FromFixed(rows.scores[i])) + std::fabs(std::log(mean)));
            const double slack = 0.51 + kClipSteps / c.gradient_clip * 3 * relative *
                                            std::min(count / mean + rate, 2 * c.gradient_clip + count / mean);
            EXPECT_NEAR(got.gradients[i], g / c.gradient_clip * kClipSteps, slack) << rows.scores[i];
            EXPECT_NEAR(got.hessians[i], h / c.hessian_clip * kClipSteps, 0.51 + kClipSteps * 3 * relative)
                << rows.scores[i];
        }
    }
}

// What the sensitivity of every sum rests on.
TEST(Poisson, StaysWithinTheClipBounds) {
    for (const Case& c : kCases) {
        for (const double mean : {1e-9, 1e-3, 1.0, 1e3, 1e9}) {
            const int32_t start = ToFixed(std::log(mean));
            const auto objective = ObjectiveOf(c, start);
            for (const Simd simd : {Simd::kPortable, BestSimd()}) {
                const Rows rows = RandomRows(TargetOf(c), start);
                ExpectWithinClips(Evaluate(*objective, simd, rows.scores, rows.labels));
            }
        }
    }
}

TEST(Poisson, VectorFormGivesTheSameBits) {
    if (BestSimd() == Simd::kPortable)
        GTEST_SKIP() << "no vector instructions here";
    for (const Case& c : kCases) {
        const int32_t start = ToFixed(std::log(c.mean));
        const auto objective = ObjectiveOf(c, start);
        const Rows rows = RandomRows(TargetOf(c), start);
        ExpectSameBits(*objective, rows.scores, rows.labels);
    }
}

TEST(Poisson, StartsAtTheMeanAndNeverBelowItsNoise) {
    const auto objective = MakeObjective(ObjectiveKind::kPoisson, TargetSpec::Regression(0, 50), 1, 1);
    EXPECT_EQ(objective->link(), Link::kLog);
    const float labels[] = {-1, -0.96F, 1};  // counts 0, 1 and 50
    float shares[3];
    objective->Centre(labels, 3, shares);
    EXPECT_NEAR(shares[0], 0, 1e-6);
    EXPECT_NEAR(shares[1], 0.02, 1e-6);
    EXPECT_NEAR(shares[2], 1, 1e-6);
    EXPECT_NEAR(objective->StartScore({0.1, 0, 0}), std::log(5), 1e-12);
    EXPECT_NEAR(objective->StartScore({-0.1, 0, 0.02}), std::log(1), 1e-12);
    EXPECT_TRUE(std::isfinite(objective->StartScore({0, 0, 0})));
    EXPECT_NEAR(objective->Correction({}, 0.2), std::log(1 / 0.8), 1e-12);
    EXPECT_EQ(objective->Correction({}, 7), 1);  // finite, whatever noise says
    EXPECT_EQ(objective->Correction({}, -7), -1);
}

TEST(Poisson, IsForCounts) {
    const auto refused = [](const char* word, const TargetSpec& target) {
        const std::vector<FeatureSpec> features = TestFeatures(DataShape());
        try {
            kAuto.make(kAuto, {features, target, 1, 1e-6}, {Given("objective", word)});
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
            return true;
        }
        return false;
    };
    EXPECT_FALSE(refused("poisson", TargetSpec::Regression(0, 1e6)));
    EXPECT_FALSE(refused("poisson", TargetSpec::Regression(2, 9)));
    EXPECT_TRUE(refused("poisson", TargetSpec::Regression(0, 1000001)));
    EXPECT_TRUE(refused("poisson", TargetSpec::Regression(-0.5, 9)));
    EXPECT_TRUE(refused("poisson", TargetSpec::Binary()));
    EXPECT_TRUE(refused("logistic", TargetSpec::Regression(0, 9)));
    EXPECT_TRUE(refused("squared", TargetSpec::Binary()));
    EXPECT_TRUE(refused("gamma", TargetSpec::Regression(0, 9)));
    EXPECT_FALSE(refused("squared", TargetSpec::Regression(0, 9)));
    EXPECT_FALSE(refused("logistic", TargetSpec::Binary()));
}

// ---- counts whose logarithm of the mean is linear in three numbers and a level ----

struct Counts {
    std::vector<FeatureSpec> features;
    TargetSpec target = TargetSpec::Regression(0, 30);
    std::vector<std::vector<uint16_t>> codes;
    std::vector<double> counts, rates;

    Dataset Build() const {
        DatasetBuilder builder(features, target, false);
        for (size_t row = 0; row < codes.size(); row++) {
            if (builder.Full())
                builder.Grow();
            for (size_t f = 0; f < features.size(); f++)
                builder.SetCode(f, codes[row][f]);
            float label = 0;
            target.Label(counts[row], &label);
            builder.AppendRow(label);
        }
        NoInterrupt interrupt;
        return builder.Finish(interrupt);
    }
};

// Knuth's way: uniform numbers are multiplied until they fall below exp(-rate).
double DrawCount(Random& random, double rate) {
    double count = -1;
    for (double product = 1; product > std::exp(-rate); count++)
        product *= (static_cast<double>(random.Next64() >> 11) + 0.5) * 0x1.0p-53;
    return count;
}

Counts LogLinear(size_t rows, double mean, unsigned char key) {
    Counts data;
    for (int f = 0; f < 3; f++) {
        NumericRange range;
        range.lower = -1;
        data.features.push_back(FeatureSpec::Numeric("x" + std::to_string(f), range));
    }
    data.features.push_back(FeatureSpec::Levels("l", {"a", "b", "c"}));
    ChaChaSource source = TestSource(key);
    Random random(source);
    for (size_t row = 0; row < rows; row++) {
        std::vector<uint16_t> codes;
        double log_rate = std::log(mean / 1.4);
        for (size_t f = 0; f < 3; f++) {
            codes.push_back(static_cast<uint16_t>(random.Below(data.features[f].bins())));
            const double x = 2 * (codes[f] + 0.5) / data.features[f].bins() - 1;
            log_rate += (f == 0 ? 1.0 : f == 1 ? -0.7 : 0.3) * x;
        }
        codes.push_back(static_cast<uint16_t>(random.Below(3)));
        log_rate += codes[3] == 0 ? 0.6 : codes[3] == 1 ? -0.4 : 0;
        data.codes.push_back(codes);
        data.rates.push_back(std::exp(log_rate));
        data.counts.push_back(DrawCount(random, data.rates.back()));
    }
    return data;
}

Model TrainOn(const Counts& data, const char* objective, NoiseSource& noise,
              const MethodInfo& method = kAuto) {
    ChaChaSource source = TestSource(42);
    Random random(source);
    return TrainWith(method, data.Build(), 1, 1e-6, {Given("objective", objective)}, random, noise);
}

// Trains without noise on rates that are log-linear, and asks for how far the rates may be from the truth, whose logarithm
// scatters by 0.8, and their sum from the counts'.
void ExpectFindsRates(const MethodInfo& method, double scatter, double bias) {
    for (const double mean : {0.3, 4.0}) {
        const Counts data = LogLinear(20000, mean, 3);
        ZeroNoise noise;
        const Model model = TrainOn(data, "poisson", noise, method);
        EXPECT_EQ(model.link(), Link::kLog);
        Predictor predictor(model);
        double squares = 0, predicted = 0, counted = 0;
        for (size_t row = 0; row < data.codes.size(); row++) {
            const double rate = predictor.Predict(data.codes[row].data());
            squares += std::pow(std::log(rate / data.rates[row]), 2) / static_cast<double>(data.codes.size());
            predicted += rate;
            counted += data.counts[row];
        }
        EXPECT_LT(std::sqrt(squares), scatter) << mean;
        EXPECT_NEAR(predicted / counted, 1, bias) << mean;
    }
}

TEST(Poisson, WithoutNoiseAutoFindsALogLinearRate) {
    ExpectFindsRates(kAuto, 0.12, 0.03);
}

TEST(Poisson, WithoutNoiseSbdtFindsALogLinearRate) {
    ExpectFindsRates(kSbdt, 0.27, 0.1);
}

// Of rates as a function of the row.
template <typename Rate>
double Deviance(const Counts& data, Rate rate_of) {
    double sum = 0;
    for (size_t row = 0; row < data.codes.size(); row++) {
        const double rate = std::max(rate_of(row), 0.01);
        const double count = data.counts[row];
        sum += 2 * ((count > 0 ? count * std::log(count / rate) : 0) - (count - rate));
    }
    return sum / static_cast<double>(data.codes.size());
}

double Deviance(const Model& model, const Counts& data) {
    Predictor predictor(model);
    return Deviance(data, [&](size_t row) { return predictor.Predict(data.codes[row].data()); });
}

// Many small means, at epsilon 1: the Poisson loss must leave hardly more deviance than the true rates do on new rows, and
// less than the squared loss.
TEST(Poisson, IsBetterForSmallCountsThanTheSquaredLoss) {
    constexpr unsigned char kTrainings = 20;
    double poisson = 0, squared = 0, truth = 0;
    for (unsigned char key = 1; key <= kTrainings; key++) {
        const Counts data = LogLinear(5000, 0.5, key);
        const Counts fresh = LogLinear(5000, 0.5, static_cast<unsigned char>(key + 100));
        ChaChaSource source = TestSource(static_cast<unsigned char>(key + 50));
        Random random(source);
        ExactNoise noise(random);
        poisson += Deviance(TrainOn(data, "poisson", noise), fresh) / kTrainings;
        squared += Deviance(TrainOn(data, "squared", noise), fresh) / kTrainings;
        truth += Deviance(fresh, [&](size_t row) { return fresh.rates[row]; }) / kTrainings;
    }
    EXPECT_LT(poisson - truth, 0.4 * (squared - truth)) << poisson << " " << squared << " " << truth;
    EXPECT_LT(poisson, 1.03 * truth);
}

}  // namespace
}  // namespace dpboost
