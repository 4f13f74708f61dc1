// Sums of an additive learner where persons have several rows: what a person's rows add is bounded together.
#include <algorithm>

#include "dataset/dataset.h"
#include "learner/rows/additive/basis_rows.h"
#include "learner/rows/clip_norm.h"

namespace dpboost {
namespace {

// Units of a piece of parallel work.
constexpr size_t kUnitItem = 64;

}  // namespace

uint32_t BasisRows::CodeOf(const CodeView& view, size_t row) const {
    if (!view.IsProduct())
        return dataset_.Code(row, view.column);
    uint32_t code = 0;
    for (const ProductFactor& factor : view.factors)
        code += factor.offsets[dataset_.Code(row, factor.column)];
    return code;
}

std::vector<int64_t> BasisRows::SumUnits(const std::vector<int32_t>& weights, size_t outputs) {
    const double clip = kClipSteps >> lattice_shift_;
    const double limit = static_cast<double>(limit_squared_) * clip * clip;
    const size_t length = basis_->coordinates() * outputs;
    struct Own {
        std::vector<int64_t> sums, vector;
    };
    std::vector<Own> owns(static_cast<size_t>(pool_.workers()));
    pool_.Run((dataset_.units() + kUnitItem - 1) / kUnitItem, interrupt_, [&](int worker, size_t item) {
        Own& own = owns[static_cast<size_t>(worker)];
        own.sums.resize(length);
        own.vector.resize(length);
        const size_t end = std::min(dataset_.units(), (item + 1) * kUnitItem);
        for (size_t unit = item * kUnitItem; unit < end; unit++) {
            std::fill(own.vector.begin(), own.vector.end(), 0);
            AddUnit(unit, weights, outputs, own.vector);
            AddWithin(limit, own.vector, own.sums);
        }
    });
    std::vector<int64_t> sums(length, 0);
    for (const Own& own : owns) {
        for (size_t i = 0; i < own.sums.size(); i++)
            sums[i] += own.sums[i];
    }
    return sums;
}

void BasisRows::AddUnit(size_t unit, const std::vector<int32_t>& weights, size_t outputs,
                        std::vector<int64_t>& vector) const {
    const size_t coordinates = basis_->coordinates();
    for (uint32_t k = dataset_.unit_begin()[unit]; k < dataset_.unit_begin()[unit + 1]; k++) {
        const uint32_t row = dataset_.unit_rows()[k];
        const int32_t* const row_weights = weights.data() + row * outputs;
        for (size_t b = 0; b < basis_->blocks().size(); b++) {
            const uint32_t code = CodeOf(basis_->blocks()[b].view, row);
            for (size_t output = 0; output < outputs; output++)
                basis_->AddRow(b, code, row_weights[output], vector.data() + output * coordinates);
        }
        for (size_t output = 0; basis_->intercept() != 0 && output < outputs; output++)
            vector[(output + 1) * coordinates - 1] +=
                static_cast<int64_t>(basis_->intercept()) * row_weights[output];
    }
}

}  // namespace dpboost
