// Interactions in `auto`: a small noisy query asks how much of what the linear stage left over lies in
// products of two or three features rather than in single ones; if it is most of it, trees on such products
// get a share of the pool. Additive data pay for the query only.
#pragma once

#include <cstdint>
#include <vector>

#include "learner/auto/additive_stage.h"
#include "model/model.h"

namespace dpboost {

struct InteractionFinding {
    std::vector<std::vector<uint32_t>> groups;  // of features, as asked about
    std::vector<double> scores;                 // of each group, >= 0: loss that only its product explains
    double share = 0;                           // of the residual stage's fraction that trees should get
};

// Asks about at most `max_features` (2 or 3) at a time, for `fraction` of the pool.
// Neighbours: add or remove one unit. Sensitivity: a row falls into one leaf of each of K groups, so counts
// change by sqrt(K) and sums of gradients by sqrt(K) times their clip (L2). Charge: two draws of the pool.
InteractionFinding QueryInteractions(const AdditiveStage& stage, double fraction, uint32_t max_features);

// Adds trees on the found groups to the model and to the rows' scores, and spends the pool down to `leave`:
// each tree draws the counts and the sums of gradients of its leaves (a row is in one leaf: sensitivity 1 and
// the clip).
void GrowInteractionTrees(const AdditiveStage& stage, const InteractionFinding& finding, double leave,
                          Model& model);

}  // namespace dpboost
