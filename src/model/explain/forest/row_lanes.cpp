#include "model/explain/forest/row_lanes.h"

#include <algorithm>

namespace dpboost {

std::vector<uint16_t> ColumnsOf(const Model& model, const uint16_t* rows) {
    const size_t features = model.features().size();
    std::vector<uint16_t> columns(features * kRowsAtOnce);
    for (size_t f = 0; f < features; f++)
        for (size_t row = 0; row < kRowsAtOnce; row++)
            columns[f * kRowsAtOnce + row] =
                std::min(rows[row * features + f], model.features()[f].missing());
    return columns;
}

void DecideRows(const Model& model, const Tree& tree, size_t node, const uint16_t* columns, Simd simd,
                float* left) {
    const Split& split = tree.splits[node];
    const uint16_t* const codes = columns + split.feature * kRowsAtOnce;
    const uint16_t missing = model.features()[split.feature].missing();
    if (split.kind == SplitKind::kSubset) {
        for (size_t row = 0; row < kRowsAtOnce; row++)
            left[row] = tree.SplitGoesLeft(node, codes[row], missing) ? 1 : 0;
        return;
    }
    // Left go the codes up to `last` but for one, and another one; of a level there is only the other one.
    const bool is_level = split.kind == SplitKind::kLevel;
    const int32_t last = is_level ? -1 : split.threshold, none = missing;
    const int32_t other = is_level ? split.threshold : split.missing_left ? missing : -1;
    ForRows(simd, [&]() DPBOOST_LANES {
        const uint16_t* const from = codes;
        float* const to = left;
        for (size_t row = 0; row < kRowsAtOnce; row++) {
            const int32_t code = from[row];
            to[row] = static_cast<float>(((code <= last) & (code != none)) | (code == other));
        }
    });
}

}  // namespace dpboost
