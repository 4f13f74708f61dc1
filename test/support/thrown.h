// The error of a call.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace dpboost {

// As text: `message | detail | hint`, or `no error`.
template <class Call>
std::string Thrown(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.message() + " | " + error.detail() + " | " + error.hint();
    }
    return "no error";
}

// A call without an error fails the test.
template <class Call>
ErrorCode CodeOf(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::kInternal;
}

}  // namespace dpboost
