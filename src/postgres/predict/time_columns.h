// Which columns of a model were dates or times when it was trained, as the catalog knows; one that was imported does not.
#pragma once

#include <vector>

#include "model/labels/time_label.h"
#include "postgres/train/json_reader.h"

namespace dpboost {

// features: as ModelFacts has them, read.
inline std::vector<TimeColumn> TimesOf(const JsonValue& features) {
    std::vector<TimeColumn> times;
    for (int i = 0; i < features.count; i++) {
        const JsonValue* type = features.items[i].Find("type");
        times.push_back(type == nullptr             ? TimeColumn::kNone
                        : type->IsText("date")      ? TimeColumn::kDate
                        : type->IsText("timestamp") ? TimeColumn::kTimestamp
                                                    : TimeColumn::kNone);
    }
    return times;
}

}  // namespace dpboost
