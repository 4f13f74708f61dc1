// Random models for the tests of this room: every kind of feature and of split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace dpboost {

struct ModelRandom {
    uint64_t state = 88172645463325252u;
    uint32_t Below(uint32_t n) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<uint32_t>((state >> 32) * n >> 32);
    }
};

inline std::vector<FeatureSpec> SmallFeatures() {
    return {FeatureSpec::Numeric("age", {0, 10, Scale::kLinear, 8}),
            FeatureSpec::Numeric("gain", {-100, 1000, Scale::kLog, 6}),
            FeatureSpec::Levels("sex", {"F", "I", "M"}), FeatureSpec::Hashed("city", 70)};
}

inline Tree RandomTree(const std::vector<FeatureSpec>& features, unsigned depth, ModelRandom* random) {
    Tree tree = Tree::OfDepth(depth);
    for (Split& split : tree.splits) {
        split.feature = static_cast<uint16_t>(random->Below(static_cast<uint32_t>(features.size())));
        const FeatureSpec& feature = features[split.feature];
        split.threshold = static_cast<uint16_t>(random->Below(feature.cells() + 2));
        split.kind = static_cast<SplitKind>(random->Below(3));
        if (split.kind == SplitKind::kThreshold)
            split.missing_left = random->Below(2) == 1;
        if (split.kind == SplitKind::kSubset) {
            split.subset = tree.AddSubset(feature);
            for (uint32_t code = 0; code < feature.cells(); code++)
                if (random->Below(2) == 1)
                    tree.AddToSubset(split.subset, code);
        }
    }
    for (int32_t& leaf : tree.leaves)
        leaf = static_cast<int32_t>(random->Below(2000001)) - 1000000;
    return tree;
}

inline Model RandomModel(std::vector<FeatureSpec> features, unsigned trees, unsigned max_depth,
                         uint64_t seed) {
    ModelRandom random;
    random.state ^= seed * 0x9e3779b97f4a7c15u;
    Model model(std::move(features), TargetSpec::Regression(1, 29), Link::kIdentity);
    model.AddToBase(12345);
    std::vector<int32_t> table(model.features()[0].cells());
    for (int32_t& value : table)
        value = static_cast<int32_t>(random.Below(1000)) - 500;
    model.AddTable(0, table);
    for (unsigned i = 0; i < trees; i++)
        model.AddTree(RandomTree(model.features(), 1 + random.Below(max_depth), &random));
    return model;
}

}  // namespace dpboost
