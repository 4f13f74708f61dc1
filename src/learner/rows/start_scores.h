// What a model says about rows, where a training goes on from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/dataset.h"
#include "learner/most_start.h"
#include "model/predictor.h"

namespace dpboost {

// A row's start depends on the row and on the model, which is released or public, and on no other row: so neighbours stay
// neighbours, and what a row adds to any sum is bounded as ever.
class StartScores {
  public:
    // Model and rows must outlive the object. Throws kInternal unless they have the same features.
    StartScores(const Model& model, const Dataset& rows);

    // Those of a row, one per output of the model, in steps of 2^-kFixedBits; until the next call.
    const int32_t* Of(size_t row);

  private:
    const Dataset& rows_;
    Predictor predictor_;
    std::vector<uint16_t> codes_;
    std::vector<int64_t> exact_;
    std::vector<int32_t> scores_;
};

}  // namespace dpboost
