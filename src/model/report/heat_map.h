// A picture of what two or three features do together, beyond what each of them does alone.
#pragma once

#include <string>
#include <vector>

#include "model/explain/explain.h"
#include "model/labels/time_label.h"

namespace dpboost {

constexpr size_t kPicturesOfThree = 4;  // of a group of three features, at most

struct HeatPicture {
    std::string svg;
    double largest;  // contribution, as it is drawn in full colour
};

// The first feature downwards, the second across; of three, one picture for each quarter of the third's parts. times: per
// feature, or empty.
HeatPicture HeatMap(const Model& model, const ReferenceMasses& masses, const Interaction& interaction,
                    const std::vector<TimeColumn>& times);

}  // namespace dpboost
