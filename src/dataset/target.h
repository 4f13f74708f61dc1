// What is public about the target: its task, for regression its range, for classes their labels. A label is the
// target, or its logarithm, scaled to [-1, 1] (regression), 0 / 1 (binary) or the number of the class, rounded to a multiple of 2^-20 so
// that it is exact as a float, as a double and as a fixed-point integer of the model's scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace dpboost {

enum class Task : uint8_t { kRegression = 0, kBinary = 1, kClasses = 2 };

constexpr size_t kMinClasses = 3;  // two classes are binary
constexpr size_t kMaxClasses = 64;

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
    // The same, for amounts of very different size: the label is log(1 + value - lower), scaled.
    static TargetSpec Logarithmic(double lower, double upper);
    static TargetSpec Binary();
    // The names of the negative and of the positive class, where both are known.
    static TargetSpec Binary(std::string negative, std::string positive);
    // Throws Error(kInvalidParameter) unless there are 3 to 64 different labels.
    static TargetSpec Classes(std::vector<std::string> labels);

    Task task() const noexcept { return task_; }
    double lower() const noexcept { return lower_; }  // 0 for classes
    double upper() const noexcept { return upper_; }  // 1 for binary, else the last class's number
    bool logarithmic() const noexcept { return logarithmic_; }
    // The largest log(1 + value - lower); of a logarithmic target.
    double LogWidth() const noexcept;
    // Of classes, in the order of their numbers; empty for regression and where binary has no names.
    const std::vector<std::string>& classes() const noexcept { return classes_; }

    // Sets the label of a target value (binary: any value > 1/2 is positive; classes: the number of one). False for
    // NaN, infinities and what is no class: such a row is skipped like one with a NULL target.
    bool Label(double value, float* label) const noexcept;

    // From the label's scale back to the target's, clamped to the public range: [-1, 1] -> [lower, upper].
    double Unscale(double scaled) const noexcept;
    // A regression's label as that of a target which is not logarithmic.
    double LinearLabel(double label) const noexcept;

    void Write(ByteWriter& out) const;
    // Format 1 of models had no classes. Throws Error(kCorrupted) on anything that Write cannot have produced.
    static TargetSpec Read(ByteReader& in, uint32_t format);

    bool operator==(const TargetSpec& other) const noexcept {
        return task_ == other.task_ && lower_ == other.lower_ && upper_ == other.upper_ &&
               logarithmic_ == other.logarithmic_ && classes_ == other.classes_;
    }

  private:
    TargetSpec(Task task, double lower, double upper) : task_(task), lower_(lower), upper_(upper) {}
    void ReadClasses(ByteReader& in);

    Task task_;
    double lower_;
    double upper_;
    bool logarithmic_ = false;
    std::vector<std::string> classes_;
};

}  // namespace dpboost
