// A column as the catalog tells of it, for the tests of what is public.
#pragma once

#include "training/columns.h"

namespace dpboost {

inline PublicColumn Column(const char* name, ValueKind kind, const Domain& domain = {}) {
    PublicColumn column;
    column.name = name;
    column.kind = kind;
    column.domain = domain;
    return column;
}

}  // namespace dpboost
