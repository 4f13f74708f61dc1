#include "privacy/words/in_words.h"

#include <gtest/gtest.h>

#include <cmath>

#include "privacy/accountant/gdp.h"
#include "privacy/plan.h"

namespace dpboost {
namespace {

double Phi(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2));
}

Cost GaussianRelease(double mu, double delta) {
    Cost cost;
    cost.events = {Event::Gdp(mu, 1)};
    cost.curve = EventsCurve(cost.events);
    cost.delta = delta;
    cost.epsilon = GdpEpsilon(mu, delta);
    return cost;
}

// What a privacy officer reads: epsilon (delta 1e-6), factor, 50 %, 1 %, best guess of 100 for Gaussian noise.
TEST(InWords, SaysTheFiguresOfTheTable) {
    const struct {
        double epsilon, factor, even, rare, guess;
    } rows[] = {{0.1, 1.11, 52.5, 1.1, 50.5},
                {0.5, 1.65, 62.2, 1.6, 52.5},
                {1, 2.72, 73.1, 2.7, 54.7},
                {3, 20.1, 95.3, 16.9, 62.7},
                {10, 22026, 100, 99.6, 82.2}};
    for (const auto& row : rows) {
        const Cost cost = GaussianRelease(GdpMu(row.epsilon, 1e-6), 1e-6);
        EXPECT_NEAR(OddsFactor(row.epsilon) / row.factor, 1, 0.005);
        EXPECT_NEAR(100 * BeliefAfter(0.5, row.epsilon), row.even, 0.05);
        EXPECT_NEAR(100 * BeliefAfter(0.01, row.epsilon), row.rare, 0.06);
        EXPECT_NEAR(100 * GuessSuccess(ProvenLoss::OfRelease(cost)), row.guess, 0.06);
    }
}

TEST(InWords, GaussianAttacksHaveTheirClosedForm) {
    const double quantile = -1.6448536269514722;  // Phi^-1(0.05)
    for (double mu : {0.01, 0.1, 0.5, 1.0, 2.0, 4.0}) {
        const ProvenLoss loss = ProvenLoss::OfRelease(GaussianRelease(mu, 1e-6));
        EXPECT_NEAR(loss.mu, mu, 1e-9 * mu);
        EXPECT_NEAR(GuessSuccess(loss), Phi(mu / 2), 1e-11);
        EXPECT_NEAR(FoundShare(loss, 0.05), Phi(quantile + mu), 1e-10);
        EXPECT_GE(GuessSuccess(loss), Phi(mu / 2));
        EXPECT_NEAR(FoundShare(loss, 0.5), Phi(mu), 1e-10);
        EXPECT_NEAR(GuessSuccess(ForGroup(loss, 3)), Phi(3 * mu / 2), 1e-11);
    }
}

// Randomized response with a leak attains every bound of a pair: with probability delta the truth, else a lie with
// probability 1 / (e^epsilon + 1). Its best attacks are known in full.
TEST(InWords, APairsBoundsAreThoseOfRandomizedResponseWithALeak) {
    for (double epsilon : {0.05, 0.3, 1.0, 2.5, 8.0}) {
        for (double delta : {0.0, 1e-6, 1e-3, 0.05}) {
            const ProvenLoss loss = ProvenLoss::OfPair(epsilon, delta);
            const double truth = 1 / (1 + std::exp(-epsilon));
            EXPECT_NEAR(GuessSuccess(loss), delta + (1 - delta) * truth, 1e-11);
            const double alarms = (1 - delta) * (1 - truth);  // of the attack that believes every "present"
            if (alarms <= 0.5) {
                EXPECT_NEAR(FoundShare(loss, alarms), delta + (1 - delta) * truth, 1e-10);
            }
            if (alarms > 0.1) {  // with probability 0.1 / alarms believe one that is no leak; a leak always
                EXPECT_NEAR(FoundShare(loss, 0.1), delta + (1 - delta) * truth * 0.1 / alarms, 1e-10);
            }
        }
    }
}

// Poisson-sampled Gaussian noise, as a forest draws it: its curve says more than its pair, and never less than the best
// attack on one round, which is known: likelihood ratios of N(0, s) against (1 - g) N(0, s) + g N(1, s) order like x.
TEST(InWords, ACurveIsTighterThanAPairAndNeverBelowAnAttack) {
    const double rate = 0.3;
    const double sigma = 1.5;
    Cost cost;
    cost.events = {Event::Gaussian(sigma, 1, rate)};
    cost.curve = EventsCurve(cost.events);
    cost.delta = 1e-6;
    cost.epsilon = CurveToEpsilon(cost.curve, cost.delta).epsilon;
    const ProvenLoss loss = ProvenLoss::OfRelease(cost);
    EXPECT_TRUE(std::isinf(loss.mu));
    EXPECT_LT(GuessSuccess(loss), GuessSuccess(ProvenLoss::OfPair(cost.epsilon, cost.delta)));
    EXPECT_LT(FoundShare(loss, 0.05), FoundShare(ProvenLoss::OfPair(cost.epsilon, cost.delta), 0.05));
    double best = 0.5;
    for (double cut = -3; cut < 6; cut += 0.01) {
        const double alarms = Phi(-cut / sigma);
        const double found = (1 - rate) * alarms + rate * Phi((1 - cut) / sigma);
        best = std::max(best, 0.5 * (1 - alarms + found));
        if (alarms <= 0.5) {
            EXPECT_GE(FoundShare(loss, alarms), found);
        }
    }
    EXPECT_GE(GuessSuccess(loss), best);
}

TEST(InWords, GroupsComposePersonByPerson) {
    const ProvenLoss pair = ForGroup(ProvenLoss::OfPair(0.5, 1e-6), 3);
    EXPECT_NEAR(pair.epsilon, 1.5, 1e-12);
    EXPECT_NEAR(pair.delta, 1e-6 * (1 + std::exp(0.5) + std::exp(1.0)), 1e-15);
    EXPECT_EQ(GuessSuccess(ForGroup(ProvenLoss::OfPair(10, 1e-6), 3)), 1);
    EXPECT_EQ(ForGroup(ProvenLoss::OfPair(1, 0), 4).delta, 0);
}

TEST(InWords, NumbersArePrintedRoundedUp) {
    EXPECT_EQ(PrintedUp(2.718281828, 2), "2.72");
    EXPECT_EQ(PrintedUp(2.711, 2), "2.72");
    EXPECT_EQ(PrintedUp(2.71, 2), "2.71");
    EXPECT_EQ(PrintedUp(50, 1), "50");
    EXPECT_EQ(PrintedUp(73.1058, 1), "73.2");
    EXPECT_EQ(PrintedUp(22026.4, 0), "22,027");
    EXPECT_EQ(PrintedUp(1e6, 0), "1,000,000");
    EXPECT_EQ(PrintedUp(123456.78, 2), "123,456.78");
    EXPECT_EQ(PrintedUp(100, 0), "100");
    EXPECT_EQ(PrintedUp(0, 1), "0");
}

TEST(InWords, SentencesCarryTheFigures) {
    const LossInWords words = InWords(ProvenLoss::OfRelease(GaussianRelease(GdpMu(1, 1e-6), 1e-6)));
    EXPECT_NE(words.odds.find("2.72"), std::string::npos) << words.odds;
    EXPECT_NE(words.belief.find("73.2 %"), std::string::npos) << words.belief;
    EXPECT_NE(words.belief.find("2.7 %"), std::string::npos) << words.belief;
    EXPECT_NE(words.failure.find("once in 1,000,000 times"), std::string::npos) << words.failure;
    EXPECT_NE(words.guess.find("54.8 of 100"), std::string::npos) << words.guess;
    EXPECT_NE(words.attack.find("8 of 100"), std::string::npos) << words.attack;
    EXPECT_TRUE(InWords(ProvenLoss::OfPair(1, 0)).failure.empty());
    const LossInWords nothing = InWords(ProvenLoss::OfPair(50, 1e-6));
    EXPECT_NE(nothing.odds.find("promises nothing"), std::string::npos) << nothing.odds;
    EXPECT_NE(nothing.belief.find("100 %"), std::string::npos) << nothing.belief;
    EXPECT_GE(StillAtRisk().size(), 4u);
}

}  // namespace
}  // namespace dpboost
