// How many persons a training was about, with noise: how an analyst notices that people's budgets are used up, or that
// few are there at all. Bought with a part of the training's own privacy, by the option "active_share".
#pragma once

#include <string>

#include "dataset/dataset.h"
#include "mechanism/releaser.h"

namespace dpboost {

struct ActiveCount {
    double persons = 0;  // at least 0
    double deviation = 0;
};

// Neighbours: add or remove one unit. One sum, which a unit changes by one: the number of units that take part.
MechanismRequest ActiveRequest(double share);

// Takes its charge. `rows` hold those who take part, and nobody who was left out or set aside.
ActiveCount ReleaseActive(const Dataset& rows, Releaser& releaser);

// {"persons": ..., "deviation": ...}
std::string ActiveObject(const ActiveCount& active);

}  // namespace dpboost
