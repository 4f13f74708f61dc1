// The named methods of the framework: parts and defaults that papers combined.
#pragma once

#include "learner/learner.h"

namespace dpboost {

extern const MethodInfo kDpTr;
extern const MethodInfo kDpTrIh;
extern const MethodInfo kDpTrIhEbm;
extern const MethodInfo kDpTrBatch;
extern const MethodInfo kDpEbm;
extern const MethodInfo kDpRf;
extern const MethodInfo kDpPr;
extern const MethodInfo kFeverless;
extern const MethodInfo kDpXgb;
extern const MethodInfo kDpXgbCyclic;

}  // namespace dpboost
