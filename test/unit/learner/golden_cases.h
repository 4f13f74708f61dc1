// The cases of the golden test: which method, task, persons and seed, and how one is trained.
#pragma once

#include <string>
#include <vector>

#include "learner/auto/auto.h"
#include "learner/boosted/framework.h"
#include "learner/boosted/presets.h"
#include "learner/boosted/sbdt.h"
#include "learner/linear/adassp.h"
#include "learner/pure/pure_trees.h"
#include "mechanism/noise.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {

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
    std::vector<std::pair<std::string, std::string>> methods = {
        {"auto", ""}, {"auto", "much"},   {"auto", "product"}, {"auto", "poisson"},
        {"sbdt", ""}, {"sbdt", "filter"}, {"sbdt", "cyclic"}};
    for (size_t i = 0; i < kFrameworkPresetCount; i++)
        methods.emplace_back(kFrameworkPresets[i].name, "");
    methods.emplace_back("dp_tr", "subsample");
    methods.emplace_back("feverless", "subsample");
    for (const MethodInfo* method : {&kAdassp, &kAdasspLogistic, &kAdasspHinge})
        methods.emplace_back(method->name, "");
    for (size_t i = 0; i < kPurePresetCount; i++)
        methods.emplace_back(kPurePresets[i].name, "");
    std::vector<GoldenCase> cases;
    for (const auto& [method, variant] : methods)
        for (const Task task : {Task::kBinary, Task::kRegression})
            for (const bool units : {false, true}) {
                const bool only_classes = method == "adassp_logistic" || method == "adassp_hinge";
                const bool only_numbers = variant == "poisson";
                if ((only_classes && task == Task::kRegression) || (only_numbers && task == Task::kBinary))
                    continue;
                GoldenCase golden;
                golden.method = method;
                golden.variant = variant;
                golden.task = task;
                golden.units = units;
                golden.epsilon = variant == "much" || variant == "product" ? 8 : 1;
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
    shape.counts = golden.variant == "poisson";
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
    std::vector<GivenOption> given;
    if (golden.variant == "poisson")
        given.push_back(Given("objective", "poisson"));
    if (golden.method == kAuto.name)
        return TrainWith(kAuto, dataset, epsilon, delta, given, random, noise, settings);
    for (const MethodInfo* method : {&kAdassp, &kAdasspLogistic, &kAdasspHinge})
        if (golden.method == method->name)
            return TrainWith(*method, dataset, epsilon, delta, {Given("rounds", 20)}, random, noise,
                             settings);
    if (golden.method == "sbdt") {
        SbdtOptions options = SbdtOptions::Defaults(golden.task, epsilon);
        options.trees = 40;
        if (golden.variant == "filter")
            options.extra_rounds = 30;
        if (golden.variant == "cyclic")
            options.features = FeatureSchedule::kCyclic;
        Plan plan = Plan::Calibrate(BuildSbdtPlan(options, epsilon, delta));
        return TrainSbdt(dataset, options, plan, random, noise, interrupt, progress, settings);
    }
    if (Among(golden.method, kPurePresets, kPurePresetCount)) {
        PureOptions options = PureOptions::Preset(golden.method, golden.task, epsilon);
        options.depth = 3;
        options.trees_per_ensemble = 5;
        Plan plan = Plan::Calibrate(BuildPurePlan(options, dataset.features(), epsilon));
        return TrainPureTrees(dataset, options, plan, random, noise, interrupt, progress);
    }
    FrameworkOptions options = FrameworkOptions::Preset(golden.method, golden.task, epsilon);
    options.trees = 8;
    if (golden.variant == "subsample")
        options.subsample = 0.5;
    Plan plan = Plan::Calibrate(BuildFrameworkPlan(options, dataset.features(), epsilon, delta));
    return TrainFramework(dataset, options, plan, random, noise, interrupt, progress, settings);
}

}  // namespace dpboost
