#include "learner/rows/node/node_rows.h"

#include <algorithm>

namespace dpboost {
namespace {

constexpr size_t kPollRows = size_t{1} << 20;  // a millisecond or two

}  // namespace

void DrawParticipants(const Dataset& dataset, SamplingRate rate, PrivateRandom& coins, Interrupt& interrupt,
                      std::vector<uint32_t>* rows) {
    rows->clear();
    rows->reserve(dataset.units());
    UnitSample sample;
    sample.Draw(dataset.units(), rate, coins, [&](uint32_t* units, size_t count) {
        for (size_t i = 0; dataset.has_units() && i < count; i++)
            units[i] = DrawRowOf(dataset, units[i], coins);
        rows->insert(rows->end(), units, units + count);
        interrupt.Poll();
    });
}

void NodeRows::Reset(std::vector<uint32_t> rows) {
    rows_ = std::move(rows);
    begin_.assign({0, rows_.size()});
}

void NodeRows::Descend(const Tree& tree, unsigned level, Interrupt& interrupt) {
    const size_t first_node = (size_t{1} << level) - 1;
    std::vector<size_t> begin{0};
    right_.resize(rows_.size());
    for (size_t node = 0; node < nodes(); node++) {
        const Split& split = tree.splits[first_node + node];
        const uint16_t missing = dataset_.features()[split.feature].missing();
        size_t left = begin_[node];
        size_t right = 0;
        for (size_t i = begin_[node]; i < begin_[node + 1]; i++) {
            const uint32_t row = rows_[i];
            const uint16_t code = dataset_.Code(row, split.feature);
            const bool goes_left = tree.SplitGoesLeft(first_node + node, code, missing);
            rows_[left] = row;  // never ahead of i
            right_[right] = row;
            left += goes_left;
            right += !goes_left;
            if (i % kPollRows == 0)
                interrupt.Poll();
        }
        std::copy_n(right_.begin(), right, rows_.begin() + static_cast<std::ptrdiff_t>(left));
        begin.push_back(left);
        begin.push_back(begin_[node + 1]);
    }
    begin_ = std::move(begin);
}

void NodeRows::SetValues(const int32_t* gradients, const int32_t* weights, Interrupt& interrupt) {
    values_.resize(rows_.size());
    for (size_t i = 0; i < rows_.size(); i++) {
        if (i % kPollRows == 0)
            interrupt.Poll();
        values_[i] = RowValue{gradients[rows_[i]], weights == nullptr ? 1 : weights[rows_[i]]};
    }
}

template <typename Code>
void NodeRows::AddRun(const Code* codes, size_t from, size_t to, CellSum* cells) const {
    for (size_t i = from; i < to; i++) {
        CellSum& cell = cells[codes[rows_[i] % kBlockRows]];
        cell.gradient += values_[i].gradient;
        cell.weight += values_[i].weight;
    }
}

// Rows of one block lie side by side unless units brought them out of order.
void NodeRows::AddTo(size_t node, size_t feature, CellSum* cells, Interrupt* interrupt) const {
    const bool wide = dataset_.wide(feature);
    const size_t end = begin_[node + 1];
    for (size_t from = begin_[node]; from < end;) {
        const size_t block = rows_[from] / kBlockRows;
        size_t to = from + 1;
        while (to < end && rows_[to] / kBlockRows == block)
            to++;
        if (wide)
            AddRun(dataset_.Codes16(block, feature), from, to, cells);
        else
            AddRun(dataset_.Codes8(block, feature), from, to, cells);
        if (interrupt != nullptr && from / kPollRows != to / kPollRows)
            interrupt->Poll();
        from = to;
    }
}

CellSum NodeRows::Total(size_t node) const {
    CellSum total;
    for (size_t i = begin_[node]; i < begin_[node + 1]; i++)
        total.Add({values_[i].gradient, values_[i].weight});
    return total;
}

}  // namespace dpboost
