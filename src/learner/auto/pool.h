// The pool of auto's plan: each draw releases sums with the part of the pool that the schedule gives it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "mechanism/releaser.h"
#include "privacy/pool.h"

namespace dpboost {

class Pool {
  public:
    // The releaser must outlive the pool.
    Pool(Releaser& releaser, MechanismId id)
        : releaser_(releaser), id_(id), mu_(1 / releaser.plan().NoiseMultiplier(id)) {}

    // The whole pool is mu-GDP.
    double mu() const { return mu_; }
    // What is left, as a fraction of the pool.
    double left() const {
        return static_cast<double>(releaser_.plan().PartsLeft(id_)) /
               static_cast<double>(GaussianPool::kParts);
    }
    // One of `draws` equal parts of what is left above `leave`; the last one takes all of it.
    double Slice(double leave, uint64_t draws) const {
        return std::max(0.0, left() - leave) / static_cast<double>(draws);
    }

    // Neighbours: add or remove one unit. Sensitivity: that of the sums (rows/basis_rows.h). Charge: `fraction` of the
    // pool; more than is left takes all of it, less than can be drawn takes that.
    NoisySums Release(double fraction, RawSums&& sums) {
        return releaser_.ReleasePart(id_, fraction, std::move(sums));
    }

  private:
    Releaser& releaser_;
    MechanismId id_;
    double mu_;
};

}  // namespace dpboost
