// How a feature's cells are called where people read them.
#pragma once

#include <cstdint>
#include <string>

#include "dataset/feature.h"

namespace dpboost {

// "7", "7 .. 9", "(0.5, 1]", a level, "bucket 3" (from 0) or "null".
std::string CellLabel(const FeatureSpec& feature, uint32_t code);
// The same of neighbouring codes of a numeric feature.
std::string RangeLabel(const FeatureSpec& feature, uint32_t first, uint32_t last);

}  // namespace dpboost
