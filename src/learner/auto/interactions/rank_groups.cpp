#include "learner/auto/interactions/rank_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/portable_math.h"

namespace dpboost {
namespace {

double Mean(const std::vector<double>& mass, double total, const std::vector<double>& a,
            const std::vector<double>& b) {
    double sum = 0;
    for (size_t d = 0; d < mass.size(); d++)
        sum += mass[d] / total * a[d] * b[d];
    return sum;
}

void Rescale(double factor, double clip, std::vector<double>& values) {
    for (double& value : values)
        value = std::clamp(value * factor, -clip, clip);
}

// The table of a feature; of several outputs, that of the one that differs most over the rows.
std::vector<double> TellingTable(const AdditiveStage& stage, uint32_t feature) {
    const size_t outputs = stage.outputs();
    const std::vector<double>& all = stage.tables.table(feature);
    if (outputs == 1)
        return all;
    const std::vector<double>& counts = stage.counts.cells[feature];
    const double total = std::max(1e-9, std::accumulate(counts.begin(), counts.end(), 0.0));
    std::vector<double> best;
    double most = -1;
    for (size_t k = 0; k < outputs; k++) {
        std::vector<double> table(counts.size());
        const std::vector<double> ones(counts.size(), 1.0);
        for (size_t cell = 0; cell < table.size(); cell++)
            table[cell] = all[cell * outputs + k];
        const double mean = Mean(counts, total, table, ones);
        const double variance = Mean(counts, total, table, table) - mean * mean;
        if (variance > most) {
            most = variance;
            best = std::move(table);
        }
    }
    return best;
}

}  // namespace

std::vector<double> RankGroups::DigitMass(uint32_t digits) const {
    std::vector<double> sums(digits, 0.0);
    for (uint32_t g = 0; g < kRankGroups; g++)
        sums[g * digits / kRankGroups] += mass[g];
    return sums;
}

RankGroups RankFeature(const AdditiveStage& stage, uint32_t feature) {
    const FeatureSpec& spec = stage.features[feature];
    const std::vector<double>& counts = stage.counts.cells[feature];
    std::vector<uint32_t> order(spec.cells());
    std::iota(order.begin(), order.end(), 0U);
    if (spec.ordered()) {
        std::rotate(order.begin(), order.end() - 1, order.end());  // missing first
    } else {
        const std::vector<double> table = TellingTable(stage, feature);
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return table[a] < table[b]; });
    }
    const double total = std::max(1e-9, std::accumulate(counts.begin(), counts.end(), 0.0));
    RankGroups ranks;
    ranks.group.resize(spec.cells());
    double below = 0;
    for (const uint32_t cell : order) {
        const double rank = (below + counts[cell] / 2) / total;
        const uint32_t group = std::min(kRankGroups - 1, static_cast<uint32_t>(rank * kRankGroups));
        ranks.group[cell] = static_cast<uint8_t>(group);
        ranks.mass[group] += counts[cell];
        below += counts[cell];
    }
    return ranks;
}

Waves WavesOf(const AutoSchedule& schedule, const RankGroups& ranks, uint32_t digits) {
    const std::vector<double> mass = ranks.DigitMass(digits), one(digits, 1.0);
    const double total = std::max(1e-9, std::accumulate(mass.begin(), mass.end(), 0.0));
    Waves waves;
    double below = 0;
    for (uint32_t d = 0; d < digits; d++) {
        const double rank = (below + mass[d] / 2) / total;
        below += mass[d];
        waves.line.push_back(2 * rank - 1);
        waves.bow.push_back(portable::Cos(2 * M_PI * rank));
    }
    Rescale(1 / std::sqrt(std::max(schedule.least_line, Mean(mass, total, waves.line, waves.line))),
            schedule.wave_clip, waves.line);
    const double mean = Mean(mass, total, waves.bow, one);
    for (double& value : waves.bow)
        value -= mean;
    const double slope =
        Mean(mass, total, waves.bow, waves.line) / std::max(1e-9, Mean(mass, total, waves.line, waves.line));
    for (uint32_t d = 0; d < digits; d++)
        waves.bow[d] -= slope * waves.line[d];
    const double variance = Mean(mass, total, waves.bow, waves.bow);
    Rescale(variance < schedule.least_bow ? 0 : 1 / std::sqrt(variance), schedule.wave_clip, waves.bow);
    return waves;
}

CodeView ProductView(const std::vector<RankGroups>& ranks, const std::vector<ProductFactorGroups>& factors,
                     uint32_t digits) {
    CodeView view;
    uint32_t stride = 1;
    for (size_t i = factors.size(); i-- > 0;) {
        ProductFactor factor;
        factor.column = factors[i].feature;
        for (const uint8_t group : ranks[factor.column].group)
            factor.offsets.push_back(static_cast<uint16_t>(factors[i].digit[group] * stride));
        view.factors.insert(view.factors.begin(), std::move(factor));
        stride *= digits;
    }
    view.cells = stride;
    return view;
}

std::vector<ProductFactorGroups> EvenDigits(const std::vector<uint32_t>& features, uint32_t digits) {
    std::vector<ProductFactorGroups> factors;
    for (const uint32_t feature : features) {
        factors.push_back({feature, {}});
        for (uint32_t g = 0; g < kRankGroups; g++)
            factors.back().digit[g] = static_cast<uint8_t>(g * digits / kRankGroups);
    }
    return factors;
}

}  // namespace dpboost
