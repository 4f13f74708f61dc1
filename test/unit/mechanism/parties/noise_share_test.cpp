#include "mechanism/parties/noise_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "support/thrown.h"
#include "unit/privacy/requests.h"

namespace dpboost {
namespace {

// The distribution of a rounded Gaussian, and of the sum of h of them.
std::map<int, double> Rounded(double s) {
    const auto tail = [&](double x) { return 0.5 * std::erfc(x / s / std::sqrt(2.0)); };  // P(N > x)
    std::map<int, double> p;
    const int reach = static_cast<int>(9 * s) + 4;
    for (int z = -reach; z <= reach; ++z)
        p[z] = tail(std::abs(z) - 0.5) - tail(std::abs(z) + 0.5);
    return p;
}

std::map<int, double> SumOf(int h, double s) {
    std::vector<double> one;
    for (const auto& [z, p] : Rounded(s))
        one.push_back(p);
    std::vector<double> sum = one;
    for (int i = 1; i < h; ++i) {
        std::vector<double> next(sum.size() + one.size() - 1, 0.0);
        for (size_t x = 0; x < sum.size(); ++x)
            for (size_t y = 0; y < one.size(); ++y)
                next[x + y] += sum[x] * one[y];
        sum = std::move(next);
    }
    std::map<int, double> all;
    for (size_t x = 0; x < sum.size(); ++x)
        all[static_cast<int>(x) - static_cast<int>(sum.size() / 2)] = sum[x];
    return all;
}

// theta of the theorem, over all m with entries up to 3.
double Theta(int h, double s) {
    constexpr int kMost = 3;
    double theta = 0;
    std::vector<int> m(static_cast<size_t>(h - 1), -kMost);
    while (h > 1) {
        double squares = 0, sum = 0;
        for (const int entry : m) {
            squares += entry * entry;
            sum += entry;
        }
        if (squares > 0)
            theta += std::exp(-2 * M_PI * M_PI * s * s * (squares - sum * sum / h));
        size_t i = 0;
        while (i < m.size() && m[i] == kMost)
            m[i++] = -kMost;
        if (i == m.size())
            break;
        ++m[i];
    }
    return theta;
}

double GaussianDelta(double epsilon, double shift, double sigma) {
    const auto phi = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    return std::max(0.0, phi(shift / (2 * sigma) - epsilon * sigma / shift) -
                             std::exp(epsilon) * phi(-shift / (2 * sigma) - epsilon * sigma / shift));
}

double DeltaOf(const std::map<int, double>& p, double epsilon, int shift) {
    double delta = 0;
    const auto at = [&](int z) {
        const auto found = p.find(z);
        return found == p.end() ? 0.0 : found->second;
    };
    for (int z = p.begin()->first; z <= p.rbegin()->first + shift; ++z)
        delta += std::max(0.0, at(z - shift) - std::exp(epsilon) * at(z));
    return delta;
}

// The theorem against exact distributions: delta(epsilon) of the sum of rounded shares is at most
// (1 + theta) delta_Gauss(epsilon - log((1 + theta) / (1 - theta))).
TEST(NoiseShare, TheoremHoldsForSmallShares) {
    int checked = 0;
    double worst = 0;
    for (int h = 1; h <= 4; ++h)
        for (const double s : {0.25, 0.35, 0.5, 0.7, 1.0, 1.5}) {
            const std::map<int, double> sum = SumOf(h, s);
            const double theta = Theta(h, s), sigma = s * std::sqrt(h);
            for (int shift = 1; shift <= 3; ++shift)
                for (const double epsilon : {0.0, 0.1, 0.5, 1.0, 2.0, 4.0}) {
                    const double delta = DeltaOf(sum, epsilon, shift);
                    const double plain = GaussianDelta(epsilon, shift, sigma);
                    if (plain > 1e-12)
                        worst = std::max(worst, delta / plain);
                    if (theta >= 1)
                        continue;
                    const double slack = std::log((1 + theta) / (1 - theta));
                    EXPECT_LE(delta,
                              (1 + theta) * GaussianDelta(epsilon - slack, shift, sigma) * (1 + 1e-9) + 1e-13)
                        << "h " << h << " s " << s << " shift " << shift << " epsilon " << epsilon;
                    ++checked;
                }
        }
    EXPECT_GT(checked, 300);
    // Why the condition is needed: without it, the sum is less private than the Gaussian.
    EXPECT_GT(worst, 1.3);
}

TEST(NoiseShare, ThetaIsNothingUnderTheCondition) {
    for (int h = 2; h <= 5; ++h) {
        const double s = 1.2 * std::sqrt(h);  // sigma = 1.2 h, far below the 32 h that are asked for
        EXPECT_LT(Theta(h, s), 1e-9 * h) << h;
    }
}

TEST(NoiseShare, SharesAddUpToNoLessAndTheLatticeIsFineEnough) {
    for (uint32_t k = 1; k <= 9; ++k)
        for (uint32_t t = 0; t < k; ++t)
            for (uint32_t m = 1; m <= k; ++m)
                for (const uint64_t units :
                     {uint64_t{1}, uint64_t{1} << 20, uint64_t{777} << 20, (uint64_t{1} << 55) + 12345}) {
                    const NoiseParties parties{k, t, m};
                    const NoiseShare share = ShareOf(GaussianScale::FromUnits(units), parties);
                    const auto s = static_cast<unsigned __int128>(share.scale.units());
                    const auto sigma = (static_cast<unsigned __int128>(units) * m) << share.finer;
                    EXPECT_TRUE(s * s * parties.honest() >= sigma * sigma);
                    EXPECT_TRUE((s - 1) * (s - 1) * parties.honest() < sigma * sigma);
                    EXPECT_TRUE(sigma >= (static_cast<unsigned __int128>(32 * parties.honest()) << 20));
                    EXPECT_TRUE(share.finer == 0 ||
                                sigma / 2 < (static_cast<unsigned __int128>(32 * parties.honest()) << 20));
                }
}

// Whoever has rows at m parties moves the honest total by m C, as two parties' noise of k = 3, t = 1 hides it, exactly: no better
// to tell than what the plan accounts for, C under sigma, and by no more noise than that takes.
TEST(NoiseShare, APersonAtSeveralPartiesIsHiddenAsAtOne) {
    constexpr double kSigma = 64;
    for (const uint32_t m : {1U, 2U, 3U}) {
        const NoiseParties parties{3, 1, m};
        const NoiseShare share = ShareOf(GaussianScale::FromSteps(kSigma), parties);
        ASSERT_EQ(share.finer, 0);
        const std::map<int, double> honest = SumOf(static_cast<int>(parties.honest()), share.scale.steps());
        for (const int clip : {16, 64, 128})
            for (const double epsilon : {0.0, 0.5, 1.0, 2.0}) {
                const double delta = DeltaOf(honest, epsilon, static_cast<int>(m) * clip);
                const double accounted = GaussianDelta(epsilon, clip, kSigma);
                EXPECT_LE(delta, accounted * (1 + 1e-6) + 1e-12) << m << " " << clip << " " << epsilon;
                EXPECT_GE(delta, accounted * 0.999 - 1e-6) << m << " " << clip << " " << epsilon;
            }
    }
}

TEST(NoiseShare, FinerLatticeRoundsBackToTheNearest) {
    for (const int64_t value : {int64_t{0}, int64_t{5}, int64_t{-5}, int64_t{1} << 40, -(int64_t{1} << 40)})
        for (const int finer : {0, 1, 7})
            EXPECT_EQ(FromFiner(ToFiner(static_cast<uint64_t>(value), finer), finer), value);
    EXPECT_EQ(FromFiner(static_cast<uint64_t>(int64_t{-9}), 2), -2);
    EXPECT_EQ(FromFiner(static_cast<uint64_t>(int64_t{-11}), 2), -3);
    EXPECT_EQ(FromFiner(9, 2), 2);
    EXPECT_EQ(FromFiner(11, 2), 3);
}

TEST(NoiseShare, TheTotalIsWhatLearnersAreTold) {
    EXPECT_DOUBLE_EQ((NoiseParties{3, 0, 1}).Factor(), 1);
    EXPECT_DOUBLE_EQ((NoiseParties{3, 1, 1}).Factor(), std::sqrt(1.5));
    EXPECT_DOUBLE_EQ((NoiseParties{3, 2, 2}).Factor(), 2 * std::sqrt(3.0));
    Plan plan = Plan::Calibrate(Request(1, 1e-6, {Leaves(1, 3)}));
    const double scale = plan.ScaleInSteps(0, 1), multiplier = plan.NoiseMultiplier(0);
    const std::string bytes = plan.Serialize();
    plan.SetNoiseFactor(1.25);
    EXPECT_DOUBLE_EQ(plan.ScaleInSteps(0, 1), 1.25 * scale);
    EXPECT_DOUBLE_EQ(plan.NoiseMultiplier(0), 1.25 * multiplier);
    EXPECT_EQ(plan.Serialize(), bytes);
    Charge charge = plan.Take(0);
    EXPECT_EQ(charge.Spend(EventKind::kGaussian, {1, 1})[1], static_cast<uint64_t>(scale * (1 << 20)));
    EXPECT_EQ(CodeOf([&] { plan.SetNoiseFactor(0.9); }), ErrorCode::kInternal);
}

TEST(NoiseShare, RefusesWhatHasNoProof) {
    const Plan sampled = Plan::Calibrate(Request(1, 1e-6, {Leaves(0.5, 3)}));
    CheckSharedPlan(sampled, {3, 1, 1});
    EXPECT_EQ(CodeOf([&] { CheckSharedPlan(sampled, {3, 1, 2}); }), ErrorCode::kUnsupported);
    CheckSharedPlan(Plan::Calibrate(Request(1, 1e-6, {Leaves(1, 3)})), {3, 1, 2});
    MechanismRequest filtered = Leaves(1, 3);
    filtered.filter_rounds = 2;
    const Plan spent_singly = Plan::Calibrate(Request(1, 1e-6, {filtered}));
    CheckSharedPlan(spent_singly, {3, 1, 1});
    EXPECT_EQ(CodeOf([&] { CheckSharedPlan(spent_singly, {3, 1, 2}); }), ErrorCode::kUnsupported);
    MechanismRequest laplace = Leaves(1, 1);
    laplace.kind = EventKind::kLaplace;
    EXPECT_EQ(CodeOf([&] {
                  CheckSharedPlan(Plan::Calibrate(Request(1, 1e-6, {laplace})), {3, 1, 1});
              }),
              ErrorCode::kUnsupported);
    for (const NoiseParties& wrong : {NoiseParties{0, 0, 1}, NoiseParties{3, 3, 1}, NoiseParties{3, 0, 0},
                                      NoiseParties{3, 0, 4}, NoiseParties{201, 0, 1}})
        EXPECT_EQ(CodeOf([&] { wrong.Check(); }), ErrorCode::kInvalidParameter);
}

}  // namespace
}  // namespace dpboost
