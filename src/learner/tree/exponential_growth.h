// Greedy trees by the exponential mechanism: level by level, each node's split is chosen among all live candidates of
// all chosen features ([DPXGB] 4.2, [DPBOOST] Alg 1; not among the best of each feature, which would need a release of
// its own: [DPXGB] B.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "learner/rows/node/node_sums.h"
#include "learner/tree/split_candidates.h"
#include "mechanism/releaser.h"
#include "model/tree.h"
#include "privacy/plan.h"

namespace dpboost {

// The mechanism of a level, shared by all trees.
std::string SplitsMechanism(int level);

struct SplitsRequest {
    int depth = 1;
    uint64_t count = 1;          // trees, or ensembles of them, one after the other
    uint64_t parts = 1;          // trees on disjoint units
    double rest = 1;             // of all levels together
    std::size_t candidates = 0;  // at most, of a node
};

// One mechanism per level. Throws kLimitExceeded for too many candidates.
std::vector<MechanismRequest> SplitsMechanisms(const SplitsRequest& request);

// Grows a tree on the rows of `sums`, which are at the root and count one each; all leaves are 0. On return they are in
// the nodes of the last level of splits.
//
// Neighbours: add or remove one unit, which takes part by one row. Sensitivity: that of the gain with the node's own row
// count in the denominator (split_score.h). Charge: per level one event; its nodes are parts of that event, because the
// row is in one of them. Theorem: [DPXGB] Thm 1.
Tree GrowByExponential(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen, int depth,
                       double l2, NodeSums& sums, Releaser& releaser, Interrupt& interrupt);

}  // namespace dpboost
