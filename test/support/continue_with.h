// Goes on from a model as an update does, without PostgreSQL (see train_with.h).
#pragma once

#include <vector>

#include "support/train_with.h"

namespace dpboost {

inline std::unique_ptr<Learner> ContinuingLearnerOf(const MethodInfo& method, const Model& model,
                                                    double epsilon, double delta,
                                                    const std::vector<GivenOption>& given,
                                                    const std::vector<GivenOption>& update) {
    const Continued continued{model, update};
    return method.make(method, {model.features(), model.target(), epsilon, delta, &continued}, given);
}

// With a plan of PlanOf, which it spends.
inline Model ContinueLearner(const Learner& learner, const Dataset& dataset, const Model& model, Plan& plan,
                             Random& random, NoiseSource& noise, const TrainingSettings& settings = {}) {
    Releaser releaser(plan, noise);
    PublicRandom structure(random);
    PrivateRandom coins(random);
    NoProgress progress;
    NoInterrupt interrupt;
    Model next = model;
    Run run{dataset, releaser, structure, coins, next, progress, interrupt, settings};
    learner.Train(run);
    return next;
}

inline Model ContinueWith(const MethodInfo& method, const Dataset& dataset, const Model& model,
                          double epsilon, double delta, const std::vector<GivenOption>& given,
                          const std::vector<GivenOption>& update, Random& random, NoiseSource& noise,
                          const TrainingSettings& settings = {}) {
    const std::unique_ptr<Learner> learner =
        ContinuingLearnerOf(method, model, epsilon, delta, given, update);
    Plan plan = PlanOf(*learner, epsilon, delta);
    return ContinueLearner(*learner, dataset, model, plan, random, noise, settings);
}

}  // namespace dpboost
