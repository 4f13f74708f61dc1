#include "learner/pure/growth.h"

#include <cmath>
#include <utility>

#include "learner/tree/split_score.h"
#include "mechanism/selection.h"

namespace dpboost {

TreeGrower::TreeGrower(const Dataset& dataset, const PureOptions& options, Plan& plan, NoiseSource& noise,
                       Interrupt& interrupt)
    : dataset_(dataset),
      options_(options),
      plan_(plan),
      noise_(noise),
      interrupt_(interrupt),
      l2_steps_(static_cast<int64_t>(std::nearbyint(options.l2 * kClipSteps))),
      candidates_(dataset.features(),
                  options.candidate_count == 0 ? CandidatePart::kWholeRange : CandidatePart::kUniform,
                  options.candidate_count),
      rows_(dataset) {}

Tree TreeGrower::Grow(std::vector<uint32_t> rows, const int32_t* gradients) {
    Tree tree = Tree::OfDepth(static_cast<unsigned>(options_.depth));
    rows_.Reset(std::move(rows));
    for (unsigned level = 0; level < tree.depth; level++) {
        rows_.SetValues(gradients, nullptr, interrupt_);
        const MechanismId id = plan_.Find(PureSplitsMechanism(static_cast<int>(level)));
        const size_t first = (size_t{1} << level) - 1;
        for (size_t place = 0; place < rows_.nodes(); place++) {
            tree.splits[first + place] = Choose(tree, first + place, place, plan_.Take(id));
            interrupt_.Poll();
        }
        rows_.Descend(tree, level, interrupt_);
    }
    rows_.SetValues(gradients, nullptr, interrupt_);
    leaf_sums_.assign(tree.leaf_count(), CellSum{});
    for (size_t leaf = 0; leaf < leaf_sums_.size(); leaf++) {
        codes_.assign(dataset_.features()[0].cells(), CellSum{});
        rows_.AddTo(leaf, 0, codes_.data(), &interrupt_);
        for (const CellSum& cell : codes_) {
            leaf_sums_[leaf].gradient += cell.gradient;
            leaf_sums_[leaf].weight += cell.weight;
        }
    }
    return tree;
}

// Adds every live candidate of a feature with its utility at the node.
void TreeGrower::ScoreFeature(const Tree& tree, size_t node, size_t place, uint16_t feature) {
    codes_.assign(dataset_.features()[feature].cells(), CellSum{});
    rows_.AddTo(place, feature, codes_.data(), &interrupt_);
    cells_.assign(candidates_.Cells(feature), CellSum{});
    CellSum total;
    const std::vector<uint16_t>& cell_of_code = candidates_.CellOfCode(feature);
    for (size_t code = 0; code < codes_.size(); code++) {
        cells_[cell_of_code[code]].gradient += codes_[code].gradient;
        cells_[cell_of_code[code]].weight += codes_[code].weight;
        total.gradient += codes_[code].gradient;
        total.weight += codes_[code].weight;
    }
    live_.Find(tree, node, candidates_, feature);
    live_.Splits(candidates_, feature, true, &indices_);
    const bool ordered = dataset_.features()[feature].ordered();
    CellSum left;
    size_t summed = 0;
    for (const uint32_t index : indices_) {
        if (!ordered)
            left = cells_[index];
        for (; ordered && summed <= index; summed++) {
            left.gradient += cells_[summed].gradient;
            left.weight += cells_[summed].weight;
        }
        splits_.push_back(candidates_.At(feature, index));
        raw_utilities_.push_back(SplitUtility(left.gradient, left.weight, total.gradient - left.gradient,
                                              total.weight - left.weight, l2_steps_));
    }
}

// A node without a live candidate chooses among one useless split, so that the number of draws depends on no
// row.
Split TreeGrower::Choose(const Tree& tree, size_t node, size_t place, Charge charge) {
    splits_.clear();
    raw_utilities_.clear();
    for (size_t feature = 0; feature < dataset_.columns(); feature++)
        ScoreFeature(tree, node, place, static_cast<uint16_t>(feature));
    if (splits_.empty()) {
        splits_.push_back(candidates_.At(0, 0));
        raw_utilities_.push_back(0);
    }
    return splits_[SelectPrivately(std::move(charge), noise_, raw_utilities_.data(), raw_utilities_.size())];
}

}  // namespace dpboost
