#include "model/explain/tree_regions.h"

namespace dpboost {

void RegionWalk::Enter(const Tree& tree) {
    tree_ = &tree;
    ClassesOf(tree, features_, masses_, interrupt_, &classes_);
    widest_ = 0;
    for (const CodeClasses& feature : classes_)
        widest_ = std::max(widest_, feature.count());
    all_.assign(widest_, 1);
    inside_.resize(2 * widest_ * tree.depth);
    places_.clear();
    const auto before = [](const CodeClasses& feature, uint16_t number) { return feature.feature < number; };
    for (const Split& split : tree.splits)
        places_.push_back(static_cast<size_t>(
            std::lower_bound(classes_.begin(), classes_.end(), split.feature, before) - classes_.begin()));
}

void RegionWalk::Divide(size_t node, const Region& region, uint8_t* inside, Region* sides,
                        bool* is_empty) const {
    const CodeClasses& classes = classes_[region.place];
    const uint16_t missing = features_[classes.feature].missing();
    uint8_t* const right = inside + widest_;
    double masses[] = {0, 0};
    unsigned any[] = {0, 0};
    for (size_t i = 0; i < classes.count(); i++) {
        const unsigned side = tree_->SplitGoesLeft(node, classes.some_code[i], missing) ? 0 : 1;
        const unsigned is_in = region.inside[i];
        inside[i] = static_cast<uint8_t>(is_in & (side ^ 1));
        right[i] = static_cast<uint8_t>(is_in & side);
        any[side] |= is_in;
        masses[side] += is_in != 0 ? classes.masses[i] : 0;
    }
    for (const size_t side : {0, 1}) {
        sides[side] = {region.place, side == 0 ? inside : right, masses[side]};
        is_empty[side] = any[side] == 0;
    }
}

std::vector<uint16_t> FeaturesOf(const Tree& tree) {
    const size_t outputs = tree.leaves.size() / tree.leaf_count();
    std::vector<uint16_t> features;
    // Leaves below a node of level l are a run of 2^(depth - l).
    for (unsigned level = 0; level < tree.depth; level++) {
        const size_t first = (size_t{1} << level) - 1, run = (outputs << tree.depth) >> level;
        for (size_t i = 0; i <= first; i++) {
            const auto begin = tree.leaves.begin() + static_cast<ptrdiff_t>(i * run);
            if (!std::equal(begin, begin + static_cast<ptrdiff_t>(run - outputs),
                            begin + static_cast<ptrdiff_t>(outputs)))
                features.push_back(tree.splits[first + i].feature);
        }
    }
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
    return features;
}

}  // namespace dpboost
