// A feature cut into groups of neighbouring ranks, for products of features: how its cells are ordered (levels by what was
// learned about them), which group each is in and how many rows a group holds. All from released figures.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "learner/auto/additive_stage.h"
#include "learner/rows/additive/code_view.h"

namespace dpboost {

using auto_numbers::kRankGroups;

struct RankGroups {
    std::vector<uint8_t> group;              // per cell
    std::array<double, kRankGroups> mass{};  // rows per group, by the histograms

    // Rows whose group times digits / kRankGroups is each of the digits.
    std::vector<double> DigitMass(uint32_t digits) const;
};

// Missing values come first; levels are sorted by the table learned so far.
RankGroups RankFeature(const AdditiveStage& stage, uint32_t feature);

// Two functions of the digit with mean about 0 and variance about 1: a straight line in the rank, and what a cosine of it
// adds (0 where that is little).
struct Waves {
    std::vector<double> line;
    std::vector<double> bow;
};
Waves WavesOf(const AutoSchedule& schedule, const RankGroups& ranks, uint32_t digits);

// The product of features, each through its own map from group to digit; the first has the largest stride.
struct ProductFactorGroups {
    uint32_t feature;
    std::array<uint8_t, kRankGroups> digit;
};
CodeView ProductView(const std::vector<RankGroups>& ranks, const std::vector<ProductFactorGroups>& factors,
                     uint32_t digits);
// Equal digits for all: group * digits / kRankGroups.
std::vector<ProductFactorGroups> EvenDigits(const std::vector<uint32_t>& features, uint32_t digits);

}  // namespace dpboost
