#include "model/labels/cell_label.h"

#include <cmath>

#include "base/text.h"

namespace dpboost {

std::string RangeLabel(const FeatureSpec& feature, uint32_t first, uint32_t last) {
    if (first >= feature.bins())
        return "null";
    if (feature.kind() == FeatureKind::kLevels)
        return feature.levels()[first];
    if (feature.kind() == FeatureKind::kHashed)
        return "bucket " + std::to_string(first);
    const double lower = feature.CellLower(first), upper = feature.CellUpper(last);
    if (feature.integer()) {
        const double lowest = first == 0 ? std::ceil(lower) : std::floor(lower) + 1,
                     highest = std::floor(upper);
        if (lowest == highest)
            return Printed(lowest);
        if (lowest < highest)
            return Printed(lowest) + " .. " + Printed(highest);
    }
    if (lower == upper)
        return Printed(lower);
    return (first == 0 ? "[" : "(") + Printed(lower) + ", " + Printed(upper) + "]";
}

std::string CellLabel(const FeatureSpec& feature, uint32_t code) {
    return RangeLabel(feature, code, code);
}

}  // namespace dpboost
