// The design matrix X of `adassp`: which column and which integer value a code has. Features come as codes of
// public encodings, so a row of X has exactly one entry per feature and one for the intercept, its norm has a
// public bound without looking at rows, and a linear model is one additive table per feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dataset/feature.h"
#include "learner/linear/adassp_options.h"

namespace dpboost {

// Entries of X are integers in units of 1/kDesignUnit, at most kDesignUnit in magnitude.
constexpr int32_t kDesignUnit = 64;
// A row counts with an integer weight of kUnitWeight / (rows of its unit), rounded down; the rows of a unit
// beyond the first kUnitWeight count nothing. So the weights of a unit sum to at most kUnitWeight.
constexpr int32_t kUnitWeight = 1024;

class Design {
  public:
    struct Entry {
        uint16_t column;
        int16_t value;
    };

    // Throws kInvalidParameter without features, kLimitExceeded for more than kMaxAdasspColumns columns.
    Design(const std::vector<FeatureSpec>& features, const AdasspOptions& options);

    std::size_t features() const { return entries_.size(); }
    std::size_t columns() const { return columns_; }
    std::size_t intercept() const { return columns_ - 1; }
    // The entry of each code of a feature. Columns of features are in the order of the features.
    const std::vector<Entry>& entries(std::size_t feature) const { return entries_[feature]; }
    // The columns of a feature are [first_column(f), first_column(f + 1)).
    std::size_t first_column(std::size_t feature) const { return first_columns_[feature]; }

    // Whether columns are linearly dependent whatever the rows: the indicators of a feature sum to the
    // intercept. Then lambda_min(X'X) = 0.
    bool dependent() const { return dependent_; }
    // Whether the plan has a charge for lambda_min(X'X).
    bool ReleasesEigenvalue(const AdasspOptions& options) const {
        return options.lambda_weight > 0 && !dependent_ && columns_ <= kMaxEigenvalueColumns;
    }

    // The entries (a, b), a <= b, of X'X that are not 0 by construction: columns of one feature exclude each
    // other. Row by row.
    std::size_t product_count() const { return products_.size(); }
    const std::vector<std::pair<uint16_t, uint16_t>>& products() const { return products_; }

    // Sensitivities in lattice steps, for add/remove of one unit. A unit adds sum_r w_r x_r x_r' to X'X and
    // sum_r trunc(g_r w_r / W) x_r to X'g, with W = kUnitWeight, sum_r w_r <= W, |g_r| <= S = kClipSteps.
    // Each x has k = features + 1 entries, none above u = kDesignUnit: |x|^2 <= k u^2 exactly, because
    // quantised values are clamped to the integers [-u, u].
    //
    // Products: the released upper triangle of x x' has the squared norm
    //     sum_{a <= b} x_a^2 x_b^2 = (|x|^4 + sum_a x_a^4) / 2 <= u^4 (k^2 + k) / 2,
    // and by the triangle inequality a unit's sum of them at most W times the root: W u^2 sqrt(k (k + 1) /
    // 2). (The usual bound |x|^2 for the whole matrix is larger by sqrt 2, nearly: each off-diagonal entry is
    // released once, gets noise once and is mirrored.)
    double ProductSensitivity() const;
    // Gradients: sum_r |g_r| w_r / W |x_r| <= S u sqrt(k); truncation makes no weight larger.
    double GradientSensitivity() const;
    // Smallest eigenvalue: the unit adds a positive semidefinite matrix whose largest eigenvalue is at most
    // its trace, W k u^2, so by Weyl lambda_min grows by between 0 and that. Computed in extended precision
    // with an relative error e = EigenvalueError (adassp_solver.h), rounded to an integer: W k u^2 (1 + 2 e)
    // + 1.
    double EigenvalueSensitivity() const;

  private:
    void AddFeature(const FeatureSpec& feature, const AdasspOptions& options);
    void ListProducts();

    std::vector<std::vector<Entry>> entries_;
    std::vector<std::size_t> first_columns_;
    std::size_t columns_ = 0;
    bool dependent_ = false;
    std::vector<std::pair<uint16_t, uint16_t>> products_;
};

}  // namespace dpboost
