#include "learner/tree/leaf_values.h"

#include <algorithm>
#include <cmath>

#include "dataset/target.h"

namespace dpboost {

// The posterior is a normal distribution around noisy - sigma^2/mean, cut off at 0.
double PosteriorMean(double noisy, double sigma, double mean) {
    const double center = noisy - sigma * sigma / mean;
    const double a = center / sigma;
    if (a > 8)  // the cut changes less than the last bit
        return center;
    if (a < -20)  // leading terms of the tail's expansion
        return sigma / -a * (1 - 2 / (a * a));
    const double density = std::exp(-0.5 * a * a) * 0.3989422804014327;
    const double mass = 0.5 * std::erfc(-a * 0.7071067811865476);
    return center + sigma * density / mass;
}

LeafValues::LeafValues(const LeafValueOptions& options, size_t leaves, double gradient_unit,
                       double hessian_unit, double hessian_sigma)
    : options_(options),
      leaves_(leaves),
      gradient_unit_(gradient_unit),
      hessian_unit_(hessian_unit),
      sigma_(hessian_sigma * hessian_unit) {}

void LeafValues::Compute(const int64_t* noisy_gradients, const int64_t* noisy_hessians,
                         std::vector<int32_t>* values) {
    for (size_t leaf = 0; leaf < leaves_; leaf++)
        noisy_total_ += static_cast<double>(noisy_hessians[leaf]) * hessian_unit_;
    sums_ += static_cast<double>(leaves_);
    // A mean below its own standard error cannot be told from zero.
    const double mean = std::max(noisy_total_ / sums_, sigma_ / std::sqrt(sums_));
    values->resize(leaves_);
    for (size_t leaf = 0; leaf < leaves_; leaf++) {
        const double noisy_gradient = static_cast<double>(noisy_gradients[leaf]) * gradient_unit_;
        const double noisy_hessian = static_cast<double>(noisy_hessians[leaf]) * hessian_unit_;
        const double step = noisy_gradient / (PosteriorMean(noisy_hessian, sigma_, mean) + options_.l2);
        const double clipped = std::clamp(step, -options_.leaf_clip, options_.leaf_clip);
        (*values)[leaf] = ToFixed(options_.learning_rate * clipped);
    }
}

}  // namespace dpboost
