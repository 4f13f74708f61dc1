// Trains a method as the product does, without PostgreSQL: options in, plan, releaser, model out. Tests choose the
// noise; one stream serves both uses of randomness, as the golden models have it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "learner/learner.h"
#include "mechanism/noise.h"

namespace dpboost {

inline GivenOption Given(const char* key, double number) {
    GivenOption option;
    option.key = key;
    option.kind = GivenOption::kNumber;
    option.number = number;
    option.shown = std::to_string(number);
    return option;
}

inline GivenOption Given(const char* key, const char* word) {
    GivenOption option;
    option.key = key;
    option.kind = GivenOption::kText;
    option.text = word;
    option.shown = word;
    return option;
}

inline GivenOption GivenTruth(const char* key, bool truth) {
    GivenOption option = Given(key, truth ? 1.0 : 0.0);
    option.kind = GivenOption::kTruth;
    return option;
}

inline GivenOption GivenNumbers(const char* key, std::vector<std::pair<std::string, double>> numbers) {
    GivenOption option;
    option.key = key;
    option.kind = GivenOption::kNumbers;
    option.numbers = std::move(numbers);
    option.shown = "an object";
    return option;
}

inline Plan PlanOf(const Learner& learner, double epsilon, double delta) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    request.mechanisms = learner.Mechanisms();
    return Plan::Calibrate(request);
}

inline std::unique_ptr<Learner> LearnerOf(const MethodInfo& method, const Dataset& dataset, double epsilon,
                                          double delta, const std::vector<GivenOption>& given) {
    return method.make(method, {dataset.features(), dataset.target(), epsilon, delta}, given);
}

// With a plan of PlanOf, which it spends.
inline Model TrainLearner(const Learner& learner, const Dataset& dataset, Plan& plan, Random& random,
                          NoiseSource& noise, const TrainingSettings& settings, Progress& progress,
                          Interrupt& interrupt) {
    Releaser releaser(plan, noise);
    PublicRandom structure(random);
    PrivateRandom coins(random);
    Model model(dataset.features(), dataset.target(), learner.link());
    Run run{dataset, releaser, structure, coins, model, progress, interrupt, settings};
    learner.Train(run);
    return model;
}
inline Model TrainLearner(const Learner& learner, const Dataset& dataset, Plan& plan, Random& random,
                          NoiseSource& noise, const TrainingSettings& settings = {}) {
    NoProgress progress;
    NoInterrupt interrupt;
    return TrainLearner(learner, dataset, plan, random, noise, settings, progress, interrupt);
}

inline Model TrainWith(const MethodInfo& method, const Dataset& dataset, double epsilon, double delta,
                       const std::vector<GivenOption>& given, Random& random, NoiseSource& noise,
                       const TrainingSettings& settings = {}) {
    const std::unique_ptr<Learner> learner = LearnerOf(method, dataset, epsilon, delta, given);
    Plan plan = PlanOf(*learner, epsilon, delta);
    return TrainLearner(*learner, dataset, plan, random, noise, settings);
}

}  // namespace dpboost
