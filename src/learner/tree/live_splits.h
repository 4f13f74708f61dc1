// Which splits can still divide what reaches a node, given the splits above it. That is known from the tree
// alone, so leaving out the others costs no privacy; and random structures, which look at no rows at all, are
// drawn from what is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "learner/tree/split_candidates.h"
#include "mechanism/random.h"
#include "model/tree.h"

namespace dpboost {

// Whether each cell of a feature's candidates can hold rows at a node: one of its codes agrees with every
// split above.
class LiveCells {
  public:
    // Computes for one node and feature; all cells are live if no split above is on the feature.
    void Find(const Tree& tree, size_t node, const SplitCandidates& candidates, size_t feature);

    const std::vector<uint8_t>& cells() const { return cells_; }
    // Indices of the candidates that leave live cells on both sides. The last candidate of an ordered
    // feature, "missing or not", is left out unless asked for.
    void Splits(const SplitCandidates& candidates, size_t feature, bool missing_or_not,
                std::vector<uint32_t>* indices) const;

  private:
    std::vector<uint8_t> codes_;
    std::vector<uint8_t> cells_;
};

// One split of a feature: SplitCandidates::At(feature, index).
struct Candidate {
    uint16_t feature;
    uint32_t index;
};
// Of one node, feature by feature, indices ascending.
using NodeCandidates = std::vector<Candidate>;

// The live candidates of a node over the chosen features, "missing or not" included. One useless candidate if there is
// none, so that the number of draws depends on no row.
NodeCandidates LiveCandidates(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                              const Tree& tree, size_t node);

// A totally random tree ([FEDGBDT] 4.3.2): each node takes a random feature of `chosen` and a
// random live candidate of it, another feature if it has none; missing values go to a random side. A tree of
// one feature with levels halves the set of levels instead (learner/structure.h). Looks at no row. All leaves
// are 0.
Tree DrawRandomTree(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen, int depth,
                    PublicRandom& random);

// One random live candidate of a feature; a useless one if there is none.
Split DrawRandomSplit(const SplitCandidates& candidates, const Tree& tree, size_t node, size_t feature,
                      PublicRandom& random, bool* live);

}  // namespace dpboost
