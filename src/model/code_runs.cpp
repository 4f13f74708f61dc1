#include "model/code_runs.h"

#include <algorithm>

#include "base/error.h"
#include "model/export/exported_model.h"

namespace dpboost {

void CheckExportedText(size_t size) {
    if (size > kMostExportedText)
        throw Error(ErrorCode::kLimitExceeded, "the model is too large to be written so",
                    "It would have more than 128 MB.", "dpboost_export writes it as bytes.");
}

void CheckExportedBins(const std::vector<FeatureSpec>& features) {
    size_t bins = 0;
    for (const FeatureSpec& feature : features)
        bins += feature.bins();
    if (bins > kMaxExportedBins)
        throw Error(
            ErrorCode::kLimitExceeded, "the exported model is too large",
            "Its features may have " + std::to_string(kMaxExportedBins) + " bins and levels together.");
}

std::vector<uint16_t> ReachableCodes(const FeatureSpec& feature) {
    std::vector<uint16_t> codes;
    codes.reserve(feature.bins());
    const std::vector<double>& edges = feature.grid().edges;
    for (uint32_t code = 0; code < feature.bins(); code++) {
        const bool reachable = !feature.ordered() || code == 0 ||
                               edges[code - 1] < (code < edges.size() ? edges[code] : feature.upper());
        if (reachable)
            codes.push_back(static_cast<uint16_t>(code));
    }
    return codes;
}

std::vector<CodeRun> RunsOfSplit(const Tree& tree, size_t node, const FeatureSpec& feature,
                                 const std::vector<uint16_t>& codes) {
    const Split& split = tree.splits[node];
    if (split.kind != SplitKind::kThreshold)
        return MakeRuns(codes, [&](uint16_t code) -> int32_t {
            return tree.SplitGoesLeft(node, code, feature.missing()) ? 1 : 0;
        });
    const auto right = std::upper_bound(codes.begin(), codes.end(), split.threshold);
    std::vector<CodeRun> runs;
    if (right != codes.begin())
        runs.push_back({*(right - 1), 1});
    if (right != codes.end())
        runs.push_back({codes.back(), 0});
    return runs;
}

std::optional<int32_t> OneLeafBelow(const Tree& tree, size_t node, unsigned level, size_t outputs,
                                    size_t output) {
    const size_t width = size_t{1} << (tree.depth - level);
    const size_t first = (node + 1 - (size_t{1} << level)) * width;
    const int32_t value = tree.leaves[first * outputs + output];
    for (size_t i = 1; i < width; i++)
        if (tree.leaves[(first + i) * outputs + output] != value)
            return std::nullopt;
    return value;
}

}  // namespace dpboost
