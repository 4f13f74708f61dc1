#include "learner/rows/linear/design.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "learner/objective/objective.h"

namespace dpboost {
namespace {

// sqrt(x), never below the true root.
double RootUp(double x) {
    return std::nextafter(std::sqrt(x), std::numeric_limits<double>::infinity());
}

}  // namespace

Design::Design(const std::vector<FeatureSpec>& features, uint32_t intervals) {
    if (features.empty())
        throw Error(ErrorCode::kInvalidParameter, "a linear model needs at least one feature");
    for (const FeatureSpec& feature : features)
        AddFeature(feature, intervals);
    first_columns_.push_back(columns_);
    columns_++;  // the intercept
    ListProducts();
}

void Design::AddFeature(const FeatureSpec& feature, uint32_t intervals) {
    const uint32_t groups = feature.ordered() ? std::min(feature.bins(), intervals) : feature.bins();
    if (columns_ + groups + 2 > kMaxDesignColumns)
        throw Error(
            ErrorCode::kLimitExceeded, "too many columns for a linear model",
            "Numbers take up to nine columns, texts one per level and one more; at most 1024 can be used.",
            "Use fewer features or levels, or another method.");
    first_columns_.push_back(columns_);
    std::vector<uint16_t> columns;
    for (uint32_t code = 0; code < feature.bins(); code++)
        columns.push_back(static_cast<uint16_t>(columns_ + uint64_t{code} * groups / feature.bins()));
    columns.push_back(static_cast<uint16_t>(columns_ + groups));
    columns_of_.push_back(std::move(columns));
    columns_ += groups + 1;
}

void Design::ListProducts() {
    for (std::size_t f = 0; f <= columns_of_.size(); f++) {
        const std::size_t end = f == columns_of_.size() ? columns_ : first_columns_[f + 1];
        for (std::size_t a = first_columns_[f]; a < end; a++) {
            products_.emplace_back(static_cast<uint16_t>(a), static_cast<uint16_t>(a));
            for (std::size_t b = end; b < columns_; b++)
                products_.emplace_back(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
        }
    }
}

double Design::ProductSensitivity() const {
    const double k = static_cast<double>(columns_of_.size() + 1);
    return kUnitWeight * kDesignOne * kDesignOne * RootUp(k * (k + 1) / 2);
}

double Design::GradientSensitivity() const {
    return static_cast<double>(kClipSteps) * kDesignOne * RootUp(static_cast<double>(columns_of_.size() + 1));
}

}  // namespace dpboost
