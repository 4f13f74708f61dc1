#include "model/byte_forest.h"

#include <algorithm>

namespace dpboost {
namespace {

constexpr size_t kFewestTrees = 16;         // below, answering and summing as Predictor does is as fast
constexpr uint32_t kQuestionsOfSlot = 255;  // a byte's values but one
constexpr uint32_t kNotAsked = 0xffffffff;
constexpr uint32_t kAsked = 0xfffffffe;

// What a slot answers: thresholds on a feature, with missing on one side, or its levels.
enum SlotKind : size_t { kMissingRight, kMissingLeft, kLevel, kSlotKinds };

// The questions of one kind about a feature.
struct Asked {
    std::vector<uint32_t> numbers;  // by threshold or level, and one beyond all codes; in ascending order
    size_t first_slot = 0;
};

SlotKind KindOf(const Split& split) {
    if (split.kind == SplitKind::kLevel)
        return kLevel;
    return split.missing_left ? kMissingLeft : kMissingRight;
}

size_t StagesBelow(unsigned depth) {
    return (depth - 1) / kGroupLevels;
}

// Of the leaf of each tree whose number is in `ends`, the one value.
int64_t SumOf(const int32_t* leaves, size_t leaf_count, const uint16_t* ends, size_t trees) noexcept {
    int64_t sum = 0;
    for (size_t t = 0; t < trees; t++, leaves += leaf_count)
        sum += leaves[ends[t]];
    return sum;
}

// Or all values, each added to its score.
void AddEach(const int32_t* leaves, size_t leaf_count, size_t outputs, const uint16_t* ends, size_t trees,
             int64_t* scores) noexcept {
    for (size_t t = 0; t < trees; t++, leaves += leaf_count * outputs)
        for (size_t output = 0; output < outputs; output++)
            scores[output] += leaves[ends[t] * outputs + output];
}

}  // namespace

class ByteForest::Compiler {
  public:
    Compiler(const Model& model, const std::vector<const Tree*>& trees, Polling* polling)
        : features_(model.features()), trees_(trees), polling_(polling) {
        out_.outputs_ = model.outputs();
    }

    bool Run() {
        if (trees_.size() < kFewestTrees)
            return false;
        asked_.resize(kSlotKinds * features_.size());
        for (const Tree* tree : trees_) {
            polling_->BeforeTree();
            for (const Split& split : tree->splits) {
                if (split.kind == SplitKind::kSubset)
                    return false;
                std::vector<uint32_t>& numbers = AskedOf(split).numbers;
                if (numbers.empty())
                    numbers.assign(features_[split.feature].cells() + 1, kNotAsked);
                numbers[PlaceOf(split)] = kAsked;
            }
        }
        for (size_t i = 0; i < asked_.size(); i++)
            if (!asked_[i].numbers.empty() && !AddSlots(i / kSlotKinds, SlotKind(i % kSlotKinds), &asked_[i]))
                return false;
        LayOutTrees();
        return true;
    }

    ByteForest Take() { return std::move(out_); }

  private:
    Asked& AskedOf(const Split& split) { return asked_[kSlotKinds * split.feature + KindOf(split)]; }

    size_t PlaceOf(const Split& split) const {
        return std::min<size_t>(split.threshold, features_[split.feature].cells());
    }

    // Numbers the questions; false if all of the model's take too many slots.
    bool AddSlots(size_t feature, SlotKind kind, Asked* asked) {
        uint32_t count = 0;
        std::vector<uint32_t> below;  // a threshold, those that were asked
        for (uint32_t& number : asked->numbers) {
            below.push_back(count);
            if (number == kAsked)
                number = count++;
        }
        asked->first_slot = out_.slots_.size();
        for (uint32_t first = 0; first < count; first += kQuestionsOfSlot) {
            if (out_.slots_.size() == kMostSlots)
                return false;
            AddSlot(feature, kind, first, kind == kLevel ? asked->numbers : below);
        }
        return true;
    }

    // A code's byte is above the numbers, counted from `first`, of exactly those thresholds that send it to the right. Of
    // levels it is the number of the code's own.
    void AddSlot(size_t feature, SlotKind kind, uint32_t first, const std::vector<uint32_t>& by_code) {
        const uint16_t missing = features_[feature].missing();
        out_.slots_.push_back({static_cast<uint32_t>(feature), missing, out_.slot_bytes_.size()});
        for (uint32_t code = 0; code <= missing; code++) {
            uint32_t byte = by_code[code] - std::min(by_code[code], first);
            if (kind == kLevel)
                byte = by_code[code] >= first ? by_code[code] - first : kQuestionsOfSlot;
            else if (code == missing)
                byte = kind == kMissingRight ? kQuestionsOfSlot : 0;
            out_.slot_bytes_.push_back(static_cast<uint8_t>(std::min(byte, kQuestionsOfSlot)));
        }
    }

    void LayOutTrees() {
        for (unsigned depth = 1; depth <= kMaxDepth; depth++) {
            std::vector<const Tree*> trees;
            for (const Tree* tree : trees_)
                if (tree->depth == depth)
                    trees.push_back(tree);
            if (!trees.empty())
                LayOutForest(depth, trees);
        }
    }

    void LayOutForest(unsigned depth, const std::vector<const Tree*>& trees) {
        Forest forest{};
        forest.depth = depth;
        forest.trees = trees.size();
        forest.top_offset = out_.tops_.size();
        forest.leaf_offset = out_.leaves_.size();
        const size_t places = (trees.size() + kTreesOfTop - 1) / kTreesOfTop * kTreesOfTop;
        // Levels that are missing to a multiple of three are missing above the root.
        const unsigned top_levels = depth - static_cast<unsigned>(StagesBelow(depth) * kGroupLevels);
        for (size_t place = 0; place < places; place++)
            AddTop(place < trees.size() ? Group(*trees[place], 0, top_levels) : QuestionGroup{}, place);
        unsigned level = top_levels;
        for (size_t stage = 0; stage < StagesBelow(depth); stage++, level += kGroupLevels) {
            forest.lower_offsets[stage] = out_.lower_.size();
            const size_t paths = size_t{1} << level;
            for (const Tree* tree : trees) {
                polling_->BeforeTree();
                for (size_t path = 0; path < paths; path++)
                    out_.lower_.push_back(Group(*tree, paths - 1 + path, kGroupLevels));
            }
            out_.lower_.resize(out_.lower_.size() + (places - trees.size()) * paths);
        }
        for (const Tree* tree : trees)
            out_.leaves_.insert(out_.leaves_.end(), tree->leaves.begin(), tree->leaves.end());
        out_.forests_.push_back(forest);
    }

    // The questions of `levels` levels from a node down, as the last levels of a group.
    QuestionGroup Group(const Tree& tree, size_t node, unsigned levels) {
        QuestionGroup group;
        for (unsigned level = 0; level < levels; level++) {
            const size_t at = (size_t{1} << (kGroupLevels - levels + level)) - 1;
            for (size_t i = 0; i < size_t{1} << level; i++)
                Put(tree.splits[((node + 1) << level) - 1 + i], &group.slots[at + i], &group.tests[at + i]);
        }
        return group;
    }

    void Put(const Split& split, uint8_t* slot, uint8_t* test) {
        const Asked& asked = AskedOf(split);
        const uint32_t number = asked.numbers[PlaceOf(split)];
        *slot = static_cast<uint8_t>(asked.first_slot + number / kQuestionsOfSlot);
        if (split.kind == SplitKind::kLevel)
            *slot |= kIsLevel;
        *test = static_cast<uint8_t>(number % kQuestionsOfSlot);
    }

    void AddTop(const QuestionGroup& group, size_t place) {
        if (place % kTreesOfTop == 0)
            out_.tops_.emplace_back();
        std::copy_n(group.slots, kGroupPaths, out_.tops_.back().slots[place % kTreesOfTop]);
        std::copy_n(group.tests, kGroupPaths, out_.tops_.back().tests[place % kTreesOfTop]);
    }

    const std::vector<FeatureSpec>& features_;
    const std::vector<const Tree*>& trees_;
    Polling* polling_;
    std::vector<Asked> asked_;  // by feature and kind
    ByteForest out_;
};

std::optional<ByteForest> ByteForest::Of(const Model& model, const std::vector<const Tree*>& trees, Simd simd,
                                         Polling* polling) {
    if (simd < Simd::kAvx2)
        return std::nullopt;
    Compiler compiler(model, trees, polling);
    if (!compiler.Run())
        return std::nullopt;
    return compiler.Take();
}

void ByteForest::AddLeaves(const uint16_t* codes, int64_t* scores) const noexcept {
    alignas(32) uint8_t row[kMostSlots] = {};
    for (size_t i = 0; i < slots_.size(); i++)
        row[i] = slot_bytes_[slots_[i].offset + std::min(codes[slots_[i].feature], slots_[i].missing)];
    for (const Forest& forest : forests_)
        AddForest(forest, row, scores);
}

void ByteForest::AddForest(const Forest& forest, const uint8_t* row, int64_t* scores) const noexcept {
    const size_t stages = StagesBelow(forest.depth);
    const size_t leaf_count = size_t{1} << forest.depth;
    alignas(32) uint16_t ends[kWalkTrees];
    for (size_t first = 0; first < forest.trees; first += kWalkTrees) {
        const size_t count = std::min(kWalkTrees, forest.trees - first);
        LowerGroups lower[kMaxDepth / kGroupLevels];
        for (size_t stage = 0; stage < stages; stage++) {
            const size_t paths = size_t{1} << (forest.depth - kGroupLevels * (stages - stage));
            lower[stage] = {lower_.data() + forest.lower_offsets[stage] + first * paths, paths};
        }
        WalkBytes(row, slots_.size(), tops_.data() + forest.top_offset + first / kTreesOfTop, lower, stages,
                  count, ends);
        const int32_t* leaves = leaves_.data() + forest.leaf_offset + first * leaf_count * outputs_;
        if (outputs_ == 1)
            scores[0] += SumOf(leaves, leaf_count, ends, count);
        else
            AddEach(leaves, leaf_count, outputs_, ends, count, scores);
    }
}

size_t ByteForest::memory_used() const noexcept {
    return slots_.size() * sizeof(Slot) + slot_bytes_.size() + tops_.size() * sizeof(TopGroups) +
           lower_.size() * sizeof(QuestionGroup) + leaves_.size() * sizeof(int32_t);
}

}  // namespace dpboost
