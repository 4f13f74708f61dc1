// Noisy sums: what learners call to release integer sums over units. A call spends one Charge of the Plan and
// adds that charge's noise; there is no other way to add noise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mechanism/noise.h"
#include "privacy/charge.h"

namespace dpboost {

// Both spend `charge` and add its noise in place: on entry the blocks hold raw sums, on return noisy ones.
//
// Neighbours: add or remove one unit. Sensitivity: the charge's, per dimension, which the caller must have
// made true by clipping and rounding each unit's contribution: a unit changes the block's vector of sums by
// at most the charge's lattice steps, in L2 norm (Gaussian) or L1 norm (Laplace). Where a unit falls into one
// cell (the leaves of a tree, one feature's histogram) that is its clip bound, whatever the number of cells,
// because the cells compose in parallel; in histograms of m features released as one block it falls into m
// cells, and the sensitivity is sqrt(m) (Gaussian) or m (Laplace) times the bound. Charge: one event of the
// plan. The noise is that of continuous distributions, rounded to the lattice, which is post-processing
// (gaussian.h, laplace.h).
//
// Throw kInternal, and release nothing, if the charge was spent, is of another kind, or has other dimensions
// or fewer sums. The number of sums must not depend on rows.
void AddGaussianNoise(Charge&& charge, NoiseSource& noise, SumBlock sums);

// Two dimensions with a standard deviation each, e.g. the Hessian sums (dimension 0) and gradient sums
// (dimension 1) of the same leaves: one event of the plan, by the weights r_d of the charge ([SBDT] Thm
// 16).
void AddGaussianNoise(Charge&& charge, NoiseSource& noise, SumBlock first, SumBlock second);

void AddLaplaceNoise(Charge&& charge, NoiseSource& noise, SumBlock sums);

}  // namespace dpboost
