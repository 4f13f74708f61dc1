// The distribution that explanations refer to: every feature by itself, spread as the training's noisy histogram says, or
// evenly over its public bins where the model has none. It needs no rows, and says nothing about how features go together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/model.h"

namespace dpboost {

class ReferenceMasses {
  public:
    explicit ReferenceMasses(const Model& model);

    // Whether they come from the training's histograms.
    bool released() const noexcept { return released_; }
    // Per cell of the feature, the missing one last; >= 0, of sum 1.
    const std::vector<double>& of(size_t feature) const noexcept { return masses_[feature]; }

    // Rows of codes drawn from it, one behind the other. Public and the same for every call: a function of the model's
    // bytes.
    std::vector<uint16_t> Draw(const Model& model, size_t rows, Interrupt& interrupt) const;

  private:
    bool released_;
    std::vector<std::vector<double>> masses_;
};

}  // namespace dpboost
