// Exact decisions about e^-t: fixed-point numbers of N 64-bit limbs and an enclosure of e^-t with a proven
// error. A sampler asks with one limb first and with more only when the enclosure does not decide, drawing
// further random digits as it goes; so its decisions are those of real arithmetic. No floating point.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "mechanism/random.h"

namespace dpboost {

using Wide = unsigned __int128;

// Precision is doubled from 1 limb up to this many. A decision still open after 1024 bits (probability below
// 2^-1000 for every comparison here) raises an internal error instead of answering wrongly.
constexpr int kMaxLimbs = 16;

[[noreturn]] inline void ThrowUndecided() {
    throw Error(ErrorCode::kInternal, "a random comparison was not decided by 1024 bits");
}

// A number in [0, 1): limb[0] is the most significant. One ulp is 2^-64N.
template <int N>
struct Fraction {
    uint64_t limb[N] = {};
};

// A non-negative number with 64 bits before the point.
template <int N>
struct Mixed {
    uint64_t whole = 0;
    Fraction<N> fraction;
};

// a * b, rounded down.
template <int N>
constexpr Fraction<N> Multiply(const Fraction<N>& a, const Fraction<N>& b) {
    if constexpr (N == 1) {
        return {{static_cast<uint64_t>(static_cast<Wide>(a.limb[0]) * b.limb[0] >> 64)}};
    }
    uint64_t product[2 * N] = {};
    for (int i = N - 1; i >= 0; --i) {
        uint64_t carry = 0;
        for (int j = N - 1; j >= 0; --j) {
            const Wide sum = static_cast<Wide>(a.limb[i]) * b.limb[j] + product[i + j + 1] + carry;
            product[i + j + 1] = static_cast<uint64_t>(sum);
            carry = static_cast<uint64_t>(sum >> 64);
        }
        product[i] = carry;
    }
    Fraction<N> result;
    for (int i = 0; i < N; ++i) {
        result.limb[i] = product[i];
    }
    return result;
}

// a - b for a >= b.
template <int N>
constexpr Fraction<N> Subtract(const Fraction<N>& a, const Fraction<N>& b) {
    Fraction<N> result;
    uint64_t borrow = 0;
    for (int i = N - 1; i >= 0; --i) {
        const Wide difference = static_cast<Wide>(a.limb[i]) - b.limb[i] - borrow;
        result.limb[i] = static_cast<uint64_t>(difference);
        borrow = static_cast<uint64_t>(difference >> 64) & 1;
    }
    return result;
}

// a / divisor, rounded down; divisor < 2^32 keeps the one-limb case a plain division.
template <int N>
constexpr Fraction<N> Divide(const Fraction<N>& a, uint32_t divisor) {
    if constexpr (N == 1) {
        return {{a.limb[0] / divisor}};
    }
    Fraction<N> result;
    uint64_t remainder = 0;
    for (int i = 0; i < N; ++i) {
        const Wide dividend = static_cast<Wide>(remainder) << 64 | a.limb[i];
        result.limb[i] = static_cast<uint64_t>(dividend / divisor);
        remainder = static_cast<uint64_t>(dividend % divisor);
    }
    return result;
}

// Whether a - b >= ulps.
template <int N>
constexpr bool ExceedsBy(const Fraction<N>& a, const Fraction<N>& b, uint64_t ulps) {
    for (int i = 0; i < N; ++i) {
        if (a.limb[i] != b.limb[i]) {
            if (a.limb[i] < b.limb[i])
                return false;
            const Fraction<N> difference = Subtract(a, b);
            for (int j = 0; j < N - 1; ++j) {
                if (difference.limb[j] != 0)
                    return true;
            }
            return difference.limb[N - 1] >= ulps;
        }
    }
    return ulps == 0;
}

// (whole + fraction) * 2^-shift, rounded down, for a result below 1 and shift >= 0.
template <int N>
constexpr Fraction<N> ShiftRight(const Mixed<N>& a, int shift) {
    const int limbs = shift / 64;
    const int bits = shift % 64;
    Fraction<N> result;
    for (int i = N - 1; i >= 0; --i) {
        // Limb `from` of the number with `whole` as limb -1 and zeros above.
        const int from = i - limbs;
        const uint64_t low = from >= 0 ? a.fraction.limb[from] : from == -1 ? a.whole : 0;
        const uint64_t high = from >= 1 ? a.fraction.limb[from - 1] : from == 0 ? a.whole : 0;
        result.limb[i] = bits == 0 ? low : low >> bits | high << (64 - bits);
    }
    return result;
}

// (whole + fraction) * 2^shift for 0 < shift < 64; what passes the top of `whole` is lost.
template <int N>
constexpr Mixed<N> ShiftLeft(const Mixed<N>& a, int shift) {
    Mixed<N> result;
    result.whole = a.whole << shift | a.fraction.limb[0] >> (64 - shift);
    for (int i = 0; i < N; ++i) {
        const uint64_t next = i + 1 < N ? a.fraction.limb[i + 1] : 0;
        result.fraction.limb[i] = a.fraction.limb[i] << shift | next >> (64 - shift);
    }
    return result;
}

// start + factor * fraction, for a result below 2^64.
template <int N>
constexpr Mixed<N> MultiplyAdd(uint64_t start, uint64_t factor, const Fraction<N>& fraction) {
    Mixed<N> result;
    uint64_t carry = 0;
    for (int i = N - 1; i >= 0; --i) {
        const Wide sum = static_cast<Wide>(factor) * fraction.limb[i] + carry;
        result.fraction.limb[i] = static_cast<uint64_t>(sum);
        carry = static_cast<uint64_t>(sum >> 64);
    }
    result.whole = start + carry;
    return result;
}

// The fewest terms with (1/8)^(K+1) / (K+1)! below half an ulp, with log2 of the factorial rounded down.
constexpr int TaylorTerms(int limbs) {
    int bits = 0;
    int terms = 0;
    while (bits < 64 * limbs + 1) {
        ++terms;
        int log2 = 0;
        while (terms >> (log2 + 1) != 0) {
            ++log2;
        }
        bits += 3 + log2;
    }
    return terms - 1;
}

// e^-t lies within [value - error ulps, value + error ulps].
template <int N>
struct Enclosure {
    Fraction<N> value;
    uint64_t error;
};

// Encloses e^-t. Method: s = t / 2^r < 1/8, Taylor for e^-s, then r squarings. The error in ulps:
//  - s is rounded down, which moves e^-s by less than 1;
//  - with g_k = (s/k)(1 - g_{k+1}), e^-s = 1 - g_1. Setting g_{K+1} = 0 costs s^(K+1)/(K+1)! < 1/2. A step
//  rounds
//    by at most 1 and multiplies earlier errors by s/k <= 1/8, so rounding costs at most 1 + 1/8 + ... < 1.2;
//  - the complement of all limbs is 1 - g_1 - 1 ulp: 1 more, and the value stays below 1. Together less than
//  4;
//  - squaring a value and a truth that are both at most 1 doubles the error and rounds by 1: e -> 2e + 1.
// After r squarings the error is below (4 + 1) 2^r.
template <int N>
constexpr Enclosure<N> ExpNegative(const Mixed<N>& t) {
    if (t.whole >= 64 * N)
        return {Fraction<N>{}, 1};  // e^-64N < 2^-64N
    int squarings = 0;
    while (t.whole >> squarings != 0) {
        ++squarings;
    }
    squarings += 3;
    const Fraction<N> s = ShiftRight(t, squarings);
    Fraction<N> g;
#pragma GCC unroll 16
    for (int k = TaylorTerms(N); k >= 1; --k) {
        g = Divide(Subtract(s, Multiply(s, g)), static_cast<uint32_t>(k));
    }
    Fraction<N> value;
    for (int i = 0; i < N; ++i) {
        value.limb[i] = ~g.limb[i];
    }
    for (int i = 0; i < squarings; ++i) {
        value = Multiply(value, value);
    }
    return {value, uint64_t{5} << squarings};
}

// A uniform number in [0, 1) whose binary digits are drawn when they are needed.
class LazyUniform {
  public:
    // No digit drawn yet, or the first `bits` <= 64 digits given (from the top of `digits`, the rest zero).
    LazyUniform() = default;
    LazyUniform(uint64_t digits, int bits) : known_bits_(bits) { limbs_[0] = digits; }

    // Draws until at least 64 N digits are known and returns these: the number is in [result, result + 1
    // ulp).
    template <int N>
    Fraction<N> Digits(Random& random) {
        if (known_bits_ < 64 * N)
            Extend(random, N);
        return Known<N>();
    }

    // What is known, without drawing; the number is in [result, result + 2^-known_bits).
    template <int N>
    Fraction<N> Known() const {
        Fraction<N> result;
        for (int i = 0; i < N; ++i) {
            result.limb[i] = limbs_[i];
        }
        return result;
    }
    int known_bits() const noexcept { return known_bits_; }

  private:
    void Extend(Random& random, int limbs) {
        int limb = known_bits_ / 64;
        const int bits = known_bits_ % 64;
        if (bits != 0)
            limbs_[limb++] |= random.Next64() >> bits;
        for (; limb < limbs; ++limb) {
            limbs_[limb] = random.Next64();
        }
        known_bits_ = 64 * limbs;
    }

    uint64_t limbs_[kMaxLimbs] = {};
    int known_bits_ = 0;
};

}  // namespace dpboost
