// How far the weight of each row is scaled down, so that what it adds is within the bound of the basis.
#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "learner/rows/additive/basis_rows.h"
#include "learner/rows/additive/block_codes.h"
#include "learner/rows/additive/narrow_columns.h"
#include "learner/rows/clip_norm.h"

namespace dpboost {
namespace {

// Norms below it are added up in 32 bits.
constexpr uint64_t kSmallNorms = uint64_t{1} << 31;
// Parts of a basis between two polls within a block of rows.
constexpr size_t kPollBlocks = 32;

struct Norms {
    std::array<uint64_t, kBlockRows> rows;
    std::array<int32_t, kBlockRows> small;
    std::array<uint16_t, kBlockRows> codes;
    std::vector<ByteLookup> lookups;
    ProductCodes::Scratch products;
};

// What the parts of a basis add to a row's norm.
struct CellNorms {
    uint64_t base = 0;                         // of those with one norm for all cells, and of the intercept
    std::vector<size_t> narrow;                // the others: columns of bytes,
    std::vector<size_t> wide;                  // and the rest, but for products whose codes are bytes
    bool small = false;                        // all of it fits 31 bits
    std::vector<std::vector<int32_t>> tables;  // then, by part: the norms of its cells,
    std::vector<ByteTable> bytes;              // and of bytes, where byte tables are used

    ByteLookup Lookup(const uint8_t* codes, size_t part) const {
        return {{codes, tables[part].data()}, bytes.empty() ? nullptr : &bytes[part]};
    }
};

CellNorms NormsOf(const Dataset& dataset, const Basis& basis, const ProductCodes& products,
                  bool has_byte_tables) {
    CellNorms norms;
    norms.base = static_cast<uint64_t>(static_cast<int64_t>(basis.intercept()) * basis.intercept());
    norms.small = basis.MaxNormSquared() < kSmallNorms;
    norms.tables.resize(basis.blocks().size());
    norms.bytes.resize(has_byte_tables && norms.small ? basis.blocks().size() : 0);
    for (size_t b = 0; b < basis.blocks().size(); b++) {
        const std::vector<uint64_t>& cells = basis.blocks()[b].cell_norms;
        const auto [least, most] = std::minmax_element(cells.begin(), cells.end());
        const bool is_product = norms.small && products.Has(b);
        if (*least == *most && !is_product) {
            norms.base += *least;
            continue;
        }
        if (norms.small)
            norms.tables[b].assign(cells.begin(), cells.end());
        const bool is_narrow = norms.small && IsNarrow(dataset, basis.blocks()[b].view);
        if ((is_product || is_narrow) && !norms.bytes.empty())
            norms.bytes[b] = ByteTable(norms.tables[b]);
        if (is_narrow)
            norms.narrow.push_back(b);
        else if (!is_product)
            norms.wide.push_back(b);
    }
    return norms;
}

// Adds norms of the wide parts, from tables of their type.
template <typename TableOf, typename Norm>
void AddWideNorms(const Dataset& dataset, const Basis& basis, const CellNorms& cells, size_t block,
                  Interrupt* interrupt, const TableOf& table_of, uint16_t* scratch, Norm* norms) {
    const size_t rows = dataset.block_rows(block);
    for (size_t k = 0; k < cells.wide.size(); k++) {
        const auto* const table = table_of(cells.wide[k]);
        WithCodes(dataset, basis.blocks()[cells.wide[k]].view, block, scratch, [&](const auto* codes) {
            for (size_t i = 0; i < rows; i++)
                norms[i] += table[codes[i]];
        });
        if (interrupt != nullptr && k % kPollBlocks == kPollBlocks - 1)
            interrupt->Poll();
    }
}

// norms[i] += sum over the lookups of table[codes[i]]
void AddNorms(Simd simd, std::vector<ByteLookup>& lookups, size_t rows, int32_t* norms) {
    if (!lookups.empty() && lookups.front().bytes != nullptr)
        return AddByteLookups(simd, lookups, rows, norms);
    NarrowLookup group[kNarrowGroup];
    for (size_t first = 0; first < lookups.size(); first += kNarrowGroup) {
        const size_t count = std::min(kNarrowGroup, lookups.size() - first);
        for (size_t k = 0; k < count; k++)
            group[k] = lookups[first + k].column;
        AddNarrowLookups(group, count, rows, norms);
    }
}

// |phi(x)|^2 of the block's rows, exactly: no row's is above MaxNormSquared.
void FindNorms(Simd simd, const Dataset& dataset, const Basis& basis, const CellNorms& cells,
               const ProductCodes& products, size_t block, Interrupt* interrupt, Norms& norms) {
    norms.rows.fill(cells.base);
    if (!cells.small) {
        AddWideNorms(
            dataset, basis, cells, block, interrupt,
            [&](size_t b) { return basis.blocks()[b].cell_norms.data(); }, norms.codes.data(),
            norms.rows.data());
        return;
    }
    norms.small.fill(0);
    norms.lookups.clear();
    for (const size_t b : cells.narrow)
        norms.lookups.push_back(cells.Lookup(dataset.Codes8(block, basis.blocks()[b].view.column), b));
    const size_t rows = dataset.block_rows(block);
    AddNorms(simd, norms.lookups, rows, norms.small.data());
    AddWideNorms(
        dataset, basis, cells, block, interrupt, [&](size_t b) { return cells.tables[b].data(); },
        norms.codes.data(), norms.small.data());
    products.Visit(
        dataset, block, interrupt, norms.products,
        [&](size_t first, size_t count, const auto& codes, size_t row, size_t count_rows) {
            norms.lookups.clear();
            for (size_t k = 0; k < count; k++)
                norms.lookups.push_back(cells.Lookup(codes[k].data(), products.parts()[first + k]));
            AddNorms(simd, norms.lookups, count_rows, norms.small.data() + row);
        });
    for (size_t i = 0; i < rows; i++)
        norms.rows[i] += static_cast<uint64_t>(norms.small[i]);
}

}  // namespace

void BasisRows::SetBasis(const Basis& basis, uint64_t limit_squared, LongRows long_rows) {
    CheckInternal(outputs_ == 1 || long_rows == LongRows::kScale,
                  "a vector of gradients keeps its direction");
    basis_ = &basis;
    long_rows_ = long_rows;
    caps_.clear();
    limit_squared_ = std::min(limit_squared, basis.MaxNormSquared());
    narrow_ = NarrowParts(dataset_, basis, UsesByteTables() ? simd_ : Simd::kPortable);
    if (dataset_.has_units() || basis.MaxNormSquared() <= limit_squared)
        return;
    caps_.resize(dataset_.rows());
    const CellNorms cells = NormsOf(dataset_, basis, narrow_.products(), UsesByteTables());
    std::vector<std::optional<Norms>> norms(static_cast<size_t>(pool_.workers()));
    pool_.Run(dataset_.blocks(), interrupt_, [&](int worker, size_t block) {
        std::optional<Norms>& own = norms[static_cast<size_t>(worker)];
        FindNorms(simd_, dataset_, basis, cells, narrow_.products(), block, InterruptOf(worker),
                  own ? *own : own.emplace());
        for (size_t i = 0; i < dataset_.block_rows(block); i++)
            caps_[block * kBlockRows + i] = static_cast<uint16_t>(
                ScaleDown(static_cast<double>(own->rows[i]), static_cast<double>(limit_squared_), kCapUnit));
    });
}

}  // namespace dpboost
