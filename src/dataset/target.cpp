#include "dataset/target.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace dpboost {

int32_t ToFixed(double value) noexcept {
    double scaled = value * kFixedScale;
    if (!(scaled > static_cast<double>(std::numeric_limits<int32_t>::min())))
        return std::isnan(scaled) ? 0 : std::numeric_limits<int32_t>::min();
    if (scaled >= static_cast<double>(std::numeric_limits<int32_t>::max()))
        return std::numeric_limits<int32_t>::max();
    return static_cast<int32_t>(std::round(scaled));
}

TargetSpec TargetSpec::Regression(double lower, double upper) {
    if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper) || !std::isfinite(upper - lower))
        throw Error(
            ErrorCode::kInvalidParameter, "invalid range of the target",
            "The lower bound must be less than the upper bound, and both must be finite.",
            "Give the range of values that is publicly known, for example \"target_range\": [1, 29].");
    return TargetSpec(Task::kRegression, lower, upper);
}

TargetSpec TargetSpec::Binary() {
    return TargetSpec(Task::kBinary, 0, 1);
}

bool TargetSpec::Label(double value, float* label) const noexcept {
    if (!(value - value == 0))
        return false;
    if (task_ == Task::kBinary) {
        *label = value > 0.5 ? 1.0f : 0.0f;
        return true;
    }
    value = value < lower_ ? lower_ : value;
    value = value > upper_ ? upper_ : value;
    double scaled = 2 * ((value - lower_) / (upper_ - lower_)) - 1;
    *label = static_cast<float>(FromFixed(ToFixed(scaled)));
    return true;
}

double TargetSpec::Unscale(double scaled) const noexcept {
    if (!(scaled > -1))
        return lower_;
    if (scaled >= 1)
        return upper_;
    return lower_ + (upper_ - lower_) * ((scaled + 1) / 2);
}

void TargetSpec::Write(ByteWriter& out) const {
    out.U8(static_cast<uint8_t>(task_));
    out.F64(lower_);
    out.F64(upper_);
}

TargetSpec TargetSpec::Read(ByteReader& in) {
    uint8_t task = in.U8();
    double lower = in.F64(), upper = in.F64();
    ByteReader::Require(task <= static_cast<uint8_t>(Task::kBinary));
    ByteReader::Require(std::isfinite(lower) && lower < upper && std::isfinite(upper - lower));
    if (static_cast<Task>(task) == Task::kBinary) {
        ByteReader::Require(lower == 0 && upper == 1);
        return Binary();
    }
    return TargetSpec(Task::kRegression, lower, upper);
}

}  // namespace dpboost
