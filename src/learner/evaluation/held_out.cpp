#include "learner/evaluation/held_out.h"

#include <cstdint>
#include <vector>

namespace dpboost {
namespace {

// One coin per unit, whatever the number of its rows.
std::vector<bool> DrawSides(size_t units, double share, PrivateRandom& coins, Interrupt& interrupt) {
    constexpr uint64_t kDenominator = uint64_t{1} << 32;
    const auto numerator = static_cast<uint64_t>(share * static_cast<double>(kDenominator));
    std::vector<bool> aside(units);
    for (size_t unit = 0; unit < units; unit++) {
        aside[unit] = coins.Bernoulli(numerator, kDenominator);
        if (unit % kBlockRows == 0)
            interrupt.Poll();
    }
    return aside;
}

Dataset RowsOf(const Dataset& rows, const std::vector<bool>& aside, bool side, const DatasetLimits& limits,
               Interrupt& interrupt) {
    DatasetBuilder builder(rows.features(), rows.target(), rows.has_units(), limits, rows.has_weights());
    for (size_t row = 0; row < rows.rows(); row++) {
        if (row % kBlockRows == 0)
            interrupt.Poll();
        const uint32_t unit = rows.Unit(row);
        if (aside[unit] != side)
            continue;
        if (builder.Full())
            builder.Grow();
        for (size_t column = 0; column < rows.columns(); column++)
            builder.SetCode(column, rows.Code(row, column));
        builder.AppendRow(rows.Label(row), UnitKeyOf(static_cast<int64_t>(unit)), rows.Weight(row));
    }
    return builder.Finish(interrupt);
}

}  // namespace

HeldOut HeldOut::Split(Dataset* rows, double share, PrivateRandom& coins, const DatasetLimits& limits,
                       Interrupt& interrupt) {
    const std::vector<bool> aside = DrawSides(rows->units(), share, coins, interrupt);
    HeldOut held(RowsOf(*rows, aside, true, limits, interrupt));
    *rows = RowsOf(*rows, aside, false, limits, interrupt);
    return held;
}

size_t HeldOut::SplitBytesPerRow(size_t columns, bool has_units) {
    return columns * sizeof(uint16_t) + sizeof(float) + (has_units ? sizeof(UnitKey) : 0) + 1;
}

}  // namespace dpboost
