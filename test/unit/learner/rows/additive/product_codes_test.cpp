// Codes of products as bytes are the sums of their factors' offsets, for every row and part once; what does not fit bytes is
// left to others.
#include "learner/rows/additive/product_codes.h"

#include <gtest/gtest.h>

#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// Columns cut into so many intervals.
CodeView Product(const Dataset& dataset, const std::vector<std::pair<uint32_t, uint32_t>>& cuts) {
    CodeView view;
    view.cells = 1;
    for (const auto& [column, intervals] : cuts) {
        ProductFactor factor;
        factor.column = column;
        const uint32_t cells = dataset.features()[column].cells();
        for (uint32_t code = 0; code < cells; code++)
            factor.offsets.push_back(static_cast<uint16_t>(code * intervals / cells * view.cells));
        view.cells *= intervals;
        view.factors.push_back(factor);
    }
    return view;
}

TEST(ProductCodes, AreTheSumsOfTheirFactors) {
    DataShape shape;
    shape.rows = kBlockRows + 777;
    shape.numeric = 4;
    shape.wide = 1;
    const Dataset dataset = RandomDataset(shape);
    const uint32_t wide = static_cast<uint32_t>(dataset.columns() - 1);
    Basis basis;
    for (const auto& cuts : std::vector<std::vector<std::pair<uint32_t, uint32_t>>>{
             {{0, 16}, {1, 16}},        // 256 cells
             {{0, 8}, {wide, 8}},       // two bytes
             {{1, 8}, {3, 8}},          //
             {{0, 17}, {1, 16}},        // 272 cells
             {{0, 8}, {1, 8}, {3, 4}},  // three factors
             {{3, 5}},                  // one
             {{0, 16}, {3, 8}},         // shares a factor with the first
             {{1, 8}, {4, 3}}}) {       // and with the third
        BasisBlock block;
        block.view = Product(dataset, cuts);
        block.partition.leaves = 1;
        block.partition.leaf.assign(block.view.cells, 0);
        basis.Add(std::move(block));
    }
    const ProductCodes products(dataset, basis);
    ASSERT_EQ(products.parts(), (std::vector<size_t>{0, 2, 4, 5, 6, 7}));
    EXPECT_FALSE(products.Has(1));
    EXPECT_TRUE(products.Has(7));
    ProductCodes::Scratch scratch;
    NoInterrupt interrupt;
    size_t seen = 0;
    for (size_t block = 0; block < dataset.blocks(); block++) {
        products.Visit(
            dataset, block, &interrupt, scratch,
            [&](size_t first, size_t count, const auto& codes, size_t row, size_t rows) {
                for (size_t k = 0; k < count; k++) {
                    const CodeView& view = basis.blocks()[products.parts()[first + k]].view;
                    for (size_t i = 0; i < rows; i++) {
                        size_t code = 0;
                        for (const ProductFactor& factor : view.factors)
                            code += factor.offsets[dataset.Code(block * kBlockRows + row + i, factor.column)];
                        ASSERT_EQ(codes[k][i], code) << first + k << " row " << row + i;
                        seen++;
                    }
                }
            });
    }
    EXPECT_EQ(seen, dataset.rows() * products.parts().size());
}

}  // namespace
}  // namespace dpboost
