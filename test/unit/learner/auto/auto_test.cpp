// Method `auto` as a whole: what it may depend on, what a neighbouring table changes, that it spends its plan
// and learns what there is to learn without noise, and the odd datasets that must train like any other.
#include "learner/auto/auto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "learner/auto/schedule.h"
#include "model/predictor.h"
#include "privacy/accountant/gdp.h"
#include "support/audit/transcript.h"
#include "support/audit/transcript_noise.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

Model Train(const Dataset& dataset, NoiseSource& noise, double epsilon = 1,
            const std::vector<GivenOption>& given = {}, Simd simd = BestSimd(), double delta = 1e-6) {
    ChaChaSource source = TestSource(42);
    Random random(source);
    TrainingSettings settings;
    settings.simd = simd;
    const auto learner = LearnerOf(kAuto, dataset, epsilon, delta, given);
    Plan plan = PlanOf(*learner, epsilon, delta);
    Model model = TrainLearner(*learner, dataset, plan, random, noise, settings);
    EXPECT_TRUE(plan.Finished());
    return model;
}

// What `auto` is trained for in these tests.
DataShape ShapeOf(ObjectiveKind objective) {
    DataShape shape;
    shape.task = objective == ObjectiveKind::kLogistic ? Task::kBinary : Task::kRegression;
    shape.counts = objective == ObjectiveKind::kPoisson;
    return shape;
}
std::vector<GivenOption> OptionsOf(ObjectiveKind objective) {
    return {Given("objective", kObjectiveWords[static_cast<size_t>(objective)])};
}
constexpr ObjectiveKind kObjectives[] = {ObjectiveKind::kLogistic, ObjectiveKind::kSquared,
                                         ObjectiveKind::kPoisson};

// A copy of some rows of a dataset, with the labels 1 - y or -y where `flip` says so.
struct Row {
    std::vector<uint16_t> codes;
    float label;
    int64_t unit;
};

Dataset BuildRows(const std::vector<FeatureSpec>& features, const TargetSpec& target,
                  const std::vector<Row>& rows, bool units) {
    DatasetBuilder builder(features, target, units);
    for (const Row& row : rows) {
        if (builder.Full())
            builder.Grow();
        for (size_t f = 0; f < features.size(); f++)
            builder.SetCode(f, row.codes[f]);
        builder.AppendRow(row.label, UnitKeyOf(row.unit));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

std::vector<Row> RowsOf(const Dataset& dataset) {
    std::vector<Row> rows;
    for (size_t i = 0; i < dataset.rows(); i++) {
        Row row{std::vector<uint16_t>(dataset.columns()), dataset.Label(i), dataset.Unit(i)};
        dataset.CopyRow(i, row.codes.data());
        rows.push_back(std::move(row));
    }
    return rows;
}

TEST(AutoPlan, IsOneGaussianPoolInClosedForm) {
    const Dataset dataset = RandomDataset(DataShape());
    const auto learner = LearnerOf(kAuto, dataset, 0.3, 1e-7, {});
    const Plan plan = PlanOf(*learner, 0.3, 1e-7);
    EXPECT_EQ(plan.calibrated_by(), "gdp");
    ASSERT_EQ(plan.events().size(), 1U);
    EXPECT_NEAR(1 / plan.NoiseMultiplier(0), GdpMu(0.3, 1e-7), 1e-6);
    EXPECT_THROW(PlanOf(*learner, 0.3, 0), Error);
}

TEST(AutoOptions, AreReadFromTheTable) {
    const Dataset dataset = RandomDataset(DataShape());
    const auto learner = LearnerOf(kAuto, dataset, 1, 1e-6, {Given("trees", 1000), Given("depth", 2)});
    EXPECT_EQ(learner->footprint(false).trees, 1000U);
    EXPECT_EQ(learner->footprint(false).depth, 10U);
    EXPECT_EQ(learner->main_mechanism(), "auto");
    for (const GivenOption& wrong :
         {Given("trees", 0.0), Given("trees", 1001), Given("depth", 0.0), Given("depth", 4),
          Given("depth", 1.5), Given("rows_hint", 0.0), Given("rows_hint", 2e12), Given("depth", "two")})
        EXPECT_THROW(LearnerOf(kAuto, dataset, 1, 1e-6, {wrong}), Error) << wrong.key << " " << wrong.shown;
}

// The released model depends on rows only through charged draws: with every noisy sum replaced by a script,
// tables that have nothing in common but their columns give the same bytes.
TEST(Auto, DependsOnRowsThroughChargedDrawsOnly) {
    for (const ObjectiveKind objective : kObjectives) {
        for (const int64_t spread : {int64_t{1} << 22, int64_t{1} << 36, int64_t{1} << 45}) {
            DataShape shape = ShapeOf(objective);
            shape.levels = 1;
            const std::vector<GivenOption> given = OptionsOf(objective);
            ScriptedNoise first(spread), second(spread), third(spread);
            const std::string bytes = Train(RandomDataset(shape), first, 1, given).Serialize();
            shape.rows = 5000;
            shape.key = 9;
            shape.missing_percent = 90;
            EXPECT_EQ(Train(RandomDataset(shape), second, 1, given).Serialize(), bytes);
            shape.rows = 0;
            EXPECT_EQ(Train(RandomDataset(shape), third, 1, given).Serialize(), bytes);
        }
    }
}

struct Neighbour {
    const char* name;
    ObjectiveKind objective;
    size_t units;
    size_t rows;
    double epsilon;
};

// Sensitivities of the whole training: along the path of a transcript, a table with one more unit is never
// further away than the plan's mu, whatever the unit; and for some units it comes near, so that half the
// noise would be seen.
TEST(Auto, NeighboursAreNoFurtherApartThanThePlanSays) {
    const Neighbour cases[] = {{"binary", ObjectiveKind::kLogistic, 0, 300, 2},
                               {"regression", ObjectiveKind::kSquared, 0, 300, 2},
                               {"counts", ObjectiveKind::kPoisson, 0, 300, 2},
                               {"binary strong", ObjectiveKind::kLogistic, 0, 60, 0.1},
                               {"binary large", ObjectiveKind::kLogistic, 0, 3000, 8},
                               {"units", ObjectiveKind::kLogistic, 80, 300, 2},
                               {"regression units", ObjectiveKind::kSquared, 80, 300, 5},
                               {"counts units", ObjectiveKind::kPoisson, 80, 300, 5}};
    for (const Neighbour& c : cases) {
        DataShape shape = ShapeOf(c.objective);
        const std::vector<GivenOption> given = OptionsOf(c.objective);
        shape.rows = c.rows;
        shape.units = c.units;
        shape.levels = 1;
        const Dataset small = RandomDataset(shape);
        const std::vector<Row> base_rows = RowsOf(small);
        double largest = 0;
        const double mu = GdpMu(c.epsilon, 1e-6);
        for (unsigned char kind = 0; kind < 6; kind++) {
            std::vector<Row> rows = base_rows;
            const int copies = c.units > 0 ? 1 + 3 * kind : 1;
            for (int copy = 0; copy < copies; copy++) {
                Row row = base_rows[kind];
                row.unit = 1000000;
                row.label = c.objective == ObjectiveKind::kLogistic ? static_cast<float>(kind % 2)
                            : kind % 2 == 0                         ? -1.0F
                                                                    : 1.0F;
                for (size_t f = 0; f < row.codes.size() && kind < 4; f++)
                    row.codes[f] =
                        static_cast<uint16_t>(kind < 2 ? 0 : small.features()[f].bins() - (kind == 2));
                rows.push_back(std::move(row));
            }
            const Dataset large = BuildRows(small.features(), small.target(), rows, c.units > 0);
            ChaChaSource source = TestSource(static_cast<unsigned char>(50 + kind));
            Random random(source);
            Tape recorder(random);
            const std::string bytes = Train(large, recorder, c.epsilon, given).Serialize();
            ReplayingNoise replay(recorder.draws);
            EXPECT_EQ(Train(small, replay, c.epsilon, given).Serialize(), bytes);
            EXPECT_TRUE(replay.SawAll());
            EXPECT_LE(replay.distance_squared, mu * mu * (1 + 1e-9)) << c.name << " " << int{kind};
            largest = std::max(largest, replay.distance_squared);
        }
        EXPECT_GT(4 * largest, mu * mu) << c.name << ": half the noise would go unnoticed";
    }
}

TEST(Auto, VectorInstructionsChangeNothing) {
    DataShape shape;
    shape.rows = 5000;
    shape.wide = 1;
    ZeroNoise first, second;
    EXPECT_EQ(Train(RandomDataset(shape), first).Serialize(),
              Train(RandomDataset(shape), second, 1, {}, Simd::kPortable).Serialize());
}

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < a.size(); i++) {
        ma += a[i] / static_cast<double>(a.size());
        mb += b[i] / static_cast<double>(a.size());
    }
    for (size_t i = 0; i < a.size(); i++) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return ab / std::sqrt(aa * bb);
}

std::vector<double> PredictAll(const Model& model, const Dataset& dataset) {
    Predictor predictor(model);
    std::vector<uint16_t> codes(dataset.columns());
    std::vector<double> result;
    for (size_t i = 0; i < dataset.rows(); i++) {
        dataset.CopyRow(i, codes.data());
        result.push_back(predictor.Predict(codes.data()));
    }
    return result;
}

// Labels that are an additive function, or a product of signs, of uniform features.
// The truth: mean label of each row. Classes of the additive function are drawn, else no finite one would be right.
Dataset SignalDataset(Task task, bool product, size_t rows, std::vector<double>* truth = nullptr) {
    std::vector<FeatureSpec> features;
    for (int f = 0; f < 3; f++) {
        NumericRange range;
        range.lower = -1;
        features.push_back(FeatureSpec::Numeric("x" + std::to_string(f), range));
    }
    features.push_back(FeatureSpec::Levels("l", {"a", "b", "c"}));
    const TargetSpec target = task == Task::kBinary ? TargetSpec::Binary() : TargetSpec::Regression(-1, 1);
    ChaChaSource source = TestSource(3);
    Random random(source);
    std::vector<Row> data;
    for (size_t i = 0; i < rows; i++) {
        Row row{std::vector<uint16_t>(4), 0, 0};
        double x[3];
        for (size_t f = 0; f < 3; f++) {
            row.codes[f] = static_cast<uint16_t>(random.Below(features[f].bins()));
            x[f] = 2 * (row.codes[f] + 0.5) / features[f].bins() - 1;
        }
        row.codes[3] = static_cast<uint16_t>(random.Below(3));
        const double value =
            product ? (x[0] * x[1] * x[2] > 0 ? 0.8 : -0.8)
                    : 0.5 * x[0] - 0.3 * x[1] + (x[2] > 0.3 ? 0.2 : -0.1) + 0.1 * row.codes[3] - 0.1;
        const double odds = std::exp(product ? 1000 * value : 8 * value);
        const double share = task == Task::kBinary ? 1 - 1 / (1 + odds) : value;
        if (truth != nullptr)
            truth->push_back(share);
        const bool positive = static_cast<double>(random.Below(1 << 20)) < share * (1 << 20);
        target.Label(task == Task::kBinary ? static_cast<double>(positive) : value, &row.label);
        data.push_back(std::move(row));
    }
    return BuildRows(features, target, data, false);
}

TEST(Auto, LearnsAnAdditiveFunctionWithTablesAlone) {
    for (const Task task : {Task::kBinary, Task::kRegression}) {
        std::vector<double> truth;
        const Dataset dataset = SignalDataset(task, false, 6000, &truth);
        ZeroNoise noise;
        const Model model = Train(dataset, noise);
        EXPECT_TRUE(model.trees().empty());
        EXPECT_GT(Correlation(PredictAll(model, dataset), truth), 0.97);
    }
}

TEST(Auto, FindsAnInteractionByItself) {
    const Dataset dataset = SignalDataset(Task::kBinary, true, 8000);
    ChaChaSource source = TestSource(7);
    Random random(source);
    ExactNoise noise(random);
    const Model model = Train(dataset, noise, 2);
    EXPECT_FALSE(model.trees().empty());
    std::vector<double> labels;
    for (size_t i = 0; i < dataset.rows(); i++)
        labels.push_back(dataset.Label(i));
    EXPECT_GT(Correlation(PredictAll(model, dataset), labels), 0.6);

    EXPECT_TRUE(Train(dataset, noise, 2, {Given("depth", 1)}).trees().empty());
}

TEST(Auto, TrainsOddDatasetsAtAnyBudget) {
    struct Odd {
        DataShape shape;
        double epsilon;
    };
    std::vector<Odd> odd;
    for (const ObjectiveKind objective : kObjectives) {
        for (const double epsilon : {0.001, 1.0, 50.0}) {
            DataShape shape = ShapeOf(objective);
            shape.rows = 10;
            odd.push_back({shape, epsilon});
            shape.rows = 0;
            odd.push_back({shape, epsilon});
            shape.rows = 2000;
            shape.missing_percent = 100;
            odd.push_back({shape, epsilon});
            shape.missing_percent = 0;
            shape.numeric = 1;
            shape.levels = 0;
            odd.push_back({shape, epsilon});
            shape.rows = 100;
            shape.numeric = 300;
            shape.wide = 1;
            odd.push_back({shape, epsilon});
        }
    }
    unsigned char key = 1;
    for (const Odd& o : odd) {
        const Dataset dataset = RandomDataset(o.shape);
        ChaChaSource source = TestSource(key++);
        Random random(source);
        ExactNoise noise(random);
        const Model model = Train(
            dataset, noise, o.epsilon,
            o.shape.counts ? OptionsOf(ObjectiveKind::kPoisson) : OptionsOf(DefaultObjective(o.shape.task)));
        for (const double value : PredictAll(model, dataset)) {
            ASSERT_TRUE(std::isfinite(value));
            ASSERT_GE(value, dataset.target().lower());
            ASSERT_LE(value, dataset.target().upper());
        }
    }
}

TEST(Auto, TakesAPublicNumberOfRows) {
    DataShape shape;
    const Dataset dataset = RandomDataset(shape);
    ZeroNoise noise, other;
    EXPECT_EQ(Train(dataset, noise, 1, {Given("rows_hint", 500), Given("trees", 3)}).Serialize().size(),
              Train(dataset, other, 1).Serialize().size());
}

class RecordingProgress final : public Progress {
  public:
    void Report(uint64_t rounds_done, uint64_t rounds_total) override {
        reports.emplace_back(rounds_done, rounds_total);
    }
    std::vector<std::pair<uint64_t, uint64_t>> reports;
};

// Others see the progress of a training: it is the same for every table, whichever stages run.
TEST(Auto, ProgressIsTheSameForEveryTable) {
    const auto reports_of = [](const Dataset& dataset, double epsilon) {
        ChaChaSource source = TestSource(11);
        Random random(source);
        ExactNoise noise(random);
        NoInterrupt interrupt;
        RecordingProgress progress;
        const auto learner = LearnerOf(kAuto, dataset, epsilon, 1e-6, {});
        Plan plan = PlanOf(*learner, epsilon, 1e-6);
        TrainLearner(*learner, dataset, plan, random, noise, {}, progress, interrupt);
        return progress.reports;
    };
    DataShape shape;
    shape.rows = 0;
    const auto expected = reports_of(RandomDataset(shape), 1);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(expected.back().first, expected.back().second);
    for (const Task task : {Task::kBinary, Task::kRegression}) {
        for (const size_t rows : {size_t{3}, size_t{300}, size_t{20000}}) {
            shape.task = task;
            shape.rows = rows;
            for (const double epsilon : {0.01, 1.0, 20.0})
                EXPECT_EQ(reports_of(RandomDataset(shape), epsilon), expected) << rows << " " << epsilon;
        }
        for (const bool product : {false, true})  // with and without interaction trees
            EXPECT_EQ(reports_of(SignalDataset(task, product, 8000), 2), expected) << product;
    }
}

// An epsilon for which a draw might be too noisy is refused before any draw; just above it none is, whatever
// earlier draws said.
TEST(Auto, RefusesTooMuchNoiseBeforeAnyDraw) {
    DataShape shape;
    const Dataset dataset = RandomDataset(shape);
    bool refused = false;
    for (double epsilon = 1e-3; !refused && epsilon > 1e-8; epsilon /= 2) {
        ZeroNoise quiet;
        const auto train = [&](NoiseSource& noise) {
            Train(dataset, noise, epsilon, {Given("trees", 1000)}, BestSimd(), epsilon / 1000);
        };
        try {
            train(quiet);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
            EXPECT_EQ(quiet.gaussian_draws, 0U);
            refused = true;
        }
        for (const int64_t spread : {int64_t{1} << 22, int64_t{1} << 36, int64_t{1} << 45}) {
            ScriptedNoise noise(spread);
            if (!refused) {
                EXPECT_NO_THROW(train(noise)) << epsilon;
            }
        }
    }
    EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace dpboost
