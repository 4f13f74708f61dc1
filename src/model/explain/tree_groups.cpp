#include "model/explain/tree_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dpboost {
namespace {

// Adds to the figures of a node's feature, for the classes in the region before its split, what the two sides say, minus
// what was said before. sides: per side and output.
void AddNode(const TreeRegions& regions, size_t node, size_t outputs, const double* sides,
             const double* before, double* figures) {
    for (const size_t side : {0, 1})
        ForClasses(regions.region(2 * node + 1 + side).inside, regions.words(regions.place(node)),
                   [&](size_t i) {
                       for (size_t k = 0; k < outputs; k++)
                           figures[i * outputs + k] += sides[side * outputs + k] - before[k];
                   });
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

GroupMeasure::GroupMeasure(const Model& model, TreeGroup* group) : group_(*group), outputs_(model.outputs()) {
    group->means.assign(outputs_, 0.0);
    group->pure_variances.assign(outputs_, 0.0);
    group->effects.clear();
    group->variances.clear();
    for (const uint16_t feature : group->features) {
        group->effects.emplace_back(model.features()[feature].cells() * outputs_, 0.0);
        group->variances.push_back(group->effects.back());
    }
}

void GroupMeasure::Add(const Tree& tree, const TreeRegions& regions, const std::vector<double>& sums) {
    for (size_t k = 0; k < outputs_; k++)
        group_.means[k] += sums[k];
    figures_.resize(std::max(figures_.size(), regions.classes().size()));
    AddEffects(regions, sums);
    if (!tree.leaf_sds.empty())
        AddVariances(tree, regions);
}

// A leaf of value w with regions of mass q_i: its mean is w prod q, the main effect of feature i for a code in its region
// w (1 - q_i) prod_{j != i} q_j and else -w prod q. That is w prod q (a_i / q_i - 1), a_i says whether the code is inside;
// a feature that is not on the path gets nothing, as if its region were everything.
void GroupMeasure::AddEffects(const TreeRegions& regions, const std::vector<double>& sums) {
    for (size_t i = 0; i < regions.classes().size(); i++)
        figures_[i].assign(regions.classes()[i].count() * outputs_, 0.0);
    std::vector<double> scaled(3 * outputs_);
    const size_t splits = sums.size() / outputs_ / 2;
    for (size_t node = 0; node < splits; node++) {
        if (!regions.is_met(node))
            continue;
        for (size_t k = 0; k < outputs_; k++) {
            for (const size_t side : {0, 1}) {
                const size_t child = 2 * node + 1 + side;
                scaled[side * outputs_ + k] =
                    regions.is_met(child) ? sums[child * outputs_ + k] / regions.region(child).weight() : 0;
            }
            scaled[2 * outputs_ + k] =
                sums[node * outputs_ + k] / regions.region(regions.before(node)).weight();
        }
        AddNode(regions, node, outputs_, scaled.data(), scaled.data() + 2 * outputs_,
                figures_[regions.place(node)].data());
    }
    AddSteps(regions, &group_.effects);
}

// With noise of variance v in the leaf, that of the main effect is v (prod q)^2 (a_i (1 - 2 q_i) / q_i^2 + 1). Of the
// leaf's own variance over the reference, prod q - (prod q)^2, the main effects have sum_i (prod q)^2 (1 - q_i) / q_i; the
// rest is the pure interaction's.
void GroupMeasure::AddVariances(const Tree& tree, const TreeRegions& regions) {
    const auto variance = [&](size_t leaf, size_t k) {
        const auto sd = static_cast<double>(tree.leaf_sds[leaf * outputs_ + k]);
        return sd * sd;
    };
    const auto square = [&](size_t node) { return regions.path(node) * regions.path(node); };
    regions.SumBelow(outputs_, variance, square, &squares_);
    regions.SumBelow(
        outputs_, variance, [&](size_t node) { return regions.path(node); }, &products_);
    for (size_t i = 0; i < regions.classes().size(); i++)
        figures_[i].assign(regions.classes()[i].count() * outputs_, 0.0);
    const auto inside = [](const Region& region) {
        return (1 - 2 * region.mass) / (region.weight() * region.weight());
    };
    const auto main_share = [](const Region& region) { return (1 - region.mass) / region.weight(); };
    std::vector<double> scaled(3 * outputs_);
    for (size_t k = 0; k < outputs_; k++)
        group_.pure_variances[k] += products_[k] - squares_[k];
    for (size_t node = 0; node < tree.split_count(); node++) {
        if (!regions.is_met(node))
            continue;
        const size_t before = regions.before(node);
        std::vector<double>& figures = figures_[regions.place(node)];
        for (size_t k = 0; k < outputs_; k++) {
            const double here = squares_[node * outputs_ + k];
            for (const size_t side : {0, 1}) {
                const size_t child = 2 * node + 1 + side;
                const double below = regions.is_met(child) ? squares_[child * outputs_ + k] : 0;
                scaled[side * outputs_ + k] = below * inside(regions.region(child));
                group_.pure_variances[k] -= below * main_share(regions.region(child));
            }
            scaled[2 * outputs_ + k] = before == 0 ? 0 : here * inside(regions.region(before));
            group_.pure_variances[k] += before == 0 ? 0 : here * main_share(regions.region(before));
            for (size_t at = k; at < figures.size() && before == 0; at += outputs_)
                figures[at] += here;
        }
        AddNode(regions, node, outputs_, scaled.data(), scaled.data() + 2 * outputs_, figures.data());
    }
    AddSteps(regions, &group_.variances);
}

// What a tree says about a class of codes, it says about each of them.
void GroupMeasure::AddSteps(const TreeRegions& regions, std::vector<std::vector<double>>* steps) const {
    for (size_t i = 0; i < regions.classes().size(); i++) {
        const CodeClasses& classes = regions.classes()[i];
        const size_t at = group_.PlaceOf(classes.feature);
        if (at == group_.features.size())
            continue;  // a split on which nothing depends
        double* const to = (*steps)[at].data();
        classes.ForRuns([&](uint32_t of, uint32_t first, uint32_t end) {
            const double* const figures = figures_[i].data() + of * outputs_;
            for (size_t k = 0; k < outputs_; k++) {
                to[first * outputs_ + k] += figures[k];
                if (end * outputs_ < (*steps)[at].size())
                    to[end * outputs_ + k] -= figures[k];
            }
        });
    }
}

void GroupMeasure::Finish() {
    for (std::vector<std::vector<double>>* all : {&group_.effects, &group_.variances})
        for (std::vector<double>& steps : *all)
            for (size_t at = outputs_; at < steps.size(); at++)
                steps[at] += steps[at - outputs_];
    for (std::vector<double>& variances : group_.variances)
        for (double& variance : variances)
            variance = std::max(0.0, variance);  // of differences
    for (double& variance : group_.pure_variances)
        variance = std::max(0.0, variance);
}

void MeasureGroup(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt, TreeGroup* group) {
    GroupMeasure measure(model, group);
    TreeRegions regions(model.features(), masses, interrupt);
    std::vector<double> sums;
    for (const size_t i : group->trees) {
        regions.Enter(model.trees()[i]);
        regions.SumLeaves(model.outputs(), &sums);
        measure.Add(model.trees()[i], regions, sums);
    }
    measure.Finish();
}

}  // namespace dpboost
