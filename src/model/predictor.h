// Prediction of many rows, one at a time, from a model's codes. Every distinct question that the trees ask is
// answered once per row into a byte array; a step down a tree is then two loads and an add. Scores equal
// Model::Score bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/model.h"

namespace dpboost {

// Keeps no reference to the model. Not const: it owns scratch memory, so one per thread.
class Predictor {
  public:
    explicit Predictor(const Model& model);

    // codes: one per feature, in order; a code beyond the feature's cells counts as missing.
    int64_t Score(const uint16_t* codes) noexcept;
    double Predict(const uint16_t* codes) noexcept;
    // Rows of codes, each `stride` codes behind the one before.
    void PredictRows(const uint16_t* codes, size_t rows, size_t stride, double* out) noexcept;

    size_t memory_used() const noexcept;
};

}  // namespace dpboost
