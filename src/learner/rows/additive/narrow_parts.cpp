#include "learner/rows/additive/narrow_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "dataset/dataset.h"
#include "learner/objective/objective.h"
#include "learner/rows/additive/block_codes.h"

namespace dpboost {
namespace {

static_assert(NarrowParts::kMostBlocks * kBlockRows * kClipSteps < size_t{1} << 31,
              "sums of cells fit 32 bits");
static_assert(ByteWeights::kRows == kBlockRows && kClipSteps <= (1 << 23) - (1 << 16),
              "a block's weights have three bytes");
static_assert(ProductCodes::kStripe == kBlockRows, "the weights of a stripe are those of its block");

// Rows of pairs between two looks ahead.
constexpr size_t kPiece = 256;
// A sum by coordinates costs about a sixth of one by cells, for each of them.
constexpr size_t kMostMoments = 4;

bool IsByMoments(const BasisBlock& block) {
    return block.partition.leaves == 0 && block.columns.size() <= kMostMoments;
}

}  // namespace

NarrowParts::NarrowParts(const Dataset& dataset, const Basis& basis, Simd simd)
    : simd_(simd), is_narrow_(basis.blocks().size(), 0), products_(dataset, basis, simd) {
    std::vector<Leaves> of_leaves;
    for (size_t b = 0; b < basis.blocks().size(); b++) {
        const BasisBlock& block = basis.blocks()[b];
        if (!IsNarrow(dataset, block.view))
            continue;
        is_narrow_[b] = 1;
        if (has_byte_tables() && IsByMoments(block)) {
            columns_by_moments_.push_back(MomentsOf(block));
            continue;
        }
        if (!has_byte_tables() || !block.columns.empty()) {
            singles_.push_back({b, block.view.column});
            continue;
        }
        Leaves leaves;
        leaves.part = b;
        leaves.column = block.view.column;
        std::map<uint32_t, uint32_t> known;
        for (uint32_t cell = 0; cell < block.partition.leaf.size(); cell++) {
            const auto [found, is_new] =
                known.try_emplace(block.partition.leaf[cell], static_cast<uint32_t>(known.size()));
            leaves.of_cell.push_back(found->second);
            if (is_new)
                leaves.first_cell.push_back(cell);
        }
        of_leaves.push_back(std::move(leaves));
    }
    MakePairs(std::move(of_leaves));
    for (const size_t part : products_.parts()) {
        const BasisBlock& block = basis.blocks()[part];
        is_narrow_[part] = 1;
        of_products_.push_back(has_byte_tables() && IsByMoments(block) ? MomentsOf(block) : Moments{});
        cells_of_products_.push_back(of_products_.back().count > 0 ? 0 : block.view.cells);
    }
}

NarrowParts::Moments NarrowParts::MomentsOf(const BasisBlock& block) {
    const Moments moments{moments_.size(), block.columns.size(), block.view.column};
    for (uint32_t k = 0; k < block.columns.size(); k++)
        moments_.push_back({block.first + k, ByteTable(block.columns[k].values)});
    return moments;
}

void NarrowParts::MakePairs(std::vector<Leaves> leaves) {
    for (size_t k = 0; k < leaves.size(); k++) {
        if (k + 1 == leaves.size() ||
            leaves[k].first_cell.size() * leaves[k + 1].first_cell.size() > kNarrowCells) {
            singles_.push_back({leaves[k].part, leaves[k].column});
            continue;
        }
        Pair pair{std::move(leaves[k]), std::move(leaves[k + 1]), {}, {}};
        std::vector<int32_t> codes;
        for (const uint32_t leaf : pair.first.of_cell)
            codes.push_back(static_cast<int32_t>(leaf * pair.second.first_cell.size()));
        pair.first_codes = ByteTable(codes);
        pair.second_codes = ByteTable({pair.second.of_cell.begin(), pair.second.of_cell.end()});
        pairs_.push_back(std::move(pair));
        k++;
    }
}

void NarrowParts::Prepare(Sums& sums) const {
    sums.cells.assign(singles_.size() + pairs_.size(), {});
    for (const uint32_t cells : cells_of_products_)
        sums.product_cells.emplace_back(cells, 0);
    sums.moments.assign(moments_.size(), 0);
}

void NarrowParts::Add(const Dataset& dataset, size_t block, const int32_t* weights, int64_t total,
                      Interrupt* interrupt, Sums& sums) const {
    const size_t rows = dataset.block_rows(block);
    sums.blocks++;
    sums.ahead.Spread(1 + (pairs_.size() + kNarrowGroup - 1) / kNarrowGroup * (kBlockRows / kPiece) +
                      columns_by_moments_.size());
    sums.columns.clear();
    for (size_t k = 0; k < singles_.size(); k++)
        sums.columns.push_back({dataset.Codes8(block, singles_[k].column), sums.cells[k].data()});
    AddNarrowWeights(sums.columns.data(), sums.columns.size(), weights, rows);
    sums.ahead.Fetch();
    AddPairs(dataset, block, weights, sums);
    if (!moments_.empty())
        sums.weights.Split(simd_, weights, rows);
    for (const Moments& of_part : columns_by_moments_) {
        AddMoments(of_part, dataset.Codes8(block, of_part.column), rows, total, sums);
        sums.ahead.Fetch();
    }
    AddProducts(dataset, block, weights, total, interrupt, sums);
}

void NarrowParts::AddMoments(const Moments& of_part, const uint8_t* codes, size_t rows, int64_t total,
                             Sums& sums) const {
    for (size_t k = of_part.first; k < of_part.first + of_part.count; k++)
        sums.moments[k] += SumProducts(simd_, codes, rows, moments_[k].table, sums.weights, total);
}

void NarrowParts::AddProducts(const Dataset& dataset, size_t block, const int32_t* weights, int64_t total,
                              Interrupt* interrupt, Sums& sums) const {
    products_.Visit(dataset, block, interrupt, sums.products,
                    [&](size_t first, size_t count, const auto& codes, size_t row, size_t rows) {
                        NarrowSums added[kNarrowGroup];
                        size_t by_cells = 0;
                        for (size_t k = 0; k < count; k++) {
                            if (of_products_[first + k].count > 0)
                                AddMoments(of_products_[first + k], codes[k].data(), rows, total, sums);
                            else
                                added[by_cells++] = {codes[k].data(), sums.product_cells[first + k].data()};
                        }
                        AddNarrowWeights(added, by_cells, weights + row, rows);
                    });
}

void NarrowParts::AddPairs(const Dataset& dataset, size_t block, const int32_t* weights, Sums& sums) const {
    const size_t rows = dataset.block_rows(block);
    for (size_t first = 0; first < pairs_.size(); first += kNarrowGroup) {
        NarrowSums added[kNarrowGroup];
        const size_t count = std::min(kNarrowGroup, pairs_.size() - first);
        for (size_t k = 0; k < count; k++) {
            const Pair& pair = pairs_[first + k];
            uint8_t* const joined = sums.joined[k].data();
            JoinCodes(simd_, dataset.Codes8(block, pair.first.column), pair.first_codes,
                      dataset.Codes8(block, pair.second.column), pair.second_codes, rows, joined);
            added[k] = {joined, sums.cells[singles_.size() + first + k].data()};
        }
        for (size_t row = 0; row < rows; row += kPiece) {
            AddNarrowWeights(added, count, weights + row, std::min(kPiece, rows - row));
            for (size_t k = 0; k < count; k++)
                added[k].codes += kPiece;
            sums.ahead.Fetch();
        }
    }
}

void NarrowParts::Flush(Sums& sums, std::vector<std::vector<int64_t>>& cells, size_t lanes) const {
    for (size_t k = 0; k < singles_.size(); k++) {
        std::vector<int64_t>& of_part = cells[singles_[k].part];
        for (size_t cell = 0; cell < of_part.size() / lanes; cell++)
            of_part[cell * lanes] += sums.cells[k][cell];
    }
    for (size_t k = 0; k < pairs_.size(); k++) {
        const Pair& pair = pairs_[k];
        const int32_t* joined = sums.cells[singles_.size() + k].data();
        for (const uint32_t a : pair.first.first_cell) {
            for (const uint32_t b : pair.second.first_cell) {
                cells[pair.first.part][a * lanes] += *joined;
                cells[pair.second.part][b * lanes] += *joined++;
            }
        }
    }
    for (auto& of_part : sums.cells)
        of_part.fill(0);
    for (size_t k = 0; k < cells_of_products_.size(); k++) {
        std::vector<int64_t>& of_part = cells[products_.parts()[k]];
        for (size_t cell = 0; cell < cells_of_products_[k]; cell++)
            of_part[cell * lanes] += sums.product_cells[k][cell];
        std::fill(sums.product_cells[k].begin(), sums.product_cells[k].end(), 0);
    }
    sums.blocks = 0;
}

void NarrowParts::AddMoments(const Sums& sums, int64_t* coordinates) const {
    for (size_t k = 0; k < moments_.size(); k++)
        coordinates[moments_[k].coordinate] += sums.moments[k];
}

}  // namespace dpboost
