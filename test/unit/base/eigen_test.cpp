// A failed Eigen assertion must reach the caller as an Error: an abort would take the whole server down.
#include "base/eigen.h"

#include <gtest/gtest.h>

namespace dpboost {
namespace {

TEST(Eigen, FailedAssertionThrows) {
    Eigen::VectorXd values(3);
    EXPECT_THROW(values(3) = 1.0, Error);
}

}  // namespace
}  // namespace dpboost
