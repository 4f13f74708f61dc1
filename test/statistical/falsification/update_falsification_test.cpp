// Tries to falsify the privacy of a training and two updates of its model together, with one person in all three: how well
// does the best test (of the likelihood ratio of everything that was released) tell the tables with and without the person
// apart? Each is mu-GDP, so all three are sqrt(3) mu-GDP, which allows a difference of at most 2 Phi(sqrt(3) mu / 2) - 1
// between the probabilities of "ratio above 1". Exact noise, fixed seeds; false-alarm rate below 1e-9 (Hoeffding).
#include <gtest/gtest.h>

#include <cmath>

#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "privacy/accountant/gdp.h"
#include "support/audit/last_row.h"
#include "support/audit/transcript.h"
#include "support/audit/transcript_noise.h"
#include "support/continue_with.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

constexpr int kHistories = 2000;
constexpr double kEpsilon = 4;
constexpr double kDelta = 1e-6;

std::vector<GivenOption> Options(const MethodInfo& method) {
    if (&method == &kAuto)
        return {};
    return {Given("trees", 4), Given("depth", 1), Given("subsample", 1), Given("gradient_clip", 0.2),
            Given("hessian_share", 0.02)};
}

// What is public about a model goes on from version to version, as in the product.
Model WithNoise(Model model, int releases) {
    Evidence evidence = model.evidence();
    evidence.noise = NoiseKind::kGaussian;
    evidence.mu = GdpMu(kEpsilon, kDelta) * std::sqrt(releases);
    model.SetEvidence(std::move(evidence));
    return model;
}

void TrainAndUpdateTwice(const MethodInfo& method, const Dataset& table, Random& random, NoiseSource& noise) {
    Model model = TrainWith(method, table, kEpsilon, kDelta, Options(method), random, noise);
    for (int update = 1; update <= 2; update++)
        model = ContinueWith(method, table, WithNoise(std::move(model), update), kEpsilon, kDelta,
                             Options(method), {}, random, noise);
}

// How often what was released from one of the tables looks more like the larger one.
double LooksLarger(const MethodInfo& method, bool on_larger, double noise_factor) {
    const Dataset larger = WithLastRow(SmallShape(), 1.0F), smaller = WithLastRow(SmallShape(), {});
    ChaChaSource noise_source = TestSource(on_larger ? 1 : 2);
    Random noise_random(noise_source);
    int hits = 0;
    for (int i = 0; i < kHistories; i++) {
        ChaChaSource::Seed seed{static_cast<unsigned char>(i), static_cast<unsigned char>(i >> 8),
                                static_cast<unsigned char>(on_larger ? 1 : 2)};
        ChaChaSource::Seed copy = seed;
        ChaChaSource structure(std::move(seed)), again(std::move(copy));
        Random random(structure), same(again);
        Tape recorder(noise_random, noise_factor);
        TrainAndUpdateTwice(method, on_larger ? larger : smaller, random, recorder);
        ReplayingNoise replay(recorder.draws);
        TrainAndUpdateTwice(method, on_larger ? smaller : larger, same, replay);
        hits += (on_larger ? replay.log_ratio : -replay.log_ratio) > 0 ? 1 : 0;
    }
    return static_cast<double>(hits) / kHistories;
}

double Advantage(const MethodInfo& method, double noise_factor) {
    return LooksLarger(method, true, noise_factor) - LooksLarger(method, false, noise_factor);
}

// What three releases allow, and by how much two means may be off.
double Allowed() {
    const double slack = 2 * std::sqrt((kLogFalseAlarm + std::log(4.0)) / (2 * kHistories));
    return 1 - 2 * NormalUpperTail(std::sqrt(3.0) * GdpMu(kEpsilon, kDelta) / 2) + slack;
}

TEST(UpdateFalsification, AutoWithAPersonInAllThree) {
    EXPECT_LE(Advantage(kAuto, 1), Allowed());
}

TEST(UpdateFalsification, SbdtWithAPersonInAllThree) {
    EXPECT_LE(Advantage(kSbdt, 1), Allowed());
}

TEST(UpdateFalsification, HalfTheNoiseIsFound) {
    EXPECT_GT(Advantage(kAuto, 0.5), Allowed());
    EXPECT_GT(Advantage(kSbdt, 0.5), Allowed());
}

}  // namespace
}  // namespace dpboost
