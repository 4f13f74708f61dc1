// Discrete Laplace by comparing uniform integers only.
#include "mechanism/laplace.h"

#include "mechanism/saturate.h"

namespace dpboost {

bool BernoulliExp(Random& random, uint64_t numerator, uint64_t denominator) {
    // With g = numerator / denominator the loop passes k with probability g/1 * g/2 * ... * g/k = g^k / k!,
    // so it stops after an even number of passes with probability sum over k of (-g)^k / k! = exp(-g).
    uint64_t k = 1;
    while (random.Bernoulli(numerator, denominator) && random.Below(k) == 0) {
        ++k;
    }
    return k % 2 == 1;
}

// Canonne, Kamath, Steinke 2020, Algorithm 2, with b = t / s, s = 2^20. x = u + t v is geometric with
// P(x) proportional to exp(-x / t): u < t has weight exp(-u / t) and v has weight exp(-v). So floor(x / s) is
// geometric with ratio exp(-s / t) = exp(-1 / b). A random sign, with one of the two zeros rejected, makes it
// symmetric.
int64_t LaplaceSampler::Draw() {
    const uint64_t t = b_.units();
    for (;;) {
        const uint64_t u = random_.Below(t);
        if (!BernoulliExp(random_, u, t))
            continue;
        uint64_t v = 0;
        while (BernoulliExp(random_, 1, 1)) {
            ++v;
        }
        const unsigned __int128 x = static_cast<unsigned __int128>(t) * v + u;
        const unsigned __int128 magnitude = x >> LaplaceScale::kFractionBits;
        const bool negative = (random_.Next32() & 1) != 0;
        if (negative && magnitude == 0)
            continue;
        // t <= 2^60 and v < 2^22 but for a chance of exp(-4000000); the clamp is post-processing.
        const int64_t clamped = magnitude > INT64_MAX ? INT64_MAX : static_cast<int64_t>(magnitude);
        return negative ? -clamped : clamped;
    }
}

void LaplaceSampler::AddTo(int64_t* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = SaturatingAdd(values[i], Draw());
    }
}

}  // namespace dpboost
