#include "learner/auto/auto_options.h"

#include "base/error.h"

namespace dpboost {

const char kAutoMechanism[] = "auto";

void AutoOptions::Check() const {
    const auto refuse = [](const char* message, const char* hint) {
        throw Error(ErrorCode::kInvalidParameter, message, {}, hint);
    };
    if (rows_hint > uint64_t{1} << 40)
        refuse("option \"rows_hint\" must be at most 2^40", "Leave it out to use a noisy count.");
    if (trees > 1000)
        refuse("option \"trees\" must be between 1 and 1000 for method \"auto\"",
               "Each counts one tree per feature. Leave it out for the default.");
    if (depth < 1 || depth > 3)
        refuse("option \"depth\" must be between 1 and 3 for method \"auto\"",
               "It says how many features an interaction may combine.");
}

PlanRequest BuildAutoPlan(const AutoOptions& options, double epsilon, double delta) {
    options.Check();
    if (!(delta > 0))
        throw Error(ErrorCode::kUnsupported, "method \"auto\" needs a delta above 0",
                    "Its noise is Gaussian, which is never epsilon-differentially private with delta 0.",
                    "Give a delta, e.g. 1e-6, or choose method \"pure_trees\".");
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    MechanismRequest pool;
    pool.name = kAutoMechanism;
    pool.pool = true;
    pool.rest = 1;
    request.mechanisms.push_back(std::move(pool));
    return request;
}

}  // namespace dpboost
