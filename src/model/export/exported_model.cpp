#include "model/export/exported_model.h"

#include <cmath>

#include "base/checksum.h"
#include "base/error.h"
#include "base/json_text.h"
#include "model/labels/time_label.h"

namespace dpboost {
namespace {

constexpr std::string_view kMagic = "dpboostx";
constexpr uint32_t kVersion = 1;
constexpr size_t kMaxText = 63;

ImportedModel Read(std::string_view bytes, Interrupt* interrupt) {
    ByteReader::Require(bytes.size() > kMagic.size() + kChecksumBytes &&
                        bytes.substr(0, kMagic.size()) == kMagic);
    const std::string_view body = bytes.substr(0, bytes.size() - kChecksumBytes);
    ByteReader::Require(Checksum(body) == bytes.substr(body.size()));
    ByteReader in(body.substr(kMagic.size()));
    if (in.U32() != kVersion)
        throw Error(ErrorCode::kUnsupported, "the exported model has an unknown format version",
                    "It was exported by another version of dpboost.", "Update the extension.");
    ExportedModel claims;
    claims.encoding = in.Text();
    claims.method = in.Text();
    claims.epsilon = in.F64();
    claims.delta = in.F64();
    claims.model = in.Text();
    ByteReader::Require(in.left() == 0);
    ByteReader::Require(claims.encoding.size() <= kMaxText && !claims.method.empty() &&
                        claims.method.size() <= kMaxText);
    ByteReader::Require(claims.epsilon > 0 && std::isfinite(claims.epsilon) && claims.delta >= 0 &&
                        claims.delta < 1);
    CheckBins(claims.model, kMaxExportedBins);
    Model model = Model::Parse(claims.model, interrupt);
    return {std::move(claims), std::move(model)};
}

// A bound of numbers, or of what they stand for.
std::string Bound(double value, const std::string& type) {
    if (type.empty())
        return JsonNumber(value);
    return JsonString(TimeText(value, type == "date" ? TimeColumn::kDate : TimeColumn::kTimestamp));
}

std::string DescribeFeature(const FeatureSpec& feature, const std::string& type) {
    JsonList description;
    description.Add("name", JsonString(feature.name()));
    if (!type.empty())
        description.Add("type", JsonString(type));
    if (feature.kind() == FeatureKind::kNumeric) {
        description.Add("lower", Bound(feature.lower(), type));
        description.Add("upper", Bound(feature.upper(), type));
        description.Add("bins", std::to_string(feature.bins()));
    } else if (feature.kind() == FeatureKind::kLevels) {
        JsonList levels;
        for (const std::string& level : feature.levels())
            levels.Append(JsonString(level));
        description.Add("levels", levels.Array());
    } else {
        description.Add("hash_buckets", std::to_string(feature.bins()));
    }
    return description.Object();
}

}  // namespace

std::string Pack(const ExportedModel& exported) {
    ByteWriter out;
    out.Raw(kMagic);
    out.U32(kVersion);
    out.Text(exported.encoding);
    out.Text(exported.method);
    out.F64(exported.epsilon);
    out.F64(exported.delta);
    out.Text(exported.model);
    out.Raw(Checksum(out.bytes()));
    return out.Take();
}

ImportedModel Unpack(std::string_view bytes, Interrupt* interrupt) {
    if (bytes.size() > kMaxExportedModel)
        throw Error(ErrorCode::kLimitExceeded, "the exported model is too large",
                    "At most 64 MB can be imported.");
    try {
        return Read(bytes, interrupt);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::kCorrupted)
            throw;
        throw Error(ErrorCode::kInvalidParameter, "content is not an exported model",
                    "It was damaged on its way, or dpboost_export did not write it.");
    }
}

std::string TextsOf(const ImportedModel& imported) {
    std::string texts = imported.claims.method;
    for (const FeatureSpec& feature : imported.model.features()) {
        texts += "\n" + feature.name();
        for (const std::string& level : feature.levels())
            texts += "\n" + level;
    }
    for (const std::string& label : imported.model.target().classes())
        texts += "\n" + label;
    return texts;
}

std::string DescribeFeatures(const std::vector<FeatureSpec>& features,
                             const std::vector<std::string>& types) {
    JsonList list;
    for (size_t i = 0; i < features.size(); i++)
        list.Append(DescribeFeature(features[i], i < types.size() ? types[i] : ""));
    return list.Array();
}

}  // namespace dpboost
