#include "postgres/methods.h"

#include "base/error.h"
#include "learner/sbdt.h"

namespace dpboost {

namespace {

template <typename T>
void Set(const std::optional<double>& given, T* option) {
    if (given)
        *option = static_cast<T>(*given);
}

class SbdtMethod final : public TrainingMethod {
  public:
    SbdtMethod(const TrainingOptions& given, Task task, int threads)
        : epsilon_(given.epsilon),
          delta_(given.delta),
          threads_(threads),
          options_(SbdtOptions::Defaults(task, given.epsilon)) {
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
        if (given.features)
            options_.features =
                *given.features == "cyclic" ? FeatureSchedule::kCyclic : FeatureSchedule::kRandom;
        options_.Check();
    }

    PlanRequest Request() const override { return BuildSbdtPlan(options_, epsilon_, delta_); }
    const char* main_mechanism() const override { return kTreesMechanism; }
    uint64_t trees() const override { return options_.rounds(); }
    size_t bytes_per_row() const override { return SbdtBytesPerRow(options_); }
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

}  // namespace

std::unique_ptr<TrainingMethod> MakeTrainingMethod(const TrainingOptions& options, const TargetSpec& target,
                                                   int threads) {
    if (options.method == "sbdt")
        return std::make_unique<SbdtMethod>(options, target.task(), threads);
    throw Error(ErrorCode::kInternal, "method without an implementation");
}

}  // namespace dpboost
