// Tables for falsification that differ in one row, the last one, which lies where it is noticed most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "unit/learner/random_data.h"

namespace dpboost {

// 30 rows of two numeric columns.
inline DataShape SmallShape() {
    DataShape shape;
    shape.levels = 0;
    shape.numeric = 2;
    shape.rows = 30;
    return shape;
}

// The last row has extreme codes and this label, or is not there.
inline Dataset WithLastRow(const DataShape& shape, std::optional<float> last_label) {
    const Dataset all = RandomDataset(shape);
    DatasetBuilder builder(all.features(), all.target(), false);
    builder.Grow();
    for (size_t row = 0; row + 1 < all.rows(); row++) {
        for (size_t f = 0; f < all.columns(); f++)
            builder.SetCode(f, all.Code(row, f));
        builder.AppendRow(all.Label(row));
    }
    if (last_label) {
        for (size_t f = 0; f < all.columns(); f++)
            builder.SetCode(f, 0);
        builder.AppendRow(*last_label);
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

}  // namespace dpboost
