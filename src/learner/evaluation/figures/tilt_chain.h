// How densely rows of one class lie along the scores, from noisy counts in bins: a curve that bends as little as the counts
// let it. Its log over an expected density is an integrated Wiener process (the prior behind cubic smoothing splines,
// [WAHBA78]); how much it bends is not chosen but averaged over, by how likely the counts are under each answer.
// Post-processing of noisy counts.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace dpboost {

// A bin of the chain.
struct TiltBin {
    struct Node {
        double far;     // from `at`
        double weight;  // expected rows, up to a common factor
    };
    double at = 0;            // where it is; ascending along the chain, in units of the scores' spread
    std::vector<Node> nodes;  // where its rows may lie
    double count = 0;         // noisy
    double variance = 1;      // of the count: noise and chance
};

class TiltChain {
  public:
    explicit TiltChain(const std::vector<TiltBin>& bins);

    size_t size() const { return tilts_.size(); }
    // Slope of the log density over the expected one, per unit of `at`: mean and standard deviation of what it may be.
    double tilt(size_t bin) const { return tilts_[bin]; }
    double doubt(size_t bin) const { return doubts_[bin]; }
    // Variance of a figure that changes by `gradient` times the tilts.
    double Variance(const std::vector<double>& gradient) const;

  private:
    using Vector = std::array<double, 2>;  // log level and tilt
    using Matrix = std::array<double, 3>;  // symmetric: 00, 01, 11
    using Full = std::array<double, 4>;    // row by row

    // A bend, and what follows from it.
    struct Fit {
        double bend;
        double log_evidence = 0;
        double weight = 0;
        std::vector<Vector> states;
        std::vector<Matrix> inverse;  // of the pivots of the precision's block elimination
        std::vector<Full> below;      // precision between a bin and the next one
        double log_determinant = 0;
    };

    void Solve(const std::vector<TiltBin>& bins, Fit* fit) const;
    double Factor(const std::vector<TiltBin>& bins, Fit* fit, std::vector<Vector>* slope) const;
    static std::vector<Vector> Apply(const Fit& fit, std::vector<Vector> right);
    void Summarize();

    std::vector<Fit> fits_;
    std::vector<double> tilts_;
    std::vector<double> doubts_;
};

}  // namespace dpboost
