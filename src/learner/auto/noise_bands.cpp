#include "learner/auto/noise_bands.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace dpboost {
namespace {

// Finite in float, whatever the gains.
float StoredSd(double variance) {
    return static_cast<float>(
        std::min(std::sqrt(variance), static_cast<double>(std::numeric_limits<float>::max())));
}

}  // namespace

NoiseBands::NoiseBands(const std::vector<FeatureSpec>& features, const MarginalCounts& counts, size_t outputs)
    : outputs_(outputs) {
    for (size_t f = 0; f < features.size(); f++) {
        masses_.push_back(counts.cells[f]);
        for (double& mass : masses_.back())
            mass /= counts.rows;
        variances_.emplace_back(features[f].cells() * outputs, 0.0);
    }
    pending_ = variances_;
}

double NoiseBands::Mean(size_t feature, const double* values) const {
    double mean = 0;
    for (size_t cell = 0; cell < masses_[feature].size(); cell++)
        mean += masses_[feature][cell] * values[cell];
    return mean;
}

// Coordinate m is `on` in the cells of leaf m, -off in those of other leaves and 0 in a cell of none. With P_m the mass of
// leaf m and H that of all leaves, it is, minus its mean, (on + off) (1[cell in m] - P_m) - off (1[cell in a leaf] - H).
void NoiseBands::AddPartition(size_t feature, const BasisPartition& partition, const double* gains, double on,
                              double off, double sd, size_t output) {
    const std::vector<double>& masses = masses_[feature];
    CheckInternal(partition.leaf.size() == masses.size(), "a partition has another number of cells");
    std::vector<double> leaf_masses(partition.leaves, 0.0);
    double all = 0;
    for (size_t cell = 0; cell < masses.size(); cell++) {
        if (partition.leaf[cell] == BasisPartition::kNoLeaf)
            continue;
        leaf_masses[partition.leaf[cell]] += masses[cell];
        all += masses[cell];
    }
    // Of a cell in a leaf and of one in none: as if it were in no leaf of its own.
    double others[2] = {0, 0};
    for (const bool in_leaf : {false, true}) {
        for (uint32_t leaf = 0; leaf < partition.leaves; leaf++) {
            const double reach = -(on + off) * leaf_masses[leaf] - off * ((in_leaf ? 1 : 0) - all);
            others[in_leaf] += gains[leaf] * gains[leaf] * reach * reach;
        }
    }
    for (size_t cell = 0; cell < masses.size(); cell++) {
        const uint32_t leaf = partition.leaf[cell];
        double variance = others[leaf != BasisPartition::kNoLeaf];
        if (leaf != BasisPartition::kNoLeaf) {
            const double outside = -(on + off) * leaf_masses[leaf] - off * (1 - all);
            const double inside = outside + on + off;
            variance += gains[leaf] * gains[leaf] * (inside * inside - outside * outside);
        }
        pending_[feature][cell * outputs_ + output] += sd * sd * std::max(0.0, variance);
    }
}

void NoiseBands::AddLeaves(size_t feature, const BasisPartition& partition, const double* gains, double sd,
                           size_t output) {
    AddPartition(feature, partition, gains, 1, 0, sd, output);
}

void NoiseBands::AddBlock(size_t feature, const BasisBlock& block, const double* gains, double sd,
                          size_t output) {
    std::vector<double> values(masses_[feature].size());
    for (const BasisColumn& column : block.columns) {
        for (size_t cell = 0; cell < values.size(); cell++)
            values[cell] = static_cast<double>(column.values[cell]) / kBasisOne;
        const double mean = Mean(feature, values.data());
        const double scale = *gains++ * sd;
        for (size_t cell = 0; cell < values.size(); cell++) {
            const double moved = scale * (values[cell] - mean);
            pending_[feature][cell * outputs_ + output] += moved * moved;
        }
    }
    if (block.partition.leaves > 0)
        AddPartition(feature, block.partition, gains, static_cast<double>(block.partition.on) / kBasisOne,
                     static_cast<double>(block.partition.off) / kBasisOne, sd, output);
}

void NoiseBands::TakeBack() {
    for (std::vector<double>& feature : pending_)
        std::fill(feature.begin(), feature.end(), 0.0);
}

void NoiseBands::Commit() {
    for (size_t f = 0; f < pending_.size(); f++) {
        for (size_t i = 0; i < pending_[f].size(); i++)
            variances_[f][i] += pending_[f][i];
    }
    TakeBack();
}

std::vector<std::vector<float>> NoiseBands::Sds(double factor) const {
    std::vector<std::vector<float>> sds;
    for (const std::vector<double>& feature : variances_) {
        sds.emplace_back(feature.size());
        std::transform(feature.begin(), feature.end(), sds.back().begin(),
                       [&](double variance) { return StoredSd(factor * factor * variance); });
    }
    return sds;
}

void StepNoise::Move(double momentum, double weight, double sd) {
    draws_.push_back({sd, 0, 0});
    for (Draw& draw : draws_) {
        draw.in_step = momentum * draw.in_step + (&draw == &draws_.back() ? weight : 0);
        draw.in_model += draw.in_step;
    }
}

void StepNoise::TakeBack() {
    for (Draw& draw : draws_)
        draw.in_model -= draw.in_step;
    Forget();
}

void StepNoise::Forget() {
    for (Draw& draw : draws_)
        draw.in_step = 0;
}

double StepNoise::Sd() const {
    double variance = 0;
    for (const Draw& draw : draws_)
        variance += draw.sd * draw.in_model * draw.sd * draw.in_model;
    return std::sqrt(variance);
}

Reference MakeReference(const MarginalCounts& counts) {
    Reference reference;
    reference.rows = counts.rows;
    reference.rows_sd = counts.rows_sd;
    for (size_t f = 0; f < counts.cells.size(); f++) {
        Marginal marginal;
        marginal.last_codes = counts.last_codes[f];
        marginal.count_sd = static_cast<float>(counts.count_sd);
        size_t code = 0;
        for (const uint16_t last : marginal.last_codes) {
            double count = 0;
            for (; code <= last; code++)
                count += counts.cells[f][code];
            marginal.counts.push_back(static_cast<float>(count));
        }
        reference.marginals.push_back(std::move(marginal));
    }
    return reference;
}

}  // namespace dpboost
