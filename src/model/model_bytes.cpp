// Model <-> bytes. Layout, little-endian: magic, version, target, link, base, features, tables, trees, and a
// BLAKE2b-128 checksum of all before it. The checksum finds accidents; the reader itself checks everything it
// later relies on, so that bytes forged with a valid checksum are harmless too.
#include <sodium.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "model/model.h"

namespace dpboost {
namespace {

constexpr std::string_view kMagic = "dpboost\n";
constexpr uint32_t kVersion = 1;
constexpr size_t kChecksumBytes = 16;
// feature, threshold, kind and direction
constexpr size_t kSplitBytes = 2 + 2 + 1;
constexpr uint8_t kMissingLeftBit = 0x80;

std::string Checksum(std::string_view bytes) {
    std::string sum(kChecksumBytes, '\0');
    crypto_generichash(reinterpret_cast<unsigned char*>(sum.data()), sum.size(),
                       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
    return sum;
}

void WriteTree(const Tree& tree, const std::vector<FeatureSpec>& features, ByteWriter& out) {
    out.U8(static_cast<uint8_t>(tree.depth));
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

Tree ReadTree(const std::vector<FeatureSpec>& features, ByteReader& in) {
    uint8_t depth = in.U8();
    ByteReader::Require(depth >= 1 && depth <= kMaxDepth);
    ByteReader::Require(in.left() / ((size_t{1} << depth) - 1) >= kSplitBytes);
    Tree tree = Tree::OfDepth(depth);
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
    return tree;
}

std::vector<int32_t> ReadTable(const FeatureSpec& feature, ByteReader& in) {
    uint8_t present = in.U8();
    ByteReader::Require(present <= 1);
    std::vector<int32_t> table;
    if (present == 1) {
        ByteReader::Require(feature.cells() <= in.left() / sizeof(int32_t));
        table.resize(feature.cells());
        for (int32_t& value : table)
            value = in.I32();
    }
    return table;
}

// The payload between the header and the checksum, once those are known to be right.
std::string_view CheckedPayload(std::string_view bytes) {
    ByteReader::Require(bytes.size() >= kMagic.size() + sizeof(uint32_t) + kChecksumBytes);
    ByteReader header(bytes);
    ByteReader::Require(header.Raw(kMagic.size()) == kMagic);
    size_t body = bytes.size() - kChecksumBytes;
    ByteReader::Require(Checksum(bytes.substr(0, body)) == bytes.substr(body));
    if (header.U32() != kVersion)
        throw Error(ErrorCode::kUnsupported, "stored model has an unknown format version",
                    "The model was written by another version of dpboost.", "Update the extension.");
    size_t start = kMagic.size() + sizeof(uint32_t);
    return bytes.substr(start, body - start);
}

}  // namespace

std::string Model::Serialize() const {
    ByteWriter out;
    out.Raw(kMagic);
    out.U32(kVersion);
    target_.Write(out);
    out.U8(static_cast<uint8_t>(link_));
    out.I32(base_);
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
    out.Raw(Checksum(out.bytes()));
    return out.Take();
}

Model Model::Parse(std::string_view bytes) {
    ByteReader in(CheckedPayload(bytes));
    TargetSpec target = TargetSpec::Read(in);
    uint8_t link = in.U8();
    ByteReader::Require(link <= static_cast<uint8_t>(Link::kLog));
    int32_t base = in.I32();

    constexpr size_t kMinFeatureBytes = 4 + 1 + 4;
    uint32_t feature_count = in.Count(kMinFeatureBytes);
    ByteReader::Require(feature_count >= 1 && feature_count <= kMaxFeatures);
    std::vector<FeatureSpec> features;
    features.reserve(feature_count);
    for (uint32_t i = 0; i < feature_count; i++)
        features.push_back(FeatureSpec::Read(in));

    Model model(std::move(features), target, static_cast<Link>(link));
    model.base_ = base;
    for (size_t i = 0; i < model.features_.size(); i++)
        model.tables_[i] = ReadTable(model.features_[i], in);
    constexpr size_t kMinTreeBytes = 1 + kSplitBytes + 2 * sizeof(int32_t);
    uint32_t tree_count = in.Count(kMinTreeBytes);
    model.trees_.reserve(tree_count);
    for (uint32_t i = 0; i < tree_count; i++)
        model.trees_.push_back(ReadTree(model.features_, in));
    ByteReader::Require(in.left() == 0);
    return model;
}

}  // namespace dpboost
