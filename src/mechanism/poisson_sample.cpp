// Poisson sampling of units: n independent coins of probability gamma, about one random byte per coin. A byte
// is compared with the top byte of gamma's 32; only a tie (1 in 256) draws the rest. The AVX2 kernel compares
// 32 bytes at a time and reads the same bytes in the same order as the portable one, so the samples are
// identical.
#include <array>

#include "base/error.h"
#include "mechanism/random.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dpboost {
namespace {

constexpr std::size_t kBlock = 32;

// positions[m] holds the positions of the bits set in m, ascending, one byte each.
constexpr std::array<uint64_t, 256> BitPositions() {
    std::array<uint64_t, 256> positions{};
    for (unsigned mask = 0; mask < 256; ++mask) {
        uint64_t packed = 0;
        int count = 0;
        for (unsigned bit = 0; bit < 8; ++bit) {
            if (mask >> bit & 1)
                packed |= uint64_t{bit} << (8 * count++);
        }
        positions[mask] = packed;
    }
    return positions;
}

constexpr std::array<uint64_t, 256> kBitPositions = BitPositions();

struct Masks {
    uint32_t below;  // bytes below gamma's top byte: chosen
    uint32_t tied;   // bytes equal to it: undecided
};

}  // namespace

struct PoissonKernel {
    // gamma = (top * 2^24 + rest) / 2^32.
    uint8_t top;
    uint32_t rest;

    static const unsigned char* NextBlock(Random& random) {
        if (Random::kBufferSize - random.position_ < kBlock)
            random.Refill();
        const unsigned char* block = random.buffer_.data() + random.position_;
        random.position_ += kBlock;
        return block;
    }

    // A coin whose first byte is tied is heads iff its other 24 bits are below gamma's. Each tied unit draws
    // its own.
    uint32_t Decide(Random& random, Masks masks) const {
        uint32_t chosen = masks.below;
        if (rest == 0)
            return chosen;
        for (uint32_t tied = masks.tied; tied != 0; tied &= tied - 1) {
            if (random.Next32() >> 8 < rest)
                chosen |= tied & -tied;
        }
        return chosen;
    }

    Masks ComparePortable(const unsigned char* block) const {
        Masks masks{0, 0};
        for (unsigned i = 0; i < kBlock; ++i) {
            masks.below |= static_cast<uint32_t>(block[i] < top) << i;
            masks.tied |= static_cast<uint32_t>(block[i] == top) << i;
        }
        return masks;
    }

    static uint32_t* Write(uint32_t chosen, uint32_t base, uint32_t* out) {
        for (; chosen != 0; chosen &= chosen - 1) {
            *out++ = base + static_cast<uint32_t>(__builtin_ctz(chosen));
        }
        return out;
    }

    uint32_t* Portable(Random& random, std::size_t begin, std::size_t n, uint32_t* out) const {
        for (std::size_t base = begin; base < n; base += kBlock) {
            Masks masks = ComparePortable(NextBlock(random));
            if (n - base < kBlock) {
                const uint32_t inside = (uint32_t{1} << (n - base)) - 1;
                masks.below &= inside;
                masks.tied &= inside;
            }
            out = Write(Decide(random, masks), static_cast<uint32_t>(base), out);
        }
        return out;
    }

#if defined(__x86_64__)
    // Whole blocks only; the caller does the rest. Stores eight indices at a time: the surplus lands on
    // entries of `out` below base + 32 <= n, because no more were written than units passed.
    __attribute__((target("avx2,popcnt"))) uint32_t* Avx2(Random& random, std::size_t blocks,
                                                          uint32_t* out) const {
        const __m256i tops = _mm256_set1_epi8(static_cast<char>(top));
        for (std::size_t block = 0; block < blocks; ++block) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(NextBlock(random)));
            const uint32_t tied = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, tops)));
            const __m256i not_above = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, tops), bytes);
            const uint32_t below = static_cast<uint32_t>(_mm256_movemask_epi8(not_above)) & ~tied;
            uint32_t chosen = below;
            if (tied != 0)
                chosen = Decide(random, {below, tied});
            if (chosen == 0)
                continue;
            for (unsigned part = 0; part < kBlock; part += 8) {
                const uint8_t mask = static_cast<uint8_t>(chosen >> part);
                const __m256i positions =
                    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(kBitPositions[mask])));
                const __m256i first = _mm256_set1_epi32(static_cast<int>(block * kBlock + part));
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_add_epi32(positions, first));
                out += _mm_popcnt_u32(mask);
            }
        }
        return out;
    }
#endif
};

namespace {

std::size_t SampleAll(std::size_t n, uint32_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = static_cast<uint32_t>(i);
    }
    return n;
}

PoissonKernel MakeKernel(SamplingRate rate, std::size_t n) {
    if (n > UINT32_MAX)
        throw Error(ErrorCode::kLimitExceeded, "cannot sample from more than 4294967295 units");
    return {static_cast<uint8_t>(rate.numerator() >> 24), static_cast<uint32_t>(rate.numerator() & 0xffffff)};
}

}  // namespace

std::size_t Random::PoissonSamplePortable(SamplingRate rate, std::size_t n, uint32_t* out) {
    const PoissonKernel kernel = MakeKernel(rate, n);
    if (rate.IsAll())
        return SampleAll(n, out);
    return static_cast<std::size_t>(kernel.Portable(*this, 0, n, out) - out);
}

std::size_t Random::PoissonSample(SamplingRate rate, std::size_t n, uint32_t* out) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        const PoissonKernel kernel = MakeKernel(rate, n);
        if (rate.IsAll())
            return SampleAll(n, out);
        const std::size_t blocks = n / kBlock;
        uint32_t* end = kernel.Avx2(*this, blocks, out);
        end = kernel.Portable(*this, blocks * kBlock, n, end);
        return static_cast<std::size_t>(end - out);
    }
#endif
    return PoissonSamplePortable(rate, n, out);
}

}  // namespace dpboost
