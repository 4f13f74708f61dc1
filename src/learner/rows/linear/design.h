// The design matrix X of `adassp`: which column a code has its 1 in. Features come as codes of public encodings, so a
// row of X is 1 in exactly one column of each feature and in the intercept, 0 elsewhere; its norm is public, and a linear
// model is one additive table per feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dataset/feature.h"

namespace dpboost {

// Lattice steps of a 1 in X.
constexpr int32_t kDesignOne = 64;
// A row counts with an integer weight of kUnitWeight / (rows of its unit), rounded down; the rows of a unit
// beyond the first kUnitWeight count nothing. So the weights of a unit sum to at most kUnitWeight.
constexpr int32_t kUnitWeight = 1024;
// Columns of X: their square is released, and solving takes their cube.
constexpr std::size_t kMaxDesignColumns = 1024;

class Design {
  public:
    // An ordered feature becomes indicators of so many intervals of equally many bins each, as in the paper's version of
    // Adult (a9a); levels are one indicator each, and missing values always have one. Throws kInvalidParameter without
    // features, kLimitExceeded for more than kMaxDesignColumns columns.
    Design(const std::vector<FeatureSpec>& features, uint32_t intervals);

    std::size_t features() const { return columns_of_.size(); }
    std::size_t columns() const { return columns_; }
    std::size_t intercept() const { return columns_ - 1; }
    // The column of each code of a feature. Columns of features are in the order of the features.
    const std::vector<uint16_t>& columns_of(std::size_t feature) const { return columns_of_[feature]; }
    // The columns of a feature are [first_column(f), first_column(f + 1)).
    std::size_t first_column(std::size_t feature) const { return first_columns_[feature]; }

    // The entries (a, b), a <= b, of X'X that are not 0 by construction: columns of one feature exclude each
    // other. Row by row.
    std::size_t product_count() const { return products_.size(); }
    const std::vector<std::pair<uint16_t, uint16_t>>& products() const { return products_; }

    // Sensitivities in lattice steps, for add/remove of one unit. A unit adds sum_r w_r x_r x_r' to X'X and
    // sum_r trunc(g_r w_r / W) x_r to X'g, with W = kUnitWeight, sum_r w_r <= W, |g_r| <= S = kClipSteps.
    // Each x has k = features + 1 entries, each u = kDesignOne steps.
    //
    // Products: the released upper triangle of x x' has k (k + 1) / 2 entries of u^2, and by the triangle inequality a
    // unit's sum of them has a norm of at most W u^2 sqrt(k (k + 1) / 2). (The usual bound |x|^2 for the whole matrix is
    // larger by sqrt 2, nearly: each off-diagonal entry is released once, gets noise once and is mirrored.)
    double ProductSensitivity() const;
    // Gradients: sum_r |g_r| w_r / W |x_r| <= S u sqrt(k); truncation makes no weight larger.
    double GradientSensitivity() const;

  private:
    void AddFeature(const FeatureSpec& feature, uint32_t intervals);
    void ListProducts();

    std::vector<std::vector<uint16_t>> columns_of_;
    std::vector<std::size_t> first_columns_;
    std::size_t columns_ = 0;
    std::vector<std::pair<uint16_t, uint16_t>> products_;
};

}  // namespace dpboost
