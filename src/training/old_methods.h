// Stop-gap: the methods that do not implement Learner::Train yet, behind the interface of those that do.
#pragma once

#include "learner/methods.h"

namespace dpboost {

class OldLearner : public Learner {
  public:
    virtual Model TrainOld(Run& run, Plan& plan, NoiseSource& noise) const = 0;
    Link link() const override { return Link::kIdentity; }  // TrainOld makes the model
    void Train(Run&) const override {}
};

MethodList OldMethods();

}  // namespace dpboost
