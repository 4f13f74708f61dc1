// The loops behind byte_tables.h, in a form for each kind of processor that has one, with the same results.
#pragma once

#include <cstddef>
#include <cstdint>

#include "learner/rows/additive/byte_tables.h"

namespace dpboost {

constexpr size_t kByteVector = 64;             // rows of a register of codes
constexpr size_t kByteStep = 2 * kByteVector;  // that are looked up together

struct ByteKernels {
    // Of the whole steps of kByteStep rows; count is a multiple of kNarrowGroup. By whether all tables are small.
    void (*add_steps[2])(const ByteLookup* columns, size_t count, size_t rows, int32_t* scores);
    void (*split)(const int32_t* weights, size_t rows, int8_t* low, int8_t* middle, int8_t* high);
    // The sum over rows of weight times what the entry is above the least. By whether the table is small, and its planes
    // less one.
    int64_t (*products[2][2])(const uint8_t* codes, size_t rows, const ByteTable& table,
                              const ByteWeights& weights);
    void (*join)(const uint8_t* a, const ByteTable& first, const uint8_t* b, const ByteTable& second,
                 size_t rows, uint8_t* joined);
    void (*map)(const uint8_t* codes, const ByteTable& table, size_t rows, uint8_t* mapped);
};

const ByteKernels& WordKernels();  // AVX-512 with VNNI: tables are looked up as words of two cells
const ByteKernels& VbmiKernels();  // and with VBMI: as bytes

}  // namespace dpboost
