// A picture of what two or three features do together, beyond what each of them does alone.
#pragma once

#include <string>

#include "model/explain/explain.h"

namespace dpboost {

// The first feature downwards, the second across; of three, one picture for each quarter of the third's parts.
std::string HeatMap(const Model& model, const ReferenceMasses& masses, const Interaction& interaction);

}  // namespace dpboost
