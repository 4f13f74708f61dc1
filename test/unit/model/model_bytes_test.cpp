// The strict reader against accidents (any changed byte, any truncation) and against forgery (changed bytes
// under a valid checksum): an Error, or a model that can be used; never a crash, an over-read or a huge
// allocation. ASan and UBSan watch in `make unit-asan`.
#include <gtest/gtest.h>
#include <sodium.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "dataset/encoder.h"
#include "model/explain/explain.h"
#include "model/model.h"
#include "model/predictor.h"
#include "unit/model/random_model.h"
#include "unit/model/version1_bytes.h"

namespace dpboost {
namespace {

std::string WithChecksum(std::string body) {
    unsigned char sum[16];
    crypto_generichash(sum, sizeof sum, reinterpret_cast<const unsigned char*>(body.data()), body.size(),
                       nullptr, 0);
    return body.append(reinterpret_cast<char*>(sum), sizeof sum);
}

// Parses and, if that is possible, uses everything the model holds.
bool ParsesAndWorks(const std::string& bytes) {
    try {
        Model model = Model::Parse(bytes);
        Predictor predictor(model);
        for (uint16_t base : {0, 3, 65535}) {
            std::vector<uint16_t> codes(model.features().size(), base);
            std::vector<int64_t> plain(model.outputs()), fast(model.outputs());
            model.Scores(codes.data(), plain.data());
            predictor.Scores(codes.data(), fast.data());
            EXPECT_EQ(fast, plain);
        }
        EXPECT_TRUE(IsValid(model.evidence(), model.features(), model.outputs()));
        NoInterrupt interrupt;
        Explainer explainer(model, interrupt);
        const std::vector<uint16_t> codes(model.features().size(), 1);
        std::vector<int64_t> contributions(model.features().size() * model.outputs());
        explainer.Explain(codes.data(), contributions.data(), nullptr);
        int64_t sum = explainer.base_value();
        for (size_t f = 0; f < model.features().size(); f++)
            sum += contributions[f * model.outputs()];
        EXPECT_EQ(sum, model.Score(codes.data()));
        for (const FeatureSpec& feature : model.features()) {
            Encoder encoder(feature);
            for (double value : {-1e300, -1.0, 0.0, 0.3, 1e300})
                EXPECT_LT(encoder.Number(value), feature.cells());
            EXPECT_LT(encoder.Text("F", 1), feature.cells());
        }
        const std::string again = model.Serialize();
        if (bytes[8] == 1)
            EXPECT_EQ(Model::Parse(again).Serialize(), again);
        else
            EXPECT_EQ(again, bytes);
        return true;
    } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::kCorrupted || error.code() == ErrorCode::kUnsupported);
        return false;
    }
}

std::string FromHex(std::string_view hex) {
    std::string bytes;
    for (size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return bytes;
}

// All that a model can hold, small.
Model FullModel(uint64_t seed) {
    Model model = seed % 2 == 0 ? RandomClassModel(SmallFeatures(), 3, 2, 2, seed)
                                : RandomModel(SmallFeatures(), 2, 2, seed);
    model.SetEvidence(RandomEvidence(model, seed));
    model.SetLoss({LossKind::kQuantile, {0.9}});
    return model;
}

// The first is small enough to change every byte of it.
std::vector<std::string> AllKinds() {
    return {RandomModel(SmallFeatures(), 3, 3, 1).Serialize(), FullModel(1).Serialize(),
            FullModel(2).Serialize(), FromHex(kVersion1Regression), FromHex(kVersion1Binary)};
}

// What was stored before format 2 means the same as ever, whatever code reads it.
TEST(ModelBytes, Version1IsStillRead) {
    const Model regression = RandomModel(SmallFeatures(), 3, 3, 7);
    Model binary(SmallFeatures(), TargetSpec::Binary(), Link::kLogistic);
    Xorshift random;
    binary.AddToBase(-777);
    for (int i = 0; i < 2; i++)
        binary.AddTree(RandomTree(binary.features(), 2, &random));
    binary.AddTable(2, {5, -6, 7, 8});
    Model counts({FeatureSpec::Numeric("visits", {0, 20, Scale::kLinear, 5}), FeatureSpec::Boolean("smoker")},
                 TargetSpec::Regression(0, 40), Link::kLog);
    counts.AddToBase(100000);
    counts.AddTable(0, {1, 2, 3, 4, 5, -6});
    const std::pair<std::string_view, const Model*> stored[] = {
        {kVersion1Regression, &regression}, {kVersion1Binary, &binary}, {kVersion1Counts, &counts}};
    for (const auto& [hex, expected] : stored) {
        const Model model = Model::Parse(FromHex(hex));
        EXPECT_EQ(model.Serialize(), expected->Serialize());
        EXPECT_FALSE(model.evidence().reference.has_value());
        EXPECT_EQ(model.outputs(), 1u);
    }
}

TEST(ModelBytes, RoundTripOfEverything) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        const Model model = FullModel(seed);
        const Model again = Model::Parse(model.Serialize());
        EXPECT_EQ(again.Serialize(), model.Serialize());
        EXPECT_EQ(again.target().classes(), model.target().classes());
        EXPECT_EQ(again.outputs(), seed % 2 == 0 ? 3u : 1u);
        EXPECT_EQ(again.loss().parameters, std::vector<double>{0.9});
        EXPECT_EQ(again.evidence().bands, model.evidence().bands);
        EXPECT_EQ(again.evidence().reference->rows, model.evidence().reference->rows);
        EXPECT_EQ(again.evidence().reference->marginals[3].counts,
                  model.evidence().reference->marginals[3].counts);
        EXPECT_EQ(again.evidence().residuals->counts, model.evidence().residuals->counts);
        for (size_t tree = 0; tree < model.trees().size(); tree++)
            EXPECT_EQ(again.trees()[tree].leaf_sds, model.trees()[tree].leaf_sds);
    }
}

TEST(ModelBytes, EvidenceThatDoesNotFitIsRefused) {
    Model model = FullModel(1);
    const Evidence good = model.evidence();
    const auto refused = [&](auto change) {
        Evidence evidence = good;
        change(evidence);
        EXPECT_THROW(model.SetEvidence(evidence), Error);
    };
    refused([](Evidence& e) { e.reference->marginals.pop_back(); });
    refused([](Evidence& e) { e.reference->marginals[0].last_codes.back()--; });
    refused([](Evidence& e) {
        std::vector<uint16_t>& codes = e.reference->marginals[3].last_codes;
        codes[0] = codes[1];
    });
    refused([](Evidence& e) { e.reference->marginals[1].counts[0] = -1; });
    refused([](Evidence& e) { e.reference->marginals[1].count_sd = NAN; });
    refused([](Evidence& e) { e.reference->rows = 0; });
    refused([](Evidence& e) { e.bands[1].pop_back(); });
    refused([](Evidence& e) { e.bands[1][0] = INFINITY; });
    refused([](Evidence& e) { e.noise = NoiseKind::kUnstated; });
    refused([](Evidence& e) { e.residuals->counts.clear(); });
    refused([](Evidence& e) { e.residuals->upper = e.residuals->lower; });
    model.SetEvidence(good);
}

// A standard deviation of a leaf that is none: in a tree, and in bytes.
TEST(ModelBytes, LeafNoiseIsANumber) {
    Model model = FullModel(2);
    Tree tree = model.trees()[0];
    ASSERT_FALSE(tree.leaf_sds.empty());
    tree.leaf_sds[1] = NAN;
    EXPECT_THROW(model.AddTree(tree), Error);
    std::string body = model.Serialize();
    body.resize(body.size() - 16);
    ASSERT_TRUE(ParsesAndWorks(WithChecksum(body)));
    const std::string quarter("\x00\x00\x80\x3e", 4),
        odd[] = {std::string("\x00\x00\xc0\x7f", 4), std::string("\x00\x00\x80\xbe", 4)};
    const size_t at = body.find(quarter + quarter);
    ASSERT_NE(at, std::string::npos);
    for (const std::string& sd : odd)
        EXPECT_FALSE(ParsesAndWorks(WithChecksum(std::string(body).replace(at, 4, sd))));
}

TEST(ModelBytes, RoundTrip) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        Model model = RandomModel(SmallFeatures(), 10, 6, seed);
        std::string bytes = model.Serialize();
        Model again = Model::Parse(bytes);
        EXPECT_EQ(again.Serialize(), bytes);
        EXPECT_EQ(again.features(), model.features());
        EXPECT_TRUE(again.target() == model.target());
        Xorshift random;
        for (int i = 0; i < 50; i++) {
            uint16_t codes[4];
            for (size_t f = 0; f < 4; f++)
                codes[f] = static_cast<uint16_t>(random.Below(model.features()[f].cells()));
            EXPECT_EQ(again.Score(codes), model.Score(codes));
        }
    }
}

std::string ChecksumOf(const Model& model) {
    const std::string bytes = model.Serialize();
    std::string hex;
    for (unsigned char byte : bytes.substr(bytes.size() - 16)) {
        const char* digits = "0123456789abcdef";
        hex += {digits[byte / 16], digits[byte % 16]};
    }
    return hex;
}

// The bytes of fixed models: should they change, stored models become unreadable and the version must rise.
TEST(ModelBytes, FormatIsStable) {
    EXPECT_EQ(RandomModel(SmallFeatures(), 3, 3, 7).Serialize().substr(0, 12),
              std::string("dpboost\n\2\0\0\0", 12));
    EXPECT_EQ(ChecksumOf(RandomModel(SmallFeatures(), 3, 3, 7)), "9bb56796a8df969ea417c5274b8306b3");
    EXPECT_EQ(ChecksumOf(FullModel(1)), "cd350c151cf288609c0e147b55c8574a");
    EXPECT_EQ(ChecksumOf(FullModel(2)), "4bba984cbaa5c909fa81581afd0be7a1");
}

TEST(ModelBytes, LengthDoesNotDependOnValues) {
    auto length = [](int32_t value) {
        Model model(SmallFeatures(), TargetSpec::Binary(), Link::kLogistic);
        model.AddToBase(value);
        model.AddTable(0, std::vector<int32_t>(model.features()[0].cells(), value));
        Tree tree = Tree::OfDepth(3);
        tree.splits[1].feature = 1;
        for (int32_t& leaf : tree.leaves)
            leaf = value;
        model.AddTree(tree);
        Evidence evidence = RandomEvidence(model, 1);
        evidence.reference->rows = 1 + std::abs(static_cast<double>(value));
        evidence.bands[1].assign(evidence.bands[1].size(), static_cast<float>(value));
        model.SetEvidence(evidence);
        return model.Serialize().size();
    };
    EXPECT_EQ(length(0), length(123456789));
}

TEST(ModelBytes, KeepEveryLinkAndNoOther) {
    for (const int link : {0, 1, 2, 4}) {
        const std::string bytes =
            Model(SmallFeatures(), TargetSpec::Regression(0, 9), static_cast<Link>(link)).Serialize();
        if (link <= static_cast<int>(Link::kLog))
            EXPECT_EQ(static_cast<int>(Model::Parse(bytes).link()), link);
        else
            EXPECT_THROW(Model::Parse(bytes), Error);
    }
    EXPECT_EQ(Model::Parse(RandomClassModel(SmallFeatures(), 3, 0, 1, 1).Serialize()).link(), Link::kSoftmax);
    EXPECT_THROW(Model(SmallFeatures(), TargetSpec::Regression(0, 9), Link::kSoftmax), Error);
    EXPECT_THROW(Model(SmallFeatures(), TargetSpec::Classes({"a", "b", "c"}), Link::kLogistic), Error);
}

TEST(ModelBytes, EveryChangedByteIsFound) {
    for (const std::string& bytes : AllKinds()) {
        for (size_t i = 0; i < bytes.size(); i++) {
            for (unsigned char flip : {0x01, 0x80, 0xff}) {
                std::string changed = bytes;
                changed[i] = static_cast<char>(changed[i] ^ flip);
                ASSERT_FALSE(ParsesAndWorks(changed)) << "byte " << i;
            }
        }
    }
}

TEST(ModelBytes, EveryTruncationIsFound) {
    for (const std::string& bytes : AllKinds()) {
        std::string body = bytes.substr(0, bytes.size() - 16);
        for (size_t size = 0; size < body.size(); size++) {
            ASSERT_FALSE(ParsesAndWorks(bytes.substr(0, size)));
            ASSERT_FALSE(ParsesAndWorks(WithChecksum(body.substr(0, size))));
        }
        ASSERT_FALSE(ParsesAndWorks(bytes + '\0'));
        ASSERT_FALSE(ParsesAndWorks(WithChecksum(body + '\0')));
    }
}

TEST(ModelBytes, EveryForgedByteIsHarmless) {
    for (const std::string& bytes : AllKinds()) {
        std::string body = bytes.substr(0, bytes.size() - 16);
        for (size_t i = 0; i < body.size(); i++) {
            for (unsigned char flip : {0x01, 0x02, 0x10, 0x40, 0x80, 0x7f, 0xff}) {
                std::string changed = body;
                changed[i] = static_cast<char>(changed[i] ^ flip);
                ParsesAndWorks(WithChecksum(changed));
            }
        }
    }
}

TEST(ModelBytes, RandomForgeriesAreHarmless) {
    Xorshift random;
    const unsigned char kNasty[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
    std::vector<std::string> bodies;
    for (unsigned i = 0; i < 8; i++)
        bodies.push_back(RandomModel(SmallFeatures(), 1 + i % 2, 3, i).Serialize());
    for (const std::string& bytes : AllKinds())
        bodies.push_back(bytes);
    for (std::string& body : bodies)
        body.resize(body.size() - 16);
    int parsed = 0;
    for (int i = 0; i < 20000; i++) {
        std::string body = bodies[random.Below(static_cast<uint32_t>(bodies.size()))];
        uint32_t changes = 1 + random.Below(4);
        for (uint32_t change = 0; change < changes; change++) {
            uint32_t at = random.Below(static_cast<uint32_t>(body.size()));
            uint32_t run = 1 + random.Below(4);  // often a whole count or offset
            for (uint32_t k = at; k < at + run && k < body.size(); k++)
                body[k] = static_cast<char>(random.Below(2) ? kNasty[random.Below(6)] : random.Below(256));
        }
        if (random.Below(10) == 0)
            body.erase(random.Below(static_cast<uint32_t>(body.size())), 1 + random.Below(8));
        if (random.Below(10) == 0)
            body.insert(random.Below(static_cast<uint32_t>(body.size())), 1 + random.Below(8), '\xff');
        parsed += ParsesAndWorks(WithChecksum(body));
    }
    EXPECT_GT(parsed, 100);  // or the test would not reach beyond the reader
}

TEST(ModelBytes, UnknownVersionsAreNamedAsSuch) {
    std::string body = RandomModel(SmallFeatures(), 1, 3, 1).Serialize();
    body.resize(body.size() - 16);
    for (const char version : {0, 3, 127}) {
        body[8] = version;
        try {
            Model::Parse(WithChecksum(body));
            FAIL() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
        }
    }
}

}  // namespace
}  // namespace dpboost
