// Shapley values of many rows at once, for the mean size of what each feature of a forest does. The same closed form as
// tree_shapley.h, summed over nodes instead of leaves: at a node u of the quadrature, let P_l be the product over the
// features on leaf l's path of F = q + (a - q) u, and V_n the sum of value times P over the leaves below node n. A leaf gives
// feature i its value times P times r = (a_i - q_i) / F_i, and r is that of the last split on i above the leaf. So feature i
// gets, for every child c of a node that splits on i, V_c times (r_c - r of the split on i before), which adds up to just
// that. Single precision: what is wanted is a mean over some rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/forest/row_lanes.h"
#include "model/explain/tree_shapley.h"
#include "model/model.h"

namespace dpboost {

// rows: codes of kRowsAtOnce rows, one row behind the other. Gives what the trees contribute, in units of the score's:
// [(feature * outputs + output) * kRowsAtOnce + row].
std::vector<float> ForestShapley(const Model& model, const TreeShapley& trees, const uint16_t* rows,
                                 Interrupt& interrupt, Simd simd = BestSimd());

}  // namespace dpboost
