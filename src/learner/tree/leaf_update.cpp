#include "learner/tree/leaf_update.h"

#include <algorithm>
#include <cmath>

#include "learner/tree/leaf_values.h"

namespace dpboost {

LeafUpdate::LeafUpdate(const FrameworkOptions& options)
    : part_(options.leaf),
      label_center_(options.task == Task::kBinary ? 0.5 : 0),
      l2_(options.l2),
      leaf_clip_(options.leaf_clip),
      scale_(options.leaf == LeafPart::kAveraging ? 1.0 / options.trees
                                                  : options.learning_rate / options.batch_size()) {}

// The mean Hessian sum of a leaf over all trees so far. One below its own standard error cannot be told from
// zero.
double LeafUpdate::MeanHessian(const std::vector<NoisySide>& leaves) {
    for (const NoisySide& leaf : leaves) {
        hessian_total_ += leaf.hessian;
        gradient_total_ += leaf.gradient;
        variance_total_ += leaf.hessian_variance;
    }
    sums_ += static_cast<double>(leaves.size());
    return std::max({hessian_total_ / sums_, std::sqrt(variance_total_) / sums_, 1e-9});
}

double LeafUpdate::AveragedLabel(const NoisySide& leaf, double count, double mean) const {
    const double centred = mean + (leaf.gradient - mean * count) / (count + l2_);
    const double limit = label_center_ == 0 ? 1 : label_center_;
    return label_center_ + std::clamp(centred, -limit, limit);
}

double LeafUpdate::Step(const NoisySide& leaf, double hessian) const {
    const double noise = leaf.gradient_variance / (hessian * leaf_clip_ * leaf_clip_);
    return std::clamp(leaf.gradient / (hessian + l2_ + noise), -leaf_clip_, leaf_clip_);
}

std::vector<int32_t> LeafUpdate::Values(const std::vector<NoisySide>& leaves) {
    const double mean_hessian = MeanHessian(leaves);
    const double mean_label = std::clamp(gradient_total_ / (mean_hessian * sums_), -1.0, 1.0);
    std::vector<int32_t> values;
    values.reserve(leaves.size());
    for (const NoisySide& leaf : leaves) {
        const double sigma = std::max(std::sqrt(leaf.hessian_variance), 1e-9);
        const double hessian = PosteriorMean(leaf.hessian, sigma, mean_hessian);
        double value = 0;
        if (part_ == LeafPart::kAveraging)
            value = AveragedLabel(leaf, hessian, mean_label);
        else
            value = Step(leaf, hessian);
        values.push_back(ToFixed(scale_ * value));
    }
    return values;
}

}  // namespace dpboost
