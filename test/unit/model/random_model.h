// Random models for the tests of this room: every kind of feature and of split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "support/xorshift.h"

namespace dpboost {

inline std::vector<FeatureSpec> SmallFeatures() {
    return {FeatureSpec::Numeric("age", {0, 10, Scale::kLinear, 8}),
            FeatureSpec::Numeric("gain", {-100, 1000, Scale::kLog, 6}),
            FeatureSpec::Levels("sex", {"F", "I", "M"}), FeatureSpec::Hashed("city", 70)};
}

inline Tree RandomTree(const std::vector<FeatureSpec>& features, unsigned depth, Xorshift* random,
                       size_t outputs = 1) {
    Tree tree = Tree::OfDepth(depth, outputs);
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
    Xorshift random;
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

// Three classes or more: every feature has a table, and some of the trees know how noisy their leaves are.
inline Model RandomClassModel(std::vector<FeatureSpec> features, unsigned classes, unsigned trees,
                              unsigned max_depth, uint64_t seed) {
    Xorshift random;
    random.state ^= seed * 0x9e3779b97f4a7c15u;
    std::vector<std::string> labels;
    for (unsigned k = 0; k < classes; k++)
        labels.push_back("class " + std::to_string(k));
    Model model(std::move(features), TargetSpec::Classes(labels), Link::kSoftmax);
    for (size_t f = 0; f < model.features().size(); f++) {
        std::vector<int32_t> table(model.features()[f].cells() * classes);
        for (int32_t& value : table)
            value = static_cast<int32_t>(random.Below(1000000)) - 500000;
        model.AddTable(f, table);
    }
    for (unsigned k = 0; k < classes; k++)
        model.AddToBase(k, static_cast<int32_t>(random.Below(1000000)) - 500000);
    for (unsigned i = 0; i < trees; i++) {
        Tree tree = RandomTree(model.features(), 1 + random.Below(max_depth), &random, classes);
        if (i % 2 == 0)
            tree.leaf_sds.assign(tree.leaves.size(), 0.25F);
        model.AddTree(tree);
    }
    return model;
}

inline std::vector<const Tree*> TreesOf(const Model& model) {
    std::vector<const Tree*> trees;
    for (const Tree& tree : model.trees())
        trees.push_back(&tree);
    return trees;
}

// Evidence of every kind; the first feature has no bands.
inline Evidence RandomEvidence(const Model& model, uint64_t seed) {
    Xorshift random;
    random.state ^= seed * 0x9e3779b97f4a7c15u;
    const auto number = [&] { return static_cast<float>(random.Below(1000)) / 8; };
    Evidence evidence;
    evidence.reference.emplace();
    evidence.reference->rows = 1 + number();
    evidence.reference->rows_sd = number();
    for (const FeatureSpec& feature : model.features()) {
        Marginal marginal;
        for (uint32_t code = random.Below(3); code < feature.bins(); code += 1 + random.Below(3))
            marginal.last_codes.push_back(static_cast<uint16_t>(code));
        marginal.last_codes.push_back(feature.missing());
        for (size_t cell = 0; cell < marginal.last_codes.size(); cell++)
            marginal.counts.push_back(number());
        marginal.count_sd = number();
        evidence.reference->marginals.push_back(marginal);
        evidence.bands.emplace_back();
        for (size_t i = 0; evidence.bands.size() > 1 && i < feature.cells() * model.outputs(); i++)
            evidence.bands.back().push_back(number());
    }
    evidence.noise = NoiseKind::kGaussian;
    evidence.mu = 0.25;
    evidence.residuals.emplace();
    for (int bin = 0; bin < 32; bin++)
        evidence.residuals->counts.push_back(number() - 20);
    evidence.residuals->count_sd = number();
    return evidence;
}

}  // namespace dpboost
