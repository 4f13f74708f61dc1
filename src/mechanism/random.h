// Exact draws of simple distributions from random bits: uniform integers, coins, permutations and Poisson
// samples. Everything is integer arithmetic; no result is approximate. Split choices, sampling of units and
// the noise samplers all read from a Random.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/random_source.h"

namespace dpboost {

// The probability that a unit takes part in a round, on the grid of multiples of 2^-32. The accountant must
// be given value(), which is never below the probability asked for.
class SamplingRate {
  public:
    // The smallest grid point >= probability; throws kInvalidParameter outside (0, 1] and for NaN.
    static SamplingRate FromProbability(double probability);
    static SamplingRate All() { return SamplingRate(uint64_t{1} << 32); }

    uint64_t numerator() const noexcept { return numerator_; }                                // in (0, 2^32]
    double value() const noexcept { return static_cast<double>(numerator_) / 4294967296.0; }  // exact
    bool IsAll() const noexcept { return numerator_ == uint64_t{1} << 32; }

  private:
    explicit SamplingRate(uint64_t numerator) : numerator_(numerator) {}
    uint64_t numerator_;
};

class Random {
  public:
    explicit Random(RandomSource& source) noexcept : source_(source) {}
    ~Random();
    Random(const Random&) = delete;
    Random& operator=(const Random&) = delete;

    uint64_t Next64() { return Next<uint64_t>(); }
    uint32_t Next32() { return Next<uint32_t>(); }

    // Uniform in [0, n). Throws kInvalidParameter for n = 0.
    uint64_t Below(uint64_t n);

    // True with probability numerator / denominator exactly. Throws kInvalidParameter for a probability above
    // 1 or a denominator of 0.
    bool Bernoulli(uint64_t numerator, uint64_t denominator);

    // Writes a uniformly drawn permutation of 0..n-1 (Fisher-Yates). n must be below 2^32.
    void Permutation(uint32_t* out, std::size_t n);

    // Chooses each of 0..n-1 independently with probability `rate` and writes the chosen ones in ascending
    // order; `out` needs room for n. Returns how many. A private figure: it must not be shown.
    std::size_t PoissonSample(SamplingRate rate, std::size_t n, uint32_t* out);

    // The same without vector instructions; the same bits give the same sample. Public for tests and
    // benchmarks.
    std::size_t PoissonSamplePortable(SamplingRate rate, std::size_t n, uint32_t* out);

  private:
    friend struct PoissonKernel;
    static constexpr std::size_t kBufferSize = 8192;

    template <typename Word>
    Word Next() {
        if (kBufferSize - position_ < sizeof(Word))
            Refill();
        Word word;
        std::memcpy(&word, buffer_.data() + position_, sizeof(Word));
        position_ += sizeof(Word);
        return word;
    }

    void Refill();

    RandomSource& source_;
    std::size_t position_ = kBufferSize;
    alignas(64) std::array<unsigned char, kBufferSize> buffer_;
};

struct PublicUse;
struct PrivateUse;

// Randomness for one use. PublicRandom draws what is no secret and what servers that train together must draw alike:
// the structure of random trees, the order of features. PrivateRandom draws coins that nobody may know, because the
// privacy proof rests on them: who is sampled, which row stands for a unit. They are different types, so that one
// cannot be passed for the other.
template <typename Use>
class RandomFor {
  public:
    // `random` must outlive this. Production gives each use a stream of its own.
    explicit RandomFor(Random& random) noexcept : random_(random) {}

    uint64_t Next64() { return random_.Next64(); }
    uint32_t Next32() { return random_.Next32(); }
    uint64_t Below(uint64_t n) { return random_.Below(n); }
    bool Bernoulli(uint64_t numerator, uint64_t denominator) {
        return random_.Bernoulli(numerator, denominator);
    }
    void Permutation(uint32_t* out, std::size_t n) { random_.Permutation(out, n); }
    // A number in [0, 1), a multiple of 2^-53.
    double Fraction() { return static_cast<double>(random_.Next64() >> 11) * 0x1.0p-53; }

    std::size_t PoissonSample(SamplingRate rate, std::size_t n, uint32_t* out) {
        static_assert(std::is_same<Use, PrivateUse>::value, "who is sampled is a secret");
        return random_.PoissonSample(rate, n, out);
    }

  private:
    Random& random_;
};
using PublicRandom = RandomFor<PublicUse>;
using PrivateRandom = RandomFor<PrivateUse>;

}  // namespace dpboost
