// What `auto` adds on products of two or three features: one table of rank groups per product, kept until the end of the
// training and stored as one tree of it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "learner/auto/interactions/rank_groups.h"

namespace dpboost {

class ProductTables {
  public:
    // The ranks of all features, fixed from now on.
    ProductTables(const AdditiveStage& stage, std::vector<RankGroups> ranks);

    const std::vector<RankGroups>& ranks() const { return ranks_; }

    // Adds a value per output and cell (those of a cell side by side) of the product view of these factors, to the rows' scores as well; sds: of their noise. Of three features, digits
    // must be the same within each eighth of the groups.
    void Add(const std::vector<ProductFactorGroups>& factors, uint32_t digits,
             const std::vector<double>& values, const std::vector<double>& sds);
    // Scores become factor * score.
    void Store(double factor, Model& model) const;

  private:
    const AdditiveStage& stage_;
    std::vector<RankGroups> ranks_;
    struct Table {
        std::vector<double> values;  // outputs fastest, then groups of the last feature
        std::vector<double> variances;
    };

    uint32_t adds_ = 0;
    std::map<std::vector<uint32_t>, Table> tables_;  // by features
};

}  // namespace dpboost
