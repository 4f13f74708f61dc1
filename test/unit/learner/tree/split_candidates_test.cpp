// Split candidates: where they start, that histogram cells and splits agree, and what one round of the
// iterative Hessian merges and splits.
#include "learner/tree/split_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learner/tree/live_splits.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

FeatureSpec Numeric(uint32_t bins, double lower = 0, double upper = 1, Scale scale = Scale::kLinear) {
    NumericRange range;
    range.lower = lower;
    range.upper = upper;
    range.bins = bins;
    range.scale = scale;
    return FeatureSpec::Numeric("x", range);
}

TEST(SplitCandidates, StartFromTheRangeAlone) {
    const std::vector<FeatureSpec> features{Numeric(100), Numeric(5), Numeric(100, 0, 1e4, Scale::kLog),
                                            Numeric(1)};
    const SplitCandidates uniform(features, CandidatePart::kUniform, 9);
    // Edges at 0.1, 0.2, ... of the range: behind bins 9, 19, ...
    EXPECT_EQ(uniform.thresholds(0), (std::vector<uint16_t>{9, 19, 29, 39, 49, 59, 69, 79, 89}));
    EXPECT_EQ(uniform.thresholds(1), (std::vector<uint16_t>{0, 1, 2, 3}));
    EXPECT_TRUE(uniform.thresholds(3).empty());
    // Uniform in value on a logarithmic grid: all in the upper part of the codes.
    EXPECT_GT(uniform.thresholds(2).front(), 50);
    const SplitCandidates log(features, CandidatePart::kLog, 9);
    EXPECT_LT(log.thresholds(2).front(), 30);
    EXPECT_EQ(log.thresholds(2).size(), 9U);
    const SplitCandidates whole(features, CandidatePart::kWholeRange, 9);
    EXPECT_EQ(whole.thresholds(0).size(), 99U);
    EXPECT_EQ(whole.thresholds(0).back(), 98);
}

// Splitting by a candidate is the same as summing its cells, for every code.
TEST(SplitCandidates, CellsAgreeWithSplits) {
    DataShape shape;
    shape.numeric = 6;
    shape.wide = 1;
    const std::vector<FeatureSpec> features = TestFeatures(shape);
    const SplitCandidates candidates(features, CandidatePart::kUniform, 7);
    for (size_t feature = 0; feature < features.size(); feature++) {
        EXPECT_LE(candidates.Cells(feature),
                  SplitCandidates::MaxCells(features[feature], CandidatePart::kUniform, 7));
        for (size_t index = 0; index < candidates.Count(feature); index++) {
            const Split split = candidates.At(feature, index);
            for (uint32_t code = 0; code < features[feature].cells(); code++) {
                const uint16_t cell = candidates.CellOfCode(feature)[code];
                ASSERT_LT(cell, candidates.Cells(feature));
                const bool left = features[feature].ordered() ? cell <= index : cell == index;
                EXPECT_EQ(GoesLeft(split, nullptr, static_cast<uint16_t>(code), features[feature].missing()),
                          left);
            }
        }
    }
}

TEST(SplitCandidates, RefineMergesLightAndSplitsHeavyBins) {
    const std::vector<FeatureSpec> features{Numeric(64)};
    SplitCandidates candidates(features, CandidatePart::kUniform, 3);
    ASSERT_EQ(candidates.thresholds(0), (std::vector<uint16_t>{15, 31, 47}));
    // All weight in the first bin: the empty ones merge, the first is halved until three cuts are placed.
    candidates.Refine(0, {90, 0, 0, 0}, 1);
    EXPECT_EQ(candidates.thresholds(0), (std::vector<uint16_t>{3, 7, 15}));
    // Rounds go on from there; equal weights change nothing.
    SplitCandidates even(features, CandidatePart::kUniform, 3);
    even.Refine(0, {25, 25, 25, 25}, 1);
    EXPECT_EQ(even.thresholds(0), (std::vector<uint16_t>{15, 31, 47}));
}

TEST(SplitCandidates, RefineIgnoresWhatNoiseCouldHaveMade) {
    const std::vector<FeatureSpec> features{Numeric(64)};
    SplitCandidates candidates(features, CandidatePart::kUniform, 3);
    candidates.Refine(0, {90, 0, 0, 0}, 30);
    EXPECT_EQ(candidates.thresholds(0), (std::vector<uint16_t>{15, 31, 47}));
    candidates.Refine(0, {-90, 3, -7, 0}, 1);
    EXPECT_EQ(candidates.thresholds(0), (std::vector<uint16_t>{15, 31, 47}));
}

// Whatever the noise says, candidates stay ascending, within the grid and at most as many as asked for.
TEST(SplitCandidates, RefineKeepsItsShape) {
    ChaChaSource source = TestSource(9);
    Random random(source);
    for (const uint32_t bins : {3U, 17U, 64U, 254U}) {
        const std::vector<FeatureSpec> features{Numeric(bins)};
        SplitCandidates candidates(features, CandidatePart::kIterativeHessian, 16);
        for (int round = 0; round < 50; round++) {
            std::vector<double> noisy;
            for (size_t i = 0; i + 1 < candidates.Cells(0); i++)
                noisy.push_back(static_cast<double>(random.Below(1000)) - 300 * static_cast<double>(i % 2));
            candidates.Refine(0, noisy, 1);
            const std::vector<uint16_t>& cuts = candidates.thresholds(0);
            ASSERT_EQ(cuts.size(), std::min<size_t>(16, bins - 1));
            for (size_t i = 0; i < cuts.size(); i++) {
                EXPECT_LT(cuts[i], bins - 1);
                EXPECT_TRUE(i == 0 || cuts[i] > cuts[i - 1]);
            }
        }
    }
}

bool AnyLive(const SplitCandidates& candidates, const Tree& tree, size_t node,
             const std::vector<uint16_t>& features) {
    LiveCells live;
    std::vector<uint32_t> indices;
    for (const uint16_t feature : features) {
        live.Find(tree, node, candidates, feature);
        live.Splits(candidates, feature, false, &indices);
        if (!indices.empty())
            return true;
    }
    return false;
}

TEST(LiveSplits, LeaveRoomOnBothSides) {
    DataShape shape;
    const std::vector<FeatureSpec> features = TestFeatures(shape);
    const SplitCandidates candidates(features, CandidatePart::kUniform, 12);
    ChaChaSource source = TestSource(5);
    Random bits(source);
    PublicRandom random(bits);
    for (int trial = 0; trial < 50; trial++) {
        const Tree tree = DrawRandomTree(candidates, {0, 1, 3}, 4, random);
        for (size_t node = 0; node < tree.split_count(); node++) {
            const FeatureSpec& spec = features[tree.splits[node].feature];
            bool left = false, right = false;
            for (uint32_t code = 0; code < spec.cells(); code++) {
                bool reaches = true;
                for (size_t child = node; child > 0; child = (child - 1) / 2) {
                    const size_t parent = (child - 1) / 2;
                    if (tree.splits[parent].feature == tree.splits[node].feature)
                        reaches &= tree.SplitGoesLeft(parent, static_cast<uint16_t>(code), spec.missing()) ==
                                   (child == 2 * parent + 1);
                }
                if (reaches)
                    (tree.SplitGoesLeft(node, static_cast<uint16_t>(code), spec.missing()) ? left : right) =
                        true;
            }
            EXPECT_TRUE((left && right) || !AnyLive(candidates, tree, node, {0, 1, 3})) << "node " << node;
        }
    }
}

}  // namespace
}  // namespace dpboost
