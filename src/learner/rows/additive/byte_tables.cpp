#include "learner/rows/additive/byte_tables.h"

#include <algorithm>

#include "base/error.h"
#include "learner/rows/additive/byte_kernels.h"

namespace dpboost {
namespace {

const ByteKernels& KernelsOf(Simd simd) {
    CheckInternal(HasByteTables(simd), "no vector instructions on this machine");
#if defined(__x86_64__)
    return simd == Simd::kAvx512Vbmi ? VbmiKernels() : WordKernels();
#else
    __builtin_unreachable();
#endif
}

}  // namespace

bool HasByteTables(Simd simd) {
    return simd >= Simd::kAvx512Vnni;
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
    small = entries.size() <= kSmallCells;
    for (size_t plane = 0; plane < used; plane++) {
        for (size_t cell = 0; cell < kNarrowCells / 2; cell++)
            words[plane][cell] =
                static_cast<uint16_t>(planes[plane][cell] | planes[plane][cell + kNarrowCells / 2] << 8);
        for (size_t cell = 0; cell < kSmallCells / 2; cell++)
            small_words[plane][cell] =
                static_cast<uint16_t>(planes[plane][cell] | planes[plane][cell + kSmallCells / 2] << 8);
    }
}

void AddByteLookups(Simd simd, std::vector<ByteLookup>& columns, size_t rows, int32_t* scores) {
    static const ByteTable kNothing;
    static const int32_t kZeros[kNarrowCells] = {};
    const size_t count = columns.size();
    if (count == 0)
        return;
    while (columns.size() % kNarrowGroup != 0)
        columns.push_back({{columns[0].column.codes, kZeros}, &kNothing});
    const bool small =
        std::all_of(columns.begin(), columns.end(), [](const ByteLookup& one) { return one.bytes->small; });
    KernelsOf(simd).add_steps[small](columns.data(), columns.size(), rows, scores);
    const size_t done = rows / kByteStep * kByteStep;
    for (size_t c = 0; c < count; c++)
        for (size_t i = done; i < rows; i++)
            scores[i] = static_cast<int32_t>(
                static_cast<uint32_t>(scores[i]) +
                static_cast<uint32_t>(columns[c].column.table[columns[c].column.codes[i]]));
}

void ByteWeights::Split(Simd simd, const int32_t* weights, size_t rows) {
    KernelsOf(simd).split(weights, rows, planes[0], planes[1], planes[2]);
    const size_t end = std::min(kRows, (rows + kByteVector - 1) / kByteVector * kByteVector);
    for (auto& plane : planes)
        std::fill(plane + rows, plane + end, int8_t{0});
}

int64_t SumProducts(Simd simd, const uint8_t* codes, size_t rows, const ByteTable& table,
                    const ByteWeights& weights, int64_t total) {
    CheckInternal(table.used <= 2, "a factor has two bytes");
    const int64_t of_least = table.least * total;
    if (table.used == 0)
        return of_least;
    return of_least + KernelsOf(simd).products[table.small][table.used - 1](codes, rows, table, weights);
}

void JoinCodes(Simd simd, const uint8_t* a, const ByteTable& first, const uint8_t* b, const ByteTable& second,
               size_t rows, uint8_t* joined) {
    CheckInternal(first.least == 0 && second.least == 0, "joined codes count from 0");
    KernelsOf(simd).join(a, first, b, second, rows, joined);
}

void MapCodes(Simd simd, const uint8_t* codes, const ByteTable& table, size_t rows, uint8_t* mapped) {
    KernelsOf(simd).map(codes, table, rows, mapped);
}

}  // namespace dpboost
