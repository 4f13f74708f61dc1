// The individual Renyi filter (sbdt.txt Thm 19): units whose gradients are small lose less than the worst
// case in a round, so more rounds can be run for the same charge. One integer per unit certifies the whole
// curve of T_regular worst-case rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "privacy/rdp.h"

namespace dpboost {

// Neighbours: add or remove one unit i. Per round the unit adds (h, g) to one leaf, |h| <= h*, |g| <= g*,
// lattice integers; the Gaussian noise is leaf-balanced (sbdt.txt Thm 16) with weights r1, r2. With
//     u = r1 h^2/h*^2 + r2 g^2/g*^2  in [0, 1]
// the unit's loss in the round is that of a Poisson-sampled Gaussian of squared sensitivity u,
//     (alpha-1) rho_u(alpha) = log A(u),  A(u) = sum over l of Binomial(alpha, gamma)(l) exp(u l(l-1)/(2
//     s^2)).
// log A is a log-sum-exp of functions affine in u, hence convex, and log A(0) = 0; so rho_u(alpha) <= u
// rho_1(alpha) at *every* integer order. If a unit takes part only while the sum of its u stays <= T, then
// its total is at most T rho_1(alpha) at every order, and by the individual Renyi filter (Feldman and Zrnic
// 2021; sbdt.txt Thm 19) the training has the curve T rho_1, however many rounds are run. What the proof
// needs: u is computed from the integers that are summed, rounded up; a unit that would exceed T is left out
// of the round *before*; every unit is charged in every round, sampled or not; no one sees who was left out.
class RenyiFilter {
  public:
    struct Bound {
        uint32_t clip;  // lattice steps, h* or g*; at most 2^24
        double weight;  // r1 or r2
    };

    // regular_rounds: T, at most 1e7. Throws kInvalidParameter for weights that do not sum to 1.
    RenyiFilter(uint64_t regular_rounds, Bound hessian, Bound gradient);

    // u in units of 2^-bits(), rounded up, never above 1. |h| and |g| must be within the clips (L2 norms
    // rounded up, for a unit with several rows).
    uint32_t Loss(uint32_t abs_hessian, uint32_t abs_gradient) const noexcept;

    uint32_t limit() const noexcept { return limit_; }  // T in units of 2^-bits(); accumulators start at 0
    int bits() const noexcept { return bits_; }

    // One round for n units: charges every unit whose sum stays within the limit; active[i] = 1 if the unit
    // takes part, else 0 and its sum is unchanged. hessian and gradient are signed lattice values within
    // their clips.
    void Round(const int32_t* hessian, const int32_t* gradient, std::size_t n, uint32_t* spent,
               uint8_t* active) const noexcept;

  private:
    uint32_t limit_;
    int bits_;
};

}  // namespace dpboost
