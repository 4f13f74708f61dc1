#include "model/explain/forest/forest_shapley.h"

#include <algorithm>

#include "model/explain/quadrature.h"

namespace dpboost {
namespace {

constexpr size_t kRows = kRowsAtOnce;

// Figures of one rule at one region: 1 / F and r are linear in a, which is 0 or 1.
template <size_t kNodes>
struct RegionFigures {
    float inverse_out[kNodes], inverse_step[kNodes];
    float reach_out[kNodes], reach_step[kNodes];
    float base[kNodes];  // of F, which has the step u

    explicit RegionFigures(double mass) {
        for (size_t n = 0; n < kNodes; n++) {
            const double u = Quadrature<kNodes>::at[n], out = mass * (1 - u), in = out + u;
            // Where a row is not and the reference has nothing, F is 0, and so is all that is divided by it.
            const double inverse = out > 0 ? 1 / out : 0, reach = -1 / (1 - u);
            base[n] = static_cast<float>(out);
            inverse_out[n] = static_cast<float>(inverse);
            inverse_step[n] = static_cast<float>(1 / in - inverse);
            reach_out[n] = static_cast<float>(reach);
            reach_step[n] = static_cast<float>((1 - mass) / in - reach);
        }
    }
};

// One tree and all rows.
template <size_t kNodes>
class BatchWalk {
  public:
    BatchWalk(const Model& model, const Tree& tree, const double* masses, const uint16_t* columns, Simd simd,
              std::vector<float>* scratch, float* values)
        : model_(model),
          tree_(tree),
          masses_(masses),
          columns_(columns),
          simd_(simd),
          outputs_(model.outputs()),
          level_size_((2 + 2 * kNodes + outputs_ * kNodes) * kRows),
          values_(values) {
        scratch->resize(std::max(scratch->size(), level_size_ * (tree.depth + 1)));
        scratch_ = scratch->data();
        for (size_t n = 0; n < kNodes; n++)
            std::fill_n(Products(0) + n * kRows, kRows, static_cast<float>(Quadrature<kNodes>::weight[n]));
    }

    void Descend(size_t node, unsigned level) {
        float* const sums = Sums(level);
        if (node >= tree_.split_count()) {
            const int32_t* leaf = tree_.leaves.data() + (node - tree_.split_count()) * outputs_;
            for (size_t k = 0; k < outputs_; k++)
                Scale(Products(level), static_cast<float>(leaf[k]), sums + k * kNodes * kRows);
            return;
        }
        std::fill_n(sums, outputs_ * kNodes * kRows, 0.0F);
        const uint16_t feature = tree_.splits[node].feature;
        size_t at = 0;
        while (at < count_ && slots_[at].feature != feature)
            at++;
        const bool is_new = at == count_;
        const Slot before = is_new ? Slot{feature, nullptr, 0} : slots_[at];
        count_ += is_new ? 1 : 0;
        DecideRows(model_, tree_, node, columns_, simd_, Left(level));
        for (const bool side : {true, false}) {
            const size_t child = 2 * node + (side ? 1 : 2);
            slots_[at] = {feature, Inside(level), masses_[child]};
            Enter(side, before.inside, level);
            const float* const inside = Inside(level);
            if (masses_[child] == 0 && std::all_of(inside, inside + kRows, [](float a) { return a == 0; }))
                continue;
            Multiply(before, masses_[child], level);
            Descend(child, level + 1);
            Collect(feature, level);
        }
        slots_[at] = before;
        count_ -= is_new ? 1 : 0;
    }

  private:
    // The last region of a feature on the path.
    struct Slot {
        uint16_t feature;
        const float* inside;  // per row: 1 where it is in the region; null: everywhere
        double mass;
    };

    float* Level(unsigned level) { return scratch_ + level_size_ * level; }
    float* Left(unsigned level) { return Level(level); }
    float* Inside(unsigned level) { return Level(level) + kRows; }
    float* Reach(unsigned level) { return Level(level) + 2 * kRows; }
    float* Products(unsigned level) { return Level(level) + (2 + kNodes) * kRows; }
    float* Sums(unsigned level) { return Level(level) + (2 + 2 * kNodes) * kRows; }

    static void Scale(const float* __restrict from, float factor, float* __restrict to) {
        for (size_t i = 0; i < kNodes * kRows; i++)
            to[i] = from[i] * factor;
    }

    // The region of one side within the one before.
    void Enter(bool side, const float* before, unsigned level) {
        const float from = side ? 0 : 1, step = side ? 1 : -1;
        const float* const left = Left(level);
        float* const inside = Inside(level);
        ForRows(simd_, [&]() DPBOOST_LANES {
            float* __restrict to = inside;
            for (size_t row = 0; row < kRows; row++)
                to[row] = from + step * left[row];
            if (before != nullptr)
                for (size_t row = 0; row < kRows; row++)
                    to[row] *= before[row];
        });
    }

    // Products of the next level, and what of its sums is this feature's.
    void Multiply(const Slot& before, double mass, unsigned level) {
        const RegionFigures<kNodes> here(mass), there(before.mass);
        const float *const inside = Inside(level), *const outside = before.inside;
        const float* const products = Products(level);
        float *const nexts = Products(level + 1), *const reaches = Reach(level);
        ForRows(simd_, [&]() DPBOOST_LANES {
            for (size_t n = 0; n < kNodes; n++) {
                const auto u = static_cast<float>(Quadrature<kNodes>::at[n]);
                const float* __restrict product = products + n * kRows;
                float* __restrict next = nexts + n * kRows;
                float* __restrict reach = reaches + n * kRows;
                const float in = here.base[n], step = here.reach_step[n];
                if (outside == nullptr) {
                    for (size_t row = 0; row < kRows; row++) {
                        next[row] = product[row] * (in + inside[row] * u);
                        reach[row] = here.reach_out[n] + inside[row] * step;
                    }
                    continue;
                }
                const float from = here.reach_out[n] - there.reach_out[n], back = there.reach_step[n];
                const float inverse = there.inverse_out[n], inverse_step = there.inverse_step[n];
                for (size_t row = 0; row < kRows; row++) {
                    next[row] =
                        product[row] * (in + inside[row] * u) * (inverse + outside[row] * inverse_step);
                    reach[row] = from + inside[row] * step - outside[row] * back;
                }
            }
        });
    }

    void Collect(size_t feature, unsigned level) {
        const float* const reach = Reach(level);
        for (size_t k = 0; k < outputs_; k++) {
            const float* const below = Sums(level + 1) + k * kNodes * kRows;
            float* const sums = Sums(level) + k * kNodes * kRows;
            float* const value = values_ + (feature * outputs_ + k) * kRows;
            ForRows(simd_, [&]() DPBOOST_LANES {
                for (size_t n = 0; n < kNodes; n++) {
                    const float* __restrict from = below + n * kRows, * __restrict by = reach + n * kRows;
                    float* __restrict sum = sums + n * kRows, * __restrict to = value;
                    for (size_t row = 0; row < kRows; row++) {
                        sum[row] += from[row];
                        to[row] += from[row] * by[row];
                    }
                }
            });
        }
    }

    const Model& model_;
    const Tree& tree_;
    const double* masses_;
    const uint16_t* columns_;
    const Simd simd_;
    const size_t outputs_;
    const size_t level_size_;
    float* scratch_;
    float* values_;
    Slot slots_[kMaxDepth];
    size_t count_ = 0;
};

}  // namespace

std::vector<float> ForestShapley(const Model& model, const TreeShapley& trees, const uint16_t* rows,
                                 Interrupt& interrupt, Simd simd) {
    const std::vector<uint16_t> columns = ColumnsOf(model, rows);
    std::vector<float> values(model.features().size() * model.outputs() * kRows, 0.0F), scratch;
    for (size_t i = 0; i < model.trees().size(); i++) {
        interrupt.Poll();
        const auto walk = [&](auto nodes) {
            BatchWalk<decltype(nodes)::value>(model, model.trees()[i], trees.masses_of(i), columns.data(),
                                              simd, &scratch, values.data())
                .Descend(0, 0);
        };
        WithNodes(trees.width_of(i), walk);
    }
    return values;
}

}  // namespace dpboost
