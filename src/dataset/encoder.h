// Turns values into codes, in training and in prediction alike. Never throws and never fails: NULL, NaN,
// infinities and unknown levels get the missing code, values out of range are clamped. A number's code is
// exactly the number of stored edges below it, found without libm, so that machines agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dataset/feature.h"

namespace dpboost {

// A stable hash of text: the same on every machine and in every version, because buckets of hashed features
// are stored with models.
uint64_t HashText(const char* text, size_t size) noexcept;

class Encoder {
  public:
    explicit Encoder(const FeatureSpec& spec);

    // For numeric features; any other kind gives missing.
    uint16_t Number(double value) const noexcept {
        // One comparison refuses NaN and both infinities.
        if (!(value - value == 0))
            return missing_;
        value = value < lower_ ? lower_ : value;
        value = value > upper_ ? upper_ : value;
        uint32_t slice = linear_ ? LinearSlice(value) : MagnitudeSlice(value);
        uint32_t code = slice_code_[slice];
        if (max_edges_per_slice_ <= 1)
            return static_cast<uint16_t>(code + (edges_[code] < value));
        return SearchSlice(slice, value);
    }

    // The same for many values at once; what does not change stays in registers.
    void Numbers(const double* values, size_t count, uint16_t* codes) const noexcept;

    // For levels and hashed text; any other kind gives missing.
    uint16_t Text(const char* text, size_t size) const noexcept;

    uint16_t Missing() const noexcept { return missing_; }
    FeatureKind kind() const noexcept { return kind_; }

  private:
    // Slices partition the range much finer than bins, by a function that never decreases with the value. So
    // edges in lower slices are below a value, edges in higher slices are not, and only those in its own
    // slice are compared. Whatever the rounding in these functions, the result is exact.
    uint32_t LinearSlice(double value) const noexcept {
        return static_cast<uint32_t>((value - lower_) * slices_per_unit_);
    }
    uint32_t MagnitudeSlice(double value) const noexcept {
        double magnitude = (value < 0 ? -value : value) + offset_;
        uint64_t bits;
        std::memcpy(&bits, &magnitude, sizeof bits);
        uint32_t distance = static_cast<uint32_t>((bits - offset_bits_) >> slice_shift_);
        // Below 0 this is zero_slice_ - 1 - distance, without a branch that random signs would mispredict.
        return zero_slice_ + (distance ^ (0u - static_cast<uint32_t>(value < 0)));
    }
    uint16_t SearchSlice(uint32_t slice, double value) const noexcept;

    void BuildNumeric(const FeatureSpec& spec);
    bool TryLinearSlices(uint32_t slices);
    bool TryMagnitudeSlices(unsigned mantissa_bits);
    bool FillSlices(uint32_t slices);
    void BuildLevels(const FeatureSpec& spec);

    FeatureKind kind_;
    uint16_t missing_;
    bool linear_ = true;
    uint32_t max_edges_per_slice_ = 0;
    double lower_ = 0;
    double upper_ = 0;
    double slices_per_unit_ = 0;
    double offset_ = 0;
    uint64_t offset_bits_ = 0;
    unsigned slice_shift_ = 0;
    uint32_t zero_slice_ = 0;
    std::vector<double> edges_;         // and one +infinity as a sentinel
    std::vector<uint16_t> slice_code_;  // number of edges in lower slices; one more entry than slices

    uint32_t buckets_ = 0;  // hashed
    struct Slot {           // levels: open addressing, at most half full
        uint32_t offset;
        uint32_t size;
        uint32_t hash;
        uint16_t code;
        bool used;
    };
    std::vector<Slot> slots_;
    std::string level_text_;
};

}  // namespace dpboost
