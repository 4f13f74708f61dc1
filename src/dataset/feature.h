// What is public about a feature: its name and how its values become codes. A FeatureSpec sees no row; it is
// made from declared ranges or levels, stored with the model, and turned into an Encoder by training and by
// prediction alike. Codes 0 .. bins-1 are the bins; the last code, bins, means "missing".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "dataset/grid.h"

namespace dpboost {

enum class FeatureKind : uint8_t {
    kNumeric = 0,  // ordered: code order is value order
    kLevels = 1,   // a list of texts; also booleans and enums; unknown texts are missing
    kHashed = 2    // any text, hashed to a fixed number of buckets
};

constexpr uint32_t kDefaultHashBuckets = 64;
constexpr uint32_t kMaxFeatures = 65535;

class FeatureSpec {
  public:
    // Each throws Error(kInvalidParameter) that names the feature when the declaration makes no sense.
    static FeatureSpec Numeric(std::string name, const NumericRange& range);
    static FeatureSpec Levels(std::string name, std::vector<std::string> levels);
    static FeatureSpec Boolean(std::string name);  // levels "false" (code 0) and "true" (code 1)
    static FeatureSpec Hashed(std::string name, uint32_t buckets = kDefaultHashBuckets);

    const std::string& name() const noexcept { return name_; }
    FeatureKind kind() const noexcept { return kind_; }
    bool ordered() const noexcept { return kind_ == FeatureKind::kNumeric; }

    uint32_t bins() const noexcept { return bins_; }
    uint32_t cells() const noexcept { return bins_ + 1; }
    uint16_t missing() const noexcept { return static_cast<uint16_t>(bins_); }
    bool wide() const noexcept { return cells() > 256; }  // codes need two bytes

    // Numeric features only; empty or 0 for the others.
    double lower() const noexcept { return lower_; }
    double upper() const noexcept { return upper_; }
    bool integer() const noexcept { return integer_; }
    const Grid& grid() const noexcept { return grid_; }
    const std::vector<std::string>& levels() const noexcept { return levels_; }

    // The values of a bin are in (CellLower, CellUpper]; the first bin holds its lower end too. CellCenter is
    // the value that stands for a bin in linear models: the middle, for whole numbers the mean of those in
    // the bin. Always finite: the missing code gives the middle of the range, a code of a level gives 0.
    double CellLower(uint32_t code) const noexcept;
    double CellUpper(uint32_t code) const noexcept;
    double CellCenter(uint32_t code) const noexcept;

    void Write(ByteWriter& out) const;
    // Throws Error(kCorrupted) on anything that Write cannot have produced.
    static FeatureSpec Read(ByteReader& in);

    bool operator==(const FeatureSpec& other) const;
    bool operator!=(const FeatureSpec& other) const { return !(*this == other); }

  private:
    FeatureSpec() = default;
    void ReadNumeric(ByteReader& in);
    void ReadLevels(ByteReader& in);

    std::string name_;
    FeatureKind kind_ = FeatureKind::kNumeric;
    uint32_t bins_ = 1;
    double lower_ = 0;
    double upper_ = 0;
    bool integer_ = false;
    Grid grid_;
    std::vector<std::string> levels_;
};

}  // namespace dpboost
