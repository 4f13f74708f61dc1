// The exactly rounded Gaussian: round(N(0, sigma^2)) to the nearest integer, as if real numbers were drawn.
// For an integer X, X + round(N) = round(X + N), so a noisy sum is a post-processing of the continuous
// Gaussian mechanism and every bound for that holds as it is (the idea is
// that of [KARNEY16]: digits are drawn until they decide).
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanism/draw_key.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"

namespace dpboost {

// Method. |N|/sigma has a density proportional to f(x) = e^(-x^2/2) on x >= 0. A point (x, y) uniform in a
// region that contains the area under f, and accepted iff y < f(x), has an x with exactly that density. The
// region is a union of cells of equal area: squares of a grid, listed in a table of 4096, and a tail of
// rectangles. So one table look-up with 12 random bits chooses a cell; most cells lie below the curve and are
// accepted without y being drawn. x = w (a + b u), u uniform in [0, 1) with digits drawn lazily: 51 come with
// the table index and a sign in one 64-bit word. If they decide the nearest integer of sigma x, it is
// returned; else more are drawn. In a cell that the curve crosses, y < f(x) is decided by enclosures of f,
// with more digits of x and y until it is. All of it is integer arithmetic, and no decision is approximate
// (fixed_point.h).
//
// Departure from Karney's Algorithm N: he decides acceptance by comparing chains of uniforms, this compares
// with an enclosure of f. Both are exact; this takes one random word per draw instead of about ten.
//
// kFirstDigits is 51; tests use 4, with which nearly all draws take the slow path and must agree in
// distribution.
template <int kFirstDigits = 51>
class GaussianSampler {
  public:
    GaussianSampler(DrawKey, Random& random, GaussianScale sigma) noexcept : random_(random), sigma_(sigma) {}

    // Adds independent draws; saturates at the ends of int64.
    void AddTo(int64_t* values, std::size_t n);

  private:
    Random& random_;
    GaussianScale sigma_;
};

extern template class GaussianSampler<51>;
extern template class GaussianSampler<4>;

}  // namespace dpboost
