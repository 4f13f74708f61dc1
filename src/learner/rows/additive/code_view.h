// A column as the additive learners see it: a feature's own codes, or the product of up to three features,
// each cut into a few intervals or groups of levels. Everything here is public or was released with noise.
#pragma once

#include <cstdint>
#include <vector>

namespace dpboost {

// One factor of a product: code -> what it adds to the product's code (its digit times the stride).
struct ProductFactor {
    uint32_t column = 0;
    std::vector<uint16_t> offsets;  // per cell of the column
};

struct CodeView {
    uint32_t column = 0;                 // of the dataset, if there are no factors
    std::vector<ProductFactor> factors;  // else the code is the sum of their offsets
    uint32_t cells = 0;

    static CodeView Column(uint32_t column, uint32_t cells) { return {column, {}, cells}; }
    bool IsProduct() const { return !factors.empty(); }
};

}  // namespace dpboost
