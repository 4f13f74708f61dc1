// Checks the parts of method pure_trees against plain computations with zero noise, and the sensitivities of its
// splits and leaves ([DPBOOST] Lemmas 1 and 2) by searching for violations.
#include "learner/pure/pure_trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "learner/rows/filtered_rows.h"
#include "learner/rows/node/node_rows.h"
#include "learner/rows/subsets.h"
#include "learner/tree/exponential_growth.h"
#include "learner/tree/split_score.h"
#include "support/thrown.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/any_epsilon.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// A number in [-n S, n S], often at the ends and near zero.
int64_t AnySum(Random& random, int64_t n) {
    const int64_t bound = n * kClipSteps;
    switch (random.Below(4)) {
        case 0:
            return bound;
        case 1:
            return -bound;
        case 2:
            return std::clamp<int64_t>(static_cast<int64_t>(random.Below(5)) - 2, -bound, bound);
        default:
            return static_cast<int64_t>(random.Below(static_cast<uint64_t>(2 * bound + 1))) - bound;
    }
}

int64_t AnyCount(Random& random) {
    return static_cast<int64_t>(random.Below(uint64_t{1} << random.Below(20)));
}

TEST(PureLemma1, GainsChangeWithinTheInterval) {
    ChaChaSource source = TestSource(1);
    Random random(source);
    int64_t most = 0, least = 0;
    for (int i = 0; i < 200000; i++) {
        const int64_t l2 = random.Below(3) == 0 ? 0 : static_cast<int64_t>(random.Below(10 * kClipSteps));
        const int64_t n = AnyCount(random), sum = AnySum(random, n), g = AnySum(random, 1);
        const int64_t other_rows = AnyCount(random), other = AnySum(random, other_rows);
        const int64_t change =
            SplitUtility(sum + g, n + 1, other, other_rows, l2) - SplitUtility(sum, n, other, other_rows, l2);
        most = std::max(most, change);
        least = std::min(least, change);
    }
    // |change| <= 3 g*^2 as Lemma 1 says, but not symmetric: the width is 4, and both ends are reached.
    EXPECT_LE(most, kClipSteps + 1);
    EXPECT_GE(least, -3 * kClipSteps - 1);
    EXPECT_LE(static_cast<double>(most - least), 2 * kUtilitySensitivity);
    EXPECT_GT(static_cast<double>(most - least), 1.99 * kUtilitySensitivity);
}

TEST(PureLemma2, LeavesChangeWithinTheSensitivity) {
    ChaChaSource source = TestSource(2);
    Random random(source);
    for (const LeafReleasePart part : {LeafReleasePart::kQuotient, LeafReleasePart::kSums}) {
        for (const double l2 : {0.0, 0.1, 1.0, 30.0}) {
            PureOptions options;
            options.leaves = part;
            options.l2 = l2;
            options.depth = 1;
            int64_t worst = 0;
            for (int i = 0; i < 20000; i++) {
                const uint32_t k = static_cast<uint32_t>(random.Below(50));
                CellSum leaf;
                leaf.weight = random.Below(2) == 0 ? static_cast<int64_t>(random.Below(4)) : AnyCount(random);
                leaf.gradient = AnySum(random, leaf.weight);
                const CellSum more{leaf.gradient + AnySum(random, 1), leaf.weight + 1};
                const std::vector<int64_t> before = options.Leaves(k).Steps({leaf, CellSum()});
                const std::vector<int64_t> after = options.Leaves(k).Steps({more, CellSum()});
                ASSERT_EQ(before.size(), LeafLattice::Sums(part, 2));
                int64_t change = 0;
                for (size_t j = 0; j < before.size(); j++)
                    change += std::abs(after[j] - before[j]);
                worst = std::max(worst, change);
            }
            EXPECT_LE(static_cast<double>(worst), LeafLattice::Sensitivity(part));
            EXPECT_GT(static_cast<double>(worst), 0.99 * LeafLattice::Sensitivity(part)) << "is it reached?";
        }
    }
}

TEST(PureFilter, KeepsGradientsWithinTheBound) {
    ChaChaSource source = TestSource(3);
    Random random(source);
    for (const double bound : {1.0, 0.3, 0.001, 10.0}) {
        const GradientFilter filter(bound);
        for (int i = 0; i < 10000; i++) {
            const int64_t label =
                static_cast<int64_t>(random.Below((2 << kFixedBits) + 1)) - (1 << kFixedBits);
            const int64_t score = static_cast<int32_t>(random.Next32()) >> random.Below(20);
            const double gradient = FromFixed(label - score);
            EXPECT_EQ(filter.Passes(label, score),
                      std::fabs(gradient) <= std::floor(bound * kFixedScale) / kFixedScale);
            if (filter.Passes(label, score)) {
                EXPECT_LE(std::abs(filter.Steps(label, score)), kClipSteps);
                EXPECT_NEAR(filter.Steps(label, score), gradient / bound * kClipSteps, 1 + 1e-3 * kClipSteps);
            }
        }
    }
}

TEST(PureSubsets, ArePublicSharesOfTheUnits) {
    PureOptions options;
    options.trees_per_ensemble = 5;
    options.learning_rate = 0.3;
    std::vector<uint64_t> ends = options.SubsetEnds();
    ASSERT_EQ(ends.size(), 5U);
    for (size_t k = 0; k < ends.size(); k++) {
        const double share = static_cast<double>(ends[k] - (k == 0 ? 0 : ends[k - 1])) / 4294967296.0;
        const double expected = 0.3 * std::pow(0.7, static_cast<double>(k)) / (1 - std::pow(0.7, 5));
        EXPECT_NEAR(share, expected, 1e-9);
    }
    EXPECT_EQ(ends.back(), uint64_t{1} << 32);
    options.subsets = SubsetPart::kHalving;
    ends = options.SubsetEnds();
    EXPECT_EQ(ends[0], uint64_t{1} << 31);
    EXPECT_EQ(ends[3] - ends[2], uint64_t{1} << 28);
    EXPECT_EQ(ends[4] - ends[3], uint64_t{1} << 28);
}

TEST(PureSubsets, OneUnitMoreMovesNoOther) {
    PureOptions options;
    options.trees_per_ensemble = 4;
    options.learning_rate = 0.3;
    std::vector<std::vector<uint32_t>> drawn[2];
    for (const int more : {0, 1}) {
        DatasetBuilder builder(TestFeatures(DataShape()), TargetSpec::Binary(), true);
        builder.Grow();
        for (int row = 0; row < 600 + more; row++) {
            for (size_t f = 0; f < builder.features().size(); f++)
                builder.SetCode(f, 0);
            builder.AppendRow(0, UnitKeyOf(int64_t{row < 600 ? row % 200 : 200}));
        }
        NoInterrupt interrupt;
        const Dataset dataset = builder.Finish(interrupt);
        ChaChaSource source = TestSource(4);
        Random random(source);
        PrivateRandom coins(random);
        Subsets subsets(options.SubsetEnds());
        subsets.Draw(dataset, coins, interrupt);
        size_t rows = 0;
        std::vector<int> seen(dataset.units(), 0);
        for (size_t k = 0; k < 4; k++) {
            drawn[more].push_back(subsets.rows(k));
            rows += subsets.rows(k).size();
            for (const uint32_t row : subsets.rows(k))
                seen[dataset.Unit(row)]++;
        }
        EXPECT_EQ(rows, dataset.units());
        EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<long>(dataset.units()));
    }
    size_t changed = 0;
    for (size_t k = 0; k < 4; k++) {
        std::vector<uint32_t> with = drawn[1][k];
        changed += with.size() - drawn[0][k].size();
        with.erase(std::remove(with.begin(), with.end(), 600u), with.end());
        EXPECT_EQ(with, drawn[0][k]);
    }
    EXPECT_EQ(changed, 1u);
}

// Alg 1 and 2 with exact choices on one subset, plainly: every candidate by its own pass over the rows.
class PlainBoosting {
  public:
    PlainBoosting(const Dataset& dataset, const PureOptions& options)
        : dataset_(dataset),
          options_(options),
          candidates_(dataset.features(), CandidatePart::kWholeRange, 0),
          scores_(dataset.rows(), 0) {}

    void AddTree(uint32_t k) {
        std::vector<uint32_t> rows;
        gradients_.assign(dataset_.rows(), 0);
        for (uint32_t row = 0; row < dataset_.rows(); row++) {
            gradients_[row] = dataset_.Label(row) - scores_[row];
            if (std::fabs(gradients_[row]) <= options_.gradient_clip)
                rows.push_back(row);
        }
        std::vector<uint32_t> all(dataset_.rows());
        for (uint32_t row = 0; row < all.size(); row++)
            all[row] = row;
        Grow(rows, all, 0, options_.gradient_clip * std::pow(1 - options_.learning_rate, k));
    }
    double score(size_t row) const { return scores_[row]; }

  private:
    double Side(const std::vector<uint32_t>& rows) const {
        double sum = 0;
        for (const uint32_t row : rows)
            sum += gradients_[row];
        return rows.empty() ? 0 : sum * sum / (static_cast<double>(rows.size()) + options_.l2);
    }

    void Divide(const std::vector<uint32_t>& rows, const Split& split, std::vector<uint32_t>* left,
                std::vector<uint32_t>* right) const {
        left->clear();
        right->clear();
        for (const uint32_t row : rows) {
            const bool goes_left = GoesLeft(split, nullptr, dataset_.Code(row, split.feature),
                                            dataset_.features()[split.feature].missing());
            (goes_left ? left : right)->push_back(row);
        }
    }

    void Grow(const std::vector<uint32_t>& rows, const std::vector<uint32_t>& all, int level, double bound) {
        if (level == options_.depth) {
            double sum = 0;
            for (const uint32_t row : rows)
                sum += gradients_[row];
            const double value =
                rows.empty()
                    ? 0
                    : std::clamp(sum / (static_cast<double>(rows.size()) + options_.l2), -bound, bound);
            for (const uint32_t row : all)
                scores_[row] += options_.learning_rate * value;
            return;
        }
        std::vector<uint32_t> left, right;
        Split best;
        double best_gain = -1;
        for (size_t f = 0; f < dataset_.columns(); f++) {
            for (size_t i = 0; i < candidates_.Count(f); i++) {
                Divide(rows, candidates_.At(f, i), &left, &right);
                const double gain = Side(left) + Side(right);
                if (gain > best_gain + 1e-9) {
                    best_gain = gain;
                    best = candidates_.At(f, i);
                }
            }
        }
        std::vector<uint32_t> all_left, all_right;
        Divide(rows, best, &left, &right);
        Divide(all, best, &all_left, &all_right);
        Grow(left, all_left, level + 1, bound);
        Grow(right, all_right, level + 1, bound);
    }

    const Dataset& dataset_;
    const PureOptions& options_;
    const SplitCandidates candidates_;
    std::vector<double> scores_;
    std::vector<double> gradients_;
};

TEST(PureTraining, WithoutNoiseIsPlainBoosting) {
    for (const LeafReleasePart part : {LeafReleasePart::kQuotient, LeafReleasePart::kSums}) {
        DataShape shape;
        shape.task = Task::kRegression;
        shape.rows = 400;
        shape.numeric = 2;
        shape.levels = 1;
        const Dataset dataset = RandomDataset(shape);
        PureOptions options;
        options.ensembles = 3;
        options.trees_per_ensemble = 1;
        options.depth = 2;
        options.learning_rate = 0.5;
        options.gradient_clip = 0.8;  // filters a part of the rows
        options.leaves = part;
        const PureLearner learner(options, dataset.features());
        Plan plan = PlanOf(learner, 1, 0);
        ChaChaSource source = TestSource(1);
        Random random(source);
        ZeroNoise noise;
        const Model model = TrainLearner(learner, dataset, plan, random, noise);
        EXPECT_TRUE(plan.Finished());
        EXPECT_EQ(noise.selections, 3u * 3u);
        EXPECT_EQ(noise.laplace_draws, 3 * LeafLattice::Sums(part, 4));
        PlainBoosting plain(dataset, options);
        for (int tree = 0; tree < 3; tree++)
            plain.AddTree(0);
        std::vector<uint16_t> codes(dataset.columns());
        for (size_t row = 0; row < dataset.rows(); row++) {
            dataset.CopyRow(row, codes.data());
            ASSERT_NEAR(FromFixed(model.Score(codes.data())), plain.score(row), 1e-3) << row;
        }
    }
}

TEST(PurePlan, IsPureAndSharesEpsilonAsThePaperSays) {
    PureOptions options;
    options.ensembles = 4;
    options.trees_per_ensemble = 10;
    options.depth = 5;
    const Plan plan = PlanOf(PureLearner(options, TestFeatures(DataShape())), 2, 0);
    EXPECT_EQ(plan.delta(), 0);
    EXPECT_EQ(plan.calibrated_by(), "pure");
    // Per ensemble 0.5: half of it for the leaves, a tenth of it for each of the five levels.
    EXPECT_NEAR(plan.NoiseMultiplier(plan.Find(kPureLeavesMechanism)), 1 / 0.25, 1e-9);
    for (int level = 0; level < 5; level++)
        EXPECT_NEAR(plan.NoiseMultiplier(plan.Find(SplitsMechanism(level))), 1 / 0.05, 1e-9);
    EXPECT_NEAR(PureEpsilon(plan.events()), 2, 1e-9);
}

TEST(PurePlan, RefusesWhatMakesNoSense) {
    const std::vector<FeatureSpec> features = TestFeatures(DataShape());
    const TargetSpec target = TargetSpec::Binary();
    const LearnerContext context{features, target, 1, 0};
    const auto code_of = [&](const MethodInfo& method, const std::vector<GivenOption>& given) {
        return CodeOf([&] { method.make(method, context, given); });
    };
    for (const MethodInfo* method : {&kPureTrees, &kPureSums, &kPureSeq, &kPurePara}) {
        EXPECT_TRUE(method->pure);
        EXPECT_NO_THROW(method->make(*method, context, {}));
        EXPECT_EQ(code_of(*method, {Given("depth", 11)}), ErrorCode::kInvalidParameter);
        EXPECT_EQ(code_of(*method, {Given("learning_rate", 0.0)}), ErrorCode::kInvalidParameter);
        EXPECT_EQ(code_of(*method, {Given("learning_rate", 1.5)}), ErrorCode::kInvalidParameter);
        EXPECT_EQ(code_of(*method, {Given("leaf_share", 1)}), ErrorCode::kInvalidParameter);
    }
    // At most 100000 trees, and scores within their bound.
    EXPECT_EQ(code_of(kPureTrees, {Given("ensembles", 10000), Given("trees_per_ensemble", 1000)}),
              ErrorCode::kInvalidParameter);
    EXPECT_EQ(code_of(kPureTrees, {Given("ensembles", 1000), Given("gradient_clip", 10)}),
              ErrorCode::kInvalidParameter);
    EXPECT_EQ(CodeOf([&] { PureLearner(PureOptions(), {}); }), ErrorCode::kInvalidParameter);
}

TEST(PureTraining, TrainsOnAnythingAtAnyEpsilon) {
    for (const size_t rows : {0, 1, 300}) {
        DataShape shape;
        shape.rows = rows;
        shape.units = rows == 300 ? 40 : 0;
        ExpectTrainsAtAnyEpsilon(kPureTrees, shape, 0,
                                 {Given("trees_per_ensemble", 3), Given("ensembles", 2)});
    }
}

}  // namespace
}  // namespace dpboost
