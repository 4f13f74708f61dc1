#include "model/explain/forest/forest_pairs.h"

#include <algorithm>
#include <cmath>

#include "model/explain/tree_regions.h"

namespace dpboost {
namespace {

constexpr size_t kNobody = SIZE_MAX;

// A feature's parts, made ready for sums over many classes.
struct PartRuns {
    std::vector<uint16_t> part;  // per code
    std::vector<uint32_t> ends;  // per part, where parts are runs of codes one behind the other; else empty
    std::vector<double> whole;   // per part: its mass, or the number of its codes where it has none
    std::vector<uint8_t> has_mass;  // per part

    PartRuns() = default;
    explicit PartRuns(const CodeParts& parts) : part(parts.part), ends(parts.masses.size(), 0) {
        std::vector<double> codes(parts.masses.size(), 0.0);
        bool are_runs = true;
        for (uint32_t code = 0; code < part.size(); code++) {
            are_runs = are_runs && (code == 0 || part[code] >= part[code - 1]);
            codes[part[code]]++;
            ends[part[code]] = code + 1;
        }
        for (size_t i = 0; i < codes.size(); i++) {
            has_mass.push_back(parts.masses[i] > 0 ? 1 : 0);
            whole.push_back(parts.masses[i] > 0 ? parts.masses[i] : std::max(codes[i], 1.0));
        }
        if (!are_runs)
            ends.clear();
    }
};

// Which share of each part a class of codes is, by mass, or by codes where the part has none.
struct PartShares {
    size_t parts = 0;
    std::vector<double> shares;                    // [class * parts + part]
    std::vector<std::pair<size_t, size_t>> spans;  // per class: outside of these parts its shares are 0

    void Measure(const CodeClasses& classes, const PartRuns& of, const ReferenceMasses& masses) {
        parts = of.whole.size();
        shares.assign(classes.count() * parts, 0.0);
        const bool are_runs = classes.count() == classes.ends.size() && !of.ends.empty();
        const auto codes = static_cast<uint32_t>(classes.of.size());
        for (uint32_t begin = 0, end; begin < codes; begin = end) {
            const size_t at = classes.of[begin], part = of.part[begin];
            end = are_runs ? std::min(classes.ends[at], of.ends[part]) : begin + 1;
            shares[at * parts + part] +=
                (of.has_mass[part] != 0 ? masses.Between(classes.feature, begin, end) : end - begin) /
                of.whole[part];
        }
        spans.resize(classes.count());
        for (size_t i = 0; i < classes.count(); i++) {
            const double* const row = shares.data() + i * parts;
            size_t begin = 0, end = parts;
            while (begin < end && row[begin] == 0)
                begin++;
            while (end > begin && row[end - 1] == 0)
                end--;
            spans[i] = {begin, end};
        }
    }
};

// The grids of all pairs of some features while trees are added to them.
class PairSums {
  public:
    PairSums(const Model& model, const ReferenceMasses& masses, const std::vector<FeaturePair>& pairs,
             const std::vector<CodeParts>& parts, Interrupt& interrupt)
        : masses_(masses),
          pairs_(pairs),
          parts_(parts),
          outputs_(model.outputs()),
          walk_(model.features(), masses, interrupt),
          runs_(parts.size()),
          grids_(pairs.size()) {
        for (const FeaturePair& pair : pairs)
            for (const uint16_t feature : {pair.first, pair.second})
                if (runs_[feature].part.empty())
                    runs_[feature] = PartRuns(parts[feature]);
    }

    void Add(const Tree& tree);
    // The pure interactions of one output.
    std::vector<PairEffect> Effects(size_t output) const;

  private:
    void AddLeaf(const int32_t* values, const Regions& regions);
    void AddPair(const Region& a, const Region& b, const int32_t* values, double others);
    void Spread(size_t a, size_t b, std::vector<double>* grid);

    const ReferenceMasses& masses_;
    const std::vector<FeaturePair>& pairs_;
    const std::vector<CodeParts>& parts_;
    const size_t outputs_;
    RegionWalk walk_;
    std::vector<PartRuns> runs_;              // per feature of the model, of those in pairs
    std::vector<std::vector<double>> grids_;  // per pair: [part][part][output]; empty where no tree has it
    // Of the tree that is being added:
    std::vector<size_t> counts_;  // classes, per place of a feature among them
    std::vector<PartShares> shares_;
    std::vector<size_t> begins_;  // [place * places + place]: where the pair's sums begin, or kNobody
    std::vector<uint8_t> is_met_;
    std::vector<double> sums_;  // [class][class][output] of every pair
    std::vector<double> row_;
};

void PairSums::Add(const Tree& tree) {
    walk_.Enter(tree);
    const std::vector<CodeClasses>& classes = walk_.classes();
    const size_t places = classes.size();
    const auto place_of = [&](uint16_t feature) {
        const auto before = [](const CodeClasses& a, uint16_t b) { return a.feature < b; };
        const auto found = std::lower_bound(classes.begin(), classes.end(), feature, before);
        return found != classes.end() && found->feature == feature
                   ? static_cast<size_t>(found - classes.begin())
                   : kNobody;
    };
    counts_.clear();
    for (const CodeClasses& feature : classes)
        counts_.push_back(feature.count());
    shares_.resize(std::max(shares_.size(), places));
    for (PartShares& shares : shares_)
        shares.parts = 0;
    begins_.assign(places * places, kNobody);
    is_met_.assign(places * places, 0);
    size_t size = 0;
    for (const FeaturePair& pair : pairs_) {
        const size_t a = place_of(pair.first), b = place_of(pair.second);
        if (a == kNobody || b == kNobody)
            continue;
        for (const size_t place : {a, b})
            if (shares_[place].parts == 0)
                shares_[place].Measure(classes[place], runs_[classes[place].feature], masses_);
        begins_[a * places + b] = size;
        size += counts_[a] * counts_[b] * outputs_;
    }
    if (size == 0)
        return;
    sums_.assign(size, 0.0);
    walk_.VisitLeaves(
        [&](size_t leaf, const Regions& regions) { AddLeaf(tree.leaves.data() + leaf * outputs_, regions); });
    for (size_t i = 0; i < pairs_.size(); i++) {
        const size_t a = place_of(pairs_[i].first), b = place_of(pairs_[i].second);
        if (a != kNobody && b != kNobody && is_met_[a * places + b] != 0)
            Spread(a, b, &grids_[i]);
    }
}

// For every two features on its path what the leaf says on average over the others. A leaf without one of the two says the
// same for all values of it, which is no interaction.
void PairSums::AddLeaf(const int32_t* values, const Regions& regions) {
    double behind[kMaxDepth + 1];
    behind[regions.size()] = 1;
    for (size_t i = regions.size(); i-- > 0;)
        behind[i] = behind[i + 1] * regions[i].mass;
    double before = 1;
    for (size_t i = 0; i < regions.size(); before *= regions[i++].mass) {
        double between = before;
        for (size_t j = i + 1; j < regions.size(); between *= regions[j++].mass) {
            const bool in_order = regions[i].place < regions[j].place;
            const Region &a = regions[in_order ? i : j], &b = regions[in_order ? j : i];
            if (begins_[a.place * counts_.size() + b.place] != kNobody)
                AddPair(a, b, values, between * behind[j + 1]);
        }
    }
}

void PairSums::AddPair(const Region& a, const Region& b, const int32_t* values, double others) {
    const size_t pair = a.place * counts_.size() + b.place, width = counts_[b.place] * outputs_;
    is_met_[pair] = 1;
    double* row = sums_.data() + begins_[pair];
    for (size_t i = 0; i < counts_[a.place]; i++, row += width) {
        if (a.inside[i] == 0)
            continue;
        if (outputs_ == 1) {
            const double value = others * values[0];
            for (size_t j = 0; j < width; j++)
                row[j] += b.inside[j] != 0 ? value : 0;
            continue;
        }
        for (size_t j = 0; j < counts_[b.place]; j++)
            for (size_t k = 0; k < outputs_ && b.inside[j] != 0; k++)
                row[j * outputs_ + k] += others * values[k];
    }
}

// From classes to parts.
void PairSums::Spread(size_t a, size_t b, std::vector<double>* grid) {
    const PartShares &down = shares_[a], &across = shares_[b];
    const size_t width = across.parts * outputs_;
    grid->resize(down.parts * width);
    const double* sums = sums_.data() + begins_[a * counts_.size() + b];
    for (size_t i = 0; i < counts_[a]; i++) {
        row_.assign(width, 0.0);
        for (size_t j = 0; j < counts_[b]; j++, sums += outputs_)
            for (size_t part = across.spans[j].first; part < across.spans[j].second; part++)
                for (size_t k = 0; k < outputs_; k++)
                    row_[part * outputs_ + k] += sums[k] * across.shares[j * across.parts + part];
        for (size_t part = down.spans[i].first; part < down.spans[i].second; part++) {
            const double share = down.shares[i * down.parts + part];
            double* const to = grid->data() + part * width;
            for (size_t at = 0; at < width; at++)
                to[at] += share * row_[at];
        }
    }
}

std::vector<PairEffect> PairSums::Effects(size_t output) const {
    std::vector<PairEffect> effects;
    for (size_t i = 0; i < pairs_.size(); i++) {
        if (grids_[i].empty())
            continue;
        const CodeParts &first = parts_[pairs_[i].first], &second = parts_[pairs_[i].second];
        PairEffect effect{{pairs_[i].first, pairs_[i].second}, {}, 0};
        for (size_t at = output; at < grids_[i].size(); at += outputs_)
            effect.grid.push_back(grids_[i][at]);
        Purify({&first, &second}, &effect.grid);
        for (size_t cell = 0; cell < effect.grid.size(); cell++)
            effect.size += std::fabs(effect.grid[cell]) * first.masses[cell / second.masses.size()] *
                           second.masses[cell % second.masses.size()];
        effects.push_back(std::move(effect));
    }
    return effects;
}

}  // namespace

std::vector<std::vector<PairEffect>> StrongestPairs(const Model& model, const ReferenceMasses& masses,
                                                    const std::vector<FeaturePair>& pairs,
                                                    const std::vector<CodeParts>& parts, size_t most,
                                                    Interrupt& interrupt) {
    PairSums sums(model, masses, pairs, parts, interrupt);
    for (const Tree& tree : model.trees()) {
        interrupt.Poll();
        sums.Add(tree);
    }
    std::vector<std::vector<PairEffect>> result;
    for (size_t output = 0; output < model.outputs(); output++) {
        interrupt.Poll();
        result.push_back(sums.Effects(output));
        std::stable_sort(result.back().begin(), result.back().end(),
                         [](const PairEffect& a, const PairEffect& b) { return a.size > b.size; });
        result.back().resize(std::min(result.back().size(), most));
    }
    return result;
}

}  // namespace dpboost
