// Columns whose codes are bytes, four at a time: what is looked up or added to for a row of one column does not wait for the
// column before it, and scores and weights are read once for all four. Sums are of integers, so their order does not matter.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dpboost {

constexpr size_t kNarrowGroup = 4;
constexpr size_t kNarrowCells = 256;

struct NarrowLookup {
    const uint8_t* codes;
    const int32_t* table;
};

// scores[i] += sum over the columns of table[codes[i]]
inline void AddNarrowLookups(const NarrowLookup* columns, size_t count, size_t rows, int32_t* scores) {
    for (; count >= kNarrowGroup; count -= kNarrowGroup, columns += kNarrowGroup) {
        const NarrowLookup a = columns[0], b = columns[1], c = columns[2], d = columns[3];
        for (size_t i = 0; i < rows; i++)
            scores[i] +=
                (a.table[a.codes[i]] + b.table[b.codes[i]]) + (c.table[c.codes[i]] + d.table[d.codes[i]]);
    }
    for (; count > 0; count--, columns++)
        for (size_t i = 0; i < rows; i++)
            scores[i] += columns->table[columns->codes[i]];
}

struct NarrowSums {
    const uint8_t* codes;
    int32_t* cells;  // of kNarrowCells
};

// cells[codes[i]] += weights[i], for each of the columns
inline void AddNarrowWeights(const NarrowSums* columns, size_t count, const int32_t* weights, size_t rows) {
    for (; count >= kNarrowGroup; count -= kNarrowGroup, columns += kNarrowGroup) {
        const NarrowSums a = columns[0], b = columns[1], c = columns[2], d = columns[3];
        for (size_t i = 0; i < rows; i++) {
            const int32_t weight = weights[i];
            a.cells[a.codes[i]] += weight;
            b.cells[b.codes[i]] += weight;
            c.cells[c.codes[i]] += weight;
            d.cells[d.codes[i]] += weight;
        }
    }
    if (count >= 2) {
        const NarrowSums a = columns[0], b = columns[1];
        for (size_t i = 0; i < rows; i++) {
            const int32_t weight = weights[i];
            a.cells[a.codes[i]] += weight;
            b.cells[b.codes[i]] += weight;
        }
        count -= 2;
        columns += 2;
    }
    for (; count > 0; count--, columns++)
        for (size_t i = 0; i < rows; i++)
            columns->cells[columns->codes[i]] += weights[i];
}

}  // namespace dpboost
