// What is public about the target: its task, and for regression its range. A label is the target scaled to
// [-1, 1] (regression) or 0 / 1 (binary), rounded to a multiple of 2^-20 so that it is exact as a float, as
// a double and as a fixed-point integer of the model's scale.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace dpboost {

enum class Task : uint8_t { kRegression = 0, kBinary = 1 };

// Scores, leaf values, tables and labels are integers in units of 2^-20.
constexpr int kFixedBits = 20;
constexpr double kFixedScale = 1 << kFixedBits;

// Rounds half away from zero, saturates at the limits of int32; NaN gives 0.
int32_t ToFixed(double value) noexcept;
inline double FromFixed(int64_t fixed) noexcept {
    return static_cast<double>(fixed) / kFixedScale;
}

class TargetSpec {
  public:
    // Throws Error(kInvalidParameter) unless lower < upper, both finite.
    static TargetSpec Regression(double lower, double upper);
    static TargetSpec Binary();

    Task task() const noexcept { return task_; }
    double lower() const noexcept { return lower_; }  // 0 for binary
    double upper() const noexcept { return upper_; }  // 1 for binary

    // Sets the label of a target value (binary: any value > 1/2 is positive). False for NaN and infinities:
    // such a row is skipped like one with a NULL target.
    bool Label(double value, float* label) const noexcept;

    // From the label's scale back to the target's, clamped to the public range: [-1, 1] -> [lower, upper].
    double Unscale(double scaled) const noexcept;

    void Write(ByteWriter& out) const;
    static TargetSpec Read(ByteReader& in);

    bool operator==(const TargetSpec& other) const noexcept {
        return task_ == other.task_ && lower_ == other.lower_ && upper_ == other.upper_;
    }

  private:
    TargetSpec(Task task, double lower, double upper) : task_(task), lower_(lower), upper_(upper) {}

    Task task_;
    double lower_;
    double upper_;
};

}  // namespace dpboost
