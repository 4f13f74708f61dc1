#include "learner/tree/live_splits.h"

#include <algorithm>

#include "learner/tree/random_structure.h"

namespace dpboost {

void LiveCells::Find(const Tree& tree, size_t node, const SplitCandidates& candidates, size_t feature) {
    const FeatureSpec& spec = candidates.features()[feature];
    cells_.assign(candidates.Cells(feature), 1);
    bool split_above = false;
    for (size_t child = node; child > 0;) {
        const size_t parent = (child - 1) / 2;
        if (tree.splits[parent].feature == feature) {
            if (!split_above)
                codes_.assign(spec.cells(), 1);
            split_above = true;
            const bool left = child == 2 * parent + 1;
            for (uint32_t code = 0; code < spec.cells(); code++)
                codes_[code] &=
                    tree.SplitGoesLeft(parent, static_cast<uint16_t>(code), spec.missing()) == left;
        }
        child = parent;
    }
    if (!split_above)
        return;
    std::fill(cells_.begin(), cells_.end(), 0);
    const std::vector<uint16_t>& cell_of_code = candidates.CellOfCode(feature);
    for (uint32_t code = 0; code < spec.cells(); code++)
        cells_[cell_of_code[code]] |= codes_[code];
}

void LiveCells::Splits(const SplitCandidates& candidates, size_t feature, bool missing_or_not,
                       std::vector<uint32_t>* indices) const {
    indices->clear();
    const bool ordered = candidates.features()[feature].ordered();
    const size_t last = cells_.size() - 1;  // the cell of missing values
    size_t live = 0;
    for (size_t cell = 0; cell < last; cell++)
        live += cells_[cell];
    if (!ordered) {
        for (size_t cell = 0; cell < last; cell++) {
            if (cells_[cell] && live + cells_[last] > 1)
                indices->push_back(static_cast<uint32_t>(cell));
        }
        return;
    }
    size_t left = 0;
    for (size_t cell = 0; cell + 1 < last; cell++) {
        left += cells_[cell];
        if (left > 0 && left < live && cells_[cell])
            indices->push_back(static_cast<uint32_t>(cell));
    }
    if (missing_or_not && live > 0 && cells_[last])
        indices->push_back(static_cast<uint32_t>(last - 1));
}

NodeCandidates LiveCandidates(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                              const Tree& tree, size_t node) {
    LiveCells cells;
    std::vector<uint32_t> indices;
    NodeCandidates live;
    for (const uint16_t feature : chosen) {
        cells.Find(tree, node, candidates, feature);
        cells.Splits(candidates, feature, true, &indices);
        for (const uint32_t index : indices)
            live.push_back({feature, index});
    }
    if (live.empty())
        live.push_back({chosen[0], 0});
    return live;
}

Split DrawRandomSplit(const SplitCandidates& candidates, const Tree& tree, size_t node, size_t feature,
                      PublicRandom& random, bool* live) {
    LiveCells cells;
    std::vector<uint32_t> indices;
    cells.Find(tree, node, candidates, feature);
    cells.Splits(candidates, feature, false, &indices);
    *live = !indices.empty();
    Split split = candidates.At(feature, *live ? indices[random.Below(indices.size())] : 0);
    if (split.kind == SplitKind::kThreshold)
        split.missing_left = random.Bernoulli(1, 2);
    return split;
}

Tree DrawRandomTree(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen, int depth,
                    PublicRandom& random) {
    if (chosen.size() == 1 && !candidates.features()[chosen[0]].ordered())
        return RandomStructure(candidates.features(), depth, FeatureSchedule::kCyclic)
            .Draw(chosen[0], random);
    Tree tree = Tree::OfDepth(static_cast<unsigned>(depth));
    for (size_t node = 0; node < tree.split_count(); node++) {
        bool live = false;
        std::vector<uint16_t> left = chosen;  // features that may still divide the node
        while (!live && !left.empty()) {
            const size_t place = random.Below(left.size());
            tree.splits[node] = DrawRandomSplit(candidates, tree, node, left[place], random, &live);
            left[place] = left.back();
            left.pop_back();
        }
    }
    return tree;
}

}  // namespace dpboost
