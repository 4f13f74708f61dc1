// The only place that includes Eigen: a failed Eigen assertion must become an Error, never an abort of the
// server.
#pragma once

#include "base/error.h"

#ifdef eigen_assert
#error "include base/eigen.h before any Eigen header"
#endif
#define eigen_assert(condition)                                                 \
    do {                                                                        \
        if (!(condition))                                                       \
            throw ::dpboost::Error(::dpboost::ErrorCode::kInternal,             \
                                   "linear algebra check failed: " #condition); \
    } while (false)

#include <Eigen/Dense>
