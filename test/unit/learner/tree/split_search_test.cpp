// The search for splits without noise against plain computations, row by row: the exponential mechanism takes
// a best candidate of all features, histograms hold the sums of the rows, and a unit takes part by one row.
#include "learner/tree/split_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

FrameworkOptions Options(StructurePart structure) {
    FrameworkOptions options = FrameworkOptions::Preset("dp_tr", Task::kBinary, 1);
    options.structure = structure;
    options.trees = 1;
    options.depth = 3;
    options.candidate_count = 9;
    return options;
}

// Everything a search needs, on random rows with random gradients.
struct Bench {
    explicit Bench(FrameworkOptions chosen_options, DataShape shape = {})
        : options(chosen_options),
          dataset(RandomDataset(shape)),
          candidates(dataset.features(), options.candidates, options.candidate_count),
          source(TestSource(8)),
          random(source),
          pool(1),
          plan(Plan::Calibrate(BuildFrameworkPlan(options, dataset.features(), 1, 1e-6))),
          search(dataset, options, pool),
          gradients(dataset.rows()),
          hessians(dataset.rows()),
          chosen(dataset.columns()) {
        for (size_t row = 0; row < dataset.rows(); row++) {
            gradients[row] = static_cast<int32_t>(random.Below(2 * kClipSteps + 1)) - kClipSteps / 2 * 3;
            gradients[row] = std::max(gradients[row], -kClipSteps);
            hessians[row] = static_cast<int32_t>(random.Below(kClipSteps + 1));
        }
        std::iota(chosen.begin(), chosen.end(), uint16_t{0});
    }

    DrawContext Context() { return {plan, random, noise, interrupt}; }

    // The node of a row at the level where `node_count` splits are known.
    size_t NodeOf(const Tree& tree, size_t row, unsigned level) const {
        size_t node = 0;
        for (unsigned l = 0; l < level; l++) {
            const uint16_t feature = tree.splits[node].feature;
            const bool left =
                tree.SplitGoesLeft(node, dataset.Code(row, feature), dataset.features()[feature].missing());
            node = 2 * node + (left ? 1 : 2);
        }
        return node;
    }

    // Plain sums left and right of a split among the rows of a node.
    void Sides(const Tree& tree, size_t node, unsigned level, const Split& split, CellSum sides[2],
               bool count) const {
        const uint16_t missing = dataset.features()[split.feature].missing();
        sides[0] = sides[1] = CellSum{};
        for (size_t row = 0; row < dataset.rows(); row++) {
            if (NodeOf(tree, row, level) != node)
                continue;
            const bool left = GoesLeft(split, nullptr, dataset.Code(row, split.feature), missing);
            sides[left ? 0 : 1].gradient += gradients[row];
            sides[left ? 0 : 1].weight += count ? 1 : hessians[row];
        }
    }

    FrameworkOptions options;
    Dataset dataset;
    SplitCandidates candidates;
    ChaChaSource source;
    Random random;
    ZeroNoise noise;
    NoInterrupt interrupt;
    WorkerPool pool;
    Plan plan;
    SplitSearch search;
    std::vector<int32_t> gradients, hessians;
    std::vector<uint16_t> chosen;
};

// Calls visit(level, node) for every inner node.
template <typename Visit>
void ForEachNode(const Tree& tree, const Visit& visit) {
    for (unsigned level = 0; level < tree.depth; level++) {
        for (size_t node = (size_t{1} << level) - 1; node < (size_t{2} << level) - 1; node++)
            visit(level, node);
    }
}

template <typename Score>
void ExpectBestSplits(const Bench& bench, const Tree& tree, bool count, const Score& score) {
    ForEachNode(tree, [&](unsigned level, size_t node) {
        double best = -1, taken = -1;
        LiveCells live;
        std::vector<uint32_t> indices;
        CellSum sides[2];
        for (const uint16_t feature : bench.chosen) {
            live.Find(tree, node, bench.candidates, feature);
            live.Splits(bench.candidates, feature, true, &indices);
            for (const uint32_t index : indices) {
                bench.Sides(tree, node, level, bench.candidates.At(feature, index), sides, count);
                best = std::max(best, score(sides, feature, index));
            }
            for (const uint32_t index : indices) {
                const Split split = bench.candidates.At(feature, index);
                if (feature == tree.splits[node].feature && split.threshold == tree.splits[node].threshold) {
                    bench.Sides(tree, node, level, split, sides, count);
                    taken = score(sides, feature, index);
                }
            }
        }
        EXPECT_NEAR(taken, best, 1e-9 * best) << "node " << node;
    });
}

TEST(SplitSearch, ExponentialMechanismSeesAllCandidatesOfAllFeatures) {
    DataShape shape;
    shape.wide = 1;
    shape.rows = 300;
    FrameworkOptions options = Options(StructurePart::kExponential);
    options.l2 = 2;
    Bench bench(options, shape);
    const Tree tree = bench.search.GrowByExponential(bench.candidates, bench.chosen, bench.gradients.data(),
                                                     bench.Context());
    EXPECT_EQ(bench.noise.selections, 7U);
    ExpectBestSplits(bench, tree, true, [](const CellSum* sides, uint16_t, uint32_t) {
        double score = 0;
        for (int side = 0; side < 2; side++)
            score += std::floor(std::pow(static_cast<double>(sides[side].gradient), 2) /
                                (static_cast<double>(sides[side].weight + 2) * kClipSteps));
        return score;
    });
}

TEST(SplitSearch, HistogramsHoldTheSumsOfTheRows) {
    DataShape shape;
    shape.rows = 300;
    Bench bench(Options(StructurePart::kNoisyHistogram), shape);
    std::vector<NoisySide> leaves;
    const Tree tree = bench.search.GrowByHistogram(bench.candidates, bench.chosen, bench.gradients.data(),
                                                   bench.hessians.data(), bench.Context(), &leaves);
    EXPECT_TRUE(bench.plan.Finished());
    const double g = bench.options.gradient_clip / kClipSteps, h = bench.options.hessian_clip / kClipSteps;
    std::vector<double> gradient(8), hessian(8);
    for (size_t row = 0; row < bench.dataset.rows(); row++) {
        const size_t leaf = bench.NodeOf(tree, row, 3) - 7;
        gradient[leaf] += g * bench.gradients[row];
        hessian[leaf] += h * bench.hessians[row];
    }
    for (size_t leaf = 0; leaf < 8; leaf++) {
        EXPECT_NEAR(leaves[leaf].gradient, gradient[leaf], 1e-9);
        EXPECT_NEAR(leaves[leaf].hessian, hessian[leaf], 1e-9);
        EXPECT_GT(leaves[leaf].gradient_variance, 0);
    }
}

// One-feature trees read all levels off one histogram; the sums of the leaves must still be those of their
// rows.
TEST(SplitSearch, OneFeatureTreesNeedOneHistogram) {
    for (const uint16_t feature : {0, 1, 4}) {
        FrameworkOptions options = Options(StructurePart::kNoisyHistogram);
        options.features = FeaturePart::kCyclic;
        Bench bench(options);
        std::vector<NoisySide> leaves;
        const Tree tree = bench.search.GrowByHistogram(bench.candidates, {feature}, bench.gradients.data(),
                                                       bench.hessians.data(), bench.Context(), &leaves);
        EXPECT_TRUE(bench.plan.Finished());
        std::vector<double> gradient(8);
        std::vector<bool> reached(8);
        for (size_t row = 0; row < bench.dataset.rows(); row++) {
            const size_t leaf = bench.NodeOf(tree, row, 3) - 7;
            reached[leaf] = true;
            gradient[leaf] += bench.options.gradient_clip / kClipSteps * bench.gradients[row];
        }
        for (size_t leaf = 0; leaf < 8; leaf++) {
            if (!reached[leaf])
                continue;
            EXPECT_NEAR(leaves[leaf].gradient, gradient[leaf], 1e-9) << feature << " " << leaf;
        }
    }
}

TEST(SplitSearch, PartiallyRandomLeavesHoldTheSumsOfTheRows) {
    Bench bench(Options(StructurePart::kPartiallyRandom));
    std::vector<NoisySide> leaves;
    const Tree tree = bench.search.GrowByHistogram(bench.candidates, bench.chosen, bench.gradients.data(),
                                                   bench.hessians.data(), bench.Context(), &leaves);
    EXPECT_TRUE(bench.plan.Finished());
    std::vector<double> hessian(8);
    for (size_t row = 0; row < bench.dataset.rows(); row++)
        hessian[bench.NodeOf(tree, row, 3) - 7] +=
            bench.options.hessian_clip / kClipSteps * bench.hessians[row];
    for (size_t leaf = 0; leaf < 8; leaf++)
        EXPECT_NEAR(leaves[leaf].hessian, hessian[leaf], 1e-9);
    // Levels 0 to 2: 1 + 2 + 4 nodes, 5 features, 2 sides, 2 sums.
    EXPECT_EQ(bench.noise.gaussian_draws, 7U * 5 * 2 * 2);
}

TEST(SplitSearch, SketchIsTheHessianHistogram) {
    FrameworkOptions options = Options(StructurePart::kTotallyRandom);
    options.candidates = CandidatePart::kIterativeHessian;
    Bench bench(options);
    const std::vector<uint16_t> ordered = RefinedFeatures(bench.dataset.features());
    EXPECT_EQ(ordered, (std::vector<uint16_t>{0, 1}));  // the third has two bins, the others levels
    const std::vector<double> noisy = bench.search.SketchHessians(
        bench.candidates, ordered, bench.gradients.data(), bench.hessians.data(), bench.Context());
    std::vector<double> expected;
    for (const uint16_t feature : ordered) {
        const size_t first = expected.size();
        expected.resize(first + bench.candidates.Cells(feature) - 1);
        for (size_t row = 0; row < bench.dataset.rows(); row++) {
            const size_t cell = bench.candidates.CellOfCode(feature)[bench.dataset.Code(row, feature)];
            if (cell + 1 < bench.candidates.Cells(feature))
                expected[first + cell] += bench.hessians[row];
        }
    }
    EXPECT_EQ(noisy, expected);
}

// All cells that one more row touches, in L2 norm: within what the plan charges, and at most a step below it.
TEST(SplitSearch, ARowMovesAHistogramWithinTheChargedNorm) {
    FrameworkOptions options = Options(StructurePart::kNoisyHistogram);
    options.depth = 1;
    DataShape shape;
    shape.rows = 1;
    shape.missing_percent = 0;
    Bench bench(options, shape);
    bench.hessians[0] = kClipSteps;
    std::vector<NoisySide> leaves;
    bench.search.GrowByHistogram(bench.candidates, bench.chosen, bench.gradients.data(),
                                 bench.hessians.data(), bench.Context(), &leaves);
    double squares = 0;  // an empty table has all cells 0
    for (const double cell : bench.search.root_hessians())
        squares += cell * cell;
    const PlanRequest request = BuildFrameworkPlan(options, bench.dataset.features(), 1, 1e-6);
    const double charged = request.mechanisms.back().dimensions[0].sensitivity;
    EXPECT_LE(std::sqrt(squares), charged);
    EXPECT_GT(std::sqrt(squares), charged * 0.999999);
}

TEST(NodeRows, AUnitTakesPartByOneOfItsRows) {
    DataShape shape;
    shape.units = 40;
    const Dataset dataset = RandomDataset(shape);
    ChaChaSource source = TestSource(4);
    Random random(source);
    NoInterrupt interrupt;
    std::vector<uint32_t> rows;
    std::vector<int> times(dataset.rows());
    for (int trial = 0; trial < 400; trial++) {
        DrawParticipants(dataset, SamplingRate::All(), random, interrupt, &rows);
        ASSERT_EQ(rows.size(), dataset.units());
        for (size_t unit = 0; unit < rows.size(); unit++) {
            EXPECT_EQ(dataset.Unit(rows[unit]), unit);
            times[rows[unit]]++;
        }
    }
    for (const int count : times)  // each of about 12 rows of its unit comes up
        EXPECT_GT(count, 0);
    size_t sampled = 0;
    for (int trial = 0; trial < 400; trial++) {
        DrawParticipants(dataset, SamplingRate::FromProbability(0.25), random, interrupt, &rows);
        sampled += rows.size();
    }
    EXPECT_NEAR(static_cast<double>(sampled), 4000, 330);  // six deviations
}

}  // namespace
}  // namespace dpboost
