// Tables made of other tables' rows.
#pragma once

#include "dataset/dataset.h"

namespace dpboost {

// Without the rows that weight(row) is below 0 for; the others have that weight, if there are `weights`.
template <typename Weight>
Dataset CopyRows(const Dataset& all, bool units, bool weights, const Weight& weight) {
    DatasetBuilder builder(all.features(), all.target(), units, {}, weights);
    for (size_t row = 0; row < all.rows(); row++) {
        const int counts = weight(row);
        if (counts < 0)
            continue;
        if (builder.Full())
            builder.Grow();
        for (size_t f = 0; f < all.columns(); f++)
            builder.SetCode(f, all.Code(row, f));
        builder.AppendRow(all.Label(row), UnitKeyOf(static_cast<int64_t>(all.Unit(row))),
                          static_cast<uint16_t>(counts));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

// The rows that choose(row) says yes to, with their weights.
template <typename Choose>
Dataset ChosenRows(const Dataset& all, bool units, const Choose& choose) {
    return CopyRows(all, units, all.has_weights(),
                    [&](size_t row) { return choose(row) ? int{all.Weight(row)} : -1; });
}

}  // namespace dpboost
