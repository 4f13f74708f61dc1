// A decision tree on codes: complete, nodes in breadth-first order, leaf values in fixed point so that sums
// of trees are exact in any order. GoesLeft is the one function that decides a split, in training and in
// prediction alike.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/feature.h"

namespace dpboost {

enum class SplitKind : uint8_t {
    kThreshold = 0,  // left: code <= threshold; missing goes where missing_left says. For ordered features
    kLevel = 1,      // left: code == threshold (which may be the missing code)
    kSubset = 2      // left: the bit of the code is set in the split's subset; missing has a bit as well
};

struct Split {
    uint16_t feature = 0;
    uint16_t threshold = 0;
    SplitKind kind = SplitKind::kThreshold;
    bool missing_left = false;  // kThreshold only
    uint32_t subset = 0;        // kSubset only: where the bits begin in the tree's subset_words
};

constexpr unsigned kMaxDepth = 12;

// 64-bit words that a subset of a feature's codes takes.
constexpr uint32_t SubsetWords(uint32_t cells) {
    return (cells + 63) / 64;
}

// `missing` is the feature's missing code, `subset_words` the tree's.
inline bool GoesLeft(const Split& split, const uint64_t* subset_words, uint16_t code,
                     uint16_t missing) noexcept {
    if (split.kind == SplitKind::kThreshold)
        return code == missing ? split.missing_left : code <= split.threshold;
    if (split.kind == SplitKind::kLevel)
        return code == split.threshold;
    return (subset_words[split.subset + code / 64] >> (code % 64)) & 1;
}

// Depth d: 2^d - 1 splits, children of i at 2i + 1 (left) and 2i + 2 (right); 2^d leaves from left to right.
// Depth 0 is one leaf. A shallower branch repeats its leaf value below any splits. With K outputs a leaf has K values
// side by side: those of leaf l begin at K l.
struct Tree {
    unsigned depth = 0;
    std::vector<Split> splits;
    std::vector<int32_t> leaves;  // steps of 2^-kFixedBits
    std::vector<uint64_t> subset_words;
    std::vector<float>
        leaf_sds;  // of the noise in each value of `leaves`, in units of 1; empty where not known

    static Tree OfDepth(unsigned depth, size_t outputs = 1);  // all splits default, all leaves 0
    size_t split_count() const noexcept { return splits.size(); }
    size_t leaf_count() const noexcept { return splits.size() + 1; }

    // Adds a subset with all bits 0 for a feature and returns where it begins, for Split::subset.
    uint32_t AddSubset(const FeatureSpec& feature);
    void AddToSubset(uint32_t subset, uint32_t code) noexcept {
        subset_words[subset + code / 64] |= uint64_t{1} << (code % 64);
    }

    bool SplitGoesLeft(size_t node, uint16_t code, uint16_t missing) const noexcept {
        return GoesLeft(splits[node], subset_words.data(), code, missing);
    }
    // Index of the leaf of a row, codes in the order of the features.
    size_t Leaf(const uint16_t* codes, const std::vector<FeatureSpec>& features) const noexcept;
};

// Whether the tree's shape, features, thresholds, subsets and leaves fit the features and outputs.
bool IsValid(const Tree& tree, const std::vector<FeatureSpec>& features, size_t outputs = 1) noexcept;

}  // namespace dpboost
