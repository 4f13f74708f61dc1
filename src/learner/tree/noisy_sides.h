// Released gradient and Hessian sums of leaves, cells or sides of a split, in natural units and with the variance of
// their noise: what scores of splits and values of leaves are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mechanism/releaser.h"

namespace dpboost {

struct NoisySide {
    double gradient = 0;
    double hessian = 0;
    double gradient_variance = 0;
    double hessian_variance = 0;

    void Add(const NoisySide& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        gradient_variance += other.gradient_variance;
        hessian_variance += other.hessian_variance;
    }
    // What is left without a part of the same sums.
    NoisySide Without(const NoisySide& part) const {
        return {gradient - part.gradient, hessian - part.hessian, gradient_variance - part.gradient_variance,
                hessian_variance - part.hessian_variance};
    }
};

// What one lattice step is worth.
struct GradientUnits {
    double hessian = 1;
    double gradient = 1;
};

class NoisySides {
  public:
    NoisySides() = default;
    // A release of Hessian sums and gradient sums.
    NoisySides(NoisyPair sums, GradientUnits units) : sums_(std::move(sums)), units_(units) {
        const double hessian_sigma = sums_.first.sigma * units.hessian;
        const double gradient_sigma = sums_.second.sigma * units.gradient;
        hessian_variance_ = hessian_sigma * hessian_sigma;
        gradient_variance_ = gradient_sigma * gradient_sigma;
    }

    std::size_t size() const { return sums_.first.values.size(); }
    NoisySide operator[](std::size_t i) const {
        return {static_cast<double>(sums_.second.values[i]) * units_.gradient,
                static_cast<double>(sums_.first.values[i]) * units_.hessian, gradient_variance_,
                hessian_variance_};
    }
    std::vector<NoisySide> All() const {
        std::vector<NoisySide> all(size());
        for (std::size_t i = 0; i < all.size(); i++)
            all[i] = (*this)[i];
        return all;
    }
    // All gradient sums, where a leaf has several.
    std::vector<double> Gradients() const {
        std::vector<double> gradients;
        for (const int64_t value : sums_.second.values)
            gradients.push_back(static_cast<double>(value) * units_.gradient);
        return gradients;
    }
    // In lattice steps.
    const NoisySums& hessians() const { return sums_.first; }

  private:
    NoisyPair sums_;
    GradientUnits units_;
    double hessian_variance_ = 0;
    double gradient_variance_ = 0;
};

}  // namespace dpboost
