// The noise of auto's tables against plain computations: every coordinate's effect on every cell, one by one.
#include "learner/auto/noise_bands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learner/auto/auto.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

constexpr size_t kCells = 9;

std::vector<FeatureSpec> OneFeature() {
    return {FeatureSpec::Numeric("x", {0, 8, Scale::kLinear, kCells - 1})};
}

MarginalCounts SomeCounts() {
    MarginalCounts counts;
    counts.rows = 100;
    counts.cells = {{5, 20, 0, 10, 15, 25, 5, 12, 8}};
    return counts;
}

// Variance per cell of the sum over effects (each a table), centred by the counts.
std::vector<double> PlainVariances(const std::vector<std::vector<double>>& effects) {
    const MarginalCounts counts = SomeCounts();
    std::vector<double> variances(kCells, 0.0);
    for (const std::vector<double>& effect : effects) {
        double mean = 0;
        for (size_t cell = 0; cell < kCells; cell++)
            mean += counts.cells[0][cell] / counts.rows * effect[cell];
        for (size_t cell = 0; cell < kCells; cell++)
            variances[cell] += (effect[cell] - mean) * (effect[cell] - mean);
    }
    return variances;
}

BasisBlock MixedBlock(bool centred) {
    BasisBlock block;
    block.view = CodeView::Column(0, kCells);
    BasisColumn column;
    for (size_t cell = 0; cell < kCells; cell++)
        column.values.push_back(static_cast<int32_t>(cell * cell) * 5 - 100);
    block.columns.push_back(column);
    block.partition.leaves = 4;
    for (size_t cell = 0; cell < kCells; cell++)
        block.partition.leaf.push_back(cell % 5 == 4 ? BasisPartition::kNoLeaf
                                                     : static_cast<uint32_t>(cell % 5));
    block.partition.on = 128;
    if (centred)
        block.partition.Centre();
    return block;
}

TEST(NoiseBands, BlocksVaryAsExpandAddsThem) {
    for (const bool centred : {false, true}) {
        Basis basis;
        basis.Add(MixedBlock(centred));
        const std::vector<double> gains = {0.3, 0.1, 2, 0.7, 0.05};
        std::vector<std::vector<double>> effects;
        for (size_t k = 0; k < gains.size(); k++) {
            std::vector<double> weights(gains.size(), 0.0);
            weights[k] = 1.5 * gains[k];
            effects.emplace_back(kCells, 0.0);
            basis.Expand(0, weights.data(), effects.back().data());
        }
        NoiseBands bands(OneFeature(), SomeCounts());
        bands.AddBlock(0, basis.blocks()[0], gains.data(), 1.5);
        bands.Commit();
        const std::vector<double> expected = PlainVariances(effects);
        for (size_t cell = 0; cell < kCells; cell++)
            EXPECT_NEAR(bands.Sds()[0][cell], std::sqrt(expected[cell]), 1e-6) << cell;
    }
}

TEST(NoiseBands, LeavesVaryOneByOne) {
    const BasisPartition partition = MixedBlock(false).partition;
    const std::vector<double> gains = {0.3, 0.1, 2, 0.7};
    std::vector<std::vector<double>> effects;
    for (uint32_t leaf = 0; leaf < gains.size(); leaf++) {
        effects.emplace_back();
        for (const uint32_t of_cell : partition.leaf)
            effects.back().push_back(of_cell == leaf ? 3 * gains[leaf] : 0);
    }
    NoiseBands bands(OneFeature(), SomeCounts(), 2);
    bands.AddLeaves(0, partition, gains.data(), 3, 1);
    EXPECT_EQ(bands.Sds()[0][1], 0);  // not committed
    bands.Commit();
    const std::vector<double> expected = PlainVariances(effects);
    for (size_t cell = 0; cell < kCells; cell++) {
        EXPECT_NEAR(bands.Sds()[0][2 * cell + 1], std::sqrt(expected[cell]), 1e-6) << cell;
        EXPECT_EQ(bands.Sds()[0][2 * cell], 0);
    }
    const std::vector<std::vector<float>> before = bands.Sds();
    bands.AddLeaves(0, partition, gains.data(), 3, 0);
    bands.TakeBack();
    bands.Commit();
    EXPECT_EQ(bands.Sds(), before);
    bands.AddLeaves(0, partition, gains.data(), 3, 1);
    bands.Commit();
    EXPECT_NEAR(bands.Sds()[0][1], std::sqrt(2 * expected[0]), 1e-6);
}

TEST(NoiseBands, StepsCarryNoiseOn) {
    constexpr double kMomentum = 0.5, kRate = 0.2, kSd = 3;
    constexpr int kSteps = 6;
    StepNoise noise;
    for (int t = 0; t < kSteps; t++)
        noise.Move(kMomentum, (1 - kMomentum) * kRate, kSd);
    double variance = 0;
    for (int t = 0; t < kSteps; t++)
        variance += std::pow(kRate * (1 - std::pow(kMomentum, kSteps - t)), 2);
    EXPECT_NEAR(noise.Sd(), kSd * std::sqrt(variance), 1e-12);

    // A step that was taken back leaves nothing of its draw, and of earlier ones what they had before it.
    StepNoise taken_back, without;
    for (StepNoise* steps : {&taken_back, &without})
        steps->Move(kMomentum, 1, kSd);
    taken_back.Move(kMomentum, 1, 100);
    taken_back.TakeBack();
    EXPECT_EQ(taken_back.Sd(), without.Sd());
    taken_back.Move(kMomentum, 2, kSd);
    EXPECT_NEAR(taken_back.Sd(), std::sqrt(5.0) * kSd, 1e-12);
    without.Forget();
    without.Move(kMomentum, 2, kSd);
    EXPECT_NEAR(without.Sd(), std::sqrt(5.0) * kSd, 1e-12);
}

TEST(NoiseBands, AutoStoresWhatItReleased) {
    DataShape shape;
    shape.rows = 3000;
    const Dataset dataset = RandomDataset(shape);
    const auto train = [&](double epsilon) {
        ChaChaSource source = TestSource(42);
        Random random(source);
        ZeroNoise noise;
        return TrainWith(kAuto, dataset, epsilon, 1e-6, {}, random, noise);
    };
    const Model model = train(1);
    const Evidence& evidence = model.evidence();
    ASSERT_TRUE(evidence.reference.has_value());
    EXPECT_NEAR(evidence.reference->rows, 3000, 1e-6);
    EXPECT_GT(evidence.reference->rows_sd, 0);
    for (size_t f = 0; f < dataset.features().size(); f++) {
        const Marginal& marginal = evidence.reference->marginals[f];
        EXPECT_GT(marginal.count_sd, 0);
        double sum = 0;
        for (const float count : marginal.counts)
            sum += count;
        EXPECT_NEAR(sum, 3000, 1e-2);
        ASSERT_EQ(evidence.bands[f].size(), dataset.features()[f].cells());
        EXPECT_GT(*std::max_element(evidence.bands[f].begin(), evidence.bands[f].end()), 0);
    }
    EXPECT_EQ(train(1).Serialize(), model.Serialize());
    // Less privacy, less noise in a count.
    EXPECT_GT(evidence.reference->marginals[0].count_sd,
              3 * train(8).evidence().reference->marginals[0].count_sd);
}

}  // namespace
}  // namespace dpboost
