// Tables of up to 256 cells in vector registers: looked up for 64 byte codes at once, where the processor can (AVX-512 with
// VNNI, best with VBMI). A table is held as its bytes, lowest first, above its least entry; what is added up are integers, so
// results are those of a loop over rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/simd.h"
#include "learner/rows/additive/narrow_columns.h"

namespace dpboost {

// Whether the functions below can be called with it.
bool HasByteTables(Simd simd);

struct ByteTable {
    ByteTable() = default;
    explicit ByteTable(const std::vector<int32_t>& entries);  // at most kNarrowCells of them

    static constexpr size_t kMostPlanes = sizeof(int32_t);
    static constexpr size_t kSmallCells = kNarrowCells / 4;
    alignas(64) uint8_t planes[kMostPlanes][kNarrowCells] = {};
    // The same in words, for processors that look up words: a cell in the lower byte, the one half a table above it in the
    // upper one; and so for tables that are small.
    alignas(64) uint16_t words[kMostPlanes][kNarrowCells / 2] = {};
    alignas(64) uint16_t small_words[kMostPlanes][kSmallCells / 2] = {};
    size_t used = 0;    // planes that are not 0 everywhere
    bool small = true;  // no more than kSmallCells
    int32_t least = 0;
};

struct ByteLookup {
    NarrowLookup column;
    const ByteTable* bytes = nullptr;  // of the column's table
};

// scores[i] += sum over the columns of table[codes[i]], modulo 2^32. More columns, which add 0, are appended to fill a group.
void AddByteLookups(Simd simd, std::vector<ByteLookup>& columns, size_t rows, int32_t* scores);

// Weights of a block of rows by their bytes, which are signed; those behind the last row are 0.
struct ByteWeights {
    static constexpr size_t kRows = 4096;  // at most
    static constexpr size_t kPlanes = 3;
    alignas(64) int8_t planes[kPlanes][kRows];

    // All of them at most 2^23 - 2^16 in magnitude.
    void Split(Simd simd, const int32_t* weights, size_t rows);
};

// The sum over rows of weight times table[code], where `total` is the sum of the weights. There are codes for a multiple
// of 64 rows; the table's entries span less than 2^16.
int64_t SumProducts(Simd simd, const uint8_t* codes, size_t rows, const ByteTable& table,
                    const ByteWeights& weights, int64_t total);

// joined[i] = first[a[i]] + second[b[i]], of the lowest bytes of tables whose least entry is 0; there are codes and room for a multiple of 64 rows.
void JoinCodes(Simd simd, const uint8_t* a, const ByteTable& first, const uint8_t* b, const ByteTable& second,
               size_t rows, uint8_t* joined);

// mapped[i] = table[codes[i]], where entries are bytes; there are codes and room for a multiple of 64 rows.
void MapCodes(Simd simd, const uint8_t* codes, const ByteTable& table, size_t rows, uint8_t* mapped);

}  // namespace dpboost
