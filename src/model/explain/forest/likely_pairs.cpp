#include <algorithm>
#include <cmath>

#include "model/explain/forest/forest_pairs.h"
#include "model/explain/forest/row_lanes.h"

namespace dpboost {
namespace {

constexpr size_t kRows = kRowsAtOnce;
constexpr size_t kNobody = SIZE_MAX;

// Adds up what all pairs of some features do in each of the rows.
class PairWalk {
  public:
    PairWalk(const Model& model, const std::vector<uint16_t>& features, const std::vector<uint16_t>& columns)
        : model_(model),
          columns_(columns),
          outputs_(model.outputs()),
          features_(features.size()),
          slots_(model.features().size(), kNobody),
          values_(features_ * features_ * outputs_ * kRows) {
        for (size_t i = 0; i < features.size(); i++)
            slots_[features[i]] = i;
    }

    void Add(const Tree& tree, const double* masses) {
        tree_ = &tree;
        masses_ = masses;
        scratch_.resize(std::max(scratch_.size(), (tree.depth + 1) * level_size()));
        means_.resize(std::max(means_.size(), (tree.depth + 2) * outputs_));
        Descend(0, 0, 1);
    }

    // Mean absolute effect, over the outputs.
    double Size(size_t first, size_t second) const {
        double sum = 0;
        const float* values = values_.data() + (first * features_ + second) * outputs_ * kRows;
        for (size_t i = 0; i < outputs_ * kRows; i++)
            sum += static_cast<double>(std::fabs(values[i]));
        return sum;
    }

  private:
    // A split on the path: how the row's place moves what is below, against the split on the feature before.
    struct Step {
        uint16_t feature;
        size_t slot;
        const float* reach;   // r - r before
        const float* inside;  // of the region
        double mass;
    };

    size_t level_size() const { return (4 + outputs_) * kRows; }
    // What is below the node, times the masses on the way to it, per output: in means_ of the level.
    void Descend(size_t node, unsigned level, double mass) {
        double* const means = means_.data() + level * outputs_;
        if (node >= tree_->split_count()) {
            const int32_t* leaf = tree_->leaves.data() + (node - tree_->split_count()) * outputs_;
            for (size_t k = 0; k < outputs_; k++)
                means[k] = mass * leaf[k];
            return;
        }
        std::fill_n(means, outputs_, 0.0);
        float* const level_scratch = scratch_.data() + level * level_size();
        float *left = level_scratch, *inside = left + kRows, *reach = inside + kRows, *sums = reach + kRows;
        const uint16_t feature = tree_->splits[node].feature;
        const Step* before = nullptr;
        for (size_t i = 0; i < count_; i++)
            before = steps_[i].feature == feature ? &steps_[i] : before;
        const double old_mass = before == nullptr ? 1 : before->mass;
        DecideRows(model_, *tree_, node, columns_.data(), simd_, left);
        std::fill_n(sums, outputs_ * kRows, 0.0F);
        for (const bool side : {true, false}) {
            const size_t child = 2 * node + (side ? 1 : 2);
            const double share = masses_[child];
            if (share == 0)  // no row is there, and nothing is summed
                continue;
            Reach(side, share, before, left, inside, reach);
            steps_[count_++] = {feature, slots_[feature], reach, inside, share};
            Descend(child, level + 1, mass * (share / old_mass));
            count_--;
            const double* below = means + outputs_;
            for (size_t k = 0; k < outputs_; k++) {
                means[k] += below[k];
                const auto value = static_cast<float>(below[k]);
                float* const sum = sums + k * kRows;
                ForRows(simd_, [&]() DPBOOST_LANES {
                    for (size_t row = 0; row < kRows; row++)
                        sum[row] += value * reach[row];
                });
            }
        }
        if (slots_[feature] != kNobody)
            Collect(slots_[feature], sums);
    }

    void Collect(size_t slot, const float* sums) {
        for (size_t i = 0; i < count_; i++) {
            if (steps_[i].slot == kNobody || steps_[i].slot == slot)
                continue;
            const size_t first = std::min(slot, steps_[i].slot), second = std::max(slot, steps_[i].slot);
            float* const values = values_.data() + (first * features_ + second) * outputs_ * kRows;
            const float* const reach = steps_[i].reach;
            ForRows(simd_, [&]() DPBOOST_LANES {
                for (size_t k = 0; k < outputs_; k++) {
                    float* __restrict to = values + k * kRows;
                    const float* __restrict sum = sums + k * kRows;
                    for (size_t row = 0; row < kRows; row++)
                        to[row] += reach[row] * sum[row];
                }
            });
        }
    }

    // r = a / q - 1.
    void Reach(bool side, double share, const Step* before, const float* left, float* inside,
               float* reach) const {
        const float from = side ? 0 : 1, step = side ? 1 : -1;
        const auto scale = static_cast<float>(1 / share);
        const float scale_before = before == nullptr ? 1 : static_cast<float>(1 / before->mass);
        const float* const outside = before == nullptr ? nullptr : before->inside;
        ForRows(simd_, [&]() DPBOOST_LANES {
            float* __restrict in = inside, * __restrict to = reach;
            if (outside == nullptr) {
                for (size_t row = 0; row < kRows; row++) {
                    in[row] = from + step * left[row];
                    to[row] = in[row] * scale - 1;
                }
                return;
            }
            for (size_t row = 0; row < kRows; row++) {
                in[row] = (from + step * left[row]) * outside[row];
                to[row] = in[row] * scale - outside[row] * scale_before;
            }
        });
    }

    const Model& model_;
    const std::vector<uint16_t>& columns_;
    const Simd simd_ = BestSimd();
    const size_t outputs_;
    const size_t features_;
    std::vector<size_t> slots_;  // per feature of the model: its place among those asked for
    std::vector<float> values_;  // [(first * features + second) * outputs + output][row]
    const Tree* tree_ = nullptr;
    const double* masses_ = nullptr;
    Step steps_[kMaxDepth];
    size_t count_ = 0;
    std::vector<float> scratch_;  // per level: left, inside, reach, sums
    std::vector<double> means_;   // per level and output
};

}  // namespace

std::vector<FeaturePair> LikelyPairs(const Model& model, const TreeShapley& trees,
                                     const ReferenceMasses& masses, const std::vector<uint16_t>& features,
                                     size_t most, Interrupt& interrupt) {
    const std::vector<uint16_t> columns = ColumnsOf(model, masses.DrawEvenly(model, kRows, interrupt).data());
    PairWalk walk(model, features, columns);
    for (size_t i = 0; i < model.trees().size(); i++) {
        interrupt.Poll();
        walk.Add(model.trees()[i], trees.masses_of(i));
    }
    std::vector<std::pair<double, FeaturePair>> order;
    for (size_t a = 0; a < features.size(); a++)
        for (size_t b = a + 1; b < features.size(); b++)
            if (const double size = walk.Size(a, b); size > 0)
                order.push_back({-size, {features[a], features[b]}});
    std::sort(order.begin(), order.end());
    std::vector<FeaturePair> pairs;
    for (size_t i = 0; i < std::min(order.size(), most); i++)
        pairs.push_back(order[i].second);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

}  // namespace dpboost
