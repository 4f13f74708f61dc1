#include "learner/rows/additive/byte_tables.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
// GCC 12 takes what its own header leaves undefined on purpose for a mistake (its bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace dpboost {

bool HasByteTables(Simd simd) {
#if defined(__x86_64__)
    return simd == Simd::kAvx512 && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vnni");
#else
    (void)simd;
    return false;
#endif
}

ByteTable::ByteTable(const std::vector<int32_t>& entries) {
    CheckInternal(!entries.empty() && entries.size() <= kNarrowCells, "a table of bytes has 256 cells");
    least = *std::min_element(entries.begin(), entries.end());
    uint32_t all = 0;
    for (size_t cell = 0; cell < entries.size(); cell++) {
        const uint32_t above = static_cast<uint32_t>(entries[cell]) - static_cast<uint32_t>(least);
        all |= above;
        for (size_t plane = 0; plane < kMostPlanes; plane++)
            planes[plane][cell] = static_cast<uint8_t>(above >> 8 * plane);
    }
    for (; all != 0; all >>= 8)
        used++;
    small = entries.size() <= kNarrowCells / 4;
}

#if defined(__x86_64__)

namespace {

#define DPBOOST_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vnni")))
#define DPBOOST_INLINE __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vnni"), always_inline)) inline

constexpr size_t kVector = 64;   // rows of a register of codes
constexpr size_t kTogether = 2;  // registers that are looked up while a plane is at hand
constexpr size_t kStep = kTogether * kVector;

// A plane of a table: all 256 cells, or the first 64 where codes are below.
template <bool kSmall>
struct Plane {
    __m512i quarters[kSmall ? 1 : 4];
};

template <bool kSmall>
DPBOOST_INLINE Plane<kSmall> LoadPlane(const uint8_t* plane) {
    Plane<kSmall> loaded;
    for (size_t k = 0; k < std::size(loaded.quarters); k++)
        loaded.quarters[k] = _mm512_load_si512(plane + 64 * k);
    return loaded;
}

template <bool kSmall>
DPBOOST_INLINE __m512i LookUp(const Plane<kSmall>& plane, __m512i codes) {
    if constexpr (kSmall) {
        return _mm512_permutexvar_epi8(codes, plane.quarters[0]);
    } else {
        const __m512i low = _mm512_permutex2var_epi8(plane.quarters[0], codes, plane.quarters[1]);
        const __m512i high = _mm512_permutex2var_epi8(plane.quarters[2], codes, plane.quarters[3]);
        return _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), low, high);
    }
}

// sums[k] += a + b + c + d, row by row: of each 16 rows those from 4 k on.
DPBOOST_INLINE void AddFour(const __m512i* found, __m512i* sums) {
    const __m512i ones = _mm512_set1_epi8(1);
    const __m512i ab_low = _mm512_unpacklo_epi8(found[0], found[1]);
    const __m512i ab_high = _mm512_unpackhi_epi8(found[0], found[1]);
    const __m512i cd_low = _mm512_unpacklo_epi8(found[2], found[3]);
    const __m512i cd_high = _mm512_unpackhi_epi8(found[2], found[3]);
    sums[0] = _mm512_dpbusd_epi32(sums[0], _mm512_unpacklo_epi16(ab_low, cd_low), ones);
    sums[1] = _mm512_dpbusd_epi32(sums[1], _mm512_unpackhi_epi16(ab_low, cd_low), ones);
    sums[2] = _mm512_dpbusd_epi32(sums[2], _mm512_unpacklo_epi16(ab_high, cd_high), ones);
    sums[3] = _mm512_dpbusd_epi32(sums[3], _mm512_unpackhi_epi16(ab_high, cd_high), ones);
}

// What AddFour has added up, and `base`, to 64 scores.
DPBOOST_INLINE void AddToScores(const __m512i* sums, __m512i base, int32_t* scores) {
    const __m512i a = _mm512_shuffle_i32x4(sums[0], sums[1], 0x44);  // first and second 16 rows
    const __m512i b = _mm512_shuffle_i32x4(sums[2], sums[3], 0x44);
    const __m512i c = _mm512_shuffle_i32x4(sums[0], sums[1], 0xee);  // third and fourth
    const __m512i d = _mm512_shuffle_i32x4(sums[2], sums[3], 0xee);
    const __m512i in_order[4] = {_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd),
                                 _mm512_shuffle_i32x4(c, d, 0x88), _mm512_shuffle_i32x4(c, d, 0xdd)};
    for (int k = 0; k < 4; k++) {
        const __m512i before = _mm512_loadu_si512(scores + 16 * k);
        _mm512_storeu_si512(scores + 16 * k, _mm512_add_epi32(before, _mm512_add_epi32(base, in_order[k])));
    }
}

// Of the steps of kStep rows; count is a multiple of kNarrowGroup.
template <bool kSmall>
DPBOOST_VBMI void AddSteps(const ByteLookup* columns, size_t count, size_t rows, int32_t* scores) {
    uint32_t least = 0;
    size_t planes = 0;
    for (size_t c = 0; c < count; c++) {
        least += static_cast<uint32_t>(columns[c].bytes->least);
        planes = std::max(planes, columns[c].bytes->used);
    }
    const __m512i base = _mm512_set1_epi32(static_cast<int32_t>(least));
    for (size_t row = 0; row + kStep <= rows; row += kStep) {
        __m512i sums[kTogether][4] = {};
        for (size_t plane = planes; plane-- > 0;) {
            for (auto& four : sums)
                for (__m512i& sum : four)
                    sum = _mm512_slli_epi32(sum, 8);
            for (const ByteLookup* group = columns; group < columns + count; group += kNarrowGroup) {
                __m512i found[kTogether][kNarrowGroup];
                for (size_t c = 0; c < kNarrowGroup; c++) {
                    const Plane<kSmall> table = LoadPlane<kSmall>(group[c].bytes->planes[plane]);
                    for (size_t k = 0; k < kTogether; k++)
                        found[k][c] =
                            LookUp(table, _mm512_loadu_si512(group[c].column.codes + row + k * kVector));
                }
                for (size_t k = 0; k < kTogether; k++)
                    AddFour(found[k], sums[k]);
            }
        }
        for (size_t k = 0; k < kTogether; k++)
            AddToScores(sums[k], base, scores + row + k * kVector);
    }
}

DPBOOST_VBMI void SplitBytes(const int32_t* weights, size_t rows, int8_t* low, int8_t* middle, int8_t* high) {
    for (size_t i = 0; i < rows; i++) {
        low[i] = static_cast<int8_t>(weights[i]);
        const int32_t rest = (weights[i] - low[i]) >> 8;
        middle[i] = static_cast<int8_t>(rest);
        high[i] = static_cast<int8_t>((rest - middle[i]) >> 8);
    }
}

// A pair of planes adds at most 4 * 255 * 128 to a sum for 64 rows: 2^23 for 4096.
template <bool kSmall, size_t kTablePlanes>
DPBOOST_VBMI int64_t Products(const uint8_t* codes, size_t rows, const ByteTable& table,
                              const ByteWeights& weights) {
    Plane<kSmall> planes[kTablePlanes];
    for (size_t p = 0; p < kTablePlanes; p++)
        planes[p] = LoadPlane<kSmall>(table.planes[p]);
    __m512i sums[kTablePlanes][ByteWeights::kPlanes] = {};
    for (size_t row = 0; row < rows; row += kVector) {
        const __m512i block = _mm512_loadu_si512(codes + row);
        __m512i found[kTablePlanes];
        for (size_t p = 0; p < kTablePlanes; p++)
            found[p] = LookUp(planes[p], block);
        for (size_t w = 0; w < ByteWeights::kPlanes; w++) {
            const __m512i weight = _mm512_load_si512(weights.planes[w] + row);
            for (size_t p = 0; p < kTablePlanes; p++)
                sums[p][w] = _mm512_dpbusd_epi32(sums[p][w], found[p], weight);
        }
    }
    int64_t all = 0;
    for (size_t p = 0; p < kTablePlanes; p++)
        for (size_t w = 0; w < ByteWeights::kPlanes; w++)
            all += static_cast<int64_t>(_mm512_reduce_add_epi32(sums[p][w])) * (int64_t{1} << 8 * (p + w));
    return all;
}

DPBOOST_VBMI void Join(const uint8_t* a, const ByteTable& first, const uint8_t* b, const ByteTable& second,
                       size_t rows, uint8_t* joined) {
    const Plane<false> of_first = LoadPlane<false>(first.planes[0]);
    const Plane<false> of_second = LoadPlane<false>(second.planes[0]);
    for (size_t row = 0; row < rows; row += kVector) {
        const __m512i one = LookUp(of_first, _mm512_loadu_si512(a + row));
        const __m512i other = LookUp(of_second, _mm512_loadu_si512(b + row));
        _mm512_storeu_si512(joined + row, _mm512_add_epi8(one, other));
    }
}

#undef DPBOOST_INLINE
#undef DPBOOST_VBMI

}  // namespace

void AddByteLookups(std::vector<ByteLookup>& columns, size_t rows, int32_t* scores) {
    static const ByteTable kNothing;
    static const int32_t kZeros[kNarrowCells] = {};
    const size_t count = columns.size();
    if (count == 0)
        return;
    while (columns.size() % kNarrowGroup != 0)
        columns.push_back({{columns[0].column.codes, kZeros}, &kNothing});
    const bool small =
        std::all_of(columns.begin(), columns.end(), [](const ByteLookup& one) { return one.bytes->small; });
    (small ? AddSteps<true> : AddSteps<false>)(columns.data(), columns.size(), rows, scores);
    const size_t done = rows / kStep * kStep;
    for (size_t c = 0; c < count; c++)
        for (size_t i = done; i < rows; i++)
            scores[i] = static_cast<int32_t>(
                static_cast<uint32_t>(scores[i]) +
                static_cast<uint32_t>(columns[c].column.table[columns[c].column.codes[i]]));
}

void ByteWeights::Split(const int32_t* weights, size_t rows) {
    SplitBytes(weights, rows, planes[0], planes[1], planes[2]);
    const size_t end = std::min(kRows, (rows + kVector - 1) / kVector * kVector);
    for (auto& plane : planes)
        std::fill(plane + rows, plane + end, int8_t{0});
}

int64_t SumProducts(const uint8_t* codes, size_t rows, const ByteTable& table, const ByteWeights& weights,
                    int64_t total) {
    CheckInternal(table.used <= 2, "a factor has two bytes");
    int64_t above = 0;
    if (table.used == 1)
        above = (table.small ? Products<true, 1> : Products<false, 1>)(codes, rows, table, weights);
    else if (table.used == 2)
        above = (table.small ? Products<true, 2> : Products<false, 2>)(codes, rows, table, weights);
    return above + table.least * total;
}

void JoinCodes(const uint8_t* a, const ByteTable& first, const uint8_t* b, const ByteTable& second,
               size_t rows, uint8_t* joined) {
    Join(a, first, b, second, rows, joined);
}

#else

void AddByteLookups(std::vector<ByteLookup>&, size_t, int32_t*) {
    CheckInternal(false, "no vector instructions on this machine");
}
void ByteWeights::Split(const int32_t*, size_t) {
    CheckInternal(false, "no vector instructions on this machine");
}
int64_t SumProducts(const uint8_t*, size_t, const ByteTable&, const ByteWeights&, int64_t) {
    CheckInternal(false, "no vector instructions on this machine");
    return 0;
}
void JoinCodes(const uint8_t*, const ByteTable&, const uint8_t*, const ByteTable&, size_t, uint8_t*) {
    CheckInternal(false, "no vector instructions on this machine");
}

#endif

}  // namespace dpboost
