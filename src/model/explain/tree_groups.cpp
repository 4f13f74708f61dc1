#include "model/explain/tree_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "model/cell_label.h"
#include "model/explain/tree_regions.h"

namespace dpboost {
namespace {

constexpr uint32_t kMostParts = 16;  // of a feature, beside missing
constexpr uint32_t kEvenParts = 12;

size_t PlaceOf(const TreeGroup& group, uint16_t feature) {
    return static_cast<size_t>(std::lower_bound(group.features.begin(), group.features.end(), feature) -
                               group.features.begin());
}

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

// A leaf of value w with regions of mass q_i: its mean is w prod q, the main effect of feature i for a code in its region
// w (1 - q_i) prod_{j != i} q_j and else -w prod q. Of the leaf's variance over the reference, prod q - (prod q)^2, the
// main effects have sum_i q_i (1 - q_i) prod_{j != i} q_j^2; the rest is the pure interaction's.
void AddLeaf(const Tree& tree, size_t leaf, const std::vector<Region>& regions, TreeGroup* group) {
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
            const size_t at = PlaceOf(*group, regions[i].feature);
            if (at == group->features.size() || group->features[at] != regions[i].feature)
                continue;  // a split on which nothing depends
            for (size_t code = 0; code < regions[i].inside.size(); code++) {
                const double share = ((regions[i].inside[code] != 0 ? 1 : 0) - regions[i].mass) * others[i];
                group->effects[at][code * outputs + output] += value * share;
                group->variances[at][code * outputs + output] += sd * share * sd * share;
            }
        }
    }
}

CodeParts PartsByCodes(const FeatureSpec& feature, const std::vector<uint32_t>& last_codes) {
    CodeParts parts;
    uint32_t first = 0;
    for (const uint32_t last : last_codes) {
        parts.labels.push_back(RangeLabel(feature, first, last));
        parts.part.insert(parts.part.end(), last + 1 - first, static_cast<uint16_t>(parts.labels.size() - 1));
        first = last + 1;
    }
    return parts;
}

// The most frequent codes each, the rest together.
CodeParts PartsByMass(const FeatureSpec& feature, const std::vector<double>& masses) {
    std::vector<uint32_t> order(feature.bins());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return masses[a] > masses[b]; });
    CodeParts parts;
    parts.part.assign(feature.cells(), kMostParts - 1);
    for (uint16_t k = 0; k + 1U < kMostParts; k++) {
        parts.labels.push_back(CellLabel(feature, order[k]));
        parts.part[order[k]] = k;
    }
    parts.labels.emplace_back("others");
    parts.labels.push_back(CellLabel(feature, feature.missing()));
    parts.part[feature.missing()] = kMostParts;
    return parts;
}

std::vector<uint32_t> LastCodes(const Model& model, size_t f) {
    const FeatureSpec& feature = model.features()[f];
    std::vector<uint32_t> last_codes;
    if (feature.bins() > kMostParts && model.evidence().reference) {
        const std::vector<uint16_t>& coarse = model.evidence().reference->marginals[f].last_codes;
        if (coarse.size() <= kMostParts + 1)
            return {coarse.begin(), coarse.end()};
    }
    const uint32_t parts = feature.bins() <= kMostParts ? feature.bins() : kEvenParts;
    for (uint32_t part = 1; part <= parts; part++)
        last_codes.push_back(static_cast<uint32_t>(static_cast<uint64_t>(feature.bins()) * part / parts - 1));
    last_codes.push_back(feature.missing());
    return last_codes;
}

// Per part, which share of it is in the region: by mass, or by codes where the part has none.
std::vector<double> SharesOf(const Region& region, const CodeParts& parts,
                             const std::vector<double>& masses) {
    std::vector<double> inside(parts.masses.size(), 0.0), codes(parts.masses.size(), 0.0);
    for (size_t code = 0; code < region.inside.size(); code++) {
        const size_t part = parts.part[code];
        const double weight = parts.masses[part] > 0 ? masses[code] : 1;
        codes[part] += weight;
        inside[part] += region.inside[code] != 0 ? weight : 0;
    }
    for (size_t part = 0; part < inside.size(); part++)
        inside[part] /= std::max(codes[part], std::numeric_limits<double>::min());
    return inside;
}

// Takes mean and main effects under the parts' masses away.
void Purify(const std::vector<const CodeParts*>& parts, std::vector<double>* grid) {
    double mean = 0;
    std::vector<std::vector<double>> sums;
    for (const CodeParts* feature : parts)
        sums.emplace_back(feature->masses.size(), 0.0);
    std::vector<size_t> at(parts.size(), 0);
    const auto advance = [&] {
        for (size_t i = parts.size(); i-- > 0 && ++at[i] == parts[i]->masses.size();)
            at[i] = 0;
    };
    for (const double value : *grid) {
        for (size_t i = 0; i <= parts.size(); i++) {
            double weight = value;
            for (size_t j = 0; j < parts.size(); j++)
                weight *= j == i ? 1 : parts[j]->masses[at[j]];
            (i == parts.size() ? mean : sums[i][at[i]]) += weight;
        }
        advance();
    }
    for (double& value : *grid) {
        for (size_t i = 0; i < parts.size(); i++)
            value -= sums[i][at[i]] - mean;
        value -= mean;
        advance();
    }
}

// What a leaf says on average for each cell of the grids of two features on its path. A leaf without one of them says the
// same for all its parts, which is no interaction: it is left out.
void AddPairs(double value, const std::vector<Region>& regions, const std::vector<uint16_t>& features,
              const std::vector<CodeParts>& parts, const ReferenceMasses& masses,
              std::map<std::pair<uint16_t, uint16_t>, std::vector<double>>* grids) {
    std::vector<std::vector<double>> shares(regions.size());
    for (size_t i = 0; i < regions.size(); i++) {
        if (std::binary_search(features.begin(), features.end(), regions[i].feature))
            shares[i] = SharesOf(regions[i], parts[regions[i].feature], masses.of(regions[i].feature));
    }
    for (size_t i = 0; i < regions.size(); i++) {
        for (size_t j = 0; j < regions.size(); j++) {
            if (regions[i].feature >= regions[j].feature || shares[i].empty() || shares[j].empty())
                continue;
            double rest = value;
            for (size_t k = 0; k < regions.size(); k++)
                rest *= k == i || k == j ? 1 : regions[k].mass;
            std::vector<double>& grid = (*grids)[{regions[i].feature, regions[j].feature}];
            grid.resize(shares[i].size() * shares[j].size(), 0.0);
            size_t cell = 0;
            for (const double a : shares[i]) {
                for (const double b : shares[j])
                    grid[cell++] += rest * a * b;
            }
        }
    }
}

}  // namespace

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
        RegionVisitor visitor;
        visitor.leaf = [&](size_t leaf, const std::vector<Region>& regions) {
            interrupt.Poll();
            AddLeaf(tree, leaf, regions, group);
        };
        VisitRegions(tree, model.features(), masses, interrupt, visitor);
    }
}

CodeParts PartsOf(const Model& model, const ReferenceMasses& masses, size_t f) {
    const FeatureSpec& feature = model.features()[f];
    CodeParts parts = !feature.ordered() && feature.bins() > kMostParts
                          ? PartsByMass(feature, masses.of(f))
                          : PartsByCodes(feature, LastCodes(model, f));
    parts.masses.assign(parts.labels.size(), 0.0);
    for (size_t code = 0; code < parts.part.size(); code++)
        parts.masses[parts.part[code]] += masses.of(f)[code];
    return parts;
}

std::vector<double> PureGrid(const Model& model, const ReferenceMasses& masses, const TreeGroup& group,
                             const std::vector<CodeParts>& parts, size_t output, Interrupt& interrupt) {
    size_t cells = 1;
    for (const CodeParts& feature : parts)
        cells *= feature.masses.size();
    std::vector<double> grid(cells, 0.0), product;
    for (const size_t i : group.trees) {
        const Tree& tree = model.trees()[i];
        RegionVisitor visitor;
        visitor.leaf = [&](size_t leaf, const std::vector<Region>& regions) {
            interrupt.Poll();
            product.assign(1, tree.leaves[leaf * model.outputs() + output]);
            for (size_t g = 0; g < parts.size(); g++) {
                std::vector<double> shares(parts[g].masses.size(), 1.0);
                for (const Region& region : regions) {
                    if (region.feature == group.features[g])
                        shares = SharesOf(region, parts[g], masses.of(region.feature));
                }
                std::vector<double> next;
                next.reserve(product.size() * shares.size());
                for (const double value : product) {
                    for (const double share : shares)
                        next.push_back(value * share);
                }
                product = std::move(next);
            }
            // What nothing depends on is averaged: its regions are asked of nobody.
            for (const Region& region : regions) {
                if (!std::binary_search(group.features.begin(), group.features.end(), region.feature))
                    for (double& value : product)
                        value *= region.mass;
            }
            for (size_t cell = 0; cell < cells; cell++)
                grid[cell] += product[cell];
        };
        VisitRegions(tree, model.features(), masses, interrupt, visitor);
    }
    std::vector<const CodeParts*> all;
    for (const CodeParts& feature : parts)
        all.push_back(&feature);
    Purify(all, &grid);
    return grid;
}

std::vector<PairEffect> StrongestPairs(const Model& model, const ReferenceMasses& masses,
                                       const std::vector<uint16_t>& features,
                                       const std::vector<CodeParts>& parts, size_t output, size_t most,
                                       Interrupt& interrupt) {
    std::map<std::pair<uint16_t, uint16_t>, std::vector<double>> grids;
    for (const Tree& tree : model.trees()) {
        RegionVisitor visitor;
        visitor.leaf = [&](size_t leaf, const std::vector<Region>& regions) {
            interrupt.Poll();
            AddPairs(tree.leaves[leaf * model.outputs() + output], regions, features, parts, masses, &grids);
        };
        VisitRegions(tree, model.features(), masses, interrupt, visitor);
    }
    std::vector<PairEffect> pairs;
    for (auto& [pair, grid] : grids) {
        const CodeParts &first = parts[pair.first], &second = parts[pair.second];
        Purify({&first, &second}, &grid);
        PairEffect effect{{pair.first, pair.second}, std::move(grid), 0};
        for (size_t cell = 0; cell < effect.grid.size(); cell++)
            effect.size += std::fabs(effect.grid[cell]) * first.masses[cell / second.masses.size()] *
                           second.masses[cell % second.masses.size()];
        pairs.push_back(std::move(effect));
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const PairEffect& a, const PairEffect& b) { return a.size > b.size; });
    pairs.resize(std::min(pairs.size(), most));
    return pairs;
}

}  // namespace dpboost
