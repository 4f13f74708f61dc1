// Tries to refute that a person's account bounds what all trainings together tell about it: one unit, in five trainings
// that are charged by rounds. What it adds to a round depends on what was released before, so that its account, its
// exclusion and its losses do, too. Claimed is the limit, for everything released. With half the noise, and with an
// account that is forgotten between trainings, the claim must fall. False-alarm rate 1e-9, see statistics.h.
//
// And the same of real releases: a training, two updates of its model with the unit in both, and an evaluation, until its
// account is used up and beyond. How well does the best test (of the likelihood ratio of everything that was released) tell
// the tables with and without the unit apart? All is full-batch Gaussian, so a limit of B at the order alpha allows at most
// what a Gaussian of mu^2 = 2 B / alpha does ([ST22]).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "learner/rows/unit_rounds.h"
#include "mechanism/chacha_source.h"
#include "mechanism/noisy_sum.h"
#include "privacy/filter/unit_filter.h"
#include "privacy/plan.h"
#include "support/audit/halved_noise.h"
#include "support/audit/transcript_noise.h"
#include "support/statistics.h"
#include "support/units/unit_history.h"

namespace dpboost {
namespace {

constexpr size_t kTrials =
    60000;  // each the whole history of a unit; one half finds the set, the other one judges it
constexpr int kTrainings = 5;
constexpr uint64_t kRounds = 2;
constexpr uint64_t kMoreRounds = 4;
constexpr int64_t kStep = 65536;
constexpr double kEpsilon = 1;
constexpr double kDelta = 1e-3;

Plan PlanOf(const UnitLimit& limit) {
    MechanismRequest rounds;
    rounds.name = "rounds";
    rounds.count = kRounds;
    rounds.filter_rounds = kMoreRounds;
    rounds.rest = 1;
    rounds.dimensions = {{static_cast<double>(kStep), 1, kTrials}};
    return Plan::Calibrate({kEpsilon, kDelta, {rounds}, {limit.PerRelease().Constraint("the unit")}});
}

// The log-likelihood ratio of each trial's releases, with the unit in the rows or not. What the unit would add, and
// whether its account lets it, follows from what was released: whoever sees the releases can compute it.
std::vector<double> Histories(bool has_unit, bool forgets, NoiseSource& noise) {
    const UnitLimit limit(kEpsilon, kDelta, Budget(kEpsilon, kDelta).order());
    std::vector<double> ratios(kTrials);
    std::vector<uint32_t> spent(kTrials);
    std::vector<int64_t> last(kTrials);
    for (int training = 0; training < kTrainings; training++) {
        Plan plan = PlanOf(limit);
        const UnitCharge charge = UnitCharge::ByRounds(limit, plan.release(), plan.FirstEvent(0));
        const RenyiFilter filter(kRounds, {kStep, 0}, {kStep, 1});
        if (forgets)
            std::fill(spent.begin(), spent.end(), 0);
        std::vector<uint32_t> reserved(kTrials);
        for (size_t i = 0; i < kTrials; i++)
            reserved[i] = charge.Reserve(spent[i]);
        UnitRounds accounts(charge, reserved);
        std::vector<uint32_t> sums = accounts.Starts(filter);
        const double sigma = plan.ScaleInSteps(0, 0) / kStep;
        for (uint64_t round = 0; round < kRounds + kMoreRounds; round++) {
            std::vector<int64_t> values(kTrials), adds(kTrials);
            for (size_t i = 0; i < kTrials; i++) {
                const int64_t value = last[i] >= 0 ? kStep : kStep / 2;
                if (filter.Admit(filter.Loss(0, static_cast<uint32_t>(value)), &sums[i]) && reserved[i] > 0)
                    adds[i] = value;
                values[i] = has_unit ? adds[i] : 0;
            }
            AddGaussianNoise(plan.Take(0), noise, {values.data(), kTrials});
            for (size_t i = 0; i < kTrials; i++) {
                const double added = static_cast<double>(adds[i]) / kStep;
                ratios[i] +=
                    (static_cast<double>(values[i]) / kStep * added - added * added / 2) / (sigma * sigma);
                last[i] = values[i];
            }
        }
        accounts.Settle(filter, sums);
        for (size_t i = 0; i < kTrials; i++)
            spent[i] += reserved[i] == 0 ? 0 : reserved[i] - accounts.Unused(i);
    }
    return ratios;
}

// By how many standard errors P(above t) exceeds e^epsilon Q(above t) + delta in the odd trials, for the threshold t that
// is worst in the even ones.
double Refutation(const std::vector<double>& p, const std::vector<double>& q) {
    const auto part_above = [](const std::vector<double>& scores, size_t half, double t) {
        double count = 0;
        for (size_t i = half; i < scores.size(); i += 2)
            count += scores[i] > t ? 1 : 0;
        return count / (static_cast<double>(scores.size()) / 2);
    };
    double worst = -1, threshold = 0;
    for (double t = -1; t < 5; t += 0.05) {
        const double excess = part_above(p, 0, t) - std::exp(kEpsilon) * part_above(q, 0, t);
        if (excess > worst) {
            worst = excess;
            threshold = t;
        }
    }
    const double n = static_cast<double>(p.size()) / 2;
    const double above_p = part_above(p, 1, threshold), above_q = part_above(q, 1, threshold);
    const double variance = (above_p * (1 - above_p) + 1 / n) / n +
                            std::exp(2 * kEpsilon) * (above_q * (1 - above_q) + 1 / n) / n;
    return (above_p - std::exp(kEpsilon) * above_q - kDelta) / std::sqrt(variance);
}

TEST(UnitAccountFalsification, ALifetimeStaysWithinTheLimit) {
    ChaChaSource source(ChaChaSource::Seed{41});
    Random random(source);
    ExactNoise exact(random);
    HalvedNoise halved(random);
    EXPECT_LT(Refutation(Histories(true, false, exact), Histories(false, false, exact)), kNormalLimit);
    EXPECT_GT(Refutation(Histories(true, false, halved), Histories(false, false, halved)), kNormalLimit)
        << "half the noise was not found out";
    EXPECT_GT(Refutation(Histories(true, true, exact), Histories(false, true, exact)), kNormalLimit)
        << "an account that is forgotten was not found out";
}

constexpr int kLives = 1200;
constexpr double kLifeEpsilon = 8;
constexpr double kLifeDelta = 1e-6;

// 20 persons, and the last one, whose rows are extreme.
std::vector<PersonRow> Persons(bool with_last) {
    std::vector<PersonRow> rows;
    for (int64_t unit = 0; unit < 20; unit++)
        rows.push_back({unit, static_cast<double>(unit % 5) / 5, static_cast<double>(unit % 7) / 7, 0});
    if (with_last)
        rows.push_back({1000, 1, 1, 1});
    return rows;
}

// Each release costs a quarter of the limit: a training, two updates and an evaluation use it up, and one more cannot be paid
// for. With accounts that are forgotten it goes on like that.
void Live(bool with_last, bool forgets, const char* method, int life, NoiseSource& noise) {
    const std::vector<PersonRow> rows = Persons(with_last);
    UnitHistory history(kLifeEpsilon, kLifeDelta);
    const auto seed = static_cast<unsigned char>(life);
    const double part = 0.999 * history.limit.EpsilonLeft(kUnitWhole / 4 * 3);
    const std::string options =
        "{" + std::string(method) +
        ", \"target_range\": [0, 1], \"delta\": 1e-6, \"epsilon\": " + std::to_string(part) + "}";
    for (int release = 0; release < (forgets ? 12 : 5); release++) {
        if (forgets)
            history.shelf = UnitShelf();
        if (release % 4 == 0)
            history.Train(options, rows, seed, noise);
        else if (release % 4 == 3)
            history.Evaluate(part, rows, noise);
        else
            history.Update(part, rows, seed, noise);
    }
}

// How often what was released from one of the tables looks more like the larger one.
double LooksLarger(bool on_larger, bool forgets, const char* method, double noise_factor) {
    ChaChaSource source(ChaChaSource::Seed{static_cast<unsigned char>(on_larger ? 1 : 2), 43});
    Random random(source);
    int hits = 0;
    for (int life = 0; life < kLives; life++) {
        Tape tape(random, noise_factor);
        Live(on_larger, forgets, method, life, tape);
        ReplayingNoise replay(tape.draws);
        Live(!on_larger, forgets, method, life, replay);
        hits += (on_larger ? replay.log_ratio : -replay.log_ratio) > 0 ? 1 : 0;
    }
    return static_cast<double>(hits) / kLives;
}

// By how much it exceeds what the limit allows, beyond chance (Hoeffding).
double Excess(const char* method, bool forgets, double noise_factor) {
    const UnitLimit limit(kLifeEpsilon, kLifeDelta, Budget(kLifeEpsilon, kLifeDelta).order());
    const double mu = std::sqrt(2 * limit.rho() / limit.order());
    const double allowed = 1 - 2 * NormalUpperTail(mu / 2);
    const double slack = 2 * std::sqrt((kLogFalseAlarm + std::log(4.0)) / (2 * kLives));
    const double advantage =
        LooksLarger(true, forgets, method, noise_factor) - LooksLarger(false, forgets, method, noise_factor);
    return advantage - allowed - slack;
}

constexpr char kWhole[] = R"("method": "auto")";
constexpr char kByRounds[] =
    R"("method": "sbdt", "trees": 4, "depth": 1, "subsample": 1, "gradient_clip": 0.1, "hessian_share": 0.02)";

TEST(UnitAccountFalsification, TrainUpdateTwiceAndEvaluate) {
    EXPECT_LE(Excess(kWhole, false, 1), 0);
    EXPECT_LE(Excess(kByRounds, false, 1), 0);
}

TEST(UnitAccountFalsification, HalfTheNoiseOfALifeIsFound) {
    EXPECT_GT(Excess(kWhole, false, 0.5), 0);
    EXPECT_GT(Excess(kByRounds, false, 0.5), 0);
}

TEST(UnitAccountFalsification, AnAccountThatIsForgottenIsFound) {
    EXPECT_GT(Excess(kByRounds, true, 1), 0);
}

}  // namespace
}  // namespace dpboost
