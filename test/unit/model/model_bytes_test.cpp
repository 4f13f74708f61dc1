// The strict reader against accidents (any changed byte, any truncation) and against forgery (changed bytes
// under a valid checksum): an Error, or a model that can be used; never a crash, an over-read or a huge
// allocation. ASan and UBSan watch in `make unit-asan`.
#include <gtest/gtest.h>
#include <sodium.h>

#include <string>

#include "base/error.h"
#include "dataset/encoder.h"
#include "model/model.h"
#include "model/predictor.h"
#include "unit/model/random_model.h"

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
            EXPECT_EQ(predictor.Score(codes.data()), model.Score(codes.data()));
        }
        for (const FeatureSpec& feature : model.features()) {
            Encoder encoder(feature);
            for (double value : {-1e300, -1.0, 0.0, 0.3, 1e300})
                EXPECT_LT(encoder.Number(value), feature.cells());
            EXPECT_LT(encoder.Text("F", 1), feature.cells());
        }
        EXPECT_EQ(model.Serialize(), bytes);
        return true;
    } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::kCorrupted || error.code() == ErrorCode::kUnsupported);
        return false;
    }
}

TEST(ModelBytes, RoundTrip) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        Model model = RandomModel(SmallFeatures(), 10, 6, seed);
        std::string bytes = model.Serialize();
        Model again = Model::Parse(bytes);
        EXPECT_EQ(again.Serialize(), bytes);
        EXPECT_EQ(again.features(), model.features());
        EXPECT_TRUE(again.target() == model.target());
        ModelRandom random;
        for (int i = 0; i < 50; i++) {
            uint16_t codes[4];
            for (size_t f = 0; f < 4; f++)
                codes[f] = static_cast<uint16_t>(random.Below(model.features()[f].cells()));
            EXPECT_EQ(again.Score(codes), model.Score(codes));
        }
    }
}

// The bytes of one fixed model: should they change, stored models become unreadable and the version must
// rise.
TEST(ModelBytes, FormatIsStable) {
    std::string bytes = RandomModel(SmallFeatures(), 3, 3, 7).Serialize();
    EXPECT_EQ(bytes.substr(0, 12), std::string("dpboost\n\1\0\0\0", 12));
    std::string hex;
    for (unsigned char byte : bytes.substr(bytes.size() - 16)) {
        const char* digits = "0123456789abcdef";
        hex += {digits[byte / 16], digits[byte % 16]};
    }
    EXPECT_EQ(hex, "0cef32b5e5ebe798f85253bb4930652c");
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
        return model.Serialize().size();
    };
    EXPECT_EQ(length(0), length(123456789));
}

TEST(ModelBytes, KeepEveryLinkAndNoOther) {
    for (const int link : {0, 1, 2, 3}) {
        const std::string bytes =
            Model(SmallFeatures(), TargetSpec::Regression(0, 9), static_cast<Link>(link)).Serialize();
        if (link <= static_cast<int>(Link::kLog))
            EXPECT_EQ(static_cast<int>(Model::Parse(bytes).link()), link);
        else
            EXPECT_THROW(Model::Parse(bytes), Error);
    }
}

TEST(ModelBytes, EveryChangedByteIsFound) {
    std::string bytes = RandomModel(SmallFeatures(), 3, 3, 1).Serialize();
    for (size_t i = 0; i < bytes.size(); i++) {
        for (unsigned char flip : {0x01, 0x80, 0xff}) {
            std::string changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ flip);
            ASSERT_FALSE(ParsesAndWorks(changed)) << "byte " << i;
        }
    }
}

TEST(ModelBytes, EveryTruncationIsFound) {
    std::string bytes = RandomModel(SmallFeatures(), 3, 3, 1).Serialize();
    std::string body = bytes.substr(0, bytes.size() - 16);
    for (size_t size = 0; size < body.size(); size++) {
        ASSERT_FALSE(ParsesAndWorks(bytes.substr(0, size)));
        ASSERT_FALSE(ParsesAndWorks(WithChecksum(body.substr(0, size))));
    }
    ASSERT_FALSE(ParsesAndWorks(bytes + '\0'));
    ASSERT_FALSE(ParsesAndWorks(WithChecksum(body + '\0')));
}

TEST(ModelBytes, EveryForgedByteIsHarmless) {
    std::string bytes = RandomModel(SmallFeatures(), 2, 3, 1).Serialize();
    std::string body = bytes.substr(0, bytes.size() - 16);
    for (size_t i = 0; i < body.size(); i++) {
        for (unsigned char flip : {0x01, 0x02, 0x10, 0x40, 0x80, 0x7f, 0xff}) {
            std::string changed = body;
            changed[i] = static_cast<char>(changed[i] ^ flip);
            ParsesAndWorks(WithChecksum(changed));
        }
    }
}

TEST(ModelBytes, RandomForgeriesAreHarmless) {
    ModelRandom random;
    const unsigned char kNasty[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
    std::vector<std::string> bodies;
    for (unsigned i = 0; i < 8; i++) {
        bodies.push_back(RandomModel(SmallFeatures(), 1 + i % 2, 3, i).Serialize());
        bodies.back().resize(bodies.back().size() - 16);
    }
    int parsed = 0;
    for (int i = 0; i < 20000; i++) {
        std::string body = bodies[random.Below(8)];
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
    body[8] = 2;
    try {
        Model::Parse(WithChecksum(body));
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    }
}

}  // namespace
}  // namespace dpboost
