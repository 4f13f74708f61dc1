// The names under which a call passes its columns, as the user wrote them. The plan of a query has forgotten
// them where a subquery or view was merged into it (`SELECT ... s.years FROM (SELECT age AS years ...) s`
// reads "age" there), so they are looked up in the query's text, at the place that the call remembers.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

struct CallNames {
    int count;           // arguments of the call; 0 if the call was not found
    const char** names;  // the column that an argument is, apart from casts, or null
    int row_count;       // fields, if the last argument is ROW(...)
    const char** row_names;
};

// Never raises for a text that it does not understand: the names are only a better choice.
CallNames FindCallNames(const char* source, int location, const char* function);

}  // namespace dpboost
