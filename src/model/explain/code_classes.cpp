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

void SortOnce(std::vector<uint32_t>* numbers) {
    std::sort(numbers->begin(), numbers->end());
    numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
}

// Leaves one node of each distinct subset.
void KeepDistinct(const Tree& tree, const FeatureSpec& feature, std::vector<size_t>* nodes) {
    std::set<std::vector<uint64_t>> seen;
    const auto words = static_cast<ptrdiff_t>(SubsetWords(feature.cells()));
    const auto is_seen = [&](size_t node) {
        const auto begin = tree.subset_words.begin() + tree.splits[node].subset;
        return !seen.emplace(begin, begin + words).second;
    };
    nodes->erase(std::remove_if(nodes->begin(), nodes->end(), is_seen), nodes->end());
}

}  // namespace

void ClassFinder::Find(const Tree& tree) {
    keys_.clear();
    for (size_t node = 0; node < tree.split_count(); node++)
        keys_.push_back(KeyOf(tree.splits[node].feature, node));
    std::sort(keys_.begin(), keys_.end());
    // Memory of what is not needed now is kept.
    std::move(classes_.begin(), classes_.end(), std::back_inserter(spare_));
    classes_.clear();
    for (size_t begin = 0, end; begin < keys_.size(); begin = end) {
        const uint16_t feature = FeatureOf(keys_[begin]);
        for (end = begin; end < keys_.size() && FeatureOf(keys_[end]) == feature;)
            end++;
        place_of_[feature] = classes_.size();
        if (spare_.empty())
            spare_.emplace_back();
        classes_.push_back(std::move(spare_.back()));
        spare_.pop_back();
        FindOne(tree, begin, end, &classes_.back());
    }
}

// Codes without a threshold between them are together; missing is by itself.
void ClassFinder::FindOne(const Tree& tree, size_t begin, size_t end, CodeClasses* classes) {
    classes->feature = FeatureOf(keys_[begin]);
    const FeatureSpec& feature = features_[classes->feature];
    const uint32_t missing = feature.missing();
    std::vector<uint32_t>& ends = classes->ends;
    ends.assign({missing, missing + 1});
    levels_.clear();
    subsets_.clear();
    for (size_t i = begin; i < end; i++) {
        const Split& split = tree.splits[NodeOf(keys_[i])];
        if (split.kind == SplitKind::kSubset)
            subsets_.push_back(NodeOf(keys_[i]));
        else if (split.kind == SplitKind::kLevel && split.threshold < feature.cells())
            levels_.push_back(split.threshold);
        else if (split.kind == SplitKind::kThreshold && split.threshold < missing)
            ends.push_back(split.threshold + 1U);
    }
    SortOnce(&ends);
    if (!levels_.empty() || !subsets_.empty()) {
        SplitFurther(tree, feature, classes);
    } else {
        classes->of_run.resize(ends.size());
        classes->some_code.resize(ends.size());
        for (uint32_t run = 0, first = 0; run < ends.size(); first = ends[run++]) {
            classes->of_run[run] = run;
            classes->some_code[run] = static_cast<uint16_t>(first);
        }
    }
    classes->masses.assign(classes->count(), 0.0);
    classes->ForRuns([&](uint32_t at, uint32_t first, uint32_t last) {
        classes->masses[at] += masses_.Between(classes->feature, first, last);
    });
}

// Numbers classes from 0 by the runs that have them first, where `number` tells runs apart by values below `numbers`.
template <typename Number>
void ClassFinder::Renumber(size_t numbers, const Number& number, CodeClasses* classes) {
    found_.assign(numbers, kNone);
    classes->some_code.clear();
    uint32_t first = 0;
    for (size_t run = 0; run < classes->ends.size(); first = classes->ends[run++]) {
        uint32_t& place = found_[number(run, first)];
        if (place == kNone) {
            place = static_cast<uint32_t>(classes->count());
            classes->some_code.push_back(static_cast<uint16_t>(first));
        }
        classes->of_run[run] = place;
    }
}

// With levels and subsets: a level that a split asks for is by itself, and codes that thresholds leave together are
// together where every subset has both or none of them.
void ClassFinder::SplitFurther(const Tree& tree, const FeatureSpec& feature, CodeClasses* classes) {
    std::vector<uint32_t>& ends = classes->ends;
    between_ = ends;
    SortOnce(&levels_);
    KeepDistinct(tree, feature, &subsets_);
    for (const uint32_t level : levels_) {
        ends.push_back(level + 1);
        if (level > 0)
            ends.push_back(level);
    }
    const auto goes_left = [&](size_t node, uint32_t code) {
        return tree.SplitGoesLeft(node, static_cast<uint16_t>(code), feature.missing());
    };
    for (const size_t node : subsets_) {
        interrupt_.Poll();
        for (uint32_t code = 1; code < feature.cells(); code++)
            if (goes_left(node, code) != goes_left(node, code - 1))
                ends.push_back(code);
        SortOnce(&ends);
    }
    SortOnce(&ends);
    classes->of_run.resize(ends.size());
    const auto by_level = [&](size_t, uint32_t first) {
        const auto level = std::lower_bound(levels_.begin(), levels_.end(), first);
        if (level != levels_.end() && *level == first)
            return between_.size() + static_cast<size_t>(level - levels_.begin());
        return static_cast<size_t>(std::upper_bound(between_.begin(), between_.end(), first) -
                                   between_.begin());
    };
    Renumber(between_.size() + levels_.size(), by_level, classes);
    for (const size_t node : subsets_) {
        interrupt_.Poll();
        const auto by_subset = [&](size_t run, uint32_t first) {
            return 2 * size_t{classes->of_run[run]} + (goes_left(node, first) ? 1 : 0);
        };
        Renumber(2 * classes->count(), by_subset, classes);
    }
}

}  // namespace dpboost
