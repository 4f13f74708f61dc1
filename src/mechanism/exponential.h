// The exponential mechanism: chooses i with probability proportional to exp(u_i / T), exactly, among up to
// four million candidates in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mechanism/draw_key.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"

namespace dpboost {

// Method. With d_i = max u - u_i >= 0 the weights are exp(-d_i / T) in (0, 1]. Each gets an integer h_i with
// exp(-d_i / T) <= h_i 2^-40 from an enclosure (fixed_point.h). A point y uniform in [0, sum of h_i 2^-40)
// falls into the bar of a candidate; it is accepted iff its height within the bar is below exp(-d_i / T).
// Hence each candidate is accepted with probability proportional to its exact weight. Only a point in the
// last units of a bar, rarer than 2^-16 for 2^22 candidates, needs the comparison with more digits, drawn
// until they decide.
class ExponentialSampler {
  public:
    static constexpr std::size_t kMaxCandidates = std::size_t{1} << 22;

    ExponentialSampler(DrawKey, Random& random, SelectionScale temperature) noexcept
        : random_(random), temperature_(temperature) {}

    // `bars` is scratch memory that a caller may reuse. Throws kInvalidParameter for n = 0 or above
    // kMaxCandidates.
    std::size_t Draw(const int64_t* utilities, std::size_t n, std::vector<uint64_t>* bars);

  private:
    Random& random_;
    SelectionScale temperature_;
};

}  // namespace dpboost
