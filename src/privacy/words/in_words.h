// What a privacy loss means for one person, in figures that can be said aloud: how far it moves odds, what becomes of a
// suspicion, how well the best attack does. Post-processing of what was proven; every figure is an upper bound, and is
// printed rounded up.
//
// Two worlds, one with a person's rows and one without them; all other rows may be known to the attacker. That a result
// is (epsilon, delta)-DP in both directions says what his errors may be, and nothing else has to be assumed:
//     found(a) <= min(e^epsilon a + delta, 1 - e^-epsilon (1 - delta - a))                 [DRS22] Prop 2.5
// where `a` is how many of those who are absent he accuses, and found(a) how many of those who are present. What is
// mu-Gaussian-DP has exactly found(a) = Phi(Phi^-1(a) + mu) for the best attack on the worst case ([DRS22] Def 2.6).
//
// Odds and beliefs: by the construction of [KOV15] such a result is a function of the answer of a source
// that tells everything with probability delta and otherwise moves the odds by at most e^epsilon. So the bound
// on beliefs is said with that source, and not "except with probability delta": the chance that the result itself moves
// the odds further is larger than delta (for Gaussian noise at 1, 1e-6: 2e-5).
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "privacy/cost.h"

namespace dpboost {

struct LossPoint {
    double epsilon;
    double delta;
};

// What is proven of one release, or of all that a limit lets through.
struct ProvenLoss {
    double epsilon = 0;  // the pair that is stated
    double delta = 0;
    double mu = std::numeric_limits<double>::infinity();  // finite: mu-Gaussian-DP
    std::vector<LossPoint> points;                        // all pairs that hold, the stated one among them

    // Nothing is known but the pair itself.
    static ProvenLoss OfPair(double epsilon, double delta);
    // Its mu if all its noise is full-batch Gaussian; else also the pairs that follow from its Renyi curve.
    static ProvenLoss OfRelease(const Cost& cost);
};

// By how much the odds of anything about a person may change.
double OddsFactor(double epsilon);
// The most that a belief (a probability above 0 and below 1) may become.
double BeliefAfter(double belief, double epsilon);
// How often the best guess "was she in?" is right, when both are as likely as not.
double GuessSuccess(const ProvenLoss& loss);
// How many of those who are present the best attack finds that accuses at most `false_alarms` (above 0, at most 0.5) of
// those who are absent.
double FoundShare(const ProvenLoss& loss, double false_alarms);
// For a group of `size` persons who are in together, or not at all: [DRS22] Thm 2.14.
ProvenLoss ForGroup(const ProvenLoss& loss, int size);

// Sentences, each of them complete.
struct LossInWords {
    std::string odds;     // by what factor
    std::string belief;   // what becomes of a suspicion of 50 % and of 1 %
    std::string failure;  // what delta means; empty if that is 0
    std::string guess;    // how often the best guess is right
    std::string attack;   // what an attack finds that accuses 5 of 100 absent persons
    std::string family;   // what remains for three persons together
};

LossInWords InWords(const ProvenLoss& loss);

// Whom no epsilon protects, one sentence each; true of every release and every limit.
std::vector<std::string> StillAtRisk();

// Up to `decimals` digits after the point, rounded up, without zeros at the end; thousands are set apart.
std::string PrintedUp(double number, int decimals);

}  // namespace dpboost
