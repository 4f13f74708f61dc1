// Leaf codes of whole blocks are those of Tree::Leaf, row by row, for every depth, kind of split and column
// width, with and without vector instructions.
#include "learner/rows/leaf/leaf_index.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "learner/tree/random_structure.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// Turns some level splits of drawn trees into subsets, which random trees do not use themselves.
void AddSubsets(Tree* tree, const std::vector<FeatureSpec>& features, PublicRandom& random) {
    for (Split& split : tree->splits) {
        if (features[split.feature].ordered() || random.Bernoulli(1, 2))
            continue;
        split.kind = SplitKind::kSubset;
        split.subset = tree->AddSubset(features[split.feature]);
        for (uint32_t code = 0; code < features[split.feature].cells(); code++) {
            if (random.Bernoulli(1, 2))
                tree->AddToSubset(split.subset, code);
        }
    }
}

void ExpectLeaves(const Dataset& dataset, const std::vector<Tree>& trees, int depth, Simd simd) {
    LeafIndexer indexer(dataset, depth, simd);
    indexer.SetTrees(trees.data(), static_cast<int>(trees.size()));
    const LeafPacking packing(depth);
    std::vector<uint16_t> codes(dataset.columns());
    std::vector<uint64_t> words(kBlockRows, ~uint64_t{0});
    for (size_t block = 0; block < dataset.blocks(); block++) {
        indexer.IndexBlock(block, words.data());
        for (size_t i = 0; i < dataset.block_rows(block); i++) {
            dataset.CopyRow(block * kBlockRows + i, codes.data());
            for (size_t slot = 0; slot < trees.size(); slot++) {
                ASSERT_EQ(packing.Leaf(words[i], static_cast<int>(slot)),
                          trees[slot].Leaf(codes.data(), dataset.features()))
                    << "depth " << depth << " row " << i << " slot " << slot;
            }
        }
    }
}

TEST(LeafIndex, AgreesWithTheTreesOwnRule) {
    DataShape shape;
    shape.rows = kBlockRows + 777;
    shape.numeric = 6;
    shape.levels = 3;
    for (const int wide : {0, 2}) {
        shape.wide = wide;
        const Dataset dataset = RandomDataset(shape);
        ChaChaSource source = TestSource(6);
        Random bits(source);
        PublicRandom random(bits);
        for (int depth = 1; depth <= 10; depth++) {
            for (const FeatureSchedule schedule : {FeatureSchedule::kAny, FeatureSchedule::kCyclic}) {
                const RandomStructure drawer(dataset.features(), depth, schedule);
                std::vector<Tree> trees;
                const int count = LeafPacking(depth).trees_per_word() - depth % 2;
                for (int t = 0; t < count; t++) {
                    trees.push_back(drawer.Draw(static_cast<uint64_t>(t + depth), random));
                    if (schedule == FeatureSchedule::kAny && t % 2 == 1)
                        AddSubsets(&trees.back(), dataset.features(), random);
                }
                ExpectLeaves(dataset, trees, depth, Simd::kPortable);
                if (BestSimd() >= Simd::kAvx2)
                    ExpectLeaves(dataset, trees, depth, Simd::kAvx2);
                if (BestSimd() >= Simd::kAvx512)
                    ExpectLeaves(dataset, trees, depth, Simd::kAvx512);
            }
        }
    }
}

// Codes and splits on both sides of every place where bytes of two-byte columns begin anew, missing values included.
TEST(LeafIndex, ComparesTwoByteCodesAsBytes) {
    NumericRange range;
    range.scale = Scale::kLinear;
    range.bins = 1000;
    std::vector<FeatureSpec> features{FeatureSpec::Hashed("few", 512), FeatureSpec::Numeric("some", range),
                                      FeatureSpec::Hashed("many", kMaxBins)};
    range.bins = kMaxBins;
    features.push_back(FeatureSpec::Numeric("most", range));
    std::vector<std::vector<uint16_t>> edges;
    for (const FeatureSpec& feature : features) {
        edges.emplace_back();
        for (int edge = 0; edge <= feature.missing() + 254; edge += edge < 2000 ? 254 : 254 * 31) {
            for (int code = edge - 3; code <= edge + 3; code++)
                edges.back().push_back(static_cast<uint16_t>(std::clamp<int>(code, 0, feature.missing())));
        }
        edges.back().push_back(feature.missing());
    }
    DatasetBuilder builder(features, TargetSpec::Binary(), false);
    for (size_t row = 0; row < 1000; row++) {
        if (builder.Full())
            builder.Grow();
        for (size_t i = 0; i < features.size(); i++)
            builder.SetCode(i, edges[i][(row * (2 * i + 1)) % edges[i].size()]);
        builder.AppendRow(0);
    }
    NoInterrupt interrupt;
    const Dataset dataset = builder.Finish(interrupt);
    for (size_t step = 0; step < 100; step++) {
        std::vector<Tree> trees(8, Tree::OfDepth(2));
        for (size_t k = 0; k < 24; k++) {
            Split& split = trees[k / 3].splits[k % 3];
            split.feature = static_cast<uint16_t>((k + k / 3) % features.size());
            const std::vector<uint16_t>& codes = edges[split.feature];
            split.threshold = codes[(step * 24 + k * 7) % codes.size()];
            split.kind = features[split.feature].ordered() ? SplitKind::kThreshold : SplitKind::kLevel;
            split.missing_left = split.kind == SplitKind::kThreshold && step % 2 == 1;
        }
        ExpectLeaves(dataset, trees, 2, Simd::kPortable);
        ExpectLeaves(dataset, trees, 2, BestSimd());
    }
}

TEST(LeafIndex, MixesTablesAndTreesInOneGroup) {
    DataShape shape;
    const Dataset dataset = RandomDataset(shape);
    ChaChaSource source = TestSource(8);
    Random bits(source);
    PublicRandom random(bits);
    const RandomStructure cyclic(dataset.features(), 4, FeatureSchedule::kCyclic);
    const RandomStructure mixed(dataset.features(), 4, FeatureSchedule::kAny);
    std::vector<Tree> trees;
    for (uint64_t t = 0; t < 8; t++)
        trees.push_back((t % 3 == 0 ? cyclic : mixed).Draw(t, random));
    ExpectLeaves(dataset, trees, 4, Simd::kPortable);
    ExpectLeaves(dataset, trees, 4, BestSimd());
}

TEST(LeafIndex, RefusesGroupsThatDoNotFit) {
    DataShape shape;
    const Dataset dataset = RandomDataset(shape);
    LeafIndexer indexer(dataset, 2, BestSimd());
    const std::vector<Tree> other_depth(1, Tree::OfDepth(3));
    EXPECT_THROW(indexer.SetTrees(other_depth.data(), 1), Error);
    const std::vector<Tree> too_many(9, Tree::OfDepth(2));
    EXPECT_THROW(indexer.SetTrees(too_many.data(), 9), Error);
}

}  // namespace
}  // namespace dpboost
