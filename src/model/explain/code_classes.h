// Which codes of a feature a tree cannot tell apart, because they go the same way at every split on the feature. A tree
// knows few such classes, however many bins or levels a feature has, so explanations of trees are sums over classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/reference_masses.h"
#include "model/tree.h"

namespace dpboost {

// Neighbouring codes of one class, from where the run before ends.
struct ClassRun {
    uint32_t end;
    uint32_t number;  // of the class, from 0 in the order of first codes
};

struct CodeClasses {
    uint16_t feature = 0;
    std::vector<ClassRun> runs;       // of all codes, the missing one last
    std::vector<uint16_t> some_code;  // per class: one of its codes
    std::vector<double> masses;  // per class: what the reference gives it; 0 exactly where it gives nothing

    size_t count() const noexcept { return some_code.size(); }
    size_t codes() const noexcept { return runs.back().end; }
    // Calls use(code, class) for every code.
    template <typename Use>
    void ForCodes(const Use& use) const {
        uint32_t code = 0;
        for (const ClassRun& run : runs)
            for (; code < run.end; code++)
                use(code, run.number);
    }
};

// Of every feature that the tree splits on, ascending. Memory of an earlier result is used again.
void ClassesOf(const Tree& tree, const std::vector<FeatureSpec>& features, const ReferenceMasses& masses,
               Interrupt& interrupt, std::vector<CodeClasses>* result);

}  // namespace dpboost
