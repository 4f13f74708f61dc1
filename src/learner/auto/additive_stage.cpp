#include "learner/auto/additive_stage.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace dpboost {

using namespace auto_numbers;  // NOLINT: the numbers of this room

AdditiveTables::AdditiveTables(const std::vector<FeatureSpec>& features, BasisRows& rows,
                               MonotoneRules monotone)
    : rows_(rows),
      monotone_(std::move(monotone)),
      limit_(std::min(kMaxEntry, kScoreRoom / static_cast<double>(features.size()))),
      base_(rows.outputs(), 0.0),
      fixed_base_(rows.outputs(), 0) {
    for (const FeatureSpec& feature : features) {
        tables_.emplace_back(feature.cells() * rows.outputs(), 0.0);
        fixed_.emplace_back(feature.cells() * rows.outputs(), 0);
    }
}

void AdditiveTables::AddToBase(double change, size_t output) {
    base_[output] = std::clamp(base_[output] + change, -kMaxEntry, kMaxEntry);
    const int32_t fixed = ToFixed(base_[output]);
    rows_.AddToBase(fixed - fixed_base_[output], output);
    fixed_base_[output] = fixed;
}

void AdditiveTables::Add(size_t feature, const std::vector<double>& change) {
    std::vector<double>& table = tables_[feature];
    std::vector<int32_t>& fixed = fixed_[feature];
    std::vector<int32_t> moved(table.size());
    for (size_t cell = 0; cell < table.size(); cell++)
        table[cell] = std::clamp(table[cell] + change[cell], -limit_, limit_);
    monotone_.Project(feature, table);
    for (size_t cell = 0; cell < table.size(); cell++) {
        const int32_t now = ToFixed(table[cell]);
        moved[cell] = now - fixed[cell];
        fixed[cell] = now;
    }
    rows_.AddTable(
        CodeView::Column(static_cast<uint32_t>(feature), static_cast<uint32_t>(table.size() / base_.size())),
        moved);
}

void AdditiveTables::Scale(size_t feature, double factor) {
    std::vector<double> change = tables_[feature];
    for (double& entry : change)
        entry *= factor - 1;
    Add(feature, change);
}

void AdditiveTables::Fade(double factor) {
    for (size_t feature = 0; feature < tables_.size(); feature++) {
        for (size_t cell = 0; cell < tables_[feature].size(); cell++) {
            tables_[feature][cell] *= factor;
            fixed_[feature][cell] = ToFixed(tables_[feature][cell]);
        }
    }
}

void AdditiveTables::Store(Model& model) const {
    const bool changed = final_factor_ != 1 || final_shift_ != 0;
    for (size_t output = 0; output < base_.size(); output++)
        model.AddToBase(
            output, changed ? ToFixed(final_factor_ * base_[output] + final_shift_) : fixed_base_[output]);
    for (size_t feature = 0; feature < fixed_.size(); feature++) {
        std::vector<int32_t> fixed = fixed_[feature];
        for (size_t cell = 0; changed && cell < fixed.size(); cell++)
            fixed[cell] = ToFixed(final_factor_ * tables_[feature][cell]);
        model.AddTable(feature, fixed);
    }
}

NoisyGradients AdditiveStage::Gradients(const NoisySums& sums) const {
    NoisyGradients gradients;
    gradients.sigma = gradients.whole_sigma = sums.sigma;
    for (const int64_t value : sums.values)
        gradients.values.push_back(static_cast<double>(value));
    const size_t k = outputs(), coordinates = sums.values.size() / k;
    if (k == 1)
        return gradients;
    gradients.sigma *= std::sqrt(1 - 1.0 / static_cast<double>(k));
    for (size_t j = 0; j < coordinates; j++) {
        double mean = 0;
        for (size_t output = 0; output < k; output++)
            mean += gradients.values[output * coordinates + j] / static_cast<double>(k);
        for (size_t output = 0; output < k; output++)
            gradients.values[output * coordinates + j] -= mean;
    }
    return gradients;
}

double AdditiveStage::NoiseSpread() const {
    return outputs() == 1 ? spread : spread * std::sqrt(1 - 1.0 / static_cast<double>(outputs()));
}

double AdditiveStage::Sampling(size_t output) const {
    if (outputs() == 1)
        return sampling;
    return std::min(classes[output], 1 - classes[output]) * (1 - 1.0 / static_cast<double>(outputs()));
}

// A row of class y has the gradient e_y - p, clipped.
double AdditiveStage::ClassVariance(size_t output, double clip) const {
    double squares = 0, variance = 0;
    for (const double p : classes)
        squares += p * p;
    for (size_t y = 0; y < classes.size(); y++) {
        const double entry = (y == output ? 1 : 0) - classes[output];
        const double norm = std::max(1e-12, squares + 1 - 2 * classes[y]);
        variance += classes[y] * entry * entry * std::min(1.0, clip * clip / norm);
    }
    return variance;
}

std::vector<uint32_t> AdditiveStage::Interacting() const {
    std::vector<uint32_t> free;
    std::copy_if(active.begin(), active.end(), std::back_inserter(free),
                 [&](uint32_t feature) { return !tables.monotone().Constrains(feature); });
    return free;
}

}  // namespace dpboost
