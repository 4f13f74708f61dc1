// The cases of the golden test: which method, task, persons and seed, and how one is trained.
#pragma once

#include <string>
#include <vector>

#include "learner/methods.h"
#include "mechanism/noise.h"
#include "support/continue_with.h"
#include "support/copy_rows.h"
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
               (task == Task::kBinary    ? " classification"
                : task == Task::kClasses ? " classes"
                                         : " regression") +
               (units ? " units" : " rows");
    }
};

inline std::vector<GoldenCase> GoldenCases() {
    std::vector<std::pair<std::string, std::string>> methods;
    for (const MethodInfo* method : AllMethods())
        methods.emplace_back(method->name, "");
    for (const char* variant : {"much", "product", "poisson", "monotone", "huber", "quantile", "log",
                                "intervals", "update", "weights"})
        methods.emplace_back("auto", variant);
    for (const char* variant : {"filter", "cyclic", "poisson", "update"})
        methods.emplace_back("sbdt", variant);
    for (const char* method : {"dp_tr", "feverless"})
        methods.emplace_back(method, "subsample");
    std::vector<GoldenCase> cases;
    for (const auto& [method, variant] : methods)
        for (const Task task : {Task::kBinary, Task::kRegression, Task::kClasses})
            for (const bool units : {false, true}) {
                const bool only_classes = method == "adassp_logistic" || method == "adassp_hinge";
                const bool only_numbers = variant == "poisson" || variant == "huber" ||
                                          variant == "quantile" || variant == "log" || variant == "intervals";
                if ((only_classes && task == Task::kRegression) ||
                    (only_numbers && task != Task::kRegression) ||
                    (variant == "monotone" && task == Task::kClasses) ||
                    (task == Task::kClasses && (!AllMethods().Find(method)->classes || variant == "update")))
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

// Few and small trees; what a method does not know is left out.
inline std::vector<GivenOption> GoldenOptions(const GoldenCase& golden, const MethodInfo& method) {
    const bool boosted = golden.method != "auto";
    std::vector<GivenOption> all = {Given("rounds", 20), Given("trees_per_ensemble", 5)};
    if (boosted)
        all.push_back(Given("trees", golden.method == "sbdt" ? 40 : 8));
    if (method.pure)
        all.push_back(Given("depth", 3));
    if (golden.variant == "poisson" || golden.variant == "huber" || golden.variant == "quantile")
        all.push_back(Given("objective", golden.variant.c_str()));
    if (golden.variant == "intervals")
        all.push_back(GivenTruth("intervals", true));
    if (golden.variant == "quantile")
        all.push_back(Given("quantile", 0.8));
    if (golden.variant == "monotone")
        all.push_back(GivenNumbers("monotone", {{"n0", -1}, {"n1", 1}}));
    if (golden.variant == "filter")
        all.push_back(Given("extra_rounds", 30));
    if (golden.variant == "cyclic")
        all.push_back(Given("features", "cyclic"));
    if (golden.variant == "subsample")
        all.push_back(Given("subsample", 0.5));
    std::vector<GivenOption> given;
    for (const GivenOption& option : all)
        if (method.options.Find(option.key) != nullptr)
            given.push_back(option);
    return given;
}

// The same rows, of which some count less than others.
inline Dataset WithWeights(const Dataset& rows) {
    return CopyRows(rows, rows.has_units(), true,
                    [](size_t row) { return static_cast<int>(kFullWeight / (1 + row % 5)); });
}

inline Model TrainGolden(const GoldenCase& golden, Simd simd, int threads) {
    DataShape shape;
    shape.task = golden.task;
    shape.product = golden.variant == "product";
    shape.counts = golden.variant == "poisson";
    shape.amounts = golden.variant == "log";
    shape.rows = golden.epsilon > 1 ? 5000 : 700;
    shape.wide = 1;
    shape.units = golden.units ? shape.rows / 4 : 0;
    shape.key = 9;
    const Dataset dataset =
        golden.variant == "weights" ? WithWeights(RandomDataset(shape)) : RandomDataset(shape);
    ChaChaSource source = TestSource(77);
    Random random(source);
    ExactNoise noise(random);
    TrainingSettings settings;
    settings.simd = simd;
    settings.threads = threads;
    const MethodInfo& method = *AllMethods().Find(golden.method);
    const std::vector<GivenOption> given = GoldenOptions(golden, method);
    const Model model =
        TrainWith(method, dataset, golden.epsilon, method.pure ? 0 : 1e-6, given, random, noise, settings);
    if (golden.variant != "update")
        return model;
    shape.rows = 900;
    shape.key = 10;
    return ContinueWith(method, RandomDataset(shape), model, golden.epsilon, 1e-6, given, {}, random, noise,
                        settings);
}

}  // namespace dpboost
