// Numbers in messages of PostgreSQL's side, as people write them: 1e-6, not 1e-06.
#pragma once

#include <cmath>

#include "base/text.h"
#include "postgres/boundary/boundary.h"

namespace dpboost {

// In the current memory context. What is no number is written as PostgreSQL does.
inline const char* PrintedNumber(double number) {
    if (std::isnan(number) || std::isinf(number))
        return DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(number)));
    constexpr size_t kMost = 32;
    char* text = static_cast<char*>(palloc(kMost));
    CallCore([&] { strlcpy(text, Printed(number).c_str(), kMost); });
    return text;
}

}  // namespace dpboost
