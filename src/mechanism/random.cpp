// Exact draws from random bits, the portable part; poisson_sample.cpp has the sampling of units.
#include "mechanism/random.h"

#include <sodium.h>

#include <cmath>
#include <utility>

#include "base/error.h"

namespace dpboost {

SamplingRate SamplingRate::FromProbability(double probability) {
    if (!(probability > 0 && probability <= 1))
        throw Error(ErrorCode::kInvalidParameter, "sampling rate must be above 0 and at most 1");
    // ldexp and ceil are exact, so this is the smallest multiple of 2^-32 that is not below.
    return SamplingRate(static_cast<uint64_t>(std::ceil(std::ldexp(probability, 32))));
}

Random::~Random() {
    sodium_memzero(buffer_.data(), buffer_.size());
}

void Random::Refill() {
    // Left-over bytes are dropped unseen: how many there are depends on sizes asked for, not on their value.
    source_.Fill(buffer_.data(), buffer_.size());
    position_ = 0;
}

uint64_t Random::Below(uint64_t n) {
    if (n == 0)
        throw Error(ErrorCode::kInvalidParameter, "cannot draw a number below 0");
    // [LEMIRE19]: the high half of word * n is uniform once the 2^64 mod n words that some results have too
    // many of are rejected. The test below is exact; the division is only paid when the low half is small.
    unsigned __int128 product = static_cast<unsigned __int128>(Next64()) * n;
    if (static_cast<uint64_t>(product) < n) {
        const uint64_t surplus = -n % n;
        while (static_cast<uint64_t>(product) < surplus) {
            product = static_cast<unsigned __int128>(Next64()) * n;
        }
    }
    return static_cast<uint64_t>(product >> 64);
}

bool Random::Bernoulli(uint64_t numerator, uint64_t denominator) {
    if (denominator == 0 || numerator > denominator)
        throw Error(ErrorCode::kInvalidParameter, "probability must be between 0 and 1");
    return Below(denominator) < numerator;
}

void Random::Permutation(uint32_t* out, std::size_t n) {
    if (n > UINT32_MAX)
        throw Error(ErrorCode::kInvalidParameter, "cannot permute more than 4294967295 numbers");
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = static_cast<uint32_t>(i);
    }
    for (std::size_t left = n; left > 1; --left) {
        std::swap(out[left - 1], out[Below(left)]);
    }
}

}  // namespace dpboost
