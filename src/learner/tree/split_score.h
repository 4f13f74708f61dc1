// How good a split is: exactly, in integers, for the exponential mechanism, and from noisy sums for the
// methods that release histograms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "learner/objective/objective.h"
#include "learner/tree/noisy_sides.h"

namespace dpboost {

// What one side of a split adds to its score ([DPXGB] eq. 2): G^2 / (n + lambda), with the gradient sum G
// in lattice steps (a row's is at most S = kClipSteps), the number of rows n, and lambda in steps of 1/S. The
// result is rounded down to an integer in units of g*^2 / S; 0 for an empty side.
int64_t SideUtility(int64_t gradient_sum, int64_t rows, int64_t l2_steps);

// The utility of a split of a node, left + right.
//
// Neighbours: add or remove one row of the node. Sensitivity: a new row changes only its own side, from (G,
// n) to (G + g, n + 1) with |G| <= n and |g| <= 1 in units of g*, that is by
//     D = [(2 G g + g^2)(n + lambda) - G^2] / [(n + lambda)(n + 1 + lambda)].
// D <= 1: 2 |G| (n + lambda) - G^2 grows up to |G| = n <= n + lambda, and there the numerator minus the
// denominator is -lambda^2. D >= -3: the numerator is at least -2 n (n + lambda) - n^2 >= -3 n (n + lambda).
// So utilities change by something in [-3, 1] when a row is added and in [-1, 3] when one is removed.
// ([DPXGB] takes |D| <= 3, [DPBOOST] Lemma 1.) The exponential mechanism's bounded range
// is the width of that interval over the temperature, because what all candidates share cancels ([DPXGB]
// Lemma 2, [DDR20]): it is the range 2 * 2 of a symmetric sensitivity of 2, not of 3. Rounding a
// side down moves a change by less than 1 step, so that the width stays within 4 S + 2 steps.
//
// Charge: one kExponential event with the sensitivity below, per level of a tree: a row is in one node of a
// level.
inline int64_t SplitUtility(int64_t left_gradient, int64_t left_rows, int64_t right_gradient,
                            int64_t right_rows, int64_t l2_steps) {
    return SideUtility(left_gradient, left_rows, l2_steps) +
           SideUtility(right_gradient, right_rows, l2_steps);
}

// Half the width of the interval in which utilities change, in their lattice steps.
constexpr double kUtilitySensitivity = 2.0 * kClipSteps + 1;

// G^2 / (H + lambda) ([FEDGBDT] eq. 5) for noisy sums: what noise adds to G^2 on average is taken
// off, and a Hessian is never taken as smaller than its own noise. Post-processing.
double NoisySideScore(const NoisySide& side, double l2);

}  // namespace dpboost
