// From noisy sums to leaf values ([SBDT] Alg 5 line 6): Newton steps, clamped and in the model's fixed
// point. Reads released figures only, so everything here is post-processing and costs no privacy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dpboost {

struct LeafValueOptions {
    double learning_rate;  // eta
    double l2;             // lambda, in units of the Hessian
    double leaf_clip;      // beta
};

// Leaf value = eta * clamp(u / (w + lambda), -beta, beta) with the noisy gradient sum u and an estimate w of
// the Hessian sum. The paper takes the noisy Hessian sum itself, which under strong noise is often near or
// below zero and makes a step of the wrong size or sign; here w is its posterior mean, given that true sums
// are not negative and scatter about the ensemble's mean leaf (an exponential prior), which is learned from
// the noisy sums of all trees so far. With little noise the two agree.
class LeafValues {
  public:
    // The unit of a sum is one lattice step; sigma is the standard deviation of a Hessian sum's noise, in
    // steps.
    LeafValues(const LeafValueOptions& options, size_t leaves, double gradient_unit, double hessian_unit,
               double hessian_sigma);

    // Values of the next tree, in units of 2^-kFixedBits.
    void Compute(const int64_t* noisy_gradients, const int64_t* noisy_hessians, std::vector<int32_t>* values);

  private:
    LeafValueOptions options_;
    size_t leaves_;
    double gradient_unit_;
    double hessian_unit_;
    double sigma_;            // natural units
    double noisy_total_ = 0;  // of all Hessian sums so far
    double sums_ = 0;         // how many they were
};

// E[w | w + N(0, sigma^2) = noisy] for w exponentially distributed with the given mean; positive for sigma,
// mean > 0.
double PosteriorMean(double noisy, double sigma, double mean);

}  // namespace dpboost
