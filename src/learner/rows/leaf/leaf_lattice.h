// What a leaf of a tree under pure privacy releases: from the exact gradient sum and count of its rows to integers, in
// one Laplace release per tree, and back. The sensitivities are those of [DPBOOST] Lemma 2 and Corollary 2, derived
// again here for add/remove and for values on a lattice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mechanism/releaser.h"

namespace dpboost {

struct CellSum;

enum class LeafReleasePart {
    kQuotient,  // its clipped value, with noise for the value's sensitivity ([DPBOOST] Alg 1)
    kSums       // gradient sum and count, with noise each: the noise of a value shrinks with the leaf's rows
};

// Gradients are integers |g| <= S = kClipSteps in units of g*/S, `weight` of a CellSum counts rows, and
// lambda is an integer in units of 1/S. In what follows G is in units of g*.
//
// kQuotient. V = G / (n + lambda), 0 for an empty leaf; clamped to +-c, the bound of the tree.
//   Neighbours: add or remove one row of the leaf: (G, n) becomes (G + g, n + 1), |G| <= n, |g| <= 1. Then
//     |dV| = |(n + lambda) g - G| / [(n + lambda)(n + 1 + lambda)]
//         <= (2 n + lambda) / [(n + lambda)(n + 1 + lambda)] <= 1 / (1 + lambda):
//   the last step is n <= n^2 after multiplying out, which holds for every integer n; n + lambda = 0 is the
//   empty leaf without lambda, whose new value is g / 1. Lemma 2 is right, also with n = 0, provided that G
//   is a sum over the same n rows: so GDF must take a row out of sum and count alike, which it does
//   (filtered_rows.h). A clamp is a contraction into an interval of length 2 c: |dV| <= D = min(1 / (1 + lambda), 2 c)
//   (Corollary 2). Lattice: all trees of an ensemble share one mechanism of the plan, so each value is taken
//   in units of D / kLeafSteps and rounded to an integer, which moves a change by less than one step: the
//   sensitivity is kLeafSteps + 1 steps for every bound.
//
// kSums. G in steps of g*/S, and n in steps of 1/(S/4).
//   Sensitivity in L1 norm: S + S/4, of the pair of sums of the row's leaf. The value is then
//   G~ / (max(n~, 1) + lambda), clamped. Not in the paper: the noise of V does not depend on how many rows
//   support it, here it shrinks with their number. As pure, by the same Laplace mechanism.
//
// A row is in one leaf, so the sensitivity of all leaves together is that of one. A leaf value that comes out
// of its bound by noise is clamped again: post-processing, which the paper leaves out.
class LeafLattice {
  public:
    static double Sensitivity(LeafReleasePart part);  // in L1 norm, lattice steps
    static std::size_t Sums(LeafReleasePart part, std::size_t leaves);

    // `bound` is c g*.
    LeafLattice(LeafReleasePart part, double l2, double gradient_clip, double bound);

    LeafReleasePart part() const { return part_; }

    // The integers that get noise.
    std::vector<int64_t> Steps(const std::vector<CellSum>& raw_leaves) const;

    // The values of the leaves, within +-bound.
    std::vector<double> Values(const NoisySums& noisy) const;

  private:
    static constexpr int64_t kLeafSteps = int64_t{1} << 20;
    static constexpr int64_t kCountSteps = int64_t{1} << 14;

    // D in units of g*.
    double ValueSensitivity() const;

    LeafReleasePart part_;
    double l2_;
    int64_t l2_steps_;
    double gradient_clip_;
    double bound_;
};

}  // namespace dpboost
