// Trees on the products that were found (interactions.h).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/portable_math.h"
#include "learner/auto/interactions/interactions.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

}  // namespace

void Interactions::CountPairs(double fraction) {
    Basis basis;
    std::vector<size_t> pairs;
    for (size_t g = 0; g < found_.size(); g++) {
        if (found_[g].features.size() != 2)
            continue;
        BasisBlock block;
        block.view = ProductView(tables_.ranks(), EvenDigits(found_[g].features, kCountDigits), kCountDigits);
        block.partition.leaves = block.view.cells;
        block.partition.leaf.resize(block.view.cells);
        std::iota(block.partition.leaf.begin(), block.partition.leaf.end(), 0U);
        basis.Add(std::move(block));
        pairs.push_back(g);
    }
    if (pairs.empty())
        return;
    stage_.rows.SetBasis(basis);
    const NoisySums counts = stage_.pool.Release(fraction, stage_.rows.CountSums());
    const double steps = stage_.rows.StepsPerOne(), sigma = counts.sigma / steps;
    for (size_t p = 0; p < pairs.size(); p++) {
        Found& found = found_[pairs[p]];
        const RankGroups &first = tables_.ranks()[found.features[0]],
                         &second = tables_.ranks()[found.features[1]];
        const std::vector<double> rows = first.DigitMass(kCountDigits),
                                  columns = second.DigitMass(kCountDigits);
        std::vector<double> even, differences;
        double squares = 1e-9;
        for (uint32_t cell = 0; cell < kCountDigits * kCountDigits; cell++) {
            even.push_back(rows[cell / kCountDigits] * columns[cell % kCountDigits] / stage_.counts.rows);
            differences.push_back(static_cast<double>(counts.values[basis.blocks()[p].first + cell]) / steps -
                                  even.back());
            squares += differences.back() * differences.back();
        }
        // Towards independence (James-Stein).
        const double keep =
            std::max(0.0, 1 - (static_cast<double>(even.size()) - 2) * sigma * sigma / squares);
        for (uint32_t cell = 0; cell < even.size(); cell++)
            found.coarse.push_back(
                std::max(schedule_.least_pair_cell * even[cell], even[cell] + keep * differences[cell]));
        found.cells.resize(kRankGroups * kRankGroups);
        for (uint32_t a = 0; a < kRankGroups; a++) {
            for (uint32_t b = 0; b < kRankGroups; b++) {
                const uint32_t i = a * kCountDigits / kRankGroups, j = b * kCountDigits / kRankGroups;
                found.cells[a * kRankGroups + b] = found.coarse[i * kCountDigits + j] * first.mass[a] /
                                                   std::max(1e-9, rows[i]) * second.mass[b] /
                                                   std::max(1e-9, columns[j]);
            }
        }
    }
}

std::vector<Interactions::Group> Interactions::MakeGroups() const {
    std::vector<Group> groups;
    double total = 0;
    for (size_t g = 0; g < found_.size(); g++) {
        const bool pair = found_[g].features.size() == 2;
        groups.push_back({found_[g].features,
                          std::sqrt(found_[g].score),
                          Whole(pair ? schedule_.pair_intervals : schedule_.triple_intervals),
                          pair ? std::vector<size_t>{g} : std::vector<size_t>{},
                          0,
                          0,
                          {}});
        total += groups.back().weight;
    }
    // Chains: two pairs that share a feature, which stands in the middle.
    std::vector<Group> chains;
    for (size_t g = 0; g < found_.size(); g++) {
        for (size_t h = g + 1; h < found_.size(); h++) {
            const std::vector<uint32_t>&one = found_[g].features, &two = found_[h].features;
            if (one.size() != 2 || two.size() != 2)
                continue;
            for (const uint32_t shared : one) {
                if (shared != two[0] && shared != two[1])
                    continue;
                chains.push_back({{one[0] + one[1] - shared, shared, two[0] + two[1] - shared},
                                  std::sqrt(groups[g].weight * groups[h].weight),
                                  Whole(schedule_.chain_intervals),
                                  {g, h},
                                  0,
                                  0,
                                  {}});
            }
        }
    }
    std::stable_sort(chains.begin(), chains.end(),
                     [](const Group& a, const Group& b) { return a.weight > b.weight; });
    chains.resize(schedule_.chain_weight > 0 ? std::min<size_t>(Whole(schedule_.most_chains), chains.size())
                                             : 0);
    double chained = 0;
    for (const Group& chain : chains)
        chained += chain.weight;
    const double share = std::min(schedule_.most_chain_share, schedule_.chain_weight);
    for (Group& chain : chains) {
        chain.weight *= share / (1 - share) * total / chained;
        groups.push_back(std::move(chain));
    }
    for (Group& group : groups)
        group.cells = ExpectedRows(group);
    return groups;
}

// Of a chain, as if its ends were independent given the middle; of a triple, as if all were.
std::vector<double> Interactions::ExpectedRows(const Group& group) const {
    if (group.pairs.size() == 1)
        return found_[group.pairs[0]].cells;
    constexpr uint32_t kLevels = kRankGroups / kTripleStep;
    const auto pair_rows = [&](size_t pair, size_t i, uint32_t a, uint32_t b) {  // of features i and i + 1
        const Found& found = found_[group.pairs[pair]];
        const bool straight = found.features[0] == group.features[i];
        return found.coarse[straight ? a * kCountDigits + b : b * kCountDigits + a];
    };
    static_assert(kLevels == kCountDigits, "a chain's counts are those of its pairs");
    std::vector<std::vector<double>> masses;
    for (const uint32_t feature : group.features)
        masses.push_back(tables_.ranks()[feature].DigitMass(kLevels));
    std::vector<double> cells;
    for (uint32_t a = 0; a < kLevels; a++) {
        for (uint32_t b = 0; b < kLevels; b++) {
            for (uint32_t c = 0; c < kLevels; c++)
                cells.push_back(group.pairs.empty() ? masses[0][a] * masses[1][b] * masses[2][c] /
                                                          (stage_.counts.rows * stage_.counts.rows)
                                                    : pair_rows(0, 0, a, b) * pair_rows(1, 1, b, c) /
                                                          std::max(1.0, masses[1][b]));
        }
    }
    return cells;
}

double Interactions::StrengthBeyond() const {
    return portable::Pow(std::max(1.0, stage_.strength), schedule_.product_push);
}

// Random intervals of each of the group's features.
Interactions::ProductTree Interactions::DrawTree(Group& group) const {
    const uint32_t step = group.features.size() == 2 ? 1 : kTripleStep;  // of groups that are told apart
    std::vector<ProductFactorGroups> factors = EvenDigits(group.features, 1);
    for (ProductFactorGroups& factor : factors) {
        for (uint32_t k = 0; k + 1 < group.intervals; k++) {
            const double position =
                (k + stage_.random.Fraction()) / (group.intervals - 1) * kRankGroups / step;
            const uint32_t cut =
                step * std::clamp(static_cast<uint32_t>(position), 1U, kRankGroups / step - 1);
            for (uint32_t g = cut; g < kRankGroups; g++)
                factor.digit[g]++;
        }
    }
    return {&group, std::move(factors)};
}

void Interactions::GrowTrees(const std::vector<ProductTree>& trees, double fraction, double rate,
                             double kappa) {
    Basis basis;
    for (const ProductTree& tree : trees) {
        BasisBlock block;
        block.view = ProductView(tables_.ranks(), tree.factors, tree.group->intervals);
        block.partition.leaves = block.view.cells;
        block.partition.leaf.resize(block.view.cells);
        std::iota(block.partition.leaf.begin(), block.partition.leaf.end(), 0U);
        basis.Add(std::move(block));
    }
    stage_.rows.SetBasis(basis);
    const NoisyGradients sums =
        stage_.Gradients(stage_.pool.Release(fraction, stage_.rows.GradientSums(*objective_)));
    for (size_t t = 0; t < trees.size(); t++)
        AddTree(trees[t], sums, basis, t, rate, kappa);
}

// Rows that are expected in each leaf.
std::vector<double> Interactions::LeafRows(const ProductTree& tree, uint32_t leaves) const {
    const Group& group = *tree.group;
    const uint32_t step = group.features.size() == 2 ? 1 : kTripleStep, levels = kRankGroups / step;
    std::vector<double> counts(leaves, 0.0);
    for (size_t entry = 0; entry < group.cells.size(); entry++) {
        uint32_t leaf = 0;
        size_t stride = group.cells.size();
        for (const ProductFactorGroups& factor : tree.factors) {
            stride /= levels;
            leaf = leaf * group.intervals + factor.digit[entry / stride % levels * step];
        }
        counts[leaf] += group.cells[entry];
    }
    return counts;
}

void Interactions::AddTree(const ProductTree& tree, const NoisyGradients& sums, const Basis& basis,
                           size_t block, double rate, double kappa) {
    Group& group = *tree.group;
    const uint32_t leaves = basis.blocks()[block].partition.leaves, first = basis.blocks()[block].first;
    const std::vector<double> counts = LeafRows(tree, leaves);
    const double unit = clip_ / stage_.rows.StepsPerOne(), sigma = sums.sigma * unit;
    const size_t outputs = stage_.outputs();
    double signal = 0, noise = 1e-12;
    std::vector<double> values(leaves * outputs), sds(leaves * outputs);
    for (size_t entry = 0; entry < values.size(); entry++) {
        const size_t leaf = entry / outputs, output = entry % outputs;
        const double gradient = sums.values[output * basis.coordinates() + first + leaf] * unit;
        const double count = std::max(counts[leaf], schedule_.least_cell * stage_.counts.rows / leaves);
        const double weight = count / (count * count + kappa);
        const double variance =
            sigma * sigma + count * schedule_.sampling * stage_.Sampling(output) * clip_ * clip_;
        signal += (gradient * gradient - variance) * weight;
        noise += variance * weight;
        values[entry] = rate * gradient * weight;
        sds[entry] = rate * sigma * weight;
    }
    group.trees++;
    group.signal += signal / noise;
    const double own = std::max(0.0, group.signal / group.trees);
    const double keep =
        own > 0 ? own / (own + schedule_.product_prior / (stage_.strength * StrengthBeyond())) : 0;
    for (size_t entry = 0; entry < values.size(); entry++) {
        values[entry] *= keep;
        sds[entry] *= keep;
    }
    tables_.Add(tree.factors, group.intervals, values, sds);
}

void Interactions::Grow(double leave) {
    const double part = stage_.pool.left() - leave;
    CountPairs(schedule_.count_share * part);
    TakeSmoothSteps(leave + part * (1 - schedule_.count_share - schedule_.smooth_share));
    std::vector<Group> groups = MakeGroups();
    double total = 0;
    for (const Group& group : groups)
        total += group.weight;
    const double count = std::min(schedule_.most_groups, static_cast<double>(groups.size()));
    const double mu = stage_.pool.mu() * std::sqrt(stage_.pool.left() - leave);
    const double kappa =
        schedule_.product_kappa * stage_.NoiseSpread() * stage_.NoiseSpread() * count / (mu * mu);
    const uint32_t trees = Whole(schedule_.product_trees);
    const uint32_t per_draw = std::max(1U, Whole(schedule_.trees_per_draw));
    const double step =
        StrengthBeyond() * std::min(schedule_.product_rate, schedule_.product_time * count / trees);
    const double rate =
        std::min(step, schedule_.product_step / std::min(per_draw, trees)) / objective_->curvature();
    for (uint32_t done = 0; done < trees;) {
        const uint32_t count_now = std::min(per_draw, trees - done);
        std::vector<ProductTree> drawn;
        for (uint32_t t = 0; t < count_now; t++) {
            double position = (t + stage_.random.Fraction()) / count_now * total;
            size_t g = 0;
            while (g + 1 < groups.size() && position >= groups[g].weight)
                position -= groups[g++].weight;
            drawn.push_back(DrawTree(groups[g]));
        }
        GrowTrees(drawn, stage_.pool.Slice(leave, trees - done) * count_now, rate, kappa);
        done += count_now;
    }
}

}  // namespace dpboost
