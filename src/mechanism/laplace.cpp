// The rounded Laplace by comparing uniform integers only.
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

// |L| = b E with E exponential, b = t 2^-20, and round(b E) = floor((floor(t E) + 2^19) / 2^20), as a floor
// may be taken inside a floor of an integer quotient. x = floor(t E) is geometric, P(x) proportional to
// exp(-x / t), and drawn as u + t v: u < t has weight exp(-u / t), v >= 0 has weight exp(-v) (the first steps
// of [CKS20] Alg 2).
int64_t LaplaceSampler::Draw() {
    const uint64_t t = b_.units();
    uint64_t u;
    do {
        u = random_.Below(t);
    } while (!BernoulliExp(random_, u, t));
    uint64_t v = 0;
    while (BernoulliExp(random_, 1, 1)) {
        ++v;
    }
    constexpr int shift = LaplaceScale::kFractionBits;
    constexpr unsigned __int128 half = uint64_t{1} << (shift - 1);
    const unsigned __int128 magnitude = (static_cast<unsigned __int128>(t) * v + u + half) >> shift;
    // t <= 2^60, so only v >= 2^22 could pass the end, with a chance of exp(-4000000); the clamp is
    // post-processing.
    const int64_t clamped = magnitude > INT64_MAX ? INT64_MAX : static_cast<int64_t>(magnitude);
    return (random_.Next32() & 1) != 0 ? -clamped : clamped;
}

void LaplaceSampler::AddTo(int64_t* values, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = SaturatingAdd(values[i], Draw());
    }
}

}  // namespace dpboost
