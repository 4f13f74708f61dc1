#include "model/tree.h"

#include <cmath>

#include "base/error.h"

namespace dpboost {

Tree Tree::OfDepth(unsigned depth, size_t outputs) {
    CheckInternal(depth <= kMaxDepth, "tree is too deep");
    Tree tree;
    tree.depth = depth;
    tree.splits.resize((size_t{1} << depth) - 1);
    tree.leaves.resize(outputs << depth);
    return tree;
}

uint32_t Tree::AddSubset(const FeatureSpec& feature) {
    uint32_t begin = static_cast<uint32_t>(subset_words.size());
    subset_words.resize(subset_words.size() + SubsetWords(feature.cells()));
    return begin;
}

size_t Tree::Leaf(const uint16_t* codes, const std::vector<FeatureSpec>& features) const noexcept {
    size_t node = 0;
    for (unsigned level = 0; level < depth; level++) {
        size_t feature = splits[node].feature;
        uint16_t missing = features[feature].missing();
        uint16_t code = codes[feature] < missing ? codes[feature] : missing;
        node = 2 * node + (SplitGoesLeft(node, code, missing) ? 1 : 2);
    }
    return node - splits.size();
}

bool IsValid(const Tree& tree, const std::vector<FeatureSpec>& features, size_t outputs) noexcept {
    if (tree.depth > kMaxDepth || tree.splits.size() != (size_t{1} << tree.depth) - 1 ||
        tree.leaves.size() != outputs << tree.depth)
        return false;
    if (!tree.leaf_sds.empty() && tree.leaf_sds.size() != tree.leaves.size())
        return false;
    for (const float sd : tree.leaf_sds) {
        if (!(sd >= 0) || !std::isfinite(sd))
            return false;
    }
    for (const Split& split : tree.splits) {
        if (split.feature >= features.size() || split.kind > SplitKind::kSubset)
            return false;
        size_t words = SubsetWords(features[split.feature].cells());
        if (split.kind == SplitKind::kSubset &&
            (tree.subset_words.size() < words || split.subset > tree.subset_words.size() - words))
            return false;
    }
    return true;
}

}  // namespace dpboost
