// How many more releases of one size a limit would let through, one after the other, if nobody else asked.
#pragma once

#include "privacy/budget.h"

namespace dpboost {

// More are not counted.
constexpr int kMostTrainingsLeft = 100000;

// What a training costs as `auto` is charged, or one by a pure method at delta 0. Takes as long as a calibration.
Cost TrainingCost(double epsilon, double delta);

// How many of that cost fit; at most `most`.
int TrainingsLeft(const Budget& budget, const Cost& cost, int most = kMostTrainingsLeft);
// The same, for a single budget.
int TrainingsLeft(const Budget& budget, double epsilon, double delta, int most = kMostTrainingsLeft);

}  // namespace dpboost
