// Tries to refute the privacy of the parts of the methods: draws on neighbouring rows through the search for
// splits, at the noise of a real Plan, and compares how often a chosen set S comes out with e^epsilon Q(S) +
// delta. False alarms have a rate of 1e-9; with half the noise each test must refute the claim.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "learner/boosted/framework_plan.h"
#include "learner/boosted/histogram_growth.h"
#include "learner/rows/row_gradients.h"
#include "learner/tree/exponential_growth.h"
#include "learner/tree/split_score.h"
#include "mechanism/chacha_source.h"
#include "support/audit/halved_noise.h"
#include "support/statistics.h"

namespace dpboost {
namespace {

// Rows of given codes (two-bin features) with given gradients; every Hessian is at its bound.
struct Rows {
    std::vector<std::vector<uint16_t>> codes;
    KeptGradients kept;

    void Add(int count, std::vector<uint16_t> row, int32_t gradient) {
        codes.insert(codes.end(), static_cast<size_t>(count), row);
        kept.gradients.insert(kept.gradients.end(), static_cast<size_t>(count), gradient);
        kept.hessians.insert(kept.hessians.end(), static_cast<size_t>(count), kClipSteps);
    }
    Dataset Build(uint32_t bins) const {
        std::vector<FeatureSpec> features;
        for (size_t j = 0; j < codes[0].size(); j++) {
            NumericRange range;
            range.bins = bins;
            range.scale = Scale::kLinear;
            features.push_back(FeatureSpec::Numeric("x" + std::to_string(j), range));
        }
        DatasetBuilder builder(features, TargetSpec::Binary(), false);
        for (const std::vector<uint16_t>& row : codes) {
            if (builder.Full())
                builder.Grow();
            for (size_t j = 0; j < row.size(); j++)
                builder.SetCode(j, row[j]);
            builder.AppendRow(0);
        }
        NoInterrupt interrupt;
        return builder.Finish(interrupt);
    }
};

// By how many standard errors the frequency p exceeds e^epsilon q + delta.
double Refutation(double p, double q, double trials, double epsilon, double delta) {
    const double e = std::exp(epsilon);
    const double variance = (p * (1 - p) + 1 / trials + e * e * (q * (1 - q) + 1 / trials)) / trials;
    return (p - e * q - delta) / std::sqrt(variance);
}

// How often draw(run, sums) is true, with a plan of its own.
template <typename Noise, typename Draw>
double Frequency(const Dataset& dataset, const PlanRequest& request, unsigned char key, int trials,
                 const Draw& draw) {
    ChaChaSource source(ChaChaSource::Seed{key, 17});
    Random random(source);
    Noise noise(random);
    Plan plan = Plan::Calibrate(request);
    Releaser releaser(plan, noise);
    PublicRandom structure(random);
    PrivateRandom coins(random);
    Model model(dataset.features(), dataset.target(), Link::kLogistic);
    NoInterrupt interrupt;
    NoProgress progress;
    Run run{dataset, releaser, structure, coins, model, progress, interrupt, {}};
    WorkerPool pool(1);
    NodeSums sums(dataset, pool);
    int hits = 0;
    for (int trial = 0; trial < trials; trial++)
        hits += draw(run, sums);
    return static_cast<double>(hits) / trials;
}

constexpr int kTrials = 50000;

// How often a tree of one split takes the first feature.
template <typename Noise>
double FirstFeature(const Rows& rows, const PlanRequest& request, unsigned char key) {
    const Dataset dataset = rows.Build(2);
    const SplitCandidates candidates(dataset.features(), CandidatePart::kUniform, 1);
    return Frequency<Noise>(dataset, request, key, kTrials, [&](Run& run, NodeSums& sums) {
        sums.Begin(rows.kept, NodeSums::Weight::kRow, SamplingRate::All(), run.coins, run.interrupt);
        const Tree tree = GrowByExponential(candidates, {0, 1}, 1, 0, sums, run.releaser, run.interrupt);
        return tree.splits[0].feature == 0;
    });
}

// The worst case of split_score.h: the new row falls into a pure side of its own sign under the first feature
// (+1) and into one of the other sign under the second (-3). Some rows in between make the first feature
// rare, where probabilities can change by the full factor.
template <typename Noise>
double RefuteSelection() {
    const int32_t g = kClipSteps;
    Rows without;
    without.Add(100, {1, 0}, -g);
    without.Add(100, {0, 1}, g);
    without.Add(3, {0, 0}, -g);
    Rows with = without;
    with.Add(1, {1, 1}, -g);
    MechanismRequest selection;
    selection.name = SplitsMechanism(0);
    selection.kind = EventKind::kExponential;
    selection.rest = 1;
    selection.parts = kTrials;  // as if on disjoint rows, so that every trial has the epsilon of one
    selection.dimensions = {{kUtilitySensitivity, 1, 8}};
    const PlanRequest request{1, 0, {selection}, {}};
    return Refutation(FirstFeature<Noise>(with, request, 1), FirstFeature<Noise>(without, request, 2),
                      kTrials, 1, 0);
}

TEST(MethodFalsification, SelectionOfSplits) {
    EXPECT_LT(RefuteSelection<ExactNoise>(), kNormalLimit);
    EXPECT_GT(RefuteSelection<HalvedNoise>(), kNormalLimit);
}

enum class Release { kSketch, kHistogram };

// How often the noisy Hessians of the cells that the new row falls into, one per feature, sum to more than
// `limit` steps.
template <typename Noise>
double LargeCells(Release release, const Rows& rows, const PlanRequest& request, double limit,
                  unsigned char key) {
    const Dataset dataset = rows.Build(4);
    FrameworkOptions options;
    options.structure = StructurePart::kNoisyHistogram;
    options.depth = 1;
    options.l2 = 0;
    const SplitCandidates candidates(dataset.features(), CandidatePart::kUniform, 1);
    const std::vector<uint16_t> features{0, 1, 2};
    std::vector<NoisySide> leaves;
    return Frequency<Noise>(dataset, request, key, kTrials, [&](Run& run, NodeSums& sums) {
        NoisySums noisy;
        size_t cells = 3;                   // of each feature: lower and upper half, missing values
        if (release == Release::kSketch) {  // without missing values
            cells = 2;
            sums.Begin(rows.kept, NodeSums::Weight::kHessian, SamplingRate::All(), run.coins, run.interrupt);
            noisy = run.releaser.Release(0, sums.RootHessians(candidates, features, run.interrupt));
        } else {
            HistogramGrowth growth(options, sums);
            growth.Grow(candidates, features, rows.kept, run, &leaves);
            noisy = growth.root_hessians();
        }
        return static_cast<double>(noisy.values[1] + noisy.values[cells + 1] + noisy.values[2 * cells + 1]) >
               limit;
    });
}

// A row adds its Hessian to one cell of each of three features at once. The noise is relative_noise times
// what was claimed, if the test is to find it.
template <typename Noise>
double RefuteCells(Release release, double relative_noise) {
    constexpr double kEpsilon = 1, kDelta = 0.01;
    Rows without;
    without.Add(5, {0, 0, 0}, 0);
    Rows with = without;
    with.Add(1, {3, 3, 3}, 0);
    MechanismRequest mechanism;
    mechanism.kind = EventKind::kGaussian;
    mechanism.rest = 1;
    mechanism.parts = kTrials;
    const double sensitivity = NodeSums::HistogramSensitivity(3);
    if (release == Release::kSketch) {
        mechanism.name = kCandidatesMechanism;
        mechanism.dimensions = {{sensitivity, 1, 6}};
    } else {  // nearly all of the charge is for the Hessians, so that they show it
        mechanism.name = kHistogramsMechanism;
        mechanism.dimensions = {{sensitivity, 0.999, 9}, {sensitivity, 0.001, 9}};
    }
    const PlanRequest request{kEpsilon, kDelta, {mechanism}, {}};
    // Where the likelihood ratio of noise s is e^epsilon: (1/2 + epsilon s^2) of the row's shift of 3 S.
    const double s = Plan::Calibrate(request).NoiseMultiplier(0) * relative_noise;
    const double limit = 3.0 * kClipSteps * (0.5 + kEpsilon * s * s);
    return Refutation(LargeCells<Noise>(release, with, request, limit, 3),
                      LargeCells<Noise>(release, without, request, limit, 4), kTrials, kEpsilon, kDelta);
}

TEST(MethodFalsification, HessianSketches) {
    EXPECT_LT(RefuteCells<ExactNoise>(Release::kSketch, 1), kNormalLimit);
    EXPECT_GT(RefuteCells<HalvedNoise>(Release::kSketch, 0.5), kNormalLimit);
}

TEST(MethodFalsification, Histograms) {
    EXPECT_LT(RefuteCells<ExactNoise>(Release::kHistogram, 1), kNormalLimit);
    EXPECT_GT(RefuteCells<HalvedNoise>(Release::kHistogram, 0.5), kNormalLimit);
}

}  // namespace
}  // namespace dpboost
