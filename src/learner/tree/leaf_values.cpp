#include "learner/tree/leaf_values.h"

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
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
    return center + sigma * portable::InverseMills(a);
}

// The mean Hessian sum of a leaf over all trees so far. One below its own standard error cannot be told from
// zero.
double LeafValues::MeanHessian(const std::vector<NoisySide>& leaves) {
    for (const NoisySide& leaf : leaves) {
        hessian_total_ += leaf.hessian;
        gradient_total_ += leaf.gradient;
        variance_total_ += leaf.hessian_variance;
    }
    sums_ += static_cast<double>(leaves.size());
    return std::max({hessian_total_ / sums_, std::sqrt(variance_total_) / sums_, 1e-9});
}

double LeafValues::AveragedLabel(const NoisySide& leaf, double count, double mean) const {
    const double center = options_.label_center;
    const double centred = mean + (leaf.gradient - mean * count) / (count + options_.l2);
    const double limit = center == 0 ? 1 : center;
    return center + std::clamp(centred, -limit, limit);
}

double LeafValues::Step(const NoisySide& leaf, double hessian) const {
    const double clip = options_.leaf_clip;
    const double noise = options_.shrink ? leaf.gradient_variance / (hessian * clip * clip) : 0;
    return std::clamp(leaf.gradient / (hessian + options_.l2 + noise), -clip, clip);
}

std::vector<int32_t> LeafValues::Next(const std::vector<NoisySide>& leaves) {
    const double mean_hessian = MeanHessian(leaves);
    const double mean_label = std::clamp(gradient_total_ / (mean_hessian * sums_), -1.0, 1.0);
    std::vector<int32_t> values;
    values.reserve(leaves.size());
    double variance = 0, sigma = 1e-9;
    for (const NoisySide& leaf : leaves) {
        if (leaf.hessian_variance != variance) {  // mostly that of the leaf before
            variance = leaf.hessian_variance;
            sigma = std::max(std::sqrt(variance), 1e-9);
        }
        const double hessian = PosteriorMean(leaf.hessian, sigma, mean_hessian);
        const double value = options_.part == LeafPart::kAveraging ? AveragedLabel(leaf, hessian, mean_label)
                                                                   : Step(leaf, hessian);
        values.push_back(ToFixed(options_.scale * value));
    }
    return values;
}

std::vector<int32_t> LeafValues::NextOfClasses(const std::vector<NoisySide>& leaves,
                                               const std::vector<double>& gradients) {
    const size_t classes = gradients.size() / leaves.size();
    const double mean_hessian = MeanHessian(leaves);
    std::vector<int32_t> values;
    values.reserve(gradients.size());
    for (size_t leaf = 0; leaf < leaves.size(); leaf++) {
        NoisySide side = leaves[leaf];
        const double sigma = std::max(std::sqrt(side.hessian_variance), 1e-9);
        const double hessian = PosteriorMean(side.hessian, sigma, mean_hessian);
        double mean = 0;
        for (size_t k = 0; k < classes; k++)
            mean += gradients[leaf * classes + k] / static_cast<double>(classes);
        for (size_t k = 0; k < classes; k++) {
            side.gradient = gradients[leaf * classes + k] - mean;
            values.push_back(ToFixed(options_.scale * Step(side, hessian)));
        }
    }
    return values;
}

}  // namespace dpboost
