// The parts of a basis whose codes are bytes, columns and products of them, and how weights are summed over each: by cells;
// with tables in registers (byte_tables.h) by coordinates, where a part has few of them, and for two columns of few leaves at
// once. Integers all the way, so the sums are the same whichever way they are taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "learner/rows/additive/basis.h"
#include "learner/rows/additive/byte_tables.h"
#include "learner/rows/additive/look_ahead.h"
#include "learner/rows/additive/product_codes.h"

namespace dpboost {

class Dataset;

class NarrowParts {
  public:
    // Blocks whose sums by cells fit 32 bits: a weight is at most a clip.
    static constexpr size_t kMostBlocks = 7;

    // What a thread has added up.
    struct Sums {
        Sums() {}  // what is written before it is read is left as it is
        std::vector<std::array<int32_t, kNarrowCells>> cells;  // of the single parts, then of the pairs
        std::vector<std::vector<int32_t>> product_cells;       // of products that are summed by cells
        std::vector<int64_t> moments;                          // of the coordinates
        std::vector<NarrowSums> columns;
        ProductCodes::Scratch products;
        size_t blocks = 0;  // in the sums by cells
        LookAhead ahead;
        ByteWeights weights;
        std::array<std::array<uint8_t, ByteWeights::kRows>, kNarrowGroup> joined;
    };

    NarrowParts() = default;
    // With byte tables where `simd` has them.
    NarrowParts(const Dataset& dataset, const Basis& basis, Simd simd);

    const ProductCodes& products() const { return products_; }
    bool Has(size_t part) const { return part < is_narrow_.size() && is_narrow_[part]; }
    bool has_byte_tables() const { return HasByteTables(simd_); }
    void Prepare(Sums& sums) const;
    // total: the sum of the weights. Room is for kMostBlocks between two calls of Flush. What sums.ahead wants is fetched
    // on the way.
    void Add(const Dataset& dataset, size_t block, const int32_t* weights, int64_t total,
             Interrupt* interrupt, Sums& sums) const;
    // Brings sums by cells to where there is room for all rows: cells[part][cell * lanes].
    void Flush(Sums& sums, std::vector<std::vector<int64_t>>& cells, size_t lanes) const;
    // Those by coordinates, at the end.
    void AddMoments(const Sums& sums, int64_t* coordinates) const;

  private:
    struct Single {
        size_t part;
        uint32_t column;
    };
    struct Moment {
        uint32_t coordinate;
        ByteTable table;
    };
    // Moments of a part: from `first` on, `count` of them; none: it is summed by cells.
    struct Moments {
        size_t first = 0;
        size_t count = 0;
        uint32_t column = 0;
    };
    // Which leaf a cell belongs to; all cells of a leaf, or of none, have the same phi.
    struct Leaves {
        size_t part = 0;
        uint32_t column = 0;
        std::vector<uint32_t> of_cell;
        std::vector<uint32_t> first_cell;  // of each leaf
    };
    struct Pair {
        Leaves first, second;
        ByteTable first_codes, second_codes;  // what they add to the joined code
    };

    Moments MomentsOf(const BasisBlock& block);
    void MakePairs(std::vector<Leaves> leaves);
    void AddPairs(const Dataset& dataset, size_t block, const int32_t* weights, Sums& sums) const;
    void AddProducts(const Dataset& dataset, size_t block, const int32_t* weights, int64_t total,
                     Interrupt* interrupt, Sums& sums) const;
    void AddMoments(const Moments& of_part, const uint8_t* codes, size_t rows, int64_t total,
                    Sums& sums) const;

    Simd simd_ = Simd::kPortable;
    std::vector<char> is_narrow_;  // by part
    std::vector<Single> singles_;
    std::vector<Pair> pairs_;
    std::vector<Moment> moments_;
    std::vector<Moments> columns_by_moments_;
    ProductCodes products_;
    std::vector<Moments> of_products_;         // in their order
    std::vector<uint32_t> cells_of_products_;  // the same
};

}  // namespace dpboost
