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

struct CodeClasses {
    uint16_t feature = 0;
    std::vector<uint32_t> of;         // per code: its class, numbered from 0
    std::vector<uint16_t> some_code;  // per class: one of its codes
    std::vector<double> masses;       // per class: what the reference gives it
    std::vector<uint32_t> ends;  // of runs that thresholds leave together, with missing; while it is made

    size_t count() const noexcept { return some_code.size(); }
};

// Of every feature that the tree splits on, ascending. Memory of an earlier result is used again.
void ClassesOf(const Tree& tree, const std::vector<FeatureSpec>& features, const ReferenceMasses& masses,
               Interrupt& interrupt, std::vector<CodeClasses>* result);

}  // namespace dpboost
