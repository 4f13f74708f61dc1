// A feature's codes as a reader elsewhere meets them, for the exports: neighbouring codes that lead to the same become
// one run of values. An Encoder clamps values to the declared range, so codes beyond its upper end and bins without
// width hold no value and are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataset/feature.h"
#include "model/tree.h"

namespace dpboost {

// Values up to the edge that ends a run (and above the run before) have the outcome; the last run has no end.
struct CodeRun {
    uint16_t last_code;  // numeric: the run ends at this bin's upper edge; levels: with this level
    int32_t outcome;
};

// The codes that some value of a numeric feature can have, or all but missing of other features; ascending.
std::vector<uint16_t> ReachableCodes(const FeatureSpec& feature);

// Text of an export grows with bins times nodes. Throws Error(kLimitExceeded) when there is too much to go on.
constexpr size_t kMostExportedText = size_t{128} << 20;
void CheckExportedText(size_t size);
// Likewise for what is held of each bin and level while a model is written.
void CheckExportedBins(const std::vector<FeatureSpec>& features);

// Runs of the codes by an outcome for each code; at least one.
template <typename Outcome>
std::vector<CodeRun> MakeRuns(const std::vector<uint16_t>& codes, const Outcome& outcome) {
    std::vector<CodeRun> runs;
    for (const uint16_t code : codes) {
        const int32_t value = outcome(code);
        if (runs.empty() || runs.back().outcome != value)
            runs.push_back({code, value});
        runs.back().last_code = code;
    }
    return runs;
}

// The runs of a threshold, or of any other split on a numeric feature, with outcome 1 for "goes left".
std::vector<CodeRun> RunsOfSplit(const Tree& tree, size_t node, const FeatureSpec& feature,
                                 const std::vector<uint16_t>& codes);

// The value that all leaves below a node (at this level, the root at 0) have for an output, if they have the same one.
std::optional<int32_t> OneLeafBelow(const Tree& tree, size_t node, unsigned level, size_t outputs,
                                    size_t output);

}  // namespace dpboost
