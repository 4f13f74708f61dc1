#include "model/reference.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

bool IsSd(double value) noexcept {
    return std::isfinite(value) && value >= 0;
}

bool AreSds(const std::vector<float>& values) noexcept {
    return std::all_of(values.begin(), values.end(), [](float value) { return IsSd(value); });
}

bool IsValid(const Marginal& marginal, const FeatureSpec& feature) noexcept {
    const std::vector<uint16_t>& last = marginal.last_codes;
    if (last.empty() || last.size() != marginal.counts.size() || last.back() != feature.missing())
        return false;
    for (size_t cell = 1; cell < last.size(); cell++) {
        if (last[cell] <= last[cell - 1])
            return false;
    }
    return AreSds(marginal.counts) && IsSd(marginal.count_sd);
}

bool IsValid(const Reference& reference, const std::vector<FeatureSpec>& features) noexcept {
    if (!(reference.rows >= 1) || !std::isfinite(reference.rows) || !IsSd(reference.rows_sd) ||
        reference.marginals.size() != features.size())
        return false;
    for (size_t f = 0; f < features.size(); f++) {
        if (!IsValid(reference.marginals[f], features[f]))
            return false;
    }
    return true;
}

constexpr size_t kMostResidualBins = 1024;  // what reads them takes many passes

bool IsValid(const ResidualHistogram& residuals) noexcept {
    return std::isfinite(residuals.lower) && std::isfinite(residuals.upper) &&
           residuals.lower < residuals.upper && !residuals.counts.empty() &&
           residuals.counts.size() <= kMostResidualBins && IsSd(residuals.count_sd) &&
           std::all_of(residuals.counts.begin(), residuals.counts.end(),
                       [](float count) { return std::isfinite(count); });
}

void WriteFloats(const std::vector<float>& values, ByteWriter& out) {
    for (const float value : values)
        out.F32(value);
}

std::vector<float> ReadFloats(size_t count, ByteReader& in) {
    ByteReader::Require(count <= in.left() / sizeof(float));
    std::vector<float> values(count);
    for (float& value : values)
        value = in.F32();
    return values;
}

bool ReadFlag(ByteReader& in) {
    const uint8_t flag = in.U8();
    ByteReader::Require(flag <= 1);
    return flag == 1;
}

void Write(const Reference& reference, ByteWriter& out) {
    out.F64(reference.rows);
    out.F64(reference.rows_sd);
    for (const Marginal& marginal : reference.marginals) {
        out.U16(static_cast<uint16_t>(marginal.counts.size()));
        for (const uint16_t code : marginal.last_codes)
            out.U16(code);
        WriteFloats(marginal.counts, out);
        out.F32(marginal.count_sd);
    }
}

Reference ReadReference(size_t features, ByteReader& in) {
    Reference reference;
    reference.rows = in.F64();
    reference.rows_sd = in.F64();
    for (size_t f = 0; f < features; f++) {
        Marginal marginal;
        const uint16_t cells = in.U16();
        ByteReader::Require(cells <= in.left() / (sizeof(uint16_t) + sizeof(float)));
        marginal.last_codes.resize(cells);
        for (uint16_t& code : marginal.last_codes)
            code = in.U16();
        marginal.counts = ReadFloats(cells, in);
        marginal.count_sd = in.F32();
        reference.marginals.push_back(std::move(marginal));
    }
    return reference;
}

ResidualHistogram ReadResiduals(ByteReader& in) {
    ResidualHistogram residuals;
    residuals.lower = in.F64();
    residuals.upper = in.F64();
    residuals.counts = ReadFloats(in.U16(), in);
    residuals.count_sd = in.F32();
    return residuals;
}

}  // namespace

bool IsValid(const Evidence& evidence, const std::vector<FeatureSpec>& features, size_t outputs) noexcept {
    if (evidence.reference && !IsValid(*evidence.reference, features))
        return false;
    if (!evidence.bands.empty() && evidence.bands.size() != features.size())
        return false;
    for (size_t f = 0; f < evidence.bands.size(); f++) {
        const std::vector<float>& band = evidence.bands[f];
        if (!band.empty() && (band.size() != features[f].cells() * outputs || !AreSds(band)))
            return false;
    }
    const bool gaussian = evidence.noise == NoiseKind::kGaussian;
    if (evidence.noise > NoiseKind::kGaussian || (gaussian ? !IsSd(evidence.mu) : evidence.mu != 0))
        return false;
    return !evidence.residuals || IsValid(*evidence.residuals);
}

void Write(const Evidence& evidence, const std::vector<FeatureSpec>& features, ByteWriter& out) {
    out.U8(evidence.reference.has_value());
    if (evidence.reference)
        Write(*evidence.reference, out);
    for (size_t f = 0; f < features.size(); f++) {
        const bool known = !evidence.bands.empty() && !evidence.bands[f].empty();
        out.U8(known);
        if (known)
            WriteFloats(evidence.bands[f], out);
    }
    out.U8(static_cast<uint8_t>(evidence.noise));
    out.F64(evidence.mu);
    out.U8(evidence.residuals.has_value());
    if (evidence.residuals) {
        out.F64(evidence.residuals->lower);
        out.F64(evidence.residuals->upper);
        out.U16(static_cast<uint16_t>(evidence.residuals->counts.size()));
        WriteFloats(evidence.residuals->counts, out);
        out.F32(evidence.residuals->count_sd);
    }
}

Evidence ReadEvidence(const std::vector<FeatureSpec>& features, size_t outputs, ByteReader& in) {
    Evidence evidence;
    if (ReadFlag(in))
        evidence.reference = ReadReference(features.size(), in);
    evidence.bands.resize(features.size());
    for (size_t f = 0; f < features.size(); f++) {
        if (ReadFlag(in))
            evidence.bands[f] = ReadFloats(features[f].cells() * outputs, in);
    }
    const uint8_t noise = in.U8();
    ByteReader::Require(noise <= static_cast<uint8_t>(NoiseKind::kGaussian));
    evidence.noise = static_cast<NoiseKind>(noise);
    evidence.mu = in.F64();
    ByteReader::Require(evidence.noise == NoiseKind::kGaussian || !std::signbit(evidence.mu));
    if (ReadFlag(in))
        evidence.residuals = ReadResiduals(in);
    ByteReader::Require(IsValid(evidence, features, outputs));
    return evidence;
}

}  // namespace dpboost
