#include "learner/tree/split_search.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "mechanism/noisy_sum.h"
#include "mechanism/selection.h"

namespace dpboost {
namespace {

SamplingRate HistogramRate(const Plan& plan) {
    return SamplingRate::FromProbability(plan.SamplingRate(plan.Find(kHistogramsMechanism)));
}

size_t FirstNode(unsigned level) {
    return (size_t{1} << level) - 1;
}

}  // namespace

SplitSearch::SplitSearch(const Dataset& dataset, const FrameworkOptions& options, WorkerPool& pool)
    : dataset_(dataset),
      options_(options),
      pool_(pool),
      l2_steps_(static_cast<int64_t>(std::nearbyint(options.l2 * kClipSteps))),
      rows_(dataset),
      scratch_(static_cast<size_t>(pool.workers())),
      gradient_unit_(options.gradient_clip / kClipSteps),
      hessian_unit_(options.hessian_clip / kClipSteps) {}

size_t SplitSearch::Bytes(const FrameworkOptions& options, const std::vector<FeatureSpec>& features) {
    size_t cells = 0;
    for (const FeatureSpec& feature : features)
        cells += SplitCandidates::MaxCells(feature, options.candidates, options.candidate_count);
    if (options.structure == StructurePart::kTotallyRandom)
        return options.uses_sketch() ? cells * sizeof(CellSum) : 0;
    const size_t nodes = size_t{1} << (options.depth - 1);
    return nodes * cells * (sizeof(CellSum) + (options.leaves_from_structure() ? 2 * sizeof(int64_t) : 0));
}

SplitSearch::Layout SplitSearch::LayoutOf(const SplitCandidates& candidates,
                                          const std::vector<uint16_t>& chosen) const {
    Layout layout;
    for (const uint16_t feature : chosen) {
        layout.offset.push_back(layout.cells);
        layout.cells += candidates.Cells(feature);
    }
    return layout;
}

// Draws who takes part and sends them down the splits found so far.
void SplitSearch::Participate(SamplingRate rate, const Tree& tree, unsigned level,
                              const DrawContext& context) {
    std::vector<uint32_t> rows = rows_.Release();
    DrawParticipants(dataset_, rate, context.random, context.interrupt, &rows);
    rows_.Reset(std::move(rows));
    for (unsigned above = 0; above < level; above++)
        rows_.Descend(tree, above, context.interrupt);
}

// Raw sums over the candidates' cells, for every node and chosen feature.
void SplitSearch::SumCells(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                           const Layout& layout, Interrupt& interrupt) {
    const size_t nodes = rows_.nodes();
    sums_.assign(nodes * layout.cells, CellSum{});
    pool_.Run(nodes * chosen.size(), interrupt, [&](int worker, size_t item) {
        const size_t place = item / chosen.size();
        const size_t j = item % chosen.size();
        std::vector<CellSum>& codes = scratch_[static_cast<size_t>(worker)];
        codes.assign(dataset_.features()[chosen[j]].cells(), CellSum{});
        rows_.AddTo(place, chosen[j], codes.data(), worker == 0 ? &interrupt : nullptr);
        const std::vector<uint16_t>& cell_of_code = candidates.CellOfCode(chosen[j]);
        CellSum* const cells = &sums_[place * layout.cells + layout.offset[j]];
        for (size_t code = 0; code < codes.size(); code++) {
            cells[cell_of_code[code]].gradient += codes[code].gradient;
            cells[cell_of_code[code]].weight += codes[code].weight;
        }
    });
}

// ---- the exponential mechanism
// -------------------------------------------------------------------------------------

// Scores every live candidate of a node and spends the charge on one; returns its place in splits_. A node
// without a live candidate chooses among one useless split, so that the number of draws depends on no row.
size_t SplitSearch::SelectSplit(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                                const Layout& layout, const Tree& tree, size_t node, size_t place,
                                Charge charge, NoiseSource& noise) {
    splits_.clear();
    utilities_.clear();
    for (size_t j = 0; j < chosen.size(); j++) {
        const uint16_t feature = chosen[j];
        const CellSum* const cells = &sums_[place * layout.cells + layout.offset[j]];
        CellSum total;
        for (size_t cell = 0; cell < candidates.Cells(feature); cell++) {
            total.gradient += cells[cell].gradient;
            total.weight += cells[cell].weight;
        }
        const bool ordered = dataset_.features()[feature].ordered();
        live_.Find(tree, node, candidates, feature);
        live_.Splits(candidates, feature, true, &indices_);
        CellSum left;
        size_t summed = 0;
        for (const uint32_t index : indices_) {
            if (!ordered)
                left = cells[index];
            for (; ordered && summed <= index; summed++) {
                left.gradient += cells[summed].gradient;
                left.weight += cells[summed].weight;
            }
            splits_.push_back(candidates.At(feature, index));
            utilities_.push_back(SplitUtility(left.gradient, left.weight, total.gradient - left.gradient,
                                              total.weight - left.weight, l2_steps_));
        }
    }
    if (splits_.empty()) {
        splits_.push_back(candidates.At(chosen[0], 0));
        utilities_.push_back(0);
    }
    return SelectPrivately(std::move(charge), noise, utilities_.data(), utilities_.size());
}

Tree SplitSearch::GrowByExponential(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                                    const int32_t* gradients, const DrawContext& context) {
    Tree tree = Tree::OfDepth(static_cast<unsigned>(options_.depth));
    const Layout layout = LayoutOf(candidates, chosen);
    Participate(SamplingRate::All(), tree, 0, context);
    for (unsigned level = 0; level < tree.depth; level++) {
        if (level > 0)
            rows_.Descend(tree, level - 1, context.interrupt);
        rows_.SetValues(gradients, nullptr, context.interrupt);
        SumCells(candidates, chosen, layout, context.interrupt);
        const MechanismId id = context.plan.Find(SelectionMechanism(static_cast<int>(level)));
        for (size_t place = 0; place < rows_.nodes(); place++) {
            const size_t node = FirstNode(level) + place;
            tree.splits[node] = splits_[SelectSplit(candidates, chosen, layout, tree, node, place,
                                                    context.plan.Take(id), context.noise)];
        }
        context.interrupt.Poll();
    }
    return tree;
}

// ---- noisy histograms
// ----------------------------------------------------------------------------------------------

// Turns the raw sums into noisy ones; nothing reads the raw ones afterwards.
void SplitSearch::AddNoise(const DrawContext& context) {
    noisy_gradients_.resize(sums_.size());
    noisy_hessians_.resize(sums_.size());
    for (size_t i = 0; i < sums_.size(); i++) {
        noisy_gradients_[i] = sums_[i].gradient;
        noisy_hessians_[i] = sums_[i].weight;
    }
    const MechanismId id = context.plan.Find(kHistogramsMechanism);
    AddGaussianNoise(context.plan.Take(id), context.noise,
                     SumBlock{noisy_hessians_.data(), noisy_hessians_.size()},
                     SumBlock{noisy_gradients_.data(), noisy_gradients_.size()});
    hessian_variance_ = std::pow(context.plan.ScaleInSteps(id, 0) * hessian_unit_, 2);
    gradient_variance_ = std::pow(context.plan.ScaleInSteps(id, 1) * gradient_unit_, 2);
}

NoisySide SplitSearch::Cell(size_t index) const {
    return {static_cast<double>(noisy_gradients_[index]) * gradient_unit_,
            static_cast<double>(noisy_hessians_[index]) * hessian_unit_, gradient_variance_,
            hessian_variance_};
}

// The live candidate with the best noisy score. Cells that cannot hold rows hold only noise and are left out.
Split SplitSearch::BestSplit(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                             const Layout& layout, const Tree& tree, size_t node, size_t place,
                             NoisySide* best_left, NoisySide* best_right) {
    Split best = candidates.At(chosen[0], 0);
    double best_score = -1;
    for (size_t j = 0; j < chosen.size(); j++) {
        const uint16_t feature = chosen[j];
        const size_t first = place * layout.cells + layout.offset[j];
        const bool ordered = dataset_.features()[feature].ordered();
        live_.Find(tree, node, candidates, feature);
        live_.Splits(candidates, feature, true, &indices_);
        const auto sum = [&](size_t from, size_t to) {
            NoisySide side;
            for (size_t cell = from; cell < to; cell++) {
                if (live_.cells()[cell])
                    side.Add(Cell(first + cell));
            }
            return side;
        };
        const NoisySide total = sum(0, candidates.Cells(feature));
        NoisySide left;
        size_t summed = 0;
        for (const uint32_t index : indices_) {
            if (ordered)
                left.Add(sum(summed, index + 1));
            else
                left = sum(index, index + 1);
            summed = index + 1;
            const NoisySide right = total.Without(left);
            const double score = NoisySideScore(left, options_.l2) + NoisySideScore(right, options_.l2);
            if (score > best_score) {
                best_score = score;
                best = candidates.At(feature, index);
                *best_left = left;
                *best_right = right;
            }
        }
        if (indices_.empty() && best_score < 0)  // nothing to divide so far: all rows go one way
            *best_left = *best_right = total;
    }
    return best;
}

Tree SplitSearch::GrowByHistogram(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                                  const int32_t* gradients, const int32_t* hessians,
                                  const DrawContext& context, std::vector<NoisySide>* leaves) {
    if (options_.structure == StructurePart::kPartiallyRandom)
        return GrowRandomCandidates(candidates, chosen, gradients, hessians, context, leaves);
    Tree tree = Tree::OfDepth(static_cast<unsigned>(options_.depth));
    leaves->assign(tree.leaf_count(), NoisySide{});
    const Layout layout = LayoutOf(candidates, chosen);
    const bool root_only = HistogramsPerTree(options_) == 1;
    const SamplingRate rate = HistogramRate(context.plan);
    for (unsigned level = 0; level < tree.depth; level++) {
        if (level == 0 || !root_only) {
            if (level == 0 || !rate.IsAll())
                Participate(rate, tree, level, context);
            else
                rows_.Descend(tree, level - 1, context.interrupt);
            rows_.SetValues(gradients, hessians, context.interrupt);
            SumCells(candidates, chosen, layout, context.interrupt);
            AddNoise(context);
        }
        if (level == 0) {
            root_hessians_.resize(layout.cells);
            for (size_t cell = 0; cell < layout.cells; cell++)
                root_hessians_[cell] = static_cast<double>(noisy_hessians_[cell]);
        }
        for (size_t place = 0; place < size_t{1} << level; place++) {
            const size_t node = FirstNode(level) + place;
            NoisySide left, right;
            tree.splits[node] =
                BestSplit(candidates, chosen, layout, tree, node, root_only ? 0 : place, &left, &right);
            if (level + 1 == tree.depth) {
                (*leaves)[2 * place] = left;
                (*leaves)[2 * place + 1] = right;
            }
        }
        context.interrupt.Poll();
    }
    return tree;
}

// Raw sums left and right of one split per node and chosen feature.
void SplitSearch::SumSides(const std::vector<uint16_t>& chosen, const std::vector<Split>& splits,
                           const Tree& tree, Interrupt& interrupt) {
    sums_.assign(2 * splits.size(), CellSum{});
    pool_.Run(splits.size(), interrupt, [&](int worker, size_t item) {
        const FeatureSpec& spec = dataset_.features()[splits[item].feature];
        std::vector<CellSum>& codes = scratch_[static_cast<size_t>(worker)];
        codes.assign(spec.cells(), CellSum{});
        rows_.AddTo(item / chosen.size(), splits[item].feature, codes.data(),
                    worker == 0 ? &interrupt : nullptr);
        for (size_t code = 0; code < codes.size(); code++) {
            const bool left =
                GoesLeft(splits[item], tree.subset_words.data(), static_cast<uint16_t>(code), spec.missing());
            CellSum& side = sums_[2 * item + (left ? 0 : 1)];
            side.gradient += codes[code].gradient;
            side.weight += codes[code].weight;
        }
    });
}

Tree SplitSearch::GrowRandomCandidates(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen,
                                       const int32_t* gradients, const int32_t* hessians,
                                       const DrawContext& context, std::vector<NoisySide>* leaves) {
    Tree tree = Tree::OfDepth(static_cast<unsigned>(options_.depth));
    leaves->assign(tree.leaf_count(), NoisySide{});
    const SamplingRate rate = HistogramRate(context.plan);
    for (unsigned level = 0; level < tree.depth; level++) {
        std::vector<Split> splits;
        std::vector<uint8_t> live;
        for (size_t node = FirstNode(level); node < FirstNode(level + 1); node++) {
            for (const uint16_t feature : chosen) {
                bool divides = false;
                splits.push_back(DrawRandomSplit(candidates, tree, node, feature, context.random, &divides));
                live.push_back(divides);
            }
        }
        if (level == 0 || !rate.IsAll())
            Participate(rate, tree, level, context);
        else
            rows_.Descend(tree, level - 1, context.interrupt);
        rows_.SetValues(gradients, hessians, context.interrupt);
        SumSides(chosen, splits, tree, context.interrupt);
        AddNoise(context);
        for (size_t place = 0; place < rows_.nodes(); place++) {
            double best_score = -1;
            for (size_t item = place * chosen.size(); item < (place + 1) * chosen.size(); item++) {
                const NoisySide left = Cell(2 * item), right = Cell(2 * item + 1);
                const double score =
                    live[item] ? NoisySideScore(left, options_.l2) + NoisySideScore(right, options_.l2)
                               : -0.5;
                if (score <= best_score)
                    continue;
                best_score = score;
                tree.splits[FirstNode(level) + place] = splits[item];
                if (level + 1 == tree.depth) {
                    (*leaves)[2 * place] = left;
                    (*leaves)[2 * place + 1] = right;
                }
            }
        }
        context.interrupt.Poll();
    }
    return tree;
}

// ---- the iterative Hessian's sketch
// --------------------------------------------------------------------------------

std::vector<double> SplitSearch::SketchHessians(const SplitCandidates& candidates,
                                                const std::vector<uint16_t>& ordered,
                                                const int32_t* gradients, const int32_t* hessians,
                                                const DrawContext& context) {
    const Layout layout = LayoutOf(candidates, ordered);
    const Tree root = Tree::OfDepth(0);
    Participate(SamplingRate::All(), root, 0, context);
    rows_.SetValues(gradients, hessians, context.interrupt);
    SumCells(candidates, ordered, layout, context.interrupt);
    std::vector<int64_t> noisy_hessians;
    for (size_t j = 0; j < ordered.size(); j++) {
        for (size_t cell = 0; cell + 1 < candidates.Cells(ordered[j]); cell++)
            noisy_hessians.push_back(sums_[layout.offset[j] + cell].weight);
    }
    AddGaussianNoise(context.plan.Take(context.plan.Find(kCandidatesMechanism)), context.noise,
                     SumBlock{noisy_hessians.data(), noisy_hessians.size()});
    return std::vector<double>(noisy_hessians.begin(), noisy_hessians.end());
}

}  // namespace dpboost
