#include "postgres/train/methods.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "learner/auto/auto.h"
#include "learner/boosted/framework.h"
#include "learner/boosted/presets.h"
#include "learner/boosted/sbdt.h"
#include "learner/linear/adassp.h"
#include "learner/pure/pure_trees.h"

namespace dpboost {

namespace {

constexpr char kSbdt[] = "sbdt";

// Options that every method understands: what is trained on, and at which price.
const char* const kCommonKeys[] = {"epsilon",      "delta",    "method", "task",
                                   "target_range", "positive", "bounds", "bins"};

// The first option that is neither common nor among `used`, or null.
const std::string* FirstUnused(const TrainingOptions& options, const std::vector<std::string>& used) {
    for (const std::string& key : options.given)
        if (std::find(std::begin(kCommonKeys), std::end(kCommonKeys), key) == std::end(kCommonKeys) &&
            std::find(used.begin(), used.end(), key) == used.end())
            return &key;
    return nullptr;
}

// An option without effect is a misunderstanding that should not go unnoticed.
void RefuseUnused(const TrainingOptions& options, const std::vector<std::string>& used) {
    if (const std::string* key = FirstUnused(options, used))
        throw Error(ErrorCode::kInvalidParameter,
                    "option \"" + *key + "\" is not used by method \"" + options.method + "\"");
}

// A model is stored as one value and held by every session that predicts.
void CheckModelSize(uint64_t trees, int depth) {
    constexpr uint64_t kMaxLeaves = uint64_t{1} << 24;
    if (trees << depth > kMaxLeaves)
        throw Error(ErrorCode::kLimitExceeded, "the model would be too large",
                    "The number of trees times two to the power of their depth must not exceed 16777216.",
                    "Lower \"depth\" or the number of trees.");
}

template <typename T>
void Set(const std::optional<double>& given, T* option) {
    if (given)
        *option = static_cast<T>(*given);
}

// Takes the part that was named; `names` lists the parts in the order of the enum.
template <typename Part, size_t count>
void Choose(const std::optional<std::string>& given, const char* const (&names)[count], Part* part) {
    for (size_t i = 0; given && i < count; ++i)
        if (*given == names[i])
            *part = static_cast<Part>(i);
}

// ---- methods that are Learners already ----
// Until training/ reads options into their tables: the keys that these methods have, as they were given.

constexpr const MethodInfo* kLearners[] = {&kAuto, &kAdassp, &kAdasspLogistic, &kAdasspHinge};

const MethodInfo* FindLearner(const std::string& name) {
    for (const MethodInfo* method : kLearners)
        if (name == method->name)
            return method;
    return nullptr;
}

std::vector<std::string> KeysOf(const MethodInfo& method) {
    std::vector<std::string> keys;
    for (const OptionRow& row : method.options)
        keys.emplace_back(row.key);
    return keys;
}

class LearnerMethod final : public TrainingMethod {
  public:
    LearnerMethod(const MethodInfo& method, const TrainingOptions& given,
                  const std::vector<FeatureSpec>& features, const TargetSpec& target, int threads)
        : epsilon_(given.epsilon), delta_(given.delta), features_(features.size()), threads_(threads) {
        RefuseUnused(given, KeysOf(method));
        std::vector<GivenOption> options;
        const auto add = [&](const char* key, const std::optional<double>& number) {
            if (number)
                options.push_back({key, GivenOption::kNumber, *number, {}, Printed(*number)});
        };
        add("trees", given.trees);
        add("depth", given.depth);
        add("rows_hint", given.rows_hint);
        add("rounds", given.rounds);
        add("learning_rate", given.learning_rate);
        add("gradient_clip", given.gradient_clip);
        if (given.loss)
            options.push_back({"loss", GivenOption::kText, 0, *given.loss, Quoted(*given.loss)});
        learner_ = method.make(method, {features, target, epsilon_, delta_}, options);
        CheckModelSize(learner_->footprint(false).trees, static_cast<int>(learner_->footprint(false).depth));
    }

    PlanRequest Request() const override {
        PlanRequest request;
        request.epsilon = epsilon_;
        request.delta = delta_;
        request.mechanisms = learner_->Mechanisms();
        return request;
    }
    void CheckPlan(const Plan& plan) const override { learner_->CheckPlan(plan, features_); }
    std::string main_mechanism() const override { return learner_->main_mechanism(); }
    uint64_t trees() const override { return learner_->footprint(false).trees; }
    size_t bytes_per_row(bool has_units) const override {
        return learner_->footprint(has_units).bytes_per_row;
    }
    Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise, Interrupt& interrupt,
                Progress& progress) const override {
        Releaser releaser(plan, noise);
        PublicRandom structure(random);
        PrivateRandom coins(random);
        Model model(dataset.features(), dataset.target(), learner_->link());
        TrainingSettings settings;
        settings.threads = threads_;
        Run run{dataset, releaser, structure, coins, model, progress, interrupt, settings};
        learner_->Train(run);
        return model;
    }

  private:
    double epsilon_;
    double delta_;
    size_t features_;
    int threads_;
    std::unique_ptr<Learner> learner_;
};

// ---- sbdt ----

class SbdtMethod final : public TrainingMethod {
  public:
    SbdtMethod(const TrainingOptions& given, Task task, int threads)
        : epsilon_(given.epsilon),
          delta_(given.delta),
          threads_(threads),
          options_(SbdtOptions::Defaults(task, given.epsilon)) {
        RefuseUnused(given,
                     {"trees", "depth", "learning_rate", "subsample", "gradient_clip", "hessian_clip",
                      "hessian_share", "initial_share", "l2", "leaf_clip", "features", "extra_rounds"});
        Set(given.trees, &options_.trees);
        Set(given.depth, &options_.depth);
        Set(given.learning_rate, &options_.learning_rate);
        Set(given.subsample, &options_.subsample);
        Set(given.gradient_clip, &options_.gradient_clip);
        Set(given.hessian_clip, &options_.hessian_clip);
        Set(given.hessian_share, &options_.hessian_share);
        Set(given.initial_share, &options_.initial_share);
        Set(given.l2, &options_.l2);
        Set(given.leaf_clip, &options_.leaf_clip);
        Set(given.extra_rounds, &options_.extra_rounds);
        if (given.features == "all")
            throw Error(ErrorCode::kInvalidParameter,
                        "option \"features\" must be \"cyclic\" or \"random\" for method \"sbdt\"");
        if (given.features)
            options_.features =
                *given.features == "cyclic" ? FeatureSchedule::kCyclic : FeatureSchedule::kRandom;
        options_.Check();
        CheckModelSize(options_.rounds(), options_.depth);
    }

    PlanRequest Request() const override { return BuildSbdtPlan(options_, epsilon_, delta_); }
    std::string main_mechanism() const override { return kTreesMechanism; }
    uint64_t trees() const override { return options_.rounds(); }
    size_t bytes_per_row(bool) const override { return SbdtBytesPerRow(options_); }
    Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise, Interrupt& interrupt,
                Progress& progress) const override {
        TrainingSettings settings;
        settings.threads = threads_;
        return TrainSbdt(dataset, options_, plan, random, noise, interrupt, progress, settings);
    }

  private:
    double epsilon_;
    double delta_;
    int threads_;
    SbdtOptions options_;
};

// ---- the framework's presets ----

class PresetMethod final : public TrainingMethod {
  public:
    PresetMethod(const TrainingOptions& given, const std::vector<FeatureSpec>& features, Task task,
                 int threads)
        : epsilon_(given.epsilon),
          delta_(given.delta),
          threads_(threads),
          features_(features),
          options_(FrameworkOptions::Preset(given.method, task, given.epsilon)) {
        RefuseUnused(given, {"trees",
                             "depth",
                             "learning_rate",
                             "subsample",
                             "gradient_clip",
                             "hessian_clip",
                             "hessian_share",
                             "initial_share",
                             "l2",
                             "leaf_clip",
                             "features",
                             "structure",
                             "leaf",
                             "candidates",
                             "candidate_count",
                             "hessian_rounds",
                             "features_per_tree",
                             "batch",
                             "sketch_share",
                             "selection_share"});
        Choose(given.structure, kStructureNames, &options_.structure);
        Choose(given.leaf, kLeafNames, &options_.leaf);
        Choose(given.candidates, kCandidateNames, &options_.candidates);
        Choose(given.features, kFeatureNames, &options_.features);
        options_.FitToParts();
        Set(given.trees, &options_.trees);
        Set(given.depth, &options_.depth);
        Set(given.candidate_count, &options_.candidate_count);
        Set(given.hessian_rounds, &options_.hessian_rounds);
        Set(given.features_per_tree, &options_.features_per_tree);
        Set(given.batch, &options_.batch);
        Set(given.subsample, &options_.subsample);
        Set(given.learning_rate, &options_.learning_rate);
        Set(given.l2, &options_.l2);
        Set(given.leaf_clip, &options_.leaf_clip);
        Set(given.gradient_clip, &options_.gradient_clip);
        Set(given.hessian_clip, &options_.hessian_clip);
        Set(given.hessian_share, &options_.hessian_share);
        Set(given.initial_share, &options_.initial_share);
        Set(given.sketch_share, &options_.sketch_share);
        Set(given.selection_share, &options_.selection_share);
        options_.Check();
        CheckModelSize(options_.trees, options_.depth);
    }

    PlanRequest Request() const override { return BuildFrameworkPlan(options_, features_, epsilon_, delta_); }
    std::string main_mechanism() const override { return MainMechanism(options_); }
    uint64_t trees() const override { return options_.trees; }
    size_t bytes_per_row(bool) const override { return FrameworkBytesPerRow(options_); }
    Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise, Interrupt& interrupt,
                Progress& progress) const override {
        TrainingSettings settings;
        settings.threads = threads_;
        return TrainFramework(dataset, options_, plan, random, noise, interrupt, progress, settings);
    }

  private:
    double epsilon_;
    double delta_;
    int threads_;
    std::vector<FeatureSpec> features_;
    FrameworkOptions options_;
};

// ---- pure epsilon-DP ----

class PureMethod final : public TrainingMethod {
  public:
    PureMethod(const TrainingOptions& given, const std::vector<FeatureSpec>& features, Task task)
        : epsilon_(given.epsilon),
          delta_(given.delta),
          features_(features),
          options_(PureOptions::Preset(given.method, task, given.epsilon)) {
        RefuseUnused(given, {"ensembles", "trees_per_ensemble", "depth", "learning_rate", "l2",
                             "gradient_clip", "leaf_share", "candidate_count"});
        Set(given.ensembles, &options_.ensembles);
        Set(given.trees_per_ensemble, &options_.trees_per_ensemble);
        Set(given.depth, &options_.depth);
        Set(given.learning_rate, &options_.learning_rate);
        Set(given.l2, &options_.l2);
        Set(given.gradient_clip, &options_.gradient_bound);
        Set(given.leaf_share, &options_.leaf_share);
        Set(given.candidate_count, &options_.candidate_count);
        options_.Check();
        CheckModelSize(options_.trees(), options_.depth);
    }

    PlanRequest Request() const override { return BuildPurePlan(options_, features_, epsilon_, delta_); }
    std::string main_mechanism() const override { return kPureLeavesMechanism; }
    uint64_t trees() const override { return options_.trees(); }
    size_t bytes_per_row(bool) const override { return PureBytesPerRow(options_); }
    Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise, Interrupt& interrupt,
                Progress& progress) const override {
        return TrainPureTrees(dataset, options_, plan, random, noise, interrupt, progress);
    }

  private:
    double epsilon_;
    double delta_;
    std::vector<FeatureSpec> features_;
    PureOptions options_;
};

// Whether a table of presets has the name.
bool Lists(const MethodPreset* presets, size_t count, const std::string& name) {
    return std::any_of(presets, presets + count,
                       [&](const MethodPreset& preset) { return name == preset.name; });
}

constexpr MethodPreset kSbdtPreset = {
    kSbdt,
    "random splits, Newton leaves with leaf-balanced noise, Poisson sampling, private first guess, Renyi "
    "filter",
    "[SBDT] (S-BDT)", "many trees with interactions, and all that can be set by hand"};

MethodPreset PresetOf(const MethodInfo& method) {
    return {method.name, method.blocks, method.paper, method.when_to_use};
}

}  // namespace

bool IsPureMethod(const std::string& method) {
    return Lists(kPurePresets, kPurePresetCount, method);
}

std::vector<MethodPreset> ListMethods() {
    std::vector<MethodPreset> methods = {PresetOf(kAuto), kSbdtPreset};
    methods.insert(methods.end(), kFrameworkPresets, kFrameworkPresets + kFrameworkPresetCount);
    for (const MethodInfo* method : {&kAdassp, &kAdasspLogistic, &kAdasspHinge})
        methods.push_back(PresetOf(*method));
    methods.insert(methods.end(), kPurePresets, kPurePresets + kPurePresetCount);
    return methods;
}

std::vector<std::string> LossNames() {
    const OptionRow* const loss = kAdassp.options.Find("loss");
    return {loss->words, loss->words + loss->word_count};
}

std::string DefaultMethod(const TrainingOptions& options) {
    return FirstUnused(options, KeysOf(kAuto)) == nullptr ? kAuto.name : kSbdt;
}

std::vector<std::string> MethodNames() {
    std::vector<std::string> names;
    for (const MethodPreset& method : ListMethods())
        names.emplace_back(method.name);
    return names;
}

std::unique_ptr<TrainingMethod> MakeTrainingMethod(const TrainingOptions& options,
                                                   const std::vector<FeatureSpec>& features,
                                                   const TargetSpec& target, int threads) {
    if (const MethodInfo* method = FindLearner(options.method))
        return std::make_unique<LearnerMethod>(*method, options, features, target, threads);
    if (options.method == kSbdt)
        return std::make_unique<SbdtMethod>(options, target.task(), threads);
    if (IsPureMethod(options.method))
        return std::make_unique<PureMethod>(options, features, target.task());
    return std::make_unique<PresetMethod>(options, features, target.task(), threads);
}

}  // namespace dpboost
