// Private selection by exact rejection from integer bars.
#include "mechanism/exponential.h"

#include <algorithm>

#include "base/error.h"
#include "mechanism/fixed_point.h"

namespace dpboost {
namespace {

constexpr int kBarBits = 40;  // a bar of weight 1 has 2^40 units; 2^22 bars sum to less than 2^63

// gap / T = gap 2^20 / units, rounded down: too small by less than 1 ulp.
template <int N>
Mixed<N> Exponent(uint64_t gap, uint64_t units) {
    const Wide numerator = static_cast<Wide>(gap) << SelectionScale::kFractionBits;
    const Wide whole = numerator / units;
    Mixed<N> result;
    // Far beyond 64 N, the exact figure does not matter: the weight is below 1 ulp.
    result.whole = whole > INT64_MAX ? INT64_MAX : static_cast<uint64_t>(whole);
    uint64_t remainder = static_cast<uint64_t>(numerator % units);
    for (int i = 0; i < N; ++i) {
        const Wide dividend = static_cast<Wide>(remainder) << 64;
        result.fraction.limb[i] = static_cast<uint64_t>(dividend / units);
        remainder = static_cast<uint64_t>(dividend % units);
    }
    return result;
}

// exp(-gap / T); the exponent's ulp adds one to the error, as the slope is at most 1.
template <int N>
Enclosure<N> Weight(uint64_t gap, uint64_t units) {
    Enclosure<N> weight = ExpNegative(Exponent<N>(gap, units));
    weight.error += 1;
    return weight;
}

// An upper bound on the weight in units of 2^-40, at least 1.
uint64_t BarHeight(uint64_t gap, uint64_t units) {
    constexpr uint64_t kUnderflow = 28;  // exp(-28) < 2^-40
    if (static_cast<Wide>(gap) << SelectionScale::kFractionBits >= static_cast<Wide>(units) * kUnderflow)
        return 1;
    const Enclosure<1> weight = Weight<1>(gap, units);
    const Wide bound = static_cast<Wide>(weight.value.limb[0]) + weight.error;
    return static_cast<uint64_t>(bound >> (64 - kBarBits)) + 1;
}

// Whether (level + v) 2^-40 < exp(-gap / T), v uniform with digits drawn as needed. The left side is in
// [y0, y0 + 2 ulps).
template <int N>
bool IsBelowWeight(Random& random, uint64_t gap, uint64_t units, uint64_t level, LazyUniform& v) {
    if (level >> kBarBits != 0)
        return false;  // above 1
    const Enclosure<N> weight = Weight<N>(gap, units);
    const Fraction<N> y0 = ShiftRight(Mixed<N>{level, v.Digits<N>(random)}, kBarBits);
    if (ExceedsBy(y0, weight.value, weight.error))
        return false;
    if (ExceedsBy(weight.value, y0, weight.error + 2))
        return true;
    if constexpr (N < kMaxLimbs)
        return IsBelowWeight<2 * N>(random, gap, units, level, v);
    ThrowUndecided();
}

}  // namespace

std::size_t ExponentialSampler::Draw(const int64_t* utilities, std::size_t n, std::vector<uint64_t>* bars) {
    if (n == 0 || n > kMaxCandidates)
        throw Error(ErrorCode::kInvalidParameter, "number of candidates must be between 1 and 4194304");
    const uint64_t units = temperature_.units();
    const uint64_t best = static_cast<uint64_t>(*std::max_element(utilities, utilities + n));
    const auto gap = [&](std::size_t i) { return best - static_cast<uint64_t>(utilities[i]); };

    bars->resize(n);
    uint64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) {
        total += BarHeight(gap(i), units);
        (*bars)[i] = total;  // the end of bar i
    }
    for (;;) {
        const uint64_t point = random_.Below(total);
        const auto bar = std::upper_bound(bars->begin(), bars->end(), point);
        const std::size_t i = static_cast<std::size_t>(bar - bars->begin());
        const uint64_t level = point - (i == 0 ? 0 : (*bars)[i - 1]);
        LazyUniform v;
        if (IsBelowWeight<1>(random_, gap(i), units, level, v))
            return i;
    }
}

}  // namespace dpboost
