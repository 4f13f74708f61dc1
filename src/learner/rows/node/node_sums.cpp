#include "learner/rows/node/node_sums.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "learner/rows/node/node_rows.h"
#include "learner/rows/row_gradients.h"
#include "learner/tree/split_score.h"

namespace dpboost {

struct NodeSums::State {
    // What a worker needs for itself.
    struct Scratch {
        std::vector<CellSum> codes;
        std::vector<CellSum> cells;
    };
    // The candidates begin..end - 1 of a node, all of one feature.
    struct Run {
        size_t node;
        size_t begin;
        size_t end;
    };

    State(const Dataset& rows_of, WorkerPool& workers)
        : dataset(rows_of), pool(workers), rows(rows_of), scratch(static_cast<size_t>(workers.workers())) {}

    // Sums of one node per code of a feature, polling if the worker is the caller.
    const std::vector<CellSum>& SumCodes(int worker, size_t node, size_t feature, Interrupt& interrupt) {
        std::vector<CellSum>& codes = scratch[static_cast<size_t>(worker)].codes;
        codes.assign(dataset.features()[feature].cells(), CellSum{});
        rows.AddTo(node, feature, codes.data(), worker == 0 ? &interrupt : nullptr);
        return codes;
    }

    // Looks up what rows add, if they have moved since.
    void LookUp(Interrupt& interrupt) {
        if (!looked_up)
            rows.SetValues(gradients->gradients.data(),
                           weight == Weight::kRow ? nullptr : gradients->hessians.data(), interrupt);
        looked_up = true;
    }

    const Dataset& dataset;
    WorkerPool& pool;
    NodeRows rows;
    std::vector<Scratch> scratch;  // per worker
    const KeptGradients* gradients = nullptr;
    Weight weight = Weight::kRow;
    bool looked_up = false;
};

NodeSums::NodeSums(const Dataset& dataset, WorkerPool& pool)
    : state_(std::make_unique<State>(dataset, pool)) {}
NodeSums::~NodeSums() = default;

void NodeSums::Begin(const KeptGradients& gradients, Weight weight, SamplingRate rate, PrivateRandom& coins,
                     Interrupt& interrupt) {
    std::vector<uint32_t> rows = state_->rows.TakeBack();
    DrawParticipants(state_->dataset, rate, coins, interrupt, &rows);
    BeginWith(gradients, weight, std::move(rows));
}

void NodeSums::BeginWith(const KeptGradients& gradients, Weight weight, std::vector<uint32_t> rows) {
    state_->rows.Reset(std::move(rows));
    state_->gradients = &gradients;
    state_->weight = weight;
    state_->looked_up = false;
}

void NodeSums::Descend(const Tree& tree, unsigned level, Interrupt& interrupt) {
    state_->rows.Descend(tree, level, interrupt);
    state_->looked_up = false;
}

size_t NodeSums::nodes() const {
    return state_->rows.nodes();
}

double NodeSums::HistogramSensitivity(size_t features) {
    const double root =
        std::nextafter(std::sqrt(static_cast<double>(features)), std::numeric_limits<double>::infinity());
    return root * kClipSteps;
}

namespace {

// The utility of each candidate of one feature, given the sums of the node's cells.
void Score(const std::vector<CellSum>& cells, const Candidate* candidates, size_t count, bool ordered,
           int64_t l2_steps, int64_t* utilities) {
    CellSum total, left;
    for (const CellSum& cell : cells)
        total.Add(cell);
    size_t summed = 0;
    for (size_t i = 0; i < count; i++) {
        if (!ordered)
            left = cells[candidates[i].index];
        for (; ordered && summed <= candidates[i].index; summed++)
            left.Add(cells[summed]);
        utilities[i] = SplitUtility(left.gradient, left.weight, total.gradient - left.gradient,
                                    total.weight - left.weight, l2_steps);
    }
}

void Fold(const std::vector<CellSum>& codes, const std::vector<uint16_t>& cell_of_code, CellSum* cells) {
    for (size_t code = 0; code < codes.size(); code++)
        cells[cell_of_code[code]].Add(codes[code]);
}

}  // namespace

std::vector<RawSums> NodeSums::Utilities(size_t first, const std::vector<NodeCandidates>& candidates,
                                         const SplitCandidates& splits, int64_t l2_steps,
                                         Interrupt& interrupt) {
    CheckInternal(state_->weight == Weight::kRow, "utilities count rows");
    state_->LookUp(interrupt);
    std::vector<std::vector<int64_t>> utilities;
    std::vector<State::Run> runs;
    for (size_t node = 0; node < candidates.size(); node++) {
        const NodeCandidates& list = candidates[node];
        utilities.emplace_back(list.size());
        for (size_t begin = 0, end = 0; begin < list.size(); begin = end) {
            while (end < list.size() && list[end].feature == list[begin].feature)
                end++;
            runs.push_back({node, begin, end});
        }
    }
    state_->pool.Run(runs.size(), interrupt, [&](int worker, size_t item) {
        const State::Run& run = runs[item];
        const Candidate* const list = &candidates[run.node][run.begin];
        const uint16_t feature = list->feature;
        std::vector<CellSum>& cells = state_->scratch[static_cast<size_t>(worker)].cells;
        cells.assign(splits.Cells(feature), CellSum{});
        Fold(state_->SumCodes(worker, first + run.node, feature, interrupt), splits.CellOfCode(feature),
             cells.data());
        Score(cells, list, run.end - run.begin, splits.features()[feature].ordered(), l2_steps,
              &utilities[run.node][run.begin]);
    });
    std::vector<RawSums> raw;
    raw.reserve(utilities.size());
    for (std::vector<int64_t>& node : utilities)
        raw.emplace_back(std::move(node), kUtilitySensitivity);
    return raw;
}

RawGradientSums NodeSums::Histograms(const SplitCandidates& splits, const std::vector<uint16_t>& chosen,
                                     Interrupt& interrupt) {
    state_->LookUp(interrupt);
    const CellLayout layout(splits, chosen);
    std::vector<int64_t> hessians(nodes() * layout.cells), gradients(nodes() * layout.cells);
    state_->pool.Run(nodes() * chosen.size(), interrupt, [&](int worker, size_t item) {
        const size_t node = item / chosen.size();
        const size_t j = item % chosen.size();
        const std::vector<CellSum>& codes = state_->SumCodes(worker, node, chosen[j], interrupt);
        const std::vector<uint16_t>& cell_of_code = splits.CellOfCode(chosen[j]);
        const size_t offset = node * layout.cells + layout.offset[j];
        for (size_t code = 0; code < codes.size(); code++) {
            hessians[offset + cell_of_code[code]] += codes[code].weight;
            gradients[offset + cell_of_code[code]] += codes[code].gradient;
        }
    });
    const double sensitivity = HistogramSensitivity(chosen.size());
    return {RawSums(std::move(hessians), sensitivity), RawSums(std::move(gradients), sensitivity)};
}

RawSums NodeSums::RootHessians(const SplitCandidates& splits, const std::vector<uint16_t>& chosen,
                               Interrupt& interrupt) {
    CheckInternal(nodes() == 1, "the rows have left the root");
    state_->LookUp(interrupt);
    std::vector<std::vector<CellSum>> cells(chosen.size());
    state_->pool.Run(chosen.size(), interrupt, [&](int worker, size_t j) {
        cells[j].resize(splits.Cells(chosen[j]));
        Fold(state_->SumCodes(worker, 0, chosen[j], interrupt), splits.CellOfCode(chosen[j]),
             cells[j].data());
    });
    std::vector<int64_t> hessians;
    for (const std::vector<CellSum>& feature : cells)
        for (size_t cell = 0; cell + 1 < feature.size(); cell++)
            hessians.push_back(feature[cell].weight);
    return RawSums(std::move(hessians), HistogramSensitivity(chosen.size()));
}

RawGradientSums NodeSums::Sides(const std::vector<Split>& splits, size_t per_node, Interrupt& interrupt) {
    state_->LookUp(interrupt);
    std::vector<int64_t> hessians(2 * splits.size()), gradients(2 * splits.size());
    state_->pool.Run(splits.size(), interrupt, [&](int worker, size_t item) {
        const Split& split = splits[item];
        const uint16_t missing = state_->dataset.features()[split.feature].missing();
        const std::vector<CellSum>& codes =
            state_->SumCodes(worker, item / per_node, split.feature, interrupt);
        for (size_t code = 0; code < codes.size(); code++) {
            const bool left = GoesLeft(split, nullptr, static_cast<uint16_t>(code), missing);
            hessians[2 * item + (left ? 0 : 1)] += codes[code].weight;
            gradients[2 * item + (left ? 0 : 1)] += codes[code].gradient;
        }
    });
    const double sensitivity = HistogramSensitivity(per_node);
    return {RawSums(std::move(hessians), sensitivity), RawSums(std::move(gradients), sensitivity)};
}

RawSums NodeSums::Leaves(const LeafLattice& lattice, Interrupt& interrupt) {
    CheckInternal(state_->weight == Weight::kRow, "leaves count rows");
    state_->LookUp(interrupt);
    std::vector<CellSum> leaves(nodes());
    for (size_t leaf = 0; leaf < leaves.size(); leaf++)
        leaves[leaf] = state_->rows.Total(leaf);
    return RawSums(lattice.Steps(leaves), LeafLattice::Sensitivity(lattice.part()));
}

}  // namespace dpboost
