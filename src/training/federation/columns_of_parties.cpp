#include "training/federation/columns_of_parties.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"

namespace dpboost {

namespace {

constexpr uint32_t kColumnsMagic = 0x31635044;  // "DPc1"
constexpr uint32_t kCallMagic = 0x32615044;     // "DPa2"

// Reads what Write has written; turns the reader's words about stored models into some about messages.
template <typename Read>
auto ReadMessage(std::string_view bytes, uint32_t magic, const Read& read) {
    constexpr const char* kShape = "a message of a federated training has a wrong shape";
    try {
        ByteReader reader(bytes);
        ByteReader::Require(reader.U32() == magic);
        auto value = read(reader);
        ByteReader::Require(reader.left() == 0);
        return value;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::kCorrupted)
            throw;
        throw Error(ErrorCode::kInvalidParameter, kShape);
    }
}

void Write(ByteWriter& writer, const PublicColumn& column) {
    writer.Text(column.name);
    writer.U8(static_cast<uint8_t>(column.kind));
    writer.U8(static_cast<uint8_t>(column.domain.kind));
    writer.F64(column.domain.lower);
    writer.F64(column.domain.upper);
    writer.U8(static_cast<uint8_t>(column.domain.scale));
    writer.U32(static_cast<uint32_t>(column.domain.levels.size()));
    for (const std::string& level : column.domain.levels)
        writer.Text(level);
}

PublicColumn ReadColumn(ByteReader& reader) {
    PublicColumn column;
    column.name = std::string(reader.Text());
    const uint8_t kind = reader.U8();
    const uint8_t domain = reader.U8();
    column.domain.lower = reader.F64();
    column.domain.upper = reader.F64();
    const uint8_t scale = reader.U8();
    ByteReader::Require(!column.name.empty() && kind < static_cast<uint8_t>(ValueKind::kUnknown) &&
                        domain < static_cast<uint8_t>(DomainKind::kPrivate) &&
                        scale <= static_cast<uint8_t>(Scale::kAuto));
    column.kind = static_cast<ValueKind>(kind);
    column.domain.kind = static_cast<DomainKind>(domain);
    column.domain.scale = static_cast<Scale>(scale);
    for (uint32_t left = reader.Count(4); left > 0; --left)
        column.domain.levels.emplace_back(reader.Text());
    if (column.domain.kind == DomainKind::kRange)
        ByteReader::Require(std::isfinite(column.domain.lower) && std::isfinite(column.domain.upper) &&
                            column.domain.lower <= column.domain.upper);
    return column;
}

void Write(ByteWriter& writer, const PartyColumns& columns) {
    Write(writer, columns.target);
    writer.U32(static_cast<uint32_t>(columns.features.size()));
    for (const PublicColumn& feature : columns.features)
        Write(writer, feature);
}

PartyColumns ReadColumns(ByteReader& reader) {
    constexpr size_t kLeastSize = 4 + 1 + 1 + 8 + 8 + 1 + 4;
    PartyColumns columns;
    columns.target = ReadColumn(reader);
    for (uint32_t left = reader.Count(kLeastSize); left > 0; --left)
        columns.features.push_back(ReadColumn(reader));
    return columns;
}

void Write(ByteWriter& writer, const SharedModel& shared) {
    writer.Text(shared.content);
    writer.U32(shared.version);
    writer.Text(shared.method);
    writer.Text(shared.options);
    writer.U8(shared.positive ? 1 : 0);
    writer.Text(shared.positive.value_or(std::string()));
}

SharedModel ReadShared(ByteReader& reader) {
    SharedModel shared;
    shared.content = std::string(reader.Text());
    shared.version = reader.U32();
    shared.method = std::string(reader.Text());
    shared.options = std::string(reader.Text());
    const uint8_t has_positive = reader.U8();
    std::string positive(reader.Text());
    ByteReader::Require(has_positive <= 1 && (has_positive == 1 || positive.empty()));
    if (has_positive == 1)
        shared.positive = std::move(positive);
    return shared;
}

// Kinds that are read alike. Numbers of any type are; what is not is refused.
bool Alike(ValueKind a, ValueKind b) {
    return a == b || (IsNumber(a) && IsNumber(b) && !IsTime(a) && !IsTime(b)) ||
           (!IsNumber(a) && !IsNumber(b) && a != ValueKind::kBoolean && b != ValueKind::kBoolean);
}

Domain MergeDomains(const Domain& a, const Domain& b) {
    if (a.kind != b.kind)
        return {};
    Domain merged = a;
    if (a.kind == DomainKind::kRange) {
        merged.lower = std::min(a.lower, b.lower);
        merged.upper = std::max(a.upper, b.upper);
        merged.scale = a.scale == b.scale ? a.scale : Scale::kAuto;
    }
    if (a.kind == DomainKind::kLevels && a.levels != b.levels) {
        std::set<std::string> levels(a.levels.begin(), a.levels.end());
        levels.insert(b.levels.begin(), b.levels.end());
        merged.levels.assign(levels.begin(), levels.end());
    }
    return merged;
}

void MergeInto(PublicColumn* column, const std::string& first, const PublicColumn& other,
               const std::string& party) {
    if (!Alike(column->kind, other.kind))
        throw Error(
            ErrorCode::kInvalidParameter,
            "column " + Quoted(column->name) + " has different types at different parties",
            "What it holds at " + Quoted(first) + " and at " + Quoted(party) + " cannot be read alike.");
    if (IsNumber(column->kind) && column->kind != other.kind)
        column->kind = ValueKind::kFloat8;
    else if (column->kind != other.kind)
        column->kind = ValueKind::kText;
    column->domain = MergeDomains(column->domain, other.domain);
}

const PublicColumn& FindIn(const PartyColumns& columns, const std::string& name, const std::string& first,
                           const std::string& party) {
    for (const PublicColumn& column : columns.features)
        if (column.name == name)
            return column;
    throw Error(ErrorCode::kInvalidParameter,
                "column " + Quoted(name) + " is a feature at party " + Quoted(first) + ", but not at " +
                    Quoted(party),
                {}, "Name the features that all parties have.");
}

}  // namespace

std::string PartyColumns::Serialize() const {
    ByteWriter writer;
    writer.U32(kColumnsMagic);
    Write(writer, *this);
    return writer.Take();
}

PartyColumns PartyColumns::Parse(std::string_view bytes) {
    return ReadMessage(bytes, kColumnsMagic, ReadColumns);
}

PartyColumns MergeColumns(const std::vector<std::string>& parties, const std::vector<PartyColumns>& columns) {
    CheckInternal(!columns.empty() && parties.size() == columns.size(), "a federation has parties");
    PartyColumns merged = columns[0];
    for (size_t i = 1; i < columns.size(); ++i) {
        if (columns[i].features.size() > merged.features.size())
            for (const PublicColumn& feature : columns[i].features)
                FindIn(merged, feature.name, parties[i], parties[0]);
        MergeInto(&merged.target, parties[0], columns[i].target, parties[i]);
        for (PublicColumn& feature : merged.features)
            MergeInto(&feature, parties[0], FindIn(columns[i], feature.name, parties[0], parties[i]),
                      parties[i]);
    }
    return merged;
}

void CheckReadable(const PublicColumn& own, const PublicColumn& announced) {
    // Numbers as levels are whole ones; a level list of text is looked up as it is.
    const bool levels = announced.domain.kind == DomainKind::kLevels || IsWhole(announced.kind);
    if (own.name != announced.name || !Alike(own.kind, announced.kind) ||
        (IsNumber(own.kind) && levels && !IsWhole(own.kind)))
        throw Error(ErrorCode::kInvalidParameter,
                    "the announced column " + Quoted(announced.name) + " is not the one that this party has");
}

std::string FederatedCall::Serialize() const {
    ByteWriter writer;
    writer.U32(kCallMagic);
    writer.U8(static_cast<uint8_t>(kind));
    writer.Text(model);
    writer.Text(options);
    writer.F64(epsilon);
    writer.U8(delta ? 1 : 0);
    writer.F64(delta.value_or(0));
    writer.Raw(View(encodings));
    if (shared)
        Write(writer, *shared);
    Write(writer, columns);
    return writer.Take();
}

FederatedCall FederatedCall::Parse(std::string_view bytes) {
    return ReadMessage(bytes, kCallMagic, [](ByteReader& reader) {
        FederatedCall call;
        const uint8_t kind = reader.U8();
        ByteReader::Require(kind <= static_cast<uint8_t>(FederatedKind::kEvaluation));
        call.kind = static_cast<FederatedKind>(kind);
        call.model = std::string(reader.Text());
        call.options = std::string(reader.Text());
        call.epsilon = reader.F64();
        const uint8_t has_delta = reader.U8();
        const double delta = reader.F64();
        ByteReader::Require(has_delta <= 1 && (has_delta == 1 || (delta == 0 && !std::signbit(delta))));
        if (has_delta == 1)
            call.delta = delta;
        const std::string_view encodings = reader.Raw(call.encodings.size());
        std::copy(encodings.begin(), encodings.end(), call.encodings.begin());
        if (call.kind != FederatedKind::kTraining)
            call.shared = ReadShared(reader);
        call.columns = ReadColumns(reader);
        return call;
    });
}

Hash EncodingsHash(const std::vector<FeatureSpec>& features) {
    ByteWriter writer;
    for (const FeatureSpec& feature : features)
        feature.Write(writer);
    return HashOf("encodings", writer.bytes());
}

void CheckEncodings(const FederatedCall& call, const std::vector<FeatureSpec>& features) {
    if (!SameHash(call.encodings, EncodingsHash(features)))
        throw Error(ErrorCode::kUnsupported, "this server divides the columns otherwise than the coordinator",
                    "Their machines compute logarithms with different last digits.",
                    "Use linear scales: {\"bounds\": {\"column\": [lower, upper, \"linear\"]}}.");
}

}  // namespace dpboost
