// The individual Renyi filter ([SBDT] Thm 19): units whose gradients are small lose less than the worst
// case in a round, so more rounds can be run for the same charge. One integer per unit certifies the whole
// curve of T_regular worst-case rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "privacy/accountant/rdp.h"

namespace dpboost {

// Neighbours: add or remove one unit i. Per round the unit adds (h, g) to one leaf, |h| <= h*, |g| <= g*,
// lattice integers; the Gaussian noise is leaf-balanced ([SBDT] Thm 16) with weights r1, r2. With
//     u = r1 h^2/h*^2 + r2 g^2/g*^2  in [0, 1]
// the unit's loss in the round is that of a Poisson-sampled Gaussian of squared sensitivity u,
//     (alpha-1) rho_u(alpha) = log A(u),  A(u) = sum over l of Binomial(alpha, gamma)(l) exp(u l(l-1)/(2
//     s^2)).
// log A is a log-sum-exp of functions affine in u, hence convex, and log A(0) = 0; so rho_u(alpha) <= u
// rho_1(alpha) at *every* integer order. If a unit takes part only while the sum of its u stays <= T, then
// its total is at most T rho_1(alpha) at every order, and by the individual Renyi filter ([FZ21] Thm
// 4.3, 4.5; [SBDT] Thm 19) the training has the curve T rho_1, however many rounds are run. What the proof
// needs: u is computed from the integers that are summed, rounded up; a unit that would exceed T is left out
// of the round *before*; every unit is charged in every round, sampled or not; no one sees who was left out.
class RenyiFilter {
  public:
    struct Bound {
        uint32_t clip;  // lattice steps, h* or g*; 1 .. 2^24
        double weight;  // r1 or r2
    };

    // regular_rounds: T, 1 .. 1e7. Throws kInvalidParameter for clips out of range, or weights that are not
    // positive or do not sum to 1. A learner without Hessians gives that bound the weight 0.
    RenyiFilter(uint64_t regular_rounds, Bound hessian, Bound gradient);

    // u in units of 2^-bits(), rounded up, never above 1. The arguments must be within the clips (for a unit
    // with several rows: the L2 norm over leaves of its sums, rounded up). Integer arithmetic only; products
    // of 32-bit factors, so that compilers vectorise it.
    uint32_t Loss(uint32_t abs_hessian, uint32_t abs_gradient) const noexcept {
        const uint64_t sum =
            Part(abs_hessian, hessian_) + Part(abs_gradient, gradient_) + ((uint64_t{1} << shift_) - 1);
        const auto u = static_cast<uint32_t>(sum >> shift_);
        return u < one_ ? u : one_;
    }

    // Whether a unit with this sum takes part in a round in which it would lose u; charges it if so. Never
    // makes the sum exceed limit().
    bool Admit(uint32_t u, uint32_t* spent) const noexcept {
        const uint32_t after = *spent + u;
        const bool active = after <= limit_;
        *spent = active ? after : *spent;
        return active;
    }

    uint32_t limit() const noexcept { return limit_; }  // T in units of 2^-bits(); sums start at 0
    int bits() const noexcept { return bits_; }         // 8 .. 20, as many as T leaves room for in 32 bits

    // One round for n units: active[i] = 1 if the unit takes part (and was charged), else 0. hessian and
    // gradient are lattice values within their clips. Vectorised where the machine has AVX2; the result is
    // the same.
    void Round(const int32_t* hessian, const int32_t* gradient, std::size_t n, uint32_t* spent,
               uint8_t* active) const noexcept;

  private:
    struct Scale {
        uint32_t factor;  // ceil(weight 2^(bits + shift + square_shift) / (clip 2^value_shift)^2)
        int value_shift;  // small clips are scaled up, for precision
        int square_shift;
    };
    static uint64_t Part(uint32_t value, const Scale& scale) noexcept {
        const uint32_t scaled = value << scale.value_shift;
        const uint64_t square = uint64_t{scaled} * scaled;
        const auto rounded =
            static_cast<uint32_t>((square + ((uint64_t{1} << scale.square_shift) - 1)) >> scale.square_shift);
        return uint64_t{rounded} * scale.factor;
    }

    uint32_t limit_;
    uint32_t one_;
    int bits_;
    int shift_;
    Scale hessian_;
    Scale gradient_;
};

}  // namespace dpboost
