#include "privacy/filter/renyi_filter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "unit/privacy/reference_table.h"

namespace dpboost {
namespace {

constexpr uint32_t kClip = 65536;

uint32_t NextRandom(uint32_t* state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

TEST(RenyiFilter, LossIsRoundedUpAndTight) {
    uint32_t state = 1;
    for (uint32_t h_clip : {1u, 100u, 65536u, 1u << 24})
        for (uint32_t g_clip : {65536u, 131072u, 3u})
            for (double r : {0.0, 0.1, 0.5, 1.0}) {
                const RenyiFilter filter(200, {h_clip, r}, {g_clip, 1 - r});
                const double unit = std::ldexp(1, -filter.bits());
                for (int i = 0; i < 200; ++i) {
                    const uint32_t h = NextRandom(&state) % (h_clip + 1);
                    const uint32_t g = NextRandom(&state) % (g_clip + 1);
                    const long double exact = r * static_cast<long double>(h) * h / h_clip / h_clip +
                                              (1 - r) * static_cast<long double>(g) * g / g_clip / g_clip;
                    const double u = filter.Loss(h, g) * unit;
                    EXPECT_GE(u, static_cast<double>(exact) * (1 - 1e-15));
                    EXPECT_LE(u, static_cast<double>(exact) + 1.1 * unit);
                }
                EXPECT_EQ(filter.Loss(h_clip, g_clip), 1u << filter.bits());
                EXPECT_EQ(filter.Loss(0, 0), 0u);
            }
}

// The proof's step: rho_u(alpha) <= u rho_1(alpha) at every order.
TEST(RenyiFilter, LossIsConvexInU) {
    for (double s : {0.6, 2.0, 50.0})
        for (double gamma : {0.005, 0.1, 1.0})
            for (uint32_t order : {2u, 5u, 34u, 204u})
                for (double u : {1e-4, 0.03, 0.5, 0.99})
                    EXPECT_LE(SubsampledGaussianRdp(order, s / std::sqrt(u), gamma),
                              u * SubsampledGaussianRdp(order, s, gamma) * (1 + 1e-11));
}

TEST(RenyiFilter, NobodyExceedsTheLimit) {
    const uint64_t regular = 10;
    const RenyiFilter filter(regular, {kClip, 0.25}, {kClip, 0.75});
    EXPECT_EQ(filter.limit(), regular << filter.bits());
    const std::size_t n = 1003;
    std::vector<uint32_t> spent(n, 0);
    std::vector<uint8_t> active(n);
    std::vector<int32_t> hessian(n), gradient(n);
    std::vector<long double> exact(n, 0);
    std::vector<int> rounds(n, 0);
    uint32_t state = 5;
    for (int round = 0; round < 60; ++round) {
        for (std::size_t i = 0; i < n; ++i) {
            const auto range = static_cast<uint32_t>(kClip * (i + 1) / n);
            hessian[i] = i == 0 ? kClip : static_cast<int32_t>(NextRandom(&state) % (range + 1));
            gradient[i] = (i == 0 ? kClip : static_cast<int32_t>(NextRandom(&state) % (range + 1))) *
                          (round % 2 ? 1 : -1);
        }
        std::vector<uint32_t> before = spent;
        filter.Round(hessian.data(), gradient.data(), n, spent.data(), active.data());
        for (std::size_t i = 0; i < n; ++i) {
            // The vectorised loop does what the single steps do.
            const bool admitted = filter.Admit(filter.Loss(static_cast<uint32_t>(std::abs(hessian[i])),
                                                           static_cast<uint32_t>(std::abs(gradient[i]))),
                                               &before[i]);
            EXPECT_EQ(admitted, active[i] == 1);
            EXPECT_EQ(before[i], spent[i]);
            if (active[i] == 1) {
                ++rounds[i];
                exact[i] += 0.25L * hessian[i] * hessian[i] / kClip / kClip +
                            0.75L * gradient[i] * gradient[i] / kClip / kClip;
            }
            EXPECT_LE(exact[i], static_cast<long double>(regular));
            EXPECT_LE(spent[i], filter.limit());
        }
    }
    EXPECT_EQ(rounds[0], static_cast<int>(regular));  // the worst case gets exactly its regular rounds
    EXPECT_EQ(rounds[1], 60);                         // a small one all of them
}

TEST(RenyiFilter, ManyRoundsFitTheAccumulator) {
    for (uint64_t regular : {uint64_t{1}, uint64_t{4000}, uint64_t{5000}, uint64_t{10'000'000}}) {
        const RenyiFilter filter(regular, {kClip, 0.5}, {kClip, 0.5});
        EXPECT_GE(filter.bits(), 8);
        uint32_t spent = filter.limit();
        EXPECT_FALSE(filter.Admit(uint32_t{1} << filter.bits(), &spent));
        EXPECT_FALSE(filter.Admit(1, &spent));
        EXPECT_TRUE(filter.Admit(0, &spent));
        EXPECT_EQ(spent, filter.limit());
    }
}

TEST(RenyiFilter, RefusesBadInput) {
    EXPECT_ERROR(RenyiFilter(0, {kClip, 0.5}, {kClip, 0.5}), kInvalidParameter);
    EXPECT_ERROR(RenyiFilter(10'000'001, {kClip, 0.5}, {kClip, 0.5}), kInvalidParameter);
    EXPECT_ERROR(RenyiFilter(1, {0, 0.5}, {kClip, 0.5}), kInvalidParameter);
    EXPECT_ERROR(RenyiFilter(1, {kClip, 0.5}, {(1u << 24) + 1, 0.5}), kInvalidParameter);
    EXPECT_ERROR(RenyiFilter(1, {kClip, 0.5}, {kClip, 0.6}), kInvalidParameter);
    EXPECT_ERROR(RenyiFilter(1, {kClip, NAN}, {kClip, 0.5}), kInvalidParameter);
}

}  // namespace
}  // namespace dpboost
