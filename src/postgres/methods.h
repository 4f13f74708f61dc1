// The training methods that SQL offers, behind one interface: a method reads its options once, says what it
// will draw, and trains. A new method is a new class here and its name in kMethods (options.cpp). Core side.
#pragma once

#include <memory>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "mechanism/noise.h"
#include "mechanism/random.h"
#include "model/model.h"
#include "postgres/options.h"
#include "privacy/plan.h"

namespace dpboost {

class TrainingMethod {
  public:
    virtual ~TrainingMethod() = default;

    // The mechanisms that Train will draw, for the options' epsilon and delta. Throws
    // Error(kInvalidParameter) for options that do not fit together.
    virtual PlanRequest Request() const = 0;
    // The mechanism whose noise multiplier is shown.
    virtual const char* main_mechanism() const = 0;
    virtual uint64_t trees() const = 0;
    virtual size_t bytes_per_row() const = 0;
    virtual Model Train(const Dataset& dataset, Plan& plan, Random& random, NoiseSource& noise,
                        Interrupt& interrupt, Progress& progress) const = 0;
};

// `threads` may change how fast it is, never the result.
std::unique_ptr<TrainingMethod> MakeTrainingMethod(const TrainingOptions& options, const TargetSpec& target,
                                                   int threads);

}  // namespace dpboost
