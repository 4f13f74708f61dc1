#include "model/explain/tree_shapley.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/explain/forest/forest_pairs.h"
#include "model/explain/quadrature.h"

namespace dpboost {
namespace {

constexpr size_t kFewFeatures = 3;
constexpr size_t kMemoryRoom = size_t{1}
                               << 20;  // figures and places that are remembered at most, of all trees

}  // namespace

// One tree and one row.
template <size_t kNodes>
class TreeShapley::Walk {
  public:
    Walk(const Model& model, const Tree& tree, const double* masses, const uint16_t* codes, double* values,
         double* variances)
        : model_(model),
          tree_(tree),
          masses_(masses),
          codes_(codes),
          outputs_(model.outputs()),
          values_(values),
          variances_(variances) {}

    void Descend(size_t node) {
        if (node >= tree_.split_count()) {
            AddLeaf(node - tree_.split_count());
            return;
        }
        const uint16_t feature = tree_.splits[node].feature;
        const uint16_t missing = model_.features()[feature].missing();
        const bool left = tree_.SplitGoesLeft(node, std::min(codes_[feature], missing), missing);
        size_t at = 0;
        while (at < count_ && slots_[at].feature != feature)
            at++;
        const bool is_new = at == count_;
        if (is_new)
            slots_[count_++] = {feature, 1, 0};
        const Slot before = slots_[at];
        const bool inside = before.mass + before.reach > 0.5;
        for (const bool side : {true, false}) {
            const size_t child = 2 * node + (side ? 1 : 2);
            const double mass = masses_[child];
            const bool is_in = inside && side == left;
            // Where the row is not and the reference has nothing, nothing is to be shared.
            if (!is_in && mass == 0)
                continue;
            slots_[at] = {feature, mass, (is_in ? 1 : 0) - mass};
            Descend(child);
        }
        slots_[at] = before;
        if (is_new)
            count_--;
    }

  private:
    void AddLeaf(size_t leaf) {
        using Rule = Quadrature<kNodes>;
        double factor[kMaxDepth][kNodes], before[kMaxDepth][kNodes], product[kNodes];
        for (size_t n = 0; n < kNodes; n++)
            product[n] = Rule::weight[n];
        for (size_t i = 0; i < count_; i++) {
            for (size_t n = 0; n < kNodes; n++) {
                before[i][n] = product[n];
                factor[i][n] = slots_[i].mass + slots_[i].reach * Rule::at[n];
                product[n] *= factor[i][n];
            }
        }
        for (size_t n = 0; n < kNodes; n++)
            product[n] = 1;
        for (size_t i = count_; i-- > 0;) {
            double integral = 0;
            for (size_t n = 0; n < kNodes; n++) {
                integral += before[i][n] * product[n];
                product[n] *= factor[i][n];
            }
            Share(leaf, slots_[i].feature, slots_[i].reach * integral);
        }
    }

    void Share(size_t leaf, size_t feature, double share) {
        for (size_t output = 0; output < outputs_; output++)
            values_[feature * outputs_ + output] += share * tree_.leaves[leaf * outputs_ + output];
        if (tree_.leaf_sds.empty())
            return;
        for (size_t output = 0; output < outputs_; output++) {
            const double sd = share * static_cast<double>(tree_.leaf_sds[leaf * outputs_ + output]);
            variances_[feature * outputs_ + output] += sd * sd;
        }
    }

    const Model& model_;
    const Tree& tree_;
    const double* masses_;
    const uint16_t* codes_;
    const size_t outputs_;
    double* values_;
    double* variances_;
    Slot slots_[kMaxDepth];
    size_t count_ = 0;
};

TreeShapley::TreeShapley(const Model& model, const ReferenceMasses& masses, Interrupt& interrupt,
                         TreeGroup* all, ForestPairs* pairs)
    : model_(model), means_(model.outputs(), 0.0) {
    size_t room = kMemoryRoom;
    std::optional<GroupMeasure> measure;
    if (all != nullptr)
        measure.emplace(model, all);
    TreeRegions regions(model.features(), masses, interrupt);
    std::vector<double> sums;
    for (const Tree& tree : model.trees()) {
        offsets_.push_back(node_masses_.size());
        regions.Enter(tree);
        for (size_t node = 0; node < tree.split_count() + tree.leaf_count(); node++)
            node_masses_.push_back(node > 0 && regions.is_met(node) ? regions.region(node).mass : 0);
        widths_.push_back(regions.width());
        regions.SumLeaves(means_.size(), &sums);
        for (size_t k = 0; k < means_.size(); k++)
            means_[k] += sums[k];
        if (measure)
            measure->Add(tree, regions, sums);
        if (pairs != nullptr)
            pairs->Add(tree, regions, sums);
        Remember(regions.classes(), &room);
    }
    if (measure)
        measure->Finish();
    if (pairs != nullptr)
        pairs->Finish();
    scratch_.assign(2 * model.features().size() * model.outputs(), 0.0);
}

void TreeShapley::Remember(const std::vector<CodeClasses>& classes, size_t* room) {
    memories_.emplace_back();
    if (classes.size() > kFewFeatures)
        return;
    Memory memory;
    size_t places = 1, cells = 0;
    for (const CodeClasses& feature : classes)
        cells += feature.ends.back();
    if (cells > *room)
        return;
    for (const CodeClasses& feature : classes) {
        memory.features.push_back(feature.feature);
        memory.places.emplace_back(feature.ends.back());
        feature.ForRuns([&](uint32_t at, uint32_t first, uint32_t end) {
            std::fill(memory.places.back().begin() + first, memory.places.back().begin() + end,
                      static_cast<uint32_t>(at * places));
        });
        places *= feature.count();
        if (places > kMemoryRoom)
            return;
    }
    const size_t figures = places * 2 * memory.features.size() * model_.outputs();
    if (figures + cells > *room)
        return;
    *room -= figures + cells;
    memory.is_known.assign(places, 0);
    memory.figures.assign(figures, 0.0);
    memories_.back() = std::move(memory);
}

void TreeShapley::Compute(size_t tree, const uint16_t* codes, double* values, double* variances) const {
    const double* masses = node_masses_.data() + offsets_[tree];
    WithNodes(widths_[tree], [&](auto nodes) {
        Walk<decltype(nodes)::value>(model_, model_.trees()[tree], masses, codes, values, variances)
            .Descend(0);
    });
}

void TreeShapley::Recall(size_t tree, const uint16_t* codes, double* values, double* variances) {
    Memory& memory = memories_[tree];
    const size_t outputs = model_.outputs(), half = scratch_.size() / 2;
    size_t place = 0;
    for (size_t i = 0; i < memory.features.size(); i++)
        place += memory.places[i][std::min(codes[memory.features[i]],
                                           model_.features()[memory.features[i]].missing())];
    double* figures = memory.figures.data() + place * 2 * memory.features.size() * outputs;
    if (memory.is_known[place] == 0)
        Compute(tree, codes, scratch_.data(), scratch_.data() + half);
    for (const uint16_t feature : memory.features) {
        for (size_t at = feature * outputs; at < (feature + size_t{1}) * outputs; at++) {
            if (memory.is_known[place] == 0) {
                figures[0] = std::exchange(scratch_[at], 0);
                figures[1] = std::exchange(scratch_[half + at], 0);
            }
            values[at] += *figures++;
            variances[at] += *figures++;
        }
    }
    memory.is_known[place] = 1;
}

void TreeShapley::Add(const uint16_t* codes, Interrupt& interrupt, double* values, double* variances) {
    for (size_t i = 0; i < memories_.size(); i++) {
        if (memories_[i].is_known.empty())
            Compute(i, codes, values, variances);
        else
            Recall(i, codes, values, variances);
        if (i % 16 == 0 || model_.trees()[i].depth > 8)
            interrupt.Poll();
    }
}

size_t TreeShapley::memory_used() const noexcept {
    size_t bytes = node_masses_.size() * sizeof(double);
    for (const Memory& memory : memories_) {
        bytes += memory.figures.size() * sizeof(double);
        for (const std::vector<uint32_t>& places : memory.places)
            bytes += places.size() * sizeof(uint32_t);
    }
    return bytes;
}

}  // namespace dpboost
