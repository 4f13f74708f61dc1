// How the rows spread over each feature's cells, released once with noise and cleaned up: the additive stages
// read counts, ranks and scales from here and never from rows.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/feature.h"
#include "learner/auto/pool.h"
#include "learner/auto/schedule.h"
#include "learner/rows/additive/basis_rows.h"

namespace dpboost {

struct MarginalCounts {
    double rows = 1;                         // noisy number of rows, at least 1
    std::vector<std::vector<double>> cells;  // per feature and cell, >= 0, each feature sums to `rows`
    // As they were released: the last code of each coarse cell of each feature, and standard deviations of the noise in
    // a coarse cell's count and in `rows`.
    std::vector<std::vector<uint16_t>> last_codes;
    double count_sd = 0;
    double rows_sd = 0;
};

// Coarse cells of one feature: neighbouring bins of a numeric feature in one cell, levels each in their own,
// the missing code in the last. A bin that a grid gives to one special value (0, or the lower end) stays
// alone.
std::vector<uint32_t> CoarseCells(const FeatureSpec& feature, uint32_t numeric_cells);

class NoisyHistogram {
  public:
    NoisyHistogram(const std::vector<FeatureSpec>& features, uint32_t numeric_cells);

    // Releases all features' coarse histograms for `fraction` of the pool; further calls refine the result.
    // Neighbours: add or remove one unit. Sensitivity: a row adds 1 to one cell of each feature, L2 norm
    // sqrt(features); a unit is scaled down to the same. Charge: one draw of the pool.
    void Release(double fraction, BasisRows& rows, Pool& pool);

    // Numeric features on the same grid are shrunk towards their mean (the noise variance is known: a small
    // group by James-Stein, a large one by how far all of them scatter), then each feature is projected to
    // non-negative cells that sum to the common noisy count, and spread evenly over the bins of a cell.
    // `rows_hint`: the public number of rows, or 0. `fine`: a released histogram of every bin, which then says how a
    // cell's count is spread over its bins.
    MarginalCounts Clean(const AutoSchedule& schedule, uint64_t rows_hint,
                         const NoisyHistogram* fine = nullptr) const;

    // Of a released histogram of every bin: spreads the counts of the coarse cells of numeric features over their bins.
    void SpreadWithin(const AutoSchedule& schedule, MarginalCounts* counts) const;

  private:
    double NoisyRows() const;
    double NoisyRowsSd() const;
    void ShrinkLikeGrids(const AutoSchedule& schedule, std::vector<std::vector<double>>& counts) const;
    void SpreadWithin(const AutoSchedule& schedule, const std::vector<uint32_t>& cell_of, size_t feature,
                      std::vector<double>& counts) const;

    const std::vector<FeatureSpec>& features_;
    Basis basis_;
    std::vector<double> weighted_sums_;  // of the releases, by inverse variance, in rows
    double precision_ = 0;               // sum of inverse variances
};

}  // namespace dpboost
