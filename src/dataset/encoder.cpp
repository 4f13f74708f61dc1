#include "dataset/encoder.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

namespace dpboost {
namespace {

// Tables stay in the caches: one-byte grids need a few KiB.
constexpr uint32_t kMaxSlices = 1 << 18;

template <typename Word>
inline uint64_t LoadLittle(const char* bytes) noexcept {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = sizeof word == 8 ? __builtin_bswap64(word) : __builtin_bswap32(word);
#endif
    return word;
}

// Up to 8 bytes as one word, without a loop; different texts of one size give different words.
inline uint64_t LoadShort(const char* text, size_t size) noexcept {
    if (size >= 4)
        return LoadLittle<uint32_t>(text) | LoadLittle<uint32_t>(text + size - 4) << 32;
    if (size == 0)
        return 0;
    auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(text[i])); };
    return byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
}

inline uint64_t Mix(uint64_t hash, uint64_t word) noexcept {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

__attribute__((always_inline)) inline uint64_t HashInline(const char* text, size_t size) noexcept {
    uint64_t hash = 0x6470626f6f737431u ^ size;
    if (size <= 8) {
        hash = Mix(hash, LoadShort(text, size));
    } else {
        const char* last = text + size - 8;  // the last word may overlap the one before
        for (; text < last; text += 8)
            hash = Mix(hash, LoadLittle<uint64_t>(text));
        hash = Mix(hash, LoadLittle<uint64_t>(last));
    }
    hash = (hash ^ (hash >> 32)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 29)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 32);
}

}  // namespace

uint64_t HashText(const char* text, size_t size) noexcept {
    return HashInline(text, size);
}

Encoder::Encoder(const FeatureSpec& spec) : kind_(spec.kind()), missing_(spec.missing()) {
    if (kind_ == FeatureKind::kNumeric)
        BuildNumeric(spec);
    else if (kind_ == FeatureKind::kLevels)
        BuildLevels(spec);
    else
        buckets_ = spec.bins();
    if (kind_ != FeatureKind::kNumeric) {  // numbers end in SearchSlice, which gives missing
        slice_code_ = {0, 0};
        max_edges_per_slice_ = 2;
    }
}

// Looks for slices so fine that no slice holds two edges: first by value, then by magnitude. Should neither
// be possible in a table of sensible size, edges within a slice are searched.
void Encoder::BuildNumeric(const FeatureSpec& spec) {
    lower_ = spec.lower();
    upper_ = spec.upper();
    edges_ = spec.grid().edges;
    uint32_t bins = spec.bins();
    edges_.push_back(std::numeric_limits<double>::infinity());
    for (uint32_t factor = 1; factor <= 4; factor *= 2)
        if (TryLinearSlices(std::min(bins * factor, kMaxSlices)))
            return;
    for (unsigned bits = 2; bits <= 16; bits++)
        if (TryMagnitudeSlices(bits))
            return;
    TryLinearSlices(std::min(bins * 4, kMaxSlices));
}

bool Encoder::TryLinearSlices(uint32_t slices) {
    linear_ = true;
    slices_per_unit_ = slices / (upper_ - lower_);
    if (!std::isfinite(slices_per_unit_))
        slices_per_unit_ = 0;
    return FillSlices(LinearSlice(upper_) + 1);
}

bool Encoder::TryMagnitudeSlices(unsigned mantissa_bits) {
    linear_ = false;
    offset_ = std::max(-lower_, upper_);
    for (double edge : edges_)
        if (std::fabs(edge) > DBL_MIN)
            offset_ = std::min(offset_, std::fabs(edge));
    std::memcpy(&offset_bits_, &offset_, sizeof offset_bits_);
    slice_shift_ = 52 - mantissa_bits;

    zero_slice_ = 0;  // shift all slices so that lower has slice 0; unsigned wrap-around is intended
    zero_slice_ -= MagnitudeSlice(lower_);
    uint32_t slices = MagnitudeSlice(upper_) + 1;
    return slices <= kMaxSlices && FillSlices(slices);
}

bool Encoder::FillSlices(uint32_t slices) {
    slice_code_.assign(slices + 1, 0);
    size_t edge_count = edges_.size() - 1;
    for (size_t j = 0; j < edge_count; j++)
        slice_code_[(linear_ ? LinearSlice(edges_[j]) : MagnitudeSlice(edges_[j])) + 1]++;
    max_edges_per_slice_ = *std::max_element(slice_code_.begin(), slice_code_.end());
    for (uint32_t s = 1; s <= slices; s++)
        slice_code_[s] = static_cast<uint16_t>(slice_code_[s] + slice_code_[s - 1]);
    return max_edges_per_slice_ <= 1;
}

void Encoder::Numbers(const double* values, size_t count, uint16_t* codes) const noexcept {
    if (!linear_ || max_edges_per_slice_ > 1) {
        for (size_t i = 0; i < count; i++)
            codes[i] = Number(values[i]);
        return;
    }
    const double lower = lower_, upper = upper_, slices_per_unit = slices_per_unit_;
    const uint16_t* slice_code = slice_code_.data();
    const double* edges = edges_.data();
    const uint16_t missing = missing_;
    for (size_t i = 0; i < count; i++) {
        const double raw = values[i];
        double value = raw > lower ? raw : lower;  // NaN becomes lower, and missing below
        value = value < upper ? value : upper;
        // Slices are few, so the conversion by way of a signed integer is the same and cheaper.
        const auto slice = static_cast<uint32_t>(static_cast<int32_t>((value - lower) * slices_per_unit));
        const uint32_t code = slice_code[slice];
        const auto bin = static_cast<uint16_t>(code + (edges[code] < value));
        codes[i] = raw - raw == 0 ? bin : missing;
    }
}

uint16_t Encoder::SearchSlice(uint32_t slice, double value) const noexcept {
    if (kind_ != FeatureKind::kNumeric)
        return missing_;
    auto first = edges_.begin() + slice_code_[slice], last = edges_.begin() + slice_code_[slice + 1];
    return static_cast<uint16_t>(std::lower_bound(first, last, value) - edges_.begin());
}

void Encoder::BuildLevels(const FeatureSpec& spec) {
    size_t size = 4;
    while (size < 2 * spec.levels().size())
        size *= 2;
    slots_.assign(size, Slot{0, 0, 0, 0, false});
    uint16_t code = 0;
    for (const std::string& level : spec.levels()) {
        uint64_t hash = HashText(level.data(), level.size());
        size_t at = hash & (size - 1);
        while (slots_[at].used)
            at = (at + 1) & (size - 1);
        slots_[at] = {static_cast<uint32_t>(level_text_.size()), static_cast<uint32_t>(level.size()),
                      static_cast<uint32_t>(hash >> 32), code++, true};
        level_text_ += level;
    }
}

uint16_t Encoder::Text(const char* text, size_t size) const noexcept {
    if (kind_ == FeatureKind::kHashed)
        return static_cast<uint16_t>(((HashInline(text, size) >> 32) * buckets_) >> 32);
    if (kind_ != FeatureKind::kLevels)
        return missing_;
    uint64_t hash = HashText(text, size);
    size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; slots_[at].used; at = (at + 1) & mask) {
        const Slot& slot = slots_[at];
        if (slot.hash == static_cast<uint32_t>(hash >> 32) && slot.size == size &&
            std::memcmp(level_text_.data() + slot.offset, text, size) == 0)
            return slot.code;
    }
    return missing_;
}

}  // namespace dpboost
