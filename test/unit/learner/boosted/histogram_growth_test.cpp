// Trees over noisy histograms, without noise against plain computations: leaves hold the sums of their rows, and a row
// moves a histogram by no more than is charged for.
#include "learner/boosted/histogram_growth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/learner/search_bench.h"

namespace dpboost {
namespace {

struct Grown {
    Tree tree;
    std::vector<NoisySide> leaves;
    NoisySums root_hessians;
};

Grown Grow(SearchBench& bench, const std::vector<uint16_t>& chosen) {
    HistogramGrowth growth(bench.options, bench.sums);
    Grown grown;
    grown.tree = growth.Grow(bench.candidates, chosen, bench.rows, bench.run, &grown.leaves);
    grown.root_hessians = growth.root_hessians();
    return grown;
}

TEST(HistogramGrowth, HistogramsHoldTheSumsOfTheRows) {
    DataShape shape;
    shape.rows = 300;
    SearchBench bench(SearchOptions(StructurePart::kNoisyHistogram), shape);
    const Grown grown = Grow(bench, bench.chosen);
    EXPECT_TRUE(bench.plan.Finished());
    const std::vector<NoisySide> plain = bench.PlainLeaves(grown.tree);
    for (size_t leaf = 0; leaf < 8; leaf++) {
        EXPECT_NEAR(grown.leaves[leaf].gradient, plain[leaf].gradient, 1e-9);
        EXPECT_NEAR(grown.leaves[leaf].hessian, plain[leaf].hessian, 1e-9);
        EXPECT_GT(grown.leaves[leaf].gradient_variance, 0);
    }
}

// One-feature trees read all levels off one histogram; the sums of the leaves must still be those of their
// rows.
TEST(HistogramGrowth, OneFeatureTreesNeedOneHistogram) {
    for (const uint16_t feature : {0, 1, 4}) {
        FrameworkOptions options = SearchOptions(StructurePart::kNoisyHistogram);
        options.features = FeaturePart::kCyclic;
        SearchBench bench(options);
        const Grown grown = Grow(bench, {feature});
        EXPECT_TRUE(bench.plan.Finished());
        const std::vector<NoisySide> plain = bench.PlainLeaves(grown.tree);
        for (size_t leaf = 0; leaf < 8; leaf++) {
            if (plain[leaf].hessian == 0)
                continue;
            EXPECT_NEAR(grown.leaves[leaf].gradient, plain[leaf].gradient, 1e-9) << feature << " " << leaf;
        }
    }
}

TEST(HistogramGrowth, PartiallyRandomLeavesHoldTheSumsOfTheRows) {
    SearchBench bench(SearchOptions(StructurePart::kPartiallyRandom));
    const Grown grown = Grow(bench, bench.chosen);
    EXPECT_TRUE(bench.plan.Finished());
    const std::vector<NoisySide> plain = bench.PlainLeaves(grown.tree);
    for (size_t leaf = 0; leaf < 8; leaf++)
        EXPECT_NEAR(grown.leaves[leaf].hessian, plain[leaf].hessian, 1e-9);
    // Levels 0 to 2: 1 + 2 + 4 nodes, 5 features, 2 sides, 2 sums.
    EXPECT_EQ(bench.noise.gaussian_draws, 7U * 5 * 2 * 2);
}

// All cells that one more row touches, in L2 norm: within what the plan charges, and at most a step below it.
TEST(HistogramGrowth, ARowMovesAHistogramWithinTheChargedNorm) {
    FrameworkOptions options = SearchOptions(StructurePart::kNoisyHistogram);
    options.depth = 1;
    DataShape shape;
    shape.rows = 1;
    shape.missing_percent = 0;
    SearchBench bench(options, shape);
    bench.rows.hessians[0] = kClipSteps;
    double squares = 0;  // an empty table has all cells 0
    for (const int64_t cell : Grow(bench, bench.chosen).root_hessians.values)
        squares += static_cast<double>(cell) * static_cast<double>(cell);
    const double charged = bench.plan.Sensitivity(0, 0);
    EXPECT_LE(std::sqrt(squares), charged);
    EXPECT_GT(std::sqrt(squares), charged * 0.999999);
}

}  // namespace
}  // namespace dpboost
