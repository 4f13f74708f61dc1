// Options that methods of boosted trees share, as rows of their option tables, and the bound on what an ensemble may
// add up to.
#pragma once

#include <string>

#include "learner/option_table.h"

namespace dpboost {

// Rows for a struct `O` of options that has the member.
template <typename O>
constexpr OptionRow kTreesRow = Whole<&O::trees, O>("trees", 1, 100000, "trees");
template <typename O>
constexpr OptionRow kDepthRow = Whole<&O::depth, O>("depth", 1, 10, "depth of a tree");
template <typename O>
constexpr OptionRow kLearningRateRow = NumberAbove<&O::learning_rate, O>("learning_rate", 0, 1, "step size");
template <typename O>
constexpr OptionRow kSubsampleRow =
    NumberAbove<&O::subsample, O>("subsample", 0, 1, "chance of a person to take part in a tree");
template <typename O>
constexpr OptionRow kGradientClipRow = Number<&O::gradient_clip, O>("gradient_clip", 0.001, 10,
                                                                    "bound on a person's gradient");
template <typename O>
constexpr OptionRow kHessianClipRow = Number<&O::hessian_clip, O>("hessian_clip", 0.001, 1,
                                                                  "bound on a person's Hessian");
template <typename O>
constexpr OptionRow kHessianShareRow = Number<&O::hessian_share, O>("hessian_share", 0.001, 0.999,
                                                                    "share of a release for Hessians");
template <typename O>
constexpr OptionRow kInitialShareRow =
    Number<&O::initial_share, O>("initial_share", 0, 0.9, "share of the budget for the first guess");
template <typename O>
constexpr OptionRow kL2Row = Number<&O::l2, O>("l2", 0, 1e6, "shrinkage of leaf values");
template <typename O>
constexpr OptionRow kLeafClipRow = Number<&O::leaf_clip, O>("leaf_clip", 0.001, 1000, "bound on leaf values");
template <typename O>
constexpr OptionRow kCandidateCountRow =
    Whole<&O::candidate_count, O>("candidate_count", 1, 1024, "places where a numeric column may be cut");

// Throws kInvalidParameter unless a score of `largest` fits: scores are 32-bit fixed-point numbers of 2^-20, below 2048,
// and a little is left for the initial score and rounding. `factors` says what `largest` is the product of.
void CheckLargestScore(double largest, const std::string& factors);

}  // namespace dpboost
