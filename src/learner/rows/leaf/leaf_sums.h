// Integer sums of gradients and Hessians per leaf ([SBDT] Alg 5 lines 2 and 4), and the bound on what one
// privacy unit adds to them. They can be read by way of the releaser only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learner/objective/objective.h"
#include "mechanism/releaser.h"

namespace dpboost {

// Hessian and gradient sums of the same leaves or cells: the two dimensions of one release.
struct RawGradientSums {
    RawSums hessians;
    RawSums gradients;
};

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
    // Of a release of Hessian sums and gradient sums, leaf-balanced ([SBDT] Thm 16). `outputs`: K gradients to a Hessian,
    // a vector in place of the gradient.
    std::vector<Dimension> Dimensions(double sensitivity, size_t sums, size_t outputs = 1) const {
        return {{sensitivity, hessian_share(), sums}, {sensitivity, gradient_share(), sums * outputs}};
    }

    // What UnitSum::Clip returns for a unit of one row within the clip: (r1 H^2 + r2 |G|^2) / S^2 in units of 2^-bits,
    // rounded up.
    uint32_t RowLoss(int64_t hessian, uint64_t squared_gradient, int bits) const {
        constexpr int kBoundBits = kWeightBits + 2 * kClipBits;
        const uint64_t norm =
            hessian_ * static_cast<uint64_t>(hessian * hessian) + gradient() * squared_gradient;
        return static_cast<uint32_t>((norm + ((uint64_t{1} << (kBoundBits - bits)) - 1)) >>
                                     (kBoundBits - bits));
    }

  private:
    uint32_t hessian_;
};

// Sums of one tree. With K outputs a row has K gradients, side by side, and one Hessian.
class LeafSums {
  public:
    explicit LeafSums(size_t leaves, size_t outputs = 1) : outputs_(outputs), sums_((outputs + 1) * leaves) {}

    size_t leaves() const { return sums_.size() / (outputs_ + 1); }
    void Clear();
    // Each row is a unit of its own, within the clip bounds.
    void AddRows(const uint16_t* leaves, const int32_t* gradients, const int32_t* hessians, size_t n);
    void AddOne(uint32_t leaf, int64_t gradient, int64_t hessian) { AddOne(leaf, &gradient, hessian); }
    void AddOne(uint32_t leaf, const int64_t* gradients, int64_t hessian) {
        int64_t* const sum = sums_.data() + (outputs_ + 1) * leaf;
        for (size_t k = 0; k < outputs_; k++)
            sum[k] += gradients[k];
        sum[outputs_] += hessian;
    }
    void Add(const LeafSums& other);
    // For a release whose dimensions have the sensitivity kClipSteps and the weights of LeafWeights. Gradients of a leaf
    // side by side.
    RawGradientSums Raw() const;

  private:
    size_t outputs_;
    std::vector<int64_t> sums_;  // gradients and Hessian of a leaf side by side
};

// What one unit with several rows adds to the sums of one tree, over all leaves its rows fall into.
//
// Guarantee: with S = kClipSteps and (H_l, G_l) what AddTo adds to leaf l (of K outputs G_l is a vector, G_l^2 the square of
// its length),
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
// unit has less than 2^32 rows of at most S = 2^16 steps (of a vector: its length), so |H_l|, |G_l| <= 2^48, N < 2^20 * 2 * 2^96 < 2^127.
//
// The scaling keeps the ratio of the unit's gradient and Hessian, so a person with many rows counts like one
// with few rows of the same kind instead of pulling leaves to the bound.
class UnitSum {
  public:
    UnitSum(size_t leaves, LeafWeights weights, size_t outputs = 1);

    void AddRow(uint32_t leaf, int32_t gradient, int32_t hessian) { AddRow(leaf, &gradient, hessian); }
    void AddRow(uint32_t leaf, const int32_t* gradients, int32_t hessian) {
        Sum& sum = sums_[leaf];
        if (!sum.touched) {
            sum.touched = true;
            touched_.push_back(leaf);
        }
        for (size_t k = 0; k < outputs_; k++)
            gradients_[leaf * outputs_ + k] += gradients[k];
        sum.hessian += hessian;
    }
    // Clips. Returns u = (r1 sum H^2 + r2 sum G^2) / S^2 in units of 2^-bits, rounded up, at most 2^bits:
    // what the Renyi filter charges (privacy/filter/renyi_filter.h, with vectors in place of scalars). bits <= 32.
    uint64_t Clip(int bits);
    void AddTo(LeafSums* sums) const;
    // Forgets the unit.
    void Clear();

  private:
    struct Sum {
        int64_t hessian = 0;
        bool touched = false;
    };

    __extension__ unsigned __int128 WeightedNorm() const;

    LeafWeights weights_;
    size_t outputs_;
    std::vector<Sum> sums_;           // per leaf
    std::vector<int64_t> gradients_;  // per leaf and output
    std::vector<uint32_t> touched_;   // leaves with rows of this unit
};

}  // namespace dpboost
