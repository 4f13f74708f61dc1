#include "model/explain/tree_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/explain/tree_regions.h"

namespace dpboost {
namespace {

// Masses of all regions but one, for each; and of all.
double OtherMasses(const std::vector<Region>& regions, std::vector<double>* others) {
    double mass = 1;
    others->assign(regions.size(), 1.0);
    for (size_t i = 0; i < regions.size(); i++) {
        (*others)[i] *= mass;
        mass *= regions[i].mass;
    }
    double behind = 1;
    for (size_t i = regions.size(); i-- > 0;) {
        (*others)[i] *= behind;
        behind *= regions[i].mass;
    }
    return mass;
}

// What the leaves of one tree say about one feature, per class of codes: main effects and their variances, as in TreeGroup.
struct ClassEffects {
    std::vector<double> effects;  // [class * outputs + output]
    std::vector<double> variances;
};

// A leaf of value w with regions of mass q_i: its mean is w prod q, the main effect of feature i for a code in its region
// w (1 - q_i) prod_{j != i} q_j and else -w prod q. Of the leaf's variance over the reference, prod q - (prod q)^2, the
// main effects have sum_i q_i (1 - q_i) prod_{j != i} q_j^2; the rest is the pure interaction's.
void AddLeaf(const Tree& tree, size_t leaf, const std::vector<Region>& regions, TreeGroup* group,
             std::vector<ClassEffects>* effects) {
    const size_t outputs = group->means.size();
    std::vector<double> others;
    const double mass = OtherMasses(regions, &others);
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
            ClassEffects& feature = (*effects)[regions[i].place];
            const double in = (1 - regions[i].mass) * others[i], out = -regions[i].mass * others[i];
            for (size_t at = output, code = 0; at < feature.effects.size(); at += outputs, code++) {
                const double share = regions[i].inside[code] != 0 ? in : out;
                feature.effects[at] += value * share;
                feature.variances[at] += sd * share * sd * share;
            }
        }
    }
}

// What a tree says about a class of codes, it says about each of them.
void AddToCodes(const std::vector<CodeClasses>& classes, const std::vector<ClassEffects>& effects,
                TreeGroup* group) {
    const size_t outputs = group->means.size();
    for (size_t i = 0; i < classes.size(); i++) {
        const size_t at = group->PlaceOf(classes[i].feature);
        if (at == group->features.size())
            continue;  // a split on which nothing depends
        for (size_t code = 0; code < classes[i].of.size(); code++) {
            for (size_t output = 0; output < outputs; output++) {
                const size_t from = classes[i].of[code] * outputs + output, to = code * outputs + output;
                group->effects[at][to] += effects[i].effects[from];
                group->variances[at][to] += effects[i].variances[from];
            }
        }
    }
}

}  // namespace

size_t TreeGroup::PlaceOf(uint16_t feature) const noexcept {
    const auto at = std::lower_bound(features.begin(), features.end(), feature);
    return static_cast<size_t>((at != features.end() && *at == feature ? at : features.end()) -
                               features.begin());
}

double TreeGroup::Pure(const Model& model, const uint16_t* codes, size_t output) const noexcept {
    const size_t outputs = means.size();
    double value = -means[output];
    for (const size_t tree : trees)
        value +=
            model.trees()[tree].leaves[model.trees()[tree].Leaf(codes, model.features()) * outputs + output];
    for (size_t i = 0; i < features.size(); i++)
        value -= effects[i][std::min(codes[features[i]], model.features()[features[i]].missing()) * outputs +
                            output];
    return value;
}

std::vector<TreeGroup> GroupTrees(const Model& model, bool together) {
    std::map<std::vector<uint16_t>, std::vector<size_t>> by_features;
    TreeGroup all;
    for (size_t i = 0; i < model.trees().size(); i++) {
        const std::vector<uint16_t> features = FeaturesOf(model.trees()[i]);
        by_features[features].push_back(i);
        all.features.insert(all.features.end(), features.begin(), features.end());
        all.trees.push_back(i);
    }
    if (together) {
        std::sort(all.features.begin(), all.features.end());
        all.features.erase(std::unique(all.features.begin(), all.features.end()), all.features.end());
        return {all};
    }
    std::vector<TreeGroup> groups;
    for (auto& [features, trees] : by_features) {
        groups.emplace_back();
        groups.back().features = features;
        groups.back().trees = std::move(trees);
    }
    return groups;
}

void MeasureGroup(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt, TreeGroup* group) {
    const size_t outputs = model.outputs();
    group->means.assign(outputs, 0.0);
    group->pure_variances.assign(outputs, 0.0);
    group->effects.clear();
    group->variances.clear();
    for (const uint16_t feature : group->features) {
        group->effects.emplace_back(model.features()[feature].cells() * outputs, 0.0);
        group->variances.push_back(group->effects.back());
    }
    for (const size_t i : group->trees) {
        const Tree& tree = model.trees()[i];
        const std::vector<CodeClasses> classes = ClassesOf(tree, model.features(), masses, interrupt);
        std::vector<ClassEffects> effects(classes.size());
        for (size_t k = 0; k < classes.size(); k++) {
            effects[k].effects.assign(classes[k].count() * outputs, 0.0);
            effects[k].variances = effects[k].effects;
        }
        RegionVisitor visitor;
        visitor.leaf = [&](size_t leaf, const std::vector<Region>& regions) {
            interrupt.Poll();
            AddLeaf(tree, leaf, regions, group, &effects);
        };
        VisitRegions(tree, model.features(), classes, interrupt, visitor);
        AddToCodes(classes, effects, group);
    }
}

}  // namespace dpboost
