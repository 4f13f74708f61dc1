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
    // What the codes from `first` to before `end` have together; 0 exactly where each has none.
    double Between(size_t feature, size_t first, size_t end) const noexcept {
        return below_[feature][end] - below_[feature][first];
    }

    // Rows of codes drawn from it, one behind the other. Public and the same for every call: a function of the model.
    std::vector<uint16_t> Draw(const Model& model, size_t rows, Interrupt& interrupt) const;
    // The same, but every feature by itself is spread as evenly as so many rows can be (a Latin hypercube): means over few
    // rows are closer to those over many.
    std::vector<uint16_t> DrawEvenly(const Model& model, size_t rows, Interrupt& interrupt) const;

  private:
    std::vector<double> Fractions(const Model& model, size_t rows, Interrupt& interrupt) const;
    std::vector<uint16_t> CodesOf(const std::vector<double>& fractions) const;

    bool released_;
    std::vector<std::vector<double>> masses_;
    std::vector<std::vector<double>> below_;  // per cell, and at the end: what all cells before it have
};

}  // namespace dpboost
