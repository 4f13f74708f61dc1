#include "training/old_methods.h"

#include <array>

#include "base/random_source.h"
#include "learner/auto/auto.h"
#include "learner/boosted/framework.h"
#include "learner/boosted/presets.h"
#include "learner/boosted/sbdt.h"
#include "learner/linear/adassp.h"
#include "learner/pure/pure_trees.h"

namespace dpboost {

namespace {

class FromPublic final : public RandomSource {
  public:
    explicit FromPublic(PublicRandom& random) : random_(random) {}
    void Fill(void* out, std::size_t size) override {
        for (std::size_t i = 0; i < size; i++)
            static_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(random_.Next64());
    }

  private:
    PublicRandom& random_;
};

constexpr const char* kSbdtFeatures[] = {"any", "cyclic"};
constexpr const char* kPresetFeatures[] = {"all", "cyclic", "subset"};

constexpr OptionRow kSbdtRows[] = {
    Whole<&SbdtOptions::trees>("trees", 1, 100000, "trees"),
    Whole<&SbdtOptions::depth>("depth", 1, 10, "depth of a tree"),
    NumberAbove<&SbdtOptions::learning_rate>("learning_rate", 0, 1, "step size"),
    NumberAbove<&SbdtOptions::subsample>("subsample", 0, 1, "chance of a person to take part in a tree"),
    Number<&SbdtOptions::gradient_clip>("gradient_clip", 0.001, 10, "bound on a person's influence"),
    Number<&SbdtOptions::hessian_clip>("hessian_clip", 0.001, 1, "bound on a person's influence"),
    Number<&SbdtOptions::hessian_share>("hessian_share", 0.001, 0.999, "share of the budget for Hessians"),
    Number<&SbdtOptions::initial_share>("initial_share", 0, 0.9, "share of the budget for the first guess"),
    Number<&SbdtOptions::l2>("l2", 0, 1e6, "shrinkage of leaf values"),
    Number<&SbdtOptions::leaf_clip>("leaf_clip", 0.001, 1000, "bound of leaf values"),
    Word<&SbdtOptions::features>("features", kSbdtFeatures, "any in any node, or one per tree in turn"),
    Whole<&SbdtOptions::extra_rounds>("extra_rounds", 0, 100000, "more trees at no cost (Renyi filter)"),
};
constexpr OptionRow kPresetRows[] = {
    Whole<&FrameworkOptions::trees>("trees", 1, 100000, "trees"),
    Whole<&FrameworkOptions::depth>("depth", 1, 10, "depth of a tree"),
    NumberAbove<&FrameworkOptions::learning_rate>("learning_rate", 0, 100000, "step size"),
    NumberAbove<&FrameworkOptions::subsample>("subsample", 0, 1, "chance of a person to take part in a tree"),
    Number<&FrameworkOptions::gradient_clip>("gradient_clip", 0.001, 10, "bound on a person's influence"),
    Number<&FrameworkOptions::hessian_clip>("hessian_clip", 0.001, 1, "bound on a person's influence"),
    Number<&FrameworkOptions::hessian_share>("hessian_share", 0.001, 0.999,
                                             "share of the budget for Hessians"),
    Number<&FrameworkOptions::initial_share>("initial_share", 0, 0.9,
                                             "share of the budget for the first guess"),
    Number<&FrameworkOptions::l2>("l2", 0, 1e6, "shrinkage of leaf values"),
    Number<&FrameworkOptions::leaf_clip>("leaf_clip", 0.001, 1000, "bound of leaf values"),
    Word<&FrameworkOptions::features>("features", kPresetFeatures, "features of a tree"),
    Word<&FrameworkOptions::structure>("structure", kStructureNames, "how a tree finds its splits"),
    Word<&FrameworkOptions::leaf>("leaf", kLeafNames, "what a leaf holds"),
    Word<&FrameworkOptions::candidates>("candidates", kCandidateNames, "where ordered features may be cut"),
    Whole<&FrameworkOptions::candidate_count>("candidate_count", 1, 1024, "cuts per ordered feature"),
    Whole<&FrameworkOptions::hessian_rounds>("hessian_rounds", 1, 1000, "rounds of the iterative Hessian"),
    Whole<&FrameworkOptions::features_per_tree>("features_per_tree", 1, 65535, "of cyclic and subset"),
    Whole<&FrameworkOptions::batch>("batch", 0, 100000, "trees per update"),
    Number<&FrameworkOptions::sketch_share>("sketch_share", 0.001, 0.9, "share for the iterative Hessian"),
    Number<&FrameworkOptions::selection_share>("selection_share", 0.001, 0.99, "share for choosing splits"),
};
constexpr OptionRow kPureRows[] = {
    Whole<&PureOptions::ensembles>("ensembles", 1, 10000, "ensembles, one after the other"),
    Whole<&PureOptions::trees_per_ensemble>("trees_per_ensemble", 1, 1000,
                                            "trees on disjoint sets of people"),
    Whole<&PureOptions::depth>("depth", 1, 10, "depth of a tree"),
    NumberAbove<&PureOptions::learning_rate>("learning_rate", 0, 1, "step size"),
    Number<&PureOptions::l2>("l2", 0, 1e6, "shrinkage of leaf values"),
    Number<&PureOptions::gradient_bound>("gradient_clip", 0.001, 10, "bound on a person's influence"),
    Number<&PureOptions::leaf_share>("leaf_share", 0.01, 0.99, "the leaves' share of a tree's epsilon"),
    Whole<&PureOptions::candidate_count>("candidate_count", 1, 1024, "cuts per ordered feature"),
};

struct SbdtKind {
    using Options = SbdtOptions;
    static Options Start(const MethodInfo&, const LearnerContext& c) {
        return Options::Defaults(c.target.task(), c.epsilon);
    }
    static void Fit(Options* o) {
        o->features =
            static_cast<int>(o->features) == 0 ? FeatureSchedule::kRandom : FeatureSchedule::kCyclic;
    }
    static PlanRequest PlanOf(const Options& o, const LearnerContext& c) {
        return BuildSbdtPlan(o, c.epsilon, c.delta);
    }
    static std::string Main(const Options&) { return kTreesMechanism; }
    static Footprint Size(const Options& o, const LearnerContext&, bool) {
        return {o.rounds(), static_cast<unsigned>(o.depth), SbdtBytesPerRow(o), 0};
    }
    static constexpr auto Train = &TrainSbdt;
};
struct PresetKind {
    using Options = FrameworkOptions;
    static Options Start(const MethodInfo& m, const LearnerContext& c) {
        return Options::Preset(m.name, c.target.task(), c.epsilon);
    }
    static void Fit(Options* o) { o->FitToParts(); }
    static PlanRequest PlanOf(const Options& o, const LearnerContext& c) {
        return BuildFrameworkPlan(o, c.features, c.epsilon, c.delta);
    }
    static std::string Main(const Options& o) { return MainMechanism(o); }
    static Footprint Size(const Options& o, const LearnerContext&, bool) {
        return {o.trees, static_cast<unsigned>(o.depth), FrameworkBytesPerRow(o), 0};
    }
    static constexpr auto Train = &TrainFramework;
};
Model TrainPureOld(const Dataset& dataset, const PureOptions& options, Plan& plan, Random& random,
                   NoiseSource& noise, Interrupt& interrupt, Progress& progress, const TrainingSettings&) {
    return TrainPureTrees(dataset, options, plan, random, noise, interrupt, progress);
}
struct PureKind {
    using Options = PureOptions;
    static Options Start(const MethodInfo& m, const LearnerContext& c) {
        return Options::Preset(m.name, c.target.task(), c.epsilon);
    }
    static void Fit(Options*) {}
    static PlanRequest PlanOf(const Options& o, const LearnerContext& c) {
        return BuildPurePlan(o, c.features, c.epsilon, c.delta);
    }
    static std::string Main(const Options&) { return kPureLeavesMechanism; }
    static Footprint Size(const Options& o, const LearnerContext&, bool) {
        return {o.trees(), static_cast<unsigned>(o.depth), PureBytesPerRow(o), 0};
    }
    static constexpr auto Train = &TrainPureOld;
};

template <typename Kind>
class Old final : public OldLearner {
  public:
    Old(const MethodInfo& method, const LearnerContext& context, const std::vector<GivenOption>& given)
        : features_(context.features),
          target_(context.target),
          epsilon_(context.epsilon),
          delta_(context.delta),
          options_(Kind::Start(method, context)) {
        method.options.ApplyWords(given, &options_);
        Kind::Fit(&options_);
        method.options.ApplyNumbers(given, &options_);
        options_.Check();
    }
    std::vector<MechanismRequest> Mechanisms() const override {
        return Kind::PlanOf(options_, context()).mechanisms;
    }
    std::string main_mechanism() const override { return Kind::Main(options_); }
    Footprint footprint(bool has_units) const override { return Kind::Size(options_, context(), has_units); }
    Model TrainOld(Run& run, Plan& plan, NoiseSource& noise) const override {
        FromPublic source(run.structure);
        Random random(source);
        return Kind::Train(run.rows, options_, plan, random, noise, run.interrupt, run.progress,
                           run.settings);
    }

  private:
    LearnerContext context() const { return {features_, target_, epsilon_, delta_}; }
    std::vector<FeatureSpec> features_;
    TargetSpec target_;
    double epsilon_, delta_;
    typename Kind::Options options_;
};

template <typename Kind>
std::unique_ptr<Learner> Make(const MethodInfo& method, const LearnerContext& context,
                              const std::vector<GivenOption>& given) {
    return std::make_unique<Old<Kind>>(method, context, given);
}

MethodInfo Info(const MethodPreset& p, bool pure, OptionTable table, decltype(MethodInfo::make) make) {
    return {p.name, p.parts, p.paper, p.when_to_use, pure, table, make};
}

}  // namespace

MethodList OldMethods() {
    static const MethodInfo infos[] = {
        {"sbdt",
         "random splits, Newton leaves with leaf-balanced noise, Poisson sampling, private first guess, "
         "Renyi "
         "filter",
         "[SBDT] (S-BDT)", "many trees with interactions, and all that can be set by hand", false, kSbdtRows,
         &Make<SbdtKind>},
        Info(kFrameworkPresets[0], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[1], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[2], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[3], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[4], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[5], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[6], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[7], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[8], false, kPresetRows, &Make<PresetKind>),
        Info(kFrameworkPresets[9], false, kPresetRows, &Make<PresetKind>),
        Info(kPurePresets[0], true, kPureRows, &Make<PureKind>),
        Info(kPurePresets[1], true, kPureRows, &Make<PureKind>),
        Info(kPurePresets[2], true, kPureRows, &Make<PureKind>),
        Info(kPurePresets[3], true, kPureRows, &Make<PureKind>),
    };
    static const MethodInfo* pointers[19] = {&kAuto};
    for (size_t i = 0; i < 11; i++)
        pointers[i + 1] = &infos[i];
    pointers[12] = &kAdassp;
    pointers[13] = &kAdasspLogistic;
    pointers[14] = &kAdasspHinge;
    for (size_t i = 11; i < 15; i++)
        pointers[i + 4] = &infos[i];
    return {pointers, 19};
}

}  // namespace dpboost
