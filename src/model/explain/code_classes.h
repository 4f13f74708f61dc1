// Which codes of a feature a tree cannot tell apart, because they go the same way at every split on the feature. A tree
// knows few such classes, however many bins or levels a feature has, so explanations of trees are sums over classes, and
// classes are runs of codes: nothing here is held per code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/reference_masses.h"
#include "model/tree.h"

namespace dpboost {

struct CodeClasses {
    uint16_t feature = 0;
    std::vector<uint32_t> ends;       // of runs of codes, one behind the other; the last ends with missing
    std::vector<uint32_t> of_run;     // per run: its class, numbered from 0
    std::vector<uint16_t> some_code;  // per class: one of its codes
    std::vector<double> masses;       // per class: what the reference gives it

    size_t count() const noexcept { return some_code.size(); }

    // Calls visit(class, first code, end) for every run, ascending.
    template <typename Visit>
    void ForRuns(const Visit& visit) const {
        uint32_t first = 0;
        for (size_t run = 0; run < ends.size(); first = ends[run++])
            visit(of_run[run], first, ends[run]);
    }
};

// A set of classes: 64 in a word.
constexpr size_t ClassWords(size_t classes) {
    return (classes + 63) / 64;
}
template <typename Use>
inline __attribute__((always_inline)) void ForClasses(const uint64_t* set, size_t words, const Use& use) {
    for (size_t word = 0; word < words; word++)
        for (uint64_t bits = set[word]; bits != 0; bits &= bits - 1)
            use(word * 64 + static_cast<size_t>(__builtin_ctzll(bits)));
}

// Of one tree after the other, all on one list of features. Memory is used again for every tree.
class ClassFinder {
  public:
    ClassFinder(const std::vector<FeatureSpec>& features, const ReferenceMasses& masses, Interrupt& interrupt)
        : features_(features), masses_(masses), interrupt_(interrupt), place_of_(features.size()) {}

    // Of every feature that the tree splits on, ascending; classes() tells how many.
    void Find(const Tree& tree);
    const std::vector<CodeClasses>& classes() const noexcept { return classes_; }
    // Of a feature that the tree splits on, among them.
    size_t PlaceOf(uint16_t feature) const noexcept { return place_of_[feature]; }

  private:
    void FindOne(const Tree& tree, size_t begin, size_t end, CodeClasses* classes);
    void SplitFurther(const Tree& tree, const FeatureSpec& feature, CodeClasses* classes);
    template <typename Number>
    void Renumber(size_t numbers, const Number& number, CodeClasses* classes);

    const std::vector<FeatureSpec>& features_;
    const ReferenceMasses& masses_;
    Interrupt& interrupt_;
    std::vector<CodeClasses> classes_, spare_;
    std::vector<size_t> place_of_;  // per feature
    // Of one tree: its nodes by their feature. Of one feature: levels and subsets that are asked for.
    std::vector<uint32_t> keys_, levels_, between_, found_;
    std::vector<size_t> subsets_;
};

}  // namespace dpboost
