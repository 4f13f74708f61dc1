#include "model/code_runs.h"

#include <algorithm>

namespace dpboost {

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

}  // namespace dpboost
