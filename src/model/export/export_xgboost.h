// A model as XGBoost's JSON (version 1.7's keys; later ones read it), for what reads that: Python, R, Java, converters.
// Margins are the model's scores, exactly as far as single precision goes: leaves are multiples of 2^-20, and sums below
// 16 have no rounding. A row's values are what EncodedInput makes of it; missing is NaN.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "dataset/encoder.h"
#include "model/model.h"

namespace dpboost {

// attributes: what the file says about its origin, by name. Throws Error(kLimitExceeded) if a tree would become too
// large, which needs splits that no method makes.
std::string ToXgboost(const Model& model, const std::vector<std::pair<std::string, std::string>>& attributes,
                      Interrupt& interrupt);

// How the exported model wants a value of a numeric feature. The nearest single precision number of the same bin, where
// there is one; NaN for missing.
float EncodedNumber(const FeatureSpec& feature, const Encoder& encoder, double value) noexcept;
// ... of levels and hashed text: the code as a number; NaN for missing.
float EncodedCode(const FeatureSpec& feature, uint16_t code) noexcept;

}  // namespace dpboost
