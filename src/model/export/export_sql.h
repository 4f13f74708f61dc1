// A model as one SQL expression over columns named like its features, for any database: sums of whole numbers in CASE
// expressions, exactly the model's score, and the link around them. What it says of a row depends on the model alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "model/labels/time_label.h"
#include "model/model.h"

namespace dpboost {

enum class SqlDialect {
    kPostgres,
    kStandard  // ISO SQL as SQLite and others read it
};

// Reads "postgres" or "standard". Throws Error(kInvalidParameter) with the nearest name.
SqlDialect ParseSqlDialect(std::string_view name);

// The prediction, as Model::Respond gives it. `times`: per feature, or empty; in the dialect of PostgreSQL the expression
// takes such columns as they are, else as days or seconds since 2000-01-01. Of a model with more than two classes: a list of expressions for SELECT, the
// score of each class, named by it. Throws Error(kUnsupported) if the score depends on hashed text.
std::string ToSql(const Model& model, SqlDialect dialect, Interrupt& interrupt,
                  const std::vector<TimeColumn>& times = {});

}  // namespace dpboost
