// Tries to falsify the pure privacy of the parts of pure_trees on neighbouring data: draws splits and leaf values
// many times with and without the row that moves them most, and looks for an event whose probabilities differ
// by more than the factor e^epsilon. A twice as large epsilon, that is half the noise, must be caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "learner/objective/objective.h"
#include "learner/pure/pure_trees.h"
#include "learner/rows/filtered_rows.h"
#include "learner/rows/node/node_rows.h"
#include "learner/tree/exponential_growth.h"
#include "mechanism/chacha_source.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr double kEpsilon = 1;
constexpr uint32_t kDraws = 20000;
// Hoeffding and Dvoretzky-Kiefer-Wolfowitz, 1e-9 for each distribution: false-alarm rate below 1e-7.
const double kSlack = std::sqrt(std::log(2 / 1e-9) / (2 * kDraws));
const double kAllowed = (1 + std::exp(kEpsilon)) * kSlack;

// A plan with kDraws charges, each for one tree at `epsilon` of the part that is tested.
PureOptions Options(LeafReleasePart part) {
    PureOptions options;
    options.ensembles = kDraws / 1000;
    options.trees_per_ensemble = 1000;
    options.depth = 1;
    options.learning_rate = 0.01;
    options.leaf_share = 0.5;
    options.leaves = part;
    options.leaf_clip = LeafClipPart::kNone;
    return options;
}

Plan PlanFor(const PureOptions& options, const std::vector<FeatureSpec>& features, double epsilon) {
    return PlanOf(PureLearner(options, features), 2 * epsilon * options.ensembles, 0);
}

// The excess P(S) - e^epsilon Q(S) that is largest over the events S made of single outcomes.
double Excess(const std::vector<double>& p, const std::vector<double>& q) {
    double worst = 0;
    for (size_t i = 0; i < p.size(); i++)
        worst =
            std::max({worst, p[i] - std::exp(kEpsilon) * q[i], (1 - p[i]) - std::exp(kEpsilon) * (1 - q[i])});
    return worst;
}

// Forty rows with code 0 and gradient 1; the one who may be missing has code 1 and gradient -1: it takes 3
// from the gain of every split that leaves it with the others, and adds to that of the split which parts
// them.
std::vector<double> SplitFrequencies(bool with_one_more, double epsilon) {
    NumericRange range;
    range.bins = 20;
    range.scale = Scale::kLinear;
    DatasetBuilder builder({FeatureSpec::Numeric("x", range)}, TargetSpec::Regression(-1, 1), false);
    builder.Grow();
    for (int row = 0; row < (with_one_more ? 41 : 40); row++) {
        builder.SetCode(0, row < 40 ? 0 : 1);
        builder.AppendRow(row < 40 ? 1 : -1);
    }
    NoInterrupt interrupt;
    const Dataset dataset = builder.Finish(interrupt);
    const PureOptions options = Options(LeafReleasePart::kQuotient);
    Plan plan = PlanFor(options, dataset.features(), epsilon);
    ChaChaSource source(ChaChaSource::Seed{with_one_more, 102});
    Random random(source);
    ExactNoise noise(random);
    Releaser releaser(plan, noise);
    PrivateRandom coins(random);
    WorkerPool pool(1);
    FilteredRows rows(dataset, {uint64_t{1} << 32}, 1, 1, BestSimd(), pool);
    rows.DrawSubsets(coins, interrupt);
    const SplitCandidates candidates(dataset.features(), CandidatePart::kWholeRange, 0);
    std::vector<double> frequencies(21, 0);
    for (uint32_t i = 0; i < kDraws; i++) {
        const Tree tree =
            GrowByExponential(candidates, {0}, 1, options.l2, rows.Begin(0, interrupt), releaser, interrupt);
        frequencies[tree.splits[0].threshold] += 1.0 / kDraws;
    }
    return frequencies;
}

TEST(PureFalsification, SplitsHideARow) {
    const std::vector<double> without = SplitFrequencies(false, kEpsilon),
                              with = SplitFrequencies(true, kEpsilon);
    EXPECT_LE(std::max(Excess(without, with), Excess(with, without)), kAllowed);
}

TEST(PureFalsification, SplitsAtTwiceTheEpsilonAreCaught) {
    const std::vector<double> without = SplitFrequencies(false, 2 * kEpsilon);
    const std::vector<double> with = SplitFrequencies(true, 2 * kEpsilon);
    EXPECT_GT(std::max(Excess(without, with), Excess(with, without)), kAllowed);
}

// What the value of an empty leaf becomes when a row with the largest gradient joins it, as probabilities of
// being above each of a hundred thresholds.
std::vector<double> LeafTails(LeafReleasePart part, bool with_one_more, double epsilon) {
    NumericRange range;
    const PureOptions options = Options(part);
    Plan plan = PlanFor(options, {FeatureSpec::Numeric("x", range)}, epsilon);
    ChaChaSource source(ChaChaSource::Seed{with_one_more, 103});
    Random random(source);
    ExactNoise noise(random);
    Releaser releaser(plan, noise);
    const LeafLattice lattice = options.Leaves(0);
    std::vector<CellSum> leaves(2);
    if (with_one_more)
        leaves[0] = {kClipSteps, 1};
    std::vector<double> tails(100, 0);
    const MechanismId id = plan.Find(kPureLeavesMechanism);
    for (uint32_t i = 0; i < kDraws; i++) {
        RawSums raw(lattice.Steps(leaves), LeafLattice::Sensitivity(part));
        const double value = lattice.Values(releaser.Release(id, std::move(raw)))[0];
        for (size_t t = 0; t < tails.size(); t++)
            tails[t] += (value > -1 + 0.02 * static_cast<double>(t)) * (1.0 / kDraws);
    }
    return tails;
}

double WorstLeafExcess(LeafReleasePart part, double epsilon) {
    const std::vector<double> without = LeafTails(part, false, epsilon),
                              with = LeafTails(part, true, epsilon);
    return std::max(Excess(without, with), Excess(with, without));
}

TEST(PureFalsification, LeavesHideARow) {
    EXPECT_LE(WorstLeafExcess(LeafReleasePart::kQuotient, kEpsilon), kAllowed);
    EXPECT_LE(WorstLeafExcess(LeafReleasePart::kSums, kEpsilon), kAllowed);
}

TEST(PureFalsification, LeavesAtTwiceTheEpsilonAreCaught) {
    EXPECT_GT(WorstLeafExcess(LeafReleasePart::kQuotient, 2 * kEpsilon), kAllowed);
}

}  // namespace
}  // namespace dpboost
