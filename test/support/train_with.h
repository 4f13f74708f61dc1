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

inline Plan PlanOf(const Learner& learner, double epsilon, double delta) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    request.mechanisms = learner.Mechanisms();
    return Plan::Calibrate(request);
}

// With a plan of PlanOf, which it spends.
inline Model TrainLearner(const Learner& learner, const Dataset& dataset, Plan& plan, Random& random,
                          NoiseSource& noise, const TrainingSettings& settings = {}) {
    Releaser releaser(plan, noise);
    PublicRandom structure(random);
    PrivateRandom coins(random);
    NoProgress progress;
    NoInterrupt interrupt;
    Model model(dataset.features(), dataset.target(), learner.link());
    Run run{dataset, releaser, structure, coins, model, progress, interrupt, settings};
    learner.Train(run);
    return model;
}

inline Model TrainWith(const MethodInfo& method, const Dataset& dataset, double epsilon, double delta,
                       const std::vector<GivenOption>& given, Random& random, NoiseSource& noise,
                       const TrainingSettings& settings = {}) {
    const LearnerContext context{dataset.features(), dataset.target(), epsilon, delta};
    const std::unique_ptr<Learner> learner = method.make(method, context, given);
    Plan plan = PlanOf(*learner, epsilon, delta);
    return TrainLearner(*learner, dataset, plan, random, noise, settings);
}

}  // namespace dpboost
