// The training methods that SQL offers, behind one interface: a method reads its options once, says what it
// will draw, and trains. A new method is a new class in methods.cpp and its name there. Core side.
#pragma once

#include <memory>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/old_preset.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"
#include "model/model.h"
#include "postgres/train/options.h"
#include "privacy/plan.h"

namespace dpboost {

class TrainingMethod {
  public:
    virtual ~TrainingMethod() = default;

    // The mechanisms that Train will draw, for the options' epsilon and delta. Throws
    // Error(kInvalidParameter) for options that do not fit together.
    virtual PlanRequest Request() const = 0;
    // The mechanism whose noise multiplier is shown.
    virtual std::string main_mechanism() const = 0;
    virtual uint64_t trees() const = 0;  // 0: none, or the method decides by its own noisy results
    virtual size_t bytes_per_row(bool has_units) const = 0;
    virtual Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise,
                        Interrupt& interrupt, Progress& progress) const = 0;
};

// The method of a call that names none: `auto`, or `sbdt` if an option is given that only `sbdt` has.
std::string DefaultMethod(const TrainingOptions& options);

// Every method with its parts, its paper and when to use it, the default first.
std::vector<MethodPreset> ListMethods();

// Whether the method has a proof for delta = 0, which then is its default.
bool IsPureMethod(const std::string& method);

// The names that the options "loss" and "method" may have.
std::vector<std::string> LossNames();
std::vector<std::string> MethodNames();

// Throws Error(kInvalidParameter) for an option that the method does not use. `threads` may change how fast
// it is, never the result.
std::unique_ptr<TrainingMethod> MakeTrainingMethod(const TrainingOptions& options,
                                                   const std::vector<FeatureSpec>& features,
                                                   const TargetSpec& target, int threads);

}  // namespace dpboost
