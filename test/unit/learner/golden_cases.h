// The cases of the golden test: which method, task, persons and seed, and how one is trained.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "learner/auto/auto.h"
#include "learner/boosted/presets.h"
#include "learner/boosted/sbdt.h"
#include "learner/linear/adassp.h"
#include "learner/pure/pure_trees.h"
#include "mechanism/noise.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {

constexpr const MethodInfo* kGoldenFramework[] = {&kDpTr, &kDpTrIh, &kDpTrIhEbm, &kDpTrBatch, &kDpEbm,
                                                  &kDpRf, &kDpPr,   &kFeverless, &kDpXgb,     &kDpXgbCyclic};
constexpr const MethodInfo* kGoldenPure[] = {&kPureTrees, &kPureSums, &kPureSeq, &kPurePara};

struct GoldenCase {
    std::string method;
    std::string variant;  // empty: defaults
    Task task = Task::kBinary;
    bool units = false;
    double epsilon = 1;

    std::string Name() const {
        return method + (variant.empty() ? "" : "+" + variant) +
               (task == Task::kBinary ? " classification" : " regression") + (units ? " units" : " rows");
    }
};

inline std::vector<GoldenCase> GoldenCases() {
    std::vector<std::pair<std::string, std::string>> methods = {{"auto", ""},        {"auto", "much"},
                                                                {"auto", "product"}, {"sbdt", ""},
                                                                {"sbdt", "filter"},  {"sbdt", "cyclic"}};
    for (const MethodInfo* method : kGoldenFramework)
        methods.emplace_back(method->name, "");
    methods.emplace_back("dp_tr", "subsample");
    methods.emplace_back("feverless", "subsample");
    for (size_t i = 0; i < kAdasspPresetCount; i++)
        methods.emplace_back(kAdasspPresets[i].name, "");
    for (const MethodInfo* method : kGoldenPure)
        methods.emplace_back(method->name, "");
    std::vector<GoldenCase> cases;
    for (const auto& [method, variant] : methods)
        for (const Task task : {Task::kBinary, Task::kRegression})
            for (const bool units : {false, true}) {
                const bool only_classes = method == "adassp_logistic" || method == "adassp_hinge";
                if (only_classes && task == Task::kRegression)
                    continue;
                GoldenCase golden;
                golden.method = method;
                golden.variant = variant;
                golden.task = task;
                golden.units = units;
                golden.epsilon = method == "auto" && !variant.empty() ? 8 : 1;
                cases.push_back(golden);
            }
    return cases;
}

template <typename Presets>
bool Among(const std::string& name, const Presets& presets, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (name == presets[i].name)
            return true;
    return false;
}

inline Model TrainGolden(const GoldenCase& golden, Simd simd, int threads) {
    DataShape shape;
    shape.task = golden.task;
    shape.product = golden.variant == "product";
    shape.rows = golden.epsilon > 1 ? 5000 : 700;
    shape.wide = 1;
    shape.units = golden.units ? shape.rows / 4 : 0;
    shape.key = 9;
    const Dataset dataset = RandomDataset(shape);
    ChaChaSource source = TestSource(77);
    Random random(source);
    ExactNoise noise(random);
    NoInterrupt interrupt;
    NoProgress progress;
    TrainingSettings settings;
    settings.simd = simd;
    settings.threads = threads;
    const double delta = 1e-6;
    const double epsilon = golden.epsilon;
    if (golden.method == "auto") {
        AutoOptions options;
        options.task = golden.task;
        Plan plan = Plan::Calibrate(BuildAutoPlan(options, epsilon, delta));
        return TrainAuto(dataset, options, plan, random, noise, interrupt, progress, settings);
    }
    if (golden.method == "sbdt") {
        std::vector<GivenOption> given{Given("trees", 40)};
        if (golden.variant == "filter")
            given.push_back(Given("extra_rounds", 30));
        if (golden.variant == "cyclic")
            given.push_back(Given("features", "cyclic"));
        return TrainWith(kSbdt, dataset, epsilon, delta, given, random, noise, settings);
    }
    if (Among(golden.method, kAdasspPresets, kAdasspPresetCount)) {
        AdasspOptions options = AdasspOptions::Preset(golden.method, golden.task, epsilon);
        options.rounds = 20;
        Plan plan = Plan::Calibrate(BuildAdasspPlan(options, dataset.features(), epsilon, delta));
        return TrainAdassp(dataset, options, plan, random, noise, interrupt, progress, settings);
    }
    for (const MethodInfo* method : kGoldenPure)
        if (golden.method == method->name)
            return TrainWith(*method, dataset, epsilon, 0,
                             {Given("depth", 3), Given("trees_per_ensemble", 5)}, random, noise, settings);
    std::vector<GivenOption> given{Given("trees", 8)};
    if (golden.variant == "subsample")
        given.push_back(Given("subsample", 0.5));
    for (const MethodInfo* method : kGoldenFramework)
        if (golden.method == method->name)
            return TrainWith(*method, dataset, epsilon, delta, given, random, noise, settings);
    throw std::logic_error("no such method");
}

}  // namespace dpboost
