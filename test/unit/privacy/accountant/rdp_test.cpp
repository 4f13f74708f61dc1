#include "privacy/accountant/rdp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "unit/privacy/reference_table.h"

namespace dpboost {
namespace {

void CheckSubsampled(const ReferenceRows& rows) {
    for (const auto& row : rows) {
        const double rho = SubsampledGaussianRdp(static_cast<uint32_t>(row[2]), row[1], row[0]);
        EXPECT_NEAR(rho / row[3], 1, 1e-12) << row[0] << " " << row[1] << " " << row[2];
        EXPECT_GE(rho, row[3]) << row[0] << " " << row[1] << " " << row[2];
    }
}

void CheckConversion(const ReferenceRows& rows) {
    for (const auto& row : rows) {
        const std::vector<Event> events = {Event::Gaussian(row[1], static_cast<uint64_t>(row[2]), row[0])};
        const RdpEpsilon best = EventsRdpEpsilon(events, row[3]);
        EXPECT_EQ(best.order, static_cast<uint32_t>(row[4]));
        EXPECT_NEAR(best.epsilon / row[6], 1, 1e-11) << row[0] << " " << row[1];
        EXPECT_NEAR(EventsRdp(events, best.order) / row[5], 1, 1e-11);
    }
}

TEST(Rdp, SubsampledGaussianAgreesWithReferenceTable) {
    CheckSubsampled(LoadReference("rdp_subsampled_gaussian.csv"));
}

TEST(Rdp, PureMechanismsAgreeWithReferenceTables) {
    using Row = std::vector<double>;
    ExpectReference("rdp_laplace.csv", 1e-11, [](const Row& row) { return LaplaceRdp(row[1], row[0]); });
    ExpectReference("rdp_bounded_range_em.csv", 1e-11,
                    [](const Row& row) { return ExponentialMechanismRdp(row[1], row[0]); });
}

TEST(Rdp, ConversionAgreesWithReferenceTable) {
    CheckConversion(LoadReference("rdp_to_dp.csv"));
}

TEST(Rdp, OrdersAreThoseOfTheLedger) {
    const ReferenceRows rows = LoadReference("rdp_orders.csv");
    ASSERT_EQ(rows.size(), kOrderCount);
    for (std::size_t i = 0; i < kOrderCount; ++i)
        EXPECT_EQ(kOrders[i], static_cast<uint32_t>(rows[i][0]));
}

// The theorem as it stands in the paper, in plain arithmetic, where that is accurate.
TEST(Rdp, SubsampledGaussianIsTheorem14) {
    for (double gamma : {0.01, 0.3, 0.9})
        for (double s : {0.8, 1.5})
            for (uint32_t alpha : {2u, 3u, 7u}) {
                double sum = std::pow(1 - gamma, alpha - 1.0) * (alpha * gamma - gamma + 1);
                double binomial = alpha;
                for (uint32_t l = 2; l <= alpha; ++l) {
                    binomial *= static_cast<double>(alpha - l + 1) / l;
                    sum += binomial * std::pow(1 - gamma, alpha - l) * std::pow(gamma, l) *
                           std::exp((l - 1.0) * l / (2 * s * s));
                }
                EXPECT_NEAR(SubsampledGaussianRdp(alpha, s, gamma), std::log(sum) / (alpha - 1),
                            1e-13 + 1e-10 * sum);
            }
}

TEST(Rdp, IsMonotoneInOrderNoiseAndSampling) {
    for (std::size_t i = 1; i < kOrderCount; i += 3) {
        EXPECT_GE(SubsampledGaussianRdp(kOrders[i], 3, 0.1), SubsampledGaussianRdp(kOrders[i - 1], 3, 0.1));
        EXPECT_GT(SubsampledGaussianRdp(kOrders[i], 3, 0.1), SubsampledGaussianRdp(kOrders[i], 3.001, 0.1));
        EXPECT_GT(SubsampledGaussianRdp(kOrders[i], 3, 0.1001), SubsampledGaussianRdp(kOrders[i], 3, 0.1));
        EXPECT_GE(SubsampledGaussianRdp(kOrders[i], 3, 1), SubsampledGaussianRdp(kOrders[i], 3, 0.999));
        for (double epsilon : {1e-4, 0.3, 4.0}) {
            const double alpha = kOrders[i];
            EXPECT_GE(LaplaceRdp(alpha, epsilon), LaplaceRdp(kOrders[i - 1], epsilon) * (1 - 1e-12));
            EXPECT_LE(LaplaceRdp(alpha, epsilon), PureRdp(alpha, epsilon) * (1 + 1e-12));
            EXPECT_LE(ExponentialMechanismRdp(alpha, epsilon), PureRdp(alpha, epsilon) * (1 + 1e-12));
            EXPECT_LE(PureRdp(alpha, epsilon), epsilon);
        }
    }
}

TEST(Rdp, HighestOrderIsAccurate) {
    // gamma -> 1 must approach the closed form without sampling.
    EXPECT_NEAR(SubsampledGaussianRdp(8192, 20, 1 - 1e-12) / SubsampledGaussianRdp(8192, 20, 1), 1, 1e-9);
}

TEST(Rdp, StaysAnUpperBoundWhereLargeTermsCancel) {
    // alpha log(gamma) = -41446 against alpha (alpha-1) / (2 s^2); the value is mpmath's, with 60 digits.
    const double exact = 2.316266572013708659146597e-4;
    const double rho = SubsampledGaussianRdp(3000, 10.418129835483319, 1e-6);
    EXPECT_GE(rho, exact);
    EXPECT_LE(rho, exact * (1 + 1e-12));
}

TEST(Rdp, CurveConversionIsNeverBelowTheBestInteger) {
    const std::vector<Event> events = {Event::Gaussian(30, 150, 0.1), Event::Laplace(0.01, 2)};
    const RdpCurve curve = EventsCurve(events);
    const double by_curve = CurveToEpsilon(curve, 1e-6).epsilon;
    const double best = EventsRdpEpsilon(events, 1e-6).epsilon;
    EXPECT_GE(by_curve, best * (1 - 1e-12));
    EXPECT_LE(by_curve, best * 1.01);
    EXPECT_TRUE(std::isinf(curve.pure_epsilon));
    EXPECT_EQ(curve.At(2), curve.rho[0]);
    EXPECT_ERROR(curve.At(17), kInvalidParameter);
}

TEST(Rdp, ConversionNeverGoesBelowZero) {
    EXPECT_EQ(RdpToEpsilon(2, 1e-9, 0.9), 0);
}

TEST(Rdp, RefusesBadInput) {
    EXPECT_ERROR(SubsampledGaussianRdp(2, 0, 0.1), kInvalidParameter);
    EXPECT_ERROR(SubsampledGaussianRdp(2, NAN, 0.1), kInvalidParameter);
    EXPECT_ERROR(SubsampledGaussianRdp(2, 1, 0), kInvalidParameter);
    EXPECT_ERROR(SubsampledGaussianRdp(2, 1, 1.1), kInvalidParameter);
    EXPECT_ERROR(SubsampledGaussianRdp(2, 1, NAN), kInvalidParameter);
    EXPECT_ERROR(SubsampledGaussianRdp(1, 1, 0.1), kInvalidParameter);
    EXPECT_ERROR(SubsampledGaussianRdp(8193, 1, 0.1), kInvalidParameter);
    EXPECT_ERROR(EventsCurve({Event::Gaussian(1, 0)}), kInvalidParameter);
    EXPECT_ERROR(EventsCurve({Event::Gaussian(1, 10'000'001)}), kInvalidParameter);
    EXPECT_ERROR(EventsCurve({Event::Laplace(-1, 1)}), kInvalidParameter);
}

TEST(Rdp, RefusesAmplificationOfOtherNoise) {
    Event sampled = Event::Laplace(0.1, 1);
    sampled.sampling_rate = 0.1;
    EXPECT_ERROR(EventsCurve({sampled}), kUnsupported);
    Event filtered = Event::Exponential(0.1, 1);
    filtered.filtered = true;
    EXPECT_ERROR(EventsCurve({filtered}), kUnsupported);
}

}  // namespace
}  // namespace dpboost
