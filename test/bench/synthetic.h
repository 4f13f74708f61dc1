// Generated tables for the benchmarks of `auto`: inputs that users will have and that a method tuned on tidy
// data may fail on. Fixed seeds; this is test data, so its randomness need not be private.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/csv_data.h"

namespace dpboost {

class Synthetic {
  public:
    explicit Synthetic(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}

    double Uniform() {
        state_ += 0x9E3779B97F4A7C15U;
        uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        return static_cast<double>((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
    }
    double Normal() { return std::sqrt(-2 * std::log(1 - Uniform())) * std::cos(2 * M_PI * Uniform()); }
    double Positive(double log_odds) { return Uniform() < 1 / (1 + std::exp(-log_odds)) ? 1 : 0; }

  private:
    uint64_t state_;
};

struct SyntheticKind {
    const char* name;
    const char* what;
    size_t rows;
    int columns;
    double lower, upper;  // of every column
    bool integer;
    double target;  // regression: the target is within +- this (or from 0, if `positive`); 0: classes
    bool positive;
};

inline const std::vector<SyntheticKind>& SyntheticKinds() {
    static const std::vector<SyntheticKind> kinds = {
        {"counts", "classes by counts of which 95 % are 0", 20000, 10, 0, 100, true, 0, false},
        {"crowded", "columns that use a hundredth of their range", 20000, 10, 0, 1000, false, 0, false},
        {"copies", "regression on near-copies of two columns", 10000, 12, -4, 4, false, 10, false},
        {"collinear", "regression on sums and differences", 10000, 8, -8, 8, false, 10, false},
        {"hidden", "regression on a column beside 12 near-copies of a weak one", 10000, 42, -4, 4, false, 10,
         false},
        {"xor2", "XOR of two of 8 columns", 20000, 8, 0, 1, false, 0, false},
        {"xor3", "XOR of three of 8 columns", 20000, 8, 0, 1, false, 0, false},
        {"pairs1m", "three pairs and a triple, 1M rows", 1000000, 28, -4, 4, false, 0, false},
        {"rare1", "1 % positives", 50000, 10, -4, 4, false, 0, false},
        {"rare01", "0.1 % positives", 100000, 10, -4, 4, false, 0, false},
        {"skewed", "a log-normal target", 20000, 8, -4, 4, false, 200, true},
        {"useless", "nothing but noise, 100 columns", 10000, 100, -4, 4, false, 0, false},
    };
    return kinds;
}

inline const SyntheticKind* FindSynthetic(const std::string& name) {
    for (const SyntheticKind& kind : SyntheticKinds()) {
        if (name == kind.name)
            return &kind;
    }
    return nullptr;
}
inline bool IsSynthetic(const std::string& name) {
    return FindSynthetic(name) != nullptr;
}

// Most values are 0, as of words in a mail.
inline double DrawCounts(Synthetic& random, std::vector<double>& x) {
    double score = -0.5;
    for (size_t j = 0; j < x.size(); j++) {
        x[j] = random.Uniform() < 0.95 ? 0
                                       : std::min(100.0, 1 + std::floor(-8 * std::log(1 - random.Uniform())));
        score += (j % 2 == 0 ? 1.2 : -0.9) * (j < 8) * (x[j] > 0 ? 0.5 + 0.5 * std::log(x[j]) : 0);
    }
    return random.Positive(score);
}

// One row: fills x, returns the target.
inline double DrawSynthetic(const std::string& name, Synthetic& random, std::vector<double>& x) {
    const auto side = [](double value, double middle) { return value > middle ? 1.0 : -1.0; };
    for (double& value : x)
        value = random.Normal();
    if (name == "counts")
        return DrawCounts(random, x);
    if (name == "crowded") {
        double score = 0;
        for (size_t j = 0; j < x.size(); j++) {
            score += (j < 6 ? 0.6 : 0) * (j % 2 == 0 ? x[j] : std::sin(2 * x[j]));
            x[j] = 5 + 1.5 * x[j];
        }
        return random.Positive(score);
    }
    if (name == "copies") {
        const double a = x[0], b = x[1];
        for (size_t j = 0; j < x.size(); j++)
            x[j] = (j % 2 == 0 ? a : b) + 0.05 * x[j];
        return 2 * a - 1.5 * b + 0.5 * random.Normal();
    }
    if (name == "hidden") {
        const double weak = x[0];
        for (size_t j = 0; j < 40; j++)
            x[j] = weak + 0.02 * x[j];
        return 0.02 * weak + 2 * x[40] + 0.1 * random.Normal();
    }
    if (name == "collinear") {
        x[4] = x[0] + x[1];
        x[5] = x[0] - x[1];
        x[6] = x[0] + x[1] + x[2];
        x[7] = x[2] - x[3];
        return x[0] - 0.7 * x[1] + 0.5 * x[2] - x[3] + 0.5 * random.Normal();
    }
    if (name == "xor2" || name == "xor3") {
        for (double& value : x)
            value = random.Uniform();
        double parity = side(x[1], 0.5) * side(x[4], 0.5);
        if (name == "xor3")
            parity *= side(x[6], 0.5);
        return random.Uniform() < 0.05 ? parity < 0 : parity > 0;
    }
    if (name == "pairs1m") {
        const double score = 0.5 * x[0] - 0.4 * x[1] + 0.3 * std::fabs(x[2]) + 1.2 * x[3] * x[4] +
                             1.2 * side(x[5], 0) * side(x[6], 0) - 1.0 * x[7] * std::fabs(x[8]) +
                             1.2 * side(x[9], 0) * side(x[10], 0.3) * side(x[11], -0.3);
        return random.Positive(score);
    }
    if (name == "rare1" || name == "rare01")
        return random.Positive((name == "rare1" ? -6.2 : -9.0) + 1.2 * x[0] - x[1] + 0.8 * x[2] * (x[2] > 0) +
                               0.7 * x[3]);
    if (name == "skewed")
        return std::min(200.0,
                        std::exp(1.5 + 0.8 * x[0] - 0.5 * x[1] + 0.3 * x[2] * x[3] + 0.4 * random.Normal()));
    return random.Positive(-1);
}

inline EncodedTable MakeSynthetic(const std::string& name) {
    const SyntheticKind& kind = *FindSynthetic(name);
    EncodedTable out;
    std::vector<Encoder> encoders;
    for (int j = 0; j < kind.columns; j++) {
        NumericRange range;
        range.lower = kind.lower;
        range.upper = kind.upper;
        range.integer = kind.integer;
        out.features.push_back(FeatureSpec::Numeric("x" + std::to_string(j), range));
        encoders.emplace_back(out.features.back());
    }
    if (kind.target > 0)
        out.target = TargetSpec::Regression(kind.positive ? 0 : -kind.target, kind.target);
    uint64_t seed = 7;
    for (const char c : name)
        seed = seed * 31 + static_cast<unsigned char>(c);
    Synthetic random(seed);
    std::vector<double> x(static_cast<size_t>(kind.columns));
    for (size_t row = 0; row < kind.rows; row++) {
        out.values.push_back(DrawSynthetic(name, random, x));
        for (size_t j = 0; j < x.size(); j++)
            out.codes.push_back(encoders[j].Number(x[j]));
    }
    return out;
}

}  // namespace dpboost
