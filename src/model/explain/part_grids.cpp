#include "model/explain/part_grids.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "model/explain/tree_regions.h"
#include "model/labels/cell_label.h"

namespace dpboost {
namespace {

constexpr uint32_t kMostParts = 15;  // of a feature, beside missing: with it, four vectors of four
constexpr uint32_t kEvenParts = 12;

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

// Per class of codes: the parts where it has codes, and which share of the part it is, by mass, or by codes where the
// part has none.
struct PartShare {
    size_t part;
    double share;
};
using ClassShares = std::vector<std::vector<PartShare>>;

ClassShares SharesOf(const CodeClasses& classes, const CodeParts& parts, const std::vector<double>& masses) {
    std::vector<double> whole(parts.masses.size(), 0.0);
    std::vector<std::vector<double>> weights(classes.count(), whole);
    classes.ForRuns([&](uint32_t of, uint32_t first, uint32_t end) {
        for (uint32_t code = first; code < end; code++) {
            const size_t part = parts.part[code];
            const double weight = parts.masses[part] > 0 ? masses[code] : 1;
            whole[part] += weight;
            weights[of][part] += weight;
        }
    });
    ClassShares shares(classes.count());
    for (size_t i = 0; i < shares.size(); i++) {
        for (size_t part = 0; part < whole.size(); part++)
            if (weights[i][part] > 0)
                shares[i].push_back(
                    {part, weights[i][part] / std::max(whole[part], std::numeric_limits<double>::min())});
    }
    return shares;
}

// Of a region, summed over its classes; parts ascending.
std::vector<PartShare> SharesOf(const Region& region, const ClassShares& classes, size_t parts) {
    std::vector<double> sums(parts, 0.0);
    ForClasses(region.inside, ClassWords(classes.size()), [&](size_t i) {
        for (const PartShare& share : classes[i])
            sums[share.part] += share.share;
    });
    std::vector<PartShare> shares;
    for (size_t part = 0; part < parts; part++)
        if (sums[part] > 0)
            shares.push_back({part, sums[part]});
    return shares;
}

}  // namespace

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

namespace {

// Adds `value` times the product of a share of each feature to the cells of a grid of all their parts.
void AddProduct(double value, const std::vector<std::vector<PartShare>>& shares,
                const std::vector<CodeParts>& parts, size_t feature, size_t cell, std::vector<double>* grid) {
    if (feature == parts.size()) {
        (*grid)[cell] += value;
        return;
    }
    for (const PartShare& share : shares[feature])
        AddProduct(value * share.share, shares, parts, feature + 1,
                   cell * parts[feature].masses.size() + share.part, grid);
}

}  // namespace

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
    std::vector<double> grid(cells, 0.0);
    TreeRegions tree_regions(model.features(), masses, interrupt);
    for (const size_t i : group.trees) {
        const Tree& tree = model.trees()[i];
        tree_regions.Enter(tree);
        const std::vector<CodeClasses>& classes = tree_regions.classes();
        std::vector<size_t> places;  // per feature of the tree: in the group
        std::vector<ClassShares> class_shares;
        for (const CodeClasses& feature : classes) {
            places.push_back(group.PlaceOf(feature.feature));
            class_shares.push_back(places.back() < parts.size()
                                       ? SharesOf(feature, parts[places.back()], masses.of(feature.feature))
                                       : ClassShares());
        }
        std::vector<std::vector<PartShare>> whole, shares;
        for (const CodeParts& feature : parts) {
            whole.emplace_back();
            for (size_t part = 0; part < feature.masses.size(); part++)
                whole.back().push_back({part, 1});
        }
        tree_regions.VisitLeaves([&](size_t leaf, const Regions& regions) {
            interrupt.Poll();
            double value = tree.leaves[leaf * model.outputs() + output];
            shares = whole;
            for (const Region& region : regions) {
                const size_t at = places[region.place];
                if (class_shares[region.place].empty())
                    value *= region.mass;  // nothing depends on it: an average
                else
                    shares[at] = SharesOf(region, class_shares[region.place], parts[at].masses.size());
            }
            AddProduct(value, shares, parts, 0, 0, &grid);
        });
    }
    std::vector<const CodeParts*> all;
    for (const CodeParts& feature : parts)
        all.push_back(&feature);
    Purify(all, &grid);
    return grid;
}

}  // namespace dpboost
