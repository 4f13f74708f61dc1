#include "learner/linear/design.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "learner/linear/solver.h"
#include "learner/objective/objective.h"

namespace dpboost {
namespace {

// The value of a bin, quantised; always within [-kDesignUnit, kDesignUnit].
int16_t NumericValue(const FeatureSpec& feature, uint32_t code, NumericBasis basis) {
    double place = 0.5;
    if (basis == NumericBasis::kGrid) {
        if (feature.bins() > 1)
            place = static_cast<double>(code) / (feature.bins() - 1);
    } else if (feature.upper() > feature.lower()) {
        place = (feature.CellCenter(code) / 2 - feature.lower() / 2) /
                (feature.upper() / 2 - feature.lower() / 2);
    }
    const double value = std::nearbyint((2 * place - 1) * kDesignUnit);
    return static_cast<int16_t>(
        std::clamp(value, -static_cast<double>(kDesignUnit), static_cast<double>(kDesignUnit)));
}

// sqrt(x), never below the true root.
double RootUp(double x) {
    return std::nextafter(std::sqrt(x), std::numeric_limits<double>::infinity());
}

}  // namespace

Design::Design(const std::vector<FeatureSpec>& features, const AdasspOptions& options) {
    if (features.empty())
        throw Error(ErrorCode::kInvalidParameter, "a linear model needs at least one feature");
    for (const FeatureSpec& feature : features)
        AddFeature(feature, options);
    first_columns_.push_back(columns_);
    columns_++;  // the intercept
    ListProducts();
}

void Design::AddFeature(const FeatureSpec& feature, const AdasspOptions& options) {
    const bool linear = feature.ordered() && options.basis != NumericBasis::kIntervals;
    const uint32_t groups = linear               ? 1
                            : !feature.ordered() ? feature.bins()
                                                 : std::min(feature.bins(), options.intervals);
    first_columns_.push_back(columns_);
    if (columns_ + groups + 2 > kMaxAdasspColumns)
        throw Error(ErrorCode::kLimitExceeded, "too many columns for a linear model",
                    "Numbers take two columns, texts one per level and one more; at most 1024 can be used.",
                    "Use fewer features or levels, or another method.");
    std::vector<Entry> entries;
    for (uint32_t code = 0; code < feature.bins(); code++) {
        const uint32_t group = static_cast<uint32_t>(uint64_t{code} * groups / feature.bins());
        entries.push_back(
            {static_cast<uint16_t>(columns_ + group),
             linear ? NumericValue(feature, code, options.basis) : static_cast<int16_t>(kDesignUnit)});
    }
    entries.push_back({static_cast<uint16_t>(columns_ + groups), static_cast<int16_t>(kDesignUnit)});
    entries_.push_back(std::move(entries));
    columns_ += groups + 1;
    dependent_ |= !linear;
}

void Design::ListProducts() {
    for (std::size_t f = 0; f <= entries_.size(); f++) {
        const std::size_t end = f == entries_.size() ? columns_ : first_columns_[f + 1];
        for (std::size_t a = first_columns_[f]; a < end; a++) {
            products_.emplace_back(static_cast<uint16_t>(a), static_cast<uint16_t>(a));
            for (std::size_t b = end; b < columns_; b++)
                products_.emplace_back(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
        }
    }
}

double Design::ProductSensitivity() const {
    const double k = static_cast<double>(entries_.size() + 1);
    return kUnitWeight * kDesignUnit * kDesignUnit * RootUp(k * (k + 1) / 2);
}

double Design::GradientSensitivity() const {
    return static_cast<double>(kClipSteps) * kDesignUnit * RootUp(static_cast<double>(entries_.size() + 1));
}

double Design::EigenvalueSensitivity() const {
    const double largest = static_cast<double>(entries_.size() + 1) * kUnitWeight * kDesignUnit * kDesignUnit;
    return largest * (1 + 2 * EigenvalueError(columns_)) + 1;
}

}  // namespace dpboost
