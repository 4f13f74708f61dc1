// Integer sums of gradients and Hessians per leaf ([SBDT] Alg 5 lines 2 and 4), and the bound on what one
// privacy unit adds to them. These sums are the raw figures that noise is added to; they leave the learner
// only through mechanism/noisy_sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dpboost {

// r1 and r2 of [SBDT] Thm 16 as integers: weights that sum to exactly 2^kWeightBits.
constexpr int kWeightBits = 20;

class LeafWeights {
  public:
    // The nearest weights that the integer grid has; both at least one step.
    explicit LeafWeights(double hessian_share);

    uint32_t hessian() const { return hessian_; }
    uint32_t gradient() const { return (1U << kWeightBits) - hessian_; }
    double hessian_share() const { return static_cast<double>(hessian_) / (1U << kWeightBits); }
    double gradient_share() const { return static_cast<double>(gradient()) / (1U << kWeightBits); }

  private:
    uint32_t hessian_;
};

// Sums of one tree.
class LeafSums {
  public:
    explicit LeafSums(size_t leaves) : sums_(2 * leaves) {}

    size_t leaves() const { return sums_.size() / 2; }
    void Clear();
    // Each row is a unit of its own, within the clip bounds.
    void AddRows(const uint16_t* leaves, const int32_t* gradients, const int32_t* hessians, size_t n);
    void AddOne(uint32_t leaf, int64_t gradient, int64_t hessian) {
        sums_[2 * leaf] += gradient;
        sums_[2 * leaf + 1] += hessian;
    }
    void Add(const LeafSums& other);
    // Writes one array per dimension, as noisy_sum takes them.
    void Split(int64_t* raw_gradients, int64_t* raw_hessians) const;

  private:
    std::vector<int64_t> sums_;  // gradient and Hessian of a leaf side by side
};

// What one unit with several rows adds to the sums of one tree, over all leaves its rows fall into.
//
// Guarantee: with S = kClipSteps and (H_l, G_l) what AddTo adds to leaf l,
//     r1 sum_l H_l^2 + r2 sum_l G_l^2 <= S^2.
// So removing the unit moves the leaf-balanced Gaussian's mean by at most one noise-normalised unit: its
// variance is (s S)^2 / r_d in dimension d, hence sum_d |Delta_d|^2 / sigma_d^2 <= 1/s^2, which is the event
// that the Plan charges ([SBDT] Thm 16 with vectors in place of scalars; the proof only needs the weighted
// squared norm).
//
// Proof: let W_d = 2^20 r_d, integers, N = W_1 sum H^2 + W_2 sum G^2 of the unit's own sums and B = 2^20 S^2.
// If N <= B nothing changes. Else q = floor(2^64 B / N) and c = floor(sqrt(q)), so c^2 N <= 2^64 B; every sum
// is multiplied by c / 2^32 and rounded towards zero, which leaves no sum larger than c / 2^32 times what it
// was, and thus a weighted norm of at most (c / 2^32)^2 N <= B. All steps are exact in 128-bit integers: a
// unit has less than 2^32 rows of at most S = 2^16 steps, so |H_l| <= 2^48, N < 2^20 * 2 * 2^96 < 2^127.
//
// The scaling keeps the ratio of the unit's gradient and Hessian, so a person with many rows counts like one
// with few rows of the same kind instead of pulling leaves to the bound.
class UnitSum {
  public:
    UnitSum(size_t leaves, LeafWeights weights);

    void AddRow(uint32_t leaf, int32_t gradient, int32_t hessian);
    // Clips. Returns u = (r1 sum H^2 + r2 sum G^2) / S^2 in units of 2^-bits, rounded up, at most 2^bits:
    // what the Renyi filter charges (privacy/renyi_filter.h, with vectors in place of scalars). bits <= 32.
    uint64_t Clip(int bits);
    void AddTo(LeafSums* sums) const;
    // Forgets the unit.
    void Clear();

  private:
    struct Sum {
        int64_t gradient = 0;
        int64_t hessian = 0;
        bool touched = false;
    };

    LeafWeights weights_;
    std::vector<Sum> sums_;          // per leaf
    std::vector<uint32_t> touched_;  // leaves with rows of this unit
};

}  // namespace dpboost
