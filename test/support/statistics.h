// Tests of hypotheses for the statistical tests, each with a false-alarm rate of at most 1e-9. Seeds are
// fixed, so a test that passes once passes always; the rate says how sure one can be that a failing one is no
// accident.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dpboost {

constexpr double kLogFalseAlarm = 20.723;  // -log(1e-9)
constexpr double kNormalLimit = 6.11;      // P(|Z| > 6.11) < 1e-9

// Dvoretzky-Kiefer-Wolfowitz: all values of an empirical distribution of so many draws are this close to the true ones, but
// for a probability of 1e-9.
inline double DkwSlack(int draws) {
    return std::sqrt(std::log(2 / 1e-9) / (2 * draws));
}

struct ChiSquareResult {
    double statistic;
    double limit;
    bool Passes() const { return statistic <= limit; }
};

// Pearson's statistic of counts against probabilities (which sum to 1). Neighbouring bins are pooled until
// each expects at least 40. Limit: P(chi^2_k >= k + 2 sqrt(k x) + 2 x) <= e^-x (Laurent, Massart 2000, Lemma
// 1).
inline ChiSquareResult ChiSquare(const std::vector<uint64_t>& counts,
                                 const std::vector<double>& probabilities) {
    double total = 0;
    for (const uint64_t count : counts) {
        total += static_cast<double>(count);
    }
    std::vector<double> observed;
    std::vector<double> expected;
    double pooled_count = 0;
    double pooled_expected = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        pooled_count += static_cast<double>(counts[i]);
        pooled_expected += probabilities[i] * total;
        if (pooled_expected >= 40) {
            observed.push_back(pooled_count);
            expected.push_back(pooled_expected);
            pooled_count = pooled_expected = 0;
        }
    }
    if (!observed.empty()) {
        observed.back() += pooled_count;
        expected.back() += pooled_expected;
    }
    double statistic = 0;
    for (std::size_t i = 0; i < observed.size(); ++i) {
        statistic += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
    }
    const double freedom = static_cast<double>(observed.size()) - 1;
    return {statistic, freedom + 2 * std::sqrt(freedom * kLogFalseAlarm) + 2 * kLogFalseAlarm};
}

// Whether a count is plausible for a sum of many rare, independent events with this mean (Chernoff's bound
// for the Poisson distribution, each side).
inline bool IsPlausibleRareCount(double count, double mean) {
    const double divergence = count > 0 ? count * std::log(count / mean) - count + mean : mean;
    return divergence <= kLogFalseAlarm + std::log(2.0);
}

// (count - n p) in standard deviations.
inline double BinomialZ(double count, double n, double p) {
    return (count - n * p) / std::sqrt(n * p * (1 - p));
}

inline double NormalUpperTail(double x) {
    return 0.5 * std::erfc(x / std::sqrt(2.0));
}

// For sorted draws from neighbouring inputs, as many from each: the largest P(above t) - e^epsilon Q(above t), or the
// same below t, over all thresholds t.
inline double ExcessOver(double epsilon, const std::vector<double>& p, const std::vector<double>& q) {
    const auto draws = static_cast<double>(p.size());
    double worst = 0;
    for (const double t : p) {
        const double p_below =
            static_cast<double>(std::lower_bound(p.begin(), p.end(), t) - p.begin()) / draws;
        const double q_below =
            static_cast<double>(std::lower_bound(q.begin(), q.end(), t) - q.begin()) / draws;
        worst = std::max({worst, p_below - std::exp(epsilon) * q_below,
                          (1 - p_below) - std::exp(epsilon) * (1 - q_below)});
    }
    return worst;
}

}  // namespace dpboost
