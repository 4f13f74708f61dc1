#include "learner/rows/additive/product_codes.h"

#include <map>
#include <utility>

#include "dataset/dataset.h"

namespace dpboost {
namespace {

bool FitsBytes(const Dataset& dataset, const CodeView& view) {
    return view.IsProduct() && view.cells <= kNarrowCells &&
           std::none_of(view.factors.begin(), view.factors.end(),
                        [&](const ProductFactor& factor) { return dataset.wide(factor.column); });
}

}  // namespace

ProductCodes::ProductCodes(const Dataset& dataset, const Basis& basis, Simd simd) : simd_(simd) {
    std::map<std::pair<uint32_t, std::vector<uint16_t>>, uint32_t> known;
    for (size_t b = 0; b < basis.blocks().size(); b++) {
        const CodeView& view = basis.blocks()[b].view;
        if (!FitsBytes(dataset, view))
            continue;
        parts_.push_back(b);
        digits_.emplace_back();
        for (const ProductFactor& factor : view.factors) {
            const auto [found, is_new] = known.try_emplace(std::make_pair(factor.column, factor.offsets),
                                                           static_cast<uint32_t>(factors_.size()));
            digits_.back().push_back(found->second);
            if (!is_new)
                continue;
            factors_.push_back({factor.column, {}, {}});
            for (size_t code = 0; code < factor.offsets.size(); code++)  // below the product's cells
                factors_.back().offsets[code] = static_cast<uint8_t>(factor.offsets[code]);
            if (HasByteTables(simd))
                factors_.back().bytes = ByteTable({factor.offsets.begin(), factor.offsets.end()});
        }
    }
}

size_t ProductCodes::BlockRows(const Dataset& dataset, size_t block) {
    return dataset.block_rows(block);
}

void ProductCodes::FillDigits(const Dataset& dataset, size_t block, size_t row, size_t rows,
                              Scratch& scratch) const {
    scratch.digits.resize(factors_.size());
    for (size_t f = 0; f < factors_.size(); f++) {
        const uint8_t* const codes = dataset.Codes8(block, factors_[f].column) + row;
        const uint8_t* const offsets = factors_[f].offsets.data();
        uint8_t* const digits = scratch.digits[f].data();
        if (HasByteTables(simd_)) {
            MapCodes(simd_, codes, factors_[f].bytes, rows, digits);
            continue;
        }
        for (size_t i = 0; i < rows; i++)
            digits[i] = offsets[codes[i]];
    }
}

// Of the whole stripe, whose length is known.
void ProductCodes::AddDigits(size_t product, const Scratch& scratch, Codes& codes) const {
    const std::vector<uint32_t>& digits = digits_[product];
    const Codes& first = scratch.digits[digits[0]];
    if (digits.size() == 1) {
        codes = first;
        return;
    }
    const Codes& second = scratch.digits[digits[1]];
    for (size_t i = 0; i < kStripe; i++)
        codes[i] = static_cast<uint8_t>(first[i] + second[i]);
    for (size_t d = 2; d < digits.size(); d++) {
        const Codes& next = scratch.digits[digits[d]];
        for (size_t i = 0; i < kStripe; i++)
            codes[i] = static_cast<uint8_t>(codes[i] + next[i]);
    }
}

}  // namespace dpboost
