#include "learner/auto/interactions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

// How a feature is cut for a product: thresholds of a numeric one (missing goes with the second interval), or
// a group for each level.
struct Cut {
    uint32_t feature = 0;
    uint32_t thresholds[kDigits - 1] = {0, 0, 0};
    std::vector<uint8_t> digits;  // per cell
};

Cut CutFeature(const AdditiveStage& stage, uint32_t feature, bool jitter) {
    const FeatureSpec& spec = stage.features[feature];
    const std::vector<double>& counts = stage.counts.cells[feature];
    Cut cut;
    cut.feature = feature;
    cut.digits.resize(spec.cells());
    if (!spec.ordered()) {
        for (uint8_t& digit : cut.digits)
            digit = static_cast<uint8_t>(stage.random.Below(kDigits));
        return cut;
    }
    double total = 0;
    for (uint32_t bin = 0; bin < spec.bins(); bin++)
        total += counts[bin];
    for (uint32_t k = 0; k < kDigits - 1; k++) {
        const double rank = jitter ? (k + stage.random.Fraction()) / (kDigits - 1) : (k + 1.0) / kDigits;
        const double wanted = std::clamp(rank, kEdgeCut, 1 - kEdgeCut) * total;
        double below = 0;
        uint32_t bin = 0;
        while (bin + 1 < spec.bins() && below + counts[bin] / 2 < wanted)
            below += counts[bin++];
        cut.thresholds[k] = bin > 0 && below + counts[bin] / 2 >= wanted ? bin - 1 : bin;
    }
    for (uint32_t bin = 0; bin < spec.bins(); bin++) {
        for (uint32_t k = 0; k < kDigits - 1; k++)
            cut.digits[bin] = static_cast<uint8_t>(cut.digits[bin] + (bin > cut.thresholds[k] ? 1 : 0));
    }
    cut.digits[spec.missing()] = 1;
    return cut;
}

struct Product {
    std::vector<Cut> cuts;
    CodeView view;

    uint32_t Digit(uint32_t code, size_t factor) const {
        return code >> (2 * (cuts.size() - 1 - factor)) & (kDigits - 1);
    }
};

Product MakeProduct(const AdditiveStage& stage, const std::vector<uint32_t>& group, bool jitter) {
    Product product;
    product.view.cells = 1;
    for (const uint32_t feature : group) {
        product.cuts.push_back(CutFeature(stage, feature, jitter));
        product.view.cells *= kDigits;
    }
    for (size_t i = 0; i < group.size(); i++) {
        ProductFactor factor;
        factor.column = group[i];
        for (const uint8_t digit : product.cuts[i].digits)
            factor.offsets.push_back(static_cast<uint16_t>(digit << (2 * (group.size() - 1 - i))));
        product.view.factors.push_back(std::move(factor));
    }
    return product;
}

BasisBlock LeavesOf(const Product& product) {
    BasisBlock block;
    block.view = product.view;
    block.partition.leaves = product.view.cells;
    block.partition.leaf.resize(product.view.cells);
    std::iota(block.partition.leaf.begin(), block.partition.leaf.end(), 0U);
    return block;
}

// All groups of this size in ascending order.
void AddAllGroups(uint32_t features, uint32_t size, std::vector<uint32_t>& chosen,
                  std::vector<std::vector<uint32_t>>& groups) {
    if (chosen.size() == size) {
        groups.push_back(chosen);
        return;
    }
    for (uint32_t f = chosen.empty() ? 0 : chosen.back() + 1; f < features; f++) {
        chosen.push_back(f);
        AddAllGroups(features, size, chosen, groups);
        chosen.pop_back();
    }
}

// All groups if there are few features, else random ones.
std::vector<std::vector<uint32_t>> ChooseGroups(uint32_t features, uint32_t size, PublicRandom& random) {
    std::vector<std::vector<uint32_t>> groups;
    if (features <= kFewFeatures) {
        std::vector<uint32_t> chosen;
        AddAllGroups(features, std::min(size, features), chosen, groups);
        return groups;
    }
    std::vector<uint32_t> order(features);
    for (uint32_t k = 0; k < kMaxGroups; k++) {
        random.Permutation(order.data(), features);
        groups.emplace_back(order.begin(), order.begin() + size);
        std::sort(groups.back().begin(), groups.back().end());
    }
    return groups;
}

// Noisy figures of a product's leaves.
struct LeafFigures {
    std::vector<double> gradients;
    std::vector<double> counts;  // at least as large as is significant
    double gradient_sigma = 0;
};

// The part of the leaves' sums that no additive function of the factors explains: weighted least squares by
// backfitting; what it leaves over, minus what noise and sampling would leave on average.
struct Explained {
    double product = 0;
    double single = 0;
    double variance = 0;
};

Explained Explain(const Product& product, const LeafFigures& leaves, double sampling_variance) {
    const size_t cells = leaves.counts.size();
    std::vector<double> fit(cells, 0.0);
    for (int sweep = 0; sweep < kBackfittingSweeps; sweep++) {
        for (size_t i = 0; i < product.cuts.size(); i++) {
            double sums[kDigits] = {}, weights[kDigits] = {};
            for (uint32_t leaf = 0; leaf < cells; leaf++) {
                sums[product.Digit(leaf, i)] += leaves.gradients[leaf] - leaves.counts[leaf] * fit[leaf];
                weights[product.Digit(leaf, i)] += leaves.counts[leaf];
            }
            for (uint32_t leaf = 0; leaf < cells; leaf++)
                fit[leaf] += sums[product.Digit(leaf, i)] / weights[product.Digit(leaf, i)];
        }
    }
    Explained explained;
    double noise = 0, all = 0;
    for (size_t leaf = 0; leaf < cells; leaf++) {
        const double left = leaves.gradients[leaf] - leaves.counts[leaf] * fit[leaf];
        const double leaf_noise = leaves.gradient_sigma * leaves.gradient_sigma / leaves.counts[leaf];
        explained.product += left * left / leaves.counts[leaf];
        all += leaves.gradients[leaf] * leaves.gradients[leaf] / leaves.counts[leaf];
        noise += leaf_noise;
        explained.variance += 2 * leaf_noise * leaf_noise;
    }
    const double additive_freedom = static_cast<double>(product.cuts.size() * (kDigits - 1) + 1);
    const double freedom = static_cast<double>(cells) - additive_freedom;
    explained.single =
        std::max(0.0, all - explained.product - noise * additive_freedom / static_cast<double>(cells));
    explained.product -= noise * freedom / static_cast<double>(cells) + sampling_variance * freedom;
    return explained;
}

Tree ToTree(const AdditiveStage& stage, const Product& product, const std::vector<int32_t>& leaves) {
    const unsigned depth = static_cast<unsigned>(2 * product.cuts.size());
    Tree tree = Tree::OfDepth(depth);
    for (size_t node = 0; node < tree.split_count(); node++) {
        unsigned level = 0;
        while ((size_t{2} << level) - 1 <= node)
            level++;
        const Cut& cut = product.cuts[level / 2];
        const bool second = level % 2 == 1;
        const bool right_half = second && node % 2 == 0;              // right children have even numbers
        const uint32_t last_left = !second ? 1 : right_half ? 2 : 0;  // digits up to this go left
        const FeatureSpec& spec = stage.features[cut.feature];
        Split& split = tree.splits[node];
        split.feature = static_cast<uint16_t>(cut.feature);
        if (spec.ordered()) {
            split.threshold = static_cast<uint16_t>(cut.thresholds[last_left]);
            split.missing_left = cut.digits[spec.missing()] <= last_left;
            continue;
        }
        split.kind = SplitKind::kSubset;
        split.subset = tree.AddSubset(spec);
        for (uint32_t code = 0; code < spec.cells(); code++) {
            if (cut.digits[code] <= last_left)
                tree.AddToSubset(split.subset, code);
        }
    }
    tree.leaves = leaves;
    return tree;
}

}  // namespace

InteractionFinding QueryInteractions(const AdditiveStage& stage, double fraction, uint32_t max_features) {
    const double clip = stage.Clip(stage.schedule.interaction_clip);
    const double steps = stage.rows.StepsPerUnit();
    InteractionFinding finding;
    finding.groups = ChooseGroups(static_cast<uint32_t>(stage.features.size()), max_features, stage.random);
    std::vector<Product> products;
    Basis basis;
    for (const std::vector<uint32_t>& group : finding.groups) {
        products.push_back(MakeProduct(stage, group, false));
        basis.Add(LeavesOf(products.back()));
    }
    stage.rows.SetBasis(basis);
    const NoisySums gradients =
        stage.pool.Release(kQueryGradients * fraction, stage.rows.GradientSums(*stage.ClippedAt(clip)));
    const NoisySums counts = stage.pool.Release(kQueryCounts * fraction, stage.rows.CountSums());
    const double count_sigma = counts.sigma / steps;

    Explained total;
    for (size_t g = 0; g < products.size(); g++) {
        LeafFigures leaves;
        leaves.gradient_sigma = gradients.sigma * clip / steps;
        for (uint32_t leaf = 0; leaf < products[g].view.cells; leaf++) {
            const size_t k = basis.blocks()[g].first + leaf;
            leaves.gradients.push_back(static_cast<double>(gradients.values[k]) * clip / steps);
            leaves.counts.push_back(
                std::max(static_cast<double>(counts.values[k]) / steps, kLeastCount * count_sigma));
        }
        const Explained explained = Explain(products[g], leaves, kSamplingVariance * clip * clip);
        finding.scores.push_back(std::max(0.0, explained.product));
        total.product += explained.product;
        total.single += explained.single;
        total.variance += explained.variance;
    }
    const double ratio = total.product > 0 ? total.product / (total.product + total.single) : 0;
    if (total.product > kFoundSigmas * std::sqrt(total.variance) && ratio > kFoundRatio)
        finding.share = std::min(kMaxShare, ratio);
    return finding;
}

void GrowInteractionTrees(const AdditiveStage& stage, const InteractionFinding& finding, double leave,
                          Model& model) {
    const AutoSchedule& schedule = stage.schedule;
    const double clip = stage.Clip(schedule.interaction_clip);
    const double steps = stage.rows.StepsPerUnit();
    const double mu = stage.pool.mu() * std::sqrt(stage.pool.left() - leave);
    const double kappa = schedule.interaction_kappa * stage.spread * stage.spread / (mu * mu);
    const std::unique_ptr<const Objective> objective = stage.ClippedAt(clip);
    const double rate = schedule.interaction_time / schedule.interaction_trees / objective->curvature();
    const double total_score = std::accumulate(finding.scores.begin(), finding.scores.end(), 0.0);
    for (uint32_t t = 0; t < schedule.interaction_trees; t++) {
        double position = stage.random.Fraction() * total_score;
        size_t g = 0;
        while (g + 1 < finding.groups.size() && position >= finding.scores[g])
            position -= finding.scores[g++];
        const Product product = MakeProduct(stage, finding.groups[g], true);
        Basis basis;
        basis.Add(LeavesOf(product));
        stage.rows.SetBasis(basis);
        const double part = stage.pool.Slice(leave, schedule.interaction_trees - t);
        const double count_part = part * kCountShare;
        const NoisySums counts = stage.pool.Release(count_part, stage.rows.CountSums());
        const bool last = t + 1 == schedule.interaction_trees;
        const NoisySums gradients = stage.pool.Release(last ? stage.pool.Slice(leave, 1) : part - count_part,
                                                       stage.rows.GradientSums(*objective));
        std::vector<int32_t> leaves(product.view.cells);
        std::vector<float> leaf_sds(product.view.cells);
        for (uint32_t leaf = 0; leaf < product.view.cells; leaf++) {
            const double gradient = static_cast<double>(gradients.values[leaf]) * clip / steps;
            const double count =
                std::max(static_cast<double>(counts.values[leaf]) / steps, counts.sigma / steps);
            const double gain = rate * count / (count * count + kappa);
            const double value = rate * gradient * count / (count * count + kappa);
            leaf_sds[leaf] =
                static_cast<float>(std::min(gain * gradients.sigma * clip / steps, stage.tables.limit()));
            leaves[leaf] = ToFixed(std::clamp(value, -stage.tables.limit(), stage.tables.limit()));
        }
        stage.rows.AddTable(product.view, leaves);
        Tree tree = ToTree(stage, product, leaves);
        tree.leaf_sds = std::move(leaf_sds);
        model.AddTree(std::move(tree));
    }
}

}  // namespace dpboost
