// Totally random trees ([SBDT] 4.1, Alg 4 line 2): features and split points come from the public encodings
// and the random stream alone, so structures cost no privacy and are drawn before any row is looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/feature.h"
#include "mechanism/random.h"
#include "model/tree.h"

namespace dpboost {

enum class FeatureSchedule {
    kCyclic,  // tree t splits on feature t mod m only
    kAny      // every node draws its own feature
};

// Draws complete trees. Departures from the paper, all data-independent: a split point is drawn among those
// that still divide the node's cell (the paper's node may split off an empty half), and a level is split from
// the rest in trees of several features, but a one-feature tree halves the set of levels, one level per leaf
// if they fit.
class RandomStructure {
  public:
    // The features must outlive the drawer.
    RandomStructure(const std::vector<FeatureSpec>& features, int depth, FeatureSchedule schedule);

    // All leaves are 0. `tree_index` selects the feature of a cyclic schedule.
    Tree Draw(uint64_t tree_index, PublicRandom& random) const;

  private:
    struct Cuts {  // thresholds first..last divide the node's cell; none if first > last
        int first;
        int last;
    };

    Split DrawSplit(const Tree& tree, size_t node, PublicRandom& random) const;
    Cuts LiveCuts(const Tree& tree, size_t node, uint16_t feature) const;
    bool LevelIsLive(const Tree& tree, size_t node, uint16_t feature, uint16_t level) const;
    void DrawLevelHalves(Tree* tree, uint16_t feature, PublicRandom& random) const;

    const std::vector<FeatureSpec>& features_;
    const int depth_;
    const FeatureSchedule schedule_;
};

}  // namespace dpboost
