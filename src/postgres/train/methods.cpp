#include "postgres/train/methods.h"

#include <algorithm>

#include "base/error.h"
#include "learner/auto/auto.h"
#include "learner/boosted/presets.h"
#include "learner/boosted/sbdt.h"
#include "learner/linear/adassp.h"
#include "learner/pure/pure_trees.h"

namespace dpboost {

namespace {

constexpr char kAuto[] = "auto";
// Methods that have a table of their own.
constexpr const MethodInfo* kTableMethods[] = {
    &kSbdt,      &kDpTr,  &kDpTrIh,      &kDpTrIhEbm, &kDpTrBatch, &kDpEbm,   &kDpRf,    &kDpPr,
    &kFeverless, &kDpXgb, &kDpXgbCyclic, &kPureTrees, &kPureSums,  &kPureSeq, &kPurePara};

// Names of LinearLoss, in its order.
constexpr const char* kLossNames[] = {"squared", "logistic", "hinge"};

// Options that every method understands: what is trained on, and at which price.
const char* const kCommonKeys[] = {"epsilon",      "delta",    "method", "task",
                                   "target_range", "positive", "bounds", "bins"};
std::vector<std::string> AutoKeys() {
    return {"trees", "depth", "rows_hint"};
}

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

// ---- auto ----

class AutoMethod final : public TrainingMethod {
  public:
    AutoMethod(const TrainingOptions& given, Task task, int threads)
        : epsilon_(given.epsilon), delta_(given.delta), threads_(threads) {
        RefuseUnused(given, AutoKeys());
        options_.task = task;
        Set(given.trees, &options_.trees);
        Set(given.depth, &options_.depth);
        Set(given.rows_hint, &options_.rows_hint);
        options_.Check();
        CheckModelSize(options_.trees, 2 * static_cast<int>(options_.depth));  // 4 intervals per feature
    }

    PlanRequest Request() const override { return BuildAutoPlan(options_, epsilon_, delta_); }
    std::string main_mechanism() const override { return kAutoMechanism; }
    uint64_t trees() const override { return options_.trees; }
    size_t bytes_per_row(bool has_units) const override { return AutoBytesPerRow(has_units); }
    Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise, Interrupt& interrupt,
                Progress& progress) const override {
        TrainingSettings settings;
        settings.threads = threads_;
        return TrainAuto(dataset, options_, plan, random, noise, interrupt, progress, settings);
    }

  private:
    double epsilon_;
    double delta_;
    int threads_;
    AutoOptions options_;
};

// ---- methods with a Learner ----

const MethodInfo* FindTableMethod(const std::string& name) {
    for (const MethodInfo* method : kTableMethods)
        if (name == method->name)
            return method;
    return nullptr;
}

class LearnerMethod final : public TrainingMethod {
  public:
    LearnerMethod(const MethodInfo& method, const TrainingOptions& given,
                  const std::vector<FeatureSpec>& features, const TargetSpec& target, int threads)
        : epsilon_(given.epsilon), delta_(given.delta), threads_(threads) {
        std::vector<std::string> keys;
        for (const OptionRow& row : method.options)
            keys.emplace_back(row.key);
        RefuseUnused(given, keys);
        if (&method == &kSbdt && given.features == "all")
            throw Error(ErrorCode::kInvalidParameter,
                        "option \"features\" must be \"cyclic\" or \"random\" for method \"sbdt\"");
        std::vector<GivenOption> values = given.values;
        for (GivenOption& value : values)
            if (value.key == "features" && value.text == "random")
                value.text = &method == &kSbdt ? "any" : "subset";
        learner_ = method.make(method, {features, target, epsilon_, delta_}, values);
        const Footprint footprint = learner_->footprint(false);
        CheckModelSize(footprint.trees, static_cast<int>(footprint.depth));
    }

    PlanRequest Request() const override { return {epsilon_, delta_, learner_->Mechanisms(), {}}; }
    std::string main_mechanism() const override { return learner_->main_mechanism(); }
    uint64_t trees() const override { return learner_->footprint(false).trees; }
    size_t bytes_per_row(bool has_units) const override {
        return learner_->footprint(has_units).bytes_per_row;
    }
    Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise, Interrupt& interrupt,
                Progress& progress) const override {
        dataset.RequireMemory(learner_->footprint(dataset.has_units()).bytes);
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
    int threads_;
    std::unique_ptr<Learner> learner_;
};

// ---- boosted linear models ----

class AdasspMethod final : public TrainingMethod {
  public:
    AdasspMethod(const TrainingOptions& given, const std::vector<FeatureSpec>& features, Task task,
                 int threads)
        : epsilon_(given.epsilon),
          delta_(given.delta),
          threads_(threads),
          features_(features),
          options_(AdasspOptions::Preset(given.method, task, given.epsilon)) {
        RefuseUnused(given, {"loss", "rounds", "learning_rate", "gradient_clip"});
        Choose(given.loss, kLossNames, &options_.loss);
        Set(given.rounds, &options_.rounds);
        Set(given.learning_rate, &options_.learning_rate);
        Set(given.gradient_clip, &options_.gradient_clip);
        options_.Check();
    }

    PlanRequest Request() const override { return BuildAdasspPlan(options_, features_, epsilon_, delta_); }
    std::string main_mechanism() const override { return kAdasspGradientsMechanism; }
    uint64_t trees() const override { return 0; }
    size_t bytes_per_row(bool has_units) const override {
        return AdasspBytesPerRow(options_, features_.size(), has_units);
    }
    Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise, Interrupt& interrupt,
                Progress& progress) const override {
        TrainingSettings settings;
        settings.threads = threads_;
        return TrainAdassp(dataset, options_, plan, random, noise, interrupt, progress, settings);
    }

  private:
    double epsilon_;
    double delta_;
    int threads_;
    std::vector<FeatureSpec> features_;
    AdasspOptions options_;
};

// Whether a table of presets has the name.
bool Lists(const MethodPreset* presets, size_t count, const std::string& name) {
    return std::any_of(presets, presets + count,
                       [&](const MethodPreset& preset) { return name == preset.name; });
}

constexpr MethodPreset kAutoMethod = {
    kAuto,
    "noisy histograms, additive stage with shrinkage that knows the noise, one-feature trees on the "
    "residual, interactions where a query finds them",
    "ours", "the default: no tuning"};

}  // namespace

bool IsPureMethod(const std::string& method) {
    const MethodInfo* const info = FindTableMethod(method);
    return info != nullptr && info->pure;
}

std::vector<MethodPreset> ListMethods() {
    std::vector<MethodPreset> methods{kAutoMethod};
    const auto list = [&](bool pure) {
        for (const MethodInfo* method : kTableMethods)
            if (method->pure == pure)
                methods.push_back({method->name, method->blocks, method->paper, method->when_to_use});
    };
    list(false);
    methods.insert(methods.end(), kAdasspPresets, kAdasspPresets + kAdasspPresetCount);
    list(true);
    return methods;
}

std::vector<std::string> LossNames() {
    return {std::begin(kLossNames), std::end(kLossNames)};
}

std::string DefaultMethod(const TrainingOptions& options) {
    return FirstUnused(options, AutoKeys()) == nullptr ? kAuto : kSbdt.name;
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
    if (options.method == kAuto)
        return std::make_unique<AutoMethod>(options, target.task(), threads);
    if (Lists(kAdasspPresets, kAdasspPresetCount, options.method))
        return std::make_unique<AdasspMethod>(options, features, target.task(), threads);
    return std::make_unique<LearnerMethod>(*FindTableMethod(options.method), options, features, target,
                                           threads);
}

}  // namespace dpboost
