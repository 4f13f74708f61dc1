// The whole trainer without noise gives exactly the trees of a plain computation: row by row, tree by tree,
// no blocks, no vectors, no threads, all gradients from scratch. Covers tasks, schedules, missing values,
// levels, two-byte columns, units, sampling and the filter; then the odd datasets that must train like any
// other.
#include "learner/boosted/sbdt.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner/objective/initial_score.h"
#include "learner/objective/objective.h"
#include "learner/rows/leaf/leaf_sums.h"
#include "learner/tree/leaf_values.h"
#include "privacy/filter/renyi_filter.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

struct Setting {
    const char* name;
    DataShape shape;
    SbdtOptions options;
};

SbdtOptions SmallOptions(Task task) {
    SbdtOptions options = SbdtOptions(task, 1);
    options.trees = 21;
    options.depth = 3;
    options.subsample = 0.3;
    return options;
}

Plan PlanFor(const SbdtOptions& options) {
    return PlanOf(SbdtLearner(options), 1, 1e-6);
}

Model Train(const Dataset& dataset, const SbdtOptions& options, const TrainingSettings& settings = {}) {
    ChaChaSource source = TestSource(42);
    Random random(source);
    ZeroNoise noise;
    Plan plan = PlanFor(options);
    Model model = TrainLearner(SbdtLearner(options), dataset, plan, random, noise, settings);
    EXPECT_TRUE(plan.Finished());
    return model;
}

// ---- the plain computation ----

struct Sums {
    std::vector<int64_t> g, h;
    explicit Sums(size_t leaves) : g(leaves), h(leaves) {}
};

class Reference {
  public:
    Reference(const Dataset& dataset, const SbdtOptions& options)
        : dataset_(dataset), options_(options), plan_(PlanFor(options)), weights_(options.hessian_share) {}

    Model Train() {
        ChaChaSource source = TestSource(42);
        Random random(source);
        PublicRandom structure(random);
        const int32_t base = options_.initial_share > 0 ? InitialScore() : 0;
        const bool binary = options_.task == Task::kBinary;
        Model model(dataset_.features(), dataset_.target(), binary ? Link::kLogistic : Link::kIdentity);
        model.AddToBase(base);
        const RandomStructure drawer(dataset_.features(), options_.depth, options_.features);
        const uint32_t batch = options_.batch;
        const uint32_t group = batch > 1             ? batch
                               : options_.depth <= 8 ? 8
                                                     : 4;  // how far ahead structures are drawn
        std::vector<Tree> trees;
        Model scored = model;  // what gradients are taken at
        spent_.assign(dataset_.units(), 0);
        for (uint32_t round = 0; round < options_.rounds(); round++) {
            for (uint32_t k = round; round % group == 0 && k < std::min(round + group, options_.rounds());
                 k++)
                trees.push_back(drawer.Draw(k, structure));
            if (round % batch == 0)
                scored = model;
            const Sums sums = Sum(scored, trees[round], random);
            trees[round].leaves = LeafValues(sums);
            model.AddTree(trees[round]);
        }
        return model;
    }

  private:
    static constexpr long double kBound =
        static_cast<long double>(uint64_t{1} << (kWeightBits + 2 * kClipBits));

    // 1 / sqrt(norm), rounded down to a multiple of 2^-32.
    static long double Factor(long double norm) {
        return std::floor(4294967296.0L / std::sqrt(norm)) / 4294967296.0L;
    }

    // What a unit adds, clipped, and its charge u.
    double UnitSums(const Model& model, const Tree& tree, size_t unit, Sums* sums) const {
        const size_t leaves = tree.leaf_count();
        Sums own(leaves);
        for (size_t row = 0; row < dataset_.rows(); row++) {
            if (dataset_.Unit(row) != unit)
                continue;
            std::vector<uint16_t> codes(dataset_.columns());
            dataset_.CopyRow(row, codes.data());
            int32_t score = static_cast<int32_t>(model.Score(codes.data()));
            const float label = dataset_.Label(row);
            int32_t g, h;
            MakeObjective(DefaultObjective(options_.task), dataset_.target(), options_.gradient_clip,
                          options_.hessian_clip)
                ->Evaluate(Simd::kPortable, &score, &label, 1, &g, &h);
            own.g[tree.Leaf(codes.data(), dataset_.features())] += g;
            own.h[tree.Leaf(codes.data(), dataset_.features())] += h;
        }
        const auto norm = [&] {
            long double total = 0;  // exact: an integer below 2^64
            for (size_t l = 0; l < leaves; l++) {
                total += weights_.hessian() * static_cast<long double>(own.h[l] * own.h[l]) +
                         weights_.gradient() * static_cast<long double>(own.g[l] * own.g[l]);
            }
            return total / kBound;
        };
        if (dataset_.has_units() && norm() > 1) {
            const long double factor = Factor(norm());
            for (size_t l = 0; l < leaves; l++) {
                own.g[l] = static_cast<int64_t>(std::trunc(static_cast<long double>(own.g[l]) * factor));
                own.h[l] = static_cast<int64_t>(std::trunc(static_cast<long double>(own.h[l]) * factor));
            }
        }
        for (size_t l = 0; l < leaves; l++) {
            sums->g[l] += own.g[l];
            sums->h[l] += own.h[l];
        }
        return static_cast<double>(norm());
    }

    Sums Sum(const Model& model, const Tree& tree, Random& random) {
        Sums sums(tree.leaf_count());
        std::vector<uint32_t> sample(dataset_.units() + 1);
        const SamplingRate rate =
            SamplingRate::FromProbability(plan_.SamplingRate(plan_.Find(kTreesMechanism)));
        sample.resize(random.PoissonSample(rate, dataset_.units(), sample.data()));
        std::vector<bool> chosen(dataset_.units());
        for (const uint32_t unit : sample)
            chosen[unit] = true;
        for (size_t unit = 0; unit < dataset_.units(); unit++) {
            Sums own(tree.leaf_count());
            if (options_.extra_rounds == 0) {
                if (chosen[unit])
                    UnitSums(model, tree, unit, &sums);
                continue;
            }
            const double u = UnitSums(model, tree, unit, &own);
            if (spent_[unit] + u > options_.trees)
                continue;
            spent_[unit] += u;
            if (chosen[unit])
                UnitSums(model, tree, unit, &sums);
        }
        return sums;
    }

    std::vector<int32_t> LeafValues(const Sums& sums) {
        const double sigma =
            plan_.ScaleInSteps(plan_.Find(kTreesMechanism), 0) * options_.hessian_clip / kClipSteps;
        for (const int64_t h : sums.h)
            total_ += static_cast<double>(h) * (options_.hessian_clip / kClipSteps);
        count_ += static_cast<double>(sums.h.size());
        const double mean = std::max(total_ / count_, sigma / std::sqrt(count_));
        std::vector<int32_t> values;
        for (size_t l = 0; l < sums.g.size(); l++) {
            const double h = static_cast<double>(sums.h[l]) * (options_.hessian_clip / kClipSteps);
            const double g = static_cast<double>(sums.g[l]) * (options_.gradient_clip / kClipSteps);
            const double step = g / (PosteriorMean(h, sigma, mean) + options_.l2);
            values.push_back(ToFixed(options_.learning_rate *
                                     std::min(std::max(step, -options_.leaf_clip), options_.leaf_clip)));
        }
        return values;
    }

    int32_t InitialScore() const {
        const bool binary = options_.task == Task::kBinary;
        double sum = 0, count = 0;
        for (size_t unit = 0; unit < dataset_.units(); unit++) {
            double s = 0, c = 0;
            for (size_t row = 0; row < dataset_.rows(); row++) {
                if (dataset_.Unit(row) != unit)
                    continue;
                const double y =
                    binary ? 2 * dataset_.Label(row) - 1 : dataset_.Label(row) / options_.label_clip;
                s += std::nearbyint(std::min(std::max(y, -1.0), 1.0) * kClipSteps);
                c += kClipSteps;
            }
            const long double norm = (0.25L * c * c + 0.75L * s * s) * (1 << kWeightBits) / kBound;
            const long double factor = norm > 1 ? Factor(norm) : 1;
            sum += static_cast<double>(std::trunc(s * factor));
            count += static_cast<double>(std::trunc(c * factor));
        }
        const MechanismId id = plan_.Find(kInitialScoreMechanism);
        count = std::max(count, plan_.ScaleInSteps(id, 0));
        const double mean = sum * count / (count * count + std::pow(plan_.ScaleInSteps(id, 1), 2));
        return ToFixed(binary ? std::log((0.5 + mean / 2) / (0.5 - mean / 2)) : mean * options_.label_clip);
    }

    const Dataset& dataset_;
    const SbdtOptions options_;
    const Plan plan_;
    const LeafWeights weights_;
    std::vector<double> spent_;
    double total_ = 0;
    double count_ = 0;
};

// ---- settings ----

std::vector<Setting> Settings() {
    std::vector<Setting> settings;
    const auto add = [&](const char* name, Task task) -> Setting& {
        settings.push_back({name, DataShape{}, SmallOptions(task)});
        settings.back().shape.task = task;
        settings.back().shape.rows = 400;
        return settings.back();
    };
    add("binary", Task::kBinary);
    add("regression", Task::kRegression);
    add("cyclic", Task::kBinary).options.features = FeatureSchedule::kCyclic;
    add("cyclic regression", Task::kRegression).options.features = FeatureSchedule::kCyclic;
    add("no missing values", Task::kBinary).shape.missing_percent = 0;
    add("two-byte columns", Task::kBinary).shape.wide = 2;
    add("all rows", Task::kRegression).options.subsample = 1;
    add("start at zero", Task::kBinary).options.initial_share = 0;
    add("narrow labels", Task::kRegression).options.label_clip = 0.5;
    add("deep", Task::kBinary).options.depth = 9;
    add("one level", Task::kRegression).options.depth = 1;
    add("units", Task::kBinary).shape.units = 60;
    add("units regression", Task::kRegression).shape.units = 150;
    Setting& filter = add("filter", Task::kRegression);
    filter.options.extra_rounds = 13;
    filter.options.hessian_share = 0.6;  // so that every row runs out before the end
    const SbdtOptions filter_options = filter.options;
    add("filter binary", Task::kBinary).options.extra_rounds = 10;
    Setting& unit_filter = add("filter and units", Task::kRegression);
    unit_filter.options.extra_rounds = 13;
    unit_filter.options.hessian_share = 0.6;
    unit_filter.shape.units = 100;
    for (const uint32_t batch : {2U, 8U, 10U, 100U})  // of one group of trees, and of several
        add("batches", Task::kBinary).options.batch = batch;
    Setting& deep_batch = add("deep batches", Task::kRegression);
    deep_batch.options.depth = 9;
    deep_batch.options.batch = 10;
    deep_batch.options.subsample = 1;
    Setting& filtered_batch = add("filter and batches", Task::kRegression);
    filtered_batch.options = filter_options;
    filtered_batch.options.batch = 10;
    filtered_batch.shape.units = 100;
    const SbdtOptions batch_options = filtered_batch.options;
    add("filter of rows and batches", Task::kRegression).options = batch_options;
    return settings;
}

TEST(Sbdt, WithoutNoiseEqualsAPlainComputation) {
    for (const Setting& setting : Settings()) {
        const Dataset dataset = RandomDataset(setting.shape);
        const Model expected = Reference(dataset, setting.options).Train();
        const Model model = Train(dataset, setting.options);
        EXPECT_EQ(model.Serialize(), expected.Serialize()) << setting.name;
    }
}

TEST(Sbdt, FilterLeavesUnitsOutBeforeTheirLimit) {
    // Were the filter without effect, the model would be that of plain training for as many rounds.
    for (const Setting& setting : Settings()) {
        if (setting.options.extra_rounds == 0 || setting.options.task == Task::kBinary)
            continue;
        const Dataset dataset = RandomDataset(setting.shape);
        SbdtOptions unfiltered = setting.options;
        unfiltered.trees += unfiltered.extra_rounds;
        unfiltered.extra_rounds = 0;
        const Model filtered = Train(dataset, setting.options);
        const Model plain = Train(dataset, unfiltered);
        EXPECT_EQ(filtered.trees().size(), plain.trees().size());
        EXPECT_NE(filtered.trees().back().leaves, plain.trees().back().leaves) << setting.name;
    }
}

TEST(Sbdt, InstructionSetAndThreadsDoNotMatter) {
    for (Setting setting : Settings()) {
        setting.shape.rows = 2 * kBlockRows + 100;
        setting.options.trees = 11;
        if (setting.shape.units > 0)
            setting.shape.units = 5000;
        const Dataset dataset = RandomDataset(setting.shape);
        const std::string expected = Train(dataset, setting.options).Serialize();
        for (const Simd simd : {Simd::kPortable, Simd::kAvx2}) {
            TrainingSettings other;
            other.simd = std::min(simd, BestSimd());
            EXPECT_EQ(Train(dataset, setting.options, other).Serialize(), expected) << setting.name;
        }
        TrainingSettings threads;
        threads.threads = 3;
        EXPECT_EQ(Train(dataset, setting.options, threads).Serialize(), expected) << setting.name;
    }
}

// ---- odd datasets ----

TEST(Sbdt, EmptyDataTrainsAModelOfTheSameShape) {
    for (const Task task : {Task::kBinary, Task::kRegression}) {
        for (const size_t units : {size_t{0}, size_t{5}}) {
            for (const uint32_t extra : {0U, 4U}) {
                SbdtOptions options = SmallOptions(task);
                options.extra_rounds = extra;
                DataShape shape;
                shape.task = task;
                shape.units = units;
                shape.rows = 0;
                const Model empty = Train(RandomDataset(shape), options);
                shape.rows = 1;
                const Model one = Train(RandomDataset(shape), options);
                EXPECT_EQ(empty.trees().size(), options.rounds());
                EXPECT_EQ(empty.Serialize().size(), one.Serialize().size());
            }
        }
    }
}

TEST(Sbdt, OneClassAndConstantFeaturesGiveFinitePredictions) {
    for (const Task task : {Task::kBinary, Task::kRegression}) {
        DataShape shape;
        const TargetSpec target =
            task == Task::kBinary ? TargetSpec::Binary() : TargetSpec::Regression(0, 10);
        DatasetBuilder builder(TestFeatures(shape), target, false);
        for (int row = 0; row < 300; row++) {
            if (builder.Full())
                builder.Grow();
            for (size_t column = 0; column < builder.features().size(); column++)
                builder.SetCode(column, 1);
            float label = 0;
            target.Label(10, &label);
            builder.AppendRow(label);
        }
        NoInterrupt interrupt;
        const Dataset dataset = builder.Finish(interrupt);
        const Model model = Train(dataset, SmallOptions(task));
        std::vector<uint16_t> codes(dataset.columns(), 1);
        const double prediction = model.Predict(codes.data());
        EXPECT_TRUE(std::isfinite(prediction));
        EXPECT_GT(prediction, task == Task::kBinary ? 0.5 : 5.0);
    }
}

TEST(Sbdt, ManyFeatures) {
    DataShape shape;
    shape.numeric = 1400;
    shape.levels = 4;
    shape.wide = 96;
    shape.rows = 200;
    const Dataset dataset = RandomDataset(shape);
    ASSERT_EQ(dataset.columns(), 1500U);
    const SbdtOptions options = SmallOptions(Task::kBinary);
    TrainingSettings portable;
    portable.simd = Simd::kPortable;
    EXPECT_EQ(Train(dataset, options).Serialize(), Train(dataset, options, portable).Serialize());
}

TEST(Sbdt, RefusesMoreMemoryThanAllowed) {
    DataShape shape;
    DatasetLimits limits;
    limits.learner_bytes_per_row = 0;
    DatasetBuilder probe(TestFeatures(shape), TargetSpec::Binary(), false, limits);
    probe.Grow();
    limits.memory = probe.memory_used() + 1000;
    DatasetBuilder builder(TestFeatures(shape), TargetSpec::Binary(), false, limits);
    builder.Grow();
    for (int row = 0; row < 1000; row++) {
        for (size_t column = 0; column < builder.features().size(); column++)
            builder.SetCode(column, 0);
        builder.AppendRow(0);
    }
    NoInterrupt interrupt;
    const Dataset dataset = builder.Finish(interrupt);
    try {
        Train(dataset, SmallOptions(Task::kBinary));
        FAIL() << "did not throw";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    }
}

}  // namespace
}  // namespace dpboost
