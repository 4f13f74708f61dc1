// A pool of Gaussian privacy that a training spends in parts of its own choosing: how much a draw takes may
// depend on what earlier draws released (a noisy row count decides how the rest is shared out). The pool's
// total is fixed before any row is read and is all that the accountant sees.
//
// Claim: draws i = 1, 2, ... of Gaussian noise with multiplier s_i (sigma / L2 sensitivity), each chosen by
// looking at the results of the earlier ones, stopped such that always sum 1/s_i^2 <= 1/s^2, are together no
// less private than one Gaussian of multiplier s: the same Renyi curve, privacy loss distribution, and
// (1/s)-GDP. Proof: given the past, draw i has the log likelihood ratio N(d_i^2/2, d_i^2) under the first of
// two neighbours and N(-d_i^2/2, d_i^2) under the second, with d_i <= 1/s_i. Append one more Gaussian draw
// that brings sum d_i^2 to exactly 1/s^2 (throwing it away is post-processing). Then the sum of the log
// ratios is a Brownian motion with drift, read off at the fixed time 1/s^2, hence distributed exactly as that
// of one Gaussian of multiplier s. ([ST22]; [KTH23]; for Renyi curves [FZ21].) Neighbours: add or remove one unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "privacy/charge.h"

namespace dpboost {

class GaussianPool {
  public:
    // 1/s^2 is cut into this many equal parts, so that what is spent is an integer and its sum exact.
    static constexpr uint64_t kParts = uint64_t{1} << 30;

    explicit GaussianPool(double noise_multiplier);

    uint64_t parts_left() const { return parts_left_; }

    // Takes `parts` of the pool for one draw of at most `sums` values that a unit changes by at most
    // `sensitivity` lattice steps in L2 norm. sigma = sensitivity * s * sqrt(kParts / parts), rounded up.
    // Throws kInternal for no parts or more than are left, kInvalidParameter for a scale that cannot be
    // drawn.
    std::shared_ptr<const MechanismNoise> Take(uint64_t parts, double sensitivity, std::size_t sums);

  private:
    double noise_multiplier_;
    uint64_t parts_left_ = kParts;
};

}  // namespace dpboost
