// What the first steps of the linear stage say about features: whether their gradients are more than noise. Post-processing
// of released gradients and noisy counts.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "learner/rows/additive/basis.h"

namespace dpboost {

// The gradients of the first steps, from which follows which features say anything.
class FirstLook {
  public:
    explicit FirstLook(std::size_t coordinates) : sums_(coordinates, 0.0) {}

    void Add(const std::vector<double>& gradient, double sigma) {
        for (std::size_t k = 0; k < sums_.size(); k++)
            sums_[k] += gradient[k];
        variance_ += sigma * sigma;
        steps_++;
    }

    // By how many standard deviations gradients exceed noise: of each block of the basis, and of all together.
    struct Evidence {
        std::vector<double> blocks;
        double all = 0;
    };
    // Noise is also that rows are a sample, with this variance of a gradient of each output.
    Evidence Weigh(const Basis& basis, const std::vector<double>& squares, double kappa,
                   const std::vector<double>& sampling) const {
        Evidence evidence;
        double total = 0, total_noise = 1e-12;
        for (const BasisBlock& block : basis.blocks()) {
            double signal = 0, noise = 1e-12;
            for (std::size_t output = 0; output < sampling.size(); output++) {
                const double* const sums = sums_.data() + output * squares.size();
                for (uint32_t k = block.first; k < block.first + block.coordinates(); k++) {
                    const double weight = squares[k] / (squares[k] * squares[k] + kappa * variance_);
                    const double variance = variance_ + steps_ * steps_ * squares[k] * sampling[output];
                    signal += (sums[k] * sums[k] - variance) * weight;
                    noise += 2 * variance * variance * weight * weight;
                }
            }
            // Of K outputs K - 1 are free: each varies as much as K / (K - 1) would.
            if (sampling.size() > 1)
                noise *= static_cast<double>(sampling.size()) / static_cast<double>(sampling.size() - 1);
            evidence.blocks.push_back(signal / std::sqrt(noise));
            total += signal;
            total_noise += noise;
        }
        evidence.all = total / std::sqrt(total_noise);
        return evidence;
    }

  private:
    std::vector<double> sums_;
    double variance_ = 0;
    double steps_ = 0;
};

}  // namespace dpboost
