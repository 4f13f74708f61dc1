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

    RegionFigures() = default;
    explicit RegionFigures(double mass) {
        // Where a row is not and the reference has nothing, F is 0, and so is all that is divided by it.
        const double inverse_mass = mass > 0 ? 1 / mass : 0;
        for (size_t n = 0; n < kNodes; n++) {
            constexpr const double* at = Quadrature<kNodes>::at;
            const double out = mass * (1 - at[n]), inverse_in = 1 / (out + at[n]);
            const double inverse = inverse_mass * kInverse[n], reach = -kInverse[n];
            base[n] = static_cast<float>(out);
            inverse_out[n] = static_cast<float>(inverse);
            inverse_step[n] = static_cast<float>(inverse_in - inverse);
            reach_out[n] = static_cast<float>(reach);
            reach_step[n] = static_cast<float>((1 - mass) * inverse_in - reach);
        }
    }

  private:
    struct Inverses {
        double of[kNodes] = {};
        constexpr Inverses() {
            for (size_t n = 0; n < kNodes; n++)
                of[n] = 1 / (1 - Quadrature<kNodes>::at[n]);
        }
        constexpr double operator[](size_t n) const { return of[n]; }
    };
    static constexpr Inverses kInverse{};  // 1 / (1 - u)
};

// One tree and all rows.
template <size_t kNodes>
class BatchWalk {
  public:
    BatchWalk(const Model& model, const Tree& tree, const double* masses, const uint16_t* columns, Simd simd,
              Interrupt& interrupt, std::vector<float>* scratch, float* values)
        : model_(model),
          tree_(tree),
          interrupt_(interrupt),
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
        if (tree_.depth == 0)
            return;
        interrupt_.Poll();
        float* const sums = Sums(level);
        std::fill_n(sums, outputs_ * kNodes * kRows, 0.0F);
        const uint16_t feature = tree_.splits[node].feature;
        size_t at = 0;
        while (at < count_ && slots_[at].feature != feature)
            at++;
        const bool is_new = at == count_;
        const Slot before = is_new ? Slot{feature, nullptr, {}} : slots_[at];
        count_ += is_new ? 1 : 0;
        DecideRows(model_, tree_, node, columns_, simd_, Left(level));
        for (const bool side : {true, false}) {
            const size_t child = 2 * node + (side ? 1 : 2);
            slots_[at] = {feature, Inside(level), RegionFigures<kNodes>(masses_[child])};
            Enter(side, before.inside, level);
            const float* const inside = Inside(level);
            if (masses_[child] == 0 && std::all_of(inside, inside + kRows, [](float a) { return a == 0; }))
                continue;
            if (child >= tree_.split_count()) {
                CollectLeaf(before, slots_[at], child - tree_.split_count(), level);
                continue;
            }
            Multiply(before, slots_[at].figures, level);
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
        RegionFigures<kNodes> figures;
    };

    float* Level(unsigned level) { return scratch_ + level_size_ * level; }
    float* Left(unsigned level) { return Level(level); }
    float* Inside(unsigned level) { return Level(level) + kRows; }
    float* Reach(unsigned level) { return Level(level) + 2 * kRows; }
    float* Products(unsigned level) { return Level(level) + (2 + kNodes) * kRows; }
    float* Sums(unsigned level) { return Level(level) + (2 + 2 * kNodes) * kRows; }

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
    void Multiply(const Slot& before, const RegionFigures<kNodes>& here, unsigned level) {
        const RegionFigures<kNodes>& there = before.figures;
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

    // What is below a child: into the sums of its parent, and to the feature.
    void Collect(size_t feature, unsigned level) {
        const float *const reaches = Reach(level), *const below = Sums(level + 1);
        float *const sums = Sums(level), *const values = values_ + feature * outputs_ * kRows;
        ForRows(simd_, [&]() DPBOOST_LANES {
            for (size_t k = 0; k < outputs_; k++) {
                const float* __restrict from = below + k * kNodes * kRows;
                const float* __restrict reach = reaches;
                float* __restrict sum = sums + k * kNodes * kRows;
                float* __restrict to = values + k * kRows;
                for (size_t row = 0; row < kRows; row++) {
                    float share = 0;
                    for (size_t n = 0; n < kNodes; n++) {
                        sum[n * kRows + row] += from[n * kRows + row];
                        share += from[n * kRows + row] * reach[n * kRows + row];
                    }
                    to[row] += share;
                }
            }
        });
    }

    // Multiply and Collect of a leaf at once: its sums are its value times the products.
    void CollectLeaf(const Slot& before, const Slot& slot, size_t leaf, unsigned level) {
        const RegionFigures<kNodes>&here = slot.figures, &there = before.figures;
        const float *const inside = slot.inside, *const outside = before.inside;
        const float* const products = Products(level);
        float *const sums = Sums(level), *const values = values_ + slot.feature * outputs_ * kRows;
        const int32_t* const leaves = tree_.leaves.data() + leaf * outputs_;
        ForRows(simd_, [&]() DPBOOST_LANES {
            float share[kRows] = {};
            for (size_t n = 0; n < kNodes; n++) {
                const auto u = static_cast<float>(Quadrature<kNodes>::at[n]);
                const float* __restrict product = products + n * kRows;
                const float in = here.base[n], step = here.reach_step[n];
                float next[kRows];
                if (outside == nullptr) {
                    for (size_t row = 0; row < kRows; row++) {
                        next[row] = product[row] * (in + inside[row] * u);
                        share[row] += next[row] * (here.reach_out[n] + inside[row] * step);
                    }
                } else {
                    const float from = here.reach_out[n] - there.reach_out[n], back = there.reach_step[n];
                    const float inverse = there.inverse_out[n], inverse_step = there.inverse_step[n];
                    for (size_t row = 0; row < kRows; row++) {
                        next[row] =
                            product[row] * (in + inside[row] * u) * (inverse + outside[row] * inverse_step);
                        share[row] += next[row] * (from + inside[row] * step - outside[row] * back);
                    }
                }
                for (size_t k = 0; k < outputs_; k++) {
                    const auto value = static_cast<float>(leaves[k]);
                    float* __restrict sum = sums + (k * kNodes + n) * kRows;
                    for (size_t row = 0; row < kRows; row++)
                        sum[row] += next[row] * value;
                }
            }
            for (size_t k = 0; k < outputs_; k++) {
                const auto value = static_cast<float>(leaves[k]);
                float* __restrict to = values + k * kRows;
                for (size_t row = 0; row < kRows; row++)
                    to[row] += share[row] * value;
            }
        });
    }

    const Model& model_;
    const Tree& tree_;
    Interrupt& interrupt_;
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
        const auto walk = [&](auto nodes) {
            BatchWalk<decltype(nodes)::value>(model, model.trees()[i], trees.masses_of(i), columns.data(),
                                              simd, interrupt, &scratch, values.data())
                .Descend(0, 0);
        };
        WithNodes(trees.width_of(i), walk);
    }
    return values;
}

}  // namespace dpboost
