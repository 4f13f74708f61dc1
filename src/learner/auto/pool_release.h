// Spends the pool of auto's plan: turns raw sums over units into noisy ones, each draw with the part of the
// pool that the schedule gives it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "mechanism/noisy_sum.h"
#include "privacy/plan.h"
#include "privacy/pool.h"

namespace dpboost {

class PoolRelease {
  public:
    PoolRelease(Plan& plan, MechanismId id, NoiseSource& noise)
        : plan_(plan), id_(id), noise_(noise), mu_(1 / plan.NoiseMultiplier(id)) {}

    // The whole pool is mu-GDP.
    double mu() const { return mu_; }
    // What is left, as a fraction of the pool.
    double left() const {
        return static_cast<double>(plan_.PartsLeft(id_)) / static_cast<double>(GaussianPool::kParts);
    }

    // One of `draws` equal parts of what is left above `leave`; the last one takes all of it.
    double Slice(double leave, uint64_t draws) const {
        return std::max(0.0, left() - leave) / static_cast<double>(draws);
    }

    // Spends `fraction` of the pool on sums with this L2 sensitivity under add/remove of one unit: raw on
    // entry, noisy on return. Returns sigma in lattice steps. A fraction beyond what is left takes all of it.
    double AddNoise(double fraction, double sensitivity, std::vector<int64_t>& sums) {
        const double wanted = std::floor(fraction * static_cast<double>(GaussianPool::kParts));
        const uint64_t left = plan_.PartsLeft(id_);
        const uint64_t parts =
            wanted >= static_cast<double>(left) ? left : static_cast<uint64_t>(std::max(wanted, 1.0));
        AddGaussianNoise(plan_.TakePart(id_, parts, sensitivity, sums.size()), noise_,
                         {sums.data(), sums.size()});
        return sensitivity / mu_ /
               std::sqrt(static_cast<double>(parts) / static_cast<double>(GaussianPool::kParts));
    }

  private:
    Plan& plan_;
    MechanismId id_;
    NoiseSource& noise_;
    double mu_;
};

}  // namespace dpboost
