// The exponential mechanism without noise takes, in every node, a best candidate of all features.
#include "learner/tree/exponential_growth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/learner/search_bench.h"

namespace dpboost {
namespace {

// [DPXGB] eq. 2 for sides with a count, lambda = 2, rounded down.
double PlainUtility(const CellSum* sides) {
    double score = 0;
    for (int side = 0; side < 2; side++)
        score += std::floor(std::pow(static_cast<double>(sides[side].gradient), 2) /
                            (static_cast<double>(sides[side].weight + 2) * kClipSteps));
    return score;
}

TEST(ExponentialGrowth, SeesAllCandidatesOfAllFeatures) {
    DataShape shape;
    shape.wide = 1;
    shape.rows = 300;
    SearchBench bench(SearchOptions(StructurePart::kExponential), shape);
    bench.Begin(NodeSums::Weight::kRow);
    const Tree tree =
        GrowByExponential(bench.candidates, bench.chosen, 3, 2, bench.sums, bench.releaser, bench.interrupt);
    EXPECT_EQ(bench.noise.selections, 7U);
    for (size_t node = 0; node < tree.split_count(); node++) {
        const unsigned level = node == 0 ? 0 : node < 3 ? 1 : 2;
        double best = -1, taken = -1;
        CellSum sides[2];
        for (const Candidate& candidate : LiveCandidates(bench.candidates, bench.chosen, tree, node)) {
            const Split split = bench.candidates.At(candidate.feature, candidate.index);
            bench.Sides(tree, node, level, split, sides);
            best = std::max(best, PlainUtility(sides));
            if (split.feature == tree.splits[node].feature && split.threshold == tree.splits[node].threshold)
                taken = PlainUtility(sides);
        }
        EXPECT_EQ(taken, best) << "node " << node;
    }
}

TEST(ExponentialGrowth, RefusesMoreCandidatesThanCanBeDrawnFrom) {
    EXPECT_NO_THROW(SplitsMechanisms({3, 1, 1, 1, size_t{1} << 22}));
    EXPECT_THROW(SplitsMechanisms({3, 1, 1, 1, (size_t{1} << 22) + 1}), Error);
}

}  // namespace
}  // namespace dpboost
