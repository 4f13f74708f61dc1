#include "model/explain/tree_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dpboost {
namespace {

// Masses of all regions but one, for each; and of all.
double OtherMasses(const Regions& regions, double* others) {
    double mass = 1;
    for (size_t i = 0; i < regions.size(); i++) {
        others[i] = mass;
        mass *= regions[i].mass;
    }
    double behind = 1;
    for (size_t i = regions.size(); i-- > 0;) {
        others[i] *= behind;
        behind *= regions[i].mass;
    }
    return mass;
}

}  // namespace

size_t TreeGroup::PlaceOf(uint16_t feature) const noexcept {
    const auto at = std::lower_bound(features.begin(), features.end(), feature);
    return static_cast<size_t>((at != features.end() && *at == feature ? at : features.end()) -
                               features.begin());
}

void TreeGroup::Pure(const Model& model, const uint16_t* codes, double* values) const noexcept {
    const size_t outputs = means.size();
    for (size_t k = 0; k < outputs; k++)
        values[k] = -means[k];
    for (const size_t i : trees) {
        const Tree& tree = model.trees()[i];
        const int32_t* const leaf = tree.leaves.data() + tree.Leaf(codes, model.features()) * outputs;
        for (size_t k = 0; k < outputs; k++)
            values[k] += leaf[k];
    }
    for (size_t i = 0; i < features.size(); i++) {
        const size_t code = std::min(codes[features[i]], model.features()[features[i]].missing());
        for (size_t k = 0; k < outputs; k++)
            values[k] -= effects[i][code * outputs + k];
    }
}

std::vector<TreeGroup> GroupTrees(const Model& model) {
    std::map<std::vector<uint16_t>, std::vector<size_t>> by_features;
    for (size_t i = 0; i < model.trees().size(); i++)
        by_features[FeaturesOf(model.trees()[i])].push_back(i);
    std::vector<TreeGroup> groups;
    for (auto& [features, trees] : by_features) {
        groups.emplace_back();
        groups.back().features = features;
        groups.back().trees = std::move(trees);
    }
    return groups;
}

TreeGroup Together(const std::vector<TreeGroup>& groups) {
    TreeGroup all;
    std::set<uint16_t> features;
    for (const TreeGroup& group : groups) {
        features.insert(group.features.begin(), group.features.end());
        all.trees.insert(all.trees.end(), group.trees.begin(), group.trees.end());
    }
    all.features.assign(features.begin(), features.end());
    std::sort(all.trees.begin(), all.trees.end());
    return all;
}

GroupMeasure::GroupMeasure(const Model& model, TreeGroup* group) : group_(*group) {
    const size_t outputs = model.outputs();
    group->means.assign(outputs, 0.0);
    group->pure_variances.assign(outputs, 0.0);
    group->effects.clear();
    group->variances.clear();
    for (const uint16_t feature : group->features) {
        group->effects.emplace_back(model.features()[feature].cells() * outputs, 0.0);
        group->variances.push_back(group->effects.back());
    }
}

void GroupMeasure::Enter(const Tree& tree, const std::vector<CodeClasses>& classes) {
    effects_.resize(std::max(effects_.size(), classes.size()));
    for (size_t k = 0; k < classes.size(); k++) {
        effects_[k].effects.assign(classes[k].count() * group_.means.size(), 0.0);
        effects_[k].everywhere.assign(group_.means.size(), 0.0);
        effects_[k].variances.assign(tree.leaf_sds.empty() ? 0 : effects_[k].effects.size(), 0.0);
    }
}

// A leaf of value w with regions of mass q_i: its mean is w prod q, the main effect of feature i for a code in its region
// w (1 - q_i) prod_{j != i} q_j and else -w prod q. Of the leaf's variance over the reference, prod q - (prod q)^2, the
// main effects have sum_i q_i (1 - q_i) prod_{j != i} q_j^2; the rest is the pure interaction's.
void GroupMeasure::AddLeaf(const Tree& tree, size_t leaf, const Regions& regions) {
    TreeGroup* const group = &group_;
    const size_t outputs = group->means.size();
    double others[kMaxDepth];
    const double mass = OtherMasses(regions, others);
    double pure = mass - mass * mass;
    for (size_t i = 0; i < regions.size(); i++)
        pure -= regions[i].mass * (1 - regions[i].mass) * others[i] * others[i];
    for (size_t output = 0; output < outputs; output++) {
        const double value = tree.leaves[leaf * outputs + output];
        const double sd =
            tree.leaf_sds.empty() ? 0 : static_cast<double>(tree.leaf_sds[leaf * outputs + output]);
        group->means[output] += value * mass;
        group->pure_variances[output] += sd * sd * std::max(0.0, pure);
        for (size_t i = 0; i < regions.size(); i++) {
            ClassEffects& feature = effects_[regions[i].place];
            const double in = (1 - regions[i].mass) * others[i], out = -regions[i].mass * others[i];
            const double step = value * others[i];  // from out to in
            feature.everywhere[output] += value * out;
            for (size_t at = output, code = 0; at < feature.effects.size(); at += outputs, code++)
                feature.effects[at] += regions[i].inside[code] != 0 ? step : 0;
            for (size_t at = output, code = 0; at < feature.variances.size(); at += outputs, code++) {
                const double share = sd * (regions[i].inside[code] != 0 ? in : out);
                feature.variances[at] += share * share;
            }
        }
    }
}

// What a tree says about a class of codes, it says about each of them.
void GroupMeasure::Leave(const std::vector<CodeClasses>& classes) {
    const size_t outputs = group_.means.size();
    const auto add = [&](const CodeClasses& feature, const std::vector<double>& from,
                         std::vector<double>* to) {
        if (outputs == 1 && feature.count() == feature.ends.size()) {  // runs
            for (size_t run = 0, code = 0; run < feature.count(); run++)
                for (; code < feature.ends[run]; code++)
                    (*to)[code] += from[run];
            return;
        }
        for (size_t code = 0; code < feature.of.size(); code++)
            for (size_t output = 0; output < outputs; output++)
                (*to)[code * outputs + output] += from[feature.of[code] * outputs + output];
    };
    for (size_t i = 0; i < classes.size(); i++) {
        const size_t at = group_.PlaceOf(classes[i].feature);
        if (at == group_.features.size())
            continue;  // a split on which nothing depends
        for (size_t j = 0; j < effects_[i].effects.size(); j++)
            effects_[i].effects[j] += effects_[i].everywhere[j % outputs];
        add(classes[i], effects_[i].effects, &group_.effects[at]);
        if (!effects_[i].variances.empty())
            add(classes[i], effects_[i].variances, &group_.variances[at]);
    }
}

void MeasureGroup(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt, TreeGroup* group) {
    GroupMeasure measure(model, group);
    RegionWalk walk(model.features(), masses, interrupt);
    for (const size_t i : group->trees) {
        const Tree& tree = model.trees()[i];
        walk.Enter(tree);
        measure.Enter(tree, walk.classes());
        walk.VisitLeaves([&](size_t leaf, const Regions& regions) { measure.AddLeaf(tree, leaf, regions); });
        measure.Leave(walk.classes());
    }
}

}  // namespace dpboost
