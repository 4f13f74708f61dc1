// The plan of a method of the framework: which mechanisms its parts use, how often, and with which sensitivities
// ([FEDGBDT] Table 1, [DPXGB] 6), for the accountant to compose. Sees no data.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/feature.h"
#include "learner/boosted/framework_options.h"
#include "privacy/plan.h"

namespace dpboost {

// Names of the mechanisms, beside those of initial_score.h and exponential_growth.h.
extern const char kCandidatesMechanism[];  // Hessian histograms of the iterative Hessian: s times
extern const char kHistogramsMechanism[];  // of PR and Hist: T d times, T for one-feature histograms
extern const char kLeavesMechanism[];      // T times

// Throws kInvalidParameter without features, kLimitExceeded for too many candidates.
std::vector<MechanismRequest> FrameworkMechanisms(const FrameworkOptions& options,
                                                  const std::vector<FeatureSpec>& features);

// The features that the iterative Hessian refines: ordered ones with something to refine. Ascending.
std::vector<uint16_t> RefinedFeatures(const std::vector<FeatureSpec>& features);

}  // namespace dpboost
