// Trains any method of the framework: candidates, structure, leaves, update, tree by tree, each by the part
// that the options choose. Rows reach the model through the charges of the Plan only.
#pragma once

#include <string>
#include <vector>

#include "dataset/feature.h"
#include "learner/boosted/framework_options.h"
#include "learner/learner.h"

namespace dpboost {

// Neighbours: add or remove one unit of the rows. What is released (the model) is post-processing of the
// plan's events; each part states its sensitivity and charge (histogram_growth.h, exponential_growth.h, boosting.h,
// initial_score.h).
class FrameworkLearner final : public Learner {
  public:
    FrameworkLearner(const FrameworkOptions& options, const std::vector<FeatureSpec>& features);

    const FrameworkOptions& options() const { return options_; }

    std::vector<MechanismRequest> Mechanisms() const override { return mechanisms_; }
    std::string main_mechanism() const override { return mechanisms_.back().name; }
    Footprint footprint(bool has_units) const override;
    Link link() const override;
    void Train(Run& run) const override;

  private:
    const FrameworkOptions options_;
    const std::vector<MechanismRequest> mechanisms_;
    const std::size_t max_cells_;  // of one node
};

// The features that tree `tree_index` may split on, ascending (A1 of [FEDGBDT]).
std::vector<uint16_t> ChooseFeatures(FeaturePart part, std::size_t features, std::size_t per_tree,
                                     uint64_t tree_index, PublicRandom& random);

}  // namespace dpboost
