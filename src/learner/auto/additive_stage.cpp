#include "learner/auto/additive_stage.h"

#include <algorithm>

namespace dpboost {

using namespace auto_numbers;  // NOLINT: the numbers of this room

AdditiveTables::AdditiveTables(const std::vector<FeatureSpec>& features, BasisRows& rows)
    : rows_(rows), limit_(std::min(kMaxEntry, kScoreRoom / static_cast<double>(features.size()))) {
    for (const FeatureSpec& feature : features) {
        tables_.emplace_back(feature.cells(), 0.0);
        fixed_.emplace_back(feature.cells(), 0);
    }
}

void AdditiveTables::AddToBase(double change) {
    base_ = std::clamp(base_ + change, -kMaxEntry, kMaxEntry);
    const int32_t fixed = ToFixed(base_);
    rows_.AddToBase(fixed - fixed_base_);
    fixed_base_ = fixed;
}

void AdditiveTables::Add(size_t feature, const std::vector<double>& change) {
    std::vector<double>& table = tables_[feature];
    std::vector<int32_t>& fixed = fixed_[feature];
    std::vector<int32_t> moved(table.size());
    for (size_t cell = 0; cell < table.size(); cell++) {
        table[cell] = std::clamp(table[cell] + change[cell], -limit_, limit_);
        const int32_t now = ToFixed(table[cell]);
        moved[cell] = now - fixed[cell];
        fixed[cell] = now;
    }
    rows_.AddTable(CodeView::Column(static_cast<uint32_t>(feature), static_cast<uint32_t>(table.size())),
                   moved);
}

void AdditiveTables::Scale(size_t feature, double factor) {
    std::vector<double> change = tables_[feature];
    for (double& entry : change)
        entry *= factor - 1;
    Add(feature, change);
}

void AdditiveTables::Store(Model& model) const {
    const bool changed = final_factor_ != 1 || final_shift_ != 0;
    model.AddToBase(changed ? ToFixed(final_factor_ * base_ + final_shift_) : fixed_base_);
    for (size_t feature = 0; feature < fixed_.size(); feature++) {
        std::vector<int32_t> fixed = fixed_[feature];
        for (size_t cell = 0; changed && cell < fixed.size(); cell++)
            fixed[cell] = ToFixed(final_factor_ * tables_[feature][cell]);
        model.AddTable(feature, fixed);
    }
}

}  // namespace dpboost
