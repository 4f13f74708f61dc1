// The option "monotone": the nearest monotone table, and models that are monotone bit for bit after every move, whatever the
// data and the noise say.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "learner/auto/additive_stage.h"
#include "learner/auto/auto.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

MarginalCounts RandomCounts(const std::vector<FeatureSpec>& features, PublicRandom& random) {
    MarginalCounts counts;
    counts.rows = 1000;
    for (const FeatureSpec& feature : features) {
        counts.cells.emplace_back();
        for (uint32_t cell = 0; cell < feature.cells(); cell++)
            counts.cells.back().push_back(static_cast<double>(random.Below(20)) * (random.Below(3) > 0));
    }
    return counts;
}

double Distance(const std::vector<double>& a, const std::vector<double>& b,
                const std::vector<double>& counts) {
    double sum = 0;
    for (size_t cell = 0; cell + 1 < a.size(); cell++)
        sum += std::max(counts[cell], 1e-3) * (a[cell] - b[cell]) * (a[cell] - b[cell]);
    return sum;
}

// +1 if no entry is below the one before it, -1 if none is above, 0 for neither; missing is exempt.
template <typename Number>
bool IsMonotone(const std::vector<Number>& table, int direction) {
    for (size_t cell = 0; cell + 2 < table.size(); cell++)
        if (direction > 0 ? table[cell + 1] < table[cell] : table[cell + 1] > table[cell])
            return false;
    return true;
}

TEST(Monotone, ProjectionIsTheNearestMonotoneTable) {
    ChaChaSource source = TestSource(3);
    Random stream(source);
    PublicRandom random(stream);
    DataShape shape;
    shape.levels = 0;
    const std::vector<FeatureSpec> features = TestFeatures(shape);
    for (int round = 0; round < 200; round++) {
        const MarginalCounts counts = RandomCounts(features, random);
        const int8_t direction = round % 2 == 0 ? 1 : -1;
        const MonotoneRules rules({0, direction, 0}, counts);
        std::vector<double> table;
        for (uint32_t cell = 0; cell < features[1].cells(); cell++)
            table.push_back(random.Fraction() * 4 - 2 + direction * (round % 5) * 0.03 * cell);
        std::vector<double> projected = table;
        rules.Project(1, projected);
        EXPECT_TRUE(IsMonotone(projected, direction));
        EXPECT_EQ(projected.back(), table.back()) << "missing is exempt";
        // The mean over the histogram stays, and no step towards another monotone table comes nearer.
        const double best = Distance(projected, table, counts.cells[1]);
        for (int other = 0; other < 50; other++) {
            std::vector<double> steps(table.size());
            double height = 0;
            for (size_t cell = 0; cell + 1 < steps.size(); cell++)
                steps[cell] = height += direction * (random.Below(4) == 0 ? random.Fraction() : 0);
            const double offset = random.Fraction() * 4 - 2;
            std::vector<double> mixed = projected;
            for (size_t cell = 0; cell + 1 < mixed.size(); cell++)
                mixed[cell] += 0.01 * (offset + steps[cell] - projected[cell]);
            EXPECT_GE(Distance(mixed, table, counts.cells[1]), best - 1e-9);
        }
        std::vector<double> again = projected;
        rules.Project(1, again);
        EXPECT_EQ(again, projected);
        std::vector<double> free = table;
        rules.Project(0, free);
        EXPECT_EQ(free, table);
    }
}

TEST(Monotone, TablesAreAfterEveryMove) {
    ChaChaSource source = TestSource(4);
    Random stream(source);
    PublicRandom random(stream);
    DataShape shape;
    const Dataset dataset = RandomDataset(shape);
    const MarginalCounts counts = RandomCounts(dataset.features(), random);
    NoInterrupt interrupt;
    BasisRows rows(dataset, BestSimd(), interrupt);
    AdditiveTables tables(dataset.features(), rows, MonotoneRules({1, -1, 0, 0, 0}, counts));
    for (int move = 0; move < 200; move++) {
        const size_t feature = random.Below(3);
        std::vector<double> change(dataset.features()[feature].cells());
        for (double& entry : change)
            entry = random.Fraction() - 0.5;
        if (random.Below(8) == 0)
            tables.Scale(feature, random.Fraction());
        else
            tables.Add(feature, change);
        ASSERT_TRUE(IsMonotone(tables.table(0), 1));
        ASSERT_TRUE(IsMonotone(tables.table(1), -1));
    }
    EXPECT_FALSE(IsMonotone(tables.table(2), 1));
    tables.SetFinal(0.3, 0.1);
    Model model(dataset.features(), dataset.target(), Link::kLogistic);
    tables.Store(model);
    EXPECT_TRUE(IsMonotone(model.table(0), 1));
    EXPECT_TRUE(IsMonotone(model.table(1), -1));
}

Model TrainMonotone(const Dataset& dataset, double epsilon, std::vector<GivenOption> given,
                    unsigned char key) {
    ChaChaSource source = TestSource(key);
    Random random(source);
    ExactNoise noise(random);
    return TrainWith(kAuto, dataset, epsilon, 1e-6, given, random, noise);
}

// Labels rise with the first column and depend on a product of it with the second: the data ask for what is forbidden.
TEST(Monotone, ModelsAreWhateverTheDataSay) {
    unsigned char key = 10;
    for (const Task task : {Task::kBinary, Task::kRegression})
        for (const bool units : {false, true})
            for (const double epsilon : {0.1, 2.0, 50.0}) {
                DataShape shape;
                shape.task = task;
                shape.rows = 3000;
                shape.units = units ? 1000 : 0;
                shape.product = key % 2 == 0;
                const Dataset dataset = RandomDataset(shape);
                const Model free = TrainMonotone(dataset, epsilon, {}, key);
                const Model model = TrainMonotone(dataset, epsilon,
                                                  {GivenNumbers("monotone", {{"n0", -1}, {"n1", 1}})}, key++);
                EXPECT_TRUE(IsMonotone(model.table(0), -1));
                EXPECT_TRUE(IsMonotone(model.table(1), 1));
                EXPECT_FALSE(IsMonotone(free.table(0), -1));
                for (const Tree& tree : model.trees())
                    for (const Split& split : tree.splits)
                        EXPECT_GT(split.feature, 1) << "a constrained feature interacts";
            }
}

std::string Refusal(std::vector<std::pair<std::string, double>> numbers) {
    DataShape shape;
    shape.rows = 10;
    const Dataset dataset = RandomDataset(shape);
    try {
        LearnerOf(kAuto, dataset, 1, 1e-6, {GivenNumbers("monotone", std::move(numbers))});
    } catch (const Error& error) {
        return error.message() + " | " + error.hint();
    }
    return "";
}

TEST(Monotone, NamesFeaturesThatHaveAnOrder) {
    EXPECT_EQ(Refusal({{"n1", 1}, {"n2", -1}}), "");
    EXPECT_EQ(Refusal({{"l0", 1}}), "column \"l0\" of option \"monotone\" has no order | ");
    EXPECT_EQ(Refusal({{"n11", 1}}),
              "column \"n11\" of option \"monotone\" is not a feature | Perhaps you meant \"n1\".");
    EXPECT_EQ(Refusal({{"n1", 2}}), "option \"monotone\" must be an object of columns, each with 1 or -1 | ");
}

}  // namespace
}  // namespace dpboost
