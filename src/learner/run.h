// What a learner gets for one training: the rows (only the rooms that turn rows into raw sums look at them), the one
// door for noise, randomness of both uses, and the model to grow.
#pragma once

#include "base/interrupt.h"
#include "base/simd.h"
#include "learner/base_rate.h"
#include "mechanism/random.h"
#include "mechanism/releaser.h"
#include "model/model.h"

namespace dpboost {

class Dataset;
class UnitRounds;

// How to run, without influence on the result.
struct TrainingSettings {
    int threads = 1;
    Simd simd = BestSimd();
};

struct Run {
    const Dataset& rows;
    Releaser& releaser;
    PublicRandom& structure;  // what every server of a federation draws alike
    PrivateRandom& coins;     // who is sampled, which row stands for a unit
    Model& model;             // empty, with the learner's link; or the model that is continued
    Progress& progress;
    Interrupt& interrupt;
    TrainingSettings settings;
    BaseRate base_rate{};        // set by learners that release it
    ClassShares class_shares{};  // the same of several classes
    UnitRounds* unit_rounds =
        nullptr;  // where persons have accounts that are charged by rounds_mechanism()'s rounds
    bool across_servers =
        false;  // every draw is an exchange over a network: few large ones are better than many
};

}  // namespace dpboost
