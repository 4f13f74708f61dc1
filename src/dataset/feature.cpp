#include "dataset/feature.h"

#include <cmath>
#include <unordered_set>

#include "base/error.h"

namespace dpboost {
namespace {

constexpr size_t kMaxTextBytes = 65535;

// A feature's declaration is public, so its name and its bounds may be quoted.
[[noreturn]] void RefuseFeature(const std::string& name, const std::string& detail, const std::string& hint) {
    throw Error(ErrorCode::kInvalidParameter, "invalid domain of feature \"" + name + "\"", detail, hint);
}

void CheckName(const std::string& name) {
    if (name.size() > kMaxTextBytes)
        throw Error(ErrorCode::kInvalidParameter, "feature name is too long");
}

// The first letter upper case and a period, as details are written.
std::string AsSentence(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text + ".";
}

}  // namespace

FeatureSpec FeatureSpec::Numeric(std::string name, const NumericRange& range) {
    CheckName(name);
    FeatureSpec spec;
    spec.name_ = std::move(name);
    spec.kind_ = FeatureKind::kNumeric;
    try {
        spec.grid_ = MakeGrid(range);
    } catch (const Error& error) {
        RefuseFeature(spec.name_, AsSentence(error.message()), error.hint());
    }
    spec.bins_ = spec.grid_.bins();
    spec.lower_ = range.lower;
    spec.upper_ = range.upper;
    spec.integer_ = range.integer;
    return spec;
}

FeatureSpec FeatureSpec::Levels(std::string name, std::vector<std::string> levels) {
    CheckName(name);
    if (levels.empty())
        RefuseFeature(name, "The list of levels is empty.", "List at least one level.");
    if (levels.size() > kMaxBins)
        RefuseFeature(name, "There are more than 65534 levels.",
                      "Leave the levels out, so that texts are hashed to buckets.");
    std::unordered_set<std::string_view> seen;
    for (const std::string& level : levels) {
        if (level.size() > kMaxTextBytes)
            RefuseFeature(name, "A level is longer than 65535 bytes.", "Shorten it.");
        if (!seen.insert(level).second)
            RefuseFeature(name, "Level \"" + level + "\" is listed twice.", "List every level once.");
    }
    FeatureSpec spec;
    spec.name_ = std::move(name);
    spec.kind_ = FeatureKind::kLevels;
    spec.bins_ = static_cast<uint32_t>(levels.size());
    spec.levels_ = std::move(levels);
    return spec;
}

FeatureSpec FeatureSpec::Boolean(std::string name) {
    return Levels(std::move(name), {"false", "true"});
}

FeatureSpec FeatureSpec::Hashed(std::string name, uint32_t buckets) {
    CheckName(name);
    if (buckets < 1 || buckets > kMaxBins)
        RefuseFeature(name, "The number of hash buckets must be between 1 and 65534.",
                      "Leave it out for the default of 64.");
    FeatureSpec spec;
    spec.name_ = std::move(name);
    spec.kind_ = FeatureKind::kHashed;
    spec.bins_ = buckets;
    return spec;
}

double FeatureSpec::CellLower(uint32_t code) const noexcept {
    return code == 0 || code >= bins_ || !ordered() ? lower_ : grid_.edges[code - 1];
}

double FeatureSpec::CellUpper(uint32_t code) const noexcept {
    return code + 1 >= bins_ || !ordered() ? upper_ : grid_.edges[code];
}

double FeatureSpec::CellCenter(uint32_t code) const noexcept {
    double low = CellLower(code), high = CellUpper(code);
    if (integer_ && code < bins_) {
        double first = code == 0 ? std::ceil(low) : std::floor(low) + 1;
        double last = std::floor(high);
        if (first <= last)
            return first + (last - first) / 2;
    }
    return low + (high - low) / 2;
}

void FeatureSpec::Write(ByteWriter& out) const {
    out.Text(name_);
    out.U8(static_cast<uint8_t>(kind_));
    out.U32(bins_);
    if (kind_ == FeatureKind::kNumeric) {
        out.F64(lower_);
        out.F64(upper_);
        out.U8(integer_);
        out.U8(grid_.uniform);
        if (grid_.uniform) {
            out.F64(grid_.first_edge);
            out.F64(grid_.step);
        } else {
            for (double edge : grid_.edges)
                out.F64(edge);
        }
    } else if (kind_ == FeatureKind::kLevels) {
        for (const std::string& level : levels_)
            out.Text(level);
    }
}

FeatureSpec FeatureSpec::Read(ByteReader& in) {
    FeatureSpec spec;
    spec.name_ = std::string(in.Text());
    ByteReader::Require(spec.name_.size() <= kMaxTextBytes);
    uint8_t kind = in.U8();
    ByteReader::Require(kind <= static_cast<uint8_t>(FeatureKind::kHashed));
    spec.kind_ = static_cast<FeatureKind>(kind);
    spec.bins_ = in.U32();
    ByteReader::Require(spec.bins_ >= 1 && spec.bins_ <= kMaxBins);
    if (spec.kind_ == FeatureKind::kNumeric)
        spec.ReadNumeric(in);
    else if (spec.kind_ == FeatureKind::kLevels)
        spec.ReadLevels(in);
    return spec;
}

void FeatureSpec::ReadNumeric(ByteReader& in) {
    lower_ = in.F64();
    upper_ = in.F64();
    ByteReader::Require(std::isfinite(lower_) && std::isfinite(upper_) && lower_ <= upper_ &&
                        std::isfinite(upper_ - lower_));
    uint8_t integer = in.U8(), uniform = in.U8();
    ByteReader::Require(integer <= 1 && uniform <= 1);
    integer_ = integer == 1;
    uint32_t edges = bins_ - 1;
    if (uniform == 1) {
        double first_edge = in.F64(), step = in.F64();
        ByteReader::Require(std::isfinite(first_edge) && std::isfinite(step) && step >= 0);
        grid_ = MakeUniformGrid(first_edge, step, edges);
    } else {
        ByteReader::Require(edges <= in.left() / sizeof(double));
        grid_.edges.resize(edges);
        for (double& edge : grid_.edges)
            edge = in.F64();
    }
    double previous = lower_;
    for (double edge : grid_.edges) {
        ByteReader::Require(edge >= previous && edge <= upper_);  // refuses NaN as well
        previous = edge;
    }
}

void FeatureSpec::ReadLevels(ByteReader& in) {
    ByteReader::Require(bins_ <= in.left() / sizeof(uint32_t));
    levels_.reserve(bins_);
    for (uint32_t i = 0; i < bins_; i++) {
        levels_.emplace_back(in.Text());
        ByteReader::Require(levels_.back().size() <= kMaxTextBytes);
    }
    std::unordered_set<std::string_view> seen(levels_.begin(), levels_.end());
    ByteReader::Require(seen.size() == levels_.size());
}

bool FeatureSpec::operator==(const FeatureSpec& other) const {
    return name_ == other.name_ && kind_ == other.kind_ && bins_ == other.bins_ && lower_ == other.lower_ &&
           upper_ == other.upper_ && integer_ == other.integer_ && grid_.edges == other.grid_.edges &&
           levels_ == other.levels_;
}

}  // namespace dpboost
