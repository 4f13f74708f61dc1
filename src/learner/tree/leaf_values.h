// From noisy sums to leaf values (C2 of [FEDGBDT], [SBDT] Alg 5 line 6): averaging, gradient or Newton, whatever
// released the sums. Reads released figures only: post-processing, which costs no privacy.
#pragma once

#include <cstdint>
#include <vector>

#include "learner/tree/noisy_sides.h"

namespace dpboost {

// What a leaf holds.
enum class LeafPart {
    kAveraging,  // the mean label of the leaf; the ensemble is averaged, not boosted
    kGradient,   // the mean gradient
    kNewton      // gradient sum over Hessian sum
};

struct LeafValueOptions {
    LeafPart part = LeafPart::kNewton;
    double scale = 1;         // of a leaf's value in the ensemble
    double l2 = 0;            // lambda, in units of the Hessian
    double leaf_clip = 1;     // beta
    double label_center = 0;  // of averaging: what a centred label of 0 stands for
    bool shrink = false;      // steps know the noise of their gradient sum
};

// Gradient and Newton: scale * clamp(G / (W + lambda), -beta, beta), with an estimate W of the Hessian sum (or count). The
// papers take the noisy Hessian sum itself, which under strong noise is often near or below zero and makes a step of
// the wrong size or sign; here W is its posterior mean, given that true sums are not negative and scatter about the
// ensemble's mean leaf (an exponential prior), which is learned from the noisy sums of all trees so far. With little
// noise the two agree. If steps shrink, v / (W beta^2) is added to the denominator, v being the variance of the noise in
// G: the posterior mean of the step, if steps scatter by beta about zero.
// Averaging: scale times the mean label of the leaf, drawn to the mean of all leaves by lambda rows.
class LeafValues {
  public:
    explicit LeafValues(const LeafValueOptions& options) : options_(options) {}

    // Values of the next tree, in steps of 2^-kFixedBits.
    std::vector<int32_t> Next(const std::vector<NoisySide>& leaves);
    // The same for K classes: K gradients per leaf, side by side, and so many values; of `leaves` the Hessians count alone.
    // Over the classes gradients add up to zero, so that the mean of their noise is taken off.
    std::vector<int32_t> NextOfClasses(const std::vector<NoisySide>& leaves,
                                       const std::vector<double>& gradients);

  private:
    double MeanHessian(const std::vector<NoisySide>& leaves);
    double Step(const NoisySide& leaf, double hessian) const;
    double AveragedLabel(const NoisySide& leaf, double count, double mean) const;

    const LeafValueOptions options_;
    double hessian_total_ = 0;
    double gradient_total_ = 0;
    double variance_total_ = 0;  // of the noise in hessian_total_
    double sums_ = 0;            // how many they were
};

// E[w | w + N(0, sigma^2) = noisy] for w exponentially distributed with the given mean; positive for sigma,
// mean > 0.
double PosteriorMean(double noisy, double sigma, double mean);

}  // namespace dpboost
