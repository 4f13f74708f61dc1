#include "model/explain/tree_regions.h"

#include <algorithm>

namespace dpboost {

void TreeRegions::Enter(const Tree& tree) {
    tree_ = &tree;
    finder_.Find(tree);
    const size_t splits = tree.split_count();
    nodes_.resize(splits + tree.leaf_count());
    size_t most = 1, all = 0;  // words
    for (size_t node = 0; node < splits; node++) {
        nodes_[node].place = finder_.PlaceOf(tree.splits[node].feature);
        most = std::max(most, words(nodes_[node].place));
        all += 2 * words(nodes_[node].place);
    }
    all_.assign(most, UINT64_MAX);
    inside_.resize(std::max(inside_.size(), all));
    width_ = 0;
    nodes_[0].region = {SIZE_MAX, all_.data(), 1};
    nodes_[0].path = 1;
    nodes_[0].features = 0;
    nodes_[0].is_met = true;
    uint64_t* inside = inside_.data();
    for (size_t node = 0; node < splits; node++) {
        Node& here = nodes_[node];
        Node *const left = &nodes_[2 * node + 1], *const right = &nodes_[2 * node + 2];
        left->is_met = right->is_met = false;
        if (!here.is_met)
            continue;
        if (node % 16 == 0)
            interrupt_.Poll();
        size_t last = node;
        while (last > 0 && nodes_[(last - 1) / 2].place != here.place)
            last = (last - 1) / 2;
        here.before = last;
        const Region& region = nodes_[last].region;
        Divide(node, region, inside);
        inside += 2 * words(here.place);
        for (Node* const child : {left, right}) {
            child->path = here.path * (child->region.weight() / region.weight());
            child->features = here.features + (last == 0 ? 1 : 0);
            width_ = std::max(width_, child->is_met ? child->features : 0);
        }
    }
}

// Which classes go left at a node. Where few are told apart by thresholds or levels, they are found by their place.
void TreeRegions::FindLeft(size_t node, uint64_t* left) const {
    const CodeClasses& classes = finder_.classes()[nodes_[node].place];
    const uint16_t missing = features_[classes.feature].missing();
    const Split& split = tree_->splits[node];
    const std::vector<uint32_t>& ends = classes.ends;
    const size_t count = classes.count();
    const auto runs_until = [&](uint32_t code) {
        return static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), code) - ends.begin());
    };
    if (count <= 64 && split.kind == SplitKind::kThreshold && count == ends.size()) {
        // A run is a class, and missing the last one.
        const size_t whole = std::min(runs_until(split.threshold + 1U), count - 1);
        left[0] = ((uint64_t{1} << whole) - 1) | uint64_t{split.missing_left} << (count - 1);
        return;
    }
    if (count <= 64 && split.kind == SplitKind::kLevel) {
        left[0] = split.threshold <= missing ? uint64_t{1} << classes.of_run[runs_until(split.threshold)] : 0;
        return;
    }
    std::fill_n(left, ClassWords(count), 0);
    for (size_t i = 0; i < count; i++)
        left[i / 64] |= uint64_t{tree_->SplitGoesLeft(node, classes.some_code[i], missing)} << (i % 64);
}

void TreeRegions::Divide(size_t node, const Region& region, uint64_t* inside) {
    const size_t place = nodes_[node].place, sets = words(place);
    const CodeClasses& classes = finder_.classes()[place];
    uint64_t* const sides[] = {inside, inside + sets};
    FindLeft(node, inside);
    const uint64_t beyond = classes.count() % 64 == 0 ? 0 : UINT64_MAX << (classes.count() % 64);
    for (size_t word = 0; word < sets; word++) {
        sides[1][word] = region.inside[word] & ~sides[0][word] & (word + 1 == sets ? ~beyond : UINT64_MAX);
        sides[0][word] &= region.inside[word];
    }
    for (const size_t side : {0, 1}) {
        Node& child = nodes_[2 * node + 1 + side];
        child.region = {place, sides[side], 0};
        child.is_met = false;
        ForClasses(sides[side], sets, [&](size_t i) {
            child.region.mass += classes.masses[i];
            child.is_met = true;
        });
    }
}

std::vector<uint16_t> FeaturesOf(const Tree& tree) {
    const size_t outputs = tree.leaves.size() / tree.leaf_count();
    std::vector<uint8_t> is_used;
    // Leaves below a node of level l are a run of 2^(depth - l).
    for (unsigned level = 0; level < tree.depth; level++) {
        const size_t first = (size_t{1} << level) - 1, run = (outputs << tree.depth) >> level;
        for (size_t i = 0; i <= first; i++) {
            const auto begin = tree.leaves.begin() + static_cast<ptrdiff_t>(i * run);
            const size_t feature = tree.splits[first + i].feature;
            if (std::equal(begin, begin + static_cast<ptrdiff_t>(run - outputs),
                           begin + static_cast<ptrdiff_t>(outputs)))
                continue;
            is_used.resize(std::max(is_used.size(), feature + 1));
            is_used[feature] = 1;
        }
    }
    std::vector<uint16_t> features;
    for (size_t feature = 0; feature < is_used.size(); feature++)
        if (is_used[feature] != 0)
            features.push_back(static_cast<uint16_t>(feature));
    return features;
}

}  // namespace dpboost
