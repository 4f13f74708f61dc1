// How many rows have a label, a score or what it leaves over in each interval (BasisRows).
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "dataset/dataset.h"
#include "learner/rows/additive/basis_rows.h"
#include "learner/rows/clip_norm.h"

namespace dpboost {
namespace {

// How many of the ascending edges are below the value: std::lower_bound without a branch that random values mispredict.
template <typename Value>
size_t EdgesBelow(const std::vector<Value>& edges, Value value) {
    const Value* first = edges.data();
    size_t left = edges.size();
    while (left > 1) {
        const size_t half = left / 2;
        first += half * static_cast<size_t>(first[half - 1] < value);
        left -= half;
    }
    return static_cast<size_t>(first - edges.data()) + (left == 1 && *first < value ? 1 : 0);
}

}  // namespace

template <typename Fill>
RawSums BasisRows::CountCells(size_t count, const Fill& fill) {
    const int64_t step = static_cast<int64_t>(kClipSteps >> lattice_shift_) * kBasisOne;
    const double sensitivity = static_cast<double>(step);
    std::vector<int64_t> sums(count, 0);
    std::vector<uint16_t> cells(dataset_.has_units() ? dataset_.rows() : kBlockRows);
    for (size_t block = 0; block < dataset_.blocks(); block++) {
        uint16_t* const out = cells.data() + (dataset_.has_units() ? block * kBlockRows : 0);
        fill(block, out);
        for (size_t i = 0; i < (dataset_.has_units() ? 0 : dataset_.block_rows(block)); i++)
            sums[out[i]] += step * dataset_.Weight(block * kBlockRows + i) / kFullWeight;
        interrupt_.Poll();
    }
    const std::vector<uint32_t>& begin = dataset_.unit_begin();
    std::vector<int64_t> vector(count);
    for (size_t unit = 0; unit < (dataset_.has_units() ? dataset_.units() : 0); unit++) {
        std::fill(vector.begin(), vector.end(), 0);
        for (uint32_t k = begin[unit]; k < begin[unit + 1]; k++)
            vector[cells[dataset_.unit_rows()[k]]] +=
                step * dataset_.Weight(dataset_.unit_rows()[k]) / kFullWeight;
        AddWithin(sensitivity * sensitivity, vector, sums);
        if (unit % 64 == 0)
            interrupt_.Poll();
    }
    return {std::move(sums), sensitivity};
}

RawSums BasisRows::LabelCounts(const std::vector<float>& edges) {
    std::vector<float> window(kBlockRows);
    return CountCells(edges.size() + 1, [&](size_t block, uint16_t* cells) {
        const float* const labels = LabelsOf(block, window.data());
        for (size_t i = 0; i < dataset_.block_rows(block); i++)
            cells[i] = static_cast<uint16_t>(EdgesBelow(edges, labels[i]));
    });
}

RawSums BasisRows::ScoreCounts(const std::vector<int32_t>& edges) {
    CheckInternal(outputs_ == 1, "several scores have no intervals");
    ApplyAllPending();
    return CountCells(2 * (edges.size() + 1), [&](size_t block, uint16_t* cells) {
        const float* const labels = dataset_.Labels(block);
        const int32_t* const scores = scores_.data() + block * kBlockRows;
        for (size_t i = 0; i < dataset_.block_rows(block); i++) {
            cells[i] = static_cast<uint16_t>(2 * EdgesBelow(edges, scores[i]) + (labels[i] > 0.5F ? 1 : 0));
        }
    });
}

RawSums BasisRows::ResidualCounts(const std::vector<float>& edges) {
    CheckInternal(outputs_ == 1, "several scores leave nothing over");
    ApplyAllPending();
    std::vector<float> window(kBlockRows);
    return CountCells(edges.size() + 1, [&](size_t block, uint16_t* cells) {
        const float* const labels = LabelsOf(block, window.data());
        const int32_t* const scores = scores_.data() + block * kBlockRows;
        for (size_t i = 0; i < dataset_.block_rows(block); i++) {
            const float rest = labels[i] - static_cast<float>(FromFixed(scores[i]));
            cells[i] = static_cast<uint16_t>(EdgesBelow(edges, rest));
        }
    });
}

}  // namespace dpboost
