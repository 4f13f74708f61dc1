#include "dataset/target.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/portable_math.h"

namespace dpboost {
namespace {

constexpr size_t kMaxLabelBytes = 65535;
constexpr uint8_t kLogarithmicBit = 0x80;  // beside the task

bool AreLabels(const std::vector<std::string>& labels) {
    for (const std::string& label : labels) {
        if (label.size() > kMaxLabelBytes)
            return false;
    }
    return std::set<std::string_view>(labels.begin(), labels.end()).size() == labels.size();
}

}  // namespace

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

TargetSpec TargetSpec::Logarithmic(double lower, double upper) {
    TargetSpec spec = Regression(lower, upper);
    spec.logarithmic_ = true;
    return spec;
}

double TargetSpec::LogWidth() const noexcept {
    return portable::Log1p(upper_ - lower_);
}

TargetSpec TargetSpec::Binary() {
    return TargetSpec(Task::kBinary, 0, 1);
}

TargetSpec TargetSpec::Binary(std::string negative, std::string positive) {
    TargetSpec spec = Binary();
    spec.classes_ = {std::move(negative), std::move(positive)};
    if (!AreLabels(spec.classes_))
        throw Error(ErrorCode::kInvalidParameter, "the two classes of the target need different names");
    return spec;
}

TargetSpec TargetSpec::Classes(std::vector<std::string> labels) {
    if (labels.size() < kMinClasses || labels.size() > kMaxClasses || !AreLabels(labels))
        throw Error(ErrorCode::kInvalidParameter, "invalid classes of the target",
                    "There must be 3 to 64 classes with different names.");
    TargetSpec spec(Task::kClasses, 0, static_cast<double>(labels.size() - 1));
    spec.classes_ = std::move(labels);
    return spec;
}

bool TargetSpec::Label(double value, float* label) const noexcept {
    if (!(value - value == 0))
        return false;
    if (task_ == Task::kBinary) {
        *label = value > 0.5 ? 1.0f : 0.0f;
        return true;
    }
    if (task_ == Task::kClasses) {
        if (value < lower_ || value > upper_ || value != std::floor(value))
            return false;
        *label = static_cast<float>(value);
        return true;
    }
    value = value < lower_ ? lower_ : value;
    value = value > upper_ ? upper_ : value;
    const double share =
        logarithmic_ ? portable::Log1p(value - lower_) / LogWidth() : (value - lower_) / (upper_ - lower_);
    double scaled = 2 * share - 1;
    *label = static_cast<float>(FromFixed(ToFixed(scaled)));
    return true;
}

double TargetSpec::Unscale(double scaled) const noexcept {
    if (!(scaled > -1))
        return lower_;
    if (scaled >= 1)
        return upper_;
    if (logarithmic_)
        return std::min(lower_ + portable::Expm1(LogWidth() * ((scaled + 1) / 2)), upper_);
    return lower_ + (upper_ - lower_) * ((scaled + 1) / 2);
}

double TargetSpec::LinearLabel(double label) const noexcept {
    return logarithmic_ ? 2 * ((Unscale(label) - lower_) / (upper_ - lower_)) - 1 : label;
}

void TargetSpec::Write(ByteWriter& out) const {
    out.U8(static_cast<uint8_t>(static_cast<uint8_t>(task_) | (logarithmic_ ? kLogarithmicBit : 0)));
    out.F64(lower_);
    out.F64(upper_);
    out.U16(static_cast<uint16_t>(classes_.size()));
    for (const std::string& label : classes_)
        out.Text(label);
}

TargetSpec TargetSpec::Read(ByteReader& in, uint32_t format) {
    const uint8_t flags = in.U8();
    const bool logarithmic = format > 1 && flags == kLogarithmicBit;
    const uint8_t task = logarithmic ? static_cast<uint8_t>(Task::kRegression) : flags;
    const double lower = in.F64(), upper = in.F64();
    ByteReader::Require(task <= static_cast<uint8_t>(format == 1 ? Task::kBinary : Task::kClasses));
    ByteReader::Require(std::isfinite(lower) && lower < upper && std::isfinite(upper - lower));
    TargetSpec spec(static_cast<Task>(task), lower, upper);
    spec.logarithmic_ = logarithmic;
    if (format > 1)
        spec.ReadClasses(in);
    const size_t classes = spec.classes_.size();
    if (spec.task_ == Task::kRegression)
        ByteReader::Require(classes == 0);
    else if (spec.task_ == Task::kBinary)
        ByteReader::Require(lower == 0 && upper == 1 && (classes == 0 || classes == 2));
    else
        ByteReader::Require(classes >= kMinClasses && classes <= kMaxClasses && lower == 0 &&
                            upper == static_cast<double>(classes - 1));
    // Zeros have one form, so that equal targets have equal bytes.
    ByteReader::Require(spec.task_ == Task::kRegression || !std::signbit(lower));
    return spec;
}

void TargetSpec::ReadClasses(ByteReader& in) {
    const uint16_t count = in.U16();
    ByteReader::Require(count <= kMaxClasses);
    for (uint16_t i = 0; i < count; i++)
        classes_.emplace_back(in.Text());
    ByteReader::Require(AreLabels(classes_));
}

}  // namespace dpboost
