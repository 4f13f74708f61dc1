// How far scores may be from zero when a training begins.
#pragma once

#include <cstdint>

#include "dataset/target.h"

namespace dpboost {

// Start scores are kept within this, so that a training may add what it adds to an empty model without leaving int32.
// Nothing that matters is beyond: not a probability, not a label's range, not a count.
constexpr int32_t kMostStart = 40 << kFixedBits;

}  // namespace dpboost
