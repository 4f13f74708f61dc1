#include "model/explain/code_classes.h"

#include <algorithm>
#include <set>
#include <utility>

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

// What the splits on one feature ask for, while a tree is looked at.
struct Questions {
    std::vector<uint32_t> cuts;    // first codes above thresholds, the missing one, and the end
    std::vector<uint32_t> levels;  // that are asked for by themselves
    bool subsets = false;

    void Read(const Tree& tree, const std::vector<uint32_t>& keys, size_t begin, size_t end,
              uint32_t missing) {
        cuts.assign({missing, missing + 1});
        levels.clear();
        subsets = false;
        for (size_t i = begin; i < end; i++) {
            const Split& split = tree.splits[NodeOf(keys[i])];
            if (split.kind == SplitKind::kThreshold && split.threshold < missing)
                cuts.push_back(split.threshold + 1U);
            if (split.kind == SplitKind::kLevel && split.threshold <= missing)
                levels.push_back(split.threshold);
            subsets = subsets || split.kind == SplitKind::kSubset;
        }
        SortOnce(&cuts);
        SortOnce(&levels);
    }
};

// Codes without a cut between them are together, but for levels that are asked for. Nothing is looked up by code.
void Divide(const Questions& questions, CodeClasses* classes) {
    classes->runs.clear();
    classes->some_code.clear();
    auto level = questions.levels.begin();
    uint32_t begin = 0;
    for (const uint32_t cut : questions.cuts) {
        uint32_t together = kNone;
        while (begin < cut) {
            const bool any = level != questions.levels.end() && *level < cut;
            const bool asked = any && *level == begin;
            const uint32_t end = asked ? begin + 1 : any ? *level : cut;
            level += asked ? 1 : 0;
            uint32_t number = asked ? kNone : together;
            if (number == kNone) {
                number = static_cast<uint32_t>(classes->count());
                classes->some_code.push_back(static_cast<uint16_t>(begin));
                together = asked ? together : number;
            }
            classes->runs.push_back({end, number});
            begin = end;
        }
    }
}

// By one more question, whose answers are looked up code by code.
template <typename Answer>
void DivideAgain(const Answer& answer, CodeClasses* classes) {
    std::vector<uint32_t> found(2 * classes->count(), kNone);
    std::vector<ClassRun> runs;
    std::vector<uint16_t> some_code;
    classes->ForCodes([&](uint32_t code, uint32_t before) {
        uint32_t& number = found[2 * before + (answer(static_cast<uint16_t>(code)) ? 1 : 0)];
        if (number == kNone) {
            number = static_cast<uint32_t>(some_code.size());
            some_code.push_back(static_cast<uint16_t>(code));
        }
        if (runs.empty() || runs.back().number != number)
            runs.push_back({0, number});
        runs.back().end = code + 1;
    });
    classes->runs = std::move(runs);
    classes->some_code = std::move(some_code);
}

// By subsets, each distinct one once.
void DivideBySubsets(const Tree& tree, const std::vector<uint32_t>& keys, size_t begin, size_t end,
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
        DivideAgain([&](uint16_t code) { return tree.SplitGoesLeft(node, code, feature.missing()); },
                    classes);
    }
}

}  // namespace

void ClassesOf(const Tree& tree, const std::vector<FeatureSpec>& features, const ReferenceMasses& masses,
               Interrupt& interrupt, std::vector<CodeClasses>* result) {
    std::vector<uint32_t> keys;
    keys.reserve(tree.split_count());
    for (size_t node = 0; node < tree.split_count(); node++)
        keys.push_back(KeyOf(tree.splits[node].feature, node));
    std::sort(keys.begin(), keys.end());
    Questions questions;
    size_t count = 0;
    for (size_t begin = 0, end; begin < keys.size(); begin = end, count++) {
        const uint16_t feature = FeatureOf(keys[begin]);
        for (end = begin; end < keys.size() && FeatureOf(keys[end]) == feature;)
            end++;
        if (count == result->size())
            result->emplace_back();
        CodeClasses& classes = (*result)[count];
        classes.feature = feature;
        questions.Read(tree, keys, begin, end, features[feature].missing());
        Divide(questions, &classes);
        if (questions.subsets)
            DivideBySubsets(tree, keys, begin, end, features[feature], interrupt, &classes);
        classes.masses.assign(classes.count(), 0.0);
        uint32_t first = 0;
        for (const ClassRun& run : classes.runs) {
            classes.masses[run.number] += masses.Between(feature, first, run.end);
            first = run.end;
        }
    }
    result->resize(count);
}

}  // namespace dpboost
