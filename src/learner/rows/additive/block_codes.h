// The codes of a block of rows in a view, whatever their width.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dataset/dataset.h"
#include "learner/rows/additive/code_view.h"

namespace dpboost {

// Codes that are bytes of the dataset, see narrow_columns.h.
inline bool IsNarrow(const Dataset& dataset, const CodeView& view) {
    return !view.IsProduct() && !dataset.wide(view.column);
}

// Calls action(codes) with a column's codes of a block, whatever their width.
template <typename Action>
void WithColumn(const Dataset& dataset, size_t column, size_t block, const Action& action) {
    if (dataset.wide(column))
        action(dataset.Codes16(block, column));
    else
        action(dataset.Codes8(block, column));
}

// The same for a view; products are computed into `scratch`.
template <typename Action>
void WithCodes(const Dataset& dataset, const CodeView& view, size_t block, uint16_t* scratch,
               const Action& action) {
    if (!view.IsProduct()) {
        WithColumn(dataset, view.column, block, action);
        return;
    }
    const size_t rows = dataset.block_rows(block);
    // The first two factors together: most products have no more, and the scratch is written once.
    const ProductFactor& first = view.factors[0];
    const ProductFactor& second = view.factors[view.factors.size() > 1 ? 1 : 0];
    const uint16_t* const first_offsets = first.offsets.data();
    const uint16_t* const second_offsets = second.offsets.data();
    const uint16_t both = view.factors.size() > 1 ? UINT16_MAX : 0;
    WithColumn(dataset, first.column, block, [&](const auto* a) {
        WithColumn(dataset, second.column, block, [&](const auto* b) {
            for (size_t i = 0; i < rows; i++)
                scratch[i] = static_cast<uint16_t>(first_offsets[a[i]] + (second_offsets[b[i]] & both));
        });
    });
    for (size_t f = 2; f < view.factors.size(); f++) {
        const uint16_t* const offsets = view.factors[f].offsets.data();
        WithColumn(dataset, view.factors[f].column, block, [&](const auto* codes) {
            for (size_t i = 0; i < rows; i++)
                scratch[i] = static_cast<uint16_t>(scratch[i] + offsets[codes[i]]);
        });
    }
    action(static_cast<const uint16_t*>(scratch));
}

}  // namespace dpboost
