// Trees on two or three features as tables: a feature's codes fall into the classes that the tree can tell apart, and a row
// finds its value by its classes, whatever the depth. `auto` stores what it learns about products of features as such
// trees. Sums equal those of Model::Scores exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/model.h"
#include "model/polling.h"

namespace dpboost {

class ProductGrids {
  public:
    // Takes those of the trees that are grids of a size like their own from the list. Keeps no reference to them.
    ProductGrids(const Model& model, std::vector<const Tree*>* trees, Polling* polling);

    // Adds a row's values to the scores of all outputs. Codes as in Predictor.
    void AddValues(const uint16_t* codes, int64_t* scores) const noexcept;

    size_t memory_used() const noexcept;

  private:
    static constexpr size_t kMostFeatures = 3;
    static constexpr size_t kMostFactors = 128;

    // A feature and the classes of its codes; grids share them.
    struct Factor {
        uint32_t feature;
        uint16_t missing;
        size_t offset;  // into classes_, by code
    };
    struct Grid {
        uint16_t factors[kMostFeatures];  // of two features, the third steps nowhere
        uint32_t steps[kMostFeatures];
        size_t offset;  // into values_
    };
    struct Classes {
        std::vector<uint16_t> of_code;
        std::vector<uint16_t> some_code;  // per class
    };

    bool Take(const Model& model, const Tree& tree);
    bool FindClasses(const Tree& tree, uint16_t feature, const FeatureSpec& spec, Classes* classes);
    // Its number, or kMostFactors if there is no room.
    size_t AddFactor(uint16_t feature, const FeatureSpec& spec, const Classes& classes);
    void AddGrid(const Model& model, const Tree& tree, const std::vector<uint16_t>& features,
                 const std::vector<Classes>& classes, Grid grid);

    size_t outputs_;
    size_t answers_ = 0;      // looked at
    size_t comparisons_ = 0;  // of questions
    std::vector<Factor> factors_;
    std::vector<uint16_t> classes_;
    std::vector<Grid> grids_;
    std::vector<int32_t> values_;
};

}  // namespace dpboost
