#include "model/explain/forest/forest_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"
#include "model/explain/forest/row_lanes.h"
#include "model/explain/tree_regions.h"

namespace dpboost {
namespace {

constexpr size_t kNobody = SIZE_MAX;
constexpr size_t kLanes = 4;        // vectors over parts are filled up with zeros to a multiple of this
constexpr size_t kMostVectors = 5;  // of lanes
constexpr size_t kPending =
    8;  // products of a pair that are added at once: a grid is much larger than they are
constexpr size_t kMergedParts = 8;  // of a feature, where all pairs are looked at

size_t InLanes(size_t parts) {
    return (parts + kLanes - 1) / kLanes * kLanes;
}

// Some parts side by side, wherever they begin.
using Lanes =
    double __attribute__((vector_size(kLanes * sizeof(double)), aligned(alignof(double)), may_alias));

inline void CopyLanes(const double* from, size_t width, double* to) {
    for (size_t lane = 0; lane < width; lane += kLanes)
        *reinterpret_cast<Lanes*>(to + lane) = *reinterpret_cast<const Lanes*>(from + lane);
}

// Adds a multiple of a vector over parts.
inline DPBOOST_LANES void AddLanes(double factor, const double* from, size_t width, double* to) {
    for (size_t lane = 0; lane < width; lane += kLanes)
        *reinterpret_cast<Lanes*>(to + lane) += *reinterpret_cast<const Lanes*>(from + lane) * factor;
}

// Adds products of two vectors to a grid, whose columns are in lanes. Of the m-th product, down begins at m * stride and
// across kPending * stride behind it.
template <size_t kVectors>
inline DPBOOST_LANES void AddProducts(const double* vectors, size_t products, size_t stride, size_t rows,
                                      double* grid) {
    for (size_t row = 0; row < rows; row++, grid += kVectors * kLanes) {
        Lanes sums[kVectors];
        for (size_t i = 0; i < kVectors; i++)
            sums[i] = *reinterpret_cast<const Lanes*>(grid + i * kLanes);
        for (size_t m = 0; m < products; m++) {
            const double factor = vectors[m * stride + row];
            const double* const across = vectors + (kPending + m) * stride;
            for (size_t i = 0; i < kVectors; i++)
                sums[i] += *reinterpret_cast<const Lanes*>(across + i * kLanes) * factor;
        }
        for (size_t i = 0; i < kVectors; i++)
            *reinterpret_cast<Lanes*>(grid + i * kLanes) = sums[i];
    }
}

}  // namespace

PartRuns::PartRuns(const CodeParts& parts) : whole(parts.masses), has_mass(parts.masses.size(), 1) {
    for (uint32_t code = 0; code < parts.part.size(); code++) {
        if (parts.masses[parts.part[code]] <= 0) {
            has_mass[parts.part[code]] = 0;
            whole[parts.part[code]] += 1;
        }
        if (code == 0 || parts.part[code] != part.back()) {
            part.push_back(parts.part[code]);
            ends.push_back(0);
        }
        ends.back() = code + 1;
    }
}

// [class * InLanes(parts) + part].
void PartRuns::Measure(const CodeClasses& classes, const ReferenceMasses& masses,
                       std::vector<double>* shares) const {
    const size_t width = InLanes(whole.size());
    shares->assign(classes.count() * width, 0.0);
    size_t run = 0;
    classes.ForRuns([&](uint32_t of, uint32_t first, uint32_t end) {
        while (first < end) {
            const uint32_t until = std::min(end, ends[run]);
            const size_t at = part[run];
            (*shares)[of * width + at] +=
                (has_mass[at] != 0 ? masses.Between(classes.feature, first, until) : until - first) /
                whole[at];
            run += until == ends[run] ? 1 : 0;
            first = until;
        }
    });
}

ForestPairs::ForestPairs(const Model& model, const ReferenceMasses& masses,
                         const std::vector<FeaturePair>& pairs, const std::vector<CodeParts>& parts,
                         Interrupt& interrupt)
    : masses_(masses),
      interrupt_(interrupt),
      pairs_(pairs),
      parts_(parts),
      outputs_(model.outputs()),
      slot_of_(model.features().size(), kNobody) {
    for (const FeaturePair& pair : pairs)
        for (const uint16_t feature : {pair.first, pair.second})
            if (slot_of_[feature] == kNobody) {
                slot_of_[feature] = runs_.size();
                runs_.emplace_back(parts[feature]);
                widest_ = std::max(widest_, InLanes(parts[feature].masses.size()));
            }
    const size_t slots = runs_.size();
    std::replace(slot_of_.begin(), slot_of_.end(), kNobody, slots);
    pair_of_.assign(slots * slots, kNobody);
    size_t cells = 0;
    for (const FeaturePair& pair : pairs) {
        const size_t a = slot_of_[pair.first], b = slot_of_[pair.second];
        pair_of_[a * slots + b] = pair_of_[b * slots + a] = pair_.size();
        pair_.push_back({a, cells, runs_[a].whole.size(), WidthOf(b), 0, false});
        cells += pair_.back().rows * pair_.back().columns * outputs_;
    }
    CheckInternal(widest_ <= kMostVectors * kLanes, "too many parts");
    grids_.assign(cells, 0.0);
    pending_.assign(pairs.size() * outputs_ * 2 * kPending * widest_, 0.0);
    moves_.resize(outputs_ * widest_);
    everything_.assign(widest_, 1.0);
    levels_.resize(kMaxDepth + 1);
    shares_.resize(2 * (kMaxDepth + 1) * widest_);
    steps_.resize(shares_.size());
}

size_t ForestPairs::WidthOf(size_t slot) const noexcept {
    return InLanes(runs_[slot].whole.size());
}

double* ForestPairs::Pending(size_t pair, size_t output) noexcept {
    return pending_.data() + (pair * outputs_ + output) * 2 * kPending * widest_;
}

// Whether the tree has two features that are asked about.
bool ForestPairs::Enter(const Tree& tree, const TreeRegions& regions) {
    const std::vector<CodeClasses>& classes = regions.classes();
    class_shares_.resize(std::max(class_shares_.size(), classes.size()));
    size_t features = 0;
    for (size_t i = 0; i < classes.size(); i++)
        if (const size_t slot = slot_of_[classes[i].feature]; slot < runs_.size()) {
            features++;
            runs_[slot].Measure(classes[i], masses_, &class_shares_[i]);
        }
    slots_.clear();
    for (const Split& split : tree.splits)
        slots_.push_back(slot_of_[split.feature]);
    for (unsigned level = 0; level <= tree.depth; level++)
        levels_[level].moves.resize(runs_.size() * outputs_ * widest_);
    return features > 1;
}

void ForestPairs::Add(const Tree& tree, const TreeRegions& regions, const std::vector<double>& sums) {
    if (!Enter(tree, regions))
        return;
    regions_ = &regions;
    sums_ = sums.data();
    Descend(0, 0);
}

// Leaves in the level's moves what the nodes below (and with) a node say, by feature, and adds products of these with the
// splits on other features on the way.
void ForestPairs::Descend(size_t node, unsigned level) {
    levels_[level].slots.clear();
    if (node >= slots_.size() || !regions_->is_met(node))
        return;
    interrupt_.Poll();
    const size_t slot = slots_[node];
    const bool is_asked = slot < runs_.size();
    if (is_asked)
        MeasureNode(*regions_, node);
    for (const size_t child : {2 * node + 1, 2 * node + 2}) {
        Descend(child, level + 1);
        for (const size_t below : levels_[level + 1].slots) {
            const double* const moves = Moves(level + 1, below);
            if (is_asked && below != slot)
                AddProducts(slot, Steps(child), below, moves);
            AddMoves(level, below, moves);
        }
    }
    if (!is_asked)
        return;
    const size_t width = WidthOf(slot);
    for (size_t k = 0; k < outputs_; k++)
        std::fill_n(moves_.begin() + static_cast<ptrdiff_t>(k * width), width, 0.0);
    ForRows(simd_, [&]() DPBOOST_LANES {
        for (size_t k = 0; k < outputs_; k++)
            for (const size_t child : {2 * node + 1, 2 * node + 2})
                AddLanes(sums_[child * outputs_ + k], Steps(child), width, moves_.data() + k * width);
    });
    AddMoves(level, slot, moves_.data());
}

void ForestPairs::AddMoves(unsigned level, size_t slot, const double* moves) {
    std::vector<size_t>& slots = levels_[level].slots;
    const size_t size = outputs_ * WidthOf(slot);
    double* const to = Moves(level, slot);
    if (std::find(slots.begin(), slots.end(), slot) == slots.end()) {
        slots.push_back(slot);
        CopyLanes(moves, size, to);
        return;
    }
    ForRows(simd_, [&]() DPBOOST_LANES { AddLanes(1, moves, size, to); });
}

// What of each part is on each side of a node.
void ForestPairs::MeasureNode(const TreeRegions& regions, size_t node) {
    const size_t last = regions.before(node), width = WidthOf(slots_[node]), place = regions.place(node);
    const Region &left_region = regions.region(2 * node + 1), &right_region = regions.region(2 * node + 2);
    const double *const before = last == 0 ? everything_.data() : Shares(last), *const of_classes =
                                                                                    class_shares_[place]
                                                                                        .data();
    double *const left = Shares(2 * node + 1), *const right = Shares(2 * node + 2);
    double *const left_step = Steps(2 * node + 1), *const right_step = Steps(2 * node + 2);
    const double before_scale = 1 / regions.region(last).weight(), left_scale = 1 / left_region.weight(),
                 right_scale = 1 / right_region.weight();
    const size_t words = regions.words(place);
    ForRows(simd_, [&]() DPBOOST_LANES {
        std::fill_n(left, width, 0.0);
        ForClasses(left_region.inside, words,
                   [&](size_t i) DPBOOST_LANES { AddLanes(1, of_classes + i * width, width, left); });
        for (size_t lane = 0; lane < width; lane += kLanes)
            for (size_t i = lane; i < lane + kLanes; i++) {
                const double rest = before[i] - left[i], base = before[i] * before_scale;
                right[i] = rest;
                left_step[i] = left[i] * left_scale - base;
                right_step[i] = rest * right_scale - base;
            }
    });
}

// Products of a split's step with the moves below it.
void ForestPairs::AddProducts(size_t slot, const double* steps, size_t below, const double* moves) {
    const size_t found = pair_of_[slot * runs_.size() + below];
    if (found == kNobody)
        return;
    Pair& pair = pair_[found];
    pair.is_met = true;
    const bool is_first = pair.first == slot;
    for (size_t k = 0; k < outputs_; k++) {
        double *const down = Pending(found, k) + pair.pending * widest_, *const across =
                                                                             down + kPending * widest_;
        CopyLanes(steps, WidthOf(slot), is_first ? down : across);
        CopyLanes(moves + k * WidthOf(below), WidthOf(below), is_first ? across : down);
    }
    if (++pair.pending == kPending)
        AddPending(found);
}

void ForestPairs::AddPending(size_t found) {
    Pair& pair = pair_[found];
    const auto add = [&](auto vectors) DPBOOST_LANES {
        ForRows(simd_, [&]() DPBOOST_LANES {
            for (size_t k = 0; k < outputs_; k++)
                dpboost::AddProducts<decltype(vectors)::value>(
                    Pending(found, k), pair.pending, widest_, pair.rows,
                    grids_.data() + pair.begin + k * pair.rows * pair.columns);
        });
    };
    switch (pair.columns / kLanes) {
        case 1:
            add(std::integral_constant<size_t, 1>());
            break;
        case 2:
            add(std::integral_constant<size_t, 2>());
            break;
        case 3:
            add(std::integral_constant<size_t, 3>());
            break;
        case 4:
            add(std::integral_constant<size_t, 4>());
            break;
        default:
            add(std::integral_constant<size_t, kMostVectors>());
    }
    pair.pending = 0;
}

void ForestPairs::Finish() {
    for (size_t i = 0; i < pair_.size(); i++)
        AddPending(i);
}

std::vector<PairEffect> ForestPairs::Effects(size_t output) const {
    std::vector<PairEffect> effects;
    for (size_t i = 0; i < pairs_.size(); i++) {
        if (!pair_[i].is_met)
            continue;
        const CodeParts &first = parts_[pairs_[i].first], &second = parts_[pairs_[i].second];
        const size_t columns = second.masses.size();
        PairEffect effect{{pairs_[i].first, pairs_[i].second}, {}, 0};
        const double* from = grids_.data() + pair_[i].begin + output * pair_[i].rows * pair_[i].columns;
        for (size_t row = 0; row < first.masses.size(); row++, from += InLanes(columns))
            effect.grid.insert(effect.grid.end(), from, from + columns);
        Purify({&first, &second}, &effect.grid);
        for (size_t cell = 0; cell < effect.grid.size(); cell++)
            effect.size +=
                std::fabs(effect.grid[cell]) * first.masses[cell / columns] * second.masses[cell % columns];
        effects.push_back(std::move(effect));
    }
    return effects;
}

namespace {

// Neighbouring parts together, so that few of about the same mass are left.
CodeParts Merged(const CodeParts& parts) {
    CodeParts merged;
    std::vector<uint16_t> to(parts.masses.size(), 0);
    double mass = 0;
    for (size_t i = 0; i < to.size(); mass += parts.masses[i++]) {
        const double middle = mass + parts.masses[i] / 2;
        to[i] = static_cast<uint16_t>(std::min(middle * kMergedParts, kMergedParts - 1.0));
    }
    if (to.size() <= kMergedParts)
        std::iota(to.begin(), to.end(), uint16_t{0});
    merged.masses.assign(std::min(to.size(), kMergedParts), 0.0);
    for (size_t i = 0; i < to.size(); i++)
        merged.masses[to[i]] += parts.masses[i];
    for (const uint16_t part : parts.part)
        merged.part.push_back(to[part]);
    return merged;
}

ForestPairs SumsOf(const Model& model, const ReferenceMasses& masses, const std::vector<FeaturePair>& pairs,
                   const std::vector<CodeParts>& parts, Interrupt& interrupt) {
    ForestPairs result(model, masses, pairs, parts, interrupt);
    TreeRegions regions(model.features(), masses, interrupt);
    std::vector<double> sums;
    for (const Tree& tree : model.trees()) {
        regions.Enter(tree);
        regions.SumLeaves(model.outputs(), &sums);
        result.Add(tree, regions, sums);
    }
    result.Finish();
    return result;
}

}  // namespace

std::vector<FeaturePair> PairsOf(const std::vector<uint16_t>& features) {
    std::vector<FeaturePair> pairs;
    for (size_t a = 0; a < features.size(); a++)
        for (size_t b = a + 1; b < features.size(); b++)
            pairs.emplace_back(features[a], features[b]);
    return pairs;
}

std::vector<FeaturePair> LikelyPairs(const Model& model, const ReferenceMasses& masses,
                                     const std::vector<FeaturePair>& pairs,
                                     const std::vector<CodeParts>& parts, size_t most, Interrupt& interrupt) {
    if (pairs.size() <= most)
        return pairs;
    std::vector<CodeParts> merged;
    for (const CodeParts& feature : parts)
        merged.push_back(Merged(feature));
    const ForestPairs sums = SumsOf(model, masses, pairs, merged, interrupt);
    std::map<FeaturePair, double> sizes;
    for (size_t output = 0; output < model.outputs(); output++) {
        interrupt.Poll();
        for (const PairEffect& effect : sums.Effects(output))
            sizes[{effect.features[0], effect.features[1]}] += effect.size;
    }
    std::vector<std::pair<double, FeaturePair>> order;
    for (const auto& [pair, size] : sizes)
        order.emplace_back(-size, pair);
    std::sort(order.begin(), order.end());
    order.resize(std::min(order.size(), most));
    std::vector<FeaturePair> likely;
    for (const auto& [size, pair] : order)
        likely.push_back(pair);
    std::sort(likely.begin(), likely.end());
    return likely;
}

std::vector<std::vector<PairEffect>> ForestPairs::Strongest(size_t most) const {
    std::vector<std::vector<PairEffect>> result;
    for (size_t output = 0; output < outputs_; output++) {
        interrupt_.Poll();
        result.push_back(Effects(output));
        std::stable_sort(result.back().begin(), result.back().end(),
                         [](const PairEffect& a, const PairEffect& b) { return a.size > b.size; });
        result.back().resize(std::min(result.back().size(), most));
    }
    return result;
}

std::vector<std::vector<PairEffect>> StrongestPairs(const Model& model, const ReferenceMasses& masses,
                                                    const std::vector<FeaturePair>& pairs,
                                                    const std::vector<CodeParts>& parts, size_t most,
                                                    Interrupt& interrupt) {
    return SumsOf(model, masses, pairs, parts, interrupt).Strongest(most);
}

}  // namespace dpboost
