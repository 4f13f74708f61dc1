#include "model/byte_walk.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dpboost {

#if defined(__x86_64__)

namespace {

#define DPBOOST_AVX2 __attribute__((target("avx2")))
#define DPBOOST_INLINE __attribute__((target("avx2"), always_inline)) inline

DPBOOST_INLINE __m256i InBothHalves(const uint8_t* bytes) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(bytes)));
}

// The bytes of a row, sixteen to a table.
template <size_t kTables>
struct RowTables {
    __m256i tables[kTables];
};

// For each slot its byte: looked up in every table by the lower four bits, then chosen by bits 4, 5 and 6.
template <size_t kTables>
DPBOOST_INLINE __m256i LookUp(const RowTables<kTables>& row, __m256i slots) {
    const __m256i low = _mm256_and_si256(slots, _mm256_set1_epi8(15));
    __m256i found[kTables];
    for (size_t i = 0; i < kTables; i++)
        found[i] = _mm256_shuffle_epi8(row.tables[i], low);
    __m256i bit = _mm256_slli_epi16(slots, 3);
    for (size_t i = 0; i < kTables / 2; i++)
        found[i] = _mm256_blendv_epi8(found[2 * i], found[2 * i + 1], bit);
    bit = _mm256_slli_epi16(slots, 2);
    for (size_t i = 0; i < kTables / 4; i++)
        found[i] = _mm256_blendv_epi8(found[2 * i], found[2 * i + 1], bit);
    bit = _mm256_slli_epi16(slots, 1);
    if constexpr (kTables == 8)
        found[0] = _mm256_blendv_epi8(found[0], found[1], bit);
    return found[0];
}

// Four groups: a bit for each question that says right.
template <size_t kTables>
DPBOOST_INLINE void Ask(const RowTables<kTables>& row, __m256i slots, __m256i tests, uint8_t* answers) {
    const __m256i bytes = LookUp(row, slots);
    const __m256i up_to = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, tests), tests);
    const __m256i left = _mm256_blendv_epi8(up_to, _mm256_cmpeq_epi8(bytes, tests), slots);
    const uint32_t right = ~static_cast<uint32_t>(_mm256_movemask_epi8(left));
    std::memcpy(answers, &right, sizeof right);
}

DPBOOST_INLINE __m256i LoadTwo(const QuestionGroup& a, const QuestionGroup& b) {
    const __m128i low = _mm_load_si128(reinterpret_cast<const __m128i*>(&a));
    const __m128i high = _mm_load_si128(reinterpret_cast<const __m128i*>(&b));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

template <size_t kTables>
DPBOOST_INLINE void AskTops(const RowTables<kTables>& row, const TopGroups* tops, size_t trees,
                            uint8_t* answers) {
    for (size_t t = 0; t < trees; t += kTreesOfTop, tops++)
        Ask(row, _mm256_load_si256(reinterpret_cast<const __m256i*>(tops->slots)),
            _mm256_load_si256(reinterpret_cast<const __m256i*>(tops->tests)), answers + t);
}

template <size_t kTables>
DPBOOST_INLINE void AskLower(const RowTables<kTables>& row, const LowerGroups& lower, const uint16_t* paths,
                             size_t trees, uint8_t* answers) {
    const QuestionGroup* groups = lower.groups;
    const size_t n = lower.paths;
    for (size_t t = 0; t < trees; t += kTreesOfTop, groups += kTreesOfTop * n) {
        const __m256i even = LoadTwo(groups[paths[t]], groups[2 * n + paths[t + 2]]);
        const __m256i odd = LoadTwo(groups[n + paths[t + 1]], groups[3 * n + paths[t + 3]]);
        Ask(row, _mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd), answers + t);
    }
}

// paths = 8 paths + the way that the answers lead through a group. Its first three questions tell the first two turns,
// and with them which of the last four is the third one.
DPBOOST_INLINE void Follow(const uint8_t* answers, size_t trees, uint16_t* paths) {
    const __m256i right = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(1, 5, 3, 5, 1, 7, 3, 7, 0, 0, 0, 0, 0, 0, 0, 0));  // as if the third turn went right
    const __m256i third =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(8, 32, 16, 32, 8, 64, 16, 64, 0, 0, 0, 0, 0, 0, 0, 0));
    for (size_t t = 0; t < trees; t += 32) {
        const __m256i all = _mm256_load_si256(reinterpret_cast<const __m256i*>(answers + t));
        const __m256i first = _mm256_and_si256(all, _mm256_set1_epi8(7));
        const __m256i turn = _mm256_and_si256(all, _mm256_shuffle_epi8(third, first));
        const __m256i way = _mm256_add_epi8(_mm256_shuffle_epi8(right, first),
                                            _mm256_cmpeq_epi8(turn, _mm256_setzero_si256()));
        for (size_t half = 0; half < 2; half++) {
            const __m128i ways = half == 0 ? _mm256_castsi256_si128(way) : _mm256_extracti128_si256(way, 1);
            auto* at = reinterpret_cast<__m256i*>(paths + t + 16 * half);
            const __m256i before = _mm256_slli_epi16(_mm256_load_si256(at), kGroupLevels);
            _mm256_store_si256(at, _mm256_add_epi16(before, _mm256_cvtepu8_epi16(ways)));
        }
    }
}

template <size_t kTables>
DPBOOST_AVX2 void Walk(const uint8_t* bytes, const TopGroups* tops, const LowerGroups* lower, size_t stages,
                       size_t trees, uint16_t* paths) noexcept {
    RowTables<kTables> row;
    for (size_t i = 0; i < kTables; i++)
        row.tables[i] = InBothHalves(bytes + 16 * i);
    alignas(32) uint8_t answers[kWalkTrees];
    AskTops(row, tops, trees, answers);
    std::memset(paths, 0, kWalkTrees * sizeof *paths);
    Follow(answers, trees, paths);
    for (size_t stage = 0; stage < stages; stage++) {
        AskLower(row, lower[stage], paths, trees, answers);
        Follow(answers, trees, paths);
    }
}

}  // namespace

void WalkBytes(const uint8_t* row, size_t slots, const TopGroups* tops, const LowerGroups* lower,
               size_t stages, size_t trees, uint16_t* leaves) noexcept {
    const auto walk = slots <= 32 ? Walk<2> : slots <= 64 ? Walk<4> : Walk<8>;
    walk(row, tops, lower, stages, trees, leaves);
}

#else

void WalkBytes(const uint8_t*, size_t, const TopGroups*, const LowerGroups*, size_t, size_t,
               uint16_t*) noexcept {}

#endif

}  // namespace dpboost
