// Tries to refute that a person's account bounds what all trainings together tell about it: one unit, in five trainings
// that are charged by rounds. What it adds to a round depends on what was released before, so that its account, its
// exclusion and its losses do, too. Claimed is the limit, for everything released. With half the noise, and with an
// account that is forgotten between trainings, the claim must fall. False-alarm rate 1e-9, see statistics.h.
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
#include "support/statistics.h"

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

}  // namespace
}  // namespace dpboost
