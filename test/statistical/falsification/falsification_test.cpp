// Tries to refute the privacy of each mechanism, as Google's library does: draws from neighbouring inputs
// through the calls that learners use, at the noise of a real Plan, and looks for a set of outcomes S with
// P(S) > e^epsilon Q(S) + delta for the epsilon and delta that the Plan claims. A test that should hold has a
// false-alarm rate of 1e-9; each is repeated with half the noise, and then must refute the claim.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mechanism/chacha_source.h"
#include "mechanism/exponential.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/noisy_sum.h"
#include "mechanism/releaser.h"
#include "privacy/plan.h"
#include "support/audit/halved_noise.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

constexpr std::size_t kTrials = 200000;  // one half finds the set, the other one judges it
constexpr int64_t kStep = 65536;         // the sensitivity

// One number per trial on each of two neighbouring inputs; any function of the outcome is sound, a likelihood
// ratio is sharpest.
struct Outcomes {
    std::vector<double> p;
    std::vector<double> q;
};

constexpr std::size_t kBins = 64;

std::vector<std::vector<double>> BinCounts(const std::vector<double>& scores,
                                           const std::vector<double>& edges) {
    std::vector<std::vector<double>> counts(2, std::vector<double>(kBins));
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const auto bin = std::upper_bound(edges.begin(), edges.end(), scores[i]) - edges.begin();
        counts[i % 2][static_cast<std::size_t>(bin)] += 1;
    }
    return counts;
}

// By how many standard errors P(S) exceeds e^epsilon Q(S) + delta in the judging half, for the set of bins S
// that is worst in the finding half. Below kNormalLimit unless the claim is false.
double Refutation(const std::vector<double>& p_scores, const std::vector<double>& q_scores, double epsilon,
                  double delta) {
    // Edges of equal probability under P, from trials of the finding half.
    std::vector<double> sorted;
    for (std::size_t i = 0; i < p_scores.size(); i += 16) {
        sorted.push_back(p_scores[i]);
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> edges;
    for (std::size_t bin = 1; bin < kBins; ++bin) {
        edges.push_back(sorted[bin * sorted.size() / kBins]);
    }
    const auto p = BinCounts(p_scores, edges);
    const auto q = BinCounts(q_scores, edges);
    double p_judged = 0;
    double q_judged = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        if (p[0][bin] > std::exp(epsilon) * q[0][bin]) {
            p_judged += p[1][bin];
            q_judged += q[1][bin];
        }
    }
    const double n = static_cast<double>(p_scores.size()) / 2;
    p_judged /= n;
    q_judged /= n;
    // One count more each, so that an error of zero is not taken for certainty.
    const double variance = (p_judged * (1 - p_judged) + 1 / n) / n +
                            std::exp(2 * epsilon) * (q_judged * (1 - q_judged) + 1 / n) / n;
    return (p_judged - std::exp(epsilon) * q_judged - delta) / std::sqrt(variance);
}

double WorstRefutation(const Outcomes& outcomes, const Plan& plan) {
    return std::max(Refutation(outcomes.p, outcomes.q, plan.epsilon(), plan.delta()),
                    Refutation(outcomes.q, outcomes.p, plan.epsilon(), plan.delta()));
}

// A plan for a single use; each side of a comparison calibrates its own.
Plan PlanFor(double epsilon, double delta, EventKind kind, std::vector<Dimension> dimensions,
             double sampling_rate = 1, uint64_t count = 1) {
    MechanismRequest request;
    request.name = "tested";
    request.kind = kind;
    request.count = count;
    request.sampling_rate = sampling_rate;
    request.rest = 1;
    request.dimensions = std::move(dimensions);
    return Plan::Calibrate({epsilon, delta, {request}, {}});
}

// Runs a mechanism with exact and with halved noise. `run` returns its refutation.
template <typename Run>
void ExpectPrivateUnlessHalved(unsigned char seed, Run run) {
    ChaChaSource source(ChaChaSource::Seed{seed});
    Random random(source);
    ExactNoise exact(random);
    EXPECT_LT(run(exact, random), kNormalLimit);
    HalvedNoise halved(random);
    EXPECT_GT(run(halved, random), kNormalLimit) << "half the noise was not found out";
}

// Trials are the cells of one block: they are released together, and a unit falls into one of them.
TEST(Falsification, GaussianSum) {
    ExpectPrivateUnlessHalved(1, [](NoiseSource& noise, Random&) {
        const auto plan = [] { return PlanFor(1.0, 1e-4, EventKind::kGaussian, {{kStep, 1, kTrials}}); };
        const auto release = [&](int64_t raw_sum) {
            std::vector<int64_t> sums(kTrials, raw_sum);
            AddGaussianNoise(plan().Take(0), noise, {sums.data(), kTrials});
            return std::vector<double>(sums.begin(), sums.end());
        };
        return WorstRefutation({release(kStep + 1000), release(1000)}, plan());
    });
}

// Both sums of a leaf move by their full sensitivity; the score is the log-likelihood ratio of the two.
TEST(Falsification, LeafBalancedGaussian) {
    ExpectPrivateUnlessHalved(2, [](NoiseSource& noise, Random&) {
        const auto plan = [] {
            return PlanFor(1.0, 1e-4, EventKind::kGaussian,
                           {{kStep, 0.25, kTrials}, {4 * kStep, 0.75, kTrials}});
        };
        const Plan claim = plan();
        const auto release = [&](int64_t units) {
            std::vector<int64_t> hessians(kTrials, units * kStep);
            std::vector<int64_t> gradients(kTrials, units * 4 * kStep);
            AddGaussianNoise(plan().Take(0), noise, {hessians.data(), kTrials}, {gradients.data(), kTrials});
            std::vector<double> scores(kTrials);
            for (std::size_t i = 0; i < kTrials; ++i) {
                scores[i] = static_cast<double>(hessians[i]) / std::pow(claim.ScaleInSteps(0, 0), 2) +
                            4 * static_cast<double>(gradients[i]) / std::pow(claim.ScaleInSteps(0, 1), 2);
            }
            return scores;
        };
        return WorstRefutation({release(1), release(0)}, claim);
    });
}

// The unit takes part with probability gamma, by the sampling that learners use.
TEST(Falsification, PoissonSampledGaussian) {
    ExpectPrivateUnlessHalved(3, [](NoiseSource& noise, Random& random) {
        constexpr double kGamma = 0.25;
        const auto plan = [] {
            return PlanFor(0.5, 1e-4, EventKind::kGaussian, {{kStep, 1, kTrials}}, kGamma);
        };
        const auto release = [&](bool present) {
            std::vector<int64_t> sums(kTrials);
            std::vector<uint32_t> chosen(kTrials);
            const SamplingRate rate = SamplingRate::FromProbability(plan().SamplingRate(0));
            chosen.resize(random.PoissonSample(rate, kTrials, chosen.data()));
            for (const uint32_t trial : chosen) {
                sums[trial] = present ? kStep : 0;
            }
            AddGaussianNoise(plan().Take(0), noise, {sums.data(), kTrials});
            return std::vector<double>(sums.begin(), sums.end());
        };
        return WorstRefutation({release(true), release(false)}, plan());
    });
}

TEST(Falsification, LaplaceSum) {
    ExpectPrivateUnlessHalved(4, [](NoiseSource& noise, Random&) {
        const auto plan = [] { return PlanFor(1.0, 0, EventKind::kLaplace, {{kStep, 1, kTrials}}); };
        const auto release = [&](int64_t raw_sum) {
            std::vector<int64_t> sums(kTrials, raw_sum);
            AddLaplaceNoise(plan().Take(0), noise, {sums.data(), kTrials});
            return std::vector<double>(sums.begin(), sums.end());
        };
        return WorstRefutation({release(kStep), release(0)}, plan());
    });
}

// The Laplace with a delta, where the accountant composes the continuous Laplace: two sums of one unit.
TEST(Falsification, TwoLaplaceSumsByPrivacyLoss) {
    ExpectPrivateUnlessHalved(5, [](NoiseSource& noise, Random&) {
        const auto plan = [] { return PlanFor(1.0, 1e-4, EventKind::kLaplace, {{2, 1, kTrials}}, 1, 2); };
        const Plan claim = plan();
        const auto release = [&](int64_t raw_sum) {
            Plan own = plan();
            std::vector<double> scores(kTrials);
            for (int use = 0; use < 2; ++use) {
                std::vector<int64_t> sums(kTrials, raw_sum);
                AddLaplaceNoise(own.Take(0), noise, {sums.data(), kTrials});
                for (std::size_t i = 0; i < kTrials; ++i) {
                    scores[i] += static_cast<double>(std::min<int64_t>(2, std::max<int64_t>(0, sums[i])));
                }
            }
            return scores;
        };
        return WorstRefutation({release(2), release(0)}, claim);
    });
}

// One candidate gains what all others lose: the worst case of the exponential mechanism.
TEST(Falsification, Selection) {
    ExpectPrivateUnlessHalved(6, [](NoiseSource& noise, Random&) {
        constexpr uint64_t kSelections = 100000;
        constexpr std::size_t kCandidates = 8;
        // A plan for one use tells the claim; a plan for all of them, at the same noise, gives the charges.
        const Plan claim = PlanFor(1.0, 0, EventKind::kExponential, {{kStep, 1, kCandidates}});
        const auto release = [&](int64_t sign) {
            Plan plan = PlanFor(1.0 * kSelections, 0, EventKind::kExponential, {{kStep, 1, kCandidates}}, 1,
                                kSelections);
            EXPECT_NEAR(plan.ScaleInSteps(0, 0) / claim.ScaleInSteps(0, 0), 1, 1e-6);
            std::vector<int64_t> utilities(kCandidates, 5 * kStep);
            for (std::size_t i = 0; i < kCandidates; ++i) {
                utilities[i] += (i == 0 ? sign : -sign) * kStep / 2;
            }
            std::vector<double> scores(kSelections);
            Releaser releaser(plan, noise);
            for (double& score : scores)
                score = releaser.Select(0, RawSums(utilities, kStep)) == 0 ? 1 : 0;
            return scores;
        };
        return WorstRefutation({release(1), release(-1)}, claim);
    });
}

}  // namespace
}  // namespace dpboost
