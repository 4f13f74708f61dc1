// Random structures: valid for the features, useful (splits divide their cell where one exists), and in
// one-feature trees one level per leaf if the levels fit.
#include "learner/tree/random_structure.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

TEST(Structure, TreesAreValid) {
    DataShape shape;
    shape.numeric = 6;
    shape.wide = 1;
    const std::vector<FeatureSpec> features = TestFeatures(shape);
    ChaChaSource source = TestSource(3);
    Random bits(source);
    PublicRandom random(bits);
    for (const FeatureSchedule schedule : {FeatureSchedule::kAny, FeatureSchedule::kCyclic}) {
        for (int depth = 1; depth <= 10; depth++) {
            const RandomStructure drawer(features, depth, schedule);
            for (uint64_t tree = 0; tree < 2 * features.size(); tree++) {
                const Tree drawn = drawer.Draw(tree, random);
                EXPECT_TRUE(IsValid(drawn, features)) << depth << " " << tree;
                EXPECT_EQ(drawn.leaf_count(), size_t{1} << depth);
                if (schedule == FeatureSchedule::kCyclic) {
                    for (const Split& split : drawn.splits)
                        EXPECT_EQ(split.feature, tree % features.size());
                }
            }
        }
    }
}

TEST(Structure, OneFeatureTreesHaveNoEmptyLeaves) {
    DataShape shape;
    shape.numeric = 2;  // 254 and 40 bins
    shape.levels = 2;   // 3 and 23 levels
    const std::vector<FeatureSpec> features = TestFeatures(shape);
    ChaChaSource source = TestSource(4);
    Random bits(source);
    PublicRandom random(bits);
    const RandomStructure drawer(features, 3, FeatureSchedule::kCyclic);
    for (uint64_t t = 0; t < 40; t++) {
        const Tree tree = drawer.Draw(t, random);
        const FeatureSpec& spec = features[t % features.size()];
        std::set<size_t> used;
        std::vector<uint16_t> codes(features.size());
        for (uint32_t code = 0; code < spec.bins(); code++) {
            codes[t % features.size()] = static_cast<uint16_t>(code);
            used.insert(tree.Leaf(codes.data(), features));
        }
        // Random thresholds may run out of cuts on one side; levels never do.
        EXPECT_GE(used.size(), spec.ordered() ? 4U : std::min<size_t>(spec.bins(), 7U)) << t;
    }
}

TEST(Structure, FeaturesAndThresholdsAreUniform) {
    std::vector<FeatureSpec> features;
    for (int i = 0; i < 4; i++) {
        NumericRange range;
        range.scale = Scale::kLinear;
        range.bins = 11;
        features.push_back(FeatureSpec::Numeric(std::string("f") + static_cast<char>('0' + i), range));
    }
    ChaChaSource source = TestSource(5);
    Random bits(source);
    PublicRandom random(bits);
    const RandomStructure drawer(features, 1, FeatureSchedule::kAny);
    std::map<std::pair<int, int>, int> count;
    const int draws = 40000;
    int missing_left = 0;
    for (int i = 0; i < draws; i++) {
        const Tree tree = drawer.Draw(0, random);
        count[{tree.splits[0].feature, tree.splits[0].threshold}]++;
        missing_left += tree.splits[0].missing_left;
    }
    ASSERT_EQ(count.size(), 40U);
    // 7 standard deviations of a binomial each: false-alarm rate below 1e-9.
    for (const auto& entry : count)
        EXPECT_NEAR(entry.second, draws / 40, 7 * 31.3);
    EXPECT_NEAR(missing_left, draws / 2, 700);
}

}  // namespace
}  // namespace dpboost
