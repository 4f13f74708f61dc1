// How many more releases of one size a limit would let through, one after the other, if nobody else asked.
#pragma once

#include "privacy/budget.h"

namespace dpboost {

// More are not counted.
constexpr int kMostTrainingsLeft = 100000;

// Of trainings as `auto` is charged, or by a pure method at delta 0; at most `most`.
int TrainingsLeft(const Budget& budget, double epsilon, double delta, int most = kMostTrainingsLeft);

}  // namespace dpboost
