#include "learner/boosted/histogram_growth.h"

#include <utility>

#include "learner/boosted/framework_plan.h"
#include "learner/tree/split_score.h"

namespace dpboost {
namespace {

size_t FirstNode(unsigned level) {
    return (size_t{1} << level) - 1;
}

}  // namespace

Tree HistogramGrowth::Grow(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                           const KeptGradients& gradients, Run& run, std::vector<NoisySide>* leaves) {
    leaves->assign(options_.leaves(), NoisySide{});
    return options_.structure == StructurePart::kPartiallyRandom
               ? GrowByRandomCandidate(candidates, chosen, gradients, run, leaves)
               : GrowByBestCandidate(candidates, chosen, gradients, run, leaves);
}

// Brings rows to the nodes of a level: those of the level above, or a sample of its own.
void HistogramGrowth::EnterLevel(const Tree& tree, unsigned level, const KeptGradients& gradients, Run& run) {
    const Plan& plan = run.releaser.plan();
    const auto rate = SamplingRate::FromProbability(plan.SamplingRate(plan.Find(kHistogramsMechanism)));
    if (level > 0 && rate.IsAll()) {
        sums_.Descend(tree, level - 1, run.interrupt);
        return;
    }
    sums_.Begin(gradients, NodeSums::Weight::kHessian, rate, run.coins, run.interrupt);
    for (unsigned above = 0; above < level; above++)
        sums_.Descend(tree, above, run.interrupt);
}

NoisySides HistogramGrowth::Release(RawGradientSums raw, Run& run) const {
    return {run.releaser.Release(run.releaser.Find(kHistogramsMechanism), std::move(raw.hessians),
                                 std::move(raw.gradients)),
            options_.units()};
}

// Divides a node of a level; below the last one are the leaves.
void HistogramGrowth::Take(const Division& best, unsigned level, size_t place, Tree* tree,
                           std::vector<NoisySide>* leaves) {
    tree->splits[FirstNode(level) + place] = best.split;
    if (level + 1 == tree->depth) {
        (*leaves)[2 * place] = best.left;
        (*leaves)[2 * place + 1] = best.right;
    }
}

double HistogramGrowth::Score(const NoisySide& left, const NoisySide& right) const {
    return NoisySideScore(left, options_.l2) + NoisySideScore(right, options_.l2);
}

// The live candidate with the best noisy score, given a node's cells from first_cell on. Cells that cannot hold rows
// hold only noise and are left out.
HistogramGrowth::Division HistogramGrowth::BestDivision(const SplitCandidates& candidates,
                                                        const std::vector<uint16_t>& chosen,
                                                        const NoisySides& cells, size_t first_cell,
                                                        const Tree& tree, size_t node) {
    Division best;
    best.split = candidates.At(chosen[0], 0);
    for (const uint16_t feature : chosen) {
        live_.Find(tree, node, candidates, feature);
        live_.Splits(candidates, feature, true, &indices_);
        const auto sum = [&](size_t from, size_t to) {
            NoisySide side;
            for (size_t cell = from; cell < to; cell++) {
                if (live_.cells()[cell])
                    side.Add(cells[first_cell + cell]);
            }
            return side;
        };
        const NoisySide total = sum(0, candidates.Cells(feature));
        NoisySide left;
        size_t summed = 0;
        for (const uint32_t index : indices_) {
            if (candidates.features()[feature].ordered())
                left.Add(sum(summed, index + 1));
            else
                left = sum(index, index + 1);
            summed = index + 1;
            const NoisySide right = total.Without(left);
            const double score = Score(left, right);
            if (score > best.score)
                best = {candidates.At(feature, index), left, right, score};
        }
        if (indices_.empty() && best.score < 0)  // nothing to divide so far: all rows go one way
            best.left = best.right = total;
        first_cell += candidates.Cells(feature);
    }
    return best;
}

Tree HistogramGrowth::GrowByBestCandidate(const SplitCandidates& candidates,
                                          const std::vector<uint16_t>& chosen, const KeptGradients& gradients,
                                          Run& run, std::vector<NoisySide>* leaves) {
    Tree tree = Tree::OfDepth(static_cast<unsigned>(options_.depth));
    const size_t node_cells = CellLayout(candidates, chosen).cells;
    const bool root_only = options_.histograms_per_tree() == 1;
    NoisySides cells;
    for (unsigned level = 0; level < tree.depth; level++) {
        if (level == 0 || !root_only) {
            EnterLevel(tree, level, gradients, run);
            cells = Release(sums_.Histograms(candidates, chosen, run.interrupt), run);
        }
        if (level == 0)
            root_hessians_ = cells.hessians();
        for (size_t place = 0; place < size_t{1} << level; place++) {
            const Division best = BestDivision(candidates, chosen, cells, root_only ? 0 : place * node_cells,
                                               tree, FirstNode(level) + place);
            Take(best, level, place, &tree, leaves);
        }
        run.interrupt.Poll();
    }
    return tree;
}

Tree HistogramGrowth::GrowByRandomCandidate(const SplitCandidates& candidates,
                                            const std::vector<uint16_t>& chosen,
                                            const KeptGradients& gradients, Run& run,
                                            std::vector<NoisySide>* leaves) {
    Tree tree = Tree::OfDepth(static_cast<unsigned>(options_.depth));
    for (unsigned level = 0; level < tree.depth; level++) {
        std::vector<Split> splits;
        std::vector<uint8_t> live;
        for (size_t node = FirstNode(level); node < FirstNode(level + 1); node++) {
            for (const uint16_t feature : chosen) {
                bool divides = false;
                splits.push_back(DrawRandomSplit(candidates, tree, node, feature, run.structure, &divides));
                live.push_back(divides);
            }
        }
        EnterLevel(tree, level, gradients, run);
        const NoisySides sides = Release(sums_.Sides(splits, chosen.size(), run.interrupt), run);
        for (size_t place = 0; place < size_t{1} << level; place++) {
            Division best;
            for (size_t item = place * chosen.size(); item < (place + 1) * chosen.size(); item++) {
                const NoisySide left = sides[2 * item], right = sides[2 * item + 1];
                const double score = live[item] ? Score(left, right) : -0.5;
                if (score > best.score)
                    best = {splits[item], left, right, score};
            }
            Take(best, level, place, &tree, leaves);
        }
        run.interrupt.Poll();
    }
    return tree;
}

}  // namespace dpboost
