// Fixed-point scales of the Renyi filter, all rounded up, and its round over many units.
#include "privacy/filter/renyi_filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace dpboost {
namespace {

constexpr uint32_t kMaxClip = uint32_t{1} << 24;

int Log2Ceil(uint64_t value) {
    int bits = 0;
    while ((uint64_t{1} << bits) < value)
        ++bits;
    return bits;
}

// The finest grid on which T and one more round fit into 32 bits.
int AccumulatorBits(uint64_t regular_rounds) {
    if (regular_rounds == 0 || regular_rounds > kMaxEventCount)
        throw Error(ErrorCode::kInvalidParameter,
                    "the number of regular rounds of a Renyi filter must be between 1 and 10000000");
    int bits = 20;
    while (((regular_rounds + 1) << bits) > std::numeric_limits<uint32_t>::max())
        --bits;
    return bits;
}

// squares of values up to clip, shifted right by this (rounding up), fit into 31 bits
int SquareShift(uint32_t clip) {
    return std::max(0, 2 * Log2Ceil(clip) - 31);
}

// The largest exponent x such that 2^x / (clip^2 >> square shift) is below 2^32 and the sum of two products
// below 2^64.
int LargestExponent(uint32_t clip) {
    const uint64_t square = (uint64_t{clip} * clip) >> SquareShift(clip);
    int floor_log2 = 0;
    while ((square >> (floor_log2 + 1)) != 0)
        ++floor_log2;
    return std::min(61, 31 + floor_log2);
}

// ceil(weight 2^exponent / divisor) for weight in [0, 1], exactly: a double is an integer times a power of
// two.
uint64_t CeilScaled(double weight, int exponent, uint64_t divisor) {
    int weight_exponent;
    const auto digits = static_cast<uint64_t>(std::ldexp(std::frexp(weight, &weight_exponent), 53));
    const int shift = exponent + weight_exponent - 53;
    unsigned __int128 numerator = digits;
    if (shift >= 0)
        numerator <<= shift;
    else if (shift > -64)
        numerator = (numerator + ((uint64_t{1} << -shift) - 1)) >> -shift;
    else
        numerator = digits == 0 ? 0 : 1;
    return static_cast<uint64_t>((numerator + divisor - 1) / divisor);
}

__attribute__((always_inline)) inline void RoundLoop(const RenyiFilter& filter, const int32_t* hessian,
                                                     const int32_t* gradient, std::size_t n, uint32_t* spent,
                                                     uint8_t* active) noexcept {
    const RenyiFilter local = filter;  // so that the compiler sees that no store can change it
    for (std::size_t i = 0; i < n; ++i) {
        const int32_t h = hessian[i];
        const int32_t g = gradient[i];
        const uint32_t u =
            local.Loss(static_cast<uint32_t>(h < 0 ? -h : h), static_cast<uint32_t>(g < 0 ? -g : g));
        active[i] = local.Admit(u, &spent[i]) ? 1 : 0;
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"), optimize("O3"))) void RoundAvx2(const RenyiFilter& filter,
                                                               const int32_t* hessian,
                                                               const int32_t* gradient, std::size_t n,
                                                               uint32_t* spent, uint8_t* active) noexcept {
    RoundLoop(filter, hessian, gradient, n, spent, active);
}
#endif

}  // namespace

RenyiFilter::RenyiFilter(uint64_t regular_rounds, Bound hessian, Bound gradient)
    : bits_(AccumulatorBits(regular_rounds)) {
    for (const Bound& bound : {hessian, gradient}) {
        if (bound.clip == 0 || bound.clip > kMaxClip)
            throw Error(ErrorCode::kInvalidParameter, "a clip of the Renyi filter must be 1 to 2^24 steps");
        if (!(bound.weight >= 0 && bound.weight <= 1))
            throw Error(ErrorCode::kInvalidParameter, "a weight of the Renyi filter must be in [0, 1]");
    }
    if (!(std::fabs(hessian.weight + gradient.weight - 1) < 1e-9))
        throw Error(ErrorCode::kInvalidParameter, "the weights of the Renyi filter must sum to 1");
    one_ = uint32_t{1} << bits_;
    limit_ = static_cast<uint32_t>(regular_rounds << bits_);
    auto value_shift = [](const Bound& bound) { return std::max(0, 16 - Log2Ceil(bound.clip)); };
    auto scaled_clip = [&](const Bound& bound) { return bound.clip << value_shift(bound); };
    shift_ = std::min(LargestExponent(scaled_clip(hessian)), LargestExponent(scaled_clip(gradient))) - bits_;
    auto scale = [&](const Bound& bound) {
        const uint32_t clip = scaled_clip(bound);
        const int square_shift = SquareShift(clip);
        const uint64_t factor =
            CeilScaled(bound.weight, bits_ + shift_ + square_shift, uint64_t{clip} * clip);
        CheckInternal(factor <= std::numeric_limits<uint32_t>::max(), "Renyi filter scale overflows");
        return Scale{static_cast<uint32_t>(factor), value_shift(bound), square_shift};
    };
    hessian_ = scale(hessian);
    gradient_ = scale(gradient);
}

void RenyiFilter::Round(const int32_t* hessian, const int32_t* gradient, std::size_t n, uint32_t* spent,
                        uint8_t* active) const noexcept {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return RoundAvx2(*this, hessian, gradient, n, spent, active);
#endif
    RoundLoop(*this, hessian, gradient, n, spent, active);
}

}  // namespace dpboost
