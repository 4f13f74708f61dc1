// Tries to falsify the privacy of whole trainings of `auto` on two neighbouring tables: how well does the
// best test (of the likelihood ratio of everything the training released) tell them apart? mu-Gaussian-DP
// allows a difference of at most 2 Phi(mu/2) - 1 between the probabilities of "ratio above 1" under the two
// tables. Exact noise, fixed seeds; false-alarm rate below 1e-9 (Hoeffding).
#include <gtest/gtest.h>

#include <cmath>

#include "learner/auto/auto.h"
#include "privacy/accountant/gdp.h"
#include "support/audit/transcript.h"
#include "support/audit/transcript_noise.h"
#include "support/statistics.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

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
    DataShape shape;
    shape.task = counts ? Task::kRegression : Task::kBinary;
    shape.counts = counts;
    shape.levels = 0;
    shape.numeric = 2;
    shape.rows = 30;
    const Dataset all = RandomDataset(shape);
    DatasetBuilder builder(all.features(), all.target(), false);
    builder.Grow();
    for (size_t row = 0; row < all.rows(); row++) {
        const bool last = row + 1 == all.rows();
        if (last && !with_last)
            break;
        for (size_t f = 0; f < all.columns(); f++)
            builder.SetCode(f, last ? uint16_t{0} : all.Code(row, f));
        builder.AppendRow(last ? 1.0F : all.Label(row));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

// How often the transcript of a training on `table` looks more like `first` than like `second`.
double LooksLikeFirst(const Dataset& first, const Dataset& second, bool train_on_first, double noise_factor,
                      unsigned char key) {
    ChaChaSource noise_source = TestSource(key);
    Random noise_random(noise_source);
    int hits = 0;
    for (int i = 0; i < kTrainings; i++) {
        ChaChaSource::Seed seed{};
        seed[0] = static_cast<unsigned char>(i);
        seed[1] = static_cast<unsigned char>(i >> 8);
        seed[2] = key;
        ChaChaSource::Seed copy = seed;
        ChaChaSource structure(std::move(seed)), again(std::move(copy));
        Random random(structure), same(again);
        Tape recorder(noise_random, noise_factor);
        Train(train_on_first ? first : second, random, recorder);
        ReplayingNoise replay(recorder.draws);
        Train(train_on_first ? second : first, same, replay);
        hits += (train_on_first ? replay.log_ratio : -replay.log_ratio) > 0 ? 1 : 0;
    }
    return static_cast<double>(hits) / kTrainings;
}

double Advantage(bool counts, double noise_factor) {
    const Dataset larger = Table(counts, true), smaller = Table(counts, false);
    return LooksLikeFirst(larger, smaller, true, noise_factor, 1) -
           LooksLikeFirst(larger, smaller, false, noise_factor, 2);
}

double Allowed() {
    return 1 - 2 * NormalUpperTail(GdpMu(kEpsilon, kDelta) / 2);
}

// P(each of two means is off by more than t) <= 2 exp(-2 n t^2).
double Slack() {
    return 2 * std::sqrt((kLogFalseAlarm + std::log(4.0)) / (2 * kTrainings));
}

TEST(AutoFalsification, NeighboursCannotBeToldApartBetterThanClaimed) {
    EXPECT_LE(Advantage(false, 1), Allowed() + Slack());
}

TEST(AutoFalsification, HalfTheNoiseIsFound) {
    EXPECT_GT(Advantage(false, 0.5), Allowed() + Slack());
}

TEST(AutoFalsification, OfCountsTheyCannotEither) {
    EXPECT_LE(Advantage(true, 1), Allowed() + Slack());
}

TEST(AutoFalsification, HalfTheNoiseOfCountsIsFound) {
    EXPECT_GT(Advantage(true, 0.5), Allowed() + Slack());
}

}  // namespace
}  // namespace dpboost
