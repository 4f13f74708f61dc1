// Bounds on what an attacker may learn, and the sentences that say them. The proofs are in the header.
#include "privacy/words/in_words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/numeric.h"
#include "privacy/spent.h"

namespace dpboost {
namespace {

constexpr double kFalseAlarms = 0.05;
constexpr int kFamily = 3;
// Deltas at which a curve is turned into a pair: the best attack on a small loss is far from the stated delta.
constexpr double kCurveDeltas[] = {0.2, 0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 1e-4, 1e-5, 1e-6};
// Covers the error of erfc and of the search for a quantile.
constexpr double kRounding = 1e-12;
// Above this a factor is said to be without meaning.
constexpr double kMeaningless = 1e6;

// z with P(X > z) = tail, rounded down.
double NormalQuantile(double tail) {
    if (tail >= 0.5)
        return 0;
    const auto excess = [&](double z) { return NormalTail(z) - tail; };
    const double low = 1e-12;
    const double high = 40;
    return SolveDecreasing(excess, low, excess(low), high, excess(high), 1e-13) * (1 - kRounding);
}

double Bounded(double probability) {
    return std::min(1.0, std::max(0.0, probability) * (1 + kRounding));
}

double FoundAtPoint(const LossPoint& point, double false_alarms) {
    return std::min(std::exp(point.epsilon) * false_alarms + point.delta,
                    1 - std::exp(-point.epsilon) * (1 - point.delta - false_alarms));
}

// "2.72", or that it is beyond all meaning.
std::string FactorText(double factor) {
    return factor > kMeaningless ? "more than a million" : PrintedUp(factor, factor < 100 ? 2 : 0);
}

std::string Percent(double probability) {
    return PrintedUp(100 * probability, 1) + " %";
}

// "once in 1,000,000".
std::string OneIn(double probability) {
    return "once in " + PrintedUp(std::floor(1 / probability * (1 + 1e-9)), 0);
}

}  // namespace

ProvenLoss ProvenLoss::OfPair(double epsilon, double delta) {
    CheckEpsilonDelta(epsilon, delta);
    ProvenLoss loss;
    loss.epsilon = epsilon;
    loss.delta = delta;
    loss.points = {{epsilon, delta}};
    return loss;
}

ProvenLoss ProvenLoss::OfRelease(const Cost& cost) {
    ProvenLoss loss = OfPair(cost.epsilon, cost.delta);
    if (IsGaussianFullBatch(cost.events)) {
        loss.mu = std::sqrt(GaussianMuSquared(cost.events)) * (1 + kRounding);
        return loss;
    }
    for (double delta : kCurveDeltas)
        loss.points.push_back({CurveToEpsilon(cost.curve, delta).epsilon, delta});
    return loss;
}

double OddsFactor(double epsilon) {
    return std::exp(epsilon) * (1 + kRounding);
}

double BeliefAfter(double belief, double epsilon) {
    CheckInternal(belief > 0 && belief < 1, "a belief is a probability between 0 and 1");
    return Bounded(belief / (belief + (1 - belief) * std::exp(-epsilon)));
}

// The success of a guess at even odds is (1 - a + found(a)) / 2. Under one pair both bounds on found(a) meet at their
// best a, (1 - delta) / (e^epsilon + 1), which gives (e^epsilon + delta) / (e^epsilon + 1).
double GuessSuccess(const ProvenLoss& loss) {
    double success = 1;
    if (std::isfinite(loss.mu))
        success = NormalTail(-loss.mu / 2);
    for (const LossPoint& point : loss.points) {
        const double inverse = std::exp(-point.epsilon);
        success = std::min(success, (1 + point.delta * inverse) / (1 + inverse));
    }
    return Bounded(success);
}

double FoundShare(const ProvenLoss& loss, double false_alarms) {
    CheckInternal(false_alarms > 0 && false_alarms <= 0.5, "a rate of false alarms is at most one half");
    double found = 1;
    if (std::isfinite(loss.mu))
        found = NormalTail(NormalQuantile(false_alarms) - loss.mu);
    for (const LossPoint& point : loss.points)
        found = std::min(found, FoundAtPoint(point, false_alarms));
    return Bounded(found);
}

// Gaussian: size * mu. A pair: size * epsilon, and delta (1 + e^epsilon + ... + e^((size - 1) epsilon)), one person at a
// time.
ProvenLoss ForGroup(const ProvenLoss& loss, int size) {
    CheckInternal(size >= 1, "a group has a person at least");
    const auto grow = [size](const LossPoint& point) {
        double delta = 0;
        for (int i = 0; i < size; ++i)
            delta += point.delta == 0 ? 0 : point.delta * std::exp(i * point.epsilon);
        return LossPoint{size * point.epsilon, std::min(1.0, delta)};
    };
    ProvenLoss group;
    const LossPoint stated = grow({loss.epsilon, loss.delta});
    group.epsilon = stated.epsilon;
    group.delta = stated.delta;
    group.mu = size * loss.mu;
    for (const LossPoint& point : loss.points)
        group.points.push_back(grow(point));
    return group;
}

LossInWords InWords(const ProvenLoss& loss) {
    LossInWords words;
    words.odds = "Whatever someone believes about a person, its odds change by at most a factor of " +
                 FactorText(OddsFactor(loss.epsilon)) +
                 (loss.epsilon > std::log(kMeaningless) ? ", which promises nothing." : ".");
    words.belief = "A suspicion of 50 % becomes at most " + Percent(BeliefAfter(0.5, loss.epsilon)) +
                   ", one of 1 % at most " + Percent(BeliefAfter(0.01, loss.epsilon)) + ".";
    if (loss.delta > 0)
        words.failure = "It tells no more than a witness who keeps to this, but " + OneIn(loss.delta) +
                        " times (delta) tells everything.";
    words.guess = "Whoever guesses whether a person was in the data is right in at most " +
                  PrintedUp(100 * GuessSuccess(loss), 1) +
                  " of 100 cases, even if he knows all other rows; a coin is right in 50.";
    words.attack = "An attack that accuses 5 of 100 absent persons finds at most " +
                   PrintedUp(100 * FoundShare(loss, kFalseAlarms), 1) +
                   " of 100 present ones; blind guessing finds 5.";
    words.family = "For three persons together, say a family whose rows come and go as one, it is at most " +
                   PrintedUp(100 * GuessSuccess(ForGroup(loss, kFamily)), 1) + " of 100 cases.";
    return words;
}

std::vector<std::string> StillAtRisk() {
    return {
        "Anyone of whom the model is right: what holds for people like her is learned from others, with or "
        "without her rows.",
        "Someone who is more persons than one to the database: a unit is what its column says, or a row.",
        "Someone who is in other tables, or in copies, whose releases are counted elsewhere: their losses "
        "add up.",
        "Everyone, with those who may read the rows themselves: owners, superusers, whoever has SELECT or a "
        "backup.",
    };
}

std::string PrintedUp(double number, int decimals) {
    if (!std::isfinite(number))
        return "infinity";
    const double scale = std::pow(10.0, decimals);
    // What lies within a rounding error of a printed number is that number.
    const double up = std::ceil(number * scale * (1 - 1e-14) - 1e-9 * (number > 0 ? 1 : 0)) / scale;
    char buffer[400];
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, up);
    std::string text = buffer;
    if (decimals > 0) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.')
            text.pop_back();
    }
    const std::size_t first = text.front() == '-' ? 1 : 0;
    std::size_t point = std::min(text.find('.'), text.size());
    while (point > first + 3) {
        point -= 3;
        text.insert(point, ",");
    }
    return text;
}

}  // namespace dpboost
