#include "learner/rows/leaf/leaf_kernel.h"

#include "base/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dpboost {

size_t KernelPosition(size_t index, int dense_depth) {
    int level = 0;
    while (index + 1 >= size_t{2} << level)
        level++;
    const int top = dense_depth > kSubtreeDepth ? dense_depth - kSubtreeDepth : 0;
    if (top == 0 || level < top || level >= dense_depth)
        return index;
    const size_t in_level = index + 1 - (size_t{1} << level);
    const int local_level = level - top;
    const size_t subtree = in_level >> local_level;
    const size_t local = in_level & ((size_t{1} << local_level) - 1);
    return (size_t{1} << top) - 1 + subtree * kSubtreeNodes + (size_t{1} << local_level) - 1 + local;
}

void StretchToBytes(const CodeStretch& stretch, const uint16_t* codes, size_t rows, uint8_t* out) {
    for (size_t i = 0; i < rows; i++) {
        const int code = static_cast<uint16_t>(codes[i] + stretch.add) - stretch.base;
        out[i] = static_cast<uint8_t>(code < 0 ? 0 : code > 255 ? 255 : code);
    }
}

#if defined(__x86_64__)

namespace {

inline const uint8_t* ColumnOf(const KernelNode& node, const uint8_t* cells) {
    return reinterpret_cast<const uint8_t*>(reinterpret_cast<uintptr_t>(cells) +
                                            static_cast<uintptr_t>(node.column));
}

// Both forms below have the same shape. In the first, Subtree<Depth, Index, Base>::Leaf is the leaf, plus
// Base, within the subtree of `Depth` levels at node Index: each node chooses between the results of its two
// halves; at the bottom the comparison itself decides between the two leaves' numbers.
namespace avx2 {

#define DPBOOST_INLINE __attribute__((target("avx2"), always_inline)) inline

struct Rows {
    __m256i low, high;  // rows 0..31 and 32..63
};

// All bits set where the row goes right.
DPBOOST_INLINE Rows GoesRight(const KernelNode& node, const uint8_t* cells) {
    const __m256i* codes = reinterpret_cast<const __m256i*>(ColumnOf(node, cells));
    const __m256i add = _mm256_set1_epi32(static_cast<int>(node.add));
    const __m256i threshold = _mm256_set1_epi32(static_cast<int>(node.threshold));
    return {_mm256_cmpgt_epi8(_mm256_add_epi8(_mm256_loadu_si256(codes), add), threshold),
            _mm256_cmpgt_epi8(_mm256_add_epi8(_mm256_loadu_si256(codes + 1), add), threshold)};
}

DPBOOST_INLINE Rows Choose(const Rows& left, const Rows& right, const Rows& mask) {
    return {_mm256_blendv_epi8(left.low, right.low, mask.low),
            _mm256_blendv_epi8(left.high, right.high, mask.high)};
}

template <int Depth, int Index, int Base>
struct Subtree {
    DPBOOST_INLINE static Rows Leaf(const KernelNode* nodes, const uint8_t* cells) {
        const Rows left = Subtree<Depth - 1, 2 * Index + 1, Base>::Leaf(nodes, cells);
        const Rows right = Subtree<Depth - 1, 2 * Index + 2, Base + (1 << (Depth - 1))>::Leaf(nodes, cells);
        return Choose(left, right, GoesRight(nodes[Index], cells));
    }
};

template <int Index, int Base>
struct Subtree<1, Index, Base> {
    DPBOOST_INLINE static Rows Leaf(const KernelNode* nodes, const uint8_t* cells) {
        const Rows mask = GoesRight(nodes[Index], cells);
        const __m256i base = _mm256_set1_epi8(static_cast<char>(Base));
        return {_mm256_sub_epi8(base, mask.low), _mm256_sub_epi8(base, mask.high)};
    }
};

template <int Depth>
__attribute__((target("avx2"))) void Leaves(const KernelNode* nodes, const uint8_t* cells, uint8_t* out) {
    for (size_t row = 0; row < kKernelRows; row += 64) {
        const Rows leaf = Subtree<Depth, 0, 0>::Leaf(nodes, cells + row);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + row), leaf.low);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + row + 32), leaf.high);
    }
}

// The results of two neighbouring subtrees of 2^depth leaves become those of their parent.
__attribute__((target("avx2"))) void Join(const KernelNode& parent, int depth, const uint8_t* cells,
                                          const uint8_t* left, const uint8_t* right, uint8_t* out) {
    const __m256i base = _mm256_set1_epi8(static_cast<char>(1 << depth));
    const __m256i add = _mm256_set1_epi32(static_cast<int>(parent.add));
    const __m256i threshold = _mm256_set1_epi32(static_cast<int>(parent.threshold));
    const uint8_t* const column = ColumnOf(parent, cells);
    for (size_t row = 0; row < kKernelRows; row += 32) {
        const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column + row));
        const __m256i mask = _mm256_cmpgt_epi8(_mm256_add_epi8(codes, add), threshold);
        const __m256i l = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(left + row));
        const __m256i r = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(right + row));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + row),
                            _mm256_blendv_epi8(l, _mm256_add_epi8(r, base), mask));
    }
}

#undef DPBOOST_INLINE

}  // namespace avx2

namespace avx512 {

#define DPBOOST_INLINE __attribute__((target("avx512f,avx512bw"), always_inline)) inline

struct Rows {
    __m512i low, high;  // rows 0..63 and 64..127
};

struct Mask {
    __mmask64 low, high;
};

DPBOOST_INLINE Mask GoesRight(const KernelNode& node, const uint8_t* cells) {
    const uint8_t* codes = ColumnOf(node, cells);
    const __m512i add = _mm512_set1_epi32(static_cast<int>(node.add));
    const __m512i threshold = _mm512_set1_epi32(static_cast<int>(node.threshold));
    return {_mm512_cmpgt_epi8_mask(_mm512_add_epi8(_mm512_loadu_si512(codes), add), threshold),
            _mm512_cmpgt_epi8_mask(_mm512_add_epi8(_mm512_loadu_si512(codes + 64), add), threshold)};
}

// Leaves are counted within the subtree: choosing the right half adds the number of leaves of the left one,
// in the same instruction.
template <int Depth, int Index>
struct Subtree {
    DPBOOST_INLINE static Rows Leaf(const KernelNode* nodes, const uint8_t* cells) {
        const Rows left = Subtree<Depth - 1, 2 * Index + 1>::Leaf(nodes, cells);
        const Rows right = Subtree<Depth - 1, 2 * Index + 2>::Leaf(nodes, cells);
        const Mask mask = GoesRight(nodes[Index], cells);
        const __m512i half = _mm512_set1_epi8(1 << (Depth - 1));
        return {_mm512_mask_add_epi8(left.low, mask.low, right.low, half),
                _mm512_mask_add_epi8(left.high, mask.high, right.high, half)};
    }
};

template <int Index>
struct Subtree<1, Index> {
    DPBOOST_INLINE static Rows Leaf(const KernelNode* nodes, const uint8_t* cells) {
        const Mask mask = GoesRight(nodes[Index], cells);
        const __m512i one = _mm512_set1_epi8(1);
        return {_mm512_maskz_mov_epi8(mask.low, one), _mm512_maskz_mov_epi8(mask.high, one)};
    }
};

template <int Depth>
__attribute__((target("avx512f,avx512bw"), aligned(64))) void Leaves(const KernelNode* nodes,
                                                                     const uint8_t* cells, uint8_t* out) {
    const Rows leaf = Subtree<Depth, 0>::Leaf(nodes, cells);
    _mm512_storeu_si512(out, leaf.low);
    _mm512_storeu_si512(out + 64, leaf.high);
}

#undef DPBOOST_INLINE

}  // namespace avx512

using Kernel = void (*)(const KernelNode* nodes, const uint8_t* cells, uint8_t* out);
constexpr Kernel kAvx2Kernels[] = {avx2::Leaves<1>, avx2::Leaves<2>, avx2::Leaves<3>,
                                   avx2::Leaves<4>, avx2::Leaves<5>, avx2::Leaves<6>};
constexpr Kernel kAvx512Kernels[] = {avx512::Leaves<1>, avx512::Leaves<2>, avx512::Leaves<3>,
                                     avx512::Leaves<4>, avx512::Leaves<5>, avx512::Leaves<6>};

void DenseLeaves(const Kernel* kernels, int dense_depth, const KernelNode* nodes, const uint8_t* cells,
                 uint8_t* out) {
    if (dense_depth <= kSubtreeDepth)
        return kernels[dense_depth - 1](nodes, cells, out);
    CheckInternal(dense_depth <= kDenseDepth, "too many levels for the kernel");
    const int top = dense_depth - kSubtreeDepth;
    // Aligned: half of a vector that was just written is read before it is in the cache, if it lies within one line.
    alignas(64) uint8_t parts[1 << (kDenseDepth - kSubtreeDepth)][kKernelRows];
    const KernelNode* subtree = nodes + (size_t{1} << top) - 1;
    for (int part = 0; part < 1 << top; part++, subtree += kSubtreeNodes)
        kernels[kSubtreeDepth - 1](subtree, cells, parts[part]);
    for (int level = top - 1; level >= 0; level--) {
        for (int part = 0; part < 1 << level; part++) {
            uint8_t* result = level == 0 ? out : parts[part];
            avx2::Join(nodes[(1 << level) - 1 + part], dense_depth - level - 1, cells, parts[2 * part],
                       parts[2 * part + 1], result);
        }
    }
}

}  // namespace

void DenseLeavesAvx2(int dense_depth, const KernelNode* nodes, const uint8_t* cells, uint8_t* out) {
    DenseLeaves(kAvx2Kernels, dense_depth, nodes, cells, out);
}

void DenseLeavesAvx512(int dense_depth, const KernelNode* nodes, const uint8_t* cells, uint8_t* out) {
    DenseLeaves(kAvx512Kernels, dense_depth, nodes, cells, out);
}

__attribute__((target("avx2"))) void StretchToBytesAvx2(const CodeStretch& stretch, const uint16_t* codes,
                                                        size_t rows, uint8_t* out) {
    const __m256i add = _mm256_set1_epi16(static_cast<int16_t>(stretch.add));
    const __m256i base = _mm256_set1_epi16(static_cast<int16_t>(stretch.base));
    const __m256i most = _mm256_set1_epi16(255);
    for (size_t row = 0; row < rows; row += 32) {
        const __m256i* cells = reinterpret_cast<const __m256i*>(codes + row);
        const __m256i low = _mm256_subs_epu16(_mm256_add_epi16(_mm256_loadu_si256(cells), add), base);
        const __m256i high = _mm256_subs_epu16(_mm256_add_epi16(_mm256_loadu_si256(cells + 1), add), base);
        const __m256i packed = _mm256_packus_epi16(_mm256_min_epu16(low, most), _mm256_min_epu16(high, most));
        // Packing works within halves and leaves rows 0-7, 16-23, 8-15, 24-31.
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + row), _mm256_permute4x64_epi64(packed, 0xd8));
    }
}

__attribute__((target("avx2"))) void PackLeavesAvx2(const uint8_t (*codes)[kKernelRows], uint64_t* words) {
    for (size_t row = 0; row < kKernelRows; row += 32) {
        __m256i b[8], w[8], d[8];
        for (int slot = 0; slot < 8; slot++)
            b[slot] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes[slot] + row));
        for (int k = 0; k < 4; k++) {
            w[k] = _mm256_unpacklo_epi8(b[2 * k], b[2 * k + 1]);      // rows 0-7 and 16-23
            w[4 + k] = _mm256_unpackhi_epi8(b[2 * k], b[2 * k + 1]);  // rows 8-15 and 24-31
        }
        for (int half = 0; half < 8; half += 4) {
            for (int k = 0; k < 2; k++) {
                d[half + k] = _mm256_unpacklo_epi16(w[half + 2 * k], w[half + 2 * k + 1]);
                d[half + 2 + k] = _mm256_unpackhi_epi16(w[half + 2 * k], w[half + 2 * k + 1]);
            }
        }
        for (int quarter = 0; quarter < 4; quarter++) {
            const __m256i low = _mm256_unpacklo_epi32(d[2 * quarter], d[2 * quarter + 1]);
            const __m256i high = _mm256_unpackhi_epi32(d[2 * quarter], d[2 * quarter + 1]);
            uint64_t* out = words + row + 4 * quarter;
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(low));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2), _mm256_castsi256_si128(high));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(low, 1));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 18), _mm256_extracti128_si256(high, 1));
        }
    }
}

#else

void DenseLeavesAvx2(int, const KernelNode*, const uint8_t*, uint8_t*) {
    CheckInternal(false, "no vector instructions on this machine");
}
void DenseLeavesAvx512(int, const KernelNode*, const uint8_t*, uint8_t*) {
    CheckInternal(false, "no vector instructions on this machine");
}
void StretchToBytesAvx2(const CodeStretch&, const uint16_t*, size_t, uint8_t*) {
    CheckInternal(false, "no vector instructions on this machine");
}
void PackLeavesAvx2(const uint8_t (*)[kKernelRows], uint64_t*) {
    CheckInternal(false, "no vector instructions on this machine");
}

#endif

}  // namespace dpboost
