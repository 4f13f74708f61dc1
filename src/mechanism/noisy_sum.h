// Noisy sums: what learners call to release integer sums over units. A call spends one Charge of the Plan and
// adds that charge's noise; there is no other way to add noise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanism/noise.h"

namespace dpboost {

class Charge;

// A block of sums of one dimension (all leaves' gradient sums, all cells of a feature's histogram, ...).
struct SumBlock {
    int64_t* values;
    std::size_t count;
};

// Spends `charge` and adds its noise in place: on entry the blocks hold raw sums, on return noisy ones.
//
// Neighbours: add or remove one unit. Sensitivity: the charge's, per dimension, which the caller must have
// made true by clipping and rounding each unit's contribution: in each dimension the unit changes the vector
// of sums by at most the charge's steps in L2 norm (L1 for Laplace). Where units fall into one cell each
// (leaves, one feature's histogram) that is the clip bound, whatever the number of cells; a histogram over m
// features has m cells per unit, and the charge's sensitivity must say sqrt(m) times the bound. Charge: one
// event of the plan, composed over dimensions by the charge's weights r_d (leaf-balanced: sbdt.txt Thm 16).
//
// Throws kInternal when the charge was spent, is of another kind, or has another number of dimensions or
// sums.
void AddNoise(Charge&& charge, NoiseSource& noise, SumBlock sums);
// Two dimensions, e.g. Hessian sums (dimension 0) and gradient sums (dimension 1) of the same leaves.
void AddNoise(Charge&& charge, NoiseSource& noise, SumBlock first, SumBlock second);

}  // namespace dpboost
