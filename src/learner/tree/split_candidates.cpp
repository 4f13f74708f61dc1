#include "learner/tree/split_candidates.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"

namespace dpboost {
namespace {

// kLog: how many powers of ten below the range's width are told apart.
constexpr double kDecades = 4;

// The threshold whose edge is nearest to a value.
uint16_t NearestThreshold(const FeatureSpec& feature, double value) {
    uint32_t low = 0;
    uint32_t high = feature.bins() - 2;
    while (low < high) {  // the first bin whose upper end is not below the value
        const uint32_t middle = (low + high) / 2;
        if (feature.CellUpper(middle) < value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && value - feature.CellUpper(low - 1) < feature.CellUpper(low) - value)
        low--;
    return static_cast<uint16_t>(low);
}

std::vector<uint16_t> FirstThresholds(const FeatureSpec& feature, CandidatePart part, uint32_t count) {
    std::vector<uint16_t> thresholds;
    if (!feature.ordered() || feature.bins() < 2)
        return thresholds;
    if (part == CandidatePart::kWholeRange || count >= feature.bins() - 1) {
        for (uint32_t code = 0; code + 1 < feature.bins(); code++)
            thresholds.push_back(static_cast<uint16_t>(code));
        return thresholds;
    }
    for (uint32_t q = 1; q <= count; q++) {
        double position = static_cast<double>(q) / (count + 1);
        if (part == CandidatePart::kLog)
            position = portable::Pow(10, -kDecades * (1 - position));
        const double value = feature.lower() + position * (feature.upper() - feature.lower());
        const uint16_t threshold = NearestThreshold(feature, value);
        if (thresholds.empty() || threshold > thresholds.back())
            thresholds.push_back(threshold);
    }
    return thresholds;
}

// Bins (previous end, end] of codes with what they weigh.
struct Bin {
    int end;
    double weight;
};

// Whether bin i can be halved, and where.
int Middle(const std::vector<Bin>& bins, size_t i) {
    const int begin = i == 0 ? -1 : bins[i - 1].end;
    return begin + (bins[i].end - begin) / 2;  // equals begin if there is nothing to cut
}
int Width(const std::vector<Bin>& bins, size_t i) {
    return bins[i].end - (i == 0 ? -1 : bins[i - 1].end);
}

std::vector<Bin> MergeLight(const std::vector<Bin>& bins, double share) {
    std::vector<Bin> merged;
    for (const Bin& bin : bins) {
        if (!merged.empty() && merged.back().weight + bin.weight < share / 2) {
            merged.back().end = bin.end;
            merged.back().weight += bin.weight;
        } else {
            merged.push_back(bin);
        }
    }
    return merged;
}

// Halves the bin with the largest key again and again, until there are `limit` bins or none has a key above
// `above`.
template <typename Key>
void Halve(std::vector<Bin>* bins, size_t limit, double above, const Key& key) {
    while (bins->size() < limit) {
        size_t best = bins->size();
        for (size_t i = 0; i < bins->size(); i++) {
            if (Width(*bins, i) >= 2 && key(i) > above && (best == bins->size() || key(i) > key(best)))
                best = i;
        }
        if (best == bins->size())
            return;
        Bin half{Middle(*bins, best), (*bins)[best].weight / 2};
        (*bins)[best].weight /= 2;
        bins->insert(bins->begin() + static_cast<std::ptrdiff_t>(best), half);
    }
}

}  // namespace

SplitCandidates::SplitCandidates(const std::vector<FeatureSpec>& features, CandidatePart part, uint32_t count)
    : features_(features), count_(count), thresholds_(features.size()), cell_of_code_(features.size()) {
    for (size_t feature = 0; feature < features.size(); feature++)
        SetThresholds(feature, FirstThresholds(features[feature], part, count));
}

size_t SplitCandidates::MaxCells(const FeatureSpec& feature, CandidatePart part, uint32_t count) {
    if (!feature.ordered())
        return feature.cells();
    const size_t all = feature.bins() - 1;
    return (part == CandidatePart::kWholeRange ? all : std::min<size_t>(count, all)) + 2;
}

size_t SplitCandidates::MaxCells(const std::vector<FeatureSpec>& features, CandidatePart part,
                                 uint32_t count) {
    size_t cells = 0;
    for (const FeatureSpec& feature : features)
        cells += MaxCells(feature, part, count);
    return cells;
}

void SplitCandidates::SetThresholds(size_t feature, std::vector<uint16_t> thresholds) {
    const FeatureSpec& spec = features_[feature];
    std::vector<uint16_t>& cell_of_code = cell_of_code_[feature];
    thresholds_[feature] = std::move(thresholds);
    cell_of_code.resize(spec.cells());
    if (!spec.ordered()) {
        for (uint32_t code = 0; code < spec.cells(); code++)
            cell_of_code[code] = static_cast<uint16_t>(code);
        return;
    }
    const std::vector<uint16_t>& cuts = thresholds_[feature];
    size_t cell = 0;
    for (uint32_t code = 0; code < spec.bins(); code++) {
        while (cell < cuts.size() && code > cuts[cell])
            cell++;
        cell_of_code[code] = static_cast<uint16_t>(cell);
    }
    cell_of_code[spec.missing()] = static_cast<uint16_t>(cuts.size() + 1);
}

Split SplitCandidates::At(size_t feature, size_t index) const {
    CheckInternal(index < Count(feature), "no such split candidate");
    Split split;
    split.feature = static_cast<uint16_t>(feature);
    split.missing_left = false;
    if (!features_[feature].ordered()) {
        split.kind = SplitKind::kLevel;
        split.threshold = static_cast<uint16_t>(index);
        return split;
    }
    split.kind = SplitKind::kThreshold;
    split.threshold = index < thresholds_[feature].size()
                          ? thresholds_[feature][index]
                          : static_cast<uint16_t>(features_[feature].bins() - 1);
    return split;
}

void SplitCandidates::Refine(size_t feature, const std::vector<double>& noisy_hessians, double sigma) {
    const FeatureSpec& spec = features_[feature];
    const std::vector<uint16_t>& cuts = thresholds_[feature];
    CheckInternal(spec.ordered() && noisy_hessians.size() == cuts.size() + 1,
                  "a Hessian histogram does not fit the candidates");
    double total = 0;
    std::vector<Bin> bins;
    for (size_t i = 0; i < noisy_hessians.size(); i++) {
        const int end = i < cuts.size() ? cuts[i] : static_cast<int>(spec.bins()) - 1;
        bins.push_back({end, std::max(0.0, noisy_hessians[i])});
        total += noisy_hessians[i];
    }
    if (!(total > 2 * sigma * std::sqrt(static_cast<double>(bins.size()))))
        return;
    const double share = total / count_;
    const size_t limit = std::min<size_t>(count_, spec.bins() - 1) + 1;
    bins = MergeLight(bins, share);
    Halve(&bins, limit, share, [&](size_t i) { return bins[i].weight; });
    Halve(&bins, limit, 0, [&](size_t i) { return static_cast<double>(Width(bins, i)); });
    std::vector<uint16_t> thresholds;
    for (size_t i = 0; i + 1 < bins.size(); i++)
        thresholds.push_back(static_cast<uint16_t>(bins[i].end));
    SetThresholds(feature, std::move(thresholds));
}

CellLayout::CellLayout(const SplitCandidates& candidates, const std::vector<uint16_t>& chosen) {
    for (const uint16_t feature : chosen) {
        offset.push_back(cells);
        cells += candidates.Cells(feature);
    }
}

}  // namespace dpboost
