#include "learner/auto/noisy_histogram.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "learner/auto/schedule.h"

namespace dpboost {
namespace {

// The bin that warped grids reserve for one value: the one that holds 0, else the lowest.
uint32_t SpecialBin(const FeatureSpec& feature) {
    for (uint32_t bin = 1; feature.lower() < 0 && bin < feature.bins(); bin++) {
        if (feature.CellUpper(bin) == 0)
            return bin;
    }
    return 0;
}

// Features with equal keys lie on the same grid.
using GridKey = std::tuple<uint32_t, double, double, double>;
GridKey KeyOf(const FeatureSpec& feature) {
    return {feature.bins(), feature.lower(), feature.upper(), feature.CellUpper(feature.bins() / 2)};
}

// Moves counts to the nearest point (in L2) of the simplex of non-negative cells with the given sum.
void ProjectToSimplex(std::vector<double>& counts, double sum) {
    std::vector<double> sorted = counts;
    std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return a > b; });
    double cumulated = 0, shift = 0;
    for (size_t k = 0; k < sorted.size(); k++) {
        cumulated += sorted[k];
        const double candidate = (cumulated - sum) / static_cast<double>(k + 1);
        if (sorted[k] - candidate > 0)
            shift = candidate;
    }
    for (double& count : counts)
        count = std::max(0.0, count - shift);
}

// How much of its difference from the group's mean each member keeps: what noise of this variance per cell
// does not explain. One member's difference says little, so in a large group all share one estimate; a
// member that differs by clearly more than noise keeps more.
std::vector<double> KeptShares(const AutoSchedule& schedule, const std::vector<double>& distances,
                               double cells, double variance) {
    const auto kept = [](double noise, double distance) {
        return distance > noise ? 1 - noise / distance : 0.0;
    };
    const bool large = static_cast<double>(distances.size()) >= schedule.many_like_features;
    double total = 0;
    for (const double distance : distances)
        total += distance;
    const double common = kept(cells * static_cast<double>(distances.size() - 1) * variance, total);
    std::vector<double> shares;
    for (const double distance : distances)
        shares.push_back(
            large ? std::max(common,
                             kept((cells + schedule.clearly_different * std::sqrt(2 * cells)) * variance,
                                  distance))
                  : kept(std::max(cells - 2, 0.0) * variance, distance));  // James-Stein
    return shares;
}

}  // namespace

std::vector<uint32_t> CoarseCells(const FeatureSpec& feature, uint32_t numeric_cells) {
    const uint32_t bins = feature.bins();
    std::vector<uint32_t> cell_of(feature.cells());
    if (!feature.ordered() || bins <= numeric_cells) {
        for (uint32_t code = 0; code < feature.cells(); code++)
            cell_of[code] = code;
        return cell_of;
    }
    const bool has_special = !feature.grid().uniform;
    const uint32_t special = has_special ? SpecialBin(feature) : bins;
    const auto group = [&](uint32_t bin) { return static_cast<uint64_t>(bin) * numeric_cells / bins; };
    uint32_t cell = 0;
    for (uint32_t bin = 0; bin < bins; bin++) {
        if (bin > 0 && (group(bin) != group(bin - 1) || bin == special || bin == special + 1))
            cell++;
        cell_of[bin] = cell;
    }
    cell_of[bins] = cell + 1;
    return cell_of;
}

NoisyHistogram::NoisyHistogram(const std::vector<FeatureSpec>& features, uint32_t numeric_cells)
    : features_(features) {
    for (uint32_t f = 0; f < features.size(); f++) {
        BasisBlock block;
        block.view = CodeView::Column(f, features[f].cells());
        block.partition.leaf = CoarseCells(features[f], numeric_cells);
        block.partition.leaves = block.partition.leaf.back() + 1;
        basis_.Add(std::move(block));
    }
    weighted_sums_.assign(basis_.coordinates(), 0);
}

void NoisyHistogram::Release(double fraction, BasisRows& rows, Pool& pool) {
    rows.SetBasis(basis_);
    const NoisySums counts = pool.Release(fraction, rows.CountSums());
    const double steps_per_row = rows.StepsPerOne();
    const double sigma = counts.sigma / steps_per_row;
    for (size_t k = 0; k < weighted_sums_.size(); k++)
        weighted_sums_[k] += static_cast<double>(counts.values[k]) / steps_per_row / (sigma * sigma);
    precision_ += 1 / (sigma * sigma);
}

double NoisyHistogram::NoisyRows() const {
    double weighted = 0, weight = 0;
    for (const BasisBlock& block : basis_.blocks()) {
        double sum = 0;
        for (uint32_t cell = 0; cell < block.partition.leaves; cell++)
            sum += weighted_sums_[block.first + cell] / precision_;
        weighted += sum / block.partition.leaves;
        weight += 1.0 / block.partition.leaves;
    }
    return std::max(1.0, weighted / weight);
}

// The sum over c cells has c times a cell's variance, and is weighted by 1 / c.
double NoisyHistogram::NoisyRowsSd() const {
    double weight = 0;
    for (const BasisBlock& block : basis_.blocks())
        weight += 1.0 / block.partition.leaves;
    return 1 / std::sqrt(precision_ * weight);
}

void NoisyHistogram::ShrinkLikeGrids(const AutoSchedule& schedule,
                                     std::vector<std::vector<double>>& counts) const {
    std::map<GridKey, std::vector<size_t>> groups;
    for (size_t f = 0; f < features_.size(); f++) {
        if (features_[f].ordered())
            groups[KeyOf(features_[f])].push_back(f);
    }
    for (const auto& [key, members] : groups) {
        if (static_cast<double>(members.size()) < schedule.like_features)
            continue;
        const size_t cells = counts[members[0]].size();
        std::vector<double> mean(cells, 0);
        for (const size_t f : members) {
            for (size_t c = 0; c < cells; c++)
                mean[c] += counts[f][c] / static_cast<double>(members.size());
        }
        std::vector<double> distances(members.size(), 0.0);
        for (size_t k = 0; k < members.size(); k++) {
            for (size_t c = 0; c < cells; c++)
                distances[k] += (counts[members[k]][c] - mean[c]) * (counts[members[k]][c] - mean[c]);
        }
        const std::vector<double> keep =
            KeptShares(schedule, distances, static_cast<double>(cells), 1 / precision_);
        for (size_t k = 0; k < members.size(); k++) {
            for (size_t c = 0; c < cells; c++) {
                double& count = counts[members[k]][c];
                count = mean[c] + keep[k] * (count - mean[c]);
            }
        }
    }
}

// Distributes `total` over the finer cells [first, end): halves get what an even spread over bins says plus what their noisy
// counts say against it, as far as that is above noise (Haar shrinkage).
struct FinerCells {
    std::vector<double> counts;
    std::vector<double> bins;  // of each
    double variance = 0;
    double evidence = 0;

    void Spread(size_t first, size_t end, double total, std::vector<double>& out) const {
        if (end - first == 1) {
            out[first] = total;
            return;
        }
        const size_t middle = first + (end - first) / 2;
        const auto sum = [](const std::vector<double>& of, size_t from, size_t to) {
            return std::accumulate(of.begin() + static_cast<ptrdiff_t>(from),
                                   of.begin() + static_cast<ptrdiff_t>(to), 0.0);
        };
        const double left = sum(counts, first, middle), right = sum(counts, middle, end);
        const double share = sum(bins, first, middle) / sum(bins, first, end);
        const double difference = left - (left + right) * share;
        const double noise = variance * (static_cast<double>(middle - first) * (1 - share) * (1 - share) +
                                         static_cast<double>(end - middle) * share * share);
        const double squared = difference * difference;
        const double keep = squared > evidence * noise ? 1 - noise / squared : 0;
        const double to_left = std::clamp(total * share + keep * difference, 0.0, total);
        Spread(first, middle, to_left, out);
        Spread(middle, end, total - to_left, out);
    }
};

void NoisyHistogram::SpreadWithin(const AutoSchedule& schedule, const std::vector<uint32_t>& cell_of,
                                  size_t feature, std::vector<double>& counts) const {
    const BasisBlock& block = basis_.blocks()[feature];
    const std::vector<uint32_t>& finer_of = block.partition.leaf;
    FinerCells finer;
    finer.variance = 1 / precision_;
    finer.evidence = schedule.fine_evidence;
    finer.bins.assign(block.partition.leaves, 0.0);
    for (uint32_t cell = 0; cell < block.partition.leaves; cell++)
        finer.counts.push_back(weighted_sums_[block.first + cell] / precision_);
    for (const uint32_t cell : finer_of)
        finer.bins[cell]++;
    std::vector<double> spread(finer.bins.size(), 0.0);
    for (size_t first = 0, end = 0; first < cell_of.size(); first = end) {
        double total = 0;
        for (end = first; end < cell_of.size() && cell_of[end] == cell_of[first]; end++)
            total += counts[end];
        finer.Spread(finer_of[first], finer_of[end - 1] + 1, total, spread);
    }
    for (size_t code = 0; code < counts.size(); code++)
        counts[code] = spread[finer_of[code]] / finer.bins[finer_of[code]];
}

void NoisyHistogram::SpreadWithin(const AutoSchedule& schedule, MarginalCounts* counts) const {
    for (size_t f = 0; f < features_.size(); f++) {
        std::vector<uint32_t> cell_of(features_[f].cells(), 0);
        for (size_t code = 1; code < cell_of.size(); code++)
            cell_of[code] = cell_of[code - 1] + (counts->last_codes[f][cell_of[code - 1]] < code ? 1 : 0);
        if (features_[f].ordered())
            SpreadWithin(schedule, cell_of, f, counts->cells[f]);
    }
}

MarginalCounts NoisyHistogram::Clean(const AutoSchedule& schedule, uint64_t rows_hint,
                                     const NoisyHistogram* fine) const {
    MarginalCounts result;
    result.rows = rows_hint > 0 ? static_cast<double>(rows_hint) : NoisyRows();
    result.rows_sd = rows_hint > 0 ? 0 : NoisyRowsSd();
    result.count_sd = 1 / std::sqrt(precision_);
    std::vector<std::vector<double>> coarse;
    for (const BasisBlock& block : basis_.blocks()) {
        coarse.emplace_back(block.partition.leaves);
        for (uint32_t cell = 0; cell < block.partition.leaves; cell++)
            coarse.back()[cell] = weighted_sums_[block.first + cell] / precision_;
    }
    ShrinkLikeGrids(schedule, coarse);
    for (size_t f = 0; f < coarse.size(); f++) {
        ProjectToSimplex(coarse[f], result.rows);
        const std::vector<uint32_t>& cell_of = basis_.blocks()[f].partition.leaf;
        std::vector<double> bins(coarse[f].size(), 0);
        for (const uint32_t cell : cell_of)
            bins[cell]++;
        result.cells.emplace_back(cell_of.size());
        for (size_t code = 0; code < cell_of.size(); code++)
            result.cells.back()[code] = coarse[f][cell_of[code]] / bins[cell_of[code]];
        if (fine != nullptr && features_[f].ordered())
            fine->SpreadWithin(schedule, cell_of, f, result.cells.back());
        result.last_codes.emplace_back(coarse[f].size());
        for (size_t code = 0; code < cell_of.size(); code++)
            result.last_codes.back()[cell_of[code]] = static_cast<uint16_t>(code);
    }
    return result;
}

}  // namespace dpboost
