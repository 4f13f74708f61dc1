// Arguments of SQL functions. Our functions are not STRICT: a NULL that PostgreSQL answers with NULL looks as if
// something had been done.
#pragma once

#include <initializer_list>

#include "postgres/boundary/pg.h"

namespace dpboost {

inline void RequireArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
    if (PG_ARGISNULL(argument))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("\"%s\" must not be NULL", name)));
}

// The first arguments of a call, in their order.
inline void RequireArguments(FunctionCallInfo fcinfo, std::initializer_list<const char*> names) {
    int argument = 0;
    for (const char* name : names)
        RequireArgument(fcinfo, argument++, name);
}

}  // namespace dpboost
