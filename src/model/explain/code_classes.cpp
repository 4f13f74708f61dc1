#include "model/explain/code_classes.h"

#include <algorithm>
#include <set>

namespace dpboost {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

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

// By thresholds: codes without one between them are together. Missing is by itself.
void SplitByThresholds(const Tree& tree, const std::vector<size_t>& nodes, CodeClasses* classes) {
    std::vector<uint8_t> is_last(classes->of.size(), 0);
    for (const size_t node : nodes)
        if (tree.splits[node].kind == SplitKind::kThreshold && tree.splits[node].threshold < is_last.size())
            is_last[tree.splits[node].threshold] = 1;
    is_last[is_last.size() - 2] = 1;
    size_t run = 0;
    Renumber(
        is_last.size(), [&](size_t code) { return is_last[code] != 0 ? run++ : run; }, classes);
}

// By levels and subsets, each distinct one once.
void SplitByOthers(const Tree& tree, const std::vector<size_t>& nodes, const FeatureSpec& feature,
                   Interrupt& interrupt, CodeClasses* classes) {
    std::set<std::vector<uint64_t>> seen;
    for (const size_t node : nodes) {
        const Split& split = tree.splits[node];
        if (split.kind == SplitKind::kThreshold)
            continue;
        const auto words = tree.subset_words.begin() + split.subset;
        const size_t size = split.kind == SplitKind::kSubset ? SubsetWords(feature.cells()) : 0;
        std::vector<uint64_t> question(words, words + static_cast<ptrdiff_t>(size));
        if (question.empty())
            question.push_back(split.threshold);
        question.push_back(static_cast<uint64_t>(split.kind));
        if (!seen.insert(std::move(question)).second)
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
}

}  // namespace

std::vector<CodeClasses> ClassesOf(const Tree& tree, const std::vector<FeatureSpec>& features,
                                   const ReferenceMasses& masses, Interrupt& interrupt) {
    std::vector<size_t> order(tree.split_count());
    for (size_t node = 0; node < order.size(); node++)
        order[node] = node;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return tree.splits[a].feature < tree.splits[b].feature; });
    std::vector<CodeClasses> result;
    for (size_t begin = 0, end; begin < order.size(); begin = end) {
        const uint16_t feature = tree.splits[order[begin]].feature;
        for (end = begin; end < order.size() && tree.splits[order[end]].feature == feature;)
            end++;
        const std::vector<size_t> nodes(order.begin() + static_cast<ptrdiff_t>(begin),
                                        order.begin() + static_cast<ptrdiff_t>(end));
        CodeClasses& classes = result.emplace_back();
        classes.feature = feature;
        classes.of.resize(features[feature].cells());
        SplitByThresholds(tree, nodes, &classes);
        SplitByOthers(tree, nodes, features[feature], interrupt, &classes);
        classes.masses.assign(classes.count(), 0.0);
        for (size_t code = 0; code < classes.of.size(); code++)
            classes.masses[classes.of[code]] += masses.of(feature)[code];
    }
    return result;
}

}  // namespace dpboost
