#include "model/explain/code_classes.h"

#include <algorithm>
#include <set>

namespace dpboost {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Nodes by their feature, as numbers that sort fast.
static_assert(kMaxDepth <= 16, "a node's number has 16 bits");
uint32_t KeyOf(uint16_t feature, size_t node) {
    return uint32_t{feature} << 16 | static_cast<uint32_t>(node);
}
uint16_t FeatureOf(uint32_t key) {
    return static_cast<uint16_t>(key >> 16);
}
size_t NodeOf(uint32_t key) {
    return key & 0xffff;
}

// Numbers classes from 0 by the codes that have them first, where `number` tells codes apart by values below `numbers`.
template <typename Number>
void Renumber(size_t numbers, const Number& number, CodeClasses* classes) {
    std::vector<uint32_t> found(numbers, kNone);
    classes->some_code.clear();
    for (size_t code = 0; code < classes->of.size(); code++) {
        uint32_t& place = found[number(code)];
        if (place == kNone) {
            place = static_cast<uint32_t>(classes->count());
            classes->some_code.push_back(static_cast<uint16_t>(code));
        }
        classes->of[code] = place;
    }
}

// By thresholds: codes without one between them are together. Missing is by itself. Classes are runs of codes, so nothing
// has to be looked up.
void SplitByThresholds(const Tree& tree, const std::vector<uint32_t>& keys, size_t begin, size_t end,
                       CodeClasses* classes) {
    const auto missing = static_cast<uint32_t>(classes->of.size() - 1);
    std::vector<uint32_t>& ends = classes->ends;
    ends.assign({missing, missing + 1});
    for (size_t i = begin; i < end; i++) {
        const Split& split = tree.splits[NodeOf(keys[i])];
        if (split.kind == SplitKind::kThreshold && split.threshold < missing)
            ends.push_back(split.threshold + 1U);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    classes->some_code.resize(ends.size());
    uint32_t first = 0;
    for (uint32_t run = 0; run < ends.size(); first = ends[run++]) {
        std::fill(classes->of.begin() + first, classes->of.begin() + ends[run], run);
        classes->some_code[run] = static_cast<uint16_t>(first);
    }
}

// A level that a split asks for is by itself. Whether there are any.
bool SplitByLevels(const Tree& tree, const std::vector<uint32_t>& keys, size_t begin, size_t end,
                   CodeClasses* classes) {
    std::vector<uint8_t> is_asked;
    for (size_t i = begin; i < end; i++) {
        const Split& split = tree.splits[NodeOf(keys[i])];
        if (split.kind != SplitKind::kLevel || split.threshold >= classes->of.size())
            continue;
        is_asked.resize(classes->of.size());
        is_asked[split.threshold] = 1;
    }
    if (is_asked.empty())
        return false;
    const size_t before = classes->count();
    Renumber(
        before + is_asked.size(),
        [&](size_t code) { return is_asked[code] != 0 ? before + code : classes->of[code]; }, classes);
    return true;
}

// By subsets, each distinct one once. Whether there are any.
bool SplitBySubsets(const Tree& tree, const std::vector<uint32_t>& keys, size_t begin, size_t end,
                    const FeatureSpec& feature, Interrupt& interrupt, CodeClasses* classes) {
    std::set<std::vector<uint64_t>> seen;
    for (size_t i = begin; i < end; i++) {
        const size_t node = NodeOf(keys[i]);
        const Split& split = tree.splits[node];
        if (split.kind != SplitKind::kSubset)
            continue;
        const auto words = tree.subset_words.begin() + split.subset;
        if (!seen.emplace(words, words + static_cast<ptrdiff_t>(SubsetWords(feature.cells()))).second)
            continue;
        interrupt.Poll();
        Renumber(
            2 * classes->count(),
            [&](size_t code) {
                const bool left = tree.SplitGoesLeft(node, static_cast<uint16_t>(code), feature.missing());
                return 2 * classes->of[code] + (left ? 1 : 0);
            },
            classes);
    }
    return !seen.empty();
}

}  // namespace

void ClassesOf(const Tree& tree, const std::vector<FeatureSpec>& features, const ReferenceMasses& masses,
               Interrupt& interrupt, std::vector<CodeClasses>* result) {
    std::vector<uint32_t> keys;
    keys.reserve(tree.split_count());
    for (size_t node = 0; node < tree.split_count(); node++)
        keys.push_back(KeyOf(tree.splits[node].feature, node));
    std::sort(keys.begin(), keys.end());
    size_t count = 0;
    for (size_t begin = 0, end; begin < keys.size(); begin = end, count++) {
        const uint16_t feature = FeatureOf(keys[begin]);
        for (end = begin; end < keys.size() && FeatureOf(keys[end]) == feature;)
            end++;
        if (count == result->size())
            result->emplace_back();
        CodeClasses& classes = (*result)[count];
        classes.feature = feature;
        classes.of.resize(features[feature].cells());
        SplitByThresholds(tree, keys, begin, end, &classes);
        const bool by_level = SplitByLevels(tree, keys, begin, end, &classes);
        if (!SplitBySubsets(tree, keys, begin, end, features[feature], interrupt, &classes) && !by_level) {
            classes.masses.resize(classes.count());
            for (size_t run = 0; run < classes.count(); run++)
                classes.masses[run] =
                    masses.Between(feature, run == 0 ? 0 : classes.ends[run - 1], classes.ends[run]);
            continue;
        }
        classes.masses.assign(classes.count(), 0.0);
        for (size_t code = 0; code < classes.of.size(); code++)
            classes.masses[classes.of[code]] += masses.of(feature)[code];
    }
    result->resize(count);
}

}  // namespace dpboost
