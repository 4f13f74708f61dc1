// Private selection by the exponential mechanism: what learners call to choose one of many candidates. A call
// spends one Charge of the Plan.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanism/noise.h"
#include "privacy/charge.h"

namespace dpboost {

// Spends `charge` and returns i < count with probability proportional to exp(raw_utilities[i] / T), T = the
// charge's temperature (2 * sensitivity / epsilon), exactly.
//
// Neighbours: add or remove one unit. Sensitivity: each utility, rounded to the lattice, changes by at most
// the charge's steps. Charge: epsilon-DP and epsilon-bounded range ([DPXGB] Thm 1). count must not depend
// on rows. Throws kInvalidParameter for count = 0 or above 2^22, kInternal for a spent charge or one of
// another kind.
std::size_t SelectPrivately(Charge&& charge, NoiseSource& noise, const int64_t* raw_utilities,
                            std::size_t count);

}  // namespace dpboost
