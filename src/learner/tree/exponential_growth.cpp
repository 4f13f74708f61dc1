#include "learner/tree/exponential_growth.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "learner/tree/split_score.h"
#include "mechanism/exponential.h"

namespace dpboost {
namespace {

constexpr size_t kTogether = size_t{1} << 18;  // candidates that are scored together, or one node's

}  // namespace

std::string SplitsMechanism(int level) {
    return "splits of level " + std::to_string(level);
}

std::vector<MechanismRequest> SplitsMechanisms(const SplitsRequest& request) {
    if (request.candidates > ExponentialSampler::kMaxCandidates)
        throw Error(ErrorCode::kLimitExceeded, "too many split candidates",
                    "The exponential mechanism chooses among at most 4194304.",
                    "Give a lower \"candidate_count\", or use fewer features or levels.");
    std::vector<MechanismRequest> mechanisms;
    for (int level = 0; level < request.depth; level++) {
        MechanismRequest splits;
        splits.name = SplitsMechanism(level);
        splits.kind = EventKind::kExponential;
        splits.count = request.count;
        splits.parts = request.parts << level;
        splits.rest = request.rest / request.depth;
        splits.dimensions = {{kUtilitySensitivity, 1, request.candidates}};
        mechanisms.push_back(std::move(splits));
    }
    return mechanisms;
}

Tree GrowByExponential(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen, int depth,
                       double l2, NodeSums& sums, Releaser& releaser, Interrupt& interrupt) {
    const auto l2_steps = static_cast<int64_t>(std::nearbyint(l2 * kClipSteps));
    Tree tree = Tree::OfDepth(static_cast<unsigned>(depth));
    for (unsigned level = 0; level < tree.depth; level++) {
        if (level > 0)
            sums.Descend(tree, level - 1, interrupt);
        const MechanismId id = releaser.Find(SplitsMechanism(static_cast<int>(level)));
        const size_t first = (size_t{1} << level) - 1;
        for (size_t place = 0; place < sums.nodes();) {
            std::vector<NodeCandidates> live;
            for (size_t count = 0;
                 place + live.size() < sums.nodes() && (live.empty() || count < kTogether);) {
                live.push_back(LiveCandidates(candidates, chosen, tree, first + place + live.size()));
                count += live.back().size();
            }
            std::vector<RawSums> utilities = sums.Utilities(place, live, candidates, l2_steps, interrupt);
            for (size_t i = 0; i < live.size(); i++, place++) {
                const Candidate& taken = live[i][releaser.Select(id, std::move(utilities[i]))];
                tree.splits[first + place] = candidates.At(taken.feature, taken.index);
            }
            interrupt.Poll();
        }
    }
    return tree;
}

}  // namespace dpboost
