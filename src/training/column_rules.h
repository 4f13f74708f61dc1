// What features and targets have in common when options meet what is declared.
#pragma once

#include <string>

#include "training/columns.h"

namespace dpboost {

// "[18, 90]", dates as dates.
std::string PrintedRange(ValueKind kind, const Domain& range);

// Bounds of the options that do not fit the column.
[[noreturn]] void RefuseForm(const std::string& name, const char* detail);

// On a table with a privacy budget the options may only narrow what its owner declared. Throws Error if they do not.
void RequireNarrower(const PublicColumn& column, const Domain& wanted);

// The levels of a column of integer codes, written as the column's values are.
Domain WholeLevels(const PublicColumn& column, const Domain& levels);

}  // namespace dpboost
