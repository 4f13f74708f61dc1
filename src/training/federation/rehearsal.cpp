#include "training/federation/rehearsal.h"

#include "mechanism/parties/hash.h"

namespace dpboost {

namespace {

constexpr size_t kRows = 300;

// Any cell, missing values too, and any label.
Dataset MadeUpRows(const std::vector<FeatureSpec>& features, const TargetSpec& target, Random& random,
                   Interrupt& interrupt) {
    DatasetBuilder builder(features, target, false);
    const bool classes = target.task() == Task::kClasses;
    for (size_t row = 0; row < kRows; ++row) {
        if (builder.Full())
            builder.Grow();
        for (size_t f = 0; f < features.size(); ++f)
            builder.SetCode(f, static_cast<uint16_t>(random.Below(features[f].cells())));
        const uint32_t steps = classes ? static_cast<uint32_t>(target.classes().size()) : 1024;
        const double fraction = random.Below(steps) / static_cast<double>(steps);
        float label = 0;
        if (target.Label(
                classes ? fraction * steps : target.lower() + fraction * (target.upper() - target.lower()),
                &label))
            builder.AppendRow(label);
    }
    return builder.Finish(interrupt);
}

}  // namespace

std::string Rehearsed(const std::string& version, const TrainingCore& training, Interrupt& interrupt) {
    const TrainingOptions& options = training.options();
    const TargetSpec& target = training.target().spec;
    ChaChaSource source(HashOf("rehearsal", version));
    Random random(source);
    const Dataset rows = MadeUpRows(training.features(), target, random, interrupt);
    const std::unique_ptr<Learner> learner = options.method->make(
        *options.method, {training.features(), target, options.epsilon, options.delta}, options.given);
    PlanRequest request;
    request.epsilon = options.epsilon;
    request.delta = options.delta;
    request.mechanisms = learner->Mechanisms();
    Plan plan = Plan::Calibrate(request);
    ExactNoise noise(random);
    Releaser releaser(plan, noise);
    PublicRandom structure(random);
    PrivateRandom coins(random);
    Model model(training.features(), target, learner->link());
    NoProgress progress;
    Run run{rows, releaser, structure, coins, model, progress, interrupt, {}};
    run.across_servers = true;
    learner->Train(run);
    return version + std::string(View(HashOf("rehearsal", model.Serialize())));
}

}  // namespace dpboost
