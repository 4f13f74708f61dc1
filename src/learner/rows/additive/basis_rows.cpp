#include "learner/rows/additive/basis_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "learner/rows/additive/block_codes.h"
#include "learner/rows/additive/narrow_columns.h"

namespace dpboost {

// Memory of one pass, allocated once.
struct BasisRows::Scratch {
    explicit Scratch(size_t outputs)
        : gradients(outputs > 1 ? outputs * kBlockRows : 0), weights(outputs * kBlockRows) {}
    std::vector<int32_t> gradients;  // of several outputs, side by side
    std::vector<int32_t> weights;    // of the first output, then of the second and so on
    std::array<int32_t, kBlockRows> hessians;
    std::vector<NarrowLookup> lookups;
    std::vector<ByteLookup> byte_lookups;
    std::array<uint16_t, kBlockRows> codes;
    std::array<float, kBlockRows> labels;
    std::array<float, kBlockRows> window;
};

struct BasisRows::Part {
    Part() {}  // and leaves memory for what may never be needed as it is
    // When the worker begins: one that does not needs no memory.
    void Prepare(const Basis& basis, const NarrowParts& narrow_parts, bool by_unit, size_t outputs) {
        if (scratch)
            return;
        scratch.emplace(outputs);
        totals.assign(outputs, 0);
        for (size_t b = 0; !by_unit && b < basis.blocks().size(); b++)
            lanes.insert(lanes.end(), outputs,
                         std::vector<int64_t>(basis.blocks()[b].view.cells * kLanes, 0));
        if (!by_unit && outputs == 1)
            narrow_parts.Prepare(narrow.emplace());
    }
    // Rows of the same cell do not wait for each other's stores: sums of one view run in interleaved copies.
    static constexpr size_t kLanes = 4;

    std::optional<Scratch> scratch;
    std::vector<std::vector<int64_t>> lanes;  // per part of the basis and output
    std::optional<NarrowParts::Sums> narrow;
    std::vector<int64_t> totals;  // per output
};

namespace {

// Parts of a basis between two polls within a block of rows.
constexpr size_t kPollBlocks = 32;
// Rows from which on making byte tables is worth it.
constexpr size_t kByteTableRows = 4 * kBlockRows;

template <typename Code>
void AddLookups(const Code* codes, const int32_t* table, size_t rows, size_t outputs, int32_t* scores) {
    if (outputs == 1) {
        for (size_t i = 0; i < rows; i++)
            scores[i] += table[codes[i]];
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < outputs; k++)
            scores[i * outputs + k] += table[codes[i] * outputs + k];
    }
}

// lanes[code * kLanes + lane] += weight
template <size_t kLanes, typename Code>
void AddWeights(const Code* codes, const int32_t* weights, size_t rows, int64_t* lanes) {
    size_t i = 0;
    for (; i + kLanes <= rows; i += kLanes) {
        lanes[codes[i] * kLanes] += weights[i];
        lanes[codes[i + 1] * kLanes + 1] += weights[i + 1];
        lanes[codes[i + 2] * kLanes + 2] += weights[i + 2];
        lanes[codes[i + 3] * kLanes + 3] += weights[i + 3];
    }
    for (; i < rows; i++)
        lanes[codes[i] * kLanes] += weights[i];
}

}  // namespace

BasisRows::BasisRows(const Dataset& dataset, Simd simd, Interrupt& interrupt, int lattice_shift,
                     size_t outputs, int threads)
    : dataset_(dataset),
      simd_(simd),
      lattice_shift_(lattice_shift),
      interrupt_(interrupt),
      pool_(threads),
      outputs_(outputs),
      pending_base_(outputs, 0) {
    CheckInternal(lattice_shift >= 0 && lattice_shift < kClipBits, "a lattice needs some steps");
    dataset.RequireMemory(dataset.rows() * BytesPerRow(dataset.has_units(), outputs));
    scores_.assign(dataset.rows() * outputs, 0);
}

void BasisRows::AddTable(const CodeView& view, const std::vector<int32_t>& table) {
    if (!view.IsProduct()) {
        for (PendingTable& pending : pending_) {
            if (!pending.view.IsProduct() && pending.view.column == view.column) {
                for (size_t cell = 0; cell < table.size(); cell++)
                    pending.table[cell] += table[cell];
                return;
            }
        }
    }
    pending_.push_back({view, table, {}});
}

void BasisRows::SetLabelWindow(double middle, double half) {
    windowed_ = true;
    window_middle_ = static_cast<float>(middle);
    window_scale_ = static_cast<float>(1 / half);
}

const float* BasisRows::LabelsOf(size_t block, float* scratch) const {
    const float* const labels = dataset_.Labels(block);
    if (!windowed_)
        return labels;
    for (size_t i = 0; i < dataset_.block_rows(block); i++)
        scratch[i] = std::clamp((labels[i] - window_middle_) * window_scale_, -1.0F, 1.0F);
    return scratch;
}

bool BasisRows::has_units() const {
    return dataset_.has_units();
}

bool BasisRows::UsesByteTables() const {
    return outputs_ == 1 && dataset_.rows() >= kByteTableRows && HasByteTables(simd_);
}

void BasisRows::PreparePending() {
    for (PendingTable& pending : pending_) {
        if (UsesByteTables() && IsNarrow(dataset_, pending.view))
            pending.bytes = ByteTable(pending.table);
    }
}

void BasisRows::ApplyPending(size_t block, Scratch& scratch) {
    const size_t rows = dataset_.block_rows(block);
    int32_t* const scores = scores_.data() + block * kBlockRows * outputs_;
    for (size_t k = 0; k < outputs_; k++) {
        for (size_t i = 0; pending_base_[k] != 0 && i < rows; i++)
            scores[i * outputs_ + k] += pending_base_[k];
    }
    scratch.lookups.clear();
    scratch.byte_lookups.clear();
    for (const PendingTable& pending : pending_) {
        if (outputs_ == 1 && IsNarrow(dataset_, pending.view)) {
            const NarrowLookup lookup{dataset_.Codes8(block, pending.view.column), pending.table.data()};
            if (UsesByteTables())
                scratch.byte_lookups.push_back({lookup, &pending.bytes});
            else
                scratch.lookups.push_back(lookup);
            continue;
        }
        WithCodes(dataset_, pending.view, block, scratch.codes.data(), [&](const auto* codes) {
            AddLookups(codes, pending.table.data(), rows, outputs_, scores);
        });
    }
    AddNarrowLookups(scratch.lookups.data(), scratch.lookups.size(), rows, scores);
    AddByteLookups(simd_, scratch.byte_lookups, rows, scores);
}

void BasisRows::ApplyAllPending() {
    PreparePending();
    std::vector<std::optional<Scratch>> scratch(static_cast<size_t>(pool_.workers()));
    pool_.Run(dataset_.blocks(), interrupt_, [&](int worker, size_t block) {
        std::optional<Scratch>& own = scratch[static_cast<size_t>(worker)];
        ApplyPending(block, own ? *own : own.emplace(outputs_));
    });
    ForgetPending();
}

void BasisRows::ForgetPending() {
    std::fill(pending_base_.begin(), pending_base_.end(), 0);
    pending_.clear();
}

void BasisRows::BlockWeights(size_t block, Weight weight, const Objective* objective, Scratch& scratch) {
    const size_t rows = dataset_.block_rows(block);
    int32_t* const weights = scratch.weights.data();
    const float* const labels = LabelsOf(block, scratch.window.data());
    if (weight == Weight::kGradient) {
        ApplyPending(block, scratch);
        int32_t* const gradients = outputs_ == 1 ? weights : scratch.gradients.data();
        objective->EvaluateGradients(simd_, scores_.data() + block * kBlockRows * outputs_, labels, rows,
                                     gradients, scratch.hessians.data());
        for (size_t k = 0; outputs_ > 1 && k < outputs_; k++) {
            for (size_t i = 0; i < rows; i++)
                weights[k * kBlockRows + i] = gradients[i * outputs_ + k];
            Bound(block, weights + k * kBlockRows);
        }
        if (outputs_ > 1)
            return;
    } else if (weight == Weight::kOne) {
        std::fill(weights, weights + rows, kClipSteps);
    } else {
        objective->Centre(labels, rows, scratch.labels.data());
        for (size_t i = 0; i < rows; i++)  // |weight| <= kClipSteps
            weights[i] = static_cast<int32_t>(std::clamp(scratch.labels[i], -1.0F, 1.0F) * kClipSteps);
    }
    Bound(block, weights);
}

void BasisRows::Bound(size_t block, int32_t* weights) const {
    const size_t rows = dataset_.block_rows(block);
    const uint16_t* const shares = dataset_.Weights(block);
    for (size_t i = 0; shares != nullptr && i < rows; i++)
        weights[i] =
            weights[i] * shares[i] / kFullWeight;  // at most 2^30, and towards zero: no larger than it was
    if (!caps_.empty()) {
        const uint16_t* const caps = caps_.data() + block * kBlockRows;
        for (size_t i = 0; i < rows; i++) {
            const int32_t most = kClipSteps / kCapUnit * caps[i];  // exact
            weights[i] = long_rows_ == LongRows::kCut
                             ? std::clamp(weights[i], -most, most)
                             : weights[i] * caps[i] / kCapUnit;  // below 2^31, and towards zero
        }
    }
    if (lattice_shift_ > 0) {
        for (size_t i = 0; i < rows; i++)
            weights[i] /= 1 << lattice_shift_;  // towards zero
    }
}

RawSums BasisRows::Sums(Weight weight, const Objective* objective) {
    CheckInternal(basis_ != nullptr && limit_squared_ > 0, "sums over rows need a bound");
    const bool by_unit = dataset_.has_units();
    const size_t outputs = weight == Weight::kGradient ? outputs_ : 1;
    std::vector<int32_t> row_weights(by_unit ? dataset_.rows() * outputs : 0);
    std::vector<Part> parts(static_cast<size_t>(pool_.workers()));
    if (weight == Weight::kGradient)
        PreparePending();
    pool_.Run(dataset_.blocks(), interrupt_, [&](int worker, size_t block) {
        Part& part = parts[static_cast<size_t>(worker)];
        part.Prepare(*basis_, narrow_, by_unit, outputs);
        BlockWeights(block, weight, objective, *part.scratch);
        if (part.narrow)
            WantNext(block, *part.narrow);
        AddBlock(block, outputs, InterruptOf(worker), part, row_weights);
    });
    if (weight == Weight::kGradient)
        ForgetPending();
    return {by_unit ? SumUnits(row_weights, outputs) : Project(outputs, parts), Sensitivity()};
}

// What a pass reads of the worker's next block, if all are equally fast.
void BasisRows::WantNext(size_t block, NarrowParts::Sums& sums) const {
    const size_t next = block + static_cast<size_t>(pool_.workers());
    sums.ahead.Clear();
    if (next >= dataset_.blocks() || dataset_.block_rows(next) < kBlockRows || !narrow_.has_byte_tables())
        return;
    sums.ahead.Want(scores_.data() + next * kBlockRows, kBlockRows * sizeof(int32_t));
    sums.ahead.Want(dataset_.Labels(next), kBlockRows * sizeof(float));
    const auto want = [&](const CodeView& view) {
        if (IsNarrow(dataset_, view))
            sums.ahead.Want(dataset_.Codes8(next, view.column), kBlockRows);
    };
    for (const PendingTable& pending : pending_)
        want(pending.view);
    for (const BasisBlock& part : basis_->blocks())
        want(part.view);
}

void BasisRows::AddBlock(size_t block, size_t outputs, Interrupt* interrupt, Part& part,
                         std::vector<int32_t>& row_weights) const {
    const size_t rows = dataset_.block_rows(block);
    int64_t total = 0;
    for (size_t k = 0; k < outputs; k++) {
        const int32_t* const weights = part.scratch->weights.data() + k * kBlockRows;
        for (size_t i = 0; !row_weights.empty() && i < rows; i++)
            row_weights[(block * kBlockRows + i) * outputs + k] = weights[i];
        int32_t sum = 0;  // at most 2^28
        for (size_t i = 0; i < rows; i++)
            sum += weights[i];
        part.totals[k] += sum;
        total = sum;
    }
    if (part.narrow) {
        narrow_.Add(dataset_, block, part.scratch->weights.data(), total, interrupt, *part.narrow);
        if (part.narrow->blocks == NarrowParts::kMostBlocks)
            narrow_.Flush(*part.narrow, part.lanes, Part::kLanes);
    }
    for (size_t b = 0; b < part.lanes.size() / outputs; b++) {
        if (outputs == 1 && narrow_.Has(b))
            continue;
        WithCodes(dataset_, basis_->blocks()[b].view, block, part.scratch->codes.data(),
                  [&](const auto* codes) {
                      for (size_t k = 0; k < outputs; k++)
                          AddWeights<Part::kLanes>(codes, part.scratch->weights.data() + k * kBlockRows, rows,
                                                   part.lanes[b * outputs + k].data());
                  });
        if (interrupt != nullptr && b % kPollBlocks == kPollBlocks - 1)
            interrupt->Poll();
    }
}

std::vector<int64_t> BasisRows::Project(size_t outputs, std::vector<Part>& parts) const {
    std::vector<int64_t> sums(basis_->coordinates() * outputs, 0);
    for (Part& part : parts) {
        if (part.narrow) {
            narrow_.Flush(*part.narrow, part.lanes, Part::kLanes);
            narrow_.AddMoments(*part.narrow, sums.data());
        }
        for (std::vector<int64_t>& cells : part.lanes) {
            for (size_t cell = 0; cell < cells.size() / Part::kLanes; cell++) {
                const int64_t* const lane = cells.data() + cell * Part::kLanes;
                cells[cell] = lane[0] + lane[1] + lane[2] + lane[3];
            }
        }
        for (size_t k = 0; part.scratch && k < outputs; k++) {
            std::vector<std::vector<int64_t>> of_output;
            for (size_t b = k; b < part.lanes.size(); b += outputs)
                of_output.push_back(std::move(part.lanes[b]));
            basis_->Project(of_output, part.totals[k], sums.data() + k * basis_->coordinates());
        }
    }
    return sums;
}

RawSums BasisRows::GradientSums(const Objective& objective) {
    return Sums(Weight::kGradient, &objective);
}

RawSums BasisRows::CountSums() {
    return Sums(Weight::kOne, nullptr);
}

RawSums BasisRows::LabelSums(const Objective& objective) {
    return Sums(Weight::kLabel, &objective);
}

}  // namespace dpboost
