// Model <-> bytes. Layout, little-endian: magic, version, target, link, loss, outputs, bases, features, tables, trees,
// evidence, and a BLAKE2b-128 checksum of all before it. Version 1, which is still read, had one output, no classes, no
// loss, no standard deviations of leaves and no evidence. The checksum finds accidents; the reader itself checks
// everything it later relies on, so that bytes forged with a valid checksum are harmless too.
#include <cmath>
#include <string>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "model/export/exported_model.h"
#include "model/model.h"
#include "model/polling.h"

namespace dpboost {
namespace {

constexpr std::string_view kMagic = "dpboost\n";
constexpr uint32_t kVersion = 2;
// feature, threshold, kind and direction
constexpr size_t kSplitBytes = 2 + 2 + 1;
constexpr uint8_t kMissingLeftBit = 0x80;
// beside the depth of a tree
constexpr uint8_t kLeafSdsBit = 0x80;

void WriteTree(const Tree& tree, const std::vector<FeatureSpec>& features, ByteWriter& out) {
    out.U8(static_cast<uint8_t>(tree.depth | (tree.leaf_sds.empty() ? 0 : kLeafSdsBit)));
    for (const Split& split : tree.splits) {
        out.U16(split.feature);
        out.U16(split.threshold);
        out.U8(static_cast<uint8_t>(static_cast<uint8_t>(split.kind) |
                                    (split.missing_left ? kMissingLeftBit : 0)));
        if (split.kind == SplitKind::kSubset)
            for (uint32_t word = 0; word < SubsetWords(features[split.feature].cells()); word++)
                out.U64(tree.subset_words[split.subset + word]);
    }
    for (int32_t leaf : tree.leaves)
        out.I32(leaf);
    for (float sd : tree.leaf_sds)
        out.F32(sd);
}

void ReadSubset(Split* split, Tree* tree, const FeatureSpec& feature, ByteReader& in) {
    ByteReader::Require(split->threshold == 0);
    size_t words = SubsetWords(feature.cells());
    ByteReader::Require(words <= in.left() / sizeof(uint64_t));
    split->subset = tree->AddSubset(feature);
    for (size_t word = 0; word < words; word++)
        tree->subset_words[split->subset + word] = in.U64();
    if (feature.cells() % 64 != 0)
        ByteReader::Require(tree->subset_words.back() >> (feature.cells() % 64) == 0);
}

Tree ReadTree(const std::vector<FeatureSpec>& features, size_t outputs, uint32_t version, ByteReader& in) {
    uint8_t depth = in.U8();
    const bool has_sds = version > 1 && (depth & kLeafSdsBit) != 0;
    if (has_sds)
        depth = static_cast<uint8_t>(depth & ~kLeafSdsBit);
    ByteReader::Require(depth >= 1 && depth <= kMaxDepth);
    ByteReader::Require(in.left() / ((size_t{1} << depth) - 1) >= kSplitBytes + outputs * sizeof(int32_t));
    Tree tree = Tree::OfDepth(depth, outputs);
    for (Split& split : tree.splits) {
        split.feature = in.U16();
        split.threshold = in.U16();
        uint8_t flags = in.U8();
        uint8_t kind = flags & static_cast<uint8_t>(~kMissingLeftBit);
        ByteReader::Require(split.feature < features.size());
        ByteReader::Require(kind <= static_cast<uint8_t>(SplitKind::kSubset));
        split.kind = static_cast<SplitKind>(kind);
        split.missing_left = (flags & kMissingLeftBit) != 0;
        ByteReader::Require(!split.missing_left || split.kind == SplitKind::kThreshold);
        if (split.kind == SplitKind::kSubset)
            ReadSubset(&split, &tree, features[split.feature], in);
    }
    for (int32_t& leaf : tree.leaves)
        leaf = in.I32();
    if (has_sds) {
        tree.leaf_sds.reserve(tree.leaves.size());
        for (size_t i = 0; i < tree.leaves.size(); i++)
            tree.leaf_sds.push_back(in.F32());
    }
    ByteReader::Require(IsValid(tree, features, outputs));
    return tree;
}

std::vector<int32_t> ReadTable(const FeatureSpec& feature, size_t outputs, ByteReader& in) {
    uint8_t present = in.U8();
    ByteReader::Require(present <= 1);
    std::vector<int32_t> table;
    if (present == 1) {
        const size_t values = feature.cells() * outputs;
        ByteReader::Require(values <= in.left() / sizeof(int32_t));
        table.resize(values);
        for (int32_t& value : table)
            value = in.I32();
    }
    return table;
}

LossNote ReadLoss(ByteReader& in) {
    LossNote loss;
    const uint8_t kind = in.U8();
    ByteReader::Require(kind <= static_cast<uint8_t>(LossKind::kQuantile));
    loss.kind = static_cast<LossKind>(kind);
    const uint8_t count = in.U8();
    ByteReader::Require(count <= kMaxParameters);
    for (uint8_t i = 0; i < count; i++) {
        loss.parameters.push_back(in.F64());
        ByteReader::Require(std::isfinite(loss.parameters.back()));
    }
    return loss;
}

std::vector<FeatureSpec> ReadFeatures(ByteReader& in) {
    constexpr size_t kMinFeatureBytes = 4 + 1 + 4;
    const uint32_t count = in.Count(kMinFeatureBytes);
    ByteReader::Require(count >= 1 && count <= kMaxFeatures);
    std::vector<FeatureSpec> features;
    features.reserve(count);
    for (uint32_t i = 0; i < count; i++)
        features.push_back(FeatureSpec::Read(in));
    return features;
}

// What is between the header and the checksum, once those are known to be right.
struct Payload {
    uint32_t version;
    std::string_view bytes;
};

Payload CheckedPayload(std::string_view bytes) {
    ByteReader::Require(bytes.size() >= kMagic.size() + sizeof(uint32_t) + kChecksumBytes);
    ByteReader header(bytes);
    ByteReader::Require(header.Raw(kMagic.size()) == kMagic);
    size_t body = bytes.size() - kChecksumBytes;
    ByteReader::Require(Checksum(bytes.substr(0, body)) == bytes.substr(body));
    const uint32_t version = header.U32();
    if (version < 1 || version > kVersion)
        throw Error(ErrorCode::kUnsupported, "stored model has an unknown format version",
                    "The model was written by another version of dpboost.", "Update the extension.");
    size_t start = kMagic.size() + sizeof(uint32_t);
    return {version, bytes.substr(start, body - start)};
}

// What stands before the features.
struct Head {
    TargetSpec target;
    Link link;
    LossNote loss;
    std::vector<int32_t> bases;
};

Head ReadHead(uint32_t version, ByteReader& in) {
    Head head = {TargetSpec::Read(in, version), Link::kIdentity, {}, {}};
    const uint8_t link = in.U8();
    ByteReader::Require(link <= static_cast<uint8_t>(version == 1 ? Link::kLog : Link::kSoftmax));
    head.link = static_cast<Link>(link);
    const bool classes = head.link == Link::kSoftmax;
    ByteReader::Require(classes == (head.target.task() == Task::kClasses));
    if (version > 1)
        head.loss = ReadLoss(in);
    const size_t outputs = version == 1 ? 1 : in.U16();
    ByteReader::Require(outputs == (classes ? head.target.classes().size() : 1));
    head.bases.resize(outputs);
    for (int32_t& base : head.bases)
        base = in.I32();
    return head;
}

// Passes over what FeatureSpec::Write has written, and returns its bins or levels.
uint32_t SkipFeature(ByteReader& in) {
    in.Text();
    const auto kind = static_cast<FeatureKind>(in.U8());
    const uint32_t bins = in.U32();
    ByteReader::Require(bins >= 1 && bins <= kMaxBins);
    if (kind == FeatureKind::kNumeric) {
        in.Raw(2 * sizeof(double) + 1);
        const bool uniform = in.U8() == 1;
        in.Raw(sizeof(double) * (uniform ? 2 : bins - 1));
    } else if (kind == FeatureKind::kLevels) {
        for (uint32_t i = 0; i < bins; i++)
            in.Text();
    }
    return bins;
}

}  // namespace

void CheckBins(std::string_view model_bytes, size_t most) {
    const Payload payload = CheckedPayload(model_bytes);
    ByteReader in(payload.bytes);
    ReadHead(payload.version, in);
    size_t bins = 0;
    for (uint32_t features = in.U32(); features > 0; features--) {
        bins += SkipFeature(in);
        if (bins > most)
            throw Error(ErrorCode::kLimitExceeded, "the exported model is too large",
                        "Its features may have " + std::to_string(most) + " bins and levels together.");
    }
}

std::string Model::Serialize() const {
    ByteWriter out;
    out.Raw(kMagic);
    out.U32(kVersion);
    target_.Write(out);
    out.U8(static_cast<uint8_t>(link_));
    out.U8(static_cast<uint8_t>(loss_.kind));
    out.U8(static_cast<uint8_t>(loss_.parameters.size()));
    for (double parameter : loss_.parameters)
        out.F64(parameter);
    out.U16(static_cast<uint16_t>(outputs()));
    for (int32_t base : bases_)
        out.I32(base);
    out.U32(static_cast<uint32_t>(features_.size()));
    for (const FeatureSpec& feature : features_)
        feature.Write(out);
    for (const std::vector<int32_t>& table : tables_) {
        out.U8(!table.empty());
        for (int32_t value : table)
            out.I32(value);
    }
    out.U32(static_cast<uint32_t>(trees_.size()));
    for (const Tree& tree : trees_)
        WriteTree(tree, features_, out);
    Write(evidence_, features_, out);
    out.Raw(Checksum(out.bytes()));
    return out.Take();
}

Model Model::Parse(std::string_view bytes, Interrupt* interrupt) {
    const Payload payload = CheckedPayload(bytes);
    ByteReader in(payload.bytes);
    Head head = ReadHead(payload.version, in);
    const size_t outputs = head.bases.size();
    Model model(ReadFeatures(in), head.target, head.link);
    model.loss_ = head.loss;
    model.bases_ = std::move(head.bases);
    for (size_t i = 0; i < model.features_.size(); i++)
        model.tables_[i] = ReadTable(model.features_[i], outputs, in);
    const size_t min_tree_bytes = 1 + kSplitBytes + 2 * outputs * sizeof(int32_t);
    const uint32_t tree_count = in.Count(min_tree_bytes);
    model.trees_.reserve(tree_count);
    Polling polling(interrupt);
    for (uint32_t i = 0; i < tree_count; i++) {
        polling.BeforeTree();
        model.trees_.push_back(ReadTree(model.features_, outputs, payload.version, in));
    }
    if (payload.version > 1)
        model.evidence_ = ReadEvidence(model.features_, outputs, in);
    ByteReader::Require(in.left() == 0);
    return model;
}

}  // namespace dpboost
