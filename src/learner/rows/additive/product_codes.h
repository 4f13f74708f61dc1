// The codes of many products of the same few columns, as bytes: what each factor adds to a code is looked up once for all
// products that have it, and a product's codes are then sums of bytes, which vector instructions make. With bytes, products
// are looked up and added to like columns, see narrow_columns.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "learner/rows/additive/basis.h"
#include "learner/rows/additive/byte_tables.h"
#include "learner/rows/additive/narrow_columns.h"

namespace dpboost {

class Dataset;

class ProductCodes {
  public:
    // Rows that are handled together: those of a block.
    static constexpr size_t kStripe = 4096;
    using Codes = std::array<uint8_t, kStripe>;
    // Of one thread.
    struct Scratch {
        std::vector<Codes> digits;
        std::array<Codes, kNarrowGroup> codes;
    };

    ProductCodes() = default;
    // Of the products of byte columns that have at most 256 cells.
    ProductCodes(const Dataset& dataset, const Basis& basis, Simd simd = Simd::kPortable);

    // Parts of the basis, ascending.
    const std::vector<size_t>& parts() const { return parts_; }
    bool Has(size_t part) const { return std::binary_search(parts_.begin(), parts_.end(), part); }

    // Calls action(first, count, codes, row, rows) for `count` of parts() from the first-th on and `rows` rows of the block
    // from `row` on: codes[k] are those of part first + k. All parts and rows come once.
    template <typename Action>
    void Visit(const Dataset& dataset, size_t block, Interrupt* interrupt, Scratch& scratch,
               const Action& action) const {
        const size_t block_rows = parts_.empty() ? 0 : BlockRows(dataset, block);
        for (size_t row = 0; row < block_rows; row += kStripe) {
            const size_t rows = std::min(kStripe, block_rows - row);
            FillDigits(dataset, block, row, rows, scratch);
            for (size_t first = 0; first < parts_.size(); first += kNarrowGroup) {
                const size_t count = std::min(kNarrowGroup, parts_.size() - first);
                for (size_t k = 0; k < count; k++)
                    AddDigits(first + k, scratch, scratch.codes[k]);
                action(first, count, scratch.codes, row, rows);
            }
            if (interrupt != nullptr)
                interrupt->Poll();
        }
    }

  private:
    struct Factor {
        uint32_t column;
        std::array<uint8_t, kNarrowCells> offsets;  // per code
        ByteTable bytes;                            // of them, where byte tables are used
    };
    static size_t BlockRows(const Dataset& dataset, size_t block);  // not here: who sees this sees no rows
    void FillDigits(const Dataset& dataset, size_t block, size_t row, size_t rows, Scratch& scratch) const;
    void AddDigits(size_t product, const Scratch& scratch, Codes& codes) const;

    Simd simd_ = Simd::kPortable;
    std::vector<size_t> parts_;
    std::vector<Factor> factors_;                // all different
    std::vector<std::vector<uint32_t>> digits_;  // per part: its factors
};

}  // namespace dpboost
