#include "learner/tree/tree_options.h"

#include "base/error.h"
#include "base/text.h"

namespace dpboost {
namespace {

constexpr double kMaxScore = 2000;

}  // namespace

void CheckLargestScore(double largest, const std::string& factors) {
    if (!(largest <= kMaxScore))
        throw Error(ErrorCode::kInvalidParameter, "scores of the ensemble could become too large",
                    factors + " must not exceed " + Printed(kMaxScore) + ".",
                    "Lower \"learning_rate\" or the number of trees.");
}

}  // namespace dpboost
