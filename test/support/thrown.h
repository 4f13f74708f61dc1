// The error of a call, as text: `message | detail | hint`, or `no error`.
#pragma once

#include <string>

#include "base/error.h"

namespace dpboost {

template <class Call>
std::string Thrown(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.message() + " | " + error.detail() + " | " + error.hint();
    }
    return "no error";
}

template <class Call>
ErrorCode CodeOf(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    return ErrorCode::kInternal;
}

}  // namespace dpboost
