#include "model/explain/explain.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/labels/cell_label.h"

namespace dpboost {
namespace {

constexpr size_t kMostTogether = 3;             // features of a group; trees on more are a forest,
constexpr size_t kMostGroups = 64;              // as are more groups than these
constexpr size_t kGroupRows = 2048;             // and a group
constexpr size_t kMostBytes = size_t{1} << 30;  // held beside a model

void CheckBytes(size_t bytes) {
    if (bytes > kMostBytes)
        throw Error(ErrorCode::kLimitExceeded, "the model is too large to be explained",
                    "Its features have too many bins and levels.");
}

// A model whose masses can be held.
const Model& Explainable(const Model& model) {
    size_t cells = 0;
    for (const FeatureSpec& feature : model.features())
        cells += feature.cells();
    CheckBytes(cells * sizeof(double));
    return model;
}

}  // namespace

void SortByImportance(std::vector<Importance>* importances) {
    std::stable_sort(importances->begin(), importances->end(),
                     [](const Importance& a, const Importance& b) { return a.importance > b.importance; });
}

Explainer::Explainer(const Model& model, Interrupt& interrupt, bool for_all)
    : model_(Explainable(model)),
      interrupt_(interrupt),
      masses_(model),
      outputs_(model.outputs()),
      tree_means_(outputs_, 0),
      in_trees_(model.features().size(), false),
      values_(model.features().size() * outputs_),
      variances_(values_.size()) {
    const bool in_target_units = model.link() == Link::kIdentity;
    const TargetSpec& target = model.target();
    unit_ = (in_target_units ? target.upper() / 2 - target.lower() / 2 : 1) / kFixedScale;
    offset_ = in_target_units ? target.upper() / 2 + target.lower() / 2 : 0;
    MeasureTables();
    if (model.trees().empty())
        return;
    groups_ = GroupTrees(model);
    is_forest_ = groups_.size() > kMostGroups;
    for (const TreeGroup& group : groups_) {
        is_forest_ = is_forest_ || group.features.size() > kMostTogether;
        for (const uint16_t feature : group.features)
            in_trees_[feature] = true;
    }
    if (is_forest_) {
        groups_ = {Together(groups_)};
        CheckBytes(memory_used());
        MeasureForest(for_all);
    } else {
        trees_ = std::make_unique<TreeShapley>(model, masses_, interrupt, nullptr);
    }
    for (size_t output = 0; output < outputs_; output++) {
        tree_means_[output] = std::llround(trees_->means()[output]);
        base_values_[output] += tree_means_[output];
    }
    knows_leaf_noise_ = std::all_of(model.trees().begin(), model.trees().end(),
                                    [](const Tree& tree) { return !tree.leaf_sds.empty(); });
}

void Explainer::MeasureTables() {
    for (size_t output = 0; output < outputs_; output++)
        base_values_.push_back(model_.base(output));
    table_means_.assign(values_.size(), 0);
    for (size_t f = 0; f < model_.features().size(); f++) {
        const std::vector<int32_t>& table = model_.table(f);
        for (size_t output = 0; output < outputs_ && !table.empty(); output++) {
            double mean = 0;
            for (size_t code = 0; code < masses_.of(f).size(); code++)
                mean += masses_.of(f)[code] * table[code * outputs_ + output];
            table_means_[f * outputs_ + output] = std::llround(mean);
            base_values_[output] += std::llround(mean);
        }
    }
}

size_t Explainer::memory_used() const noexcept {
    size_t cells = 0;
    for (size_t f = 0; f < model_.features().size(); f++)
        cells += masses_.of(f).size();
    for (const TreeGroup& group : groups_) {
        for (const uint16_t feature : group.features)
            cells += 2 * outputs_ * masses_.of(feature).size();
    }
    return cells * sizeof(double) + (trees_ ? trees_->memory_used() : 0);
}

const char* Explainer::reference_name() const noexcept {
    return masses_.released() ? "noisy histograms" : "declared ranges";
}

bool Explainer::KnowsNoise(size_t feature) const noexcept {
    const std::vector<std::vector<float>>& bands = model_.evidence().bands;
    return !bands.empty() && !bands[feature].empty() && (!in_trees_[feature] || knows_leaf_noise_);
}

void Explainer::Explain(const uint16_t* codes, int64_t* contributions, double* sds) {
    const std::vector<FeatureSpec>& features = model_.features();
    std::fill(values_.begin(), values_.end(), 0.0);
    std::fill(variances_.begin(), variances_.end(), 0.0);
    if (trees_)
        trees_->Add(codes, interrupt_, values_.data(), variances_.data());
    for (size_t output = 0; output < outputs_; output++) {
        int64_t rest = model_.Score(codes, output) - base_values_[output];
        size_t largest = output;
        for (size_t f = 0; f < features.size(); f++) {
            const size_t at = f * outputs_ + output;
            const size_t code = std::min(codes[f], features[f].missing());
            const int64_t share = std::llround(values_[at]);
            contributions[at] = share - table_means_[at] +
                                (model_.table(f).empty() ? 0 : model_.table(f)[code * outputs_ + output]);
            rest -= contributions[at];
            if (std::fabs(values_[at]) > std::fabs(values_[largest]))
                largest = at;
            if (sds == nullptr)
                continue;
            sds[at] = kNotKnown;
            if (KnowsNoise(f)) {
                const double band = static_cast<double>(model_.evidence().bands[f][code * outputs_ + output]);
                sds[at] = std::sqrt(band * band + variances_[at]) * unit_ * kFixedScale;
            }
        }
        // Rounding of the trees' shares; none without trees.
        contributions[largest] += rest;
    }
}

void Explainer::MeasureGroups() {
    if (groups_measured_)
        return;
    CheckBytes(memory_used());
    for (TreeGroup& group : groups_)
        MeasureGroup(model_, masses_, interrupt_, &group);
    groups_measured_ = true;
}

std::vector<ShapeCell> Explainer::Shape(size_t f, size_t output) {
    interrupt_.Poll();
    MeasureGroups();
    const FeatureSpec& feature = model_.features()[f];
    const std::vector<int32_t>& table = model_.table(f);
    std::vector<double> values(feature.cells(), 0.0), variances(feature.cells(), 0.0);
    for (uint32_t code = 0; code < feature.cells(); code++) {
        const size_t at = code * outputs_ + output;
        if (!table.empty())
            values[code] = static_cast<double>(table[at] - table_means_[f * outputs_ + output]);
        if (KnowsNoise(f))
            variances[code] = std::pow(static_cast<double>(model_.evidence().bands[f][at]), 2);
    }
    for (const TreeGroup& group : groups_) {
        const auto found = std::find(group.features.begin(), group.features.end(), f);
        if (found == group.features.end())
            continue;
        const size_t place = static_cast<size_t>(found - group.features.begin());
        for (uint32_t code = 0; code < feature.cells(); code++) {
            values[code] += group.effects[place][code * outputs_ + output];
            variances[code] += group.variances[place][code * outputs_ + output];
        }
    }
    std::vector<ShapeCell> cells(feature.cells());
    for (uint32_t code = 0; code < feature.cells(); code++) {
        ShapeCell& cell = cells[code];
        cell.code = code;
        cell.label = CellLabel(feature, code);
        if (feature.ordered() && code < feature.bins()) {
            cell.lower = feature.CellLower(code);
            cell.upper = feature.CellUpper(code);
        }
        cell.contribution = values[code] * unit_;
        if (KnowsNoise(f))
            cell.sd = std::sqrt(variances[code]) * unit_ * kFixedScale;
    }
    if (masses_.released())
        CountRows(model_.evidence().reference->marginals[f], &cells);
    return cells;
}

void Explainer::CountRows(const Marginal& marginal, std::vector<ShapeCell>* cells) {
    size_t code = 0;
    for (size_t coarse = 0; coarse < marginal.counts.size(); coarse++) {
        const size_t codes = marginal.last_codes[coarse] + size_t{1} - code;
        for (; code <= marginal.last_codes[coarse]; code++) {
            (*cells)[code].rows = static_cast<double>(marginal.counts[coarse]) / static_cast<double>(codes);
            (*cells)[code].enough_rows = marginal.counts[coarse] >= 2 * marginal.count_sd;
        }
    }
}

Importance Explainer::FeatureImportance(size_t feature, size_t output) {
    Importance result;
    result.features = {feature};
    result.noise = KnowsNoise(feature) ? 0 : kNotKnown;
    for (const ShapeCell& cell : Shape(feature, output)) {
        const double mass = masses_.of(feature)[cell.code];
        result.importance += mass * std::fabs(cell.contribution);
        result.noise += mass * kMeanOfNormal * cell.sd;
    }
    return result;
}

// Measured once for all outputs.
const std::vector<Importance>& Explainer::GroupImportances(size_t output) {
    if (!group_importances_.empty() || groups_.empty())
        return groups_.empty() ? none_ : group_importances_[output];
    std::vector<std::vector<Importance>> result(outputs_);
    const std::vector<uint16_t> rows = masses_.Draw(model_, kGroupRows, interrupt_);
    std::vector<double> values(outputs_), sums(outputs_);
    for (const TreeGroup& group : groups_) {
        if (group.features.size() < 2)
            continue;
        interrupt_.Poll();
        std::fill(sums.begin(), sums.end(), 0.0);
        for (size_t row = 0; row < kGroupRows; row++) {
            group.Pure(model_, rows.data() + row * model_.features().size(), values.data());
            for (size_t k = 0; k < outputs_; k++)
                sums[k] += std::fabs(values[k]);
        }
        for (size_t k = 0; k < outputs_; k++) {
            Importance& importance = result[k].emplace_back();
            importance.features.assign(group.features.begin(), group.features.end());
            importance.importance = sums[k] / kGroupRows * unit_;
            if (knows_leaf_noise_)
                importance.noise = kMeanOfNormal * std::sqrt(group.pure_variances[k]) * unit_ * kFixedScale;
        }
    }
    group_importances_ = std::move(result);
    return group_importances_[output];
}

std::vector<Importance> Explainer::Importances(size_t output) {
    std::vector<Importance> result;
    if (is_forest_) {
        result = ForestImportances(output);
    } else {
        MeasureGroups();
        for (size_t f = 0; f < model_.features().size(); f++)
            result.push_back(FeatureImportance(f, output));
        const std::vector<Importance>& groups = GroupImportances(output);
        result.insert(result.end(), groups.begin(), groups.end());
    }
    double total = 0;
    for (const Importance& importance : result)
        total += importance.importance;
    for (Importance& importance : result)
        importance.share = total > 0 ? importance.importance / total : 0;
    SortByImportance(&result);
    return result;
}

Interaction Explainer::MakeInteraction(const std::vector<size_t>& features,
                                       const std::vector<const CodeParts*>& parts,
                                       std::vector<double> contributions) const {
    Interaction interaction;
    interaction.features = features;
    interaction.contributions = std::move(contributions);
    for (double& value : interaction.contributions)
        value *= unit_;
    if (masses_.released())
        interaction.rows = {model_.evidence().reference->rows};
    for (const CodeParts* feature : parts) {
        interaction.parts.push_back(feature->labels);
        std::vector<double> next;
        for (const double rows : interaction.rows) {
            for (const double mass : feature->masses)
                next.push_back(rows * mass);
        }
        interaction.rows = std::move(next);
    }
    return interaction;
}

std::vector<Interaction> Explainer::Interactions(size_t output) {
    if (is_forest_)
        return ForestInteractions(output);
    std::vector<Interaction> result;
    for (const TreeGroup& group : groups_) {
        if (group.features.size() < 2)
            continue;
        std::vector<CodeParts> parts;
        for (const uint16_t feature : group.features)
            parts.push_back(PartsOf(model_, masses_, feature));
        std::vector<const CodeParts*> all;
        for (const CodeParts& feature : parts)
            all.push_back(&feature);
        result.push_back(MakeInteraction({group.features.begin(), group.features.end()}, all,
                                         PureGrid(model_, masses_, group, parts, output, interrupt_)));
    }
    return result;
}

}  // namespace dpboost
