#include "training/federation/rehearsal.h"

#include "learner/evaluation/evaluation.h"
#include "mechanism/parties/hash.h"
#include "training/evaluation/evaluation_json.h"

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

// What all servers draw alike in a rehearsal.
class Stage {
  public:
    explicit Stage(const std::string& version) : source_(HashOf("rehearsal", version)) {}

  private:
    ChaChaSource source_;

  public:
    Random random{source_};
    ExactNoise noise{random};
};

Plan PlanFor(std::vector<MechanismRequest> mechanisms, double epsilon, double delta) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    request.mechanisms = std::move(mechanisms);
    return Plan::Calibrate(request);
}

std::string With(const std::string& version, std::string_view result) {
    return version + std::string(View(HashOf("rehearsal", result)));
}

}  // namespace

std::string Rehearsed(const std::string& version, const TrainingCore& training, const Model* continued,
                      Interrupt& interrupt) {
    const TrainingOptions& options = training.options();
    const TargetSpec& target = training.target().spec;
    Stage stage(version);
    const Dataset rows = MadeUpRows(training.features(), target, stage.random, interrupt);
    LearnerContext context{training.features(), target, options.epsilon, options.delta};
    std::optional<Continued> from;
    if (continued != nullptr)
        context.continued = &from.emplace(Continued{*continued, options.update, options.old_weight});
    const std::unique_ptr<Learner> learner = options.method->make(*options.method, context, options.given);
    Plan plan = PlanFor(learner->Mechanisms(), options.epsilon, options.delta);
    Releaser releaser(plan, stage.noise);
    PublicRandom structure(stage.random);
    PrivateRandom coins(stage.random);
    Model model = continued != nullptr ? *continued : Model(training.features(), target, learner->link());
    NoProgress progress;
    Run run{rows, releaser, structure, coins, model, progress, interrupt, {}};
    run.across_servers = true;
    learner->Train(run);
    return With(version, model.Serialize());
}

std::string Rehearsed(const std::string& version, const EvaluationCore& evaluation, const Model& model,
                      Interrupt& interrupt) {
    Stage stage(version);
    const TargetSpec& target = model.target();
    const Dataset rows = MadeUpRows(model.features(), target, stage.random, interrupt);
    MechanismRequest request = EvaluationRequest(target);
    request.share = 1;
    Plan plan = PlanFor({request}, evaluation.epsilon(), evaluation.delta());
    Releaser releaser(plan, stage.noise);
    return With(version, FiguresObject(Evaluate(model, 0, rows, releaser, interrupt), target));
}

std::string RehearsedOnce(std::string_view call, const std::function<std::string()>& rehearse) {
    thread_local Hash last_call{};
    thread_local std::string last;
    const Hash hash = HashOf("rehearsed call", call);
    if (last.empty() || hash != last_call) {
        last = rehearse();
        last_call = hash;
    }
    return last;
}

}  // namespace dpboost
