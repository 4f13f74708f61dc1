// A unit's contribution stays within the bound that the noise is made for, whatever its rows are, and keeps
// its direction; the filter's charge is never below the true one.
#include "learner/rows/leaf/leaf_sums.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner/objective/objective.h"
#include "support/open_sums.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

struct Rows {
    std::vector<uint16_t> leaves;
    std::vector<int32_t> gradients, hessians;
};

Rows RandomRows(Random& random, size_t n, size_t leaves) {
    Rows rows;
    const int shift = static_cast<int>(random.Below(17));
    for (size_t i = 0; i < n; i++) {
        rows.leaves.push_back(static_cast<uint16_t>(random.Below(leaves)));
        const int32_t g = static_cast<int32_t>(random.Below(2 * kClipSteps + 1)) - kClipSteps;
        rows.gradients.push_back(random.Bernoulli(1, 4) ? (g < 0 ? -kClipSteps : kClipSteps) : g >> shift);
        rows.hessians.push_back(random.Bernoulli(1, 2) ? kClipSteps
                                                       : static_cast<int32_t>(random.Below(kClipSteps + 1)));
    }
    return rows;
}

// r1 sum H^2 + r2 sum G^2, relative to S^2.
long double Norm(const LeafSums& sums, LeafWeights weights) {
    RawGradientSums raw = sums.Raw();
    const std::vector<int64_t> g = OpenSums(std::move(raw.gradients)), h = OpenSums(std::move(raw.hessians));
    long double norm = 0;
    for (size_t l = 0; l < sums.leaves(); l++) {
        norm += weights.hessian_share() * static_cast<long double>(h[l]) * h[l] +
                weights.gradient_share() * static_cast<long double>(g[l]) * g[l];
    }
    return norm / (static_cast<long double>(kClipSteps) * kClipSteps);
}

TEST(LeafSums, UnitsNeverExceedTheirBound) {
    ChaChaSource source = TestSource(9);
    Random random(source);
    const int bits = 24;
    for (int trial = 0; trial < 3000; trial++) {
        const LeafWeights weights(trial % 3 == 0 ? 0.2 : static_cast<double>(1 + random.Below(998)) / 1000);
        const size_t leaves = size_t{1} << random.Below(6);
        const size_t n = random.Below(trial % 10 == 0 ? 2000 : 6) + 1;
        const Rows rows = RandomRows(random, n, leaves);
        UnitSum unit(leaves, weights);
        LeafSums raw(leaves), clipped(leaves);
        raw.AddRows(rows.leaves.data(), rows.gradients.data(), rows.hessians.data(), n);
        for (size_t i = 0; i < n; i++)
            unit.AddRow(rows.leaves[i], rows.gradients[i], rows.hessians[i]);
        const uint64_t charge = unit.Clip(bits);
        unit.AddTo(&clipped);
        const long double raw_norm = Norm(raw, weights);
        const long double norm = Norm(clipped, weights);
        ASSERT_LE(norm, 1.0L);
        ASSERT_GE(static_cast<long double>(charge), norm * (1 << bits) * (1 - 1e-15L));
        ASSERT_LE(charge, uint64_t{1} << bits);
        ASSERT_LE(static_cast<long double>(charge), norm * (1 << bits) + 1.001L);
        if (raw_norm <= 1)
            EXPECT_EQ(norm, raw_norm) << "an unclipped unit must not change";
        else
            EXPECT_GT(norm, 0.99L) << "clipping takes more than it must";
    }
}

// With K gradients to a row the bound and the charge are of the length of their vector.
TEST(LeafSums, UnitsOfClassesNeverExceedTheirBound) {
    ChaChaSource source = TestSource(10);
    Random random(source);
    const int bits = 20;
    for (int trial = 0; trial < 2000; trial++) {
        const LeafWeights weights(static_cast<double>(1 + random.Below(998)) / 1000);
        const size_t outputs = 2 + random.Below(4), leaves = size_t{1} << random.Below(4);
        const size_t n = 1 + random.Below(trial % 2 == 0 ? 3 : 200);
        UnitSum unit(leaves, weights, outputs);
        for (size_t i = 0; i < n; i++) {
            std::vector<int32_t> gradients(outputs);
            for (int32_t& g : gradients)
                g = static_cast<int32_t>(random.Below(kClipSteps)) - kClipSteps / 2;
            unit.AddRow(static_cast<uint32_t>(random.Below(leaves)), gradients.data(),
                        static_cast<int32_t>(random.Below(kClipSteps)));
        }
        const uint64_t charge = unit.Clip(bits);
        LeafSums sums(leaves, outputs);
        unit.AddTo(&sums);
        RawGradientSums raw = sums.Raw();
        long double norm = 0;
        for (const int64_t g : OpenSums(std::move(raw.gradients)))
            norm += weights.gradient_share() * static_cast<long double>(g) * g;
        for (const int64_t h : OpenSums(std::move(raw.hessians)))
            norm += weights.hessian_share() * static_cast<long double>(h) * h;
        norm /= static_cast<long double>(kClipSteps) * kClipSteps;
        ASSERT_LE(norm, 1.0L);
        ASSERT_GE(static_cast<long double>(charge), norm * (1 << bits) * (1 - 1e-15L));
        ASSERT_LE(static_cast<long double>(charge), norm * (1 << bits) + 1.001L);
    }
}

TEST(LeafSums, OneRowIsNeverClipped) {
    for (const double share : {0.001, 0.1, 1.0 / 3, 0.5, 0.999}) {
        const LeafWeights weights(share);
        UnitSum unit(4, weights);
        LeafSums sums(4);
        unit.AddRow(2, -kClipSteps, kClipSteps);
        EXPECT_EQ(unit.Clip(10), 1U << 10);
        unit.AddTo(&sums);
        RawGradientSums raw = sums.Raw();
        EXPECT_EQ(OpenSums(std::move(raw.gradients)), (std::vector<int64_t>{0, 0, -kClipSteps, 0}));
        EXPECT_EQ(OpenSums(std::move(raw.hessians)), (std::vector<int64_t>{0, 0, kClipSteps, 0}));
    }
}

TEST(LeafSums, ScalingRoundsTowardsZeroAndKeepsTheRatio) {
    UnitSum unit(1, LeafWeights(0.5));
    for (int i = 0; i < 1000; i++)
        unit.AddRow(0, -kClipSteps / 4, kClipSteps);
    unit.Clip(0);
    LeafSums sums(1);
    unit.AddTo(&sums);
    RawGradientSums raw = sums.Raw();
    const auto g = static_cast<double>(OpenSums(std::move(raw.gradients))[0]);
    const auto h = static_cast<double>(OpenSums(std::move(raw.hessians))[0]);
    EXPECT_NEAR(g / h, -0.25, 1e-4);
    unit.Clear();
    EXPECT_EQ(unit.Clip(10), 0U);
}

TEST(LeafSums, HugeUnitsDoNotOverflow) {
    UnitSum unit(2, LeafWeights(0.3));
    for (int i = 0; i < 3000000; i++)
        unit.AddRow(static_cast<uint32_t>(i % 2), kClipSteps, kClipSteps);
    EXPECT_LE(unit.Clip(20), 1U << 20);
}

// A unit of one row is charged the same whether it is summed as a unit or as a row.
TEST(LeafSums, AUnitOfOneRowIsChargedAsARow) {
    ChaChaSource source = TestSource(10);
    Random random(source);
    for (int i = 0; i < 20000; i++) {
        const LeafWeights weights(static_cast<double>(random.Below(1000)) / 999);
        const auto any = [&] {
            const auto value = static_cast<int32_t>(random.Below(kClipSteps + 1));
            return random.Bernoulli(1, 8) ? kClipSteps : value >> random.Below(16);
        };
        const int32_t gradient = random.Bernoulli(1, 2) ? any() : -any(), hessian = any();
        const int bits = 8 + static_cast<int>(random.Below(13));
        UnitSum unit(1, weights);
        unit.AddRow(0, gradient, hessian);
        const auto squared = static_cast<uint64_t>(int64_t{gradient} * gradient);
        ASSERT_EQ(unit.Clip(bits), weights.RowLoss(hessian, squared, bits)) << gradient << " " << hessian;
        LeafSums as_unit(1), as_row(1);
        unit.AddTo(&as_unit);
        as_row.AddOne(0, gradient, hessian);
        if (i % 100 == 0) {
            ASSERT_EQ(OpenSums(as_unit.Raw().gradients), OpenSums(as_row.Raw().gradients));
            ASSERT_EQ(OpenSums(as_unit.Raw().hessians), OpenSums(as_row.Raw().hessians));
        }
    }
}

}  // namespace
}  // namespace dpboost
