// Rows that a training sets aside before it sees them, for its evaluation. Each unit goes to one side as a whole, by a
// coin of its own that nobody knows and nobody influences; from then on the two sides have different types, so that
// what is drawn aside (Plan::Calibrate) cannot be drawn from the training's rows, nor the other way round.
#pragma once

#include <optional>
#include <utility>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "mechanism/random.h"
#include "mechanism/releaser.h"

namespace dpboost {

class HeldOut {
  public:
    // Moves about `share` of the units of `rows` here; the others stay. `rows` must not have been read by anything that
    // draws. Needs memory for the rows twice.
    static HeldOut Split(Dataset* rows, double share, PrivateRandom& coins, const DatasetLimits& limits,
                         Interrupt& interrupt);

    // Bytes per row that Split needs beside the dataset.
    static size_t SplitBytesPerRow(size_t columns, bool has_units);

    // The rows in other codes (training/private_bounds.h), still aside.
    template <typename Recode>
    void Replace(const Recode& recode) {
        rows_ = recode(std::move(*rows_));
    }

    // Sums over the rows by `sum`, a function of a Dataset, as ones for the draw aside.
    template <typename Sum>
    AsideSums Sums(const Sum& sum) const {
        return AsideSums(AsideKey(), sum(*rows_));
    }

  private:
    explicit HeldOut(Dataset&& rows) : rows_(std::move(rows)) {}

    std::optional<Dataset> rows_;
};

}  // namespace dpboost
