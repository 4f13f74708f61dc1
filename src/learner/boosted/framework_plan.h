// The plan of a method: which mechanisms its parts use, how often, and with which sensitivities
// ([FEDGBDT] Table 1, [DPXGB] 6), for the accountant to compose. Sees no data.
#pragma once

#include <string>
#include <vector>

#include "dataset/feature.h"
#include "learner/boosted/framework_options.h"
#include "privacy/plan.h"

namespace dpboost {

// Names of the mechanisms; the initial score's is kInitialScoreMechanism.
extern const char kCandidatesMechanism[];   // Hessian histograms of the iterative Hessian: s times
extern const char kHistogramsMechanism[];   // of PR and Hist: T d times, T for one-feature histograms
extern const char kLeavesMechanism[];       // T times
std::string SelectionMechanism(int level);  // exponential mechanism: T times 2^level nodes
std::string MainMechanism(const FrameworkOptions&);  // the one whose noise multiplier is shown

// Throws what FrameworkOptions::Check throws, kInvalidParameter without features, and kUnsupported for delta =
// 0.
PlanRequest BuildFrameworkPlan(const FrameworkOptions& options, const std::vector<FeatureSpec>& features,
                               double epsilon, double delta);

// The features that the iterative Hessian refines: ordered ones with something to refine. Ascending.
std::vector<uint16_t> RefinedFeatures(const std::vector<FeatureSpec>& features);

// Histogram releases per tree for PR and Hist.
uint64_t HistogramsPerTree(const FrameworkOptions& options);

}  // namespace dpboost
