// From the noisy sums of a tree to its leaf values (C2 of [FEDGBDT]): averaging, gradient or
// Newton, whatever released the sums. Reads released figures only: post-processing, which costs no privacy.
#pragma once

#include <cstdint>
#include <vector>

#include "learner/boosted/framework_options.h"
#include "learner/tree/split_score.h"

namespace dpboost {

class LeafUpdate {
  public:
    explicit LeafUpdate(const FrameworkOptions& options);

    // Values of the next tree, in units of 2^-kFixedBits.
    // Gradient and Newton: eta / B * clamp(G / (W + lambda + v / (W beta^2)), -beta, beta), with W the
    // posterior mean of the Hessian (or count) given its noisy sum (learner/leaf_value.h says why not the
    // noisy sum itself) and v the variance of the noise in G: the posterior mean of the step, if steps
    // scatter by beta about zero. Without noise it is the papers' G / (H + lambda).
    // Averaging: 1 / T times the mean label of the leaf, drawn to the mean of all leaves by lambda rows.
    std::vector<int32_t> Values(const std::vector<NoisySide>& leaves);

  private:
    double MeanHessian(const std::vector<NoisySide>& leaves);
    double Step(const NoisySide& leaf, double hessian) const;
    double AveragedLabel(const NoisySide& leaf, double count, double mean) const;

    const LeafPart part_;
    const double label_center_;  // what a centred label of 0 stands for
    const double l2_;
    const double leaf_clip_;
    const double scale_;  // of a leaf's value in the ensemble
    double hessian_total_ = 0;
    double gradient_total_ = 0;
    double variance_total_ = 0;  // of the noise in hessian_total_
    double sums_ = 0;
};

}  // namespace dpboost
